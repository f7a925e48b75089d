//! Mercer's condition: whether a kernel matrix is positive semidefinite.
//!
//! **Idea.** A function is a kernel if for all rows its matrix of values is symmetric and positive semidefinite: no `c` has `c'Kc < 0`. For given rows the eigenvalues decide:
//! a negative one (beyond rounding) is a counterexample, and its eigenvector is the `c`. For many rows ([`verdict`]), Lanczos' method searches for a counterexample first; if it finds none, a Cholesky
//! factorization of the matrix, shifted by the rounding tolerance, proves that there is none.
//!
//! **Cost.** O(n^3), a factorization about 1 / 30 of all eigenvalues; Lanczos O(n^2) for each of its steps.
//!
//! **Reference.** Mercer, "Functions of positive and negative type" (1909); Golub and Van Loan, "Matrix Computations", section 10.1.

use crate::optim::decompose::symmetric_eigen;
use ermine_core::error::{Error, Result};
use ermine_core::linalg::cholesky::Cholesky;
use ermine_core::linalg::{Matrix, lanes};
use ermine_core::parallel;
use ermine_core::rng::{self, Purpose};

/// Result of the check.
#[derive(Debug, Clone, PartialEq)]
pub struct Mercer {
    /// Whether the matrix is positive semidefinite, up to rounding.
    pub psd: bool,
    /// The smallest eigenvalue.
    pub least: f64,
    /// The largest eigenvalue, to which the rounding tolerance is relative.
    pub largest: f64,
    /// The unit vector `c` with the smallest `c'Kc`.
    pub witness: Vec<f64>,
}

/// Eigenvalues above `-n ROUNDING largest` count as zero.
const ROUNDING: f64 = 1e-14;

/// Checks a square kernel matrix, stored row by row.
pub fn is_psd(values: &[f64], n: usize) -> Result<Mercer> {
    is_psd_within(values, n, ROUNDING)
}

/// The same for values with a given relative precision (1e-7 in single precision).
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

/// What is known about a kernel matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MercerVerdict {
    /// It is positive semidefinite, up to rounding.
    DotProducts,
    /// It is not positive semidefinite.
    Offends {
        /// A negative eigenvalue, or a value between it and 0.
        least: f64,
        /// The largest eigenvalue.
        largest: f64,
    },
    /// No counterexample was found, and there are too many rows for a proof.
    Unknown,
}

/// Maximum number of rows for which all eigenvalues are computed.
const FEW: usize = 400;
/// Maximum number of rows for which the matrix is factored.
const MANY: usize = 4000;
/// Number of steps of Lanczos' method.
const STEPS: usize = 60;

/// Checks a symmetric matrix whose values have a given relative precision.
pub fn verdict(values: &[f64], n: usize, precision: f64) -> Result<MercerVerdict> {
    if n <= FEW {
        let found = is_psd_within(values, n, precision)?;
        return Ok(match found.psd {
            true => MercerVerdict::DotProducts,
            false => MercerVerdict::Offends { least: found.least, largest: found.largest },
        });
    }
    let (least, largest) = extremes(values, n)?;
    let rounding = n as f64 * precision * largest.abs().max(least.abs());
    if least < -rounding {
        return Ok(MercerVerdict::Offends { least, largest });
    }
    if n > MANY {
        return Ok(MercerVerdict::Unknown);
    }
    let moved = |i: usize, j: usize| values[i * n + j] + if i == j { rounding } else { 0.0 };
    if Cholesky::new(&Matrix::from_fn(n, n, moved), 0.0).is_some() {
        return Ok(MercerVerdict::DotProducts);
    }
    let found = is_psd_within(values, n, precision)?;
    Ok(if found.psd {
        MercerVerdict::DotProducts
    } else {
        MercerVerdict::Offends { least: found.least, largest: found.largest }
    })
}

