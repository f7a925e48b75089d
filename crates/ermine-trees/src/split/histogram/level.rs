//! Adds the gains of all thresholds of a column over the nodes of a level, for symmetric trees.
//!
//! **Idea.** First the sums to the left of each threshold, then all gains at once. Notation and formula as in [`scan`](super::scan), with one division per threshold:
//!
//! ```text
//! gain = 1/2 [ (G^2 + D^2 / (a b)) / c - G^2 / (H + lambda) ],   D = c G_L - G a
//! ```
//! **Cost.** About four cycles per threshold with AVX-512.

use super::leaf_penalty::WeightBounds;
use super::quantize::unpack;
use super::scan::{NodeTotals, SplitRules, gain, least_weight};
use super::sweep::NodeTerms;

/// Adds the gain of each threshold of an ordered column in a node to `gains`; thresholds that violate a rule add nothing. `bins` are the column's slots without that of missing values. First
/// come the gains with missing values on the right, then, if `missing` has their sums, the gains with missing values on the left.
pub fn add_gains<const W: usize>(
    bins: &[[i64; W]],
    missing: Option<(f64, f64)>,
    monotone: i8,
    node: &NodeTotals,
    rule: &SplitRules,
    gains: &mut [f64],
) {
    if node.h < 2.0 * least_weight(rule) {
        return;
    }
    let mut sum = [0i64; W];
    let sums: Vec<[i64; W]> = bins
        .iter()
        .map(|word| {
            (0..W).for_each(|w| sum[w] = sum[w].wrapping_add(word[w]));
            sum
        })
        .collect();
    let plain = rule.leaf.is_plain() && monotone == 0 && node.bounds == WeightBounds::NONE;
    let common = NodeTerms::new(node, rule, None);
    let sides = [Some((0.0, 0.0)), missing];
    for (side, gains) in sides.into_iter().flatten().zip(gains.chunks_mut(bins.len())) {
        if plain {
            add_plain(&sums, side, &common, rule.shift, gains);
        } else {
            for (gains, &sum) in gains.iter_mut().zip(&sums) {
                let (g, h) = unpack(sum, rule.shift);
                *gains += gain((g + side.0, h + side.1), monotone, node, rule).unwrap_or(0.0);
            }
        }
    }
}

ermine_core::versions! {
    fn add_plain<const W: usize>(sums: &[[i64; W]], side: (f64, f64), common: &NodeTerms, shift: u32, gains: &mut [f64]) {
        for (gain, &sum) in gains.iter_mut().zip(sums) {
            let (g, h) = unpack(sum, shift);
            *gain += common.gain((g + side.0, h + side.1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::histogram::leaf_penalty::LeafPenalty;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn vectorized_gains_equal_scalar_gains(
            cells in prop::collection::vec((-500i64..500, 0i64..60), 2..300), missing in prop::option::of((-500i64..500, 0i64..60)),
            lambda in 0.0f64..20.0, least in 0.0f64..200.0, wide: bool,
        ) {
            let shift = if wide { 0 } else { 24 };
            let rule = SplitRules { leaf: LeafPenalty { lambda, alpha: 0.0, max_delta_step: 0.0 }, min_child_weight: least, shift };
            let total = cells.iter().chain(&missing).fold((0, 0), |sum, cell| (sum.0 + cell.0, sum.1 + cell.1));
            let node = NodeTotals { g: total.0 as f64, h: total.1 as f64, bounds: WeightBounds::NONE };
            let aside = missing.map(|(g, h)| (g as f64, h as f64));
            let sides = 1 + usize::from(missing.is_some());
            let mut found = vec![1.0; sides * cells.len()];
            if wide {
                add_gains(&cells.iter().map(|&(g, h)| [g, h]).collect::<Vec<_>>(), aside, 0, &node, &rule, &mut found);
            } else {
                add_gains(&cells.iter().map(|&(g, h)| [(g << shift) + h]).collect::<Vec<_>>(), aside, 0, &node, &rule, &mut found);
            }
            for side in 0..sides {
                let (mut g, mut h) = if side == 0 { (0.0, 0.0) } else { aside.unwrap() };
                for (bin, cell) in cells.iter().enumerate() {
                    (g, h) = (g + cell.0 as f64, h + cell.1 as f64);
                    let expected = 1.0 + gain((g, h), 0, &node, &rule).unwrap_or(0.0);
                    let found = found[side * cells.len() + bin];
                    prop_assert!((found - expected).abs() <= 1e-9 * expected.abs().max(node.g * node.g), "{found} {expected}");
                }
            }
        }
    }
}
