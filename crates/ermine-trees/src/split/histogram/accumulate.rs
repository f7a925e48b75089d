//! Accumulates histograms: the hot loop of gradient boosting.
//!
//! **Idea.** For each row and column, `histogram[start of column + bin] += word of the row`. Subsets of the rows are added row by row, so that all bins of a row are in one or two
//! cache lines, which are prefetched. All rows are added column by column, alternating between four copies of the column's histogram, so that consecutive rows with the same bin don't
//! wait for each other.
//!
//! **Cost.** About one addition in memory per value.

use super::store::{BLOCK, BinBytes, BinCode, BinStore, SparseCodes, StoreCodes};
use std::ops::Range;

/// Prefetch distance in rows.
const AHEAD: usize = 12;

/// Number of copies of a column's histogram.
const COPIES: usize = 4;

/// Adds some rows to the histogram, for ascending `columns`. `words` are those of the rows starting at `first`; `histogram` covers the span of the columns.
///
/// # Panics
/// If the columns don't ascend, a row lies outside the store or the words, or the histogram has another length.
pub fn add_rows<const W: usize>(
    store: &BinStore,
    columns: &[u32],
    (rows, first): (&[u32], usize),
    words: &[[i64; W]],
    histogram: &mut [[i64; W]],
) {
    assert!(columns.is_sorted_by(|a, b| a < b), "columns ascend");
    let span = store.span(columns);
    assert_eq!(histogram.len(), span.len(), "the histogram must cover the span of the columns");
    let starts: Vec<(u32, u32)> =
        columns.iter().map(|&c| (c, store.offsets()[c as usize] - span.start as u32)).collect();
    match store.codes() {
        // SAFETY: the columns ascend, so that the slots of each lie within the span, which is as long as the histogram.
        StoreCodes::U8(bytes) => unsafe { add_rows_of(bytes, &starts, (rows, first), words, histogram) },
        // SAFETY: as above.
        StoreCodes::U16(bytes) => unsafe { add_rows_of(bytes, &starts, (rows, first), words, histogram) },
        StoreCodes::Sparse(sparse) => add_sparse_rows(store, sparse, columns, (rows, first), words, histogram),
    }
}

/// Adds rows of mostly zeros: each stored bin moves its row's word out of the bin of zero, which gets the sum over all rows at the end.
fn add_sparse_rows<const W: usize>(
    store: &BinStore,
    sparse: &SparseCodes,
    columns: &[u32],
    (rows, first): (&[u32], usize),
    words: &[[i64; W]],
    histogram: &mut [[i64; W]],
) {
    let (Some(&low), Some(&high)) = (columns.first(), columns.last()) else { return };
    let start = store.offsets()[low as usize] as usize;
    let slot = |column: u32, bin: usize| store.offsets()[column as usize] as usize + bin - start;
    // Rows may have stored bins in columns that are not wanted.
    let mut is_wanted = vec![columns.len() as u32 == high - low + 1; (high - low) as usize + 1];
    columns.iter().for_each(|&column| is_wanted[(column - low) as usize] = true);
    let mut total = [0i64; W];
    for &row in rows {
        let word = words[row as usize - first];
        (0..W).for_each(|w| total[w] = total[w].wrapping_add(word[w]));
        let (columns, bins) = sparse.row(row as usize);
        let from = columns.partition_point(|&column| column < low);
        for (&column, &bin) in columns[from..].iter().zip(&bins[from..]).take_while(|(column, _)| **column <= high) {
            if !is_wanted[(column - low) as usize] {
                continue;
            }
            let bin = &mut histogram[slot(column, bin.into())];
            (0..W).for_each(|w| bin[w] = bin[w].wrapping_add(word[w]));
            let zero = &mut histogram[slot(column, sparse.zero(column as usize))];
            (0..W).for_each(|w| zero[w] = zero[w].wrapping_sub(word[w]));
        }
    }
    for &column in columns {
        let zero = &mut histogram[slot(column, sparse.zero(column as usize))];
        (0..W).for_each(|w| zero[w] = zero[w].wrapping_add(total[w]));
    }
}

