//! The Open Inference Protocol, version 2, over REST: what KServe, Triton and MLServer speak. With Triton's extension for binary tensors.
//!
//! A request has one tensor with all columns (`[rows, columns]`, any name), or one tensor for each column, named after it. The outputs are `predict` and, for models with probabilities,
//! `predict_proba`; `raw_scores`, `quantiles` (levels in the parameter `quantiles`) and `contributions` are returned where they are requested.

use crate::answer::{Answer, answer_rows, numbers, push_text};
use crate::body::collect;
use crate::error::{ApiError, ErrorBody};
use crate::metrics::Protocol;
use crate::model::{Reader, ServedModel};
use crate::options::{Options, Unknown};
use crate::predict::{SMALL_BODY, check_rows, json_response, predict};
use crate::rows::{RequestCell, RequestRows, Warning, invalid_json, require_memory, unknown_column};
use crate::state::ServerState;
use crate::tensor::{Data, DataType, decode_binary, encode_binary};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use ermine_core::matrix::Task;
use ermine_core::table::ColumnKind;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use utoipa::ToSchema;

const HEADER_LENGTH: HeaderName = HeaderName::from_static("inference-header-content-length");

/// An inference request.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"inputs": [{"name": "x", "shape": [1, 4], "datatype": "FP64", "data": [5.1, 3.5, 1.4, 0.2]}]}))]
pub struct InferRequest {
    /// Comes back in the response.
    #[serde(default)]
    pub id: Option<String>,
    /// `quantiles`: levels; `unknown`: `error` or `warn`; `binary_data_output`: whether outputs are binary.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub parameters: Map<String, Value>,
    /// One tensor of all columns, or one for each column.
    pub inputs: Vec<InputTensor>,
    /// The outputs to return.
    #[serde(default)]
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
    #[serde(default)]
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
    #[serde(default)]
    #[schema(value_type = Object)]
    pub parameters: Map<String, Value>,
}

/// The answer to an inference request.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InferResponse {
    /// The model.
    pub model_name: String,
    /// Its version.
    pub model_version: String,
    /// That of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// `warnings`: what differs from the training data, as JSON.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub parameters: Map<String, Value>,
    /// The outputs.
    pub outputs: Vec<OutputTensor>,
}

/// An output.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OutputTensor {
    /// The name.
    pub name: String,
    /// The shape.
    pub shape: Vec<usize>,
    /// The type of the values.
    pub datatype: String,
    /// `binary_data_size`: bytes of the tensor after the JSON.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub parameters: Map<String, Value>,
    /// The values, row after row.
    #[serde(default)]
    #[schema(value_type = Vec<Object>)]
    pub data: Vec<Value>,
}

/// Whether the server runs
#[utoipa::path(get, path = "/v2/health/live", tag = "Open Inference Protocol", responses((status = 200, body = Object)))]
pub async fn live() -> Response {
    json_response(br#"{"live":true}"#.to_vec())
}

/// Whether the server serves models
#[utoipa::path(
    get, path = "/v2/health/ready", tag = "Open Inference Protocol", responses((status = 200, body = Object), (status = 503, body = ErrorBody))
)]
pub async fn ready(State(state): State<Arc<ServerState>>) -> Response {
    if state.repository.is_ready() && !state.is_stopping.load(Ordering::Relaxed) {
        return json_response(br#"{"ready":true}"#.to_vec());
    }
    let message = "no model is served yet, or the server is about to stop";
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "not_ready", message).into_response()
}

/// The server
#[utoipa::path(get, path = "/v2", tag = "Open Inference Protocol", responses((status = 200, body = Object)))]
pub async fn server() -> Response {
    let body = json!({
        "name": "ermine",
        "version": env!("CARGO_PKG_VERSION"),
        "extensions": ["binary_tensor_data", "model_repository"],
    });
    json_response(body.to_string().into_bytes())
}

