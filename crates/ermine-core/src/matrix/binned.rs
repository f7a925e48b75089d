//! Binned values, for histogram-based methods.
//!
//! **Idea.** The values of a column are divided into at most `max_bins` bins of about equal count (or weight), so that a value takes one or two bytes. If a column has no more
//! distinct values than bins, each value gets its own bin and nothing is lost. Each category is a bin.
//!
//! **Formula.** A number x is in bin b = #{cuts c : x > c}: the first bin contains x <= cuts\[0\]. Missing values have their own bin, the last one. A cut lies half-way between two
//! consecutive values that occur.
//!
//! **Cost.** Cuts are computed from at most 200,000 rows, one sampled from each of as many equal ranges of rows; binning is a binary search per value. 1 byte per value up to 255
//! bins, 2 bytes above.

use super::features::Features;
use super::order;
use crate::parallel;
use crate::rng::Purpose;
use crate::table::{Column, MISSING, Values};
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// Maximum number of rows that cuts are computed from.
pub const SAMPLE_ROWS: usize = 200_000;

/// Maximum number of bins of a column: codes have 16 bits, and one code is for missing values.
pub const MAX_BINS: usize = u16::MAX as usize;

/// The bins of each column. Part of a model that was trained on bins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bins {
    /// The bins of each column.
    pub columns: Vec<Cuts>,
}

/// The bins of one column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cuts {
    /// Ascending bounds between the bins of a numeric column.
    Numbers(Vec<f64>),
    /// The bin of each category code. If there are more categories than bins, the rarest share the last one.
    Categories(Vec<u16>),
}

/// Binned values of all columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Binned {
    /// Binned values of each column.
    pub columns: Vec<BinnedColumn>,
}

/// Binned values of one column. The code of a missing value is [`n_bins`](BinnedColumn::n_bins).
#[derive(Debug, Clone, PartialEq)]
pub struct BinnedColumn {
    /// The bin of each row.
    pub codes: Codes,
    /// Number of bins, not counting missing values.
    pub n_bins: usize,
}

/// Bin codes in the smallest sufficient type.
#[derive(Debug, Clone, PartialEq)]
pub enum Codes {
    /// One byte each.
    U8(Vec<u8>),
    /// Two bytes each.
    U16(Vec<u16>),
}

impl Codes {
    /// The bin of a row.
    pub fn get(&self, row: usize) -> usize {
        match self {
            Codes::U8(codes) => codes[row] as usize,
            Codes::U16(codes) => codes[row] as usize,
        }
    }
}

impl Cuts {
    /// Number of bins, not counting missing values.
    pub fn n_bins(&self) -> usize {
        match self {
            Cuts::Numbers(cuts) => cuts.len() + 1,
            Cuts::Categories(bins) => bins.iter().map(|&b| b as usize + 1).max().unwrap_or(0),
        }
    }

    /// The bin of a number or category code; NaN and unknown categories are missing.
    pub fn bin(&self, x: f64) -> usize {
        match self {
            _ if x.is_nan() => self.n_bins(),
            Cuts::Numbers(cuts) => cuts.partition_point(|&cut| x > cut),
            Cuts::Categories(bins) => bins.get(x as usize).map_or(self.n_bins(), |&b| b as usize),
        }
    }
}

impl Bins {
    /// Computes at most `max_bins` bins per column (at most [`MAX_BINS`]).
    pub fn fit(features: &Features, max_bins: usize) -> Bins {
        Bins::fit_weighted(features, None, max_bins)
    }

    /// The same with sample weights: a row of weight 3 counts as three rows.
    pub fn fit_weighted(features: &Features, weight: Option<&[f64]>, max_bins: usize) -> Bins {
        let max_bins = max_bins.clamp(2, MAX_BINS);
        // Equal weights have no effect.
        let weight = weight.filter(|w| w.iter().any(|x| *x != w[0]));
        let sampled = sample_rows(features);
        if features.is_sparse() {
            return fit_sparse(features, (&sampled, weight), max_bins);
        }
        let sample: Vec<u32> = sampled.iter().map(|&row| features.table_row(row as usize) as u32).collect();
        let drawn: Option<Vec<f64>> = weight.map(|w| sampled.iter().map(|&row| w[row as usize]).collect());
        let cuts = |(column, values): (&Column, Vec<f64>)| match (column.levels(), &drawn) {
            (Some(levels), _) if !column.kind.is_ordered() => {
                category_bins(column, features.rows(), weight, levels.len(), max_bins)
            }
            (_, None) => Cuts::Numbers(number_cuts(values, max_bins)),
            (_, Some(drawn)) => Cuts::Numbers(weighted_cuts(&values, drawn, max_bins)),
        };
        let group = |columns: &[Column]| columns.iter().zip(gather(columns, &sample)).map(cuts).collect::<Vec<Cuts>>();
        let groups: Vec<&[Column]> = features.columns().chunks(COLUMNS).collect();
        Bins { columns: parallel::map_items(&groups, |columns| group(columns)).into_iter().flatten().collect() }
    }

