//! Tables with fewer rows than columns, in as many columns as there are rows.
//!
//! **Idea.** With a squared penalty, the best coefficients are a combination of the rows, `beta = X'a`: what stands at a right angle to all rows changes no margin and costs
//! penalty. With `X X' = U diag(s) U'` and `beta = X' U diag(s)^(-1/2) c`, margins are `X beta = U diag(s)^(1/2) c` and `|beta| = |c|`. So the problem over `Z = U diag(s)^(1/2)`,
//! square and as tall as the table, has the same loss, the same penalty and the same minimum.
//!
//! **Cost.** `n^2 p` for the products of the rows and `n^3` for their eigenvalues, once; after that nothing depends on `p`.
//!
//! **Rounding.** Directions in which the rows vary by less than the square root of the rounding of their products are left out. What that costs is seen where the value and the
//! bound of the whole problem are computed from the coefficients.
//!
//! **Reference.** Hastie and Tibshirani, "Efficient quadratic regularization for expression arrays" (2004).

use super::decompose;
use super::least_squares::centered_kernel;
use super::newton::{self, SmoothObjective};
use super::{SolverOutcome, SolverStatus};
use ermine_core::error::Result;
use ermine_core::linalg::{Dense, Design, Matrix, lanes};

/// Maximum number of rows: products of more rows take longer than they save.
const MOST_ROWS: usize = 4096;

/// The row space of a wide table.
pub struct RowSpaceBasis<'x> {
    x: &'x Dense<'x>,
    /// `Z`, row by row.
    rows: Vec<f64>,
    /// Row `k`: the coefficients of direction `k` in terms of the rows of the table.
    directions: Matrix,
}

impl<'x> RowSpaceBasis<'x> {
    /// The row space of a sufficiently wide table; `None` if solving the original problem is faster.
    pub fn of(x: &'x Design<'x>, full_hessian: usize) -> Result<Option<RowSpaceBasis<'x>>> {
        let Design::Dense(x) = x else { return Ok(None) };
        let (n, p) = (x.n_rows(), x.n_columns());
        if n == 0 || n > MOST_ROWS || p <= full_hessian || p < 2 * n {
            return Ok(None);
        }
        let kernel = centered_kernel(x, &vec![1.0; n], &vec![1.0 / n as f64; n], &vec![1.0; p], false);
        if kernel.data().iter().any(|v| !v.is_finite()) {
            return Ok(None);
        }
        let eigen = decompose::symmetric_eigen(&kernel)?;
        let least = eigen.values.last().copied().unwrap_or(0.0) * f64::EPSILON * 4.0 * n as f64;
        let kept: Vec<usize> = (0..n).filter(|&k| eigen.values[k] > least).collect();
        let root = |k: usize| eigen.values[kept[k]].sqrt();
        let directions = Matrix::from_fn(kept.len(), n, |k, i| eigen.vectors[(kept[k], i)] / root(k));
        let rows = (0..n).flat_map(|i| (0..kept.len()).map(move |k| (i, k)));
        let rows = rows.map(|(i, k)| eigen.vectors[(kept[k], i)] * root(k)).collect();
        Ok((!kept.is_empty()).then_some(RowSpaceBasis { x, rows, directions }))
    }

    /// The table in the coordinates of its rows.
    pub fn design(&self) -> Result<Design<'_>> {
        let (n, rank) = (self.x.n_rows(), self.directions.n_rows());
        Ok(Dense::rows_f64(&self.rows, n, rank, rank)?.into())
    }

    /// Coefficients of the reduced columns, with `extras` unknowns after them (an intercept), as those of the table.
    pub fn restore(&self, reduced: &[f64], extras: usize) -> Vec<f64> {
        let (c, rest) = reduced.split_at(reduced.len() - extras);
        let combination: Vec<f64> = (0..self.x.n_rows())
            .map(|i| c.iter().enumerate().map(|(k, c)| c * self.directions[(k, i)]).sum())
            .collect();
        let mut beta = self.x.transposed_times(&combination);
        beta.extend_from_slice(rest);
        beta
    }
}

