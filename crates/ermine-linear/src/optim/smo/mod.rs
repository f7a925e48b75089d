//! The dual problem of support vector machines, by sequential minimal optimization over working sets.
//!
//! **Problem.** `min b'Kb / 2 - p'b` subject to `low <= b <= high` and `sum b = total`, where `K` is a matrix of kernel values. In these signed variables all machines are one:
//!
//! | machine | `p` | `low`, `high` | `total` |
//! |---|---|---|---|
//! | classes `y = -1, +1` | `y` | `0, C` for `+1`; `-C, 0` for `-1` | 0 |
//! | numbers, tube of epsilon | `y - epsilon` and, as second variables of the same rows, `y + epsilon` | `0, C` and `-C, 0` | 0 |
//! | one class | 0 | `0, 1` | `nu n` |
//!
//! **Idea.** With `v = p - Kb`, a pair `i, j` with `b_i < high`, `b_j > low` and `v_i > v_j` can be improved by moving `b_i` up and `b_j` down; at the optimum there is no such pair, and
//! `v` of the rows inside their bounds is the intercept. Rows are optimized a working set at a time: the worst offenders, and half of the set before (`working_set`); within it pairs
//! are chosen by second-order gain (`inner`), whose cost doesn't depend on `n`; then all `v` are brought up to date with one pass over the kernel rows that changed, which all
//! cores share and of which, if they are expensive to compute, as many are kept as fit into the cache (`rows`). Small problems end with Newton steps over the free variables (`polish`), exact to rounding.
//!
//! **Certificate.** For any intercept the primal value is `b'Kb / 2 + sum max(low r, high r) + intercept total` with `r = v - intercept`; the dual bounds it from below.
//!
//! **Cost.** `rows changed * n * d` for kernel values that are not in the cache, memory `n + q^2` beyond it, with `q` the size of the working set.
//!
//! **Reference.** Platt, "Fast training of support vector machines using sequential minimal optimization" (1998); Fan, Chen, Lin, "Working set selection using second order information for
//! training support vector machines" (JMLR 2005); Joachims, "Making large-scale SVM learning practical" (1998) for working sets.

mod inner;
mod polish;
mod rows;
mod working_set;

use super::{SolverOutcome, SolverStatus};
use crate::kernel::{KernelElement, KernelMatrix, whole};
use ermine_core::error::Result;
use ermine_core::progress::{Event, Observer, report};
use inner::InnerProblem;
use rows::KernelRowCache;

/// The variables of a dual problem: one for each row, or two (those of the second kind after all of the first).
#[derive(Debug, Clone, PartialEq)]
pub struct DualProblem {
    /// The linear term `p`.
    pub pull: Vec<f64>,
    /// Least values; at most 0.
    pub low: Vec<f64>,
    /// Largest values; at least 0.
    pub high: Vec<f64>,
    /// What the variables add up to.
    pub total: f64,
}

/// Stopping criteria and resources.
#[derive(Clone, Copy)]
pub struct SmoOptions<'a> {
    /// Stop when no pair violates the optimality conditions by more than this.
    pub tolerance: f64,
    /// Most steps of pairs.
    pub max_steps: usize,
    /// Bytes for kernel rows.
    pub cache: usize,
    /// Most variables in a working set.
    pub working_set: usize,
    /// Receives progress events.
    pub observer: &'a dyn Observer,
}

/// Default maximum size of a working set: 1536 was fastest for 20,000 rows, 192 for 1,200 rows.
pub const WORKING_SET: usize = 1536;
/// So many variables for each one in a working set, down to [`LEAST_SET`].
const PER_PLACE: usize = 6;
/// Minimum number of variables for which a pass over all rows pays off.
const LEAST_SET: usize = 192;

/// A solution with its residual and gap.
#[derive(Debug, Clone)]
pub struct SmoSolution {
    /// The variables.
    pub variables: Vec<f64>,
    /// `Kb`: the decision value of each row without the intercept.
    pub sums: Vec<f64>,
    /// The intercept.
    pub intercept: f64,
    /// How it ended; the primal value, and the dual as its lower bound.
    pub outcome: SolverOutcome,
    /// How many kernel rows were computed, those of the cache once.
    pub n_kernel_rows: u64,
}

/// The state of the work.
pub(super) struct SmoState<'a> {
    dual: &'a DualProblem,
    n: usize,
    variables: Vec<f64>,
    sums: Vec<f64>,
}

