//! Linear support vector machines by their dual, one row at a time: for losses with a kink, and for tables too wide for a Hessian.
//!
//! **Problem.** `min |w|^2 / 2 + sum_i D_i b_i^2 / 2 - p'b + epsilon |b|_1` over `low <= b <= high`, with `w = sum_i b_i [x_i, B]`, where `B` is the constant that carries the intercept. Classes have
//! `p = y` and `b_i` between 0 and `y_i C_i`; numbers `p = y` and `|b_i| <= C_i`; squared losses no upper bound, but `D_i = 1 / (2 C_i)`.
//!
//! **Idea.** Given `w`, the gradient of one variable costs one row, `G_i = w'x_i + D_i b_i - p_i`, and its best value is known in closed form. Rows come in a new random order in each pass.
//! Rows at a bound whose gradient points out of it by more than the worst violation of the last pass are left alone until the rest is solved.
//!
//! **Cost.** A pass reads the active rows once. **Certificate.** The duality gap: the primal objective at `w` minus the dual objective.
//!
//! **Reference.** Hsieh et al., "A dual coordinate descent method for large-scale linear SVM" (ICML 2008); Ho and Lin, "Large-scale linear support vector regression" (JMLR 2012).

use super::row_reader::RowReader;
use super::{SolverOutcome, SolverStatus};
use ermine_core::error::Result;
use ermine_core::linalg::{Design, lanes};
use ermine_core::progress::{Event, Observer, report};
use ermine_core::rng::{self, Purpose};

/// The variables of a dual problem, one for each row.
#[derive(Debug, Clone, PartialEq)]
pub struct DualVariables {
    /// The linear term `p`.
    pub pull: Vec<f64>,
    /// Least values; at most 0.
    pub low: Vec<f64>,
    /// Largest values; at least 0, may be infinite.
    pub high: Vec<f64>,
    /// What is added to the curvature.
    pub diagonal: Vec<f64>,
    /// The strength of the absolute values.
    pub epsilon: f64,
}

/// When to stop.
#[derive(Clone, Copy)]
pub struct DualCoordinateOptions<'a> {
    /// The constant that carries the intercept; 0 for none.
    pub intercept: f64,
    /// Stop when no variable violates the optimality conditions by more than this.
    pub tolerance: f64,
    /// Most passes.
    pub max_passes: usize,
    /// Random seed of the row order.
    pub seed: u64,
    /// Receives progress events.
    pub observer: &'a dyn Observer,
}

/// What was found.
#[derive(Debug, Clone)]
pub struct DualCoordinateSolution {
    /// The coefficients.
    pub coefficients: Vec<f64>,
    /// The intercept.
    pub intercept: f64,
    /// The variables.
    pub variables: Vec<f64>,
    /// How it ended; the dual with its sign turned is the lower bound. The value is left to the caller, who knows the loss.
    pub outcome: SolverOutcome,
}

struct DualCoordinateDescent<'a> {
    x: &'a Design<'a>,
    reader: RowReader<'a>,
    rows: &'a DualVariables,
    b: Vec<f64>,
    w: Vec<f64>,
    constant: f64,
    intercept: f64,
}

impl DualCoordinateDescent<'_> {
    fn dot(&mut self, i: usize) -> f64 {
        let sum = match self.x {
            Design::Sparse(x) => {
                let (places, numbers) = x.rows().line(i);
                sparse_dot(places, numbers, &self.w)
            }
            Design::Dense(_) => self.reader.dot(i, &self.w),
        };
        sum + self.intercept * self.constant
    }

    fn add(&mut self, i: usize, change: f64) {
        self.reader.add(i, change, &mut self.w);
        self.intercept += change * self.constant;
    }

    /// The slopes upwards and downwards of variable `i`.
    fn slopes(&mut self, i: usize) -> (f64, f64) {
        let b = self.b[i];
        let g = self.dot(i) + self.rows.diagonal[i] * b - self.rows.pull[i];
        let epsilon = self.rows.epsilon;
        (if b >= 0.0 { g + epsilon } else { g - epsilon }, if b > 0.0 { g + epsilon } else { g - epsilon })
    }
}

