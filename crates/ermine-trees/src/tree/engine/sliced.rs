//! Small trees, many rows: every node is evaluated for all rows, 64 at a time.
//!
//! **Idea.** Each row has a byte, the index of its current node. A tree is a list of operations, parents before children: *rows at `from` whose code is above `byte` go to `to`*. The left child keeps its parent's
//! byte, so that a node is one operation; at the end the byte identifies the leaf and selects its prediction from a table. Comparing 64 rows takes one instruction, so evaluating all 30 nodes of a tree costs less
//! than walking five of them: there are no dependent loads and no mispredicted branches.
//!
//! A set of categories is 256 bits, and moves the rows whose bit is not set. A test with one child per category is one operation per child; a row that matches none keeps the byte of the parent, which has the
//! parent's prediction.
//!
//! **Order.** Predictions are summed tree by tree for every row in double precision, bit-identical to the plain walk.
//!
//! **Cost.** Three instructions per node and 64 rows, and five per 8 rows of a tree's predictions. **Reference.** Evaluating all nodes is the idea of QuickScorer (Lucchese and others, 2015) and RapidScorer (Ye and
//! others, 2018), which keep one bit per leaf instead of one byte per row.

use super::codes::{BLOCK, CodeKind, FeatureCodes, MISSING, MOST_CATEGORIES};
use crate::tree::forest::{Forest, ForestNode, kind};
use ermine_core::versions;
use std::ops::Range;

/// Maximum number of leaves of a byte.
const MOST_LEAVES: usize = 256;

/// An operation that compares has no set.
const NO_SET: u32 = u32::MAX;

/// Moves rows from a node to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodeOp {
    /// The column of codes.
    pub column: u32,
    /// The set, whose codes stay; [`NO_SET`]: codes up to `byte` stay.
    set: u32,
    /// Rows with a code above move.
    pub byte: u8,
    /// The byte of the current node.
    pub from: u8,
    /// The byte of the next node.
    pub to: u8,
}

impl NodeOp {
    /// Whether it compares.
    pub fn compares(&self) -> bool {
        self.set == NO_SET
    }
}

/// A tree.
#[derive(Debug, Clone)]
pub(super) struct TreeProgram {
    pub ops: Range<u32>,
    /// Its table of predictions: `size` per output, indexed by byte.
    pub values: u32,
    /// A power of two, at least 8.
    pub size: u16,
    /// Start of the list of nodes by byte.
    ends: u32,
}

/// All trees of some forests.
#[derive(Debug, Clone)]
pub(crate) struct SlicedTrees {
    pub(super) codes: FeatureCodes,
    pub(super) ops: Vec<NodeOp>,
    sets: Vec<[u64; 4]>,
    pub(super) programs: Vec<TreeProgram>,
    pub(super) values: Vec<f64>,
    ends: Vec<u32>,
    pub(super) width: usize,
}

/// Scratch memory of a thread.
pub(crate) struct SlicedScratch {
    codes: Vec<u8>,
    values: [f64; BLOCK],
    /// The byte of each row.
    bytes: [u8; BLOCK],
    /// The sums of a block, output by output.
    sums: Vec<f64>,
}

impl SlicedTrees {
    /// Compiles forests of the same width over the same columns; `None` if a tree has too many leaves, or a column too many categories or thresholds.
    pub fn new(forests: &[&Forest], n_features: usize) -> Option<SlicedTrees> {
        let codes = codes_of(forests, n_features)?;
        let width = forests.first()?.width;
        let mut sliced = SlicedTrees {
            codes,
            ops: Vec::new(),
            sets: Vec::new(),
            programs: Vec::new(),
            values: Vec::new(),
            ends: Vec::new(),
            width,
        };
        for forest in forests {
            (0..forest.n_trees()).try_for_each(|tree| sliced.push(forest, tree))?;
        }
        Some(sliced)
    }

    /// Scratch memory for all outputs.
    pub fn scratch(&self, n_outputs: usize) -> SlicedScratch {
        let codes = vec![0; self.codes.len() * BLOCK];
        SlicedScratch { codes, values: [0.0; BLOCK], bytes: [0; BLOCK], sums: vec![0.0; n_outputs * BLOCK] }
    }