/// # Safety
/// `starts` are ascending columns of the store and the starts of their slots in the histogram, which must contain all of them.
unsafe fn add_rows_of<C: BinCode, const W: usize>(
    bytes: &BinBytes<C>,
    starts: &[(u32, u32)],
    (rows, first): (&[u32], usize),
    words: &[[i64; W]],
    histogram: &mut [[i64; W]],
) {
    let (codes, stride) = (bytes.rows(), bytes.stride());
    let (Some(&(low, _)), Some(&(high, _))) = (starts.first(), starts.last()) else { return };
    let (low, width) = (low as usize, (high - low) as usize + 1);
    let dense = width == starts.len();
    let gaps: Vec<u32> = starts.iter().map(|s| s.0 - low as u32).collect();
    let starts: Vec<u32> = starts.iter().map(|s| s.1).collect();
    let fetch = |row: u32| {
        prefetch(codes, row as usize * stride + low, width * size_of::<C>());
        prefetch(words, row as usize - first, 1);
    };
    let of_row = |row: u32| (&codes[row as usize * stride + low..][..width], words[row as usize - first]);
    let gap = |codes: &'_ [C], gap: u32| codes[gap as usize];
    let (pairs, last) = rows.as_chunks::<2>();
    for (i, pair) in pairs.iter().enumerate() {
        rows.get(2 * i + AHEAD..2 * i + AHEAD + 2).into_iter().flatten().for_each(|&row| fetch(row));
        let ((one, word), (two, other)) = (of_row(pair[0]), of_row(pair[1]));
        // SAFETY: the codes belong to the columns in `starts` and are below their number of slots, an invariant of the store; the caller guarantees that the slots lie in the histogram.
        unsafe {
            if dense {
                add_pair(one.iter().zip(two).map(|(a, b)| [*a, *b]), &starts, [word, other], histogram);
            } else {
                let codes = gaps.iter().map(|&g| [gap(one, g), gap(two, g)]);
                add_pair(codes, &starts, [word, other], histogram);
            }
        }
    }
    for &row in last {
        let (one, word) = of_row(row);
        let codes = gaps.iter().map(|&g| [gap(one, g); 2]);
        // SAFETY: as above.
        unsafe { add_pair(codes, &starts, [word, [0; W]], histogram) };
    }
}

/// Adds two rows to the bins of their columns; interleaving two rows hides latency.
///
/// # Safety
/// `starts[j] + code` must lie in the histogram for both codes of every column: the store's codes are below the number of slots of their column, and the
/// histogram spans the slots of these columns.
#[inline(always)]
unsafe fn add_pair<C: BinCode, const W: usize>(
    codes: impl Iterator<Item = [C; 2]>,
    starts: &[u32],
    words: [[i64; W]; 2],
    histogram: &mut [[i64; W]],
) {
    for (codes, &start) in codes.zip(starts) {
        for (code, word) in codes.into_iter().zip(words) {
            debug_assert!(start as usize + code.index() < histogram.len());
            // SAFETY: guaranteed by the caller.
            let bin = unsafe { histogram.get_unchecked_mut(start as usize + code.index()) };
            bin.iter_mut().zip(word).for_each(|(sum, word)| *sum = sum.wrapping_add(word));
        }
    }
}

/// Prefetches memory.
#[inline(always)]
fn prefetch<T>(values: &[T], at: usize, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..bytes).step_by(64).take(16) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch never faults; `wrapping_add` does not require the address to be in bounds.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(values.as_ptr().wrapping_add(at).cast::<i8>().wrapping_add(line)) };
    }
}

/// Adds the rows in `rows` to the histogram of one column.
///
/// # Panics
/// If the column doesn't exist, the rows lie outside the store, or the number of words differs from the number of rows.
pub fn add_column<const W: usize>(
    store: &BinStore,
    column: usize,
    rows: Range<usize>,
    words: &[[i64; W]],
    histogram: &mut [[i64; W]],
) {
    assert!(rows.end <= store.n_rows() && rows.len() == words.len());
    match store.codes() {
        StoreCodes::U8(bytes) => add_column_of(store, bytes, column, rows, words, histogram),
        StoreCodes::U16(bytes) => add_column_of(store, bytes, column, rows, words, histogram),
        StoreCodes::Sparse(sparse) => {
            for (row, word) in rows.zip(words) {
                let bin = &mut histogram[sparse.bin(row, column)];
                (0..W).for_each(|w| bin[w] = bin[w].wrapping_add(word[w]));
            }
        }
    }
}

