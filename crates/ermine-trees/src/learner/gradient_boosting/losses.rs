//! The objective that the parameters select.

use super::{AftDistribution, BoostingLoss, GradientBoosting, INFO};
use crate::boost::objective::focal::Focal;
use crate::boost::objective::survival::{CoxObjective, FailureDistribution, FailureTime};
use crate::boost::objective::{
    LambdaMart, MultiOutputObjective, Objective, PointwiseObjective, SoftmaxObjective, WeightedTargets,
};
use ermine_core::error::{Error, Result};
use ermine_core::loss::{self, Link};
use ermine_core::matrix::{Dataset, Target, Task};

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

    /// The objective over a data set.
    pub(super) fn objective(&self, data: &Dataset) -> Result<Box<dyn Objective>> {
        let weight = data.weight();
        match (data.target(), data.task(), self.loss) {
            (Target::Classes { codes, labels }, _, BoostingLoss::Auto | BoostingLoss::LogLoss) => {
                if labels.len() > 2 {
                    let rows = WeightedTargets::new(codes.iter().map(|&c| f64::from(c)).collect(), weight);
                    return Ok(Box::new(SoftmaxObjective::new(rows, labels.len())?));
                }
                let sign = |&code: &u32| if code == 0 { -1.0 } else { 1.0 };
                let rows = WeightedTargets::new(codes.iter().map(sign).collect(), weight);
                Ok(Box::new(PointwiseObjective::new(loss::Logistic, rows)))
            }
            (Target::Classes { codes, labels }, _, BoostingLoss::Focal) => {
                if labels.len() > 2 {
                    return self.unsupported(format!("loss = focal for {} classes (it is for two)", labels.len()));
                }
                let sign = |&code: &u32| if code == 0 { -1.0 } else { 1.0 };
                let rows = WeightedTargets::new(codes.iter().map(sign).collect(), weight);
                Ok(Box::new(PointwiseObjective::new(Focal { gamma: self.focal_gamma }, rows)))
            }
            (
                Target::Values { values, n_outputs: 1 },
                Task::Ranking,
                BoostingLoss::Auto | BoostingLoss::LambdaRank | BoostingLoss::Pairwise,
            ) => {
                if let Some(row) = values.iter().position(|y| !(0.0..=60.0).contains(y)) {
                    return Err(Error::data(format!(
                        "the relevance of row {} is {}; expected 0 to 60",
                        row + 1,
                        values[row]
                    )));
                }
                let pairwise = self.loss == BoostingLoss::Pairwise;
                Ok(Box::new(LambdaMart::new(values, weight, query_bounds(data), pairwise)))
            }
            (Target::Values { values, n_outputs }, Task::Regression | Task::Ranking, _) => {
                let column = |k: usize| values.iter().skip(k).step_by(*n_outputs).copied().collect();
                let make = |k: usize| self.number_objective(WeightedTargets::new(column(k), weight));
                match *n_outputs {
                    1 => make(0),
                    n => Ok(Box::new(MultiOutputObjective::of_targets((0..n).map(make).collect::<Result<_>>()?))),
                }
            }
            _ => self.unsupported(format!("loss = {} for {}", self.loss, data.task())),
        }
    }

    fn number_objective(&self, rows: WeightedTargets) -> Result<Box<dyn Objective>> {
        match self.loss {
            BoostingLoss::Auto | BoostingLoss::SquaredError => PointwiseObjective::checked(loss::Squared, rows),
            BoostingLoss::AbsoluteError => PointwiseObjective::checked(loss::Absolute, rows),
            BoostingLoss::Huber => PointwiseObjective::checked(loss::Huber { delta: self.huber_slope }, rows),
            BoostingLoss::Quantile => {
                let of_level = |&tau: &f64| PointwiseObjective::checked(loss::Quantile { tau }, rows.clone());
                match &self.quantile_alpha[..] {
                    [level] => of_level(level),
                    levels => {
                        let outputs = levels.iter().map(of_level).collect::<Result<_>>()?;
                        Ok(Box::new(MultiOutputObjective::of_quantiles(outputs)))
                    }
                }
            }
            BoostingLoss::Poisson => PointwiseObjective::checked(loss::Poisson, rows),
            BoostingLoss::Gamma => PointwiseObjective::checked(loss::Gamma, rows),
            BoostingLoss::Tweedie => {
                PointwiseObjective::checked(loss::Tweedie { power: self.tweedie_variance_power }, rows)
            }
            BoostingLoss::Aft => {
                let distribution = match self.aft_distribution {
                    AftDistribution::Normal => FailureDistribution::Normal,
                    AftDistribution::Logistic => FailureDistribution::Logistic,
                    AftDistribution::Extreme => FailureDistribution::Extreme,
                };
                PointwiseObjective::checked(FailureTime { distribution, scale: self.aft_scale }, rows)
            }
            BoostingLoss::Cox => Ok(Box::new(CoxObjective::new(rows))),
            BoostingLoss::LogLoss | BoostingLoss::Focal | BoostingLoss::LambdaRank | BoostingLoss::Pairwise => {
                self.unsupported(format!("loss = {} for {}", self.loss, Task::Regression))
            }
        }
    }

    /// The levels of the quantiles that are predicted for one target.
    pub(super) fn levels(&self, data: &Dataset) -> Vec<f64> {
        let one = matches!(data.target(), Target::Values { n_outputs: 1, .. });
        if one && self.loss == BoostingLoss::Quantile { self.quantile_alpha.clone() } else { Vec::new() }
    }

    /// How scores become predictions.
    pub(super) fn link(data: &Dataset, objective: &dyn Objective) -> Link {
        match data.target() {
            Target::Classes { .. } if objective.n_scores() == 1 => Link::Logistic,
            Target::Classes { .. } => Link::Softmax,
            Target::Values { .. } => objective.link(),
        }
    }
}
