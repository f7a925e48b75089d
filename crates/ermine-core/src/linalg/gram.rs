//! Gram matrices `G = sum_i v_i v_i'`, where `v_i = [s_i (x_i - shift), e_i]`: weighted rows of a table with a few extra entries.
//!
//! **Idea.** Least squares needs `X'WX` and `X'Wy`; a Newton step needs `X'SX` and the gradient; an interior-point step needs `X'DX`. All are Gram matrices of scaled rows with
//! extra entries (a 1 for the intercept, the target, the residual divided by the square root of its weight). So one kernel computes them all, and the right-hand side costs one
//! more column.
//!
//! **Implementation.** A block of rows is packed into panels of eight columns, which stay in the second-level cache. A register tile is 8 x 24 entries of `G` (24 AVX-512
//! accumulators): per row it loads three registers, broadcasts eight numbers and does 24 fused multiply-adds. Only tiles that touch the upper triangle are computed.
//!
//! **Cost.** `n P^2` flops for `P` columns, one pass over the data. Each thread sums chunks of rows into `P x P` matrices; the number of chunks depends only on the shape, and
//! the sums take less than half the memory of the data.
//!
//! **Reference.** Goto and van de Geijn, "Anatomy of high-performance matrix multiplication" (2008), for the packing.

use super::dense::{BLOCK, Dense, RowBlock};
use super::lanes::LANES;
use super::matrix::Matrix;
use super::{chunks, dense::add_in_order};
use crate::parallel;
use crate::simd::Level;
use crate::versions;
use std::ops::Range;

/// A sum of outer products, and an additional sum.
#[derive(Debug, Clone)]
pub struct Gram {
    /// `sum_i v_i v_i'`: first the columns of the table, then the extra entries.
    pub products: Matrix,
    /// The sum of the values returned by `weigh`, block by block in order.
    pub total: f64,
}

/// Chunks of rows for sums of `width` x `width` numbers.
pub(super) fn chunks_for(n_rows: usize, width: usize) -> Vec<Range<usize>> {
    chunks(n_rows, (n_rows / (2 * width.max(1))).clamp(1, 16), 4 * BLOCK)
}

impl Gram {
    /// Sums over all rows of `x`.
    ///
    /// `weigh` is called once per block of rows. It gets the rows, writes each row's scale `s_i` and its `extras` extra entries (row by row, not scaled), and returns the value to add
    /// to [`Gram::total`]. An empty `shift` means no shift.
    pub fn of(
        x: &Dense,
        shift: &[f64],
        extras: usize,
        weigh: impl Fn(Range<usize>, RowBlock, &mut [f64], &mut [f64]) -> f64 + Sync,
    ) -> Gram {
        let (p, width) = (x.n_columns(), x.n_columns() + extras);
        let n_panels = width.div_ceil(LANES);
        let sum = |rows: Range<usize>| {
            let mut work = GramBuffers::new(n_panels, extras);
            let (mut c, mut total) = (vec![0.0; (n_panels * LANES) * (n_panels * LANES)], 0.0);
            for start in rows.clone().step_by(BLOCK) {
                let range = start..(start + BLOCK).min(rows.end);
                let (scale, extra) = (&mut work.scale[..range.len()], &mut work.extra[..range.len() * extras]);
                let block = x.block(range.clone(), &mut work.buffer);
                total += weigh(range.clone(), block, scale, extra);
                let packed = &mut work.packed[..range.len() * n_panels * LANES];
                pack(block.data, block.stride, p, shift, scale, packed);
                pack_extras(extra, extras, p, range.len(), packed);
                multiply(packed, packed, range.len(), &mut c, true);
            }
            c.push(total);
            c
        };
        let parts: Vec<Vec<f64>> = parallel::consume(chunks_for(x.n_rows(), width), |_, rows| sum(rows));
        let side = n_panels * LANES;
        let mut total = add_in_order(parts, side * side + 1);
        let extra = total.pop().unwrap_or(0.0);
        let mut products = Matrix::from_fn(width, width, |i, j| total[i.min(j) * side + i.max(j)]);
        products.mirror();
        Gram { products, total: extra }
    }

