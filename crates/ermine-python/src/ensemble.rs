//! What models made of many parts can tell: stages, members, leaves, quantiles, SHAP values.

use crate::array;
use crate::error::python;
use crate::job;
use crate::model::{PredictionArrays, PyModel};
use crate::neighbor::FirstException;
use crate::table::PyTable;
use crate::wanted::Wanted;
use ermine_core::matrix::Features;
use ermine_core::model::{Model as CoreModel, Stages as CoreStages};
use ermine_core::parallel::run;
use ermine_eval::explain::dependence::dependence;
use numpy::{PyArray, PyArray1};
use pyo3::prelude::*;
use std::sync::Arc;

/// The predictions of the first stage, of the first two, and so on.
#[pyclass(module = "ermine._ermine", name = "Stages")]
pub struct PyStages {
    model: Arc<CoreModel>,
    stages: CoreStages,
    wanted: Wanted,
}

#[pymethods]
impl PyStages {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (stages, model) = (&mut self.stages, &self.model);
        let wanted = self.wanted;
        let next =
            py.detach(|| stages.next(model).map(|prediction| prediction.map(|p| PredictionArrays::new(&p, wanted))));
        next.transpose().map_err(python)?.map(|answer| answer.array(py)).transpose()
    }
}

/// Numbers as an array of the given shape.
type Shaped<'py, T> = Bound<'py, PyArray<T, numpy::IxDyn>>;

/// SHAP values, and what is expected when nothing is known.
type Shap<'py> = (Shaped<'py, f64>, Bound<'py, PyArray1<f64>>);

/// The features of a table whose columns stand in the model's order.
fn features(model: &PyModel, table: &PyTable) -> PyResult<Features> {
    model.core().schema().features_in_order(table.inner.columns().to_vec()).map_err(python)
}

/// Works on the features of a table with the requested number of threads, away from the interpreter.
fn with_features<T: Send + 'static>(
    py: Python<'_>,
    model: &PyModel,
    table: &PyTable,
    n_jobs: Option<i64>,
    work: impl FnOnce(&CoreModel, &Features) -> ermine::Result<T> + Send + 'static,
) -> PyResult<T> {
    let (features, threads, model) = (features(model, table)?, job::threads(n_jobs)?, model.core());
    let work = move |_: &job::JobObserver| run(Some(threads), || work(&model, &features)).and_then(|result| result);
    job::run(py, None, work)?.map_err(python)
}

/// What a model predicts after its first stage, after the first two, and so on.
#[pyfunction]
pub fn stages(model: &PyModel, table: &PyTable, wanted: &str) -> PyResult<PyStages> {
    let stages = model.core().stages(features(model, table)?).map_err(python)?;
    Ok(PyStages { model: model.core(), stages, wanted: Wanted::new(wanted)? })
}

/// The models that a model is made of.
#[pyfunction]
pub fn members(py: Python<'_>, model: &PyModel) -> PyResult<Vec<PyModel>> {
    let member = |member| model.core().member(member).map(|model| PyModel::of(model, FirstException::default()));
    py.detach(|| (0..model.core().n_members()).map(member).collect::<ermine::Result<Vec<PyModel>>>()).map_err(python)
}

/// The leaf of each row in each tree.
#[pyfunction]
pub fn leaves<'py>(
    py: Python<'py>,
    model: &PyModel,
    table: &PyTable,
    n_jobs: Option<i64>,
) -> PyResult<Shaped<'py, i64>> {
    let (leaves, n_trees) = with_features(py, model, table, n_jobs, |model, features| model.leaves(features))?;
    array::shaped(py, leaves.into_iter().map(i64::from).collect(), &[table.inner.n_rows(), n_trees])
}

/// The share of the trees in which two rows end in the same leaf.
#[pyfunction]
pub fn proximity<'py>(
    py: Python<'py>,
    model: &PyModel,
    table: &PyTable,
    n_jobs: Option<i64>,
) -> PyResult<Shaped<'py, f64>> {
    let n = table.inner.n_rows();
    let alike = with_features(py, model, table, n_jobs, |model, features| model.proximity(features))?;
    array::shaped(py, alike, &[n, n])
}

