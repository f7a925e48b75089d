//! The fitted random forest or extra-trees.

use super::out_of_bag::{LeafTargets, OutOfBag};
use crate::ensemble::TreeSum;
use crate::learner::fitted_tree::FittedTree;
use crate::tree::Forest;
use ermine_core::chart::text::number;
use ermine_core::error::{Error, Result};
use ermine_core::matrix::{Features, Schema, Task};
use ermine_core::model::{Attribute, Certificate, Fitted, Header, Link, Output, Proof, Staged, TreeEnsemble};
use ermine_core::section::Sections;
use std::sync::Arc;

/// A fitted random forest or extra-trees.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedForest {
    pub(super) forest: Arc<Forest>,
    pub(super) output: Output,
    /// The normalized total gain of the splits on each feature, summed over the trees.
    pub(super) shares: Vec<f64>,
    pub(super) out_of_bag: Option<OutOfBag>,
    pub(super) permutation: Option<Vec<f64>>,
    pub(super) leaf_targets: Option<LeafTargets>,
}

impl FittedForest {
    /// The trees.
    pub fn forest(&self) -> &Forest {
        &self.forest
    }

    /// Impurity-based feature importances; they sum to 1 if there are any splits.
    pub fn importances(&self) -> Vec<f64> {
        let total: f64 = self.shares.iter().sum();
        if total > 0.0 { self.shares.iter().map(|share| share / total).collect() } else { self.shares.clone() }
    }

    /// Permutation importances on out-of-bag rows, if `permutation_importances` is set.
    pub fn permutation_importances(&self) -> Option<&[f64]> {
        self.permutation.as_deref()
    }

    /// The same trees without the out-of-bag evaluation.
    pub(super) fn without_evaluation(&self) -> FittedForest {
        FittedForest {
            forest: self.forest.clone(),
            shares: self.shares.clone(),
            output: self.output,
            out_of_bag: None,
            permutation: None,
            leaf_targets: None,
        }
    }

    /// The out-of-bag evaluation, if `oob_score` is set.
    pub fn out_of_bag(&self) -> Option<&OutOfBag> {
        self.out_of_bag.as_ref()
    }

    /// Reads it from a model file.
    pub fn load(sections: &Sections, header: &Header) -> Result<Box<dyn Fitted>> {
        let output: Output = sections.json("output")?;
        let n_features = header.schema.features.len();
        let forest = Forest::load(sections, n_features, output.width(&header.schema))?;
        let shares = sections.f64s("importance")?;
        let permutation = sections.has("permutation").then(|| sections.f64s("permutation")).transpose()?;
        let fits = |shares: &Vec<f64>| shares.len() == n_features;
        if forest.n_trees() == 0 || !fits(&shares) || !permutation.as_ref().is_none_or(fits) {
            return Err(Error::model_file(
                "a forest has no trees, or its importances don't match the number of columns",
            ));
        }
        let out_of_bag = sections.json("out_of_bag")?;
        let leaf_targets = sections.has("leaf_target").then(|| LeafTargets::load(sections, &forest)).transpose()?;
        Ok(Box::new(FittedForest { forest: Arc::new(forest), output, shares, out_of_bag, permutation, leaf_targets }))
    }
}

impl Fitted for FittedForest {
    fn output(&self) -> Output {
        self.output
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        let mut means = self.forest.sum(features);
        let n_trees = self.forest.n_trees() as f64;
        means.iter_mut().for_each(|mean| *mean /= n_trees);
        Ok(means)
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        self.forest.save(sections)?;
        sections.put_f64s("importance", &self.shares);
        sections.put_json("output", &self.output)?;
        if let Some(permutation) = &self.permutation {
            sections.put_f64s("permutation", permutation);
        }
        if let Some(leaf_targets) = &self.leaf_targets {
            leaf_targets.save(sections);
        }
        sections.put_json("out_of_bag", &self.out_of_bag)
    }

