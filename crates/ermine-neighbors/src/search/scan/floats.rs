//! The single-precision filter: sums over the columns for 14 queries and 32 points at a time.
//!
//! For the Euclidean family `norm(x - q)^2 = norm(x)^2 + norm(q)^2 - 2 x'q`, so `x'q - norm(x)^2 / 2 >= (norm(q)^2 - L^2) / 2` is the
//! test for a distance of at most L: one multiply-add per column, starting from `-norm(x)^2 / 2`. For Manhattan and Chebyshev the
//! (negated) sum and maximum of the gaps are compared with -L.
//!
//! **Exactness.** Rows are moved to the center of the points and rounded to single precision (unit u = 2^-24), which moves a row by at most
//! u times its norm; the sum of d terms is off by at most (d + 2) u times the sum of their sizes. With R the largest norm of a point
//! both are bounded per query, and the threshold gives way by twice that.
//!
//! **Range.** Rows are first multiplied by a power of two (which rounds nothing) that brings the largest norm to about 1, so the filter works
//! at any scale. Rows far smaller than the largest may still underflow: each value and each product then loses at most [`TINY`], and the threshold gives
//! way by that too.

use super::tiles::{DistanceFilter, PANEL, RUN};
use crate::search::lanes::larger;
use crate::search::measured::Measured;
use ermine_core::distance::metric::{Metric, MetricShape};
#[cfg(target_arch = "x86_64")]
use ermine_core::simd::InstructionSet;
use ermine_core::simd::Level;
use ermine_core::versions;

/// Unit of single-precision rounding.
const UNIT: f64 = 1.0 / (1u32 << 24) as f64;
/// The smallest normal number: what a value or product may lose to underflow, even where the machine flushes to zero.
const TINY: f64 = f32::MIN_POSITIVE as f64;
/// What the square of a difference may lose to underflow in double precision, as a distance: half the cosine distance of two rows that
/// differ by less is 0.
const WIDE_TINY: f64 = 1e-161;
/// Norms that can be scaled, and whose squares lose nothing that matters to underflow.
const NORMS: std::ops::Range<f64> = 1e-140..1e290;

/// What is summed over the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::search) enum FilterSum {
    Product,
    Gap,
    LargestGap,
}

impl FilterSum {
    /// The sum that serves a metric, if there is one.
    pub(in crate::search) fn of(metric: &Metric) -> Option<FilterSum> {
        match metric.shape()? {
            MetricShape::SumSquares => Some(FilterSum::Product),
            MetricShape::SumAbs => Some(FilterSum::Gap),
            MetricShape::Largest => Some(FilterSum::LargestGap),
            MetricShape::SumPowers(_) => None,
        }
    }

    /// The norm that belongs to it.
    fn norm(self, row: impl Iterator<Item = f64>) -> f64 {
        match self {
            FilterSum::Product => row.map(|v| v * v).sum::<f64>().sqrt(),
            FilterSum::Gap => row.map(f64::abs).sum(),
            FilterSum::LargestGap => row.fold(0.0, |m, v| m.max(v.abs())),
        }
    }

    /// The norm of a row moved to the center.
    fn norm_from(self, center: &[f64], row: &[f64]) -> f64 {
        self.norm(row.iter().zip(center).map(|(v, c)| v - c))
    }
}

/// Where the points lie: their mean, and the largest norm from there.
#[derive(Debug, Clone)]
pub(in crate::search) struct PointFrame {
    center: Vec<f64>,
    radius: f64,
}

impl PointFrame {
    pub(in crate::search) fn new(points: &Measured<'_>, sum: FilterSum) -> PointFrame {
        let center = center(points);
        let mut radius = 0.0f64;
        points.for_each(0..points.n_rows(), |_, row| radius = radius.max(sum.norm_from(&center, row)));
        PointFrame { center, radius }
    }

    pub(in crate::search) fn bytes(&self) -> usize {
        self.center.len() * 8
    }
}

/// The filter over some queries.
pub(in crate::search) struct FloatFilter<'a> {
    level: Level,
    sum: FilterSum,
    points: Measured<'a>,
    metric: &'a Metric,
    queries: &'a [f64],
    center: &'a [f64],
    /// The power of two that all is multiplied by.
    scale: f64,
    /// Largest norm of a centered and scaled point.
    radius: f64,
    /// Norms of the centered and scaled queries.
    norms: Vec<f64>,
    /// Group after group, column after column, the group's queries.
    packed_queries: Vec<f32>,
    /// Panel after panel of the loaded run, column after column, the panel's points.
    packed_points: Vec<f32>,
    /// `-norm(x)^2 / 2` of the points of the loaded run, or 0.
    starts: Vec<f32>,
    first_panel: usize,
}

