//! `auto`: the best model for a table, without choosing a learner.
//!
//! **Idea.** A fixed, ordered portfolio of configurations is cross-validated. Their out-of-fold predictions decide how good each is, which weighted mean of them is best (greedy ensemble
//! selection), and whether that mean is better than the first candidate, which is default boosting. The chosen configurations are then trained on all rows, or the models of the folds are
//! kept and averaged. The score that is reported is that of the whole procedure on rows that it has not seen.
//!
//! | file | contents |
//! |---|---|
//! | this file | the learner, and the order of a run |
//! | `portfolio` | the list of candidates |
//! | `candidates` | trying them within the budget |
//! | `selection` | weights of the candidates |
//! | `estimate` | the choice and its honest score |
//! | `members` | training what was chosen, within limits of size and latency |
//! | `fitted` | the fitted ensemble |
//! | `summary` | the leaderboard and the reasons for the choice |
//! | `journal` | finished candidates in a file, for runs that are killed |
//!
//! **Budget.** A number of trials gives the same model every time. A budget in seconds stops candidates that take too long, keeps the models of the folds, and uses them where there is no time
//! left for training on all rows.
//!
//! **References.** Caruana and others 2004; Feurer and others, Auto-sklearn 2.0, 2022; Erickson and others, AutoGluon-Tabular, 2020.

mod candidates;
mod estimate;
mod fitted;
mod journal;
mod members;
mod portfolio;
mod selection;
mod summary;

pub use fitted::{AutoEntry, AutoSummary, FittedAuto};

use crate::reduction::committee::{self, Member};
use ermine_core::chart::text::number;
use ermine_core::error::{Error, Result};
use ermine_core::learner::estimator::Estimator;
use ermine_core::learner::{Capabilities, Context, Family, Learner, LearnerInfo, Trained, fit};
use ermine_core::matrix::{Dataset, Schema, Target, Task};
use ermine_core::measure::Measure;
use ermine_core::model::{Certificate, Fitted, Model, Proof};
use ermine_core::param::{ParamSpec, Parameters, Range, Value};
use ermine_core::progress::{Control, Event, Observer, report};
use ermine_core::{choice, params};
use estimate::choose;
use fitted::{GroupLayout, MemberGroup, output_of};
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

/// A run under way.
struct AutoRun<'a> {
    auto: &'a Auto,
    data: &'a Dataset,
    context: &'a Context<'a>,
    options: AutoOptions<'a>,
    start: Instant,
    measure: Measure,
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
        let trials = self.try_candidates(&tested)?;
        let tried = &trials.tried;
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
            && tried[0].estimator == Estimator::named(portfolio::BOOSTING);
        if held_out.costs.iter().all(|cost| *cost > 1.0) {
            return Err(self.no_candidate_fits(tried));
        }
        let choice = choose(&held_out, &tested.fold, tested.ordered, guarded)?;
        let groups = self.train_chosen(tried, &choice.weights, &tested)?;
        let groups = self.within_size(groups)?;
        let summary = self.summary(trials, &choice, &groups, &tested);
        report(self.context.observer, Event::End).or_else(|error| self.unless_finishing(error))?;
        trained(groups, choice.inverse_temperature, summary, &schema)
    }

    fn unless_finishing(&self, error: Error) -> Result<()> {
        if self.options.finish_on_stop { Ok(()) } else { Err(error) }
    }

    /// The model of the first candidate that can be trained, where there is nothing to choose by.
    fn without_choice(&self) -> Result<Trained> {
        let names = if has_constant_target(self.data) {
            ["baseline", portfolio::BOOSTING]
        } else {
            [portfolio::BOOSTING, "baseline"]
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
