//! Sequential minimal optimization within a working set whose kernel values are all known.
//!
//! Each step moves the pair of greatest gain: `i` with the largest pull among those that can rise, and the `j` among those that can fall for which `(v_i - v_j)^2 / (K_ii + K_jj - 2 K_ij)` is
//! largest. The gains are compared in single precision: they only choose.

use super::SmoState;
use crate::kernel::KernelElement;
use ermine_core::error::Result;
use ermine_core::progress::{Observer, check};
use ermine_core::versions;

/// Numbers side by side in the searches: two registers of AVX-512.
const WIDE: usize = 16;
/// How many steps are made between two questions whether to stop: a few milliseconds of work.
const STEPS_BETWEEN_CHECKS: usize = 1024;
/// The least curvature of a pair: for equal rows, and kernels that are not positive semidefinite.
const LEAST_CURVATURE: f64 = 1e-12;

/// A working set and its variables.
pub(super) struct InnerProblem<'k, E> {
    kernel: &'k [E],
    diagonal: Vec<f64>,
    variables: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
    pull: Vec<f64>,
    /// 0 for variables that can rise, else minus infinity.
    rise: Vec<f64>,
    /// 0 for variables that can fall, else infinity.
    fall: Vec<f64>,
}

impl<'k, E: KernelElement> InnerProblem<'k, E> {
    pub(super) fn new(state: &SmoState, set: &[u32], kernel: &'k [E], diagonal: impl Fn(usize) -> f64) -> Self {
        let of = |values: &[f64]| set.iter().map(|&v| values[v as usize]).collect::<Vec<f64>>();
        let mut inner = InnerProblem {
            kernel,
            diagonal: set.iter().map(|&v| diagonal(state.row(v as usize))).collect(),
            variables: of(&state.variables),
            low: of(&state.dual.low),
            high: of(&state.dual.high),
            pull: set.iter().map(|&v| state.pull(v as usize)).collect(),
            rise: vec![0.0; set.len()],
            fall: vec![0.0; set.len()],
        };
        (0..set.len()).for_each(|k| inner.mark(k));
        inner
    }

    fn mark(&mut self, k: usize) {
        self.rise[k] = if self.variables[k] < self.high[k] { 0.0 } else { f64::NEG_INFINITY };
        self.fall[k] = if self.variables[k] > self.low[k] { 0.0 } else { f64::INFINITY };
    }

    pub(super) fn into_variables(self) -> Vec<f64> {
        self.variables
    }

    /// Steps until no pair violates the conditions by more than `tolerance`, at most `limit`; how many were made.
    pub(super) fn run(&mut self, tolerance: f64, limit: usize, observer: &dyn Observer) -> Result<usize> {
        let q = self.variables.len();
        let mut extremes = seek::<E>(&mut self.pull, &self.rise, &self.fall, &[], &[], 0.0);
        for step in 0..limit {
            if step % STEPS_BETWEEN_CHECKS == 0 {
                check(observer)?;
            }
            let (top, i, bottom) = extremes;
            if !(top - bottom > tolerance) {
                return Ok(step);
            }
            let row = &self.kernel[i * q..(i + 1) * q];
            let (gain, j) = partner(row, &self.pull, &self.fall, &self.diagonal, top, self.diagonal[i]);
            if !(gain >= 0.0) {
                return Ok(step);
            }
            let curvature = self.diagonal[i] + self.diagonal[j] - 2.0 * row[j].wide();
            let step = (top - self.pull[j]) / curvature.max(LEAST_CURVATURE);
            let change = self.shift(i, j, step);
            let other = &self.kernel[j * q..(j + 1) * q];
            extremes = seek(&mut self.pull, &self.rise, &self.fall, row, other, change);
        }
        Ok(limit)
    }

    /// Moves variable `i` up and `j` down by as much as is wished and allowed; variables that reach a bound are on it exactly.
    fn shift(&mut self, i: usize, j: usize, step: f64) -> f64 {
        let (above, below) = (self.high[i] - self.variables[i], self.variables[j] - self.low[j]);
        let change = step.min(above).min(below);
        self.variables[i] = if change >= above { self.high[i] } else { self.variables[i] + change };
        self.variables[j] = if change >= below { self.low[j] } else { self.variables[j] - change };
        self.mark(i);
        self.mark(j);
        change
    }
}

