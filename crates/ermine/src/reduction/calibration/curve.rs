//! Calibration curves from scores to probabilities: sigmoid, isotonic regression and temperature scaling.
//!
//! ```text
//! sigmoid      p = 1 / (1 + exp(-(a f + b))), minimal log loss for the smoothed targets (n+ + 1)/(n+ + 2) and 1/(n- + 2) (Platt)
//! isotonic     the non-decreasing p of minimal squared error: pool adjacent violators, O(n log n) with the sort
//! temperature  p = softmax(z / t) with minimal log loss; convex in 1/t
//! ```
//! **References.** Platt 1999, with the Newton steps of Lin, Lin and Weng 2007; Ayer et al. 1955; Guo et al. 2017.

use serde::{Deserialize, Serialize};

/// A fitted calibration curve and its training loss.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibrator {
    /// The curve.
    pub curve: CalibrationCurve,
    /// Mean loss on the rows that the curve was fitted to.
    pub loss: f64,
}

/// A curve from scores to probabilities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CalibrationCurve {
    /// 1 / (1 + exp(-(a f + b))).
    Sigmoid {
        /// Slope.
        a: f64,
        /// Intercept.
        b: f64,
    },
    /// Piecewise linear between points, constant beyond them.
    Isotonic {
        /// Scores, in ascending order.
        scores: Vec<f64>,
        /// Probabilities, non-decreasing.
        probabilities: Vec<f64>,
    },
    /// softmax(z * inverse), for all classes at once.
    Temperature {
        /// Inverse of the temperature.
        inverse: f64,
    },
}

/// ln(1 + exp(x)) without overflow.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

fn logistic(x: f64) -> f64 {
    if x >= 0.0 { 1.0 / (1.0 + (-x).exp()) } else { x.exp() / (1.0 + x.exp()) }
}

/// Maximum number of iterations of Newton's method; about ten are usual.
const MAX_ITERATIONS: usize = 200;

/// Fits the sigmoid of minimal log loss.
pub fn sigmoid(f: &[f64], y: &[bool], w: &[f64]) -> Calibrator {
    let total: f64 = w.iter().sum();
    let positive: f64 = w.iter().zip(y).filter(|(_, y)| **y).map(|(w, _)| w).sum();
    let (high, low) = ((positive + 1.0) / (positive + 2.0), 1.0 / (total - positive + 2.0));
    let t = |i: usize| if y[i] { high } else { low };
    let loss = |a: f64, b: f64| -> f64 {
        (0..f.len()).map(|i| w[i] * (softplus(a * f[i] + b) - t(i) * (a * f[i] + b))).sum::<f64>() / total
    };
    let (mut a, mut b) = (0.0, ((positive + 1.0) / (total - positive + 1.0)).ln());
    let mut value = loss(a, b);
    for _ in 0..MAX_ITERATIONS {
        let (mut ga, mut gb, mut haa, mut hab, mut hbb) = (0.0, 0.0, 1e-12, 0.0, 1e-12);
        for i in 0..f.len() {
            let p = logistic(a * f[i] + b);
            let (d, h) = (w[i] / total * (p - t(i)), w[i] / total * p * (1.0 - p));
            ga += d * f[i];
            gb += d;
            haa += h * f[i] * f[i];
            hab += h * f[i];
            hbb += h;
        }
        let det = haa * hbb - hab * hab;
        let (da, db) = if det > 0.0 { ((hab * gb - hbb * ga) / det, (hab * ga - haa * gb) / det) } else { (-ga, -gb) };
        let slope = ga * da + gb * db;
        if ga.abs() + gb.abs() < 1e-12 || slope >= 0.0 {
            break;
        }
        let mut step = 1.0;
        while step > 1e-12 && loss(a + step * da, b + step * db) > value + 1e-4 * step * slope {
            step /= 2.0;
        }
        if step <= 1e-12 {
            break;
        }
        (a, b) = (a + step * da, b + step * db);
        value = loss(a, b);
    }
    Calibrator { curve: CalibrationCurve::Sigmoid { a, b }, loss: value }
}

