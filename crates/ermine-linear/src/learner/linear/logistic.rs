//! Logistic regression.
//!
//! **Formula.** `min C sum_i w_i l_i + r |beta|_1 + (1 - r) |beta|^2 / 2`, where `l_i` is minus the log-likelihood of row `i` and `r` is `l1_ratio`; the solver divides it by
//! `C` and the sum of the weights. Two classes: one linear function ([`optim::newton`](crate::optim::newton), [`optim::prox_newton`](crate::optim::prox_newton) with L1). More: one for each class
//! ([`optim::multinomial`](crate::optim::multinomial)).
//!
//! Without a penalty (`C = inf`), there is no finite minimizer if a hyperplane separates the classes. The fit then ends when all rows are classified correctly, and the certificate states it.

use super::fitted::{DEVIATION_1, FitHistory, LinearLink, LinearModel};
use super::prepare::{ObservedClasses, PreparedData, Scaling, centered, scaled};
use super::report;
use crate::optim::multinomial::MultinomialRisk;
use crate::optim::risk::{FULL_HESSIAN, Risk};
use crate::optim::row_space::{self, RowSpaceBasis};
use crate::optim::{SolverOutcome, newton, prox_newton};
use ermine_core::error::Result;
use ermine_core::learner::parameters::ClassWeight;
use ermine_core::learner::{Capabilities, Context, Family, Learner, LearnerInfo, Trained};
use ermine_core::linalg::{Design, Matrix};
use ermine_core::loss::Logistic;
use ermine_core::matrix::{Dataset, DesignOptions, Task};
use ermine_core::param::Range;
use ermine_core::params;
use std::borrow::Cow;

params! {
    /// Logistic regression.
    #[allow(non_snake_case)]
    pub struct LogisticRegression("logistic-regression") {
        /// Inverse of the regularization strength: lower values give smaller coefficients; inf for no penalty.
        /// Choose it by cross-validation, on a logarithmic scale.
        C: f64 = 1.0, range Range::more_than(0.0), tune Log(1e-4, 1e4);
        /// Elastic-net mixing parameter: 0 for an L2 penalty, 1 for L1.
        /// L1 sets coefficients to zero and so selects features.
        l1_ratio: f64 = 0.0, range Range::between(0.0, 1.0);
        /// Fit an intercept, which is never penalized.
        /// Set it to false only if predictions must be 0 where all columns are 0.
        fit_intercept: bool = true;
        /// Class weights: none, "balanced", or a list of class=weight.
        /// "balanced" gives all classes the same total weight: use it if rare classes matter as much as frequent ones.
        class_weight: ClassWeight = ClassWeight::Equal;
        /// Standardize the columns (standard deviation 1) before the penalty is applied; coefficients are reported in the original units.
        /// Without it, the penalty depends on the units of the columns. False in Rust and Python, as in scikit-learn; the command line sets it to true for dense columns.
        standardize: bool = false;
        /// Maximum degree of polynomial terms; 1 for the columns themselves.
        /// 2 adds squares and products of two columns, for targets that are not linear in the columns; the number of terms grows quickly with the degree.
        degree: usize = 1, range Range::between(1.0, 50.0), tune Linear(1, 2);
        /// Add only products of different columns, no powers; for `degree` above 1.
        interaction_only: bool = false;
        /// Maximum number of iterations.
        /// Raise it if the certificate reports that the limit was reached.
        max_iter: usize = 1000, range Range::at_least(1.0);
        /// Stopping tolerance: the distance from the minimum, relative to the objective.
        /// The certificate states the bound that was reached. Raise the tolerance to trade accuracy for time.
        tol: f64 = 1e-12, range Range::between(0.0, 1.0);
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "logistic-regression",
    summary: "logistic regression for two or more classes, with an L1, L2 or elastic-net penalty or none",
    capabilities: CLASSIFICATION,
    family: Family::Linear,
};

/// Capabilities of probabilistic classifiers over encoded columns.
pub const CLASSIFICATION: Capabilities = Capabilities {
    tasks: &[Task::Classification],
    binary_only: false,
    multi_output: false,
    weights: true,
    missing: true,
    nominal: true,
    sparse: true,
    probabilities: true,
    random: false,
};

impl Learner for LogisticRegression {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let classes = ObservedClasses::of(data)?;
        let options = DesignOptions {
            degree: self.degree,
            interaction_only: self.interaction_only,
            references: self.fit_intercept && self.C.is_infinite(),
        };
        let prepared = PreparedData::new(data, options, &self.class_weight)?;
        let (x, scaling) = self.columns(&prepared)?;
        let total = prepared.total_weight(data.n_rows());
        let strength = if self.C.is_finite() { 1.0 / (self.C * total) } else { 0.0 };
        let (l1, l2) = (strength * self.l1_ratio, strength * (1.0 - self.l1_ratio));
        let weights = prepared.weights().map(Cow::Borrowed);
        let p = x.n_columns();
        let (outcome, w) = if classes.used.len() == 2 {
            self.two_classes(x, &classes, weights, (l1, l2), context)?
        } else {
            self.many_classes(x, &classes, weights, (l1, l2), context)?
        };
        let width = p + usize::from(self.fit_intercept);
        let k = w.len() / width.max(1);
        let coefficients = Matrix::from_fn(k, p, |k, j| w[k * width + j]);
        let intercepts = (0..k).map(|k| if self.fit_intercept { w[k * width + p] } else { 0.0 }).collect();
        let course = FitHistory { n_iter: Some(outcome.n_iterations), ..FitHistory::default() };
        let mut certificate = report::certificate(objective(l1, l2), &[outcome]);
        if self.standardize {
            certificate.objective += DEVIATION_1;
        }
        let link = if k == 1 { LinearLink::Logistic } else { LinearLink::Softmax };
        let fitted = LinearModel::new(&prepared, scaling.as_ref(), coefficients, intercepts, course);
        let fitted = fitted.for_classes(link, data, classes.used)?;
        Ok(Trained { fitted: Box::new(fitted), certificate })
    }
}

