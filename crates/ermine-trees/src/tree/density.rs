//! Density trees: a piecewise constant density on a box.
//!
//! **Idea.** A cell with fraction p of the rows and volume v has density p / v. A cell is split where that increases the likelihood of its rows most. Split points are on a grid of [`GRID`] steps across the cell, so
//! that no cell shrinks around a few rows; the gain must exceed the description length of the split.
//!
//! **Formula.** Gain in log-likelihood of a split: n_l ln(n_l / v_l) + n_r ln(n_r / v_r) - n ln(n / v); it must exceed ln N (a threshold and one more height, by the Bayesian information criterion). Volumes are stored
//! as logarithms.
//!
//! **Resolution.** Discrete values (integers, prices, positions of categories) represent intervals: a value x of a column with resolution h lies between x - h/2 and x + h/2, and split points are halfway between
//! neighbors. Otherwise tiny cells around single values would have arbitrarily high densities.
//!
//! **Cost.** O(n d) per level. **Reference.** Ram and Gray, Density estimation trees (2011).

use serde::{Deserialize, Serialize};

/// Number of grid steps across a cell.
pub const GRID: usize = 32;

/// A piecewise constant density on a box.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BoxDensity {
    low: Vec<f64>,
    high: Vec<f64>,
    feature: Vec<u32>,
    threshold: Vec<f64>,
    /// The first of two children; 0 for a leaf.
    child: Vec<u32>,
    /// The fraction of the rows in each cell.
    mass: Vec<f64>,
    /// The logarithm of each cell's volume.
    log_volume: Vec<f64>,
}

/// The box of a density and the resolution of each column.
#[derive(Debug, Clone, PartialEq)]
pub struct DensityFrame {
    /// Lower bounds.
    pub low: Vec<f64>,
    /// Upper bounds.
    pub high: Vec<f64>,
    /// The resolution of each column (0 for continuous): split points are odd multiples of half a step.
    pub step: Vec<f64>,
}

/// Stopping rules.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DensityLimits {
    /// Maximum depth.
    pub max_depth: usize,
    /// Minimum weight of a cell.
    pub min_weight: f64,
}

/// A cell of a density.
#[derive(Debug, Clone, PartialEq)]
pub struct DensityBox {
    /// The columns that bound it, with lower and upper bounds.
    pub sides: Vec<(usize, f64, f64)>,
    /// The fraction of the rows in it.
    pub mass: f64,
    /// The logarithm of the density in it.
    pub log_density: f64,
}

struct DensityCell {
    node: usize,
    rows: Vec<u32>,
    low: Vec<f64>,
    high: Vec<f64>,
    depth: usize,
}

impl BoxDensity {
    /// Fits a density to rows with weights; `x(row, column)` is inside the box.
    pub fn fit(
        rows: Vec<u32>,
        x: impl Fn(u32, usize) -> f64,
        weight: impl Fn(u32) -> f64,
        frame: &DensityFrame,
        limits: DensityLimits,
    ) -> BoxDensity {
        let (low, high) = (frame.low.clone(), frame.high.clone());
        let total: f64 = rows.iter().map(|&row| weight(row)).sum();
        let log_volume = low.iter().zip(&high).map(|(l, h)| (h - l).ln()).sum();
        let mut density = BoxDensity {
            low: low.clone(),
            high: high.clone(),
            feature: vec![0],
            threshold: vec![0.0],
            child: vec![0],
            mass: vec![1.0],
            log_volume: vec![log_volume],
        };
        let mut stack = vec![DensityCell { node: 0, rows, low, high, depth: 0 }];
        while let Some(cell) = stack.pop() {
            if cell.depth >= limits.max_depth {
                continue;
            }
            let Some((j, threshold)) = best_cut(&cell, &x, &weight, total, &frame.step, limits) else { continue };
            stack.extend(density.cut(cell, j, threshold, &x, &weight, total));
        }
        density
    }

