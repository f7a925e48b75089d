//! Optimal trees: the lowest training error among all trees of a given depth, with proof.
//!
//! **Idea.** Branch and bound over nested splits. The left sides of the thresholds of one column are nested, and the best tree for more rows never has fewer errors than the best one for a subset. Between two
//! thresholds a < b, every split therefore costs at least the left side of a plus the right side of b: if that is no better than the best tree so far, the whole interval is pruned; otherwise its middle is solved
//! and divides it in two. Subproblems are a set of rows and a depth; their solutions are cached. A tree of depth 1 is found by sweeping the sorted columns. For binary features,
//! [`binary_optimal`](super::binary_optimal) counts bits instead.
//!
//! **Minimum leaf size.** With it, more rows may be easier than fewer, as splits that would leave too few rows become possible. But no tree with large leaves beats the best tree with leaves of any size, and the
//! latter never has fewer errors on more rows. Intervals are therefore bounded by trees without the minimum, and only the cuts that remain are solved with it.
//!
//! **Formula.** Minimize (weight of misclassified rows) + penalty * (leaves - 1). Splits: thresholds of ordered columns with missing values on either side; sets of categories (every set for columns with at most
//! [`ALL_SETS`] categories, single categories otherwise; missing values count as a category).
//!
//! **Anytime.** The search starts from greedy trees. If time runs out, it returns the best tree so far and the lowest bound of the unexplored part: the optimum lies between. Rows with identical features end in
//! the same leaf of every tree, so all but the most frequent class among them are unavoidable errors: a lower bound for every set of rows before any search.
//!
//! **Cost.** Exponential in the depth at worst, O(d n) per subproblem. **Reference.** Brita, van der Linden and Demirović, Optimal classification trees for continuous feature data using dynamic programming with
//! branch-and-bound (2025); Mazumder, Meng and Wang, Quant-BnB (2022).

use super::binary_optimal::{BinaryFeatures, BinaryLimits, BinaryTree, BinaryTreeSearch, lost_rows};
use crate::split::Test;
use crate::split::test::CodeSet;
use ermine_core::matrix::Dataset;
use ermine_core::progress::Patience;
use ermine_core::rng;
use ermine_core::table::ColumnKind;
use std::collections::HashMap;

/// Columns with at most this many categories (including missing) are split by every subset.
pub const ALL_SETS: usize = 6;
/// So many subproblems are remembered at most.
const REMEMBERED: usize = 2_000_000;

/// What is minimized.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OptimalOptions {
    /// No leaf is deeper.
    pub max_depth: usize,
    /// The weight that each leaf beyond the first costs.
    pub penalty: f64,
    /// Minimum number of rows in each leaf.
    pub min_samples_leaf: usize,
}

/// A tree that was found.
#[derive(Debug, Clone, PartialEq)]
pub enum OptimalSubtree {
    /// A leaf.
    Leaf,
    /// A question and what follows.
    Split(Test, Box<OptimalSubtree>, Box<OptimalSubtree>),
}

/// The best tree found, its cost, and a lower bound.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeSolution {
    /// The tree; its cost is below the limit of the search, or it is a leaf.
    pub tree: OptimalSubtree,
    /// Weighted errors plus penalties.
    pub cost: f64,
    /// A lower bound of the cost of all trees; equal to `cost` if the search was complete.
    pub bound: f64,
}

/// Nested splits: the rows with rank up to t are on the left of the t-th test.
struct NestedSplits {
    rank: Vec<u32>,
    tests: Vec<Test>,
}

/// A set of rows, sorted along every chain of nested splits.
struct RowSubset {
    rows: Vec<u32>,
    orders: Vec<Vec<u32>>,
}

/// A class of trees: maximum depth and minimum leaf size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct TreeClass {
    depth: usize,
    leaf_size: usize,
}

impl TreeClass {
    /// The class of the subtrees below a split.
    fn below(self) -> TreeClass {
        TreeClass { depth: self.depth - 1, ..self }
    }

    /// The same class without a minimum leaf size.
    fn without_leaf_size(self) -> TreeClass {
        TreeClass { leaf_size: 1, ..self }
    }
}

/// The fingerprint of a set of rows, and the class of trees.
type Subproblem = (u128, TreeClass);