    fn push(&mut self, forest: &Forest, tree: usize) -> Option<()> {
        let nodes = forest.nodes_of(tree);
        let base = nodes.start;
        let first_op = self.ops.len() as u32;
        // The byte of each node, and node and prediction of each byte.
        let mut byte = vec![0u8; nodes.len()];
        let (mut ends, mut value_rows) = (vec![base as u32], vec![0u32]);
        for number in nodes {
            let node = &forest.nodes[number];
            let here = byte[number - base];
            let first = node.child as usize;
            ends[here as usize] = number as u32;
            if node.kind() == kind::LEAF {
                value_rows[here as usize] = node.child;
                continue;
            }
            let moves = self.moves(forest, node)?;
            if matches!(node.kind(), kind::EACH | kind::EACH_AND_MISSING) {
                // Rows that match no child stay.
                value_rows[here as usize] = (node.word >> 32) as u32;
                byte[first - base..][..moves.len()].iter_mut().zip(ends.len()..).for_each(|(b, new)| *b = new as u8);
            } else {
                byte[first - base] = here;
                byte[first + 1 - base] = ends.len() as u8;
            }
            for (column, set, above) in moves {
                if ends.len() == MOST_LEAVES {
                    return None;
                }
                self.ops.push(NodeOp { column, set, byte: above, from: here, to: ends.len() as u8 });
                ends.push(0);
                value_rows.push(0);
            }
        }
        let size = value_rows.len().next_power_of_two().max(8);
        self.programs.push(TreeProgram {
            ops: first_op..self.ops.len() as u32,
            values: self.values.len() as u32,
            size: size as u16,
            ends: self.ends.len() as u32,
        });
        for output in 0..forest.width {
            let value = |&row: &u32| forest.values[row as usize * forest.width + output];
            self.values.extend(value_rows.iter().map(value));
            self.values.resize(self.values.len() + size - value_rows.len(), 0.0);
        }
        self.ends.extend(ends);
        Some(())
    }

    /// The operations of a node: columns of codes, sets and bytes.
    fn moves(&mut self, forest: &Forest, node: &ForestNode) -> Option<Vec<(u32, u32, u8)>> {
        let feature = node.feature() as u32;
        let kind = node.kind();
        if matches!(kind, kind::AT_MOST_ELSE_LEFT | kind::AT_MOST_ELSE_RIGHT) {
            let missing_left = kind == kind::AT_MOST_ELSE_LEFT;
            let (column, byte) = self.codes.threshold(feature, node.threshold(), missing_left)?;
            return Some(vec![(column, NO_SET, byte)]);
        }
        let column = self.codes.column(feature, CodeKind::Categories)?;
        let stay = match kind {
            kind::IN_SET_ELSE_LEFT | kind::IN_SET_ELSE_RIGHT => {
                let mut words = [0; 4];
                let set = forest.sets[node.word as usize].words();
                set.iter()
                    .enumerate()
                    .filter(|(_, w)| **w != 0)
                    .try_for_each(|(i, &w)| words.get_mut(i).map(|word| *word = w))?;
                if words[3] >> (MOST_CATEGORIES % 64) != 0 {
                    return None;
                }
                words[3] |= u64::from(kind == kind::IN_SET_ELSE_LEFT) << (MISSING % 64);
                vec![words]
            }
            _ => {
                let n_levels = node.word as u32 as usize;
                let missing = (kind == kind::EACH_AND_MISSING).then_some(MISSING as usize);
                if n_levels > MOST_CATEGORIES {
                    return None;
                }
                let all_but = |code: usize| {
                    let mut words = [u64::MAX; 4];
                    words[code / 64] &= !(1 << (code % 64));
                    words
                };
                (0..n_levels).chain(missing).map(all_but).collect()
            }
        };
        let first = self.sets.len() as u32;
        self.sets.extend(&stay);
        Some((first..first + stay.len() as u32).map(|set| (column, set, 0)).collect())
    }

    /// Codes a block of rows, at most [`BLOCK`].
    pub fn code(&self, features: &ermine_core::matrix::Features, first: usize, n: usize, scratch: &mut SlicedScratch) {
        self.codes.block(features, first, n, &mut scratch.values, &mut scratch.codes);
        scratch.sums.fill(0.0);
    }

    /// Adds the predictions of some programs for the rows of the block to the outputs starting at `output`.
    pub fn add(&self, programs: Range<usize>, n: usize, output: usize, scratch: &mut SlicedScratch) {
        #[cfg(target_arch = "x86_64")]
        if super::lanes::is_here() {
            let from = output * BLOCK;
            let sums = &mut scratch.sums[from..from + self.width * BLOCK];
            return super::lanes::add(self, programs, n.div_ceil(64), &scratch.codes, sums);
        }
        self.add_plain(programs, n, output, scratch);
    }

