//! Inference for least squares: standard errors, t tests, R squared, the F test.
//!
//! **Formula.** With residual sum `S`, `r` independent columns and `v = n - r - 1` degrees of freedom (`n - r` without intercept):
//! `sigma^2 = S / v`, `se_j = sigma sqrt((X'WX)^-1_jj)`, `t = beta / se`, and for the intercept `1/W + m'(X'WX)^-1 m` in place of the diagonal. Weights are
//! precisions, as in R's `lm`: `n` counts rows.
//!
//! **Reference.** Draper and Smith, "Applied Regression Analysis", chapters 1 to 5.

use crate::optim::least_squares::LeastSquaresSolution;
use ermine_core::distribution::{f_above, t_two_sided};

/// The statistics of the fit of one target.
#[derive(Debug, Clone, PartialEq)]
pub struct Inference {
    /// Degrees of freedom of the residuals.
    pub freedom: f64,
    /// Number of linearly independent columns.
    pub rank: f64,
    /// Residual standard error.
    pub sigma: f64,
    /// R squared: the explained share of the sum of squares (centered if there is an intercept).
    pub r_squared: f64,
    /// Standard errors: of each coefficient, then of the intercept; NaN if undefined.
    pub errors: Vec<f64>,
}

impl Inference {
    /// The statistics of target `o`; `None` unless the columns are linearly independent and there are more rows than unknowns.
    pub fn of(solution: &LeastSquaresSolution, o: usize, n_rows: usize, intercept: bool) -> Option<Inference> {
        let inverse = solution.inverse_diagonal.as_ref()?;
        let rank = inverse.iter().filter(|d| !d.is_nan()).count();
        let freedom = n_rows.checked_sub(rank + usize::from(intercept)).filter(|&v| v > 0)? as f64;
        let sigma = (solution.residual_sums[o].max(0.0) / freedom).sqrt();
        let mut errors: Vec<f64> = inverse.iter().map(|d| sigma * d.sqrt()).collect();
        errors.push(if intercept { sigma * solution.intercept_variance?.sqrt() } else { f64::NAN });
        let total = solution.total_sums[o];
        let r_squared = if total > 0.0 { 1.0 - solution.residual_sums[o] / total } else { f64::NAN };
        Some(Inference { freedom, rank: rank as f64, sigma, r_squared, errors })
    }

    /// Adjusted R squared.
    pub fn adjusted(&self) -> f64 {
        // The degrees of freedom of the total: the number of rows, less one for an intercept.
        let total = self.freedom + self.rank;
        1.0 - (1.0 - self.r_squared) * total / self.freedom
    }

    /// The F statistic of the model against the intercept alone, and its p-value.
    pub fn f_test(&self) -> (f64, f64) {
        let f = self.r_squared / self.rank / ((1.0 - self.r_squared) / self.freedom);
        (f, f_above(f, self.rank, self.freedom))
    }

    /// The t statistic and p-value of an estimate with this standard error.
    pub fn test(&self, estimate: f64, error: f64) -> (f64, f64) {
        let t = estimate / error;
        (t, t_two_sided(t, self.freedom))
    }

    /// Whether these are valid statistics for this number of columns.
    pub fn is_sound(&self, n_columns: usize) -> bool {
        let free = self.freedom >= 1.0 && self.freedom.is_finite();
        free && (0.0..=n_columns as f64).contains(&self.rank) && self.errors.len() == n_columns + 1
    }

    /// All numbers, for the model file.
    pub fn to_numbers(&self) -> Vec<f64> {
        let mut numbers = vec![self.freedom, self.rank, self.sigma, self.r_squared];
        numbers.extend(&self.errors);
        numbers
    }

    /// Reads [`to_numbers`](Self::to_numbers) back.
    pub fn from_numbers(numbers: &[f64]) -> Option<Inference> {
        let [freedom, rank, sigma, r_squared, errors @ ..] = numbers else { return None };
        let (freedom, rank, sigma, r_squared) = (*freedom, *rank, *sigma, *r_squared);
        Some(Inference { freedom, rank, sigma, r_squared, errors: errors.to_vec() })
    }
}
