//! `ermine serve`: answers prediction requests over HTTP.

use crate::failure::Failure;
use crate::interrupt;
use crate::terminal::{bold, print};
use ermine_core::memory;
use ermine_server::{Config, Limits, LogLevel, Server, TlsFiles};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  ermine serve income.ermine
  ermine serve models/ --host 0.0.0.0 --port 8080 --token-file token.txt
  curl localhost:8080/models/income/predict -d '{\"rows\": [{\"age\": 39}]}'

A directory holds NAME.ermine, or NAME/VERSION.ermine for several versions; the highest answers requests that name none. Files that are replaced are read
again. Protocols: /models (JSON, CSV, Arrow), /v2 (Open Inference Protocol: KServe, Triton, MLServer), /v1 (KServe). Metrics: /metrics. A page to try requests: /
SIGTERM and Ctrl-C let requests in progress finish; a second signal ends the program.";

/// Serve models over HTTP
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Model files, and directories of models
    #[arg(required = true, value_name = "MODEL")]
    models: Vec<PathBuf>,
    /// Address to listen on; 0.0.0.0 for all
    #[arg(long, default_value = "localhost", value_parser = host)]
    host: IpAddr,
    /// Port to listen on; 0 for any
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// File with the bearer token that requests must carry [env: ERMINE_TOKEN holds the token itself]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// TLS certificate chain, PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// TLS private key, PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Origin that browsers may call from, or *; may be repeated [default: none]
    #[arg(long, value_name = "ORIGIN")]
    cors: Vec<String>,
    /// Largest JSON, tensor or Arrow body
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = size)]
    max_body: u64,
    /// Most rows of a request
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_rows)]
    max_rows: usize,
    /// Most requests in progress; further ones get status 503
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_in_flight)]
    max_in_flight: usize,
    /// Most requests that wait for a worker; further ones get status 503
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_queue)]
    max_queue: usize,
    /// Seconds in which a request must have arrived and be answered
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
    /// Seconds between looks at the model files; 0 for never
    #[arg(long, value_name = "SECONDS", default_value_t = 1)]
    reload: u64,
    /// Predict each request alone, also for models other than trees
    #[arg(long)]
    no_batching: bool,
    /// What to log on standard error, as JSON
    #[arg(long, value_enum, default_value_t = LogChoice::Events)]
    log: LogChoice,
    /// Number of threads that serve connections [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum LogChoice {
    /// Nothing
    Off,
    /// Start, stop, reloads, faults of the server
    Events,
    /// All requests as well
    Requests,
}

fn host(text: &str) -> Result<IpAddr, String> {
    match text {
        "localhost" => Ok(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        _ => text.parse().map_err(|_| "expected an IP address such as 127.0.0.1 or 0.0.0.0".to_string()),
    }
}

fn size(text: &str) -> Result<u64, String> {
    memory::parse(text).ok_or_else(|| format!("expected {}", memory::EXPECTED))
}

/// Serves until a signal comes.
pub fn run(args: &Args) -> Result<(), Failure> {
    let server = Server::bind(config(args)?).map_err(Failure::work)?;
    let scheme = if args.tls_cert.is_some() { "https" } else { "http" };
    // Standard error is the log. Who reads the address may close standard output afterwards, or before.
    let _ = print(&format!("serving on {}\n", bold(&format!("{scheme}://{}", server.address()))));
    if !server.has_models() {
        let _ = print("no model is there yet: NAME.ermine in the directory will be served as NAME\n");
    }
    let stopper = server.stopper();
    // The first signal lets requests finish; the next one ends the program.
    std::thread::spawn(move || {
        while !interrupt::stopped() {
            std::thread::sleep(Duration::from_millis(20));
        }
        interrupt::acknowledge();
        stopper.stop();
    });
    server.run(std::future::pending()).map_err(Failure::work)
}

fn config(args: &Args) -> Result<Config, Failure> {
    let timeout = Duration::from_secs(args.timeout);
    let limits = Limits {
        max_body: usize::try_from(args.max_body).unwrap_or(usize::MAX),
        max_rows: args.max_rows,
        max_in_flight: args.max_in_flight,
        max_queue: args.max_queue,
        request_timeout: timeout,
        header_timeout: timeout,
        ..Limits::default()
    };
    let tls = args.tls_cert.clone().zip(args.tls_key.clone());
    Ok(Config {
        models: args.models.clone(),
        address: SocketAddr::new(args.host, args.port),
        token: token(args)?,
        tls: tls.map(|(certificate, key)| TlsFiles { certificate, key }),
        cors_origins: args.cors.clone(),
        limits,
        reload_interval: (args.reload > 0).then(|| Duration::from_secs(args.reload)),
        log: match args.log {
            LogChoice::Off => LogLevel::Off,
            LogChoice::Events => LogLevel::Events,
            LogChoice::Requests => LogLevel::Requests,
        },
        batching: !args.no_batching,
        threads: args.threads.map(usize::from),
    })
}

/// The token is never an argument, which other users of the machine could read.
fn token(args: &Args) -> Result<Option<String>, Failure> {
    let token = match &args.token_file {
        Some(path) => {
            let text = std::fs::read_to_string(path);
            Some(text.map_err(|e| Failure::Work(format!("{}: {e}", path.display())))?)
        }
        None => std::env::var("ERMINE_TOKEN").ok(),
    };
    match token.map(|token| token.trim().to_string()) {
        Some(token) if token.is_empty() => Err(Failure::Usage("the bearer token is empty".into())),
        token => Ok(token),
    }
}
