//! Scores of classes: accuracy, log loss, Brier score, and the confusion matrix with what is read off it.

use super::{Score, mean, share};
use crate::model::Prediction;
use serde::Serialize;

/// Probabilities below this count as this in the log loss, so that one sure mistake isn't infinitely bad.
const LEAST_PROBABILITY: f64 = 1e-15;

/// The share of rows whose class is predicted right.
pub fn accuracy(prediction: &Prediction, truth: &[u32], weight: impl Fn(usize) -> f64) -> Score {
    share(truth.iter().enumerate().map(|(row, &class)| prediction.class(row) == class as usize), weight)
}

/// The mean of -ln p(true class); `None` without probabilities.
pub fn log_loss(prediction: &Prediction, truth: &[u32], weight: impl Fn(usize) -> f64) -> Option<Score> {
    prediction.probabilities(0)?;
    let loss = |(row, &class): (usize, &u32)| -prediction.row(row)[class as usize].max(LEAST_PROBABILITY).ln();
    Some(mean(truth.iter().enumerate().map(loss), weight))
}

/// The mean squared distance between probabilities and truth; `None` without probabilities.
pub fn brier(prediction: &Prediction, truth: &[u32], weight: impl Fn(usize) -> f64) -> Option<Score> {
    prediction.probabilities(0)?;
    let loss = |(row, &class): (usize, &u32)| {
        let probabilities = prediction.row(row).iter().enumerate();
        probabilities.map(|(k, p)| (p - f64::from(u32::from(k == class as usize))).powi(2)).sum::<f64>()
    };
    Some(mean(truth.iter().enumerate().map(loss), weight))
}

/// How much weight of each true class was predicted as each class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Confusion {
    /// The names of the classes.
    pub classes: Vec<String>,
    /// `counts[true][predicted]`.
    pub counts: Vec<Vec<f64>>,
}

impl Confusion {
    /// Counts predictions against truth.
    pub fn new(prediction: &Prediction, truth: &[u32], weight: impl Fn(usize) -> f64) -> Confusion {
        let classes = prediction.classes().to_vec();
        let mut counts = vec![vec![0.0; classes.len()]; classes.len()];
        for (row, &class) in truth.iter().enumerate() {
            counts[class as usize][prediction.class(row)] += weight(row);
        }
        Confusion { classes, counts }
    }

    /// Of the rows predicted as the class, the share that is of it; 0 where none is predicted.
    pub fn precision(&self, class: usize) -> f64 {
        let predicted: f64 = self.counts.iter().map(|row| row[class]).sum();
        if predicted > 0.0 { self.counts[class][class] / predicted } else { 0.0 }
    }

    /// Of the rows of the class, the share predicted as it; 0 where there are none.
    pub fn recall(&self, class: usize) -> f64 {
        let actual: f64 = self.counts[class].iter().sum();
        if actual > 0.0 { self.counts[class][class] / actual } else { 0.0 }
    }

    /// The harmonic mean of precision and recall.
    pub fn f1(&self, class: usize) -> f64 {
        let (p, r) = (self.precision(class), self.recall(class));
        if p + r > 0.0 { 2.0 * p * r / (p + r) } else { 0.0 }
    }

    /// The mean recall of the classes that occur.
    pub fn balanced_accuracy(&self) -> f64 {
        let occurring: Vec<usize> =
            (0..self.classes.len()).filter(|&k| self.counts[k].iter().sum::<f64>() > 0.0).collect();
        occurring.iter().map(|&k| self.recall(k)).sum::<f64>() / occurring.len().max(1) as f64
    }
}
