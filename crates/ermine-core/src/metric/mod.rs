//! Scores as functions of predictions, targets and sample weights; `measure` has their names.
//!
//! | file | what it holds |
//! |---|---|
//! | [`confusion`] | the confusion matrix: accuracy, precision, recall, F1, MCC, kappa |
//! | [`probability`] | log loss, Brier score, calibration |
//! | [`threshold`] | ROC and precision-recall curves and the areas under them |
//! | [`regression`] | regression metrics |
//! | [`ranking`] | NDCG, average precision, reciprocal rank, Kendall's tau, omega loss |
//! | [`omega`] | the cost of swapping two positions of a ranking |
//! | [`multilabel`] | subset accuracy, Hamming loss, F1 |
//! | [`interval`] | confidence intervals |

pub mod confusion;
pub mod interval;
pub mod multilabel;
pub mod omega;
pub mod probability;
pub mod ranking;
pub mod regression;
pub mod threshold;

pub use interval::Score;

/// Sample weights.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Weights<'a> {
    each: Option<&'a [f64]>,
    /// Whether a row of weight 0 was not resampled and counts as absent.
    resampled: bool,
}

impl<'a> Weights<'a> {
    /// All weights are 1.
    pub const EQUAL: Weights<'static> = Weights { each: None, resampled: false };

    /// Counts of a resample. Rows with count 0 are absent; with given weights, a row of weight 0 still shows that its class exists.
    pub fn resampled(weights: &'a [f64]) -> Self {
        Weights { each: Some(weights), resampled: true }
    }

    /// Whether a row is present.
    pub fn has(self, row: usize) -> bool {
        !self.resampled || self.of(row) > 0.0
    }

    /// The weight of a row.
    #[inline]
    pub fn of(self, row: usize) -> f64 {
        self.each.map_or(1.0, |w| w[row])
    }

    /// The sum over the first `n` rows.
    pub fn total(self, n: usize) -> f64 {
        self.each.map_or(n as f64, |w| w[..n].iter().sum())
    }

    /// The weighted mean of a value per row.
    pub fn mean(self, quantities: impl ExactSizeIterator<Item = f64>) -> f64 {
        let total = self.total(quantities.len());
        quantities.enumerate().map(|(row, x)| self.of(row) * x).sum::<f64>() / total
    }
}

impl<'a> From<Option<&'a [f64]>> for Weights<'a> {
    fn from(weights: Option<&'a [f64]>) -> Self {
        Weights { each: weights, resampled: false }
    }
}

impl<'a> From<&'a [f64]> for Weights<'a> {
    fn from(weights: &'a [f64]) -> Self {
        Weights { each: Some(weights), resampled: false }
    }
}
