//! CodingMatrix matrices: which classes are positive and negative for each binary classifier.

use ermine_core::rng::{Rng, below};
use serde::{Deserialize, Serialize};

/// A matrix of `n_classes` by `n_classifiers` signs, row by row: 1 for positive classes, -1 for negative ones, 0 for classes that the classifier is not trained on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodingMatrix {
    signs: Vec<i8>,
    #[serde(rename = "n_parts")]
    n_classifiers: usize,
}

impl CodingMatrix {
    fn new(n_classes: usize, n_classifiers: usize, sign: impl Fn(usize, usize) -> i8) -> CodingMatrix {
        let signs =
            (0..n_classes).flat_map(|k| (0..n_classifiers).map(move |p| (k, p))).map(|(k, p)| sign(k, p)).collect();
        CodingMatrix { signs, n_classifiers }
    }

    /// Each class against all others; a single classifier for two classes.
    pub fn one_vs_rest(n_classes: usize) -> CodingMatrix {
        match n_classes {
            0 | 1 => CodingMatrix::new(n_classes, 0, |_, _| 0),
            2 => CodingMatrix::new(2, 1, |k, _| if k == 1 { 1 } else { -1 }),
            n => CodingMatrix::new(n, n, |k, p| if k == p { 1 } else { -1 }),
        }
    }

    /// Each pair of classes, the later one positive.
    pub fn one_vs_one(n_classes: usize) -> CodingMatrix {
        let pairs: Vec<(usize, usize)> = (0..n_classes).flat_map(|i| (i + 1..n_classes).map(move |j| (i, j))).collect();
        CodingMatrix::new(n_classes, pairs.len(), |k, p| match pairs[p] {
            (_, j) if j == k => 1,
            (i, _) if i == k => -1,
            _ => 0,
        })
    }

    /// Random signs. Columns with a single sign, and columns equal or opposite to an earlier one, are redrawn if possible.
    pub fn random(n_classes: usize, n_classifiers: usize, rng: &mut Rng) -> CodingMatrix {
        if n_classes < 2 {
            return CodingMatrix::one_vs_rest(n_classes);
        }
        const MAX_DRAWS: usize = 100;
        let mut columns: Vec<Vec<i8>> = Vec::with_capacity(n_classifiers);
        for _ in 0..n_classifiers {
            let mut column = vec![1i8; n_classes];
            for _ in 0..MAX_DRAWS {
                column.iter_mut().for_each(|sign| *sign = if below(rng, 2) == 0 { -1 } else { 1 });
                let both = column.contains(&1) && column.contains(&-1);
                let opposite: Vec<i8> = column.iter().map(|s| -s).collect();
                if both && !columns.contains(&column) && !columns.contains(&opposite) {
                    break;
                }
            }
            if !column.contains(&-1) {
                column[0] = -1;
            } else if !column.contains(&1) {
                column[0] = 1;
            }
            columns.push(column);
        }
        CodingMatrix::new(n_classes, n_classifiers, |k, p| columns[p][k])
    }

    /// Number of binary classifiers.
    pub fn n_classifiers(&self) -> usize {
        self.n_classifiers
    }

    /// The sign of a class for a classifier.
    pub fn sign(&self, class: usize, classifier: usize) -> i8 {
        self.signs[class * self.n_classifiers + classifier]
    }

    /// Whether the matrix has `n_classes` rows and valid signs.
    pub fn is_valid_for(&self, n_classes: usize) -> bool {
        self.signs.len() == n_classes.saturating_mul(self.n_classifiers)
            && self.signs.iter().all(|s| (-1..=1).contains(s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ermine_core::rng;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_classifier_has_positive_and_negative_classes(n_classes in 2usize..8, n_classifiers in 1usize..20, seed: u64) {
            let codings = [
                CodingMatrix::one_vs_rest(n_classes),
                CodingMatrix::one_vs_one(n_classes),
                CodingMatrix::random(n_classes, n_classifiers, &mut rng::stream(seed, &[])),
            ];
            for coding in codings {
                prop_assert!(coding.is_valid_for(n_classes));
                for classifier in 0..coding.n_classifiers() {
                    let signs: Vec<i8> = (0..n_classes).map(|k| coding.sign(k, classifier)).collect();
                    prop_assert!(signs.contains(&1) && signs.contains(&-1));
                }
            }
            prop_assert_eq!(CodingMatrix::one_vs_one(n_classes).n_classifiers(), n_classes * (n_classes - 1) / 2);
        }
    }
}
