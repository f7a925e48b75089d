//! A comparison of learners that runs in a thread of its own: its entries come in one by one, it can be stopped and continued.

use crate::data_choice::DataChoice;
use ermine::registry;
use ermine_core::error::Result;
use ermine_core::learner::raw_columns::standardize_by_default;
use ermine_core::learner::{Context, Learner};
use ermine_core::matrix::{Dataset, Splits};
use ermine_core::measure::{Measure, measures};
use ermine_core::progress::{Control, Event, Observer};
use ermine_eval::compare::verdict::{against, is_testable};
use ermine_eval::compare::{Comparison, Leaderboard, LeaderboardEntry, compare, suitable};
use ermine_eval::evaluate::cross_validation::FoldScore;
use ermine_eval::evaluate::space::Setting;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch::Sender as ChangeSender;

/// The settings of a comparison, as `ermine compare` takes them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSettings {
    /// Number of folds.
    #[serde(default = "RunSettings::default_folds")]
    pub folds: usize,
    /// Number of settings tried for each of the three best learners.
    #[serde(default)]
    pub trials: usize,
    /// Time budget in seconds.
    #[serde(default)]
    pub budget: Option<f64>,
    /// Random seed.
    #[serde(default)]
    pub seed: u64,
    /// The metric that decides; `None` for that of the task.
    #[serde(default)]
    pub measure: Option<String>,
    /// The learners; empty for all that are suitable.
    #[serde(default)]
    pub learners: Vec<String>,
}

impl RunSettings {
    fn default_folds() -> usize {
        5
    }
}

/// An entry of the leaderboard, as the journal keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntryRecord {
    /// The learner.
    pub learner: String,
    /// Parameters that differ from the defaults.
    pub setting: Setting,
    /// Its scores, the deciding one first.
    pub scores: Vec<ScoreRecord>,
    /// Whether it standardized the columns.
    #[serde(default)]
    pub standardized: bool,
    /// Time in seconds.
    pub seconds: f64,
    /// Number of splits in which training did not converge.
    #[serde(default)]
    pub not_converged: usize,
}

/// A score over splits, as the journal keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoreRecord {
    /// The name of the metric.
    pub name: String,
    /// The mean over test sets.
    pub mean: f64,
    /// The standard deviation over test sets.
    pub deviation: f64,
    /// Whether higher is better.
    pub higher_is_better: bool,
    /// The score of each test set.
    pub folds: Vec<f64>,
    /// Whether it is computed on the pooled test rows.
    #[serde(default)]
    pub pooled: bool,
}

/// A learner without an entry, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SkippedRecord {
    /// The learner.
    pub learner: String,
    /// Why.
    pub reason: String,
}

impl EntryRecord {
    /// The record of an entry.
    pub fn of(entry: &LeaderboardEntry) -> EntryRecord {
        let score = |score: &FoldScore| ScoreRecord {
            name: score.name.into(),
            mean: score.mean,
            deviation: score.deviation,
            higher_is_better: score.higher_is_better,
            folds: score.folds.clone(),
            pooled: score.pooled,
        };
        EntryRecord {
            learner: entry.learner.into(),
            setting: entry.setting.clone(),
            scores: entry.scores.iter().map(score).collect(),
            standardized: entry.standardized,
            seconds: entry.seconds,
            not_converged: entry.not_converged,
        }
    }

    /// The entry; an error if this version has no such learner or metric.
    fn entry(&self) -> Result<LeaderboardEntry> {
        let learner = registry::learner(&self.learner)?.info().name;
        let score = |score: &ScoreRecord| -> Option<FoldScore> {
            let measure = measures().find(|measure| measure.title() == score.name)?;
            let found = FoldScore::new(measure, score.folds.clone(), None);
            Some(FoldScore { mean: score.mean, deviation: score.deviation, pooled: score.pooled, ..found })
        };
        Ok(LeaderboardEntry {
            learner,
            setting: self.setting.clone(),
            scores: self.scores.iter().filter_map(score).collect(),
            standardized: self.standardized,
            seconds: self.seconds,
            not_converged: self.not_converged,
        })
    }
}

/// How far a comparison is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// It runs.
    Running,
    /// It was stopped by the user.
    Stopped,
    /// The program ended before it did.
    Interrupted,
    /// It ended.
    Finished,
    /// It failed.
    Failed,
}

