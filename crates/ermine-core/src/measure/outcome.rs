//! Predictions beside the truth: every measure, under any weights, with its interval.
//!
//! | measure | interval |
//! |---|---|
//! | a share of rows (accuracy, precision and recall of a class) | Wilson's |
//! | a mean over rows or queries (log loss, absolute error, NDCG) | from the spread over rows or queries |
//! | all others | bootstrap |
//!
//! Metrics that are undefined for some rows are listed in `undefined` with the reason.
//!
//! What is costly and not always asked for, such as rows in the order of a score, is made when it is first asked for.

use super::Measure::{self, *};
use crate::error::{Error, Result};
use crate::matrix::{Dataset, Target, Task};
use crate::metric::confusion::{Average, Confusion};
use crate::metric::interval::{Score, bootstrap, mean, mean_within, share};
use crate::metric::multilabel::{self, Counts};
use crate::metric::omega::Omega;
use crate::metric::probability::{brier_losses, calibration, calibration_error, log_losses};
use crate::metric::threshold::Ranked;
use crate::metric::{Weights, ranking, regression};
use crate::model::{Output, Prediction};
use serde::Serialize;
use std::sync::OnceLock;

/// How many places [`Measure::Ndcg`] and [`Measure::OmegaTop`] look at.
const PLACES: usize = 10;

/// Bins of the calibration error.
pub const CALIBRATION_BINS: usize = 10;

/// Predictions beside the truth, ready to be measured under any weights.
pub struct Outcome<'a> {
    kind: Kind<'a>,
    /// Rows, or queries.
    n_units: usize,
    weights: Option<Vec<f64>>,
}

/// Scores and grades of the rows of a query.
type Query = (Vec<f64>, Vec<f64>);

enum Kind<'a> {
    Classes(Classes<'a>),
    Values { truth: &'a [f64], predicted: &'a [f64], n_outputs: usize },
    Queries(Vec<Query>),
    Labels { truth: Vec<bool>, predicted: Vec<bool>, n_labels: usize },
}

struct Classes<'a> {
    truth: &'a [u32],
    predicted: Vec<u32>,
    prediction: &'a Prediction,
    /// For each class that can be told from the others by a score, the rows in its order: one of two, all of more.
    ranked: OnceLock<Vec<Ranked>>,
    certainty: OnceLock<Option<Certainty>>,
}

/// What is said to happen with which probability, and whether it did: that a row is of the second of two classes, or that the class predicted is right.
pub struct Certainty {
    /// The probability.
    pub probability: Vec<f64>,
    /// Whether it happened.
    pub happened: Vec<bool>,
}

/// How well a class or a label is found, with intervals.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassScore {
    /// The class or label.
    pub name: String,
    /// The weight of its rows.
    pub rows: f64,
    /// Of what is predicted as it, the share that is of it.
    pub precision: Score,
    /// Of what is of it, the share that is predicted as it.
    pub recall: Score,
    /// The harmonic mean of both.
    pub f1: Score,
}

