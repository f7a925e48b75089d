//! The regularized multinomial logistic risk: `F(W) = sum_i w_i (ln sum_k exp(z_ik) - z_i,y_i) / total + lambda |W|^2 / 2`, where
//! `z_ik = x_i'beta_k + b_k`.
//!
//! The Hessian has `K x K` blocks `X' diag(w p_k (1[k = l] - p_l)) X`, each a Gram matrix: `K (K + 1) / 2` times the cost of the
//! binary case. As [`newton`](super::newton) corrects it by gradients anyway, it is made from a sample of the rows. Beyond
//! `FULL_HESSIAN` unknowns only the blocks on the diagonal are made, and beyond that many columns only the diagonal.
//!
//! **Certificate.** Any probabilities `p_i` give a lower bound on the minimum, `-sum w_i sum_k p_ik ln p_ik / total - |X'(w (p - e_y)) / total|^2 / (2 lambda)`, if with intercepts
//! the classes' sums of `w p` equal those of the data. Those of the model nearly do; a share of one common distribution is mixed in so that they do exactly.
//!
//! **Reference.** Böhning, "Multinomial logistic regression algorithm" (1992).

use super::newton::{Curvature, HessianProduct, SmoothObjective};
use super::prox_newton::{L1Objective, columns_at_work};
use ermine_core::error::Result;
use ermine_core::linalg::dense::{BLOCK, RowBlock, add_in_order};
use ermine_core::linalg::lanes::LANES;
use ermine_core::linalg::{Design, Gram, Matrix, Sparse, chunks, few, gram, lanes};
use ermine_core::loss::softmax::softmax_rows;
use ermine_core::parallel;
use ermine_core::progress::{Observer, check};
use std::borrow::Cow;
use std::ops::Range;

/// The risk over some data. Unknowns are, class after class, the coefficients and then the intercept if there is one.
#[derive(Debug, Clone)]
pub struct MultinomialRisk<'a> {
    /// The columns.
    pub x: Design<'a>,
    /// The class of each row.
    pub y: Cow<'a, [u32]>,
    /// How many classes.
    pub n_classes: usize,
    /// Row weights; all 1 if `None`.
    pub weights: Option<Cow<'a, [f64]>>,
    /// Strength of the L2 penalty, at least 0.
    pub lambda: f64,
    /// Whether there are intercepts (which are never penalized).
    pub intercept: bool,
}

/// Up to this many unknowns a full Hessian is made.
const FULL_HESSIAN: usize = 1500;
/// Rows in a part of a block: a part of 100 columns stays in the first-level cache for all classes.
const PART: usize = 32;

/// The unknowns by columns: a row of classes for each, padded to whole groups of lanes, so that the margins of all classes are computed side by side.
struct ClassesByColumn {
    lanes: usize,
    coefficients: Vec<f64>,
    /// The intercepts; minus infinity beyond the classes, so that these get no probability.
    start: Vec<f64>,
}

/// Sums over some rows, by columns like [`ClassesByColumn`].
#[derive(Default)]
struct ClassColumnSums {
    /// `X'u` for each class.
    pulls: Vec<f64>,
    /// `sum u` for each class.
    totals: Vec<f64>,
    /// What else was added up.
    value: f64,
}

