//! Statistics of histogram bins, from which forests choose their splits.
//!
//! **Idea.** The cell of a bin accumulates weight and target. All criteria are maximized in one form: for a set of rows with weight W and target sums S_k, score = sum_k S_k^2 / W. For regression this is the
//! squared error explained by the mean; with class indicators as targets it is the Gini impurity up to a constant. Two classes need one indicator. Entropy has a score of its own.
//!
//! | statistics | for | cell |
//! |---|---|---|
//! | [`PackedStatistics`] | two classes, or one target | one 64-bit word: target sum in the high bits, weight in the low bits; one addition per row |
//! | [`ClassCountStatistics`](super::class_counts::ClassCountStatistics) | more classes | one count per class |
//! | [`TargetSumStatistics`](super::target_sums::TargetSumStatistics) | any weights, several targets | rows, weight and target sums in f64 |
//!
//! **Exactness.** The first two use integers. A target is quantized to range / 2^k with k as high as the word allows (28 bits for 100,000 rows); this affects the choice of splits only, as leaf values are
//! computed from the original targets.

use super::impurity::{Impurity, score_fraction};
use super::left_sums::add_left;
/// A drawn row with its weight and target.
#[derive(Debug, Clone, Copy)]
pub struct SampledRow {
    /// How often the row was drawn.
    pub weight: u32,
    /// Its class, or its quantized target.
    pub target: i32,
    /// Its index in the data.
    pub row: u32,
}

/// Bytes at the end of a line, which hold an [`SampledRow`]: weight (2), target (4), row (4).
pub const TAIL: usize = 10;

/// Maximum number of bins of a column, including the bin of missing values.
pub const MAX_BINS: usize = 256;

/// A set of bins, one bit each.
pub type BinSet = [u64; MAX_BINS / 64];

impl SampledRow {
    /// Reads it from the end of a line.
    #[inline(always)]
    pub fn of_line(line: &[u8]) -> SampledRow {
        let tail: &[u8; TAIL] = line.last_chunk().unwrap_or(&[0; TAIL]);
        let [w0, w1, t0, t1, t2, t3, r0, r1, r2, r3] = *tail;
        SampledRow {
            weight: u32::from(u16::from_le_bytes([w0, w1])),
            target: i32::from_le_bytes([t0, t1, t2, t3]),
            row: u32::from_le_bytes([r0, r1, r2, r3]),
        }
    }

    /// Writes it to the end of a line.
    pub fn write(self, line: &mut [u8]) {
        if let Some(tail) = line.last_chunk_mut::<TAIL>() {
            tail[..2].copy_from_slice(&(self.weight as u16).to_le_bytes());
            tail[2..6].copy_from_slice(&self.target.to_le_bytes());
            tail[6..].copy_from_slice(&self.row.to_le_bytes());
        }
    }
}

/// A cut between two bins.
pub struct BinCut {
    /// The sum of the scores of both sides.
    pub score: f64,
    /// The last bin on the left.
    pub before: u8,
    /// The first bin on the right.
    pub after: u8,
}

/// The positions of the set bits, ascending.
#[inline(always)]
pub fn bits(words: &BinSet) -> impl Iterator<Item = u8> + '_ {
    words.iter().enumerate().flat_map(|(i, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            (rest != 0).then(|| {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                (i as u32 * 64 + bit) as u8
            })
        })
    })
}

/// Statistics of a set of rows: add, merge, remove, score.
pub trait BinStatistics: Sync {
    /// The number type of a cell.
    type Number: Copy + Default + Send + Sync + PartialEq;

    /// The number of values per cell.
    fn width(&self) -> usize;
    /// Adds a row to a cell.
    fn add(&self, cell: &mut [Self::Number], item: SampledRow);
    /// Adds a cell to another.
    fn merge(&self, cell: &mut [Self::Number], other: &[Self::Number]);
    /// Subtracts a cell from another that contains it.
    fn remove(&self, cell: &mut [Self::Number], other: &[Self::Number]);
    /// The number of drawn rows.
    fn count(&self, cell: &[Self::Number]) -> f64;
    /// The weight of the rows.
    fn weight(&self, cell: &[Self::Number]) -> f64;
    /// The score: higher for purer sets; a set's score is at most the sum of its parts' scores.
    fn score(&self, cell: &[Self::Number]) -> f64;
    /// A sort key of categories: the best bipartition is a prefix of the order (two classes, one target) or usually near one.
    fn order(&self, cell: &[Self::Number], all: &[Self::Number]) -> f64;
    /// The sum of the scores of `left` and `all - left`.
    #[inline(always)]
    fn split_score(&self, all: &[Self::Number], left: &[Self::Number], rest: &mut [Self::Number]) -> f64 {
        rest.copy_from_slice(all);
        self.remove(rest, left);
        self.score(left) + self.score(rest)
    }
    /// Whether all targets are equal.
    fn is_pure(&self, cell: &[Self::Number]) -> bool;
    /// Whether [`SampledRow::target`] identifies the target.
    fn targets_decide(&self) -> bool {
        true
    }

