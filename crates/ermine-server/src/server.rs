//! Routes, and what happens around every request: limits, authentication, request ids, counters, log.

use crate::config::{Config, LogLevel};
use crate::connections::{serve, tls_acceptor};
use crate::error::{ApiError, ErrorKind};
use crate::log::EventLog;
use crate::metrics::Metrics;
use crate::queue::{Workers, internal};
use crate::repository::Repository;
use crate::state::ServerState;
use crate::tables::WARNINGS;
use crate::v2::JSON_LENGTH;
use crate::{models_api, openapi, v1, v2};
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, Method, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use ermine_core::error::{Error, Result};
use serde_json::json;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{AllowOrigin, Any, CorsLayer};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The same for all servers, whatever models they have: these need no token.
const OPEN_PATHS: [&str; 2] = ["/", "/openapi.json"];

/// The routes and what they share, without a network.
#[derive(Clone)]
pub struct Application {
    router: Router,
    state: Arc<ServerState>,
    ids: Arc<RequestIds>,
}

/// Makes request ids: the time of the start, and a number.
struct RequestIds {
    start: u64,
    next: AtomicU64,
}

impl RequestIds {
    fn next(&self) -> HeaderValue {
        let id = format!("{:x}-{:x}", self.start, self.next.fetch_add(1, Ordering::Relaxed));
        HeaderValue::from_str(&id).unwrap_or(HeaderValue::from_static("-"))
    }
}

/// Reads the models and sets up the routes.
pub fn application(config: Config) -> Result<Application> {
    let metrics = Arc::new(Metrics::default());
    let log = EventLog::new(config.log);
    let repository = Repository::open(config.models.clone(), metrics.clone(), log)?;
    let n_workers = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = Workers::new(n_workers, config.limits.max_queue, config.limits.request_timeout, metrics.clone());
    let state = Arc::new(ServerState {
        repository,
        metrics,
        workers: Arc::new(workers),
        log,
        in_flight: AtomicUsize::new(0),
        is_stopping: AtomicBool::new(false),
        config,
    });
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let ids = RequestIds { start: now.as_micros() as u64, next: AtomicU64::new(0) };
    Ok(Application { router: router(&state)?, state, ids: Arc::new(ids) })
}

fn router(state: &Arc<ServerState>) -> Result<Router> {
    let routes = Router::new()
        .route("/", get(openapi::page))
        .route("/openapi.json", get(openapi::document))
        .route("/metrics", get(metrics))
        .route("/models", get(models_api::list_models))
        .route("/models/{name}", get(models_api::show_model))
        .route("/models/{name}/predict", post(models_api::predict))
        .route("/v1/models", get(v1::list))
        .route("/v1/models/{name}", get(v1::status).post(v1::call))
        .route("/v2", get(v2::server))
        .route("/v2/", get(v2::server))
        .route("/v2/health/live", get(v2::live))
        .route("/v2/health/ready", get(v2::ready))
        .route("/v2/repository/index", post(v2::index))
        .route("/v2/models/{name}", get(v2::show))
        .route("/v2/models/{name}/ready", get(v2::model_ready))
        .route("/v2/models/{name}/infer", post(v2::infer))
        .route("/v2/models/{name}/versions/{version}", get(v2::show_version))
        .route("/v2/models/{name}/versions/{version}/ready", get(v2::version_ready))
        .route("/v2/models/{name}/versions/{version}/infer", post(v2::infer_version))
        .fallback(unknown_path)
        .method_not_allowed_fallback(wrong_method)
        .with_state(state.clone())
        .layer(CatchPanicLayer::custom(|_| internal().response()));
    Ok(match cors(&state.config.cors_origins)? {
        Some(cors) => routes.layer(cors),
        None => routes,
    })
}

