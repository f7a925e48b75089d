//! A report on a model and a test set: as data (JSON), as text for a terminal, and as an HTML page.
//!
//! | file | what it holds |
//! |---|---|
//! | this file | [`Report`]: the data of the report |
//! | [`curve`] | learning and validation curves |
//! | `page` | the page |
//! | `terminal` | the text, with the same parts |
//! | `text` | the tables and sentences that both share |

pub mod curve;
pub mod dependence;
mod page;
mod terminal;
mod text;

use crate::evaluate::curves::{CurvePoint, learning_curve_on};
use crate::evaluate::measure::Measure;
use crate::evaluate::outcome::{CALIBRATION_BINS, Outcome};
use crate::evaluate::{Evaluation, UnseenClasses, in_classes_of, predict_classes_of};
use crate::explain::dependence::{Dependence, partial_dependence};
use crate::explain::permutation::{Importance, permutation_importances};
use ermine_core::error::Result;
use ermine_core::learner::Context;
use ermine_core::matrix::{Dataset, TableDifferences, Target, Task};
use ermine_core::metric::Weights;
use ermine_core::metric::confusion::{Average, Rates};
use ermine_core::metric::probability::{Bin, calibration};
use ermine_core::metric::ranking::{Gain, ndcg};
use ermine_core::model::{Certificate, Model, Prediction};
use ermine_core::param::Value;
use ermine_core::progress::Observer;
use ermine_core::rng::{self, Purpose};
use ermine_core::table::{Column, Table};
use serde::Serialize;
use std::collections::BTreeMap;

/// Maximum number of classes with their own curves.
const MOST_CURVES: usize = 8;

/// Maximum number of rows for importances and partial dependence, which predict many times.
const MOST_ROWS: usize = 5000;
/// Number of permutations per column.
const N_REPEATS: usize = 3;
/// Number of columns with a partial dependence plot, and number of its values.
const N_DEPENDENCES: usize = 4;
const N_VALUES: usize = 25;
/// Number of worst rows that are listed.
const N_WORST: usize = 10;
/// Maximum number of points of a curve.
const MOST_POINTS: usize = 400;
/// Training set sizes of the learning curve, as fractions of the rows.
pub const SHARES: [f64; 6] = [0.05, 0.1, 0.25, 0.5, 0.75, 1.0];
/// A report on a model and some rows.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The learner.
    pub learner: String,
    /// Its parameters.
    pub params: BTreeMap<String, Value>,
    /// Those of its parameters that are not its defaults.
    #[serde(skip)]
    pub changed_params: BTreeMap<String, Value>,
    /// Number of training rows.
    pub n_trained: usize,
    /// The target.
    pub target: Vec<String>,
    /// The task.
    pub task: Task,
    /// The certificate.
    pub certificate: Certificate,
    /// How these rows differ from the training data: unknown categories, other types, numbers outside the range; a sentence each.
    pub differences: Vec<String>,
    /// The columns of the test set.
    pub columns: Vec<ColumnFacts>,
    /// The scores, with intervals and explanations, and the confusion matrix.
    pub evaluation: Evaluation,
    /// The averages of precision, recall and F1 over classes, where there are classes: micro, macro, weighted.
    pub averages: Option<[Rates; 3]>,
    /// ROC and precision-recall curves, by class.
    pub curves: Vec<ClassCurves>,
    /// The calibration curve, if the model predicts probabilities.
    pub calibration: Vec<Bin>,
    /// (predicted, true) of some rows, for regression.
    pub scatter: Vec<(f64, f64)>,
    /// The learning curve of the first score, if the training set is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub learning: Vec<CurvePoint>,
    /// Permutation importances of the columns for the first score, the most important first.
    pub importances: Vec<Importance>,
    /// Partial dependence on the most important columns.
    pub dependences: Vec<Dependence>,
    /// The rows with the worst predictions.
    pub worst: Vec<WorstRow>,
    /// The model as text.
    pub model: String,
    /// The model as a picture.
    #[serde(skip)]
    pub picture: Option<String>,
}

