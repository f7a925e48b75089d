//! Ridge regression for several penalty strengths, and their leave-one-out errors.
//!
//! **Formula.** With the eigenvectors `v_k` and eigenvalues `d_k` of the centered products `X'WX`, the solution for strength
//! `lambda` is `sum_k v_k (v_k'X'Wy) / (d_k + lambda)`: `p^2` operations each. Leaving row `i` out changes its residual to
//! `r_i / (1 - h_i)`, where `h_i = w_i (1/W + sum_k (v_k'(x_i - m))^2 / (d_k + lambda))` is its leverage; no refit is needed.
//!
//! **Cost.** `n p^2` for the products, the same for the leverages, `p^3` for the eigenvalues, `n p` per strength.
//!
//! **Reference.** Golub, Heath and Wahba, "Generalized cross-validation" (1979); Allen's PRESS statistic (1974).

use super::least_squares::centered_kernel;
use super::moments::{Moments, require_products};
use crate::optim::decompose::{Eigen, symmetric_eigen};
use ermine_core::error::{Error, Result};
use ermine_core::linalg::dense::BLOCK;
use ermine_core::linalg::{Dense, Design, Matrix, chunks, lanes};
use ermine_core::parallel;
use ermine_core::progress::{Observer, check};
use std::ops::Range;

/// Eigenvectors of more columns than this would take gigabytes and hours.
const MOST_COLUMNS: usize = 8000;

/// The mean squared leave-one-out error over all targets for each strength, for tables with fewer rows than columns: by the eigenvalues `d_k` and eigenvectors `u_k` of the products of
/// the rows, `h_i = w_i / W + sum_k u_ik^2 d_k / (d_k + lambda)`.
pub fn leave_one_out_wide(
    x: &Dense,
    targets: &[&[f64]],
    weights: Option<&[f64]>,
    intercept: bool,
    lambdas: &[f64],
) -> Result<Vec<f64>> {
    let n = x.n_rows();
    let root: Vec<f64> = (0..n).map(|i| weights.map_or(1.0, |w| w[i].sqrt())).collect();
    let total = lanes::square_sum(&root);
    let shares: Vec<f64> = root.iter().map(|r| r * r / total).collect();
    let eigen = symmetric_eigen(&centered_kernel(x, &root, &shares, &vec![1.0; x.n_columns()], intercept))?;
    let shares_of = |lambda: f64| eigen.values.iter().map(move |d| d.max(0.0) / (d.max(0.0) + lambda)).collect();
    let error = |&lambda: &f64| {
        let shrink: Vec<f64> = shares_of(lambda);
        let mut sum = 0.0;
        let mut leverages: Vec<f64> = shares.iter().map(|s| if intercept { *s } else { 0.0 }).collect();
        for (k, share) in shrink.iter().enumerate() {
            leverages.iter_mut().zip(eigen.vectors.row(k)).for_each(|(h, u)| *h += u * u * share);
        }
        for y in targets {
            let mean = if intercept { lanes::dot(y, &shares) } else { 0.0 };
            let right: Vec<f64> = (0..n).map(|i| root[i] * (y[i] - mean)).collect();
            let mut left = right.clone();
            for (k, share) in shrink.iter().enumerate() {
                lanes::axpy(-share * lanes::dot(eigen.vectors.row(k), &right), eigen.vectors.row(k), &mut left);
            }
            for i in 0..n {
                // As below: a weight of 3 is a row that is there three times, of which one is left out.
                let leverage = (leverages[i] / (root[i] * root[i]).max(1.0)).min(1.0 - 1e-12);
                sum += (left[i] / (1.0 - leverage)).powi(2);
            }
        }
        sum / (total * targets.len() as f64)
    };
    Ok(lambdas.iter().map(error).collect())
}

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
        if x.n_columns() > MOST_COLUMNS {
            return Err(Error::data(format!(
                "a ridge path over {} columns needs eigenvectors of a matrix too large to make (at most {MOST_COLUMNS})",
                x.n_columns()
            )));
        }
        require_products(x.n_columns())?;
        let moments = Moments::of(x, targets, weights, intercept);
        if moments.xx.data().iter().any(|v| !v.is_finite()) {
            return Err(Error::data("the products of the columns overflow: values are missing, infinite or too large"));
        }
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
        observer: &dyn Observer,
    ) -> Result<Vec<f64>> {
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
                check(observer)?;
                let range = start..(start + BLOCK).min(rows.end);
                self.square_scores(x, range.clone(), &mut scores);
                for (l, error) in errors.iter_mut().enumerate() {
                    for (r, i) in range.clone().enumerate() {
                        let w = weights.map_or(1.0, |w| w[i]);
                        let base = if intercept { 1.0 / self.moments.total } else { 0.0 };
                        // A weight of 3 is a row that is there three times, of which one is left out.
                        let leverage = (w.min(1.0) * (base + lanes::dot(scores.row(r), &shrinks[l]))).min(1.0 - 1e-12);
                        for o in 0..k {
                            let (beta, b) = &betas[l][o];
                            let fit = row_dot(x, i, beta) + b;
                            *error += w * ((targets[o][i] - fit) / (1.0 - leverage)).powi(2);
                        }
                    }
                }
            }
            Ok(errors)
        };
        let parts = parallel::consume(chunks(x.n_rows(), 16, 4 * BLOCK), |_, rows| sum(rows));
        let parts = parts.into_iter().collect::<Result<Vec<_>>>()?;
        let total = ermine_core::linalg::dense::add_in_order(parts, lambdas.len());
        Ok(total.into_iter().map(|e| e / (self.moments.total * k as f64)).collect())
    }

    fn offset(&self, o: usize, beta: &[f64], intercept: bool) -> f64 {
        if intercept { self.intercept(o, beta) } else { 0.0 }
    }

    /// The squared coordinates of some rows along the eigenvectors.
    fn square_scores(&self, x: &Design, rows: Range<usize>, scores: &mut Matrix) {
        let p = self.eigen.values.len();
        let (mut buffer, mut centered) = (Vec::new(), vec![0.0; p]);
        for (r, i) in rows.enumerate() {
            x.row_into(i, &mut buffer, &mut centered);
            centered.iter_mut().zip(&self.moments.x_mean).for_each(|(x, m)| *x -= m);
            let out = scores.row_mut(r);
            lanes::row_dots(self.eigen.vectors.data(), p, &centered, 0.0, out);
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
