//! Learners over learners.
//!
//! | file | what it holds |
//! |---|---|
//! | [`adaboost`] | AdaBoost and its kin: a weighted vote of weak learners, each trained on what the ones before it get wrong |
//! | [`bagging`] | the mean, or the vote, of one learner trained on many draws of the rows |
//! | [`committee`] | models side by side, as bagging and boosting have them |
//! | [`estimator`] | a learner as the value of a parameter |

pub mod adaboost;
pub mod bagging;
pub mod committee;
pub mod estimator;
