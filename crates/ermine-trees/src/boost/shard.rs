//! A range of rows: their scores, gradients, and the rows of each node of the growing tree.
//!
//! A shard keeps its rows for the whole training run. One thread at a time computes their gradients, partitions them and updates their scores, so no locks are needed.

use super::grown::BinnedTree;
use super::sample::BootstrapWeights;
use crate::split::histogram::scan::BinTest;
use crate::split::histogram::store::{BLOCK, BinBytes, BinCode, BinStore, StoreCodes};
use ermine_core::matrix::pages;
#[cfg(target_arch = "x86_64")]
use ermine_core::simd::InstructionSet;
use std::ops::Range;

/// A range of rows with their scores and gradients.
pub struct Shard {
    /// The rows: all that `index` ever contains. Splits read codes of these rows without a check, so they never change.
    rows: Range<usize>,
    /// Scores of the rows, one list per output.
    pub scores: Vec<Vec<f64>>,
    /// Gradients of the rows, one list per output.
    pub gradient: Vec<Vec<f32>>,
    /// Curvatures of the rows, one list per output.
    pub curvature: Vec<Vec<f32>>,
    /// Gradients and curvatures times random weights, for growing trees; empty if rows have no such weights.
    weighted: [Vec<Vec<f32>>; 2],
    /// Quantized gradients and curvatures, one or two words per row, one list per output of the trees that are grown together.
    pub words: Vec<Vec<i64>>,
    /// The rows of the tree, node by node.
    index: Vec<u32>,
    spare: Vec<u32>,
    /// The range of each node in `index`.
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
            weighted: [Vec::new(), Vec::new()],
            words: vec![pages::with_capacity(n)],
            index: pages::with_capacity(n),
            spare: pages::filled(0, n),
            segments: Vec::new(),
        }
    }

    /// The rows.
    #[inline]
    pub fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// Multiplies the gradients and curvatures that trees are grown on by weights.
    pub fn weigh(&mut self, weights: BootstrapWeights) {
        let weights: Vec<f32> = self.rows().map(|row| weights.of(row)).collect();
        let times = |numbers: &Vec<f32>| numbers.iter().zip(&weights).map(|(x, weight)| x * weight).collect();
        self.weighted = [&self.gradient, &self.curvature].map(|of| of.iter().map(times).collect());
    }

    /// The gradients and curvatures of an output that trees are grown on.
    pub fn growth_gradients(&self, output: usize) -> (&[f32], &[f32]) {
        match &self.weighted {
            [gradient, curvature] if !gradient.is_empty() => (&gradient[output], &curvature[output]),
            _ => (&self.gradient[output], &self.curvature[output]),
        }
    }

    /// Starts a tree on the rows selected by `keep`.
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

    /// Partitions the rows of a node among its two children, which are numbered next. Returns how many went left and right.
    ///
    /// # Panics
    /// If the store has fewer rows than the shard, or there is no such node or column.
    pub fn split(&mut self, store: &BinStore, node: usize, column: usize, test: &BinTest) -> (usize, usize) {
        assert!(self.rows.end <= store.n_rows(), "rows of the store");
        let n_slots = store.n_slots()[column] as usize;
        let left: Vec<u8> = (0..n_slots).map(|slot| u8::from(test.is_left(slot, n_slots))).collect();
        let segment = self.segments[node].clone();
        let (rows, spare) = (&mut self.index[segment.clone()], &mut self.spare[..segment.len()]);
        let n_left = match store.codes() {
            // SAFETY: rows of this shard are rows of the store, as just checked, and the column is one of its columns, as it has slots.
            StoreCodes::U8(bytes) => unsafe { partition_bytes(bytes, column, store.n_columns(), &left, rows, spare) },
            StoreCodes::U16(bytes) => partition(bytes, column, store.n_columns(), &left, rows, spare),
            StoreCodes::Sparse(sparse) => {
                partition_rest((0, 0), |row| left[sparse.bin(row as usize, column)], rows, spare)
            }
        };
        let middle = segment.start + n_left;
        self.segments.push(segment.start..middle);
        self.segments.push(middle..segment.end);
        (n_left, segment.end - middle)
    }

    /// The leaf of each row. `keep`: the rows that the tree was grown on.
    pub fn leaves(&self, store: &BinStore, tree: &BinnedTree, keep: Option<&[bool]>) -> Vec<u32> {
        let first = self.rows.start;
        let mut leaves = vec![0; self.rows.len()];
        for node in tree.leaves() {
            self.node(node).iter().for_each(|&row| leaves[row as usize - first] = node as u32);
        }
        for (i, _) in keep.into_iter().flatten().enumerate().filter(|(_, keep)| !**keep) {
            leaves[i] = tree.walk(store, first + i) as u32;
        }
        leaves
    }

    /// Adds the leaf values of a tree to the scores of an output. `keep`: the rows that it was grown on.
    pub fn add(&mut self, store: &BinStore, tree: &BinnedTree, output: usize, keep: Option<&[bool]>) {
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

/// Like [`partition`], sixteen rows at a time if the processor supports it.
///
/// # Safety
/// The column and all rows must be those of the store that the bytes are of, which has `n_columns` columns.
unsafe fn partition_bytes(
    bytes: &BinBytes<u8>,
    column: usize,
    n_columns: usize,
    left: &[u8],
    rows: &mut [u32],
    spare: &mut [u32],
) -> usize {
    #[cfg(target_arch = "x86_64")]
    if let Some(blocks) = bytes.blocks()
        && ermine_core::simd::has(InstructionSet::Avx512)
        && blocks.len() <= i32::MAX as usize
        && left.len() <= 256
    {
        let mut set = [0u32; 8];
        left.iter().enumerate().for_each(|(slot, &go)| set[slot / 32] |= u32::from(go) << (slot % 32));
        // SAFETY: the processor has the feature, and the blocks have few enough codes; the caller promises that all rows are rows of the store.
        return unsafe { partition_avx512(blocks, ColumnBlocks { column, n_columns }, &set, rows, spare) };
    }
    partition(bytes, column, n_columns, left, rows, spare)
}

/// A column in the blocks.
#[derive(Clone, Copy)]
struct ColumnBlocks {
    column: usize,
    n_columns: usize,
}

impl ColumnBlocks {
    /// The position of the code of a row.
    #[inline(always)]
    fn of(self, row: u32) -> usize {
        let row = row as usize;
        row + row / BLOCK * (self.n_columns - 1) * BLOCK + self.column * BLOCK
    }
}

/// Sixteen rows at a time: gathers their codes, looks them up in `set`, and compresses the rows to either side.
///
/// # Safety
/// The place and every row must be those of the store that the blocks are of, which have at most `i32::MAX` codes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn partition_avx512(
    blocks: &[u8],
    place: ColumnBlocks,
    set: &[u32; 8],
    rows: &mut [u32],
    spare: &mut [u32],
) -> usize {
    use std::arch::x86_64::*;
    assert!(spare.len() >= rows.len() && blocks.len().is_multiple_of(4));
    let number = |x: usize| _mm512_set1_epi32(x as i32);
    // SAFETY: eight words.
    let set_words = _mm512_broadcast_i64x4(unsafe { _mm256_loadu_si256(set.as_ptr().cast()) });
    let (start, skip) = (number(place.column * BLOCK), number((place.n_columns - 1) * BLOCK));
    let (mut n_left, mut n_right) = (0, 0);
    let full = rows.len() / 16 * 16;
    for i in (0..full).step_by(16) {
        // SAFETY: sixteen rows from i on.
        let row = unsafe { _mm512_loadu_si512(rows.as_ptr().add(i).cast()) };
        let block = _mm512_srli_epi32::<{ BLOCK.ilog2() }>(row);
        let at = _mm512_add_epi32(_mm512_add_epi32(row, _mm512_mullo_epi32(block, skip)), start);
        // The aligned four bytes that contain a code, so that nothing after the last code is read.
        let around = _mm512_and_si512(at, number(!3));
        // SAFETY: codes of rows of the store lie in the blocks, whose length is a multiple of four.
        let four = unsafe { _mm512_i32gather_epi32::<1>(around, blocks.as_ptr().cast()) };
        let shift = _mm512_slli_epi32::<3>(_mm512_and_si512(at, number(3)));
        let code = _mm512_and_si512(_mm512_srlv_epi32(four, shift), number(255));
        let word = _mm512_permutexvar_epi32(_mm512_srli_epi32::<5>(code), set_words);
        let bit = _mm512_srlv_epi32(word, _mm512_and_si512(code, number(31)));
        let go = _mm512_test_epi32_mask(bit, number(1));
        // SAFETY: `n_left <= i` and `n_right <= i`, so that sixteen places are there, and of `rows` all of them have been read.
        unsafe {
            _mm512_storeu_si512(rows.as_mut_ptr().add(n_left).cast(), _mm512_maskz_compress_epi32(go, row));
            _mm512_storeu_si512(spare.as_mut_ptr().add(n_right).cast(), _mm512_maskz_compress_epi32(!go, row));
        }
        n_left += go.count_ones() as usize;
        n_right += go.count_zeros() as usize;
    }
    let is_left = |row: u32| {
        let code = blocks[place.of(row)] as usize;
        (set[code / 32] >> (code % 32) & 1) as u8
    };
    partition_rest((full, n_left), is_left, rows, spare)
}

