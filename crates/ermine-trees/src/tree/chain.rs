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
//! **What it is for.** Columns of numbers, with or without missing values; at most [`PLANES`] classes by Gini and entropy (8 by the training error), as many numbers by the squared error or the deviance, one number of few different values by the absolute error; limits on depth, leaves, and
//! rows and weight of a side. All else is grown as it was, O(rows) for each level.
//!
//! **Cost.** O(d k (64 + h log n)) for a split that takes k rows, with hulls of h corners. About 20 bytes for each value.

use super::grow::{Grower, Pending};
use super::orders::Parting;
use super::search::{Choice, Place};
use crate::split::Test;
use crate::split::chain::{ChainColumn, PLANES, RowSums};
use crate::split::exact::Threshold;
use crate::split::node::{ABSENT, Limits, NodeCriterion, ROW, Segment, Summary, TIE};
use ermine_core::matrix::binned;
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
    /// A chain has at most so many rows, times columns, times planes: each takes some 7 bytes.
    pub most: usize,
}

impl Default for ChainRule {
    fn default() -> Self {
        ChainRule { run: 64, share: 64, least: 2048, corners: 0.125, most: 1 << 28 }
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
    /// The entry of each row, counted from 0, without what it says about its values.
    entries: Vec<u32>,
    sums: RowSums,
    columns: Vec<ChainColumn>,
}

impl Chain {
    /// The best split within the limits on rows and weight.
    pub fn search<C: NodeCriterion>(&self, criterion: &C, node: &C::Node, limits: &Limits) -> Option<Choice> {
        let mut best: Option<Choice> = None;
        for (feature, column) in self.columns.iter().enumerate() {
            let floor = best.as_ref().map_or(f64::NEG_INFINITY, |best| best.gain);
            if let (Some(cut), _) = column.best_cut(criterion, node, &self.sums, limits, floor) {
                let place = Place::Threshold { at: cut.place, value: None };
                best = Some(Choice { feature, gain: cut.gain, place });
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

    /// The rows on one side of a threshold, 0 for the left one.
    fn side(&self, feature: usize, at: Threshold, n_present: usize, side: usize) -> Vec<u32> {
        let mut rows = self.rows(feature, [0..at.n_left, at.n_left..n_present][side].clone());
        if at.missing_left == (side == 0) {
            rows.extend(self.rows(feature, n_present..self.columns[feature].total().count));
        }
        rows
    }

    fn entries_of(&self, rows: &[u32]) -> Vec<u32> {
        rows.iter().map(|&row| self.entries[row as usize]).collect()
    }

    /// Takes rows away; how many corners were looked at.
    fn remove<C: NodeCriterion>(&mut self, rows: &[u32], criterion: &C) -> usize {
        self.columns.iter_mut().map(|column| column.remove(rows, criterion, &self.sums)).sum()
    }
}

impl<C: NodeCriterion> Grower<'_, C> {
    /// Whether a node of `n` rows can be in a chain at all.
    fn has_chains(&self, n: usize) -> bool {
        let (options, n_planes) = (self.options, self.criterion.n_planes());
        (1..=PLANES).contains(&n_planes)
            && n.saturating_mul(n_planes * self.orders.columns.len()) <= self.rule.most
            && options.monotone.is_empty()
            && !self.searcher().draws()
            && self.orders.columns.iter().all(|column| !column.nominal)
    }

    /// Puts the rows of a node into a chain, if there were many small splits above it.
    pub(super) fn enter(&mut self, pending: &mut Pending<C::Node>) {
        let long = pending.run >= self.rule.run && pending.range.len() >= self.rule.least;
        if !long || pending.chain.is_some() || !self.has_chains(pending.range.len()) {
            return;
        }
        let entries = self.orders.columns[0].entries(&pending.range);
        let entries: Vec<u32> = entries.iter().map(|e| e & !(TIE | ABSENT)).collect();
        self.number.resize(self.rows.len(), 0);
        entries.iter().enumerate().for_each(|(i, e)| self.number[(e & ROW) as usize] = i as u32);
        let rows: Vec<u32> = entries.iter().map(|e| e & ROW).collect();
        let sums = self.criterion.row_sums(&pending.state, &rows);
        let numbers = |entries: &[u32]| entries.iter().map(|e| self.number[(e & ROW) as usize]).collect::<Vec<u32>>();
        let column = |column: &super::orders::OrderedColumn| {
            let Segment { present, missing } = column.segment(&pending.range);
            let is_end = |i: usize| present.get(i + 1).is_none_or(|next| next & TIE == 0);
            ChainColumn::new(&self.criterion, &sums, (numbers(present), &numbers(missing)), is_end)
        };
        let columns: Vec<ChainColumn> = self.orders.columns.iter().map(column).collect();
        let (tally, total) = (columns[0].total(), columns[0].total_sums());
        let Some((_, state)) = self.criterion.prepare_sums(&sums, tally, total, &mut Vec::new()) else { return };
        pending.state = state;
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
                let mark = if from.is_missing(number) { ABSENT } else { u32::from(!is_new) * TIE };
                if let Some(place) = places.next() {
                    *place = chain.entries[number as usize] | mark;
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
                if from.is_missing(number) {
                    *place = entry | ABSENT;
                    continue;
                }
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
        let (n, feature) = (pending.range.len(), choice.feature);
        let at = match choice.place {
            Place::Threshold { at, .. } => at,
            Place::Categories(_) => Threshold { n_left: 0, missing_left: false },
        };
        let n_missing = chain.columns[feature].n_missing();
        let n_left = at.n_left + if at.missing_left { n_missing } else { 0 };
        let n_few = n_left.min(n - n_left);
        if n_few == 0 || !self.rule.is_small(n_few, n) {
            pending.chain = Some(chain);
            self.leave(&mut pending);
            return self.split(pending, choice);
        }
        let side_of_few = usize::from(n_few != n_left);
        let few = chain.side(feature, at, n - n_missing, side_of_few);
        let threshold = self.threshold(&chain, feature, at.n_left, n - n_missing);
        let n_corners = chain.remove(&few, &self.criterion);
        let entries = chain.entries_of(&few);
        let weights = [self.criterion.weight(&entries), chain.columns[0].total().weight];
        let left_is_heavier = weights[side_of_few] > weights[1 - side_of_few];
        let missing_left = if n_missing == 0 { left_is_heavier } else { at.missing_left };
        self.out.tree.test[pending.node as usize] = Test::AtMost { feature: feature as u32, threshold, missing_left };
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
                Some(chain) => self.add_rest(chain, &range, feature, is_worth),
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
        let (tally, sums) = (chain.columns[0].total(), chain.columns[0].total_sums());
        let prepare = |value: &mut Vec<f64>| self.criterion.prepare_sums(&chain.sums, tally, sums, value);
        let found = if goes_on { prepare(&mut self.out.tree.value) } else { None };
        if let Some((summary, state)) = found {
            self.add_leaf(&summary, range.len());
            return (summary, state, Some(chain));
        }
        self.write_all(&chain, range);
        let entries = self.orders.columns[feature].entries(range).to_vec();
        let (summary, state) = self.add_node(&entries);
        (summary, state, None)
    }

    /// The number between the values in place `n_left` of a column and the one before it.
    fn threshold(&self, chain: &Chain, feature: usize, n_left: usize, n_present: usize) -> f64 {
        if n_left >= n_present {
            return f64::INFINITY;
        }
        let neighbours = chain.entries_of(&chain.rows(feature, n_left - 1..n_left + 1));
        let value = |entry: u32| self.features.number(self.rows[(entry & ROW) as usize] as usize, feature);
        binned::between(value(neighbours[0]), value(neighbours[1]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::Impurity;
    use crate::split::absolute::Absolute;
    use crate::split::classes::ClassWeights;
    use crate::split::numbers::{Loss, Numbers};
    use crate::split::two_classes::TwoClassCounts;
    use crate::split::variance::Variance;
    use crate::tree::grow::grow_by;
    use crate::tree::{GrowOptions, Grown};
    use ermine_core::matrix::Features;
    use ermine_core::progress::Silent;
    use ermine_core::table::{Column, Table};
    use proptest::prelude::*;
    use std::sync::Arc;

    /// Every node is in a chain, as long as its splits take at most one in `share` rows.
    const fn always(share: usize) -> ChainRule {
        ChainRule { run: 0, share, least: 2, corners: f64::INFINITY, most: usize::MAX }
    }
    const NEVER: ChainRule = ChainRule { run: u32::MAX, ..always(64) };

    fn draw(seed: u64, place: u64, i: usize) -> u64 {
        ermine_core::rng::place(seed ^ place, i as u64)
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

    /// Where sums are rounded: every split gains as much as any, and what is known about nodes is what their rows say, to 9 digits. The costs of classes and counts are differences of numbers as large as the weight: they may be off by `slack` of it.
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
                let (min_samples, min_weight) = (options.min_samples_leaf.max(1), options.min_weight_leaf);
                let limits = Limits { min_samples, min_weight, ..Limits::NONE };
                let order = |f: usize| {
                    let x = |row: u32| features.number(row as usize, f);
                    let (mut order, missing): (Vec<u32>, Vec<u32>) = here.iter().partition(|&&row| !x(row).is_nan());
                    order.sort_by(|&a, &b| x(a).total_cmp(&x(b)).then(a.cmp(&b)));
                    let tie = |i: usize| if i > 0 && x(order[i]) == x(order[i - 1]) { TIE } else { 0 };
                    let marked = |i: usize| order[i] | tie(i) | criterion.mark(order[i] as usize);
                    ((0..order.len()).map(marked).collect::<Vec<u32>>(), missing)
                };
                let gain = |f: usize, place: Option<Threshold>| {
                    let (present, missing) = order(f);
                    let column = Segment { present: &present, missing: &missing };
                    match place {
                        None => prepared.best_threshold(&state, column, &limits).map(|best| best.gain),
                        Some(place) => prepared.gain_at(&state, column, place, &limits),
                    }
                };
                let best = (0..features.n_columns()).filter_map(|f| gain(f, None)).reduce(f64::max);
                let Test::AtMost { feature, threshold, missing_left } = tree.test[node] else {
                    let few = here.len() < 2 * min_samples || summary.weight < 2.0 * min_weight;
                    prop_assert!(summary.pure || best.is_none() || few);
                    continue;
                };
                let is_left = |row: &u32| {
                    let value = features.number(*row as usize, feature as usize);
                    if value.is_nan() { missing_left } else { value <= threshold }
                };
                let (left, right): (Vec<u32>, Vec<u32>) = here.iter().partition(|&row| is_left(row));
                let has_value = |row: &&u32| !features.number(**row as usize, feature as usize).is_nan();
                let place = Threshold { n_left: left.iter().filter(has_value).count(), missing_left };
                let found = gain(feature as usize, Some(place));
                prop_assert!(
                    found
                        .zip(best)
                        .is_some_and(|(found, best)| found >= best - 1e-10 * summary.cost - slack * summary.weight),
                    "{found:?} {best:?}"
                );
                let children = tree.children(node);
                (rows[children.start], rows[children.start + 1]) = (left, right);
            }
        }
        Ok(())
    }

    /// Some columns and limits.
    #[derive(Debug, Clone)]
    struct Case {
        seed: u64,
        n: usize,
        n_columns: usize,
        /// How many different values.
        values: u64,
        /// The first column is sorted, and answers alternate along it.
        alternate: bool,
        /// One value in so many is missing.
        lacking: u64,
        min_samples_leaf: usize,
        min_weight_leaf: f64,
    }

    impl Case {
        fn draw(&self, place: u64, i: usize) -> u64 {
            draw(self.seed, place, i)
        }

        fn features(&self) -> Features {
            let value =
                |j: usize, i: usize| match (self.alternate && j == 0, self.draw(50 + j as u64, i) % self.lacking) {
                    (_, 1) => f64::NAN,
                    (true, _) => i as f64,
                    (false, _) => (self.draw(j as u64, i) % self.values) as f64,
                };
            features((0..self.n_columns).map(|j| (0..self.n).map(|i| value(j, i)).collect()).collect())
        }

        fn options(&self) -> GrowOptions {
            let Case { min_samples_leaf, min_weight_leaf, .. } = *self;
            GrowOptions { min_samples_leaf, min_weight_leaf, ..Default::default() }
        }
    }

    fn case() -> impl Strategy<Value = Case> {
        let values = prop_oneof![Just(3u64), Just(40), Just(1 << 40)];
        let lacking = prop_oneof![Just(1u64), Just(3), Just(20)];
        let min_weight_leaf = prop_oneof![2 => Just(0.0), 1 => 0.1..6.0];
        (any::<u64>(), 2usize..260, 1usize..4, values, any::<bool>(), lacking, 1usize..4, min_weight_leaf).prop_map(
            |(seed, n, n_columns, values, alternate, lacking, min_samples_leaf, min_weight_leaf)| Case {
                seed,
                n,
                n_columns,
                values,
                alternate,
                lacking,
                min_samples_leaf,
                min_weight_leaf,
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(150))]

        #[test]
        fn classes_are_the_same_in_chains(case in case(), n_classes in 3u64..11) {
            let Case { n, alternate, .. } = case;
            let (features, options) = (case.features(), case.options());
            let class = |i: usize| if alternate { i as u64 } else { case.draw(99, i) };
            let codes: Vec<u32> = (0..n).map(|i| (class(i) % n_classes) as u32).collect();
            let two: Vec<u32> = (0..n).map(|i| (class(i) % 2) as u32).collect();
            let weight: Vec<f64> = (0..n).map(|i| (1 + case.draw(97, i) % 3) as f64).collect();
            for impurity in [Impurity::Gini, Impurity::Entropy, Impurity::Error] {
                same(TwoClassCounts::new(&two, impurity), &features, &options)?;
            }
            for impurity in [Impurity::Gini, Impurity::Error] {
                same(ClassWeights::new(&two, Some(&weight), 2, impurity), &features, &options)?;
                same(ClassWeights::new(&codes, None, n_classes as usize, impurity), &features, &options)?;
                same(ClassWeights::new(&codes, Some(&weight), n_classes as usize, impurity), &features, &options)?;
            }
            let numbers: Vec<f64> = codes.iter().map(|&code| f64::from(code * code)).collect();
            same(Absolute::new(&numbers, 1, None), &features, &options)?;
            same(Absolute::new(&numbers, 1, Some(&weight)), &features, &options)?;
            let best_first = GrowOptions { max_leaf_nodes: Some(1 + n / 3), ..options.clone() };
            same(TwoClassCounts::new(&two, Impurity::Gini), &features, &best_first)?;
            let weight: Vec<f64> = weight.iter().map(|w| w / 7.0).collect();
            for impurity in [Impurity::Gini, Impurity::Entropy] {
                as_good(ClassWeights::new(&codes, Some(&weight), n_classes as usize, impurity), &features, &options, 1e-12)?;
            }
        }

        #[test]
        fn numbers_are_as_good_in_chains(case in case(), n_outputs in 1usize..4) {
            let Case { n, alternate, values, .. } = case;
            let (features, options) = (case.features(), case.options());
            let weight: Vec<f64> = (0..n).map(|i| (1 + case.draw(97, i) % 3) as f64 / 7.0).collect();
            let number = |i: usize| if alternate { (i / n_outputs % (2 + i % n_outputs)) as f64 } else { (case.draw(98, i) % values) as f64 / 7.0 };
            let numbers: Vec<f64> = (0..n * n_outputs).map(number).collect();
            let largest = numbers.iter().fold(0.0, |a: f64, &b| a.max(b));
            for weight in [None, Some(&weight[..])] {
                as_good(Variance::new(&numbers[..n], weight), &features, &options, 0.0)?;
                as_good(Numbers::new(&numbers, n_outputs, weight, Loss::Squared), &features, &options, 0.0)?;
                as_good(Numbers::new(&numbers, n_outputs, weight, Loss::Poisson), &features, &options, 1e-12 * largest)?;
            }
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
        let lacking = || (0..n).map(|i| if i % 10 == 3 { f64::NAN } else { f64::from(i) }).collect::<Vec<f64>>();
        for columns in [vec![ascending()], vec![noise(), ascending()], vec![pairs(), ascending()], vec![lacking()]] {
            let features = features(columns);
            let grown = by(&criterion, &features, &options, ChainRule::default());
            assert_eq!(grown, by(&criterion, &features, &options, NEVER));
        }
    }
}
