//! The squared epsilon-insensitive loss `max(0, abs(z - y) - epsilon)^2 / 2`: the tube of support vector regression with its corners rounded off.

use super::Loss;

/// `max(0, abs(z - y) - epsilon)^2 / 2`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SquaredEpsilonInsensitive {
    /// Errors up to this size are free; at least 0.
    pub epsilon: f64,
}

impl Loss for SquaredEpsilonInsensitive {
    fn name(&self) -> &'static str {
        "squared epsilon-insensitive loss"
    }

    #[inline(always)]
    fn value(&self, z: f64, y: f64) -> f64 {
        let beyond = ((z - y).abs() - self.epsilon).max(0.0);
        beyond * beyond / 2.0
    }

    #[inline(always)]
    fn gradient(&self, z: f64, y: f64) -> f64 {
        ((z - y).abs() - self.epsilon).max(0.0).copysign(z - y)
    }

    #[inline(always)]
    fn curvature(&self, z: f64, y: f64) -> f64 {
        if (z - y).abs() >= self.epsilon { 1.0 } else { 0.0 }
    }

    /// `a y + epsilon abs(a) + a^2 / 2`.
    fn conjugate(&self, a: f64, y: f64) -> f64 {
        a * y + self.epsilon * a.abs() + a * a / 2.0
    }

    fn smoothness(&self) -> Option<f64> {
        Some(1.0)
    }

    fn has_straight_pieces(&self) -> bool {
        true
    }
}