/// Fits the non-decreasing curve of minimal squared error.
pub fn isotonic(f: &[f64], y: &[bool], w: &[f64]) -> Calibrator {
    let mut order: Vec<usize> = (0..f.len()).collect();
    order.sort_by(|&i, &j| f[i].total_cmp(&f[j]));
    /// Rows with the same fitted value: first and last score, total weight and mean target.
    struct PooledBlock {
        first: f64,
        last: f64,
        weight: f64,
        mean: f64,
    }
    let mut blocks: Vec<PooledBlock> = Vec::new();
    for run in order.chunk_by(|&i, &j| f[i] == f[j]) {
        let weight: f64 = run.iter().map(|&i| w[i]).sum();
        // An empty sum is -0.
        let mean = (0.0 + run.iter().filter(|&&i| y[i]).map(|&i| w[i]).sum::<f64>()) / weight;
        blocks.push(PooledBlock { first: f[run[0]], last: f[run[0]], weight, mean });
        while let [.., before, last] = &mut blocks[..] {
            if before.mean < last.mean {
                break;
            }
            before.mean = (before.mean * before.weight + last.mean * last.weight) / (before.weight + last.weight);
            before.weight += last.weight;
            before.last = last.last;
            blocks.pop();
        }
    }
    let (mut scores, mut probabilities) = (Vec::new(), Vec::new());
    for block in &blocks {
        scores.push(block.first);
        probabilities.push(block.mean);
        if block.last > block.first {
            scores.push(block.last);
            probabilities.push(block.mean);
        }
    }
    let curve = CalibrationCurve::Isotonic { scores, probabilities };
    let total: f64 = w.iter().sum();
    let square = |i: usize| w[i] * (curve.probability(f[i]) - f64::from(u8::from(y[i]))).powi(2);
    let loss = (0..f.len()).map(square).sum::<f64>() / total;
    Calibrator { curve, loss }
}

/// Fits the temperature of minimal log loss. `z` has `k` logarithms of unnormalized probabilities per row.
pub fn temperature(z: &[f64], k: usize, y: &[u32], w: &[f64]) -> Calibrator {
    let total: f64 = w.iter().sum();
    // Value and first two derivatives of the mean log loss with respect to b = 1/t.
    let at = |b: f64| {
        let (mut value, mut slope, mut curvature) = (0.0, 0.0, 0.0);
        for (i, z) in z.chunks(k).enumerate() {
            let largest = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let (mut sum, mut first, mut second) = (0.0, 0.0, 0.0);
            for &x in z {
                let e = (b * (x - largest)).exp();
                sum += e;
                first += e * (x - largest);
                second += e * (x - largest) * (x - largest);
            }
            let (mean, truth) = (first / sum, z[y[i] as usize] - largest);
            value += w[i] / total * (sum.ln() - b * truth);
            slope += w[i] / total * (mean - truth);
            curvature += w[i] / total * (second / sum - mean * mean);
        }
        (value, slope, curvature)
    };
    // The loss is convex: Newton steps inside a bracket, with bisection in log b if a step leaves it.
    let (mut low, mut high) = (1e-6f64, 1e6f64);
    let mut b = 1.0;
    for _ in 0..MAX_ITERATIONS {
        let (_, slope, curvature) = at(b);
        if slope > 0.0 {
            high = b;
        } else {
            low = b;
        }
        if slope.abs() < 1e-14 || high / low < 1.0 + 1e-14 {
            break;
        }
        let newton = b - slope / curvature;
        b = if curvature > 0.0 && newton > low && newton < high { newton } else { (low * high).sqrt() };
    }
    Calibrator { curve: CalibrationCurve::Temperature { inverse: b }, loss: at(b).0 }
}

impl CalibrationCurve {
    /// The probability of a score; for a temperature, the scaled score.
    pub fn probability(&self, f: f64) -> f64 {
        match self {
            CalibrationCurve::Sigmoid { a, b } => logistic(a * f + b),
            CalibrationCurve::Temperature { inverse } => inverse * f,
            CalibrationCurve::Isotonic { scores, probabilities } => {
                let above = scores.partition_point(|&s| s < f);
                if above == 0 {
                    return probabilities.first().copied().unwrap_or(0.5);
                }
                if above == scores.len() {
                    return probabilities[above - 1];
                }
                let (x0, x1) = (scores[above - 1], scores[above]);
                let (p0, p1) = (probabilities[above - 1], probabilities[above]);
                let share = if x1 - x0 > 0.0 && (x1 - x0).is_finite() { (f - x0) / (x1 - x0) } else { 0.5 };
                p0 + share * (p1 - p0)
            }
        }
    }

