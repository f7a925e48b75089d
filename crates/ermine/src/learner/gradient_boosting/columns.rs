//! What trees are grown on: the bins of the columns, and of the target statistics of nominal columns with many categories.
//!
//! A statistic stands in the store once for each random order, and rounds take the orders in turn; all of them have the same cuts, so that a tree asks about the same
//! thresholds whichever order it was grown on. A model knows the statistic as one column behind the others.

use super::{GradientBoosting, INFO, TreeMethod};
use crate::boost::booster::Booster;
use crate::error::{Error, Result};
use crate::matrix::binned::{Bins, Cuts, MAX_BINS, SAMPLE_ROWS};
use crate::matrix::{Dataset, Features, TargetStatistics};
use crate::split::histogram::Store;

/// Random orders of the rows, for ordered target statistics.
const ORDERS: usize = 4;

/// The columns of the training rows.
pub(super) struct Columns {
    /// The statistics, behind the features.
    pub statistics: TargetStatistics,
    /// How the columns of the store are cut.
    pub bins: Bins,
    /// The bins of all training rows.
    pub store: Store,
    n_features: usize,
    /// The statistics of the training rows, by order.
    ordered: Vec<Features>,
}

impl Columns {
    /// The columns of the data. `earlier`: the statistics of a model to go on from.
    pub fn new(
        params: &GradientBoosting,
        data: &Dataset,
        earlier: Option<&TargetStatistics>,
        seed: u64,
    ) -> Result<Self> {
        let features = data.features();
        let mut bins = cuts(params, data)?;
        let least = params.min_cat_to_statistic.filter(|_| params.tree_method == TreeMethod::Hist);
        let found = least.map(|least| TargetStatistics::fit(data, least)).unwrap_or_default();
        let statistics = earlier.unwrap_or(&found).clone();
        // Other data than the model's own: what the model knows of the categories says nothing about these rows' own targets.
        let ordered: Vec<Features> = match statistics.is_empty() {
            true => Vec::new(),
            false if statistics == found => (0..ORDERS).map(|o| statistics.ordered(data, seed, o as u64)).collect(),
            false => vec![statistics.of(features)],
        };
        if let Some(first) = ordered.first() {
            let cuts = Bins::fit_weighted(first, data.weight(), params.max_bins).columns;
            ordered.iter().for_each(|_| bins.columns.extend(cuts.iter().cloned()));
        }
        let parts: Vec<&Features> = std::iter::once(features).chain(&ordered).collect();
        let store = Store::new(&parts, &bins);
        Ok(Columns { statistics, bins, store, n_features: features.n_columns(), ordered })
    }

    /// The bins of rows that are not trained on.
    pub fn store_of(&self, features: &Features) -> Store {
        let known = self.statistics.of(features);
        let parts: Vec<&Features> = std::iter::once(features).chain(self.ordered.iter().map(|_| &known)).collect();
        Store::new(&parts, &self.bins)
    }

    /// The columns of the store that trees may ask about, one set for each order.
    pub fn open(&self) -> Vec<Vec<u32>> {
        let n = self.statistics.len();
        let of_order = |order: usize| {
            let first = self.n_features + order * n;
            (0..self.n_features).chain(first..first + n).map(|column| column as u32).collect()
        };
        (0..self.ordered.len().max(1)).map(of_order).collect()
    }

    /// The number of a column of the store among the features that the model knows.
    pub fn feature(&self, column: u32) -> u32 {
        let (column, n) = (column as usize, self.n_features);
        if column < n { column as u32 } else { (n + (column - n) % self.statistics.len()) as u32 }
    }

    /// The column of the data that a column of the store comes from.
    pub fn origin(&self, column: usize) -> usize {
        let feature = self.feature(column as u32) as usize;
        if feature < self.n_features { feature } else { self.statistics.column(feature - self.n_features) }
    }

    /// The scores of the training rows under trees that were grown on them: each tree saw the statistics of its own order.
    pub fn scores(&self, booster: &Booster, features: &Features) -> Result<Vec<f64>> {
        if self.ordered.len() <= 1 {
            return Ok(booster.scores(&self.statistics.extend(features)?, booster.n_rounds()));
        }
        let k = booster.n_scores();
        let mut scores = booster.start().repeat(features.n_rows());
        for number in 0..booster.n_trees() {
            let (tree, known) = (booster.tree(number), &self.ordered[number / k % self.ordered.len()]);
            for row in 0..features.n_rows() {
                let value = |feature: usize| match feature.checked_sub(self.n_features) {
                    None => features.number(row, feature),
                    Some(statistic) => known.number(row, statistic),
                };
                scores[row * k + number % k] += tree.value(tree.walk(value))[0];
            }
        }
        Ok(scores)
    }
}

/// How the columns of the data are cut.
fn cuts(params: &GradientBoosting, data: &Dataset) -> Result<Bins> {
    if params.tree_method == TreeMethod::Hist {
        return Ok(Bins::fit_weighted(data.features(), data.weight(), params.max_bins));
    }
    let bins = Bins::fit(data.features(), MAX_BINS);
    let full = |cuts: &Cuts| cuts.n_bins() >= MAX_BINS;
    if bins.columns.iter().any(full) || data.n_rows() > SAMPLE_ROWS {
        let most = MAX_BINS - 1;
        return Err(Error::Unsupported {
            learner: INFO.name.to_string(),
            need: format!(
                "tree_method = exact with more than {most} distinct values in a column, or {SAMPLE_ROWS} rows"
            ),
        });
    }
    Ok(bins)
}
