//! The tree that all tree learners grow, and everything that is done with it.
//!
//! | file | contents |
//! |---|---|
//! | this file | the tree: nodes in arrays, validation, saving and loading |
//! | [`grow`](mod@grow) | the CART tree builder |
//! | `search` | the best split of a node over all features, over random features, or by random thresholds |
//! | [`orders`] | the rows of every node, sorted by every feature |
//! | [`queue`] | the growth policy: the order in which nodes are split |
//! | [`binned_rows`] | the tree builder of forests, on histogram bins |
//! | [`multiway`] | the tree builder of ID3 and C4.5, with one branch per category |
//! | [`row_tree`] | trees whose tests use whole rows: oblique, comparison, quad trees |
//! | [`optimal`] | the best tree of a given depth, with proof |
//! | [`binary_optimal`] | the same for binary features |
//! | [`density`] | piecewise constant densities |
//! | [`prune`] | pruning: cost-complexity, greedy, reduced error, pessimistic |
//! | [`raise`] | pessimistic pruning with subtree raising: C4.5 |
//! | [`describe`] | a tree as text |
//! | [`render`] | a tree as SVG, as an HTML page, and in Graphviz's DOT language |
//! | [`rules`] | a tree as rules; the decision path of a row |
//! | [`forest`] | many trees in one set of arrays |
//! | [`engine`] | fast prediction with many trees |
//! | [`predict`] | prediction by walking the trees |
//!
//! **Idea.** The children of a node are adjacent and come after it. A node holds its [`Test`] and the index of its first child. A row that matches no branch (an unseen category) stops at the node, and every
//! node has a prediction, so that stopping anywhere is defined.

pub mod binary_optimal;
pub mod density;
pub mod describe;
pub mod engine;
pub mod grow;
pub mod multiway;
pub mod optimal;
pub mod orders;
pub mod prune;
pub mod queue;
pub mod raise;
pub mod render;
pub mod row_tree;
pub mod rules;
mod search;

pub use grow::{GrowOptions, GrownTree, grow};
pub mod binned_rows;
pub mod forest;
pub mod predict;

pub use forest::Forest;

use crate::split::Test;
use ermine_core::error::{Error, Result};
use ermine_core::matrix::Features;
use ermine_core::section::Sections;
use ermine_core::table::Column;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Maximum depth of a tree if `max_depth` is none. Degenerate data, where every split separates a single row, would give a tree as deep as the number of rows at a quadratic cost; real tables don't come
/// near this depth.
pub const DEFAULT_MAX_DEPTH: usize = 1024;

/// A note for a tree that was cut off at the default depth limit.
pub(crate) fn depth_note(tree: &Tree, max_depth: Option<usize>) -> Option<String> {
    (max_depth.is_none() && tree.depth() >= DEFAULT_MAX_DEPTH).then(|| {
        format!("the tree was cut off at the default limit of {DEFAULT_MAX_DEPTH} levels; set max_depth to grow a deeper tree")
    })
}

/// Where a row with a missing value or an unseen category goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingRouting {
    /// To the branch of the test; it stops at the node if there is none.
    Learned,
    /// Down every branch, weighted by the training rows there.
    Fractional,
}

/// The test of a node, as far as the structure of a tree depends on it.
pub trait NodeTest {
    /// The test of a leaf.
    const LEAF: Self;
    /// The number of children of a node with this test; 0 for a leaf.
    fn n_branches(&self) -> usize;
}

impl NodeTest for Test {
    const LEAF: Test = Test::Leaf;

    fn n_branches(&self) -> usize {
        self.n_children()
    }
}

/// A tree as arrays with one entry per node; the root is node 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree<T = Test> {
    /// The test of each node.
    pub test: Vec<T>,
    /// The first child of each node; 0 for a leaf.
    pub child: Vec<u32>,
    /// The weight of the training rows in each node.
    pub weight: Vec<f64>,
    /// The prediction of each node, `width` numbers each.
    pub value: Vec<f64>,
    /// The number of outputs.
    pub width: usize,
}

impl<T> Default for Tree<T> {
    fn default() -> Self {
        Tree { test: Vec::new(), child: Vec::new(), weight: Vec::new(), value: Vec::new(), width: 0 }
    }
}

impl<T: NodeTest> Tree<T> {
    /// Adds a leaf whose prediction has been appended to `value`.
    pub(crate) fn push_leaf(&mut self, weight: f64) {
        self.test.push(T::LEAF);
        self.child.push(0);
        self.weight.push(weight);
    }

    /// Splits a leaf; its children are the nodes that are added next.
    pub(crate) fn set_test(&mut self, node: usize, test: T) {
        self.child[node] = self.n_nodes() as u32;
        self.test[node] = test;
    }

    /// The number of nodes, including leaves.
    pub fn n_nodes(&self) -> usize {
        self.test.len()
    }

