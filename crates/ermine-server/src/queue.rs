//! Work that takes long enough to be done beside the threads that serve connections: bounded in how much runs and how much waits.
//!
//! Small requests to models that aren't trees are predicted together ([`RequestBatch`]): what arrives while a batch is predicted is the next batch, so nothing ever waits for a batch to fill up.

use crate::error::ApiError;
use crate::metrics::Metrics;
use crate::model::ServedModel;
use axum::http::StatusCode;
use ermine_core::model::Prediction;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot};

/// Most rows that are predicted together.
const BATCH_ROWS: usize = 1024;

/// Runs jobs, as many at a time as there are cores.
pub struct Workers {
    permits: Arc<Semaphore>,
    waiting: AtomicUsize,
    max_waiting: usize,
    timeout: Duration,
    metrics: Arc<Metrics>,
}

/// A job that waits; it no longer does when this is dropped.
struct Waiting<'a>(&'a Workers);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
        self.0.metrics.queue.dec();
    }
}

impl Workers {
    /// So many workers, with so many jobs waiting for them, each for at most this long.
    pub fn new(n_workers: usize, max_waiting: usize, timeout: Duration, metrics: Arc<Metrics>) -> Workers {
        let permits = Arc::new(Semaphore::new(n_workers));
        Workers { permits, waiting: AtomicUsize::new(0), max_waiting, timeout, metrics }
    }

    /// Runs a job, or refuses it if too many wait.
    pub async fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Result<T, ApiError> {
        let permit = match self.permits.clone().try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => {
                let ahead = self.waiting.fetch_add(1, Ordering::Relaxed);
                self.metrics.queue.inc();
                let waiting = Waiting(self);
                if ahead >= self.max_waiting {
                    return Err(ApiError::overloaded(format!("{ahead} requests wait already; try again later")));
                }
                let permit = tokio::time::timeout(self.timeout, self.permits.clone().acquire_owned()).await;
                drop(waiting);
                let late = || ApiError::overloaded("the request waited too long for a worker; try again later");
                permit.map_err(|_| late())?.map_err(|_| late())?
            }
        };
        // The permit goes with the job: it runs to its end, even if nobody waits for it any more.
        let job = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            job()
        });
        match tokio::time::timeout(self.timeout, job).await {
            Ok(done) => done.map_err(|_| internal()),
            Err(_) => Err(ApiError::overloaded("the request took too long; send fewer rows")),
        }
    }
}

/// An error that is not the client's fault.
pub fn internal() -> ApiError {
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the request failed through a fault of the server")
}

/// Requests to one model that are predicted together.
#[derive(Default)]
pub struct RequestBatch {
    state: Mutex<BatchState>,
}

#[derive(Default)]
struct BatchState {
    jobs: Vec<BatchJob>,
    is_running: bool,
}

struct BatchJob {
    values: Vec<f64>,
    n_rows: usize,
    done: oneshot::Sender<Result<Prediction, ApiError>>,
}

impl RequestBatch {
    fn lock(&self) -> std::sync::MutexGuard<'_, BatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next jobs; none ends the run.
    fn take(&self) -> Vec<BatchJob> {
        let mut state = self.lock();
        let mut n_rows = 0;
        let fits = |job: &BatchJob| {
            n_rows += job.n_rows;
            n_rows <= BATCH_ROWS
        };
        let n = state.jobs.iter().map(fits).take_while(|fits| *fits).count().max(1).min(state.jobs.len());
        state.is_running = n > 0;
        state.jobs.drain(..n).collect()
    }
}

/// Ends a run that did not come to its end: what waits is refused, and the next request starts a new run.
struct UnfinishedBatch<'a>(&'a RequestBatch);

impl Drop for UnfinishedBatch<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        if state.is_running {
            state.is_running = false;
            state.jobs.clear();
        }
    }
}

/// Predicts a few rows together with those of other requests.
pub async fn predict_together(
    workers: &Arc<Workers>,
    model: &Arc<ServedModel>,
    values: Vec<f64>,
    n_rows: usize,
) -> Result<Prediction, ApiError> {
    let (done, answer) = oneshot::channel();
    let is_first = {
        let mut state = model.batch.lock();
        if state.jobs.len() >= workers.max_waiting {
            let n = state.jobs.len();
            return Err(ApiError::overloaded(format!("{n} requests wait for model '{}'; try again later", model.name)));
        }
        state.jobs.push(BatchJob { values, n_rows, done });
        !std::mem::replace(&mut state.is_running, true)
    };
    if is_first {
        let (model, workers) = (model.clone(), workers.clone());
        tokio::spawn(async move {
            let running = model.clone();
            if workers.run(move || run_batches(&running)).await.is_err() {
                drop(UnfinishedBatch(&model.batch));
            }
        });
    }
    answer.await.unwrap_or_else(|_| Err(ApiError::overloaded("too many requests wait for a worker; try again later")))
}

fn run_batches(model: &ServedModel) {
    let run = UnfinishedBatch(&model.batch);
    loop {
        let jobs = run.0.take();
        if jobs.is_empty() {
            return;
        }
        let values: Vec<f64> = jobs.iter().flat_map(|job| &job.values).copied().collect();
        let n_rows = jobs.iter().map(|job| job.n_rows).sum();
        let whole = predict(model, &values, n_rows);
        let mut from = 0;
        for job in jobs {
            let part = match &whole {
                Ok(whole) => {
                    let width = whole.width();
                    let part = whole.values()[from * width..(from + job.n_rows) * width].to_vec();
                    Ok(Prediction::new(whole.output(), part, model.schema()))
                }
                // One of the requests is at fault; each gets its own answer.
                Err(_) => predict(model, &job.values, job.n_rows),
            };
            from += job.n_rows;
            // The client may have disconnected.
            let _ = job.done.send(part);
        }
    }
}

fn predict(model: &ServedModel, values: &[f64], n_rows: usize) -> Result<Prediction, ApiError> {
    match &model.predictor {
        Some(predictor) if n_rows == 1 => Ok(predictor.predict_rows(values)?),
        _ => Ok(model.model.predict(&model.table(values, n_rows, &[])?)?),
    }
}
