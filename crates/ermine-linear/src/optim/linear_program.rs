//! `max c'a  subject to  A'a = b, 0 <= a <= u`: linear programs with one bounded variable per row of data and few
//! constraints, which is what quantile regression and separating hyperplanes are in the dual.
//!
//! **Idea.** A primal-dual interior point method. With slacks `s = u - a` and multipliers `z >= 0` of `a >= 0`, `v >= 0` of `s >= 0`, the
//! optimality conditions are `A y + z - v = -c`, `A'a = b`, `a z = 0`, `s v = 0`. Each step solves them linearized, with the
//! products held at a falling target (predictor and corrector share one factorization). Eliminating everything but `y`
//! leaves `A'DA dy = r` with `D = 1 / (z/a + v/s)`: one Gram matrix of the data.
//!
//! **Cost.** 10 to 20 steps, each one weighted Gram matrix (`n d^2` flops) and a few products with the data.
//!
//! **Reference.** Mehrotra, "On the implementation of a primal-dual interior point method" (1992); Portnoy and Koenker, "The
//! Gaussian hare and the Laplacian tortoise" (1997), section 4, for this form.

use ermine_core::error::Result;
use ermine_core::linalg::lanes::LANES;
use ermine_core::linalg::{Cholesky, Design, Gram, Matrix, lanes};
use ermine_core::progress::{Event, Observer, report};
use ermine_core::versions;
use std::ops::Range;

/// The rows `A`: data, shifted by `shift` and scaled by `sign`, with a 1 at the end if there is an intercept.
#[derive(Debug, Clone, Copy)]
pub struct ConstraintRows<'a> {
    /// The data.
    pub x: &'a Design<'a>,
    /// Whether a 1 follows each row.
    pub intercept: bool,
    /// Subtracted from each column, so that large means do no harm; empty for none. Dense data only.
    pub shift: &'a [f64],
    /// What each row is multiplied by; `None` for 1.
    pub sign: Option<&'a [f64]>,
}

impl ConstraintRows<'_> {
    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.x.n_rows()
    }

    /// How many numbers each row has.
    pub fn width(&self) -> usize {
        self.x.n_columns() + usize::from(self.intercept)
    }

    /// `A w`.
    pub fn times(&self, w: &[f64]) -> Vec<f64> {
        let (beta, b) = w.split_at(self.x.n_columns());
        let offset = b.first().copied().unwrap_or(0.0) - lanes::dot(self.shift, beta);
        let mut out = self.x.times(beta, offset);
        if let Some(sign) = self.sign {
            out.iter_mut().zip(sign).for_each(|(o, s)| *o *= s);
        }
        out
    }

    /// `A' c`.
    pub fn transposed_times(&self, c: &[f64]) -> Vec<f64> {
        let signed: Vec<f64>;
        let c = match self.sign {
            None => c,
            Some(sign) => {
                signed = c.iter().zip(sign).map(|(c, s)| c * s).collect();
                &signed
            }
        };
        let total: f64 = c.iter().sum();
        let mut out = self.x.transposed_times(c);
        out.iter_mut().zip(self.shift).for_each(|(o, m)| *o -= m * total);
        out.extend(self.intercept.then_some(total));
        out
    }

    /// `A' diag(d) A` and `A' diag(d) e`.
    pub fn weighted(&self, d: &[f64], e: &[f64]) -> (Matrix, Vec<f64>) {
        let (width, ones) = (self.width(), usize::from(self.intercept));
        let sign = |i: usize| self.sign.map_or(1.0, |s| s[i]);
        let weigh = |rows: Range<usize>, scale: &mut [f64], extra: &mut [f64]| {
            for ((r, i), extra) in rows.enumerate().zip(extra.chunks_exact_mut(ones + 1)) {
                let root = d[i].sqrt();
                scale[r] = root * sign(i);
                extra[0] = scale[r];
                extra[ones] = root * e[i];
            }
            0.0
        };
        let gram = match self.x {
            Design::Dense(x) => Gram::of(x, self.shift, ones + 1, |rows, _, scale, extra| weigh(rows, scale, extra)),
            Design::Sparse(x) => x.gram(ones + 1, weigh),
        };
        let products = gram.products;
        let right = (0..width).map(|j| products[(j, width)]).collect();
        (Matrix::from_fn(width, width, |i, j| products[(i, j)]), right)
    }
}

