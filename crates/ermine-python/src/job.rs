//! Runs long work outside the interpreter.
//!
//! The work runs on its own thread and owns its inputs. The calling thread releases the interpreter and waits; several times per second it acquires it again to check for signals (only
//! Python's main thread may) and to show progress. On Ctrl-C the work is asked to stop through its observer; if it doesn't stop soon, it is abandoned to end by itself, so that the user gets
//! the prompt back.
//!
//! A callback receives every step. The work waits for it, and the calling thread makes the call, so that a callback may do anything: print, draw, raise.

use ermine_core::progress::{Control, Event, Observer};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Interval of checks for signals and progress.
const TICK: Duration = Duration::from_millis(50);

/// How long to wait for work that was asked to stop.
const GRACE: Duration = Duration::from_millis(300);

/// The latest progress.
#[derive(Clone, Default, PartialEq)]
struct JobState {
    what: String,
    done: u64,
    total: Option<u64>,
    score: Option<(String, f64)>,
}

/// Passes a step on and waits until it has been handled.
type StepCallback = Box<dyn Fn(JobState) -> Control + Send + Sync>;

/// Observes the work for the waiting thread.
#[derive(Default)]
pub struct JobObserver {
    stop: AtomicBool,
    state: Mutex<JobState>,
    on_step: Option<StepCallback>,
}

impl JobObserver {
    fn state(&self) -> JobState {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Handles an event; returns the state after a step.
    fn take(&self, event: &Event<'_>) -> Option<JobState> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Begin { what, total } => {
                *state = JobState { what: (*what).to_string(), total: *total, ..JobState::default() };
            }
            Event::Step { done, score } => {
                state.done = *done;
                state.score = score.map(|(name, value)| (name.to_string(), value));
                return self.on_step.is_some().then(|| state.clone());
            }
            Event::End | Event::Within => {}
        }
        None
    }
}

impl Observer for JobObserver {
    fn event(&self, event: &Event<'_>) -> Control {
        let step = self.take(event);
        if self.stop.load(Ordering::Relaxed) {
            return Control::Stop;
        }
        match (step, &self.on_step) {
            (Some(state), Some(on_step)) => on_step(state),
            _ => Control::Continue,
        }
    }
}

/// Receivers of progress: `progress` now and then, `callback` for every step; both are called with the name of the work, steps done, total steps, and a score.
pub struct Listeners<'a, 'py> {
    pub progress: Option<&'a Bound<'py, PyAny>>,
    pub callback: Option<&'a Bound<'py, PyAny>>,
}

enum Message<T> {
    /// A step, and where to reply when it has been handled.
    Step(JobState, SyncSender<Control>),
    Done(T),
}

/// Runs `work` on its own thread and waits for it. `progress(what, done, total, score)` is called now and then, if there is news.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&JobObserver) -> T + Send + 'static,
) -> PyResult<T> {
    run_with_callback(py, &Listeners { progress, callback: None }, work)
}

/// The same, with a callback for every step.
pub fn run_with_callback<T: Send + 'static>(
    py: Python<'_>,
    listeners: &Listeners<'_, '_>,
    work: impl FnOnce(&JobObserver) -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = sync_channel(1);
    let on_step = listeners.callback.is_some().then(|| step_callback(sender.clone()));
    let shared = Arc::new(JobObserver { on_step, ..JobObserver::default() });
    let observer = shared.clone();
    let body = move || {
        // Nobody waits for abandoned work.
        let _ = sender.send(Message::Done(work(&observer)));
    };
    let thread = std::thread::Builder::new().name("ermine".into()).spawn(body);
    thread.map_err(|e| PyRuntimeError::new_err(format!("no thread to work on: {e}")))?;
    let (mut shown, mut looked) = (JobState::default(), Instant::now());
    loop {
        let message;
        (receiver, message) = wait(py, receiver, TICK);
        let handled = match message {
            Ok(Message::Done(result)) => {
                // Show the end even of short work.
                show(listeners.progress, &shared, &mut shown)?;
                return Ok(result);
            }
            Err(RecvTimeoutError::Disconnected) => return Err(PyRuntimeError::new_err("the work ended in a panic")),
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Ok(Message::Step(state, reply)) => call_back(listeners, &state, &reply),
        };
        let mut look = || {
            // With a callback, steps may arrive so fast that no wait times out.
            if looked.elapsed() < TICK {
                return Ok(());
            }
            looked = Instant::now();
            py.check_signals().and_then(|()| show(listeners.progress, &shared, &mut shown))
        };
        if let Err(signal) = handled.and_then(|()| look()) {
            shared.stop.store(true, Ordering::Relaxed);
            // The result is no longer needed.
            let _ = wait(py, receiver, GRACE);
            return Err(signal);
        }
    }
}

