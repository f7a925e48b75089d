//! Progress and cancellation. Long work reports to an [`Observer`], whose answer decides whether it continues: the command line draws a progress bar, Python calls callbacks and checks for
//! Ctrl-C.

use crate::error::{Error, Result};
use std::cell::Cell;
use std::time::Instant;

/// A progress event.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<'a> {
    /// A piece of work begins.
    Begin {
        /// Description for users.
        what: &'a str,
        /// Number of steps, if known.
        total: Option<u64>,
    },
    /// Progress within the current piece of work.
    Step {
        /// Number of steps done.
        done: u64,
        /// A number to show, such as the validation loss.
        score: Option<(&'a str, f64)>,
    },
    /// The current piece of work has ended.
    End,
    /// A part of the current piece of work checks whether to continue, possibly from several threads at once.
    Within,
}

/// Whether to continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// Continue.
    Continue,
    /// Stop as soon as possible, leaving nothing half-written.
    Stop,
}

/// Observes long work. Called from the working threads, one call at a time except for [`Event::Within`]; calls should be cheap.
pub trait Observer: Send + Sync {
    /// Handles an event and decides whether to continue.
    fn event(&self, event: &Event<'_>) -> Control;
}

impl std::fmt::Debug for dyn Observer + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Observer")
    }
}

/// Ignores all events and never stops the work.
pub struct Silent;

impl Observer for Silent {
    fn event(&self, _: &Event<'_>) -> Control {
        Control::Continue
    }
}

/// The observer of parts of a piece of work: it ignores their events and only checks whether to continue.
pub struct PartObserver<'a>(pub &'a dyn Observer);

impl Observer for PartObserver<'_> {
    fn event(&self, _: &Event<'_>) -> Control {
        self.0.event(&Event::Within)
    }
}

/// Reports an event and turns a request to stop into [`Error::Stopped`].
pub fn report(observer: &dyn Observer, event: Event<'_>) -> Result<()> {
    match observer.event(&event) {
        Control::Continue => Ok(()),
        Control::Stop => Err(Error::Stopped),
    }
}

/// Turns a request to stop into [`Error::Stopped`]. Solvers call it between pieces of work of 100 ms at most; threads may call it at the same time.
pub fn check(observer: &dyn Observer) -> Result<()> {
    report(observer, Event::Within)
}

/// How long a search may take: until its end, a deadline, or a request to stop.
pub struct Patience<'a> {
    deadline: Option<Instant>,
    observer: &'a dyn Observer,
    looked: Cell<u64>,
    late: Cell<bool>,
    stopped: Cell<bool>,
}

impl<'a> Patience<'a> {
    /// Until this deadline, if there is one, and as long as the observer continues.
    pub fn new(deadline: Option<Instant>, observer: &'a dyn Observer) -> Self {
        Patience { deadline, observer, looked: Cell::new(0), late: Cell::new(false), stopped: Cell::new(false) }
    }

    /// Whether to stop now. Called between pieces of work; each call is a step for the observer.
    pub fn is_over(&self) -> bool {
        if !self.was_over() {
            self.looked.set(self.looked.get() + 1);
            let step = Event::Step { done: self.looked.get(), score: None };
            self.stopped.set(self.observer.event(&step) == Control::Stop);
            self.late.set(self.deadline.is_some_and(|deadline| Instant::now() >= deadline));
        }
        self.was_over()
    }

    /// The result of the last call of [`is_over`](Self::is_over).
    pub fn was_over(&self) -> bool {
        self.late.get() || self.stopped.get()
    }

    /// Whether the deadline passed before the end; an error if the observer requested a stop.
    pub fn timed_out(&self) -> Result<bool> {
        if self.stopped.get() { Err(Error::Stopped) } else { Ok(self.late.get()) }
    }
}