    /// Whether scores depend on one target and the weight only, as required by [`column_lanes`](super::column_lanes).
    fn is_one_number(&self) -> bool {
        false
    }

    /// The number of classes if splits are chosen by Gini impurity and [`SampledRow::target`] is the class, as required by [`row_masks`](super::row_masks).
    fn n_classes(&self) -> Option<usize> {
        None
    }

    /// For each cut (a column and its last left bin), accumulates the lines of `stride` bytes on its left.
    fn add_left(&self, lines: &[u8], stride: usize, cuts: &[(u32, u8)], cells: &mut [Self::Number]) {
        let width = self.width();
        for line in lines.chunks_exact(stride) {
            let item = SampledRow::of_line(line);
            for (cell, &(column, bin)) in cells.chunks_exact_mut(width).zip(cuts) {
                if line[column as usize] <= bin {
                    self.add(cell, item);
                }
            }
        }
    }

    /// Adds lines of `stride` bytes to the cells of some columns, 256 cells each, and marks the bins that occur if `seen` is given.
    fn add_up(
        &self,
        lines: &[u8],
        stride: usize,
        columns: &[u32],
        cells: &mut [Self::Number],
        mut seen: Option<&mut [BinSet]>,
    ) {
        let width = self.width();
        for line in lines.chunks_exact(stride) {
            let item = SampledRow::of_line(line);
            for (slot, &column) in columns.iter().enumerate() {
                let bin = line[column as usize] as usize;
                let at = (slot * MAX_BINS + bin) * width;
                self.add(&mut cells[at..at + width], item);
                if let Some(seen) = &mut seen {
                    seen[slot][bin / 64] |= 1 << (bin % 64);
                }
            }
        }
    }

    /// The best cut of a column with a score above `bar`, if there is a faster method than trying one cut at a time; the outer `None` if not.
    fn best_cut(
        &self,
        _cells: &[Self::Number],
        _seen: &BinSet,
        _all: &[Self::Number],
        _bar: f64,
    ) -> Option<Option<BinCut>> {
        None
    }
}

/// Target sum and weight in one word.
pub struct PackedStatistics {
    /// Number of bits of the weight.
    shift: u32,
    criterion: Impurity,
    two_classes: bool,
}

impl PackedStatistics {
    /// Statistics for rows of this total weight, and the largest quantized target that fits.
    pub fn new(total: u64, criterion: Impurity, two_classes: bool) -> (PackedStatistics, i32) {
        let bits = 64 - total.leading_zeros();
        let step_bits = 62u32.saturating_sub(2 * bits).min(30);
        (PackedStatistics { shift: bits, criterion, two_classes }, ((1i64 << step_bits) - 1) as i32)
    }

    #[inline(always)]
    fn parts(&self, word: u64) -> (f64, f64) {
        (((word as i64) >> self.shift) as f64, (word & ((1 << self.shift) - 1)) as f64)
    }
}

impl PackedStatistics {
    #[inline(always)]
    fn word(&self, item: SampledRow) -> u64 {
        (i64::from(item.target) << self.shift).wrapping_add(1).wrapping_mul(i64::from(item.weight)) as u64
    }

    /// Lines of a known length need no bounds checks: the column index is taken modulo the length.
    fn add_lines<const STRIDE: usize>(&self, lines: &[u8], columns: &[u32], cells: &mut [[u64; MAX_BINS]]) {
        for line in lines.as_chunks::<STRIDE>().0 {
            let word = self.word(SampledRow::of_line(line));
            for (cells, &column) in cells.iter_mut().zip(columns) {
                let cell = &mut cells[line[column as usize % STRIDE] as usize];
                *cell = cell.wrapping_add(word);
            }
        }
    }

