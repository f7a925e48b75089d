//! Meta-estimators: learners that train other learners.
//!
//! | module | contents |
//! |---|---|
//! | [`adaboost`] | AdaBoost and its variants: a weighted vote of weak learners, each trained on rows reweighted by the errors of the earlier ones |
//! | [`bagging`] | the mean, or the vote, of models trained on random samples of the rows |
//! | [`calibration`] | calibrated probabilities and cost-sensitive predictions |
//! | [`committee`] | members of ensembles |
//! | [`multiclass`] | multiclass classification by binary classifiers: one-vs-rest, one-vs-one, error-correcting output codes |
//! | [`multilabel`] | multilabel classification by classifiers: binary relevance, classifier chains, label powersets |
//! | [`ranking`] | ranking by a classifier that compares two rows |

#[cfg(feature = "trees")]
pub mod adaboost;
#[cfg(feature = "trees")]
pub mod bagging;
pub mod calibration;
pub mod committee;
pub mod multiclass;
pub mod multilabel;
#[cfg(feature = "linear")]
pub mod ranking;

pub use ermine_core::learner::estimator;
