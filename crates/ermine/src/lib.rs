#![doc = include_str!("tour.md")]

#[cfg(feature = "trees")]
pub mod auto;
pub mod baseline;
pub mod calibration;
pub mod data;
#[cfg(feature = "trees")]
pub mod ensemble;
#[cfg(feature = "trees")]
pub mod exchange;
pub mod explain;
pub mod learner;
#[cfg(feature = "linear")]
pub mod linear_model;
pub mod metrics;
pub mod model;
pub mod model_selection;
pub mod multiclass;
pub mod multioutput;
#[cfg(feature = "neighbors")]
pub mod neighbors;
pub mod prelude;
#[cfg(feature = "linear")]
pub mod ranking;
#[doc(hidden)]
pub mod reduction;
pub mod registry;
pub mod report;
#[cfg(feature = "linear")]
pub mod svm;
#[cfg(feature = "trees")]
pub mod tree;

#[doc(inline)]
pub use ermine_core::error::{Error, Result, TableLocation};
#[cfg(feature = "trees")]
#[doc(inline)]
pub use exchange::{export, import};

use ermine_core::learner::{Context, Learner};
use ermine_core::matrix::Dataset;
use ermine_core::model::Model;
use std::path::Path;

/// The default options of a fit: random seed 0, all cores, no progress reports, all learners of the enabled features.
///
/// ```
/// use ermine::prelude::*;
///
/// let data = Dataset::from_rows(&[[1.0], [2.0], [3.0], [4.0]], &["a", "a", "b", "b"])?;
/// let context = Context { seed: 7, threads: Some(2), ..ermine::context() };
/// let model = ExtraTrees { n_estimators: 10, ..Default::default() }.fit_with(&data, &context)?;
/// println!("{}", model.evaluate(&data)?);
/// # Ok::<(), Error>(())
/// ```
pub fn context() -> Context<'static> {
    Context::new(registry::REGISTRY)
}

/// Training, for every [`Learner`]: also for `dyn Learner` and `Box<dyn Learner>`.
///
/// ```
/// use ermine::prelude::*;
///
/// let data = Dataset::from_rows(&[[1.0], [2.0], [3.0], [4.0]], &["a", "a", "b", "b"])?;
/// let model = DecisionTree { max_depth: Some(2), ..Default::default() }.fit(&data)?;
/// println!("{}", model.text());
///
/// let learner: Box<dyn Learner> = ermine::registry::learner("gradient-boosting")?;
/// println!("{}", learner.fit(&data)?.certificate());
/// # Ok::<(), Error>(())
/// ```
pub trait Fit: Learner {
    /// Trains a model with the default [`context`]: random seed 0, all cores.
    fn fit(&self, data: &Dataset) -> Result<Model> {
        self.fit_with(data, &context())
    }

    /// Trains a model with this random seed, number of threads, observer and warm start.
    fn fit_with(&self, data: &Dataset, context: &Context<'_>) -> Result<Model>;
}

impl<L: Learner> Fit for L {
    fn fit_with(&self, data: &Dataset, context: &Context<'_>) -> Result<Model> {
        ermine_core::learner::fit(self, data, context)
    }
}

impl Fit for dyn Learner + '_ {
    fn fit_with(&self, data: &Dataset, context: &Context<'_>) -> Result<Model> {
        ermine_core::learner::fit(self, data, context)
    }
}

/// Reads a model file. It is checked: a damaged file is an error, and no code in it is run.
///
/// ```
/// use ermine::prelude::*;
///
/// let data = Dataset::from_rows(&[[1.0], [2.0], [3.0], [4.0]], &[1.0, 2.0, 3.0, 4.0])?;
/// let path = std::env::temp_dir().join(format!("line-{}.ermine", std::process::id()));
/// LinearRegression::default().fit(&data)?.save(&path)?;
/// let model = ermine::load(&path)?;
/// println!("{}", model.text());
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), Error>(())
/// ```
pub fn load(path: impl AsRef<Path>) -> Result<Model> {
    registry::REGISTRY.load_model(path)
}

/// Reads a model from the bytes of a model file.
///
/// ```
/// use ermine::prelude::*;
///
/// let data = Dataset::from_rows(&[[1.0], [2.0], [3.0], [4.0]], &[1.0, 2.0, 3.0, 4.0])?;
/// let bytes = LinearRegression::default().fit(&data)?.to_bytes()?;
/// println!("{} bytes: {}", bytes.len(), ermine::load_bytes(&bytes)?.text());
/// # Ok::<(), Error>(())
/// ```
pub fn load_bytes(bytes: &[u8]) -> Result<Model> {
    registry::REGISTRY.model_from_bytes(bytes)
}
