//! Import and export of models.
//!
//! [`import`] reads models of XGBoost (JSON or UBJSON) and LightGBM (text). [`export`] writes tree ensembles as ONNX, C or Rust, linear models and support vector machines as
//! ONNX, and any model as JSON. An exported model takes the values of a row in the order of the schema, with categories as their codes and NaN for missing values, and makes the same
//! predictions as [`Model::predict`].
//!
//! ```
//! use ermine::exchange::ExportFormat;
//! use ermine::prelude::*;
//!
//! let data = Dataset::from_rows(&[[1.0], [2.0], [3.0], [4.0]], &["a", "a", "b", "b"])?;
//! let model = DecisionTree::default().fit(&data)?;
//! let source = ermine::export(&model, ExportFormat::Rust)?;
//! println!("{}", String::from_utf8_lossy(&source));
//! # Ok::<(), Error>(())
//! ```

// | file | contents |
// |---|---|
// | this file | the formats, and the detection of the format of a file |
// | `onnx` | tree ensembles as ONNX |
// | `onnx_linear` | linear models and support vector machines as ONNX |
// | `protobuf` | the wire format of ONNX |
// | `source` | tree ensembles as a C or Rust source file |
// | `xgboost` | XGBoost's JSON and UBJSON models |
// | `ubjson` | the binary JSON that XGBoost writes |
// | `lightgbm` | LightGBM's text models |
// | `imported` | builds a model from the trees of another library |

mod imported;
#[doc(hidden)]
pub mod lightgbm;
#[doc(hidden)]
pub mod onnx;
#[cfg(feature = "linear")]
mod onnx_linear;
mod protobuf;
#[doc(hidden)]
pub mod source;
#[doc(hidden)]
pub mod ubjson;
#[doc(hidden)]
pub mod xgboost;

use ermine_core::choice;
use ermine_core::error::{Error, Result};
use ermine_core::model::Model;
use std::path::Path;

choice! {
    /// Export format of a model.
    pub enum ExportFormat {
        /// ONNX, for tree ensembles, linear models and support vector machines.
        Onnx = "onnx",
        /// A C source file without dependencies, for tree ensembles.
        C = "c",
        /// A Rust source file without dependencies, for tree ensembles.
        Rust = "rust",
        /// JSON, for any model.
        Json = "json",
    }
}

/// Maximum size of an imported file.
const MAX_BYTES: u64 = 1 << 30;

/// The error for an unreadable model file of another library.
fn invalid(library: &str, message: impl std::fmt::Display) -> Error {
    Error::data(format!("not a readable {library} model: {message}"))
}

/// Exports a model; returns the contents of the file.
///
/// ```
/// use ermine::exchange::ExportFormat;
/// use ermine::prelude::*;
///
/// let data = Dataset::from_rows(&[[1.0], [2.0], [3.0], [4.0]], &[1.0, 2.0, 3.0, 4.0])?;
/// let model = GradientBoosting { n_estimators: 5, ..Default::default() }.fit(&data)?;
/// let onnx = ermine::export(&model, ExportFormat::Onnx)?;
/// println!("{} bytes", onnx.len());
/// # Ok::<(), Error>(())
/// ```
pub fn export(model: &Model, format: ExportFormat) -> Result<Vec<u8>> {
    match format {
        ExportFormat::Onnx => onnx::export(model),
        ExportFormat::C => Ok(source::c(model)?.into_bytes()),
        ExportFormat::Rust => Ok(source::rust(model)?.into_bytes()),
        ExportFormat::Json => {
            let text = serde_json::to_string_pretty(&model.to_json()?).map_err(|e| Error::data(e.to_string()))?;
            Ok((text + "\n").into_bytes())
        }
    }
}

/// Imports an XGBoost model (JSON or UBJSON) or a LightGBM model (text) from the contents of its file.
pub fn import_bytes(bytes: &[u8]) -> Result<Model> {
    let start = bytes.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(bytes.len());
    match &bytes[start..] {
        [b'{', rest @ ..] => {
            // In JSON a quoted name follows, in UBJSON the length of the name or the number of entries.
            let next = rest.iter().find(|b| !b.is_ascii_whitespace());
            let value = if matches!(next, Some(b'"' | b'}')) {
                serde_json::from_slice(bytes).map_err(|e| invalid("XGBoost", e))?
            } else {
                ubjson::parse(bytes)?
            };
            xgboost::model(&value)
        }
        rest if rest.starts_with(b"tree") => {
            lightgbm::model(std::str::from_utf8(bytes).map_err(|e| invalid("LightGBM", e))?)
        }
        _ => Err(Error::data("neither an XGBoost model (JSON or UBJSON) nor a LightGBM model (text)")),
    }
}

/// Imports a model file of XGBoost or LightGBM.
///
/// ```no_run
/// let model = ermine::import("xgboost-model.json")?;
/// println!("{}", model.text());
/// # Ok::<(), ermine::Error>(())
/// ```
pub fn import(path: impl AsRef<Path>) -> Result<Model> {
    let path = path.as_ref();
    let size = std::fs::metadata(path).map_err(|e| Error::io(path, e))?.len();
    if size > MAX_BYTES {
        return Err(Error::data(format!("{}: the file has {size} bytes (the maximum is {MAX_BYTES})", path.display())));
    }
    let bytes = ermine_core::memory::read_file(path)?;
    import_bytes(&bytes).map_err(|e| Error::data(format!("{}: {e}", path.display())))
}
