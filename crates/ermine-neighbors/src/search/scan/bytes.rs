//! The byte filter for the Euclidean family: one instruction multiplies and adds 64 bytes.
//!
//! **Idea.** Rows are moved to their center and rounded to whole steps s, -127 to 127: `x ~ s u`, `q ~ s v`. The squared distance of
//! the rounded rows, `s^2 (|u|^2 + |v|^2 - 2 u'v)`, is exact in integers. By the triangle inequality the true distance is at least
//! that of the rounded rows less both rounding errors, which are known: a pair further apart than that can't be within L.
//!
//! **Test.** Points are stored as `u + 128` (the instruction takes unsigned times signed), h = floor(|u|^2 / 2). With `M = ((L + e_x + e_q) / s)^2`
//! a pair passes when `sum (u + 128) v - h >= (|v|^2 - M) / 2 + 128 sum v`.
//!
//! **Memory.** One byte per value (columns rounded up to fours), 4 bytes per row for h and 4 per 256 rows for the largest e_x. Where that would be
//! more than 30% of the rows, the last few columns that make no whole four are left out (fewer columns only make a distance smaller, so
//! nothing near is lost); where it still is, there are no codes.
//!
//! **Range.** Each column adds between -(255 127 + 127^2 / 2) and 255 127 to a sum, so up to [`MOST_COLUMNS`] columns no sum leaves 32 bits; wider rows
//! have no codes.
//!
//! The step depends on the largest entry, so one outlier weakens the filter for all rows; [`super::tiles`] detects this, and the scan continues in single precision.

use super::tiles::{DistanceFilter, PANEL, RUN};
use crate::search::aligned::Aligned;
use crate::search::measured::Measured;
use ermine_core::distance::metric::Metric;
use ermine_core::parallel;
use ermine_core::simd::{self, InstructionSet};

/// Columns that one lane of the instruction takes at once.
const QUAD: usize = 4;
/// Rows with more columns could overflow the sums.
const MOST_COLUMNS: usize = i32::MAX as usize / (255 * 127 + 127 * 127 / 2 + 1);

/// Whether the machine has the instruction.
pub(super) fn available() -> bool {
    simd::has(InstructionSet::IceLake)
}

/// Points rounded to bytes.
#[derive(Debug, Clone)]
pub(super) struct ByteCodes {
    center: Vec<f64>,
    step: f64,
    /// Fours of columns.
    quads: usize,
    /// Panel after panel; four columns of the first point, of the second, ...; the next four columns.
    codes: Aligned<[u8; QUAD]>,
    /// h of every point.
    half_squares: Aligned<i32>,
    /// The largest rounding error of each run of panels, in steps.
    errors: Vec<f32>,
}

impl ByteCodes {
    /// The codes of all points, or none if they are all equal, too large or too wide, or if the codes would take too much memory.
    pub(super) fn new(points: &Measured<'_>) -> Option<ByteCodes> {
        let (n, d) = (points.n_rows(), points.width());
        let (panels, most) = (n.div_ceil(PANEL), points.spare());
        let fits = |quads: &usize| byte_count(panels, *quads, d) <= most;
        let quads = [d.div_ceil(QUAD), d / QUAD].into_iter().find(fits).filter(|_| d <= MOST_COLUMNS)?;
        let center = super::floats::center(points);
        let run_rows = RUN * PANEL;
        let largest = parallel::map(n.div_ceil(run_rows), |run| {
            let mut most = 0.0f64;
            points.for_each(run * run_rows..n.min((run + 1) * run_rows), |_, row| {
                most = row.iter().zip(&center).fold(most, |most, (v, c)| most.max((v - c).abs()));
            });
            most
        });
        let largest = largest.into_iter().fold(0.0, f64::max);
        let step = largest / 127.0;
        if !(step > 1e-150 && step < 1e150) {
            return None;
        }
        let mut codes = Aligned::filled([128u8; QUAD], panels * PANEL * quads);
        let mut half_squares = Aligned::filled(0i32, panels * PANEL);
        let mut errors = vec![0.0f32; panels.div_ceil(RUN)];
        let runs = codes.chunks_mut(run_rows * quads).zip(half_squares.chunks_mut(run_rows)).zip(&mut errors);
        parallel::consume(runs, |run, ((codes, halves), error)| {
            let mut code = vec![0i8; d.min(quads * QUAD)];
            points.for_each(run * run_rows..n.min((run + 1) * run_rows), |i, row| {
                let (square, off) = round(row, &center, step, &mut code);
                halves[i] = square / 2;
                *error = error.max((off as f32).next_up());
                let panel = &mut codes[i / PANEL * PANEL * quads..];
                for (column, &c) in code.iter().enumerate() {
                    panel[column / QUAD * PANEL + i % PANEL][column % QUAD] = (i32::from(c) + 128) as u8;
                }
            });
        });
        Some(ByteCodes { center, step, quads, codes, half_squares, errors })
    }

