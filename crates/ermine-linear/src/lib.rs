//! Linear models.

pub mod kernel;
pub mod learner;
pub mod optim;
pub mod penalty;
