//! SHAP values of a model: shares of the columns in the difference between a prediction and the mean prediction. They add up to it, and each is the Shapley value of its column in the game where
//! a set of columns is worth the prediction that is expected when only they are known.

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
    /// How many numbers are explained for each row: classes, or numbers predicted.
    pub n_outputs: usize,
    /// Row by row, then column by column, then output by output.
    pub values: Vec<f64>,
    /// What is predicted when nothing is known of a row, for each output.
    pub expected: Vec<f64>,
}

impl ShapValues {
    /// The values of one row and column, one for each output.
    pub fn get(&self, row: usize, column: usize) -> &[f64] {
        &self.values[(row * self.n_columns + column) * self.n_outputs..][..self.n_outputs]
    }

    /// The mean size of each column's values, added up over the outputs.
    pub fn importances(&self) -> Vec<f64> {
        let size = |row: usize, column: usize| self.get(row, column).iter().map(|v| v.abs()).sum::<f64>();
        let mean = |column: usize| (0..self.n_rows).map(|row| size(row, column)).sum::<f64>() / self.n_rows as f64;
        (0..self.n_columns).map(mean).collect()
    }
}

impl Model {
    /// The SHAP values of the rows of a table, for models that are sums of trees. They explain what the trees add up to, before any link: probabilities of a forest,
    /// votes of boosted stumps, numbers.
    pub fn shap_values(&self, table: &Table) -> Result<ShapValues> {
        self.shap_of(&self.schema().features_of(table)?)
    }

    /// The same for features that are in the form of the model's schema.
    pub fn shap_of(&self, features: &Features) -> Result<ShapValues> {
        Ok(self.tree_ensemble()?.shap_values(features))
    }

    /// The SHAP interaction values of the rows of a table: for each row, a table of columns by columns whose rows add up to the SHAP values.
    pub fn shap_interactions(&self, table: &Table) -> Result<ShapValues> {
        self.shap_interactions_of(&self.schema().features_of(table)?)
    }

    /// The same for features that are in the form of the model's schema.
    pub fn shap_interactions_of(&self, features: &Features) -> Result<ShapValues> {
        self.tree_ensemble()?.shap_interactions(features)
    }

    /// How much each column matters to what the model says about some rows: the mean size of its SHAP values, over all outputs.
    pub fn shap_importances(&self, data: &Dataset) -> Result<Vec<f64>> {
        Ok(self.shap_of(&self.schema().features_of_data(data)?)?.importances())
    }
}
