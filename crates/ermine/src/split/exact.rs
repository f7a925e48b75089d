//! The exact best threshold: one sweep over a sorted column.
//!
//! **Idea.** Put the threshold below all values, then move it up past one value after the other; each step moves some rows from the right
//! side to the left, and the cost of the split follows from two running sums. Rows without a value are tried on both sides.
//!
//! **Formula.** Thresholds are half-way between neighbouring distinct values, and min - 1 and max + 1, which leave one side empty (of the rows that
//! have a value).
//!
//! **Ties** are broken in a fixed order: lower cost, then the criterion's own tie-break, then the lower column, the lower threshold,
//! missing values to the left. The result doesn't depend on the number of threads.
//!
//! **Cost.** O(n) for each column, given its order. **Reference.** Shalev-Shwartz and Ben-David, Understanding Machine Learning,
//! section 10.1.1 (there for one polarity and without missing values).

use super::criterion::Criterion;
use super::nominal;
use super::test::Test;
use crate::matrix::sorted::TIE;
use crate::matrix::{Features, Sorted, SortedColumn, binned};
use crate::table::{Column, ColumnKind};
use rayon::prelude::*;

/// A split that may be the best: what decides, in the order in which it decides.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate<T> {
    /// The cost of the split.
    pub cost: f64,
    /// What decides between equal costs.
    pub tie_break: f64,
    /// Where it is.
    pub place: T,
}

impl<T> Candidate<T> {
    /// Whether this one comes before the other in the order of ties. The one found first stays if neither does.
    pub fn beats<U>(&self, other: &Candidate<U>) -> bool {
        self.cost < other.cost || (self.cost == other.cost && self.tie_break < other.tie_break)
    }
}

/// The best threshold of a column: how many of its entries are at most the threshold, and where missing values go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threshold {
    /// How many of the rows that have a value are on the left.
    pub n_left: usize,
    /// Whether rows without a value are on the left.
    pub missing_left: bool,
}

/// The best split of all columns, and what is added up in each of its branches.
#[derive(Debug, Clone)]
pub struct Split<S> {
    /// The test that makes it.
    pub test: Test,
    /// Its cost.
    pub cost: f64,
    /// What is added up in each branch, in the order of the tree's children.
    pub sums: Vec<S>,
    /// The first child takes what is above the threshold that was found, and the second what is at most it: see `threshold_split`.
    pub swapped: bool,
}

/// Calls `each(n_left, left)` for every place where the threshold can lie, from below all values to above them.
#[inline]
fn sweep<C: Criterion>(criterion: &C, column: &SortedColumn, start: C::Sum, mut each: impl FnMut(usize, &C::Sum)) {
    let entries = column.present();
    let mut left = start;
    for (n_left, &entry) in entries.iter().enumerate() {
        if entry & TIE == 0 {
            each(n_left, &left);
        }
        criterion.add(&mut left, (entry & !TIE) as usize);
    }
    each(entries.len(), &left);
}

/// What is added up over the rows without a value.
fn missing_sum<C: Criterion>(criterion: &C, column: &SortedColumn) -> C::Sum {
    let mut sum = criterion.zero();
    column.missing().iter().for_each(|&row| criterion.add(&mut sum, row as usize));
    sum
}

/// The best threshold of a sorted column.
pub fn best_threshold<C: Criterion>(criterion: &C, column: &SortedColumn, all: &C::Sum) -> Candidate<Threshold> {
    let mut best = Candidate {
        cost: f64::INFINITY,
        tie_break: f64::INFINITY,
        place: Threshold { n_left: 0, missing_left: false },
    };
    let mut run = |start: C::Sum, missing_left: bool| {
        sweep(criterion, column, start, |n_left, left| {
            let cost = criterion.cost(all, left);
            if cost <= best.cost {
                let place = Threshold { n_left, missing_left };
                let candidate = Candidate { cost, tie_break: criterion.tie_break(all, left), place };
                if candidate.beats(&best) {
                    best = candidate;
                }
            }
        });
    };
    if column.missing().is_empty() {
        run(criterion.zero(), false);
    } else {
        run(missing_sum(criterion, column), true);
        run(criterion.zero(), false);
    }
    best
}

