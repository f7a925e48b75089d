//! What early stopping watches: the loss itself, or a measure of the predictions. Lower is better for all of them.
//!
//! | measure | for |
//! |---|---|
//! | error rate | classes: the share of rows whose most probable class is wrong |
//! | 1 - AUC | two classes: the share of pairs (one row of each class) that stand in the wrong order, ties by half |
//! | mean absolute error, root mean squared error | numbers |
//!
//! A measure that doesn't fit the task is refused before training (`check`). Ranking's loss is 1 - NDCG@10.

use crate::choice;
use crate::error::{Error, Result};
use crate::matrix::{Dataset, Target};

choice! {
    /// What early stopping watches.
    pub enum EvalMetric {
        /// The loss that is minimised; 1 - NDCG@10 in ranking.
        Loss = "loss",
        /// The share of rows whose class is predicted wrong.
        ErrorRate = "error_rate",
        /// One minus the area under the ROC curve, of two classes.
        Auc = "auc",
        /// The mean absolute error of numbers.
        MeanAbsoluteError = "mae",
        /// The root mean squared error of numbers.
        RootMeanSquaredError = "rmse",
    }
}

/// Refuses a measure that doesn't fit the target.
pub(super) fn check(metric: EvalMetric, data: &Dataset) -> Result<()> {
    let fits = match (metric, data.target()) {
        (EvalMetric::Loss, _) => true,
        (EvalMetric::ErrorRate, target) => matches!(target, Target::Classes { .. }),
        (EvalMetric::Auc, target) => matches!(target, Target::Classes { labels, .. } if labels.len() == 2),
        (_, target) => matches!(target, Target::Values { .. }),
    };
    if fits { Ok(()) } else { Err(Error::data(format!("eval_metric = {metric} doesn't fit this target"))) }
}

/// The measure of predictions, row by row.
pub(super) fn value(metric: EvalMetric, data: &Dataset, predictions: &[f64]) -> f64 {
    let mean = |of: &dyn Fn(usize) -> f64| {
        let total: f64 = (0..data.n_rows()).map(|row| data.row_weight(row)).sum();
        (0..data.n_rows()).map(|row| data.row_weight(row) * of(row)).sum::<f64>() / total
    };
    match (data.target(), metric) {
        (Target::Classes { codes, .. }, EvalMetric::Auc) => {
            let second: Vec<f64> = predictions.chunks(2).map(|p| p[1]).collect();
            wrong_pairs(&second, codes, &|row| data.row_weight(row))
        }
        (Target::Classes { codes, labels }, _) => mean(&|row| {
            let said = &predictions[row * labels.len()..(row + 1) * labels.len()];
            let most = (0..said.len()).fold(0, |best, class| if said[class] > said[best] { class } else { best });
            f64::from(u8::from(most != codes[row] as usize))
        }),
        (Target::Values { values, n_outputs: k }, metric) => {
            let apart = |row: usize| (row * k..(row + 1) * k).map(|i| predictions[i] - values[i]);
            match metric {
                EvalMetric::MeanAbsoluteError => mean(&|row| apart(row).map(f64::abs).sum::<f64>() / *k as f64),
                _ => mean(&|row| apart(row).map(|d| d * d).sum::<f64>() / *k as f64).sqrt(),
            }
        }
    }
}

/// The weighted share of pairs of a row of class 1 and one of class 0 in which the second scores higher; ties count half.
fn wrong_pairs(scores: &[f64], codes: &[u32], weight: &dyn Fn(usize) -> f64) -> f64 {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    let (mut wrong, mut positive_below, mut totals) = (0.0, 0.0, [0.0; 2]);
    for tied in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
        let of = |class: u32| tied.iter().filter(|&&row| codes[row] == class).map(|&row| weight(row)).sum::<f64>();
        let (negative, positive) = (of(0), of(1));
        wrong += negative * (positive_below + positive / 2.0);
        positive_below += positive;
        totals = [totals[0] + negative, totals[1] + positive];
    }
    let pairs = totals[0] * totals[1];
    if pairs > 0.0 { wrong / pairs } else { 0.5 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn wrong_pairs_are_counted_as_one_by_one(rows in prop::collection::vec((0u8..6, 0u32..2, 0.5f64..2.0), 2..30)) {
            let scores: Vec<f64> = rows.iter().map(|r| f64::from(r.0)).collect();
            let codes: Vec<u32> = rows.iter().map(|r| r.1).collect();
            let (mut wrong, mut pairs) = (0.0, 0.0);
            for a in rows.iter().filter(|r| r.1 == 1) {
                for b in rows.iter().filter(|r| r.1 == 0) {
                    let w = a.2 * b.2;
                    pairs += w;
                    wrong += if a.0 < b.0 { w } else if a.0 == b.0 { w / 2.0 } else { 0.0 };
                }
            }
            prop_assume!(pairs > 0.0);
            prop_assert!((wrong_pairs(&scores, &codes, &|row| rows[row].2) - wrong / pairs).abs() < 1e-9);
        }
    }
}
