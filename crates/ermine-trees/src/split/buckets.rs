//! The best threshold of many columns without sorting: accumulate in buckets, then refine where necessary.
//!
//! **Idea.** One pass over the table distributes the values of each column over about a thousand ordered buckets and sums the rows of each. The costs of thresholds between buckets follow from running sums. For
//! thresholds inside a bucket there is a lower bound ([`AdditiveCriterion::bound`]). Nearly all buckets have a bound above the best cost between buckets and are done; the rows of the others are sorted and
//! swept. The result is exact: the same threshold as with sorting.
//!
//! **Buckets.** Equal widths between two quantiles of a sample or, for heavy-tailed columns, equal widths between each two of several quantiles. A bucket with a single distinct value contains no threshold, so
//! columns with few distinct values need no refinement. If more than a quarter of the rows of a column would have to be sorted, the whole column is.
//!
//! **Memory.** The table is read once, in pieces of `CHUNK` rows and `BLOCK` columns, so that each cache line of a row-major array is read once for all of its columns.
//!
//! **Cost.** O(n) per column, a fraction of a sort; at worst that plus a sort.

use super::additive::AdditiveCriterion;
use super::exact::{SplitCandidate, ThresholdPosition, best_threshold as sweep_sorted};
use ermine_core::matrix::{Features, SortedColumn};
use ermine_core::parallel;

/// Rows read at a time: their part of a block of columns stays in the first-level cache.
const CHUNK: usize = 256;

/// Columns read together: eight doubles fill a cache line.
const BLOCK: usize = 8;

/// Sample size for choosing the buckets of a column.
const SAMPLE: usize = 1024;

/// Maximum number of buckets per column.
const MOST: usize = 1024;

/// Rows per bucket of a smaller table.
const ROWS_EACH: usize = 32;

/// The monotone map from values to buckets; the bucket after the last is for missing values.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one for each column, beside a thousand buckets")]
enum BucketMap {
    /// Equal widths.
    Even { low: f64, scale: f64, n_buckets: usize },
    /// Equal widths between each two neighbors of `SEGMENTS + 1` quantiles, with the same number of buckets each.
    Quantiles { knots: [f64; SEGMENTS + 1], scales: [f64; SEGMENTS], n_each: usize },
}

/// Number of quantile segments; `place` bisects it four times.
const SEGMENTS: usize = 16;

/// The number of buckets per unit for `n` buckets from `low` to `high`; 0 (a single bucket) if that isn't finite.
fn steps(low: f64, high: f64, n: usize) -> f64 {
    let scale = n as f64 / (high - low);
    if scale.is_finite() && low.is_finite() { scale } else { 0.0 }
}

/// The bucket of `x` among `n` buckets; values below the first, and NaN, go to the first.
#[inline]
fn step(x: f64, low: f64, scale: f64, n: usize) -> usize {
    ((x - low) * scale).max(0.0).min((n - 1) as f64) as usize
}

impl BucketMap {
    /// Chooses at most `n_buckets` buckets from a sample, at least one per segment.
    fn new(sample: &mut [f64], n_buckets: usize) -> BucketMap {
        let n_each = (n_buckets / SEGMENTS).max(1);
        let n_buckets = n_each * SEGMENTS;
        if sample.is_empty() {
            return BucketMap::Even { low: 0.0, scale: 0.0, n_buckets };
        }
        sample.sort_unstable_by(f64::total_cmp);
        let last = sample.len() - 1;
        // Ignore the extremes of the sample.
        let tail = sample.len() / 256;
        let knots: [f64; SEGMENTS + 1] =
            std::array::from_fn(|i| sample[(i * last / SEGMENTS).clamp(tail, last - tail)]);
        let even = BucketMap::Even { low: knots[0], scale: steps(knots[0], knots[SEGMENTS], n_buckets), n_buckets };
        let scales = std::array::from_fn(|i| steps(knots[i], knots[i + 1], n_each));
        let quantiles = BucketMap::Quantiles { knots, scales, n_each };
        // Quantiles take longer to look up and must pay for it.
        if 2 * quantiles.crowding(sample) < even.crowding(sample) { quantiles } else { even }
    }

