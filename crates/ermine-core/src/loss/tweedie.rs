//! The Tweedie loss `e^((2 - p) z) / (2 - p) - y e^((1 - p) z) / (1 - p)`: half the deviance of numbers `y` from 0 on with the mean `e^z` and a variance in proportion to its
//! power `p` between 1 and 2, up to a constant. Poisson is the limit `p = 1`, Gamma `p = 2`.
//!
//! **Steps of logarithms.** Newton's step is a poor guide to losses of `e^z`: where targets are far above the prediction, it goes so far up that the next one overflows. But
//! the minimum over some rows has a closed form. With A the sum of `y e^((1 - p) z)` and B that of `e^((2 - p) z)`, a change of all scores by w is best at `e^w = A / B`; gradient
//! and curvature are G = B - A and H = (2 - p) B - (1 - p) A, so that A = H - (2 - p) G and B = H - (1 - p) G. With a penalty lambda added to both, as
//! rows that are predicted right already, and n = -G / (H + lambda) Newton's step,
//!
//! ```text
//! w = ln((1 + (2 - p) n) / (1 + (1 - p) n))
//! ```
//! which is n up to second order, rises with n (so that predictions stay monotone) and never raises the loss.

use super::{Link, Loss, TargetRange, mean};
use crate::simd::exp::exp;

/// The Tweedie loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tweedie {
    /// The power of the mean that the variance follows; between 1 and 2.
    pub power: f64,
}

impl Tweedie {
    /// `y e^((1 - p) z)` and `e^((2 - p) z)`.
    #[inline(always)]
    fn parts(self, z: f64, y: f64) -> (f64, f64) {
        let share = if y > 0.0 { y * exp((1.0 - self.power) * z) } else { 0.0 };
        (share, exp((2.0 - self.power) * z))
    }
}

impl Loss for Tweedie {
    fn name(&self) -> &'static str {
        "Tweedie loss"
    }

    #[inline(always)]
    fn value(&self, z: f64, y: f64) -> f64 {
        let (a, b) = self.parts(z, y);
        b / (2.0 - self.power) - a / (1.0 - self.power)
    }

    #[inline(always)]
    fn gradient(&self, z: f64, y: f64) -> f64 {
        let (a, b) = self.parts(z, y);
        b - a
    }

    #[inline(always)]
    fn curvature(&self, z: f64, y: f64) -> f64 {
        let (a, b) = self.parts(z, y);
        (2.0 - self.power) * b - (1.0 - self.power) * a
    }

    fn link(&self) -> Link {
        Link::Exponential
    }

    fn targets(&self) -> TargetRange {
        TargetRange::NonNegative
    }

    fn best_constant(&self, y: &[f64], weights: Option<&[f64]>) -> f64 {
        log_mean(y, weights)
    }

    fn exact_step(&self, newton: f64) -> Option<f64> {
        Some(log_step(self.power, newton))
    }
}

/// The largest change of the logarithm of a prediction: rows whose targets are all zero have no minimum.
pub(super) const LARGEST_STEP: f64 = 10.0;

/// The best change of a logarithm where Newton's step is `newton`, for the variance power p.
pub(super) fn log_step(p: f64, newton: f64) -> f64 {
    let (above, below) = (1.0 + (2.0 - p) * newton, 1.0 + (1.0 - p) * newton);
    (above.max(0.0).ln() - below.max(0.0).ln()).clamp(-LARGEST_STEP, LARGEST_STEP)
}

/// The logarithm of the mean, kept away from that of zero.
pub(super) fn log_mean(y: &[f64], weights: Option<&[f64]>) -> f64 {
    mean(y, weights).max(1e-9).ln()
}
