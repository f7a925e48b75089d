//! Bins of mostly zeros: only the rows in other bins are stored.
//!
//! **Idea.** In a table of text or one-hot data nearly all values of a column are zero. The lines of a tree then hold no bins, only weight, target and row; a column lists the rows that are not in the bin
//! of zero, and a row lists its columns. The cell of the bin of zero is what the other bins leave of the node. A large node looks up the rows of each drawn column; a small one finds the columns of its rows
//! first, as all others are constant.
//!
//! **Cost.** The stored values of the drawn columns, or of the rows of a node, instead of rows times columns. Integer statistics give the trees of the full table, bit by bit.

use super::search::{BinSplitPosition, BinnedTreeBuilder};
use super::{BinnedRows, BinnedSplit};
use crate::split::bin_statistics::{BinStatistics, MAX_BINS, SampledRow, TAIL, bits};
use crate::split::row_masks::Bins64;
use ermine_core::matrix::Bins;
use ermine_core::matrix::binned::Cuts;
use ermine_core::matrix::ranked::SparseBinnedColumn;
use std::ops::Range;

/// A column with more stored rows than this many times the rows of a node is searched for each of them.
const SEARCH: usize = 8;

/// The stored bins by columns and by rows.
pub(super) struct SparseBins {
    columns: Vec<SparseBinnedColumn>,
    starts: Vec<usize>,
    entries: Vec<(u32, u8)>,
}

impl SparseBins {
    fn new(columns: Vec<SparseBinnedColumn>, n_rows: usize) -> SparseBins {
        let mut starts = vec![0usize; n_rows + 1];
        columns.iter().flat_map(|column| &column.rows).for_each(|&row| starts[row as usize + 1] += 1);
        (0..n_rows).for_each(|row| starts[row + 1] += starts[row]);
        let (mut next, mut entries) = (starts.clone(), vec![(0, 0); starts[n_rows]]);
        for (j, column) in columns.iter().enumerate() {
            for (&row, &bin) in column.rows.iter().zip(&column.codes) {
                entries[next[row as usize]] = (j as u32, bin);
                next[row as usize] += 1;
            }
        }
        SparseBins { columns, starts, entries }
    }

    /// The columns in which a row is not in the bin of zero, and its bins there.
    fn row(&self, row: u32) -> &[(u32, u8)] {
        &self.entries[self.starts[row as usize]..self.starts[row as usize + 1]]
    }
}

/// The lines of a node and the position of the first of them.
#[derive(Clone, Copy)]
pub(super) struct SparseNode<'n> {
    pub lines: &'n [u8],
    pub start: usize,
}

impl<'n> SparseNode<'n> {
    fn n_lines(self) -> usize {
        self.lines.len() / TAIL
    }

    fn line(self, position: usize) -> &'n [u8] {
        &self.lines[(position - self.start) * TAIL..][..TAIL]
    }

    fn rows(self) -> impl Iterator<Item = SampledRow> + 'n {
        self.lines.chunks_exact(TAIL).map(SampledRow::of_line)
    }
}

/// Which columns vary in a set of rows, without clearing anything between sets.
#[derive(Default)]
pub(super) struct VaryingColumns {
    stamps: Vec<u32>,
    stamp: u32,
}

impl VaryingColumns {
    /// Begins a new set.
    fn begin(&mut self, n_columns: usize) {
        self.stamp += 1;
        self.stamps.resize(n_columns, 0);
    }

    /// Adds a column; whether it is new in the set.
    fn insert(&mut self, column: u32) -> bool {
        std::mem::replace(&mut self.stamps[column as usize], self.stamp) != self.stamp
    }

    pub fn contains(&self, column: u32) -> bool {
        self.stamps[column as usize] == self.stamp
    }
}

impl<'a> BinnedRows<'a> {
    /// Rows of mostly zeros.
    pub fn of_sparse(bins: &'a Bins, columns: Vec<SparseBinnedColumn>, n_rows: usize) -> BinnedRows<'a> {
        let nominal = |cuts: &Cuts| matches!(cuts, Cuts::Categories(_));
        let kinds = columns
            .iter()
            .zip(&bins.columns)
            .map(|(column, cuts)| super::BinnedRowColumn { missing: column.n_bins as u8, nominal: nominal(cuts) });
        let kinds: Vec<super::BinnedRowColumn> = kinds.collect();
        let has_missing = |column: &SparseBinnedColumn| column.codes.contains(&(column.n_bins as u8));
        let plain = kinds.iter().all(|column| !column.nominal) && !columns.iter().any(has_missing);
        let sparse = Some(SparseBins::new(columns, n_rows));
        BinnedRows { bytes: Vec::new(), stride: TAIL, bins, columns: kinds, plain, sparse }
    }

    /// The position of each drawn row among the lines of a tree; nothing for full lines, which need none.
    pub(super) fn positions(&self, lines: &[u8], n_rows: usize) -> Vec<u32> {
        if self.sparse.is_none() {
            return Vec::new();
        }
        let mut positions = vec![u32::MAX; n_rows];
        let rows = SparseNode { lines, start: 0 }.rows();
        (0..).zip(rows).for_each(|(position, item)| positions[item.row as usize] = position);
        positions
    }
}

impl<S: BinStatistics> BinnedTreeBuilder<'_, S> {
    /// Calls `each(bin, position)` for the rows of a node that are not in a column's bin of zero.
    fn each_stored(&self, sparse: &SparseBins, column: usize, node: SparseNode<'_>, mut each: impl FnMut(u8, usize)) {
        let (stored, n_lines) = (&sparse.columns[column], node.n_lines());
        if stored.rows.len() > SEARCH * n_lines {
            for (i, item) in node.rows().enumerate() {
                if let Ok(at) = stored.rows.binary_search(&item.row) {
                    each(stored.codes[at], node.start + i);
                }
            }
            return;
        }
        for (&row, &bin) in stored.rows.iter().zip(&stored.codes) {
            let position = self.positions[row as usize] as usize;
            if (node.start..node.start + n_lines).contains(&position) {
                each(bin, position);
            }
        }
    }