impl SmoState<'_> {
    fn row(&self, v: usize) -> usize {
        if v < self.n { v } else { v - self.n }
    }

    /// `p - Kb` of a variable.
    fn pull(&self, v: usize) -> f64 {
        self.dual.pull[v] - self.sums[self.row(v)]
    }

    fn can_rise(&self, v: usize) -> bool {
        self.variables[v] < self.dual.high[v]
    }

    fn can_fall(&self, v: usize) -> bool {
        self.variables[v] > self.dual.low[v]
    }

    /// The largest pull of those that can rise and the least of those that can fall.
    fn extremes(&self) -> (f64, f64) {
        let (mut top, mut bottom) = (f64::NEG_INFINITY, f64::INFINITY);
        for v in 0..self.variables.len() {
            let pull = self.pull(v);
            top = if self.can_rise(v) { top.max(pull) } else { top };
            bottom = if self.can_fall(v) { bottom.min(pull) } else { bottom };
        }
        (top, bottom)
    }

    /// By how much the worst pair violates the optimality conditions.
    fn violation(&self) -> f64 {
        let (top, bottom) = self.extremes();
        (top - bottom).max(0.0)
    }

    fn intercept(&self) -> f64 {
        let free = (0..self.variables.len()).filter(|&v| self.can_rise(v) && self.can_fall(v));
        let (count, sum) = free.fold((0usize, 0.0), |(count, sum), v| (count + 1, sum + self.pull(v)));
        if count > 0 {
            return sum / count as f64;
        }
        match self.extremes() {
            (top, bottom) if top.is_finite() && bottom.is_finite() => (top + bottom) / 2.0,
            (top, _) if top.is_finite() => top,
            (_, bottom) if bottom.is_finite() => bottom,
            _ => 0.0,
        }
    }

    /// The primal value with this intercept, and a lower bound of it: the dual.
    ///
    /// The gap between them is a sum of `max(low r, high r) - b r`, none of which is negative, and of what the sum of the variables has left over. Summing these keeps the digits of a small gap,
    /// which the difference of two large values doesn't have.
    fn values(&self, intercept: f64) -> (f64, f64) {
        let (mut square, mut losses, mut gap) = (0.0, 0.0, 0.0);
        for (v, b) in self.variables.iter().enumerate() {
            let r = self.pull(v) - intercept;
            let loss = (self.dual.low[v] * r).max(self.dual.high[v] * r);
            square += b * self.sums[self.row(v)];
            losses += loss;
            gap += loss - b * r;
        }
        let value = square / 2.0 + losses + intercept * self.dual.total;
        (value, value - gap - (intercept * self.imbalance()).abs())
    }

    /// What the variables lack of the sum that they must have. Each step loses a rounding error of the size of the bounds.
    fn imbalance(&self) -> f64 {
        // Compensated: the sum itself must not add what is looked for.
        let (mut sum, mut lost) = (self.dual.total, 0.0);
        for b in &self.variables {
            let next = sum - b;
            lost += if sum.abs() >= b.abs() { (sum - next) - b } else { -(b + next) + sum };
            sum = next;
        }
        sum + lost
    }

    /// Gives what the sum of the variables lacks to the variable with the most room for it, and returns its row and change.
    fn balance(&mut self) -> Option<(u32, f64)> {
        let lacking = self.imbalance();
        let room = |v: usize| {
            if lacking > 0.0 { self.dual.high[v] - self.variables[v] } else { self.variables[v] - self.dual.low[v] }
        };
        let free = (0..self.variables.len()).filter(|&v| self.can_rise(v) && self.can_fall(v));
        let v = free.max_by(|&a, &b| room(a).total_cmp(&room(b)).then(b.cmp(&a)))?;
        let moved = self.variables[v] + lacking;
        if lacking == 0.0 || !(self.dual.low[v] < moved && moved < self.dual.high[v]) {
            return None;
        }
        let change = moved - self.variables[v];
        self.variables[v] = moved;
        Some((self.row(v) as u32, change))
    }
}

/// Minimizes over a matrix of kernel values.
pub fn solve<E: KernelElement>(
    gram: &dyn KernelMatrix<E>,
    dual: &DualProblem,
    options: &SmoOptions,
) -> Result<SmoSolution> {
    solve_from(gram, dual, options, None)
}

/// The same, beginning with the solution of a problem over the same matrix with narrower bounds.
pub fn solve_from<E: KernelElement>(
    gram: &dyn KernelMatrix<E>,
    dual: &DualProblem,
    options: &SmoOptions,
    earlier: Option<&SmoSolution>,
) -> Result<SmoSolution> {
    let n = gram.n_rows();
    let mut rows = KernelRowCache::new(n, if gram.is_dear() { options.cache } else { 0 });
    let mut state = SmoState { dual, n, variables: Vec::new(), sums: vec![0.0; n] };
    if let Some(earlier) = earlier.filter(|e| e.variables.len() == dual.pull.len() && dual.total == 0.0) {
        (state.variables, state.sums) = stretched(dual, earlier);
    } else {
        state.variables = start(dual);
        let begun: Vec<(u32, f64)> = (0..state.variables.len())
            .filter(|&v| state.variables[v] != 0.0)
            .map(|v| (state.row(v) as u32, state.variables[v]))
            .collect();
        rows.add(gram, &begun, &mut state.sums, options.observer)?;
    }
    let (mut status, mut steps) = descend(gram, &mut state, &mut rows, options, 0)?;
    // In double precision the last digits are cheap once the free variables are known.
    if status == SolverStatus::Converged && size_of::<E>() == size_of::<f64>() {
        for _ in 0..3 {
            polish::polish(gram, &mut state, &mut rows, options.observer)?;
            if state.violation() <= options.tolerance {
                break;
            }
            (status, steps) = descend(gram, &mut state, &mut rows, options, steps)?;
        }
    }
    if let Some(change) = state.balance() {
        rows.add(gram, &[change], &mut state.sums, options.observer)?;
    }
    let intercept = state.intercept();
    let (value, bound) = state.values(intercept);
    let outcome =
        SolverOutcome { status, n_iterations: steps, value, lower_bound: Some(bound), residual: state.violation() };
    Ok(SmoSolution {
        variables: state.variables,
        sums: state.sums,
        intercept,
        outcome,
        n_kernel_rows: rows.n_computed(),
    })
}

