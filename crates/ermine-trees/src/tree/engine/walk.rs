//! Large trees, many rows: rows walk on their codes, sixteen at a time.
//!
//! **Idea.** A value is encoded once for all trees as the number of thresholds below it ([`ThresholdRanks`]), two bytes: `x <= threshold[b]` is `code <= b`. A row is a few cache lines, a node eight bytes. A leaf points
//! to itself, so that a step is the same for all nodes: two loads, one comparison, one addition. Sixteen rows walk at once, and only every few steps is it checked whether all of them have arrived. Many rows use a
//! tree before the next one, so that its nodes stay in the cache.
//!
//! **Missing values** have the highest code, above all thresholds. Nodes that send them left read a second copy of the codes, in which they are 0.
//!
//! **Cost.** Two to three loads per value; then about two cycles per step of a row.

use super::ranks::ThresholdRanks;
use crate::tree::forest::{Forest, ForestNode, kind};
use ermine_core::matrix::Features;
use ermine_core::parallel;
use rayon::prelude::*;
use std::ops::Range;

/// Number of rows per block.
const ROWS: usize = 1024;

/// Number of simultaneous walks: while one waits for memory, the others proceed.
const LANES: usize = 16;

/// Number of steps between two checks whether all have arrived.
const STEPS: usize = 4;

/// The code of a missing value.
const MISSING: u16 = u16::MAX;

/// Forests with encoded thresholds.
#[derive(Debug, Clone)]
pub(crate) struct CodedTrees {
    /// The nodes of each forest.
    nodes: Vec<Vec<CodedNode>>,
    /// The prediction index of each leaf, for forests whose leaves have no room for it.
    value_rows: Vec<Vec<u32>>,
    /// The thresholds of each column.
    ranks: Vec<ThresholdRanks>,
    /// Whether some node sends missing values left, so that rows need both copies of their codes.
    both: bool,
}

/// Goes to `child`, or to the node after it if the code is above `bin`.
#[derive(Debug, Clone, Copy)]
struct CodedNode {
    child: u32,
    /// The position of the code in a row; for a leaf, its prediction index if that fits.
    place: u16,
    bin: u16,
}

/// The codes of some rows, each as long as a few cache lines.
pub(crate) struct CodeRows {
    codes: Vec<u16>,
    stride: usize,
}

impl CodedTrees {
    /// Encodes forests; `None` if a test is not a threshold, or a column has too many thresholds.
    pub fn new(forests: &[&Forest], n_features: usize) -> Option<CodedTrees> {
        let thresholds_only = forests.iter().all(|forest| forest.only_thresholds);
        if !thresholds_only || 2 * n_features > u16::MAX as usize || n_features == 0 {
            return None;
        }
        let mut thresholds: Vec<Vec<f64>> = vec![Vec::new(); n_features];
        let nodes = || forests.iter().flat_map(|forest| &forest.nodes).filter(|node| node.kind() != kind::LEAF);
        nodes().for_each(|node| thresholds[node.feature()].push(node.threshold()));
        let ranks: Vec<ThresholdRanks> = thresholds.into_par_iter().map(ThresholdRanks::new).collect::<Option<_>>()?;
        let both = nodes().any(|node| node.kind() == kind::AT_MOST_ELSE_LEFT);
        let (nodes, value_rows) = forests.iter().map(|forest| code_nodes(forest, &ranks)).unzip();
        Some(CodedTrees { nodes, value_rows, ranks, both })
    }

    /// The codes of some rows.
    pub fn rows(&self, features: &Features, first: usize, n: usize) -> CodeRows {
        let d = self.ranks.len();
        // Powers of two, so that any position modulo the stride is inside a row.
        let stride = (if self.both { 2 * d } else { d }).next_power_of_two().max(32);
        let mut codes = vec![0; n * stride];
        let mut values = vec![0.0; n];
        for (c, ranks) in self.ranks.iter().enumerate().filter(|(_, ranks)| ranks.len() > 0) {
            features.part_into(c, first, &mut values);
            for (row, &x) in codes.chunks_exact_mut(stride).zip(&values) {
                let code = ranks.rank(x) as u16;
                row[c] = if x.is_nan() { MISSING } else { code };
                if self.both {
                    row[c + d] = code;
                }
            }
        }
        CodeRows { codes, stride }
    }

