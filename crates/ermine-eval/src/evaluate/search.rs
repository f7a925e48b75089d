//! Hyperparameter search by cross-validation.
//!
//! | strategy | what is tried |
//! |---|---|
//! | grid | every combination |
//! | random | settings drawn from the space (Bergstra and Bengio, 2012) |
//! | halving | many settings on few rows; the better part of them on more rows, until one is left on all (Jamieson and Talwalkar, 2016) |
//!
//! **One fit, many settings.** If the learner is a [`PathLearner`] (boosting rounds, pruning or penalty strength, number of neighbors, C), settings that differ only in that parameter share one fit
//! per split. Splits share work too if possible (one neighbor index, one kernel matrix).
//!
//! **Resuming.** All trials are stored in a [`Journal`]; a search that was interrupted resumes where it stopped, with the same result. Ties are broken by the better probabilities (or the smaller
//! squared error), then by the order of the settings. A setting that a learner rejects is a trial without a score; the search continues.

use super::cross_validation::FoldScore;
use super::fold_scorer::{FoldResult, FoldScorer};
use super::journal::Journal;
use super::measure::Measure;
use super::space::{SearchSpace, Setting};
use crate::evaluate::{in_classes_of, predict_classes_of};
use ermine_core::error::{Error, Result};
use ermine_core::learner::fit::{predict_path, predict_splits};
use ermine_core::learner::{Context, Learner, PathLearner, fit};
use ermine_core::matrix::{Dataset, Splits};
use ermine_core::parallel;
use ermine_core::parallel::run;
use ermine_core::param::Value;
use ermine_core::progress::{Event, Observer, PartObserver, report};
use ermine_core::rng::{self, Purpose};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::time::Instant;

/// Values along a path cost little: this many where a strategy doesn't say.
const PATH_POINTS: usize = 8;

/// Minimum number of rows to evaluate a setting.
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
    /// This many settings on few rows, and the best part of them on as many times the rows, until one is left.
    Halving {
        /// How many to begin with.
        trials: usize,
        /// By how much the settings become fewer and the rows more in each round.
        factor: usize,
    },
}

/// What is searched, and how settings are scored.
pub struct HyperparameterSearch<'a> {
    /// The learner, with the parameters that are not searched.
    pub learner: &'a dyn Learner,
    /// The settings.
    pub space: &'a SearchSpace,
    /// Which of them are tried.
    pub strategy: Strategy,
    /// Which rows are learned from and which are tested.
    pub splits: &'a Splits,
    /// What decides.
    pub measure: Measure,
    /// Whether metrics that are not means over rows are computed on the pooled test rows if test sets are small.
    pub pool: bool,
}

/// A setting that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The setting.
    pub setting: Setting,
    /// Maximum number of training rows; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<usize>,
    /// The score of each split, or of all tested rows together; none if the setting could not be used.
    pub folds: Vec<f64>,
    /// Where scores are equal, less of this is better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tie: Option<f64>,
    /// The scores are of all tested rows together.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pooled: bool,
    /// The error, if the setting could not be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How long it took; settings of one path share its time.
    pub seconds: f64,
}

impl Trial {
    /// The mean over splits; NaN if undefined.
    pub fn mean(&self) -> f64 {
        self.folds.iter().sum::<f64>() / self.folds.len() as f64
    }

    /// Mean and spread.
    pub fn score(&self, measure: Measure) -> FoldScore {
        FoldScore { pooled: self.pooled, ..FoldScore::new(measure, self.folds.clone(), None) }
    }
}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchResult {
    /// All trials, in the order in which they were made.
    pub trials: Vec<Trial>,
    /// Which trial on all rows is best; none if no setting could be used.
    pub best: Option<usize>,
    /// It was stopped before its end.
    pub stopped: bool,
}

