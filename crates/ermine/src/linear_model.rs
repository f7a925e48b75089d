//! Linear models for classification and regression.

/// Ordinary least squares.
///
/// ```
/// use ermine::prelude::*;
///
/// let rows: Vec<[f64; 2]> = (0..100).map(|i| [f64::from(i), f64::from(i % 7)]).collect();
/// let y: Vec<f64> = rows.iter().map(|[a, b]| 3.0 * a - 2.0 * b + 1.0).collect();
/// let data = Dataset::from_rows(&rows, &y)?;
/// let model = LinearRegression::default().fit(&data)?;
/// println!("{}", model.text());
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_linear::learner::linear::least_squares::LinearRegression;

/// Ridge regression: least squares with an L2 penalty.
///
/// ```
/// use ermine::prelude::*;
///
/// let rows: Vec<[f64; 2]> = (0..100).map(|i| [f64::from(i), f64::from(i % 7)]).collect();
/// let y: Vec<f64> = rows.iter().map(|[a, b]| 3.0 * a - 2.0 * b + 1.0).collect();
/// let data = Dataset::from_rows(&rows, &y)?;
/// let model = Ridge { alpha: 0.5, ..Default::default() }.fit(&data)?;
/// println!("{}", model.text());
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_linear::learner::linear::ridge::Ridge;

/// Ridge regression with the penalty chosen by cross-validation.
///
/// ```
/// use ermine::prelude::*;
///
/// let rows: Vec<[f64; 2]> = (0..100).map(|i| [f64::from(i), f64::from(i % 7)]).collect();
/// let y: Vec<f64> = rows.iter().map(|[a, b]| 3.0 * a - 2.0 * b + 1.0).collect();
/// let data = Dataset::from_rows(&rows, &y)?;
/// let model = RidgeCv::default().fit(&data)?;
/// println!("{}", model.text());
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_linear::learner::linear::ridge::RidgeCv;

/// Lasso: least squares with an L1 penalty.
///
/// ```
/// use ermine::prelude::*;
///
/// let rows: Vec<[f64; 2]> = (0..100).map(|i| [f64::from(i), f64::from(i % 7)]).collect();
/// let y: Vec<f64> = rows.iter().map(|[a, b]| 3.0 * a - 2.0 * b + 1.0).collect();
/// let data = Dataset::from_rows(&rows, &y)?;
/// let model = Lasso { alpha: 0.1, ..Default::default() }.fit(&data)?;
/// println!("{}", model.text());
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_linear::learner::linear::lasso::Lasso;

/// Lasso with the penalty chosen by cross-validation.
///
/// ```
/// use ermine::prelude::*;
///
/// let rows: Vec<[f64; 2]> = (0..100).map(|i| [f64::from(i), f64::from(i % 7)]).collect();
/// let y: Vec<f64> = rows.iter().map(|[a, b]| 3.0 * a - 2.0 * b + 1.0).collect();
/// let data = Dataset::from_rows(&rows, &y)?;
/// let model = LassoCv::default().fit(&data)?;
/// println!("{}", model.text());
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_linear::learner::linear::lasso::LassoCv;

/// Elastic net: least squares with L1 and L2 penalties.
///
/// ```
/// use ermine::prelude::*;
///
/// let rows: Vec<[f64; 2]> = (0..100).map(|i| [f64::from(i), f64::from(i % 7)]).collect();
/// let y: Vec<f64> = rows.iter().map(|[a, b]| 3.0 * a - 2.0 * b + 1.0).collect();
/// let data = Dataset::from_rows(&rows, &y)?;
/// let model = ElasticNet { alpha: 0.1, ..Default::default() }.fit(&data)?;
/// println!("{}", model.text());
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_linear::learner::linear::lasso::ElasticNet;

/// Elastic net with the penalty chosen by cross-validation.
///
/// ```
/// use ermine::prelude::*;
///
/// let rows: Vec<[f64; 2]> = (0..100).map(|i| [f64::from(i), f64::from(i % 7)]).collect();
/// let y: Vec<f64> = rows.iter().map(|[a, b]| 3.0 * a - 2.0 * b + 1.0).collect();
/// let data = Dataset::from_rows(&rows, &y)?;
/// let model = ElasticNetCv::default().fit(&data)?;
/// println!("{}", model.text());
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_linear::learner::linear::lasso::ElasticNetCv;

/// Logistic regression for two or more classes.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
/// let model = LogisticRegression::default().fit(&train)?;
/// println!("{}", model.evaluate(&test)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_linear::learner::linear::logistic::LogisticRegression;

/// Regression with the least absolute error.
///
/// ```
/// use ermine::prelude::*;
///
/// let rows: Vec<[f64; 2]> = (0..100).map(|i| [f64::from(i), f64::from(i % 7)]).collect();
/// let y: Vec<f64> = rows.iter().map(|[a, b]| 3.0 * a - 2.0 * b + 1.0).collect();
/// let data = Dataset::from_rows(&rows, &y)?;
/// let model = LeastAbsoluteDeviations::default().fit(&data)?;
/// println!("{}", model.text());
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_linear::learner::linear::quantile::LeastAbsoluteDeviations;

