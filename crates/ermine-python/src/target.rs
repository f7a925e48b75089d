//! `PyTarget`: what is to be learned. Labels of any type become codes into their sorted distinct values, as `numpy.unique` gives them.

use crate::array;
use crate::error::python;
use ermine_core::matrix::{Dataset, Features, Target as CoreTarget, Task};
use ermine_core::table::Table as CoreTable;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// The answers that belong to the rows.
#[pyclass(frozen, module = "ermine._ermine", name = "Target")]
pub struct PyTarget {
    /// Handed over to the fit, which needs them as its own.
    inner: Mutex<Option<(CoreTarget, Task, Vec<String>)>>,
}

impl PyTarget {
    fn new(target: CoreTarget, task: Task, names: Vec<String>) -> PyTarget {
        PyTarget { inner: Mutex::new(Some((target, task, names))) }
    }

    /// The data set of these answers and a table's columns. Takes the answers out: a target serves one fit.
    pub fn dataset(&self, table: Arc<CoreTable>, weight: Option<Vec<f64>>) -> PyResult<Dataset> {
        let taken = self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        let (target, task, names) = taken.ok_or_else(|| PyValueError::new_err("this target has been used"))?;
        let data = Dataset::from_parts(Features::new(table), target, task).map_err(python)?;
        let data = if task == Task::Multilabel { data.with_labels(names.clone()).map_err(python)? } else { data };
        data.named(names).with_weight(weight).map_err(python)
    }
}

#[pymethods]
impl PyTarget {
    /// Classes by codes into the names of the classes.
    #[staticmethod]
    fn classes(codes: &Bound<'_, PyArray1<u32>>, labels: Vec<String>, name: String) -> PyResult<PyTarget> {
        let target = CoreTarget::Classes { codes: array::numbers(codes)?, labels: labels.into() };
        Ok(PyTarget::new(target, Task::Classification, vec![name]))
    }

    /// Numbers: a row for each row of the data, a column for each output.
    #[staticmethod]
    fn values(values: &Bound<'_, PyArray2<f64>>, names: Vec<String>) -> PyResult<PyTarget> {
        let n_outputs = values.shape()[1];
        let values = values.try_readonly()?.as_array().iter().copied().collect();
        Ok(PyTarget::new(CoreTarget::Values { values, n_outputs }, Task::Regression, names))
    }

    /// Labels: a row for each row of the data, a column of 0 and 1 for each label.
    #[staticmethod]
    fn labels(marks: &Bound<'_, PyArray2<f64>>, names: Vec<String>) -> PyResult<PyTarget> {
        let n_outputs = marks.shape()[1];
        let values = marks.try_readonly()?.as_array().iter().copied().collect();
        Ok(PyTarget::new(CoreTarget::Values { values, n_outputs }, Task::Multilabel, names))
    }

    /// How relevant each row is to its query.
    #[staticmethod]
    fn relevance(values: &Bound<'_, PyArray1<f64>>, name: String) -> PyResult<PyTarget> {
        let target = CoreTarget::Values { values: array::numbers(values)?, n_outputs: 1 };
        Ok(PyTarget::new(target, Task::Ranking, vec![name]))
    }
}

/// Distinct values in ascending order, and the place of each value among them.
type Coded<'py, T> = (Vec<T>, Bound<'py, PyArray1<u32>>);

/// The sorted distinct whole numbers of an array, and the code of each.
#[pyfunction]
pub fn integer_classes<'py>(py: Python<'py>, y: &Bound<'py, PyArray1<i64>>) -> PyResult<Coded<'py, i64>> {
    let values = array::numbers(y)?;
    let (distinct, codes) = py.detach(|| code_integers(&values));
    Ok((distinct, PyArray1::from_vec(py, codes)))
}

fn code_integers(values: &[i64]) -> (Vec<i64>, Vec<u32>) {
    /// A table of this many marks is small beside any array that is worth the trouble.
    const TABLE: u64 = 1 << 16;
    let (low, high) = values.iter().fold((i64::MAX, i64::MIN), |(low, high), &v| (low.min(v), high.max(v)));
    if values.is_empty() || low.abs_diff(high) >= TABLE {
        let mut distinct = values.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let codes = values.iter().map(|v| distinct.partition_point(|d| d < v) as u32).collect();
        return (distinct, codes);
    }
    let place = |v: i64| low.abs_diff(v) as usize;
    let mut table = vec![0u32; place(high) + 1];
    values.iter().for_each(|&v| table[place(v)] = 1);
    let distinct: Vec<i64> = (low..=high).filter(|&v| table[place(v)] == 1).collect();
    distinct.iter().enumerate().for_each(|(code, &v)| table[place(v)] = code as u32);
    (distinct, values.iter().map(|&v| table[place(v)]).collect())
}

/// The sorted distinct texts of a list, and the code of each; `None` where something in it isn't text.
#[pyfunction]
pub fn text_classes<'py>(py: Python<'py>, y: &Bound<'py, PyList>) -> PyResult<Option<Coded<'py, String>>> {
    let mut seen: HashMap<String, u32> = HashMap::new();
    let mut codes = Vec::with_capacity(y.len());
    for item in y.iter() {
        let Ok(text) = item.cast::<PyString>() else { return Ok(None) };
        let (text, next) = (text.to_str()?, seen.len() as u32);
        let code = seen.get(text).copied();
        codes.push(code.unwrap_or_else(|| *seen.entry(text.to_string()).or_insert(next)));
    }
    // Bytes of UTF-8 have the order of code points, which is that of Python's strings.
    let mut order: Vec<(String, u32)> = seen.into_iter().collect();
    order.sort_unstable();
    let mut rank = vec![0u32; order.len()];
    order.iter().enumerate().for_each(|(code, (_, first))| rank[*first as usize] = code as u32);
    codes.iter_mut().for_each(|code| *code = rank[*code as usize]);
    Ok(Some((order.into_iter().map(|(text, _)| text).collect(), PyArray1::from_vec(py, codes))))
}
