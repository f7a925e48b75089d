//! Bagging: the mean, or the vote, of models trained on random samples of the rows.
//!
//! **Idea.** Each member is trained on a random sample of the rows, with or without replacement, and optionally on a subset of the columns. Predictions are averaged: values, or
//! probabilities if the learner has them; otherwise each member has one vote. Averaging reduces the variance of the base learner.
//!
//! **Out of bag.** With replacement, a member misses about a third of the rows: scoring each row by the members that were not trained on it estimates the generalization error.
//!
//! **Weights.** A row drawn three times has three times its weight; learners without support for weights get it three times.
//!
//! **Cost.** n_estimators fits, in parallel. **Reference.** Breiman, Bagging predictors, 1996.

use super::committee::{self, LoadFitted, Member};
use super::estimator::Estimator;
use ermine_core::error::{Error, Result};
use ermine_core::learner::parameters::CountOrFraction;
use ermine_core::learner::{Capabilities, Context, Family, Learner, LearnerInfo, Trained};
use ermine_core::matrix::{Dataset, Features, Schema, Task};
use ermine_core::model::{Attribute, Certificate, Fitted, Header, Link, Output, Proof, Staged, TreeEnsemble};
use ermine_core::parallel;
use ermine_core::param::{ParamType, Range, Value};
use ermine_core::params;
use ermine_core::progress::{Event, report};
use ermine_core::rng::{self, Purpose, RngExt};
use ermine_core::section::Sections;
use ermine_trees::ensemble::TreeSum;
use ermine_trees::learner::forest::out_of_bag::OutOfBag;
use std::sync::Arc;

