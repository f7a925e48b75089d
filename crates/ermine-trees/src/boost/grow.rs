//! One tree, leaf by leaf.
//!
//! **Idea.** A pending leaf has its histogram and its best split. The leaf with the largest gain (or the next of its level) is split: its rows are partitioned,
//! the histogram of the child with fewer rows is built, that of the other is the difference from the parent's, and both are searched for their best
//! split.
//!
//! **Threads.** For a child of many rows, histograms are built by shards of rows, then added up and searched by groups of columns. For a child of few rows,
//! they are built by groups of columns. Which of the two doesn't change the result, because sums are integers.
//!
//! **Cost.** For each split, (rows of the smaller child) x columns additions, and bins x columns steps of the search.

use super::grown::BinnedTree;
use super::sample;
use super::shard::Shard;
use super::team::Team;
use crate::split::histogram::accumulate::{add_column, add_rows};
use crate::split::histogram::categories::{CategoryRegularization, best_subset};
use crate::split::histogram::leaf_penalty::{LeafPenalty, WeightBounds};
use crate::split::histogram::scan::{BinSplit, NodeTotals, SplitRules, best_threshold, rest_is_enough};
use crate::split::histogram::{BinStore, GradientScale};
use crate::tree::queue::{GrowthPolicy, NodeQueue};

/// Bytes of histograms that pending leaves may hold. Above, a leaf's histogram is built again when it is split.
const HISTOGRAMS: usize = 2 << 30;

/// A child's histogram is built by shards of rows if there are at least this many values for each slot of it.
const VALUES_PER_SLOT: usize = 2;

/// The options of trees; in the units of the loss.
#[derive(Debug, Clone)]
pub struct TreeOptions {
    /// Which leaf is split next.
    pub policy: GrowthPolicy,
    /// All leaves of a level have the same test, whatever the policy.
    pub symmetric: bool,
    /// Maximum number of leaves.
    pub max_leaf_nodes: usize,
    /// Maximum depth.
    pub max_depth: usize,
    /// Penalties on leaves.
    pub leaf: LeafPenalty,
    /// Minimum gain of a split.
    pub gamma: f64,
    /// Minimum sum of curvatures of a child.
    pub min_child_weight: f64,
    /// The factor of leaf values.
    pub learning_rate: f64,
    /// For each column: 1 (or -1) if the prediction must not fall (or rise) with it. Empty for no constraints.
    pub monotone: Vec<i8>,
    /// Sets of columns that may occur together on a path from the root to a leaf. Empty for no constraints.
    pub interactions: Vec<Vec<u32>>,
    /// For each column: whether it is nominal.
    pub nominal: Vec<bool>,
    /// The regularization of splits of nominal columns; curvatures in the units of the loss.
    pub caution: CategoryRegularization,
    /// The fraction of the tree's columns that is sampled for each level.
    pub colsample_bylevel: f64,
    /// The fraction of the level's columns that is sampled for each node.
    pub colsample_bynode: f64,
    /// Random seed for sampling columns.
    pub seed: u64,
}

impl Default for TreeOptions {
    fn default() -> Self {
        TreeOptions {
            policy: GrowthPolicy::BestFirst,
            symmetric: false,
            max_leaf_nodes: 31,
            max_depth: usize::MAX,
            leaf: LeafPenalty { lambda: 1.0, alpha: 0.0, max_delta_step: 0.0 },
            gamma: 0.0,
            min_child_weight: 1.0,
            learning_rate: 0.1,
            monotone: Vec::new(),
            interactions: Vec::new(),
            nominal: Vec::new(),
            caution: CategoryRegularization {
                one_against_rest: 4,
                smooth: 10.0,
                extra_lambda: 10.0,
                most: 32,
                least: 1.0,
            },
            colsample_bylevel: 1.0,
            colsample_bynode: 1.0,
            seed: 0,
        }
    }
}

/// The inputs of one tree.
pub struct TreeInputs<'a> {
    /// The bins.
    pub store: &'a BinStore,
    /// The threads.
    pub team: &'a Team<'a>,
    /// The columns of the tree, ascending.
    pub columns: &'a [u32],
    /// The scale of the integers of each output.
    pub scales: &'a [GradientScale],
    /// Whether all rows are in the tree.
    pub all_rows: bool,
    /// The number of the tree, for sampling columns.
    pub tree: u64,
}

