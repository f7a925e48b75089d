//! Quad tree: each cell is split at a point into 2^d cells, regardless of the targets.
//!
//! **Idea.** The cell that contains all rows is split at its midpoint (or at the medians of its rows) in every feature at once; each part with rows is split again until it has few rows or is deep enough.
//! Every cell predicts the class proportions or the mean of its rows: empirical risk minimization on a partition that depends on the features only. A row in a cell without training rows gets the
//! prediction of the smallest enclosing cell that has some. Missing values are placed below all others; nominal categories are ordered by their mean target (the proportion of the most frequent class,
//! or the first target), and this order is stored with the model.
//!
//! **Cost.** O(n d) per level; only cells with rows are stored. **Reference.** Finkel and Bentley, Quad trees (1974).

use super::row_tree::{CategoryPositions, FittedRowTree, RowSpace, RowTreeGrowth, greedy_certificate, grow_for};
use super::{Context, Family, Learner, LearnerInfo, TREE_CAPABILITIES, Trained};
use crate::split::node::NodeCriterion;
use crate::tree::row_tree::{OpenNode, RowTest, RowTreeBuilder, cell};
use ermine_core::error::{Error, Result};
use ermine_core::matrix::Dataset;
use ermine_core::param::Range;
use ermine_core::progress::{Event, Observer, report};
use ermine_core::{choice, params};
use std::collections::BTreeMap;

choice! {
    /// Where a cell is split.
    pub enum CutAt {
        /// The midpoint of the cell.
        Middle = "middle",
        /// The medians of its rows.
        Median = "median",
    }
}

params! {
    /// A partition of the feature space into cells, each split at a point into 2^d cells.
    pub struct QuadTree("quad-tree") {
        /// Where a cell is split: at the medians of its rows or at its midpoint.
        /// Medians adapt to the data; midpoints give a regular grid.
        cut_at: CutAt = CutAt::Median, tune Each;
        /// Maximum depth of the tree.
        max_depth: usize = 8, range Range::between(1.0, 60.0), tune Linear(1, 10);
        /// Minimum weight of the rows that a cell needs to be split.
        /// Higher values smooth the predictions.
        min_samples_split: usize = 10, range Range::at_least(2.0), tune Log(2, 200);
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "quad-tree",
    summary: "partition of the feature space into cells, each split at a point into 2^d cells; predicts the mean or the class proportions of the cell",
    capabilities: TREE_CAPABILITIES,
    family: Family::Tree,
};

impl Learner for QuadTree {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let d = data.features().n_columns();
        if d > 64 {
            let need = format!("{d} columns (it splits all columns at once and supports up to 64)");
            return Err(Error::Unsupported { learner: INFO.name.into(), need });
        }
        let space = RowSpace::Placed(CategoryPositions::fit(data));
        let (rows, width) = space.rows(data.features())?;
        let (tree, cost) =
            grow_for(data, QuadCells { learner: self, n: data.n_rows(), rows: &rows, width }, context.observer)?;
        let mut certificate = greedy_certificate(data, cost);
        certificate.proofs = vec![ermine_core::model::Proof::Optimal {
            over: "all predictors that are constant on each cell of this partition".into(),
        }];
        Ok(Trained { fitted: Box::new(FittedRowTree::new(tree, space, data.task())), certificate })
    }
}

struct QuadCells<'a> {
    learner: &'a QuadTree,
    n: usize,
    rows: &'a [f64],
    width: usize,
}

impl RowTreeGrowth for QuadCells<'_> {
    fn grow<C: NodeCriterion>(self, criterion: C, observer: &dyn Observer) -> Result<RowTreeBuilder<C>> {
        report(observer, Event::Begin { what: "splitting cells", total: None })?;
        let (mut grower, summary, root) = RowTreeBuilder::new(criterion, self.n);
        let whole = self.extent(&root.rows);
        let mut stack = if summary.pure { Vec::new() } else { vec![(root, whole)] };
        while let Some((open, (low, high))) = stack.pop() {
            if open.depth >= self.learner.max_depth
                || grower.tree.weight[open.node] < self.learner.min_samples_split as f64
            {
                continue;
            }
            report(observer, Event::Step { done: grower.cost.len() as u64, score: None })?;
            let point = self.point(&open, &low, &high);
            let mut parts: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
            open.rows.iter().for_each(|&row| parts.entry(cell(self.row(row), &point)).or_default().push(row));
            if parts.len() < 2 && self.learner.cut_at == CutAt::Median {
                continue;
            }
            let (cells, parts): (Vec<u64>, Vec<Vec<u32>>) = parts.into_iter().unzip();
            let first = grower.tree.n_nodes();
            let children = grower.split(&open, RowTest::Corner { point: point.clone(), cells: cells.clone() }, parts);
            for child in children {
                let code = cells[child.node - first];
                let above = |j: usize| code >> j & 1 == 1;
                let low = (0..self.width).map(|j| if above(j) { point[j] } else { low[j] }).collect();
                let high = (0..self.width).map(|j| if above(j) { high[j] } else { point[j] }).collect();
                stack.push((child, (low, high)));
            }
        }
        report(observer, Event::End)?;
        Ok(grower)
    }
}

impl QuadCells<'_> {
    fn row(&self, row: u32) -> &[f64] {
        &self.rows[row as usize * self.width..(row as usize + 1) * self.width]
    }

    /// The minimum and maximum of each column.
    fn extent(&self, rows: &[u32]) -> (Vec<f64>, Vec<f64>) {
        let (mut low, mut high) = (vec![f64::INFINITY; self.width], vec![f64::NEG_INFINITY; self.width]);
        for &row in rows {
            low.iter_mut().zip(self.row(row)).for_each(|(l, x)| *l = l.min(*x));
            high.iter_mut().zip(self.row(row)).for_each(|(h, x)| *h = h.max(*x));
        }
        (low, high)
    }

    fn point(&self, open: &OpenNode, low: &[f64], high: &[f64]) -> Vec<f64> {
        match self.learner.cut_at {
            CutAt::Middle => low.iter().zip(high).map(|(l, h)| l / 2.0 + h / 2.0).collect(),
            CutAt::Median => (0..self.width)
                .map(|j| {
                    let mut values: Vec<f64> = open.rows.iter().map(|&row| self.row(row)[j]).collect();
                    values.sort_by(f64::total_cmp);
                    values.dedup();
                    // The lower median of the distinct values: some value is above it unless all are equal.
                    values[(values.len() - 1) / 2]
                })
                .collect(),
        }
    }
}
