//! Evaluation for Ermine: cross-validation, hyperparameter search, explanation and reports.
//!
//! This crate is internal. Programs depend on [`ermine`](https://docs.rs/ermine), which re-exports what is public; what is only here may change at any time.

pub mod compare;
pub mod describe;
pub mod evaluate;
pub mod explain;
pub mod report;
