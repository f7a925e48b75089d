//! Foundations of Ermine. Programs use the crate `ermine`, which re-exports what is public.

pub mod chart;
pub mod distance;
pub mod distribution;
pub mod error;
pub mod learner;
#[macro_use]
pub mod linalg;
pub mod loss;
pub mod matrix;
pub mod measure;
pub mod metric;
pub mod model;
pub mod param;
pub mod progress;
pub mod registry;
pub mod rng;
pub mod section;
pub mod simd;
pub mod table;

pub use error::{Error, Result};
