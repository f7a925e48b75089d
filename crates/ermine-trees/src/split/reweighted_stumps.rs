//! The exact best stump again and again while row weights change, for AdaBoost.
//!
//! **Idea.** Sweeping every sorted column in every round costs a random memory access per value. Here each ordered column is divided once into at most 255 slices of about equal count. A round accumulates the class
//! weights of each slice (a histogram, read in row order), which gives the exact cost of every threshold *between* slices and a lower bound for the thresholds inside a slice. Only slices whose bound can still
//! win are swept in sorted order: about one in a hundred.
//!
//! **Formula.** Let l be the class weights left of a slice's start and h those left of its end. A threshold inside has a left side in the box \[l, h\]. Impurity costs are concave, so their minimum over the box is at
//! a corner: for two classes at (l0, h1), (h0, l1), or at an end of the slice. For more classes, removing rows never increases a cost, so cost(l) + cost(all - h) is a bound; it is used for the 0-1 risk,
//! where it is tight enough.
//!
//! **Exactness.** Weights are integers that sum to about 2^52 ([`IntegerWeights`]): sums are exact in any order, in 64-bit integers as in f64, so that costs of the 0-1 risk are exact, equal costs are equal, and
//! the number of threads has no effect. Ties are broken as in [`exact`](super::exact).
//!
//! **Cost.** O(n) per column and round, about a nanosecond per row and column. **Reference.** Bounds for intervals: Alsabti, Ranka and Singh, CLOUDS: a decision tree classifier for large datasets, KDD 1998.

use super::exact::{ThresholdPosition, threshold_value};
use super::impurity::Impurity;
use super::test::Test;
use ermine_core::linalg::lanes::{LANES, fold};
use ermine_core::matrix::sorted::TIE;
use ermine_core::matrix::{Features, Sorted, SortedColumn};
use ermine_core::parallel;
use ermine_core::table::{Column, ColumnKind, MISSING};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The approximate sum of all weights.
pub const TOTAL: f64 = (1u64 << 52) as f64;

/// Maximum number of slices of an ordered column.
const MAX_SLICES: usize = 255;

/// Approximate number of cells (slices times classes) per column, so that they fit the first-level cache.
const MAX_CELLS: usize = 8192;

/// The slices of all columns, computed once for all rounds.
pub struct ReweightedStumpSearch {
    sorted: Arc<Sorted>,
    columns: Vec<SlicedColumn>,
    classes: Vec<u16>,
    n_classes: usize,
    impurity: Impurity,
}

/// A column divided into slices.
struct SlicedColumn {
    /// `slice * n_classes + class` of each row; missing values are in the slice after the last.
    cells: Vec<u16>,
    /// Start of each slice in the sorted order, and the end of the last. For a nominal column, one entry per category plus one.
    starts: Vec<u32>,
    ordered: bool,
    has_missing: bool,
}

/// Row weights as integers that sum to about [`TOTAL`].
///
/// The weight of a row is its initial weight times a factor from the rounds. If the initial weights are integers, a row of weight 3 gets exactly three times
/// the weight of a row of weight 1 with the same factor, as if it were three rows.
#[derive(Debug, Clone)]
pub struct IntegerWeights {
    /// Each at least 1.
    pub mass: Vec<u64>,
    growth: Vec<f64>,
    /// The initial weights if they are integers; other initial weights are part of the growth.
    given: Option<Vec<f64>>,
    scale: f64,
    /// The logarithm of the factor by which the growth was rescaled.
    log_unit: f64,
    log_total: f64,
    /// Whether a row's growth ever fell below [`LEAST_GROWTH`]: from then on the weights differ from the exact ones.
    has_floored: bool,
}

/// Minimum growth, so that a tiny weight can recover.
const LEAST_GROWTH: f64 = 1e-290;

/// The best split of some columns.
#[derive(Debug, Clone, PartialEq)]
pub struct StumpCandidate {
    /// Its cost in units of the integer weights.
    pub cost: f64,
    tie_break: f64,
    feature: usize,
    /// The threshold; `None` for one branch per category.
    place: Option<ThresholdPosition>,
    /// The class weights of the left side of a threshold.
    left: Vec<f64>,
}

