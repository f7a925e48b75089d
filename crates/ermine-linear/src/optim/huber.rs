//! Huber's regression with its scale: `min over beta, b, s >= 0 of sum_i w_i (s + s H(r_i / s)) + sum_j c_j beta_j^2`, with
//! `H(z) = z^2` up to `epsilon`, `2 epsilon |z| - epsilon^2` beyond: convex in all unknowns together.
//!
//! **How.** For fixed coefficients the best scale has a closed form: with the rows up to `epsilon s` inside, `s^2 = sum_inside w r^2 / (W - epsilon^2 W_outside)`. What is
//! left is a convex function of the coefficients with a continuous gradient, whose curvature comes from the rows inside, less what the scale takes up. Newton's steps
//! on it finish in a few rounds, but the rows inside may be too few to hold all coefficients. So a share `mu` of a second matrix is added where needed: that of the
//! weights `min(1, epsilon s / |r|)`, a quadratic upper bound of the objective (iteratively reweighted least squares), with which every step goes down.
//!
//! **Certificate.** Slopes `a_i` with `|a_i| <= 2 epsilon`, `sum w a = 0` (for an intercept) and `sum w a^2 <= 4 W` are feasible for the dual problem,
//! whose value `sum w a y - sum_j (X'(w a))_j^2 / (4 c_j)` bounds the minimum from below (where `c_j` is 0, `(X'(w a))_j` must be). Such slopes are those of the losses, moved a little
//! at the rows inside: the only ones there are where rows are fitted exactly and residuals have no scale.
//!
//! **Cost.** 5 to 20 weighted Gram matrices; beyond [`FULL_HESSIAN`] columns, conjugate gradients instead.
//!
//! **Reference.** Huber and Ronchetti, "Robust Statistics" (2009), section 7.7; Owen, "A robust hybrid of lasso and ridge regression" (2007).

use super::conjugate;
use super::linear_program::ConstraintRows;
use super::risk::FULL_HESSIAN;
use super::{SolverOutcome, SolverStatus};
use ermine_core::error::Result;
use ermine_core::linalg::{Cholesky, Design, Matrix, lanes};
use ermine_core::progress::{Event, Observer, check, report};

/// A Huber-regression problem. Columns should be of one scale.
#[derive(Clone, Copy)]
pub struct HuberProblem<'a> {
    /// The columns.
    pub x: &'a Design<'a>,
    /// The target.
    pub y: &'a [f64],
    /// Row weights; all 1 if `None`.
    pub weights: Option<&'a [f64]>,
    /// How many scales away losses become straight, at least 1.
    pub epsilon: f64,
    /// L2 penalty of each coefficient, at least 0.
    pub costs: &'a [f64],
    /// Whether there is an intercept, which is not penalized.
    pub intercept: bool,
    /// Stop when no optimality condition is violated by more than this.
    pub tolerance: f64,
    /// Most steps.
    pub max_iterations: usize,
    /// Receives progress events.
    pub observer: &'a dyn Observer,
}

/// The solution.
#[derive(Debug, Clone)]
pub struct HuberSolution {
    /// One coefficient for each column.
    pub coefficients: Vec<f64>,
    /// The intercept; 0 without.
    pub intercept: f64,
    /// The scale of the residuals; 0 if rows are fitted so exactly that they have none.
    pub scale: f64,
    /// What is known about it; the value is per unit of weight, and the violation a share of the largest slope.
    pub outcome: SolverOutcome,
}

/// Shares of the upper bound's curvature that are tried, one after the other.
const SHARES: [f64; 4] = [0.0, 1e-4, 1e-2, 1.0];
/// The least scales that are allowed, one after the other, as shares of the largest target: where the best scale is 0 (with `epsilon` near 1 the objective is that of least absolute deviations), corners appear
/// little by little. Residuals smaller than the last are rounding, and have no scale.
const FLOORS: [f64; 9] = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10, 1e-13];
/// A violation of the optimality conditions that rounding explains.
const ROUNDING: f64 = 1e-8;

