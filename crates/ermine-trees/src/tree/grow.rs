//! Growing a tree: from the whole data down, by the best split of each node.
//!
//! **Idea.** Large nodes are taken level by level: the columns are dealt out to the threads, each thread sweeps its columns for all nodes of the level
//! and then parts them, so that a column stays in the cache of one core. Nodes of at most `SUBTREE` rows become subtrees, renumbered from 0
//! so that all they need lies close together; each is grown to its end by one thread. With a limit on leaves the node with the largest gain comes
//! first instead. There is no recursion: a chain of nodes, each of which loses one row to a leaf, is a long list and nothing more.
//!
//! **Choice.** The largest gain wins; of equal gains the lower column, then the lower threshold. What is chosen doesn't depend on threads.
//!
//! **Cost.** O(d n) for each level, O(d n log n) for a balanced tree; the limit on levels keeps it linear in n for any tree. Memory: 4 bytes for each value, and a tree.

use super::orders::{OrderedColumn, Orders, Parting, RowSet};
use super::queue::{Policy, Queue};
use super::search::{Choice, Place, Searcher};
use super::{DEEPEST, Tree};
use crate::split::Test;
use crate::split::bipartition::{Search, groups};
use crate::split::node::{NodeCriterion, ROW, Summary};
use crate::split::test::CodeSet;
use ermine_core::error::Result;
use ermine_core::matrix::{Features, binned};
use ermine_core::parallel;
use ermine_core::progress::{Event, Observer, Silent, report};
use ermine_core::rng;
use std::ops::Range;

/// Nodes of at most this many rows are grown as subtrees by one thread each.
const SUBTREE: usize = 8192;

/// When a node is split no further, and what is looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct GrowOptions {
    /// No node is deeper; the root has depth 0.
    pub max_depth: usize,
    /// A node with fewer rows is not split.
    pub min_samples_split: usize,
    /// Every leaf has at least this many rows.
    pub min_samples_leaf: usize,
    /// Every leaf has at least this weight.
    pub min_weight_leaf: f64,
    /// A split must gain at least this much (weight times impurity).
    pub min_gain: f64,
    /// A node whose impurity is no more than this is not split.
    pub min_impurity: f64,
    /// At most this many leaves; the splits that gain most come first.
    pub max_leaf_nodes: Option<usize>,
    /// How many columns, drawn at random, each node looks at; all if there are no more.
    pub max_features: usize,
    /// Draw one threshold for each column instead of looking for the best.
    pub random_thresholds: bool,
    /// For each column 1, -1 or 0: see [`Limits`](crate::split::node::Limits). Empty for no constraints.
    pub monotone: Vec<i8>,
    /// What is random follows from this and the place of the node.
    pub seed: u64,
}

impl Default for GrowOptions {
    fn default() -> Self {
        GrowOptions {
            max_depth: DEEPEST,
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

/// A tree and what growing it found out about its nodes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Grown {
    /// The tree.
    pub tree: Tree,
    /// The cost of each node: its weight times its impurity.
    pub cost: Vec<f64>,
    /// How many rows each node has.
    pub count: Vec<u32>,
    /// How many splits of nominal columns were found by order, by enumeration and by heuristic.
    pub searches: [usize; 3],
}

/// A node that may be split.
pub(super) struct Pending<N> {
    pub node: u32,
    pub range: Range<usize>,
    pub depth: usize,
    /// Which way led here: the same for the same node on any number of threads.
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
) -> Result<Grown> {
    let n = features.n_rows();
    let marks: Vec<u32> = (0..n).map(|row| criterion.mark(row)).collect();
    let orders = Orders::new(features, features.sorted_once(), &marks)?;
    let rows = (0..n as u32).collect();
    let mut grower = Grower::new(criterion, orders, features, rows, options);
    let root = grower.root();
    let drive = || -> Result<Grown> {
        let policy = match options.max_leaf_nodes {
            Some(_) => Policy::BestFirst,
            None if n <= SUBTREE => Policy::DepthFirst,
            None => Policy::ByLevel,
        };
        let most = options.max_leaf_nodes.unwrap_or(usize::MAX);
        grower.run(root, (policy, most), observer)?;
        Ok(grower.out)
    };
    // Within the pool, so that its threads keep their columns from one level to the next.
    rayon::scope(|_| drive())
}

pub(super) struct Grower<'a, C> {
    pub criterion: C,
    pub orders: Orders,
    pub features: &'a Features,
    /// The row of the features behind each of ours.
    pub rows: Vec<u32>,
    pub options: &'a GrowOptions,
    /// Empty but while nodes are parted: the rows of the smaller side of each.
    set: RowSet,
    buffer: Vec<u32>,
    pub out: Grown,
}

impl<'a, C: NodeCriterion> Grower<'a, C> {
    fn new(criterion: C, orders: Orders, features: &'a Features, rows: Vec<u32>, options: &'a GrowOptions) -> Self {
        let set = RowSet::new(rows.len());
        Grower { criterion, orders, features, rows, options, set, buffer: Vec::new(), out: Grown::default() }
    }

