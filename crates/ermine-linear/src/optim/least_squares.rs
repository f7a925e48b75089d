//! Least squares and ridge regression, by the cheapest decomposition that is accurate enough.
//!
//! **Problem.** `min sum_i w_i (y_i - x_i'beta - b)^2 + lambda |beta|^2` for one target or several; among several minimizers
//! (`lambda = 0`, dependent columns) the one with the smallest `|beta|`.
//!
//! **How.**
//! 1. Tall data: Cholesky of the centered products `X'WX + lambda`. Its error grows with the *square* of the condition
//!    number of the (scaled) columns, so beyond 1e6 the residuals are computed in one more pass and their own solution
//!    added, which restores the digits, up to 1e12.
//! 2. Beyond that: QR of the rows, block by block. The condition number is no longer squared.
//! 3. Where QR finds dependent columns: the singular values of its triangle, and the minimum-norm solution. The rank is
//!    determined with every column scaled to unit length, so it doesn't depend on units; the norm is measured in the user's units, unless those differ so much that
//!    rounding would spoil the fit.
//! 4. Wide data (`n < p`): the same with `X X'`, `beta = X' alpha`.
//! 5. Sparse data with more than a few thousand columns: conjugate gradients, which need no matrix of products.
//!
//! **Cost.** `n p^2 + p^3/3` flops in one pass; step 2 about 4 times as much.
//!
//! **Reference.** Björck, "Numerical Methods for Least Squares Problems", sections 2.2, 2.4, 2.9.

use super::conjugate;
use super::moments::{Moments, require_products};
use crate::optim::decompose::{self, Svd};
use ermine_core::error::{Error, Result};
use ermine_core::linalg::{Cholesky, Dense, Design, Gram, Matrix, lanes};
use ermine_core::progress::Observer;

/// How a solution was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LeastSquaresMethod {
    /// Cholesky of the normal equations.
    Cholesky {
        /// Passes over the data to restore digits.
        refinements: usize,
    },
    /// QR of the data.
    Qr,
    /// Singular values: the columns are linearly dependent, and this is the minimum-norm solution.
    MinimumNorm {
        /// How many independent columns there are.
        rank: usize,
        /// Whether the norm is that of columns of unit length: rounding would spoil the solution that is shortest in the user's units.
        of_unit_columns: bool,
    },
    /// Cholesky or eigenvalues of `X X'`: fewer rows than columns.
    Wide,
    /// Conjugate gradients: too many sparse columns for a matrix of their products.
    Iterative {
        /// How many steps the slowest target took.
        n_iterations: usize,
        /// The largest relative residual of the normal equations.
        residual: f64,
    },
}

/// The minimizer.
#[derive(Debug, Clone)]
pub struct LeastSquaresSolution {
    /// One row of coefficients for each target.
    pub coefficients: Matrix,
    /// One intercept for each target; zeros without.
    pub intercepts: Vec<f64>,
    /// The means of the columns; zeros without intercept.
    pub x_mean: Vec<f64>,
    /// How it was found.
    pub method: LeastSquaresMethod,
    /// Estimated condition number of the scaled products, where they were factored.
    pub condition: Option<f64>,
    /// The diagonal of `(X'WX + lambda)^-1`, centered: what standard errors need. Only for `n > p` and full rank; not a number for a column that doesn't vary.
    pub inverse_diagonal: Option<Vec<f64>>,
    /// `1/W + m'(X'WX + lambda)^-1 m` with the columns' means `m`: the intercept's part in what standard errors need.
    pub intercept_variance: Option<f64>,
    /// `sum_i w_i (y_i - prediction)^2` for each target.
    pub residual_sums: Vec<f64>,
    /// Centered square sum of each target.
    pub total_sums: Vec<f64>,
}

/// A least-squares problem.
#[derive(Debug, Clone, Copy)]
pub struct LeastSquares<'a> {
    /// The columns.
    pub x: &'a Design<'a>,
    /// The targets, one after the other.
    pub targets: &'a [&'a [f64]],
    /// Row weights; all 1 if `None`.
    pub weights: Option<&'a [f64]>,
    /// Whether there is an intercept (which is never penalized).
    pub intercept: bool,
    /// Strength of the ridge penalty, at least 0.
    pub lambda: f64,
    /// May cancel the work.
    pub observer: &'a dyn Observer,
}

