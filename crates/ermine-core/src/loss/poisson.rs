//! The Poisson loss `e^z - y z`: half the deviance of counts `y` with the mean `e^z`, up to a constant.

use super::tweedie::{log_mean, log_step};
use super::{Link, Loss, TargetRange};
use crate::simd::exp::exp;

/// `e^z - y z`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Poisson;

impl Loss for Poisson {
    fn name(&self) -> &'static str {
        "Poisson loss"
    }

    #[inline(always)]
    fn value(&self, z: f64, y: f64) -> f64 {
        exp(z) - y * z
    }

    #[inline(always)]
    fn gradient(&self, z: f64, y: f64) -> f64 {
        exp(z) - y
    }

    #[inline(always)]
    fn curvature(&self, z: f64, _: f64) -> f64 {
        exp(z)
    }

    /// With `t = a + y >= 0`: `t ln t - t`.
    fn conjugate(&self, a: f64, y: f64) -> f64 {
        match a + y {
            t if t > 0.0 => t * t.ln() - t,
            0.0 => 0.0,
            _ => f64::INFINITY,
        }
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
        Some(log_step(1.0, newton))
    }
}
