//! Tables as bodies: CSV, which streams through in constant memory, and Arrow IPC.

use crate::answer::{Fields, answer_table};
use crate::body::{Pieces, collect};
use crate::error::ApiError;
use crate::metrics::Protocol;
use crate::model::ServedModel;
use crate::options::{Options, Unknown};
use crate::rows::{Warning, ignored_column, missing_column, unknown_column};
use crate::spool::Spool;
use crate::state::ServerState;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use ermine_core::matrix::TableDifferences;
use ermine_core::table::{ColumnType, CsvBlocks, ReadOptions, Table};
use serde_json::json;
use std::sync::Arc;
use std::time::Instant;

/// The warnings of a response that is no JSON.
pub const WARNINGS: HeaderName = HeaderName::from_static("ermine-warnings");

/// About how many bytes of CSV become a table.
const BLOCK: usize = 1 << 20;

/// How a table is read for a model.
fn read_options(model: &ServedModel) -> ReadOptions {
    ReadOptions { absent_types: true, ..model.schema().read_options() }
}

/// Refuses columns that the model doesn't have, unless they are allowed.
fn check_columns(model: &ServedModel, names: &[String], options: &Options) -> Result<Vec<String>, ApiError> {
    let is_unknown = |name: &&String| model.input(name).is_none() && !model.accepts(name);
    let unknown: Vec<String> = names.iter().filter(is_unknown).cloned().collect();
    match unknown.first() {
        Some(name) if options.unknown == Unknown::Error => Err(unknown_column(model, name)),
        _ => Ok(unknown),
    }
}

/// The table with all inputs of the model, and what there is to know about it. Rows are counted from `first_row`.
fn complete(
    model: &ServedModel,
    table: Table,
    first_row: usize,
    options: &Options,
) -> Result<(Table, Vec<Warning>), ApiError> {
    let n_rows = table.n_rows();
    let differences = TableDifferences::new(model.schema(), &table);
    let mut warnings = Vec::new();
    for unknown in differences.unknown_categories {
        let example = unknown.examples.first().cloned().unwrap_or_default();
        if options.unknown == Unknown::Error {
            let row =
                table.column(&unknown.column).ok().and_then(|column| (0..n_rows).find(|&r| column.text(r) == example));
            let message = format!(
                "column '{}': the training data had no category '{example}'; leave the cell empty, or send ?unknown=warn to treat it as missing",
                unknown.column
            );
            let error = ApiError::bad_request("unknown_category", message).in_column(&unknown.column);
            return Err(match row {
                Some(row) => error.at_row(first_row + row),
                None => error,
            });
        }
        let message = format!("the training data had no category '{example}'; unknown categories count as missing");
        warnings.push(Warning {
            kind: "unknown_category".into(),
            column: unknown.column,
            rows: unknown.n_rows,
            message,
        });
    }
    let (table, absent) = model.schema().complete(table);
    warnings.extend(absent.iter().map(|name| missing_column(name, n_rows)));
    Ok((table, warnings))
}

/// Adds warnings of further rows to those of the rows before.
fn merge(all: &mut Vec<Warning>, more: Vec<Warning>) {
    for warning in more {
        match all.iter_mut().find(|known| (&known.kind, &known.column) == (&warning.kind, &warning.column)) {
            Some(known) => known.rows += warning.rows,
            None => all.push(warning),
        }
    }
}

/// Most bytes of warnings in the head of a response; longer heads are refused by some clients.
const WARNING_BYTES: usize = 4096;

/// The response with the warnings in its head, as many as have room.
fn with_warnings(mut response: Response, warnings: &[Warning]) -> Response {
    let mut list: Vec<String> = Vec::new();
    let mut n_bytes = 0;
    for warning in warnings {
        let text = ascii_json(warning);
        n_bytes += text.len();
        if n_bytes > WARNING_BYTES {
            let message = format!("{} further warnings are left out", warnings.len() - list.len());
            list.push(json!({ "type": "more", "column": "", "rows": 0, "message": message }).to_string());
            break;
        }
        list.push(text);
    }
    if let Some(value) = HeaderValue::try_from(format!("[{}]", list.join(","))).ok().filter(|_| !list.is_empty()) {
        response.headers_mut().insert(WARNINGS, value);
    }
    response
}

