//! CART: decision trees with binary splits, for classification and regression.
//!
//! **Idea.** From the root down, each node takes the split of one feature that decreases the impurity most: a threshold for an ordered feature, a bipartition of the categories for a nominal one. Rows
//! with a missing value go to the side that is better for them. Growth stops by the limits below, and the tree may be pruned afterwards.
//!
//! **Formula.** Impurities: Gini, entropy or error rate for classification; squared error, absolute error or Poisson deviance for regression. The gain of a split is the impurity of the node minus the
//! impurities of its children, each weighted by its fraction of the rows.
//!
//! **Parameters** have scikit-learn's names and meanings. **Cost.** O(d n log n) for a balanced tree, see [`mod@crate::tree::grow`].
//! **Reference.** Breiman, Friedman, Olshen and Stone, Classification and Regression Trees (1984).

pub use super::fitted_tree::{FittedTree, MissingRouting};

use super::id3::{columns_with_more_categories, greedy};
use super::{Capabilities, Context, Family, Learner, LearnerInfo, PathLearner, TREE_CAPABILITIES, Trained};
use crate::split::Impurity;
use crate::split::absolute_error::AbsoluteErrorCriterion;
use crate::split::bipartition::{ENUMERATED, TRIED};
use crate::split::class_weights::ClassWeightCriterion;
use crate::split::multi_output::{MultiOutputCriterion, TargetLoss};
use crate::split::squared_error::SquaredErrorCriterion;
use crate::split::two_classes::TwoClassCriterion;
use crate::tree::{DEFAULT_MAX_DEPTH, GrowOptions, GrownTree, depth_note, grow, prune};
use ermine_core::error::{Error, Result};
use ermine_core::learner::parameters::{ClassWeight, CountOrFraction, MaxFeatures};
use ermine_core::matrix::{Dataset, Features, Target, Task};
use ermine_core::model::{Certificate, Fitted, Output, Proof, Status};
use ermine_core::param::{Range, Value};
use ermine_core::rng::{self, Purpose};
use ermine_core::{choice, params};

choice! {
    /// Function that measures the quality of a split.
    pub enum TreeCriterion {
        /// Classification: Gini impurity, the probability that two rows of a node have different classes.
        Gini = "gini",
        /// Classification: entropy of the classes, in bits.
        Entropy = "entropy",
        /// Classification: the same as entropy.
        LogLoss = "log_loss",
        /// Classification: fraction of rows outside the majority class.
        Error = "error",
        /// Regression: squared error around the mean.
        SquaredError = "squared_error",
        /// Regression: absolute error around the median.
        AbsoluteError = "absolute_error",
        /// Regression of counts: Poisson deviance around the mean.
        Poisson = "poisson",
    }
}

choice! {
    /// How the split of a feature is chosen.
    pub enum Splitter {
        /// The best split.
        Best = "best",
        /// The best of one random threshold per feature.
        Random = "random",
    }
}

choice! {
    /// Pruning method.
    pub enum Pruning {
        /// Cost-complexity pruning; cross-validation chooses alpha.
        CrossValidation = "cross_validation",
        /// Bottom-up: a subtree becomes a leaf if that doesn't increase the validation error.
        ReducedError = "reduced_error",
        /// Repeatedly remove the split whose removal reduces the validation error most.
        Greedy = "greedy",
        /// Bottom-up by an upper confidence limit of the training error, as in C4.5.
        Pessimistic = "pessimistic",
    }
}

