//! The confusion matrix, and the scores that are read off it.
//!
//! With `C[k][j]` the weight of the rows of class k that were taken for class j, t_k the weight of class k, p_k what was predicted as k, W all weight:
//! ```text
//! precision = C[k][k] / p_k      recall = C[k][k] / t_k      F1 = 2 C[k][k] / (p_k + t_k)
//! MCC   = (W sum C[k][k] - sum t_k p_k) / sqrt((W^2 - sum p_k^2) (W^2 - sum t_k^2))
//! kappa = 1 - (W - sum C[k][k]) / (W - sum t_k p_k / W)
//! ```
//! A quotient of 0 by 0 is 0, but kappa's is no number: where all is one class, chance agrees as well. Averages over classes leave out those that no row has and none is predicted as;
//! what such rows weigh doesn't matter.

use super::Weights;
use serde::Serialize;

/// How much weight of each true class was predicted as each class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Confusion {
    /// The names of the classes.
    pub classes: Vec<String>,
    /// `counts[true][predicted]`.
    pub counts: Vec<Vec<f64>>,
    /// Which classes rows have or are predicted as, whatever their weight.
    #[serde(skip)]
    seen: Vec<bool>,
}

/// How scores of classes become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Average {
    /// Rows count alike: of all predictions, the share that is right.
    Micro,
    /// Classes count alike.
    Macro,
    /// Classes count by the weight of their rows.
    Weighted,
}

/// How well a class is found.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Rates {
    /// Of what is predicted as the class, the share that is of it.
    pub precision: f64,
    /// Of what is of the class, the share that is predicted as it.
    pub recall: f64,
    /// The harmonic mean of both.
    pub f1: f64,
}

fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

impl Confusion {
    /// Counts predicted against true classes.
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

    /// The weight that is predicted as a class.
    pub fn predicted(&self, class: usize) -> f64 {
        self.counts.iter().map(|row| row[class]).sum()
    }

    /// All weight.
    pub fn total(&self) -> f64 {
        self.counts.iter().flatten().sum()
    }

    /// The share of the weight whose class is predicted right.
    pub fn accuracy(&self) -> f64 {
        ratio(self.hits(), self.total())
    }

    /// How well one class is found.
    pub fn rates(&self, class: usize) -> Rates {
        let (hits, actual, predicted) = (self.counts[class][class], self.actual(class), self.predicted(class));
        Rates {
            precision: ratio(hits, predicted),
            recall: ratio(hits, actual),
            f1: ratio(2.0 * hits, predicted + actual),
        }
    }

    /// How well all classes are found.
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

    /// The correlation of truth and prediction (Matthews; Gorodkin 2004 for several classes): 1 perfect, 0 no better than chance.
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

    /// The agreement beyond chance (Cohen): 1 perfect, 0 no better than chance; NaN where truth and prediction are one and the same class.
    pub fn kappa(&self) -> f64 {
        let all = self.total();
        let chance: f64 = (0..self.counts.len()).map(|k| self.actual(k) * self.predicted(k) / all).sum();
        if all > chance { (self.hits() - chance) / (all - chance) } else { f64::NAN }
    }
}
