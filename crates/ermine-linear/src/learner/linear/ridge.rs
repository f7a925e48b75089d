//! Ridge regression: least squares with an L2 penalty, for one penalty strength or the best of several.
//!
//! **Formula.** `min sum_i w_i (y_i - x_i'beta - b)^2 + alpha |beta|^2`. [`RidgeCv`] chooses the `alpha` with the lowest leave-one-out error; all errors come from
//! one decomposition, without refitting ([`optim::ridge_path`](crate::optim::ridge_path)).

use super::fitted::{DEVIATION_1, FitHistory, LinearModel};
use super::least_squares::{self, REGRESSION};
use super::prepare::{PreparedData, Scaling, outputs, scaled};
use crate::optim::least_squares::{LeastSquares, LeastSquaresSolution};
use crate::optim::ridge_path::{RidgePath, leave_one_out_wide};
use ermine_core::chart::text::number;
use ermine_core::error::{Error, Result};
use ermine_core::learner::parameters::ClassWeight;
use ermine_core::learner::{Context, Family, Learner, LearnerInfo, PathLearner, Trained};
use ermine_core::linalg::Design;
use ermine_core::matrix::{Dataset, DesignOptions, Features};
use ermine_core::model::{Certificate, Output};
use ermine_core::param::{Range, Value};
use ermine_core::params;
use ermine_core::progress::Observer;

params! {
    /// Ridge regression: least squares with an L2 penalty.
    pub struct Ridge("ridge") {
        /// Strength of the L2 penalty; higher values give smaller coefficients.
        /// Use ridge-cv to choose it by leave-one-out cross-validation. 0 is least squares.
        alpha: f64 = 1.0, range Range::between(0.0, 1e100), tune Log(1e-4, 1e4);
        /// Fit an intercept, which is never penalized.
        /// Set it to false only if predictions must be 0 where all columns are 0.
        fit_intercept: bool = true;
        /// Standardize the columns (standard deviation 1) before the penalty is applied; coefficients are reported in the original units.
        /// Without it, the penalty depends on the units of the columns. False in Rust and Python, as in scikit-learn; the command line sets it to true for dense columns.
        standardize: bool = false;
        /// Maximum degree of polynomial terms; 1 for the columns themselves.
        /// 2 adds squares and products of two columns, for targets that are not linear in the columns; the number of terms grows quickly with the degree.
        degree: usize = 1, range Range::between(1.0, 50.0), tune Linear(1, 2);
        /// Add only products of different columns, no powers; for `degree` above 1.
        interaction_only: bool = false;
    }
}

params! {
    /// Ridge regression with the penalty strength chosen by leave-one-out cross-validation.
    pub struct RidgeCv("ridge-cv") {
        /// Penalty strengths to choose from, by leave-one-out error.
        /// All of them cost little more than one. Extend the list if its smallest or largest value is chosen.
        alphas: Vec<f64> = vec![0.1, 1.0, 10.0], range Range::above_to(0.0, 1e100);
        /// Fit an intercept, which is never penalized.
        /// Set it to false only if predictions must be 0 where all columns are 0.
        fit_intercept: bool = true;
        /// Standardize the columns (standard deviation 1) before the penalty is applied; coefficients are reported in the original units.
        /// Without it, the penalty depends on the units of the columns. False in Rust and Python, as in scikit-learn; the command line sets it to true for dense columns.
        standardize: bool = false;
        /// Maximum degree of polynomial terms; 1 for the columns themselves.
        /// 2 adds squares and products of two columns, for targets that are not linear in the columns; the number of terms grows quickly with the degree.
        degree: usize = 1, range Range::between(1.0, 50.0);
        /// Add only products of different columns, no powers; for `degree` above 1.
        interaction_only: bool = false;
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "ridge",
    summary: "least squares with an L2 penalty, in closed form",
    capabilities: REGRESSION,
    family: Family::Linear,
};

static INFO_CV: LearnerInfo = LearnerInfo {
    name: "ridge-cv",
    summary: "ridge regression with the penalty strength chosen by leave-one-out cross-validation",
    capabilities: REGRESSION,
    family: Family::Linear,
};

impl Learner for Ridge {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let (prepared, solutions, scaling) = self.solve(data, &[self.alpha], context.observer)?;
        let solution = solutions.into_iter().next().ok_or_else(|| Error::data("ridge found no solution"))?;
        finish(solution, &prepared, scaling.as_ref(), self.alpha, FitHistory::default())
    }

    fn path(&self) -> Option<&dyn PathLearner> {
        Some(self)
    }
}

