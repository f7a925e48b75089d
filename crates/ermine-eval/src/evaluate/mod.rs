//! How good a model is, how sure that is, and which settings are best. What is measured is in [`measure`].
//!
//! | file | what it holds |
//! |---|---|
//! | this file | [`Evaluation`]: the scores of a model on rows it has not seen |
//! | `judge` | the scores of splits: of each by itself, or of all tested rows together |
//! | [`cross_validation`] | a learner's scores over splits |
//! | [`custom`] | metrics that users bring along |
//! | [`curves`] | learning and validation curves |
//! | [`quantiles`] | how good predicted quantiles are |
//! | [`paired`] | whether one learner is better than another, or was lucky |
//! | [`space`] | the settings of a learner that are worth trying |
//! | [`search`] | finds the best of them |
//! | [`journal`] | remembers trials, so that a search that was stopped goes on |

pub mod cross_validation;
pub mod curves;
pub mod custom;
pub mod journal;
mod judge;
pub mod paired;
pub mod quantiles;
pub mod search;
pub mod space;

pub use cross_validation::{CrossValidation, FoldScore, Validation, cross_validate};
pub use custom::CustomMetric;
pub use ermine_core::matrix::Splits;
pub use ermine_core::measure::{self, Measure, outcome};
pub use judge::FEW_ROWS;

use ermine_core::chart::text::number;
use ermine_core::error::{Error, Result};
use ermine_core::matrix::{Dataset, Target, Task};
use ermine_core::metric::Score;
use ermine_core::metric::confusion::Confusion;
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
    /// What it says, in a line.
    pub explanation: &'static str,
}

/// The scores of a model on some rows. The first one is what models are compared by.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// How many rows.
    pub n_rows: usize,
    /// The scores, the most important first.
    pub scores: Vec<NamedScore>,
    /// How well each class or label was found, with intervals, where classes or labels were predicted.
    pub classes: Vec<ClassScore>,
    /// Which classes were taken for which, where classes were predicted.
    pub confusion: Option<Confusion>,
    /// How good the quantiles are that a model was trained for.
    pub quantiles: Option<Quantiles>,
}

impl Evaluation {
    /// Compares predictions with the truth in `data`, by the usual measures of its task; those that can't be told are left out.
    pub fn new(prediction: &Prediction, data: &Dataset) -> Result<Evaluation> {
        Evaluation::of(&Outcome::new(prediction, data)?, Measure::defaults(data.task()), prediction, data)
    }

    /// Compares predictions with the truth in `data` by these measures. One that can't be told is an error, which says why.
    pub fn by(measures: &[Measure], prediction: &Prediction, data: &Dataset) -> Result<Evaluation> {
        measures.iter().try_for_each(|measure| measure.check(data.task()))?;
        let outcome = Outcome::new(prediction, data)?;
        outcome.check_told(measures)?;
        Evaluation::of(&outcome, measures, prediction, data)
    }

    /// The measures that can be told.
    fn of(outcome: &Outcome<'_>, measures: &[Measure], prediction: &Prediction, data: &Dataset) -> Result<Evaluation> {
        let named = |(measure, score): (Measure, Score)| NamedScore {
            name: measure.title(),
            score,
            higher_is_better: measure.higher_is_better(),
            explanation: measure.explanation(),
        };
        let scores = outcome.scores(measures).into_iter().map(named).collect();
        let classes = outcome.class_scores(prediction.classes());
        Ok(Evaluation { n_rows: data.n_rows(), scores, classes, confusion: outcome.confusion(), quantiles: None })
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

    /// The values of these measures on `data`, without intervals; NaN where a measure is undefined.
    fn measure(&self, data: &Dataset, measures: &[Measure]) -> Result<Vec<f64>>;
}

impl Evaluate for Model {
    fn evaluate(&self, data: &Dataset) -> Result<Evaluation> {
        let data = in_classes_of(self, data)?;
        let evaluation = Evaluation::new(&self.predict_data(&data)?, &data)?;
        Ok(Evaluation { quantiles: quantiles::evaluate(self, &data)?, ..evaluation })
    }

    fn evaluate_by(&self, measures: &[Measure], data: &Dataset) -> Result<Evaluation> {
        let data = in_classes_of(self, data)?;
        Evaluation::by(measures, &self.predict_data(&data)?, &data)
    }

    fn measure(&self, data: &Dataset, measures: &[Measure]) -> Result<Vec<f64>> {
        let data = in_classes_of(self, data)?;
        Ok(Outcome::new(&self.predict_data(&data)?, &data)?.values(measures))
    }
}

/// The data with its classes coded as the model codes them. A class that the model doesn't know is an error.
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
    let code = |label: &String| {
        let known = schema.classes.iter().position(|class| class == label);
        known.map(|k| k as u32).ok_or_else(|| Error::unknown("class in training", label, &schema.classes))
    };
    let new: Vec<u32> = labels.iter().map(code).collect::<Result<_>>()?;
    let codes = codes.iter().map(|&c| new[c as usize]).collect();
    data.with_target(Target::Classes { codes, labels: schema.classes.iter().cloned().collect() }, data.task())
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
