//! L1: `lambda abs(w)`. Its proximal step is soft thresholding, which gives exact zeros.

/// `lambda abs(w)`.
pub fn value(lambda: f64, w: f64) -> f64 {
    lambda * w.abs()
}

/// `lambda sign(w)`, 0 at 0.
#[inline(always)]
pub fn gradient(lambda: f64, w: f64) -> f64 {
    if w == 0.0 { 0.0 } else { lambda.copysign(w) }
}

/// Soft thresholding: `v` moved towards 0 by `threshold`, and not past it.
#[inline(always)]
pub fn prox(threshold: f64, v: f64) -> f64 {
    let kept = v.abs() - threshold;
    if kept > 0.0 { kept.copysign(v) } else { 0.0 }
}

/// 0 up to `lambda`, infinite beyond.
pub fn conjugate(lambda: f64, u: f64) -> f64 {
    if u.abs() <= lambda { 0.0 } else { f64::INFINITY }
}
