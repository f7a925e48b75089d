//! The time budget of a comparison: expected times, the order of the learners, and deadlines.

use super::{BASELINE, RunningComparison};
use crate::evaluate::Splits;
use crate::evaluate::cross_validation::{Validation, cross_validate};
use ermine_core::error::Result;
use ermine_core::learner::fit::check;
use ermine_core::learner::{Context, Learner};
use ermine_core::matrix::Dataset;
use ermine_core::progress::{Control, Event, Observer};
use std::cmp::Ordering;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Number of rows of the trial run that estimates a learner's time and promise.
const PROBED_ROWS: usize = 1500;

/// All trial runs together take at most this fraction of the time.
const PROBE_SHARE: u32 = 4;

/// The share of the time for learners with their defaults; the rest is for tuning.
const DEFAULTS_SHARE: f64 = 0.6;

/// A learner with others waiting gets at most this fraction of the remaining time.
const MOST_SHARE: u32 = 2;

/// A learner may take this multiple of its estimate while others wait.
const GENEROUS: f64 = 3.0;

/// A learner that is expected to take more than this multiple of the remaining time is not started. Estimates are rough.
const HOPELESS: f64 = 3.0;

/// Expected time and score of a learner; unknown without a trial run.
#[derive(Debug, Clone, Copy, Default)]
pub struct CostEstimate {
    /// Seconds for all splits.
    pub seconds: Option<f64>,
    /// The score of the trial run; lower is better.
    pub loss: Option<f64>,
}

/// The time from the beginning to the deadline.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: Instant,
    deadline: Option<Instant>,
}

/// The time that a learner may take.
#[derive(Debug, Clone, Copy)]
pub struct TimeSlot {
    /// When it ends.
    pub end: Instant,
    left: Duration,
}

impl TimeSlot {
    /// Whether a learner can't be expected to finish.
    pub fn is_hopeless(self, estimate: &CostEstimate) -> bool {
        self.left.is_zero() || estimate.seconds.is_some_and(|seconds| seconds > HOPELESS * self.left.as_secs_f64())
    }
}

impl Clock {
    /// Starts now.
    pub fn new(deadline: Option<Instant>) -> Clock {
        Clock { start: Instant::now(), deadline }
    }

    /// Whether the time is over.
    pub fn is_over(self) -> bool {
        self.left().is_some_and(|left| left.is_zero())
    }

    /// The time that is left; `None` without a deadline.
    pub fn left(self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// The time slot of a learner with its defaults: `keep` time for tuning, `n_waiting` learners come after it.
    pub fn turn(self, estimate: &CostEstimate, keep: bool, n_waiting: usize) -> Option<TimeSlot> {
        let deadline = self.deadline?;
        let all = deadline.saturating_duration_since(self.start);
        let end = if keep { self.start + all.mul_f64(DEFAULTS_SHARE) } else { deadline };
        let left = end.saturating_duration_since(Instant::now());
        let expected = Duration::try_from_secs_f64(estimate.seconds.unwrap_or(f64::INFINITY) * GENEROUS);
        let fair = (left / (n_waiting + 1) as u32).max(expected.unwrap_or(left));
        let most = if n_waiting > 0 { fair.min(left / MOST_SHARE) } else { left };
        Some(TimeSlot { end: Instant::now() + most, left })
    }
}

/// Observes work with an earlier deadline than the rest. When it is dropped, unfinished pieces of work are reported as ended.
pub struct DeadlineObserver<'a> {
    observer: &'a dyn Observer,
    deadline: Option<Instant>,
    depth: AtomicUsize,
}

impl<'a> DeadlineObserver<'a> {
    /// Stops at the deadline, or when the observer requests it.
    pub fn new(observer: &'a dyn Observer, deadline: Option<Instant>) -> DeadlineObserver<'a> {
        DeadlineObserver { observer, deadline, depth: AtomicUsize::new(0) }
    }
}

impl Observer for DeadlineObserver<'_> {
    fn event(&self, event: &Event<'_>) -> Control {
        match event {
            Event::Begin { .. } => _ = self.depth.fetch_add(1, Relaxed),
            Event::End => _ = self.depth.fetch_sub(1, Relaxed),
            Event::Step { .. } | Event::Within => {}
        }
        let control = self.observer.event(event);
        let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if late { Control::Stop } else { control }
    }
}

impl Drop for DeadlineObserver<'_> {
    fn drop(&mut self) {
        for _ in 0..self.depth.load(Relaxed) {
            // The answer no longer matters.
            let _ = self.observer.event(&Event::End);
        }
    }
}

