//! Foreign trees become a model.
//!
//! A foreign tree is nodes that name their children by number, in any order. It is laid out anew from its root on, and every node may be reached once: a file whose nodes lead in
//! circles, out of the list or nowhere is refused.

use crate::registry::REGISTRY;
use ermine_core::error::Result;
use ermine_core::learner::Learner;
use ermine_core::matrix::{FeatureSpec, Schema, Task};
use ermine_core::model::{Certificate, Header, Link, Model, Proof, Status};
use ermine_core::table::ColumnKind;
use ermine_trees::boost::booster::Booster;
use ermine_trees::learner::gradient_boosting::{Boosted, GradientBoosting};
use ermine_trees::split::Test;
use ermine_trees::tree::Tree;

/// A node of a foreign tree.
pub(super) enum Node {
    /// What it asks, and its children.
    Ask(Test, [usize; 2]),
    /// What it predicts.
    Leaf(f64),
}

/// Columns that a foreign model may have, at most.
pub(super) const MOST_FEATURES: usize = 1 << 20;

/// Outputs that a foreign model may have, at most.
pub(super) const MOST_OUTPUTS: usize = 1 << 16;

/// Lays out a tree of `n` nodes from node 0 on; `node` tells a node and its weight.
pub(super) fn lay_out(
    n: usize,
    node: impl Fn(usize) -> Result<(Node, f64)>,
    wrong: impl Fn(String) -> crate::Error,
) -> Result<Tree> {
    let mut seen = vec![false; n];
    let mut tree = Tree { width: 1, ..Default::default() };
    let mut waiting = std::collections::VecDeque::from([0usize]);
    // Children stand side by side behind all nodes that were laid out or wait.
    while let Some(number) = waiting.pop_front() {
        match seen.get_mut(number) {
            Some(seen) if !*seen => *seen = true,
            _ => return Err(wrong(format!("node {number} of a tree is not there, or reached twice"))),
        }
        let (node, weight) = node(number)?;
        let place = tree.test.len() as u32 + waiting.len() as u32 + 1;
        let (test, child, value) = match node {
            Node::Ask(test, children) => {
                waiting.extend(children);
                (test, place, 0.0)
            }
            Node::Leaf(value) => (Test::Leaf, 0, value),
        };
        tree.test.push(test);
        tree.child.push(child);
        tree.value.push(value);
        // Weights only share out: of a node without any, all branches count alike.
        tree.weight.push(if weight.is_finite() && weight > 0.0 { weight } else { f64::MIN_POSITIVE });
    }
    if tree.value.iter().any(|v| !v.is_finite()) {
        return Err(wrong("a leaf predicts a number that is not finite".into()));
    }
    Ok(tree)
}

/// Whether a name is there twice.
fn has_twins(names: &[String]) -> bool {
    let mut seen = std::collections::HashSet::new();
    !names.iter().all(|name| seen.insert(name))
}

/// A category as a table would name it: text as it is, numbers and truth values as they are written.
pub(super) fn level(value: &serde_json::Value) -> Option<String> {
    match value {
        serde_json::Value::String(text) => Some(text.clone()),
        serde_json::Value::Number(number) => number.as_f64().map(|x| x.to_string()),
        serde_json::Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

/// What a foreign model is.
pub(super) struct Foreign {
    /// The program that made it.
    pub program: &'static str,
    /// The names of the columns.
    pub names: Vec<String>,
    /// The categories of each column by code; none for numbers, and for categories that the file doesn't name.
    pub levels: Vec<Vec<String>>,
    /// Where scores start.
    pub start: Vec<f64>,
    /// The trees of each output.
    pub trees: Vec<Vec<Tree>>,
    /// How scores become predictions.
    pub link: Link,
    /// Whether classes are predicted.
    pub classes: bool,
    /// What the splits of each column gain.
    pub gains: Vec<f64>,
    /// What was minimised, as the file says it.
    pub objective: String,
    /// What else is to be said about it.
    pub notes: Vec<String>,
}

impl Foreign {
    /// The model.
    pub fn model(self) -> Result<Model> {
        let wrong = |what: &str| Err(super::wrong(self.program, what));
        let n_rounds = self.trees.first().map_or(0, Vec::len);
        if self.start.is_empty()
            || self.trees.len() != self.start.len()
            || self.trees.iter().any(|trees| trees.len() != n_rounds)
        {
            return wrong("there is not one tree for each class and round");
        }
        if self.start.iter().any(|s| !s.is_finite()) {
            return wrong("scores start at a number that is not finite");
        }
        let (k, d) = (self.start.len(), self.names.len());
        if self.levels.len() != d || self.levels.iter().any(|levels| has_twins(levels)) {
            return wrong("the names of its categories don't fit its columns");
        }
        if self.trees.iter().flatten().flat_map(|tree| &tree.test).any(|test| test.feature().is_some_and(|f| f >= d)) {
            return wrong("a node asks about a column that is not there");
        }
        let spec = |(name, levels): (&String, Vec<String>)| FeatureSpec {
            name: name.clone(),
            kind: if levels.is_empty() { ColumnKind::Numeric } else { ColumnKind::Nominal },
            levels,
            open: false,
        };
        let n_classes = if !self.classes { 0 } else { k.max(2) };
        let schema = Schema {
            features: self.names.iter().zip(self.levels).map(spec).collect(),
            target: vec!["target".into()],
            task: if self.classes { Task::Classification } else { Task::Regression },
            classes: (0..n_classes).map(|class| class.to_string()).collect(),
            n_outputs: if self.classes { 0 } else { k },
            group: None,
        };
        let because = format!("it was trained by {}", self.program);
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
        let rounds = (0..n_rounds * k).filter_map(|number| columns[number % k].next()).collect::<Vec<Tree>>();
        let total: f64 = self.gains.iter().sum();
        let share = |gain: &f64| if total > 0.0 && total.is_finite() { gain / total } else { 0.0 };
        let importances = self.gains.iter().map(share).collect();
        let fitted = Boosted::new(Booster::new(self.start, rounds), self.link, n_classes, importances);
        Ok(Model::new(header, Box::new(fitted), REGISTRY))
    }
}
