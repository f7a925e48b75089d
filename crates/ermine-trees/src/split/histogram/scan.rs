//! The best threshold of a column.
//!
//! **Idea.** One scan over the bins with the sums to the left of each threshold; missing values are tried on both sides. If the leaf objective is the plain quadratic, eight thresholds are
//! evaluated at a time. With a = H_L + lambda, b = H_R + lambda and c = a + b, which is the same for all thresholds,
//!
//! ```text
//! G_L^2 / a + G_R^2 / b = (G^2 + D^2 / (a b)) / c,   D = G_L b - G_R a = c G_L - G a
//! ```
//! so the test D^2 > r a b decides without a division whether a threshold beats the best ratio r so far. Thresholds that pass are evaluated exactly; the test has some tolerance, so that the
//! result doesn't depend on the order of the columns. Ties go to the earlier bin.
//!
//! **Cost.** About two cycles per bin with AVX-512.

use super::leaf_penalty::{LeafPenalty, WeightBounds};
use super::quantize::unpack;
use super::sweep::{self, LANES, NodeTerms};

/// Rules for the splits of a tree; all in quanta.
#[derive(Debug, Clone, Copy)]
pub struct SplitRules {
    /// Penalties on leaf weights.
    pub leaf: LeafPenalty,
    /// Minimum sum of curvatures in a child.
    pub min_child_weight: f64,
    /// Bit position of the gradient in a packed word.
    pub shift: u32,
}

/// Sums and bounds of a node; in quanta.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeTotals {
    /// The sum of the gradients.
    pub g: f64,
    /// The sum of the curvatures.
    pub h: f64,
    /// Bounds on its weight.
    pub bounds: WeightBounds,
}

/// Which bins go left.
#[derive(Debug, Clone, PartialEq)]
pub enum BinTest {
    /// Bins up to this one go left.
    AtMost {
        /// The last bin that goes left.
        bin: u32,
        /// Whether missing values go left.
        missing_left: bool,
    },
    /// These slots go left, possibly including that of missing values.
    InSet(Box<[u64]>),
}

impl BinTest {
    /// Whether a slot goes left; the last slot is for missing values.
    pub fn is_left(&self, slot: usize, n_slots: usize) -> bool {
        match self {
            BinTest::AtMost { missing_left, .. } if slot + 1 == n_slots => *missing_left,
            BinTest::AtMost { bin, .. } => slot <= *bin as usize,
            BinTest::InSet(words) => words.get(slot / 64).is_some_and(|word| word >> (slot % 64) & 1 == 1),
        }
    }
}

/// A split of a node.
#[derive(Debug, Clone, PartialEq)]
pub struct BinSplit {
    /// Decrease of the objective, before `gamma`; in quanta.
    pub gain: f64,
    /// The column.
    pub column: u32,
    /// Which bins go left.
    pub test: BinTest,
    /// The sums of gradient and curvature on the left, in quanta.
    pub left: (f64, f64),
}

impl BinSplit {
    /// Whether this split is better: higher gain, then earlier column.
    pub fn beats(&self, other: &Option<BinSplit>) -> bool {
        other.as_ref().is_none_or(|o| self.gain > o.gain || (self.gain == o.gain && self.column < o.column))
    }
}

/// A threshold: the last bin on the left, the side of missing values, the sums on the left.
#[derive(Debug, Clone, Copy, PartialEq)]
struct BinThreshold {
    bin: usize,
    missing_left: bool,
    left: (f64, f64),
}