impl<'a> Outcome<'a> {
    /// Puts predictions beside the truth in `data`.
    pub fn new(prediction: &'a Prediction, data: &'a Dataset) -> Result<Outcome<'a>> {
        let n = data.n_rows();
        if n == 0 {
            return Err(Error::data("there are no rows to evaluate on"));
        }
        if (0..n).all(|row| data.row_weight(row) == 0.0) {
            return Err(Error::data("all rows to evaluate on have weight zero"));
        }
        let weights = data.weight().map(<[f64]>::to_vec);
        Ok(match data.target() {
            Target::Classes { codes, .. } => {
                Outcome { kind: Kind::Classes(Classes::new(prediction, codes)), n_units: n, weights }
            }
            Target::Values { values, .. } if data.task() == Task::Ranking => {
                let (queries, weights) = queries(prediction.values(), values, data);
                Outcome { n_units: queries.len(), kind: Kind::Queries(queries), weights }
            }
            Target::Values { values, n_outputs } if data.task() == Task::Multilabel => {
                let marks = |row: usize| (0..*n_outputs).map(move |label| prediction.has(row, label));
                let predicted = (0..n).flat_map(marks).collect();
                let truth = values.iter().map(|&v| v == 1.0).collect();
                Outcome { kind: Kind::Labels { truth, predicted, n_labels: *n_outputs }, n_units: n, weights }
            }
            Target::Values { values, n_outputs } => Outcome {
                kind: Kind::Values { truth: values, predicted: prediction.values(), n_outputs: *n_outputs },
                n_units: n,
                weights,
            },
        })
    }

    fn task(&self) -> Task {
        match &self.kind {
            Kind::Classes(_) => Task::Classification,
            Kind::Values { .. } => Task::Regression,
            Kind::Queries(_) => Task::Ranking,
            Kind::Labels { .. } => Task::Multilabel,
        }
    }

    fn weights(&self) -> Weights<'_> {
        Weights::from(self.weights.as_deref())
    }

    /// The measures without intervals; NaN where one can't be told (no probabilities, one class only).
    pub fn values(&self, measures: &[Measure]) -> Vec<f64> {
        self.kind.values(measures, self.weights())
    }

    /// The measures with their intervals, of those that can be told.
    pub fn scores(&self, measures: &[Measure]) -> Vec<(Measure, Score)> {
        let by_rows = |measure: &Measure| self.kind.by_rows(*measure, self.weights());
        let hard: Vec<Measure> = measures.iter().copied().filter(|m| by_rows(m).is_none()).collect();
        let drawn = match hard.is_empty() {
            true => Vec::new(),
            false => bootstrap(self.n_units, self.weights(), |w| self.kind.values(&hard, w)),
        };
        let score = |measure: &Measure| {
            let place = hard.iter().position(|h| h == measure);
            (*measure, by_rows(measure).unwrap_or_else(|| drawn[place.unwrap_or(0)]))
        };
        measures.iter().map(score).filter(|(_, score)| !score.value.is_nan()).collect()
    }

    /// The confusion matrix, where classes are predicted.
    pub fn confusion(&self) -> Option<Confusion> {
        self.kind.confusion(self.weights())
    }

    /// How well each class or label is found. Precision and recall are shares of rows; F1 has a bootstrap interval.
    pub fn class_scores(&self, names: &[String]) -> Vec<ClassScore> {
        let n = self.n_units;
        let has: Box<dyn Fn(usize, usize) -> (bool, bool) + '_> = match &self.kind {
            Kind::Classes(c) => Box::new(move |row, k| (c.truth[row] as usize == k, c.predicted[row] as usize == k)),
            Kind::Labels { truth, predicted, n_labels } => {
                Box::new(move |row, k| (truth[row * n_labels + k], predicted[row * n_labels + k]))
            }
            _ => return Vec::new(),
        };
        let f1s = bootstrap(n, self.weights(), |w| self.kind.counts(names.len(), w).iter().map(Counts::f1).collect());
        // The share of hits among the rows that are, or are said to be, of the class; nothing is known of none.
        let hits_among = |k: usize, counted: &dyn Fn((bool, bool)) -> bool| {
            let rows: Vec<usize> = (0..n).filter(|&row| counted(has(row, k))).collect();
            let weights: Vec<f64> = rows.iter().map(|&row| self.weights().of(row)).collect();
            if weights.iter().all(|w| *w == 0.0) {
                return Score { value: 0.0, low: 0.0, high: 1.0 };
            }
            share(rows.iter().map(|&row| has(row, k) == (true, true)), Weights::from(&weights[..]))
        };
        let counts = self.kind.counts(names.len(), self.weights());
        let score = |(k, name): (usize, &String)| ClassScore {
            name: name.clone(),
            rows: counts[k].actual,
            precision: hits_among(k, &|(_, said)| said),
            recall: hits_among(k, &|(is, _)| is),
            f1: f1s[k],
        };
        names.iter().enumerate().map(score).collect()
    }

    /// What is said to happen with which probability, where probabilities are predicted.
    pub fn certainty(&self) -> Option<&Certainty> {
        if let Kind::Classes(classes) = &self.kind { classes.certainty() } else { None }
    }

    /// The rows in the order of the score of a class: of the second of two classes, or of each of more.
    pub fn ranked(&self) -> &[Ranked] {
        if let Kind::Classes(classes) = &self.kind { classes.ranked() } else { &[] }
    }
}

