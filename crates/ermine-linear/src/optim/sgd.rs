//! Stochastic gradient descent: one row, or a few, at a time. For any loss, any penalty, and data that arrives in pieces.
//!
//! **Formula.** `w <- prox(w - eta_t (l'(z_i) x_i + penalty's smooth part), eta_t)` with the rate `eta_t` of a [`RateSchedule`].
//!
//! **How.** The L2 part shrinks all coefficients by one factor; that factor is kept separately (`w = scale v`), so a
//! sparse row costs what it holds. The L1 part is applied lazily: a running total records how much every coefficient should have
//! moved towards zero, and a coefficient is updated when it is next used. Averages are kept without touching
//! all coefficients, too: `sum_k s_k v_k = C_t v_t - sum_k C_(k-1) (v_k - v_(k-1))`, where `C_t` is the sum of the scales.
//!
//! **Cost.** Two passes over a row.
//!
//! **Reference.** Bottou, "Stochastic gradient descent tricks" (2012); Tsuruoka, Tsujii and Ananiadou, "Stochastic gradient
//! descent training for L1-regularized log-linear models with cumulative penalty" (2009); Polyak and Juditsky (1992).

use super::plain_steps::{self, PlainStepState};
use super::row_reader::RowReader;
use crate::penalty::{Penalty, l1};
use ermine_core::error::Result;
use ermine_core::linalg::{Design, lanes};
use ermine_core::loss::Loss;
use ermine_core::progress::{Event, Observer, report};
use ermine_core::rng::{self, Purpose};

/// How the rate of learning changes with the number of steps `t`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RateSchedule {
    /// `rate`.
    Constant {
        /// The rate.
        rate: f64,
    },
    /// `rate / t^power`.
    Inverse {
        /// The rate of the first step.
        rate: f64,
        /// How fast it falls.
        power: f64,
    },
    /// `1 / (strength (t0 + t))`: optimal for a strongly convex objective; `t0` makes the first rate `rate`.
    Optimal {
        /// The rate of the first step.
        rate: f64,
        /// The strength of the L2 penalty.
        strength: f64,
    },
    /// `rate`, divided by 5 whenever the loss stops falling.
    Adaptive {
        /// The rate to start with.
        rate: f64,
    },
}

impl RateSchedule {
    #[inline(always)]
    pub(super) fn rate(&self, t: f64) -> f64 {
        match *self {
            RateSchedule::Constant { rate } | RateSchedule::Adaptive { rate } => rate,
            RateSchedule::Inverse { rate, power } => rate / t.powf(power),
            RateSchedule::Optimal { rate, strength } => 1.0 / (strength * (t - 1.0) + 1.0 / rate),
        }
    }
}

/// How it is run.
#[derive(Clone, Copy)]
pub struct SgdOptions<'a> {
    /// The rate of learning.
    pub schedule: RateSchedule,
    /// The penalty on the coefficients.
    pub penalty: Penalty,
    /// Whether there is an intercept (which is never penalized).
    pub intercept: bool,
    /// Rows per step, at least 1.
    pub batch: usize,
    /// Whether the answer is the average over all steps.
    pub average: bool,
    /// Another order of the rows in every pass.
    pub shuffle: bool,
    /// Where the orders come from.
    pub seed: u64,
    /// Most passes over the data.
    pub max_passes: usize,
    /// Stop when the loss falls by less than this in [`patience`](Self::patience) passes; `None` for never.
    pub tolerance: Option<f64>,
    /// Passes without progress before stopping (or, if adaptive, lowering the rate).
    pub patience: usize,
    /// Rows that are not learned from. Where there are any, their loss decides when to stop.
    pub held: &'a [u32],
    /// Receives progress events.
    pub observer: &'a dyn Observer,
}

/// Prefetch distance in rows.
pub(super) const AHEAD: usize = 10;

/// The state of training, which can be continued on more rows.
#[derive(Debug, Clone, PartialEq)]
pub struct SgdState {
    v: Vec<f64>,
    scale: f64,
    intercept: f64,
    /// Steps taken.
    t: f64,
    /// L1 shrinkage owed by every coefficient so far, and by each when it last paid.
    owed: f64,
    paid: Vec<f64>,
    /// Sums for the average.
    scales: f64,
    slow: Vec<f64>,
    intercepts: f64,
    /// Divides the rate of an adaptive schedule.
    slowdown: f64,
    /// Mean loss of each pass, as seen before each step.
    pub curve: Vec<f64>,
}

impl SgdState {
    /// Nothing learned yet, for `p` columns.
    pub fn new(p: usize) -> Self {
        SgdState::from(vec![0.0; p], 0.0)
    }

    /// Starts from given coefficients.
    pub fn from(coefficients: Vec<f64>, intercept: f64) -> Self {
        let p = coefficients.len();
        SgdState {
            v: coefficients,
            scale: 1.0,
            intercept,
            t: 0.0,
            owed: 0.0,
            paid: vec![0.0; p],
            scales: 0.0,
            slow: vec![0.0; p],
            intercepts: 0.0,
            slowdown: 1.0,
            curve: Vec::new(),
        }
    }