/// Where the method stands.
#[derive(Clone)]
struct HuberPoint {
    w: Vec<f64>,
    residuals: Vec<f64>,
    scale: f64,
    value: f64,
}

impl HuberProblem<'_> {
    /// Solves the problem.
    pub fn solve(&self) -> Result<HuberSolution> {
        let p = self.x.n_columns();
        let mut w = vec![0.0; p + usize::from(self.intercept)];
        if self.intercept {
            w[p] = median(self.y);
        }
        let floors = FLOORS.map(|share| (share * lanes::max_abs(self.y)).max(f64::MIN_POSITIVE));
        let mut n_iterations = 0;
        let (mut point, mut status) = (self.at(w, floors[0]), SolverStatus::Limit);
        let mut settled: Option<HuberPoint> = None;
        for floor in floors {
            (point, status) = self.descend(self.at(point.w, floor), floor, &mut n_iterations)?;
            if status == SolverStatus::Converged {
                settled = Some(point.clone());
            }
        }
        // Where rounding hides the corners of the last floor, the one before is as good.
        if let Some(before) = settled.filter(|before| before.value <= point.value * (1.0 + 1e-9)) {
            (point, status) = (before, SolverStatus::Converged);
        }
        let gradient = self.gradient(&point);
        Ok(self.solution(point, &gradient, floors[floors.len() - 1], status, n_iterations))
    }

    /// Goes down from a point as far as it goes, with scales of at least `floor`.
    fn descend(
        &self,
        mut point: HuberPoint,
        floor: f64,
        n_iterations: &mut usize,
    ) -> Result<(HuberPoint, SolverStatus)> {
        let mut gradient = self.gradient(&point);
        while *n_iterations < self.max_iterations {
            let score = Some(("objective", point.value));
            report(self.observer, Event::Step { done: *n_iterations as u64, score })?;
            if self.violation(&gradient) <= self.tolerance || point.value <= 4.0 * floor {
                return Ok((point, SolverStatus::Converged));
            }
            let Some(next) = self.step(&point, &gradient, floor)? else {
                let rounding = self.violation(&gradient) <= ROUNDING;
                return Ok((point, if rounding { SolverStatus::Converged } else { SolverStatus::Stalled }));
            };
            *n_iterations += 1;
            point = next;
            gradient = self.gradient(&point);
        }
        Ok((point, SolverStatus::Limit))
    }

    fn solution(
        &self,
        point: HuberPoint,
        gradient: &[f64],
        floor: f64,
        status: SolverStatus,
        n_iterations: usize,
    ) -> HuberSolution {
        let exact = point.value <= 4.0 * floor;
        let (value, residual) = if exact { (0.0, 0.0) } else { (point.value, self.violation(gradient)) };
        let lower_bound = if exact { Some(0.0) } else { self.lower_bound(&point).map(|b| b.clamp(0.0, value)) };
        let proven = lower_bound.is_some_and(|bound| value - bound <= 1e-9 * value);
        let status = if proven { SolverStatus::Converged } else { status };
        let p = self.x.n_columns();
        HuberSolution {
            intercept: point.w.get(p).copied().unwrap_or(0.0),
            coefficients: point.w[..p].to_vec(),
            scale: if exact || point.scale <= floor { 0.0 } else { point.scale },
            outcome: SolverOutcome { status, n_iterations, value, lower_bound, residual },
        }
    }

    fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[i])
    }

    fn total(&self) -> f64 {
        self.weights.map_or(self.y.len() as f64, |w| w.iter().sum())
    }

    fn rows(&self) -> ConstraintRows<'_> {
        ConstraintRows { x: self.x, intercept: self.intercept, shift: &[], sign: None }
    }

    /// The point with these coefficients: residuals, the best scale and the objective.
    fn at(&self, w: Vec<f64>, floor: f64) -> HuberPoint {
        let mut residuals = self.rows().times(&w);
        residuals.iter_mut().zip(self.y).for_each(|(r, y)| *r = y - *r);
        let scale = self.best_scale(&residuals, floor);
        let epsilon = self.epsilon;
        let loss = |(i, r): (usize, &f64)| {
            let z = r.abs() / scale;
            let h = if z <= epsilon { z * z } else { epsilon * (2.0 * z - epsilon) };
            self.weight(i) * h
        };
        let sum: f64 = residuals.iter().enumerate().map(loss).sum();
        let cost: f64 = self.costs.iter().zip(&w).map(|(c, b)| c * b * b).sum();
        let value = scale + (scale * sum + cost) / self.total();
        HuberPoint { w, residuals, scale, value }
    }

    /// The scale with the least objective for some residuals.
    fn best_scale(&self, residuals: &[f64], floor: f64) -> f64 {
        let square = self.epsilon.powi(2);
        let mut rows: Vec<(f64, f64)> =
            residuals.iter().enumerate().map(|(i, r)| (r.abs(), self.weight(i))).filter(|r| r.1 > 0.0).collect();
        rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = rows.iter().map(|r| r.1).sum();
        // Take rows inside, nearest first, until the scale that belongs to them reaches no further row.
        let (mut sum, mut inside) = (0.0, 0.0);
        for (k, (r, w)) in rows.iter().enumerate() {
            sum += w * r * r;
            inside += w;
            let left = total - square * (total - inside).max(0.0);
            if left <= 0.0 {
                continue;
            }
            let scale = (sum / left).sqrt();
            let next = rows.get(k + 1).map_or(f64::INFINITY, |n| n.0);
            if next > self.epsilon * scale {
                return scale.max(floor);
            }
        }
        floor
    }

    /// The slope of each row's loss, half of it: residuals in scales, cut off at `epsilon`.
    fn slopes(&self, point: &HuberPoint) -> Vec<f64> {
        point.residuals.iter().map(|r| (r / point.scale).clamp(-self.epsilon, self.epsilon)).collect()
    }

    fn gradient(&self, point: &HuberPoint) -> Vec<f64> {
        let mut slopes = self.slopes(point);
        slopes.iter_mut().enumerate().for_each(|(i, s)| *s *= self.weight(i));
        let total = self.total();
        let mut g = self.rows().transposed_times(&slopes);
        g.iter_mut().for_each(|g| *g *= -2.0 / total);
        g.iter_mut().zip(self.costs.iter().zip(&point.w)).for_each(|(g, (c, b))| *g += 2.0 * c * b / total);
        g
    }

    /// The largest entry of a gradient, as a share of the largest slope.
    fn violation(&self, gradient: &[f64]) -> f64 {
        lanes::max_abs(gradient) / (2.0 * self.epsilon)
    }

    /// A point with a lower objective; `None` if rounding hides any.
    fn step(&self, point: &HuberPoint, gradient: &[f64], floor: f64) -> Result<Option<HuberPoint>> {
        let rounding = 4.0 * f64::EPSILON * point.value;
        for share in SHARES {
            check(self.observer)?;
            let Some(direction) = self.direction(point, gradient, share, floor)? else { continue };
            let slope = lanes::dot(&direction, gradient);
            if slope.is_nan() || slope <= 0.0 {
                continue;
            }
            let mut length = 1.0;
            for _ in 0..8 {
                let mut w = point.w.clone();
                lanes::axpy(-length, &direction, &mut w);
                let next = self.at(w, floor);
                if next.value < point.value - 1e-4 * length * slope {
                    return Ok(Some(next));
                }
                // Below the rounding of the objective, the gradient decides whether a step is accepted.
                let near = length == 1.0 && slope <= 1e4 * rounding && next.value <= point.value + rounding;
                if near && self.violation(&self.gradient(&next)) < 0.5 * self.violation(gradient) {
                    return Ok(Some(next));
                }
                length *= 0.5;
            }
        }
        Ok(None)
    }

    /// What solves `(H + share M) d = g`: the curvature of the rows inside with a share of the upper bound's.
    fn direction(&self, point: &HuberPoint, gradient: &[f64], share: f64, floor: f64) -> Result<Option<Vec<f64>>> {
        let (s, total, p) = (point.scale, self.total(), self.x.n_columns());
        let reach = self.epsilon * s;
        let is_inside = |r: f64| r.abs() <= reach;
        let curvature = |(i, r): (usize, &f64)| {
            let bound = share * (reach / r.abs().max(f64::MIN_POSITIVE)).min(1.0);
            2.0 / (s * total) * self.weight(i) * (bound + f64::from(is_inside(*r)))
        };
        let weights: Vec<f64> = point.residuals.iter().enumerate().map(curvature).collect();
        let costs: Vec<f64> = self.costs.iter().map(|c| 2.0 * c * (1.0 + share) / total).collect();
        // What the scale takes up: a matrix of rank one.
        let held: Vec<f64> = (0..self.y.len())
            .map(|i| if is_inside(point.residuals[i]) { self.weight(i) * point.residuals[i] } else { 0.0 })
            .collect();
        let square = lanes::dot(&held, &point.residuals);
        let free = s > floor && square > 0.0;
        let mut taken = if free { self.rows().transposed_times(&held) } else { vec![0.0; gradient.len()] };
        let factor = if free { (2.0 / (s * total * square)).sqrt() } else { 0.0 };
        taken.iter_mut().for_each(|t| *t *= factor);
        if gradient.len() > FULL_HESSIAN {
            return self.conjugate(&weights, &costs, &taken, gradient).map(Some);
        }
        let (products, _) = self.rows().weighted(&weights, &weights);
        let jitter = if share > 0.0 { 1e-10 } else { 0.0 };
        let h = Matrix::from_fn(gradient.len(), gradient.len(), |i, j| {
            let cost = if i == j && i < p { costs[i] } else { 0.0 };
            // A column of zeros has no curvature and no gradient: any number here leaves its coefficient where it is.
            let own = if i == j && products[(i, j)] + cost == 0.0 { 1.0 } else { cost };
            let more = if i == j { products[(i, j)] * jitter } else { 0.0 };
            products[(i, j)] + own + more - taken[i] * taken[j]
        });
        let mut direction = gradient.to_vec();
        let Some(factor) = Cholesky::new(&h, 1e-13) else { return Ok(None) };
        factor.solve(&mut direction);
        Ok(Some(direction))
    }

    /// The same for many columns, without a matrix.
    fn conjugate(&self, weights: &[f64], costs: &[f64], taken: &[f64], gradient: &[f64]) -> Result<Vec<f64>> {
        let apply = |v: &[f64]| {
            let mut image = self.rows().times(v);
            image.iter_mut().zip(weights).for_each(|(z, w)| *z *= w);
            let mut out = self.rows().transposed_times(&image);
            out.iter_mut().zip(costs.iter().zip(v)).for_each(|(o, (c, v))| *o += c * v);
            lanes::axpy(-lanes::dot(taken, v), taken, &mut out);
            out
        };
        Ok(conjugate::solve(apply, gradient, 1e-8, 500, self.observer)?.beta)
    }

    /// A lower bound on the minimum, per unit of weight, from the slopes at a point.
    fn lower_bound(&self, point: &HuberPoint) -> Option<f64> {
        let mut a = self.balanced(point);
        if self.intercept {
            // What rounding has left: shrink whichever sign weighs more, and slopes stay where they are allowed.
            let side = |sign: f64| (0..a.len()).map(|i| self.weight(i) * (sign * a[i]).max(0.0)).sum::<f64>();
            let (above, below) = (side(1.0), side(-1.0));
            let (up, down) = if above > below { (below / above, 1.0) } else { (1.0, above / below) };
            a.iter_mut().filter(|a| **a != 0.0).for_each(|a| *a *= if *a > 0.0 { up } else { down });
        }
        let total = self.total();
        let squares: f64 = a.iter().enumerate().map(|(i, a)| self.weight(i) * a * a).sum();
        let steepest = (0..a.len()).filter(|&i| self.weight(i) > 0.0).fold(0.0f64, |top, i| top.max(a[i].abs()));
        a.iter_mut().enumerate().for_each(|(i, a)| *a *= self.weight(i));
        // Any shift of the target changes nothing where the slopes add up to 0, and small numbers keep their digits.
        let shift = point.w.get(self.x.n_columns()).copied().unwrap_or(0.0);
        let gain: f64 = a.iter().zip(self.y).map(|(a, y)| a * (y - shift)).sum();
        let (pull, size) = (self.x.transposed_times(&a), a.iter().map(|a| a.abs()).sum::<f64>());
        // The gradient of an unpenalized coefficient must be 0.
        if pull.iter().zip(self.costs).any(|(u, c)| *c <= 0.0 && u.abs() > 1e-10 * size) {
            return None;
        }
        let price = |(u, c): (&f64, &f64)| if *c > 0.0 { u * u / (4.0 * c) } else { 0.0 };
        let price: f64 = pull.iter().zip(self.costs).map(price).sum();
        let most = (4.0 * total / squares).sqrt().min(2.0 * self.epsilon / steepest).min(1.0);
        // The best multiple of these slopes.
        let multiple = if price > 0.0 { (gain / (2.0 * price)).clamp(0.0, most) } else { most };
        let bound = (multiple * gain - multiple * multiple * price) / total;
        bound.is_finite().then_some(bound)
    }

    /// The slopes of the losses, moved where they may be, at the rows inside, until they balance the gradient of the penalty.
    fn balanced(&self, point: &HuberPoint) -> Vec<f64> {
        let mut a: Vec<f64> = self.slopes(point).iter().map(|s| 2.0 * s).collect();
        let reach = self.epsilon * point.scale;
        let inside = |(i, r): (usize, &f64)| if r.abs() <= reach { self.weight(i) } else { 0.0 };
        let inside: Vec<f64> = point.residuals.iter().enumerate().map(inside).collect();
        if point.w.len() > FULL_HESSIAN {
            return a;
        }
        let Some(factor) = Cholesky::new(&self.rows().weighted(&inside, &inside).0, 1e-13) else { return a };
        for _ in 0..2 {
            let weighted: Vec<f64> = a.iter().enumerate().map(|(i, a)| a * self.weight(i)).collect();
            let mut off = self.rows().transposed_times(&weighted);
            off.iter_mut().zip(self.costs.iter().zip(&point.w)).for_each(|(o, (c, b))| *o -= 2.0 * c * b);
            factor.solve(&mut off);
            let change = self.rows().times(&off);
            let moved = a.iter_mut().zip(&change).zip(&inside).filter(|(_, w)| **w > 0.0);
            moved.for_each(|((a, c), _)| *a -= c);
        }
        a
    }
}

