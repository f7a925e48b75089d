//! Comparison of learners: every learner is cross-validated with its defaults, then the best are tuned, within a time budget.
//!
//! | file | what it holds |
//! |---|---|
//! | this file | [`Comparison`], the inputs; [`Leaderboard`], the result |
//! | [`budget`] | expected times and time slots |
//! | `tuning` | tuning of the best learners |
//! | `verdict` | significance of differences |
//!
//! **Budget.** With a deadline every learner is first tried on few rows. This predicts its time on all rows: the baseline and the preferred learner go first,
//! then cheap learners, then the promising among the others, then those that are not expected to finish. While others wait, a learner gets at most half of the time that is left, and no
//! more than three times its estimate or its equal share, whichever is longer. Learners that would take far longer than what is left are not started. A part of the time is kept for tuning.

pub mod budget;
mod tuning;
pub mod verdict;

use crate::evaluate::cross_validation::{FoldScore, Validation, cross_validate};
use crate::evaluate::space::Setting;
use crate::evaluate::{Measure, Splits};
use budget::{Clock, CostEstimate, DeadlineObserver};
use ermine_core::chart::text::number;
use ermine_core::error::{Error, Result};
use ermine_core::learner::fit::{can_learn, check};
use ermine_core::learner::raw_columns::{STANDARDIZE, standardize_by_default};
use ermine_core::learner::{Context, Family, Learner};
use ermine_core::matrix::Dataset;
use ermine_core::param::Value;
use ermine_core::progress::{Control, Event};
use serde::Serialize;
use std::cmp::Ordering;
use std::fmt;
use std::time::{Duration, Instant};

/// The learner that all others must beat.
pub const BASELINE: &str = "baseline";

/// The inputs of a comparison.
pub struct Comparison<'a> {
    /// The learners; [`suitable`] returns all that are suitable for a data set.
    pub learners: Vec<Box<dyn Learner>>,
    /// Train/test splits.
    pub splits: &'a Splits,
    /// Metrics; the first decides.
    pub measures: &'a [Measure],
    /// Number of settings tried for each of the best learners; 0 for no tuning.
    pub trials: usize,
    /// Deadline; `None` for no limit.
    pub deadline: Option<Instant>,
    /// The learner that runs right after the baseline, if it is included.
    pub preferred: &'a str,
    /// Called with each entry as soon as it is finished.
    pub on_entry: Option<&'a (dyn Fn(&LeaderboardEntry) + Sync)>,
    /// Entries of an earlier comparison that was stopped, on the same splits by the same metrics: they are not computed again.
    pub finished: &'a [LeaderboardEntry],
}

impl<'a> Comparison<'a> {
    /// A comparison of these learners on these splits, without tuning or deadline.
    pub fn new(learners: Vec<Box<dyn Learner>>, splits: &'a Splits, measures: &'a [Measure]) -> Comparison<'a> {
        Comparison {
            learners,
            splits,
            measures,
            trials: 0,
            deadline: None,
            preferred: "",
            on_entry: None,
            finished: &[],
        }
    }

    /// Tunes the best learners with `trials` settings each.
    pub fn with_tuning(self, trials: usize) -> Comparison<'a> {
        Comparison { trials, ..self }
    }

    /// Limits the total time.
    pub fn within(self, budget: Duration) -> Comparison<'a> {
        Comparison { deadline: Instant::now().checked_add(budget), ..self }
    }
}

