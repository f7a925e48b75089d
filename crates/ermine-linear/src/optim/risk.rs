//! The regularized risk of a linear predictor as a smooth function of its weights:
//! `F(beta, b) = sum_i w_i l(x_i'beta + b, y_i) / W + lambda |beta|^2 / 2`.
//!
//! **One pass.** The Hessian is `X'SX` with `S = w l''`, the gradient `X'u` with `u = w l'`. Packing `sqrt(S) x` with the extra
//! entries `sqrt(S)` (intercept) and `u / sqrt(S)` makes the gradient a column of the Gram matrix, so that margin, loss,
//! gradient and Hessian cost one reading of the data.
//!
//! **Certificate.** For `lambda > 0` the point `a = l'(z)` (moved so that `sum w a = 0` where there is an intercept) is feasible for the dual
//! problem `max -sum w_i l*(a_i) / W - |X'(w a) / W|^2 / (2 lambda)`, a lower bound on the minimum.

use super::newton::{Curvature, SmoothObjective};
use super::prox_newton::{L1Objective, columns_at_work};
use crate::penalty::Penalty;
use ermine_core::error::Result;
use ermine_core::linalg::dense::{BLOCK, add_in_order};
use ermine_core::linalg::{Design, Matrix, chunks, gram, lanes};
use ermine_core::loss::Loss;
use ermine_core::parallel;
use ermine_core::progress::Observer;
use ermine_core::versions;
use std::borrow::Cow;
use std::ops::Range;

/// The risk over some data. Unknowns are the coefficients, then the intercept if there is one.
#[derive(Debug, Clone)]
pub struct Risk<'a, L: Loss> {
    /// The columns.
    pub x: Design<'a>,
    /// The target: -1 and +1, or numbers, as the loss wants it.
    pub y: Cow<'a, [f64]>,
    /// Row weights; all 1 if `None`.
    pub weights: Option<Cow<'a, [f64]>>,
    /// The loss.
    pub loss: L,
    /// Strength of the L2 penalty, at least 0.
    pub lambda: f64,
    /// Whether there is an intercept (which is never penalized).
    pub intercept: bool,
}

/// Up to this many columns a full Hessian is made; beyond it, only its diagonal.
pub const FULL_HESSIAN: usize = 1500;

impl<'a, L: Loss> Risk<'a, L> {
    fn total(&self) -> f64 {
        self.weights.as_ref().map_or(self.x.n_rows() as f64, |w| w.iter().sum())
    }