    /// The number of pairs of sample values in the same bucket.
    fn crowding(&self, sample: &[f64]) -> usize {
        let mut counts = vec![0usize; self.n_buckets()];
        sample.iter().for_each(|&x| counts[self.place(x)] += 1);
        counts.iter().map(|c| c * c).sum()
    }

    fn n_buckets(&self) -> usize {
        match self {
            BucketMap::Even { n_buckets, .. } => *n_buckets,
            BucketMap::Quantiles { n_each, .. } => n_each * SEGMENTS,
        }
    }

    /// The bucket of a value.
    #[inline]
    fn place(&self, x: f64) -> usize {
        if x.is_nan() {
            return self.n_buckets();
        }
        match self {
            BucketMap::Even { low, scale, n_buckets } => step(x, *low, *scale, *n_buckets),
            BucketMap::Quantiles { knots, scales, n_each } => {
                // Bisection without branches.
                let mut segment = 0;
                for half in [8, 4, 2, 1] {
                    segment += half * usize::from(x >= knots[segment + half]);
                }
                segment * n_each + step(x, knots[segment], scales[segment], *n_each)
            }
        }
    }

    /// The buckets of many values.
    fn places(&self, values: &[f64], out: &mut [u16]) {
        let each = out.iter_mut().zip(values);
        match *self {
            // The same as `place`, without a branch.
            BucketMap::Even { low, scale, n_buckets } => each.for_each(|(place, &x)| {
                let at = step(x, low, scale, n_buckets) as u16;
                *place = if x.is_nan() { n_buckets as u16 } else { at };
            }),
            BucketMap::Quantiles { .. } => each.for_each(|(place, &x)| *place = self.place(x) as u16),
        }
    }
}

/// The statistics of a bucket.
#[derive(Debug, Clone)]
struct Bucket<S> {
    sum: S,
    n_rows: u32,
    /// Number of changes between consecutive values: more than one means several distinct values.
    changes: u32,
    before: f64,
}

/// A column in buckets; the last one is for missing values.
struct BucketedColumn<S> {
    feature: usize,
    map: BucketMap,
    buckets: Vec<Bucket<S>>,
}

/// The best threshold of these columns; `None` if there are none.
pub fn best_threshold<C: AdditiveCriterion>(
    criterion: &C,
    features: &Features,
    columns: &[usize],
    all: &C::Sum,
) -> Option<(usize, SplitCandidate<ThresholdPosition>)> {
    let (sparse, dense): (Vec<usize>, Vec<usize>) =
        columns.iter().partition(|&&j| !features.columns()[j].part_into(features.rows(), 0, &mut []));
    let blocks: Vec<&[usize]> = dense.chunks(BLOCK).collect();
    let counted = parallel::map(blocks.len(), |i| count(criterion, features, blocks[i]));
    let counted: Vec<BucketedColumn<C::Sum>> = counted.into_iter().flatten().collect();
    let mut found = parallel::map(counted.len(), |i| (counted[i].feature, counted[i].best_between(criterion, all)));
    let sorted = |feature: usize| (feature, by_sorting(criterion, features, feature, all));
    found.extend(parallel::map(sparse.len(), |i| sorted(sparse[i])));
    // Bounds and costs are rounded differently: allow for this difference.
    let slack = 1e-9 * criterion.node_cost(all).abs();
    let least = found.iter().fold(f64::INFINITY, |least, (_, best)| least.min(best.cost)) + slack;
    let inside = parallel::map(counted.len(), |i| counted[i].best_inside(criterion, features, all, least));
    found.extend(counted.iter().zip(inside).filter_map(|(column, best)| Some((column.feature, best?))));
    // Within a column the order of thresholds decides, between columns the lower column.
    found.sort_by(|(i, a), (j, b)| i.cmp(j).then_with(|| b.precedes(a).cmp(&a.precedes(b))));
    found.into_iter().reduce(|best, next| if next.1.beats(&best.1) { next } else { best })
}

