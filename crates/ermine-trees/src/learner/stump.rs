//! Decision stump: a tree with a single split.
//!
//! **Idea.** Empirical risk minimization over all tests of one feature: `x <= t` for an ordered feature, one branch per category for a nominal one. Each branch predicts its majority class (by weight).
//! The search is exact.
//!
//! **Formula.** With weights d_i, minimize sum_i d_i \[h(x_i) != y_i\] / sum_i d_i over the feature, the threshold t and the labels of the branches. Thresholds are the midpoints of neighboring
//! values, and min - 1 and max + 1. With a fixed polarity (two classes), b = +1 labels `x <= t` with the second class and b = -1 with the first. The Gini impurity, the entropy and, for regression,
//! the squared error (summed over several targets) are minimized by the same search.
//!
//! **Cost.** O(n) per feature after sorting; the sorted order is shared with other learners. **Reference.** Shalev-Shwartz and Ben-David, Understanding Machine Learning, 10.1.1.

use super::{Capabilities, Context, Family, Learner, LearnerInfo, TREE_CAPABILITIES, Trained};
use crate::ensemble::TreeSum;
use crate::split::additive::{ClassSums, MultiTargetSums, SquaredErrorSums, TargetMoments, TwoClassSums};
use crate::split::{AdditiveCriterion, Impurity, StumpSplit, Test, best_split};
use crate::tree::describe::TreeView;
use crate::tree::{Tree, describe, render, rules};
use ermine_core::error::{Error, Result};
use ermine_core::matrix::{Dataset, Features, Schema, Target, Task};
use ermine_core::model::{Attribute, Certificate, Fitted, Header, Output, TreeEnsemble};
use ermine_core::param::Range;
use ermine_core::section::Sections;
use ermine_core::{choice, params};

choice! {
    /// Which class lies below the threshold, if there are two classes.
    pub enum Polarity {
        /// The one with the lower risk.
        Both = "both",
        /// Values up to the threshold are predicted as the second class: h(x) = sgn(t - x).
        Positive = "positive",
        /// Values up to the threshold are predicted as the first class: h(x) = -sgn(t - x).
        Negative = "negative",
    }
}

params! {
    /// A tree with a single split, found exactly.
    pub struct DecisionStump("decision-stump") {
        /// Function to minimize: the weighted error rate ("error"), or the Gini impurity or entropy of the branches. Regression always minimizes the squared error.
        /// "error" gives the stump with the fewest mistakes; "gini" and "entropy" better probabilities.
        criterion: Impurity = Impurity::Error, tune Each;
        /// Which class lies below the threshold. Only for two classes and criterion = "error".
        polarity: Polarity = Polarity::Both;
        /// Nominal features with more categories than this are ignored.
        /// A feature with a category for almost every row, such as an identifier, would fit the training set perfectly and generalize to nothing.
        max_categories: usize = 64, range Range::at_least(0.0);
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "decision-stump",
    summary: "tree with a single split that minimizes the training error, found exactly",
    capabilities: Capabilities { sparse: true, ..TREE_CAPABILITIES },
    family: Family::Tree,
};

impl Learner for DecisionStump {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, _: &Context<'_>) -> Result<Trained> {
        match data.target() {
            Target::Classes { codes, labels } if labels.len() == 2 => {
                let criterion = TwoClassSums {
                    codes,
                    weight: data.weight(),
                    impurity: self.criterion,
                    left_class: self.left_class()?,
                };
                self.solve(data, &criterion, |side, sum| self.class_shares(side, sum))
            }
            Target::Classes { codes, labels } => {
                if self.polarity != Polarity::Both {
                    let need =
                        format!("polarity = {} with {} classes (it needs two classes)", self.polarity, labels.len());
                    return Err(Error::Unsupported { learner: INFO.name.into(), need });
                }
                let criterion =
                    ClassSums { codes, weight: data.weight(), n_classes: labels.len(), impurity: self.criterion };
                self.solve(data, &criterion, |_, sum| shares(sum))
            }
            Target::Values { values, n_outputs } if *n_outputs > 1 => self.solve_targets(data, values, *n_outputs),
            Target::Values { values, .. } => {
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                let centered: Vec<f64> = values.iter().map(|y| y - mean).collect();
                let criterion = SquaredErrorSums { values: &centered, weight: data.weight() };
                self.solve(data, &criterion, |_, sum: &TargetMoments| {
                    let value = (sum.weight > 0.0).then(|| vec![mean + sum.sum / sum.weight]);
                    StumpBranch { weight: sum.weight, value, precision: None }
                })
            }
        }
    }
}

/// One branch of the split.
struct StumpBranch {
    weight: f64,
    /// The prediction; `None` if the branch has no weight.
    value: Option<Vec<f64>>,
    /// The fraction of rows of the predicted class, if the prediction is not the class proportions.
    precision: Option<f64>,
}

