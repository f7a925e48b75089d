//! The best cuts of all columns of a small node at once.
//!
//! **Idea.** For a handful of rows, the overhead per column exceeds the cost of the sums. Here the columns are the lanes of a vector: each row in turn is the last one on the left, every other row is compared with
//! it in all columns at once, and its target is added to the lanes in which it goes left too. That takes n^2 comparisons instead of n log n, but of dozens of columns each; it pays for up to about 50 rows.
//!
//! **Formula.** With targets centered in the node, weight W, left weight v and left sum a, the gain of a cut is a^2 W / (v (W - v)). It is computed in single precision to choose the column; the winning cut is
//! then evaluated exactly.
//!
//! **Reproducibility.** The loops are compiled for several instruction sets; each lane does the same additions in the same order.

/// Maximum number of rows for which this pays.
pub const FEW: usize = 48;

/// Number of columns processed together.
const LANES: usize = 16;

/// The gain of the best cut of each column (-1 if there is none) and the row whose bin is the last on the left.
pub struct BestColumnCuts<const STRIDE: usize> {
    /// The gain.
    pub gain: [f32; STRIDE],
    /// The row.
    pub row: [u32; STRIDE],
}

ermine_core::versions! {
    /// The best cuts of lines with these weights and centered, weighted targets. Ignore the cuts of bytes that aren't bins.
    pub fn best_cuts<const STRIDE: usize>(lines: &[[u8; STRIDE]], target: &[f32], weight: &[f32]) -> BestColumnCuts<STRIDE> {
        best_cuts_plain(lines, target, weight)
    }
}

#[inline(always)]
fn best_cuts_plain<const STRIDE: usize>(
    lines: &[[u8; STRIDE]],
    target: &[f32],
    weight: &[f32],
) -> BestColumnCuts<STRIDE> {
    let total: f32 = weight.iter().sum();
    let mut best = BestColumnCuts { gain: [-1.0; STRIDE], row: [0; STRIDE] };
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
        fn every_column_gets_its_best_cut_on_every_instruction_set(
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