    pub(super) fn bytes(&self) -> usize {
        byte_count(self.half_squares.len() / PANEL, self.quads, self.center.len())
    }
}

/// Bytes that codes of so many panels take.
fn byte_count(panels: usize, quads: usize, n_features: usize) -> usize {
    panels * PANEL * (quads * QUAD + 4) + panels.div_ceil(RUN) * 4 + n_features * 8
}

/// Rounds the first columns of a row to steps; the sum of the squares of the codes, and how many steps the rounded row is from the row (rounded up).
fn round(row: &[f64], center: &[f64], step: f64, code: &mut [i8]) -> (i32, f64) {
    let (mut square, mut off) = (0i32, 0.0);
    for ((v, c), to) in row.iter().zip(center).zip(code) {
        let t = v - c;
        let steps = (t / step).round_ties_even().clamp(-127.0, 127.0);
        *to = steps as i8;
        square += i32::from(*to) * i32::from(*to);
        let rest = t / step - steps;
        off += rest * rest;
    }
    (square, off.sqrt() * (1.0 + 1e-9) + 1e-9)
}

/// The filter over some queries.
pub(super) struct ByteFilter<'a> {
    codes: &'a ByteCodes,
    points: Measured<'a>,
    metric: &'a Metric,
    queries: &'a [f64],
    /// Group after group, four columns after four columns, the group's queries: four bytes in a word, the first lowest.
    packed: Vec<u32>,
    /// Per query: `|v|^2 / 2 + 128 sum v`, and the rounding error.
    constants: Vec<(f64, f64)>,
    error: f64,
}

impl<'a> ByteFilter<'a> {
    pub(super) fn new(
        codes: &'a ByteCodes,
        points: Measured<'a>,
        metric: &'a Metric,
        queries: &'a [f64],
    ) -> ByteFilter<'a> {
        let d = points.width();
        let quads = codes.quads;
        let n = queries.len() / d;
        let mut packed = vec![0u32; n.div_ceil(Self::GROUP) * Self::GROUP * quads];
        let mut code = vec![0i8; d.min(quads * QUAD)];
        let mut constants = Vec::with_capacity(n);
        for (i, query) in queries.chunks_exact(d).enumerate() {
            let (square, off) = round(query, &codes.center, codes.step, &mut code);
            let sum: i64 = code.iter().map(|&c| i64::from(c)).sum();
            constants.push((0.5 * f64::from(square) + 128.0 * sum as f64, off));
            let group = &mut packed[i / Self::GROUP * Self::GROUP * quads..];
            for (column, &c) in code.iter().enumerate() {
                group[column / QUAD * Self::GROUP + i % Self::GROUP] |=
                    u32::from(c.cast_unsigned()) << (column % QUAD * 8);
            }
        }
        ByteFilter { codes, points, metric, queries, packed, constants, error: 0.0 }
    }
}