    /// The sums of some trees of each forest, for each row: the outputs of the first forest, of the second, and so on.
    pub fn sums(&self, forests: &[&Forest], trees: Range<usize>, features: &Features, sums: &mut [f64]) {
        let outputs: usize = forests.iter().map(|forest| forest.width).sum();
        // Distribute few rows over all threads too.
        let rows = features.n_rows().div_ceil(8).clamp(64, ROWS);
        let block = |(block, sums): (usize, &mut [f64])| {
            let codes = self.rows(features, block * rows, sums.len() / outputs);
            let mut leaves = Vec::new();
            let mut output = 0;
            for (i, forest) in forests.iter().enumerate() {
                let width = forest.width;
                for tree in trees.clone() {
                    self.leaves(i, forest.roots[tree], &codes, &mut leaves);
                    for (sums, &leaf) in sums.chunks_exact_mut(outputs).zip(&leaves) {
                        let value = &forest.values[self.value_row(i, leaf) * width..][..width];
                        sums[output..].iter_mut().zip(value).for_each(|(sum, v)| *sum += v);
                    }
                }
                output += width;
            }
        };
        parallel::for_each_chunk(sums, rows * outputs, |part, sums| block((part, sums)));
    }

    /// The index of a leaf's prediction.
    #[inline(always)]
    fn value_row(&self, forest: usize, leaf: u32) -> usize {
        match self.value_rows[forest].get(leaf as usize) {
            Some(&row) => row as usize,
            None => self.nodes[forest][leaf as usize].place as usize,
        }
    }

    /// The leaf that each row reaches in the tree with this root.
    pub fn leaves(&self, forest: usize, root: u32, codes: &CodeRows, leaves: &mut Vec<u32>) {
        leaves.clear();
        leaves.resize(codes.codes.len() / codes.stride, root);
        let nodes = &self.nodes[forest];
        match codes.stride {
            32 => walk(nodes, codes.codes.as_chunks::<32>().0, leaves),
            64 => walk(nodes, codes.codes.as_chunks::<64>().0, leaves),
            128 => walk(nodes, codes.codes.as_chunks::<128>().0, leaves),
            256 => walk(nodes, codes.codes.as_chunks::<256>().0, leaves),
            stride => {
                for (row, at) in codes.codes.chunks_exact(stride).zip(leaves) {
                    walk_one(nodes, row, at);
                }
            }
        }
    }
}

/// The encoded nodes of a forest, and the prediction indices of its leaves if they don't fit the nodes.
fn code_nodes(forest: &Forest, ranks: &[ThresholdRanks]) -> (Vec<CodedNode>, Vec<u32>) {
    let fits = forest.values.len() / forest.width.max(1) <= u16::MAX as usize;
    let code = |(i, node): (usize, &ForestNode)| match node.kind() {
        kind::LEAF => CodedNode { child: i as u32, place: if fits { node.child as u16 } else { 0 }, bin: MISSING },
        kind => {
            let column = node.feature();
            let second = if kind == kind::AT_MOST_ELSE_LEFT { ranks.len() } else { 0 };
            let bin = ranks[column].rank(node.threshold()) as u16;
            CodedNode { child: node.child, place: (column + second) as u16, bin }
        }
    };
    let nodes = forest.nodes.par_iter().enumerate().map(code).collect();
    let value_rows = if fits { Vec::new() } else { forest.nodes.iter().map(|node| node.child).collect() };
    (nodes, value_rows)
}

/// Walks sixteen rows at once from where they are to their leaves.
#[inline(never)]
fn walk<const STRIDE: usize>(nodes: &[CodedNode], rows: &[[u16; STRIDE]], leaves: &mut [u32]) {
    let (blocks, rest) = rows.as_chunks::<LANES>();
    let (ends, last) = leaves.as_chunks_mut::<LANES>();
    for (rows, ends) in blocks.iter().zip(ends) {
        let mut at = *ends;
        loop {
            for _ in 0..STEPS - 1 {
                for lane in 0..LANES {
                    at[lane] = step(nodes, at[lane], &rows[lane]);
                }
            }
            let mut moved = 0;
            for lane in 0..LANES {
                let next = step(nodes, at[lane], &rows[lane]);
                moved |= next ^ at[lane];
                at[lane] = next;
            }
            if moved == 0 {
                break;
            }
        }
        *ends = at;
    }
    rest.iter().zip(last).for_each(|(row, at)| walk_one(nodes, row, at));
}

#[inline(always)]
fn step<const STRIDE: usize>(nodes: &[CodedNode], at: u32, row: &[u16; STRIDE]) -> u32 {
    let node = nodes[at as usize];
    node.child + u32::from(row[node.place as usize % STRIDE] > node.bin)
}

/// The same for one row, of any length that is a power of two.
fn walk_one(nodes: &[CodedNode], row: &[u16], at: &mut u32) {
    loop {
        let node = nodes[*at as usize];
        let next = node.child + u32::from(row[node.place as usize % row.len()] > node.bin);
        if next == *at {
            return;
        }
        *at = next;
    }
}
