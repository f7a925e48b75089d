//! The metrics that users choose by name, for evaluation, comparison, search and early stopping.
//!
//! | file | what it holds |
//! |---|---|
//! | this file | names, directions, descriptions |
//! | [`outcome`] | computes metrics and their intervals from predictions and targets |

pub mod outcome;

use crate::choice;
use crate::error::{Error, Result};
use crate::matrix::Task;
use Task::{Classification, Multilabel, Ranking, Regression};

choice! {
    /// A metric.
    pub enum Measure {
        /// Share of correctly classified rows.
        Accuracy = "accuracy",
        /// Share of misclassified rows.
        ErrorRate = "error-rate",
        /// Mean recall of the classes.
        BalancedAccuracy = "balanced-accuracy",
        /// Mean precision of the classes.
        MacroPrecision = "macro-precision",
        /// Mean recall of the classes.
        MacroRecall = "macro-recall",
        /// Mean F1 of the classes.
        MacroF1 = "macro-f1",
        /// Mean precision of the classes, weighted by support.
        WeightedPrecision = "weighted-precision",
        /// Mean recall of the classes, weighted by support.
        WeightedRecall = "weighted-recall",
        /// Mean F1 of the classes, weighted by support.
        WeightedF1 = "weighted-f1",
        /// Matthews correlation coefficient.
        Matthews = "mcc",
        /// Cohen's kappa: agreement beyond chance.
        Kappa = "kappa",
        /// Mean of -ln p(true class).
        LogLoss = "log-loss",
        /// Mean squared error of the probabilities.
        Brier = "brier",
        /// Area under the ROC curve.
        RocAuc = "roc-auc",
        /// Area under the precision-recall curve.
        AveragePrecision = "average-precision",
        /// Expected calibration error.
        CalibrationError = "ece",
        /// The mean squared error.
        Mse = "mse",
        /// Root mean squared error.
        Rmse = "rmse",
        /// The mean absolute error.
        Mae = "mae",
        /// The median absolute error.
        MedianError = "median-ae",
        /// The mean absolute percentage error.
        Mape = "mape",
        /// Root mean squared logarithmic error.
        Rmsle = "rmsle",
        /// Coefficient of determination.
        R2 = "r2",
        /// Pinball loss of the 0.1 quantile.
        PinballLow = "pinball-10",
        /// Pinball loss of the median.
        PinballMiddle = "pinball-50",
        /// Pinball loss of the 0.9 quantile.
        PinballHigh = "pinball-90",
        /// The mean Poisson deviance.
        PoissonDeviance = "poisson-deviance",
        /// The mean Gamma deviance.
        GammaDeviance = "gamma-deviance",
        /// Mean Tweedie deviance with power 1.5.
        TweedieDeviance = "tweedie-deviance",
        /// NDCG of the top 10.
        Ndcg = "ndcg",
        /// NDCG of the top 5.
        NdcgFive = "ndcg-5",
        /// NDCG of the top 1.
        NdcgOne = "ndcg-1",
        /// NDCG of the top 3.
        NdcgThree = "ndcg-3",
        /// NDCG of the top 20.
        NdcgTwenty = "ndcg-20",
        /// NDCG of all positions.
        NdcgAll = "ndcg-all",
        /// The mean average precision of the queries.
        Map = "map",
        /// The mean reciprocal rank of the first relevant row.
        Mrr = "mrr",
        /// Kendall's rank correlation with the grades.
        KendallTau = "kendall-tau",
        /// Share of pairs in the wrong order.
        OmegaLoss = "omega-loss",
        /// Share of pairs in the wrong order, counting only pairs with one row in the true top 10.
        OmegaTop = "omega-loss-top-10",
        /// Share of pairs in the wrong order, weighted by the discounts of their positions.
        OmegaDcg = "omega-loss-dcg",
        /// Share of rows with all labels correct.
        SubsetAccuracy = "subset-accuracy",
        /// Share of wrong labels.
        HammingLoss = "hamming-loss",
        /// Precision over all labels.
        MicroPrecision = "micro-precision",
        /// Recall over all labels.
        MicroRecall = "micro-recall",
        /// F1 over all labels.
        MicroF1 = "micro-f1",
    }
}

