//! Finds the best settings of a learner by cross-validation.
//!
//! | strategy | what is tried |
//! |---|---|
//! | grid | every combination |
//! | random | settings drawn from the space (Bergstra and Bengio, 2012) |
//! | halving | many settings on few rows; the better share of them on more rows, until one is left on all (Jamieson and Talwalkar, 2016) |
//!
//! **One fit, many settings.** Where a learner has a [`Path`] (rounds of boosting, strength of pruning or of a penalty, number of
//! neighbours, price of slack), settings that differ in that parameter alone come from one fit in each split. Where splits can share their work too
//! (one index of neighbours, one matrix of kernel values), they do.
//!
//! **Stopping.** Whatever was tried is kept in a [`Journal`]; a search that is stopped and started again goes on where it was, and ends as if it had
//! never stopped. A setting that a learner refuses is a trial without a score, not the end of the search.

use super::cross_validation::FoldScore;
use super::journal::Journal;
use super::measure::Measure;
use super::outcome::Outcome;
use super::space::{Setting, Space};
use crate::error::{Error, Result};
use crate::learner::fit::{predict_path, predict_splits, run};
use crate::learner::{Context, Learner, Path, fit};
use crate::matrix::{Dataset, Splits};
use crate::param::Value;
use crate::progress::{Event, Observer, Parts, report};
use crate::rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// The random streams of settings and of rows.
const SETTINGS: u64 = 17;
const ROWS: u64 = 18;

/// Values along a path cost little: this many where a strategy doesn't say.
const PATH_POINTS: usize = 8;

/// Fewer rows than this say nothing about a setting.
const FEWEST_ROWS: usize = 100;

/// Up to this many rows, splits are learned side by side, so many at a time.
const FEW_ROWS: usize = 100_000;
const AT_ONCE: usize = 8;

/// Which settings are tried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Strategy {
    /// Every combination of this many values of each parameter.
    Grid {
        /// Values of a parameter that has a range.
        points: usize,
    },
    /// This many settings at random.
    Random {
        /// How many.
        trials: usize,
    },
    /// Every setting that the space lists, which has no axes then.
    Listed,
    /// This many settings on few rows, and the best third of them on three times as many, until one is left.
    Halving {
        /// How many to begin with.
        trials: usize,
    },
}

/// What is searched, and how settings are judged.
pub struct Search<'a> {
    /// The learner, with the parameters that are not searched.
    pub learner: &'a dyn Learner,
    /// The settings.
    pub space: &'a Space,
    /// Which of them are tried.
    pub strategy: Strategy,
    /// Which rows are learned from and which are tested.
    pub splits: &'a Splits,
    /// What decides.
    pub measure: Measure,
}

/// A setting that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The setting.
    pub setting: Setting,
    /// At most how many rows were learned from; all if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<usize>,
    /// The score of each split; none where the setting was refused.
    pub folds: Vec<f64>,
    /// Why it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// How long it took; settings of one path share its time.
    pub seconds: f64,
}

impl Trial {
    /// The mean over splits; NaN where there is none.
    pub fn mean(&self) -> f64 {
        self.folds.iter().sum::<f64>() / self.folds.len() as f64
    }

    /// Mean and spread.
    pub fn score(&self, measure: Measure) -> FoldScore {
        FoldScore::new(measure, self.folds.clone(), None)
    }
}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// All trials, in the order in which they were made.
    pub trials: Vec<Trial>,
    /// Which trial on all rows is best; none if no setting could be used.
    pub best: Option<usize>,
    /// It was stopped before its end.
    pub stopped: bool,
}

/// Searches.
pub fn search(search: &Search<'_>, data: &Dataset, context: &Context<'_>, journal: &mut Journal) -> Result<Found> {
    search.measure.check(data.task())?;
    let mut state = State { search, data, context, journal, trials: Vec::new() };
    let begin = Event::Begin { what: "searching", total: search.n_steps()? };
    let stopped = match report(context.observer, begin).and_then(|()| state.run()) {
        Err(Error::Stopped) => true,
        other => other.map(|()| false)?,
    };
    let trials = state.trials;
    if !stopped {
        report(context.observer, Event::End)?;
    }
    let full = (0..trials.len()).filter(|&i| trials[i].rows.is_none() && !trials[i].mean().is_nan());
    let best =
        full.min_by(|&a, &b| badness(search.measure, &trials[a]).total_cmp(&badness(search.measure, &trials[b])));
    Ok(Found { trials, best, stopped })
}

