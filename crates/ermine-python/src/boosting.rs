//! Gradient boosting with inputs that are not parameters: query groups, initial scores, validation sets, custom losses and metrics, checkpoints.
//!
//! Functions of the user are called on the thread that trains, which takes the interpreter for the time of the call. What they raise ends the training and is
//! raised again where `fit` was called.

use crate::array;
use crate::error::python;
use crate::job;
use crate::model::{PROGRAM, PyModel};
use crate::table::PyTable;
use crate::target::PyTarget;
use crate::value;
use ermine::{Error, Result};
use ermine_core::learner::{self, Checkpoint, Context};
use ermine_core::matrix::{Dataset, Target as CoreTarget};
use ermine_core::model::Model as CoreModel;
use ermine_trees::boost::objective::Objective;
use ermine_trees::learner::gradient_boosting::{BoostedTrees, GradientBoosting, fitted::BoostedStages};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Where an exception of a user's function waits until the training has ended.
#[derive(Clone, Default)]
struct RaisedException(Arc<Mutex<Option<PyErr>>>);

impl RaisedException {
    fn put(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn is_there(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

/// Rows with their targets, weights, queries and scores to start from.
struct ValidationSet<'a, 'py> {
    table: &'a PyTable,
    target: &'a PyTarget,
    weight: Option<&'a Bound<'py, PyArray1<f64>>>,
    group: Option<&'a Bound<'py, PyArray1<u32>>>,
    init_score: Option<&'a Bound<'py, PyArray1<f64>>>,
}

impl ValidationSet<'_, '_> {
    fn dataset(&self) -> PyResult<Dataset> {
        let weight = self.weight.map(array::numbers).transpose()?;
        let group = self.group.map(array::numbers).transpose()?;
        let init_score = self.init_score.map(array::numbers).transpose()?;
        let data = self.target.dataset(self.table.inner.clone(), weight)?.with_group(group);
        data.and_then(|data| data.with_init_score(init_score)).map_err(python)
    }
}

/// Trains gradient boosting. `extras` may contain `group`, `init_score`, `validation` (a list of sets: table, target, weight, group, init score; the last is used for early stopping), `objective`, `metric`, `checkpoint` (path,
/// number of rounds between checkpoints) and `model` (to continue from).
#[pyfunction]
#[pyo3(signature = (params, table, target, weight, extras, *, seed, threads, note, progress = None, callback = None))]
#[expect(clippy::too_many_arguments, reason = "one call from Python, with keywords")]
pub fn boost(
    py: Python<'_>,
    params: &Bound<'_, PyDict>,
    table: &PyTable,
    target: &PyTarget,
    weight: Option<&Bound<'_, PyArray1<f64>>>,
    extras: &Bound<'_, PyDict>,
    seed: u64,
    threads: usize,
    note: &str,
    progress: Option<&Bound<'_, PyAny>>,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyModel> {
    let mut gradient_boosting = GradientBoosting::default();
    value::set(&mut gradient_boosting, params)?;
    let mut note: serde_json::Value =
        serde_json::from_str(note).map_err(|e| PyValueError::new_err(format!("note: {e}")))?;
    let group = extra::<Bound<'_, PyArray1<u32>>>(extras, "group")?;
    let init_score = extra::<Bound<'_, PyArray1<f64>>>(extras, "init_score")?;
    let data =
        ValidationSet { table, target, weight, group: group.as_ref(), init_score: init_score.as_ref() }.dataset()?;
    // The last set is used for early stopping; the others are only evaluated.
    let mut sets = validation(extras)?;
    let validation = sets.pop();
    let (objective, metric): (Option<Py<PyAny>>, Option<Py<PyAny>>) =
        (extra(extras, "objective")?, extra(extras, "metric")?);
    if objective.is_some() && metric.is_none() && gradient_boosting.early_stopping_rounds.is_some() {
        return Err(PyTypeError::new_err("early stopping with a custom objective needs an eval_metric"));
    }
    let checkpoint: Option<(PathBuf, usize)> = extra(extras, "checkpoint")?;
    let from: Option<Py<PyModel>> = extra(extras, "model")?;
    let from = from.map(|model| model.get().core());
    let raised = RaisedException::default();
    let errors = raised.clone();
    let work = move |observer: &job::JobObserver| {
        let loss = |data: &Dataset| own_loss(data, objective.as_ref(), &errors);
        let custom_metric =
            |data: &Dataset, predictions: &[f64]| metric_value(data, predictions, metric.as_ref(), &errors);
        let save = |model: &CoreModel| checkpoint.as_ref().map_or(Ok(()), |(path, _)| model.save(path));
        let context = Context {
            seed,
            threads: Some(threads),
            observer,
            init_model: from.as_deref(),
            validation: validation.as_ref(),
            objective: if objective.is_some() { Some(&loss) } else { None },
            metric: if metric.is_some() { Some(&custom_metric) } else { None },
            checkpoint: checkpoint.as_ref().map(|(_, every)| Checkpoint { every: *every, save: &save }),
            ..ermine::context()
        };
        let model = learner::fit(&gradient_boosting, &data, &context)?;
        let history = |rows: &Dataset| gradient_boosting.validation_history(&model, rows, &context);
        let others: Vec<Vec<f64>> = sets.iter().map(history).collect::<Result<_>>()?;
        Ok((model, others))
    };
    let trained = job::run_with_callback(py, &job::Listeners { progress, callback }, work)?;
    if let Some(error) = raised.take() {
        return Err(error);
    }
    let (mut model, others) = trained.map_err(python)?;
    if !others.is_empty() {
        note["other_sets"] = others.into();
    }
    model.set_note(PROGRAM, note);
    Ok(PyModel::of(model, crate::neighbor::FirstException::default()))
}

/// An entry of `extras`; `None` if it is not there or is None.
fn extra<'py, T: for<'a> FromPyObject<'a, 'py>>(extras: &Bound<'py, PyDict>, name: &str) -> PyResult<Option<T>> {
    match extras.get_item(name)?.filter(|value| !value.is_none()) {
        Some(value) => {
            let wrong = |e: PyErr| PyTypeError::new_err(format!("{name}: {e}"));
            value.extract::<T>().map_err(|e| wrong(e.into())).map(Some)
        }
        None => Ok(None),
    }
}

/// The validation sets.
fn validation(extras: &Bound<'_, PyDict>) -> PyResult<Vec<Dataset>> {
    let sets: Option<Vec<Bound<'_, PyAny>>> = extra(extras, "validation")?;
    sets.unwrap_or_default().iter().map(rows_of).collect()
}

/// A validation set: table, target, weight, group, init score.
fn rows_of(set: &Bound<'_, PyAny>) -> PyResult<Dataset> {
    type Numbers<'py> = Option<Bound<'py, PyArray1<f64>>>;
    type PartObserver<'py> = (Py<PyTable>, Py<PyTarget>, Numbers<'py>, Option<Bound<'py, PyArray1<u32>>>, Numbers<'py>);
    let (table, target, weight, group, init): PartObserver<'_> = set.extract()?;
    let (table, target, group) = (table.get(), target.get(), group.as_ref());
    ValidationSet { table, target, weight: weight.as_ref(), group, init_score: init.as_ref() }.dataset()
}

/// The targets of the rows as Python sees them: numbers, class codes as numbers too.
fn answers(data: &Dataset) -> (Vec<f64>, usize) {
    match data.target() {
        CoreTarget::Classes { codes, .. } => (codes.iter().map(|&c| f64::from(c)).collect(), 1),
        CoreTarget::Values { values, n_outputs } => (values.clone(), *n_outputs),
    }
}

/// Numbers as an array: flat where there is one for each row.
fn as_array<'py>(py: Python<'py>, values: Vec<f64>, width: usize) -> PyResult<Bound<'py, PyAny>> {
    let shape = [values.len() / width.max(1), width];
    Ok(array::shaped(py, values, if width == 1 { &shape[..1] } else { &shape })?.into_any())
}

