//! The plain JSON API, `/models`, for clients without an inference protocol.

use crate::answer::Fields;
use crate::error::{ApiError, ErrorBody};
use crate::model::{Input, Reader, ServedModel};
use crate::options::{Options, Unknown};
use crate::predict::{json_response, predict_json};
use crate::rows::Warning;
use crate::state::ServerState;
use crate::tables::{predict_arrow, predict_csv};
use axum::extract::{Path, Request, State};
use axum::http::{StatusCode, header};
use axum::response::Response;
use ermine_core::table::{ColumnKind, Notation};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use utoipa::ToSchema;

/// A prediction request. The body may also be the array of rows itself.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"rows": [{"age": 39, "education": "Bachelors"}], "probabilities": true}))]
pub struct PredictRequest {
    /// The rows: objects with a key for each column, or arrays in the order of the columns. `null` and absent keys are missing values.
    #[schema(value_type = Vec<Object>)]
    pub rows: Vec<Value>,
    /// Also return the probability of each class or label.
    #[serde(default)]
    pub probabilities: bool,
    /// Also return quantiles of the target at these levels.
    #[serde(default)]
    pub quantiles: Vec<f64>,
    /// Also return raw scores.
    #[serde(default)]
    pub raw_scores: bool,
    /// Also return the contribution of each column to the raw score (SHAP values).
    #[serde(default)]
    pub contributions: bool,
    /// Unknown columns and categories.
    #[serde(default)]
    pub unknown: Unknown,
}

/// The answer to a prediction request. What was not requested is not there.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PredictResponse {
    /// The model.
    pub model: String,
    /// Its version.
    pub version: String,
    /// For each row a class, a number, a list of numbers (several targets) or a list of labels.
    #[schema(value_type = Vec<Object>)]
    pub predictions: Vec<Value>,
    /// For each row the probability of each class or label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probabilities: Option<Vec<BTreeMap<String, f64>>>,
    /// For each row the quantile at each level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantiles: Option<Vec<BTreeMap<String, f64>>>,
    /// For each row its raw scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_scores: Option<Vec<Vec<f64>>>,
    /// For each row the contribution of each column: a number, or one for each raw score.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    pub contributions: Option<Vec<BTreeMap<String, Value>>>,
    /// What contributions are added to: the mean raw score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_values: Option<Vec<f64>>,
    /// What differs from the training data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warnings: Option<Vec<Warning>>,
}

/// The models that are served.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelList {
    /// The models.
    pub models: Vec<ModelSummary>,
    /// Model files that could not be read. The versions before them are still served.
    pub failures: Vec<String>,
}

/// A model in a list.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelSummary {
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
    /// The learner.
    pub learner: String,
    /// What it predicts: classification, regression, ranking or multilabel.
    pub task: String,
}

/// A model.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelDetails {
    /// The name.
    pub name: String,
    /// The version described here.
    pub version: String,
    /// All versions.
    pub versions: Vec<String>,
    /// The learner.
    pub learner: String,
    /// What it predicts: classification, regression, ranking or multilabel.
    pub task: String,
    /// The names of the target columns.
    pub target: Vec<String>,
    /// The classes or labels.
    pub classes: Vec<String>,
    /// The columns of a row, in their order.
    pub columns: Vec<ColumnDetails>,
    /// How many rows it was trained on.
    pub n_rows: usize,
    /// The parameters of the learner.
    #[schema(value_type = Object)]
    pub parameters: Value,
    /// What was minimized in training and what is proven about it.
    #[schema(value_type = Object)]
    pub certificate: Value,
    /// Which options it can answer beside predictions.
    pub options: Vec<String>,
    /// The body of a request to `POST /models/{name}/predict`.
    #[schema(value_type = Object)]
    pub example_request: Value,
}

/// A column of a row.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ColumnDetails {
    /// The name.
    pub name: String,
    /// numeric, boolean, ordinal or nominal.
    pub kind: String,
    /// The categories; absent if there are none or any text is accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// The range of the numbers in the training data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<(f64, f64)>,
    /// How text is read as a number, where it isn't a plain number: `a date`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_as: Option<String>,
}

/// List the models
#[utoipa::path(get, path = "/models", tag = "Models", responses((status = 200, body = ModelList)))]
pub async fn list_models(State(state): State<Arc<ServerState>>) -> Response {
    let summary = |model: Arc<ServedModel>| ModelSummary {
        name: model.name.clone(),
        version: model.version.clone(),
        learner: model.model.header().learner.clone(),
        task: model.schema().task.as_str().to_string(),
    };
    let models = state.repository.all().into_iter().map(summary).collect();
    let list = ModelList { models, failures: state.repository.failures() };
    json_response(serde_json::to_vec(&list).unwrap_or_default())
}

/// Describe a model
///
/// Its columns, parameters, certificate and an example request.
#[utoipa::path(
    get, path = "/models/{name}", tag = "Models",
    params(("name" = String, Path, description = "Name of the model"), ("version" = Option<String>, Query, description = "Version; the highest if not given")),
    responses((status = 200, body = ModelDetails), (status = 404, body = ErrorBody))
)]
pub async fn show_model(
    State(state): State<Arc<ServerState>>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let options = Options::of_query(request.uri().query())?;
    let model = state.repository.model(&name, options.version.as_deref())?;
    let details = details(&model, state.repository.versions(&name));
    Ok(json_response(serde_json::to_vec(&details).unwrap_or_default()))
}