    fn split<'w>(&self, w: &'w [f64]) -> (&'w [f64], f64) {
        let (beta, b) = w.split_at(self.x.n_columns());
        (beta, b.first().copied().unwrap_or(0.0))
    }

    /// Value, gradient and curvature of a block's losses, times the weights; returns the sum of the values.
    fn losses(&self, rows: Range<usize>, z: &[f64], gradient: &mut [f64], curvature: &mut [f64]) -> f64 {
        let mut value = [0.0; BLOCK];
        let value = &mut value[..z.len()];
        self.loss.evaluate(z, &self.y[rows.clone()], value, gradient, curvature);
        if let Some(weights) = &self.weights {
            for (r, w) in weights[rows].iter().enumerate() {
                value[r] *= w;
                gradient[r] *= w;
                curvature[r] *= w;
            }
        }
        value.iter().sum()
    }

    /// Sums over the rows: `X'u`, then `sum u` and the losses, and, if requested, `diag(X'SX)` and `sum S`.
    fn sums(&self, w: &[f64], diagonal: bool) -> Vec<f64> {
        let p = self.x.n_columns();
        let (beta, b) = self.split(w);
        let width = p + 2 + if diagonal { p + 1 } else { 0 };
        let sum = |rows: Range<usize>| {
            let (mut out, mut buffer) = (vec![0.0; width], Vec::new());
            for start in rows.clone().step_by(BLOCK) {
                let range = start..(start + BLOCK).min(rows.end);
                let (mut z, mut u, mut s) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
                let k = range.len();
                let (z, u, s) = (&mut z[..k], &mut u[..k], &mut s[..k]);
                match &self.x {
                    Design::Dense(x) => {
                        let block = x.block(range.clone(), &mut buffer);
                        lanes::row_dots(block.data, block.stride, beta, b, z);
                        out[p + 1] += self.losses(range, z, u, s);
                        lanes::add_rows(block.data, block.stride, u, &mut out[..p]);
                        if diagonal {
                            add_squares(block.data, block.stride, s, &mut out[p + 2..2 * p + 2]);
                        }
                    }
                    Design::Sparse(x) => {
                        range.clone().zip(z.iter_mut()).for_each(|(i, z)| *z = x.row_dot(i, beta) + b);
                        out[p + 1] += self.losses(range.clone(), z, u, s);
                        for (r, i) in range.enumerate() {
                            let (places, numbers) = x.rows().line(i);
                            for (&j, &v) in places.iter().zip(numbers) {
                                let j = j as usize;
                                out[j] += u[r] * v;
                                if diagonal {
                                    out[p + 2 + j] += s[r] * v * v;
                                }
                            }
                        }
                    }
                }
                out[p] += u.iter().sum::<f64>();
                if diagonal {
                    out[2 * p + 2] += s.iter().sum::<f64>();
                }
            }
            out
        };
        let n = self.x.n_rows();
        let parts = parallel::consume(chunks(n, (n / 256).clamp(1, 16), 4 * BLOCK), |_, rows| sum(rows));
        add_in_order(parts, width)
    }

    /// A lower bound on the minimum of the risk plus `l1 |beta|_1`, from the gradients of the losses at `w`; `None` if nothing
    /// penalizes the coefficients.
    pub fn lower_bound(&self, w: &[f64], l1: f64) -> Option<f64> {
        if self.lambda <= 0.0 && l1 <= 0.0 {
            return None;
        }
        let (a, pull) = self.dual_point(w);
        // Without L2, no pull may exceed the L1 strength: scale the point until none does.
        let top = lanes::max_abs(&pull);
        let scale = if self.lambda <= 0.0 && top > l1 { l1 / top } else { 1.0 };
        let beyond = |u: &f64| (u.abs() - l1).max(0.0);
        let penalty = match self.lambda {
            lambda if lambda > 0.0 => pull.iter().map(|u| beyond(u).powi(2)).sum::<f64>() / (2.0 * lambda),
            _ => 0.0,
        };
        let bound = self.dual_value(&a, scale) - penalty;
        bound.is_finite().then_some(bound)
    }

    /// A lower bound on the minimum of the losses under a penalty of any kind (in place of `lambda`); `None` if it has none to offer.
    pub fn lower_bound_under(&self, w: &[f64], penalty: Penalty) -> Option<f64> {
        let (a, pull) = self.dual_point(w);
        let (top, Penalty::Lp { lambda, .. }) = (lanes::max_abs(&pull), penalty) else {
            return self.lower_bound(w, 0.0);
        };
        // The point itself, or where that costs too much, the multiple of it at which no pull exceeds the strength.
        let bound =
            |scale: f64| self.dual_value(&a, scale) - pull.iter().map(|u| penalty.conjugate(scale * u)).sum::<f64>();
        [1.0, (lambda / top).min(1.0)].into_iter().map(bound).filter(|b| b.is_finite()).reduce(f64::max)
    }

    /// The losses' part in the value of a multiple of a dual point.
    fn dual_value(&self, a: &[f64], scale: f64) -> f64 {
        let weight = |i: usize| self.weights.as_ref().map_or(1.0, |w| w[i]);
        let conjugate = ordered_sum(a.len(), |i| weight(i) * self.loss.conjugate(scale * a[i], self.y[i]));
        -conjugate / self.total()
    }

    /// A point that is feasible for the dual problem as far as the intercept is concerned, and its pull on each coefficient.
    fn dual_point(&self, w: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (mut a, [plus, minus]) = self.signed_sums(w);
        let (p, total) = (self.x.n_columns(), self.total());
        let (mut up, mut down) = (1.0, 1.0);
        if self.intercept {
            // Shrink whichever sign weighs more: gradients stay between 0 and where they were, so in the conjugate's domain.
            let (positive, negative) = (plus[p], -minus[p]);
            (up, down) = if positive > negative { (negative / positive, 1.0) } else { (1.0, positive / negative) };
            a.iter_mut().filter(|a| **a != 0.0).for_each(|a| *a *= if *a > 0.0 { up } else { down });
        }
        // The factor of a side without weight is NaN, and its sums are zero.
        let part = |factor: f64, sum: f64| if sum == 0.0 { 0.0 } else { factor * sum };
        let pull = (0..p).map(|j| (part(up, plus[j]) + part(down, minus[j])) / total).collect();
        (a, pull)
    }

    /// The gradients `a` of the losses at `w`, and, for those above and below zero, `X'(w a)` with `sum w a` behind it.
    pub(super) fn signed_sums(&self, w: &[f64]) -> (Vec<f64>, [Vec<f64>; 2]) {
        let (n, p) = (self.x.n_rows(), self.x.n_columns());
        let (beta, b) = self.split(w);
        let sum = |rows: Range<usize>| {
            let (mut a, mut sums, mut buffer) =
                (vec![0.0; rows.len()], [vec![0.0; p + 1], vec![0.0; p + 1]], Vec::new());
            for (start, a) in rows.clone().step_by(BLOCK).zip(a.chunks_mut(BLOCK)) {
                let (range, k) = (start..start + a.len(), a.len());
                let (mut z, mut value, mut curvature) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
                let block = match &self.x {
                    Design::Dense(x) => Some(x.block(range.clone(), &mut buffer)),
                    Design::Sparse(_) => None,
                };
                match (&self.x, &block) {
                    (Design::Sparse(x), _) => range.clone().zip(&mut z).for_each(|(i, z)| *z = x.row_dot(i, beta) + b),
                    (_, Some(block)) => lanes::row_dots(block.data, block.stride, beta, b, &mut z[..k]),
                    _ => {}
                }
                self.loss.evaluate(&z[..k], &self.y[range.clone()], &mut value[..k], a, &mut curvature[..k]);
                for (sign, sums) in [1.0, -1.0].into_iter().zip(&mut sums) {
                    let weight = |i: usize| self.weights.as_ref().map_or(1.0, |w| w[i]);
                    let of = |(&a, i): (&f64, usize)| if a * sign > 0.0 { a * weight(i) } else { 0.0 };
                    z[..k].iter_mut().zip(a.iter().zip(range.clone()).map(of)).for_each(|(z, a)| *z = a);
                    sums[p] += z[..k].iter().sum::<f64>();
                    match (&self.x, &block) {
                        (Design::Sparse(x), _) => {
                            for (i, &c) in range.clone().zip(&z).filter(|(_, c)| **c != 0.0) {
                                let (places, numbers) = x.rows().line(i);
                                places.iter().zip(numbers).for_each(|(&j, &v)| sums[j as usize] += c * v);
                            }
                        }
                        (_, Some(block)) => lanes::add_rows(block.data, block.stride, &z[..k], &mut sums[..p]),
                        _ => {}
                    }
                }
            }
            (a, sums)
        };
        let parts: Vec<(Vec<f64>, [Vec<f64>; 2])> =
            parallel::consume(chunks(n, (n / 256).clamp(1, 16), 4 * BLOCK), |_, rows| sum(rows));
        let (mut a, mut plus, mut minus) = (Vec::with_capacity(n), Vec::new(), Vec::new());
        for (part, [above, below]) in parts {
            a.extend(part);
            plus.push(above);
            minus.push(below);
        }
        (a, [add_in_order(plus, p + 1), add_in_order(minus, p + 1)])
    }

    /// The Hessian over chosen columns and the intercept, for tables too wide for all of it.
    pub fn partial_hessian(&self, w: &[f64], chosen: &[usize]) -> Matrix {
        let (total, m) = (self.total(), chosen.len() + usize::from(self.intercept));
        let (beta, b) = self.split(w);
        let z = self.x.times(beta, b);
        let weight = |i: usize| self.weights.as_ref().map_or(1.0, |w| w[i]) / total;
        let s: Vec<f64> = (0..z.len()).map(|i| weight(i) * self.loss.curvature(z[i], self.y[i])).collect();
        let products = match &self.x {
            Design::Dense(x) => gram::cross_products(x, chosen, chosen, &[], Some(&s)),
            Design::Sparse(x) => x.cross_products(chosen, chosen, Some(&s)),
        };
        let sums = if self.intercept { self.x.transposed_times(&s) } else { Vec::new() };
        let all: f64 = s.iter().sum();
        let k = chosen.len();
        Matrix::from_fn(m, m, |i, j| match (i < k, j < k) {
            (true, true) => products[(i, j)] + if i == j { self.lambda } else { 0.0 },
            (true, false) => sums[chosen[i]],
            (false, true) => sums[chosen[j]],
            (false, false) => all,
        })
    }

    /// A sample of every so many-th row has enough rows for its minimizer to be near.
    pub(super) fn sample_step(&self) -> usize {
        (self.x.n_rows() / (20 * self.n_unknowns()).max(2000)).min(10)
    }

    /// The risk over every `step`-th row.
    pub fn every(&self, step: usize) -> Risk<'_, L> {
        let pick = |v: &[f64]| Cow::Owned(v.iter().copied().step_by(step).collect());
        Risk {
            x: self.x.every(step),
            y: pick(&self.y),
            weights: self.weights.as_deref().map(pick),
            loss: self.loss,
            lambda: self.lambda,
            intercept: self.intercept,
        }
    }
}

