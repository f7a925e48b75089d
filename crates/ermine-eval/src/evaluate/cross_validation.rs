//! Cross-validation: rows are predicted by models that have not seen them.
//!
//! **No leakage.** Everything that is fitted (encoders, bins, imputation, target statistics) is fitted inside the training part, because all of it
//! happens inside `fit`.
//!
//! **Errors.** The mean over splits is the estimate; the spread shown is the standard deviation over splits. (Splits share training rows, so
//! the spread is not an exact confidence interval: Bengio and Grandvalet, 2004.) If test sets are small, metrics that are not means over rows are computed on the pooled test rows.

use super::custom::CustomMetric;
use super::fold_scorer::{FoldScorer, MeasureOverFolds};
use super::measure::Measure;
use super::outcome::undefined::undefined_error;
use super::quantiles;
use crate::evaluate::{Evaluate, in_classes_of, predict_classes_of};
use ermine_core::chart::text::number;
use ermine_core::error::Result;
use ermine_core::learner::{Context, Learner, fit};
use ermine_core::matrix::{Dataset, Splits};
use ermine_core::model::Model;
use ermine_core::model::certificate::Status;
use ermine_core::progress::{Event, report};
use serde::Serialize;
use std::fmt;

/// The name of the loss of all quantiles.
const MEAN_PINBALL: &str = "mean pinball loss";

/// A metric over splits.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FoldScore {
    /// Its name.
    pub name: &'static str,
    /// The mean over test sets.
    pub mean: f64,
    /// The standard deviation over test sets.
    pub deviation: f64,
    /// Whether higher is better.
    pub higher_is_better: bool,
    /// The score of each test set.
    pub folds: Vec<f64>,
    /// Whether it is computed on the pooled test rows, because test sets are too small: one score per repetition.
    pub pooled: bool,
    /// The training score of each split, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub train: Option<Vec<f64>>,
}

/// The result of cross-validating one learner. The first score is what learners are compared by.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CrossValidation {
    /// The scores, the most important first, then those of custom metrics, then the mean pinball loss of quantile models; those that are undefined in some split are left out.
    pub scores: Vec<FoldScore>,
    /// Undefined metrics, and the reasons.
    #[serde(skip)]
    pub undefined: Vec<(Measure, String)>,
    /// Number of splits in which training reached a limit (iterations, time) before it converged.
    pub not_converged: usize,
}

impl CrossValidation {
    /// An error unless the requested metric, if any, is defined in every split.
    pub fn check_defined(&self, requested: Option<Measure>, measures: &[Measure]) -> Result<()> {
        let Some((measure, why)) = self.undefined.iter().find(|(measure, _)| Some(*measure) == requested) else {
            return Ok(());
        };
        let defined = measures.iter().copied().filter(|m| self.scores.iter().any(|score| score.name == m.title()));
        Err(undefined_error(*measure, &format!("in some split {why}"), defined))
    }
}

/// The inputs of cross-validation.
#[derive(Debug, Clone, Copy)]
pub struct Validation<'a> {
    /// Train/test splits.
    pub splits: &'a Splits,
    /// Metrics, most important first.
    pub measures: &'a [Measure],
    /// Whether training scores are computed too.
    pub train_scores: bool,
    /// Whether metrics that are not means over rows are computed on the pooled test rows if test sets are small.
    pub pool: bool,
    /// Custom metrics, whose scores follow those of the metrics.
    pub custom: &'a [CustomMetric],
}

impl<'a> Validation<'a> {
    /// These measures on the tested rows of these splits. Scores that are not a mean over rows are computed over all tested rows together if the tested parts are small.
    pub fn new(splits: &'a Splits, measures: &'a [Measure]) -> Validation<'a> {
        Validation { splits, measures, train_scores: false, pool: true, custom: &[] }
    }

    /// The same with custom metrics.
    pub fn with_custom(self, custom: &'a [CustomMetric]) -> Validation<'a> {
        Validation { custom, ..self }
    }
}

