//! Learners over learners.
//!
//! | file | what it holds |
//! |---|---|
//! | [`adaboost`] | AdaBoost and its kin: a weighted vote of weak learners, each trained on what the ones before it get wrong |
//! | [`bagging`] | the mean, or the vote, of one learner trained on many draws of the rows |
//! | [`calibration`] | probabilities that mean what they say, and the class that costs least |
//! | [`committee`] | models side by side, as bagging and boosting have them |
//! | [`multiclass`] | many classes by learners of two: one against the rest, all against all, error-correcting codes |

pub mod adaboost;
pub mod bagging;
pub mod calibration;
pub mod committee;
pub mod multiclass;

pub use crate::learner::estimator;