/// A leaf that may be split.
struct PendingLeaf<const W: usize> {
    node: usize,
    depth: usize,
    sums: NodeTotals,
    histogram: Option<Vec<[i64; W]>>,
    split: BinSplit,
    /// The columns on the path to it.
    path: Vec<u32>,
}

/// A node whose best split is searched.
struct NodeSearch {
    node: usize,
    depth: usize,
    sums: NodeTotals,
    path: Vec<u32>,
    /// The columns that it may use; `None` for all of the tree's.
    open: Option<Vec<bool>>,
}

/// Histograms that are reused from tree to tree.
#[derive(Default)]
pub struct HistogramPool<const W: usize> {
    free: Vec<Vec<[i64; W]>>,
    /// One for each shard.
    local: Vec<Vec<[i64; W]>>,
}

/// A group of columns, with its part of the histograms.
struct ColumnTask<'t, const W: usize> {
    columns: &'t [u32],
    small: &'t mut [[i64; W]],
    large: Option<&'t mut [[i64; W]]>,
    best: [Option<BinSplit>; 2],
}

/// An output: its rules in the units of its integers, and its tree.
pub(super) struct OutputTree {
    scale: GradientScale,
    pub(super) rule: SplitRules,
    caution: CategoryRegularization,
    pub(super) tree: BinnedTree,
}

/// Grows trees on the rows of the shards: one, or one of the same shape for each of several outputs.
pub struct TreeGrower<'a, const W: usize> {
    pub(super) options: &'a TreeOptions,
    pub(super) inputs: TreeInputs<'a>,
    pub(super) shards: &'a mut [Shard],
    pool: &'a mut HistogramPool<W>,
    pub(super) outputs: Vec<OutputTree>,
    /// The groups of columns that threads work on.
    pub(super) shares: Vec<Vec<u32>>,
    held: usize,
}

impl OutputTree {
    fn new(options: &TreeOptions, scale: GradientScale) -> OutputTree {
        // Curvatures are rounded to integers: a child with just the minimum must not fall short by rounding. (An integer of about one row is exact.)
        let rounding = if scale.curvature > 100.0 { 0.5 } else { 0.0 };
        let rule = SplitRules {
            leaf: options.leaf.in_units(scale.gradient, scale.curvature),
            min_child_weight: options.min_child_weight * (scale.curvature - rounding),
            shift: scale.shift,
        };
        let caution = CategoryRegularization {
            smooth: options.caution.smooth * scale.curvature,
            extra_lambda: options.caution.extra_lambda * scale.curvature,
            least: options.caution.least * scale.curvature,
            ..options.caution
        };
        OutputTree { scale, rule, caution, tree: BinnedTree::default() }
    }

    pub(super) fn push_leaf(&mut self, sums: &NodeTotals, learning_rate: f64) {
        let weight = self.rule.leaf.weight(sums.g, sums.h, sums.bounds);
        let unit = self.scale.curvature / self.scale.gradient;
        self.tree.push(learning_rate * weight * unit, sums.h / self.scale.curvature);
    }

    /// A unit of gain in the units of the loss.
    pub(super) fn gain_unit(&self) -> f64 {
        self.scale.curvature / (self.scale.gradient * self.scale.gradient)
    }
}

impl<'a, const W: usize> TreeGrower<'a, W> {
    /// Grows trees on the rows that [`Shard::begin`] has selected and whose gradients are quantized: one for each scale. Several have the same tests.
    pub fn grow(
        options: &'a TreeOptions,
        inputs: TreeInputs<'a>,
        shards: &'a mut [Shard],
        pool: &'a mut HistogramPool<W>,
    ) -> Vec<BinnedTree> {
        let outputs = inputs.scales.iter().map(|&scale| OutputTree::new(options, scale)).collect();
        let shares = share_out(inputs.store, inputs.columns, inputs.team.size());
        let mut grower = TreeGrower { options, inputs, shards, pool, outputs, shares, held: 0 };
        if options.symmetric {
            grower.run_symmetric()
        } else {
            grower.run()
        }
        grower.outputs.into_iter().map(|output| output.tree).collect()
    }

