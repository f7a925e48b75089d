//! What belongs to the rows of one thread: scores, gradients, and the rows of each node of the growing tree.
//!
//! A thread owns a stretch of rows for the whole training run. It alone computes their gradients, sends them to the children of a node and changes their scores, so
//! that none of this needs a lock or moves cache lines between cores.

use super::grown::Grown;
use crate::split::histogram::scan::BinTest;
use crate::split::histogram::store::{BLOCK, Bytes, Code, Store, StoreCodes};
use std::ops::Range;

/// The rows of one thread and what belongs to them.
pub struct Shard {
    /// Which rows.
    pub rows: Range<usize>,
    /// The score of each row, one list for each output.
    pub scores: Vec<Vec<f64>>,
    /// The gradient of each row, one list for each output.
    pub gradient: Vec<Vec<f32>>,
    /// The curvature of each row, one list for each output.
    pub curvature: Vec<Vec<f32>>,
    /// Gradient and curvature as whole numbers, one or two for each row.
    pub words: Vec<i64>,
    /// The rows that the tree is grown on, node after node.
    index: Vec<u32>,
    spare: Vec<u32>,
    /// Where the rows of each node lie in `index`.
    segments: Vec<Range<usize>>,
}

impl Shard {
    /// A shard of these rows with the given scores.
    pub fn new(rows: Range<usize>, scores: Vec<Vec<f64>>) -> Shard {
        let (n, k) = (rows.len(), scores.len());
        Shard {
            rows,
            scores,
            gradient: vec![vec![0.0; n]; k],
            curvature: vec![vec![0.0; n]; k],
            words: Vec::new(),
            index: Vec::with_capacity(n),
            spare: vec![0; n],
            segments: Vec::new(),
        }
    }

    /// Begins a tree on the rows that `keep` says.
    pub fn begin(&mut self, keep: Option<&[bool]>) {
        let rows = self.rows.start as u32..self.rows.end as u32;
        self.index.clear();
        match keep {
            None => self.index.extend(rows),
            Some(keep) => self.index.extend(rows.zip(keep).filter(|(_, keep)| **keep).map(|(row, _)| row)),
        }
        self.segments.clear();
        self.segments.push(0..self.index.len());
    }

    /// The rows of a node, ascending.
    pub fn node(&self, node: usize) -> &[u32] {
        &self.index[self.segments[node].clone()]
    }

    /// Sends the rows of a node to its two children, which come next in number. Gives back how many went left and right.
    pub fn split(&mut self, store: &Store, node: usize, column: usize, test: &BinTest) -> (usize, usize) {
        let n_slots = store.n_slots[column] as usize;
        let left: Vec<u8> = (0..n_slots).map(|slot| u8::from(test.is_left(slot, n_slots))).collect();
        let segment = self.segments[node].clone();
        let (rows, spare) = (&mut self.index[segment.clone()], &mut self.spare[..segment.len()]);
        let n_left = match &store.codes {
            StoreCodes::U8(bytes) => partition(bytes, column, store.n_columns(), &left, rows, spare),
            StoreCodes::U16(bytes) => partition(bytes, column, store.n_columns(), &left, rows, spare),
        };
        let middle = segment.start + n_left;
        self.segments.push(segment.start..middle);
        self.segments.push(middle..segment.end);
        (n_left, segment.end - middle)
    }

    /// Adds the leaves of a tree that was grown on these rows to the scores of an output. `keep`: the rows that it was grown on.
    pub fn add(&mut self, store: &Store, tree: &Grown, output: usize, keep: Option<&[bool]>) {
        let (scores, first) = (&mut self.scores[output], self.rows.start);
        for node in tree.leaves() {
            let value = tree.value[node];
            self.index[self.segments[node].clone()].iter().for_each(|&row| scores[row as usize - first] += value);
        }
        let Some(keep) = keep else { return };
        for (i, _) in keep.iter().enumerate().filter(|(_, keep)| !**keep) {
            scores[i] += tree.value[tree.walk(store, first + i)];
        }
    }
}

/// Sends rows to the left (front) or to the right, keeping their order. Gives back how many are on the left.
fn partition<C: Code>(
    bytes: &Bytes<C>,
    column: usize,
    n_columns: usize,
    left: &[u8],
    rows: &mut [u32],
    spare: &mut [u32],
) -> usize {
    match bytes.blocks() {
        Some(blocks) => {
            let (start, skip) = (column * BLOCK, (n_columns - 1) * BLOCK);
            let code = |row: u32| blocks[row as usize + row as usize / BLOCK * skip + start];
            partition_by(|row| left[code(row).index()], rows, spare)
        }
        None => {
            let (codes, stride) = (bytes.rows(), bytes.stride());
            partition_by(|row| left[codes[row as usize * stride + column].index()], rows, spare)
        }
    }
}

#[inline(always)]
fn partition_by(is_left: impl Fn(u32) -> u8, rows: &mut [u32], spare: &mut [u32]) -> usize {
    let (mut n_left, mut n_right) = (0, 0);
    for i in 0..rows.len() {
        let row = rows[i];
        let go = is_left(row) as usize;
        // Written to both sides, counted on one: no branch to mispredict. `n_left <= i`, so nothing unread is overwritten.
        rows[n_left] = row;
        spare[n_right] = row;
        n_left += go;
        n_right += 1 - go;
    }
    rows[n_left..].copy_from_slice(&spare[..n_right]);
    n_left
}
