//! Gradient descent: any loss with any penalty, step by step over all rows, the loss curve kept.
//!
//! **Formula.** `min sum_i w_i l(x_i'beta + b, y_i) / W + penalty(beta)` by proximal steps ([`optim::descent`](crate::optim::descent)). Columns are brought to a common scale
//! unless that is switched off: descent is slow, or diverges, where scales differ. The penalty is on the scaled coefficients.
//!
//! More than two classes: one function for each class against the others. The 0-1 loss can't be descended; it is reported.

use super::fitted::{Course, Linear, Link};
use super::losses::{LossName, PenaltyName, assess, with_loss};
use super::prepare::{Classes, Prepared, outputs, scaled};
use super::{report, ridge};
use crate::optim::descent::{self, Descent, Rate};
use crate::optim::risk::Risk;
use ermine_core::error::{Error, Result};
use ermine_core::learner::parameters::ClassWeight;
use ermine_core::learner::{Capabilities, Context, Family, Info, Learner, Trained};
use ermine_core::linalg::{Design, Matrix};
use ermine_core::loss::Loss;
use ermine_core::matrix::{Dataset, DesignOptions, Task};
use ermine_core::param::Range;
use ermine_core::{choice, params};
use std::borrow::Cow;

choice! {
    /// How the rate of steps changes.
    pub enum RateName {
        /// Searched anew in each step, with momentum; for losses without kinks.
        LineSearch = "line_search",
        /// Always `eta0`.
        Constant = "constant",
        /// `eta0 / t^power_t`.
        InvScaling = "invscaling",
        /// `eta0`, divided by 5 whenever the objective stops falling.
        Adaptive = "adaptive",
    }
}

params! {
    /// Any loss with any penalty, by gradient descent over all rows.
    pub struct GradientDescent("gradient-descent") {
        /// What is minimised; none for "hinge" (classes) or "squared_error" (numbers).
        loss: Option<LossName> = None, tune Each;
        /// What coefficients cost; none for nothing.
        penalty: Option<PenaltyName> = Some(PenaltyName::L2);
        /// The strength of the penalty.
        alpha: f64 = 0.0001, range Range::between(0.0, 1e100), tune Log(1e-6, 10.0);
        /// The share of L1 in the penalty "elasticnet".
        l1_ratio: f64 = 0.15, range Range::between(0.0, 1.0);
        /// The power of the penalty "lp".
        p: f64 = 1.5, range Range::between(1.0, 100.0);
        /// Where the loss "huber" becomes absolute; what "epsilon_insensitive" leaves unpunished.
        epsilon: f64 = 0.1, range Range::above_to(0.0, 1e100);
        /// Which quantile the loss "quantile" is for.
        quantile: f64 = 0.5, range Range::inside(0.0, 1.0);
        /// How the rate changes; none for "line_search", or "invscaling" for losses with kinks.
        learning_rate: Option<RateName> = None;
        /// The rate of the first step, where it isn't searched.
        eta0: f64 = 1.0, range Range::above_to(0.0, 1e100), tune Log(1e-3, 10.0);
        /// How fast the rate "invscaling" falls.
        power_t: f64 = 0.5, range Range::between(0.0, 10.0);
        /// Most steps.
        max_iter: usize = 1000, range Range::at_least(1.0);
        /// Stop when no optimality condition is violated by more than this.
        tol: f64 = 1e-6, range Range::at_least(0.0);
        /// Whether there is an intercept (which is never penalised).
        fit_intercept: bool = true;
        /// Bring columns to mean 0 and deviation 1 first; coefficients are reported in the user's units all the same.
        standardize: bool = true;
        /// How much rows of each class count: none, "balanced", or a list of class=weight.
        class_weight: ClassWeight = ClassWeight::Equal;
        /// The highest degree of polynomial terms; 1 for the columns themselves.
        degree: usize = 1, range Range::between(1.0, 50.0);
        /// With a degree above 1: only products of different columns, no powers.
        interaction_only: bool = false;
    }
}

static INFO: Info = Info {
    name: "gradient-descent",
    summary: "any loss with any penalty by gradient descent, with its loss curve",
    capabilities: DESCENT,
    family: Family::Linear,
};

/// What the descent methods can do.
pub const DESCENT: Capabilities = Capabilities {
    tasks: &[Task::Classification, Task::Regression],
    binary_only: false,
    multi_output: true,
    weights: true,
    missing: true,
    nominal: true,
    sparse: true,
    probabilities: false,
    random: false,
};

