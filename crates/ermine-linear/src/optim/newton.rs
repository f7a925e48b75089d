//! Newton's method for smooth convex problems whose gradient is much cheaper than their Hessian.
//!
//! **Idea.** Three savings over the textbook:
//! 1. *A sampled start.* The minimizer over a tenth of the rows is within statistical error of the whole's, and ten times
//!    cheaper to find; the whole starts there.
//! 2. *One factorization for many steps.* After a Newton step near the minimum the Hessian hardly changes. Further steps
//!    use the old factorization, corrected by limited-memory updates ([`lbfgs`](super::lbfgs)), and cost one gradient each. A new
//!    Hessian is made only when the decrement stops falling fast.
//! 3. *Hessian and gradient in one pass*, where the problem can.
//!
//! Where only parts of the Hessian fit into memory, it is known by its products with vectors: conjugate gradients solve for the step, with the parts as preconditioner.
//!
//! The decrement `g'H^-1 g / 2` estimates how far the objective is above its minimum, whatever the units of the
//! columns; the method stops when it is below `tolerance` times the objective.
//!
//! **Cost.** Two or three Hessians, five to ten gradients.
//!
//! **Reference.** Boyd and Vandenberghe, "Convex Optimization", section 9.5; Nocedal and Wright, "Numerical Optimization",
//! chapters 3 and 7.

use super::conjugate;
use super::lbfgs::CurvatureMemory;
use super::{SolverOutcome, SolverStatus};
use ermine_core::error::Result;
use ermine_core::linalg::{Cholesky, Matrix, lanes};
use ermine_core::progress::{Event, Observer, check, report};

/// A smooth convex function of many unknowns.
pub trait SmoothObjective: Sync {
    /// How many unknowns.
    fn n_unknowns(&self) -> usize;

    /// The value at `w`; the gradient into `g`.
    fn value_gradient(&self, w: &[f64], g: &mut [f64]) -> f64;

    /// The value at `w`, the gradient into `g`, and the curvature there (which may be an approximation).
    fn curvature(&self, w: &[f64], g: &mut [f64], observer: &dyn Observer) -> Result<(f64, Curvature)>;

    /// Products of vectors with the Hessian at `w`, where the curvature is an approximation that converges slowly by itself.
    fn hessian(&self, _w: &[f64]) -> Option<HessianProduct<'_>> {
        None
    }

    /// A cheaper problem with nearly the same minimizer, if there is one.
    fn sample(&self) -> Option<Box<dyn SmoothObjective + '_>>;

    /// A proven bound on how far `w`, with gradient `g`, is above the minimum; 0 if the function offers none.
    fn excess(&self, _g: &[f64]) -> f64 {
        0.0
    }

    /// A proven lower bound on the minimum, from what is known at `w`; `None` if the function offers none.
    fn bound(&self, _w: &[f64]) -> Option<f64> {
        None
    }

    /// A value that the function can't fall below; when it comes close, the minimum is at infinity.
    fn infimum(&self) -> f64 {
        f64::NEG_INFINITY
    }
}

/// What a Hessian does to a vector.
pub type HessianProduct<'p> = Box<dyn Fn(&[f64]) -> Vec<f64> + Sync + 'p>;

/// A Hessian or its approximation.
#[derive(Debug, Clone)]
pub enum Curvature {
    /// The whole matrix.
    Full(Matrix),
    /// Blocks on the diagonal, one after the other.
    Blocks(Vec<Matrix>),
    /// The diagonal.
    Diagonal(Vec<f64>),
}

/// When to stop.
#[derive(Clone, Copy)]
pub struct NewtonOptions<'a> {
    /// Stop when the estimated distance to the minimum is below this share of the objective.
    pub tolerance: f64,
    /// Iterate until the proven bound on that distance is below this share of the objective, if there is a bound.
    pub certified: f64,
    /// Most steps.
    pub max_iterations: usize,
    /// Whether to start from a sample.
    pub sampled_start: bool,
    /// Receives progress events.
    pub observer: &'a dyn Observer,
}

/// A preconditioner is renewed if a step took more products with the Hessian than this: about as many as it costs.
const FEW_PRODUCTS: usize = 25;
/// A step takes no more products with the Hessian than this.
const MOST_PRODUCTS: usize = 250;
/// Pairs kept for limited-memory updates.
const PAIRS: usize = 12;

