//! Adds the gains of all thresholds of a column over the nodes of a level, for symmetric trees.
//!
//! **Idea.** First the sums to the left of each threshold, then all gains at once. Notation and formula as in [`scan`](super::scan), with one division per threshold:
//!
//! ```text
//! gain = 1/2 [ (G^2 + D^2 / (a b)) / c - G^2 / (H + lambda) ],   D = c G_L - G a
//! ```
//! In a node of few rows most bins are empty, and the gain changes only at the others: there it is the sum of its changes so far, and all nodes share one pass that adds them up.
//!
//! **Cost.** About four cycles per threshold with AVX-512; in nodes of few rows, some more per bin that is not empty.

use super::leaf_penalty::WeightBounds;
use super::quantize::unpack;
use super::scan::{NodeTotals, SplitRules, gain, least_weight};
use super::sweep::NodeTerms;

/// The gains of all thresholds of a column, summed over nodes.
pub struct LevelGains {
    gains: Vec<f64>,
    /// How much the gain changes from the threshold before.
    changes: Vec<f64>,
    n_bins: usize,
}

impl LevelGains {
    /// Of no node yet. `sides`: 2 if missing values are tried on both sides.
    pub fn new(n_bins: usize, sides: usize) -> LevelGains {
        LevelGains { gains: vec![0.0; n_bins * sides], changes: vec![0.0; n_bins * sides], n_bins }
    }

    /// Adds the gains in a node: see [`add_gains`].
    pub fn add<const W: usize>(
        &mut self,
        bins: &[[i64; W]],
        missing: Option<(f64, f64)>,
        monotone: i8,
        node: &NodeTotals,
        rule: &SplitRules,
    ) {
        if node.h < 2.0 * least_weight(rule) {
            return;
        }
        let n_filled: usize = bins.iter().map(|word| usize::from(*word != [0; W])).sum();
        if n_filled * MANY_BINS > bins.len() {
            add_gains(bins, missing, monotone, node, rule, &mut self.gains);
        } else {
            add_changes(bins, missing, monotone, node, rule, &mut self.changes);
        }
    }

    /// The sums.
    pub fn total(mut self) -> Vec<f64> {
        for (gains, changes) in self.gains.chunks_mut(self.n_bins).zip(self.changes.chunks(self.n_bins)) {
            let mut gain = 0.0;
            for (sum, change) in gains.iter_mut().zip(changes) {
                gain += change;
                *sum += gain;
            }
        }
        self.gains
    }
}

/// A node of few rows has fewer than one in so many bins that are not empty.
const MANY_BINS: usize = 3;

/// Adds the changes of the gain from threshold to threshold.
fn add_changes<const W: usize>(
    bins: &[[i64; W]],
    missing: Option<(f64, f64)>,
    monotone: i8,
    node: &NodeTotals,
    rule: &SplitRules,
    changes: &mut [f64],
) {
    let plain = rule.leaf.is_plain() && monotone == 0 && node.bounds == WeightBounds::NONE;
    let common = NodeTerms::new(node, rule, None);
    for (side, changes) in [Some((0.0, 0.0)), missing].into_iter().flatten().zip(changes.chunks_mut(bins.len())) {
        let (mut sum, mut before) = ([0i64; W], 0.0);
        for (bin, word) in bins.iter().enumerate() {
            if bin > 0 && *word == [0; W] {
                continue;
            }
            (0..W).for_each(|w| sum[w] = sum[w].wrapping_add(word[w]));
            let (g, h) = unpack(sum, rule.shift);
            let left = (g + side.0, h + side.1);
            let found = if plain { common.gain(left) } else { gain(left, monotone, node, rule).unwrap_or(0.0) };
            changes[bin] += found - before;
            before = found;
        }
    }
}

/// Adds the gain of each threshold of an ordered column in a node to `gains`; thresholds that violate a rule add nothing. `bins` are the column's slots without that of missing values. First
/// come the gains with missing values on the right, then, if `missing` has their sums, the gains with missing values on the left.
fn add_gains<const W: usize>(
    bins: &[[i64; W]],
    missing: Option<(f64, f64)>,
    monotone: i8,
    node: &NodeTotals,
    rule: &SplitRules,
    gains: &mut [f64],
) {
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
            lambda in 0.0f64..20.0, least in 0.0f64..200.0, wide: bool, every in 1usize..9,
        ) {
            let shift = if wide { 0 } else { 24 };
            let rule = SplitRules { leaf: LeafPenalty { lambda, alpha: 0.0, max_delta_step: 0.0 }, min_child_weight: least, shift };
            let aside = missing.map(|(g, h)| (g as f64, h as f64));
            let sides = 1 + usize::from(missing.is_some());
            // Few bins that are not empty, or all.
            let cells: Vec<(i64, i64)> = cells.into_iter().enumerate().map(|(i, cell)| if i % every == 0 { cell } else { (0, 0) }).collect();
            let total = cells.iter().chain(&missing).fold((0, 0), |sum, cell| (sum.0 + cell.0, sum.1 + cell.1));
            let node = NodeTotals { g: total.0 as f64, h: total.1 as f64, bounds: WeightBounds::NONE };
            let mut sums = LevelGains::new(cells.len(), sides);
            if wide {
                sums.add(&cells.iter().map(|&(g, h)| [g, h]).collect::<Vec<_>>(), aside, 0, &node, &rule);
            } else {
                sums.add(&cells.iter().map(|&(g, h)| [(g << shift) + h]).collect::<Vec<_>>(), aside, 0, &node, &rule);
            }
            let found = sums.total();
            for side in 0..sides {
                let (mut g, mut h) = if side == 0 { (0.0, 0.0) } else { aside.unwrap() };
                for (bin, cell) in cells.iter().enumerate() {
                    (g, h) = (g + cell.0 as f64, h + cell.1 as f64);
                    let expected = gain((g, h), 0, &node, &rule).unwrap_or(0.0);
                    let found = found[side * cells.len() + bin];
                    prop_assert!((found - expected).abs() <= 1e-9 * expected.abs().max(node.g * node.g), "{found} {expected}");
                }
            }
        }
    }
}
