//! Trees whose nodes look at whole rows of numbers: oblique splits, comparisons, quad trees.
//!
//! **Idea.** A node turns a row into one number and asks whether it is at most a threshold: a weighted sum of the columns (oblique), or the distance to one row less the distance to another
//! (comparison). Or it looks on which side of a point each column lies, which gives up to 2^d cells (quad tree); only cells with training rows have a child, and a row that falls
//! into another one stays at the node.
//!
//! **Growing.** Each node is shown some proposals (numbers for its rows, and a threshold or the wish to have the best one) and takes the one that gains most by the criterion.

use crate::split::exact::Threshold;
use crate::split::node::{Limits, NodeCriterion, ROW, Segment, Summary, gain_at};
use ermine_core::error::Result;
use ermine_core::matrix::sorted::TIE;
use ermine_core::progress::{Event, Observer, report};
use serde::{Deserialize, Serialize};

/// What a node asks of a whole row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowQuestion {
    /// Nothing: a leaf.
    Leaf,
    /// Is the weighted sum at most the threshold? Yes: first child, no: second.
    Linear {
        /// A weight for each column.
        weights: Vec<f64>,
        /// The threshold.
        threshold: f64,
    },
    /// Is it no farther from `a` than from `b`? Yes: first child, no: second.
    Nearer {
        /// A row.
        a: Vec<f64>,
        /// Another row.
        b: Vec<f64>,
    },
    /// On which side of the point is each column? Bit j of the cell is set where column j is above the point.
    Corner {
        /// The point.
        point: Vec<f64>,
        /// The cells that have a child, ascending; the i-th has the i-th child.
        cells: Vec<u64>,
    },
}

impl RowQuestion {
    /// How many children a node with this question has.
    pub fn n_children(&self) -> usize {
        match self {
            RowQuestion::Leaf => 0,
            RowQuestion::Linear { .. } | RowQuestion::Nearer { .. } => 2,
            RowQuestion::Corner { cells, .. } => cells.len(),
        }
    }

    /// Which child takes a row; `None` to stop here. `distance` is the metric of comparisons.
    pub fn branch(&self, row: &[f64], distance: impl Fn(&[f64], &[f64]) -> f64) -> Option<usize> {
        match self {
            RowQuestion::Leaf => None,
            RowQuestion::Linear { weights, threshold } => Some(usize::from(dot(weights, row) > *threshold)),
            RowQuestion::Nearer { a, b } => Some(usize::from(distance(row, a) > distance(row, b))),
            RowQuestion::Corner { point, cells } => cells.binary_search(&cell(row, point)).ok(),
        }
    }
}

/// The weighted sum of a row.
pub fn dot(weights: &[f64], row: &[f64]) -> f64 {
    weights.iter().zip(row).map(|(w, x)| w * x).sum()
}

/// The cell of a row around a point.
pub fn cell(row: &[f64], point: &[f64]) -> u64 {
    row.iter().zip(point).enumerate().fold(0, |cell, (j, (x, p))| cell | u64::from(x > p) << j)
}

/// A tree of such questions; the children of a node stand side by side after it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RowTree {
    /// What each node asks.
    pub question: Vec<RowQuestion>,
    /// The first child of each node; 0 for a leaf.
    pub child: Vec<u32>,
    /// The weight of the training rows in each node.
    pub weight: Vec<f64>,
    /// The prediction of each node, `width` numbers each.
    pub value: Vec<f64>,
    /// How many numbers a prediction has.
    pub width: usize,
}

impl RowTree {
    /// The node where a row ends.
    pub fn walk(&self, row: &[f64], distance: impl Fn(&[f64], &[f64]) -> f64) -> usize {
        let mut node = 0;
        while let Some(branch) = self.question[node].branch(row, &distance) {
            node = self.child[node] as usize + branch;
        }
        node
    }

    /// The prediction of a node.
    pub fn value(&self, node: usize) -> &[f64] {
        &self.value[node * self.width..(node + 1) * self.width]
    }

    /// How many leaves it has.
    pub fn n_leaves(&self) -> usize {
        self.question.iter().filter(|q| q.n_children() == 0).count()
    }

    /// The longest way from the root to a leaf.
    pub fn depth(&self) -> usize {
        let mut depth = vec![0usize; self.question.len()];
        for node in 0..self.question.len() {
            let first = self.child[node] as usize;
            (first..first + self.question[node].n_children()).for_each(|child| depth[child] = depth[node] + 1);
        }
        depth.into_iter().max().unwrap_or(0)
    }
}

/// A way to part the rows of a node.
pub struct Proposal {
    /// A number for each row of the node.
    pub score: Vec<f64>,
    /// Rows up to this number go left; `None` for the best threshold.
    pub threshold: Option<f64>,
    /// The question for a threshold.
    pub question: Box<dyn FnOnce(f64) -> RowQuestion>,
    /// Its gain counts times this: below 1 for questions that are harder to read.
    pub preference: f64,
}