/// Less is better; what can't be told is worst.
fn badness(measure: Measure, trial: &Trial) -> f64 {
    let mean = trial.mean();
    match (mean.is_nan(), measure.higher_is_better()) {
        (true, _) => f64::INFINITY,
        (false, true) => -mean,
        (false, false) => mean,
    }
}

/// A learner like this one with some parameters set.
pub fn with_setting(learner: &dyn Learner, setting: &Setting, context: &Context<'_>) -> Result<Box<dyn Learner>> {
    let mut copy = (context.learners)(learner.info().name)?;
    learner.values().iter().try_for_each(|(name, value)| copy.set(name, value))?;
    setting.iter().try_for_each(|(name, value)| copy.set(name, value))?;
    Ok(copy)
}

impl Search<'_> {
    /// Settings that share all but the path parameter, with the values of that one.
    fn batches(&self, seed: u64) -> Result<Vec<Batch>> {
        let path = self.learner.path().map(Path::parameter);
        if self.strategy == Strategy::Listed {
            return Ok(grouped(self.space.listed(), path));
        }
        let (space, axis) = path.map_or((self.space.clone(), None), |name| self.space.without(name));
        let along = |points: usize| match (path, axis) {
            (Some(name), Some(axis)) => Some((name, axis.points(points))),
            _ => None,
        };
        let draw = |trials: usize| {
            let mut stream = rng::stream(seed, &[SETTINGS]);
            // The learner as it is comes first: nothing that is found is worse.
            std::iter::once(Setting::new()).chain((1..trials.max(1)).map(|_| space.draw(&mut stream))).collect()
        };
        let (settings, points): (Vec<Setting>, usize) = match self.strategy {
            Strategy::Grid { points } => (space.grid(points)?, points),
            Strategy::Random { trials } | Strategy::Halving { trials } => (draw(trials), PATH_POINTS),
            Strategy::Listed => (Vec::new(), 0),
        };
        let batch = |setting: Setting| {
            let mut path = along(points);
            let own = path.as_ref().and_then(|(name, _)| self.learner.get(name));
            if let (Some((_, values)), Some(own)) = (&mut path, own)
                && setting.is_empty()
                && !values.contains(&own)
                && !matches!(self.strategy, Strategy::Grid { .. })
            {
                values.push(own);
            }
            Batch { setting, path }
        };
        Ok(settings.into_iter().map(batch).collect())
    }

    fn n_steps(&self) -> Result<Option<u64>> {
        let n = self.batches(0)?.len();
        let mut total = 0;
        let mut left = n;
        if let Strategy::Halving { .. } = self.strategy {
            while left > 1 {
                total += left;
                left = left.div_ceil(FACTOR);
            }
        }
        Ok(Some(((total + left) * self.splits.len()) as u64))
    }
}

/// By how much the settings become fewer and the rows more in each round of halving.
const FACTOR: usize = 3;

/// Settings that one fit for each split gives.
#[derive(Clone)]
struct Batch {
    setting: Setting,
    path: Option<(&'static str, Vec<Value>)>,
}

impl Batch {
    fn settings(&self) -> Vec<Setting> {
        let Some((name, values)) = &self.path else { return vec![self.setting.clone()] };
        let with = |value: &Value| {
            let mut setting = self.setting.clone();
            setting.insert((*name).to_string(), value.clone());
            setting
        };
        values.iter().map(with).collect()
    }
}

/// Settings as they are, but those that differ only in the path parameter together.
fn grouped(settings: &[Setting], path: Option<&'static str>) -> Vec<Batch> {
    let mut batches: Vec<Batch> = Vec::new();
    for setting in settings {
        let mut rest = setting.clone();
        let Some((name, value)) = path.and_then(|name| Some((name, rest.remove(name)?))) else {
            batches.push(Batch { setting: setting.clone(), path: None });
            continue;
        };
        match batches.iter_mut().find(|batch| batch.path.is_some() && batch.setting == rest) {
            Some(Batch { path: Some((_, values)), .. }) => values.push(value),
            _ => batches.push(Batch { setting: rest, path: Some((name, vec![value])) }),
        }
    }
    batches
}

struct State<'a, 'b> {
    search: &'a Search<'b>,
    data: &'a Dataset,
    context: &'a Context<'a>,
    journal: &'a mut Journal,
    trials: Vec<Trial>,
}

impl State<'_, '_> {
    fn run(&mut self) -> Result<()> {
        let mut batches = self.search.batches(self.context.seed)?;
        let mut done = 0;
        if let Strategy::Halving { .. } = self.search.strategy {
            let all = self.search.splits.split(0).0.len();
            while batches.len() > 1 {
                let rungs = (batches.len() as f64).log(FACTOR as f64).ceil() as u32;
                let rows = (all / FACTOR.pow(rungs)).max(FEWEST_ROWS);
                let first = self.trials.len();
                for batch in &batches {
                    self.try_batch(batch, (rows < all).then_some(rows), &mut done)?;
                }
                batches = self.better_third(&batches, first);
            }
        }
        for batch in &batches {
            self.try_batch(batch, None, &mut done)?;
        }
        Ok(())
    }