/// What a pair gains, twice: the square of its distance over its curvature; negative where it can't be improved.
#[inline(always)]
fn gain(distance: f64, curvature: f64) -> f32 {
    let (distance, curvature, least) = (distance as f32, curvature as f32, LEAST_CURVATURE as f32);
    let curvature = if curvature > least { curvature } else { least };
    if distance > 0.0 { distance * distance / curvature } else { -1.0 }
}

versions! {
    /// Takes `change (row - other)` off the pulls (with rows that are not empty), and finds the largest of those that can rise with its place, and the least of those that can fall.
    fn seek<E: KernelElement>(
        pull: &mut [f64], rise: &[f64], fall: &[f64], row: &[E], other: &[E], change: f64,
    ) -> (f64, usize, f64) {
        let q = pull.len();
        if row.len() == q && other.len() == q {
            for k in 0..q {
                pull[k] = (row[k].wide() - other[k].wide()).mul_add(-change, pull[k]);
            }
        }
        let (mut top, mut place, mut bottom) = ([f64::NEG_INFINITY; WIDE], [0.0f64; WIDE], [f64::INFINITY; WIDE]);
        let whole = q / WIDE * WIDE;
        for start in (0..whole).step_by(WIDE) {
            let (p, r, f) = (&pull[start..start + WIDE], &rise[start..start + WIDE], &fall[start..start + WIDE]);
            for l in 0..WIDE {
                let (up, down) = (p[l] + r[l], p[l] + f[l]);
                place[l] = if up > top[l] { start as f64 } else { place[l] };
                top[l] = if up > top[l] { up } else { top[l] };
                bottom[l] = if down < bottom[l] { down } else { bottom[l] };
            }
        }
        let (mut best, mut at, mut least) = (f64::NEG_INFINITY, usize::MAX, f64::INFINITY);
        for l in 0..WIDE {
            let here = place[l] as usize + l;
            if top[l] > best || (top[l] == best && here < at) {
                (best, at) = (top[l], here);
            }
            least = if bottom[l] < least { bottom[l] } else { least };
        }
        for k in whole..q {
            let (up, down) = (pull[k] + rise[k], pull[k] + fall[k]);
            if up > best {
                (best, at) = (up, k);
            }
            least = if down < least { down } else { least };
        }
        (best, at.min(q.saturating_sub(1)), least)
    }

    /// The partner of greatest gain for a variable with pull `top`; a negative gain if there is none.
    fn partner<E: KernelElement>(
        row: &[E], pull: &[f64], fall: &[f64], diagonal: &[f64], top: f64, own: f64,
    ) -> (f32, usize) {
        let q = pull.len();
        let (row, fall, diagonal) = (&row[..q], &fall[..q], &diagonal[..q]);
        let (mut best, mut place) = ([-1.0f32; WIDE], [0.0f32; WIDE]);
        let whole = q / WIDE * WIDE;
        for start in (0..whole).step_by(WIDE) {
            let (k, p) = (&row[start..start + WIDE], &pull[start..start + WIDE]);
            let (f, d) = (&fall[start..start + WIDE], &diagonal[start..start + WIDE]);
            for l in 0..WIDE {
                let g = gain(top - (p[l] + f[l]), own + d[l] - 2.0 * k[l].wide());
                place[l] = if g > best[l] { start as f32 } else { place[l] };
                best[l] = if g > best[l] { g } else { best[l] };
            }
        }
        let (mut most, mut at) = (-1.0f32, usize::MAX);
        for l in 0..WIDE {
            let here = place[l] as usize + l;
            if best[l] > most || (best[l] == most && here < at) {
                (most, at) = (best[l], here);
            }
        }
        for k in whole..q {
            let g = gain(top - (pull[k] + fall[k]), own + diagonal[k] - 2.0 * row[k].wide());
            if g > most {
                (most, at) = (g, k);
            }
        }
        (most, at.min(q.saturating_sub(1)))
    }
}
