//! The squared hinge loss `max(0, 1 - y z)^2 / 2`: the hinge with its corner rounded off.

use super::Loss;

/// `max(0, 1 - y z)^2 / 2`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SquaredHinge;

impl Loss for SquaredHinge {
    fn name(&self) -> &'static str {
        "squared hinge loss"
    }

    #[inline(always)]
    fn value(&self, z: f64, y: f64) -> f64 {
        let slack = (1.0 - y * z).max(0.0);
        slack * slack / 2.0
    }

    #[inline(always)]
    fn gradient(&self, z: f64, y: f64) -> f64 {
        -y * (1.0 - y * z).max(0.0)
    }

    #[inline(always)]
    fn curvature(&self, z: f64, y: f64) -> f64 {
        if y * z < 1.0 { 1.0 } else { 0.0 }
    }

    /// `a y + a^2 / 2` for `a y <= 0`.
    fn conjugate(&self, a: f64, y: f64) -> f64 {
        if a * y <= 0.0 { a * y + a * a / 2.0 } else { f64::INFINITY }
    }

    fn smoothness(&self) -> Option<f64> {
        Some(1.0)
    }

    fn has_straight_pieces(&self) -> bool {
        true
    }
}