    fn run(&mut self) {
        let mut queue = NodeQueue::new(self.options.policy);
        let mut n_leaves = 1;
        let mut found: Vec<PendingLeaf<W>> = self.root().into_iter().collect();
        loop {
            found.drain(..).for_each(|leaf| queue.push(leaf.split.gain, leaf));
            let Some(leaf) = queue.pop() else { return };
            if n_leaves >= self.options.max_leaf_nodes {
                self.pool.free.extend(leaf.histogram);
                continue;
            }
            n_leaves += 1;
            found = self.split(leaf, n_leaves < self.options.max_leaf_nodes);
        }
    }

    /// The root of an output with its histogram.
    pub(super) fn begin(&mut self, output: usize) -> (NodeTotals, Vec<[i64; W]>) {
        let mut histogram = self.fresh();
        let whole = self.inputs.all_rows;
        self.add_up(output, 0, &mut histogram, whole);
        let mut sum = [0i64; W];
        let slots = self.inputs.columns.first().map_or(0..0, |&first| self.inputs.store.slots(first));
        for word in &histogram[slots] {
            sum.iter_mut().zip(word).for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
        }
        let (g, h) = self.outputs[output].scale.unpack(sum);
        let sums = NodeTotals { g, h, bounds: WeightBounds::NONE };
        self.outputs[output].push_leaf(&sums, self.options.learning_rate);
        (sums, histogram)
    }

    fn root(&mut self) -> Option<PendingLeaf<W>> {
        let (sums, mut histogram) = self.begin(0);
        let root = self.node_search(0, 0, sums, Vec::new());
        let mut tasks = tasks(self.inputs.store, &self.shares, &mut histogram, None);
        let search = HistogramSplitSearch {
            options: self.options,
            store: self.inputs.store,
            rule: &self.outputs[0].rule,
            caution: &self.outputs[0].caution,
        };
        self.inputs.team.each(&mut tasks, |_, task| {
            let start = search.store.span(task.columns).start;
            for &column in task.columns {
                let slots = search.store.slots(column);
                let words = &task.small[slots.start - start..slots.end - start];
                search.column(column, words, &root, &mut task.best[0]);
            }
        });
        let best = best_of(tasks.into_iter().map(|mut task| task.best[0].take()));
        self.leaf(root, best, histogram)
    }

    /// Splits a leaf and returns the children that can be split further; `may_split`: whether they may be.
    fn split(&mut self, leaf: PendingLeaf<W>, may_split: bool) -> Vec<PendingLeaf<W>> {
        let PendingLeaf { node, depth, sums, histogram, split, path } = leaf;
        let (store, column) = (self.inputs.store, split.column as usize);
        let mut counts = vec![(0, 0); self.shards.len()];
        let mut parts: Vec<_> = self.shards.iter_mut().zip(&mut counts).collect();
        self.inputs.team.each(&mut parts, |_, (shard, count)| **count = shard.split(store, node, column, &split.test));
        let count = counts.iter().fold((0, 0), |sum, c| (sum.0 + c.0, sum.1 + c.1));
        let children = self.children(&sums, &split);
        let output = &mut self.outputs[0];
        let first = output.tree.test.len();
        output.tree.child[node] = first as u32;
        output.tree.gain[node] = split.gain * output.gain_unit();
        output.tree.test[node] = Some((split.column, split.test));
        children.iter().for_each(|child| output.push_leaf(child, self.options.learning_rate));
        let least = 2.0 * output.rule.min_child_weight.max(1.0);
        if !may_split || depth + 1 >= self.options.max_depth || children.iter().all(|child| child.h < least) {
            self.release(histogram);
            return Vec::new();
        }
        let mut path = path;
        if !self.options.interactions.is_empty() && !path.contains(&split.column) {
            path.push(split.column);
        }
        let small = usize::from(count.0 > count.1);
        let search = |this: &Self, side: usize| this.node_search(first + side, depth + 1, children[side], path.clone());
        let searches = [search(self, small), search(self, 1 - small)];
        self.search_children(searches, histogram, if small == 0 { count.0 } else { count.1 })
    }

