//! Which learner is best for a table.

use crate::array;
use crate::error::python;
use crate::job;
use crate::search::splits_of;
use crate::table::PyTable;
use crate::target::PyTarget;
use crate::value;
use ermine::registry;
use ermine_core::learner::Context;
use ermine_core::learner::raw_columns::{STANDARDIZE, standardize_by_default};
use ermine_core::measure::Measure;
use ermine_core::param::Value;
use ermine_eval::compare::{Comparison, Leaderboard, LeaderboardEntry, compare as core_compare, is_suitable};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::time::{Duration, Instant};

/// A learner on the leaderboard: its name, what differs from its defaults as JSON, the score of each split, seconds, and whether it converged in all of them.
type LeaderboardTuple = (String, String, Vec<f64>, f64, bool);

/// A learner that is not on it, and why.
type SkippedTuple = (String, String);

/// Cross-validates learners, each given by its name and parameters (of them only those that make sense for the data, with `only_suitable`), tunes the best, and gives them in order, the best first. `budget` is in seconds.
#[pyfunction]
#[pyo3(signature = (table, target, weight, *, learners, only_suitable, splits, measure, trials, budget, seed, threads, progress = None))]
#[expect(clippy::too_many_arguments, reason = "one call from Python, with keywords")]
pub fn compare(
    py: Python<'_>,
    table: &PyTable,
    target: &PyTarget,
    weight: Option<&Bound<'_, PyArray1<f64>>>,
    learners: Vec<(String, Bound<'_, PyDict>)>,
    only_suitable: bool,
    splits: &Bound<'_, PyAny>,
    measure: &str,
    trials: usize,
    budget: Option<f64>,
    seed: u64,
    threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Vec<LeaderboardTuple>, Vec<SkippedTuple>)> {
    let measure = Measure::parse(measure).map_err(python)?;
    let data = target.dataset(table.inner.clone(), weight.map(array::numbers).transpose()?)?;
    measure.check(data.task()).map_err(python)?;
    let splits = splits_of(&data, splits)?;
    let budget = budget.map(Duration::try_from_secs_f64).transpose();
    let budget = budget.map_err(|e| PyValueError::new_err(format!("budget must be a number of seconds: {e}")))?;
    let mut learners =
        learners.iter().map(|(name, params)| value::learner(name, params)).collect::<PyResult<Vec<_>>>()?;
    learners.retain(|learner| !only_suitable || is_suitable(&**learner, &data, registry::DEFAULT));
    learners.iter_mut().try_for_each(|learner| standardize_by_default(&mut **learner, &data)).map_err(python)?;
    let work = move |observer: &job::JobObserver| {
        let context = Context { seed, threads: Some(threads), observer, ..ermine::context() };
        let comparison = Comparison {
            learners,
            splits: &splits,
            measures: &[measure],
            trials,
            deadline: budget.and_then(|budget| Instant::now().checked_add(budget)),
            preferred: registry::DEFAULT,
            on_entry: None,
            finished: &[],
        };
        core_compare(&comparison, &data, &context)
    };
    listed(&job::run(py, progress, work)?)
}

fn listed(board: &Leaderboard) -> PyResult<(Vec<LeaderboardTuple>, Vec<SkippedTuple>)> {
    let skipped = board.skipped.iter().map(|skipped| (skipped.learner.to_string(), skipped.reason.to_string()));
    Ok((board.entries.iter().map(entry).collect::<PyResult<_>>()?, skipped.collect()))
}

fn entry(entry: &LeaderboardEntry) -> PyResult<LeaderboardTuple> {
    let mut setting = entry.setting.clone();
    if entry.standardized {
        setting.entry(STANDARDIZE.into()).or_insert(Value::Bool(true));
    }
    let setting = serde_json::to_string(&setting).map_err(|e| PyValueError::new_err(e.to_string()))?;
    let folds = entry.scores.first().map(|score| score.folds.clone()).unwrap_or_default();
    Ok((entry.learner.to_string(), setting, folds, entry.seconds, entry.not_converged == 0))
}
