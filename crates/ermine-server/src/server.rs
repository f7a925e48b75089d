//! Connections, routes, and what happens around every request: limits, authentication, request ids, counters, log.

use crate::config::{Config, LogLevel, TlsFiles};
use crate::error::{ApiError, ErrorKind};
use crate::log::EventLog;
use crate::metrics::Metrics;
use crate::queue::{Workers, internal};
use crate::repository::Repository;
use crate::state::ServerState;
use crate::{models_api, openapi, v1, v2};
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, Method, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use ermine_core::error::{Error, Result};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::json;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{AllowOrigin, Any, CorsLayer};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

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
    let layer = CorsLayer::new().allow_methods([Method::GET, Method::POST]).allow_headers(Any);
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
    ApiError::not_found("unknown_path", format!("there is nothing at {path}; see /openapi.json for what there is"))
}

async fn wrong_method(request: Request<Body>) -> ApiError {
    let message = format!("{} is not allowed at {}", request.method(), request.uri().path());
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message)
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
    /// Answers a request.
    pub async fn handle(&self, request: Request<Body>) -> Response {
        let start = Instant::now();
        let state = &*self.state;
        let (in_flight, before) = InFlight::enter(state);
        let id = match request.headers().get(REQUEST_ID) {
            Some(id) if id.len() <= 128 => id.clone(),
            _ => self.ids.next(),
        };
        let logged = state.log.has(LogLevel::Requests);
        let line = logged.then(|| (request.method().to_string(), request.uri().path().to_string()));
        let mut response = match self.admit(&request, before) {
            Ok(()) => match self.router.clone().oneshot(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            },
            Err(error) => error.response(),
        };
        drop(in_flight);
        let status = response.status().as_u16();
        let kind = response.extensions_mut().remove::<ErrorKind>().map(|kind| kind.0);
        state.metrics.responded(status, kind.as_deref());
        let level = if status == 500 { LogLevel::Events } else { LogLevel::Requests };
        if state.log.has(level) && (logged || status == 500) {
            let (method, path) = line.unwrap_or_default();
            let milliseconds = start.elapsed().as_secs_f64() * 1e3;
            let id = id.to_str().unwrap_or("-");
            let fields = json!({ "request_id": id, "method": method, "path": path, "status": status, "milliseconds": milliseconds, "error": kind });
            state.log.write(level, "request", fields);
        }
        response.headers_mut().insert(REQUEST_ID, id);
        response
    }

    /// Refuses requests without the token, and those that are too many. Health checks always pass.
    fn admit(&self, request: &Request<Body>, in_flight: usize) -> Result<(), ApiError> {
        let is_health = request.uri().path().starts_with("/v2/health/");
        if is_health {
            return Ok(());
        }
        let config = &self.state.config;
        // Browsers request permission without the token.
        let is_preflight = request.method() == Method::OPTIONS && !config.cors_origins.is_empty();
        if let Some(token) = config.token.as_deref().filter(|_| !is_preflight) {
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

async fn serve(
    application: &Application,
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    stop: impl Future<Output = ()>,
) {
    let limits = &application.state.config.limits;
    let places = Arc::new(Semaphore::new(limits.max_connections));
    let connections = GracefulShutdown::new();
    tokio::pin!(stop);
    loop {
        let accepted = async {
            // A connection waits to be accepted until there is a place for it.
            let place = places.clone().acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            accepted = accepted => accepted,
            () = &mut stop => break,
        };
        let (Ok(place), Ok((stream, _))) = (place, accepted) else {
            // Too many open files, say: give others time to close.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        // Answers are written as a whole; waiting for more to send would only delay them.
        let _ = stream.set_nodelay(true);
        let (application, watcher) = (application.clone(), connections.watcher());
        match tls.clone() {
            None => drop(tokio::spawn(connection(application, stream, watcher, place))),
            Some(tls) => drop(tokio::spawn(async move {
                let timeout = application.state.config.limits.header_timeout;
                if let Ok(Ok(stream)) = tokio::time::timeout(timeout, tls.accept(stream)).await {
                    connection(application, stream, watcher, place).await;
                }
            })),
        }
    }
    drop(listener);
    application.state.is_stopping.store(true, Ordering::Relaxed);
    let timeout = application.state.config.limits.shutdown_timeout;
    application.state.log.write(LogLevel::Events, "stopping", json!({ "connections": connections.count() }));
    let _ = tokio::time::timeout(timeout, connections.shutdown()).await;
}

async fn connection<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    application: Application,
    stream: S,
    watcher: hyper_util::server::graceful::Watcher,
    place: OwnedSemaphorePermit,
) {
    let timeout = application.state.config.limits.header_timeout;
    let service = service_fn(move |request: Request<Incoming>| {
        let application = application.clone();
        async move { Ok::<_, std::convert::Infallible>(application.handle(request.map(Body::new)).await) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(timeout).pipeline_flush(true);
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    // A connection that breaks is the client's matter.
    let _ = watcher.watch(connection).await;
    drop(place);
}

fn tls_acceptor(files: &TlsFiles) -> Result<TlsAcceptor> {
    let wrong = |path: &std::path::Path, e: String| Error::data(format!("{}: {e}", path.display()));
    let certificates = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(|certificates| certificates.collect::<std::result::Result<Vec<_>, _>>())
        .map_err(|e| wrong(&files.certificate, format!("not readable as PEM certificates: {e}")))?;
    let key = PrivateKeyDer::from_pem_file(&files.key)
        .map_err(|e| wrong(&files.key, format!("not readable as a PEM private key: {e}")))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(certificates, key))
        .map_err(|e| wrong(&files.certificate, e.to_string()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
