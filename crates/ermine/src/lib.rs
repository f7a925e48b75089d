#![doc = include_str!("tour.md")]

pub mod boost;
#[macro_use]
pub mod linalg;

pub mod chart;
pub mod error;
pub mod evaluate;
pub mod explain;
pub mod learner;
pub mod loss;
pub mod matrix;
pub mod metric;
pub mod model;
pub mod neighbor;
pub mod optim;
pub mod param;
pub mod penalty;
pub mod progress;
pub mod reduction;
pub mod registry;
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
    pub use crate::learner::optimal_tree::OptimalTree;
    pub use crate::learner::stump::DecisionStump;
    pub use crate::learner::{Context, Learner};
    pub use crate::matrix::{Dataset, Roles, Task};
    pub use crate::model::{Model, Prediction};
    pub use crate::reduction::adaboost::AdaBoost;
    pub use crate::reduction::bagging::Bagging;
    pub use crate::reduction::estimator::Estimator;
    pub use crate::table::{Column, Table};
}
