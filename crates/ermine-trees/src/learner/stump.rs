//! The decision stump: the single question that gets the most rows right.
//!
//! **Idea.** Empirical risk minimisation over all questions about one column: "is it at most t?" for an ordered column, "which category is it?" for a
//! nominal one. Each answer gets the class that is most frequent (by weight) among the rows that give it. The search is exact: every column is sorted
//! once and swept once.
//!
//! **Formula.** With weights d_i, minimise sum_i d_i \[h(x_i) != y_i\] / sum_i d_i over column, threshold t and the labels of the sides. Thresholds are half-way
//! between neighbouring values, and min - 1 and max + 1. With a fixed polarity (two classes), b = +1 labels `x <= t` with the second class and b = -1
//! with the first. Other impurities (Gini, entropy) and, for numbers, the squared error are minimised in the same sweep.
//!
//! **Cost.** O(n) for each column after sorting; the order is shared with other learners. **Reference.** Shalev-Shwartz and Ben-David,
//! Understanding Machine Learning, 10.1.1.

use super::{Capabilities, Context, Family, Info, Learner, Trained};
use crate::ensemble::TreeSum;
use crate::split::criterion::{Classes, Moments, SquaredError, TwoClasses};
use crate::split::{Criterion, Impurity, Split, Test, best_split};
use crate::tree::draw::TreeView;
use crate::tree::{Tree, draw, picture, rules};
use ermine_core::error::{Error, Result};
use ermine_core::matrix::{Dataset, Features, Schema, Target, Task};
use ermine_core::model::{Attribute, Certificate, Fitted, Header, Output, TreeEnsemble};
use ermine_core::param::Range;
use ermine_core::section::Sections;
use ermine_core::{choice, params};

choice! {
    /// Which side of the threshold is which class, where there are two classes.
    pub enum Polarity {
        /// Whichever has the lower risk.
        Both = "both",
        /// Values up to the threshold are of the second class: h(x) = sgn(t - x).
        Positive = "positive",
        /// Values up to the threshold are of the first class: h(x) = -sgn(t - x).
        Negative = "negative",
    }
}

params! {
    /// The single question that gets the most rows right.
    pub struct DecisionStump("decision-stump") {
        /// What the question minimises: the weighted 0-1 risk ("error"), or the Gini impurity or entropy of the answers. Regression always minimises the squared error.
        criterion: Impurity = Impurity::Error, tune Each;
        /// Which side of a threshold is which class, where there are two classes and the criterion is "error".
        polarity: Polarity = Polarity::Both;
        /// Nominal columns with more categories than this are passed over: a column of names would win on the training data and say nothing about new rows.
        max_categories: usize = 64, range Range::at_least(0.0);
    }
}

static INFO: Info = Info {
    name: "decision-stump",
    summary: "the single question about one column that gets the most rows right, found exactly",
    capabilities: Capabilities {
        tasks: &[Task::Classification, Task::Regression],
        binary_only: false,
        multi_output: false,
        weights: true,
        missing: true,
        nominal: true,
        sparse: true,
        probabilities: true,
        random: false,
    },
    family: Family::Tree,
};

impl Learner for DecisionStump {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn train(&self, data: &Dataset, _: &Context<'_>) -> Result<Trained> {
        match data.target() {
            Target::Classes { codes, labels } if labels.len() == 2 => {
                let criterion = TwoClasses {
                    codes,
                    weight: data.weight(),
                    impurity: self.criterion,
                    left_class: self.left_class()?,
                };
                self.solve(data, &criterion, |side, sum| self.class_shares(side, sum))
            }
            Target::Classes { codes, labels } => {
                if self.polarity != Polarity::Both {
                    let need = format!("polarity = {} with {} classes (it is for two)", self.polarity, labels.len());
                    return Err(Error::Unsupported { learner: INFO.name.into(), need });
                }
                let criterion =
                    Classes { codes, weight: data.weight(), n_classes: labels.len(), impurity: self.criterion };
                self.solve(data, &criterion, |_, sum| shares(sum))
            }
            Target::Values { values, .. } => {
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                let centred: Vec<f64> = values.iter().map(|y| y - mean).collect();
                let criterion = SquaredError { values: &centred, weight: data.weight() };
                self.solve(data, &criterion, |_, sum: &Moments| {
                    let value = (sum.weight > 0.0).then(|| vec![mean + sum.sum / sum.weight]);
                    Branch { weight: sum.weight, value, precision: None }
                })
            }
        }
    }
}

/// What is on one side of a question.
struct Branch {
    weight: f64,
    /// The prediction, if there is anything in it.
    value: Option<Vec<f64>>,
    /// The share of rows that are of the predicted class, where the prediction is not the shares of the classes.
    precision: Option<f64>,
}

impl DecisionStump {
    /// The class that the left side is for, where the polarity is fixed.
    fn left_class(&self) -> Result<Option<usize>> {
        match self.polarity {
            Polarity::Both => Ok(None),
            _ if self.criterion != Impurity::Error => {
                let need = format!("polarity = {} with criterion = {}", self.polarity, self.criterion);
                Err(Error::Unsupported {
                    learner: INFO.name.into(),
                    need: format!("{need} (it is for criterion = error)"),
                })
            }
            Polarity::Positive => Ok(Some(1)),
            Polarity::Negative => Ok(Some(0)),
        }
    }

    /// The prediction of a branch of two classes: their shares; or, where the polarity is fixed, the class of the side.
    fn class_shares(&self, side: Option<usize>, sum: &[f64; 2]) -> Branch {
        match (self.polarity, side) {
            (Polarity::Both, _) | (_, None) => shares(sum),
            (polarity, Some(side)) => {
                let second = (polarity == Polarity::Positive) == (side == 0);
                let weight = sum[0] + sum[1];
                let value = Some(if second { vec![0.0, 1.0] } else { vec![1.0, 0.0] });
                let precision = if weight > 0.0 { sum[usize::from(second)] / weight } else { 0.0 };
                Branch { weight, value, precision: Some(precision) }
            }
        }
    }