    /// `sum_i w_i [x_i - shift, y_i..., 1] [...]'` for weights `w` (all 1 if `None`) and targets of length `n_rows`: the sufficient statistics of least squares.
    pub fn of_targets(x: &Dense, shift: &[f64], targets: &[&[f64]], weights: Option<&[f64]>) -> Gram {
        Gram::of(x, shift, targets.len() + 1, |rows, _, scale, extra| {
            for ((r, i), extra) in rows.enumerate().zip(extra.chunks_exact_mut(targets.len() + 1)) {
                scale[r] = weights.map_or(1.0, |w| w[i].sqrt());
                extra[targets.len()] = scale[r];
                extra.iter_mut().zip(targets).for_each(|(e, y)| *e = scale[r] * y[i]);
            }
            0.0
        })
    }
}

/// `X_A' S X_B`, for chosen columns `A` and `B` and weights `s` (all 1 if `None`): `|A|` rows of `|B|`. A nonempty `shift` is subtracted from every row first.
pub fn cross_products(x: &Dense, left: &[usize], right: &[usize], shift: &[f64], weights: Option<&[f64]>) -> Matrix {
    let (a, b) = (left.len().div_ceil(LANES), right.len().div_ceil(LANES));
    let side = b * LANES;
    let pick = |chosen: &[usize]| if shift.is_empty() { vec![] } else { chosen.iter().map(|&j| shift[j]).collect() };
    let (left_shift, right_shift): (Vec<f64>, Vec<f64>) = (pick(left), pick(right));
    let sum = |rows: Range<usize>| {
        let mut c = vec![0.0; a * LANES * side];
        let (mut lines, ones) = (Vec::new(), [1.0; BLOCK]);
        let (mut packed_a, mut packed_b) = (vec![0.0; BLOCK * a * LANES], vec![0.0; BLOCK * side]);
        for start in rows.clone().step_by(BLOCK) {
            let range = start..(start + BLOCK).min(rows.end);
            let k = range.len();
            x.gather(range.clone(), right, &mut lines);
            pack(&lines, right.len(), right.len(), &right_shift, &ones[..k], &mut packed_b[..k * side]);
            x.gather(range.clone(), left, &mut lines);
            let scale = weights.map_or(&ones[..k], |w| &w[range]);
            pack(&lines, left.len(), left.len(), &left_shift, scale, &mut packed_a[..k * a * LANES]);
            multiply(&packed_a[..k * a * LANES], &packed_b[..k * side], k, &mut c, false);
        }
        c
    };
    let chunks = chunks(x.n_rows(), (x.n_rows() / left.len().max(64)).clamp(1, 16), 4 * BLOCK);
    let parts: Vec<Vec<f64>> = parallel::consume(chunks, |_, rows| sum(rows));
    let total = add_in_order(parts, a * LANES * side);
    Matrix::from_fn(left.len(), right.len(), |i, j| total[i * side + j])
}

/// A table packed for Gram matrices with many different weights, optionally with a column of ones. It takes as much memory as the table.
#[derive(Debug, Clone)]
pub struct PackedTable {
    width: usize,
    n_rows: usize,
    /// The panels of each block of rows.
    blocks: Vec<Vec<f64>>,
}

impl PackedTable {
    /// Packs all rows.
    pub fn new(x: &Dense, ones: bool) -> PackedTable {
        let (p, extras) = (x.n_columns(), usize::from(ones));
        let n_panels = (p + extras).div_ceil(LANES);
        let one = [1.0; BLOCK];
        let block = |b: usize| {
            let range = b * BLOCK..((b + 1) * BLOCK).min(x.n_rows());
            let (mut buffer, mut packed) = (Vec::new(), vec![0.0; range.len() * n_panels * LANES]);
            let block = x.block(range.clone(), &mut buffer);
            pack(block.data, block.stride, p, &[], &one[..range.len()], &mut packed);
            pack_extras(&one[..range.len() * extras], extras, p, range.len(), &mut packed);
            packed
        };
        let blocks = parallel::map(x.n_rows().div_ceil(BLOCK), block);
        PackedTable { width: p + extras, n_rows: x.n_rows(), blocks }
    }

