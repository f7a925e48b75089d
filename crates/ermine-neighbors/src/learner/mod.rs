//! The learner of this family.

pub mod nearest_neighbors;

use ermine_core::learner::{Capabilities, Context, Family, Info, Learner, Path, SplitPredictions, Trained};
use ermine_core::registry::Entry;

/// The learners over nearest neighbors.
pub const LEARNERS: &[Entry] = &[Entry {
    make: || Box::new(nearest_neighbors::NearestNeighbors::default()),
    load: nearest_neighbors::NeighborModel::load,
}];