    /// Bins all values.
    pub fn code(&self, features: &Features) -> Binned {
        let columns = features.columns();
        let code = |j: usize| {
            let (column, cuts) = (&columns[j], &self.columns[j]);
            let n_bins = cuts.n_bins();
            let bins = column.numbers(features.rows()).into_iter().map(|x| cuts.bin(x));
            let codes = if n_bins <= u8::MAX as usize {
                Codes::U8(bins.map(|b| b as u8).collect())
            } else {
                Codes::U16(bins.map(|b| b as u16).collect())
            };
            BinnedColumn { codes, n_bins }
        };
        Binned { columns: parallel::map(columns.len().min(self.columns.len()), code) }
    }
}

/// Cuts of a table of mostly zeros, from the other values alone: the same cuts as from all values, up to the rounding of weights that are not whole.
fn fit_sparse(features: &Features, (sampled, weight): (&[u32], Option<&[f64]>), max_bins: usize) -> Bins {
    let n_rows = features.n_rows();
    let columns = features.sparse_columns();
    let mut is_sampled = vec![false; n_rows];
    sampled.iter().for_each(|&row| is_sampled[row as usize] = true);
    let weight_of = |row: usize| weight.map_or(1.0, |w| w[row]);
    let total: f64 = sampled.iter().map(|&row| weight_of(row as usize)).sum();
    let cuts = |j: usize| {
        let column = &features.columns()[j];
        if let (Some(levels), false) = (column.levels(), column.kind.is_ordered()) {
            return category_bins(column, features.rows(), weight, levels.len(), max_bins);
        }
        let (rows, values) = columns.column(j);
        let stored = rows.iter().zip(values).filter(|(row, _)| is_sampled[**row as usize]);
        let mut pairs: Vec<(f64, f64)> = stored.map(|(&row, &x)| (x, weight_of(row as usize))).collect();
        if pairs.len() < sampled.len() {
            let stored: f64 = pairs.iter().map(|pair| pair.1).sum();
            pairs.push((0.0, total - stored));
        }
        pairs.retain(|pair| !pair.0.is_nan());
        pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let together = |run: &[(f64, f64)]| (run[0].0, run.iter().map(|pair| pair.1).sum());
        let distinct: Vec<(f64, f64)> = pairs.chunk_by(|a, b| a.0 == b.0).map(together).collect();
        Cuts::Numbers(cuts_between(&distinct, max_bins))
    };
    Bins { columns: parallel::map(features.n_columns(), cuts) }
}

/// Neighboring columns that are read together, since they share cache lines in a row-major table.
const COLUMNS: usize = 8;

/// The values of some columns in some rows; empty for nominal columns.
fn gather(columns: &[Column], rows: &[u32]) -> Vec<Vec<f64>> {
    const STRIP: usize = 256;
    let mut values = vec![Vec::with_capacity(rows.len()); columns.len()];
    if columns.iter().any(|c| matches!(c.values, Values::Sparse { .. })) {
        return columns.iter().map(|c| c.numbers(Some(rows))).collect();
    }
    for strip in rows.chunks(STRIP) {
        for (column, values) in columns.iter().zip(&mut values).filter(|(c, _)| c.kind.is_ordered()) {
            values.extend(strip.iter().map(|&row| column.number(row as usize)));
        }
    }
    values
}

/// Sorts numbers without NaN; by radix if there are many.
fn sort(values: &mut [f64]) {
    const BITS: u32 = 11;
    if values.len() < 1 << BITS {
        return values.sort_unstable_by(f64::total_cmp);
    }
    let mut keys: Vec<u64> = values.iter().map(|&x| order::key(x)).collect();
    let mut sorted = vec![0u64; keys.len()];
    for shift in (0..64).step_by(BITS as usize) {
        let digit = |key: u64| (key >> shift) as usize & ((1 << BITS) - 1);
        let mut starts = vec![0usize; 1 << BITS];
        keys.iter().for_each(|&key| starts[digit(key)] += 1);
        if starts.contains(&keys.len()) {
            continue;
        }
        let mut at = 0;
        starts.iter_mut().for_each(|start| at += std::mem::replace(start, at));
        for &key in &keys {
            sorted[starts[digit(key)]] = key;
            starts[digit(key)] += 1;
        }
        std::mem::swap(&mut keys, &mut sorted);
    }
    values.iter_mut().zip(&keys).for_each(|(x, &key)| *x = order::number(key));
}

