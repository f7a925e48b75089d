//! Training a forest: draw rows for each tree, grow trees in parallel, evaluate them on out-of-bag rows.
//!
//! **Warm start.** Tree t depends on the random seed and on t only, so continuing from a forest of 50 trees to 100 trees gives exactly the forest of 100 trees.

use super::fitted::FittedForest;
use super::{CountOrFraction, ForestClassWeight, ForestMaxFeatures, ForestMethod};
use crate::learner::decision_tree::TreeCriterion;
use crate::tree::Forest;
use ermine_core::error::{Error, Result};
use ermine_core::learner::{Context, Trained};
use ermine_core::matrix::{Dataset, Target, Task};
use ermine_core::memory;
use ermine_core::model::{Certificate, Output, Proof, Status};
use ermine_core::parallel;
use ermine_core::param::ParamType;
use ermine_core::progress::{Event, report};
use ermine_core::rng::{self, Purpose};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of trees that are collected before they are appended to the forest.
const BATCH: usize = 256;

/// The parameters of both forests.
pub struct ForestSettings<'a> {
    pub(super) name: &'static str,
    pub(super) n_estimators: usize,
    pub(super) criterion: Option<TreeCriterion>,
    pub(super) max_depth: Option<usize>,
    pub(super) min_samples_split: CountOrFraction,
    pub(super) min_samples_leaf: CountOrFraction,
    pub(super) min_weight_fraction_leaf: f64,
    pub(super) max_features: ForestMaxFeatures,
    pub(super) max_leaf_nodes: Option<usize>,
    pub(super) min_impurity_decrease: f64,
    pub(super) bootstrap: bool,
    pub(super) max_samples: Option<CountOrFraction>,
    pub(super) class_weight: &'a ForestClassWeight,
    pub(super) monotonic_cst: &'a [i64],
    pub(super) ccp_alpha: f64,
    pub(super) oob_score: bool,
    pub(super) permutation_importances: bool,
    pub(super) quantiles: bool,
    pub(super) tree_method: ForestMethod,
    pub(super) max_bins: usize,
    pub(super) random_splits: bool,
}

/// A tree and its feature importances.
pub(super) type ForestMember = (Forest, Vec<f64>);

/// Trains a forest.
pub fn train(settings: &ForestSettings<'_>, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
    settings.check(data)?;
    crate::learner::require_nodes(data, settings.max_leaf_nodes, settings.max_depth)?;
    let weight = match settings.class_weight {
        ForestClassWeight::Of(class_weight) => class_weight.apply(data)?,
        ForestClassWeight::BalancedSubsample => None,
    };
    let weight = weight.or_else(|| data.weight().map(<[f64]>::to_vec));
    let job = ForestTraining { settings, data, context, weight: weight.as_deref() };
    let output = if data.task() == Task::Classification { Output::Probabilities } else { Output::Values };
    let mut fitted = job.begin(output)?;
    if settings.is_exact() {
        job.grow_exact(&mut fitted)?
    } else {
        job.grow_on_bins(&mut fitted)?
    };
    job.evaluate(&mut fitted)?;
    let certificate = job.certificate(&fitted);
    Ok(Trained { fitted: Box::new(fitted), certificate })
}

