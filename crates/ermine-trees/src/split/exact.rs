//! Exact threshold search on a sorted column, and the best split of all columns for stumps.
//!
//! **Idea.** Start with the threshold below all values and move it up one value at a time; each step moves rows from the right side to the left, and the cost of the split follows from two running sums. Missing
//! values are tried on both sides.
//!
//! **Formula.** Thresholds are midpoints of neighboring distinct values, and min - 1 and max + 1, which leave one side without values.
//!
//! **Ties** are broken in a fixed order: lower cost, the criterion's tie-break, lower column, lower threshold, missing values on the left. The result doesn't depend on the number of threads.
//!
//! **Cost.** O(n) per sorted column. **Reference.** Shalev-Shwartz and Ben-David, Understanding Machine Learning, section 10.1.1 (for one polarity and without missing values).

use super::additive::AdditiveCriterion;
use super::test::Test;
use super::{buckets, nominal};
use ermine_core::matrix::sorted::TIE;
use ermine_core::matrix::{Features, SortedColumn, binned};
use ermine_core::parallel;
use ermine_core::table::ColumnKind;

/// A candidate split with its sort keys in order of precedence.
#[derive(Debug, Clone, PartialEq)]
pub struct SplitCandidate<T> {
    /// The cost of the split.
    pub cost: f64,
    /// Decides between equal costs; lower is better.
    pub tie_break: f64,
    /// Its position.
    pub place: T,
}

impl<T> SplitCandidate<T> {
    /// Whether this candidate is strictly better; otherwise the one found first stays.
    pub fn beats<U>(&self, other: &SplitCandidate<U>) -> bool {
        self.cost < other.cost || (self.cost == other.cost && self.tie_break < other.tie_break)
    }
}

/// The position of a threshold in a sorted column, and the side of missing values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThresholdPosition {
    /// Number of present values on the left.
    pub n_left: usize,
    /// Whether missing values are on the left.
    pub missing_left: bool,
}

impl SplitCandidate<ThresholdPosition> {
    /// Worse than any threshold.
    pub(super) fn none() -> Self {
        let place = ThresholdPosition { n_left: usize::MAX, missing_left: false };
        SplitCandidate { cost: f64::INFINITY, tie_break: f64::INFINITY, place }
    }

    /// Whether this threshold comes before the other one of the same column: by cost, then by what decides between equal costs, then the
    /// lower threshold, then missing values to the left.
    pub(super) fn precedes(&self, other: &Self) -> bool {
        let later = |place: ThresholdPosition| (place.n_left, !place.missing_left);
        let equal = self.cost == other.cost && self.tie_break == other.tie_break;
        self.beats(other) || (equal && later(self.place) < later(other.place))
    }

    /// Replaces this candidate by the threshold at `place` if that is better.
    #[inline]
    pub(super) fn consider<C: AdditiveCriterion>(
        &mut self,
        criterion: &C,
        all: &C::Sum,
        left: &C::Sum,
        place: ThresholdPosition,
    ) {
        let cost = criterion.cost(all, left);
        if cost <= self.cost {
            let candidate = SplitCandidate { cost, tie_break: criterion.tie_break(all, left), place };
            if candidate.precedes(self) {
                *self = candidate;
            }
        }
    }
}

/// The best split of all columns and the sums of its branches.
#[derive(Debug, Clone)]
pub struct StumpSplit<S> {
    /// Its test.
    pub test: Test,
    /// Its cost.
    pub cost: f64,
    /// The sums of each branch, in the order of the children.
    pub sums: Vec<S>,
    /// Whether the children are swapped: the first one holds the values above the threshold. See `threshold_split`.
    pub swapped: bool,
    /// Thresholds of the column and their costs for plotting; empty for a nominal column.
    pub costs: Vec<(f64, f64)>,
}