/// Minimizes from `w` on.
pub fn minimize(problem: &dyn SmoothObjective, w: &mut Vec<f64>, options: &NewtonOptions) -> Result<SolverOutcome> {
    if options.sampled_start
        && let Some(sample) = problem.sample()
    {
        // The sample's minimizer is off by its own statistical error; more digits would be wasted.
        let rough = NewtonOptions { tolerance: options.tolerance.max(1e-6), certified: f64::INFINITY, ..*options };
        minimize(sample.as_ref(), w, &rough)?;
    }
    let mut run = NewtonDescent::start(problem, std::mem::take(w), options.observer)?;
    let result = run.certify(options);
    *w = run.w;
    result
}

/// The inverse of a curvature.
enum InverseCurvature {
    Full(Cholesky),
    Blocks(Vec<Cholesky>),
    Diagonal(Vec<f64>),
}

impl InverseCurvature {
    fn new(curvature: &Curvature) -> InverseCurvature {
        let diagonal = |d: Vec<f64>| {
            let top = lanes::max_abs(&d).max(f64::MIN_POSITIVE);
            InverseCurvature::Diagonal(d.iter().map(|d| d.max(top * 1e-12)).collect())
        };
        match curvature {
            Curvature::Full(h) => damped(h).map_or_else(|| diagonal(h.diagonal()), InverseCurvature::Full),
            Curvature::Blocks(blocks) => match blocks.iter().map(damped).collect::<Option<Vec<_>>>() {
                Some(factors) => InverseCurvature::Blocks(factors),
                None => diagonal(blocks.iter().flat_map(Matrix::diagonal).collect()),
            },
            Curvature::Diagonal(d) => diagonal(d.clone()),
        }
    }

    fn solve(&self, g: &mut [f64]) {
        match self {
            InverseCurvature::Full(factor) => factor.solve(g),
            InverseCurvature::Blocks(factors) => {
                let mut rest = g;
                for factor in factors {
                    let (here, after) = rest.split_at_mut(factor.n_unknowns());
                    factor.solve(here);
                    rest = after;
                }
            }
            InverseCurvature::Diagonal(d) => g.iter_mut().zip(d).for_each(|(g, d)| *g /= d),
        }
    }
}

/// Factors a Hessian, with as little added to its diagonal as makes it positive definite.
fn damped(h: &Matrix) -> Option<Cholesky> {
    let top = h.diagonal().iter().fold(0.0f64, |t, d| t.max(*d));
    [0.0, 1e-10, 1e-8, 1e-6, 1e-4].into_iter().find_map(|damping| {
        if damping == 0.0 {
            return Cholesky::new(h, 1e-12);
        }
        let mut h = h.clone();
        (0..h.n_rows()).for_each(|j| h[(j, j)] += damping * h[(j, j)].max(top * 1e-8));
        Cholesky::new(&h, damping / 10.0)
    })
}

struct NewtonDescent<'p> {
    problem: &'p dyn SmoothObjective,
    w: Vec<f64>,
    g: Vec<f64>,
    value: f64,
    base: InverseCurvature,
    memory: CurvatureMemory,
    /// Steps since the curvature was made, and how many products the last of them took.
    age: usize,
    products: usize,
}

impl<'p> NewtonDescent<'p> {
    fn start(problem: &'p dyn SmoothObjective, w: Vec<f64>, observer: &dyn Observer) -> Result<Self> {
        let mut g = vec![0.0; w.len()];
        let (value, curvature) = problem.curvature(&w, &mut g, observer)?;
        Ok(NewtonDescent {
            problem,
            base: InverseCurvature::new(&curvature),
            w,
            g,
            value,
            memory: CurvatureMemory::new(PAIRS),
            age: 0,
            products: 0,
        })
    }

    fn refresh(&mut self, observer: &dyn Observer) -> Result<()> {
        let (value, curvature) = self.problem.curvature(&self.w, &mut self.g, observer)?;
        self.value = value;
        self.base = InverseCurvature::new(&curvature);
        self.memory.clear();
        (self.age, self.products) = (0, 0);
        Ok(())
    }

