//! LU factorization `P A = L U` with row exchanges, for small nonsymmetric systems such as bases of linear programs.
//!
//! **Cost.** `2 p^3 / 3` flops; a solve `2 p^2`.
//!
//! **Reference.** Golub and Van Loan, "Matrix Computations", algorithm 3.4.1.

use super::lanes::{axpy, dot};
use super::matrix::Matrix;

/// A factorization.
#[derive(Debug, Clone)]
pub struct Lu {
    /// `L` below the diagonal (with unit diagonal), `U` on and above it.
    factors: Matrix,
    /// Row `i` of the factors is row `order[i]` of the matrix.
    order: Vec<usize>,
}

impl Lu {
    /// Factors a square matrix; `None` if it is singular to working precision.
    pub fn new(a: &Matrix) -> Option<Lu> {
        let p = a.n_rows();
        let mut factors = a.clone();
        let mut order: Vec<usize> = (0..p).collect();
        let size: Vec<f64> = (0..p).map(|i| super::lanes::max_abs(a.row(i))).collect();
        for k in 0..p {
            // The pivot that is largest relative to the other entries of its row.
            let share = |i: usize, f: &Matrix, order: &[usize]| f[(i, k)].abs() / size[order[i]];
            let best =
                (k..p).fold(k, |b, i| if share(i, &factors, &order) > share(b, &factors, &order) { i } else { b });
            if !(share(best, &factors, &order) > 1e-13) {
                return None;
            }
            if best != k {
                order.swap(k, best);
                for j in 0..p {
                    let swapped = factors[(k, j)];
                    factors[(k, j)] = factors[(best, j)];
                    factors[(best, j)] = swapped;
                }
            }
            let (done, rest) = factors.split_rows_mut(k + 1);
            let pivot = &done[k * p + k..];
            for row in rest.chunks_exact_mut(p) {
                let multiple = row[k] / pivot[0];
                row[k] = multiple;
                axpy(-multiple, &pivot[1..], &mut row[k + 1..]);
            }
        }
        Some(Lu { factors, order })
    }

    /// Solves `A x = b`.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let p = b.len();
        let mut x: Vec<f64> = self.order.iter().map(|&i| b[i]).collect();
        for i in 0..p {
            x[i] -= dot(&self.factors.row(i)[..i], &x[..i]);
        }
        for i in (0..p).rev() {
            let row = self.factors.row(i);
            x[i] = (x[i] - dot(&row[i + 1..], &x[i + 1..])) / row[i];
        }
        x
    }

    /// Solves `A' x = b`.
    pub fn solve_transposed(&self, b: &[f64]) -> Vec<f64> {
        let p = b.len();
        let mut y = b.to_vec();
        for i in 0..p {
            let row = self.factors.row(i);
            y[i] /= row[i];
            let (here, after) = y.split_at_mut(i + 1);
            axpy(-here[i], &row[i + 1..], after);
        }
        for i in (0..p).rev() {
            let (before, here) = y.split_at_mut(i);
            axpy(-here[0], &self.factors.row(i)[..i], before);
        }
        let mut x = vec![0.0; p];
        self.order.iter().zip(y).for_each(|(&i, y)| x[i] = y);
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn solves_undo_products(p in 1usize..20, seed in 0u64..1000) {
            let mut rng = crate::rng::stream(seed, &[]);
            let a = Matrix::from_fn(p, p, |i, _| (crate::rng::below(&mut rng, 2001) as f64 / 1000.0 - 1.0) * 10f64.powi(i as i32 % 5));
            let x: Vec<f64> = (0..p).map(|i| i as f64 - 3.0).collect();
            if let Some(lu) = Lu::new(&a) {
                let back = lu.solve(&a.times(&x));
                let transposed = lu.solve_transposed(&a.transposed_times(&x));
                let residual: f64 = a.times(&back).iter().zip(a.times(&x)).map(|(b, t)| (b - t).abs()).fold(0.0, f64::max);
                prop_assert!(residual < 1e-8);
                let other = a.transposed_times(&transposed);
                let residual = other.iter().zip(a.transposed_times(&x)).map(|(b, t)| (b - t).abs()).fold(0.0, f64::max);
                prop_assert!(residual < 1e-6);
            }
        }
    }

    #[test]
    fn a_singular_matrix_is_refused() {
        assert!(Lu::new(&Matrix::from_fn(3, 3, |i, j| (i + j) as f64)).is_none());
        assert!(Lu::new(&Matrix::from_fn(2, 2, |_, _| f64::NAN)).is_none());
        assert!(Lu::new(&Matrix::from_fn(2, 2, |i, j| f64::from(i != j))).is_some());
    }
}