use Measure::*;

const CLASSES: &[Task] = &[Classification];
const NUMBERS: &[Task] = &[Regression];
const ORDERS: &[Task] = &[Ranking];
const LABELS: &[Task] = &[Multilabel];
const CLASSES_OR_LABELS: &[Task] = &[Classification, Multilabel];
const CLASSES_OR_ORDERS: &[Task] = &[Classification, Ranking];

/// Direction of a metric.
const HIGHER: bool = true;
const LOWER: bool = false;

/// Metric, display name, description, whether higher is better, and supported tasks.
type MeasureInfo = (Measure, &'static str, &'static str, bool, &'static [Task]);

#[rustfmt::skip]
const FACTS: &[MeasureInfo] = &[
    (Accuracy, "accuracy", "share of rows whose class is predicted right", HIGHER, CLASSES),
    (ErrorRate, "error rate", "share of rows whose class is predicted wrong", LOWER, CLASSES),
    (BalancedAccuracy, "balanced accuracy", "mean over classes of the share of their rows that is found; rare classes count as much as frequent ones", HIGHER, CLASSES),
    (MacroPrecision, "macro precision", "of what is predicted as a class or label, the share that is of it, averaged over classes or labels", HIGHER, CLASSES_OR_LABELS),
    (MacroRecall, "macro recall", "of what is of a class or label, the share that is found, averaged over classes or labels", HIGHER, CLASSES_OR_LABELS),
    (MacroF1, "macro F1", "harmonic mean of precision and recall, averaged over classes or labels", HIGHER, CLASSES_OR_LABELS),
    (WeightedPrecision, "weighted precision", "of what is predicted as a class, the share that is of it, averaged over classes by their rows", HIGHER, CLASSES),
    (WeightedRecall, "weighted recall", "of what is of a class, the share that is found, averaged over classes by their rows: the accuracy", HIGHER, CLASSES),
    (WeightedF1, "weighted F1", "harmonic mean of precision and recall, averaged over classes by their rows", HIGHER, CLASSES),
    (Matthews, "MCC", "correlation of prediction and truth: 1 perfect, 0 like guessing", HIGHER, CLASSES),
    (Kappa, "kappa", "agreement beyond chance: 1 perfect, 0 like guessing", HIGHER, CLASSES),
    (LogLoss, "log loss", "mean of -ln p(true class): punishes sure mistakes", LOWER, CLASSES),
    (Brier, "Brier score", "mean squared error of the probabilities", LOWER, CLASSES),
    (RocAuc, "ROC AUC", "chance that a row of a class scores higher than a row of another: 0.5 like guessing", HIGHER, CLASSES_OR_ORDERS),
    (AveragePrecision, "average precision", "precision averaged over the rows to be found: the area under the precision-recall curve", HIGHER, CLASSES),
    (CalibrationError, "calibration error", "how far predicted probabilities are from observed shares, on average", LOWER, CLASSES),
    (Mse, "MSE", "mean squared error, in the square of the target's unit", LOWER, NUMBERS),
    (Rmse, "RMSE", "root of the mean squared error, in the target's unit: punishes large errors", LOWER, NUMBERS),
    (Mae, "MAE", "mean absolute error, in the target's unit", LOWER, NUMBERS),
    (MedianError, "median error", "half of the rows have a smaller error", LOWER, NUMBERS),
    (Mape, "MAPE", "mean of |error| / |target|: 0.1 is 10 %", LOWER, NUMBERS),
    (Rmsle, "RMSLE", "root of the mean squared error of ln(1 + target): punishes relative errors", LOWER, NUMBERS),
    (R2, "R2", "share of the variance that is explained: 1 perfect, 0 like predicting the mean", HIGHER, NUMBERS),
    (PinballLow, "pinball loss (0.1)", "error of a quantile that one in ten should be below: errors above it cost 0.1, below it 0.9", LOWER, NUMBERS),
    (PinballMiddle, "pinball loss (0.5)", "error of a median: half of the mean absolute error", LOWER, NUMBERS),
    (PinballHigh, "pinball loss (0.9)", "error of a quantile that nine in ten should be below: errors above it cost 0.9, below it 0.1", LOWER, NUMBERS),
    (PoissonDeviance, "Poisson deviance", "misfit of counts, relative to their size", LOWER, NUMBERS),
    (GammaDeviance, "Gamma deviance", "misfit of positive amounts, relative to their size", LOWER, NUMBERS),
    (TweedieDeviance, "Tweedie deviance (1.5)", "misfit of amounts of which many are zero, relative to their size", LOWER, NUMBERS),
    (Ndcg, "NDCG@10", "how much of the best possible gain the first ten places hold", HIGHER, ORDERS),
    (NdcgFive, "NDCG@5", "how much of the best possible gain the first five places hold", HIGHER, ORDERS),
    (NdcgOne, "NDCG@1", "how much of the best possible gain the first place holds", HIGHER, ORDERS),
    (NdcgThree, "NDCG@3", "how much of the best possible gain the first three places hold", HIGHER, ORDERS),
    (NdcgTwenty, "NDCG@20", "how much of the best possible gain the first twenty places hold", HIGHER, ORDERS),
    (NdcgAll, "NDCG", "how much of the best possible gain the order has, early places counting more", HIGHER, ORDERS),
    (Map, "MAP", "mean over queries of the precision at the relevant rows", HIGHER, ORDERS),
    (Mrr, "MRR", "mean over queries of 1 / place of the first relevant row", HIGHER, ORDERS),
    (KendallTau, "Kendall tau", "agreement of the order with the grades: 1 the same, -1 the opposite", HIGHER, ORDERS),
    (OmegaLoss, "omega loss", "share of the pairs of a query that stand in the wrong order", LOWER, ORDERS),
    (OmegaTop, "omega loss (top 10)", "share of the pairs that stand in the wrong order and of which one belongs among the first ten", LOWER, ORDERS),
    (OmegaDcg, "omega loss (DCG)", "mean cost of pairs in the wrong order, early places costing more", LOWER, ORDERS),
    (SubsetAccuracy, "subset accuracy", "share of rows whose labels are all predicted right", HIGHER, LABELS),
    (HammingLoss, "Hamming loss", "share of rows and labels that are predicted wrong", LOWER, LABELS),
    (MicroPrecision, "micro precision", "of all labels that are predicted, the share that is right", HIGHER, LABELS),
    (MicroRecall, "micro recall", "of all labels that there are, the share that is found", HIGHER, LABELS),
    (MicroF1, "micro F1", "harmonic mean of precision and recall over all rows and labels", HIGHER, LABELS),
];

/// All metrics.
pub fn measures() -> impl Iterator<Item = Measure> {
    FACTS.iter().map(|facts| facts.0)
}

impl Measure {
    /// The metric with this name.
    pub fn parse(word: &str) -> Result<Measure> {
        let found = measures().find(|measure| measure.as_str() == word);
        found.ok_or_else(|| Error::unknown("measure", word, FACTS.iter().map(|facts| facts.0.as_str())))
    }

    fn facts(self) -> &'static MeasureInfo {
        // Every metric has an entry (tested), so the default is never used.
        FACTS.iter().find(|facts| facts.0 == self).unwrap_or(&FACTS[0])
    }

    /// Display name.
    pub fn title(self) -> &'static str {
        self.facts().1
    }

    /// Description in one line.
    pub fn explanation(self) -> &'static str {
        self.facts().2
    }

    /// Whether higher is better.
    pub fn higher_is_better(self) -> bool {
        self.facts().3
    }

    /// The value as a loss: metrics where higher is better become 1 - value.
    pub fn as_loss(self, value: f64) -> f64 {
        if self.higher_is_better() { 1.0 - value } else { value }
    }

    /// Whether the metric applies to this task.
    pub fn measures(self, task: Task) -> bool {
        self.facts().4.contains(&task)
    }

    /// Names of all metrics of a task.
    pub fn names(task: Task) -> impl Iterator<Item = &'static str> {
        measures().filter(move |measure| measure.measures(task)).map(|measure| measure.as_str())
    }

    /// Whether the metric is a mean over rows (or queries), so that the mean over parts of equal size is the mean over the whole.
    pub fn is_mean(self, task: Task) -> bool {
        match self {
            Accuracy | ErrorRate | LogLoss | Brier | Mse | Mae | Mape | PinballLow | PinballMiddle | PinballHigh => {
                true
            }
            PoissonDeviance | GammaDeviance | TweedieDeviance | SubsetAccuracy | HammingLoss => true,
            _ => task == Ranking,
        }
    }

    /// The metric that breaks ties: a proper score for classification, the squared error for regression.
    pub fn tie_breaker(self, task: Task) -> Option<Measure> {
        let usual = match task {
            Classification => LogLoss,
            Regression => Rmse,
            Ranking => NdcgAll,
            Multilabel => HammingLoss,
        };
        (usual != self).then_some(usual)
    }

    /// A key to sort scores by, the best first: lower is better, undefined scores come last.
    pub fn sort_key(self, score: f64) -> f64 {
        match (score.is_nan(), self.higher_is_better()) {
            (true, _) => f64::INFINITY,
            (false, true) => -score,
            (false, false) => score,
        }
    }

    /// An error unless the metric applies to this task.
    pub fn check(self, task: Task) -> Result<()> {
        if self.measures(task) {
            return Ok(());
        }
        let others: Vec<&str> = Measure::names(task).collect();
        Err(Error::Param {
            owner: "evaluation".into(),
            name: "measure".into(),
            value: self.as_str().into(),
            allowed: format!("a metric for {task}: {}", others.join(", ")),
        })
    }

    /// The default metrics of a task, most important first: models are compared by the first.
    pub fn defaults(task: Task) -> &'static [Measure] {
        match task {
            Classification => &[
                Accuracy,
                BalancedAccuracy,
                MacroF1,
                Matthews,
                Kappa,
                LogLoss,
                Brier,
                RocAuc,
                AveragePrecision,
                CalibrationError,
            ],
            Regression => &[Rmse, Mae, MedianError, R2],
            Ranking => &[Ndcg, Map, Mrr, RocAuc, KendallTau, OmegaLoss],
            Multilabel => &[SubsetAccuracy, HammingLoss, MicroF1, MacroF1],
        }
    }

    /// The main metrics of a comparison, the deciding one first: the given one, or the defaults of the task.
    pub fn headline(task: Task, preferred: Option<Measure>) -> Vec<Measure> {
        let usual: &[Measure] = match task {
            Classification => &[Accuracy, LogLoss, RocAuc],
            Regression => &[Rmse, Mae, R2],
            Ranking => &[Ndcg, Map, Mrr],
            Multilabel => &[SubsetAccuracy, HammingLoss, MicroF1],
        };
        preferred.into_iter().chain(usual.iter().copied().filter(|m| Some(*m) != preferred)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::param::{ParamKind, ParamType};

    #[test]
    fn every_metric_has_an_entry() {
        let ParamKind::Choice(words) = <Measure as ParamType>::kind() else { panic!("a measure is a word") };
        assert_eq!(measures().map(|measure| measure.as_str()).collect::<Vec<_>>(), words);
    }
}
