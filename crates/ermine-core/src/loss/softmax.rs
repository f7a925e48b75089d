//! The multinomial logistic loss `ln sum_k exp(z_k) - z_y`: minus the log-likelihood of class `y` when the classes'
//! log-odds are `z`. Its gradient is `p - e_y` with the probabilities `p = softmax(z)`, its Hessian `diag(p) - p p'`.
//!
//! Scores are stored row by row ([`softmax`], [`softmax_rows`]), or in one list per class ([`ClassScores`]).

use super::logistic::LEAST_SHARE;
use crate::linalg::lanes::LANES;
use crate::simd::exp::exp;

/// [`softmax`] for use in functions that are compiled per instruction set themselves.
#[inline(always)]
pub(super) fn softmax_body(z: &mut [f64]) -> f64 {
    let top = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for z in z.iter_mut() {
        *z = exp(*z - top);
        sum += *z;
    }
    let inverse = 1.0 / sum;
    z.iter_mut().for_each(|p| *p *= inverse);
    top + sum.ln()
}

crate::versions! {
    /// Replaces the scores of one row by the probabilities of the classes and returns `ln sum_k exp(z_k)`.
    pub fn softmax(z: &mut [f64]) -> f64 {
        softmax_body(z)
    }

    /// Replaces rows of `width` scores (a multiple of eight, padded with minus infinity) by class probabilities and writes `ln sum_k exp(z_k)` of each row to `normalizers`.
    pub fn softmax_rows(z: &mut [f64], width: usize, normalizers: &mut [f64]) {
        for (row, top) in z.chunks_exact_mut(width).zip(normalizers.iter_mut()) {
            let mut tops = [f64::NEG_INFINITY; LANES];
            for group in row.chunks_exact(LANES) {
                for l in 0..LANES {
                    tops[l] = if group[l] > tops[l] { group[l] } else { tops[l] };
                }
            }
            *top = tops.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.iter_mut().for_each(|z| *z -= *top);
        }
        // All rows in one loop, which vectorizes well.
        z.iter_mut().for_each(|z| *z = exp(*z));
        for (row, normalizer) in z.chunks_exact_mut(width).zip(normalizers) {
            let mut sums = [0.0; LANES];
            for group in row.chunks_exact(LANES) {
                for l in 0..LANES {
                    sums[l] += group[l];
                }
            }
            let sum: f64 = sums.iter().sum();
            let inverse = 1.0 / sum;
            row.iter_mut().for_each(|p| *p *= inverse);
            *normalizer += sum.ln();
        }
    }

    /// The largest score of each row, and the reciprocal of the sum of the exponentials of the differences from it.
    fn normalize(scores: &[&[f64]], top: &mut [f64], inverse: &mut [f64]) {
        top.copy_from_slice(scores[0]);
        for scores in &scores[1..] {
            top.iter_mut().zip(*scores).for_each(|(top, &s)| *top = if s > *top { s } else { *top });
        }
        inverse.fill(0.0);
        for scores in scores {
            for ((sum, &top), &s) in inverse.iter_mut().zip(&*top).zip(*scores) {
                *sum += exp(s - top);
            }
        }
        inverse.iter_mut().for_each(|sum| *sum = 1.0 / *sum);
    }

    fn class_derivatives(class: f64, y: &[f64], scores: &[f64], norm: (&[f64], &[f64], f64), gradient: &mut [f32], curvature: &mut [f32]) {
        let (n, (top, inverse, factor)) = (scores.len(), norm);
        let (y, top, inverse) = (&y[..n], &top[..n], &inverse[..n]);
        let (gradient, curvature) = (&mut gradient[..n], &mut curvature[..n]);
        for i in 0..n {
            let p = exp(scores[i] - top[i]) * inverse[i];
            gradient[i] = (p - if y[i] == class { 1.0 } else { 0.0 }) as f32;
            curvature[i] = (factor * p * (1.0 - p)) as f32;
        }
    }
}

/// The loss of one row: `ln sum_k exp(z_k) - z_y`.
pub fn value(z: &[f64], y: usize) -> f64 {
    let top = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = z.iter().map(|z| exp(z - top)).sum();
    top - z[y] + sum.ln()
}

/// Scores of some rows, one list per class; targets are class codes.
pub struct ClassScores<'a> {
    scores: &'a [&'a [f64]],
    top: Vec<f64>,
    inverse: Vec<f64>,
}

impl<'a> ClassScores<'a> {
    /// The scores of each class.
    pub fn new(scores: &'a [&'a [f64]]) -> ClassScores<'a> {
        let n = scores.first().map_or(0, |scores| scores.len());
        let (mut top, mut inverse) = (vec![0.0; n], vec![0.0; n]);
        if n > 0 {
            normalize(scores, &mut top, &mut inverse);
        }
        ClassScores { scores, top, inverse }
    }

    /// Gradient and curvature with respect to the score of a class. The curvature is `K / (K - 1) p (1 - p)`, which bounds the Hessian for scores that sum to a constant (Friedman
    /// 2001, section 4.6).
    pub fn derivatives(&self, class: usize, y: &[f64], gradient: &mut [f32], curvature: &mut [f32]) {
        let k = self.scores.len() as f64;
        let norm = (&self.top[..], &self.inverse[..], k / (k - 1.0));
        class_derivatives(class as f64, y, self.scores[class], norm, gradient, curvature);
    }

    /// The weighted sum of the losses, added in order.
    pub fn weighted_sum(&self, y: &[f64], weights: Option<&[f64]>) -> f64 {
        let value = |i: usize| self.top[i] - self.inverse[i].ln() - self.scores[y[i] as usize][i];
        (0..self.top.len()).map(|i| weights.map_or(1.0, |w| w[i]) * value(i)).sum()
    }
}