/// The search for an optimal tree.
pub struct OptimalTreeSearch<'a> {
    codes: &'a [u32],
    weight: Vec<f64>,
    n_classes: usize,
    chains: Vec<NestedSplits>,
    options: OptimalOptions,
    /// Costs that differ by at most this are equal up to rounding.
    tolerance: f64,
    fingerprint: Vec<u128>,
    /// Unavoidable errors: rows outside the most frequent class of the rows with the same features.
    lost: Vec<bool>,
    known: HashMap<Subproblem, TreeSolution>,
    patience: &'a Patience<'a>,
}

impl<'a> OptimalTreeSearch<'a> {
    /// Prepares the splits of a data set.
    pub fn new(
        data: &Dataset,
        codes: &'a [u32],
        n_classes: usize,
        options: OptimalOptions,
        patience: &'a Patience<'a>,
    ) -> OptimalTreeSearch<'a> {
        let n = data.n_rows();
        let fingerprint = (0..n)
            .map(|row| u128::from(rng::place(1, row as u64)) << 64 | u128::from(rng::place(2, row as u64)))
            .collect();
        let weight: Vec<f64> = (0..n).map(|row| data.row_weight(row)).collect();
        let values = fingerprints(data);
        let lost = lost_rows(codes, n_classes, |row| values[row], |row| weight[row]);
        OptimalTreeSearch {
            codes,
            n_classes,
            chains: chains(data, patience),
            options,
            tolerance: 1e-12 * weight.iter().sum::<f64>(),
            weight,
            fingerprint,
            lost,
            known: HashMap::new(),
            patience,
        }
    }

    /// The best tree on all rows; only trees cheaper than `limit` are searched.
    pub fn solve_all(&mut self, limit: f64) -> TreeSolution {
        let rows: Vec<u32> = (0..self.codes.len() as u32).collect();
        let order = |chain: &NestedSplits| {
            if let [_] = &chain.tests[..] {
                let (left, right): (Vec<u32>, Vec<u32>) = rows.iter().partition(|&&row| chain.rank[row as usize] == 0);
                return [left, right].concat();
            }
            let mut order = rows.clone();
            order.sort_by_key(|&row| chain.rank[row as usize]);
            order
        };
        let mut orders = Vec::with_capacity(self.chains.len());
        for chain in &self.chains {
            if self.patience.is_over() {
                break;
            }
            orders.push(order(chain));
        }
        if self.patience.was_over() {
            // Some splits are missing: only the unavoidable errors are a valid bound.
            let (cost, bound) = (errors(&self.class_weights(&rows)), self.least(&rows));
            return TreeSolution { tree: OptimalSubtree::Leaf, cost, bound };
        }
        let class = TreeClass { depth: self.options.max_depth, leaf_size: self.options.min_samples_leaf.max(1) };
        self.solve(&RowSubset { rows, orders }, class, limit)
    }

    /// The same for binary features and equal weights, which is much faster; `None` otherwise.
    pub fn solve_binary(&mut self, limit: f64) -> Option<TreeSolution> {
        const MOST: usize = 2000;
        let weight = *self.weight.first()?;
        let plain = self.weight.iter().all(|w| *w == weight) && weight > 0.0;
        let two_answers = |chain: &NestedSplits| chain.rank.iter().all(|&rank| rank <= 1);
        if self.patience.was_over() || !plain || self.chains.len() > MOST || !self.chains.iter().all(two_answers) {
            return None;
        }
        let answers = |chain: &NestedSplits| chain.rank.iter().map(|&rank| rank == 0).collect();
        let answers: Vec<Vec<bool>> = self.chains.iter().map(answers).collect();
        let questions = BinaryFeatures::new(self.codes, self.n_classes, &answers);
        let limits = BinaryLimits {
            max_depth: self.options.max_depth,
            penalty: self.options.penalty / weight,
            min_samples_leaf: self.options.min_samples_leaf,
        };
        let mut optimizer = BinaryTreeSearch::new(&questions, limits, self.patience);
        let found = optimizer.solve_all(limit / weight);
        Some(TreeSolution { tree: self.to_tests(&found.tree), cost: found.cost * weight, bound: found.bound * weight })
    }

    /// Converts a tree of binary features to a tree of tests.
    fn to_tests(&self, tree: &BinaryTree) -> OptimalSubtree {
        match tree {
            BinaryTree::Leaf => OptimalSubtree::Leaf,
            BinaryTree::Split(q, yes, no) => {
                let test = self.chains[*q].tests[0].clone();
                OptimalSubtree::Split(test, Box::new(self.to_tests(yes)), Box::new(self.to_tests(no)))
            }
        }
    }

    fn class_weights(&self, rows: &[u32]) -> Vec<f64> {
        let mut weights = vec![0.0; self.n_classes];
        rows.iter().for_each(|&row| weights[self.codes[row as usize] as usize] += self.weight[row as usize]);
        weights
    }

    /// A lower bound of the cost of all trees for these rows: the unavoidable errors.
    fn least(&self, rows: &[u32]) -> f64 {
        rows.iter().filter(|&&row| self.lost[row as usize]).map(|&row| self.weight[row as usize]).sum()
    }

    /// The best tree for some rows. `cost < limit` if there is one; otherwise `bound >= limit`, unless time ran out.
    fn solve(&mut self, set: &RowSubset, class: TreeClass, limit: f64) -> TreeSolution {
        let weights = self.class_weights(&set.rows);
        let leaf = errors(&weights);
        let few = set.rows.len() < 2 * class.leaf_size;
        let least = self.least(&set.rows);
        if class.depth == 0 || leaf <= least + self.options.penalty + self.tolerance || few {
            return TreeSolution { tree: OptimalSubtree::Leaf, cost: leaf, bound: leaf };
        }
        let key = (set.rows.iter().fold(0u128, |sum, &r| sum.wrapping_add(self.fingerprint[r as usize])), class);
        if let Some(known) = self.known.get(&key).filter(|known| known.bound >= known.cost || known.bound >= limit) {
            return known.clone();
        }
        let solution = if class.depth == 1 {
            self.solve_stump(set, class.leaf_size, &weights, (leaf, least))
        } else {
            self.solve_deep(set, class, (leaf, least), limit)
        };
        if self.known.len() < REMEMBERED && !self.patience.was_over() {
            self.known.insert(key, solution.clone());
        }
        solution
    }

    /// Depth 1: sweeps every chain.
    fn solve_stump(&self, set: &RowSubset, leaf_size: usize, all: &[f64], (leaf, lowest): (f64, f64)) -> TreeSolution {
        let mut best = (leaf, None);
        let n = set.rows.len();
        let mut bound = f64::INFINITY;
        for (c, (chain, order)) in self.chains.iter().zip(&set.orders).enumerate() {
            // Reading the clock costs more than many short sweeps.
            if c % 16 == 15 && self.patience.is_over() {
                bound = lowest + self.options.penalty;
                break;
            }
            let mut left = vec![0.0; self.n_classes];
            let mut right = all.to_vec();
            for i in 0..n - 1 {
                let row = order[i] as usize;
                let class = self.codes[row] as usize;
                left[class] += self.weight[row];
                right[class] -= self.weight[row];
                let rank = chain.rank[row];
                if rank == chain.rank[order[i + 1] as usize] || i + 1 < leaf_size || n - i - 1 < leaf_size {
                    continue;
                }
                let cost = errors(&left) + errors(&right) + self.options.penalty;
                if cost < best.0 - self.tolerance {
                    best = (cost, Some((c, rank)));
                }
            }
        }
        let leaf = || Box::new(OptimalSubtree::Leaf);
        let tree = best.1.map_or(OptimalSubtree::Leaf, |(c, rank)| {
            OptimalSubtree::Split(self.chains[c].tests[rank as usize].clone(), leaf(), leaf())
        });
        TreeSolution { tree, cost: best.0, bound: best.0.min(bound) }
    }

    /// Any depth: branch and bound over the intervals of each chain.
    fn solve_deep(&mut self, set: &RowSubset, class: TreeClass, (leaf, least): (f64, f64), limit: f64) -> TreeSolution {
        // A shallower tree is a cheap initial solution.
        let start = self.solve(set, class.below(), limit);
        let mut best = if start.cost < leaf { (start.tree, start.cost) } else { (OptimalSubtree::Leaf, leaf) };
        // The lowest bound of all pruned or unfinished intervals.
        let mut bound = f64::INFINITY;
        for c in 0..self.chains.len() {
            if self.patience.was_over() {
                bound = bound.min(least + self.options.penalty);
                break;
            }
            let cuts = self.cuts(set, c, class.leaf_size);
            if cuts.is_empty() {
                continue;
            }
            // Intervals of open cuts, with bounds of the left side at the start and the right side at the end.
            let mut intervals = vec![(0, cuts.len(), 0.0, 0.0)];
            while let Some((from, to, left_bound, right_bound)) = intervals.pop() {
                let lowest = least.max(left_bound + right_bound) + self.options.penalty;
                let target = best.1.min(limit);
                if from == to {
                    continue;
                }
                if lowest >= target - self.tolerance || self.patience.is_over() {
                    bound = bound.min(lowest);
                    continue;
                }
                let middle = from + (to - from) / 2;
                let (left, right) = self.divide(set, c, cuts[middle]);
                let room = target - self.options.penalty;
                // Bounds for neighboring cuts must not use the minimum leaf size.
                let loose = class.below().without_leaf_size();
                let mut a = self.solve(&left, loose, room - right_bound);
                let mut b = self.solve(&right, loose, room - left_bound);
                intervals.push((from, middle, left_bound, b.bound.max(right_bound)));
                intervals.push((middle + 1, to, a.bound.max(left_bound), right_bound));
                if loose != class.below() {
                    if a.bound + b.bound >= room - self.tolerance {
                        bound = bound.min(a.bound + b.bound + self.options.penalty);
                        continue;
                    }
                    let (a_bound, b_bound) = (a.bound, b.bound);
                    a = self.solve(&left, class.below(), room - b_bound);
                    b = self.solve(&right, class.below(), room - a_bound);
                }
                bound = bound.min(a.bound + b.bound + self.options.penalty);
                let cost = a.cost + b.cost + self.options.penalty;
                if cost < best.1 - self.tolerance {
                    let rank = self.chains[c].rank[set.orders[c][cuts[middle] - 1] as usize];
                    let test = self.chains[c].tests[rank as usize].clone();
                    best = (OptimalSubtree::Split(test, Box::new(a.tree), Box::new(b.tree)), cost);
                }
            }
        }
        let (tree, cost) = best;
        // Only intervals that can't beat the target were pruned, so the bound is at most the cost of the best tree.
        TreeSolution { tree, cost, bound: bound.min(cost).max(0.0) }
    }

    /// The number of left rows of each cut of a chain that leaves enough rows on both sides.
    fn cuts(&self, set: &RowSubset, chain: usize, leaf_size: usize) -> Vec<usize> {
        let (order, rank) = (&set.orders[chain], &self.chains[chain].rank);
        let is_cut = |&i: &usize| rank[order[i - 1] as usize] != rank[order[i] as usize];
        (leaf_size..order.len().saturating_sub(leaf_size - 1)).filter(is_cut).collect()
    }

    fn divide(&self, set: &RowSubset, chain: usize, n_left: usize) -> (RowSubset, RowSubset) {
        let rank = &self.chains[chain].rank;
        let last = rank[set.orders[chain][n_left - 1] as usize];
        let is_left = |row: &&u32| rank[**row as usize] <= last;
        let part = |rows: &Vec<u32>| -> (Vec<u32>, Vec<u32>) { rows.iter().partition(is_left) };
        let (rows, other_rows) = part(&set.rows);
        let (orders, other_orders) = set.orders.iter().map(part).unzip();
        (RowSubset { rows, orders }, RowSubset { rows: other_rows, orders: other_orders })
    }
}

