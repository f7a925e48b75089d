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
        let sum = self.tree_sum()?;
        let mut all = vec![0.0; self.schema().features.len()];
        for (forest, tree) in sum.trees() {
            let tree = sum.forests[forest].tree(tree);
            for node in 0..tree.n_nodes() {
                if let Some(feature) = tree.test[node].feature() {
                    all[feature] += if kind == ImportanceKind::Count { 1.0 } else { tree.weight[node] };
                }
            }
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::Learner;
    use crate::learner::decision_tree::DecisionTree;
    use crate::learner::gradient_boosting::GradientBoosting;
    use crate::table::Table;

    #[test]
    fn a_split_counts_once_and_covers_its_rows() {
        let rows: Vec<Vec<f64>> =
            (0..8).map(|i| vec![f64::from(i / 4), f64::from(i % 4 / 2), f64::from(10 * (i / 4) + i % 4 / 2)]).collect();
        let data = Table::from_rows(&["a", "b", "y"], &rows).unwrap().dataset("y").unwrap();
        let model = DecisionTree::default().fit(&data).unwrap();
        assert_eq!(model.tree_importances(ImportanceKind::Count).unwrap(), [1.0, 2.0]);
        assert_eq!(model.tree_importances(ImportanceKind::Cover).unwrap(), [8.0, 8.0]);
        let gain = model.tree_importances(ImportanceKind::Gain).unwrap();
        assert!((gain[0] - 200.0 / 202.0).abs() < 1e-12 && (gain[1] - 2.0 / 202.0).abs() < 1e-12, "{gain:?}");
    }

    #[test]
    fn reasons_add_up_to_the_score() {
        let rows: Vec<Vec<f64>> =
            (0..90).map(|i| vec![f64::from(i % 9), f64::from(i % 7), f64::from(i % 9 * 3)]).collect();
        let table = Table::from_rows(&["a", "b", "y"], &rows).unwrap();
        let model = GradientBoosting { n_estimators: 30, ..Default::default() }
            .fit(&table.clone().dataset("y").unwrap())
            .unwrap();
        let text = model.why(&table, 5).unwrap().unwrap();
        assert!(
            text.starts_with("prediction: ") && text.contains("nothing known") && text.contains("a = 5: +"),
            "{text}"
        );
        assert!(model.why(&table, 90).is_err());
    }
}
