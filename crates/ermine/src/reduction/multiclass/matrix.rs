//! Coding matrices: what each binary part learns about each class.

use ermine_core::rng::{Rng, below};
use serde::{Deserialize, Serialize};

/// `signs[class * n_parts + part]`: 1 positive, -1 negative, 0 not seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coding {
    signs: Vec<i8>,
    n_parts: usize,
}

impl Coding {
    fn new(n_classes: usize, n_parts: usize, sign: impl Fn(usize, usize) -> i8) -> Coding {
        let signs = (0..n_classes).flat_map(|k| (0..n_parts).map(move |p| (k, p))).map(|(k, p)| sign(k, p)).collect();
        Coding { signs, n_parts }
    }

    /// Each class against all others; one part is enough for two classes.
    pub fn one_vs_rest(n_classes: usize) -> Coding {
        match n_classes {
            0 | 1 => Coding::new(n_classes, 0, |_, _| 0),
            2 => Coding::new(2, 1, |k, _| if k == 1 { 1 } else { -1 }),
            n => Coding::new(n, n, |k, p| if k == p { 1 } else { -1 }),
        }
    }

    /// Each pair of classes, the later one positive.
    pub fn one_vs_one(n_classes: usize) -> Coding {
        let pairs: Vec<(usize, usize)> = (0..n_classes).flat_map(|i| (i + 1..n_classes).map(move |j| (i, j))).collect();
        Coding::new(n_classes, pairs.len(), |k, p| match pairs[p] {
            (_, j) if j == k => 1,
            (i, _) if i == k => -1,
            _ => 0,
        })
    }

    /// Random bits, drawn until no part has one sign only and no two classes the same code, if that is possible.
    pub fn random(n_classes: usize, n_parts: usize, rng: &mut Rng) -> Coding {
        if n_classes < 2 {
            return Coding::one_vs_rest(n_classes);
        }
        const TRIES: usize = 100;
        let mut columns: Vec<Vec<i8>> = Vec::with_capacity(n_parts);
        for _ in 0..n_parts {
            let mut column = vec![1i8; n_classes];
            for _ in 0..TRIES {
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
        Coding::new(n_classes, n_parts, |k, p| columns[p][k])
    }

    /// How many parts.
    pub fn n_parts(&self) -> usize {
        self.n_parts
    }

    /// What a part learns about a class.
    pub fn sign(&self, class: usize, part: usize) -> i8 {
        self.signs[class * self.n_parts + part]
    }

    /// Whether it is a coding of so many classes.
    pub fn is_of(&self, n_classes: usize) -> bool {
        self.signs.len() == n_classes.saturating_mul(self.n_parts) && self.signs.iter().all(|s| (-1..=1).contains(s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ermine_core::rng;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_part_has_two_sides(n_classes in 2usize..8, n_parts in 1usize..20, seed: u64) {
            let codings = [
                Coding::one_vs_rest(n_classes),
                Coding::one_vs_one(n_classes),
                Coding::random(n_classes, n_parts, &mut rng::stream(seed, &[])),
            ];
            for coding in codings {
                prop_assert!(coding.is_of(n_classes));
                for part in 0..coding.n_parts() {
                    let signs: Vec<i8> = (0..n_classes).map(|k| coding.sign(k, part)).collect();
                    prop_assert!(signs.contains(&1) && signs.contains(&-1));
                }
            }
            prop_assert_eq!(Coding::one_vs_one(n_classes).n_parts(), n_classes * (n_classes - 1) / 2);
        }
    }
}