impl<'a> FloatFilter<'a> {
    /// The filter for some queries, unless the size of the numbers forbids one.
    pub(in crate::search) fn new(
        level: Level,
        (points, metric): (Measured<'a>, &'a Metric),
        (sum, frame): (FilterSum, &'a PointFrame),
        queries: &'a [f64],
    ) -> Option<FloatFilter<'a>> {
        let d = points.width();
        let PointFrame { center, radius } = frame;
        let mut norms: Vec<f64> = queries.chunks_exact(d).map(|row| sum.norm_from(center, row)).collect();
        let largest = norms.iter().fold(*radius, |most, &norm| most.max(norm));
        if !NORMS.contains(&largest) || norms.iter().any(|norm| norm.is_nan()) {
            return None;
        }
        let scale = 2f64.powi(-largest.log2().ceil() as i32);
        norms.iter_mut().for_each(|norm| *norm *= scale);
        let mut filter = FloatFilter {
            level,
            sum,
            points,
            metric,
            queries,
            center,
            scale,
            radius: radius * scale,
            norms,
            packed_queries: Vec::new(),
            packed_points: vec![0.0; RUN * PANEL * d],
            starts: vec![0.0; RUN * PANEL],
            first_panel: 0,
        };
        filter.pack_queries();
        Some(filter)
    }

    fn pack_queries(&mut self) {
        let d = self.center.len();
        let groups = (self.queries.len() / d).div_ceil(Self::GROUP);
        self.packed_queries = vec![0.0; groups * Self::GROUP * d];
        for (i, query) in self.queries.chunks_exact(d).enumerate() {
            let group = &mut self.packed_queries[i / Self::GROUP * Self::GROUP * d..];
            for (column, (v, c)) in query.iter().zip(self.center).enumerate() {
                group[column * Self::GROUP + i % Self::GROUP] = ((v - c) * self.scale) as f32;
            }
        }
    }
}

impl DistanceFilter for FloatFilter<'_> {
    const GROUP: usize = 14;
    const YIELDS: bool = true;
    type Threshold = f32;

    fn n_points(&self) -> usize {
        self.points.n_rows()
    }

    fn load(&mut self, panel: usize) {
        self.first_panel = panel;
        let d = self.center.len();
        let end = self.points.n_rows().min((panel + RUN) * PANEL);
        self.points.for_each(panel * PANEL..end, |i, row| {
            let out = &mut self.packed_points[i / PANEL * PANEL * d..];
            let mut square = 0.0;
            for (column, (v, c)) in row.iter().zip(self.center).enumerate() {
                let value = ((v - c) * self.scale) as f32;
                out[column * PANEL + i % PANEL] = value;
                square += f64::from(value) * f64::from(value);
            }
            self.starts[i] = if self.sum == FilterSum::Product { (-0.5 * square) as f32 } else { 0.0 };
        });
    }

    fn threshold(&self, query: usize, limit: f64, _: bool) -> f32 {
        let (q, r) = (self.norms[query], self.radius);
        let d = self.center.len() as f64;
        let underflow = 4.0 * (d + 8.0) * TINY;
        // The rounding of both rows, doubled; and of double precision, for good measure.
        let norm = (self.metric.norm_of(limit) + d * WIDE_TINY) * self.scale;
        let reach = norm * (1.0 + 1e-9) + 4.0 * UNIT * (q + r) + underflow;
        let wide = match self.sum {
            FilterSum::Product => 0.5 * (q * q - reach * reach) - 2.0 * (d + 8.0) * UNIT * (r * r + r * q + q * q),
            FilterSum::Gap | FilterSum::LargestGap => -reach * (1.0 + 2.0 * (d + 8.0) * UNIT),
        };
        (wide - wide.abs() * 2.0 * UNIT - underflow) as f32
    }

    fn tile(&self, panel: usize, group: usize, thresholds: &[f32], masks: &mut [u32]) {
        let d = self.center.len();
        let local = panel - self.first_panel;
        let points = &self.packed_points[local * PANEL * d..][..PANEL * d];
        let starts = &self.starts[local * PANEL..][..PANEL];
        let queries = &self.packed_queries[group * Self::GROUP * d..][..Self::GROUP * d];
        #[cfg(target_arch = "x86_64")]
        if self.level.has(InstructionSet::Avx512) {
            // SAFETY: the level proves AVX-512F and DQ.
            unsafe {
                match self.sum {
                    FilterSum::Product => avx512::tile::<0>(points, starts, queries, thresholds, masks),
                    FilterSum::Gap => avx512::tile::<1>(points, starts, queries, thresholds, masks),
                    FilterSum::LargestGap => avx512::tile::<2>(points, starts, queries, thresholds, masks),
                }
            }
            return;
        }
        tile(self.level, self.sum, points, starts, queries, thresholds, masks);
    }

    fn distance(&self, query: usize, point: usize) -> f64 {
        let d = self.center.len();
        self.points.distance(&self.queries[query * d..][..d], point)
    }
}

