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
    (Accuracy, "accuracy", "fraction of correct predictions", HIGHER, CLASSES),
    (ErrorRate, "error rate", "fraction of wrong predictions", LOWER, CLASSES),
    (BalancedAccuracy, "balanced accuracy", "mean recall of all classes: rare classes count as much as frequent ones", HIGHER, CLASSES),
    (MacroPrecision, "macro precision", "precision, averaged over classes or labels", HIGHER, CLASSES_OR_LABELS),
    (MacroRecall, "macro recall", "recall, averaged over classes or labels", HIGHER, CLASSES_OR_LABELS),
    (MacroF1, "macro F1", "F1 (harmonic mean of precision and recall), averaged over classes or labels", HIGHER, CLASSES_OR_LABELS),
    (WeightedPrecision, "weighted precision", "precision, averaged over classes weighted by their rows", HIGHER, CLASSES),
    (WeightedRecall, "weighted recall", "recall, averaged over classes weighted by their rows: equal to the accuracy", HIGHER, CLASSES),
    (WeightedF1, "weighted F1", "F1, averaged over classes weighted by their rows", HIGHER, CLASSES),
    (Matthews, "MCC", "Matthews correlation coefficient: 1 is perfect, 0 is chance", HIGHER, CLASSES),
    (Kappa, "kappa", "Cohen's kappa, agreement beyond chance: 1 is perfect, 0 is chance", HIGHER, CLASSES),
    (LogLoss, "log loss", "mean of -ln p(true class): penalizes confident mistakes", LOWER, CLASSES),
    (Brier, "Brier score", "mean squared error of the probabilities", LOWER, CLASSES),
    (RocAuc, "ROC AUC", "probability that a positive row is scored above a negative one: 0.5 is chance", HIGHER, CLASSES_OR_ORDERS),
    (AveragePrecision, "average precision", "area under the precision-recall curve", HIGHER, CLASSES),
    (CalibrationError, "calibration error", "mean difference between predicted probabilities and observed frequencies", LOWER, CLASSES),
    (Mse, "MSE", "mean squared error, in squared units of the target", LOWER, NUMBERS),
    (Rmse, "RMSE", "root mean squared error, in units of the target: penalizes large errors", LOWER, NUMBERS),
    (Mae, "MAE", "mean absolute error, in units of the target", LOWER, NUMBERS),
    (MedianError, "median error", "median absolute error, in units of the target: ignores outliers", LOWER, NUMBERS),
    (Mape, "MAPE", "mean absolute percentage error, |error| / |target|: 0.1 is 10 %", LOWER, NUMBERS),
    (Rmsle, "RMSLE", "root mean squared error of ln(1 + target): penalizes relative errors", LOWER, NUMBERS),
    (R2, "R2", "fraction of the variance that is explained: 1 is perfect, 0 is as good as the mean", HIGHER, NUMBERS),
    (PinballLow, "pinball loss (0.1)", "quantile loss at level 0.1", LOWER, NUMBERS),
    (PinballMiddle, "pinball loss (0.5)", "quantile loss at level 0.5: half of the mean absolute error", LOWER, NUMBERS),
    (PinballHigh, "pinball loss (0.9)", "quantile loss at level 0.9", LOWER, NUMBERS),
    (PoissonDeviance, "Poisson deviance", "deviance of a Poisson model, for counts", LOWER, NUMBERS),
    (GammaDeviance, "Gamma deviance", "deviance of a Gamma model, for positive amounts", LOWER, NUMBERS),
    (TweedieDeviance, "Tweedie deviance (1.5)", "deviance of a Tweedie model, for amounts of which many are zero", LOWER, NUMBERS),
    (Ndcg, "NDCG@10", "normalized discounted cumulative gain of the top 10: 1 is the ideal ranking", HIGHER, ORDERS),
    (NdcgFive, "NDCG@5", "normalized discounted cumulative gain of the top 5: 1 is the ideal ranking", HIGHER, ORDERS),
    (NdcgOne, "NDCG@1", "normalized gain of the top row: 1 is the ideal ranking", HIGHER, ORDERS),
    (NdcgThree, "NDCG@3", "normalized discounted cumulative gain of the top 3: 1 is the ideal ranking", HIGHER, ORDERS),
    (NdcgTwenty, "NDCG@20", "normalized discounted cumulative gain of the top 20: 1 is the ideal ranking", HIGHER, ORDERS),
    (NdcgAll, "NDCG", "normalized discounted cumulative gain: 1 is the ideal ranking", HIGHER, ORDERS),
    (Map, "MAP", "mean average precision over the queries", HIGHER, ORDERS),
    (Mrr, "MRR", "mean reciprocal rank of the first relevant row", HIGHER, ORDERS),
    (KendallTau, "Kendall tau", "rank correlation of scores and relevance: 1 is the same order, -1 the opposite", HIGHER, ORDERS),
    (OmegaLoss, "omega loss", "fraction of the pairs of a query in the wrong order", LOWER, ORDERS),
    (OmegaTop, "omega loss (top 10)", "fraction of the pairs in the wrong order, of those with a row of the ideal top 10", LOWER, ORDERS),
    (OmegaDcg, "omega loss (DCG)", "mean cost of pairs in the wrong order, higher at the top", LOWER, ORDERS),
    (SubsetAccuracy, "subset accuracy", "fraction of rows whose labels are all correct", HIGHER, LABELS),
    (HammingLoss, "Hamming loss", "fraction of wrong labels", LOWER, LABELS),
    (MicroPrecision, "micro precision", "precision over all rows and labels", HIGHER, LABELS),
    (MicroRecall, "micro recall", "recall over all rows and labels", HIGHER, LABELS),
    (MicroF1, "micro F1", "F1 over all rows and labels", HIGHER, LABELS),
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
