//! Nearest neighbors.

pub mod learner;
pub mod search;
