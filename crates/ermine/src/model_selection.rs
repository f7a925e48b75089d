//! Cross-validation, comparison of learners, hyperparameter search and learning curves.

/// Splits of the rows into training and test parts: k folds, repeated, grouped, by time, leave-one-out or given.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let data = Table::read("penguins.csv")?.dataset("species")?;
/// let splits = Splits::repeated(&data, 5, 3, 0)?;
/// let (train, test) = splits.split(0);
/// println!("{} splits; the first has {} training and {} test rows", splits.len(), train.len(), test.len());
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_core::matrix::Splits;

/// Cross-validates a learner.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let data = Table::read("penguins.csv")?.dataset("species")?;
/// let splits = Splits::k_fold(&data, 5, 0)?;
/// let validation = Validation::new(&splits, &[Measure::Accuracy, Measure::LogLoss]);
/// let result = cross_validate(&DecisionTree::default(), &data, &validation, &ermine::context())?;
/// println!("{result}");
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_eval::evaluate::cross_validate;

/// What is measured in cross-validation, and on which splits.
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
pub use ermine_eval::evaluate::Validation;

/// Whether one learner is better than another: the corrected paired t-test over the scores of the same splits.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::model_selection::paired_test;
/// use ermine::prelude::*;
///
/// let data = Table::read("penguins.csv")?.dataset("species")?;
/// let splits = Splits::k_fold(&data, 5, 0)?;
/// let validation = Validation::new(&splits, &[Measure::Accuracy]);
/// let context = ermine::context();
/// let tree = cross_validate(&DecisionTree::default(), &data, &validation, &context)?;
/// let stump = cross_validate(&DecisionStump::default(), &data, &validation, &context)?;
/// let test = paired_test(&tree.scores[0].folds, &stump.scores[0].folds, &splits);
/// println!("difference {:.3}, p = {:.3}", test.difference, test.p_value);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_eval::evaluate::paired::paired_test;

/// Searches for the best parameters of a learner.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::model_selection::{SearchAxis, Journal, HyperparameterSearch, SearchSpace, Strategy, search};
/// use ermine::prelude::*;
///
/// let data = Table::read("penguins.csv")?.dataset("species")?;
/// let learner = DecisionTree::default();
/// let space = SearchSpace::new(vec![SearchAxis::parse(&learner, "max_depth", "1,2,4,8")?]);
/// let splits = Splits::k_fold(&data, 5, 0)?;
/// let strategy = Strategy::Grid { points: 4 };
/// let task = HyperparameterSearch { learner: &learner, space: &space, strategy, splits: &splits, measure: Measure::Accuracy, pool: true };
/// let found = search(&task, &data, &ermine::context(), &mut Journal::none())?;
/// for trial in &found.trials {
///     println!("{:?}: {:.3}", trial.setting, trial.mean());
/// }
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_eval::evaluate::search::search;

/// Compares learners: each is cross-validated with its defaults, then the best are tuned, within a budget of time.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::model_selection::{Comparison, compare, suitable_learners};
/// use ermine::prelude::*;
///
/// let data = Table::read("penguins.csv")?.dataset("species")?;
/// let splits = Splits::k_fold(&data, 5, 0)?;
/// let context = ermine::context();
/// # let some = vec![Box::new(DecisionTree::default()) as Box<dyn Learner>, Box::new(DecisionStump::default())];
/// let learners = suitable_learners(&data, &context);
/// # let learners = some;
/// let comparison = Comparison::new(learners, &splits, &[Measure::LogLoss, Measure::Accuracy]);
/// println!("{}", compare(&comparison, &data, &context));
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_eval::compare::compare;
#[doc(inline)]
pub use ermine_eval::compare::verdict::not_significantly_worse;
#[doc(inline)]
pub use ermine_eval::compare::{Comparison, Leaderboard, LeaderboardEntry, SkipReason, SkippedLearner, UntunedLearner};

/// All learners that make sense for a data set, to be compared.
pub fn suitable_learners(
    data: &ermine_core::matrix::Dataset,
    context: &ermine_core::learner::Context<'_>,
) -> Vec<Box<dyn ermine_core::learner::Learner>> {
    ermine_eval::compare::suitable(data, crate::registry::DEFAULT, context)
}

/// Scores against the number of training rows.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::model_selection::{TrainSizes, learning_curve};
/// use ermine::prelude::*;
///
/// let data = Table::read("penguins.csv")?.dataset("species")?;
/// let splits = Splits::k_fold(&data, 5, 0)?;
/// let validation = Validation::new(&splits, &[Measure::Accuracy]);
/// let sizes = TrainSizes::Fractions(&[0.1, 0.5, 1.0]);
/// for point in learning_curve(&DecisionTree::default(), &data, &validation, sizes, &ermine::context())? {
///     println!("{:?} rows: {:.3}", point.at, point.score.mean);
/// }
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_eval::evaluate::curves::learning_curve;

/// Scores against the values of one parameter.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::model_selection::{Value, validation_curve};
/// use ermine::prelude::*;
///
/// let data = Table::read("penguins.csv")?.dataset("species")?;
/// let splits = Splits::k_fold(&data, 5, 0)?;
/// let validation = Validation::new(&splits, &[Measure::Accuracy]);
/// let depths = [1, 2, 4].map(Value::Int);
/// let learner = DecisionTree::default();
/// for point in validation_curve(&learner, &data, &validation, "max_depth", &depths, &ermine::context())? {
///     println!("depth {:?}: {:.3}", point.at, point.score.mean);
/// }
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_eval::evaluate::curves::validation_curve;

#[doc(inline)]
pub use ermine_core::param::Value;

#[doc(inline)]
pub use ermine_eval::evaluate::curves::{CurvePoint, TrainSizes};

#[doc(inline)]
pub use ermine_eval::evaluate::journal::Journal;

#[doc(inline)]
pub use ermine_eval::evaluate::paired::PairedTest;

#[doc(inline)]
pub use ermine_eval::evaluate::search::{HyperparameterSearch, SearchResult, Strategy, Trial, nested, with_setting};

#[doc(inline)]
pub use ermine_eval::evaluate::space::{SearchAxis, SearchSpace, Setting};

#[doc(inline)]
pub use ermine_eval::evaluate::{CrossValidation, FoldScore};