impl DistanceFilter for ByteFilter<'_> {
    const GROUP: usize = 14;
    const YIELDS: bool = true;
    type Threshold = i32;

    fn n_points(&self) -> usize {
        self.points.n_rows()
    }

    fn load(&mut self, panel: usize) {
        self.error = f64::from(self.codes.errors[panel / RUN]);
    }

    fn threshold(&self, query: usize, limit: f64, _: bool) -> i32 {
        let (constant, off) = self.constants[query];
        let steps = self.metric.norm_of(limit) / self.codes.step + self.error + off;
        // The conversion saturates: an endless limit lets everything pass. One less makes up for the rounding of the sum.
        (constant - 0.5 * steps * steps * (1.0 + 1e-9) - 1.0).floor() as i32
    }

    fn tile(&self, panel: usize, group: usize, thresholds: &[i32], masks: &mut [u32]) {
        let quads = self.codes.quads;
        let points = &self.codes.codes[panel * PANEL * quads..][..PANEL * quads];
        let halves = &self.codes.half_squares[panel * PANEL..][..PANEL];
        let queries = &self.packed[group * Self::GROUP * quads..][..Self::GROUP * quads];
        #[cfg(target_arch = "x86_64")]
        if available() {
            // SAFETY: the machine has the instruction, as just checked.
            return unsafe { avx512::tile(points, halves, queries, thresholds, masks) };
        }
        plain_tile(points, halves, queries, thresholds, masks);
    }

    fn distance(&self, query: usize, point: usize) -> f64 {
        let d = self.points.width();
        self.points.distance(&self.queries[query * d..][..d], point)
    }
}

