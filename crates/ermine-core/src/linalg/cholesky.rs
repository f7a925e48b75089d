//! Cholesky factorization `A = U' U` of a symmetric positive definite `A`, with a condition estimate.
//!
//! **Idea.** The matrix is first scaled to a unit diagonal (`D A D`, `D = diag(A)^-1/2`), which makes the factorization independent of the units of the columns. Then,
//! [`BLOCK`] rows at a time, the rows of `U` are completed and their outer products are subtracted from the remaining rows with the tile kernel of [`gram`](super::gram).
//!
//! **Condition.** Hager's method estimates the norm of the inverse from a few solves.
//!
//! **Cost.** `p^3 / 3` flops; a solve `2 p^2`.
//!
//! **Reference.** Higham, "Accuracy and Stability of Numerical Algorithms", sections 10.1 and 15.2 (algorithm 15.1).

use super::gram::{multiply_panel, pack};
use super::lanes::{LANES, axpy, dot};
use super::matrix::Matrix;
use crate::parallel;

/// A factorization of a scaled matrix.
#[derive(Debug, Clone)]
pub struct Cholesky {
    /// Number of unknowns.
    p: usize,
    /// `p` rounded up to whole panels: the distance between rows.
    side: usize,
    /// Upper triangle of the factor of `D A D`, row by row; entries below the diagonal are not used.
    upper: Vec<f64>,
    /// The diagonal of `D`.
    scale: Vec<f64>,
}

/// Rows finished at a time: a multiple of [`LANES`], so that the rest begins with a whole panel.
const BLOCK: usize = 64;

impl Cholesky {
    /// Factors `a` (its upper triangle is read). `None` if a pivot of the scaled matrix is not above `floor`: the matrix is not positive definite to that precision, or contains
    /// infinities or NaN.
    pub fn new(a: &Matrix, floor: f64) -> Option<Cholesky> {
        let p = a.n_rows();
        let side = p.next_multiple_of(LANES);
        let scale: Vec<f64> = a.diagonal().iter().map(|d| 1.0 / d.sqrt()).collect();
        if scale.iter().any(|s| !s.is_finite() || *s <= 0.0) {
            return None;
        }
        let mut upper = vec![0.0; side * side];
        for i in 0..p {
            for j in i..p {
                upper[i * side + j] = a[(i, j)] * scale[i] * scale[j];
            }
        }
        let mut factor = Cholesky { p, side, upper, scale };
        for start in (0..p).step_by(BLOCK) {
            let end = (start + BLOCK).min(p);
            factor.finish_rows(start, end, floor)?;
            factor.update_rest(start, end);
        }
        Some(factor)
    }

    /// Rows `start..end`, already reduced by all rows before `start`, become rows of the factor.
    fn finish_rows(&mut self, start: usize, end: usize, floor: f64) -> Option<()> {
        for i in start..end {
            let (done, rest) = self.upper.split_at_mut(i * self.side);
            let row = &mut rest[i..self.side];
            for k in start..i {
                let earlier = &done[k * self.side + i..(k + 1) * self.side];
                axpy(-earlier[0], earlier, row);
            }
            if !(row[0].is_finite() && row[0] > floor) {
                return None;
            }
            let pivot = row[0].sqrt();
            row.iter_mut().for_each(|x| *x /= pivot);
        }
        Some(())
    }

    /// Subtracts the outer products of rows `start..end` from the rows after them.
    fn update_rest(&mut self, start: usize, end: usize) {
        if end >= self.p {
            return;
        }
        let (k, rest) = (end - start, self.side - end);
        let (done, below) = self.upper.split_at_mut(end * self.side);
        let rows = &done[start * self.side + end..];
        let (mut plus, mut minus) = (vec![0.0; k * rest], vec![0.0; k * rest]);
        pack(rows, self.side, rest, &[], &[1.0; BLOCK][..k], &mut plus);
        pack(rows, self.side, rest, &[], &[-1.0; BLOCK][..k], &mut minus);
        let side = self.side;
        let panel = |i: usize, c: &mut [f64]| {
            multiply_panel(&minus[i * k * LANES..(i + 1) * k * LANES], &plus, k, i, &mut c[end..], side);
        };
        if rest < 256 {
            below.chunks_mut(LANES * side).enumerate().for_each(|(i, c)| panel(i, c));
        } else {
            parallel::for_each_chunk(below, LANES * side, panel);
        }
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.upper[i * self.side + i..i * self.side + self.p]
    }