fn add_column_of<C: BinCode, const W: usize>(
    store: &BinStore,
    bytes: &BinBytes<C>,
    column: usize,
    rows: Range<usize>,
    words: &[[i64; W]],
    histogram: &mut [[i64; W]],
) {
    let slots = store.n_slots()[column] as usize;
    // Copies are an odd number of cache lines apart.
    let apart = slots.next_multiple_of(16) + 8;
    let mut copies = vec![[0i64; W]; apart * COPIES];
    let (strided, stride) = (bytes.rows(), bytes.stride());
    for block in rows.start / BLOCK..rows.end.div_ceil(BLOCK) {
        let part = rows.start.max(block * BLOCK)..rows.end.min((block + 1) * BLOCK);
        let words = &words[part.start - rows.start..part.end - rows.start];
        match bytes.blocks() {
            Some(blocks) => {
                let start = (block * store.n_columns() + column) * BLOCK;
                let codes = &blocks[start + part.start - block * BLOCK..start + part.end - block * BLOCK];
                // SAFETY: codes of this column are below `slots`, an invariant of the store, and each copy has more entries than that.
                unsafe { add_codes(codes, words, &mut copies, apart) };
            }
            None => {
                for (row, word) in part.zip(words) {
                    let bin = &mut copies[strided[row * stride + column].index()];
                    bin.iter_mut().zip(word).for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
                }
            }
        }
    }
    for (bin, sum) in histogram.iter_mut().enumerate().take(slots) {
        for copy in 0..COPIES {
            sum.iter_mut().zip(copies[copy * apart + bin]).for_each(|(sum, part)| *sum = sum.wrapping_add(part));
        }
    }
}

/// Adds words by code, alternating between copies.
///
/// # Safety
/// Every code must be below `apart`, and `copies` must have `COPIES * apart` entries.
unsafe fn add_codes<C: BinCode, const W: usize>(
    codes: &[C],
    words: &[[i64; W]],
    copies: &mut [[i64; W]],
    apart: usize,
) {
    debug_assert!(copies.len() == COPIES * apart && codes.iter().all(|c| c.index() < apart));
    let mut add = |copy: usize, code: C, word: &[i64; W]| {
        // SAFETY: copy < COPIES and code < apart.
        let bin = unsafe { copies.get_unchecked_mut(copy * apart + code.index()) };
        bin.iter_mut().zip(word).for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
    };
    let (fours, rest) = codes.as_chunks::<COPIES>();
    let (word_fours, word_rest) = words.as_chunks::<COPIES>();
    for (codes, words) in fours.iter().zip(word_fours) {
        for copy in 0..COPIES {
            add(copy, codes[copy], &words[copy]);
        }
    }
    rest.iter().zip(word_rest).for_each(|(&code, word)| add(0, code, word));
}

impl BinStore {
    /// The span of some ascending columns in a histogram of all columns.
    pub fn span(&self, columns: &[u32]) -> Range<usize> {
        let bound = |column: usize| self.offsets().get(column).map_or(self.total(), |&offset| offset as usize);
        match (columns.first(), columns.last()) {
            (Some(&first), Some(&last)) => bound(first as usize)..bound(last as usize + 1),
            _ => 0..0,
        }
    }

