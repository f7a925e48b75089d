//! Reports and pictures.

use crate::array;
use crate::error::python;
use crate::job;
use crate::model::PyModel;
use crate::table::PyTable;
use crate::target::PyTarget;
use ermine_core::chart::plot::{Mark, Plot, Series, bars};
use ermine_core::matrix::Dataset;
use ermine_core::measure::Measure;
use ermine_core::model::Model as CoreModel;
use ermine_core::parallel::run;
use ermine_core::table::Table as CoreTable;
use ermine_eval::explain::permutation::permutation_importances;
use ermine_eval::report::Report;
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;

/// Rows whose columns stand in the model's order, as a data set.
fn dataset(
    model: &CoreModel,
    table: &PyTable,
    target: &PyTarget,
    weight: Option<&Bound<'_, PyArray1<f64>>>,
    group: Option<&Bound<'_, PyArray1<u32>>>,
) -> PyResult<Dataset> {
    // The order of the columns counts, not what they are called here.
    let mut columns = table.inner.columns().to_vec();
    columns.iter_mut().zip(&model.schema().features).for_each(|(column, known)| column.name.clone_from(&known.name));
    let columns = Arc::new(CoreTable::new(columns).map_err(python)?);
    let weight = weight.map(array::numbers).transpose()?;
    let group = group.map(array::numbers).transpose()?;
    target.dataset(columns, weight)?.with_group(group).map_err(python)
}

/// By how much a model becomes worse when the values of each column are shuffled: the mean over the repeats and the standard deviation.
#[pyfunction]
#[pyo3(signature = (model, table, target, weight, group, *, n_repeats, seed, n_jobs))]
#[expect(clippy::too_many_arguments, reason = "one call from Python, with keywords")]
pub fn permutation(
    py: Python<'_>,
    model: &PyModel,
    table: &PyTable,
    target: &PyTarget,
    weight: Option<&Bound<'_, PyArray1<f64>>>,
    group: Option<&Bound<'_, PyArray1<u32>>>,
    n_repeats: usize,
    seed: u64,
    n_jobs: Option<i64>,
) -> PyResult<(Vec<f64>, Vec<f64>)> {
    let (core, threads) = (model.core(), job::threads(n_jobs)?);
    let data = dataset(&core, table, target, weight, group)?;
    let measure = Measure::headline(data.task(), None)[0];
    let work = move |observer: &job::JobObserver| {
        run(Some(threads), || permutation_importances(&core, &data, measure, n_repeats, seed, observer))
            .and_then(|found| found)
    };
    let found = job::run(py, None, work)?.map_err(python)?;
    Ok(found.iter().map(|importance| (importance.loss, importance.deviation)).unzip())
}

/// Evaluates a model on rows whose columns are in the order of the model: the report as an HTML page, as text, and as JSON.
#[pyfunction]
#[pyo3(signature = (model, table, target, weight, group, *, seed, n_jobs, progress = None))]
#[expect(clippy::too_many_arguments, reason = "one call from Python, with keywords")]
pub fn report(
    py: Python<'_>,
    model: &PyModel,
    table: &PyTable,
    target: &PyTarget,
    weight: Option<&Bound<'_, PyArray1<f64>>>,
    group: Option<&Bound<'_, PyArray1<u32>>>,
    seed: u64,
    n_jobs: Option<i64>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, String, String)> {
    let (core, threads) = (model.core(), job::threads(n_jobs)?);
    let data = dataset(&core, table, target, weight, group)?;
    let work = move |observer: &job::JobObserver| {
        run(Some(threads), || Report::new(&core, &data, seed, observer)).and_then(|report| report)
    };
    let report = job::run(py, progress, work)?.map_err(python)?;
    let data = serde_json::to_string(&report).map_err(|e| PyValueError::new_err(e.to_string()))?;
    Ok((report.html(), report.to_string(), data))
}

/// A curve as Python gives it: its name, x and y.
type Curve = (String, Vec<f64>, Vec<f64>);

/// Curves on one pair of axes, as SVG; `guide` is a dashed line that they are compared with.
#[pyfunction]
#[pyo3(signature = (title, axes, curves, guide = None))]
pub fn draw_curves(
    title: &str,
    axes: (String, String),
    curves: Vec<Curve>,
    guide: Option<(Vec<f64>, Vec<f64>)>,
) -> String {
    let points = |x: &[f64], y: &[f64]| x.iter().copied().zip(y.iter().copied()).collect::<Vec<_>>();
    let line = |(name, x, y): &Curve| (name.clone(), points(x, y), Mark::Line);
    let guide = guide.map(|(x, y)| (String::new(), points(&x, &y), Mark::Guide));
    let all: Vec<_> = curves.iter().map(line).chain(guide).collect();
    let series: Vec<Series<'_>> =
        all.iter().map(|(name, points, mark)| Series { name, points: points.clone(), mark: *mark }).collect();
    Plot { title, axes: (&axes.0, &axes.1), ranges: None }.draw(&series)
}

/// Bars with their names and spreads, as SVG.
#[pyfunction]
pub fn draw_bars(title: &str, rows: Vec<(String, f64, f64)>) -> String {
    bars(title, &rows)
}