    /// The number of unknowns.
    pub fn n_unknowns(&self) -> usize {
        self.p
    }

    /// Solves `A x = b` in place.
    pub fn solve(&self, b: &mut [f64]) {
        b.iter_mut().zip(&self.scale).for_each(|(b, s)| *b *= s);
        self.forward(b);
        self.backward(b);
        b.iter_mut().zip(&self.scale).for_each(|(b, s)| *b *= s);
    }

    /// Solves `U' x = b` for the scaled factor.
    fn forward(&self, b: &mut [f64]) {
        for i in 0..self.p {
            let row = self.row(i);
            b[i] /= row[0];
            let (here, after) = b.split_at_mut(i + 1);
            axpy(-here[i], &row[1..], after);
        }
    }

    /// Solves `U x = b` for the scaled factor.
    fn backward(&self, b: &mut [f64]) {
        for i in (0..self.p).rev() {
            let row = self.row(i);
            b[i] = (b[i] - dot(&row[1..], &b[i + 1..])) / row[0];
        }
    }

    /// `b' A^-1 b`.
    pub fn inverse_form(&self, b: &[f64]) -> f64 {
        let mut scaled: Vec<f64> = b.iter().zip(&self.scale).map(|(b, s)| b * s).collect();
        self.forward(&mut scaled);
        dot(&scaled, &scaled)
    }

    /// The diagonal of `A^-1`.
    pub fn inverse_diagonal(&self) -> Vec<f64> {
        let column = |j: usize| {
            let mut e = vec![0.0; self.p];
            e[j] = 1.0;
            self.inverse_form(&e)
        };
        parallel::map(self.p, column)
    }

    /// An estimate of the condition number of the scaled matrix in the 1-norm, rarely off by more than a factor of 3.
    pub fn condition(&self) -> f64 {
        let p = self.p;
        if p == 0 {
            return 1.0;
        }
        // |D A D| <= p, as its entries lie between -1 and 1.
        let norm = |v: &[f64]| v.iter().map(|x| x.abs()).sum::<f64>();
        let solve = |x: &mut Vec<f64>| {
            self.forward(x);
            self.backward(x);
        };
        let mut x = vec![1.0 / p as f64; p];
        let mut best = 0.0;
        for _ in 0..5 {
            solve(&mut x);
            let value = norm(&x);
            if value <= best {
                break;
            }
            best = value;
            let mut z: Vec<f64> = x.iter().map(|x| if *x >= 0.0 { 1.0 } else { -1.0 }).collect();
            solve(&mut z);
            let steepest = (0..p).fold(0, |m, i| if z[i].abs() > z[m].abs() { i } else { m });
            x = vec![0.0; p];
            x[steepest] = 1.0;
        }
        best * self.norm()
    }

    /// The 1-norm of the scaled matrix, from its factor.
    fn norm(&self) -> f64 {
        let column = |j: usize| {
            let mut e = vec![0.0; self.p];
            // U e_j, then U' (U e_j).
            for (i, e) in e.iter_mut().enumerate().take(j + 1) {
                *e = self.upper[i * self.side + j];
            }
            let mut out = vec![0.0; self.p];
            for i in 0..=j {
                axpy(e[i], self.row(i), &mut out[i..]);
            }
            out.iter().map(|x| x.abs()).sum::<f64>()
        };
        parallel::map(self.p, column).into_iter().fold(0.0, f64::max)
    }
}