/// What changes while a comparison runs.
pub struct RunProgress {
    /// How far it is.
    pub status: RunStatus,
    /// The entries in the order in which they came.
    pub entries: Vec<EntryRecord>,
    /// Learners without an entry.
    pub skipped: Vec<SkippedRecord>,
    /// Why it failed.
    pub failed: Option<String>,
    /// The work in progress: what, how much is done, of how much.
    doing: Option<(String, u64, Option<u64>)>,
    started: Option<Instant>,
    splits: Option<Arc<Splits>>,
}

/// A comparison.
pub struct CompareRun {
    /// Its number in the session.
    pub id: u32,
    /// The data set.
    pub data: DataChoice,
    /// Its settings.
    pub settings: RunSettings,
    /// The hash of the data.
    pub fingerprint: u32,
    progress: Mutex<RunProgress>,
    stop: AtomicBool,
    /// Counts changes; the streams of events wait for it.
    pub changes: ChangeSender<u64>,
}

/// Progress is reported at most so often.
const REPORT_INTERVAL: Duration = Duration::from_millis(100);

impl CompareRun {
    /// A comparison that has not begun.
    pub fn new(id: u32, data: DataChoice, settings: RunSettings, fingerprint: u32) -> CompareRun {
        let progress = RunProgress {
            status: RunStatus::Interrupted,
            entries: Vec::new(),
            skipped: Vec::new(),
            failed: None,
            doing: None,
            started: None,
            splits: None,
        };
        let (progress, stop) = (Mutex::new(progress), AtomicBool::new(false));
        CompareRun { id, data, settings, fingerprint, progress, stop, changes: ChangeSender::new(0) }
    }

    /// What changes while it runs.
    pub fn progress(&self) -> MutexGuard<'_, RunProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How far it is.
    pub fn status(&self) -> RunStatus {
        self.progress().status
    }

    /// Stops it as soon as possible.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Marks it as running; false if it already is.
    pub fn begin(&self) -> bool {
        let mut progress = self.progress();
        if progress.status == RunStatus::Running {
            return false;
        }
        self.stop.store(false, Ordering::Relaxed);
        progress.status = RunStatus::Running;
        (progress.failed, progress.doing, progress.started) = (None, None, Some(Instant::now()));
        progress.skipped.clear();
        drop(progress);
        self.changed();
        true
    }

    /// Runs to its end, or until it is stopped. `on_entry` is called with each entry before others see it.
    pub fn run(&self, data: &Dataset, on_entry: &(dyn Fn(&EntryRecord) + Sync)) {
        let outcome = self.compare(data, on_entry);
        let mut progress = self.progress();
        progress.doing = None;
        match outcome {
            Ok(skipped) => {
                progress.skipped = skipped;
                let stopped = self.stop.load(Ordering::Relaxed);
                progress.status = if stopped { RunStatus::Stopped } else { RunStatus::Finished };
            }
            Err(error) => (progress.status, progress.failed) = (RunStatus::Failed, Some(error.to_string())),
        }
    }

    /// Tells the streams of events that something changed.
    pub fn changed(&self) {
        self.changes.send_modify(|n| *n += 1);
    }

    fn compare(&self, data: &Dataset, on_entry: &(dyn Fn(&EntryRecord) + Sync)) -> Result<Vec<SkippedRecord>> {
        let settings = &self.settings;
        let splits = Arc::new(Splits::repeated(data, settings.folds, 1, settings.seed)?);
        self.progress().splits = Some(splits.clone());
        let measure = settings.measure.as_deref().map(Measure::parse).transpose()?;
        measure.map_or(Ok(()), |measure| measure.check(data.task()))?;
        let measures = Measure::headline(data.task(), measure);
        let observer = RunObserver { run: self, depth: Mutex::new((0, Instant::now())) };
        let context = Context { seed: settings.seed, observer: &observer, ..ermine::context() };
        let learners = self.learners(data, &context)?;
        let finished: Vec<LeaderboardEntry> =
            self.progress().entries.iter().map(EntryRecord::entry).collect::<Result<_>>()?;
        let on_entry = |entry: &LeaderboardEntry| {
            let record = EntryRecord::of(entry);
            on_entry(&record);
            self.progress().entries.push(record);
            self.changed();
        };
        let comparison = Comparison {
            learners,
            splits: &splits,
            measures: &measures,
            trials: settings.trials,
            deadline: settings.budget.and_then(|s| Instant::now().checked_add(Duration::try_from_secs_f64(s).ok()?)),
            preferred: registry::DEFAULT,
            on_entry: Some(&on_entry),
            finished: &finished,
        };
        let board = compare(&comparison, data, &context);
        let skipped = |s: &ermine_eval::compare::SkippedLearner| SkippedRecord {
            learner: s.learner.into(),
            reason: s.reason.to_string(),
        };
        Ok(board.skipped.iter().map(skipped).collect())
    }

