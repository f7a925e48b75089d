//! Work that takes long enough to be done beside the threads that serve connections: bounded in how much runs and how much waits.
//!
//! Small requests to models that aren't trees are predicted together ([`RequestBatch`]): what arrives while a batch is predicted is the next batch, so nothing ever waits for a batch to fill up.

use crate::error::ApiError;
use crate::metrics::Metrics;
use crate::model::ServedModel;
use axum::http::StatusCode;
use ermine_core::model::Prediction;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, oneshot};

/// Most rows that are predicted together.
const BATCH_ROWS: usize = 1024;
/// A worker that has predicted batches of one model for so long lets others have their turn.
const TURN: Duration = Duration::from_millis(10);

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
    /// Whether a task takes care of the jobs.
    is_running: bool,
}

struct BatchJob {
    values: Vec<f64>,
    n_rows: usize,
    done: oneshot::Sender<Result<Prediction, ApiError>>,
}

impl RequestBatch {
    fn lock(&self) -> MutexGuard<'_, BatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a job, unless too many wait. Returns whether nobody takes care of the jobs yet.
    fn add(&self, job: BatchJob, max_waiting: usize) -> Result<bool, ApiError> {
        let mut state = self.lock();
        let n = state.jobs.len();
        if state.is_running && n >= max_waiting {
            return Err(ApiError::overloaded(format!("{n} requests wait for this model; try again later")));
        }
        state.jobs.push(job);
        Ok(!std::mem::replace(&mut state.is_running, true))
    }

    /// The next jobs: as many as are predicted at a time.
    fn take(&self) -> Vec<BatchJob> {
        let mut state = self.lock();
        let mut n_rows = 0;
        let fits = |job: &BatchJob| {
            n_rows += job.n_rows;
            n_rows <= BATCH_ROWS
        };
        let n = state.jobs.iter().map(fits).take_while(|fits| *fits).count().max(1).min(state.jobs.len());
        state.jobs.drain(..n).collect()
    }

    /// Whether no jobs are left. If so, the next one that is added needs somebody to take care of it.
    fn is_done(&self) -> bool {
        let mut state = self.lock();
        state.is_running = !state.jobs.is_empty();
        !state.is_running
    }