/// The constant scores that minimize the weighted sum of losses: the logarithms of the class shares, which are kept away from 0.
pub fn best_constants(y: &[f64], weights: Option<&[f64]>, n_classes: usize) -> Vec<f64> {
    let mut shares = vec![0.0; n_classes];
    y.iter().enumerate().for_each(|(i, &y)| shares[y as usize] += weights.map_or(1.0, |w| w[i]));
    let total = weights.map_or(y.len() as f64, |w| w.iter().sum());
    shares.into_iter().map(|share| (share / total).max(LEAST_SHARE).ln()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{Logistic, Loss};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_gradient_matches_finite_differences(z in prop::collection::vec(-20.0f64..20.0, 2..6), which in 0usize..100) {
            let y = which % z.len();
            let mut p = z.clone();
            let normalizer = softmax(&mut p);
            prop_assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            prop_assert!((normalizer - z[y] - value(&z, y)).abs() < 1e-12);
            for k in 0..z.len() {
                let shifted = |h: f64| {
                    let mut z = z.clone();
                    z[k] += h;
                    value(&z, y)
                };
                let slope = (shifted(1e-6) - shifted(-1e-6)) / 2e-6;
                let gradient = p[k] - if k == y { 1.0 } else { 0.0 };
                prop_assert!((slope - gradient).abs() < 1e-7);
            }
        }

        #[test]
        fn softmax_rows_equals_softmax_of_each_row(z in prop::collection::vec(-800.0f64..800.0, 0..40), classes in 1usize..12) {
            let (n, width) = (z.len() / classes, classes.next_multiple_of(LANES));
            let mut rows: Vec<f64> = (0..n * width)
                .map(|i| if i % width < classes { z[i / width * classes + i % width] } else { f64::NEG_INFINITY })
                .collect();
            let mut normalizers = vec![0.0; n];
            softmax_rows(&mut rows, width, &mut normalizers);
            for i in 0..n {
                let mut row = z[i * classes..(i + 1) * classes].to_vec();
                let normalizer = softmax(&mut row);
                prop_assert!((normalizer - normalizers[i]).abs() <= 1e-12 * normalizer.abs().max(1.0));
                for k in 0..width {
                    let truth = row.get(k).copied().unwrap_or(0.0);
                    prop_assert!((rows[i * width + k] - truth).abs() <= 1e-14);
                }
            }
        }

        #[test]
        fn scores_by_class_and_by_row_agree(
            z in prop::collection::vec(-20.0f64..20.0, 3..40), weight in 0.1f64..3.0,
        ) {
            let (n, k) = (z.len() / 3, 3);
            let columns: Vec<Vec<f64>> = (0..k).map(|class| z[..n * k].iter().skip(class).step_by(k).copied().collect()).collect();
            let views: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
            let y: Vec<f64> = (0..n).map(|i| (i % k) as f64).collect();
            let scores = ClassScores::new(&views);
            let total: f64 = (0..n).map(|i| weight * value(&z[i * k..(i + 1) * k], i % k)).sum();
            prop_assert!((scores.weighted_sum(&y, Some(&vec![weight; n])) - total).abs() <= 1e-12 * (1.0 + total));
            let (mut g, mut h) = (vec![0.0f32; n], vec![0.0f32; n]);
            for class in 0..k {
                scores.derivatives(class, &y, &mut g, &mut h);
                for i in 0..n {
                    let mut p = z[i * k..(i + 1) * k].to_vec();
                    softmax(&mut p);
                    let truth = p[class] - if i % k == class { 1.0 } else { 0.0 };
                    prop_assert!((f64::from(g[i]) - truth).abs() < 1e-6);
                    prop_assert!((f64::from(h[i]) - 1.5 * p[class] * (1.0 - p[class])).abs() < 1e-6);
                }
            }
        }

        #[test]
        fn two_classes_equal_the_logistic_loss(z in -30.0f64..30.0) {
            prop_assert!((value(&[0.0, z], 1) - Logistic.value(z, 1.0)).abs() < 1e-13);
            prop_assert!((value(&[0.0, z], 0) - Logistic.value(z, -1.0)).abs() < 1e-13);
        }
    }

    #[test]
    fn best_constants_are_log_class_shares() {
        let scores = best_constants(&[0.0, 1.0, 1.0, 2.0], Some(&[1.0, 1.0, 2.0, 4.0]), 3);
        assert_eq!(scores, [0.125f64.ln(), 0.375f64.ln(), 0.5f64.ln()]);
    }

    #[test]
    fn large_margins_do_not_overflow() {
        let mut z = [1e6, 0.0, -1e6];
        assert_eq!(softmax(&mut z), 1e6);
        assert_eq!(z, [1.0, 0.0, 0.0]);
    }
}
