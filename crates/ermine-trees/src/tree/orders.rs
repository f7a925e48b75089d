//! The rows of every node, sorted by every column, while a tree grows.
//!
//! **Idea.** Every column is sorted once. The rows of a node are a range of the order, the same range for all columns. When the node is split, each column's range is partitioned stably into left and right rows,
//! so that both parts remain sorted. An entry carries flags next to its row: tied with the previous value, missing, second class.
//!
//! **Ties.** An entry is tied only if no new value started since the previous entry of its own side.
//!
//! **Cost.** O(n) per column and level, about a nanosecond per entry. **Reference.** Mehta, Agrawal and Rissanen, SLIQ (1996); Shafer, Agrawal and Mehta, SPRINT (1996).

use crate::split::node::{ABSENT, ROW, SortedSegment, TIE};
use ermine_core::error::{Error, Result};
use ermine_core::matrix::{Features, Sorted};
#[cfg(target_arch = "x86_64")]
use ermine_core::simd::InstructionSet;
use ermine_core::table::ColumnKind;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// The sorted rows of one column.
#[derive(Debug, Clone)]
pub struct OrderedColumn {
    entries: Vec<u32>,
    /// The column is nominal: rows of one category are adjacent.
    pub nominal: bool,
    has_ties: bool,
    has_missing: bool,
}

/// The sorted rows of all columns.
#[derive(Debug, Clone)]
pub struct ColumnOrders {
    /// One per column.
    pub columns: Vec<OrderedColumn>,
}

/// A set of rows.
#[derive(Debug, Clone)]
pub struct RowSet {
    words: Vec<u64>,
}

/// The partition of a node's rows. Left rows come first afterwards. The rows of the smaller side are in a [`RowSet`].
#[derive(Debug, Clone)]
pub(super) struct NodePartition {
    /// The range of the node.
    pub range: Range<usize>,
    /// The number of left rows.
    pub n_left: usize,
    /// Whether the set holds the left rows instead of the right ones.
    pub left_is_set: bool,
}

impl NodePartition {
    /// The range of the rows of the set after the partition.
    fn set_range(&self) -> Range<usize> {
        let middle = self.range.start + self.n_left;
        if self.left_is_set { self.range.start..middle } else { middle..self.range.end }
    }
}

impl RowSet {
    /// An empty set with capacity for rows below `n`.
    pub fn new(n: usize) -> RowSet {
        RowSet { words: vec![0; n.div_ceil(64)] }
    }

    /// Inserts rows.
    pub fn insert(&mut self, rows: impl Iterator<Item = u32>) {
        rows.for_each(|row| self.words[row as usize / 64] |= 1 << (row % 64));
    }

    /// Clears these rows' words, including other rows in the same words: for emptying the whole set.
    pub fn clear(&mut self, rows: impl Iterator<Item = u32>) {
        rows.for_each(|row| self.words[row as usize / 64] = 0);
    }

    /// 1 if a row is in the set, else 0.
    #[inline]
    pub fn get(&self, row: u32) -> u32 {
        (self.words[row as usize / 64] >> (row % 64)) as u32 & 1
    }
}

impl ColumnOrders {
    /// The orders of all rows; `marks` are the flags of each row's entries.
    pub fn new(features: &Features, sorted: Arc<Sorted>, marks: &[u32]) -> Result<ColumnOrders> {
        if features.n_rows() > ROW as usize {
            return Err(Error::data(format!("a tree can be grown on at most {ROW} rows, not {}", features.n_rows())));
        }
        let marked = marks.iter().any(|mark| *mark != 0);
        // Reuse the sorted orders without a copy if nothing else holds them.
        let sorted = Arc::unwrap_or_clone(sorted);
        let columns = sorted.columns.into_par_iter().zip(features.columns()).map(|(column, values)| {
            let (mut entries, n_missing) = column.into_entries();
            if marked {
                entries.iter_mut().for_each(|entry| *entry |= marks[(*entry & ROW) as usize]);
            }
            let n_present = entries.len() - n_missing;
            entries[n_present..].iter_mut().for_each(|entry| *entry |= ABSENT);
            OrderedColumn {
                nominal: values.kind == ColumnKind::Nominal,
                has_ties: entries[..n_present].iter().any(|e| e & TIE != 0),
                has_missing: n_missing > 0,
                entries,
            }
        });
        Ok(ColumnOrders { columns: columns.collect() })
    }

