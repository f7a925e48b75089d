//! The parameters as the trees and the rounds take them, checked against the data.

use super::columns::TrainingColumns;
use super::{BoostingLoss, GradientBoosting, GrowPolicy, SamplingMethod, TreeMethod};
use crate::boost::grow::TreeOptions;
use crate::boost::objective::survival::check_times;
use crate::boost::sample::Goss;
use crate::boost::train::TrainingOptions;
use crate::split::histogram::LeafPenalty;
use crate::split::histogram::categories::CategoryRegularization;
use crate::tree::DEFAULT_MAX_DEPTH;
use crate::tree::queue::GrowthPolicy;
use ermine_core::error::{Error, Result};
use ermine_core::learner::Context;
use ermine_core::matrix::{Dataset, Task};

/// Number of rows above which classification uses all rows alike in every round.
const SEVERAL_ROWS: usize = 2000;

/// The largest target, or weight, may be from here
const SMALLEST: f64 = 1e-30;
/// to here.
const LARGEST: f64 = 1e30;

impl GradientBoosting {
    /// Checks the parameters against the data, before any work is done.
    pub(super) fn check(&self, data: &Dataset) -> Result<()> {
        let columns = data.features().columns();
        let monotone = self.monotone_constraints.of(data)?;
        if let Some(column) = columns.iter().zip(&monotone).find(|(c, m)| **m != 0 && !c.kind.is_ordered()) {
            return self.unsupported(format!("a monotone constraint on the nominal column '{}'", column.0.name));
        }
        if self.monotone_constraints.is_active() && self.grow_policy == GrowPolicy::Symmetric {
            return self.unsupported("monotone constraints with grow_policy = symmetric".into());
        }
        if self.sampling_method == SamplingMethod::Goss && self.top_rate + self.other_rate > 1.0 {
            let (top, other) = (self.top_rate, self.other_rate);
            return Err(Error::data(format!("top_rate + other_rate: {top} + {other}, expected at most 1")));
        }
        self.check_sizes(data)?;
        if let (BoostingLoss::Aft | BoostingLoss::Cox, Ok((times, n_outputs))) = (self.loss, data.values()) {
            if n_outputs > 1 {
                return self.unsupported(format!("loss = {} for {n_outputs} targets", self.loss));
            }
            check_times(times)?;
        }
        // Later rounds change earlier ones, so that the rounds up to the best one are no longer as they were.
        if self.rate_drop > 0.0 && self.early_stopping_rounds.is_some() {
            return self.unsupported("early stopping with rate_drop".into());
        }
        if self.quantile_alpha.is_empty()
            || (self.loss == BoostingLoss::Quantile
                && self.quantile_alpha.len() > 1
                && data.values().is_ok_and(|(_, k)| k > 1))
        {
            return self.unsupported("several quantiles of several targets, or no quantile".into());
        }
        self.interaction_constraints.of(data).map(|_| ())
    }

    /// Checks that gradients, which are in single precision, neither overflow nor vanish.
    fn check_sizes(&self, data: &Dataset) -> Result<()> {
        let fits = |what: &str, numbers: &[f64]| {
            let largest = numbers.iter().fold(0.0f64, |most, number| most.max(number.abs()));
            if largest == 0.0 || (SMALLEST..=LARGEST).contains(&largest) {
                return Ok(());
            }
            let place = numbers.iter().position(|number| number.abs() == largest).unwrap_or_default();
            Err(Error::data(format!(
                "the largest of the {what} is {largest:e} (row {}), but must be from {SMALLEST:e} to {LARGEST:e}; rescale them",
                1 + place / (numbers.len() / data.n_rows().max(1)).max(1)
            )))
        };
        data.weight().map_or(Ok(()), |weight| fits("weights", weight))?;
        data.values().map_or(Ok(()), |(values, _)| fits("targets", values))
    }

