//! Inference requests: tensors that become rows.

use super::JSON_LENGTH;
use super::response::default_outputs;
use super::tensor::{Data, DataType, decode_binary};
use crate::error::ApiError;
use crate::json_rows::invalid_json;
use crate::model::ServedModel;
use crate::options::{Options, Unknown, levels};
use crate::predict::check_rows;
use crate::rows::{RequestRows, Warning, require_memory, unknown_column};
use crate::state::ServerState;
use axum::http::HeaderMap;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// An inference request.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"inputs": [{"name": "x", "shape": [1, 4], "datatype": "FP64", "data": [5.1, 3.5, 1.4, 0.2]}]}))]
pub struct InferRequest {
    /// Comes back in the response.
    #[serde(default)]
    pub id: Option<String>,
    /// `quantiles`: levels; `unknown`: `error` or `warn`; `binary_data_output`: whether outputs are binary.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Object)]
    pub parameters: Map<String, Value>,
    /// One tensor of all columns, or one for each column.
    pub inputs: Vec<InputTensor>,
    /// The outputs to return.
    #[serde(default, deserialize_with = "nullable")]
    pub outputs: Vec<RequestedOutput>,
}

/// A tensor.
#[derive(Debug, Deserialize, ToSchema)]
pub struct InputTensor {
    /// The column, or any name for a tensor of all columns.
    pub name: String,
    /// `[rows]`, `[rows, 1]` or `[rows, columns]`.
    pub shape: Vec<i64>,
    /// BOOL, UINT8 to UINT64, INT8 to INT64, FP16, FP32, FP64 or BYTES (text).
    pub datatype: String,
    /// `binary_data_size`: bytes of the tensor after the JSON.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Object)]
    pub parameters: Map<String, Value>,
    /// The values, row after row; nested lists are read as one.
    #[serde(default)]
    #[schema(value_type = Option<Vec<Object>>)]
    pub data: Option<Data>,
}

/// An output that is to be returned.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct RequestedOutput {
    /// predict, predict_proba, raw_scores, quantiles or contributions.
    pub name: String,
    /// `binary_data`: whether it is returned as binary data.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Object)]
    pub parameters: Map<String, Value>,
}

/// A field that some clients send as `null` instead of leaving it out.
fn nullable<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Where the JSON of a body ends and its binary data begin, if the head of the request names it.
pub fn json_length(headers: &HeaderMap) -> Result<Option<usize>, ApiError> {
    let Some(value) = headers.get(JSON_LENGTH) else { return Ok(None) };
    let length = value.to_str().ok().and_then(|text| text.trim().parse().ok());
    let wrong = || ApiError::bad_request("invalid_header", "Inference-Header-Content-Length: expected a number");
    length.map(Some).ok_or_else(wrong)
}

/// A request that was read.
pub struct InferPlan {
    /// The rows to predict.
    pub rows: RequestRows,
    /// What the response consists of.
    pub reply: InferReply,
}

/// What a response consists of, apart from predictions.
pub struct InferReply {
    /// The id of the request.
    pub id: Option<String>,
    /// The outputs, and whether they are binary.
    pub outputs: Vec<(String, bool)>,
    /// What differs from the training data.
    pub warnings: Vec<Warning>,
    /// The levels of quantiles.
    pub quantiles: Vec<f64>,
}

/// Reads a request: JSON of `json_length` bytes (or all), then binary data. What it requests is added to `options`.
pub fn read(
    state: &ServerState,
    model: &ServedModel,
    body: &[u8],
    json_length: Option<usize>,
    options: &mut Options,
) -> Result<InferPlan, ApiError> {
    let (json, binary) = body.split_at_checked(json_length.unwrap_or(body.len())).ok_or_else(|| {
        let (length, there) = (json_length.unwrap_or_default(), body.len());
        let message = format!("Inference-Header-Content-Length is {length}, but the body has {there} bytes");
        ApiError::bad_request("invalid_header", message)
    })?;
    let request: InferRequest = serde_json::from_slice(json).map_err(|e| invalid_json(&e))?;
    read_parameters(&request.parameters, options)?;
    let outputs = requested_outputs(model, &request);
    for (at, (name, _)) in outputs.iter().enumerate() {
        if outputs[..at].iter().any(|(before, _)| before == name) {
            let message = format!("output '{name}' is requested twice");
            return Err(ApiError::bad_request("duplicate_output", message));
        }
        request_output(model, name, options)?;
    }
    let rows = read_tensors(state, model, request.inputs, binary, options)?;
    let warnings = rows.check(model, options)?;
    let quantiles = options.quantiles.clone();
    Ok(InferPlan { rows, reply: InferReply { id: request.id, outputs, warnings, quantiles } })
}

