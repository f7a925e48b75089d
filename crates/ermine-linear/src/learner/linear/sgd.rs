//! Stochastic gradient descent: any loss with any penalty, on single rows or mini-batches; training can continue on a stream.
//!
//! **Formula.** As [`gradient_descent`](super::gradient_descent), with steps on single rows or mini-batches ([`optim::sgd`](crate::optim::sgd)). More than two classes are learned
//! one-vs-rest.
//!
//! **Streams.** [`Stream`](super::sgd_model::Stream) makes one pass over some rows and keeps the state of the descent in the model, so that training can continue with the next rows. The
//! encoding and scaling of the features are learned from the first rows.

use super::fitted::{DEVIATION_1, FitHistory, LinearLink, LinearModel};
use super::gradient_descent::{DESCENT, Problems, margins, problems, zero_one};
use super::losses::{LossName, PenaltyName, assess, with_loss};
use super::prepare::{PreparedData, Scaling, scaled};
use super::report;
use super::sgd_model::{SgdModel, SgdStream};
use crate::optim::sgd::{self, RateSchedule, SgdState};
use crate::penalty::Penalty;
use ermine_core::error::{Error, Result};
use ermine_core::learner::parameters::ClassWeight;
use ermine_core::learner::{Capabilities, Context, Family, IncrementalLearner, Learner, LearnerInfo, Trained};
use ermine_core::linalg::{Design, Matrix};
use ermine_core::loss::Loss;
use ermine_core::matrix::{Dataset, DesignOptions, Task};
use ermine_core::model::{Certificate, Model, Proof, Status};
use ermine_core::parallel;
use ermine_core::param::Range;
use ermine_core::rng::{self, Purpose};
use ermine_core::{choice, params};
use std::borrow::Cow;

choice! {
    /// Learning rate schedule, with `t` the number of steps.
    pub enum ScheduleName {
        /// `1 / (alpha (t0 + t))`.
        Optimal = "optimal",
        /// `eta0`.
        Constant = "constant",
        /// `eta0 / t^power_t`.
        InvScaling = "invscaling",
        /// `eta0`, divided by 5 whenever the loss stops falling.
        Adaptive = "adaptive",
    }
}

