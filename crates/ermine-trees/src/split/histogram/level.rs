//! The gains of all thresholds of a column in one node, added to what the same thresholds gain in other nodes: how a level that asks one question is searched.
//!
//! **Idea.** The sums to the left of each bound first, then all gains at once. Names and formula as in [`scan`](super::scan): with one division a bound,
//!
//! ```text
//! gain = 1/2 [ (G^2 + D^2 / (a b)) / c - G^2 / (H + lambda) ],   D = c G_L - G a
//! ```
//! **Cost.** About four cycles a bound on a machine with AVX-512.

use super::quantise::unpack;
use super::regularised::Bounds;
use super::scan::{Node, Rule, gain, least_weight};
use super::sweep::Common;

/// Adds to `gains` what each threshold of an ordered column gains in a node; nothing where a child would break a rule. `bins` are the column's slots but that of missing values. The gains
/// with missing values on the right come first, then, where `missing` has the sums of those, the gains with them on the left.
pub fn add_gains<const W: usize>(
    bins: &[[i64; W]],
    missing: Option<(f64, f64)>,
    monotone: i8,
    node: &Node,
    rule: &Rule,
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
    let plain = rule.leaf.is_plain() && monotone == 0 && node.bounds == Bounds::NONE;
    let common = Common::new(node, rule, None);
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
    fn add_plain<const W: usize>(sums: &[[i64; W]], side: (f64, f64), common: &Common, shift: u32, gains: &mut [f64]) {
        for (gain, &sum) in gains.iter_mut().zip(sums) {
            let (g, h) = unpack(sum, shift);
            *gain += common.gain((g + side.0, h + side.1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::histogram::regularised::Regularised;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_at_once_adds_what_one_after_the_other_gains(
            cells in prop::collection::vec((-500i64..500, 0i64..60), 2..300), missing in prop::option::of((-500i64..500, 0i64..60)),
            lambda in 0.0f64..20.0, least in 0.0f64..200.0, wide: bool,
        ) {
            let shift = if wide { 0 } else { 24 };
            let rule = Rule { leaf: Regularised { lambda, alpha: 0.0, max_delta_step: 0.0 }, min_child_weight: least, shift };
            let total = cells.iter().chain(&missing).fold((0, 0), |sum, cell| (sum.0 + cell.0, sum.1 + cell.1));
            let node = Node { g: total.0 as f64, h: total.1 as f64, bounds: Bounds::NONE };
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
