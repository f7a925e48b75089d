//! `auto`: the best model for a table, without choosing a learner.
//!
//! **Idea.** A fixed, ordered portfolio of configurations is cross-validated. Their out-of-fold predictions decide how good each is, which weighted mean of them is best (greedy ensemble
//! selection), and whether that mean is better than the first candidate, which is default boosting. The chosen configurations are then trained on all rows, or the models of the folds are
//! kept and averaged. The score that is reported is that of the whole procedure on rows that it has not seen.
//!
//! | file | contents |
//! |---|---|
//! | this file | the learner, and the run: trying candidates within a budget, choosing, training |
//! | `portfolio` | the candidates |
//! | `selection` | weights of the candidates |
//! | `estimate` | the choice and its honest score |
//! | `fitted` | the fitted ensemble |
//! | `journal` | finished candidates in a file, for runs that are killed |
//!
//! **Budget.** A number of trials gives the same model every time. A budget in seconds stops candidates that take too long, keeps the models of the folds, and uses them where there is no time
//! left for training on all rows.
//!
//! **References.** Caruana and others 2004; Feurer and others, Auto-sklearn 2.0, 2022; Erickson and others, AutoGluon-Tabular, 2020.

mod estimate;
mod fitted;
mod journal;
mod portfolio;
mod selection;

pub use fitted::{AutoEntry, AutoSummary, FittedAuto};

use crate::reduction::committee::{self, Member};
use crate::reduction::out_of_fold::out_of_fold;
use crate::registry;
use ermine_core::chart::text::number;
use ermine_core::error::{Error, Result};
use ermine_core::learner::estimator::Estimator;
use ermine_core::learner::{Capabilities, Context, Family, Learner, LearnerInfo, Trained, fit};
use ermine_core::matrix::{Dataset, Schema, Splits, Target, Task};
use ermine_core::measure::Measure;
use ermine_core::model::{Certificate, Fitted, Model, Proof};
use ermine_core::param::{ParamSpec, Parameters, Range, Value};
use ermine_core::progress::{Control, Event, Observer, PartObserver, Silent, report};
use ermine_core::section::Sections;
use ermine_core::{choice, params};
use estimate::{Combination, EnsembleChoice, choose};
use fitted::{GroupLayout, MemberGroup, output_of};
use journal::{AutoJournal, FinishedCandidate};
use selection::HeldOut;
use std::path::Path;
use std::time::{Duration, Instant};

choice! {
    /// How much work `auto` does.
    pub enum Preset {
        /// Three candidates and one held-out part.
        Fast = "fast",
        /// Eight candidates in five folds.
        Balanced = "balanced",
        /// Twenty candidates in five folds, whose models are all kept and averaged.
        Best = "best",
    }
}

