//! `Model`: a fitted model, and the way to one.

use crate::array;
use crate::error::python;
use crate::job;
use crate::table::Table;
use crate::target::Target;
use crate::value;
use ermine::learner::{self, Context, fit::run};
use ermine::model::{Model as CoreModel, Output, Prediction, Status};
use ermine::table::{Column, ColumnKind};
use numpy::PyArray1;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;
use std::sync::Arc;

/// A fitted model.
#[pyclass(frozen, module = "ermine._ermine")]
pub struct Model {
    inner: Arc<CoreModel>,
}

/// Learns a model. `note` is a text of JSON that is kept in the model for the Python package.
#[pyfunction]
#[pyo3(signature = (learner, params, table, target, weight, *, seed, threads, note, progress = None))]
#[expect(clippy::too_many_arguments, reason = "this is the one call from Python, with keywords")]
pub fn fit(
    py: Python<'_>,
    learner: &str,
    params: &Bound<'_, PyDict>,
    table: &Table,
    target: &Target,
    weight: Option<&Bound<'_, PyArray1<f64>>>,
    seed: u64,
    threads: usize,
    note: &str,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Model> {
    let learner = value::learner(learner, params)?;
    let weight = weight.map(array::numbers).transpose()?;
    let note = serde_json::from_str(note).map_err(|e| PyValueError::new_err(format!("note: {e}")))?;
    let data = target.dataset(table.inner.clone(), weight)?;
    let work = move |watch: &job::Watch| {
        let context = Context { seed, threads: Some(threads), observer: watch, ..Default::default() };
        learner::fit(learner.as_ref(), &data, &context)
    };
    let mut model = job::run(py, progress, work)?.map_err(python)?;
    model.set_note(PROGRAM, note);
    Ok(Model { inner: Arc::new(model) })
}

/// The name of this program in the notes of a model file.
const PROGRAM: &str = "python";

/// What a prediction is asked for.
#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    /// The code of the class of each row.
    Classes,
    /// All numbers of each row.
    Numbers,
}

impl Wanted {
    fn new(word: &str) -> PyResult<Wanted> {
        match word {
            "classes" => Ok(Wanted::Classes),
            "numbers" => Ok(Wanted::Numbers),
            other => Err(PyValueError::new_err(format!("'{other}' can't be predicted"))),
        }
    }
}

#[pymethods]
impl Model {
    /// Reads a model from the bytes of a model file.
    #[new]
    fn new(bytes: &[u8]) -> PyResult<Model> {
        Ok(Model { inner: Arc::new(CoreModel::from_bytes(bytes).map_err(python)?) })
    }

