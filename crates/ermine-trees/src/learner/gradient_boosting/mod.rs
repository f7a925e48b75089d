//! Gradient boosting: a sum of trees, each grown on the gradients of the loss at the sum so far.
//!
//! | file | what it holds |
//! |---|---|
//! | this file | the parameters |
//! | [`run`] | from data to a model: rows kept aside, continued training, checkpoints, losses of one's own |
//! | `losses` | which loss is asked for |
//! | `settings` | the parameters as trees and rounds take them |
//! | [`constraints`] | columns that may only rise, or may not meet |
//! | `columns` | the bins of the columns, and target statistics |
//! | `rounds` | how many rounds, and which rows are kept aside |
//! | [`watch`] | what early stopping watches |
//! | [`fitted`] | the fitted model |
//!
//! The method itself is in [`boost`](crate::boost), its splits in [`split::histogram`](crate::split::histogram).
//!
//! **Reference.** Friedman, Greedy Function Approximation: A Gradient Boosting Machine, 2001; Chen and Guestrin, XGBoost, 2016.

mod columns;
pub mod constraints;
pub mod fitted;
mod losses;
mod rounds;
pub mod run;
mod settings;
pub mod watch;

pub use constraints::{Interactions, Monotone};
pub use ermine_core::model::Link;
pub use fitted::Boosted;
pub use run::Boosting;
pub use watch::EvalMetric;

use super::{Capabilities, Context, Family, Info, Learner, Path, Trained};
use ermine_core::error::Result;
use ermine_core::matrix::binned::MAX_BINS;
use ermine_core::matrix::{Dataset, Task};
use ermine_core::param::Range;
use ermine_core::{choice, params};

choice! {
    /// What is minimised.
    pub enum Loss {
        /// The log loss for classes, the squared error for numbers, LambdaMART for ranking.
        Auto = "auto",
        /// The log loss of two or several classes.
        LogLoss = "log_loss",
        /// Half the squared error.
        SquaredError = "squared_error",
        /// The absolute error.
        AbsoluteError = "absolute_error",
        /// The Huber loss: squared near, absolute far.
        Huber = "huber",
        /// The quantile loss.
        Quantile = "quantile",
        /// Counts: the Poisson deviance, with a logarithmic link.
        Poisson = "poisson",
        /// Positive numbers: the Gamma deviance, with a logarithmic link.
        Gamma = "gamma",
        /// Numbers that are zero or positive: the Tweedie deviance, with a logarithmic link.
        Tweedie = "tweedie",
        /// Ranking: LambdaMART for NDCG.
        LambdaRank = "lambdarank",
        /// Ranking: the logistic loss of pairs.
        Pairwise = "pairwise",
    }
}

choice! {
    /// Which leaf is split next.
    pub enum GrowPolicy {
        /// The leaf that gains most; but every other model of symmetric trees where the number of rounds is found on small data.
        Auto = "auto",
        /// The leaf that gains most.
        Lossguide = "lossguide",
        /// The leaves of a level one after the other.
        Depthwise = "depthwise",
        /// All leaves of a level by the same question.
        Symmetric = "symmetric",
    }
}

choice! {
    /// Which thresholds are tried.
    pub enum TreeMethod {
        /// Bounds of bins.
        Hist = "hist",
        /// All: every distinct value has a bin.
        Exact = "exact",
    }
}

choice! {
    /// Which rows a round sees.
    pub enum SamplingMethod {
        /// The share `subsample` of them, each equally likely.
        Uniform = "uniform",
        /// Those with large gradients, and some of the others.
        Goss = "goss",
    }
}

