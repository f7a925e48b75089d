#![doc = include_str!("tour.md")]

pub mod boost;
#[macro_use]
pub mod linalg;

pub mod chart;
pub mod distribution;
pub mod error;
pub mod evaluate;
pub mod exchange;
pub mod explain;
pub mod kernel;
pub mod learner;
pub mod loss;
pub mod matrix;
pub mod measure;
pub mod metric;
pub mod model;
pub mod neighbor;
pub mod optim;
pub mod param;
pub mod penalty;
pub mod progress;
pub mod reduction;
pub mod registry;
pub mod report;
pub mod rng;
pub mod section;
pub mod simd;
pub mod split;
pub mod table;
pub mod tree;

pub use error::{Error, Result};

/// What most programs need.
pub mod prelude {
    pub use crate::error::{Error, Result};
    pub use crate::evaluate::{CrossValidation, Evaluation};
    pub use crate::learner::baseline::Baseline;
    pub use crate::learner::c45::C45;
    pub use crate::learner::comparison_forest::ComparisonForest;
    pub use crate::learner::decision_tree::DecisionTree;
    pub use crate::learner::forest::{ExtraTrees, RandomForest};
    pub use crate::learner::gradient_boosting::GradientBoosting;
    pub use crate::learner::id3::Id3;
    pub use crate::learner::linear::gradient_descent::GradientDescent;
    pub use crate::learner::linear::halfspace::Halfspace;
    pub use crate::learner::linear::huber::HuberRegression;
    pub use crate::learner::linear::lasso::{ElasticNet, ElasticNetCv, Lasso, LassoCv};
    pub use crate::learner::linear::least_squares::LinearRegression;
    pub use crate::learner::linear::logistic::LogisticRegression;
    pub use crate::learner::linear::perceptron::Perceptron;
    pub use crate::learner::linear::quantile::{LeastAbsoluteDeviations, QuantileRegression};
    pub use crate::learner::linear::ridge::{Ridge, RidgeCv};
    pub use crate::learner::linear::sgd::StochasticGradientDescent;
    pub use crate::learner::nearest_neighbors::{NearestNeighbors, NeighborModel};
    pub use crate::learner::optimal_tree::OptimalTree;
    pub use crate::learner::stump::DecisionStump;
    pub use crate::learner::svm::linear::{LinearSvc, LinearSvr};
    pub use crate::learner::svm::one_class::OneClassSvm;
    pub use crate::learner::svm::svc::Svc;
    pub use crate::learner::svm::svr::Svr;
    pub use crate::learner::{Context, Learner};
    pub use crate::matrix::{Dataset, Roles, Task};
    pub use crate::model::{Model, Prediction};
    pub use crate::reduction::adaboost::AdaBoost;
    pub use crate::reduction::bagging::Bagging;
    pub use crate::reduction::estimator::Estimator;
    pub use crate::table::{Column, Table};
}