impl<'a> Classes<'a> {
    fn new(prediction: &'a Prediction, truth: &'a [u32]) -> Classes<'a> {
        let predicted = (0..truth.len()).map(|row| prediction.class(row) as u32).collect();
        Classes { truth, predicted, prediction, ranked: OnceLock::new(), certainty: OnceLock::new() }
    }

    fn n_classes(&self) -> usize {
        self.prediction.classes().len()
    }

    /// What is predicted for a class, row by row.
    fn column(&self, class: usize) -> Vec<f64> {
        let place = class.min(self.prediction.width() - 1);
        (0..self.truth.len()).map(|row| self.prediction.row(row)[place]).collect()
    }

    fn ranked(&self) -> &[Ranked] {
        let of =
            |class: usize| Ranked::new(&self.column(class), self.truth.iter().map(|&c| c as usize == class).collect());
        self.ranked.get_or_init(|| match self.n_classes() {
            0 | 1 => Vec::new(),
            2 => vec![of(1)],
            k => (0..k).map(of).collect(),
        })
    }

    fn has_probabilities(&self) -> bool {
        self.prediction.output() == Output::Probabilities && self.n_classes() > 1
    }

    fn certainty(&self) -> Option<&Certainty> {
        let made = self.certainty.get_or_init(|| {
            self.has_probabilities().then(|| match self.n_classes() {
                2 => Certainty { probability: self.column(1), happened: self.truth.iter().map(|&c| c == 1).collect() },
                _ => {
                    let said = self.predicted.iter().enumerate();
                    Certainty {
                        probability: said.map(|(row, &class)| self.prediction.row(row)[class as usize]).collect(),
                        happened: self.predicted.iter().zip(self.truth).map(|(said, is)| said == is).collect(),
                    }
                }
            })
        });
        made.as_ref()
    }

    fn log_losses(&self) -> impl ExactSizeIterator<Item = f64> + Clone + '_ {
        log_losses(self.prediction.values(), self.prediction.width(), self.truth)
    }

    fn brier_losses(&self) -> impl ExactSizeIterator<Item = f64> + Clone + '_ {
        brier_losses(self.prediction.values(), self.prediction.width(), self.truth)
    }

    fn value(&self, measure: Measure, confusion: &Confusion, weights: Weights<'_>) -> f64 {
        // A class that has no rows under these weights can't be told from others, and is left out of the mean.
        let over_classes = |score: &dyn Fn(&Ranked) -> Option<f64>| {
            let told: Vec<f64> = self.ranked().iter().filter_map(score).collect();
            told.iter().sum::<f64>() / told.len() as f64
        };
        match measure {
            Accuracy => confusion.accuracy(),
            ErrorRate => 1.0 - confusion.accuracy(),
            BalancedAccuracy => confusion.balanced_accuracy(),
            MacroPrecision => confusion.average(Average::Macro).precision,
            MacroRecall => confusion.average(Average::Macro).recall,
            MacroF1 => confusion.average(Average::Macro).f1,
            WeightedPrecision => confusion.average(Average::Weighted).precision,
            WeightedRecall => confusion.average(Average::Weighted).recall,
            WeightedF1 => confusion.average(Average::Weighted).f1,
            Matthews => confusion.matthews(),
            Kappa => confusion.kappa(),
            RocAuc => over_classes(&|ranked| ranked.roc_auc(weights)),
            // Where all rows are to be found, that they are says nothing.
            AveragePrecision => {
                over_classes(&|ranked| ranked.average_precision(weights).filter(|_| ranked.tells_apart(weights)))
            }
            LogLoss if self.has_probabilities() => weights.mean(self.log_losses()),
            Brier if self.has_probabilities() => weights.mean(self.brier_losses()),
            CalibrationError => self.certainty().map_or(f64::NAN, |c| {
                calibration_error(&calibration(&c.probability, &c.happened, CALIBRATION_BINS, weights))
            }),
            _ => f64::NAN,
        }
    }
}

