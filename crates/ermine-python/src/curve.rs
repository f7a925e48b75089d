//! Scores of rows that were learned from beside those of rows that were not: cross-validation, learning and validation curves.

use crate::array;
use crate::error::python;
use crate::job;
use crate::search::splits_of;
use crate::table::PyTable;
use crate::target::PyTarget;
use crate::value;
use ermine_core::learner::{Context, Learner};
use ermine_core::matrix::{Dataset, Splits};
use ermine_core::measure::Measure;
use ermine_eval::evaluate::cross_validation::FoldScore;
use ermine_eval::evaluate::curves::{TrainSizes, learning_curve};
use ermine_eval::evaluate::{Validation, cross_validate};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A point: rows learned from, the score of each split on the rows it learned from, and on the tested ones.
type CurvePointTuple = (usize, Vec<f64>, Vec<f64>);

/// The scores of each of `settings` (each the parameters of a learner) or, with `sizes`, of the first of them by the number of the first rows of each split that it learns from.
#[pyfunction]
#[pyo3(signature = (learner, settings, table, target, weight, *, sizes, splits, measure, seed, threads, progress = None))]
#[expect(clippy::too_many_arguments, reason = "one call from Python, with keywords")]
pub fn curve(
    py: Python<'_>,
    learner: &str,
    settings: Vec<Bound<'_, PyDict>>,
    table: &PyTable,
    target: &PyTarget,
    weight: Option<&Bound<'_, PyArray1<f64>>>,
    sizes: Option<Vec<usize>>,
    splits: &Bound<'_, PyAny>,
    measure: &str,
    seed: u64,
    threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<CurvePointTuple>> {
    let learners = settings.iter().map(|s| value::learner(learner, s)).collect::<PyResult<Vec<_>>>()?;
    let measure = Measure::parse(measure).map_err(python)?;
    let data = target.dataset(table.inner.clone(), weight.map(array::numbers).transpose()?)?;
    let splits = splits_of(&data, splits)?;
    let work = move |observer: &job::JobObserver| {
        let context = Context { seed, threads: Some(threads), observer, ..ermine::context() };
        points(&learners, sizes.as_deref(), &data, &splits, measure, &context)
    };
    job::run(py, progress, work)?.map_err(python)
}

fn points(
    learners: &[Box<dyn Learner>],
    sizes: Option<&[usize]>,
    data: &Dataset,
    splits: &Splits,
    measure: Measure,
    context: &Context<'_>,
) -> ermine::Result<Vec<CurvePointTuple>> {
    measure.check(data.task())?;
    let validation = Validation { splits, measures: &[measure], train_scores: true, pool: false, custom: &[] };
    let point = |n_rows: usize, score: FoldScore| (n_rows, score.train.unwrap_or_default(), score.folds);
    if let (Some(sizes), Some(learner)) = (sizes, learners.first()) {
        let curve = learning_curve(&**learner, data, &validation, TrainSizes::First(sizes), context)?;
        let rows = |at: &ermine_core::param::Value| at.number().unwrap_or(0.0) as usize;
        return Ok(curve.into_iter().map(|p| point(rows(&p.at), p.score)).collect());
    }
    let undefined = || ermine::Error::data(format!("{} is not defined in every split", measure.title()));
    let one = |learner: &dyn Learner| {
        let scores = cross_validate(learner, data, &validation, context)?.scores;
        Ok(point(splits.split(0).0.len(), scores.into_iter().next().ok_or_else(undefined)?))
    };
    learners.iter().map(|learner| one(&**learner)).collect()
}
