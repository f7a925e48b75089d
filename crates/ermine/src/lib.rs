#![doc = include_str!("tour.md")]

pub mod baseline;
pub mod exchange;
pub mod reduction;
pub mod registry;

pub use ermine_core::error::{Error, Result};
pub use exchange::{export, import};

use ermine_core::learner::{self, Context, Learner};
use ermine_core::matrix::Dataset;
use ermine_core::model::Model;
use std::path::Path;

/// How a fit is run unless said otherwise: seed 0, all cores, nobody watching, all learners known.
pub fn context() -> Context<'static> {
    Context::new(registry::REGISTRY)
}

/// Learning, for every learner.
pub trait Fit: Learner {
    /// Learns a model with seed 0 on all cores.
    fn fit(&self, data: &Dataset) -> Result<Model>;
}

impl<L: Learner> Fit for L {
    fn fit(&self, data: &Dataset) -> Result<Model> {
        learner::fit(self, data, &context())
    }
}

/// Reads a model file.
pub fn load(path: impl AsRef<Path>) -> Result<Model> {
    registry::REGISTRY.load_model(path)
}

/// Reads a model from the bytes of a model file.
pub fn load_bytes(bytes: &[u8]) -> Result<Model> {
    registry::REGISTRY.model_from_bytes(bytes)
}

/// What most programs need.
pub mod prelude {
    pub use crate::Fit;
    pub use crate::baseline::Baseline;
    pub use crate::reduction::adaboost::AdaBoost;
    pub use crate::reduction::bagging::Bagging;
    pub use ermine_core::error::{Error, Result};
    pub use ermine_core::learner::estimator::Estimator;
    pub use ermine_core::learner::{Context, Learner};
    pub use ermine_core::matrix::{Dataset, Roles, Task};
    pub use ermine_core::model::{Model, Prediction};
    pub use ermine_core::table::{Column, Table};
    pub use ermine_eval::evaluate::{CrossValidation, Evaluate, Evaluation};
    pub use ermine_linear::learner::linear::gradient_descent::GradientDescent;
    pub use ermine_linear::learner::linear::halfspace::Halfspace;
    pub use ermine_linear::learner::linear::huber::HuberRegression;
    pub use ermine_linear::learner::linear::lasso::{ElasticNet, ElasticNetCv, Lasso, LassoCv};
    pub use ermine_linear::learner::linear::least_squares::LinearRegression;
    pub use ermine_linear::learner::linear::logistic::LogisticRegression;
    pub use ermine_linear::learner::linear::perceptron::Perceptron;
    pub use ermine_linear::learner::linear::quantile::{LeastAbsoluteDeviations, QuantileRegression};
    pub use ermine_linear::learner::linear::ridge::{Ridge, RidgeCv};
    pub use ermine_linear::learner::linear::sgd::StochasticGradientDescent;
    pub use ermine_linear::learner::svm::linear::{LinearSvc, LinearSvr};
    pub use ermine_linear::learner::svm::one_class::OneClassSvm;
    pub use ermine_linear::learner::svm::svc::Svc;
    pub use ermine_linear::learner::svm::svr::Svr;
    pub use ermine_neighbors::learner::nearest_neighbors::{NearestNeighbors, NeighborModel};
    pub use ermine_trees::learner::c45::C45;
    pub use ermine_trees::learner::comparison_forest::ComparisonForest;
    pub use ermine_trees::learner::decision_tree::DecisionTree;
    pub use ermine_trees::learner::forest::{ExtraTrees, RandomForest};
    pub use ermine_trees::learner::gradient_boosting::GradientBoosting;
    pub use ermine_trees::learner::id3::Id3;
    pub use ermine_trees::learner::optimal_tree::OptimalTree;
    pub use ermine_trees::learner::stump::DecisionStump;
}
