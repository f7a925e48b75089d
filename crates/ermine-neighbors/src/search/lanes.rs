//! Operations on sixteen lanes that compilers don't vectorize well: keeping them in one register ([`Wide`]), comparisons to bit masks, and sorting.
//!
//! The sort is Batcher's bitonic network: ten stages, in each of which lane i meets lane i ^ j and keeps the smaller or the larger
//! of the two. Reference: K. Batcher (1968), "Sorting networks and their applications".

use ermine_core::simd::Instructions;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    _mm512_abs_ps, _mm512_add_ps, _mm512_castps256_ps512, _mm512_cvtpd_ps, _mm512_fmadd_ps, _mm512_insertf32x8,
    _mm512_loadu_pd, _mm512_loadu_ps, _mm512_max_ps, _mm512_set1_pd, _mm512_set1_ps, _mm512_storeu_ps, _mm512_sub_pd,
    _mm512_sub_ps,
};

/// Number of lanes: one AVX-512 register of single precision.
pub(super) const LANES: usize = 16;

/// Sixteen numbers in one register. Left to itself the compiler cuts three arrays of sixteen sums into pieces of eight, four and two.
#[derive(Clone, Copy)]
pub(super) struct Wide([f32; LANES]);

/// One operation on all lanes: the instruction where the set has it, else lane by lane.
macro_rules! lane_by_lane {
    ($set:ident, $a:expr, $b:expr, $instruction:expr, $plain:expr) => {{
        #[cfg(target_arch = "x86_64")]
        if $set.has_avx512() {
            let mut out = [0.0; LANES];
            // SAFETY: the caller holds the proof that the machine has AVX-512; loads and the store are of arrays of 16.
            unsafe {
                let (a, b) = (_mm512_loadu_ps($a.0.as_ptr()), _mm512_loadu_ps($b.0.as_ptr()));
                _mm512_storeu_ps(out.as_mut_ptr(), $instruction(a, b));
            }
            return Wide(out);
        }
        $a.with($b, $plain)
    }};
}

impl Wide {
    /// All zero.
    pub(super) const ZERO: Wide = Wide([0.0; LANES]);

    /// The lanes.
    #[inline(always)]
    pub(super) fn lanes(self) -> [f32; LANES] {
        self.0
    }

    /// `values - query`.
    #[inline(always)]
    pub(super) fn gap(set: impl Instructions, values: &[f32; LANES], query: f32) -> Wide {
        lane_by_lane!(set, Wide(*values), Wide([query; LANES]), |a, b| _mm512_sub_ps(a, b), |a, b| a - b)
    }

    /// `values - query`, rounded once to single precision.
    #[inline(always)]
    pub(super) fn wide_gap(set: impl Instructions, values: &[f64; LANES], query: f64) -> Wide {
        #[cfg(target_arch = "x86_64")]
        if set.has_avx512() {
            let mut out = [0.0; LANES];
            // SAFETY: the caller holds the proof that the machine has AVX-512; each load reads eight of the 16 values.
            unsafe {
                let query = _mm512_set1_pd(query);
                let low = _mm512_cvtpd_ps(_mm512_sub_pd(_mm512_loadu_pd(values.as_ptr()), query));
                let high = _mm512_cvtpd_ps(_mm512_sub_pd(_mm512_loadu_pd(values.as_ptr().add(8)), query));
                let both = _mm512_insertf32x8::<1>(_mm512_castps256_ps512(low), high);
                _mm512_storeu_ps(out.as_mut_ptr(), both);
            }
            return Wide(out);
        }
        Wide(values.map(|v| (v - query) as f32))
    }

    /// `self + gap^2`.
    #[inline(always)]
    pub(super) fn plus_square(self, set: impl Instructions, gap: Wide) -> Wide {
        lane_by_lane!(set, self, gap, |a, b| _mm512_fmadd_ps(b, b, a), |a, b| set.multiply_add(b, b, a))
    }

