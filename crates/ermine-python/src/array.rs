//! Numpy arrays as columns, without a copy.
//!
//! A column of an array is a [`Buffer`]: a pointer to its first number, the distance to the next one, and a share in the array, which
//! keeps it alive. The share may be given back by any thread: PyO3 puts off the reference count until some thread holds the
//! interpreter. As everywhere in Python, writing into an array while another thread learns from it is a mistake; it can spoil the
//! result, and nothing else, since every number that comes out of a buffer is only ever compared and added.

use ermine_core::table::{Buffer, Values};
use numpy::{Element, PyArray, PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::any::Any;
use std::sync::Arc;

/// A number type that a column can have.
pub trait Number: Element + Copy + Send + Sync + 'static {
    /// The column of these numbers.
    fn values(buffer: Buffer<Self>) -> Values;
}

impl Number for f64 {
    fn values(buffer: Buffer<f64>) -> Values {
        Values::F64(buffer)
    }
}

impl Number for f32 {
    fn values(buffer: Buffer<f32>) -> Values {
        Values::F32(buffer)
    }
}

/// Distance between neighbors in numbers; `None` if they don't lie at whole distances or are not aligned.
fn whole_stride<T: Element>(aligned: bool, bytes: isize) -> Option<isize> {
    let size = size_of::<T>() as isize;
    (aligned && bytes % size == 0).then_some(bytes / size)
}

/// The columns of a matrix as they lie in memory; `None` if the memory is not made of aligned numbers.
fn matrix_columns<T: Number>(array: &Bound<'_, PyArray2<T>>) -> Option<Vec<Values>> {
    let (shape, strides) = (array.shape(), array.strides());
    let down = whole_stride::<T>(array.is_aligned(), strides[0])?;
    let across = whole_stride::<T>(true, strides[1])?;
    let (start, n_rows, n_columns) = (array.data().cast_const(), shape[0], shape[1]);
    let owner: Arc<dyn Any + Send + Sync> = Arc::new(array.clone().unbind());
    let column = |j: usize| {
        let first = start.wrapping_offset(j as isize * across);
        // SAFETY: numpy guarantees that these positions hold aligned numbers; the owner keeps the array, and so its memory, alive.
        T::values(unsafe { Buffer::foreign(first, n_rows, down, owner.clone()) })
    };
    Some((0..n_columns).map(column).collect())
}

/// The columns of a two-dimensional array of single or double precision, without a copy, and its number of rows; `None` for anything else.
pub fn columns(array: &Bound<'_, PyAny>) -> Option<(Vec<Values>, usize)> {
    if let Ok(array) = array.cast::<PyArray2<f64>>() {
        return Some((matrix_columns(array)?, array.shape()[0]));
    }
    let array = array.cast::<PyArray2<f32>>().ok()?;
    Some((matrix_columns(array)?, array.shape()[0]))
}

/// A one-dimensional array as a buffer, without a copy where its numbers are aligned.
pub fn buffer<T: Element + Copy + Send + Sync + 'static>(array: &Bound<'_, PyArray1<T>>) -> PyResult<Buffer<T>> {
    match whole_stride::<T>(array.is_aligned(), array.strides()[0]) {
        Some(stride) => {
            let (start, len) = (array.data().cast_const(), array.shape()[0]);
            // SAFETY: as above.
            Ok(unsafe { Buffer::foreign(start, len, stride, Arc::new(array.clone().unbind())) })
        }
        None => Ok(numbers(array)?.into()),
    }
}

/// The numbers of a one-dimensional array, copied.
pub fn numbers<T: Element + Copy>(array: &Bound<'_, PyArray1<T>>) -> PyResult<Vec<T>> {
    Ok(array.try_readonly()?.as_array().iter().copied().collect())
}

/// One column of numbers.
pub fn column(array: &Bound<'_, PyAny>) -> PyResult<Values> {
    if let Ok(array) = array.cast::<PyArray1<f64>>() {
        return Ok(Values::F64(buffer(array)?));
    }
    match array.cast::<PyArray1<f32>>() {
        Ok(array) => Ok(Values::F32(buffer(array)?)),
        Err(_) => Err(PyTypeError::new_err("a numeric column must be an array of float64 or float32")),
    }
}

/// Numbers as a numpy array of the given shape.
pub fn shaped<'py, T: Element>(
    py: Python<'py>,
    values: Vec<T>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArray<T, numpy::IxDyn>>> {
    PyArray1::from_vec(py, values).reshape(shape)
}
