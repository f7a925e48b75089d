//! The best split of a small node by the squared error around the mean.
//!
//! **Formula.** With s the sum of the centred numbers on the left, and n of N rows there, the gain is s^2 N / (n (N - n)).
//!
//! **Idea.** Eight columns run in eight lanes, each adding up its rows in its own order, as the sweep for nodes of any size does: the sums have the same bits.

use super::{ROWS, Twig, TwigNode, TwigSplit};
use crate::split::node::Grid;

/// The best split of a node; `centred` is the distance of each row's number from the mean of the node. Of equal gains the lower column wins, then the lower place.
///
/// # Panics
/// If the processor lacks what twigs need ([`available`](super::available)), or the node isn't inside the twig.
#[cfg(target_arch = "x86_64")]
pub fn best(twig: &Twig, node: TwigNode, centred: &[f64; ROWS], grid: Grid) -> Option<TwigSplit> {
    assert!(super::available(), "a processor that has what twigs need");
    assert!(twig.is_inside(node), "a node inside its twig");
    // SAFETY: the processor has the features, and the node is inside, as just checked.
    unsafe { best_avx512(twig, node, centred, grid) }
}

/// # Safety
/// The processor has what [`available`](super::available) asks for, and the node is inside the twig.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,popcnt")]
unsafe fn best_avx512(twig: &Twig, node: TwigNode, centred: &[f64; ROWS], grid: Grid) -> Option<TwigSplit> {
    use std::arch::x86_64::*;
    let n = node.len as f64;
    let mut best: Option<TwigSplit> = None;
    for first in (0..twig.n_columns()).step_by(8) {
        let n_lanes = (twig.n_columns() - first).min(8);
        // SAFETY: as the caller promises; the node is inside.
        let words = unsafe { twig.cuts_of_eight(node, first) };
        // SAFETY: eight words of eight bytes.
        let mut cuts = unsafe { _mm512_loadu_si512(words.as_ptr().cast()) };
        let (mut sum, mut most) = (_mm512_setzero_pd(), _mm512_set1_pd(-1.0));
        let mut at = _mm512_setzero_pd();
        let mut rows = _mm512_setzero_si512();
        for place in 0..node.allowed.1 {
            if place % 8 == 0 {
                let words = twig.words(node, first, place);
                // SAFETY: eight words of eight bytes.
                rows = unsafe { _mm512_loadu_si512(words.as_ptr().cast()) };
            }
            let row = _mm512_and_si512(rows, _mm512_set1_epi64(ROWS as i64 - 1));
            // SAFETY: each index is below 64, the length of the table.
            let y = unsafe { _mm512_i64gather_pd::<8>(row, centred.as_ptr()) };
            sum = _mm512_add_pd(sum, y);
            let n_left = (place + 1) as f64;
            let factor = n / (n_left * (n - n_left));
            let gain = _mm512_mul_pd(_mm512_mul_pd(sum, sum), _mm512_set1_pd(factor));
            let gain = grid.round_lanes(gain);
            let is_cut = _mm512_test_epi64_mask(cuts, _mm512_set1_epi64(1));
            let better = _mm512_mask_cmp_pd_mask::<_CMP_GT_OQ>(is_cut, gain, most);
            most = _mm512_mask_mov_pd(most, better, gain);
            at = _mm512_mask_mov_pd(at, better, _mm512_set1_pd(n_left));
            rows = _mm512_srli_epi64::<8>(rows);
            cuts = _mm512_srli_epi64::<1>(cuts);
        }
        let (mut gains, mut places) = ([0.0; 8], [0.0; 8]);
        // SAFETY: eight numbers each.
        unsafe {
            _mm512_storeu_pd(gains.as_mut_ptr(), most);
            _mm512_storeu_pd(places.as_mut_ptr(), at);
        }
        for lane in (0..n_lanes).filter(|&lane| places[lane] > 0.0) {
            if best.is_none_or(|best| gains[lane] > best.gain) {
                best = Some(TwigSplit { column: first + lane, gain: gains[lane], n_left: places[lane] as usize });
            }
        }
    }
    best
}
