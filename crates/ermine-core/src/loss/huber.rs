//! Huber's loss: `r^2 / 2` for a residual `r = z - y` up to `delta`, `delta (abs(r) - delta / 2)` beyond. Outliers pull with a
//! bounded force.
//!
//! **Reference.** Huber, "Robust estimation of a location parameter" (1964).

use super::Loss;

/// Squared up to `delta`, absolute beyond.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Huber {
    /// Where the parabola becomes a line; more than 0.
    pub delta: f64,
}

impl Loss for Huber {
    fn name(&self) -> &'static str {
        "Huber loss"
    }

    #[inline(always)]
    fn value(&self, z: f64, y: f64) -> f64 {
        let r = (z - y).abs();
        if r <= self.delta { r * r / 2.0 } else { self.delta * (r - self.delta / 2.0) }
    }

    #[inline(always)]
    fn gradient(&self, z: f64, y: f64) -> f64 {
        (z - y).clamp(-self.delta, self.delta)
    }

    #[inline(always)]
    fn curvature(&self, z: f64, y: f64) -> f64 {
        if (z - y).abs() <= self.delta { 1.0 } else { 0.0 }
    }

    /// `a^2 / 2 + a y` for `abs(a) <= delta`.
    fn conjugate(&self, a: f64, y: f64) -> f64 {
        if a.abs() <= self.delta { a * a / 2.0 + a * y } else { f64::INFINITY }
    }

    fn smoothness(&self) -> Option<f64> {
        Some(1.0)
    }

    fn has_straight_pieces(&self) -> bool {
        true
    }
}
