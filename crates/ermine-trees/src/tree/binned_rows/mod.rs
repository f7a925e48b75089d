//! The tree builder of forests, on histogram bins.
//!
//! **Idea.** The bins of a row are stored next to each other in one line of bytes, followed by its weight and target. Each tree copies the lines of its bootstrap sample and moves them at each split, so that the
//! rows of a node are always contiguous and every pass reads memory sequentially, whatever the depth. A node accumulates the bins of a few random features in one pass over its lines and takes the best split
//! (or, in extra-trees, the best of one random split per feature).
//!
//! | file | contents |
//! |---|---|
//! | this file | the lines, and the loop over nodes |
//! | `search` | the best split of a node over random features |
//! | `partition` | moving the lines of a node to its children |
//! | `mask_subtree` | whole subtrees of at most 64 rows, as bit masks |
//! | `sparse` | rows of mostly zeros, of which only the other bins are stored |
//!
//! **Splits.** Ordered features: between two bins, halfway between the bins that occur in the node; missing values on the better side. Nominal features: categories ordered by their mean target and cut in two,
//! which is the best of all bipartitions for two classes and for regression (Breiman and others 1984).
//!
//! **Cost.** O(rows * features considered) per level; twice 64 bytes per row of a tree while it grows (more for more than 54 features).
//! **Reference.** Breiman, Random forests, 2001; Geurts, Ernst and Wehenkel, Extremely randomized trees, 2006.

mod mask_subtree;
mod partition;
mod search;
mod sparse;

use super::Tree;
use super::queue::{GrowthPolicy, NodeQueue};
use crate::split::Test;
use crate::split::bin_statistics::{BinSet, BinStatistics, MAX_BINS, SampledRow, TAIL};
use crate::split::test::CodeSet;
use ermine_core::matrix::Bins;
use ermine_core::matrix::binned::{Binned, Cuts};
use ermine_core::parallel;
use ermine_core::rng::Rng;
use rayon::prelude::*;
use search::BinnedTreeBuilder;
use sparse::SparseBins;

/// Number of rows that are laid out together.
const BLOCK: usize = 256;

/// The bins of all rows in row-major order.
pub struct BinnedRows<'a> {
    bytes: Vec<u8>,
    stride: usize,
    bins: &'a Bins,
    columns: Vec<BinnedRowColumn>,
    /// No column is nominal or has missing values.
    plain: bool,
    /// The bins of rows of mostly zeros; `bytes` is empty then.
    sparse: Option<SparseBins>,
}

struct BinnedRowColumn {
    /// The bin of missing values.
    missing: u8,
    nominal: bool,
}

/// Stopping rules and search options of a forest's trees.
#[derive(Debug, Clone)]
pub struct ForestTreeLimits {
    /// Number of features considered at each node.
    pub max_features: usize,
    /// Maximum depth.
    pub max_depth: usize,
    /// Minimum number of rows a node needs to be split.
    pub min_samples_split: f64,
    /// Minimum number of rows of a child.
    pub min_samples_leaf: f64,
    /// Minimum weight of a child.
    pub min_weight_leaf: f64,
    /// Minimum gain of a split.
    pub min_gain: f64,
    /// Maximum number of leaves; splits with the largest gain come first.
    pub max_leaf_nodes: Option<usize>,
    /// One random split per feature, as in extra-trees.
    pub random_splits: bool,
}

/// A tree and the total gain of each feature.
pub struct GrownForestTree {
    /// The tree.
    pub tree: Tree,
    /// The total gain of the splits on each feature.
    pub gains: Vec<f64>,
}

impl GrownForestTree {
    fn value_mut(&mut self, node: usize) -> &mut [f64] {
        let width = self.tree.width;
        &mut self.tree.value[node * width..(node + 1) * width]
    }
}

impl<'a> BinnedRows<'a> {
    /// Whether rows of this many columns are too long for the vector units, so that rows of mostly zeros are better stored without them.
    pub fn is_wide(n_columns: usize) -> bool {
        n_columns + TAIL > 128
    }

