//! A forest on codes: the form in which many rows walk fast.
//!
//! **Idea.** Trees grown on bins ask about few distinct thresholds, at most 255 for each column. A value is then one byte, the number of thresholds below it, which is worked out once for all trees:
//! `x <= threshold[b]` is `code <= b`. A row is one or two cache lines, a node eight bytes. A leaf leads to itself, so that a step is the same for
//! all nodes: two loads, one comparison, one addition. Sixteen rows walk at once, and only every few steps is it asked whether all of them have arrived.
//!
//! **Missing values** have code 255, above all thresholds. Nodes that send them left read a second copy of the codes, in which they are 0.
//!
//! **Cost.** Made once, when many rows are predicted: sorting the thresholds. Then a binary search for each value, and about two cycles for each step of a row.

use super::codes::BLOCK;
use crate::matrix::Features;
use crate::table::Column;
use crate::tree::forest::{Forest, Node, kind};
use rayon::prelude::*;
use std::ops::Range;

/// Walks at once: while one waits for memory, the others go on.
const LANES: usize = 16;

/// Steps between two looks at whether all have arrived.
const STEPS: usize = 4;

/// Where a missing value stands.
const MISSING: u8 = u8::MAX;

/// A forest on codes.
#[derive(Debug, Clone)]
pub(crate) struct Coded {
    nodes: Vec<CodedNode>,
    /// The distinct thresholds of each column, ascending.
    thresholds: Vec<Vec<f64>>,
    /// Whether some node sends missing values left, so that rows need both copies of their codes.
    both: bool,
    /// Whether the `place` of a leaf is the number of its prediction.
    leaves_say: bool,
}

/// Goes to `child`, or to the next node where the code is above `bin`.
#[derive(Debug, Clone, Copy)]
struct CodedNode {
    child: u32,
    /// The place of the code in a row; of a leaf, its prediction, where that fits.
    place: u16,
    bin: u8,
}

/// The codes of some rows, each as long as a few cache lines.
pub(crate) struct CodeRows {
    bytes: Vec<u8>,
    stride: usize,
}

impl Coded {
    /// The coded form; `None` where a test is no threshold, or a column has too many of them.
    pub fn new(forest: &Forest, n_features: usize) -> Option<Coded> {
        if !forest.only_thresholds || 2 * n_features > u16::MAX as usize || n_features == 0 {
            return None;
        }
        let mut thresholds: Vec<Vec<f64>> = vec![Vec::new(); n_features];
        for node in forest.nodes.iter().filter(|node| node.kind() != kind::LEAF) {
            let known = &mut thresholds[node.feature()];
            known.push(node.threshold());
            // Often enough, so that a large forest doesn't pile up copies.
            if known.len() >= 4096 {
                tidy(known);
                if known.len() > 2048 {
                    return None;
                }
            }
        }
        thresholds.iter_mut().for_each(tidy);
        if thresholds.iter().any(|known| known.len() > MISSING as usize) {
            return None;
        }
        let both = forest.nodes.iter().any(|node| node.kind() == kind::AT_MOST_ELSE_LEFT);
        let leaves_say = forest.values.len() / forest.width.max(1) <= u16::MAX as usize;
        let code = |(i, node): (usize, &Node)| match node.kind() {
            kind::LEAF => {
                CodedNode { child: i as u32, place: if leaves_say { node.child as u16 } else { 0 }, bin: u8::MAX }
            }
            kind => {
                let column = node.feature();
                let bin = thresholds[column].partition_point(|&t| t < node.threshold()) as u8;
                let second = if kind == kind::AT_MOST_ELSE_LEFT { n_features } else { 0 };
                CodedNode { child: node.child, place: (column + second) as u16, bin }
            }
        };
        let nodes = forest.nodes.iter().enumerate().map(code).collect();
        Some(Coded { nodes, thresholds, both, leaves_say })
    }

    /// The codes of some rows.
    pub fn rows(&self, features: &Features, first: usize, n: usize) -> CodeRows {
        let d = self.thresholds.len();
        // Powers of two, so that any place, cut to its last bits, is inside a row.
        let stride = (if self.both { 2 * d } else { d }).next_power_of_two().max(64);
        let mut bytes = vec![0; n * stride];
        let rows: Vec<u32> = (first..first + n).map(|row| features.table_row(row) as u32).collect();
        for (c, (column, thresholds)) in features.columns().iter().zip(&self.thresholds).enumerate() {
            if thresholds.is_empty() {
                continue;
            }
            for (row, &at) in bytes.chunks_exact_mut(stride).zip(&rows) {
                let x = Column::number(column, at as usize);
                let code = thresholds.partition_point(|&t| t < x) as u8;
                row[c] = if x.is_nan() { MISSING } else { code };
                if self.both {
                    row[c + d] = if x.is_nan() { 0 } else { code };
                }
            }
        }
        CodeRows { bytes, stride }
    }

    /// The sums of some trees of the forest, for each row.
    pub fn sums(&self, forest: &Forest, trees: Range<usize>, features: &Features, sums: &mut [f64]) {
        let width = forest.width;
        let block = |(block, sums): (usize, &mut [f64])| {
            let codes = self.rows(features, block * BLOCK, sums.len() / width);
            let mut leaves = Vec::new();
            for tree in trees.clone() {
                self.leaves(forest.roots[tree], &codes, &mut leaves);
                for (sums, &leaf) in sums.chunks_exact_mut(width).zip(&leaves) {
                    let value = &forest.values[self.value_row(forest, leaf) * width..][..width];
                    sums.iter_mut().zip(value).for_each(|(sum, v)| *sum += v);
                }
            }
        };
        sums.par_chunks_mut(BLOCK * width).enumerate().for_each(block);
    }

    /// The number of a leaf's prediction.
    #[inline(always)]
    pub fn value_row(&self, forest: &Forest, leaf: u32) -> usize {
        if self.leaves_say {
            self.nodes[leaf as usize].place as usize
        } else {
            forest.nodes[leaf as usize].child as usize
        }
    }

    /// The leaf where each row ends in the tree that starts at `root`.
    pub fn leaves(&self, root: u32, codes: &CodeRows, leaves: &mut Vec<u32>) {
        leaves.clear();
        leaves.resize(codes.bytes.len() / codes.stride, root);
        match codes.stride {
            64 => walk(&self.nodes, codes.bytes.as_chunks::<64>().0, leaves),
            128 => walk(&self.nodes, codes.bytes.as_chunks::<128>().0, leaves),
            256 => walk(&self.nodes, codes.bytes.as_chunks::<256>().0, leaves),
            stride => {
                for (row, at) in codes.bytes.chunks_exact(stride).zip(leaves) {
                    walk_one(&self.nodes, row, at);
                }
            }
        }
    }
}

/// Walks sixteen rows at once from where they are to their leaves.
#[inline(never)]
fn walk<const STRIDE: usize>(nodes: &[CodedNode], rows: &[[u8; STRIDE]], leaves: &mut [u32]) {
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
fn step<const STRIDE: usize>(nodes: &[CodedNode], at: u32, row: &[u8; STRIDE]) -> u32 {
    let node = nodes[at as usize];
    node.child + u32::from(row[node.place as usize % STRIDE] > node.bin)
}

/// The same for one row, of any length that is a power of two.
fn walk_one(nodes: &[CodedNode], row: &[u8], at: &mut u32) {
    loop {
        let node = nodes[*at as usize];
        let next = node.child + u32::from(row[node.place as usize % row.len()] > node.bin);
        if next == *at {
            return;
        }
        *at = next;
    }
}

fn tidy(values: &mut Vec<f64>) {
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
}
