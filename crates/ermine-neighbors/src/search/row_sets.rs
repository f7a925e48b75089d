//! Compressed row numbers of the leaves of a tree.
//!
//! **Idea.** The order of the rows within a leaf is free, so they are kept ascending, and an ascending list needs less than its numbers do (Elias and Fano): the low bits of
//! each number are written as they are; of the high bits only the steps are, one mark for each number after as many empty places as the high part has grown. A leaf of `size`
//! out of n rows takes about `log2(n / size) + 2` bits a row, where a row number alone takes `log2(n)`.
//!
//! Reference: Elias (1974), "Efficient storage and retrieval by content and address of static files".

use super::packed::{PackedNumbers, bits};
use ermine_core::error::{Error, Result};
use ermine_core::section::Sections;
use std::ops::Range;

/// Groups of at most `size` ascending row numbers each. A row has a place, counted over all groups, and groups are accessed with the range of their positions.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RowSets {
    shape: BitLayout,
    /// Of every group: mark number i is at i + the high part of its number i.
    marks: Vec<u64>,
    /// The low part of the row in every place.
    low: PackedNumbers,
}

/// How numbers are cut.
#[derive(Debug, Clone, Copy, PartialEq)]
struct BitLayout {
    low_bits: u32,
    /// 64-bit words per group.
    words: usize,
}

impl BitLayout {
    /// The cut that takes the fewest bits, for numbers below `n` in groups of at most `size`.
    fn of(n: usize, size: usize) -> BitLayout {
        let all = bits(n.saturating_sub(1) as u32);
        let words = |high: u32| (size + (1usize << high)).div_ceil(64);
        let cost = |high: &u32| words(*high) * 64 + size * (all - high).max(1) as usize;
        let high = (0..=all.min(30)).min_by_key(cost).unwrap_or(0);
        BitLayout { low_bits: all - high, words: words(high) }
    }
}

impl RowSets {
    /// `rows` holds a row in every place, ascending within each of `groups`, which have at most `size` places.
    pub(super) fn new(rows: &[u32], size: usize, groups: impl Iterator<Item = Range<usize>>) -> RowSets {
        let shape = BitLayout::of(rows.len(), size);
        let mut marks = Vec::new();
        for group in groups {
            let first = marks.len();
            marks.resize(first + shape.words, 0u64);
            for (i, &row) in rows[group].iter().enumerate() {
                let at = i + high_part(row, shape.low_bits);
                marks[first + at / 64] |= 1 << (at % 64);
            }
        }
        let largest = low_mask(shape.low_bits);
        let low = PackedNumbers::new(rows.iter().map(|&row| row & largest), largest);
        RowSets { shape, marks, low }
    }

    /// Row number `i` of a group.
    #[inline]
    pub(super) fn get(&self, group: usize, places: &Range<usize>, i: usize) -> u32 {
        let mut left = i;
        for (at, &word) in self.marks[group * self.shape.words..][..self.shape.words].iter().enumerate() {
            let count = word.count_ones() as usize;
            if left < count {
                return self.joined(at * 64 + select(word, left), i, places.start + i);
            }
            left -= count;
        }
        0
    }

    /// All rows of a group, ascending.
    pub(super) fn for_each(&self, group: usize, places: &Range<usize>, mut visit: impl FnMut(u32)) {
        let mut i = 0;
        for (at, &word) in self.marks[group * self.shape.words..][..self.shape.words].iter().enumerate() {
            let mut word = word;
            while word != 0 && i < places.len() {
                visit(self.joined(at * 64 + word.trailing_zeros() as usize, i, places.start + i));
                word &= word - 1;
                i += 1;
            }
        }
    }

    /// The number whose mark, the i-th of its group, is at `mark`.
    #[inline(always)]
    fn joined(&self, mark: usize, i: usize, place: usize) -> u32 {
        let high = (mark - i) as u64;
        (high << self.shape.low_bits) as u32 | self.low.get(place) as u32
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.marks.len() * 8 + self.low.bytes()
    }

    /// Bytes that `n` rows in so many groups of at most `size` take.
    pub(super) fn bytes_of(n: usize, size: usize, groups: usize) -> usize {
        let shape = BitLayout::of(n, size);
        groups * shape.words * 8 + (n * shape.low_bits.max(1) as usize / 64 + 2) * 8
    }

    /// Writes the marks and the low parts.
    pub(super) fn save(&self, sections: &mut Sections) {
        let halves: Vec<u32> = self.marks.iter().flat_map(|&w| [w as u32, (w >> 32) as u32]).collect();
        sections.put_u32s("row marks", &halves);
        self.low.save(sections, "row lows");
    }