params! {
    /// The best model for a table: candidates from a portfolio, combined by greedy ensemble selection.
    pub struct Auto("auto") {
        /// Amount of work: fast, balanced or best.
        preset: Preset = Preset::Balanced;
        /// Metric to optimize; none for log loss (classification), RMSE (regression), NDCG (ranking) or Hamming loss (multilabel).
        scoring: Option<Measure> = None;
        /// Time limit of training in seconds; none for no limit.
        /// With a limit, the result depends on the speed of the machine.
        time_limit: Option<f64> = None, range Range::more_than(0.0);
        /// Number of candidates to try; none for the number of the preset, or as many as the time limit allows.
        n_candidates: Option<usize> = None, range Range::at_least(1.0);
        /// Number of cross-validation folds; none for 5, or for one held-out part with the preset fast and with many rows.
        cv: Option<usize> = None, range Range::between(2.0, 100.0);
        /// Whether to train the chosen configurations on all rows (true) or to average the models of the folds (false); none for the choice of the preset: all rows, except with best.
        refit: Option<bool> = None;
        /// Whether the rows are in chronological order: candidates are then tested only on rows that are later than their training rows.
        in_time_order: bool = false;
        /// Choose a single decision tree, decision stump or linear model instead of an ensemble.
        interpretable: bool = false;
        /// Maximum size of the ensemble in bytes; none for no limit.
        max_size: Option<usize> = None, range Range::at_least(1.0);
        /// Maximum prediction time per row in seconds, measured in training; none for no limit.
        /// With a limit, the result depends on the speed of the machine.
        max_latency: Option<f64> = None, range Range::more_than(0.0);
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "auto",
    summary: "the best model for a table: candidates from a portfolio, combined by greedy ensemble selection",
    capabilities: Capabilities {
        tasks: &[Task::Classification, Task::Regression, Task::Ranking, Task::Multilabel],
        binary_only: false,
        multi_output: true,
        weights: true,
        missing: true,
        nominal: true,
        sparse: true,
        probabilities: true,
        random: true,
    },
    family: Family::Auto,
};

/// With fewer rows, nothing is cross-validated.
const FEWEST_ROWS: usize = 10;

/// With at least so many rows, one held-out part says enough.
const MANY_ROWS: usize = 100_000;

/// With fewer rows, the preset fast uses folds.
const FEW_ROWS: usize = 1_000;

/// The part of the rows that is held out.
const HELD_OUT_SHARE: f64 = 0.2;

/// Folds over which the choice from a single held-out part is cross-fitted.
const META_FOLDS: usize = 5;

/// The part of the time budget after which no candidate is tried any more, and after which nothing is trained any more.
const TRYING_SHARE: f64 = 0.85;
const TRAINING_SHARE: f64 = 0.97;

/// With a time budget and no number of trials, no more candidates than this.
const MOST_TRIALS: usize = 200;

/// Bytes of a model file beside its members.
const FILE_OVERHEAD: usize = 8_192;

/// How a run is carried out, beside its parameters.
#[derive(Debug, Clone, Copy, Default)]
pub struct AutoOptions<'a> {
    /// A file with the finished candidates, from which a run that was killed continues.
    pub journal: Option<&'a Path>,
    /// If the observer stops the run after at least one candidate, return the best model so far instead of an error.
    pub finish_on_stop: bool,
}

impl Learner for Auto {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        AutoRun::new(self, data, context, AutoOptions::default()).train()
    }
}

/// Trains an `auto` model with a journal, or such that stopping gives the best model so far.
///
/// ```
/// use ermine::auto::{Auto, AutoOptions, FittedAuto, fit_auto};
/// use ermine::prelude::*;
///
/// let rows: Vec<[f64; 1]> = (0..60).map(|i| [f64::from(i)]).collect();
/// let y: Vec<f64> = rows.iter().map(|[x]| 2.0 * x + (x * 0.7).sin()).collect();
/// let data = Dataset::from_rows(&rows, &y)?;
/// let auto = Auto { n_candidates: Some(2), ..Default::default() };
/// let options = AutoOptions { finish_on_stop: true, ..Default::default() };
/// let model = fit_auto(&auto, &data, &ermine::context(), options)?;
/// for entry in &model.fitted::<FittedAuto>().unwrap().summary().leaderboard {
///     println!("{:?} {} {}", entry.score, entry.weight, entry.estimator);
/// }
/// # Ok::<(), Error>(())
/// ```
pub fn fit_auto(auto: &Auto, data: &Dataset, context: &Context<'_>, options: AutoOptions<'_>) -> Result<Model> {
    fit(&WithOptions { auto, options }, data, context)
}

/// `auto` with options for its run.
struct WithOptions<'a> {
    auto: &'a Auto,
    options: AutoOptions<'a>,
}

impl Parameters for WithOptions<'_> {
    fn owner(&self) -> &'static str {
        self.auto.owner()
    }
    fn specs(&self) -> Vec<ParamSpec> {
        self.auto.specs()
    }
    fn get(&self, name: &str) -> Option<Value> {
        self.auto.get(name)
    }
    fn put(&mut self, _name: &str, _value: &Value) -> bool {
        false
    }
    fn fits(&self, name: &str, value: &Value) -> bool {
        self.auto.fits(name, value)
    }
}

impl Learner for WithOptions<'_> {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }
    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        AutoRun::new(self.auto, data, context, self.options).train()
    }
}