    fn root(&mut self) -> Option<Pending<C::Node>> {
        let n = self.rows.len();
        let entries: Vec<u32> = self.orders.columns[0].entries(&(0..n)).to_vec();
        self.out.tree.width = self.criterion.width();
        let (summary, state) = self.add_node(&entries);
        let bounds = (f64::NEG_INFINITY, f64::INFINITY);
        let root = Pending { node: 0, range: 0..n, depth: 0, path: 1, bounds, state };
        self.may_split(&summary, n, 0).then_some(root)
    }

    /// Adds a leaf with these entries to the tree.
    pub fn add_node(&mut self, entries: &[u32]) -> (Summary, C::Node) {
        let (summary, state) = self.criterion.prepare(entries, &mut self.out.tree.value);
        self.add_leaf(&summary, entries.len());
        (summary, state)
    }

    /// Adds a leaf of `n` rows whose prediction stands in the tree already.
    pub fn add_leaf(&mut self, summary: &Summary, n: usize) {
        self.out.tree.test.push(Test::Leaf);
        self.out.tree.child.push(0);
        self.out.tree.weight.push(summary.weight);
        self.out.cost.push(summary.cost);
        self.out.count.push(n as u32);
    }

    pub fn may_split(&self, summary: &Summary, n: usize, depth: usize) -> bool {
        let o = self.options;
        let enough = n >= o.min_samples_split.max(2) && n >= o.min_samples_leaf.saturating_mul(2);
        let pure = summary.pure || o.min_impurity > 0.0 && summary.cost <= o.min_impurity * summary.weight;
        enough && depth < o.max_depth && !pure && summary.weight >= 2.0 * o.min_weight_leaf
    }

    pub fn searcher(&self) -> Searcher<'_, C> {
        Searcher {
            criterion: &self.criterion,
            orders: &self.orders,
            features: self.features,
            rows: &self.rows,
            options: self.options,
        }
    }

