//! The one room where splits are found. Stumps, trees, forests and boosting all ask here.
//!
//! | file | what it holds |
//! |---|---|
//! | [`test`](mod@test) | the question that a split asks of a row |
//! | [`cells`] | what is added up in each bin of a column, and how good a split between bins is |
//! | [`class_counts`] | a count for each class in a bin |
//! | [`target_sums`] | sums of targets and weights in a bin |
//! | [`criterion`] | what is added up over the rows of a node, and what a split costs |
//! | [`exact`] | the best threshold of a sorted column, and the best of all columns |
//! | [`histogram`] | the best split from sums by bin, for gradient boosting |
//! | [`bucket`] | the best threshold of many columns of a large table, without sorting them |
//! | [`few`] | the best cuts of all columns of a few rows at once |
//! | [`impurity`] | Gini, entropy and training error |
//! | [`masks`] | splits of at most 64 rows, as sets of rows in one word |
//! | [`left_sums`] | what is left of one cut for each of some columns |
//! | [`ranges`] | the range of the bins of some columns over many lines |
//! | [`nominal`] | the split of a nominal column with a branch for each category |
//! | [`node`] | what growing a tree asks of a criterion; the plain sweep over the thresholds of a node |
//! | [`two_classes`] | two classes that all count the same, swept in blocks with bounds |
//! | `blocks` | the labels of 64 entries as the bits of a word |
//! | [`classes`] | any number of classes, with weights |
//! | [`variance`] | the squared error of one number, swept several columns at a time |
//! | [`numbers`] | several numbers at once; Poisson deviance |
//! | [`absolute`] | the absolute error around medians |
//! | [`bipartition`] | the best way to cut categories in two |
//! | [`reweighted`] | the exact best question again and again, while row weights change |

pub mod absolute;
pub mod bipartition;
mod blocks;
pub mod bucket;
pub mod cells;
pub mod class_counts;
pub mod classes;
pub mod criterion;
pub mod exact;
pub mod few;
pub mod histogram;
pub mod impurity;
pub mod left_sums;
pub mod masks;
pub mod node;
pub mod nominal;
pub mod numbers;
pub mod ranges;
pub mod reweighted;
pub mod target_sums;
pub mod test;
pub mod two_classes;
pub mod variance;

pub use criterion::Criterion;
pub use exact::{Candidate, Split, best_split};
pub use impurity::Impurity;
pub use test::Test;