    /// The batches with the best trials among those made since `first`.
    fn better_third(&self, batches: &[Batch], first: usize) -> Vec<Batch> {
        let mut at = first;
        let mut judged: Vec<(f64, &Batch)> = Vec::new();
        for batch in batches {
            let n = batch.settings().len();
            let best =
                self.trials[at..at + n].iter().map(|t| badness(self.search.measure, t)).fold(f64::INFINITY, f64::min);
            judged.push((best, batch));
            at += n;
        }
        judged.sort_by(|a, b| a.0.total_cmp(&b.0));
        judged.into_iter().take(batches.len().div_ceil(FACTOR)).map(|(_, batch)| batch.clone()).collect()
    }

    /// Tries the settings of a batch, unless the journal knows them.
    fn try_batch(&mut self, batch: &Batch, rows: Option<usize>, done: &mut u64) -> Result<()> {
        let settings = batch.settings();
        let known: Vec<Trial> = settings.iter().filter_map(|s| self.journal.find(s, rows)).collect();
        *done += self.search.splits.len() as u64;
        if known.len() == settings.len() {
            self.trials.extend(known);
        } else {
            let start = Instant::now();
            let outcome = self.cross_validate(batch, rows, *done - self.search.splits.len() as u64);
            let seconds = start.elapsed().as_secs_f64() / settings.len() as f64;
            let (folds, refused) = match outcome {
                Ok(folds) => (folds, None),
                Err(Error::Stopped) => return Err(Error::Stopped),
                Err(error) => (vec![Vec::new(); settings.len()], Some(error.to_string())),
            };
            for (setting, mut folds) in settings.into_iter().zip(folds) {
                let mut refused = refused.clone();
                if folds.iter().any(|score| score.is_nan()) {
                    refused = Some(format!("{} can't be told in every split", self.search.measure.title()));
                    folds = Vec::new();
                }
                let trial = Trial { setting, rows, folds, refused, seconds };
                self.journal.add(&trial)?;
                self.trials.push(trial);
            }
        }
        let best =
            self.trials.iter().filter(|t| t.rows == rows).map(|t| badness(self.search.measure, t)).reduce(f64::min);
        let sign = if self.search.measure.higher_is_better() { -1.0 } else { 1.0 };
        let score = best.filter(|b| b.is_finite()).map(|b| (self.search.measure.title(), sign * b));
        report(self.context.observer, Event::Step { done: *done, score })
    }

    /// The scores of each setting of a batch in each split.
    fn cross_validate(&self, batch: &Batch, rows: Option<usize>, done: u64) -> Result<Vec<Vec<f64>>> {
        let learner = with_setting(self.search.learner, &batch.setting, self.context)?;
        let mut scores = vec![Vec::new(); batch.settings().len()];
        if let Some(scores) = self.together(batch, &*learner, rows, done)? {
            return Ok(scores);
        }
        // Many rows keep all cores busy by themselves, and their models take room.
        let at_once = if self.data.n_rows() <= FEW_ROWS { AT_ONCE } else { 1 };
        let parts = Parts(self.context.observer);
        let observer: &dyn Observer = if at_once > 1 { &parts } else { self.context.observer };
        let context = &Context { observer, ..*self.context };
        let of_split = |index: usize| {
            let (train, test) = self.search.splits.split(index);
            let train = self.data.select(&fewer(train, rows, context.seed, index))?;
            self.measured(batch, &*learner, &train, &self.data.select(&test)?, context)
        };
        let n_splits = self.search.splits.len();
        for first in (0..n_splits).step_by(at_once) {
            let some = (first..(first + at_once).min(n_splits)).into_par_iter();
            let measured: Vec<Vec<f64>> = run(context.threads, || some.map(of_split).collect::<Result<_>>())??;
            for of_split in &measured {
                scores.iter_mut().zip(of_split).for_each(|(of_setting, score)| of_setting.push(*score));
            }
            let done = done + (first + measured.len()) as u64;
            report(self.context.observer, Event::Step { done, score: None })?;
        }
        Ok(scores)
    }