/// Summary of a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnFacts {
    /// Its name.
    pub name: String,
    /// The kind of its values.
    pub kind: &'static str,
    /// Number of missing values.
    pub n_missing: usize,
    /// Minimum, mean and maximum.
    pub range: Option<(f64, f64, f64)>,
    /// Number of categories, and the most frequent one.
    pub categories: Option<(usize, String)>,
}

/// The curves of one class against the others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassCurves {
    /// The class.
    pub class: String,
    /// (false positive rate, true positive rate).
    pub roc: Vec<(f64, f64)>,
    /// (recall, precision).
    pub precision_recall: Vec<(f64, f64)>,
}

/// A row with a bad prediction, or a query with a bad ranking.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorstRow {
    /// Number of the row or query, from 1.
    pub row: usize,
    /// The true value; for a query, its number of rows.
    pub truth: String,
    /// The prediction; for a query, its number of relevant rows.
    pub predicted: String,
    /// The probability of the true class, the error, the number of wrong labels, or the NDCG of a query.
    pub score: f64,
    /// The values of the most important columns.
    pub values: Vec<(String, String)>,
}

/// The parameters of a model that are not the defaults of its learner.
fn changed_params(model: &Model) -> BTreeMap<String, Value> {
    let header = model.header();
    let specs = model.registry().learner(&header.learner).map(|learner| learner.specs()).unwrap_or_default();
    let is_default = |name: &str, value: &Value| specs.iter().any(|s| s.name == name && s.default == *value);
    let changed = header.params.iter().filter(|(name, value)| !is_default(name, value));
    changed.map(|(name, value)| (name.clone(), value.clone())).collect()
}

impl Report {
    /// Evaluates a model on a test set, which should not overlap the training set.
    pub fn new(model: &Model, data: &Dataset, seed: u64, observer: &dyn Observer) -> Result<Report> {
        let data = in_classes_of(model, data)?;
        let prediction = predict_classes_of(model, &data)?;
        let unseen = UnseenClasses::new(model, &data);
        let evaluation = Evaluation { unseen, ..Evaluation::new(&prediction, &data)? };
        let outcome = Outcome::new(&prediction, &data)?;
        let weights = Weights::from(data.weight());
        let some = data.select(&some_rows(data.n_rows(), seed))?;
        let measure = Measure::headline(data.task(), None)[0];
        let mut importances = permutation_importances(model, &some, measure, N_REPEATS, seed, observer)?;
        importances.sort_by(|a, b| b.loss.total_cmp(&a.loss));
        let used = importances.iter().filter(|i| i.loss > 0.0).take(N_DEPENDENCES);
        let dependences =
            used.map(|i| partial_dependence(model, &some, &i.feature, N_VALUES, 30)).collect::<Result<_>>()?;
        let of = |average| evaluation.confusion.as_ref().map(|c| c.average(average));
        let header = model.header();
        let table = Table::new(data.features().columns().to_vec())?;
        let table = data.features().rows().map_or(table.clone(), |rows| table.select(rows));
        Ok(Report {
            learner: header.learner.clone(),
            params: header.params.clone(),
            changed_params: changed_params(model),
            n_trained: header.n_rows,
            target: header.schema.target.clone(),
            task: data.task(),
            certificate: header.certificate.clone(),
            differences: TableDifferences::new(&header.schema, &table).warnings(),
            columns: (0..data.features().n_columns()).map(|j| facts(&data, j)).collect(),
            averages: of(Average::Micro)
                .zip(of(Average::Macro))
                .zip(of(Average::Weighted))
                .map(|((a, b), c)| [a, b, c]),
            curves: curves(&outcome, &prediction, weights),
            calibration: outcome
                .certainty()
                .map_or_else(Vec::new, |c| calibration(&c.probability, &c.happened, CALIBRATION_BINS, weights)),
            scatter: scatter(&prediction, &data),
            learning: Vec::new(),
            worst: worst(&prediction, &data, &importances),
            importances,
            dependences,
            evaluation,
            model: model.text(),
            picture: model.svg(),
        })
    }
}

