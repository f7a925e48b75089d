//! The contract that all learners keep.
//!
//! | file | what it holds |
//! |---|---|
//! | this file | [`Learner`], [`Capabilities`], [`Context`], [`Path`] |
//! | [`estimator`] | a learner as the value of a parameter, for learners over learners |
//! | [`parameters`] | parameter types that learners share |
//! | [`objective`] | custom objectives, validation metrics and checkpoints |
//! | [`raw_columns`] | how learners run on tables whose columns nobody has scaled |
//! | [`fit`](mod@fit) | the shared way from parameters and data to a model |
//!
//! A learner is a struct of declared parameters ([`params!`](crate::params)) that implements [`Learner`]: it says what it can do ([`Info`]) and
//! trains. Checking parameters and data, running on the asked number of threads and wrapping the result in a model is
//! done once, in [`fit`](fn@fit).

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

/// What a learner can do by itself, without an encoder or a reduction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Capabilities {
    /// The tasks it can learn.
    pub tasks: &'static [Task],
    /// It learns only two classes by nature.
    pub binary_only: bool,
    /// It learns several numbers at once.
    pub multi_output: bool,
    /// It takes row weights.
    pub weights: bool,
    /// It takes missing values as they are.
    pub missing: bool,
    /// It takes categories as they are.
    pub nominal: bool,
    /// It takes sparse columns, and never makes more than a few of them dense at a time, or needs no more than its own working copy of them.
    pub sparse: bool,
    /// It predicts probabilities.
    pub probabilities: bool,
    /// Its result depends on the seed.
    pub random: bool,
}

/// A learner's place in the registry.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Info {
    /// Its name on the command line and in model files.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// What it can do.
    pub capabilities: Capabilities,
    /// Which family it belongs to: its Python module and its page in the reference.
    pub family: Family,
}

/// A family of learners. Python modules and reference pages are made by family.
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
}

/// How a fit is run: all that doesn't belong to the learner's parameters.
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
    /// The fold of each row, for learners that choose or calibrate by cross-validation; `None` where they draw folds themselves.
    pub folds: Option<&'a [u32]>,
    /// The validation set, for learners that stop or prune by one ([`Learner::takes_validation`]); `None` where they hold out training rows themselves.
    pub validation: Option<&'a Dataset>,
    /// A custom objective. Its scores are the predictions in regression, and log-odds or logarithms of probabilities in classification. They start from
    /// `base_score`, or from [`Objective::start`]: with the same start, the same loss gives the same model as a built-in one.
    pub objective: Option<MakeObjective<'a>>,
    /// A custom validation metric, in place of the loss.
    pub metric: Option<ValidationMetric<'a>>,
    /// Saves the model so far.
    pub checkpoint: Option<Checkpoint<'a>>,
    /// The learners that are known, for learners over learners.
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

/// What training gives: the learner's part of the model, and the certificate.
pub struct Trained {
    /// The learner's part of the model.
    pub fitted: Box<dyn Fitted>,
    /// What was minimised and what is proven about it.
    pub certificate: Certificate,
}

/// A method that learns a model from data.
pub trait Learner: Parameters + Send + Sync {
    /// Its name and what it can do.
    fn info(&self) -> &'static Info;

    /// Learns. Called by [`fit`](fn@fit), which has checked parameters and data: at least one row and one feature, a task from the
    /// capabilities, only positive weights.
    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained>;

    /// The parameter along which one fit gives the models of many values, where there is one.
    fn path(&self) -> Option<&dyn Path> {
        None
    }

    /// Refuses data that its parameters don't fit, before any work is done.
    fn check_data(&self, _data: &Dataset) -> Result<()> {
        Ok(())
    }

    /// Whether it adds to scores that rows start from ([`Dataset::init_score`]).
    fn takes_init_scores(&self) -> bool {
        false
    }

    /// Whether it uses a custom objective, validation metric and checkpoints ([`Context::objective`], [`Context::metric`], [`Context::checkpoint`]).
    fn supports_custom_training(&self) -> bool {
        false
    }

    /// Whether it uses a validation set ([`Context::validation`]) with the parameters that it has.
    fn takes_validation(&self) -> bool {
        false
    }

    /// Whether it looks at the target at all.
    fn needs_target(&self) -> bool {
        true
    }

    /// Whether it can continue from a model that it has made ([`Context::init_model`]).
    fn supports_warm_start(&self) -> bool {
        false
    }
}

/// What the tested rows of each split are predicted, for each of some values: what the numbers are, and the numbers by split and value.
pub type SplitPredictions = (Output, Vec<Vec<Vec<f64>>>);

/// A learner whose models for many values of one parameter cost about as much as one: rounds of boosting, strength of pruning,
/// number of neighbours, strength of a penalty. What they predict is what the models of separate fits predict: to the last bit, or within the tolerance of a
/// solver that begins each fit where the one before it ended.
pub trait Path: Sync {
    /// The parameter.
    fn parameter(&self) -> &'static str;

    /// Learns from the data for each of `values`, and predicts for the rows of `features` with each. Called by
    /// [`predict_path`](fit::predict_path), which has checked parameters, values and data.
    fn predict_path(
        &self,
        data: &Dataset,
        values: &[Value],
        features: &Features,
        context: &Context<'_>,
    ) -> Result<(Output, Vec<Vec<f64>>)>;

    /// The same for all splits of a data set at once, where their work can be shared (an index, a matrix of kernel values): for each split and each of `values` the
    /// predictions for the tested rows. `None` where each split must be learned by itself, as it must where anything is fitted to the rows on their way to the
    /// learner. Called by [`predict_splits`](fit::predict_splits), only for numbers without missing values and rows that all have weight.
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