    /// What is to be subtracted: the gradient by the inverse of the curvature, or, where products with the Hessian are known, by conjugate gradients.
    fn direction(&mut self, before: f64, observer: &dyn Observer) -> Result<Vec<f64>> {
        let problem = self.problem;
        let Some(apply) = problem.hessian(&self.w) else {
            return Ok(self.memory.apply(&self.g, |q| self.base.solve(q)));
        };
        // A preconditioner from another point may have become a poor one.
        if self.age > 0 && self.products > FEW_PRODUCTS {
            self.refresh(observer)?;
        }
        // Far from the minimum a rough direction is enough. Near it, each step squares the distance.
        let rough = if before.is_finite() { (before / self.value.abs()).sqrt().clamp(1e-4, 0.1) } else { 0.1 };
        let base = &self.base;
        let solved =
            conjugate::solve_preconditioned(apply, |q| base.solve(q), &self.g, rough, MOST_PRODUCTS, observer)?;
        (self.age, self.products) = (self.age + 1, solved.n_iterations);
        Ok(solved.beta)
    }

    /// Iterates until the proven bound is tight enough. If the scales of the columns differ widely, it may lag far behind the point itself; then a better point is searched.
    fn certify(&mut self, options: &NewtonOptions) -> Result<SolverOutcome> {
        let mut outcome = self.iterate(options)?;
        let mut tolerance = options.tolerance;
        while options.certified.is_finite() {
            outcome.lower_bound = self.problem.bound(&self.w).map(|bound| bound.min(outcome.value));
            let near = outcome.gap().is_none_or(|gap| gap <= options.certified * outcome.value.abs());
            tolerance *= 1e-4;
            if near || outcome.status != SolverStatus::Converged || tolerance < 1e-26 {
                break;
            }
            let max_iterations = options.max_iterations.saturating_sub(outcome.n_iterations);
            let more = self.iterate(&NewtonOptions { tolerance, max_iterations, ..*options })?;
            let n_iterations = outcome.n_iterations + more.n_iterations;
            if more.n_iterations == 0 {
                break;
            }
            outcome = SolverOutcome { status: SolverStatus::Converged, n_iterations, ..more };
        }
        Ok(outcome)
    }

    fn iterate(&mut self, options: &NewtonOptions) -> Result<SolverOutcome> {
        let mut before = f64::INFINITY;
        let mut status = SolverStatus::Limit;
        let mut n_iterations = 0;
        while n_iterations < options.max_iterations {
            let direction = self.direction(before, options.observer)?;
            let decrement = lanes::dot(&direction, &self.g) / 2.0;
            report(
                options.observer,
                Event::Step { done: n_iterations as u64, score: Some(("objective", self.value)) },
            )?;
            if decrement.is_nan() || !self.value.is_finite() {
                status = SolverStatus::Stalled;
                break;
            }
            let size = self.value.abs().max(f64::MIN_POSITIVE);
            if decrement <= options.tolerance * size {
                status = SolverStatus::Converged;
                if self.problem.excess(&self.g) <= options.certified * size || decrement <= 1e-26 * size {
                    break;
                }
            }
            if self.value - self.problem.infimum() <= 1e-9 {
                status = SolverStatus::Unbounded;
                break;
            }
            // Falling slowly on old curvature: renew it.
            if decrement > 0.25 * before && self.memory.len() >= 2 {
                self.refresh(options.observer)?;
                before = f64::INFINITY;
                continue;
            }
            before = decrement;
            n_iterations += 1;
            if !self.step(&direction, options.observer)? {
                if status == SolverStatus::Converged {
                    break;
                }
                if self.memory.is_empty() {
                    status = SolverStatus::Stalled;
                    break;
                }
                self.refresh(options.observer)?;
            }
        }
        let residual = lanes::max_abs(&self.g);
        Ok(SolverOutcome { status, n_iterations, value: self.value, lower_bound: None, residual })
    }

    /// A step along `-direction`, halved until the objective falls enough; false if it doesn't.
    fn step(&mut self, direction: &[f64], observer: &dyn Observer) -> Result<bool> {
        let slope = lanes::dot(direction, &self.g);
        let rounding = 4.0 * f64::EPSILON * self.value.abs();
        let mut length = 1.0;
        let mut g = vec![0.0; self.g.len()];
        for _ in 0..40 {
            check(observer)?;
            let mut w = self.w.clone();
            lanes::axpy(-length, direction, &mut w);
            let value = self.problem.value_gradient(&w, &mut g);
            if value <= self.value - 1e-4 * length * slope + rounding {
                if self.products == 0 {
                    let step = w.iter().zip(&self.w).map(|(a, b)| a - b).collect();
                    let change = g.iter().zip(&self.g).map(|(a, b)| a - b).collect();
                    self.memory.push(step, change);
                }
                (self.w, self.g, self.value) = (w, g, value);
                return Ok(true);
            }
            length *= if value.is_finite() { 0.5 } else { 0.1 };
        }
        Ok(false)
    }
}