    fn learners(&self, data: &Dataset, context: &Context<'_>) -> Result<Vec<Box<dyn Learner>>> {
        if self.settings.learners.is_empty() {
            return Ok(suitable(data, registry::DEFAULT, context));
        }
        let named = |name: &String| {
            let mut learner = registry::learner(name)?;
            standardize_by_default(&mut *learner, data)?;
            Ok(learner)
        };
        self.settings.learners.iter().map(named).collect()
    }

    /// The comparison as the page shows it, the best entry first.
    pub fn view(&self) -> Value {
        let progress = self.progress();
        let entries: Vec<LeaderboardEntry> = progress.entries.iter().filter_map(|e| e.entry().ok()).collect();
        let board = Leaderboard::of_finished(entries);
        let best = board.entries.first().filter(|_| is_testable(&board.entries));
        let row = |(place, entry): (usize, &LeaderboardEntry)| {
            let p = best.zip(progress.splits.as_deref()).filter(|_| place > 0);
            let mut row = json!(EntryRecord::of(entry));
            row["title"] = json!(entry.title());
            row["index"] =
                json!(progress.entries.iter().position(|e| e.learner == entry.learner && e.setting == entry.setting));
            row["p_value"] = json!(p.map(|(best, splits)| against(best, entry, splits).p_value));
            row
        };
        json!({
            "id": self.id,
            "data": self.data,
            "settings": self.settings,
            "status": progress.status,
            "failed": progress.failed,
            "entries": board.entries.iter().enumerate().map(row).collect::<Vec<_>>(),
            "skipped": progress.skipped,
            "seconds": progress.started.filter(|_| progress.status == RunStatus::Running).map(|s| s.elapsed().as_secs_f64()),
        })
    }

    /// The work in progress.
    pub fn doing(&self) -> Value {
        let progress = self.progress();
        let (what, done, total) = progress.doing.clone().unwrap_or_default();
        json!({ "what": what, "done": done, "total": total, "seconds": progress.started.map(|s| s.elapsed().as_secs_f64()) })
    }
}

/// Shows what the comparison does, and stops it.
struct RunObserver<'a> {
    run: &'a CompareRun,
    /// How many pieces of work have begun within each other, and when a change was last reported.
    depth: Mutex<(usize, Instant)>,
}

impl RunObserver<'_> {
    /// Only the outermost piece of work is shown: which learner, and how many of its folds or settings are done.
    fn note(&self, event: &Event<'_>) -> bool {
        let mut guard = self.depth.lock().unwrap_or_else(PoisonError::into_inner);
        let (depth, reported) = &mut *guard;
        match event {
            Event::Begin { what, total } => {
                *depth += 1;
                if *depth == 1 {
                    self.run.progress().doing = Some((what.to_string(), 0, *total));
                }
            }
            Event::Step { done, .. } if *depth == 1 => {
                if let Some(doing) = &mut self.run.progress().doing {
                    doing.1 = *done;
                }
            }
            Event::End => *depth = depth.saturating_sub(1),
            Event::Step { .. } | Event::Within => return false,
        }
        let is_due = reported.elapsed() >= REPORT_INTERVAL;
        if is_due {
            *reported = Instant::now();
        }
        is_due
    }
}

impl Observer for RunObserver<'_> {
    fn event(&self, event: &Event<'_>) -> Control {
        if *event != Event::Within && self.note(event) {
            self.run.changed();
        }
        if self.run.stop.load(Ordering::Relaxed) { Control::Stop } else { Control::Continue }
    }
}
