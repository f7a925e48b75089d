//! Regression metrics. With several outputs, values are stored row by row, and scores are means over the outputs.

use super::Weights;

/// Targets and predictions of one output.
fn output<'a>(
    predicted: &'a [f64],
    truth: &'a [f64],
    n_outputs: usize,
    k: usize,
) -> impl ExactSizeIterator<Item = (f64, f64)> + Clone + 'a {
    let n = truth.len() / n_outputs;
    (0..n).map(move |row| (predicted[row * n_outputs + k], truth[row * n_outputs + k]))
}

fn mean_over_outputs(n_outputs: usize, score: impl Fn(usize) -> f64) -> f64 {
    (0..n_outputs).map(score).sum::<f64>() / n_outputs as f64
}

/// Mean squared error.
pub fn mse(predicted: &[f64], truth: &[f64], n_outputs: usize, weights: Weights<'_>) -> f64 {
    mean_over_outputs(n_outputs, |k| {
        weights.mean(output(predicted, truth, n_outputs, k).map(|(p, t)| (p - t) * (p - t)))
    })
}

/// Root mean squared error.
pub fn rmse(predicted: &[f64], truth: &[f64], n_outputs: usize, weights: Weights<'_>) -> f64 {
    mean_over_outputs(n_outputs, |k| {
        weights.mean(output(predicted, truth, n_outputs, k).map(|(p, t)| (p - t) * (p - t))).sqrt()
    })
}

/// The absolute error of each row.
pub fn absolute_errors<'a>(
    predicted: &'a [f64],
    truth: &'a [f64],
    n_outputs: usize,
) -> impl ExactSizeIterator<Item = f64> + Clone + 'a {
    let n = truth.len() / n_outputs;
    (0..n).map(move |row| {
        let each = predicted[row * n_outputs..][..n_outputs].iter().zip(&truth[row * n_outputs..][..n_outputs]);
        each.map(|(p, t)| (p - t).abs()).sum::<f64>() / n_outputs as f64
    })
}

/// The absolute error of each row relative to its target. As in scikit-learn, a target of 0 is replaced by machine epsilon.
pub fn absolute_percentage_errors<'a>(
    predicted: &'a [f64],
    truth: &'a [f64],
    n_outputs: usize,
) -> impl ExactSizeIterator<Item = f64> + Clone + 'a {
    let relative = |(p, t): (&f64, &f64)| (p - t).abs() / t.abs().max(f64::EPSILON);
    let rows = predicted.chunks_exact(n_outputs).zip(truth.chunks_exact(n_outputs));
    rows.map(move |(p, t)| p.iter().zip(t).map(relative).sum::<f64>() / n_outputs as f64)
}

/// Root mean squared error of ln(1 + x); NaN if a value is -1 or less.
pub fn rmsle(predicted: &[f64], truth: &[f64], n_outputs: usize, weights: Weights<'_>) -> f64 {
    if predicted.iter().chain(truth).any(|x| !(*x > -1.0)) {
        return f64::NAN;
    }
    let logs = |numbers: &[f64]| numbers.iter().map(|x| x.ln_1p()).collect::<Vec<f64>>();
    rmse(&logs(predicted), &logs(truth), n_outputs, weights)
}

/// Weighted median of the absolute errors.
pub fn median_absolute_error(predicted: &[f64], truth: &[f64], n_outputs: usize, weights: Weights<'_>) -> f64 {
    mean_over_outputs(n_outputs, |k| {
        let mut errors: Vec<(f64, f64)> = output(predicted, truth, n_outputs, k)
            .enumerate()
            .map(|(row, (p, t))| ((p - t).abs(), weights.of(row)))
            .filter(|error| error.1 > 0.0)
            .collect();
        errors.sort_by(|a, b| a.0.total_cmp(&b.0));
        let half = errors.iter().map(|e| e.1).sum::<f64>() / 2.0;
        // If half of the weight is reached exactly, the midpoint of this error and the next.
        let fuzz = 1e-12 * half;
        let mut below = 0.0;
        for (i, &(error, w)) in errors.iter().enumerate() {
            below += w;
            if below > half + fuzz {
                return error;
            }
            if below >= half - fuzz {
                return (error + errors.get(i + 1).map_or(error, |next| next.0)) / 2.0;
            }
        }
        f64::NAN
    })
}

/// Coefficient of determination: 1 - squared error / squared error of the mean. If the target is constant, 1 for a perfect prediction and 0 otherwise; NaN for a single row.
pub fn r2(predicted: &[f64], truth: &[f64], n_outputs: usize, weights: Weights<'_>) -> f64 {
    if truth.len() < 2 * n_outputs {
        return f64::NAN;
    }
    mean_over_outputs(n_outputs, |k| {
        let rows = output(predicted, truth, n_outputs, k);
        let mut counted = rows.clone().enumerate().filter(|(row, _)| weights.of(*row) > 0.0).map(|(_, (_, t))| t);
        // The mean of equal numbers may be rounded, so the squared error would not be 0.
        let constant = counted.next().is_none_or(|first| counted.all(|t| t == first));
        let mean = weights.mean(rows.clone().map(|(_, t)| t));
        let of_mean = weights.mean(rows.clone().map(|(_, t)| (t - mean) * (t - mean)));
        let of_model = weights.mean(rows.map(|(p, t)| (p - t) * (p - t)));
        match (!constant && of_mean > 0.0, of_model > 0.0) {
            (true, _) => 1.0 - of_model / of_mean,
            (false, false) => 1.0,
            (false, true) => 0.0,
        }
    })
}

/// The pinball loss of each row.
pub fn pinball_losses<'a>(
    predicted: &'a [f64],
    truth: &'a [f64],
    n_outputs: usize,
    level: f64,
) -> impl ExactSizeIterator<Item = f64> + Clone + 'a {
    let loss = move |(p, t): (&f64, &f64)| if t >= p { level * (t - p) } else { (1.0 - level) * (p - t) };
    let rows = predicted.chunks_exact(n_outputs).zip(truth.chunks_exact(n_outputs));
    rows.map(move |(p, t)| p.iter().zip(t).map(loss).sum::<f64>() / n_outputs as f64)
}

/// The deviance of each row under a Tweedie distribution: power 0 is normal, 1 Poisson, 2 Gamma, in between compound Poisson, 3 inverse Gaussian. `None` if a value is outside the support.
pub fn deviances(predicted: &[f64], truth: &[f64], power: f64) -> Option<Vec<f64>> {
    let possible = |(&m, &y): (&f64, &f64)| {
        power == 0.0 || (m > 0.0 && (y > 0.0 || (y == 0.0 && (1.0..2.0).contains(&power)))) || (power < 0.0 && m > 0.0)
    };
    if (power > 0.0 && power < 1.0) || !predicted.iter().zip(truth).all(possible) {
        return None;
    }
    let y_ln = |y: f64, x: f64| if y == 0.0 { 0.0 } else { y * x.ln() };
    let deviance = |(&m, &y): (&f64, &f64)| {
        if power == 0.0 {
            (y - m) * (y - m)
        } else if power == 1.0 {
            2.0 * (y_ln(y, y / m) - y + m)
        } else if power == 2.0 {
            2.0 * ((m / y).ln() + y / m - 1.0)
        } else {
            let (a, b) = (1.0 - power, 2.0 - power);
            2.0 * (y.max(0.0).powf(b) / (a * b) - y * m.powf(a) / a + m.powf(b) / b)
        }
    };
    Some(predicted.iter().zip(truth).map(deviance).collect())
}
