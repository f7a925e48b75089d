//! Columns in ascending order of their values, for exact split search.
//!
//! **Idea.** A column is sorted once, by radix sort, and the order is stored as row numbers. The top bit of an entry marks a value equal to the one before it, so that a scan needs no
//! values to find possible thresholds. Missing rows are at the end. Equal values and missing rows are in row order, so the order is the same on every machine.
//!
//! **Keys.** A number is mapped to an integer with the same order. Numbers that are exact in single precision, and category codes, have 32-bit keys, which are sorted in three passes of
//! 11 bits. Other numbers are sorted by the upper 32 bits of their 64-bit key, then runs of equal upper halves by value.
//!
//! **Cost.** O(n) time per column if runs are short, O(n log n) at worst; 4 bytes per value.

use super::features::Features;
use super::order;
use crate::parallel;
use crate::table::{Column, MISSING, Values};
use std::cmp::Ordering;

/// Marks an entry whose value equals that of the entry before it.
pub const TIE: u32 = 1 << 31;

/// All columns in ascending order.
#[derive(Debug, Clone, PartialEq)]
pub struct Sorted {
    /// The order of each column.
    pub columns: Vec<SortedColumn>,
}

/// One column in ascending order.
#[derive(Debug, Clone, PartialEq)]
pub struct SortedColumn {
    /// Rows by ascending value, missing rows last; [`TIE`] marks a value equal to the one before.
    entries: Vec<u32>,
    n_missing: usize,
}

impl SortedColumn {
    /// The rows with a value, in ascending order, with [`TIE`] marks.
    pub fn present(&self) -> &[u32] {
        &self.entries[..self.entries.len() - self.n_missing]
    }

    /// The rows without a value, in row order.
    pub fn missing(&self) -> &[u32] {
        &self.entries[self.entries.len() - self.n_missing..]
    }

    /// The entries, rows with a value first, and the number of missing values.
    pub fn into_entries(self) -> (Vec<u32>, usize) {
        (self.entries, self.n_missing)
    }

    /// The number of distinct values.
    pub fn n_distinct(&self) -> usize {
        self.present().iter().filter(|&&e| e & TIE == 0).count()
    }

    /// The rank of each row's value among the distinct values, from 0; [`MISSING`] for missing values.
    pub fn ranks(&self) -> Vec<u32> {
        let mut ranks = vec![MISSING; self.entries.len()];
        let mut rank = 0u32.wrapping_sub(1);
        for &entry in self.present() {
            rank = rank.wrapping_add(u32::from(entry & TIE == 0));
            ranks[(entry & !TIE) as usize] = rank;
        }
        ranks
    }
}

impl SortedColumn {
    /// Sorts one column.
    pub fn new(features: &Features, column: usize) -> SortedColumn {
        sort_column(&features.columns()[column], features.rows())
    }
}

impl Sorted {
    /// Sorts all columns in parallel.
    pub fn new(features: &Features) -> Sorted {
        let rows = features.rows();
        let columns = parallel::map_items(features.columns(), |column| sort_column(column, rows));
        Sorted { columns }
    }

    /// The order of some rows, from the order of all `n` rows, in O(n); `None` if a row repeats.
    pub fn restricted_to(&self, rows: &[u32], n: usize) -> Option<Sorted> {
        const OUT: u32 = u32::MAX;
        let mut new_row = vec![OUT; n];
        let mut ascending = true;
        for (i, &row) in rows.iter().enumerate() {
            if std::mem::replace(&mut new_row[row as usize], i as u32) != OUT {
                return None;
            }
            ascending &= i == 0 || rows[i - 1] < row;
        }
        // Ties are in row order, which a subset preserves only if its rows ascend.
        ascending
            .then(|| Sorted { columns: parallel::map_items(&self.columns, |c| c.restricted(&new_row, rows.len())) })
    }
}

impl SortedColumn {
    fn restricted(&self, new_row: &[u32], n: usize) -> SortedColumn {
        let mut entries = Vec::with_capacity(n);
        let mut tied = false;
        for &entry in self.present() {
            // If the first row of a run of ties is dropped, the next one takes its place.
            tied &= entry & TIE != 0;
            if let row @ 0..TIE = new_row[(entry & !TIE) as usize] {
                entries.push(if tied { row | TIE } else { row });
                tied = true;
            }
        }
        let n_present = entries.len();
        entries.extend(self.missing().iter().map(|&row| new_row[row as usize]).filter(|&row| row < TIE));
        SortedColumn { n_missing: entries.len() - n_present, entries }
    }
}

fn sort_column(column: &Column, rows: Option<&[u32]>) -> SortedColumn {
    match &column.values {
        Values::Codes { .. } => sort_codes(&column.codes(rows).unwrap_or_default()),
        _ => sort_numbers(&column.numbers(rows)),
    }
}

fn sort_codes(codes: &[u32]) -> SortedColumn {
    let (present, missing) = split_missing(codes.iter().map(|&c| (c != MISSING).then_some(c)));
    finish(sort_by_upper_half(present), missing, |a, b| a >> 32 == b >> 32)
}