params! {
    /// A sum of trees, each grown on the gradients of the loss at the sum so far.
    pub struct GradientBoosting("gradient-boosting") {
        /// What is minimised; auto: the log loss for classes, the squared error for numbers, LambdaMART for ranking.
        loss: Loss = Loss::Auto;
        /// How many rounds; in each, one tree is grown for each output (one for each class where there are more than two). 0 for as many, up to 1500, as do best on rows kept aside: on small data the mean of five models that each keep a fold aside, on large data one model of all rows. With few rows or `rate_drop`: 100.
        n_estimators: usize = 0, range Range::at_least(0.0);
        /// What the weights of each tree's leaves are multiplied by.
        learning_rate: f64 = 0.1, range Range::above_to(0.0, 1e6), tune Log(0.01, 0.3);
        /// Most leaves of a tree; none for no limit.
        max_leaf_nodes: Option<usize> = Some(31), range Range::at_least(2.0), tune Log(7.0, 127.0);
        /// Longest way from the root of a tree to a leaf; none for 1,024.
        max_depth: Option<usize> = None, range Range::at_least(1.0);
        /// Which leaf is split next: the one that gains most (lossguide), those of a level one after the other (depthwise), or all of a level by the same question (symmetric). auto: lossguide; but where the number of rounds is found on small data, every other model is of symmetric trees of up to six levels, and all learn at half the learning rate, with a tenth of `min_child_weight`, each tree on at most 0.8 of the rows (of all rows, where there are classes and more than 2,000 of them).
        grow_policy: GrowPolicy = GrowPolicy::Auto, tune Each;
        /// Which thresholds are tried: bounds of bins (hist), or all (exact, for columns of at most 65,535 distinct values).
        tree_method: TreeMethod = TreeMethod::Hist;
        /// Into how many bins the values of a column are cut.
        max_bins: usize = 255, range Range::between(2.0, MAX_BINS as f64);
        /// L2 penalty on leaf weights. (Splits of the absolute and quantile loss know it; their leaves are medians and quantiles, which have none.)
        reg_lambda: f64 = 1.0, range Range::between(0.0, 1e100), tune Log(0.001, 100.0);
        /// L1 penalty on leaf weights.
        reg_alpha: f64 = 0.0, range Range::between(0.0, 1e100), tune Log(0.001, 10.0);
        /// The least that a split must lower the objective by (XGBoost's program compares its `gamma` with twice that).
        gamma: f64 = 0.0, range Range::at_least(0.0), tune Log(0.001, 5.0);
        /// The least sum of curvatures in a leaf.
        min_child_weight: f64 = 1.0, range Range::at_least(0.0), tune Log(0.01, 30.0);
        /// Largest weight of a leaf, without its sign; 0 for no limit.
        max_delta_step: f64 = 0.0, range Range::at_least(0.0);
        /// The share of the rows that each round sees, drawn at random.
        subsample: f64 = 1.0, range Range::above_to(0.0, 1.0), tune Linear(0.5, 1.0);
        /// How rows are drawn: each equally likely (uniform, the share `subsample`), or by their gradients (goss: the shares `top_rate` and `other_rate`).
        sampling_method: SamplingMethod = SamplingMethod::Uniform;
        /// Under goss, the share of rows, those with the largest gradients, that each round sees.
        top_rate: f64 = 0.2, range Range::inside(0.0, 1.0);
        /// Under goss, the share of rows that is drawn from the others.
        other_rate: f64 = 0.1, range Range::inside(0.0, 1.0);
        /// Leave out each earlier round with this probability while a tree is grown (DART).
        rate_drop: f64 = 0.0, range Range::between(0.0, 1.0);
        /// The share of the columns that each tree sees, drawn at random.
        colsample_bytree: f64 = 1.0, range Range::above_to(0.0, 1.0), tune Linear(0.3, 1.0);
        /// The share of the tree's columns that each level of it sees.
        colsample_bylevel: f64 = 1.0, range Range::above_to(0.0, 1.0);
        /// The share of the level's columns that each node sees.
        colsample_bynode: f64 = 1.0, range Range::above_to(0.0, 1.0);
        /// For each column, in turn or by its name: 1 if the prediction must not fall with it, -1 if it must not rise, 0 for neither. Empty for no constraints.
        monotone_constraints: Monotone = Monotone::default(), range Range::between(-1.0, 1.0);
        /// Groups of columns (by number or by name) that may meet on a way from the root of a tree to a leaf; a column that no group names meets none. Empty for no constraints.
        interaction_constraints: Interactions = Interactions::default();
        /// Nominal columns with at most this many categories are split one category against the rest.
        max_cat_to_onehot: usize = 4, range Range::at_least(0.0);
        /// Nominal columns with at least this many categories are seen as the mean target of each category (ordered target statistics); none for never.
        min_cat_to_statistic: Option<usize> = Some(64), range Range::at_least(2.0);
        /// Most categories on the smaller side of a split.
        max_cat_threshold: usize = 32, range Range::at_least(1.0);
        /// Shrinks the average gradient of categories with little curvature before they are put in order.
        cat_smooth: f64 = 10.0, range Range::between(0.0, 1e100);
        /// Added to `reg_lambda` where categories are split by their order.
        cat_l2: f64 = 10.0, range Range::between(0.0, 1e100);
        /// Stop when the loss on rows kept aside has not improved for this many rounds, and keep the rounds up to the best; none for never.
        early_stopping_rounds: Option<usize> = None, range Range::at_least(1.0);
        /// What early stopping watches on the rows kept aside: the loss, or a measure of the task; of one that is better the higher it is, what it lacks of 1.
        eval_metric: EvalMetric = EvalMetric::Loss;
        /// The share of the rows that is kept aside for early stopping.
        validation_fraction: f64 = 0.1, range Range::inside(0.0, 1.0);
        /// The score that all rows start from; none for the best constant.
        base_score: Option<f64> = None, range Range::between(-1e100, 1e100);
        /// Which quantiles the quantile loss predicts.
        quantile_alpha: Vec<f64> = vec![0.5], range Range::inside(0.0, 1.0);
        /// The residual from which the Huber loss is linear.
        huber_slope: f64 = 1.0, range Range::above_to(0.0, 1e100);
        /// The power of the mean that the variance follows in the Tweedie loss.
        tweedie_variance_power: f64 = 1.5, range Range::inside(1.0, 2.0);
    }
}

static INFO: Info = Info {
    name: "gradient-boosting",
    summary: "a sum of trees, each grown on the gradients of the loss at the sum so far",
    capabilities: Capabilities {
        tasks: &[Task::Classification, Task::Regression, Task::Ranking],
        binary_only: false,
        multi_output: true,
        weights: true,
        missing: true,
        nominal: true,
        sparse: true,
        probabilities: true,
        random: true,
    },
    family: Family::Ensemble,
};

impl Learner for GradientBoosting {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn check_data(&self, data: &Dataset) -> Result<()> {
        self.check_all(data)
    }

    fn takes_init_scores(&self) -> bool {
        true
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        Boosting::new(self.clone()).train(data, context)
    }

    /// Where rounds are neither dropped later nor watched, a longer model begins with a shorter one.
    fn path(&self) -> Option<&dyn Path> {
        (self.rate_drop == 0.0 && self.early_stopping_rounds.is_none()).then_some(self)
    }
}
