//! A density tree: a density that is constant on each cell of a box, and integrates to 1.
//!
//! **Idea.** A cell with share p of the rows and volume v has density p / v. A cell is cut where that raises the likelihood of its rows most: where rows are crowded on one side. Cuts lie on a
//! grid of [`GRID`] steps across the cell, so that no cell shrinks around a few rows at a time; a cut must gain more than it costs to describe.
//!
//! **Formula.** Gain in log-likelihood of a cut: n_l ln(n_l / v_l) + n_r ln(n_r / v_r) - n ln(n / v); taken if it is more than ln N (a threshold and one more height, by the Bayesian
//! information criterion). Volumes are kept as logarithms. A category counts as an interval of length 1 around its code.
//!
//! **Cost.** O(n d) for each level. **Reference.** Ram and Gray, Density estimation trees (2011).

use serde::{Deserialize, Serialize};

/// Cuts are tried at the ends of so many equal steps across a cell.
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
    /// The share of the rows in each cell.
    mass: Vec<f64>,
    /// The logarithm of each cell's volume.
    log_volume: Vec<f64>,
}

/// When a cell is not cut.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DensityLimits {
    /// No cell is deeper.
    pub max_depth: usize,
    /// Every cell has at least this weight.
    pub min_weight: f64,
}

struct Cell {
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
        (low, high): (Vec<f64>, Vec<f64>),
        limits: DensityLimits,
    ) -> BoxDensity {
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
        let mut stack = vec![Cell { node: 0, rows, low, high, depth: 0 }];
        while let Some(cell) = stack.pop() {
            if cell.depth >= limits.max_depth {
                continue;
            }
            let Some((j, threshold)) = best_cut(&cell, &x, &weight, total, limits) else { continue };
            stack.extend(density.cut(cell, j, threshold, &x, &weight, total));
        }
        density
    }

    fn cut(
        &mut self,
        cell: Cell,
        j: usize,
        threshold: f64,
        x: &impl Fn(u32, usize) -> f64,
        weight: &impl Fn(u32) -> f64,
        total: f64,
    ) -> [Cell; 2] {
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
            Cell { node: first, rows: left, low: cell.low, high, depth },
            Cell { node: first + 1, rows: right, low, high: cell.high, depth },
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

    /// What the density adds up to over all cells: 1, up to rounding.
    pub fn integral(&self) -> f64 {
        let leaves = (0..self.child.len()).filter(|&node| self.child[node] == 0);
        leaves.map(|leaf| (self.mass[leaf].ln() - self.log_volume[leaf] + self.log_volume[leaf]).exp()).sum()
    }

    /// How many cells it has.
    pub fn n_cells(&self) -> usize {
        self.child.iter().filter(|&&child| child == 0).count()
    }

    /// Whether it holds together, for `n_columns` columns: from a file, nothing is taken on trust.
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

/// The cut that gains most log-likelihood, if it gains enough.
fn best_cut(
    cell: &Cell,
    x: &impl Fn(u32, usize) -> f64,
    weight: &impl Fn(u32) -> f64,
    total: f64,
    limits: DensityLimits,
) -> Option<(usize, f64)> {
    let n: f64 = cell.rows.iter().map(|&row| weight(row)).sum();
    if n < 2.0 * limits.min_weight {
        return None;
    }
    let mut best = (total.ln(), None);
    for j in 0..cell.low.len() {
        let (low, width) = (cell.low[j], cell.high[j] - cell.low[j]);
        let cut = |i: usize| low + width * (i as f64 / GRID as f64);
        let mut steps = vec![0.0; GRID];
        for &row in &cell.rows {
            let mut i = (((x(row, j) - low) / width * GRID as f64) as usize).min(GRID - 1);
            // The cell of a value is decided by the cut itself, whatever the division rounds to.
            while i > 0 && x(row, j) <= cut(i) {
                i -= 1;
            }
            while i + 1 < GRID && x(row, j) > cut(i + 1) {
                i += 1;
            }
            steps[i] += weight(row);
        }
        let mut left = 0.0;
        for i in 1..GRID {
            left += steps[i - 1];
            let right = n - left;
            if left < limits.min_weight.max(1e-9 * n) || right < limits.min_weight.max(1e-9 * n) || cut(i) <= low {
                continue;
            }
            let share = i as f64 / GRID as f64;
            let gain = left * (left / n / share).ln() + right * (right / n / (1.0 - share)).ln();
            // Equal up to rounding is equal: the first column and cut stay.
            if gain > best.0 * (1.0 + 1e-12) && cut(i) < cell.high[j] {
                best = (gain, Some((j, cut(i))));
            }
        }
    }
    best.1
}
