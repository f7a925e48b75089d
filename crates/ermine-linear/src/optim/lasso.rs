//! Lasso and elastic net: `min_w  sum_i w_i (y_i - x_i'beta - b)^2 / (2 W) + lambda (r |beta|_1 + (1 - r) |beta|^2 / 2)`, alone or for a
//! falling sequence of `lambda`.
//!
//! **Idea.** Few coefficients are not zero, so few columns matter. A working set holds the columns that have ever
//! mattered; their products with each other are computed once, in batches, by the Gram kernel, and the small
//! problem is solved by [`coordinate`](super::coordinate), which never touches the data. Then the correlations of all columns with
//! the residual show whether a column outside violates its optimality condition; the worst ones join.
//!
//! Correlations are one pass over the data for each renewal of the working set. If there are many strengths and the table is
//! much taller than wide, the products of all columns cost less than all those passes: they are made in one, and the data is not read again.
//!
//! **Certificate.** The residual, scaled so that no correlation exceeds the L1 strength, is feasible for the dual problem:
//! `gap = primal - dual` bounds the distance to the optimum.
//!
//! **Reference.** Massias, Gramfort and Salmon, "Celer: a fast solver for the lasso with dual extrapolation" (2018) for
//! working sets; Tibshirani et al., "Strong rules for discarding predictors in lasso-type problems" (2012).

use super::coordinate::Quadratic;
use super::moments::{Moments, mean};
use super::{SolverOutcome, SolverStatus};
use ermine_core::error::Result;
use ermine_core::linalg::{Design, Matrix, gram, lanes};
use ermine_core::progress::{Observer, check};

/// A lasso or elastic-net problem over data.
#[derive(Debug, Clone, Copy)]
pub struct LassoProblem<'a> {
    /// The columns.
    pub x: &'a Design<'a>,
    /// The target.
    pub y: &'a [f64],
    /// Row weights; all 1 if `None`.
    pub weights: Option<&'a [f64]>,
    /// Whether there is an intercept (which is never penalized).
    pub intercept: bool,
    /// The share of L1 in the penalty, above 0 up to 1.
    pub l1_ratio: f64,
    /// The gap to reach, as a share of the objective at zero.
    pub tolerance: f64,
    /// How often the working set may be renewed for each strength.
    pub max_iterations: usize,
    /// Receives progress, and may cancel the work.
    pub observer: &'a dyn Observer,
}

/// A solution for one strength.
#[derive(Debug, Clone)]
pub struct LassoSolution {
    /// The strength.
    pub lambda: f64,
    /// One coefficient for each column.
    pub coefficients: Vec<f64>,
    /// The intercept; 0 without.
    pub intercept: f64,
    /// What is known about it.
    pub outcome: SolverOutcome,
}

/// A problem on its way: what the data looks like from the working set.
#[derive(Debug)]
pub struct LassoSolver<'a> {
    problem: LassoProblem<'a>,
    total: f64,
    x_mean: Vec<f64>,
    y_mean: f64,
    /// Centered products of the columns with the target, divided by the total weight.
    xy: Vec<f64>,
    yy: f64,
    /// Centered products of all columns, divided by the total weight, where they were made.
    all: Option<Matrix>,
    /// The working set, in the order of joining, and the place of each column in it.
    members: Vec<usize>,
    place: Vec<Option<usize>>,
    /// Centered products of members with members, divided by the total weight.
    rows: Vec<Vec<f64>>,
    /// Coefficients of the members.
    beta: Vec<f64>,
    /// Centered products of all columns with the residual, divided by the total weight.
    correlations: Vec<f64>,
    /// Half the mean squared residual.
    loss: f64,
    /// The strength that was solved last.
    before: Option<f64>,
}

impl<'a> LassoProblem<'a> {
    /// The smallest strength for which all coefficients are zero.
    pub fn largest_lambda(&self) -> f64 {
        self.solver(1).largest_lambda()
    }

    /// Solves for one strength.
    pub fn solve(&self, lambda: f64) -> Result<LassoSolution> {
        self.solver(1).solve(lambda)
    }

    /// Solves for falling strengths, each from the solution before it.
    pub fn path(&self, lambdas: &[f64]) -> Result<Vec<LassoSolution>> {
        self.solver(lambdas.len()).path(lambdas)
    }

    /// `n` strengths from the largest that matters down to `epsilon` times it, evenly in the logarithm.
    pub fn grid(&self, n: usize, epsilon: f64) -> Vec<f64> {
        self.solver(1).grid(n, epsilon)
    }

