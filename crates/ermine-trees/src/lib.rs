//! Trees.

pub mod boost;
pub mod ensemble;
pub mod learner;
pub mod shap;
pub mod split;
pub mod tree;