fn metric_value(
    data: &Dataset,
    predictions: &[f64],
    metric: Option<&Py<PyAny>>,
    raised: &RaisedException,
) -> Result<f64> {
    let Some(metric) = metric else { return Ok(0.0) };
    let (values, width) = answers(data);
    let call = |py: Python<'_>| -> PyResult<f64> {
        let predictions = as_array(py, predictions.to_vec(), predictions.len() / data.n_rows().max(1))?;
        let value: f64 = metric.bind(py).call1((as_array(py, values, width)?, predictions))?.extract()?;
        if value.is_finite() { Ok(value) } else { Err(PyValueError::new_err(format!("eval_metric gave {value}"))) }
    };
    Python::attach(call).map_err(|error| {
        raised.put(error);
        Error::Stopped
    })
}

/// A loss that Python computes: `objective(y, score)` gives gradient and curvature.
struct PythonLoss {
    call: Py<PyAny>,
    target: Vec<f64>,
    width: usize,
    n_scores: usize,
    weight: Option<Vec<f64>>,
    /// All rows at once: a loss may look at all of them.
    bounds: [usize; 2],
    raised: RaisedException,
}

fn own_loss(data: &Dataset, call: Option<&Py<PyAny>>, raised: &RaisedException) -> Result<Box<dyn Objective>> {
    let Some(call) = call else { return Err(Error::Stopped) };
    let (target, width) = answers(data);
    let n_scores = match data.target() {
        CoreTarget::Classes { labels, .. } if labels.len() > 2 => labels.len(),
        CoreTarget::Classes { .. } => 1,
        CoreTarget::Values { n_outputs, .. } => *n_outputs,
    };
    Ok(Box::new(PythonLoss {
        call: Python::attach(|py| call.clone_ref(py)),
        target,
        width,
        n_scores,
        weight: data.weight().map(<[f64]>::to_vec),
        bounds: [0, data.n_rows()],
        raised: raised.clone(),
    }))
}

