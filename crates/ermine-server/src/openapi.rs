//! The OpenAPI document, made from the handlers and the types of their bodies; and a page to try requests.

use crate::{error, models_api, options, rows, v1, v2};
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use std::sync::LazyLock;
use utoipa::OpenApi;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Ermine",
        description = "Predictions of Ermine's models over HTTP",
        license(name = "MIT OR Apache-2.0")
    ),
    paths(
        models_api::list_models,
        models_api::show_model,
        models_api::predict,
        v2::live,
        v2::ready,
        v2::server,
        v2::show,
        v2::model_ready,
        v2::infer,
        v2::index,
        v1::list,
        v1::status,
        v1::call,
    ),
    components(schemas(
        error::ErrorBody,
        models_api::PredictRequest,
        models_api::PredictResponse,
        models_api::ModelList,
        models_api::ModelDetails,
        options::Unknown,
        rows::Warning,
        v1::V1Request,
        v1::V1Response,
        v2::InferRequest,
        v2::InferResponse,
    ))
)]
struct Api;

static DOCUMENT: LazyLock<String> = LazyLock::new(|| Api::openapi().to_json().unwrap_or_default());

/// The OpenAPI document of the server, as JSON.
pub fn openapi_json() -> &'static str {
    &DOCUMENT
}

/// `GET /openapi.json`.
pub async fn document() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], openapi_json()).into_response()
}

/// `GET /`: a page to try requests.
pub async fn page() -> Html<&'static str> {
    Html(include_str!("page.html"))
}