impl StumpCandidate {
    /// Compares cost, tie-break, column and position.
    fn beats(&self, other: &StumpCandidate) -> bool {
        let rank = |f: &StumpCandidate| (f.feature, f.place.map_or((0, false), |p| (p.n_left, !p.missing_left)));
        let by_cost = self.cost.total_cmp(&other.cost).then(self.tie_break.total_cmp(&other.tie_break));
        by_cost.then_with(|| rank(self).cmp(&rank(other))).is_lt()
    }

    /// The better of two candidates.
    pub fn better(a: Option<StumpCandidate>, b: Option<StumpCandidate>) -> Option<StumpCandidate> {
        match (a, b) {
            (Some(a), Some(b)) => Some(if b.beats(&a) { b } else { a }),
            (a, b) => a.or(b),
        }
    }
}

/// A stump: a test, a class per branch, and its predictions.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightedStump {
    /// The test.
    pub test: Test,
    /// The class of each branch.
    pub labels: Vec<u16>,
    /// The class for a row that matches no branch.
    pub default_label: u16,
    /// The predicted class of each training row.
    pub predictions: Vec<u16>,
    /// The weight of the misclassified rows.
    pub wrong_mass: u64,
    /// The weight of all rows.
    pub total_mass: u64,
}

impl IntegerWeights {
    /// The weights of `n` rows.
    pub fn new(weight: Option<&[f64]>, n: usize) -> IntegerWeights {
        let sum = weight.map_or(n as f64, |w| w.iter().sum());
        let whole = |w: &&[f64]| w.iter().all(|&w| w.fract() == 0.0) && sum < TOTAL / 16.0;
        let given = weight.filter(whole).map(<[f64]>::to_vec);
        let growth = if given.is_some() { None } else { weight };
        let growth = growth.map_or_else(|| vec![1.0; n], <[f64]>::to_vec);
        let (mass, scale) = (vec![0; n], TOTAL / sum);
        let mut weights =
            IntegerWeights { mass, growth, given, scale, log_unit: 0.0, log_total: 0.0, has_floored: false };
        weights.count();
        weights
    }

    /// The weights normalized to a sum of about 1.
    pub fn shares(&self) -> Vec<f64> {
        self.mass.iter().map(|&m| m as f64 / TOTAL).collect()
    }

    /// Multiplies the weights of misclassified rows by one factor and those of the others by another.
    pub fn reweight(&mut self, predictions: &[u16], classes: &[u16], if_wrong: f64, if_right: f64) {
        let mut floored = false;
        for ((growth, prediction), class) in self.growth.iter_mut().zip(predictions).zip(classes) {
            let grown = *growth * if prediction == class { if_right } else { if_wrong };
            floored |= grown < LEAST_GROWTH;
            *growth = grown.max(LEAST_GROWTH);
        }
        self.has_floored |= floored;
        self.center();
        self.count();
    }

    /// The logarithm of the sum of all weights relative to the initial sum, including every factor passed to [`reweight`](IntegerWeights::reweight). `None` if some weight became too small to be kept:
    /// such a row can recover with too large a weight, and the sum is no longer exact.
    pub fn log_total(&self) -> Option<f64> {
        (!self.has_floored).then_some(self.log_total)
    }

    /// The sum of the weights relative to the initial sum.
    fn total(&self) -> f64 {
        let mut sums = [0.0; LANES];
        match &self.given {
            None => self.growth.iter().enumerate().for_each(|(i, growth)| sums[i % LANES] += growth),
            Some(given) => {
                self.growth.iter().zip(given).enumerate().for_each(|(i, (growth, w))| sums[i % LANES] += growth * w)
            }
        }
        fold(sums) * self.scale / TOTAL
    }

    /// Rescales the growth by a power of two (which is exact) if the sum has drifted by more than a factor of 2.
    fn center(&mut self) {
        let total = self.total();
        self.log_total = total.ln() + self.log_unit;
        if total.is_finite() && !(0.5..=2.0).contains(&total) {
            let unit = total.log2().round().exp2();
            self.has_floored |= self.growth.iter().any(|growth| growth / unit < LEAST_GROWTH);
            self.growth.iter_mut().for_each(|growth| *growth = (*growth / unit).max(LEAST_GROWTH));
            self.log_unit += unit.ln();
        }
    }

