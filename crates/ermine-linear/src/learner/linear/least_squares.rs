//! Linear regression: the linear function of the columns with the least squared error.
//!
//! **Formula.** `min sum_i w_i (y_i - x_i'beta - b)^2`, for one target or several; see [`optim::least_squares`](crate::optim::least_squares) for how the decomposition is
//! chosen. With `degree` above 1, columns are the products of the user's columns: polynomial regression.
//!
//! A nominal column has a coefficient for each level but the first, which the others are compared with, so that columns are
//! independent and have standard errors.

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
    /// The linear function of the columns with the least squared error.
    pub struct LinearRegression("linear-regression") {
        /// Fit an intercept.
        fit_intercept: bool = true;
        /// Maximum degree of polynomial terms; 1 for the columns themselves.
        degree: usize = 1, range Range::between(1.0, 50.0), tune Linear(1, 2);
        /// If `degree` is above 1, add only products of different columns, no powers.
        interaction_only: bool = false;
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "linear-regression",
    summary: "least squares by Cholesky, QR or SVD, with standard errors; polynomials by degree",
    capabilities: REGRESSION,
    family: Family::Linear,
};

/// What learners of numbers over encoded columns can do.
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

/// Prepares the data and solves, for one strength of a penalty or several. Plain numbers are solved before anybody has looked for missing ones among them: the sums show whether there are any, and then all
/// is done again with care. That saves a reading of the data. It needs a method (`gives_means`) that finds the means of the columns as they are.
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

/// What the solution is the best of.
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

/// How the solution was found, and what about the columns a user should know.
pub fn notes(solution: &LeastSquaresSolution, names: &[String]) -> Vec<String> {
    let p = names.len();
    let mut notes = vec![match solution.method {
        LeastSquaresMethod::Cholesky { refinements: 0 } => "solved by Cholesky of the normal equations".to_string(),
        LeastSquaresMethod::Cholesky { refinements } => {
            format!("solved by Cholesky of the normal equations, refined {refinements} times from the residuals")
        }
        LeastSquaresMethod::Qr => "solved by QR: the columns are nearly dependent".to_string(),
        LeastSquaresMethod::MinimumNorm { rank, of_unit_columns } => format!(
            "the {p} columns are linearly dependent (rank {rank}): of all minimizers this is the one with the smallest coefficients{}, by singular values",
            if of_unit_columns { " of columns of one length" } else { "" }
        ),
        LeastSquaresMethod::Iterative { n_iterations, .. } => {
            format!("solved by {n_iterations} steps of conjugate gradients: there are many sparse columns")
        }
        LeastSquaresMethod::Wide => {
            "solved through the products of rows: there are fewer rows than columns".to_string()
        }
    }];
    if let Some(condition) = solution.condition.filter(|c| c.is_finite() && *c > 1e6) {
        notes.push(format!("condition number of the scaled products: {condition:.1e}"));
    }
    notes
}