    /// Reads the data, for about so many strengths to come.
    pub fn solver(&self, n_strengths: usize) -> LassoSolver<'a> {
        if self.prefers_products(n_strengths) { LassoSolver::with_products(*self) } else { LassoSolver::new(*self) }
    }

    /// Products of all columns cost as much as one pass for every twenty columns; a strength takes a pass or two. They must not take more memory than the data.
    fn prefers_products(&self, n_strengths: usize) -> bool {
        let (n, p) = (self.x.n_rows(), self.x.n_columns());
        match self.x {
            Design::Dense(_) => p <= n / 2 && p <= 20 * n_strengths,
            Design::Sparse(x) => p * p <= x.n_values() && p <= 20 * n_strengths,
        }
    }
}

impl<'a> LassoSolver<'a> {
    fn new(problem: LassoProblem<'a>) -> Self {
        let (n, p) = (problem.x.n_rows(), problem.x.n_columns());
        let total = problem.weights.map_or(n as f64, |w| w.iter().sum());
        let y_mean = if problem.intercept { mean(problem.y, problem.weights) } else { 0.0 };
        let weight = |i: usize| problem.weights.map_or(1.0, |w| w[i]) / total;
        let shares: Vec<f64> = (0..n).map(weight).collect();
        let centered: Vec<f64> = problem.y.iter().zip(&shares).map(|(y, w)| (y - y_mean) * w).collect();
        let yy = centered.iter().zip(problem.y).map(|(c, y)| c * (y - y_mean)).sum();
        let (mut xy, mut x_mean) = (Vec::new(), vec![0.0; p]);
        if problem.intercept {
            let mut both = problem.x.transposed_times_all([&shares, &centered]).into_iter();
            (x_mean, xy) = (both.next().unwrap_or_default(), both.next().unwrap_or_default());
            let offset: f64 = centered.iter().sum();
            xy.iter_mut().zip(&x_mean).for_each(|(c, m)| *c -= offset * m);
        } else {
            xy.extend(problem.x.transposed_times(&centered));
        }
        LassoSolver::start(problem, total, (x_mean, y_mean), xy, yy, None)
    }

    /// With the products of all columns.
    fn with_products(problem: LassoProblem<'a>) -> Self {
        let moments = Moments::of(problem.x, &[problem.y], problem.weights, problem.intercept);
        let Moments { total, x_mean, y_mean, mut xx, xy, yy } = moments;
        xx.data_mut().iter_mut().for_each(|v| *v /= total);
        let xy = xy.into_iter().next().unwrap_or_default().iter().map(|v| v / total).collect();
        let (y_mean, yy) = (y_mean.first().copied().unwrap_or(0.0), yy.first().copied().unwrap_or(0.0) / total);
        LassoSolver::start(problem, total, (x_mean, y_mean), xy, yy, Some(xx))
    }

    fn start(
        problem: LassoProblem<'a>,
        total: f64,
        (x_mean, y_mean): (Vec<f64>, f64),
        xy: Vec<f64>,
        yy: f64,
        all: Option<Matrix>,
    ) -> Self {
        LassoSolver {
            problem,
            total,
            y_mean,
            yy,
            all,
            members: Vec::new(),
            place: vec![None; x_mean.len()],
            x_mean,
            rows: Vec::new(),
            beta: Vec::new(),
            correlations: xy.clone(),
            xy,
            loss: yy / 2.0,
            before: None,
        }
    }

    /// The means of the columns; zeros without intercept.
    pub fn x_mean(&self) -> &[f64] {
        &self.x_mean
    }

    /// The smallest strength for which all coefficients are zero.
    pub fn largest_lambda(&self) -> f64 {
        lanes::max_abs(&self.xy) / self.problem.l1_ratio
    }

    /// `n` strengths from the largest that matters down to `epsilon` times it, evenly in the logarithm.
    pub fn grid(&self, n: usize, epsilon: f64) -> Vec<f64> {
        let top = self.largest_lambda();
        (0..n).map(|i| top * epsilon.powf(i as f64 / (n.max(2) - 1) as f64)).collect()
    }

    /// Solves for falling strengths, each from the solution before it.
    pub fn path(&mut self, lambdas: &[f64]) -> Result<Vec<LassoSolution>> {
        self.before = Some(self.before.unwrap_or_else(|| self.largest_lambda()));
        lambdas.iter().map(|&lambda| self.solve(lambda)).collect()
    }

