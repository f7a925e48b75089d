//! Losses of numbers, each with value, gradient and curvature in the score s. Those of positive targets have the logarithm of the prediction as score.
//!
//! | loss | value | prediction |
//! |---|---|---|
//! | [`Squared`] | (s - y)^2 / 2 | s |
//! | [`Absolute`] | \|s - y\| | s; leaves take the median of their residuals |
//! | [`Quantile`] | a (y - s) above, (1 - a) (s - y) below | s; leaves take the a-quantile |
//! | [`Huber`] | (s - y)^2 / 2 up to the slope d, then d (\|s - y\| - d / 2) | s |
//! | [`Poisson`] | e^s - y s | e^s |
//! | [`Gamma`] | s + y e^-s | e^s |
//! | [`Tweedie`] | e^((2 - p) s) / (2 - p) - y e^((1 - p) s) / (1 - p) | e^s |
//!
//! **Steps of logarithms.** The quadratic is a poor guide to losses of e^s: where targets are far above the prediction, its minimum is so far up that the
//! next rounds overflow. But their minimum over a leaf has a closed form. With A the sum of y e^((1 - p) s) and B that of e^((2 - p) s), a change by w is best at
//! e^w = A / B; gradient and curvature are G = B - A and H = (2 - p) B - (1 - p) A, so that A = H - (2 - p) G and B = H - (1 - p) G. With lambda added to both, as
//! rows that are predicted right already, and n = -G / (H + lambda) the quadratic's step,
//!
//! ```text
//! w = ln((1 + (2 - p) n) / (1 + (1 - p) n))
//! ```
//! which is n up to second order, rises with n (so that predictions stay monotone) and never raises the loss. Poisson is p = 1, Gamma p = 2.

use super::{Objective, Rows};
use ermine_core::simd::exp::exp;
use std::ops::Range;

/// A loss of one number.
pub trait Pointwise: Send + Sync {
    /// First and second derivative of the loss of target y at score s. The second is not negative; where it vanishes or is no guide, 1.
    fn derivatives(&self, y: f64, s: f64) -> (f64, f64);
    /// The loss of target y at score s.
    fn value(&self, y: f64, s: f64) -> f64;
    /// The best constant score.
    fn start(&self, rows: &Rows) -> f64;
    /// The change of score that a leaf takes where the quadratic says `newton`, if the loss knows better.
    fn step(&self, _newton: f64) -> Option<f64> {
        None
    }
    /// The quantile of the residuals that leaves take, if they do.
    fn leaf_quantile(&self) -> Option<f64> {
        None
    }
    /// Its name.
    fn name(&self) -> &'static str;
}

/// A pointwise loss over rows.
pub struct Each<P> {
    loss: P,
    rows: Rows,
}

impl<P: Pointwise> Each<P> {
    /// Over these rows.
    pub fn new(loss: P, rows: Rows) -> Each<P> {
        Each { loss, rows }
    }
}

impl<P: Pointwise> Objective for Each<P> {
    fn start(&self) -> Vec<f64> {
        vec![self.loss.start(&self.rows)]
    }

    fn gradients(
        &self,
        rows: Range<usize>,
        scores: &[&[f64]],
        gradient: &mut [&mut [f32]],
        curvature: &mut [&mut [f32]],
    ) {
        let target = &self.rows.target[rows.clone()];
        for (((&y, &s), g), h) in target.iter().zip(scores[0]).zip(&mut *gradient[0]).zip(&mut *curvature[0]) {
            let (first, second) = self.loss.derivatives(y, s);
            (*g, *h) = (first as f32, second as f32);
        }
        self.rows.apply_weight(rows, gradient[0], curvature[0]);
    }

    fn loss(&self, rows: Range<usize>, scores: &[&[f64]]) -> f64 {
        rows.zip(scores[0]).map(|(row, &s)| self.rows.weight(row) * self.loss.value(self.rows.target[row], s)).sum()
    }

    fn total_weight(&self) -> f64 {
        self.rows.total_weight()
    }

    fn leaf_value(&self, _: usize, rows: &mut dyn Iterator<Item = (usize, f64)>) -> Option<f64> {
        let share = self.loss.leaf_quantile()?;
        let mut residuals: Vec<(f64, f64)> =
            rows.map(|(row, score)| (self.rows.target[row] - score, self.rows.weight(row))).collect();
        weighted_quantile(&mut residuals, share)
    }

