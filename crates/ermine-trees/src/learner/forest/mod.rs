//! Random forests and extra-trees: the average of many randomized trees.
//!
//! | file | contents |
//! |---|---|
//! | this file | the parameters of both learners |
//! | [`train`] | the training loop over trees |
//! | `binned` | trees on histogram bins |
//! | `exact` | trees on all thresholds |
//! | [`out_of_bag`] | out-of-bag scores, permutation importances, leaf targets for quantiles |
//! | [`fitted`] | the fitted forest: prediction, importances, quantiles |
//!
//! **Idea.** A fully grown tree overfits. The average of many different trees (bootstrap samples of the rows, features drawn at every node) reduces the variance. In extra-trees the thresholds are random
//! too, and every tree uses all rows.
//!
//! **Splits** (`tree_method`). `hist`: between bins, at most 255 per feature, of equal count; each value has its own bin if there are few. See [`crate::tree::binned_rows`]. `exact`: all thresholds, by the
//! tree builder of single trees ([`mod@crate::tree::grow`]). Both are equally accurate, and bins are much faster. `auto`, the default, uses bins unless the criteria error, absolute_error or poisson,
//! ccp_alpha or monotonic_cst require exact trees.
//!
//! **Seeds.** Tree t depends on the random seed and on t only: a forest of 100 trees starts with the trees of a forest of 50.
//!
//! **Reference.** Breiman, Random forests, 2001; Geurts, Ernst and Wehenkel, Extremely randomized trees, 2006.

mod binned;
mod exact;
pub mod fitted;
pub mod out_of_bag;
pub mod train;

pub use fitted::FittedForest;

use super::decision_tree::TreeCriterion;
use super::{Capabilities, Context, Family, Learner, LearnerInfo, TREE_CAPABILITIES, Trained};
use ermine_core::error::Result;
use ermine_core::learner::parameters::{ClassWeight, CountOrFraction, MaxFeatures};
use ermine_core::matrix::{Dataset, Task};
use ermine_core::param::{ParamKind, ParamType, Range, Value};
use ermine_core::{choice, params};

choice! {
    /// Candidate thresholds of a forest's trees.
    pub enum ForestMethod {
        /// Edges of histogram bins, unless another parameter requires all thresholds.
        Auto = "auto",
        /// Edges of histogram bins.
        Hist = "hist",
        /// All thresholds.
        Exact = "exact",
    }
}

/// Number of features that each node of a forest considers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ForestMaxFeatures {
    /// The square root of the number of features for classification, all features for regression.
    Auto,
    /// A given number of features.
    Of(MaxFeatures),
}

impl ForestMaxFeatures {
    fn of(self, d: usize, task: Task) -> usize {
        match (self, task) {
            (ForestMaxFeatures::Of(max_features), _) => max_features.of(d),
            (ForestMaxFeatures::Auto, Task::Classification) => MaxFeatures::Sqrt.of(d),
            (ForestMaxFeatures::Auto, _) => d,
        }
    }
}

impl ParamType for ForestMaxFeatures {
    fn kind() -> ParamKind {
        ParamKind::Either(vec![ParamKind::Choice(vec!["auto"]), MaxFeatures::kind()])
    }
    fn to_value(&self) -> Value {
        match self {
            ForestMaxFeatures::Auto => Value::Text("auto".into()),
            ForestMaxFeatures::Of(max_features) => max_features.to_value(),
        }
    }
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(word) if word == "auto" => Some(ForestMaxFeatures::Auto),
            other => MaxFeatures::from_value(other).map(ForestMaxFeatures::Of),
        }
    }
    fn wanted() -> Option<String> {
        MaxFeatures::wanted().map(|wanted| format!("auto, {wanted}"))
    }
}

/// Class weights of a forest.
#[derive(Debug, Clone, PartialEq)]
pub enum ForestClassWeight {
    /// The same class weights for all trees.
    Of(ClassWeight),
    /// Balanced within the bootstrap sample of each tree.
    BalancedSubsample,
}