/// Minimizes `whole`, the problem over the table, by way of `reduced`, the same problem over [`RowSpaceBasis::design`]. `restore` turns the unknowns of one into those of the other. What
/// is known about the point is computed for the problem over the table; should rounding have cost more than is allowed, the solver continues from there.
pub fn minimize(
    whole: &dyn SmoothObjective,
    reduced: &dyn SmoothObjective,
    restore: impl Fn(&[f64]) -> Vec<f64>,
    options: &newton::NewtonOptions<'_>,
) -> Result<(SolverOutcome, Vec<f64>)> {
    let mut c = vec![0.0; reduced.n_unknowns()];
    let found = newton::minimize(reduced, &mut c, options)?;
    let mut w = restore(&c);
    let mut gradient = vec![0.0; w.len()];
    let value = whole.value_gradient(&w, &mut gradient);
    let lower_bound = whole.bound(&w).map(|bound| bound.min(value));
    let outcome = SolverOutcome { value, lower_bound, residual: lanes::max_abs(&gradient), ..found };
    let near = outcome.gap().is_some_and(|gap| gap <= options.certified * value.abs());
    if near || outcome.status != SolverStatus::Converged {
        return Ok((outcome, w));
    }
    let polished = newton::minimize(whole, &mut w, &newton::NewtonOptions { sampled_start: false, ..*options })?;
    Ok((SolverOutcome { n_iterations: outcome.n_iterations + polished.n_iterations, ..polished }, w))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optim::risk::{FULL_HESSIAN, Risk};
    use ermine_core::loss::Logistic;
    use ermine_core::progress::Silent;
    use std::borrow::Cow;

    /// The minimum over the row space is the minimum over the table: the gap of the problem over the table is closed, and its gradient is nothing but rounding.
    #[test]
    fn the_minimum_equals_that_of_the_full_problem() {
        let (n, p) = (30, FULL_HESSIAN + 200);
        let mut rng = ermine_core::rng::stream(3, &[1]);
        let mut draw = || ermine_core::rng::below(&mut rng, 2001) as f64 / 1000.0 - 1.0;
        let mut numbers: Vec<f64> = (0..n * p).map(|_| draw()).collect();
        // Two rows are the same: the row space has one direction less.
        numbers.copy_within(0..p, p);
        let y: Vec<f64> = (0..n).map(|i| if numbers[i * p] + numbers[i * p + 1] > 0.0 { 1.0 } else { -1.0 }).collect();
        let weights: Vec<f64> = (0..n).map(|i| 1.0 + (i % 3) as f64).collect();
        let x: Design = Dense::rows_f64(&numbers, n, p, p).unwrap().into();
        let space = RowSpaceBasis::of(&x, FULL_HESSIAN).unwrap().unwrap();
        assert_eq!(space.directions.n_rows(), n - 1);
        let options = newton::NewtonOptions {
            tolerance: 1e-10,
            certified: 1e-8,
            max_iterations: 100,
            sampled_start: true,
            observer: &Silent,
        };
        for (intercept, lambda) in [(true, 1e-3), (false, 1.0), (true, 1e-8)] {
            let whole = Risk {
                x: x.clone(),
                y: Cow::Borrowed(&y),
                weights: Some(Cow::Borrowed(&weights)),
                loss: Logistic,
                lambda,
                intercept,
            };
            let reduced = Risk { x: space.design().unwrap(), ..whole.clone() };
            let restore = |c: &[f64]| space.restore(c, usize::from(intercept));
            let (outcome, w) = minimize(&whole, &reduced, restore, &options).unwrap();
            assert_eq!(outcome.status, SolverStatus::Converged);
            assert!(outcome.gap().unwrap() <= 1e-8 * outcome.value, "{outcome:?}");
            let mut gradient = vec![0.0; w.len()];
            whole.value_gradient(&w, &mut gradient);
            assert!(lanes::max_abs(&gradient) < 1e-5, "{}", lanes::max_abs(&gradient));
        }
    }

    #[test]
    fn narrow_tables_are_not_reduced() {
        let numbers = vec![1.0; 2 * FULL_HESSIAN];
        for (n, p) in [(2, FULL_HESSIAN), (FULL_HESSIAN, 2)] {
            let x: Design = Dense::rows_f64(&numbers, n, p, p).unwrap().into();
            assert!(RowSpaceBasis::of(&x, FULL_HESSIAN).unwrap().is_none());
        }
    }
}