fn errors(weights: &[f64]) -> f64 {
    weights.iter().sum::<f64>() - weights.iter().fold(0.0f64, |most, &w| most.max(w))
}

/// A hash of each row's features; missing values are equal.
fn fingerprints(data: &Dataset) -> Vec<u128> {
    let features = data.features();
    let mut halves = vec![(1u64, 2u64); data.n_rows()];
    for f in 0..features.n_columns() {
        for (half, x) in halves.iter_mut().zip(features.numbers(f)) {
            // Both zeros are equal, and so are all NaNs.
            let bits = if x.is_nan() { u64::MAX } else { (x + 0.0).to_bits() };
            *half = (rng::place(half.0, bits), rng::place(half.1, bits));
        }
    }
    halves.into_iter().map(|(a, b)| u128::from(a) << 64 | u128::from(b)).collect()
}

/// The chains of all columns; incomplete if time runs out.
fn chains(data: &Dataset, patience: &Patience<'_>) -> Vec<NestedSplits> {
    let features = data.features();
    let mut chains = Vec::new();
    for f in 0..features.n_columns() {
        if patience.is_over() {
            break;
        }
        let numbers = features.numbers(f);
        let has_missing = numbers.iter().any(|x| x.is_nan());
        let mut distinct: Vec<f64> = numbers.iter().copied().filter(|x| !x.is_nan()).collect();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        if features.columns()[f].kind == ColumnKind::Nominal {
            nominal_chains(f as u32, &numbers, &distinct, has_missing, patience, &mut chains);
        } else {
            let sides = if has_missing { &[true, false][..] } else { &[false] };
            let ordered = sides.iter().map(|&missing_left| ordered_chain(f as u32, &numbers, &distinct, missing_left));
            chains.extend(ordered);
        }
    }
    chains
}

