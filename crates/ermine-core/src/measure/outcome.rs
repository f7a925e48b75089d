//! Metrics of predictions and targets, with sample weights and confidence intervals.
//!
//! | metric | interval |
//! |---|---|
//! | a share of rows (accuracy, precision and recall of a class) | Wilson |
//! | a mean over rows or queries (log loss, absolute error, NDCG) | normal approximation |
//! | all others | bootstrap |
//!
//! Metrics that are undefined for some rows are listed in `undefined` with the reason.
//!
//! Expensive intermediate results, such as rows sorted by score, are computed on first use.

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

/// Number of positions of [`Measure::Ndcg`] and [`Measure::OmegaTop`].
const PLACES: usize = 10;

/// Number of bins of the calibration error.
pub const CALIBRATION_BINS: usize = 10;

/// Predictions and targets, ready to compute metrics with any weights.
pub struct Outcome<'a> {
    kind: OutcomeKind<'a>,
    /// Number of rows, or of queries.
    n_units: usize,
    weights: Option<Vec<f64>>,
}

/// Scores and grades of the rows of a query.
type QueryScores = (Vec<f64>, Vec<f64>);

enum OutcomeKind<'a> {
    Classes(ClassPredictions<'a>),
    Values { truth: &'a [f64], predicted: &'a [f64], n_outputs: usize },
    Queries(Vec<QueryScores>),
    Labels { truth: Vec<bool>, predicted: Vec<bool>, n_labels: usize },
}

struct ClassPredictions<'a> {
    truth: &'a [u32],
    predicted: Vec<u32>,
    prediction: &'a Prediction,
    /// Rows sorted by the score of each class; with two classes, only of the second.
    ranked: OnceLock<Vec<Ranked>>,
    certainty: OnceLock<Option<PredictedEvents>>,
}

/// Predicted probabilities of an event and whether it happened: that a row belongs to the second of two classes or, with more classes, that the predicted class is correct.
pub struct PredictedEvents {
    /// Predicted probabilities.
    pub probability: Vec<f64>,
    /// Whether the event happened.
    pub happened: Vec<bool>,
}

/// Precision, recall and F1 of a class or label, with intervals.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassScore {
    /// The class or label.
    pub name: String,
    /// Total weight of its rows (support).
    pub rows: f64,
    /// Precision.
    pub precision: Score,
    /// Recall.
    pub recall: Score,
    /// F1 score.
    pub f1: Score,
}

impl<'a> Outcome<'a> {
    /// Compares predictions with the target of `data`.
    pub fn new(prediction: &'a Prediction, data: &'a Dataset) -> Result<Outcome<'a>> {
        let n = data.n_rows();
        if n == 0 {
            return Err(Error::data("the test set has no rows"));
        }
        if (0..n).all(|row| data.row_weight(row) == 0.0) {
            return Err(Error::data("all rows of the test set have weight zero"));
        }
        let weights = data.weight().map(<[f64]>::to_vec);
        Ok(match data.target() {
            Target::Classes { codes, .. } => {
                Outcome { kind: OutcomeKind::Classes(ClassPredictions::new(prediction, codes)), n_units: n, weights }
            }
            Target::Values { values, .. } if data.task() == Task::Ranking => {
                let (queries, weights) = queries(prediction.values(), values, data);
                Outcome { n_units: queries.len(), kind: OutcomeKind::Queries(queries), weights }
            }
            Target::Values { values, n_outputs } if data.task() == Task::Multilabel => {
                let marks = |row: usize| (0..*n_outputs).map(move |label| prediction.has(row, label));
                let predicted = (0..n).flat_map(marks).collect();
                let truth = values.iter().map(|&v| v == 1.0).collect();
                Outcome { kind: OutcomeKind::Labels { truth, predicted, n_labels: *n_outputs }, n_units: n, weights }
            }
            Target::Values { values, n_outputs } => Outcome {
                kind: OutcomeKind::Values { truth: values, predicted: prediction.values(), n_outputs: *n_outputs },
                n_units: n,
                weights,
            },
        })
    }

    fn task(&self) -> Task {
        match &self.kind {
            OutcomeKind::Classes(_) => Task::Classification,
            OutcomeKind::Values { .. } => Task::Regression,
            OutcomeKind::Queries(_) => Task::Ranking,
            OutcomeKind::Labels { .. } => Task::Multilabel,
        }
    }

    fn weights(&self) -> Weights<'_> {
        Weights::from(self.weights.as_deref())
    }

    /// Metrics without intervals; NaN if undefined (no probabilities, only one class).
    pub fn values(&self, measures: &[Measure]) -> Vec<f64> {
        self.kind.values(measures, self.weights())
    }

    /// Defined metrics with intervals.
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

    /// The confusion matrix, for classification.
    pub fn confusion(&self) -> Option<Confusion> {
        self.kind.confusion(self.weights())
    }

    /// Precision, recall and F1 of each class or label. Precision and recall have Wilson intervals, F1 a bootstrap interval.
    pub fn class_scores(&self, names: &[String]) -> Vec<ClassScore> {
        let n = self.n_units;
        let has: Box<dyn Fn(usize, usize) -> (bool, bool) + '_> = match &self.kind {
            OutcomeKind::Classes(c) => {
                Box::new(move |row, k| (c.truth[row] as usize == k, c.predicted[row] as usize == k))
            }
            OutcomeKind::Labels { truth, predicted, n_labels } => {
                Box::new(move |row, k| (truth[row * n_labels + k], predicted[row * n_labels + k]))
            }
            _ => return Vec::new(),
        };
        let f1s = bootstrap(n, self.weights(), |w| self.kind.counts(names.len(), w).iter().map(Counts::f1).collect());
        // The share of hits among the rows that have, or are predicted to have, the class; 0 with interval 0 to 1 if there are none.
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
            precision: hits_among(k, &|(_, predicted)| predicted),
            recall: hits_among(k, &|(is, _)| is),
            f1: f1s[k],
        };
        names.iter().enumerate().map(score).collect()
    }

    /// Predicted probabilities and outcomes, if the model predicts probabilities.
    pub fn certainty(&self) -> Option<&PredictedEvents> {
        if let OutcomeKind::Classes(classes) = &self.kind { classes.certainty() } else { None }
    }

    /// Rows sorted by score: by the score of the second of two classes, or by the score of each class.
    pub fn ranked(&self) -> &[Ranked] {
        if let OutcomeKind::Classes(classes) = &self.kind { classes.ranked() } else { &[] }
    }
}