fn by_sorting<C: AdditiveCriterion>(
    criterion: &C,
    features: &Features,
    feature: usize,
    all: &C::Sum,
) -> SplitCandidate<ThresholdPosition> {
    sweep_sorted(criterion, &SortedColumn::new(features, feature), all)
}

/// Counts a block of columns in one pass over their rows.
fn count<C: AdditiveCriterion>(criterion: &C, features: &Features, block: &[usize]) -> Vec<BucketedColumn<C::Sum>> {
    let n_rows = features.n_rows();
    let empty = Bucket { sum: criterion.zero(), n_rows: 0, changes: 0, before: f64::NAN };
    let start = |&feature: &usize| {
        let step = n_rows.div_ceil(SAMPLE).max(1);
        let value = |row: usize| features.number(row, feature);
        let mut sample: Vec<f64> = (0..n_rows).step_by(step).map(value).filter(|x| !x.is_nan()).collect();
        let map = BucketMap::new(&mut sample, (n_rows / ROWS_EACH).min(MOST));
        BucketedColumn { feature, buckets: vec![empty.clone(); map.n_buckets() + 1], map }
    };
    let mut counted: Vec<BucketedColumn<C::Sum>> = block.iter().map(start).collect();
    let (mut values, mut places) = ([0.0; CHUNK], [0u16; CHUNK]);
    for from in (0..n_rows).step_by(CHUNK) {
        let n = CHUNK.min(n_rows - from);
        for column in &mut counted {
            features.columns()[column.feature].part_into(features.rows(), from, &mut values[..n]);
            column.map.places(&values[..n], &mut places[..n]);
            for (i, (&x, &place)) in values[..n].iter().zip(&places[..n]).enumerate() {
                let bucket = &mut column.buckets[place as usize];
                criterion.add(&mut bucket.sum, from + i);
                bucket.n_rows += 1;
                bucket.changes += u32::from(bucket.before != x);
                bucket.before = x;
            }
        }
    }
    counted
}

impl<S: Clone> BucketedColumn<S> {
    /// The bucket of missing values.
    fn missing(&self) -> &Bucket<S> {
        &self.buckets[self.buckets.len() - 1]
    }

