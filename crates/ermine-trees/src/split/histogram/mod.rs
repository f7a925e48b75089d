//! Histogram-based split search for gradient boosting.
//!
//! | file | what it holds |
//! |---|---|
//! | [`store`] | bin codes of all rows, row-major and column-major |
//! | [`quantize`] | gradients and curvatures as integers |
//! | [`accumulate`] | accumulates histograms |
//! | [`leaf_penalty`] | optimal leaf weights and gains |
//! | [`scan`] | the best threshold of a column |
//! | [`sweep`](mod@sweep) | the vectorized scan of a histogram |
//! | [`level`] | gains of thresholds summed over the nodes of a level |
//! | [`categories`] | the best subset of categories of a nominal column |
//!
//! **Idea.** The gain of a split depends on the rows only through the sums of gradients and curvatures per bin. These sums are integers, so they don't depend on the order of the rows or the
//! number of threads, and the histogram of one child is exactly that of the parent minus that of the other.

pub mod accumulate;
pub mod categories;
pub mod leaf_penalty;
pub mod level;
pub mod quantize;
pub mod scan;
pub mod store;
pub mod sweep;

pub use leaf_penalty::LeafPenalty;
pub use quantize::GradientScale;
pub use scan::{BinSplit, NodeTotals, SplitRules};
pub use store::BinStore;