    /// Empties the set after a node has been partitioned in all columns.
    pub(super) fn unset(&self, parting: &NodePartition, set: &mut RowSet) {
        set.clear(self.columns[0].entries(&parting.set_range()).iter().map(|entry| entry & ROW));
    }

    /// The orders of the rows of one node, renumbered by `new_row`.
    pub(super) fn take(&self, range: &Range<usize>, new_row: &[u32]) -> ColumnOrders {
        let renumber = |&entry: &u32| entry & !ROW | new_row[(entry & ROW) as usize];
        let take = |column: &OrderedColumn| {
            let entries: Vec<u32> = column.entries[range.clone()].iter().map(renumber).collect();
            // A node has fewer ties than all rows, and often none.
            let has_ties = column.has_ties && entries.iter().any(|e| e & TIE != 0);
            OrderedColumn { entries, has_ties, ..*column }
        };
        ColumnOrders { columns: self.columns.iter().map(take).collect() }
    }
}

impl OrderedColumn {
    /// Whether any row has a missing value.
    pub fn has_missing(&self) -> bool {
        self.has_missing
    }

    /// All entries of a node.
    pub fn entries(&self, range: &Range<usize>) -> &[u32] {
        &self.entries[range.clone()]
    }

    /// The entries of a node, with missing values separate.
    pub fn segment(&self, range: &Range<usize>) -> SortedSegment<'_> {
        let entries = self.entries(range);
        let n_present = if self.has_missing { entries.partition_point(|e| e & ABSENT == 0) } else { entries.len() };
        let (present, missing) = entries.split_at(n_present);
        SortedSegment { present, missing }
    }

    /// Partitions the entries of a node stably: left rows first.
    pub(super) fn partition(&mut self, parting: &NodePartition, set: &RowSet, buffer: &mut Vec<u32>) {
        assert!(set.words.len() * 64 >= self.entries.len(), "rows are below the number of entries");
        let entries = &mut self.entries[parting.range.clone()];
        if buffer.len() < entries.len() + 16 {
            buffer.resize(entries.len() + 16, 0);
        }
        let n_left = if self.has_ties {
            partition::<true>(entries, (set, parting.left_is_set), buffer)
        } else {
            partition::<false>(entries, (set, parting.left_is_set), buffer)
        };
        let n_right = entries.len() - n_left;
        entries[n_left..].copy_from_slice(&buffer[..n_right]);
    }
}

/// Moves left entries to the front and copies right ones to `right`, which has room for 16 more. Returns the number of left entries. `side` is a set of rows and whether it holds the left rows.
fn partition<const TIES: bool>(entries: &mut [u32], side: (&RowSet, bool), right: &mut [u32]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if ermine_core::simd::has(InstructionSet::Avx512)
        && right.len() >= entries.len() + 16
        && entries.len() >= 16
        && !side.0.words.is_empty()
    {
        // SAFETY: the processor has the features, as just detected; the set has words, and there is room on the right.
        return unsafe { partition_avx512::<TIES>(entries, side, right) };
    }
    partition_from::<TIES>(entries, side, right, START).n_left
}

/// The progress of a partition: entries moved so far, and whether a new value started since the last entry of each side.
#[derive(Debug, Clone, Copy)]
struct PartitionProgress {
    n_seen: usize,
    n_left: usize,
    new_left: bool,
    new_right: bool,
}

/// The first entry of a side is never tied.
const START: PartitionProgress = PartitionProgress { n_seen: 0, n_left: 0, new_left: true, new_right: true };

