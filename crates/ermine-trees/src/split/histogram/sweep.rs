//! The vectorized scan of a histogram, eight thresholds at a time: finds the chunks in which a threshold beats the best ratio so far.
//!
//! Notation as in [`scan`](super::scan). The three versions (AVX-512, AVX2, portable) do the same operations per threshold, so they find the same chunks. Sums are integers, so their order
//! doesn't matter.

use super::quantize::unpack;
use super::scan::{NodeTotals, SplitRules, least_weight};
#[cfg(target_arch = "x86_64")]
use ermine_core::simd::InstructionSet;

/// Thresholds evaluated at a time.
pub const LANES: usize = 8;

/// Terms shared by all thresholds of a node.
#[derive(Debug, Clone, Copy)]
pub struct NodeTerms {
    g: f64,
    c: f64,
    lambda: f64,
    /// The minimum and maximum of a = H_L + lambda.
    ends: (f64, f64),
    shift: u32,
    missing: Option<(f64, f64)>,
    /// G^2 / (H + lambda).
    whole: f64,
}

impl NodeTerms {
    /// The terms of a node, given the sums of the missing rows.
    pub fn new(node: &NodeTotals, rule: &SplitRules, missing: Option<(f64, f64)>) -> NodeTerms {
        let (lambda, least) = (rule.leaf.lambda, least_weight(rule));
        let whole = if node.h + lambda > 0.0 { node.g * node.g / (node.h + lambda) } else { 0.0 };
        let ends = (least + lambda, node.h - least + lambda);
        NodeTerms { g: node.g, c: node.h + 2.0 * lambda, lambda, ends, shift: rule.shift, missing, whole }
    }

    /// D^2 and a b of a threshold; 0 and 1 if a child would be too light.
    #[inline(always)]
    pub fn weigh(&self, (g, h): (f64, f64)) -> (f64, f64) {
        let a = h + self.lambda;
        let d = self.c * g - self.g * a;
        if a >= self.ends.0 && a <= self.ends.1 { (d * d, a * (self.c - a)) } else { (0.0, 1.0) }
    }

    /// The gain of a threshold; 0 if a child would be too light.
    #[inline(always)]
    pub fn gain(&self, (g, h): (f64, f64)) -> f64 {
        let a = h + self.lambda;
        let d = self.c * g - self.g * a;
        let gain = 0.5 * ((self.g * self.g + d * d / (a * (self.c - a))) / self.c - self.whole);
        if a >= self.ends.0 && a <= self.ends.1 { gain } else { 0.0 }
    }

    /// The ratio D^2 / (a b) that corresponds to a gain.
    pub fn ratio(&self, gain: f64, node: &NodeTotals) -> f64 {
        (2.0 * gain + self.whole) * self.c - node.g * node.g
    }
}

/// Calls `look(chunk, sums before it, ratio)` for each chunk in which a threshold has D^2 > ratio a b; `look` returns the next ratio to beat. The length of `words` is a multiple of [`LANES`].
///
/// # Panics
/// If `W` is neither 1 (gradient and curvature packed) nor 2.
pub fn sweep<const W: usize>(
    words: &[[i64; W]],
    common: &NodeTerms,
    ratio: f64,
    look: impl FnMut(usize, [i64; W], f64) -> f64,
) {
    assert!(W == 1 || W == 2, "slots have one or two words");
    debug_assert!(words.len().is_multiple_of(LANES));
    #[cfg(target_arch = "x86_64")]
    {
        if ermine_core::simd::has(InstructionSet::Avx512) {
            // SAFETY: the processor has AVX-512 F and DQ, as just detected, and W is 1 or 2.
            return unsafe { x86::sweep_512(words, common, ratio, look) };
        }
        if W == 1 && ermine_core::simd::has(InstructionSet::Avx2) {
            // SAFETY: the processor has AVX2, as just detected, and W is 1.
            return unsafe { x86::sweep_256(words, common, ratio, look) };
        }
    }
    sweep_plain(words, common, ratio, look);
}

