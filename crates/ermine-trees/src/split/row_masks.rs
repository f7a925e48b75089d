//! Splits of nodes of at most 64 rows: a set of rows is one 64-bit mask, a column is 64 bytes, and counting is counting bits.
//!
//! **Idea.** Most nodes of a fully grown tree are small. With the bins of a column in one vector, one comparison gives the mask of the rows below a cut. The weight of a class in a mask follows from bit counts
//! with the bit planes of the row weights (plane p holds bit p of every weight). Nothing is moved when a node is split: a child is another mask.
//!
//! **Cuts.** For strictly concave impurities a best cut is adjacent to the value of some row outside the most frequent class (Fayyad and Irani 1992; Elomaa and Rousu 1999 for Gini), so only the cuts directly
//! below and above the bins of those rows are tried.
//!
//! **Formula.** Two classes: a^2 / v + b^2 / w, with weights v and w and second-class weights a and b of the two sides; more classes: the same with sums of squares over the classes. Fractions are compared
//! without division.
//!
//! **Reproducibility.** All sums are integers; SIMD instructions only make the comparisons faster.

use super::impurity::score_fraction;
#[cfg(target_arch = "x86_64")]
use ermine_core::simd::InstructionSet;

/// The bins of a column for up to 64 rows.
pub type Bins64 = [u8; 64];

/// Maximum number of bits of a row's weight.
const PLANES: usize = 16;

/// Statistics of a mask of rows.
pub trait MaskStatistics {
    /// The sums of a mask.
    type Sums: Copy;
    /// The sums of a mask.
    fn sums(&self, rows: u64) -> Self::Sums;
    /// The score of a split as numerator and denominator.
    fn fraction(&self, all: &Self::Sums, left: &Self::Sums) -> (f64, f64);
    /// The score of a set.
    fn score(&self, sums: &Self::Sums) -> f64;
    /// The weight of a set.
    fn weight(&self, sums: &Self::Sums) -> f64;
    /// The rows outside the most frequent class; none if the mask is pure.
    fn others(&self, rows: u64) -> u64;
}

/// A split of a mask.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MaskCut {
    /// The column.
    pub column: u32,
    /// The rows on the left.
    pub left: u64,
    /// The sum of the scores of both sides.
    pub score: f64,
}

/// Masks of two classes.
#[derive(Debug, Clone)]
pub struct TwoClassMasks {
    weight: [u64; PLANES],
    second: [u64; PLANES],
    n_planes: usize,
    is_second: u64,
}

/// Masks of up to 8 B classes.
#[derive(Debug, Clone)]
pub struct ClassMasks<const B: usize> {
    planes: Vec<[[u64; 8]; B]>,
}

impl TwoClassMasks {
    /// The classes (0 or 1) and weights of the rows, in their order; the weights have at most 16 bits.
    pub fn new(rows: impl Iterator<Item = (usize, u32)>) -> TwoClassMasks {
        let mut made = TwoClassMasks { weight: [0; PLANES], second: [0; PLANES], n_planes: 0, is_second: 0 };
        let mut most = 0;
        for (row, (class, weight)) in rows.take(64).enumerate() {
            most |= weight;
            made.is_second |= (class as u64 & 1) << row;
            for plane in 0..PLANES {
                made.weight[plane] |= u64::from(weight >> plane & 1) << row;
            }
        }
        made.n_planes = (32 - most.leading_zeros() as usize).min(PLANES);
        made.second = made.weight.map(|plane| plane & made.is_second);
        made
    }
}

impl MaskStatistics for TwoClassMasks {
    /// The weight, and that of the second class.
    type Sums = (u32, u32);

    #[inline(always)]
    fn sums(&self, rows: u64) -> (u32, u32) {
        let (mut all, mut second) = (0, 0);
        for plane in 0..self.n_planes {
            all += (rows & self.weight[plane]).count_ones() << plane;
            second += (rows & self.second[plane]).count_ones() << plane;
        }
        (all, second)
    }

    #[inline(always)]
    fn fraction(&self, all: &(u32, u32), left: &(u32, u32)) -> (f64, f64) {
        let (v, a) = (f64::from(left.0), f64::from(left.1));
        let (w, b) = (f64::from(all.0 - left.0), f64::from(all.1 - left.1));
        score_fraction((a * a, v), (b * b, w))
    }

