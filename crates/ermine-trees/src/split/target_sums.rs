//! Bin statistics for arbitrary weights or several targets: rows, weight and target sums in f64.

use super::bin_statistics::{BinStatistics, SampledRow};
use super::impurity::Impurity;
use std::borrow::Cow;

/// Rows, weight and target sums in f64.
pub struct TargetSumStatistics<'a> {
    /// The weight of each row of the data.
    pub weight: Cow<'a, [f64]>,
    /// The classes of the rows; `None` for regression.
    pub classes: Option<&'a [u32]>,
    /// The centered targets of the rows, `n_targets` each.
    pub values: &'a [f64],
    /// Number of target sums: classes or targets.
    pub n_targets: usize,
    /// Gini or entropy.
    pub criterion: Impurity,
}

impl BinStatistics for TargetSumStatistics<'_> {
    type Number = f64;

    fn width(&self) -> usize {
        2 + self.n_targets
    }

    #[inline]
    fn add(&self, cell: &mut [f64], item: SampledRow) {
        let (row, count) = (item.row as usize, f64::from(item.weight));
        let weight = count * self.weight[row];
        cell[0] += count;
        cell[1] += weight;
        match self.classes {
            Some(classes) => cell[2 + classes[row] as usize] += weight,
            None => {
                let values = &self.values[row * self.n_targets..(row + 1) * self.n_targets];
                cell[2..].iter_mut().zip(values).for_each(|(sum, y)| *sum += weight * y);
            }
        }
    }

    fn merge(&self, cell: &mut [f64], other: &[f64]) {
        cell.iter_mut().zip(other).for_each(|(a, b)| *a += b);
    }

    fn remove(&self, cell: &mut [f64], other: &[f64]) {
        cell.iter_mut().zip(other).for_each(|(a, b)| *a -= b);
        if cell[0] == 0.0 {
            cell.fill(0.0);
        }
    }

    fn count(&self, cell: &[f64]) -> f64 {
        cell[0]
    }

    fn weight(&self, cell: &[f64]) -> f64 {
        cell[1]
    }

    fn score(&self, cell: &[f64]) -> f64 {
        match self.criterion {
            _ if cell[0] == 0.0 || cell[1] <= 0.0 => 0.0,
            // The squared error explained by the means has the form of the Gini score.
            _ => self.criterion.score(cell[2..].iter().copied(), cell[1]),
        }
    }

    fn order(&self, cell: &[f64], all: &[f64]) -> f64 {
        let most = (3..all.len()).fold(2, |best, k| if all[k] > all[best] { k } else { best });
        cell[if self.classes.is_some() { most } else { 2 }] / cell[1]
    }

    fn is_pure(&self, cell: &[f64]) -> bool {
        self.classes.is_some() && cell[2..].iter().filter(|s| **s > 0.0).count() <= 1
    }

    fn targets_decide(&self) -> bool {
        self.classes.is_some()
    }
}