impl MultinomialRisk<'_> {
    /// Unknowns of one class.
    fn width(&self) -> usize {
        self.x.n_columns() + usize::from(self.intercept)
    }

    fn total(&self) -> f64 {
        self.weights.as_ref().map_or(self.x.n_rows() as f64, |w| w.iter().sum())
    }

    fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[i])
    }

    /// Coefficients and intercept of class `k`.
    fn class<'w>(&self, w: &'w [f64], k: usize) -> (&'w [f64], f64) {
        let (beta, b) = w[k * self.width()..(k + 1) * self.width()].split_at(self.x.n_columns());
        (beta, b.first().copied().unwrap_or(0.0))
    }

    fn by_column(&self, w: &[f64]) -> ClassesByColumn {
        let (p, lanes) = (self.x.n_columns(), self.n_classes.next_multiple_of(LANES));
        let (mut coefficients, mut start) = (vec![0.0; p * lanes], vec![f64::NEG_INFINITY; lanes]);
        for k in 0..self.n_classes {
            let (beta, b) = self.class(w, k);
            start[k] = b;
            beta.iter().enumerate().for_each(|(j, b)| coefficients[j * lanes + k] = *b);
        }
        ClassesByColumn { lanes, coefficients, start }
    }

    /// Goes over the rows in parts. `visit` gets the rows, their classes' probabilities and the normalizers `ln sum_k exp(z_k)`, turns the probabilities into what is to be multiplied with
    /// the columns, and returns what is to be added to the value.
    fn sum(
        &self,
        by: &ClassesByColumn,
        pull: bool,
        visit: impl Fn(Range<usize>, &mut [f64], &[f64], &[f64]) -> f64 + Sync,
    ) -> ClassColumnSums {
        self.sum_margins(by, pull, |range, z| {
            let (mut own, mut normalizers) = ([0.0; PART], [0.0; PART]);
            let (own, normalizers) = (&mut own[..range.len()], &mut normalizers[..range.len()]);
            for ((own, z), i) in own.iter_mut().zip(z.chunks_exact(by.lanes)).zip(range.clone()) {
                *own = z[self.y[i] as usize];
            }
            softmax_rows(z, by.lanes, normalizers);
            visit(range, z, own, normalizers)
        })
    }

    /// Goes over the rows in parts. `visit` gets the rows and their margins, turns these into what is to be multiplied with the columns, and returns what is to be added to the value.
    fn sum_margins(
        &self,
        by: &ClassesByColumn,
        pull: bool,
        visit: impl Fn(Range<usize>, &mut [f64]) -> f64 + Sync,
    ) -> ClassColumnSums {
        let (p, lanes, n) = (self.x.n_columns(), by.lanes, self.x.n_rows());
        let sum = |rows: Range<usize>| {
            let mut out = vec![0.0; (p + 1) * lanes + 1];
            let (pulls, totals) = out.split_at_mut(p * lanes);
            let (mut buffer, mut z) = (Vec::new(), vec![0.0; PART * lanes]);
            for first in rows.clone().step_by(4 * PART) {
                let last = (first + 4 * PART).min(rows.end);
                let block = match &self.x {
                    Design::Dense(x) => Some(x.block(first..last, &mut buffer)),
                    Design::Sparse(_) => None,
                };
                for start in (first..last).step_by(PART) {
                    let range = start..(start + PART).min(last);
                    let z = &mut z[..range.len() * lanes];
                    let part = block.map(|b| RowBlock { data: &b.data[(start - first) * b.stride..], ..b });
                    self.margins(by, range.clone(), part, z);
                    totals[lanes] += visit(range.clone(), z);
                    for u in z.chunks_exact(lanes) {
                        totals.iter_mut().zip(u).for_each(|(t, u)| *t += u);
                    }
                    match (&self.x, part) {
                        _ if !pull => {}
                        (Design::Sparse(x), _) => add_sparse(x, range, z, lanes, pulls),
                        (_, Some(part)) => few::add_few(part.data, part.stride, z, lanes, pulls),
                        _ => {}
                    }
                }
            }
            out
        };
        let parts = parallel::consume(chunks(n, (n / 256).clamp(1, 16), 4 * BLOCK), |_, rows| sum(rows));
        let mut total = add_in_order(parts, (p + 1) * lanes + 1);
        let value = total.pop().unwrap_or(0.0);
        let totals = total.split_off(p * lanes);
        ClassColumnSums { pulls: total, totals, value }
    }

    /// The margins of the rows of a part, class by class within a row.
    fn margins(&self, by: &ClassesByColumn, range: Range<usize>, block: Option<RowBlock>, z: &mut [f64]) {
        match (&self.x, block) {
            (_, Some(block)) => few::times_few(block.data, block.stride, &by.coefficients, by.lanes, &by.start, z),
            (Design::Sparse(x), None) => {
                for (i, z) in range.zip(z.chunks_exact_mut(by.lanes)) {
                    z.copy_from_slice(&by.start);
                    let (places, numbers) = x.rows().line(i);
                    for (&j, &v) in places.iter().zip(numbers) {
                        lanes::axpy(v, &by.coefficients[j as usize * by.lanes..(j as usize + 1) * by.lanes], z);
                    }
                }
            }
            (Design::Dense(_), None) => {}
        }
    }

    /// The probabilities of every class for every row, row by row.
    pub fn probabilities(&self, w: &[f64]) -> Vec<f64> {
        let (by, classes) = (self.by_column(w), self.n_classes);
        let mut out = vec![0.0; self.x.n_rows() * classes];
        parallel::for_each_chunk(&mut out, PART * classes, |part, out| {
            let range = part * PART..part * PART + out.len() / classes;
            let (mut buffer, mut z, mut normalizers) = (Vec::new(), vec![0.0; range.len() * by.lanes], [0.0; PART]);
            let block = match &self.x {
                Design::Dense(x) => Some(x.block(range.clone(), &mut buffer)),
                Design::Sparse(_) => None,
            };
            self.margins(&by, range.clone(), block, &mut z);
            softmax_rows(&mut z, by.lanes, &mut normalizers[..range.len()]);
            out.chunks_exact_mut(classes)
                .zip(z.chunks_exact(by.lanes))
                .for_each(|(out, z)| out.copy_from_slice(&z[..classes]));
        });
        out
    }

    /// Sums over rows: the gradient of the losses, then their sum.
    fn sums(&self, w: &[f64]) -> Vec<f64> {
        let (p, by) = (self.x.n_columns(), self.by_column(w));
        let sums = self.sum(&by, true, |rows, z, own, normalizers| {
            let mut value = 0.0;
            for ((i, z), (own, normalizer)) in rows.zip(z.chunks_exact_mut(by.lanes)).zip(own.iter().zip(normalizers)) {
                let weight = self.weight(i);
                value += weight * (normalizer - own);
                z[self.y[i] as usize] -= 1.0;
                if weight != 1.0 {
                    z.iter_mut().for_each(|u| *u *= weight);
                }
            }
            value
        });
        let mut out = Vec::with_capacity(self.n_unknowns() + 1);
        for k in 0..self.n_classes {
            out.extend((0..p).map(|j| sums.pulls[j * by.lanes + k]));
            out.extend(self.intercept.then_some(sums.totals[k]));
        }
        out.push(sums.value);
        out
    }

    /// A sample of every so many-th row has enough rows for its minimizer to be near.
    fn sample_step(&self) -> usize {
        (self.x.n_rows() / (20 * self.n_unknowns()).max(2000)).min(10)
    }

    fn every(&self, step: usize) -> MultinomialRisk<'_> {
        MultinomialRisk {
            x: self.x.every(step),
            y: Cow::Owned(self.y.iter().copied().step_by(step).collect()),
            weights: self.weights.as_deref().map(|w| Cow::Owned(w.iter().copied().step_by(step).collect())),
            n_classes: self.n_classes,
            lambda: self.lambda,
            intercept: self.intercept,
        }
    }

    /// The block of classes `k` and `l` without its penalty, divided by the total weight.
    fn block(&self, probabilities: &[f64], k: usize, l: usize, total: f64) -> Matrix {
        let classes = self.n_classes;
        let root = |i: usize| {
            let p = &probabilities[i * classes..(i + 1) * classes];
            (self.weight(i) * p[k] * if k == l { 1.0 - p[k] } else { p[l] }).max(0.0).sqrt()
        };
        let extras = usize::from(self.intercept);
        let weigh = |rows: Range<usize>, scale: &mut [f64], extra: &mut [f64]| {
            rows.enumerate().for_each(|(r, i)| scale[r] = root(i));
            extra.iter_mut().zip(scale.iter()).for_each(|(e, s)| *e = *s);
            0.0
        };
        let gram = match &self.x {
            Design::Dense(x) => Gram::of(x, &[], extras, |rows, _, scale, extra| weigh(rows, scale, extra)),
            Design::Sparse(x) => x.gram(extras, weigh),
        };
        let sign = if k == l { 1.0 } else { -1.0 };
        Matrix::from_fn(self.width(), self.width(), |i, j| sign * gram.products[(i, j)] / total)
    }

    fn penalize(&self, h: &mut Matrix, start: usize) {
        (0..self.x.n_columns()).for_each(|j| h[(start + j, start + j)] += self.lambda);
    }

    /// The Hessian over the rows there are.
    fn second_derivatives(&self, w: &[f64], observer: &dyn Observer) -> Result<Curvature> {
        let (width, classes, total) = (self.width(), self.n_classes, self.total());
        let probabilities = self.probabilities(w);
        if classes * width > FULL_HESSIAN {
            let block = |k: usize| {
                check(observer)?;
                let mut h = self.block(&probabilities, k, k, total);
                self.penalize(&mut h, 0);
                Ok(h)
            };
            return Ok(Curvature::Blocks((0..classes).map(block).collect::<Result<_>>()?));
        }
        let pairs: Vec<(usize, usize)> = (0..classes).flat_map(|k| (k..classes).map(move |l| (k, l))).collect();
        let blocks: Vec<Matrix> = match &self.x {
            Design::Dense(x) => {
                let packed = gram::PackedTable::new(x, self.intercept);
                let block = |&(k, l): &(usize, usize)| {
                    check(observer)?;
                    let share = |(i, p): (usize, &[f64])| {
                        self.weight(i) / total * p[k] * if k == l { 1.0 - p[k] } else { -p[l] }
                    };
                    let shares: Vec<f64> = probabilities.chunks_exact(classes).enumerate().map(share).collect();
                    Ok(packed.gram(&shares))
                };
                parallel::map_items(&pairs, block).into_iter().collect::<Result<_>>()?
            }
            Design::Sparse(_) => {
                let block =
                    |&(k, l): &(usize, usize)| check(observer).map(|()| self.block(&probabilities, k, l, total));
                pairs.iter().map(block).collect::<Result<_>>()?
            }
        };
        let mut h = Matrix::zeros(classes * width, classes * width);
        for (&(k, l), block) in pairs.iter().zip(&blocks) {
            for i in 0..width {
                h.row_mut(k * width + i)[l * width..(l + 1) * width].copy_from_slice(block.row(i));
                h.row_mut(l * width + i)[k * width..(k + 1) * width].copy_from_slice(block.row(i));
            }
        }
        (0..classes).for_each(|k| self.penalize(&mut h, k * width));
        Ok(Curvature::Full(h))
    }

    /// The Hessian times a vector, from the probabilities of all rows: `X'(w p_k (s_k - sum_l p_l s_l)) / total + lambda v` with `s = Xv`.
    fn hessian_times(&self, probabilities: &[f64], v: &[f64]) -> Vec<f64> {
        let (p, classes, total, mut by) = (self.x.n_columns(), self.n_classes, self.total(), self.by_column(v));
        by.start[classes..].fill(0.0);
        let sums = self.sum_margins(&by, true, |rows, z| {
            let q = probabilities[rows.start * classes..rows.end * classes].chunks_exact(classes);
            for ((i, s), q) in rows.zip(z.chunks_exact_mut(by.lanes)).zip(q) {
                let mean: f64 = s.iter().zip(q).map(|(s, q)| s * q).sum();
                let weight = self.weight(i);
                s.iter_mut().zip(q).for_each(|(s, q)| *s = weight * q * (*s - mean));
            }
            0.0
        });
        let mut out = Vec::with_capacity(v.len());
        for k in 0..classes {
            let (beta, _) = self.class(v, k);
            out.extend((0..p).map(|j| sums.pulls[j * by.lanes + k] / total + self.lambda * beta[j]));
            out.extend(self.intercept.then_some(sums.totals[k] / total));
        }
        out
    }

    /// The diagonal for tables too wide for blocks: `p (1 - p) <= 1/4`, taken at its bound.
    fn diagonal(&self) -> Curvature {
        let total = self.total();
        let squares: Vec<f64> = match &self.x {
            Design::Dense(x) => {
                let column = |j: usize| (0..x.n_rows()).map(|i| self.weight(i) * x.get(i, j).powi(2)).sum::<f64>();
                parallel::map(x.n_columns(), column)
            }
            Design::Sparse(x) => {
                let mut squares = vec![0.0; x.n_columns()];
                for i in 0..x.n_rows() {
                    let (places, numbers) = x.rows().line(i);
                    places.iter().zip(numbers).for_each(|(&j, v)| squares[j as usize] += self.weight(i) * v * v);
                }
                squares
            }
        };
        let mut one: Vec<f64> = squares.iter().map(|s| s / (4.0 * total) + self.lambda).collect();
        one.extend(self.intercept.then_some(0.25));
        Curvature::Diagonal(one.repeat(self.n_classes))
    }
}