/// JSON of visible ASCII characters alone, which is what a header may have.
fn ascii_json(warning: &Warning) -> String {
    let json = serde_json::to_string(warning).unwrap_or_default();
    let escape = |c: char| {
        let mut units = [0; 2];
        match c {
            ' '..='~' => c.to_string(),
            _ => c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
        }
    };
    json.chars().map(escape).collect()
}

/// Most rows of a request with these options.
pub fn max_rows(state: &ServerState, options: &Options) -> usize {
    let limits = &state.config.limits;
    if options.contributions { limits.max_rows.min(limits.max_explained_rows) } else { limits.max_rows }
}

fn too_many_rows(most: usize) -> ApiError {
    ApiError::too_large("too_many_rows", format!("more than the {most} rows that a request may have"))
}

/// The predictions of one block of CSV as CSV text; the header only before the first.
fn predict_block(
    model: &ServedModel,
    table: Table,
    first_row: usize,
    options: &Options,
) -> Result<(Vec<u8>, Vec<Warning>), ApiError> {
    let (table, warnings) = complete(model, table, first_row, options)?;
    let answer = answer_table(model, &table, options)?.table(model, options)?;
    let mut text = Vec::new();
    // Writing to a vector can't fail.
    let _ = answer.write_csv_to(&mut text);
    if first_row > 0 {
        let mut header = Vec::new();
        let _ = answer.select(&[]).write_csv_to(&mut header);
        text.drain(..header.len());
    }
    Ok((text, warnings))
}

/// The error with a hint for those whose client has removed the line breaks.
fn one_line(mut error: ApiError, has_lines: bool) -> ApiError {
    if !has_lines {
        error.body.error.push_str(" (the body has no line breaks; curl keeps them with --data-binary instead of -d)");
    }
    error
}

/// Predicts a CSV body.
pub async fn predict_csv(
    state: &Arc<ServerState>,
    model: Arc<ServedModel>,
    headers: &HeaderMap,
    body: Body,
    options: Options,
) -> Result<Response, ApiError> {
    let start = Instant::now();
    let limits = &state.config.limits;
    let most = max_rows(state, &options);
    let mut pieces = Pieces::new(headers, body, limits.max_stream, limits.request_timeout)?;
    let mut blocks = CsvBlocks::new(BLOCK);
    let mut reading = read_options(&model);
    let (mut n_rows, mut spool, mut warnings) = (0, Spool::new(limits.max_stream), Vec::new());
    let (mut ignored, mut ended): (Option<Vec<String>>, bool) = (None, false);
    let mut has_lines = false;
    loop {
        match pieces.next().await? {
            Some(piece) => {
                has_lines |= piece.contains(&b'\n');
                blocks.push(&piece);
            }
            None => ended = true,
        }
        if ignored.is_none()
            && let Some(names) = blocks.header(&reading, ended).map_err(|e| one_line(e.into(), has_lines))?
        {
            let unknown = check_columns(&model, names, &options).map_err(|e| one_line(e, has_lines))?;
            reading.types.extend(unknown.iter().map(|name| (name.clone(), ColumnType::Ignored)));
            ignored = Some(unknown);
        }
        // Reading and predicting a block is the work of one job.
        while ignored.is_some() && (ended || blocks.has_block()) {
            let (job_model, job_options, job_reading) = (model.clone(), options.clone(), reading.clone());
            let mut job_blocks = blocks;
            let done = state.workers.run(move || {
                let table = job_blocks.next_table(&job_reading, ended);
                let Some(table) = table? else { return Ok((job_blocks, None)) };
                let n = table.n_rows();
                if n_rows + n > most {
                    return Err(too_many_rows(most));
                }
                Ok((job_blocks, Some((n, predict_block(&job_model, table, n_rows, &job_options)?))))
            });
            let (same, block) = done.await??;
            blocks = same;
            let Some((n, (text, more))) = block else { break };
            n_rows += n;
            merge(&mut warnings, more);
            spool.write(&text)?;
        }
        if ended {
            break;
        }
    }
    if n_rows == 0 {
        let message = "the CSV has no rows: expected a header and at least one row";
        return Err(one_line(ApiError::bad_request("missing_rows", message), has_lines));
    }
    warnings.extend(ignored.unwrap_or_default().iter().map(|name| ignored_column(name, n_rows)));
    model.metrics.answered(Protocol::Rows, n_rows, start.elapsed().as_secs_f64());
    let body = spool.into_body(limits.request_timeout)?;
    let response = ([(header::CONTENT_TYPE, "text/csv; charset=utf-8")], body).into_response();
    Ok(with_warnings(response, &warnings))
}