fn cors(origins: &[String]) -> Result<Option<CorsLayer>> {
    if origins.is_empty() {
        return Ok(None);
    }
    // A list, since `*` does not include the token.
    let sent = [
        header::AUTHORIZATION,
        header::CONTENT_TYPE,
        header::CONTENT_ENCODING,
        header::ACCEPT,
        REQUEST_ID,
        JSON_LENGTH,
    ];
    let layer = CorsLayer::new().allow_methods([Method::GET, Method::POST]).allow_headers(sent).expose_headers([
        REQUEST_ID,
        JSON_LENGTH,
        WARNINGS,
        header::RETRY_AFTER,
    ]);
    if origins.iter().any(|origin| origin == "*") {
        return Ok(Some(layer.allow_origin(Any)));
    }
    let values = origins.iter().map(|origin| {
        HeaderValue::from_str(origin)
            .map_err(|_| Error::data(format!("'{origin}' is no origin such as https://example.org")))
    });
    Ok(Some(layer.allow_origin(AllowOrigin::list(values.collect::<Result<Vec<_>>>()?))))
}

async fn metrics(State(state): State<Arc<ServerState>>) -> Response {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], state.metrics.text()).into_response()
}

async fn unknown_path(request: Request<Body>) -> ApiError {
    let path: String = request.uri().path().chars().take(200).collect();
    ApiError::not_found(
        "unknown_path",
        format!("there is nothing at {path}: predictions are at /models/NAME/predict, /openapi.json lists all paths"),
    )
}

async fn wrong_method(request: Request<Body>) -> ApiError {
    let (method, path) = (request.method(), request.uri().path());
    let message = format!("{method} is not allowed at {path}: predictions are requested with POST, all else with GET");
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message)
}

/// The response, with a body of our own where the routes refused the request with a plain text: a name in the path that is not valid UTF-8, say.
async fn with_error_body(response: Response) -> Response {
    const MOST: usize = 1 << 10;
    let status = response.status();
    if !status.is_client_error() || response.extensions().get::<ErrorKind>().is_some() {
        return response;
    }
    let text = axum::body::to_bytes(response.into_body(), MOST).await.unwrap_or_default();
    ApiError::new(status, "invalid_request", String::from_utf8_lossy(&text)).response()
}

/// A request in progress; it no longer is when this is dropped.
struct InFlight<'a>(&'a ServerState);

impl<'a> InFlight<'a> {
    fn enter(state: &'a ServerState) -> (InFlight<'a>, usize) {
        let before = state.in_flight.fetch_add(1, Ordering::Relaxed);
        state.metrics.in_flight.inc();
        (InFlight(state), before)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
        self.0.metrics.in_flight.dec();
    }
}

impl Application {
    /// What all requests share.
    pub(crate) fn state(&self) -> &ServerState {
        &self.state
    }

    /// Answers a request.
    pub async fn handle(&self, request: Request<Body>) -> Response {
        let start = Instant::now();
        let state = &*self.state;
        let (in_flight, before) = InFlight::enter(state);
        let id = match request.headers().get(REQUEST_ID) {
            Some(id) if id.len() <= 128 => id.clone(),
            _ => self.ids.next(),
        };
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let response = match self.admit(&request, before) {
            Ok(()) => match self.router.clone().oneshot(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            },
            Err(error) => error.response(),
        };
        let mut response = with_error_body(response).await;
        drop(in_flight);
        let status = response.status().as_u16();
        let kind = response.extensions_mut().remove::<ErrorKind>().map(|kind| kind.0);
        state.metrics.responded(status, kind.as_deref());
        let level = if status == 500 { LogLevel::Events } else { LogLevel::Requests };
        if state.log.has(level) {
            let milliseconds = start.elapsed().as_secs_f64() * 1e3;
            let id = id.to_str().unwrap_or("-");
            let fields = json!({ "request_id": id, "method": method.as_str(), "path": uri.path(), "status": status, "milliseconds": milliseconds, "error": kind });
            state.log.write(level, "request", fields);
        }
        response.headers_mut().insert(REQUEST_ID, id);
        response
    }