impl Kind<'_> {
    fn confusion(&self, weights: Weights<'_>) -> Option<Confusion> {
        let Kind::Classes(classes) = self else { return None };
        Some(Confusion::new(classes.truth, &classes.predicted, classes.prediction.classes(), weights))
    }

    /// How much of each of `n` classes or labels is right, true and predicted.
    fn counts(&self, n: usize, weights: Weights<'_>) -> Vec<Counts> {
        match self {
            Kind::Classes(c) => multilabel::counts_of_classes(c.truth, &c.predicted, n, weights),
            Kind::Labels { truth, predicted, .. } => multilabel::counts(truth, predicted, n, weights),
            _ => vec![Counts::default(); n],
        }
    }

    /// Measures that are shares or means over rows, whose interval follows from the rows.
    fn by_rows(&self, measure: Measure, weights: Weights<'_>) -> Option<Score> {
        match (self, measure) {
            (Kind::Classes(c), Accuracy) => Some(share(c.truth.iter().zip(&c.predicted).map(|(t, p)| t == p), weights)),
            (Kind::Classes(c), ErrorRate) => {
                Some(share(c.truth.iter().zip(&c.predicted).map(|(t, p)| t != p), weights))
            }
            (Kind::Classes(c), LogLoss) if c.has_probabilities() => Some(mean(c.log_losses(), weights)),
            (Kind::Classes(c), Brier) if c.has_probabilities() => {
                // Of two classes the error of one probability, of more the sum over all of them.
                let most = if c.n_classes() == 2 { 1.0 } else { 2.0 };
                Some(mean_within(c.brier_losses(), weights, 0.0, most))
            }
            (Kind::Values { truth, predicted, n_outputs }, Mae) => {
                Some(mean(regression::absolute_errors(predicted, truth, *n_outputs), weights))
            }
            (Kind::Labels { truth, predicted, n_labels }, SubsetAccuracy) => {
                Some(share(multilabel::exact(truth, predicted, *n_labels), weights))
            }
            (Kind::Labels { truth, predicted, n_labels }, HammingLoss) => {
                Some(mean_within(multilabel::wrong_shares(truth, predicted, *n_labels), weights, 0.0, 1.0))
            }
            (Kind::Queries(queries), _) => Some(over_queries(measure, queries, weights)),
            _ => None,
        }
    }

    fn values(&self, measures: &[Measure], weights: Weights<'_>) -> Vec<f64> {
        let each = |value: &dyn Fn(Measure) -> f64| measures.iter().map(|measure| value(*measure)).collect();
        match self {
            Kind::Classes(classes) => {
                let confusion =
                    Confusion::new(classes.truth, &classes.predicted, classes.prediction.classes(), weights);
                each(&|measure| classes.value(measure, &confusion, weights))
            }
            Kind::Values { truth, predicted, n_outputs } => {
                each(&|measure| of_numbers(measure, predicted, truth, *n_outputs, weights))
            }
            Kind::Queries(queries) => each(&|measure| over_queries(measure, queries, weights).value),
            Kind::Labels { n_labels, .. } => {
                let counts = self.counts(*n_labels, weights);
                let by_rows = |measure| self.by_rows(measure, weights).map_or(f64::NAN, |score| score.value);
                each(&|measure| of_labels(measure, &counts).unwrap_or_else(|| by_rows(measure)))
            }
        }
    }
}

fn of_labels(measure: Measure, counts: &[Counts]) -> Option<f64> {
    Some(match measure {
        MicroPrecision => multilabel::together(counts).precision(),
        MicroRecall => multilabel::together(counts).recall(),
        MicroF1 => multilabel::together(counts).f1(),
        MacroPrecision => multilabel::macro_average(counts, Counts::precision),
        MacroRecall => multilabel::macro_average(counts, Counts::recall),
        MacroF1 => multilabel::macro_average(counts, Counts::f1),
        _ => return None,
    })
}

