//! Scores of sets of labels. With `t`, `p` the true and the predicted marks of a row and label, and `w` the weight of the row:
//! ```text
//! subset accuracy = mean over rows of [all labels are right]        Hamming loss = mean over rows and labels of [t != p]
//! F1 of a label   = 2 sum w t p / (sum w t + sum w p)               macro: the mean over labels      micro: one sum over all labels
//! ```
//! A quotient of 0 by 0 is 0, and a label that neither occurs nor is predicted counts in the macro average with it.

use super::Weights;

/// How much weight of each label is right, true and predicted.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Counts {
    /// The weight of the rows that have the label and are said to.
    pub hits: f64,
    /// The weight of the rows that have it.
    pub actual: f64,
    /// The weight of the rows that are said to have it.
    pub predicted: f64,
}

impl Counts {
    /// Of what is said to have the label, the share that has it.
    pub fn precision(&self) -> f64 {
        if self.predicted > 0.0 { self.hits / self.predicted } else { 0.0 }
    }

    /// Of what has the label, the share that is said to.
    pub fn recall(&self) -> f64 {
        if self.actual > 0.0 { self.hits / self.actual } else { 0.0 }
    }

    /// The harmonic mean of precision and recall.
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

/// All labels taken as one.
pub fn together(counts: &[Counts]) -> Counts {
    let add = |a: Counts, b: &Counts| Counts {
        hits: a.hits + b.hits,
        actual: a.actual + b.actual,
        predicted: a.predicted + b.predicted,
    };
    counts.iter().fold(Counts::default(), add)
}

/// The counts of each of `n_classes` classes, of which every row has one and is said to have one.
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

/// For each row whether all labels are right.
pub fn exact<'a>(
    truth: &'a [bool],
    predicted: &'a [bool],
    n_labels: usize,
) -> impl ExactSizeIterator<Item = bool> + Clone + 'a {
    truth.chunks(n_labels).zip(predicted.chunks(n_labels)).map(|(t, p)| t == p)
}

/// For each row the share of its labels that is wrong.
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
    fn by_hand() {
        // Two rows, three labels: the first row is right, in the second one of three is missed; the last label never occurs.
        let (truth, said) = ([true, false, false, true, true, false], [true, false, false, true, false, false]);
        let counts = counts(&truth, &said, 3, Weights::EQUAL);
        assert_eq!(counts.iter().map(Counts::f1).collect::<Vec<_>>(), [1.0, 0.0, 0.0]);
        assert_eq!((macro_average(&counts, Counts::f1), together(&counts).f1()), (1.0 / 3.0, 0.8));
        assert_eq!((together(&counts).precision(), together(&counts).recall()), (1.0, 2.0 / 3.0));
        assert_eq!(exact(&truth, &said, 3).collect::<Vec<_>>(), [true, false]);
        assert_eq!(wrong_shares(&truth, &said, 3).collect::<Vec<_>>(), [0.0, 1.0 / 3.0]);
    }
}