impl ParamType for ForestClassWeight {
    fn kind() -> ParamKind {
        let choice = ParamKind::Choice(vec!["balanced", "balanced_subsample"]);
        ParamKind::Optional(Box::new(ParamKind::Either(vec![choice, ParamKind::List(Box::new(ParamKind::Text))])))
    }
    fn to_value(&self) -> Value {
        match self {
            ForestClassWeight::Of(weight) => weight.to_value(),
            ForestClassWeight::BalancedSubsample => Value::Text("balanced_subsample".into()),
        }
    }
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(word) if word == "balanced_subsample" => Some(ForestClassWeight::BalancedSubsample),
            other => ClassWeight::from_value(other).map(ForestClassWeight::Of),
        }
    }
    fn wanted() -> Option<String> {
        Some("none, balanced, balanced_subsample, or class=weight pairs with weights above 0".into())
    }
}

macro_rules! forest_params {
    ($(#[$meta:meta])* $name:ident, $word:literal, $bootstrap:literal) => {
        params! {
            $(#[$meta])*
            pub struct $name($word) {
                /// Number of trees.
                /// More trees never overfit more; they make predictions more stable, and training and prediction slower. 100 to 500 are usual.
                n_estimators: usize = 100, range Range::between(1.0, 1e6), tune Log(10, 1000);
                /// Function that measures the quality of a split. None for "gini" (classification) or "squared_error" (regression).
                /// Classification: "gini" and "entropy" (the same as "log_loss") rarely differ much; "error" is the misclassification rate. Regression: "absolute_error" (leaves predict medians) is robust to outliers but slower; "poisson" is for counts.
                criterion: Option<TreeCriterion> = None, tune Each;
                /// Maximum depth of each tree. None for the default limit of 1,024 levels.
                /// Fully grown trees are the rule in forests; limit the depth for smaller and faster models.
                max_depth: Option<usize> = None, range Range::at_least(1.0);
                /// Minimum number of rows a node needs to be split, as a count (10) or as a fraction of the rows (0.1).
                /// Higher values give smaller trees; `min_samples_leaf` is usually the better way to get them.
                min_samples_split: CountOrFraction = CountOrFraction::Count(2), range Range::more_than(0.0);
                /// Minimum number of rows in each leaf, as a count (10) or as a fraction of the rows (0.1).
                /// Higher values smooth the predictions and prevent leaves that fit single rows: try 5 to 50 on noisy data.
                min_samples_leaf: CountOrFraction = CountOrFraction::Count(1), range Range::more_than(0.0), tune Log(1, 50);
                /// Minimum weight of each leaf, as a fraction of the total weight.
                /// Use it instead of `min_samples_leaf` if rows have very different weights.
                min_weight_fraction_leaf: f64 = 0.0, range Range::between(0.0, 0.5);
                /// Number of features that each node considers, drawn at random: a count, a fraction, "sqrt" or "log2"; none for all features. "auto" is "sqrt" for classification and all features for regression.
                /// Fewer features make the trees more different and training faster; more features help if only few of them are informative.
                max_features: ForestMaxFeatures = ForestMaxFeatures::Auto;
                /// Maximum number of leaves of each tree; the splits with the largest impurity decrease come first. None for no limit.
                /// Limits the size of a tree more evenly than `max_depth`.
                max_leaf_nodes: Option<usize> = None, range Range::at_least(2.0);
                /// Minimum impurity decrease of a split, weighted by the node's fraction of the rows.
                /// Stops growing where splits gain little.
                min_impurity_decrease: f64 = 0.0, range Range::at_least(0.0);
                /// Whether each tree is trained on a bootstrap sample (rows drawn with replacement) instead of all rows.
                /// Without it, trees differ only by their random splits, and there are no out-of-bag rows.
                bootstrap: bool = $bootstrap;
                /// Number of rows in each bootstrap sample, as a count or as a fraction of the rows. None for as many as there are rows. Requires bootstrap.
                /// Lower values train faster and make the trees more different.
                max_samples: Option<CountOrFraction> = None, range Range::more_than(0.0);
                /// Class weights, multiplied with the row weights: none (all classes have weight 1), "balanced" (all classes have the same total weight), "balanced_subsample" (the same within each bootstrap sample), or a list of class=weight.
                /// Use "balanced" if rare classes matter as much as frequent ones.
                class_weight: ForestClassWeight = ForestClassWeight::Of(ClassWeight::Equal);
                /// Monotonic constraint for each feature: 1 (predictions must not decrease with the feature), -1 (must not increase) or 0 (none); empty for no constraints. Requires exact trees.
                monotonic_cst: Vec<i64> = Vec::new(), range Range::between(-1.0, 1.0);
                /// Complexity parameter of minimal cost-complexity pruning: subtrees whose impurity decrease per leaf is less than this are pruned. Requires exact trees.
                /// Higher values prune more; 0 does not prune.
                ccp_alpha: f64 = 0.0, range Range::at_least(0.0);
                /// Whether to evaluate the forest on out-of-bag rows: each row is predicted by the trees that were not trained on it. Requires bootstrap.
                /// An estimate of the test score without a validation set.
                oob_score: bool = false;
                /// Whether to compute permutation importances on out-of-bag rows. Requires bootstrap.
                /// Unlike the importances by gain, they do not favor features with many values.
                permutation_importances: bool = false;
                /// Whether to store the training targets of each leaf, so that quantiles can be predicted. For regression with one target.
                /// Each tree then also stores 4 bytes for each row that it was trained on.
                quantiles: bool = false;
                /// Candidate thresholds: the edges of histogram bins ("hist"), all thresholds ("exact"), or "hist" unless another parameter requires exact trees ("auto").
                /// "hist" is much faster on large data; "exact" tries every threshold, as scikit-learn does.
                tree_method: ForestMethod = ForestMethod::Auto;
                /// Maximum number of bins per feature.
                /// Fewer bins are faster and coarser.
                max_bins: usize = 255, range Range::between(2.0, 255.0);
            }
        }

        impl $name {
            fn settings(&self, random_splits: bool) -> train::ForestSettings<'_> {
                train::ForestSettings {
                    n_estimators: self.n_estimators,
                    name: $word,
                    criterion: self.criterion,
                    max_depth: self.max_depth,
                    min_samples_split: self.min_samples_split,
                    min_samples_leaf: self.min_samples_leaf,
                    min_weight_fraction_leaf: self.min_weight_fraction_leaf,
                    max_features: self.max_features,
                    max_leaf_nodes: self.max_leaf_nodes,
                    min_impurity_decrease: self.min_impurity_decrease,
                    bootstrap: self.bootstrap,
                    max_samples: self.max_samples,
                    class_weight: &self.class_weight,
                    monotonic_cst: &self.monotonic_cst,
                    ccp_alpha: self.ccp_alpha,
                    oob_score: self.oob_score,
                    permutation_importances: self.permutation_importances,
                    quantiles: self.quantiles,
                    tree_method: self.tree_method,
                    max_bins: self.max_bins,
                    random_splits,
                }
            }
        }
    };
}

forest_params! {
    /// The average of many trees, each trained on a bootstrap sample, with features drawn at random at every node.
    RandomForest, "random-forest", true
}

forest_params! {
    /// The average of many trees whose thresholds are drawn at random.
    ExtraTrees, "extra-trees", false
}

const CAPABILITIES: Capabilities = Capabilities { sparse: true, random: true, ..TREE_CAPABILITIES };

static RANDOM_FOREST: LearnerInfo = LearnerInfo {
    name: "random-forest",
    summary: "average of many trees, each trained on a bootstrap sample, with features drawn at random at every node",
    capabilities: CAPABILITIES,
    family: Family::Ensemble,
};

static EXTRA_TREES: LearnerInfo = LearnerInfo {
    name: "extra-trees",
    summary: "average of many trees whose thresholds are drawn at random",
    capabilities: CAPABILITIES,
    family: Family::Ensemble,
};

impl Learner for RandomForest {
    fn info(&self) -> &'static LearnerInfo {
        &RANDOM_FOREST
    }

    fn supports_warm_start(&self) -> bool {
        true
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        train::train(&self.settings(false), data, context)
    }
}

impl Learner for ExtraTrees {
    fn info(&self) -> &'static LearnerInfo {
        &EXTRA_TREES
    }

    fn supports_warm_start(&self) -> bool {
        true
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        train::train(&self.settings(true), data, context)
    }
}
