//! Growing the last branches of a tree, from a node of at most 64 rows down.
//!
//! **Idea.** The rows of the node are numbered from 0 to 63 and the orders of its columns become bytes (see [`crate::split::twig`]). Everything below the node is then grown there, in the
//! same order and with the same choices as the grower for nodes of any size would make: the tree is the same, only sooner.

use super::grow::{Grower, Pending};
use crate::split::Test;
use crate::split::node::{NodeCriterion, ROW, TIE};
use crate::split::twig::{ROWS, Twig, TwigNode, TwigSplit};
use ermine_core::matrix::binned;

/// Room for growing twigs, used again and again.
#[derive(Debug, Default)]
pub(super) struct TwigRoom {
    twig: Twig,
    /// The number of each row in the twig.
    place: Vec<u8>,
}

/// A node of a twig that may be split.
struct Open<N> {
    node: usize,
    start: usize,
    len: usize,
    depth: usize,
    state: N,
}

impl<C: NodeCriterion> Grower<'_, C> {
    /// Whether a node can be grown as a twig: it is small, all columns are ordered and complete, and nothing but rows is limited.
    pub(super) fn is_twig(&self, pending: &Pending<C::Node>) -> bool {
        let plain = |f: usize| !self.orders.columns[f].nominal && !self.orders.columns[f].has_missing();
        let options = self.options;
        pending.range.len() <= ROWS
            && options.monotone.is_empty()
            && options.min_weight_leaf <= 0.0
            && !self.searcher().draws()
            && (0..self.orders.columns.len()).all(plain)
    }

    /// Grows everything below a node; gives it back if the criterion has no search for twigs.
    pub(super) fn grow_twig(&mut self, pending: Pending<C::Node>, room: &mut TwigRoom) -> Option<Pending<C::Node>> {
        let entries: Vec<u32> = self.orders.columns[0].entries(&pending.range).iter().map(|e| e & !TIE).collect();
        let Some(marks) = self.criterion.twig_marks(&entries) else { return Some(pending) };
        room.place.resize(self.rows.len(), 0);
        entries.iter().enumerate().for_each(|(i, e)| room.place[(e & ROW) as usize] = i as u8);
        room.twig.clear(marks);
        for column in &self.orders.columns {
            let entries = column.entries(&pending.range).iter();
            let place = &room.place;
            room.twig.push(entries.enumerate().map(|(i, e)| (place[(e & ROW) as usize], i > 0 && e & TIE != 0)));
        }
        let (node, len, depth) = (pending.node as usize, entries.len(), pending.depth);
        let mut stack = vec![Open { node, start: 0, len, depth, state: pending.state }];
        while let Some(open) = stack.pop() {
            let least = self.options.min_samples_leaf.max(1);
            let allowed = (least, open.len - least.min(open.len));
            let place = TwigNode { start: open.start, len: open.len, allowed };
            if allowed.0 > allowed.1 {
                continue;
            }
            let found = self.criterion.best_in_twig(&open.state, &room.twig, place, &entries);
            if let Some(split) = found.filter(|split| self.searcher().gains_enough(split.gain)) {
                self.split_twig(&open, split, place, &mut room.twig, &entries, &mut stack);
            }
        }
        None
    }

    fn split_twig(
        &mut self,
        open: &Open<C::Node>,
        split: TwigSplit,
        place: TwigNode,
        twig: &mut Twig,
        entries: &[u32],
        stack: &mut Vec<Open<C::Node>>,
    ) {
        let mut ordered = [0u32; ROWS];
        let mut is_left = 0u64;
        for (i, &row) in twig.rows(place, split.column).iter().enumerate() {
            ordered[i] = entries[row as usize];
            is_left |= u64::from(i < split.n_left) << row;
        }
        let (left, right) = ordered[..open.len].split_at(split.n_left);
        let value = |entry: u32| self.features.number(self.rows[(entry & ROW) as usize] as usize, split.column);
        let threshold = binned::between(value(left[left.len() - 1]), value(right[0]));
        let missing_left = self.criterion.weight(left) > self.criterion.weight(right);
        let first = self.out.tree.n_nodes();
        self.out.tree.test[open.node] = Test::AtMost { feature: split.column as u32, threshold, missing_left };
        self.out.tree.child[open.node] = first as u32;
        let sides = [self.add_node(left), self.add_node(right)];
        let starts = [(open.start, left.len()), (open.start + left.len(), right.len())];
        let before = stack.len();
        for (side, ((summary, state), (start, len))) in sides.into_iter().zip(starts).enumerate().rev() {
            if self.may_split(&summary, len, open.depth + 1) {
                stack.push(Open { node: first + side, start, len, depth: open.depth + 1, state });
            }
        }
        if stack.len() > before {
            twig.part(place, is_left);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::split::Impurity;
    use crate::split::classes::ClassWeights;
    use crate::split::node::NodeCriterion;
    use crate::split::two_classes::TwoClassCounts;
    use crate::split::variance::Variance;
    use crate::tree::{GrowOptions, grow};
    use ermine_core::matrix::Features;
    use ermine_core::progress::Silent;
    use ermine_core::table::{Column, Table};
    use proptest::prelude::*;
    use std::sync::Arc;

    /// Grows with and without twigs: constraints that constrain nothing keep the grower to nodes of any size.
    fn same<C: NodeCriterion + Clone>(
        criterion: C,
        features: &Features,
        options: &GrowOptions,
    ) -> std::result::Result<(), TestCaseError> {
        let plain = GrowOptions { monotone: vec![0; features.n_columns()], ..options.clone() };
        let fast = grow(criterion.clone(), features, options, &Silent).unwrap();
        let slow = grow(criterion, features, &plain, &Silent).unwrap();
        prop_assert_eq!(fast, slow);
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn trees_are_the_same_with_twigs_and_without(
            seed in any::<u64>(), n in 2usize..260, d in 1usize..19, values in prop_oneof![Just(3u64), Just(40), Just(1 << 40)],
            n_classes in 2u64..10, min_samples_leaf in 1usize..4,
        ) {
            let draw = |place: u64, i: usize| ermine_core::rng::place(seed ^ place, i as u64);
            let column = |j: usize| Column::numeric(format!("x{j}"), (0..n).map(|i| (draw(j as u64, i) % values) as f64).collect::<Vec<_>>());
            let features = Features::new(Arc::new(Table::new((0..d).map(column).collect()).unwrap()));
            let options = GrowOptions { min_samples_leaf, ..Default::default() };
            let codes: Vec<u32> = (0..n).map(|i| (draw(99, i) % n_classes) as u32).collect();
            same(ClassWeights::new(&codes, None, n_classes as usize, Impurity::Gini), &features, &options)?;
            let two: Vec<u32> = codes.iter().map(|c| c % 2).collect();
            same(TwoClassCounts::new(&two, Impurity::Gini), &features, &options)?;
            same(TwoClassCounts::new(&two, Impurity::Entropy), &features, &options)?;
            let numbers: Vec<f64> = (0..n).map(|i| (draw(98, i) % values) as f64 / 7.0).collect();
            same(Variance::new(&numbers, None), &features, &options)?;
        }
    }
}
