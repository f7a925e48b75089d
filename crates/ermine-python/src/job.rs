//! Long work away from the interpreter.
//!
//! The work runs on a thread of its own and owns all that it needs. The calling thread gives up the interpreter and waits; a few times
//! each second it takes it back to look for signals (only Python's main thread may) and to show progress. On Ctrl-C the work is asked to stop
//! through its observer; if it doesn't come to a place where it asks within a moment, it is left behind to end by itself, so that the user has the
//! prompt back whatever the learner is doing.

use ermine::progress::{Control, Event, Observer};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often signals and progress are looked at.
const TICK: Duration = Duration::from_millis(50);

/// How long work that was asked to stop is waited for.
const GRACE: Duration = Duration::from_millis(300);

/// What the work has said last.
#[derive(Clone, Default, PartialEq)]
struct State {
    what: String,
    done: u64,
    total: Option<u64>,
    score: Option<(String, f64)>,
}

/// Watches the work for the thread that waits.
#[derive(Default)]
pub struct Watch {
    stop: AtomicBool,
    state: Mutex<State>,
}

impl Watch {
    fn state(&self) -> State {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Observer for Watch {
    fn event(&self, event: &Event<'_>) -> Control {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Begin { what, total } => {
                *state = State { what: (*what).to_string(), total: *total, ..State::default() }
            }
            Event::Step { done, score } => {
                state.done = *done;
                state.score = score.map(|(name, value)| (name.to_string(), value));
            }
            Event::End => {}
        }
        if self.stop.load(Ordering::Relaxed) { Control::Stop } else { Control::Continue }
    }
}

/// Runs `work` on a thread of its own and waits for it. `progress(what, done, total, score)` is called when there is news.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch) -> T + Send + 'static,
) -> PyResult<T> {
    let watch = Arc::new(Watch::default());
    let (sender, mut receiver) = sync_channel(1);
    let observer = watch.clone();
    let body = move || {
        // Nobody listens any more where the work was left behind.
        let _ = sender.send(work(&observer));
    };
    let thread = std::thread::Builder::new().name("ermine".into()).spawn(body);
    thread.map_err(|e| PyRuntimeError::new_err(format!("no thread to work on: {e}")))?;
    let mut shown = State::default();
    loop {
        let message;
        (receiver, message) = wait(py, receiver, TICK);
        match message {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Disconnected) => return Err(PyRuntimeError::new_err("the work ended in a panic")),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Err(signal) = py.check_signals().and_then(|()| show(progress, &watch, &mut shown)) {
            watch.stop.store(true, Ordering::Relaxed);
            // Whatever it would have given, nobody wants it now.
            let _ = wait(py, receiver, GRACE);
            return Err(signal);
        }
    }
}

type Message<T> = (Receiver<T>, Result<T, RecvTimeoutError>);

fn wait<T: Send>(py: Python<'_>, receiver: Receiver<T>, time: Duration) -> Message<T> {
    py.detach(move || {
        let message = receiver.recv_timeout(time);
        (receiver, message)
    })
}

/// Tells Python what is new.
fn show(progress: Option<&Bound<'_, PyAny>>, watch: &Watch, shown: &mut State) -> PyResult<()> {
    let Some(progress) = progress else { return Ok(()) };
    let state = watch.state();
    if state != *shown {
        progress.call1((&state.what, state.done, state.total, state.score.clone()))?;
        *shown = state;
    }
    Ok(())
}

/// How many threads `n_jobs` stands for: all cores for `None` (or what OMP_NUM_THREADS allows, which joblib's workers set), and counted
/// from the number of cores where it is negative, as in joblib.
#[pyfunction]
#[pyo3(signature = (n_jobs = None))]
pub fn threads(n_jobs: Option<i64>) -> PyResult<usize> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
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