impl RunningComparison<'_> {
    /// The learners in order, with their estimates. Without a deadline the order is not changed.
    pub(super) fn in_order(&self) -> Vec<(&dyn Learner, CostEstimate)> {
        let learners = self.comparison.learners.iter().map(|learner| &**learner);
        let learners = learners.filter(|learner| !self.is_finished(learner.info().name, false));
        let (Some(left), Some((part, share))) = (self.clock.left(), self.few_rows()) else {
            return learners.map(|learner| (learner, CostEstimate::default())).collect();
        };
        let limit = left / PROBE_SHARE / self.comparison.learners.len().max(1) as u32;
        let mut order: Vec<(&dyn Learner, CostEstimate)> = learners
            .map(|learner| {
                let known = self.precedence(learner) < 2 || self.is_over();
                (learner, if known { CostEstimate::default() } else { self.probe(learner, &part, share, limit) })
            })
            .collect();
        let affordable = left.as_secs_f64() / (2 * order.len().max(1)) as f64;
        order.sort_by(|a, b| self.precedence(a.0).cmp(&self.precedence(b.0)).then(by_estimate(a.1, b.1, affordable)));
        order
    }

    /// The baseline first, then the learner that is most often best; neither needs a trial run.
    fn precedence(&self, learner: &dyn Learner) -> usize {
        let first = [BASELINE, self.comparison.preferred];
        first.iter().position(|name| *name == learner.info().name).unwrap_or(first.len())
    }

    /// Some rows, and their share of all.
    fn few_rows(&self) -> Option<(Dataset, f64)> {
        let n = self.data.n_rows();
        if n <= 2 * PROBED_ROWS {
            return Some((self.data.clone(), 1.0));
        }
        let share = PROBED_ROWS as f64 / n as f64;
        let splits = Splits::holdout(self.data, share, self.context.seed).ok()?;
        Some((self.data.select(&splits.split(0).1).ok()?, share))
    }

    /// Runs a learner on few rows.
    fn probe(&self, learner: &dyn Learner, part: &Dataset, share: f64, limit: Duration) -> CostEstimate {
        let start = Instant::now();
        let loss = self.loss_on(learner, part, limit);
        let seconds = start.elapsed().as_secs_f64() * self.comparison.splits.len() as f64 / share;
        CostEstimate { seconds: Some(seconds), loss: loss.ok().filter(|loss| !loss.is_nan()) }
    }

    fn loss_on(&self, learner: &dyn Learner, part: &Dataset, limit: Duration) -> Result<f64> {
        check(learner, part)?;
        let splits = Splits::holdout(part, 0.3, self.context.seed)?;
        let observer = DeadlineObserver::new(self.context.observer, Instant::now().checked_add(limit));
        let context = Context { observer: &observer, ..*self.context };
        let measures = [self.decisive()];
        let scores = cross_validate(learner, part, &Validation::new(&splits, &measures), &context)?.scores;
        Ok(scores.first().map_or(f64::NAN, |score| self.decisive().sort_key(score.mean)))
    }
}

/// Fast learners by their time; then the others, most promising first; then those that did not finish the trial run.
fn by_estimate(a: CostEstimate, b: CostEstimate, affordable: f64) -> Ordering {
    let class = |e: CostEstimate| match (e.loss, e.seconds) {
        (None, _) => 2,
        (_, Some(seconds)) if seconds > affordable => 1,
        _ => 0,
    };
    let seconds = |e: CostEstimate| e.seconds.unwrap_or(f64::INFINITY);
    let loss = |e: CostEstimate| e.loss.unwrap_or(f64::INFINITY);
    class(a).cmp(&class(b)).then_with(|| match class(a) {
        1 => loss(a).total_cmp(&loss(b)),
        _ => seconds(a).total_cmp(&seconds(b)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    fn estimate(seconds: f64, loss: Option<f64>) -> CostEstimate {
        CostEstimate { seconds: Some(seconds), loss }
    }

    #[test]
    fn fast_and_promising_learners_run_first() {
        let mut order = [
            estimate(100.0, None),
            estimate(50.0, Some(0.3)),
            estimate(40.0, Some(0.5)),
            estimate(2.0, Some(0.9)),
            estimate(1.0, Some(0.95)),
        ];
        order.sort_by(|a, b| by_estimate(*a, *b, 10.0));
        assert_eq!(order.map(|e| e.seconds.unwrap()), [1.0, 2.0, 50.0, 40.0, 100.0]);
    }

    #[test]
    fn a_learner_gets_a_fair_share_while_others_wait() {
        let clock = Clock::new(Some(Instant::now() + Duration::from_secs(100)));
        let unknown = CostEstimate::default();
        let length = |turn: Option<TimeSlot>| turn.unwrap().end.saturating_duration_since(Instant::now()).as_secs_f64();
        assert!((length(clock.turn(&unknown, false, 9)) - 50.0).abs() < 1.0, "half, where nothing is known");
        assert!((length(clock.turn(&unknown, false, 0)) - 100.0).abs() < 1.0);
        assert!((length(clock.turn(&unknown, true, 0)) - 60.0).abs() < 1.0);
        assert!((length(clock.turn(&estimate(1.0, None), false, 9)) - 10.0).abs() < 1.0, "an equal share");
        assert!((length(clock.turn(&estimate(6.0, None), false, 9)) - 18.0).abs() < 1.0, "three times the estimate");
        assert!((length(clock.turn(&estimate(40.0, None), false, 9)) - 50.0).abs() < 1.0, "no more than half");
        let slot = clock.turn(&unknown, false, 0).unwrap();
        assert!(slot.is_hopeless(&estimate(400.0, None)) && !slot.is_hopeless(&estimate(200.0, None)));
        assert!(!slot.is_hopeless(&unknown));
        assert!(Clock::new(None).turn(&unknown, true, 1).is_none());
    }

    #[test]
    fn abandoned_work_is_reported_as_ended() {
        #[derive(Default)]
        struct Depth(Mutex<i32>);
        impl Observer for Depth {
            fn event(&self, event: &Event<'_>) -> Control {
                let mut depth = self.0.lock().unwrap();
                match event {
                    Event::Begin { .. } => *depth += 1,
                    Event::End => *depth -= 1,
                    Event::Step { .. } | Event::Within => {}
                }
                Control::Continue
            }
        }
        let depth = Depth::default();
        let until = DeadlineObserver::new(&depth, Some(Instant::now()));
        assert_eq!(until.event(&Event::Begin { what: "work", total: None }), Control::Stop);
        until.event(&Event::Begin { what: "part", total: None });
        until.event(&Event::End);
        drop(until);
        assert_eq!(*depth.0.lock().unwrap(), 0);
    }
}