    /// Builds the histogram of the first node (of `n_rows`), subtracts it from the parent's, and searches the best split of both.
    fn search_children(
        &mut self,
        searches: [NodeSearch; 2],
        parent: Option<Vec<[i64; W]>>,
        n_rows: usize,
    ) -> Vec<PendingLeaf<W>> {
        let mut small = self.fresh();
        let mut large = match parent {
            Some(parent) => parent,
            None => {
                // The parent's histogram was not kept: build it again from the rows of both children.
                let (mut whole, mut other) = (self.fresh(), self.fresh());
                self.add_up(0, searches[0].node, &mut whole, false);
                self.add_up(0, searches[1].node, &mut other, false);
                whole.iter_mut().zip(&other).for_each(|(a, b)| (0..W).for_each(|w| a[w] = a[w].wrapping_add(b[w])));
                self.release(Some(other));
                whole
            }
        };
        let (store, team) = (self.inputs.store, self.inputs.team);
        let by_rows = self.is_by_rows(n_rows);
        if by_rows {
            self.add_up_locally(searches[0].node);
        }
        let mut tasks = tasks(store, &self.shares, &mut small, Some(&mut large));
        let OutputTree { rule, caution, .. } = &self.outputs[0];
        let search = HistogramSplitSearch { options: self.options, store, rule, caution };
        let (shards, local) = (&*self.shards, &self.pool.local);
        team.each(&mut tasks, |_, task| {
            let span = store.span(task.columns);
            if by_rows {
                add_together(&mut *task.small, local, span.start);
            } else {
                task.small.fill([0; W]);
                for shard in shards {
                    let words = shard.words[0].as_chunks::<W>().0;
                    add_rows(
                        store,
                        task.columns,
                        (shard.node(searches[0].node), shard.rows().start),
                        words,
                        task.small,
                    );
                }
            }
            search.both(task, span.start, &searches);
        });
        let mut bests = [Vec::new(), Vec::new()];
        for mut task in tasks {
            (0..2).for_each(|side| bests[side].push(task.best[side].take()));
        }
        let [best_small, best_large] = bests.map(|all| best_of(all.into_iter()));
        let [search_small, search_large] = searches;
        let found = [self.leaf(search_small, best_small, small), self.leaf(search_large, best_large, large)];
        let mut found: Vec<PendingLeaf<W>> = found.into_iter().flatten().collect();
        found.sort_by_key(|leaf| leaf.node);
        found
    }

    /// Builds the histogram of a node and an output by groups of columns.
    pub(super) fn add_up(&mut self, output: usize, node: usize, histogram: &mut [[i64; W]], all_rows: bool) {
        let (store, shards) = (self.inputs.store, &*self.shards);
        let mut tasks = tasks(store, &self.shares, histogram, None);
        self.inputs.team.each(&mut tasks, |_, task| {
            task.small.fill([0; W]);
            let start = store.span(task.columns).start;
            for shard in shards {
                let words = shard.words[output].as_chunks::<W>().0;
                if all_rows && store.sparse().is_none() {
                    for &column in task.columns {
                        let slots = store.slots(column);
                        let part = &mut task.small[slots.start - start..slots.end - start];
                        add_column(store, column as usize, shard.rows(), words, part);
                    }
                } else {
                    add_rows(store, task.columns, (shard.node(node), shard.rows().start), words, task.small);
                }
            }
        });
    }

    /// Builds the histogram of a node by shards of rows.
    fn add_up_locally(&mut self, node: usize) {
        let span = self.inputs.store.span(self.inputs.columns);
        let (store, shards, columns) = (self.inputs.store, &*self.shards, self.inputs.columns);
        self.pool.local.resize_with(shards.len(), Vec::new);
        self.inputs.team.each(&mut self.pool.local, |i, local| {
            local.resize(store.total(), [0; W]);
            local[span.clone()].fill([0; W]);
            let shard = &shards[i];
            let words = shard.words[0].as_chunks::<W>().0;
            add_rows(store, columns, (shard.node(node), shard.rows().start), words, &mut local[span.clone()]);
        });
    }

    fn is_by_rows(&self, n_rows: usize) -> bool {
        let span = self.inputs.store.span(self.inputs.columns).len();
        let is_dense = self.inputs.store.sparse().is_none();
        is_dense && self.inputs.team.size() > 1 && n_rows * self.inputs.columns.len() >= VALUES_PER_SLOT * span
    }