params! {
    /// CART: a tree of binary splits, each the best for its node.
    pub struct DecisionTree("decision-tree") {
        /// Function that measures the quality of a split. None for "gini" (classification) or "squared_error" (regression).
        /// Classification: "gini" and "entropy" (the same as "log_loss") rarely differ much; "error" is the misclassification rate. Regression: "absolute_error" (leaves predict medians) is robust to outliers but slower; "poisson" is for counts.
        criterion: Option<TreeCriterion> = None, tune Each;
        /// How the threshold of a feature is chosen: "best", or "random" as in extra-trees.
        splitter: Splitter = Splitter::Best;
        /// Maximum depth of the tree. None for the default limit of 1,024 levels.
        /// Lower values give simpler models that overfit less; 3 to 6 levels are still readable.
        max_depth: Option<usize> = None, range Range::at_least(1.0), tune Linear(2, 20);
        /// Minimum number of rows a node needs to be split, as a count (10) or as a fraction of the rows (0.1).
        /// Higher values give smaller trees; `min_samples_leaf` is usually the better way to get them.
        min_samples_split: CountOrFraction = CountOrFraction::Count(2), range Range::more_than(0.0), tune Log(2, 100);
        /// Minimum number of rows in each leaf, as a count (10) or as a fraction of the rows (0.1).
        /// Higher values smooth the predictions and prevent leaves that fit single rows: try 5 to 50 on noisy data.
        min_samples_leaf: CountOrFraction = CountOrFraction::Count(1), range Range::more_than(0.0), tune Log(1, 100);
        /// Minimum weight of each leaf, as a fraction of the total weight.
        /// Use it instead of `min_samples_leaf` if rows have very different weights.
        min_weight_fraction_leaf: f64 = 0.0, range Range::between(0.0, 0.5);
        /// Number of features that each node considers, drawn at random: a count, a fraction, "sqrt" or "log2". None for all features.
        /// Less than all is for ensembles.
        max_features: MaxFeatures = MaxFeatures::All, range Range::more_than(0.0);
        /// Maximum number of leaves; the splits with the largest impurity decrease come first. None for no limit.
        /// Limits the size of a tree more evenly than `max_depth`.
        max_leaf_nodes: Option<usize> = None, range Range::at_least(2.0), tune Log(4, 1000);
        /// Minimum impurity decrease of a split, weighted by the node's fraction of the rows.
        /// Stops growing where splits gain little.
        min_impurity_decrease: f64 = 0.0, range Range::at_least(0.0), tune Log(1e-6, 0.1);
        /// A node is not split if its impurity is at most this.
        min_impurity: f64 = 0.0, range Range::at_least(0.0);
        /// Class weights, multiplied with the row weights: none (all classes have weight 1), "balanced" (all classes have the same total weight), or a list of class=weight.
        /// Use "balanced" if rare classes matter as much as frequent ones.
        class_weight: ClassWeight = ClassWeight::Equal;
        /// Monotonic constraint for each feature: 1 (predictions must not decrease with the feature), -1 (must not increase) or 0 (none); empty for no constraints.
        monotonic_cst: Vec<i64> = Vec::new(), range Range::between(-1.0, 1.0);
        /// Complexity parameter of minimal cost-complexity pruning: subtrees whose impurity decrease per leaf is less than this are pruned.
        /// Higher values prune more; 0 does not prune. `pruning` = "cross_validation" chooses it.
        ccp_alpha: f64 = 0.0, range Range::at_least(0.0), tune Log(1e-6, 0.1);
        /// Pruning method: "cross_validation" chooses ccp_alpha, "reduced_error" and "greedy" use a validation set, "pessimistic" is C4.5's method. None for cost-complexity pruning with the given ccp_alpha.
        /// A pruned tree is smaller and usually more accurate on new data; "cross_validation" is the best choice if time allows.
        pruning: Option<Pruning> = None;
        /// Fraction of the rows that "reduced_error" and "greedy" pruning hold out for validation if no validation set is given.
        validation_fraction: f64 = 0.2, range Range::inside(0.0, 1.0);
        /// Number of folds of the cross-validation that chooses ccp_alpha (`pruning` = "cross_validation").
        pruning_folds: usize = 5, range Range::at_least(2.0);
        /// Confidence factor of "pessimistic" pruning; lower values prune more.
        confidence_factor: f64 = 0.25, range Range::inside(0.0, 1.0);
    }
}

/// A tree after pruning.
struct PrunedTree {
    grown: GrownTree,
    /// The alpha chosen by cross-validation.
    alpha: Option<f64>,
    /// A note about the removed leaves.
    note: Option<String>,
}

