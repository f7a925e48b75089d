//! Whole subtrees of at most 64 rows, as bit masks.
//!
//! **Idea.** Once a node has at most 64 rows, its bins are transposed to columns, and everything below it is grown on bit masks of rows ([`masks`](crate::split::row_masks)):
//! no line is moved any more, and a node takes a few hundred cycles.

use super::search::BinnedTreeBuilder;
use super::{BinnedNode, GrownForestTree};
use crate::split::bin_statistics::{BinStatistics, SampledRow};
use crate::split::row_masks::{
    Bins64, ClassMasks, MaskCut, MaskStatistics, TwoClassMasks, best_cut, best_of, extremes, extremes_of, set_bits,
    transpose,
};

/// Rows of a subtree, at most.
const MOST: usize = 64;

/// Scratch memory for subtrees.
#[derive(Default)]
pub(super) struct SubtreeScratch {
    columns: Vec<Bins64>,
    items: Vec<SampledRow>,
    extremes: Vec<(u8, u8)>,
    cuts: Vec<(u32, u8)>,
    stack: Vec<PendingMaskNode>,
}

/// A node that may be split.
struct PendingMaskNode {
    node: usize,
    rows: u64,
    depth: usize,
}

/// A split: the column, the last bin on the left, the left rows, and the gain.
struct MaskSplit {
    column: usize,
    bin: u8,
    left: u64,
    gain: f64,
}