/// Thresholds between distinct values, and above all of them if missing values are on the right.
fn ordered_chain(feature: u32, numbers: &[f64], distinct: &[f64], missing_left: bool) -> NestedSplits {
    let offset = u32::from(missing_left);
    let rank = |x: &f64| match x {
        x if x.is_nan() => {
            if missing_left {
                0
            } else {
                distinct.len() as u32
            }
        }
        x => offset + distinct.partition_point(|d| d < x) as u32,
    };
    let between = |i: usize| {
        distinct.get(i + 1).map_or(f64::INFINITY, |next| ermine_core::matrix::binned::between(distinct[i], *next))
    };
    let test = |threshold: f64| Test::AtMost { feature, threshold, missing_left };
    let mut tests: Vec<Test> = Vec::new();
    if missing_left {
        // Separating only the missing values is part of the other chain.
        tests.push(test(distinct.first().map_or(0.0, |x| x.next_down())));
    }
    tests.extend((0..distinct.len()).map(|i| test(between(i))));
    NestedSplits { rank: numbers.iter().map(rank).collect(), tests }
}

/// One test per subset of categories, or per category.
fn nominal_chains(
    feature: u32,
    numbers: &[f64],
    distinct: &[f64],
    has_missing: bool,
    patience: &Patience<'_>,
    chains: &mut Vec<NestedSplits>,
) {
    let n_groups = distinct.len() + usize::from(has_missing);
    if n_groups < 2 {
        return;
    }
    let group = |x: &f64| if x.is_nan() { distinct.len() } else { distinct.partition_point(|d| d < x) };
    let groups: Vec<u32> = numbers.iter().map(|x| group(x) as u32).collect();
    let mut push = |inside: &dyn Fn(usize) -> bool| {
        let codes = (0..distinct.len()).filter(|&g| inside(g)).map(|g| distinct[g] as usize);
        let missing_left = has_missing && inside(distinct.len());
        let test = Test::InSet { feature, set: CodeSet::new(codes), missing_left };
        let rank = groups.iter().map(|&group| u32::from(!inside(group as usize))).collect();
        chains.push(NestedSplits { rank, tests: vec![test] });
    };
    if n_groups <= ALL_SETS {
        // The last group is never included: a set and its complement are the same split.
        (1u32..1 << (n_groups - 1)).for_each(|set| push(&|g| set >> g & 1 == 1));
    } else {
        (0..n_groups).take_while(|_| !patience.is_over()).for_each(|one| push(&|g| g == one));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ermine_core::progress::Silent;
    use ermine_core::table::{Column, Table};
    use std::time::{Duration, Instant};

    #[test]
    fn no_splits_are_generated_after_the_time_limit() {
        let names: Vec<Option<String>> = (0..500).map(|i| Some(format!("n{}", i % 100))).collect();
        let classes: Vec<Option<&str>> = (0..500).map(|i| Some(if i % 3 == 0 { "a" } else { "b" })).collect();
        let columns = vec![Column::nominal("name", &names), Column::nominal("class", &classes)];
        let data = Table::new(columns).unwrap().dataset("class").unwrap();
        let now = Instant::now();
        let count = |deadline: Instant| chains(&data, &Patience::new(Some(deadline), &Silent)).len();
        assert_eq!(count(now + Duration::from_secs(3600)), 100);
        assert_eq!(count(now), 0);
    }
}