static INFO: LearnerInfo = LearnerInfo {
    name: "decision-tree",
    summary: "CART: binary splits by Gini impurity, entropy, error rate, squared error, absolute error or Poisson deviance",
    capabilities: Capabilities { sparse: true, ..TREE_CAPABILITIES },
    family: Family::Tree,
};

impl Learner for DecisionTree {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        self.min_samples_leaf.check_leaf(INFO.name)?;
        super::require_nodes(data, self.max_leaf_nodes, self.max_depth)?;
        let pruned = self.grow_and_prune(data, context)?;
        let mut certificate = self.certificate(data, &pruned.grown)?;
        let chosen = pruned.alpha.map(|alpha| format!("cross-validation chose ccp_alpha = {alpha}"));
        let cut_off = depth_note(&pruned.grown.tree, self.max_depth);
        certificate.notes.extend(chosen.into_iter().chain(pruned.note).chain(cut_off));
        Ok(Trained { fitted: Box::new(fitted(data, pruned.grown).with_alpha(pruned.alpha)), certificate })
    }

    fn path(&self) -> Option<&dyn PathLearner> {
        self.pruning.is_none().then_some(self)
    }

    fn takes_validation(&self) -> bool {
        matches!(self.pruning, Some(Pruning::ReducedError | Pruning::Greedy))
    }
}

/// One tree is grown, then pruned with each alpha.
impl PathLearner for DecisionTree {
    fn parameter(&self) -> &'static str {
        "ccp_alpha"
    }

    fn predict_path(
        &self,
        data: &Dataset,
        values: &[Value],
        features: &Features,
        context: &Context<'_>,
    ) -> Result<(Output, Vec<Vec<f64>>)> {
        let grown = self.grow(data, context)?;
        let predict = |value: &Value| {
            let alpha = value.number().filter(|alpha| *alpha > 0.0);
            let pruned = alpha.map_or_else(|| grown.clone(), |alpha| prune::cost_complexity(&grown, alpha));
            fitted(data, pruned).predict(features)
        };
        Ok((output(data), values.iter().map(predict).collect::<Result<_>>()?))
    }
}

fn output(data: &Dataset) -> Output {
    if data.task() == Task::Classification { Output::Probabilities } else { Output::Values }
}

fn fitted(data: &Dataset, grown: GrownTree) -> FittedTree {
    FittedTree::new(grown, output(data), MissingRouting::Learned)
}

impl DecisionTree {
    /// Grows a tree and prunes it.
    fn grow_and_prune(&self, data: &Dataset, context: &Context<'_>) -> Result<PrunedTree> {
        let by_alpha = |grown: GrownTree, alpha: f64| {
            if alpha > 0.0 { prune::cost_complexity(&grown, alpha) } else { grown }
        };
        let Some(pruning) = self.pruning else {
            let grown = by_alpha(self.grow(data, context)?, self.ccp_alpha);
            return Ok(PrunedTree { grown, alpha: None, note: None });
        };
        let (whole, kept, alpha) = match pruning {
            Pruning::ReducedError | Pruning::Greedy => {
                let (grown, loss, n_aside) = self.grow_and_validate(data, context)?;
                let kept = match pruning {
                    Pruning::Greedy => prune::greedy(&grown, &loss),
                    _ => prune::reduced_error(&grown, &loss, 0.0),
                };
                return Ok(self.pruned(&grown, by_alpha(kept, self.ccp_alpha), Some(n_aside)));
            }
            Pruning::Pessimistic if data.task() != Task::Classification => {
                return Err(unsupported(
                    "pruning = pessimistic for regression (it counts classification errors)".into(),
                ));
            }
            Pruning::Pessimistic => {
                let grown = self.grow(data, context)?;
                let kept = by_alpha(prune::pessimistic(&grown, self.confidence_factor), self.ccp_alpha);
                (grown, kept, None)
            }
            Pruning::CrossValidation => {
                let grown = self.grow(data, context)?;
                let alpha = self.alpha_by_cross_validation(data, &grown, context)?.max(self.ccp_alpha);
                let kept = by_alpha(grown.clone(), alpha);
                (grown, kept, Some(alpha))
            }
        };
        Ok(PrunedTree { alpha, ..self.pruned(&whole, kept, None) })
    }