    /// The parameters of the models for small data if the number of rounds is chosen, one after the other: weaker trees and smaller steps, which predict better there and are affordable. See
    /// docs/decisions/010 and 025.
    pub(super) fn on_small_data(&self, data: &Dataset) -> Vec<GradientBoosting> {
        if self.grow_policy != GrowPolicy::Auto || self.monotone_constraints.is_active() {
            return vec![self.clone()];
        }
        // Random trees make a better mean, but probabilities of many rows are better learned from all of them alike.
        let all_rows = data.task() == Task::Classification && data.n_rows() > SEVERAL_ROWS;
        let chosen = self.sampling_method != SamplingMethod::Uniform || self.subsample < 1.0;
        let several_classes = data.classes().is_ok_and(|(_, labels)| labels.len() > 2);
        let leafwise = GradientBoosting {
            grow_policy: GrowPolicy::Lossguide,
            learning_rate: if several_classes { self.learning_rate } else { 0.5 * self.learning_rate },
            min_child_weight: 0.1 * self.min_child_weight,
            sampling_method: if chosen || all_rows { self.sampling_method } else { SamplingMethod::Bayesian },
            ..self.clone()
        };
        let usual = GradientBoosting::default();
        let symmetric = GradientBoosting {
            grow_policy: GrowPolicy::Symmetric,
            max_leaf_nodes: self.max_leaf_nodes.filter(|_| self.max_leaf_nodes != usual.max_leaf_nodes),
            ..leafwise.clone()
        };
        // Symmetric trees of several classes share their tests; a mean of different kinds of trees is better than one of similar trees.
        if several_classes { vec![symmetric] } else { vec![symmetric, leafwise] }
    }

    /// Whether models of different seeds differ, if there are no target statistics.
    pub(super) fn is_random(&self) -> bool {
        let shares = [self.subsample, self.colsample_bytree, self.colsample_bylevel, self.colsample_bynode];
        self.sampling_method != SamplingMethod::Uniform || shares.iter().any(|share| *share < 1.0)
    }

    /// The options of trees on these columns of the data.
    pub(super) fn tree_options(&self, data: &Dataset, columns: &TrainingColumns, seed: u64) -> TreeOptions {
        // Checked before: what the data doesn't have was refused.
        let monotone = self.monotone_constraints.of(data).unwrap_or_default();
        let mut interactions = self.interaction_constraints.of(data).unwrap_or_default();
        // A column in no group interacts with no other.
        if !interactions.is_empty() {
            let alone = (0..data.features().n_columns()).filter(|c| !interactions.iter().any(|set| set.contains(c)));
            interactions.extend(alone.map(|c| vec![c]).collect::<Vec<_>>());
        }
        let constrained = monotone.iter().any(|&c| c != 0);
        let in_store = 0..columns.bins.columns.len();
        // A statistic is in the groups of its column.
        let of_set = |set: &Vec<usize>| {
            in_store.clone().filter(|&c| set.contains(&columns.origin(c))).map(|c| c as u32).collect()
        };
        let kinds = data.features().columns();
        let policy = match self.grow_policy {
            GrowPolicy::Auto | GrowPolicy::Lossguide => GrowthPolicy::BestFirst,
            GrowPolicy::Depthwise | GrowPolicy::Symmetric => GrowthPolicy::ByLevel,
        };
        TreeOptions {
            policy,
            symmetric: self.grow_policy == GrowPolicy::Symmetric,
            max_leaf_nodes: self.max_leaf_nodes.unwrap_or(usize::MAX),
            max_depth: self.max_depth.unwrap_or(DEFAULT_MAX_DEPTH),
            leaf: LeafPenalty { lambda: self.reg_lambda, alpha: self.reg_alpha, max_delta_step: self.max_delta_step },
            gamma: self.gamma,
            min_child_weight: self.min_child_weight,
            learning_rate: self.learning_rate,
            monotone: if constrained { monotone.iter().map(|&c| c as i8).collect() } else { Vec::new() },
            interactions: interactions.iter().map(of_set).collect(),
            nominal: in_store.map(|c| kinds.get(c).is_some_and(|column| !column.kind.is_ordered())).collect(),
            caution: CategoryRegularization {
                one_against_rest: self.max_cat_to_onehot,
                smooth: self.cat_smooth,
                extra_lambda: self.cat_l2,
                most: self.max_cat_threshold,
                least: 1.0,
            },
            colsample_bylevel: self.colsample_bylevel,
            colsample_bynode: self.colsample_bynode,
            seed,
        }
    }

    /// The options of training that don't depend on the data.
    pub(super) fn training_options<'a>(&self, context: &Context<'a>) -> TrainingOptions<'a> {
        let goss = Goss { top_rate: self.top_rate, other_rate: self.other_rate };
        TrainingOptions {
            first_round: 0,
            n_estimators: self.n_estimators,
            earlier: Vec::new(),
            tree: TreeOptions::default(),
            subsample: self.subsample,
            goss: (self.sampling_method == SamplingMethod::Goss).then_some(goss),
            bayesian: self.sampling_method == SamplingMethod::Bayesian,
            rate_drop: self.rate_drop,
            colsample_bytree: self.colsample_bytree,
            exact: self.tree_method == TreeMethod::Exact,
            early_stopping_rounds: self.early_stopping_rounds,
            metric: None,
            history: Vec::new(),
            seed: context.seed,
            threads: rayon::current_num_threads(),
            observer: context.observer,
            checkpoint: None,
        }
    }
}
