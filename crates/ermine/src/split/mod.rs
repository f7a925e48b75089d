//! The one room where splits are found. Stumps, trees, forests and boosting all ask here.
//!
//! | file | what it holds |
//! |---|---|
//! | [`test`](mod@test) | the question that a split asks of a row |
//! | [`criterion`] | what is added up over the rows of a node, and what a split costs |
//! | [`exact`] | the best threshold of a sorted column, and the best of all columns |
//! | [`bucket`] | the best threshold of many columns of a large table, without sorting them |
//! | [`nominal`] | the split of a nominal column with a branch for each category |

pub mod bucket;
pub mod criterion;
pub mod exact;
pub mod nominal;
pub mod test;

pub use criterion::{Criterion, Impurity};
pub use exact::{Candidate, Split, best_split};
pub use test::Test;