    /// Splits a node of the tree; gives back the children that may be split further and, if there are any, how to part the columns for them.
    pub fn split(
        &mut self,
        pending: &Pending<C::Node>,
        mut choice: Choice,
    ) -> (Vec<Pending<C::Node>>, Option<Parting>) {
        let (mut left, mut right) = self.sides(pending, &choice);
        let left_is_heavier = self.criterion.weight(&left) > self.criterion.weight(&right);
        if let (Place::Categories(parts), true) = (&mut choice.place, left_is_heavier) {
            // The test names the categories of the left side; one that the node hasn't seen follows the heavier side.
            parts.flip();
            std::mem::swap(&mut left, &mut right);
        }
        let test = self.test(pending, &choice, left_is_heavier);
        let node = pending.node as usize;
        let first = self.out.tree.n_nodes();
        self.out.tree.test[node] = test;
        self.out.tree.child[node] = first as u32;
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
                children.push(Pending { bounds: bounds[side], ..child });
            }
        }
        if children.is_empty() {
            return (children, None);
        }
        let left_is_set = left.len() <= right.len();
        self.set.insert(if left_is_set { &left } else { &right }.iter().map(|entry| entry & ROW));
        (children, Some(Parting { range: pending.range.clone(), n_left: left.len(), left_is_set }))
    }

    /// The left or right child of a node that was just split, with its rows and what is known about it.
    pub fn child_of(
        &self,
        parent: &Pending<C::Node>,
        side: usize,
        range: Range<usize>,
        state: C::Node,
    ) -> Pending<C::Node> {
        Pending {
            node: self.out.tree.child[parent.node as usize] + side as u32,
            range,
            depth: parent.depth + 1,
            path: rng::place(parent.path, side as u64),
            bounds: parent.bounds,
            state,
        }
    }

    /// The entries that go left and those that go right.
    fn sides(&self, pending: &Pending<C::Node>, choice: &Choice) -> (Vec<u32>, Vec<u32>) {
        let segment = self.orders.columns[choice.feature].segment(&pending.range);
        let (mut left, mut right) = match &choice.place {
            Place::Threshold { at, .. } => {
                let (left, right) = segment.present.split_at(at.n_left);
                (left.to_vec(), right.to_vec())
            }
            Place::Categories(parts) => {
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

    fn test(&mut self, pending: &Pending<C::Node>, choice: &Choice, left_is_heavier: bool) -> Test {
        let segment = self.orders.columns[choice.feature].segment(&pending.range);
        let feature = choice.feature as u32;
        let value = |entry: u32| self.features.number(self.rows[(entry & ROW) as usize] as usize, choice.feature);
        // Where no row of the node lacks a value, later rows that do follow the heavier side.
        let missing_left = if segment.missing.is_empty() { left_is_heavier } else { choice.place.missing_left() };
        match &choice.place {
            Place::Threshold { at, value: drawn } => {
                let threshold = match (drawn, segment.present.get(at.n_left)) {
                    (Some(drawn), _) => *drawn,
                    (None, Some(&next)) => binned::between(value(segment.present[at.n_left - 1]), value(next)),
                    (None, None) => f64::INFINITY,
                };
                Test::AtMost { feature, threshold, missing_left }
            }
            Place::Categories(parts) => {
                self.out.searches[match parts.search {
                    Search::Order => 0,
                    Search::Enumeration => 1,
                    Search::Heuristic => 2,
                }] += 1;
                let left = groups(segment.present).into_iter().zip(&parts.left).filter(|(_, left)| **left);
                let set = CodeSet::new(left.map(|(group, _)| value(group[0]) as usize));
                Test::InSet { feature, set, missing_left: !segment.missing.is_empty() && missing_left }
            }
        }
    }

    /// Where a constraint orders the children, the middle of their predictions bounds all that comes below them.
    fn child_bounds(&self, pending: &Pending<C::Node>, feature: usize, first: usize) -> [(f64, f64); 2] {
        let (low, high) = pending.bounds;
        let response = |node: usize| *self.out.tree.value(node).last().unwrap_or(&0.0);
        let middle = (response(first) + response(first + 1)) / 2.0;
        match self.options.monotone.get(feature) {
            Some(1) => [(low, middle), (middle, high)],
            Some(-1) => [(middle, high), (low, middle)],
            _ => [(low, high); 2],
        }
    }

    /// Moves the prediction of a node into its bounds, and its cost with it.
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

    /// Grows the tree below a node, until there are `most` leaves. By level, on all threads, nodes of few rows are left to subtrees of one thread each.
    fn run(
        &mut self,
        root: Option<Pending<C::Node>>,
        (policy, most): (Policy, usize),
        observer: &dyn Observer,
    ) -> Result<()> {
        let mut queue = Queue::new(policy);
        let (mut subtrees, mut n_leaves) = (Vec::new(), 1);
        let mut arrivals: Vec<Pending<C::Node>> = root.into_iter().collect();
        // Small trees have nothing to report, and nothing to share out to threads.
        let is_wide = policy != Policy::DepthFirst;
        if is_wide {
            report(observer, Event::Begin { what: "growing a tree", total: None })?;
        }
        loop {
            // The left child comes first where the last comes first.
            if !is_wide {
                arrivals.reverse();
            }
            for pending in arrivals.drain(..) {
                match policy {
                    Policy::BestFirst => {
                        if let Some(choice) = self.searcher().search_wide(&pending) {
                            queue.push(choice.gain, (pending, Some(choice)));
                        }
                    }
                    Policy::ByLevel if pending.range.len() <= SUBTREE => subtrees.push(pending),
                    Policy::ByLevel | Policy::DepthFirst => queue.push(0.0, (pending, None)),
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

    /// The nodes that are split, with their splits.
    fn choose(
        &self,
        batch: Vec<(Pending<C::Node>, Option<Choice>)>,
        policy: Policy,
    ) -> Vec<(Pending<C::Node>, Choice)> {
        if policy == Policy::ByLevel {
            let level: Vec<Pending<C::Node>> = batch.into_iter().map(|(pending, _)| pending).collect();
            let choices = self.searcher().search_level(&level);
            return level.into_iter().zip(choices).filter_map(|(pending, choice)| Some((pending, choice?))).collect();
        }
        let one = |(pending, choice): (Pending<C::Node>, Option<Choice>)| {
            let choice = choice.or_else(|| self.searcher().search(&pending))?;
            Some((pending, choice))
        };
        batch.into_iter().filter_map(one).collect()
    }

    /// Grows the trees below some nodes, which share no rows, side by side.
    fn grow_subtrees(&mut self, subtrees: &[Pending<C::Node>]) -> Result<()> {
        // One array numbers the rows of them all.
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

    /// Puts the rows of split nodes in the order of their children, in all columns; `wide`: on all threads.
    fn partition(&mut self, parted: &[Parting], wide: bool) {
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
    fn rows_of(&self, pending: &Pending<C::Node>) -> Vec<u32> {
        let mut rows: Vec<u32> =
            self.orders.columns[0].entries(&pending.range).iter().map(|entry| entry & ROW).collect();
        rows.sort_unstable();
        rows
    }

    /// Grows the tree below a node on this thread, in a world of its own.
    fn subtree(&self, pending: &Pending<C::Node>, new_row: &[u32]) -> Result<Grown> {
        let ours = self.rows_of(pending);
        let orders = self.orders.take(&pending.range, new_row);
        let rows = ours.iter().map(|&row| self.rows[row as usize]).collect();
        let criterion = self.criterion.select(&ours);
        let mut grower = Grower::new(criterion, orders, self.features, rows, self.options);
        let root = grower.root().map(|root| Pending {
            depth: pending.depth,
            path: pending.path,
            bounds: pending.bounds,
            ..root
        });
        grower.run(root, (Policy::DepthFirst, usize::MAX), &Silent)?;
        Ok(grower.out)
    }

    /// Puts a subtree in the place of a leaf.
    fn graft(&mut self, node: usize, sub: Grown) {
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