    /// The sides to try for missing values; only the right if there are none.
    fn missing_sides(&self) -> &'static [bool] {
        if self.missing().n_rows > 0 { &[true, false] } else { &[false] }
    }

    /// Calls `each(bucket, rows before it, their sum)` for every nonempty bucket, and once after the last.
    fn walk<C: AdditiveCriterion<Sum = S>>(
        &self,
        criterion: &C,
        missing_left: bool,
        mut each: impl FnMut(usize, usize, &S),
    ) {
        let mut left = if missing_left { self.missing().sum.clone() } else { criterion.zero() };
        let (mut n_left, n_buckets) = (0, self.buckets.len() - 1);
        for (i, bucket) in self.buckets[..n_buckets].iter().enumerate() {
            if bucket.n_rows > 0 {
                each(i, n_left, &left);
                criterion.merge(&mut left, &bucket.sum);
                n_left += bucket.n_rows as usize;
            }
        }
        each(n_buckets, n_left, &left);
    }

    /// The best of the thresholds between buckets.
    fn best_between<C: AdditiveCriterion<Sum = S>>(&self, criterion: &C, all: &S) -> SplitCandidate<ThresholdPosition> {
        let mut best = SplitCandidate::none();
        for &missing_left in self.missing_sides() {
            self.walk(criterion, missing_left, |_, n_left, left| {
                best.consider(criterion, all, left, ThresholdPosition { n_left, missing_left });
            });
        }
        best
    }

    /// The best threshold inside the buckets whose bound is at most `least`; `None` if there is no such bucket.
    fn best_inside<C: AdditiveCriterion<Sum = S>>(
        &self,
        criterion: &C,
        features: &Features,
        all: &S,
        least: f64,
    ) -> Option<SplitCandidate<ThresholdPosition>> {
        let mut open = vec![false; self.buckets.len()];
        let mut starts = Vec::new();
        for &missing_left in self.missing_sides() {
            self.walk(criterion, missing_left, |i, n_left, left| {
                let bucket = &self.buckets[i];
                let may_win = i + 1 < self.buckets.len()
                    && bucket.changes > 1
                    && criterion.bound(all, left, &bucket.sum) <= least;
                if may_win {
                    open[i] = true;
                    starts.push((i, n_left, left.clone(), missing_left));
                }
            });
        }
        let n_open: usize =
            self.buckets.iter().zip(&open).filter(|(_, open)| **open).map(|(b, _)| b.n_rows as usize).sum();
        if n_open == 0 {
            return None;
        }
        if 4 * n_open > features.n_rows() {
            return Some(by_sorting(criterion, features, self.feature, all));
        }
        let rows = self.sorted_rows(features, &open, n_open);
        let mut best = SplitCandidate::none();
        for (i, n_left, left, missing_left) in starts {
            let inside =
                &rows[rows.partition_point(|row| row.0 < i as u16)..rows.partition_point(|row| row.0 <= i as u16)];
            sweep_inside(criterion, all, inside, (n_left, left, missing_left), &mut best);
        }
        Some(best)
    }

    /// The rows of the open buckets: bucket, value and row, in this order.
    fn sorted_rows(&self, features: &Features, open: &[bool], n_open: usize) -> Vec<(u16, f64, u32)> {
        let (column, n_rows) = (&features.columns()[self.feature], features.n_rows());
        let mut rows = Vec::with_capacity(n_open);
        let (mut values, mut places) = ([0.0; CHUNK], [0u16; CHUNK]);
        for from in (0..n_rows).step_by(CHUNK) {
            let n = CHUNK.min(n_rows - from);
            column.part_into(features.rows(), from, &mut values[..n]);
            self.map.places(&values[..n], &mut places[..n]);
            for (i, (&x, &place)) in values[..n].iter().zip(&places[..n]).enumerate() {
                if open[place as usize] {
                    rows.push((place, x, (from + i) as u32));
                }
            }
        }
        // Zero and minus zero are equal, and no value is missing here.
        let order = |a: &(u16, f64, u32), b: &(u16, f64, u32)| {
            a.0.cmp(&b.0).then(a.1.partial_cmp(&b.1).unwrap_or(std::cmp::Ordering::Equal)).then(a.2.cmp(&b.2))
        };
        rows.sort_unstable_by(order);
        rows
    }
}

