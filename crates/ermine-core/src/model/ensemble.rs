//! Ensembles: staged predictions, leaves, quantiles, and access to the trees.
//!
//! A learner's [`Fitted`](super::Fitted) part provides what it supports; [`Model`] checks the data first.

use super::{ImportanceKind, Link, Model, Prediction, ShapValues};
use crate::error::{Error, Result};
use crate::matrix::Features;
use crate::table::Table;
use std::any::Any;

/// A model that is trained in stages, each of which changes the prediction.
///
/// The accumulated output of the stages is a list of numbers whose meaning depends on the model, so that iterating over all stages costs no more than one prediction.
pub trait Staged {
    /// Number of stages.
    fn n_stages(&self) -> usize;

    /// Adds the output of a stage to the accumulated output, which is empty before the first stage.
    fn add_stage(&self, features: &Features, stage: usize, accumulated: &mut Vec<f64>) -> Result<()>;

    /// The prediction after the first `n_stages` stages, row by row, from the accumulated output.
    fn after(&self, accumulated: &[f64], n_stages: usize) -> Vec<f64>;
}

/// A sum of trees: prediction = link(sum of the trees / divisor). Implemented by the tree crate; code that needs the trees themselves downcasts.
pub trait TreeEnsemble: Any + Send + Sync {
    /// Number of trees, without constant initial trees.
    fn n_trees(&self) -> usize;

    /// Number of sums per row.
    fn n_outputs(&self) -> usize;

    /// How sums become predictions.
    fn link(&self) -> Link;

    /// The leaf of each row in each tree, row by row. Nodes are numbered within their tree.
    fn leaves(&self, features: &Features) -> Vec<u32>;

    /// For each column, the number of its splits, or of the training rows that they cover.
    fn split_totals(&self, kind: ImportanceKind, n_features: usize) -> Vec<f64>;

    /// The SHAP values of all rows.
    fn shap_values(&self, features: &Features) -> ShapValues;

    /// The SHAP interaction values of all rows.
    fn shap_interactions(&self, features: &Features) -> Result<ShapValues>;

    /// The trees in a layout for single rows.
    fn row_scorer(&self, n_features: usize) -> Box<dyn RowScorer>;
}

/// Scores one row at a time, without allocating.
pub trait RowScorer: std::fmt::Debug + Send + Sync {
    /// Number of scores.
    fn n_outputs(&self) -> usize;

    /// The scores of a row.
    fn score(&self, row: &[f64], scores: &mut [f64]);
}

/// Iterates over staged predictions.
pub struct Stages {
    features: Features,
    accumulated: Vec<f64>,
    done: usize,
}

impl Stages {
    /// The prediction after one more stage; `None` after the last. `model` must be the model that the stages were created for.
    pub fn next(&mut self, model: &Model) -> Option<Result<Prediction>> {
        let staged = model.fitted.staged()?;
        if self.done >= staged.n_stages() {
            return None;
        }
        if let Err(error) = staged.add_stage(&self.features, self.done, &mut self.accumulated) {
            return Some(Err(error));
        }
        self.done += 1;
        let values = staged.after(&self.accumulated, self.done);
        Some(Ok(Prediction::new(model.fitted.output(), values, &model.header.schema)))
    }
}

impl Model {
    /// The stages of the model for features in the form of its schema.
    pub fn stages(&self, features: Features) -> Result<Stages> {
        if self.fitted.staged().is_none() {
            return Err(self.lacks("stages"));
        }
        Ok(Stages { features, accumulated: Vec::new(), done: 0 })
    }

    /// Predictions after each stage (a boosting round, a tree of a forest).
    pub fn staged_predict(&self, table: &Table) -> Result<impl Iterator<Item = Result<Prediction>> + '_> {
        let mut stages = self.stages(self.header.schema.features_of(table)?)?;
        Ok(std::iter::from_fn(move || stages.next(self)))
    }

    /// The leaf of each row in each tree, row by row, and the number of trees. Nodes are numbered within their tree.
    pub fn leaves(&self, features: &Features) -> Result<(Vec<u32>, usize)> {
        if let Some(leaves) = self.fitted.leaves(features) {
            return Ok((leaves, 1));
        }
        let trees = self.tree_ensemble()?;
        Ok((trees.leaves(features), trees.n_trees()))
    }

    /// The model as a sum of trees.
    pub fn tree_ensemble(&self) -> Result<Box<dyn TreeEnsemble>> {
        self.fitted.tree_ensemble().ok_or_else(|| self.lacks("tree ensemble"))
    }

    /// The log density of the features of each row, minus infinity if the density is 0; for density models.
    pub fn log_density(&self, features: &Features) -> Result<Vec<f64>> {
        self.fitted.log_density(features).ok_or_else(|| self.lacks("densities"))
    }

    /// The quantile levels that the model was trained for; empty for other models.
    pub fn quantile_levels(&self) -> &[f64] {
        self.fitted.quantile_levels()
    }

    /// Quantiles of the target for each row, row by row, one per level between 0 and 1. A model with quantile loss only has the levels that it was trained for.
    pub fn quantiles(&self, features: &Features, levels: &[f64]) -> Result<Vec<f64>> {
        if let Some(level) = levels.iter().find(|level| !(0.0..=1.0).contains(*level)) {
            return Err(Error::data(format!("quantile levels must be between 0 and 1 (got {level})")));
        }
        self.fitted.quantiles(features, levels).ok_or_else(|| {
            self.lacks("quantiles: train a forest with quantiles = true, or gradient boosting with loss = quantile")
        })?
    }

    /// Proximities of all pairs of rows, row by row: the share of trees in which both rows end in the same leaf.
    pub fn proximity(&self, features: &Features) -> Result<Vec<f64>> {
        let (leaves, n_trees) = self.leaves(features)?;
        let rows: Vec<&[u32]> = leaves.chunks(n_trees.max(1)).collect();
        let alike = |a: &[u32], b: &[u32]| a.iter().zip(b).filter(|(a, b)| a == b).count() as f64 / n_trees as f64;
        Ok(rows.iter().flat_map(|a| rows.iter().map(|b| alike(a, b))).collect())
    }

    fn lacks(&self, what: &str) -> Error {
        Error::Unsupported {
            learner: self.header.learner.clone(),
            need: format!("this operation: the fitted model has no {what}"),
        }
    }
}
