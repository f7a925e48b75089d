//! The bins of all rows: row by row, so that a histogram of a few rows reads whole cache lines, and, where memory allows, column by column too, for
//! histograms of all rows and for sending rows to the children.
//!
//! A bin is one byte where every column has at most 256 (that of missing values among them), else two.

use ermine_core::matrix::binned::{Bins, Cuts};
use ermine_core::matrix::{Features, pages};
use ermine_core::table::{Column, Values};
use rayon::prelude::*;

/// How many bytes of bins the column-wise copy may take. Above, the copy is left out: training is a little slower and takes half the memory.
const COLUMN_COPY: usize = 256 << 20;

/// Bytes in a cache line.
const LINE: usize = 64;

mod sealed {
    pub trait Sealed {}
    impl Sealed for u8 {}
    impl Sealed for u16 {}
}

/// A bin number in one or two bytes: `u8` or `u16`. Sealed, since cache lines are read as codes: any bytes must be one.
pub trait Code: sealed::Sealed + Copy + Default + Send + Sync + 'static {
    /// The bin as an index.
    fn index(self) -> usize;
    /// From an index that fits.
    fn of(bin: usize) -> Self;
}

impl Code for u8 {
    #[inline(always)]
    fn index(self) -> usize {
        self as usize
    }
    fn of(bin: usize) -> u8 {
        bin as u8
    }
}

impl Code for u16 {
    #[inline(always)]
    fn index(self) -> usize {
        self as usize
    }
    fn of(bin: usize) -> u16 {
        bin as u16
    }
}

/// A cache line of bins: makes a vector of them start at a line's bound.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; LINE]);

/// Rows in a block. The column-wise copy holds the columns of one block, then those of the next, so that blocks are coded on their own.
pub const BLOCK: usize = 4096;

/// Rows that are coded at a time: their values, which may come row by row, stay in the nearest cache from column to column.
const STRIP: usize = 128;

/// The bins of all rows in codes of one width.
pub struct Bytes<C> {
    lines: Vec<Line>,
    blocks: Vec<C>,
    stride: usize,
    n_columns: usize,
}

/// The bins of all rows.
///
/// **Invariant.** There are codes for `n_rows` rows and as many columns as `n_slots` has, and every code is below the number of slots of its column. Histograms are added up without
/// checking it again, so that all fields are private and never change.
pub struct Store {
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
    U8(Bytes<u8>),
    /// Two bytes each.
    U16(Bytes<u16>),
}

