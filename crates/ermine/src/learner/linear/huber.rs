//! Huber regression: squared errors near, absolute errors far, with the scale that tells them apart estimated along.
//!
//! **Formula.** `min over beta, b, s of sum_i w_i (s + s H(r_i / s)) + alpha |beta|^2`, `H(z) = z^2` up to `epsilon`, `2 epsilon |z| - epsilon^2` beyond: convex in all unknowns together.
//!
//! **How.** In turn: for a fixed scale `s`, the coefficients by [`optim::newton`](crate::optim::newton) with Huber's loss at `delta = epsilon s` (the objective is `2 / s` times
//! that of `lambda = alpha s`); for fixed residuals, the scale in closed form: with the rows up to `epsilon s` inside, `s^2 = sum_inside w r^2 / (W - epsilon^2 W_outside)`.
//!
//! **Reference.** Huber and Ronchetti, "Robust Statistics" (2009), section 7.7; Owen, "A robust hybrid of lasso and ridge regression" (2007).

use super::fitted::{Course, Linear, Link};
use super::least_squares::REGRESSION;
use super::prepare::{Prepared, outputs};
use super::report;
use crate::error::Result;
use crate::learner::tree_parameters::ClassWeight;
use crate::learner::{Capabilities, Context, Info, Learner, Trained};
use crate::linalg::{Design, Matrix, lanes};
use crate::loss::Huber;
use crate::matrix::{Dataset, DesignOptions};
use crate::optim::risk::Risk;
use crate::optim::{Outcome, Status, newton};
use crate::param::Range;
use crate::params;
use std::borrow::Cow;

params! {
    /// Squared errors near, absolute errors far.
    pub struct HuberRegression("huber-regression") {
        /// How many scales away errors become absolute; smaller is more robust.
        epsilon: f64 = 1.35, range Range::between(1.0, 1e6);
        /// The strength of the penalty on squared coefficients.
        alpha: f64 = 0.0001, range Range::between(0.0, 1e100), tune Log(1e-6, 10.0);
        /// Whether there is an intercept (which is never penalised).
        fit_intercept: bool = true;
        /// The highest degree of polynomial terms; 1 for the columns themselves.
        degree: usize = 1, range Range::between(1.0, 50.0), tune Linear(1, 4);
        /// With a degree above 1: only products of different columns, no powers.
        interaction_only: bool = false;
        /// How often the scale is estimated anew at most.
        max_iter: usize = 500, range Range::at_least(1.0);
        /// Stop when the scale changes by less than this share.
        tol: f64 = 1e-10, range Range::between(0.0, 1.0);
    }
}

static INFO: Info = Info {
    name: "huber-regression",
    summary: "least squares that outliers pull with a bounded force",
    capabilities: Capabilities { multi_output: false, ..REGRESSION },
};

impl Learner for HuberRegression {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let options = DesignOptions {
            degree: self.degree,
            interaction_only: self.interaction_only,
            references: self.fit_intercept && self.alpha == 0.0,
        };
        let prepared = Prepared::new(data, options, &ClassWeight::Equal)?;
        let x = prepared.design()?;
        let y = outputs(data)?.swap_remove(0);
        let mut fit = Fit { x: &x, y: &y, weights: prepared.weights(), params: self, w: Vec::new(), scale: 0.0 };
        let outcome = fit.solve(context)?;
        let (w, scale) = (fit.w, fit.scale);
        let p = x.n_columns();
        drop(x);
        let course = Course { n_iter: Some(outcome.n_iterations), scale: Some(scale), ..Course::default() };
        let mut certificate = report::certificate(
            format!("Huber's loss with its scale + {} * sum of squared coefficients", self.alpha),
            &[outcome],
        );
        certificate.notes.push(format!("scale of the residuals: {scale}"));
        let fitted = Linear {
            link: Link::Identity,
            map: prepared.map,
            names: prepared.names,
            n_classes: 0,
            used: Vec::new(),
            coefficients: Matrix::from_fn(1, p, |_, j| w[j]),
            intercepts: vec![if self.fit_intercept { w[p] } else { 0.0 }],
            inference: Vec::new(),
            course,
        };
        Ok(Trained { fitted: Box::new(fitted), certificate })
    }
}

struct Fit<'a> {
    x: &'a Design<'a>,
    y: &'a [f64],
    weights: Option<&'a [f64]>,
    params: &'a HuberRegression,
    w: Vec<f64>,
    scale: f64,
}

