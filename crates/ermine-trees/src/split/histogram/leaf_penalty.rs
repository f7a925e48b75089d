//! Optimal leaf weights and gains of second-order boosting with penalties.
//!
//! **Formula.** With G and H the sums of gradient and curvature over the rows of a leaf, the optimal leaf weight and its objective are
//!
//! ```text
//! w* = -T(G) / (H + lambda)        T(G) = sign(G) max(|G| - alpha, 0)
//! score = -(1/2) T(G)^2 / (H + lambda)
//! gain of a split = (1/2) [ T(G_L)^2 / (H_L + lambda) + T(G_R)^2 / (H_R + lambda) - T(G)^2 / (H + lambda) ] - gamma
//! ```
//! If the weight is limited (by `max_delta_step` or monotone constraints), the score is that of the limited weight: G w + (H + lambda) w^2 / 2 + alpha |w|.
//!
//! **Reference.** Chen and Guestrin, XGBoost: A Scalable Tree Boosting System, 2016, equations 5 to 7. The XGBoost library compares `gamma` with twice the gain.

/// Penalties on leaf weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeafPenalty {
    /// L2 penalty on leaf weights.
    pub lambda: f64,
    /// L1 penalty on leaf weights.
    pub alpha: f64,
    /// Maximum absolute leaf weight; 0 for no limit.
    pub max_delta_step: f64,
}

/// Bounds on a leaf weight from monotone constraints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightBounds {
    /// Lowest weight.
    pub low: f64,
    /// Highest weight.
    pub high: f64,
}

impl WeightBounds {
    /// No bounds.
    pub const NONE: WeightBounds = WeightBounds { low: f64::NEG_INFINITY, high: f64::INFINITY };
}

impl LeafPenalty {
    /// Whether the leaf score is the unbounded quadratic.
    pub fn is_plain(&self) -> bool {
        self.alpha == 0.0 && self.max_delta_step == 0.0
    }

    /// The penalties in other units of gradient and curvature (`g` and `h` new units per old unit).
    pub fn in_units(&self, g: f64, h: f64) -> LeafPenalty {
        LeafPenalty { lambda: self.lambda * h, alpha: self.alpha * g, max_delta_step: self.max_delta_step * g / h }
    }

    /// The optimal leaf weight within bounds; 0 if there is no curvature.
    pub fn weight(&self, g: f64, h: f64, bounds: WeightBounds) -> f64 {
        let curvature = h + self.lambda;
        if curvature <= 0.0 {
            return 0.0f64.clamp(bounds.low, bounds.high);
        }
        let mut weight = -self.shrunk(g) / curvature;
        if self.max_delta_step > 0.0 {
            weight = weight.clamp(-self.max_delta_step, self.max_delta_step);
        }
        weight.clamp(bounds.low, bounds.high)
    }

    /// Minus the objective of a leaf with the optimal weight within bounds: T(G)^2 / (H + lambda) / 2 if the weight is not limited.
    pub fn worth(&self, g: f64, h: f64, bounds: WeightBounds) -> f64 {
        let weight = self.weight(g, h, bounds);
        -(g * weight + 0.5 * (h + self.lambda) * weight * weight + self.alpha * weight.abs())
    }

    fn shrunk(&self, g: f64) -> f64 {
        g.signum() * (g.abs() - self.alpha).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_weight_minimizes_the_objective(
            g in -50.0f64..50.0, h in 0.01f64..50.0, lambda in 0.0f64..10.0, alpha in 0.0f64..10.0, step in prop_oneof![Just(0.0), 0.1f64..2.0],
        ) {
            let leaf = LeafPenalty { lambda, alpha, max_delta_step: step };
            let objective = |w: f64| g * w + 0.5 * (h + lambda) * w * w + alpha * w.abs();
            let best = leaf.weight(g, h, WeightBounds::NONE);
            for delta in [-0.1, -1e-3, 1e-3, 0.1] {
                if step == 0.0 || (best + delta).abs() <= step {
                    prop_assert!(objective(best) <= objective(best + delta) + 1e-9);
                }
            }
            prop_assert!((leaf.worth(g, h, WeightBounds::NONE) + objective(best)).abs() < 1e-9);
            if step == 0.0 {
                let t = (g.abs() - alpha).max(0.0);
                prop_assert!((leaf.worth(g, h, WeightBounds::NONE) - 0.5 * t * t / (h + lambda)).abs() < 1e-9);
            }
            let (a, b) = (3.0, 7.0);
            let scaled = leaf.in_units(a, b);
            prop_assert!((scaled.worth(g * a, h * b, WeightBounds::NONE) * b / (a * a) - leaf.worth(g, h, WeightBounds::NONE)).abs() < 1e-6);
            prop_assert!((scaled.weight(g * a, h * b, WeightBounds::NONE) * b / a - best).abs() < 1e-9);
        }
    }
}