/// Partitions rows to the left (front) and to the right, keeping their order. Returns the number on the left.
fn partition<C: BinCode>(
    bytes: &BinBytes<C>,
    column: usize,
    n_columns: usize,
    left: &[u8],
    rows: &mut [u32],
    spare: &mut [u32],
) -> usize {
    match bytes.blocks() {
        Some(blocks) => {
            let place = ColumnBlocks { column, n_columns };
            partition_rest((0, 0), |row| left[blocks[place.of(row)].index()], rows, spare)
        }
        None => {
            let (codes, stride) = (bytes.rows(), bytes.stride());
            partition_rest((0, 0), |row| left[codes[row as usize * stride + column].index()], rows, spare)
        }
    }
}

/// Partitions the rows starting at `first`, after `n_left` earlier rows went left and the others are in `spare`.
#[inline(always)]
fn partition_rest(
    (first, mut n_left): (usize, usize),
    is_left: impl Fn(u32) -> u8,
    rows: &mut [u32],
    spare: &mut [u32],
) -> usize {
    let mut n_right = first - n_left;
    for i in first..rows.len() {
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
        fn rows_are_partitioned_by_their_codes(seed: u64, n in 1usize..10_000, d in 1usize..5) {
            let mut rng = ermine_core::rng::stream(seed, &[]);
            let mut draw = |k: usize| ermine_core::rng::below(&mut rng, k);
            let columns = (0..d).map(|j| Column::numeric(format!("{j}"), (0..n).map(|_| draw(300) as f64).collect::<Vec<_>>())).collect();
            let features = Features::new(Arc::new(Table::new(columns).unwrap()));
            let store = BinStore::new(&[&features], &Bins::fit(&features, 255));
            let StoreCodes::U8(bytes) = store.codes() else { panic!("few bins") };
            let column = draw(d);
            let left: Vec<u8> = (0..store.n_slots()[column]).map(|_| draw(2) as u8).collect();
            let rows: Vec<u32> = (0..n as u32).filter(|_| draw(3) > 0).collect();
            let (mut some, mut all) = (rows.clone(), rows);
            let (mut spare, mut other) = (vec![0; n], vec![0; n]);
            // SAFETY: the rows and the column are those of the store.
            let n_left = unsafe { partition_bytes(bytes, column, d, &left, &mut some, &mut spare) };
            prop_assert_eq!(n_left, partition(bytes, column, d, &left, &mut all, &mut other));
            prop_assert_eq!(some, all);
        }
    }

    fn store_of(n: usize) -> BinStore {
        let column = Column::numeric("x", (0..n).map(|i| i as f64).collect::<Vec<_>>());
        let features = Features::new(Arc::new(Table::new(vec![column]).unwrap()));
        BinStore::new(&[&features], &Bins::fit(&features, 255))
    }

    #[test]
    #[should_panic(expected = "rows of the store")]
    fn a_shard_larger_than_the_store_panics() {
        let mut shard = Shard::new(0..1_000_000, vec![vec![0.0; 1_000_000]]);
        shard.begin(None);
        shard.split(&store_of(100), 0, 0, &BinTest::AtMost { bin: 50, missing_left: false });
    }

    #[test]
    #[should_panic]
    fn an_unknown_column_panics() {
        let mut shard = Shard::new(0..100, vec![vec![0.0; 100]]);
        shard.begin(None);
        shard.split(&store_of(100), 0, 1, &BinTest::AtMost { bin: 50, missing_left: false });
    }
}
