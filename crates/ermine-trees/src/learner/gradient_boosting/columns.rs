//! The binned columns that trees are grown on: the features, then the target statistics of nominal columns with many categories.

use super::{GradientBoosting, INFO, TreeMethod};
use crate::boost::booster::Booster;
use crate::split::histogram::BinStore;
use ermine_core::error::{Error, Result};
use ermine_core::matrix::binned::{Bins, Cuts, MAX_BINS, SAMPLE_ROWS};
use ermine_core::matrix::{Dataset, Features, TargetStatistics};

/// The columns of the training rows.
pub(super) struct TrainingColumns {
    /// The statistics, behind the features.
    pub statistics: TargetStatistics,
    /// The bins of all columns.
    pub bins: Bins,
    n_features: usize,
    /// The statistics of the training rows, as they know them in training.
    known: Features,
}

impl TrainingColumns {
    /// The columns of the data, and the bins of all training rows. `earlier`: the statistics of a model to continue from.
    pub fn new(
        params: &GradientBoosting,
        data: &Dataset,
        earlier: Option<&TargetStatistics>,
        seed: u64,
    ) -> Result<(Self, BinStore)> {
        let features = data.features();
        let mut bins = cuts(params, data)?;
        let least = params.min_cat_to_statistic.filter(|_| params.tree_method == TreeMethod::Hist);
        let found = least.map(|least| TargetStatistics::fit(data, least)).unwrap_or_default();
        let statistics = earlier.unwrap_or(&found).clone();
        // Other data than the model's own: the model's target statistics don't contain these rows' own targets.
        let own = !statistics.is_empty() && statistics == found;
        let known = if own { statistics.ordered(data, seed) } else { statistics.of(features) };
        bins.columns.extend(Bins::fit_weighted(&known, data.weight(), params.max_bins).columns);
        let store = BinStore::new(&[features, &known], &bins);
        Ok((TrainingColumns { statistics, bins, n_features: features.n_columns(), known }, store))
    }

    /// The bins of rows that are not trained on.
    pub fn store_of(&self, features: &Features) -> BinStore {
        BinStore::new(&[features, &self.statistics.of(features)], &self.bins)
    }

    /// The column of the data that a column of the store comes from.
    pub fn origin(&self, column: usize) -> usize {
        if column < self.n_features { column } else { self.statistics.column(column - self.n_features) }
    }

    /// The scores of the training rows under trees that were grown on them.
    pub fn scores(&self, booster: &Booster, features: &Features) -> Vec<f64> {
        if self.statistics.is_empty() {
            return booster.scores(features, booster.n_rounds());
        }
        let k = booster.n_scores();
        let mut scores = booster.start().repeat(features.n_rows());
        for number in 0..booster.n_trees() {
            let tree = booster.tree(number);
            for row in 0..features.n_rows() {
                let value = |feature: usize| match feature.checked_sub(self.n_features) {
                    None => features.number(row, feature),
                    Some(statistic) => self.known.number(row, statistic),
                };
                scores[row * k + number % k] += tree.value(tree.walk(value))[0];
            }
        }
        scores
    }
}

/// The bins of the features.
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
