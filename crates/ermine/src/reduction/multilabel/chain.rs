//! Labels one after the other, each knowing those before it, or each by itself.
//!
//! Part j of a chain learns label `order[j]` from the features and the true labels `order[..j]`, as columns of 0 and 1. At prediction the labels before are those
//! that were predicted. Several chains are averaged: probabilities, or votes where the parts give none. Without links it is binary relevance.

use super::train_parts;
use crate::reduction::committee::{LoadPart, Member};
use crate::reduction::estimator::Estimator;
use ermine_core::error::{Error, Result};
use ermine_core::learner::Context;
use ermine_core::matrix::{Dataset, FeatureSpec, Features, Schema, Target, Task};
use ermine_core::model::{Fitted, Header, Output};
use ermine_core::parallel;
use ermine_core::section::Sections;
use ermine_core::table::ColumnKind;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What the classes of a part are called.
fn mark_names() -> Arc<[String]> {
    Arc::new(["0".to_string(), "1".to_string()])
}

/// The name of the column that tells a part about a label before its own.
fn link_name(label: usize) -> String {
    format!("has label {label}")
}

/// What all chains share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Plan {
    /// The labels of each chain, in its order.
    orders: Vec<Vec<usize>>,
    /// Whether parts know the labels before them.
    linked: bool,
    estimator: String,
}

impl Plan {
    /// The header of a part by itself: its classes, and the labels before it among its columns.
    fn header_of(&self, part: usize, n_labels: usize, header: &Header) -> Header {
        let mut own = header.clone();
        own.schema.task = Task::Classification;
        own.schema.classes = mark_names().to_vec();
        if self.linked && n_labels > 0 {
            let order = self.orders.get(part / n_labels).map_or(&[][..], Vec::as_slice);
            own.schema.features.extend(order.iter().take(part % n_labels).map(|&label| FeatureSpec {
                name: link_name(label),
                kind: ColumnKind::Numeric,
                levels: Vec::new(),
                open: false,
            }));
        }
        own
    }
}

/// Fitted chains.
pub struct Chains {
    plan: Plan,
    /// Chain by chain, in the order of the chain.
    members: Vec<Member>,
    n_labels: usize,
}

/// Trains a chain for each order.
pub(super) fn train(
    estimator: &Estimator,
    data: &Dataset,
    orders: Vec<Vec<usize>>,
    linked: bool,
    context: &Context<'_>,
) -> Result<Chains> {
    let (marks, labels) = data.labels()?;
    let n_labels = labels.len();
    let column = |label: usize| marks.iter().skip(label).step_by(n_labels).copied();
    let part = |p: usize| {
        let (order, at) = (&orders[p / n_labels], p % n_labels);
        let codes = column(order[at]).map(|mark| mark as u32).collect();
        let target = Target::Classes { codes, labels: mark_names() };
        let linked = if linked { &order[..at] } else { &[] };
        let more: Vec<(String, Vec<f64>)> = linked.iter().map(|&l| (link_name(l), column(l).collect())).collect();
        let features = if more.is_empty() { data.features().clone() } else { data.features().with_numbers(more) };
        let part = Dataset::from_parts(features, target, Task::Classification)?;
        part.with_weight(data.weight().map(<[f64]>::to_vec))
    };
    let members = train_parts(estimator, orders.len() * n_labels, part, context)?;
    Chains::new(Plan { orders, linked, estimator: estimator.to_string() }, members, n_labels)
}

impl Chains {
    fn new(plan: Plan, members: Vec<Member>, n_labels: usize) -> Result<Chains> {
        let complete = |order: &Vec<usize>| {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            sorted.into_iter().eq(0..n_labels)
        };
        let binary = |member: &Member| member.output() != Output::Values;
        let counted = plan.orders.len().checked_mul(n_labels) == Some(members.len());
        if n_labels == 0 || !counted || plan.orders.is_empty() || !plan.orders.iter().all(complete) {
            return Err(Error::model_file("the parts of a chain don't fit its labels"));
        }
        if !members.iter().all(binary) {
            return Err(Error::model_file("a part of a chain doesn't predict classes"));
        }
        Ok(Chains { plan, members, n_labels })
    }

