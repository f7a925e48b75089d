//! Explanation of models: feature importances, SHAP values and partial dependence.

/// How much worse a model becomes when the values of a feature are shuffled.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::explain::permutation_importances;
/// use ermine::learner::Silent;
/// use ermine::prelude::*;
///
/// let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
/// let model = RandomForest { n_estimators: 50, ..Default::default() }.fit(&train)?;
/// for importance in permutation_importances(&model, &test, Measure::Accuracy, 5, 0, &Silent)? {
///     println!("{:<20} {:.3}", importance.feature, importance.loss);
/// }
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_eval::explain::permutation::permutation_importances;

/// The mean prediction as a function of one feature.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::explain::partial_dependence;
/// use ermine::prelude::*;
///
/// let data = Table::read("penguins.csv")?.dataset("species")?;
/// let model = RandomForest { n_estimators: 50, ..Default::default() }.fit(&data)?;
/// let dependence = partial_dependence(&model, &data, "bill_length_mm", 5, 0)?;
/// for (value, means) in dependence.values.iter().zip(&dependence.means) {
///     println!("{value:.1}: {means:.2?}");
/// }
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_eval::explain::dependence::partial_dependence;

/// SHAP values: how much each feature adds to a prediction. Made by [`Model::shap_values`](crate::model::Model::shap_values).
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let table = Table::read("penguins.csv")?;
/// let model = GradientBoosting { n_estimators: 20, ..Default::default() }.fit(&table.clone().dataset("species")?)?;
/// let shap = model.shap_values(&table)?;
/// for (feature, importance) in model.schema().features.iter().zip(shap.importances()) {
///     println!("{:<20} {importance:.3}", feature.name);
/// }
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_core::model::ShapValues;

#[doc(inline)]
pub use ermine_core::model::ImportanceKind;

#[doc(inline)]
pub use ermine_eval::explain::{dependence::Dependence, permutation::Importance};
