//! The focal loss of two classes: the log loss, in which rows that are already predicted well count less.
//!
//! **Formula.** With p the probability of the row's own class, `-(1 - p)^gamma ln p`. For gamma = 0 it is the log loss. It is not convex: where its curvature is negative, boosting takes a small positive
//! one, so that the step still goes downhill. Its minimum is not at the true probabilities, so predicted probabilities are too close to 1/2.
//!
//! **Reference.** Lin, Goyal, Girshick, He and Dollar, Focal Loss for Dense Object Detection, 2017.

use ermine_core::loss::{Link, Logistic, Loss};
use ermine_core::simd::exp::{exp, sigmoid, softplus};

/// `-(1 - p)^gamma ln p`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Focal {
    /// The exponent.
    pub gamma: f64,
}

/// Minimum curvature, as a share of that of the log loss.
const LEAST_CURVATURE: f64 = 0.01;

impl Loss for Focal {
    fn name(&self) -> &'static str {
        "focal loss"
    }

    fn value(&self, z: f64, y: f64) -> f64 {
        self.terms(z, y)[0]
    }

    fn gradient(&self, z: f64, y: f64) -> f64 {
        self.terms(z, y)[1]
    }

    fn curvature(&self, z: f64, y: f64) -> f64 {
        self.terms(z, y)[2]
    }

    fn terms(&self, z: f64, y: f64) -> [f64; 3] {
        let margin = y * z;
        // p of the own class, q of the other; ln p and ln q without cancellation.
        let (p, q) = (sigmoid(margin), sigmoid(-margin));
        let (ln_p, ln_q) = (-softplus(-margin), -softplus(margin));
        let focus = exp(self.gamma * ln_q);
        let slope = self.gamma * p * ln_p - q;
        // d slope / d margin, with dp = p q and d(ln p) = q.
        let bend = p * q * (self.gamma * (ln_p + 1.0) + 1.0);
        let curvature = focus * (bend - self.gamma * p * slope);
        [-focus * ln_p, y * focus * slope, curvature.max(LEAST_CURVATURE * p * q)]
    }

    fn link(&self) -> Link {
        Link::Logistic
    }

    /// That of the log loss: the focal loss of a constant may have two minima.
    fn best_constant(&self, y: &[f64], weights: Option<&[f64]>) -> f64 {
        Logistic.best_constant(y, weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn derivatives_match_finite_differences(z in -8.0f64..8.0, positive: bool, gamma in 0.0f64..5.0) {
            let (loss, y) = (Focal { gamma }, if positive { 1.0 } else { -1.0 });
            let p = 1.0 / (1.0 + (-y * z).exp());
            prop_assert!((loss.value(z, y) + (1.0 - p).powf(gamma) * p.ln()).abs() < 1e-12);
            let step = 1e-4;
            let first = (loss.value(z + step, y) - loss.value(z - step, y)) / (2.0 * step);
            let second = (loss.gradient(z + step, y) - loss.gradient(z - step, y)) / (2.0 * step);
            prop_assert!((loss.gradient(z, y) - first).abs() < 1e-6, "{} {first}", loss.gradient(z, y));
            let least = LEAST_CURVATURE * p * (1.0 - p);
            prop_assert!((loss.curvature(z, y) - second.max(least)).abs() < 1e-6, "{} {second}", loss.curvature(z, y));
        }

        #[test]
        fn without_focus_it_is_the_log_loss(z in -30.0f64..30.0, positive: bool) {
            let y = if positive { 1.0 } else { -1.0 };
            let (focal, log) = (Focal { gamma: 0.0 }.terms(z, y), Logistic.terms(z, y));
            for k in 0..3 {
                prop_assert!((focal[k] - log[k]).abs() < 1e-12, "{focal:?} {log:?}");
            }
        }
    }
}