/// The models that are served, as Triton lists them
#[utoipa::path(post, path = "/v2/repository/index", tag = "Open Inference Protocol", responses((status = 200, body = Object)))]
pub async fn index(State(state): State<Arc<ServerState>>) -> Response {
    let entry = |model: &Arc<ServedModel>| json!({ "name": model.name, "version": model.version, "state": "READY", "reason": "" });
    let all: Vec<Value> = state.repository.all().iter().map(entry).collect();
    json_response(Value::from(all).to_string().into_bytes())
}

/// Describe a model
#[utoipa::path(
    get, path = "/v2/models/{name}", tag = "Open Inference Protocol", params(("name" = String, Path, description = "Name of the model")),
    responses((status = 200, body = Object), (status = 404, body = ErrorBody))
)]
pub async fn show(State(state): State<Arc<ServerState>>, Path(name): Path<String>) -> Result<Response, ApiError> {
    metadata(&state, &name, None)
}

/// The same for a version.
pub async fn show_version(
    State(state): State<Arc<ServerState>>,
    Path((name, version)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    metadata(&state, &name, Some(&version))
}

fn metadata(state: &ServerState, name: &str, version: Option<&str>) -> Result<Response, ApiError> {
    let model = state.repository.model(name, version)?;
    let inputs: Vec<Value> = model
        .inputs
        .iter()
        .map(|input| {
            let datatype = match (&input.reader, input.kind) {
                (_, ColumnKind::Boolean) => "BOOL",
                (Reader::Number(notation), _) if notation.is_plain() => "FP64",
                _ => "BYTES",
            };
            json!({ "name": input.name, "datatype": datatype, "shape": [-1, 1] })
        })
        .collect();
    let outputs: Vec<Value> = default_outputs(&model)
        .into_iter()
        .map(|name| {
            let datatype = if name == "predict" { label_type(&model).name() } else { "FP64" };
            let width = match name {
                "predict" if model.schema().task == Task::Multilabel => model.schema().classes.len(),
                "predict" => model.schema().n_outputs.max(1),
                _ => model.schema().classes.len(),
            };
            json!({ "name": name, "datatype": datatype, "shape": [-1, width] })
        })
        .collect();
    let body = json!({
        "name": model.name,
        "versions": state.repository.versions(name),
        "platform": "ermine",
        "inputs": inputs,
        "outputs": outputs,
        "parameters": { "learner": model.model.header().learner, "task": model.schema().task.as_str(), "classes": model.schema().classes },
    });
    Ok(json_response(body.to_string().into_bytes()))
}

/// Whether a model is ready
#[utoipa::path(
    get, path = "/v2/models/{name}/ready", tag = "Open Inference Protocol", params(("name" = String, Path, description = "Name of the model")),
    responses((status = 200, body = Object), (status = 404, body = ErrorBody))
)]
pub async fn model_ready(
    State(state): State<Arc<ServerState>>,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    let model = state.repository.model(&name, None)?;
    Ok(json_response(json!({ "name": model.name, "ready": true }).to_string().into_bytes()))
}