/// Above this condition number of the products, solutions are refined with one more pass over the data...
const REFINE: f64 = 1e6;
/// ...and above this, the products are given up for QR.
const GIVE_UP: f64 = 1e12;

/// Sparse tables with more columns than this are solved without a matrix of products: it would be large and full.
const MOST_SPARSE: usize = 4000;
/// The relative residual of the normal equations at which conjugate gradients stop.
const RESIDUAL: f64 = 1e-13;

impl LeastSquares<'_> {
    /// Solves the problem for each of several strengths in place of `lambda`; tall data is read once for all of them.
    pub fn solve_path(&self, lambdas: &[f64]) -> Result<Vec<LeastSquaresSolution>> {
        if lambdas.len() < 2 || !self.is_tall() {
            return lambdas.iter().map(|&lambda| LeastSquares { lambda, ..*self }.solve()).collect();
        }
        require_products(self.x.n_columns())?;
        let moments = Moments::of(self.x, self.targets, self.weights, self.intercept);
        lambdas.iter().map(|&lambda| LeastSquares { lambda, ..*self }.solve_tall(&moments)).collect()
    }

    fn is_tall(&self) -> bool {
        match self.x {
            Design::Dense(x) => x.n_rows() >= x.n_columns(),
            Design::Sparse(_) => self.x.n_columns() <= MOST_SPARSE,
        }
    }

    /// Solves the problem.
    pub fn solve(&self) -> Result<LeastSquaresSolution> {
        match self.x {
            _ if self.is_tall() => {
                require_products(self.x.n_columns())?;
                self.solve_tall(&Moments::of(self.x, self.targets, self.weights, self.intercept))
            }
            Design::Dense(x) => self.solve_wide(x),
            Design::Sparse(_) => self.solve_iteratively(),
        }
    }

    fn solve_tall(&self, moments: &Moments) -> Result<LeastSquaresSolution> {
        check_finite(moments)?;
        if self.lambda == 0.0 {
            moments.check_small(self.x)?;
        }
        let p = self.x.n_columns();
        let kept: Vec<usize> = (0..p).filter(|&j| self.lambda > 0.0 || is_varied(moments, j)).collect();
        let mut products = moments.xx.select(&kept);
        (0..kept.len()).for_each(|j| products[(j, j)] += self.lambda);
        let factor = Cholesky::new(&products, f64::EPSILON);
        let condition = factor.as_ref().map(Cholesky::condition);
        match (factor, condition) {
            (Some(factor), Some(condition)) if condition < GIVE_UP => {
                let coefficients = self.normal_equations(moments, &kept, &factor, condition)?;
                let refinements = usize::from(condition > REFINE) * 2;
                let inverse = factor.inverse_diagonal();
                let mut diagonal = vec![f64::NAN; p];
                kept.iter().zip(inverse).for_each(|(&j, d)| diagonal[j] = d);
                let mut solution = self.finish(
                    moments,
                    coefficients,
                    LeastSquaresMethod::Cholesky { refinements },
                    Some(condition),
                    refinements > 0,
                );
                // A column that doesn't vary has no coefficient to speak of; the others have.
                solution.inverse_diagonal = Some(diagonal);
                let means: Vec<f64> = kept.iter().map(|&j| moments.x_mean[j]).collect();
                let mut solved = means.clone();
                factor.solve(&mut solved);
                solution.intercept_variance = Some(1.0 / moments.total + lanes::dot(&means, &solved));
                if kept.len() < p {
                    solution.method = LeastSquaresMethod::MinimumNorm { rank: kept.len(), of_unit_columns: false };
                }
                Ok(solution)
            }
            _ => self.solve_by_triangle(moments, condition),
        }
    }

    fn normal_equations(&self, moments: &Moments, kept: &[usize], factor: &Cholesky, condition: f64) -> Result<Matrix> {
        let mut coefficients = Matrix::zeros(self.targets.len(), self.x.n_columns());
        for o in 0..self.targets.len() {
            let mut right: Vec<f64> = kept.iter().map(|&j| moments.xy[o][j]).collect();
            factor.solve(&mut right);
            kept.iter().zip(&right).for_each(|(&j, &b)| coefficients[(o, j)] = b);
            for _ in 0..if condition > REFINE { 2 } else { 0 } {
                let gradient = self.gradient(moments, o, coefficients.row(o));
                let mut step: Vec<f64> = kept.iter().map(|&j| gradient[j]).collect();
                factor.solve(&mut step);
                kept.iter().zip(&step).for_each(|(&j, &s)| coefficients[(o, j)] += s);
            }
        }
        Ok(coefficients)
    }

    /// `X'W r - lambda beta` from the residuals themselves.
    fn gradient(&self, moments: &Moments, o: usize, beta: &[f64]) -> Vec<f64> {
        let residuals = self.residuals(o, beta, moments.intercept(o, beta));
        let weighted: Vec<f64> = match self.weights {
            None => residuals,
            Some(w) => residuals.iter().zip(w).map(|(r, w)| r * w).collect(),
        };
        let sum: f64 = weighted.iter().sum();
        let products = self.x.transposed_times(&weighted);
        (0..beta.len()).map(|j| products[j] - sum * moments.x_mean[j] - self.lambda * beta[j]).collect()
    }

    fn residuals(&self, o: usize, beta: &[f64], intercept: f64) -> Vec<f64> {
        let mut residuals = self.x.times(beta, intercept);
        residuals.iter_mut().zip(self.targets[o]).for_each(|(r, y)| *r = y - *r);
        residuals
    }

    /// Intercepts and sums of squares. From the products where they are accurate, else from the residuals.
    fn finish(
        &self,
        moments: &Moments,
        coefficients: Matrix,
        method: LeastSquaresMethod,
        condition: Option<f64>,
        from_residuals: bool,
    ) -> LeastSquaresSolution {
        let intercept = |o: usize| if self.intercept { moments.intercept(o, coefficients.row(o)) } else { 0.0 };
        let intercepts: Vec<f64> = (0..self.targets.len()).map(intercept).collect();
        let residual_sum = |o: usize| {
            let beta = coefficients.row(o);
            let explained = 2.0 * lanes::dot(&moments.xy[o], beta) - lanes::dot(&moments.xx.times(beta), beta);
            let remaining = moments.yy[o] - explained;
            if !from_residuals && remaining > 1e-6 * moments.yy[o] {
                return remaining;
            }
            let residuals = self.residuals(o, beta, intercepts[o]);
            residuals.iter().enumerate().map(|(i, r)| self.weights.map_or(1.0, |w| w[i]) * r * r).sum()
        };
        LeastSquaresSolution {
            residual_sums: (0..self.targets.len()).map(residual_sum).collect(),
            intercepts,
            x_mean: moments.x_mean.clone(),
            method,
            condition,
            inverse_diagonal: None,
            intercept_variance: None,
            total_sums: moments.yy.clone(),
            coefficients,
        }
    }

    /// QR of the rows, then singular values of the triangle if columns are dependent.
    fn solve_by_triangle(&self, moments: &Moments, condition: Option<f64>) -> Result<LeastSquaresSolution> {
        let (p, k) = (self.x.n_columns(), self.targets.len());
        let triangle = self.triangle(moments)?;
        // Columns of unit length: the rank must not depend on units.
        let lengths: Vec<f64> = (0..p).map(|j| (0..=j).map(|i| triangle[(i, j)].powi(2)).sum::<f64>().sqrt()).collect();
        let usable: Vec<usize> =
            (0..p).filter(|&j| lengths[j] > 0.0 && (self.lambda > 0.0 || is_varied(moments, j))).collect();
        let scale: Vec<f64> = usable.iter().map(|&j| 1.0 / lengths[j]).collect();
        let scaled = Matrix::from_fn(p, usable.len(), |i, c| triangle[(i, usable[c])] * scale[c]);
        let svd = decompose::svd(&scaled)?;
        let tolerance = svd.values.first().copied().unwrap_or(0.0) * f64::EPSILON * 8.0 * self.x.n_rows().max(p) as f64;
        let rank = svd.values.iter().filter(|&&s| s > tolerance && s > 0.0).count();
        let null = null_space(&svd, rank, &scale);
        let (mut coefficients, mut of_unit_columns) = (Matrix::zeros(k, p), false);
        for o in 0..k {
            let mut beta = vec![0.0; usable.len()];
            for (s, value) in svd.values.iter().enumerate().take(rank) {
                let right: f64 = (0..p).map(|i| svd.left[(s, i)] * triangle[(i, p + o)]).sum();
                lanes::axpy(right / value, svd.right.row(s), &mut beta);
            }
            let off = |beta: &[f64]| {
                let right = (0..p).map(|i| triangle[(i, p + o)]);
                scaled.times(beta).iter().zip(right).map(|(fit, y)| (fit - y).powi(2)).sum::<f64>()
            };
            let (before, right) = (off(&beta), moments.yy[o]);
            let unit = beta.clone();
            beta.iter_mut().zip(&scale).for_each(|(b, s)| *b *= s);
            for _ in 0..2 {
                for direction in &null {
                    let along = lanes::dot(direction, &beta);
                    lanes::axpy(-along, direction, &mut beta);
                }
            }
            let shortest: Vec<f64> = beta.iter().zip(&scale).map(|(b, s)| b / s).collect();
            if off(&shortest) > before * (1.0 + 1e-6) + 1e-18 * right {
                of_unit_columns = true;
                beta = unit.iter().zip(&scale).map(|(b, s)| b * s).collect();
            }
            usable.iter().zip(&beta).for_each(|(&j, &b)| coefficients[(o, j)] = b);
        }
        let method =
            if rank == p { LeastSquaresMethod::Qr } else { LeastSquaresMethod::MinimumNorm { rank, of_unit_columns } };
        let mut solution = self.finish(moments, coefficients, method, condition, true);
        if rank == p {
            // (R'R)^-1 = D V S^-2 V' D.
            let entry = |j: usize| (0..p).map(|s| (svd.right[(s, j)] * scale[j] / svd.values[s]).powi(2)).sum::<f64>();
            solution.inverse_diagonal = Some((0..p).map(entry).collect());
            let along = |s: usize| {
                let part = |j: usize| svd.right[(s, j)] * scale[j] * moments.x_mean[j];
                ((0..p).map(part).sum::<f64>() / svd.values[s]).powi(2)
            };
            solution.intercept_variance = Some(1.0 / moments.total + (0..p).map(along).sum::<f64>());
        }
        Ok(solution)
    }

    /// The triangular factor of the centered rows with their targets; ridge adds `sqrt(lambda)` times the identity below.
    fn triangle(&self, moments: &Moments) -> Result<Matrix> {
        let k = self.targets.len();
        let Design::Dense(x) = self.x else {
            return self.triangle_of_products(moments);
        };
        let root = |i: usize| self.weights.map_or(1.0, |w| w[i].sqrt());
        let mut triangle = decompose::triangle(x, &moments.x_mean, k, |i, extra| {
            let scale = root(i);
            (0..k).for_each(|o| extra[o] = scale * (self.targets[o][i] - moments.y_mean[o]));
            scale
        })?;
        if self.lambda > 0.0 {
            let (p, width) = (x.n_columns(), triangle.n_columns());
            let stacked = Matrix::from_fn(width + p, width, |i, j| match i.checked_sub(width) {
                None => triangle[(i, j)],
                Some(d) if d == j => self.lambda.sqrt(),
                Some(_) => 0.0,
            });
            let rows = Dense::rows_f64(stacked.data(), width + p, width, width)?;
            triangle = decompose::triangle(&rows, &[], 0, |_, _| 1.0)?;
        }
        Ok(triangle)
    }

    /// For sparse data the factor comes from the eigenvalues of the products: `R = S^1/2 V'`, `Q'y = S^-1/2 V' X'y`.
    fn triangle_of_products(&self, moments: &Moments) -> Result<Matrix> {
        let (p, k) = (self.x.n_columns(), self.targets.len());
        let mut products = moments.xx.clone();
        (0..p).for_each(|j| products[(j, j)] += self.lambda);
        let eigen = decompose::symmetric_eigen(&products)?;
        let largest = eigen.values.last().copied().unwrap_or(0.0);
        let root = |s: usize| if eigen.values[s] > largest * 1e-13 { eigen.values[s].sqrt() } else { 0.0 };
        Ok(Matrix::from_fn(p + k, p + k, |s, j| {
            if s >= p || root(s) == 0.0 {
                0.0
            } else if j < p {
                root(s) * eigen.vectors[(s, j)]
            } else {
                lanes::dot(eigen.vectors.row(s), &moments.xy[j - p]) / root(s)
            }
        }))
    }

    /// Fewer rows than columns: `beta = X' alpha` with `(X X' + lambda) alpha = y`, centered, rows scaled by `sqrt w`.
    fn solve_wide(&self, x: &Dense) -> Result<LeastSquaresSolution> {
        let (n, p) = (x.n_rows(), x.n_columns());
        let mut wide = WideSystem::new(self, x, vec![1.0; p])?;
        if self.lambda == 0.0 && wide.rank() < n - usize::from(self.intercept) {
            // Rows that only look dependent because some columns are tiny: measure every column by its own length.
            let squares: Vec<f64> = (0..p).map(|j| (0..n).map(|i| x.get(i, j).powi(2)).sum()).collect();
            let unit = squares.iter().map(|&s| if s > 0.0 { 1.0 / s.sqrt() } else { 0.0 }).collect();
            let scaled = WideSystem::new(self, x, unit)?;
            if scaled.rank() > wide.rank() {
                wide = scaled;
            }
        }
        let mut coefficients = Matrix::zeros(self.targets.len(), p);
        for (o, y) in self.targets.iter().enumerate() {
            coefficients.row_mut(o).copy_from_slice(&wide.solve(y, wide.mean(y)));
        }
        let y_mean: Vec<f64> = self.targets.iter().map(|y| wide.mean(y)).collect();
        let method = if self.lambda > 0.0 {
            LeastSquaresMethod::Wide
        } else {
            LeastSquaresMethod::MinimumNorm { rank: wide.rank(), of_unit_columns: false }
        };
        Ok(self.finish_wide(coefficients, &wide.x_mean, &y_mean, method))
    }

    /// `(X'WX + lambda) beta = X'Wy`, centered, by conjugate gradients.
    fn solve_iteratively(&self) -> Result<LeastSquaresSolution> {
        let (n, p) = (self.x.n_rows(), self.x.n_columns());
        let weight = |i: usize| self.weights.map_or(1.0, |w| w[i]);
        let total: f64 = (0..n).map(weight).sum();
        let shares: Vec<f64> = (0..n).map(|i| weight(i) / total).collect();
        let x_mean = if self.intercept { self.x.transposed_times(&shares) } else { vec![0.0; p] };
        // X_c'W v for the centered columns.
        let transposed = |mut v: Vec<f64>| {
            v.iter_mut().enumerate().for_each(|(i, v)| *v *= weight(i));
            let sum: f64 = v.iter().sum();
            let mut out = self.x.transposed_times(&v);
            lanes::axpy(-sum, &x_mean, &mut out);
            out
        };
        let apply = |beta: &[f64]| {
            let mut out = transposed(self.x.times(beta, -lanes::dot(beta, &x_mean)));
            lanes::axpy(self.lambda, beta, &mut out);
            out
        };
        let mut coefficients = Matrix::zeros(self.targets.len(), p);
        let (mut y_means, mut n_iterations, mut residual) = (Vec::new(), 0, 0.0f64);
        for (o, y) in self.targets.iter().enumerate() {
            let y_mean = if self.intercept { lanes::dot(y, &shares) } else { 0.0 };
            let right = transposed(y.iter().map(|y| y - y_mean).collect());
            if right.iter().any(|r| !r.is_finite()) {
                return Err(Error::data("the products of columns and target overflow: values are too large"));
            }
            let found = conjugate::solve(apply, &right, RESIDUAL, 10 * p.min(n) + 100, self.observer)?;
            coefficients.row_mut(o).copy_from_slice(&found.beta);
            (n_iterations, residual) = (n_iterations.max(found.n_iterations), residual.max(found.residual));
            y_means.push(y_mean);
        }
        Ok(self.finish_wide(coefficients, &x_mean, &y_means, LeastSquaresMethod::Iterative { n_iterations, residual }))
    }

    fn finish_wide(
        &self,
        coefficients: Matrix,
        x_mean: &[f64],
        y_mean: &[f64],
        method: LeastSquaresMethod,
    ) -> LeastSquaresSolution {
        let k = self.targets.len();
        let weight = |i: usize| self.weights.map_or(1.0, |w| w[i]);
        let intercepts: Vec<f64> = (0..k)
            .map(|o| if self.intercept { y_mean[o] - lanes::dot(x_mean, coefficients.row(o)) } else { 0.0 })
            .collect();
        let residual_sums = (0..k)
            .map(|o| {
                let residuals = self.residuals(o, coefficients.row(o), intercepts[o]);
                residuals.iter().enumerate().map(|(i, r)| weight(i) * r * r).sum()
            })
            .collect();
        let total =
            |o: usize| self.targets[o].iter().enumerate().map(|(i, y)| weight(i) * (y - y_mean[o]).powi(2)).sum();
        let total_sums = (0..k).map(total).collect();
        LeastSquaresSolution {
            coefficients,
            intercepts,
            x_mean: x_mean.to_vec(),
            method,
            condition: None,
            inverse_diagonal: None,
            intercept_variance: None,
            residual_sums,
            total_sums,
        }
    }
}

