//! Symmetric (oblivious) trees: all leaves of a level have the same test.
//!
//! **Idea.** The test of a level is the one with the largest sum of gains over its leaves. A leaf that the test may not split (a child
//! would be too small) adds nothing to the sum, but is split all the same. Such trees are weaker one by one, harder to overfit, and fast to predict with. Tests of a nominal column
//! are for one category against the rest.
//!
//! The trees of several outputs can be grown together: they have the same tests, those with the largest sum of gains over leaves and outputs, and values of their own.
//!
//! **Cost.** For each level, (leaves x bins x columns) steps of the search. **Reference.** Dorogush et al., CatBoost, 2018.

use super::grow::TreeGrower;
use crate::split::histogram::level::LevelGains;
use crate::split::histogram::quantize::unpack;
use crate::split::histogram::scan::{BinTest, NodeTotals, gain};

/// The default depth of a tree.
pub(super) const DEPTH: usize = 6;

/// A leaf of the current level, with the sums and the histogram of each output.
struct LevelLeaf<const W: usize> {
    node: usize,
    sums: Vec<NodeTotals>,
    histograms: Vec<Vec<[i64; W]>>,
}

/// One side of a leaf that was split.
struct SplitSide {
    node: usize,
    n_rows: usize,
    sums: Vec<NodeTotals>,
}

/// A test for a whole level, and its gain.
#[derive(Clone)]
struct LevelTest {
    gain: f64,
    column: u32,
    test: BinTest,
}