/// The sum of a term for each row, in an order that depends on nothing but their number.
fn ordered_sum(n: usize, term: impl Fn(usize) -> f64 + Sync) -> f64 {
    let parts: Vec<f64> = parallel::consume(chunks(n, 16, 4 * BLOCK), |_, rows| rows.map(&term).sum());
    parts.iter().sum()
}

impl<L: Loss> SmoothObjective for Risk<'_, L> {
    fn n_unknowns(&self) -> usize {
        self.x.n_columns() + usize::from(self.intercept)
    }

    fn value_gradient(&self, w: &[f64], g: &mut [f64]) -> f64 {
        let (p, total) = (self.x.n_columns(), self.total());
        let sums = self.sums(w, false);
        (0..p).for_each(|j| g[j] = sums[j] / total + self.lambda * w[j]);
        g[p..].iter_mut().for_each(|g| *g = sums[p] / total);
        sums[p + 1] / total + self.lambda * lanes::square_sum(&w[..p]) / 2.0
    }

    fn curvature(&self, w: &[f64], g: &mut [f64], _: &dyn Observer) -> Result<(f64, Curvature)> {
        let (p, total, m) = (self.x.n_columns(), self.total(), self.n_unknowns());
        if p > FULL_HESSIAN {
            let sums = self.sums(w, true);
            (0..p).for_each(|j| g[j] = sums[j] / total + self.lambda * w[j]);
            g[p..].iter_mut().for_each(|g| *g = sums[p] / total);
            let mut diagonal: Vec<f64> = sums[p + 2..2 * p + 2].iter().map(|s| s / total + self.lambda).collect();
            diagonal.extend(self.intercept.then_some(sums[2 * p + 2] / total));
            let value = sums[p + 1] / total + self.lambda * lanes::square_sum(&w[..p]) / 2.0;
            return Ok((value, Curvature::Diagonal(diagonal)));
        }
        let (beta, b) = self.split(w);
        let gram = self.x.gram(beta, b, 2, |rows, z, scale, extra| {
            let (mut u, mut s) = ([0.0; BLOCK], [0.0; BLOCK]);
            let k = rows.len();
            let sum = self.losses(rows, z, &mut u[..k], &mut s[..k]);
            for r in 0..k {
                // Where the loss is straight the curvature is 0; a little of it keeps the gradient's column finite. Where it is flat the row doesn't count.
                scale[r] = if s[r] == 0.0 && u[r] == 0.0 { 0.0 } else { s[r].max(1e-14).sqrt() };
                if scale[r] == 0.0 {
                    (extra[2 * r], extra[2 * r + 1]) = (0.0, 0.0);
                    continue;
                }
                extra[2 * r] = scale[r];
                extra[2 * r + 1] = u[r] / scale[r];
            }
            sum
        });
        let products = &gram.products;
        // Columns: p coefficients, the intercept, the gradient.
        (0..m).for_each(|j| g[j] = products[(j, p + 1)] / total);
        (0..p).for_each(|j| g[j] += self.lambda * w[j]);
        let mut h = Matrix::from_fn(m, m, |i, j| products[(i, j)] / total);
        (0..p).for_each(|j| h[(j, j)] += self.lambda);
        Ok((gram.total / total + self.lambda * lanes::square_sum(&w[..p]) / 2.0, Curvature::Full(h)))
    }

    fn sample(&self) -> Option<Box<dyn SmoothObjective + '_>> {
        let step = self.sample_step();
        (step >= 4).then(|| Box::new(self.every(step)) as Box<dyn SmoothObjective + '_>)
    }

    /// The risk is `lambda`-strongly convex in the coefficients: `F - F* <= |g|^2 / (2 lambda)` (intercept at its best).
    fn excess(&self, g: &[f64]) -> f64 {
        if self.lambda > 0.0 { lanes::square_sum(&g[..self.x.n_columns()]) / (2.0 * self.lambda) } else { 0.0 }
    }

    fn bound(&self, w: &[f64]) -> Option<f64> {
        self.lower_bound(w, 0.0)
    }

    fn infimum(&self) -> f64 {
        if self.lambda > 0.0 { f64::NEG_INFINITY } else { 0.0 }
    }
}