    fn cut(
        &mut self,
        cell: DensityCell,
        j: usize,
        threshold: f64,
        x: &impl Fn(u32, usize) -> f64,
        weight: &impl Fn(u32) -> f64,
        total: f64,
    ) -> [DensityCell; 2] {
        let first = self.child.len();
        self.feature[cell.node] = j as u32;
        self.threshold[cell.node] = threshold;
        self.child[cell.node] = first as u32;
        let (left, right): (Vec<u32>, Vec<u32>) = cell.rows.iter().partition(|&&row| x(row, j) <= threshold);
        let width = cell.high[j] - cell.low[j];
        for (rows, part) in [(&left, threshold - cell.low[j]), (&right, cell.high[j] - threshold)] {
            self.feature.push(0);
            self.threshold.push(0.0);
            self.child.push(0);
            self.mass.push(rows.iter().map(|&row| weight(row)).sum::<f64>() / total);
            self.log_volume.push(self.log_volume[cell.node] + (part / width).ln());
        }
        let (mut high, mut low) = (cell.high.clone(), cell.low.clone());
        high[j] = threshold;
        low[j] = threshold;
        let depth = cell.depth + 1;
        [
            DensityCell { node: first, rows: left, low: cell.low, high, depth },
            DensityCell { node: first + 1, rows: right, low, high: cell.high, depth },
        ]
    }

    /// The logarithm of the density at a point; minus infinity outside the box.
    pub fn log_density(&self, x: impl Fn(usize) -> f64) -> f64 {
        let inside = (0..self.low.len()).all(|j| (self.low[j]..=self.high[j]).contains(&x(j)));
        if inside { self.log_density_near(x) } else { f64::NEG_INFINITY }
    }

    /// The same, with points outside the box moved to its nearest side.
    pub fn log_density_near(&self, x: impl Fn(usize) -> f64) -> f64 {
        let mut node = 0;
        while self.child[node] > 0 {
            let above = x(self.feature[node] as usize) > self.threshold[node];
            node = self.child[node] as usize + usize::from(above);
        }
        self.mass[node].ln() - self.log_volume[node]
    }

    /// The integral of the density: 1 up to rounding.
    pub fn integral(&self) -> f64 {
        let leaves = (0..self.child.len()).filter(|&node| self.child[node] == 0);
        leaves.map(|leaf| (self.mass[leaf].ln() - self.log_volume[leaf] + self.log_volume[leaf]).exp()).sum()
    }

    /// Its cells in descending order of mass.
    pub fn boxes(&self) -> Vec<DensityBox> {
        let mut boxes = Vec::new();
        let mut stack = vec![(0usize, Vec::<(usize, f64, f64)>::new())];
        while let Some((node, sides)) = stack.pop() {
            let (first, mass) = (self.child[node] as usize, self.mass[node]);
            if first == 0 {
                boxes.push(DensityBox { sides, mass, log_density: mass.ln() - self.log_volume[node] });
                continue;
            }
            let (feature, at) = (self.feature[node] as usize, self.threshold[node]);
            let known = sides.iter().find(|side| side.0 == feature);
            let (low, high) = known.map_or((self.low[feature], self.high[feature]), |side| (side.1, side.2));
            for (child, side) in [(first + 1, (feature, at, high)), (first, (feature, low, at))] {
                let others = sides.iter().filter(|side| side.0 != feature).copied();
                stack.push((child, others.chain([side]).collect()));
            }
        }
        boxes.sort_by(|a, b| b.mass.total_cmp(&a.mass));
        boxes
    }

    /// The number of cells.
    pub fn n_cells(&self) -> usize {
        self.child.iter().filter(|&&child| child == 0).count()
    }

    /// Whether the arrays are consistent for `n_columns` columns (validation of model files).
    pub fn is_sound(&self, n_columns: usize) -> bool {
        let n = self.child.len();
        let lengths = [self.feature.len(), self.threshold.len(), self.mass.len(), self.log_volume.len()];
        let child = |node: usize| {
            let first = self.child[node] as usize;
            first == 0 || first > node && first + 1 < n && (self.feature[node] as usize) < n_columns
        };
        n > 0
            && lengths.iter().all(|&length| length == n)
            && self.low.len() == n_columns
            && self.high.len() == n_columns
            && (0..n).all(child)
            && self.mass.iter().all(|m| m.is_finite() && *m >= 0.0)
            && self.log_volume.iter().all(|v| v.is_finite())
    }
}

