//! CART: the decision tree of binary splits, for classes and for numbers.
//!
//! **Idea.** From the root down, each node takes the split of one column that lowers the impurity most: a threshold for an ordered column, a bipartition of the
//! categories for a nominal one; rows without a value go to the side that is better for them. It stops by the rules below, and may be pruned
//! back afterwards.
//!
//! **Formula.** Impurities: Gini, entropy or training error for classes; squared error, absolute error or Poisson deviance for numbers. A split gains the
//! impurity of the node less those of its children, each weighted by its share of the sample.
//!
//! **Parameters** have scikit-learn's names and meanings. **Cost.** O(d n log n) for a balanced tree, see [`mod@crate::tree::grow`].
//! **Reference.** Breiman, Friedman, Olshen and Stone, Classification and Regression Trees (1984).

pub use super::fitted_tree::{FittedTree, Missing};

use super::id3::{columns_with_more_categories, greedy};
use super::{Capabilities, Context, Family, Info, Learner, Path, Trained};
use crate::split::Impurity;
use crate::split::absolute::Absolute;
use crate::split::bipartition::{ENUMERATED, TRIED};
use crate::split::classes::ClassWeights;
use crate::split::numbers::{Loss, Numbers};
use crate::split::two_classes::TwoClassCounts;
use crate::split::variance::Variance;
use crate::tree::{DEEPEST, GrowOptions, Grown, depth_note, grow, prune};
use ermine_core::error::{Error, Result};
use ermine_core::learner::parameters::{Amount, ClassWeight, MaxFeatures};
use ermine_core::matrix::{Dataset, Features, Target, Task};
use ermine_core::model::{Certificate, Fitted, Output, Proof, Status};
use ermine_core::param::{Range, Value};
use ermine_core::rng::{self, Purpose};
use ermine_core::{choice, params};

choice! {
    /// What a split lowers.
    pub enum TreeCriterion {
        /// Classes: the chance that two rows of a node differ in class.
        Gini = "gini",
        /// Classes: the bits needed to tell the class.
        Entropy = "entropy",
        /// Classes: the same as the entropy.
        LogLoss = "log_loss",
        /// Classes: the share of rows that the majority gets wrong.
        Error = "error",
        /// Numbers: the squared error around the mean.
        SquaredError = "squared_error",
        /// Numbers: the absolute error around the median.
        AbsoluteError = "absolute_error",
        /// Counts: the Poisson deviance around the mean.
        Poisson = "poisson",
    }
}

choice! {
    /// How a column's split is found.
    pub enum Splitter {
        /// The best one.
        Best = "best",
        /// The best of thresholds drawn at random, one for each column.
        Random = "random",
    }
}

choice! {
    /// How a grown tree is pruned.
    pub enum Pruning {
        /// Cost-complexity pruning with the alpha that cross-validation finds best.
        CrossValidation = "cross_validation",
        /// Bottom-up, where validation rows are predicted no worse.
        ReducedError = "reduced_error",
        /// Again and again the split whose removal lowers the validation error most.
        Greedy = "greedy",
        /// Bottom-up by upper limits of the training errors, as in C4.5.
        Pessimistic = "pessimistic",
    }
}

params! {
    /// CART: a tree of binary splits, each the best of its node.
    pub struct DecisionTree("decision-tree") {
        /// What a split lowers; none for "gini" (classes) or "squared_error" (numbers).
        criterion: Option<TreeCriterion> = None, tune Each;
        /// Take the best threshold of a column, or one drawn at random.
        splitter: Splitter = Splitter::Best;
        /// No leaf is deeper than this; none for 1,024.
        max_depth: Option<usize> = None, range Range::at_least(1.0), tune Linear(2, 20);
        /// A node with fewer rows (a whole number) or a smaller share of the rows (a fraction) is not split.
        min_samples_split: Amount = Amount::Count(2), range Range::more_than(0.0), tune Log(2, 100);
        /// Every leaf has at least this many rows (10), or this share of them (0.1).
        min_samples_leaf: Amount = Amount::Count(1), range Range::more_than(0.0), tune Log(1, 100);
        /// Every leaf has at least this share of the weight.
        min_weight_fraction_leaf: f64 = 0.0, range Range::between(0.0, 0.5);
        /// How many columns each node looks at, drawn at random: a number (all if there are no more), a share, "sqrt" or "log2"; none for all.
        max_features: MaxFeatures = MaxFeatures::All, range Range::more_than(0.0);
        /// At most this many leaves, the best splits first; none for no limit.
        max_leaf_nodes: Option<usize> = None, range Range::at_least(2.0), tune Log(4, 1000);
        /// A split must lower the impurity by at least this much, as a share of all rows.
        min_impurity_decrease: f64 = 0.0, range Range::at_least(0.0), tune Log(1e-6, 0.1);
        /// A node whose impurity is no more than this is pure enough, and not split.
        min_impurity: f64 = 0.0, range Range::at_least(0.0);
        /// How much rows of each class count, beside their own weights: none, "balanced" (the classes weigh the same, rows counted by their weights), or a list of class=weight.
        class_weight: ClassWeight = ClassWeight::Equal;
        /// For each column 1 (the prediction may not fall as it grows), -1 (it may not rise) or 0; empty for no constraints.
        monotonic_cst: Vec<i64> = Vec::new(), range Range::between(-1.0, 1.0);
        /// Splits that lower the impurity by less than this for each leaf they add are pruned (cost-complexity pruning).
        ccp_alpha: f64 = 0.0, range Range::at_least(0.0), tune Log(1e-6, 0.1);
        /// Prune the grown tree: "cross_validation" chooses ccp_alpha, "reduced_error" and "greedy" use validation rows, "pessimistic" is C4.5's way; none for no more than ccp_alpha says.
        pruning: Option<Pruning> = None;
        /// The share of the rows that "reduced_error" and "greedy" pruning keep for validation.
        validation_fraction: f64 = 0.2, range Range::inside(0.0, 1.0);
        /// How many folds the cross-validation of ccp_alpha has.
        pruning_folds: usize = 5, range Range::at_least(2.0);
        /// The confidence of "pessimistic" pruning: lower prunes more.
        confidence_factor: f64 = 0.25, range Range::inside(0.0, 1.0);
    }
}

