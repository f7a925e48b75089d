//! Standardization of tables whose columns have not been scaled, on the command line and in `compare`.
//!
//! Distances, kernels and penalties depend on the scale of the columns. Like scikit-learn, Ermine's classes leave scaling to their users; but a CSV file on the command line comes
//! without a pipeline. There, learners with a parameter `standardize` use it unless it is set explicitly.

use super::Learner;
use crate::matrix::Dataset;
use crate::param::Value;
use crate::table::Values;

/// The parameter of learners that can standardize.
pub const STANDARDIZE: &str = "standardize";

/// Columns with more categories are encoded sparsely, and centering would make them dense.
const MOST_CATEGORIES: usize = 64;

/// Turns on `standardize` if the learner has it and the data are dense, unless a precomputed kernel or distance matrix is used.
pub fn standardize_by_default(learner: &mut dyn Learner, data: &Dataset) -> crate::error::Result<()> {
    if needs_standardizing(learner) && is_dense(data) { learner.set(STANDARDIZE, &Value::Bool(true)) } else { Ok(()) }
}

/// Whether a learner has the parameter and it is off.
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