    fn step(&self, _: usize, newton: f64) -> Option<f64> {
        self.loss.step(newton)
    }

    fn has_leaf_values(&self) -> bool {
        self.loss.leaf_quantile().is_some()
    }

    fn name(&self) -> &'static str {
        self.loss.name()
    }
}

/// The least value below or at which at least `share` of the weight lies.
fn weighted_quantile(values: &mut [(f64, f64)], share: f64) -> Option<f64> {
    values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = values.iter().map(|v| v.1).sum();
    let mut below = 0.0;
    for &(value, weight) in &*values {
        below += weight;
        if below >= share * total {
            return Some(value);
        }
    }
    values.last().map(|v| v.0)
}

impl Rows {
    fn quantile(&self, share: f64) -> f64 {
        let mut values: Vec<(f64, f64)> =
            self.target.iter().enumerate().map(|(row, &y)| (y, self.weight(row))).collect();
        weighted_quantile(&mut values, share).unwrap_or(0.0)
    }

    /// The logarithm of the mean, kept away from that of zero.
    fn log_mean(&self) -> f64 {
        self.mean().max(1e-9).ln()
    }
}

/// The absolute error.
pub struct Absolute;

impl Pointwise for Absolute {
    fn derivatives(&self, y: f64, s: f64) -> (f64, f64) {
        (
            if s > y {
                1.0
            } else if s < y {
                -1.0
            } else {
                0.0
            },
            1.0,
        )
    }
    fn value(&self, y: f64, s: f64) -> f64 {
        (s - y).abs()
    }
    fn start(&self, rows: &Rows) -> f64 {
        rows.quantile(0.5)
    }
    fn leaf_quantile(&self) -> Option<f64> {
        Some(0.5)
    }
    fn name(&self) -> &'static str {
        "absolute error"
    }
}

/// The quantile (pinball) loss of a share.
pub struct Quantile(pub f64);

impl Pointwise for Quantile {
    fn derivatives(&self, y: f64, s: f64) -> (f64, f64) {
        (
            if s > y {
                1.0 - self.0
            } else if s < y {
                -self.0
            } else {
                0.0
            },
            1.0,
        )
    }
    fn value(&self, y: f64, s: f64) -> f64 {
        if y > s { self.0 * (y - s) } else { (1.0 - self.0) * (s - y) }
    }
    fn start(&self, rows: &Rows) -> f64 {
        rows.quantile(self.0)
    }
    fn leaf_quantile(&self) -> Option<f64> {
        Some(self.0)
    }
    fn name(&self) -> &'static str {
        "quantile loss"
    }
}

/// The Huber loss with this slope.
pub struct Huber(pub f64);

impl Pointwise for Huber {
    fn derivatives(&self, y: f64, s: f64) -> (f64, f64) {
        ((s - y).clamp(-self.0, self.0), 1.0)
    }
    fn value(&self, y: f64, s: f64) -> f64 {
        let size = (s - y).abs();
        if size <= self.0 { 0.5 * size * size } else { self.0 * (size - 0.5 * self.0) }
    }
    fn start(&self, rows: &Rows) -> f64 {
        rows.quantile(0.5)
    }
    fn name(&self) -> &'static str {
        "Huber loss"
    }
}

/// The largest change of the logarithm of a prediction in one round: leaves whose targets are all zero have no minimum.
const LARGEST_STEP: f64 = 10.0;

/// The best change of a logarithm where the quadratic says `newton`, for the variance power p.
fn log_step(p: f64, newton: f64) -> f64 {
    let (above, below) = (1.0 + (2.0 - p) * newton, 1.0 + (1.0 - p) * newton);
    (above.max(0.0).ln() - below.max(0.0).ln()).clamp(-LARGEST_STEP, LARGEST_STEP)
}

/// Poisson deviance, up to a constant.
pub struct Poisson;

