//! Searches for the best setting of a learner.

use crate::array;
use crate::error::python;
use crate::job;
use crate::table::PyTable;
use crate::target::PyTarget;
use crate::value;
use ermine_core::learner::Context;
use ermine_core::matrix::{Dataset, Splits};
use ermine_core::measure::Measure;
use ermine_eval::evaluate::journal::Journal;
use ermine_eval::evaluate::search::{HyperparameterSearch, SearchResult, Strategy, Trial, search as core_search};
use ermine_eval::evaluate::space::{SearchSpace, Setting};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A trial: the setting as JSON, the score of each split, its error, seconds.
type TrialTuple = (String, Vec<f64>, Option<String>, f64);

/// Rows to learn from and rows to test on.
type SplitRows = (Vec<u32>, Vec<u32>);

/// Tries settings by cross-validation: those of `settings` (each the parameters of a learner), in their order, or `trials` of what the learner's declarations say is worth trying, at
/// random or, with a `factor`, by halving. `splits` is a number of folds or pairs of rows. Gives all trials on all rows.
#[pyfunction]
#[pyo3(signature = (learner, params, table, target, weight, *, settings, trials, factor, splits, measure, seed, threads, progress = None))]
#[expect(clippy::too_many_arguments, reason = "one call from Python, with keywords")]
pub fn search(
    py: Python<'_>,
    learner: &str,
    params: &Bound<'_, PyDict>,
    table: &PyTable,
    target: &PyTarget,
    weight: Option<&Bound<'_, PyArray1<f64>>>,
    settings: Option<Vec<Bound<'_, PyDict>>>,
    trials: usize,
    factor: Option<usize>,
    splits: &Bound<'_, PyAny>,
    measure: &str,
    seed: u64,
    threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<TrialTuple>> {
    let base = value::learner(learner, params)?;
    let listed = settings.map(|settings| settings.iter().map(|s| setting(learner, s)).collect()).transpose()?;
    let strategy = match (&listed, factor) {
        (Some(_), _) => Strategy::Listed,
        (None, Some(factor)) => Strategy::Halving { trials, factor },
        (None, None) => Strategy::Random { trials },
    };
    let measure = Measure::parse(measure).map_err(python)?;
    let data = target.dataset(table.inner.clone(), weight.map(array::numbers).transpose()?)?;
    let splits = splits_of(&data, splits)?;
    let requested = listed.clone().unwrap_or_default();
    let work = move |observer: &job::JobObserver| {
        let context = Context { seed, threads: Some(threads), observer, ..ermine::context() };
        let space = match listed {
            Some(listed) => SearchSpace::of_settings(listed),
            None => SearchSpace::declared(&*base).supported_by(&*base, &data, &context)?,
        };
        let what =
            HyperparameterSearch { learner: &*base, space: &space, strategy, splits: &splits, measure, pool: false };
        core_search(&what, &data, &context, &mut Journal::none())
    };
    let found = job::run(py, progress, work)?.map_err(python)?;
    let trials = in_order(found, &requested);
    trials.into_iter().map(|trial| tried(&trial)).collect()
}

/// All parameters of a learner with these set.
fn setting(learner: &str, params: &Bound<'_, PyDict>) -> PyResult<Setting> {
    let learner = value::learner(learner, params)?;
    Ok(learner.values().into_iter().map(|(name, value)| (name.to_string(), value)).collect())
}

/// The splits that Python gives: a number of folds, which are those of scikit-learn, or pairs of rows.
pub fn splits_of(data: &Dataset, splits: &Bound<'_, PyAny>) -> PyResult<Splits> {
    if let Ok(n_folds) = splits.extract::<usize>() {
        return Splits::unshuffled_k_fold(data, n_folds).map_err(python);
    }
    let parts: Vec<SplitRows> = splits.extract().map_err(|_| {
        PyValueError::new_err(
            "cv must be a number of folds, a splitter, or pairs of row numbers to learn from and to test on",
        )
    })?;
    Splits::from_indices(data, parts).map_err(python)
}

/// The trials on all rows, in the requested order.
fn in_order(found: SearchResult, listed: &[Setting]) -> Vec<Trial> {
    let mut trials: Vec<Trial> = found.trials.into_iter().filter(|trial| trial.rows.is_none()).collect();
    trials.sort_by_key(|trial| listed.iter().position(|setting| *setting == trial.setting));
    trials
}

fn tried(trial: &Trial) -> PyResult<TrialTuple> {
    let setting = serde_json::to_string(&trial.setting).map_err(|e| PyValueError::new_err(e.to_string()))?;
    Ok((setting, trial.folds.clone(), trial.error.clone(), trial.seconds))
}