/// `max c'a, A'a = b, 0 <= a <= u`.
#[derive(Debug, Clone, Copy)]
pub struct LinearProgram<'a> {
    /// The rows `A`.
    pub rows: ConstraintRows<'a>,
    /// The objective `c`.
    pub objective: &'a [f64],
    /// The right-hand side `b`.
    pub right: &'a [f64],
    /// The upper bounds `u`, above 0.
    pub upper: &'a [f64],
}

/// Where the method stands: `a`, `s`, `z`, `v` as in the module's text.
#[derive(Debug, Clone)]
pub struct InteriorPoint {
    /// The variables.
    pub a: Vec<f64>,
    /// Their distances from the upper bounds.
    pub s: Vec<f64>,
    /// The unknowns of the other problem: `A w` approximates `c` from both sides, `c - A w = v - z`.
    pub w: Vec<f64>,
    /// Multipliers of `a >= 0`.
    pub z: Vec<f64>,
    /// Multipliers of `a <= u`.
    pub v: Vec<f64>,
    /// `c - A w - v + z`: zero once a full dual step was taken.
    residual: Vec<f64>,
}

/// How the method ended.
#[derive(Debug, Clone)]
pub struct InteriorSolution {
    /// The last point.
    pub point: InteriorPoint,
    /// Steps taken.
    pub n_iterations: usize,
    /// The complementarity gap `a'z + s'v` there.
    pub gap: f64,
    /// Whether the gap fell below the tolerance.
    pub converged: bool,
}

const MAX_STEPS: usize = 100;

impl LinearProgram<'_> {
    /// Iterates until the gap is below `tolerance` times the size of the objective, or `enough` returns true.
    pub fn solve(
        &self,
        tolerance: f64,
        observer: &dyn Observer,
        mut enough: impl FnMut(&InteriorPoint) -> bool,
    ) -> Result<InteriorSolution> {
        let mut point = self.start();
        let n = self.rows.n_rows();
        let mut best = f64::INFINITY;
        for step in 0..MAX_STEPS {
            let gap = lanes::dot(&point.a, &point.z) + lanes::dot(&point.s, &point.v);
            report(observer, Event::Step { done: step as u64, score: Some(("gap", gap)) })?;
            let size = 1.0 + self.objective.iter().zip(&point.a).map(|(c, a)| (c * a).abs()).sum::<f64>();
            let short = self.shortfall(&point);
            let feasible = lanes::max_abs(&short) <= 1e-9 * (1.0 + lanes::max_abs(self.right));
            if enough(&point) || (gap <= tolerance * size && feasible) {
                return Ok(InteriorSolution { point, n_iterations: step, gap, converged: true });
            }
            let stuck = step > 20 && gap > 0.9 * best;
            best = best.min(gap);
            if stuck || n == 0 || !self.advance(&mut point, &short, gap / (2 * n) as f64) {
                return Ok(InteriorSolution { point, n_iterations: step, gap, converged: false });
            }
        }
        let gap = lanes::dot(&point.a, &point.z) + lanes::dot(&point.s, &point.v);
        Ok(InteriorSolution { point, n_iterations: MAX_STEPS, gap, converged: false })
    }

    /// `b - A'a`.
    fn shortfall(&self, point: &InteriorPoint) -> Vec<f64> {
        self.rows.transposed_times(&point.a).iter().zip(self.right).map(|(x, b)| b - x).collect()
    }

    /// Half the bounds, the least-squares fit of `c`, and multipliers that explain its residuals.
    fn start(&self) -> InteriorPoint {
        let a: Vec<f64> = self.upper.iter().map(|u| u / 2.0).collect();
        let ones = vec![1.0; a.len()];
        let (products, right) = self.rows.weighted(&ones, self.objective);
        let mut w = right;
        match factor(products) {
            Some(factor) => factor.solve(&mut w),
            None => w.fill(0.0),
        }
        let fit = self.rows.times(&w);
        let residuals: Vec<f64> = self.objective.iter().zip(&fit).map(|(c, f)| c - f).collect();
        let typical = residuals.iter().map(|r| r.abs()).sum::<f64>() / residuals.len().max(1) as f64;
        let floor = if typical > 0.0 { typical * 0.1 } else { 1.0 };
        let z: Vec<f64> = residuals.iter().map(|r| (-r).max(0.0) + floor).collect();
        let v: Vec<f64> = residuals.iter().map(|r| r.max(0.0) + floor).collect();
        InteriorPoint { s: a.clone(), residual: vec![0.0; a.len()], a, w, z, v }
    }

    /// One predictor-corrector step; false if the system can't be solved any more.
    fn advance(&self, point: &mut InteriorPoint, short: &[f64], mu: f64) -> bool {
        let n = point.a.len();
        // Predictor: aim at zero products. A'DA dw = A'D e - shortfall, da = D (e - A dw).
        let (mut d, mut e) = (vec![0.0; n], vec![0.0; n]);
        weights(&point.a, &point.s, &point.z, &point.v, &point.residual, &mut d, &mut e);
        let (products, right) = self.rows.weighted(&d, &e);
        let Some(factor) = factor(products) else { return false };
        let solve = |mut right: Vec<f64>| {
            right.iter_mut().zip(short).for_each(|(r, s)| *r -= s);
            factor.solve(&mut right);
            (self.rows.times(&right), right)
        };
        let (fit, w) = solve(right);
        let mut step = InteriorStep::new(n);
        step.fill(point, &d, &e, &fit, w);
        let ahead = products_ahead(point, &step, step.primal.min(1.0), step.dual.min(1.0)) / (2 * n) as f64;
        let target = mu * (ahead / mu).powi(3);
        // Corrector: aim at the target, minus the second-order error of the predictor.
        correct(point, &mut step, target, &mut e);
        let weighted: Vec<f64> = d.iter().zip(&e).map(|(d, e)| d * e).collect();
        let (fit, w) = solve(self.rows.transposed_times(&weighted));
        step.fill(point, &d, &e, &fit, w);
        point.take(&step)
    }
}