impl MultinomialRisk<'_> {
    /// A lower bound on the minimum of the risk plus `l1` times the absolute coefficients; `None` if nothing penalizes them.
    fn dual_bound(&self, w: &[f64], l1: f64) -> Option<f64> {
        if self.lambda <= 0.0 && l1 <= 0.0 {
            return None;
        }
        let (total, by) = (self.total(), self.by_column(w));
        let (share, common) = if self.intercept { self.mixture(&by)? } else { (0.0, vec![0.0; by.lanes]) };
        // The dual point: the model's probabilities with the mixture, moved towards the true classes if `scale` is below 1. Its entropy, and its pull X'(w (p - e_y)) on each coefficient.
        let point = |scale: f64, pull: bool| {
            self.sum(&by, pull, |rows, z, _, _| {
                let mut entropy = 0.0;
                for (i, z) in rows.zip(z.chunks_exact_mut(by.lanes)) {
                    let (weight, y) = (self.weight(i), self.y[i] as usize);
                    z.iter_mut().zip(&common).for_each(|(p, q)| *p = (1.0 - share) * *p + share * q);
                    z[y] -= 1.0;
                    z.iter_mut().for_each(|u| *u *= scale);
                    let term = |(k, u): (usize, &f64)| match if k == y { 1.0 + u } else { *u } {
                        q if q > 0.0 => q * q.ln(),
                        _ => 0.0,
                    };
                    entropy += weight * z[..self.n_classes].iter().enumerate().map(term).sum::<f64>();
                    z.iter_mut().for_each(|u| *u *= weight);
                }
                entropy
            })
        };
        let mut found = point(1.0, true);
        let pulls: Vec<f64> = found.pulls.iter().map(|u| u / total).collect();
        let top = lanes::max_abs(&pulls);
        // Without L2 no pull may exceed the L1 strength: move the point towards the true classes until none does.
        if self.lambda <= 0.0 && top > l1 {
            found = point(l1 / top, false);
        }
        let beyond = |u: &f64| (u.abs() - l1).max(0.0).powi(2);
        let penalty = match self.lambda {
            lambda if lambda > 0.0 => pulls.iter().map(beyond).sum::<f64>() / (2.0 * lambda),
            _ => 0.0,
        };
        Some(-found.value / total - penalty).filter(|bound| bound.is_finite())
    }

    /// The share of a common distribution that, mixed into all rows, gives each class the weight that it has in the data; `None` if that can't be.
    fn mixture(&self, by: &ClassesByColumn) -> Option<(f64, Vec<f64>)> {
        let (classes, total) = (self.n_classes, self.total());
        let model = self.sum(by, false, |rows, z, _, _| {
            for (i, z) in rows.zip(z.chunks_exact_mut(by.lanes)) {
                let weight = self.weight(i);
                z.iter_mut().for_each(|p| *p *= weight);
            }
            0.0
        });
        let (model, mut data) = (model.totals, vec![0.0; classes]);
        (0..self.y.len()).for_each(|i| data[self.y[i] as usize] += self.weight(i));
        let share = (0..classes).map(|k| (model[k] - data[k]) / model[k]).fold(0.0, f64::max);
        if share.is_nan() || share >= 1.0 {
            return None;
        }
        let of = |k: usize| match data.get(k) {
            Some(data) if share > 0.0 => ((data - (1.0 - share) * model[k]) / (share * total)).max(0.0),
            _ => 0.0,
        };
        Some((share, (0..by.lanes).map(of).collect()))
    }

    /// The columns at work of each class and the block of the Hessian over them, for tables too wide for all.
    fn partial_blocks(&self, w: &[f64], g: &[f64], l1: f64) -> (Vec<usize>, Matrix) {
        let (p, width, classes, total) = (self.x.n_columns(), self.width(), self.n_classes, self.total());
        let probabilities = self.probabilities(w);
        let (mut chosen, mut blocks) = (Vec::new(), Vec::new());
        for k in 0..classes {
            let first = k * width;
            let columns = columns_at_work(&w[first..first + p], &g[first..first + p], l1);
            let share = |i: usize| {
                let q = probabilities[i * classes + k];
                self.weight(i) * q * (1.0 - q) / total
            };
            let s: Vec<f64> = (0..self.y.len()).map(share).collect();
            let products = match &self.x {
                Design::Dense(x) => gram::cross_products(x, &columns, &columns, &[], Some(&s)),
                Design::Sparse(x) => x.cross_products(&columns, &columns, Some(&s)),
            };
            let sums = if self.intercept { self.x.transposed_times(&s) } else { Vec::new() };
            let (m, all) = (columns.len(), s.iter().sum::<f64>());
            blocks.push(Matrix::from_fn(
                m + usize::from(self.intercept),
                m + usize::from(self.intercept),
                |i, j| match (i < m, j < m) {
                    (true, true) => products[(i, j)] + if i == j { self.lambda } else { 0.0 },
                    (true, false) => sums[columns[i]],
                    (false, true) => sums[columns[j]],
                    (false, false) => all,
                },
            ));
            chosen.extend(columns.iter().map(|j| first + j));
            chosen.extend(self.intercept.then_some(first + p));
        }
        let mut h = Matrix::zeros(chosen.len(), chosen.len());
        let mut start = 0;
        for block in blocks {
            for i in 0..block.n_rows() {
                (0..block.n_rows()).for_each(|j| h[(start + i, start + j)] = block[(i, j)]);
            }
            start += block.n_rows();
        }
        (chosen, h)
    }
}

