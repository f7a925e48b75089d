//! The logistic loss `ln(1 + exp(-y z))`: minus the log-likelihood of class `y` when the log-odds are `z`.

use super::{Link, Loss};
use crate::simd::exp::{exp, ln_1p_unit, sigmoid, softplus};

/// Minimum distance of class shares from 0 and 1 when fitting a constant.
pub(super) const LEAST_SHARE: f64 = 1e-9;

/// `ln(1 + exp(-y z))`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Logistic;

impl Loss for Logistic {
    fn name(&self) -> &'static str {
        "log loss"
    }

    #[inline(always)]
    fn value(&self, z: f64, y: f64) -> f64 {
        softplus(-y * z)
    }

    #[inline(always)]
    fn gradient(&self, z: f64, y: f64) -> f64 {
        -y * sigmoid(-y * z)
    }

    #[inline(always)]
    fn curvature(&self, z: f64, _: f64) -> f64 {
        let p = sigmoid(-z.abs());
        p * (1.0 - p)
    }

    /// With `t = -a y` between 0 and 1: `t ln t + (1 - t) ln(1 - t)`.
    fn conjugate(&self, a: f64, y: f64) -> f64 {
        let t = -a * y;
        if !(0.0..=1.0).contains(&t) {
            return f64::INFINITY;
        }
        let entropy = |t: f64| if t > 0.0 { t * t.ln() } else { 0.0 };
        entropy(t) + if t < 1.0 { (1.0 - t) * (-t).ln_1p() } else { 0.0 }
    }

    fn smoothness(&self) -> Option<f64> {
        Some(0.25)
    }

    fn link(&self) -> Link {
        Link::Logistic
    }

    /// The log odds of the share of class +1, which is kept away from 0 and 1.
    fn best_constant(&self, y: &[f64], weights: Option<&[f64]>) -> f64 {
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
        let positive: f64 = (0..y.len()).filter(|&i| y[i] > 0.0).map(weight).sum();
        let total: f64 = (0..y.len()).map(weight).sum();
        let p = (positive / total).clamp(LEAST_SHARE, 1.0 - LEAST_SHARE);
        (p / (1.0 - p)).ln()
    }

    /// With a single exponential.
    #[inline(always)]
    fn terms(&self, z: f64, y: f64) -> [f64; 3] {
        let m = y * z;
        let e = exp(-m.abs());
        let q = 1.0 / (1.0 + e);
        let small = e * q;
        [(-m).max(0.0) + ln_1p_unit(e), -y * if m >= 0.0 { small } else { q }, small * q]
    }
}