/// Whether a column varies at all, beyond the rounding of its mean.
pub(super) fn is_varied(moments: &Moments, j: usize) -> bool {
    let rounding = f64::EPSILON * 64.0 * moments.x_mean[j].abs();
    moments.xx[(j, j)] > moments.total * rounding * rounding && moments.xx[(j, j)] > 0.0
}

fn check_finite(moments: &Moments) -> Result<()> {
    let finite = |v: &[f64]| v.iter().all(|x| x.is_finite());
    if finite(moments.xx.data()) && moments.xy.iter().all(|v| finite(v)) && finite(&moments.yy) {
        return Ok(());
    }
    Err(Error::data("the products of the columns overflow: values are missing, infinite or too large"))
}

/// An orthonormal basis of the directions that change no prediction, in the user's units.
fn null_space(svd: &Svd, rank: usize, scale: &[f64]) -> Vec<Vec<f64>> {
    let p = scale.len();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for s in rank..p {
        let mut direction: Vec<f64> = (0..p).map(|j| svd.right[(s, j)] * scale[j]).collect();
        let before = lanes::square_sum(&direction).sqrt();
        for _ in 0..2 {
            for other in &basis {
                let along = lanes::dot(other, &direction);
                lanes::axpy(-along, other, &mut direction);
            }
        }
        let length = lanes::square_sum(&direction).sqrt();
        // What an earlier direction has explained but for rounding is no direction of its own.
        if length > 1e-6 * before && length.is_finite() {
            direction.iter_mut().for_each(|d| *d /= length);
            basis.push(direction);
        }
    }
    basis
}

