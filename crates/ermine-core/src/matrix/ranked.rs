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
