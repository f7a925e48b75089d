//! Nearest neighbors: exact and approximate indexes, and the learner that uses them.
//!
//! This crate is internal. Programs depend on [`ermine`](https://docs.rs/ermine), which re-exports the public parts; everything else may change at any time.

pub mod learner;
pub mod search;
