//! Evaluation.

pub mod evaluate;
pub mod explain;
pub mod report;
