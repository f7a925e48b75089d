//! Linear support vector machines for many rows and columns: coefficients instead of kernels and support vectors.
//!
//! **Formula.** `min (|w|^2 + (b / s)^2) / 2 + C sum_i c_i l_i` (penalty "l2") or `min |w|_1 + C sum_i c_i l_i` (penalty "l1", intercept free), where `s` is `intercept_scaling` and the loss
//!
//! | learner | loss | `l_i` |
//! |---|---|---|
//! | linear-svc | "hinge" | `max(0, 1 - y f)` |
//! | linear-svc | "squared_hinge" | `max(0, 1 - y f)^2` |
//! | linear-svr | "epsilon_insensitive" | `max(0, |y - f| - epsilon)` |
//! | linear-svr | "squared_epsilon_insensitive" | `max(0, |y - f| - epsilon)^2` |
//!
//! **Solvers.** Squared losses by Newton's method over the primal ([`optim::newton`](crate::optim::newton)), or by dual coordinate descent
//! ([`optim::dual_coordinate`](crate::optim::dual_coordinate)) if a sparse table is too wide for a Hessian; losses that are not differentiable by dual coordinate descent; "l1" by quadratic models
//! ([`optim::prox_newton`](crate::optim::prox_newton)). More than two classes are learned one-vs-rest.

use crate::learner::linear::fitted::{FitHistory, LinearLink, LinearModel};
use crate::learner::linear::gradient_descent::DESCENT;
use crate::learner::linear::prepare::{ObservedClasses, PreparedData, outputs, scaled};
use crate::learner::linear::report;
use crate::optim::dual_coordinate::{self, DualVariables};
use crate::optim::penalized_intercept::PenalizedIntercept;
use crate::optim::risk::{FULL_HESSIAN, Risk};
use crate::optim::{SolverOutcome, newton, prox_newton};
use ermine_core::error::{Error, Result};
use ermine_core::learner::parameters::ClassWeight;
use ermine_core::learner::{Capabilities, Context, Family, Learner, LearnerInfo, Trained};
use ermine_core::linalg::{Design, Matrix, lanes};
use ermine_core::loss::{EpsilonInsensitive, Hinge, Loss, SquaredEpsilonInsensitive, SquaredHinge};
use ermine_core::matrix::{Dataset, DesignOptions, Task};
use ermine_core::param::{ParamKind, ParamType, Range, Value};
use ermine_core::{choice, params};
use std::borrow::Cow;

choice! {
    /// Loss function of linear support vector classification.
    pub enum HingeName {
        /// Hinge loss `max(0, 1 - y f)`.
        Hinge = "hinge",
        /// Squared hinge loss.
        SquaredHinge = "squared_hinge",
    }
}

choice! {
    /// Loss function of linear support vector regression.
    pub enum TubeName {
        /// `max(0, |y - f| - epsilon)`.
        EpsilonInsensitive = "epsilon_insensitive",
        /// Its square.
        SquaredEpsilonInsensitive = "squared_epsilon_insensitive",
    }
}

choice! {
    /// Penalty on the coefficients.
    pub enum NormName {
        /// Sum of absolute values.
        L1 = "l1",
        /// Half the sum of squares.
        L2 = "l2",
    }
}

/// Whether the primal or the dual problem is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DualMode {
    /// Chosen by loss and data.
    Auto,
    /// The primal problem; for squared losses.
    Primal,
    /// The dual problem, with one variable per row; for the penalty "l2".
    Dual,
}

impl ParamType for DualMode {
    fn kind() -> ParamKind {
        ParamKind::Either(vec![ParamKind::Bool, ParamKind::Choice(vec!["auto"])])
    }
    fn to_value(&self) -> Value {
        match self {
            DualMode::Auto => Value::Text("auto".into()),
            DualMode::Primal => Value::Bool(false),
            DualMode::Dual => Value::Bool(true),
        }
    }
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(word) if word == "auto" => Some(DualMode::Auto),
            Value::Bool(dual) => Some(if *dual { DualMode::Dual } else { DualMode::Primal }),
            _ => None,
        }
    }
}

impl DualMode {
    /// Whether the dual is solved: always for losses that are not differentiable, else if requested or if a sparse table is too wide for a Hessian.
    fn is_dual(self, squared: bool, x: &Design) -> bool {
        !squared || self == DualMode::Dual || (self == DualMode::Auto && is_wide(x))
    }