versions! {
    /// `D = 1 / (z/a + v/s)` and the right-hand side `v - z + residual`.
    fn weights(a: &[f64], s: &[f64], z: &[f64], v: &[f64], residual: &[f64], d: &mut [f64], e: &mut [f64]) {
        let n = a.len();
        let (s, z, v, residual, d, e) = (&s[..n], &z[..n], &v[..n], &residual[..n], &mut d[..n], &mut e[..n]);
        for i in 0..n {
            d[i] = a[i] * s[i] / (z[i] * s[i] + v[i] * a[i]);
            e[i] = v[i] - z[i] + residual[i];
        }
    }

    /// The targets of the products, less the second-order error of `step`; the right-hand side that belongs to them.
    fn correct(point: &InteriorPoint, step: &mut InteriorStep, target: f64, e: &mut [f64]) {
        let n = e.len();
        let (a, s) = (&point.a[..n], &point.s[..n]);
        let (da, dz, dv) = (&step.a[..n], &step.z[..n], &step.v[..n]);
        let (aim_z, aim_v) = (&mut step.aim_z[..n], &mut step.aim_v[..n]);
        for i in 0..n {
            aim_z[i] = target - da[i] * dz[i];
            aim_v[i] = target + da[i] * dv[i];
            e[i] += aim_z[i] / a[i] - aim_v[i] / s[i];
        }
    }

    /// The sum of the products after steps of these lengths.
    fn products_ahead(point: &InteriorPoint, step: &InteriorStep, primal: f64, dual: f64) -> f64 {
        let n = point.a.len();
        let (a, s, z, v) = (&point.a[..n], &point.s[..n], &point.z[..n], &point.v[..n]);
        let (da, dz, dv) = (&step.a[..n], &step.z[..n], &step.v[..n]);
        let mut sums = [0.0; LANES];
        for i in 0..n {
            let z = dual.mul_add(dz[i], z[i]);
            let v = dual.mul_add(dv[i], v[i]);
            sums[i % LANES] += primal.mul_add(da[i], a[i]) * z + primal.mul_add(-da[i], s[i]) * v;
        }
        lanes::fold(sums)
    }

    /// The steps of `a`, `z` and `v`; returns the longest primal and dual steps that keep everything positive.
    fn fill_step(point: &InteriorPoint, d: &[f64], e: &[f64], fit: &[f64], step: &mut InteriorStep) -> (f64, f64) {
        let n = d.len();
        let (a, s, z, v) = (&point.a[..n], &point.s[..n], &point.z[..n], &point.v[..n]);
        let (e, fit, aim_z, aim_v) = (&e[..n], &fit[..n], &step.aim_z[..n], &step.aim_v[..n]);
        let (da, dz, dv) = (&mut step.a[..n], &mut step.z[..n], &mut step.v[..n]);
        // The largest ratio -step / value; its inverse is the longest step. Lane by lane, as comparisons don't round.
        let (mut primal, mut dual) = ([0.0f64; LANES], [0.0f64; LANES]);
        for i in 0..n {
            da[i] = d[i] * (e[i] - fit[i]);
            let (over_a, over_s) = (1.0 / a[i], 1.0 / s[i]);
            dz[i] = (aim_z[i] - z[i] * da[i]) * over_a - z[i];
            dv[i] = (aim_v[i] + v[i] * da[i]) * over_s - v[i];
            let (down, up) = (-da[i] * over_a, da[i] * over_s);
            let nearest = if down > up { down } else { up };
            let (of_z, of_v) = (-dz[i] / z[i], -dv[i] / v[i]);
            let other = if of_z > of_v { of_z } else { of_v };
            let l = i % LANES;
            primal[l] = if nearest > primal[l] { nearest } else { primal[l] };
            dual[l] = if other > dual[l] { other } else { dual[l] };
        }
        let longest = |ratios: [f64; LANES]| 1.0 / ratios.iter().copied().fold(1e-10, f64::max);
        (longest(primal), longest(dual))
    }
}