/// Searches.
pub fn search(
    search: &HyperparameterSearch<'_>,
    data: &Dataset,
    context: &Context<'_>,
    journal: &mut Journal,
) -> Result<SearchResult> {
    search.measure.check(data.task())?;
    let measures: Vec<Measure> =
        std::iter::once(search.measure).chain(search.measure.tie_breaker(data.task())).collect();
    let scorer = FoldScorer::new(data, search.splits, &measures, search.pool);
    let mut state =
        RunningSearch { search, data, context, journal, scorer, tie: measures.get(1).copied(), trials: Vec::new() };
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
    let tie = |trial: &Trial| trial.tie.unwrap_or(f64::INFINITY);
    let as_it_is =
        |trial: &Trial| trial.setting.iter().all(|(name, value)| search.learner.get(name).as_ref() == Some(value));
    let order = |a: &Trial, b: &Trial| {
        let decisive = sort_key(search.measure, a).total_cmp(&sort_key(search.measure, b));
        decisive.then(tie(a).total_cmp(&tie(b))).then(as_it_is(b).cmp(&as_it_is(a)))
    };
    let best = full.min_by(|&a, &b| order(&trials[a], &trials[b]));
    Ok(SearchResult { trials, best, stopped })
}

/// Lower is better; undefined scores are worst.
fn sort_key(measure: Measure, trial: &Trial) -> f64 {
    measure.sort_key(trial.mean())
}

/// A learner like this one with some parameters set.
pub fn with_setting(learner: &dyn Learner, setting: &Setting, context: &Context<'_>) -> Result<Box<dyn Learner>> {
    let mut copy = context.registry.learner(learner.info().name)?;
    learner.values().iter().try_for_each(|(name, value)| copy.set(name, value))?;
    setting.iter().try_for_each(|(name, value)| copy.set(name, value))?;
    Ok(copy)
}

impl HyperparameterSearch<'_> {
    /// Settings that share all but the path parameter, with the values of that one.
    fn batches(&self, seed: u64) -> Result<Vec<Batch>> {
        let path = self.learner.path().map(PathLearner::parameter);
        if self.strategy == Strategy::Listed {
            return Ok(grouped(self.space.listed(), path));
        }
        let (space, axis) = path.map_or((self.space.clone(), None), |name| self.space.without(name));
        let along = |points: usize| match (path, axis) {
            (Some(name), Some(axis)) => Some((name, axis.points(points))),
            _ => None,
        };
        let draw = |trials: usize| {
            let mut stream = Purpose::SearchSettings.stream(seed, &[]);
            // The learner as it is comes first: nothing that is found is worse.
            let (mut drawn, mut known) = (vec![Setting::new()], HashSet::new());
            for _ in 1..trials.max(1) {
                let setting = space.draw(&mut stream);
                // With few choices, repeated draws add nothing.
                if known.insert(format!("{setting:?}")) {
                    drawn.push(setting);
                }
            }
            drawn
        };
        let (settings, points): (Vec<Setting>, usize) = match self.strategy {
            Strategy::Grid { points } => (space.grid(points)?, points),
            Strategy::Random { trials } | Strategy::Halving { trials, .. } => (draw(trials), PATH_POINTS),
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
        if let Strategy::Halving { factor, .. } = self.strategy {
            while left > 1 {
                total += left;
                left = left.div_ceil(factor.max(2));
            }
        }
        Ok(Some(((total + left) * self.splits.len()) as u64))
    }
}

/// Default factor by which settings decrease and rows increase in each round of halving.
pub const FACTOR: usize = 3;

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

struct RunningSearch<'a, 'b> {
    search: &'a HyperparameterSearch<'b>,
    data: &'a Dataset,
    context: &'a Context<'a>,
    journal: &'a mut Journal,
    scorer: FoldScorer<'a>,
    /// Breaks ties between settings.
    tie: Option<Measure>,
    trials: Vec<Trial>,
}

impl RunningSearch<'_, '_> {
    fn run(&mut self) -> Result<()> {
        let mut batches = self.search.batches(self.context.seed)?;
        let mut done = 0;
        if let Strategy::Halving { factor, .. } = self.search.strategy {
            let (all, factor) = (self.search.splits.split(0).0.len(), factor.max(2));
            while batches.len() > 1 {
                let rungs = (batches.len() as f64).log(factor as f64).ceil() as u32;
                let rows = (all / factor.saturating_pow(rungs)).max(FEWEST_ROWS);
                let first = self.trials.len();
                for batch in &batches {
                    self.try_batch(batch, (rows < all).then_some(rows), &mut done)?;
                }
                batches = self.better_part(&batches, first, factor);
            }
        }
        for batch in &batches {
            self.try_batch(batch, None, &mut done)?;
        }
        Ok(())
    }

