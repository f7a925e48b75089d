//! Split search: criteria, and drivers that find the best split of a node.
//!
//! | file | contents |
//! |---|---|
//! | [`test`](mod@test) | the test of a node |
//! | [`impurity`] | Gini impurity, entropy and error rate |
//! | **CART** | |
//! | [`node`] | the criterion trait of CART, and the sweep over sorted rows |
//! | [`two_classes`] | two classes without weights, swept in blocks with bounds |
//! | `label_blocks` | the labels of 64 rows as the bits of a word |
//! | [`class_weights`] | any number of classes, with weights |
//! | [`squared_error`] | the squared error of one target, swept several columns at a time |
//! | [`multi_output`] | several targets; Poisson deviance |
//! | [`absolute_error`] | the absolute error around medians |
//! | [`bipartition`] | the best bipartition of categories |
//! | **Forests** | |
//! | [`bin_statistics`] | the statistics trait of histogram bins; two classes or one target in a 64-bit word |
//! | [`class_counts`] | one count per class |
//! | [`target_sums`] | sums of weights and targets |
//! | [`row_masks`] | nodes of at most 64 rows, as bit masks |
//! | [`column_lanes`] | small nodes, all columns at once |
//! | [`left_sums`], [`bin_ranges`] | one random cut per column |
//! | **Stumps** | |
//! | [`additive`] | criteria that follow from sums over rows |
//! | [`exact`] | the best threshold of a sorted column, and the best split of all columns |
//! | [`buckets`] | the best threshold of many columns of a large table, without sorting |
//! | [`nominal`] | one branch per category |
//! | [`reweighted_stumps`] | the best stump again and again while row weights change, for AdaBoost |
//! | **Gradient boosting** | |
//! | [`histogram`] | the best split from gradient histograms |

pub mod absolute_error;
pub mod additive;
pub mod bin_ranges;
pub mod bin_statistics;
pub mod bipartition;
pub mod buckets;
pub mod class_counts;
pub mod class_weights;
pub mod column_lanes;
pub mod exact;
pub mod histogram;
pub mod impurity;
mod label_blocks;
pub mod left_sums;
pub mod multi_output;
pub mod node;
pub mod nominal;
pub mod reweighted_stumps;
pub mod row_masks;
pub mod squared_error;
pub mod target_sums;
pub mod test;
pub mod two_classes;

pub use additive::AdditiveCriterion;
pub use exact::{SplitCandidate, StumpSplit, best_split};
pub use impurity::Impurity;
pub use test::Test;
