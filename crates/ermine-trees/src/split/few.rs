//! The best cuts of all columns of a few rows at once.
//!
//! **Idea.** For a handful of rows, going column by column costs more in housekeeping than in sums. Here the columns stand side by side in the lanes of a vector: each row in turn is the last one on
//! the left, every other row is compared with it in all columns at once, and its target is added where it goes left too. That is n^2 comparisons instead of n log n, but of
//! dozens of columns each: it pays up to some 50 rows.
//!
//! **Formula.** With targets centred in the node, weight W, left weight v and left sum a: score = a^2 W / (v (W - v)), the gain of the cut. In single precision, which decides between
//! columns; the cut that wins is then taken in full.
//!
//! **Same bits everywhere.** The loops are plain Rust, compiled again for wider vector units; each lane does the same additions in the same order.

/// Rows up to which this pays.
pub const FEW: usize = 48;

/// Columns that are worked on together.
const LANES: usize = 16;

/// For each column the gain of its best cut (-1 where it has none) and the row whose bin is the last on the left.
pub struct BestCuts<const STRIDE: usize> {
    /// The gain.
    pub gain: [f32; STRIDE],
    /// The row.
    pub row: [u32; STRIDE],
}

ermine_core::versions! {
    /// The best cuts of lines with these targets, which are centred, and weights. Bytes of a line that are no bins get cuts too: pass over them.
    pub fn best_cuts<const STRIDE: usize>(lines: &[[u8; STRIDE]], target: &[f32], weight: &[f32]) -> BestCuts<STRIDE> {
        best_cuts_plain(lines, target, weight)
    }
}

#[inline(always)]
fn best_cuts_plain<const STRIDE: usize>(lines: &[[u8; STRIDE]], target: &[f32], weight: &[f32]) -> BestCuts<STRIDE> {
    let total: f32 = weight.iter().sum();
    let mut best = BestCuts { gain: [-1.0; STRIDE], row: [0; STRIDE] };
    for first in (0..STRIDE).step_by(LANES) {
        let mut gain = [-1.0f32; LANES];
        let mut row = [0u32; LANES];
        for (i, cut) in lines.iter().enumerate() {
            let cut: &[u8; LANES] = cut[first..].first_chunk().unwrap_or(&[0; LANES]);
            let (mut sum, mut left) = ([0.0f32; LANES], [0.0f32; LANES]);
            for ((line, &y), &w) in lines.iter().zip(target).zip(weight) {
                let bins: &[u8; LANES] = line[first..].first_chunk().unwrap_or(&[0; LANES]);
                for lane in 0..LANES {
                    let goes_left = bins[lane] <= cut[lane];
                    sum[lane] += if goes_left { y } else { 0.0 };
                    left[lane] += if goes_left { w } else { 0.0 };
                }
            }
            for lane in 0..LANES {
                let right = total - left[lane];
                let here = if right > 0.0 { sum[lane] * sum[lane] * total / (left[lane] * right) } else { -1.0 };
                if here > gain[lane] {
                    gain[lane] = here;
                    row[lane] = i as u32;
                }
            }
        }
        best.gain[first..first + LANES].copy_from_slice(&gain);
        best.row[first..first + LANES].copy_from_slice(&row);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_column_gets_its_best_cut_and_wide_units_the_same_bits(
            rows in prop::collection::vec((prop::collection::vec(0u8..6, 64), -8i8..8, 1u8..4), 2..20),
        ) {
            let lines: Vec<[u8; 64]> = rows.iter().map(|r| r.0.clone().try_into().unwrap()).collect();
            let weight: Vec<f32> = rows.iter().map(|r| f32::from(r.2)).collect();
            let total: f32 = weight.iter().sum();
            let mean = rows.iter().zip(&weight).map(|(r, w)| f32::from(r.1) * w).sum::<f32>() / total;
            let target: Vec<f32> = rows.iter().zip(&weight).map(|(r, w)| (f32::from(r.1) - mean) * w).collect();
            let best = best_cuts(&lines, &target, &weight);
            let plain = best_cuts_plain(&lines, &target, &weight);
            prop_assert_eq!(best.gain.map(f32::to_bits), plain.gain.map(f32::to_bits));
            prop_assert_eq!(best.row, plain.row);
            for column in 0..64 {
                let gain = |cut: u8| {
                    let left = |r: usize| lines[r][column] <= cut;
                    let v: f32 = (0..rows.len()).filter(|&r| left(r)).map(|r| weight[r]).sum();
                    let a: f32 = (0..rows.len()).filter(|&r| left(r)).map(|r| target[r]).sum();
                    if v < total { a * a * total / (v * (total - v)) } else { -1.0 }
                };
                let most = lines.iter().map(|l| gain(l[column])).fold(-1.0, f32::max);
                prop_assert_eq!(best.gain[column], most);
                prop_assert_eq!(gain(lines[best.row[column] as usize][column]), most);
            }
        }
    }
}