    /// Reads `n` rows in groups of at most `size`, and checks that each group has as many rows as places, all below `n`.
    pub(super) fn load(
        sections: &Sections,
        n: usize,
        size: usize,
        groups: impl Iterator<Item = Range<usize>>,
    ) -> Result<RowSets> {
        let broken = || Error::model_file("the row numbers of a tree don't fit together");
        let shape = BitLayout::of(n, size);
        let halves = sections.u32s("row marks")?;
        let marks = halves.as_chunks().0.iter().map(|&[low, high]| u64::from(low) | u64::from(high) << 32).collect();
        let low = PackedNumbers::load(sections, "row lows", n, low_mask(shape.low_bits))?;
        let sets = RowSets { shape, marks, low };
        let mut n_groups = 0;
        for (group, places) in groups.enumerate() {
            let marks = sets.marks.get(group * shape.words..(group + 1) * shape.words).ok_or_else(broken)?;
            let count: usize = marks.iter().map(|word| word.count_ones() as usize).sum();
            let mut inside = true;
            sets.for_each(group, &places, |row| inside &= (row as usize) < n);
            if count != places.len() || places.end > n || !inside {
                return Err(broken());
            }
            n_groups += 1;
        }
        if sets.marks.len() != n_groups * shape.words {
            return Err(broken());
        }
        Ok(sets)
    }
}

/// The place of mark number `i` of a word that has more.
#[inline(always)]
fn select(word: u64, i: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    if ermine_core::simd::has(ermine_core::simd::InstructionSet::Avx2) {
        // SAFETY: the machine has it, as just checked.
        return unsafe { select_bmi2(word, i) };
    }
    plain_select(word, i)
}

fn plain_select(word: u64, i: usize) -> usize {
    (0..i).fold(word, |word, _| word & (word - 1)).trailing_zeros() as usize
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2")]
fn select_bmi2(word: u64, i: usize) -> usize {
    std::arch::x86_64::_pdep_u64(1 << i, word).trailing_zeros() as usize
}

fn high_part(row: u32, low_bits: u32) -> usize {
    (u64::from(row) >> low_bits) as usize
}

fn low_mask(low_bits: u32) -> u32 {
    ((1u64 << low_bits) - 1) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use ermine_core::rng;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn row_sets_round_trip(n in 1usize..3000, size in 1usize..200, seed: u64) {
            let mut rows: Vec<u32> = (0..n as u32).collect();
            rng::shuffle(&mut rng::stream(seed, &[]), &mut rows);
            rows.chunks_mut(size).for_each(<[u32]>::sort_unstable);
            let groups = || (0..n.div_ceil(size)).map(|g| g * size..n.min((g + 1) * size));
            let sets = RowSets::new(&rows, size, groups());
            prop_assert_eq!(sets.bytes(), RowSets::bytes_of(n, size, n.div_ceil(size)));
            for (group, places) in groups().enumerate() {
                let mut found = Vec::new();
                sets.for_each(group, &places, |row| found.push(row));
                prop_assert_eq!(&found, &rows[places.clone()]);
                let one_by_one: Vec<u32> = (0..places.len()).map(|i| sets.get(group, &places, i)).collect();
                prop_assert_eq!(&found, &one_by_one);
            }
            let mut sections = Sections::default();
            sets.save(&mut sections);
            prop_assert_eq!(&RowSets::load(&sections, n, size, groups()).unwrap(), &sets);
            prop_assert!(RowSets::load(&sections, n + 200, size, groups()).is_err());
        }

        #[test]
        fn both_versions_of_select_agree(word: u64, i in 0usize..64) {
            let i = i.min((word.count_ones() as usize).saturating_sub(1));
            if word != 0 {
                prop_assert_eq!(select(word, i), plain_select(word, i));
                prop_assert_eq!((word & ((1 << plain_select(word, i)) - 1)).count_ones() as usize, i);
            }
        }

        #[test]
        fn damaged_marks_are_detected_or_harmless(n in 1usize..300, at: usize, flip in 0u32..64) {
            let rows: Vec<u32> = (0..n as u32).collect();
            let groups = || (0..n.div_ceil(48)).map(|g| g * 48..n.min((g + 1) * 48));
            let mut sets = RowSets::new(&rows, 48, groups());
            let at = at % sets.marks.len();
            sets.marks[at] ^= 1 << flip;
            let mut sections = Sections::default();
            sets.save(&mut sections);
            prop_assert!(RowSets::load(&sections, n, 48, groups()).is_err());
        }
    }

    #[test]
    fn fewer_bits_than_row_numbers() {
        // 18 bits each, and 48 in a leaf: 18 - 6 low ones and 128 / 48 marks.
        let found = RowSets::bytes_of(200_000, 48, 4167) as f64 * 8.0 / 200_000.0;
        assert!((found - (12.0 + 128.0 / 48.0)).abs() < 0.01, "{found}");
    }
}
