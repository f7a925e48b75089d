//! Trees whose tests use whole rows: oblique splits, comparisons, quad trees.
//!
//! **Idea.** A test maps a row to a number and compares it with a threshold: a linear combination of the columns (oblique), or the difference of the distances to two rows (comparison). Or it determines the side of a
//! point for each column, which gives up to 2^d cells (quad tree); only cells with training rows have a child, and a row in another cell stops at the node.
//!
//! **Growing.** Each node evaluates some proposals (a score for each row, with a given or the best threshold) and takes the one with the largest gain.

use super::{NodeTest, Tree};
use crate::split::exact::ThresholdPosition;
use crate::split::node::{NodeCriterion, NodeSummary, ROW, SortedSegment, SplitLimits, gain_at};
use ermine_core::error::Result;
use ermine_core::matrix::sorted::TIE;
use ermine_core::progress::{Event, Observer, report};
use serde::{Deserialize, Serialize};

/// The test of a node on a whole row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowTest {
    /// A leaf.
    Leaf,
    /// Linear combination at most the threshold: first child, otherwise second.
    Linear {
        /// One weight per column.
        weights: Vec<f64>,
        /// The threshold.
        threshold: f64,
    },
    /// No farther from `a` than from `b`: first child, otherwise second.
    Nearer {
        /// A row.
        a: Vec<f64>,
        /// Another row.
        b: Vec<f64>,
    },
    /// The cell around a point: bit j is set if column j is above the point.
    Corner {
        /// The point.
        point: Vec<f64>,
        /// The cells that have a child, ascending; the i-th has the i-th child.
        cells: Vec<u64>,
    },
}

impl RowTest {
    /// The child of a row; `None` to stop. `distance` is the metric of comparisons.
    pub fn branch(&self, row: &[f64], distance: impl Fn(&[f64], &[f64]) -> f64) -> Option<usize> {
        match self {
            RowTest::Leaf => None,
            RowTest::Linear { weights, threshold } => Some(usize::from(dot(weights, row) > *threshold)),
            RowTest::Nearer { a, b } => Some(usize::from(distance(row, a) > distance(row, b))),
            RowTest::Corner { point, cells } => cells.binary_search(&cell(row, point)).ok(),
        }
    }
}

/// The dot product of weights and row.
pub fn dot(weights: &[f64], row: &[f64]) -> f64 {
    weights.iter().zip(row).map(|(w, x)| w * x).sum()
}

/// The cell of a row around a point.
pub fn cell(row: &[f64], point: &[f64]) -> u64 {
    row.iter().zip(point).enumerate().fold(0, |cell, (j, (x, p))| cell | u64::from(x > p) << j)
}

/// A tree of such tests.
pub type RowTree = Tree<RowTest>;

impl NodeTest for RowTest {
    const LEAF: RowTest = RowTest::Leaf;

    fn n_branches(&self) -> usize {
        match self {
            RowTest::Leaf => 0,
            RowTest::Linear { .. } | RowTest::Nearer { .. } => 2,
            RowTest::Corner { cells, .. } => cells.len(),
        }
    }
}

impl RowTree {
    /// The node that a row reaches.
    pub fn walk(&self, row: &[f64], distance: impl Fn(&[f64], &[f64]) -> f64) -> usize {
        let mut node = 0;
        while let Some(branch) = self.test[node].branch(row, &distance) {
            node = self.child[node] as usize + branch;
        }
        node
    }
}

/// A proposed split of a node.
pub struct SplitProposal {
    /// A score for each row of the node.
    pub score: Vec<f64>,
    /// Rows up to this score go left; `None` for the best threshold.
    pub threshold: Option<f64>,
    /// The test for a threshold.
    pub test: Box<dyn FnOnce(f64) -> RowTest>,
    /// The gain is multiplied by this; below 1 for tests that are harder to interpret.
    pub preference: f64,
}

/// Stopping rules.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowLimits {
    /// Maximum depth.
    pub max_depth: usize,
    /// Minimum number of rows a node needs to be split.
    pub min_samples_split: usize,
    /// Minimum number of rows in each leaf.
    pub min_samples_leaf: usize,
}

/// Grows trees of row tests.
pub struct RowTreeBuilder<C> {
    /// The criterion.
    pub criterion: C,
    /// The tree so far.
    pub tree: RowTree,
    /// The cost of each node.
    pub cost: Vec<f64>,
}

/// A node that may be split.
pub struct OpenNode {
    /// Its index.
    pub node: usize,
    /// Its rows.
    pub rows: Vec<u32>,
    /// Its depth.
    pub depth: usize,
}