impl Report {
    /// The same with a learning curve: the learner is trained on fractions of the training set and evaluated on the test set.
    pub fn with_learning_curve(
        mut self,
        model: &Model,
        train: &Dataset,
        test: &Dataset,
        context: &Context<'_>,
    ) -> Result<Report> {
        let mut learner = context.registry.learner(&model.header().learner)?;
        model.header().params.iter().try_for_each(|(name, value)| learner.set(name, value))?;
        let measure = Measure::headline(test.task(), None)[0];
        self.learning = learning_curve_on(&*learner, train, test, measure, &SHARES, context)?;
        Ok(self)
    }
}

fn some_rows(n: usize, seed: u64) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..n as u32).collect();
    if n > MOST_ROWS {
        rng::shuffle(&mut Purpose::ReportRows.stream(seed, &[]), &mut rows);
        rows.truncate(MOST_ROWS);
        rows.sort_unstable();
    }
    rows
}

fn facts(data: &Dataset, j: usize) -> ColumnFacts {
    let column: &Column = &data.features().columns()[j];
    let numbers = data.features().numbers(j);
    let present: Vec<f64> = numbers.iter().copied().filter(|x| !x.is_nan()).collect();
    let mut facts = ColumnFacts {
        name: column.name.clone(),
        kind: column.kind.as_str(),
        n_missing: numbers.len() - present.len(),
        range: None,
        categories: None,
    };
    match column.levels() {
        Some(levels) => {
            let mut counts = vec![0usize; levels.len()];
            present.iter().for_each(|&code| counts[code as usize] += 1);
            let most = (0..counts.len()).max_by_key(|&k| (counts[k], std::cmp::Reverse(k)));
            let name = most.and_then(|k| levels.name(k as u32)).unwrap_or_default().to_string();
            facts.categories = Some((counts.iter().filter(|&&c| c > 0).count(), name));
        }
        None if !present.is_empty() => {
            let least = present.iter().copied().fold(f64::INFINITY, f64::min);
            let greatest = present.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            facts.range = Some((least, present.iter().sum::<f64>() / present.len() as f64, greatest));
        }
        None => {}
    }
    facts
}

fn curves(outcome: &Outcome<'_>, prediction: &Prediction, weights: Weights<'_>) -> Vec<ClassCurves> {
    let classes = prediction.classes();
    let ranked = outcome.ranked();
    // For two classes the curve of the second is enough.
    let class = |i: usize| if ranked.len() == 1 { classes[1].clone() } else { classes[i].clone() };
    let each = ranked.iter().enumerate().map(|(i, r)| ClassCurves {
        class: class(i),
        roc: thinned(r.roc(weights)),
        precision_recall: thinned(r.precision_recall(weights)),
    });
    each.filter(|c| !c.roc.is_empty()).collect()
}

/// A curve with a limited number of points, including both ends.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let step = points.len().div_ceil(MOST_POINTS).max(1);
    let last = points.len().saturating_sub(1);
    points.into_iter().enumerate().filter(|(i, _)| i % step == 0 || *i == last).map(|(_, p)| p).collect()
}

fn scatter(prediction: &Prediction, data: &Dataset) -> Vec<(f64, f64)> {
    match data.target() {
        Target::Values { values, n_outputs: 1 } if data.task() == Task::Regression => {
            let step = values.len().div_ceil(2000).max(1);
            (0..values.len()).step_by(step).map(|i| (prediction.values()[i], values[i])).collect()
        }
        _ => Vec::new(),
    }
}

