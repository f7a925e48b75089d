//! Evaluation, cross-validation and hyperparameter search. Metrics are in [`measure`].
//!
//! | file | what it holds |
//! |---|---|
//! | this file | [`Evaluation`]: the scores of a model on a test set |
//! | `fold_scorer` | scores of splits, per split or pooled |
//! | [`cross_validation`] | cross-validation |
//! | [`custom`] | custom metrics |
//! | [`curves`] | learning and validation curves |
//! | [`quantiles`] | evaluation of predicted quantiles |
//! | [`paired`] | paired significance tests |
//! | [`space`] | search spaces |
//! | [`search`] | hyperparameter search |
//! | [`journal`] | stores trials, so that an interrupted search can be resumed |

pub mod cross_validation;
pub mod curves;
pub mod custom;
mod fold_scorer;
pub mod journal;
pub mod paired;
pub mod quantiles;
pub mod search;
pub mod space;

pub use cross_validation::{CrossValidation, FoldScore, Validation, cross_validate};
pub use custom::CustomMetric;
pub use ermine_core::matrix::Splits;
pub use ermine_core::measure::{self, Measure, outcome};
pub use fold_scorer::FEW_ROWS;

use ermine_core::chart::text::number;
use ermine_core::error::{Error, Result};
use ermine_core::matrix::{Dataset, Target, Task};
use ermine_core::metric::confusion::Confusion;
use ermine_core::metric::{Score, Weights, regression};
use ermine_core::model::{Model, Prediction};
use outcome::{ClassScore, Outcome};
use quantiles::Quantiles;
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
    /// Description in one line.
    pub explanation: &'static str,
}

/// The scores of a model on some rows. The first one is what models are compared by.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// How many rows.
    pub n_rows: usize,
    /// The scores, the most important first.
    pub scores: Vec<NamedScore>,
    /// Precision, recall and F1 of each class or label, with intervals.
    pub classes: Vec<ClassScore>,
    /// The confusion matrix, for classification.
    pub confusion: Option<Confusion>,
    /// The scores of the predicted quantiles, for quantile models.
    pub quantiles: Option<Quantiles>,
    /// Rows whose class the training data didn't have; they count as wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unseen: Option<UnseenClasses>,
    /// The scores of each target, if there are several; the other scores are means over targets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetScores>,
}

/// The scores of one of several targets.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TargetScores {
    /// The target.
    pub name: String,
    /// Its root mean squared error.
    pub rmse: f64,
    /// Its mean absolute error.
    pub mae: f64,
    /// The share of its variance that is explained.
    pub r2: f64,
}

impl TargetScores {
    /// The scores of each target; empty for a single target or classification.
    fn all(prediction: &Prediction, data: &Dataset) -> Vec<TargetScores> {
        let Ok((truth, n)) = data.values() else { return Vec::new() };
        if n < 2 || data.task() != Task::Regression || prediction.values().len() != truth.len() {
            return Vec::new();
        }
        let weights = Weights::from(data.weight());
        let of = |numbers: &[f64], k: usize| numbers.iter().skip(k).step_by(n).copied().collect::<Vec<f64>>();
        let one = |(k, name): (usize, &String)| {
            let (predicted, truth) = (of(prediction.values(), k), of(truth, k));
            TargetScores {
                name: name.clone(),
                rmse: regression::rmse(&predicted, &truth, 1, weights),
                mae: weights.mean(regression::absolute_errors(&predicted, &truth, 1)),
                r2: regression::r2(&predicted, &truth, 1, weights),
            }
        };
        data.target_names().iter().take(n).enumerate().map(one).collect()
    }
}

impl Evaluation {
    /// Compares predictions with the target of `data` by the default metrics of its task; undefined metrics are left out.
    pub fn new(prediction: &Prediction, data: &Dataset) -> Result<Evaluation> {
        Evaluation::of(&Outcome::new(prediction, data)?, Measure::defaults(data.task()), prediction, data)
    }

    /// Compares predictions with the target of `data` by these metrics. An undefined metric is an error with the reason.
    pub fn by(measures: &[Measure], prediction: &Prediction, data: &Dataset) -> Result<Evaluation> {
        measures.iter().try_for_each(|measure| measure.check(data.task()))?;
        let outcome = Outcome::new(prediction, data)?;
        outcome.check_defined(measures)?;
        Evaluation::of(&outcome, measures, prediction, data)
    }

    /// The defined metrics.
    fn of(outcome: &Outcome<'_>, measures: &[Measure], prediction: &Prediction, data: &Dataset) -> Result<Evaluation> {
        let named = |(measure, score): (Measure, Score)| NamedScore {
            name: measure.title(),
            score,
            higher_is_better: measure.higher_is_better(),
            explanation: measure.explanation(),
        };
        let scores = outcome.scores(measures).into_iter().map(named).collect();
        let classes = outcome.class_scores(prediction.classes());
        let targets = TargetScores::all(prediction, data);
        Ok(Evaluation {
            n_rows: data.n_rows(),
            scores,
            classes,
            confusion: outcome.confusion(),
            quantiles: None,
            unseen: None,
            targets,
        })
    }

    /// A score by name.
    pub fn score(&self, name: &str) -> Option<Score> {
        self.scores.iter().find(|s| s.name == name).map(|s| s.score)
    }
}

/// Evaluation of a model on data that it has not seen.
pub trait Evaluate {
    /// The scores of this model on `data`, which it should not have seen in training.
    fn evaluate(&self, data: &Dataset) -> Result<Evaluation>;

