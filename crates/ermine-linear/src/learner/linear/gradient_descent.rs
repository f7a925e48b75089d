//! Gradient descent over all rows: any loss with any penalty, with the loss curve.
//!
//! **Formula.** `min sum_i w_i l(x_i'beta + b, y_i) / W + penalty(beta)` by proximal steps ([`optim::descent`](crate::optim::descent)). Columns are standardized
//! by default: descent is slow, or diverges, if their scales differ. The penalty is on the coefficients of the standardized columns.
//!
//! More than two classes are learned one-vs-rest. The 0-1 loss has no useful gradient; its value on the training set is reported.

use super::fitted::{DEVIATION_1, FitHistory, LinearLink, LinearModel};
use super::losses::{LossName, PenaltyName, assess, with_loss};
use super::prepare::{ObservedClasses, PreparedData, outputs, scaled};
use super::report;
use crate::optim::descent::{self, Descent, StepRate};
use crate::optim::risk::Risk;
use ermine_core::error::{Error, Result};
use ermine_core::learner::parameters::ClassWeight;
use ermine_core::learner::{Capabilities, Context, Family, Learner, LearnerInfo, Trained};
use ermine_core::linalg::{Design, Matrix};
use ermine_core::loss::Loss;
use ermine_core::matrix::{Dataset, DesignOptions, Task};
use ermine_core::param::Range;
use ermine_core::{choice, params};
use std::borrow::Cow;

choice! {
    /// Learning rate schedule.
    pub enum LearningRateName {
        /// Line search in every step, with momentum; for differentiable losses.
        LineSearch = "line_search",
        /// Always `eta0`.
        Constant = "constant",
        /// `eta0 / t^power_t`.
        InvScaling = "invscaling",
        /// `eta0`, divided by 5 whenever the objective stops falling.
        Adaptive = "adaptive",
    }
}

