//! The rows of every node in the order of every column, kept while a tree grows.
//!
//! **Idea.** Every column is sorted once. The rows of a node are one range of the order, the same range for all columns; when the node is split, each
//! column's range is parted stably into the rows that go left and those that go right, so that both parts are in order again without
//! sorting. An entry carries marks beside its row: equal to the value before, without a value, of the second class.
//!
//! **Ties.** A row that leaves hands its place in a run of equal values to the next one that stays: the entry after it is tied only if no new value began
//! since the last entry of its own side.
//!
//! **Cost.** O(n) for each column and level of the tree, about a nanosecond an entry. **Reference.** Mehta, Agrawal and Rissanen, SLIQ (1996);
//! Shafer, Agrawal and Mehta, SPRINT (1996).

use crate::split::node::{ABSENT, ROW, Segment, TIE};
use ermine_core::error::{Error, Result};
use ermine_core::matrix::{Features, Sorted};
use ermine_core::table::ColumnKind;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// The order of one column.
#[derive(Debug, Clone)]
pub struct OrderedColumn {
    entries: Vec<u32>,
    /// The column has categories without an order: rows of one category stand side by side.
    pub nominal: bool,
    has_ties: bool,
    has_missing: bool,
}

/// The orders of all columns.
#[derive(Debug, Clone)]
pub struct Orders {
    /// One for each column.
    pub columns: Vec<OrderedColumn>,
}

/// A set of rows.
#[derive(Debug, Clone)]
pub struct RowSet {
    words: Vec<u64>,
}

/// How the rows of a node are parted: those that go left stand first afterwards. One side is in a [`RowSet`], the smaller one.
#[derive(Debug, Clone)]
pub(super) struct Parting {
    /// Where the node stands.
    pub range: Range<usize>,
    /// How many rows go left.
    pub n_left: usize,
    /// The left rows are in the set, not the right ones.
    pub left_is_set: bool,
}

impl Parting {
    /// Where the rows that are in the set stand afterwards.
    fn set_range(&self) -> Range<usize> {
        let middle = self.range.start + self.n_left;
        if self.left_is_set { self.range.start..middle } else { middle..self.range.end }
    }
}

impl RowSet {
    /// No rows, of `n` that may be put in.
    pub fn new(n: usize) -> RowSet {
        RowSet { words: vec![0; n.div_ceil(64)] }
    }

    /// Puts rows in.
    pub fn insert(&mut self, rows: impl Iterator<Item = u32>) {
        rows.for_each(|row| self.words[row as usize / 64] |= 1 << (row % 64));
    }

    /// Takes rows out, and with them any that share a word: for sets that are to be empty when all is done.
    pub fn clear(&mut self, rows: impl Iterator<Item = u32>) {
        rows.for_each(|row| self.words[row as usize / 64] = 0);
    }

    /// 1 if a row is in the set, else 0.
    #[inline]
    pub fn get(&self, row: u32) -> u32 {
        (self.words[row as usize / 64] >> (row % 64)) as u32 & 1
    }
}

impl Orders {
    /// The orders of all rows; `marks` are those that the entries of each row carry.
    pub fn new(features: &Features, sorted: Arc<Sorted>, marks: &[u32]) -> Result<Orders> {
        if features.n_rows() > ROW as usize {
            return Err(Error::data(format!("a tree can be grown on at most {ROW} rows, not {}", features.n_rows())));
        }
        let marked = marks.iter().any(|mark| *mark != 0);
        // What nobody else holds is taken as it is: no second copy of all orders.
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
        Ok(Orders { columns: columns.collect() })
    }

    /// Empties the set after a node has been parted in all columns.
    pub(super) fn unset(&self, parting: &Parting, set: &mut RowSet) {
        set.clear(self.columns[0].entries(&parting.set_range()).iter().map(|entry| entry & ROW));
    }

    /// The orders of the rows of one node; `new_row[row]` counts its rows from 0.
    pub(super) fn take(&self, range: &Range<usize>, new_row: &[u32]) -> Orders {
        let renumber = |&entry: &u32| entry & !ROW | new_row[(entry & ROW) as usize];
        let take = |column: &OrderedColumn| {
            let entries: Vec<u32> = column.entries[range.clone()].iter().map(renumber).collect();
            // A node has fewer ties than the whole, and often none.
            let has_ties = column.has_ties && entries.iter().any(|e| e & TIE != 0);
            OrderedColumn { entries, has_ties, ..*column }
        };
        Orders { columns: self.columns.iter().map(take).collect() }
    }
}