impl ForestSettings<'_> {
    /// Whether trees consider all thresholds.
    pub(super) fn is_exact(&self) -> bool {
        self.tree_method == ForestMethod::Exact || (self.tree_method == ForestMethod::Auto && self.needs_exact())
    }

    /// Whether a parameter requires exact trees.
    fn needs_exact(&self) -> bool {
        use TreeCriterion::{AbsoluteError, Error, Poisson};
        matches!(self.criterion, Some(Error | AbsoluteError | Poisson))
            || self.ccp_alpha > 0.0
            || self.monotonic_cst.iter().any(|&sign| sign != 0)
    }

    fn check(&self, data: &Dataset) -> Result<()> {
        let refuse = |name: &str, value: String, allowed: &str| {
            Err(Error::Param { owner: self.name.into(), name: name.into(), value, allowed: allowed.into() })
        };
        let unsupported = |need: String| Err(Error::Unsupported { learner: self.name.into(), need });
        for (name, requested) in
            [("oob_score", self.oob_score), ("permutation_importances", self.permutation_importances)]
        {
            if !self.bootstrap && requested {
                return refuse(name, "true".into(), "false unless bootstrap = true");
            }
        }
        if let Some(amount) = self.max_samples {
            if !self.bootstrap {
                return refuse("max_samples", amount.to_value().to_string(), "none unless bootstrap = true");
            }
            amount.of_at_most(data.n_rows(), self.name, "max_samples")?;
        }
        self.min_samples_leaf.check_leaf(self.name)?;
        if self.tree_method == ForestMethod::Hist && self.needs_exact() {
            let allowed = "auto or exact (required by this criterion, ccp_alpha or monotonic_cst)";
            return refuse("tree_method", "hist".into(), allowed);
        }
        let of_numbers = matches!(
            self.criterion,
            Some(TreeCriterion::SquaredError | TreeCriterion::AbsoluteError | TreeCriterion::Poisson)
        );
        match (self.criterion, data.target()) {
            (Some(criterion), target) if of_numbers == matches!(target, Target::Classes { .. }) => {
                unsupported(format!("criterion = {criterion} for {}", data.task()))
            }
            (_, Target::Values { .. }) if *self.class_weight == ForestClassWeight::BalancedSubsample => {
                Err(Error::data("class_weight needs a classification target"))
            }
            (_, Target::Values { n_outputs: 1, .. }) => Ok(()),
            _ if self.quantiles => unsupported(format!("quantiles = true for {} with several outputs", data.task())),
            _ => Ok(()),
        }
    }
}

/// The rows of a tree's bootstrap sample, in the order in which they are drawn, of `n_rows` rows.
pub fn bootstrap_rows(seed: u64, tree: usize, n_rows: usize, n_draws: usize) -> impl Iterator<Item = usize> {
    let mut rng = Purpose::ForestRows.stream(seed, &[tree as u64]);
    (0..n_draws).map(move |_| rng::below(&mut rng, n_rows))
}

/// The inputs of a forest's training.
pub(super) struct ForestTraining<'a> {
    pub settings: &'a ForestSettings<'a>,
    pub data: &'a Dataset,
    pub context: &'a Context<'a>,
    /// Row weights, including class weights that are the same for all trees.
    pub weight: Option<&'a [f64]>,
}

