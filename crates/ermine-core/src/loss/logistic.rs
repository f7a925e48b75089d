//! The logistic loss `ln(1 + exp(-y z))`: minus the log-likelihood of class `y` when the log-odds are `z`.

use super::Loss;
use crate::linalg::lanes::{exp, ln_1p_unit, sigmoid, softplus};

/// `ln(1 + exp(-y z))`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Logistic;

impl Loss for Logistic {
    fn value(&self, z: f64, y: f64) -> f64 {
        softplus(-y * z)
    }

    fn gradient(&self, z: f64, y: f64) -> f64 {
        -y * sigmoid(-y * z)
    }

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

    fn link(&self, z: f64) -> f64 {
        sigmoid(z)
    }

    fn evaluate(&self, z: &[f64], y: &[f64], value: &mut [f64], gradient: &mut [f64], curvature: &mut [f64]) {
        evaluate(z, y, value, gradient, curvature);
    }
}

vectorised! {
    /// The four transcendental functions of a row from one exponential.
    fn evaluate(z: &[f64], y: &[f64], value: &mut [f64], gradient: &mut [f64], curvature: &mut [f64]) {
        let n = z.len();
        let (y, value, gradient, curvature) = (&y[..n], &mut value[..n], &mut gradient[..n], &mut curvature[..n]);
        for i in 0..n {
            let m = y[i] * z[i];
            let e = exp(-m.abs());
            let q = 1.0 / (1.0 + e);
            let small = e * q;
            value[i] = (-m).max(0.0) + ln_1p_unit(e);
            gradient[i] = -y[i] * if m >= 0.0 { small } else { q };
            curvature[i] = small * q;
        }
    }
}
