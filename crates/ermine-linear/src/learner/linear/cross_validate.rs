//! Cross-validation errors of a path of lasso or elastic-net solutions.
//!
//! The rows of a fold get weight 0 while its path is solved, so no data are copied. Their predictions only need the columns with nonzero coefficients.

use crate::optim::lasso::{LassoProblem, LassoSolution};
use ermine_core::error::{Error, Result};
use ermine_core::learner::Context;
use ermine_core::linalg::dense::BLOCK;
use ermine_core::parallel;
use ermine_core::progress::{Event, report};
use ermine_core::rng::{self, Purpose};

/// The fold of each row.
pub struct Folds {
    fold: Vec<u32>,
    n: usize,
}

impl Folds {
    /// Assigns the rows to `n` folds at random, unless the context specifies the folds.
    pub fn draw(n_rows: usize, n: usize, context: &Context<'_>) -> Result<Folds> {
        if let Some(fold) = context.folds {
            return Folds::given(fold, n_rows);
        }
        if n_rows < n {
            return Err(Error::data(format!("{n} folds need at least {n} rows (n_samples = {n_rows})")));
        }
        let mut rows: Vec<u32> = (0..n_rows as u32).collect();
        rng::shuffle(&mut Purpose::LinearFolds.stream(context.seed, &[]), &mut rows);
        let mut fold = vec![0; n_rows];
        rows.iter().enumerate().for_each(|(i, &r)| fold[r as usize] = (i % n) as u32);
        Ok(Folds { fold, n })
    }

    fn given(fold: &[u32], n_rows: usize) -> Result<Folds> {
        let n = fold.iter().max().map_or(0, |&last| last as usize + 1);
        let least = || {
            Error::data(format!(
                "cross-validation needs at least two folds that cover all rows (got {n} folds of {} rows)",
                fold.len()
            ))
        };
        if n < 2 || fold.len() != n_rows { Err(least()) } else { Ok(Folds { fold: fold.to_vec(), n }) }
    }

    /// Number of folds.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The mean squared error of each penalty strength on each held-out fold, strength by strength.
    pub fn errors(&self, problem: &LassoProblem, lambdas: &[f64], context: &Context<'_>) -> Result<Vec<f64>> {
        let weight = |i: usize| problem.weights.map_or(1.0, |w| w[i]);
        let mut all = vec![0.0; lambdas.len() * self.n];
        report(context.observer, Event::Begin { what: "folds", total: Some(self.n as u64) })?;
        for k in 0..self.n as u32 {
            let held = |i: usize| self.fold[i] == k;
            let weights: Vec<f64> = (0..self.fold.len()).map(|i| if held(i) { 0.0 } else { weight(i) }).collect();
            let solutions = LassoProblem { weights: Some(&weights), ..*problem }.path(lambdas)?;
            let rows: Vec<usize> = (0..self.fold.len()).filter(|&i| held(i)).collect();
            let total: f64 = rows.iter().map(|&i| weight(i)).sum();
            for (line, error) in square_errors(problem, &rows, &solutions).into_iter().enumerate() {
                // A fold without weight has no error.
                all[line * self.n + k as usize] = if total > 0.0 { error / total } else { 0.0 };
            }
            report(context.observer, Event::Step { done: u64::from(k) + 1, score: None })?;
        }
        report(context.observer, Event::End)?;
        Ok(all)
    }

    /// The mean error of each penalty strength over the folds, weighted if rows have weights.
    pub fn means(&self, errors: &[f64], weights: Option<&[f64]>) -> Vec<f64> {
        let mut shares = vec![0.0; self.n];
        match weights {
            Some(weights) => self.fold.iter().zip(weights).for_each(|(&k, w)| shares[k as usize] += w),
            None => self.fold.iter().for_each(|&k| shares[k as usize] = 1.0),
        }
        let total: f64 = shares.iter().sum();
        errors.chunks_exact(self.n).map(|line| line.iter().zip(&shares).map(|(e, s)| e * s / total).sum()).collect()
    }
}

/// The weighted squared errors of some rows for each solution.
fn square_errors(problem: &LassoProblem, rows: &[usize], solutions: &[LassoSolution]) -> Vec<f64> {
    let used: Vec<Vec<(usize, f64)>> = solutions
        .iter()
        .map(|s| s.coefficients.iter().copied().enumerate().filter(|(_, b)| *b != 0.0).collect())
        .collect();
    let sum = |rows: &[usize]| {
        let (mut errors, mut buffer) = (vec![0.0; solutions.len()], Vec::new());
        let mut dense = vec![0.0; problem.x.n_columns()];
        for &i in rows {
            problem.x.row_into(i, &mut buffer, &mut dense);
            let weight = problem.weights.map_or(1.0, |w| w[i]);
            for ((error, used), solution) in errors.iter_mut().zip(&used).zip(solutions) {
                let fit = used.iter().fold(solution.intercept, |sum, &(j, b)| sum + dense[j] * b);
                *error += weight * (problem.y[i] - fit).powi(2);
            }
        }
        errors
    };
    let parts: Vec<Vec<f64>> = parallel::consume(rows.chunks(16 * BLOCK), |_, rows| sum(rows));
    ermine_core::linalg::dense::add_in_order(parts, solutions.len())
}
