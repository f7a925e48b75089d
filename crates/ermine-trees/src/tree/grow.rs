//! The CART tree builder.
//!
//! **Idea.** Large nodes are split level by level: the features are distributed over the threads, and each thread searches its features for all nodes of the level and then partitions them, so that a column
//! stays in the cache of one core. Nodes of at most `SUBTREE` rows become subtrees, renumbered from 0 for locality; each is grown to its end by one thread. With a limit on the number of leaves, the node with
//! the largest gain is split first instead. Nothing is recursive, so degenerate trees can't overflow the stack.
//!
//! **Ties.** The largest gain wins; among equal gains a column that the random seed and the path of the node choose, then the lower threshold. The result doesn't depend on the number of threads.
//!
//! **Cost.** O(d n) per level, O(d n log n) for a balanced tree; the depth limit keeps it linear in n for any tree. Memory: 4 bytes per value, plus the tree.

use super::orders::{ColumnOrders, NodePartition, OrderedColumn, RowSet};
use super::queue::{GrowthPolicy, NodeQueue};
use super::search::{ChosenSplit, SearchedColumns, SplitPosition, SplitSearch};
use super::{DEFAULT_MAX_DEPTH, Tree};
use crate::split::Test;
use crate::split::bipartition::{BipartitionSearch, groups};
use crate::split::node::{NodeCriterion, NodeSummary, ROW};
use crate::split::test::CodeSet;
use ermine_core::error::Result;
use ermine_core::matrix::{Features, binned};
use ermine_core::parallel;
use ermine_core::progress::{Event, Observer, Silent, report};
use ermine_core::rng::{self, Purpose, RngExt};
use std::ops::Range;

/// Nodes of at most this many rows are grown as subtrees by one thread each.
const SUBTREE: usize = 8192;

/// Stopping rules and search options.
#[derive(Debug, Clone, PartialEq)]
pub struct GrowOptions {
    /// Maximum depth; the root has depth 0.
    pub max_depth: usize,
    /// Minimum number of rows a node needs to be split.
    pub min_samples_split: usize,
    /// Minimum number of rows in each leaf.
    pub min_samples_leaf: usize,
    /// Minimum weight of a leaf.
    pub min_weight_leaf: f64,
    /// Minimum gain of a split (weight times impurity decrease).
    pub min_gain: f64,
    /// A node is not split if its impurity is at most this.
    pub min_impurity: f64,
    /// Maximum number of leaves; splits with the largest gain come first.
    pub max_leaf_nodes: Option<usize>,
    /// Number of random columns that each node considers.
    pub max_features: usize,
    /// Draw one random threshold per column instead of searching for the best.
    pub random_thresholds: bool,
    /// Monotonic constraint of each column (1, -1 or 0): see [`SplitLimits`](crate::split::node::SplitLimits). Empty for no constraints.
    pub monotone: Vec<i8>,
    /// Random seed; each node derives its own stream from it and its path.
    pub seed: u64,
}

impl Default for GrowOptions {
    fn default() -> Self {
        GrowOptions {
            max_depth: DEFAULT_MAX_DEPTH,
            min_samples_split: 2,
            min_samples_leaf: 1,
            min_weight_leaf: 0.0,
            min_gain: 0.0,
            min_impurity: 0.0,
            max_leaf_nodes: None,
            max_features: usize::MAX,
            random_thresholds: false,
            monotone: Vec::new(),
            seed: 0,
        }
    }
}

/// A tree with the cost and count of each node.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GrownTree {
    /// The tree.
    pub tree: Tree,
    /// The cost of each node: its weight times its impurity.
    pub cost: Vec<f64>,
    /// The number of rows of each node.
    pub count: Vec<u32>,
    /// Number of splits of nominal columns found by ordering, by enumeration and by a heuristic.
    pub searches: [usize; 3],
}

impl GrownTree {
    /// Adds a leaf whose prediction has been appended to the tree.
    pub(crate) fn push_leaf(&mut self, weight: f64, cost: f64, count: usize) {
        self.tree.push_leaf(weight);
        self.cost.push(cost);
        self.count.push(count as u32);
    }
}