fn details(model: &ServedModel, versions: Vec<String>) -> ModelDetails {
    let (header, schema) = (model.model.header(), model.schema());
    let column = |input: &Input| ColumnDetails {
        name: input.name.clone(),
        kind: input.kind.as_str().to_string(),
        categories: match &input.reader {
            Reader::Category(levels) => levels.names().to_vec(),
            _ => Vec::new(),
        },
        range: schema.features.iter().find(|feature| feature.name == input.name).and_then(|feature| feature.range),
        written_as: match &input.reader {
            Reader::Number(notation) if *notation != Notation::Plain => Some(notation.expected().to_string()),
            _ => None,
        },
    };
    ModelDetails {
        name: model.name.clone(),
        version: model.version.clone(),
        versions,
        learner: header.learner.clone(),
        task: schema.task.as_str().to_string(),
        target: schema.target.clone(),
        classes: schema.classes.clone(),
        columns: model.inputs.iter().map(column).collect(),
        n_rows: header.n_rows,
        parameters: serde_json::to_value(&header.params).unwrap_or_default(),
        certificate: serde_json::to_value(&header.certificate).unwrap_or_default(),
        options: options_of(model),
        example_request: example(model),
    }
}

fn options_of(model: &ServedModel) -> Vec<String> {
    let is_tree = model.model.own().tree_ensemble().is_some();
    let known = [
        ("probabilities", model.has_probabilities()),
        ("quantiles", !model.model.quantile_levels().is_empty()),
        ("contributions", is_tree),
    ];
    known.into_iter().filter(|(_, has)| *has).map(|(name, _)| name.to_string()).collect()
}

/// A request that the model answers: for each column a value of the training data.
pub fn example(model: &ServedModel) -> Value {
    let value = |input: &Input| match &input.reader {
        Reader::Category(_) if input.kind == ColumnKind::Boolean => true.into(),
        Reader::Category(levels) => levels.names().first().map_or(Value::Null, |name| name.as_str().into()),
        Reader::Text => "text".into(),
        Reader::Number(Notation::Plain) => {
            let range = model.schema().features.iter().find(|f| f.name == input.name).and_then(|f| f.range);
            range.map_or(json!(0.0), |(low, high)| {
                let middle = low / 2.0 + high / 2.0;
                if middle.abs() >= 10.0 { json!(middle.round()) } else { json!((middle * 1000.0).round() / 1000.0) }
            })
        }
        Reader::Number(_) => Value::Null,
    };
    let row: Map<String, Value> = model.inputs.iter().map(|input| (input.name.clone(), value(input))).collect();
    json!({ "rows": [row] })
}

/// Predict rows
///
/// The body is JSON, CSV with a header (`text/csv`) or Arrow IPC (`application/vnd.apache.arrow.stream` or `.file`). CSV is answered with CSV, everything else with
/// JSON; warnings about CSV are in the header `ermine-warnings`. Bodies may be packed with gzip or deflate.
#[utoipa::path(
    post, path = "/models/{name}/predict", tag = "Models",
    params(("name" = String, Path, description = "Name of the model"), Options),
    request_body(content((PredictRequest = "application/json"), (String = "text/csv"), (Vec<u8> = "application/vnd.apache.arrow.stream"))),
    responses(
        (status = 200, content((PredictResponse = "application/json"), (String = "text/csv"))),
        (status = 400, body = ErrorBody, description = "Something is wrong with the rows or options"),
        (status = 404, body = ErrorBody, description = "No such model or version"),
        (status = 408, body = ErrorBody, description = "The body took too long to arrive"),
        (status = 413, body = ErrorBody, description = "The body is too large, or has too many rows"),
        (status = 415, body = ErrorBody, description = "The body is of a type that is not supported"),
        (status = 503, body = ErrorBody, description = "Too much to do; try again after the time in `Retry-After`"),
    )
)]
pub async fn predict(
    State(state): State<Arc<ServerState>>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let options = Options::of_query(request.uri().query())?;
    let model = state.repository.model(&name, options.version.as_deref())?;
    let (parts, body) = request.into_parts();
    let content = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    match media_type(content)? {
        Media::Json => predict_json(&state, model, &parts.headers, body, options, Fields::Rows).await,
        Media::Csv => predict_csv(&state, model, &parts.headers, body, options).await,
        Media::Arrow => predict_arrow(&state, model, &parts.headers, body, options).await,
    }
}

enum Media {
    Json,
    Csv,
    Arrow,
}

/// What a body is. Without a type it is JSON, and so is what `curl -d` calls a form.
fn media_type(content: &str) -> Result<Media, ApiError> {
    let kind = content.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    match kind.as_str() {
        "" | "application/json" | "text/json" | "application/x-www-form-urlencoded" => Ok(Media::Json),
        "text/csv" | "application/csv" | "text/tab-separated-values" => Ok(Media::Csv),
        "application/vnd.apache.arrow.stream" | "application/vnd.apache.arrow.file" => Ok(Media::Arrow),
        _ => {
            let message = format!(
                "bodies of type '{kind}' are not supported: expected application/json, text/csv or application/vnd.apache.arrow.stream"
            );
            Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message))
        }
    }
}