/// Variables that add up as they must: the first ones at their upper bound.
fn start(dual: &DualProblem) -> Vec<f64> {
    let mut left = dual.total;
    let take = |(_, &high): (&f64, &f64)| {
        let taken = left.clamp(0.0, high);
        left -= taken;
        taken
    };
    dual.low.iter().zip(&dual.high).map(take).collect()
}

/// An earlier solution `b`, multiplied by the factor for which the objective is least: `p'b / b'Kb`, or as far as the bounds let it go. Those at their bounds stay there
/// where the bounds decide.
fn stretched(dual: &DualProblem, earlier: &SmoSolution) -> (Vec<f64>, Vec<f64>) {
    let (b, n) = (&earlier.variables, earlier.sums.len());
    let room = |(v, b): (usize, &f64)| if *b > 0.0 { dual.high[v] / b } else { dual.low[v] / b };
    let widest = b.iter().enumerate().filter(|(_, b)| **b != 0.0).map(room).fold(f64::INFINITY, f64::min);
    let square: f64 = b.iter().enumerate().map(|(v, b)| b * earlier.sums[v % n.max(1)]).sum();
    let linear: f64 = b.iter().zip(&dual.pull).map(|(b, p)| b * p).sum();
    let best = if square > 0.0 { linear / square } else { 1.0 };
    let factor = Some(best.min(widest)).filter(|f| f.is_finite() && *f > 0.0).unwrap_or(0.0);
    // A variable that is at its bound but for rounding is at its bound.
    let settled = |(v, b): (usize, &f64)| {
        let moved = b * factor;
        let bound = if moved > 0.0 { dual.high[v] } else { dual.low[v] };
        if (moved - bound).abs() <= 1e-12 * bound.abs() { bound } else { moved.clamp(dual.low[v], dual.high[v]) }
    };
    (b.iter().enumerate().map(settled).collect(), earlier.sums.iter().map(|s| s * factor).collect())
}

/// Working set after working set, until no pair violates the conditions.
fn descend<E: KernelElement>(
    gram: &dyn KernelMatrix<E>,
    state: &mut SmoState,
    rows: &mut KernelRowCache<E>,
    options: &SmoOptions,
    mut steps: usize,
) -> Result<(SolverStatus, usize)> {
    let size = (state.variables.len() / PER_PLACE).max(LEAST_SET).min(options.working_set);
    let mut set: Vec<u32> = Vec::new();
    let mut done = 0;
    loop {
        let violation = state.violation();
        report(options.observer, Event::Step { done, score: Some(("violation", violation)) })?;
        if violation <= options.tolerance {
            return Ok((SolverStatus::Converged, steps));
        }
        if steps >= options.max_steps {
            return Ok((SolverStatus::Limit, steps));
        }
        working_set::choose(state, size, &mut set);
        let points: Vec<u32> = set.iter().map(|&v| state.row(v as usize) as u32).collect();
        let kernel = matrix(gram, &points, options.observer)?;
        let mut inner = InnerProblem::new(state, &set, &kernel, |i| gram.diagonal(i));
        let enough = if set.len() == state.variables.len() { 0.0 } else { 0.1 * violation };
        let made = inner.run(enough.max(0.5 * options.tolerance), options.max_steps - steps, options.observer)?;
        steps += made;
        done += 1;
        let moved = inner.into_variables();
        let mut changes = Vec::with_capacity(set.len());
        for (&v, value) in set.iter().zip(moved) {
            let change = value - state.variables[v as usize];
            state.variables[v as usize] = value;
            if change != 0.0 {
                changes.push((state.row(v as usize) as u32, change));
            }
        }
        if made == 0 {
            return Ok((SolverStatus::Stalled, steps));
        }
        rows.add(gram, &changes, &mut state.sums, options.observer)?;
    }
}

/// The kernel values among some rows.
fn matrix<E: KernelElement>(gram: &dyn KernelMatrix<E>, points: &[u32], observer: &dyn Observer) -> Result<Vec<E>> {
    whole(&*gram.select(points), observer)
}

#[cfg(test)]
mod tests;