impl DecisionStump {
    /// The class that the left branch predicts if the polarity is fixed.
    fn left_class(&self) -> Result<Option<usize>> {
        match self.polarity {
            Polarity::Both => Ok(None),
            _ if self.criterion != Impurity::Error => {
                let need = format!("polarity = {} with criterion = {}", self.polarity, self.criterion);
                Err(Error::Unsupported {
                    learner: INFO.name.into(),
                    need: format!("{need} (it needs criterion = error)"),
                })
            }
            Polarity::Positive => Ok(Some(1)),
            Polarity::Negative => Ok(Some(0)),
        }
    }

    /// The prediction of a branch with two classes: the class proportions or, if the polarity is fixed, the class of the branch.
    fn class_shares(&self, side: Option<usize>, sum: &[f64; 2]) -> StumpBranch {
        match (self.polarity, side) {
            (Polarity::Both, _) | (_, None) => shares(sum),
            (polarity, Some(side)) => {
                let second = (polarity == Polarity::Positive) == (side == 0);
                let weight = sum[0] + sum[1];
                let value = Some(if second { vec![0.0, 1.0] } else { vec![1.0, 0.0] });
                let precision = if weight > 0.0 { sum[usize::from(second)] / weight } else { 0.0 };
                StumpBranch { weight, value, precision: Some(precision) }
            }
        }
    }

    /// Several targets share one split, the one of the least squared error over all of them.
    fn solve_targets(&self, data: &Dataset, values: &[f64], n_targets: usize) -> Result<Trained> {
        let n = data.n_rows() as f64;
        let mean = |target: usize| values.iter().skip(target).step_by(n_targets).sum::<f64>() / n;
        let means: Vec<f64> = (0..n_targets).map(mean).collect();
        let centered: Vec<f64> =
            values.chunks_exact(n_targets).flat_map(|row| row.iter().zip(&means).map(|(y, mean)| y - mean)).collect();
        let criterion = MultiTargetSums { values: &centered, n_targets, weight: data.weight() };
        self.solve(data, &criterion, |_, sum| {
            let of_branch = || means.iter().zip(&sum.sums).map(|(mean, sum_of)| mean + sum_of / sum.weight).collect();
            StumpBranch { weight: sum.weight, value: (sum.weight > 0.0).then(of_branch), precision: None }
        })
    }

    /// Finds the best split and builds the tree. `branch(side, sum)` computes a branch; `side` is 0 or 1 for the two sides of a threshold.
    fn solve<C: AdditiveCriterion>(
        &self,
        data: &Dataset,
        criterion: &C,
        branch: impl Fn(Option<usize>, &C::Sum) -> StumpBranch,
    ) -> Result<Trained> {
        let features = data.features();
        let mut all = criterion.zero();
        (0..data.n_rows()).for_each(|row| criterion.add(&mut all, row));
        let StumpBranch { weight: total, value: root, .. } = branch(None, &all);
        let root = root.ok_or_else(|| Error::data("all row weights are zero"))?;
        let mut tree = Tree::leaf(total, &root);
        let split = best_split(criterion, features, self.max_categories);
        let (mut curve, mut precision) = (Vec::new(), Vec::new());
        let cost = split.as_ref().map_or_else(|| criterion.node_cost(&all), |split| split.cost);
        if let Some(split) = split.filter(|split| self.is_worth_asking(criterion, split)) {
            curve = split.costs.iter().map(|&(threshold, cost)| (threshold, cost / total)).collect();
            let sided = matches!(split.test, Test::AtMost { .. });
            let side = |(side, sum)| branch(sided.then_some(side ^ usize::from(split.swapped)), sum);
            let sides: Vec<StumpBranch> = split.sums.iter().enumerate().map(side).collect();
            if let Some(of_sides) = sides.iter().map(|side| side.precision).collect::<Option<Vec<f64>>>() {
                precision.push(root.iter().fold(0.0f64, |best, &share| best.max(share)));
                precision.extend(of_sides);
            }
            let leaf = |side: StumpBranch| (side.weight, side.value.unwrap_or_else(|| root.clone()));
            let children: Vec<_> = sides.into_iter().map(leaf).collect();
            tree.split(0, split.test, &children);
        }
        let certificate = self.certificate(data, cost / total)?;
        let output = if data.task() == Task::Classification { Output::Probabilities } else { Output::Values };
        Ok(Trained { fitted: Box::new(FittedStump { tree, curve, precision, output }), certificate })
    }

    /// A split with all rows on one side is useless, unless a fixed polarity determines the class of each side.
    fn is_worth_asking<C: AdditiveCriterion>(&self, criterion: &C, split: &StumpSplit<C::Sum>) -> bool {
        let empty = |sum: &C::Sum| criterion.is_empty(sum);
        self.polarity != Polarity::Both || split.sums.iter().filter(|sum| !empty(sum)).count() > 1
    }