    /// An error for combinations that can't be solved.
    fn check(self, owner: &str, squared: bool, l1: bool) -> Result<()> {
        let (value, allowed) = match self {
            DualMode::Primal if !squared => ("false", "auto or true for losses that are not squared"),
            DualMode::Dual if l1 => ("true", "auto or false for the penalty l1"),
            _ => return Ok(()),
        };
        let (owner, name, value, allowed) = (owner.into(), "dual".into(), value.into(), allowed.into());
        Err(Error::Param { owner, name, value, allowed })
    }
}

params! {
    /// Linear support vector classification.
    #[allow(non_snake_case)]
    pub struct LinearSvc("linear-svc") {
        /// Penalty on the coefficients: "l2", or "l1" for sparse coefficients (with the loss "squared_hinge").
        /// "l1" selects features.
        penalty: NormName = NormName::L2, tune Each;
        /// Loss function: "hinge" (the textbook SVM) or "squared_hinge" (smooth, usually faster).
        loss: HingeName = HingeName::SquaredHinge, tune Each;
        /// Solve the dual problem (one variable per row) or the primal problem (one per column); "auto" chooses by loss and data.
        /// The solution is the same; only the time differs.
        dual: DualMode = DualMode::Auto;
        /// Inverse of the regularization strength: the cost of a unit of slack.
        /// Higher values fit the training set more closely. Choose it by cross-validation, on a logarithmic scale.
        C: f64 = 1.0, range Range::above_to(0.0, 1e100), tune Log(1e-4, 1e4);
        /// Stopping tolerance: the largest violation of the optimality conditions, relative to the objective for smooth losses.
        /// The certificate states the duality gap that was reached.
        tol: f64 = 1e-4, range Range::above_to(0.0, 1e100);
        /// Fit an intercept.
        /// Set it to false only if predictions must be 0 where all columns are 0.
        fit_intercept: bool = true;
        /// Value of the constant column that carries the intercept; its coefficient is penalized like the others ("l2").
        /// Raise it to penalize the intercept less.
        intercept_scaling: f64 = 1.0, range Range::above_to(0.0, 1e10);
        /// Class weights: none, "balanced", or a list of class=weight.
        /// "balanced" gives all classes the same total weight: use it if rare classes matter as much as frequent ones.
        class_weight: ClassWeight = ClassWeight::Equal;
        /// Maximum number of passes or Newton steps.
        /// Raise it if the certificate reports that the limit was reached.
        max_iter: usize = 1000, range Range::at_least(1.0);
        /// Standardize columns to mean 0 and standard deviation 1 before fitting; coefficients are reported in the original units.
        /// Without it, the penalty depends on the units of the columns. False in Rust and Python, as in scikit-learn; the command line sets it to true for dense columns.
        standardize: bool = false;
    }
}

params! {
    /// Linear support vector regression.
    #[allow(non_snake_case)]
    pub struct LinearSvr("linear-svr") {
        /// Half the width of the epsilon-insensitive tube: smaller errors do not count.
        /// In the units of the target.
        epsilon: f64 = 0.0, range Range::between(0.0, 1e100), tune Log(1e-4, 1.0);
        /// Loss function: "epsilon_insensitive" (robust to outliers) or "squared_epsilon_insensitive" (smooth, usually faster).
        loss: TubeName = TubeName::EpsilonInsensitive, tune Each;
        /// Solve the dual problem (one variable per row) or the primal problem (one per column); "auto" chooses by loss and data.
        /// The solution is the same; only the time differs.
        dual: DualMode = DualMode::Auto;
        /// Inverse of the regularization strength: the cost of a unit of error outside the tube.
        /// Higher values fit the training set more closely. Choose it by cross-validation, on a logarithmic scale.
        C: f64 = 1.0, range Range::above_to(0.0, 1e100), tune Log(1e-4, 1e4);
        /// Stopping tolerance: the largest violation of the optimality conditions, relative to the objective for smooth losses.
        /// The certificate states the duality gap that was reached.
        tol: f64 = 1e-4, range Range::above_to(0.0, 1e100);
        /// Fit an intercept.
        /// Set it to false only if predictions must be 0 where all columns are 0.
        fit_intercept: bool = true;
        /// Value of the constant column that carries the intercept; its coefficient is penalized like the others.
        /// Raise it to penalize the intercept less.
        intercept_scaling: f64 = 1.0, range Range::above_to(0.0, 1e10);
        /// Maximum number of passes or Newton steps.
        /// Raise it if the certificate reports that the limit was reached.
        max_iter: usize = 1000, range Range::at_least(1.0);
        /// Standardize columns to mean 0 and standard deviation 1 before fitting; coefficients are reported in the original units.
        /// Without it, the penalty depends on the units of the columns. False in Rust and Python, as in scikit-learn; the command line sets it to true for dense columns.
        standardize: bool = false;
    }
}

