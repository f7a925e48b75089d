//! Quantiles that hold on rows the model hasn't seen: conformalized quantile regression.
//!
//! **Idea.** Trees fit the quantiles of their training rows, and a band between two of them covers too few other rows. So the rows of each fold are predicted by a model that was trained without
//! them, and each quantile is moved by the quantile of the same level of the errors `y - q(x)` on these held-out rows. Among `n` errors that is the one of rank `(n + 1) level`, rounded away
//! from the middle, so that a band covers a new row with at least the probability that its levels promise, up to the difference between the models of the folds and the model of all rows.
//!
//! The coverage that is reported comes from rows that had no part in it: those of a fold, with the quantiles moved by the errors of the other folds.
//!
//! **Cost.** Five more trainings on small data, one on large data (`rounds::parts`).
//!
//! **Reference.** Romano, Patterson and Candès, Conformalized Quantile Regression, NeurIPS 2019; Vovk, Cross-conformal predictors, 2015.

use super::fitted::BoostedTrees;
use super::rounds;
use super::run::add_init_scores;
use crate::boost::booster::Booster;
use ermine_core::error::Result;
use ermine_core::loss::weighted_quantile;
use ermine_core::matrix::Dataset;

/// Held-out rows: what was predicted for them, what is true, and the fold they were held out in.
struct HeldOutRows {
    levels: Vec<f64>,
    /// One score for each level, row by row.
    scores: Vec<f64>,
    truth: Vec<f64>,
    weight: Vec<f64>,
    fold: Vec<usize>,
}

/// Moves the quantiles of a model by their errors on held-out rows. `train` trains a model like it on other rows. Returns it with notes on what was done.
pub(super) fn calibrate(
    fitted: BoostedTrees,
    data: &Dataset,
    seed: u64,
    train: impl Fn(&Dataset) -> Result<BoostedTrees>,
) -> Result<(BoostedTrees, Vec<String>)> {
    let parts = rounds::parts(data, seed)?;
    if parts.is_empty() {
        return Ok((fitted, vec!["the quantiles are not calibrated: there are too few rows".into()]));
    }
    let levels = fitted.levels.clone();
    let mut held_out =
        HeldOutRows { levels, scores: Vec::new(), truth: Vec::new(), weight: Vec::new(), fold: Vec::new() };
    for (number, (others, part)) in parts.iter().enumerate() {
        let model = train(others)?;
        held_out.scores.extend(add_init_scores(part, model.scores(part.features(), model.booster.n_rounds())?)?);
        held_out.truth.extend_from_slice(part.values()?.0);
        held_out.weight.extend((0..part.n_rows()).map(|row| part.row_weight(row)));
        // The rows of a single part are divided in two, so that each half is calibrated by the errors of the other.
        held_out.fold.extend((0..part.n_rows()).map(|row| if parts.len() > 1 { number } else { row % 2 }));
    }
    let offsets = held_out.offsets(|_| true);
    let start = fitted.booster.start().iter().zip(&offsets).map(|(start, offset)| start + offset).collect();
    let trees = (0..fitted.booster.n_trees()).map(|number| fitted.booster.tree(number)).collect::<Vec<_>>();
    let calibrated = BoostedTrees { booster: Booster::new(start, trees), ..fitted };
    Ok((calibrated, held_out.notes(parts.len())))
}

impl HeldOutRows {
    /// What each quantile is to be moved by, according to the errors of some rows.
    fn offsets(&self, uses: impl Fn(usize) -> bool) -> Vec<f64> {
        let (k, rows): (usize, Vec<usize>) =
            (self.levels.len(), (0..self.truth.len()).filter(|&row| uses(row)).collect());
        let n = rows.len() as f64;
        let offset = |(output, &level): (usize, &f64)| {
            let error = |&row: &usize| (self.truth[row] - self.scores[row * k + output], self.weight[row]);
            let mut errors: Vec<(f64, f64)> = rows.iter().map(error).collect();
            let rank = (n + 1.0) * level;
            let rank = if level > 0.5 { rank.ceil() } else { rank.floor().max(1.0) };
            // Half a row below its rank: rounding must not lead to the next one.
            weighted_quantile(&mut errors, (rank - 0.5) / n).unwrap_or(0.0)
        };
        self.levels.iter().enumerate().map(offset).collect()
    }

    /// The weighted share of the rows between the lowest and the highest quantile, which are moved as `offsets` says for each fold; for one quantile, the share at or below it.
    fn coverage(&self, offsets: impl Fn(usize) -> Vec<f64>) -> f64 {
        let n_folds = self.fold.iter().max().map_or(0, |last| last + 1);
        let offsets: Vec<Vec<f64>> = (0..n_folds).map(offsets).collect();
        let inside = |row: usize| {
            let scores = &self.scores[row * self.levels.len()..(row + 1) * self.levels.len()];
            let moved = scores.iter().zip(&offsets[self.fold[row]]).map(|(score, offset)| score + offset);
            let (low, high) =
                moved.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), q| (q.min(low), q.max(high)));
            self.truth[row] <= high && (self.levels.len() == 1 || self.truth[row] >= low)
        };
        let covered: f64 = (0..self.truth.len()).filter(|&row| inside(row)).map(|row| self.weight[row]).sum();
        covered / self.weight.iter().sum::<f64>()
    }

    fn notes(&self, n_parts: usize) -> Vec<String> {
        let before = self.coverage(|_| vec![0.0; self.levels.len()]);
        let after = self.coverage(|fold| self.offsets(|row| self.fold[row] != fold));
        let (low, high) =
            self.levels.iter().fold((1.0f64, 0.0f64), |(low, high), &level| (level.min(low), level.max(high)));
        let how = match n_parts {
            1 => "on rows that were held out".to_string(),
            n => format!("by cross-validation in {n} folds"),
        };
        let what = match self.levels.len() {
            1 => format!("at or below the quantile {high}"),
            _ => format!("between the quantiles {low} and {high}"),
        };
        vec![format!(
            "the quantiles are calibrated {how}: {:.1} % of {} held-out rows are {what} ({:.1} % without calibration)",
            100.0 * after,
            self.truth.len(),
            100.0 * before,
        )]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without features the quantiles of all rows are those of the target, and errors of ranks 1 to 9 are known.
    #[test]
    fn offsets_are_errors_of_the_right_rank() {
        let held_out = HeldOutRows {
            levels: vec![0.1, 0.5, 0.9],
            scores: vec![0.0; 27],
            truth: (1..10).rev().map(f64::from).collect(),
            weight: vec![1.0; 9],
            fold: vec![0; 9],
        };
        assert_eq!(held_out.offsets(|_| true), [1.0, 5.0, 9.0]);
        // Ranks of 4 rows with the errors 9, 8, 7, 6: 5 * 0.1 rounded down but at least 1, 5 * 0.5 rounded down, and 5 * 0.9 rounded up, at most 4.
        assert_eq!(held_out.offsets(|row| row < 4), [6.0, 7.0, 9.0]);
    }
}