/// Sorts numbers; NaN is missing, and -0 equals 0.
fn sort_numbers(values: &[f64]) -> SortedColumn {
    let single = values.iter().all(|&x| f64::from(x as f32) == x || x.is_nan());
    let key = |x: f64| if single { order::key_f32(x as f32 + 0.0) } else { (order::key(x + 0.0) >> 32) as u32 };
    let (present, missing) = split_missing(values.iter().map(|&x| (!x.is_nan()).then(|| key(x))));
    let mut order = sort_by_upper_half(present);
    if !single {
        for run in order.chunk_by_mut(|a, b| a >> 32 == b >> 32) {
            if run.len() > 1 {
                run.sort_unstable_by(|&a, &b| {
                    let (a, b) = (a as u32, b as u32);
                    let by_value = values[a as usize].partial_cmp(&values[b as usize]);
                    by_value.unwrap_or(Ordering::Equal).then(a.cmp(&b))
                });
            }
        }
    }
    // Equal values have equal keys; if the key is only the upper half, values are compared.
    let same_value = |a: u64, b: u64| values[a as u32 as usize] == values[b as u32 as usize];
    finish(order, missing, |a, b| a >> 32 == b >> 32 && (single || same_value(a, b)))
}

/// Packs `key << 32 | row` for each row with a key, and lists the rows without one.
fn split_missing(keys: impl ExactSizeIterator<Item = Option<u32>>) -> (Vec<u64>, Vec<u32>) {
    let (mut present, mut missing) = (Vec::with_capacity(keys.len()), Vec::new());
    for (row, key) in keys.enumerate() {
        match key {
            Some(key) => present.push(u64::from(key) << 32 | row as u64),
            None => missing.push(row as u32),
        }
    }
    (present, missing)
}

/// The order of `key << 32 | row` words with marks for equal values.
fn finish(order: Vec<u64>, missing: Vec<u32>, equal: impl Fn(u64, u64) -> bool) -> SortedColumn {
    let mut entries = Vec::with_capacity(order.len() + missing.len());
    entries.extend(order.first().map(|&word| word as u32));
    let tie = |pair: &[u64]| if equal(pair[0], pair[1]) { TIE } else { 0 };
    entries.extend(order.windows(2).map(|pair| pair[1] as u32 | tie(pair)));
    entries.extend_from_slice(&missing);
    SortedColumn { entries, n_missing: missing.len() }
}

/// Sorts words by their upper 32 bits, stably: least significant digit first, 11 bits per pass. Digits that all words share are skipped.
fn sort_by_upper_half(mut words: Vec<u64>) -> Vec<u64> {
    const DIGITS: [(u32, usize); 3] = [(32, 1 << 11), (43, 1 << 11), (54, 1 << 10)];
    if words.len() < 64 {
        words.sort_unstable();
        return words;
    }
    let mut counts = DIGITS.map(|(_, size)| vec![0u32; size]);
    for &word in &words {
        for (count, (shift, size)) in counts.iter_mut().zip(DIGITS) {
            count[(word >> shift) as usize & (size - 1)] += 1;
        }
    }
    let mut other = vec![0u64; words.len()];
    for (count, (shift, size)) in counts.iter_mut().zip(DIGITS) {
        let digit = |word: u64| (word >> shift) as usize & (size - 1);
        if count[digit(words[0])] as usize == words.len() {
            continue;
        }
        let mut start = 0;
        for slot in count.iter_mut() {
            start += std::mem::replace(slot, start);
        }
        for &word in &words {
            let slot = &mut count[digit(word)];
            other[*slot as usize] = word;
            *slot += 1;
        }
        std::mem::swap(&mut words, &mut other);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Table;
    use proptest::prelude::*;
    use std::sync::Arc;

    /// The order by a comparison sort.
    fn plain(values: &[f64]) -> SortedColumn {
        let mut present: Vec<u32> = (0..values.len() as u32).filter(|&r| !values[r as usize].is_nan()).collect();
        present.sort_by(|&a, &b| values[a as usize].partial_cmp(&values[b as usize]).unwrap());
        let missing: Vec<u32> = (0..values.len() as u32).filter(|&r| values[r as usize].is_nan()).collect();
        let words = present.into_iter().map(u64::from).collect();
        finish(words, missing, |a, b| values[a as usize] == values[b as usize])
    }

    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![
            4 => (-3i32..3i32).prop_map(f64::from),
            2 => any::<f64>(),
            1 => any::<f32>().prop_map(f64::from),
            1 => prop_oneof![Just(f64::NAN), Just(-0.0), Just(f64::INFINITY), Just(f64::NEG_INFINITY), Just(5e-324)],
            2 => (0u32..5).prop_map(|i| 1e9 + f64::from(i) * 1e-7),
        ]
    }

    proptest! {
        #[test]
        fn radix_sort_equals_comparison_sort(values in prop::collection::vec(number(), 0..300)) {
            prop_assert_eq!(sort_numbers(&values), plain(&values));
        }

        #[test]
        fn a_subset_of_the_order_is_the_order_of_the_subset(
            values in prop::collection::vec(number(), 1..200), keep in prop::collection::vec(any::<bool>(), 200),
        ) {
            let rows: Vec<u32> = (0..values.len() as u32).filter(|&r| keep[r as usize]).collect();
            let table = Table::new(vec![Column::numeric("x", values)]).unwrap();
            let all = Features::new(Arc::new(table));
            let direct = Sorted::new(&all.select(&rows).unwrap());
            prop_assert_eq!(&*all.select(&rows).unwrap().sorted(), &direct);
        }
    }

    #[test]
    fn ranks_count_distinct_values() {
        let column = sort_numbers(&[3.0, 1.0, f64::NAN, 3.0, 2.0]);
        assert_eq!(column.ranks(), [2, 0, MISSING, 2, 1]);
        assert_eq!(column.n_distinct(), 3);
        assert_eq!(column.missing(), [2]);
    }
}