    fn count(&mut self) {
        let scale = self.scale;
        match &self.given {
            None => self.mass.iter_mut().zip(&self.growth).for_each(|(mass, growth)| *mass = whole(growth * scale)),
            Some(given) => {
                let rows = self.mass.iter_mut().zip(&self.growth).zip(given);
                rows.for_each(|((mass, growth), &given)| *mass = whole(growth * scale) * given as u64);
            }
        }
    }
}

/// Rounds a number from 0 to 2^52 to an integer of at least 1. Adding 2^52 leaves the rounded number in the low bits of the sum, which SIMD
/// units can do even if they can't convert.
#[inline]
fn whole(x: f64) -> u64 {
    (x.min(TOTAL) + TOTAL).to_bits() - TOTAL.to_bits() + 1
}

impl ReweightedStumpSearch {
    /// Divides the columns into slices. Nominal columns with more than `max_categories` categories are ignored.
    pub fn new(
        features: &Features,
        codes: &[u32],
        n_classes: usize,
        impurity: Impurity,
        max_categories: usize,
    ) -> ReweightedStumpSearch {
        let sorted = features.sorted();
        let classes: Vec<u16> = codes.iter().map(|&c| c as u16).collect();
        let slice = |(column, order): (&Column, &SortedColumn)| {
            if column.kind == ColumnKind::Nominal {
                slice_nominal(column, features.rows(), &classes, n_classes, max_categories)
            } else {
                slice_ordered(order, &classes, n_classes)
            }
        };
        let columns = parallel::consume(features.columns().iter().zip(&sorted.columns), |_, pair| slice(pair));
        ReweightedStumpSearch { sorted, columns, classes, n_classes, impurity }
    }

    /// Maximum number of classes: cell indices have 16 bits.
    pub const MAX_CLASSES: usize = 4096;

    /// The best split of the given columns. `bar` is the best cost so far of all columns, shared between threads: it saves work and doesn't change the
    /// result.
    pub fn search(&self, mass: &[u64], columns: &[usize], bar: &AtomicU64) -> Option<StumpCandidate> {
        let mut best: Option<StumpCandidate> = None;
        let mut open: Vec<SliceHistogram> = Vec::new();
        for &feature in columns.iter().filter(|&&f| !self.columns[f].cells.is_empty()) {
            let histogram = self.histogram(feature, mass);
            self.score_edges(&histogram, &mut best);
            if self.columns[feature].ordered {
                open.push(histogram);
            }
        }
        // Nonnegative floats are ordered like their bits.
        let lower = |best: &Option<StumpCandidate>| {
            bar.fetch_min(best.as_ref().map_or(u64::MAX, |b| b.cost.max(0.0).to_bits()), Ordering::Relaxed)
        };
        lower(&best);
        for histogram in &open {
            self.sweep_slices(histogram, mass, bar, &mut best);
            lower(&best);
        }
        best
    }
}

/// The class weights of a column's slices.
struct SliceHistogram {
    feature: usize,
    /// Class weights left of each slice, and of all slices: `(n_slices + 1) * n_classes` numbers. For a nominal column, of each slice itself.
    sums: Vec<f64>,
    missing: Vec<f64>,
    all: Vec<f64>,
}

impl ReweightedStumpSearch {
    fn histogram(&self, feature: usize, mass: &[u64]) -> SliceHistogram {
        let (k, column) = (self.n_classes, &self.columns[feature]);
        let n_cells = column.starts.len() * k;
        let cells = if n_cells <= SMALL {
            small_histogram(&column.cells, mass)
        } else {
            histogram(&column.cells, mass, n_cells)
        };
        let mut sums: Vec<f64> = cells[..n_cells].iter().map(|&m| m as f64).collect();
        let missing = sums.split_off(n_cells - k);
        let mut all = missing.clone();
        sums.chunks(k).for_each(|slice| all.iter_mut().zip(slice).for_each(|(a, s)| *a += s));
        if column.ordered {
            // Prefix sums over the slices.
            let mut left = vec![0.0; k];
            for slice in sums.chunks_mut(k) {
                for (s, l) in slice.iter_mut().zip(&mut left) {
                    *l += std::mem::replace(s, *l);
                }
            }
            sums.extend_from_slice(&left);
        }
        SliceHistogram { feature, sums, missing, all }
    }

