//! The numeric data structures of learners, made from a [`Table`](crate::table::Table).
//!
//! | file | what it holds |
//! |---|---|
//! | [`features`] | [`Features`]: selected columns and rows, with cached views |
//! | [`dataset`] | [`Dataset`]: features with target, weights and query groups |
//! | [`arrays`] | a data set from vectors, slices and arrays |
//! | [`labels`] | multilabel targets |
//! | [`sorted`] | columns in ascending order of their values |
//! | [`binned`] | binned values |
//! | [`ranked`] | bins of equal count from the sorted order |
//! | [`encode`] | encoding of categories and missing values as numbers |
//! | [`design`] | the design matrix of linear methods |
//! | `order` | integers with the order of floating-point numbers |
//! | [`pages`] | memory in huge pages |
//! | [`polynomial`] | polynomial terms |
//! | [`sparse`] | the encoded matrix without zeros |
//! | [`splits`] | train/test splits and cross-validation folds |
//! | [`target_statistics`] | target encoding of nominal columns with many categories |
//! | [`schema`] | the columns that a model expects, and the conversion of new tables |
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
pub use design::{DesignOptions, FeatureMap, NumericFeatures};
pub use differences::TableDifferences;
pub use encode::{EncodeOptions, EncodedMatrix, Encoder, Encoding};
pub use features::Features;
pub use schema::{FeatureSpec, Schema};
pub use sorted::{Sorted, SortedColumn};
pub use sparse::SparseRows;
pub use splits::Splits;
pub use target_statistics::TargetStatistics;
