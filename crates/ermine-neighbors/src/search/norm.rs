//! The Minkowski family as sums that a box can bound.
//!
//! `|t|_p^p = sum_j |t_j|^p` grows with every coordinate's gap, so the gap between a query and a box bounds the distance to
//! everything in the box from below. Trees filter by that sum in single precision, without its root; the exact distance of
//! what passes is taken in double precision by [`ermine_core::distance::metric::Metric::distance`].

use super::lanes::{Wide, larger};
use ermine_core::simd::Instructions;

/// A sum of gaps, in single precision, without the final root.
pub(super) trait Norm: Copy + Send + Sync {
    /// `total` with one more coordinate's gap.
    fn add<S: Instructions>(self, set: S, total: f32, gap: f32) -> f32;
    /// The same for sixteen sums.
    #[inline(always)]
    fn add_wide<S: Instructions>(self, set: S, total: Wide, gap: Wide) -> Wide {
        total.with(gap, |total, gap| self.add(set, total, gap))
    }
    /// The sum that belongs to a distance.
    fn power(self, distance: f64) -> f64;
    /// The distance that belongs to a sum.
    fn root(self, total: f64) -> f64;
    /// p, by which relative errors of a gap grow in the sum.
    fn exponent(self) -> f64;
}

/// p = 1.
#[derive(Clone, Copy)]
pub(super) struct SumAbs;
/// p = 2.
#[derive(Clone, Copy)]
pub(super) struct SumSquares;
/// p = infinity.
#[derive(Clone, Copy)]
pub(super) struct Largest;
/// Any other p >= 1.
#[derive(Clone, Copy)]
pub(super) struct SumPowers(pub(super) f64);

impl Norm for SumAbs {
    #[inline(always)]
    fn add<S: Instructions>(self, _: S, total: f32, gap: f32) -> f32 {
        total + gap.abs()
    }
    #[inline(always)]
    fn add_wide<S: Instructions>(self, set: S, total: Wide, gap: Wide) -> Wide {
        total.plus_abs(set, gap)
    }
    #[inline(always)]
    fn power(self, distance: f64) -> f64 {
        distance
    }
    #[inline(always)]
    fn root(self, total: f64) -> f64 {
        total
    }
    fn exponent(self) -> f64 {
        1.0
    }
}

impl Norm for SumSquares {
    #[inline(always)]
    fn add<S: Instructions>(self, set: S, total: f32, gap: f32) -> f32 {
        set.multiply_add(gap, gap, total)
    }
    #[inline(always)]
    fn add_wide<S: Instructions>(self, set: S, total: Wide, gap: Wide) -> Wide {
        total.plus_square(set, gap)
    }
    #[inline(always)]
    fn power(self, distance: f64) -> f64 {
        distance * distance
    }
    #[inline(always)]
    fn root(self, total: f64) -> f64 {
        total.sqrt()
    }
    fn exponent(self) -> f64 {
        2.0
    }
}

impl Norm for Largest {
    #[inline(always)]
    fn add<S: Instructions>(self, _: S, total: f32, gap: f32) -> f32 {
        larger(total, gap.abs())
    }
    #[inline(always)]
    fn add_wide<S: Instructions>(self, set: S, total: Wide, gap: Wide) -> Wide {
        total.max_abs(set, gap)
    }
    #[inline(always)]
    fn power(self, distance: f64) -> f64 {
        distance
    }
    #[inline(always)]
    fn root(self, total: f64) -> f64 {
        total
    }
    fn exponent(self) -> f64 {
        1.0
    }
}

impl Norm for SumPowers {
    #[inline(always)]
    fn add<S: Instructions>(self, _: S, total: f32, gap: f32) -> f32 {
        total + gap.abs().powf(self.0 as f32)
    }
    #[inline(always)]
    fn power(self, distance: f64) -> f64 {
        distance.powf(self.0)
    }
    #[inline(always)]
    fn root(self, total: f64) -> f64 {
        total.powf(1.0 / self.0)
    }
    fn exponent(self) -> f64 {
        self.0
    }
}

/// How far a single-precision sum over `d` gaps may be from the true one, as a share of it: one rounding per difference
/// (times p), power and addition, all of unit 2^-24. Four times the textbook bound leaves room for `powf` (a few units) and for
/// an exponent rounded to single precision (|ln t| <= 88 units).
pub(super) fn sum_error<N: Norm>(norm: N, d: usize) -> f64 {
    let p = norm.exponent();
    let exponent_rounding = if p == 1.0 || p == 2.0 { 0.0 } else { 100.0 * p };
    4.0 * (d as f64 + p + 8.0 + exponent_rounding) / f64::from(1u32 << 24)
}

/// What underflow may take from a sum of `d` terms.
pub(super) fn sum_underflow(d: usize) -> f64 {
    d as f64 * f64::from(f32::MIN_POSITIVE) / f64::from(1u32 << 22)
}