    /// Reads it from a model file.
    pub fn load(sections: &Sections, header: &Header, load: LoadPart) -> Result<Box<dyn Fitted>> {
        let plan: Plan = sections.json("plan")?;
        let n_labels = header.schema.classes.len();
        let n: usize = sections.json("n_members")?;
        let member = |p: usize| Member::load(&sections.part(p), &plan.header_of(p, n_labels, header), load);
        let members = (0..n).map(member).collect::<Result<_>>()?;
        Ok(Box::new(Chains::new(plan, members, n_labels)?))
    }

    /// The parts, chain by chain.
    pub(super) fn members(&self) -> &[Member] {
        &self.members
    }

    /// Whether the numbers are probabilities.
    fn gives_probabilities(&self) -> bool {
        self.members.iter().all(|member| member.output() == Output::Probabilities)
    }

    /// Above this, a part is for its label.
    fn level(member: &Member) -> f64 {
        if member.output() == Output::Probabilities { 0.5 } else { 0.0 }
    }

    /// What the parts of a chain say, label by label of its order.
    fn along(&self, chain: usize, features: &Features) -> Result<Vec<Vec<f64>>> {
        let members = &self.members[chain * self.n_labels..(chain + 1) * self.n_labels];
        if !self.plan.linked {
            return parallel::try_map(members.len(), |i| members[i].of_second(features));
        }
        let mut said: Vec<Vec<f64>> = Vec::with_capacity(self.n_labels);
        let mut known = features.clone();
        for (member, &label) in members.iter().zip(&self.plan.orders[chain]) {
            let own = member.of_second(&known)?;
            let marks = own.iter().map(|&s| f64::from(u8::from(s > Chains::level(member)))).collect();
            said.push(own);
            known = known.with_numbers(vec![(link_name(label), marks)]);
        }
        Ok(said)
    }
}

impl Fitted for Chains {
    fn output(&self) -> Output {
        if self.gives_probabilities() { Output::Probabilities } else { Output::Scores }
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        let (n_labels, n_chains) = (self.n_labels, self.plan.orders.len());
        let probabilities = self.gives_probabilities();
        let each: Vec<Vec<Vec<f64>>> = parallel::try_map(n_chains, |chain| self.along(chain, features))?;
        let mut numbers = vec![0.0; features.n_rows() * n_labels];
        for ((order, said), members) in self.plan.orders.iter().zip(&each).zip(self.members.chunks(n_labels)) {
            for ((&label, said), member) in order.iter().zip(said).zip(members) {
                let level = Chains::level(member);
                let cells = numbers.iter_mut().skip(label).step_by(n_labels);
                cells.zip(said).for_each(|(number, &said)| {
                    *number += match (probabilities, n_chains) {
                        (true, _) => said,
                        (false, 1) => said - level,
                        (false, _) => {
                            if said > level {
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
        sections.put_json("plan", &self.plan)?;
        crate::reduction::committee::save(&self.members, sections)
    }

    fn n_parts(&self) -> usize {
        self.members.len()
    }

    fn part(&self, part: usize, header: &Header) -> Result<(Header, Sections)> {
        let own = self.plan.header_of(part, self.n_labels, header);
        self.members[part].part(&own, &Estimator::written(&self.plan.estimator)?)
    }

    fn text(&self, schema: &Schema) -> String {
        let name = |label: &usize| schema.classes.get(*label).map_or("?", String::as_str);
        let mut text = format!("{} binary models: {}\n", self.members.len(), self.plan.estimator);
        const SHOWN: usize = 20;
        for order in self.plan.orders.iter().take(SHOWN) {
            let names: Vec<&str> = order.iter().map(name).collect();
            text += &format!("  {}\n", names.join(if self.plan.linked { " -> " } else { ", " }));
        }
        if self.plan.orders.len() > SHOWN {
            text += &format!("  ... and {} more chains\n", self.plan.orders.len() - SHOWN);
        }
        text
    }
}
