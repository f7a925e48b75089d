//! The Gamma loss `z + y e^-z`: half the deviance of positive numbers `y` with the mean `e^z`, up to a constant.

use super::tweedie::{log_mean, log_step};
use super::{Link, Loss, TargetRange};
use crate::simd::exp::exp;

/// `z + y e^-z`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gamma;

impl Loss for Gamma {
    fn name(&self) -> &'static str {
        "Gamma loss"
    }

    #[inline(always)]
    fn value(&self, z: f64, y: f64) -> f64 {
        z + y * exp(-z)
    }

    #[inline(always)]
    fn gradient(&self, z: f64, y: f64) -> f64 {
        1.0 - y * exp(-z)
    }

    #[inline(always)]
    fn curvature(&self, z: f64, y: f64) -> f64 {
        y * exp(-z)
    }

    /// With `t = 1 - a >= 0`: `t ln(t / y) - t`.
    fn conjugate(&self, a: f64, y: f64) -> f64 {
        match 1.0 - a {
            t if t > 0.0 => t * (t / y).ln() - t,
            0.0 => 0.0,
            _ => f64::INFINITY,
        }
    }

    fn link(&self) -> Link {
        Link::Exponential
    }

    fn targets(&self) -> TargetRange {
        TargetRange::Positive
    }

    fn best_constant(&self, y: &[f64], weights: Option<&[f64]>) -> f64 {
        log_mean(y, weights)
    }

    fn exact_step(&self, newton: f64) -> Option<f64> {
        Some(log_step(2.0, newton))
    }
}
