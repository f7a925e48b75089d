//! The measures that users name: what each means, which way is better, and how it follows from predictions and truth.

use crate::choice;
use crate::error::{Error, Result};
use crate::matrix::{Dataset, Target, Task};
use crate::metric::confusion::{Average, Confusion};
use crate::metric::interval::{Score, bootstrap, mean, mean_within, share};
use crate::metric::omega::Omega;
use crate::metric::probability::{brier_losses, calibration, calibration_error, log_losses};
use crate::metric::threshold::Ranked;
use crate::metric::{Weights, multilabel, ranking, regression};
use crate::model::{Output, Prediction};

choice! {
    /// A measure of how good predictions are.
    pub enum Measure {
        /// The share of rows whose class is predicted right.
        Accuracy = "accuracy",
        /// The mean recall of the classes.
        BalancedAccuracy = "balanced-accuracy",
        /// The mean F1 of the classes.
        MacroF1 = "macro-f1",
        /// The mean F1 of the classes, by the weight of their rows.
        WeightedF1 = "weighted-f1",
        /// The correlation of truth and prediction.
        Matthews = "mcc",
        /// The agreement beyond chance.
        Kappa = "kappa",
        /// The mean of -ln p(true class).
        LogLoss = "log-loss",
        /// The mean squared error of the probabilities.
        Brier = "brier",
        /// The area under the ROC curve.
        RocAuc = "roc-auc",
        /// The area under the precision-recall curve.
        AveragePrecision = "average-precision",
        /// The distance of predicted from observed shares.
        CalibrationError = "ece",
        /// The root of the mean squared error.
        Rmse = "rmse",
        /// The mean absolute error.
        Mae = "mae",
        /// The median absolute error.
        MedianError = "median-ae",
        /// The share of the variance that is explained.
        R2 = "r2",
        /// The mean Poisson deviance.
        PoissonDeviance = "poisson-deviance",
        /// The mean Gamma deviance.
        GammaDeviance = "gamma-deviance",
        /// The discounted cumulative gain of the first ten.
        Ndcg = "ndcg",
        /// The mean average precision of the queries.
        Map = "map",
        /// The mean reciprocal rank of the first relevant row.
        Mrr = "mrr",
        /// Kendall's rank correlation with the grades.
        KendallTau = "kendall-tau",
        /// The share of the pairs that stand in the wrong order.
        OmegaLoss = "omega-loss",
        /// The same, where one of the two belongs among the first ten.
        OmegaTop = "omega-loss-top-10",
        /// The same, by the discounts of the places.
        OmegaDcg = "omega-loss-dcg",
        /// The share of rows whose labels are all right.
        SubsetAccuracy = "subset-accuracy",
        /// The share of rows and labels that is wrong.
        HammingLoss = "hamming-loss",
        /// The F1 of all labels taken as one.
        MicroF1 = "micro-f1",
    }
}

use Measure::*;

/// How many places [`Measure::Ndcg`] looks at.
const PLACES: usize = 10;

/// Bins of the calibration error.
pub(crate) const CALIBRATION_BINS: usize = 10;

/// All measures.
pub const MEASURES: &[Measure] = &[
    Accuracy,
    BalancedAccuracy,
    MacroF1,
    WeightedF1,
    Matthews,
    Kappa,
    LogLoss,
    Brier,
    RocAuc,
    AveragePrecision,
    CalibrationError,
    Rmse,
    Mae,
    MedianError,
    R2,
    PoissonDeviance,
    GammaDeviance,
    Ndcg,
    Map,
    Mrr,
    KendallTau,
    OmegaLoss,
    OmegaTop,
    OmegaDcg,
    SubsetAccuracy,
    HammingLoss,
    MicroF1,
];

impl Measure {
    /// The measure of this name.
    pub fn parse(word: &str) -> Result<Measure> {
        let found = MEASURES.iter().find(|measure| measure.word() == word);
        found.copied().ok_or_else(|| Error::unknown("measure", word, MEASURES.iter().map(Measure::word)))
    }