/// The number that a threshold with `n_left` entries below it stands for.
pub fn threshold_value(column: &SortedColumn, n_left: usize, value: impl Fn(usize) -> f64) -> f64 {
    let entries = column.present();
    let at = |i: usize| value((entries[i] & !TIE) as usize);
    match n_left {
        _ if entries.is_empty() => 0.0,
        // Of a huge value, 1 is less than the rounding error.
        0 => (at(0) - 1.0).min(at(0).next_down()),
        n if n == entries.len() => at(n - 1) + 1.0,
        n => binned::between(at(n - 1), at(n)),
    }
}

/// The best split of all columns: a threshold for ordered ones, a branch for each category for nominal ones with at most
/// `max_categories`. `None` where there is no column to split on.
pub fn best_split<C: Criterion>(
    criterion: &C,
    features: &Features,
    sorted: &Sorted,
    max_categories: usize,
) -> Option<Split<C::Sum>> {
    let mut all = criterion.zero();
    (0..features.n_rows()).for_each(|row| criterion.add(&mut all, row));
    let search = |(feature, column): (usize, &Column)| {
        let candidate = if column.kind == ColumnKind::Nominal {
            let n_levels = column.levels().map_or(0, |levels| levels.len());
            if n_levels == 0 || n_levels > max_categories {
                return None;
            }
            let sums = nominal::sums_by_level(criterion, column, features.rows(), n_levels);
            let (cost, tie_break) = nominal::cost(criterion, &sums);
            Candidate { cost, tie_break, place: None }
        } else {
            let best = best_threshold(criterion, &sorted.columns[feature], &all);
            Candidate { cost: best.cost, tie_break: best.tie_break, place: Some(best.place) }
        };
        Some((feature, candidate))
    };
    let candidates: Vec<_> = features.columns().par_iter().enumerate().filter_map(search).collect();
    let (feature, best) =
        candidates.into_iter().reduce(|best, next| if next.1.beats(&best.1) { next } else { best })?;
    Some(match best.place {
        Some(place) => threshold_split(criterion, features, &sorted.columns[feature], feature, &all, best.cost, place),
        None => nominal::split(criterion, features, feature, best.cost),
    })
}

fn threshold_split<C: Criterion>(
    criterion: &C,
    features: &Features,
    column: &SortedColumn,
    feature: usize,
    all: &C::Sum,
    cost: f64,
    place: Threshold,
) -> Split<C::Sum> {
    let mut left = if place.missing_left { missing_sum(criterion, column) } else { criterion.zero() };
    column.present()[..place.n_left].iter().for_each(|&e| criterion.add(&mut left, (e & !TIE) as usize));
    let right = criterion.rest(all, &left);
    let feature_code = feature as u32;
    let threshold = threshold_value(column, place.n_left, |row| features.number(row, feature));
    if place.n_left == 0 && threshold == f64::NEG_INFINITY {
        // No threshold lies below minus infinity. The same two sides, the other way round, need one above all values.
        let test = Test::AtMost { feature: feature_code, threshold: f64::INFINITY, missing_left: !place.missing_left };
        return Split { test, cost, sums: vec![right, left], swapped: true };
    }
    let test = Test::AtMost { feature: feature_code, threshold, missing_left: place.missing_left };
    Split { test, cost, sums: vec![left, right], swapped: false }
}

/// The cost of every threshold of a column, for people to look at: thresholds and costs, at most `limit` of them, evenly taken.
/// Missing values stay where the best split puts them.
pub fn threshold_costs<C: Criterion>(
    criterion: &C,
    features: &Features,
    sorted: &Sorted,
    feature: usize,
    missing_left: bool,
    limit: usize,
) -> Vec<(f64, f64)> {
    let column = &sorted.columns[feature];
    let mut all = criterion.zero();
    (0..features.n_rows()).for_each(|row| criterion.add(&mut all, row));
    let start = if missing_left { missing_sum(criterion, column) } else { criterion.zero() };
    let mut places = Vec::new();
    sweep(criterion, column, start, |n_left, left| places.push((n_left, criterion.cost(&all, left))));
    let step = places.len().div_ceil(limit.max(1)).max(1);
    let point =
        |&(n_left, cost): &(usize, f64)| (threshold_value(column, n_left, |row| features.number(row, feature)), cost);
    places.iter().step_by(step).map(point).collect()
}