impl PythonLoss {
    /// Gradient and curvature of all rows, row by row.
    fn call(&self, scores: &[&[f64]]) -> PyResult<[Vec<f64>; 2]> {
        let (n, k) = (self.bounds[1], self.n_scores);
        let by_row: Vec<f64> = (0..n).flat_map(|row| scores.iter().map(move |of| of[row])).collect();
        Python::attach(|py| {
            let (y, scores) = (as_array(py, self.target.clone(), self.width)?, as_array(py, by_row, k)?);
            let (g, h): (Bound<'_, PyAny>, Bound<'_, PyAny>) = self.call.bind(py).call1((y, scores))?.extract()?;
            let numpy = py.import("numpy")?;
            let flat = |array: Bound<'_, PyAny>, what: &str| -> PyResult<Vec<f64>> {
                let array = numpy.call_method1("asarray", (array, "float64"))?.call_method0("ravel")?;
                let values = array.cast::<PyArray1<f64>>()?.to_vec()?;
                let wrong = values.len() != n * k || values.iter().any(|v| !v.is_finite());
                if wrong || (what == "curvature" && values.iter().any(|&v| v < 0.0)) {
                    let text =
                        format!("the objective's {what}: expected {} finite numbers (no curvature negative)", n * k);
                    return Err(PyValueError::new_err(text));
                }
                Ok(values)
            };
            Ok([flat(g, "gradient")?, flat(h, "curvature")?])
        })
    }

    fn weight(&self, row: usize) -> f64 {
        self.weight.as_ref().map_or(1.0, |weight| weight[row])
    }
}

impl Objective for PythonLoss {
    fn n_scores(&self) -> usize {
        self.n_scores
    }

