//! SHAP values: contributions of the columns to the difference between a prediction and the mean prediction. They sum to this difference.

use super::Model;
use crate::error::Result;
use crate::matrix::{Dataset, Features};
use crate::table::Table;

/// SHAP values of some rows.
#[derive(Debug, Clone, PartialEq)]
pub struct ShapValues {
    /// How many rows.
    pub n_rows: usize,
    /// How many columns.
    pub n_columns: usize,
    /// Number of outputs explained per row: classes or targets.
    pub n_outputs: usize,
    /// By row, column, output.
    pub values: Vec<f64>,
    /// The expected prediction for each output.
    pub expected: Vec<f64>,
}

impl ShapValues {
    /// The values of a row and column, one per output.
    pub fn get(&self, row: usize, column: usize) -> &[f64] {
        &self.values[(row * self.n_columns + column) * self.n_outputs..][..self.n_outputs]
    }

    /// The mean absolute value of each column, summed over outputs.
    pub fn importances(&self) -> Vec<f64> {
        let size = |row: usize, column: usize| self.get(row, column).iter().map(|v| v.abs()).sum::<f64>();
        let mean = |column: usize| (0..self.n_rows).map(|row| size(row, column)).sum::<f64>() / self.n_rows as f64;
        (0..self.n_columns).map(mean).collect()
    }
}

impl Model {
    /// SHAP values of the rows of a table, for tree ensembles. They explain the sum of the trees before the link: probabilities of a forest, votes of boosted stumps, numbers.
    pub fn shap_values(&self, table: &Table) -> Result<ShapValues> {
        self.shap_of(&self.schema().features_of(table)?)
    }

    /// The same for features in the form of the model's schema.
    pub fn shap_of(&self, features: &Features) -> Result<ShapValues> {
        Ok(self.tree_ensemble()?.shap_values(features))
    }

    /// SHAP interaction values of the rows of a table: for each row, a symmetric matrix of columns whose rows sum to the SHAP values.
    pub fn shap_interactions(&self, table: &Table) -> Result<ShapValues> {
        self.shap_interactions_of(&self.schema().features_of(table)?)
    }

    /// The same for features in the form of the model's schema.
    pub fn shap_interactions_of(&self, features: &Features) -> Result<ShapValues> {
        self.tree_ensemble()?.shap_interactions(features)
    }

    /// The importance of each column: the mean absolute SHAP value over rows and outputs.
    pub fn shap_importances(&self, data: &Dataset) -> Result<Vec<f64>> {
        Ok(self.shap_of(&self.schema().features_of_data(data)?)?.importances())
    }
}
