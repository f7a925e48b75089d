//! Sets of labels by learners of classes. A row may have none, one or several of L labels.
//!
//! | learner | what its parts learn |
//! |---|---|
//! | [`BinaryRelevance`] | each label by itself, from the features: L parts |
//! | [`ClassifierChain`] | each label from the features and the labels before it in the chain, so that labels that go together are known to: L parts for each chain |
//! | [`LabelPowerset`] | which set of labels it is, each set that occurs being a class: one part |
//!
//! | file | what it holds |
//! |---|---|
//! | this file | the three learners |
//! | [`chain`] | chains and labels by themselves: training and prediction |
//! | [`powerset`] | sets as classes |
//!
//! Parts are trained side by side on the same columns: a chain learns from the true labels, so that none of its parts has to wait for another. A label that all rows or
//! none have needs no learner: its part is the baseline.
//!
//! **References.** Read, Pfahringer, Holmes and Frank, Classifier chains for multi-label classification, 2011; Tsoumakas and Katakis 2007.

pub mod chain;
pub mod powerset;

pub use chain::Chains;
pub use powerset::Powerset;

use super::committee::{self, Member};
use super::estimator::Estimator;
use ermine_core::error::{Error, Result};
use ermine_core::learner::{Capabilities, Context, Family, Info, Learner, Trained};
use ermine_core::matrix::{Dataset, Task};
use ermine_core::model::{Certificate, Proof, Status};
use ermine_core::parallel;
use ermine_core::param::{Kind, ParamType, Range, Value};
use ermine_core::progress::{Event, report};
use ermine_core::rng::{self, Purpose};
use ermine_core::{choice, params};

/// In which order the labels stand in a chain.
#[derive(Debug, Clone, PartialEq)]
pub enum Order {
    /// As in the target.
    Given,
    /// At random, anew for each chain.
    Random,
    /// As listed, counted from 0.
    Listed(Vec<usize>),
}

impl ParamType for Order {
    fn kind() -> Kind {
        Kind::Either(vec![Kind::Choice(vec!["given", "random"]), Kind::List(Box::new(Kind::Int))])
    }

    fn to_value(&self) -> Value {
        match self {
            Order::Given => Value::Text("given".into()),
            Order::Random => Value::Text("random".into()),
            Order::Listed(places) => places.to_value(),
        }
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::None => Some(Order::Given),
            Value::Text(word) if word == "given" => Some(Order::Given),
            Value::Text(word) if word == "random" => Some(Order::Random),
            Value::List(_) | Value::Int(_) => Vec::from_value(value).map(Order::Listed),
            _ => None,
        }
    }
}

choice! {
    /// How probabilities of sets become labels.
    pub enum Decode {
        /// The labels of the most probable set: the most sets right.
        Mode = "mode",
        /// The labels that are more probable than not, over all sets: the most labels right.
        Marginal = "marginal",
    }
}

params! {
    /// A learner for each label, by itself.
    pub struct BinaryRelevance("binary-relevance") {
        /// The learner of two classes: its name, and in brackets the parameters in which it differs from its defaults.
        estimator: Estimator = Estimator::named("gradient-boosting");
    }
}

params! {
    /// A learner for each label, which knows the labels before it.
    pub struct ClassifierChain("classifier-chain") {
        /// The learner of two classes: its name, and in brackets the parameters in which it differs from its defaults.
        estimator: Estimator = Estimator::named("logistic-regression");
        /// The order of the labels: given, random, or a list of their places from 0.
        order: Order = Order::Given;
        /// How many chains are averaged; of several all but listed orders are drawn at random.
        n_chains: usize = 1, range Range::between(1.0, 1000.0), tune Log(1, 20);
    }
}

params! {
    /// A learner of as many classes as there are sets of labels.
    pub struct LabelPowerset("label-powerset") {
        /// The learner of many classes: its name, and in brackets the parameters in which it differs from its defaults.
        estimator: Estimator = Estimator::named("logistic-regression");
        /// How probabilities of sets become labels.
        decode: Decode = Decode::Mode, tune Each;
    }
}

const fn capabilities(probabilities: bool) -> Capabilities {
    Capabilities {
        tasks: &[Task::Multilabel],
        binary_only: false,
        multi_output: false,
        weights: true,
        missing: true,
        nominal: true,
        // As far as the learner below does.
        sparse: true,
        probabilities,
        random: true,
    }
}

