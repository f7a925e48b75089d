//! What a client gets when a request can't be answered: a status, and a JSON body with a message and the place of the fault.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use ermine_core::error::Error;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The body of every error.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ErrorBody {
    /// What is wrong, with the value and what is allowed.
    pub error: String,
    /// The kind of the error, for programs.
    #[serde(rename = "type")]
    #[schema(example = "wrong_type")]
    pub kind: String,
    /// The row, counted from 0, in JSON and tensors.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub row: Option<usize>,
    /// The line, counted from 1, in CSV and JSON text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<u64>,
    /// The column of the table.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub column: Option<String>,
}

/// Why a request can't be answered.
#[derive(Debug, Clone)]
pub struct ApiError {
    /// The HTTP status.
    pub status: StatusCode,
    /// The body.
    pub body: Box<ErrorBody>,
    /// After how many seconds to try again.
    pub retry_after: Option<u32>,
}

impl ApiError {
    /// An error of this status and kind.
    pub fn new(status: StatusCode, kind: &str, message: impl Into<String>) -> ApiError {
        let body = ErrorBody { error: message.into(), kind: kind.into(), row: None, line: None, column: None };
        ApiError { status, body: Box::new(body), retry_after: None }
    }

    /// A fault of the request (400).
    pub fn bad_request(kind: &str, message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::BAD_REQUEST, kind, message)
    }

    /// A name that isn't there (404).
    pub fn not_found(kind: &str, message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::NOT_FOUND, kind, message)
    }

    /// More than a limit allows (413).
    pub fn too_large(kind: &str, message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, kind, message)
    }

    /// The server has too much to do (503): try again.
    pub fn overloaded(message: impl Into<String>) -> ApiError {
        let mut error = ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", message);
        error.retry_after = Some(1);
        error
    }

    /// The same error at a row.
    pub fn at_row(mut self, row: usize) -> ApiError {
        self.body.row = Some(row);
        self
    }

    /// The same error in a column.
    pub fn in_column(mut self, column: &str) -> ApiError {
        self.body.column = Some(column.into());
        self
    }

    /// The response with this error, as JSON.
    pub fn response(&self) -> Response {
        let body = serde_json::to_vec(&self.body).unwrap_or_default();
        let mut response = (self.status, [(header::CONTENT_TYPE, "application/json")], body).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.extensions_mut().insert(ErrorKind(self.body.kind.clone()));
        response
    }
}

/// The kind of the error of a response, for metrics and logs.
#[derive(Debug, Clone)]
pub struct ErrorKind(pub String);

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        self.response()
    }
}

/// Errors of the core that data cause are faults of the request; all others are faults of the server.
impl From<Error> for ApiError {
    fn from(error: Error) -> ApiError {
        let message = error.to_string();
        match error {
            Error::Table { location, .. } => {
                let mut api = ApiError::bad_request("invalid_table", message);
                (api.body.line, api.body.column) = (location.line, location.column);
                api
            }
            Error::StrayCell { row, column, .. } => {
                ApiError::bad_request("wrong_type", message).at_row(row).in_column(&column)
            }
            Error::Unknown { what: "column", name, .. } => {
                ApiError::bad_request("unknown_column", message).in_column(&name)
            }
            Error::Unknown { .. } | Error::Param { .. } => ApiError::bad_request("invalid_option", message),
            Error::Row { row, .. } => ApiError::bad_request("invalid_data", message).at_row(row),
            Error::Data(_) | Error::MissingTarget { .. } => ApiError::bad_request("invalid_data", message),
            Error::MissingGroups => ApiError::bad_request("missing_groups", message),
            Error::Unsupported { .. } => ApiError::bad_request("unsupported", message),
            Error::Memory { .. } => ApiError::too_large("out_of_memory", message),
            Error::Stopped => ApiError::overloaded(message),
            _ => ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message),
        }
    }
}
