//! Custom metrics.

use super::{in_classes_of, predict_classes_of};
use ermine_core::error::{Error, Result};
use ermine_core::matrix::Dataset;
use ermine_core::model::{Model, Prediction};
use std::fmt;
use std::sync::Arc;

/// A function of predictions and targets.
type ScoreFunction = dyn Fn(&Prediction, &Dataset) -> Result<f64> + Send + Sync;

/// A custom metric: a name, a direction, and a function of predictions and targets.
#[derive(Clone)]
pub struct CustomMetric {
    name: &'static str,
    higher_is_better: bool,
    score: Arc<ScoreFunction>,
}

impl CustomMetric {
    /// A metric that sees the whole [`Prediction`] (classes, probabilities, numbers) and the data it is compared with (target, weights, query groups).
    pub fn new(
        name: &'static str,
        higher_is_better: bool,
        score: impl Fn(&Prediction, &Dataset) -> Result<f64> + Send + Sync + 'static,
    ) -> CustomMetric {
        CustomMetric { name, higher_is_better, score: Arc::new(score) }
    }

    /// A metric for regression and ranking: a function of the predicted values, the true values, and the sample weights if there are any.
    pub fn of_values(
        name: &'static str,
        higher_is_better: bool,
        score: impl Fn(&[f64], &[f64], Option<&[f64]>) -> f64 + Send + Sync + 'static,
    ) -> CustomMetric {
        CustomMetric::new(name, higher_is_better, move |prediction, data| {
            Ok(score(prediction.values(), data.values()?.0, data.weight()))
        })
    }

    /// A metric for classification: a function of the predicted classes, the true classes, and the sample weights if there are any. Classes are given by name.
    pub fn of_classes(
        name: &'static str,
        higher_is_better: bool,
        score: impl Fn(&[&str], &[&str], Option<&[f64]>) -> f64 + Send + Sync + 'static,
    ) -> CustomMetric {
        CustomMetric::new(name, higher_is_better, move |prediction, data| {
            let (codes, labels) = data.classes()?;
            let truth: Vec<&str> = codes.iter().map(|&code| labels[code as usize].as_str()).collect();
            let predicted: Vec<&str> = (0..prediction.n_rows()).filter_map(|row| prediction.label(row)).collect();
            Ok(score(&predicted, &truth, data.weight()))
        })
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether higher is better.
    pub fn higher_is_better(&self) -> bool {
        self.higher_is_better
    }

    /// The score of a model on data that it was not trained on.
    pub fn evaluate(&self, model: &Model, data: &Dataset) -> Result<f64> {
        let data = in_classes_of(model, data)?;
        self.score(&predict_classes_of(model, &data)?, &data)
    }

    /// The score of predictions for the rows of `data`, whose classes have the codes of the predictions.
    pub fn score(&self, prediction: &Prediction, data: &Dataset) -> Result<f64> {
        let (n, expected) = (prediction.n_rows(), data.n_rows());
        if n != expected {
            return Err(Error::data(format!("there are predictions for {n} rows, but the data has {expected}")));
        }
        (self.score)(prediction, data)
    }
}

impl fmt::Debug for CustomMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomMetric")
            .field("name", &self.name)
            .field("higher_is_better", &self.higher_is_better)
            .finish_non_exhaustive()
    }
}
