//! What early stopping watches: the loss itself, or any [`Measure`] of the task. Lower is better for all of them: of a measure that is better the higher it is,
//! what it lacks of 1 is watched (1 - AUC, 1 - NDCG).
//!
//! A measure that doesn't fit the task is refused before training (`check`). Ranking's loss is 1 - NDCG@10.

use super::fitted::{Boosted, shown};
use super::run::{by_query, with_init};
use super::{Boosting, INFO};
use crate::boost::objective::Objective;
use ermine_core::error::{Error, Result};
use ermine_core::matrix::{Dataset, Schema};
use ermine_core::measure::outcome::Outcome;
use ermine_core::measure::{Measure, measures};
use ermine_core::model::{Link, Model, Output, Prediction};
use ermine_core::param::{Kind, ParamType, Value};
use std::fmt;

/// What early stopping watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvalMetric {
    /// The loss that is minimised; 1 - NDCG@10 in ranking.
    Loss,
    /// A measure of the predictions.
    Measure(Measure),
}

/// The word for the loss.
const LOSS: &str = "loss";

impl EvalMetric {
    /// The word users write for it.
    pub fn word(&self) -> &'static str {
        match self {
            EvalMetric::Loss => LOSS,
            EvalMetric::Measure(measure) => measure.word(),
        }
    }
}

impl fmt::Display for EvalMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The measures of what boosting can learn.
fn known() -> impl Iterator<Item = Measure> {
    measures().filter(|measure| INFO.capabilities.tasks.iter().any(|&task| measure.measures(task)))
}

impl ParamType for EvalMetric {
    fn kind() -> Kind {
        Kind::Choice(std::iter::once(LOSS).chain(known().map(|measure| measure.word())).collect())
    }
    fn to_value(&self) -> Value {
        Value::Text(self.word().to_string())
    }
    fn from_value(value: &Value) -> Option<Self> {
        let Value::Text(word) = value else { return None };
        match word.as_str() {
            LOSS => Some(EvalMetric::Loss),
            word => known().find(|measure| measure.word() == word).map(EvalMetric::Measure),
        }
    }
}

/// Refuses a measure that doesn't fit the task.
pub(super) fn check(metric: EvalMetric, data: &Dataset) -> Result<()> {
    let task = data.task();
    match metric {
        EvalMetric::Measure(measure) if !measure.measures(task) => {
            let words: Vec<&str> = std::iter::once(LOSS).chain(Measure::words(task)).collect();
            let (owner, name) = (INFO.name.to_string(), "eval_metric".to_string());
            let allowed = format!("what is measured in {task}: {}", words.join(" | "));
            Err(Error::Param { owner, name, value: metric.to_string(), allowed })
        }
        _ => Ok(()),
    }
}

/// The measure of predictions, row by row, as a loss. `output` says what the predictions are.
fn value(measure: Measure, output: Output, data: &Dataset, predictions: Vec<f64>) -> Result<f64> {
    let prediction = Prediction::new(output, predictions, &Schema::of(data));
    let value = Outcome::new(&prediction, data)?.values(&[measure])[0];
    match value.is_finite() {
        true => Ok(measure.as_loss(value)),
        false => Err(Error::data(format!(
            "eval_metric = {measure} can't be told on the rows kept aside: {} rows, of one class perhaps, or predictions that it is not made for",
            data.n_rows()
        ))),
    }
}

/// The mean loss of all rows at these scores, row by row.
pub(super) fn mean_loss(objective: &dyn Objective, scores: &[f64]) -> f64 {
    let k = objective.n_scores();
    let columns: Vec<Vec<f64>> = (0..k).map(|o| scores.iter().skip(o).step_by(k).copied().collect()).collect();
    let columns: Vec<&[f64]> = columns.iter().map(|scores| &scores[..]).collect();
    objective.loss(0..scores.len() / k.max(1), &columns) / objective.total_weight()
}

impl Boosting<'_> {
    /// What is watched of these rows at these scores; `None` where it is the loss.
    pub(super) fn judged(&self, link: Link, data: &Dataset, scores: &[f64]) -> Result<Option<f64>> {
        let link = shown(link, data.classes().map_or(0, |(_, labels)| labels.len()));
        let said = || link.apply(scores.to_vec(), scores.len() / data.n_rows().max(1));
        match (self.metric, self.params.eval_metric) {
            (Some(metric), _) => metric(data, &said()).map(Some),
            (None, EvalMetric::Measure(measure)) => value(measure, link.output(), data, said()).map(Some),
            (None, EvalMetric::Loss) => Ok(None),
        }
    }

    /// What is watched, of other rows than those that early stopping watched: after each round of a model that was trained so.
    pub fn history_of(&self, model: &Model, rows: &Dataset) -> Result<Vec<f64>> {
        let fitted = model.fitted::<Boosted>().ok_or_else(|| Error::data("this is no model of gradient boosting"))?;
        let rows = by_query(rows)?;
        let objective = self.objective(&rows)?;
        let features = fitted.statistics.extend(&model.schema().features_of_data(&rows)?)?;
        let mut scores = with_init(&rows, fitted.booster.start().repeat(rows.n_rows()))?;
        let after = |round: usize| {
            fitted.booster.add_round(&features, round, &mut scores);
            let judged = self.judged(fitted.link, &rows, &scores)?;
            Ok(judged.unwrap_or_else(|| mean_loss(&*objective, &scores)))
        };
        (0..fitted.booster.n_rounds()).map(after).collect()
    }
}
