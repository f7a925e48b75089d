//! What all requests share.

use crate::config::Config;
use crate::log::EventLog;
use crate::metrics::Metrics;
use crate::queue::Workers;
use crate::repository::Repository;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// What all requests share.
pub struct ServerState {
    /// The settings.
    pub config: Config,
    /// The models.
    pub repository: Repository,
    /// The counters.
    pub metrics: Arc<Metrics>,
    /// Workers for long requests.
    pub workers: Arc<Workers>,
    /// The log.
    pub log: EventLog,
    /// Requests in progress.
    pub in_flight: AtomicUsize,
    /// Whether the server is about to stop.
    pub is_stopping: AtomicBool,
}
