//! The Open Inference Protocol, version 2, over REST: what KServe, Triton and MLServer speak. With Triton's extension for binary tensors.
//!
//! A request has one tensor with all columns (`[rows, columns]`, any name), or one tensor for each column, named after it. The outputs are `predict` and, for models with probabilities,
//! `predict_proba`; `raw_scores`, `quantiles` (levels in the parameter `quantiles`) and `contributions` are returned where they are requested.

mod request;
mod response;
mod tensor;

pub use request::InferRequest;
pub use response::InferResponse;

use crate::answer::answer_rows;
use crate::body::collect;
use crate::error::{ApiError, ErrorBody};
use crate::metrics::Protocol;
use crate::model::{Input, Reader, ServedModel};
use crate::options::Options;
use crate::predict::{SMALL_BODY, json_response, predict};
use crate::state::ServerState;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use ermine_core::matrix::Task;
use ermine_core::table::ColumnKind;
use request::{InferPlan, json_length, read};
use response::{default_outputs, label_type, write};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// How many bytes of a body are JSON; binary data follow.
pub const JSON_LENGTH: HeaderName = HeaderName::from_static("inference-header-content-length");

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
    let inputs: Vec<Value> = model.inputs.iter().map(describe_input).collect();
    let outputs: Vec<Value> = default_outputs(&model).into_iter().map(|name| describe_output(&model, name)).collect();
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

fn describe_input(input: &Input) -> Value {
    let datatype = match (&input.reader, input.kind) {
        (_, ColumnKind::Boolean) => "BOOL",
        (Reader::Number(notation), _) if notation.is_plain() => "FP64",
        _ => "BYTES",
    };
    json!({ "name": input.name, "datatype": datatype, "shape": [-1, 1] })
}

fn describe_output(model: &ServedModel, name: &str) -> Value {
    let datatype = if name == "predict" { label_type(model).name() } else { "FP64" };
    let width = match name {
        "predict" if model.schema().task == Task::Multilabel => model.schema().classes.len(),
        "predict" => model.schema().n_outputs.max(1),
        _ => model.schema().classes.len(),
    };
    json!({ "name": name, "datatype": datatype, "shape": [-1, width] })
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
    let length = json_length(&parts.headers)?;
    let bytes = collect(&parts.headers, body, limits.max_body, limits.request_timeout).await?;
    let (n_rows, response) = if bytes.len() > SMALL_BODY {
        let (state_, model_) = (state.clone(), model.clone());
        let job = move || {
            let InferPlan { rows, reply } = read(&state_, &model_, &bytes, length, &mut options)?;
            let answer = answer_rows(&model_, &rows, &options)?;
            Ok::<_, ApiError>((rows.n_rows, write(&model_, &reply, &answer)?))
        };
        state.workers.run(job).await??
    } else {
        let InferPlan { rows, reply } = read(state, &model, &bytes, length, &mut options)?;
        let n_rows = rows.n_rows;
        let (_, answer) = predict(state, &model, rows, options).await?;
        (n_rows, write(&model, &reply, &answer)?)
    };
    model.metrics.answered(Protocol::V2, n_rows, start.elapsed().as_secs_f64());
    Ok(response)
}
