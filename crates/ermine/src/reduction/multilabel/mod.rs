//! Multilabel classification by classifiers. A row has any number of L labels.
//!
//! | learner | classifiers |
//! |---|---|
//! | [`BinaryRelevance`] | one per label, from the features: L classifiers |
//! | [`ClassifierChain`] | one per label, from the features and the earlier labels of the chain, which models dependencies between labels: L classifiers per chain |
//! | [`LabelPowerset`] | a single one, whose classes are the label sets that occur |
//!
//! | file | contents |
//! |---|---|
//! | this file | the three learners |
//! | [`chain`] | classifier chains and binary relevance: training and prediction |
//! | [`powerset`] | label sets as classes |
//!
//! The classifiers are trained in parallel on the same columns: a chain learns from the true labels, so its classifiers don't depend on each other. For a label that all rows
//! or none have, the baseline takes the place of the classifier.
//!
//! **References.** Read, Pfahringer, Holmes and Frank, Classifier chains for multi-label classification, 2011; Tsoumakas and Katakis 2007.

pub mod chain;
pub mod powerset;

pub use chain::FittedChains;
pub use powerset::FittedPowerset;

use super::committee::{self, Member};
use super::estimator::Estimator;
use ermine_core::error::{Error, Result};
use ermine_core::learner::{Capabilities, Context, Family, Learner, LearnerInfo, Trained};
use ermine_core::matrix::{Dataset, Task};
use ermine_core::model::{Certificate, Proof, Status};
use ermine_core::parallel;
use ermine_core::param::{ParamKind, ParamType, Range, Value};
use ermine_core::progress::{Event, report};
use ermine_core::rng::{self, Purpose};
use ermine_core::{choice, params};

/// Order of the labels in a chain.
#[derive(Debug, Clone, PartialEq)]
pub enum ChainOrder {
    /// The order of the target columns.
    Given,
    /// A different random order for each chain.
    Random,
    /// Indices of the labels, starting at 0.
    Listed(Vec<usize>),
}

impl ParamType for ChainOrder {
    fn kind() -> ParamKind {
        ParamKind::Either(vec![ParamKind::Choice(vec!["given", "random"]), ParamKind::List(Box::new(ParamKind::Int))])
    }

    fn to_value(&self) -> Value {
        match self {
            ChainOrder::Given => Value::Text("given".into()),
            ChainOrder::Random => Value::Text("random".into()),
            ChainOrder::Listed(labels) => labels.to_value(),
        }
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::None => Some(ChainOrder::Given),
            Value::Text(name) if name == "given" => Some(ChainOrder::Given),
            Value::Text(name) if name == "random" => Some(ChainOrder::Random),
            Value::List(_) | Value::Int(_) => Vec::from_value(value).map(ChainOrder::Listed),
            _ => None,
        }
    }
}

choice! {
    /// How the probabilities of label sets are turned into labels.
    pub enum PowersetDecoding {
        /// The labels of the most probable set; best for subset accuracy.
        Mode = "mode",
        /// The labels with a marginal probability above 0.5; best for Hamming loss.
        Marginal = "marginal",
    }
}

params! {
    /// One independent binary classifier per label.
    pub struct BinaryRelevance("binary-relevance") {
        /// Binary classifier: its name, with non-default parameters in parentheses, such as decision-tree(max_depth=3).
        estimator: Estimator = Estimator::named("gradient-boosting");
    }
}

params! {
    /// Chain of binary classifiers, one per label, each of which also uses the earlier labels as features.
    pub struct ClassifierChain("classifier-chain") {
        /// Binary classifier: its name, with non-default parameters in parentheses, such as decision-tree(max_depth=3).
        estimator: Estimator = Estimator::named("logistic-regression");
        /// Order of the labels: "given", "random", or a list of label indices starting at 0.
        order: ChainOrder = ChainOrder::Given;
        /// Number of chains to average. With several chains, the orders are random unless a list is given.
        /// More chains depend less on the order, and take longer.
        n_chains: usize = 1, range Range::between(1.0, 1000.0), tune Log(1, 20);
    }
}

params! {
    /// One multiclass classifier whose classes are the label sets that occur in training.
    pub struct LabelPowerset("label-powerset") {
        /// Multiclass classifier: its name, with non-default parameters in parentheses, such as decision-tree(max_depth=3).
        estimator: Estimator = Estimator::named("logistic-regression");
        /// How the probabilities of label sets are turned into labels: the most probable set ("mode") or each label by its probability ("marginal").
        /// "mode" maximizes the subset accuracy, "marginal" minimizes the Hamming loss.
        decode: PowersetDecoding = PowersetDecoding::Mode, tune Each;
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
        // If the base learner does.
        sparse: true,
        probabilities,
        random: true,
    }
}

