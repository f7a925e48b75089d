//! Scores: how good predictions are.
//!
//! A score that is a mean over rows (error rate, log loss, squared error, ...) is given by its row losses, so that its uncertainty follows from
//! their spread: mean ± 1.96 s / sqrt(n_eff), with the effective number of rows n_eff = (sum w)^2 / sum w^2.

pub mod classification;
pub mod regression;

/// A score with the interval that 95 % of repetitions would contain.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Score {
    /// The score.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// The quantile of the normal distribution that leaves 2.5 % above it.
const Z: f64 = 1.959963984540054;

/// The weighted mean of row losses, with its interval from their spread.
pub fn mean(losses: impl Iterator<Item = f64> + Clone, weight: impl Fn(usize) -> f64) -> Score {
    let (mut total, mut squares, mut sum) = (0.0, 0.0, 0.0);
    for (row, loss) in losses.clone().enumerate() {
        let w = weight(row);
        total += w;
        squares += w * w;
        sum += w * loss;
    }
    let mean = sum / total;
    let spread: f64 = losses.enumerate().map(|(row, loss)| weight(row) * (loss - mean).powi(2)).sum::<f64>() / total;
    let n_effective = total * total / squares;
    let half = Z * (spread / (n_effective - 1.0).max(1.0)).sqrt();
    // No loss is negative, whatever the normal approximation says of a few rows.
    Score { value: mean, low: (mean - half).max(0.0), high: mean + half }
}

/// A share of right or wrong rows with Wilson's interval, which stays inside 0 and 1.
pub fn share(hits: impl Iterator<Item = bool>, weight: impl Fn(usize) -> f64) -> Score {
    let (mut total, mut squares, mut sum) = (0.0, 0.0, 0.0);
    for (row, hit) in hits.enumerate() {
        let w = weight(row);
        total += w;
        squares += w * w;
        sum += if hit { w } else { 0.0 };
    }
    let (p, n) = (sum / total, total * total / squares);
    let centre = (p + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    Score { value: p, low: (centre - half).clamp(0.0, p), high: (centre + half).clamp(p, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_the_textbook_ones() {
        // 8 of 10: Wilson's interval is 0.490 to 0.943.
        let score = share((0..10).map(|i| i < 8), |_| 1.0);
        assert!((score.low - 0.4902).abs() < 1e-4 && (score.high - 0.9433).abs() < 1e-4, "{score:?}");
        let score = mean([1.0, 2.0, 3.0].into_iter(), |_| 1.0);
        assert!((score.value - 2.0).abs() < 1e-12 && (score.high - 2.0 - 1.96 / 3f64.sqrt()).abs() < 1e-3, "{score:?}");
    }

    #[test]
    fn whole_weights_count_as_repeated_rows_in_the_value() {
        let weighted = mean([1.0, 5.0].into_iter(), |row| [3.0, 1.0][row]);
        assert_eq!(weighted.value, mean([1.0, 1.0, 1.0, 5.0].into_iter(), |_| 1.0).value);
    }
}