/// `g_j += sum_i x_ij u_i` over some rows, for all classes.
fn add_sparse(x: &Sparse, rows: Range<usize>, u: &[f64], width: usize, g: &mut [f64]) {
    for (i, u) in rows.zip(u.chunks_exact(width)) {
        let (places, numbers) = x.rows().line(i);
        for (&j, &v) in places.iter().zip(numbers) {
            lanes::axpy(v, u, &mut g[j as usize * width..(j as usize + 1) * width]);
        }
    }
}

impl L1Objective for MultinomialRisk<'_> {
    fn is_coefficient(&self, j: usize) -> bool {
        j % self.width() < self.x.n_columns()
    }

    fn model(&self, w: &[f64], l1: f64, g: &mut [f64], observer: &dyn Observer) -> Result<(f64, Vec<usize>, Matrix)> {
        if self.n_unknowns() <= FULL_HESSIAN
            && let (value, Curvature::Full(h)) = self.curvature(w, g, observer)?
        {
            return Ok((value, (0..w.len()).collect(), h));
        }
        let value = self.value_gradient(w, g);
        let (chosen, h) = self.partial_blocks(w, g, l1);
        Ok((value, chosen, h))
    }

    fn lower_bound(&self, w: &[f64], l1: f64) -> Option<f64> {
        self.dual_bound(w, l1)
    }

    fn cheaper(&self) -> Option<Box<dyn L1Objective + '_>> {
        let step = self.sample_step();
        (step >= 4).then(|| Box::new(self.every(step)) as Box<dyn L1Objective + '_>)
    }
}

