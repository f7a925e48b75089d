//! Linear regression by least squares.
//!
//! **Formula.** `min sum_i w_i (y_i - x_i'beta - b)^2`, for one target or several; see [`optim::least_squares`](crate::optim::least_squares) for how the decomposition is
//! chosen. With `degree` above 1, the columns are products of the original columns: polynomial regression.
//!
//! A nominal column has a coefficient for each level but the first, the reference level, so that the columns are
//! linearly independent and have standard errors.

use super::fitted::{FitHistory, LinearModel};
use super::inference::Inference;
use super::prepare::{PreparedData, outputs};
use crate::optim::least_squares::{LeastSquares, LeastSquaresMethod, LeastSquaresSolution};
use ermine_core::error::{Error, Result};
use ermine_core::learner::parameters::ClassWeight;
use ermine_core::learner::{Capabilities, Context, Family, Learner, LearnerInfo, Trained};
use ermine_core::linalg::Design;
use ermine_core::matrix::{Dataset, DesignOptions, Task};
use ermine_core::model::{Certificate, Proof, Status};
use ermine_core::param::Range;
use ermine_core::params;

params! {
    /// Linear regression by least squares.
    pub struct LinearRegression("linear-regression") {
        /// Fit an intercept.
        /// Set it to false only if predictions must be 0 where all columns are 0.
        fit_intercept: bool = true;
        /// Maximum degree of polynomial terms; 1 for the columns themselves.
        /// 2 adds squares and products of two columns, for targets that are not linear in the columns; the number of terms grows quickly with the degree.
        degree: usize = 1, range Range::between(1.0, 50.0), tune Linear(1, 2);
        /// Add only products of different columns, no powers; for `degree` above 1.
        interaction_only: bool = false;
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "linear-regression",
    summary: "linear or polynomial regression by least squares, with standard errors and p-values",
    capabilities: REGRESSION,
    family: Family::Linear,
};

/// Capabilities of regressors over encoded columns.
pub const REGRESSION: Capabilities = Capabilities {
    tasks: &[Task::Regression],
    binary_only: false,
    multi_output: true,
    weights: true,
    missing: true,
    nominal: true,
    sparse: true,
    probabilities: false,
    random: false,
};

impl Learner for LinearRegression {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let options = DesignOptions {
            degree: self.degree,
            interaction_only: self.interaction_only,
            references: self.fit_intercept,
        };
        let intercept = self.fit_intercept;
        let (prepared, solutions, ()) = solve(data, options, intercept, |x, targets, weights| {
            let observer = context.observer;
            Ok((vec![LeastSquares { x, targets, weights, intercept, lambda: 0.0, observer }.solve()?], ()))
        })?;
        let solution = solutions.into_iter().next().ok_or_else(|| Error::data("least squares found no solution"))?;
        let inference = (0..solution.intercepts.len()).map(|o| Inference::of(&solution, o, data.n_rows(), intercept));
        let inference = inference.collect::<Option<Vec<_>>>().unwrap_or_default();
        let over = over(&solution, prepared.names.len());
        let mut certificate =
            Certificate::optimal("sum of squared residuals", solution.residual_sums.iter().sum(), over);
        certificate.notes = notes(&solution, &prepared.names);
        state_residual(&mut certificate, &solution);
        let linear =
            LinearModel::new(&prepared, None, solution.coefficients, solution.intercepts, FitHistory::default());
        Ok(Trained { fitted: Box::new(LinearModel { inference, ..linear }), certificate })
    }
}

/// Prepares the data and solves, for one or several penalty strengths. Numeric columns are not searched for missing values first, which saves a pass over the data: if the sums show that there are any, the
/// data are prepared again with the missing values handled. This needs a method that computes the means of the unscaled columns (`gives_means`).
pub fn solve<'d, T>(
    data: &'d Dataset,
    options: DesignOptions,
    gives_means: bool,
    method: impl Fn(&Design, &[&[f64]], Option<&[f64]>) -> Result<(Vec<LeastSquaresSolution>, T)>,
) -> Result<(PreparedData<'d>, Vec<LeastSquaresSolution>, T)> {
    let targets = outputs(data)?;
    let targets: Vec<&[f64]> = targets.iter().map(|y| &y[..]).collect();
    let tall = data.n_rows() >= data.features().n_columns();
    if let Some(mut prepared) = PreparedData::unchecked(data, options).filter(|_| gives_means && tall) {
        let solved = method(&prepared.design()?, &targets, prepared.weights());
        if let Ok((solutions, more)) = solved
            && let Some(first) = solutions.first()
            && first.x_mean.iter().all(|m| m.is_finite())
        {
            prepared.map.set_means(&first.x_mean);
            return Ok((prepared, solutions, more));
        }
    }
    let prepared = PreparedData::new(data, options, &ClassWeight::Equal)?;
    let (solutions, more) = method(&prepared.design()?, &targets, prepared.weights())?;
    Ok((prepared, solutions, more))
}

/// The set of functions among which the solution is optimal.
fn over(solution: &LeastSquaresSolution, p: usize) -> String {
    match solution.method {
        LeastSquaresMethod::MinimumNorm { .. } => {
            format!("all linear functions of the {p} columns, up to double precision")
        }
        _ => format!("all linear functions of the {p} columns"),
    }
}

/// The certificate of a solution by conjugate gradients states its residual instead of optimality.
pub fn state_residual(certificate: &mut Certificate, solution: &LeastSquaresSolution) {
    if let LeastSquaresMethod::Iterative { n_iterations, residual } = solution.method {
        certificate.proofs = vec![Proof::Stationary(residual)];
        if residual > 1e-10 {
            certificate.status = Status::Limit(format!("{n_iterations} steps of conjugate gradients"));
        }
    }
}

/// Notes on the method and on the conditioning of the columns.
pub fn notes(solution: &LeastSquaresSolution, names: &[String]) -> Vec<String> {
    let p = names.len();
    let mut notes = vec![match solution.method {
        LeastSquaresMethod::Cholesky { refinements: 0 } => "solved by Cholesky of the normal equations".to_string(),
        LeastSquaresMethod::Cholesky { refinements } => {
            format!("solved by Cholesky of the normal equations, refined {refinements} times from the residuals")
        }
        LeastSquaresMethod::Qr => "solved by QR: the columns are nearly linearly dependent".to_string(),
        LeastSquaresMethod::MinimumNorm { rank, of_unit_columns } => format!(
            "the {p} columns are linearly dependent (rank {rank}): the coefficients are the minimum-norm solution{}, by SVD",
            if of_unit_columns { " for columns of unit length" } else { "" }
        ),
        LeastSquaresMethod::Iterative { n_iterations, .. } => {
            format!("solved by {n_iterations} steps of conjugate gradients (many sparse columns)")
        }
        LeastSquaresMethod::Wide => {
            "solved through the Gram matrix of the rows: there are fewer rows than columns".to_string()
        }
    }];
    if let Some(condition) = solution.condition.filter(|c| c.is_finite() && *c > 1e6) {
        notes.push(format!("condition number of the scaled normal equations: {condition:.1e}"));
    }
    notes
}
