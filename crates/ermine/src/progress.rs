//! Progress and stopping. Long work tells an [`Observer`] what it is doing and is told whether to go on; the command
//! line draws a bar from it, Python calls back and checks for Ctrl-C.

use crate::error::{Error, Result};

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
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    Continue,
    /// Stop as soon as possible, leaving nothing half-written.
    Stop,
}

/// Someone who watches long work. Called from the threads that do it, one call at a time, and cheap calls are expected.
pub trait Observer: Send + Sync {
    /// Something happened; the answer says whether to go on.
    fn event(&self, event: &Event<'_>) -> Control;
}

/// Watches nothing and never stops anything.
pub struct Silent;

impl Observer for Silent {
    fn event(&self, _: &Event<'_>) -> Control {
        Control::Continue
    }
}

/// Reports an event and turns a request to stop into [`Error::Stopped`].
pub fn report(observer: &dyn Observer, event: Event<'_>) -> Result<()> {
    match observer.event(&event) {
        Control::Continue => Ok(()),
        Control::Stop => Err(Error::Stopped),
    }
}