impl Fit<'_> {
    fn solve(&mut self, context: &Context<'_>) -> Result<Outcome> {
        let params = self.params;
        self.w = vec![0.0; self.x.n_columns() + usize::from(params.fit_intercept)];
        // Start from the median of the target, so that outliers don't set the first scale.
        if params.fit_intercept {
            let mut sorted = self.y.to_vec();
            sorted.sort_unstable_by(f64::total_cmp);
            *self.w.last_mut().unwrap_or(&mut 0.0) = sorted[sorted.len() / 2];
        }
        let floor = 1e-12 * self.residuals().iter().fold(f64::MIN_POSITIVE, |top, r| top.max(r.abs()));
        self.scale = self.best_scale(floor);
        let mut status = Status::Limit;
        let mut n_iterations = 0;
        while n_iterations < params.max_iter {
            n_iterations += 1;
            self.solve_coefficients(context)?;
            let before = std::mem::replace(&mut self.scale, 0.0);
            self.scale = self.best_scale(floor);
            if (self.scale - before).abs() <= params.tol * before {
                status = Status::Converged;
                break;
            }
        }
        self.solve_coefficients(context)?;
        let (value, residual) = self.value_and_residual();
        Ok(Outcome { status, n_iterations, value, lower_bound: None, residual })
    }

    fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[i])
    }

    fn total(&self) -> f64 {
        (0..self.y.len()).map(|i| self.weight(i)).sum()
    }

    fn residuals(&self) -> Vec<f64> {
        let (beta, b) = self.w.split_at(self.x.n_columns());
        let mut residuals = self.x.times(beta, b.first().copied().unwrap_or(0.0));
        residuals.iter_mut().zip(self.y).for_each(|(r, y)| *r = y - *r);
        residuals
    }

    fn risk(&self) -> Risk<'_, Huber> {
        Risk {
            x: self.x.clone(),
            y: Cow::Borrowed(self.y),
            weights: self.weights.map(Cow::Borrowed),
            loss: Huber { delta: self.params.epsilon * self.scale },
            lambda: self.params.alpha * self.scale / self.total(),
            intercept: self.params.fit_intercept,
        }
    }

    fn solve_coefficients(&mut self, context: &Context<'_>) -> Result<()> {
        let mut w = std::mem::take(&mut self.w);
        let options = newton::Options {
            tolerance: 1e-15,
            certified: f64::INFINITY,
            max_iterations: 200,
            sampled_start: false,
            observer: context.observer,
        };
        let result = newton::minimise(&self.risk(), &mut w, &options);
        self.w = w;
        result.map(|_| ())
    }

    /// The scale with the least objective for the present residuals.
    fn best_scale(&self, floor: f64) -> f64 {
        let square = self.params.epsilon.powi(2);
        let mut rows: Vec<(f64, f64)> =
            self.residuals().iter().enumerate().map(|(i, r)| (r.abs(), self.weight(i))).collect();
        rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = rows.iter().map(|r| r.1).sum();
        // Take rows inside, nearest first, until the scale that belongs to them reaches no further row.
        let (mut sum, mut outside) = (0.0, total);
        for (k, (r, w)) in rows.iter().enumerate() {
            sum += w * r * r;
            outside -= w;
            let left = total - square * outside.max(0.0);
            let scale = if left > 0.0 { (sum / left).sqrt() } else { continue };
            let next = rows.get(k + 1).map_or(f64::INFINITY, |n| n.0);
            if next > self.params.epsilon * scale {
                return scale.max(floor);
            }
        }
        floor
    }

    /// The joint objective, per unit of weight, and the largest entry of its gradient.
    fn value_and_residual(&self) -> (f64, f64) {
        let (p, epsilon, s, total) = (self.x.n_columns(), self.params.epsilon, self.scale, self.total());
        let mut g = vec![0.0; self.w.len()];
        // The coefficients' part is 2 / s times the risk of fixed scale.
        let risk = newton::Smooth::value_gradient(&self.risk(), &self.w, &mut g);
        let along_scale: f64 = self
            .residuals()
            .iter()
            .enumerate()
            .map(|(i, r)| {
                let z = r.abs() / s;
                self.weight(i) * (1.0 - if z <= epsilon { z * z } else { epsilon * epsilon })
            })
            .sum();
        let penalty = self.params.alpha * lanes::square_sum(&self.w[..p]) / total;
        let loss = 2.0 / s * (risk - penalty * s / 2.0);
        let residual = lanes::max_abs(&g) * 2.0 / s;
        (s + loss + penalty, residual.max(along_scale.abs() / total))
    }
}
