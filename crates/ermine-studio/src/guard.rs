//! Who may send requests: programs and pages that know the token, from this machine.

use crate::app::StudioState;
use crate::assets;
use crate::error::StudioError;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use ermine_core::error::{Error, Result};
use std::sync::Arc;

/// A random token of 256 bits.
pub fn new_token() -> Result<String> {
    let mut bytes = [0u8; 32];
    getrandom::fill(&mut bytes).map_err(|e| Error::data(format!("no random numbers from the system: {e}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Pages load nothing from elsewhere, run no inline scripts, and are in no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Checks a request, and adds the headers that every response has.
pub async fn guard(State(state): State<Arc<StudioState>>, request: Request, next: Next) -> Response {
    let mut response = match admit(&state, &request) {
        Ok(Admission::Known) => next.run(request).await,
        Ok(Admission::WithToken) => enter(&state, &request),
        Err(error) if is_page(&request) => {
            (error.status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], assets::refused()).into_response()
        }
        Err(error) => error.into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

enum Admission {
    /// The request carries the token in a cookie or header.
    Known,
    /// The token is in the address, as the program prints it.
    WithToken,
}

fn is_page(request: &Request) -> bool {
    !request.uri().path().starts_with("/api/") && !request.uri().path().starts_with("/assets/")
}

fn admit(state: &StudioState, request: &Request) -> std::result::Result<Admission, StudioError> {
    let headers = request.headers();
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    // Another name for this machine (DNS rebinding) would make foreign pages look local.
    let host = text(header::HOST).unwrap_or_default();
    let hosts = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{}", state.port));
    if !hosts.iter().any(|known| known == host) {
        return Err(StudioError::forbidden("wrong_host", format!("'{host}' is not the address of this studio")));
    }
    if let Some(origin) = text(header::ORIGIN).filter(|origin| *origin != format!("http://{host}")) {
        return Err(StudioError::forbidden("wrong_origin", format!("requests from '{origin}' are refused")));
    }
    let sent = cookie(headers, &state.cookie()).or_else(|| text(header::AUTHORIZATION)?.strip_prefix("Bearer "));
    if sent.is_some_and(|sent| same(sent.as_bytes(), state.token.as_bytes())) {
        return Ok(Admission::Known);
    }
    if is_page(request) && token_of(request).is_some_and(|sent| same(sent.as_bytes(), state.token.as_bytes())) {
        return Ok(Admission::WithToken);
    }
    let message = "open the address that `ermine studio` prints: it contains the token";
    Err(StudioError::new(StatusCode::UNAUTHORIZED, "unauthorized", message))
}

fn token_of(request: &Request) -> Option<&str> {
    request.uri().query()?.split('&').find_map(|part| part.strip_prefix("token="))
}

fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(';'))
        .find_map(|pair| pair.trim().split_once('=').filter(|(n, _)| *n == name).map(|(_, v)| v))
}

/// The token becomes a cookie and leaves the address, so that it is in no history and no screenshot.
fn enter(state: &StudioState, request: &Request) -> Response {
    let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Lax", state.cookie(), state.token);
    let path = match request.uri().path() {
        "/" => "/data",
        path => path,
    };
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    if let (Ok(cookie), Ok(path)) = (HeaderValue::from_str(&cookie), HeaderValue::from_str(path)) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
        response.headers_mut().insert(header::LOCATION, path);
    }
    response
}

/// Compares in a time that doesn't depend on where the texts differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}
