//! The log loss of two and of several classes.

use super::{Objective, Rows};
use ermine_core::error::{Error, Result};
use ermine_core::simd::exp::{exp, sigmoid};
use std::ops::Range;

/// The log loss of two classes: ln(1 + exp(s)) - y s, with y in {0, 1} and s the log odds.
pub struct Logistic {
    rows: Rows,
}

impl Logistic {
    /// Over rows whose targets are 0 or 1.
    pub fn new(rows: Rows) -> Logistic {
        Logistic { rows }
    }
}

ermine_core::versions! {
    fn logistic_gradients(target: &[f64], scores: &[f64], gradient: &mut [f32], curvature: &mut [f32]) {
        for (((&y, &s), g), h) in target.iter().zip(scores).zip(gradient).zip(curvature) {
            let p = sigmoid(s);
            *g = (p - y) as f32;
            *h = (p * (1.0 - p)) as f32;
        }
    }
}

/// Probabilities are kept this far from 0 and 1 where a constant is fitted.
const EDGE: f64 = 1e-9;

impl Objective for Logistic {
    fn start(&self) -> Vec<f64> {
        let p = self.rows.mean().clamp(EDGE, 1.0 - EDGE);
        vec![(p / (1.0 - p)).ln()]
    }

    fn gradients(
        &self,
        rows: Range<usize>,
        scores: &[&[f64]],
        gradient: &mut [&mut [f32]],
        curvature: &mut [&mut [f32]],
    ) {
        logistic_gradients(&self.rows.target[rows.clone()], scores[0], gradient[0], curvature[0]);
        self.rows.apply_weight(rows, gradient[0], curvature[0]);
    }

    fn loss(&self, rows: Range<usize>, scores: &[&[f64]]) -> f64 {
        // ln(1 + e^s) without overflow.
        let softplus = |s: f64| s.max(0.0) + (-s.abs()).exp().ln_1p();
        rows.zip(scores[0]).map(|(row, &s)| self.rows.weight(row) * (softplus(s) - self.rows.target[row] * s)).sum()
    }

    fn total_weight(&self) -> f64 {
        self.rows.total_weight()
    }

    fn name(&self) -> &'static str {
        "log loss"
    }
}

/// The log loss of several classes: ln(sum_k exp(s_k)) - s_y.
///
/// The curvature of score k is taken as K / (K - 1) p_k (1 - p_k), which bounds the Hessian for scores that sum to a constant (Friedman 2001, section 4.6).
pub struct Softmax {
    rows: Rows,
    n_classes: usize,
}

impl Softmax {
    /// Over rows whose targets are class numbers.
    pub fn new(rows: Rows, n_classes: usize) -> Result<Softmax> {
        if n_classes < 2 {
            return Err(Error::data(format!("{n_classes} classes; at least two are needed")));
        }
        Ok(Softmax { rows, n_classes })
    }
}

ermine_core::versions! {
    fn softmax_total(scores: &[&[f64]], most: &mut [f64], total: &mut [f64]) {
        most.copy_from_slice(scores[0]);
        for scores in &scores[1..] {
            most.iter_mut().zip(*scores).for_each(|(most, &s)| *most = if s > *most { s } else { *most });
        }
        total.fill(0.0);
        for scores in scores {
            for ((total, &most), &s) in total.iter_mut().zip(&*most).zip(*scores) {
                *total += exp(s - most);
            }
        }
    }
}

ermine_core::versions! {
    fn softmax_gradients(class: f64, target: &[f64], scores: &[f64], norm: (&[f64], &[f64], f64), gradient: &mut [f32], curvature: &mut [f32]) {
        let (most, total, factor) = norm;
        for i in 0..target.len().min(scores.len()).min(most.len()).min(total.len()).min(gradient.len()).min(curvature.len()) {
            let p = exp(scores[i] - most[i]) / total[i];
            gradient[i] = (p - if target[i] == class { 1.0 } else { 0.0 }) as f32;
            curvature[i] = (factor * p * (1.0 - p)) as f32;
        }
    }
}