impl<const W: usize> TreeGrower<'_, W> {
    pub(super) fn run_symmetric(&mut self) {
        let (sums, histograms) = (0..self.outputs.len()).map(|output| self.begin(output)).unzip();
        let mut level = vec![LevelLeaf { node: 0, sums, histograms }];
        let by_leaves = self.options.max_leaf_nodes.ilog2() as usize;
        let deepest =
            self.options.max_depth.min(if self.options.max_leaf_nodes == usize::MAX { DEPTH } else { by_leaves });
        let mut path = Vec::new();
        for depth in 0..deepest {
            // A level is as one node: the same columns for all of its leaves.
            let open = self.open_columns(0, depth, &path);
            let Some(level_test) = self.level_test(&level, open.as_deref()) else { break };
            if level_test.gain * self.outputs[0].gain_unit() <= self.options.gamma {
                break;
            }
            path.push(level_test.column);
            let parents = std::mem::take(&mut level);
            for leaf in parents {
                let sides = self.split_leaf(&leaf, &level_test);
                if depth + 1 < deepest {
                    level.extend(self.descend(leaf.histograms, sides));
                } else {
                    leaf.histograms.into_iter().for_each(|histogram| self.release(Some(histogram)));
                }
            }
        }
        let histograms = level.into_iter().flat_map(|leaf| leaf.histograms);
        histograms.for_each(|histogram| self.release(Some(histogram)));
    }

    /// The best test for a level.
    fn level_test(&self, level: &[LevelLeaf<W>], open: Option<&[bool]>) -> Option<LevelTest> {
        let mut found: Vec<(&Vec<u32>, Option<LevelTest>)> = self.shares.iter().map(|share| (share, None)).collect();
        self.inputs.team.each(&mut found, |_, (columns, best)| {
            for &column in columns.iter().filter(|&&column| open.is_none_or(|open| open[column as usize])) {
                let candidate = if self.options.nominal[column as usize] {
                    self.best_category(level, column)
                } else {
                    self.best_bound(level, column)
                };
                if let Some(candidate) = candidate
                    && best.as_ref().is_none_or(|best: &LevelTest| candidate.gain > best.gain)
                {
                    *best = Some(candidate);
                }
            }
        });
        let better = |best: Option<LevelTest>, next: LevelTest| match best {
            Some(best) if best.gain >= next.gain => Some(best),
            _ => Some(next),
        };
        found.into_iter().filter_map(|(_, best)| best).fold(None, better)
    }

    /// The best threshold of an ordered column for all leaves together.
    fn best_bound(&self, level: &[LevelLeaf<W>], column: u32) -> Option<LevelTest> {
        let (slots, n_bins) =
            (self.inputs.store.slots(column), self.inputs.store.n_slots()[column as usize] as usize - 1);
        let sides = if self.inputs.store.has_missing()[column as usize] { 2 } else { 1 };
        let monotone = self.options.monotone.get(column as usize).copied().unwrap_or(0);
        let of_output = |number: usize| {
            let mut gains = LevelGains::new(n_bins, sides);
            let rule = &self.outputs[number].rule;
            for leaf in level {
                let words = &leaf.histograms[number][slots.clone()];
                let missing = (sides == 2).then(|| unpack(words[n_bins], rule.shift));
                gains.add(&words[..n_bins], missing, monotone, &leaf.sums[number], rule);
            }
            gains.total()
        };
        let gains = self.sum_of_outputs(of_output);
        // Ties go to the earlier bin, then to missing values on the right.
        let order = (0..n_bins).flat_map(|bin| (0..sides).map(move |side| side * n_bins + bin));
        let best = order.reduce(|best, i| if gains[i] > gains[best] { i } else { best })?;
        let test = BinTest::AtMost { bin: (best % n_bins) as u32, missing_left: best >= n_bins };
        Some(LevelTest { gain: gains[best], column, test })
    }

    /// The best category of a nominal column, against all others, for all leaves together.
    fn best_category(&self, level: &[LevelLeaf<W>], column: u32) -> Option<LevelTest> {
        let slots = self.inputs.store.slots(column);
        let n_slots = self.inputs.store.n_slots()[column as usize] as usize;
        let of_output = |number: usize| {
            let mut gains = vec![0.0; n_slots];
            let rule = &self.outputs[number].rule;
            for leaf in level {
                for (slot, word) in leaf.histograms[number][slots.clone()][..n_slots].iter().enumerate() {
                    gains[slot] += gain(unpack(*word, rule.shift), 0, &leaf.sums[number], rule).unwrap_or(0.0);
                }
            }
            gains
        };
        let gains = self.sum_of_outputs(of_output);
        let best = (0..n_slots).reduce(|best, i| if gains[i] > gains[best] { i } else { best })?;
        let mut set = vec![0u64; n_slots.div_ceil(64)];
        set[best / 64] |= 1 << (best % 64);
        Some(LevelTest { gain: gains[best], column, test: BinTest::InSet(set.into()) })
    }

    /// The sum of the gains of all outputs, in the units of the first.
    fn sum_of_outputs(&self, of_output: impl Fn(usize) -> Vec<f64>) -> Vec<f64> {
        let mut sum = of_output(0);
        for (number, output) in self.outputs.iter().enumerate().skip(1) {
            let unit = output.gain_unit() / self.outputs[0].gain_unit();
            sum.iter_mut().zip(of_output(number)).for_each(|(sum, gain)| *sum += unit * gain);
        }
        sum
    }

    /// Splits a leaf by the test of its level into two new leaves of the tree.
    fn split_leaf(&mut self, leaf: &LevelLeaf<W>, level_test: &LevelTest) -> [SplitSide; 2] {
        let (store, node, column) = (self.inputs.store, leaf.node, level_test.column as usize);
        let mut parts: Vec<_> = self.shards.iter_mut().map(|shard| (shard, (0, 0))).collect();
        let test = &level_test.test;
        self.inputs.team.each(&mut parts, |_, (shard, count)| *count = shard.split(store, node, column, test));
        let rows = parts.iter().fold((0, 0), |sum, (_, count)| (sum.0 + count.0, sum.1 + count.1));
        let n_slots = store.n_slots()[column] as usize;
        let first = self.outputs[0].tree.test.len();
        let gain = level_test.gain * self.outputs[0].gain_unit();
        let sides = self.outputs.iter_mut().enumerate().map(|(number, output)| {
            let mut sum = [0i64; W];
            for (slot, word) in leaf.histograms[number][store.slots(level_test.column)][..n_slots].iter().enumerate() {
                if test.is_left(slot, n_slots) {
                    sum.iter_mut().zip(word).for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
                }
            }
            let (g, h) = unpack(sum, output.rule.shift);
            let NodeTotals { g: all_g, h: all_h, bounds } = leaf.sums[number];
            let sums = [NodeTotals { g, h, bounds }, NodeTotals { g: all_g - g, h: all_h - h, bounds }];
            output.tree.child[node] = first as u32;
            output.tree.gain[node] = gain;
            output.tree.test[node] = Some((level_test.column, test.clone()));
            sums.iter().for_each(|sums| output.push_leaf(sums, self.options.learning_rate));
            (sums[0], sums[1])
        });
        let (left, right) = sides.unzip();
        [
            SplitSide { node: first, n_rows: rows.0, sums: left },
            SplitSide { node: first + 1, n_rows: rows.1, sums: right },
        ]
    }

    /// The leaves of the next level: the histograms of the side with fewer rows are added up, the others are what is left of the parent's.
    fn descend(&mut self, parents: Vec<Vec<[i64; W]>>, [left, right]: [SplitSide; 2]) -> [LevelLeaf<W>; 2] {
        let few = if left.n_rows > right.n_rows { &right } else { &left };
        let mut small_histograms = Vec::with_capacity(parents.len());
        let mut large_histograms = Vec::with_capacity(parents.len());
        for (output, mut large) in parents.into_iter().enumerate() {
            let mut small = self.fresh();
            self.add_up(output, few.node, &mut small, false);
            for (large, small) in large.iter_mut().zip(&small) {
                large.iter_mut().zip(small).for_each(|(large, small)| *large = large.wrapping_sub(*small));
            }
            small_histograms.push(small);
            large_histograms.push(large);
        }
        let histograms = match left.n_rows > right.n_rows {
            true => (large_histograms, small_histograms),
            false => (small_histograms, large_histograms),
        };
        let leaf = |side: SplitSide, histograms| LevelLeaf { node: side.node, sums: side.sums, histograms };
        [leaf(left, histograms.0), leaf(right, histograms.1)]
    }
}
