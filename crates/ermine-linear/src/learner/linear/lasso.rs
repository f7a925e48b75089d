//! Lasso and elastic net: least squares with a penalty on the absolute coefficients, which sets most of them to zero.
//!
//! **Formula.** `min sum_i w_i (y_i - x_i'beta - b)^2 / (2 W) + alpha (r |beta|_1 + (1 - r) |beta|^2 / 2)`, where `r` is `l1_ratio` (1 for the lasso); see
//! [`optim::lasso`](crate::optim::lasso). Several targets are solved one after the other. [`LassoCv`] and [`ElasticNetCv`] choose `alpha` from a path by cross-validation.

use super::fitted::{DEVIATION_1, FitHistory, LinearModel};
use super::least_squares::REGRESSION;
use super::prepare::{PreparedData, Scaling, outputs, scaled};
use super::{cross_validate, report};
use crate::optim::lasso::{LassoProblem, LassoSolution};
use crate::optim::least_squares::LeastSquares;
use crate::optim::{SolverOutcome, SolverStatus};
use ermine_core::chart::text::number;
use ermine_core::error::{Error, Result};
use ermine_core::learner::parameters::ClassWeight;
use ermine_core::learner::{Capabilities, Context, Family, Learner, LearnerInfo, PathLearner, Trained};
use ermine_core::linalg::{Design, Matrix};
use ermine_core::matrix::{Dataset, DesignOptions, Features};
use ermine_core::model::{Fitted, Output};
use ermine_core::param::{Range, Value};
use ermine_core::params;
use ermine_core::progress::{Observer, Silent};

params! {
    /// Least squares with an L1 penalty, which sets coefficients to zero.
    pub struct Lasso("lasso") {
        /// Strength of the L1 penalty; higher values set more coefficients to zero.
        /// Use lasso-cv to choose it by cross-validation. 0 is least squares.
        alpha: f64 = 1.0, range Range::between(0.0, 1e100), tune Log(1e-4, 10.0);
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
        /// Maximum number of updates of the working set of columns.
        /// Raise it if the certificate reports that the limit was reached.
        max_iter: usize = 1000, range Range::at_least(1.0);
        /// Stopping tolerance: the duality gap, relative to the objective with all coefficients 0.
        /// The certificate states the gap that was reached. Raise the tolerance to trade accuracy for time.
        tol: f64 = 1e-10, range Range::between(0.0, 1.0);
    }
}

params! {
    /// Least squares with L1 and L2 penalties.
    pub struct ElasticNet("elastic-net") {
        /// Strength of the penalty; higher values give smaller coefficients and more zeros.
        /// Use elastic-net-cv to choose it by cross-validation. 0 is least squares.
        alpha: f64 = 1.0, range Range::between(0.0, 1e100), tune Log(1e-4, 10.0);
        /// Elastic-net mixing parameter: 1 for the lasso, 0 for ridge.
        /// Values below 1 keep groups of correlated columns together; the lasso picks one of them.
        l1_ratio: f64 = 0.5, range Range::between(0.0, 1.0), tune Linear(0.1, 1.0);
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
        /// Maximum number of updates of the working set of columns.
        /// Raise it if the certificate reports that the limit was reached.
        max_iter: usize = 1000, range Range::at_least(1.0);
        /// Stopping tolerance: the duality gap, relative to the objective with all coefficients 0.
        /// The certificate states the gap that was reached. Raise the tolerance to trade accuracy for time.
        tol: f64 = 1e-10, range Range::between(0.0, 1.0);
    }
}

params! {
    /// The lasso with the penalty strength chosen by cross-validation.
    pub struct LassoCv("lasso-cv") {
        /// Number of penalty strengths to try, in equal steps on a logarithmic scale, from the smallest that makes all coefficients zero downwards.
        n_alphas: usize = 100, range Range::between(1.0, 1e6);
        /// Smallest penalty strength to try, relative to the largest.
        /// Lower it if the smallest strength is chosen.
        eps: f64 = 1e-3, range Range::inside(0.0, 1.0);
        /// Penalty strengths to try; chosen automatically (`n_alphas`, `eps`) if empty.
        alphas: Vec<f64> = Vec::new(), range Range::above_to(0.0, 1e100);
        /// Number of cross-validation folds.
        /// More folds use more rows for training, and take longer.
        cv: usize = 5, range Range::at_least(2.0);
        /// Fit an intercept, which is never penalized.
        /// Set it to false only if predictions must be 0 where all columns are 0.
        fit_intercept: bool = true;
        /// Standardize the columns (standard deviation 1) before the penalty is applied; coefficients are reported in the original units.
        /// Without it, the penalty depends on the units of the columns. False in Rust and Python, as in scikit-learn; the command line sets it to true for dense columns.
        standardize: bool = false;
        /// Maximum number of updates of the working set of columns.
        /// Raise it if the certificate reports that the limit was reached.
        max_iter: usize = 1000, range Range::at_least(1.0);
        /// Stopping tolerance: the duality gap, relative to the objective with all coefficients 0.
        /// The certificate states the gap that was reached. Raise the tolerance to trade accuracy for time.
        tol: f64 = 1e-10, range Range::between(0.0, 1.0);
    }
}

