//! Ridge regression for many strengths at once, and the choice among them by leave-one-out error.
//!
//! **Formula.** With the eigenvectors `v_k` and eigenvalues `d_k` of the centred products `X'WX`, the solution for strength
//! `lambda` is `sum_k v_k (v_k'X'Wy) / (d_k + lambda)`: `p^2` operations each. Leaving row `i` out changes its residual to
//! `r_i / (1 - h_i)`, where `h_i = w_i (1/W + sum_k (v_k'(x_i - m))^2 / (d_k + lambda))` is its leverage; no refit is needed.
//!
//! **Cost.** `n p^2` for the products, the same for the leverages, `p^3` for the eigenvalues, `n p` per strength.
//!
//! **Reference.** Golub, Heath and Wahba, "Generalized cross-validation" (1979); Allen's PRESS statistic (1974).

use super::moments::Moments;
use crate::error::Result;
use crate::linalg::decompose::{Eigen, symmetric_eigen};
use crate::linalg::dense::BLOCK;
use crate::linalg::{Design, Matrix, chunks, lanes};
use rayon::prelude::*;
use std::ops::Range;

/// Ridge solutions for any strength.
#[derive(Debug, Clone)]
pub struct RidgePath {
    moments: Moments,
    eigen: Eigen,
    /// `v_k'X'Wy` for each target.
    projected: Vec<Vec<f64>>,
}

impl RidgePath {
    /// Decomposes the products of the columns.
    pub fn new(x: &Design, targets: &[&[f64]], weights: Option<&[f64]>, intercept: bool) -> Result<RidgePath> {
        let moments = Moments::of(x, targets, weights, intercept);
        let eigen = symmetric_eigen(&moments.xx)?;
        let projected = moments.xy.iter().map(|xy| eigen.vectors.times(xy)).collect();
        Ok(RidgePath { moments, eigen, projected })
    }

    fn shrink(&self, lambda: f64, k: usize) -> f64 {
        let (value, largest) = (self.eigen.values[k].max(0.0), self.eigen.values.last().copied().unwrap_or(0.0));
        // Directions without variance beyond rounding carry no information.
        if value + lambda > largest * f64::EPSILON { 1.0 / (value + lambda) } else { 0.0 }
    }

    /// The coefficients of target `o` for strength `lambda`.
    pub fn coefficients(&self, o: usize, lambda: f64) -> Vec<f64> {
        let mut beta = vec![0.0; self.eigen.values.len()];
        for k in 0..beta.len() {
            lanes::axpy(self.projected[o][k] * self.shrink(lambda, k), self.eigen.vectors.row(k), &mut beta);
        }
        beta
    }

    /// The intercept that belongs to coefficients for target `o`.
    pub fn intercept(&self, o: usize, coefficients: &[f64]) -> f64 {
        self.moments.intercept(o, coefficients)
    }

    /// The mean squared leave-one-out error over all targets for each strength.
    pub fn leave_one_out(
        &self,
        x: &Design,
        targets: &[&[f64]],
        weights: Option<&[f64]>,
        intercept: bool,
        lambdas: &[f64],
    ) -> Vec<f64> {
        let (p, k) = (self.eigen.values.len(), targets.len());
        let betas: Vec<Vec<(Vec<f64>, f64)>> = lambdas
            .iter()
            .map(|&l| (0..k).map(|o| self.coefficients(o, l)).collect::<Vec<_>>())
            .map(|betas| {
                betas.into_iter().enumerate().map(|(o, b)| (b.clone(), self.offset(o, &b, intercept))).collect()
            })
            .collect();
        let shrinks: Vec<Vec<f64>> = lambdas.iter().map(|&l| (0..p).map(|k| self.shrink(l, k)).collect()).collect();
        let sum = |rows: Range<usize>| {
            let mut errors = vec![0.0; lambdas.len()];
            let mut scores = Matrix::zeros(BLOCK, p);
            for start in rows.clone().step_by(BLOCK) {
                let range = start..(start + BLOCK).min(rows.end);
                self.square_scores(x, range.clone(), &mut scores);
                for (l, error) in errors.iter_mut().enumerate() {
                    for (r, i) in range.clone().enumerate() {
                        let w = weights.map_or(1.0, |w| w[i]);
                        let base = if intercept { 1.0 / self.moments.total } else { 0.0 };
                        let leverage = (w * (base + lanes::dot(scores.row(r), &shrinks[l]))).min(1.0 - 1e-12);
                        for o in 0..k {
                            let (beta, b) = &betas[l][o];
                            let fit = row_dot(x, i, beta) + b;
                            *error += w * ((targets[o][i] - fit) / (1.0 - leverage)).powi(2);
                        }
                    }
                }
            }
            errors
        };
        let parts: Vec<Vec<f64>> = chunks(x.n_rows(), 16, 4 * BLOCK).into_par_iter().map(sum).collect();
        let total = crate::linalg::dense::add_in_order(parts, lambdas.len());
        total.into_iter().map(|e| e / (self.moments.total * k as f64)).collect()
    }

    fn offset(&self, o: usize, beta: &[f64], intercept: bool) -> f64 {
        if intercept { self.intercept(o, beta) } else { 0.0 }
    }

    /// The squared coordinates of some rows along the eigenvectors.
    fn square_scores(&self, x: &Design, rows: Range<usize>, scores: &mut Matrix) {
        let p = self.eigen.values.len();
        let mut centred = vec![0.0; p];
        for (r, i) in rows.enumerate() {
            row_into(x, i, &mut centred);
            centred.iter_mut().zip(&self.moments.x_mean).for_each(|(x, m)| *x -= m);
            let out = scores.row_mut(r);
            lanes::row_dots(self.eigen.vectors.data(), p, &centred, 0.0, out);
            out.iter_mut().for_each(|s| *s *= *s);
        }
    }
}

fn row_dot(x: &Design, i: usize, w: &[f64]) -> f64 {
    match x {
        Design::Dense(x) => (0..w.len()).map(|j| x.get(i, j) * w[j]).sum(),
        Design::Sparse(x) => x.row_dot(i, w),
    }
}

fn row_into(x: &Design, i: usize, out: &mut [f64]) {
    match x {
        Design::Dense(x) => out.iter_mut().enumerate().for_each(|(j, out)| *out = x.get(i, j)),
        Design::Sparse(x) => {
            out.fill(0.0);
            let (places, numbers) = x.rows().line(i);
            places.iter().zip(numbers).for_each(|(&j, &v)| out[j as usize] = v);
        }
    }
}