/// The mean over the queries that have the measure; NaN where none has.
fn over_queries(measure: Measure, queries: &[Query], weights: Weights<'_>) -> Score {
    let omega =
        |scores: &[f64], grades: &[f64], omega: Omega| ranking::omega_loss(scores, &ranking::places(grades), &omega);
    let of = |(scores, grades): &Query| match measure {
        Ndcg => Some(ranking::ndcg(scores, grades, PLACES, ranking::Gain::Exponential)),
        NdcgOne => Some(ranking::ndcg(scores, grades, 1, ranking::Gain::Exponential)),
        NdcgThree => Some(ranking::ndcg(scores, grades, 3, ranking::Gain::Exponential)),
        NdcgFive => Some(ranking::ndcg(scores, grades, 5, ranking::Gain::Exponential)),
        NdcgTwenty => Some(ranking::ndcg(scores, grades, 20, ranking::Gain::Exponential)),
        NdcgAll => Some(ranking::ndcg(scores, grades, usize::MAX, ranking::Gain::Exponential)),
        Map => Some(ranking::average_precision(scores, grades)),
        Mrr => Some(ranking::reciprocal_rank(scores, grades)),
        RocAuc => ranking::roc_auc(scores, grades),
        KendallTau => Some(ranking::kendall_tau(scores, grades)),
        OmegaLoss => Some(omega(scores, grades, Omega::AllPairs)),
        OmegaTop => Some(omega(scores, grades, Omega::Top(PLACES))),
        OmegaDcg => Some(omega(scores, grades, Omega::Dcg)),
        _ => None,
    };
    let told: Vec<(usize, f64)> = queries.iter().enumerate().filter_map(|(q, query)| Some((q, of(query)?))).collect();
    let of_told: Vec<f64> = told.iter().map(|(q, _)| weights.of(*q)).collect();
    let least = if measure == KendallTau { -1.0 } else { 0.0 };
    mean_within(told.iter().map(|(_, value)| *value), Weights::from(&of_told[..]), least, 1.0)
}

fn of_numbers(measure: Measure, predicted: &[f64], truth: &[f64], n_outputs: usize, weights: Weights<'_>) -> f64 {
    let deviance = |power: f64| match n_outputs {
        1 => regression::deviances(predicted, truth, power).map_or(f64::NAN, |d| weights.mean(d.into_iter())),
        _ => f64::NAN,
    };
    let pinball = |level: f64| weights.mean(regression::pinball_losses(predicted, truth, n_outputs, level));
    match measure {
        Mse => regression::mse(predicted, truth, n_outputs, weights),
        Rmse => regression::rmse(predicted, truth, n_outputs, weights),
        Mae => weights.mean(regression::absolute_errors(predicted, truth, n_outputs)),
        MedianError => regression::median_absolute_error(predicted, truth, n_outputs, weights),
        Mape => weights.mean(regression::absolute_percentage_errors(predicted, truth, n_outputs)),
        Rmsle => regression::rmsle(predicted, truth, n_outputs, weights),
        R2 => regression::r2(predicted, truth, n_outputs, weights),
        PinballLow => pinball(0.1),
        PinballMiddle => pinball(0.5),
        PinballHigh => pinball(0.9),
        PoissonDeviance => deviance(1.0),
        GammaDeviance => deviance(2.0),
        TweedieDeviance => deviance(1.5),
        _ => f64::NAN,
    }
}

/// The rows of each query, and its weight: that of its first row. Without queries all rows are one.
fn queries(scores: &[f64], grades: &[f64], data: &Dataset) -> (Vec<Query>, Option<Vec<f64>>) {
    let queries = data.queries();
    let of = |rows: &Vec<u32>, from: &[f64]| rows.iter().map(|&row| from[row as usize]).collect::<Vec<f64>>();
    let weights = data.weight().map(|w| queries.iter().map(|rows| w[rows[0] as usize]).collect());
    (queries.iter().map(|rows| (of(rows, scores), of(rows, grades))).collect(), weights)
}

pub mod undefined;

#[cfg(test)]
mod tests;