    /// The same from work that the splits share, where the learner can.
    fn together(
        &self,
        batch: &Batch,
        learner: &dyn Learner,
        rows: Option<usize>,
        done: u64,
    ) -> Result<Option<Vec<Vec<f64>>>> {
        let (splits, measures) = (self.search.splits, &[self.search.measure]);
        let Some((_, values)) = batch.path.as_ref().filter(|_| rows.is_none() && learner.path().is_some()) else {
            return Ok(None);
        };
        let context = Context { observer: &Parts(self.context.observer), ..*self.context };
        let Some(predicted) = predict_splits(learner, values, self.data, splits, &context)? else {
            return Ok(None);
        };
        let mut scores = vec![Vec::new(); values.len()];
        for (index, predictions) in predicted.iter().enumerate() {
            let test = self.data.select(&splits.split(index).1)?;
            for (of_setting, said) in scores.iter_mut().zip(predictions) {
                of_setting.push(Outcome::new(said, &test)?.values(measures)[0]);
            }
            report(self.context.observer, Event::Step { done: done + index as u64 + 1, score: None })?;
        }
        Ok(Some(scores))
    }

    /// The score of each setting of a batch after learning from `train`.
    fn measured(
        &self,
        batch: &Batch,
        learner: &dyn Learner,
        train: &Dataset,
        test: &Dataset,
        context: &Context<'_>,
    ) -> Result<Vec<f64>> {
        let measures = &[self.search.measure];
        match &batch.path {
            Some((_, values)) if learner.path().is_some() => {
                let predictions = predict_path(learner, values, train, test, context)?;
                predictions.iter().map(|said| Ok(Outcome::new(said, test)?.values(measures)[0])).collect()
            }
            _ => {
                let alone = |setting: &Setting| {
                    let learner = with_setting(self.search.learner, setting, context)?;
                    Ok(fit(&*learner, train, context)?.measure(test, measures)?[0])
                };
                batch.settings().iter().map(alone).collect()
            }
        }
    }
}

/// At most `most` of the rows, at random.
fn fewer(mut rows: Vec<u32>, most: Option<usize>, seed: u64, split: usize) -> Vec<u32> {
    if let Some(most) = most.filter(|&most| most < rows.len()) {
        rng::shuffle(&mut rng::stream(seed, &[ROWS, split as u64]), &mut rows);
        rows.truncate(most);
        rows.sort_unstable();
    }
    rows
}

/// How good a search is: in each outer split, the best setting found within its training rows alone is trained on them and tested.
pub fn nested(
    inner: &Search<'_>,
    outer: &Splits,
    inner_splits: impl Fn(&Dataset) -> Result<Splits>,
    data: &Dataset,
    context: &Context<'_>,
) -> Result<(FoldScore, Vec<Setting>)> {
    let (mut scores, mut settings) = (Vec::new(), Vec::new());
    for index in 0..outer.len() {
        let (train, test) = outer.split(index);
        let train = data.select(&train)?;
        let splits = inner_splits(&train)?;
        let within = Search { splits: &splits, ..*inner };
        let found = search(&within, &train, context, &mut Journal::none())?;
        if found.stopped {
            return Err(Error::Stopped);
        }
        let best = found.best.ok_or_else(|| Error::data("no setting could be used"))?;
        let setting = found.trials[best].setting.clone();
        let model = fit(&*with_setting(inner.learner, &setting, context)?, &train, context)?;
        scores.push(model.measure(&data.select(&test)?, &[inner.measure])?[0]);
        settings.push(setting);
    }
    Ok((FoldScore::new(inner.measure, scores, None), settings))
}
