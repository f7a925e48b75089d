//! Gradient boosting: a sum of trees, each grown on the gradients of the loss at the sum so far.
//!
//! | file | what it holds |
//! |---|---|
//! | this file | the parameters |
//! | `run` | from data to a model: validation sets, continued training, checkpoints, custom objectives and metrics |
//! | `losses` | the objective that the parameters select |
//! | `settings` | the parameters as trees and rounds take them |
//! | [`constraints`] | monotone and interaction constraints |
//! | `columns` | the bins of the columns, and target statistics |
//! | `rounds` | the number of rounds by early stopping, and validation splits |
//! | [`eval_metric`] | the metric of early stopping |
//! | [`fitted`] | the fitted model |
//!
//! The method itself is in [`boost`](crate::boost), its splits in [`split::histogram`](crate::split::histogram).
//!
//! **Reference.** Friedman, Greedy Function Approximation: A Gradient Boosting Machine, 2001; Chen and Guestrin, XGBoost, 2016.

mod calibration;
mod columns;
pub mod constraints;
pub mod eval_metric;
pub mod fitted;
mod losses;
mod rounds;
mod run;
mod settings;

pub use constraints::{InteractionConstraints, MonotoneConstraints};
pub use ermine_core::model::Link;
pub use eval_metric::EvalMetric;
pub use fitted::BoostedTrees;

use run::FitRequest;

use super::{Capabilities, Context, Family, Learner, LearnerInfo, PathLearner, Trained};
use ermine_core::error::Result;
use ermine_core::matrix::binned::MAX_BINS;
use ermine_core::matrix::{Dataset, Task};
use ermine_core::param::Range;
use ermine_core::{choice, params};

choice! {
    /// The loss that boosting minimizes.
    pub enum BoostingLoss {
        /// Log loss for classification, squared error for regression, LambdaMART for ranking.
        Auto = "auto",
        /// Log loss of two or more classes.
        LogLoss = "log_loss",
        /// Half the squared error.
        SquaredError = "squared_error",
        /// Absolute error.
        AbsoluteError = "absolute_error",
        /// Huber loss: squared for small residuals, absolute for large ones.
        Huber = "huber",
        /// Quantile (pinball) loss.
        Quantile = "quantile",
        /// Poisson deviance with a log link, for counts.
        Poisson = "poisson",
        /// Gamma deviance with a log link, for positive targets.
        Gamma = "gamma",
        /// Tweedie deviance with a log link, for targets that are zero or positive.
        Tweedie = "tweedie",
        /// Focal loss of two classes: rows that are predicted well count less.
        Focal = "focal",
        /// Accelerated failure time, for survival times; negative targets are censored times.
        Aft = "aft",
        /// Cox's proportional hazards, for survival times; negative targets are censored times.
        Cox = "cox",
        /// LambdaMART, which optimizes NDCG, for ranking.
        LambdaRank = "lambdarank",
        /// Logistic loss of pairs, for ranking.
        Pairwise = "pairwise",
    }
}

choice! {
    /// The distribution of the logarithm of survival times around the score.
    pub enum AftDistribution {
        /// Normal distribution.
        Normal = "normal",
        /// Logistic distribution.
        Logistic = "logistic",
        /// Extreme value distribution: survival times have a Weibull distribution.
        Extreme = "extreme",
    }
}

choice! {
    /// The order in which leaves are split.
    pub enum GrowPolicy {
        /// Best-first; but where the number of rounds is chosen on small data, every other model has symmetric trees (all, if there are more than two classes).
        Auto = "auto",
        /// Best-first: the leaf with the largest gain.
        Lossguide = "lossguide",
        /// Level by level.
        Depthwise = "depthwise",
        /// All leaves of a level by the same test (oblivious trees).
        Symmetric = "symmetric",
    }
}

choice! {
    /// The thresholds that are tried.
    pub enum TreeMethod {
        /// Boundaries of bins.
        Hist = "hist",
        /// Every distinct value.
        Exact = "exact",
    }
}

choice! {
    /// How the rows of a round are sampled.
    pub enum SamplingMethod {
        /// Uniformly, the fraction `subsample`.
        Uniform = "uniform",
        /// All rows with large gradients, and some of the others (GOSS).
        Goss = "goss",
        /// All rows, with random weights (Bayesian bootstrap).
        Bayesian = "bayesian",
    }
}