/// The columns of a product matrix that are linearly independent of earlier ones: after projecting out the earlier columns, more than `tolerance` of the squared length remains.
pub fn independent_columns(products: &Matrix, tolerance: f64) -> Vec<usize> {
    let mut kept: Vec<usize> = Vec::new();
    // Rows of the factor for the columns that were kept, as far as they are needed.
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for j in 0..products.n_rows() {
        let length = products[(j, j)];
        let mut row: Vec<f64> = Vec::with_capacity(kept.len() + 1);
        for (k, &i) in kept.iter().enumerate() {
            let explained = dot(&row, &rows[k][..k]);
            row.push((products[(i, j)] - explained) / rows[k][k]);
        }
        let remains = length - dot(&row, &row);
        if length > 0.0 && length.is_finite() && remains > tolerance * length {
            row.push(remains.sqrt());
            rows.push(row);
            kept.push(j);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spd(p: usize, seed: u64, ridge: f64) -> Matrix {
        let mut rng = crate::rng::stream(seed, &[]);
        let b = Matrix::from_fn(p + 3, p, |_, _| crate::rng::below(&mut rng, 2001) as f64 / 1000.0 - 1.0);
        Matrix::from_fn(p, p, |i, j| {
            (0..p + 3).map(|k| b[(k, i)] * b[(k, j)]).sum::<f64>() + if i == j { ridge } else { 0.0 }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn solve_inverts_the_product_at_any_scale(p in 0usize..90, seed in 0u64..1000) {
            let mut a = spd(p, seed, 0.5);
            for i in 0..p {
                for j in 0..p {
                    a[(i, j)] *= 10f64.powi((i % 25) as i32 - 12) * 10f64.powi((j % 25) as i32 - 12);
                }
            }
            let x: Vec<f64> = (0..p).map(|i| 10f64.powi(12 - (i % 25) as i32)).collect();
            let factor = Cholesky::new(&a, 0.0).unwrap();
            let mut solved = a.times(&x);
            factor.solve(&mut solved);
            for (s, x) in solved.iter().zip(&x) {
                prop_assert!((s / x - 1.0).abs() < 1e-9, "{s} {x}");
            }
        }

        #[test]
        fn the_condition_estimate_is_accurate(p in 1usize..30, seed in 0u64..1000, ridge in 1e-8f64..1.0) {
            let a = spd(p, seed, ridge);
            let scaled = Matrix::from_fn(p, p, |i, j| a[(i, j)] / (a[(i, i)] * a[(j, j)]).sqrt());
            let factor = Cholesky::new(&a, 0.0).unwrap();
            let unscaled = Cholesky::new(&scaled, 0.0).unwrap();
            let one = |m: &dyn Fn(usize) -> Vec<f64>| {
                (0..p).map(|j| m(j).iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max)
            };
            let inverse = one(&|j| {
                let mut e = vec![0.0; p];
                e[j] = 1.0;
                unscaled.solve(&mut e);
                e
            });
            let truth = inverse * one(&|j| (0..p).map(|i| scaled[(i, j)]).collect());
            let estimate = factor.condition();
            prop_assert!(estimate <= truth * 1.001 && estimate >= truth / 10.0, "{estimate} {truth}");
            for (j, d) in factor.inverse_diagonal().iter().enumerate() {
                let mut e = vec![0.0; p];
                e[j] = 1.0;
                factor.solve(&mut e);
                prop_assert!((d / e[j] - 1.0).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn large_matrices_are_factored() {
        let a = spd(700, 3, 1.0);
        let x: Vec<f64> = (0..700).map(|i| (i as f64).sin()).collect();
        let mut b = a.times(&x);
        Cholesky::new(&a, 0.0).unwrap().solve(&mut b);
        assert!(b.iter().zip(&x).all(|(b, x)| (b - x).abs() < 1e-9));
    }

    #[test]
    fn dependent_columns_are_found() {
        // Columns a, b, a + b, 0, c.
        let columns = [[1.0, 0.0, 2.0], [0.0, 1.0, 1.0], [1.0, 1.0, 3.0], [0.0; 3], [1.0, -5.0, 0.0]];
        let products = Matrix::from_fn(5, 5, |i, j| (0..3).map(|k| columns[i][k] * columns[j][k]).sum());
        assert_eq!(independent_columns(&products, 1e-10), [0, 1, 4]);
    }

    #[test]
    fn indefinite_matrices_are_rejected() {
        let a = |x: f64| Matrix::from_fn(2, 2, |i, j| if i == j { 1.0 } else { x });
        assert!(Cholesky::new(&a(1.0), 1e-15).is_none());
        assert!(Cholesky::new(&a(2.0), 0.0).is_none());
        assert!(Cholesky::new(&a(f64::NAN), 0.0).is_none());
        assert!(Cholesky::new(&Matrix::zeros(1, 1), 0.0).is_none());
        assert!(Cholesky::new(&a(0.5), 0.0).is_some());
    }
}
