//! The best split of a small node by the Gini impurity of two classes.
//!
//! **Formula.** With n and p the rows and second-class rows on the left, N and P in the node, the gain is 2 (pN - nP)^2 / (N n (N - n)).
//!
//! **Idea.** The labels of a node in the order of a column are the bits of one word; the second-class rows left of each place are counted for sixteen places at once. Single precision is enough
//! to see which places can't be the best: all whole numbers here are below 2^24, so that only the last product rounds. The others are computed in full.

use super::{Twig, TwigNode, TwigSplit};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// What a node of two classes is compared by.
#[derive(Debug, Clone, Copy)]
pub struct TwoClasses {
    /// Rows.
    pub n: f64,
    /// Rows of the second class.
    pub p: f64,
}

/// What the gain of each of 64 places needs, sixteen at a time, whatever the column.
#[cfg(target_arch = "x86_64")]
struct Places {
    /// The rows on the left times the second-class rows of the node.
    share: [__m512; 4],
    /// One over the rows on the left times those on the right.
    one_over: [__m512; 4],
    /// Bits 0 to i for lane i of the lower and of the upper sixteen of 32 places.
    below: [__m512i; 2],
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
#[inline]
fn places(counts: TwoClasses) -> Places {
    let sixteen = _mm512_set_ps(16., 15., 14., 13., 12., 11., 10., 9., 8., 7., 6., 5., 4., 3., 2., 1.);
    let n_left: [__m512; 4] = std::array::from_fn(|g| _mm512_add_ps(sixteen, _mm512_set1_ps(16.0 * g as f32)));
    let share = n_left.map(|n| _mm512_mul_ps(n, _mm512_set1_ps(counts.p as f32)));
    let one_over = n_left.map(|n| {
        let product = _mm512_mul_ps(n, _mm512_sub_ps(_mm512_set1_ps(counts.n as f32), n));
        _mm512_div_ps(_mm512_set1_ps(1.0), product)
    });
    let lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    let below = [
        _mm512_sub_epi32(_mm512_sllv_epi32(_mm512_set1_epi32(2), lanes), _mm512_set1_epi32(1)),
        _mm512_or_si512(
            _mm512_sllv_epi32(
                _mm512_sub_epi32(_mm512_sllv_epi32(_mm512_set1_epi32(2), lanes), _mm512_set1_epi32(1)),
                _mm512_set1_epi32(16),
            ),
            _mm512_set1_epi32(0xffff),
        ),
    ];
    Places { share, one_over, below }
}

/// The best split of a node; marks are 0 or 255 by class. `gain(n, p)` is the gain in full, which is compared; of equal ones the lower column wins, then the lower place.
///
/// # Panics
/// If the processor lacks what twigs need ([`available`](super::available)), or the node isn't inside the twig.
#[cfg(target_arch = "x86_64")]
pub fn best(twig: &Twig, node: TwigNode, counts: TwoClasses, gain: impl Fn(f64, f64) -> f64) -> Option<TwigSplit> {
    assert!(super::available(), "a processor that has what twigs need");
    assert!(twig.is_inside(node), "a node inside its twig");
    // SAFETY: the processor has the features, and the node is inside, as just checked.
    unsafe { best_avx512(twig, node, counts, gain) }
}

/// # Safety
/// The processor has what [`available`](super::available) asks for, and the node is inside the twig.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq,popcnt")]
unsafe fn best_avx512(
    twig: &Twig,
    node: TwigNode,
    counts: TwoClasses,
    gain: impl Fn(f64, f64) -> f64,
) -> Option<TwigSplit> {
    use super::{ROWS, low_bits};
    let n_all = counts.n as f32;
    let Places { share, one_over, below } = places(counts);
    // SAFETY: marks are 64 bytes.
    let marks = unsafe { _mm512_loadu_si512(twig.marks.as_ptr().cast()) };
    let inside = low_bits(node.len);
    let n_groups = node.allowed.1.div_ceil(16);
    let mut best: Option<TwigSplit> = None;
    let mut least = -1.0f32;
    for column in 0..twig.n_columns() {
        // SAFETY: as the caller promises; the node is inside.
        let (cuts, labels) = unsafe {
            let at = twig.orders.as_ptr().add(column * ROWS + node.start);
            let rows = _mm512_loadu_si512(at.cast());
            (twig.cuts(node, column), _mm512_movepi8_mask(_mm512_permutexvar_epi8(rows, marks)) & inside)
        };
        for g in 0..n_groups {
            let cut = (cuts >> (16 * g)) as u16;
            let (word, before) =
                if g < 2 { (labels as u32, 0) } else { ((labels >> 32) as u32, (labels as u32).count_ones()) };
            let counted = _mm512_popcnt_epi32(_mm512_and_si512(_mm512_set1_epi32(word as i32), below[g % 2]));
            let p = _mm512_cvtepi32_ps(_mm512_add_epi32(counted, _mm512_set1_epi32(before as i32)));
            let d = _mm512_fmsub_ps(p, _mm512_set1_ps(n_all), share[g]);
            let score = _mm512_mul_ps(_mm512_mul_ps(d, d), one_over[g]);
            let better = _mm512_mask_cmp_ps_mask::<_CMP_GT_OQ>(cut, score, _mm512_set1_ps(least));
            if better == 0 {
                continue;
            }
            let most = _mm512_mask_reduce_max_ps(better, score);
            let nearly = _mm512_set1_ps(most * (1.0 - 4e-6));
            let mut nearly_best = _mm512_mask_cmp_ps_mask::<_CMP_GE_OQ>(better, score, nearly);
            while nearly_best != 0 {
                let place = 16 * g + nearly_best.trailing_zeros() as usize;
                nearly_best &= nearly_best - 1;
                let p = (labels & low_bits(place + 1)).count_ones();
                let gain = gain((place + 1) as f64, f64::from(p));
                if best.is_none_or(|best| gain > best.gain) {
                    best = Some(TwigSplit { column, gain, n_left: place + 1 });
                    // gain N / 2 = d^2 / (n (N - n)), less what single precision may have rounded.
                    least = (gain * counts.n / 2.0 * (1.0 - 4e-6)) as f32;
                }
            }
        }
    }
    best
}
