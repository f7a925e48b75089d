//! The comparison of learners: order, budget, stopping.

use ermine::learner::{Control, Event, Observer};
use ermine::model_selection::{Comparison, SkipReason, compare, suitable_learners};
use ermine::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

fn iris() -> Dataset {
    let table = Table::read(crate::shipped("iris.csv.gz")).unwrap();
    let target = table.names().last().unwrap().to_string();
    table.dataset(&target).unwrap()
}

fn learners(names: &[&str]) -> Vec<Box<dyn Learner>> {
    names.iter().map(|name| ermine::registry::learner(name).unwrap()).collect()
}

#[test]
fn the_best_comes_first_and_scores_are_those_of_cross_validation() {
    let data = iris();
    let splits = Splits::k_fold(&data, 5, 0).unwrap();
    let measures = [Measure::Accuracy, Measure::LogLoss];
    let names = ["baseline", "decision-stump", "logistic-regression", "linear-regression"];
    let comparison = Comparison::new(learners(&names), &splits, &measures);
    let board = compare(&comparison, &data, &ermine::context());
    let order: Vec<&str> = board.entries.iter().map(|entry| entry.learner).collect();
    assert_eq!(order, ["logistic-regression", "decision-stump", "baseline"]);
    let logistic = ermine::registry::learner("logistic-regression").unwrap();
    let alone = cross_validate(&*logistic, &data, &Validation::new(&splits, &measures), &ermine::context()).unwrap();
    assert_eq!(board.entries[0].scores, alone.scores);
    assert_eq!(board.skipped.len(), 1);
    assert!(matches!(board.skipped[0].reason, SkipReason::Unsupported(_)), "{:?}", board.skipped);
    assert!(board.to_string().contains("linear-regression: does not support"), "{board}");
}

#[test]
fn tuning_adds_only_improvements() {
    let data = iris();
    let splits = Splits::k_fold(&data, 3, 0).unwrap();
    let comparison = Comparison::new(learners(&["decision-tree"]), &splits, &[Measure::LogLoss]).with_tuning(5);
    let board = compare(&comparison, &data, &ermine::context());
    let means: Vec<f64> = board.entries.iter().map(|entry| entry.scores[0].mean).collect();
    assert!(means.is_sorted(), "{means:?}");
    assert!(board.entries.iter().any(|entry| entry.setting.is_empty()));
}

#[test]
fn finished_entries_are_not_computed_again() {
    let data = iris();
    let splits = Splits::k_fold(&data, 3, 0).unwrap();
    let measures = [Measure::LogLoss];
    let whole = compare(
        &Comparison::new(learners(&["baseline", "decision-stump"]), &splits, &measures),
        &data,
        &ermine::context(),
    );
    // A score that no fit would give shows that the entry was taken as it is.
    let mut known = whole.entries.iter().find(|entry| entry.learner == "baseline").unwrap().clone();
    known.scores[0].mean = -1.0;
    let seen = std::sync::Mutex::new(Vec::new());
    let on_entry = |entry: &ermine::model_selection::LeaderboardEntry| seen.lock().unwrap().push(entry.learner);
    let resumed = Comparison {
        finished: std::slice::from_ref(&known),
        on_entry: Some(&on_entry),
        ..Comparison::new(learners(&["baseline", "decision-stump"]), &splits, &measures)
    };
    let board = compare(&resumed, &data, &ermine::context());
    assert_eq!(board.entries.iter().map(|entry| entry.learner).collect::<Vec<_>>(), ["baseline", "decision-stump"]);
    assert_eq!(board.entries[0].scores, known.scores);
    assert_eq!(board.entries[1].scores, whole.entries.iter().find(|e| e.learner == "decision-stump").unwrap().scores);
    assert_eq!(*seen.lock().unwrap(), ["decision-stump"]);
}

#[test]
fn a_budget_is_kept_and_the_leaderboard_lists_skipped_learners() {
    let data = iris();
    let splits = Splits::k_fold(&data, 5, 0).unwrap();
    let all = suitable_learners(&data, &ermine::context());
    let n = all.len();
    let comparison = Comparison::new(all, &splits, &[Measure::LogLoss]).with_tuning(10).within(Duration::ZERO);
    let start = Instant::now();
    let board = compare(&comparison, &data, &ermine::context());
    // No measurement, but an order of magnitude: all learners together take much longer.
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!((board.entries.len(), board.skipped.len()), (0, n));
    let left_out = |reason: &SkipReason| matches!(reason, SkipReason::NotTried { .. } | SkipReason::Unsupported(_));
    assert!(board.skipped.iter().all(|skipped| left_out(&skipped.reason)), "{:?}", board.skipped);
}

/// Says stop after some events.
struct Impatient(AtomicUsize);

impl Observer for Impatient {
    fn event(&self, _: &Event<'_>) -> Control {
        let left = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| Some(n.saturating_sub(1)));
        if left == Ok(0) { Control::Stop } else { Control::Continue }
    }
}

#[test]
fn finished_results_survive_cancellation() {
    let data = iris();
    let splits = Splits::k_fold(&data, 5, 0).unwrap();
    let comparison = Comparison::new(learners(&["baseline", "svc"]), &splits, &[Measure::Accuracy]);
    let impatient = Impatient(AtomicUsize::new(9));
    let context = Context { observer: &impatient, ..ermine::context() };
    let board = compare(&comparison, &data, &context);
    assert_eq!(board.entries.iter().map(|entry| entry.learner).collect::<Vec<_>>(), ["baseline"]);
    assert_eq!(board.skipped.len(), 1);
}