/// One entry at a time. A tie holds only if no new value started since the last entry of the same side.
fn partition_from<const TIES: bool>(
    entries: &mut [u32],
    (set, left_is_set): (&RowSet, bool),
    right: &mut [u32],
    from: PartitionProgress,
) -> PartitionProgress {
    let PartitionProgress { n_seen, mut n_left, .. } = from;
    let mut n_right = n_seen - n_left;
    let (mut left_tied, mut right_tied) = (u32::from(!from.new_left) * u32::MAX, u32::from(!from.new_right) * u32::MAX);
    for i in n_seen..entries.len() {
        let entry = entries[i];
        let left = set.get(entry & ROW) ^ u32::from(!left_is_set);
        // Write both destinations and keep one: no branch to mispredict.
        if TIES {
            left_tied &= entry;
            right_tied &= entry;
            entries[n_left] = entry & !TIE | left_tied & TIE;
            right[n_right] = entry & !TIE | right_tied & TIE;
            let left_mask = left.wrapping_neg();
            left_tied |= left_mask;
            right_tied |= !left_mask;
        } else {
            entries[n_left] = entry;
            right[n_right] = entry;
        }
        n_left += left as usize;
        n_right += 1 - left as usize;
    }
    PartitionProgress {
        n_seen: entries.len(),
        n_left,
        new_left: left_tied & TIE == 0,
        new_right: right_tied & TIE == 0,
    }
}

