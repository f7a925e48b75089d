//! A forest on codes: the form in which many rows walk fast.
//!
//! **Idea.** Trees grown on bins ask about few distinct thresholds, at most 255 for each column. A value is then one byte, the number of thresholds below it, which is worked out once for all trees:
//! `x <= threshold[b]` is `code <= b`. A row is one or two cache lines, a node eight bytes. A leaf leads to itself, so that a step is the same for
//! all nodes: one load, one comparison, one addition.
//!
//! **Missing values** have code 255, above all thresholds. Nodes that send them left read a second copy of the codes, in which they are 0.
//!
//! **Cost.** Made once, when many rows are predicted: sorting the thresholds. Then a binary search for each value, and a few cycles for each step.

use super::forest::{Forest, kind};
use crate::matrix::Features;
use crate::table::Column;

/// Walks at once: while one waits for memory, the others go on.
const LANES: usize = 16;

/// Where a missing value stands.
const MISSING: u8 = u8::MAX;

/// A forest on codes.
#[derive(Debug, Clone)]
pub(super) struct Coded {
    nodes: Vec<CodedNode>,
    /// The distinct thresholds of each column, ascending.
    thresholds: Vec<Vec<f64>>,
    /// Whether some node sends missing values left, so that rows need both copies of their codes.
    both: bool,
}

/// Goes to `child`, or to the next node where the code is above `bin`.
#[derive(Debug, Clone, Copy)]
struct CodedNode {
    child: u32,
    /// The place of the code in a row.
    place: u16,
    bin: u8,
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
        let code = |(i, node): (usize, &super::forest::Node)| match node.kind() {
            kind::LEAF => CodedNode { child: i as u32, place: 0, bin: u8::MAX },
            kind => {
                let column = node.feature();
                let bin = thresholds[column].partition_point(|&t| t < node.threshold()) as u8;
                let second = if kind == kind::AT_MOST_ELSE_LEFT { n_features } else { 0 };
                CodedNode { child: node.child, place: (column + second) as u16, bin }
            }
        };
        let nodes = forest.nodes.iter().enumerate().map(code).collect();
        Some(Coded { nodes, thresholds, both })
    }

    /// The codes of some rows, row by row, and how many each row has.
    pub fn rows(&self, features: &Features, first: usize, n: usize) -> (usize, Vec<u8>) {
        let d = self.thresholds.len();
        let width = if self.both { 2 * d } else { d };
        let mut codes = vec![0; n * width];
        let rows: Vec<u32> = (first..first + n).map(|row| features.table_row(row) as u32).collect();
        for (c, (column, thresholds)) in features.columns().iter().zip(&self.thresholds).enumerate() {
            if thresholds.is_empty() {
                continue;
            }
            for (row, &at) in codes.chunks_exact_mut(width).zip(&rows) {
                let x = Column::number(column, at as usize);
                let code = thresholds.partition_point(|&t| t < x) as u8;
                row[c] = if x.is_nan() { MISSING } else { code };
                if self.both {
                    row[c + d] = if x.is_nan() { 0 } else { code };
                }
            }
        }
        (width, codes)
    }

    /// Calls `each(row, leaf)` for the leaf where each row ends in the tree that starts at `root`.
    pub fn walk(&self, root: u32, (width, codes): (usize, &[u8]), mut each: impl FnMut(usize, u32)) {
        let n = codes.len() / width;
        for start in (0..n).step_by(LANES) {
            let lanes = LANES.min(n - start);
            let rows: [&[u8]; LANES] =
                std::array::from_fn(|lane| &codes[(start + lane.min(lanes - 1)) * width..][..width]);
            let mut at = [root; LANES];
            loop {
                let mut moved = 0;
                for (at, row) in at.iter_mut().zip(rows) {
                    let node = self.nodes[*at as usize];
                    let next = node.child + u32::from(row[node.place as usize] > node.bin);
                    moved |= next ^ *at;
                    *at = next;
                }
                if moved == 0 {
                    break;
                }
            }
            (0..lanes).for_each(|lane| each(start + lane, at[lane]));
        }
    }
}

fn tidy(values: &mut Vec<f64>) {
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
}
