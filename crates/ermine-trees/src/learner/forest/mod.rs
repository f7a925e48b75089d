//! Random forests and extra-trees: the mean of many trees, each grown on other rows and other columns.
//!
//! | file | what it holds |
//! |---|---|
//! | this file | the parameters of both learners |
//! | [`train`] | from data to trees, by one of the next two |
//! | `hist` | trees on bins |
//! | `exact` | trees on all thresholds |
//! | [`judge`] | what follows from the rows that a tree saw and didn't see: out-of-bag scores, permutation importances, the targets of leaves |
//! | [`fitted`] | the fitted forest: prediction, importances, quantiles |
//!
//! **Idea.** A full tree fits its training data and little else. The mean of many that differ (rows drawn with replacement, columns drawn anew at every node) keeps
//! what they have in common. In extra-trees the thresholds are drawn too, and every tree sees all rows.
//!
//! **Splits** (`tree_method`). `hist`: between bins, at most 255 for each column, of equal count, each value its own where there are no more; see
//! [`crate::tree::lines`]. `exact`: all thresholds, by the grower of single trees ([`mod@crate::tree::grow`]). Both are equally accurate, and bins are much faster. `auto`, the default,
//! takes bins wherever they can do what is asked; the criteria error, absolute_error and poisson, ccp_alpha and monotonic_cst need exact trees.
//!
//! **Seeds.** Tree t depends on the seed and on t only: a forest of 100 trees begins with the trees of a forest of 50.
//!
//! **Reference.** Breiman, Random forests, 2001; Geurts, Ernst and Wehenkel, Extremely randomized trees, 2006.

mod exact;
pub mod fitted;
mod hist;
pub mod judge;
pub mod train;

pub use fitted::FittedForest;

use super::decision_tree::TreeCriterion;
use super::{Capabilities, Context, Family, Info, Learner, Trained};
use ermine_core::error::Result;
use ermine_core::learner::parameters::{Amount, ClassWeight, MaxFeatures};
use ermine_core::matrix::{Dataset, Task};
use ermine_core::param::{Kind, ParamType, Range, Value};
use ermine_core::{choice, params};

choice! {
    /// Which thresholds are tried.
    pub enum ForestMethod {
        /// Bounds of bins, unless another parameter needs all thresholds.
        Auto = "auto",
        /// Bounds of bins.
        Hist = "hist",
        /// All.
        Exact = "exact",
    }
}

/// How many columns a node of a forest tries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ColumnsTried {
    /// The square root of their number for classes, all of them for numbers.
    Auto,
    /// As said.
    Of(MaxFeatures),
}

impl ColumnsTried {
    fn of(self, d: usize, task: Task) -> usize {
        match (self, task) {
            (ColumnsTried::Of(said), _) => said.of(d),
            (ColumnsTried::Auto, Task::Classification) => MaxFeatures::Sqrt.of(d),
            (ColumnsTried::Auto, _) => d,
        }
    }
}

impl ParamType for ColumnsTried {
    fn kind() -> Kind {
        Kind::Either(vec![Kind::Choice(vec!["auto"]), MaxFeatures::kind()])
    }
    fn to_value(&self) -> Value {
        match self {
            ColumnsTried::Auto => Value::Text("auto".into()),
            ColumnsTried::Of(said) => said.to_value(),
        }
    }
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(word) if word == "auto" => Some(ColumnsTried::Auto),
            other => MaxFeatures::from_value(other).map(ColumnsTried::Of),
        }
    }
    fn wanted() -> Option<String> {
        MaxFeatures::wanted().map(|wanted| format!("auto, {wanted}"))
    }
}

/// How much the rows of each class count in a forest.
#[derive(Debug, Clone, PartialEq)]
pub enum ForestClassWeight {
    /// The same for all trees.
    Of(ClassWeight),
    /// Balanced among the rows that were drawn for a tree, for each tree anew.
    BalancedSubsample,
}