/// A table with fewer rows than columns, seen through the products of its rows.
struct WideSystem<'a> {
    x: &'a Dense<'a>,
    lambda: f64,
    /// Square roots of the row weights, and their shares of the total weight.
    root: Vec<f64>,
    shares: Vec<f64>,
    /// What each column is multiplied by before products are taken.
    unit: Vec<f64>,
    x_mean: Vec<f64>,
    intercept: bool,
    eigen: decompose::Eigen,
    tolerance: f64,
}

impl<'a> WideSystem<'a> {
    fn new(problem: &LeastSquares, x: &'a Dense<'a>, unit: Vec<f64>) -> Result<Self> {
        let n = x.n_rows();
        let root: Vec<f64> = (0..n).map(|i| problem.weights.map_or(1.0, |w| w[i].sqrt())).collect();
        let total = lanes::square_sum(&root);
        let shares: Vec<f64> = root.iter().map(|r| r * r / total).collect();
        let intercept = problem.intercept;
        let x_mean = if intercept { x.transposed_times(&shares) } else { vec![0.0; x.n_columns()] };
        let kernel = centered_kernel(x, &root, &shares, &unit, intercept);
        if kernel.data().iter().any(|v| !v.is_finite()) {
            return Err(Error::data("the products of the rows overflow: values are missing, infinite or too large"));
        }
        let eigen = decompose::symmetric_eigen(&kernel)?;
        let largest = eigen.values.last().copied().unwrap_or(0.0).max(0.0);
        let tolerance = largest * f64::EPSILON * 4.0 * n as f64;
        Ok(WideSystem { x, lambda: problem.lambda, root, shares, unit, x_mean, intercept, eigen, tolerance })
    }

