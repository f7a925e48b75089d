//! Calibration of probabilities.

/// Calibrates the probabilities of any classifier by cross-validation.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
/// let model = Calibrated { estimator: Estimator::named("decision-tree"), ..Default::default() }.fit(&train)?;
/// println!("{}", model.evaluate(&test)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use crate::reduction::calibration::Calibrated;

#[doc(inline)]
pub use crate::reduction::calibration::CalibrationMethod;
