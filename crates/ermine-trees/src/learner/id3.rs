//! ID3: one branch per category, chosen by information gain.
//!
//! **Idea.** Each node splits on the feature with the largest information gain, with one branch per category; a nominal feature is used at most once on a path. Ordered features, which the original
//! algorithm doesn't handle, are split at their best threshold.
//!
//! **Reference.** Quinlan, Induction of decision trees (1986); Shalev-Shwartz and Ben-David, Understanding Machine Learning, 18.2. See [`multiway`](crate::tree::multiway) for the formulas.

use super::decision_tree::{FittedTree, MissingRouting};
use super::{Capabilities, Context, Family, Learner, LearnerInfo, TREE_CAPABILITIES, Trained};
use crate::tree::multiway::{MultiwayOptions, grow_multiway, row_unit};
use crate::tree::{DEFAULT_MAX_DEPTH, GrownTree, depth_note};
use ermine_core::error::Result;
use ermine_core::matrix::{Dataset, Task};
use ermine_core::model::{Certificate, Output, Proof, Status};
use ermine_core::param::Range;
use ermine_core::params;
use ermine_core::table::ColumnKind;

params! {
    /// ID3: a tree with one branch per category, chosen by information gain.
    pub struct Id3("id3") {
        /// Maximum depth of the tree. None for the default limit of 1,024 levels.
        /// Lower values give simpler models that overfit less; 3 to 6 levels are still readable.
        max_depth: Option<usize> = None, range Range::at_least(1.0), tune Linear(2, 20);
        /// Minimum number of rows a node needs to be split.
        /// A row with an integer weight counts as that many rows; other weights are scaled to a mean of 1.
        min_samples_split: usize = 2, range Range::at_least(2.0), tune Log(2, 100);
        /// Minimum number of rows in at least two branches of a split, counted in the same way.
        /// Raise it on noisy data.
        min_samples_leaf: usize = 1, range Range::at_least(1.0), tune Log(1, 100);
        /// Minimum information gain of a split, in bits per row.
        /// ID3 does not prune; this is its way to stop early.
        min_gain: f64 = 0.0, range Range::at_least(0.0), tune Log(1e-4, 0.5);
        /// Nominal features with more categories than this are ignored.
        /// A feature with a category for almost every row, such as an identifier, would fit the training set perfectly and generalize to nothing.
        max_categories: usize = 256, range Range::at_least(0.0);
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "id3",
    summary: "ID3: one branch per category, chosen by information gain",
    capabilities: capabilities(),
    family: Family::Tree,
};

impl Learner for Id3 {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, _: &Context<'_>) -> Result<Trained> {
        let options = MultiwayOptions {
            c45: false,
            binary: false,
            max_depth: self.max_depth.unwrap_or(DEFAULT_MAX_DEPTH),
            min_samples_split: self.min_samples_split as f64,
            min_samples: self.min_samples_leaf as f64,
            min_gain: self.min_gain,
            max_categories: self.max_categories,
        };
        super::require_nodes(data, None, self.max_depth)?;
        let grown = in_units_of_weight(grow_multiway(data, &options)?, data);
        let mut certificate = certificate(data, &grown, self.max_categories, &[]);
        certificate.notes.extend(depth_note(&grown.tree, self.max_depth));
        Ok(Trained {
            fitted: Box::new(FittedTree::new(grown, Output::Probabilities, MissingRouting::Learned)),
            certificate,
        })
    }
}

/// Converts a tree grown in units of rows (see [`row_unit`]) to the weights of the data.
pub(super) fn in_units_of_weight(mut grown: GrownTree, data: &Dataset) -> GrownTree {
    let unit = row_unit(data);
    grown.tree.weight.iter_mut().for_each(|weight| *weight *= unit);
    grown.cost.iter_mut().for_each(|cost| *cost *= unit);
    grown
}

/// The certificate of a greedily grown tree. The best splits of the `heuristic` columns may have been missed.
pub(super) fn certificate(
    data: &Dataset,
    grown: &GrownTree,
    max_categories: usize,
    heuristic: &[String],
) -> Certificate {
    let cost: f64 = grown.tree.leaves().map(|leaf| grown.cost[leaf]).sum();
    let many = |c: &&ermine_core::table::Column| {
        !c.kind.is_ordered() && c.levels().is_some_and(|levels| levels.len() > max_categories)
    };
    let skipped = data.features().columns().iter().filter(many);
    let note = |c: &ermine_core::table::Column| {
        format!("column '{}' has more than {max_categories} categories and was ignored", c.name)
    };
    Certificate {
        objective: "entropy (bits) of the leaves".into(),
        value: Some(cost / grown.tree.weight[0]),
        status: Status::Done,
        proofs: vec![Proof::Nothing { because: greedy(heuristic) }],
        notes: skipped.map(note).collect(),
    }
}

/// Why nothing is proven about a greedily grown tree. The best bipartition of the `heuristic` columns may have been missed.
pub(super) fn greedy(heuristic: &[String]) -> String {
    let best = match heuristic {
        [] => "each split is the best of its node".to_string(),
        columns => format!(
            "each split is the best one found for its node (the categories of {} were split by a heuristic)",
            columns.join(", ")
        ),
    };
    format!("{best}; a greedy tree need not be the best tree")
}

/// The quoted names of the nominal columns with more than `most` categories; missing values count as a category.
pub(super) fn columns_with_more_categories(data: &Dataset, most: usize) -> Vec<String> {
    let features = data.features();
    let n_groups = |f: usize| {
        let n_levels = features.columns()[f].levels().map_or(0, |levels| levels.len());
        n_levels + usize::from(features.numbers(f).iter().any(|x| x.is_nan()))
    };
    let has_more = |f: &usize| features.columns()[*f].kind == ColumnKind::Nominal && n_groups(*f) > most;
    (0..features.n_columns()).filter(has_more).map(|f| format!("'{}'", features.columns()[f].name)).collect()
}

/// Capabilities of ID3 and C4.5.
pub(super) const fn capabilities() -> Capabilities {
    Capabilities { tasks: &[Task::Classification], multi_output: false, ..TREE_CAPABILITIES }
}