    /// The name as people write it.
    pub fn title(self) -> &'static str {
        match self {
            Accuracy => "accuracy",
            BalancedAccuracy => "balanced accuracy",
            MacroF1 => "macro F1",
            WeightedF1 => "weighted F1",
            Matthews => "MCC",
            Kappa => "kappa",
            LogLoss => "log loss",
            Brier => "Brier score",
            RocAuc => "ROC AUC",
            AveragePrecision => "average precision",
            CalibrationError => "calibration error",
            Rmse => "RMSE",
            Mae => "MAE",
            MedianError => "median error",
            R2 => "R2",
            PoissonDeviance => "Poisson deviance",
            GammaDeviance => "Gamma deviance",
            Ndcg => "NDCG@10",
            Map => "MAP",
            Mrr => "MRR",
            KendallTau => "Kendall tau",
            OmegaLoss => "omega loss",
            OmegaTop => "omega loss (top 10)",
            OmegaDcg => "omega loss (DCG)",
            SubsetAccuracy => "subset accuracy",
            HammingLoss => "Hamming loss",
            MicroF1 => "micro F1",
        }
    }

    /// What it says, in a line.
    pub fn explanation(self) -> &'static str {
        match self {
            Accuracy => "share of rows whose class is predicted right",
            BalancedAccuracy => {
                "mean over classes of the share of their rows that is found; rare classes count as much as frequent ones"
            }
            MacroF1 => "harmonic mean of precision and recall, averaged over classes or labels",
            WeightedF1 => "harmonic mean of precision and recall, averaged over classes by their rows",
            Matthews => "correlation of prediction and truth: 1 perfect, 0 like guessing",
            Kappa => "agreement beyond chance: 1 perfect, 0 like guessing",
            LogLoss => "mean of -ln p(true class): punishes sure mistakes",
            Brier => "mean squared error of the probabilities",
            RocAuc => "chance that a row of a class scores higher than a row of another: 0.5 like guessing",
            AveragePrecision => {
                "precision averaged over the rows to be found: the area under the precision-recall curve"
            }
            CalibrationError => "how far predicted probabilities are from observed shares, on average",
            Rmse => "root of the mean squared error, in the target's unit: punishes large errors",
            Mae => "mean absolute error, in the target's unit",
            MedianError => "half of the rows have a smaller error",
            R2 => "share of the variance that is explained: 1 perfect, 0 like predicting the mean",
            PoissonDeviance => "misfit of counts, relative to their size",
            GammaDeviance => "misfit of positive amounts, relative to their size",
            Ndcg => "how much of the best possible gain the first ten places hold",
            Map => "mean over queries of the precision at the relevant rows",
            Mrr => "mean over queries of 1 / place of the first relevant row",
            KendallTau => "agreement of the order with the grades: 1 the same, -1 the opposite",
            OmegaLoss => "share of the pairs of a query that stand in the wrong order",
            OmegaTop => "share of the pairs that stand in the wrong order and of which one belongs among the first ten",
            OmegaDcg => "mean cost of pairs in the wrong order, early places costing more",
            SubsetAccuracy => "share of rows whose labels are all predicted right",
            HammingLoss => "share of rows and labels that are predicted wrong",
            MicroF1 => "harmonic mean of precision and recall over all rows and labels",
        }
    }

    /// Whether higher is better.
    pub fn higher_is_better(self) -> bool {
        let losses = [LogLoss, Brier, CalibrationError, Rmse, Mae, MedianError, PoissonDeviance, GammaDeviance];
        !losses.contains(&self) && ![OmegaLoss, OmegaTop, OmegaDcg, HammingLoss].contains(&self)
    }

    /// Whether it measures predictions for this task.
    pub fn measures(self, task: Task) -> bool {
        match self {
            Rmse | Mae | MedianError | R2 | PoissonDeviance | GammaDeviance => task == Task::Regression,
            Ndcg | Map | Mrr | KendallTau | OmegaLoss | OmegaTop | OmegaDcg => task == Task::Ranking,
            RocAuc => matches!(task, Task::Classification | Task::Ranking),
            SubsetAccuracy | HammingLoss | MicroF1 => task == Task::Multilabel,
            MacroF1 => matches!(task, Task::Classification | Task::Multilabel),
            _ => task == Task::Classification,
        }
    }

    /// An error unless it measures predictions for this task.
    pub fn check(self, task: Task) -> Result<()> {
        if self.measures(task) {
            return Ok(());
        }
        let others: Vec<&str> = MEASURES.iter().filter(|m| m.measures(task)).map(Measure::word).collect();
        Err(Error::Param {
            owner: "evaluation".into(),
            name: "measure".into(),
            value: self.word().into(),
            allowed: format!("a measure of {task}: {}", others.join(", ")),
        })
    }

    /// What is shown for a task where nothing is asked for, the most important first: models are compared by that one.
    pub fn defaults(task: Task) -> &'static [Measure] {
        match task {
            Task::Classification => &[
                Accuracy,
                BalancedAccuracy,
                MacroF1,
                Matthews,
                LogLoss,
                Brier,
                RocAuc,
                AveragePrecision,
                CalibrationError,
            ],
            Task::Regression => &[Rmse, Mae, MedianError, R2],
            Task::Ranking => &[Ndcg, Map, Mrr, RocAuc, KendallTau],
            Task::Multilabel => &[SubsetAccuracy, HammingLoss, MicroF1, MacroF1],
        }
    }
}

