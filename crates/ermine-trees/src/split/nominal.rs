//! Splits of a nominal column with one branch per category, for stumps.
//!
//! **Idea.** One pass sums the rows of each category; missing values are one more category if training has any. The cost of the split is
//! the sum of the costs of its branches.
//!
//! **Cost.** O(n + levels).

use super::additive::AdditiveCriterion;
use super::exact::StumpSplit;
use super::test::Test;
use ermine_core::matrix::Features;
use ermine_core::table::{Column, MISSING};

/// The sums of each category and, last, of missing values if there are any.
pub fn sums_by_level<C: AdditiveCriterion>(
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

/// The cost of the split into these branches, and its tie-break.
pub fn cost<C: AdditiveCriterion>(criterion: &C, sums: &[C::Sum]) -> (f64, f64) {
    let cost = sums.iter().map(|sum| criterion.node_cost(sum)).sum();
    let tie_break = sums.iter().map(|sum| criterion.tie_break(sum, &criterion.zero())).sum();
    (cost, tie_break)
}

/// The split of a nominal column.
pub fn split<C: AdditiveCriterion>(
    criterion: &C,
    features: &Features,
    feature: usize,
    cost: f64,
) -> StumpSplit<C::Sum> {
    let column = &features.columns()[feature];
    let n_levels = column.levels().map_or(0, |levels| levels.len());
    let sums = sums_by_level(criterion, column, features.rows(), n_levels);
    let missing = sums.len() > n_levels;
    StumpSplit {
        test: Test::Each { feature: feature as u32, n_levels: n_levels as u32, missing },
        cost,
        sums,
        swapped: false,
        costs: Vec::new(),
    }
}
