//! Fitted models: prediction, certificates, model files.

/// A fitted model.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let penguins = Table::read("penguins.csv")?;
/// let model = DecisionTree { max_depth: Some(2), ..Default::default() }.fit(&penguins.clone().dataset("species")?)?;
/// println!("{}", model.text());
/// println!("{}", model.certificate());
/// println!("{:?}", model.predict(&penguins)?.label(0));
/// let copy = ermine::load_bytes(&model.to_bytes()?)?;
/// assert_eq!(copy.predict(&penguins)?, model.predict(&penguins)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_core::model::Model;

/// Predictions for the rows of a table.
///
/// ```
/// use ermine::prelude::*;
///
/// let data = Dataset::from_rows(&[[1.0], [2.0], [8.0], [9.0]], &["low", "low", "high", "high"])?;
/// let model = DecisionTree::default().fit(&data)?;
/// let prediction = model.predict_data(&data)?;
/// assert_eq!(prediction.label(3), Some("high"));
/// println!("{:?} of {:?}", prediction.probabilities(3), prediction.classes());
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_core::model::Prediction;

/// Predicts one row at a time, with little overhead. For every model whose predictions do not depend on other rows.
///
/// ```
/// use ermine::prelude::*;
///
/// let rows: Vec<[f64; 2]> = (0..50).map(|i| [f64::from(i), f64::from(i % 7)]).collect();
/// let y: Vec<f64> = rows.iter().map(|[a, b]| a * b).collect();
/// let model = GradientBoosting::default().fit(&Dataset::from_rows(&rows, &y)?)?;
/// let predictor = model.predictor()?;
/// let mut out = [0.0];
/// predictor.predict(&[3.0, f64::NAN], &mut out)?;
/// println!("{}", out[0]);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_core::model::Predictor;

/// What a fit minimized, the value reached, and what is proven about it.
///
/// ```
/// use ermine::prelude::*;
///
/// let data = Dataset::from_rows(&[[1.0], [2.0], [3.0], [4.0]], &[1.1, 1.9, 3.2, 3.8])?;
/// let model = Ridge::default().fit(&data)?;
/// let certificate = model.certificate();
/// println!("{} = {:?}", certificate.objective, certificate.value);
/// println!("{certificate}");
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_core::model::Certificate;

#[doc(inline)]
pub use ermine_core::model::{Attribute, AttributeKind, Header, Output, Proof, Stages, Status};