    fn rank(&self) -> usize {
        self.eigen.values.iter().filter(|&&v| v > self.tolerance).count()
    }

    fn mean(&self, y: &[f64]) -> f64 {
        if self.intercept { lanes::dot(y, &self.shares) } else { 0.0 }
    }

    /// The multipliers of the rows for a right-hand side. Directions in which the rows vary no more than rounding count only where a penalty says by how much.
    fn multipliers(&self, right: &[f64]) -> Vec<f64> {
        let mut alpha = vec![0.0; right.len()];
        let kept = |value: f64| value > self.tolerance || self.lambda > self.tolerance;
        for (s, &value) in self.eigen.values.iter().enumerate().filter(|(_, v)| kept(**v)) {
            let vector = self.eigen.vectors.row(s);
            lanes::axpy(lanes::dot(vector, right) / (value.max(0.0) + self.lambda), vector, &mut alpha);
        }
        alpha
    }

    /// `D^2 (X - m)' S alpha`, for the column scales `D` and row scales `S`.
    fn combine(&self, alpha: &[f64]) -> Vec<f64> {
        let c: Vec<f64> = alpha.iter().zip(&self.root).map(|(a, r)| a * r).collect();
        let sum: f64 = c.iter().sum();
        let mut beta = self.x.transposed_times(&c);
        for (j, b) in beta.iter_mut().enumerate() {
            *b = (*b - sum * self.x_mean[j]) * self.unit[j] * self.unit[j];
        }
        beta
    }