/// All penalty strengths share the products of the columns.
impl PathLearner for Ridge {
    fn parameter(&self) -> &'static str {
        "alpha"
    }

    fn predict_path(
        &self,
        data: &Dataset,
        values: &[Value],
        features: &Features,
        context: &Context<'_>,
    ) -> Result<(Output, Vec<Vec<f64>>)> {
        let alphas: Vec<f64> = values.iter().map(|value| value.number().unwrap_or(self.alpha)).collect();
        let (prepared, solutions, scaling) = self.solve(data, &alphas, context.observer)?;
        let predict = |(solution, &alpha): (LeastSquaresSolution, &f64)| {
            finish(solution, &prepared, scaling.as_ref(), alpha, FitHistory::default())?.fitted.predict(features)
        };
        Ok((Output::Values, solutions.into_iter().zip(&alphas).map(predict).collect::<Result<_>>()?))
    }
}

impl Ridge {
    /// The solution for each penalty strength.
    fn solve<'d>(
        &self,
        data: &'d Dataset,
        alphas: &[f64],
        observer: &dyn Observer,
    ) -> Result<(PreparedData<'d>, Vec<LeastSquaresSolution>, Option<Scaling>)> {
        let options = DesignOptions { degree: self.degree, interaction_only: self.interaction_only, references: false };
        let intercept = self.fit_intercept;
        let gives_means = intercept && !self.standardize;
        least_squares::solve(data, options, gives_means, |x, targets, weights| {
            let (x, scaling) = scaled(x.clone(), weights, self.standardize, intercept)?;
            let problem = LeastSquares { x: &x, targets, weights, intercept, lambda: 0.0, observer };
            Ok((problem.solve_path(alphas)?, scaling))
        })
    }
}

impl Learner for RidgeCv {
    fn info(&self) -> &'static LearnerInfo {
        &INFO_CV
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let options = DesignOptions { degree: self.degree, interaction_only: self.interaction_only, references: false };
        let prepared = PreparedData::new(data, options, &ClassWeight::Equal)?;
        let (x, scaling) = scaled(prepared.design()?, prepared.weights(), self.standardize, self.fit_intercept)?;
        let targets = outputs(data)?;
        let targets: Vec<&[f64]> = targets.iter().map(|y| &y[..]).collect();
        let (solution, course) = self.choose(&x, &targets, prepared.weights(), context.observer)?;
        drop(x);
        let alpha = course.alpha.unwrap_or(0.0);
        let mut trained = finish(solution, &prepared, scaling.as_ref(), alpha, course)?;
        trained.certificate.notes.push(format!("chosen by leave-one-out cross-validation: alpha = {}", number(alpha)));
        Ok(trained)
    }
}

impl RidgeCv {
    /// The solution for the penalty strength with the lowest leave-one-out error.
    fn choose(
        &self,
        x: &Design,
        targets: &[&[f64]],
        weights: Option<&[f64]>,
        observer: &dyn Observer,
    ) -> Result<(LeastSquaresSolution, FitHistory)> {
        let refuse = || Error::Param {
            owner: "ridge-cv".into(),
            name: "alphas".into(),
            value: String::new(),
            allowed: "a list with at least one number".into(),
        };
        let intercept = self.fit_intercept;
        let errors = match x {
            Design::Dense(x) if x.n_rows() < x.n_columns() => {
                leave_one_out_wide(x, targets, weights, intercept, &self.alphas)?
            }
            _ => RidgePath::new(x, targets, weights, intercept)?.leave_one_out(
                x,
                targets,
                weights,
                intercept,
                &self.alphas,
                observer,
            )?,
        };
        let choices: Vec<(f64, f64)> = self.alphas.iter().copied().zip(errors).collect();
        // Of equal errors, the stronger penalty wins: the simpler model.
        let better = |a: &(f64, f64), b: &(f64, f64)| a.1.total_cmp(&b.1).then(b.0.total_cmp(&a.0));
        let &(alpha, _) = choices.iter().min_by(|a, b| better(a, b)).ok_or_else(refuse)?;
        let problem = LeastSquares { x, targets, weights, intercept, lambda: alpha, observer };
        Ok((problem.solve()?, FitHistory { alpha: Some(alpha), choices, ..FitHistory::default() }))
    }
}

/// The model in the original units, and its certificate.
fn finish(
    solution: LeastSquaresSolution,
    prepared: &PreparedData<'_>,
    scaling: Option<&Scaling>,
    alpha: f64,
    course: FitHistory,
) -> Result<Trained> {
    let squares: f64 = solution.coefficients.data().iter().map(|b| b * b).sum();
    let value = solution.residual_sums.iter().sum::<f64>() + alpha * squares;
    let over = format!("all linear functions of the {} columns", prepared.names.len());
    let mut certificate = Certificate::optimal(
        format!("sum of squared residuals + {} * sum of squared coefficients", number(alpha)),
        value,
        over,
    );
    certificate.notes = least_squares::notes(&solution, &prepared.names);
    least_squares::state_residual(&mut certificate, &solution);
    if scaling.is_some() {
        certificate.objective += DEVIATION_1;
    }
    let fitted = LinearModel::new(prepared, scaling, solution.coefficients, solution.intercepts, course);
    Ok(Trained { fitted: Box::new(fitted), certificate })
}
