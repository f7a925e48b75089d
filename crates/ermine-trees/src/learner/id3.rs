//! ID3: a tree with a branch for each category, by information gain.
//!
//! **Idea.** A node asks for the column that tells most about the class, and each category gets a branch of its own; a nominal column is asked once on a way down. Ordered
//! columns, which the original doesn't have, are cut at their best threshold.
//!
//! **Reference.** Quinlan, Induction of decision trees (1986); Shalev-Shwartz and Ben-David, Understanding Machine Learning, 18.2. See
//! [`multiway`](crate::tree::multiway) for the formulas.

use super::decision_tree::{FittedTree, Missing};
use super::{Capabilities, Context, Family, Info, Learner, Trained};
use crate::tree::Grown;
use crate::tree::multiway::{MultiwayOptions, grow_multiway};
use ermine_core::error::Result;
use ermine_core::matrix::{Dataset, Task};
use ermine_core::model::{Certificate, Output, Proof, Status};
use ermine_core::param::Range;
use ermine_core::params;

params! {
    /// ID3: a tree with a branch for each category, by information gain.
    pub struct Id3("id3") {
        /// No leaf is deeper than this; none for no limit.
        max_depth: Option<usize> = None, range Range::at_least(1.0), tune Linear(2, 20);
        /// At least two branches of a split have this many rows.
        min_samples_leaf: usize = 1, range Range::at_least(1.0), tune Log(1, 100);
        /// A split gains at least this many bits for each row.
        min_gain: f64 = 0.0, range Range::at_least(0.0), tune Log(1e-4, 0.5);
        /// Nominal columns with more categories than this are passed over.
        max_categories: usize = 256, range Range::at_least(0.0);
    }
}

static INFO: Info = Info {
    name: "id3",
    summary: "ID3: a tree with a branch for each category, by information gain",
    capabilities: capabilities(),
    family: Family::Tree,
};

impl Learner for Id3 {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn train(&self, data: &Dataset, _: &Context<'_>) -> Result<Trained> {
        let options = MultiwayOptions {
            c45: false,
            binary: false,
            max_depth: self.max_depth.unwrap_or(usize::MAX),
            min_samples: self.min_samples_leaf as f64,
            min_gain: self.min_gain,
            max_categories: self.max_categories,
        };
        super::require_nodes(data, None, self.max_depth)?;
        let grown = grow_multiway(data, &options)?;
        let certificate = certificate(data, &grown, self.max_categories);
        Ok(Trained { fitted: Box::new(FittedTree::new(grown, Output::Probabilities, Missing::Learned)), certificate })
    }
}

/// What is known about a tree that was chosen split by split.
pub(super) fn certificate(data: &Dataset, grown: &Grown, max_categories: usize) -> Certificate {
    let leaves = (0..grown.tree.n_nodes()).filter(|&node| grown.tree.children(node).is_empty());
    let cost: f64 = leaves.map(|leaf| grown.cost[leaf]).sum();
    let many = |c: &&ermine_core::table::Column| {
        !c.kind.is_ordered() && c.levels().is_some_and(|levels| levels.len() > max_categories)
    };
    let skipped = data.features().columns().iter().filter(many);
    let note = |c: &ermine_core::table::Column| {
        format!("column '{}' has more than {max_categories} categories and was passed over", c.name)
    };
    Certificate {
        objective: "entropy (bits) of the leaves".into(),
        value: Some(cost / grown.tree.weight[0]),
        status: Status::Done,
        proofs: vec![Proof::Nothing {
            because: "each split is the best of its node, which doesn't make the tree the best of all trees".into(),
        }],
        notes: skipped.map(note).collect(),
    }
}

/// What trees with many branches can do.
pub(super) const fn capabilities() -> Capabilities {
    Capabilities {
        tasks: &[Task::Classification],
        binary_only: false,
        multi_output: false,
        weights: true,
        missing: true,
        nominal: true,
        sparse: false,
        probabilities: true,
        random: false,
    }
}