/// Sweeps the threshold through the sorted rows of one bucket.
fn sweep_inside<C: AdditiveCriterion>(
    criterion: &C,
    all: &C::Sum,
    rows: &[(u16, f64, u32)],
    (n_before, mut left, missing_left): (usize, C::Sum, bool),
    best: &mut SplitCandidate<ThresholdPosition>,
) {
    for (i, pair) in rows.windows(2).enumerate() {
        criterion.add(&mut left, pair[0].2 as usize);
        if pair[0].1 != pair[1].1 {
            best.consider(criterion, all, &left, ThresholdPosition { n_left: n_before + i + 1, missing_left });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::Impurity;
    use crate::split::additive::{ClassSums, SquaredErrorSums, TwoClassSums};
    use ermine_core::table::{Column, Table};
    use proptest::prelude::*;
    use std::sync::Arc;

    /// The best threshold by sorting every column.
    fn plain<C: AdditiveCriterion>(
        criterion: &C,
        features: &Features,
        all: &C::Sum,
    ) -> (usize, SplitCandidate<ThresholdPosition>) {
        let search = |feature| (feature, by_sorting(criterion, features, feature, all));
        let found = (0..features.n_columns()).map(search);
        found.reduce(|best, next| if next.1.beats(&best.1) { next } else { best }).unwrap()
    }

    fn same<C: AdditiveCriterion>(criterion: &C, features: &Features) {
        let mut all = criterion.zero();
        (0..features.n_rows()).for_each(|row| criterion.add(&mut all, row));
        let columns: Vec<usize> = (0..features.n_columns()).collect();
        let found = best_threshold(criterion, features, &columns, &all).unwrap();
        assert_eq!(found, plain(criterion, features, &all));
    }

    /// A column: smooth, of a few whole numbers, with long tails, or with what is hard about numbers.
    fn column(n: usize) -> impl Strategy<Value = Vec<f64>> {
        let odd = prop_oneof![
            8 => -1.0..1.0f64,
            1 => prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(f64::NEG_INFINITY), Just(-0.0), Just(0.0)],
            1 => any::<f64>(),
        ];
        prop_oneof![
            prop::collection::vec(-1.0..1.0f64, n),
            prop::collection::vec((-2i32..3).prop_map(f64::from), n),
            prop::collection::vec((-30.0..30.0f64).prop_map(|x| x.exp() * x.signum()), n),
            prop::collection::vec(odd, n),
        ]
    }

    proptest! {
        #[test]
        fn buckets_and_sorting_find_the_same_split(
            columns in (40usize..400).prop_flat_map(|n| prop::collection::vec(column(n), 1..10)),
            noise in 0.0..1.0f64, threshold in -1.0..1.0f64,
            seeds in prop::collection::vec(any::<u32>(), 400),
            rows in prop::option::of(prop::collection::vec(0u32..40, 30..40)),
        ) {
            let n = columns[0].len();
            // The last column matters, as far as the noise lets it; whole numbers add up without rounding.
            let truth: Vec<u32> = (0..n).map(|i| {
                let random = f64::from(seeds[i]) / f64::from(u32::MAX) < noise;
                if random { seeds[i] % 2 } else { u32::from(columns[columns.len() - 1][i] > threshold) }
            }).collect();
            let weight: Vec<f64> = seeds.iter().map(|s| f64::from(1 + s % 3)).collect();
            let numbers: Vec<f64> = truth.iter().zip(&seeds).map(|(&t, s)| f64::from(4 * t) + f64::from(s % 5) - 4.0).collect();
            let codes: Vec<u32> = truth.iter().zip(&seeds).map(|(t, s)| t + s % 2).collect();
            let table = columns.into_iter().enumerate().map(|(j, values)| Column::numeric(format!("x{j}"), values));
            let mut features = Features::new(Arc::new(Table::new(table.collect()).unwrap()));
            if let Some(rows) = rows { features = features.select(&rows).unwrap(); }
            for impurity in [Impurity::Error, Impurity::Gini, Impurity::Entropy] {
                for (weight, left_class) in [(None, None), (Some(&weight[..]), None), (None, Some(1))] {
                    same(&TwoClassSums { codes: &truth, weight, impurity, left_class }, &features);
                }
                same(&ClassSums { codes: &codes, weight: Some(&weight), n_classes: 3, impurity }, &features);
            }
            same(&SquaredErrorSums { values: &numbers, weight: Some(&weight) }, &features);
        }

        #[test]
        fn bucket_maps_are_monotone(values in column(300), n_buckets in 2usize..50) {
            let mut sample: Vec<f64> = values.iter().copied().filter(|x| !x.is_nan()).step_by(3).collect();
            let map = BucketMap::new(&mut sample, n_buckets);
            let n_buckets = map.n_buckets();
            let mut present: Vec<f64> = values.iter().copied().filter(|x| !x.is_nan()).collect();
            present.sort_by(f64::total_cmp);
            let places: Vec<usize> = present.iter().map(|&x| map.place(x)).collect();
            prop_assert!(places.is_sorted() && places.iter().all(|&p| p < n_buckets));
            let mut many = vec![0; values.len()];
            map.places(&values, &mut many);
            values.iter().zip(many).for_each(|(&x, place)| assert_eq!(map.place(x), place as usize));
            prop_assert_eq!((map.place(f64::NAN), map.place(-0.0)), (n_buckets, map.place(0.0)));
        }
    }
}