/// The best threshold of an ordered column. `words` are its slots: `n_bins` bins, missing values, then zeros up to a multiple of eight. `monotone` is 1 or -1 if the prediction must increase
/// or decrease with the column, else 0. `None` if no threshold gains more than about `floor`.
pub fn best_threshold<const W: usize>(
    words: &[[i64; W]],
    (n_bins, has_missing): (usize, bool),
    monotone: i8,
    node: &NodeTotals,
    rule: &SplitRules,
    floor: f64,
) -> Option<(f64, BinTest, (f64, f64))> {
    let missing = has_missing.then(|| unpack(words[n_bins], rule.shift));
    let plain = rule.leaf.is_plain() && monotone == 0 && node.bounds == WeightBounds::NONE;
    let found = if plain {
        best_of_eight(words, missing, node, rule, floor)
    } else {
        best_in_turn(&words[..n_bins], missing, monotone, node, rule)
    };
    let BinThreshold { mut bin, mut missing_left, mut left } = found?;
    let gain = gain(left, monotone, node, rule)?;
    // Only missing values on the left: use a threshold above all values instead.
    if missing_left && monotone == 0 && missing == Some(left) {
        (bin, missing_left, left) = (n_bins - 1, false, (node.g - left.0, node.h - left.1));
    }
    // Without missing values in training, missing values go to the larger side.
    let missing_left = if has_missing { missing_left } else { 2.0 * left.1 > node.h };
    (gain > 0.0).then_some((gain, BinTest::AtMost { bin: bin as u32, missing_left }, left))
}

/// The gain of a split; `None` if it violates a rule.
pub fn gain(left: (f64, f64), monotone: i8, node: &NodeTotals, rule: &SplitRules) -> Option<f64> {
    let right = (node.g - left.0, node.h - left.1);
    let least = least_weight(rule);
    if left.1 < least || right.1 < least {
        return None;
    }
    let weights = [left, right].map(|(g, h)| rule.leaf.weight(g, h, node.bounds));
    if f64::from(monotone) * (weights[1] - weights[0]) < 0.0 {
        return None;
    }
    let worth = |(g, h): (f64, f64)| rule.leaf.worth(g, h, node.bounds);
    Some(worth(left) + worth(right) - worth((node.g, node.h)))
}

/// Whether the slots other than one with this word weigh enough for a child.
pub fn rest_is_enough<const W: usize>(word: [i64; W], node: &NodeTotals, rule: &SplitRules) -> bool {
    node.h - unpack(word, rule.shift).1 >= least_weight(rule)
}

/// Minimum curvature of a child: the given minimum, and at least one quantum.
pub(super) fn least_weight(rule: &SplitRules) -> f64 {
    rule.min_child_weight.max(1.0)
}

/// Tolerance of the first test, far above rounding errors.
const SLACK: f64 = 1.0 - 1e-9;

/// The best threshold under the plain quadratic: chunks that pass the test are evaluated threshold by threshold.
fn best_of_eight<const W: usize>(
    words: &[[i64; W]],
    missing: Option<(f64, f64)>,
    node: &NodeTotals,
    rule: &SplitRules,
    floor: f64,
) -> Option<BinThreshold> {
    let common = NodeTerms::new(node, rule, missing);
    let mut best: Option<(f64, BinThreshold)> = None;
    let look = |chunk: usize, carry: [i64; W], ratio: f64| {
        let mut sum = carry;
        let mut ratio = ratio;
        for l in 0..LANES {
            (0..W).for_each(|w| sum[w] = sum[w].wrapping_add(words[chunk * LANES + l][w]));
            let (g, h) = unpack(sum, rule.shift);
            for (missing_left, (gm, hm)) in [(false, (0.0, 0.0)), (true, missing.unwrap_or((0.0, f64::INFINITY)))] {
                let left = (g + gm, h + hm);
                let (num, den) = common.weigh(left);
                let found = num / den;
                if found > 0.0 && num > ratio * den && best.is_none_or(|(most, _)| found > most) {
                    best = Some((found, BinThreshold { bin: chunk * LANES + l, missing_left, left }));
                    ratio = ratio.max(found * SLACK);
                }
            }
        }
        ratio
    };
    sweep::sweep(words, &common, common.ratio(floor, node).max(0.0) * SLACK, look);
    best.map(|(_, threshold)| threshold)
}

