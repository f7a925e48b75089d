//! The exponential loss `exp(-y z)`, which AdaBoost minimizes. Half the log-odds is its population minimizer, so that
//! `1 / (1 + exp(-2 z))` estimates the probability of +1.

use super::{Link, Logistic, Loss};
use crate::simd::exp::exp;

/// `exp(-y z)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exponential;

impl Loss for Exponential {
    fn name(&self) -> &'static str {
        "exponential loss"
    }

    #[inline(always)]
    fn value(&self, z: f64, y: f64) -> f64 {
        exp(-y * z)
    }

    #[inline(always)]
    fn gradient(&self, z: f64, y: f64) -> f64 {
        -y * exp(-y * z)
    }

    #[inline(always)]
    fn curvature(&self, z: f64, y: f64) -> f64 {
        exp(-y * z)
    }

    /// With `t = -a y >= 0`: `t - t ln t`, negated.
    fn conjugate(&self, a: f64, y: f64) -> f64 {
        let t = -a * y;
        match t {
            t if t > 0.0 => t * t.ln() - t,
            0.0 => 0.0,
            _ => f64::INFINITY,
        }
    }

    fn link(&self) -> Link {
        Link::Vote
    }

    fn best_constant(&self, y: &[f64], weights: Option<&[f64]>) -> f64 {
        Logistic.best_constant(y, weights) / 2.0
    }
}
