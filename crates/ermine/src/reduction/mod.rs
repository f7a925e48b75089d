//! Learners over learners.
//!
//! | file | what it holds |
//! |---|---|
//! | [`adaboost`] | AdaBoost and its kin: a weighted vote of weak learners, each trained on what the ones before it get wrong |

pub mod adaboost;