fn objective(l1: f64, l2: f64) -> String {
    let mut text = "mean log loss".to_string();
    if l1 > 0.0 {
        text += &format!(" + {l1:.6e} * sum of absolute coefficients");
    }
    if l2 > 0.0 {
        text += &format!(" + {l2:.6e} / 2 * sum of squared coefficients");
    }
    text
}

type RowWeights<'a> = Option<Cow<'a, [f64]>>;

impl LogisticRegression {
    /// The columns as the solver uses them, and how to convert back. Without a penalty, scaling and centering only affect its accuracy; with a penalty and an intercept, so does centering.
    fn columns<'a>(&self, prepared: &'a PreparedData<'_>) -> Result<(Design<'a>, Option<Scaling>)> {
        let x = prepared.design()?;
        match self.fit_intercept && !self.standardize && self.C.is_finite() {
            true => centered(x),
            false => scaled(x, prepared.weights(), self.standardize || self.C.is_infinite(), self.fit_intercept),
        }
    }

    fn options<'c>(&self, context: &Context<'c>) -> newton::NewtonOptions<'c> {
        newton::NewtonOptions {
            tolerance: self.tol,
            // The proven bound is looser than the solution: it shrinks linearly with the gradient, the objective quadratically.
            certified: self.tol.max(1e-14) * 100.0,
            max_iterations: self.max_iter,
            sampled_start: true,
            observer: context.observer,
        }
    }

    fn two_classes(
        &self,
        x: Design<'_>,
        classes: &ObservedClasses,
        weights: RowWeights<'_>,
        (l1, l2): (f64, f64),
        context: &Context<'_>,
    ) -> Result<(SolverOutcome, Vec<f64>)> {
        let y = Cow::Owned(classes.signs(0));
        let risk = Risk { x, y, weights, loss: Logistic, lambda: l2, intercept: self.fit_intercept };
        let mut w = vec![0.0; newton::SmoothObjective::n_unknowns(&risk)];
        if l1 > 0.0 {
            let outcome = prox_newton::minimize(&risk, l1, &mut w, &self.options(context))?;
            return Ok((outcome, w));
        }
        if l2 > 0.0
            && let Some(space) = RowSpaceBasis::of(&risk.x, FULL_HESSIAN)?
        {
            let reduced = Risk { x: space.design()?, ..risk.clone() };
            let restore = |c: &[f64]| space.restore(c, usize::from(self.fit_intercept));
            return row_space::minimize(&risk, &reduced, restore, &self.options(context));
        }
        let outcome = newton::minimize(&risk, &mut w, &self.options(context))?;
        Ok((outcome, w))
    }

    fn many_classes(
        &self,
        x: Design<'_>,
        classes: &ObservedClasses,
        weights: RowWeights<'_>,
        (l1, l2): (f64, f64),
        context: &Context<'_>,
    ) -> Result<(SolverOutcome, Vec<f64>)> {
        let (y, n_classes) = (Cow::Borrowed(&classes.places[..]), classes.used.len());
        let risk = MultinomialRisk { x, y, n_classes, weights, lambda: l2, intercept: self.fit_intercept };
        let mut w = vec![0.0; newton::SmoothObjective::n_unknowns(&risk)];
        let options = self.options(context);
        let space = if l1 == 0.0 && l2 > 0.0 { RowSpaceBasis::of(&risk.x, FULL_HESSIAN)? } else { None };
        let outcome = match space {
            Some(space) => {
                let reduced = MultinomialRisk { x: space.design()?, ..risk.clone() };
                let extras = usize::from(self.fit_intercept);
                let width = newton::SmoothObjective::n_unknowns(&reduced) / n_classes;
                let restore =
                    |c: &[f64]| c.chunks_exact(width).flat_map(|c| space.restore(c, extras)).collect::<Vec<_>>();
                let (outcome, found) = row_space::minimize(&risk, &reduced, restore, &options)?;
                w = found;
                outcome
            }
            None if l1 > 0.0 => prox_newton::minimize(&risk, l1, &mut w, &options)?,
            None => newton::minimize(&risk, &mut w, &options)?,
        };
        center(&mut w, n_classes, if l1 + l2 > 0.0 { risk.x.n_columns() } else { 0 });
        Ok((outcome, w))
    }
}

/// Adding the same number to all classes changes no probability, so unpenalized unknowns, from `first` on, are shifted to sum to 0 over the classes.
fn center(w: &mut [f64], n_classes: usize, first: usize) {
    let width = w.len() / n_classes.max(1);
    for j in first..width {
        let mean = (0..n_classes).map(|k| w[k * width + j]).sum::<f64>() / n_classes as f64;
        (0..n_classes).for_each(|k| w[k * width + j] -= mean);
    }
}
