//! Learners over learners.
//!
//! | file | what it holds |
//! |---|---|
//! | [`adaboost`] | AdaBoost and its kin: a weighted vote of weak learners, each trained on what the ones before it get wrong |
//! | [`bagging`] | the mean, or the vote, of one learner trained on many draws of the rows |
//! | [`calibration`] | probabilities that mean what they say, and the class that costs least |
//! | [`committee`] | models side by side, as bagging and boosting have them |
//! | [`multiclass`] | many classes by learners of two: one against the rest, all against all, error-correcting codes |
//! | [`multilabel`] | sets of labels by learners of classes: each label by itself, in a chain, or each set as a class |
//! | [`ranking`] | an order by a learner that says which of two comes first |

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