    /// The sides to try for missing values, with their initial left sums.
    fn sides_of_missing<'h>(&self, histogram: &'h SliceHistogram) -> impl Iterator<Item = (bool, &'h [f64])> + 'h {
        let to_left = self.columns[histogram.feature].has_missing.then_some((true, histogram.missing.as_slice()));
        to_left.into_iter().chain(std::iter::once((false, &[][..])))
    }

    /// Tries all thresholds between slices, or the single split of a nominal column.
    fn score_edges(&self, histogram: &SliceHistogram, best: &mut Option<StumpCandidate>) {
        let (k, column) = (self.n_classes, &self.columns[histogram.feature]);
        if !column.ordered {
            let branches = histogram.sums.chunks(k).chain(column.has_missing.then_some(histogram.missing.as_slice()));
            let cost = |impurity: Impurity| branches.clone().map(|sums| impurity.cost(sums)).sum::<f64>();
            let tie_break = if self.impurity == Impurity::Error { cost(Impurity::Gini) } else { 0.0 };
            let (feature, left) = (histogram.feature, Vec::new());
            let found = StumpCandidate { cost: cost(self.impurity), tie_break, feature, place: None, left };
            *best = StumpCandidate::better(best.take(), Some(found));
            return;
        }
        for (missing_left, start) in self.sides_of_missing(histogram) {
            for (edge, sums) in histogram.sums.chunks(k).enumerate() {
                let n_left = column.starts[edge] as usize;
                let place = ThresholdPosition { n_left, missing_left };
                if k == 2 {
                    self.consider(histogram, place, &plus_two(sums, start), best);
                } else {
                    self.consider(histogram, place, &plus(sums, start), best);
                }
            }
        }
    }

    /// Keeps a threshold if it is the best so far.
    #[inline(always)]
    fn consider(
        &self,
        histogram: &SliceHistogram,
        place: ThresholdPosition,
        left: &[f64],
        best: &mut Option<StumpCandidate>,
    ) {
        let cost = self.cost(&histogram.all, left);
        if best.as_ref().is_none_or(|b| cost <= b.cost) {
            let tie_break =
                if self.impurity == Impurity::Error { Impurity::Gini.cost_of_two(&histogram.all, left) } else { 0.0 };
            let found =
                StumpCandidate { cost, tie_break, feature: histogram.feature, place: Some(place), left: left.to_vec() };
            *best = StumpCandidate::better(best.take(), Some(found));
        }
    }

    #[inline(always)]
    fn cost(&self, all: &[f64], left: &[f64]) -> f64 {
        match (self.impurity, all, left) {
            // The same number as below, as all sums are exact.
            (Impurity::Error, &[a0, a1], &[l0, l1]) => l0.min(l1) + (a0 - l0).min(a1 - l1),
            (impurity, &[a0, a1], &[l0, l1]) => impurity.cost_of_two(&[a0, a1], &[l0, l1]),
            (impurity, ..) => impurity.cost_of_two(all, left),
        }
    }

    /// A lower bound of the cost of all thresholds inside a slice; `low` and `high` are the left sides at its ends.
    #[inline(always)]
    fn bound(&self, all: &[f64], low: &[f64], high: &[f64]) -> f64 {
        match (self.impurity, low, high) {
            (_, &[l0, l1], &[h0, h1]) => {
                let bound = self.cost(all, &[l0, h1]).min(self.cost(all, &[h0, l1]));
                // Costs other than the 0-1 risk are rounded.
                if self.impurity == Impurity::Error { bound } else { bound - 1e-12 * TOTAL }
            }
            (Impurity::Error, ..) => {
                let right: Vec<f64> = all.iter().zip(high).map(|(a, h)| a - h).collect();
                Impurity::Error.cost(low) + Impurity::Error.cost(&right)
            }
            _ => f64::NEG_INFINITY,
        }
    }

    /// Sweeps the slices that may contain a threshold at least as good as the best so far.
    fn sweep_slices(
        &self,
        histogram: &SliceHistogram,
        mass: &[u64],
        bar: &AtomicU64,
        best: &mut Option<StumpCandidate>,
    ) {
        let k = self.n_classes;
        let starts = &self.columns[histogram.feature].starts;
        let entries = self.sorted.columns[histogram.feature].present();
        for (missing_left, start) in self.sides_of_missing(histogram) {
            for slice in 0..starts.len() - 1 {
                let (from, to) = (starts[slice] as usize, starts[slice + 1] as usize);
                if to - from < 2 {
                    continue;
                }
                let (low, high) = (&histogram.sums[slice * k..][..k], &histogram.sums[(slice + 1) * k..][..k]);
                let bar = f64::from_bits(bar.load(Ordering::Relaxed));
                if k == 2 {
                    let (mut low, high) = (plus_two(low, start), plus_two(high, start));
                    if self.bound(&histogram.all, &low, &high) <= bar {
                        self.sweep_two(histogram, &entries[from..to], (from, missing_left), &mut low, mass, best);
                    }
                } else {
                    let (mut low, high) = (plus(low, start), plus(high, start));
                    if self.bound(&histogram.all, &low, &high) <= bar {
                        self.sweep(histogram, &entries[from..to], (from, missing_left), &mut low, mass, best);
                    }
                }
            }
        }
    }

    /// Tries the thresholds inside a slice, whose left end is `left`.
    fn sweep(
        &self,
        histogram: &SliceHistogram,
        entries: &[u32],
        (from, missing_left): (usize, bool),
        left: &mut [f64],
        mass: &[u64],
        best: &mut Option<StumpCandidate>,
    ) {
        for (i, &entry) in entries.iter().enumerate() {
            if i > 0 && entry & TIE == 0 {
                self.consider(histogram, ThresholdPosition { n_left: from + i, missing_left }, left, best);
            }
            let row = (entry & !TIE) as usize;
            left[self.classes[row] as usize] += mass[row] as f64;
        }
    }

    /// The same for two classes, without branches.
    fn sweep_two(
        &self,
        histogram: &SliceHistogram,
        entries: &[u32],
        (from, missing_left): (usize, bool),
        left: &mut [f64; 2],
        mass: &[u64],
        best: &mut Option<StumpCandidate>,
    ) {
        for (i, &entry) in entries.iter().enumerate() {
            if i > 0 && entry & TIE == 0 {
                self.consider(histogram, ThresholdPosition { n_left: from + i, missing_left }, &left[..], best);
            }
            let row = (entry & !TIE) as usize;
            let (all, second) = (mass[row] as f64, f64::from(self.classes[row]) * mass[row] as f64);
            left[0] += all - second;
            left[1] += second;
        }
    }

    /// Builds the stump of a split: labels and predictions.
    pub fn stump(&self, features: &Features, found: &StumpCandidate, mass: &[u64]) -> WeightedStump {
        let (k, column) = (self.n_classes, &self.columns[found.feature]);
        let histogram = self.histogram(found.feature, mass);
        let default_label = heaviest(&histogram.all, 0);
        let (test, sums) = match found.place {
            Some(place) => {
                let right: Vec<f64> = histogram.all.iter().zip(&found.left).map(|(a, l)| a - l).collect();
                self.threshold_test(features, found.feature, place, [found.left.clone(), right])
            }
            None => {
                let mut sums: Vec<Vec<f64>> = histogram.sums.chunks(k).map(<[f64]>::to_vec).collect();
                let (feature, n_levels, missing) = (found.feature as u32, sums.len() as u32, column.has_missing);
                sums.extend(missing.then(|| histogram.missing.clone()));
                (Test::Each { feature, n_levels, missing }, sums)
            }
        };
        let labels: Vec<u16> = sums.iter().map(|sums| heaviest(sums, default_label)).collect();
        let wrong_of = |(sums, &label): (&Vec<f64>, &u16)| sums.iter().sum::<f64>() - sums[label as usize];
        let wrong_mass = sums.iter().zip(&labels).map(wrong_of).sum::<f64>() as u64;
        let total_mass = histogram.all.iter().sum::<f64>() as u64;
        let none_left = found.place.is_some_and(|place| place.n_left == 0);
        let swapped = none_left && matches!(test, Test::AtMost { threshold, .. } if threshold == f64::INFINITY);
        let predictions = self.predictions(found, &labels, swapped);
        WeightedStump { test, labels, default_label, predictions, wrong_mass, total_mass }
    }

    /// The test of a threshold, and the class weights of its branches.
    fn threshold_test(
        &self,
        features: &Features,
        feature: usize,
        place: ThresholdPosition,
        [left, right]: [Vec<f64>; 2],
    ) -> (Test, Vec<Vec<f64>>) {
        let order = &self.sorted.columns[feature];
        let threshold = threshold_value(order, place.n_left, |row| features.number(row, feature));
        let feature = feature as u32;
        if place.n_left == 0 && threshold == f64::NEG_INFINITY {
            // No threshold lies below minus infinity: use the complement, with the threshold above all values.
            let test = Test::AtMost { feature, threshold: f64::INFINITY, missing_left: !place.missing_left };
            return (test, vec![right, left]);
        }
        (Test::AtMost { feature, threshold, missing_left: place.missing_left }, vec![left, right])
    }

    /// The predicted class of each row.
    fn predictions(&self, found: &StumpCandidate, labels: &[u16], swapped: bool) -> Vec<u16> {
        let (k, column) = (self.n_classes, &self.columns[found.feature]);
        let Some(place) = found.place else {
            return column.cells.iter().map(|&cell| labels[cell as usize / k]).collect();
        };
        let (left, right) = if swapped { (labels[1], labels[0]) } else { (labels[0], labels[1]) };
        // Whole slices by index; then the rows of the slice that contains the threshold, and missing values.
        let slice = column.starts.partition_point(|&start| start as usize <= place.n_left) - 1;
        let cut = (slice * k) as u16;
        let mut predictions: Vec<u16> =
            column.cells.iter().map(|&cell| if cell < cut { left } else { right }).collect();
        let order = &self.sorted.columns[found.feature];
        let moved = &order.present()[column.starts[slice] as usize..place.n_left];
        let missing = if place.missing_left { order.missing() } else { &[] };
        moved.iter().chain(missing).for_each(|&entry| predictions[(entry & !TIE) as usize] = left);
        predictions
    }

    /// The class of each row.
    pub fn classes(&self) -> &[u16] {
        &self.classes
    }

    /// The number of columns.
    pub fn n_columns(&self) -> usize {
        self.columns.len()
    }
}

