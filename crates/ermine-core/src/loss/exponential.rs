//! The exponential loss `exp(-y z)`, which AdaBoost minimises. Half the log-odds is its population minimiser, so that
//! `1 / (1 + exp(-2 z))` estimates the probability of +1.

use super::Loss;
use crate::linalg::lanes::{exp, sigmoid};

/// `exp(-y z)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exponential;

impl Loss for Exponential {
    fn value(&self, z: f64, y: f64) -> f64 {
        exp(-y * z)
    }

    fn gradient(&self, z: f64, y: f64) -> f64 {
        -y * exp(-y * z)
    }

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

    fn smoothness(&self) -> Option<f64> {
        None
    }

    fn link(&self, z: f64) -> f64 {
        sigmoid(2.0 * z)
    }
}
