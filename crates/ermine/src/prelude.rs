//! What most programs need: `use ermine::prelude::*;`
//!
//! Every learner and reduction, tables and data sets, models, metrics and cross-validation.

pub use crate::Fit;
#[cfg(feature = "trees")]
pub use crate::auto::Auto;
pub use crate::baseline::Baseline;
pub use crate::calibration::Calibrated;
pub use crate::data::{Column, Dataset, Roles, Splits, Table, Task};
#[cfg(feature = "trees")]
pub use crate::ensemble::{
    AdaBoost, Bagging, ComparisonForest, ExtraTrees, GradientBoosting, RandomForest, Stacking, Voting,
};
pub use crate::learner::{Context, Estimator, Learner};
#[cfg(feature = "linear")]
pub use crate::linear_model::{
    ElasticNet, ElasticNetCv, GradientDescent, Halfspace, HuberRegression, Lasso, LassoCv, LeastAbsoluteDeviations,
    LinearRegression, LogisticRegression, Perceptron, QuantileRegression, Ridge, RidgeCv, StochasticGradientDescent,
};
pub use crate::metrics::{CustomMetric, Evaluate, Evaluation, Measure};
pub use crate::model::{Certificate, Model, Prediction, Predictor};
pub use crate::model_selection::{CrossValidation, Validation, cross_validate};
pub use crate::multiclass::{OneVsOne, OneVsRest, OutputCode};
pub use crate::multioutput::{BinaryRelevance, ClassifierChain, LabelPowerset};
#[cfg(feature = "neighbors")]
pub use crate::neighbors::{NearestNeighbors, NeighborModel};
#[cfg(feature = "linear")]
pub use crate::ranking::{OmegaRanking, PairwiseRanking, RankSvm};
#[cfg(feature = "linear")]
pub use crate::svm::{LinearSvc, LinearSvr, OneClassSvm, Svc, Svr};
#[cfg(feature = "trees")]
pub use crate::tree::{
    C45, ComparisonTree, DecisionStump, DecisionTree, DensityTree, Id3, ObliqueTree, OptimalTree, QuadTree,
};
pub use crate::{Error, Result};