/// A node that may be split.
pub(super) struct PendingNode<N> {
    pub node: u32,
    pub range: Range<usize>,
    pub depth: usize,
    /// A hash of the path from the root: the same for any number of threads.
    pub path: u64,
    pub bounds: (f64, f64),
    pub state: N,
}

/// Grows a tree on all rows.
pub fn grow<C: NodeCriterion>(
    criterion: C,
    features: &Features,
    options: &GrowOptions,
    observer: &dyn Observer,
) -> Result<GrownTree> {
    let n = features.n_rows();
    let marks: Vec<u32> = (0..n).map(|row| criterion.mark(row)).collect();
    let orders = ColumnOrders::new(features, features.sorted_once(), &marks)?;
    let rows = (0..n as u32).collect();
    let mut grower = TreeBuilder::new(criterion, orders, features, rows, options);
    let root = grower.root();
    let drive = || -> Result<GrownTree> {
        let policy = match options.max_leaf_nodes {
            Some(_) => GrowthPolicy::BestFirst,
            None if n <= SUBTREE => GrowthPolicy::DepthFirst,
            None => GrowthPolicy::ByLevel,
        };
        let most = options.max_leaf_nodes.unwrap_or(usize::MAX);
        grower.run(root, (policy, most), observer)?;
        Ok(grower.out)
    };
    // Within the pool, so that its threads keep their columns from one level to the next.
    rayon::scope(|_| drive())
}

pub(super) struct TreeBuilder<'a, C> {
    pub criterion: C,
    pub orders: ColumnOrders,
    columns: SearchedColumns,
    pub features: &'a Features,
    /// The row of the features for each row of this builder.
    pub rows: Vec<u32>,
    pub options: &'a GrowOptions,
    /// Rows of the smaller side of each node that is being partitioned; otherwise empty.
    set: RowSet,
    buffer: Vec<u32>,
    /// Where the random numbers that break ties start.
    ties: u64,
    pub out: GrownTree,
}

impl<'a, C: NodeCriterion> TreeBuilder<'a, C> {
    fn new(
        criterion: C,
        orders: ColumnOrders,
        features: &'a Features,
        rows: Vec<u32>,
        options: &'a GrowOptions,
    ) -> Self {
        let (set, buffer, out) = (RowSet::new(rows.len()), Vec::new(), GrownTree::default());
        let ties = Purpose::SplitTies.stream(options.seed, &[]).random();
        let columns = SearchedColumns::new(&orders, &options.monotone);
        TreeBuilder { criterion, orders, columns, features, rows, options, set, buffer, ties, out }
    }

    fn root(&mut self) -> Option<PendingNode<C::Node>> {
        let n = self.rows.len();
        let entries: Vec<u32> = self.orders.columns[0].entries(&(0..n)).to_vec();
        self.out.tree.width = self.criterion.width();
        let (summary, state) = self.add_node(&entries);
        let bounds = (f64::NEG_INFINITY, f64::INFINITY);
        let root = PendingNode { node: 0, range: 0..n, depth: 0, path: 1, bounds, state };
        self.may_split(&summary, n, 0).then_some(root)
    }

    /// Adds a leaf with these entries to the tree.
    pub fn add_node(&mut self, entries: &[u32]) -> (NodeSummary, C::Node) {
        let (summary, state) = self.criterion.prepare(entries, &mut self.out.tree.value);
        self.out.push_leaf(summary.weight, summary.cost, entries.len());
        (summary, state)
    }

    pub fn may_split(&self, summary: &NodeSummary, n: usize, depth: usize) -> bool {
        let o = self.options;
        let enough = n >= o.min_samples_split.max(2) && n >= o.min_samples_leaf.saturating_mul(2);
        let pure = summary.pure || o.min_impurity > 0.0 && summary.cost <= o.min_impurity * summary.weight;
        enough && depth < o.max_depth && !pure && summary.weight >= 2.0 * o.min_weight_leaf
    }

