//! Ensembles: gradient boosting, forests, AdaBoost and bagging.

/// Gradient boosting of decision trees for classification, regression and ranking.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
/// let model = GradientBoosting { n_estimators: 50, learning_rate: 0.2, ..Default::default() }.fit(&train)?;
/// println!("{}", model.evaluate(&test)?);
/// # Ok::<(), Error>(())
/// ```
///
/// A [`Context`](crate::learner::Context) continues from a model, or brings a validation set, a custom objective or metric, or checkpoints:
///
/// ```
/// use ermine::prelude::*;
///
/// let x: Vec<f64> = (0..200).map(f64::from).collect();
/// let y: Vec<f64> = x.iter().map(|x| (x / 20.0).sin()).collect();
/// let data = Dataset::from_columns(vec![Column::numeric("x", x)], &y)?;
/// let first = GradientBoosting { n_estimators: 10, ..Default::default() }.fit(&data)?;
/// // `n_estimators` includes the rounds of the first model.
/// let params = GradientBoosting { n_estimators: 30, ..Default::default() };
/// let continued = params.fit_with(&data, &Context { init_model: Some(&first), ..ermine::context() })?;
/// assert_eq!(continued.predict_data(&data)?, params.fit(&data)?.predict_data(&data)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_trees::learner::gradient_boosting::GradientBoosting;

/// Random forest for classification and regression.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
/// let model = RandomForest { n_estimators: 50, ..Default::default() }.fit(&train)?;
/// println!("{}", model.evaluate(&test)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_trees::learner::forest::RandomForest;

/// Extremely randomized trees for classification and regression.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
/// let model = ExtraTrees { n_estimators: 50, ..Default::default() }.fit(&train)?;
/// println!("{}", model.evaluate(&test)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_trees::learner::forest::ExtraTrees;

/// Forest of [comparison trees](crate::tree::ComparisonTree).
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
/// let model = ComparisonForest { n_estimators: 20, ..Default::default() }.fit(&train)?;
/// println!("{}", model.evaluate(&test)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_trees::learner::comparison_forest::ComparisonForest;

/// AdaBoost over any learner; by default over decision stumps.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
/// let model = AdaBoost { n_estimators: 30, ..Default::default() }.fit(&train)?;
/// println!("{}", model.evaluate(&test)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use crate::reduction::adaboost::AdaBoost;

/// Bagging: the mean or vote of one learner trained on bootstrap samples.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
/// let model = Bagging { estimator: Estimator::named("decision-tree"), n_estimators: 10, ..Default::default() }.fit(&train)?;
/// println!("{}", model.evaluate(&test)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use crate::reduction::bagging::Bagging;

/// Stacking: a learner on top of the out-of-fold predictions of other learners.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::ensemble::EstimatorList;
/// use ermine::prelude::*;
///
/// let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
/// let estimators = EstimatorList::named(&["decision-tree", "nearest-neighbors"]);
/// let model = Stacking { estimators, ..Default::default() }.fit(&train)?;
/// println!("{}", model.evaluate(&test)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use crate::reduction::stacking::Stacking;

/// Voting: the weighted mean, or the majority, of different learners.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::ensemble::EstimatorList;
/// use ermine::prelude::*;
///
/// let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
/// let estimators = EstimatorList::named(&["decision-tree", "nearest-neighbors"]);
/// let model = Voting { estimators, weights: vec![2.0, 1.0], ..Default::default() }.fit(&train)?;
/// println!("{}", model.evaluate(&test)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use crate::reduction::voting::Voting;

#[doc(inline)]
pub use crate::reduction::stacking::StackMethod;

#[doc(inline)]
pub use crate::reduction::voting::VotingMethod;

#[doc(inline)]
pub use ermine_core::learner::estimator::EstimatorList;

#[doc(inline)]
pub use crate::reduction::adaboost::{AdaBoostAlgorithm, RegressionLoss};

#[doc(inline)]
pub use ermine_core::learner::parameters::{ClassWeight, CountOrFraction};

#[doc(inline)]
pub use ermine_core::learner::{Checkpoint, MakeObjective, Objective, ValidationMetric};

#[doc(inline)]
pub use ermine_trees::learner::forest::{ForestClassWeight, ForestMaxFeatures, ForestMethod};

#[doc(inline)]
pub use ermine_trees::learner::gradient_boosting::{
    BoostingLoss, EvalMetric, GrowPolicy, InteractionConstraints, MonotoneConstraints, SamplingMethod, TreeMethod,
};
