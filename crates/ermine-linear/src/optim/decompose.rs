//! Eigenvalues, singular values and QR, by the faer library: sequential, so that threads don't change a bit, though machines
//! with different registers may differ in the last bits.
//!
//! [`triangle`] reduces tall data to its triangular factor block by block: with `X = Q R`, all that least squares needs
//! is `R` and `Q'y`, and `R` of a stack is `R` of (`R` of what came before, next rows). Nothing larger than one block is
//! held, and the condition number is that of `X`, not its square as with the Gram matrix.
//!
//! **Reference.** Golub and Van Loan, "Matrix Computations", sections 5.2 and 8.3; Demmel et al.,
//! "Communication-optimal parallel and sequential QR and LU factorizations" (2012) for the stacking.

use ermine_core::error::{Error, Result};
use ermine_core::linalg::{Dense, Matrix};
use faer::{MatRef, Side};

/// `A = V diag(values) V'` with ascending values; row `k` of `vectors` is the eigenvector of `values[k]`.
#[derive(Debug, Clone)]
pub struct Eigen {
    /// Eigenvalues, ascending.
    pub values: Vec<f64>,
    /// Eigenvectors, one in each row.
    pub vectors: Matrix,
}

/// Eigenvalues and eigenvectors of a symmetric matrix.
pub fn symmetric_eigen(a: &Matrix) -> Result<Eigen> {
    let p = a.n_rows();
    check_finite(a)?;
    let eigen = view(a).self_adjoint_eigen(Side::Lower).map_err(|_| no_convergence("eigenvalues"))?;
    let (values, vectors) = (eigen.S().column_vector(), eigen.U());
    Ok(Eigen { values: (0..p).map(|k| values[k]).collect(), vectors: Matrix::from_fn(p, p, |k, i| vectors[(i, k)]) })
}

/// `A = U diag(values) V'` with descending values; row `k` of `left` and `right` belongs to `values[k]`.
#[derive(Debug, Clone)]
pub struct Svd {
    /// Singular values, descending.
    pub values: Vec<f64>,
    /// Left singular vectors, one in each row.
    pub left: Matrix,
    /// Right singular vectors, one in each row.
    pub right: Matrix,
}

/// The thin singular value decomposition.
pub fn svd(a: &Matrix) -> Result<Svd> {
    check_finite(a)?;
    let svd = view(a).thin_svd().map_err(|_| no_convergence("singular values"))?;
    let k = a.n_rows().min(a.n_columns());
    let (u, s, v) = (svd.U(), svd.S().column_vector(), svd.V());
    Ok(Svd {
        values: (0..k).map(|i| s[i]).collect(),
        left: Matrix::from_fn(k, a.n_rows(), |k, i| u[(i, k)]),
        right: Matrix::from_fn(k, a.n_columns(), |k, i| v[(i, k)]),
    })
}

/// The triangular factor of the rows `s_i [x_i - shift, e_i]` for a scale and extra entries that `weigh` writes for
/// each row: `R` with `R'R` equal to the Gram matrix of these rows, square, zeros below the diagonal.
pub fn triangle(x: &Dense, shift: &[f64], extras: usize, weigh: impl Fn(usize, &mut [f64]) -> f64) -> Result<Matrix> {
    let (p, width) = (x.n_columns(), x.n_columns() + extras);
    // Each stack is `width` rows of R and at least as many new rows: a small factor of work over one single QR.
    let block = (3 * width).clamp(64, 4096);
    let mut stack = Matrix::zeros(0, width);
    let (mut buffer, mut extra) = (Vec::new(), vec![0.0; extras]);
    for start in (0..x.n_rows()).step_by(block) {
        let range = start..(start + block).min(x.n_rows());
        let rows = x.block(range.clone(), &mut buffer);
        let mut next = Matrix::zeros(stack.n_rows() + range.len(), width);
        next.data_mut()[..stack.data().len()].copy_from_slice(stack.data());
        for (r, i) in range.enumerate() {
            let scale = weigh(i, &mut extra);
            let out = next.row_mut(stack.n_rows() + r);
            for (j, out) in out[..p].iter_mut().enumerate() {
                *out = scale * (rows.row(r, p)[j] - shift.get(j).copied().unwrap_or(0.0));
            }
            out[p..].copy_from_slice(&extra);
        }
        check_finite(&next)?;
        let r = view(&next).qr();
        let r = r.thin_R();
        stack = Matrix::from_fn(next.n_rows().min(width), width, |i, j| if j >= i { r[(i, j)] } else { 0.0 });
    }
    let rows = stack.n_rows();
    Ok(Matrix::from_fn(width, width, |i, j| if i < rows { stack[(i, j)] } else { 0.0 }))
}

