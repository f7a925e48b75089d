//! The absolute loss `abs(z - y)`, whose population minimizer is the median.

use super::Loss;

/// `abs(z - y)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Absolute;

impl Loss for Absolute {
    fn name(&self) -> &'static str {
        "absolute error"
    }

    #[inline(always)]
    fn value(&self, z: f64, y: f64) -> f64 {
        (z - y).abs()
    }

    #[inline(always)]
    fn gradient(&self, z: f64, y: f64) -> f64 {
        if z > y {
            1.0
        } else if z < y {
            -1.0
        } else {
            0.0
        }
    }

    #[inline(always)]
    fn curvature(&self, _: f64, _: f64) -> f64 {
        0.0
    }

    /// `a y` for `-1 <= a <= 1`.
    fn conjugate(&self, a: f64, y: f64) -> f64 {
        if a.abs() <= 1.0 { a * y } else { f64::INFINITY }
    }

    fn has_straight_pieces(&self) -> bool {
        true
    }

    fn best_constant(&self, y: &[f64], weights: Option<&[f64]>) -> f64 {
        super::quantile::quantile_of(y, weights, 0.5)
    }

    fn quantile(&self) -> Option<f64> {
        Some(0.5)
    }
}
