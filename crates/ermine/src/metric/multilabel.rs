//! Scores of sets of labels. With `t`, `p` the true and the predicted marks of a row and label, and `w` the weight of the row:
//! ```text
//! subset accuracy = mean over rows of [all labels are right]        Hamming loss = mean over rows and labels of [t != p]
//! F1 of a label   = 2 sum w t p / (sum w t + sum w p)               macro: the mean over labels      micro: one sum over all labels
//! ```
//! As for classes, the macro average leaves out labels that neither occur nor are predicted, and a quotient of 0 by 0 is 0.

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

/// The mean F1 of the labels.
pub fn macro_f1(counts: &[Counts]) -> f64 {
    let seen: Vec<f64> = counts.iter().filter(|c| c.actual + c.predicted > 0.0).map(Counts::f1).collect();
    if seen.is_empty() { 0.0 } else { seen.iter().sum::<f64>() / seen.len() as f64 }
}

/// The F1 of all labels taken as one.
pub fn micro_f1(counts: &[Counts]) -> f64 {
    let add = |a: Counts, b: &Counts| Counts {
        hits: a.hits + b.hits,
        actual: a.actual + b.actual,
        predicted: a.predicted + b.predicted,
    };
    counts.iter().fold(Counts::default(), add).f1()
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
        assert_eq!((macro_f1(&counts), micro_f1(&counts)), (0.5, 0.8));
        assert_eq!(exact(&truth, &said, 3).collect::<Vec<_>>(), [true, false]);
        assert_eq!(wrong_shares(&truth, &said, 3).collect::<Vec<_>>(), [0.0, 1.0 / 3.0]);
    }
}
