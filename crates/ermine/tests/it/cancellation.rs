//! Long work can be stopped: every learner asks its observer at least every 100 ms of work.
//!
//! Work is measured in CPU time of the thread that does it, so that a loaded machine doesn't matter. Tests are built with few optimizations, and several times slower than the program.

use ermine::prelude::*;
use ermine::registry::learners;
use ermine_core::learner::fit::{can_learn, check};
use ermine_core::learner::{Context, Learner, fit};
use ermine_core::matrix::{Features, Target};
use ermine_core::progress::{Control, Event, Observer};
use std::sync::Mutex;

/// The longest time between two questions, in seconds: 100 ms, and a factor for the missing optimizations.
const LONGEST: f64 = 0.5;

/// Training is stopped after this much work.
const ENOUGH: f64 = 0.4;

/// The CPU time of this thread in seconds.
fn thread_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes the time into a struct of ours.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Measures the work between two questions, and stops when there was enough of it.
struct Stopwatch {
    start: f64,
    /// When the last question came, the longest time between two, and before which event that was.
    seen: Mutex<(f64, f64, String)>,
}

impl Stopwatch {
    fn new() -> Stopwatch {
        let now = thread_seconds();
        Stopwatch { start: now, seen: Mutex::new((now, 0.0, String::new())) }
    }

    fn look(&self, event: &str) -> f64 {
        let now = thread_seconds();
        let (last, longest, at) = &mut *self.seen.lock().unwrap();
        if now - *last > *longest {
            (*longest, *at) = (now - *last, event.into());
        }
        *last = now;
        now - self.start
    }
}

impl Observer for Stopwatch {
    fn event(&self, event: &Event<'_>) -> Control {
        if self.look(&format!("{event:?}")) > ENOUGH { Control::Stop } else { Control::Continue }
    }
}

/// Noisy numbers and categories, with a target that no model fits: nothing converges early.
fn hard_data(learner: &dyn Learner, n: usize, d: usize) -> Vec<Dataset> {
    let mut rng = ermine_core::rng::stream(3, &[n as u64]);
    let mut uniform = || ermine_core::rng::uniform(&mut rng);
    let mut columns: Vec<Column> = (0..d)
        .map(|j| {
            Column::numeric(
                format!("x{j}"),
                (0..n).map(|_| uniform() * 10f64.powi(j as i32 % 5 - 2)).collect::<Vec<_>>(),
            )
        })
        .collect();
    let names: Vec<String> = (0..200).map(|k| format!("level {k}")).collect();
    let words: Vec<Option<&str>> = (0..n).map(|_| Some(names[(uniform() * 200.0) as usize].as_str())).collect();
    columns.push(Column::nominal("many", &words));
    let features = Features::new(std::sync::Arc::new(Table::new(columns).unwrap()));
    let noise: Vec<f64> = (0..n).map(|_| uniform()).collect();
    let signal = |row: usize| features.number(row, 0) * 100.0 + noise[row];
    let classes = |k: u32| Target::Classes {
        codes: (0..n).map(|row| ((signal(row) * f64::from(k)) as u32).min(k - 1)).collect(),
        labels: (0..k).map(|c| format!("class {c}")).collect(),
    };
    let values = Target::Values { values: (0..n).map(signal).collect(), n_outputs: 1 };
    let mut made = Vec::new();
    for task in Task::ALL.into_iter().filter(|&task| can_learn(learner, task)) {
        let data = match task {
            Task::Classification => Dataset::from_parts(features.clone(), classes(6), task),
            Task::Regression => Dataset::from_parts(features.clone(), values.clone(), task),
            Task::Ranking => Dataset::from_parts(features.clone(), values.clone(), task)
                .and_then(|data| data.with_group(Some((0..n as u32).map(|row| row / 50).collect()))),
            // Labels are learned by the learners of classes.
            Task::Multilabel => continue,
        };
        made.push(data.unwrap());
    }
    made
}

#[test]
fn every_learner_checks_for_cancellation_every_100_ms_of_work() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let only = std::env::var("ERMINE_LEARNER").ok();
    let mut late = Vec::new();
    for learner in learners().map(|entry| (entry.make)()) {
        let name = learner.info().name;
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        for data in hard_data(&*learner, 4000, 40) {
            if check(&*learner, &data).is_err() {
                continue;
            }
            let (longest, at) = pool.install(|| {
                let watch = Stopwatch::new();
                let done = fit(&*learner, &data, &Context { observer: &watch, ..ermine::context() });
                watch.look("the end");
                assert!(matches!(done, Ok(_) | Err(ermine::Error::Stopped | ermine::Error::Data(_))), "{name}");
                let (_, longest, at) = watch.seen.into_inner().unwrap();
                (longest, at)
            });
            if longest > LONGEST {
                late.push(format!("{name} ({}): {longest:.2} s without a question, before {at}", data.task()));
            }
        }
    }
    assert!(late.is_empty(), "{}", late.join("\n"));
}