    /// The best constant of a function that gives gradients alone is not known; `base_score` says another start.
    fn start(&self) -> Vec<f64> {
        vec![0.0; self.n_scores]
    }

    fn gradients(&self, rows: Range<usize>, scores: &[&[f64]], g: &mut [&mut [f32]], h: &mut [&mut [f32]]) {
        if rows.is_empty() || self.raised.is_there() {
            return;
        }
        match self.call(scores) {
            Ok([first, second]) => {
                for (i, (&first, &second)) in first.iter().zip(&second).enumerate() {
                    let (row, output) = (i / self.n_scores, i % self.n_scores);
                    g[output][row] = (first * self.weight(row)) as f32;
                    h[output][row] = (second * self.weight(row)) as f32;
                }
            }
            Err(error) => self.raised.put(error),
        }
    }

    /// The value of a custom loss is not known; the size of its gradient measures the distance from its minimum.
    fn loss(&self, rows: Range<usize>, scores: &[&[f64]]) -> f64 {
        match (rows.is_empty() || self.raised.is_there())
            .then_some(())
            .map_or_else(|| self.call(scores), |()| Ok(Default::default()))
        {
            Ok([first, _]) => first.iter().enumerate().map(|(i, g)| g.abs() * self.weight(i / self.n_scores)).sum(),
            Err(error) => {
                self.raised.put(error);
                0.0
            }
        }
    }

    fn total_weight(&self) -> f64 {
        self.weight.as_ref().map_or(self.bounds[1] as f64, |weight| weight.iter().sum())
    }

    fn failure(&self) -> Option<Error> {
        self.raised.is_there().then_some(Error::Stopped)
    }

    fn bounds(&self) -> Option<&[usize]> {
        Some(&self.bounds)
    }

    fn name(&self) -> &'static str {
        "size of the gradient of a custom loss"
    }
}

/// The predictions after each round, one after the other.
#[pyclass(module = "ermine._ermine", name = "Staged")]
pub struct PyStagedPredictions {
    model: Arc<CoreModel>,
    stages: BoostedStages,
    n_rows: usize,
}

#[pymethods]
impl PyStagedPredictions {
    /// Staged prediction for the rows of a table whose columns stand in the model's order.
    #[new]
    fn new(model: &PyModel, table: &PyTable) -> PyResult<PyStagedPredictions> {
        let model = model.core();
        let features = model.schema().features_in_order(table.inner.columns().to_vec()).map_err(python)?;
        let stages = boosted(&model)?.stages(&features).map_err(python)?;
        Ok(PyStagedPredictions { model, stages, n_rows: table.inner.n_rows() })
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (model, stages) = (&self.model, &mut self.stages);
        let Some(boosted) = model.fitted::<BoostedTrees>() else { return Ok(None) };
        let Some(predictions) = py.detach(|| boosted.next_stage(stages)) else { return Ok(None) };
        let width = predictions.len() / self.n_rows.max(1);
        Ok(Some(array::shaped(py, predictions, &[self.n_rows, width])?.into_any()))
    }
}

fn boosted(model: &CoreModel) -> PyResult<&BoostedTrees> {
    model.fitted::<BoostedTrees>().ok_or_else(|| PyTypeError::new_err("this is no model of gradient boosting"))
}

/// All quantiles of each row, ascending: an array of shape (n_rows, n_quantiles).
#[pyfunction]
pub fn boosted_quantiles<'py>(py: Python<'py>, model: &PyModel, table: &PyTable) -> PyResult<Bound<'py, PyAny>> {
    let model = model.core();
    let features = model.schema().features_in_order(table.inner.columns().to_vec()).map_err(python)?;
    let fitted = boosted(&model)?;
    let values = py.detach(|| fitted.quantiles(&features)).map_err(python)?;
    Ok(array::shaped(py, values, &[table.inner.n_rows(), fitted.booster().n_scores()])?.into_any())
}
