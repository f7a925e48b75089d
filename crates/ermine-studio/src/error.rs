//! Errors of requests: a status, a kind for programs, a message.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use ermine_core::error::Error;
use serde_json::json;

/// Why a request was refused.
#[derive(Debug, Clone)]
pub struct StudioError {
    /// The HTTP status.
    pub status: StatusCode,
    /// A short name of the kind of error.
    pub kind: &'static str,
    /// What is wrong, and what is allowed.
    pub message: String,
}

impl StudioError {
    /// An error with this status.
    pub fn new(status: StatusCode, kind: &'static str, message: impl Into<String>) -> StudioError {
        StudioError { status, kind, message: message.into() }
    }

    /// The request can't be understood or its values are not allowed (400).
    pub fn bad_request(message: impl Into<String>) -> StudioError {
        StudioError::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    /// There is nothing with this name (404).
    pub fn not_found(message: impl Into<String>) -> StudioError {
        StudioError::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    /// The request doesn't fit the state of the session (409).
    pub fn conflict(message: impl Into<String>) -> StudioError {
        StudioError::new(StatusCode::CONFLICT, "conflict", message)
    }

    /// Not allowed (403).
    pub fn forbidden(kind: &'static str, message: impl Into<String>) -> StudioError {
        StudioError::new(StatusCode::FORBIDDEN, kind, message)
    }
}

impl From<Error> for StudioError {
    fn from(error: Error) -> StudioError {
        let status = match error {
            Error::Memory { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        StudioError::new(status, "invalid_data", error.to_string())
    }
}

impl From<std::io::Error> for StudioError {
    fn from(error: std::io::Error) -> StudioError {
        StudioError::new(StatusCode::INTERNAL_SERVER_ERROR, "io", error.to_string())
    }
}

impl IntoResponse for StudioError {
    fn into_response(self) -> Response {
        let body = json!({ "error": self.kind, "message": self.message }).to_string();
        (self.status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
    }
}