/// A candidate with its out-of-fold predictions.
struct Tried {
    estimator: Estimator,
    finished: FinishedCandidate,
    /// Its predictions were divided by this.
    scale: f64,
    /// The score by the measure, lower is better.
    loss: f64,
    /// The models of the folds; none if they were not kept.
    members: Vec<Member>,
}

/// A run under way.
struct AutoRun<'a> {
    auto: &'a Auto,
    data: &'a Dataset,
    context: &'a Context<'a>,
    options: AutoOptions<'a>,
    start: Instant,
    measure: Measure,
}

/// The rows that candidates are tested on.
struct TestedRows {
    splits: Splits,
    /// The tested rows of the data, in their order.
    rows: Vec<u32>,
    data: Dataset,
    /// The fold of each tested row in which the choice is cross-fitted.
    fold: Vec<u32>,
    ordered: bool,
    description: String,
}

/// Stops at a deadline, or when the observer of the run does.
struct Until<'a> {
    observer: &'a dyn Observer,
    deadline: Option<Instant>,
}

impl Observer for Until<'_> {
    fn event(&self, _: &Event<'_>) -> Control {
        let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if late { Control::Stop } else { self.observer.event(&Event::Within) }
    }
}

impl<'a> AutoRun<'a> {
    fn new(auto: &'a Auto, data: &'a Dataset, context: &'a Context<'a>, options: AutoOptions<'a>) -> AutoRun<'a> {
        let usual = match data.task() {
            Task::Classification => Measure::LogLoss,
            Task::Regression => Measure::Rmse,
            Task::Ranking => Measure::Ndcg,
            Task::Multilabel => Measure::HammingLoss,
        };
        let measure = auto.scoring.unwrap_or(usual);
        AutoRun { auto, data, context, options, start: Instant::now(), measure }
    }

    /// The moment when this share of the time budget is over.
    fn at(&self, share: f64) -> Option<Instant> {
        let budget = Duration::try_from_secs_f64(self.auto.time_limit? * share).ok()?;
        self.start.checked_add(budget)
    }

    /// Whether the models of the folds are kept instead of training on all rows.
    fn keeps_folds(&self) -> bool {
        !self.auto.refit.unwrap_or(self.auto.preset != Preset::Best)
    }

    /// Whether the observer of the run says stop.
    fn is_stopped(&self) -> bool {
        self.context.observer.event(&Event::Within) == Control::Stop
    }

    fn train(self) -> Result<Trained> {
        self.measure.check(self.data.task())?;
        report(self.context.observer, Event::Begin { what: "candidates", total: None })?;
        if is_trivial(self.data) {
            return self.without_choice();
        }
        let tested = self.tested_rows()?;
        let (tried, failed) = self.try_candidates(&tested)?;
        let schema = Schema::of(self.data);
        let held_out = HeldOut {
            data: &tested.data,
            output: output_of(self.data.task()),
            schema: &schema,
            measure: self.measure,
            predictions: tried.iter().map(|tried| &tried.finished.values[..]).collect(),
            costs: tried.iter().map(|tried| self.cost(tried, &tested)).collect(),
            single: self.auto.interpretable,
            seed: self.context.seed,
        };
        let guarded = !self.auto.interpretable
            && held_out.costs[0] <= 1.0
            && tried[0].estimator == Estimator::named(registry::DEFAULT);
        if held_out.costs.iter().all(|cost| *cost > 1.0) {
            return Err(self.no_time_error(&tried));
        }
        let choice = choose(&held_out, &tested.fold, tested.ordered, guarded)?;
        let groups = self.train_chosen(&tried, &choice.weights, &tested)?;
        let groups = self.within_size(groups)?;
        let summary = self.summary(&tried, failed, &choice, &groups, &tested);
        report(self.context.observer, Event::End).or_else(|error| self.unless_finishing(error))?;
        trained(groups, choice.inverse_temperature, summary, &schema)
    }

    fn unless_finishing(&self, error: Error) -> Result<()> {
        if self.options.finish_on_stop { Ok(()) } else { Err(error) }
    }

    /// The model of the first candidate that can be trained, where there is nothing to choose by.
    fn without_choice(&self) -> Result<Trained> {
        let names = if has_constant_target(self.data) {
            ["baseline", registry::DEFAULT]
        } else {
            [registry::DEFAULT, "baseline"]
        };
        let mut first_error = None;
        for name in names {
            let estimator = Estimator::named(name);
            let learner = estimator.learner(self.context)?;
            let error = match Member::train(&*learner, self.data, None, self.context.seed, self.context) {
                Ok(member) if member.output() == output_of(self.data.task()) => {
                    report(self.context.observer, Event::End)?;
                    let layout = GroupLayout { estimator: name.into(), weight: 1.0, scale: 1.0, n_models: 1 };
                    let why = if has_constant_target(self.data) {
                        "the target is constant"
                    } else {
                        "there are too few rows"
                    };
                    let summary = AutoSummary {
                        measure: self.measure.title().into(),
                        higher_is_better: self.measure.higher_is_better(),
                        estimate: None,
                        splits: "no cross-validation".into(),
                        choice: format!("{name} alone: {why} for a choice"),
                        leaderboard: vec![AutoEntry { estimator: name.into(), score: None, weight: 1.0, note: None }],
                    };
                    let groups = vec![MemberGroup { layout, members: vec![member] }];
                    return trained(groups, None, summary, &Schema::of(self.data));
                }
                Ok(_) => continue,
                Err(Error::Stopped) => return Err(Error::Stopped),
                Err(error) => error,
            };
            first_error = first_error.or(Some(error));
        }
        Err(first_error.unwrap_or_else(|| Error::data("no learner can be trained on this data")))
    }

    /// The splits, and the rows that they test.
    fn tested_rows(&self) -> Result<TestedRows> {
        let (data, seed) = (self.data, self.context.seed);
        let n = data.n_rows();
        let n_units = data.group().map_or(n, |group| group.iter().max().map_or(0, |&last| last as usize + 1));
        let cv = self.auto.cv.unwrap_or(if self.auto.preset == Preset::Fast { 3 } else { 5 }).min(n_units);
        let is_large = n >= MANY_ROWS || (self.auto.preset == Preset::Fast && n >= FEW_ROWS);
        let (splits, description) = match self.context.folds {
            Some(folds) => (Splits::from_folds(data, folds)?, "given folds".to_string()),
            None if self.auto.in_time_order => {
                let splits = Splits::time_ordered(data, cv)?;
                (splits, format!("{cv} stretches of rows, each after those trained on"))
            }
            None if is_large && self.auto.cv.is_none() => (
                Splits::holdout(data, HELD_OUT_SHARE, seed)?,
                format!("{:.0} % of the rows held out", 100.0 * HELD_OUT_SHARE),
            ),
            None => (Splits::k_fold(data, cv, seed)?, format!("{cv} folds")),
        };
        let mut fold_of_row = vec![None; n];
        for index in 0..splits.len() {
            splits.split(index).1.iter().for_each(|&row| fold_of_row[row as usize] = Some(index as u32));
        }
        let rows: Vec<u32> = (0..n as u32).filter(|&row| fold_of_row[row as usize].is_some()).collect();
        let tested = data.select(&rows)?;
        let fold = match splits.len() {
            1 => meta_folds(&tested, seed)?,
            _ => rows.iter().filter_map(|&row| fold_of_row[row as usize]).collect(),
        };
        let ordered = self.auto.in_time_order && self.context.folds.is_none();
        Ok(TestedRows { splits, rows, data: tested, fold, ordered, description })
    }

    /// Tries candidates until their number or the budget is reached; those that failed come with the reason.
    fn try_candidates(&self, tested: &TestedRows) -> Result<(Vec<Tried>, Vec<AutoEntry>)> {
        let usual =
            if self.auto.time_limit.is_some() { MOST_TRIALS } else { portfolio::usual_trials(self.auto.preset) };
        let most = self.auto.n_candidates.unwrap_or(usual);
        let candidates = portfolio::candidates(self.data, self.auto.interpretable, most, self.context)?;
        let mut journal = match self.options.journal {
            Some(path) => AutoJournal::open(path, self.data, &tested.splits, self.context.seed)?,
            None => AutoJournal::none(),
        };
        let deadline = self.at(TRYING_SHARE);
        let (mut tried, mut failed): (Vec<Tried>, Vec<AutoEntry>) = (Vec::new(), Vec::new());
        let mut first_error = None;
        for (i, estimator) in candidates.iter().enumerate() {
            let now = Instant::now();
            if deadline.is_some_and(|deadline| now >= deadline) && i > 0 {
                break;
            }
            // While others wait, one candidate gets at most half of the time that is left; the first gets all but a quarter of it.
            let share = if i == 0 { 0.75 } else { 0.5 };
            let slot = deadline.map(|deadline| now + deadline.saturating_duration_since(now).mul_f64(share));
            match self.try_candidate(estimator, tested, slot, &mut journal) {
                Ok(candidate) => tried.push(candidate),
                Err(Error::Stopped) if self.is_stopped() => {
                    if self.options.finish_on_stop && !tried.is_empty() {
                        break;
                    }
                    return Err(Error::Stopped);
                }
                Err(error) => {
                    let note = match &error {
                        Error::Stopped => "not finished in its share of the budget".to_string(),
                        error => error.to_string(),
                    };
                    failed.push(AutoEntry {
                        estimator: estimator.to_string(),
                        score: None,
                        weight: 0.0,
                        note: Some(note),
                    });
                    first_error = first_error.or(Some(error));
                    continue;
                }
            }
            let best = tried.iter().map(|tried| tried.loss).fold(f64::INFINITY, f64::min);
            let shown = if self.measure.higher_is_better() { -best } else { best };
            let step = Event::Step { done: i as u64 + 1, score: Some((self.measure.title(), shown)) };
            match report(self.context.observer, step) {
                Err(_) if self.options.finish_on_stop => break,
                outcome => outcome?,
            }
        }
        if tried.is_empty() {
            return Err(match first_error {
                Some(Error::Stopped) => Error::data(format!(
                    "the budget of {} s is too short: no candidate was cross-validated in time; give more time, fewer rows, or the preset fast",
                    self.auto.time_limit.unwrap_or(0.0)
                )),
                Some(error) => error,
                None => Error::data("no candidate can learn from this data"),
            });
        }
        Ok((tried, failed))
    }

    /// Cross-validates a candidate, or finds it in the journal.
    fn try_candidate(
        &self,
        estimator: &Estimator,
        tested: &TestedRows,
        deadline: Option<Instant>,
        journal: &mut AutoJournal,
    ) -> Result<Tried> {
        let start = Instant::now();
        let output = output_of(self.data.task());
        let width = output.width(&Schema::of(self.data));
        if let Some(finished) = journal.find(&estimator.to_string(), tested.rows.len() * width) {
            return self.tried(estimator, finished, Vec::new(), tested);
        }
        let observer = Until { observer: self.context.observer, deadline };
        let context = Context { observer: &observer, ..*self.context };
        let learner = estimator.learner(&context)?;
        let timed = std::sync::Mutex::new(0.0);
        let found = out_of_fold(&*learner, self.data, &tested.splits, &context, &|member, features| {
            if member.output() != output {
                let need = format!("{}, which predicts no probabilities", member.learner());
                return Err(Error::Unsupported { learner: INFO.name.into(), need });
            }
            let begin = Instant::now();
            let numbers = member.predict(features)?;
            *timed.lock().unwrap_or_else(std::sync::PoisonError::into_inner) += begin.elapsed().as_secs_f64();
            Ok(numbers)
        })?;
        let values: Vec<f64> =
            tested.rows.iter().flat_map(|&row| &found.values[row as usize * width..][..width]).copied().collect();
        if let Some(value) = values.iter().find(|value| !value.is_finite()) {
            return Err(Error::data(format!("{}: a prediction is {value}", learner.info().name)));
        }
        let latency = timed.into_inner().unwrap_or(0.0) / tested.rows.len() as f64;
        let size = match self.auto.max_size {
            Some(_) => found.members.iter().map(size_of).collect::<Result<Vec<_>>>()?.into_iter().max().unwrap_or(0),
            None => 0,
        };
        let seconds = start.elapsed().as_secs_f64();
        let finished = FinishedCandidate { estimator: estimator.to_string(), seconds, size, latency, values };
        journal.add(&finished)?;
        let keeps = self.keeps_folds() || self.auto.time_limit.is_some() || self.options.finish_on_stop;
        self.tried(estimator, finished, if keeps { found.members } else { Vec::new() }, tested)
    }

    fn tried(
        &self,
        estimator: &Estimator,
        mut finished: FinishedCandidate,
        members: Vec<Member>,
        tested: &TestedRows,
    ) -> Result<Tried> {
        let scale = if self.data.task() == Task::Ranking { spread(&finished.values) } else { 1.0 };
        finished.values.iter_mut().for_each(|value| *value /= scale);
        let schema = Schema::of(self.data);
        let alone = HeldOut {
            data: &tested.data,
            output: output_of(self.data.task()),
            schema: &schema,
            measure: self.measure,
            predictions: Vec::new(),
            costs: Vec::new(),
            single: true,
            seed: self.context.seed,
        };
        let all: Vec<u32> = (0..tested.rows.len() as u32).collect();
        let loss = alone.loss(&finished.values, &all)?;
        Ok(Tried { estimator: estimator.clone(), finished, scale, loss, members })
    }

    /// The share of the constraints that a candidate takes.
    fn cost(&self, tried: &Tried, tested: &TestedRows) -> f64 {
        let n_models = if self.keeps_folds() { tested.splits.len() as f64 } else { 1.0 };
        let size = self.auto.max_size.map_or(0.0, |most| {
            tried.finished.size as f64 * n_models / most.saturating_sub(FILE_OVERHEAD).max(1) as f64
        });
        let latency = self.auto.max_latency.map_or(0.0, |most| tried.finished.latency * n_models / most);
        size.max(latency)
    }

    fn no_time_error(&self, tried: &[Tried]) -> Error {
        let least = |of: &dyn Fn(&Tried) -> f64| tried.iter().map(of).fold(f64::INFINITY, f64::min);
        let size = least(&|tried| tried.finished.size as f64);
        let latency = least(&|tried| tried.finished.latency);
        let too_small = |name: &str, value: String, allowed: String| Error::Param {
            owner: INFO.name.into(),
            name: name.into(),
            value,
            allowed,
        };
        match (self.auto.max_size, self.auto.max_latency) {
            (Some(most), _) if size > most.saturating_sub(FILE_OVERHEAD) as f64 => too_small(
                "max_size",
                most.to_string(),
                format!("at least {:.0} bytes, the size of the smallest candidate", size + FILE_OVERHEAD as f64),
            ),
            (_, most) => too_small(
                "max_latency",
                most.map_or_else(String::new, |most| most.to_string()),
                format!("at least about {latency:.1e} seconds per row, the time of the fastest candidate"),
            ),
        }
    }

    /// The models of the chosen configurations.
    fn train_chosen(&self, tried: &[Tried], weights: &[f64], tested: &TestedRows) -> Result<Vec<MemberGroup>> {
        let chosen: Vec<usize> = (0..tried.len()).filter(|&c| weights[c] > 0.0).collect();
        let deadline = self.at(TRAINING_SHARE);
        let stopped = self.options.finish_on_stop && self.is_stopped();
        let mut groups = Vec::with_capacity(chosen.len());
        for &c in &chosen {
            let candidate = &tried[c];
            // A fit on all rows takes a part of the time of all folds; how large a part depends on how well folds ran side by side.
            let expected = candidate.finished.seconds * if tested.splits.len() > 1 { 0.6 } else { 1.3 };
            let has_time =
                deadline.is_none_or(|deadline| Instant::now() + Duration::from_secs_f64(expected.max(0.0)) < deadline);
            let use_folds = !candidate.members.is_empty() && (self.keeps_folds() || stopped || !has_time);
            let members = if use_folds {
                candidate.members.clone()
            } else {
                match self.refit(candidate, tested, deadline, stopped) {
                    Err(Error::Stopped) if !candidate.members.is_empty() && !self.must_stop() => {
                        candidate.members.clone()
                    }
                    members => members?,
                }
            };
            let layout = GroupLayout {
                estimator: candidate.estimator.to_string(),
                weight: weights[c],
                scale: candidate.scale,
                n_models: members.len(),
            };
            groups.push(MemberGroup { layout, members });
        }
        Ok(groups)
    }

    /// Whether the observer ends the run without a result.
    fn must_stop(&self) -> bool {
        !self.options.finish_on_stop && self.is_stopped()
    }

    /// Trains a configuration on all rows, or again on the folds.
    fn refit(
        &self,
        candidate: &Tried,
        tested: &TestedRows,
        deadline: Option<Instant>,
        stopped: bool,
    ) -> Result<Vec<Member>> {
        // Without models of the folds there is nothing to fall back on: a model is trained to its end.
        let has_folds = !candidate.members.is_empty();
        let observer: &dyn Observer = if stopped { &Silent } else { self.context.observer };
        let until = Until { observer, deadline: deadline.filter(|_| has_folds) };
        let context = Context { observer: &until, ..*self.context };
        let learner = candidate.estimator.learner(&context)?;
        if self.keeps_folds() {
            // Their predictions are known already.
            let found =
                out_of_fold(&*learner, self.data, &tested.splits, &context, &|_, rows| Ok(vec![0.0; rows.n_rows()]))?;
            return Ok(found.members);
        }
        let parts = PartObserver(&until);
        let context = Context { observer: &parts, ..context };
        Ok(vec![Member::train(&*learner, self.data, None, self.context.seed, &context)?])
    }

    /// Leaves out the members with the least weight until the rest is small enough.
    fn within_size(&self, mut groups: Vec<MemberGroup>) -> Result<Vec<MemberGroup>> {
        let Some(most) = self.auto.max_size else { return Ok(groups) };
        let size = |group: &MemberGroup| group.members.iter().map(size_of).sum::<Result<usize>>();
        loop {
            let total = groups.iter().map(size).sum::<Result<usize>>()? + FILE_OVERHEAD;
            if total <= most {
                break;
            }
            if groups.len() == 1 {
                let (owner, name) = (INFO.name.to_string(), "max_size".to_string());
                let allowed = format!("at least {total} bytes, the size of the smallest model that was found");
                return Err(Error::Param { owner, name, value: most.to_string(), allowed });
            }
            let least = (0..groups.len()).min_by(|&a, &b| groups[a].layout.weight.total_cmp(&groups[b].layout.weight));
            groups.remove(least.unwrap_or(0));
        }
        let total: f64 = groups.iter().map(|group| group.layout.weight).sum();
        groups.iter_mut().for_each(|group| group.layout.weight /= total);
        Ok(groups)
    }

    fn summary(
        &self,
        tried: &[Tried],
        failed: Vec<AutoEntry>,
        choice: &EnsembleChoice,
        groups: &[MemberGroup],
        tested: &TestedRows,
    ) -> AutoSummary {
        let signed = |loss: f64| if self.measure.higher_is_better() { -loss } else { loss };
        let mut order: Vec<usize> = (0..tried.len()).collect();
        order.sort_by(|&a, &b| tried[a].loss.total_cmp(&tried[b].loss).then(a.cmp(&b)));
        let entry = |&c: &usize| {
            let estimator = tried[c].estimator.to_string();
            let group = groups.iter().find(|group| group.layout.estimator == estimator);
            let score = Some(signed(tried[c].loss)).filter(|score| score.is_finite());
            AutoEntry { estimator, score, weight: group.map_or(0.0, |group| group.layout.weight), note: None }
        };
        let leaderboard = order.iter().map(entry).chain(failed).collect();
        let estimate = choice.estimate.map(|score| [score.value, score.low, score.high]);
        AutoSummary {
            measure: self.measure.title().into(),
            higher_is_better: self.measure.higher_is_better(),
            estimate: estimate.filter(|numbers| numbers.iter().all(|x| x.is_finite())),
            splits: tested.description.clone(),
            choice: self.explanation(choice, groups.len(), tried.len()),
            leaderboard,
        }
    }

    /// What was chosen, and why.
    fn explanation(&self, choice: &EnsembleChoice, n_members: usize, n_tried: usize) -> String {
        let score = |wanted: Combination| {
            let found = choice.considered.iter().find(|(combination, _)| *combination == wanted);
            found.map_or_else(String::new, |(_, score)| number(*score))
        };
        let name = self.measure.title();
        let what = match (choice.combination, n_members) {
            (Combination::First, _) => {
                return format!(
                    "default boosting alone: its out-of-fold {name} of {} is not worse than that of the best weighted mean of {n_tried} candidates ({})",
                    score(Combination::First),
                    score(Combination::Mean)
                );
            }
            (_, 1) => "one model".to_string(),
            (_, n) => format!("the weighted mean of {n} configurations"),
        };
        let kind = choice.combination;
        let against = match score(Combination::First) {
            first if first.is_empty() => String::new(),
            first => format!(", default boosting alone {first}"),
        };
        format!("{what} of {n_tried} candidates: cross-fitted {name} {}{against}", score(kind))
    }
}

fn trained(
    groups: Vec<MemberGroup>,
    inverse_temperature: Option<f64>,
    summary: AutoSummary,
    schema: &Schema,
) -> Result<Trained> {
    let statuses: Vec<_> = groups.iter().flat_map(|g| g.members.iter().map(|member| member.status().clone())).collect();
    let mut notes = vec![summary.choice.clone()];
    if let Some([value, low, high]) = summary.estimate {
        notes.push(format!(
            "estimated {} on new rows: {} [{}, {}]",
            summary.measure,
            number(value),
            number(low),
            number(high)
        ));
    }
    let certificate = Certificate {
        objective: "the objective of each member".into(),
        value: None,
        status: committee::combined_status(&statuses),
        proofs: vec![Proof::Nothing { because: "greedy selection proves nothing about its weights".into() }],
        notes,
    };
    let fitted: Box<dyn Fitted> = Box::new(FittedAuto::new(groups, inverse_temperature, summary, schema)?);
    Ok(Trained { fitted, certificate })
}

/// The bytes of a member in a model file.
fn size_of(member: &Member) -> Result<usize> {
    let mut sections = Sections::default();
    member.save(&mut sections)?;
    Ok(sections.to_bytes()?.len())
}

/// Folds of a single held-out part.
fn meta_folds(tested: &Dataset, seed: u64) -> Result<Vec<u32>> {
    let splits = Splits::k_fold(tested, META_FOLDS.min(tested.n_rows()), seed)?;
    let mut fold = vec![0; tested.n_rows()];
    for index in 0..splits.len() {
        splits.split(index).1.iter().for_each(|&row| fold[row as usize] = index as u32);
    }
    Ok(fold)
}

/// The standard deviation of numbers; 1 if they are all the same.
fn spread(values: &[f64]) -> f64 {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    let deviation = (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
    if deviation > 0.0 && deviation.is_finite() { deviation } else { 1.0 }
}

/// Whether there is nothing to choose by.
fn is_trivial(data: &Dataset) -> bool {
    let n_groups = data.group().map_or(usize::MAX, |group| {
        let mut groups = group.to_vec();
        groups.sort_unstable();
        groups.dedup();
        groups.len()
    });
    data.n_rows() < FEWEST_ROWS || n_groups < 2 || has_constant_target(data)
}

/// Whether all rows have the same class or number.
fn has_constant_target(data: &Dataset) -> bool {
    match data.target() {
        Target::Classes { codes, .. } => codes.windows(2).all(|pair| pair[0] == pair[1]),
        Target::Values { values, n_outputs: 1 } => values.windows(2).all(|pair| pair[0] == pair[1]),
        Target::Values { .. } => false,
    }
}
