//! The measures that users name: what each means, and which way is better. The one list of them: for evaluation, comparison and search, and for early stopping.
//!
//! | file | what it holds |
//! |---|---|
//! | this file | names and facts |
//! | [`outcome`] | predictions beside the truth: all measures and their intervals |

pub mod outcome;

use crate::choice;
use crate::error::{Error, Result};
use crate::matrix::Task;
use Task::{Classification, Multilabel, Ranking, Regression};

choice! {
    /// A measure of how good predictions are.
    pub enum Measure {
        /// The share of rows whose class is predicted right.
        Accuracy = "accuracy",
        /// The share of rows whose class is predicted wrong.
        ErrorRate = "error-rate",
        /// The mean recall of the classes that occur.
        BalancedAccuracy = "balanced-accuracy",
        /// The mean precision of the classes.
        MacroPrecision = "macro-precision",
        /// The mean recall of the classes.
        MacroRecall = "macro-recall",
        /// The mean F1 of the classes.
        MacroF1 = "macro-f1",
        /// The mean precision of the classes, by the weight of their rows.
        WeightedPrecision = "weighted-precision",
        /// The mean recall of the classes, by the weight of their rows.
        WeightedRecall = "weighted-recall",
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
        /// The mean squared error.
        Mse = "mse",
        /// The root of the mean squared error.
        Rmse = "rmse",
        /// The mean absolute error.
        Mae = "mae",
        /// The median absolute error.
        MedianError = "median-ae",
        /// The mean absolute percentage error.
        Mape = "mape",
        /// The root of the mean squared logarithmic error.
        Rmsle = "rmsle",
        /// The share of the variance that is explained.
        R2 = "r2",
        /// The pinball loss of the quantile 0.1.
        PinballLow = "pinball-10",
        /// The pinball loss of the median.
        PinballMiddle = "pinball-50",
        /// The pinball loss of the quantile 0.9.
        PinballHigh = "pinball-90",
        /// The mean Poisson deviance.
        PoissonDeviance = "poisson-deviance",
        /// The mean Gamma deviance.
        GammaDeviance = "gamma-deviance",
        /// The mean Tweedie deviance of power 1.5.
        TweedieDeviance = "tweedie-deviance",
        /// The discounted cumulative gain of the first ten.
        Ndcg = "ndcg",
        /// The discounted cumulative gain of the first five.
        NdcgFive = "ndcg-5",
        /// The gain of the first place.
        NdcgOne = "ndcg-1",
        /// The discounted cumulative gain of the first three.
        NdcgThree = "ndcg-3",
        /// The discounted cumulative gain of the first twenty.
        NdcgTwenty = "ndcg-20",
        /// The discounted cumulative gain of all places.
        NdcgAll = "ndcg-all",
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
        /// The precision of all labels taken as one.
        MicroPrecision = "micro-precision",
        /// The recall of all labels taken as one.
        MicroRecall = "micro-recall",
        /// The F1 of all labels taken as one.
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

/// Which way a measure is better.
const HIGHER: bool = true;
const LOWER: bool = false;

/// The measure, its name for people, what it says in a line, which way is better, and the tasks whose predictions it measures.
type Facts = (Measure, &'static str, &'static str, bool, &'static [Task]);

#[rustfmt::skip]
const FACTS: &[Facts] = &[
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

/// All measures.
pub fn measures() -> impl Iterator<Item = Measure> {
    FACTS.iter().map(|facts| facts.0)
}

impl Measure {
    /// The measure of this name.
    pub fn parse(word: &str) -> Result<Measure> {
        let found = measures().find(|measure| measure.word() == word);
        found.ok_or_else(|| Error::unknown("measure", word, FACTS.iter().map(|facts| facts.0.word())))
    }

    fn facts(self) -> &'static Facts {
        // Every measure has its line (tested), so that the first is never taken for another.
        FACTS.iter().find(|facts| facts.0 == self).unwrap_or(&FACTS[0])
    }

    /// The name as people write it.
    pub fn title(self) -> &'static str {
        self.facts().1
    }

    /// What it says, in a line.
    pub fn explanation(self) -> &'static str {
        self.facts().2
    }

    /// Whether higher is better.
    pub fn higher_is_better(self) -> bool {
        self.facts().3
    }

    /// The value as a loss, of which lower is better: what is better the higher it is, and is 1 at best, by what it lacks of 1.
    pub fn as_loss(self, value: f64) -> f64 {
        if self.higher_is_better() { 1.0 - value } else { value }
    }

    /// Whether it measures predictions for this task.
    pub fn measures(self, task: Task) -> bool {
        self.facts().4.contains(&task)
    }

    /// The words of all measures of a task.
    pub fn words(task: Task) -> impl Iterator<Item = &'static str> {
        measures().filter(move |measure| measure.measures(task)).map(|measure| measure.word())
    }

    /// Whether it is a mean over rows (or over queries), so that the mean of parts of the same size is that of the whole.
    pub fn is_mean(self, task: Task) -> bool {
        match self {
            Accuracy | ErrorRate | LogLoss | Brier | Mse | Mae | Mape | PinballLow | PinballMiddle | PinballHigh => {
                true
            }
            PoissonDeviance | GammaDeviance | TweedieDeviance | SubsetAccuracy | HammingLoss => true,
            _ => task == Ranking,
        }
    }

    /// What tells apart two that are equally good by this measure: for classes the score of their probabilities, for numbers the squared error.
    pub fn tie_breaker(self, task: Task) -> Option<Measure> {
        let usual = match task {
            Classification => LogLoss,
            Regression => Rmse,
            Ranking => NdcgAll,
            Multilabel => HammingLoss,
        };
        (usual != self).then_some(usual)
    }

    /// Less is better; what can't be told is worst.
    pub fn badness(self, score: f64) -> f64 {
        match (score.is_nan(), self.higher_is_better()) {
            (true, _) => f64::INFINITY,
            (false, true) => -score,
            (false, false) => score,
        }
    }

    /// An error unless it measures predictions for this task.
    pub fn check(self, task: Task) -> Result<()> {
        if self.measures(task) {
            return Ok(());
        }
        let others: Vec<&str> = Measure::words(task).collect();
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

    /// The few that tell learners apart, the one that decides first: the asked one, or the usual ones of the task.
    pub fn headline(task: Task, asked: Option<Measure>) -> Vec<Measure> {
        let usual: &[Measure] = match task {
            Classification => &[Accuracy, LogLoss, RocAuc],
            Regression => &[Rmse, Mae, R2],
            Ranking => &[Ndcg, Map, Mrr],
            Multilabel => &[SubsetAccuracy, HammingLoss, MicroF1],
        };
        asked.into_iter().chain(usual.iter().copied().filter(|m| Some(*m) != asked)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::param::{Kind, ParamType};

    #[test]
    fn every_measure_has_its_line_of_facts() {
        let Kind::Choice(words) = <Measure as ParamType>::kind() else { panic!("a measure is a word") };
        assert_eq!(measures().map(|measure| measure.word()).collect::<Vec<_>>(), words);
    }
}