/// The smallest and the largest Lanczos estimates of the eigenvalues.
fn extremes(values: &[f64], n: usize) -> Result<(f64, f64)> {
    let times = |v: &[f64]| parallel::map(values.len() / n, |i| lanes::dot(&values[i * n..][..n], v));
    let mut stream = Purpose::MercerStart.stream(0, &[]);
    let mut next: Vec<f64> = (0..n).map(|_| rng::uniform(&mut stream) - 0.5).collect();
    let (mut basis, mut diagonal, mut beside): (Vec<Vec<f64>>, Vec<f64>, Vec<f64>) = Default::default();
    for _ in 0..STEPS.min(n) {
        let length = lanes::square_sum(&next).sqrt();
        if !(length > 1e-12 * diagonal.iter().fold(0.0f64, |m: f64, d| m.max(d.abs()))) {
            break;
        }
        if !basis.is_empty() {
            beside.push(length);
        }
        next.iter_mut().for_each(|x| *x /= length);
        let image = times(&next);
        diagonal.push(lanes::dot(&image, &next));
        basis.push(std::mem::replace(&mut next, image));
        // Orthogonalized against all directions, twice because of rounding.
        for _ in 0..2 {
            basis.iter().for_each(|v| lanes::axpy(-lanes::dot(&next, v), v, &mut next));
        }
    }
    let m = diagonal.len();
    let entry = |i: usize, j: usize| match i.abs_diff(j) {
        0 => diagonal[i],
        1 => beside[i.min(j)],
        _ => 0.0,
    };
    let found = symmetric_eigen(&Matrix::from_fn(m, m, entry))?.values;
    Ok((found.first().copied().unwrap_or(0.0), found.last().copied().unwrap_or(0.0)))
}

/// An error if a square matrix is not symmetric, up to rounding.
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
        fn kernels_pass_and_a_witness_disproves_the_others(x in prop::collection::vec(-3.0f64..3.0, 2..60)) {
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

    /// Values of many rows in which only every second row offends, or none does.
    fn many(n: usize, offends: bool, seed: u64) -> Vec<f64> {
        let mut stream = rng::stream(seed, &[]);
        let mut values = vec![0.0; n * n];
        for i in 0..n {
            values[i * n + i] = 1.0;
            for j in (1..i).step_by(2).filter(|_| offends && i % 2 == 1) {
                let value = rng::uniform(&mut stream) - 0.5;
                (values[i * n + j], values[j * n + i]) = (value, value);
            }
        }
        values
    }

    #[test]
    fn all_rows_are_checked() {
        for seed in 0..3 {
            let n = 600;
            let MercerVerdict::Offends { least, .. } = verdict(&many(n, true, seed), n, 1e-7).unwrap() else {
                panic!("a counterexample was missed")
            };
            let exact = is_psd(&many(n, true, seed), n).unwrap().least;
            assert!(least < -1.0 && least >= exact * (1.0 + 1e-9) && least < 0.9 * exact, "{least} {exact}");
            assert_eq!(verdict(&many(n, false, seed), n, 1e-7).unwrap(), MercerVerdict::DotProducts);
            // One row of many, by little.
            let mut one = many(n, false, seed);
            one[0] = -1e-3;
            assert!(matches!(verdict(&one, n, 1e-7).unwrap(), MercerVerdict::Offends { least, .. } if least < -9e-4));
        }
    }

    #[test]
    fn unproven_statements_are_not_made() {
        let n = MANY + 1;
        let values: Vec<f64> = (0..n * n).map(|k| f64::from(u8::from(k / n == k % n))).collect();
        assert_eq!(verdict(&values, n, 1e-7).unwrap(), MercerVerdict::Unknown);
    }

    #[test]
    fn the_negative_eigenvalue_is_reported() {
        let found = is_psd(&[1.0, 2.0, 2.0, 1.0], 2).unwrap();
        assert!(!found.psd && (found.least + 1.0).abs() < 1e-12);
        assert!(is_psd(&[1.0, 0.5, 0.5, 1.0], 2).unwrap().psd);
        assert!(is_psd(&[1.0, 0.5, 0.1, 1.0], 2).unwrap_err().to_string().contains("symmetric"));
        assert!(is_psd(&[1.0], 2).is_err());
    }
}