    /// The leaves.
    pub fn leaves(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.n_nodes()).filter(|&node| self.test[node].n_branches() == 0)
    }

    /// The number of leaves.
    pub fn n_leaves(&self) -> usize {
        self.leaves().count()
    }

    /// The depth of the deepest leaf.
    pub fn depth(&self) -> usize {
        let mut depth = vec![0usize; self.n_nodes()];
        for node in 0..self.n_nodes() {
            self.children(node).for_each(|child| depth[child] = depth[node] + 1);
        }
        depth.into_iter().max().unwrap_or(0)
    }

    /// The children of a node.
    pub fn children(&self, node: usize) -> std::ops::Range<usize> {
        let first = self.child[node] as usize;
        first..first + self.test[node].n_branches()
    }

    /// The prediction of a node.
    pub fn value(&self, node: usize) -> &[f64] {
        &self.value[node * self.width..(node + 1) * self.width]
    }

    /// Checks the arrays of a tree from a model file: equal lengths, children after their parent, finite predictions.
    pub(crate) fn check(&self) -> Result<()> {
        let wrong = |what: &str| Err(Error::model_file(format!("a tree {what}")));
        let n = self.n_nodes();
        let lengths = [self.child.len(), self.weight.len()];
        if n == 0 || lengths != [n; 2] || self.value.len() != n.saturating_mul(self.width) {
            return wrong("has arrays of different lengths");
        }
        for node in 0..n {
            let (first, n_branches) = (self.child[node] as usize, self.test[node].n_branches());
            if n_branches > 0 && (first <= node || first.saturating_add(n_branches) > n) {
                return wrong("has a node whose children don't come after it");
            }
        }
        if self.value.iter().any(|v| !v.is_finite()) {
            return wrong("has a prediction that is not finite");
        }
        Ok(())
    }
}

impl Tree {
    /// A tree of one leaf.
    pub fn leaf(weight: f64, value: &[f64]) -> Tree {
        let (test, child) = (vec![Test::Leaf], vec![0]);
        Tree { test, child, weight: vec![weight], value: value.to_vec(), width: value.len() }
    }

    /// Splits a leaf by `test`; the children (weight and prediction) become new leaves.
    pub fn split(&mut self, node: usize, test: Test, children: &[(f64, Vec<f64>)]) {
        debug_assert_eq!(test.n_children(), children.len());
        self.set_test(node, test);
        for (weight, value) in children {
            self.value.extend_from_slice(value);
            self.push_leaf(*weight);
        }
    }

    /// Reserves space for more nodes.
    pub(crate) fn reserve(&mut self, n_nodes: usize) {
        self.test.reserve(n_nodes);
        self.child.reserve(n_nodes);
        self.weight.reserve(n_nodes);
        self.value.reserve(n_nodes * self.width);
    }

    /// Splits a leaf in two. The predictions of the children are zero until they are set.
    pub(crate) fn split_in_two(&mut self, node: usize, test: Test, weights: [f64; 2]) {
        self.set_test(node, test);
        weights.into_iter().for_each(|weight| self.push_leaf(weight));
        self.value.resize(self.value.len() + 2 * self.width, 0.0);
    }

    /// The node that a row reaches; `x(feature)` is its value.
    pub fn walk(&self, x: impl Fn(usize) -> f64) -> usize {
        let mut node = 0;
        while let Some(next) = self.step(node, &x) {
            node = next;
        }
        node
    }

    /// The node that each row reaches.
    pub fn apply(&self, features: &Features) -> Vec<u32> {
        let columns = features.columns();
        let value = |row: usize, feature: usize| Column::number(&columns[feature], features.table_row(row));
        let walk = |row: usize| self.walk(|feature| value(row, feature)) as u32;
        (0..features.n_rows()).into_par_iter().with_min_len(4096).map(walk).collect()
    }

    /// The next node of a row; `None` if it stops.
    #[inline]
    fn step(&self, node: usize, x: impl Fn(usize) -> f64) -> Option<usize> {
        let branch = self.test[node].branch(x(self.test[node].feature()?))?;
        Some(self.child[node] as usize + branch)
    }

    /// The predictions of all rows, in row-major order.
    pub fn predict(&self, features: &Features) -> Vec<f64> {
        self.apply(features).into_iter().flat_map(|node| self.value(node as usize)).copied().collect()
    }

    /// Saves the tree.
    pub fn save(&self, sections: &mut Sections) -> Result<()> {
        let (mut kinds, mut features, mut numbers, mut words) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (kind, feature, number, set) in self.test.iter().map(Test::parts) {
            kinds.push(kind);
            features.push(feature);
            numbers.push(number);
            words.extend(set.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]));
        }
        sections.put_u8s("test", &kinds);
        sections.put_u32s("feature", &features);
        sections.put_f64s("number", &numbers);
        sections.put_u32s("set", &words);
        sections.put_u32s("child", &self.child);
        sections.put_f64s("weight", &self.weight);
        sections.put_f64s("value", &self.value);
        Ok(())
    }

    /// Loads a tree and checks that every walk stays inside it and ends.
    pub fn load(sections: &Sections, n_features: usize, width: usize) -> Result<Tree> {
        let (kinds, features, numbers) = (sections.u8s("test")?, sections.u32s("feature")?, sections.f64s("number")?);
        let halves = sections.u32s("set")?;
        let mut words = halves.chunks_exact(2).map(|half| u64::from(half[0]) | u64::from(half[1]) << 32);
        let parts = kinds.iter().zip(&features).zip(&numbers);
        let mut test =
            |((&kind, &feature), &number): ((&u8, &u32), &f64)| Test::from_parts(kind, feature, number, &mut words);
        let tree = Tree {
            test: parts.map(&mut test).collect::<Result<_>>()?,
            child: sections.u32s("child")?,
            weight: sections.f64s("weight")?,
            value: sections.f64s("value")?,
            width,
        };
        let n = kinds.len();
        if features.len() != n || numbers.len() != n {
            return Err(Error::model_file("a tree has arrays of different lengths"));
        }
        tree.check()?;
        if tree.test.iter().any(|test| test.feature().is_some_and(|f| f >= n_features)) {
            return Err(Error::model_file("a tree has a split on a column that the model doesn't have"));
        }
        Ok(tree)
    }
}
