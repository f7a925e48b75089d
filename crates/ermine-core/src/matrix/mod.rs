//! A [`Table`](crate::table::Table) becomes what learners compute on.
//!
//! | file | what it holds |
//! |---|---|
//! | [`features`] | [`Features`]: which columns and which rows; the views of them, made once and shared |
//! | [`dataset`] | [`Dataset`]: features with target, weights and query groups |
//! | [`arrays`] | a data set from vectors, slices and arrays |
//! | [`labels`] | a target of labels, from columns of zeros and ones or from one column of names |
//! | [`sorted`] | every column in ascending order of its values |
//! | [`binned`] | every value as the number of its bin |
//! | [`ranked`] | bins of equal count, straight from the sorted order |
//! | [`encode`] | categories and missing values turned into numbers; the encoding is part of the model |
//! | [`design`] | all features as numbers for linear methods, without a copy where they are numbers already |
//! | `order` | whole numbers in the order of floating-point numbers |
//! | [`pages`] | memory in large pages, for rows that are read out of order |
//! | [`polynomial`] | products of columns up to a degree |
//! | [`sparse`] | the encoded matrix with its zeros left out |
//! | [`splits`] | ways to cut rows into those to learn from and those to test on |
//! | [`target_statistics`] | nominal columns of many categories as the mean target of each |
//! | [`schema`] | what columns a model expects, and how a new table is brought into that form |
//! | [`differences`] | how a new table differs from the training data |

pub mod arrays;
pub mod binned;
pub mod dataset;
pub mod design;
pub mod differences;
pub mod encode;
pub mod features;
pub mod labels;
pub mod order;
pub mod pages;
pub mod polynomial;
pub mod ranked;
pub mod schema;
pub mod sorted;
pub mod sparse;
pub mod splits;
pub mod target_statistics;

pub use arrays::TargetValue;
pub use binned::{Binned, Bins};
pub use dataset::{Dataset, Roles, Target, Task};
pub use design::{DesignOptions, FeatureMap, Numbers};
pub use differences::TableDifferences;
pub use encode::{Dense, EncodeOptions, Encoder, Encoding};
pub use features::Features;
pub use schema::{FeatureSpec, Schema};
pub use sorted::{Sorted, SortedColumn};
pub use sparse::SparseRows;
pub use splits::Splits;
pub use target_statistics::TargetStatistics;
