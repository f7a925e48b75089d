//! Feature importances of a tree ensemble by split count, cover or gain.
//!
//! | kind | sum over the splits on a column |
//! |---|---|
//! | count | 1 |
//! | cover | the weight of the training rows at the node (boosting: the sum of their curvatures) |
//! | gain | how much the split lowers the training loss, as the learner itself measured it |
//!
//! **Reference.** Breiman and others, Classification and Regression Trees, 1984, section 5.3; Chen and Guestrin, XGBoost, 2016.

use crate::choice;
use crate::error::{Error, Result};
use crate::model::Model;

choice! {
    /// Kind of feature importance.
    pub enum ImportanceKind {
        /// Total gain of the splits.
        Gain = "gain",
        /// Training rows covered by the splits.
        Cover = "cover",
        /// Number of splits.
        Count = "count",
    }
}

impl Model {
    /// Feature importances of a tree ensemble. Gains are normalized to sum to 1; cover and count are totals.
    pub fn tree_importances(&self, kind: ImportanceKind) -> Result<Vec<f64>> {
        if kind == ImportanceKind::Gain {
            let found = self.attributes().into_iter().find(|attribute| attribute.name == "feature_importances");
            let lacks =
                || Error::Unsupported { learner: self.header().learner.clone(), need: "importances by gain".into() };
            return found.map(|attribute| attribute.values).ok_or_else(lacks);
        }
        Ok(self.tree_ensemble()?.split_totals(kind, self.schema().features.len()))
    }
}
