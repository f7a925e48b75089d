//! Metrics and nearest-neighbour indexes.
mod aligned;
mod box_tree;
pub mod choice;
pub mod codes;
pub mod condense;
pub mod index;
mod lanes;
pub mod leave_one_out;
pub mod metric;
pub mod mixed;
pub mod nearest;
mod norm;
mod packed;
pub mod rows;
mod scan;
mod simd;
pub mod strings;
pub mod vantage;
pub mod vote;
pub mod weight;
pub mod whiten;

#[cfg(test)]
mod tests;
