//! One test binary: the contract that every learner keeps, and whole ways through the house.

// A test stops at the first surprise.
#![allow(clippy::unwrap_used)]

mod boosting;
mod contract;
mod model_file;
mod rooms;
mod stump;
