//! Scores: how good predictions are. Plain functions of predictions, truth and row weights; names for users are in `measure`.
//!
//! | file | what it holds |
//! |---|---|
//! | [`confusion`] | which classes are taken for which, and what is read off it: accuracy, precision, recall, F1, MCC, kappa |
//! | [`probability`] | log loss, Brier score, calibration |
//! | [`threshold`] | ROC and precision-recall curves and the areas under them |
//! | [`regression`] | errors of numbers |
//! | [`ranking`] | NDCG, average precision, reciprocal rank, Kendall's tau, omega loss |
//! | [`omega`] | what it costs to confuse two places of a ranking |
//! | [`multilabel`] | sets of labels: subset accuracy, Hamming loss, F1 |
//! | [`interval`] | how far off a score may be |

pub mod confusion;
pub mod interval;
pub mod multilabel;
pub mod omega;
pub mod probability;
pub mod ranking;
pub mod regression;
pub mod threshold;

pub use interval::Score;

/// How much each row counts.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Weights<'a> {
    each: Option<&'a [f64]>,
    /// A row of weight 0 was not drawn: it isn't there at all.
    drawn: bool,
}

impl<'a> Weights<'a> {
    /// All rows count the same.
    pub const EQUAL: Weights<'static> = Weights { each: None, drawn: false };

    /// How often rows were drawn. Those of weight 0 are not there; of given weights, a row of weight 0 still says that its class exists.
    pub fn drawn(weights: &'a [f64]) -> Self {
        Weights { each: Some(weights), drawn: true }
    }

    /// Whether a row is there.
    pub fn has(self, row: usize) -> bool {
        !self.drawn || self.of(row) > 0.0
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

    /// The weighted mean of a quantity of each row.
    pub fn mean(self, quantities: impl ExactSizeIterator<Item = f64>) -> f64 {
        let total = self.total(quantities.len());
        quantities.enumerate().map(|(row, x)| self.of(row) * x).sum::<f64>() / total
    }
}

impl<'a> From<Option<&'a [f64]>> for Weights<'a> {
    fn from(weights: Option<&'a [f64]>) -> Self {
        Weights { each: weights, drawn: false }
    }
}

impl<'a> From<&'a [f64]> for Weights<'a> {
    fn from(weights: &'a [f64]) -> Self {
        Weights { each: Some(weights), drawn: false }
    }
}
