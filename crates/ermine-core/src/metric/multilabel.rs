//! Multilabel scores. With `t`, `p` the true and predicted indicators of a row and label, and `w` the weight of the row:
//! ```text
//! subset accuracy = mean over rows of [all labels are correct]      Hamming loss = mean over rows and labels of [t != p]
//! F1 of a label   = 2 sum w t p / (sum w t + sum w p)               macro: the mean over labels      micro: one sum over all labels
//! ```
//! 0/0 is 0; labels that neither occur nor are predicted are included in the macro average.

use super::Weights;

/// Weights of correct, true and predicted labels.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Counts {
    /// The weight of the rows that have the label and are predicted to have it.
    pub hits: f64,
    /// The weight of the rows that have the label.
    pub actual: f64,
    /// The weight of the rows that are predicted to have the label.
    pub predicted: f64,
}

impl Counts {
    /// Precision.
    pub fn precision(&self) -> f64 {
        if self.predicted > 0.0 { self.hits / self.predicted } else { 0.0 }
    }

    /// Recall.
    pub fn recall(&self) -> f64 {
        if self.actual > 0.0 { self.hits / self.actual } else { 0.0 }
    }

    /// F1 score.
    pub fn f1(&self) -> f64 {
        let both = self.actual + self.predicted;
        if both > 0.0 { 2.0 * self.hits / both } else { 0.0 }
    }
}

/// The counts of each label.
pub fn counts(truth: &[bool], predicted: &[bool], n_labels: usize, weights: Weights<'_>) -> Vec<Counts> {
    let mut counts = vec![Counts::default(); n_labels];
    for (row, (truth, predicted)) in truth.chunks(n_labels).zip(predicted.chunks(n_labels)).enumerate() {
        let w = weights.of(row);
        for (count, (&t, &p)) in counts.iter_mut().zip(truth.iter().zip(predicted)) {
            count.actual += if t { w } else { 0.0 };
            count.predicted += if p { w } else { 0.0 };
            count.hits += if t && p { w } else { 0.0 };
        }
    }
    counts
}

/// The mean of a score over the labels.
pub fn macro_average(counts: &[Counts], score: impl Fn(&Counts) -> f64) -> f64 {
    if counts.is_empty() { 0.0 } else { counts.iter().map(score).sum::<f64>() / counts.len() as f64 }
}

/// Sums over all labels.
pub fn sum_counts(counts: &[Counts]) -> Counts {
    let add = |a: Counts, b: &Counts| Counts {
        hits: a.hits + b.hits,
        actual: a.actual + b.actual,
        predicted: a.predicted + b.predicted,
    };
    counts.iter().fold(Counts::default(), add)
}

/// The counts of each of `n_classes` classes.
pub fn counts_of_classes(truth: &[u32], predicted: &[u32], n_classes: usize, weights: Weights<'_>) -> Vec<Counts> {
    let mut counts = vec![Counts::default(); n_classes];
    for (row, (&t, &p)) in truth.iter().zip(predicted).enumerate() {
        let w = weights.of(row);
        counts[t as usize].actual += w;
        counts[p as usize].predicted += w;
        counts[t as usize].hits += if t == p { w } else { 0.0 };
    }
    counts
}

/// For each row, whether all labels are correct.
pub fn exact<'a>(
    truth: &'a [bool],
    predicted: &'a [bool],
    n_labels: usize,
) -> impl ExactSizeIterator<Item = bool> + Clone + 'a {
    truth.chunks(n_labels).zip(predicted.chunks(n_labels)).map(|(t, p)| t == p)
}

/// For each row, the share of wrong labels.
pub fn wrong_shares<'a>(
    truth: &'a [bool],
    predicted: &'a [bool],
    n_labels: usize,
) -> impl ExactSizeIterator<Item = f64> + Clone + 'a {
    let share =
        move |(t, p): (&[bool], &[bool])| t.iter().zip(p).filter(|(t, p)| t != p).count() as f64 / n_labels as f64;
    truth.chunks(n_labels).zip(predicted.chunks(n_labels)).map(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_match_hand_computed_values() {
        // Two rows, three labels: the first row is correct, the second row misses one label; the last label never occurs.
        let (truth, predicted) = ([true, false, false, true, true, false], [true, false, false, true, false, false]);
        let counts = counts(&truth, &predicted, 3, Weights::EQUAL);
        assert_eq!(counts.iter().map(Counts::f1).collect::<Vec<_>>(), [1.0, 0.0, 0.0]);
        assert_eq!((macro_average(&counts, Counts::f1), sum_counts(&counts).f1()), (1.0 / 3.0, 0.8));
        assert_eq!((sum_counts(&counts).precision(), sum_counts(&counts).recall()), (1.0, 2.0 / 3.0));
        assert_eq!(exact(&truth, &predicted, 3).collect::<Vec<_>>(), [true, false]);
        assert_eq!(wrong_shares(&truth, &predicted, 3).collect::<Vec<_>>(), [0.0, 1.0 / 3.0]);
    }
}