    /// Whether the parameters of a curve from a file are valid.
    pub fn is_valid(&self) -> bool {
        match self {
            CalibrationCurve::Sigmoid { a, b } => a.is_finite() && b.is_finite(),
            CalibrationCurve::Temperature { inverse } => inverse.is_finite() && *inverse > 0.0,
            CalibrationCurve::Isotonic { scores, probabilities } => {
                scores.len() == probabilities.len()
                    && !scores.is_empty()
                    && scores.windows(2).all(|pair| pair[0] <= pair[1])
                    && probabilities.iter().all(|p| (0.0..=1.0).contains(p))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The min-max formula: p_i = max over j <= i of min over k >= i of the mean from j to k.
        #[test]
        fn isotonic_regression_matches_the_min_max_formula(rows in prop::collection::vec((0u8..12, any::<bool>(), 1u8..4), 1..30)) {
            let f: Vec<f64> = rows.iter().map(|r| f64::from(r.0)).collect();
            let y: Vec<bool> = rows.iter().map(|r| r.1).collect();
            let w: Vec<f64> = rows.iter().map(|r| f64::from(r.2)).collect();
            let found = isotonic(&f, &y, &w);
            prop_assert!(found.curve.is_valid());
            let mean = |low: f64, high: f64| {
                let inside = || (0..f.len()).filter(|&i| f[i] >= low && f[i] <= high);
                inside().filter(|&i| y[i]).map(|i| w[i]).sum::<f64>() / inside().map(|i| w[i]).sum::<f64>()
            };
            for &x in &f {
                let upper = |low: f64| f.iter().filter(|&&h| h >= x).map(|&h| mean(low, h)).fold(f64::INFINITY, f64::min);
                let p = f.iter().filter(|&&l| l <= x).map(|&l| upper(l)).fold(f64::NEG_INFINITY, f64::max);
                prop_assert!((found.curve.probability(x) - p).abs() < 1e-12);
            }
        }

        /// No nearby sigmoid has a smaller loss, at any scale of the scores.
        #[test]
        fn sigmoid_minimizes_the_log_loss(rows in prop::collection::vec((-3.0f64..3.0, any::<bool>()), 2..40), scale in -3i32..4) {
            let scale = 10f64.powi(scale);
            let f: Vec<f64> = rows.iter().map(|r| r.0 * scale).collect();
            let y: Vec<bool> = rows.iter().map(|r| r.1).collect();
            let w = vec![1.0; f.len()];
            let found = sigmoid(&f, &y, &w);
            let CalibrationCurve::Sigmoid { a, b } = found.curve else { panic!() };
            let (n_pos, n) = (y.iter().filter(|y| **y).count() as f64, y.len() as f64);
            let loss = |a: f64, b: f64| -> f64 {
                f.iter().zip(&y).map(|(f, y)| {
                    let t = if *y { (n_pos + 1.0) / (n_pos + 2.0) } else { 1.0 / (n - n_pos + 2.0) };
                    softplus(a * f + b) - t * (a * f + b)
                }).sum::<f64>() / n
            };
            prop_assert!((loss(a, b) - found.loss).abs() < 1e-9);
            for (da, db) in [(1e-3, 0.0), (-1e-3, 0.0), (0.0, 1e-3), (0.0, -1e-3)] {
                prop_assert!(loss(a + da / scale, b + db) >= found.loss - 1e-10, "{a} {b}");
            }
        }

        /// Multiplying the scores by a factor multiplies the temperature by it.
        #[test]
        fn temperature_scales_with_the_scores(rows in prop::collection::vec((-2.0f64..2.0, -2.0f64..2.0, 0u32..3), 3..40)) {
            let z: Vec<f64> = rows.iter().flat_map(|r| [r.0, r.1, 0.0]).collect();
            let y: Vec<u32> = rows.iter().map(|r| r.2).collect();
            let w = vec![1.0; y.len()];
            // Equal scores don't depend on the temperature.
            prop_assume!(rows.iter().any(|r| r.0.abs() > 0.1));
            let found = temperature(&z, 3, &y, &w);
            let CalibrationCurve::Temperature { inverse } = found.curve else { panic!() };
            let hot: Vec<f64> = z.iter().map(|z| 5.0 * z).collect();
            let cooled = temperature(&hot, 3, &y, &w);
            let CalibrationCurve::Temperature { inverse: again } = cooled.curve else { panic!() };
            // At extreme temperatures the loss is flat and the minimum is ill-conditioned.
            prop_assume!(inverse > 1e-2 && inverse < 3.0);
            prop_assert!((again * 5.0 / inverse - 1.0).abs() < 1e-4, "{inverse} {again}");
            prop_assert!((cooled.loss - found.loss).abs() < 1e-9);
        }
    }
}
