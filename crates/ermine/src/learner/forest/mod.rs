//! Random forests and extra-trees: the mean of many trees, each grown on other rows and other columns.
//!
//! | file | what it holds |
//! |---|---|
//! | this file | the parameters of both learners |
//! | [`train`] | from data to trees |
//! | [`fitted`] | the fitted forest: prediction, importances, proximity |
//!
//! **Idea.** A full tree fits its training data and little else. The mean of many that differ (rows drawn with replacement, columns drawn anew at every node) keeps
//! what they have in common. In extra-trees the thresholds are drawn too, and every tree sees all rows.
//!
//! **Splits** are between bins: at most 255 for each column, of equal count, each value its own where there are no more; see
//! [`crate::tree::lines`]. Forests on bins are as accurate as on exact thresholds, and much faster.
//!
//! **Seeds.** Tree t depends on the seed and on t only: a forest of 100 trees begins with the trees of a forest of 50.
//!
//! **Reference.** Breiman, Random forests, 2001; Geurts, Ernst and Wehenkel, Extremely randomized trees, 2006.

pub mod fitted;
pub mod train;

pub use fitted::FittedForest;

use super::tree_parameters::{Amount, ClassWeight, MaxFeatures};
use super::{Capabilities, Context, Info, Learner, Trained};
use crate::error::Result;
use crate::matrix::{Dataset, Task};
use crate::param::{Kind, ParamType, Range, Value};
use crate::params;
use crate::split::cells::ForestCriterion;

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
}

macro_rules! forest_params {
    ($(#[$meta:meta])* $name:ident, $word:literal, $bootstrap:literal) => {
        params! {
            $(#[$meta])*
            pub struct $name($word) {
                /// Trees.
                n_estimators: usize = 100, range Range::between(1.0, 1e6), tune Log(10, 1000);
                /// What splits of classes minimise. Numbers have the squared error.
                criterion: ForestCriterion = ForestCriterion::Gini, tune Each;
                /// Depth of a tree, at most; none for no limit.
                max_depth: Option<usize> = None, range Range::at_least(1.0);
                /// A node with fewer rows, or a smaller share of them, is not split.
                min_samples_split: Amount = Amount::Count(2), range Range::more_than(0.0);
                /// Each side of a split has at least this many rows, or this share of them.
                min_samples_leaf: Amount = Amount::Count(1), range Range::more_than(0.0), tune Log(1, 50);
                /// Each side of a split has at least this share of the weight.
                min_weight_fraction_leaf: f64 = 0.0, range Range::between(0.0, 0.5);
                /// Columns tried at each node: a number, a share, sqrt, log2, or none for all; auto is sqrt for classes and all for numbers.
                max_features: ColumnsTried = ColumnsTried::Auto;
                /// Leaves of a tree, at most; the best splits are made first. None for no limit.
                max_leaf_nodes: Option<usize> = None, range Range::at_least(2.0);
                /// A split lowers the impurity, weighted by its share of the rows, by at least this much.
                min_impurity_decrease: f64 = 0.0, range Range::at_least(0.0);
                /// Whether each tree sees rows drawn with replacement, or all rows.
                bootstrap: bool = $bootstrap;
                /// How many rows are drawn for each tree, or which share; none for as many as there are. Only with bootstrap.
                max_samples: Option<Amount> = None, range Range::more_than(0.0);
                /// How much the rows of each class count: none, balanced, or class=weight pairs.
                class_weight: ClassWeight = ClassWeight::Equal;
                /// Whether to judge the forest on the rows that each tree didn't see. Only with bootstrap.
                oob_score: bool = false;
                /// Bins of a column, at most.
                max_bins: usize = 255, range Range::between(2.0, 255.0);
            }
        }

        impl $name {
            fn settings(&self, random_splits: bool) -> train::Settings<'_> {
                train::Settings {
                    n_estimators: self.n_estimators,
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
                    oob_score: self.oob_score,
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
    sparse: false,
    probabilities: true,
    random: true,
};

static RANDOM_FOREST: Info = Info {
    name: "random-forest",
    summary: "the mean of many trees, each grown on rows drawn with replacement and on columns drawn at every node",
    capabilities: CAPABILITIES,
};

static EXTRA_TREES: Info = Info {
    name: "extra-trees",
    summary: "the mean of many trees whose thresholds are drawn at random",
    capabilities: CAPABILITIES,
};

impl Learner for RandomForest {
    fn info(&self) -> &'static Info {
        &RANDOM_FOREST
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        train::train(&self.settings(false), data, context)
    }
}

impl Learner for ExtraTrees {
    fn info(&self) -> &'static Info {
        &EXTRA_TREES
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        train::train(&self.settings(true), data, context)
    }
}
