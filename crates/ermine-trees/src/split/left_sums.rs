//! Sums of the left sides of one cut per column, in one pass over the lines of a node.
//!
//! **Idea.** All cuts form one vector as long as a line: one comparison gives the side of every cut, and the line's word is added to the sums of the cuts that it is left of, eight
//! at a time. There is no branch, which random cuts would make unpredictable.
//!
//! **Reproducibility.** Words are wrapping integers; every instruction set gives the same sums.

#[cfg(target_arch = "x86_64")]
use ermine_core::simd::InstructionSet;

/// Adds `word(line)` to the sum of each cut (position in the line, last left bin) that the line is left of.
pub fn add_left(lines: &[u8], stride: usize, cuts: &[(u32, u8)], word: impl Fn(&[u8]) -> u64, sums: &mut [u64]) {
    #[cfg(target_arch = "x86_64")]
    if stride == 64 && ermine_core::simd::has(InstructionSet::Avx512) {
        for (cuts, sums) in cuts.chunks(8).zip(sums.chunks_mut(8)) {
            // SAFETY: the processor has the features, as just detected.
            unsafe { x86::add_left_avx512(lines.as_chunks().0, cuts, &word, sums) };
        }
        return;
    }
    add_left_plain(lines, stride, cuts, word, sums);
}

fn add_left_plain(lines: &[u8], stride: usize, cuts: &[(u32, u8)], word: impl Fn(&[u8]) -> u64, sums: &mut [u64]) {
    for line in lines.chunks_exact(stride) {
        let word = word(line);
        for (sum, &(place, last)) in sums.iter_mut().zip(cuts) {
            let goes_left = u64::from(line[place as usize] <= last);
            *sum = sum.wrapping_add(word & goes_left.wrapping_neg());
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    /// The same for at most eight cuts at different positions of 64-byte lines.
    #[target_feature(enable = "avx512f,avx512bw,bmi2")]
    pub fn add_left_avx512(lines: &[[u8; 64]], cuts: &[(u32, u8)], word: &impl Fn(&[u8]) -> u64, out: &mut [u64]) {
        let (mut last, mut places) = ([0u8; 64], 0u64);
        for &(place, bin) in cuts {
            last[place as usize % 64] = bin;
            places |= 1 << (place % 64);
        }
        // SAFETY: the array has 64 bytes, and the load needs no alignment.
        let last = unsafe { _mm512_loadu_si512(last.as_ptr().cast()) };
        let mut sums = _mm512_setzero_si512();
        for line in lines {
            // SAFETY: a line has 64 bytes, and the load needs no alignment.
            let bytes = unsafe { _mm512_loadu_si512(line.as_ptr().cast()) };
            let left = _pext_u64(_mm512_cmple_epu8_mask(bytes, last), places) as u8;
            sums = _mm512_mask_add_epi64(sums, left, sums, _mm512_set1_epi64(word(line) as i64));
        }
        let mut each = [0u64; 8];
        // SAFETY: the array has 64 bytes, and the store needs no alignment.
        unsafe { _mm512_storeu_si512(each.as_mut_ptr().cast(), sums) };
        // The sums are in the order of their positions.
        for (out, &(place, _)) in out.iter_mut().zip(cuts) {
            let before = (places & ((1 << (place % 64)) - 1)).count_ones();
            *out = out.wrapping_add(each[before as usize % 8]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn simd_sums_equal_scalar_sums(
            lines in prop::collection::vec(prop::collection::vec(any::<u8>(), 64), 0..50),
            cuts in prop::collection::btree_map(0u32..54, any::<u8>(), 0..20),
        ) {
            let (lines, cuts): (Vec<u8>, Vec<(u32, u8)>) = (lines.concat(), cuts.into_iter().rev().collect());
            let word = |line: &[u8]| u64::from(line[63]).wrapping_mul(0x0123_4567_89ab_cdef);
            let (mut a, mut b) = (vec![1u64; cuts.len()], vec![1u64; cuts.len()]);
            add_left(&lines, 64, &cuts, word, &mut a);
            add_left_plain(&lines, 64, &cuts, word, &mut b);
            prop_assert_eq!(a, b);
        }
    }
}