versions! {
    /// A tile, one query after the other.
    fn tile(
        set: impl Instructions, sum: FilterSum, points: &[f32], starts: &[f32], queries: &[f32], thresholds: &[f32], masks: &mut [u32],
    ) {
        let group = thresholds.len();
        for i in 0..group {
            let mut sums = [0.0f32; PANEL];
            sums.copy_from_slice(starts);
            for (column, queries) in points.chunks_exact(PANEL).zip(queries.chunks_exact(group)) {
                let q = queries[i];
                match sum {
                    FilterSum::Product => {
                        for p in 0..PANEL {
                            sums[p] = set.multiply_add(column[p], q, sums[p]);
                        }
                    }
                    FilterSum::Gap => {
                        for p in 0..PANEL {
                            sums[p] -= (column[p] - q).abs();
                        }
                    }
                    FilterSum::LargestGap => {
                        for p in 0..PANEL {
                            sums[p] = -larger(-sums[p], (column[p] - q).abs());
                        }
                    }
                }
            }
            masks[i] = (0..PANEL).fold(0, |mask, p| mask | u32::from(sums[p] >= thresholds[i]) << p);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::PANEL;
    use std::arch::x86_64::*;

    /// A tile with all 28 sums in registers. KIND is 0 for products, 1 for gaps, 2 for the largest gap.
    ///
    /// # Safety
    /// The machine has AVX-512F and DQ.
    ///
    /// # Panics
    /// Unless `points` holds d rows of 32, `queries` d rows of 14, `starts` 32 and `thresholds` and `masks` 14.
    #[target_feature(enable = "avx512f,avx512dq")]
    pub(super) unsafe fn tile<const KIND: u8>(
        points: &[f32],
        starts: &[f32],
        queries: &[f32],
        thresholds: &[f32],
        masks: &mut [u32],
    ) {
        const GROUP: usize = 14;
        assert!(starts.len() == PANEL && thresholds.len() == GROUP && masks.len() == GROUP);
        assert!(points.len() / PANEL == queries.len() / GROUP);
        // SAFETY: 32 starts, two registers.
        let start = unsafe { [_mm512_loadu_ps(starts.as_ptr()), _mm512_loadu_ps(starts.as_ptr().add(16))] };
        let mut sums = [start; GROUP];
        for column in 0..points.len() / PANEL {
            // SAFETY: row `column` of the panel, two registers.
            let x = unsafe {
                let row = points.as_ptr().add(column * PANEL);
                [_mm512_loadu_ps(row), _mm512_loadu_ps(row.add(16))]
            };
            for (i, sum) in sums.iter_mut().enumerate() {
                // SAFETY: query i of row `column`; both counts were checked above.
                let q = _mm512_set1_ps(unsafe { *queries.get_unchecked(column * GROUP + i) });
                for half in 0..2 {
                    sum[half] = match KIND {
                        0 => _mm512_fmadd_ps(x[half], q, sum[half]),
                        1 => _mm512_sub_ps(sum[half], _mm512_abs_ps(_mm512_sub_ps(x[half], q))),
                        _ => {
                            let gap = _mm512_sub_ps(x[half], q);
                            _mm512_min_ps(sum[half], _mm512_or_ps(gap, _mm512_set1_ps(-0.0)))
                        }
                    };
                }
            }
        }
        for (i, sum) in sums.iter().enumerate() {
            let limit = _mm512_set1_ps(thresholds[i]);
            let low = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(sum[0], limit);
            let high = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(sum[1], limit);
            masks[i] = u32::from(low) | u32::from(high) << 16;
        }
    }
}

/// The mean of the points, column by column.
pub(super) fn center(points: &Measured<'_>) -> Vec<f64> {
    let n = points.n_rows() as f64;
    let mut mean = vec![0.0; points.width()];
    points.for_each(0..points.n_rows(), |_, row| mean.iter_mut().zip(row).for_each(|(m, v)| *m += v / n));
    mean
}
