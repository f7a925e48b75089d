//! How learners run on a table whose columns nobody has scaled: on the command line and in `compare`.
//!
//! Distances, kernels and penalties depend on the units of the columns. scikit-learn leaves scaling to its users, and Ermine's classes do the same; but who names a learner for a CSV
//! file has no pipeline. There, learners with a parameter `standardize` use it unless it is set.

use super::Learner;
use crate::matrix::Dataset;
use crate::param::Value;
use crate::table::Values;

/// The parameter that learners with scaled columns have.
pub const STANDARDIZE: &str = "standardize";

/// More categories than this for each column are encoded sparsely; centering would make zeros other numbers.
const MOST_CATEGORIES: usize = 64;

/// Turns on `standardize` where a learner has it and the data are dense. A kernel or distance matrix that was computed before stays as it is.
pub fn standardize_by_default(learner: &mut dyn Learner, data: &Dataset) -> crate::error::Result<()> {
    if needs_standardizing(learner) && is_dense(data) { learner.set(STANDARDIZE, &Value::Bool(true)) } else { Ok(()) }
}

/// Whether a learner has the parameter and doesn't use it.
pub fn needs_standardizing(learner: &dyn Learner) -> bool {
    let precomputed = |name: &str| learner.get(name) == Some(Value::Text("precomputed".into()));
    learner.get(STANDARDIZE) == Some(Value::Bool(false)) && !precomputed("kernel") && !precomputed("metric")
}

fn is_dense(data: &Dataset) -> bool {
    let columns = data.features().columns();
    let n_categories: usize = columns.iter().map(|column| column.levels().map_or(0, |levels| levels.len())).sum();
    let is_sparse = columns.iter().any(|column| matches!(column.values, Values::Sparse { .. }));
    !is_sparse && n_categories <= MOST_CATEGORIES * columns.len()
}
