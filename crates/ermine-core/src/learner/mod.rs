//! The interface of learners.
//!
//! | file | what it holds |
//! |---|---|
//! | this file | [`Learner`], [`Capabilities`], [`Context`], [`PathLearner`], [`IncrementalLearner`] |
//! | [`estimator`] | a learner as a parameter value, for reductions |
//! | [`parameters`] | parameter types that learners share |
//! | [`objective`] | custom objectives, validation metrics and checkpoints |
//! | [`raw_columns`] | standardization of raw tables |
//! | [`fit`](mod@fit) | training with all checks |
//!
//! A learner is a struct of declared parameters ([`params!`](crate::params)) that implements [`Learner`]: it describes its capabilities ([`LearnerInfo`]) and trains. Parameters and
//! data are checked, threads are set up and the result is wrapped in a model in one place, [`fit`](fn@fit).

pub mod estimator;
pub mod fit;
pub mod objective;
pub mod parameters;
pub mod raw_columns;

pub use fit::fit;
pub use objective::{Checkpoint, MakeObjective, Objective, ValidationMetric};

use crate::error::Result;
use crate::matrix::{Dataset, Features, Splits, Task};
use crate::model::{Certificate, Fitted, Model, Output};
use crate::param::{Parameters, Value};
use crate::progress::{Observer, Silent};
use crate::registry::Registry;
use serde::Serialize;

/// What a learner supports by itself, without encoding or reduction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Capabilities {
    /// Supported tasks.
    pub tasks: &'static [Task],
    /// Supports only two classes.
    pub binary_only: bool,
    /// Supports several targets.
    pub multi_output: bool,
    /// Supports sample weights.
    pub weights: bool,
    /// Supports missing values.
    pub missing: bool,
    /// Supports categories.
    pub nominal: bool,
    /// Supports sparse columns without converting many of them to dense columns at a time.
    pub sparse: bool,
    /// Predicts probabilities.
    pub probabilities: bool,
    /// The result depends on the random seed.
    pub random: bool,
}

/// Name and capabilities of a learner.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LearnerInfo {
    /// Name on the command line and in model files.
    pub name: &'static str,
    /// Summary in one line.
    pub summary: &'static str,
    /// Capabilities.
    pub capabilities: Capabilities,
    /// Family: the Python module and the reference page.
    pub family: Family,
}

/// A family of learners; Python modules and reference pages are organized by family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Predictors that ignore the features.
    Baseline,
    /// Single trees.
    Tree,
    /// Forests, boosting and bagging.
    Ensemble,
    /// Linear models.
    Linear,
    /// Support vector machines.
    SupportVector,
    /// Nearest neighbors.
    Neighbors,
    /// Learners that rank the rows of a query.
    Ranking,
    /// Multiclass classification by binary classifiers.
    Multiclass,
    /// Multilabel classification by classifiers.
    Multilabel,
    /// Calibration of probabilities.
    Calibration,
    /// Automatic choice and combination of learners.
    Auto,
}

/// The inputs of a fit that are not parameters of the learner.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Random seed.
    pub seed: u64,
    /// Number of threads; `None` for all cores. The result doesn't depend on it.
    pub threads: Option<usize>,
    /// Receives progress, and may cancel the work.
    pub observer: &'a dyn Observer,
    /// A model of the same learner to continue from ([`Learner::supports_warm_start`]): its trees or members are kept and count toward `n_estimators`, and its seed is used.
    pub init_model: Option<&'a Model>,
    /// The fold of each row, for learners that choose or calibrate by cross-validation; `None` to assign folds at random.
    pub folds: Option<&'a [u32]>,
    /// The validation set, for learners that use one ([`Learner::takes_validation`]); `None` to hold out training rows.
    pub validation: Option<&'a Dataset>,
    /// A custom objective. Its scores are the predictions in regression, and log-odds or logarithms of probabilities in classification. They start from
    /// `base_score`, or from [`Objective::start`]: with the same start, the same loss gives the same model as a built-in one.
    pub objective: Option<MakeObjective<'a>>,
    /// A custom validation metric, in place of the loss.
    pub metric: Option<ValidationMetric<'a>>,
    /// Saves the model so far.
    pub checkpoint: Option<Checkpoint<'a>>,
    /// The available learners, for reductions.
    pub registry: Registry,
}

