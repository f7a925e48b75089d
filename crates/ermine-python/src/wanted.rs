//! Kinds of predictions.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The kind of a prediction.
#[derive(Clone, Copy, PartialEq)]
pub enum Wanted {
    /// The code of the class of each row.
    Classes,
    /// All numbers of each row.
    Numbers,
    /// What probabilities are made of.
    Margins,
}

impl Wanted {
    /// What a word stands for.
    pub fn new(word: &str) -> PyResult<Wanted> {
        match word {
            "classes" => Ok(Wanted::Classes),
            "numbers" => Ok(Wanted::Numbers),
            "margins" => Ok(Wanted::Margins),
            other => Err(PyValueError::new_err(format!("'{other}' can't be predicted"))),
        }
    }
}
