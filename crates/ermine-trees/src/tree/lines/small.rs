//! Whole subtrees of at most 64 lines, as sets of rows in one word.
//!
//! **Idea.** Once a node has at most 64 lines, its bins are laid out column by column, and everything below it is grown on sets of rows ([`masks`](crate::split::masks)):
//! no line is moved any more, and a node costs a few hundred cycles.

use super::search::Grower;
use super::{Grown, Open};
use crate::split::cells::{Item, Statistics};
use crate::split::masks::{
    Bins64, ClassSets, MaskCut, Sets, TwoClassSets, best_cut, best_of, extremes, extremes_of, set_bits, transpose,
};

/// Lines of a subtree, at most.
const MOST: usize = 64;

/// What is at hand for subtrees, kept from one to the next.
#[derive(Default)]
pub(super) struct Nursery {
    columns: Vec<Bins64>,
    items: Vec<Item>,
    extremes: Vec<(u8, u8)>,
    cuts: Vec<(u16, u8)>,
    stack: Vec<Seedling>,
}

/// A node that may be split.
struct Seedling {
    node: usize,
    rows: u64,
    depth: usize,
}

/// A split: the column, the last bin on the left, the rows there, and what it gains.
struct SmallSplit {
    column: usize,
    bin: u8,
    left: u64,
    gain: f64,
}

impl<S: Statistics> Grower<'_, S> {
    /// Whether a node is grown to its end here.
    pub(super) fn takes_small(&self, open: &Open<S::Number>) -> bool {
        let limits = self.limits;
        let free = limits.min_samples_leaf <= 1.0 && limits.min_weight_leaf <= 0.0 && limits.max_leaf_nodes.is_none();
        open.end - open.start <= MOST && free && self.lines.plain && self.statistics.n_classes().is_some()
    }

    /// Grows everything below a node.
    pub(super) fn small(
        &mut self,
        lines: &[u8],
        open: Open<S::Number>,
        grown: &mut Grown,
        value: &impl Fn(&mut dyn Iterator<Item = Item>, &[S::Number], &mut [f64]),
    ) {
        let stride = self.lines.stride;
        let lines = &lines[open.start * stride..open.end * stride];
        let mut nursery = std::mem::take(&mut self.nursery);
        nursery.items.clear();
        nursery.items.extend(lines.chunks_exact(stride).map(Item::of_line));
        let n = nursery.items.len();
        let rows = if n == MOST { u64::MAX } else { (1 << n) - 1 };
        nursery.stack.push(Seedling { node: open.node, rows, depth: open.depth });
        // One class, or a node that is not to be split, needs no columns.
        if n >= 2 && !self.statistics.is_pure(&open.all) {
            nursery.columns.resize(self.lines.columns.len(), [0; MOST]);
            transpose(lines, stride, &mut nursery.columns);
        }
        let classes = || lines.chunks_exact(stride).map(Item::of_line).map(|item| (item.target as usize, item.weight));
        match self.statistics.n_classes().unwrap_or(0) {
            0..=2 => self.grow_small(&TwoClassSets::new(classes()), &mut nursery, grown, value),
            3..=8 => self.grow_small(&ClassSets::<1>::new(classes()), &mut nursery, grown, value),
            9..=16 => self.grow_small(&ClassSets::<2>::new(classes()), &mut nursery, grown, value),
            _ => self.grow_small(&ClassSets::<4>::new(classes()), &mut nursery, grown, value),
        }
        self.nursery = nursery;
    }

    fn grow_small<T: Sets>(
        &mut self,
        sets: &T,
        nursery: &mut Nursery,
        grown: &mut Grown,
        value: &impl Fn(&mut dyn Iterator<Item = Item>, &[S::Number], &mut [f64]),
    ) {
        while let Some(Seedling { node, rows, depth }) = nursery.stack.pop() {
            let Some(split) = self.split_small(sets, nursery, rows, depth) else {
                let mut items = set_bits(rows).map(|row| nursery.items[row]);
                self.scratch[0].fill(S::Number::default());
                items.clone().for_each(|item| self.statistics.add(&mut self.scratch[0], item));
                value(&mut items, &self.scratch[0], grown.value_mut(node));
                continue;
            };
            let (left, right, child) = (split.left, rows & !split.left, grown.tree.n_nodes());
            let weights = [left, right].map(|rows| sets.weight(&sets.sums(rows)));
            grown.tree.split_in_two(node, self.lines.at_most(split.column, split.bin), weights);
            grown.gains[split.column] += split.gain;
            nursery.stack.push(Seedling { node: child + 1, rows: right, depth: depth + 1 });
            nursery.stack.push(Seedling { node: child, rows: left, depth: depth + 1 });
        }
    }

    /// The split of a node, where it is to be split.
    fn split_small<T: Sets>(&mut self, sets: &T, nursery: &mut Nursery, rows: u64, depth: usize) -> Option<SmallSplit> {
        if rows.count_ones() < 2 || depth >= self.limits.max_depth || sets.others(rows) == 0 {
            return None;
        }
        let all = sets.sums(rows);
        if sets.weight(&all) < self.limits.min_samples_split.max(2.0) {
            return None;
        }
        let (d, tried) = (self.order.len(), self.n_tried());
        let mut first = 0;
        // Where none of the columns drawn can be split, more are drawn.
        while first < d {
            let last = (first + tried).min(d);
            self.draw(first, last);
            let found = if self.limits.random_splits {
                self.random_cuts(nursery, first, last, rows);
                best_of(sets, &nursery.columns, &nursery.cuts, rows)
            } else {
                best_cut(sets, &nursery.columns, &self.order[first..last], rows)
            };
            if let Some(cut) = found {
                let gain = cut.score - sets.score(&all);
                return (gain >= self.limits.min_gain).then(|| self.placed(&cut, nursery, rows, gain));
            }
            first = last;
        }
        None
    }

    /// One random cut for each column in places `first..last` of the order that is not constant.
    fn random_cuts(&mut self, nursery: &mut Nursery, first: usize, last: usize, rows: u64) {
        extremes(&nursery.columns, &self.order[first..last], rows, &mut nursery.extremes);
        nursery.cuts.clear();
        for (slot, &(low, high)) in nursery.extremes.iter().enumerate().filter(|(_, (low, high))| low < high) {
            let column = self.order[first + slot];
            nursery.cuts.push((column, self.random_cut(column as usize, low, high)));
        }
    }

    /// Where the cut is: as it was drawn, or half-way between the bins that occur on either side.
    fn placed(&self, cut: &MaskCut, nursery: &Nursery, rows: u64, gain: f64) -> SmallSplit {
        let column = cut.column as usize;
        let drawn = nursery.cuts.iter().find(|(column, _)| *column == cut.column).filter(|_| self.limits.random_splits);
        let bin = drawn.map_or_else(
            || {
                let bins = &nursery.columns[column];
                let (before, after) = (extremes_of(bins, cut.left).1, extremes_of(bins, rows & !cut.left).0);
                before + (after - before - 1) / 2
            },
            |&(_, bin)| bin,
        );
        SmallSplit { column, bin, left: cut.left, gain }
    }
}
