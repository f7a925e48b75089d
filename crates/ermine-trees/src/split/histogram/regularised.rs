//! What a leaf is worth under second-order boosting with penalties.
//!
//! **Formula.** With G and H the sums of gradient and curvature over the rows of a leaf, the best weight of the leaf and its share of the
//! objective are
//!
//! ```text
//! w* = -T(G) / (H + lambda)        T(G) = sign(G) max(|G| - alpha, 0)
//! score = -(1/2) T(G)^2 / (H + lambda)
//! gain of a split = (1/2) [ T(G_L)^2 / (H_L + lambda) + T(G_R)^2 / (H_R + lambda) - T(G)^2 / (H + lambda) ] - gamma
//! ```
//! Where the weight is held back (by `max_delta_step`, or by bounds that keep predictions monotone), the score is that of the weight that is used:
//! G w + (H + lambda) w^2 / 2 + alpha |w|.
//!
//! **Reference.** Chen and Guestrin, XGBoost: A Scalable Tree Boosting System, 2016, equations 5 to 7. XGBoost's program compares `gamma` with twice the gain.

/// The penalties on a leaf.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Regularised {
    /// L2 penalty on leaf weights.
    pub lambda: f64,
    /// L1 penalty on leaf weights.
    pub alpha: f64,
    /// Largest leaf weight, without its sign; 0 for no limit.
    pub max_delta_step: f64,
}

/// Bounds on a leaf's weight, from monotone constraints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Lowest weight.
    pub low: f64,
    /// Highest weight.
    pub high: f64,
}

impl Bounds {
    /// No bounds.
    pub const NONE: Bounds = Bounds { low: f64::NEG_INFINITY, high: f64::INFINITY };
}

impl Regularised {
    /// Whether the score of a leaf is that of the unbounded quadratic.
    pub fn is_plain(&self) -> bool {
        self.alpha == 0.0 && self.max_delta_step == 0.0
    }

    /// The same penalties where gradient and curvature are counted in other units (`g` and `h` of them to the old one).
    pub fn in_units(&self, g: f64, h: f64) -> Regularised {
        Regularised { lambda: self.lambda * h, alpha: self.alpha * g, max_delta_step: self.max_delta_step * g / h }
    }

    /// The best weight of a leaf within bounds; 0 where there is no curvature to divide by.
    pub fn weight(&self, g: f64, h: f64, bounds: Bounds) -> f64 {
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

    /// Minus the objective of a leaf with the best weight within bounds: half of T(G)^2 / (H + lambda) where nothing holds the weight back.
    pub fn worth(&self, g: f64, h: f64, bounds: Bounds) -> f64 {
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
        fn the_weight_minimises_the_objective_and_the_worth_is_its_closed_form(
            g in -50.0f64..50.0, h in 0.01f64..50.0, lambda in 0.0f64..10.0, alpha in 0.0f64..10.0, step in prop_oneof![Just(0.0), 0.1f64..2.0],
        ) {
            let leaf = Regularised { lambda, alpha, max_delta_step: step };
            let objective = |w: f64| g * w + 0.5 * (h + lambda) * w * w + alpha * w.abs();
            let best = leaf.weight(g, h, Bounds::NONE);
            for delta in [-0.1, -1e-3, 1e-3, 0.1] {
                if step == 0.0 || (best + delta).abs() <= step {
                    prop_assert!(objective(best) <= objective(best + delta) + 1e-9);
                }
            }
            prop_assert!((leaf.worth(g, h, Bounds::NONE) + objective(best)).abs() < 1e-9);
            if step == 0.0 {
                let t = (g.abs() - alpha).max(0.0);
                prop_assert!((leaf.worth(g, h, Bounds::NONE) - 0.5 * t * t / (h + lambda)).abs() < 1e-9);
            }
            let (a, b) = (3.0, 7.0);
            let scaled = leaf.in_units(a, b);
            prop_assert!((scaled.worth(g * a, h * b, Bounds::NONE) * b / (a * a) - leaf.worth(g, h, Bounds::NONE)).abs() < 1e-6);
            prop_assert!((scaled.weight(g * a, h * b, Bounds::NONE) * b / a - best).abs() < 1e-9);
        }
    }
}
