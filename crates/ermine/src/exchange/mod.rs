//! Models of and for other programs.
//!
//! [`import`] reads models of XGBoost (JSON or UBJSON) and LightGBM (text). [`export`] writes models that are sums of trees as ONNX, C or Rust, and
//! any model as JSON. An exported model takes the values of a row in the order of the schema, a category as its code there and NaN for a missing value, and predicts
//! what [`Model::predict`] predicts.
//!
//! ```
//! use ermine::exchange::Format;
//! use ermine::prelude::*;
//!
//! let data = Dataset::from_rows(&[[1.0], [2.0], [3.0], [4.0]], &["a", "a", "b", "b"])?;
//! let model = DecisionTree::default().fit(&data)?;
//! let source = ermine::export(&model, Format::Rust)?;
//! println!("{}", String::from_utf8_lossy(&source));
//! # Ok::<(), Error>(())
//! ```

// | file | what it holds |
// |---|---|
// | this file | the formats; which reader a file needs |
// | `onnx` | sums of trees as ONNX |
// | `protobuf` | the wire format of ONNX |
// | `source` | sums of trees as a C or Rust source file |
// | `xgboost` | XGBoost's JSON and UBJSON models |
// | `ubjson` | the binary form of JSON that XGBoost writes |
// | `lightgbm` | LightGBM's text models |
// | `foreign` | foreign trees become a model |

mod foreign;
#[doc(hidden)]
pub mod lightgbm;
#[doc(hidden)]
pub mod onnx;
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
    /// What a model is exported as.
    pub enum Format {
        /// ONNX, for models that are sums of trees.
        Onnx = "onnx",
        /// A C source file without dependencies, for models that are sums of trees.
        C = "c",
        /// A Rust source file without dependencies, for models that are sums of trees.
        Rust = "rust",
        /// All of a model, as JSON.
        Json = "json",
    }
}

/// The largest file that is read.
const MOST_BYTES: u64 = 1 << 30;

/// A message about a file of another program.
fn wrong(program: &str, message: impl std::fmt::Display) -> Error {
    Error::data(format!("not a readable {program} model: {message}"))
}

/// The model for other programs, as the bytes of a file.
///
/// ```
/// use ermine::exchange::Format;
/// use ermine::prelude::*;
///
/// let data = Dataset::from_rows(&[[1.0], [2.0], [3.0], [4.0]], &[1.0, 2.0, 3.0, 4.0])?;
/// let model = GradientBoosting { n_estimators: 5, ..Default::default() }.fit(&data)?;
/// let onnx = ermine::export(&model, Format::Onnx)?;
/// println!("{} bytes", onnx.len());
/// # Ok::<(), Error>(())
/// ```
pub fn export(model: &Model, format: Format) -> Result<Vec<u8>> {
    match format {
        Format::Onnx => onnx::export(model),
        Format::C => Ok(source::c(model)?.into_bytes()),
        Format::Rust => Ok(source::rust(model)?.into_bytes()),
        Format::Json => {
            let text = serde_json::to_string_pretty(&model.to_json()?).map_err(|e| Error::data(e.to_string()))?;
            Ok((text + "\n").into_bytes())
        }
    }
}

/// Reads a model of XGBoost (JSON or UBJSON) or LightGBM (text) from the bytes of its file.
pub fn import_bytes(bytes: &[u8]) -> Result<Model> {
    let start = bytes.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(bytes.len());
    match &bytes[start..] {
        [b'{', rest @ ..] => {
            // JSON has a quoted name next; UBJSON the length of the name, or how many there are.
            let next = rest.iter().find(|b| !b.is_ascii_whitespace());
            let value = if matches!(next, Some(b'"' | b'}')) {
                serde_json::from_slice(bytes).map_err(|e| wrong("XGBoost", e))?
            } else {
                ubjson::parse(bytes)?
            };
            xgboost::model(&value)
        }
        rest if rest.starts_with(b"tree") => {
            lightgbm::model(std::str::from_utf8(bytes).map_err(|e| wrong("LightGBM", e))?)
        }
        _ => Err(Error::data("neither a model of XGBoost (JSON or UBJSON) nor one of LightGBM (text)")),
    }
}

/// Reads a model file of XGBoost or LightGBM.
///
/// ```no_run
/// let model = ermine::import("xgboost-model.json")?;
/// println!("{}", model.text());
/// # Ok::<(), ermine::Error>(())
/// ```
pub fn import(path: impl AsRef<Path>) -> Result<Model> {
    let path = path.as_ref();
    let size = std::fs::metadata(path).map_err(|e| Error::io(path, e))?.len();
    if size > MOST_BYTES {
        return Err(Error::data(format!(
            "{}: {size} bytes are more than the {MOST_BYTES} that are read",
            path.display()
        )));
    }
    let bytes = ermine_core::memory::read_file(path)?;
    import_bytes(&bytes).map_err(|e| Error::data(format!("{}: {e}", path.display())))
}
