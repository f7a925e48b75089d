//! Model-agnostic explanations.
//!
//! | file | what it holds |
//! |---|---|
//! | [`permutation`] | permutation importance |
//! | [`dependence`] | partial dependence |
//!
//! SHAP values, importances of splits and explanations of single predictions are methods of the model.

pub mod dependence;
pub mod permutation;