    fn solve(&self, y: &[f64], y_mean: f64) -> Vec<f64> {
        let right: Vec<f64> = y.iter().zip(&self.root).map(|(y, r)| r * (y - y_mean)).collect();
        let mut alpha = self.multipliers(&right);
        let mut beta = self.combine(&alpha);
        for _ in 0..2 {
            let fit = self.x.times(&beta, -lanes::dot(&beta, &self.x_mean));
            let left: Vec<f64> =
                (0..right.len()).map(|i| right[i] - self.root[i] * fit[i] - self.lambda * alpha[i]).collect();
            let more = self.multipliers(&left);
            lanes::axpy(1.0, &more, &mut alpha);
            // Added to beta itself: alpha may be so large that X'alpha cancels.
            lanes::axpy(1.0, &self.combine(&more), &mut beta);
        }
        beta
    }
}

/// `S (X - m) D^2 (X - m)' S` for row scales `S` and column scales `D`: the products of the rows, centered if requested.
pub(super) fn centered_kernel(x: &Dense, root: &[f64], shares: &[f64], unit: &[f64], center: bool) -> Matrix {
    let n = x.n_rows();
    let gram = Gram::of(&x.transposed(), &[], 0, |columns, _, scale, _| {
        scale.copy_from_slice(&unit[columns]);
        0.0
    })
    .products;
    let means = if center { gram.times(shares) } else { vec![0.0; n] };
    let grand = if center { lanes::dot(&means, shares) } else { 0.0 };
    Matrix::from_fn(n, n, |i, j| root[i] * root[j] * (gram[(i, j)] - means[i] - means[j] + grand))
}