/// When a node is not split.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowLimits {
    /// No node is deeper.
    pub max_depth: usize,
    /// A node with fewer rows is not split.
    pub min_samples_split: usize,
    /// Every leaf has at least this many rows.
    pub min_samples_leaf: usize,
}

/// Grows trees of questions about rows.
pub struct RowGrower<C> {
    /// What is minimised.
    pub criterion: C,
    /// The tree so far.
    pub tree: RowTree,
    /// The cost of each node.
    pub cost: Vec<f64>,
}

/// A node that may be split.
pub struct OpenNode {
    /// Its number.
    pub node: usize,
    /// Its rows.
    pub rows: Vec<u32>,
    /// Its depth.
    pub depth: usize,
}

impl<C: NodeCriterion> RowGrower<C> {
    /// A tree of one leaf with rows 0 to n - 1.
    pub fn new(criterion: C, n: usize) -> (Self, Summary, OpenNode) {
        let tree = RowTree { width: criterion.width(), ..RowTree::default() };
        let mut grower = RowGrower { criterion, tree, cost: Vec::new() };
        let rows: Vec<u32> = (0..n as u32).collect();
        let summary = grower.add(&rows);
        (grower, summary, OpenNode { node: 0, rows, depth: 0 })
    }

    /// Adds a leaf.
    pub fn add(&mut self, rows: &[u32]) -> Summary {
        let (summary, _) = self.criterion.prepare(rows, &mut self.tree.value);
        self.tree.question.push(RowQuestion::Leaf);
        self.tree.child.push(0);
        self.tree.weight.push(summary.weight);
        self.cost.push(summary.cost);
        summary
    }

    /// Splits a node into these parts; gives back those that are not pure.
    pub fn split(&mut self, open: &OpenNode, question: RowQuestion, parts: Vec<Vec<u32>>) -> Vec<OpenNode> {
        let first = self.tree.question.len();
        self.tree.question[open.node] = question;
        self.tree.child[open.node] = first as u32;
        let mut children = Vec::new();
        for (i, rows) in parts.into_iter().enumerate() {
            if !self.add(&rows).pure {
                children.push(OpenNode { node: first + i, rows, depth: open.depth + 1 });
            }
        }
        children
    }

    /// Grows by the best of the proposals for each node; the observer may stop it between nodes.
    pub fn grow(
        n: usize,
        criterion: C,
        limits: RowLimits,
        observer: &dyn Observer,
        mut propose: impl FnMut(&OpenNode) -> Vec<Proposal>,
    ) -> Result<RowGrower<C>> {
        report(observer, Event::Begin { what: "growing a tree", total: None })?;
        let (mut grower, summary, root) = RowGrower::new(criterion, n);
        let mut stack = if summary.pure { Vec::new() } else { vec![root] };
        while let Some(open) = stack.pop() {
            if open.depth >= limits.max_depth || open.rows.len() < limits.min_samples_split.max(2) {
                continue;
            }
            report(observer, Event::Step { done: grower.cost.len() as u64, score: None })?;
            let proposals = propose(&open);
            let Some((question, left, right)) = grower.choose(&open, proposals, limits) else { continue };
            stack.extend(grower.split(&open, question, vec![left, right]));
        }
        report(observer, Event::End)?;
        Ok(grower)
    }

    fn choose(
        &mut self,
        open: &OpenNode,
        proposals: Vec<Proposal>,
        limits: RowLimits,
    ) -> Option<(RowQuestion, Vec<u32>, Vec<u32>)> {
        let (_, state) = self.criterion.prepare(&open.rows, &mut Vec::new());
        let limits = Limits { min_samples: limits.min_samples_leaf.max(1), ..Limits::NONE };
        let mut best: Option<(f64, f64, Proposal)> = None;
        for proposal in proposals {
            let entries = ordered(&open.rows, &proposal.score);
            let column = Segment { present: &entries, missing: &[] };
            let mut sorted = proposal.score.clone();
            sorted.sort_by(f64::total_cmp);
            let found = match proposal.threshold {
                None => self.criterion.best_threshold(&state, column, &limits).map(|best| {
                    let n_left = best.place.n_left;
                    (best.gain, ermine_core::matrix::binned::between(sorted[n_left - 1], sorted[n_left]))
                }),
                Some(threshold) => {
                    let n_left = sorted.partition_point(|s| *s <= threshold);
                    let place = Threshold { n_left, missing_left: false };
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
        (!left.is_empty() && !right.is_empty()).then(|| ((proposal.question)(threshold), left, right))
    }
}

/// Rows in ascending order of their scores, with marks for equal ones.
fn ordered(rows: &[u32], score: &[f64]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| score[a].total_cmp(&score[b]).then(a.cmp(&b)));
    let tied = |i: usize| i > 0 && score[order[i]] == score[order[i - 1]];
    (0..order.len()).map(|i| rows[order[i]] & ROW | if tied(i) { TIE } else { 0 }).collect()
}