    fn score(&self, sums: &(u32, u32)) -> f64 {
        f64::from(sums.1) * f64::from(sums.1) / f64::from(sums.0)
    }

    fn weight(&self, sums: &(u32, u32)) -> f64 {
        f64::from(sums.0)
    }

    #[inline(always)]
    fn others(&self, rows: u64) -> u64 {
        let (first, second) = (rows & !self.is_second, rows & self.is_second);
        if first.count_ones() < second.count_ones() { first } else { second }
    }
}

impl<const B: usize> ClassMasks<B> {
    /// The classes and weights of the rows, in their order.
    pub fn new(rows: impl Iterator<Item = (usize, u32)>) -> ClassMasks<B> {
        let mut planes: Vec<[[u64; 8]; B]> = Vec::new();
        for (row, (class, weight)) in rows.take(64).enumerate() {
            let n_planes = 32 - weight.leading_zeros() as usize;
            planes.resize(planes.len().max(n_planes), [[0; 8]; B]);
            for (plane, of_plane) in planes.iter_mut().enumerate() {
                of_plane[class / 8 % B][class % 8] |= u64::from(weight >> plane & 1) << row;
            }
        }
        ClassMasks { planes }
    }
}

impl<const B: usize> MaskStatistics for ClassMasks<B> {
    /// The weight of each class.
    type Sums = [[u64; 8]; B];

    #[inline(always)]
    fn sums(&self, rows: u64) -> Self::Sums {
        let mut sums = [[0; 8]; B];
        for (plane, of_plane) in self.planes.iter().enumerate() {
            for (sums, classes) in sums.iter_mut().zip(of_plane) {
                for (sum, class) in sums.iter_mut().zip(classes) {
                    *sum += u64::from((rows & class).count_ones()) << plane;
                }
            }
        }
        sums
    }

    #[inline(always)]
    fn fraction(&self, all: &Self::Sums, left: &Self::Sums) -> (f64, f64) {
        let (mut v, mut w, mut squares_left, mut squares_right) = (0, 0, 0, 0);
        for (all, left) in all.iter().zip(left) {
            for (all, &left) in all.iter().zip(left) {
                let right = all - left;
                v += left;
                w += right;
                squares_left += left * left;
                squares_right += right * right;
            }
        }
        let (v, w) = (v as f64, w as f64);
        score_fraction((squares_left as f64, v), (squares_right as f64, w))
    }

    fn score(&self, sums: &Self::Sums) -> f64 {
        let squares: u64 = sums.iter().flatten().map(|s| s * s).sum();
        squares as f64 / self.weight(sums)
    }

    fn weight(&self, sums: &Self::Sums) -> f64 {
        sums.iter().flatten().sum::<u64>() as f64
    }

    fn others(&self, rows: u64) -> u64 {
        let class = |block: usize, k: usize| {
            self.planes.iter().fold(0, |rows_of_class, plane| rows_of_class | plane[block][k]) & rows
        };
        let each = (0..B).flat_map(|block| (0..8).map(move |k| (block, k)));
        let most = each.map(|(block, k)| class(block, k)).max_by_key(|rows| rows.count_ones());
        rows & !most.unwrap_or(0)
    }
}

/// The best cut of some columns among the rows of an impure mask; `None` if all columns are constant.
pub fn best_cut<T: MaskStatistics>(sets: &T, columns: &[Bins64], drawn: &[u32], rows: u64) -> Option<MaskCut> {
    #[cfg(target_arch = "x86_64")]
    {
        if wide() {
            // SAFETY: the processor has the features (`wide`).
            return unsafe { x86::best_cut_avx512(sets, columns, drawn, rows) };
        }
        if ermine_core::simd::has(InstructionSet::Avx2) {
            // SAFETY: the processor has the features, as just detected.
            return unsafe { x86::best_cut_avx2(sets, columns, drawn, rows) };
        }
    }
    best_cut_by(at_most, sets, columns, drawn, rows)
}

/// The best of one cut for each of some columns: rows whose bin is at most that number go left.
pub fn best_of<T: MaskStatistics>(sets: &T, columns: &[Bins64], cuts: &[(u32, u8)], rows: u64) -> Option<MaskCut> {
    #[cfg(target_arch = "x86_64")]
    if wide() {
        // SAFETY: the processor has the features (`wide`).
        return unsafe { x86::best_of_avx512(sets, columns, cuts, rows) };
    }
    best_of_by(at_most, sets, columns, cuts, rows)
}

