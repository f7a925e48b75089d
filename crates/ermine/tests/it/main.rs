//! One test binary: the contract that every learner keeps, and whole ways through the house.

// A test stops at the first surprise.
#![allow(clippy::unwrap_used)]

mod adaboost;
mod api;
mod bagging;
mod boosting;
mod boosting_given;
mod boosting_golden;
mod boosting_hard;
mod calibration;
mod comparison_forest;
mod contract;
mod evaluate;
mod examples;
mod exchange;
mod forest;
mod importance;
mod linear;
mod linear_hard;
mod metrics;
mod model_file;
mod multiclass;
mod multilabel;
mod neighbors;
mod ranking;
mod reductions;
mod stump;
mod svm;
mod tree;
mod tree_golden;
mod tree_words;

/// A file of the data sets beside the repository, or wherever `ERMINE_DATA` says; `None` on a machine without them.
fn shared_file(name: &str) -> Option<std::path::PathBuf> {
    let beside = || format!("{}/../../../shared/data", env!("CARGO_MANIFEST_DIR")).into();
    let file = std::path::Path::new(&std::env::var_os("ERMINE_DATA").unwrap_or_else(beside)).join(name);
    file.exists().then_some(file)
}
