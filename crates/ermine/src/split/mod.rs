//! The one room where splits are found. Stumps, trees, forests and boosting all ask here.
//!
//! | file | what it holds |
//! |---|---|
//! | [`test`](mod@test) | the question that a split asks of a row |
//! | [`cells`] | what is added up in each bin of a column, and how good a split between bins is |
//! | [`criterion`] | what is added up over the rows of a node, and what a split costs |
//! | [`exact`] | the best threshold of a sorted column, and the best of all columns |
//! | [`few`] | the best cuts of all columns of a few rows at once |
//! | [`nominal`] | the split of a nominal column with a branch for each category |
//! | [`reweighted`] | the exact best question again and again, while row weights change |

pub mod cells;
pub mod criterion;
pub mod exact;
pub mod few;
pub mod nominal;
pub mod reweighted;
pub mod test;

pub use criterion::{Criterion, Impurity};
pub use exact::{Candidate, Split, best_split, threshold_costs};
pub use test::Test;
