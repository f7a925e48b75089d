//! The hinge loss `max(0, 1 - y z)` of the support vector machine: no cost beyond margin 1, a straight line before it.

use super::Loss;

/// `max(0, 1 - y z)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hinge;

impl Loss for Hinge {
    fn name(&self) -> &'static str {
        "hinge loss"
    }

    #[inline(always)]
    fn value(&self, z: f64, y: f64) -> f64 {
        (1.0 - y * z).max(0.0)
    }

    #[inline(always)]
    fn gradient(&self, z: f64, y: f64) -> f64 {
        if y * z < 1.0 { -y } else { 0.0 }
    }

    #[inline(always)]
    fn curvature(&self, _: f64, _: f64) -> f64 {
        0.0
    }

    /// `a y` for `-1 <= a y <= 0`.
    fn conjugate(&self, a: f64, y: f64) -> f64 {
        if (-1.0..=0.0).contains(&(a * y)) { a * y } else { f64::INFINITY }
    }

    fn has_straight_pieces(&self) -> bool {
        true
    }
}