impl OrderedColumn {
    /// Whether any row of the whole lacks a value.
    pub fn has_missing(&self) -> bool {
        self.has_missing
    }

    /// All entries of a node.
    pub fn entries(&self, range: &Range<usize>) -> &[u32] {
        &self.entries[range.clone()]
    }

    /// The entries of a node, those without a value apart.
    pub fn segment(&self, range: &Range<usize>) -> Segment<'_> {
        let entries = self.entries(range);
        let n_present = if self.has_missing { entries.partition_point(|e| e & ABSENT == 0) } else { entries.len() };
        let (present, missing) = entries.split_at(n_present);
        Segment { present, missing }
    }

    /// Puts the entries of a node's left rows before those of its right rows, keeping the order within each side.
    pub(super) fn partition(&mut self, parting: &Parting, set: &RowSet, buffer: &mut Vec<u32>) {
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

/// Moves left entries to the front and copies right ones to `right`, which has room for 16 more. How many are left. `side` is a set of rows and whether it holds those that go left.
fn partition<const TIES: bool>(entries: &mut [u32], side: (&RowSet, bool), right: &mut [u32]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if ermine_core::detected!("avx512f", "popcnt")
        && right.len() >= entries.len() + 16
        && entries.len() >= 16
        && !side.0.words.is_empty()
    {
        // SAFETY: the processor has the features, as just detected; the set has words, and there is room on the right.
        return unsafe { partition_avx512::<TIES>(entries, side, right) };
    }
    partition_from::<TIES>(entries, side, right, START).n_left
}

/// How far a partition has come: what it moved so far, and whether each side has seen a new value begin since its last entry.
#[derive(Debug, Clone, Copy)]
struct Parted {
    n_seen: usize,
    n_left: usize,
    new_left: bool,
    new_right: bool,
}

/// The first entry of a side is equal to none before it.
const START: Parted = Parted { n_seen: 0, n_left: 0, new_left: true, new_right: true };

/// One entry after the other. A tie holds only if no new value began since the last entry of the same side.
fn partition_from<const TIES: bool>(
    entries: &mut [u32],
    (set, left_is_set): (&RowSet, bool),
    right: &mut [u32],
    from: Parted,
) -> Parted {
    let Parted { n_seen, mut n_left, .. } = from;
    let mut n_right = n_seen - n_left;
    let (mut left_tied, mut right_tied) = (u32::from(!from.new_left) * u32::MAX, u32::from(!from.new_right) * u32::MAX);
    for i in n_seen..entries.len() {
        let entry = entries[i];
        let left = set.get(entry & ROW) ^ u32::from(!left_is_set);
        // Both places are written, and one of them is kept: no branch that could be guessed wrong.
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
    Parted { n_seen: entries.len(), n_left, new_left: left_tied & TIE == 0, new_right: right_tied & TIE == 0 }
}

/// Sixteen entries at a time: their bits are gathered from the set, and each side's entries compressed in a register.
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
        // SAFETY: sixteen entries from n_seen on are there; what is gathered are words of 32 bits up to the last, and the set's words of 64 bits are two of them each.
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
        fn parting_keeps_order_and_ties(
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
            let parting = Parting { range: 0..values.len(), n_left, left_is_set };
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
    fn rows_outside_the_set_are_never_looked_up() {
        let entries: Vec<u32> = (0..40).map(|i| if i == 17 { ROW } else { i }).collect();
        let mut column = OrderedColumn { entries, nominal: false, has_ties: false, has_missing: false };
        let parting = Parting { range: 0..40, n_left: 20, left_is_set: true };
        let mut set = RowSet::new(40);
        set.insert(0..20);
        let part = || column.partition(&parting, &set, &mut Vec::new());
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(part));
        #[cfg(target_arch = "x86_64")]
        assert_eq!(done.is_ok(), ermine_core::detected!("avx512f", "popcnt"));
        #[cfg(not(target_arch = "x86_64"))]
        assert!(done.is_err());
    }

    #[test]
    #[should_panic(expected = "rows are below the number of entries")]
    fn a_set_of_fewer_rows_than_entries_is_refused() {
        let entries = (0..200).collect();
        let mut column = OrderedColumn { entries, nominal: false, has_ties: false, has_missing: false };
        let parting = Parting { range: 0..200, n_left: 20, left_is_set: true };
        column.partition(&parting, &RowSet::new(64), &mut Vec::new());
    }
}
