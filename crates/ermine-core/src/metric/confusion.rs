//! The confusion matrix and the scores computed from it.
//!
//! With `C[k][j]` the weight of the rows of class k that are predicted as class j, t_k the weight of class k, p_k the weight predicted as k, W the total weight:
//! ```text
//! precision = C[k][k] / p_k      recall = C[k][k] / t_k      F1 = 2 C[k][k] / (p_k + t_k)
//! MCC   = (W sum C[k][k] - sum t_k p_k) / sqrt((W^2 - sum p_k^2) (W^2 - sum t_k^2))
//! kappa = 1 - (W - sum C[k][k]) / (W - sum t_k p_k / W)
//! ```
//! 0/0 is 0, except for kappa, which is NaN if all rows belong to one class and are predicted as it. Averages leave out classes that no row has and that are never predicted, whatever the
//! weights.

use super::Weights;
use serde::Serialize;

/// Weight of each true class that is predicted as each class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Confusion {
    /// The names of the classes.
    pub classes: Vec<String>,
    /// `counts[true][predicted]`.
    pub counts: Vec<Vec<f64>>,
    /// Classes that occur or are predicted, whatever their weight.
    #[serde(skip)]
    seen: Vec<bool>,
}

/// How class scores are averaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Average {
    /// Over all rows.
    Micro,
    /// Unweighted mean over classes.
    Macro,
    /// Mean over classes weighted by support.
    Weighted,
}

/// Precision, recall and F1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Rates {
    /// Precision.
    pub precision: f64,
    /// Recall.
    pub recall: f64,
    /// F1 score.
    pub f1: f64,
}

fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

impl Confusion {
    /// Counts true and predicted classes.
    pub fn new(truth: &[u32], predicted: &[u32], classes: &[String], weights: Weights<'_>) -> Confusion {
        let (mut counts, mut seen) = (vec![vec![0.0; classes.len()]; classes.len()], vec![false; classes.len()]);
        for (row, (&t, &p)) in truth.iter().zip(predicted).enumerate() {
            counts[t as usize][p as usize] += weights.of(row);
            if weights.has(row) {
                seen[t as usize] = true;
                seen[p as usize] = true;
            }
        }
        Confusion { classes: classes.to_vec(), counts, seen }
    }

    fn hits(&self) -> f64 {
        (0..self.counts.len()).map(|k| self.counts[k][k]).sum()
    }

    /// The weight of a true class.
    pub fn actual(&self, class: usize) -> f64 {
        self.counts[class].iter().sum()
    }

    /// The weight predicted as a class.
    pub fn predicted(&self, class: usize) -> f64 {
        self.counts.iter().map(|row| row[class]).sum()
    }

    /// Total weight.
    pub fn total(&self) -> f64 {
        self.counts.iter().flatten().sum()
    }

    /// The share of correctly classified weight.
    pub fn accuracy(&self) -> f64 {
        ratio(self.hits(), self.total())
    }

    /// Precision, recall and F1 of one class.
    pub fn rates(&self, class: usize) -> Rates {
        let (hits, actual, predicted) = (self.counts[class][class], self.actual(class), self.predicted(class));
        Rates {
            precision: ratio(hits, predicted),
            recall: ratio(hits, actual),
            f1: ratio(2.0 * hits, predicted + actual),
        }
    }

    /// Averaged precision, recall and F1.
    pub fn average(&self, average: Average) -> Rates {
        if average == Average::Micro {
            let share = self.accuracy();
            return Rates { precision: share, recall: share, f1: share };
        }
        let (mut sum, mut total) = (Rates::default(), 0.0);
        for k in 0..self.counts.len() {
            let (rates, actual) = (self.rates(k), self.actual(k));
            let weight = if average == Average::Weighted { actual } else { f64::from(u8::from(self.seen[k])) };
            sum.precision += weight * rates.precision;
            sum.recall += weight * rates.recall;
            sum.f1 += weight * rates.f1;
            total += weight;
        }
        Rates { precision: ratio(sum.precision, total), recall: ratio(sum.recall, total), f1: ratio(sum.f1, total) }
    }

    /// The mean recall of the classes that occur.
    pub fn balanced_accuracy(&self) -> f64 {
        let occurring: Vec<usize> = (0..self.counts.len()).filter(|&k| self.actual(k) > 0.0).collect();
        ratio(occurring.iter().map(|&k| self.rates(k).recall).sum(), occurring.len() as f64)
    }

    /// The Matthews correlation coefficient (Gorodkin 2004 for several classes): 1 is perfect, 0 no better than chance.
    pub fn matthews(&self) -> f64 {
        let all = self.total();
        let (mut both, mut actual, mut predicted) = (0.0, 0.0, 0.0);
        for k in 0..self.counts.len() {
            let (t, p) = (self.actual(k), self.predicted(k));
            both += t * p;
            actual += t * t;
            predicted += p * p;
        }
        let spread = (all * all - predicted) * (all * all - actual);
        ratio(all * self.hits() - both, spread.max(0.0).sqrt())
    }

    /// Cohen's kappa: 1 is perfect, 0 no better than chance; NaN if all rows belong to one class and are predicted as it.
    pub fn kappa(&self) -> f64 {
        let all = self.total();
        let chance: f64 = (0..self.counts.len()).map(|k| self.actual(k) * self.predicted(k) / all).sum();
        if all > chance { (self.hits() - chance) / (all - chance) } else { f64::NAN }
    }
}
