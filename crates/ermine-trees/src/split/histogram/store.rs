//! Bin codes of all rows: row-major, so that histograms of a few rows read whole cache lines, and, if memory allows, also column-major, for histograms of all rows and for partitioning.
//!
//! A code takes one byte if every column has at most 256 slots (including that of missing values), else two. Of rows of mostly zeros only the other bins are stored.

use ermine_core::matrix::binned::{Bins, Cuts};
use ermine_core::matrix::{Features, pages};
use ermine_core::table::{Column, Values};
use rayon::prelude::*;

/// Maximum size in bytes of the column-major copy. Without the copy, training is slightly slower and takes half the memory.
const COLUMN_COPY: usize = 256 << 20;

/// Bytes in a cache line.
const LINE: usize = 64;

mod sealed {
    pub trait Sealed {}
    impl Sealed for u8 {}
    impl Sealed for u16 {}
}

/// A bin code: `u8` or `u16`. Sealed, since cache lines are reinterpreted as codes: any bytes must be valid.
pub trait BinCode: sealed::Sealed + Copy + Default + Send + Sync + 'static {
    /// The bin as an index.
    fn index(self) -> usize;
    /// From an index that fits.
    fn of(bin: usize) -> Self;
}

impl BinCode for u8 {
    #[inline(always)]
    fn index(self) -> usize {
        self as usize
    }
    fn of(bin: usize) -> u8 {
        bin as u8
    }
}

impl BinCode for u16 {
    #[inline(always)]
    fn index(self) -> usize {
        self as usize
    }
    fn of(bin: usize) -> u16 {
        bin as u16
    }
}

/// A cache line of codes, for alignment.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct BinCacheLine([u8; LINE]);

/// Rows per block. The column-major copy is stored block by block, so that blocks are encoded independently.
pub const BLOCK: usize = 4096;

/// Rows encoded at a time, so that row-major values stay in the first-level cache from column to column.
const STRIP: usize = 128;

/// Codes of one width.
pub struct BinBytes<C> {
    lines: Vec<BinCacheLine>,
    blocks: Vec<C>,
    stride: usize,
    n_columns: usize,
}

/// Bin codes of all rows.
///
/// **Invariant.** There are codes for `n_rows` rows and as many columns as `n_slots` has, and every code is below the number of slots of its column. Histograms rely on this without checking it,
/// so all fields are private and immutable.
pub struct BinStore {
    codes: StoreCodes,
    n_slots: Vec<u32>,
    offsets: Vec<u32>,
    has_missing: Vec<bool>,
    total: usize,
    n_rows: usize,
}

/// Codes in one or two bytes.
pub enum StoreCodes {
    /// One byte each.
    U8(BinBytes<u8>),
    /// Two bytes each.
    U16(BinBytes<u16>),
    /// Rows of mostly zeros.
    Sparse(SparseCodes),
}

/// The bins of rows of mostly zeros: for each row, the columns in which it is not in the bin of zero, ascending, and its bins there.
pub struct SparseCodes {
    starts: Vec<usize>,
    columns: Vec<u32>,
    bins: Vec<u16>,
    /// The bin of zero of each column.
    zero: Vec<u16>,
}

impl SparseCodes {
    /// Codes all rows. Also returns whether each column misses a value somewhere.
    fn new(parts: &[&Features], bins: &Bins, n_rows: usize) -> (SparseCodes, Vec<bool>) {
        let parts: Vec<_> = parts.iter().map(|part| part.sparse_columns()).collect();
        let stored = || parts.iter().flat_map(|part| (0..part.n_columns()).map(|j| part.column(j))).zip(&bins.columns);
        let zero: Vec<u16> = bins.columns.iter().map(|cuts| cuts.bin(0.0) as u16).collect();
        let mut has_missing: Vec<bool> =
            bins.columns.iter().zip(&zero).map(|(cuts, &zero)| cuts.n_bins() == usize::from(zero)).collect();
        let mut starts = vec![0usize; n_rows + 1];
        stored().for_each(|((rows, _), _)| rows.iter().for_each(|&row| starts[row as usize + 1] += 1));
        (0..n_rows).for_each(|row| starts[row + 1] += starts[row]);
        let (mut next, n_entries) = (starts.clone(), starts[n_rows]);
        let (mut columns, mut codes) = (vec![0u32; n_entries], vec![0u16; n_entries]);
        for (j, ((rows, values), cuts)) in stored().enumerate() {
            for (&row, &x) in rows.iter().zip(values) {
                let (bin, at) = (cuts.bin(x), &mut next[row as usize]);
                (columns[*at], codes[*at]) = (j as u32, bin as u16);
                has_missing[j] |= bin == cuts.n_bins();
                *at += 1;
            }
        }
        (SparseCodes { starts, columns, bins: codes, zero }, has_missing)
    }