impl<'a> ClassPredictions<'a> {
    fn new(prediction: &'a Prediction, truth: &'a [u32]) -> ClassPredictions<'a> {
        let predicted = (0..truth.len()).map(|row| prediction.class(row) as u32).collect();
        ClassPredictions { truth, predicted, prediction, ranked: OnceLock::new(), certainty: OnceLock::new() }
    }

    fn n_classes(&self) -> usize {
        self.prediction.classes().len()
    }

    /// The predictions for a class, row by row.
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

    fn certainty(&self) -> Option<&PredictedEvents> {
        let made = self.certainty.get_or_init(|| {
            self.has_probabilities().then(|| match self.n_classes() {
                2 => PredictedEvents {
                    probability: self.column(1),
                    happened: self.truth.iter().map(|&c| c == 1).collect(),
                },
                _ => {
                    let predicted = self.predicted.iter().enumerate();
                    PredictedEvents {
                        probability: predicted.map(|(row, &class)| self.prediction.row(row)[class as usize]).collect(),
                        happened: self
                            .predicted
                            .iter()
                            .zip(self.truth)
                            .map(|(predicted, is)| predicted == is)
                            .collect(),
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
        // Classes without rows under these weights are left out of the mean.
        let over_classes = |score: &dyn Fn(&Ranked) -> Option<f64>| {
            let defined: Vec<f64> = self.ranked().iter().filter_map(score).collect();
            defined.iter().sum::<f64>() / defined.len() as f64
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
            // If all rows are positive, average precision is not informative.
            AveragePrecision => {
                over_classes(&|ranked| ranked.average_precision(weights).filter(|_| ranked.has_both_classes(weights)))
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

impl OutcomeKind<'_> {
    fn confusion(&self, weights: Weights<'_>) -> Option<Confusion> {
        let OutcomeKind::Classes(classes) = self else { return None };
        Some(Confusion::new(classes.truth, &classes.predicted, classes.prediction.classes(), weights))
    }

    /// Counts of hits, true and predicted labels for each of `n` classes or labels.
    fn counts(&self, n: usize, weights: Weights<'_>) -> Vec<Counts> {
        match self {
            OutcomeKind::Classes(c) => multilabel::counts_of_classes(c.truth, &c.predicted, n, weights),
            OutcomeKind::Labels { truth, predicted, .. } => multilabel::counts(truth, predicted, n, weights),
            _ => vec![Counts::default(); n],
        }
    }

    /// Metrics that are shares or means over rows, whose interval is computed from the rows.
    fn by_rows(&self, measure: Measure, weights: Weights<'_>) -> Option<Score> {
        match (self, measure) {
            (OutcomeKind::Classes(c), Accuracy) => {
                Some(share(c.truth.iter().zip(&c.predicted).map(|(t, p)| t == p), weights))
            }
            (OutcomeKind::Classes(c), ErrorRate) => {
                Some(share(c.truth.iter().zip(&c.predicted).map(|(t, p)| t != p), weights))
            }
            (OutcomeKind::Classes(c), LogLoss) if c.has_probabilities() => Some(mean(c.log_losses(), weights)),
            (OutcomeKind::Classes(c), Brier) if c.has_probabilities() => {
                // With two classes the error of one probability, with more the sum over all classes.
                let most = if c.n_classes() == 2 { 1.0 } else { 2.0 };
                Some(mean_within(c.brier_losses(), weights, 0.0, most))
            }
            (OutcomeKind::Values { truth, predicted, n_outputs }, Mae) => {
                Some(mean(regression::absolute_errors(predicted, truth, *n_outputs), weights))
            }
            (OutcomeKind::Labels { truth, predicted, n_labels }, SubsetAccuracy) => {
                Some(share(multilabel::exact(truth, predicted, *n_labels), weights))
            }
            (OutcomeKind::Labels { truth, predicted, n_labels }, HammingLoss) => {
                Some(mean_within(multilabel::wrong_shares(truth, predicted, *n_labels), weights, 0.0, 1.0))
            }
            (OutcomeKind::Queries(queries), _) => Some(over_queries(measure, queries, weights)),
            _ => None,
        }
    }

    fn values(&self, measures: &[Measure], weights: Weights<'_>) -> Vec<f64> {
        let each = |value: &dyn Fn(Measure) -> f64| measures.iter().map(|measure| value(*measure)).collect();
        match self {
            OutcomeKind::Classes(classes) => {
                let confusion =
                    Confusion::new(classes.truth, &classes.predicted, classes.prediction.classes(), weights);
                each(&|measure| classes.value(measure, &confusion, weights))
            }
            OutcomeKind::Values { truth, predicted, n_outputs } => {
                each(&|measure| of_numbers(measure, predicted, truth, *n_outputs, weights))
            }
            OutcomeKind::Queries(queries) => each(&|measure| over_queries(measure, queries, weights).value),
            OutcomeKind::Labels { n_labels, .. } => {
                let counts = self.counts(*n_labels, weights);
                let by_rows = |measure| self.by_rows(measure, weights).map_or(f64::NAN, |score| score.value);
                each(&|measure| of_labels(measure, &counts).unwrap_or_else(|| by_rows(measure)))
            }
        }
    }
}

fn of_labels(measure: Measure, counts: &[Counts]) -> Option<f64> {
    Some(match measure {
        MicroPrecision => multilabel::sum_counts(counts).precision(),
        MicroRecall => multilabel::sum_counts(counts).recall(),
        MicroF1 => multilabel::sum_counts(counts).f1(),
        MacroPrecision => multilabel::macro_average(counts, Counts::precision),
        MacroRecall => multilabel::macro_average(counts, Counts::recall),
        MacroF1 => multilabel::macro_average(counts, Counts::f1),
        _ => return None,
    })
}

/// The mean over the queries for which the metric is defined; NaN if there are none.
fn over_queries(measure: Measure, queries: &[QueryScores], weights: Weights<'_>) -> Score {
    let omega =
        |scores: &[f64], grades: &[f64], omega: Omega| ranking::omega_loss(scores, &ranking::places(grades), &omega);
    let of = |(scores, grades): &QueryScores| match measure {
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
    let defined: Vec<(usize, f64)> =
        queries.iter().enumerate().filter_map(|(q, query)| Some((q, of(query)?))).collect();
    let defined_weights: Vec<f64> = defined.iter().map(|(q, _)| weights.of(*q)).collect();
    let least = if measure == KendallTau { -1.0 } else { 0.0 };
    mean_within(defined.iter().map(|(_, value)| *value), Weights::from(&defined_weights[..]), least, 1.0)
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

/// Scores and grades of each query, and its weight, which is that of its first row. Without query groups, all rows form one query.
fn queries(scores: &[f64], grades: &[f64], data: &Dataset) -> (Vec<QueryScores>, Option<Vec<f64>>) {
    let queries = data.queries();
    let of = |rows: &Vec<u32>, from: &[f64]| rows.iter().map(|&row| from[row as usize]).collect::<Vec<f64>>();
    let weights = data.weight().map(|w| queries.iter().map(|rows| w[rows[0] as usize]).collect());
    (queries.iter().map(|rows| (of(rows, scores), of(rows, grades))).collect(), weights)
}

pub mod undefined;

#[cfg(test)]
mod tests;
