//! Stochastic gradient descent: any loss with any penalty, one row or a few at a time; goes on learning from a stream.
//!
//! **Formula.** As [`gradient_descent`](super::gradient_descent), with steps on single rows or small batches ([`optim::sgd`](crate::optim::sgd)). More than two classes: one function for
//! each class against the others.
//!
//! **Streams.** [`Stream`](super::sgd_model::Stream) takes one pass over some rows and keeps the state of the descent in the model, so that the next rows continue where it stood. How
//! features become numbers, and their scale, is learned from the first rows.

use super::fitted::{Course, Linear, Link};
use super::gradient_descent::{DESCENT, DEVIATION_1, Problems, margins, problems, zero_one};
use super::losses::{LossName, PenaltyName, assess, with_loss};
use super::prepare::{Prepared, Scaling, scaled};
use super::sgd_model::SgdModel;
use super::{report, ridge};
use crate::optim::sgd::{self, Schedule, Sgd};
use crate::penalty::Penalty;
use ermine_core::error::{Error, Result};
use ermine_core::learner::parameters::ClassWeight;
use ermine_core::learner::{Capabilities, Context, Family, Info, Learner, Trained};
use ermine_core::linalg::{Design, Matrix};
use ermine_core::loss::Loss;
use ermine_core::matrix::{Dataset, DesignOptions, Task};
use ermine_core::model::{Certificate, Proof, Status};
use ermine_core::parallel;
use ermine_core::param::Range;
use ermine_core::rng::{self, Purpose};
use ermine_core::{choice, params};
use std::borrow::Cow;

choice! {
    /// How the rate changes with the number of steps `t`.
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
    /// Any loss with any penalty, by steps on single rows or small batches.
    pub struct StochasticGradientDescent("sgd") {
        /// What is minimised; none for "hinge" (classes) or "squared_error" (numbers).
        loss: Option<LossName> = None, tune Each;
        /// What coefficients cost; none for nothing.
        penalty: Option<PenaltyName> = Some(PenaltyName::L2);
        /// The strength of the penalty.
        alpha: f64 = 0.0001, range Range::between(0.0, 1e100), tune Log(1e-6, 10.0);
        /// The share of L1 in the penalty "elasticnet".
        l1_ratio: f64 = 0.15, range Range::between(0.0, 1.0);
        /// The power of the penalty "lp".
        p: f64 = 1.5, range Range::between(1.0, 100.0);
        /// Where the loss "huber" becomes absolute; what "epsilon_insensitive" leaves unpunished.
        epsilon: f64 = 0.1, range Range::above_to(0.0, 1e100);
        /// Which quantile the loss "quantile" is for.
        quantile: f64 = 0.5, range Range::inside(0.0, 1.0);
        /// How the rate changes; none for "optimal" (classes) or "invscaling" (numbers).
        learning_rate: Option<ScheduleName> = None;
        /// The rate of the first step, unless it is "optimal".
        eta0: f64 = 0.01, range Range::above_to(0.0, 1e100), tune Log(1e-4, 1.0);
        /// How fast the rate "invscaling" falls.
        power_t: f64 = 0.25, range Range::between(0.0, 10.0);
        /// Rows in a step.
        batch_size: usize = 1, range Range::at_least(1.0);
        /// Whether the answer is the average over all steps.
        average: bool = false;
        /// Most passes over the rows.
        max_iter: usize = 1000, range Range::at_least(1.0);
        /// Stop when the loss falls by less than this in `n_iter_no_change` passes; none for never.
        tol: Option<f64> = Some(1e-3), range Range::at_least(0.0);
        /// Passes without progress before stopping, or lowering the rate.
        n_iter_no_change: usize = 5, range Range::at_least(1.0);
        /// Keep rows aside, and stop when their loss no longer falls.
        early_stopping: bool = false;
        /// The share of rows kept aside for early stopping.
        validation_fraction: f64 = 0.1, range Range::inside(0.0, 1.0);
        /// Another order of the rows in every pass.
        shuffle: bool = true;
        /// Whether there is an intercept (which is never penalised).
        fit_intercept: bool = true;
        /// Bring columns to mean 0 and deviation 1 first, so that one rate fits all; coefficients are reported in the user's units all the same. None for yes, unless columns are sparse or come in a stream.
        standardize: Option<bool> = None;
        /// How much rows of each class count: none, "balanced", or a list of class=weight.
        class_weight: ClassWeight = ClassWeight::Equal;
    }
}

