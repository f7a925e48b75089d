//! Nearest neighbors for classification and regression.
//!
//! A distance of your own replaces `metric`:
//!
//! ```
//! use ermine::prelude::*;
//!
//! let hours = vec![Column::numeric("hour", vec![23.0, 1.0, 11.0, 13.0])];
//! let data = Dataset::from_columns(hours, &["night", "night", "day", "day"])?;
//! let around_the_clock = |a: &[f64], b: &[f64]| {
//!     let hours = (a[0] - b[0]).abs();
//!     hours.min(24.0 - hours)
//! };
//! let learner = NearestNeighbors { n_neighbors: 2, ..Default::default() }.with_metric(around_the_clock, true);
//! let model = learner.fit(&data)?;
//! let midnight = Table::new(vec![Column::numeric("hour", vec![0.0])])?;
//! assert_eq!(model.predict(&midnight)?.label(0), Some("night"));
//! # Ok::<(), Error>(())
//! ```

/// k nearest neighbors, with exact and approximate indexes and many metrics.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
/// let model = NearestNeighbors { n_neighbors: 7, ..Default::default() }.fit(&train)?;
/// println!("{}", model.evaluate(&test)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_neighbors::learner::nearest_neighbors::NearestNeighbors;

/// [`NearestNeighbors`] with a distance or with weights of your own, see [`NearestNeighbors::with_metric`].
#[doc(inline)]
pub use ermine_neighbors::learner::nearest_neighbors::NearestNeighborsOf;

/// A fitted nearest-neighbor model: the neighbors themselves, and adding rows.
#[doc(inline)]
pub use ermine_neighbors::learner::nearest_neighbors::NeighborModel;

#[doc(inline)]
pub use ermine_neighbors::learner::nearest_neighbors::{
    MetricName, PrototypeSelection, SearchAlgorithm, TieName, WeightName,
};