/// Cross-validates a learner.
pub fn cross_validate(
    learner: &dyn Learner,
    data: &Dataset,
    validation: &Validation<'_>,
    context: &Context<'_>,
) -> Result<CrossValidation> {
    let n = validation.splits.len();
    let what = format!("cross-validating {}", learner.info().name);
    report(context.observer, Event::Begin { what: &what, total: Some(n as u64) })?;
    let scorer = FoldScorer::new(data, validation.splits, validation.measures, validation.pool);
    let (mut tested, mut trained) = (Vec::with_capacity(n), Vec::with_capacity(n));
    let mut custom: Vec<CustomScores> = vec![CustomScores::default(); validation.custom.len()];
    let (mut tested_pinball, mut trained_pinball) = (Vec::new(), Vec::new());
    let mut not_converged = 0;
    for index in 0..n {
        let (train, test) = validation.splits.split(index);
        let train = data.select(&train)?;
        let model = fit(learner, &train, context)?;
        not_converged += usize::from(model.certificate().status != Status::Done);
        let test = in_classes_of(&model, &data.select(&test)?)?;
        let prediction = predict_classes_of(&model, &test)?;
        for (metric, scores) in validation.custom.iter().zip(&mut custom) {
            scores.tested.push(metric.score(&prediction, &test)?);
            if validation.train_scores {
                scores.trained.push(metric.evaluate(&model, &train)?);
            }
        }
        tested.push(scorer.score(prediction, &test)?);
        tested_pinball.extend(mean_pinball(&model, &test)?);
        if validation.train_scores {
            trained_pinball.extend(mean_pinball(&model, &train)?);
            trained.push(model.measure(&train, validation.measures)?);
        }
        report(context.observer, Event::Step { done: index as u64 + 1, score: None })?;
    }
    report(context.observer, Event::End)?;
    let column = |rows: &[Vec<f64>], k: usize| rows.iter().map(|row| row[k]).collect::<Vec<f64>>();
    let mut found = CrossValidation { scores: Vec::new(), undefined: Vec::new(), not_converged };
    for (k, (measure, summary)) in validation.measures.iter().zip(scorer.summarize(&tested)?).enumerate() {
        let MeasureOverFolds { folds, pooled, undefined } = summary;
        let train = validation.train_scores.then(|| column(&trained, k));
        match undefined {
            Some(why) => found.undefined.push((*measure, why)),
            None => found.scores.push(FoldScore { pooled, ..FoldScore::new(*measure, folds, train) }),
        }
    }
    for (metric, scores) in validation.custom.iter().zip(custom) {
        let train = validation.train_scores.then_some(scores.trained);
        let score = FoldScore::spread(metric.name(), metric.higher_is_better(), scores.tested);
        found.scores.push(FoldScore { train, ..score });
    }
    if !tested_pinball.is_empty() {
        let train = validation.train_scores.then_some(trained_pinball);
        found.scores.push(FoldScore { train, ..FoldScore::spread(MEAN_PINBALL, false, tested_pinball) });
    }
    Ok(found)
}

/// The mean pinball loss of all quantiles that a model was trained for; `None` if there are none.
fn mean_pinball(model: &Model, data: &Dataset) -> Result<Option<f64>> {
    Ok(quantiles::evaluate(model, data)?.map(|quantiles| quantiles.mean_pinball.value))
}

/// The scores of a custom metric, split by split.
#[derive(Debug, Clone, Default)]
struct CustomScores {
    tested: Vec<f64>,
    trained: Vec<f64>,
}

impl fmt::Display for CrossValidation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.scores.iter().map(|score| score.folds.len()).max().unwrap_or(0);
        writeln!(f, "mean and standard deviation over {n} splits")?;
        for FoldScore { name, mean, deviation, .. } in &self.scores {
            writeln!(f, "  {name:<18} {:>10}  ± {}", number(*mean), number(*deviation))?;
        }
        Ok(())
    }
}

impl FoldScore {
    /// Mean and standard deviation over splits.
    pub fn new(measure: Measure, folds: Vec<f64>, train: Option<Vec<f64>>) -> FoldScore {
        FoldScore { train, ..FoldScore::spread(measure.title(), measure.higher_is_better(), folds) }
    }

    /// The same by the name of a measure, without the scores of rows that were learned from.
    pub fn spread(name: &'static str, higher_is_better: bool, folds: Vec<f64>) -> FoldScore {
        let n = folds.len() as f64;
        let mean = folds.iter().sum::<f64>() / n;
        let variance = folds.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        FoldScore { name, mean, deviation: variance.sqrt(), higher_is_better, folds, pooled: false, train: None }
    }
}