/// A middle value.
fn median(y: &[f64]) -> f64 {
    let mut sorted = y.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ermine_core::linalg::Dense;
    use ermine_core::progress::Silent;
    use proptest::prelude::*;

    /// The objective of any point, by its definition.
    fn objective(problem: &HuberProblem, w: &[f64], s: f64) -> f64 {
        let fits = problem.rows().times(w);
        let loss = |i: usize| {
            let away = (problem.y[i] - fits[i]).abs();
            let z = away / s;
            let h = if z <= problem.epsilon { z * z } else { 2.0 * problem.epsilon * z - problem.epsilon.powi(2) };
            // Without a scale, losses are straight.
            problem.weight(i) * if s == 0.0 { 2.0 * problem.epsilon * away } else { s + s * h }
        };
        let cost: f64 = problem.costs.iter().zip(w).map(|(c, b)| c * b * b).sum();
        ((0..fits.len()).map(loss).sum::<f64>() + cost) / problem.total()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_gap_closes_and_no_other_point_is_better(
            numbers in proptest::collection::vec(-3.0f64..3.0, 4 * 24),
            weights in proptest::option::of(proptest::collection::vec(0.0f64..3.0, 24)),
            others in proptest::collection::vec(-2.0f64..2.0, 5),
            epsilon in 1.0f64..3.0,
            cost in prop_oneof![Just(0.0), 1e-4f64..10.0],
            outliers in 0usize..8,
            intercept: bool,
        ) {
            let (n, p) = (24, 3);
            let x = Design::from(Dense::rows_f64(&numbers[..n * p], n, p, p).unwrap());
            let mut y: Vec<f64> = (0..n).map(|i| numbers[i * p] - 0.5 * numbers[i * p + 1] + 0.3 * numbers[n * p + i]).collect();
            y[..outliers].iter_mut().for_each(|y| *y += 100.0);
            let weights = weights.map(|mut w| { w[0] = 1.0; w });
            let costs = [cost; 3];
            let problem = HuberProblem {
                x: &x, y: &y, weights: weights.as_deref(), epsilon, costs: &costs, intercept,
                tolerance: 1e-10, max_iterations: 500, observer: &Silent,
            };
            let found = problem.solve().unwrap();
            let SolverOutcome { status, value, lower_bound, residual, .. } = found.outcome;
            prop_assert!(status == SolverStatus::Converged, "{:?}", found.outcome);
            if cost > 0.0 || lower_bound.is_some() {
                let bound = lower_bound.unwrap();
                prop_assert!(value - bound <= 1e-7 * value, "{value} {bound}");
            } else {
                prop_assert!(residual <= 1e-7);
            }
            let mut w = found.coefficients.clone();
            w.extend(intercept.then_some(found.intercept));
            prop_assert!((objective(&problem, &w, found.scale) - value).abs() <= 1e-10 * value);
            for share in [1e-3, 0.1, 1.0] {
                let other: Vec<f64> = w.iter().zip(&others).map(|(w, o)| w + share * o).collect();
                let s = found.scale * (1.0 + share * others[4] / 3.0);
                prop_assert!(objective(&problem, &other, s) >= value * (1.0 - 1e-9), "a better point");
            }
        }
    }

    #[test]
    fn exact_fits_of_most_rows_have_zero_scale_and_a_proof() {
        let numbers: Vec<f64> = (0..40).map(|i| f64::from(i % 9)).collect();
        let y: Vec<f64> =
            (0..40).map(|i| 2.0 * numbers[i] + if i % 8 == 0 { 5.0 + (i % 3) as f64 } else { 0.0 }).collect();
        let x = Design::from(Dense::rows_f64(&numbers, 40, 1, 1).unwrap());
        for cost in [0.0, 1e-4] {
            let problem = HuberProblem {
                x: &x,
                y: &y,
                weights: None,
                epsilon: 1.35,
                costs: &[cost],
                intercept: true,
                tolerance: 1e-10,
                max_iterations: 500,
                observer: &Silent,
            };
            let found = problem.solve().unwrap();
            assert_eq!(found.outcome.status, SolverStatus::Converged, "{:?}", found.outcome);
            assert!(found.outcome.gap().unwrap() <= 1e-9 * found.outcome.value, "{:?}", found.outcome);
            assert!((found.coefficients[0] - 2.0).abs() < 1e-6 && found.intercept.abs() < 1e-6);
        }
    }

    #[test]
    fn exact_fits_have_no_scale() {
        let numbers = [0.0, 1.0, 2.0, 3.0];
        let x = Design::from(Dense::rows_f64(&numbers, 4, 1, 1).unwrap());
        for y in [[1.0, 3.0, 5.0, 7.0], [2.0; 4]] {
            let found = HuberProblem {
                x: &x,
                y: &y,
                weights: None,
                epsilon: 1.35,
                costs: &[0.0],
                intercept: true,
                tolerance: 1e-10,
                max_iterations: 500,
                observer: &Silent,
            }
            .solve()
            .unwrap();
            assert_eq!((found.outcome.status, found.outcome.value, found.scale), (SolverStatus::Converged, 0.0, 0.0));
            assert!((found.intercept - y[0]).abs() < 1e-10 && (found.coefficients[0] - (y[1] - y[0])).abs() < 1e-10);
        }
    }
}