params! {
    /// Linear models with any loss and penalty, fitted by stochastic gradient descent.
    pub struct StochasticGradientDescent("sgd") {
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
        /// Learning rate schedule; none for "optimal" (classification) or "invscaling" (regression).
        /// "optimal" is 1 / (alpha (t0 + t)) after t steps; "adaptive" divides `eta0` by 5 whenever the loss stops falling.
        learning_rate: Option<ScheduleName> = None;
        /// Initial learning rate, unless the schedule is "optimal".
        /// Lower it if the weights diverge or the certificate reports a loss above that of zero coefficients.
        eta0: f64 = 0.01, range Range::above_to(0.0, 1e100), tune Log(1e-4, 1.0);
        /// Exponent of the learning rate schedule "invscaling": the rate is eta0 / t^power_t after t steps.
        power_t: f64 = 0.25, range Range::between(0.0, 10.0);
        /// Number of rows in a mini-batch.
        /// Larger batches make each step more accurate, and there are fewer of them per pass.
        batch_size: usize = 1, range Range::at_least(1.0);
        /// Average the coefficients over all steps.
        /// Reduces the noise of the last steps; helps most with a high learning rate.
        average: bool = false;
        /// Maximum number of passes over the training set.
        /// Raise it if the certificate reports that the loss was still falling.
        max_iter: usize = 1000, range Range::at_least(1.0);
        /// Stop when the loss improves by less than this in `n_iter_no_change` passes; none to make all passes.
        tol: Option<f64> = Some(1e-3), range Range::at_least(0.0);
        /// Number of passes without improvement before stopping, or before the learning rate is lowered ("adaptive").
        n_iter_no_change: usize = 5, range Range::at_least(1.0);
        /// Hold out rows for validation, and stop when the validation loss no longer falls.
        /// Guards against overfitting, at the cost of fewer training rows.
        early_stopping: bool = false;
        /// Fraction of the training set that is held out for early stopping.
        validation_fraction: f64 = 0.1, range Range::inside(0.0, 1.0);
        /// Shuffle the rows before every pass.
        /// Turn it off only if the rows are already in random order.
        shuffle: bool = true;
        /// Fit an intercept, which is never penalized.
        /// Set it to false only if predictions must be 0 where all columns are 0.
        fit_intercept: bool = true;
        /// Standardize columns to mean 0 and standard deviation 1 before fitting, so that one learning rate suits all; coefficients are reported in the original units. None: yes, unless columns are sparse or the data come as a stream.
        standardize: Option<bool> = None;
        /// Class weights: none, "balanced", or a list of class=weight.
        /// "balanced" gives all classes the same total weight: use it if rare classes matter as much as frequent ones.
        class_weight: ClassWeight = ClassWeight::Equal;
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "sgd",
    summary: "linear models with any loss and penalty, fitted by stochastic gradient descent; can learn from streams",
    capabilities: Capabilities { random: true, ..DESCENT },
    family: Family::Linear,
};

/// The starting point of a descent: the encoding of the features and the state of each problem.
struct SgdStart {
    scaling: Option<Scaling>,
    states: Vec<SgdState>,
}

impl Learner for StochasticGradientDescent {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let options = DesignOptions { degree: 1, interaction_only: false, references: false };
        let prepared = PreparedData::new(data, options, &self.class_weight)?;
        let (targets, used) = problems(data)?;
        self.learn(data, prepared, (targets, used), None, context)
    }

    fn incremental(&self) -> Option<&dyn IncrementalLearner> {
        Some(self)
    }
}

impl IncrementalLearner for StochasticGradientDescent {
    fn fit_batch(&self, data: &Dataset, previous: Option<&Model>, context: &Context<'_>) -> Result<Model> {
        SgdStream { params: self.clone(), from: previous }.fit(data, context)
    }
}

impl StochasticGradientDescent {
    /// Trains, from scratch or from a state, and builds the model.
    pub(super) fn learn(
        &self,
        data: &Dataset,
        prepared: PreparedData<'_>,
        (targets, used): Problems<'_>,
        from: Option<&SgdModel>,
        context: &Context<'_>,
    ) -> Result<Trained> {
        let raw = prepared.design()?;
        let p = raw.n_columns();
        let (x, scaling) = match from {
            None => {
                let standardize = self.standardize.unwrap_or(matches!(raw, Design::Dense(_)));
                scaled(raw, prepared.weights(), standardize, self.fit_intercept)?
            }
            Some(model) => {
                let scaling = model.scaling();
                (scaling.as_ref().map_or(Ok(raw.clone()), |s| s.apply(&raw))?, scaling)
            }
        };
        let mut start = SgdStart {
            scaling,
            states: from.map_or_else(|| vec![SgdState::new(p); targets.len()], |model| model.states.clone()),
        };
        let loss = LossName::choose(self.loss, data.task(), self.info().name)?;
        let held = self.validation_rows(data.n_rows(), context)?;
        let options = self.options(loss, &held, context);
        let run = |state: &mut SgdState, y: &[f64]| {
            with_loss!(loss, self.epsilon, self.quantile, |l| state.run(l, &x, y, prepared.weights(), &options))
        };
        let pairs = start.states.iter_mut().zip(&targets);
        let ended =
            parallel::consume(pairs, |_, (state, y)| run(state, y)).into_iter().collect::<Result<Vec<bool>>>()?;
        let rows: Vec<Vec<f64>> = start.states.iter().map(|state| self.weights_of(state)).collect();
        if rows.iter().flatten().any(|w| !w.is_finite() || w.abs() > 1e150) {
            return Err(Error::data(
                "the coefficients diverged: try a smaller `eta0`, a penalty or `standardize` = true",
            ));
        }
        let margins = margins(&x, &rows);
        let mut certificate = self.certificate(loss, &x, &targets, prepared.weights(), &rows, &margins);
        if start.scaling.is_some() && self.penalty.is_some() {
            certificate.objective += DEVIATION_1;
        }
        if used.len() > 1 {
            let share = zero_one(&margins, &targets, prepared.weights());
            certificate.notes.push(format!("training error (0-1 loss): {share:.6}"));
        }
        let at_zero = self.at_zero(loss, &targets, prepared.weights());
        if let Some(limit) = self.limit(&ended, certificate.value, at_zero) {
            certificate.status = Status::Limit(limit);
        }
        drop(x);
        let linear = self.linear(&prepared, &rows, &start).for_classes(LinearLink::Scores, data, used)?;
        Ok(Trained { fitted: Box::new(SgdModel::new(linear, start.states, start.scaling)), certificate })
    }

