//! Multiclass classification by binary classifiers: one-vs-rest, one-vs-one and error-correcting output codes.
//!
//! **Idea.** A coding matrix M defines the binary problems: classifier p takes the rows of class k as positive if `M[k][p]` = 1, as negative if it is -1, and is not trained on
//! them if it is 0. One-vs-rest has one column per class, one-vs-one one column per pair of classes, and output codes have random columns. The outputs of the classifiers are
//! decoded into scores or probabilities of the classes.
//!
//! | file | contents |
//! |---|---|
//! | this file | the three learners and the training of the binary classifiers |
//! | [`matrix`] | coding matrices |
//! | [`decode`] | from the outputs of the binary classifiers to scores or probabilities of the classes |
//! | [`fitted`] | the fitted model |
//!
//! **Cost.** One fit per binary classifier, in parallel, on views of the same columns: K fits on n rows, or K (K - 1) / 2 fits on about 2 n / K rows.
//!
//! **References.** Allwein, Schapire and Singer, Reducing multiclass to binary, JMLR 2000; Dietterich and Bakiri 1995; Wu, Lin and Weng 2004.

pub mod decode;
pub mod fitted;
pub mod matrix;

pub use fitted::FittedMulticlass;

use super::committee::{self, Member};
use super::estimator::Estimator;
use decode::Decoder;
use ermine_core::error::{Error, Result};
use ermine_core::learner::{Capabilities, Context, Family, Learner, LearnerInfo, Trained};
use ermine_core::matrix::{Dataset, Target, Task};
use ermine_core::model::{Certificate, Proof};
use ermine_core::parallel;
use ermine_core::param::Range;
use ermine_core::progress::{Event, report};
use ermine_core::rng::Purpose;
use ermine_core::{choice, params};
use matrix::CodingMatrix;
use std::sync::Arc;

choice! {
    /// How one-vs-one combines its classifiers.
    pub enum PairwiseVote {
        /// The class that wins the most pairs; ties are broken by the sum of the confidences.
        Majority = "majority",
        /// The class with the highest sum of confidences.
        Confidence = "confidence",
        /// Probabilities that fit the pairwise probabilities best (pairwise coupling).
        Coupling = "coupling",
    }
}

params! {
    /// One binary classifier per class, against all other classes.
    pub struct OneVsRest("one-vs-rest") {
        /// Binary classifier: its name, with non-default parameters in parentheses, such as decision-tree(max_depth=3).
        estimator: Estimator = Estimator::named("gradient-boosting");
    }
}

params! {
    /// One binary classifier per pair of classes.
    pub struct OneVsOne("one-vs-one") {
        /// Binary classifier: its name, with non-default parameters in parentheses, such as decision-tree(max_depth=3).
        estimator: Estimator = Estimator::named("gradient-boosting");
        /// How the classifiers of the pairs are combined: majority vote, sum of confidences, or pairwise coupling of probabilities.
        /// "coupling" gives calibrated class probabilities if the classifiers do.
        vote: PairwiseVote = PairwiseVote::Majority, tune Each;
    }
}

params! {
    /// One binary classifier per bit of an error-correcting output code.
    pub struct OutputCode("output-code") {
        /// Binary classifier: its name, with non-default parameters in parentheses, such as decision-tree(max_depth=3).
        estimator: Estimator = Estimator::named("gradient-boosting");
        /// Number of bits (binary classifiers) per class.
        /// More bits correct more errors of single classifiers, and take longer; below 1 there are fewer classifiers than classes.
        code_size: f64 = 1.5, range Range::above_to(0.0, 1000.0), tune Linear(1.0, 4.0);
    }
}

/// Capabilities of the reductions; `probabilities` if the model has them with default parameters.
const fn capabilities(probabilities: bool) -> Capabilities {
    Capabilities {
        tasks: &[Task::Classification],
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

static ONE_VS_REST: LearnerInfo = LearnerInfo {
    name: "one-vs-rest",
    summary: "multiclass classification with one binary classifier per class, against all others",
    capabilities: capabilities(true),
    family: Family::Multiclass,
};
static ONE_VS_ONE: LearnerInfo = LearnerInfo {
    name: "one-vs-one",
    summary: "multiclass classification with one binary classifier per pair of classes",
    capabilities: capabilities(false),
    family: Family::Multiclass,
};
static OUTPUT_CODE: LearnerInfo = LearnerInfo {
    name: "output-code",
    summary: "multiclass classification with one binary classifier per bit of an error-correcting output code",
    capabilities: capabilities(false),
    family: Family::Multiclass,
};

impl Learner for OneVsRest {
    fn info(&self) -> &'static LearnerInfo {
        &ONE_VS_REST
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        train(&self.estimator, data, CodingMatrix::one_vs_rest, Decoder::Confidence, context)
    }
}

impl Learner for OneVsOne {
    fn info(&self) -> &'static LearnerInfo {
        &ONE_VS_ONE
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let decoder = match self.vote {
            PairwiseVote::Majority => Decoder::Majority,
            PairwiseVote::Confidence => Decoder::Confidence,
            PairwiseVote::Coupling => Decoder::Coupling,
        };
        train(&self.estimator, data, CodingMatrix::one_vs_one, decoder, context)
    }
}