params! {
    /// Linear models with any loss and penalty, fitted by gradient descent over all rows.
    pub struct GradientDescent("gradient-descent") {
        /// Loss function; none for "hinge" (classification) or "squared_error" (regression).
        /// Classification: "hinge" is a linear support vector machine, "log_loss" logistic regression (with probabilities). Regression: "huber" and "absolute_error" are robust to outliers, "quantile" predicts a quantile.
        loss: Option<LossName> = None, tune Each;
        /// Penalty on the coefficients; none for no penalty.
        /// "l1" and "elasticnet" set coefficients to zero; "lp" is the sum of absolute coefficients to the power `p`.
        penalty: Option<PenaltyName> = Some(PenaltyName::L2);
        /// Strength of the penalty; higher values give smaller coefficients.
        /// 0 is no penalty. Choose it by cross-validation, on a logarithmic scale.
        alpha: f64 = 0.0001, range Range::between(0.0, 1e100), tune Log(1e-6, 10.0);
        /// Elastic-net mixing parameter: the share of L1 in the penalty "elasticnet", from 0 (L2) to 1 (L1).
        l1_ratio: f64 = 0.15, range Range::between(0.0, 1.0);
        /// Exponent of the penalty "lp": 1 is L1, 2 is L2.
        p: f64 = 1.5, range Range::between(1.0, 100.0);
        /// Threshold of the loss "huber", beyond which errors count linearly; half the width of the tube of "epsilon_insensitive", within which errors do not count.
        /// In the units of the target.
        epsilon: f64 = 0.1, range Range::above_to(0.0, 1e100);
        /// Quantile that the loss "quantile" predicts; 0.5 is the median.
        quantile: f64 = 0.5, range Range::inside(0.0, 1.0);
        /// Learning rate schedule; none for "line_search", or "invscaling" if the loss is not differentiable.
        /// "line_search" needs no tuning; "constant", "invscaling" and "adaptive" start at `eta0`.
        learning_rate: Option<LearningRateName> = None;
        /// Initial learning rate, unless it is found by line search.
        /// Lower it if the loss curve rises or oscillates.
        eta0: f64 = 1.0, range Range::above_to(0.0, 1e100), tune Log(1e-3, 10.0);
        /// Exponent of the learning rate schedule "invscaling": the rate is eta0 / t^power_t after t steps.
        power_t: f64 = 0.5, range Range::between(0.0, 10.0);
        /// Maximum number of iterations.
        /// Raise it if the certificate reports that the limit was reached.
        max_iter: usize = 1000, range Range::at_least(1.0);
        /// Stopping tolerance: the largest violation of an optimality condition.
        /// Raise it to stop earlier.
        tol: f64 = 1e-6, range Range::at_least(0.0);
        /// Fit an intercept, which is never penalized.
        /// Set it to false only if predictions must be 0 where all columns are 0.
        fit_intercept: bool = true;
        /// Standardize columns to mean 0 and standard deviation 1 before fitting; coefficients are reported in the original units.
        /// Without it, descent is slow or diverges if the scales of the columns differ.
        standardize: bool = true;
        /// Class weights: none, "balanced", or a list of class=weight.
        /// "balanced" gives all classes the same total weight: use it if rare classes matter as much as frequent ones.
        class_weight: ClassWeight = ClassWeight::Equal;
        /// Maximum degree of polynomial terms; 1 for the columns themselves.
        /// 2 adds squares and products of two columns, for targets that are not linear in the columns; the number of terms grows quickly with the degree.
        degree: usize = 1, range Range::between(1.0, 50.0);
        /// Add only products of different columns, no powers; for `degree` above 1.
        interaction_only: bool = false;
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "gradient-descent",
    summary: "linear models with any loss and penalty, fitted by gradient descent, with the loss curve",
    capabilities: DESCENT,
    family: Family::Linear,
};

/// Capabilities of the descent methods.
pub const DESCENT: Capabilities = Capabilities {
    tasks: &[Task::Classification, Task::Regression],
    binary_only: false,
    multi_output: true,
    weights: true,
    missing: true,
    nominal: true,
    sparse: true,
    probabilities: false,
    random: false,
};

impl Learner for GradientDescent {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let loss = LossName::choose(self.loss, data.task(), self.info().name)?;
        let rate = self.rate(loss)?;
        let options = DesignOptions { degree: self.degree, interaction_only: self.interaction_only, references: false };
        let prepared = PreparedData::new(data, options, &self.class_weight)?;
        let (x, scaling) = scaled(prepared.design()?, prepared.weights(), self.standardize, self.fit_intercept)?;
        let (targets, used) = problems(data)?;
        let (mut runs, mut rows) = (Vec::new(), Vec::new());
        for y in &targets {
            let (run, w) = with_loss!(loss, self.epsilon, self.quantile, |l| self.descend(
                l,
                rate,
                &x,
                y,
                prepared.weights(),
                context
            )?);
            runs.push(run);
            rows.push(w);
        }
        let p = x.n_columns();
        let wrong = used.len().ge(&2).then(|| zero_one(&margins(&x, &rows), &targets, prepared.weights()));
        drop(x);
        let outcomes: Vec<_> = runs.iter().map(|run| run.outcome.clone()).collect();
        let penalty = PenaltyName::description(self.penalty, self.alpha, self.l1_ratio, self.p);
        let mut certificate = report::certificate(format!("mean {loss} loss{penalty}"), &outcomes);
        if scaling.is_some() && self.penalty.is_some() {
            certificate.objective += DEVIATION_1;
        }
        certificate.notes.extend(wrong.map(|share| format!("training error (0-1 loss): {share:.6}")));
        let coefficients = Matrix::from_fn(rows.len(), p, |k, j| rows[k][j]);
        let intercepts = rows.iter().map(|w| w.get(p).copied().unwrap_or(0.0)).collect();
        let course = FitHistory {
            n_iter: outcomes.iter().map(|o| o.n_iterations).max(),
            curve: sum_curves(&runs),
            ..FitHistory::default()
        };
        let fitted = LinearModel::new(&prepared, scaling.as_ref(), coefficients, intercepts, course);
        let fitted = fitted.for_classes(LinearLink::Scores, data, used)?;
        Ok(Trained { fitted: Box::new(fitted), certificate })
    }
}

/// The target of each problem, and the classes that the problems are for.
pub type Problems<'d> = (Vec<Cow<'d, [f64]>>, Vec<u32>);

