//! `min F(w) + l1 sum_j abs(w_j)` over the coefficients (not the intercepts), for a smooth risk `F`: logistic regression with
//! L1 or elastic-net penalty, of two classes or many.
//!
//! **Idea.** Near `w`, `F` is a quadratic; quadratic plus L1 is what [`coordinate`](super::coordinate) solves without touching the data. Its
//! minimizer gives the direction, a line search the step. As Newton's method does, this converges in a few rounds, each
//! of one Hessian. Tables too wide for a Hessian work on the columns that matter: those in use and the worst violators.
//!
//! **Cost.** A round is one pass with `n m^2` flops for `m` columns at work.
//!
//! **Reference.** Yuan, Ho and Lin, "An improved GLMNET for L1-regularized logistic regression" (2012).

use super::coordinate::Quadratic;
use super::newton::{NewtonOptions, SmoothObjective};
use super::{SolverOutcome, SolverStatus};
use ermine_core::error::Result;
use ermine_core::linalg::{Matrix, lanes};
use ermine_core::progress::{Event, Observer, check, report};

/// A smooth risk whose coefficients, but not intercepts, may be given an L1 penalty.
pub trait L1Objective: SmoothObjective {
    /// Whether unknown `j` is a coefficient.
    fn is_coefficient(&self, j: usize) -> bool;

    /// The value at `w`, the gradient into `g`, the unknowns that matter there, and their Hessian (or its approximation).
    fn model(&self, w: &[f64], l1: f64, g: &mut [f64], observer: &dyn Observer) -> Result<(f64, Vec<usize>, Matrix)>;

    /// A lower bound on the minimum of the risk plus `l1` times the absolute coefficients; `None` if nothing penalizes them.
    fn lower_bound(&self, w: &[f64], l1: f64) -> Option<f64>;

    /// A cheaper problem with nearly the same minimizer, if there is one.
    fn cheaper(&self) -> Option<Box<dyn L1Objective + '_>>;
}

/// Minimizes `risk + l1 |coefficients|_1` from `w` on.
pub fn minimize(risk: &dyn L1Objective, l1: f64, w: &mut [f64], options: &NewtonOptions) -> Result<SolverOutcome> {
    if options.sampled_start
        && let Some(sample) = risk.cheaper()
    {
        let rough = NewtonOptions { tolerance: options.tolerance.max(1e-5), sampled_start: false, ..*options };
        minimize(sample.as_ref(), l1, w, &rough)?;
    }
    let absolute = |w: &[f64]| l1 * (0..w.len()).filter(|&j| risk.is_coefficient(j)).map(|j| w[j].abs()).sum::<f64>();
    let mut status = SolverStatus::Limit;
    let mut g = vec![0.0; w.len()];
    let (mut value, mut residual, mut n_iterations, mut polished) = (f64::INFINITY, f64::INFINITY, 0, 0);
    while n_iterations < options.max_iterations {
        let (smooth, chosen, hessian) = risk.model(w, l1, &mut g, options.observer)?;
        value = smooth + absolute(w);
        report(options.observer, Event::Step { done: n_iterations as u64, score: Some(("objective", value)) })?;
        let mut target = w.to_vec();
        solve_model(risk, (&hessian, &chosen), &g, l1, &mut target, options.observer)?;
        let direction: Vec<f64> = target.iter().zip(w.iter()).map(|(t, w)| t - w).collect();
        let promised = lanes::dot(&g, &direction) + absolute(&target) - absolute(w);
        residual = largest_violation(risk, w, &g, l1);
        if -promised <= options.tolerance * value.abs() && outside(risk, &g, &chosen, l1) <= 1e-6 * l1 {
            status = SolverStatus::Converged;
            polished += 1;
            // The gap shrinks with the violation, the objective with its square: a step or two more make the certificate as good as the point.
            if residual <= 1e-9 * l1 || polished > 2 {
                break;
            }
        }
        n_iterations += 1;
        if !search(risk, w, &direction, (value, promised), &absolute, options.observer)? {
            status = if status == SolverStatus::Converged { status } else { SolverStatus::Stalled };
            break;
        }
    }
    let lower_bound = risk.lower_bound(w, l1).map(|bound| bound.min(value));
    Ok(SolverOutcome { status, n_iterations, value, lower_bound, residual })
}

