//! L2: `lambda w^2 / 2`, the half square, whose gradient is `lambda w`.

/// `lambda w^2 / 2`.
pub fn value(lambda: f64, w: f64) -> f64 {
    lambda * w * w / 2.0
}

/// `u^2 / (2 lambda)`.
pub fn conjugate(lambda: f64, u: f64) -> f64 {
    if u == 0.0 { 0.0 } else { u * u / (2.0 * lambda) }
}