    fn add_and_mark<const STRIDE: usize>(
        &self,
        lines: &[u8],
        columns: &[u32],
        cells: &mut [[u64; MAX_BINS]],
        seen: &mut [BinSet],
    ) {
        for line in lines.as_chunks::<STRIDE>().0 {
            let word = self.word(SampledRow::of_line(line));
            for ((cells, seen), &column) in cells.iter_mut().zip(&mut *seen).zip(columns) {
                let bin = line[column as usize % STRIDE];
                let cell = &mut cells[bin as usize];
                *cell = cell.wrapping_add(word);
                seen[bin as usize / 64] |= 1 << (bin % 64);
            }
        }
    }

    fn add_any(
        &self,
        lines: &[u8],
        stride: usize,
        columns: &[u32],
        cells: &mut [[u64; MAX_BINS]],
        mut seen: Option<&mut [BinSet]>,
    ) {
        for line in lines.chunks_exact(stride) {
            let word = self.word(SampledRow::of_line(line));
            for (slot, (cells, &column)) in cells.iter_mut().zip(columns).enumerate() {
                let bin = line[column as usize];
                cells[bin as usize] = cells[bin as usize].wrapping_add(word);
                if let Some(seen) = &mut seen {
                    seen[slot][bin as usize / 64] |= 1 << (bin % 64);
                }
            }
        }
    }
}

impl BinStatistics for PackedStatistics {
    type Number = u64;

    #[inline(always)]
    fn width(&self) -> usize {
        1
    }

    #[inline(always)]
    fn add(&self, cell: &mut [u64], item: SampledRow) {
        cell[0] = cell[0].wrapping_add(self.word(item));
    }

    #[inline(always)]
    fn merge(&self, cell: &mut [u64], other: &[u64]) {
        cell[0] = cell[0].wrapping_add(other[0]);
    }

    #[inline(always)]
    fn remove(&self, cell: &mut [u64], other: &[u64]) {
        cell[0] = cell[0].wrapping_sub(other[0]);
    }

    #[inline(always)]
    fn count(&self, cell: &[u64]) -> f64 {
        self.parts(cell[0]).1
    }

    #[inline(always)]
    fn weight(&self, cell: &[u64]) -> f64 {
        self.parts(cell[0]).1
    }

    #[inline(always)]
    fn score(&self, cell: &[u64]) -> f64 {
        let (sum, weight) = self.parts(cell[0]);
        match self.criterion {
            _ if weight == 0.0 => 0.0,
            // One indicator, or one target, is enough.
            Impurity::Gini => sum * sum / weight,
            impurity => impurity.score([sum, weight - sum].into_iter(), weight),
        }
    }

    fn order(&self, cell: &[u64], _: &[u64]) -> f64 {
        let (sum, weight) = self.parts(cell[0]);
        sum / weight
    }

    #[inline(always)]
    fn split_score(&self, all: &[u64], left: &[u64], _: &mut [u64]) -> f64 {
        let right = all[0].wrapping_sub(left[0]);
        match self.criterion {
            Impurity::Gini => {
                let ((a, v), (b, w)) = (self.parts(left[0]), self.parts(right));
                // One division instead of two.
                let (numerator, denominator) = score_fraction((a * a, v), (b * b, w));
                numerator / denominator
            }
            _ => self.score(left) + self.score(&[right]),
        }
    }

    fn is_pure(&self, cell: &[u64]) -> bool {
        let (sum, weight) = self.parts(cell[0]);
        self.two_classes && (sum == 0.0 || sum == weight)
    }

    fn is_one_number(&self) -> bool {
        self.criterion == Impurity::Gini
    }

    fn n_classes(&self) -> Option<usize> {
        (self.two_classes && self.criterion == Impurity::Gini).then_some(2)
    }

    fn add_left(&self, lines: &[u8], stride: usize, cuts: &[(u32, u8)], cells: &mut [u64]) {
        add_left(lines, stride, cuts, |line| self.word(SampledRow::of_line(line)), cells);
    }

    fn add_up(&self, lines: &[u8], stride: usize, columns: &[u32], cells: &mut [u64], seen: Option<&mut [BinSet]>) {
        let (columns_of_cells, _) = cells.as_chunks_mut::<MAX_BINS>();
        match (stride, seen) {
            (64, None) => self.add_lines::<64>(lines, columns, columns_of_cells),
            (128, None) => self.add_lines::<128>(lines, columns, columns_of_cells),
            (64, Some(seen)) => self.add_and_mark::<64>(lines, columns, columns_of_cells, seen),
            (128, Some(seen)) => self.add_and_mark::<128>(lines, columns, columns_of_cells, seen),
            (_, seen) => self.add_any(lines, stride, columns, columns_of_cells, seen),
        }
    }

