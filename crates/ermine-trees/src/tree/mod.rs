//! The flat tree that every tree learner grows: stumps, ID3, C4.5, CART, forests, boosting.
//!
//! | file | what it holds |
//! |---|---|
//! | this file | the tree itself: nodes in arrays, checks, reading and writing |
//! | [`grow`](mod@grow) | growing a tree by the best split of each node |
//! | [`orders`] | the rows of every node in the order of every column |
//! | [`multiway`] | growing trees with a branch for each category: ID3 and C4.5 |
//! | [`optimal`] | the best of all trees of a depth, with proof |
//! | [`binary`] | the same over yes/no questions |
//! | [`rows`] | trees whose nodes look at whole rows: oblique, comparison, quad |
//! | [`density`] | a density that is constant on boxes |
//! | [`prune`] | pruning: cost-complexity, greedy, reduced error, pessimistic |
//! | [`queue`] | the growth policy: in which order nodes are split |
//! | `search` | the best split of a node over all columns, or over some drawn at random |
//! | [`draw`] | the tree for people: questions, answers, text |
//! | [`picture`] | the tree as SVG, as a page that folds, for Graphviz |
//! | [`rules`] | the tree as rules; the reasons for one row |
//! | [`forest`] | many trees in one set of arrays |
//! | [`lines`] | growing a tree on rows that are copied and moved, as forests do |
//! | [`engine`] | how many trees are asked about many rows, or one, fast |
//! | [`predict`] | walking many rows down many trees, as they are |
//!
//! **Idea.** Nodes are numbered so that the children of a node stand side by side, after it. A node holds the [`Test`] it asks and the
//! number of its first child; a row that fits no branch (a category that no child takes) stops where it is, and every node
//! holds a prediction, so that stopping anywhere is defined.

pub mod binary;
pub mod density;
pub mod draw;
pub mod engine;
pub mod grow;
pub mod multiway;
pub mod optimal;
pub mod orders;
pub mod picture;
pub mod prune;
pub mod queue;
pub mod rows;
pub mod rules;
mod search;

pub use grow::{GrowOptions, Grown, grow};
pub mod forest;
pub mod lines;
pub mod predict;

pub use forest::Forest;

use crate::split::Test;
use ermine_core::error::{Error, Result};
use ermine_core::matrix::Features;
use ermine_core::section::Sections;
use ermine_core::table::Column;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// How many levels a tree has at most where no limit is asked for. Data of which every split takes off a single row would make as many levels as there are rows, and each level looks at all rows
/// that are left; no table that we know of comes near this depth.
pub const DEEPEST: usize = 1024;

/// A word on a tree that was cut off at that depth, which nobody asked for.
pub(crate) fn depth_note(tree: &Tree, asked: Option<usize>) -> Option<String> {
    (asked.is_none() && tree.depth() >= DEEPEST)
        .then(|| format!("the tree ends at {DEEPEST} levels, the default limit; a larger max_depth lets it grow on"))
}

/// Where a row goes whose value is missing, or one that training didn't have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// To the branch that the test says; nowhere if no branch takes it.
    Learned,
    /// Down every branch, in proportion to the training rows there.
    Fractional,
}

/// A tree in arrays, one entry for each node; the root is node 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tree {
    /// What each node asks.
    pub test: Vec<Test>,
    /// The first child of each node; 0 for a leaf.
    pub child: Vec<u32>,
    /// The weight of the training rows in each node.
    pub weight: Vec<f64>,
    /// The prediction of each node: `width` numbers each.
    pub value: Vec<f64>,
    /// How many numbers a prediction has.
    pub width: usize,
}

impl Tree {
    /// A tree of one leaf.
    pub fn leaf(weight: f64, value: &[f64]) -> Tree {
        let (test, child) = (vec![Test::Leaf], vec![0]);
        Tree { test, child, weight: vec![weight], value: value.to_vec(), width: value.len() }
    }