static BINARY_RELEVANCE: Info = Info {
    name: "binary-relevance",
    summary: "several labels by a learner for each of them, by itself",
    capabilities: capabilities(true),
    family: Family::Multilabel,
};
static CLASSIFIER_CHAIN: Info = Info {
    name: "classifier-chain",
    summary: "several labels by learners that know the labels before theirs, in one chain or the mean of several",
    capabilities: capabilities(true),
    family: Family::Multilabel,
};
static LABEL_POWERSET: Info = Info {
    name: "label-powerset",
    summary: "several labels by one learner to which each set of labels is a class",
    capabilities: capabilities(false),
    family: Family::Multilabel,
};

impl Learner for BinaryRelevance {
    fn info(&self) -> &'static Info {
        &BINARY_RELEVANCE
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let n_labels = data.labels()?.1.len();
        let fitted = chain::train(&self.estimator, data, vec![(0..n_labels).collect()], false, context)?;
        let status = committee::status(fitted.members());
        let said = format!("{n_labels} labels, each by itself: {}", self.estimator);
        Ok(Trained { fitted: Box::new(fitted), certificate: certificate(said, status) })
    }
}

impl Learner for ClassifierChain {
    fn info(&self) -> &'static Info {
        &CLASSIFIER_CHAIN
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let n_labels = data.labels()?.1.len();
        let orders =
            (0..self.n_chains).map(|chain| self.order(n_labels, chain, context.seed)).collect::<Result<_>>()?;
        let fitted = chain::train(&self.estimator, data, orders, true, context)?;
        let status = committee::status(fitted.members());
        let said = format!("{n_labels} labels in {} chains: {}", self.n_chains, self.estimator);
        Ok(Trained { fitted: Box::new(fitted), certificate: certificate(said, status) })
    }
}

impl ClassifierChain {
    /// The order of the labels in a chain.
    fn order(&self, n_labels: usize, chain: usize, seed: u64) -> Result<Vec<usize>> {
        let mut order: Vec<usize> = (0..n_labels).collect();
        match &self.order {
            Order::Listed(listed) => {
                let mut sorted = listed.clone();
                sorted.sort_unstable();
                if sorted != order {
                    let (owner, name) = (CLASSIFIER_CHAIN.name.into(), "order".into());
                    let allowed = format!("each of the {n_labels} labels once, counted from 0");
                    return Err(Error::Param { owner, name, value: self.order.to_value().to_string(), allowed });
                }
                return Ok(listed.clone());
            }
            Order::Given if self.n_chains == 1 => {}
            _ => rng::shuffle(&mut Purpose::ChainOrder.stream(seed, &[chain as u64]), &mut order),
        }
        Ok(order)
    }
}

impl Learner for LabelPowerset {
    fn info(&self) -> &'static Info {
        &LABEL_POWERSET
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let fitted = Powerset::train(&self.estimator, self.decode, data, context)?;
        let (n, n_labels) = (fitted.n_sets(), data.labels()?.1.len());
        let status = fitted.member().status().clone();
        let said = format!("{n} sets of {n_labels} labels as classes: {}", self.estimator);
        Ok(Trained { fitted: Box::new(fitted), certificate: certificate(said, status) })
    }
}

fn certificate(said: String, status: Status) -> Certificate {
    let proofs = vec![Proof::Nothing { because: "each part minimises its own objective".into() }];
    let objective = "what each part minimises".to_string();
    Certificate { objective, value: None, status, proofs, notes: vec![said] }
}

/// Trains parts side by side, with reports of progress; `data` gives what each sees. What has one class only is left to the baseline.
fn train_parts(
    estimator: &Estimator,
    n_parts: usize,
    data: impl Fn(usize) -> Result<Dataset> + Sync,
    context: &Context<'_>,
) -> Result<Vec<Member>> {
    let (learner, baseline) = (estimator.learner(context)?, context.registry.learner("baseline")?);
    if !learner.info().capabilities.tasks.contains(&Task::Classification) {
        let need = format!("{}, which doesn't learn classes", estimator.name);
        return Err(Error::Unsupported { learner: "a reduction of labels to classes".into(), need });
    }
    report(context.observer, Event::Begin { what: "parts", total: Some(n_parts as u64) })?;
    let part = |p: usize| {
        let seed = Purpose::MultilabelPart.seed(context.seed, p as u64);
        let data = data(p)?;
        let codes = data.classes()?.0;
        let same = codes.iter().all(|code| *code == codes[0]);
        Member::train(if same { &*baseline } else { &*learner }, &data, None, seed, context)
    };
    let (mut members, batch) = (Vec::with_capacity(n_parts), 2 * rayon::current_num_threads());
    for first in (0..n_parts).step_by(batch) {
        let last = (first + batch).min(n_parts);
        members.extend(parallel::try_map(last - first, |p| part(first + p))?);
        report(context.observer, Event::Step { done: last as u64, score: None })?;
    }
    report(context.observer, Event::End)?;
    Ok(members)
}