    /// The columns of a row's stored bins, ascending, and the bins.
    #[inline]
    pub fn row(&self, row: usize) -> (&[u32], &[u16]) {
        let range = self.starts[row]..self.starts[row + 1];
        (&self.columns[range.clone()], &self.bins[range])
    }

    /// The bin of zero of a column.
    #[inline]
    pub fn zero(&self, column: usize) -> usize {
        self.zero[column].into()
    }

    /// The bin of a value.
    #[inline]
    pub fn bin(&self, row: usize, column: usize) -> usize {
        let (columns, bins) = self.row(row);
        columns.binary_search(&(column as u32)).map_or(self.zero(column), |at| bins[at].into())
    }
}

impl<C: BinCode> BinBytes<C> {
    fn new(n_rows: usize, n_columns: usize, copy_columns: bool) -> Self {
        let per_line = LINE / size_of::<C>();
        // Rows shorter than a line share one, if they divide it.
        let short = n_columns.next_power_of_two();
        let stride = if short < per_line { short } else { n_columns.next_multiple_of(per_line) };
        let n_lines = (n_rows * stride).div_ceil(per_line);
        let n_copied = if copy_columns { n_rows.div_ceil(BLOCK) * BLOCK * n_columns } else { 0 };
        BinBytes {
            lines: pages::filled(BinCacheLine([0; LINE]), n_lines),
            blocks: pages::filled(C::default(), n_copied),
            stride,
            n_columns,
        }
    }

    /// All rows, [`stride`](Self::stride) codes apart.
    #[inline]
    pub fn rows(&self) -> &[C] {
        codes_of(&self.lines)
    }

    /// Distance between rows, in codes.
    #[inline]
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The column-major copy, if there is one: the columns of each block, [`BLOCK`] codes each.
    #[inline]
    pub fn blocks(&self) -> Option<&[C]> {
        (!self.blocks.is_empty()).then_some(&self.blocks)
    }

    /// Encodes all rows. Returns for each column whether it has missing values.
    fn fill(&mut self, n_rows: usize, sources: &[ColumnRows<'_>], coders: &[BinLookup]) -> Vec<bool> {
        let (d, stride) = (self.n_columns, self.stride);
        let lines_per_block = BLOCK * stride * size_of::<C>() / LINE;
        let mut copies: Vec<&mut [C]> = self.blocks.chunks_mut((BLOCK * d).max(1)).collect();
        copies.resize_with(n_rows.div_ceil(BLOCK), Default::default);
        let code_block = |(block, (lines, copy)): (usize, (&mut [BinCacheLine], &mut &mut [C]))| {
            let mut missing = vec![false; d];
            let mut scratch = [0.0f64; STRIP];
            let mut bins = [0u16; STRIP];
            let rows = codes_of_mut::<C>(lines);
            let end = n_rows.min((block + 1) * BLOCK);
            for start in (block * BLOCK..end).step_by(STRIP) {
                let length = STRIP.min(end - start);
                let within = start - block * BLOCK;
                for (j, coder) in coders.iter().enumerate() {
                    read(sources[j], start, &mut scratch[..length]);
                    missing[j] |= coder.code(&scratch[..length], &mut bins[..length]);
                    for (i, &bin) in bins[..length].iter().enumerate() {
                        rows[(within + i) * stride + j] = C::of(bin as usize);
                    }
                    if let Some(column) = copy.get_mut(j * BLOCK + within..j * BLOCK + within + length) {
                        column.iter_mut().zip(&bins).for_each(|(code, &bin)| *code = C::of(bin as usize));
                    }
                }
            }
            missing
        };
        let blocks = self.lines.par_chunks_mut(lines_per_block).zip(copies.par_iter_mut()).enumerate();
        let either = |a: Vec<bool>, b: Vec<bool>| a.iter().zip(&b).map(|(a, b)| *a || *b).collect();
        blocks.map(code_block).reduce(|| vec![false; d], either)
    }
}

fn codes_of<C: BinCode>(lines: &[BinCacheLine]) -> &[C] {
    // SAFETY: the lines are plain initialized bytes, aligned to 64, and any bytes are codes; the length in bytes is the same.
    unsafe { std::slice::from_raw_parts(lines.as_ptr().cast(), lines.len() * (LINE / size_of::<C>())) }
}

fn codes_of_mut<C: BinCode>(lines: &mut [BinCacheLine]) -> &mut [C] {
    // SAFETY: as in `codes_of`; the borrow is exclusive.
    unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), lines.len() * (LINE / size_of::<C>())) }
}

