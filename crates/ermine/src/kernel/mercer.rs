//! The Mercer check: whether a matrix of kernel values is one of dot products.
//!
//! **Idea.** A function is a kernel if for all rows its matrix of values is symmetric and positive semidefinite: no `c` has `c'Kc < 0`. For given rows the eigenvalues say it:
//! one below zero (beyond rounding) is a counterexample, and its eigenvector is the `c`.
//!
//! **Cost.** O(n^3). **Reference.** Mercer, "Functions of positive and negative type" (1909).

use crate::error::{Error, Result};
use crate::linalg::Matrix;
use crate::linalg::decompose::symmetric_eigen;

/// What the check found.
#[derive(Debug, Clone, PartialEq)]
pub struct Mercer {
    /// Whether the matrix is one of dot products, up to rounding.
    pub psd: bool,
    /// The least eigenvalue: the offending one where it isn't.
    pub least: f64,
    /// The largest, against which rounding is judged.
    pub largest: f64,
    /// The `c` of unit length with the least `c'Kc`.
    pub witness: Vec<f64>,
}

/// Eigenvalues above `-n ROUNDING largest` count as zero.
const ROUNDING: f64 = 1e-14;

/// Checks a square matrix of kernel values, row after row.
pub fn is_psd(values: &[f64], n: usize) -> Result<Mercer> {
    is_psd_within(values, n, ROUNDING)
}

/// The same for values known to a relative precision only (single precision: 1e-7).
pub fn is_psd_within(values: &[f64], n: usize, precision: f64) -> Result<Mercer> {
    if n.checked_mul(n) != Some(values.len()) {
        return Err(Error::data(format!("{} values for a matrix of {n} by {n}", values.len())));
    }
    check_symmetric(values, n)?;
    if n == 0 {
        return Ok(Mercer { psd: true, least: 0.0, largest: 0.0, witness: Vec::new() });
    }
    let eigen = symmetric_eigen(&Matrix::from_fn(n, n, |i, j| (values[i * n + j] + values[j * n + i]) / 2.0))?;
    let (least, largest) = (eigen.values[0], eigen.values[n - 1]);
    let psd = least >= -(n as f64) * precision * largest.abs().max(least.abs());
    Ok(Mercer { psd, least, largest, witness: eigen.vectors.row(0).to_vec() })
}

/// Refuses a square matrix that isn't symmetric, but for rounding.
pub fn check_symmetric(values: &[f64], n: usize) -> Result<()> {
    let largest = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    for i in 0..n {
        for j in 0..i {
            let (a, b) = (values[i * n + j], values[j * n + i]);
            let close = (a - b).abs() <= 1e-6 * largest;
            if !close {
                return Err(Error::data(format!(
                    "kernel values must be symmetric, but those of rows {} and {} are {a} and {b}",
                    i + 1,
                    j + 1
                )));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]
        #[test]
        fn kernels_pass_and_a_witness_proves_the_others_wrong(x in prop::collection::vec(-3.0f64..3.0, 2..60)) {
            let rows: Vec<&[f64]> = x.chunks_exact(2).collect();
            let n = rows.len();
            for kernel in [
                Kernel::Linear,
                Kernel::Polynomial { degree: 2, gamma: 0.5, coef0: 1.0 },
                Kernel::Gaussian { gamma: 0.3 },
                Kernel::Laplacian { gamma: 0.3 },
                Kernel::Sigmoid { gamma: 1.0, coef0: -2.0 },
            ] {
                let values: Vec<f64> = (0..n * n).map(|k| kernel.value(rows[k / n], rows[k % n])).collect();
                let found = is_psd(&values, n).unwrap();
                prop_assert!(found.psd || !kernel.is_mercer(), "{kernel:?}: {}", found.least);
                let form: f64 = (0..n * n).map(|k| found.witness[k / n] * values[k] * found.witness[k % n]).sum();
                prop_assert!((form - found.least).abs() < 1e-9 * (1.0 + found.largest));
            }
        }
    }

    #[test]
    fn the_offending_eigenvalue_is_told() {
        let found = is_psd(&[1.0, 2.0, 2.0, 1.0], 2).unwrap();
        assert!(!found.psd && (found.least + 1.0).abs() < 1e-12);
        assert!(is_psd(&[1.0, 0.5, 0.5, 1.0], 2).unwrap().psd);
        assert!(is_psd(&[1.0, 0.5, 0.1, 1.0], 2).unwrap_err().to_string().contains("symmetric"));
        assert!(is_psd(&[1.0], 2).is_err());
    }
}
