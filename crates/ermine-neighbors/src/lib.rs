//! Nearest neighbors of Ermine: exact and approximate indexes, and the learner over them.
//!
//! This crate is internal. Programs depend on [`ermine`](https://docs.rs/ermine), which re-exports what is public; what is only here may change at any time.

pub mod learner;
pub mod search;