/// The best threshold under any rules, one at a time.
fn best_in_turn<const W: usize>(
    bins: &[[i64; W]],
    missing: Option<(f64, f64)>,
    monotone: i8,
    node: &NodeTotals,
    rule: &SplitRules,
) -> Option<BinThreshold> {
    let mut best: Option<(f64, BinThreshold)> = None;
    let mut sum = [0i64; W];
    for (bin, word) in bins.iter().enumerate() {
        sum.iter_mut().zip(word).for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
        let (g, h) = unpack(sum, rule.shift);
        let sides = [(false, Some((g, h))), (true, missing.map(|(gm, hm)| (g + gm, h + hm)))];
        for (missing_left, left) in sides.into_iter().filter_map(|(side, left)| left.map(|left| (side, left))) {
            if let Some(gain) = gain(left, monotone, node, rule)
                && best.is_none_or(|(most, _)| gain > most)
            {
                best = Some((gain, BinThreshold { bin, missing_left, left }));
            }
        }
    }
    best.map(|(_, threshold)| threshold)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rule(lambda: f64, alpha: f64, least: f64, shift: u32) -> SplitRules {
        SplitRules { leaf: LeafPenalty { lambda, alpha, max_delta_step: 0.0 }, min_child_weight: least, shift }
    }

    proptest! {
        #[test]
        fn the_vectorized_scan_equals_the_scalar_scan(
            cells in prop::collection::vec((-500i64..500, 0i64..60), 2..700), has_missing: bool, lambda in 0.0f64..20.0, least in 0.0f64..200.0, wide: bool,
        ) {
            let shift = if wide { 0 } else { 24 };
            let mut cells = cells;
            if !has_missing { *cells.last_mut().unwrap() = (0, 0); }
            let node = NodeTotals { g: cells.iter().map(|c| c.0 as f64).sum(), h: cells.iter().map(|c| c.1 as f64).sum(), bounds: WeightBounds::NONE };
            let rule = rule(lambda, 0.0, least, shift);
            let (fast, slow) = if wide {
                let mut words: Vec<[i64; 2]> = cells.iter().map(|&(g, h)| [g, h]).collect();
                words.resize(words.len().next_multiple_of(8), [0, 0]);
                (best_threshold(&words, (cells.len() - 1, has_missing), 0, &node, &rule, 0.0), oracle(&cells, has_missing, &node, &rule))
            } else {
                let mut words: Vec<[i64; 1]> = cells.iter().map(|&(g, h)| [(g << shift) + h]).collect();
                words.resize(words.len().next_multiple_of(8), [0]);
                (best_threshold(&words, (cells.len() - 1, has_missing), 0, &node, &rule, 0.0), oracle(&cells, has_missing, &node, &rule))
            };
            match (fast, slow) {
                (Some((gain, test, left)), Some(best)) => {
                    prop_assert!((gain - best).abs() <= 1e-9 * best.max(1.0), "{gain} {best}");
                    let side = (0..cells.len()).filter(|&s| test.is_left(s, cells.len()));
                    let sums = side.fold((0, 0), |sum, s| (sum.0 + cells[s].0, sum.1 + cells[s].1));
                    if has_missing { prop_assert_eq!((sums.0 as f64, sums.1 as f64), left); }
                }
                (None, best) => prop_assert!(best.is_none_or(|b| b < 1e-6), "{best:?}"),
                (fast, None) => prop_assert!(false, "{fast:?}"),
            }
        }
    }

    /// The gain of the best threshold by brute force.
    fn oracle(cells: &[(i64, i64)], has_missing: bool, node: &NodeTotals, rule: &SplitRules) -> Option<f64> {
        let (missing, bins) = cells.split_last().unwrap();
        let score = |g: f64, h: f64| if h + rule.leaf.lambda > 0.0 { g * g / (h + rule.leaf.lambda) } else { 0.0 };
        let mut best: Option<f64> = None;
        for bin in 0..bins.len() {
            for missing_left in [false, true] {
                let (mut g, mut h) = bins[..=bin].iter().fold((0.0, 0.0), |s, c| (s.0 + c.0 as f64, s.1 + c.1 as f64));
                if missing_left && has_missing {
                    (g, h) = (g + missing.0 as f64, h + missing.1 as f64);
                }
                let least = rule.min_child_weight.max(1.0);
                if h >= least && node.h - h >= least {
                    let gain = 0.5 * (score(g, h) + score(node.g - g, node.h - h) - score(node.g, node.h));
                    best = Some(best.unwrap_or(0.0).max(gain)).filter(|b| *b > 0.0);
                }
            }
        }
        best
    }
}