    /// Answers all jobs that wait with an error.
    fn refuse(&self, error: &ApiError) {
        let mut state = self.lock();
        state.is_running = false;
        for job in state.jobs.drain(..) {
            let _ = job.done.send(Err(error.clone()));
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
    if model.batch.add(BatchJob { values, n_rows, done }, workers.max_waiting)? {
        tokio::spawn(run_batches(workers.clone(), model.clone()));
    }
    match tokio::time::timeout(workers.timeout, answer).await {
        Ok(answer) => answer.unwrap_or_else(|_| Err(internal())),
        Err(_) => Err(ApiError::overloaded("the request waited too long; try again later")),
    }
}

/// Takes care of the jobs of a model until none are left. A worker does so for a moment only, then others have their turn.
async fn run_batches(workers: Arc<Workers>, model: Arc<ServedModel>) {
    loop {
        let batch_model = model.clone();
        let turn = workers.run(move || {
            let start = Instant::now();
            while start.elapsed() < TURN {
                let jobs = batch_model.batch.take();
                if jobs.is_empty() {
                    break;
                }
                predict_batch(&batch_model, jobs);
            }
        });
        match turn.await {
            Ok(()) if model.batch.is_done() => return,
            Ok(()) => {}
            Err(error) => return model.batch.refuse(&error),
        }
    }
}

fn predict_batch(model: &ServedModel, jobs: Vec<BatchJob>) {
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

fn predict(model: &ServedModel, values: &[f64], n_rows: usize) -> Result<Prediction, ApiError> {
    match &model.predictor {
        Some(predictor) if n_rows == 1 => Ok(predictor.predict_rows(values)?),
        _ => Ok(model.model.predict(&model.table(values, n_rows, &[])?)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
    }

    fn new_workers(max_waiting: usize, timeout: Duration) -> Arc<Workers> {
        Arc::new(Workers::new(1, max_waiting, timeout, Arc::new(Metrics::default())))
    }

    const LONG: Duration = Duration::from_secs(600);

    /// Occupies the only worker until the sender is used or dropped.
    fn occupy(runtime: &tokio::runtime::Runtime, workers: &Arc<Workers>) -> mpsc::Sender<()> {
        let (release, held) = mpsc::channel::<()>();
        let (started, start) = mpsc::channel();
        let workers = workers.clone();
        runtime.spawn(async move {
            let job = move || {
                started.send(()).unwrap();
                let _ = held.recv();
            };
            workers.run(job).await
        });
        start.recv().unwrap();
        release
    }

    fn is_overloaded(error: &ApiError) -> bool {
        (error.status, &error.body.kind[..], error.retry_after)
            == (StatusCode::SERVICE_UNAVAILABLE, "overloaded", Some(1))
    }

    #[test]
    fn a_job_beyond_the_queue_is_refused_and_one_in_it_runs() {
        let (runtime, workers) = (runtime(), new_workers(1, LONG));
        let release = occupy(&runtime, &workers);
        let queued = {
            let workers = workers.clone();
            runtime.spawn(async move { workers.run(|| 7).await })
        };
        while workers.waiting.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        let refused = runtime.block_on(workers.run(|| 8)).unwrap_err();
        assert!(is_overloaded(&refused), "{refused:?}");
        drop(release);
        assert_eq!(runtime.block_on(queued).unwrap().unwrap(), 7);
        assert_eq!(workers.waiting.load(Ordering::Relaxed), 0);
        assert_eq!(runtime.block_on(workers.run(|| 9)).unwrap(), 9, "the queue is open again");
    }

    #[test]
    fn a_job_that_waits_or_runs_too_long_is_given_up() {
        let (runtime, workers) = (runtime(), new_workers(1, Duration::from_millis(20)));
        let release = occupy(&runtime, &workers);
        let late = runtime.block_on(workers.run(|| 1)).unwrap_err();
        assert!(is_overloaded(&late) && late.body.error.contains("waited too long"), "{late:?}");
        drop(release);
        let workers = new_workers(1, Duration::from_millis(20));
        let (release, held) = mpsc::channel::<()>();
        let slow = runtime.block_on(workers.run(move || held.recv().is_ok())).unwrap_err();
        assert!(is_overloaded(&slow) && slow.body.error.contains("took too long"), "{slow:?}");
        drop(release);
    }

    #[test]
    fn a_panic_is_an_error_and_the_worker_lives_on() {
        let (runtime, workers) = (runtime(), new_workers(1, LONG));
        let failed = runtime.block_on(workers.run(|| panic!("on purpose"))).map(|(): ()| ()).unwrap_err();
        assert_eq!(failed.status, StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(runtime.block_on(workers.run(|| 1)).unwrap(), 1);
    }

    #[test]
    fn jobs_for_a_batch_are_bounded_and_a_refused_batch_can_start_again() {
        let batch = RequestBatch::default();
        let job = || {
            let (done, answer) = oneshot::channel();
            (BatchJob { values: vec![0.0], n_rows: 1, done }, answer)
        };
        let (first, mut answer) = job();
        assert!(batch.add(first, 0).unwrap(), "nobody runs the jobs yet: the first is taken even without a queue");
        assert!(is_overloaded(&batch.add(job().0, 1).unwrap_err()));
        assert!(!batch.add(job().0, 2).unwrap(), "somebody runs the jobs already");
        batch.refuse(&ApiError::overloaded("later"));
        assert!(is_overloaded(&answer.try_recv().unwrap().unwrap_err()));
        let (next, mut answer) = job();
        assert!(batch.add(next, 1).unwrap());
        // A job that is added before the run looks for more is not lost.
        assert_eq!(batch.take().len(), 1);
        assert!(!batch.add(job().0, 1).unwrap());
        assert!(!batch.is_done());
        assert_eq!(batch.take().len(), 1);
        assert!(batch.is_done());
        assert!(answer.try_recv().is_err());
        assert!(batch.add(job().0, 1).unwrap());
    }
}
