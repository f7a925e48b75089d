//! Huber regression: squared errors near, absolute errors far, with the scale that tells them apart estimated along.
//!
//! **Formula.** `min over beta, b, s of sum_i w_i (s + s H(r_i / s)) + alpha |beta|^2`, `H(z) = z^2` up to `epsilon`, `2 epsilon |z| - epsilon^2` beyond; see
//! [`optim::huber`](crate::optim::huber). Columns are brought to mean 0 and deviation 1 for the solver, which knows the penalty in the user's units: that changes nothing but its accuracy.

use super::fitted::{Course, Linear, Link};
use super::least_squares::REGRESSION;
use super::prepare::{Prepared, outputs, scaled};
use super::report;
use crate::optim::huber::{HuberRegression as Problem, HuberSolution};
use ermine_core::chart::text::number;
use ermine_core::error::Result;
use ermine_core::learner::parameters::ClassWeight;
use ermine_core::learner::{Capabilities, Context, Family, Info, Learner, Trained};
use ermine_core::linalg::Matrix;
use ermine_core::matrix::{Dataset, DesignOptions};
use ermine_core::param::Range;
use ermine_core::params;

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
        /// Most steps.
        max_iter: usize = 500, range Range::at_least(1.0);
        /// Stop when no optimality condition is violated by more than this (for columns of deviation 1).
        tol: f64 = 1e-10, range Range::between(0.0, 1.0);
    }
}

static INFO: Info = Info {
    name: "huber-regression",
    summary: "least squares that outliers pull with a bounded force",
    capabilities: Capabilities { multi_output: false, ..REGRESSION },
    family: Family::Linear,
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
        let (x, scaling) = scaled(prepared.design()?, prepared.weights(), true, self.fit_intercept)?;
        let y = outputs(data)?.swap_remove(0);
        let factor = |j: usize| scaling.as_ref().map_or(1.0, |s| s.pairs()[j].1);
        let costs: Vec<f64> = (0..x.n_columns()).map(|j| self.alpha * factor(j).powi(2)).collect();
        let problem = Problem {
            x: &x,
            y: &y,
            weights: prepared.weights(),
            epsilon: self.epsilon,
            costs: &costs,
            intercept: self.fit_intercept,
            tolerance: self.tol,
            max_iterations: self.max_iter,
            observer: context.observer,
        };
        let HuberSolution { mut coefficients, mut intercept, scale, outcome } = problem.solve()?;
        drop(x);
        if let Some(scaling) = scaling {
            intercept += scaling.restore(&mut coefficients);
        }
        let course = Course { n_iter: Some(outcome.n_iterations), scale: Some(scale), ..Course::default() };
        let mut certificate = report::certificate(
            format!("Huber's loss with its scale + {} * sum of squared coefficients", number(self.alpha)),
            &[outcome],
        );
        certificate.notes.push(match scale {
            0.0 => "rows are fitted so exactly that the residuals have no scale".to_string(),
            _ => format!("scale of the residuals: {}", number(scale)),
        });
        let fitted = Linear {
            link: Link::Identity,
            map: prepared.map,
            names: prepared.names,
            n_classes: 0,
            used: Vec::new(),
            coefficients: Matrix::from_fn(1, coefficients.len(), |_, j| coefficients[j]),
            intercepts: vec![intercept],
            inference: Vec::new(),
            course,
        };
        Ok(Trained { fitted: Box::new(fitted), certificate })
    }
}
