//! The fitted gradient boosting model.

use crate::boost::booster::Booster;
use crate::ensemble::TreeSum;
use crate::learner::fitted_tree::FittedTree;
use crate::split::Test;
use crate::split::test::CodeSet;
use crate::tree::{Forest, describe};
use ermine_core::error::{Error, Result};
use ermine_core::matrix::{Features, Schema, TargetStatistics, Task};
use ermine_core::model::{Attribute, Certificate, Fitted, Header, Link, Output, Proof, TreeEnsemble};
use ermine_core::section::Sections;
use std::sync::Arc;

/// The fitted sum of trees.
#[derive(Debug, Clone, PartialEq)]
pub struct BoostedTrees {
    pub(super) booster: Booster,
    /// The target statistics that replace columns of many categories, as columns behind the others.
    pub(super) statistics: TargetStatistics,
    pub(super) link: Link,
    pub(super) n_classes: usize,
    pub(super) history: Vec<f64>,
    pub(super) importances: Vec<f64>,
    /// The levels of the quantiles that it predicts, in the order of the parameter.
    pub(super) levels: Vec<f64>,
}

/// The state of staged prediction.
pub struct BoostedStages {
    features: Features,
    scores: Vec<f64>,
    round: usize,
}

impl BoostedTrees {
    /// A model of trees that were trained elsewhere.
    pub fn new(booster: Booster, link: Link, n_classes: usize, importances: Vec<f64>) -> BoostedTrees {
        let (statistics, history, levels) = (TargetStatistics::default(), Vec::new(), Vec::new());
        BoostedTrees { booster, statistics, link, n_classes, history, importances, levels }
    }

    /// The sum of trees.
    pub fn booster(&self) -> &Booster {
        &self.booster
    }

    /// The validation metric after each round.
    pub fn history(&self) -> &[f64] {
        &self.history
    }

    /// The predictions of the first `n_rounds` rounds.
    pub fn predict_after(&self, features: &Features, n_rounds: usize) -> Result<Vec<f64>> {
        Ok(self.predictions(self.scores(features, n_rounds)?))
    }

    /// Staged prediction: the predictions of all rows after each round, row by row. Each stage costs the trees of one round.
    pub fn stages(&self, features: &Features) -> Result<BoostedStages> {
        let features = self.statistics.extend(features)?;
        let scores = self.booster.start().repeat(features.n_rows());
        Ok(BoostedStages { features, scores, round: 0 })
    }

    /// The next stage; `None` after the last.
    pub fn next_stage(&self, stages: &mut BoostedStages) -> Option<Vec<f64>> {
        if stages.round >= self.booster.n_rounds() {
            return None;
        }
        self.booster.add_round(&stages.features, stages.round, &mut stages.scores);
        stages.round += 1;
        Some(self.predictions(stages.scores.clone()))
    }

    /// How scores become predictions; a single class is certain.
    fn effective_link(&self) -> Link {
        effective_link(self.link, self.n_classes)
    }

    fn predictions(&self, scores: Vec<f64>) -> Vec<f64> {
        self.effective_link().apply(scores, self.booster.n_scores())
    }

    /// The scores of each row after `n_rounds` rounds, row by row.
    pub fn scores(&self, features: &Features, n_rounds: usize) -> Result<Vec<f64>> {
        Ok(self.booster.scores(&self.statistics.extend(features)?, n_rounds))
    }

    /// The same trees over the columns of the data only: a mean target is a number of the category, so that "at most t" is a set of categories.
    fn of_columns(&self, forest: &Forest) -> Forest {
        let n_features = self.importances.len() as u32;
        let of_columns = |test: &mut Test| {
            let Test::AtMost { feature, threshold, .. } = *test else { return };
            let Some(statistic) = feature.checked_sub(n_features).map(|statistic| statistic as usize) else { return };
            let Some((missing, values)) = self.statistics.values(statistic).split_last() else { return };
            let set = CodeSet::new((0..values.len()).filter(|&code| values[code] <= threshold));
            let feature = self.statistics.column(statistic) as u32;
            *test = Test::InSet { feature, set, missing_left: *missing <= threshold };
        };
        let mut all = Forest::new(forest.width());
        for number in 0..forest.n_trees() {
            let mut tree = forest.tree(number);
            tree.test.iter_mut().for_each(of_columns);
            all.push(&tree);
        }
        all
    }

