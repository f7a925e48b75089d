//! One tree, leaf by leaf.
//!
//! **Idea.** A leaf waits with its histogram and its best split. The leaf that gains most (or the next of its level) is split: its rows are sent to the
//! children, the histogram of the child with fewer rows is added up, that of the other is what is left of the parent's, and both are searched for their best
//! split.
//!
//! **Threads.** A child of many rows: each thread adds up its own rows, then each thread puts together and searches its own columns. A child of few rows: each
//! thread adds up all rows for its own columns. Which of the two doesn't change the result, because sums are whole numbers.
//!
//! **Cost.** For each split, (rows of the smaller child) x columns additions, and bins x columns steps of the search.

use super::grown::Grown;
use super::sample;
use super::shard::Shard;
use super::team::Team;
use crate::split::histogram::accumulate::{add_column, add_rows};
use crate::split::histogram::categories::{Caution, best_subset};
use crate::split::histogram::regularised::{Bounds, Regularised};
use crate::split::histogram::scan::{BinSplit, Node, Rule, best_threshold};
use crate::split::histogram::{Scale, Store};
use crate::tree::queue::{Policy, Queue};

/// Bytes of histograms that waiting leaves may hold. Above, a leaf's histogram is added up again when it is split.
const HISTOGRAMS: usize = 2 << 30;

/// A child is added up by rows, each thread its own, if this many values or more come to each slot of the histogram.
const VALUES_PER_SLOT: usize = 2;

/// How trees are grown; in the units of the loss.
#[derive(Debug, Clone)]
pub struct Growth {
    /// Which leaf is split next.
    pub policy: Policy,
    /// All leaves of a level ask the same question, whatever the policy.
    pub symmetric: bool,
    /// Most leaves.
    pub max_leaf_nodes: usize,
    /// Longest way from the root to a leaf.
    pub max_depth: usize,
    /// Penalties on leaves.
    pub leaf: Regularised,
    /// The least gain of a split.
    pub gamma: f64,
    /// The least curvature of a child.
    pub min_child_weight: f64,
    /// What leaf weights are multiplied by.
    pub learning_rate: f64,
    /// For each column: 1 (or -1) if the prediction must not fall (or rise) with it. Empty for no constraints.
    pub monotone: Vec<i8>,
    /// Sets of columns that may meet on a way from the root to a leaf. Empty for no constraints.
    pub interactions: Vec<Vec<u32>>,
    /// For each column: whether it is nominal.
    pub nominal: Vec<bool>,
    /// How splits of nominal columns are held back; curvatures in the units of the loss.
    pub caution: Caution,
    /// The share of the tree's columns that each level sees.
    pub colsample_bylevel: f64,
    /// The share of the level's columns that each node sees.
    pub colsample_bynode: f64,
    /// For drawing columns.
    pub seed: u64,
}

impl Default for Growth {
    fn default() -> Self {
        Growth {
            policy: Policy::BestFirst,
            symmetric: false,
            max_leaf_nodes: 31,
            max_depth: usize::MAX,
            leaf: Regularised { lambda: 1.0, alpha: 0.0, max_delta_step: 0.0 },
            gamma: 0.0,
            min_child_weight: 1.0,
            learning_rate: 0.1,
            monotone: Vec::new(),
            interactions: Vec::new(),
            nominal: Vec::new(),
            caution: Caution { one_against_rest: 4, smooth: 10.0, extra_lambda: 10.0, most: 32, least: 1.0 },
            colsample_bylevel: 1.0,
            colsample_bynode: 1.0,
            seed: 0,
        }
    }
}

/// What one tree is grown from.
pub struct Soil<'a> {
    /// The bins.
    pub store: &'a Store,
    /// The threads.
    pub team: &'a Team<'a>,
    /// The columns that the tree sees, ascending.
    pub columns: &'a [u32],
    /// What a quantum is.
    pub scale: Scale,
    /// Whether all rows are in the tree.
    pub all_rows: bool,
    /// The number of the tree, for drawing columns.
    pub tree: u64,
}

/// A leaf that may be split.
struct Leaf<const W: usize> {
    node: usize,
    depth: usize,
    sums: Node,
    histogram: Option<Vec<[i64; W]>>,
    split: BinSplit,
    /// The columns on the way to it.
    path: Vec<u32>,
}

