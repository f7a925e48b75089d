//! Tree learners of Ermine: split search, trees, forests, gradient boosting and SHAP values.
//!
//! This crate is internal. Programs depend on [`ermine`](https://docs.rs/ermine), which re-exports what is public; what is only here may change at any time.

pub mod boost;
pub mod ensemble;
pub mod learner;
pub mod shap;
pub mod split;
pub mod tree;