impl ForestTraining<'_> {
    /// The forest to continue from, or an empty one.
    fn begin(&self, output: Output) -> Result<FittedForest> {
        let (settings, d) = (self.settings, self.data.features().n_columns());
        let Some(model) = self.context.init_model else {
            return Ok(FittedForest::new(output, d));
        };
        let unsupported = |need: String| Err(Error::Unsupported { learner: settings.name.into(), need });
        let Some(before) = model.fitted::<FittedForest>() else {
            return unsupported("continuing from a model of another learner".into());
        };
        let n_trees = before.forest.n_trees();
        if settings.n_estimators < n_trees {
            let (name, value) = ("n_estimators".into(), settings.n_estimators.to_string());
            let allowed = format!("at least {n_trees}, the number of trees of the initial model");
            return Err(Error::Param { owner: settings.name.into(), name, value, allowed });
        }
        let needs_rows = settings.oob_score || settings.permutation_importances || settings.quantiles;
        if needs_rows && model.header().n_rows != self.data.n_rows() {
            return unsupported("out-of-bag scores or quantiles when continuing from a model of other data".into());
        }
        Ok(FittedForest { output, ..before.without_evaluation() })
    }

    /// How often each row was drawn for a tree.
    pub fn draws(&self, tree: usize) -> Vec<u16> {
        let n = self.data.n_rows();
        if !self.settings.bootstrap {
            return vec![1; n];
        }
        let mut drawn = vec![0u16; n];
        for row in bootstrap_rows(self.context.seed, tree, n, self.n_draws()) {
            drawn[row] = drawn[row].saturating_add(1);
        }
        drawn
    }

    /// The number of rows drawn for each tree.
    pub fn n_draws(&self) -> usize {
        let n = self.data.n_rows();
        self.settings.max_samples.map_or(n, |amount| amount.of(n).clamp(1, n))
    }

    /// Row weights that balance the classes of a bootstrap sample.
    pub fn balanced(&self, drawn: &[u16]) -> Result<Vec<f64>> {
        let (codes, labels) = self.data.classes()?;
        let weight = |row: usize| f64::from(drawn[row]) * self.data.row_weight(row);
        let mut of_class = vec![0.0; labels.len()];
        codes.iter().enumerate().for_each(|(row, &class)| of_class[class as usize] += weight(row));
        let (total, n_used) = (of_class.iter().sum::<f64>(), of_class.iter().filter(|w| **w > 0.0).count());
        let factor = |row: usize| total / (n_used as f64 * of_class[codes[row] as usize]);
        let of_row = |row: usize| if drawn[row] > 0 { factor(row) * self.data.row_weight(row) } else { 1.0 };
        Ok((0..drawn.len()).map(of_row).collect())
    }

    /// Grows the remaining trees in parallel.
    pub fn each_tree(
        &self,
        fitted: &mut FittedForest,
        grow: impl Fn(usize) -> Result<ForestMember> + Sync,
    ) -> Result<()> {
        let (n, observer) = (self.settings.n_estimators, self.context.observer);
        report(observer, Event::Begin { what: "trees", total: Some(n as u64) })?;
        let done = Mutex::new(fitted.forest.n_trees() as u64);
        // Each tree is reported when it is done; waiting for others would leave threads idle.
        let grow_and_report = |tree: usize| {
            let grown = grow(tree)?;
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            *done += 1;
            // The first trees show how large the others will be.
            let (left, bytes) = (n.saturating_sub(*done as usize), grown.0.n_bytes());
            memory::require(
                || format!("a forest of {n} trees ({left} trees are missing)"),
                &[left, bytes],
                "reduce n_estimators, max_leaf_nodes or max_depth, or increase min_samples_leaf",
            )?;
            report(observer, Event::Step { done: *done, score: None }).map(|()| grown)
        };
        for first in (fitted.forest.n_trees()..n).step_by(BATCH) {
            fitted.append(parallel::try_map(BATCH.min(n - first), |i| grow_and_report(first + i))?);
        }
        report(observer, Event::End)
    }

    fn certificate(&self, fitted: &FittedForest) -> Certificate {
        let objective = match (self.data.task(), self.settings.criterion) {
            (Task::Classification, None | Some(TreeCriterion::Gini)) => "Gini impurity",
            (_, Some(TreeCriterion::Entropy | TreeCriterion::LogLoss)) => "entropy",
            (_, Some(TreeCriterion::Error)) => "error rate",
            (_, Some(TreeCriterion::AbsoluteError)) => "absolute error",
            (_, Some(TreeCriterion::Poisson)) => "Poisson deviance",
            _ => "squared error",
        };
        let mut notes = vec![if self.settings.is_exact() {
            "all thresholds were tried (exact)".to_string()
        } else {
            format!("splits are between histogram bins, at most {} per column (hist)", self.settings.max_bins)
        }];
        if let Some(oob) = &fitted.out_of_bag {
            let measure = oob.measure(self.data.task());
            notes.push(format!("out-of-bag {measure}: {:.6} on {} rows", oob.score, oob.n_evaluated));
            notes.extend(oob.missing_note(self.data.n_rows()));
        }
        let proofs = vec![Proof::Nothing { because: "trees are grown greedily on random rows and columns".into() }];
        let objective = format!("{objective} of the leaves, tree by tree");
        Certificate { objective, value: None, status: Status::Done, proofs, notes }
    }
}

impl FittedForest {
    fn new(output: Output, n_features: usize) -> FittedForest {
        FittedForest {
            forest: Arc::default(),
            output,
            shares: vec![0.0; n_features],
            out_of_bag: None,
            permutation: None,
            leaf_targets: None,
        }
    }

    /// Appends trees and their normalized feature importances.
    fn append(&mut self, grown: Vec<ForestMember>) {
        let (trees, gains): (Vec<Forest>, Vec<Vec<f64>>) = grown.into_iter().unzip();
        if self.forest.n_trees() == 0 {
            self.forest = Arc::new(Forest::new(trees.first().map_or(0, Forest::width)));
        }
        Arc::make_mut(&mut self.forest).append(&trees);
        for gains in gains {
            let total: f64 = gains.iter().sum();
            if total > 0.0 {
                self.shares.iter_mut().zip(gains).for_each(|(share, gain)| *share += gain / total);
            }
        }
    }
}