    /// The quantiles of each row, row by row, ascending: they never cross, because they are put in order (Chernozhukov et al., Quantile and Probability Curves
    /// without Crossing, 2010: that lowers the quantile losses or leaves them as they are).
    pub fn quantiles(&self, features: &Features) -> Result<Vec<f64>> {
        let mut scores = self.scores(features, self.booster.n_rounds())?;
        scores.chunks_mut(self.booster.n_scores()).for_each(|row| row.sort_unstable_by(f64::total_cmp));
        Ok(scores)
    }

    /// Reads it from a model file.
    pub fn load(sections: &Sections, header: &Header) -> Result<Box<dyn Fitted>> {
        let link: Link = sections.json("link")?;
        let statistics = TargetStatistics::load(sections, &header.schema)?;
        let booster = Booster::load(sections, header.schema.features.len() + statistics.len())?;
        let (k, n_classes) = (booster.n_scores(), header.schema.classes.len());
        let fits = match (link, header.schema.task) {
            (Link::Logistic, Task::Classification) => k == 1 && (1..=2).contains(&n_classes),
            (Link::Softmax, Task::Classification) => k == n_classes,
            (Link::Identity | Link::Exponential, Task::Regression | Task::Ranking) => k == header.schema.n_outputs,
            (Link::Quantiles, Task::Regression) => header.schema.n_outputs == 1,
            _ => false,
        };
        if !fits {
            return Err(Error::model_file("the scores don't fit the target"));
        }
        let (history, importances) = (sections.f64s("history")?, sections.f64s("importance")?);
        if importances.len() != header.schema.features.len() {
            return Err(Error::model_file("boosting has importances of other columns"));
        }
        let levels = if sections.has("levels") { sections.f64s("levels")? } else { Vec::new() };
        if !levels.is_empty() && (levels.len() != k || levels.iter().any(|level| !(0.0..=1.0).contains(level))) {
            return Err(Error::model_file("boosting has levels of other quantiles"));
        }
        Ok(Box::new(BoostedTrees { booster, statistics, link, n_classes, history, importances, levels }))
    }
}

/// Adds initial scores, of which there must be one for each score of each row.
pub(super) fn add_scores(mut scores: Vec<f64>, init_scores: &[f64]) -> Result<Vec<f64>> {
    if init_scores.len() != scores.len() {
        let (given, needed) = (init_scores.len(), scores.len());
        return Err(Error::data(format!(
            "got {given} init scores, but {needed} are needed: one for each score of each row"
        )));
    }
    scores.iter_mut().zip(init_scores).for_each(|(score, init)| *score += init);
    Ok(scores)
}

/// How scores become predictions; a single class is certain.
pub(super) fn effective_link(link: Link, n_classes: usize) -> Link {
    if link == Link::Logistic && n_classes == 1 { Link::Certain } else { link }
}

impl Fitted for BoostedTrees {
    fn output(&self) -> Output {
        if matches!(self.link, Link::Logistic | Link::Softmax) { Output::Probabilities } else { Output::Values }
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        self.predict_after(features, self.booster.n_rounds())
    }

    fn predict_from(&self, features: &Features, init_scores: &[f64]) -> Option<Result<Vec<f64>>> {
        let scores = self.scores(features, self.booster.n_rounds());
        Some(scores.and_then(|scores| Ok(self.predictions(add_scores(scores, init_scores)?))))
    }