params! {
    /// The mean, or the vote, of models trained on random samples of the rows.
    pub struct Bagging("bagging") {
        /// Base learner: its name, with non-default parameters in parentheses, such as decision-tree(max_depth=3).
        /// Bagging helps most with learners that vary a lot with the training set, such as deep trees.
        estimator: Estimator = Estimator::named("decision-tree");
        /// Number of models in the ensemble.
        /// More models make predictions more stable, and training and prediction slower.
        n_estimators: usize = 10, range Range::between(1.0, 1e6), tune Log(5, 200);
        /// Number of rows per model (an integer such as 10) or their fraction (0.5; 1.0 means all rows, 1 means one row).
        max_samples: CountOrFraction = CountOrFraction::Fraction(1.0), range Range::more_than(0.0), tune Linear(0.3, 1.0);
        /// Number of columns per model (an integer such as 10) or their fraction (0.5; 1.0 means all columns, 1 means one column).
        max_features: CountOrFraction = CountOrFraction::Fraction(1.0), range Range::more_than(0.0), tune Linear(0.3, 1.0);
        /// Whether rows are drawn with replacement.
        bootstrap: bool = true;
        /// Whether columns are drawn with replacement; repeated columns are used once.
        bootstrap_features: bool = false;
        /// Whether to compute the out-of-bag score: each row is scored by the models that were not trained on it.
        oob_score: bool = false;
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "bagging",
    summary: "the mean or the vote of models trained on random samples of the rows",
    capabilities: Capabilities {
        tasks: &[Task::Classification, Task::Regression],
        binary_only: false,
        multi_output: true,
        weights: true,
        missing: true,
        nominal: true,
        // If the base learner does.
        sparse: true,
        probabilities: true,
        random: true,
    },
    family: Family::Ensemble,
};

/// Number of members between two progress reports.
const BATCH: usize = 8;

impl Learner for Bagging {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn supports_warm_start(&self) -> bool {
        true
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let (n, d) = (data.n_rows(), data.features().n_columns());
        self.max_samples.of_at_most(n, INFO.name, "max_samples")?;
        self.max_features.of_at_most(d, INFO.name, "max_features")?;
        let learner = self.estimator.learner(context)?;
        let weighted = learner.info().capabilities.weights;
        report(context.observer, Event::Begin { what: "members", total: Some(self.n_estimators as u64) })?;
        let mut members = self.previous_members(data, context)?;
        for first in (members.len()..self.n_estimators).step_by(BATCH) {
            let last = (first + BATCH).min(self.n_estimators);
            let train = |t: usize| {
                let sample = self.sample(data, t, context.seed);
                Member::train(&*learner, &sample.data(data, weighted)?, sample.columns, sample.seed, context)
            };
            members.extend(parallel::try_map(last - first, |t| train(first + t))?);
            report(context.observer, Event::Step { done: last as u64, score: None })?;
        }
        report(context.observer, Event::End)?;
        let output = if data.task() == Task::Classification { Output::Probabilities } else { Output::Values };
        let width = output.width(&Schema::of(data));
        let mut bag = FittedBagging { members, output, width, estimator: self.estimator.clone(), out_of_bag: None };
        if self.oob_score {
            bag.out_of_bag = Some(self.out_of_bag(&bag, data, context.seed)?);
        }
        let mut notes = vec![format!("{} members: {}", self.n_estimators, self.estimator)];
        if let Some(oob) = &bag.out_of_bag {
            notes.push(format!(
                "out-of-bag {}: {:.6} on {} rows",
                oob.measure(data.task()),
                oob.score,
                oob.n_evaluated
            ));
            notes.extend(oob.missing_note(n));
        }
        let proofs =
            vec![Proof::Nothing { because: "each member minimizes its own objective on its own sample".into() }];
        let objective = "the objective of each member".to_string();
        let certificate =
            Certificate { objective, value: None, status: committee::status(&bag.members), proofs, notes };
        Ok(Trained { fitted: Box::new(bag), certificate })
    }
}

/// The rows and columns that a member is trained on, and its random seed.
struct BootstrapSample {
    /// How often each row was drawn.
    rows: Vec<u32>,
    columns: Option<Vec<u32>>,
    seed: u64,
}

impl BootstrapSample {
    /// The training set: each drawn row once, with a weight, or as often as it was drawn.
    fn data(&self, data: &Dataset, weighted: bool) -> Result<Dataset> {
        let drawn = || self.rows.iter().enumerate().filter(|(_, n)| **n > 0);
        if !weighted {
            let rows: Vec<u32> = drawn().flat_map(|(row, &n)| std::iter::repeat_n(row as u32, n as usize)).collect();
            return data.select(&rows);
        }
        let rows: Vec<u32> = drawn().map(|(row, _)| row as u32).collect();
        let weight: Vec<f64> = drawn().map(|(row, &n)| f64::from(n) * data.row_weight(row)).collect();
        let unweighted = data.weight().is_none() && weight.iter().all(|&w| w == 1.0);
        data.select(&rows)?.with_weight((!unweighted).then_some(weight))
    }
}

impl Bagging {
    /// The members of the model that training continues from.
    fn previous_members(&self, data: &Dataset, context: &Context<'_>) -> Result<Vec<Member>> {
        let Some(model) = context.init_model else { return Ok(Vec::new()) };
        let unsupported = |need: &str| Err(Error::Unsupported { learner: INFO.name.into(), need: need.into() });
        let Some(bag) = model.fitted::<FittedBagging>().filter(|bag| bag.estimator.name == self.estimator.name) else {
            return unsupported("a warm start from an ensemble of another base learner");
        };
        let n = bag.members.len();
        if self.n_estimators < n {
            let (name, value) = ("n_estimators".into(), self.n_estimators.to_string());
            let allowed = format!("at least {n}, the number of members of the previous model");
            return Err(Error::Param { owner: INFO.name.into(), name, value, allowed });
        }
        if self.oob_score && model.header().n_rows != data.n_rows() {
            return unsupported("oob_score with a warm start on other data than the previous model was trained on");
        }
        Ok(bag.members.clone())
    }

    /// Draws rows and columns for a member.
    fn sample(&self, data: &Dataset, t: usize, seed: u64) -> BootstrapSample {
        let mut rng = Purpose::BaggingMember.stream(seed, &[t as u64]);
        let (n, d) = (data.n_rows(), data.features().n_columns());
        let mut draw = |n: usize, amount: CountOrFraction, replace: bool| {
            let count = amount.of(n).clamp(1, n);
            let mut drawn = vec![0u32; n];
            if replace {
                (0..count).for_each(|_| drawn[rng::below(&mut rng, n)] += 1);
            } else {
                let mut order: Vec<usize> = (0..n).collect();
                for i in 0..count {
                    order.swap(i, i + rng::below(&mut rng, n - i));
                    drawn[order[i]] = 1;
                }
            }
            drawn
        };
        let rows = draw(n, self.max_samples, self.bootstrap);
        let columns = draw(d, self.max_features, self.bootstrap_features);
        let chosen: Vec<u32> = (0..d as u32).filter(|&c| columns[c as usize] > 0).collect();
        BootstrapSample { rows, columns: (chosen.len() < d).then_some(chosen), seed: rng.random() }
    }

    /// Scores each row by the members that were not trained on it.
    fn out_of_bag(&self, bag: &FittedBagging, data: &Dataset, seed: u64) -> Result<OutOfBag> {
        let (n, width) = (data.n_rows(), bag.width);
        let (mut sums, mut counts) = (vec![0.0; n * width], vec![0u32; n]);
        for (t, member) in bag.members.iter().enumerate() {
            let drawn = self.sample(data, t, seed).rows;
            let rows: Vec<u32> = (0..n as u32).filter(|&row| drawn[row as usize] == 0).collect();
            let mut outputs = vec![0.0; rows.len() * width];
            bag.add(member, &data.features().select(&rows)?, &mut outputs)?;
            for (&row, outputs) in rows.iter().zip(outputs.chunks(width)) {
                counts[row as usize] += 1;
                sums[row as usize * width..][..width].iter_mut().zip(outputs).for_each(|(sum, v)| *sum += v);
            }
        }
        for (sums, &count) in sums.chunks_mut(width).zip(&counts) {
            sums.iter_mut().for_each(|sum| *sum /= f64::from(count));
        }
        OutOfBag::new(sums, width, data)
    }
}

/// A fitted bagging ensemble.
pub struct FittedBagging {
    members: Vec<Member>,
    output: Output,
    width: usize,
    estimator: Estimator,
    out_of_bag: Option<OutOfBag>,
}

impl FittedBagging {
    /// The out-of-bag score, if `oob_score` was set.
    pub fn out_of_bag(&self) -> Option<&OutOfBag> {
        self.out_of_bag.as_ref()
    }

    /// Adds the output of a member to the sums of all rows: values, probabilities or a vote.
    fn add(&self, member: &Member, features: &Features, sums: &mut [f64]) -> Result<()> {
        if matches!(member.output(), Output::Values | Output::Probabilities) {
            sums.iter_mut().zip(member.predict(features)?).for_each(|(sum, output)| *sum += output);
        } else {
            let classes = member.classes(features, self.width)?;
            sums.chunks_mut(self.width).zip(classes).for_each(|(sums, class)| sums[class as usize] += 1.0);
        }
        Ok(())
    }

    /// Reads the model from a model file.
    pub fn load(sections: &Sections, header: &Header, load: LoadFitted) -> Result<Box<dyn Fitted>> {
        let output: Output = sections.json("output")?;
        let width = output.width(&header.schema);
        let members = committee::load(sections, header, load)?;
        let fits = |member: &Member| (member.output() == Output::Values) == (output == Output::Values);
        if members.is_empty() || !matches!(output, Output::Values | Output::Probabilities) || !members.iter().all(fits)
        {
            return Err(Error::model_file("the members of the ensemble don't fit the target"));
        }
        let (text, out_of_bag): (String, Option<OutOfBag>) =
            (sections.json("estimator")?, sections.json("out_of_bag")?);
        let estimator = Estimator::from_value(&Value::Text(text))
            .ok_or_else(|| Error::model_file("the base estimator of the ensemble is not readable"))?;
        Ok(Box::new(FittedBagging { members, output, width, estimator, out_of_bag }))
    }
}

/// Each member is a stage; the staged prediction is the mean of the members so far.
impl Staged for FittedBagging {
    fn n_stages(&self) -> usize {
        self.members.len()
    }

    fn add_stage(&self, features: &Features, stage: usize, sums: &mut Vec<f64>) -> Result<()> {
        sums.resize(features.n_rows() * self.width, 0.0);
        self.add(&self.members[stage], features, sums)
    }

    fn after(&self, sums: &[f64], n_stages: usize) -> Vec<f64> {
        sums.iter().map(|sum| sum / n_stages as f64).collect()
    }
}

impl Fitted for FittedBagging {
    fn output(&self) -> Output {
        self.output
    }

    fn reads_text(&self) -> bool {
        self.members.iter().any(|member| member.reads_text())
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        let mut sums = vec![0.0; features.n_rows() * self.width];
        self.members.iter().try_for_each(|member| self.add(member, features, &mut sums))?;
        let n = self.members.len() as f64;
        sums.iter_mut().for_each(|sum| *sum /= n);
        Ok(sums)
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        sections.put_json("output", &self.output)?;
        sections.put_json("estimator", &self.estimator.to_string())?;
        sections.put_json("out_of_bag", &self.out_of_bag)?;
        committee::save(&self.members, sections)
    }

    fn n_parts(&self) -> usize {
        self.members.len()
    }

    fn part(&self, index: usize, header: &Header) -> Result<(Header, Sections)> {
        self.members[index].part(header, &self.estimator)
    }

    fn staged(&self) -> Option<&dyn Staged> {
        Some(self)
    }

    fn tree_ensemble(&self) -> Option<Box<dyn TreeEnsemble>> {
        let forest = committee::forest(&self.members, |_, _| {})?;
        Some(Box::new(TreeSum::of(Arc::new(forest), self.members.len() as f64, Link::Identity)))
    }

    fn text(&self, schema: &Schema) -> String {
        let mut text = format!("the mean of {} models: {}\n", self.members.len(), self.estimator);
        if let Some(oob) = &self.out_of_bag {
            text.push_str(&format!("out-of-bag {}: {:.4}\n", oob.measure(schema.task), oob.score));
        }
        text
    }

    fn attributes(&self, schema: &Schema) -> Vec<Attribute> {
        self.out_of_bag.iter().flat_map(|oob| oob.attributes(schema.task, self.width)).collect()
    }
}
