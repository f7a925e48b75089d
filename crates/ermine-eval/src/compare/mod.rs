//! Which learner is best for a data set: every learner is cross-validated with its defaults, then the best are tuned, within a budget.
//!
//! | file | what it holds |
//! |---|---|
//! | this file | [`Comparison`], what is asked for; [`Leaderboard`], what comes out |
//! | [`budget`] | the time that each learner gets, and what it is expected to take |
//! | `tuning` | settings of the best learners |
//! | `verdict` | whether the first is better than the others, or was lucky |
//!
//! **Budget.** With a deadline every learner is first tried on few rows. What it took there says what it will take on all rows: the baseline and the preferred learner go first,
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

/// What is compared, and how.
pub struct Comparison<'a> {
    /// The learners; [`suitable`] gives all that make sense for a data set.
    pub learners: Vec<Box<dyn Learner>>,
    /// Rows to learn from and rows to test on.
    pub splits: &'a Splits,
    /// What is measured; the first decides.
    pub measures: &'a [Measure],
    /// How many settings of each of the best learners are tried after all have had their turn; 0 for none.
    pub trials: usize,
    /// When to stop; `None` for never.
    pub deadline: Option<Instant>,
    /// The learner that has its turn right after the baseline, if it is among them: the one that is most often best.
    pub preferred: &'a str,
    /// Called with each entry as soon as it is finished.
    pub on_entry: Option<&'a (dyn Fn(&LeaderboardEntry) + Sync)>,
}

impl<'a> Comparison<'a> {
    /// All of these learners on these splits, without tuning and without a deadline.
    pub fn new(learners: Vec<Box<dyn Learner>>, splits: &'a Splits, measures: &'a [Measure]) -> Comparison<'a> {
        Comparison { learners, splits, measures, trials: 0, deadline: None, preferred: "", on_entry: None }
    }

    /// The same with `trials` settings of each of the best learners.
    pub fn with_tuning(self, trials: usize) -> Comparison<'a> {
        Comparison { trials, ..self }
    }

    /// The same, to be over after this time.
    pub fn within(self, budget: Duration) -> Comparison<'a> {
        Comparison { deadline: Instant::now().checked_add(budget), ..self }
    }
}

/// A learner that was cross-validated to the end.
#[derive(Debug, Clone, Serialize)]
pub struct LeaderboardEntry {
    /// Its name.
    pub learner: &'static str,
    /// What differs from its defaults.
    pub setting: Setting,
    /// Its scores, the one that decides first.
    pub scores: Vec<FoldScore>,
    /// Whether it standardized the columns.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub standardized: bool,
    /// How long it took.
    pub seconds: f64,
    /// In how many splits it reached a limit (iterations, time) before it converged.
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

/// Why a learner has no place on the leaderboard.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// There was no time for it; it was expected to take so many seconds, where that is known.
    NotTried {
        /// Seconds.
        expected: Option<f64>,
    },
    /// It did not finish in the time that it was given.
    NotFinished,
    /// It can't learn from this data, or can't be judged by the measure that decides.
    Unsupported(String),
    /// It failed.
    Failed(String),
}

/// A learner that has no place on the leaderboard.
#[derive(Debug, Clone, PartialEq)]
pub struct SkippedLearner {
    /// Its name.
    pub learner: &'static str,
    /// Why.
    pub reason: Reason,
}

/// A learner whose settings were not all tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Untuned {
    /// Its name.
    pub learner: &'static str,
    /// Whether some were.
    pub some: bool,
    /// The error that ended it; `None` where there was no time.
    pub failed: Option<String>,
}

/// The learners in order, the best first.
#[derive(Debug, Clone, Default)]
pub struct Leaderboard {
    /// Learners that were cross-validated.
    pub entries: Vec<LeaderboardEntry>,
    /// Learners that were not.
    pub skipped: Vec<SkippedLearner>,
    /// Learners whose settings were not all tried.
    pub untuned: Vec<Untuned>,
}

