//! The Mercer check: whether a matrix of kernel values is one of dot products.
//!
//! **Idea.** A function is a kernel if for all rows its matrix of values is symmetric and positive semidefinite: no `c` has `c'Kc < 0`. For given rows the eigenvalues decide:
//! one below zero (beyond rounding) is a counterexample, and its eigenvector is the `c`. Of many rows ([`verdict`]) Lanczos' method looks for a counterexample first, and where it finds none a Cholesky
//! factorization of the matrix, moved up by what counts as rounding, proves that there is none.
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

/// What is known about a matrix of kernel values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MercerVerdict {
    /// It is one of dot products, up to rounding.
    DotProducts,
    /// It isn't.
    Offends {
        /// An eigenvalue below 0, or a value between it and 0.
        least: f64,
        /// The largest one.
        largest: f64,
    },
    /// There are too many rows to prove it, and no counterexample was found.
    Unknown,
}

/// Up to so many rows all eigenvalues are computed.
const FEW: usize = 400;
/// Up to so many rows the matrix is factored.
const MANY: usize = 4000;
/// Steps of Lanczos' method.
const STEPS: usize = 60;

/// Judges a symmetric matrix of values known to a relative precision.
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

/// The least and the largest of Lanczos' estimates of eigenvalues: no eigenvalue lies inside of the least, or the largest, by more than they do.
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
        // Against all directions, twice: rounding would bring them back.
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
