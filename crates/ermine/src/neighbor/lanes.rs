//! Two things to do with sixteen lanes that compilers don't find by themselves: turn comparisons into a bit mask, and sort.
//!
//! The sort is Batcher's bitonic network: ten stages, in each of which lane i meets lane i ^ j and keeps the smaller or the larger
//! of the two. Reference: K. Batcher (1968), "Sorting networks and their applications".

#[cfg(target_arch = "x86_64")]
use super::simd::AVX512;

/// Number of lanes: one AVX-512 register of single precision.
pub(super) const LANES: usize = 16;

/// Bit i is set where `values[i] <= limit`.
#[inline(always)]
pub(super) fn at_most<const SET: u8>(values: &[f32; LANES], limit: f32) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if SET == AVX512 {
        use std::arch::x86_64::{_CMP_LE_OQ, _mm512_cmp_ps_mask, _mm512_loadu_ps, _mm512_set1_ps};
        // SAFETY: SET is AVX512 only inside a version compiled for it and called on a machine that has it; the load reads
        // the 16 values of the array.
        return u32::from(unsafe {
            _mm512_cmp_ps_mask::<_CMP_LE_OQ>(_mm512_loadu_ps(values.as_ptr()), _mm512_set1_ps(limit))
        });
    }
    values.iter().enumerate().fold(0, |mask, (i, &v)| mask | u32::from(v <= limit) << i)
}

/// Puts sixteen numbers in ascending order.
#[inline(always)]
pub(super) fn sort<const SET: u8>(keys: &mut [u32; LANES]) {
    #[cfg(target_arch = "x86_64")]
    if SET == AVX512 {
        // SAFETY: SET is AVX512 only inside a version compiled for it and called on a machine that has it.
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
    use super::super::simd::{Level, Set, versions};
    use super::*;
    use proptest::prelude::*;

    #[inline(always)]
    fn both_body<const SET: u8>(values: &[f32; LANES], limit: f32, keys: &mut [u32; LANES]) -> u32 {
        sort::<SET>(keys);
        at_most::<SET>(values, limit)
    }
    versions!(fn both [] (values: &[f32; LANES], limit: f32, keys: &mut [u32; LANES]) -> u32 = both_body);

    proptest! {
        #[test]
        fn every_instruction_set_agrees(keys: [u32; LANES], few in 1u32..40, values: [f32; LANES], limit in 0..LANES) {
            let keys = keys.map(|k| k % few);
            let mut expected = keys;
            expected.sort_unstable();
            let limit = values[limit];
            let mask = values.iter().enumerate().filter(|(_, v)| **v <= limit).fold(0, |m, (i, _)| m | 1 << i);
            for set in [Set::Plain, Set::Avx2, Set::Avx512] {
                let mut sorted = keys;
                prop_assert_eq!(both(Level::at_most(set), &values, limit, &mut sorted), mask);
                prop_assert_eq!(sorted, expected);
            }
        }
    }
}