    /// The coefficients and the intercept; averaged if `average`.
    pub fn weights(&self, average: bool) -> (Vec<f64>, f64) {
        if average && self.t > 0.0 {
            let w = self.v.iter().zip(&self.slow).map(|(v, s)| (self.scales * v - s) / self.t).collect();
            return (w, self.intercepts / self.t);
        }
        let pay = |(v, paid): (&f64, &f64)| l1::prox(self.owed - paid, self.scale * v);
        (self.v.iter().zip(&self.paid).map(pay).collect(), self.intercept)
    }

    /// Learns until the loss stops falling or the passes are over; true in the first case.
    pub fn run<L: Loss>(
        &mut self,
        loss: L,
        x: &Design,
        y: &[f64],
        weights: Option<&[f64]>,
        options: &SgdOptions,
    ) -> Result<bool> {
        let (mut best, mut idle) = (f64::INFINITY, 0);
        let mut is_held = vec![false; x.n_rows()];
        options.held.iter().for_each(|&i| is_held[i as usize] = true);
        let mut order: Vec<u32> = (0..x.n_rows() as u32).filter(|&i| !is_held[i as usize]).collect();
        for pass in 0..options.max_passes {
            if options.shuffle {
                rng::shuffle(&mut Purpose::SgdOrder.stream(options.seed, &[pass as u64]), &mut order);
            }
            let mut mean = self.pass(loss, x, y, weights, &order, options);
            if !options.held.is_empty() {
                mean = self.mean_loss(loss, x, y, weights, options);
            }
            self.curve.push(mean);
            report(options.observer, Event::Step { done: pass as u64 + 1, score: Some(("loss", mean)) })?;
            if !mean.is_finite() {
                return Ok(false);
            }
            let Some(tolerance) = options.tolerance else { continue };
            idle = if mean > best - tolerance { idle + 1 } else { 0 };
            best = best.min(mean);
            if idle >= options.patience.max(1) {
                let adaptive =
                    matches!(options.schedule, RateSchedule::Adaptive { rate } if rate / self.slowdown > 1e-6);
                if !adaptive {
                    return Ok(true);
                }
                self.slowdown *= 5.0;
                idle = 0;
            }
        }
        Ok(options.tolerance.is_none())
    }

    /// The mean loss of the rows that are held out.
    fn mean_loss<L: Loss>(&self, loss: L, x: &Design, y: &[f64], weights: Option<&[f64]>, options: &SgdOptions) -> f64 {
        let (w, b) = self.weights(options.average);
        let mut rows = RowReader::new(x);
        let (mut sum, mut total) = (0.0, 0.0);
        for &i in options.held {
            let (i, weight) = (i as usize, weights.map_or(1.0, |w| w[i as usize]));
            sum += weight * loss.value(rows.dot(i, &w) + b, y[i]);
            total += weight;
        }
        sum / f64::max(total, f64::MIN_POSITIVE)
    }

    /// All that it knows, in one line, for a file; the curve is left out.
    pub fn to_numbers(&self) -> Vec<f64> {
        let mut numbers =
            vec![self.scale, self.intercept, self.t, self.owed, self.scales, self.intercepts, self.slowdown];
        numbers.extend(self.v.iter().chain(&self.paid).chain(&self.slow));
        numbers
    }

    /// Reads [`to_numbers`](Self::to_numbers) back, for `p` columns.
    pub fn from_numbers(numbers: &[f64], p: usize) -> Option<SgdState> {
        let (&[scale, intercept, t, owed, scales, intercepts, slowdown], rest) = numbers.split_first_chunk::<7>()?;
        if rest.len() != 3 * p || !numbers.iter().all(|x| x.is_finite()) {
            return None;
        }
        let (v, paid, slow) = (rest[..p].to_vec(), rest[p..2 * p].to_vec(), rest[2 * p..].to_vec());
        Some(SgdState { v, scale, intercept, t, owed, paid, scales, slow, intercepts, slowdown, curve: Vec::new() })
    }

