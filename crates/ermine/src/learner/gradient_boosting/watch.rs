//! What early stopping watches: the loss itself, or any [`Measure`] of the task. Lower is better for all of them: of a measure that is better the higher it is,
//! what it lacks of 1 is watched (1 - AUC, 1 - NDCG).
//!
//! A measure that doesn't fit the task is refused before training (`check`). Ranking's loss is 1 - NDCG@10.

use super::INFO;
use crate::error::{Error, Result};
use crate::matrix::{Dataset, Schema};
use crate::measure::outcome::Outcome;
use crate::measure::{Measure, measures};
use crate::model::{Output, Prediction};
use crate::param::{Kind, ParamType, Value};
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
pub(super) fn value(measure: Measure, output: Output, data: &Dataset, predictions: Vec<f64>) -> Result<f64> {
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
