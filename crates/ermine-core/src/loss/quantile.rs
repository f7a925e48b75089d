//! The quantile (pinball) loss: `tau (y - z)` where the prediction is too low, `(1 - tau)(z - y)` where it is too high.
//! Its population minimizer is the `tau`-quantile.
//!
//! **Reference.** Koenker and Bassett, "Regression quantiles" (1978).

use super::Loss;

/// `max(tau (y - z), (1 - tau)(z - y))`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantile {
    /// The level of the quantile, between 0 and 1.
    pub tau: f64,
}

impl Loss for Quantile {
    fn name(&self) -> &'static str {
        "quantile loss"
    }

    #[inline(always)]
    fn value(&self, z: f64, y: f64) -> f64 {
        if y >= z { self.tau * (y - z) } else { (1.0 - self.tau) * (z - y) }
    }

    #[inline(always)]
    fn gradient(&self, z: f64, y: f64) -> f64 {
        if z > y {
            1.0 - self.tau
        } else if z < y {
            -self.tau
        } else {
            0.0
        }
    }

    #[inline(always)]
    fn curvature(&self, _: f64, _: f64) -> f64 {
        0.0
    }

    /// `a y` for `-tau <= a <= 1 - tau`.
    fn conjugate(&self, a: f64, y: f64) -> f64 {
        if -self.tau <= a && a <= 1.0 - self.tau { a * y } else { f64::INFINITY }
    }

    fn has_straight_pieces(&self) -> bool {
        true
    }

    fn best_constant(&self, y: &[f64], weights: Option<&[f64]>) -> f64 {
        quantile_of(y, weights, self.tau)
    }

    fn quantile(&self) -> Option<f64> {
        Some(self.tau)
    }
}

/// The smallest value such that at least the share `level` of the weight lies at or below it; `None` if there are no values.
pub fn weighted_quantile(values: &mut [(f64, f64)], level: f64) -> Option<f64> {
    values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = values.iter().map(|v| v.1).sum();
    let mut below = 0.0;
    for &(value, weight) in &*values {
        below += weight;
        if below >= level * total {
            return Some(value);
        }
    }
    values.last().map(|v| v.0)
}

/// The quantile of the targets; 0 if there are none.
pub(super) fn quantile_of(y: &[f64], weights: Option<&[f64]>, level: f64) -> f64 {
    let mut values: Vec<(f64, f64)> = y.iter().enumerate().map(|(i, &y)| (y, weights.map_or(1.0, |w| w[i]))).collect();
    weighted_quantile(&mut values, level).unwrap_or(0.0)
}