impl Learner for GradientDescent {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let loss = LossName::choose(self.loss, data.task(), self.info().name)?;
        let rate = self.rate(loss)?;
        let options = DesignOptions { degree: self.degree, interaction_only: self.interaction_only, references: false };
        let prepared = Prepared::new(data, options, &self.class_weight)?;
        let (x, scaling) = scaled(prepared.design()?, prepared.weights(), self.standardize, self.fit_intercept)?;
        let (targets, used) = problems(data)?;
        let (mut runs, mut rows) = (Vec::new(), Vec::new());
        for y in &targets {
            let (run, w) = with_loss!(loss, self.epsilon, self.quantile, |l| self.descend(
                l,
                rate,
                &x,
                y,
                prepared.weights(),
                context
            )?);
            runs.push(run);
            rows.push(w);
        }
        let p = x.n_columns();
        let wrong = used.len().ge(&2).then(|| zero_one(&margins(&x, &rows), &targets, prepared.weights()));
        drop(x);
        let outcomes: Vec<_> = runs.iter().map(|run| run.outcome.clone()).collect();
        let penalty = PenaltyName::words(self.penalty, self.alpha, self.l1_ratio, self.p);
        let mut certificate = report::certificate(format!("mean {loss} loss{penalty}"), &outcomes);
        if scaling.is_some() && self.penalty.is_some() {
            certificate.objective += DEVIATION_1;
        }
        certificate.notes.extend(wrong.map(|share| format!("0-1 loss on the training rows: {share:.6}")));
        let mut coefficients = Matrix::from_fn(rows.len(), p, |k, j| rows[k][j]);
        let mut intercepts: Vec<f64> = rows.iter().map(|w| w.get(p).copied().unwrap_or(0.0)).collect();
        if let Some(scaling) = scaling {
            ridge::restore(&scaling, &mut coefficients, &mut intercepts);
        }
        let course = Course {
            n_iter: outcomes.iter().map(|o| o.n_iterations).max(),
            curve: sum_curves(&runs),
            ..Course::default()
        };
        let fitted = Linear {
            link: if used.is_empty() { Link::Identity } else { Link::Scores },
            map: prepared.map,
            names: prepared.names,
            n_classes: data.classes().map_or(0, |(_, labels)| labels.len()),
            used,
            coefficients,
            intercepts,
            inference: Vec::new(),
            course,
        };
        Ok(Trained { fitted: Box::new(fitted), certificate })
    }
}

/// What a penalty on the coefficients of scaled columns is about.
pub const DEVIATION_1: &str = " of columns with deviation 1";

/// The targets of the problems to solve, one for each, and the classes that they are for.
pub type Problems<'d> = (Vec<Cow<'d, [f64]>>, Vec<u32>);

/// The targets of the problems to solve, and the classes that they are for.
pub fn problems(data: &Dataset) -> Result<Problems<'_>> {
    if data.task() != Task::Classification {
        return Ok((outputs(data)?, Vec::new()));
    }
    let classes = Classes::of(data)?;
    Ok(((0..classes.n_problems()).map(|k| Cow::Owned(classes.signs(k))).collect(), classes.used))
}

/// The margins of all rows, for each of several points: coefficients, then the intercept if there is one.
pub fn margins(x: &Design, points: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let p = x.n_columns();
    points.iter().map(|w| x.times(&w[..p], w.get(p).copied().unwrap_or(0.0))).collect()
}

/// The share of rows on the wrong side, where the highest score (or the sign of a single one) decides.
pub fn zero_one(margins: &[Vec<f64>], targets: &[Cow<'_, [f64]>], weights: Option<&[f64]>) -> f64 {
    let wrong = |i: usize| match margins {
        // As predictions: a margin of 0 is for the first class.
        [z] => f64::from((z[i] > 0.0) != (targets[0][i] > 0.0)),
        _ => {
            let best = (1..margins.len()).fold(0, |b, k| if margins[k][i] > margins[b][i] { k } else { b });
            if targets[best][i] > 0.0 { 0.0 } else { 1.0 }
        }
    };
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let n = targets.first().map_or(0, |y| y.len());
    let total: f64 = (0..n).map(weight).sum();
    (0..n).map(|i| weight(i) * wrong(i)).sum::<f64>() / total
}

/// The sum of the objectives of all problems after each step; a problem that ended keeps its last.
fn sum_curves(runs: &[Descent]) -> Vec<f64> {
    let n = runs.iter().map(|r| r.curve.len()).max().unwrap_or(0);
    let at = |run: &Descent, t: usize| run.curve.get(t).or(run.curve.last()).copied().unwrap_or(0.0);
    (0..n).map(|t| runs.iter().map(|run| at(run, t)).sum()).collect()
}

impl GradientDescent {
    fn rate(&self, loss: LossName) -> Result<Rate> {
        let default = if loss.is_smooth() { RateName::LineSearch } else { RateName::InvScaling };
        match self.learning_rate.unwrap_or(default) {
            RateName::LineSearch if !loss.is_smooth() => Err(Error::Param {
                owner: self.info().name.into(),
                name: "learning_rate".into(),
                value: "line_search".into(),
                allowed: format!("constant | invscaling | adaptive for the loss {loss}, which has kinks"),
            }),
            RateName::LineSearch => Ok(Rate::Search),
            RateName::Constant => Ok(Rate::Constant(self.eta0)),
            RateName::InvScaling => Ok(Rate::Inverse { rate: self.eta0, power: self.power_t }),
            RateName::Adaptive => Ok(Rate::Adaptive(self.eta0)),
        }
    }

    fn descend<L: Loss>(
        &self,
        loss: L,
        rate: Rate,
        x: &Design,
        y: &[f64],
        weights: Option<&[f64]>,
        context: &Context<'_>,
    ) -> Result<(Descent, Vec<f64>)> {
        let intercept = self.fit_intercept;
        let (y, weights) = (Cow::Borrowed(y), weights.map(Cow::Borrowed));
        let risk = Risk { x: x.clone(), y, weights, loss, lambda: 0.0, intercept };
        let mut w = vec![0.0; x.n_columns() + usize::from(intercept)];
        let options = descent::Options {
            rate,
            penalty: PenaltyName::penalty(self.penalty, self.alpha, self.l1_ratio, self.p),
            n_penalised: x.n_columns(),
            tolerance: self.tol,
            max_iterations: self.max_iter,
            observer: context.observer,
        };
        let mut run = descent::minimise(&risk, &mut w, &options)?;
        let Risk { y, weights, .. } = &risk;
        let margins = x.times(&w[..x.n_columns()], w.get(x.n_columns()).copied().unwrap_or(0.0));
        run.outcome.lower_bound = assess(loss, options.penalty, x, y, weights.as_deref(), &w, &margins).1;
        Ok((run, w))
    }
}
