//! Bin statistics for more than two classes: one count per class.
//!
//! **Formula.** For counts l and r of the two sides: sum l^2 / sum l + sum r^2 / sum r, in integers as long as possible; fractions are compared without division.

use super::bin_statistics::{BinCut, BinSet, BinStatistics, MAX_BINS, SampledRow, bits};
use super::impurity::{Impurity, score_fraction};

/// One count per class.
pub struct ClassCountStatistics {
    /// Number of classes.
    pub n_classes: usize,
    /// Gini or entropy.
    pub criterion: Impurity,
}

impl BinStatistics for ClassCountStatistics {
    type Number = u32;

    /// Rounded up so that a cell fills whole SIMD vectors.
    #[inline(always)]
    fn width(&self) -> usize {
        match self.n_classes {
            0..=4 => 4,
            n => n.next_multiple_of(8),
        }
    }

    #[inline(always)]
    fn add(&self, cell: &mut [u32], item: SampledRow) {
        cell[item.target as usize] += item.weight;
    }

    #[inline(always)]
    fn merge(&self, cell: &mut [u32], other: &[u32]) {
        cell.iter_mut().zip(other).for_each(|(a, b)| *a += b);
    }

    #[inline(always)]
    fn remove(&self, cell: &mut [u32], other: &[u32]) {
        cell.iter_mut().zip(other).for_each(|(a, b)| *a -= b);
    }

    #[inline(always)]
    fn count(&self, cell: &[u32]) -> f64 {
        f64::from(cell.iter().sum::<u32>())
    }

    #[inline(always)]
    fn weight(&self, cell: &[u32]) -> f64 {
        self.count(cell)
    }

    #[inline(always)]
    fn score(&self, cell: &[u32]) -> f64 {
        let weight = self.weight(cell);
        self.criterion.score(cell.iter().map(|&c| f64::from(c)), weight)
    }

    /// The proportion of the node's most frequent class.
    fn order(&self, cell: &[u32], all: &[u32]) -> f64 {
        let most = (1..all.len()).fold(0, |best, k| if all[k] > all[best] { k } else { best });
        f64::from(cell[most]) / self.weight(cell)
    }

    fn n_classes(&self) -> Option<usize> {
        (self.criterion == Impurity::Gini && self.n_classes <= 32).then_some(self.n_classes)
    }

    fn is_pure(&self, cell: &[u32]) -> bool {
        cell.iter().filter(|&&c| c > 0).count() <= 1
    }

    fn add_up(&self, lines: &[u8], stride: usize, columns: &[u32], cells: &mut [u32], mut seen: Option<&mut [BinSet]>) {
        let k = self.width();
        for line in lines.chunks_exact(stride) {
            let item = SampledRow::of_line(line);
            for (slot, &column) in columns.iter().enumerate() {
                let bin = line[column as usize] as usize;
                cells[(slot * MAX_BINS + bin) * k + item.target as usize] += item.weight;
                if let Some(seen) = &mut seen {
                    seen[slot][bin / 64] |= 1 << (bin % 64);
                }
            }
        }
    }

    fn best_cut(&self, cells: &[u32], seen: &BinSet, all: &[u32], bar: f64) -> Option<Option<BinCut>> {
        if self.criterion != Impurity::Gini {
            return None;
        }
        match self.width() {
            4 => Some(best_class_cut::<4>(cells, seen, all, bar)),
            8 => Some(best_class_cut::<8>(cells, seen, all, bar)),
            16 => Some(best_class_cut::<16>(cells, seen, all, bar)),
            24 => Some(best_class_cut::<24>(cells, seen, all, bar)),
            32 => Some(best_class_cut::<32>(cells, seen, all, bar)),
            _ => None,
        }
    }
}

ermine_core::versions! {
    /// The best cut between the bins of a column whose cells have a count for each of W classes.
    fn best_class_cut<const W: usize>(cells: &[u32], seen: &BinSet, all: &[u32], bar: f64) -> Option<BinCut> {
        best_class_cut_plain::<W>(cells, seen, all, bar)
    }
}

/// Integer sums don't depend on the order, so every instruction set gives the same result.
#[inline(always)]
fn best_class_cut_plain<const W: usize>(cells: &[u32], seen: &BinSet, all: &[u32], bar: f64) -> Option<BinCut> {
    let (cells, all): (&[[u32; W]], &[u32; W]) = (cells.as_chunks().0, all.first_chunk()?);
    let all = all.map(u64::from);
    let total: u64 = all.iter().sum();
    let mut left = [0u64; W];
    let (mut best_num, mut best_den, mut best) = (bar, 1.0, None);
    let mut before = None;
    for bin in bits(seen) {
        if let Some(before) = before {
            let (mut weight_left, mut squares_left, mut squares_right) = (0, 0, 0);
            for (&left, &all) in left.iter().zip(&all) {
                let right = all - left;
                weight_left += left;
                squares_left += left * left;
                squares_right += right * right;
            }
            let (v, w) = (weight_left as f64, (total - weight_left) as f64);
            let (num, den) = score_fraction((squares_left as f64, v), (squares_right as f64, w));
            if num * best_den > best_num * den {
                (best_num, best_den) = (num, den);
                best = Some((before, bin));
            }
        }
        left.iter_mut().zip(&cells[bin as usize]).for_each(|(left, &moved)| *left += u64::from(moved));
        before = Some(bin);
    }
    let score = best_num / best_den;
    best.map(|(before, after)| BinCut { score, before, after })
}
