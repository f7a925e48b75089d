//! The fitted model of learners that produce a single tree.

use crate::ensemble::TreeSum;
use crate::split::Test;
pub use crate::tree::MissingRouting;
use crate::tree::describe::{self, TreeView};
use crate::tree::multiway::{heaviest_leaf, predict_fractional};
use crate::tree::{GrownTree, Tree, prune, render, rules};
use ermine_core::error::{Error, Result};
use ermine_core::matrix::{Features, Schema};
use ermine_core::model::{Attribute, Fitted, Header, Output, TreeEnsemble};
use ermine_core::section::Sections;
use rayon::prelude::*;

/// A fitted tree with the costs and counts of its nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedTree {
    grown: GrownTree,
    output: Output,
    missing: MissingRouting,
    /// The alpha of cost-complexity pruning chosen by cross-validation.
    alpha: Option<f64>,
}

impl FittedTree {
    /// A model of a grown tree.
    pub(crate) fn new(grown: GrownTree, output: Output, missing: MissingRouting) -> Self {
        FittedTree { grown, output, missing, alpha: None }
    }

    /// A member of an ensemble as a model of its own.
    pub(crate) fn part_of(tree: Tree, output: Output) -> Self {
        FittedTree::new(grown(whole_tree(tree), output), output, MissingRouting::Learned)
    }

    /// Records the alpha chosen by cross-validation.
    pub(crate) fn with_alpha(self, alpha: Option<f64>) -> Self {
        FittedTree { alpha, ..self }
    }

    /// The tree.
    pub fn tree(&self) -> &Tree {
        &self.grown.tree
    }

    /// The tree with costs and counts of its nodes.
    pub fn grown(&self) -> &GrownTree {
        &self.grown
    }

    fn view<'a>(&'a self, schema: &'a Schema) -> TreeView<'a> {
        TreeView { missing: self.missing, ..TreeView::new(&self.grown.tree, schema) }
    }

    /// Reads it from a model file.
    pub fn load(sections: &Sections, header: &Header) -> Result<Box<dyn Fitted>> {
        let (output, missing): (Output, MissingRouting) = (sections.json("output")?, sections.json("missing")?);
        let tree = Tree::load(sections, header.schema.features.len(), output.width(&header.schema))?;
        let (cost, count) = (sections.f64s("cost")?, sections.u32s("count")?);
        if cost.len() != tree.n_nodes() || count.len() != tree.n_nodes() {
            return Err(Error::model_file("the costs or counts of a tree don't match its number of nodes"));
        }
        let positive = |node: usize| tree.children(node).any(|child| tree.weight[child] > 0.0);
        let parts = (0..tree.n_nodes()).all(|node| tree.children(node).is_empty() || positive(node));
        if missing == MissingRouting::Fractional && !(parts && tree.weight.iter().all(|w| w.is_finite() && *w >= 0.0)) {
            return Err(Error::model_file("a node has no branch with positive weight"));
        }
        let alpha = if sections.has("ccp_alpha") { sections.f64s("ccp_alpha")?.first().copied() } else { None };
        Ok(Box::new(FittedTree { grown: GrownTree { tree, cost, count, searches: [0; 3] }, output, missing, alpha }))
    }
}

/// Sets the predictions of inner nodes to the weighted mean of their leaves.
fn whole_tree(mut tree: Tree) -> Tree {
    let width = tree.width;
    for node in (0..tree.n_nodes()).rev().filter(|&node| tree.test[node] != Test::Leaf) {
        for k in 0..width {
            let part = |child: usize| tree.weight[child] * tree.value[child * width + k];
            let total: f64 = tree.children(node).map(|child| tree.weight[child]).sum();
            let sum = tree.children(node).map(part).sum::<f64>();
            // Imported trees may not have weights.
            tree.value[node * width + k] = if total > 0.0 { sum / total } else { 0.0 };
        }
    }
    tree
}

