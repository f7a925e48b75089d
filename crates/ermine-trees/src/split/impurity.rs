//! Gini impurity, entropy and error rate, defined once for all criteria.
//!
//! **Formula.** With w_k the weight of class k and W the sum of them, all three follow from W and one more statistic, the *part*:
//!
//! | impurity | part | cost: W times the impurity |
//! |---|---|---|
//! | error rate | max_k w_k | W - part |
//! | Gini | sum_k w_k^2 | W - part / W |
//! | entropy | sum_k w_k log2 w_k | W log2 W - part |
//!
//! The cost of a split is the sum of its sides' costs, which is at most that of the node. Searches that compare splits of one node maximize the *score* instead, a constant
//! minus the cost; for Gini it is part / W, and fractions are compared without division ([`score_fraction`]).

use ermine_core::choice;

choice! {
    /// Impurity of the classes of a node.
    pub enum Impurity {
        /// Error rate of the majority class (0-1 risk).
        Error = "error",
        /// Gini impurity: the probability that two rows drawn from the node have different classes.
        Gini = "gini",
        /// Entropy of the classes, in bits.
        Entropy = "entropy",
    }
}

impl Impurity {
    /// The statistic of the class weights that the cost needs in addition to their sum.
    #[inline(always)]
    pub fn part(self, weights: impl Iterator<Item = f64>) -> f64 {
        match self {
            Impurity::Error => weights.fold(0.0, f64::max),
            Impurity::Gini => weights.map(|w| w * w).sum(),
            Impurity::Entropy => weights.map(x_log2_x).sum(),
        }
    }

    /// The cost of a set of this weight and part.
    #[inline(always)]
    pub fn cost_from(self, total: f64, part: f64) -> f64 {
        match self {
            Impurity::Error => total - part,
            Impurity::Gini => total - ratio(part, total),
            Impurity::Entropy => x_log2_x(total) - part,
        }
    }

    /// The cost of a node with these class weights: its weight times its impurity.
    #[inline]
    pub fn cost(self, weights: &[f64]) -> f64 {
        let total: f64 = weights.iter().sum();
        if total <= 0.0 {
            return 0.0;
        }
        match self {
            // One logarithm of a ratio per class: no cancellation.
            Impurity::Entropy => weights.iter().filter(|&&w| w > 0.0).map(|w| w * (total / w).log2()).sum(),
            _ => self.cost_from(total, self.part(weights.iter().copied())),
        }
    }

    /// The cost of a node with these class weights that predicts other probabilities: errors, squared distances to the class indicators, or bits.
    pub fn cost_of(self, weights: &[f64], shares: &[f64]) -> f64 {
        let total: f64 = weights.iter().sum();
        let pairs = weights.iter().zip(shares);
        match self {
            Impurity::Error => {
                let best = (1..shares.len()).fold(0, |best, k| if shares[k] > shares[best] { k } else { best });
                total - weights[best]
            }
            Impurity::Gini => self.cost(weights) + pairs.map(|(w, q)| total * (w / total - q).powi(2)).sum::<f64>(),
            Impurity::Entropy => pairs.filter(|(w, _)| **w > 0.0).map(|(w, q)| -w * q.log2()).sum(),
        }
    }

    /// The cost of `left` and `all - left` in one pass over the classes.
    #[inline]
    pub fn cost_of_two(self, all: &[f64], left: &[f64]) -> f64 {
        let (mut left_total, mut right_total) = (0.0, 0.0);
        let (mut left_part, mut right_part) = (0.0f64, 0.0f64);
        for (a, l) in all.iter().zip(left) {
            let r = (a - l).max(0.0);
            left_total += l;
            right_total += r;
            match self {
                Impurity::Error => (left_part, right_part) = (left_part.max(*l), right_part.max(r)),
                Impurity::Gini => (left_part, right_part) = (left_part + l * l, right_part + r * r),
                Impurity::Entropy => {
                    (left_part, right_part) = (left_part + x_log2_x(*l), right_part + x_log2_x(r));
                }
            }
        }
        self.cost_from(left_total, left_part) + self.cost_from(right_total, right_part)
    }

    /// The score of a set with these class weights: higher for purer sets, and at most the sum of the scores of its parts.
    #[inline(always)]
    pub fn score(self, weights: impl Iterator<Item = f64>, total: f64) -> f64 {
        let part = self.part(weights);
        match self {
            Impurity::Error => part,
            Impurity::Gini => ratio(part, total),
            Impurity::Entropy => part - x_log2_x(total),
        }
    }
}

/// The sum of the Gini scores of two sides as numerator and denominator; each side is given by its sum of squares and its weight.
#[inline(always)]
pub fn score_fraction((squares, weight): (f64, f64), (other_squares, other_weight): (f64, f64)) -> (f64, f64) {
    (squares * other_weight + other_squares * weight, weight * other_weight)
}

/// The Gini gain (times weight) of a split with `n` of `all.0` rows on the left, `p` of them of the second class, which has `all.1` rows: free of cancellation.
#[inline(always)]
pub fn two_class_gini_gain((n, p): (f64, f64), all: (f64, f64)) -> f64 {
    let d = p * all.0 - n * all.1;
    2.0 * d * d / (all.0 * n * (all.0 - n))
}

#[inline(always)]
fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

/// x log2 x, which is 0 for 0.
#[inline]
pub fn x_log2_x(x: f64) -> f64 {
    if x > 0.0 { x * x.log2() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [Impurity; 3] = [Impurity::Error, Impurity::Gini, Impurity::Entropy];

    proptest! {
        #[test]
        fn the_fast_costs_are_the_costs_of_both_sides(
            all in prop::collection::vec(0.1..9.0f64, 2..5), share in prop::collection::vec(0.1..0.9f64, 5),
        ) {
            let left: Vec<f64> = all.iter().zip(&share).map(|(a, s)| a * s).collect();
            let right: Vec<f64> = all.iter().zip(&left).map(|(a, l)| a - l).collect();
            let squares = |side: &[f64]| (Impurity::Gini.part(side.iter().copied()), side.iter().sum::<f64>());
            for impurity in ALL {
                let both = impurity.cost(&left) + impurity.cost(&right);
                prop_assert!((impurity.cost_of_two(&all, &left) - both).abs() < 1e-9);
                prop_assert!(both <= impurity.cost(&all) + 1e-9, "a split never costs more than its node");
                let score = |side: &[f64]| impurity.score(side.iter().copied(), side.iter().sum());
                let lacking = score(&left) + score(&right) - score(&all);
                prop_assert!((lacking - (impurity.cost(&all) - both)).abs() < 1e-9, "what scores gain, costs lose");
            }
            let gain = Impurity::Gini.cost(&all) - Impurity::Gini.cost_of_two(&all, &left);
            let (numerator, denominator) = score_fraction(squares(&left), squares(&right));
            let (whole, weight) = squares(&all);
            prop_assert!((numerator / denominator - whole / weight - gain).abs() < 1e-9);
            if all.len() == 2 {
                let of = |side: &[f64]| (side[0] + side[1], side[1]);
                prop_assert!((two_class_gini_gain(of(&left), of(&all)) - gain).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn costs_match_the_textbook() {
        assert_eq!(Impurity::Error.cost(&[3.0, 1.0]), 1.0);
        assert_eq!(Impurity::Gini.cost(&[2.0, 2.0]), 4.0 * 0.5);
        assert_eq!(Impurity::Entropy.cost(&[2.0, 2.0]), 4.0 * 1.0);
    }
}
