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
//! | [`out_of_fold`] | predictions for held-out rows |
//! | [`ranking`] | ranking by a classifier that compares two rows |
//! | [`stacking`] | a learner on top of the out-of-fold predictions of other learners |
//! | [`voting`] | the weighted mean, or the majority, of different learners |

#[cfg(feature = "trees")]
pub mod adaboost;
#[cfg(feature = "trees")]
pub mod bagging;
pub mod calibration;
pub mod committee;
pub mod multiclass;
pub mod multilabel;
pub mod out_of_fold;
#[cfg(feature = "linear")]
pub mod ranking;
pub mod stacking;
pub mod voting;

pub use ermine_core::learner::estimator;