/// The class with the largest weight, the first of several; `none` if there is no weight.
fn heaviest(sums: &[f64], none: u16) -> u16 {
    let best = (1..sums.len()).fold(0, |best, k| if sums[k] > sums[best] { k } else { best });
    if sums[best] > 0.0 { best as u16 } else { none }
}

#[inline(always)]
fn plus_two(sums: &[f64], start: &[f64]) -> [f64; 2] {
    if let &[a, b] = start { [sums[0] + a, sums[1] + b] } else { [sums[0], sums[1]] }
}

fn plus(sums: &[f64], start: &[f64]) -> Vec<f64> {
    if start.is_empty() { sums.to_vec() } else { sums.iter().zip(start).map(|(a, b)| a + b).collect() }
}

/// Maximum number of cells of a histogram that is kept in four copies, so that consecutive additions to the same cell don't stall.
const SMALL: usize = 512;

fn small_histogram(cells: &[u16], mass: &[u64]) -> Vec<u64> {
    let mut parts = [[0u64; SMALL]; 4];
    let ((cells, last_cells), (weights, last_masses)) = (cells.as_chunks::<4>(), mass.as_chunks::<4>());
    for (cell, mass) in cells.iter().zip(weights) {
        for part in 0..4 {
            parts[part][cell[part] as usize % SMALL] += mass[part];
        }
    }
    for (&cell, &mass) in last_cells.iter().zip(last_masses) {
        parts[0][cell as usize % SMALL] += mass;
    }
    (0..SMALL).map(|cell| parts.iter().map(|part| part[cell]).sum()).collect()
}