impl Leaderboard {
    /// A leaderboard of what is finished so far, ordered by the score that decides alone.
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

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::NotTried { expected: Some(seconds) } => write!(f, "not tried, expected to take {seconds:.0} s"),
            Reason::NotTried { expected: None } => write!(f, "not tried"),
            Reason::NotFinished => write!(f, "not finished"),
            Reason::Unsupported(need) => write!(f, "can't handle {need}"),
            Reason::Failed(error) => write!(f, "failed: {error}"),
        }
    }
}

/// All learners that make sense for this data, with their defaults; those that need scaled columns standardize them.
pub fn suitable(data: &Dataset, preferred: &str, context: &Context<'_>) -> Vec<Box<dyn Learner>> {
    let all = context.registry.entries().map(|entry| (entry.make)());
    let mut learners: Vec<_> = all.filter(|learner| is_suitable(&**learner, data, preferred)).collect();
    for learner in &mut learners {
        // It has the parameter, and takes either value.
        let _ = standardize_by_default(&mut **learner, data);
    }
    learners
}

/// Whether a learner makes sense for this data: it can do the task, learns from a target, and doesn't merely wrap the preferred one.
pub fn is_suitable(learner: &dyn Learner, data: &Dataset, preferred: &str) -> bool {
    let wraps = learner.get("estimator").is_some_and(|inner| inner.to_string() == preferred);
    // Ensembles of other learners take as long as all of them.
    let wraps = wraps || learner.get("estimators").is_some() || learner.info().family == Family::Auto;
    can_learn(learner, data.task()) && learner.needs_target() && !wraps
}

/// Compares learners. Stopping it (by its observer or the deadline) is no error: the leaderboard has what is finished.
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

/// A comparison under way.
struct RunningComparison<'a> {
    comparison: &'a Comparison<'a>,
    data: &'a Dataset,
    context: &'a Context<'a>,
    clock: Clock,
}

impl RunningComparison<'_> {
    /// Better first: by the score that decides; where that is the same, by the one that breaks ties; then defaults before what was tuned, and learners as they are listed.
    fn order(&self, a: &LeaderboardEntry, b: &LeaderboardEntry) -> Ordering {
        let badness = |entry: &LeaderboardEntry, measure: Measure| {
            let score = entry.scores.iter().find(|score| score.name == measure.title());
            measure.badness(score.map_or(f64::NAN, |score| score.mean))
        };
        let by = |measure: Measure| {
            let (x, y) = (badness(a, measure), badness(b, measure));
            // Sums in another order differ in the last digits.
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

    /// Whether the time is over, or somebody said stop.
    fn is_over(&self) -> bool {
        self.clock.is_over() || self.context.observer.event(&Event::Within) == Control::Stop
    }

    /// Every learner with its defaults.
    fn defaults(&self) -> Leaderboard {
        let mut board = Leaderboard::default();
        let waiting = self.in_order();
        for (i, (learner, estimate)) in waiting.iter().enumerate() {
            // Only where there is something to tune is time kept for it.
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
    ) -> std::result::Result<LeaderboardEntry, Reason> {
        comparable(learner, self.data).map_err(reason)?;
        let turn = self.clock.turn(estimate, keep, n_waiting);
        if self.is_over() || turn.is_some_and(|turn| turn.is_hopeless(estimate)) {
            return Err(Reason::NotTried { expected: estimate.seconds });
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
        // Scores that can't be told are left out; who lacks the one that decides can't be compared with others.
        if let Some((measure, why)) = validated.undefined.iter().find(|(measure, _)| *measure == self.decisive()) {
            let need = format!("being judged by {}: in some split {why}", measure.title());
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

/// An error where a learner can't be compared with others on this data.
fn comparable(learner: &dyn Learner, data: &Dataset) -> Result<()> {
    if learner.needs_target() {
        return check(learner, data);
    }
    let (learner, need) = (learner.info().name.into(), "a target: it learns without one".into());
    Err(Error::Unsupported { learner, need })
}

fn reason(error: Error) -> Reason {
    match error {
        Error::Stopped => Reason::NotFinished,
        Error::Unsupported { need, .. } => Reason::Unsupported(need),
        other => Reason::Failed(other.to_string()),
    }
}
