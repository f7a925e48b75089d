//! Growing a tree on rows that are copied and moved: how forests grow theirs.
//!
//! **Idea.** The bins of a row stand side by side in one line of bytes, with its weight and target at the end. A tree copies the lines of the rows that were drawn for
//! it and moves them at each split, so that the rows of a node always stand together: every pass reads memory in order, whatever the depth.
//! A node adds up the bins of a few columns drawn at random in one pass over its lines and takes the best split (or, in
//! extra-trees, the best of one random split for each column).
//!
//! | file | what it holds |
//! |---|---|
//! | this file | lines, and the order in which nodes are grown |
//! | `search` | the best split of a node over columns drawn at random |
//! | `partition` | moving the lines of a node to its two sides |
//! | `small` | whole subtrees of at most 64 lines, as sets of rows in one word |
//!
//! **Splits.** Of an ordered column: at a cut between bins, half-way between the bins that occur in the node; missing values on the better side. Of a nominal column: categories in
//! order of their mean target, cut in two; the best of all bipartitions for two classes and for numbers (Breiman and others 1984).
//!
//! **Cost.** O(rows * columns drawn) for each level; twice 64 bytes for each row of a tree that is being grown (more for more than 54 columns), which are free again when it is done.
//! **Reference.** Breiman, Random forests, 2001; Geurts, Ernst and Wehenkel, Extremely randomized trees, 2006.

mod partition;
mod search;
mod small;

use super::Tree;
use super::queue::{Policy, Queue};
use crate::split::Test;
use crate::split::cells::{Item, MAX_BINS, Seen, Statistics, TAIL};
use crate::split::test::CodeSet;
use ermine_core::matrix::Bins;
use ermine_core::matrix::binned::{Binned, Cuts};
use ermine_core::parallel;
use ermine_core::rng::Rng;
use rayon::prelude::*;
use search::Grower;

/// Rows that are laid out together.
const BLOCK: usize = 256;

/// The bins of all rows, row by row, and what they mean.
pub struct Lines<'a> {
    bytes: Vec<u8>,
    stride: usize,
    bins: &'a Bins,
    columns: Vec<LineColumn>,
    /// No column is nominal or has missing values.
    plain: bool,
}

struct LineColumn {
    /// The bin of missing values.
    missing: u8,
    nominal: bool,
}

/// When to stop, and what to try.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Columns tried at each node.
    pub max_features: usize,
    /// Depth, at most.
    pub max_depth: usize,
    /// A node with fewer rows is not split.
    pub min_samples_split: f64,
    /// A side of a split has at least as many rows.
    pub min_samples_leaf: f64,
    /// A side of a split has at least this weight.
    pub min_weight_leaf: f64,
    /// A split gains at least this much score.
    pub min_gain: f64,
    /// Leaves, at most; the best split of all nodes goes first.
    pub max_leaf_nodes: Option<usize>,
    /// One random split for each column, as in extra-trees.
    pub random_splits: bool,
}

/// A tree, what each column gained in it, and the rows that ended in each leaf.
pub struct Grown {
    /// The tree.
    pub tree: Tree,
    /// The gain of the splits of each column, added up.
    pub gains: Vec<f64>,
}

impl Grown {
    fn value_mut(&mut self, node: usize) -> &mut [f64] {
        let width = self.tree.width;
        &mut self.tree.value[node * width..(node + 1) * width]
    }
}

