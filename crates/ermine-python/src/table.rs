//! `PyTable`: what the Python package hands to learners and models.

use crate::array;
use crate::arrow;
use crate::error::python;
use ermine_core::table::{Buffer, Column, ColumnKind, Levels, MISSING, Table as CoreTable, Values};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::sync::Arc;

/// Named columns of equal length.
#[pyclass(frozen, module = "ermine._ermine", name = "Table")]
pub struct PyTable {
    /// The table itself.
    pub inner: Arc<CoreTable>,
}

/// The name of column `j` where the data has no names.
pub fn plain_name(j: usize) -> String {
    format!("x{j}")
}

/// A column as Python describes it: name, kind, values, and levels where it has categories.
type ColumnParts<'py> = (String, String, Bound<'py, PyAny>, Option<Vec<String>>);

#[pymethods]
impl PyTable {
    /// The columns of a two-dimensional array of float64 or float32, without a copy; `None` if that can't be done.
    #[staticmethod]
    #[pyo3(signature = (array, names = None))]
    fn from_array(array: &Bound<'_, PyAny>, names: Option<Vec<String>>) -> PyResult<Option<PyTable>> {
        let Some((columns, _)) = array::columns(array) else { return Ok(None) };
        let name = |j: usize| names.as_ref().and_then(|names| names.get(j).cloned()).unwrap_or_else(|| plain_name(j));
        let named =
            |(j, values)| Column { name: name(j), kind: ColumnKind::Numeric, values, notation: Default::default() };
        PyTable::new(columns.into_iter().enumerate().map(named).collect()).map(Some)
    }

    /// One column after the other, each `(name, kind, values, levels)`.
    #[staticmethod]
    fn from_columns(columns: Vec<ColumnParts<'_>>) -> PyResult<PyTable> {
        PyTable::new(columns.into_iter().map(column).collect::<PyResult<_>>()?)
    }

    /// The columns of a sparse matrix in compressed-column form with sorted rows.
    #[staticmethod]
    fn from_sparse(
        n_rows: usize,
        starts: &Bound<'_, PyArray1<i64>>,
        rows: &Bound<'_, PyArray1<u32>>,
        values: &Bound<'_, PyArray1<f64>>,
    ) -> PyResult<PyTable> {
        let starts = array::numbers(starts)?;
        let (rows, values) = (array::buffer(rows)?, array::buffer(values)?);
        let broken = || PyValueError::new_err("not a sparse matrix in compressed-column form with sorted rows");
        let column = |(j, pair): (usize, &[i64])| {
            let range = usize::try_from(pair[0]).ok().zip(usize::try_from(pair[1]).ok()).map(|(a, b)| a..b);
            let range = range.filter(|r| r.start <= r.end && r.end <= rows.len() && r.end <= values.len());
            let range = range.ok_or_else(broken)?;
            let (rows, values) = (rows.slice(range.clone()), values.slice(range));
            if !is_ascending_below(&rows, n_rows) {
                return Err(broken());
            }
            Ok(Column::sparse(plain_name(j), n_rows, rows, values))
        };
        PyTable::new(starts.windows(2).enumerate().map(column).collect::<PyResult<_>>()?)
    }

    /// The columns of a frame with the Arrow PyCapsule interface (`__arrow_c_stream__` or `__arrow_c_array__`); `None` if it is not a frame.
    #[staticmethod]
    fn from_arrow(py: Python<'_>, frame: &Bound<'_, PyAny>) -> PyResult<Option<PyTable>> {
        let Some(frame) = arrow::frame(frame)? else { return Ok(None) };
        if let Some((name, kind)) = frame.unreadable() {
            let message = format!("column '{name}' holds {kind}; expected numbers, text, truth values or categories");
            return Err(PyTypeError::new_err(message));
        }
        let table = py.detach(|| frame.table()).map_err(python)?;
        Ok(Some(PyTable { inner: Arc::new(table) }))
    }

    /// The names of the columns.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.inner.names()
    }

    #[getter]
    fn n_rows(&self) -> usize {
        self.inner.n_rows()
    }

    #[getter]
    fn n_columns(&self) -> usize {
        self.inner.n_columns()
    }
}

impl PyTable {
    fn new(columns: Vec<Column>) -> PyResult<PyTable> {
        Ok(PyTable { inner: Arc::new(CoreTable::new(columns).map_err(python)?) })
    }
}

fn is_ascending_below(rows: &Buffer<u32>, n_rows: usize) -> bool {
    rows.iter().zip(rows.iter().skip(1)).all(|(a, b)| a < b) && rows.iter().last().is_none_or(|r| (r as usize) < n_rows)
}

fn column((name, kind, values, levels): ColumnParts<'_>) -> PyResult<Column> {
    let kind = match kind.as_str() {
        "numeric" => {
            return Ok(Column {
                name,
                kind: ColumnKind::Numeric,
                values: array::column(&values)?,
                notation: Default::default(),
            });
        }
        "boolean" => ColumnKind::Boolean,
        "ordinal" => ColumnKind::Ordinal,
        "nominal" => ColumnKind::Nominal,
        other => return Err(PyValueError::new_err(format!("'{other}' is not a kind of column"))),
    };
    let codes = values.cast::<PyArray1<u32>>().map_err(|_| PyTypeError::new_err("codes must be an array of uint32"))?;
    let levels = levels.unwrap_or_default();
    let n_levels = levels.len() as u32;
    let known = Levels::new(levels);
    if known.len() != n_levels as usize {
        return Err(PyValueError::new_err(format!("column '{name}' has two categories with the same text")));
    }
    if codes.try_readonly()?.as_array().iter().any(|&code| code >= n_levels && code != MISSING) {
        return Err(PyValueError::new_err(format!("column '{name}' has a code without a category")));
    }
    // Copied: a code that changes later would point outside of the levels.
    let codes = array::numbers(codes)?.into();
    Ok(Column { name, kind, values: Values::Codes { codes, levels: Arc::new(known) }, notation: Default::default() })
}