    /// Finds the best split and makes it a tree. `branch(side, sum)` is the prediction of a branch; `side` is 0 or 1 for the sides of a threshold.
    fn solve<C: Criterion>(
        &self,
        data: &Dataset,
        criterion: &C,
        branch: impl Fn(Option<usize>, &C::Sum) -> Branch,
    ) -> Result<Trained> {
        let features = data.features();
        let mut all = criterion.zero();
        (0..data.n_rows()).for_each(|row| criterion.add(&mut all, row));
        let Branch { weight: total, value: root, .. } = branch(None, &all);
        let root = root.ok_or_else(|| Error::data("all row weights are zero"))?;
        let mut tree = Tree::leaf(total, &root);
        let split = best_split(criterion, features, self.max_categories);
        let (mut curve, mut precision) = (Vec::new(), Vec::new());
        let cost = split.as_ref().map_or_else(|| criterion.node_cost(&all), |split| split.cost);
        if let Some(split) = split.filter(|split| self.is_worth_asking(criterion, split)) {
            curve = split.costs.iter().map(|&(threshold, cost)| (threshold, cost / total)).collect();
            let sided = matches!(split.test, Test::AtMost { .. });
            let side = |(side, sum)| branch(sided.then_some(side ^ usize::from(split.swapped)), sum);
            let sides: Vec<Branch> = split.sums.iter().enumerate().map(side).collect();
            if let Some(of_sides) = sides.iter().map(|side| side.precision).collect::<Option<Vec<f64>>>() {
                precision.push(root.iter().fold(0.0f64, |best, &share| best.max(share)));
                precision.extend(of_sides);
            }
            let leaf = |side: Branch| (side.weight, side.value.unwrap_or_else(|| root.clone()));
            let children: Vec<_> = sides.into_iter().map(leaf).collect();
            tree.split(0, split.test, &children);
        }
        let certificate = self.certificate(data, cost / total)?;
        let output = if data.task() == Task::Classification { Output::Probabilities } else { Output::Values };
        Ok(Trained { fitted: Box::new(Stump { tree, curve, precision, output }), certificate })
    }

    /// A split that leaves all rows on one side asks nothing, unless a fixed polarity gives the sides their classes.
    fn is_worth_asking<C: Criterion>(&self, criterion: &C, split: &Split<C::Sum>) -> bool {
        let empty = |sum: &C::Sum| criterion.is_empty(sum);
        self.polarity != Polarity::Both || split.sums.iter().filter(|sum| !empty(sum)).count() > 1
    }

    fn certificate(&self, data: &Dataset, value: f64) -> Result<Certificate> {
        let objective = match (data.task(), self.criterion) {
            (Task::Classification, Impurity::Error) => "weighted 0-1 risk on the training data",
            (Task::Classification, Impurity::Gini) => "weighted Gini impurity of the answers",
            (Task::Classification, Impurity::Entropy) => "weighted entropy (bits) of the answers",
            _ => "weighted mean squared error on the training data",
        };
        let skipped =
            data.features().columns().iter().filter(|c| {
                !c.kind.is_ordered() && c.levels().is_some_and(|levels| levels.len() > self.max_categories)
            });
        let notes: Vec<String> = skipped
            .map(|c| {
                format!("column '{}' has more than {} categories and was passed over", c.name, self.max_categories)
            })
            .collect();
        let which = if notes.is_empty() { "all columns" } else { "all columns that were not passed over" };
        let over = match self.polarity {
            Polarity::Both => format!("{which}, their thresholds and the labels of the answers"),
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

/// Class weights as weight and shares.
fn shares(weights: &(impl AsRef<[f64]> + ?Sized)) -> Branch {
    let weights = weights.as_ref();
    let total: f64 = weights.iter().sum();
    let value = (total > 0.0).then(|| weights.iter().map(|w| w / total).collect());
    Branch { weight: total, value, precision: None }
}

/// The fitted stump: a tree of one question, and the curve of the risk over its thresholds.
#[derive(Debug, Clone, PartialEq)]
pub struct Stump {
    tree: Tree,
    curve: Vec<(f64, f64)>,
    /// The share of each node's rows that are of the class it predicts, where the polarity is fixed: then a side predicts its class for certain.
    precision: Vec<f64>,
    output: Output,
}

impl Stump {
    /// The question and its answers.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Thresholds of the chosen column and the objective at each.
    pub fn curve(&self) -> &[(f64, f64)] {
        &self.curve
    }

    /// A stump that was grown elsewhere, of which no curve is known.
    pub fn of_tree(tree: Tree, output: Output) -> Stump {
        Stump { tree, curve: Vec::new(), precision: Vec::new(), output }
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
        Ok(Box::new(Stump { tree, curve, precision, output }))
    }
}

impl Fitted for Stump {
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
        let mut text = draw::text(&self.view(schema));
        if let Some(name) = self.tree.test[0].feature().map(|f| &schema.features[f].name) {
            text.push_str(&draw::curve_text(&self.curve, name));
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
        Some(draw::stump_svg(&self.view(schema), &self.curve))
    }

    fn dot(&self, schema: &Schema) -> Option<String> {
        Some(picture::dot(&self.view(schema)))
    }

    fn rules(&self, schema: &Schema) -> Option<String> {
        Some(rules::text(&self.view(schema), &[]))
    }

    fn reasons(&self, schema: &Schema, features: &Features, row: usize) -> Option<String> {
        Some(rules::reasons(&self.view(schema), |feature| features.number(row, feature)))
    }
}