    /// One pass over the rows in the given order; returns the mean loss seen.
    pub fn pass<L: Loss>(
        &mut self,
        loss: L,
        x: &Design,
        y: &[f64],
        weights: Option<&[f64]>,
        order: &[u32],
        options: &SgdOptions,
    ) -> f64 {
        let (l1, l2) = strengths(options.penalty);
        let is_plain = l1 == 0.0 && options.batch == 1 && !options.average;
        if let (Design::Dense(x), true) = (x, is_plain && !matches!(options.penalty, Penalty::Lp { .. }))
            && let Some((x, stride)) = x.array()
        {
            return self.plain_pass(loss, &plain_steps::LabeledRows { x, stride, y, weights }, order, options);
        }
        let mut rows = RowReader::new(x);
        let (mut sum, mut total) = (0.0, 0.0);
        let mut steps = Vec::with_capacity(options.batch);
        for (k, batch) in order.chunks(options.batch.max(1)).enumerate() {
            let next = order.get((k + AHEAD) * batch.len()).copied();
            rows.prefetch(next);
            next.into_iter().for_each(|i| lanes::prefetch(y, i as usize));
            steps.clear();
            for &i in batch {
                let i = i as usize;
                if l1 > 0.0 {
                    self.apply_l1_penalty(&mut rows, i);
                }
                let z = self.scale * rows.dot(i, &self.v) + self.intercept;
                let weight = weights.map_or(1.0, |w| w[i]);
                sum += weight * loss.value(z, y[i]);
                total += weight;
                // A bound on the gradient keeps one wild row from throwing the weights to infinity.
                steps.push(weight * loss.gradient(z, y[i]).clamp(-1e12, 1e12) / batch.len() as f64);
            }
            self.t += 1.0;
            let rate = options.schedule.rate(self.t) / self.slowdown;
            self.step(&mut rows, batch, &steps, rate, (l1, l2), options);
        }
        if l1 > 0.0 {
            self.apply_all_l1_penalties();
        }
        sum / f64::max(total, f64::MIN_POSITIVE)
    }

    /// The fast path for the common case.
    fn plain_pass<L: Loss>(
        &mut self,
        loss: L,
        rows: &plain_steps::LabeledRows,
        order: &[u32],
        options: &SgdOptions,
    ) -> f64 {
        let rates = plain_steps::StepRates {
            schedule: options.schedule,
            slowdown: self.slowdown,
            l2: strengths(options.penalty).1,
            intercept: options.intercept,
        };
        let mut state = self.plain();
        let (sum, total) = plain_steps::steps(loss, rows, order, &mut state, &rates);
        let PlainStepState { scale, intercept, t, scales, intercepts, .. } = state;
        (self.scale, self.intercept, self.t, self.scales, self.intercepts) = (scale, intercept, t, scales, intercepts);
        sum / f64::max(total, f64::MIN_POSITIVE)
    }

    fn plain(&mut self) -> PlainStepState<'_> {
        PlainStepState {
            v: &mut self.v,
            scale: self.scale,
            intercept: self.intercept,
            t: self.t,
            scales: self.scales,
            intercepts: self.intercepts,
        }
    }

    fn step(
        &mut self,
        rows: &mut RowReader,
        batch: &[u32],
        steps: &[f64],
        rate: f64,
        strengths: (f64, f64),
        options: &SgdOptions,
    ) {
        let (l1, l2) = strengths;
        if l2 > 0.0 {
            self.scale *= (1.0 - rate * l2).max(0.0);
            if self.scale < 1e-9 {
                self.rescale();
            }
        }
        if let Penalty::Lp { .. } = options.penalty {
            let scale = self.scale;
            self.v.iter_mut().for_each(|v| *v = options.penalty.prox(*v * scale, rate) / scale);
        }
        for (&i, &g) in batch.iter().zip(steps).filter(|(_, g)| **g != 0.0) {
            let step = -rate * g / self.scale;
            rows.add(i as usize, step, &mut self.v);
            if options.average {
                rows.add(i as usize, step * self.scales, &mut self.slow);
            }
            self.intercept -= if options.intercept { rate * g } else { 0.0 };
        }
        self.owed += rate * l1;
        self.scales += self.scale;
        self.intercepts += self.intercept;
    }

    /// The coefficients that row `i` touches are shrunk by the L1 penalty that is due.
    fn apply_l1_penalty(&mut self, rows: &mut RowReader, i: usize) {
        let (owed, scale, p) = (self.owed, self.scale, self.v.len());
        let (v, paid) = (&mut self.v, &mut self.paid);
        let mut settle = |j: usize| {
            v[j] = l1::prox((owed - paid[j]) / scale, v[j]);
            paid[j] = owed;
        };
        match rows.touched(i) {
            Some(places) => places.iter().for_each(|&j| settle(j as usize)),
            None => (0..p).for_each(settle),
        }
    }

    /// Applies the L1 penalty that is due to all coefficients.
    fn apply_all_l1_penalties(&mut self) {
        for (v, paid) in self.v.iter_mut().zip(&mut self.paid) {
            *v = l1::prox((self.owed - *paid) / self.scale, *v);
            *paid = self.owed;
        }
    }

    /// Moves the scale into the coefficients.
    fn rescale(&mut self) {
        let mut state = self.plain();
        state.rescale();
        (self.scale, self.scales) = (state.scale, state.scales);
    }
}

/// The L1 and L2 strengths of a penalty.
fn strengths(penalty: Penalty) -> (f64, f64) {
    match penalty {
        Penalty::L1 { lambda } => (lambda, 0.0),
        Penalty::L2 { lambda } => (0.0, lambda),
        Penalty::Elastic { lambda, ratio } => (lambda * ratio, lambda * (1.0 - ratio)),
        Penalty::None | Penalty::Lp { .. } => (0.0, 0.0),
    }
}
