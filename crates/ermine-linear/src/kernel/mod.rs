//! Kernels: functions of two rows that are dot products in some feature space.
//!
//! | kernel | `k(x, y)` |
//! |---|---|
//! | linear | `x'y` |
//! | polynomial | `(gamma x'y + c)^degree` |
//! | Gaussian | `exp(-gamma |x - y|^2)` |
//! | sigmoid | `tanh(gamma x'y + c)`, not a dot product for all gamma and c |
//! | Laplacian | `exp(-gamma |x - y|_1)` |
//!
//! | file | what it holds |
//! |---|---|
//! | this file | single kernel values |
//! | [`points`] | rows packed for SIMD registers; blocks of kernel values, where kernel methods spend their time |
//! | [`gram`] | kernel matrices, computed by blocks: of rows, precomputed, or of a custom function |
//! | [`mercer`] | Mercer's condition: whether a kernel matrix is positive semidefinite |
//! | [`mod@string`] | string kernels |

pub mod element;
pub mod gram;
pub mod mercer;
pub mod points;
pub mod string;

pub use element::KernelElement;
pub use gram::{CustomKernelMatrix, KernelMatrix, PrecomputedMatrix, whole};
pub use mercer::{Mercer, is_psd};
pub use points::KernelPoints;

use ermine_core::linalg::lanes;
use ermine_core::simd::exp::exp;
use serde::{Deserialize, Serialize};

/// A kernel with its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kernel {
    /// `x'y`.
    Linear,
    /// `(gamma x'y + coef0)^degree`.
    Polynomial {
        /// The degree.
        degree: u32,
        /// Factor of the dot product.
        gamma: f64,
        /// Independent term.
        coef0: f64,
    },
    /// `exp(-gamma |x - y|^2)`.
    Gaussian {
        /// The inverse of twice the squared width.
        gamma: f64,
    },
    /// `tanh(gamma x'y + coef0)`.
    Sigmoid {
        /// Factor of the dot product.
        gamma: f64,
        /// Independent term.
        coef0: f64,
    },
    /// `exp(-gamma |x - y|_1)`.
    Laplacian {
        /// The inverse of the width.
        gamma: f64,
    },
}

impl Kernel {
    /// `k(x, y)`.
    pub fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        match *self {
            Kernel::Linear => lanes::dot(x, y),
            Kernel::Polynomial { degree, gamma, coef0 } => {
                gamma.mul_add(lanes::dot(x, y), coef0).powi(degree.min(i32::MAX as u32) as i32)
            }
            Kernel::Gaussian { gamma } => {
                let square: f64 = x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum();
                exp(-gamma * square)
            }
            Kernel::Sigmoid { gamma, coef0 } => gamma.mul_add(lanes::dot(x, y), coef0).tanh(),
            Kernel::Laplacian { gamma } => exp(-gamma * x.iter().zip(y).map(|(a, b)| (a - b).abs()).sum::<f64>()),
        }
    }

    /// The kernel values of `x` with each of the rows, stored one after the other.
    pub fn values(&self, x: &[f64], rows: &[f64], out: &mut [f64]) {
        rows.chunks_exact(x.len().max(1)).zip(out).for_each(|(row, out)| *out = self.value(x, row));
    }

    /// Whether it is translation invariant.
    pub fn is_stationary(&self) -> bool {
        matches!(self, Kernel::Gaussian { .. } | Kernel::Laplacian { .. })
    }

    /// Whether every kernel matrix is positive semidefinite (Mercer's condition).
    pub fn is_mercer(&self) -> bool {
        match *self {
            Kernel::Linear => true,
            Kernel::Gaussian { gamma } | Kernel::Laplacian { gamma } => gamma >= 0.0,
            Kernel::Polynomial { gamma, coef0, .. } => gamma >= 0.0 && coef0 >= 0.0,
            Kernel::Sigmoid { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_match_their_definitions() {
        let (x, y) = ([1.0, 2.0, -1.0], [0.5, 3.0, 2.0]);
        assert_eq!(Kernel::Linear.value(&x, &y), 4.5);
        assert_eq!(Kernel::Polynomial { degree: 3, gamma: 2.0, coef0: 1.0 }.value(&x, &y), 1000.0);
        let gaussian = Kernel::Gaussian { gamma: 0.1 };
        assert!((gaussian.value(&x, &y) - (-0.1f64 * 10.25).exp()).abs() < 1e-15);
        assert_eq!(gaussian.value(&x, &x), 1.0);
        let laplacian = Kernel::Laplacian { gamma: 0.1 };
        assert!((laplacian.value(&x, &y) - (-0.1f64 * 4.5).exp()).abs() < 1e-15);
        assert_eq!(Kernel::Sigmoid { gamma: 2.0, coef0: -9.0 }.value(&x, &y), 0.0);
        let mut out = [0.0; 2];
        Kernel::Linear.values(&x, &[x, y].concat(), &mut out);
        assert_eq!(out, [6.0, 4.5]);
    }
}