    /// `self + |gap|`.
    #[inline(always)]
    pub(super) fn plus_abs(self, set: impl Instructions, gap: Wide) -> Wide {
        lane_by_lane!(set, self, gap, |a, b| _mm512_add_ps(a, _mm512_abs_ps(b)), |a, b: f32| a + b.abs())
    }

    /// The larger of `self` and `|gap|`.
    #[inline(always)]
    pub(super) fn max_abs(self, set: impl Instructions, gap: Wide) -> Wide {
        lane_by_lane!(set, self, gap, |a, b| _mm512_max_ps(a, _mm512_abs_ps(b)), |a, b: f32| larger(a, b.abs()))
    }

    /// Any function, lane by lane.
    #[inline(always)]
    pub(super) fn with(self, other: Wide, f: impl Fn(f32, f32) -> f32) -> Wide {
        let mut out = self.0;
        for lane in 0..LANES {
            out[lane] = f(out[lane], other.0[lane]);
        }
        Wide(out)
    }
}

/// The larger of two numbers that aren't NaN; one instruction, unlike `f32::max`, which handles NaN.
#[inline(always)]
pub(super) fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// The smaller of two numbers that aren't NaN.
#[inline(always)]
pub(super) fn smaller(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// Prefetches the first cache lines of `values`.
#[inline(always)]
pub(super) fn prefetch<T>(values: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        /// The hardware prefetches what follows.
        const LINES: usize = 8;
        for line in (0..size_of_val(values).min(64 * LINES)).step_by(64) {
            // SAFETY: the address lies within the slice; a prefetch reads nothing.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(values.as_ptr().cast::<i8>().add(line)) };
        }
    }
}

/// Bit i is set where `values[i] <= limit`.
#[inline(always)]
pub(super) fn at_most(set: impl Instructions, values: &[f32; LANES], limit: f32) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if set.has_avx512() {
        use std::arch::x86_64::{_CMP_LE_OQ, _mm512_cmp_ps_mask};
        // SAFETY: the caller holds the proof that the machine has AVX-512; the load reads the 16 values of the array.
        return u32::from(unsafe {
            _mm512_cmp_ps_mask::<_CMP_LE_OQ>(_mm512_loadu_ps(values.as_ptr()), _mm512_set1_ps(limit))
        });
    }
    values.iter().enumerate().fold(0, |mask, (i, &v)| mask | u32::from(v <= limit) << i)
}

