//! Kernels: the Mercer check, and kernels of texts.

use crate::array;
use crate::error::python;
use ermine_linear::kernel::{mercer, string};
use numpy::PyArray1;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Whether a square matrix of kernel values, row after row, is one of dot products, and its least eigenvalue.
#[pyfunction]
pub fn is_psd(py: Python<'_>, values: &Bound<'_, PyArray1<f64>>, n: usize) -> PyResult<(bool, f64)> {
    let values = array::numbers(values)?;
    let found = py.detach(|| mercer::is_psd(&values, n)).map_err(python)?;
    Ok((found.psd, found.least))
}

/// The kernel values of each text of the one list with each of the other, normalized to 1 for a text with itself: common substrings ("spectrum") or common subsequences, of this length.
#[pyfunction]
pub fn string_kernel<'py>(
    py: Python<'py>,
    these: Vec<String>,
    those: Vec<String>,
    kind: &str,
    length: usize,
    decay: f64,
) -> PyResult<Bound<'py, PyAny>> {
    let spectrum = match kind {
        "spectrum" => true,
        "subsequence" => false,
        other => {
            return Err(PyValueError::new_err(format!(
                "'{other}' is not a kind of string kernel: expected 'spectrum' or 'subsequence'"
            )));
        }
    };
    let value = |a: &str, b: &str| match spectrum {
        true => string::spectrum(a, b, length),
        false => string::subsequence(a, b, length, decay),
    };
    let all = || {
        let own = |texts: &[String]| texts.iter().map(|t| value(t, t)).collect::<Vec<f64>>();
        let (ours, theirs) = (own(&these), own(&those));
        let pair = |k: usize| {
            let (i, j) = (k / those.len(), k % those.len());
            let lengths = ours[i] * theirs[j];
            if lengths > 0.0 { value(&these[i], &those[j]) / lengths.sqrt() } else { 0.0 }
        };
        (0..these.len() * those.len()).map(pair).collect::<Vec<f64>>()
    };
    let values = py.detach(all);
    array::shaped(py, values, &[these.len(), those.len()])?.into_bound_py_any(py)
}