impl<S: BinStatistics> BinnedTreeBuilder<'_, S> {
    /// Whether the subtree below a node can be grown with bit masks.
    pub(super) fn fits_masks(&self, open: &BinnedNode<S::Number>) -> bool {
        let limits = self.limits;
        let free = limits.min_samples_leaf <= 1.0 && limits.min_weight_leaf <= 0.0 && limits.max_leaf_nodes.is_none();
        open.end - open.start <= MOST && free && self.lines.plain && self.statistics.n_classes().is_some()
    }

    /// Grows everything below a node.
    pub(super) fn grow_mask_subtree(
        &mut self,
        lines: &[u8],
        open: BinnedNode<S::Number>,
        grown: &mut GrownForestTree,
        value: &impl Fn(&mut dyn Iterator<Item = SampledRow>, &[S::Number], &mut [f64]),
    ) {
        let stride = self.lines.stride;
        let lines = &lines[open.start * stride..open.end * stride];
        let mut scratch_masks = std::mem::take(&mut self.scratch_masks);
        scratch_masks.items.clear();
        scratch_masks.items.extend(lines.chunks_exact(stride).map(SampledRow::of_line));
        let n = scratch_masks.items.len();
        let rows = if n == MOST { u64::MAX } else { (1 << n) - 1 };
        scratch_masks.stack.push(PendingMaskNode { node: open.node, rows, depth: open.depth });
        // A pure node needs no columns.
        if n >= 2 && !self.statistics.is_pure(&open.all) {
            scratch_masks.columns.resize(self.lines.columns.len(), [0; MOST]);
            let rows = self.lines;
            match &rows.sparse {
                None => transpose(lines, stride, &mut scratch_masks.columns),
                Some(sparse) => self.transpose_sparse(sparse, lines, &mut scratch_masks.columns),
            }
        }
        let classes =
            || lines.chunks_exact(stride).map(SampledRow::of_line).map(|item| (item.target as usize, item.weight));
        match self.statistics.n_classes().unwrap_or(0) {
            0..=2 => self.grow_masks(&TwoClassMasks::new(classes()), &mut scratch_masks, grown, value),
            3..=8 => self.grow_masks(&ClassMasks::<1>::new(classes()), &mut scratch_masks, grown, value),
            9..=16 => self.grow_masks(&ClassMasks::<2>::new(classes()), &mut scratch_masks, grown, value),
            _ => self.grow_masks(&ClassMasks::<4>::new(classes()), &mut scratch_masks, grown, value),
        }
        self.scratch_masks = scratch_masks;
    }

    fn grow_masks<T: MaskStatistics>(
        &mut self,
        sets: &T,
        scratch_masks: &mut SubtreeScratch,
        grown: &mut GrownForestTree,
        value: &impl Fn(&mut dyn Iterator<Item = SampledRow>, &[S::Number], &mut [f64]),
    ) {
        while let Some(PendingMaskNode { node, rows, depth }) = scratch_masks.stack.pop() {
            let Some(split) = self.split_mask(sets, scratch_masks, rows, depth) else {
                let mut items = set_bits(rows).map(|row| scratch_masks.items[row]);
                self.scratch[0].fill(S::Number::default());
                items.clone().for_each(|item| self.statistics.add(&mut self.scratch[0], item));
                value(&mut items, &self.scratch[0], grown.value_mut(node));
                continue;
            };
            let (left, right, child) = (split.left, rows & !split.left, grown.tree.n_nodes());
            let weights = [left, right].map(|rows| sets.weight(&sets.sums(rows)));
            grown.tree.split_in_two(node, self.lines.at_most(split.column, split.bin), weights);
            grown.gains[split.column] += split.gain;
            scratch_masks.stack.push(PendingMaskNode { node: child + 1, rows: right, depth: depth + 1 });
            scratch_masks.stack.push(PendingMaskNode { node: child, rows: left, depth: depth + 1 });
        }
    }

    /// The split of a node, if it is split.
    fn split_mask<T: MaskStatistics>(
        &mut self,
        sets: &T,
        scratch_masks: &mut SubtreeScratch,
        rows: u64,
        depth: usize,
    ) -> Option<MaskSplit> {
        if rows.count_ones() < 2 || depth >= self.limits.max_depth || sets.others(rows) == 0 {
            return None;
        }
        let all = sets.sums(rows);
        if sets.weight(&all) < self.limits.min_samples_split.max(2.0) {
            return None;
        }
        let (d, tried) = (self.order.len(), self.n_tried);
        let mut first = 0;
        // If none of the drawn columns can be split, more are drawn.
        while first < d {
            let last = (first + tried).min(d);
            self.draw(first, last);
            let found = if self.limits.random_splits {
                self.random_cuts(scratch_masks, first, last, rows);
                best_of(sets, &scratch_masks.columns, &scratch_masks.cuts, rows)
            } else {
                best_cut(sets, &scratch_masks.columns, &self.drawn_columns(first..last), rows)
            };
            if let Some(cut) = found {
                let gain = cut.score - sets.score(&all);
                return (gain >= self.limits.min_gain).then(|| self.placed(&cut, scratch_masks, rows, gain));
            }
            first = last;
        }
        None
    }

    /// One random cut for each nonconstant column at positions `first..last` of the order.
    fn random_cuts(&mut self, scratch_masks: &mut SubtreeScratch, first: usize, last: usize, rows: u64) {
        let drawn = self.drawn_columns(first..last).into_owned();
        extremes(&scratch_masks.columns, &drawn, rows, &mut scratch_masks.extremes);
        scratch_masks.cuts.clear();
        for (slot, &(low, high)) in scratch_masks.extremes.iter().enumerate().filter(|(_, (low, high))| low < high) {
            let column = drawn[slot];
            scratch_masks.cuts.push((column, self.random_cut(column as usize, low, high)));
        }
    }

    /// The position of the cut: as drawn, or halfway between the bins that occur on either side.
    fn placed(&self, cut: &MaskCut, scratch_masks: &SubtreeScratch, rows: u64, gain: f64) -> MaskSplit {
        let column = cut.column as usize;
        let drawn =
            scratch_masks.cuts.iter().find(|(column, _)| *column == cut.column).filter(|_| self.limits.random_splits);
        let bin = drawn.map_or_else(
            || {
                let bins = &scratch_masks.columns[column];
                let (before, after) = (extremes_of(bins, cut.left).1, extremes_of(bins, rows & !cut.left).0);
                before + (after - before - 1) / 2
            },
            |&(_, bin)| bin,
        );
        MaskSplit { column, bin, left: cut.left, gain }
    }
}
