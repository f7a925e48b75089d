//! The tree learners, one file for each method.
//!
//! | file | learner |
//! |---|---|
//! | [`stump`] | the best single split |
//! | [`decision_tree`] | CART: a tree of binary splits |
//! | [`id3`] | ID3: one branch per category, by information gain |
//! | [`c45`] | C4.5: gain ratio, fractional missing values, pruning |
//! | [`optimal_tree`] | the lowest training error among all trees of a depth, with proof |
//! | [`oblique_tree`] | splits on linear combinations of the features |
//! | [`comparison_tree`] | splits that compare distances to two training rows |
//! | [`comparison_forest`] | the average of many comparison trees |
//! | [`quad_tree`] | cells split at a point into 2^d cells |
//! | [`density_tree`] | a piecewise constant density for each class |
//! | [`gradient_boosting`] | a sum of trees, each fitted to the gradients of the loss |
//! | [`forest`] | random forests and extra-trees |
//! | [`row_tree`] | the fitted model of oblique, comparison and quad trees |
//! | [`fitted_tree`] | the fitted model of learners that produce a single tree |

pub mod c45;
pub mod comparison_forest;
pub mod comparison_tree;
pub mod decision_tree;
pub mod density_tree;
pub mod fitted_tree;
pub mod forest;
pub mod gradient_boosting;
pub mod id3;
pub mod oblique_tree;
pub mod optimal_tree;
pub mod quad_tree;
pub mod row_tree;
mod row_tree_text;
pub mod stump;

use ermine_core::error::Result;
use ermine_core::learner::{Capabilities, Context, Family, Learner, LearnerInfo, PathLearner, Trained, fit};
use ermine_core::matrix::{Dataset, Target, Task};
use ermine_core::memory;
use ermine_core::registry::RegistryEntry;

/// Capabilities that most tree learners have; each learner states where it differs.
const TREE_CAPABILITIES: Capabilities = Capabilities {
    tasks: &[Task::Classification, Task::Regression],
    binary_only: false,
    multi_output: true,
    weights: true,
    missing: true,
    nominal: true,
    sparse: false,
    probabilities: true,
    random: false,
};

/// Returns an error if the class probabilities of all nodes may exceed the memory limit. A tree has at most as many leaves as rows.
fn require_nodes(data: &Dataset, max_leaf_nodes: Option<usize>, max_depth: Option<usize>) -> Result<()> {
    let Target::Classes { labels, .. } = data.target() else { return Ok(()) };
    let by_depth = max_depth.and_then(|depth| 1usize.checked_shl(depth.min(63) as u32)).unwrap_or(usize::MAX);
    let leaves = data.n_rows().min(by_depth).min(max_leaf_nodes.unwrap_or(usize::MAX));
    memory::require(
        || {
            format!(
                "a tree of up to {leaves} leaves, with a number for each of {} classes in every node,",
                labels.len()
            )
        },
        &[2, leaves, labels.len(), size_of::<f64>()],
        "limit max_leaf_nodes or max_depth, merge rare classes, or use output codes (output-code)",
    )
}

/// The tree learners, in the order shown to users.
pub const LEARNERS: &[RegistryEntry] = &[
    RegistryEntry { make: || Box::new(stump::DecisionStump::default()), load: stump::FittedStump::load },
    RegistryEntry { make: || Box::new(decision_tree::DecisionTree::default()), load: fitted_tree::FittedTree::load },
    RegistryEntry { make: || Box::new(id3::Id3::default()), load: fitted_tree::FittedTree::load },
    RegistryEntry { make: || Box::new(c45::C45::default()), load: fitted_tree::FittedTree::load },
    RegistryEntry { make: || Box::new(optimal_tree::OptimalTree::default()), load: fitted_tree::FittedTree::load },
    RegistryEntry { make: || Box::new(oblique_tree::ObliqueTree::default()), load: row_tree::FittedRowTree::load },
    RegistryEntry {
        make: || Box::new(comparison_tree::ComparisonTree::default()),
        load: row_tree::FittedRowTree::load,
    },
    RegistryEntry {
        make: || Box::new(comparison_forest::ComparisonForest::default()),
        load: comparison_forest::FittedComparisons::load,
    },
    RegistryEntry { make: || Box::new(quad_tree::QuadTree::default()), load: row_tree::FittedRowTree::load },
    RegistryEntry { make: || Box::new(density_tree::DensityTree::default()), load: density_tree::FittedDensity::load },
    RegistryEntry {
        make: || Box::new(gradient_boosting::GradientBoosting::default()),
        load: gradient_boosting::BoostedTrees::load,
    },
    RegistryEntry { make: || Box::new(forest::RandomForest::default()), load: forest::FittedForest::load },
    RegistryEntry { make: || Box::new(forest::ExtraTrees::default()), load: forest::FittedForest::load },
];