/// A learner that was cross-validated.
#[derive(Debug, Clone, Serialize)]
pub struct LeaderboardEntry {
    /// Its name.
    pub learner: &'static str,
    /// Parameters that differ from the defaults.
    pub setting: Setting,
    /// Its scores, the deciding one first.
    pub scores: Vec<FoldScore>,
    /// Whether it standardized the columns.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub standardized: bool,
    /// Time in seconds.
    pub seconds: f64,
    /// Number of splits in which training reached a limit (iterations, time) before it converged.
    #[serde(skip_serializing_if = "is_zero")]
    pub not_converged: usize,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

impl LeaderboardEntry {
    /// Its name on the leaderboard.
    pub fn title(&self) -> String {
        if self.setting.is_empty() { self.learner.into() } else { format!("{} (tuned)", self.learner) }
    }
}

/// Why a learner is not on the leaderboard.
#[derive(Debug, Clone, PartialEq)]
pub enum SkipReason {
    /// There was no time for it.
    NotTried {
        /// Expected time in seconds, if known.
        expected: Option<f64>,
    },
    /// It did not finish in its time slot.
    NotFinished,
    /// It does not support this data, or the deciding metric is undefined for it.
    Unsupported(String),
    /// It failed.
    Failed(String),
}

/// A learner that is not on the leaderboard.
#[derive(Debug, Clone, PartialEq)]
pub struct SkippedLearner {
    /// Its name.
    pub learner: &'static str,
    /// Why.
    pub reason: SkipReason,
}

/// A learner that was not fully tuned.
#[derive(Debug, Clone, PartialEq)]
pub struct UntunedLearner {
    /// Its name.
    pub learner: &'static str,
    /// Whether some settings were tried before the time was up.
    pub partly: bool,
    /// The error that ended tuning; `None` if there was no time.
    pub error: Option<String>,
}

/// The learners in order, the best first.
#[derive(Debug, Clone, Default)]
pub struct Leaderboard {
    /// Learners that were cross-validated.
    pub entries: Vec<LeaderboardEntry>,
    /// Learners that were not.
    pub skipped: Vec<SkippedLearner>,
    /// Learners that were not fully tuned.
    pub untuned: Vec<UntunedLearner>,
}

impl Leaderboard {
    /// A preliminary leaderboard, ordered by the deciding score only.
    pub fn of_finished(mut entries: Vec<LeaderboardEntry>) -> Leaderboard {
        let loss = |entry: &LeaderboardEntry| match entry.scores.first() {
            Some(score) if score.higher_is_better => -score.mean,
            Some(score) => score.mean,
            None => f64::INFINITY,
        };
        entries.sort_by(|a, b| loss(a).total_cmp(&loss(b)));
        Leaderboard { entries, ..Default::default() }
    }
}

impl fmt::Display for Leaderboard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, entry) in self.entries.iter().enumerate() {
            write!(f, "{:>3} {:<28}", place + 1, entry.title())?;
            for score in &entry.scores {
                write!(f, " {} {} ± {}", score.name, number(score.mean), number(score.deviation))?;
            }
            writeln!(f)?;
        }
        for SkippedLearner { learner, reason } in &self.skipped {
            writeln!(f, "    {learner}: {reason}")?;
        }
        Ok(())
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SkipReason::NotTried { expected: Some(seconds) } => write!(f, "not tried, expected to take {seconds:.0} s"),
            SkipReason::NotTried { expected: None } => write!(f, "not tried"),
            SkipReason::NotFinished => write!(f, "not finished"),
            SkipReason::Unsupported(need) => write!(f, "does not support {need}"),
            SkipReason::Failed(error) => write!(f, "failed: {error}"),
        }
    }
}

/// All suitable learners for this data, with their defaults; learners that need scaled columns standardize them.
pub fn suitable(data: &Dataset, preferred: &str, context: &Context<'_>) -> Vec<Box<dyn Learner>> {
    let all = context.registry.entries().map(|entry| (entry.make)());
    let mut learners: Vec<_> = all.filter(|learner| is_suitable(&**learner, data, preferred)).collect();
    for learner in &mut learners {
        // It has the parameter, and takes either value.
        let _ = standardize_by_default(&mut **learner, data);
    }
    learners
}

/// Whether a learner is suitable: it supports the task, uses the target, and isn't a mere wrapper of the preferred learner.
pub fn is_suitable(learner: &dyn Learner, data: &Dataset, preferred: &str) -> bool {
    let wraps = learner.get("estimator").is_some_and(|inner| inner.to_string() == preferred);
    // Ensembles of other learners take as long as all of them.
    let wraps = wraps || learner.get("estimators").is_some() || learner.info().family == Family::Auto;
    can_learn(learner, data.task()) && learner.needs_target() && !wraps
}

/// Compares learners. If it is stopped (by its observer or the deadline), the leaderboard contains what is finished.
pub fn compare(comparison: &Comparison<'_>, data: &Dataset, context: &Context<'_>) -> Leaderboard {
    let clock = Clock::new(comparison.deadline);
    let run = RunningComparison { comparison, data, context, clock };
    let mut board = run.defaults();
    if comparison.trials > 0 {
        run.tune(&mut board);
    }
    board.entries.sort_by(|a, b| run.order(a, b));
    board
}

/// A running comparison.
struct RunningComparison<'a> {
    comparison: &'a Comparison<'a>,
    data: &'a Dataset,
    context: &'a Context<'a>,
    clock: Clock,
}