impl Measure {
    /// The few that tell learners apart, the one that decides first: the asked one, or the usual ones of the task.
    pub fn headline(task: Task, asked: Option<Measure>) -> Vec<Measure> {
        let usual: &[Measure] = match task {
            Task::Classification => &[Accuracy, LogLoss, RocAuc],
            Task::Regression => &[Rmse, Mae, R2],
            Task::Ranking => &[Ndcg, Map, Mrr],
            Task::Multilabel => &[SubsetAccuracy, HammingLoss, MicroF1],
        };
        asked.into_iter().chain(usual.iter().copied().filter(|m| Some(*m) != asked)).collect()
    }
}

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
    Classes {
        truth: &'a [u32],
        predicted: Vec<u32>,
        prediction: &'a Prediction,
        /// For each class that can be told from the others by a score, the rows in its order: one of two, all of more.
        ranked: Vec<Ranked>,
        certainty: Option<Certainty>,
    },
    Values {
        truth: &'a [f64],
        predicted: &'a [f64],
        n_outputs: usize,
    },
    Queries(Vec<Query>),
    Labels {
        truth: Vec<bool>,
        predicted: Vec<bool>,
        n_labels: usize,
    },
}

/// What is said to happen with which probability, and whether it did: that a row is of the second of two classes, or that the class predicted is right.
pub struct Certainty {
    /// The probability.
    pub probability: Vec<f64>,
    /// Whether it happened.
    pub happened: Vec<bool>,
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
            Target::Classes { codes, .. } => Outcome { kind: Kind::of_classes(prediction, codes), n_units: n, weights },
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

    /// What is said to happen with which probability, where probabilities are predicted.
    pub fn certainty(&self) -> Option<&Certainty> {
        if let Kind::Classes { certainty, .. } = &self.kind { certainty.as_ref() } else { None }
    }

    /// The rows in the order of the score of a class: of the second of two classes, or of each of more.
    pub fn ranked(&self) -> &[Ranked] {
        if let Kind::Classes { ranked, .. } = &self.kind { ranked } else { &[] }
    }
}

