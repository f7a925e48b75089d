//! Candidates, tried one after the other on held-out rows within the budget.

use super::fitted::{AutoEntry, output_of};
use super::journal::{AutoJournal, FinishedCandidate};
use super::members::size_of;
use super::selection::HeldOut;
use super::{AutoRun, INFO, Preset, Until, portfolio};
use crate::reduction::committee::Member;
use crate::reduction::out_of_fold::out_of_fold;
use ermine_core::error::{Error, Result};
use ermine_core::learner::Context;
use ermine_core::learner::estimator::Estimator;
use ermine_core::matrix::{Dataset, Schema, Splits, Task};
use ermine_core::progress::{Event, report};
use std::time::Instant;

/// With at least so many rows, one held-out part says enough.
const MANY_ROWS: usize = 100_000;

/// With fewer rows, the preset fast uses folds.
const FEW_ROWS: usize = 1_000;

/// The part of the rows that is held out.
const HELD_OUT_SHARE: f64 = 0.2;

/// Folds over which the choice from a single held-out part is cross-fitted.
const META_FOLDS: usize = 5;

/// The part of the time budget after which no candidate is tried any more.
const TRYING_SHARE: f64 = 0.85;

/// With a time budget and no number of trials, no more candidates than this.
const MOST_TRIALS: usize = 200;

/// A candidate with its out-of-fold predictions.
pub(super) struct Tried {
    pub estimator: Estimator,
    pub finished: FinishedCandidate,
    /// Its predictions were divided by this.
    pub scale: f64,
    /// The score by the measure, lower is better.
    pub loss: f64,
    /// The models of the folds; none if they were not kept.
    pub members: Vec<Member>,
}

/// The candidates that were tried.
#[derive(Default)]
pub(super) struct Trials {
    pub tried: Vec<Tried>,
    /// Candidates without a score, with the reason.
    pub failed: Vec<AutoEntry>,
    first_error: Option<Error>,
}

impl Trials {
    fn fail(&mut self, estimator: &Estimator, error: Error) {
        let note = match &error {
            Error::Stopped => "not finished in its share of the budget".to_string(),
            error => error.to_string(),
        };
        self.failed.push(AutoEntry { estimator: estimator.to_string(), score: None, weight: 0.0, note: Some(note) });
        self.first_error.get_or_insert(error);
    }
}

/// The rows that candidates are tested on.
pub(super) struct TestedRows {
    pub splits: Splits,
    /// The tested rows of the data, in their order.
    pub rows: Vec<u32>,
    pub data: Dataset,
    /// The fold of each tested row in which the choice is cross-fitted.
    pub fold: Vec<u32>,
    pub ordered: bool,
    pub description: String,
}

