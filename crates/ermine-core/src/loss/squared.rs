//! The squared loss `(z - y)^2 / 2`, whose population minimizer is the mean.

use super::Loss;

/// `(z - y)^2 / 2`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Squared;

impl Loss for Squared {
    fn name(&self) -> &'static str {
        "half squared error"
    }

    #[inline(always)]
    fn value(&self, z: f64, y: f64) -> f64 {
        (z - y) * (z - y) / 2.0
    }

    #[inline(always)]
    fn gradient(&self, z: f64, y: f64) -> f64 {
        z - y
    }

    #[inline(always)]
    fn curvature(&self, _: f64, _: f64) -> f64 {
        1.0
    }

    fn conjugate(&self, a: f64, y: f64) -> f64 {
        a * a / 2.0 + a * y
    }

    fn smoothness(&self) -> Option<f64> {
        Some(1.0)
    }

    fn has_unit_curvature(&self) -> bool {
        true
    }

    fn best_constant(&self, y: &[f64], weights: Option<&[f64]>) -> f64 {
        super::mean(y, weights)
    }
}
