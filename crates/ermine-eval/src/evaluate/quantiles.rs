//! How good predicted quantiles are: what each costs, and how many rows lie below it.
//!
//! **Formula.** The pinball loss of the quantile q of level a at truth y is `a (y - q)` where y is above q, else `(1 - a) (q - y)`; its mean is lowest at the true quantile. The coverage of
//! a quantile is the share of rows at or below it, which should be its level; that of a band is the share of rows from its lowest quantile to its highest.

use ermine_core::chart::text::number;
use ermine_core::error::Result;
use ermine_core::matrix::{Dataset, Task};
use ermine_core::metric::interval::{Score, mean, share};
use ermine_core::metric::{Weights, regression};
use ermine_core::model::Model;
use serde::Serialize;
use std::fmt;

/// How good the predicted quantile of a level is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QuantileScore {
    /// Its level: the share of rows that should be at or below it.
    pub level: f64,
    /// The mean pinball loss.
    pub pinball: Score,
    /// The share of rows at or below it.
    pub coverage: Score,
}

/// How good all quantiles of a model are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Quantiles {
    /// Each level that the model was trained for.
    pub levels: Vec<QuantileScore>,
    /// The mean of the pinball losses of all levels.
    pub mean_pinball: Score,
    /// The lowest and the highest level and the share of rows from the one to the other, where there are several.
    pub band: Option<(f64, f64, Score)>,
}

impl Quantiles {
    /// Compares quantiles (row by row, one for each level) with the truth.
    pub fn new(levels: &[f64], quantiles: &[f64], truth: &[f64], weights: Weights<'_>) -> Quantiles {
        let k = levels.len();
        let columns: Vec<Vec<f64>> = (0..k).map(|l| quantiles.iter().skip(l).step_by(k).copied().collect()).collect();
        let losses: Vec<Vec<f64>> = columns
            .iter()
            .zip(levels)
            .map(|(column, &level)| regression::pinball_losses(column, truth, 1, level).collect())
            .collect();
        let of_level = |l: usize| QuantileScore {
            level: levels[l],
            pinball: mean(losses[l].iter().copied(), weights),
            coverage: share(truth.iter().zip(&columns[l]).map(|(y, q)| y <= q), weights),
        };
        let mean_loss = (0..truth.len()).map(|row| losses.iter().map(|of| of[row]).sum::<f64>() / k as f64);
        let by_level = |a: &usize, b: &usize| levels[*a].total_cmp(&levels[*b]);
        let band = match ((0..k).min_by(by_level), (0..k).max_by(by_level)) {
            (Some(low), Some(high)) if levels[low] < levels[high] => {
                let inside = |row: usize| (columns[low][row]..=columns[high][row]).contains(&truth[row]);
                Some((levels[low], levels[high], share((0..truth.len()).map(inside), weights)))
            }
            _ => None,
        };
        Quantiles { levels: (0..k).map(of_level).collect(), mean_pinball: mean(mean_loss, weights), band }
    }

    /// The scores with their names: those of each level, the mean, the band.
    pub fn named(&self) -> Vec<(String, Score, String)> {
        let mut named = Vec::new();
        for QuantileScore { level, pinball, coverage } in &self.levels {
            named.push((format!("pinball loss ({level})"), *pinball, format!("error of the quantile {level}")));
            let says = format!("share of rows at or below the quantile {level}, which should be {level}");
            named.push((format!("coverage ({level})"), *coverage, says));
        }
        if self.levels.len() > 1 {
            named.push(("mean pinball loss".into(), self.mean_pinball, "mean over the quantiles".into()));
        }
        named.extend(self.band.iter().map(|(low, high, score)| {
            let should = ((high - low) * 1e9).round() / 1e9;
            let says =
                format!("share of rows from the quantile {low} to the quantile {high}, which should be {should}");
            (format!("coverage ({low} to {high})"), *score, says)
        }));
        named
    }
}

impl fmt::Display for Quantiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.named().iter().try_for_each(|(name, score, _)| {
            writeln!(f, "  {name:<22} {:>10}  [{}, {}]", number(score.value), number(score.low), number(score.high))
        })
    }
}

/// How good the quantiles are that a model was trained for; `None` if it was trained for none.
pub(super) fn evaluate(model: &Model, data: &Dataset) -> Result<Option<Quantiles>> {
    let levels = model.quantile_levels();
    if levels.is_empty() || data.task() != Task::Regression {
        return Ok(None);
    }
    let (truth, _) = data.values()?;
    let quantiles = model.quantiles(&model.schema().features_of_data(data)?, levels)?;
    Ok(Some(Quantiles::new(levels, &quantiles, truth, Weights::from(data.weight()))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn scores_equal_those_of_a_loop_over_rows(rows in prop::collection::vec((-4i8..5, -4i8..5, -4i8..5, 1u8..4), 1..30)) {
            let truth: Vec<f64> = rows.iter().map(|r| f64::from(r.0)).collect();
            let quantiles: Vec<f64> = rows.iter().flat_map(|r| [f64::from(r.1.max(r.2)), f64::from(r.1.min(r.2))]).collect();
            let weights: Vec<f64> = rows.iter().map(|r| f64::from(r.3)).collect();
            let total: f64 = weights.iter().sum();
            let found = Quantiles::new(&[0.8, 0.1], &quantiles, &truth, Weights::from(&weights[..]));
            let (mut pinball, mut below, mut inside) = ([0.0; 2], [0.0; 2], 0.0);
            for (row, (&y, w)) in truth.iter().zip(&weights).enumerate() {
                let q = &quantiles[row * 2..row * 2 + 2];
                for (k, a) in [0.8, 0.1].into_iter().enumerate() {
                    pinball[k] += w / total * if y > q[k] { a * (y - q[k]) } else { (1.0 - a) * (q[k] - y) };
                    below[k] += if y <= q[k] { w / total } else { 0.0 };
                }
                inside += if q[1] <= y && y <= q[0] { w / total } else { 0.0 };
            }
            for k in 0..2 {
                prop_assert!((found.levels[k].pinball.value - pinball[k]).abs() < 1e-9);
                prop_assert!((found.levels[k].coverage.value - below[k]).abs() < 1e-9);
            }
            prop_assert!((found.mean_pinball.value - (pinball[0] + pinball[1]) / 2.0).abs() < 1e-9);
            let (low, high, band) = found.band.unwrap();
            prop_assert_eq!((low, high), (0.1, 0.8));
            prop_assert!((band.value - inside).abs() < 1e-9);
        }
    }
}
