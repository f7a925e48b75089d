//! Classifier chains and binary relevance: training and prediction.
//!
//! Classifier j of a chain learns label `order[j]` from the features and the true labels `order[..j]`, as columns of 0 and 1. At prediction time it uses the predicted labels
//! instead. Several chains are averaged: their probabilities, or their votes if the classifiers have no probabilities. A chain without links is binary relevance.

use super::train_classifiers;
use crate::reduction::committee::{LoadFitted, Member, numeric_feature};
use crate::reduction::estimator::Estimator;
use ermine_core::error::{Error, Result};
use ermine_core::learner::Context;
use ermine_core::matrix::{Dataset, Features, Schema, Target, Task};
use ermine_core::model::{Fitted, Header, Output};
use ermine_core::parallel;
use ermine_core::section::Sections;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Class names of the classifier of a label: absent and present.
fn binary_labels() -> Arc<[String]> {
    Arc::new(["0".to_string(), "1".to_string()])
}

/// Name of the feature that holds an earlier label of the chain.
fn label_feature_name(label: usize) -> String {
    format!("has label {label}")
}

/// The chains: their orders of labels and their base estimator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ChainLayout {
    /// The labels of each chain, in its order.
    orders: Vec<Vec<usize>>,
    /// Whether the earlier labels of the chain are features.
    linked: bool,
    estimator: String,
}

impl ChainLayout {
    /// The header of one classifier: its two classes, and the earlier labels of its chain among its features.
    fn member_header(&self, index: usize, n_labels: usize, header: &Header) -> Header {
        let mut own = header.clone();
        own.schema.task = Task::Classification;
        own.schema.classes = binary_labels().to_vec();
        if self.linked && n_labels > 0 {
            let order = self.orders.get(index / n_labels).map_or(&[][..], Vec::as_slice);
            let earlier = order.iter().take(index % n_labels);
            own.schema.features.extend(earlier.map(|&label| numeric_feature(label_feature_name(label))));
        }
        own
    }
}

/// Fitted chains.
pub struct FittedChains {
    layout: ChainLayout,
    /// The classifiers, chain by chain, in the order of the labels in the chain.
    members: Vec<Member>,
    n_labels: usize,
}

/// Trains one chain per order of labels.
pub(super) fn train(
    estimator: &Estimator,
    data: &Dataset,
    orders: Vec<Vec<usize>>,
    linked: bool,
    context: &Context<'_>,
) -> Result<FittedChains> {
    let (marks, labels) = data.labels()?;
    let n_labels = labels.len();
    let column = |label: usize| marks.iter().skip(label).step_by(n_labels).copied();
    let training_set = |p: usize| {
        let (order, position) = (&orders[p / n_labels], p % n_labels);
        let codes = column(order[position]).map(|mark| mark as u32).collect();
        let target = Target::Classes { codes, labels: binary_labels() };
        let linked = if linked { &order[..position] } else { &[] };
        let earlier: Vec<(String, Vec<f64>)> =
            linked.iter().map(|&l| (label_feature_name(l), column(l).collect())).collect();
        let features = if earlier.is_empty() { data.features().clone() } else { data.features().with_numbers(earlier) };
        let labeled = Dataset::from_parts(features, target, Task::Classification)?;
        labeled.with_weight(data.weight().map(<[f64]>::to_vec))
    };
    let members = train_classifiers(estimator, orders.len() * n_labels, training_set, context)?;
    FittedChains::new(ChainLayout { orders, linked, estimator: estimator.to_string() }, members, n_labels)
}

impl FittedChains {
    fn new(layout: ChainLayout, members: Vec<Member>, n_labels: usize) -> Result<FittedChains> {
        let complete = |order: &Vec<usize>| {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            sorted.into_iter().eq(0..n_labels)
        };
        let binary = |member: &Member| member.output() != Output::Values;
        let counted = layout.orders.len().checked_mul(n_labels) == Some(members.len());
        if n_labels == 0 || !counted || layout.orders.is_empty() || !layout.orders.iter().all(complete) {
            return Err(Error::model_file("the classifiers of the chains don't fit the labels"));
        }
        if !members.iter().all(binary) {
            return Err(Error::model_file("a member of a chain is not a classifier"));
        }
        Ok(FittedChains { layout, members, n_labels })
    }

