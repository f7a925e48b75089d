//! Scores of cross-validation: per split, or on the pooled test rows.
//!
//! A score that is a mean over rows can be averaged over splits of any size. A correlation, an area, a median or a root of few rows is meaningless, and its mean over splits is something else
//! (the root of a single squared error is an absolute error). If test sets are that small, as in leave-one-out, such scores are computed on the pooled test rows, once per repetition.

use super::measure::Measure;
use super::outcome::Outcome;
use ermine_core::error::{Error, Result};
use ermine_core::matrix::{Dataset, Splits};
use ermine_core::model::Prediction;

/// Smaller test sets only have scores that are means over rows.
pub const FEW_ROWS: usize = 10;

/// Computes the scores of splits.
pub(super) struct FoldScorer<'a> {
    data: &'a Dataset,
    splits: &'a Splits,
    measures: &'a [Measure],
    /// Which metrics are computed on the pooled test rows.
    together: Vec<bool>,
}

/// The scores of a split.
pub(super) struct FoldResult {
    /// Per metric: the score, or NaN and the reason why it is undefined.
    scores: Vec<(f64, Option<String>)>,
    /// The predictions, if some metrics are computed on the pooled test rows.
    prediction: Option<Prediction>,
}

/// A metric over splits.
pub(super) struct MeasureOverFolds {
    /// A score per split or, if pooled, per repetition.
    pub folds: Vec<f64>,
    /// Whether test rows are pooled.
    pub pooled: bool,
    /// Why a score is undefined.
    pub undefined: Option<String>,
}

fn score(outcome: &Outcome<'_>, measure: Measure) -> (f64, Option<String>) {
    let value = outcome.values(&[measure])[0];
    (value, value.is_nan().then(|| outcome.why_undefined(measure)))
}

impl<'a> FoldScorer<'a> {
    /// With these metrics; `pool`: whether small test sets are pooled.
    pub fn new(data: &'a Dataset, splits: &'a Splits, measures: &'a [Measure], pool: bool) -> FoldScorer<'a> {
        let small = pool && splits.min_test_size() < FEW_ROWS && splits.len() > 1;
        let together = measures.iter().map(|measure| small && !measure.is_mean(data.task())).collect();
        FoldScorer { data, splits, measures, together }
    }

    /// Scores the predictions for the test rows of a split; `test` has the class codes of the model.
    pub fn score(&self, prediction: Prediction, test: &Dataset) -> Result<FoldResult> {
        let outcome = Outcome::new(&prediction, test)?;
        let each = self.measures.iter().zip(&self.together);
        let scores = each.map(|(m, together)| if *together { (f64::NAN, None) } else { score(&outcome, *m) }).collect();
        drop(outcome);
        Ok(FoldResult { scores, prediction: self.together.contains(&true).then_some(prediction) })
    }

    /// Combines the results of all splits, given in order.
    pub fn summarize(&self, results: &[FoldResult]) -> Result<Vec<MeasureOverFolds>> {
        let mut summaries: Vec<MeasureOverFolds> = (0..self.measures.len())
            .map(|k| MeasureOverFolds {
                folds: results.iter().map(|split| split.scores[k].0).collect(),
                pooled: self.together[k],
                undefined: results.iter().find_map(|split| split.scores[k].1.clone()),
            })
            .collect();
        if !self.together.contains(&true) {
            return Ok(summaries);
        }
        summaries.iter_mut().filter(|measure| measure.pooled).for_each(|measure| measure.folds.clear());
        for round in self.splits.rounds() {
            let prediction: Vec<&Prediction> =
                results[round.clone()].iter().filter_map(|split| split.prediction.as_ref()).collect();
            let rows: Vec<u32> = round.flat_map(|index| self.splits.split(index).1).collect();
            let unlike = || Error::data("the models of some splits predict other things than those of others");
            let (prediction, tested) = (Prediction::stacked(&prediction).ok_or_else(unlike)?, self.data.select(&rows)?);
            let outcome = Outcome::new(&prediction, &tested)?;
            for (measure, summary) in self.measures.iter().zip(&mut summaries).filter(|(_, summary)| summary.pooled) {
                let (value, why) = score(&outcome, *measure);
                summary.folds.push(value);
                summary.undefined = summary.undefined.take().or(why);
            }
        }
        Ok(summaries)
    }
}
