//! The labels of 64 entries as the bits of a word, and the cuts that could be the best.
//!
//! **Idea.** A sweep over two classes needs two bits per entry: its label and whether it is tied with the previous one. 64 entries become two words; counting is then one instruction, and the
//! gains of eight cuts are compared with the best so far without division: 2 d^2 / (N n (N - n)) > g as d^2 > g N / 2 n (N - n), with d = pN - nP.

use super::node::{LABEL, TIE};
#[cfg(target_arch = "x86_64")]
use ermine_core::simd::InstructionSet;

/// Up to 64 entries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabelBlock {
    /// Bit i is set if entry i is of the second class.
    pub labels: u64,
    /// Bit i is set if entry i is tied with the previous entry.
    ties: u64,
}

impl LabelBlock {
    /// The first entries of a list, up to 64.
    #[inline]
    pub fn new(entries: &[u32]) -> LabelBlock {
        if let Some(entries) = entries.first_chunk::<64>() {
            return full(entries);
        }
        full_plain(entries)
    }

    /// Bit i is set if there is a cut between entry i and the next; `next_is_tied`: whether the entry after the block is tied.
    #[inline]
    pub fn cuts(self, next_is_tied: bool) -> u64 {
        !(self.ties >> 1 | u64::from(next_is_tied) << 63)
    }
}

/// The lowest `n` bits, for `n` up to 64.
#[inline(always)]
pub fn low_bits(n: usize) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

/// A full block.
#[inline]
fn full(entries: &[u32; 64]) -> LabelBlock {
    #[cfg(target_arch = "x86_64")]
    if ermine_core::simd::has(InstructionSet::Avx512) {
        // SAFETY: the processor has the feature, as just detected.
        return unsafe { full_avx512(entries) };
    }
    full_plain(entries)
}

/// The same without SIMD, for up to 64 entries.
fn full_plain(entries: &[u32]) -> LabelBlock {
    let bits = |mark: u32| entries.iter().rev().fold(0u64, |bits, e| bits << 1 | u64::from(e & mark != 0));
    LabelBlock { labels: bits(LABEL), ties: bits(TIE) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn full_avx512(entries: &[u32; 64]) -> LabelBlock {
    use std::arch::x86_64::{_mm512_loadu_si512, _mm512_set1_epi32, _mm512_test_epi32_mask};
    let (label, tie) = (_mm512_set1_epi32(LABEL as i32), _mm512_set1_epi32(TIE as i32));
    let mut block = LabelBlock { labels: 0, ties: 0 };
    for (i, sixteen) in entries.as_chunks::<16>().0.iter().enumerate() {
        // SAFETY: sixteen entries of four bytes.
        let sixteen = unsafe { _mm512_loadu_si512(sixteen.as_ptr().cast()) };
        block.labels |= u64::from(_mm512_test_epi32_mask(sixteen, label)) << (16 * i);
        block.ties |= u64::from(_mm512_test_epi32_mask(sixteen, tie)) << (16 * i);
    }
    block
}

/// The cuts whose gain may exceed `best`, which is positive, up to rounding. `start` are the rows and second-class rows before the block, `all` those of the node.
#[inline]
pub fn could_win(labels: u64, cuts: u64, start: (f64, f64), all: (f64, f64), best: f64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if ermine_core::simd::has(InstructionSet::IceLake) {
        // SAFETY: the processor has the features, as just detected.
        return unsafe { could_win_avx512(labels, cuts, start, all, best) };
    }
    could_win_plain(labels, cuts, start, all, best)
}

fn could_win_plain(labels: u64, cuts: u64, start: (f64, f64), all: (f64, f64), best: f64) -> u64 {
    let bar = best * all.0 / 2.0 * (1.0 - 1e-9);
    let (mut n, mut p) = start;
    let mut win = 0;
    for i in 0..64 {
        n += 1.0;
        p += (labels >> i & 1) as f64;
        let d = p * all.0 - n * all.1;
        win |= u64::from(d * d > bar * (n * (all.0 - n))) << i;
    }
    win & cuts
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vpopcntdq,popcnt")]
fn could_win_avx512(labels: u64, cuts: u64, start: (f64, f64), all: (f64, f64), best: f64) -> u64 {
    use std::arch::x86_64::*;
    let bar = _mm512_set1_pd(best * all.0 / 2.0 * (1.0 - 1e-9));
    let (n_all, p_all) = (_mm512_set1_pd(all.0), _mm512_set1_pd(all.1));
    let eight = _mm512_set_pd(8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0);
    // Bits 0 to i for lane i.
    let below = _mm512_set_epi64(255, 127, 63, 31, 15, 7, 3, 1);
    let mut win = 0u64;
    let mut before = start.1;
    for byte in 0..8 {
        let bits = (labels >> (8 * byte)) as u8;
        if (cuts >> (8 * byte)) as u8 != 0 {
            let counted = _mm512_popcnt_epi64(_mm512_and_si512(_mm512_set1_epi64(i64::from(bits)), below));
            let p = _mm512_add_pd(_mm512_cvtepi64_pd(counted), _mm512_set1_pd(before));
            let n = _mm512_add_pd(eight, _mm512_set1_pd(start.0 + f64::from(8 * byte)));
            let d = _mm512_sub_pd(_mm512_mul_pd(p, n_all), _mm512_mul_pd(n, p_all));
            let product = _mm512_mul_pd(bar, _mm512_mul_pd(n, _mm512_sub_pd(n_all, n)));
            let mask = _mm512_cmp_pd_mask::<_CMP_GT_OQ>(_mm512_mul_pd(d, d), product);
            win |= u64::from(mask) << (8 * byte);
        }
        before += f64::from(bits.count_ones());
    }
    win & cuts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn label_blocks_match_the_entries(entries in prop::collection::vec(any::<u32>(), 1..70), best in 0.01f64..9.0) {
            let block = LabelBlock::new(&entries);
            let cuts = block.cuts(false);
            let all = (200.0, 90.0);
            let winners = could_win(block.labels, cuts, (30.0, 12.0), all, best);
            prop_assert_eq!(winners, could_win_plain(block.labels, cuts, (30.0, 12.0), all, best));
            prop_assert_eq!(block, full_plain(&entries[..entries.len().min(64)]));
            let mut p = 12.0;
            for (i, entry) in entries.iter().take(64).enumerate() {
                prop_assert_eq!(block.labels >> i & 1 == 1, entry & LABEL != 0);
                let cut = i == 63 || entries.get(i + 1).is_none_or(|next| next & TIE == 0);
                prop_assert_eq!(cuts >> i & 1 == 1, cut, "cut {}", i);
                let n = 31.0 + i as f64;
                p += f64::from(u8::from(entry & LABEL != 0));
                let d: f64 = p * all.0 - n * all.1;
                let gain = 2.0 * d * d / (all.0 * n * (all.0 - n));
                let wins = winners >> i & 1 == 1;
                prop_assert!(!cut && !wins || cut && (wins || gain <= best) && (!wins || gain > best * (1.0 - 1e-8)));
            }
        }
    }
}
