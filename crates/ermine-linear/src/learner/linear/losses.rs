//! Losses and penalties of the descent methods, by name.

use crate::optim::risk::Risk;
use crate::penalty::Penalty;
use ermine_core::choice;
use ermine_core::error::{Error, Result};
use ermine_core::linalg::Design;
use ermine_core::loss::Loss;
use ermine_core::matrix::Task;
use std::borrow::Cow;

choice! {
    /// Loss function.
    pub enum LossName {
        /// Classification: `max(0, 1 - y z)`.
        Hinge = "hinge",
        /// Classification: `max(0, 1 - y z)^2 / 2`.
        SquaredHinge = "squared_hinge",
        /// Classification: `exp(-y z)`.
        Exponential = "exponential",
        /// Classification: `ln(1 + exp(-y z))`.
        LogLoss = "log_loss",
        /// Regression, or classification with classes -1 and +1: `(z - y)^2 / 2`.
        SquaredError = "squared_error",
        /// Regression, or classification with classes -1 and +1: `|z - y|`.
        AbsoluteError = "absolute_error",
        /// Regression, or classification with classes -1 and +1: squared up to `epsilon`, absolute beyond.
        Huber = "huber",
        /// Regression: `tau (y - z)` above, `(1 - tau)(z - y)` below, with `tau` the parameter `quantile`.
        Quantile = "quantile",
        /// Regression: `max(0, |z - y| - epsilon)`.
        EpsilonInsensitive = "epsilon_insensitive",
    }
}

impl LossName {
    /// Whether the loss is differentiable, so that a line search works.
    pub fn is_smooth(self) -> bool {
        use LossName::*;
        matches!(self, SquaredHinge | Exponential | LogLoss | SquaredError | Huber)
    }

    /// The given loss, or the default of the task; an error if the loss does not apply to the task.
    pub fn choose(given: Option<LossName>, task: Task, owner: &str) -> Result<LossName> {
        use LossName::*;
        let of_classes = matches!(given, Some(Hinge | SquaredHinge | Exponential | LogLoss));
        let of_numbers = matches!(given, Some(Quantile | EpsilonInsensitive));
        match (given, task) {
            (None, Task::Classification) => Ok(Hinge),
            (None, _) => Ok(SquaredError),
            (Some(loss), Task::Classification) if !of_numbers => Ok(loss),
            (Some(loss), Task::Regression) if !of_classes => Ok(loss),
            (Some(loss), _) => Err(Error::Param {
                owner: owner.into(),
                name: "loss".into(),
                value: loss.to_string(),
                allowed: if task == Task::Classification {
                    "a loss for classification: hinge | squared_hinge | exponential | log_loss | squared_error | absolute_error | huber".into()
                } else {
                    "a loss for regression: squared_error | absolute_error | huber | quantile | epsilon_insensitive"
                        .into()
                },
            }),
        }
    }
}

/// Runs the body with the loss of this name as a concrete type.
macro_rules! with_loss {
    ($name:expr, $epsilon:expr, $tau:expr, |$loss:ident| $body:expr) => {{
        use ermine_core::loss;
        use $crate::learner::linear::losses::LossName;
        match $name {
            LossName::Hinge => {
                let $loss = loss::Hinge;
                $body
            }
            LossName::SquaredHinge => {
                let $loss = loss::SquaredHinge;
                $body
            }
            LossName::Exponential => {
                let $loss = loss::Exponential;
                $body
            }
            LossName::LogLoss => {
                let $loss = loss::Logistic;
                $body
            }
            LossName::SquaredError => {
                let $loss = loss::Squared;
                $body
            }
            LossName::AbsoluteError => {
                let $loss = loss::Absolute;
                $body
            }
            LossName::Huber => {
                let $loss = loss::Huber { delta: $epsilon };
                $body
            }
            LossName::Quantile => {
                let $loss = loss::Quantile { tau: $tau };
                $body
            }
            LossName::EpsilonInsensitive => {
                let $loss = loss::EpsilonInsensitive { epsilon: $epsilon };
                $body
            }
        }
    }};
}
pub(super) use with_loss;

choice! {
    /// Penalty on the coefficients.
    pub enum PenaltyName {
        /// Half the sum of squares.
        L2 = "l2",
        /// Sum of absolute values.
        L1 = "l1",
        /// A mix of both, by `l1_ratio`.
        ElasticNet = "elasticnet",
        /// Sum of absolute values to the power `p`, divided by `p`.
        Lp = "lp",
    }
}

impl PenaltyName {
    /// The penalty of this name; no penalty for `None`.
    pub fn penalty(name: Option<PenaltyName>, alpha: f64, l1_ratio: f64, p: f64) -> Penalty {
        match name {
            None => Penalty::None,
            Some(PenaltyName::L2) => Penalty::L2 { lambda: alpha },
            Some(PenaltyName::L1) => Penalty::L1 { lambda: alpha },
            Some(PenaltyName::ElasticNet) => Penalty::Elastic { lambda: alpha, ratio: l1_ratio },
            Some(PenaltyName::Lp) => Penalty::Lp { lambda: alpha, p },
        }
    }

    /// Description of the penalty in the objective.
    pub fn description(name: Option<PenaltyName>, alpha: f64, l1_ratio: f64, p: f64) -> String {
        match name {
            None => String::new(),
            Some(PenaltyName::L2) => format!(" + {alpha} / 2 * sum of squared coefficients"),
            Some(PenaltyName::L1) => format!(" + {alpha} * sum of absolute coefficients"),
            Some(PenaltyName::ElasticNet) => format!(" + {alpha} * (L1 * {l1_ratio} + L2 / 2 * {})", 1.0 - l1_ratio),
            Some(PenaltyName::Lp) => format!(" + {alpha} / {p} * sum of absolute coefficients to the power {p}"),
        }
    }
}

/// The objective at a point (coefficients, then the intercept if there is one) with its margins, and a lower bound on the minimum if the penalty gives one.
pub fn assess<L: Loss>(
    loss: L,
    penalty: Penalty,
    x: &Design,
    y: &[f64],
    weights: Option<&[f64]>,
    w: &[f64],
    margins: &[f64],
) -> (f64, Option<f64>) {
    let p = x.n_columns();
    let (l1, lambda) = match penalty {
        Penalty::L1 { lambda } => (lambda, 0.0),
        Penalty::L2 { lambda } => (0.0, lambda),
        Penalty::Elastic { lambda, ratio } => (lambda * ratio, lambda * (1.0 - ratio)),
        Penalty::None | Penalty::Lp { .. } => (0.0, 0.0),
    };
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let total: f64 = (0..y.len()).map(weight).sum();
    let risk: f64 = (0..y.len()).map(|i| weight(i) * loss.value(margins[i], y[i])).sum::<f64>() / total;
    let value = risk + penalty.value(&w[..p]);
    let (y, weights) = (Cow::Borrowed(y), weights.map(Cow::Borrowed));
    let problem = Risk { x: x.clone(), y, weights, loss, lambda, intercept: w.len() > p };
    let bound = match penalty {
        Penalty::Lp { .. } => problem.lower_bound_under(w, penalty),
        _ => problem.lower_bound(w, l1),
    };
    // Losses and penalties are nonnegative.
    (value, bound.map(|bound| bound.max(0.0).min(value)))
}
