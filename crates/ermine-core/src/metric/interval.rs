//! 95 % confidence intervals of scores.
//!
//! | score | interval |
//! |---|---|
//! | a share of rows | Wilson's, which stays inside 0 and 1 |
//! | a mean over rows | mean ± 1.96 s / sqrt(n_eff), with n_eff = (sum w)^2 / sum w^2 |
//! | anything else | bootstrap: the middle 95 % of the scores on rows resampled with replacement (Efron 1979) |

use super::Weights;
use crate::parallel;
use crate::rng::{self, Purpose};
use serde::Serialize;

/// A score with its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Score {
    /// The score.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// The 97.5 % quantile of the normal distribution.
const Z: f64 = 1.959963984540054;

/// Total weight and effective number of rows.
fn totals(n: usize, weights: Weights<'_>) -> (f64, f64) {
    let (total, squares) =
        (0..n).map(|row| weights.of(row)).fold((0.0, 0.0), |(total, squares), w| (total + w, squares + w * w));
    (total, total * total / squares)
}

/// The weighted mean of nonnegative row losses with its normal interval.
pub fn mean(losses: impl ExactSizeIterator<Item = f64> + Clone, weights: Weights<'_>) -> Score {
    mean_within(losses, weights, 0.0, f64::INFINITY)
}

/// The weighted mean of bounded values with its normal interval.
pub fn mean_within(
    losses: impl ExactSizeIterator<Item = f64> + Clone,
    weights: Weights<'_>,
    least: f64,
    most: f64,
) -> Score {
    let (total, n_effective) = totals(losses.len(), weights);
    let value = weights.mean(losses.clone());
    let spread = losses.enumerate().map(|(row, loss)| weights.of(row) * (loss - value).powi(2)).sum::<f64>() / total;
    let half = Z * (spread / (n_effective - 1.0).max(1.0)).sqrt();
    Score { value, low: (value - half).max(least), high: (value + half).min(most) }
}

/// A share of rows with Wilson's interval.
pub fn share(hits: impl ExactSizeIterator<Item = bool>, weights: Weights<'_>) -> Score {
    let (total, n) = totals(hits.len(), weights);
    let p = hits.enumerate().map(|(row, hit)| if hit { weights.of(row) } else { 0.0 }).sum::<f64>() / total;
    let center = (p + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    Score { value: p, low: (center - half).clamp(0.0, p), high: (center + half).clamp(p, 1.0) }
}

/// Several scores with bootstrap intervals. `scores` computes all of them for given row weights, NaN if undefined; it is called for the given weights and for several hundred resamples. The
/// result does not depend on the number of threads.
pub fn bootstrap(n_rows: usize, weights: Weights<'_>, scores: impl Fn(Weights<'_>) -> Vec<f64> + Sync) -> Vec<Score> {
    let values = scores(weights);
    // Enough for two accurate digits; fewer for many rows, where the interval is narrow anyway.
    let n_draws = (10_000_000 / n_rows.max(1)).clamp(200, 1000);
    let draws: Vec<Vec<f64>> = parallel::map(n_draws, |draw| {
        let mut stream = Purpose::Bootstrap.stream(0, &[draw as u64]);
        let mut drawn = vec![0.0; n_rows];
        for _ in 0..n_rows {
            let row = rng::below(&mut stream, n_rows);
            drawn[row] += weights.of(row);
        }
        scores(Weights::resampled(&drawn))
    });
    let interval = |(k, &value): (usize, &f64)| {
        let mut defined: Vec<f64> = draws.iter().map(|draw| draw[k]).filter(|x| !x.is_nan()).collect();
        defined.sort_by(f64::total_cmp);
        let at = |share: f64| defined.get((share * (defined.len().max(1) - 1) as f64).round() as usize).copied();
        let (low, high) = (at(0.025).unwrap_or(value), at(0.975).unwrap_or(value));
        Score { value, low: low.min(value), high: high.max(value) }
    };
    values.iter().enumerate().map(interval).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_match_textbook_values() {
        // 8 of 10: Wilson's interval is 0.490 to 0.943.
        let score = share((0..10).map(|i| i < 8), Weights::EQUAL);
        assert!((score.low - 0.4902).abs() < 1e-4 && (score.high - 0.9433).abs() < 1e-4, "{score:?}");
        let score = mean([1.0, 2.0, 3.0].into_iter(), Weights::EQUAL);
        assert!((score.value - 2.0).abs() < 1e-12 && (score.high - 2.0 - 1.96 / 3f64.sqrt()).abs() < 1e-3, "{score:?}");
    }

    #[test]
    fn integer_weights_count_as_repeated_rows_in_the_value() {
        let weighted = mean([1.0, 5.0].into_iter(), Weights::from(&[3.0, 1.0][..]));
        assert_eq!(weighted.value, mean([1.0, 1.0, 1.0, 5.0].into_iter(), Weights::EQUAL).value);
    }

    #[test]
    fn the_bootstrap_of_a_mean_is_close_to_its_normal_interval() {
        let losses: Vec<f64> = (0..400).map(|i| f64::from(i * 7919 % 1000) / 1000.0).collect();
        let normal = mean(losses.iter().copied(), Weights::EQUAL);
        let drawn = bootstrap(400, Weights::EQUAL, |w| vec![w.mean(losses.iter().copied()), f64::NAN]);
        assert_eq!(drawn[0].value, normal.value);
        assert!((drawn[0].low - normal.low).abs() < 0.01 && (drawn[0].high - normal.high).abs() < 0.01, "{drawn:?}");
        assert!(drawn[1].value.is_nan());
    }
}