/// The target of each problem, and the classes that the problems are for.
pub fn problems(data: &Dataset) -> Result<Problems<'_>> {
    if data.task() != Task::Classification {
        return Ok((outputs(data)?, Vec::new()));
    }
    let classes = ObservedClasses::of(data)?;
    Ok(((0..classes.n_problems()).map(|k| Cow::Owned(classes.signs(k))).collect(), classes.used))
}

/// The margins of all rows for each solution (coefficients, then the intercept if there is one).
pub fn margins(x: &Design, points: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let p = x.n_columns();
    points.iter().map(|w| x.times(&w[..p], w.get(p).copied().unwrap_or(0.0))).collect()
}

/// The training error: the class with the highest margin is predicted, or the sign of a single margin decides.
pub fn zero_one(margins: &[Vec<f64>], targets: &[Cow<'_, [f64]>], weights: Option<&[f64]>) -> f64 {
    let wrong = |i: usize| match margins {
        // As in prediction, a margin of 0 means the first class.
        [z] => f64::from((z[i] > 0.0) != (targets[0][i] > 0.0)),
        _ => {
            let best = (1..margins.len()).fold(0, |b, k| if margins[k][i] > margins[b][i] { k } else { b });
            if targets[best][i] > 0.0 { 0.0 } else { 1.0 }
        }
    };
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let n = targets.first().map_or(0, |y| y.len());
    let total: f64 = (0..n).map(weight).sum();
    (0..n).map(|i| weight(i) * wrong(i)).sum::<f64>() / total
}

/// The sum of the objectives of all problems after each step; a problem that has ended keeps its last value.
fn sum_curves(runs: &[Descent]) -> Vec<f64> {
    let n = runs.iter().map(|r| r.curve.len()).max().unwrap_or(0);
    let at = |run: &Descent, t: usize| run.curve.get(t).or(run.curve.last()).copied().unwrap_or(0.0);
    (0..n).map(|t| runs.iter().map(|run| at(run, t)).sum()).collect()
}

impl GradientDescent {
    fn rate(&self, loss: LossName) -> Result<StepRate> {
        let default = if loss.is_smooth() { LearningRateName::LineSearch } else { LearningRateName::InvScaling };
        match self.learning_rate.unwrap_or(default) {
            LearningRateName::LineSearch if !loss.is_smooth() => Err(Error::Param {
                owner: self.info().name.into(),
                name: "learning_rate".into(),
                value: "line_search".into(),
                allowed: format!("constant | invscaling | adaptive for the loss {loss}, which is not differentiable"),
            }),
            LearningRateName::LineSearch => Ok(StepRate::Search),
            LearningRateName::Constant => Ok(StepRate::Constant(self.eta0)),
            LearningRateName::InvScaling => Ok(StepRate::Inverse { rate: self.eta0, power: self.power_t }),
            LearningRateName::Adaptive => Ok(StepRate::Adaptive(self.eta0)),
        }
    }

    fn descend<L: Loss>(
        &self,
        loss: L,
        rate: StepRate,
        x: &Design,
        y: &[f64],
        weights: Option<&[f64]>,
        context: &Context<'_>,
    ) -> Result<(Descent, Vec<f64>)> {
        let intercept = self.fit_intercept;
        let (y, weights) = (Cow::Borrowed(y), weights.map(Cow::Borrowed));
        let risk = Risk { x: x.clone(), y, weights, loss, lambda: 0.0, intercept };
        let mut w = vec![0.0; x.n_columns() + usize::from(intercept)];
        let options = descent::DescentOptions {
            rate,
            penalty: PenaltyName::penalty(self.penalty, self.alpha, self.l1_ratio, self.p),
            n_penalized: x.n_columns(),
            tolerance: self.tol,
            max_iterations: self.max_iter,
            observer: context.observer,
        };
        let mut run = descent::minimize(&risk, &mut w, &options)?;
        let Risk { y, weights, .. } = &risk;
        let margins = x.times(&w[..x.n_columns()], w.get(x.n_columns()).copied().unwrap_or(0.0));
        run.outcome.lower_bound = assess(loss, options.penalty, x, y, weights.as_deref(), &w, &margins).1;
        Ok((run, w))
    }
}