fn histogram(cells: &[u16], mass: &[u64], n_cells: usize) -> Vec<u64> {
    let mut sums = vec![0; n_cells];
    cells.iter().zip(mass).for_each(|(&cell, &mass)| sums[cell as usize] += mass);
    sums
}

/// Divides an ordered column at about equal counts, never between equal values.
fn slice_ordered(order: &SortedColumn, classes: &[u16], n_classes: usize) -> SlicedColumn {
    let entries = order.present();
    let n_slices = (MAX_CELLS / n_classes).clamp(8, MAX_SLICES);
    let mut cells: Vec<u16> = vec![0; classes.len()];
    let mut starts = vec![0u32];
    for (i, &entry) in entries.iter().enumerate() {
        if entry & TIE == 0 && i * n_slices >= starts.len() * entries.len() {
            starts.push(i as u32);
        }
        cells[(entry & !TIE) as usize] = (starts.len() - 1) as u16;
    }
    starts.push(entries.len() as u32);
    let missing = (starts.len() - 1) as u16;
    order.missing().iter().for_each(|&row| cells[row as usize] = missing);
    cells.iter_mut().zip(classes).for_each(|(cell, &class)| *cell = *cell * n_classes as u16 + class);
    SlicedColumn { cells, starts, ordered: true, has_missing: !order.missing().is_empty() }
}