/// A node whose best split is sought.
struct Seeker {
    node: usize,
    depth: usize,
    sums: Node,
    path: Vec<u32>,
    /// The columns that it may ask about; `None` for all of the tree's.
    open: Option<Vec<bool>>,
}

/// Histograms to write to, kept from tree to tree.
#[derive(Default)]
pub struct Pool<const W: usize> {
    free: Vec<Vec<[i64; W]>>,
    /// One for each shard.
    local: Vec<Vec<[i64; W]>>,
}

/// The columns of one thread, with its part of the histograms.
struct Task<'t, const W: usize> {
    columns: &'t [u32],
    small: &'t mut [[i64; W]],
    large: Option<&'t mut [[i64; W]]>,
    best: [Option<BinSplit>; 2],
}

/// Grows trees on the rows of the shards.
pub struct Grower<'a, const W: usize> {
    pub(super) growth: &'a Growth,
    pub(super) soil: Soil<'a>,
    pub(super) shards: &'a mut [Shard],
    pool: &'a mut Pool<W>,
    pub(super) rule: Rule,
    caution: Caution,
    /// The columns of each thread.
    pub(super) shares: Vec<Vec<u32>>,
    held: usize,
    pub(super) tree: Grown,
}

impl<'a, const W: usize> Grower<'a, W> {
    /// Grows a tree on rows that [`Shard::begin`] has chosen and whose words are made.
    pub fn grow(growth: &'a Growth, soil: Soil<'a>, shards: &'a mut [Shard], pool: &'a mut Pool<W>) -> Grown {
        let scale = soil.scale;
        // Curvatures are rounded to quanta: a child that has just the least is not to fall short by half a quantum for each unit of it. (A quantum of about one row is not rounded.)
        let rounding = if scale.curvature > 100.0 { 0.5 } else { 0.0 };
        let rule = Rule {
            leaf: growth.leaf.in_units(scale.gradient, scale.curvature),
            min_child_weight: growth.min_child_weight * (scale.curvature - rounding),
            shift: scale.shift,
        };
        let caution = Caution {
            smooth: growth.caution.smooth * scale.curvature,
            extra_lambda: growth.caution.extra_lambda * scale.curvature,
            least: growth.caution.least * scale.curvature,
            ..growth.caution
        };
        let shares = share_out(soil.store, soil.columns, soil.team.size());
        let tree = Grown::default();
        let mut grower = Grower { growth, soil, shards, pool, rule, caution, shares, held: 0, tree };
        if growth.symmetric {
            grower.run_symmetric()
        } else {
            grower.run()
        }
        grower.tree
    }

    fn run(&mut self) {
        let mut queue = Queue::new(self.growth.policy);
        let mut n_leaves = 1;
        let mut found: Vec<Leaf<W>> = self.root().into_iter().collect();
        loop {
            found.drain(..).for_each(|leaf| queue.push(leaf.split.gain, leaf));
            let Some(leaf) = queue.pop() else { return };
            if n_leaves >= self.growth.max_leaf_nodes {
                self.pool.free.extend(leaf.histogram);
                continue;
            }
            n_leaves += 1;
            found = self.split(leaf, n_leaves < self.growth.max_leaf_nodes);
        }
    }

    /// Adds up all rows: the root with its sums.
    pub(super) fn begin(&mut self) -> (Node, Vec<[i64; W]>) {
        let mut histogram = self.fresh();
        let whole = self.soil.all_rows;
        self.add_up(0, &mut histogram, whole);
        let mut sum = [0i64; W];
        let slots = self.soil.columns.first().map_or(0..0, |&first| self.soil.store.slots(first));
        for word in &histogram[slots] {
            sum.iter_mut().zip(word).for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
        }
        let (g, h) = self.soil.scale.unpack(sum);
        let sums = Node { g, h, bounds: Bounds::NONE };
        self.push_leaf(&sums);
        (sums, histogram)
    }

    fn root(&mut self) -> Option<Leaf<W>> {
        let (sums, mut histogram) = self.begin();
        let seeker = self.seeker(0, 0, sums, Vec::new());
        let mut tasks = tasks(self.soil.store, &self.shares, &mut histogram, None);
        let search = Search { growth: self.growth, store: self.soil.store, rule: &self.rule, caution: &self.caution };
        self.soil.team.each(&mut tasks, |_, task| {
            let start = search.store.span(task.columns).start;
            for &column in task.columns {
                let slots = search.store.slots(column);
                let words = &task.small[slots.start - start..slots.end - start];
                search.column(column, words, &seeker, &mut task.best[0]);
            }
        });
        let best = best_of(tasks.into_iter().map(|mut task| task.best[0].take()));
        self.leaf(seeker, best, histogram)
    }

