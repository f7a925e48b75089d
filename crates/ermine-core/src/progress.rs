//! Progress and stopping. Long work tells an [`Observer`] what it is doing and is told whether to go on; the command
//! line draws a bar from it, Python calls back and checks for Ctrl-C.

use crate::error::{Error, Result};
use std::cell::Cell;
use std::time::Instant;

/// What long work reports.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<'a> {
    /// A piece of work begins; `total` steps where the number is known.
    Begin {
        /// What it is, for people.
        what: &'a str,
        /// How many steps it will take, if known.
        total: Option<u64>,
    },
    /// `done` steps of the current piece of work are behind us.
    Step {
        /// Steps done so far.
        done: u64,
        /// A number worth showing beside the bar, e.g. the validation loss.
        score: Option<(&'a str, f64)>,
    },
    /// The current piece of work is over.
    End,
    /// Parts of the current piece of work, which have nothing to show by themselves, ask whether to go on. They may do so from several threads at once.
    Within,
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    Continue,
    /// Stop as soon as possible, leaving nothing half-written.
    Stop,
}

/// Someone who watches long work. Called from the threads that do it, one call at a time but for [`Event::Within`], and cheap calls are expected.
pub trait Observer: Send + Sync {
    /// Something happened; the answer says whether to go on.
    fn event(&self, event: &Event<'_>) -> Control;
}

impl std::fmt::Debug for dyn Observer + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Observer")
    }
}

/// Watches nothing and never stops anything.
pub struct Silent;

impl Observer for Silent {
    fn event(&self, _: &Event<'_>) -> Control {
        Control::Continue
    }
}

/// What the parts of a piece of work are watched by: whatever they report, they only ask the observer of the whole whether to go on.
pub struct Parts<'a>(pub &'a dyn Observer);

impl Observer for Parts<'_> {
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

/// How long a search goes on: to its end, until a moment, or until its observer says stop.
pub struct Patience<'a> {
    deadline: Option<Instant>,
    observer: &'a dyn Observer,
    looked: Cell<u64>,
    late: Cell<bool>,
    stopped: Cell<bool>,
}

impl<'a> Patience<'a> {
    /// Until this moment, if there is one, and as long as the observer goes on.
    pub fn new(deadline: Option<Instant>, observer: &'a dyn Observer) -> Self {
        Patience { deadline, observer, looked: Cell::new(0), late: Cell::new(false), stopped: Cell::new(false) }
    }

    /// Whether to stop now. Asked between pieces of work; each question is a step for the observer.
    pub fn is_over(&self) -> bool {
        if !self.was_over() {
            self.looked.set(self.looked.get() + 1);
            let step = Event::Step { done: self.looked.get(), score: None };
            self.stopped.set(self.observer.event(&step) == Control::Stop);
            self.late.set(self.deadline.is_some_and(|deadline| Instant::now() >= deadline));
        }
        self.was_over()
    }

    /// Whether the answer to the last question was yes.
    pub fn was_over(&self) -> bool {
        self.late.get() || self.stopped.get()
    }

    /// Whether the moment came before the end; an error if the observer said stop.
    pub fn ran_out(&self) -> Result<bool> {
        if self.stopped.get() { Err(Error::Stopped) } else { Ok(self.late.get()) }
    }
}
