//! The best subset of the categories of a nominal column.
//!
//! **Idea.** For a quadratic objective the best subset is a prefix of the categories sorted by G / H (Fisher), so k - 1 subsets are enough. This flexibility overfits, so it is regularized:
//! categories are sorted by G / (H + smooth), `extra_lambda` is added to the penalty on the children, at most `most` categories go to the smaller side, and rare categories stay on the other
//! side. With few categories, each is tried against all others without this regularization. Missing is another category.
//!
//! **Cost.** O(k log k). **Reference.** Fisher, On Grouping for Maximum Homogeneity, 1958; the regularization is that of LightGBM.

use super::quantize::unpack;
use super::scan::{BinTest, NodeTotals, SplitRules, gain};

/// Regularization of splits on nominal columns; curvatures in quanta.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CategoryRegularization {
    /// Columns with at most this many categories are split one versus rest.
    pub one_against_rest: usize,
    /// Added to the curvature of a category when sorting.
    pub smooth: f64,
    /// Added to lambda.
    pub extra_lambda: f64,
    /// Maximum number of categories on the smaller side.
    pub most: usize,
    /// Minimum curvature of a category, and of each step of the scan.
    pub least: f64,
}

/// The best split of a nominal column: gain, slots on the left, sums on the left. `words` are its slots; the last is for missing values.
pub fn best_subset<const W: usize>(
    words: &[[i64; W]],
    node: &NodeTotals,
    rule: &SplitRules,
    caution: &CategoryRegularization,
) -> Option<(f64, BinTest, (f64, f64))> {
    let sums: Vec<(f64, f64)> = words.iter().map(|&word| unpack(word, rule.shift)).collect();
    let present: Vec<usize> = (0..sums.len()).filter(|&slot| sums[slot].1 > 0.0).collect();
    let (found, bare) = if words.len() <= caution.one_against_rest + 1 {
        (best_single(&sums, &present, node, rule), *rule)
    } else {
        let mut leaf = rule.leaf;
        leaf.lambda += caution.extra_lambda;
        let rule = SplitRules { leaf, ..*rule };
        (best_prefix(&sums, &present, node, &rule, caution), rule)
    };
    let slots = found?;
    let mut set = vec![0u64; words.len().div_ceil(64)];
    let mut left = (0.0, 0.0);
    for slot in slots {
        set[slot / 64] |= 1 << (slot % 64);
        left = (left.0 + sums[slot].0, left.1 + sums[slot].1);
    }
    let gain = gain(left, 0, node, &bare)?;
    (gain > 0.0).then(|| (gain, BinTest::InSet(set.into()), left))
}

/// The best category versus all others.
fn best_single(sums: &[(f64, f64)], present: &[usize], node: &NodeTotals, rule: &SplitRules) -> Option<Vec<usize>> {
    let mut best = None;
    for &slot in present {
        if let Some(gain) = gain(sums[slot], 0, node, rule)
            && best.is_none_or(|(most, _)| gain > most)
        {
            best = Some((gain, slot));
        }
    }
    best.map(|(_, slot)| vec![slot])
}

/// The best prefix of the categories sorted by G / (H + smooth), from either end.
fn best_prefix(
    sums: &[(f64, f64)],
    present: &[usize],
    node: &NodeTotals,
    rule: &SplitRules,
    caution: &CategoryRegularization,
) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = present.iter().copied().filter(|&slot| sums[slot].1 >= caution.least).collect();
    let ratio = |slot: usize| sums[slot].0 / (sums[slot].1 + caution.smooth);
    order.sort_by(|&a, &b| ratio(a).total_cmp(&ratio(b)));
    let most = caution.most.min(order.len().div_ceil(2));
    let mut best: Option<(f64, Vec<usize>)> = None;
    for backwards in [false, true] {
        let at = |i: usize| order[if backwards { order.len() - 1 - i } else { i }];
        let (mut left, mut fresh) = ((0.0, 0.0), 0.0);
        for i in 0..most {
            let (g, h) = sums[at(i)];
            (left, fresh) = ((left.0 + g, left.1 + h), fresh + h);
            if fresh < caution.least {
                continue;
            }
            if let Some(gain) = gain(left, 0, node, rule) {
                fresh = 0.0;
                if best.as_ref().is_none_or(|(most, _)| gain > *most) {
                    best = Some((gain, (0..=i).map(at).collect()));
                }
            }
        }
    }
    best.map(|(_, slots)| slots)
}

#[cfg(test)]
mod tests {
    use super::super::leaf_penalty::{LeafPenalty, WeightBounds};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn without_regularization_no_subset_is_better(cells in prop::collection::vec((-50i64..50, 1i64..20), 2..9), lambda in Just(0.0f64)) {
            let node = NodeTotals { g: cells.iter().map(|c| c.0 as f64).sum(), h: cells.iter().map(|c| c.1 as f64).sum(), bounds: WeightBounds::NONE };
            let rule = SplitRules { leaf: LeafPenalty { lambda, alpha: 0.0, max_delta_step: 0.0 }, min_child_weight: 1.0, shift: 0 };
            let caution = CategoryRegularization { one_against_rest: 0, smooth: 0.0, extra_lambda: 0.0, most: 64, least: 0.0 };
            let words: Vec<[i64; 2]> = cells.iter().map(|&(g, h)| [g, h]).collect();
            let found = best_subset(&words, &node, &rule, &caution).map_or(0.0, |f| f.0);
            let mut most: f64 = 0.0;
            for subset in 1..(1usize << cells.len()) - 1 {
                let inside = (0..cells.len()).filter(|i| subset >> i & 1 == 1);
                let left = inside.fold((0.0, 0.0), |s, i| (s.0 + cells[i].0 as f64, s.1 + cells[i].1 as f64));
                most = most.max(gain(left, 0, &node, &rule).unwrap_or(0.0));
            }
            prop_assert!((found - most).abs() <= 1e-9 * most.max(1.0), "{found} {most}");
        }
    }
}