    /// The best split of a node over the columns at positions `drawn` of the order.
    pub(super) fn search_sparse(
        &mut self,
        sparse: &SparseBins,
        node: SparseNode<'_>,
        drawn: Range<usize>,
        all: &[S::Number],
        own: f64,
        best: &mut Option<BinnedSplit<S::Number>>,
    ) {
        let n_stored: usize = node.rows().take(drawn.len()).map(|item| sparse.row(item.row).len()).sum();
        let is_small = node.n_lines() <= drawn.len() && n_stored < drawn.len();
        if is_small {
            self.varying.begin(sparse.columns.len());
            node.rows().flat_map(|item| sparse.row(item.row)).for_each(|entry| _ = self.varying.insert(entry.0));
        }
        self.dense = false;
        for i in drawn {
            let column = self.order[i];
            if is_small && !self.varying.contains(column) {
                continue;
            }
            if self.limits.random_splits && self.lines.plain {
                self.try_random_cut(sparse, node, column as usize, all, own, best);
            } else {
                self.add_up_sparse(sparse, node, column as usize, all);
                self.search(0, column as usize, all, own, best);
            }
        }
    }

    /// Accumulates the bins of one column.
    fn add_up_sparse(&mut self, sparse: &SparseBins, node: SparseNode<'_>, column: usize, all: &[S::Number]) {
        let (width, zero) = (self.statistics.width(), sparse.columns[column].zero as usize);
        let (mut cells, mut seen) = (std::mem::take(&mut self.cells), [0u64; 4]);
        let mut n_stored = 0;
        self.each_stored(sparse, column, node, |bin, position| {
            let at = bin as usize * width;
            self.statistics.add(&mut cells[at..at + width], SampledRow::of_line(node.line(position)));
            seen[bin as usize / 64] |= 1 << (bin % 64);
            n_stored += 1;
        });
        if n_stored < node.n_lines() {
            let rest = &mut self.scratch[0];
            rest.copy_from_slice(all);
            bits(&seen).for_each(|bin| self.statistics.remove(rest, &cells[bin as usize * width..][..width]));
            cells[zero * width..][..width].copy_from_slice(rest);
            seen[zero / 64] |= 1 << (zero % 64);
        }
        self.cells = cells;
        self.seen[0] = seen;
    }

    /// One random cut of a column that is not nominal and has no missing values.
    fn try_random_cut(
        &mut self,
        sparse: &SparseBins,
        node: SparseNode<'_>,
        column: usize,
        all: &[S::Number],
        own: f64,
        best: &mut Option<BinnedSplit<S::Number>>,
    ) {
        self.add_up_sparse(sparse, node, column, all);
        let seen = std::mem::take(&mut self.seen[0]);
        let mut cells = std::mem::take(&mut self.cells);
        let width = self.statistics.width();
        if let (Some(low), Some(high)) = (bits(&seen).next(), bits(&seen).last())
            && low < high
        {
            let cut = self.random_cut(column, low, high);
            self.scratch[0].fill(S::Number::default());
            for bin in bits(&seen).take_while(|&bin| bin <= cut) {
                self.statistics.merge(&mut self.scratch[0], &cells[bin as usize * width..][..width]);
            }
            let place = BinSplitPosition { feature: column, bin: cut, set: None, missing_left: false };
            self.consider(place, all, own, best);
        }
        bits(&seen).for_each(|bin| cells[bin as usize * width..][..width].fill(S::Number::default()));
        self.cells = cells;
    }

    /// Moves the lines of a node as `partition` does, and keeps their positions.
    pub(super) fn partition_sparse(
        &mut self,
        sparse: &SparseBins,
        node: SparseNode<'_>,
        to: &mut [u8],
        feature: usize,
        sides: &[bool; MAX_BINS],
    ) -> usize {
        let mut bins = vec![sparse.columns[feature].zero; node.n_lines()];
        self.each_stored(sparse, feature, node, |bin, position| bins[position - node.start] = bin);
        let (mut left, mut right) = (0, node.n_lines());
        for (line, bin) in node.lines.chunks_exact(TAIL).zip(bins) {
            let goes_left = sides[bin as usize];
            right -= usize::from(!goes_left);
            let at = if goes_left { left } else { right };
            to[at * TAIL..(at + 1) * TAIL].copy_from_slice(line);
            self.positions[SampledRow::of_line(line).row as usize] = (node.start + at) as u32;
            left += usize::from(goes_left);
        }
        left
    }

    /// Lays out the columns that vary among at most 64 rows.
    pub(super) fn transpose_sparse(&mut self, sparse: &SparseBins, lines: &[u8], columns: &mut [Bins64]) {
        self.varying.begin(sparse.columns.len());
        for (i, item) in (SparseNode { lines, start: 0 }).rows().enumerate() {
            for &(column, bin) in sparse.row(item.row) {
                let bins = &mut columns[column as usize];
                if self.varying.insert(column) {
                    bins.fill(sparse.columns[column as usize].zero);
                }
                bins[i] = bin;
            }
        }
    }

    /// The columns at positions `drawn` of the order that may vary in the current subtree.
    pub(super) fn drawn_columns(&self, drawn: Range<usize>) -> std::borrow::Cow<'_, [u32]> {
        let drawn = &self.order[drawn];
        match self.lines.sparse {
            None => drawn.into(),
            Some(_) => drawn.iter().copied().filter(|&column| self.varying.contains(column)).collect(),
        }
    }
}