fn worst(prediction: &Prediction, data: &Dataset, importances: &[Importance]) -> Vec<WorstRow> {
    let n = data.n_rows();
    let named = |row: usize| -> Vec<(String, String)> {
        let value = |feature: &String| {
            let column = data.features().columns().iter().find(|c| c.name == *feature)?;
            Some((feature.clone(), column.text(data.features().table_row(row))))
        };
        importances.iter().take(4).filter_map(|i| value(&i.feature)).collect()
    };
    if data.task() == Task::Ranking {
        return worst_queries(prediction, data);
    }
    // (error, columns of the table); higher is worse.
    let scored = |row: usize| -> Option<(f64, f64, String, String)> {
        match data.target() {
            Target::Classes { codes, labels } => {
                let truth = codes[row] as usize;
                let wrong = prediction.class(row) != truth;
                let p = prediction.probabilities(row).map(|p| p[truth]);
                let predicted = prediction.label(row).unwrap_or_default().to_string();
                wrong.then(|| (1.0 - p.unwrap_or(0.0), p.unwrap_or(f64::NAN), labels[truth].clone(), predicted))
            }
            Target::Values { values, n_outputs } if data.task() == Task::Multilabel => {
                let names = prediction.classes();
                let is: Vec<bool> = values[row * n_outputs..][..*n_outputs].iter().map(|&v| v == 1.0).collect();
                let n_wrong = (0..*n_outputs).filter(|&k| is[k] != prediction.has(row, k)).count() as f64;
                let listed = |has: &dyn Fn(usize) -> bool| {
                    let some: Vec<&str> = (0..*n_outputs).filter(|&k| has(k)).map(|k| names[k].as_str()).collect();
                    if some.is_empty() { "(none)".to_string() } else { some.join("; ") }
                };
                (n_wrong > 0.0).then(|| (n_wrong, n_wrong, listed(&|k| is[k]), listed(&|k| prediction.has(row, k))))
            }
            Target::Values { values, n_outputs: 1 } => {
                let (predicted, truth) = (prediction.values()[row], values[row]);
                Some((
                    (predicted - truth).abs(),
                    predicted - truth,
                    truth.to_string(),
                    ermine_core::chart::text::number(predicted),
                ))
            }
            Target::Values { .. } => None,
        }
    };
    let mut rows: Vec<(usize, (f64, f64, String, String))> =
        (0..n).filter_map(|row| Some((row, scored(row)?))).collect();
    rows.sort_by(|a, b| b.1.0.total_cmp(&a.1.0));
    rows.truncate(N_WORST);
    let worst_row =
        |(row, (_, score, truth, predicted))| WorstRow { row: row + 1, truth, predicted, score, values: named(row) };
    rows.into_iter().map(worst_row).collect()
}

/// The queries with the worst rankings: number of rows, number of relevant rows, NDCG@10.
fn worst_queries(prediction: &Prediction, data: &Dataset) -> Vec<WorstRow> {
    let Ok(grades) = data.grades() else { return Vec::new() };
    let queries = data.queries();
    let scored = |(query, rows): (usize, &Vec<u32>)| {
        let of = |from: &[f64]| rows.iter().map(|&row| from[row as usize]).collect::<Vec<f64>>();
        let (scores, grades) = (of(prediction.values()), of(grades));
        let relevant = grades.iter().filter(|g| **g > 0.0).count();
        // A query without relevant rows can't be ordered well.
        (relevant > 0).then(|| WorstRow {
            row: query + 1,
            truth: rows.len().to_string(),
            predicted: relevant.to_string(),
            score: ndcg(&scores, &grades, 10, Gain::Exponential),
            values: Vec::new(),
        })
    };
    let mut worst: Vec<WorstRow> = queries.iter().enumerate().filter_map(scored).collect();
    worst.sort_by(|a, b| a.score.total_cmp(&b.score));
    worst.truncate(N_WORST);
    worst
}