/// The logarithm of the density of the features at each row.
#[pyfunction]
pub fn log_density<'py>(
    py: Python<'py>,
    model: &PyModel,
    table: &PyTable,
    n_jobs: Option<i64>,
) -> PyResult<Shaped<'py, f64>> {
    let shape = [table.inner.n_rows()];
    let values = with_features(py, model, table, n_jobs, |model, features| model.log_density(features))?;
    array::shaped(py, values, &shape)
}

/// The rows of a tree's bootstrap sample.
#[pyfunction]
pub fn bootstrap_rows(
    py: Python<'_>,
    seed: u64,
    tree: usize,
    n_rows: usize,
    n_draws: usize,
) -> Bound<'_, PyArray1<i32>> {
    let rows = ermine_trees::learner::forest::train::bootstrap_rows(seed, tree, n_rows, n_draws);
    PyArray1::from_iter(py, rows.map(|row| row as i32))
}

/// Quantiles of the target for each row, one for each level.
#[pyfunction]
pub fn quantiles<'py>(
    py: Python<'py>,
    model: &PyModel,
    table: &PyTable,
    levels: Vec<f64>,
    n_jobs: Option<i64>,
) -> PyResult<Shaped<'py, f64>> {
    let shape = [table.inner.n_rows(), levels.len()];
    let values = with_features(py, model, table, n_jobs, move |model, features| model.quantiles(features, &levels))?;
    array::shaped(py, values, &shape)
}

/// The SHAP values of each row, column and output, and what is expected of each output when nothing is known.
#[pyfunction]
pub fn shap<'py>(py: Python<'py>, model: &PyModel, table: &PyTable, n_jobs: Option<i64>) -> PyResult<Shap<'py>> {
    let shap = with_features(py, model, table, n_jobs, |model, features| model.shap_of(features))?;
    let shape = [shap.n_rows, shap.n_columns, shap.n_outputs];
    Ok((array::shaped(py, shap.values, &shape)?, PyArray1::from_vec(py, shap.expected)))
}

/// The SHAP interaction values of each row, pair of columns and output.
#[pyfunction]
pub fn shap_interactions<'py>(
    py: Python<'py>,
    model: &PyModel,
    table: &PyTable,
    n_jobs: Option<i64>,
) -> PyResult<Shaped<'py, f64>> {
    let shap = with_features(py, model, table, n_jobs, |model, features| model.shap_interactions_of(features))?;
    let d = model.core().schema().features.len();
    array::shaped(py, shap.values, &[shap.n_rows, d, d, shap.n_outputs])
}

/// Values of a column, the mean prediction at each, and the curves of some rows.
type Curves<'py> = (Vec<f64>, Option<Vec<String>>, Shaped<'py, f64>, Shaped<'py, f64>);

/// What the model predicts as a column changes: the mean over all rows, and the curves of the first of them.
#[pyfunction]
pub fn partial_dependence<'py>(
    py: Python<'py>,
    model: &PyModel,
    table: &PyTable,
    column: usize,
    n_values: usize,
    n_curves: usize,
    n_jobs: Option<i64>,
) -> PyResult<Curves<'py>> {
    let found = with_features(py, model, table, n_jobs, move |model, features| {
        let names = &model.schema().features;
        let name = names.get(column).map(|feature| feature.name.clone());
        let name = name.ok_or_else(|| ermine::Error::data(format!("column {column} of {}", names.len())))?;
        dependence(model, features, None, |_| 1.0, &name, n_values, n_curves)
    })?;
    let (n, width) = (found.values.len(), found.means.first().map_or(0, Vec::len));
    let means = array::shaped(py, found.means.concat(), &[n, width])?;
    let curves = array::shaped(py, found.rows.concat(), &[found.rows.len(), n])?;
    Ok((found.values, found.categories, means, curves))
}