impl Learner for OutputCode {
    fn info(&self) -> &'static LearnerInfo {
        &OUTPUT_CODE
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let code = |n_classes: usize| {
            let n_bits = ((self.code_size * n_classes as f64).ceil() as usize).max(1);
            CodingMatrix::random(n_classes, n_bits, &mut Purpose::OutputCode.stream(context.seed, &[]))
        };
        train(&self.estimator, data, code, Decoder::Distance, context)
    }
}

/// Trains the binary classifiers of a coding matrix of the classes that occur.
fn train(
    estimator: &Estimator,
    data: &Dataset,
    coding: impl Fn(usize) -> CodingMatrix,
    decoder: Decoder,
    context: &Context<'_>,
) -> Result<Trained> {
    let (codes, labels) = data.classes()?;
    let mut occurs = vec![false; labels.len()];
    codes.iter().for_each(|&c| occurs[c as usize] = true);
    let classes: Vec<u32> = (0..labels.len() as u32).filter(|&c| occurs[c as usize]).collect();
    let learner = estimator.learner(context)?;
    if !learner.info().capabilities.tasks.contains(&Task::Classification) {
        let need = format!("{}, which is not a classifier", estimator.name);
        return Err(Error::Unsupported { learner: "a multiclass reduction".into(), need });
    }
    let coding = coding(classes.len());
    report(context.observer, Event::Begin { what: "binary classifiers", total: Some(coding.n_classifiers() as u64) })?;
    let mut members = Vec::with_capacity(coding.n_classifiers());
    // One batch per progress report.
    let batch = 2 * rayon::current_num_threads();
    for first in (0..coding.n_classifiers()).step_by(batch) {
        let train_classifier = |p: usize| {
            let seed = Purpose::MulticlassModel.seed(context.seed, p as u64);
            Member::train(&*learner, &binary_dataset(data, codes, &classes, &coding, p)?, None, seed, context)
        };
        let last = (first + batch).min(coding.n_classifiers());
        members.extend(parallel::try_map(last - first, |p| train_classifier(first + p))?);
        report(context.observer, Event::Step { done: last as u64, score: None })?;
    }
    report(context.observer, Event::End)?;
    let (n_classifiers, status) = (coding.n_classifiers(), committee::status(&members));
    let fitted = FittedMulticlass::new(coding, decoder, classes, labels.len(), members, estimator.to_string())?;
    let notes = vec![format!("{} classes, {n_classifiers} binary classifiers: {estimator}", labels.len())];
    let proofs = vec![Proof::Nothing { because: "each binary classifier minimizes its own objective".into() }];
    let objective = "the objective of each binary classifier".to_string();
    let certificate = Certificate { objective, value: None, status, proofs, notes };
    Ok(Trained { fitted: Box::new(fitted), certificate })
}

/// The training set of a binary classifier: a view of the same columns.
fn binary_dataset(
    data: &Dataset,
    codes: &[u32],
    classes: &[u32],
    coding: &CodingMatrix,
    classifier: usize,
) -> Result<Dataset> {
    let mut sign = vec![0i8; classes.last().map_or(0, |&c| c as usize + 1)];
    classes.iter().enumerate().for_each(|(k, &c)| sign[c as usize] = coding.sign(k, classifier));
    let rows: Vec<u32> = (0..codes.len() as u32).filter(|&r| sign[codes[r as usize] as usize] != 0).collect();
    let positive = rows.iter().map(|&r| u32::from(sign[codes[r as usize] as usize] > 0)).collect();
    let target = Target::Classes { codes: positive, labels: binary_labels() };
    let seen = if rows.len() == codes.len() { data.clone() } else { data.select(&rows)? };
    seen.with_target(target, Task::Classification)
}

/// Names of the negative and the positive class of a binary classifier.
fn binary_labels() -> Arc<[String]> {
    Arc::new(["rest".to_string(), "class".to_string()])
}
