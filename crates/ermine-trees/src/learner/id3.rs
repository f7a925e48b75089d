//! ID3: a tree with a branch for each category, by information gain.
//!
//! **Idea.** A node asks for the column that tells most about the class, and each category gets a branch of its own; a nominal column is asked once on a way down. Ordered
//! columns, which the original doesn't have, are cut at their best threshold.
//!
//! **Reference.** Quinlan, Induction of decision trees (1986); Shalev-Shwartz and Ben-David, Understanding Machine Learning, 18.2. See
//! [`multiway`](crate::tree::multiway) for the formulas.

use super::decision_tree::{FittedTree, Missing};
use super::{Capabilities, Context, Family, Info, Learner, Trained};
use crate::tree::multiway::{MultiwayOptions, grow_multiway, row_unit};
use crate::tree::{DEEPEST, Grown, depth_note};
use ermine_core::error::Result;
use ermine_core::matrix::{Dataset, Task};
use ermine_core::model::{Certificate, Output, Proof, Status};
use ermine_core::param::Range;
use ermine_core::params;
use ermine_core::table::ColumnKind;

params! {
    /// ID3: a tree with a branch for each category, by information gain.
    pub struct Id3("id3") {
        /// No leaf is deeper than this; none for 1,024.
        max_depth: Option<usize> = None, range Range::at_least(1.0), tune Linear(2, 20);
        /// A node with fewer rows than this is not split. Whole weights count as so many rows; other weights are scaled to a mean of 1.
        min_samples_split: usize = 2, range Range::at_least(2.0), tune Log(2, 100);
        /// At least two branches of a split have this many rows, counted likewise.
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
            max_depth: self.max_depth.unwrap_or(DEEPEST),
            min_samples_split: self.min_samples_split as f64,
            min_samples: self.min_samples_leaf as f64,
            min_gain: self.min_gain,
            max_categories: self.max_categories,
        };
        super::require_nodes(data, None, self.max_depth)?;
        let grown = in_units_of_weight(grow_multiway(data, &options)?, data);
        let mut certificate = certificate(data, &grown, self.max_categories, &[]);
        certificate.notes.extend(depth_note(&grown.tree, self.max_depth));
        Ok(Trained { fitted: Box::new(FittedTree::new(grown, Output::Probabilities, Missing::Learned)), certificate })
    }
}

/// A tree that was grown in rows, with the weights of the data.
pub(super) fn in_units_of_weight(mut grown: Grown, data: &Dataset) -> Grown {
    let unit = row_unit(data);
    grown.tree.weight.iter_mut().for_each(|weight| *weight *= unit);
    grown.cost.iter_mut().for_each(|cost| *cost *= unit);
    grown
}

/// What is known about a tree that was chosen split by split. Splits of the `heuristic` columns need not be the best of these.
pub(super) fn certificate(data: &Dataset, grown: &Grown, max_categories: usize, heuristic: &[String]) -> Certificate {
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
        proofs: vec![Proof::Nothing { because: greedy(heuristic) }],
        notes: skipped.map(note).collect(),
    }
}

/// Why nothing is proven about a tree that was grown split by split; `heuristic` are columns whose best bipartition may not have been found.
pub(super) fn greedy(heuristic: &[String]) -> String {
    let best = match heuristic {
        [] => "each split is the best of its node".to_string(),
        columns => format!(
            "each split is the best that was found in its node, where the categories of {} were parted by a heuristic",
            columns.join(", ")
        ),
    };
    format!("{best}, which doesn't make the tree the best of all trees")
}

/// The nominal columns with more than `most` categories, those missing being one, by their names in quotes.
pub(super) fn columns_with_more_categories(data: &Dataset, most: usize) -> Vec<String> {
    let features = data.features();
    let n_groups = |f: usize| {
        let n_levels = features.columns()[f].levels().map_or(0, |levels| levels.len());
        n_levels + usize::from(features.numbers(f).iter().any(|x| x.is_nan()))
    };
    let has_more = |f: &usize| features.columns()[*f].kind == ColumnKind::Nominal && n_groups(*f) > most;
    (0..features.n_columns()).filter(has_more).map(|f| format!("'{}'", features.columns()[f].name)).collect()
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