fn view(a: &Matrix) -> MatRef<'_, f64> {
    MatRef::from_row_major_slice(a.data(), a.n_rows(), a.n_columns())
}

fn check_finite(a: &Matrix) -> Result<()> {
    if a.data().iter().all(|x| x.is_finite()) {
        return Ok(());
    }
    Err(Error::data("the sums of products of the columns overflow: values are missing, infinite or too large"))
}

fn no_convergence(what: &str) -> Error {
    Error::data(format!("the {what} of the columns' products could not be computed"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample(n: usize, p: usize, seed: u64) -> Matrix {
        let mut rng = ermine_core::rng::stream(seed, &[]);
        Matrix::from_fn(n, p, |_, _| ermine_core::rng::below(&mut rng, 2001) as f64 / 1000.0 - 1.0)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]
        #[test]
        fn decompositions_reproduce_the_matrix(n in 1usize..30, p in 1usize..30, seed in 0u64..1000) {
            let a = sample(n, p, seed);
            let d = svd(&a).unwrap();
            let gram = Matrix::from_fn(p, p, |i, j| (0..n).map(|k| a[(k, i)] * a[(k, j)]).sum());
            let e = symmetric_eigen(&gram).unwrap();
            for i in 0..n {
                for j in 0..p {
                    let back: f64 = (0..d.values.len()).map(|k| d.left[(k, i)] * d.values[k] * d.right[(k, j)]).sum();
                    prop_assert!((back - a[(i, j)]).abs() < 1e-12);
                }
            }
            for i in 0..p {
                for j in 0..p {
                    let back: f64 = (0..p).map(|k| e.vectors[(k, i)] * e.values[k] * e.vectors[(k, j)]).sum();
                    prop_assert!((back - gram[(i, j)]).abs() < 1e-11);
                }
            }
        }

        #[test]
        fn the_triangular_factor_has_the_gram_matrix_of_the_rows(n in 1usize..500, p in 1usize..8, seed in 0u64..100) {
            let mut a = sample(n, p, seed);
            if seed % 3 == 0 && p > 2 {
                // A column that the shift makes zero, and one that is the sum of others.
                (0..n).for_each(|i| a[(i, 1)] = 0.5);
                (0..n).for_each(|i| a[(i, p - 1)] = a[(i, 0)] + a[(i, 1)]);
            }
            let dense = Dense::rows_f64(a.data(), n, p, p).unwrap();
            let r = triangle(&dense, &[0.5; 8][..p], 1, |i, extra| { extra[0] = i as f64 / n as f64; 2.0 }).unwrap();
            let entry = |i: usize, j: usize| if j < p { 2.0 * (a[(i, j)] - 0.5) } else { i as f64 / n as f64 };
            for i in 0..=p {
                for j in 0..=p {
                    let truth: f64 = (0..n).map(|k| entry(k, i) * entry(k, j)).sum();
                    let back: f64 = (0..=p).map(|k| r[(k, i)] * r[(k, j)]).sum();
                    prop_assert!((back - truth).abs() < 1e-10 * n as f64);
                    prop_assert!(i <= j || r[(i, j)] == 0.0);
                }
            }
        }
    }

    #[test]
    fn non_finite_entries_are_errors() {
        assert!(svd(&Matrix::from_fn(2, 2, |_, _| f64::INFINITY)).is_err());
        assert!(symmetric_eigen(&Matrix::from_fn(2, 2, |_, _| f64::NAN)).is_err());
    }
}