    fn text(&self, schema: &Schema) -> String {
        let mut text =
            format!("the average of {} trees with {} nodes in total\n", self.forest.n_trees(), self.forest.n_nodes());
        if let Some(oob) = &self.out_of_bag {
            let measure = oob.measure(schema.task);
            text.push_str(&format!("out-of-bag {measure}: {} on {} rows\n", number(oob.score), oob.n_evaluated));
        }
        let importances = self.importances();
        text.push_str("feature importances (share of the impurity decrease):\n");
        text.push_str(&bars(&importances, schema));
        if let Some(permutation) = &self.permutation {
            let what =
                if schema.task == Task::Classification { "decrease in accuracy" } else { "increase in squared error" };
            text.push_str(&format!("permutation importances ({what} on out-of-bag rows):\n"));
            text.push_str(&bars(permutation, schema));
        }
        text
    }

    fn n_parts(&self) -> usize {
        self.forest.n_trees()
    }

    fn part(&self, part: usize, header: &Header) -> Result<(Header, Sections)> {
        let mut sections = Sections::default();
        FittedTree::part_of(self.forest.tree(part), self.output).save(&mut sections)?;
        let because = format!("it is tree {part} of a forest");
        let certificate = Certificate { proofs: vec![Proof::Nothing { because }], ..header.certificate.clone() };
        Ok((Header { learner: "decision-tree".into(), certificate, ..header.clone() }, sections))
    }

    fn staged(&self) -> Option<&dyn Staged> {
        Some(self)
    }

    fn tree_ensemble(&self) -> Option<Box<dyn TreeEnsemble>> {
        Some(Box::new(TreeSum::of(self.forest.clone(), self.forest.n_trees() as f64, Link::Identity)))
    }

    fn quantiles(&self, features: &Features, levels: &[f64]) -> Option<Result<Vec<f64>>> {
        self.leaf_targets.as_ref().map(|targets| Ok(targets.quantiles(&self.forest, features, levels)))
    }

    fn attributes(&self, schema: &Schema) -> Vec<Attribute> {
        let mut all = vec![Attribute::feature_importances(self.importances())];
        let doc = "Decrease in accuracy (or increase in squared error) on out-of-bag rows when the values of a feature are shuffled, \
                   if ``permutation_importances`` is set.";
        let vector = |values| Attribute::vector("permutation_importances", values, "(n_features_in_,)", doc);
        all.extend(self.permutation.clone().map(vector));
        let oob = self.out_of_bag.as_ref().map(|oob| oob.attributes(schema.task, self.forest.width()));
        all.extend(oob.into_iter().flatten());
        all
    }
}

/// Each tree is a stage; the prediction is the average of the trees so far.
impl Staged for FittedForest {
    fn n_stages(&self) -> usize {
        self.forest.n_trees()
    }

    fn add_stage(&self, features: &Features, stage: usize, sums: &mut Vec<f64>) -> Result<()> {
        sums.resize(features.n_rows() * self.forest.width(), 0.0);
        let tree = self.forest.sum_of(stage..stage + 1, features);
        sums.iter_mut().zip(tree).for_each(|(sum, v)| *sum += v);
        Ok(())
    }

    fn after(&self, sums: &[f64], n_stages: usize) -> Vec<f64> {
        sums.iter().map(|sum| sum / n_stages as f64).collect()
    }
}

/// A bar chart of the features with the highest importances.
fn bars(importances: &[f64], schema: &Schema) -> String {
    const SHOWN: usize = 20;
    let most = importances.iter().fold(0.0, |a: f64, &b| a.max(b));
    let mut order: Vec<usize> = (0..importances.len()).collect();
    order.sort_by(|&a, &b| importances[b].total_cmp(&importances[a]).then(a.cmp(&b)));
    let line = |&column: &usize| {
        let share = importances[column];
        let bar = "█".repeat((share / most * 40.0).round().clamp(0.0, 40.0) as usize);
        format!("  {:<24} {share:>10.5} {bar}\n", schema.features[column].name)
    };
    order.iter().take(SHOWN).map(line).collect()
}