    /// The batches with the best trials among those made since `first`.
    fn better_part(&self, batches: &[Batch], first: usize, factor: usize) -> Vec<Batch> {
        let mut at = first;
        let mut results: Vec<(f64, &Batch)> = Vec::new();
        for batch in batches {
            let n = batch.settings().len();
            let best =
                self.trials[at..at + n].iter().map(|t| sort_key(self.search.measure, t)).fold(f64::INFINITY, f64::min);
            results.push((best, batch));
            at += n;
        }
        results.sort_by(|a, b| a.0.total_cmp(&b.0));
        results.into_iter().take(batches.len().div_ceil(factor)).map(|(_, batch)| batch.clone()).collect()
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
            let (results, failure) = match outcome {
                Ok(results) => (results, None),
                Err(Error::Stopped) => return Err(Error::Stopped),
                Err(error) => (settings.iter().map(|_| Vec::new()).collect(), Some(error.to_string())),
            };
            for (setting, results) in settings.into_iter().zip(results) {
                let error = failure.clone();
                let mut trial = Trial { setting, rows, folds: Vec::new(), tie: None, pooled: false, error, seconds };
                if trial.error.is_none() {
                    self.record(&mut trial, &results)?;
                }
                self.journal.add(&trial)?;
                self.trials.push(trial);
            }
        }
        let best =
            self.trials.iter().filter(|t| t.rows == rows).map(|t| sort_key(self.search.measure, t)).reduce(f64::min);
        let sign = if self.search.measure.higher_is_better() { -1.0 } else { 1.0 };
        let score = best.filter(|b| b.is_finite()).map(|b| (self.search.measure.title(), sign * b));
        report(self.context.observer, Event::Step { done: *done, score })
    }

    /// Writes the scores of a setting into its trial.
    fn record(&self, trial: &mut Trial, results: &[FoldResult]) -> Result<()> {
        let mut summary = self.scorer.summarize(results)?.into_iter();
        let Some(decisive) = summary.next() else { return Ok(()) };
        if let Some(why) = decisive.undefined {
            trial.error = Some(format!("{} is not defined in every split: {why}", self.search.measure.title()));
            return Ok(());
        }
        (trial.folds, trial.pooled) = (decisive.folds, decisive.pooled);
        let ties = summary.next().filter(|tie| tie.undefined.is_none());
        trial.tie =
            ties.zip(self.tie).map(|(tie, by)| by.sort_key(tie.folds.iter().sum::<f64>() / tie.folds.len() as f64));
        Ok(())
    }

    /// The result of each setting of a batch in each split.
    fn cross_validate(&self, batch: &Batch, rows: Option<usize>, done: u64) -> Result<Vec<Vec<FoldResult>>> {
        let learner = with_setting(self.search.learner, &batch.setting, self.context)?;
        let mut results: Vec<Vec<FoldResult>> = batch.settings().iter().map(|_| Vec::new()).collect();
        if let Some(results) = self.cross_validate_path(batch, &*learner, rows, done)? {
            return Ok(results);
        }
        // Many rows keep all cores busy by themselves, and their models take room.
        let at_once = if self.data.n_rows() <= FEW_ROWS { AT_ONCE } else { 1 };
        let parts = PartObserver(self.context.observer);
        let observer: &dyn Observer = if at_once > 1 { &parts } else { self.context.observer };
        let context = &Context { observer, ..*self.context };
        let of_split = |index: usize| {
            let (train, test) = self.search.splits.split(index);
            let train = self.data.select(&fewer(train, rows, context.seed, index))?;
            self.measured(batch, &*learner, &train, &self.data.select(&test)?, context)
        };
        let n_splits = self.search.splits.len();
        for first in (0..n_splits).step_by(at_once) {
            let n_some = at_once.min(n_splits - first);
            let measured: Vec<Vec<FoldResult>> =
                run(context.threads, || parallel::try_map(n_some, |i| of_split(first + i)))??;
            let done = done + (first + measured.len()) as u64;
            for of_split in measured {
                results.iter_mut().zip(of_split).for_each(|(of_setting, split)| of_setting.push(split));
            }
            report(self.context.observer, Event::Step { done, score: None })?;
        }
        Ok(results)
    }

    /// The same from work that the splits share, where the learner can.
    fn cross_validate_path(
        &self,
        batch: &Batch,
        learner: &dyn Learner,
        rows: Option<usize>,
        done: u64,
    ) -> Result<Option<Vec<Vec<FoldResult>>>> {
        let splits = self.search.splits;
        let Some((_, values)) = batch.path.as_ref().filter(|_| rows.is_none() && learner.path().is_some()) else {
            return Ok(None);
        };
        let context = Context { observer: &PartObserver(self.context.observer), ..*self.context };
        let Some(predicted) = predict_splits(learner, values, self.data, splits, &context)? else {
            return Ok(None);
        };
        let mut results: Vec<Vec<FoldResult>> = values.iter().map(|_| Vec::new()).collect();
        for (index, predictions) in predicted.into_iter().enumerate() {
            let test = self.data.select(&splits.split(index).1)?;
            for (of_setting, prediction) in results.iter_mut().zip(predictions) {
                of_setting.push(self.scorer.score(prediction, &test)?);
            }
            report(self.context.observer, Event::Step { done: done + index as u64 + 1, score: None })?;
        }
        Ok(Some(results))
    }

    /// What each setting of a batch says after learning from `train`.
    fn measured(
        &self,
        batch: &Batch,
        learner: &dyn Learner,
        train: &Dataset,
        test: &Dataset,
        context: &Context<'_>,
    ) -> Result<Vec<FoldResult>> {
        match &batch.path {
            Some((_, values)) if learner.path().is_some() => {
                let predictions = predict_path(learner, values, train, test, context)?;
                predictions.into_iter().map(|prediction| self.scorer.score(prediction, test)).collect()
            }
            _ => {
                let alone = |setting: &Setting| {
                    let model = fit(&*with_setting(self.search.learner, setting, context)?, train, context)?;
                    let test = in_classes_of(&model, test)?;
                    self.scorer.score(predict_classes_of(&model, &test)?, &test)
                };
                batch.settings().iter().map(alone).collect()
            }
        }
    }
}