    fn certificate(&self, data: &Dataset, value: f64) -> Result<Certificate> {
        let objective = match (data.task(), self.criterion) {
            (Task::Classification, Impurity::Error) => "weighted 0-1 risk on the training data",
            (Task::Classification, Impurity::Gini) => "weighted Gini impurity of the answers",
            (Task::Classification, Impurity::Entropy) => "weighted entropy (bits) of the answers",
            _ if data.values()?.1 > 1 => "weighted mean squared error on the training data, summed over the targets",
            _ => "weighted mean squared error on the training data",
        };
        let skipped =
            data.features().columns().iter().filter(|c| {
                !c.kind.is_ordered() && c.levels().is_some_and(|levels| levels.len() > self.max_categories)
            });
        let notes: Vec<String> = skipped
            .map(|c| format!("column '{}' has more than {} categories and was ignored", c.name, self.max_categories))
            .collect();
        let which = if notes.is_empty() { "all columns" } else { "all columns that were not ignored" };
        let over = match self.polarity {
            Polarity::Both => format!("{which}, their thresholds and the labels of the branches"),
            polarity => {
                let (low, high) = if polarity == Polarity::Positive { (1, 0) } else { (0, 1) };
                let labels = data.classes()?.1;
                let (low, high) = (&labels[low], &labels[high]);
                let has_nominal = data.features().columns().iter().any(|c| !c.kind.is_ordered());
                let categories = if has_nominal { ", and the labels of categories" } else { "" };
                format!(
                    "{which} and their thresholds with '{low}' up to a threshold and '{high}' above it (polarity = {polarity}){categories}"
                )
            }
        };
        Ok(Certificate { notes, ..Certificate::optimal(objective, value, over) })
    }
}

/// Total weight and class proportions.
fn shares(weights: &(impl AsRef<[f64]> + ?Sized)) -> StumpBranch {
    let weights = weights.as_ref();
    let total: f64 = weights.iter().sum();
    let value = (total > 0.0).then(|| weights.iter().map(|w| w / total).collect());
    StumpBranch { weight: total, value, precision: None }
}

/// A fitted stump: a tree with one split, and the objective as a function of the threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedStump {
    tree: Tree,
    curve: Vec<(f64, f64)>,
    /// The fraction of each node's rows that have its predicted class if the polarity is fixed (the prediction is then a class, not the class proportions).
    precision: Vec<f64>,
    output: Output,
}

impl FittedStump {
    /// The tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Thresholds of the chosen column and the objective at each.
    pub fn curve(&self) -> &[(f64, f64)] {
        &self.curve
    }

    /// A stump without an objective curve.
    pub fn of_tree(tree: Tree, output: Output) -> FittedStump {
        FittedStump { tree, curve: Vec::new(), precision: Vec::new(), output }
    }

    fn view<'a>(&'a self, schema: &'a Schema) -> TreeView<'a> {
        TreeView { precision: &self.precision, ..TreeView::new(&self.tree, schema) }
    }

    /// Reads it from a model file.
    pub fn load(sections: &Sections, header: &Header) -> Result<Box<dyn Fitted>> {
        let output: Output = sections.json("output")?;
        let tree = Tree::load(sections, header.schema.features.len(), output.width(&header.schema))?;
        let curve = sections.f64s("curve_threshold")?.into_iter().zip(sections.f64s("curve_risk")?).collect();
        let precision = if sections.has("precision") { sections.f64s("precision")? } else { Vec::new() };
        if !precision.is_empty() && precision.len() != tree.n_nodes() {
            let (found, expected) = (precision.len(), tree.n_nodes());
            return Err(Error::model_file(format!("'precision' has {found} numbers; expected {expected}")));
        }
        Ok(Box::new(FittedStump { tree, curve, precision, output }))
    }
}

impl Fitted for FittedStump {
    fn output(&self) -> Output {
        self.output
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        Ok(self.tree.predict(features))
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        self.tree.save(sections)?;
        let (thresholds, risks): (Vec<f64>, Vec<f64>) = self.curve.iter().copied().unzip();
        sections.put_f64s("curve_threshold", &thresholds);
        sections.put_f64s("curve_risk", &risks);
        if !self.precision.is_empty() {
            sections.put_f64s("precision", &self.precision);
        }
        sections.put_json("output", &self.output)
    }

    fn text(&self, schema: &Schema) -> String {
        let mut text = describe::text(&self.view(schema));
        if let Some(name) = self.tree.test[0].feature().map(|f| &schema.features[f].name) {
            text.push_str(&describe::curve_text(&self.curve, name));
        }
        text
    }

    fn attributes(&self, schema: &Schema) -> Vec<Attribute> {
        let mut values = vec![0.0; schema.features.len()];
        self.tree.test[0].feature().into_iter().for_each(|feature| values[feature] = 1.0);
        vec![Attribute::feature_importances(values)]
    }

    fn tree_ensemble(&self) -> Option<Box<dyn TreeEnsemble>> {
        Some(Box::new(TreeSum::of_tree(&self.tree)))
    }

    fn svg(&self, schema: &Schema) -> Option<String> {
        Some(describe::stump_svg(&self.view(schema), &self.curve))
    }

    fn dot(&self, schema: &Schema) -> Option<String> {
        Some(render::dot(&self.view(schema)))
    }

    fn rules(&self, schema: &Schema) -> Option<String> {
        Some(rules::text(&self.view(schema), &[]))
    }

    fn explain_row(&self, schema: &Schema, features: &Features, row: usize) -> Option<String> {
        Some(rules::reasons(&self.view(schema), |feature| features.number(row, feature)))
    }
}