/// The names of the outputs, and whether they are binary.
fn requested_outputs(model: &ServedModel, request: &InferRequest) -> Vec<(String, bool)> {
    let is_binary = |parameters: &Map<String, Value>, key: &str| parameters.get(key).and_then(Value::as_bool);
    let all_binary = is_binary(&request.parameters, "binary_data_output").unwrap_or(false);
    if request.outputs.is_empty() {
        return default_outputs(model).into_iter().map(|name| (name.to_string(), all_binary)).collect();
    }
    let outputs = request.outputs.iter();
    let choice = |output: &RequestedOutput| is_binary(&output.parameters, "binary_data").unwrap_or(all_binary);
    outputs.map(|output| (output.name.clone(), choice(output))).collect()
}

/// Adds an output to the options, if the model has it.
fn request_output(model: &ServedModel, name: &str, options: &mut Options) -> Result<(), ApiError> {
    match name {
        "predict" => {}
        "predict_proba" if model.has_probabilities() => options.probabilities = true,
        "predict_proba" => return Err(model.lacks("probabilities")),
        "raw_scores" => options.raw_scores = true,
        "contributions" => options.contributions = true,
        "quantiles" if options.quantiles.is_empty() => {
            let message = "output 'quantiles' needs the parameter 'quantiles' with the levels, such as [0.1, 0.9]";
            return Err(ApiError::bad_request("invalid_option", message));
        }
        "quantiles" => {}
        _ => {
            let message = format!(
                "no output named '{name}': expected predict, predict_proba, raw_scores, quantiles or contributions"
            );
            return Err(ApiError::bad_request("unknown_output", message));
        }
    }
    Ok(())
}

fn read_parameters(parameters: &Map<String, Value>, options: &mut Options) -> Result<(), ApiError> {
    let wrong = |name: &str, expected: &str| {
        ApiError::bad_request("invalid_option", format!("parameter '{name}': expected {expected}"))
    };
    if let Some(value) = parameters.get("unknown") {
        options.unknown = match value.as_str() {
            Some("error") => Unknown::Error,
            Some("warn") => Unknown::Warn,
            _ => return Err(wrong("unknown", "\"error\" or \"warn\"")),
        };
    }
    if let Some(value) = parameters.get("quantiles") {
        let levels: Option<Vec<f64>> = match value {
            Value::String(text) => levels(text),
            Value::Number(number) => number.as_f64().map(|level| vec![level]),
            Value::Array(levels) => levels.iter().map(Value::as_f64).collect(),
            _ => None,
        };
        options.quantiles = levels.ok_or_else(|| wrong("quantiles", "levels from 0 to 1"))?;
    }
    options.check()
}

/// A tensor with its values.
struct Tensor {
    name: String,
    n_rows: usize,
    width: usize,
    data: Data,
}

fn read_tensors(
    state: &ServerState,
    model: &ServedModel,
    inputs: Vec<InputTensor>,
    binary: &[u8],
    options: &Options,
) -> Result<RequestRows, ApiError> {
    let mut rest = binary;
    let mut tensors = Vec::with_capacity(inputs.len());
    for input in inputs {
        tensors.push(read_tensor(input, &mut rest)?);
    }
    if !rest.is_empty() {
        let message = format!("{} bytes of binary data belong to no tensor", rest.len());
        return Err(ApiError::bad_request("invalid_tensor", message));
    }
    let (n_rows, width) = (common_rows(&tensors)?, model.inputs.len());
    check_rows(state, n_rows, options)?;
    require_memory(n_rows, width)?;
    let mut rows = RequestRows::new(model);
    rows.add_empty(n_rows, width);
    match &tensors[..] {
        [whole] if whole.width != 1 || (width == 1 && model.input(&whole.name).is_none()) => {
            fill_rows(model, rows, whole)
        }
        columns => fill_columns(model, rows, columns, options),
    }
}

/// The number of rows, which all tensors share.
fn common_rows(tensors: &[Tensor]) -> Result<usize, ApiError> {
    let Some(first) = tensors.first() else {
        return Err(ApiError::bad_request("missing_rows", "\"inputs\" is empty: expected at least one tensor"));
    };
    let n_rows = first.n_rows;
    if let Some(other) = tensors.iter().find(|tensor| tensor.n_rows != n_rows) {
        let message =
            format!("tensor '{}' has {} rows, but tensor '{}' has {n_rows}", other.name, other.n_rows, first.name);
        return Err(ApiError::bad_request("invalid_tensor", message));
    }
    if n_rows == 0 {
        return Err(ApiError::bad_request("missing_rows", "there are no rows to predict: expected at least one"));
    }
    Ok(n_rows)
}