/// The same for a version.
pub async fn version_ready(
    State(state): State<Arc<ServerState>>,
    Path((name, version)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let model = state.repository.model(&name, Some(&version))?;
    Ok(json_response(json!({ "name": model.name, "ready": true }).to_string().into_bytes()))
}

/// Infer
///
/// Predicts the rows of tensors: one `[rows, columns]`, or one `[rows]` or `[rows, 1]` for each column.
#[utoipa::path(
    post, path = "/v2/models/{name}/infer", tag = "Open Inference Protocol", params(("name" = String, Path, description = "Name of the model")),
    request_body = InferRequest,
    responses((status = 200, body = InferResponse), (status = 400, body = ErrorBody), (status = 404, body = ErrorBody), (status = 413, body = ErrorBody), (status = 503, body = ErrorBody))
)]
pub async fn infer(
    State(state): State<Arc<ServerState>>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Response, ApiError> {
    answer(&state, &name, None, request).await
}

/// The same for a version.
pub async fn infer_version(
    State(state): State<Arc<ServerState>>,
    Path((name, version)): Path<(String, String)>,
    request: Request,
) -> Result<Response, ApiError> {
    answer(&state, &name, Some(&version), request).await
}

async fn answer(
    state: &Arc<ServerState>,
    name: &str,
    version: Option<&str>,
    request: Request,
) -> Result<Response, ApiError> {
    let start = Instant::now();
    let mut options = Options::of_query(request.uri().query())?;
    let model = state.repository.model(name, version.or(options.version.as_deref()))?;
    let (parts, body) = request.into_parts();
    let limits = &state.config.limits;
    let header_length = match parts.headers.get(HEADER_LENGTH) {
        None => None,
        Some(value) => {
            let number = value.to_str().ok().and_then(|text| text.trim().parse::<usize>().ok());
            let wrong =
                || ApiError::bad_request("invalid_header", "Inference-Header-Content-Length: expected a number");
            Some(number.ok_or_else(wrong)?)
        }
    };
    let bytes = collect(&parts.headers, body, limits.max_body, limits.request_timeout).await?;
    let (n_rows, response) = if bytes.len() > SMALL_BODY {
        let (state_, model_) = (state.clone(), model.clone());
        let job = move || {
            let plan = read(&state_, &model_, &bytes, header_length, &mut options)?;
            let answer = answer_rows(&model_, &plan.rows, &options)?;
            Ok::<_, ApiError>((plan.rows.n_rows, write(&model_, &plan.reply, &answer)?))
        };
        state.workers.run(job).await??
    } else {
        let Plan { rows, reply } = read(state, &model, &bytes, header_length, &mut options)?;
        let n_rows = rows.n_rows;
        let (_, answer) = predict(state, &model, rows, options).await?;
        (n_rows, write(&model, &reply, &answer)?)
    };
    model.metrics.answered(Protocol::V2, n_rows, start.elapsed().as_secs_f64());
    Ok(response)
}

/// A request that was read.
struct Plan {
    rows: RequestRows,
    reply: Reply,
}

/// What the response consists of.
struct Reply {
    id: Option<String>,
    /// The outputs, and whether they are binary.
    outputs: Vec<(String, bool)>,
    warnings: Vec<Warning>,
    quantiles: Vec<f64>,
}

fn read(
    state: &ServerState,
    model: &ServedModel,
    body: &[u8],
    header_length: Option<usize>,
    options: &mut Options,
) -> Result<Plan, ApiError> {
    let (json, binary) = match header_length {
        None => (body, &[][..]),
        Some(length) => body.split_at_checked(length).ok_or_else(|| {
            let message = format!("Inference-Header-Content-Length is {length}, but the body has {} bytes", body.len());
            ApiError::bad_request("invalid_header", message)
        })?,
    };
    let request: InferRequest = serde_json::from_slice(json).map_err(|e| invalid_json(&e))?;
    read_parameters(&request.parameters, options)?;
    let is_binary = |parameters: &Map<String, Value>, key: &str| parameters.get(key).and_then(Value::as_bool);
    let all_binary = is_binary(&request.parameters, "binary_data_output").unwrap_or(false);
    let outputs: Vec<(String, bool)> = match &request.outputs[..] {
        [] => default_outputs(model).into_iter().map(|name| (name.to_string(), all_binary)).collect(),
        requested => requested
            .iter()
            .map(|output| (output.name.clone(), is_binary(&output.parameters, "binary_data").unwrap_or(all_binary)))
            .collect(),
    };
    for (name, _) in &outputs {
        match name.as_str() {
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
    }
    let rows = read_tensors(state, model, request.inputs, binary, options)?;
    let warnings = rows.check(model, options)?;
    let quantiles = options.quantiles.clone();
    Ok(Plan { rows, reply: Reply { id: request.id, outputs, warnings, quantiles } })
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
            Value::String(text) => text.split(',').map(|word| word.trim().parse().ok()).collect(),
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
    let Some(first) = tensors.first() else {
        return Err(ApiError::bad_request("missing_rows", "\"inputs\" is empty: expected at least one tensor"));
    };
    let (n_rows, width) = (first.n_rows, model.inputs.len());
    if let Some(other) = tensors.iter().find(|tensor| tensor.n_rows != n_rows) {
        let message =
            format!("tensor '{}' has {} rows, but tensor '{}' has {n_rows}", other.name, other.n_rows, first.name);
        return Err(ApiError::bad_request("invalid_tensor", message));
    }
    if n_rows == 0 {
        return Err(ApiError::bad_request("missing_rows", "there are no rows to predict: expected at least one"));
    }
    check_rows(state, n_rows, options)?;
    require_memory(n_rows, width)?;
    let mut rows = RequestRows::new(model);
    rows.add_empty(n_rows, width);
    let is_whole = tensors.len() == 1 && (first.width != 1 || model.input(&first.name).is_none());
    if is_whole {
        return whole_rows(model, rows, &tensors[0]);
    }
    let mut is_there = vec![false; width];
    for tensor in &tensors {
        let Some(place) = model.input(&tensor.name) else {
            if model.accepts(&tensor.name) || options.unknown == Unknown::Warn {
                continue;
            }
            return Err(unknown_column(model, &tensor.name));
        };
        let input = &model.inputs[place];
        if tensor.width != 1 {
            let message = format!("tensor '{}' has {} values for each row: expected 1", tensor.name, tensor.width);
            return Err(ApiError::bad_request("invalid_tensor", message).in_column(&tensor.name));
        }
        if std::mem::replace(&mut is_there[place], true) {
            let message = format!("there are two tensors named '{}'", tensor.name);
            return Err(ApiError::bad_request("duplicate_column", message).in_column(&tensor.name));
        }
        for row in 0..n_rows {
            let number = rows.encode(place, input, row, &tensor.data.cell(row))?;
            rows.values[row * width + place] = number;
        }
    }
    (0..width).filter(|&place| !is_there[place]).for_each(|place| rows.set_absent(place));
    Ok(rows)
}

/// All columns in one tensor.
fn whole_rows(model: &ServedModel, mut rows: RequestRows, tensor: &Tensor) -> Result<RequestRows, ApiError> {
    let width = model.inputs.len();
    if tensor.width != width {
        let message =
            format!("tensor '{}' has {} columns; model '{}' has {width}", tensor.name, tensor.width, model.name);
        return Err(ApiError::bad_request("wrong_width", message));
    }
    for row in 0..tensor.n_rows {
        for (place, input) in model.inputs.iter().enumerate() {
            let cell: RequestCell<'_> = tensor.data.cell(row * width + place);
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

fn default_outputs(model: &ServedModel) -> Vec<&'static str> {
    if model.has_probabilities() { vec!["predict", "predict_proba"] } else { vec!["predict"] }
}

/// The type of predictions.
fn label_type(model: &ServedModel) -> DataType {
    match model.schema().task {
        Task::Regression | Task::Ranking => DataType::Fp64,
        Task::Multilabel => DataType::Bool,
        Task::Classification if model.labels.iter().all(|label| label.value.parse::<i64>().is_ok()) => DataType::Int64,
        Task::Classification => DataType::Bytes,
    }
}

/// An output before it is written.
struct NamedOutput<'a> {
    name: &'a str,
    shape: Vec<usize>,
    datatype: DataType,
    values: OutputValues<'a>,
}

enum OutputValues<'a> {
    Numbers(&'a [f64]),
    Integers(Vec<i64>),
    Truths(Vec<bool>),
    Texts(Vec<&'a str>),
}

fn output<'a>(model: &'a ServedModel, answer: &'a Answer, name: &'a str, n_levels: usize) -> Option<NamedOutput<'a>> {
    let n = answer.prediction.n_rows();
    let table = |values: &'a [f64], width: usize| {
        Some(NamedOutput {
            name,
            shape: vec![n, width],
            datatype: DataType::Fp64,
            values: OutputValues::Numbers(values),
        })
    };
    match name {
        "predict" => {
            let datatype = label_type(model);
            let (width, values) = predicted(model, answer, datatype);
            Some(NamedOutput { name, shape: vec![n, width], datatype, values })
        }
        "predict_proba" => table(answer.prediction.values(), answer.prediction.width()),
        "raw_scores" => answer.raw_scores.as_ref().and_then(|(scores, width)| table(scores, *width)),
        "quantiles" => answer.quantiles.as_ref().and_then(|quantiles| table(quantiles, n_levels)),
        "contributions" => answer.contributions.as_ref().map(|shap| NamedOutput {
            name,
            shape: vec![n, shap.n_columns, shap.n_outputs],
            datatype: DataType::Fp64,
            values: OutputValues::Numbers(&shap.values),
        }),
        _ => None,
    }
}

/// How many values there are for each row, and the values.
fn predicted<'a>(model: &'a ServedModel, answer: &'a Answer, datatype: DataType) -> (usize, OutputValues<'a>) {
    let prediction = &answer.prediction;
    let n = prediction.n_rows();
    match datatype {
        DataType::Bool => {
            let labels = model.labels.len();
            let truths = (0..n).flat_map(|row| (0..labels).map(move |label| prediction.has(row, label))).collect();
            (labels, OutputValues::Truths(truths))
        }
        DataType::Int64 => {
            let classes: Vec<i64> = model.labels.iter().map(|label| label.value.parse().unwrap_or(0)).collect();
            (1, OutputValues::Integers((0..n).map(|row| classes[prediction.class(row)]).collect()))
        }
        DataType::Bytes => {
            let classes = &model.schema().classes;
            (1, OutputValues::Texts((0..n).map(|row| classes[prediction.class(row)].as_str()).collect()))
        }
        _ => (prediction.width(), OutputValues::Numbers(prediction.values())),
    }
}