/// The rows that cuts are computed from: all, or one from each of [`SAMPLE_ROWS`] ranges of equal length.
fn sample_rows(features: &Features) -> Vec<u32> {
    let n = features.n_rows();
    let m = n.min(SAMPLE_ROWS);
    let mut rng = Purpose::BinSample.stream(0, &[]);
    let draw =
        |i: usize| if m == n { i } else { rng.random_range((i * n / m) as u64..((i + 1) * n / m) as u64) as usize };
    (0..m).map(draw).map(|row| row as u32).collect()
}

/// Cuts between values: after each distinct value if there are few, otherwise at about equal counts. A value frequent enough to fill a bin gets its own bin.
fn number_cuts(mut values: Vec<f64>, max_bins: usize) -> Vec<f64> {
    values.retain(|x| !x.is_nan());
    values.iter_mut().for_each(|x| *x += 0.0);
    sort(&mut values);
    let distinct: Vec<(f64, f64)> = values.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as f64)).collect();
    cuts_between(&distinct, max_bins)
}

/// The same for weighted values.
fn weighted_cuts(values: &[f64], weight: &[f64], max_bins: usize) -> Vec<f64> {
    let mut pairs: Vec<(f64, f64)> =
        values.iter().zip(weight).filter(|(x, _)| !x.is_nan()).map(|(x, w)| (x + 0.0, *w)).collect();
    // By value, then by weight, so that equal values are added in the same order whatever the row order.
    pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let together = |run: &[(f64, f64)]| (run[0].0, run.iter().map(|pair| pair.1).sum());
    let distinct: Vec<(f64, f64)> = pairs.chunk_by(|a, b| a.0 == b.0).map(together).collect();
    cuts_between(&distinct, max_bins)
}

/// The cuts between ascending distinct values with their weights.
fn cuts_between(distinct: &[(f64, f64)], max_bins: usize) -> Vec<f64> {
    let mut cuts = Vec::new();
    let (mut left, mut filled) = (distinct.iter().map(|(_, weight)| weight).sum::<f64>(), 0.0);
    let all_fit = distinct.len() <= max_bins;
    // Integer weights are treated like counts.
    let whole = distinct.iter().all(|(_, weight)| weight.fract() == 0.0);
    let half = |weight: f64| if whole { (weight / 2.0).floor() } else { weight / 2.0 };
    for pair in distinct.windows(2) {
        let ((here, count), (next, next_count)) = (pair[0], pair[1]);
        filled += count;
        let share = left / (max_bins - cuts.len()) as f64;
        let full = filled >= share || next_count >= share || filled + half(next_count) >= share;
        if all_fit || (full && cuts.len() + 1 < max_bins) {
            cuts.push(between(here, next));
            left -= filled;
            filled = 0.0;
        }
    }
    cuts
}

/// A number c with `low <= c < high`, half-way if rounding allows.
pub fn between(low: f64, high: f64) -> f64 {
    let middle = low / 2.0 + high / 2.0;
    if low <= middle && middle < high { middle } else { low }
}