    /// Reads a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Model> {
        let model = py.detach(|| CoreModel::load(path)).map_err(python)?;
        Ok(Model { inner: Arc::new(model) })
    }

    /// Writes a model file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.inner.save(path)).map_err(python)
    }

    /// The model as the bytes of a model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.inner.to_bytes()).map_err(python)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((slf.get_type().into_any(), (slf.get().to_bytes(slf.py())?,)))
    }

    /// Learner, parameters, schema, certificate and notes, as JSON.
    fn header(&self) -> PyResult<String> {
        serde_json::to_string(self.inner.header()).map_err(|e| PyRuntimeError::new_err(e.to_string()))
    }

    /// The limit that ended the fit before its tolerance was reached, if one did.
    fn stopped_at(&self) -> Option<String> {
        match &self.inner.certificate().status {
            Status::Done => None,
            Status::Limit(which) => Some(which.clone()),
        }
    }

    /// The certificate as text.
    fn certificate(&self) -> String {
        self.inner.certificate().to_string()
    }

    /// The model as text.
    fn text(&self) -> String {
        self.inner.text()
    }

    /// The model as a picture, where there is one.
    fn svg(&self) -> Option<String> {
        self.inner.svg()
    }

    /// The model as a page whose parts fold, where there is one.
    fn html(&self) -> Option<String> {
        self.inner.html()
    }

    /// The model as a graph for Graphviz, where there is one.
    fn dot(&self) -> Option<String> {
        self.inner.dot()
    }

    /// The model as if-then rules, where it can be said in rules.
    fn rules(&self) -> Option<String> {
        self.inner.rules()
    }

    /// The alphas of the path of cost-complexity pruning and what the leaves' impurities add up to, where there is such a path.
    fn pruning_path(&self) -> Option<(Vec<f64>, Vec<f64>)> {
        self.inner.pruning_path().map(|path| path.into_iter().map(|(alpha, impurity, _)| (alpha, impurity)).unzip())
    }

    /// Why a row of a table gets its prediction, where the model can say it.
    fn reasons(&self, table: &Table, row: usize) -> PyResult<Option<String>> {
        self.inner.reasons_of_columns(table.inner.columns().to_vec(), row).map_err(python)
    }

    /// The numbers in it that users look at, by name.
    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for attribute in self.inner.attributes() {
            match attribute.values.as_slice() {
                [number] if attribute.shape.is_empty() => dict.set_item(attribute.name, number)?,
                _ => dict.set_item(attribute.name, array::shaped(py, attribute.values, &attribute.shape)?)?,
            }
        }
        Ok(dict)
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
        let Some((columns, n_rows)) = array::columns(array) else { return Ok(None) };
        if columns.len() != self.inner.schema().features.len() || n_rows == 0 {
            return Ok(None);
        }
        // The model goes by the order of the columns, not by names.
        let column = |values| Column { name: String::new(), kind: ColumnKind::Numeric, values };
        self.predict(py, columns.into_iter().map(column).collect(), n_rows, Wanted::new(wanted)?, n_jobs).map(Some)
    }

    /// Predicts for the rows of a table whose columns stand in the model's order.
    fn predict_table<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        wanted: &str,
        n_jobs: Option<i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (columns, n_rows) = (table.inner.columns().to_vec(), table.inner.n_rows());
        self.predict(py, columns, n_rows, Wanted::new(wanted)?, n_jobs)
    }
}

impl Model {
    fn predict<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<Column>,
        n_rows: usize,
        wanted: Wanted,
        n_jobs: Option<i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        /// Fewer values than this are predicted here and now: handing work to other threads takes longer than most models do.
        const SMALL: usize = 1 << 12;
        let size = n_rows * columns.len();
        let model = self.inner.clone();
        if size < SMALL {
            let answer =
                py.detach(|| model.predict_columns(columns).map(|p| Answer::new(&p, wanted))).map_err(python)?;
            return answer.array(py);
        }
        let threads = job::threads(n_jobs)?;
        let work = move |_: &job::Watch| {
            let predict = || model.predict_columns(columns).map(|p| Answer::new(&p, wanted));
            run(Some(threads), predict).and_then(|answer| answer)
        };
        job::run(py, None, work)?.map_err(python)?.array(py)
    }
}

/// A prediction in the form in which Python wants it.
enum Answer {
    Classes(Vec<i64>),
    /// Numbers, row by row, and how many for each row.
    Numbers(Vec<f64>, usize),
}

impl Answer {
    fn new(prediction: &Prediction, wanted: Wanted) -> Answer {
        match wanted {
            Wanted::Classes if prediction.output() != Output::Values => {
                Answer::Classes((0..prediction.n_rows()).map(|row| prediction.class(row) as i64).collect())
            }
            _ => Answer::Numbers(prediction.values().to_vec(), prediction.width()),
        }
    }

    fn array(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        match self {
            Answer::Classes(codes) => PyArray1::from_vec(py, codes).into_bound_py_any(py),
            Answer::Numbers(values, width) => {
                let n_rows = values.len() / width.max(1);
                array::shaped(py, values, &[n_rows, width])?.into_bound_py_any(py)
            }
        }
    }
}
