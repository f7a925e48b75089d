//! `min F(w) + l1 sum_j abs(w_j)` over the coefficients (not the intercept), for a smooth risk `F`: logistic regression with
//! L1 or elastic-net penalty.
//!
//! **Idea.** Near `w`, `F` is a quadratic; quadratic plus L1 is what [`coordinate`](super::coordinate) solves without touching the data. Its
//! minimiser gives the direction, a line search the step. As Newton's method does, this converges in a few rounds, each
//! of one Hessian. Tables too wide for a Hessian work on the columns that matter: those in use and the worst violators.
//!
//! **Cost.** A round is one pass with `n m^2` flops for `m` columns at work.
//!
//! **Reference.** Yuan, Ho and Lin, "An improved GLMNET for L1-regularized logistic regression" (2012).

use super::coordinate::Quadratic;
use super::newton::{Curvature, Options, Smooth};
use super::risk::{FULL_HESSIAN, Risk};
use super::{Outcome, Status};
use crate::error::Result;
use crate::linalg::{Matrix, lanes};
use crate::loss::Loss;
use crate::progress::{Event, report};

/// Minimises `risk + l1 |beta|_1` from `w` on.
pub fn minimise<L: Loss>(risk: &Risk<L>, l1: f64, w: &mut [f64], options: &Options) -> Result<Outcome> {
    let (n, m) = (risk.x.n_rows(), risk.n_unknowns());
    let step = (n / (20 * m).max(2000)).min(10);
    if options.sampled_start && step >= 4 {
        let rough = Options { tolerance: options.tolerance.max(1e-5), sampled_start: false, ..*options };
        minimise(&risk.every(step), l1, w, &rough)?;
    }
    let p = risk.x.n_columns();
    let absolute = |w: &[f64]| l1 * w[..p].iter().map(|w| w.abs()).sum::<f64>();
    let mut status = Status::Limit;
    let mut g = vec![0.0; m];
    let (mut value, mut n_iterations) = (f64::INFINITY, 0);
    while n_iterations < options.max_iterations {
        let (smooth, chosen, hessian) = model(risk, w, l1, &mut g);
        value = smooth + absolute(w);
        report(options.observer, Event::Step { done: n_iterations as u64, score: Some(("objective", value)) })?;
        let mut target = w.to_vec();
        solve_model(&hessian, &chosen, &g, l1, p, &mut target);
        let direction: Vec<f64> = target.iter().zip(w.iter()).map(|(t, w)| t - w).collect();
        let promised = lanes::dot(&g, &direction) + absolute(&target) - absolute(w);
        if -promised <= options.tolerance * value.abs() && outside(&g, w, &chosen, l1, p) <= 1e-6 * l1 {
            status = Status::Converged;
            break;
        }
        n_iterations += 1;
        if !search(risk, w, &direction, value, promised, &absolute) {
            status = Status::Stalled;
            break;
        }
    }
    let violation = |j: usize| match w[j] {
        0.0 => (g[j].abs() - l1).max(0.0),
        w => (g[j] + l1.copysign(w)).abs(),
    };
    let residual = (0..p).map(violation).fold(g[p..].first().map_or(0.0, |g| g.abs()), f64::max);
    let lower_bound = risk.lower_bound(w, l1).map(|bound| bound.min(value));
    Ok(Outcome { status, n_iterations, value, lower_bound, residual })
}

/// The value and gradient at `w`, the unknowns at work, and their Hessian.
fn model<L: Loss>(risk: &Risk<L>, w: &[f64], l1: f64, g: &mut [f64]) -> (f64, Vec<usize>, Matrix) {
    let p = risk.x.n_columns();
    if p <= FULL_HESSIAN
        && let (value, Curvature::Full(h)) = risk.curvature(w, g)
    {
        return (value, (0..w.len()).collect(), h);
    }
    let value = risk.value_gradient(w, g);
    let mut violators: Vec<usize> = (0..p).filter(|&j| w[j] == 0.0 && g[j].abs() > l1).collect();
    violators.sort_by(|&a, &b| g[b].abs().total_cmp(&g[a].abs()).then(a.cmp(&b)));
    let mut chosen: Vec<usize> = (0..p).filter(|&j| w[j] != 0.0).collect();
    violators.truncate((2 * chosen.len()).max(64));
    chosen.extend(violators);
    chosen.sort_unstable();
    let h = risk.partial_hessian(w, &chosen);
    chosen.extend((p < w.len()).then_some(p));
    (value, chosen, h)
}

/// Minimises the quadratic model plus L1 over the unknowns at work, from `target` on.
fn solve_model(h: &Matrix, chosen: &[usize], g: &[f64], l1: f64, p: usize, target: &mut [f64]) {
    let m = chosen.len();
    let mut w: Vec<f64> = chosen.iter().map(|&j| target[j]).collect();
    let linear: Vec<f64> = h.times(&w).iter().zip(chosen).map(|(h, &j)| h - g[j]).collect();
    let rows: Vec<Vec<f64>> = (0..m).map(|i| h.row(i).to_vec()).collect();
    let l1s: Vec<f64> = chosen.iter().map(|&j| if j < p { l1 } else { 0.0 }).collect();
    let quadratic = Quadratic { rows: &rows, linear: &linear, l1: &l1s, l2: &vec![0.0; m] };
    quadratic.minimise(&mut w, 1e-9 * l1, 1000);
    chosen.iter().zip(w).for_each(|(&j, w)| target[j] = w);
}

/// The worst violation among columns that are not at work.
fn outside(g: &[f64], w: &[f64], chosen: &[usize], l1: f64, p: usize) -> f64 {
    let mut at_work = vec![false; w.len()];
    chosen.iter().for_each(|&j| at_work[j] = true);
    (0..p).filter(|&j| !at_work[j]).map(|j| g[j].abs() - l1).fold(0.0, f64::max)
}

/// Halves the step until the objective falls by a share of what the model promised; false where it doesn't.
fn search<L: Loss>(
    risk: &Risk<L>,
    w: &mut [f64],
    direction: &[f64],
    value: f64,
    promised: f64,
    absolute: &dyn Fn(&[f64]) -> f64,
) -> bool {
    let mut g = vec![0.0; w.len()];
    let mut length = 1.0f64;
    for _ in 0..40 {
        let mut next = w.to_vec();
        for (next, d) in next.iter_mut().zip(direction) {
            // A step of 1 must land on the zeros exactly.
            *next = if length == 1.0 { *next + d } else { length.mul_add(*d, *next) };
        }
        let reached = risk.value_gradient(&next, &mut g) + absolute(&next);
        if reached <= value + 1e-4 * length * promised + 4.0 * f64::EPSILON * value.abs() {
            w.copy_from_slice(&next);
            return true;
        }
        length /= 2.0;
    }
    false
}
