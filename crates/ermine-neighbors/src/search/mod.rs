//! Metrics and nearest-neighbor indexes: who is near, found exactly, and what the near ones say.
//!
//! | file | what it holds |
//! |---|---|
//! | `measured` | kept rows as the metric measures them |
//! | [`index`](mod@index), [`choice`] | an index over rows: built, asked, grown, saved; which kind, and why |
//! | `apart` | the nearest rows in other folds, for cross-validation |
//! | `box_tree`, [`vantage`], `scan` | the three exact kinds: boxes sixteen at a time, the triangle inequality, everything in order |
//! | `row_sets`, `packed` | which rows a leaf holds, in few bits; numbers in few bits |
//! | `graph` | the approximate kind: links between near rows |
//! | [`codes`], [`strings`], [`sparse`] | indexes over binary codes, over strings and over sparse rows |
//! | [`nearest`] | what a search finds |
//! | [`weight`], [`vote`] | how much each neighbor counts; classes, probabilities and means; ties |
//! | [`leave_one_out`], [`condense`] | the error of every k at once; fewer rows that say the same |
//!
//! **Exact, and the same everywhere.** Neighbors are ordered by (distance, row number). Fast kernels only filter, with a proven margin; whatever might be among the neighbors is measured by
//! the one distance function in double precision. So every kind of index, on every machine and any number of threads, finds the same rows with the same bits of distance.
//!
//! ```
//! use ermine_core::distance::metric::Metric;
//! use ermine_core::distance::rows::Rows;
//! use ermine_neighbors::search::index::Index;
//!
//! let points = [0.0, 0.0, 3.0, 4.0, 1.0, 0.0];
//! let index = Index::build(&Rows::row_major(&points, 2)?, Metric::Euclidean)?;
//! let found = index.kneighbors(&Rows::row_major(&[0.0, 0.0], 2)?, 2)?;
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
