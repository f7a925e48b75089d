//! Growing the nodes of a chain: nodes of which every split takes a few rows only.
//!
//! **Idea.** Data of which one row after the other is split off (a sorted column whose classes alternate, say) make a tree as deep as there are rows. Searching and parting the whole node for each of them
//! is quadratic. After a long run of small splits the rows of a node are therefore put into a [form](crate::split::chain) from which rows can be taken away: the best split is found without looking at all of it, the smaller side
//! becomes a node like any other, and what is left stays in the form. A split that is not small ends it: both sides become ordinary nodes, and the rows that went to the smaller side have paid for that.
//!
//! **The same tree.** The split is the one that the ordinary search would take, of equal ones the first; nodes are numbered alike. With two classes that count the same, with classes by Gini, and wherever
//! sums are exact, the tree is the same to the last bit. Other sums run in another order than in the ordinary search, and what follows from them (means and costs of nodes; which of two splits is better, if they are equal to
//! 12 digits) may differ in the last bits. Whether a node is in a chain follows from the data alone.
//!
//! **What it is for.** Columns of numbers without missing values; classes by Gini and entropy (two by the error too, at most [`PLANES`]), the squared error of one number; limits on depth, leaves and
//! numbers of rows. All else is grown as it was, O(rows) for each level.
//!
//! **Cost.** O(d k (64 + h log n)) for a split that takes k rows, with hulls of h corners. About 20 bytes for each value.

use super::grow::{Grower, Pending};
use super::orders::Parting;
use super::search::{Choice, Place};
use crate::matrix::binned;
use crate::split::Test;
use crate::split::chain::{ChainColumn, PLANES, RowSums};
use crate::split::exact::Threshold;
use crate::split::node::{NodeCriterion, ROW, Summary, TIE};
use std::ops::Range;

/// What is a chain.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChainRule {
    /// So many splits in a row must have been small.
    pub run: u32,
    /// A split is small if it takes at most one in so many rows.
    pub share: usize,
    /// A node of fewer rows is searched faster as it is.
    pub least: usize,
    /// A chain is given up where a row taken away changes more corners of a column's hulls than this share of the rows.
    pub corners: f64,
}

impl Default for ChainRule {
    fn default() -> Self {
        ChainRule { run: 64, share: 64, least: 2048, corners: 0.125 }
    }
}

impl ChainRule {
    /// Whether `n_lost` of `n` rows are few.
    pub fn is_small(&self, n_lost: usize, n: usize) -> bool {
        n_lost.saturating_mul(self.share) <= n
    }
}

/// The rows of a node, from which rows are taken away.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    /// The entry of each row, counted from 0, without what it says about ties.
    entries: Vec<u32>,
    sums: Vec<RowSums>,
    columns: Vec<ChainColumn>,
}

impl Chain {
    /// The best split with at least so many rows on either side.
    pub fn search<C: NodeCriterion>(&self, criterion: &C, node: &C::Node, min_samples: usize) -> Option<Choice> {
        let n = self.columns[0].total().count;
        let range = (min_samples, n.saturating_sub(min_samples));
        let mut best: Option<Choice> = None;
        for (feature, column) in self.columns.iter().enumerate() {
            let floor = best.as_ref().map_or(f64::NEG_INFINITY, |best| best.gain);
            if let (Some(cut), _) = column.best_cut(criterion, node, &self.sums, range, floor) {
                let at = Threshold { n_left: cut.n_left, missing_left: false };
                best = Some(Choice { feature, gain: cut.gain, place: Place::Threshold { at, value: None } });
            }
        }
        best
    }

    /// The rows in these places of the order of a column.
    fn rows(&self, feature: usize, places: Range<usize>) -> Vec<u32> {
        let mut rows = Vec::with_capacity(places.len());
        self.columns[feature].each(places.start, places.end, |row, _| rows.push(row));
        rows
    }

    fn entries_of(&self, rows: &[u32]) -> Vec<u32> {
        rows.iter().map(|&row| self.entries[row as usize]).collect()
    }

