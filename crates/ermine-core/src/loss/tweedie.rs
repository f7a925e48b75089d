//! The Tweedie loss `e^((2 - p) z) / (2 - p) - y e^((1 - p) z) / (1 - p)`: half the deviance of nonnegative `y` with mean `e^z` and variance proportional to the power `p` of the
//! mean, 1 < p < 2, up to a constant. Poisson is the limit `p = 1`, Gamma `p = 2`.
//!
//! **Exact steps.** Newton's step is a poor guide for losses of `e^z`: if targets are far above the prediction, it overshoots so far that the next step overflows. But the minimum
//! over some rows has a closed form. With A the sum of `y e^((1 - p) z)` and B the sum of `e^((2 - p) z)`, the best common change w of the scores satisfies `e^w = A / B`. Gradient
//! and curvature are G = B - A and H = (2 - p) B - (1 - p) A, so A = H - (2 - p) G and B = H - (1 - p) G. With a penalty lambda added to both, and Newton's step
//! n = -G / (H + lambda),
//!
//! ```text
//! w = ln((1 + (2 - p) n) / (1 + (1 - p) n))
//! ```
//! which equals n to second order, increases with n (so predictions stay monotone) and never increases the loss.

use super::{Link, Loss, TargetRange, mean};
use crate::simd::exp::exp;

/// The Tweedie loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tweedie {
    /// The power of the mean that the variance is proportional to; between 1 and 2.
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

/// Largest change of the log prediction; if all targets are zero, there is no minimum.
pub(super) const LARGEST_STEP: f64 = 10.0;

/// The best change of the log prediction, given Newton's step, for variance power p.
pub(super) fn log_step(p: f64, newton: f64) -> f64 {
    let (above, below) = (1.0 + (2.0 - p) * newton, 1.0 + (1.0 - p) * newton);
    (above.max(0.0).ln() - below.max(0.0).ln()).clamp(-LARGEST_STEP, LARGEST_STEP)
}

/// The logarithm of the mean, bounded from below.
pub(super) fn log_mean(y: &[f64], weights: Option<&[f64]>) -> f64 {
    mean(y, weights).max(1e-9).ln()
}