fn write(model: &ServedModel, reply: &Reply, answer: &Answer) -> Result<Response, ApiError> {
    let (mut json, mut binary) = (Vec::with_capacity(256), Vec::new());
    let push = |json: &mut Vec<u8>, text: &str| json.extend_from_slice(text.as_bytes());
    push(&mut json, "{\"model_name\":");
    push_text(&mut json, &model.name);
    push(&mut json, ",\"model_version\":");
    push_text(&mut json, &model.version);
    if let Some(id) = &reply.id {
        push(&mut json, ",\"id\":");
        push_text(&mut json, id);
    }
    if !reply.warnings.is_empty() {
        push(&mut json, ",\"parameters\":{\"warnings\":");
        push_text(&mut json, &serde_json::to_string(&reply.warnings).unwrap_or_default());
        push(&mut json, "}");
    }
    push(&mut json, ",\"outputs\":[");
    let mut is_first = true;
    for (name, is_binary) in &reply.outputs {
        let Some(output) = output(model, answer, name, reply.quantiles.len()) else { return Err(model.lacks(name)) };
        if !std::mem::replace(&mut is_first, false) {
            json.push(b',');
        }
        push(&mut json, "{\"name\":");
        push_text(&mut json, output.name);
        push(&mut json, &format!(",\"shape\":{:?},\"datatype\":\"{}\"", output.shape, output.datatype.name()));
        if *is_binary {
            let before = binary.len();
            match &output.values {
                OutputValues::Numbers(values) => values.iter().for_each(|x| binary.extend(x.to_le_bytes())),
                OutputValues::Integers(values) => values.iter().for_each(|x| binary.extend(x.to_le_bytes())),
                OutputValues::Truths(values) => binary.extend(values.iter().map(|x| u8::from(*x))),
                OutputValues::Texts(values) => values.iter().for_each(|text| encode_binary(text, &mut binary)),
            }
            push(&mut json, &format!(",\"parameters\":{{\"binary_data_size\":{}}}}}", binary.len() - before));
            continue;
        }
        push(&mut json, ",\"data\":");
        match &output.values {
            OutputValues::Numbers(values) => numbers(&mut json, values),
            OutputValues::Integers(values) => push(&mut json, &json!(values).to_string()),
            OutputValues::Truths(values) => push(&mut json, &json!(values).to_string()),
            OutputValues::Texts(values) => push(&mut json, &json!(values).to_string()),
        }
        json.push(b'}');
    }
    push(&mut json, "]}");
    if binary.is_empty() {
        return Ok(json_response(json));
    }
    let length = HeaderValue::from(json.len());
    json.extend_from_slice(&binary);
    let headers =
        [(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")), (HEADER_LENGTH, length)];
    Ok((headers, json).into_response())
}