static INFO: Info = Info {
    name: "sgd",
    summary: "any loss with any penalty by stochastic gradient descent; learns from streams",
    capabilities: Capabilities { random: true, ..DESCENT },
    family: Family::Linear,
};

/// What a descent starts from: how features became numbers, and the state of each problem.
struct Start {
    scaling: Option<Scaling>,
    states: Vec<Sgd>,
}

impl Learner for StochasticGradientDescent {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let options = DesignOptions { degree: 1, interaction_only: false, references: false };
        let prepared = Prepared::new(data, options, &self.class_weight)?;
        let (targets, used) = problems(data)?;
        self.learn(data, prepared, (targets, used), None, context)
    }
}

impl StochasticGradientDescent {
    /// Learns, from the start or from a state, and makes the model.
    pub(super) fn learn(
        &self,
        data: &Dataset,
        prepared: Prepared<'_>,
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
        let mut start = Start {
            scaling,
            states: from.map_or_else(|| vec![Sgd::new(p); targets.len()], |model| model.states.clone()),
        };
        let loss = LossName::choose(self.loss, data.task(), self.info().name)?;
        let held = self.kept_aside(data.n_rows(), context)?;
        let options = self.options(loss, &held, context);
        let run = |state: &mut Sgd, y: &[f64]| {
            with_loss!(loss, self.epsilon, self.quantile, |l| state.run(l, &x, y, prepared.weights(), &options))
        };
        let pairs = start.states.iter_mut().zip(&targets);
        let ended =
            parallel::consume(pairs, |_, (state, y)| run(state, y)).into_iter().collect::<Result<Vec<bool>>>()?;
        let rows: Vec<Vec<f64>> = start.states.iter().map(|state| self.weights_of(state)).collect();
        if rows.iter().flatten().any(|w| !w.is_finite() || w.abs() > 1e150) {
            return Err(Error::data(
                "the weights grew beyond all bounds: a smaller eta0, a penalty or standardize = true keeps them finite",
            ));
        }
        let margins = margins(&x, &rows);
        let mut certificate = self.certificate(loss, &x, &targets, prepared.weights(), &rows, &margins);
        if start.scaling.is_some() && self.penalty.is_some() {
            certificate.objective += DEVIATION_1;
        }
        if used.len() > 1 {
            let share = zero_one(&margins, &targets, prepared.weights());
            certificate.notes.push(format!("0-1 loss on the training rows: {share:.6}"));
        }
        let at_zero = self.at_zero(loss, &targets, prepared.weights());
        if let Some(limit) = self.limit(&ended, certificate.value, at_zero) {
            certificate.status = Status::Limit(limit);
        }
        drop(x);
        let linear = self.linear(data, prepared, used, rows, &start);
        Ok(Trained { fitted: Box::new(SgdModel::new(linear, start.states, start.scaling)), certificate })
    }

    /// What stopped it before its end, if anything did: `value` is the objective reached, `at_zero` that of coefficients of zero.
    fn limit(&self, ended: &[bool], value: Option<f64>, at_zero: f64) -> Option<String> {
        // A piece of a stream is too little to tell.
        let can_tell = self.max_iter > 1 || self.tol.is_some();
        if can_tell && value.is_none_or(|value| value > 1.1 * at_zero) {
            let found = "a loss above that of coefficients of zero: steps were too long (a smaller eta0 or standardize = true helps)";
            return Some(found.into());
        }
        let all = ended.iter().all(|e| *e);
        (!all).then(|| format!("{} passes, before the loss stopped falling", self.max_iter))
    }

    /// The objective of coefficients that are all zero.
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
    fn weights_of(&self, state: &Sgd) -> Vec<f64> {
        let (mut w, b) = state.weights(self.average);
        w.push(b);
        w
    }

    fn linear(
        &self,
        data: &Dataset,
        prepared: Prepared<'_>,
        used: Vec<u32>,
        rows: Vec<Vec<f64>>,
        start: &Start,
    ) -> Linear {
        let p = prepared.names.len();
        let mut coefficients = Matrix::from_fn(rows.len(), p, |k, j| rows[k][j]);
        let mut intercepts: Vec<f64> = rows.iter().map(|w| w[p]).collect();
        if let Some(scaling) = &start.scaling {
            ridge::restore(scaling, &mut coefficients, &mut intercepts);
        }
        let n = start.states.iter().map(|s| s.curve.len()).max().unwrap_or(0);
        let at = |s: &Sgd, t: usize| s.curve.get(t).or(s.curve.last()).copied().unwrap_or(0.0);
        let curve = (0..n).map(|t| start.states.iter().map(|s| at(s, t)).sum()).collect();
        Linear {
            link: if used.is_empty() { Link::Identity } else { Link::Scores },
            map: prepared.map,
            names: prepared.names,
            n_classes: data.classes().map_or(0, |(_, labels)| labels.len()),
            used,
            coefficients,
            intercepts,
            inference: Vec::new(),
            course: Course { n_iter: Some(n), curve, ..Course::default() },
        }
    }

