//! Large trees, many rows: rows walk on their codes, sixteen at once.
//!
//! **Idea.** A value is the number of thresholds below it ([`Ranks`]), two bytes, worked out once for all trees: `x <= threshold[b]` is `code <= b`. A row is a few cache lines, a node eight bytes. A leaf leads to
//! itself, so that a step is the same for all nodes: two loads, one comparison, one addition. Sixteen rows walk at once, and only every few steps is it asked whether all of them have arrived. Many rows
//! meet a tree before the next one, so that its nodes are fetched once and then near.
//!
//! **Missing values** have the highest code, above all thresholds. Nodes that send them left read a second copy of the codes, in which they are 0.
//!
//! **Cost.** Two to three loads for each value; then about two cycles for each step of a row.

use super::ranks::Ranks;
use crate::tree::forest::{Forest, Node, kind};
use ermine_core::matrix::Features;
use ermine_core::parallel;
use rayon::prelude::*;
use std::ops::Range;

/// Rows that meet a tree together.
const ROWS: usize = 1024;

/// Walks at once: while one waits for memory, the others go on.
const LANES: usize = 16;

/// Steps between two looks at whether all have arrived.
const STEPS: usize = 4;

/// Where a missing value stands.
const MISSING: u16 = u16::MAX;

/// Forests on codes.
#[derive(Debug, Clone)]
pub(crate) struct Coded {
    /// The nodes of each forest.
    nodes: Vec<Vec<CodedNode>>,
    /// The number of each leaf's prediction, for each forest where the leaves have no room for it.
    said: Vec<Vec<u32>>,
    /// The thresholds of each column.
    ranks: Vec<Ranks>,
    /// Whether some node sends missing values left, so that rows need both copies of their codes.
    both: bool,
}

/// Goes to `child`, or to the next node where the code is above `bin`.
#[derive(Debug, Clone, Copy)]
struct CodedNode {
    child: u32,
    /// The place of the code in a row; of a leaf, its prediction, where that fits.
    place: u16,
    bin: u16,
}

/// The codes of some rows, each as long as a few cache lines.
pub(crate) struct CodeRows {
    codes: Vec<u16>,
    stride: usize,
}

impl Coded {
    /// The coded form; `None` where a test is no threshold, or a column has too many of them.
    pub fn new(forests: &[&Forest], n_features: usize) -> Option<Coded> {
        let thresholds_only = forests.iter().all(|forest| forest.only_thresholds);
        if !thresholds_only || 2 * n_features > u16::MAX as usize || n_features == 0 {
            return None;
        }
        let mut thresholds: Vec<Vec<f64>> = vec![Vec::new(); n_features];
        let nodes = || forests.iter().flat_map(|forest| &forest.nodes).filter(|node| node.kind() != kind::LEAF);
        nodes().for_each(|node| thresholds[node.feature()].push(node.threshold()));
        let ranks: Vec<Ranks> = thresholds.into_par_iter().map(Ranks::new).collect::<Option<_>>()?;
        let both = nodes().any(|node| node.kind() == kind::AT_MOST_ELSE_LEFT);
        let (nodes, said) = forests.iter().map(|forest| code_nodes(forest, &ranks)).unzip();
        Some(Coded { nodes, said, ranks, both })
    }

    /// The codes of some rows.
    pub fn rows(&self, features: &Features, first: usize, n: usize) -> CodeRows {
        let d = self.ranks.len();
        // Powers of two, so that any place, cut to its last bits, is inside a row.
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
        // Few rows are shared out to all threads too.
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

    /// The number of a leaf's prediction.
    #[inline(always)]
    fn value_row(&self, forest: usize, leaf: u32) -> usize {
        match self.said[forest].get(leaf as usize) {
            Some(&row) => row as usize,
            None => self.nodes[forest][leaf as usize].place as usize,
        }
    }

    /// The leaf where each row ends in the tree of a forest that starts at `root`.
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

/// The nodes of a forest on codes, and the predictions of its leaves where these have no room for them.
fn code_nodes(forest: &Forest, ranks: &[Ranks]) -> (Vec<CodedNode>, Vec<u32>) {
    let fits = forest.values.len() / forest.width.max(1) <= u16::MAX as usize;
    let code = |(i, node): (usize, &Node)| match node.kind() {
        kind::LEAF => CodedNode { child: i as u32, place: if fits { node.child as u16 } else { 0 }, bin: MISSING },
        kind => {
            let column = node.feature();
            let second = if kind == kind::AT_MOST_ELSE_LEFT { ranks.len() } else { 0 };
            let bin = ranks[column].rank(node.threshold()) as u16;
            CodedNode { child: node.child, place: (column + second) as u16, bin }
        }
    };
    let nodes = forest.nodes.par_iter().enumerate().map(code).collect();
    let said = if fits { Vec::new() } else { forest.nodes.iter().map(|node| node.child).collect() };
    (nodes, said)
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