impl<'a> Lines<'a> {
    /// Lays out the bins row by row.
    pub fn new(bins: &'a Bins, binned: &Binned, n_rows: usize) -> Lines<'a> {
        let d = binned.columns.len();
        let stride = (d + TAIL).next_multiple_of(64);
        let mut bytes = vec![0u8; n_rows * stride];
        let fill = |(block, lines): (usize, &mut [u8])| {
            for (c, column) in binned.columns.iter().enumerate() {
                let lines = lines.chunks_exact_mut(stride).enumerate();
                lines.for_each(|(i, line)| line[c] = column.codes.get(block * BLOCK + i) as u8);
            }
        };
        parallel::for_each_chunk(&mut bytes, BLOCK * stride, |block, lines| fill((block, lines)));
        let nominal = |cuts: &Cuts| matches!(cuts, Cuts::Categories(_));
        let column = |(column, cuts): (&ermine_core::matrix::binned::BinnedColumn, &Cuts)| LineColumn {
            missing: column.n_bins as u8,
            nominal: nominal(cuts),
        };
        let columns: Vec<LineColumn> = binned.columns.iter().zip(&bins.columns).map(column).collect();
        let is_plain = |line: &[u8]| line.iter().zip(&columns).all(|(&bin, column)| bin != column.missing);
        let plain = columns.iter().all(|c| !c.nominal) && bytes.par_chunks_exact(stride).all(is_plain);
        Lines { bytes, stride, bins, columns, plain }
    }

    /// A copy of the lines of the rows that were drawn, with weight and target.
    fn drawn(&self, drawn: &[u16], target: impl Fn(usize) -> i32) -> Vec<u8> {
        match self.stride {
            64 => self.drawn_lines::<64>(drawn, target).into_flattened(),
            128 => self.drawn_lines::<128>(drawn, target).into_flattened(),
            stride => {
                let mut bytes = Vec::with_capacity(drawn.iter().filter(|&&w| w > 0).count() * stride);
                for (row, &weight) in drawn.iter().enumerate().filter(|(_, w)| **w > 0) {
                    bytes.extend_from_slice(&self.bytes[row * stride..(row + 1) * stride]);
                    let at = bytes.len() - TAIL;
                    Item { weight: u32::from(weight), target: target(row), row: row as u32 }.write(&mut bytes[at..]);
                }
                bytes
            }
        }
    }

    fn drawn_lines<const STRIDE: usize>(&self, drawn: &[u16], target: impl Fn(usize) -> i32) -> Vec<[u8; STRIDE]> {
        let mut lines = Vec::with_capacity(drawn.iter().filter(|&&w| w > 0).count());
        for (row, (line, &weight)) in self.bytes.as_chunks::<STRIDE>().0.iter().zip(drawn).enumerate() {
            if weight > 0 {
                let mut line = *line;
                Item { weight: u32::from(weight), target: target(row), row: row as u32 }.write(&mut line);
                lines.push(line);
            }
        }
        lines
    }

    /// Grows a tree. `drawn` is how often each row was drawn, `target` what the statistics want to know of a row, `value(items, sums, out)` what a leaf predicts: `width` numbers.
    pub fn grow<S: Statistics>(
        &self,
        statistics: &S,
        drawn: &[u16],
        target: impl Fn(usize) -> i32,
        limits: &Limits,
        rng: Rng,
        (width, value): (usize, impl Fn(&mut dyn Iterator<Item = Item>, &[S::Number], &mut [f64])),
    ) -> Grown {
        let lines = self.drawn(drawn, target);
        let mut grower = Grower::new(self, statistics, limits, rng);
        let mut all = vec![S::Number::default(); statistics.width()];
        lines.chunks_exact(self.stride).for_each(|line| statistics.add(&mut all, Item::of_line(line)));
        let root = Open { node: 0, start: 0, end: lines.len() / self.stride, depth: 0, all };
        let mut tree = Tree::leaf(statistics.weight(&root.all), &vec![0.0; width]);
        tree.reserve(root.end / 2);
        // The lines of a node stand in the buffer of its depth, even or odd.
        let mut buffers = [vec![0; lines.len()], lines];
        buffers.swap(0, 1);
        let mut grown = Grown { tree, gains: vec![0.0; self.columns.len()] };
        let policy = if limits.max_leaf_nodes.is_some() { Policy::BestFirst } else { Policy::DepthFirst };
        let mut queue = Queue::new(policy);
        let mut n_leaves = 1;
        let mut arrivals = [Some(root), None];
        loop {
            for open in arrivals.iter_mut().filter_map(Option::take) {
                if grower.takes_small(&open) {
                    grower.small(&buffers[open.depth % 2], open, &mut grown, &value);
                    continue;
                }
                match grower.try_split(&buffers[open.depth % 2], open) {
                    Ok((open, split)) => queue.push(split.gain, (open, split)),
                    Err(leaf) => self.say(&buffers[leaf.depth % 2], &leaf, &mut grown, &value),
                }
            }
            let Some((open, split)) = queue.pop() else { return grown };
            if limits.max_leaf_nodes.is_some_and(|most| n_leaves >= most) {
                self.say(&buffers[open.depth % 2], &open, &mut grown, &value);
                continue;
            }
            n_leaves += 1;
            let place = open.start * self.stride..open.end * self.stride;
            let [even, odd] = &mut buffers;
            let (from, to) = if open.depth % 2 == 0 { (even, odd) } else { (odd, even) };
            let n_left = grower.partition(&from[place.clone()], &mut to[place], &split);
            let children = open.children(grown.tree.n_nodes(), n_left, &split.left, statistics);
            let weights = children.each_ref().map(|child| statistics.weight(&child.all));
            grown.tree.split_in_two(open.node, self.test(&split), weights);
            grown.gains[split.feature] += split.gain;
            arrivals = children.map(Some);
        }
    }

    /// Writes down what a leaf predicts.
    fn say<N>(
        &self,
        lines: &[u8],
        leaf: &Open<N>,
        grown: &mut Grown,
        value: &impl Fn(&mut dyn Iterator<Item = Item>, &[N], &mut [f64]),
    ) {
        let lines = &lines[leaf.start * self.stride..leaf.end * self.stride];
        value(&mut lines.chunks_exact(self.stride).map(Item::of_line), &leaf.all, grown.value_mut(leaf.node));
    }

    /// Whether a value is in a bin up to this one. With no cut above the bin, it is whether there is a value.
    fn at_most(&self, column: usize, bin: u8) -> Test {
        let Cuts::Numbers(cuts) = &self.bins.columns[column] else { return Test::Leaf };
        let threshold = cuts.get(bin as usize).copied().unwrap_or(f64::INFINITY);
        Test::AtMost { feature: column as u32, threshold, missing_left: false }
    }

    /// The question of a split, in the values that the bins stand for.
    fn test<N>(&self, split: &LineSplit<N>) -> Test {
        let (feature, missing_left) = (split.feature as u32, split.missing_left);
        match (&self.bins.columns[split.feature], self.at_most(split.feature, split.bin)) {
            (Cuts::Numbers(_), Test::AtMost { threshold, .. }) => Test::AtMost { feature, threshold, missing_left },
            (Cuts::Numbers(_), other) => other,
            (Cuts::Categories(bins), _) => {
                let set = CodeSet::new((0..bins.len()).filter(|&code| split.has(bins[code] as u8)));
                Test::InSet { feature, set, missing_left }
            }
        }
    }
}

/// A node that may be split.
struct Open<N> {
    node: usize,
    start: usize,
    end: usize,
    depth: usize,
    all: Vec<N>,
}

impl<N: Copy> Open<N> {
    /// The two sides of a split, the first of which will be node `node`.
    fn children<S: Statistics<Number = N>>(
        &self,
        node: usize,
        n_left: usize,
        left: &[N],
        statistics: &S,
    ) -> [Open<N>; 2] {
        let (middle, depth) = (self.start + n_left, self.depth + 1);
        let mut right = self.all.clone();
        statistics.remove(&mut right, left);
        [
            Open { node, start: self.start, end: middle, depth, all: left.to_vec() },
            Open { node: node + 1, start: middle, end: self.end, depth, all: right },
        ]
    }
}

/// A split of a node.
#[derive(Clone)]
struct LineSplit<N> {
    feature: usize,
    /// Bins up to this one are on the left; for a nominal column `set` decides.
    bin: u8,
    set: Option<Box<Seen>>,
    missing_left: bool,
    missing: u8,
    gain: f64,
    left: Vec<N>,
}

impl<N> LineSplit<N> {
    /// Whether a bin that is not that of missing values goes to the left.
    fn has(&self, bin: u8) -> bool {
        self.set.as_ref().map_or(bin <= self.bin, |set| set[bin as usize / 64] >> (bin % 64) & 1 == 1)
    }

    /// Where each bin goes.
    fn sides(&self) -> [bool; MAX_BINS] {
        std::array::from_fn(|bin| if bin as u8 == self.missing { self.missing_left } else { self.has(bin as u8) })
    }
}

/// A node and its best split.
type Candidate<N> = (Open<N>, LineSplit<N>);