    /// Reads the chains from a model file.
    pub fn load(sections: &Sections, header: &Header, load: LoadFitted) -> Result<Box<dyn Fitted>> {
        let layout: ChainLayout = sections.json("plan")?;
        let n_labels = header.schema.classes.len();
        let n: usize = sections.json("n_members")?;
        let member = |p: usize| Member::load(&sections.part(p), &layout.member_header(p, n_labels, header), load);
        let members = (0..n).map(member).collect::<Result<_>>()?;
        Ok(Box::new(FittedChains::new(layout, members, n_labels)?))
    }

    /// The classifiers, chain by chain.
    pub(super) fn members(&self) -> &[Member] {
        &self.members
    }

    /// Whether the outputs are probabilities.
    fn has_probabilities(&self) -> bool {
        self.members.iter().all(|member| member.output() == Output::Probabilities)
    }

    /// The label is predicted if the output is above this.
    fn threshold(member: &Member) -> f64 {
        if member.output() == Output::Probabilities { 0.5 } else { 0.0 }
    }

    /// The outputs of the classifiers of a chain, in the order of the chain.
    fn chain_outputs(&self, chain: usize, features: &Features) -> Result<Vec<Vec<f64>>> {
        let members = &self.members[chain * self.n_labels..(chain + 1) * self.n_labels];
        if !self.layout.linked {
            return parallel::try_map(members.len(), |i| members[i].positive_scores(features));
        }
        let mut outputs: Vec<Vec<f64>> = Vec::with_capacity(self.n_labels);
        let mut extended = features.clone();
        for (member, &label) in members.iter().zip(&self.layout.orders[chain]) {
            let output = member.positive_scores(&extended)?;
            let marks = output.iter().map(|&s| f64::from(u8::from(s > FittedChains::threshold(member)))).collect();
            outputs.push(output);
            extended = extended.with_numbers(vec![(label_feature_name(label), marks)]);
        }
        Ok(outputs)
    }
}

impl Fitted for FittedChains {
    fn output(&self) -> Output {
        if self.has_probabilities() { Output::Probabilities } else { Output::Scores }
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        let (n_labels, n_chains) = (self.n_labels, self.layout.orders.len());
        let probabilities = self.has_probabilities();
        let chains: Vec<Vec<Vec<f64>>> = parallel::try_map(n_chains, |chain| self.chain_outputs(chain, features))?;
        let mut numbers = vec![0.0; features.n_rows() * n_labels];
        for ((order, outputs), members) in self.layout.orders.iter().zip(&chains).zip(self.members.chunks(n_labels)) {
            for ((&label, output), member) in order.iter().zip(outputs).zip(members) {
                let threshold = FittedChains::threshold(member);
                let cells = numbers.iter_mut().skip(label).step_by(n_labels);
                cells.zip(output).for_each(|(number, &output)| {
                    *number += match (probabilities, n_chains) {
                        (true, _) => output,
                        (false, 1) => output - threshold,
                        (false, _) => {
                            if output > threshold {
                                1.0
                            } else {
                                -1.0
                            }
                        }
                    }
                });
            }
        }
        numbers.iter_mut().for_each(|number| *number /= n_chains as f64);
        Ok(numbers)
    }

    fn reads_text(&self) -> bool {
        self.members.iter().any(Member::reads_text)
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        sections.put_json("plan", &self.layout)?;
        crate::reduction::committee::save(&self.members, sections)
    }

    fn n_parts(&self) -> usize {
        self.members.len()
    }

    fn part(&self, index: usize, header: &Header) -> Result<(Header, Sections)> {
        let member_header = self.layout.member_header(index, self.n_labels, header);
        self.members[index].part(&member_header, &Estimator::written(&self.layout.estimator)?)
    }

    fn text(&self, schema: &Schema) -> String {
        let name = |label: &usize| schema.classes.get(*label).map_or("?", String::as_str);
        let mut text = format!("{} binary classifiers: {}\n", self.members.len(), self.layout.estimator);
        const SHOWN: usize = 20;
        for order in self.layout.orders.iter().take(SHOWN) {
            let names: Vec<&str> = order.iter().map(name).collect();
            text += &format!("  {}\n", names.join(if self.layout.linked { " -> " } else { ", " }));
        }
        if self.layout.orders.len() > SHOWN {
            text += &format!("  ... and {} more chains\n", self.layout.orders.len() - SHOWN);
        }
        text
    }
}
