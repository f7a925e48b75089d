//! KServe's protocol, version 1 (also that of TensorFlow Serving): `/v1/models`.

use crate::answer::Fields;
use crate::error::{ApiError, ErrorBody};
use crate::options::Options;
use crate::predict::{json_response, predict_json};
use crate::rows::Warning;
use crate::state::ServerState;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use utoipa::ToSchema;

/// A request.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"instances": [[5.1, 3.5, 1.4, 0.2]]}))]
pub struct V1Request {
    /// The rows: arrays in the order of the columns, or objects.
    #[schema(value_type = Vec<Object>)]
    pub instances: Vec<Value>,
}

/// An answer.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct V1Response {
    /// For each row a class or a number.
    #[schema(value_type = Vec<Object>)]
    pub predictions: Vec<Value>,
    /// `:explain` only: for each row the contribution of each column (SHAP values).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    pub explanations: Option<Vec<BTreeMap<String, Value>>>,
    /// `:explain` only: what contributions are added to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_values: Option<Vec<f64>>,
    /// With `?probabilities=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probabilities: Option<Vec<BTreeMap<String, f64>>>,
    /// What differs from the training data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warnings: Option<Vec<Warning>>,
}

/// List the models (version 1)
#[utoipa::path(get, path = "/v1/models", tag = "KServe version 1", responses((status = 200, body = Object)))]
pub async fn list(State(state): State<Arc<ServerState>>) -> Response {
    let mut names: Vec<String> = state.repository.all().iter().map(|model| model.name.clone()).collect();
    names.dedup();
    json_response(json!({ "models": names }).to_string().into_bytes())
}

/// Whether a model is ready (version 1)
#[utoipa::path(
    get, path = "/v1/models/{name}", tag = "KServe version 1", params(("name" = String, Path, description = "Name of the model")),
    responses((status = 200, body = Object), (status = 404, body = ErrorBody))
)]
pub async fn status(State(state): State<Arc<ServerState>>, Path(name): Path<String>) -> Result<Response, ApiError> {
    let model = state.repository.model(&name, None)?;
    Ok(json_response(json!({ "name": model.name, "ready": true }).to_string().into_bytes()))
}

/// Predict or explain (version 1)
///
/// `{name}:predict` returns predictions, `{name}:explain` also the contribution of each column.
#[utoipa::path(
    post, path = "/v1/models/{name}:predict", tag = "KServe version 1",
    params(("name" = String, Path, description = "Name of the model"), Options),
    request_body = V1Request, responses((status = 200, body = V1Response), (status = 400, body = ErrorBody), (status = 404, body = ErrorBody))
)]
pub async fn call(
    State(state): State<Arc<ServerState>>,
    Path(target): Path<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let Some((name, verb)) = target.rsplit_once(':') else {
        return Err(ApiError::not_found("unknown_path", "expected /v1/models/NAME:predict or /v1/models/NAME:explain"));
    };
    let mut options = Options::of_query(request.uri().query())?;
    let fields = match verb {
        "predict" => Fields::V1,
        "explain" => Fields::V1Explain,
        _ => {
            let message = format!("no method '{verb}': expected :predict or :explain");
            return Err(ApiError::not_found("unknown_path", message));
        }
    };
    options.contributions |= verb == "explain";
    let model = state.repository.model(name, options.version.as_deref())?;
    let (parts, body) = request.into_parts();
    predict_json(&state, model, &parts.headers, body, options, fields).await
}