impl<'a> Kind<'a> {
    fn of_classes(prediction: &'a Prediction, truth: &'a [u32]) -> Kind<'a> {
        let n = truth.len();
        let (k, width) = (prediction.classes().len(), prediction.width());
        let predicted: Vec<u32> = (0..n).map(|row| prediction.class(row) as u32).collect();
        let column =
            |class: usize| -> Vec<f64> { (0..n).map(|row| prediction.row(row)[class.min(width - 1)]).collect() };
        let of = |class: usize| Ranked::new(&column(class), truth.iter().map(|&c| c as usize == class).collect());
        let ranked = match k {
            0 | 1 => Vec::new(),
            2 => vec![of(1)],
            _ => (0..k).map(of).collect(),
        };
        let certainty = (prediction.output() == Output::Probabilities && k > 1).then(|| match k {
            2 => Certainty { probability: column(1), happened: truth.iter().map(|&c| c == 1).collect() },
            _ => Certainty {
                probability: (0..n).map(|row| prediction.row(row)[predicted[row] as usize]).collect(),
                happened: (0..n).map(|row| predicted[row] == truth[row]).collect(),
            },
        });
        Kind::Classes { truth, predicted, prediction, ranked, certainty }
    }

    fn confusion(&self, weights: Weights<'_>) -> Option<Confusion> {
        let Kind::Classes { truth, predicted, prediction, .. } = self else { return None };
        Some(Confusion::new(truth, predicted, prediction.classes(), weights))
    }

    /// Measures that are shares or means over rows, whose interval follows from the rows.
    fn by_rows(&self, measure: Measure, weights: Weights<'_>) -> Option<Score> {
        match (self, measure) {
            (Kind::Classes { truth, predicted, .. }, Accuracy) => {
                Some(share(truth.iter().zip(predicted).map(|(t, p)| t == p), weights))
            }
            (Kind::Classes { truth, prediction, certainty: Some(_), .. }, LogLoss) => {
                Some(mean(log_losses(prediction.values(), prediction.width(), truth), weights))
            }
            (Kind::Classes { truth, prediction, certainty: Some(_), .. }, Brier) => {
                Some(mean(brier_losses(prediction.values(), prediction.width(), truth), weights))
            }
            (Kind::Values { truth, predicted, n_outputs }, Mae) => {
                Some(mean(regression::absolute_errors(predicted, truth, *n_outputs), weights))
            }
            (Kind::Labels { truth, predicted, n_labels }, SubsetAccuracy) => {
                Some(share(multilabel::exact(truth, predicted, *n_labels), weights))
            }
            (Kind::Labels { truth, predicted, n_labels }, HammingLoss) => {
                Some(mean(multilabel::wrong_shares(truth, predicted, *n_labels), weights))
            }
            (Kind::Queries(queries), _) => Some(over_queries(measure, queries, weights)),
            _ => None,
        }
    }

    fn values(&self, measures: &[Measure], weights: Weights<'_>) -> Vec<f64> {
        let confusion = self.confusion(weights);
        let value = |measure: &Measure| match self {
            Kind::Classes { .. } => self.of_class(*measure, confusion.as_ref(), weights),
            Kind::Values { truth, predicted, n_outputs } => of_numbers(*measure, predicted, truth, *n_outputs, weights),
            Kind::Queries(queries) => over_queries(*measure, queries, weights).value,
            Kind::Labels { truth, predicted, n_labels } => {
                let counts = || multilabel::counts(truth, predicted, *n_labels, weights);
                match measure {
                    MicroF1 => multilabel::micro_f1(&counts()),
                    MacroF1 => multilabel::macro_f1(&counts()),
                    simple => self.by_rows(*simple, weights).map_or(f64::NAN, |score| score.value),
                }
            }
        };
        measures.iter().map(value).collect()
    }

    fn of_class(&self, measure: Measure, confusion: Option<&Confusion>, weights: Weights<'_>) -> f64 {
        let (Kind::Classes { truth, prediction, ranked, certainty, .. }, Some(confusion)) = (self, confusion) else {
            return f64::NAN;
        };
        // A class that has no rows under these weights can't be told from others, and is left out of the mean.
        let over_classes = |score: &dyn Fn(&Ranked) -> Option<f64>| {
            let told: Vec<f64> = ranked.iter().filter_map(score).collect();
            told.iter().sum::<f64>() / told.len() as f64
        };
        match measure {
            Accuracy => confusion.accuracy(),
            BalancedAccuracy => confusion.balanced_accuracy(),
            MacroF1 => confusion.average(Average::Macro).f1,
            WeightedF1 => confusion.average(Average::Weighted).f1,
            Matthews => confusion.matthews(),
            Kappa => confusion.kappa(),
            RocAuc => over_classes(&|ranked| ranked.roc_auc(weights)),
            AveragePrecision => over_classes(&|ranked| ranked.average_precision(weights)),
            LogLoss if certainty.is_some() => weights.mean(log_losses(prediction.values(), prediction.width(), truth)),
            Brier if certainty.is_some() => weights.mean(brier_losses(prediction.values(), prediction.width(), truth)),
            CalibrationError => certainty.as_ref().map_or(f64::NAN, |c| {
                calibration_error(&calibration(&c.probability, &c.happened, CALIBRATION_BINS, weights))
            }),
            _ => f64::NAN,
        }
    }
}

/// The mean over the queries that have the measure; NaN where none has.
fn over_queries(measure: Measure, queries: &[Query], weights: Weights<'_>) -> Score {
    let omega = |scores: &[f64], grades: &[f64], omega: Omega| {
        ranking::omega_loss(scores, &ranking::places(grades), |i, j| omega.cost(i, j))
    };
    let of = |(scores, grades): &Query| match measure {
        Ndcg => Some(ranking::ndcg(scores, grades, PLACES, ranking::Gain::Exponential)),
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
    match measure {
        Rmse => regression::rmse(predicted, truth, n_outputs, weights),
        Mae => weights.mean(regression::absolute_errors(predicted, truth, n_outputs)),
        MedianError => regression::median_absolute_error(predicted, truth, n_outputs, weights),
        R2 => regression::r2(predicted, truth, n_outputs, weights),
        PoissonDeviance => deviance(1.0),
        GammaDeviance => deviance(2.0),
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