    /// The children's sums, and their bounds if the column is monotone.
    fn children(&self, sums: &NodeTotals, split: &BinSplit) -> [NodeTotals; 2] {
        let (g, h) = split.left;
        let mut left = NodeTotals { g, h, bounds: sums.bounds };
        let mut right = NodeTotals { g: sums.g - g, h: sums.h - h, bounds: sums.bounds };
        let direction = self.options.monotone.get(split.column as usize).copied().unwrap_or(0);
        if direction != 0 {
            let weight = |node: &NodeTotals| self.outputs[0].rule.leaf.weight(node.g, node.h, node.bounds);
            let middle = (weight(&left) + weight(&right)) / 2.0;
            let (low, high) = if direction > 0 { (&mut left, &mut right) } else { (&mut right, &mut left) };
            low.bounds.high = middle;
            high.bounds.low = middle;
        }
        [left, right]
    }

    /// A leaf that can be split, if the gain is large enough.
    fn leaf(&mut self, node: NodeSearch, best: Option<BinSplit>, histogram: Vec<[i64; W]>) -> Option<PendingLeaf<W>> {
        let good = best.filter(|split| split.gain * self.outputs[0].gain_unit() > self.options.gamma);
        let Some(split) = good.filter(|_| node.depth < self.options.max_depth) else {
            self.release(Some(histogram));
            return None;
        };
        let keep = self.held * self.inputs.store.total() * size_of::<[i64; W]>() < HISTOGRAMS;
        let histogram = if keep {
            Some(histogram)
        } else {
            self.release(Some(histogram));
            None
        };
        let NodeSearch { node, depth, sums, path, .. } = node;
        Some(PendingLeaf { node, depth, sums, histogram, split, path })
    }

    /// The search of a node's split.
    fn node_search(&self, node: usize, depth: usize, sums: NodeTotals, path: Vec<u32>) -> NodeSearch {
        let open = self.open_columns(node, depth, &path);
        NodeSearch { node, depth, sums, path, open }
    }

    /// The columns that a node may use, given the columns on the path to it; `None` for all of the tree's.
    pub(super) fn open_columns(&self, node: usize, depth: usize, path: &[u32]) -> Option<Vec<bool>> {
        let options = self.options;
        let sampled = options.colsample_bylevel < 1.0 || options.colsample_bynode < 1.0;
        let mut open = None;
        if sampled {
            let place = [self.inputs.tree, depth as u64, u64::MAX];
            let level = sample::columns(self.inputs.columns, options.colsample_bylevel, options.seed, &place);
            let place = [self.inputs.tree, depth as u64, node as u64];
            let columns = sample::columns(&level, options.colsample_bynode, options.seed, &place);
            let mut mask = vec![false; self.inputs.store.n_columns()];
            columns.iter().for_each(|&column| mask[column as usize] = true);
            open = Some(mask);
        }
        if !options.interactions.is_empty() && !path.is_empty() {
            let fits = options.interactions.iter().filter(|set| path.iter().all(|column| set.contains(column)));
            let allowed: Vec<u32> = fits.flatten().chain(path).copied().collect();
            let mask = open.get_or_insert_with(|| vec![true; self.inputs.store.n_columns()]);
            (0..mask.len()).for_each(|column| mask[column] &= allowed.contains(&(column as u32)));
        }
        open
    }

    pub(super) fn fresh(&mut self) -> Vec<[i64; W]> {
        self.held += 1;
        self.pool.free.pop().unwrap_or_else(|| vec![[0; W]; self.inputs.store.total()])
    }

    pub(super) fn release(&mut self, histogram: Option<Vec<[i64; W]>>) {
        if let Some(histogram) = histogram {
            self.held -= 1;
            self.pool.free.push(histogram);
        }
    }
}

/// Searches splits.
struct HistogramSplitSearch<'a> {
    options: &'a TreeOptions,
    store: &'a BinStore,
    rule: &'a SplitRules,
    caution: &'a CategoryRegularization,
}

