//! Steps of stochastic gradient descent on single rows of an array, without L1, powers or averages: the commonest run, as one loop that is compiled for each
//! instruction set. It does what [`Sgd::pass`](super::sgd::Sgd::pass) does, in the same order, so it gives the same bits.
//!
//! **Cost.** Two passes over a row in the first-level cache. Rows come in any order, so a row `AHEAD` positions later is prefetched at every step.

use super::sgd::{AHEAD, RateSchedule};
use ermine_core::linalg::lanes::{self, dot_body};
use ermine_core::loss::Loss;
use ermine_core::versions;

/// Rows of an array with their answers.
pub struct LabeledRows<'a> {
    /// The numbers; row `i` begins at `i * stride`.
    pub x: &'a [f64],
    /// Numbers from one row to the next.
    pub stride: usize,
    /// The target.
    pub y: &'a [f64],
    /// Row weights; all 1 if `None`.
    pub weights: Option<&'a [f64]>,
}

/// What the steps change: the weights are `scale v` with an intercept; `t` counts steps, and the sums are those of the scales and intercepts after each.
pub struct PlainStepState<'a> {
    /// Coefficients, before they are multiplied by the scale.
    pub v: &'a mut [f64],
    /// What all coefficients are multiplied by.
    pub scale: f64,
    /// The intercept.
    pub intercept: f64,
    /// Steps taken.
    pub t: f64,
    /// The sum of the scales.
    pub scales: f64,
    /// The sum of the intercepts.
    pub intercepts: f64,
}

/// How long the steps are.
pub struct StepRates {
    /// The rate of learning.
    pub schedule: RateSchedule,
    /// Divides it.
    pub slowdown: f64,
    /// The strength of the L2 penalty.
    pub l2: f64,
    /// Whether there is an intercept.
    pub intercept: bool,
}

versions! {
    /// A step on each row of `order`; the sum of the losses seen before each, and that of the weights.
    pub fn steps<L: Loss>(loss: L, rows: &LabeledRows, order: &[u32], state: &mut PlainStepState, rates: &StepRates) -> (f64, f64) {
        let (mut sum, mut total) = (0.0, 0.0);
        let p = state.v.len();
        let row = |i: u32| &rows.x[i as usize * rows.stride..i as usize * rows.stride + p];
        for (k, &i) in order.iter().enumerate() {
            if let Some(&next) = order.get(k + AHEAD) {
                let ahead = row(next);
                (0..p.min(512)).step_by(8).for_each(|at| lanes::prefetch(ahead, at));
                lanes::prefetch(rows.y, next as usize);
            }
            let (x, y) = (row(i), rows.y[i as usize]);
            let weight = rows.weights.map_or(1.0, |w| w[i as usize]);
            let z = state.scale * dot_body(x, state.v) + state.intercept;
            sum += weight * loss.value(z, y);
            total += weight;
            // A bound on the gradient keeps one wild row from throwing the weights to infinity.
            let g = weight * loss.gradient(z, y).clamp(-1e12, 1e12);
            state.t += 1.0;
            let rate = rates.schedule.rate(state.t) / rates.slowdown;
            if rates.l2 > 0.0 {
                state.scale *= (1.0 - rate * rates.l2).max(0.0);
                if state.scale < 1e-9 {
                    state.rescale();
                }
            }
            if g != 0.0 {
                let step = -rate * g / state.scale;
                state.v.iter_mut().zip(x).for_each(|(v, x)| *v = step.mul_add(*x, *v));
                state.intercept -= if rates.intercept { rate * g } else { 0.0 };
            }
            state.scales += state.scale;
            state.intercepts += state.intercept;
        }
        (sum, total)
    }
}

impl PlainStepState<'_> {
    /// Moves the scale into the coefficients.
    pub fn rescale(&mut self) {
        let scale = self.scale.max(f64::MIN_POSITIVE);
        self.v.iter_mut().for_each(|v| *v *= scale);
        self.scales /= scale;
        self.scale = 1.0;
    }
}
