//! C4.5: multiway splits by gain ratio, fractional missing values, pessimistic pruning.
//!
//! **Idea.** Information gain favors features with many categories, because many small branches look pure; the gain ratio divides the gain by the entropy of the split itself. A row with a missing value
//! follows every branch with a fraction of its weight. After growing, a subtree is replaced by a leaf, or by its largest branch, if the upper confidence limit of the error is no larger.
//!
//! **Reference.** Quinlan, C4.5: Programs for Machine Learning (1993). See [`multiway`](crate::tree::multiway) [`crate::tree::prune`] and [`crate::tree::raise`] for the formulas.

use super::decision_tree::{FittedTree, MissingRouting};
use super::id3::{capabilities, certificate, columns_with_more_categories, in_units_of_weight};
use super::{Context, Family, Learner, LearnerInfo, Trained};
use crate::tree::multiway::{MultiwayOptions, grow_multiway, weighted_rows};
use crate::tree::raise::pessimistic_with_raising;
use crate::tree::{DEFAULT_MAX_DEPTH, depth_note, prune};
use ermine_core::error::Result;
use ermine_core::matrix::Dataset;
use ermine_core::model::Output;
use ermine_core::param::Range;
use ermine_core::params;

params! {
    /// C4.5: a tree with one branch per category, chosen by gain ratio, with pessimistic pruning.
    pub struct C45("c45") {
        /// Maximum depth of the tree. None for the default limit of 1,024 levels.
        /// Lower values give simpler models that overfit less; 3 to 6 levels are still readable.
        max_depth: Option<usize> = None, range Range::at_least(1.0), tune Linear(2, 20);
        /// Minimum number of rows a node needs to be split.
        /// A row with an integer weight counts as that many rows; other weights are scaled to a mean of 1.
        min_samples_split: usize = 2, range Range::at_least(2.0), tune Log(2, 100);
        /// Minimum number of rows in at least two branches of a split, counted in the same way.
        /// Raise it on noisy data.
        min_samples_leaf: usize = 2, range Range::at_least(1.0), tune Log(1, 100);
        /// Split the categories of a nominal feature into two groups instead of one branch per category.
        /// Keeps more rows in each branch if features have many categories.
        binary_splits: bool = false, tune Each;
        /// Whether to prune the tree by C4.5's pessimistic error estimate.
        prune: bool = true, tune Each;
        /// Confidence factor of the pruning; lower values prune more.
        confidence_factor: f64 = 0.25, range Range::inside(0.0, 1.0), tune Linear(0.05, 0.5);
        /// Whether pruning may also replace a node by its largest branch (subtree raising).
        subtree_raising: bool = true, tune Each;
        /// Nominal features with more categories than this are ignored.
        /// A feature with a category for almost every row, such as an identifier, would fit the training set perfectly and generalize to nothing.
        max_categories: usize = 256, range Range::at_least(0.0);
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "c45",
    summary: "C4.5: multiway splits by gain ratio, fractional missing values, pessimistic pruning",
    capabilities: capabilities(),
    family: Family::Tree,
};

impl Learner for C45 {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, _: &Context<'_>) -> Result<Trained> {
        let options = MultiwayOptions {
            c45: true,
            binary: self.binary_splits,
            max_depth: self.max_depth.unwrap_or(DEFAULT_MAX_DEPTH),
            min_samples_split: self.min_samples_split as f64,
            min_samples: self.min_samples_leaf as f64,
            min_gain: 0.0,
            max_categories: self.max_categories,
        };
        super::require_nodes(data, None, self.max_depth)?;
        let mut grown = grow_multiway(data, &options)?;
        let n_leaves = grown.tree.n_leaves();
        let mut n_raised = 0;
        if self.prune && self.subtree_raising {
            (grown, n_raised) = pessimistic_with_raising(&grown, data, weighted_rows(data), self.confidence_factor)?;
        } else if self.prune {
            grown = prune::pessimistic(&grown, self.confidence_factor);
        }
        let grown = in_units_of_weight(grown, data);
        let mut certificate = certificate(data, &grown, self.max_categories, &self.heuristic_columns(data)?);
        if self.prune {
            let removed = n_leaves - grown.tree.n_leaves();
            let raised = if n_raised > 0 { format!(" and raised {n_raised} branches") } else { String::new() };
            certificate.notes.push(format!("pessimistic pruning removed {removed} of {n_leaves} leaves{raised}"));
        }
        certificate.notes.extend(depth_note(&grown.tree, self.max_depth));
        let fitted = FittedTree::new(grown, Output::Probabilities, MissingRouting::Fractional);
        Ok(Trained { fitted: Box::new(fitted), certificate })
    }
}

impl C45 {
    /// The columns whose best bipartition may be missed: those with more than two categories if there are more than two classes or a minimum leaf size.
    fn heuristic_columns(&self, data: &Dataset) -> Result<Vec<String>> {
        let exact = !self.binary_splits || (data.classes()?.1.len() <= 2 && self.min_samples_leaf == 1);
        Ok(if exact { Vec::new() } else { columns_with_more_categories(data, 2) })
    }
}
