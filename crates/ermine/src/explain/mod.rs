//! What a model looks at, and how: for every model, by asking it.
//!
//! | file | what it holds |
//! |---|---|
//! | [`permutation`] | how much worse the model is when a column is shuffled |
//! | [`dependence`] | what the model predicts on average as a column changes |

pub mod dependence;
pub mod permutation;