impl Pointwise for Poisson {
    fn derivatives(&self, y: f64, s: f64) -> (f64, f64) {
        (exp(s) - y, exp(s))
    }
    fn value(&self, y: f64, s: f64) -> f64 {
        exp(s) - y * s
    }
    fn start(&self, rows: &Rows) -> f64 {
        rows.log_mean()
    }
    fn step(&self, newton: f64) -> Option<f64> {
        Some(log_step(1.0, newton))
    }
    fn name(&self) -> &'static str {
        "Poisson loss"
    }
}

/// Gamma deviance, up to a constant.
pub struct Gamma;

impl Pointwise for Gamma {
    fn derivatives(&self, y: f64, s: f64) -> (f64, f64) {
        let ratio = y * exp(-s);
        (1.0 - ratio, ratio)
    }
    fn value(&self, y: f64, s: f64) -> f64 {
        s + y * exp(-s)
    }
    fn start(&self, rows: &Rows) -> f64 {
        rows.log_mean()
    }
    fn step(&self, newton: f64) -> Option<f64> {
        Some(log_step(2.0, newton))
    }
    fn name(&self) -> &'static str {
        "Gamma loss"
    }
}

/// Tweedie deviance with this variance power (between 1 and 2), up to a constant.
pub struct Tweedie(pub f64);

impl Pointwise for Tweedie {
    fn derivatives(&self, y: f64, s: f64) -> (f64, f64) {
        let (low, high) = (1.0 - self.0, 2.0 - self.0);
        let (a, b) = (y * exp(low * s), exp(high * s));
        (b - a, high * b - low * a)
    }
    fn value(&self, y: f64, s: f64) -> f64 {
        let (low, high) = (1.0 - self.0, 2.0 - self.0);
        exp(high * s) / high - y * exp(low * s) / low
    }
    fn start(&self, rows: &Rows) -> f64 {
        rows.log_mean()
    }
    fn step(&self, newton: f64) -> Option<f64> {
        Some(log_step(self.0, newton))
    }
    fn name(&self) -> &'static str {
        "Tweedie loss"
    }
}

/// Several losses of one score each, over the same rows: several targets, or several quantiles.
pub struct Several(pub Vec<Box<dyn Objective>>);

impl Objective for Several {
    fn n_scores(&self) -> usize {
        self.0.len()
    }

    fn start(&self) -> Vec<f64> {
        self.0.iter().flat_map(|loss| loss.start()).collect()
    }

    fn has_constant_curvature(&self) -> bool {
        self.0.iter().all(|loss| loss.has_constant_curvature())
    }

    fn gradients(
        &self,
        rows: Range<usize>,
        scores: &[&[f64]],
        gradient: &mut [&mut [f32]],
        curvature: &mut [&mut [f32]],
    ) {
        for (k, loss) in self.0.iter().enumerate() {
            let one = k..k + 1;
            loss.gradients(rows.clone(), &scores[one.clone()], &mut gradient[one.clone()], &mut curvature[one]);
        }
    }

    fn loss(&self, rows: Range<usize>, scores: &[&[f64]]) -> f64 {
        self.0.iter().enumerate().map(|(k, loss)| loss.loss(rows.clone(), &scores[k..=k])).sum()
    }

    fn total_weight(&self) -> f64 {
        self.0.first().map_or(0.0, |loss| loss.total_weight())
    }

    fn leaf_value(&self, output: usize, rows: &mut dyn Iterator<Item = (usize, f64)>) -> Option<f64> {
        self.0[output].leaf_value(0, rows)
    }

    fn step(&self, output: usize, newton: f64) -> Option<f64> {
        self.0[output].step(0, newton)
    }

    fn has_leaf_values(&self) -> bool {
        self.0.iter().any(|loss| loss.has_leaf_values())
    }

    fn name(&self) -> &'static str {
        self.0.first().map_or("nothing", |loss| loss.name())
    }
}

/// Half the squared error: (s - y)^2 / 2.
pub struct Squared {
    rows: Rows,
}

impl Squared {
    /// Over these rows.
    pub fn new(rows: Rows) -> Squared {
        Squared { rows }
    }
}

ermine_core::versions! {
    fn squared_gradients(target: &[f64], scores: &[f64], gradient: &mut [f32], curvature: &mut [f32]) {
        for (((&y, &s), g), h) in target.iter().zip(scores).zip(gradient).zip(curvature) {
            *g = (s - y) as f32;
            *h = 1.0;
        }
    }
}