impl AutoRun<'_> {
    /// The splits, and the rows that they test.
    pub(super) fn tested_rows(&self) -> Result<TestedRows> {
        let (data, seed) = (self.data, self.context.seed);
        let n = data.n_rows();
        let n_units = data.group().map_or(n, |group| group.iter().max().map_or(0, |&last| last as usize + 1));
        let cv = self.auto.cv.unwrap_or(if self.auto.preset == Preset::Fast { 3 } else { 5 }).min(n_units);
        let is_large = n >= MANY_ROWS || (self.auto.preset == Preset::Fast && n >= FEW_ROWS);
        let (splits, description) = match self.context.folds {
            Some(folds) => (Splits::from_folds(data, folds)?, "given folds".to_string()),
            None if self.auto.in_time_order => {
                let splits = Splits::time_ordered(data, cv)?;
                (splits, format!("{cv} stretches of rows, each after those trained on"))
            }
            None if is_large && self.auto.cv.is_none() => (
                Splits::holdout(data, HELD_OUT_SHARE, seed)?,
                format!("{:.0} % of the rows held out", 100.0 * HELD_OUT_SHARE),
            ),
            None => (Splits::k_fold(data, cv, seed)?, format!("{cv} folds")),
        };
        let mut fold_of_row = vec![None; n];
        for index in 0..splits.len() {
            splits.split(index).1.iter().for_each(|&row| fold_of_row[row as usize] = Some(index as u32));
        }
        let rows: Vec<u32> = (0..n as u32).filter(|&row| fold_of_row[row as usize].is_some()).collect();
        let tested = data.select(&rows)?;
        let fold = match splits.len() {
            1 => meta_folds(&tested, seed)?,
            _ => rows.iter().filter_map(|&row| fold_of_row[row as usize]).collect(),
        };
        let ordered = self.auto.in_time_order && self.context.folds.is_none();
        Ok(TestedRows { splits, rows, data: tested, fold, ordered, description })
    }

    /// Tries candidates until their number or the budget is reached.
    pub(super) fn try_candidates(&self, tested: &TestedRows) -> Result<Trials> {
        let usual =
            if self.auto.time_limit.is_some() { MOST_TRIALS } else { portfolio::usual_trials(self.auto.preset) };
        let most = self.auto.n_candidates.unwrap_or(usual);
        let candidates = portfolio::candidates(self.data, self.auto.interpretable, most, self.context)?;
        let mut journal = match self.options.journal {
            Some(path) => AutoJournal::open(path, self.data, &tested.splits, self.context.seed)?,
            None => AutoJournal::none(),
        };
        let deadline = self.at(TRYING_SHARE);
        let mut trials = Trials::default();
        for (i, estimator) in candidates.iter().enumerate() {
            let now = Instant::now();
            if i > 0 && deadline.is_some_and(|deadline| now >= deadline) {
                break;
            }
            // While others wait, one candidate gets at most half of the time that is left; the first gets all but a quarter of it.
            let share = if i == 0 { 0.75 } else { 0.5 };
            let slot = deadline.map(|deadline| now + deadline.saturating_duration_since(now).mul_f64(share));
            match self.try_candidate(estimator, tested, slot, &mut journal) {
                Ok(candidate) => trials.tried.push(candidate),
                Err(Error::Stopped) if self.is_stopped() => {
                    if self.options.finish_on_stop && !trials.tried.is_empty() {
                        break;
                    }
                    return Err(Error::Stopped);
                }
                Err(error) => {
                    trials.fail(estimator, error);
                    continue;
                }
            }
            match self.report_best(&trials, i + 1) {
                Err(_) if self.options.finish_on_stop => break,
                outcome => outcome?,
            }
        }
        if trials.tried.is_empty() {
            return Err(self.nothing_tried(trials.first_error));
        }
        Ok(trials)
    }

    /// Reports the best score so far.
    fn report_best(&self, trials: &Trials, done: usize) -> Result<()> {
        let best = trials.tried.iter().map(|tried| tried.loss).fold(f64::INFINITY, f64::min);
        let shown = if self.measure.higher_is_better() { -best } else { best };
        report(self.context.observer, Event::Step { done: done as u64, score: Some((self.measure.title(), shown)) })
    }

    /// The error if no candidate has a score.
    fn nothing_tried(&self, first_error: Option<Error>) -> Error {
        match first_error {
            Some(Error::Stopped) => Error::data(format!(
                "the budget of {} s is too short: no candidate was cross-validated in time; give more time, fewer rows, or the preset fast",
                self.auto.time_limit.unwrap_or(0.0)
            )),
            Some(error) => error,
            None => Error::data("no candidate can learn from this data"),
        }
    }

    /// Cross-validates a candidate, or finds it in the journal.
    fn try_candidate(
        &self,
        estimator: &Estimator,
        tested: &TestedRows,
        deadline: Option<Instant>,
        journal: &mut AutoJournal,
    ) -> Result<Tried> {
        let start = Instant::now();
        let output = output_of(self.data.task());
        let width = output.width(&Schema::of(self.data));
        if let Some(finished) = journal.find(&estimator.to_string(), tested.rows.len() * width) {
            return self.tried(estimator, finished, Vec::new(), tested);
        }
        let observer = Until { observer: self.context.observer, deadline };
        let context = Context { observer: &observer, ..*self.context };
        let learner = estimator.learner(&context)?;
        let timed = std::sync::Mutex::new(0.0);
        let found = out_of_fold(&*learner, self.data, &tested.splits, &context, &|member, features| {
            if member.output() != output {
                let need = format!("{}, which predicts no probabilities", member.learner());
                return Err(Error::Unsupported { learner: INFO.name.into(), need });
            }
            let begin = Instant::now();
            let numbers = member.predict(features)?;
            *timed.lock().unwrap_or_else(std::sync::PoisonError::into_inner) += begin.elapsed().as_secs_f64();
            Ok(numbers)
        })?;
        let values: Vec<f64> =
            tested.rows.iter().flat_map(|&row| &found.values[row as usize * width..][..width]).copied().collect();
        if let Some(value) = values.iter().find(|value| !value.is_finite()) {
            return Err(Error::data(format!("{}: a prediction is {value}", learner.info().name)));
        }
        let latency = timed.into_inner().unwrap_or(0.0) / tested.rows.len() as f64;
        let size = match self.auto.max_size {
            Some(_) => found.members.iter().map(size_of).collect::<Result<Vec<_>>>()?.into_iter().max().unwrap_or(0),
            None => 0,
        };
        let seconds = start.elapsed().as_secs_f64();
        let finished = FinishedCandidate { estimator: estimator.to_string(), seconds, size, latency, values };
        journal.add(&finished)?;
        let keeps = self.keeps_folds() || self.auto.time_limit.is_some() || self.options.finish_on_stop;
        self.tried(estimator, finished, if keeps { found.members } else { Vec::new() }, tested)
    }

    fn tried(
        &self,
        estimator: &Estimator,
        mut finished: FinishedCandidate,
        members: Vec<Member>,
        tested: &TestedRows,
    ) -> Result<Tried> {
        let scale = if self.data.task() == Task::Ranking { spread(&finished.values) } else { 1.0 };
        finished.values.iter_mut().for_each(|value| *value /= scale);
        let schema = Schema::of(self.data);
        let alone = HeldOut {
            data: &tested.data,
            output: output_of(self.data.task()),
            schema: &schema,
            measure: self.measure,
            predictions: Vec::new(),
            costs: Vec::new(),
            single: true,
            seed: self.context.seed,
        };
        let all: Vec<u32> = (0..tested.rows.len() as u32).collect();
        let loss = alone.loss(&finished.values, &all)?;
        Ok(Tried { estimator: estimator.clone(), finished, scale, loss, members })
    }
}

/// Folds of a single held-out part.
fn meta_folds(tested: &Dataset, seed: u64) -> Result<Vec<u32>> {
    let splits = Splits::k_fold(tested, META_FOLDS.min(tested.n_rows()), seed)?;
    let mut fold = vec![0; tested.n_rows()];
    for index in 0..splits.len() {
        splits.split(index).1.iter().for_each(|&row| fold[row as usize] = index as u32);
    }
    Ok(fold)
}

/// The standard deviation of numbers; 1 if they are all the same.
fn spread(values: &[f64]) -> f64 {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    let deviation = (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
    if deviation > 0.0 && deviation.is_finite() { deviation } else { 1.0 }
}
