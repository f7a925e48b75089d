//! Survival times: the accelerated failure time model ([`FailureTime`]), and Cox's proportional hazards ([`CoxObjective`]).
//!
//! A target is the time of an event, or minus the time at which the row was last seen without one (right-censored).
//!
//! **Formula.** With sigma the scale and u = (ln |y| - s) / sigma, a failure time costs -ln(f(u) / (sigma y)) if the event happened, and -ln(1 - F(u)) if the row is censored; f and F are the
//! density and the distribution of u. In Cox's model the hazard of a row is exp(s) times a common one, and an event costs
//!
//! ```text
//! ln(sum of w_j exp(s_j) over rows j with |y_j| >= y_i) - s_i
//! ```
//! (Breslow's form for equal times).
//!
//! **Reference.** Cox, Regression Models and Life-Tables, 1972; Breslow, Covariance Analysis of Censored Survival Data, 1974; Barnwal, Cho and Hocking, Survival Regression with Accelerated
//! Failure Time Model in XGBoost, 2022.

use super::{Objective, WeightedTargets};
use ermine_core::distribution::normal_two_sided;
use ermine_core::error::{Error, Result};
use ermine_core::loss::{Link, Loss, minimize_constant};
use ermine_core::simd::exp::{exp, sigmoid, softplus};
use std::f64::consts::TAU;
use std::ops::Range;

/// Checks that targets are times, negative for censored rows, and that there is an event.
pub fn check_times(times: &[f64]) -> Result<()> {
    if let Some(row) = times.iter().position(|&time| time == 0.0 || !time.is_finite()) {
        let (row, time) = (row + 1, times[row]);
        return Err(Error::data(format!(
            "a survival loss needs targets other than 0: times of events, or minus the times of censored rows (row {row} has {time})"
        )));
    }
    if times.iter().all(|&time| time < 0.0) {
        return Err(Error::data("a survival loss needs an event: all targets are negative, which marks censored rows"));
    }
    Ok(())
}

/// The distribution of the logarithm of failure times around the score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureDistribution {
    /// Normal.
    Normal,
    /// Logistic.
    Logistic,
    /// Extreme values (Gumbel, of minima): failure times have a Weibull distribution.
    Extreme,
}

/// The accelerated failure time model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FailureTime {
    /// The distribution.
    pub distribution: FailureDistribution,
    /// Its scale.
    pub scale: f64,
}

/// Largest exponent: beyond, a row's share of the loss would overflow.
const MAX_EXPONENT: f64 = 50.0;

impl FailureDistribution {
    /// -ln f(u) and its first two derivatives.
    fn of_event(self, u: f64) -> [f64; 3] {
        match self {
            FailureDistribution::Normal => [0.5 * (u * u + TAU.ln()), u, 1.0],
            FailureDistribution::Logistic => {
                let p = sigmoid(u);
                [2.0 * softplus(u) - u, 2.0 * p - 1.0, 2.0 * p * (1.0 - p)]
            }
            FailureDistribution::Extreme => {
                let e = exp(u.min(MAX_EXPONENT));
                [e - u, e - 1.0, e]
            }
        }
    }

    /// -ln(1 - F(u)) and its first two derivatives.
    fn of_censored(self, u: f64) -> [f64; 3] {
        match self {
            FailureDistribution::Normal => {
                let hazard = normal_hazard(u);
                // 1 - F(u) = f(u) / hazard.
                [0.5 * (u * u + TAU.ln()) + hazard.ln(), hazard, hazard * (hazard - u)]
            }
            FailureDistribution::Logistic => {
                let p = sigmoid(u);
                [softplus(u), p, p * (1.0 - p)]
            }
            FailureDistribution::Extreme => {
                let e = exp(u.min(MAX_EXPONENT));
                [e; 3]
            }
        }
    }
}

/// f(u) / (1 - F(u)) of the normal distribution.
fn normal_hazard(u: f64) -> f64 {
    /// From here on, the continued fraction converges within so many terms.
    const TAIL: f64 = 4.0;
    const TERMS: u32 = 60;
    if u >= TAIL {
        return u + (1..=TERMS).rev().fold(0.0, |rest, k| f64::from(k) / (u + rest));
    }
    let above = if u >= 0.0 { 0.5 * normal_two_sided(u) } else { 1.0 - 0.5 * normal_two_sided(-u) };
    (-0.5 * u * u).exp() / TAU.sqrt() / above
}

