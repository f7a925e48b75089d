//! The elastic net: `lambda (ratio abs(w) + (1 - ratio) w^2 / 2)`. Sparse like L1, but correlated columns share the weight.
//!
//! **Reference.** Zou and Hastie, "Regularization and variable selection via the elastic net" (2005).

use super::l1;

/// `lambda (ratio abs(w) + (1 - ratio) w^2 / 2)`.
pub fn value(lambda: f64, ratio: f64, w: f64) -> f64 {
    lambda * (ratio * w.abs() + (1.0 - ratio) * w * w / 2.0)
}

/// `lambda (ratio sign(w) + (1 - ratio) w)`.
#[inline(always)]
pub fn gradient(lambda: f64, ratio: f64, w: f64) -> f64 {
    l1::gradient(lambda * ratio, w) + lambda * (1.0 - ratio) * w
}

/// Soft thresholding, then shrinking.
#[inline(always)]
pub fn prox(strength: f64, ratio: f64, v: f64) -> f64 {
    l1::prox(strength * ratio, v) / (1.0 + strength * (1.0 - ratio))
}

/// `max(0, abs(u) - lambda ratio)^2 / (2 lambda (1 - ratio))`.
pub fn conjugate(lambda: f64, ratio: f64, u: f64) -> f64 {
    let beyond = (u.abs() - lambda * ratio).max(0.0);
    if beyond == 0.0 { 0.0 } else { beyond * beyond / (2.0 * lambda * (1.0 - ratio)) }
}