    /// Refuses requests without the token, and those that are too many. Health checks always pass.
    fn admit(&self, request: &Request<Body>, in_flight: usize) -> Result<(), ApiError> {
        let path = request.uri().path();
        if path.starts_with("/v2/health/") {
            return Ok(());
        }
        let config = &self.state.config;
        // Browsers request permission, and the page with the field for the token, without the token.
        let is_preflight = request.method() == Method::OPTIONS && !config.cors_origins.is_empty();
        let is_open = is_preflight || OPEN_PATHS.contains(&path);
        if let Some(token) = config.token.as_deref().filter(|_| !is_open) {
            let sent = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
            let sent = sent.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or("");
            if !same(token.as_bytes(), sent.trim().as_bytes()) {
                let message = "expected the header `Authorization: Bearer TOKEN` with the token of this server";
                return Err(ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", message));
            }
        }
        if in_flight >= config.limits.max_in_flight {
            return Err(ApiError::overloaded(format!("{in_flight} requests are in progress; try again later")));
        }
        Ok(())
    }

    /// Checks all model files, and reads those that changed.
    pub fn refresh(&self) {
        self.state.repository.refresh();
    }
}

/// Compares in a time that doesn't depend on where the texts differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

/// A server that listens.
pub struct Server {
    application: Application,
    runtime: Runtime,
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
    stopper: Stopper,
}

/// Stops a server from another thread.
#[derive(Clone, Default)]
pub struct Stopper(Arc<Notify>);

impl Stopper {
    /// Lets requests in progress finish, then ends the server.
    pub fn stop(&self) {
        self.0.notify_one();
    }
}

impl Server {
    /// Reads the models and listens; requests are answered once [`run`](Self::run) is called.
    pub fn bind(config: Config) -> Result<Server> {
        let tls = config.tls.as_ref().map(tls_acceptor).transpose()?;
        let address = config.address;
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.enable_all();
        if let Some(threads) = config.threads {
            builder.worker_threads(threads);
        }
        let failed = |e: std::io::Error| Error::data(format!("cannot listen on {address}: {e}"));
        let runtime = builder.build().map_err(failed)?;
        let listener = runtime.block_on(TcpListener::bind(address)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let application = application(config)?;
        Ok(Server { application, runtime, listener, address, tls, stopper: Stopper::default() })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether it has a model. A directory without one may get some later.
    pub fn has_models(&self) -> bool {
        self.application.state.repository.is_ready()
    }

    /// A handle that stops it.
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Answers requests until `stop` is ready; then requests in progress are finished.
    pub fn run(self, stop: impl Future<Output = ()> + Send + 'static) -> Result<()> {
        let Server { application, runtime, listener, address, tls, stopper } = self;
        let state = application.state.clone();
        let scheme = if tls.is_some() { "https" } else { "http" };
        let models: Vec<String> = state.repository.all().iter().map(|model| model.name.clone()).collect();
        let fields = json!({ "address": format!("{scheme}://{address}"), "models": models });
        state.log.write(LogLevel::Events, "listening", fields);
        runtime.block_on(async {
            let reloads = tokio::spawn(reload(application.clone(), state.config.reload_interval));
            let stop = async {
                tokio::select! { () = stop => {}, () = stopper.0.notified() => {} }
            };
            serve(&application, listener, tls, stop).await;
            reloads.abort();
        });
        // Jobs whose clients are gone are not waited for.
        runtime.shutdown_timeout(Duration::from_millis(500));
        state.log.write(LogLevel::Events, "stopped", json!({}));
        Ok(())
    }
}

/// Looks for changed model files again and again.
async fn reload(application: Application, interval: Option<Duration>) {
    let Some(interval) = interval else { return };
    loop {
        tokio::time::sleep(interval).await;
        let application = application.clone();
        // A panic while a file is read ends this try, not the next.
        let _ = tokio::task::spawn_blocking(move || application.refresh()).await;
    }
}