    /// Why training ended before it converged, if it did: `value` is the objective, `at_zero` the objective of zero coefficients.
    fn limit(&self, ended: &[bool], value: Option<f64>, at_zero: f64) -> Option<String> {
        // One batch of a stream is too little to decide.
        let can_tell = self.max_iter > 1 || self.tol.is_some();
        if can_tell && value.is_none_or(|value| value > 1.1 * at_zero) {
            let found = "a loss above that of zero coefficients: the learning rate was too high (try a smaller `eta0` or `standardize` = true)";
            return Some(found.into());
        }
        let all = ended.iter().all(|e| *e);
        (!all).then(|| format!("{} passes before the loss stopped falling", self.max_iter))
    }

    /// The objective with all coefficients zero.
    fn at_zero(&self, loss: LossName, targets: &[Cow<'_, [f64]>], weights: Option<&[f64]>) -> f64 {
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
        let of = |y: &[f64]| {
            let total: f64 = (0..y.len()).map(weight).sum();
            let sum: f64 = with_loss!(loss, self.epsilon, self.quantile, |l| (0..y.len())
                .map(|i| weight(i) * l.value(0.0, y[i]))
                .sum());
            sum / total
        };
        targets.iter().map(|y| of(y)).sum()
    }

    /// Coefficients, then the intercept.
    fn weights_of(&self, state: &SgdState) -> Vec<f64> {
        let (mut w, b) = state.weights(self.average);
        w.push(b);
        w
    }

    fn linear(&self, prepared: &PreparedData<'_>, rows: &[Vec<f64>], start: &SgdStart) -> LinearModel {
        let p = prepared.names.len();
        let coefficients = Matrix::from_fn(rows.len(), p, |k, j| rows[k][j]);
        let intercepts = rows.iter().map(|w| w[p]).collect();
        let n = start.states.iter().map(|s| s.curve.len()).max().unwrap_or(0);
        let at = |s: &SgdState, t: usize| s.curve.get(t).or(s.curve.last()).copied().unwrap_or(0.0);
        let curve = (0..n).map(|t| start.states.iter().map(|s| at(s, t)).sum()).collect();
        let course = FitHistory { n_iter: Some(n), curve, ..FitHistory::default() };
        LinearModel::new(prepared, start.scaling.as_ref(), coefficients, intercepts, course)
    }

    fn penalty(&self) -> Penalty {
        PenaltyName::penalty(self.penalty, self.alpha, self.l1_ratio, self.p)
    }

    fn schedule(&self, loss: LossName) -> RateSchedule {
        let by_task =
            if matches!(loss, LossName::Hinge | LossName::SquaredHinge | LossName::Exponential | LossName::LogLoss) {
                ScheduleName::Optimal
            } else {
                ScheduleName::InvScaling
            };
        match self.learning_rate.unwrap_or(by_task) {
            ScheduleName::Constant => RateSchedule::Constant { rate: self.eta0 },
            ScheduleName::InvScaling => RateSchedule::Inverse { rate: self.eta0, power: self.power_t },
            ScheduleName::Adaptive => RateSchedule::Adaptive { rate: self.eta0 },
            ScheduleName::Optimal => {
                // A typical weight, and the step that a typical mistake should make (Bottou, 2012).
                let alpha = self.alpha.max(1e-12);
                let typical = (1.0 / alpha.sqrt()).sqrt();
                let slope = with_loss!(loss, self.epsilon, self.quantile, |l| l.gradient(-typical, 1.0));
                RateSchedule::Optimal { rate: typical / slope.abs().clamp(1.0, 1e12), strength: alpha }
            }
        }
    }

    fn options<'c>(&self, loss: LossName, held: &'c [u32], context: &Context<'c>) -> sgd::SgdOptions<'c> {
        sgd::SgdOptions {
            schedule: self.schedule(loss),
            penalty: self.penalty(),
            intercept: self.fit_intercept,
            batch: self.batch_size,
            average: self.average,
            shuffle: self.shuffle,
            seed: context.seed,
            max_passes: self.max_iter,
            tolerance: self.tol,
            patience: self.n_iter_no_change,
            held,
            observer: context.observer,
        }
    }

    /// The validation set.
    fn validation_rows(&self, n_rows: usize, context: &Context<'_>) -> Result<Vec<u32>> {
        if !self.early_stopping {
            return Ok(Vec::new());
        }
        let mut rows: Vec<u32> = (0..n_rows as u32).collect();
        rng::shuffle(&mut Purpose::SgdValidation.stream(context.seed, &[]), &mut rows);
        let n = (self.validation_fraction * n_rows as f64).ceil() as usize;
        if n == 0 || n >= n_rows {
            return Err(Error::data(format!(
                "early stopping needs at least two rows, to hold some out for validation (got {n_rows})"
            )));
        }
        rows.truncate(n);
        Ok(rows)
    }

    /// The final objective, with its duality gap if the penalty gives one.
    fn certificate(
        &self,
        loss: LossName,
        x: &Design,
        targets: &[Cow<'_, [f64]>],
        weights: Option<&[f64]>,
        rows: &[Vec<f64>],
        margins: &[Vec<f64>],
    ) -> Certificate {
        let objective =
            format!("mean {loss} loss{}", PenaltyName::description(self.penalty, self.alpha, self.l1_ratio, self.p));
        let p = x.n_columns();
        let parts = targets.iter().zip(rows.iter().zip(margins)).map(|(y, (w, z))| {
            let w = if self.fit_intercept { &w[..] } else { &w[..p] };
            with_loss!(loss, self.epsilon, self.quantile, |l| assess(l, self.penalty(), x, y, weights, w, z))
        });
        let parts: Vec<(f64, Option<f64>)> = parts.collect();
        let value = parts.iter().map(|p| p.0).sum();
        let bound: Option<f64> = parts.iter().map(|p| p.1).sum();
        let mut certificate =
            report::unproven(objective, value, None, "stochastic gradient descent comes with no guarantee");
        if let Some(bound) = bound.and_then(|bound| report::proven(value, bound)) {
            certificate.proofs = vec![Proof::LowerBound(bound)];
        }
        certificate
    }
}

/// The classes of a stream, if it is a classification: all that the target names, whether or not they occur in these rows.
pub(super) fn stream_problems(data: &Dataset) -> Result<Problems<'_>> {
    if data.task() != Task::Classification {
        return problems(data);
    }
    let (codes, labels) = data.classes()?;
    if labels.len() < 2 {
        return Err(Error::data("training on a stream needs the names of all classes, at least two"));
    }
    let classes = super::prepare::ObservedClasses { used: (0..labels.len() as u32).collect(), places: codes.to_vec() };
    let targets = (0..classes.n_problems()).map(|k| Cow::Owned(classes.signs(k))).collect();
    Ok((targets, classes.used))
}