static BINARY_RELEVANCE: LearnerInfo = LearnerInfo {
    name: "binary-relevance",
    summary: "multilabel classification with one independent binary classifier per label",
    capabilities: capabilities(true),
    family: Family::Multilabel,
};
static CLASSIFIER_CHAIN: LearnerInfo = LearnerInfo {
    name: "classifier-chain",
    summary: "multilabel classification with a chain of binary classifiers that use earlier labels as features, or the mean of several chains",
    capabilities: capabilities(true),
    family: Family::Multilabel,
};
static LABEL_POWERSET: LearnerInfo = LearnerInfo {
    name: "label-powerset",
    summary: "multilabel classification with one multiclass classifier over the label sets that occur",
    capabilities: capabilities(false),
    family: Family::Multilabel,
};

impl Learner for BinaryRelevance {
    fn info(&self) -> &'static LearnerInfo {
        &BINARY_RELEVANCE
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let n_labels = data.labels()?.1.len();
        let fitted = chain::train(&self.estimator, data, vec![(0..n_labels).collect()], false, context)?;
        let status = committee::status(fitted.members());
        let note = format!("{n_labels} labels, one binary classifier each: {}", self.estimator);
        Ok(Trained { fitted: Box::new(fitted), certificate: certificate(note, status) })
    }
}

impl Learner for ClassifierChain {
    fn info(&self) -> &'static LearnerInfo {
        &CLASSIFIER_CHAIN
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let n_labels = data.labels()?.1.len();
        let orders =
            (0..self.n_chains).map(|chain| self.order(n_labels, chain, context.seed)).collect::<Result<_>>()?;
        let fitted = chain::train(&self.estimator, data, orders, true, context)?;
        let status = committee::status(fitted.members());
        let note = format!("{n_labels} labels, {} chains: {}", self.n_chains, self.estimator);
        Ok(Trained { fitted: Box::new(fitted), certificate: certificate(note, status) })
    }
}

impl ClassifierChain {
    /// The order of the labels in a chain.
    fn order(&self, n_labels: usize, chain: usize, seed: u64) -> Result<Vec<usize>> {
        let mut order: Vec<usize> = (0..n_labels).collect();
        match &self.order {
            ChainOrder::Listed(listed) => {
                let mut sorted = listed.clone();
                sorted.sort_unstable();
                if sorted != order {
                    let (owner, name) = (CLASSIFIER_CHAIN.name.into(), "order".into());
                    let allowed = format!("a permutation of the label indices 0 to {}", n_labels.saturating_sub(1));
                    return Err(Error::Param { owner, name, value: self.order.to_value().to_string(), allowed });
                }
                return Ok(listed.clone());
            }
            ChainOrder::Given if self.n_chains == 1 => {}
            _ => rng::shuffle(&mut Purpose::ChainOrder.stream(seed, &[chain as u64]), &mut order),
        }
        Ok(order)
    }
}

impl Learner for LabelPowerset {
    fn info(&self) -> &'static LearnerInfo {
        &LABEL_POWERSET
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let fitted = FittedPowerset::train(&self.estimator, self.decode, data, context)?;
        let (n, n_labels) = (fitted.n_sets(), data.labels()?.1.len());
        let status = fitted.member().status().clone();
        let note = format!("{n_labels} labels, {n} label sets as classes: {}", self.estimator);
        Ok(Trained { fitted: Box::new(fitted), certificate: certificate(note, status) })
    }
}

fn certificate(note: String, status: Status) -> Certificate {
    let proofs = vec![Proof::Nothing { because: "each classifier minimizes its own objective".into() }];
    let objective = "the objective of each classifier".to_string();
    Certificate { objective, value: None, status, proofs, notes: vec![note] }
}

/// Trains `n_classifiers` classifiers in parallel, with progress reports; `data` returns the training set of each. The baseline is trained on sets with a single class.
fn train_classifiers(
    estimator: &Estimator,
    n_classifiers: usize,
    data: impl Fn(usize) -> Result<Dataset> + Sync,
    context: &Context<'_>,
) -> Result<Vec<Member>> {
    let (learner, baseline) = (estimator.learner(context)?, context.registry.learner("baseline")?);
    if !learner.info().capabilities.tasks.contains(&Task::Classification) {
        let need = format!("{}, which is not a classifier", estimator.name);
        return Err(Error::Unsupported { learner: "a multilabel reduction".into(), need });
    }
    report(context.observer, Event::Begin { what: "classifiers", total: Some(n_classifiers as u64) })?;
    let train_classifier = |p: usize| {
        let seed = Purpose::MultilabelModel.seed(context.seed, p as u64);
        let data = data(p)?;
        let codes = data.classes()?.0;
        let single_class = codes.iter().all(|code| *code == codes[0]);
        Member::train(if single_class { &*baseline } else { &*learner }, &data, None, seed, context)
    };
    let (mut members, batch) = (Vec::with_capacity(n_classifiers), 2 * rayon::current_num_threads());
    for first in (0..n_classifiers).step_by(batch) {
        let last = (first + batch).min(n_classifiers);
        members.extend(parallel::try_map(last - first, |p| train_classifier(first + p))?);
        report(context.observer, Event::Step { done: last as u64, score: None })?;
    }
    report(context.observer, Event::End)?;
    Ok(members)
}
