//! The best cut of a column whose bins are all added up, for one target number: every bin in turn, several at once.
//!
//! **Idea.** In a node of many rows nearly all bins occur, so that going through all of them costs no more than finding out which do. First the sums left of every cut, one addition each; then the
//! scores of all cuts, a vector of them at a time; then the greatest. A cut behind an empty bin is the one before it again, and not better.
//!
//! **Formula.** score = a^2 / v + b^2 / w, with target sums a and b and weights v and w on the two sides, as one fraction.
//!
//! **Same bits everywhere.** The loops are plain Rust, compiled again for wider vector units.

use super::cells::MAX_BINS;
use super::impurity::score_fraction;

/// Target sum above, weight in the lowest `shift` bits.
#[derive(Debug, Clone, Copy)]
pub struct Word {
    /// How many bits the weight has.
    pub shift: u32,
}

ermine_core::versions! {
    /// The bin after which the best cut is, and its score, where that is above `bar`.
    pub fn best_packed_cut(cells: &[u64; MAX_BINS], word: Word, all: u64, bar: f64) -> Option<(u8, f64)> {
        best_packed_cut_plain(cells, word, all, bar)
    }
}

#[inline(always)]
fn best_packed_cut_plain(cells: &[u64; MAX_BINS], word: Word, all: u64, bar: f64) -> Option<(u8, f64)> {
    let mut left = [0u64; MAX_BINS];
    let mut sum = 0u64;
    for (left, cell) in left.iter_mut().zip(cells) {
        sum = sum.wrapping_add(*cell);
        *left = sum;
    }
    let parts =
        |packed: u64| (((packed as i64) >> word.shift) as f64, (packed & ((1 << word.shift) - 1)) as i64 as f64);
    let (total, weight) = parts(all);
    // Scores are not negative, so that their bits are ordered as they are; -1 stands for a cut with an empty side.
    let mut scores = [0i64; MAX_BINS];
    for (score, &left) in scores.iter_mut().zip(&left) {
        let (a, v) = parts(left);
        let (b, w) = (total - a, weight - v);
        let (numerator, denominator) = score_fraction((a * a, v), (b * b, w));
        let fraction = numerator / denominator;
        *score = if denominator > 0.0 { fraction.to_bits() as i64 } else { -1 };
    }
    let most = scores.iter().fold(-1, |most, &score| if score > most { score } else { most });
    let score = f64::from_bits(most as u64);
    if most < 0 || !(score > bar) {
        return None;
    }
    scores.iter().position(|&score| score == most).map(|bin| (bin as u8, score))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_best_of_all_cuts_is_found_by_all_units(
            bins in prop::collection::vec((0usize..256, -1000i64..1000, 1u64..9), 1..300), bar in prop_oneof![Just(-1.0), 0.0..1e6f64],
        ) {
            let word = Word { shift: 20 };
            let mut cells = [0u64; MAX_BINS];
            for &(bin, target, weight) in &bins {
                let packed = ((target << word.shift) + 1).wrapping_mul(weight as i64) as u64;
                cells[bin] = cells[bin].wrapping_add(packed);
            }
            let all = cells.iter().fold(0u64, |sum, cell| sum.wrapping_add(*cell));
            let found = best_packed_cut(&cells, word, all, bar);
            prop_assert_eq!(found, best_packed_cut_plain(&cells, word, all, bar));
            let score = |cut: usize| {
                let side = |left: bool| {
                    let rows = bins.iter().filter(|b| (b.0 <= cut) == left);
                    let (sum, weight) = rows.fold((0.0, 0.0), |(s, w), b| (s + (b.1 * b.2 as i64) as f64, w + b.2 as f64));
                    sum * sum / weight
                };
                side(true) + side(false)
            };
            let best = (0..256).map(score).filter(|s| s.is_finite()).fold(f64::NEG_INFINITY, f64::max);
            match found {
                None => prop_assert!(best <= bar * (1.0 + 1e-12) || best == f64::NEG_INFINITY),
                Some((bin, said)) => {
                    prop_assert!((said - best).abs() <= 1e-9 * best && (score(bin as usize) - best).abs() <= 1e-9 * best);
                }
            }
        }
    }
}
