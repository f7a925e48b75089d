//! `Model`: a fitted model, and the way to one.

use crate::error::python;
use crate::neighbor::{self, FirstException, NeighborArrays};
use crate::table::PyTable;
use crate::target::PyTarget;
use crate::wanted::Wanted;
use crate::{array, job, one_row, value};
use ermine::exchange::ExportFormat;
use ermine::prelude::NeighborModel;
use ermine_core::learner::{self, Context};
use ermine_core::matrix::{Dataset, Features, Splits, Task};
use ermine_core::model::{
    Attribute, AttributeKind, ImportanceKind, Model as CoreModel, Output, Prediction, Predictor, Status,
};
use ermine_core::parallel::run;
use ermine_core::param::Parameters;
use ermine_core::table::{Column, ColumnKind};
use ermine_linear::learner::linear::lasso::{ElasticNet, path};
use ermine_linear::learner::linear::sgd::StochasticGradientDescent;
use ermine_linear::learner::linear::sgd_model::SgdStream;
use ermine_neighbors::search::nearest::Neighbors;
use numpy::{PyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// A fitted model.
#[pyclass(frozen, module = "ermine._ermine", name = "Model")]
pub struct PyModel {
    /// Behind a lock, because some models take in more rows.
    inner: RwLock<Arc<CoreModel>>,
    trouble: FirstException,
    /// The handle for single rows of numbers, made on first use, where the model has one.
    predictor: OnceLock<Option<Predictor>>,
}

/// Trains a model, or continues from a previous one. `note` is a text of JSON that is kept in the model for the Python package; `own` are functions in place of parameters, `group` the query of each row, `folds` the fold of each row, or how many folds there are.
/// `progress` hears about the work now and then, `callback` of every step.
#[pyfunction]
#[pyo3(signature = (learner, params, table, target, weight, *, seed, threads, note, progress = None, callback = None, own = None, previous = None, group = None, folds = None))]
#[expect(clippy::too_many_arguments, reason = "this is the one call from Python, with keywords")]
pub fn fit(
    py: Python<'_>,
    learner: &str,
    params: &Bound<'_, PyDict>,
    table: &PyTable,
    target: &PyTarget,
    weight: Option<&Bound<'_, PyArray1<f64>>>,
    seed: u64,
    threads: usize,
    note: &str,
    progress: Option<&Bound<'_, PyAny>>,
    callback: Option<&Bound<'_, PyAny>>,
    own: Option<&Bound<'_, PyDict>>,
    previous: Option<&PyModel>,
    group: Option<&Bound<'_, PyArray1<u32>>>,
    folds: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyModel> {
    let trouble = FirstException::default();
    let learner = match own.filter(|own| !own.is_empty()) {
        Some(own) => neighbor::learner_with(learner, params, own, &trouble)?,
        None => value::learner(learner, params)?,
    };
    let weight = weight.map(array::numbers).transpose()?;
    let note = serde_json::from_str(note).map_err(|e| PyValueError::new_err(format!("note: {e}")))?;
    let group = group.map(array::numbers).transpose()?;
    let data = target.dataset(table.inner.clone(), weight)?.with_group(group).map_err(python)?;
    let folds = folds.map(|folds| folds_of(&data, folds)).transpose()?.flatten();
    let previous = previous.map(PyModel::core);
    let work = move |observer: &job::JobObserver| {
        let (init_model, folds) = (previous.as_deref(), folds.as_deref());
        let context = Context { seed, threads: Some(threads), observer, init_model, folds, ..ermine::context() };
        learner::fit(learner.as_ref(), &data, &context)
    };
    let mut model = trouble.check(job::run_with_callback(py, &job::Listeners { progress, callback }, work)?)?;
    model.set_note(PROGRAM, note);
    Ok(PyModel::of(model, trouble))
}

/// The fold of each row: as given, or of a number of folds as scikit-learn divides them; `None` if there are too few rows, which the learner handles.
fn folds_of(data: &Dataset, folds: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u32>>> {
    if let Ok(fold) = folds.cast::<PyArray1<u32>>() {
        return array::numbers(fold).map(Some);
    }
    let splits = Splits::unshuffled_k_fold(data, folds.extract()?).ok();
    Ok(splits.and_then(|splits| splits.folds().map(|(fold, _)| fold.to_vec())))
}

/// Continues stochastic gradient descent with one pass over these rows: from `before`, or from scratch.
#[pyfunction]
#[pyo3(signature = (params, table, target, weight, before, *, seed, threads, note))]
#[expect(clippy::too_many_arguments, reason = "one call from Python, with keywords")]
pub fn partial_fit(
    py: Python<'_>,
    params: &Bound<'_, PyDict>,
    table: &PyTable,
    target: &PyTarget,
    weight: Option<&Bound<'_, PyArray1<f64>>>,
    before: Option<&PyModel>,
    seed: u64,
    threads: usize,
    note: &str,
) -> PyResult<PyModel> {
    let learner = value::learner("sgd", params)?;
    let mut sgd = StochasticGradientDescent::default();
    for (name, value) in learner.values() {
        sgd.set(name, &value).map_err(python)?;
    }
    let weight = weight.map(array::numbers).transpose()?;
    let note = serde_json::from_str(note).map_err(|e| PyValueError::new_err(format!("note: {e}")))?;
    let data = target.dataset(table.inner.clone(), weight)?;
    let before = before.map(PyModel::core);
    let work = move |observer: &job::JobObserver| {
        let context = Context { seed, threads: Some(threads), observer, ..ermine::context() };
        SgdStream { params: sgd, from: before.as_deref() }.fit(&data, &context)
    };
    let mut model = job::run(py, None, work)?.map_err(python)?;
    model.set_note(PROGRAM, note);
    Ok(PyModel::of(model, FirstException::default()))
}

/// Strengths, coefficients (a row for each strength) and duality gaps of an elastic-net path.
type ElasticNetPath<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyAny>, Bound<'py, PyArray1<f64>>);

/// The path of elastic nets over falling strengths: those given, or `n_alphas` down to `eps` times the least that makes all coefficients zero.
#[pyfunction]
#[pyo3(signature = (params, table, target, alphas, *, n_alphas, eps, threads))]
#[expect(clippy::too_many_arguments, reason = "one call from Python, with keywords")]
pub fn enet_path<'py>(
    py: Python<'py>,
    params: &Bound<'py, PyDict>,
    table: &PyTable,
    target: &PyTarget,
    alphas: Option<Vec<f64>>,
    n_alphas: usize,
    eps: f64,
    threads: usize,
) -> PyResult<ElasticNetPath<'py>> {
    let learner = value::learner("elastic-net", params)?;
    let mut net = ElasticNet::default();
    for (name, value) in learner.values() {
        net.set(name, &value).map_err(python)?;
    }
    let data = target.dataset(table.inner.clone(), None)?;
    let work = move |_: &job::JobObserver| run(Some(threads), || path(&net, &data, alphas.as_deref(), n_alphas, eps));
    let solutions = job::run(py, None, work)?.and_then(|solutions| solutions).map_err(python)?;
    let strengths: Vec<f64> = solutions.iter().map(|s| s.lambda).collect();
    let gaps: Vec<f64> = solutions.iter().map(|s| s.outcome.gap().unwrap_or(f64::NAN)).collect();
    let shape = [solutions.len(), solutions.first().map_or(0, |s| s.coefficients.len())];
    let coefficients = solutions.into_iter().flat_map(|s| s.coefficients).collect();
    let coefficients = array::shaped(py, coefficients, &shape)?.into_bound_py_any(py)?;
    Ok((PyArray1::from_vec(py, strengths), coefficients, PyArray1::from_vec(py, gaps)))
}

/// The name of this program in the notes of a model file.
pub(crate) const PROGRAM: &str = "python";

#[pymethods]
impl PyModel {
    /// Reads a model from the bytes of a model file.
    #[new]
    fn new(bytes: &[u8]) -> PyResult<PyModel> {
        Ok(PyModel::of(ermine::load_bytes(bytes).map_err(python)?, FirstException::default()))
    }

    /// Reads a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<PyModel> {
        let model = py.detach(|| ermine::load(path)).map_err(python)?;
        Ok(PyModel::of(model, FirstException::default()))
    }

    /// Writes a model file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.core().save(path)).map_err(python)
    }

    /// The model as the bytes of a model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.core().to_bytes()).map_err(python)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((slf.get_type().into_any(), (slf.get().to_bytes(slf.py())?,)))
    }

    /// Learner, parameters, schema, certificate and notes, as JSON.
    fn header(&self) -> PyResult<String> {
        serde_json::to_string(self.core().header()).map_err(|e| PyRuntimeError::new_err(e.to_string()))
    }

    /// The limit that ended the fit before its tolerance was reached, if one did.
    fn stopped_at(&self) -> Option<String> {
        match &self.core().certificate().status {
            Status::Done => None,
            Status::Limit(which) => Some(which.clone()),
        }
    }

    /// The certificate as text.
    fn certificate(&self) -> String {
        self.core().certificate().to_string()
    }

    /// The model as text.
    fn text(&self) -> String {
        self.core().text()
    }

    /// The model as a picture, where there is one.
    fn svg(&self) -> Option<String> {
        self.core().svg()
    }

    /// The model as a page whose parts fold, where there is one.
    fn html(&self) -> Option<String> {
        self.core().html()
    }

    /// The model as a graph for Graphviz, where there is one.
    fn dot(&self) -> Option<String> {
        self.core().dot()
    }

    /// The model as if-then rules, if it has that form.
    fn rules(&self) -> Option<String> {
        self.core().rules()
    }

    /// The alphas of the path of cost-complexity pruning and what the leaves' impurities add up to, where there is such a path.
    fn pruning_path(&self) -> Option<(Vec<f64>, Vec<f64>)> {
        self.core().pruning_path().map(|path| path.into_iter().map(|(alpha, impurity, _)| (alpha, impurity)).unzip())
    }

    /// Explains the prediction of a row, if the model supports it.
    fn explain_row(&self, table: &PyTable, row: usize) -> PyResult<Option<String>> {
        self.core().explain_row_of_columns(table.inner.columns().to_vec(), row).map_err(python)
    }

    /// Reads a model of XGBoost or LightGBM.
    #[staticmethod]
    fn import_file(py: Python<'_>, path: PathBuf) -> PyResult<PyModel> {
        let model = py.detach(|| ermine::import(path)).map_err(python)?;
        Ok(PyModel::of(model, FirstException::default()))
    }

    /// The model for other programs: the bytes of a file.
    fn export<'py>(&self, py: Python<'py>, format: &str) -> PyResult<Bound<'py, PyBytes>> {
        let format = match format {
            "onnx" => ExportFormat::Onnx,
            "c" => ExportFormat::C,
            "rust" => ExportFormat::Rust,
            "json" => ExportFormat::Json,
            other => {
                return Err(PyValueError::new_err(format!(
                    "'{other}' is not a format: expected 'onnx', 'c', 'rust' or 'json'"
                )));
            }
        };
        let bytes = py.detach(|| ermine::export(&self.core(), format)).map_err(python)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The handle for single rows.
    fn row_predictor(&self) -> PyResult<one_row::PyPredictor> {
        Ok(one_row::PyPredictor::new(self.core().predictor().map_err(python)?))
    }

    /// How important each column is to a sum of trees, by "gain", "cover" or "count".
    fn tree_importances<'py>(&self, py: Python<'py>, kind: &str) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let kind = match kind {
            "gain" => ImportanceKind::Gain,
            "cover" => ImportanceKind::Cover,
            "count" => ImportanceKind::Count,
            other => {
                return Err(PyValueError::new_err(format!(
                    "'{other}' is not a kind of importance: expected 'gain', 'cover' or 'count'"
                )));
            }
        };
        Ok(PyArray1::from_vec(py, self.core().tree_importances(kind).map_err(python)?))
    }

    /// The numbers in it that users look at, by name.
    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for attribute in self.core().attributes() {
            match attribute.values.as_slice() {
                [number] if attribute.kind == AttributeKind::Integer => {
                    dict.set_item(attribute.name, *number as i64)?
                }
                [number] if attribute.shape.is_empty() => dict.set_item(attribute.name, number)?,
                _ => dict.set_item(attribute.name, array::shaped(py, attribute.values, &attribute.shape)?)?,
            }
        }
        Ok(dict)
    }

    /// Name, type and documentation of each attribute, for the generator of the Python classes.
    fn attribute_docs(&self) -> Vec<(&'static str, String, &'static str)> {
        let described = |attribute: Attribute| {
            let kind = match attribute.kind {
                AttributeKind::Integer => "int".to_string(),
                AttributeKind::Number => "float".to_string(),
                AttributeKind::Array(axes) => format!("ndarray of shape {axes}"),
            };
            (attribute.name, kind, attribute.doc)
        };
        self.core().attributes().into_iter().map(described).collect()
    }

    /// Predicts for the rows of a two-dimensional array of float64 or float32 with as many columns as the model knows, without a copy; `None`
    /// for any other data.
    fn predict_array<'py>(
        &self,
        py: Python<'py>,
        array: &Bound<'py, PyAny>,
        wanted: &str,
        n_jobs: Option<i64>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let wanted = Wanted::new(wanted)?;
        if is_one_row(array)
            && let Some(predictor) = self.predictor()
            && let Some(answer) = one_row::predict(py, predictor, array, wanted)
        {
            return answer.map(Some);
        }
        let Some((columns, n_rows)) = array::columns(array) else { return Ok(None) };
        if columns.len() != self.core().schema().features.len() || n_rows == 0 {
            return Ok(None);
        }
        // The model goes by the order of the columns, not by names.
        let column =
            |values| Column { name: String::new(), kind: ColumnKind::Numeric, values, notation: Default::default() };
        let columns = columns.into_iter().map(column).collect();
        self.predict(py, columns, n_rows, wanted, n_jobs, None).map(Some)
    }

    /// Predicts for the rows of a table whose columns stand in the model's order; `group` is the query of each row.
    #[pyo3(signature = (table, wanted, n_jobs, group = None))]
    fn predict_table<'py>(
        &self,
        py: Python<'py>,
        table: &PyTable,
        wanted: &str,
        n_jobs: Option<i64>,
        group: Option<&Bound<'py, PyArray1<u32>>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (columns, n_rows) = (table.inner.columns().to_vec(), table.inner.n_rows());
        let group = group.map(array::numbers).transpose()?;
        self.predict(py, columns, n_rows, Wanted::new(wanted)?, n_jobs, group)
    }

    /// Whether it predicts probabilities.
    fn gives_probabilities(&self) -> bool {
        self.core().output() == Output::Probabilities
    }

    /// Whether the prediction of a row depends on the other rows of its query.
    fn is_relative(&self) -> bool {
        self.core().is_relative()
    }

    /// Of a nearest-neighbors model: where each row's neighbors begin, their rows, their distances. Without a table, of the rows that the model keeps,
    /// each without itself.
    fn kneighbors<'py>(
        &self,
        py: Python<'py>,
        table: Option<&PyTable>,
        k: usize,
        n_jobs: Option<i64>,
    ) -> PyResult<NeighborArrays<'py>> {
        self.neighbors(py, table, n_jobs, move |model, features| match features {
            Some(features) => model.kneighbors(features, k),
            None => model.own_kneighbors(k),
        })
    }

    /// The same for all rows within a radius.
    fn radius_neighbors<'py>(
        &self,
        py: Python<'py>,
        table: Option<&PyTable>,
        radius: f64,
        n_jobs: Option<i64>,
    ) -> PyResult<NeighborArrays<'py>> {
        self.neighbors(py, table, n_jobs, move |model, features| match features {
            Some(features) => model.radius_neighbors(features, radius),
            None => model.own_radius_neighbors(radius),
        })
    }

    /// Adds rows to a nearest-neighbors model.
    fn add(&self, py: Python<'_>, table: &PyTable, target: &PyTarget) -> PyResult<()> {
        let data = target.dataset(table.inner.clone(), None)?;
        let added = py.detach(|| {
            let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
            Arc::get_mut(&mut inner).map(|model| NeighborModel::add(model, &data))
        });
        let added = added.ok_or_else(|| PyRuntimeError::new_err("the model is in use by another thread"))?;
        self.trouble.check(added)
    }
}