impl Loss for FailureTime {
    fn name(&self) -> &'static str {
        "failure time loss"
    }

    fn value(&self, z: f64, y: f64) -> f64 {
        self.terms(z, y)[0]
    }

    fn gradient(&self, z: f64, y: f64) -> f64 {
        self.terms(z, y)[1]
    }

    fn curvature(&self, z: f64, y: f64) -> f64 {
        self.terms(z, y)[2]
    }

    fn terms(&self, z: f64, y: f64) -> [f64; 3] {
        let time = y.abs().ln();
        let u = (time - z) / self.scale;
        let [value, first, second] =
            if y > 0.0 { self.distribution.of_event(u) } else { self.distribution.of_censored(u) };
        let density = if y > 0.0 { self.scale.ln() + time } else { 0.0 };
        [value + density, -first / self.scale, second / (self.scale * self.scale)]
    }

    fn link(&self) -> Link {
        Link::Exponential
    }

    /// Without an event there is no best constant: rows live on for ever.
    fn best_constant(&self, y: &[f64], weights: Option<&[f64]>) -> f64 {
        if y.iter().any(|&y| y > 0.0) {
            return minimize_constant(self, y, weights);
        }
        y.iter().fold(f64::MIN_POSITIVE, |longest, y| longest.max(y.abs())).ln()
    }
}

/// The partial likelihood of Cox's proportional hazards. The prediction is the hazard relative to the score 0.
pub struct CoxObjective {
    rows: WeightedTargets,
    /// Rows by time, ascending.
    order: Vec<u32>,
    bounds: [usize; 2],
}

impl CoxObjective {
    /// Over rows whose targets are times.
    pub fn new(rows: WeightedTargets) -> CoxObjective {
        let mut order: Vec<u32> = (0..rows.target.len() as u32).collect();
        order.sort_by(|&a, &b| {
            let time = |row: u32| rows.target[row as usize].abs();
            time(a).total_cmp(&time(b))
        });
        let bounds = [0, rows.target.len()];
        CoxObjective { rows, order, bounds }
    }

    fn weight(&self, row: usize) -> f64 {
        self.rows.weight.as_ref().map_or(1.0, |weight| weight[row])
    }

    /// Groups of rows with equal times, ascending.
    fn times(&self) -> impl DoubleEndedIterator<Item = &[u32]> {
        self.order.chunk_by(|&a, &b| self.rows.target[a as usize].abs() == self.rows.target[b as usize].abs())
    }

    /// For each group of equal times, ascending: the sum of the relative hazards of the rows that are still observed. Hazards are relative to that of the score `top`.
    fn risks(&self, scores: &[f64], top: f64) -> Vec<f64> {
        let mut sum = 0.0;
        let mut risks: Vec<f64> = self
            .times()
            .rev()
            .map(|rows| {
                sum += rows.iter().map(|&row| self.weight(row as usize) * exp(scores[row as usize] - top)).sum::<f64>();
                sum
            })
            .collect();
        risks.reverse();
        risks
    }

    /// The weight of the events among rows.
    fn events(&self, rows: &[u32]) -> f64 {
        let happened = rows.iter().filter(|&&row| self.rows.target[row as usize] > 0.0);
        happened.map(|&row| self.weight(row as usize)).sum()
    }
}

