//! Learning curves and validation curves.
//!
//! | curve | reads as |
//! |---|---|
//! | learning curve | scores by training set size: if the test score still rises, more rows help; if the training score is far above it, the model overfits |
//! | learning curve on a test set | the same, tested on another table |
//! | validation curve | scores by the value of one parameter: the test score is best between underfitting and overfitting |

use super::cross_validation::{FoldScore, Validation, cross_validate};
use super::fold_scorer::FoldScorer;
use super::measure::Measure;
use super::search::with_setting;
use super::space::Setting;
use crate::evaluate::{Evaluate, in_classes_of, predict_classes_of};
use ermine_core::error::{Error, Result};
use ermine_core::learner::{Context, Learner, fit};
use ermine_core::matrix::Dataset;
use ermine_core::param::Value;
use ermine_core::progress::{Event, report};
use ermine_core::rng::{self, Purpose};
use serde::Serialize;

/// A point of a curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CurvePoint {
    /// The training set size, or the value of the parameter.
    pub at: Value,
    /// Test and training scores.
    pub score: FoldScore,
}

/// Training set sizes of a learning curve. Smaller training sets are subsets of larger ones.
#[derive(Debug, Clone, Copy)]
pub enum TrainSizes<'a> {
    /// Shares of the rows of each split, each from 0 to 1, drawn at random.
    Fractions(&'a [f64]),
    /// The first rows of each split.
    First(&'a [usize]),
}

impl TrainSizes<'_> {
    fn check(self) -> Result<usize> {
        match self {
            TrainSizes::Fractions(shares) => check_shares(shares).map(|()| shares.len()),
            TrainSizes::First(numbers) if numbers.contains(&0) => {
                Err(Error::data("a learning curve needs numbers of rows above 0"))
            }
            TrainSizes::First(numbers) => Ok(numbers.len()),
        }
    }

    /// The rows of a point among those that a split learns from.
    fn rows(self, at: usize, mut train: Vec<u32>, seed: u64, split: usize) -> Vec<u32> {
        match self {
            TrainSizes::Fractions(shares) => {
                rng::shuffle(&mut Purpose::LearningCurveRows.stream(seed, &[split as u64]), &mut train);
                train.truncate(n_of_share(shares[at], train.len()));
                train.sort_unstable();
            }
            TrainSizes::First(numbers) => train.truncate(numbers[at]),
        }
        train
    }
}

/// Scores of models that learned from some of the rows.
pub fn learning_curve(
    learner: &dyn Learner,
    data: &Dataset,
    validation: &Validation<'_>,
    sizes: TrainSizes<'_>,
    context: &Context<'_>,
) -> Result<Vec<CurvePoint>> {
    let n_points = sizes.check()?;
    let measure = first_measure(validation)?;
    let measures = [measure];
    let scorer = FoldScorer::new(data, validation.splits, &measures, validation.pool);
    let n_steps = (n_points * validation.splits.len()) as u64;
    report(context.observer, Event::Begin { what: "drawing the learning curve", total: Some(n_steps) })?;
    let mut points = Vec::with_capacity(n_points);
    for at in 0..n_points {
        let (mut tested, mut learned, mut n_rows) = (Vec::new(), Vec::new(), 0);
        for index in 0..validation.splits.len() {
            let (train, test) = validation.splits.split(index);
            let train = sizes.rows(at, train, context.seed, index);
            n_rows = train.len();
            let train = data.select(&train)?;
            let model = fit(learner, &train, context)?;
            let test = in_classes_of(&model, &data.select(&test)?)?;
            tested.push(scorer.score(predict_classes_of(&model, &test)?, &test)?);
            learned.push(model.measure(&train, &[measure])?[0]);
            let done = (at * validation.splits.len() + index + 1) as u64;
            report(context.observer, Event::Step { done, score: None })?;
        }
        let summary = scorer.summarize(&tested)?.remove(0);
        let score = FoldScore { pooled: summary.pooled, ..FoldScore::new(measure, summary.folds, Some(learned)) };
        points.push(CurvePoint { at: Value::Int(n_rows as i64), score });
    }
    report(context.observer, Event::End)?;
    Ok(points)
}

/// The same for one table to learn from and another to test on.
pub fn learning_curve_on(
    learner: &dyn Learner,
    train: &Dataset,
    test: &Dataset,
    measure: Measure,
    shares: &[f64],
    context: &Context<'_>,
) -> Result<Vec<CurvePoint>> {
    check_shares(shares)?;
    let mut rows: Vec<u32> = (0..train.n_rows() as u32).collect();
    rng::shuffle(&mut Purpose::LearningCurveRows.stream(context.seed, &[]), &mut rows);
    let point = |share: &f64| {
        let mut some = rows[..n_of_share(*share, rows.len())].to_vec();
        some.sort_unstable();
        let part = train.select(&some)?;
        let model = fit(learner, &part, context)?;
        let (tested, learned) = (model.measure(test, &[measure])?, model.measure(&part, &[measure])?);
        Ok(CurvePoint { at: Value::Int(some.len() as i64), score: FoldScore::new(measure, tested, Some(learned)) })
    };
    shares.iter().map(point).collect()
}

fn check_shares(shares: &[f64]) -> Result<()> {
    match shares.iter().find(|share| !(**share > 0.0 && **share <= 1.0)) {
        Some(share) => {
            Err(Error::data(format!("the shares of a learning curve must be above 0 and at most 1 (got {share})")))
        }
        None => Ok(()),
    }
}

fn n_of_share(share: f64, n: usize) -> usize {
    ((share * n as f64).round() as usize).clamp(1, n)
}

/// Scores of a learner for each of some values of one parameter.
pub fn validation_curve(
    learner: &dyn Learner,
    data: &Dataset,
    validation: &Validation<'_>,
    parameter: &str,
    values: &[Value],
    context: &Context<'_>,
) -> Result<Vec<CurvePoint>> {
    let measure = first_measure(validation)?;
    let validation = Validation { measures: &[measure], train_scores: true, ..*validation };
    let point = |value: &Value| {
        let setting = Setting::from([(parameter.to_string(), value.clone())]);
        let validated = cross_validate(&*with_setting(learner, &setting, context)?, data, &validation, context)?;
        validated.check_defined(Some(measure), &[])?;
        let undefined = || Error::data(format!("{} is not defined in every split", measure.title()));
        Ok(CurvePoint { at: value.clone(), score: validated.scores.into_iter().next().ok_or_else(undefined)? })
    };
    values.iter().map(point).collect()
}

fn first_measure(validation: &Validation<'_>) -> Result<Measure> {
    validation.measures.first().copied().ok_or_else(|| Error::data("a curve needs a measure"))
}