    /// Compares fractions instead of dividing for each cut.
    fn best_cut(&self, cells: &[u64], seen: &BinSet, all: &[u64], bar: f64) -> Option<Option<BinCut>> {
        if self.criterion != Impurity::Gini {
            return None;
        }
        let cells: &[u64; MAX_BINS] = cells.first_chunk()?;
        let (sum, weight) = self.parts(all[0]);
        let (mut best_num, mut best_den, mut best) = (bar, 1.0, None);
        let (mut left, mut before) = (0u64, None);
        for bin in bits(seen) {
            if let Some(before) = before {
                let (a, v) = self.parts(left);
                let (b, w) = (sum - a, weight - v);
                let (num, den) = score_fraction((a * a, v), (b * b, w));
                if num * best_den > best_num * den {
                    (best_num, best_den) = (num, den);
                    best = Some((before, bin));
                }
            }
            left = left.wrapping_add(cells[bin as usize]);
            before = Some(bin);
        }
        let score = best_num / best_den;
        Some(best.map(|(before, after)| BinCut { score, before, after }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::class_counts::ClassCountStatistics;
    use crate::split::target_sums::TargetSumStatistics;
    use proptest::prelude::*;
    use std::borrow::Cow;

    proptest! {
        #[test]
        fn all_statistics_score_two_classes_alike(
            left in prop::collection::vec((0i32..2, 1u32..9), 1..40), right in prop::collection::vec((0i32..2, 1u32..9), 1..40), entropy in any::<bool>(),
        ) {
            let criterion = if entropy { Impurity::Entropy } else { Impurity::Gini };
            let rows: Vec<(i32, u32)> = left.iter().chain(&right).copied().collect();
            let classes: Vec<u32> = rows.iter().map(|r| r.0 as u32).collect();
            let ones = vec![1.0; rows.len()];
            let packed = PackedStatistics::new(rows.iter().map(|r| u64::from(r.1)).sum(), criterion, true).0;
            let counts = ClassCountStatistics { n_classes: 2, criterion };
            let sums = TargetSumStatistics { weight: Cow::Borrowed(&ones), classes: Some(&classes), values: &[], n_targets: 2, criterion };
            let gain = [gain(&packed, &rows, left.len()), gain(&counts, &rows, left.len()), gain(&sums, &rows, left.len())];
            // The score of one indicator is half of what two indicators gain.
            let packed_gain = if entropy { gain[0] } else { 2.0 * gain[0] };
            prop_assert!((packed_gain - gain[1]).abs() < 1e-9 && (gain[1] - gain[2]).abs() < 1e-9, "{:?}", gain);
        }

        #[test]
        fn packed_sums_can_be_unpacked(rows in prop::collection::vec((-(1i32 << 28)..(1 << 28), 1u32..9), 1..40)) {
            let total: u64 = rows.iter().map(|r| u64::from(r.1)).sum();
            let (packed, most) = PackedStatistics::new(total, Impurity::Gini, false);
            let mut cell = [0u64];
            let (mut sum, mut weight) = (0i64, 0i64);
            for (row, &(target, w)) in rows.iter().enumerate() {
                let target = target.clamp(-most, most);
                packed.add(&mut cell, SampledRow { weight: w, target, row: row as u32 });
                sum += i64::from(target) * i64::from(w);
                weight += i64::from(w);
            }
            prop_assert_eq!(packed.parts(cell[0]), (sum as f64, weight as f64));
        }
    }

    fn gain<S: BinStatistics>(statistics: &S, rows: &[(i32, u32)], n_left: usize) -> f64 {
        let mut cells = vec![vec![S::Number::default(); statistics.width()]; 3];
        for (row, &(target, weight)) in rows.iter().enumerate() {
            let item = SampledRow { weight, target, row: row as u32 };
            statistics.add(&mut cells[0], item);
            if row < n_left {
                statistics.add(&mut cells[1], item);
            }
        }
        let mut rest = cells[2].clone();
        statistics.split_score(&cells[0], &cells[1], &mut rest) - statistics.score(&cells[0])
    }
}
