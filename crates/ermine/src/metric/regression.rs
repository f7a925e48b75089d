//! Scores of numbers: root mean squared error, mean absolute error, R2. Several outputs are averaged.

use super::{Score, mean};

/// The square root of the mean squared error.
pub fn rmse(predicted: &[f64], truth: &[f64], n_outputs: usize, weight: impl Fn(usize) -> f64) -> Score {
    let mse = mse(predicted, truth, n_outputs, weight);
    Score { value: mse.value.sqrt(), low: mse.low.max(0.0).sqrt(), high: mse.high.sqrt() }
}

/// The mean absolute error.
pub fn mae(predicted: &[f64], truth: &[f64], n_outputs: usize, weight: impl Fn(usize) -> f64) -> Score {
    let k = n_outputs as f64;
    let rows = predicted.chunks(n_outputs).zip(truth.chunks(n_outputs));
    mean(rows.map(|(p, t)| p.iter().zip(t).map(|(p, t)| (p - t).abs() / k).sum()), weight)
}

/// The share of the variance that is explained: 1 - squared error / squared error of the mean. The interval follows from that of the
/// squared error.
pub fn r2(predicted: &[f64], truth: &[f64], n_outputs: usize, weight: impl Fn(usize) -> f64 + Copy) -> Score {
    let total: f64 = (0..truth.len() / n_outputs).map(weight).sum();
    let mut means = vec![0.0; n_outputs];
    for (row, ys) in truth.chunks(n_outputs).enumerate() {
        means.iter_mut().zip(ys).for_each(|(mean, y)| *mean += weight(row) * y / total);
    }
    let of_mean = mse(&means.repeat(truth.len() / n_outputs), truth, n_outputs, weight).value;
    let of_model = mse(predicted, truth, n_outputs, weight);
    let explained = |error: f64| match (of_mean > 0.0, error > 0.0) {
        (true, _) => 1.0 - error / of_mean,
        (false, false) => 1.0,
        (false, true) => 0.0,
    };
    Score { value: explained(of_model.value), low: explained(of_model.high), high: explained(of_model.low.max(0.0)) }
}

fn mse(predicted: &[f64], truth: &[f64], n_outputs: usize, weight: impl Fn(usize) -> f64) -> Score {
    let k = n_outputs as f64;
    let rows = predicted.chunks(n_outputs).zip(truth.chunks(n_outputs));
    mean(rows.map(|(p, t)| p.iter().zip(t).map(|(p, t)| (p - t).powi(2) / k).sum()), weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_the_textbook_ones() {
        let (predicted, truth) = ([1.0, 2.0, 3.0], [1.0, 2.0, 5.0]);
        assert!((rmse(&predicted, &truth, 1, |_| 1.0).value - (4.0f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!((mae(&predicted, &truth, 1, |_| 1.0).value - 2.0 / 3.0).abs() < 1e-12);
        let r2_score = r2(&predicted, &truth, 1, |_| 1.0).value;
        assert!((r2_score - (1.0 - 4.0 / (26.0 / 3.0))).abs() < 1e-12, "{r2_score}");
        assert_eq!(r2(&[2.0, 2.0], &[2.0, 2.0], 1, |_| 1.0).value, 1.0);
    }
}
