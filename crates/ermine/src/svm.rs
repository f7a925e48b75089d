//! Support vector machines.
//!
//! A kernel of your own goes through [`kernel_features`], which computes the kernel values of items of any type:
//!
//! ```
//! use ermine::prelude::*;
//! use ermine::data::Target;
//! use ermine::svm::{KernelName, kernel_features, string_kernel};
//!
//! let texts = ["banana", "ananas", "cabana", "kiwi", "wiki", "kiwis"];
//! let kernel = |s: &&str, t: &&str| string_kernel::normalized(|s, t| string_kernel::subsequence(s, t, 2, 0.5), s, t);
//! let labels = ["long".to_string(), "short".to_string()].into_iter().collect();
//! let target = Target::Classes { codes: vec![0, 0, 0, 1, 1, 1], labels };
//! let data = Dataset::from_parts(kernel_features(&texts, &texts, kernel)?, target, Task::Classification)?;
//! let model = Svc { kernel: KernelName::Precomputed, ..Default::default() }.fit(&data)?;
//! let new = kernel_features(&["panama"], &texts, kernel)?;
//! assert_eq!(model.predict_columns(new.columns().to_vec(), None)?.label(0), Some("long"));
//! # Ok::<(), Error>(())
//! ```

/// Support vector classifier with a kernel.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
/// let model = Svc { C: 10.0, ..Default::default() }.fit(&train)?;
/// println!("{}", model.evaluate(&test)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_linear::learner::svm::svc::Svc;

/// Support vector regression with a kernel.
///
/// ```
/// use ermine::prelude::*;
///
/// let rows: Vec<[f64; 2]> = (0..100).map(|i| [f64::from(i), f64::from(i % 7)]).collect();
/// let y: Vec<f64> = rows.iter().map(|[a, b]| 3.0 * a - 2.0 * b + 1.0).collect();
/// let data = Dataset::from_rows(&rows, &y)?;
/// let model = Svr::default().fit(&data)?;
/// println!("{}", model.text());
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_linear::learner::svm::svr::Svr;

/// Linear support vector classifier.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
/// let model = LinearSvc::default().fit(&train)?;
/// println!("{}", model.evaluate(&test)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_linear::learner::svm::linear::LinearSvc;

/// Linear support vector regression.
///
/// ```
/// use ermine::prelude::*;
///
/// let rows: Vec<[f64; 2]> = (0..100).map(|i| [f64::from(i), f64::from(i % 7)]).collect();
/// let y: Vec<f64> = rows.iter().map(|[a, b]| 3.0 * a - 2.0 * b + 1.0).collect();
/// let data = Dataset::from_rows(&rows, &y)?;
/// let model = LinearSvr::default().fit(&data)?;
/// println!("{}", model.text());
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_linear::learner::svm::linear::LinearSvr;

/// One-class support vector machine, for novelty detection.
///
/// ```
/// use ermine::prelude::*;
///
/// let rows: Vec<[f64; 2]> = (0..100).map(|i| [f64::from(i), f64::from(i % 7)]).collect();
/// let y: Vec<f64> = rows.iter().map(|[a, b]| 3.0 * a - 2.0 * b + 1.0).collect();
/// let data = Dataset::from_rows(&rows, &y)?;
/// let model = OneClassSvm::default().fit(&data)?;
/// println!("{}", model.text());
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_linear::learner::svm::one_class::OneClassSvm;

#[doc(inline)]
pub use ermine_core::learner::parameters::ClassWeight;

#[doc(inline)]
pub use ermine_linear::kernel::string as string_kernel;

#[doc(inline)]
pub use ermine_linear::learner::svm::linear::{DualMode, HingeName, NormName, TubeName};

#[doc(inline)]
pub use ermine_linear::learner::svm::custom_kernel::features as kernel_features;

#[doc(inline)]
pub use ermine_linear::learner::svm::parameters::{KernelGamma, KernelName};

#[doc(inline)]
pub use ermine_linear::learner::svm::svc::DecisionShape;