    /// `sum_i s_i v_i v_i'` over the packed rows `v_i`; weights may be negative.
    pub fn gram(&self, weights: &[f64]) -> Matrix {
        let n_panels = self.width.div_ceil(LANES);
        let side = n_panels * LANES;
        let mut c = vec![0.0; side * side];
        let mut scaled = [0.0; BLOCK * LANES];
        for (packed, weights) in self.blocks.iter().zip(weights[..self.n_rows].chunks(BLOCK)) {
            let k = weights.len();
            for (i, panel) in packed.chunks_exact(k * LANES).enumerate() {
                scale_panel(panel, weights, &mut scaled[..k * LANES]);
                multiply_panel(&scaled[..k * LANES], packed, k, i, &mut c[i * LANES * side..], side);
            }
        }
        let mut products = Matrix::from_fn(self.width, self.width, |i, j| c[i.min(j) * side + i.max(j)]);
        products.mirror();
        products
    }
}

versions! {
    fn scale_panel(panel: &[f64], weights: &[f64], out: &mut [f64]) {
        for ((out, x), w) in out.chunks_exact_mut(LANES).zip(panel.chunks_exact(LANES)).zip(weights) {
            for l in 0..LANES {
                out[l] = x[l] * w;
            }
        }
    }
}

struct GramBuffers {
    buffer: Vec<f64>,
    packed: Vec<f64>,
    scale: Vec<f64>,
    extra: Vec<f64>,
}

impl GramBuffers {
    fn new(n_panels: usize, extras: usize) -> Self {
        let packed = vec![0.0; BLOCK * n_panels * LANES];
        GramBuffers { buffer: Vec::new(), packed, scale: vec![0.0; BLOCK], extra: vec![0.0; BLOCK * extras] }
    }
}

versions! {
    /// Packs the rows of a block into panels of eight columns, shifted and scaled; the last panel is padded with zeros.
    pub(super) fn pack(x: &[f64], stride: usize, p: usize, shift: &[f64], scale: &[f64], packed: &mut [f64]) {
        let k = scale.len();
        let n_panels = packed.len() / (k * LANES).max(1);
        let (full, rest) = (p / LANES, p % LANES);
        // Row by row, so that the data are read sequentially.
        for (r, &s) in scale.iter().enumerate() {
            let row = &x[r * stride..r * stride + p];
            for g in 0..full {
                let from = &row[g * LANES..(g + 1) * LANES];
                let out = &mut packed[(g * k + r) * LANES..(g * k + r + 1) * LANES];
                if shift.is_empty() {
                    for l in 0..LANES {
                        out[l] = from[l] * s;
                    }
                } else {
                    let offset = &shift[g * LANES..(g + 1) * LANES];
                    for l in 0..LANES {
                        out[l] = (from[l] - offset[l]) * s;
                    }
                }
            }
            for g in full..n_panels {
                let out = &mut packed[(g * k + r) * LANES..(g * k + r + 1) * LANES];
                out.fill(0.0);
                let tail = if g == full { rest } else { 0 };
                for (l, out) in out[..tail].iter_mut().enumerate() {
                    let j = full * LANES + l;
                    *out = (row[j] - if shift.is_empty() { 0.0 } else { shift[j] }) * s;
                }
            }
        }
    }
}

fn pack_extras(extra: &[f64], extras: usize, p: usize, k: usize, packed: &mut [f64]) {
    for (r, row) in extra.chunks_exact(extras.max(1)).enumerate() {
        for (e, &value) in row.iter().enumerate() {
            let column = p + e;
            packed[(column / LANES * k + r) * LANES + column % LANES] = value;
        }
    }
}

/// `c += a' b` for packed panels of `k` rows; with `upper`, only tiles that touch the upper triangle.
fn multiply(a: &[f64], b: &[f64], k: usize, c: &mut [f64], upper: bool) {
    let pitch = k * LANES;
    if pitch == 0 {
        return;
    }
    let side = b.len() / pitch * LANES;
    for (i, panel) in a.chunks_exact(pitch).enumerate() {
        multiply_panel(panel, b, k, if upper { i } else { 0 }, &mut c[i * LANES * side..], side);
    }
}

