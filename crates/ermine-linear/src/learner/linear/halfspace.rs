//! A separating hyperplane by linear programming, or the proof that there is none.
//!
//! **Formula.** Find `w, b` with `y_i (x_i'w + b) >= 1` for all rows, or multipliers `l >= 0` of sum 1 with `sum l_i y_i [x_i, 1] = 0`, a point common to the convex hulls of
//! both classes; exactly one of them exists ([`optim::halfspace`](crate::optim::halfspace)). If no hyperplane separates the classes, the model is the one with the smallest total violation.

use super::fitted::{FitHistory, LinearLink, LinearModel};
use super::logistic::CLASSIFICATION;
use super::prepare::{ObservedClasses, PreparedData};
use crate::optim::halfspace::{Separation, separate};
use ermine_core::error::Result;
use ermine_core::learner::parameters::ClassWeight;
use ermine_core::learner::{Capabilities, Context, Family, Learner, LearnerInfo, Trained};
use ermine_core::linalg::{Design, Matrix};
use ermine_core::loss::{Hinge, Loss};
use ermine_core::matrix::{Dataset, DesignOptions};
use ermine_core::model::{Certificate, Proof, Status};
use ermine_core::param::Range;
use ermine_core::params;

params! {
    /// A hyperplane that separates two classes, or the proof that there is none.
    pub struct Halfspace("halfspace") {
        /// Fit an intercept.
        /// False forces the boundary through the origin.
        fit_intercept: bool = true;
        /// Maximum degree of polynomial terms; 1 for the columns themselves.
        /// 2 adds squares and products of two columns, for targets that are not linear in the columns; the number of terms grows quickly with the degree.
        degree: usize = 1, range Range::between(1.0, 50.0), tune Linear(1, 2);
        /// Add only products of different columns, no powers; for `degree` above 1.
        interaction_only: bool = false;
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "halfspace",
    summary: "a hyperplane that separates two classes, or a proof that there is none, by linear programming",
    capabilities: Capabilities { binary_only: true, probabilities: false, ..CLASSIFICATION },
    family: Family::Linear,
};

impl Learner for Halfspace {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let classes = ObservedClasses::of(data)?;
        let options = DesignOptions { degree: self.degree, interaction_only: self.interaction_only, references: false };
        let prepared = PreparedData::new(data, options, &ClassWeight::Equal)?;
        let (x, y) = (prepared.design()?, classes.signs(0));
        let separation = separate(&x, &y, prepared.weights(), self.fit_intercept, context.observer)?;
        let (coefficients, intercept) = match &separation {
            Separation::Hyperplane { coefficients, intercept, .. }
            | Separation::Overlap { coefficients, intercept, .. }
            | Separation::Undecided { coefficients, intercept } => (coefficients.clone(), *intercept),
        };
        let value = violation(&x, &y, prepared.weights(), &coefficients, intercept);
        let certificate = certificate(&separation, &y, prepared.weights(), value);
        drop(x);
        let coefficients = Matrix::from_fn(1, coefficients.len(), |_, j| coefficients[j]);
        let fitted = LinearModel::new(&prepared, None, coefficients, vec![intercept], FitHistory::default());
        let fitted = fitted.for_classes(LinearLink::Scores, data, classes.used)?;
        Ok(Trained { fitted: Box::new(fitted), certificate })
    }
}

/// The total violation `sum w_i max(0, 1 - y_i (x_i'w + b))`.
fn violation(x: &Design, y: &[f64], weights: Option<&[f64]>, beta: &[f64], b: f64) -> f64 {
    let margins = x.times(beta, b);
    (0..y.len()).map(|i| weights.map_or(1.0, |w| w[i]) * Hinge.value(margins[i], y[i])).sum()
}

fn certificate(separation: &Separation, y: &[f64], weights: Option<&[f64]>, value: f64) -> Certificate {
    let objective = "total violation, sum of max(0, 1 - y (x'w + b))".to_string();
    let (status, value, proofs, notes) = match separation {
        Separation::Hyperplane { margin, .. } => (
            Status::Done,
            value,
            vec![Proof::Optimal { over: "all hyperplanes: every row is on the correct side".into() }],
            vec![format!("the classes are linearly separable: margin {margin}")],
        ),
        Separation::Overlap { multipliers, residual, .. } => {
            let of = |sign: f64| (0..y.len()).filter(|&i| y[i] == sign && multipliers[i] > 1e-9).count();
            let share: f64 = (0..y.len()).filter(|&i| y[i] > 0.0).map(|i| multipliers[i]).sum();
            let note = format!(
                "no hyperplane separates the classes: a convex combination of {} rows of the second class equals one of {} rows of the first, up to {residual:.1e} (shares {share:.6} and {:.6})",
                of(1.0),
                of(-1.0),
                1.0 - share,
            );
            // The multipliers, scaled until one reaches its row's weight, are feasible for the dual program, so their sum is a lower bound.
            let reach = |i: usize| weights.map_or(1.0, |w| w[i]) / multipliers[i];
            let bound = (0..y.len()).filter(|&i| multipliers[i] > 0.0).map(reach).fold(f64::INFINITY, f64::min);
            (Status::Done, value, vec![Proof::LowerBound(bound.min(value))], vec![note])
        }
        Separation::Undecided { .. } => (
            Status::Limit("the limit of floating-point accuracy (the classes touch, or nearly so)".into()),
            value,
            vec![Proof::Nothing {
                because: "neither a separating hyperplane nor a common point of the convex hulls could be proven"
                    .into(),
            }],
            Vec::new(),
        ),
    };
    Certificate { objective, value: Some(value), status, proofs, notes }
}