fn sweep_plain<const W: usize>(
    words: &[[i64; W]],
    common: &NodeTerms,
    mut ratio: f64,
    mut look: impl FnMut(usize, [i64; W], f64) -> f64,
) {
    let mut sum = [0i64; W];
    for (chunk, words) in words.as_chunks::<LANES>().0.iter().enumerate() {
        let before = sum;
        let mut any = false;
        for word in words {
            (0..W).for_each(|w| sum[w] = sum[w].wrapping_add(word[w]));
            let (g, h) = unpack(sum, common.shift);
            let (num, den) = common.weigh((g, h));
            any |= num > ratio * den;
            if let Some((gm, hm)) = common.missing {
                let (num, den) = common.weigh((g + gm, h + hm));
                any |= num > ratio * den;
            }
        }
        if any {
            ratio = look(chunk, before, ratio);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{LANES, NodeTerms};
    use std::arch::x86_64::*;

    /// Inclusive prefix sums.
    #[target_feature(enable = "avx512f,avx512dq")]
    fn prefix_512(v: __m512i) -> __m512i {
        let zero = _mm512_setzero_si512();
        let v = _mm512_add_epi64(v, _mm512_alignr_epi64::<7>(v, zero));
        let v = _mm512_add_epi64(v, _mm512_alignr_epi64::<6>(v, zero));
        _mm512_add_epi64(v, _mm512_alignr_epi64::<4>(v, zero))
    }

    /// Which lanes beat the ratio.
    #[target_feature(enable = "avx512f,avx512dq")]
    fn beats_512(common: &NodeTerms, ratio: f64, g: __m512d, h: __m512d) -> u8 {
        let all = |x: f64| _mm512_set1_pd(x);
        let a = _mm512_add_pd(h, all(common.lambda));
        let d = _mm512_sub_pd(_mm512_mul_pd(all(common.c), g), _mm512_mul_pd(all(common.g), a));
        let den = _mm512_mul_pd(a, _mm512_sub_pd(all(common.c), a));
        let low = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(a, all(common.ends.0));
        let fits = _mm512_mask_cmp_pd_mask::<_CMP_LE_OQ>(low, a, all(common.ends.1));
        _mm512_mask_cmp_pd_mask::<_CMP_GT_OQ>(fits, _mm512_mul_pd(d, d), _mm512_mul_pd(all(ratio), den))
    }

    /// # Safety
    /// W is 1 or 2.
    #[target_feature(enable = "avx512f,avx512dq")]
    pub unsafe fn sweep_512<const W: usize>(
        words: &[[i64; W]],
        common: &NodeTerms,
        mut ratio: f64,
        mut look: impl FnMut(usize, [i64; W], f64) -> f64,
    ) {
        let last = _mm512_set1_epi64(7);
        let (even, odd) = (_mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0), _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1));
        let shift = _mm_cvtsi64_si128(i64::from(common.shift));
        let low_bits = _mm512_set1_epi64((1i64 << common.shift) - 1);
        let mut carry = [_mm512_setzero_si512(); W];
        for (chunk, words) in words.as_chunks::<LANES>().0.iter().enumerate() {
            let start = words.as_ptr().cast::<i64>();
            let before = carry;
            // SAFETY: a chunk is 8 W words, and W is at least 1.
            let first = unsafe { _mm512_loadu_epi64(start) };
            let (g, h) = if W == 1 {
                let sums = _mm512_add_epi64(prefix_512(first), carry[0]);
                carry[0] = _mm512_permutexvar_epi64(last, sums);
                (_mm512_sra_epi64(sums, shift), _mm512_and_si512(sums, low_bits))
            } else {
                // SAFETY: a chunk is 16 words, W being 2.
                let second = unsafe { _mm512_loadu_epi64(start.add(8)) };
                let g = _mm512_add_epi64(prefix_512(_mm512_permutex2var_epi64(first, even, second)), carry[0]);
                let h = _mm512_add_epi64(prefix_512(_mm512_permutex2var_epi64(first, odd, second)), carry[W - 1]);
                carry[0] = _mm512_permutexvar_epi64(last, g);
                carry[W - 1] = _mm512_permutexvar_epi64(last, h);
                (g, h)
            };
            let (g, h) = (_mm512_cvtepi64_pd(g), _mm512_cvtepi64_pd(h));
            let mut hit = beats_512(common, ratio, g, h);
            if let Some((gm, hm)) = common.missing {
                let (g, h) = (_mm512_add_pd(g, _mm512_set1_pd(gm)), _mm512_add_pd(h, _mm512_set1_pd(hm)));
                hit |= beats_512(common, ratio, g, h);
            }
            if hit != 0 {
                ratio = look(chunk, before.map(|sum| _mm_cvtsi128_si64(_mm512_castsi512_si128(sum))), ratio);
            }
        }
    }

    /// Inclusive prefix sums.
    #[target_feature(enable = "avx2")]
    fn prefix_256(v: __m256i) -> __m256i {
        let zero = _mm256_setzero_si256();
        let one = _mm256_blend_epi32::<0b0000_0011>(_mm256_permute4x64_epi64::<0b10_01_00_00>(v), zero);
        let v = _mm256_add_epi64(v, one);
        let two = _mm256_blend_epi32::<0b0000_1111>(_mm256_permute4x64_epi64::<0b01_00_00_00>(v), zero);
        _mm256_add_epi64(v, two)
    }

    /// Converts integers below 2^51 to floating point, as in `quantize::float`.
    #[target_feature(enable = "avx2")]
    fn float_256(v: __m256i) -> __m256d {
        const BIAS: f64 = 6_755_399_441_055_744.0;
        let bias = _mm256_set1_pd(BIAS);
        _mm256_sub_pd(_mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(bias), v)), bias)
    }

    /// Which lanes beat the ratio.
    #[target_feature(enable = "avx2")]
    fn beats_256(common: &NodeTerms, ratio: f64, g: __m256d, h: __m256d) -> i32 {
        let all = |x: f64| _mm256_set1_pd(x);
        let a = _mm256_add_pd(h, all(common.lambda));
        let d = _mm256_sub_pd(_mm256_mul_pd(all(common.c), g), _mm256_mul_pd(all(common.g), a));
        let den = _mm256_mul_pd(a, _mm256_sub_pd(all(common.c), a));
        let low = _mm256_cmp_pd::<_CMP_GE_OQ>(a, all(common.ends.0));
        let high = _mm256_cmp_pd::<_CMP_LE_OQ>(a, all(common.ends.1));
        let better = _mm256_cmp_pd::<_CMP_GT_OQ>(_mm256_mul_pd(d, d), _mm256_mul_pd(all(ratio), den));
        _mm256_movemask_pd(_mm256_and_pd(_mm256_and_pd(low, high), better))
    }

    /// # Safety
    /// W is 1.
    #[target_feature(enable = "avx2")]
    pub unsafe fn sweep_256<const W: usize>(
        words: &[[i64; W]],
        common: &NodeTerms,
        mut ratio: f64,
        mut look: impl FnMut(usize, [i64; W], f64) -> f64,
    ) {
        debug_assert_eq!(W, 1);
        let shift = _mm_cvtsi64_si128(i64::from(common.shift));
        let low_bits = _mm256_set1_epi64x((1i64 << common.shift) - 1);
        // AVX2 has no arithmetic 64-bit shift: make the value positive, shift, and undo.
        let (sign, shifted_sign) = (_mm256_set1_epi64x(i64::MIN), _mm256_set1_epi64x(1i64 << (63 - common.shift)));
        let mut carry = _mm256_setzero_si256();
        for (chunk, words) in words.as_chunks::<LANES>().0.iter().enumerate() {
            let before = carry;
            let mut hit = 0;
            for half in [0, 4] {
                // SAFETY: a chunk is 8 words, W being 1.
                let v = unsafe { _mm256_loadu_si256(words.as_ptr().cast::<i64>().add(half).cast()) };
                let sums = _mm256_add_epi64(prefix_256(v), carry);
                carry = _mm256_permute4x64_epi64::<0b11_11_11_11>(sums);
                let g = _mm256_sub_epi64(_mm256_srl_epi64(_mm256_xor_si256(sums, sign), shift), shifted_sign);
                let (g, h) = (float_256(g), float_256(_mm256_and_si256(sums, low_bits)));
                hit |= beats_256(common, ratio, g, h);
                if let Some((gm, hm)) = common.missing {
                    let (g, h) = (_mm256_add_pd(g, _mm256_set1_pd(gm)), _mm256_add_pd(h, _mm256_set1_pd(hm)));
                    hit |= beats_256(common, ratio, g, h);
                }
            }
            if hit != 0 {
                ratio = look(chunk, [_mm_cvtsi128_si64(_mm256_castsi256_si128(before)); W], ratio);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::leaf_penalty::{LeafPenalty, WeightBounds};
    use super::*;
    use proptest::prelude::*;

    /// The chunks found by a version, with the sums before them; the ratio increases with each.
    fn passed<const W: usize>(run: impl FnOnce(&mut dyn FnMut(usize, [i64; W], f64) -> f64)) -> Vec<(usize, [i64; W])> {
        let mut passed = Vec::new();
        run(&mut |chunk, sums, ratio| {
            passed.push((chunk, sums));
            ratio * 1.5 + 1.0
        });
        passed
    }

    proptest! {
        #[test]
        fn all_versions_find_the_same_chunks(
            cells in prop::collection::vec((-500i64..500, 0i64..60), 1..60), lambda in 0.0f64..20.0, least in 0.0f64..200.0,
            missing in prop::option::of((-500i64..500, 0i64..60)), ratio in 0.0f64..1e7,
        ) {
            let mut cells = cells;
            cells.resize(cells.len().next_multiple_of(LANES), (0, 0));
            let all = || cells.iter().chain(&missing);
            let node = NodeTotals { g: all().map(|c| c.0 as f64).sum(), h: all().map(|c| c.1 as f64).sum(), bounds: WeightBounds::NONE };
            let leaf = LeafPenalty { lambda, alpha: 0.0, max_delta_step: 0.0 };
            let missing = missing.map(|(g, h)| (g as f64, h as f64));
            let narrow = NodeTerms::new(&node, &SplitRules { leaf, min_child_weight: least, shift: 20 }, missing);
            let wide = NodeTerms { shift: 0, ..narrow };
            let words: Vec<[i64; 1]> = cells.iter().map(|&(g, h)| [(g << 20) + h]).collect();
            let pairs: Vec<[i64; 2]> = cells.iter().map(|&(g, h)| [g, h]).collect();
            let plain = passed(|look| sweep_plain(&words, &narrow, ratio, look));
            let plain_pairs = passed(|look| sweep_plain(&pairs, &wide, ratio, look));
            let places = |p: &[(usize, [i64; 1])]| p.iter().map(|p| p.0).collect::<Vec<_>>();
            prop_assert_eq!(places(&plain), plain_pairs.iter().map(|p| p.0).collect::<Vec<_>>());
            #[cfg(target_arch = "x86_64")]
            {
                if ermine_core::simd::has(InstructionSet::Avx512) {
                    // SAFETY: the processor has it.
                    prop_assert_eq!(&plain, &passed(|look| unsafe { x86::sweep_512(&words, &narrow, ratio, look) }));
                    // SAFETY: the processor has it.
                    prop_assert_eq!(&plain_pairs, &passed(|look| unsafe { x86::sweep_512(&pairs, &wide, ratio, look) }));
                }
                if ermine_core::simd::has(InstructionSet::Avx2) {
                    // SAFETY: the processor has it.
                    prop_assert_eq!(&plain, &passed(|look| unsafe { x86::sweep_256(&words, &narrow, ratio, look) }));
                }
            }
        }
    }

    fn sweep_some<const W: usize>() {
        let node = NodeTotals { g: 1.0, h: 2.0, bounds: WeightBounds::NONE };
        let leaf = LeafPenalty { lambda: 1.0, alpha: 0.0, max_delta_step: 0.0 };
        let common = NodeTerms::new(&node, &SplitRules { leaf, min_child_weight: 0.0, shift: 20 }, None);
        sweep(&[[1i64; W]; LANES], &common, 0.0, |_, _, ratio| ratio);
    }

    #[test]
    #[should_panic(expected = "one or two words")]
    fn slots_without_words_panic() {
        sweep_some::<0>();
    }

    #[test]
    #[should_panic(expected = "one or two words")]
    fn slots_of_three_words_panic() {
        sweep_some::<3>();
    }
}