/// Puts sixteen numbers in ascending order.
#[inline(always)]
pub(super) fn sort(set: impl Instructions, keys: &mut [u32; LANES]) {
    #[cfg(target_arch = "x86_64")]
    if set.has_avx512() {
        // SAFETY: the caller holds the proof that the machine has AVX-512.
        unsafe { sort_avx512(keys) };
        return;
    }
    for i in 1..LANES {
        let key = keys[i];
        let mut at = i;
        while at > 0 && keys[at - 1] > key {
            keys[at] = keys[at - 1];
            at -= 1;
        }
        keys[at] = key;
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
#[inline]
fn sort_avx512(keys: &mut [u32; LANES]) {
    use std::arch::x86_64::{
        _mm512_load_si512, _mm512_loadu_si512, _mm512_mask_max_epu32, _mm512_min_epu32, _mm512_permutexvar_epi32,
        _mm512_storeu_si512,
    };
    // SAFETY: reads the 16 keys of the array.
    let mut v = unsafe { _mm512_loadu_si512(keys.as_ptr().cast()) };
    macro_rules! stage {
        ($run:literal, $step:literal) => {{
            const PARTNER: Partners = partners($step);
            const TAKES_LARGER: u16 = takes_larger($run, $step);
            // SAFETY: reads the 16 indices of an array aligned to 64 bytes.
            let partner = _mm512_permutexvar_epi32(unsafe { _mm512_load_si512(PARTNER.0.as_ptr().cast()) }, v);
            v = _mm512_mask_max_epu32(_mm512_min_epu32(v, partner), TAKES_LARGER, v, partner);
        }};
    }
    stage!(2, 1);
    stage!(4, 2);
    stage!(4, 1);
    stage!(8, 4);
    stage!(8, 2);
    stage!(8, 1);
    stage!(16, 8);
    stage!(16, 4);
    stage!(16, 2);
    stage!(16, 1);
    // SAFETY: writes the 16 keys of the array.
    unsafe { _mm512_storeu_si512(keys.as_mut_ptr().cast(), v) };
}

/// Whom each lane meets.
#[cfg(target_arch = "x86_64")]
#[repr(align(64))]
struct Partners([u32; LANES]);

#[cfg(target_arch = "x86_64")]
const fn partners(step: u32) -> Partners {
    let mut lanes = [0; LANES];
    let mut i = 0;
    while i < LANES {
        lanes[i] = i as u32 ^ step;
        i += 1;
    }
    Partners(lanes)
}

/// The lanes that keep the larger of the two, while runs of `run` lanes are sorted up and down in turn.
#[cfg(target_arch = "x86_64")]
const fn takes_larger(run: u32, step: u32) -> u16 {
    let mut mask = 0;
    let mut i = 0;
    while i < LANES as u32 {
        let (upper, descending) = (i & step != 0, i & run != 0);
        if upper != descending {
            mask |= 1 << i;
        }
        i += 1;
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;
    use ermine_core::simd::{InstructionSet, Level};
    use ermine_core::versions;
    use proptest::array::uniform16;
    use proptest::prelude::*;

    versions! {
        fn wide(set: impl Instructions, a: &[f32; LANES], b: &[f32; LANES], q: f64) -> [[f32; LANES]; 5] {
            let (total, gap, wide) = (Wide(*a), Wide(*b), a.map(f64::from));
            let all = [
                total.plus_square(set, gap),
                total.plus_abs(set, gap),
                total.max_abs(set, gap),
                Wide::gap(set, a, q as f32),
                Wide::wide_gap(set, &wide, q),
            ];
            all.map(Wide::lanes)
        }

        fn both(set: impl Instructions, values: &[f32; LANES], limit: f32, keys: &mut [u32; LANES]) -> u32 {
            sort(set, keys);
            at_most(set, values, limit)
        }
    }

    proptest! {
        #[test]
        fn lanes_equal_scalar_arithmetic(a in uniform16(-9.0..9.0f32), b in uniform16(-9.0..9.0f32), q in -9.0..9.0f64) {
            for set in [InstructionSet::Plain, InstructionSet::Avx2, InstructionSet::Avx512] {
                let [square, sum, largest, gap, wide] = wide(Level::at_most(set), &a, &b, q);
                for lane in 0..LANES {
                    let (x, y) = (a[lane], b[lane]);
                    prop_assert!(square[lane] == y.mul_add(y, x) || square[lane] == y * y + x);
                    prop_assert_eq!((sum[lane], largest[lane]), (x + y.abs(), x.max(y.abs())));
                    prop_assert_eq!((gap[lane], wide[lane]), (x - q as f32, (f64::from(x) - q) as f32));
                }
            }
        }

        #[test]
        fn every_instruction_set_agrees(keys: [u32; LANES], few in 1u32..40, values: [f32; LANES], limit in 0..LANES) {
            let keys = keys.map(|k| k % few);
            let mut expected = keys;
            expected.sort_unstable();
            let limit = values[limit];
            let mask = values.iter().enumerate().filter(|(_, v)| **v <= limit).fold(0, |m, (i, _)| m | 1 << i);
            for set in [InstructionSet::Plain, InstructionSet::Avx2, InstructionSet::Avx512] {
                let mut sorted = keys;
                prop_assert_eq!(both(Level::at_most(set), &values, limit, &mut sorted), mask);
                prop_assert_eq!(sorted, expected);
            }
        }
    }
}