static CLASSES: LearnerInfo = LearnerInfo {
    name: "linear-svc",
    summary: "linear support vector classification for many rows, dense or sparse, with an L1 or L2 penalty",
    capabilities: Capabilities { tasks: &[Task::Classification], multi_output: false, random: true, ..DESCENT },
    family: Family::SupportVector,
};

static NUMBERS: LearnerInfo = LearnerInfo {
    name: "linear-svr",
    summary: "linear support vector regression for many rows, dense or sparse",
    capabilities: Capabilities { tasks: &[Task::Regression], random: true, ..DESCENT },
    family: Family::SupportVector,
};

/// Settings that both learners share.
struct LinearSvmSettings<'c> {
    c: f64,
    tol: f64,
    /// Value of the constant column; 0 for no intercept.
    constant: f64,
    max_iter: usize,
    context: &'c Context<'c>,
}

/// A binary or regression problem.
#[derive(Clone, Copy)]
struct LinearSvmData<'a> {
    x: &'a Design<'a>,
    y: &'a [f64],
    weights: Option<&'a [f64]>,
}

/// Coefficients, intercept and solver outcome.
type LinearSvmSolution = (Vec<f64>, f64, SolverOutcome);

impl Learner for LinearSvc {
    fn info(&self) -> &'static LearnerInfo {
        &CLASSES
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        if (self.penalty, self.loss) == (NormName::L1, HingeName::Hinge) {
            return Err(Error::Param {
                owner: "linear-svc".into(),
                name: "penalty".into(),
                value: "l1".into(),
                allowed: "l2 for the loss hinge, or l1 with the loss squared_hinge".into(),
            });
        }
        let squared = self.loss == HingeName::SquaredHinge;
        self.dual.check("linear-svc", squared, self.penalty == NormName::L1)?;
        let classes = ObservedClasses::of(data)?;
        let targets: Vec<Vec<f64>> = (0..classes.n_problems()).map(|k| classes.signs(k)).collect();
        let shared = LinearSvmSettings {
            c: self.C,
            tol: self.tol,
            constant: if self.fit_intercept { self.intercept_scaling } else { 0.0 },
            max_iter: self.max_iter,
            context,
        };
        let loss = match self.loss {
            HingeName::Hinge => "slacks",
            HingeName::SquaredHinge => "squared slacks",
        };
        let norm = if self.penalty == NormName::L1 { "|w|_1" } else { "|w|^2 / 2" };
        let prepared = prepare(data, &self.class_weight)?;
        let objective = format!("{norm} + {} * sum of {loss}", self.C);
        let solve = |problem: LinearSvmData<'_>| match self.penalty {
            NormName::L1 => shared.few(problem, SquaredHinge),
            NormName::L2 if self.dual.is_dual(squared, problem.x) => shared.dual_classes(problem, squared),
            NormName::L2 => shared.smooth(problem, SquaredHinge),
        };
        let units = (self.standardize, self.fit_intercept);
        finish(data, &prepared, (&targets, classes.used), units, objective, solve)
    }
}

impl Learner for LinearSvr {
    fn info(&self) -> &'static LearnerInfo {
        &NUMBERS
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let shared = LinearSvmSettings {
            c: self.C,
            tol: self.tol,
            constant: if self.fit_intercept { self.intercept_scaling } else { 0.0 },
            max_iter: self.max_iter,
            context,
        };
        let squared = self.loss == TubeName::SquaredEpsilonInsensitive;
        self.dual.check("linear-svr", squared, false)?;
        let power = if squared { "squared " } else { "" };
        let mut objective = format!("|w|^2 / 2 + {} * sum of {power}absolute errors beyond {}", self.C, self.epsilon);
        if data.values()?.1 > 1 {
            objective.push_str(", summed over the targets");
        }
        let epsilon = self.epsilon;
        let solve = |problem: LinearSvmData<'_>| {
            if self.dual.is_dual(squared, problem.x) {
                shared.dual_numbers(problem, squared, epsilon)
            } else {
                shared.smooth(problem, SquaredEpsilonInsensitive { epsilon })
            }
        };
        let targets: Vec<Vec<f64>> = outputs(data)?.into_iter().map(Cow::into_owned).collect();
        let prepared = prepare(data, &ClassWeight::Equal)?;
        let units = (self.standardize, self.fit_intercept);
        finish(data, &prepared, (&targets, Vec::new()), units, objective, solve)
    }
}

