//! Gradient descent over all rows: any loss and any penalty, with a fixed, falling or searched rate.
//!
//! **Formula.** `w <- prox(w - eta F'(w), eta)`, where `F` is the mean loss and the proximal step belongs to the penalty. With a line
//! search, `eta` is halved until `F(w') <= F(w) + F'(w)'(w' - w) + |w' - w|^2 / (2 eta)` and doubled now and then; steps are accelerated by momentum, which restarts
//! whenever the objective rises. For losses with kinks the gradient is a subgradient, the rate must fall, and
//! the best point seen is kept.
//!
//! **Cost.** One pass over the data per step.
//!
//! **Reference.** Beck and Teboulle, "A fast iterative shrinkage-thresholding algorithm" (2009); O'Donoghue and Candès,
//! "Adaptive restart for accelerated gradient schemes" (2015).

use super::newton::SmoothObjective;
use super::{SolverOutcome, SolverStatus};
use crate::penalty::Penalty;
use ermine_core::error::Result;
use ermine_core::linalg::lanes;
use ermine_core::progress::{Event, Observer, report};

/// The rate of each step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StepRate {
    /// Always the same.
    Constant(f64),
    /// `rate / t^power`.
    Inverse {
        /// The rate of the first step.
        rate: f64,
        /// How fast it falls.
        power: f64,
    },
    /// Divided by 5 whenever the objective stops falling.
    Adaptive(f64),
    /// A line search in each step, with momentum. For smooth losses.
    Search,
}

/// How it is run.
#[derive(Clone, Copy)]
pub struct DescentOptions<'a> {
    /// The rate of each step.
    pub rate: StepRate,
    /// The penalty on the first `n_penalized` unknowns.
    pub penalty: Penalty,
    /// How many unknowns are penalized (the intercept comes last and isn't).
    pub n_penalized: usize,
    /// Stop when no optimality condition is violated by more than this.
    pub tolerance: f64,
    /// Most steps.
    pub max_iterations: usize,
    /// Receives progress events.
    pub observer: &'a dyn Observer,
}

/// The course of a descent.
#[derive(Debug, Clone)]
pub struct Descent {
    /// What is known about the point found.
    pub outcome: SolverOutcome,
    /// The objective after each step.
    pub curve: Vec<f64>,
}

impl DescentOptions<'_> {
    fn prox(&self, w: &mut [f64], step: f64) {
        w[..self.n_penalized].iter_mut().for_each(|w| *w = self.penalty.prox(*w, step));
    }

    fn penalty_of(&self, w: &[f64]) -> f64 {
        self.penalty.value(&w[..self.n_penalized])
    }

    fn violation(&self, w: &[f64], g: &[f64]) -> f64 {
        let penalized = (0..self.n_penalized).map(|j| self.penalty.violation(w[j], g[j]));
        penalized.chain(g[self.n_penalized..].iter().map(|g| g.abs())).fold(0.0, f64::max)
    }
}

/// Minimizes `problem + penalty` from `w` on.
pub fn minimize(problem: &dyn SmoothObjective, w: &mut Vec<f64>, options: &DescentOptions) -> Result<Descent> {
    match options.rate {
        StepRate::Search => accelerated(problem, w, options),
        _ => scheduled(problem, w, options),
    }
}

