//! Builds a model from the trees of another library.
//!
//! In a model file of another library, nodes refer to their children by index, in any order. A tree is rebuilt from its root, and each node may be reached only once: a file
//! with cycles or with indices out of range is an error.

use crate::registry::REGISTRY;
use ermine_core::error::Result;
use ermine_core::learner::Learner;
use ermine_core::matrix::{FeatureSpec, Schema, Task};
use ermine_core::model::{Certificate, Header, Link, Model, Proof, Status};
use ermine_core::table::ColumnKind;
use ermine_trees::boost::booster::Booster;
use ermine_trees::learner::gradient_boosting::{BoostedTrees, GradientBoosting};
use ermine_trees::split::Test;
use ermine_trees::tree::Tree;

/// A node of an imported tree.
pub(super) enum ImportedNode {
    /// The split and its two children.
    Split(Test, [usize; 2]),
    /// The prediction of the leaf.
    Leaf(f64),
}

/// Maximum number of features of an imported model.
pub(super) const MAX_FEATURES: usize = 1 << 20;

/// Maximum number of outputs of an imported model.
pub(super) const MAX_OUTPUTS: usize = 1 << 16;

/// Builds a tree of `n` nodes from node 0 on; `node` returns a node and its weight.
pub(super) fn build_tree(
    n: usize,
    node: impl Fn(usize) -> Result<(ImportedNode, f64)>,
    invalid: impl Fn(String) -> crate::Error,
) -> Result<Tree> {
    let mut seen = vec![false; n];
    let mut tree = Tree { width: 1, ..Default::default() };
    let mut queue = std::collections::VecDeque::from([0usize]);
    // The two children of a node are adjacent, after all nodes that are already placed or queued.
    while let Some(index) = queue.pop_front() {
        match seen.get_mut(index) {
            Some(seen) if !*seen => *seen = true,
            _ => return Err(invalid(format!("node {index} of a tree is out of range or is reached twice"))),
        }
        let (node, weight) = node(index)?;
        let first_child = tree.test.len() as u32 + queue.len() as u32 + 1;
        let (test, child, value) = match node {
            ImportedNode::Split(test, children) => {
                queue.extend(children);
                (test, first_child, 0.0)
            }
            ImportedNode::Leaf(value) => (Test::Leaf, 0, value),
        };
        tree.test.push(test);
        tree.child.push(child);
        tree.value.push(value);
        // Only the ratios of weights matter: without weights, all branches count equally.
        tree.weight.push(if weight.is_finite() && weight > 0.0 { weight } else { f64::MIN_POSITIVE });
    }
    if tree.value.iter().any(|v| !v.is_finite()) {
        return Err(invalid("the value of a leaf is not finite".into()));
    }
    Ok(tree)
}

/// Whether a name occurs twice.
fn has_duplicates(names: &[String]) -> bool {
    let mut seen = std::collections::HashSet::new();
    !names.iter().all(|name| seen.insert(name))
}

/// The name of a category as in a table: text unchanged, numbers and booleans formatted.
pub(super) fn category_name(value: &serde_json::Value) -> Option<String> {
    match value {
        serde_json::Value::String(text) => Some(text.clone()),
        serde_json::Value::Number(number) => number.as_f64().map(|x| x.to_string()),
        serde_json::Value::Bool(boolean) => Some(boolean.to_string()),
        _ => None,
    }
}

/// A tree ensemble that was trained by another library.
pub(super) struct ImportedEnsemble {
    /// The library that trained it.
    pub library: &'static str,
    /// Names of the features.
    pub names: Vec<String>,
    /// Category names of each feature, by code; empty for numeric features and for categories without names.
    pub levels: Vec<Vec<String>>,
    /// Initial raw scores.
    pub initial_scores: Vec<f64>,
    /// Trees of each output.
    pub trees: Vec<Vec<Tree>>,
    /// Link from raw scores to predictions.
    pub link: Link,
    /// Whether the model is a classifier.
    pub classes: bool,
    /// Total gain of the splits on each feature.
    pub gains: Vec<f64>,
    /// Name of the objective in the file.
    pub objective: String,
    /// Notes for the certificate.
    pub notes: Vec<String>,
}

impl ImportedEnsemble {
    /// Checks the parts and builds the model.
    pub fn model(self) -> Result<Model> {
        let invalid = |what: &str| Err(super::invalid(self.library, what));
        let n_rounds = self.trees.first().map_or(0, Vec::len);
        if self.initial_scores.is_empty()
            || self.trees.len() != self.initial_scores.len()
            || self.trees.iter().any(|trees| trees.len() != n_rounds)
        {
            return invalid("the number of trees differs between outputs");
        }
        if self.initial_scores.iter().any(|s| !s.is_finite()) {
            return invalid("an initial score is not finite");
        }
        let (k, d) = (self.initial_scores.len(), self.names.len());
        if self.levels.len() != d || self.levels.iter().any(|levels| has_duplicates(levels)) {
            return invalid("the category names don't fit the features");
        }
        if self.trees.iter().flatten().flat_map(|tree| &tree.test).any(|test| test.feature().is_some_and(|f| f >= d)) {
            return invalid("a split uses a feature that does not exist");
        }
        let spec = |(name, levels): (&String, Vec<String>)| FeatureSpec {
            name: name.clone(),
            kind: if levels.is_empty() { ColumnKind::Numeric } else { ColumnKind::Nominal },
            levels,
            open: false,
            notation: Default::default(),
            range: None,
        };
        let n_classes = if !self.classes { 0 } else { k.max(2) };
        let schema = Schema {
            features: self.names.iter().zip(self.levels).map(spec).collect(),
            target: vec!["target".into()],
            task: if self.classes { Task::Classification } else { Task::Regression },
            classes: (0..n_classes).map(|class| class.to_string()).collect(),
            n_outputs: if self.classes { 0 } else { k },
            group: None,
            init_score: false,
        };
        let because = format!("the model was trained by {}", self.library);
        let certificate = Certificate {
            objective: self.objective,
            value: None,
            status: Status::Done,
            proofs: vec![Proof::Nothing { because }],
            notes: self.notes,
        };
        let learner = GradientBoosting::default();
        let params = ermine_core::param::Parameters::values(&learner)
            .into_iter()
            .map(|(name, value)| (name.to_string(), value))
            .collect();
        let name = learner.info().name.to_string();
        let header =
            Header { learner: name, params, seed: 0, n_rows: 0, schema, certificate, notes: Default::default() };
        let mut columns: Vec<_> = self.trees.into_iter().map(Vec::into_iter).collect();
        let rounds = (0..n_rounds * k).filter_map(|index| columns[index % k].next()).collect::<Vec<Tree>>();
        let total: f64 = self.gains.iter().sum();
        let share = |gain: &f64| if total > 0.0 && total.is_finite() { gain / total } else { 0.0 };
        let importances = self.gains.iter().map(share).collect();
        let fitted = BoostedTrees::new(Booster::new(self.initial_scores, rounds), self.link, n_classes, importances);
        Ok(Model::new(header, Box::new(fitted), REGISTRY))
    }
}
