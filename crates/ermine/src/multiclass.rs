//! Multiclass classification by binary classifiers.

/// One classifier per class, against the rest.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
/// let model = OneVsRest { estimator: Estimator::named("decision-stump") }.fit(&train)?;
/// println!("{}", model.evaluate(&test)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use crate::reduction::multiclass::OneVsRest;

/// One classifier per pair of classes.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
/// let model = OneVsOne { estimator: Estimator::named("decision-stump"), ..Default::default() }.fit(&train)?;
/// println!("{}", model.evaluate(&test)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use crate::reduction::multiclass::OneVsOne;

/// Error-correcting output codes.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
/// let model = OutputCode { estimator: Estimator::named("decision-tree"), ..Default::default() }.fit(&train)?;
/// println!("{}", model.evaluate(&test)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use crate::reduction::multiclass::OutputCode;

#[doc(inline)]
pub use crate::reduction::multiclass::PairwiseVote;