impl<C: Code> Bytes<C> {
    fn new(n_rows: usize, n_columns: usize, copy_columns: bool) -> Self {
        let per_line = LINE / size_of::<C>();
        // Rows that are shorter than a line share one, if they divide it.
        let short = n_columns.next_power_of_two();
        let stride = if short < per_line { short } else { n_columns.next_multiple_of(per_line) };
        let n_lines = (n_rows * stride).div_ceil(per_line);
        let n_copied = if copy_columns { n_rows.div_ceil(BLOCK) * BLOCK * n_columns } else { 0 };
        Bytes {
            lines: pages::filled(Line([0; LINE]), n_lines),
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

    /// How many codes apart two rows are.
    #[inline]
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The column-wise copy, if there is one: a block's columns one after the other, [`BLOCK`] codes each.
    #[inline]
    pub fn blocks(&self) -> Option<&[C]> {
        (!self.blocks.is_empty()).then_some(&self.blocks)
    }

    /// Codes all rows. Gives back whether each column misses a value somewhere.
    fn fill(&mut self, n_rows: usize, sources: &[Source<'_>], coders: &[Coder]) -> Vec<bool> {
        let (d, stride) = (self.n_columns, self.stride);
        let lines_per_block = BLOCK * stride * size_of::<C>() / LINE;
        let mut copies: Vec<&mut [C]> = self.blocks.chunks_mut((BLOCK * d).max(1)).collect();
        copies.resize_with(n_rows.div_ceil(BLOCK), Default::default);
        let code_block = |(block, (lines, copy)): (usize, (&mut [Line], &mut &mut [C]))| {
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

fn codes_of<C: Code>(lines: &[Line]) -> &[C] {
    // SAFETY: the lines are plain initialised bytes, aligned to 64, and any bytes are codes; the length in bytes is the same.
    unsafe { std::slice::from_raw_parts(lines.as_ptr().cast(), lines.len() * (LINE / size_of::<C>())) }
}

fn codes_of_mut<C: Code>(lines: &mut [Line]) -> &mut [C] {
    // SAFETY: as in `codes_of`; the borrow is exclusive.
    unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), lines.len() * (LINE / size_of::<C>())) }
}

/// A column, and which of its rows are meant.
type Source<'a> = (&'a Column, Option<&'a [u32]>);

/// Values of a column from row `start` on, as numbers.
fn read((column, rows): Source<'_>, start: usize, out: &mut [f64]) {
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

/// The first of `n` places for which `before` is no longer true.
fn partition_point(n: usize, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// Cuts that are searched without a check of bounds: one more than a byte can say.
const FEW: usize = 256;

/// Finds the bins of numbers.
enum Coder {
    /// At most 255 cuts, filled up with infinity.
    Few { cuts: Box<[f64; FEW]>, n_bins: u16 },
    /// Any cuts.
    Many { cuts: Vec<f64>, n_bins: u16 },
    /// The bin of each category.
    Categories { bins: Vec<u16>, n_bins: u16 },
}

impl Coder {
    fn new(cuts: &Cuts) -> Coder {
        let n_bins = cuts.n_bins() as u16;
        match cuts {
            Cuts::Numbers(cuts) if cuts.len() < FEW => {
                let mut few = Box::new([f64::INFINITY; FEW]);
                few[..cuts.len()].copy_from_slice(cuts);
                Coder::Few { cuts: few, n_bins }
            }
            Cuts::Numbers(cuts) => Coder::Many { cuts: cuts.clone(), n_bins },
            Cuts::Categories(bins) => Coder::Categories { bins: bins.clone(), n_bins },
        }
    }

    /// Writes the bin of each number; tells whether any is missing. Every bin is at most `n_bins`, which is below the number of slots.
    fn code(&self, numbers: &[f64], out: &mut [u16]) -> bool {
        match self {
            Coder::Few { cuts, n_bins } => {
                count_below(cuts, numbers, out);
                mark_missing(*n_bins, numbers, out)
            }
            Coder::Many { cuts, n_bins } => {
                let below = |x: f64| cuts.partition_point(|&cut| x > cut) as u16;
                out.iter_mut().zip(numbers).for_each(|(code, &x)| *code = below(x));
                mark_missing(*n_bins, numbers, out)
            }
            Coder::Categories { bins, n_bins } => {
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

/// The number of cuts below each number, by halving without branches; several numbers at a time, so that their searches overlap.
fn count_below(cuts: &[f64; FEW], numbers: &[f64], out: &mut [u16]) {
    const AT_ONCE: usize = 16;
    for (xs, codes) in numbers.chunks(AT_ONCE).zip(out.chunks_mut(AT_ONCE)) {
        let mut x = [0.0; AT_ONCE];
        x[..xs.len()].copy_from_slice(xs);
        let mut below = [0u8; AT_ONCE];
        for step in [128u8, 64, 32, 16, 8, 4, 2, 1] {
            for l in 0..AT_ONCE {
                // below + step <= 255: a byte indexes the cuts without a check.
                let beyond = x[l] > cuts[(below[l] + step - 1) as usize];
                below[l] += step * u8::from(beyond);
            }
        }
        codes.iter_mut().zip(&below).for_each(|(code, &below)| *code = u16::from(below));
    }
}

impl Store {
    /// Finds the bins of all values: of the columns of one set of features after the other, all of the same rows.
    ///
    /// # Panics
    /// If there are more or fewer cuts than columns, more bins than two bytes can number, or fewer rows in a part than in the first.
    pub fn new(parts: &[&Features], bins: &Bins) -> Store {
        let n_rows = parts.first().map_or(0, |features| features.n_rows());
        let sources = parts.iter().flat_map(|part| part.columns().iter().map(|column| (column, part.rows())));
        let sources: Vec<Source<'_>> = sources.collect();
        let n_columns = sources.len();
        assert_eq!(bins.columns.len(), n_columns, "cuts for every column");
        assert!(
            bins.columns.iter().all(|cuts| cuts.n_bins() <= usize::from(u16::MAX)),
            "bins that two bytes can number"
        );
        let n_slots: Vec<u32> = bins.columns.iter().map(|cuts| cuts.n_bins() as u32 + 1).collect();
        let coders: Vec<Coder> = bins.columns.iter().map(Coder::new).collect();
        let narrow = n_slots.iter().all(|&n| n <= 256);
        let copy = n_rows * n_columns * if narrow { 1 } else { 2 } <= COLUMN_COPY;
        let (codes, has_missing) = if narrow {
            let mut bytes = Bytes::new(n_rows, n_columns, copy);
            let missing = bytes.fill(n_rows, &sources, &coders);
            (StoreCodes::U8(bytes), missing)
        } else {
            let mut bytes = Bytes::new(n_rows, n_columns, copy);
            let missing = bytes.fill(n_rows, &sources, &coders);
            (StoreCodes::U16(bytes), missing)
        };
        let (offsets, total) = layout(&n_slots);
        Store { codes, n_slots, offsets, has_missing, total, n_rows }
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// How many columns.
    pub fn n_columns(&self) -> usize {
        self.n_slots.len()
    }

    /// The bins in one or two bytes.
    #[inline]
    pub fn codes(&self) -> &StoreCodes {
        &self.codes
    }

    /// How many bins each column has, that of missing values (the last) included.
    #[inline]
    pub fn n_slots(&self) -> &[u32] {
        &self.n_slots
    }

    /// Where the bins of each column start in a histogram.
    #[inline]
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// Whether any row misses the column's value.
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
        }
    }
}

/// Where each column's bins start. Starts are cache lines, and no two neighbours are a power of two apart: such columns would fight for the
/// same sets of the cache.
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
        fn every_value_has_the_bin_that_its_cuts_say(
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
            let store = Store::new(&[&features], &bins);
            for j in 0..d {
                let numbers = features.numbers(j);
                let expected: Vec<usize> = numbers.iter().map(|&x| bins.columns[j].bin(x)).collect();
                let blocked = |row: usize| match &store.codes {
                    StoreCodes::U8(b) => b.blocks().unwrap()[row / BLOCK * BLOCK * d + j * BLOCK + row % BLOCK].index(),
                    StoreCodes::U16(b) => b.blocks().unwrap()[row / BLOCK * BLOCK * d + j * BLOCK + row % BLOCK].index(),
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