/// A tensor for each column.
fn fill_columns(
    model: &ServedModel,
    mut rows: RequestRows,
    tensors: &[Tensor],
    options: &Options,
) -> Result<RequestRows, ApiError> {
    let (n_rows, width) = (rows.n_rows, model.inputs.len());
    let mut is_there = vec![false; width];
    for tensor in tensors {
        let Some(place) = model.input(&tensor.name) else {
            if model.accepts(&tensor.name) {
                continue;
            }
            if options.unknown == Unknown::Warn {
                (0..n_rows).for_each(|row| rows.unknown_column(&tensor.name, row));
                continue;
            }
            return Err(unknown_column(model, &tensor.name));
        };
        if tensor.width != 1 {
            let message = format!("tensor '{}' has {} values for each row: expected 1", tensor.name, tensor.width);
            return Err(ApiError::bad_request("invalid_tensor", message).in_column(&tensor.name));
        }
        if std::mem::replace(&mut is_there[place], true) {
            let message = format!("there are two tensors named '{}'", tensor.name);
            return Err(ApiError::bad_request("duplicate_column", message).in_column(&tensor.name));
        }
        for row in 0..n_rows {
            let number = rows.encode(place, &model.inputs[place], row, &tensor.data.cell(row))?;
            rows.values[row * width + place] = number;
        }
    }
    (0..width).filter(|&place| !is_there[place]).for_each(|place| rows.set_absent(place));
    Ok(rows)
}

/// All columns in one tensor.
fn fill_rows(model: &ServedModel, mut rows: RequestRows, tensor: &Tensor) -> Result<RequestRows, ApiError> {
    let width = model.inputs.len();
    if tensor.width != width {
        let message =
            format!("tensor '{}' has {} columns; model '{}' has {width}", tensor.name, tensor.width, model.name);
        return Err(ApiError::bad_request("wrong_width", message));
    }
    for row in 0..tensor.n_rows {
        for (place, input) in model.inputs.iter().enumerate() {
            let cell = tensor.data.cell(row * width + place);
            rows.values[row * width + place] = rows.encode(place, input, row, &cell)?;
        }
    }
    Ok(rows)
}

fn read_tensor(input: InputTensor, rest: &mut &[u8]) -> Result<Tensor, ApiError> {
    let name = input.name;
    let wrong = |message: String| ApiError::bad_request("invalid_tensor", format!("tensor '{name}': {message}"));
    let datatype = DataType::parse(&input.datatype).ok_or_else(|| {
        let message = format!(
            "datatype '{}' is not supported: expected BOOL, UINT8 to UINT64, INT8 to INT64, FP16, FP32, FP64 or BYTES",
            input.datatype
        );
        wrong(message)
    })?;
    let sizes: Option<Vec<usize>> = input.shape.iter().map(|&size| usize::try_from(size).ok()).collect();
    let (n_rows, width) = match sizes.as_deref() {
        Some([n]) => (*n, 1),
        Some([n, width]) => (*n, *width),
        _ => return Err(wrong(format!("shape {:?}: expected [rows] or [rows, columns]", input.shape))),
    };
    let n_values = n_rows.checked_mul(width).ok_or_else(|| wrong(format!("shape {:?} is too large", input.shape)))?;
    let data = match (input.data, input.parameters.get("binary_data_size")) {
        (Some(data), None) => data,
        (None, Some(size)) => {
            let size = size.as_u64().and_then(|size| usize::try_from(size).ok());
            let part = size.and_then(|size| rest.split_at_checked(size));
            let (part, after) = part.ok_or_else(|| {
                wrong(format!("binary_data_size must be a number of bytes that are there ({} are left)", rest.len()))
            })?;
            *rest = after;
            decode_binary(datatype, part, n_values).map_err(wrong)?
        }
        (Some(_), Some(_)) => return Err(wrong("it has both data and binary_data_size: expected one".into())),
        (None, None) => return Err(wrong("it has no data".into())),
    };
    if data.len() != n_values {
        return Err(wrong(format!("shape {:?} needs {n_values} values, found {}", input.shape, data.len())));
    }
    data.check(datatype).map_err(wrong)?;
    Ok(Tensor { name, n_rows, width, data })
}
