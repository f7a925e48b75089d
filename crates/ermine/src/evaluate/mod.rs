//! How good a model is, and how sure that is.
//!
//! | file | what it holds |
//! |---|---|
//! | this file | [`Evaluation`]: the scores of a model on rows it has not seen |
//! | [`cross_validation`] | folds; a learner's scores over them |

pub mod cross_validation;

pub use cross_validation::{CrossValidation, Folds, cross_validate};

use crate::error::{Error, Result};
use crate::matrix::{Dataset, Target};
use crate::metric::Score;
use crate::metric::classification::{Confusion, accuracy, brier, log_loss};
use crate::metric::regression::{mae, r2, rmse};
use crate::model::{Model, Prediction};
use serde::Serialize;
use std::fmt;

/// A named score.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedScore {
    /// Its name.
    pub name: &'static str,
    /// The score and its interval.
    pub score: Score,
    /// Whether higher is better.
    pub higher_is_better: bool,
}

/// The scores of a model on some rows. The first one is what models are compared by.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// How many rows.
    pub n_rows: usize,
    /// The scores, the most important first.
    pub scores: Vec<NamedScore>,
    /// Which classes were taken for which, where classes were predicted.
    pub confusion: Option<Confusion>,
}

impl Evaluation {
    /// Compares predictions with the truth in `data`.
    pub fn new(prediction: &Prediction, data: &Dataset) -> Result<Evaluation> {
        if data.n_rows() == 0 {
            return Err(Error::data("there are no rows to evaluate on"));
        }
        if (0..data.n_rows()).all(|row| data.row_weight(row) == 0.0) {
            return Err(Error::data("all rows to evaluate on have weight zero"));
        }
        let weight = |row: usize| data.row_weight(row);
        let named = |name, score, higher_is_better| NamedScore { name, score, higher_is_better };
        let (scores, confusion) = match data.target() {
            Target::Classes { codes, .. } => {
                let mut scores = vec![named("accuracy", accuracy(prediction, codes, weight), true)];
                scores.extend(log_loss(prediction, codes, weight).map(|s| named("log loss", s, false)));
                scores.extend(brier(prediction, codes, weight).map(|s| named("Brier score", s, false)));
                (scores, Some(Confusion::new(prediction, codes, weight)))
            }
            Target::Values { values, n_outputs } => {
                let (p, k) = (prediction.values(), *n_outputs);
                let scores = vec![
                    named("RMSE", rmse(p, values, k, weight), false),
                    named("MAE", mae(p, values, k, weight), false),
                    named("R2", r2(p, values, k, weight), true),
                ];
                (scores, None)
            }
        };
        Ok(Evaluation { n_rows: data.n_rows(), scores, confusion })
    }

    /// A score by name.
    pub fn score(&self, name: &str) -> Option<Score> {
        self.scores.iter().find(|s| s.name == name).map(|s| s.score)
    }
}

impl Model {
    /// The scores of this model on `data`, which it should not have seen in training.
    pub fn evaluate(&self, data: &Dataset) -> Result<Evaluation> {
        let data = self.in_my_classes(data)?;
        Evaluation::new(&self.predict_data(&data)?, &data)
    }

    /// The data with its classes coded as the model codes them. A class that the model doesn't know is an error.
    fn in_my_classes(&self, data: &Dataset) -> Result<Dataset> {
        let schema = self.schema();
        if data.task() != schema.task {
            let (has, needs) = (data.task(), schema.task);
            return Err(Error::data(format!("the model was trained for {needs}, but this data is for {has}")));
        }
        let Target::Classes { codes, labels } = data.target() else {
            let (_, n_outputs) = data.values()?;
            let expected = schema.n_outputs;
            if n_outputs != expected {
                return Err(Error::data(format!(
                    "the model predicts {expected} numbers, but the data has {n_outputs}"
                )));
            }
            return Ok(data.clone());
        };
        let code = |label: &String| {
            let known = schema.classes.iter().position(|class| class == label);
            known.map(|k| k as u32).ok_or_else(|| Error::unknown("class in training", label, &schema.classes))
        };
        let new: Vec<u32> = labels.iter().map(code).collect::<Result<_>>()?;
        let codes = codes.iter().map(|&c| new[c as usize]).collect();
        data.with_target(Target::Classes { codes, labels: schema.classes.iter().cloned().collect() }, data.task())
    }
}

impl fmt::Display for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "on {} rows (in brackets: 95% interval)", self.n_rows)?;
        for NamedScore { name, score, .. } in &self.scores {
            writeln!(f, "  {name:<12} {:>10.4}  [{:.4}, {:.4}]", score.value, score.low, score.high)?;
        }
        let Some(confusion) = self.confusion.as_ref().filter(|c| c.classes.len() <= 20) else { return Ok(()) };
        let width = confusion.classes.iter().map(|c| c.chars().count()).max().unwrap_or(0).clamp(8, 20);
        let short = |name: &str| name.chars().take(width).collect::<String>();
        writeln!(f, "\n  true \\ predicted")?;
        write!(f, "  {:width$}", "")?;
        confusion.classes.iter().try_for_each(|class| write!(f, "  {:>width$}", short(class)))?;
        writeln!(f, "  {:>9}  {:>9}  {:>9}", "precision", "recall", "F1")?;
        for (k, class) in confusion.classes.iter().enumerate() {
            write!(f, "  {:width$}", short(class))?;
            confusion.counts[k].iter().try_for_each(|count| write!(f, "  {count:>width$}"))?;
            let (p, r, f1) = (confusion.precision(k), confusion.recall(k), confusion.f1(k));
            writeln!(f, "  {p:>9.3}  {r:>9.3}  {f1:>9.3}")?;
        }
        Ok(())
    }
}
