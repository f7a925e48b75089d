//! The best split of a small node by the Gini impurity of up to eight classes.
//!
//! **Formula.** With l_k and r_k the rows of class k on either side and a, b their sums, the cost is a + b - sum l_k^2 / a - sum r_k^2 / b. Moving a row of class k to the left adds 2 l_k + 1 to the
//! first sum of squares and takes 2 r_k - 1 from the second.
//!
//! **Idea.** Eight columns run in eight lanes of 64 bits; the counts of the eight classes are the eight bytes of a lane, which the class of a row shifts to.

use super::{Twig, TwigNode, TwigSplit};
use crate::split::node::Grid;

/// As many classes as a word has bytes.
pub const CLASSES: usize = 8;

/// The best split of a node of this cost; marks are eight times the class. `counts` are the rows of each class, as bytes of one word. Of equal gains the lower column wins, then the lower place.
///
/// # Panics
/// If the processor lacks what twigs need ([`available`](super::available)), or the node isn't inside the twig.
#[cfg(target_arch = "x86_64")]
pub fn best(twig: &Twig, node: TwigNode, counts: u64, cost: f64, grid: Grid) -> Option<TwigSplit> {
    assert!(super::available(), "a processor that has what twigs need");
    assert!(twig.is_inside(node), "a node inside its twig");
    // SAFETY: the processor has the features, and the node is inside, as just checked.
    unsafe { best_avx512(twig, node, counts, cost, grid) }
}

/// # Safety
/// The processor has what [`available`](super::available) asks for, and the node is inside the twig.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,popcnt")]
unsafe fn best_avx512(twig: &Twig, node: TwigNode, counts: u64, cost: f64, grid: Grid) -> Option<TwigSplit> {
    use std::arch::x86_64::*;
    let n = node.len as f64;
    let squares: u64 = counts.to_le_bytes().iter().map(|&count| u64::from(count) * u64::from(count)).sum();
    // SAFETY: marks are 64 bytes.
    let marks = unsafe { _mm512_loadu_si512(twig.marks.as_ptr().cast()) };
    let (byte, one) = (_mm512_set1_epi64(0xff), _mm512_set1_epi64(1));
    let mut best: Option<TwigSplit> = None;
    for first in (0..twig.n_columns()).step_by(8) {
        let n_lanes = (twig.n_columns() - first).min(8);
        // SAFETY: as the caller promises; the node is inside.
        let words = unsafe { twig.cuts_of_eight(node, first) };
        // SAFETY: eight words of eight bytes.
        let mut cuts = unsafe { _mm512_loadu_si512(words.as_ptr().cast()) };
        let (mut left, mut right) = (_mm512_setzero_si512(), _mm512_set1_epi64(counts as i64));
        let (mut left_squares, mut right_squares) = (_mm512_setzero_si512(), _mm512_set1_epi64(squares as i64));
        let (mut most, mut at) = (_mm512_set1_pd(f64::NEG_INFINITY), _mm512_setzero_pd());
        let mut shifts = _mm512_setzero_si512();
        for place in 0..node.allowed.1 {
            if place % 8 == 0 {
                let words = twig.words(node, first, place);
                // SAFETY: eight words of eight bytes.
                let rows = unsafe { _mm512_loadu_si512(words.as_ptr().cast()) };
                shifts = _mm512_permutexvar_epi8(rows, marks);
            }
            let shift = _mm512_and_si512(shifts, byte);
            let l = _mm512_and_si512(_mm512_srlv_epi64(left, shift), byte);
            let r = _mm512_and_si512(_mm512_srlv_epi64(right, shift), byte);
            let moved = _mm512_sllv_epi64(one, shift);
            left = _mm512_add_epi64(left, moved);
            right = _mm512_sub_epi64(right, moved);
            left_squares = _mm512_add_epi64(left_squares, _mm512_add_epi64(_mm512_add_epi64(l, l), one));
            right_squares = _mm512_sub_epi64(right_squares, _mm512_sub_epi64(_mm512_add_epi64(r, r), one));
            let (a, b) = ((place + 1) as f64, n - (place + 1) as f64);
            let left_part = _mm512_div_pd(_mm512_cvtepi64_pd(left_squares), _mm512_set1_pd(a));
            let right_part = _mm512_div_pd(_mm512_cvtepi64_pd(right_squares), _mm512_set1_pd(b));
            let sides = _mm512_sub_pd(_mm512_sub_pd(_mm512_set1_pd(n), left_part), right_part);
            let gain = grid.round_lanes(_mm512_sub_pd(_mm512_set1_pd(cost), sides));
            let is_cut = _mm512_test_epi64_mask(cuts, one);
            let better = _mm512_mask_cmp_pd_mask::<_CMP_GT_OQ>(is_cut, gain, most);
            most = _mm512_mask_mov_pd(most, better, gain);
            at = _mm512_mask_mov_pd(at, better, _mm512_set1_pd(a));
            shifts = _mm512_srli_epi64::<8>(shifts);
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