/// Eight rows of `c`, `side` apart: `c += a' b`, starting with panel `first` of `b`.
pub(super) fn multiply_panel(a: &[f64], b: &[f64], k: usize, first: usize, c: &mut [f64], side: usize) {
    let (pitch, level) = (k * LANES, Level::detect());
    let n_panels = b.len() / pitch;
    for j in (first..n_panels).step_by(3) {
        let wide = (n_panels - j).min(3);
        multiply_tile(level, a, &b[j * pitch..(j + wide) * pitch], k, &mut c[j * LANES..], side);
    }
}

/// One tile: eight rows of `c`, `side` apart, and eight columns per panel of `b` (at most 3 panels).
fn multiply_tile(level: Level, a: &[f64], b: &[f64], k: usize, c: &mut [f64], side: usize) {
    let pitch = k.checked_mul(LANES).expect("rows of a panel that fit into memory");
    let wide = b.len() / pitch;
    // The last of the eight rows ends here.
    let end = side.checked_mul(LANES - 1).and_then(|start| start.checked_add(wide * LANES));
    assert!(a.len() >= pitch && end.is_some_and(|end| c.len() >= end), "a tile that lies inside its matrices");
    tile(level, a, b, k, c, side);
}

/// Rows of `c` whose sums are kept in registers at the same time.
const ROWS: usize = 4;

versions! {
    fn tile(set: impl Instructions, a: &[f64], b: &[f64], k: usize, c: &mut [f64], side: usize) {
        for first in (0..LANES).step_by(ROWS) {
            match b.len() / (k * LANES) {
                3 if set.has_avx512() => rows_of_tile::<3>(a, first, b, k, c, side),
                2 if set.has_avx512() => rows_of_tile::<2>(a, first, b, k, c, side),
                _ => {
                    for (w, b) in b.chunks_exact(k * LANES).enumerate() {
                        rows_of_tile::<1>(a, first, b, k, &mut c[w * LANES..], side);
                    }
                }
            }
        }
    }
}

