//! Scores of probabilities: log loss, Brier score and calibration.

use super::Weights;
use serde::Serialize;

/// Probabilities are clipped to this distance from 0 and 1, so that the log loss stays finite.
const LEAST_PROBABILITY: f64 = f64::EPSILON;

/// -ln p(true class) of each row; `probabilities` has `n_classes` per row.
pub fn log_losses<'a>(
    probabilities: &'a [f64],
    n_classes: usize,
    truth: &'a [u32],
) -> impl ExactSizeIterator<Item = f64> + Clone + 'a {
    truth.iter().enumerate().map(move |(row, &class)| {
        let p = probabilities[row * n_classes + class as usize];
        -p.clamp(LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY).ln()
    })
}

/// The squared error of the probabilities of each row: of one probability for two classes, as defined by Brier; summed over classes for more.
pub fn brier_losses<'a>(
    probabilities: &'a [f64],
    n_classes: usize,
    truth: &'a [u32],
) -> impl ExactSizeIterator<Item = f64> + Clone + 'a {
    let scale = if n_classes == 2 { 0.5 } else { 1.0 };
    truth.iter().enumerate().map(move |(row, &class)| {
        let each = probabilities[row * n_classes..][..n_classes].iter().enumerate();
        let distance = |(k, p): (usize, &f64)| (p - f64::from(u8::from(k == class as usize))).powi(2);
        scale * each.map(distance).sum::<f64>()
    })
}

/// A calibration bin.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bin {
    /// Mean predicted probability.
    pub predicted: f64,
    /// Observed frequency.
    pub observed: f64,
    /// Total weight of the rows.
    pub weight: f64,
}

/// Predicted and observed frequencies in `n_bins` bins of equal width, without empty bins.
pub fn calibration(probabilities: &[f64], happened: &[bool], n_bins: usize, weights: Weights<'_>) -> Vec<Bin> {
    let step = 1.0 / n_bins as f64;
    let mut bins = vec![Bin { predicted: 0.0, observed: 0.0, weight: 0.0 }; n_bins];
    for (row, (&p, &y)) in probabilities.iter().zip(happened).enumerate() {
        // The upper end belongs to the bin.
        let mut at = ((p * n_bins as f64) as usize).min(n_bins - 1);
        at -= usize::from(at > 0 && p <= at as f64 * step);
        at += usize::from(at + 1 < n_bins && p > (at + 1) as f64 * step);
        let w = weights.of(row);
        bins[at].predicted += w * p;
        bins[at].observed += if y { w } else { 0.0 };
        bins[at].weight += w;
    }
    bins.retain(|bin| bin.weight > 0.0);
    bins.iter_mut().for_each(|bin| {
        bin.predicted /= bin.weight;
        bin.observed /= bin.weight;
    });
    bins
}

/// The expected calibration error: the mean difference between predicted and observed frequencies over the bins.
pub fn calibration_error(bins: &[Bin]) -> f64 {
    let total: f64 = bins.iter().map(|bin| bin.weight).sum();
    bins.iter().map(|bin| bin.weight * (bin.predicted - bin.observed).abs()).sum::<f64>() / total
}
