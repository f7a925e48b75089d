//! Errors of the core as the exceptions that a Python user expects.

use ermine::Error;
use pyo3::PyErr;
use pyo3::exceptions::{PyMemoryError, PyOSError, PyRuntimeError, PyValueError};

/// The exception for an error of the core.
pub fn python(error: Error) -> PyErr {
    match error {
        Error::Io { path, source } => match source.raw_os_error() {
            // With number, text and file Python picks the right kind itself: FileNotFoundError, PermissionError, ...
            Some(number) => PyOSError::new_err((number, text(&source), path.display().to_string())),
            None => PyOSError::new_err(format!("{}: {source}", path.display())),
        },
        Error::Memory { .. } => PyMemoryError::new_err(error.to_string()),
        Error::Row { row, message } => PyValueError::new_err(format!("row {row}: {message}")),
        Error::MissingTarget { target, n_missing, n_rows, first } => {
            let first = first.saturating_sub(1);
            PyValueError::new_err(Error::MissingTarget { target, n_missing, n_rows, first }.to_string())
        }
        Error::Stopped => PyRuntimeError::new_err("stopped on request"),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// What the system says, without the number that Rust adds and Python adds again.
fn text(source: &std::io::Error) -> String {
    let text = source.to_string();
    text.split(" (os error").next().unwrap_or_default().to_string()
}
