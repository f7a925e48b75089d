//! Ermine
pub mod error;
pub mod param;
pub mod progress;
pub mod rng;
pub mod table;
pub use error::{Error, Result};
