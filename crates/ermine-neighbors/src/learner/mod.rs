//! The learner of this family.

pub mod nearest_neighbors;

use ermine_core::learner::{
    Capabilities, Context, Family, Learner, LearnerInfo, PathLearner, SplitPredictions, Trained,
};
use ermine_core::registry::RegistryEntry;

/// The learners over nearest neighbors.
pub const LEARNERS: &[RegistryEntry] = &[RegistryEntry {
    make: || Box::new(nearest_neighbors::NearestNeighbors::default()),
    load: nearest_neighbors::NeighborModel::load,
}];
