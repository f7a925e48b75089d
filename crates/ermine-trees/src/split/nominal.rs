//! The split of a nominal column with a branch for each category, as in ID3 and in the categorical stump.
//!
//! **Idea.** One pass adds up the rows of each category; missing values are one more category if training has any. The cost of the split is
//! the sum of the costs of its branches. There is nothing to search: the split is what it is.
//!
//! **Cost.** O(n + levels).

use super::criterion::Criterion;
use super::exact::Split;
use super::test::Test;
use ermine_core::matrix::Features;
use ermine_core::table::{Column, MISSING};

/// What is added up in each category, and last over the rows without one, if there are any.
pub fn sums_by_level<C: Criterion>(
    criterion: &C,
    column: &Column,
    rows: Option<&[u32]>,
    n_levels: usize,
) -> Vec<C::Sum> {
    let codes = column.codes(rows).unwrap_or_default();
    let mut sums = vec![criterion.zero(); n_levels + usize::from(codes.contains(&MISSING))];
    for (row, &code) in codes.iter().enumerate() {
        criterion.add(&mut sums[if code == MISSING { n_levels } else { code as usize }], row);
    }
    sums
}

/// The cost of the split into these branches, and what decides between equal costs.
pub fn cost<C: Criterion>(criterion: &C, sums: &[C::Sum]) -> (f64, f64) {
    let cost = sums.iter().map(|sum| criterion.node_cost(sum)).sum();
    let tie_break = sums.iter().map(|sum| criterion.tie_break(sum, &criterion.zero())).sum();
    (cost, tie_break)
}

/// The split of a nominal column.
pub fn split<C: Criterion>(criterion: &C, features: &Features, feature: usize, cost: f64) -> Split<C::Sum> {
    let column = &features.columns()[feature];
    let n_levels = column.levels().map_or(0, |levels| levels.len());
    let sums = sums_by_level(criterion, column, features.rows(), n_levels);
    let missing = sums.len() > n_levels;
    Split {
        test: Test::Each { feature: feature as u32, n_levels: n_levels as u32, missing },
        cost,
        sums,
        swapped: false,
        costs: Vec::new(),
    }
}
