//! Why a model says what it says.
//!
//! | file | what it holds |
//! |---|---|
//! | [`permutation`] | how much worse the model is when a column is shuffled |
//! | [`dependence`] | what the model predicts on average as a column changes |
//! | [`importance`] | columns by gain, cover and count of the splits about them |
//! | [`tree_shap`] | SHAP values and interaction values of sums of trees, exact |
//! | `words` | the reasons for one prediction, in words |
//! | `quadrature` | integrals of polynomials, exact |
//!
//! SHAP values share out the difference between a prediction and the mean prediction among the columns: they add up to it, and each is the Shapley value of its column in the game where a set of
//! columns is worth the prediction that is expected when only they are known.

pub mod dependence;
pub mod importance;
pub mod permutation;
mod quadrature;
pub mod tree_shap;
mod words;

pub use importance::ImportanceKind;
pub use tree_shap::ShapValues;

use crate::error::Result;
use crate::matrix::{Dataset, Features};
use crate::model::Model;
use crate::table::Table;

impl Model {
    /// The SHAP values of the rows of a table, for models that are sums of trees. They explain what the trees add up to, before any link: probabilities of a forest,
    /// votes of boosted stumps, numbers.
    pub fn shap_values(&self, table: &Table) -> Result<ShapValues> {
        self.shap_of(&self.schema().features_of(table)?)
    }

    /// The same for features that are in the form of the model's schema.
    pub fn shap_of(&self, features: &Features) -> Result<ShapValues> {
        Ok(tree_shap::shap_values(&self.tree_sum()?, features))
    }

    /// The SHAP interaction values of the rows of a table: for each row, a table of columns by columns whose rows add up to the SHAP values.
    pub fn shap_interactions(&self, table: &Table) -> Result<ShapValues> {
        self.shap_interactions_of(&self.schema().features_of(table)?)
    }

    /// The same for features that are in the form of the model's schema.
    pub fn shap_interactions_of(&self, features: &Features) -> Result<ShapValues> {
        tree_shap::interaction_values(&self.tree_sum()?, features)
    }

    /// How much each column matters to what the model says about some rows: the mean size of its SHAP values, over all outputs.
    pub fn shap_importances(&self, data: &Dataset) -> Result<Vec<f64>> {
        Ok(self.shap_of(&self.schema().features_of_data(data)?)?.importances())
    }
}