/// Reconstructs the costs and counts of a tree's nodes (for regression, only the variation between leaves).
fn grown(tree: Tree, output: Output) -> GrownTree {
    let squares = |node: usize| tree.value(node).iter().map(|v| v * v).sum::<f64>();
    let mut cost = vec![0.0; tree.n_nodes()];
    for node in (0..tree.n_nodes()).rev() {
        let between = |child: usize| tree.weight[child] * (squares(child) - squares(node));
        let impurity = if output == Output::Values { 0.0 } else { tree.weight[node] * (1.0 - squares(node)) };
        let below = |child: usize| cost[child] + between(child);
        cost[node] = if tree.test[node] == Test::Leaf { impurity } else { tree.children(node).map(below).sum() };
    }
    let count = tree.weight.iter().map(|&w| w.round() as u32).collect();
    GrownTree { tree, cost, count, searches: [0; 3] }
}

/// Impurity-based feature importances: the normalized total gain of the splits on each feature; zeros if there is no split.
pub fn importances(grown: &GrownTree, n_features: usize) -> Vec<f64> {
    let mut gains = vec![0.0; n_features];
    for node in 0..grown.tree.n_nodes() {
        if let Some(feature) = grown.tree.test[node].feature() {
            let below: f64 = grown.tree.children(node).map(|child| grown.cost[child]).sum();
            gains[feature] += (grown.cost[node] - below).max(0.0);
        }
    }
    let total: f64 = gains.iter().sum();
    if total > 0.0 { gains.iter().map(|gain| gain / total).collect() } else { gains }
}

impl Fitted for FittedTree {
    fn output(&self) -> Output {
        self.output
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        let tree = &self.grown.tree;
        if self.missing == MissingRouting::Learned {
            return Ok(tree.predict(features));
        }
        let of_row = |row: usize| {
            let mut out = vec![0.0; tree.width];
            predict_fractional(tree, |feature| features.number(row, feature), &mut out);
            out
        };
        let rows = (0..features.n_rows()).into_par_iter().with_min_len(1024);
        Ok(rows.flat_map_iter(of_row).collect())
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        self.grown.tree.save(sections)?;
        sections.put_f64s("cost", &self.grown.cost);
        sections.put_u32s("count", &self.grown.count);
        sections.put_json("missing", &self.missing)?;
        self.alpha.into_iter().for_each(|alpha| sections.put_f64s("ccp_alpha", &[alpha]));
        sections.put_json("output", &self.output)
    }

    fn text(&self, schema: &Schema) -> String {
        describe::text(&self.view(schema))
    }

    fn svg(&self, schema: &Schema) -> Option<String> {
        Some(render::svg(&self.view(schema)))
    }

    fn html(&self, schema: &Schema) -> Option<String> {
        Some(render::html(&self.view(schema)))
    }

    fn dot(&self, schema: &Schema) -> Option<String> {
        Some(render::dot(&self.view(schema)))
    }

    fn rules(&self, schema: &Schema) -> Option<String> {
        Some(rules::text(&self.view(schema), &self.grown.cost))
    }

    fn pruning_path(&self) -> Option<Vec<(f64, f64, usize)>> {
        let path = prune::cost_complexity_path(&self.grown);
        Some(path.iter().map(|step| (step.alpha, step.total, step.n_leaves)).collect())
    }

    fn explain_row(&self, schema: &Schema, features: &Features, row: usize) -> Option<String> {
        Some(rules::reasons(&self.view(schema), |feature| features.number(row, feature)))
    }

    fn tree_ensemble(&self) -> Option<Box<dyn TreeEnsemble>> {
        match self.missing {
            MissingRouting::Learned => Some(Box::new(TreeSum::of_tree(&self.grown.tree))),
            _ => None,
        }
    }

    fn leaves(&self, features: &Features) -> Option<Vec<u32>> {
        let tree = &self.grown.tree;
        let leaf = |row: usize| heaviest_leaf(tree, |feature| features.number(row, feature));
        Some(match self.missing {
            MissingRouting::Learned => tree.apply(features),
            _ => (0..features.n_rows()).map(leaf).collect(),
        })
    }

    fn attributes(&self, schema: &Schema) -> Vec<Attribute> {
        let tree = &self.grown.tree;
        let mut all = vec![Attribute::feature_importances(importances(&self.grown, schema.features.len()))];
        all.extend(Attribute::tree_size(tree.n_leaves(), tree.depth()));
        let doc = "Cost-complexity parameter chosen by cross-validation, if ``pruning`` is ``\"cross_validation\"``.";
        all.extend(self.alpha.map(|alpha| Attribute::number("ccp_alpha", alpha, doc)));
        all
    }
}