params! {
    /// The elastic net with penalty strength and mixing parameter chosen by cross-validation.
    pub struct ElasticNetCv("elastic-net-cv") {
        /// Elastic-net mixing parameters to try: 1 is the lasso.
        /// A usual list is 0.1, 0.5, 0.7, 0.9, 0.95, 0.99, 1.
        l1_ratio: Vec<f64> = vec![0.5], range Range::above_to(0.0, 1.0);
        /// Number of penalty strengths to try, in equal steps on a logarithmic scale, from the smallest that makes all coefficients zero downwards.
        n_alphas: usize = 100, range Range::between(1.0, 1e6);
        /// Smallest penalty strength to try, relative to the largest.
        /// Lower it if the smallest strength is chosen.
        eps: f64 = 1e-3, range Range::inside(0.0, 1.0);
        /// Penalty strengths to try; chosen automatically (`n_alphas`, `eps`) if empty.
        alphas: Vec<f64> = Vec::new(), range Range::above_to(0.0, 1e100);
        /// Number of cross-validation folds.
        /// More folds use more rows for training, and take longer.
        cv: usize = 5, range Range::at_least(2.0);
        /// Fit an intercept, which is never penalized.
        /// Set it to false only if predictions must be 0 where all columns are 0.
        fit_intercept: bool = true;
        /// Standardize the columns (standard deviation 1) before the penalty is applied; coefficients are reported in the original units.
        /// Without it, the penalty depends on the units of the columns. False in Rust and Python, as in scikit-learn; the command line sets it to true for dense columns.
        standardize: bool = false;
        /// Maximum number of updates of the working set of columns.
        /// Raise it if the certificate reports that the limit was reached.
        max_iter: usize = 1000, range Range::at_least(1.0);
        /// Stopping tolerance: the duality gap, relative to the objective with all coefficients 0.
        /// The certificate states the gap that was reached. Raise the tolerance to trade accuracy for time.
        tol: f64 = 1e-10, range Range::between(0.0, 1.0);
    }
}

static INFO_LASSO: LearnerInfo = LearnerInfo {
    name: "lasso",
    summary: "least squares with an L1 penalty, which selects features; with the duality gap",
    capabilities: REGRESSION,
    family: Family::Linear,
};
static INFO_ELASTIC: LearnerInfo = LearnerInfo {
    name: "elastic-net",
    summary: "least squares with L1 and L2 penalties; with the duality gap",
    capabilities: REGRESSION,
    family: Family::Linear,
};
/// Folds are drawn at random.
const CHOOSING: Capabilities = Capabilities { random: true, multi_output: false, ..REGRESSION };
static INFO_LASSO_CV: LearnerInfo = LearnerInfo {
    name: "lasso-cv",
    summary: "lasso with the penalty strength chosen by cross-validation along a path",
    capabilities: CHOOSING,
    family: Family::Linear,
};
static INFO_ELASTIC_CV: LearnerInfo = LearnerInfo {
    name: "elastic-net-cv",
    summary: "elastic net with penalty strength and L1 ratio chosen by cross-validation along paths",
    capabilities: CHOOSING,
    family: Family::Linear,
};

impl Learner for Lasso {
    fn info(&self) -> &'static LearnerInfo {
        &INFO_LASSO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        self.net().train(data, context)
    }

    fn path(&self) -> Option<&dyn PathLearner> {
        Some(self)
    }
}

impl PathLearner for Lasso {
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
        self.net().predict_path(data, values, features, context)
    }
}

impl Lasso {
    /// The elastic net with `l1_ratio` 1.
    fn net(&self) -> ElasticNet {
        let Lasso { alpha, fit_intercept, standardize, degree, interaction_only, max_iter, tol } = self.clone();
        ElasticNet { alpha, l1_ratio: 1.0, fit_intercept, standardize, degree, interaction_only, max_iter, tol }
    }
}