fn top_of(scores: &[f64]) -> f64 {
    scores.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

impl Objective for CoxObjective {
    /// A constant changes nothing.
    fn start(&self) -> Vec<f64> {
        vec![0.0]
    }

    fn link(&self) -> Link {
        Link::Exponential
    }

    fn gradients(
        &self,
        rows: Range<usize>,
        scores: &[&[f64]],
        gradient: &mut [&mut [f32]],
        curvature: &mut [&mut [f32]],
    ) {
        // All rows or none, because of the bounds.
        if rows.is_empty() {
            return;
        }
        let (scores, top) = (scores[0], top_of(scores[0]));
        let (mut first, mut second) = (0.0, 0.0);
        for (at_time, risk) in self.times().zip(self.risks(scores, top)) {
            let events = self.events(at_time);
            first += events / risk;
            second += events / (risk * risk);
            for row in at_time.iter().map(|&row| row as usize) {
                let (weight, hazard) = (self.weight(row), self.weight(row) * exp(scores[row] - top));
                let event = if self.rows.target[row] > 0.0 { weight } else { 0.0 };
                gradient[0][row] = (hazard * first - event) as f32;
                curvature[0][row] = (hazard * first - hazard * hazard * second).max(0.0) as f32;
            }
        }
    }

    fn loss(&self, rows: Range<usize>, scores: &[&[f64]]) -> f64 {
        if rows.is_empty() {
            return 0.0;
        }
        let (scores, top) = (scores[0], top_of(scores[0]));
        let of_time = |(rows, risk): (&[u32], f64)| {
            let happened = rows.iter().map(|&row| row as usize).filter(|&row| self.rows.target[row] > 0.0);
            happened.map(|row| self.weight(row) * (risk.ln() + top - scores[row])).sum::<f64>()
        };
        self.times().zip(self.risks(scores, top)).map(of_time).sum()
    }

    fn total_weight(&self) -> f64 {
        self.rows.total_weight()
    }

    fn bounds(&self) -> Option<&[usize]> {
        Some(&self.bounds)
    }

    fn name(&self) -> &'static str {
        "Cox loss"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cox(times: &[f64], weight: Option<&[f64]>) -> CoxObjective {
        CoxObjective::new(WeightedTargets::new(times.to_vec(), weight))
    }

    /// The partial likelihood by its definition.
    fn partial_likelihood(times: &[f64], weight: &[f64], scores: &[f64]) -> f64 {
        let event = |i: usize| {
            let risk: f64 =
                (0..times.len()).filter(|&j| times[j].abs() >= times[i]).map(|j| weight[j] * scores[j].exp()).sum();
            weight[i] * (risk.ln() - scores[i])
        };
        (0..times.len()).filter(|&i| times[i] > 0.0).map(event).sum()
    }

    fn gradients(objective: &CoxObjective, scores: &[f64]) -> (Vec<f32>, Vec<f32>) {
        let (mut g, mut h) = (vec![0.0; scores.len()], vec![0.0; scores.len()]);
        objective.gradients(0..scores.len(), &[scores], &mut [&mut g], &mut [&mut h]);
        (g, h)
    }

    proptest! {
        #[test]
        fn cox_gradients_match_finite_differences(
            rows in prop::collection::vec((1u32..6, any::<bool>(), -2.0f64..2.0, 0.2f64..3.0), 2..12),
        ) {
            let mut times: Vec<f64> =
                rows.iter().map(|&(t, censored, ..)| f64::from(t) * if censored { -1.0 } else { 1.0 }).collect();
            times[0] = times[0].abs();
            let scores: Vec<f64> = rows.iter().map(|row| row.2).collect();
            let weight: Vec<f64> = rows.iter().map(|row| row.3).collect();
            let objective = cox(&times, Some(&weight));
            let loss = objective.loss(0..times.len(), &[&scores]);
            prop_assert!((loss - partial_likelihood(&times, &weight, &scores)).abs() < 1e-9);
            let (g, h) = gradients(&objective, &scores);
            for k in 0..times.len() {
                let at = |step: f64| {
                    let mut scores = scores.clone();
                    scores[k] += step;
                    partial_likelihood(&times, &weight, &scores)
                };
                let (step, here) = (1e-4, at(0.0));
                let (first, second) =
                    ((at(step) - at(-step)) / (2.0 * step), (at(step) - 2.0 * here + at(-step)) / (step * step));
                prop_assert!((f64::from(g[k]) - first).abs() < 1e-4 * (1.0 + first.abs()), "{} {first}", g[k]);
                prop_assert!((f64::from(h[k]) - second).abs() < 1e-3 * (1.0 + second.abs()), "{} {second}", h[k]);
            }
        }

        #[test]
        fn failure_time_gradients_match_finite_differences(
            z in -3.0f64..3.0, y in 0.05f64..20.0, censored: bool, scale in 0.3f64..2.0, which in 0usize..3,
        ) {
            let distribution =
                [FailureDistribution::Normal, FailureDistribution::Logistic, FailureDistribution::Extreme][which];
            let (loss, y) = (FailureTime { distribution, scale }, if censored { -y } else { y });
            let step = 1e-4 * scale;
            let first = (loss.value(z + step, y) - loss.value(z - step, y)) / (2.0 * step);
            let second = (loss.gradient(z + step, y) - loss.gradient(z - step, y)) / (2.0 * step);
            prop_assert!((loss.gradient(z, y) - first).abs() < 1e-5 * (1.0 + first.abs()), "{} {first}", loss.gradient(z, y));
            prop_assert!((loss.curvature(z, y) - second).abs() < 1e-4 * (1.0 + second.abs()), "{} {second}", loss.curvature(z, y));
            prop_assert!(loss.curvature(z, y) >= 0.0);
        }
    }

    #[test]
    fn densities_and_survival_match_closed_forms() {
        // SciPy: -norm.logpdf(1.5), -norm.logsf(1.5), -norm.logsf(6), -logistic.logpdf(1.5), -logistic.logsf(1.5), -gumbel_l.logpdf(1.5), -gumbel_l.logsf(1.5).
        let close = |ours: f64, truth: f64| assert!((ours - truth).abs() < 1e-10, "{ours} {truth}");
        close(FailureDistribution::Normal.of_event(1.5)[0], 2.043_938_533_204_672_7);
        close(FailureDistribution::Normal.of_censored(1.5)[0], 2.705_944_400_823_889_8);
        close(FailureDistribution::Normal.of_censored(6.0)[0], 20.736_768_949_974_71);
        close(FailureDistribution::Logistic.of_event(1.5)[0], 1.902_826_555_965_504_9);
        close(FailureDistribution::Logistic.of_censored(1.5)[0], 1.701_413_277_982_752_4);
        close(FailureDistribution::Extreme.of_event(1.5)[0], 2.981_689_070_338_064_5);
        close(FailureDistribution::Extreme.of_censored(1.5)[0], 4.481_689_070_338_064_5);
    }

    #[test]
    fn times_are_checked() {
        let fails = |times: &[f64]| check_times(times).unwrap_err().to_string();
        assert!(fails(&[1.0, 0.0]).contains("row 2 has 0"));
        assert!(fails(&[-1.0, -2.0]).contains("needs an event"));
    }
}