fn prepare<'d>(data: &'d Dataset, class_weight: &ClassWeight) -> Result<PreparedData<'d>> {
    PreparedData::new(data, DesignOptions { degree: 1, interaction_only: false, references: false }, class_weight)
}

/// Whether the table is sparse and too wide for a Hessian.
fn is_wide(x: &Design) -> bool {
    matches!(x, Design::Sparse(_)) && x.n_columns() > FULL_HESSIAN / 3
}

/// Solves for each target and builds the model.
fn finish(
    data: &Dataset,
    prepared: &PreparedData<'_>,
    targets: (&[Vec<f64>], Vec<u32>),
    (standardize, intercept): (bool, bool),
    objective: String,
    solve: impl Fn(LinearSvmData<'_>) -> Result<LinearSvmSolution>,
) -> Result<Trained> {
    let (targets, used) = targets;
    let (x, scaling) = scaled(prepared.design()?, prepared.weights(), standardize, intercept)?;
    let (mut coefficients, mut intercepts) = (Matrix::zeros(targets.len(), x.n_columns()), Vec::new());
    let mut outcomes = Vec::new();
    for (k, y) in targets.iter().enumerate() {
        let (w, b, outcome) = solve(LinearSvmData { x: &x, y, weights: prepared.weights() })?;
        coefficients.row_mut(k).copy_from_slice(&w);
        intercepts.push(b);
        outcomes.push(outcome);
    }
    drop(x);
    let certificate = report::certificate(objective, &outcomes);
    let course = FitHistory { n_iter: outcomes.iter().map(|o| o.n_iterations).max(), ..FitHistory::default() };
    let fitted = LinearModel::new(prepared, scaling.as_ref(), coefficients, intercepts, course);
    Ok(Trained { fitted: Box::new(fitted.for_classes(LinearLink::Scores, data, used)?), certificate })
}

impl LinearSvmSettings<'_> {
    fn newton(&self) -> newton::NewtonOptions<'_> {
        newton::NewtonOptions {
            // The estimate scales with the objective, its square root with the coefficients.
            tolerance: (self.tol * self.tol).max(1e-15),
            certified: self.tol,
            max_iterations: self.max_iter,
            sampled_start: true,
            observer: self.context.observer,
        }
    }

    /// The risk that, multiplied by `2 C W`, is the objective of the SVM: both losses here are half of the SVM's.
    fn risk<'a, L: Loss>(&self, problem: LinearSvmData<'a>, loss: L, l2: bool) -> (Risk<'a, L>, f64) {
        let total = problem.weights.map_or(problem.y.len() as f64, |w| w.iter().sum());
        let scale = 2.0 * self.c * total;
        let risk = Risk {
            x: problem.x.clone(),
            y: Cow::Borrowed(problem.y),
            weights: problem.weights.map(Cow::Borrowed),
            loss,
            lambda: if l2 { 1.0 / scale } else { 0.0 },
            intercept: self.constant > 0.0,
        };
        (risk, scale)
    }

    /// A squared loss with the penalty "l2", over the primal.
    fn smooth<L: Loss>(&self, problem: LinearSvmData<'_>, loss: L) -> Result<LinearSvmSolution> {
        let (risk, scale) = self.risk(problem, loss, true);
        let mut w = vec![0.0; newton::SmoothObjective::n_unknowns(&risk)];
        let outcome = if risk.intercept {
            let strength = risk.lambda / (self.constant * self.constant);
            newton::minimize(&PenalizedIntercept { risk, strength }, &mut w, &self.newton())?
        } else {
            newton::minimize(&risk, &mut w, &self.newton())?
        };
        Ok(split(w, problem.x.n_columns(), scaled_outcome(outcome, scale)))
    }

    /// A squared loss with the penalty "l1".
    fn few<L: Loss>(&self, problem: LinearSvmData<'_>, loss: L) -> Result<LinearSvmSolution> {
        let (risk, scale) = self.risk(problem, loss, false);
        let mut w = vec![0.0; newton::SmoothObjective::n_unknowns(&risk)];
        let options = newton::NewtonOptions { tolerance: self.tol * 1e-4, ..self.newton() };
        let outcome = prox_newton::minimize(&risk, 1.0 / scale, &mut w, &options)?;
        Ok(split(w, problem.x.n_columns(), scaled_outcome(outcome, scale)))
    }

    fn options(&self) -> dual_coordinate::DualCoordinateOptions<'_> {
        dual_coordinate::DualCoordinateOptions {
            intercept: self.constant,
            tolerance: self.tol,
            max_passes: self.max_iter,
            seed: self.context.seed,
            observer: self.context.observer,
        }
    }

    /// Bounds and curvatures of the dual, for a loss or its square.
    fn dual(&self, problem: LinearSvmData<'_>, squared: bool) -> (Vec<f64>, Vec<f64>) {
        let c = |i: usize| self.c * problem.weights.map_or(1.0, |w| w[i]);
        let n = problem.y.len();
        let tops = (0..n).map(|i| if squared { f64::INFINITY } else { c(i) }).collect();
        (tops, (0..n).map(|i| if squared { 0.5 / c(i) } else { 0.0 }).collect())
    }

    fn dual_classes(&self, problem: LinearSvmData<'_>, squared: bool) -> Result<LinearSvmSolution> {
        let (tops, diagonal) = self.dual(problem, squared);
        let y = problem.y;
        let rows = DualVariables {
            low: y.iter().zip(&tops).map(|(y, top)| if *y > 0.0 { 0.0 } else { -top }).collect(),
            high: y.iter().zip(&tops).map(|(y, top)| if *y > 0.0 { *top } else { 0.0 }).collect(),
            pull: y.to_vec(),
            diagonal,
            epsilon: 0.0,
        };
        let found = dual_coordinate::minimize(problem.x, &rows, &self.options())?;
        let power = if squared { 2 } else { 1 };
        Ok(self.valued(problem, found, |z, y| Hinge.value(z, y).powi(power)))
    }

    fn dual_numbers(&self, problem: LinearSvmData<'_>, squared: bool, epsilon: f64) -> Result<LinearSvmSolution> {
        let (tops, diagonal) = self.dual(problem, squared);
        let rows = DualVariables {
            low: tops.iter().map(|top| -top).collect(),
            high: tops,
            pull: problem.y.to_vec(),
            diagonal,
            epsilon,
        };
        let found = dual_coordinate::minimize(problem.x, &rows, &self.options())?;
        let power = if squared { 2 } else { 1 };
        Ok(self.valued(problem, found, |z, y| EpsilonInsensitive { epsilon }.value(z, y).powi(power)))
    }

    /// The primal and dual objectives.
    fn valued(
        &self,
        problem: LinearSvmData<'_>,
        found: dual_coordinate::DualCoordinateSolution,
        loss: impl Fn(f64, f64) -> f64,
    ) -> LinearSvmSolution {
        let z = problem.x.times(&found.coefficients, found.intercept);
        let weight = |i: usize| problem.weights.map_or(1.0, |w| w[i]);
        let losses: f64 = (0..z.len()).map(|i| weight(i) * loss(z[i], problem.y[i])).sum();
        let level = if self.constant > 0.0 { found.intercept / self.constant } else { 0.0 };
        let value = (lanes::square_sum(&found.coefficients) + level * level) / 2.0 + self.c * losses;
        (found.coefficients, found.intercept, SolverOutcome { value, ..found.outcome })
    }
}

/// Converts from the units of the risk to those of the SVM.
fn scaled_outcome(outcome: SolverOutcome, scale: f64) -> SolverOutcome {
    SolverOutcome {
        value: outcome.value * scale,
        lower_bound: outcome.lower_bound.map(|b| b * scale),
        residual: outcome.residual * scale,
        ..outcome
    }
}

fn split(mut w: Vec<f64>, p: usize, outcome: SolverOutcome) -> LinearSvmSolution {
    let b = w.get(p).copied().unwrap_or(0.0);
    w.truncate(p);
    (w, b, outcome)
}