impl<C: NodeCriterion> RowTreeBuilder<C> {
    /// A tree of one leaf with rows 0 to n - 1.
    pub fn new(criterion: C, n: usize) -> (Self, NodeSummary, OpenNode) {
        let tree = RowTree { width: criterion.width(), ..RowTree::default() };
        let mut grower = RowTreeBuilder { criterion, tree, cost: Vec::new() };
        let rows: Vec<u32> = (0..n as u32).collect();
        let summary = grower.add(&rows);
        (grower, summary, OpenNode { node: 0, rows, depth: 0 })
    }

    /// Adds a leaf.
    pub fn add(&mut self, rows: &[u32]) -> NodeSummary {
        let (summary, _) = self.criterion.prepare(rows, &mut self.tree.value);
        self.tree.push_leaf(summary.weight);
        self.cost.push(summary.cost);
        summary
    }

    /// Splits a node into these parts; returns those that are not pure.
    pub fn split(&mut self, open: &OpenNode, test: RowTest, parts: Vec<Vec<u32>>) -> Vec<OpenNode> {
        let first = self.tree.n_nodes();
        self.tree.set_test(open.node, test);
        let mut children = Vec::new();
        for (i, rows) in parts.into_iter().enumerate() {
            if !self.add(&rows).pure {
                children.push(OpenNode { node: first + i, rows, depth: open.depth + 1 });
            }
        }
        children
    }

    /// Grows a tree by the best proposal for each node; the observer may stop it between nodes.
    pub fn grow(
        n: usize,
        criterion: C,
        limits: RowLimits,
        observer: &dyn Observer,
        mut propose: impl FnMut(&OpenNode) -> Vec<SplitProposal>,
    ) -> Result<RowTreeBuilder<C>> {
        report(observer, Event::Begin { what: "growing a tree", total: None })?;
        let (mut grower, summary, root) = RowTreeBuilder::new(criterion, n);
        let mut stack = if summary.pure { Vec::new() } else { vec![root] };
        while let Some(open) = stack.pop() {
            if open.depth >= limits.max_depth || open.rows.len() < limits.min_samples_split.max(2) {
                continue;
            }
            report(observer, Event::Step { done: grower.cost.len() as u64, score: None })?;
            let proposals = propose(&open);
            let Some((test, left, right)) = grower.choose(&open, proposals, limits) else { continue };
            stack.extend(grower.split(&open, test, vec![left, right]));
        }
        report(observer, Event::End)?;
        Ok(grower)
    }

    fn choose(
        &mut self,
        open: &OpenNode,
        proposals: Vec<SplitProposal>,
        limits: RowLimits,
    ) -> Option<(RowTest, Vec<u32>, Vec<u32>)> {
        let (_, state) = self.criterion.prepare(&open.rows, &mut Vec::new());
        let limits = SplitLimits { min_samples: limits.min_samples_leaf.max(1), ..SplitLimits::NONE };
        let mut best: Option<(f64, f64, SplitProposal)> = None;
        for proposal in proposals {
            let entries = ordered(&open.rows, &proposal.score);
            let column = SortedSegment { present: &entries, missing: &[] };
            let mut sorted = proposal.score.clone();
            sorted.sort_by(f64::total_cmp);
            let found = match proposal.threshold {
                None => self.criterion.best_threshold(&state, column, &limits).map(|best| {
                    let n_left = best.place.n_left;
                    (best.gain, ermine_core::matrix::binned::between(sorted[n_left - 1], sorted[n_left]))
                }),
                Some(threshold) => {
                    let n_left = sorted.partition_point(|s| *s <= threshold);
                    let place = ThresholdPosition { n_left, missing_left: false };
                    let inside = n_left > 0 && n_left < sorted.len();
                    let gain = inside.then(|| gain_at(&self.criterion, &state, column, place, &limits)).flatten();
                    gain.map(|gain| (gain, threshold))
                }
            };
            let Some((gain, threshold)) = found else { continue };
            let gain = gain * proposal.preference;
            if best.as_ref().is_none_or(|best| gain > best.0) {
                best = Some((gain, threshold, proposal));
            }
        }
        let (_, threshold, proposal) = best?;
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for (&row, score) in open.rows.iter().zip(&proposal.score) {
            if *score <= threshold { left.push(row) } else { right.push(row) }
        }
        (!left.is_empty() && !right.is_empty()).then(|| ((proposal.test)(threshold), left, right))
    }
}

/// Rows in ascending order of their scores, with flags for ties.
fn ordered(rows: &[u32], score: &[f64]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| score[a].total_cmp(&score[b]).then(a.cmp(&b)));
    let tied = |i: usize| i > 0 && score[order[i]] == score[order[i - 1]];
    (0..order.len()).map(|i| rows[order[i]] & ROW | if tied(i) { TIE } else { 0 }).collect()
}
