//! What models that are made of many parts can tell beside a prediction: what the first parts say, in which leaves a row ends, quantiles, and the
//! trees themselves.
//!
//! A learner's [`Fitted`](super::Fitted) part offers what it has; [`Model`] checks the data and hands it on.

use super::{ImportanceKind, Link, Model, Prediction, ShapValues};
use crate::error::{Error, Result};
use crate::matrix::Features;
use crate::table::Table;
use std::any::Any;

/// A model that is made in stages, each of which changes the prediction.
///
/// What stages say is gathered in a list of numbers whose meaning is the model's own, so that going through all stages costs no more than one prediction.
pub trait Staged {
    /// How many stages there are.
    fn n_stages(&self) -> usize;

    /// Adds what a stage says about the rows to what those before it have said; the list is empty before the first.
    fn add_stage(&self, features: &Features, stage: usize, said: &mut Vec<f64>) -> Result<()>;

    /// The prediction of the first `n_stages` stages, row by row, from what they have said.
    fn after(&self, said: &[f64], n_stages: usize) -> Vec<f64>;
}

/// A model as a sum of trees: prediction = link(sum of the trees / divisor). The family of trees implements it; whoever needs the trees themselves downcasts.
pub trait TreeEnsemble: Any + Send + Sync {
    /// How many trees, without those that only hold where a sum starts.
    fn n_trees(&self) -> usize;

    /// How many sums a row has.
    fn n_outputs(&self) -> usize;

    /// How the sums become predictions.
    fn link(&self) -> Link;

    /// The node where each row ends in each tree, row by row. Nodes are counted within their tree.
    fn leaves(&self, features: &Features) -> Vec<u32>;

    /// For each column, the splits about it: how many they are, or how many training rows they cover.
    fn split_totals(&self, kind: ImportanceKind, n_features: usize) -> Vec<f64>;

    /// The SHAP values of all rows.
    fn shap_values(&self, features: &Features) -> ShapValues;

    /// The SHAP interaction values of all rows.
    fn shap_interactions(&self, features: &Features) -> Result<ShapValues>;

    /// The trees laid out for scoring one row at a time.
    fn row_scorer(&self, n_features: usize) -> Box<dyn RowScorer>;
}

/// Scores one row at a time, without allocating.
pub trait RowScorer: std::fmt::Debug + Send + Sync {
    /// How many scores there are.
    fn n_outputs(&self) -> usize;

    /// The scores of a row, whose values are given by column.
    fn score(&self, row: &[f64], scores: &mut [f64]);
}

/// The predictions of the first stage, of the first two, and so on.
pub struct Stages {
    features: Features,
    said: Vec<f64>,
    done: usize,
}

impl Stages {
    /// The prediction after one more stage; `None` after the last. It must be the model that the stages were made for.
    pub fn next(&mut self, model: &Model) -> Option<Result<Prediction>> {
        let staged = model.fitted.staged()?;
        if self.done >= staged.n_stages() {
            return None;
        }
        if let Err(error) = staged.add_stage(&self.features, self.done, &mut self.said) {
            return Some(Err(error));
        }
        self.done += 1;
        let values = staged.after(&self.said, self.done);
        Some(Ok(Prediction::new(model.fitted.output(), values, &model.header.schema)))
    }
}

impl Model {
    /// The stages of the model on features that are in the form of its schema.
    pub fn stages(&self, features: Features) -> Result<Stages> {
        if self.fitted.staged().is_none() {
            return Err(self.lacks("stages"));
        }
        Ok(Stages { features, said: Vec::new(), done: 0 })
    }

    /// What the model predicts after its first stage (a round of boosting, a tree of a forest), after the first two, and so on.
    pub fn staged_predict(&self, table: &Table) -> Result<impl Iterator<Item = Result<Prediction>> + '_> {
        let mut stages = self.stages(self.header.schema.features_of(table)?)?;
        Ok(std::iter::from_fn(move || stages.next(self)))
    }

    /// The node where each row ends in each tree, row by row, and how many trees there are. Nodes are counted within their tree.
    pub fn leaves(&self, features: &Features) -> Result<(Vec<u32>, usize)> {
        let trees = self.tree_ensemble()?;
        Ok((trees.leaves(features), trees.n_trees()))
    }

    /// The model as a sum of trees.
    pub fn tree_ensemble(&self) -> Result<Box<dyn TreeEnsemble>> {
        self.fitted.tree_ensemble().ok_or_else(|| self.lacks("trees that ask about columns and add up to it"))
    }

    /// The logarithm of the density of the features at each row, minus infinity where there is none; for models of densities.
    pub fn log_density(&self, features: &Features) -> Result<Vec<f64>> {
        self.fitted.log_density(features).ok_or_else(|| self.lacks("densities of rows"))
    }

    /// The levels of the quantiles that it was trained for, as they were asked for; none where it was trained for something else.
    pub fn quantile_levels(&self) -> &[f64] {
        self.fitted.quantile_levels()
    }

    /// Quantiles of the target for each row, row by row, one for each level (each from 0 to 1). A model of the quantile loss knows those that it was trained for.
    pub fn quantiles(&self, features: &Features, levels: &[f64]) -> Result<Vec<f64>> {
        if let Some(level) = levels.iter().find(|level| !(0.0..=1.0).contains(*level)) {
            return Err(Error::data(format!("the level of a quantile is a number from 0 to 1, not {level}")));
        }
        self.fitted.quantiles(features, levels).ok_or_else(|| self.lacks("quantiles: a forest has them that was trained with quantiles = true, and gradient boosting with loss = quantile"))?
    }

    /// How alike rows are to the model: the share of its trees in which two rows end in the same leaf, for all pairs, row by row.
    pub fn proximity(&self, features: &Features) -> Result<Vec<f64>> {
        let (leaves, n_trees) = self.leaves(features)?;
        let rows: Vec<&[u32]> = leaves.chunks(n_trees.max(1)).collect();
        let alike = |a: &[u32], b: &[u32]| a.iter().zip(b).filter(|(a, b)| a == b).count() as f64 / n_trees as f64;
        Ok(rows.iter().flat_map(|a| rows.iter().map(|b| alike(a, b))).collect())
    }

    fn lacks(&self, what: &str) -> Error {
        Error::Unsupported {
            learner: self.header.learner.clone(),
            need: format!("this: the fitted model has no {what}"),
        }
    }
}