    /// Solves for one strength, from the solution before it.
    pub fn solve(&mut self, lambda: f64) -> Result<LassoSolution> {
        let (l1, l2) = (lambda * self.problem.l1_ratio, lambda * (1.0 - self.problem.l1_ratio));
        // Columns that the strong rule keeps are likely to join: fetch them in one batch.
        let before = self.before.replace(lambda).unwrap_or(lambda);
        let strong = (2.0 * l1 - before * self.problem.l1_ratio).max(l1 * 0.5).min(l1);
        let mut outcome = SolverOutcome {
            status: SolverStatus::Limit,
            n_iterations: 0,
            value: 0.0,
            lower_bound: None,
            residual: 0.0,
        };
        for iteration in 0..self.problem.max_iterations {
            check(self.problem.observer)?;
            let joined = self.admit(l1, if iteration == 0 { strong } else { l1 });
            let size = self.members.len();
            let violation = {
                let linear: Vec<f64> = self.members.iter().map(|&j| self.xy[j]).collect();
                let (l1s, l2s) = (vec![l1; size], vec![l2; size]);
                let quadratic = Quadratic { rows: &self.rows, linear: &linear, l1: &l1s, l2: &l2s };
                // As l1 |beta|_1 <= yy / 2, violations of this size cost a quarter of the allowed gap at most.
                let tolerance = l1 * (self.problem.tolerance / 2.0).max(1e-14);
                quadratic.minimize(&mut self.beta, tolerance, 4000, self.problem.observer)?
            };
            self.correlate();
            outcome = self.assess(l1, l2, iteration + 1, violation);
            let outside = self.worst_outside(l1);
            let close = outcome.gap().is_some_and(|gap| gap <= self.problem.tolerance * self.yy / 2.0);
            if outside <= 1e-9 * l1 || (close && outside <= 1e-4 * l1) {
                outcome.status = if close { SolverStatus::Converged } else { SolverStatus::Stalled };
                break;
            }
            if joined == 0 && iteration > 0 && outside <= 0.0 {
                break;
            }
        }
        Ok(self.solution(lambda, outcome))
    }

    /// By how much the worst column outside the working set violates its condition.
    fn worst_outside(&self, l1: f64) -> f64 {
        let violation = |j: usize| if self.place[j].is_none() { self.correlations[j].abs() - l1 } else { 0.0 };
        (0..self.place.len()).map(violation).fold(0.0, f64::max)
    }

    /// Takes the worst columns above `threshold` into the working set; returns how many.
    fn admit(&mut self, l1: f64, threshold: f64) -> usize {
        let mut candidates: Vec<usize> = (0..self.place.len())
            .filter(|&j| self.place[j].is_none() && self.correlations[j].abs() > threshold.min(l1))
            .collect();
        let magnitude = |j: usize| self.correlations[j].abs();
        candidates.sort_by(|&a, &b| magnitude(b).total_cmp(&magnitude(a)).then(a.cmp(&b)));
        let support = self.beta.iter().filter(|b| **b != 0.0).count();
        candidates.truncate((2 * support).max(32));
        if !candidates.is_empty() {
            self.join(&candidates);
        }
        candidates.len()
    }

    /// Computes the products of new members.
    fn join(&mut self, new: &[usize]) {
        let old = self.members.len();
        for &j in new {
            self.place[j] = Some(self.members.len());
            self.members.push(j);
            self.beta.push(0.0);
        }
        let products = self.products(new, &self.members);
        for row in &mut self.rows {
            row.resize(self.members.len(), 0.0);
        }
        for (a, row) in products.into_iter().enumerate() {
            for (b, other) in self.rows[..old].iter_mut().enumerate() {
                other[old + a] = row[b];
            }
            self.rows.push(row);
        }
    }

    /// Centered products of `left` with `right`, divided by the total weight.
    fn products(&self, left: &[usize], right: &[usize]) -> Vec<Vec<f64>> {
        let problem = &self.problem;
        if let Some(all) = &self.all {
            return left.iter().map(|&a| right.iter().map(|&b| all[(a, b)]).collect()).collect();
        }
        match problem.x {
            Design::Dense(x) => {
                let shift = if problem.intercept { &self.x_mean[..] } else { &[] };
                let raw = gram::cross_products(x, left, right, shift, problem.weights);
                (0..left.len()).map(|a| raw.row(a).iter().map(|v| v / self.total).collect()).collect()
            }
            Design::Sparse(x) => {
                let raw = x.cross_products(left, right, problem.weights);
                let center = |a: usize, b: usize, v: f64| v / self.total - self.x_mean[left[a]] * self.x_mean[right[b]];
                (0..left.len())
                    .map(|a| raw.row(a).iter().enumerate().map(|(b, &v)| center(a, b, v)).collect())
                    .collect()
            }
        }
    }

