//! How a server runs: where it listens, what it allows, what it logs.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// The settings of a server.
#[derive(Debug, Clone)]
pub struct Config {
    /// Model files, and directories of models.
    pub models: Vec<PathBuf>,
    /// Where to listen.
    pub address: SocketAddr,
    /// Bearer token that requests must carry; none for no authentication. Health endpoints are always open.
    pub token: Option<String>,
    /// Certificate chain and private key, both PEM; none for plain HTTP.
    pub tls: Option<TlsFiles>,
    /// Origins that browsers may call from (`*` for any); empty for no cross-origin requests.
    pub cors_origins: Vec<String>,
    /// Limits of requests and of the work in progress.
    pub limits: Limits,
    /// How often model files are checked for changes; none for never.
    pub reload_interval: Option<Duration>,
    /// What is logged.
    pub log: LogLevel,
    /// Whether small requests to models other than trees are predicted together.
    pub batching: bool,
    /// Number of threads that serve connections; none for one for each core.
    pub threads: Option<usize>,
}

/// The files of a TLS identity.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The certificate and its chain.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// What a request may take, and how much is done at a time.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Largest body in bytes that is read as a whole (JSON, tensors, Arrow).
    pub max_body: usize,
    /// Largest body in bytes that is streamed (CSV).
    pub max_stream: u64,
    /// Most rows of a request.
    pub max_rows: usize,
    /// Most rows of a request for contributions (SHAP values), which cost far more than predictions.
    pub max_explained_rows: usize,
    /// Most requests in progress; further ones get 503.
    pub max_in_flight: usize,
    /// Most jobs that wait for a worker; further ones get 503.
    pub max_queue: usize,
    /// Most open connections; further ones wait to be accepted.
    pub max_connections: usize,
    /// Time in which the head of a request must have arrived; also how long an idle connection is kept.
    pub header_timeout: Duration,
    /// Time in which a request must have arrived and be answered; of a stream, the longest pause.
    pub request_timeout: Duration,
    /// Time for requests in progress after a signal to stop.
    pub shutdown_timeout: Duration,
}

/// What is logged, as a line of JSON each, on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// Start, stop, reloads, and requests that failed through the fault of the server.
    Events,
    /// All requests as well.
    Requests,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            models: Vec::new(),
            address: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080),
            token: None,
            tls: None,
            cors_origins: Vec::new(),
            limits: Limits::default(),
            reload_interval: Some(Duration::from_secs(1)),
            log: LogLevel::Events,
            batching: true,
            threads: None,
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            max_body: 64 << 20,
            max_stream: 4 << 30,
            max_rows: 10_000_000,
            max_explained_rows: 10_000,
            max_in_flight: 1024,
            max_queue: 256,
            max_connections: 4096,
            header_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(60),
            shutdown_timeout: Duration::from_secs(30),
        }
    }
}