    /// Takes rows away; how many corners were looked at.
    fn remove(&mut self, rows: &[u32]) -> usize {
        self.columns.iter_mut().map(|column| column.remove(rows, &self.sums)).sum()
    }
}

impl<C: NodeCriterion> Grower<'_, C> {
    /// Whether nodes can be in chains at all.
    fn has_chains(&self) -> bool {
        let plain = |f: usize| !self.orders.columns[f].nominal && !self.orders.columns[f].has_missing();
        let options = self.options;
        (1..=PLANES).contains(&self.criterion.n_planes())
            && options.monotone.is_empty()
            && options.min_weight_leaf <= 0.0
            && !self.searcher().draws()
            && (0..self.orders.columns.len()).all(plain)
    }

    /// Puts the rows of a node into a chain, if there were many small splits above it.
    pub(super) fn enter(&mut self, pending: &mut Pending<C::Node>) {
        let long = pending.run >= self.rule.run && pending.range.len() >= self.rule.least;
        if !long || pending.chain.is_some() || !self.has_chains() {
            return;
        }
        let entries: Vec<u32> = self.orders.columns[0].entries(&pending.range).iter().map(|e| e & !TIE).collect();
        self.number.resize(self.rows.len(), 0);
        entries.iter().enumerate().for_each(|(i, e)| self.number[(e & ROW) as usize] = i as u32);
        let reference = self.criterion.reference(&pending.state);
        let sums = |e: &u32| self.criterion.row_sums(reference, (e & ROW) as usize);
        let sums: Vec<RowSums> = entries.iter().map(sums).collect();
        let column = |column: &super::orders::OrderedColumn| {
            let ordered = column.entries(&pending.range);
            let numbers = ordered.iter().map(|e| self.number[(e & ROW) as usize]).collect();
            let is_end = |i: usize| ordered.get(i + 1).is_none_or(|next| next & TIE == 0);
            ChainColumn::new(numbers, is_end, &sums, self.criterion.n_planes())
        };
        let columns = self.orders.columns.iter().map(column).collect();
        pending.chain = Some(Box::new(Chain { entries, sums, columns }));
    }

    /// Writes the rows of a node that is in a chain back into the orders.
    pub(super) fn leave(&mut self, pending: &mut Pending<C::Node>) {
        if let Some(chain) = pending.chain.take() {
            self.write_all(&chain, &pending.range);
        }
    }

    /// Writes all rows that are left in a chain into the orders.
    fn write_all(&mut self, chain: &Chain, range: &Range<usize>) {
        for (column, from) in self.orders.columns.iter_mut().zip(&chain.columns) {
            let mut places = column.entries_mut(range).iter_mut();
            from.each(0, range.len(), |number, is_new| {
                if let Some(place) = places.next() {
                    *place = chain.entries[number as usize] | if is_new { 0 } else { TIE };
                }
            });
        }
    }

    /// Writes a few rows that were taken out of a chain into the orders.
    fn write_few(&mut self, chain: &Chain, few: &[u32], range: &Range<usize>) {
        let mut few = few.to_vec();
        for (feature, (column, from)) in self.orders.columns.iter_mut().zip(&chain.columns).enumerate() {
            few.sort_unstable_by_key(|&number| from.place(number));
            let value = |entry: u32| self.features.number(self.rows[(entry & ROW) as usize] as usize, feature);
            let mut before = f64::NAN;
            for (place, &number) in column.entries_mut(range).iter_mut().zip(&few) {
                let entry = chain.entries[number as usize];
                let value = value(entry);
                *place = entry | if value == before { TIE } else { 0 };
                before = value;
            }
        }
    }

    /// Splits a node that is in a chain; as [`split`](Self::split).
    pub(super) fn peel(
        &mut self,
        mut pending: Pending<C::Node>,
        mut chain: Box<Chain>,
        choice: Choice,
    ) -> (Vec<Pending<C::Node>>, Option<Parting>) {
        let n = pending.range.len();
        let n_left = match choice.place {
            Place::Threshold { at, .. } => at.n_left,
            Place::Categories(_) => 0,
        };
        let n_few = n_left.min(n - n_left);
        if n_few == 0 || !self.rule.is_small(n_few, n) {
            pending.chain = Some(chain);
            self.leave(&mut pending);
            return self.split(pending, choice);
        }
        let side_of_few = usize::from(n_few != n_left);
        let few = chain.rows(choice.feature, [0..n_left, n_left..n][side_of_few].clone());
        let neighbours = [n_left - 1, n_left].map(|rank| chain.rows(choice.feature, rank..rank + 1));
        let n_corners = chain.remove(&few);
        let entries = chain.entries_of(&few);
        let weights = [self.criterion.weight(&entries), chain.columns[0].total().weight];
        let [low, high] = neighbours.map(|row| self.value(chain.entries[row[0] as usize], choice.feature));
        self.out.tree.test[pending.node as usize] = Test::AtMost {
            feature: choice.feature as u32,
            threshold: binned::between(low, high),
            missing_left: weights[side_of_few] > weights[1 - side_of_few],
        };
        self.out.tree.child[pending.node as usize] = self.out.tree.n_nodes() as u32;
        let middle = pending.range.start + n_left;
        let ranges = [pending.range.start..middle, middle..pending.range.end];
        self.write_few(&chain, &few, &ranges[side_of_few]);
        let is_worth = n_corners as f64 <= self.rule.corners * (few.len() * chain.columns.len()) as f64 * n as f64;
        if !is_worth {
            pending.run = 0;
        }
        let mut kept = Some(chain);
        let mut children = Vec::new();
        for (side, range) in ranges.into_iter().enumerate() {
            let of_chain = if side == side_of_few { None } else { kept.take() };
            let (summary, state, chain) = match of_chain {
                None => {
                    let (summary, state) = self.add_node(&entries);
                    (summary, state, None)
                }
                Some(chain) => self.add_rest(chain, &range, choice.feature, is_worth),
            };
            if self.may_split(&summary, range.len(), pending.depth + 1) {
                children.push(Pending { chain, ..self.child_of(&pending, side, range, state) });
            }
        }
        (children, None)
    }

    /// Adds what is left of a chain to the tree; gives the chain back if it goes on.
    fn add_rest(
        &mut self,
        chain: Box<Chain>,
        range: &Range<usize>,
        feature: usize,
        is_worth: bool,
    ) -> (Summary, C::Node, Option<Box<Chain>>) {
        let goes_on = is_worth && range.len() >= self.rule.least / 2;
        let sums = chain.columns[0].total();
        let found = if goes_on { self.criterion.prepare_sums(sums, &mut self.out.tree.value) } else { None };
        if let Some((summary, state)) = found {
            self.add_leaf(&summary, range.len());
            return (summary, state, Some(chain));
        }
        self.write_all(&chain, range);
        let entries = self.orders.columns[feature].entries(range).to_vec();
        let (summary, state) = self.add_node(&entries);
        (summary, state, None)
    }

    fn value(&self, entry: u32, feature: usize) -> f64 {
        self.features.number(self.rows[(entry & ROW) as usize] as usize, feature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Features;
    use crate::progress::Silent;
    use crate::split::Impurity;
    use crate::split::classes::ClassWeights;
    use crate::split::node::{Limits, Segment};
    use crate::split::two_classes::TwoClassCounts;
    use crate::split::variance::Variance;
    use crate::table::{Column, Table};
    use crate::tree::grow::grow_by;
    use crate::tree::{GrowOptions, Grown};
    use proptest::prelude::*;
    use std::sync::Arc;

    /// Every node is in a chain, as long as its splits take at most one in `share` rows.
    const fn always(share: usize) -> ChainRule {
        ChainRule { run: 0, share, least: 2, corners: f64::INFINITY }
    }
    const NEVER: ChainRule = ChainRule { run: u32::MAX, ..always(64) };

    fn draw(seed: u64, place: u64, i: usize) -> u64 {
        crate::rng::place(seed ^ place, i as u64)
    }

    fn features(columns: Vec<Vec<f64>>) -> Features {
        let column = |(j, values): (usize, Vec<f64>)| Column::numeric(format!("x{j}"), values);
        Features::new(Arc::new(Table::new(columns.into_iter().enumerate().map(column).collect()).unwrap()))
    }

    fn by<C: NodeCriterion + Clone>(
        criterion: &C,
        features: &Features,
        options: &GrowOptions,
        rule: ChainRule,
    ) -> Grown {
        grow_by(criterion.clone(), features, options, rule, &Silent).unwrap()
    }

    fn same<C: NodeCriterion + Clone>(
        criterion: C,
        features: &Features,
        options: &GrowOptions,
    ) -> Result<(), TestCaseError> {
        let plain = by(&criterion, features, options, NEVER);
        for share in [1, 4] {
            prop_assert_eq!(&by(&criterion, features, options, always(share)), &plain);
        }
        Ok(())
    }

    /// Where sums are rounded: every split gains as much as any, and what is known about nodes is what their rows say, to 9 digits. The costs of classes are differences of numbers as large as the weight: they may be off by `slack` of it.
    fn as_good<C: NodeCriterion + Clone>(
        criterion: C,
        features: &Features,
        options: &GrowOptions,
        slack: f64,
    ) -> Result<(), TestCaseError> {
        let near = |a: f64, b: f64, more: f64| (a - b).abs() <= 1e-9 * b.abs() + more;
        for share in [1, 4] {
            let grown = by(&criterion, features, options, always(share));
            let tree = &grown.tree;
            let mut rows: Vec<Vec<u32>> = vec![Vec::new(); tree.n_nodes()];
            rows[0] = (0..features.n_rows() as u32).collect();
            for node in 0..tree.n_nodes() {
                let here = std::mem::take(&mut rows[node]);
                let mut value = Vec::new();
                let (summary, state) = { criterion.clone() }.prepare(&here, &mut value);
                let mut prepared = criterion.clone();
                prepared.prepare(&here, &mut Vec::new());
                prop_assert_eq!(grown.count[node] as usize, here.len());
                prop_assert!(near(tree.weight[node], summary.weight, 0.0));
                prop_assert!(near(grown.cost[node], summary.cost, slack * summary.weight));
                let spread = 1e-9 * (summary.cost / summary.weight).max(0.0).sqrt();
                prop_assert!(tree.value(node).iter().zip(&value).all(|(a, b)| near(*a, *b, spread)));
                let limits = Limits { min_samples: options.min_samples_leaf.max(1), ..Limits::NONE };
                let order = |f: usize| {
                    let x = |row: u32| features.number(row as usize, f);
                    let mut order = here.clone();
                    order.sort_by(|&a, &b| x(a).total_cmp(&x(b)).then(a.cmp(&b)));
                    let tie = |i: usize| if i > 0 && x(order[i]) == x(order[i - 1]) { TIE } else { 0 };
                    (0..order.len())
                        .map(|i| order[i] | tie(i) | criterion.mark(order[i] as usize))
                        .collect::<Vec<u32>>()
                };
                let gain = |f: usize, n_left: Option<usize>| {
                    let present = order(f);
                    let column = Segment { present: &present, missing: &[] };
                    match n_left {
                        None => prepared.best_threshold(&state, column, &limits).map(|best| best.gain),
                        Some(n_left) => {
                            prepared.gain_at(&state, column, Threshold { n_left, missing_left: false }, &limits)
                        }
                    }
                };
                let best = (0..features.n_columns()).filter_map(|f| gain(f, None)).reduce(f64::max);
                let Test::AtMost { feature, threshold, .. } = tree.test[node] else {
                    prop_assert!(summary.pure || best.is_none() || here.len() < 2 * limits.min_samples);
                    continue;
                };
                let is_left = |row: &u32| features.number(*row as usize, feature as usize) <= threshold;
                let (left, right): (Vec<u32>, Vec<u32>) = here.iter().partition(|&row| is_left(row));
                let found = gain(feature as usize, Some(left.len()));
                prop_assert!(
                    found.zip(best).is_some_and(|(found, best)| found >= best - 1e-10 * summary.cost),
                    "{found:?} {best:?}"
                );
                let children = tree.children(node);
                (rows[children.start], rows[children.start + 1]) = (left, right);
            }
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(150))]

        #[test]
        fn trees_are_the_same_in_chains(
            seed in any::<u64>(), n in 2usize..260, d in 1usize..4, values in prop_oneof![Just(3u64), Just(40), Just(1 << 40)],
            n_classes in 3u64..7, min_samples_leaf in 1usize..4, alternate in any::<bool>(),
        ) {
            let column = |j: usize| (0..n).map(|i| if alternate && j == 0 { i as f64 } else { (draw(seed, j as u64, i) % values) as f64 }).collect();
            let features = features((0..d).map(column).collect());
            let options = GrowOptions { min_samples_leaf, ..Default::default() };
            let class = |i: usize| if alternate { i as u64 } else { draw(seed, 99, i) };
            let codes: Vec<u32> = (0..n).map(|i| (class(i) % n_classes) as u32).collect();
            let two: Vec<u32> = (0..n).map(|i| (class(i) % 2) as u32).collect();
            for impurity in [Impurity::Gini, Impurity::Entropy, Impurity::Error] {
                same(TwoClassCounts::new(&two, impurity), &features, &options)?;
            }
            let weight: Vec<f64> = (0..n).map(|i| (1 + draw(seed, 97, i) % 3) as f64).collect();
            same(ClassWeights::new(&codes, None, n_classes as usize, Impurity::Gini), &features, &options)?;
            same(ClassWeights::new(&two, Some(&weight), 2, Impurity::Gini), &features, &options)?;
            let best_first = GrowOptions { max_leaf_nodes: Some(1 + n / 3), ..options.clone() };
            same(TwoClassCounts::new(&two, Impurity::Gini), &features, &best_first)?;
            let weight: Vec<f64> = weight.iter().map(|w| w / 7.0).collect();
            as_good(ClassWeights::new(&codes, Some(&weight), n_classes as usize, Impurity::Entropy), &features, &options, 1e-12)?;
            as_good(ClassWeights::new(&codes, Some(&weight), n_classes as usize, Impurity::Gini), &features, &options, 1e-12)?;
            let numbers: Vec<f64> = (0..n).map(|i| if alternate { (i % 2) as f64 } else { (draw(seed, 98, i) % values) as f64 / 7.0 }).collect();
            as_good(Variance::new(&numbers, None), &features, &options, 0.0)?;
            as_good(Variance::new(&numbers, Some(&weight)), &features, &options, 0.0)?;
        }

        #[test]
        fn large_numbers_that_are_gone_leave_no_trace(seed in any::<u64>(), n in 20usize..120) {
            // Numbers of very different sizes: one after the other is split off, the largest first.
            let size = |i: usize| (draw(seed, 1, i) % 140 * i as u64) as f64;
            let numbers: Vec<f64> = (0..n).map(|i| (-0.01 * size(i)).exp()).collect();
            let features = features(vec![(0..n).map(|i| i as f64).collect()]);
            as_good(Variance::new(&numbers, None), &features, &GrowOptions::default(), 0.0)?;
        }
    }

    #[test]
    fn long_chains_are_grown_the_same() {
        let n = 12_000;
        let options = GrowOptions::default();
        let ascending = || (0..n).map(f64::from).collect::<Vec<f64>>();
        let pairs = || (0..n).map(|i| f64::from(i / 2)).collect::<Vec<f64>>();
        let noise = || (0..n).map(|i| (draw(3, 0, i as usize) % 50) as f64).collect::<Vec<f64>>();
        let two: Vec<u32> = (0..n).map(|i| i as u32 % 2).collect();
        let criterion = TwoClassCounts::new(&two, Impurity::Gini);
        for columns in [vec![ascending()], vec![noise(), ascending()], vec![pairs(), ascending()]] {
            let features = features(columns);
            let grown = by(&criterion, &features, &options, ChainRule::default());
            assert_eq!(grown, by(&criterion, &features, &options, NEVER));
        }
    }
}