/// Regression for a quantile of the target.
///
/// ```
/// use ermine::prelude::*;
///
/// let rows: Vec<[f64; 2]> = (0..100).map(|i| [f64::from(i), f64::from(i % 7)]).collect();
/// let y: Vec<f64> = rows.iter().map(|[a, b]| 3.0 * a - 2.0 * b + 1.0).collect();
/// let data = Dataset::from_rows(&rows, &y)?;
/// let model = QuantileRegression { quantile: 0.9, ..Default::default() }.fit(&data)?;
/// println!("{}", model.text());
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_linear::learner::linear::quantile::QuantileRegression;

/// Regression with the Huber loss, which is robust to outliers.
///
/// ```
/// use ermine::prelude::*;
///
/// let rows: Vec<[f64; 2]> = (0..100).map(|i| [f64::from(i), f64::from(i % 7)]).collect();
/// let y: Vec<f64> = rows.iter().map(|[a, b]| 3.0 * a - 2.0 * b + 1.0).collect();
/// let data = Dataset::from_rows(&rows, &y)?;
/// let model = HuberRegression::default().fit(&data)?;
/// println!("{}", model.text());
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_linear::learner::linear::huber::HuberRegression;

/// Linear classifier by linear programming, for separable classes.
///
/// ```
/// use ermine::prelude::*;
///
/// let data = Dataset::from_rows(&[[0.0, 0.0], [1.0, 0.0], [2.0, 3.0], [3.0, 3.0]], &["low", "low", "high", "high"])?;
/// let model = Halfspace::default().fit(&data)?;
/// println!("{}", model.certificate());
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_linear::learner::linear::halfspace::Halfspace;

/// Perceptron, also in its kernel form.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let roles = Roles { drop_missing_target: true, ..Roles::target("sex") };
/// let (train, test) = Dataset::new(Table::read("penguins.csv")?, &roles)?.split(0.8, 7)?;
/// let model = Perceptron::default().fit(&train)?;
/// println!("{}", model.evaluate(&test)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_linear::learner::linear::perceptron::Perceptron;

/// Linear model trained by gradient descent, with a choice of loss and penalty.
///
/// ```
/// use ermine::prelude::*;
///
/// let rows: Vec<[f64; 2]> = (0..100).map(|i| [f64::from(i), f64::from(i % 7)]).collect();
/// let y: Vec<f64> = rows.iter().map(|[a, b]| 3.0 * a - 2.0 * b + 1.0).collect();
/// let data = Dataset::from_rows(&rows, &y)?;
/// let model = GradientDescent::default().fit(&data)?;
/// println!("{}", model.text());
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_linear::learner::linear::gradient_descent::GradientDescent;

/// Linear model trained by stochastic gradient descent, with a choice of loss and penalty.
///
/// ```
/// use ermine::prelude::*;
///
/// let rows: Vec<[f64; 2]> = (0..100).map(|i| [f64::from(i), f64::from(i % 7)]).collect();
/// let y: Vec<f64> = rows.iter().map(|[a, b]| 3.0 * a - 2.0 * b + 1.0).collect();
/// let data = Dataset::from_rows(&rows, &y)?;
/// let model = StochasticGradientDescent::default().fit(&data)?;
/// println!("{}", model.text());
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_linear::learner::linear::sgd::StochasticGradientDescent;

/// Stochastic gradient descent over data that arrives in chunks: one pass over each.
///
/// ```
/// use ermine::linear_model::SgdStream;
/// use ermine::prelude::*;
///
/// let chunk = |from: i32| {
///     let x: Vec<f64> = (from..from + 50).map(|i| f64::from(i % 7)).collect();
///     let y: Vec<f64> = x.iter().map(|x| 2.0 * x + 1.0).collect();
///     Dataset::from_columns(vec![Column::numeric("x", x)], &y)
/// };
/// let params = StochasticGradientDescent::default();
/// let context = ermine::context();
/// let mut model = SgdStream { params: params.clone(), from: None }.fit(&chunk(0)?, &context)?;
/// for n in 1..100 {
///     model = SgdStream { params: params.clone(), from: Some(&model) }.fit(&chunk(50 * n)?, &context)?;
/// }
/// println!("{}", model.text());
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_linear::learner::linear::sgd_model::SgdStream;

#[doc(inline)]
pub use ermine_core::learner::parameters::ClassWeight;

#[doc(inline)]
pub use ermine_linear::learner::linear::gradient_descent::LearningRateName;

#[doc(inline)]
pub use ermine_linear::learner::linear::losses::{LossName, PenaltyName};

#[doc(inline)]
pub use ermine_linear::learner::linear::perceptron::{PerceptronForm, PerceptronKernel};

#[doc(inline)]
pub use ermine_linear::learner::linear::sgd::ScheduleName;