/// A tree after pruning.
struct Pruned {
    grown: Grown,
    /// The alpha that cross-validation chose.
    alpha: Option<f64>,
    /// What was removed.
    note: Option<String>,
}

static INFO: Info = Info {
    name: "decision-tree",
    summary: "CART: a tree of binary splits, by Gini, entropy, error rate, squared or absolute error, Poisson deviance",
    capabilities: Capabilities {
        tasks: &[Task::Classification, Task::Regression],
        binary_only: false,
        multi_output: true,
        weights: true,
        missing: true,
        nominal: true,
        sparse: true,
        probabilities: true,
        random: false,
    },
    family: Family::Tree,
};

impl Learner for DecisionTree {
    fn info(&self) -> &'static Info {
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

    fn path(&self) -> Option<&dyn Path> {
        self.pruning.is_none().then_some(self)
    }
}

/// One tree is grown and pruned by each alpha.
impl Path for DecisionTree {
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

fn fitted(data: &Dataset, grown: Grown) -> FittedTree {
    FittedTree::new(grown, output(data), Missing::Learned)
}

impl DecisionTree {
    /// Grows a tree and prunes it as asked.
    fn grow_and_prune(&self, data: &Dataset, context: &Context<'_>) -> Result<Pruned> {
        let by_alpha = |grown: Grown, alpha: f64| {
            if alpha > 0.0 { prune::cost_complexity(&grown, alpha) } else { grown }
        };
        let Some(pruning) = self.pruning else {
            let grown = by_alpha(self.grow(data, context)?, self.ccp_alpha);
            return Ok(Pruned { grown, alpha: None, note: None });
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
                    "pessimistic pruning of a tree for numbers (it counts errors of classes)".into(),
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
        Ok(Pruned { alpha, ..self.pruned(&whole, kept, None) })
    }

    /// A tree on some of the rows, what each of its nodes loses on the others, and how many those are.
    fn grow_and_validate(&self, data: &Dataset, context: &Context<'_>) -> Result<(Grown, Vec<f64>, usize)> {
        let (kept, validation) = data.split(1.0 - self.validation_fraction, context.seed)?;
        if kept.n_rows() == 0 || validation.n_rows() == 0 {
            return Err(Error::data(format!("{} rows are too few to keep some for validation", data.n_rows())));
        }
        let grown = self.grow(&kept, context)?;
        let loss = prune::loss_by_node(&grown.tree, validation.features(), self.row_loss(&validation));
        Ok((grown, loss, validation.n_rows()))
    }

    /// A pruned tree, and a word on what was removed.
    fn pruned(&self, whole: &Grown, kept: Grown, n_aside: Option<usize>) -> Pruned {
        let (before, after) = (whole.tree.n_leaves(), kept.tree.n_leaves());
        let how = self.pruning.map_or("", |pruning| pruning.word());
        let aside = n_aside.map_or_else(String::new, |n| format!("; {n} rows were kept aside for it"));
        let note = format!("{how} pruning removed {} of {before} leaves{aside}", before - after);
        Pruned { grown: kept, alpha: None, note: Some(note) }
    }

    /// The alpha of the tree's path that has the least loss on rows left out, the largest of several.
    fn alpha_by_cross_validation(&self, data: &Dataset, grown: &Grown, context: &Context<'_>) -> Result<f64> {
        let mut rows: Vec<u32> = (0..data.n_rows() as u32).collect();
        rng::shuffle(&mut Purpose::PruningFolds.stream(context.seed, &[]), &mut rows);
        let n_folds = self.pruning_folds.min(rows.len());
        if n_folds < 2 {
            return Err(Error::data("one row can't be cross-validated"));
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
        // Between two alphas of the path the tree is the same: their geometric mean stands for it (Breiman et al. 1984, 3.4.2).
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

    /// The loss of a prediction for a row, by the learner's criterion: an error for classes.
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
    pub(crate) fn grow(&self, data: &Dataset, context: &Context<'_>) -> Result<Grown> {
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
                    (2, None) => grow(TwoClassCounts::new(codes, impurity), features, &options, observer),
                    (n, _) => grow(ClassWeights::new(codes, weight, n, impurity), features, &options, observer),
                }
            }
            Target::Values { values, n_outputs } => match (criterion, n_outputs) {
                (TreeCriterion::AbsoluteError, k) => {
                    grow(Absolute::new(values, *k, weight), features, &options, observer)
                }
                (TreeCriterion::Poisson, k) => {
                    grow(Numbers::new(values, *k, weight, Loss::Poisson), features, &options, observer)
                }
                (_, 1) => grow(Variance::new(values, weight), features, &options, observer),
                (_, k) => grow(Numbers::new(values, *k, weight, Loss::Squared), features, &options, observer),
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
            return Err(Error::data("criterion = poisson needs targets of at least 0, not all of them 0"));
        }
        Ok(criterion)
    }

    fn options(&self, data: &Dataset, weight: Option<&[f64]>, seed: u64) -> Result<GrowOptions> {
        let n = data.n_rows();
        let total = weight.map_or(n as f64, |w| w.iter().sum());
        Ok(GrowOptions {
            max_depth: self.max_depth.unwrap_or(DEEPEST),
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
            return Err(Error::data(format!("monotonic_cst has {n} numbers for {d} columns")));
        }
        let one_number = match data.target() {
            Target::Classes { labels, .. } => labels.len() == 2,
            Target::Values { n_outputs, .. } => *n_outputs == 1,
        };
        if !one_number || self.criterion == Some(TreeCriterion::AbsoluteError) {
            return Err(unsupported(
                "monotonic_cst with more than two classes, several targets or absolute_error".into(),
            ));
        }
        let columns = data.features().columns();
        if let Some(f) = (0..d).find(|&f| self.monotonic_cst[f] != 0 && !columns[f].kind.is_ordered()) {
            return Err(unsupported(format!("monotonic_cst for the nominal column '{}'", columns[f].name)));
        }
        Ok(self.monotonic_cst.iter().map(|&sign| sign as i8).collect())
    }

    fn certificate(&self, data: &Dataset, grown: &Grown) -> Result<Certificate> {
        let leaves = (0..grown.tree.n_nodes()).filter(|&node| grown.tree.children(node).is_empty());
        let cost: f64 = leaves.map(|leaf| grown.cost[leaf]).sum();
        let objective = match self.criterion_for(data)? {
            TreeCriterion::Gini => "Gini impurity of the leaves",
            TreeCriterion::Entropy | TreeCriterion::LogLoss => "entropy (bits) of the leaves",
            TreeCriterion::Error => "weighted 0-1 risk on the training data",
            TreeCriterion::SquaredError => "mean squared error on the training data",
            TreeCriterion::AbsoluteError => "mean absolute error on the training data",
            TreeCriterion::Poisson => "mean Poisson deviance (half) on the training data",
        };
        let because = if self.splitter == Splitter::Random || self.max_features != MaxFeatures::All {
            "each split was chosen from some of those of its node, at random".to_string()
        } else {
            greedy(&self.heuristic_columns(data)?)
        };
        let ways = ["by order (exact)", "by enumeration (exact)", "by heuristic"];
        let notes = ways.iter().zip(grown.searches).filter(|(_, count)| *count > 0);
        Ok(Certificate {
            objective: objective.into(),
            value: Some(cost / grown.tree.weight[0]),
            status: Status::Done,
            proofs: vec![Proof::Nothing { because }],
            notes: notes.map(|(way, count)| format!("{count} splits of nominal columns were found {way}")).collect(),
        })
    }
}

impl DecisionTree {
    /// The nominal columns whose best bipartition may not be found: those with too many categories to try all, unless some order is known to hold the best. A limit on the rows
    /// or the weight of a leaf may forbid the best.
    fn heuristic_columns(&self, data: &Dataset) -> Result<Vec<String>> {
        let by_order = match data.target() {
            Target::Classes { labels, .. } => labels.len() <= 2,
            Target::Values { n_outputs, .. } => {
                *n_outputs == 1 && self.criterion_for(data)? != TreeCriterion::AbsoluteError
            }
        };
        let is_limited = self.min_samples_leaf.of(data.n_rows()) > 1 || self.min_weight_fraction_leaf > 0.0;
        // So many categories are never too many.
        let tried = (1..16).take_while(|n_groups| data.n_rows() << (n_groups - 1) <= TRIED).count();
        let enumerated = if data.task() == Task::Classification && !by_order { ENUMERATED.max(tried) } else { tried };
        let is_exact = by_order && !is_limited;
        Ok(if is_exact { Vec::new() } else { columns_with_more_categories(data, enumerated.max(2)) })
    }
}

fn unsupported(need: String) -> Error {
    Error::Unsupported { learner: INFO.name.into(), need }
}
