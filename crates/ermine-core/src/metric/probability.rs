//! Scores of probabilities: log loss, Brier score, and calibration: whether what is said to happen in p of all cases does.

use super::Weights;
use serde::Serialize;

/// Probabilities closer to 0 or 1 than this count as this far away, so that one sure mistake isn't infinitely bad.
const LEAST_PROBABILITY: f64 = f64::EPSILON;

/// -ln p(true class) of each row; `probabilities` has `n_classes` for each.
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

/// The squared distance between probabilities and truth of each row. Of two classes it is that of the one's probability, as Brier had it;
/// of more the sum over classes.
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

/// Rows whose predicted probabilities are about the same.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bin {
    /// The mean of the predicted probabilities.
    pub predicted: f64,
    /// The share in which it did happen.
    pub observed: f64,
    /// The weight of the rows.
    pub weight: f64,
}

/// Predicted against observed shares, in `n_bins` bins of equal width; empty ones are left out.
pub fn calibration(probabilities: &[f64], happened: &[bool], n_bins: usize, weights: Weights<'_>) -> Vec<Bin> {
    let step = 1.0 / n_bins as f64;
    let mut bins = vec![Bin { predicted: 0.0, observed: 0.0, weight: 0.0 }; n_bins];
    for (row, (&p, &y)) in probabilities.iter().zip(happened).enumerate() {
        // The bin's upper end belongs to it.
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

/// The mean distance between predicted and observed shares over the bins (expected calibration error).
pub fn calibration_error(bins: &[Bin]) -> f64 {
    let total: f64 = bins.iter().map(|bin| bin.weight).sum();
    bins.iter().map(|bin| bin.weight * (bin.predicted - bin.observed).abs()).sum::<f64>() / total
}
