//! Prediction of single rows: read in place, predicted on the stack, returned in a new array, on the calling thread.

use crate::wanted::Wanted;
use ermine_core::model::Predictor as CorePredictor;
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Columns and outputs on the stack.
const FEW: usize = 256;

/// Predicts one row at a time.
#[pyclass(frozen, module = "ermine._ermine", name = "Predictor")]
pub struct PyPredictor {
    inner: CorePredictor,
}

#[pymethods]
impl PyPredictor {
    /// The numbers of a row: a one-dimensional array, or a two-dimensional one of one row, of float64 or float32.
    fn __call__<'py>(&self, py: Python<'py>, row: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let answer = with_row(row, self.inner.n_features(), |row| {
            numbers(&self.inner, row, |out| PyArray1::from_slice(py, out))
        });
        answer.ok_or_else(|| {
            PyTypeError::new_err(format!("one row of {} float64 or float32 was expected", self.inner.n_features()))
        })?
    }

    /// How many values a row has.
    #[getter]
    fn n_features(&self) -> usize {
        self.inner.n_features()
    }
}

impl PyPredictor {
    pub fn new(inner: CorePredictor) -> PyPredictor {
        PyPredictor { inner }
    }
}

/// The prediction for an array of one row, as `Model.predict_array` gives it; `None` if it isn't such an array.
pub fn predict<'py>(
    py: Python<'py>,
    predictor: &CorePredictor,
    array: &Bound<'py, PyAny>,
    wanted: Wanted,
) -> Option<PyResult<Bound<'py, PyAny>>> {
    if wanted == Wanted::Margins {
        return None;
    }
    with_row(array, predictor.n_features(), |row| {
        numbers(predictor, row, |out| match wanted {
            Wanted::Classes => {
                let best = (1..out.len()).fold(0, |best, k| if out[k] > out[best] { k } else { best });
                PyArray1::from_slice(py, &[best as i64]).into_any()
            }
            _ => {
                let array = PyArray2::zeros(py, [1, out.len()], false);
                // SAFETY: the array was made here, and nobody else has it yet.
                unsafe { array.as_slice_mut() }.iter_mut().for_each(|place| place.copy_from_slice(out));
                array.into_any()
            }
        })
    })
}

/// Calls `work` with the predicted numbers.
fn numbers<T>(predictor: &CorePredictor, row: &[f64], work: impl FnOnce(&[f64]) -> T) -> PyResult<T> {
    let (mut few, mut many) = ([0.0; FEW], Vec::new());
    let out = room(predictor.width(), &mut few, &mut many);
    predictor.predict(row, out).map_err(|e| PyValueError::new_err(e.to_string()))?;
    Ok(work(out))
}

fn room<'a>(n: usize, few: &'a mut [f64; FEW], many: &'a mut Vec<f64>) -> &'a mut [f64] {
    if n <= FEW {
        return &mut few[..n];
    }
    many.resize(n, 0.0);
    many
}

/// Calls `work` with the values of an array of one row of `n` numbers; `None` if it isn't one.
fn with_row<T>(array: &Bound<'_, PyAny>, n: usize, work: impl FnOnce(&[f64]) -> T) -> Option<T> {
    if let Ok(array) = array.cast::<PyArray2<f64>>() {
        // SAFETY: all of it is what numpy says about one array, which is held here.
        return unsafe { read(array.data(), array.shape(), array.strides(), array.is_aligned(), n, work) };
    }
    if let Ok(array) = array.cast::<PyArray2<f32>>() {
        // SAFETY: all of it is what numpy says about one array, which is held here.
        return unsafe { read(array.data(), array.shape(), array.strides(), array.is_aligned(), n, work) };
    }
    if let Ok(array) = array.cast::<PyArray1<f64>>() {
        // SAFETY: all of it is what numpy says about one array, which is held here.
        return unsafe { read(array.data(), array.shape(), array.strides(), array.is_aligned(), n, work) };
    }
    let array = array.cast::<PyArray1<f32>>().ok()?;
    // SAFETY: as above.
    unsafe { read(array.data(), array.shape(), array.strides(), array.is_aligned(), n, work) }
}

/// # Safety
/// `data`, `shape`, `strides` (in bytes) and `aligned` must be those of one array of `E` that stays alive and that nobody writes to meanwhile.
unsafe fn read<E: Element + Copy + Into<f64>, T>(
    data: *mut E,
    shape: &[usize],
    strides: &[isize],
    aligned: bool,
    n: usize,
    work: impl FnOnce(&[f64]) -> T,
) -> Option<T> {
    let one = matches!(shape, [1, columns] | [columns] if *columns == n);
    let stride = *strides.last()?;
    if !one || !aligned || stride % size_of::<E>() as isize != 0 {
        return None;
    }
    let (mut few, mut many) = ([0.0; FEW], Vec::new());
    let row = room(n, &mut few, &mut many);
    for (j, x) in row.iter_mut().enumerate() {
        // SAFETY: the array has n aligned numbers, `stride` bytes apart.
        *x = unsafe { *data.byte_offset(j as isize * stride) }.into();
    }
    Some(work(row))
}