/// A column and its selected rows.
type ColumnRows<'a> = (&'a Column, Option<&'a [u32]>);

/// Reads values of a column as numbers, starting at row `start`.
fn read((column, rows): ColumnRows<'_>, start: usize, out: &mut [f64]) {
    match (&column.values, rows) {
        (Values::F32(values), None) => out.iter_mut().enumerate().for_each(|(i, x)| *x = values.get(start + i).into()),
        (Values::F64(values), None) => out.iter_mut().enumerate().for_each(|(i, x)| *x = values.get(start + i)),
        (Values::Sparse { rows, values, .. }, None) => {
            out.fill(0.0);
            let first = partition_point(rows.len(), |i| (rows.get(i) as usize) < start);
            for i in first..rows.len() {
                let Some(x) = out.get_mut(rows.get(i) as usize - start) else { break };
                *x = values.get(i);
            }
        }
        (_, None) => out.iter_mut().enumerate().for_each(|(i, x)| *x = column.number(start + i)),
        (_, Some(rows)) => out.iter_mut().zip(&rows[start..]).for_each(|(x, &row)| *x = column.number(row as usize)),
    }
}

/// The first of `n` positions for which `before` is false.
fn partition_point(n: usize, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// Cuts that can be indexed by a byte without a bounds check.
const FEW: usize = 256;

/// Maps numbers to bins.
enum BinLookup {
    /// At most 255 cuts, padded with infinity.
    Few { cuts: Box<[f64; FEW]>, n_bins: u16 },
    /// Any cuts.
    Many { cuts: Vec<f64>, n_bins: u16 },
    /// The bin of each category.
    Categories { bins: Vec<u16>, n_bins: u16 },
}

impl BinLookup {
    fn new(cuts: &Cuts) -> BinLookup {
        let n_bins = cuts.n_bins() as u16;
        match cuts {
            Cuts::Numbers(cuts) if cuts.len() < FEW => {
                let mut few = Box::new([f64::INFINITY; FEW]);
                few[..cuts.len()].copy_from_slice(cuts);
                BinLookup::Few { cuts: few, n_bins }
            }
            Cuts::Numbers(cuts) => BinLookup::Many { cuts: cuts.clone(), n_bins },
            Cuts::Categories(bins) => BinLookup::Categories { bins: bins.clone(), n_bins },
        }
    }

    /// Writes the bin of each number and returns whether any is missing. Every bin is at most `n_bins`, which is below the number of slots.
    fn code(&self, numbers: &[f64], out: &mut [u16]) -> bool {
        match self {
            BinLookup::Few { cuts, n_bins } => {
                count_below(cuts, numbers, out);
                mark_missing(*n_bins, numbers, out)
            }
            BinLookup::Many { cuts, n_bins } => {
                let below = |x: f64| cuts.partition_point(|&cut| x > cut) as u16;
                out.iter_mut().zip(numbers).for_each(|(code, &x)| *code = below(x));
                mark_missing(*n_bins, numbers, out)
            }
            BinLookup::Categories { bins, n_bins } => {
                let bin = |x: f64| if x.is_nan() { *n_bins } else { bins.get(x as usize).map_or(*n_bins, |&b| b) };
                out.iter_mut().zip(numbers).for_each(|(code, &x)| *code = bin(x));
                out.contains(n_bins)
            }
        }
    }
}

fn mark_missing(n_bins: u16, numbers: &[f64], out: &mut [u16]) -> bool {
    let mut missing = false;
    for (code, x) in out.iter_mut().zip(numbers) {
        missing |= x.is_nan();
        *code = if x.is_nan() { n_bins } else { *code };
    }
    missing
}

/// The number of cuts below each number, by branchless bisection; several numbers at a time, so that their searches overlap.
fn count_below(cuts: &[f64; FEW], numbers: &[f64], out: &mut [u16]) {
    const AT_ONCE: usize = 16;
    for (xs, codes) in numbers.chunks(AT_ONCE).zip(out.chunks_mut(AT_ONCE)) {
        let mut x = [0.0; AT_ONCE];
        x[..xs.len()].copy_from_slice(xs);
        let mut below = [0u8; AT_ONCE];
        for step in [128u8, 64, 32, 16, 8, 4, 2, 1] {
            for l in 0..AT_ONCE {
                // below + step <= 255, so a byte indexes the cuts without a check.
                let beyond = x[l] > cuts[(below[l] + step - 1) as usize];
                below[l] += step * u8::from(beyond);
            }
        }
        codes.iter_mut().zip(&below).for_each(|(code, &below)| *code = u16::from(below));
    }
}

impl BinStore {
    /// Encodes the columns of several sets of features, all with the same rows.
    ///
    /// # Panics
    /// If the number of cuts differs from the number of columns, there are too many bins for two bytes, or the parts have different numbers of rows.
    pub fn new(parts: &[&Features], bins: &Bins) -> BinStore {
        let n_rows = parts.first().map_or(0, |features| features.n_rows());
        let sources = parts.iter().flat_map(|part| part.columns().iter().map(|column| (column, part.rows())));
        let sources: Vec<ColumnRows<'_>> = sources.collect();
        let n_columns = sources.len();
        assert_eq!(bins.columns.len(), n_columns, "every column needs cuts");
        assert!(
            bins.columns.iter().all(|cuts| cuts.n_bins() <= usize::from(u16::MAX)),
            "bin codes must fit in two bytes"
        );
        let n_slots: Vec<u32> = bins.columns.iter().map(|cuts| cuts.n_bins() as u32 + 1).collect();
        let (offsets, total) = layout(&n_slots);
        if parts.iter().any(|part| part.is_sparse()) {
            let (codes, has_missing) = SparseCodes::new(parts, bins, n_rows);
            return BinStore { codes: StoreCodes::Sparse(codes), n_slots, offsets, has_missing, total, n_rows };
        }
        let coders: Vec<BinLookup> = bins.columns.iter().map(BinLookup::new).collect();
        let narrow = n_slots.iter().all(|&n| n <= 256);
        let copy = n_rows * n_columns * if narrow { 1 } else { 2 } <= COLUMN_COPY;
        let (codes, has_missing) = if narrow {
            let mut bytes = BinBytes::new(n_rows, n_columns, copy);
            let missing = bytes.fill(n_rows, &sources, &coders);
            (StoreCodes::U8(bytes), missing)
        } else {
            let mut bytes = BinBytes::new(n_rows, n_columns, copy);
            let missing = bytes.fill(n_rows, &sources, &coders);
            (StoreCodes::U16(bytes), missing)
        };
        BinStore { codes, n_slots, offsets, has_missing, total, n_rows }
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// How many columns.
    pub fn n_columns(&self) -> usize {
        self.n_slots.len()
    }

    /// The codes, in one or two bytes.
    #[inline]
    pub fn codes(&self) -> &StoreCodes {
        &self.codes
    }

    /// Number of slots per column, including that of missing values, which is the last.
    #[inline]
    pub fn n_slots(&self) -> &[u32] {
        &self.n_slots
    }

    /// Start of each column in a histogram.
    #[inline]
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// Whether each column has missing values.
    #[inline]
    pub fn has_missing(&self) -> &[bool] {
        &self.has_missing
    }

    /// The length of a histogram.
    #[inline]
    pub fn total(&self) -> usize {
        self.total
    }

    /// The bin of a value.
    #[inline]
    pub fn bin(&self, row: usize, column: usize) -> usize {
        match &self.codes {
            StoreCodes::U8(bytes) => bytes.rows()[row * bytes.stride + column].index(),
            StoreCodes::U16(bytes) => bytes.rows()[row * bytes.stride + column].index(),
            StoreCodes::Sparse(sparse) => sparse.bin(row, column),
        }
    }

    /// The bins of rows of mostly zeros.
    #[inline]
    pub fn sparse(&self) -> Option<&SparseCodes> {
        if let StoreCodes::Sparse(sparse) = &self.codes { Some(sparse) } else { None }
    }
}

/// The start of each column in a histogram. Starts are aligned to cache lines, and neighboring starts are not a power of two apart, to avoid cache conflicts.
fn layout(n_slots: &[u32]) -> (Vec<u32>, usize) {
    const WORDS: u32 = 8;
    let mut offsets = Vec::with_capacity(n_slots.len());
    let mut at = 0u32;
    for &n in n_slots {
        offsets.push(at);
        let length = n.next_multiple_of(WORDS);
        let step = if length.is_multiple_of(64) { length + WORDS } else { length };
        at = at.checked_add(step).expect("a histogram of fewer than 2^32 bins");
    }
    (offsets, at as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ermine_core::table::Table;
    use proptest::prelude::*;
    use std::sync::Arc;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn codes_equal_the_bins_of_the_cuts(
            seed: u64, n in 1usize..9000, d in 1usize..70, max_bins in prop_oneof![Just(2usize), Just(16), Just(255), Just(700)], subset: bool,
        ) {
            let mut rng = ermine_core::rng::stream(seed, &[]);
            let mut draw = |k: usize| ermine_core::rng::below(&mut rng, k);
            let column = |j: usize, draw: &mut dyn FnMut(usize) -> usize| {
                let number = |draw: &mut dyn FnMut(usize) -> usize| match draw(9) { 0 => f64::NAN, 1 => f64::INFINITY, _ => draw(1000) as f64 / 7.0 };
                match j % 4 {
                    3 => {
                        let rows: Vec<u32> = (0..n as u32).filter(|_| draw(5) == 0).collect();
                        let values: Vec<f64> = rows.iter().map(|_| draw(9) as f64 - 4.0).collect();
                        Column::sparse(format!("x{j}"), n, rows.into(), values.into())
                    }
                    0 => Column::numeric(format!("x{j}"), (0..n).map(|_| number(draw)).collect::<Vec<_>>()),
                    1 => Column::numeric_f32(format!("x{j}"), (0..n).map(|_| draw(50) as f32).collect::<Vec<_>>()),
                    _ => Column::nominal(format!("x{j}"), &(0..n).map(|_| Some(draw(30)).filter(|&c| c > 0).map(|c| c.to_string())).collect::<Vec<_>>()),
                }
            };
            let columns = (0..d).map(|j| column(j, &mut draw)).collect();
            let mut features = Features::new(Arc::new(Table::new(columns).unwrap()));
            if subset {
                features = features.select(&(0..n as u32).rev().step_by(2).collect::<Vec<_>>()).unwrap();
            }
            let bins = Bins::fit(&features, max_bins);
            let store = BinStore::new(&[&features], &bins);
            for j in 0..d {
                let numbers = features.numbers(j);
                let expected: Vec<usize> = numbers.iter().map(|&x| bins.columns[j].bin(x)).collect();
                let blocked = |row: usize| match &store.codes {
                    StoreCodes::U8(b) => b.blocks().unwrap()[row / BLOCK * BLOCK * d + j * BLOCK + row % BLOCK].index(),
                    StoreCodes::U16(b) => b.blocks().unwrap()[row / BLOCK * BLOCK * d + j * BLOCK + row % BLOCK].index(),
                    StoreCodes::Sparse(_) => store.bin(row, j),
                };
                for (row, &bin) in expected.iter().enumerate() {
                    prop_assert_eq!(store.bin(row, j), bin);
                    prop_assert_eq!(blocked(row), bin);
                }
                prop_assert_eq!(store.has_missing[j], expected.contains(&bins.columns[j].n_bins()));
            }
        }
    }
}