/// What the instruction does, one product at a time.
fn plain_tile(points: &[[u8; QUAD]], halves: &[i32], queries: &[u32], thresholds: &[i32], masks: &mut [u32]) {
    let group = thresholds.len();
    for i in 0..group {
        masks[i] = 0;
        for p in 0..PANEL {
            let mut sum = -halves[p];
            for (quad, queries) in queries.chunks_exact(group).enumerate() {
                for (c, q) in points[quad * PANEL + p].iter().zip(queries[i].to_le_bytes()) {
                    sum += i32::from(*c) * i32::from(q.cast_signed());
                }
            }
            masks[i] |= u32::from(sum >= thresholds[i]) << p;
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{PANEL, QUAD};
    use std::arch::x86_64::*;

    /// A tile with all 28 sums in registers.
    ///
    /// # Safety
    /// The machine has AVX-512F and AVX-512 VNNI.
    #[target_feature(enable = "avx512f,avx512vnni")]
    pub(super) unsafe fn tile(
        points: &[[u8; QUAD]],
        halves: &[i32],
        queries: &[u32],
        thresholds: &[i32],
        masks: &mut [u32],
    ) {
        const GROUP: usize = 14;
        assert!(halves.len() == PANEL && thresholds.len() == GROUP && masks.len() == GROUP);
        assert!(points.len() / PANEL == queries.len() / GROUP);
        let zero = _mm512_setzero_si512();
        // SAFETY: 32 numbers, two registers.
        let start = unsafe {
            let halves = halves.as_ptr();
            let (low, high) = (_mm512_loadu_si512(halves.cast()), _mm512_loadu_si512(halves.add(16).cast()));
            [_mm512_sub_epi32(zero, low), _mm512_sub_epi32(zero, high)]
        };
        let mut sums = [start; GROUP];
        for quad in 0..points.len() / PANEL {
            // SAFETY: 32 points' four columns, two registers.
            let x = unsafe {
                let row = points.as_ptr().add(quad * PANEL);
                [_mm512_loadu_si512(row.cast()), _mm512_loadu_si512(row.add(16).cast())]
            };
            for (i, sum) in sums.iter_mut().enumerate() {
                // SAFETY: query i of these four columns; both counts were checked above.
                let q = _mm512_set1_epi32(unsafe { *queries.get_unchecked(quad * GROUP + i) }.cast_signed());
                sum[0] = _mm512_dpbusd_epi32(sum[0], x[0], q);
                sum[1] = _mm512_dpbusd_epi32(sum[1], x[1], q);
            }
        }
        for (i, sum) in sums.iter().enumerate() {
            let limit = _mm512_set1_epi32(thresholds[i]);
            let low = _mm512_cmpge_epi32_mask(sum[0], limit);
            let high = _mm512_cmpge_epi32_mask(sum[1], limit);
            masks[i] = u32::from(low) | u32::from(high) << 16;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ermine_core::distance::rows::Points;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_vector_kernel_equals_the_scalar_kernel(
            points in proptest::collection::vec(any::<[u8; QUAD]>(), PANEL * 3),
            queries in proptest::collection::vec(any::<u32>(), 14 * 3),
            halves in proptest::collection::vec(0i32..90_000, PANEL),
            thresholds in proptest::collection::vec(-200_000i32..200_000, 14),
        ) {
            let (mut fast, mut plain) = ([0; 14], [0; 14]);
            plain_tile(&points, &halves, &queries, &thresholds, &mut plain);
            #[cfg(target_arch = "x86_64")]
            if available() {
                // SAFETY: available, as just checked.
                unsafe { avx512::tile(&points, &halves, &queries, &thresholds, &mut fast) };
                prop_assert_eq!(fast, plain);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(6))]
        /// Rows as wide as they may be, with every byte at its end of the range: sums are those of 64 bits.
        #[test]
        fn the_widest_sums_do_not_overflow(
            points in proptest::collection::vec(prop_oneof![Just(1u8), Just(128), Just(255)], PANEL),
            queries in proptest::collection::vec(prop_oneof![Just(-127i8), Just(0), Just(127)], 14),
            shift in -1i64..=1, at in 0..PANEL,
        ) {
            let quads = MOST_COLUMNS / QUAD;
            let columns = (quads * QUAD) as i64;
            let wide: Vec<[u8; QUAD]> = (0..quads).flat_map(|_| points.iter().map(|&p| [p; QUAD])).collect();
            let asked: Vec<u32> = (0..quads)
                .flat_map(|_| queries.iter().map(|&q| u32::from_le_bytes([q.cast_unsigned(); QUAD])))
                .collect();
            let half = |p: u8| columns * (i64::from(p) - 128).pow(2) / 2;
            let sum = |p: u8, q: i8| columns * i64::from(p) * i64::from(q) - half(p);
            let halves: Vec<i32> = points.iter().map(|&p| i32::try_from(half(p)).unwrap()).collect();
            let thresholds: Vec<i32> =
                queries.iter().map(|&q| (sum(points[at], q) + shift).clamp(i32::MIN.into(), i32::MAX.into()) as i32).collect();
            let expected: Vec<u32> = (queries.iter().zip(&thresholds))
                .map(|(&q, &t)| (0..PANEL).fold(0, |mask, p| mask | u32::from(sum(points[p], q) >= i64::from(t)) << p))
                .collect();
            let mut masks = [0; 14];
            plain_tile(&wide, &halves, &asked, &thresholds, &mut masks);
            prop_assert_eq!(&masks[..], &expected[..]);
            #[cfg(target_arch = "x86_64")]
            if available() {
                // SAFETY: available, as just checked.
                unsafe { avx512::tile(&wide, &halves, &asked, &thresholds, &mut masks) };
                prop_assert_eq!(&masks[..], &expected[..]);
            }
        }
    }

    #[test]
    fn rows_too_wide_for_the_sums_have_no_codes() {
        let codes = |d: usize| {
            let values: Vec<f32> = (0..96 * d).map(|i| if (i / d).is_multiple_of(2) { 1.0 } else { -1.0 }).collect();
            ByteCodes::new(&Measured::new(&Points::from_f32(values, d), &Metric::Euclidean)).is_some()
        };
        assert!(codes(MOST_COLUMNS) && !codes(MOST_COLUMNS + 1));
    }
}