    pub fn searcher(&self) -> SplitSearch<'_, C> {
        SplitSearch {
            criterion: &self.criterion,
            orders: &self.orders,
            columns: &self.columns,
            features: self.features,
            rows: &self.rows,
            options: self.options,
            ties: self.ties,
        }
    }

    /// Splits a node; returns the children that may be split further and, if there are any, the partition of its rows.
    pub fn split(
        &mut self,
        pending: &PendingNode<C::Node>,
        mut choice: ChosenSplit,
    ) -> (Vec<PendingNode<C::Node>>, Option<NodePartition>) {
        let (mut left, mut right) = self.sides(pending, &choice);
        let left_is_heavier = self.criterion.weight(&left) > self.criterion.weight(&right);
        if let (SplitPosition::Categories(parts), true) = (&mut choice.place, left_is_heavier) {
            // The test lists the categories of the left side, so unseen categories go right: make that the heavier side.
            parts.flip();
            std::mem::swap(&mut left, &mut right);
        }
        let test = self.test(pending, &choice, left_is_heavier);
        let node = pending.node as usize;
        let first = self.out.tree.n_nodes();
        self.out.tree.set_test(node, test);
        let sides = [self.add_node(&left), self.add_node(&right)];
        let bounds = self.child_bounds(pending, choice.feature, first);
        for (side, (_, state)) in sides.iter().enumerate() {
            self.clip(first + side, bounds[side], state);
        }
        let middle = pending.range.start + left.len();
        let ranges = [pending.range.start..middle, middle..pending.range.end];
        let mut children = Vec::new();
        for (side, ((summary, state), range)) in sides.into_iter().zip(ranges).enumerate() {
            if self.may_split(&summary, range.len(), pending.depth + 1) {
                let child = self.child_of(pending, side, range, state);
                children.push(PendingNode { bounds: bounds[side], ..child });
            }
        }
        if children.is_empty() {
            return (children, None);
        }
        let left_is_set = left.len() <= right.len();
        self.set.insert(if left_is_set { &left } else { &right }.iter().map(|entry| entry & ROW));
        (children, Some(NodePartition { range: pending.range.clone(), n_left: left.len(), left_is_set }))
    }

    /// The left or right child of a node that was just split.
    pub fn child_of(
        &self,
        parent: &PendingNode<C::Node>,
        side: usize,
        range: Range<usize>,
        state: C::Node,
    ) -> PendingNode<C::Node> {
        PendingNode {
            node: self.out.tree.child[parent.node as usize] + side as u32,
            range,
            depth: parent.depth + 1,
            path: rng::place(parent.path, side as u64),
            bounds: parent.bounds,
            state,
        }
    }

    /// The entries that go left and those that go right.
    fn sides(&self, pending: &PendingNode<C::Node>, choice: &ChosenSplit) -> (Vec<u32>, Vec<u32>) {
        let segment = self.orders.columns[choice.feature].segment(&pending.range);
        let (mut left, mut right) = match &choice.place {
            SplitPosition::Threshold { at, .. } => {
                let (left, right) = segment.present.split_at(at.n_left);
                (left.to_vec(), right.to_vec())
            }
            SplitPosition::Categories(parts) => {
                let (mut left, mut right) = (Vec::new(), Vec::new());
                for (group, &is_left) in groups(segment.present).into_iter().zip(&parts.left) {
                    if is_left { left.extend_from_slice(group) } else { right.extend_from_slice(group) }
                }
                (left, right)
            }
        };
        if choice.place.missing_left() { &mut left } else { &mut right }.extend_from_slice(segment.missing);
        (left, right)
    }

    fn test(&mut self, pending: &PendingNode<C::Node>, choice: &ChosenSplit, left_is_heavier: bool) -> Test {
        let segment = self.orders.columns[choice.feature].segment(&pending.range);
        let feature = choice.feature as u32;
        let value = |entry: u32| self.features.number(self.rows[(entry & ROW) as usize] as usize, choice.feature);
        // If no training row of the node has a missing value, missing values go to the heavier side.
        let missing_left = if segment.missing.is_empty() { left_is_heavier } else { choice.place.missing_left() };
        match &choice.place {
            SplitPosition::Threshold { at, value: drawn } => {
                let threshold = match (drawn, segment.present.get(at.n_left)) {
                    (Some(drawn), _) => *drawn,
                    (None, Some(&next)) => binned::between(value(segment.present[at.n_left - 1]), value(next)),
                    (None, None) => f64::INFINITY,
                };
                Test::AtMost { feature, threshold, missing_left }
            }
            SplitPosition::Categories(parts) => {
                self.out.searches[match parts.search {
                    BipartitionSearch::Order => 0,
                    BipartitionSearch::Enumeration => 1,
                    BipartitionSearch::Heuristic => 2,
                }] += 1;
                let left = groups(segment.present).into_iter().zip(&parts.left).filter(|(_, left)| **left);
                let set = CodeSet::new(left.map(|(group, _)| value(group[0]) as usize));
                Test::InSet { feature, set, missing_left: !segment.missing.is_empty() && missing_left }
            }
        }
    }

    /// With a monotonic constraint, the midpoint of the children's predictions bounds all predictions below them.
    fn child_bounds(&self, pending: &PendingNode<C::Node>, feature: usize, first: usize) -> [(f64, f64); 2] {
        let (low, high) = pending.bounds;
        let response = |node: usize| *self.out.tree.value(node).last().unwrap_or(&0.0);
        let middle = (response(first) + response(first + 1)) / 2.0;
        match self.options.monotone.get(feature) {
            Some(1) => [(low, middle), (middle, high)],
            Some(-1) => [(middle, high), (low, middle)],
            _ => [(low, high); 2],
        }
    }

    /// Clips the prediction of a node to its bounds and updates its cost.
    fn clip(&mut self, node: usize, (low, high): (f64, f64), state: &C::Node) {
        let width = self.out.tree.width;
        let value = &mut self.out.tree.value[node * width..(node + 1) * width];
        let Some(response) = value.last_mut().filter(|response| **response < low || **response > high) else { return };
        *response = response.clamp(low, high);
        if width == 2 {
            value[0] = 1.0 - value[1];
        }
        self.out.cost[node] = self.criterion.cost_of(state, value);
    }

    /// Grows the tree below a node until it has `most` leaves. With the level-wise policy, small nodes are grown afterwards as subtrees, one thread each.
    fn run(
        &mut self,
        root: Option<PendingNode<C::Node>>,
        (policy, most): (GrowthPolicy, usize),
        observer: &dyn Observer,
    ) -> Result<()> {
        let mut queue = NodeQueue::new(policy);
        let (mut subtrees, mut n_leaves) = (Vec::new(), 1);
        let mut arrivals: Vec<PendingNode<C::Node>> = root.into_iter().collect();
        // Small trees run on one thread and report no progress.
        let is_wide = policy != GrowthPolicy::DepthFirst;
        if is_wide {
            report(observer, Event::Begin { what: "growing a tree", total: None })?;
        }
        loop {
            // The queue returns the last node first: push the left child last.
            if !is_wide {
                arrivals.reverse();
            }
            for pending in arrivals.drain(..) {
                match policy {
                    GrowthPolicy::BestFirst => {
                        if let Some(choice) = self.searcher().search_wide(&pending) {
                            queue.push(choice.gain, (pending, Some(choice)));
                        }
                    }
                    GrowthPolicy::ByLevel if pending.range.len() <= SUBTREE => subtrees.push(pending),
                    GrowthPolicy::ByLevel | GrowthPolicy::DepthFirst => queue.push(0.0, (pending, None)),
                }
            }
            let batch = queue.pop_batch();
            if batch.is_empty() || n_leaves >= most {
                break;
            }
            if is_wide {
                report(observer, Event::Step { done: self.out.tree.n_nodes() as u64, score: None })?;
            }
            let mut parted = Vec::new();
            for (pending, choice) in self.choose(batch, policy) {
                n_leaves += 1;
                let (children, parting) = self.split(&pending, choice);
                parted.extend(parting);
                arrivals.extend(children);
            }
            self.partition(&parted, is_wide);
        }
        self.grow_subtrees(&subtrees)?;
        if is_wide { report(observer, Event::End) } else { Ok(()) }
    }

    /// The nodes to split, with their splits.
    fn choose(
        &self,
        batch: Vec<(PendingNode<C::Node>, Option<ChosenSplit>)>,
        policy: GrowthPolicy,
    ) -> Vec<(PendingNode<C::Node>, ChosenSplit)> {
        if policy == GrowthPolicy::ByLevel {
            let level: Vec<PendingNode<C::Node>> = batch.into_iter().map(|(pending, _)| pending).collect();
            let choices = self.searcher().search_level(&level);
            return level.into_iter().zip(choices).filter_map(|(pending, choice)| Some((pending, choice?))).collect();
        }
        let one = |(pending, choice): (PendingNode<C::Node>, Option<ChosenSplit>)| {
            let choice = choice.or_else(|| self.searcher().search(&pending))?;
            Some((pending, choice))
        };
        batch.into_iter().filter_map(one).collect()
    }

    /// Grows the subtrees below some nodes in parallel.
    fn grow_subtrees(&mut self, subtrees: &[PendingNode<C::Node>]) -> Result<()> {
        // One array renumbers the rows of all subtrees, which are disjoint.
        let mut new_row = vec![0; if subtrees.is_empty() { 0 } else { self.rows.len() }];
        for pending in subtrees {
            self.rows_of(pending).iter().enumerate().for_each(|(i, &row)| new_row[row as usize] = i as u32);
        }
        let grown = parallel::map(subtrees.len(), |i| self.subtree(&subtrees[i], &new_row));
        for (pending, grown) in subtrees.iter().zip(grown) {
            self.graft(pending.node as usize, grown?);
        }
        Ok(())
    }

    /// Partitions the rows of split nodes in all columns; `wide`: on all threads.
    fn partition(&mut self, parted: &[NodePartition], wide: bool) {
        let set = &self.set;
        if parted.is_empty() {
            return;
        }
        let part = |columns: &mut [OrderedColumn], buffer: &mut Vec<u32>| {
            for column in columns {
                parted.iter().for_each(|parting| column.partition(parting, set, buffer));
            }
        };
        if wide {
            let each = self.orders.columns.len().div_ceil(rayon::current_num_threads());
            parallel::for_each_chunk(&mut self.orders.columns, each, |_, columns| part(columns, &mut Vec::new()));
        } else {
            part(&mut self.orders.columns, &mut self.buffer);
        }
        parted.iter().for_each(|parting| self.orders.unset(parting, &mut self.set));
    }

    /// The rows of a node, ascending.
    fn rows_of(&self, pending: &PendingNode<C::Node>) -> Vec<u32> {
        let mut rows: Vec<u32> =
            self.orders.columns[0].entries(&pending.range).iter().map(|entry| entry & ROW).collect();
        rows.sort_unstable();
        rows
    }

    /// Grows the subtree below a node on this thread, with its own renumbered rows.
    fn subtree(&self, pending: &PendingNode<C::Node>, new_row: &[u32]) -> Result<GrownTree> {
        let ours = self.rows_of(pending);
        let orders = self.orders.take(&pending.range, new_row);
        let rows = ours.iter().map(|&row| self.rows[row as usize]).collect();
        let criterion = self.criterion.select(&ours);
        let mut grower = TreeBuilder::new(criterion, orders, self.features, rows, self.options);
        let root = grower.root().map(|root| PendingNode {
            depth: pending.depth,
            path: pending.path,
            bounds: pending.bounds,
            ..root
        });
        grower.run(root, (GrowthPolicy::DepthFirst, usize::MAX), &Silent)?;
        Ok(grower.out)
    }

    /// Replaces a leaf by a subtree.
    fn graft(&mut self, node: usize, sub: GrownTree) {
        let offset = self.out.tree.n_nodes() as u32 - 1;
        let tree = &mut self.out.tree;
        let width = tree.width;
        let mut tests = sub.tree.test.into_iter();
        let child = |child: u32| if child > 0 { child + offset } else { 0 };
        tree.test[node] = tests.next().unwrap_or(Test::Leaf);
        tree.child[node] = child(sub.tree.child[0]);
        tree.test.extend(tests);
        tree.child.extend(sub.tree.child[1..].iter().map(|&c| child(c)));
        tree.weight.extend_from_slice(&sub.tree.weight[1..]);
        tree.value.extend_from_slice(&sub.tree.value[width..]);
        self.out.cost.extend_from_slice(&sub.cost[1..]);
        self.out.count.extend_from_slice(&sub.count[1..]);
        self.out.searches.iter_mut().zip(sub.searches).for_each(|(a, b)| *a += b);
    }
}