    /// Turns a leaf into a node that asks `test`, with these children (weight and prediction) as new leaves.
    pub fn split(&mut self, node: usize, test: Test, children: &[(f64, Vec<f64>)]) {
        debug_assert_eq!(test.n_children(), children.len());
        self.test[node] = test;
        self.child[node] = self.n_nodes() as u32;
        for (weight, value) in children {
            self.test.push(Test::Leaf);
            self.child.push(0);
            self.weight.push(*weight);
            self.value.extend_from_slice(value);
        }
    }

    /// Makes room for so many more nodes.
    pub(crate) fn reserve(&mut self, n_nodes: usize) {
        self.test.reserve(n_nodes);
        self.child.reserve(n_nodes);
        self.weight.reserve(n_nodes);
        self.value.reserve(n_nodes * self.width);
    }

    /// The same for a test with two answers. The children predict zeros until that is changed.
    pub(crate) fn split_in_two(&mut self, node: usize, test: Test, weights: [f64; 2]) {
        self.child[node] = self.test.len() as u32;
        self.test[node] = test;
        self.test.extend([Test::Leaf, Test::Leaf]);
        self.child.extend([0, 0]);
        self.weight.extend(weights);
        self.value.resize(self.value.len() + 2 * self.width, 0.0);
    }

    /// How many nodes, leaves among them.
    pub fn n_nodes(&self) -> usize {
        self.test.len()
    }

    /// How many leaves.
    pub fn n_leaves(&self) -> usize {
        self.test.iter().filter(|t| **t == Test::Leaf).count()
    }

    /// The length of the longest way from the root to a leaf.
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
        first..first + self.test[node].n_children()
    }

    /// The prediction of a node.
    pub fn value(&self, node: usize) -> &[f64] {
        &self.value[node * self.width..(node + 1) * self.width]
    }

    /// The node where a row ends; `x(feature)` is its value.
    pub fn walk(&self, x: impl Fn(usize) -> f64) -> usize {
        let mut node = 0;
        while let Some(next) = self.step(node, &x) {
            node = next;
        }
        node
    }

    /// The node where each row ends.
    pub fn apply(&self, features: &Features) -> Vec<u32> {
        let columns = features.columns();
        let value = |row: usize, feature: usize| Column::number(&columns[feature], features.table_row(row));
        let walk = |row: usize| self.walk(|feature| value(row, feature)) as u32;
        (0..features.n_rows()).into_par_iter().with_min_len(4096).map(walk).collect()
    }

    /// Where a row goes from a node; `None` if it ends there.
    #[inline]
    fn step(&self, node: usize, x: impl Fn(usize) -> f64) -> Option<usize> {
        let branch = self.test[node].branch(x(self.test[node].feature()?))?;
        Some(self.child[node] as usize + branch)
    }

    /// The prediction for each row, row by row.
    pub fn predict(&self, features: &Features) -> Vec<f64> {
        self.apply(features).into_iter().flat_map(|node| self.value(node as usize)).copied().collect()
    }

    /// Writes the tree.
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

    /// Reads a tree and checks that walking it stays inside it and comes to an end.
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
        let wrong = |what: &str| Err(Error::model_file(format!("a tree {what}")));
        let n = kinds.len();
        if n == 0
            || features.len() != n
            || numbers.len() != n
            || tree.child.len() != n
            || tree.weight.len() != n
            || tree.value.len() != n.saturating_mul(width)
        {
            return wrong("has arrays of different lengths");
        }
        for node in 0..n {
            let children = tree.children(node);
            if !children.is_empty() && (children.start <= node || children.end > n) {
                return wrong("has a node whose children are not after it");
            }
            if tree.test[node].feature().is_some_and(|f| f >= n_features) {
                return wrong("asks about a column that the model doesn't have");
            }
        }
        if tree.value.iter().any(|v| !v.is_finite()) {
            return wrong("predicts a number that is not finite");
        }
        Ok(tree)
    }
}
