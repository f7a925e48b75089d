//! The two precisions of kernel values: double, and single for large data, where the solver's sums stay double.

use ermine_core::linalg::lanes::Real;
use ermine_core::simd::exp::exp;
use ermine_core::simd::{InstructionSet, Level};
use ermine_core::versions;
use std::ops::{Add, Mul, Sub};

/// Number of rows in a tile.
pub const GROUP: usize = 8;

/// What a tile sums over the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TileSum {
    /// `x y`.
    Product,
    /// `|x - y|`.
    Gap,
}

/// A number in which kernel values are computed and kept.
pub trait KernelElement:
    Real + PartialOrd + PartialEq + std::fmt::Debug + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// Points in a panel: two registers of AVX-512.
    const PANEL: usize;
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;

    /// The nearest number of this precision.
    fn of(x: f64) -> Self;
    /// `self * a + b`, rounded once.
    fn fused(self, a: Self, b: Self) -> Self;
    /// `e^self` for values up to 0.
    fn decay(self) -> Self;
    /// `tanh(self)`, to the precision of 1.
    fn tanh(self) -> Self;
    /// `|self|`.
    fn size(self) -> Self;
    /// Sums over the columns of a panel of points (column after column, [`PANEL`](Self::PANEL) numbers each) and a group of rows (column after column, [`GROUP`] each), into
    /// [`GROUP`] rows of `out`, `stride` apart.
    fn tile(level: Level, sum: TileSum, panel: &[Self], group: &[Self], out: &mut [Self], stride: usize);
}

/// A tile in scalar code, which adds in the same order as the vectorized versions.
#[inline(always)]
fn tile_plain<E: KernelElement>(sum: TileSum, panel: &[E], group: &[E], out: &mut [E], stride: usize) {
    for i in 0..GROUP {
        let out = &mut out[i * stride..i * stride + E::PANEL];
        out.fill(E::ZERO);
        for (points, rows) in panel.chunks_exact(E::PANEL).zip(group.chunks_exact(GROUP)) {
            match sum {
                TileSum::Product => {
                    out.iter_mut().zip(points).for_each(|(out, &x)| *out = x.fused(rows[i], *out));
                }
                TileSum::Gap => out.iter_mut().zip(points).for_each(|(out, &x)| *out = *out + (x - rows[i]).size()),
            }
        }
    }
}

versions! {
    fn tile_loops<E: KernelElement>(sum: TileSum, panel: &[E], group: &[E], out: &mut [E], stride: usize) {
        tile_plain(sum, panel, group, out, stride);
    }
}

fn check<E: KernelElement>(panel: &[E], group: &[E], out: &[E], stride: usize) -> usize {
    let d = panel.len() / E::PANEL;
    let end = stride.checked_mul(GROUP - 1).and_then(|start| start.checked_add(E::PANEL));
    assert!(panel.len() == d * E::PANEL && group.len() == d * GROUP, "a panel and a group of as many columns");
    assert!(end.is_some_and(|end| out.len() >= end), "room for all rows of a tile");
    d
}

impl KernelElement for f32 {
    const PANEL: usize = 32;
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;

    #[inline(always)]
    fn of(x: f64) -> f32 {
        x as f32
    }
    #[inline(always)]
    fn fused(self, a: f32, b: f32) -> f32 {
        self.mul_add(a, b)
    }
    #[inline(always)]
    fn decay(self) -> f32 {
        exp_single(self)
    }
    #[inline(always)]
    fn tanh(self) -> f32 {
        let e = exp_single(-2.0 * self.abs());
        ((1.0 - e) / (1.0 + e)).copysign(self)
    }
    #[inline(always)]
    fn size(self) -> f32 {
        self.abs()
    }
    fn tile(level: Level, sum: TileSum, panel: &[f32], group: &[f32], out: &mut [f32], stride: usize) {
        let d = check(panel, group, out, stride);
        #[cfg(target_arch = "x86_64")]
        if level.has(InstructionSet::Avx512) {
            // SAFETY: the machine has AVX-512 (`level`), and the lengths were checked above.
            return unsafe { x86::tile_f32(sum, panel, group, out, stride, d) };
        }
        let _ = (level, d);
        tile_loops(sum, panel, group, out, stride);
    }
}