/// Calls `each(n_left, left)` for every position of the threshold, from below all values to above them.
#[inline]
fn sweep<C: AdditiveCriterion>(
    criterion: &C,
    column: &SortedColumn,
    start: C::Sum,
    mut each: impl FnMut(usize, &C::Sum),
) {
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

/// The sum over rows with a missing value.
fn missing_sum<C: AdditiveCriterion>(criterion: &C, column: &SortedColumn) -> C::Sum {
    let mut sum = criterion.zero();
    column.missing().iter().for_each(|&row| criterion.add(&mut sum, row as usize));
    sum
}

/// The best threshold of a sorted column.
pub fn best_threshold<C: AdditiveCriterion>(
    criterion: &C,
    column: &SortedColumn,
    all: &C::Sum,
) -> SplitCandidate<ThresholdPosition> {
    let mut best = SplitCandidate::none();
    let mut run = |start: C::Sum, missing_left: bool| {
        sweep(criterion, column, start, |n_left, left| {
            best.consider(criterion, all, left, ThresholdPosition { n_left, missing_left });
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

/// The value of a threshold with `n_left` entries below it.
pub fn threshold_value(column: &SortedColumn, n_left: usize, value: impl Fn(usize) -> f64) -> f64 {
    let entries = column.present();
    let at = |i: usize| value((entries[i] & !TIE) as usize);
    match n_left {
        _ if entries.is_empty() => 0.0,
        // For a huge value, subtracting 1 may be lost to rounding.
        0 => (at(0) - 1.0).min(at(0).next_down()),
        n if n == entries.len() => at(n - 1) + 1.0,
        n => binned::between(at(n - 1), at(n)),
    }
}

/// The best split of all columns: a threshold for ordered ones, a branch for each category for nominal ones with at most
/// `max_categories`. `None` if there is no column to split on.
pub fn best_split<C: AdditiveCriterion>(
    criterion: &C,
    features: &Features,
    max_categories: usize,
) -> Option<StumpSplit<C::Sum>> {
    let mut all = criterion.zero();
    (0..features.n_rows()).for_each(|row| criterion.add(&mut all, row));
    let (nominal, ordered): (Vec<usize>, Vec<usize>) =
        (0..features.n_columns()).partition(|&j| features.columns()[j].kind == ColumnKind::Nominal);
    let each_category = |&feature: &usize| {
        let column = &features.columns()[feature];
        let n_levels = column.levels().map_or(0, |levels| levels.len());
        if n_levels == 0 || n_levels > max_categories {
            return None;
        }
        let sums = nominal::sums_by_level(criterion, column, features.rows(), n_levels);
        let (cost, tie_break) = nominal::cost(criterion, &sums);
        Some((feature, SplitCandidate { cost, tie_break, place: None }))
    };
    let mut found: Vec<(usize, SplitCandidate<Option<ThresholdPosition>>)> =
        parallel::map(nominal.len(), |i| each_category(&nominal[i])).into_iter().flatten().collect();
    let best_ordered = if features.n_rows() < BUCKETS_FROM {
        every_threshold(criterion, features, &ordered, &all)
    } else {
        buckets::best_threshold(criterion, features, &ordered, &all)
    };
    found.extend(best_ordered.map(|(feature, best)| {
        (feature, SplitCandidate { cost: best.cost, tie_break: best.tie_break, place: Some(best.place) })
    }));
    found.sort_by_key(|&(feature, _)| feature);
    let (feature, best) = found.into_iter().reduce(|best, next| if next.1.beats(&best.1) { next } else { best })?;
    Some(match best.place {
        Some(place) => threshold_split(criterion, features, feature, &all, best.cost, place),
        None => nominal::split(criterion, features, feature, best.cost),
    })
}

/// Tables with fewer rows are sorted: see [`buckets`].
const BUCKETS_FROM: usize = 8192;

/// The best threshold of all these columns, by sorting and sweeping each of them.
fn every_threshold<C: AdditiveCriterion>(
    criterion: &C,
    features: &Features,
    columns: &[usize],
    all: &C::Sum,
) -> Option<(usize, SplitCandidate<ThresholdPosition>)> {
    let sorted = features.sorted();
    let search = |feature: usize| (feature, best_threshold(criterion, &sorted.columns[feature], all));
    let found = parallel::map(columns.len(), |i| search(columns[i]));
    found.into_iter().reduce(|best, next| if next.1.beats(&best.1) { next } else { best })
}

fn threshold_split<C: AdditiveCriterion>(
    criterion: &C,
    features: &Features,
    feature: usize,
    all: &C::Sum,
    cost: f64,
    place: ThresholdPosition,
) -> StumpSplit<C::Sum> {
    let column = &SortedColumn::new(features, feature);
    let mut left = if place.missing_left { missing_sum(criterion, column) } else { criterion.zero() };
    column.present()[..place.n_left].iter().for_each(|&e| criterion.add(&mut left, (e & !TIE) as usize));
    let right = criterion.rest(all, &left);
    let costs = threshold_costs(criterion, features, column, feature, all, place);
    let feature_code = feature as u32;
    let threshold = threshold_value(column, place.n_left, |row| features.number(row, feature));
    if place.n_left == 0 && threshold == f64::NEG_INFINITY {
        // No threshold lies below minus infinity: use the complement, with the threshold above all values.
        let test = Test::AtMost { feature: feature_code, threshold: f64::INFINITY, missing_left: !place.missing_left };
        return StumpSplit { test, cost, sums: vec![right, left], swapped: true, costs };
    }
    let test = Test::AtMost { feature: feature_code, threshold, missing_left: place.missing_left };
    StumpSplit { test, cost, sums: vec![left, right], swapped: false, costs }
}

/// Maximum number of thresholds of the best column kept for plotting.
const CURVE_POINTS: usize = 400;

/// At most [`CURVE_POINTS`] evenly spaced thresholds of a column with their costs, and the best one. Missing values stay on the side chosen by the best
/// split.
fn threshold_costs<C: AdditiveCriterion>(
    criterion: &C,
    features: &Features,
    column: &SortedColumn,
    feature: usize,
    all: &C::Sum,
    best: ThresholdPosition,
) -> Vec<(f64, f64)> {
    let start = if best.missing_left { missing_sum(criterion, column) } else { criterion.zero() };
    let step = (column.n_distinct() + 1).div_ceil(CURVE_POINTS).max(1);
    let (mut place, mut costs) = (0, Vec::new());
    sweep(criterion, column, start, |n_left, left| {
        if place % step == 0 || n_left == best.n_left {
            let threshold = threshold_value(column, n_left, |row| features.number(row, feature));
            costs.push((threshold, criterion.cost(all, left)));
        }
        place += 1;
    });
    costs
}
