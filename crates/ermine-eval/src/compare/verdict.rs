//! The best learner, and the significance of its lead.

use super::{BASELINE, LeaderboardEntry};
use crate::evaluate::Splits;
use crate::evaluate::paired::{PairedTest, paired_test};

/// Significance level.
pub const SIGNIFICANT: f64 = 0.05;

/// Whether there are several scores per learner, so that differences can be tested.
pub fn is_testable(entries: &[LeaderboardEntry]) -> bool {
    entries.first().and_then(|entry| entry.scores.first()).is_some_and(|score| score.folds.len() > 1)
}

/// Compares two learners split by split.
pub fn against(best: &LeaderboardEntry, other: &LeaderboardEntry, splits: &Splits) -> PairedTest {
    let folds = |entry: &LeaderboardEntry| entry.scores.first().map(|score| score.folds.clone()).unwrap_or_default();
    paired_test(&folds(best), &folds(other), splits)
}

/// The learners that are not significantly worse than the first, and converged.
pub fn not_significantly_worse<'a>(entries: &'a [LeaderboardEntry], splits: &Splits) -> Vec<&'a LeaderboardEntry> {
    let Some((best, others)) = entries.split_first() else { return Vec::new() };
    let may_be = |entry: &&LeaderboardEntry| {
        entry.learner != BASELINE && entry.not_converged == 0 && against(best, entry, splits).p_value >= SIGNIFICANT
    };
    others.iter().filter(may_be).collect()
}
