//! Metrics: what is measured, scores with confidence intervals, and the functions behind them.

/// A built-in metric.
///
/// ```
/// use ermine::prelude::*;
///
/// let measure = Measure::parse("roc-auc")?;
/// println!("{}: {}", measure.title(), measure.explanation());
/// assert!(measure.higher_is_better() && measure.measures(Task::Classification));
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_core::measure::Measure;

/// A metric of your own, for cross-validation and evaluation.
///
/// ```
/// use ermine::prelude::*;
///
/// let rows: Vec<[f64; 1]> = (0..60).map(|i| [f64::from(i)]).collect();
/// let y: Vec<f64> = rows.iter().map(|[x]| 2.0 * x + (x * 0.7).sin()).collect();
/// let data = Dataset::from_rows(&rows, &y)?;
///
/// // Predicting too little costs three times as much as predicting too much.
/// let cost = CustomMetric::of_values("cost", false, |predicted, truth, _weights| {
///     let costs = predicted.iter().zip(truth).map(|(p, y)| if p < y { 3.0 * (y - p) } else { p - y });
///     costs.sum::<f64>() / truth.len() as f64
/// });
/// let splits = Splits::k_fold(&data, 5, 0)?;
/// let metrics = [cost];
/// let validation = Validation::new(&splits, &[Measure::Mae]).with_custom(&metrics);
/// println!("{}", cross_validate(&LinearRegression::default(), &data, &validation, &ermine::context())?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_eval::evaluate::CustomMetric;

/// Evaluation of a model on a test set.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
/// let model = DecisionTree::default().fit(&train)?;
/// let evaluation = model.evaluate(&test)?;
/// println!("{evaluation}");
/// let accuracy = evaluation.score("accuracy").unwrap();
/// println!("{:.3}, 95% interval from {:.3} to {:.3}", accuracy.value, accuracy.low, accuracy.high);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_eval::evaluate::Evaluate;

#[doc(inline)]
pub use ermine_core::measure::{measures, outcome::ClassScore};

#[doc(inline)]
pub use ermine_core::metric::{Score, Weights};

#[doc(inline)]
pub use ermine_core::metric::confusion::{Average, Confusion, Rates};

#[doc(inline)]
pub use ermine_core::metric::probability::{Bin, calibration as calibration_curve, calibration_error};

#[doc(inline)]
pub use ermine_core::metric::ranking::{Gain, average_precision, kendall_tau, ndcg, omega_loss, reciprocal_rank};

#[doc(inline)]
pub use ermine_core::metric::regression::{median_absolute_error, mse, r2, rmse};

#[doc(inline)]
pub use ermine_core::metric::threshold::{Ranked, ThresholdPoint};

#[doc(inline)]
pub use ermine_eval::evaluate::quantiles::{QuantileScore, Quantiles};

#[doc(inline)]
pub use ermine_eval::evaluate::{Evaluation, NamedScore};
