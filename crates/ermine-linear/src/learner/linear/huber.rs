//! Huber regression: squared loss for small errors, absolute loss for large ones, with an estimated scale.
//!
//! **Formula.** `min over beta, b, s of sum_i w_i (s + s H(r_i / s)) + alpha |beta|^2`, `H(z) = z^2` up to `epsilon`, `2 epsilon |z| - epsilon^2` beyond; see
//! [`optim::huber`](crate::optim::huber). The solver works on standardized columns with the penalty in the original units, which only improves its accuracy.

use super::fitted::{FitHistory, LinearModel};
use super::least_squares::REGRESSION;
use super::prepare::{PreparedData, outputs, scaled};
use super::report;
use crate::optim::huber::{HuberProblem, HuberSolution};
use ermine_core::chart::text::number;
use ermine_core::error::Result;
use ermine_core::learner::parameters::ClassWeight;
use ermine_core::learner::{Context, Family, Learner, LearnerInfo, Trained};
use ermine_core::linalg::Matrix;
use ermine_core::matrix::{Dataset, DesignOptions};
use ermine_core::param::Range;
use ermine_core::params;

params! {
    /// Linear regression that is robust to outliers: squared loss for small errors, absolute loss for large ones.
    pub struct HuberRegression("huber-regression") {
        /// Number of scales beyond which an error counts linearly instead of squared; lower values are more robust to outliers.
        /// 1.35 keeps 95 % of the efficiency of least squares if the errors are normal.
        epsilon: f64 = 1.35, range Range::between(1.0, 1e6);
        /// Strength of the L2 penalty; higher values give smaller coefficients.
        /// 0 is no penalty. Choose it by cross-validation, on a logarithmic scale.
        alpha: f64 = 0.0001, range Range::between(0.0, 1e100), tune Log(1e-6, 10.0);
        /// Fit an intercept, which is never penalized.
        /// Set it to false only if predictions must be 0 where all columns are 0.
        fit_intercept: bool = true;
        /// Maximum degree of polynomial terms; 1 for the columns themselves.
        /// 2 adds squares and products of two columns, for targets that are not linear in the columns; the number of terms grows quickly with the degree.
        degree: usize = 1, range Range::between(1.0, 50.0), tune Linear(1, 2);
        /// Add only products of different columns, no powers; for `degree` above 1.
        interaction_only: bool = false;
        /// Maximum number of iterations.
        /// Raise it if the certificate reports that the limit was reached.
        max_iter: usize = 500, range Range::at_least(1.0);
        /// Stopping tolerance: the largest violation of an optimality condition, for standardized columns.
        tol: f64 = 1e-10, range Range::between(0.0, 1.0);
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "huber-regression",
    summary: "linear regression that is robust to outliers (Huber loss)",
    capabilities: REGRESSION,
    family: Family::Linear,
};

impl Learner for HuberRegression {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let options = DesignOptions {
            degree: self.degree,
            interaction_only: self.interaction_only,
            references: self.fit_intercept && self.alpha == 0.0,
        };
        let prepared = PreparedData::new(data, options, &ClassWeight::Equal)?;
        let (x, scaling) = scaled(prepared.design()?, prepared.weights(), true, self.fit_intercept)?;
        let factor = |j: usize| scaling.as_ref().map_or(1.0, |s| s.pairs()[j].1);
        let costs: Vec<f64> = (0..x.n_columns()).map(|j| self.alpha * factor(j).powi(2)).collect();
        let targets = outputs(data)?;
        let mut coefficients = Matrix::zeros(targets.len(), x.n_columns());
        let (mut intercepts, mut scales, mut outcomes) = (Vec::new(), Vec::new(), Vec::new());
        for (k, y) in targets.iter().enumerate() {
            let problem = HuberProblem {
                x: &x,
                y,
                weights: prepared.weights(),
                epsilon: self.epsilon,
                costs: &costs,
                intercept: self.fit_intercept,
                tolerance: self.tol,
                max_iterations: self.max_iter,
                observer: context.observer,
            };
            let HuberSolution { coefficients: found, intercept, scale, mut outcome } = problem.solve()?;
            // The solver minimizes a mean; the objective in the certificate is a sum.
            let total = prepared.total_weight(y.len());
            outcome.value *= total;
            outcome.lower_bound = outcome.lower_bound.map(|bound| bound * total);
            coefficients.row_mut(k).copy_from_slice(&found);
            intercepts.push(intercept);
            scales.push(scale);
            outcomes.push(outcome);
        }
        drop(x);
        let added_up = if targets.len() > 1 { ", summed over the targets" } else { "" };
        let mut certificate = report::certificate(
            format!("Huber loss with estimated scale + {} * sum of squared coefficients{added_up}", number(self.alpha)),
            &outcomes,
        );
        certificate.notes.extend(scales.iter().map(|&scale| match scale {
            0.0 => "the fit is exact: the scale of the residuals is 0".to_string(),
            _ => format!("scale of the residuals: {}", number(scale)),
        }));
        let course = FitHistory {
            n_iter: outcomes.iter().map(|o| o.n_iterations).max(),
            scale: scales.first().copied().filter(|_| scales.len() == 1),
            scales: if scales.len() > 1 { scales } else { Vec::new() },
            ..FitHistory::default()
        };
        let fitted = LinearModel::new(&prepared, scaling.as_ref(), coefficients, intercepts, course);
        Ok(Trained { fitted: Box::new(fitted), certificate })
    }
}