    /// Splits a leaf. Gives back the children that can be split further; `go_on`: whether they may be.
    fn split(&mut self, leaf: Leaf<W>, go_on: bool) -> Vec<Leaf<W>> {
        let Leaf { node, depth, sums, histogram, split, path } = leaf;
        let (store, column) = (self.soil.store, split.column as usize);
        let mut counts = vec![(0, 0); self.shards.len()];
        let mut parts: Vec<_> = self.shards.iter_mut().zip(&mut counts).collect();
        self.soil.team.each(&mut parts, |_, (shard, count)| **count = shard.split(store, node, column, &split.test));
        let count = counts.iter().fold((0, 0), |sum, c| (sum.0 + c.0, sum.1 + c.1));
        let children = self.children(&sums, &split);
        let first = self.tree.test.len();
        self.tree.child[node] = first as u32;
        self.tree.gain[node] = split.gain * self.worth_unit();
        self.tree.test[node] = Some((split.column, split.test));
        children.iter().for_each(|child| self.push_leaf(child));
        let least = 2.0 * self.rule.min_child_weight.max(1.0);
        if !go_on || depth + 1 >= self.growth.max_depth || children.iter().all(|child| child.h < least) {
            self.release(histogram);
            return Vec::new();
        }
        let mut path = path;
        if !self.growth.interactions.is_empty() && !path.contains(&split.column) {
            path.push(split.column);
        }
        let small = usize::from(count.0 > count.1);
        let seeker = |this: &Self, side: usize| this.seeker(first + side, depth + 1, children[side], path.clone());
        let seekers = [seeker(self, small), seeker(self, 1 - small)];
        self.search_children(seekers, histogram, if small == 0 { count.0 } else { count.1 })
    }

    /// Adds up the first node (of `n_rows`), subtracts it from the parent's histogram, and seeks the best split of both.
    fn search_children(&mut self, seekers: [Seeker; 2], parent: Option<Vec<[i64; W]>>, n_rows: usize) -> Vec<Leaf<W>> {
        let mut small = self.fresh();
        let mut large = match parent {
            Some(parent) => parent,
            None => {
                // The parent's histogram was not kept: add it up again from the rows of both children.
                let (mut whole, mut other) = (self.fresh(), self.fresh());
                self.add_up(seekers[0].node, &mut whole, false);
                self.add_up(seekers[1].node, &mut other, false);
                whole.iter_mut().zip(&other).for_each(|(a, b)| (0..W).for_each(|w| a[w] = a[w].wrapping_add(b[w])));
                self.release(Some(other));
                whole
            }
        };
        let (store, team) = (self.soil.store, self.soil.team);
        let by_rows = self.is_by_rows(n_rows);
        if by_rows {
            self.add_up_locally(seekers[0].node);
        }
        let mut tasks = tasks(store, &self.shares, &mut small, Some(&mut large));
        let search = Search { growth: self.growth, store, rule: &self.rule, caution: &self.caution };
        let (shards, local) = (&*self.shards, &self.pool.local);
        team.each(&mut tasks, |_, task| {
            let span = store.span(task.columns);
            if by_rows {
                add_together(&mut *task.small, local, span.start);
            } else {
                task.small.fill([0; W]);
                for shard in shards {
                    let words = shard.words.as_chunks::<W>().0;
                    add_rows(store, task.columns, (shard.node(seekers[0].node), shard.rows().start), words, task.small);
                }
            }
            search.both(task, span.start, &seekers);
        });
        let mut bests = [Vec::new(), Vec::new()];
        for mut task in tasks {
            (0..2).for_each(|side| bests[side].push(task.best[side].take()));
        }
        let [best_small, best_large] = bests.map(|all| best_of(all.into_iter()));
        let [seek_small, seek_large] = seekers;
        let found = [self.leaf(seek_small, best_small, small), self.leaf(seek_large, best_large, large)];
        let mut found: Vec<Leaf<W>> = found.into_iter().flatten().collect();
        found.sort_by_key(|leaf| leaf.node);
        found
    }