impl KernelElement for f64 {
    const PANEL: usize = 16;
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;

    #[inline(always)]
    fn of(x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn fused(self, a: f64, b: f64) -> f64 {
        self.mul_add(a, b)
    }
    #[inline(always)]
    fn decay(self) -> f64 {
        exp(self)
    }
    #[inline(always)]
    fn tanh(self) -> f64 {
        let e = exp(-2.0 * self.abs());
        ((1.0 - e) / (1.0 + e)).copysign(self)
    }
    #[inline(always)]
    fn size(self) -> f64 {
        self.abs()
    }
    fn tile(level: Level, sum: TileSum, panel: &[f64], group: &[f64], out: &mut [f64], stride: usize) {
        let d = check(panel, group, out, stride);
        #[cfg(target_arch = "x86_64")]
        if level.has(InstructionSet::Avx512) {
            // SAFETY: the machine has AVX-512 (`level`), and the lengths were checked above.
            return unsafe { x86::tile_f64(sum, panel, group, out, stride, d) };
        }
        let _ = (level, d);
        tile_loops(sum, panel, group, out, stride);
    }
}

/// `e^x` in single precision for `x <= 0`, to a unit or two in the last place: `2^k e^r` with `|r| <= ln 2 / 2`, where seven terms are enough.
#[inline(always)]
fn exp_single(x: f32) -> f32 {
    const LN2_HIGH: f32 = 0.693_145_75;
    const LN2_LOW: f32 = 1.428_606_8e-6;
    // 1.5 * 2^23: adding it rounds to a whole number, which then sits in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let clamped = if x > -87.0 { x } else { -87.0 };
    let shifted = clamped.mul_add(std::f32::consts::LOG2_E, ROUND);
    let k = shifted - ROUND;
    let r = k.mul_add(-LN2_LOW, k.mul_add(-LN2_HIGH, clamped));
    let mut p = 1.0 / 5040.0f32;
    for c in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        p = p.mul_add(r, c);
    }
    let power = f32::from_bits((shifted.to_bits().wrapping_add(127)) << 23);
    let value = p * power;
    // Such small values underflow to 0; NaN stays NaN.
    if x < -87.0 {
        0.0
    } else if x.is_nan() {
        x
    } else {
        value
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{GROUP, TileSum};
    use std::arch::x86_64::*;

    macro_rules! tile {
        ($name:ident, $type:ty, $lanes:literal, $zero:ident, $load:ident, $store:ident, $set:ident, $fma:ident, $add:ident, $sub:ident, $abs:ident) => {
            /// # Safety
            /// AVX-512F and DQ; `panel` holds `d` rows of two registers, `group` `d` rows of [`GROUP`], `out` [`GROUP`] rows of two registers, `stride` apart.
            #[target_feature(enable = "avx512f,avx512dq")]
            pub unsafe fn $name(
                sum: TileSum,
                panel: &[$type],
                group: &[$type],
                out: &mut [$type],
                stride: usize,
                d: usize,
            ) {
                let (panel, group, out) = (panel.as_ptr(), group.as_ptr(), out.as_mut_ptr());
                // Plain index loops over fixed bounds: the compiler unrolls them and keeps all sums in registers.
                let mut sums = [[$zero(); 2]; GROUP];
                for j in 0..d {
                    // SAFETY: row j < d of the panel holds two registers.
                    let x = unsafe { [$load(panel.add(2 * $lanes * j)), $load(panel.add(2 * $lanes * j + $lanes))] };
                    for i in 0..GROUP {
                        // SAFETY: j < d and i < GROUP.
                        let y = $set(unsafe { *group.add(j * GROUP + i) });
                        for h in 0..2 {
                            sums[i][h] = match sum {
                                TileSum::Product => $fma(x[h], y, sums[i][h]),
                                TileSum::Gap => $add(sums[i][h], $abs($sub(x[h], y))),
                            };
                        }
                    }
                }
                for i in 0..GROUP {
                    for h in 0..2 {
                        // SAFETY: row i < GROUP of `out` holds two registers.
                        unsafe { $store(out.add(i * stride + h * $lanes), sums[i][h]) };
                    }
                }
            }
        };
    }
    tile!(
        tile_f32,
        f32,
        16,
        _mm512_setzero_ps,
        _mm512_loadu_ps,
        _mm512_storeu_ps,
        _mm512_set1_ps,
        _mm512_fmadd_ps,
        _mm512_add_ps,
        _mm512_sub_ps,
        _mm512_abs_ps
    );
    tile!(
        tile_f64,
        f64,
        8,
        _mm512_setzero_pd,
        _mm512_loadu_pd,
        _mm512_storeu_pd,
        _mm512_set1_pd,
        _mm512_fmadd_pd,
        _mm512_add_pd,
        _mm512_sub_pd,
        _mm512_abs_pd
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tiles_agree<E: KernelElement>(d: usize, seed: u64) {
        let mut rng = ermine_core::rng::stream(seed, &[]);
        let mut numbers = |n: usize| {
            (0..n).map(|_| E::of(ermine_core::rng::below(&mut rng, 2001) as f64 / 700.0 - 1.0)).collect::<Vec<E>>()
        };
        let (panel, group) = (numbers(d * E::PANEL), numbers(d * GROUP));
        let stride = E::PANEL + 3;
        for sum in [TileSum::Product, TileSum::Gap] {
            let (mut fast, mut plain) = (vec![E::ONE; GROUP * stride], vec![E::ONE; GROUP * stride]);
            E::tile(Level::detect(), sum, &panel, &group, &mut fast, stride);
            tile_plain(sum, &panel, &group, &mut plain, stride);
            assert_eq!(fast, plain, "the vectorized tile differs from its twin");
            E::tile(Level::at_most(InstructionSet::Plain), sum, &panel, &group, &mut fast, stride);
            assert_eq!(fast, plain);
        }
    }

    proptest! {
        #[test]
        fn vectorized_tiles_equal_scalar_tiles(d in 0usize..40, seed in 0u64..100) {
            tiles_agree::<f32>(d, seed);
            tiles_agree::<f64>(d, seed);
        }

        #[test]
        fn the_exponential_is_accurate(x in -86.9f32..=0.0) {
            let truth = f64::from(x).exp();
            prop_assert!((f64::from(x.decay()) - truth).abs() <= 2.5e-7 * truth, "{x}: {} {truth}", x.decay());
        }

        #[test]
        fn tanh_is_accurate_to_the_precision_of_one(x in -30.0f64..30.0) {
            prop_assert!((KernelElement::tanh(x) - x.tanh()).abs() < 1e-15);
            prop_assert!((f64::from(KernelElement::tanh(x as f32)) - f64::from(x as f32).tanh()).abs() < 3e-7);
        }
    }

    #[test]
    #[should_panic(expected = "room for all rows of a tile")]
    fn a_stride_that_overflows_panics() {
        // Seven of these wrap around to almost nothing.
        let stride = usize::MAX / 7 + 1;
        f32::tile(Level::detect(), TileSum::Product, &[1.0; 32], &[1.0; GROUP], &mut [0.0; 64], stride);
    }

    #[test]
    #[should_panic(expected = "room for all rows of a tile")]
    fn a_stride_that_overflows_panics_in_double_precision() {
        let stride = usize::MAX / 7 + 1;
        f64::tile(
            Level::at_most(InstructionSet::Plain),
            TileSum::Gap,
            &[1.0; 16],
            &[1.0; GROUP],
            &mut [0.0; 64],
            stride,
        );
    }

    #[test]
    #[should_panic(expected = "as many columns")]
    fn a_group_of_fewer_columns_than_the_panel_panics() {
        f64::tile(Level::detect(), TileSum::Product, &[1.0; 32], &[1.0; GROUP], &mut [0.0; 160], 16);
    }

    #[test]
    fn extreme_values_are_exact() {
        assert_eq!((0.0f32).decay(), 1.0);
        assert_eq!(f32::NEG_INFINITY.decay(), 0.0);
        assert!(f32::NAN.decay().is_nan());
    }
}