/// `sum_j x_j w_j` over the places that are held, in four independent sums, because a single one would be limited by the latency of additions.
#[inline]
fn sparse_dot(places: &[u32], numbers: &[f64], w: &[f64]) -> f64 {
    let mut sums = [0.0f64; 4];
    let (mut places, mut numbers) = (places.chunks_exact(4), numbers.chunks_exact(4));
    for (j, x) in (&mut places).zip(&mut numbers) {
        (0..4).for_each(|k| sums[k] += x[k] * w[j[k] as usize]);
    }
    let rest = places.remainder().iter().zip(numbers.remainder()).map(|(&j, x)| x * w[j as usize]).sum::<f64>();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// Minimizes over the rows of a table.
pub fn minimize(x: &Design, rows: &DualVariables, options: &DualCoordinateOptions) -> Result<DualCoordinateSolution> {
    let n = x.n_rows();
    let mut reader = RowReader::new(x);
    let squares: Vec<f64> = (0..n).map(|i| reader.square_length(i) + options.intercept * options.intercept).collect();
    let mut run = DualCoordinateDescent {
        x,
        reader,
        rows,
        b: vec![0.0; n],
        w: vec![0.0; x.n_columns()],
        constant: options.intercept,
        intercept: 0.0,
    };
    let mut active: Vec<u32> = (0..n as u32).collect();
    let (mut limit, mut passes, mut status, mut residual) = (f64::INFINITY, 0, SolverStatus::Limit, f64::INFINITY);
    while passes < options.max_passes {
        report(options.observer, Event::Step { done: passes as u64, score: Some(("violation", residual)) })?;
        let whole = active.len() == n;
        rng::shuffle(&mut Purpose::DualCoordinateOrder.stream(options.seed, &[passes as u64]), &mut active);
        residual = pass(&mut run, &squares, &mut active, limit);
        passes += 1;
        if residual > options.tolerance {
            // Nothing is left out for longer than the violations of the rest are larger than its own.
            limit = if residual > 0.0 { residual } else { f64::INFINITY };
            continue;
        }
        if whole {
            status = SolverStatus::Converged;
            break;
        }
        active = (0..n as u32).collect();
        limit = f64::INFINITY;
    }
    let square = lanes::square_sum(&run.w) + run.intercept * run.intercept;
    let dual: f64 = (0..n)
        .map(|i| {
            let b = run.b[i];
            rows.pull[i] * b - rows.epsilon * b.abs() - rows.diagonal[i] * b * b / 2.0
        })
        .sum();
    let outcome =
        SolverOutcome { status, n_iterations: passes, value: 0.0, lower_bound: Some(dual - square / 2.0), residual };
    Ok(DualCoordinateSolution {
        intercept: run.intercept * options.intercept,
        coefficients: run.w,
        variables: run.b,
        outcome,
    })
}

/// Visits the active rows once; those that can be left alone leave the list. The largest violation seen.
fn pass(run: &mut DualCoordinateDescent, squares: &[f64], active: &mut Vec<u32>, limit: f64) -> f64 {
    /// Prefetch distance in rows.
    const AHEAD: usize = 4;
    let (mut worst, mut kept) = (0.0f64, 0);
    for k in 0..active.len() {
        run.reader.prefetch(active.get(k + AHEAD).copied());
        let i = active[k] as usize;
        let (up, down) = run.slopes(i);
        let (low, high, b) = (run.rows.low[i], run.rows.high[i], run.b[i]);
        let (can_rise, can_fall) = (b < high, b > low);
        let violation = if can_rise && up < 0.0 {
            -up
        } else if can_fall && down > 0.0 {
            down
        } else {
            0.0
        };
        let idle = (!can_rise || up > limit) && (!can_fall || -down > limit);
        if violation == 0.0 && idle {
            continue;
        }
        active[kept] = i as u32;
        kept += 1;
        if violation == 0.0 {
            continue;
        }
        worst = worst.max(violation);
        let curvature = squares[i] + run.rows.diagonal[i];
        let next = best(b, (up, down), curvature, run.rows.epsilon).clamp(low, high);
        if next != b {
            run.b[i] = next;
            run.add(i, next - b);
        }
    }
    active.truncate(kept);
    worst
}

/// The least point of `h (z - b)^2 / 2 + g (z - b) + epsilon |z|`, from its slopes at `b`.
fn best(b: f64, (up, down): (f64, f64), h: f64, epsilon: f64) -> f64 {
    // A row of zeros: only a bound can stop it.
    if !(h > 0.0) {
        return if up < 0.0 { f64::INFINITY } else { f64::NEG_INFINITY };
    }
    let g = if b > 0.0 {
        down - epsilon
    } else if b < 0.0 {
        up + epsilon
    } else {
        up - epsilon
    };
    let free = b - g / h;
    free.signum() * (free.abs() - epsilon / h).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Kernel, KernelPoints};
    use crate::optim::smo;
    use ermine_core::linalg::Dense;
    use ermine_core::progress::Silent;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        /// Without an intercept to carry, the dual is that of the kernel machine whose sums are free: compared through the optimality conditions and the gap.
        #[test]
        fn the_solver_reaches_the_optimum(n in 2usize..60, d in 1usize..6, seed in 0u64..1000, kind in 0usize..4, c in 0.05f64..5.0) {
            let mut stream = rng::stream(seed, &[]);
            let mut draw = || 2.0 * rng::uniform(&mut stream) - 1.0;
            let x: Vec<f64> = (0..n * d).map(|_| draw()).collect();
            let y: Vec<f64> = (0..n).map(|_| if kind < 2 { draw().signum() } else { draw() }).collect();
            let squared = kind % 2 == 1;
            let epsilon = if kind < 2 { 0.0 } else { 0.1 };
            let top = if squared { f64::INFINITY } else { c };
            let rows = DualVariables {
                low: y.iter().map(|y| if kind < 2 && *y > 0.0 { 0.0 } else { -top }).collect(),
                high: y.iter().map(|y| if kind < 2 && *y < 0.0 { 0.0 } else { top }).collect(),
                diagonal: vec![if squared { 0.5 / c } else { 0.0 }; n],
                pull: y.clone(),
                epsilon,
            };
            let design: Design = Dense::rows_f64(&x, n, d, d).unwrap().into();
            let options = DualCoordinateOptions { intercept: 1.5, tolerance: 1e-9, max_passes: 200_000, seed, observer: &Silent };
            let found = minimize(&design, &rows, &options).unwrap();
            prop_assert_eq!(found.outcome.status, SolverStatus::Converged);
            // The primal value from nothing but the coefficients.
            let z = design.times(&found.coefficients, found.intercept);
            let beyond = |i: usize| if kind < 2 { 1.0 - y[i] * z[i] } else { (y[i] - z[i]).abs() - epsilon }.max(0.0);
            let losses: f64 = (0..n).map(|i| c * if squared { beyond(i).powi(2) } else { beyond(i) }).sum();
            let w = lanes::square_sum(&found.coefficients) + (found.intercept / 1.5).powi(2);
            let (primal, bound) = (w / 2.0 + losses, found.outcome.lower_bound.unwrap());
            prop_assert!(primal - bound <= 1e-6 * (1.0 + primal) && primal - bound >= -1e-9 * (1.0 + primal), "{primal} {bound}");
        }
    }

    #[test]
    fn the_solver_agrees_with_smo() {
        // A large constant makes the intercept's share of the norm vanish.
        let mut stream = rng::stream(5, &[]);
        let x: Vec<f64> = (0..80).map(|_| rng::uniform(&mut stream)).collect();
        let y: Vec<f64> = (0..40).map(|i| if x[2 * i] + 0.3 * x[2 * i + 1] > 0.6 { 1.0 } else { -1.0 }).collect();
        let design: Design = Dense::rows_f64(&x, 40, 2, 2).unwrap().into();
        let low: Vec<f64> = y.iter().map(|y| if *y > 0.0 { 0.0 } else { -1.0 }).collect();
        let high: Vec<f64> = y.iter().map(|y| if *y > 0.0 { 1.0 } else { 0.0 }).collect();
        let rows = DualVariables {
            pull: y.clone(),
            low: low.clone(),
            high: high.clone(),
            diagonal: vec![0.0; 40],
            epsilon: 0.0,
        };
        let options = DualCoordinateOptions {
            intercept: 30.0,
            tolerance: 1e-8,
            max_passes: 2_000_000,
            seed: 1,
            observer: &Silent,
        };
        let found = minimize(&design, &rows, &options).unwrap();
        let points = KernelPoints::<f64>::new(Kernel::Linear, &design, &[0.0; 2]);
        let dual = smo::DualProblem { pull: y, low, high, total: 0.0 };
        let options =
            smo::SmoOptions { tolerance: 1e-8, max_steps: 1 << 30, cache: 0, working_set: 1024, observer: &Silent };
        let machine = smo::solve(&points, &dual, &options).unwrap();
        let (a, b) = (found.outcome.lower_bound.unwrap(), machine.outcome.lower_bound.unwrap());
        assert!((a - b).abs() < 2e-3 * b, "{a} {b}");
    }
}
