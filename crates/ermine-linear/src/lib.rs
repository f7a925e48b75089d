//! Linear models and support vector machines of Ermine, with their solvers.
//!
//! This crate is internal. Programs depend on [`ermine`](https://docs.rs/ermine), which re-exports what is public; what is only here may change at any time.

pub mod kernel;
pub mod learner;
pub mod optim;
pub mod penalty;