    /// A tree, the loss of each of its nodes on the validation set, and the number of validation rows: those of the context, or held-out rows, on which the tree is then not grown.
    fn grow_and_validate(&self, data: &Dataset, context: &Context<'_>) -> Result<(GrownTree, Vec<f64>, usize)> {
        let split = match context.validation {
            Some(_) => None,
            None => Some(data.split(1.0 - self.validation_fraction, context.seed)?),
        };
        let (kept, validation) = match (&split, context.validation) {
            (Some((kept, validation)), _) => (kept, validation),
            (None, given) => (data, given.unwrap_or(data)),
        };
        if kept.n_rows() == 0 || validation.n_rows() == 0 {
            return Err(Error::data(format!("{} rows are too few to hold out a validation set", data.n_rows())));
        }
        let grown = self.grow(kept, context)?;
        let loss = prune::loss_by_node(&grown.tree, validation.features(), self.row_loss(validation));
        Ok((grown, loss, validation.n_rows()))
    }

    /// The pruned tree with a note about the removed leaves.
    fn pruned(&self, whole: &GrownTree, kept: GrownTree, n_aside: Option<usize>) -> PrunedTree {
        let (before, after) = (whole.tree.n_leaves(), kept.tree.n_leaves());
        let how = self.pruning.map_or("", |pruning| pruning.as_str());
        let aside = n_aside.map_or_else(String::new, |n| format!(", by {n} validation rows"));
        let note = format!("{how} pruning removed {} of {before} leaves{aside}", before - after);
        PrunedTree { grown: kept, alpha: None, note: Some(note) }
    }

    /// The alpha of the pruning path with the lowest cross-validated loss; the largest of equally good ones.
    fn alpha_by_cross_validation(&self, data: &Dataset, grown: &GrownTree, context: &Context<'_>) -> Result<f64> {
        let mut rows: Vec<u32> = (0..data.n_rows() as u32).collect();
        rng::shuffle(&mut Purpose::PruningFolds.stream(context.seed, &[]), &mut rows);
        let n_folds = self.pruning_folds.min(rows.len());
        if n_folds < 2 {
            return Err(Error::data("cross-validation of ccp_alpha needs at least 2 rows (got 1)"));
        }
        let mut curves = Vec::new();
        for fold in 0..n_folds {
            let (mut held, mut kept): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
            rows.iter().enumerate().for_each(|(i, &r)| if i % n_folds == fold { &mut held } else { &mut kept }.push(r));
            held.sort_unstable();
            kept.sort_unstable();
            let (kept, held) = (data.select(&kept)?, data.select(&held)?);
            let part = self.grow(&kept, context)?;
            let loss = prune::loss_by_node(&part.tree, held.features(), self.row_loss(&held));
            curves.push(prune::losses_along_path(&part, &loss));
        }
        let path = prune::cost_complexity_path(grown);
        // Between two alphas of the path the tree is the same: their geometric mean represents it (Breiman et al. 1984, 3.4.2).
        let middle = |i: usize| path.get(i + 1).map_or(path[i].alpha, |next| (path[i].alpha * next.alpha).sqrt());
        let at = |alpha: f64| -> f64 {
            let in_fold = |curve: &Vec<(f64, f64)>| {
                let n_below = curve.partition_point(|(from, _)| *from <= alpha);
                curve[..n_below].last().map_or(0.0, |(_, loss)| *loss)
            };
            curves.iter().map(in_fold).sum()
        };
        let mut best = (f64::INFINITY, 0.0);
        for (i, step) in path.iter().enumerate() {
            let loss = at(middle(i));
            if loss <= best.0 {
                best = (loss, step.alpha);
            }
        }
        Ok(best.1)
    }

