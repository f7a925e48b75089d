//! Bins of equal count, from the sorted order.
//!
//! **Idea.** If columns are sorted anyway, the bin of a value follows from its rank: no search per value, and cuts are computed from all rows instead of a sample. Equal values are
//! always in the same bin. If a column has no more distinct values than bins, each gets its own bin.
//!
//! **Cost.** O(n) per column, given its order.

use super::binned::{Binned, BinnedColumn, Bins, Codes, Cuts, between, category_bins};
use super::features::Features;
use super::sorted::{SortedColumn, TIE};
use crate::parallel;
use crate::table::{Column, ColumnKind, MISSING};

/// Cuts and bins of all columns, with at most `max_bins` bins (at most 255) not counting missing values.
pub fn ranked_bins(features: &Features, max_bins: usize) -> (Bins, Binned) {
    let max_bins = max_bins.clamp(2, u8::MAX as usize);
    let sorted = features.sorted();
    let columns: Vec<(Cuts, BinnedColumn)> = parallel::map(sorted.columns.len(), |j| {
        let column = &features.columns()[j];
        match column.levels() {
            Some(levels) if column.kind == ColumnKind::Nominal => categories(features, column, levels.len(), max_bins),
            _ => numbers(&column.numbers(features.rows()), &sorted.columns[j], max_bins),
        }
    });
    let (cuts, binned) = columns.into_iter().unzip();
    (Bins { columns: cuts }, Binned { columns: binned })
}

/// A column of mostly one bin, that of zero: the rows in other bins, ascending, and their bins.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseBinnedColumn {
    /// The bin of zero.
    pub zero: u8,
    /// How many bins, without that of missing values.
    pub n_bins: usize,
    /// The rows in other bins.
    pub rows: Vec<u32>,
    /// Their bins.
    pub codes: Vec<u8>,
}

/// The same cuts and bins as [`ranked_bins`], from the values other than zero alone.
pub fn ranked_sparse_bins(features: &Features, max_bins: usize) -> (Bins, Vec<SparseBinnedColumn>) {
    let max_bins = max_bins.clamp(2, u8::MAX as usize);
    let stored = features.sparse_columns();
    let columns: Vec<(Cuts, SparseBinnedColumn)> = parallel::map(features.n_columns(), |j| {
        let column = &features.columns()[j];
        let (rows, values) = stored.column(j);
        let cuts = match column.levels() {
            Some(levels) if column.kind == ColumnKind::Nominal => {
                category_bins(column, features.rows(), None, levels.len(), max_bins)
            }
            _ => Cuts::Numbers(cut_runs(&runs(values, features.n_rows() - rows.len()), max_bins)),
        };
        let (zero, n_bins) = (cuts.bin(0.0) as u8, cuts.n_bins());
        let bins = rows.iter().zip(values).map(|(&row, &x)| (row, cuts.bin(x) as u8)).filter(|entry| entry.1 != zero);
        let (rows, codes) = bins.unzip();
        (cuts, SparseBinnedColumn { zero, n_bins, rows, codes })
    });
    let (cuts, binned) = columns.into_iter().unzip();
    (Bins { columns: cuts }, binned)
}

/// The distinct values in ascending order and how often each occurs, given those other than zero and the number of zeros.
fn runs(values: &[f64], n_zeros: usize) -> Vec<(f64, usize)> {
    let mut present: Vec<f64> = values.iter().copied().filter(|x| !x.is_nan()).collect();
    present.sort_unstable_by(f64::total_cmp);
    let mut runs: Vec<(f64, usize)> = present.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect();
    if n_zeros > 0 {
        runs.insert(runs.partition_point(|run| run.0 < 0.0), (0.0, n_zeros));
    }
    runs
}

/// The cuts between ascending values: see [`numbers`].
fn cut_runs(runs: &[(f64, usize)], max_bins: usize) -> Vec<f64> {
    let (n_values, all_fit) = (runs.iter().map(|run| run.1).sum::<usize>(), runs.len() <= max_bins);
    let (mut start, mut before, mut cuts) = (0, 0, Vec::new());
    for pair in runs.windows(2) {
        before += pair[0].1;
        if cuts.len() + 1 < max_bins {
            let share = (n_values - start).div_ceil(max_bins - cuts.len());
            if all_fit || before - start >= share {
                cuts.push(between(pair[0].0, pair[1].0));
                start = before;
            }
        }
    }
    cuts
}

