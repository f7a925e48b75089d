//! The path of a JSON prediction request, which `/models` and `/v1` share.

use crate::answer::{Answer, Fields, answer_rows};
use crate::body::collect;
use crate::error::ApiError;
use crate::json_rows::read_body;
use crate::metrics::Protocol;
use crate::model::{SMALL_ROWS, ServedModel};
use crate::options::Options;
use crate::queue::predict_together;
use crate::rows::{RequestRows, Warning};
use crate::state::ServerState;
use crate::tables::max_rows;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use std::sync::Arc;
use std::time::Instant;

/// Larger bodies are read by a worker.
pub const SMALL_BODY: usize = 1 << 16;

/// Predicts the rows of a JSON body.
pub async fn predict_json(
    state: &Arc<ServerState>,
    model: Arc<ServedModel>,
    headers: &HeaderMap,
    body: Body,
    mut options: Options,
    fields: Fields,
) -> Result<Response, ApiError> {
    let start = Instant::now();
    let limits = &state.config.limits;
    let text = collect(headers, body, limits.max_body, limits.request_timeout).await?;
    let most = limits.max_rows;
    let protocol = if matches!(fields, Fields::Rows) { Protocol::Rows } else { Protocol::V1 };
    let (n_rows, json) = if text.len() > SMALL_BODY {
        let (state_, model_) = (state.clone(), model.clone());
        state.workers.run(move || predict_large(&state_, &model_, &text, &mut options, fields)).await??
    } else {
        let (rows, warnings) = read(state, &model, &text, most, &mut options)?;
        let n_rows = rows.n_rows;
        let (options, answer) = predict(state, &model, rows, options).await?;
        (n_rows, answer.json(&model, &options, fields, &warnings))
    };
    model.metrics.answered(protocol, n_rows, start.elapsed().as_secs_f64());
    Ok(json_response(json))
}

fn read(
    state: &ServerState,
    model: &ServedModel,
    text: &[u8],
    most: usize,
    options: &mut Options,
) -> Result<(RequestRows, Vec<Warning>), ApiError> {
    let rows = read_body(model, text, most, options)?;
    if rows.n_rows == 0 {
        return Err(ApiError::bad_request("missing_rows", "there are no rows to predict: expected at least one"));
    }
    check_rows(state, rows.n_rows, options)?;
    let warnings = rows.check(model, options)?;
    Ok((rows, warnings))
}

/// Refuses more rows than these options allow.
pub fn check_rows(state: &ServerState, n_rows: usize, options: &Options) -> Result<(), ApiError> {
    let most = max_rows(state, options);
    if n_rows <= most {
        return Ok(());
    }
    let what = if options.contributions { " for contributions" } else { "" };
    let message = format!("{n_rows} rows are more than the {most} that a request{what} may have");
    Err(ApiError::too_large("too_many_rows", message))
}

fn predict_large(
    state: &ServerState,
    model: &ServedModel,
    text: &Bytes,
    options: &mut Options,
    fields: Fields,
) -> Result<(usize, Vec<u8>), ApiError> {
    let (rows, warnings) = read(state, model, text, state.config.limits.max_rows, options)?;
    let answer = answer_rows(model, &rows, options)?;
    Ok((rows.n_rows, answer.json(model, options, fields, &warnings)))
}

/// Predicts rows where it is best: here, together with other requests, or by a worker.
pub async fn predict(
    state: &Arc<ServerState>,
    model: &Arc<ServedModel>,
    rows: RequestRows,
    options: Options,
) -> Result<(Options, Answer), ApiError> {
    let is_small = options.is_plain() && rows.n_rows <= SMALL_ROWS;
    if is_small && rows.n_rows <= model.direct_rows {
        let answer = answer_rows(model, &rows, &options)?;
        return Ok((options, answer));
    }
    if is_small && model.predictor.is_some() && model.direct_rows == 0 && state.config.batching {
        if options.probabilities && !model.has_probabilities() {
            return Err(model.lacks("probabilities"));
        }
        let prediction = predict_together(&state.workers, model, rows.values, rows.n_rows).await?;
        return Ok((options, Answer { prediction, raw_scores: None, quantiles: None, contributions: None }));
    }
    let model = model.clone();
    let job = move || answer_rows(&model, &rows, &options).map(|answer| (options, answer));
    state.workers.run(job).await?
}

/// A response of JSON.
pub fn json_response(json: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(json));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