    /// The same without AVX-512.
    pub(super) fn add_plain(&self, programs: Range<usize>, n: usize, output: usize, scratch: &mut SlicedScratch) {
        for program in &self.programs[programs] {
            self.bytes_of(program, n, &scratch.codes, &mut scratch.bytes);
            let size = program.size as usize;
            for k in 0..self.width {
                let table = &self.values[program.values as usize + k * size..][..size];
                let sums = &mut scratch.sums[(output + k) * BLOCK..][..n];
                sums.iter_mut().zip(&scratch.bytes).for_each(|(sum, &byte)| *sum += table[byte as usize % size]);
            }
        }
    }

    /// The sums of a row of the block.
    pub fn sums(&self, row: usize, out: &mut [f64], scratch: &SlicedScratch) {
        out.iter_mut().enumerate().for_each(|(k, out)| *out = scratch.sums[k * BLOCK + row]);
    }

    /// The node that each row of the block reaches in the tree of a program.
    pub fn nodes(&self, program: usize, n: usize, scratch: &mut SlicedScratch, mut each: impl FnMut(usize, u32)) {
        let program = &self.programs[program];
        self.bytes_of(program, n, &scratch.codes, &mut scratch.bytes);
        let ends = &self.ends[program.ends as usize..];
        scratch.bytes[..n].iter().enumerate().for_each(|(row, &byte)| each(row, ends[byte as usize]));
    }

    /// The byte of each row, rounded up to 64 rows.
    fn bytes_of(&self, program: &TreeProgram, n: usize, codes: &[u8], bytes: &mut [u8; BLOCK]) {
        let n = n.next_multiple_of(64);
        bytes[..n].fill(0);
        for op in self.ops_of(program) {
            let codes = &codes[op.column as usize * BLOCK..][..n];
            match self.set(op) {
                Some(set) => {
                    for (byte, &code) in bytes.iter_mut().zip(codes) {
                        let stays = set[code as usize / 64] >> (code % 64) & 1 == 1;
                        *byte = if *byte == op.from && !stays { op.to } else { *byte };
                    }
                }
                None => compare(codes, op.byte, op.from, op.to, &mut bytes[..n]),
            }
        }
    }

    /// The operations of a tree.
    #[inline(always)]
    pub(super) fn ops_of(&self, program: &TreeProgram) -> &[NodeOp] {
        &self.ops[program.ops.start as usize..program.ops.end as usize]
    }

    /// The set of an operation that doesn't compare.
    #[inline(always)]
    pub(super) fn set(&self, op: &NodeOp) -> Option<&[u64; 4]> {
        self.sets.get(op.set as usize)
    }
}

versions! {
    /// Moves the rows at `from` whose code is above `above` to `to`.
    fn compare(codes: &[u8], above: u8, from: u8, to: u8, bytes: &mut [u8]) {
        for (byte, &code) in bytes.iter_mut().zip(codes) {
            *byte = if (*byte == from) & (code > above) { to } else { *byte };
        }
    }
}

/// The columns of codes of all tests; `None` if a column has too many thresholds.
fn codes_of(forests: &[&Forest], n_features: usize) -> Option<FeatureCodes> {
    let mut thresholds = vec![Vec::new(); n_features];
    let mut categories = vec![false; n_features];
    let inner = || forests.iter().flat_map(|forest| forest.nodes.iter()).filter(|node| node.kind() != kind::LEAF);
    for node in inner() {
        match node.kind() {
            kind::AT_MOST_ELSE_LEFT | kind::AT_MOST_ELSE_RIGHT => {
                thresholds.get_mut(node.feature())?.push(node.threshold())
            }
            _ => *categories.get_mut(node.feature())? = true,
        }
    }
    // The side of missing values of each threshold, resolved once the ranks are known.
    let mut sides: Vec<Vec<(f64, bool)>> = vec![Vec::new(); n_features];
    for node in inner().filter(|node| node.kind() <= kind::AT_MOST_ELSE_LEFT) {
        sides[node.feature()].push((node.threshold(), node.kind() == kind::AT_MOST_ELSE_LEFT));
    }
    FeatureCodes::new(thresholds, |feature, ranks| {
        let asked = sides[feature as usize].iter().map(|&(t, left)| super::codes::place(ranks.rank(t), left).0);
        asked.chain(categories[feature as usize].then_some(CodeKind::Categories)).collect()
    })
}
