//! C4.5: a tree with a branch for each category and thresholds for numbers, by gain ratio, with missing values as fractions of rows, pruned by its own
//! estimate of errors.
//!
//! **Idea.** ID3 prefers columns with many values, because many branches look pure; the gain ratio divides by the bits that the split itself has. A row whose value is missing
//! goes down every branch in proportion. Afterwards a subtree becomes a leaf where the upper limit of the leaf's errors is no larger.
//!
//! **Reference.** Quinlan, C4.5: Programs for Machine Learning (1993). See [`multiway`](crate::tree::multiway) and
//! [`crate::tree::prune`] for the formulas. **Departures.** Subtrees are replaced by leaves, not raised.

use super::decision_tree::{FittedTree, Missing};
use super::id3::{capabilities, certificate, columns_with_more_categories, in_units_of_weight};
use super::{Context, Family, Info, Learner, Trained};
use crate::tree::multiway::{MultiwayOptions, grow_multiway};
use crate::tree::{DEEPEST, depth_note, prune};
use ermine_core::error::Result;
use ermine_core::matrix::Dataset;
use ermine_core::model::Output;
use ermine_core::param::Range;
use ermine_core::params;

params! {
    /// C4.5: a tree with a branch for each category, by gain ratio, pruned pessimistically.
    pub struct C45("c45") {
        /// No leaf is deeper than this; none for 1,024.
        max_depth: Option<usize> = None, range Range::at_least(1.0), tune Linear(2, 20);
        /// A node with fewer rows than this is not split. Whole weights count as so many rows; other weights are scaled to a mean of 1.
        min_samples_split: usize = 2, range Range::at_least(2.0), tune Log(2, 100);
        /// At least two branches of a split have this many rows, counted likewise.
        min_samples_leaf: usize = 2, range Range::at_least(1.0), tune Log(1, 100);
        /// Part the categories of a nominal column in two, instead of a branch for each.
        binary_splits: bool = false, tune Each;
        /// Prune the tree by upper limits of its errors.
        prune: bool = true, tune Each;
        /// The confidence of these limits: lower prunes more.
        confidence_factor: f64 = 0.25, range Range::inside(0.0, 1.0), tune Linear(0.05, 0.5);
        /// Nominal columns with more categories than this are passed over.
        max_categories: usize = 256, range Range::at_least(0.0);
    }
}

static INFO: Info = Info {
    name: "c45",
    summary: "C4.5: a tree with a branch for each category, by gain ratio; missing values as fractions; pruned",
    capabilities: capabilities(),
    family: Family::Tree,
};

impl Learner for C45 {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn train(&self, data: &Dataset, _: &Context<'_>) -> Result<Trained> {
        let options = MultiwayOptions {
            c45: true,
            binary: self.binary_splits,
            max_depth: self.max_depth.unwrap_or(DEEPEST),
            min_samples_split: self.min_samples_split as f64,
            min_samples: self.min_samples_leaf as f64,
            min_gain: 0.0,
            max_categories: self.max_categories,
        };
        super::require_nodes(data, None, self.max_depth)?;
        let mut grown = grow_multiway(data, &options)?;
        let n_leaves = grown.tree.n_leaves();
        if self.prune {
            grown = prune::pessimistic(&grown, self.confidence_factor);
        }
        let grown = in_units_of_weight(grown, data);
        let mut certificate = certificate(data, &grown, self.max_categories, &self.heuristic_columns(data)?);
        if self.prune {
            let removed = n_leaves - grown.tree.n_leaves();
            certificate.notes.push(format!("pessimistic pruning removed {removed} of {n_leaves} leaves"));
        }
        certificate.notes.extend(depth_note(&grown.tree, self.max_depth));
        let fitted = FittedTree::new(grown, Output::Probabilities, Missing::Fractional);
        Ok(Trained { fitted: Box::new(fitted), certificate })
    }
}

impl C45 {
    /// The columns whose best bipartition may not be found: with more than two categories, where there are more than two classes, or a limit on rows may forbid the best.
    fn heuristic_columns(&self, data: &Dataset) -> Result<Vec<String>> {
        let exact = !self.binary_splits || (data.classes()?.1.len() <= 2 && self.min_samples_leaf == 1);
        Ok(if exact { Vec::new() } else { columns_with_more_categories(data, 2) })
    }
}