/// The smallest and largest bin of some columns among the rows of a nonempty mask.
pub fn extremes(columns: &[Bins64], drawn: &[u32], rows: u64, out: &mut Vec<(u8, u8)>) {
    out.clear();
    #[cfg(target_arch = "x86_64")]
    if wide() {
        // SAFETY: the processor has the features (`wide`).
        out.extend(drawn.iter().map(|&column| unsafe { x86::extremes_avx512(&columns[column as usize], rows) }));
        return;
    }
    out.extend(drawn.iter().map(|&column| extremes_of(&columns[column as usize], rows)));
}

/// The smallest and largest bin of a column among the rows of a mask.
pub fn extremes_of(column: &Bins64, rows: u64) -> (u8, u8) {
    set_bits(rows).fold((u8::MAX, 0), |(low, high), row| (low.min(column[row]), high.max(column[row])))
}

/// The positions of the set bits.
pub fn set_bits(mut rows: u64) -> impl Iterator<Item = usize> + Clone {
    std::iter::from_fn(move || {
        let row = (rows != 0).then(|| rows.trailing_zeros() as usize)?;
        rows &= rows - 1;
        Some(row)
    })
}

/// Transposes the first bytes of up to 64 lines to columns, in blocks of 8 x 8.
pub fn transpose(lines: &[u8], stride: usize, columns: &mut [Bins64]) {
    let n = (lines.len() / stride).min(64);
    for (block, columns) in columns.chunks_mut(8).enumerate() {
        for first in (0..n).step_by(8) {
            let mut square: [u64; 8] = std::array::from_fn(|i| {
                let at = (first + i).min(n - 1) * stride + 8 * block;
                lines[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
            });
            // Swap the off-diagonal blocks of ever smaller squares.
            for (distance, mask) in
                [(4, 0x0000_0000_ffff_ffffu64), (2, 0x0000_ffff_0000_ffff), (1, 0x00ff_00ff_00ff_00ff)]
            {
                for i in (0..8).filter(|i| i & distance == 0) {
                    let (a, b) = (square[i], square[i + distance]);
                    let moved = (a >> (8 * distance) ^ b) & mask;
                    square[i] = a ^ moved << (8 * distance);
                    square[i + distance] = b ^ moved;
                }
            }
            for (column, word) in columns.iter_mut().zip(square) {
                column[first..first + 8].copy_from_slice(&word.to_le_bytes());
            }
        }
    }
}

/// Whether the processor supports the AVX-512 functions.
#[cfg(target_arch = "x86_64")]
fn wide() -> bool {
    ermine_core::simd::has(InstructionSet::IceLake)
}

/// The mask of the rows up to a bin.
fn at_most(column: &Bins64, bin: u8) -> u64 {
    (0..64).fold(0, |rows, row| rows | u64::from(column[row] <= bin) << row)
}

/// The best split so far, as a fraction.
struct BestMaskCut {
    cut: Option<(u32, u64)>,
    numerator: f64,
    denominator: f64,
}

impl BestMaskCut {
    fn none() -> BestMaskCut {
        BestMaskCut { cut: None, numerator: -1.0, denominator: 1.0 }
    }

    #[inline(always)]
    fn consider<T: MaskStatistics>(&mut self, sets: &T, all: &T::Sums, column: u32, left: u64) {
        let (numerator, denominator) = sets.fraction(all, &sets.sums(left));
        if numerator * self.denominator > self.numerator * denominator {
            *self = BestMaskCut { cut: Some((column, left)), numerator, denominator };
        }
    }

    fn found(self) -> Option<MaskCut> {
        self.cut.map(|(column, left)| MaskCut { column, left, score: self.numerator / self.denominator })
    }
}

#[inline(always)]
fn best_cut_by<T: MaskStatistics>(
    at_most: impl Fn(&Bins64, u8) -> u64,
    sets: &T,
    columns: &[Bins64],
    drawn: &[u32],
    rows: u64,
) -> Option<MaskCut> {
    let (all, others) = (sets.sums(rows), sets.others(rows));
    let mut best = BestMaskCut::none();
    for &number in drawn {
        let column = &columns[number as usize];
        let mut before = 0;
        for row in set_bits(others) {
            let bin = column[row];
            let up_to = at_most(column, bin) & rows;
            if up_to == before {
                continue;
            }
            before = up_to;
            if up_to != rows {
                best.consider(sets, &all, number, up_to);
            }
            let below = if bin == 0 { 0 } else { at_most(column, bin - 1) & rows };
            if below != 0 {
                best.consider(sets, &all, number, below);
            }
        }
    }
    best.found()
}

#[inline(always)]
fn best_of_by<T: MaskStatistics>(
    at_most: impl Fn(&Bins64, u8) -> u64,
    sets: &T,
    columns: &[Bins64],
    cuts: &[(u32, u8)],
    rows: u64,
) -> Option<MaskCut> {
    let all = sets.sums(rows);
    let mut best = BestMaskCut::none();
    for &(column, bin) in cuts {
        best.consider(sets, &all, column, at_most(&columns[column as usize], bin) & rows);
    }
    best.found()
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::*;
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx512f,avx512bw")]
    fn at_most_avx512(column: &Bins64, bin: u8) -> u64 {
        // SAFETY: a column has 64 bytes, and the load needs no alignment.
        let bins = unsafe { _mm512_loadu_si512(column.as_ptr().cast()) };
        _mm512_cmple_epu8_mask(bins, _mm512_set1_epi8(bin as i8))
    }

    #[target_feature(enable = "avx2")]
    fn at_most_avx2(column: &Bins64, bin: u8) -> u64 {
        let cut = _mm256_set1_epi8(bin as i8);
        let half = |first: usize| {
            // SAFETY: 32 of the column's 64 bytes follow from `first`, which is 0 or 32; the load needs no alignment.
            let bins = unsafe { _mm256_loadu_si256(column.as_ptr().add(first).cast()) };
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(bins, cut), bins)) as u32
        };
        u64::from(half(0)) | u64::from(half(32)) << 32
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vpopcntdq,popcnt,bmi1,bmi2,lzcnt")]
    pub fn best_cut_avx512<T: MaskStatistics>(
        sets: &T,
        columns: &[Bins64],
        drawn: &[u32],
        rows: u64,
    ) -> Option<MaskCut> {
        best_cut_by(|column, bin| at_most_avx512(column, bin), sets, columns, drawn, rows)
    }

    #[target_feature(enable = "avx2,popcnt,bmi1,bmi2,lzcnt")]
    pub fn best_cut_avx2<T: MaskStatistics>(sets: &T, columns: &[Bins64], drawn: &[u32], rows: u64) -> Option<MaskCut> {
        best_cut_by(|column, bin| at_most_avx2(column, bin), sets, columns, drawn, rows)
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vpopcntdq,popcnt,bmi1,bmi2,lzcnt")]
    pub fn best_of_avx512<T: MaskStatistics>(
        sets: &T,
        columns: &[Bins64],
        cuts: &[(u32, u8)],
        rows: u64,
    ) -> Option<MaskCut> {
        best_of_by(|column, bin| at_most_avx512(column, bin), sets, columns, cuts, rows)
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    pub fn extremes_avx512(column: &Bins64, rows: u64) -> (u8, u8) {
        // SAFETY: a column has 64 bytes, and the load needs no alignment.
        let bins = unsafe { _mm512_loadu_si512(column.as_ptr().cast()) };
        let low = least(_mm512_mask_mov_epi8(_mm512_set1_epi8(-1), rows, bins));
        // The maximum is the complement of the minimum of the complements.
        let complement = _mm512_xor_si512(bins, _mm512_set1_epi8(-1));
        (low, !least(_mm512_mask_mov_epi8(_mm512_set1_epi8(-1), rows, complement)))
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    fn least(bins: __m512i) -> u8 {
        let half = _mm256_min_epu8(_mm512_castsi512_si256(bins), _mm512_extracti64x4_epi64::<1>(bins));
        let quarter = _mm_min_epu8(_mm256_castsi256_si128(half), _mm256_extracti128_si256::<1>(half));
        let pairs = _mm_min_epu8(quarter, _mm_srli_epi16::<8>(quarter));
        // The upper bytes are zero now, so the minimum word is the minimum byte.
        _mm_extract_epi16::<0>(_mm_minpos_epu16(_mm_and_si128(pairs, _mm_set1_epi16(0xff)))) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn masks_of(columns: &[Vec<u8>], n: usize) -> Vec<Bins64> {
        let stride = 64;
        let mut lines = vec![0u8; n * stride];
        for (c, column) in columns.iter().enumerate() {
            (0..n).for_each(|row| lines[row * stride + c] = column[row]);
        }
        let mut made = vec![[0; 64]; columns.len()];
        transpose(&lines, stride, &mut made);
        made
    }

    /// The best score of all cuts, one after the other.
    fn by_brute_force(columns: &[Vec<u8>], rows: &[(usize, u32)], set: u64) -> f64 {
        let mut best = f64::NEG_INFINITY;
        for column in columns {
            for cut in 0..255u8 {
                let mut sides = [vec![0.0; 20], vec![0.0; 20]];
                for row in set_bits(set) {
                    sides[usize::from(column[row] > cut)][rows[row].0] += f64::from(rows[row].1);
                }
                let score = |side: &Vec<f64>| side.iter().map(|s| s * s).sum::<f64>() / side.iter().sum::<f64>();
                let score = score(&sides[0]) + score(&sides[1]);
                if score.is_finite() {
                    best = best.max(score);
                }
            }
        }
        best
    }

    fn check<T: MaskStatistics>(sets: &T, columns: &[Vec<u8>], rows: &[(usize, u32)], set: u64, half: bool) {
        let made = masks_of(columns, rows.len());
        let drawn: Vec<u32> = (0..columns.len() as u32).collect();
        let found = best_cut(sets, &made, &drawn, set);
        assert_eq!(found, best_cut_by(at_most, sets, &made, &drawn, set), "wide units find the same");
        let best = by_brute_force(columns, rows, set);
        let Some(found) = found else { return assert_eq!(best, f64::NEG_INFINITY) };
        // One indicator instead of two: sum of squares = 2 a^2 - 2 a v + v^2 on each side.
        let all = sets.weight(&sets.sums(set));
        let second: f64 = set_bits(set).filter(|&row| rows[row].0 == 1).map(|row| f64::from(rows[row].1)).sum();
        let score = if half { 2.0 * found.score - 2.0 * second + all } else { found.score };
        assert!((score - best).abs() < 1e-9 * best.abs(), "{score} is not {best}");
        assert!(found.left != 0 && found.left & !set == 0 && found.left != set);
        let cuts: Vec<(u32, u8)> = drawn
            .iter()
            .map(|&c| (c, extremes_of(&made[c as usize], set)))
            .filter(|(_, e)| e.0 < e.1)
            .map(|(c, e)| (c, e.0))
            .collect();
        assert_eq!(best_of(sets, &made, &cuts, set), best_of_by(at_most, sets, &made, &cuts, set));
        let mut out = Vec::new();
        extremes(&made, &drawn, set, &mut out);
        assert_eq!(out, drawn.iter().map(|&c| extremes_of(&made[c as usize], set)).collect::<Vec<_>>());
    }

    proptest! {
        #[test]
        fn the_best_mask_cut_is_found(
            rows in prop::collection::vec((0usize..20, 1u32..300), 2..64),
            bins in prop::collection::vec(prop_oneof![0u8..4, any::<u8>()], 64 * 3),
            set in any::<u64>(), n_classes in 2usize..20,
        ) {
            let rows: Vec<(usize, u32)> = rows.iter().map(|r| (r.0 % n_classes, r.1)).collect();
            let columns: Vec<Vec<u8>> = bins.chunks(64).map(<[u8]>::to_vec).collect();
            let everything = if rows.len() == 64 { u64::MAX } else { (1 << rows.len()) - 1 };
            let set = set & everything;
            let classes: std::collections::BTreeSet<usize> = set_bits(set).map(|row| rows[row].0).collect();
            prop_assume!(classes.len() > 1);
            if n_classes == 2 {
                check(&TwoClassMasks::new(rows.iter().copied()), &columns, &rows, set, true);
            }
            check(&ClassMasks::<4>::new(rows.iter().copied()), &columns, &rows, set, false);
            if n_classes <= 8 {
                check(&ClassMasks::<1>::new(rows.iter().copied()), &columns, &rows, set, false);
            }
        }

        #[test]
        fn transposed_columns_match_the_lines(lines in prop::collection::vec(prop::collection::vec(any::<u8>(), 128), 1..64), d in 1usize..118) {
            let mut columns = vec![[0; 64]; d];
            transpose(&lines.concat(), 128, &mut columns);
            for (row, line) in lines.iter().enumerate() {
                for (c, column) in columns.iter().enumerate() {
                    prop_assert_eq!(column[row], line[c]);
                }
            }
        }
    }
}
