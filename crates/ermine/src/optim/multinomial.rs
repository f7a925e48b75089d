//! The regularised multinomial logistic risk: `F(W) = sum_i w_i (ln sum_k exp(z_ik) - z_i,y_i) / total + lambda |W|^2 / 2`, where
//! `z_ik = x_i'beta_k + b_k`.
//!
//! The Hessian has `K x K` blocks `X' diag(w p_k (1[k = l] - p_l)) X`, each a Gram matrix: `K (K + 1) / 2` times the cost of the
//! binary case. As [`newton`](super::newton) corrects it by gradients anyway, it is made from a sample of the rows. Beyond
//! `FULL_HESSIAN` unknowns only the blocks on the diagonal are made, and beyond that many columns only the diagonal.
//!
//! **Reference.** Böhning, "Multinomial logistic regression algorithm" (1992).

use super::newton::{Curvature, Smooth};
use crate::linalg::dense::{BLOCK, add_in_order};
use crate::linalg::{Design, Gram, Matrix, chunks, lanes};
use crate::loss::softmax::softmax;
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;

/// The risk over some data. Unknowns are, class after class, the coefficients and then the intercept if there is one.
#[derive(Debug, Clone)]
pub struct Multinomial<'a> {
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
    /// Whether there are intercepts (which are never penalised).
    pub intercept: bool,
}

/// Up to this many unknowns a full Hessian is made.
const FULL_HESSIAN: usize = 1500;
/// Rows in a part of a block: a part of 100 columns stays in the first-level cache for all classes.
const PART: usize = 24;

