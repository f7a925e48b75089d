//! Tuning of the best learners: a better setting becomes a separate entry.

use super::budget::DeadlineObserver;
use super::{BASELINE, Leaderboard, LeaderboardEntry, RunningComparison, UntunedLearner};
use crate::evaluate::journal::Journal;
use crate::evaluate::search::{FACTOR, HyperparameterSearch, Strategy, search, with_setting};
use crate::evaluate::space::SearchSpace;
use ermine_core::error::{Error, Result};
use ermine_core::learner::Context;
use ermine_core::learner::raw_columns::STANDARDIZE;
use ermine_core::param::Value;
use std::time::{Duration, Instant};

/// Number of learners that are tuned.
pub(super) const TUNED: usize = 3;

/// With fewer rows, halving is not used.
const FEW_ROWS: usize = 3000;

impl RunningComparison<'_> {
    /// Tries settings of the best learners.
    pub(super) fn tune(&self, board: &mut Leaderboard) {
        board.entries.sort_by(|a, b| self.order(a, b));
        let rivals = board.entries.iter().filter(|entry| entry.learner != BASELINE && entry.setting.is_empty());
        let best = rivals.take(TUNED).map(|entry| (entry.learner, entry.seconds));
        let best: Vec<(&'static str, f64)> = best.filter(|(learner, _)| !self.is_finished(learner, true)).collect();
        for (i, &(learner, seconds)) in best.iter().enumerate() {
            // Half of the remaining time for the better learner of those waiting, all of it for the last.
            let parts = if i + 1 < best.len() { 2 } else { 1 };
            let left = self.clock.left().map(|left| left / parts);
            let tuned = if self.is_over() { Err(Error::Stopped) } else { self.tuned(learner, left, seconds) };
            match tuned {
                Ok((entry, stopped)) => {
                    let as_it_is = board.entries.iter().find(|e| e.learner == learner);
                    let better =
                        |entry: &LeaderboardEntry| as_it_is.is_none_or(|as_it_is| self.order(entry, as_it_is).is_lt());
                    let entry = entry.filter(better);
                    if let (Some(on_entry), Some(entry)) = (self.comparison.on_entry, &entry) {
                        on_entry(entry);
                    }
                    board.entries.extend(entry);
                    if stopped {
                        board.untuned.push(UntunedLearner { learner, partly: true, error: None });
                    }
                }
                Err(Error::Stopped) => board.untuned.push(UntunedLearner { learner, partly: false, error: None }),
                Err(e) => board.untuned.push(UntunedLearner { learner, partly: false, error: Some(e.to_string()) }),
            }
        }
    }

    /// The search strategy for the remaining time, if a setting on all rows takes this many seconds: with little time, most settings run on few rows.
    fn strategy(&self, left: Option<Duration>, seconds: f64) -> Strategy {
        let trials = self.comparison.trials + 1;
        let affordable = left.map_or(f64::INFINITY, |left| left.as_secs_f64() / seconds.max(1e-3));
        // Each round of halving takes about as long as one setting on all rows, and has a third as many settings as the one before.
        let rounds = (affordable as usize).saturating_sub(1);
        let fewer = FACTOR.saturating_pow(rounds.try_into().unwrap_or(u32::MAX)).min(trials);
        match affordable >= trials as f64 || rounds == 0 || self.data.n_rows() <= FEW_ROWS {
            true => Strategy::Random { trials },
            false => Strategy::Halving { trials: fewer, factor: FACTOR },
        }
    }

    /// The best of some settings of a learner, if it isn't its default; and whether the search was stopped.
    fn tuned(&self, name: &str, left: Option<Duration>, seconds: f64) -> Result<(Option<LeaderboardEntry>, bool)> {
        let start = Instant::now();
        let until = left.and_then(|left| start.checked_add(left));
        let learner = self.comparison.learners.iter().find(|learner| learner.info().name == name);
        let Some(learner) = learner else { return Ok((None, false)) };
        let observer = DeadlineObserver::new(self.context.observer, until);
        let context = Context { observer: &observer, ..*self.context };
        let space = SearchSpace::declared(&**learner).supported_by(&**learner, self.data, &context)?;
        let what = HyperparameterSearch {
            learner: &**learner,
            space: &space,
            strategy: self.strategy(left, seconds),
            splits: self.comparison.splits,
            measure: self.decisive(),
            pool: true,
        };
        let found = search(&what, self.data, &context, &mut Journal::none())?;
        let Some(best) = found.best.map(|best| &found.trials[best]).filter(|best| !best.setting.is_empty()) else {
            return Ok((None, found.stopped));
        };
        // What decides is known from the search; the other measures only where there is time for another round.
        let known = || LeaderboardEntry {
            learner: learner.info().name,
            setting: best.setting.clone(),
            scores: vec![best.score(self.decisive())],
            standardized: learner.get(STANDARDIZE) == Some(Value::Bool(true)),
            seconds: 0.0,
            not_converged: 0,
        };
        let late = self.is_over() || until.is_some_and(|until| Instant::now() >= until);
        let all = |setting| self.entry(&*with_setting(&**learner, setting, self.context)?, setting.clone(), until);
        let entry = match if late { Err(Error::Stopped) } else { all(&best.setting) } {
            Err(Error::Stopped) => known(),
            entry => entry?,
        };
        Ok((Some(LeaderboardEntry { seconds: start.elapsed().as_secs_f64(), ..entry }), found.stopped))
    }
}
