//! Models that are sums of trees: the form that every tree learner's model can be brought into, for explanation, export and prediction of single rows.

use crate::shap;
use crate::tree::engine::single_row::SingleRowForests;
use crate::tree::{Forest, Tree};
use ermine_core::error::Result;
use ermine_core::matrix::Features;
use ermine_core::model::{Fitted, ImportanceKind, Link, Model, RowScorer, ShapValues, TreeEnsemble};
use std::any::Any;
use std::sync::Arc;

/// A model as a sum of trees: prediction = link(sum of the trees / divisor).
pub struct TreeSum {
    /// The forests, whose outputs are concatenated. All have the same width.
    pub forests: Vec<Arc<Forest>>,
    /// What the sum of the trees is divided by.
    pub divisor: f64,
    /// How the sums become predictions.
    pub link: Link,
    /// Whether the first tree of each forest is a leaf that holds where the sum starts.
    pub starts: bool,
}

impl TreeSum {
    /// A single forest.
    pub fn of(forest: Arc<Forest>, divisor: f64, link: Link) -> TreeSum {
        TreeSum { forests: vec![forest], divisor, link, starts: false }
    }

    /// A single tree.
    pub fn of_tree(tree: &Tree) -> TreeSum {
        TreeSum::of(Arc::new(Forest::of(tree)), 1.0, Link::Identity)
    }

    /// The sum of trees that a fitted model is, where it is one.
    pub fn of_fitted(fitted: &dyn Fitted) -> Option<Box<TreeSum>> {
        let ensemble: Box<dyn Any> = fitted.tree_ensemble()?;
        ensemble.downcast().ok()
    }

    /// The sum of trees that a model is, or an error that it is none.
    pub fn of_model(model: &Model) -> Result<Box<TreeSum>> {
        model.tree_ensemble()?;
        TreeSum::of_fitted(model.own()).ok_or_else(|| ermine_core::Error::Unsupported {
            learner: model.header().learner.clone(),
            need: "trees of this kind".into(),
        })
    }

    /// The trees, round after round, without those that only hold where a sum starts: their forest, and their number in it.
    pub fn trees(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let most = self.forests.iter().map(|forest| forest.n_trees()).max().unwrap_or(0);
        let round = move |tree: usize| (0..self.forests.len()).map(move |forest| (forest, tree));
        (usize::from(self.starts)..most).flat_map(round).filter(|&(forest, tree)| tree < self.forests[forest].n_trees())
    }
}

impl TreeEnsemble for TreeSum {
    fn n_trees(&self) -> usize {
        self.trees().count()
    }

    fn n_outputs(&self) -> usize {
        self.forests.iter().map(|forest| forest.width()).sum()
    }

    fn link(&self) -> Link {
        self.link
    }

    fn leaves(&self, features: &Features) -> Vec<u32> {
        let ends: Vec<Vec<u32>> = self.forests.iter().map(|forest| forest.apply_within(features)).collect();
        let end =
            |row: usize, (forest, tree): (usize, usize)| ends[forest][row * self.forests[forest].n_trees() + tree];
        let of_row = |row: usize| self.trees().map(move |place| (row, place));
        (0..features.n_rows()).flat_map(of_row).map(|(row, place)| end(row, place)).collect()
    }

    fn split_totals(&self, kind: ImportanceKind, n_features: usize) -> Vec<f64> {
        let mut totals = vec![0.0; n_features];
        for (forest, tree) in self.trees() {
            let tree = self.forests[forest].tree(tree);
            for node in 0..tree.n_nodes() {
                if let Some(feature) = tree.test[node].feature() {
                    totals[feature] += if kind == ImportanceKind::Count { 1.0 } else { tree.weight[node] };
                }
            }
        }
        totals
    }

    fn shap_values(&self, features: &Features) -> ShapValues {
        shap::shap_values(self, features)
    }

    fn shap_interactions(&self, features: &Features) -> Result<ShapValues> {
        shap::interaction_values(self, features)
    }

    fn row_scorer(&self, n_features: usize) -> Box<dyn RowScorer> {
        Box::new(TreeScorer { trees: SingleRowForests::new(self.forests.clone(), n_features), divisor: self.divisor })
    }
}

/// Trees laid out for one row.
#[derive(Debug)]
struct TreeScorer {
    trees: SingleRowForests,
    divisor: f64,
}

impl RowScorer for TreeScorer {
    fn n_outputs(&self) -> usize {
        self.trees.n_outputs()
    }

    fn score(&self, row: &[f64], scores: &mut [f64]) {
        self.trees.sum(row, scores);
        scores.iter_mut().for_each(|score| *score /= self.divisor);
    }
}