/// A factorization that survives the last steps, where weights span many orders of magnitude.
pub(super) fn factor(products: Matrix) -> Option<Cholesky> {
    Cholesky::new(&products, 1e-13).or_else(|| {
        let mut damped = products;
        let top = damped.diagonal().iter().fold(0.0f64, |t, d| t.max(*d));
        (0..damped.n_rows()).for_each(|j| damped[(j, j)] = damped[(j, j)] * (1.0 + 1e-9) + top * 1e-18);
        Cholesky::new(&damped, 1e-15)
    })
}

/// A step, and the targets of the products that it aims at.
struct InteriorStep {
    a: Vec<f64>,
    z: Vec<f64>,
    v: Vec<f64>,
    w: Vec<f64>,
    aim_z: Vec<f64>,
    aim_v: Vec<f64>,
    primal: f64,
    dual: f64,
}

impl InteriorStep {
    fn new(n: usize) -> InteriorStep {
        let zeros = || vec![0.0; n];
        InteriorStep {
            a: zeros(),
            z: zeros(),
            v: zeros(),
            w: vec![],
            aim_z: zeros(),
            aim_v: zeros(),
            primal: 0.0,
            dual: 0.0,
        }
    }

    fn fill(&mut self, point: &InteriorPoint, d: &[f64], e: &[f64], fit: &[f64], w: Vec<f64>) {
        (self.primal, self.dual) = fill_step(point, d, e, fit, self);
        self.w = w;
    }
}

impl InteriorPoint {
    /// Takes a step; false if a value is no longer positive. A step that is not finite is not taken, so that the point stays one that can be used.
    fn take(&mut self, step: &InteriorStep) -> bool {
        /// Fraction of the step to the boundary that is taken.
        const SHY: f64 = 0.9995;
        if ![&step.a, &step.z, &step.v, &step.w].into_iter().all(|x| x.iter().all(|x| x.is_finite())) {
            return false;
        }
        let (primal, dual) = ((SHY * step.primal).min(1.0), (SHY * step.dual).min(1.0));
        lanes::axpy(primal, &step.a, &mut self.a);
        lanes::axpy(-primal, &step.a, &mut self.s);
        lanes::axpy(dual, &step.z, &mut self.z);
        lanes::axpy(dual, &step.v, &mut self.v);
        lanes::axpy(dual, &step.w, &mut self.w);
        self.residual.iter_mut().for_each(|r| *r *= 1.0 - dual);
        [&self.a, &self.s, &self.z, &self.v].into_iter().all(|x| x.iter().all(|x| x.is_finite() && *x > 0.0))
    }
}