    fn penalty(&self) -> Penalty {
        PenaltyName::penalty(self.penalty, self.alpha, self.l1_ratio, self.p)
    }

    fn schedule(&self, loss: LossName) -> Schedule {
        let by_task =
            if matches!(loss, LossName::Hinge | LossName::SquaredHinge | LossName::Exponential | LossName::LogLoss) {
                ScheduleName::Optimal
            } else {
                ScheduleName::InvScaling
            };
        match self.learning_rate.unwrap_or(by_task) {
            ScheduleName::Constant => Schedule::Constant { rate: self.eta0 },
            ScheduleName::InvScaling => Schedule::Inverse { rate: self.eta0, power: self.power_t },
            ScheduleName::Adaptive => Schedule::Adaptive { rate: self.eta0 },
            ScheduleName::Optimal => {
                // A typical weight, and the step that a typical mistake should make (Bottou, 2012).
                let alpha = self.alpha.max(1e-12);
                let typical = (1.0 / alpha.sqrt()).sqrt();
                let slope = with_loss!(loss, self.epsilon, self.quantile, |l| l.gradient(-typical, 1.0));
                Schedule::Optimal { rate: typical / slope.abs().clamp(1.0, 1e12), strength: alpha }
            }
        }
    }

    fn options<'c>(&self, loss: LossName, held: &'c [u32], context: &Context<'c>) -> sgd::Options<'c> {
        sgd::Options {
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

    /// The rows that decide when to stop.
    fn kept_aside(&self, n_rows: usize, context: &Context<'_>) -> Result<Vec<u32>> {
        if !self.early_stopping {
            return Ok(Vec::new());
        }
        let mut rows: Vec<u32> = (0..n_rows as u32).collect();
        rng::shuffle(&mut Purpose::SgdValidation.stream(context.seed, &[]), &mut rows);
        let n = (self.validation_fraction * n_rows as f64).ceil() as usize;
        if n == 0 || n >= n_rows {
            return Err(Error::data(format!("{n_rows} rows are too few to keep some for validation")));
        }
        rows.truncate(n);
        Ok(rows)
    }

    /// The objective at the end, with its duality gap where the penalty gives one.
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
            format!("mean {loss} loss{}", PenaltyName::words(self.penalty, self.alpha, self.l1_ratio, self.p));
        let p = x.n_columns();
        let parts = targets.iter().zip(rows.iter().zip(margins)).map(|(y, (w, z))| {
            let w = if self.fit_intercept { &w[..] } else { &w[..p] };
            with_loss!(loss, self.epsilon, self.quantile, |l| assess(l, self.penalty(), x, y, weights, w, z))
        });
        let parts: Vec<(f64, Option<f64>)> = parts.collect();
        let value = parts.iter().map(|p| p.0).sum();
        let bound: Option<f64> = parts.iter().map(|p| p.1).sum();
        let mut certificate = report::unproven(objective, value, None, "steps on single rows come with no guarantee");
        if let Some(bound) = bound.filter(|b| b.is_finite()) {
            certificate.proofs = vec![Proof::LowerBound(bound)];
        }
        certificate
    }
}

/// Whether the problems of a stream are over classes, and which: all that the target names, whether or not they occur in these rows.
pub(super) fn stream_problems(data: &Dataset) -> Result<Problems<'_>> {
    if data.task() != Task::Classification {
        return problems(data);
    }
    let (codes, labels) = data.classes()?;
    if labels.len() < 2 {
        return Err(Error::data("a stream of classes needs the names of all classes, two at least"));
    }
    let classes = super::prepare::Classes { used: (0..labels.len() as u32).collect(), places: codes.to_vec() };
    let targets = (0..classes.n_problems()).map(|k| Cow::Owned(classes.signs(k))).collect();
    Ok((targets, classes.used))
}
