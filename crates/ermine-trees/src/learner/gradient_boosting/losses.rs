//! Which loss the parameters ask for, and how its scores become predictions.

use super::{GradientBoosting, INFO, Loss};
use crate::boost::objective::{
    Absolute, Each, Gamma, Huber, LambdaMart, Logistic, Objective, Poisson, Quantile, Rows, Several, Softmax, Squared,
    Tweedie,
};
use ermine_core::error::{Error, Result};
use ermine_core::matrix::{Dataset, Target, Task};
use ermine_core::model::Link;

/// The first row of each query, and the number of rows.
fn query_bounds(data: &Dataset) -> Vec<usize> {
    let n = data.n_rows();
    let is_first = |&row: &usize| row == 0 || data.group().is_some_and(|g| g[row] != g[row - 1]);
    (0..n).filter(is_first).chain([n]).collect()
}

impl GradientBoosting {
    pub(super) fn unsupported<T>(&self, need: String) -> Result<T> {
        Err(Error::Unsupported { learner: INFO.name.to_string(), need })
    }

    /// The loss of a data set.
    pub(super) fn objective(&self, data: &Dataset) -> Result<Box<dyn Objective>> {
        let weight = data.weight();
        match (data.target(), data.task(), self.loss) {
            (Target::Classes { codes, labels }, _, Loss::Auto | Loss::LogLoss) => {
                let rows = Rows::new(codes.iter().map(|&c| f64::from(c)).collect(), weight);
                Ok(if labels.len() <= 2 {
                    Box::new(Logistic::new(rows))
                } else {
                    Box::new(Softmax::new(rows, labels.len())?)
                })
            }
            (
                Target::Values { values, n_outputs: 1 },
                Task::Ranking,
                Loss::Auto | Loss::LambdaRank | Loss::Pairwise,
            ) => {
                if let Some(row) = values.iter().position(|y| !(0.0..=60.0).contains(y)) {
                    return Err(Error::data(format!(
                        "the relevance of row {} is {}; expected 0 to 60",
                        row + 1,
                        values[row]
                    )));
                }
                let pairwise = self.loss == Loss::Pairwise;
                Ok(Box::new(LambdaMart::new(values, weight, query_bounds(data), pairwise)))
            }
            (Target::Values { values, n_outputs }, Task::Regression | Task::Ranking, _) => {
                let column = |k: usize| values.iter().skip(k).step_by(*n_outputs).copied().collect::<Vec<f64>>();
                let make = |k: usize| self.number_objective(|| Rows::new(column(k), weight), &column(k));
                match *n_outputs {
                    1 => make(0),
                    n => Ok(Box::new(Several((0..n).map(make).collect::<Result<_>>()?))),
                }
            }
            _ => self.unsupported(format!("loss = {} for {}", self.loss, data.task())),
        }
    }

    fn number_objective(&self, rows: impl Fn() -> Rows, target: &[f64]) -> Result<Box<dyn Objective>> {
        let at_least = |least: f64, open: bool| match target.iter().position(|&y| y < least || (open && y == least)) {
            Some(row) => Err(Error::data(format!(
                "loss = {} needs targets {} {least}; row {} has {}",
                self.loss,
                if open { "above" } else { "from" },
                row + 1,
                target[row]
            ))),
            None => Ok(()),
        };
        Ok(match self.loss {
            Loss::Auto | Loss::SquaredError => Box::new(Squared::new(rows())),
            Loss::AbsoluteError => Box::new(Each::new(Absolute, rows())),
            Loss::Huber => Box::new(Each::new(Huber(self.huber_slope), rows())),
            Loss::Quantile if self.quantile_alpha.len() == 1 => {
                Box::new(Each::new(Quantile(self.quantile_alpha[0]), rows()))
            }
            Loss::Quantile => {
                let one = |&share: &f64| Box::new(Each::new(Quantile(share), rows())) as Box<dyn Objective>;
                Box::new(Several(self.quantile_alpha.iter().map(one).collect()))
            }
            Loss::Poisson => {
                at_least(0.0, false)?;
                Box::new(Each::new(Poisson, rows()))
            }
            Loss::Gamma => {
                at_least(0.0, true)?;
                Box::new(Each::new(Gamma, rows()))
            }
            Loss::Tweedie => {
                at_least(0.0, false)?;
                Box::new(Each::new(Tweedie(self.tweedie_variance_power), rows()))
            }
            Loss::LogLoss | Loss::LambdaRank | Loss::Pairwise => {
                return self.unsupported(format!("loss = {} for {}", self.loss, Task::Regression));
            }
        })
    }

    /// The levels of the quantiles that are predicted for one target.
    pub(super) fn levels(&self, data: &Dataset) -> Vec<f64> {
        let one = matches!(data.target(), Target::Values { n_outputs: 1, .. });
        if one && self.loss == Loss::Quantile { self.quantile_alpha.clone() } else { Vec::new() }
    }

    /// How scores become predictions.
    pub(super) fn link(&self, data: &Dataset, n_scores: usize) -> Link {
        match (data.target(), self.loss) {
            (Target::Classes { .. }, _) if n_scores == 1 => Link::Logistic,
            (Target::Classes { .. }, _) => Link::Softmax,
            (_, Loss::Poisson | Loss::Gamma | Loss::Tweedie) => Link::Exponential,
            (_, Loss::Quantile) if n_scores > 1 => Link::Quantiles,
            _ => Link::Identity,
        }
    }
}