    /// The validation loss of a prediction: the error for classes, the absolute or squared error for numbers.
    fn row_loss<'a>(&self, data: &'a Dataset) -> impl Fn(&[f64], usize) -> f64 + 'a {
        let absolute = self.criterion == Some(TreeCriterion::AbsoluteError);
        move |value, row| {
            let loss = match data.target() {
                Target::Classes { codes, .. } => {
                    let best = (1..value.len()).fold(0, |best, k| if value[k] > value[best] { k } else { best });
                    f64::from(u8::from(best != codes[row] as usize))
                }
                Target::Values { values, n_outputs } => {
                    let ys = &values[row * n_outputs..(row + 1) * n_outputs];
                    let one = |(y, v): (&f64, &f64)| if absolute { (y - v).abs() } else { (y - v) * (y - v) };
                    ys.iter().zip(value).map(one).sum()
                }
            };
            data.row_weight(row) * loss
        }
    }

    /// Grows the whole tree.
    pub(crate) fn grow(&self, data: &Dataset, context: &Context<'_>) -> Result<GrownTree> {
        let weight = self.class_weight.apply(data)?;
        let weight = weight.as_deref().or(data.weight());
        let options = self.options(data, weight, context.seed)?;
        let (features, observer) = (data.features(), context.observer);
        let criterion = self.criterion_for(data)?;
        match data.target() {
            Target::Classes { codes, labels } => {
                let impurity = match criterion {
                    TreeCriterion::Error => Impurity::Error,
                    TreeCriterion::Entropy | TreeCriterion::LogLoss => Impurity::Entropy,
                    _ => Impurity::Gini,
                };
                match (labels.len(), weight) {
                    (2, None) => grow(TwoClassCriterion::new(codes, impurity), features, &options, observer),
                    (n, _) => grow(ClassWeightCriterion::new(codes, weight, n, impurity), features, &options, observer),
                }
            }
            Target::Values { values, n_outputs } => match (criterion, n_outputs) {
                (TreeCriterion::AbsoluteError, k) => {
                    grow(AbsoluteErrorCriterion::new(values, *k, weight), features, &options, observer)
                }
                (TreeCriterion::Poisson, k) => grow(
                    MultiOutputCriterion::new(values, *k, weight, TargetLoss::Poisson),
                    features,
                    &options,
                    observer,
                ),
                (_, 1) => grow(SquaredErrorCriterion::new(values, weight), features, &options, observer),
                (_, k) => grow(
                    MultiOutputCriterion::new(values, *k, weight, TargetLoss::Squared),
                    features,
                    &options,
                    observer,
                ),
            },
        }
    }

    fn criterion_for(&self, data: &Dataset) -> Result<TreeCriterion> {
        use TreeCriterion::{AbsoluteError, Gini, Poisson, SquaredError};
        let classes = data.task() == Task::Classification;
        let criterion = self.criterion.unwrap_or(if classes { Gini } else { SquaredError });
        if classes == matches!(criterion, SquaredError | AbsoluteError | Poisson) {
            return Err(unsupported(format!("criterion = {criterion} for {}", data.task())));
        }
        if let Target::Values { values, .. } = data.target()
            && criterion == Poisson
            && (values.iter().any(|y| *y < 0.0) || values.iter().all(|y| *y == 0.0))
        {
            return Err(Error::data("criterion = poisson needs nonnegative targets that are not all 0"));
        }
        Ok(criterion)
    }

    fn options(&self, data: &Dataset, weight: Option<&[f64]>, seed: u64) -> Result<GrowOptions> {
        let n = data.n_rows();
        let total = weight.map_or(n as f64, |w| w.iter().sum());
        Ok(GrowOptions {
            max_depth: self.max_depth.unwrap_or(DEFAULT_MAX_DEPTH),
            min_samples_split: self.min_samples_split.of(n).max(2),
            min_samples_leaf: self.min_samples_leaf.of(n),
            min_weight_leaf: self.min_weight_fraction_leaf * total,
            min_gain: self.min_impurity_decrease * total,
            min_impurity: self.min_impurity,
            max_leaf_nodes: self.max_leaf_nodes,
            max_features: self.max_features.of(data.features().n_columns()),
            random_thresholds: self.splitter == Splitter::Random,
            monotone: self.monotone(data)?,
            seed,
        })
    }

    fn monotone(&self, data: &Dataset) -> Result<Vec<i8>> {
        if self.monotonic_cst.iter().all(|&sign| sign == 0) {
            return Ok(Vec::new());
        }
        let (n, d) = (self.monotonic_cst.len(), data.features().n_columns());
        if n != d {
            return Err(Error::data(format!(
                "monotonic_cst must have one entry per feature: it has {n} entries, the data have {d} features"
            )));
        }
        let one_number = match data.target() {
            Target::Classes { labels, .. } => labels.len() == 2,
            Target::Values { n_outputs, .. } => *n_outputs == 1,
        };
        if !one_number || self.criterion == Some(TreeCriterion::AbsoluteError) {
            return Err(unsupported(
                "monotonic_cst with more than two classes, several targets or criterion = absolute_error".into(),
            ));
        }
        let columns = data.features().columns();
        if let Some(f) = (0..d).find(|&f| self.monotonic_cst[f] != 0 && !columns[f].kind.is_ordered()) {
            return Err(unsupported(format!("monotonic_cst for the nominal column '{}'", columns[f].name)));
        }
        Ok(self.monotonic_cst.iter().map(|&sign| sign as i8).collect())
    }

    fn certificate(&self, data: &Dataset, grown: &GrownTree) -> Result<Certificate> {
        let cost: f64 = grown.tree.leaves().map(|leaf| grown.cost[leaf]).sum();
        let objective = match self.criterion_for(data)? {
            TreeCriterion::Gini => "Gini impurity of the leaves",
            TreeCriterion::Entropy | TreeCriterion::LogLoss => "entropy (bits) of the leaves",
            TreeCriterion::Error => "weighted 0-1 risk on the training data",
            TreeCriterion::SquaredError => "mean squared error on the training data",
            TreeCriterion::AbsoluteError => "mean absolute error on the training data",
            TreeCriterion::Poisson => "mean Poisson deviance (half) on the training data",
        };
        let because = if self.splitter == Splitter::Random || self.max_features != MaxFeatures::All {
            "each split is the best of a random subset of the splits of its node".to_string()
        } else {
            greedy(&self.heuristic_columns(data)?)
        };
        let ways = ["by ordering the categories (exact)", "by enumeration (exact)", "by a heuristic"];
        let notes = ways.iter().zip(grown.searches).filter(|(_, count)| *count > 0);
        Ok(Certificate {
            objective: objective.into(),
            value: Some(cost / grown.tree.weight[0]),
            status: Status::Done,
            proofs: vec![Proof::Nothing { because }],
            notes: notes.map(|(way, count)| format!("splits of nominal columns found {way}: {count}")).collect(),
        })
    }
}

impl DecisionTree {
    /// The nominal columns whose best bipartition may be missed: those with too many categories to enumerate, unless an ordering of the categories is known to contain the best bipartition and no limit on
    /// leaves can exclude it.
    fn heuristic_columns(&self, data: &Dataset) -> Result<Vec<String>> {
        let by_order = match data.target() {
            Target::Classes { labels, .. } => labels.len() <= 2,
            Target::Values { n_outputs, .. } => {
                *n_outputs == 1 && self.criterion_for(data)? != TreeCriterion::AbsoluteError
            }
        };
        let is_limited = self.min_samples_leaf.of(data.n_rows()) > 1 || self.min_weight_fraction_leaf > 0.0;
        // The number of categories up to which enumeration is always affordable.
        let tried = (1..16).take_while(|n_groups| data.n_rows() << (n_groups - 1) <= TRIED).count();
        let enumerated = if data.task() == Task::Classification && !by_order { ENUMERATED.max(tried) } else { tried };
        let is_exact = by_order && !is_limited;
        Ok(if is_exact { Vec::new() } else { columns_with_more_categories(data, enumerated.max(2)) })
    }
}

fn unsupported(need: String) -> Error {
    Error::Unsupported { learner: INFO.name.into(), need }
}