/// Whether a response is to be CSV.
fn wants_csv(headers: &HeaderMap) -> bool {
    headers
        .get(header::ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .is_some_and(|accept| accept.contains("text/csv"))
}

/// Predicts an Arrow IPC body.
pub async fn predict_arrow(
    state: &Arc<ServerState>,
    model: Arc<ServedModel>,
    headers: &HeaderMap,
    body: Body,
    options: Options,
) -> Result<Response, ApiError> {
    let start = Instant::now();
    let limits = &state.config.limits;
    let bytes = collect(headers, body, limits.max_body, limits.request_timeout).await?;
    let (most, csv, job_model) = (max_rows(state, &options), wants_csv(headers), model.clone());
    let job = move || {
        let table = read_arrow(&bytes, &job_model)?;
        if table.n_rows() > most {
            return Err(too_many_rows(most));
        }
        let names: Vec<String> = table.names().into_iter().map(String::from).collect();
        let ignored = check_columns(&job_model, &names, &options)?;
        let n_rows = table.n_rows();
        let (table, mut warnings) = complete(&job_model, table, 0, &options)?;
        warnings.extend(ignored.iter().map(|name| ignored_column(name, n_rows)));
        let answer = answer_table(&job_model, &table, &options)?;
        if !csv {
            let json = answer.json(&job_model, &options, Fields::Rows, &warnings);
            return Ok((n_rows, ([(header::CONTENT_TYPE, "application/json")], json).into_response()));
        }
        let mut text = Vec::new();
        // Writing to a vector can't fail.
        let _ = answer.table(&job_model, &options)?.write_csv_to(&mut text);
        let response = ([(header::CONTENT_TYPE, "text/csv; charset=utf-8")], text).into_response();
        Ok((n_rows, with_warnings(response, &warnings)))
    };
    let (n_rows, response) = state.workers.run(job).await??;
    model.metrics.answered(Protocol::Rows, n_rows, start.elapsed().as_secs_f64());
    Ok(response)
}

#[cfg(feature = "ipc")]
fn read_arrow(bytes: &[u8], model: &ServedModel) -> Result<Table, ApiError> {
    Ok(Table::from_ipc_bytes(bytes, &read_options(model))?)
}

#[cfg(not(feature = "ipc"))]
fn read_arrow(_: &[u8], _: &ServedModel) -> Result<Table, ApiError> {
    let message = "this build cannot read Arrow IPC: build it with `--features ipc`, or send CSV or JSON";
    Err(ApiError::new(axum::http::StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header_of(warnings: &[Warning]) -> Option<Vec<Warning>> {
        let response = with_warnings(Response::new(Body::empty()), warnings);
        let text = response.headers().get(WARNINGS)?.to_str().unwrap().to_string();
        assert!(text.len() < WARNING_BYTES + 200, "{}", text.len());
        Some(serde_json::from_str(&text).unwrap())
    }

    #[test]
    fn warnings_fit_into_the_head_of_a_response() {
        assert_eq!(header_of(&[]), None);
        let odd = [missing_column("größe \u{1f600} \u{7f}\n\"", 3)];
        assert_eq!(header_of(&odd).unwrap(), odd);
        let many: Vec<Warning> = (0..1000).map(|j| missing_column(&format!("column {j}"), 1)).collect();
        let shown = header_of(&many).unwrap();
        let (more, first) = shown.split_last().unwrap();
        assert_eq!(first, &many[..first.len()]);
        assert_eq!(more.message, format!("{} further warnings are left out", 1000 - first.len()));
        let long = [missing_column(&"x".repeat(100_000), 1)];
        assert_eq!(header_of(&long).unwrap()[0].message, "1 further warnings are left out");
    }
}