params! {
    /// A sum of trees, each grown on the gradients of the loss at the sum so far.
    pub struct GradientBoosting("gradient-boosting") {
        /// Loss to minimize; auto: log loss for classification, squared error for regression, LambdaMART for ranking. The survival losses aft and cox take times of events as targets, and minus the time for rows that were last seen then without an event (right-censored); aft predicts the time, cox the hazard relative to other rows.
        loss: BoostingLoss = BoostingLoss::Auto;
        /// Number of boosting rounds, each with one tree per output (per class if there are more than two). 0 chooses it, up to 1500, by early stopping on a validation set: on small data the mean number of rounds of up to four folds, with which up to four models of all rows are trained, whose mean is the model; on large data that of one fold, and one model of all rows. With fewer than 40 rows or with `rate_drop`, 0 means 100.
        n_estimators: usize = 0, range Range::at_least(0.0);
        /// Learning rate (shrinkage): the factor by which the leaf values of each tree are multiplied.
        learning_rate: f64 = 0.1, range Range::above_to(0.0, 1e6), tune Log(0.01, 0.3);
        /// Maximum number of leaves per tree; none for no limit.
        max_leaf_nodes: Option<usize> = Some(31), range Range::at_least(2.0), tune Log(7.0, 127.0);
        /// Maximum depth of a tree; none for 1,024.
        max_depth: Option<usize> = None, range Range::at_least(1.0);
        /// Order in which leaves are split: the leaf with the largest gain first (lossguide), level by level (depthwise), or all leaves of a level by the same test (symmetric). auto is lossguide, except where the number of rounds is chosen on small data: then every other model has symmetric trees of up to six levels (all models, if there are more than two classes), and all models use half the learning rate (the whole, if there are more than two classes), a tenth of `min_child_weight`, and random weights of the rows for each tree (equal ones for classification with more than 2,000 rows). Symmetric trees of several classes have the same tests.
        grow_policy: GrowPolicy = GrowPolicy::Auto, tune Each;
        /// Thresholds that are tried: boundaries of bins (hist), or every distinct value (exact, for columns of at most 65,535 distinct values).
        tree_method: TreeMethod = TreeMethod::Hist;
        /// Maximum number of bins per column.
        max_bins: usize = 255, range Range::between(2.0, MAX_BINS as f64);
        /// L2 regularization of leaf values. (With the absolute and quantile losses it affects the choice of splits only: leaf values are medians and quantiles.)
        reg_lambda: f64 = 1.0, range Range::between(0.0, 1e100), tune Log(0.001, 100.0);
        /// L1 regularization of leaf values.
        reg_alpha: f64 = 0.0, range Range::between(0.0, 1e100), tune Log(0.001, 10.0);
        /// Minimum decrease of the objective for a split (XGBoost compares its `gamma` with twice that decrease).
        gamma: f64 = 0.0, range Range::at_least(0.0), tune Log(0.001, 5.0);
        /// Minimum sum of Hessians in a leaf.
        min_child_weight: f64 = 1.0, range Range::at_least(0.0), tune Log(0.01, 30.0);
        /// Maximum absolute leaf value before shrinkage; 0 for no limit.
        max_delta_step: f64 = 0.0, range Range::at_least(0.0);
        /// Fraction of the rows that is sampled for each round. The splits of a tree are chosen on the sampled rows; the values of its leaves are those of all rows.
        subsample: f64 = 1.0, range Range::above_to(0.0, 1.0), tune Linear(0.5, 1.0);
        /// How rows are sampled for choosing the splits of a round: uniformly (the fraction `subsample`), by gradient (goss: the fractions `top_rate` and `other_rate`), or with random weights (bayesian: all rows, or the fraction `subsample`, with exponentially distributed weights).
        sampling_method: SamplingMethod = SamplingMethod::Uniform;
        /// Fraction of the rows, those with the largest gradients, that goss keeps.
        top_rate: f64 = 0.2, range Range::inside(0.0, 1.0);
        /// Fraction of the rows that goss samples from the others.
        other_rate: f64 = 0.1, range Range::inside(0.0, 1.0);
        /// Probability of dropping each earlier round while a tree is grown (DART).
        rate_drop: f64 = 0.0, range Range::between(0.0, 1.0);
        /// Fraction of the columns that is sampled for each tree.
        colsample_bytree: f64 = 1.0, range Range::above_to(0.0, 1.0), tune Linear(0.3, 1.0);
        /// Fraction of the tree's columns that is sampled for each level.
        colsample_bylevel: f64 = 1.0, range Range::above_to(0.0, 1.0);
        /// Fraction of the level's columns that is sampled for each node.
        colsample_bynode: f64 = 1.0, range Range::above_to(0.0, 1.0);
        /// Monotonicity constraints, one per column or by column name: 1 for predictions that must not decrease with the column, -1 for predictions that must not increase, 0 for none. Empty for no constraints.
        monotone_constraints: MonotoneConstraints = MonotoneConstraints::default(), range Range::between(-1.0, 1.0);
        /// Interaction constraints: groups of columns (by number or name) that may occur together on a path from the root to a leaf; a column in no group occurs alone. Empty for no constraints.
        interaction_constraints: InteractionConstraints = InteractionConstraints::default();
        /// Nominal columns with at most this many categories are split one category against the rest.
        max_cat_to_onehot: usize = 4, range Range::at_least(0.0);
        /// Nominal columns with at least this many categories are replaced by the mean target of each category (ordered target statistics); none for never.
        min_cat_to_statistic: Option<usize> = Some(64), range Range::at_least(2.0);
        /// Maximum number of categories on the smaller side of a split.
        max_cat_threshold: usize = 32, range Range::at_least(1.0);
        /// Smoothing of the mean gradient of rare categories before categories are sorted by it.
        cat_smooth: f64 = 10.0, range Range::between(0.0, 1e100);
        /// L2 regularization that is added to `reg_lambda` for splits of sorted categories.
        cat_l2: f64 = 10.0, range Range::between(0.0, 1e100);
        /// Stop when the validation score has not improved for this many rounds, and keep the rounds up to the best one; none for no early stopping.
        early_stopping_rounds: Option<usize> = None, range Range::at_least(1.0);
        /// Validation metric of early stopping: the loss, or a metric of the task. Metrics where higher is better are tracked as 1 - score.
        eval_metric: EvalMetric = EvalMetric::Loss;
        /// Fraction of the rows that is held out as validation set for early stopping.
        validation_fraction: f64 = 0.1, range Range::inside(0.0, 1.0);
        /// Initial raw score of all rows; none for the best constant.
        base_score: Option<f64> = None, range Range::between(-1e100, 1e100);
        /// Levels of the quantiles that the quantile loss predicts.
        quantile_alpha: Vec<f64> = vec![0.5], range Range::inside(0.0, 1.0);
        /// Calibrate the quantiles by cross-validation, so that they hold on rows the model hasn't seen (conformalized quantile regression); the certificate states the coverage of held-out rows. Takes up to five more trainings.
        calibrate_quantiles: bool = false;
        /// Residual beyond which the Huber loss is linear.
        huber_slope: f64 = 1.0, range Range::above_to(0.0, 1e100);
        /// Variance power of the Tweedie loss: the variance is in proportion to this power of the mean.
        tweedie_variance_power: f64 = 1.5, range Range::inside(1.0, 2.0);
        /// Exponent of the focal loss: how much less rows count that are predicted well; 0 for the log loss.
        focal_gamma: f64 = 2.0, range Range::between(0.0, 100.0);
        /// Distribution of the logarithm of survival times under the aft loss.
        aft_distribution: AftDistribution = AftDistribution::Normal;
        /// Scale of the logarithm of survival times under the aft loss.
        aft_scale: f64 = 1.0, range Range::between(0.001, 1000.0);
    }
}

static INFO: LearnerInfo = LearnerInfo {
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
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn check_data(&self, data: &Dataset) -> Result<()> {
        self.check_all(data)
    }

    fn takes_init_scores(&self) -> bool {
        true
    }

    fn takes_validation(&self) -> bool {
        true
    }

    fn supports_warm_start(&self) -> bool {
        true
    }

    fn supports_custom_training(&self) -> bool {
        true
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let (fitted, certificate) = FitRequest { params: self.clone(), context: *context }.train_model(data)?;
        Ok(Trained { fitted: Box::new(fitted), certificate })
    }

    /// Without dropout, early stopping and calibration, a longer model begins with the rounds of a shorter one.
    fn path(&self) -> Option<&dyn PathLearner> {
        let changes_all = self.calibrate_quantiles && self.loss == BoostingLoss::Quantile;
        (self.rate_drop == 0.0 && self.early_stopping_rounds.is_none() && !changes_all).then_some(self)
    }
}
