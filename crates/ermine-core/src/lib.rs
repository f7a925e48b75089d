//! Foundations of Ermine: tables, data sets, losses, metrics, and the interfaces of learners and models.
//!
//! This crate is internal. Programs depend on [`ermine`](https://docs.rs/ermine), which re-exports the public parts; everything else may change at any time.

pub mod atomic;
pub mod chart;
pub mod distance;
pub mod distribution;
pub mod error;
pub mod learner;
pub mod linalg;
pub mod loss;
pub mod matrix;
pub mod measure;
pub mod memory;
pub mod metric;
pub mod model;
pub mod parallel;
pub mod param;
pub mod progress;
pub mod registry;
pub mod rng;
pub mod section;
pub mod simd;
pub mod table;

pub use error::{Error, Result};