fn categories(features: &Features, column: &Column, n_levels: usize, max_bins: usize) -> (Cuts, BinnedColumn) {
    let cuts = category_bins(column, features.rows(), None, n_levels, max_bins);
    let n_bins = cuts.n_bins();
    let bin = |&code: &u32| if code == MISSING { n_bins as u8 } else { cuts.bin(f64::from(code)) as u8 };
    let codes = column.codes(features.rows()).unwrap_or_default().iter().map(bin).collect();
    (cuts, BinnedColumn { codes: Codes::U8(codes), n_bins })
}

fn numbers(values: &[f64], order: &SortedColumn, max_bins: usize) -> (Cuts, BinnedColumn) {
    let entries = order.present();
    let value = |i: usize| values[(entries[i] & !TIE) as usize];
    let all_fit = order.n_distinct() <= max_bins;
    let (mut codes, mut cuts) = (vec![0u8; values.len()], Vec::new());
    // The start of the current bin; the remaining rows are divided evenly among the remaining bins.
    let mut start = 0;
    for (i, &entry) in entries.iter().enumerate() {
        if i > 0 && entry & TIE == 0 && cuts.len() + 1 < max_bins {
            let share = (entries.len() - start).div_ceil(max_bins - cuts.len());
            if all_fit || i - start >= share {
                cuts.push(between(value(i - 1), value(i)));
                start = i;
            }
        }
        codes[(entry & !TIE) as usize] = cuts.len() as u8;
    }
    let n_bins = cuts.len() + 1;
    order.missing().iter().for_each(|&row| codes[row as usize] = n_bins as u8);
    (Cuts::Numbers(cuts), BinnedColumn { codes: Codes::U8(codes), n_bins })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Table;
    use proptest::prelude::*;
    use std::sync::Arc;

    proptest! {
        #[test]
        fn mostly_zeros_have_the_bins_of_the_same_values_in_full(
            cells in prop::collection::vec(prop_oneof![30 => Just(0.0), 4 => (-9i32..9).prop_map(f64::from), 1 => any::<f64>(), 1 => Just(f64::NAN)], 50),
            rows in prop::option::of(prop::collection::vec(0u32..50, 1..60)), max_bins in 2usize..20,
        ) {
            let held: Vec<u32> = (0..50).filter(|&i| cells[i as usize] != 0.0).collect();
            let values: Vec<f64> = held.iter().map(|&i| cells[i as usize]).collect();
            let names: Vec<Option<String>> = cells.iter().map(|x| (!x.is_nan()).then(|| format!("{}", x % 4.0))).collect();
            let select = |column: Column| {
                let all = Features::new(Arc::new(Table::new(vec![column, Column::nominal("c", &names)]).unwrap()));
                rows.as_ref().map_or(all.clone(), |rows| all.select(rows).unwrap())
            };
            let (bins, binned) = ranked_bins(&select(Column::numeric("x", cells.clone())), max_bins);
            let (sparse_bins, sparse) = ranked_sparse_bins(&select(Column::sparse("x", 50, held.into(), values.into())), max_bins);
            prop_assert_eq!(bins, sparse_bins);
            for (full, sparse) in binned.columns.iter().zip(&sparse) {
                let n = match &full.codes { Codes::U8(codes) => codes.len(), Codes::U16(codes) => codes.len() };
                let mut codes = vec![sparse.zero; n];
                sparse.rows.iter().zip(&sparse.codes).for_each(|(&row, &code)| codes[row as usize] = code);
                prop_assert_eq!(full.n_bins, sparse.n_bins);
                prop_assert_eq!(&full.codes, &Codes::U8(codes));
            }
        }

        #[test]
        fn bins_agree_with_their_cuts(
            values in prop::collection::vec(prop_oneof![(-4i32..4).prop_map(f64::from), any::<f64>(), Just(f64::NAN)], 1..600),
            max_bins in 2usize..256,
        ) {
            let features = Features::new(Arc::new(Table::new(vec![Column::numeric("x", values.clone())]).unwrap()));
            let (bins, binned) = ranked_bins(&features, max_bins);
            prop_assert!(binned.columns[0].n_bins <= max_bins);
            for (row, &x) in values.iter().enumerate() {
                prop_assert_eq!(binned.columns[0].codes.get(row), bins.columns[0].bin(x));
            }
            let distinct: std::collections::BTreeSet<u64> =
                values.iter().filter(|x| !x.is_nan()).map(|x| (x + 0.0).to_bits()).collect();
            if distinct.len() <= max_bins { prop_assert_eq!(binned.columns[0].n_bins, distinct.len().max(1)); }
        }
    }
}