    /// The slots of a column in a histogram of all columns, padded to a multiple of eight with slots that stay zero.
    pub fn slots(&self, column: u32) -> Range<usize> {
        let start = self.offsets()[column as usize] as usize;
        start..start + (self.n_slots()[column as usize] as usize).next_multiple_of(8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ermine_core::matrix::{Bins, Features};
    use ermine_core::table::{Column, Table};
    use proptest::prelude::*;
    use std::sync::Arc;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn both_orders_equal_a_plain_loop(seed: u64, n in 1usize..9000, d in 1usize..80, max_bins in prop_oneof![Just(2usize), Just(255), Just(300)]) {
            let mut rng = ermine_core::rng::stream(seed, &[]);
            let mut draw = |k: usize| ermine_core::rng::below(&mut rng, k);
            let sparse = seed % 2 == 0;
            let mut column = |j: usize| {
                if sparse {
                    let rows: Vec<u32> = (0..n as u32).filter(|_| draw(30) == 0).collect();
                    let values: Vec<f64> = rows.iter().map(|_| if draw(20) == 0 { f64::NAN } else { draw(400) as f64 - 100.0 }).collect();
                    return Column::sparse(format!("{j}"), n, rows.into(), values.into());
                }
                Column::numeric(format!("{j}"), (0..n).map(|_| if draw(20) == 0 { f64::NAN } else { draw(400) as f64 }).collect::<Vec<_>>())
            };
            let columns = (0..d).map(&mut column).collect();
            let features = Features::new(Arc::new(Table::new(columns).unwrap()));
            let store = BinStore::new(&[&features], &Bins::fit(&features, max_bins));
            let words: Vec<[i64; 2]> = (0..n).map(|_| [draw(1000) as i64 - 500, draw(100) as i64]).collect();
            let first = draw(n);
            let rows: Vec<u32> = (first as u32..n as u32).filter(|_| draw(3) > 0).collect();
            let mut part: Vec<u32> = (0..d as u32).filter(|_| draw(4) > 0).collect();
            if part.is_empty() { part.push(0); }
            let span = store.span(&part);
            let mut expected = vec![[0i64; 2]; store.total()];
            for &row in &rows {
                for &j in &part {
                    let j = j as usize;
                    let bin = &mut expected[store.offsets()[j] as usize + store.bin(row as usize, j)];
                    (0..2).for_each(|w| bin[w] += words[row as usize][w]);
                }
            }
            let mut by_rows = vec![[0i64; 2]; span.len()];
            add_rows(&store, &part, (&rows, first), &words[first..], &mut by_rows);
            prop_assert_eq!(&by_rows[..], &expected[span]);
            let all: Vec<u32> = (first as u32..n as u32).collect();
            let packed: Vec<[i64; 1]> = words[first..].iter().map(|w| [w[0] * 1000 + w[1]]).collect();
            let span = store.span(&part[..1]);
            let mut by_rows = vec![[0i64; 1]; span.len()];
            let mut by_column = by_rows.clone();
            add_rows(&store, &part[..1], (&all, first), &packed, &mut by_rows);
            add_column(&store, part[0] as usize, first..n, &packed, &mut by_column);
            prop_assert_eq!(by_rows, by_column);
        }
    }

    /// Six columns of 4 slots each.
    fn small_store() -> BinStore {
        let column = |j: usize| Column::numeric(format!("{j}"), vec![0.0, 1.0, 2.0, 2.0]);
        let features = Features::new(Arc::new(Table::new((0..6).map(column).collect()).unwrap()));
        BinStore::new(&[&features], &Bins::fit(&features, 255))
    }

    #[test]
    #[should_panic(expected = "columns ascend")]
    fn unordered_columns_panic() {
        // Three columns, but column 5 lies outside the span of 0 to 2.
        let store = small_store();
        let mut histogram = vec![[0i64; 1]; store.span(&[0, 2]).len()];
        add_rows(&store, &[0, 5, 2], (&[0, 1], 0), &[[1]; 4], &mut histogram);
    }

    #[test]
    #[should_panic(expected = "columns ascend")]
    fn a_repeated_column_panics() {
        let store = small_store();
        let mut histogram = vec![[0i64; 1]; store.span(&[1]).len()];
        add_rows(&store, &[1, 1], (&[0], 0), &[[1]; 4], &mut histogram);
    }

    #[test]
    #[should_panic]
    fn rows_outside_the_store_panic() {
        let store = small_store();
        let mut histogram = vec![[0i64; 1]; store.span(&[0]).len()];
        add_rows(&store, &[0], (&[1_000], 0), &[[1]; 4], &mut histogram);
    }

    #[test]
    #[should_panic]
    fn a_column_outside_the_store_panics() {
        add_column(&small_store(), 6, 0..4, &[[1i64]; 4], &mut [[0]; 8]);
    }

    #[test]
    #[should_panic(expected = "every column needs cuts")]
    fn missing_cuts_panic() {
        // Its blocks would be read with the wrong number of columns.
        let column = |j: usize| Column::numeric(format!("{j}"), (0..200).map(f64::from).collect::<Vec<_>>());
        let features = Features::new(Arc::new(Table::new((0..2).map(column).collect()).unwrap()));
        let mut bins = Bins::fit(&features, 255);
        bins.columns.pop();
        BinStore::new(&[&features], &bins);
    }
}
