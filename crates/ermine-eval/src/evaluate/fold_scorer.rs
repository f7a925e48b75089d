//! From the predictions of splits to their scores: of each split by itself, or of all tested rows together.
//!
//! A score that is a mean over rows may be averaged over splits of any size. A correlation, an area, a median or a root of one row, or of a few, says nothing, and its mean over
//! splits is that of something else (the root of one squared error is an absolute one). Where tested parts are that small, as they are where each row is left out by itself, such
//! scores are those of all tested rows together, once for each time that all rows were dealt.

use super::measure::Measure;
use super::outcome::Outcome;
use ermine_core::error::{Error, Result};
use ermine_core::matrix::{Dataset, Splits};
use ermine_core::model::Prediction;

/// Parts of fewer rows have no scores of their own but means.
pub const FEW_ROWS: usize = 10;

/// Judges what models say about the tested rows of splits.
pub(super) struct FoldScorer<'a> {
    data: &'a Dataset,
    splits: &'a Splits,
    measures: &'a [Measure],
    /// Which of the measures are told of all tested rows together.
    together: Vec<bool>,
}

/// What a model says about the tested rows of a split.
pub(super) struct FoldResult {
    /// By measure: the score, NaN where it can't be told, and why then.
    scores: Vec<(f64, Option<String>)>,
    /// The predictions, where some measures are told of all tested rows together.
    prediction: Option<Prediction>,
}

/// A measure over splits.
pub(super) struct MeasureOverFolds {
    /// A score for each split or, of all tested rows together, for each time that all rows were dealt.
    pub folds: Vec<f64>,
    /// It is of all tested rows together.
    pub pooled: bool,
    /// Why some score can't be told.
    pub undefined: Option<String>,
}

fn score(outcome: &Outcome<'_>, measure: Measure) -> (f64, Option<String>) {
    let value = outcome.values(&[measure])[0];
    (value, value.is_nan().then(|| outcome.why_undefined(measure)))
}

impl<'a> FoldScorer<'a> {
    /// By these measures; `pool` says whether small parts are told together.
    pub fn new(data: &'a Dataset, splits: &'a Splits, measures: &'a [Measure], pool: bool) -> FoldScorer<'a> {
        let small = pool && splits.least_tested() < FEW_ROWS && splits.len() > 1;
        let together = measures.iter().map(|measure| small && !measure.is_mean(data.task())).collect();
        FoldScorer { data, splits, measures, together }
    }

    /// Judges what a model says about the tested rows of a split, which `test` has in the classes of the model.
    pub fn score(&self, prediction: Prediction, test: &Dataset) -> Result<FoldResult> {
        let outcome = Outcome::new(&prediction, test)?;
        let each = self.measures.iter().zip(&self.together);
        let scores = each.map(|(m, together)| if *together { (f64::NAN, None) } else { score(&outcome, *m) }).collect();
        drop(outcome);
        Ok(FoldResult { scores, prediction: self.together.contains(&true).then_some(prediction) })
    }

    /// Each measure over all splits, of which these are the judgments in their order.
    pub fn summarize(&self, judged: &[FoldResult]) -> Result<Vec<MeasureOverFolds>> {
        let mut told: Vec<MeasureOverFolds> = (0..self.measures.len())
            .map(|k| MeasureOverFolds {
                folds: judged.iter().map(|split| split.scores[k].0).collect(),
                pooled: self.together[k],
                undefined: judged.iter().find_map(|split| split.scores[k].1.clone()),
            })
            .collect();
        if !self.together.contains(&true) {
            return Ok(told);
        }
        told.iter_mut().filter(|measure| measure.pooled).for_each(|measure| measure.folds.clear());
        for round in self.splits.rounds() {
            let prediction: Vec<&Prediction> =
                judged[round.clone()].iter().filter_map(|split| split.prediction.as_ref()).collect();
            let rows: Vec<u32> = round.flat_map(|index| self.splits.split(index).1).collect();
            let unlike = || Error::data("the models of some splits predict other things than those of others");
            let (prediction, tested) = (Prediction::stacked(&prediction).ok_or_else(unlike)?, self.data.select(&rows)?);
            let outcome = Outcome::new(&prediction, &tested)?;
            for (measure, told) in self.measures.iter().zip(&mut told).filter(|(_, told)| told.pooled) {
                let (value, why) = score(&outcome, *measure);
                told.folds.push(value);
                told.undefined = told.undefined.take().or(why);
            }
        }
        Ok(told)
    }
}