impl Learner for ElasticNet {
    fn info(&self) -> &'static LearnerInfo {
        &INFO_ELASTIC
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        // Numeric columns are not searched for missing values first, which saves a pass over the data: the means of the columns show afterwards whether there are any.
        if let Some(prepared) = PreparedData::unchecked(data, self.options()).filter(|_| self.gives_means())
            && let Some(trained) = self.finish(data, prepared, FitHistory::default(), context)?
        {
            return Ok(trained);
        }
        self.finish(data, self.prepared(data)?, FitHistory::default(), context)?.ok_or_else(not_finite)
    }

    fn path(&self) -> Option<&dyn PathLearner> {
        Some(self)
    }
}

/// Decreasing penalty strengths, each warm-started from the solution before it.
impl PathLearner for ElasticNet {
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
        let prepared = self.prepared(data)?;
        let (x, scaling) = scaled(prepared.design()?, prepared.weights(), self.standardize, self.fit_intercept)?;
        let alphas: Vec<f64> = values.iter().map(|value| value.number().unwrap_or(self.alpha)).collect();
        let along = |y: &[f64]| self.solve_path(&x, y, prepared.weights(), &alphas, context.observer);
        let solutions: Vec<Vec<LassoSolution>> = outputs(data)?.iter().map(|y| along(y)).collect::<Result<_>>()?;
        let predict = |at: usize| {
            let of_alpha: Vec<&LassoSolution> = solutions.iter().map(|along| &along[at]).collect();
            self.linear(&prepared, &of_alpha, scaling.as_ref(), FitHistory::default()).predict(features)
        };
        Ok((Output::Values, (0..alphas.len()).map(predict).collect::<Result<_>>()?))
    }
}

fn not_finite() -> Error {
    Error::data("the sums of the columns overflow double precision")
}

impl ElasticNet {
    fn options(&self) -> DesignOptions {
        DesignOptions { degree: self.degree, interaction_only: self.interaction_only, references: false }
    }