impl PyModel {
    pub(crate) fn of(model: CoreModel, trouble: FirstException) -> PyModel {
        PyModel { inner: RwLock::new(Arc::new(model)), trouble, predictor: OnceLock::new() }
    }

    /// The handle for single rows, where the model has one and all its columns are numbers.
    fn predictor(&self) -> Option<&Predictor> {
        let make = || {
            let model = self.core();
            let plain = model.schema().features.iter().all(|feature| feature.kind == ColumnKind::Numeric);
            plain.then(|| model.tree_predictor().ok()).flatten()
        };
        self.predictor.get_or_init(make).as_ref()
    }

    pub(crate) fn core(&self) -> Arc<CoreModel> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn neighbors<'py>(
        &self,
        py: Python<'py>,
        table: Option<&PyTable>,
        n_jobs: Option<i64>,
        search: impl Fn(&NeighborModel, Option<&Features>) -> ermine::Result<Neighbors> + Send + Sync + 'static,
    ) -> PyResult<NeighborArrays<'py>> {
        let (model, threads) = (self.core(), job::threads(n_jobs)?);
        let columns = table.map(|table| table.inner.columns().to_vec());
        let work = move |_: &job::JobObserver| {
            let features = columns.map(|columns| model.schema().features_in_order(columns)).transpose()?;
            run(Some(threads), || search(NeighborModel::of(&model)?, features.as_ref())).and_then(|found| found)
        };
        Ok(neighbor::arrays(py, &self.trouble.check(job::run(py, None, work)?)?))
    }

    fn predict<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<Column>,
        n_rows: usize,
        wanted: Wanted,
        n_jobs: Option<i64>,
        queries: Option<Vec<u32>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        /// Fewer values than this are predicted here and now: handing work to other threads takes longer than most models do.
        const SMALL: usize = 1 << 12;
        let size = n_rows * columns.len();
        let model = self.core();
        if size < SMALL {
            let answer = py.detach(|| PredictionArrays::of(&model, columns, wanted, queries));
            return self.trouble.check(answer)?.array(py);
        }
        let threads = job::threads(n_jobs)?;
        let work = move |_: &job::JobObserver| {
            run(Some(threads), || PredictionArrays::of(&model, columns, wanted, queries)).and_then(|answer| answer)
        };
        self.trouble.check(job::run(py, None, work)?)?.array(py)
    }
}