fn step_callback<T: Send + 'static>(sender: SyncSender<Message<T>>) -> StepCallback {
    Box::new(move |state| {
        let (reply, handled) = sync_channel(1);
        // Nobody waits any more: stop.
        if sender.send(Message::Step(state, reply)).is_err() {
            return Control::Stop;
        }
        handled.recv().unwrap_or(Control::Stop)
    })
}

/// Calls the callback for a step; the work continues unless the callback raised.
fn call_back(listeners: &Listeners<'_, '_>, state: &JobState, reply: &SyncSender<Control>) -> PyResult<()> {
    let result = listeners.callback.map_or(Ok(()), |callback| call(callback, state));
    // The work may have ended in the meantime.
    let _ = reply.send(if result.is_ok() { Control::Continue } else { Control::Stop });
    result
}

type WaitResult<T> = (Receiver<Message<T>>, Result<Message<T>, RecvTimeoutError>);

fn wait<T: Send>(py: Python<'_>, receiver: Receiver<Message<T>>, time: Duration) -> WaitResult<T> {
    py.detach(move || {
        let message = receiver.recv_timeout(time);
        (receiver, message)
    })
}

/// Reports new progress to Python.
fn show(progress: Option<&Bound<'_, PyAny>>, observer: &JobObserver, shown: &mut JobState) -> PyResult<()> {
    let Some(progress) = progress else { return Ok(()) };
    let state = observer.state();
    if state != *shown {
        call(progress, &state)?;
        *shown = state;
    }
    Ok(())
}

fn call(listener: &Bound<'_, PyAny>, state: &JobState) -> PyResult<()> {
    listener.call1((&state.what, state.done, state.total, state.score.clone())).map(drop)
}

/// The number of threads for `n_jobs`.
#[pyfunction(name = "threads")]
#[pyo3(signature = (n_jobs = None))]
pub fn threads_of(n_jobs: Option<&Bound<'_, PyAny>>) -> PyResult<usize> {
    let Some(n_jobs) = n_jobs else { return threads(None) };
    match n_jobs.extract::<i64>() {
        Ok(number) => threads(Some(number)),
        Err(_) => {
            let message = format!("The 'n_jobs' parameter must be an int or None. Got {} instead.", n_jobs.repr()?);
            Err(PyValueError::new_err(message))
        }
    }
}

/// How many threads `n_jobs` stands for: all cores for `None` (or what OMP_NUM_THREADS allows, which joblib's workers set), and counted
/// from the number of cores where it is negative, as in joblib.
pub fn threads(n_jobs: Option<i64>) -> PyResult<usize> {
    let cores = ermine_core::parallel::available_threads();
    match n_jobs {
        None => {
            let allowed = std::env::var("OMP_NUM_THREADS").ok().and_then(|text| text.trim().parse::<usize>().ok());
            Ok(allowed.filter(|&n| n > 0).map_or(cores, |n| n.min(cores)))
        }
        Some(0) => Err(PyValueError::new_err("n_jobs == 0 has no meaning")),
        Some(n) if n < 0 => Ok((cores as i64 + 1).saturating_add(n).max(1) as usize),
        Some(n) => Ok(n as usize),
    }
}
