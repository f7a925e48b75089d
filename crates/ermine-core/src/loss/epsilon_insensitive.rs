//! The epsilon-insensitive loss `max(0, abs(z - y) - epsilon)` of support vector regression: small errors cost nothing.

use super::Loss;

/// `max(0, abs(z - y) - epsilon)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EpsilonInsensitive {
    /// Errors up to this size are free; at least 0.
    pub epsilon: f64,
}

impl Loss for EpsilonInsensitive {
    fn name(&self) -> &'static str {
        "epsilon-insensitive loss"
    }

    #[inline(always)]
    fn value(&self, z: f64, y: f64) -> f64 {
        ((z - y).abs() - self.epsilon).max(0.0)
    }

    #[inline(always)]
    fn gradient(&self, z: f64, y: f64) -> f64 {
        match z - y {
            r if r > self.epsilon => 1.0,
            r if r < -self.epsilon => -1.0,
            _ => 0.0,
        }
    }

    #[inline(always)]
    fn curvature(&self, _: f64, _: f64) -> f64 {
        0.0
    }

    /// `a y + epsilon abs(a)` for `-1 <= a <= 1`.
    fn conjugate(&self, a: f64, y: f64) -> f64 {
        if a.abs() <= 1.0 { a * y + self.epsilon * a.abs() } else { f64::INFINITY }
    }

    fn has_straight_pieces(&self) -> bool {
        true
    }
}