impl<L: Loss> L1Objective for Risk<'_, L> {
    fn is_coefficient(&self, j: usize) -> bool {
        j < self.x.n_columns()
    }

    fn model(&self, w: &[f64], l1: f64, g: &mut [f64], observer: &dyn Observer) -> Result<(f64, Vec<usize>, Matrix)> {
        let p = self.x.n_columns();
        if p <= FULL_HESSIAN
            && let (value, Curvature::Full(h)) = self.curvature(w, g, observer)?
        {
            return Ok((value, (0..w.len()).collect(), h));
        }
        let value = self.value_gradient(w, g);
        let mut chosen = columns_at_work(&w[..p], &g[..p], l1);
        let h = self.partial_hessian(w, &chosen);
        chosen.extend((p < w.len()).then_some(p));
        Ok((value, chosen, h))
    }

    fn lower_bound(&self, w: &[f64], l1: f64) -> Option<f64> {
        Risk::lower_bound(self, w, l1)
    }

    fn cheaper(&self) -> Option<Box<dyn L1Objective + '_>> {
        let step = self.sample_step();
        (step >= 4).then(|| Box::new(self.every(step)) as Box<dyn L1Objective + '_>)
    }
}

versions! {
    /// `d_j += sum_r s_r x_rj^2`.
    fn add_squares(x: &[f64], stride: usize, s: &[f64], d: &mut [f64]) {
        let p = d.len();
        for (r, s) in s.iter().enumerate() {
            for (d, x) in d.iter_mut().zip(&x[r * stride..r * stride + p]) {
                *d = (s * x).mul_add(*x, *d);
            }
        }
    }
}