impl HistogramSplitSearch<'_> {
    /// Subtracts the small child from the parent, column by column, and searches the best split of both children.
    fn both<const W: usize>(&self, task: &mut ColumnTask<'_, W>, start: usize, searches: &[NodeSearch; 2]) {
        for &column in task.columns {
            let slots = self.store.slots(column);
            let slots = slots.start - start..slots.end - start;
            let small = &task.small[slots.clone()];
            self.column(column, small, &searches[0], &mut task.best[0]);
            if let Some(large) = &mut task.large {
                let large = &mut large[slots];
                for (large, small) in large.iter_mut().zip(small) {
                    large.iter_mut().zip(small).for_each(|(large, small)| *large = large.wrapping_sub(*small));
                }
                self.column(column, large, &searches[1], &mut task.best[1]);
            }
        }
    }

    /// The best split of a column, if it is better than what was found before.
    fn column<const W: usize>(&self, column: u32, words: &[[i64; W]], node: &NodeSearch, best: &mut Option<BinSplit>) {
        let j = column as usize;
        if node.open.as_ref().is_some_and(|open| !open[j]) {
            return;
        }
        // One side of a split lacks the bin of zero: the other bins must weigh enough for a child.
        if let Some(sparse) = self.store.sparse()
            && !rest_is_enough(words[sparse.zero(j)], &node.sums, self.rule)
        {
            return;
        }
        let n_bins = self.store.n_slots()[j] as usize - 1;
        let found = if self.options.nominal[j] {
            best_subset(&words[..=n_bins], &node.sums, self.rule, self.caution)
        } else {
            let monotone = self.options.monotone.get(j).copied().unwrap_or(0);
            let floor = best.as_ref().map_or(0.0, |best| best.gain);
            best_threshold(words, (n_bins, self.store.has_missing()[j]), monotone, &node.sums, self.rule, floor)
        };
        if let Some((gain, test, left)) = found {
            let split = BinSplit { gain, column, test, left };
            if split.beats(best) {
                *best = Some(split);
            }
        }
    }
}

fn best_of(found: impl Iterator<Item = Option<BinSplit>>) -> Option<BinSplit> {
    let mut best = None;
    for split in found.flatten() {
        if split.beats(&best) {
            best = Some(split);
        }
    }
    best
}

/// Adds up the histograms of all shards.
fn add_together<const W: usize>(sum: &mut [[i64; W]], parts: &[Vec<[i64; W]>], start: usize) {
    let Some((first, rest)) = parts.split_first() else { return };
    sum.copy_from_slice(&first[start..start + sum.len()]);
    for part in rest {
        for (sum, part) in sum.iter_mut().zip(&part[start..]) {
            sum.iter_mut().zip(part).for_each(|(sum, part)| *sum = sum.wrapping_add(*part));
        }
    }
}

/// Divides columns into groups of neighbors with about as many slots each.
fn share_out(store: &BinStore, columns: &[u32], n: usize) -> Vec<Vec<u32>> {
    let total: usize = columns.iter().map(|&c| store.n_slots()[c as usize] as usize).sum();
    let mut shares = vec![Vec::new()];
    let mut before = 0;
    for &column in columns {
        if before * n >= total * shares.len() && shares.len() < n {
            shares.push(Vec::new());
        }
        before += store.n_slots()[column as usize] as usize;
        if let Some(share) = shares.last_mut() {
            share.push(column);
        }
    }
    shares.retain(|share| !share.is_empty());
    shares
}

/// Divides histograms by groups of columns.
fn tasks<'t, const W: usize>(
    store: &BinStore,
    shares: &'t [Vec<u32>],
    mut small: &'t mut [[i64; W]],
    mut large: Option<&'t mut [[i64; W]]>,
) -> Vec<ColumnTask<'t, W>> {
    let mut at = 0;
    let mut tasks = Vec::with_capacity(shares.len());
    for columns in shares {
        let span = store.span(columns);
        let cut = |rest: &'t mut [[i64; W]]| rest[span.start - at..].split_at_mut(span.len());
        let (mine, rest) = cut(small);
        small = rest;
        let mine_large = large.take().map(|all| {
            let (mine, rest) = cut(all);
            large = Some(rest);
            mine
        });
        at = span.end;
        tasks.push(ColumnTask { columns, small: mine, large: mine_large, best: [None, None] });
    }
    tasks
}