impl RunningComparison<'_> {
    /// Ordering: by the deciding score, then the tie-breaking score, then defaults before tuned settings, then the order of the learners.
    fn order(&self, a: &LeaderboardEntry, b: &LeaderboardEntry) -> Ordering {
        let sort_key = |entry: &LeaderboardEntry, measure: Measure| {
            let score = entry.scores.iter().find(|score| score.name == measure.title());
            measure.sort_key(score.map_or(f64::NAN, |score| score.mean))
        };
        let by = |measure: Measure| {
            let (x, y) = (sort_key(a, measure), sort_key(b, measure));
            // Sums in a different order differ in the last digits.
            let same = (x - y).abs() <= 1e-12 * (x.abs() + y.abs());
            if same { Ordering::Equal } else { x.total_cmp(&y) }
        };
        let listed = |entry: &LeaderboardEntry| {
            self.comparison.learners.iter().position(|learner| learner.info().name == entry.learner)
        };
        let decisive = self.decisive();
        by(decisive)
            .then_with(|| decisive.tie_breaker(self.data.task()).map_or(Ordering::Equal, by))
            .then_with(|| b.setting.is_empty().cmp(&a.setting.is_empty()))
            .then_with(|| listed(a).cmp(&listed(b)))
    }

    fn decisive(&self) -> Measure {
        self.comparison.measures[0]
    }

    /// Whether the time is over or a stop was requested.
    fn is_over(&self) -> bool {
        self.clock.is_over() || self.context.observer.event(&Event::Within) == Control::Stop
    }

    /// Whether a learner was finished by an earlier comparison, with its defaults or `tuned`.
    fn is_finished(&self, learner: &str, tuned: bool) -> bool {
        self.comparison.finished.iter().any(|entry| entry.learner == learner && entry.setting.is_empty() != tuned)
    }

    /// Every learner with its defaults.
    fn defaults(&self) -> Leaderboard {
        let mut board = Leaderboard { entries: self.comparison.finished.to_vec(), ..Default::default() };
        let waiting = self.in_order();
        for (i, (learner, estimate)) in waiting.iter().enumerate() {
            // Time is reserved for tuning only if there is something to tune.
            let keep = self.comparison.trials > 0 && board.entries.len() > tuning::TUNED;
            let n_waiting = waiting.len() - i - 1;
            match self.default_entry(*learner, estimate, keep, n_waiting) {
                Ok(entry) => {
                    if let Some(on_entry) = self.comparison.on_entry {
                        on_entry(&entry);
                    }
                    board.entries.push(entry);
                }
                Err(reason) => board.skipped.push(SkippedLearner { learner: learner.info().name, reason }),
            }
        }
        board
    }

    fn default_entry(
        &self,
        learner: &dyn Learner,
        estimate: &CostEstimate,
        keep: bool,
        n_waiting: usize,
    ) -> std::result::Result<LeaderboardEntry, SkipReason> {
        comparable(learner, self.data).map_err(reason)?;
        let turn = self.clock.turn(estimate, keep, n_waiting);
        if self.is_over() || turn.is_some_and(|turn| turn.is_hopeless(estimate)) {
            return Err(SkipReason::NotTried { expected: estimate.seconds });
        }
        self.entry(learner, Setting::new(), turn.map(|turn| turn.end)).map_err(reason)
    }

    /// Cross-validates a learner.
    fn entry(&self, learner: &dyn Learner, setting: Setting, until: Option<Instant>) -> Result<LeaderboardEntry> {
        let start = Instant::now();
        let observer = DeadlineObserver::new(self.context.observer, until);
        let context = Context { observer: &observer, ..*self.context };
        let validation = Validation::new(self.comparison.splits, self.comparison.measures);
        let validated = cross_validate(learner, self.data, &validation, &context)?;
        // Undefined scores are left out; learners without the deciding score can't be compared.
        if let Some((measure, why)) = validated.undefined.iter().find(|(measure, _)| *measure == self.decisive()) {
            let need = format!("the metric {}: in some split {why}", measure.title());
            return Err(Error::Unsupported { learner: learner.info().name.into(), need });
        }
        Ok(LeaderboardEntry {
            learner: learner.info().name,
            setting,
            scores: validated.scores,
            standardized: learner.get(STANDARDIZE) == Some(Value::Bool(true)),
            seconds: start.elapsed().as_secs_f64(),
            not_converged: validated.not_converged,
        })
    }
}

/// An error if a learner can't be compared with others on this data.
fn comparable(learner: &dyn Learner, data: &Dataset) -> Result<()> {
    if learner.needs_target() {
        return check(learner, data);
    }
    let (learner, need) = (learner.info().name.into(), "a target: it learns without one".into());
    Err(Error::Unsupported { learner, need })
}

fn reason(error: Error) -> SkipReason {
    match error {
        Error::Stopped => SkipReason::NotFinished,
        Error::Unsupported { need, .. } => SkipReason::Unsupported(need),
        other => SkipReason::Failed(other.to_string()),
    }
}
