//! The validation metric of early stopping: the loss itself, or any [`Measure`] of the task. Metrics where higher is better are tracked as 1 - score (1 - AUC, 1 - NDCG), so that
//! lower is always better.
//!
//! A metric that doesn't fit the task is an error before training (`check`). Ranking's loss is 1 - NDCG@10.

use super::fitted::{BoostedTrees, effective_link};
use super::run::{FitRequest, add_init_scores, sorted_by_query};
use super::{GradientBoosting, INFO};
use crate::boost::train;
use ermine_core::error::{Error, Result};
use ermine_core::learner::Context;
use ermine_core::matrix::{Dataset, Schema};
use ermine_core::measure::outcome::Outcome;
use ermine_core::measure::{Measure, measures};
use ermine_core::model::{Link, Model, Output, Prediction};
use ermine_core::param::{ParamKind, ParamType, Value};
use std::fmt;

/// The validation metric of early stopping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvalMetric {
    /// The loss that is minimized; 1 - NDCG@10 in ranking.
    Loss,
    /// A measure of the predictions.
    Measure(Measure),
}

/// The name of the loss.
const LOSS: &str = "loss";

impl EvalMetric {
    /// Its name as a parameter value.
    pub fn as_str(&self) -> &'static str {
        match self {
            EvalMetric::Loss => LOSS,
            EvalMetric::Measure(measure) => measure.as_str(),
        }
    }
}

impl fmt::Display for EvalMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The metrics of the tasks that boosting can learn.
fn known() -> impl Iterator<Item = Measure> {
    measures().filter(|measure| INFO.capabilities.tasks.iter().any(|&task| measure.measures(task)))
}

impl ParamType for EvalMetric {
    fn kind() -> ParamKind {
        ParamKind::Choice(std::iter::once(LOSS).chain(known().map(|measure| measure.as_str())).collect())
    }
    fn to_value(&self) -> Value {
        Value::Text(self.as_str().to_string())
    }
    fn from_value(value: &Value) -> Option<Self> {
        let Value::Text(word) = value else { return None };
        match word.as_str() {
            LOSS => Some(EvalMetric::Loss),
            word => known().find(|measure| measure.as_str() == word).map(EvalMetric::Measure),
        }
    }
}

/// Checks that a metric fits the task.
pub(super) fn check(metric: EvalMetric, data: &Dataset) -> Result<()> {
    let task = data.task();
    match metric {
        EvalMetric::Measure(measure) if !measure.measures(task) => {
            let words: Vec<&str> = std::iter::once(LOSS).chain(Measure::names(task)).collect();
            let (owner, name) = (INFO.name.to_string(), "eval_metric".to_string());
            let allowed = format!("a metric of {task}: {}", words.join(" | "));
            Err(Error::Param { owner, name, value: metric.to_string(), allowed })
        }
        _ => Ok(()),
    }
}

/// The metric of predictions, row by row, as a loss. `output`: what the predictions are.
fn value(measure: Measure, output: Output, data: &Dataset, predictions: Vec<f64>) -> Result<f64> {
    let prediction = Prediction::new(output, predictions, &Schema::of(data));
    let value = Outcome::new(&prediction, data)?.values(&[measure])[0];
    match value.is_finite() {
        true => Ok(measure.as_loss(value)),
        false => Err(Error::data(format!(
            "eval_metric = {measure} is undefined on the validation set ({} rows): perhaps all of them are of one class, or the metric doesn't fit the predictions",
            data.n_rows()
        ))),
    }
}

impl GradientBoosting {
    /// The validation metric after each round of a trained model, on other rows than its validation set. `context` has the custom objective and metric of the fit.
    pub fn validation_history(&self, model: &Model, rows: &Dataset, context: &Context<'_>) -> Result<Vec<f64>> {
        FitRequest { params: self.clone(), context: *context }.validation_history(model, rows)
    }
}

impl FitRequest<'_> {
    /// The validation metric of these rows at these scores; `None` if it is the loss.
    pub(super) fn metric_value(&self, link: Link, data: &Dataset, scores: &[f64]) -> Result<Option<f64>> {
        let link = effective_link(link, data.classes().map_or(0, |(_, labels)| labels.len()));
        let predictions = || link.apply(scores.to_vec(), scores.len() / data.n_rows().max(1));
        match (self.context.metric, self.params.eval_metric) {
            (Some(metric), _) => metric(data, &predictions()).map(Some),
            (None, EvalMetric::Measure(measure)) => value(measure, link.output(), data, predictions()).map(Some),
            (None, EvalMetric::Loss) => Ok(None),
        }
    }

    fn validation_history(&self, model: &Model, rows: &Dataset) -> Result<Vec<f64>> {
        let not_boosted = || Error::data("the model is not a gradient boosting model");
        let fitted = model.fitted::<BoostedTrees>().ok_or_else(not_boosted)?;
        let rows = sorted_by_query(rows)?;
        let objective = self.objective(&rows)?;
        let features = fitted.statistics.extend(&model.schema().features_of_data(&rows)?)?;
        let mut scores = add_init_scores(&rows, fitted.booster.start().repeat(rows.n_rows()))?;
        let after = |round: usize| {
            fitted.booster.add_round(&features, round, &mut scores);
            let value = self.metric_value(fitted.link, &rows, &scores)?;
            Ok(value.unwrap_or_else(|| train::loss_at(&*objective, &scores)))
        };
        (0..fitted.booster.n_rounds()).map(after).collect()
    }
}