/// By how much an optimality condition is violated at most.
fn largest_violation(risk: &dyn L1Objective, w: &[f64], g: &[f64], l1: f64) -> f64 {
    let violation = |j: usize| match w[j] {
        _ if !risk.is_coefficient(j) => g[j].abs(),
        0.0 => (g[j].abs() - l1).max(0.0),
        w => (g[j] + l1.copysign(w)).abs(),
    };
    (0..w.len()).map(violation).fold(0.0, f64::max)
}

/// The columns at work on a table too wide for all of them: those in use, and the worst violators of their condition.
pub fn columns_at_work(w: &[f64], g: &[f64], l1: f64) -> Vec<usize> {
    let mut violators: Vec<usize> = (0..w.len()).filter(|&j| w[j] == 0.0 && g[j].abs() > l1).collect();
    violators.sort_by(|&a, &b| g[b].abs().total_cmp(&g[a].abs()).then(a.cmp(&b)));
    let mut chosen: Vec<usize> = (0..w.len()).filter(|&j| w[j] != 0.0).collect();
    violators.truncate((2 * chosen.len()).max(64));
    chosen.extend(violators);
    chosen.sort_unstable();
    chosen
}

/// Minimizes the quadratic model plus L1 over the unknowns at work, from `target` on.
fn solve_model(
    risk: &dyn L1Objective,
    (h, chosen): (&Matrix, &[usize]),
    g: &[f64],
    l1: f64,
    target: &mut [f64],
    observer: &dyn Observer,
) -> Result<()> {
    let m = chosen.len();
    let mut w: Vec<f64> = chosen.iter().map(|&j| target[j]).collect();
    let linear: Vec<f64> = h.times(&w).iter().zip(chosen).map(|(h, &j)| h - g[j]).collect();
    let rows: Vec<Vec<f64>> = (0..m).map(|i| h.row(i).to_vec()).collect();
    let l1s: Vec<f64> = chosen.iter().map(|&j| if risk.is_coefficient(j) { l1 } else { 0.0 }).collect();
    let quadratic = Quadratic { rows: &rows, linear: &linear, l1: &l1s, l2: &vec![0.0; m] };
    quadratic.minimize(&mut w, 1e-9 * l1, 1000, observer)?;
    chosen.iter().zip(w).for_each(|(&j, w)| target[j] = w);
    Ok(())
}

/// The worst violation among columns that are not at work.
fn outside(risk: &dyn L1Objective, g: &[f64], chosen: &[usize], l1: f64) -> f64 {
    let mut at_work = vec![false; g.len()];
    chosen.iter().for_each(|&j| at_work[j] = true);
    (0..g.len()).filter(|&j| !at_work[j] && risk.is_coefficient(j)).map(|j| g[j].abs() - l1).fold(0.0, f64::max)
}

/// Halves the step until the objective falls by a fraction of the predicted decrease; false if it doesn't.
fn search(
    risk: &dyn L1Objective,
    w: &mut [f64],
    direction: &[f64],
    (value, promised): (f64, f64),
    absolute: &dyn Fn(&[f64]) -> f64,
    observer: &dyn Observer,
) -> Result<bool> {
    let mut g = vec![0.0; w.len()];
    let mut length = 1.0f64;
    for _ in 0..40 {
        check(observer)?;
        let mut next = w.to_vec();
        for (next, d) in next.iter_mut().zip(direction) {
            // A step of 1 must land on the zeros exactly.
            *next = if length == 1.0 { *next + d } else { length.mul_add(*d, *next) };
        }
        let reached = risk.value_gradient(&next, &mut g) + absolute(&next);
        if reached <= value + 1e-4 * length * promised + 4.0 * f64::EPSILON * value.abs() {
            w.copy_from_slice(&next);
            return Ok(true);
        }
        length /= 2.0;
    }
    Ok(false)
}
