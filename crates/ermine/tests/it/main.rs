//! One test binary: the contract that every learner keeps, and whole ways through the house.

// A test stops at the first surprise.
#![allow(clippy::unwrap_used)]

mod adaboost;
mod bagging;
mod boosting;
mod calibration;
mod boosting_golden;
mod comparison_forest;
mod contract;
mod evaluate;
mod forest;
mod metrics;
mod linear;
mod model_file;
mod multiclass;
mod neighbors;
mod rooms;
mod stump;
mod tree;
mod tree_golden;
