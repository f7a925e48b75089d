//! Progress bars on stderr: drawn only on a terminal, and only when work takes longer than a second.

use crate::interrupt;
use ermine_core::parallel::run;
use ermine_core::progress::{Control, Event, Observer};
use indicatif::{HumanDuration, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Work shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// Estimates beyond this are too uncertain to be shown.
const LONGEST_ETA: Duration = Duration::from_secs(48 * 3600);

/// Maximum nesting depth of progress bars.
const MOST_BARS: usize = 2;

/// Observes long work and draws progress bars.
pub struct Progress {
    bars: MultiProgress,
    /// One bar for each running piece of work, the innermost last.
    stack: Arc<Mutex<Stack>>,
    counted: ProgressStyle,
    uncounted: ProgressStyle,
    deadline: Option<Instant>,
}

#[derive(Default)]
struct Stack {
    bars: Vec<ProgressBar>,
    finished: bool,
}

impl Progress {
    /// An observer that draws bars unless `quiet` or stderr is no terminal.
    pub fn new(quiet: bool) -> Progress {
        let progress = Progress {
            bars: MultiProgress::with_draw_target(ProgressDrawTarget::hidden()),
            stack: Arc::default(),
            counted: style("{msg} [{bar:30}] {pos}/{len} {left}{prefix}"),
            uncounted: style("{msg} {spinner} {elapsed} {prefix}"),
            deadline: None,
        };
        if !quiet && std::io::stderr().is_terminal() {
            let (bars, stack) = (progress.bars.clone(), progress.stack.clone());
            std::thread::spawn(move || {
                std::thread::sleep(PATIENCE);
                let stack = lock(&stack);
                if !stack.finished {
                    bars.set_draw_target(ProgressDrawTarget::stderr());
                    stack.bars.iter().for_each(ProgressBar::tick);
                }
            });
        }
        progress
    }

    /// Stops all work at this time.
    pub fn until(mut self, deadline: Option<Instant>) -> Progress {
        self.deadline = deadline;
        self
    }

    /// Whether the time is over.
    pub fn is_past_deadline(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Does a piece of work on this number of threads; `None` for all cores.
    pub fn stage<T: Send>(
        &self,
        what: &str,
        threads: Option<usize>,
        work: impl FnOnce() -> ermine::Result<T> + Send,
    ) -> ermine::Result<T> {
        self.begin(what, None);
        let result = run(threads, work).and_then(|result| result);
        self.clear();
        result
    }

    /// Removes all bars after the work has ended.
    pub fn clear(&self) {
        lock(&self.stack).bars.drain(..).rev().for_each(|bar| {
            bar.finish_and_clear();
            self.bars.remove(&bar);
        });
    }

    fn begin(&self, what: &str, total: Option<u64>) {
        let mut stack = lock(&self.stack);
        let depth = stack.bars.len();
        let bar = if depth < MOST_BARS {
            let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
            let style = if total.is_some() { &self.counted } else { &self.uncounted };
            let bar = self.bars.add(bar).with_style(style.clone()).with_message(what.to_string());
            if depth == 0 {
                bar.enable_steady_tick(Duration::from_millis(100));
            }
            bar
        } else {
            ProgressBar::hidden()
        };
        stack.bars.push(bar);
    }
}

impl Observer for Progress {
    fn event(&self, event: &Event<'_>) -> Control {
        match event {
            Event::Begin { what, total } => self.begin(what, *total),
            Event::Step { done, score } => {
                let stack = lock(&self.stack);
                if let Some(bar) = stack.bars.last() {
                    bar.set_position(*done);
                    if let Some((name, value)) = score {
                        bar.set_prefix(format!("{name} {value:.5}"));
                    }
                }
            }
            Event::End => {
                if let Some(bar) = lock(&self.stack).bars.pop() {
                    bar.finish_and_clear();
                    self.bars.remove(&bar);
                }
            }
            Event::Within => {}
        }
        if interrupt::stopped() || self.is_past_deadline() { Control::Stop } else { Control::Continue }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
        lock(&self.stack).finished = true;
    }
}

fn lock(stack: &Mutex<Stack>) -> MutexGuard<'_, Stack> {
    stack.lock().unwrap_or_else(PoisonError::into_inner)
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.progress_chars("=> ").with_key("left", |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        // Before the first step there is no estimate. A bar that can't be drawn is not an error.
        let eta = state.eta();
        if state.pos() > 0 && eta < LONGEST_ETA {
            let _ = write!(out, "{:#} left ", HumanDuration(eta));
        }
    })
}