fn scheduled(problem: &dyn SmoothObjective, w: &mut Vec<f64>, options: &DescentOptions) -> Result<Descent> {
    let mut g = vec![0.0; w.len()];
    let mut curve = Vec::new();
    let mut best = (f64::INFINITY, w.clone(), f64::INFINITY);
    let mut status = SolverStatus::Limit;
    let mut slowdown = 1.0;
    for t in 0..options.max_iterations {
        let value = problem.value_gradient(w, &mut g) + options.penalty_of(w);
        let residual = options.violation(w, &g);
        curve.push(value);
        report(options.observer, Event::Step { done: t as u64, score: Some(("objective", value)) })?;
        let adaptive = matches!(options.rate, StepRate::Adaptive(_));
        if !(value.is_finite() || adaptive && slowdown < 1e100) {
            status = SolverStatus::Stalled;
            break;
        }
        if value < best.0 {
            best = (value, w.clone(), residual);
        } else if adaptive {
            // Too far: back to the best point, with shorter steps.
            slowdown *= 5.0;
            if slowdown > 1e30 {
                status = SolverStatus::Stalled;
                break;
            }
            w.clone_from(&best.1);
            problem.value_gradient(w, &mut g);
        }
        if residual <= options.tolerance {
            status = SolverStatus::Converged;
            break;
        }
        let rate = match options.rate {
            StepRate::Inverse { rate, power } => rate / ((t + 1) as f64).powf(power),
            StepRate::Constant(rate) | StepRate::Adaptive(rate) => rate / slowdown,
            StepRate::Search => 1.0,
        };
        lanes::axpy(-rate, &g, w);
        options.prox(w, rate);
    }
    *w = best.1;
    let outcome =
        SolverOutcome { status, n_iterations: curve.len(), value: best.0, lower_bound: None, residual: best.2 };
    Ok(Descent { outcome, curve })
}

fn accelerated(problem: &dyn SmoothObjective, w: &mut Vec<f64>, options: &DescentOptions) -> Result<Descent> {
    let m = w.len();
    let (mut ahead, mut g, mut g_next) = (w.clone(), vec![0.0; m], vec![0.0; m]);
    let mut value = f64::INFINITY;
    let (mut momentum, mut rate, mut status, mut residual) = (1.0f64, 1.0, SolverStatus::Limit, f64::INFINITY);
    let mut curve = Vec::new();
    for t in 0..options.max_iterations {
        let smooth = problem.value_gradient(&ahead, &mut g);
        let Some(next) = search(problem, &ahead, smooth, &g, &mut rate, options) else {
            status = SolverStatus::Stalled;
            break;
        };
        let reached = problem.value_gradient(&next, &mut g_next) + options.penalty_of(&next);
        if reached > value && momentum > 1.0 {
            // Momentum overshot: reset it and continue from the last point.
            (momentum, ahead) = (1.0, w.clone());
            continue;
        }
        curve.push(reached);
        report(options.observer, Event::Step { done: t as u64, score: Some(("objective", reached)) })?;
        residual = options.violation(&next, &g_next);
        let after = (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt()) / 2.0;
        let push = (momentum - 1.0) / after;
        ahead = next.iter().zip(w.iter()).map(|(n, w)| n + push * (n - w)).collect();
        (*w, value, momentum) = (next, reached, after);
        if residual <= options.tolerance {
            status = SolverStatus::Converged;
            break;
        }
        rate *= 1.2;
    }
    let outcome = SolverOutcome { status, n_iterations: curve.len(), value, lower_bound: None, residual };
    Ok(Descent { outcome, curve })
}

/// The proximal step from `from` with the largest rate, at most the present one, that the quadratic model covers.
fn search(
    problem: &dyn SmoothObjective,
    from: &[f64],
    value: f64,
    g: &[f64],
    rate: &mut f64,
    options: &DescentOptions,
) -> Option<Vec<f64>> {
    let mut unused = vec![0.0; from.len()];
    for _ in 0..100 {
        let mut next = from.to_vec();
        lanes::axpy(-*rate, g, &mut next);
        options.prox(&mut next, *rate);
        let step: Vec<f64> = next.iter().zip(from).map(|(n, f)| n - f).collect();
        let model = value + lanes::dot(g, &step) + lanes::square_sum(&step) / (2.0 * *rate);
        let reached = problem.value_gradient(&next, &mut unused);
        if reached <= model + 8.0 * f64::EPSILON * value.abs() {
            return Some(next);
        }
        *rate /= 2.0;
    }
    None
}