/// Whether it is an array of one row.
fn is_one_row(array: &Bound<'_, PyAny>) -> bool {
    array.cast::<PyUntypedArray>().is_ok_and(|array| matches!(array.shape(), [1, _]))
}

/// A prediction in the form in which Python wants it.
pub enum PredictionArrays {
    /// The code of the class of each row.
    Classes(Vec<i64>),
    /// For each row and label 1 if the row has it, else 0; and how many labels.
    Labels(Vec<i64>, usize),
    /// Numbers, row by row, and how many for each row.
    Numbers(Vec<f64>, usize),
}

impl PredictionArrays {
    fn of(
        model: &CoreModel,
        columns: Vec<Column>,
        wanted: Wanted,
        queries: Option<Vec<u32>>,
    ) -> ermine::Result<PredictionArrays> {
        if wanted != Wanted::Margins {
            return model
                .predict_columns(columns, queries.as_deref())
                .map(|prediction| PredictionArrays::new(&prediction, wanted));
        }
        match model.margins_columns(columns)? {
            Some((values, width)) => Ok(PredictionArrays::Numbers(values, width)),
            None => Err(ermine::Error::data(format!("a model of {} has no margins", model.header().learner))),
        }
    }

    /// The answer to what was wanted.
    pub fn new(prediction: &Prediction, wanted: Wanted) -> PredictionArrays {
        let width = prediction.width();
        match wanted {
            Wanted::Classes if prediction.task() == Task::Multilabel => {
                let marks = |row: usize| (0..width).map(move |label| i64::from(prediction.has(row, label)));
                PredictionArrays::Labels((0..prediction.n_rows()).flat_map(marks).collect(), width)
            }
            Wanted::Classes if prediction.output() != Output::Values => {
                PredictionArrays::Classes((0..prediction.n_rows()).map(|row| prediction.class(row) as i64).collect())
            }
            _ => PredictionArrays::Numbers(prediction.values().to_vec(), width),
        }
    }

    /// It as an array.
    pub fn array(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        match self {
            PredictionArrays::Classes(codes) => PyArray1::from_vec(py, codes).into_bound_py_any(py),
            PredictionArrays::Labels(marks, width) => {
                let n_rows = marks.len() / width.max(1);
                array::shaped(py, marks, &[n_rows, width])?.into_bound_py_any(py)
            }
            PredictionArrays::Numbers(values, width) => {
                let n_rows = values.len() / width.max(1);
                array::shaped(py, values, &[n_rows, width])?.into_bound_py_any(py)
            }
        }
    }
}