impl Multinomial<'_> {
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

    /// The probabilities of every class for every row, row by row.
    pub fn probabilities(&self, w: &[f64]) -> Vec<f64> {
        let k = self.n_classes;
        let margins: Vec<Vec<f64>> = (0..k)
            .map(|c| {
                let (beta, b) = self.class(w, c);
                self.x.times(beta, b)
            })
            .collect();
        let mut out = vec![0.0; self.x.n_rows() * k];
        for (i, row) in out.chunks_exact_mut(k).enumerate() {
            row.iter_mut().zip(&margins).for_each(|(o, z)| *o = z[i]);
            softmax(row);
        }
        out
    }

    /// Margins (class by class, `PART` apart) become weighted gradients of the loss; returns the weighted loss.
    fn losses(&self, rows: Range<usize>, z: &mut [f64]) -> f64 {
        let mut sum = 0.0;
        let mut row = vec![0.0; self.n_classes];
        for (r, i) in rows.enumerate() {
            row.iter_mut().enumerate().for_each(|(k, out)| *out = z[k * PART + r]);
            let (y, weight) = (self.y[i] as usize, self.weight(i));
            let margin = row[y];
            sum += weight * (softmax(&mut row) - margin);
            row[y] -= 1.0;
            row.iter().enumerate().for_each(|(k, g)| z[k * PART + r] = weight * g);
        }
        sum
    }

    /// Sums over rows: the gradient of the losses, then their sum.
    fn sums(&self, w: &[f64]) -> Vec<f64> {
        let (p, width, classes) = (self.x.n_columns(), self.width(), self.n_classes);
        let sum = |rows: Range<usize>| {
            let (mut out, mut buffer) = (vec![0.0; classes * width + 1], Vec::new());
            let mut z = vec![0.0; classes * PART];
            for start in rows.clone().step_by(PART) {
                let range = start..(start + PART).min(rows.end);
                let n = range.len();
                match &self.x {
                    Design::Dense(x) => {
                        let block = x.block(range.clone(), &mut buffer);
                        for k in 0..classes {
                            let (beta, b) = self.class(w, k);
                            lanes::row_dots(block.data, block.stride, beta, b, &mut z[k * PART..k * PART + n]);
                        }
                        out[classes * width] += self.losses(range, &mut z);
                        for k in 0..classes {
                            let u = &z[k * PART..k * PART + n];
                            lanes::add_rows(block.data, block.stride, u, &mut out[k * width..k * width + p]);
                        }
                    }
                    Design::Sparse(x) => {
                        for k in 0..classes {
                            let (beta, b) = self.class(w, k);
                            range.clone().enumerate().for_each(|(r, i)| z[k * PART + r] = x.row_dot(i, beta) + b);
                        }
                        out[classes * width] += self.losses(range.clone(), &mut z);
                        for (r, i) in range.enumerate() {
                            let (places, numbers) = x.rows().line(i);
                            for k in 0..classes {
                                let (g, u) = (&mut out[k * width..k * width + p], z[k * PART + r]);
                                places
                                    .iter()
                                    .zip(numbers)
                                    .for_each(|(&j, &v)| g[j as usize] = u.mul_add(v, g[j as usize]));
                            }
                        }
                    }
                }
                if self.intercept {
                    for k in 0..classes {
                        out[k * width + p] += z[k * PART..k * PART + n].iter().sum::<f64>();
                    }
                }
            }
            out
        };
        let n = self.x.n_rows();
        let parts = chunks(n, (n / 256).clamp(1, 16), 4 * BLOCK).into_par_iter().map(sum).collect();
        add_in_order(parts, classes * width + 1)
    }

    fn every(&self, step: usize) -> Multinomial<'_> {
        Multinomial {
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

    fn penalise(&self, h: &mut Matrix, start: usize) {
        (0..self.x.n_columns()).for_each(|j| h[(start + j, start + j)] += self.lambda);
    }

    /// The Hessian over the rows there are.
    fn hessian(&self, w: &[f64]) -> Curvature {
        let (width, classes, total) = (self.width(), self.n_classes, self.total());
        let probabilities = self.probabilities(w);
        if classes * width > FULL_HESSIAN {
            let block = |k: usize| {
                let mut h = self.block(&probabilities, k, k, total);
                self.penalise(&mut h, 0);
                h
            };
            return Curvature::Blocks((0..classes).map(block).collect());
        }
        let mut h = Matrix::zeros(classes * width, classes * width);
        for k in 0..classes {
            for l in k..classes {
                let block = self.block(&probabilities, k, l, total);
                for i in 0..width {
                    for j in 0..width {
                        h[(k * width + i, l * width + j)] = block[(i, j)];
                        h[(l * width + j, k * width + i)] = block[(i, j)];
                    }
                }
            }
            self.penalise(&mut h, k * width);
        }
        Curvature::Full(h)
    }

    /// The diagonal for tables too wide for blocks: `p (1 - p) <= 1/4`, taken at its bound.
    fn diagonal(&self) -> Curvature {
        let total = self.total();
        let squares: Vec<f64> = match &self.x {
            Design::Dense(x) => {
                let column = |j: usize| (0..x.n_rows()).map(|i| self.weight(i) * x.get(i, j).powi(2)).sum::<f64>();
                (0..x.n_columns()).into_par_iter().map(column).collect()
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

impl Smooth for Multinomial<'_> {
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

    fn curvature(&self, w: &[f64], g: &mut [f64]) -> (f64, Curvature) {
        let value = self.value_gradient(w, g);
        if self.width() > FULL_HESSIAN {
            return (value, self.diagonal());
        }
        // Enough rows that each of a class's unknowns is seen many times, and no more: corrections do the rest.
        let step = (self.x.n_rows() / (8 * self.n_unknowns()).max(2000)).max(1);
        (value, if step > 1 { self.every(step).hessian(w) } else { self.hessian(w) })
    }

    fn sample(&self) -> Option<Box<dyn Smooth + '_>> {
        let step = (self.x.n_rows() / (20 * self.n_unknowns()).max(2000)).min(10);
        (step >= 4).then(|| Box::new(self.every(step)) as Box<dyn Smooth + '_>)
    }

    /// The risk is `lambda`-strongly convex in the coefficients: `F - F* <= |g|^2 / (2 lambda)` (intercepts at their best).
    fn excess(&self, g: &[f64]) -> f64 {
        let (p, width) = (self.x.n_columns(), self.width());
        let square: f64 = g.chunks_exact(width.max(1)).map(|g| lanes::square_sum(&g[..p])).sum();
        if self.lambda > 0.0 { square / (2.0 * self.lambda) } else { 0.0 }
    }

    fn infimum(&self) -> f64 {
        if self.lambda > 0.0 { f64::NEG_INFINITY } else { 0.0 }
    }
}