/// Some rows of a tile, starting with `first`, for `W` panels.
#[inline(always)]
fn rows_of_tile<const W: usize>(a: &[f64], first: usize, b: &[f64], k: usize, c: &mut [f64], side: usize) {
    let a = &a.as_chunks::<LANES>().0[..k];
    let b = b.as_chunks::<LANES>().0;
    let panels: [&[[f64; LANES]]; W] = std::array::from_fn(|w| &b[w * k..(w + 1) * k]);
    let mut sums = [[[0.0f64; LANES]; W]; ROWS];
    for r in 0..k {
        // Copies first, so that the compiler keeps all sums in registers. More than four rows of three panels would spill.
        let (x, y): ([_; W], [_; ROWS]) =
            (std::array::from_fn(|w| panels[w][r]), std::array::from_fn(|i| a[r][first + i]));
        for i in 0..ROWS {
            for w in 0..W {
                for l in 0..LANES {
                    sums[i][w][l] = f64::mul_add(y[i], x[w][l], sums[i][w][l]);
                }
            }
        }
    }
    for (i, sums) in sums.iter().enumerate() {
        let c = &mut c[(first + i) * side..(first + i) * side + W * LANES];
        c.iter_mut().zip(sums.as_flattened()).for_each(|(c, s)| *c += s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::InstructionSet;
    use proptest::prelude::*;

    fn numbers(len: usize, seed: u64) -> Vec<f64> {
        let mut rng = crate::rng::stream(seed, &[]);
        (0..len).map(|_| crate::rng::below(&mut rng, 2001) as f64 / 1000.0 - 1.0).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn products_match_the_definition(n in 0usize..400, p in 0usize..30, seed in 0u64..50) {
            let (x, y, w) = (numbers(n * p, seed), numbers(n, seed + 1), numbers(n, seed + 2));
            let w: Vec<f64> = w.iter().map(|w| w + 1.0).collect();
            let shift: Vec<f64> = (0..p).map(|j| j as f64 / 10.0).collect();
            let dense = Dense::rows_f64(&x, n, p, p).unwrap();
            let gram = Gram::of_targets(&dense, &shift, &[&y], Some(&w)).products;
            let entry = |i: usize, j: usize| if j < p { x[i * p + j] - shift[j] } else if j == p { y[i] } else { 1.0 };
            for a in 0..p + 2 {
                for b in 0..p + 2 {
                    let truth: f64 = (0..n).map(|i| w[i] * entry(i, a) * entry(i, b)).sum();
                    prop_assert!((gram[(a, b)] - truth).abs() < 1e-10 * n as f64 + 1e-12, "{a} {b}");
                    prop_assert_eq!(gram[(a, b)], gram[(b, a)]);
                }
            }
            let packed = PackedTable::new(&dense, true).gram(&y);
            for a in 0..p + 1 {
                for b in 0..p + 1 {
                    let entry = |i: usize, j: usize| if j < p { x[i * p + j] } else { 1.0 };
                    let truth: f64 = (0..n).map(|i| y[i] * entry(i, a) * entry(i, b)).sum();
                    prop_assert!((packed[(a, b)] - truth).abs() < 1e-10 * n as f64 + 1e-12, "{a} {b}");
                }
            }
            let (left, right): (Vec<usize>, Vec<usize>) = ((0..p).step_by(2).collect(), (0..p).rev().collect());
            let cross = cross_products(&dense, &left, &right, &shift, Some(&w));
            for (a, &i) in left.iter().enumerate() {
                for (b, &j) in right.iter().enumerate() {
                    let truth: f64 = (0..n).map(|r| w[r] * (x[r * p + i] - shift[i]) * (x[r * p + j] - shift[j])).sum();
                    prop_assert!((cross[(a, b)] - truth).abs() < 1e-10 * n as f64 + 1e-12);
                }
            }
        }

        #[test]
        fn every_kernel_gives_the_same_bits(k in 1usize..200, wide in 1usize..4, seed in 0u64..20) {
            let (a, b) = (numbers(k * LANES, seed), numbers(wide * k * LANES, seed + 1));
            let side = wide * LANES + 5;
            let tile = |level| {
                let mut c = numbers(8 * side, 3);
                multiply_tile(level, &a, &b, k, &mut c, side);
                c
            };
            let mut plain = numbers(8 * side, 3);
            for (w, b) in b.chunks_exact(k * LANES).enumerate() {
                for (i, l) in (0..LANES).flat_map(|i| (0..LANES).map(move |l| (i, l))) {
                    let sum = (0..k).fold(0.0f64, |sum, r| a[r * LANES + i].mul_add(b[r * LANES + l], sum));
                    plain[i * side + w * LANES + l] += sum;
                }
            }
            prop_assert_eq!(&tile(Level::at_most(InstructionSet::Plain)), &plain);
            prop_assert_eq!(&tile(Level::at_most(InstructionSet::Avx2)), &plain);
            prop_assert_eq!(&tile(Level::at_most(InstructionSet::Avx512)), &plain);
        }
    }

    #[test]
    #[should_panic(expected = "a tile that lies inside its matrices")]
    fn a_tile_that_overflows_the_address_space_is_rejected() {
        // Seven of these wrap around to almost nothing.
        let side = usize::MAX / 7 + 1;
        assert!(side.wrapping_mul(7) < 8);
        multiply_panel(&[0.0; LANES], &[0.0; LANES], 1, 0, &mut [0.0; 4 * LANES], side);
    }

    #[test]
    #[should_panic(expected = "rows of a panel that fit into memory")]
    fn a_panel_that_overflows_the_address_space_is_rejected() {
        multiply_tile(Level::detect(), &[0.0; LANES], &[0.0; LANES], usize::MAX / LANES + 2, &mut [0.0; 64], LANES);
    }

    #[test]
    fn the_number_of_threads_does_not_change_a_bit() {
        let (n, p) = (20_000, 13);
        let (x, y) = (numbers(n * p, 1), numbers(n, 2));
        let dense = Dense::rows_f64(&x, n, p, p).unwrap();
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Gram::of_targets(&dense, &[], &[&y], None).products)
        };
        assert_eq!(run(1), run(2));
        assert_eq!(run(1), run(5));
    }
}