    /// Lays out the bins in row-major order.
    pub fn new(bins: &'a Bins, binned: &Binned, n_rows: usize) -> BinnedRows<'a> {
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
        let column = |(column, cuts): (&ermine_core::matrix::binned::BinnedColumn, &Cuts)| BinnedRowColumn {
            missing: column.n_bins as u8,
            nominal: nominal(cuts),
        };
        let columns: Vec<BinnedRowColumn> = binned.columns.iter().zip(&bins.columns).map(column).collect();
        let is_plain = |line: &[u8]| line.iter().zip(&columns).all(|(&bin, column)| bin != column.missing);
        let plain = columns.iter().all(|c| !c.nominal) && bytes.par_chunks_exact(stride).all(is_plain);
        BinnedRows { bytes, stride, bins, columns, plain, sparse: None }
    }

    /// Copies the lines of the drawn rows, with weight and target.
    fn drawn(&self, drawn: &[u16], target: impl Fn(usize) -> i32) -> Vec<u8> {
        let stride = self.stride;
        let mut bytes = Vec::with_capacity(drawn.iter().filter(|&&w| w > 0).count() * stride);
        for (row, &weight) in drawn.iter().enumerate().filter(|(_, w)| **w > 0) {
            match self.sparse {
                None => bytes.extend_from_slice(&self.bytes[row * stride..(row + 1) * stride]),
                Some(_) => bytes.extend_from_slice(&[0; TAIL]),
            }
            let at = bytes.len() - TAIL;
            SampledRow { weight: u32::from(weight), target: target(row), row: row as u32 }.write(&mut bytes[at..]);
        }
        bytes
    }

    /// Grows a tree. `drawn` is how often each row was drawn, `target` the class or quantized target of a row; `value(items, sums, out)` computes the `width` outputs of a leaf.
    pub fn grow<S: BinStatistics>(
        &self,
        statistics: &S,
        drawn: &[u16],
        target: impl Fn(usize) -> i32,
        limits: &ForestTreeLimits,
        rng: Rng,
        (width, value): (usize, impl Fn(&mut dyn Iterator<Item = SampledRow>, &[S::Number], &mut [f64])),
    ) -> GrownForestTree {
        let lines = self.drawn(drawn, target);
        let mut grower = BinnedTreeBuilder::new(self, statistics, limits, rng);
        grower.positions = self.positions(&lines, drawn.len());
        let mut all = vec![S::Number::default(); statistics.width()];
        lines.chunks_exact(self.stride).for_each(|line| statistics.add(&mut all, SampledRow::of_line(line)));
        let root = BinnedNode { node: 0, start: 0, end: lines.len() / self.stride, depth: 0, all };
        let mut tree = Tree::leaf(statistics.weight(&root.all), &vec![0.0; width]);
        tree.reserve(root.end / 2);
        // The lines of a node are in the buffer of its depth, even or odd.
        let mut buffers = [vec![0; lines.len()], lines];
        buffers.swap(0, 1);
        let mut grown = GrownForestTree { tree, gains: vec![0.0; self.columns.len()] };
        let policy = if limits.max_leaf_nodes.is_some() { GrowthPolicy::BestFirst } else { GrowthPolicy::DepthFirst };
        let mut queue = NodeQueue::new(policy);
        let mut n_leaves = 1;
        let mut arrivals = [Some(root), None];
        loop {
            for open in arrivals.iter_mut().filter_map(Option::take) {
                if grower.fits_masks(&open) {
                    grower.grow_mask_subtree(&buffers[open.depth % 2], open, &mut grown, &value);
                    continue;
                }
                match grower.try_split(&buffers[open.depth % 2], open) {
                    Ok((open, split)) => queue.push(split.gain, (open, split)),
                    Err(leaf) => self.set_leaf_value(&buffers[leaf.depth % 2], &leaf, &mut grown, &value),
                }
            }
            let Some((open, split)) = queue.pop() else { return grown };
            if limits.max_leaf_nodes.is_some_and(|most| n_leaves >= most) {
                self.set_leaf_value(&buffers[open.depth % 2], &open, &mut grown, &value);
                continue;
            }
            n_leaves += 1;
            let place = open.start * self.stride..open.end * self.stride;
            let [even, odd] = &mut buffers;
            let (from, to) = if open.depth % 2 == 0 { (even, odd) } else { (odd, even) };
            let n_left = grower.partition(&from[place.clone()], &mut to[place], open.start, &split);
            let children = open.children(grown.tree.n_nodes(), n_left, &split.left, statistics);
            let weights = children.each_ref().map(|child| statistics.weight(&child.all));
            grown.tree.split_in_two(open.node, self.test(&split), weights);
            grown.gains[split.feature] += split.gain;
            arrivals = children.map(Some);
        }
    }

    /// Sets the prediction of a leaf.
    fn set_leaf_value<N>(
        &self,
        lines: &[u8],
        leaf: &BinnedNode<N>,
        grown: &mut GrownForestTree,
        value: &impl Fn(&mut dyn Iterator<Item = SampledRow>, &[N], &mut [f64]),
    ) {
        let lines = &lines[leaf.start * self.stride..leaf.end * self.stride];
        value(&mut lines.chunks_exact(self.stride).map(SampledRow::of_line), &leaf.all, grown.value_mut(leaf.node));
    }

    /// The test whether a value is at most in this bin. Above the last bin edge, the test is whether the value is present.
    fn at_most(&self, column: usize, bin: u8) -> Test {
        let Cuts::Numbers(cuts) = &self.bins.columns[column] else { return Test::Leaf };
        let threshold = cuts.get(bin as usize).copied().unwrap_or(f64::INFINITY);
        Test::AtMost { feature: column as u32, threshold, missing_left: false }
    }

    /// The test of a split in terms of feature values.
    fn test<N>(&self, split: &BinnedSplit<N>) -> Test {
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
struct BinnedNode<N> {
    node: usize,
    start: usize,
    end: usize,
    depth: usize,
    all: Vec<N>,
}

impl<N: Copy> BinnedNode<N> {
    /// The children of a split; the left one is node `node`.
    fn children<S: BinStatistics<Number = N>>(
        &self,
        node: usize,
        n_left: usize,
        left: &[N],
        statistics: &S,
    ) -> [BinnedNode<N>; 2] {
        let (middle, depth) = (self.start + n_left, self.depth + 1);
        let mut right = self.all.clone();
        statistics.remove(&mut right, left);
        [
            BinnedNode { node, start: self.start, end: middle, depth, all: left.to_vec() },
            BinnedNode { node: node + 1, start: middle, end: self.end, depth, all: right },
        ]
    }
}

/// A split of a node.
#[derive(Clone)]
struct BinnedSplit<N> {
    feature: usize,
    /// Bins up to this one are on the left; for a nominal column `set` decides.
    bin: u8,
    set: Option<Box<BinSet>>,
    missing_left: bool,
    missing: u8,
    gain: f64,
    left: Vec<N>,
}

impl<N> BinnedSplit<N> {
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
type NodeWithSplit<N> = (BinnedNode<N>, BinnedSplit<N>);