    /// Evaluates the model by these measures; a measure that is undefined on `data` is an error.
    fn evaluate_by(&self, measures: &[Measure], data: &Dataset) -> Result<Evaluation>;

    /// The values of these measures on `data`, without intervals; NaN if a measure is undefined.
    fn measure(&self, data: &Dataset, measures: &[Measure]) -> Result<Vec<f64>>;
}

impl Evaluate for Model {
    fn evaluate(&self, data: &Dataset) -> Result<Evaluation> {
        let data = in_classes_of(self, data)?;
        let evaluation = Evaluation::new(&predict_classes_of(self, &data)?, &data)?;
        let unseen = UnseenClasses::new(self, &data);
        Ok(Evaluation { quantiles: quantiles::evaluate(self, &data)?, unseen, ..evaluation })
    }

    fn evaluate_by(&self, measures: &[Measure], data: &Dataset) -> Result<Evaluation> {
        let data = in_classes_of(self, data)?;
        let evaluation = Evaluation::by(measures, &predict_classes_of(self, &data)?, &data)?;
        Ok(Evaluation { unseen: UnseenClasses::new(self, &data), ..evaluation })
    }

    fn measure(&self, data: &Dataset, measures: &[Measure]) -> Result<Vec<f64>> {
        let data = in_classes_of(self, data)?;
        Ok(Outcome::new(&predict_classes_of(self, &data)?, &data)?.values(measures))
    }
}

/// Rows whose class the training data didn't have. Predictions for them are always wrong.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UnseenClasses {
    /// How many rows.
    pub n_rows: usize,
    /// Their classes.
    pub classes: Vec<String>,
}

impl UnseenClasses {
    /// The unseen classes of data that [`in_classes_of`] has coded; `None` if there are none.
    pub(crate) fn new(model: &Model, data: &Dataset) -> Option<UnseenClasses> {
        let Target::Classes { codes, labels } = data.target() else { return None };
        let n_known = model.schema().classes.len();
        let n_rows = codes.iter().filter(|&&code| code as usize >= n_known).count();
        (n_rows > 0).then(|| UnseenClasses { n_rows, classes: labels[n_known..].to_vec() })
    }
}

/// The predictions of a model, with the classes of data that [`in_classes_of`] has coded.
pub fn predict_classes_of(model: &Model, data: &Dataset) -> Result<Prediction> {
    let prediction = model.predict_from_init_scores(data)?;
    Ok(match data.target() {
        Target::Classes { labels, .. } => prediction.with_more_classes(labels),
        Target::Values { .. } => prediction,
    })
}

/// The data with its classes coded as the model codes them. Classes that the model doesn't have come behind its own.
pub fn in_classes_of(model: &Model, data: &Dataset) -> Result<Dataset> {
    let schema = model.schema();
    if data.task() != schema.task {
        let (has, needs) = (data.task(), schema.task);
        return Err(Error::data(format!("the model was trained for {needs}, but this data is for {has}")));
    }
    if data.task() == Task::Multilabel {
        return in_labels_of(model, data);
    }
    let Target::Classes { codes, labels } = data.target() else {
        let (_, n_outputs) = data.values()?;
        let expected = schema.n_outputs;
        if n_outputs != expected {
            return Err(Error::data(format!("the model predicts {expected} numbers, but the data has {n_outputs}")));
        }
        return Ok(data.clone());
    };
    let mut all: Vec<String> = schema.classes.clone();
    let mut present = vec![false; labels.len()];
    codes.iter().for_each(|&code| present[code as usize] = true);
    let mut new: Vec<u32> = Vec::with_capacity(labels.len());
    for (label, present) in labels.iter().zip(present) {
        let known = all.iter().position(|class| class == label);
        new.push(known.unwrap_or(all.len()) as u32);
        if known.is_none() && present {
            all.push(label.clone());
        }
    }
    let codes = codes.iter().map(|&c| new[c as usize]).collect();
    data.with_target(Target::Classes { codes, labels: all.into() }, data.task())
}

/// The data with its labels in the order in which the model has them. Labels that no row has need not be there; one that the model doesn't know is an error.
fn in_labels_of(model: &Model, data: &Dataset) -> Result<Dataset> {
    let (marks, names) = data.labels()?;
    let mine = &model.schema().classes;
    let place = |name: &String| {
        let known = mine.iter().position(|label| label == name);
        known.ok_or_else(|| Error::unknown("label in training", name, mine))
    };
    let places: Vec<usize> = names.iter().map(place).collect::<Result<_>>()?;
    let mut values = vec![0.0; data.n_rows() * mine.len()];
    for (values, marks) in values.chunks_mut(mine.len()).zip(marks.chunks(names.len())) {
        places.iter().zip(marks).for_each(|(&place, &mark)| values[place] = mark);
    }
    let data = data.with_target(Target::Values { values, n_outputs: mine.len() }, Task::Multilabel)?;
    data.with_labels(mine.clone())
}

impl fmt::Display for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "on {} rows (in brackets: 95% interval)", self.n_rows)?;
        for NamedScore { name, score, .. } in &self.scores {
            writeln!(f, "  {name:<18} {:>10}  [{}, {}]", number(score.value), number(score.low), number(score.high))?;
        }
        if let Some(quantiles) = &self.quantiles {
            write!(f, "{quantiles}")?;
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
            let rates = confusion.rates(k);
            writeln!(f, "  {:>9.3}  {:>9.3}  {:>9.3}", rates.precision, rates.recall, rates.f1)?;
        }
        Ok(())
    }
}
