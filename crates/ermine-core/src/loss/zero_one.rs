//! The 0-1 loss: 1 for a wrong sign. It is neither convex nor continuous, so it can't be minimized by descent. Reported together with the surrogate losses that bound it.

/// `1` if `y z <= 0`, else `0`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ZeroOne;

impl ZeroOne {
    /// The loss of margin `z` for class `y` (-1 or +1).
    pub fn value(&self, z: f64, y: f64) -> f64 {
        if y * z > 0.0 { 0.0 } else { 1.0 }
    }
}