impl SmoothObjective for MultinomialRisk<'_> {
    fn n_unknowns(&self) -> usize {
        self.width() * self.n_classes
    }

    fn value_gradient(&self, w: &[f64], g: &mut [f64]) -> f64 {
        let (p, width, total) = (self.x.n_columns(), self.width(), self.total());
        let sums = self.sums(w);
        let mut square = 0.0;
        for (m, g) in g.iter_mut().enumerate() {
            *g = sums[m] / total;
            if m % width < p {
                *g += self.lambda * w[m];
                square += w[m] * w[m];
            }
        }
        sums[w.len()] / total + self.lambda * square / 2.0
    }

    fn curvature(&self, w: &[f64], g: &mut [f64], observer: &dyn Observer) -> Result<(f64, Curvature)> {
        let value = self.value_gradient(w, g);
        if self.width() > FULL_HESSIAN {
            return Ok((value, self.diagonal()));
        }
        // Enough rows that each of a class's unknowns is seen many times, and no more than cost as much as a few gradients: corrections do the rest.
        let (n, m) = (self.x.n_rows(), self.n_unknowns());
        let step = (n / (n / 24).clamp(3 * m, 8 * m).max(2000)).max(1);
        let curvature = match step {
            1 => self.second_derivatives(w, observer)?,
            _ => self.every(step).second_derivatives(w, observer)?,
        };
        Ok((value, curvature))
    }

    /// Without the blocks off the diagonal steps converge slowly, so that the whole is used, by its products.
    fn hessian(&self, w: &[f64]) -> Option<HessianProduct<'_>> {
        if self.n_unknowns() <= FULL_HESSIAN {
            return None;
        }
        let probabilities = self.probabilities(w);
        Some(Box::new(move |v| self.hessian_times(&probabilities, v)))
    }

    fn sample(&self) -> Option<Box<dyn SmoothObjective + '_>> {
        let step = self.sample_step();
        (step >= 4).then(|| Box::new(self.every(step)) as Box<dyn SmoothObjective + '_>)
    }

    /// The risk is `lambda`-strongly convex in the coefficients: `F - F* <= |g|^2 / (2 lambda)` (intercepts at their best).
    fn excess(&self, g: &[f64]) -> f64 {
        let (p, width) = (self.x.n_columns(), self.width());
        let square: f64 = g.chunks_exact(width.max(1)).map(|g| lanes::square_sum(&g[..p])).sum();
        if self.lambda > 0.0 { square / (2.0 * self.lambda) } else { 0.0 }
    }

    fn bound(&self, w: &[f64]) -> Option<f64> {
        self.dual_bound(w, 0.0)
    }

    fn infimum(&self) -> f64 {
        if self.lambda > 0.0 { f64::NEG_INFINITY } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optim::{SolverStatus, newton};
    use ermine_core::linalg::Dense;
    use ermine_core::progress::Silent;
    use ermine_core::rng;
    use proptest::prelude::*;

    fn numbers(n: usize, seed: u64) -> Vec<f64> {
        let mut stream = rng::stream(seed, &[]);
        (0..n).map(|_| 2.0 * rng::uniform(&mut stream) - 1.0).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]
        #[test]
        fn products_with_the_hessian_are_those_with_its_matrix(
            n in 1usize..150, p in 1usize..6, n_classes in 2usize..11, seed in 0u64..1000, intercept: bool, weighted: bool, sparse: bool,
        ) {
            let x = numbers(n * p, seed);
            let weights: Vec<f64> = numbers(n, seed + 1).iter().map(|w| w.abs() + 0.1).collect();
            let dense = Dense::rows_f64(&x, n, p, p).unwrap();
            let risk = MultinomialRisk {
                x: if sparse { crate::optim::tests::sparsify(&x, n, p).into() } else { dense.into() },
                y: (0..n as u32).map(|i| i % n_classes as u32).collect(),
                n_classes,
                weights: weighted.then_some(Cow::Borrowed(&weights[..])),
                lambda: 0.2,
                intercept,
            };
            let (w, v) = (numbers(risk.n_unknowns(), seed + 2), numbers(risk.n_unknowns(), seed + 3));
            let Curvature::Full(h) = risk.second_derivatives(&w, &Silent).unwrap() else { panic!("few unknowns") };
            let found = risk.hessian_times(&risk.probabilities(&w), &v);
            for (a, b) in found.iter().zip(h.times(&v)) {
                prop_assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()), "{a} {b}");
            }
        }
    }

    /// Beyond the size of a full Hessian the minimum is found in few steps, also where units differ.
    #[test]
    fn many_unknowns_are_solved_by_products_with_the_hessian() {
        let (n, p, n_classes) = (150, FULL_HESSIAN / 6 + 20, 6);
        let x: Vec<f64> =
            numbers(n * p, 5).iter().enumerate().map(|(k, v)| v * 10f64.powi((k % p % 4) as i32 - 2)).collect();
        let y: Vec<u32> = (0..n).map(|i| ((x[i * p + 2] + 1.0) * 2.9) as u32 % 6).collect();
        let risk = MultinomialRisk {
            x: Dense::rows_f64(&x, n, p, p).unwrap().into(),
            y: Cow::Borrowed(&y),
            n_classes,
            weights: None,
            lambda: 1e-3,
            intercept: true,
        };
        assert!(risk.n_unknowns() > FULL_HESSIAN);
        let options = newton::NewtonOptions {
            tolerance: 1e-12,
            certified: 1e-10,
            max_iterations: 60,
            sampled_start: true,
            observer: &Silent,
        };
        let mut w = vec![0.0; risk.n_unknowns()];
        let outcome = newton::minimize(&risk, &mut w, &options).unwrap();
        assert_eq!(outcome.status, SolverStatus::Converged);
        assert!(outcome.n_iterations < 30, "{}", outcome.n_iterations);
        assert!(outcome.gap().unwrap() <= 1e-8 * outcome.value, "{outcome:?}");
    }
}