/// One slice per category; no cells if there are no or too many categories.
fn slice_nominal(
    column: &Column,
    rows: Option<&[u32]>,
    classes: &[u16],
    n_classes: usize,
    max_categories: usize,
) -> SlicedColumn {
    let n_levels = column.levels().map_or(0, |levels| levels.len());
    let passed_over = n_levels == 0 || n_levels > max_categories || (n_levels + 1) * n_classes > u16::MAX as usize;
    let codes = if passed_over { Vec::new() } else { column.codes(rows).unwrap_or_default() };
    let cell = |(&code, &class): (&u32, &u16)| {
        let slice = if code == MISSING { n_levels } else { code as usize };
        (slice * n_classes) as u16 + class
    };
    let has_missing = codes.contains(&MISSING);
    let cells = codes.iter().zip(classes).map(cell).collect();
    SlicedColumn { cells, starts: vec![0; n_levels + 1], ordered: false, has_missing }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::additive::{ClassSums, TwoClassSums};
    use crate::split::best_split;
    use ermine_core::rng;
    use ermine_core::table::Table;
    use proptest::prelude::*;

    /// Columns of every kind; few and many distinct values, with and without missing ones.
    fn features(n: usize, seed: u64) -> Features {
        let mut rng = rng::stream(seed, &[]);
        let mut draw = |k: usize| rng::below(&mut rng, k);
        let mut numbers = |k: usize, missing: usize| -> Vec<f64> {
            (0..n).map(|_| if missing > 0 && draw(missing) == 0 { f64::NAN } else { draw(k) as f64 }).collect()
        };
        let columns = vec![
            Column::numeric("few", numbers(7, 0)),
            Column::numeric("many", numbers(100_000, 0)),
            Column::numeric("some missing", numbers(700, 5)),
            Column::numeric("many missing", numbers(100_000, 2)),
            Column::numeric("all missing", numbers(1, 1)),
        ];
        let names: Vec<Option<String>> = numbers(5, 9).iter().map(|x| (!x.is_nan()).then(|| x.to_string())).collect();
        let columns = columns.into_iter().chain([Column::nominal("name", &names)]).collect();
        Features::new(Arc::new(Table::new(columns).unwrap()))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn slices_and_a_full_scan_find_the_same_split(
            n in 1usize..3000, seed in any::<u64>(), n_classes in 1usize..5, gini in any::<bool>(), rounds in 0usize..4,
        ) {
            let features = features(n, seed);
            let mut rng = rng::stream(seed, &[1]);
            let signal = features.numbers(3);
            let codes: Vec<u32> = signal.iter().map(|x| {
                let class = if *x > 50_000.0 { 1 } else { 0 };
                (if rng::below(&mut rng, 3) == 0 { rng::below(&mut rng, n_classes) } else { class % n_classes }) as u32
            }).collect();
            let impurity = if gini { Impurity::Gini } else { Impurity::Error };
            let search = ReweightedStumpSearch::new(&features, &codes, n_classes, impurity, 64);
            let mut weights = IntegerWeights::new(None, n);
            for _ in 0..rounds {
                let predicted: Vec<u16> = (0..n).map(|_| rng::below(&mut rng, n_classes) as u16).collect();
                let wrong = (0..n).filter(|&row| predicted[row] != search.classes()[row]).map(|row| weights.mass[row]);
                let wrong = wrong.sum::<u64>() as f64 / weights.mass.iter().sum::<u64>() as f64;
                let sum = 1.7 * wrong + 0.6 * (1.0 - wrong);
                weights.reweight(&predicted, search.classes(), 1.7 / sum, 0.6 / sum);
            }
            let weight: Vec<f64> = weights.mass.iter().map(|&m| m as f64).collect();
            let (cost, test) = if n_classes == 2 {
                let criterion = TwoClassSums { codes: &codes, weight: Some(&weight), impurity, left_class: None };
                best_split(&criterion, &features, 64).map(|s| (s.cost, s.test)).unwrap()
            } else {
                let criterion = ClassSums { codes: &codes, weight: Some(&weight), n_classes, impurity };
                best_split(&criterion, &features, 64).map(|s| (s.cost, s.test)).unwrap()
            };
            // Columns shared out between two searches, as between threads.
            let bar = AtomicU64::new(u64::MAX);
            let parts = [0, 1].map(|i| search.search(&weights.mass, &[i, i + 2, i + 4], &bar));
            let [a, b] = parts;
            let found = StumpCandidate::better(a, b).unwrap();
            let stump = search.stump(&features, &found, &weights.mass);
            prop_assert_eq!(found.cost, cost);
            prop_assert_eq!(&stump.test, &test);
            let wrong: u64 = (0..n).filter(|&r| stump.predictions[r] != codes[r] as u16).map(|r| weights.mass[r]).sum();
            prop_assert_eq!(wrong, stump.wrong_mass);
            prop_assert_eq!(weights.mass.iter().sum::<u64>(), stump.total_mass);
            let numbers = features.numbers(test.feature().unwrap());
            for (&x, &predicted) in numbers.iter().zip(&stump.predictions) {
                prop_assert_eq!(test.branch(x).map(|branch| stump.labels[branch]), Some(predicted));
            }
            if !gini {
                prop_assert_eq!(stump.wrong_mass as f64, cost);
            }
        }
    }

    /// Two thresholds with the same error and the same Gini impurity, with missing values on different sides.
    #[test]
    fn ties_are_broken_as_in_the_exact_search() {
        let values = vec![0.0, 1.0, 2.0, f64::NAN, f64::NAN];
        let features = Features::new(Arc::new(Table::new(vec![Column::numeric("x", values)]).unwrap()));
        let codes = [0, 1, 0, 0, 1];
        let weights = IntegerWeights::new(None, 5);
        let weight: Vec<f64> = weights.mass.iter().map(|&m| m as f64).collect();
        let criterion =
            TwoClassSums { codes: &codes, weight: Some(&weight), impurity: Impurity::Error, left_class: None };
        let exact = best_split(&criterion, &features, 64).unwrap();
        let search = ReweightedStumpSearch::new(&features, &codes, 2, Impurity::Error, 64);
        let found = search.search(&weights.mass, &[0], &AtomicU64::new(u64::MAX)).unwrap();
        assert_eq!(search.stump(&features, &found, &weights.mass).test, exact.test);
        assert_eq!(exact.test, Test::AtMost { feature: 0, threshold: 0.5, missing_left: false });
    }

    #[test]
    fn integer_weights_give_the_model_of_repeated_rows() {
        let one = IntegerWeights::new(Some(&[3.0, 1.0, 2.0]), 3);
        let rows = IntegerWeights::new(None, 6);
        assert_eq!(one.mass[0], rows.mass[..3].iter().sum::<u64>());
        assert!((one.shares().iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