/// At most `most` of the rows, at random.
fn fewer(mut rows: Vec<u32>, most: Option<usize>, seed: u64, split: usize) -> Vec<u32> {
    if let Some(most) = most.filter(|&most| most < rows.len()) {
        rng::shuffle(&mut Purpose::SearchRows.stream(seed, &[split as u64]), &mut rows);
        rows.truncate(most);
        rows.sort_unstable();
    }
    rows
}

/// How good a search is: in each outer split, the best setting found within its training rows alone is trained on them and tested.
pub fn nested(
    inner: &HyperparameterSearch<'_>,
    outer: &Splits,
    inner_splits: impl Fn(&Dataset) -> Result<Splits>,
    data: &Dataset,
    context: &Context<'_>,
) -> Result<(FoldScore, Vec<Setting>)> {
    let measures = [inner.measure];
    let scorer = FoldScorer::new(data, outer, &measures, inner.pool);
    let (mut results, mut settings) = (Vec::new(), Vec::new());
    for index in 0..outer.len() {
        let (train, test) = outer.split(index);
        let train = data.select(&train)?;
        let splits = inner_splits(&train)?;
        let within = HyperparameterSearch { splits: &splits, ..*inner };
        let found = search(&within, &train, context, &mut Journal::none())?;
        if found.stopped {
            return Err(Error::Stopped);
        }
        let best = found.best.ok_or_else(|| Error::data("no setting could be used"))?;
        let setting = found.trials[best].setting.clone();
        let model = fit(&*with_setting(inner.learner, &setting, context)?, &train, context)?;
        let test = in_classes_of(&model, &data.select(&test)?)?;
        results.push(scorer.score(predict_classes_of(&model, &test)?, &test)?);
        settings.push(setting);
    }
    let summary = scorer.summarize(&results)?.remove(0);
    Ok((FoldScore { pooled: summary.pooled, ..FoldScore::new(inner.measure, summary.folds, None) }, settings))
}
