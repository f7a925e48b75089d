//! Nearest-neighbor search: indexes, weights, votes.
//!
//! | file | what it holds |
//! |---|---|
//! | `measured` | stored rows in the form that the metric compares |
//! | [`index`](mod@index), [`choice`] | an index over numeric rows; the choice of its kind |
//! | `apart` | the nearest rows in other folds, for cross-validation |
//! | `box_tree`, [`vantage`], `scan` | the exact indexes: a kd-tree, a vantage-point tree, brute force |
//! | `row_sets`, `packed` | compressed row numbers of leaves; bit-packed numbers |
//! | `graph` | the approximate index (HNSW) |
//! | [`codes`], [`strings`], [`sparse`] | indexes over binary codes, strings and sparse rows |
//! | [`nearest`] | search results |
//! | [`weight`], [`vote`] | weights of neighbors; voting, probabilities and means; ties |
//! | [`leave_one_out`], [`condense`] | the error of every k at once; prototype selection |
//!
//! **Determinism.** Neighbors are ordered by (distance, row number). Fast kernels only filter, with a proven error bound; candidates are measured by one distance function in double precision. So every
//! exact index finds the same rows with bit-identical distances, on every machine and with any number of threads.
//!
//! ```
//! use ermine_core::distance::metric::Metric;
//! use ermine_core::distance::rows::RowMatrix;
//! use ermine_neighbors::search::index::Index;
//!
//! let points = [0.0, 0.0, 3.0, 4.0, 1.0, 0.0];
//! let index = Index::build(&RowMatrix::row_major(&points, 2)?, Metric::Euclidean)?;
//! let found = index.kneighbors(&RowMatrix::row_major(&[0.0, 0.0], 2)?, 2)?;
//! assert_eq!(found.rows(0), [0, 2]);
//! assert_eq!(found.distances(0), [0.0, 1.0]);
//! # Ok::<(), ermine_core::Error>(())
//! ```

mod aligned;
mod apart;
mod box_tree;
pub mod choice;
pub mod codes;
pub mod condense;
mod graph;
pub mod index;
mod lanes;
pub mod leave_one_out;
mod measured;
pub mod nearest;
mod norm;
mod packed;
mod row_sets;
mod scan;
pub mod sparse;
pub mod strings;
pub mod vantage;
pub mod vote;
pub mod weight;

#[cfg(test)]
mod tests;