    fn margins(&self, features: &Features) -> Result<Option<(Vec<f64>, usize)>> {
        if !matches!(self.link, Link::Logistic | Link::Softmax) {
            return Ok(None);
        }
        Ok(Some((self.scores(features, self.booster.n_rounds())?, self.booster.n_scores())))
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        sections.put_json("link", &self.link)?;
        sections.put_f64s("history", &self.history);
        self.statistics.save(sections);
        sections.put_f64s("importance", &self.importances);
        if !self.levels.is_empty() {
            sections.put_f64s("levels", &self.levels);
        }
        self.booster.save(sections)
    }

    fn quantile_levels(&self) -> &[f64] {
        &self.levels
    }

    fn quantiles(&self, features: &Features, levels: &[f64]) -> Option<Result<Vec<f64>>> {
        if self.levels.is_empty() {
            return None;
        }
        // The place of a level among all, in ascending order.
        let rank = |level: &f64| {
            let known = self.levels.contains(level);
            let rank = self.levels.iter().filter(|other| *other < level).count();
            let words = || self.levels.iter().map(f64::to_string);
            known.then_some(rank).ok_or_else(|| Error::unknown("quantile of the model", level.to_string(), words()))
        };
        let of_row = |ranks: &Vec<usize>, ascending: Vec<f64>| {
            ascending.chunks(self.levels.len()).flat_map(|row| ranks.iter().map(|&rank| row[rank])).collect()
        };
        let ranks: Result<Vec<usize>> = levels.iter().map(rank).collect();
        Some(ranks.and_then(|ranks| Ok(of_row(&ranks, BoostedTrees::quantiles(self, features)?))))
    }

    fn n_parts(&self) -> usize {
        // Trees that ask about mean targets ask about columns that rows don't have.
        if self.statistics.is_empty() { self.booster.n_trees() } else { 0 }
    }

    /// A tree of numbers: what it adds to a score, the step of its round included.
    fn part(&self, part: usize, header: &Header) -> Result<(Header, Sections)> {
        if !self.statistics.is_empty() {
            let need =
                "access to single trees of a model with target statistics (set min_cat_to_statistic to none)".into();
            return Err(Error::Unsupported { learner: header.learner.clone(), need });
        }
        let mut sections = Sections::default();
        FittedTree::part_of(self.booster.tree(part), Output::Values).save(&mut sections)?;
        let target = header.schema.target.iter().take(1).cloned().collect();
        let schema = Schema {
            task: Task::Regression,
            classes: Vec::new(),
            n_outputs: 1,
            group: None,
            init_score: false,
            target,
            ..header.schema.clone()
        };
        let because = format!("it is tree {part} of a sum");
        let certificate = Certificate { proofs: vec![Proof::Nothing { because }], ..header.certificate.clone() };
        Ok((Header { learner: "decision-tree".into(), schema, certificate, ..header.clone() }, sections))
    }

    fn tree_ensemble(&self) -> Option<Box<dyn TreeEnsemble>> {
        let forests = self.booster.forests().iter();
        let forests = match self.statistics.is_empty() {
            true => forests.cloned().collect(),
            false => forests.map(|forest| Arc::new(self.of_columns(forest))).collect(),
        };
        Some(Box::new(TreeSum { forests, divisor: 1.0, link: self.effective_link(), starts: true }))
    }

    fn attributes(&self, _: &Schema) -> Vec<Attribute> {
        let doc = "Loss or metric on the validation set after each round; empty without a validation set.";
        vec![
            Attribute::feature_importances(self.importances.clone()),
            Attribute::vector("validation_loss", self.history.clone(), "(n_rounds,)", doc),
            Attribute::integer("n_estimators", self.booster.n_rounds(), "Number of boosting rounds in the model."),
        ]
    }

    fn text(&self, schema: &Schema) -> String {
        let n = self.booster.n_trees();
        let mut text = format!("a sum of {n} trees in {} rounds", self.booster.n_rounds());
        if n > 0 {
            // A tree's leaves are parts of scores, whatever is predicted.
            let schema = Schema { task: Task::Regression, ..self.statistics.extend_schema(schema) };
            text.push_str(&format!(
                "; the first:\n{}",
                describe::text(&describe::TreeView::new(&self.booster.tree(0), &schema))
            ));
        }
        text
    }
}