/// The bins of categories: one each, or the rarest share the last bin.
pub(super) fn category_bins(
    column: &Column,
    rows: Option<&[u32]>,
    weight: Option<&[f64]>,
    n_levels: usize,
    max_bins: usize,
) -> Cuts {
    if n_levels <= max_bins {
        return Cuts::Categories((0..n_levels as u16).collect());
    }
    let mut counts = vec![0.0; n_levels];
    for (row, code) in column.codes(rows).unwrap_or_default().into_iter().enumerate().filter(|(_, c)| *c != MISSING) {
        counts[code as usize] += weight.map_or(1.0, |w| w[row]);
    }
    let mut by_count: Vec<usize> = (0..n_levels).collect();
    by_count.sort_by(|&a, &b| counts[b].total_cmp(&counts[a]));
    let mut bins = vec![max_bins as u16 - 1; n_levels];
    by_count.iter().take(max_bins - 1).enumerate().for_each(|(bin, &level)| bins[level] = bin as u16);
    Cuts::Categories(bins)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;
    use crate::table::Table;
    use proptest::prelude::*;
    use std::sync::Arc;

    fn features(column: Column) -> Features {
        Features::new(Arc::new(Table::new(vec![column]).unwrap()))
    }

    proptest! {
        #[test]
        fn bins_are_ordered_and_exact_for_few_values(
            values in prop::collection::vec(prop_oneof![(-4i32..4).prop_map(f64::from), any::<f64>(), Just(f64::NAN)], 1..300),
            max_bins in 2usize..300,
        ) {
            let data = features(Column::numeric("x", values.clone()));
            let bins = Bins::fit(&data, max_bins);
            let binned = bins.code(&data);
            let n_bins = binned.columns[0].n_bins;
            let distinct: std::collections::BTreeSet<u64> =
                values.iter().filter(|x| !x.is_nan()).map(|x| (x + 0.0).to_bits()).collect();
            prop_assert!(n_bins <= max_bins);
            for (i, a) in values.iter().enumerate() {
                let bin = binned.columns[0].codes.get(i);
                prop_assert_eq!(bin == n_bins, a.is_nan());
                for (j, b) in values.iter().enumerate().take(i) {
                    if a < b { prop_assert!(bin <= binned.columns[0].codes.get(j)); }
                    if distinct.len() <= max_bins && a != b && !a.is_nan() && !b.is_nan() {
                        prop_assert_ne!(bin, binned.columns[0].codes.get(j));
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn radix_sort_equals_comparison_sort(seed: u64, single: bool) {
            let mut rng = rng::stream(seed, &[]);
            let mut values: Vec<f64> = (0..5000).map(|_| {
                let x = f64::from_bits(rng.random());
                let x = if x.is_nan() { -0.0 } else { x };
                if single { f64::from(x as f32) } else { x }
            }).collect();
            let mut expected = values.clone();
            expected.sort_unstable_by(f64::total_cmp);
            sort(&mut values);
            prop_assert!(values.iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits()));
        }
    }

    proptest! {
        #[test]
        fn mostly_zeros_are_cut_as_the_same_values_in_full(
            cells in prop::collection::vec(prop_oneof![30 => Just(0.0), 2 => (-3i32..3).prop_map(f64::from), 1 => any::<f64>()], 400),
            weight in prop::option::of(prop::collection::vec(0u8..4, 40)), max_bins in 2usize..20,
            rows in prop::option::of(prop::collection::vec(0u32..40, 1..40)),
        ) {
            let full = cells.chunks(40).enumerate().map(|(j, x)| Column::numeric(format!("{j}"), x.to_vec()));
            let stored = cells.chunks(40).enumerate().map(|(j, x)| {
                let rows: Vec<u32> = (0..40).filter(|&i| x[i as usize] != 0.0).collect();
                let values: Vec<f64> = rows.iter().map(|&i| x[i as usize]).collect();
                Column::sparse(format!("{j}"), 40, rows.into(), values.into())
            });
            let select = |table: Table| {
                let all = Features::new(Arc::new(table));
                rows.as_ref().map_or(all.clone(), |rows| all.select(rows).unwrap())
            };
            let (full, sparse) = (select(Table::new(full.collect()).unwrap()), select(Table::new(stored.collect()).unwrap()));
            let weight: Option<Vec<f64>> = weight.map(|w| (0..full.n_rows()).map(|i| f64::from(w[i]) + 1.0).collect());
            let cuts = |f: &Features| Bins::fit_weighted(f, weight.as_deref(), max_bins);
            prop_assume!(sparse.is_sparse());
            prop_assert_eq!(cuts(&sparse), cuts(&full));
        }
    }

    #[test]
    fn many_values_fill_the_bins_evenly() {
        let values: Vec<f64> = (0..10_000).map(|i| f64::from((i * 7919) % 10_000)).collect();
        let data = features(Column::numeric("x", values));
        let binned = Bins::fit(&data, 100).code(&data);
        let mut counts = vec![0; binned.columns[0].n_bins];
        (0..10_000).for_each(|row| counts[binned.columns[0].codes.get(row)] += 1);
        assert_eq!(counts.len(), 100);
        assert!(counts.iter().all(|&c| (90..=110).contains(&c)), "{counts:?}");
    }

    #[test]
    fn a_frequent_value_leaves_bins_for_the_others() {
        let values: Vec<f64> = (0..10_000).map(|i| if i % 10 == 0 { f64::from(i) } else { 0.0 }).collect();
        let data = features(Column::numeric("x", values));
        assert!(Bins::fit(&data, 64).columns[0].n_bins() >= 60);
    }

    #[test]
    fn rare_categories_share_a_bin_and_unknown_ones_are_missing() {
        let names: Vec<Option<String>> =
            (0..1000usize).map(|i| Some(format!("v{}", if i < 900 { i % 3 } else { i }))).collect();
        let data = features(Column::nominal("x", &names));
        let bins = Bins::fit(&data, 10);
        assert_eq!(bins.columns[0].n_bins(), 10);
        assert_eq!(bins.columns[0].bin(5000.0), 10);
        let binned = bins.code(&data);
        let first: Vec<usize> = (0..3).map(|row| binned.columns[0].codes.get(row)).collect();
        assert_eq!(first, [0, 1, 2], "the three frequent ones have their own bins");
    }
}