/// The split with the largest gain in log-likelihood, if it is large enough.
fn best_cut(
    cell: &DensityCell,
    x: &impl Fn(u32, usize) -> f64,
    weight: &impl Fn(u32) -> f64,
    total: f64,
    step: &[f64],
    limits: DensityLimits,
) -> Option<(usize, f64)> {
    let n: f64 = cell.rows.iter().map(|&row| weight(row)).sum();
    if n < 2.0 * limits.min_weight {
        return None;
    }
    let mut best = (total.ln(), None);
    for j in 0..cell.low.len() {
        let (low, high) = (cell.low[j], cell.high[j]);
        let cuts = cuts(low, high, step[j]);
        let mut parts = vec![0.0; cuts.len() + 1];
        for &row in &cell.rows {
            parts[cuts.partition_point(|cut| *cut < x(row, j))] += weight(row);
        }
        let mut left = 0.0;
        for (i, &cut) in cuts.iter().enumerate() {
            left += parts[i];
            let right = n - left;
            if left < limits.min_weight.max(1e-9 * n) || right < limits.min_weight.max(1e-9 * n) {
                continue;
            }
            let share = (cut - low) / (high - low);
            let gain = left * (left / n / share).ln() + right * (right / n / (1.0 - share)).ln();
            // Among gains that are equal up to rounding, the first one stays.
            if gain > best.0 * (1.0 + 1e-12) {
                best = (gain, Some((j, cut)));
            }
        }
    }
    best.1
}

/// The candidate split points of a cell, ascending: grid points moved halfway between possible values.
fn cuts(low: f64, high: f64, step: f64) -> Vec<f64> {
    let even = (1..GRID).map(|i| low + (high - low) * (i as f64 / GRID as f64));
    let between = |cut: f64| if step > 0.0 { ((cut / step - 0.5).round() + 0.5) * step } else { cut };
    let mut cuts: Vec<f64> = even.map(between).filter(|cut| *cut > low && *cut < high).collect();
    cuts.dedup();
    cuts
}

/// The resolution of these values: 1, 0.1, 0.01 or 0.001 if all are multiples of it and many are equal; otherwise 0.
pub fn step(values: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|x| !x.is_nan()).collect();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    sorted.dedup();
    if 2 * sorted.len() > n {
        return 0.0;
    }
    let fits =
        |scale: f64| sorted.iter().all(|x| (x * scale).abs() < 1e9 && (x * scale - (x * scale).round()).abs() < 1e-6);
    [1.0, 10.0, 100.0, 1000.0].into_iter().find(|&scale| fits(scale)).map_or(0.0, |scale| 1.0 / scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn integer_values_get_their_observed_frequencies(counts in prop::collection::vec(40usize..400, 2..9)) {
            let values: Vec<f64> = counts.iter().enumerate().flat_map(|(v, &n)| vec![v as f64; n]).collect();
            let (low, high) = (vec![-0.5], vec![counts.len() as f64 - 0.5]);
            let frame = DensityFrame { low, high, step: vec![step(&values)] };
            let rows = (0..values.len() as u32).collect();
            let limits = DensityLimits { max_depth: 50, min_weight: 1.0 };
            let density = BoxDensity::fit(rows, |row, _| values[row as usize], |_| 1.0, &frame, limits);
            prop_assert!((density.integral() - 1.0).abs() < 1e-9);
            // Each value has an interval of length 1: its density is about its frequency, and all densities sum to 1.
            let heights: Vec<f64> = (0..counts.len()).map(|v| density.log_density(|_| v as f64).exp()).collect();
            prop_assert!((heights.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{heights:?}");
            for (&n, height) in counts.iter().zip(&heights) {
                let share = n as f64 / values.len() as f64;
                // Of few rows, a difference that chance may have made is not cut out.
                let chance = 1.0 / (values.len() as f64).sqrt();
                prop_assert!((height - share).abs() < 0.1 + chance, "{height} {share}");
            }
        }
    }

    #[test]
    fn resolutions_are_detected() {
        let of = |f: fn(usize) -> f64| step(&(0..100).map(f).collect::<Vec<_>>());
        assert_eq!(of(|i| (i % 7) as f64), 1.0);
        assert_eq!(of(|i| (i % 7) as f64 / 10.0 + 0.2), 0.1);
        assert_eq!(of(|i| (i as f64).sqrt()), 0.0);
        assert_eq!(of(|i| i as f64), 0.0, "all values differ: there is no sign of rounding");
    }
}
