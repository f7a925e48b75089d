//! Splits from histograms: what gradient boosting computes on.
//!
//! | file | what it holds |
//! |---|---|
//! | [`store`] | the bins of all rows, row by row and column by column |
//! | [`quantise`] | gradient and curvature of a row as one whole number |
//! | [`accumulate`] | adds rows up by bin |
//! | [`regularised`] | what a leaf is worth: weight, structure score, gain |
//! | [`scan`] | the best threshold of a histogram |
//! | [`sweep`](mod@sweep) | the sweep over a histogram in wide registers |
//! | [`level`] | the gains of all thresholds of a column, added over the nodes of a level |
//! | [`categories`] | the best subset of the categories of a nominal column |
//!
//! **Idea.** The gain of a split depends on the rows only through the sums of their gradients and curvatures by bin. Those sums are whole numbers
//! here: they don't depend on the order of rows or on the number of threads, and the histogram of one child is that of the parent less that of the other,
//! exactly.

pub mod accumulate;
pub mod categories;
pub mod level;
pub mod quantise;
pub mod regularised;
pub mod scan;
pub mod store;
pub mod sweep;

pub use quantise::Scale;
pub use regularised::Regularised;
pub use scan::{BinSplit, Node, Rule};
pub use store::Store;
