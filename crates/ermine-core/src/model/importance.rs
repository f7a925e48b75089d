//! How much the splits of a sum of trees are about each column: how many they are, how many training rows they cover, how much they gain.
//!
//! | by | adds up over the splits about a column |
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
    /// What makes a column important.
    pub enum ImportanceKind {
        /// What its splits gain.
        Gain = "gain",
        /// The training rows that its splits decide about.
        Cover = "cover",
        /// How many splits are about it.
        Count = "count",
    }
}

impl Model {
    /// How important each column is to a sum of trees. Gains are shares that add up to 1; covers and counts are sums.
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