    /// Brings correlations and loss up to date with the coefficients.
    fn correlate(&mut self) {
        let Some(all) = &self.all else { return self.correlate_from_data() };
        self.correlations.copy_from_slice(&self.xy);
        for (&j, &b) in self.members.iter().zip(&self.beta).filter(|(_, b)| **b != 0.0) {
            lanes::axpy(-b, all.row(j), &mut self.correlations);
        }
        // |y - X beta|^2 = yy - beta'(xy + correlations).
        let explained: f64 =
            self.members.iter().zip(&self.beta).map(|(&j, b)| b * (self.xy[j] + self.correlations[j])).sum();
        self.loss = ((self.yy - explained) / 2.0).max(0.0);
    }

    /// The same from the residuals: predictions read the columns in use, and one pass over all of them does the rest.
    fn correlate_from_data(&mut self) {
        let problem = &self.problem;
        let used = || self.members.iter().copied().zip(self.beta.iter().copied()).filter(|(_, b)| *b != 0.0);
        let (chosen, beta): (Vec<usize>, Vec<f64>) = used().unzip();
        let offset: f64 = used().map(|(j, b)| b * self.x_mean[j]).sum();
        let mut residuals = problem.x.times_of(&chosen, &beta, self.y_mean - offset);
        let (mut sum, mut squares) = (0.0, 0.0);
        for (i, r) in residuals.iter_mut().enumerate() {
            let residual = problem.y[i] - *r;
            *r = residual * (problem.weights.map_or(1.0, |w| w[i]) / self.total);
            sum += *r;
            squares += *r * residual;
        }
        self.loss = squares / 2.0;
        self.correlations = problem.x.transposed_times(&residuals);
        if problem.intercept {
            self.correlations.iter_mut().zip(&self.x_mean).for_each(|(c, m)| *c -= sum * m);
        }
    }

    /// Primal value, dual bound and optimality residual at the present coefficients.
    fn assess(&self, l1: f64, l2: f64, n_iterations: usize, violation: f64) -> SolverOutcome {
        let absolute: f64 = self.beta.iter().map(|b| b.abs()).sum();
        let square: f64 = self.beta.iter().map(|b| b * b).sum();
        let value = self.loss + l1 * absolute + l2 * square / 2.0;
        // The dual point is the residual times s. Its value is s <r, y> - s^2 |r|^2 / 2 - sum phi*(s c_j).
        let product = self.yy - self.members.iter().zip(&self.beta).map(|(&j, b)| b * self.xy[j]).sum::<f64>();
        let top = lanes::max_abs(&self.correlations);
        let bound = |s: f64| {
            let conjugate = |c: &f64| match (s * c.abs() - l1).max(0.0) {
                0.0 => 0.0,
                beyond if l2 > 0.0 => beyond * beyond / (2.0 * l2),
                beyond if beyond <= 1e-14 * l1 => 0.0,
                _ => f64::INFINITY,
            };
            s * product - s * s * self.loss - self.correlations.iter().map(conjugate).sum::<f64>()
        };
        let feasible = if top > 0.0 { l1 / top } else { 1.0 };
        let best = if self.loss > 0.0 { product / (2.0 * self.loss) } else { 1.0 };
        let candidates = [best.min(feasible), if l2 > 0.0 { 1.0 } else { feasible.min(1.0) }];
        let lower = candidates.iter().map(|&s| bound(s)).fold(0.0, f64::max);
        let residual = violation.max(self.worst_outside(l1));
        SolverOutcome {
            status: SolverStatus::Limit,
            n_iterations,
            value,
            lower_bound: Some(lower.min(value)),
            residual,
        }
    }

    fn coefficients(&self) -> Vec<f64> {
        let mut beta = vec![0.0; self.place.len()];
        self.members.iter().zip(&self.beta).for_each(|(&j, &b)| beta[j] = b);
        beta
    }

    fn intercept(&self, beta: &[f64]) -> f64 {
        if self.problem.intercept { self.y_mean - lanes::dot(beta, &self.x_mean) } else { 0.0 }
    }

    fn solution(&self, lambda: f64, outcome: SolverOutcome) -> LassoSolution {
        let coefficients = self.coefficients();
        LassoSolution { lambda, intercept: self.intercept(&coefficients), coefficients, outcome }
    }
}
