//! Explanations that need no look inside a model.
//!
//! | file | what it holds |
//! |---|---|
//! | [`permutation`] | how much worse the model is when a column is shuffled |
//! | [`dependence`] | what the model predicts on average as a column changes |
//!
//! SHAP values, importances of splits and the reasons for one prediction are methods of the model.

pub mod dependence;
pub mod permutation;
