//! The contract of learners: for code that is generic over learners, and for learners of your own.
//!
//! A learner is a struct of parameters, declared by [`params!`], that implements [`Learner`]. Evaluation, search and reductions then work with it:
//!
//! ```
//! use ermine::learner::*;
//! use ermine::prelude::*;
//!
//! ermine::learner::params! {
//!     /// Predicts a fixed number.
//!     pub struct Fixed("fixed") {
//!         /// The number.
//!         value: f64 = 0.0;
//!     }
//! }
//!
//! static INFO: LearnerInfo = LearnerInfo {
//!     name: "fixed",
//!     summary: "a fixed number",
//!     capabilities: Capabilities {
//!         tasks: &[Task::Regression],
//!         binary_only: false,
//!         multi_output: false,
//!         weights: true,
//!         missing: true,
//!         nominal: true,
//!         sparse: true,
//!         probabilities: false,
//!         random: false,
//!     },
//!     family: Family::Baseline,
//! };
//!
//! impl Learner for Fixed {
//!     fn info(&self) -> &'static LearnerInfo {
//!         &INFO
//!     }
//!
//!     fn train(&self, _data: &Dataset, _context: &Context<'_>) -> Result<Trained> {
//!         let certificate = Certificate::optimal("nothing", 0.0, "all fixed numbers");
//!         Ok(Trained { fitted: Box::new(FittedFixed(self.value)), certificate })
//!     }
//! }
//!
//! struct FittedFixed(f64);
//!
//! impl Fitted for FittedFixed {
//!     fn output(&self) -> Output {
//!         Output::Values
//!     }
//!
//!     fn predict(&self, features: &Features) -> Result<Vec<f64>> {
//!         Ok(vec![self.0; features.n_rows()])
//!     }
//!
//!     fn save(&self, sections: &mut Sections) -> Result<()> {
//!         sections.put_f64s("value", &[self.0]);
//!         Ok(())
//!     }
//!
//!     fn text(&self, _schema: &Schema) -> String {
//!         format!("always {}", self.0)
//!     }
//! }
//!
//! let data = Dataset::from_rows(&[[1.0], [2.0]], &[10.0, 20.0])?;
//! let model = Fixed { value: 15.0 }.fit(&data)?;
//! println!("{}", model.evaluate(&data)?);
//! # Ok::<(), Error>(())
//! ```

/// A method that learns a model from data. `.fit` comes from [`Fit`](crate::Fit).
///
/// ```
/// use ermine::prelude::*;
///
/// let data = Dataset::from_rows(&[[1.0], [2.0], [3.0], [4.0]], &["a", "a", "b", "b"])?;
/// let learners: Vec<Box<dyn Learner>> = vec![Box::new(DecisionStump::default()), ermine::registry::learner("random-forest")?];
/// for learner in learners {
///     println!("{}: {}", learner.info().name, learner.fit(&data)?.certificate());
/// }
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_core::learner::Learner;

/// Options of a fit beside the parameters: random seed, threads, progress, warm start, folds.
///
/// ```
/// use ermine::prelude::*;
///
/// let data = Dataset::from_rows(&[[1.0], [2.0], [3.0], [4.0]], &["a", "a", "b", "b"])?;
/// let context = Context { seed: 42, threads: Some(1), ..ermine::context() };
/// let model = RandomForest { n_estimators: 10, ..Default::default() }.fit_with(&data, &context)?;
/// assert_eq!(model.header().seed, 42);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_core::learner::Context;

/// A learner as the value of a parameter, for learners over learners.
///
/// ```
/// use ermine::prelude::*;
///
/// let tree = DecisionTree { max_depth: Some(3), ..Default::default() };
/// let bagging = Bagging { estimator: Estimator::of(&tree), n_estimators: 10, ..Default::default() };
/// let same = Bagging { estimator: Estimator::named("decision-tree").with("max_depth", 3usize), n_estimators: 10, ..Default::default() };
/// println!("{:?}\n{:?}", bagging.estimator.name, same.estimator.params);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_core::learner::estimator::Estimator;

#[doc(inline)]
pub use ermine_core::learner::{
    Capabilities, Family, IncrementalLearner, LearnerInfo, PathLearner, SplitPredictions, Trained,
};

#[doc(inline)]
pub use ermine_core::matrix::{Features, Schema};

#[doc(inline)]
pub use ermine_core::model::{Certificate, Fitted, Header, Output, Staged, TreeEnsemble};

#[doc(inline)]
pub use ermine_core::param::{ParamKind, ParamSpec, ParamType, Parameters, Range, Tune, Value};

#[doc(inline)]
pub use ermine_core::progress::{Control, Event, Observer, Silent};

#[doc(inline)]
pub use ermine_core::section::Sections;

#[doc(inline)]
pub use ermine_core::{choice, params};