    fn prepared<'d>(&self, data: &'d Dataset) -> Result<PreparedData<'d>> {
        PreparedData::new(data, self.options(), &ClassWeight::Equal)
    }

    /// The solution for each penalty strength, in the given order.
    fn solve_path(
        &self,
        x: &Design,
        y: &[f64],
        weights: Option<&[f64]>,
        alphas: &[f64],
        observer: &dyn Observer,
    ) -> Result<Vec<LassoSolution>> {
        let mut falling: Vec<f64> = alphas.iter().copied().filter(|alpha| alpha * self.l1_ratio > 0.0).collect();
        falling.sort_by(|a, b| b.total_cmp(a));
        falling.dedup();
        let solved = self.problem(x, y, weights, observer).path(&falling)?;
        let solution = |&alpha: &f64| match falling.iter().position(|known| *known == alpha) {
            Some(at) => Ok(solved[at].clone()),
            None => ElasticNet { alpha, ..self.clone() }.without_l1(x, y, weights, observer),
        };
        alphas.iter().map(solution).collect()
    }

    fn problem<'a>(
        &self,
        x: &'a Design<'a>,
        y: &'a [f64],
        weights: Option<&'a [f64]>,
        observer: &'a dyn Observer,
    ) -> LassoProblem<'a> {
        LassoProblem {
            x,
            y,
            weights,
            intercept: self.fit_intercept,
            l1_ratio: self.l1_ratio,
            tolerance: self.tol,
            max_iterations: self.max_iter,
            observer,
        }
    }

    /// Whether the solver computes the means of the unscaled columns.
    fn gives_means(&self) -> bool {
        self.fit_intercept && !self.standardize && self.alpha * self.l1_ratio > 0.0
    }

    /// Solves for every target and builds the model; `None` if the means of the columns show that some value is not finite.
    fn finish(
        &self,
        data: &Dataset,
        mut prepared: PreparedData<'_>,
        mut course: FitHistory,
        context: &Context<'_>,
    ) -> Result<Option<Trained>> {
        let (x, scaling) = scaled(prepared.design()?, prepared.weights(), self.standardize, self.fit_intercept)?;
        let (mut solutions, mut means) = (Vec::new(), Vec::new());
        for y in &outputs(data)? {
            if self.alpha * self.l1_ratio <= 0.0 {
                solutions.push(self.without_l1(&x, y, prepared.weights(), context.observer)?);
                continue;
            }
            let mut solver = self.problem(&x, y, prepared.weights(), context.observer).solver(1);
            if solver.x_mean().iter().any(|m| !m.is_finite()) {
                return Ok(None);
            }
            solutions.push(solver.solve(self.alpha)?);
            means = solver.x_mean().to_vec();
        }
        drop(x);
        if prepared.is_unchecked() {
            prepared.map.set_means(&means);
        }
        let outcomes: Vec<SolverOutcome> = solutions.iter().map(|s| s.outcome.clone()).collect();
        course.n_iter = outcomes.iter().map(|o| o.n_iterations).max();
        let mut certificate = report::certificate(self.objective(), &outcomes);
        if scaling.is_some() {
            certificate.objective += DEVIATION_1;
        }
        let solutions: Vec<&LassoSolution> = solutions.iter().collect();
        let fitted = self.linear(&prepared, &solutions, scaling.as_ref(), course);
        Ok(Some(Trained { fitted: Box::new(fitted), certificate }))
    }

    /// The model, in the original units.
    fn linear(
        &self,
        prepared: &PreparedData<'_>,
        solutions: &[&LassoSolution],
        scaling: Option<&Scaling>,
        course: FitHistory,
    ) -> LinearModel {
        let coefficients = Matrix::from_fn(solutions.len(), prepared.names.len(), |o, j| solutions[o].coefficients[j]);
        LinearModel::new(prepared, scaling, coefficients, solutions.iter().map(|s| s.intercept).collect(), course)
    }

    fn objective(&self) -> String {
        let (l1, l2) = (self.alpha * self.l1_ratio, self.alpha * (1.0 - self.l1_ratio));
        let mut text = "half the mean squared residual".to_string();
        if l1 > 0.0 {
            text += &format!(" + {} * sum of absolute coefficients", number(l1));
        }
        if l2 > 0.0 {
            text += &format!(" + {} / 2 * sum of squared coefficients", number(l2));
        }
        text
    }

    /// An L2 penalty only: closed form.
    fn without_l1(
        &self,
        x: &Design,
        y: &[f64],
        weights: Option<&[f64]>,
        observer: &dyn Observer,
    ) -> Result<LassoSolution> {
        let total = weights.map_or(y.len() as f64, |w| w.iter().sum());
        let lambda = self.alpha * total;
        let problem = LeastSquares { x, targets: &[y], weights, intercept: self.fit_intercept, lambda, observer };
        let solution = problem.solve()?;
        let beta = solution.coefficients.row(0).to_vec();
        let value =
            solution.residual_sums[0] / (2.0 * total) + self.alpha * beta.iter().map(|b| b * b).sum::<f64>() / 2.0;
        let outcome = SolverOutcome {
            status: SolverStatus::Converged,
            n_iterations: 1,
            value,
            lower_bound: Some(value),
            residual: 0.0,
        };
        Ok(LassoSolution { lambda: self.alpha, coefficients: beta, intercept: solution.intercepts[0], outcome })
    }
}

/// The solutions of a data set with one target for decreasing penalty strengths, each warm-started from the one before it; see [`ElasticNet`] for the parameters. By default there
/// are `n` strengths, from the smallest that makes all coefficients zero down to `eps` times it. If `l1_ratio` is 0 there is no such strength, and they must be given.
pub fn path(
    net: &ElasticNet,
    data: &Dataset,
    alphas: Option<&[f64]>,
    n: usize,
    eps: f64,
) -> Result<Vec<LassoSolution>> {
    let options = DesignOptions { degree: net.degree, interaction_only: net.interaction_only, references: false };
    let (y, n_outputs) = data.values()?;
    if n_outputs != 1 {
        return Err(Error::data(format!("a regularization path needs a single target (got {n_outputs})")));
    }
    if net.l1_ratio <= 0.0 && alphas.is_none() {
        return Err(Error::data(
            "a regularization path with l1_ratio = 0 needs a list of alphas: no penalty strength makes all coefficients zero",
        ));
    }
    if let Some(alpha) = alphas.and_then(|alphas| alphas.iter().find(|a| !(a.is_finite() && **a > 0.0))) {
        return Err(Error::data(format!("the alphas of a regularization path must be positive (got {alpha})")));
    }
    let prepared = PreparedData::new(data, options, &ClassWeight::Equal)?;
    let (x, scaling) = scaled(prepared.design()?, prepared.weights(), net.standardize, net.fit_intercept)?;
    let falling = |mut alphas: Vec<f64>| {
        alphas.sort_unstable_by(|a, b| b.total_cmp(a));
        alphas
    };
    let mut solutions = match alphas {
        Some(alphas) if net.l1_ratio <= 0.0 => {
            let ridge = |alpha: f64| ElasticNet { alpha, ..net.clone() }.without_l1(&x, y, prepared.weights(), &Silent);
            falling(alphas.to_vec()).into_iter().map(ridge).collect::<Result<Vec<_>>>()?
        }
        _ => {
            let mut solver = net.problem(&x, y, prepared.weights(), &Silent).solver(alphas.map_or(n, <[f64]>::len));
            let alphas = alphas.map_or_else(|| solver.grid(n, eps), <[f64]>::to_vec);
            solver.path(&falling(alphas))?
        }
    };
    if let Some(scaling) = scaling {
        solutions.iter_mut().for_each(|s| s.intercept += scaling.restore(&mut s.coefficients));
    }
    Ok(solutions)
}