    /// Adds up the rows of a node, each thread its own columns.
    pub(super) fn add_up(&mut self, node: usize, histogram: &mut [[i64; W]], all_rows: bool) {
        let (store, shards) = (self.soil.store, &*self.shards);
        let mut tasks = tasks(store, &self.shares, histogram, None);
        self.soil.team.each(&mut tasks, |_, task| {
            task.small.fill([0; W]);
            let start = store.span(task.columns).start;
            for shard in shards {
                let words = shard.words.as_chunks::<W>().0;
                if all_rows {
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

    /// Adds up the rows of a node, each thread its own rows.
    fn add_up_locally(&mut self, node: usize) {
        let span = self.soil.store.span(self.soil.columns);
        let (store, shards, columns) = (self.soil.store, &*self.shards, self.soil.columns);
        self.pool.local.resize_with(shards.len(), Vec::new);
        self.soil.team.each(&mut self.pool.local, |i, local| {
            local.resize(store.total(), [0; W]);
            local[span.clone()].fill([0; W]);
            let shard = &shards[i];
            let words = shard.words.as_chunks::<W>().0;
            add_rows(store, columns, (shard.node(node), shard.rows().start), words, &mut local[span.clone()]);
        });
    }

    fn is_by_rows(&self, n_rows: usize) -> bool {
        let span = self.soil.store.span(self.soil.columns).len();
        self.soil.team.size() > 1 && n_rows * self.soil.columns.len() >= VALUES_PER_SLOT * span
    }

    /// The children's sums, and their bounds where the split is on a monotone column.
    fn children(&self, sums: &Node, split: &BinSplit) -> [Node; 2] {
        let (g, h) = split.left;
        let mut left = Node { g, h, bounds: sums.bounds };
        let mut right = Node { g: sums.g - g, h: sums.h - h, bounds: sums.bounds };
        let direction = self.growth.monotone.get(split.column as usize).copied().unwrap_or(0);
        if direction != 0 {
            let weight = |node: &Node| self.rule.leaf.weight(node.g, node.h, node.bounds);
            let middle = (weight(&left) + weight(&right)) / 2.0;
            let (low, high) = if direction > 0 { (&mut left, &mut right) } else { (&mut right, &mut left) };
            low.bounds.high = middle;
            high.bounds.low = middle;
        }
        [left, right]
    }

    pub(super) fn push_leaf(&mut self, sums: &Node) {
        let weight = self.rule.leaf.weight(sums.g, sums.h, sums.bounds);
        let unit = self.soil.scale.curvature / self.soil.scale.gradient;
        self.tree.push(self.growth.learning_rate * weight * unit, sums.h / self.soil.scale.curvature);
    }

    /// A quantum of gain in the units of the loss.
    pub(super) fn worth_unit(&self) -> f64 {
        self.soil.scale.curvature / (self.soil.scale.gradient * self.soil.scale.gradient)
    }

    /// A leaf that waits for its split, if that is worth making.
    fn leaf(&mut self, seeker: Seeker, best: Option<BinSplit>, histogram: Vec<[i64; W]>) -> Option<Leaf<W>> {
        let worth = best.filter(|split| split.gain * self.worth_unit() > self.growth.gamma);
        let Some(split) = worth.filter(|_| seeker.depth < self.growth.max_depth) else {
            self.release(Some(histogram));
            return None;
        };
        let keep = self.held * self.soil.store.total() * size_of::<[i64; W]>() < HISTOGRAMS;
        let histogram = if keep {
            Some(histogram)
        } else {
            self.release(Some(histogram));
            None
        };
        let Seeker { node, depth, sums, path, .. } = seeker;
        Some(Leaf { node, depth, sums, histogram, split, path })
    }

    /// Where a node may look for its split.
    fn seeker(&self, node: usize, depth: usize, sums: Node, path: Vec<u32>) -> Seeker {
        let open = self.open_columns(node, depth, &path);
        Seeker { node, depth, sums, path, open }
    }

    /// The columns that a node may ask about, with the columns on the way to it; `None` for all of the tree's.
    pub(super) fn open_columns(&self, node: usize, depth: usize, path: &[u32]) -> Option<Vec<bool>> {
        let growth = self.growth;
        let sampled = growth.colsample_bylevel < 1.0 || growth.colsample_bynode < 1.0;
        let mut open = None;
        if sampled {
            let place = [self.soil.tree, depth as u64, u64::MAX];
            let level = sample::columns(self.soil.columns, growth.colsample_bylevel, growth.seed, &place);
            let place = [self.soil.tree, depth as u64, node as u64];
            let columns = sample::columns(&level, growth.colsample_bynode, growth.seed, &place);
            let mut mask = vec![false; self.soil.store.n_columns()];
            columns.iter().for_each(|&column| mask[column as usize] = true);
            open = Some(mask);
        }
        if !growth.interactions.is_empty() && !path.is_empty() {
            let fits = growth.interactions.iter().filter(|set| path.iter().all(|column| set.contains(column)));
            let allowed: Vec<u32> = fits.flatten().chain(path).copied().collect();
            let mask = open.get_or_insert_with(|| vec![true; self.soil.store.n_columns()]);
            (0..mask.len()).for_each(|column| mask[column] &= allowed.contains(&(column as u32)));
        }
        open
    }

    pub(super) fn fresh(&mut self) -> Vec<[i64; W]> {
        self.held += 1;
        self.pool.free.pop().unwrap_or_else(|| vec![[0; W]; self.soil.store.total()])
    }

    pub(super) fn release(&mut self, histogram: Option<Vec<[i64; W]>>) {
        if let Some(histogram) = histogram {
            self.held -= 1;
            self.pool.free.push(histogram);
        }
    }
}

/// Seeks splits.
struct Search<'a> {
    growth: &'a Growth,
    store: &'a Store,
    rule: &'a Rule,
    caution: &'a Caution,
}

impl Search<'_> {
    /// Subtracts the small child from the parent, column by column, and seeks the best split of both children.
    fn both<const W: usize>(&self, task: &mut Task<'_, W>, start: usize, seekers: &[Seeker; 2]) {
        for &column in task.columns {
            let slots = self.store.slots(column);
            let slots = slots.start - start..slots.end - start;
            let small = &task.small[slots.clone()];
            self.column(column, small, &seekers[0], &mut task.best[0]);
            if let Some(large) = &mut task.large {
                let large = &mut large[slots];
                for (large, small) in large.iter_mut().zip(small) {
                    large.iter_mut().zip(small).for_each(|(large, small)| *large = large.wrapping_sub(*small));
                }
                self.column(column, large, &seekers[1], &mut task.best[1]);
            }
        }
    }

    /// The best split of a column, if it is better than what was found before.
    fn column<const W: usize>(&self, column: u32, words: &[[i64; W]], seeker: &Seeker, best: &mut Option<BinSplit>) {
        let j = column as usize;
        if seeker.open.as_ref().is_some_and(|open| !open[j]) {
            return;
        }
        let n_bins = self.store.n_slots()[j] as usize - 1;
        let found = if self.growth.nominal[j] {
            best_subset(&words[..=n_bins], &seeker.sums, self.rule, self.caution)
        } else {
            let monotone = self.growth.monotone.get(j).copied().unwrap_or(0);
            let floor = best.as_ref().map_or(0.0, |best| best.gain);
            best_threshold(words, (n_bins, self.store.has_missing()[j]), monotone, &seeker.sums, self.rule, floor)
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

/// Adds the parts of all shards.
fn add_together<const W: usize>(sum: &mut [[i64; W]], parts: &[Vec<[i64; W]>], start: usize) {
    let Some((first, rest)) = parts.split_first() else { return };
    sum.copy_from_slice(&first[start..start + sum.len()]);
    for part in rest {
        for (sum, part) in sum.iter_mut().zip(&part[start..]) {
            sum.iter_mut().zip(part).for_each(|(sum, part)| *sum = sum.wrapping_add(*part));
        }
    }
}

/// Shares columns out to threads: neighbours together, about as many slots for each.
fn share_out(store: &Store, columns: &[u32], n: usize) -> Vec<Vec<u32>> {
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

/// Cuts histograms into the parts of the threads.
fn tasks<'t, const W: usize>(
    store: &Store,
    shares: &'t [Vec<u32>],
    mut small: &'t mut [[i64; W]],
    mut large: Option<&'t mut [[i64; W]]>,
) -> Vec<Task<'t, W>> {
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
        tasks.push(Task { columns, small: mine, large: mine_large, best: [None, None] });
    }
    tasks
}