impl ParamType for ForestClassWeight {
    fn kind() -> Kind {
        let choice = Kind::Choice(vec!["balanced", "balanced_subsample"]);
        Kind::Optional(Box::new(Kind::Either(vec![choice, Kind::List(Box::new(Kind::Text))])))
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
                /// Trees.
                n_estimators: usize = 100, range Range::between(1.0, 1e6), tune Log(10, 1000);
                /// What a split lowers; none for "gini" (classes) or "squared_error" (numbers).
                criterion: Option<TreeCriterion> = None, tune Each;
                /// Depth of a tree, at most; none for 1,024.
                max_depth: Option<usize> = None, range Range::at_least(1.0);
                /// A node with fewer rows, or a smaller share of them, is not split.
                min_samples_split: Amount = Amount::Count(2), range Range::more_than(0.0);
                /// Each side of a split has at least this many rows, or this share of them.
                min_samples_leaf: Amount = Amount::Count(1), range Range::more_than(0.0), tune Log(1, 50);
                /// Each side of a split has at least this share of the weight.
                min_weight_fraction_leaf: f64 = 0.0, range Range::between(0.0, 0.5);
                /// Columns tried at each node: a number (all if there are no more), a share, sqrt, log2, or none for all; auto is sqrt for classes and all for numbers.
                max_features: ColumnsTried = ColumnsTried::Auto;
                /// Leaves of a tree, at most; the best splits are made first. None for no limit.
                max_leaf_nodes: Option<usize> = None, range Range::at_least(2.0);
                /// A split lowers the impurity, weighted by its share of the rows, by at least this much.
                min_impurity_decrease: f64 = 0.0, range Range::at_least(0.0);
                /// Whether each tree sees rows drawn with replacement, or all rows.
                bootstrap: bool = $bootstrap;
                /// How many rows are drawn for each tree, or which share; none for as many as there are. Only with bootstrap.
                max_samples: Option<Amount> = None, range Range::more_than(0.0);
                /// How much the rows of each class count, beside their own weights: none, balanced (the classes weigh the same, rows counted by their weights), balanced_subsample (the same among the rows drawn for each tree), or class=weight pairs.
                class_weight: ForestClassWeight = ForestClassWeight::Of(ClassWeight::Equal);
                /// For each column 1 (the prediction may not fall as it grows), -1 (it may not rise) or 0; empty for no constraints. Needs exact trees.
                monotonic_cst: Vec<i64> = Vec::new(), range Range::between(-1.0, 1.0);
                /// Splits that lower the impurity by less than this for each leaf they add are pruned. Needs exact trees.
                ccp_alpha: f64 = 0.0, range Range::at_least(0.0);
                /// Whether to judge the forest on the rows that each tree didn't see. Only with bootstrap.
                oob_score: bool = false;
                /// Whether to find out how much worse each tree gets on the rows that it didn't see when the values of a column are shuffled. Only with bootstrap.
                permutation_importances: bool = false;
                /// Whether to keep the training targets of all leaves, from which quantiles are predicted. For one number.
                quantiles: bool = false;
                /// Which thresholds are tried: bounds of bins (hist), all (exact), or bins unless another parameter needs exact trees (auto).
                tree_method: ForestMethod = ForestMethod::Auto;
                /// Bins of a column, at most.
                max_bins: usize = 255, range Range::between(2.0, 255.0);
            }
        }

        impl $name {
            fn settings(&self, random_splits: bool) -> train::Settings<'_> {
                train::Settings {
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
    /// The mean of many trees, each grown on rows drawn with replacement and on columns drawn at every node.
    RandomForest, "random-forest", true
}

forest_params! {
    /// The mean of many trees whose thresholds are drawn at random.
    ExtraTrees, "extra-trees", false
}

const CAPABILITIES: Capabilities = Capabilities {
    tasks: &[Task::Classification, Task::Regression],
    binary_only: false,
    multi_output: true,
    weights: true,
    missing: true,
    nominal: true,
    sparse: true,
    probabilities: true,
    random: true,
};

static RANDOM_FOREST: Info = Info {
    name: "random-forest",
    summary: "the mean of many trees, each grown on rows drawn with replacement and on columns drawn at every node",
    capabilities: CAPABILITIES,
    family: Family::Ensemble,
};

static EXTRA_TREES: Info = Info {
    name: "extra-trees",
    summary: "the mean of many trees whose thresholds are drawn at random",
    capabilities: CAPABILITIES,
    family: Family::Ensemble,
};

impl Learner for RandomForest {
    fn info(&self) -> &'static Info {
        &RANDOM_FOREST
    }

    fn goes_on(&self) -> bool {
        true
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        train::train(&self.settings(false), data, context)
    }
}

impl Learner for ExtraTrees {
    fn info(&self) -> &'static Info {
        &EXTRA_TREES
    }

    fn goes_on(&self) -> bool {
        true
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        train::train(&self.settings(true), data, context)
    }
}