/// Sixteen entries at a time: gathers their bits from the set and compresses each side in a register.
///
/// **Ties** are bits of a word: `starts` are the entries with a new value. A start at an entry of the other side is handed up to the side's next entry by the carry of an addition: the other side's
/// entries are runs of ones, and adding a one anywhere in a run sets the bit after it.
///
/// # Safety
/// The processor has AVX-512F; the set is not empty of words; `right` has at least 16 places more than there are entries.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,popcnt")]
unsafe fn partition_avx512<const TIES: bool>(entries: &mut [u32], side: (&RowSet, bool), right: &mut [u32]) -> usize {
    use std::arch::x86_64::*;
    let (set, flip) = (side.0, if side.1 { 0 } else { u16::MAX });
    let mut at = START;
    let (row, tie) = (_mm512_set1_epi32(ROW as i32), _mm512_set1_epi32(TIE as i32));
    // The last 32 bits of the set. Rows behind them, which no entry should have, are looked up there instead of outside.
    let last = _mm512_set1_epi32((2 * set.words.len() - 1).min(i32::MAX as usize) as i32);
    let untied = |sixteen: __m512i, starts: u16| {
        let tied = _mm512_or_si512(sixteen, tie);
        _mm512_mask_andnot_epi32(tied, starts, tie, tied)
    };
    while at.n_seen + 16 <= entries.len() {
        // SAFETY: sixteen entries from n_seen on are there; the gathered 32-bit words lie in the set, each of whose 64-bit words is two of them.
        let (sixteen, words) = unsafe {
            let sixteen = _mm512_loadu_si512(entries.as_ptr().add(at.n_seen).cast());
            let word = _mm512_min_epu32(_mm512_srli_epi32::<5>(_mm512_and_si512(sixteen, row)), last);
            (sixteen, _mm512_i32gather_epi32::<4>(word, set.words.as_ptr().cast()))
        };
        // Shifts take the lowest five bits of the row.
        let bit = _mm512_and_si512(sixteen, _mm512_set1_epi32(31));
        let left = _mm512_test_epi32_mask(words, _mm512_sllv_epi32(_mm512_set1_epi32(1), bit)) ^ flip;
        let n_right = at.n_seen - at.n_left;
        let (mut to_left, mut to_right) = (sixteen, sixteen);
        if TIES {
            let starts = u32::from(!_mm512_test_epi32_mask(sixteen, tie));
            let (l, r) = (u32::from(left), u32::from(!left));
            let handed_left = r + (starts & r) + u32::from(at.new_left);
            let handed_right = l + (starts & l) + u32::from(at.new_right);
            to_left = untied(sixteen, (starts | handed_left) as u16);
            to_right = untied(sixteen, (starts | handed_right) as u16);
            at.new_left = handed_left >> 16 != 0;
            at.new_right = handed_right >> 16 != 0;
        }
        let to_left = _mm512_mask_compress_epi32(to_left, left, to_left);
        let to_right = _mm512_mask_compress_epi32(to_right, !left, to_right);
        // SAFETY: on the left, n_left + 16 is at most n_seen + 16, and what stood there has been read; on the right there is room for 16 more.
        unsafe {
            _mm512_storeu_si512(entries.as_mut_ptr().add(at.n_left).cast(), to_left);
            _mm512_storeu_si512(right.as_mut_ptr().add(n_right).cast(), to_right);
        }
        at.n_left += left.count_ones() as usize;
        at.n_seen += 16;
    }
    partition_from::<TIES>(entries, side, right, at).n_left
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn partition_keeps_order_and_ties(
            values in prop::collection::vec(0u8..6, 1..199), left in prop::collection::vec(any::<bool>(), 200),
        ) {
            let mut order: Vec<u32> = (0..values.len() as u32).collect();
            order.sort_by_key(|&row| (values[row as usize], row));
            let tie = |rows: &[u32]| -> Vec<u32> {
                let tied = |i: usize| i > 0 && values[rows[i] as usize] == values[rows[i - 1] as usize];
                (0..rows.len()).map(|i| if tied(i) { rows[i] | TIE } else { rows[i] }).collect()
            };
            let left_is_set = left[199];
            let mut set = RowSet::new(values.len());
            set.insert((0..values.len() as u32).filter(|&row| left[row as usize] == left_is_set));
            let n_left = (0..values.len()).filter(|&row| left[row]).count();
            let parting = NodePartition { range: 0..values.len(), n_left, left_is_set };
            let (a, b): (Vec<u32>, Vec<u32>) = order.iter().partition(|&&row| left[row as usize]);
            let expected = [tie(&a), tie(&b)].concat();
            let entries = tie(&order);
            let mut column = OrderedColumn { entries, nominal: false, has_ties: true, has_missing: false };
            column.partition(&parting, &set, &mut Vec::new());
            prop_assert_eq!(&column.entries, &expected);
            let plain = |entries: Vec<u32>| entries.iter().map(|e| e & ROW).collect::<Vec<u32>>();
            let mut column = OrderedColumn { entries: order.clone(), nominal: false, has_ties: false, has_missing: false };
            column.partition(&parting, &set, &mut Vec::new());
            prop_assert_eq!(column.entries, plain(expected.clone()));
            let (mut entries, mut right) = (tie(&order), vec![0; values.len()]);
            let n_left = partition_from::<true>(&mut entries, (&set, left_is_set), &mut right, START).n_left;
            entries[n_left..].copy_from_slice(&right[..values.len() - n_left]);
            prop_assert_eq!(entries, expected, "the scalar twin");
        }
    }

    /// Rows that the set doesn't have are an error or are looked up within it, never outside.
    #[test]
    fn rows_outside_the_set_are_never_read() {
        let entries: Vec<u32> = (0..40).map(|i| if i == 17 { ROW } else { i }).collect();
        let mut column = OrderedColumn { entries, nominal: false, has_ties: false, has_missing: false };
        let parting = NodePartition { range: 0..40, n_left: 20, left_is_set: true };
        let mut set = RowSet::new(40);
        set.insert(0..20);
        let part = || column.partition(&parting, &set, &mut Vec::new());
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(part));
        #[cfg(target_arch = "x86_64")]
        assert_eq!(done.is_ok(), ermine_core::simd::has(InstructionSet::Avx512));
        #[cfg(not(target_arch = "x86_64"))]
        assert!(done.is_err());
    }

    #[test]
    #[should_panic(expected = "rows are below the number of entries")]
    fn a_set_of_fewer_rows_than_entries_panics() {
        let entries = (0..200).collect();
        let mut column = OrderedColumn { entries, nominal: false, has_ties: false, has_missing: false };
        let parting = NodePartition { range: 0..200, n_left: 20, left_is_set: true };
        column.partition(&parting, &RowSet::new(64), &mut Vec::new());
    }
}