impl Context<'_> {
    /// Seed 0, all cores, no observer, and nothing else.
    pub fn new(registry: Registry) -> Self {
        Context {
            seed: 0,
            threads: None,
            observer: &Silent,
            init_model: None,
            folds: None,
            validation: None,
            objective: None,
            metric: None,
            checkpoint: None,
            registry,
        }
    }
}

/// The result of training.
pub struct Trained {
    /// The fitted part of the model.
    pub fitted: Box<dyn Fitted>,
    /// What was minimized and what is proven about it.
    pub certificate: Certificate,
}

/// A learning algorithm with its parameters.
pub trait Learner: Parameters + Send + Sync {
    /// Name and capabilities.
    fn info(&self) -> &'static LearnerInfo;

    /// Trains. Called by [`fit`](fn@fit), which has checked parameters and data: there is at least one row and one feature, the task is supported, and all weights are positive.
    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained>;

    /// The regularization path or similar, if one fit can produce the models for many values of a parameter.
    fn path(&self) -> Option<&dyn PathLearner> {
        None
    }

    /// Rejects data that doesn't fit the parameters, before training.
    fn check_data(&self, _data: &Dataset) -> Result<()> {
        Ok(())
    }

    /// Whether initial scores ([`Dataset::init_score`]) are supported.
    fn takes_init_scores(&self) -> bool {
        false
    }

    /// Whether it uses a custom objective, validation metric and checkpoints ([`Context::objective`], [`Context::metric`], [`Context::checkpoint`]).
    fn supports_custom_training(&self) -> bool {
        false
    }

    /// Whether a validation set ([`Context::validation`]) is used with the current parameters.
    fn takes_validation(&self) -> bool {
        false
    }

    /// Whether the target is used at all.
    fn needs_target(&self) -> bool {
        true
    }

    /// Whether it can continue from a model that it has made ([`Context::init_model`]).
    fn supports_warm_start(&self) -> bool {
        false
    }

    /// Training in batches, each of which is seen once, where the learner can do that.
    fn incremental(&self) -> Option<&dyn IncrementalLearner> {
        None
    }
}

/// A learner that is trained batch by batch, from rows that need not fit in memory together.
pub trait IncrementalLearner: Sync {
    /// Trains on the next batch: from `previous`, the model of the batches before, or from nothing. The target of the first batch names all classes, whether or not they occur in it.
    fn fit_batch(&self, data: &Dataset, previous: Option<&Model>, context: &Context<'_>) -> Result<Model>;
}

/// Predictions for the test rows of each split, for each of several parameter values: the kind of output, and the numbers by split and value.
pub type SplitPredictions = (Output, Vec<Vec<Vec<f64>>>);

/// A learner that produces the models for many values of one parameter at about the cost of one fit: boosting rounds, pruning strength, number of neighbors, penalty strength. The
/// predictions equal those of separate fits, exactly or within the tolerance of a solver that uses warm starts.
pub trait PathLearner: Sync {
    /// The parameter.
    fn parameter(&self) -> &'static str;

    /// Trains on `data` for each of `values` and predicts the rows of `features`. Called by [`predict_path`](fit::predict_path), which has checked parameters, values and data.
    fn predict_path(
        &self,
        data: &Dataset,
        values: &[Value],
        features: &Features,
        context: &Context<'_>,
    ) -> Result<(Output, Vec<Vec<f64>>)>;

    /// The same for all splits of a data set at once, if they can share work (an index, a kernel matrix): predictions for the test rows by split and value. `None` if each split must
    /// be trained by itself, as it must if any preprocessing is fitted to the rows. Called by [`predict_splits`](fit::predict_splits), only for numeric data without missing values and
    /// without zero weights.
    fn predict_splits(
        &self,
        _data: &Dataset,
        _values: &[Value],
        _splits: &Splits,
        _context: &Context<'_>,
    ) -> Result<Option<SplitPredictions>> {
        Ok(None)
    }
}
