//! The quantile (pinball) loss: `tau (y - z)` where the prediction is too low, `(1 - tau)(z - y)` where it is too high.
//! Its population minimiser is the `tau`-quantile.
//!
//! **Reference.** Koenker and Bassett, "Regression quantiles" (1978).

use super::Loss;

/// `max(tau (y - z), (1 - tau)(z - y))`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantile {
    /// Which quantile, between 0 and 1.
    pub tau: f64,
}

impl Loss for Quantile {
    fn value(&self, z: f64, y: f64) -> f64 {
        if y >= z { self.tau * (y - z) } else { (1.0 - self.tau) * (z - y) }
    }

    fn gradient(&self, z: f64, y: f64) -> f64 {
        if z > y {
            1.0 - self.tau
        } else if z < y {
            -self.tau
        } else {
            0.0
        }
    }

    fn curvature(&self, _: f64, _: f64) -> f64 {
        0.0
    }

    /// `a y` for `-tau <= a <= 1 - tau`.
    fn conjugate(&self, a: f64, y: f64) -> f64 {
        if -self.tau <= a && a <= 1.0 - self.tau { a * y } else { f64::INFINITY }
    }

    fn smoothness(&self) -> Option<f64> {
        None
    }
}
