//! Serves Ermine's models over HTTP.
//!
//! | file | what it holds |
//! |---|---|
//! | [`config`] | settings: address, limits, token, TLS, log |
//! | `server` | routes, and what happens around every request |
//! | `connections`, `stream` | connections, up to a limit; TLS; clients that are slow |
//! | `repository`, `model` | models from files, read again when a file changes; a model prepared for requests |
//! | `models_api`, `v1`, `v2` | the protocols: `/models`, KServe's `/v1`, the Open Inference Protocol `/v2` |
//! | `rows`, `json_rows`, `tables` | rows of requests, read from JSON, CSV and Arrow; tensors are in `v2` |
//! | `options`, `predict`, `answer` | the options of a request; where it is predicted; the answer as JSON or CSV |
//! | `queue` | workers, bounded queues, requests that are predicted together |
//! | `body`, `spool` | bodies within limits; long output |
//! | `error` | errors with a status, a type and the place of the fault |
//! | `metrics`, `log`, `openapi` | Prometheus, log lines, the description of the API and a page to try it |
//!
//! There is no learning and no prediction logic here: rows become a table or a slice of numbers, and the core does the rest.
//!
//! ```no_run
//! use ermine_server::{Config, Server};
//!
//! let config = Config { models: vec!["income.ermine".into()], ..Config::default() };
//! let server = Server::bind(config)?;
//! println!("listening on {}", server.address());
//! server.run(std::future::pending())?;
//! # Ok::<(), ermine::Error>(())
//! ```

mod answer;
mod body;
pub mod config;
mod connections;
mod error;
mod json_rows;
mod log;
mod metrics;
mod model;
mod models_api;
mod openapi;
mod options;
mod predict;
mod queue;
mod repository;
mod rows;
mod server;
mod spool;
mod state;
mod stream;
mod tables;
mod v1;
mod v2;

pub use config::{Config, Limits, LogLevel, TlsFiles};
pub use openapi::openapi_json;
pub use server::{Server, Stopper};

/// What the tests and the fuzz targets reach into.
#[doc(hidden)]
pub mod testing {
    pub use crate::error::ErrorBody;
    pub use crate::models_api::{ModelDetails, ModelList, PredictResponse};
    pub use crate::server::{Application, application};
    pub use crate::v1::V1Response;
    pub use crate::v2::InferResponse;
}
