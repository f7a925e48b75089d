//! The best subset of the categories of a nominal column.
//!
//! **Idea.** Under the quadratic the best subset is a prefix of the categories in the order of G / H (Fisher), so that k - 1 subsets are enough. Such a freedom fits
//! noise: categories are therefore shrunk towards each other by `smooth` (the order is that of G / (H + smooth)), the penalty on the children is raised
//! by `extra_lambda`, at most `most` categories go to the smaller side, and categories with next to no rows stay on the other side. With few categories each is tried
//! against all others, without these measures. Missing is one more category.
//!
//! **Cost.** O(k log k). **Reference.** Fisher, On Grouping for Maximum Homogeneity, 1958; the measures are those of LightGBM.

use super::quantise::unpack;
use super::scan::{BinTest, Node, Rule, gain};

/// How splits of nominal columns are held back; curvatures in quanta.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Caution {
    /// Columns with at most this many categories are split one against the rest.
    pub one_against_rest: usize,
    /// Shrinks G / H of categories with little curvature.
    pub smooth: f64,
    /// Added to lambda.
    pub extra_lambda: f64,
    /// Most categories on the smaller side.
    pub most: usize,
    /// The least curvature of a category, and of the rows that are added by each step of the sweep.
    pub least: f64,
}

/// The best split of a nominal column: gain, slots that go left, sums on the left. `words` are its slots, that of missing values last.
pub fn best_subset<const W: usize>(
    words: &[[i64; W]],
    node: &Node,
    rule: &Rule,
    caution: &Caution,
) -> Option<(f64, BinTest, (f64, f64))> {
    let sums: Vec<(f64, f64)> = words.iter().map(|&word| unpack(word, rule.shift)).collect();
    let present: Vec<usize> = (0..sums.len()).filter(|&slot| sums[slot].1 > 0.0).collect();
    let (found, bare) = if words.len() <= caution.one_against_rest + 1 {
        (best_single(&sums, &present, node, rule), *rule)
    } else {
        let mut leaf = rule.leaf;
        leaf.lambda += caution.extra_lambda;
        let rule = Rule { leaf, ..*rule };
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

/// The best category against all others.
fn best_single(sums: &[(f64, f64)], present: &[usize], node: &Node, rule: &Rule) -> Option<Vec<usize>> {
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

/// The best prefix of the categories in the order of G / (H + smooth), from either end.
fn best_prefix(
    sums: &[(f64, f64)],
    present: &[usize],
    node: &Node,
    rule: &Rule,
    caution: &Caution,
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
    use super::super::regularised::{Bounds, Regularised};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn without_caution_no_subset_is_better(cells in prop::collection::vec((-50i64..50, 1i64..20), 2..9), lambda in Just(0.0f64)) {
            let node = Node { g: cells.iter().map(|c| c.0 as f64).sum(), h: cells.iter().map(|c| c.1 as f64).sum(), bounds: Bounds::NONE };
            let rule = Rule { leaf: Regularised { lambda, alpha: 0.0, max_delta_step: 0.0 }, min_child_weight: 1.0, shift: 0 };
            let caution = Caution { one_against_rest: 0, smooth: 0.0, extra_lambda: 0.0, most: 64, least: 0.0 };
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