impl Objective for Squared {
    fn start(&self) -> Vec<f64> {
        vec![self.rows.mean()]
    }

    fn has_constant_curvature(&self) -> bool {
        self.rows.weight.is_none()
    }

    fn gradients(
        &self,
        rows: Range<usize>,
        scores: &[&[f64]],
        gradient: &mut [&mut [f32]],
        curvature: &mut [&mut [f32]],
    ) {
        squared_gradients(&self.rows.target[rows.clone()], scores[0], gradient[0], curvature[0]);
        self.rows.apply_weight(rows, gradient[0], curvature[0]);
    }

    fn loss(&self, rows: Range<usize>, scores: &[&[f64]]) -> f64 {
        rows.zip(scores[0]).map(|(row, s)| self.rows.weight(row) * 0.5 * (s - self.rows.target[row]).powi(2)).sum()
    }

    fn total_weight(&self) -> f64 {
        self.rows.total_weight()
    }

    fn name(&self) -> &'static str {
        "half squared error"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// First and second derivative against differences of the loss.
    fn check(loss: &dyn Pointwise, y: f64, s: f64, smooth: bool) {
        const STEP: f64 = 1e-4;
        let (g, h) = loss.derivatives(y, s);
        let (low, middle, high) = (loss.value(y, s - STEP), loss.value(y, s), loss.value(y, s + STEP));
        let size = 1.0 + middle.abs() + g.abs() + h.abs();
        assert!((g - (high - low) / (2.0 * STEP)).abs() < 1e-5 * size, "{} g at {y} {s}", loss.name());
        if smooth {
            let difference = (high - 2.0 * middle + low) / (STEP * STEP);
            assert!((h - difference).abs() < 1e-4 * size, "{} h at {y} {s}: {h} {difference}", loss.name());
        }
    }

    proptest! {
        #[test]
        fn derivatives_are_those_of_the_loss(y in 0.01f64..5.0, s in -2.0f64..2.0, share in 0.05f64..0.95, power in 1.1f64..1.9) {
            prop_assume!((s - y).abs() > 1e-3);
            check(&Absolute, y, s, false);
            check(&Quantile(share), y, s, false);
            check(&Huber(share), y, s, false);
            for loss in [&Poisson as &dyn Pointwise, &Gamma, &Tweedie(power)] {
                check(loss, y, s, true);
            }
        }

        #[test]
        fn steps_of_logarithms_end_at_the_minimum(
            targets in prop::collection::vec(prop_oneof![0.01f64..5.0, 100.0f64..1e3], 1..20), s in -2.0f64..2.0, power in 1.1f64..1.9,
        ) {
            for loss in [&Poisson as &dyn Pointwise, &Gamma, &Tweedie(power)] {
                let sums = targets.iter().map(|&y| loss.derivatives(y, s)).fold((0.0, 0.0), |t, d| (t.0 + d.0, t.1 + d.1));
                let step = loss.step(-sums.0 / sums.1).unwrap();
                prop_assume!(step.abs() < LARGEST_STEP);
                let (slope, size) = targets.iter().map(|&y| loss.derivatives(y, s + step)).fold((0.0, 0.0), |t, d| (t.0 + d.0, t.1 + d.1));
                prop_assert!(slope.abs() <= 1e-6 * size, "{} at {step}: {slope} of {size}", loss.name());
                for held in [0.1, 0.9] {
                    let newton = -held * sums.0 / sums.1;
                    let held = loss.step(newton).unwrap();
                    prop_assert!(held * step >= 0.0 && held.abs() <= step.abs() + 1e-12);
                }
            }
        }

        #[test]
        fn starts_are_the_best_constants(targets in prop::collection::vec(0.1f64..9.0, 1..30), share in 0.1f64..0.9) {
            let rows = Rows::new(targets.clone(), None);
            for loss in [&Absolute as &dyn Pointwise, &Quantile(share), &Poisson, &Gamma, &Tweedie(1.5)] {
                let total = |s: f64| targets.iter().map(|&y| loss.value(y, s)).sum::<f64>();
                let start = loss.start(&rows);
                for step in [-0.1, -0.001, 0.001, 0.1] {
                    prop_assert!(total(start) <= total(start + step) + 1e-6, "{}", loss.name());
                }
            }
        }
    }
}