impl Objective for Softmax {
    fn n_scores(&self) -> usize {
        self.n_classes
    }

    fn start(&self) -> Vec<f64> {
        let mut shares = vec![0.0; self.n_classes];
        self.rows.target.iter().enumerate().for_each(|(row, &y)| shares[y as usize] += self.rows.weight(row));
        let total = self.rows.total_weight();
        shares.into_iter().map(|share| (share / total).max(EDGE).ln()).collect()
    }

    fn gradients(
        &self,
        rows: Range<usize>,
        scores: &[&[f64]],
        gradient: &mut [&mut [f32]],
        curvature: &mut [&mut [f32]],
    ) {
        let (mut most, mut total) = (vec![0.0; rows.len()], vec![0.0; rows.len()]);
        softmax_total(scores, &mut most, &mut total);
        let factor = self.n_classes as f64 / (self.n_classes as f64 - 1.0);
        for class in 0..self.n_classes {
            let (g, h) = (&mut *gradient[class], &mut *curvature[class]);
            let target = &self.rows.target[rows.clone()];
            softmax_gradients(class as f64, target, scores[class], (&most, &total, factor), g, h);
            self.rows.apply_weight(rows.clone(), g, h);
        }
    }

    fn loss(&self, rows: Range<usize>, scores: &[&[f64]]) -> f64 {
        let first = rows.start;
        let loss = |row: usize| {
            let at = |class: usize| scores[class][row - first];
            let most = (0..self.n_classes).map(at).fold(f64::NEG_INFINITY, f64::max);
            let total: f64 = (0..self.n_classes).map(|class| (at(class) - most).exp()).sum();
            self.rows.weight(row) * (most + total.ln() - at(self.rows.target[row] as usize))
        };
        rows.map(loss).sum()
    }

    fn total_weight(&self) -> f64 {
        self.rows.total_weight()
    }

    fn name(&self) -> &'static str {
        "log loss"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn gradients_are_the_differences_of_the_loss(scores in prop::collection::vec(-4.0f64..4.0, 3), class in 0usize..3, weight in 0.1f64..3.0) {
            const STEP: f64 = 1e-4;
            for n_classes in [2usize, 3] {
                let rows = Rows::new(vec![(class % n_classes) as f64], Some(&[weight]));
                let loss: Box<dyn Objective> =
                    if n_classes == 2 { Box::new(Logistic::new(rows)) } else { Box::new(Softmax::new(rows, 3).unwrap()) };
                let k = loss.n_scores();
                let (mut g, mut h) = (vec![[0.0f32]; k], vec![[0.0f32]; k]);
                let columns: Vec<[f64; 1]> = scores.iter().take(k).map(|&s| [s]).collect();
                let views = |columns: &[[f64; 1]]| loss.loss(0..1, &columns.iter().map(|c| &c[..]).collect::<Vec<_>>());
                loss.gradients(0..1, &columns.iter().map(|c| &c[..]).collect::<Vec<_>>(),
                    &mut g.iter_mut().map(|g| &mut g[..]).collect::<Vec<_>>(), &mut h.iter_mut().map(|h| &mut h[..]).collect::<Vec<_>>());
                for j in 0..k {
                    let at = |step: f64| { let mut moved = columns.clone(); moved[j][0] += step; views(&moved) };
                    let first = (at(STEP) - at(-STEP)) / (2.0 * STEP);
                    let second = (at(STEP) - 2.0 * at(0.0) + at(-STEP)) / (STEP * STEP);
                    let factor = if k == 1 { 1.0 } else { k as f64 / (k as f64 - 1.0) };
                    prop_assert!((f64::from(g[j][0]) - first).abs() < 1e-5);
                    prop_assert!((f64::from(h[j][0]) - factor * second).abs() < 1e-4);
                }
            }
        }
    }
}