impl Learner for LassoCv {
    fn info(&self) -> &'static LearnerInfo {
        &INFO_LASSO_CV
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let LassoCv { n_alphas, eps, alphas, cv, fit_intercept, standardize, max_iter, tol } = self.clone();
        let l1_ratio = vec![1.0];
        let net = ElasticNetCv { l1_ratio, n_alphas, eps, alphas, cv, fit_intercept, standardize, max_iter, tol };
        net.train(data, context)
    }
}

impl Learner for ElasticNetCv {
    fn info(&self) -> &'static LearnerInfo {
        &INFO_ELASTIC_CV
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let options = DesignOptions { degree: 1, interaction_only: false, references: false };
        let prepared = PreparedData::new(data, options, &ClassWeight::Equal)?;
        let mut best: Option<(f64, ElasticNet, FitHistory)> = None;
        let n_folds;
        {
            let (x, _) = scaled(prepared.design()?, prepared.weights(), self.standardize, self.fit_intercept)?;
            let (y, _) = data.values()?;
            let folds = cross_validate::Folds::draw(data.n_rows(), self.cv, context)?;
            n_folds = folds.n();
            for &l1_ratio in &self.l1_ratio {
                let net = self.net(l1_ratio);
                let problem = net.problem(&x, y, prepared.weights(), context.observer);
                let alphas = self.strengths(&problem);
                let fold_errors = folds.errors(&problem, &alphas, context)?;
                let means = folds.means(&fold_errors, prepared.weights());
                let choices: Vec<(f64, f64)> = alphas.into_iter().zip(means).collect();
                // Of equal errors, the first has the strongest penalty.
                let first_least = |a: (f64, f64), b: &(f64, f64)| if b.1 < a.1 { *b } else { a };
                let (alpha, error) = choices.iter().fold((0.0, f64::INFINITY), first_least);
                if best.as_ref().is_none_or(|(least, _, _)| error < *least) {
                    let (chosen, share) = (Some(alpha), Some(l1_ratio));
                    let course =
                        FitHistory { alpha: chosen, l1_ratio: share, choices, fold_errors, ..FitHistory::default() };
                    best = Some((error, ElasticNet { alpha, ..net }, course));
                }
            }
        }
        let (_, net, course) = best.unwrap_or_else(|| (0.0, self.net(0.5), FitHistory::default()));
        let chosen = format!(
            "chosen by {n_folds}-fold cross-validation: alpha = {}, l1_ratio = {}",
            number(net.alpha),
            net.l1_ratio
        );
        let mut trained = net.finish(data, prepared, course, context)?.ok_or_else(not_finite)?;
        trained.certificate.notes.push(chosen);
        Ok(trained)
    }
}

impl ElasticNetCv {
    /// The penalty strengths to try, in decreasing order.
    fn strengths(&self, problem: &LassoProblem<'_>) -> Vec<f64> {
        if self.alphas.is_empty() {
            return problem.grid(self.n_alphas, self.eps);
        }
        let mut alphas = self.alphas.clone();
        alphas.sort_unstable_by(|a, b| b.total_cmp(a));
        alphas.dedup();
        alphas
    }

    fn net(&self, l1_ratio: f64) -> ElasticNet {
        ElasticNet {
            alpha: 1.0,
            l1_ratio,
            fit_intercept: self.fit_intercept,
            standardize: self.standardize,
            degree: 1,
            interaction_only: false,
            max_iter: self.max_iter,
            tol: self.tol,
        }
    }
}
