//! Many classes by learners of two: one against the rest, all against all, error-correcting codes.
//!
//! **Idea.** A coding matrix M says what each binary part learns: part p takes the rows of class k as positive where `M[k][p]` = 1, as negative where it is -1, and
//! doesn't see them where it is 0. One against the rest has a column for each class, all against all one for each pair, a code random columns. What
//! the parts say about a row is decoded into a class.
//!
//! | file | what it holds |
//! |---|---|
//! | this file | the three learners and the training of the parts |
//! | [`matrix`] | coding matrices |
//! | [`decode`] | from what the parts say to scores or probabilities of the classes |
//! | [`fitted`] | the fitted parts |
//!
//! **Cost.** One fit for each part, side by side, on views of the same columns; K parts of n rows, or K (K - 1) / 2 parts of about 2 n / K rows.
//!
//! **References.** Allwein, Schapire and Singer, Reducing multiclass to binary, JMLR 2000; Dietterich and Bakiri 1995; Wu, Lin and Weng 2004.

pub mod decode;
pub mod fitted;
pub mod matrix;

pub use fitted::Coded;

use super::committee::{self, Member};
use super::estimator::Estimator;
use decode::Decoder;
use ermine_core::error::{Error, Result};
use ermine_core::learner::{Capabilities, Context, Family, Info, Learner, Trained};
use ermine_core::matrix::{Dataset, Target, Task};
use ermine_core::model::{Certificate, Proof};
use ermine_core::parallel;
use ermine_core::param::Range;
use ermine_core::progress::{Event, report};
use ermine_core::rng::Purpose;
use ermine_core::{choice, params};
use matrix::Coding;
use std::sync::Arc;

choice! {
    /// How all-against-all makes one answer of many.
    pub enum Vote {
        /// The class that wins most duels; of several, the one that wins them more surely.
        Majority = "majority",
        /// The class with the highest sum of confidences.
        Confidence = "confidence",
        /// The probabilities that fit those of the duels best.
        Coupling = "coupling",
    }
}

params! {
    /// A binary learner for each class, against all others.
    pub struct OneVsRest("one-vs-rest") {
        /// The learner of two classes: its name, and in brackets the parameters in which it differs from its defaults.
        estimator: Estimator = Estimator::named("gradient-boosting");
    }
}

params! {
    /// A binary learner for each pair of classes.
    pub struct OneVsOne("one-vs-one") {
        /// The learner of two classes: its name, and in brackets the parameters in which it differs from its defaults.
        estimator: Estimator = Estimator::named("gradient-boosting");
        /// How the duels make one answer.
        vote: Vote = Vote::Majority, tune Each;
    }
}

params! {
    /// A binary learner for each bit of a code of the classes.
    pub struct OutputCode("output-code") {
        /// The learner of two classes: its name, and in brackets the parameters in which it differs from its defaults.
        estimator: Estimator = Estimator::named("gradient-boosting");
        /// Bits for each class.
        code_size: f64 = 1.5, range Range::above_to(0.0, 1000.0), tune Linear(1.0, 4.0);
    }
}

/// What the parts can do; probabilities only where they follow without a choice of the user's.
const fn capabilities(probabilities: bool) -> Capabilities {
    Capabilities {
        tasks: &[Task::Classification],
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

static ONE_VS_REST: Info = Info {
    name: "one-vs-rest",
    summary: "many classes by a binary learner for each class against all others",
    capabilities: capabilities(true),
    family: Family::Multiclass,
};
static ONE_VS_ONE: Info = Info {
    name: "one-vs-one",
    summary: "many classes by a binary learner for each pair of classes",
    capabilities: capabilities(false),
    family: Family::Multiclass,
};
static OUTPUT_CODE: Info = Info {
    name: "output-code",
    summary: "many classes by a binary learner for each bit of an error-correcting code",
    capabilities: capabilities(false),
    family: Family::Multiclass,
};

impl Learner for OneVsRest {
    fn info(&self) -> &'static Info {
        &ONE_VS_REST
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        train(&self.estimator, data, Coding::one_vs_rest, Decoder::Confidence, context)
    }
}

impl Learner for OneVsOne {
    fn info(&self) -> &'static Info {
        &ONE_VS_ONE
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let decoder = match self.vote {
            Vote::Majority => Decoder::Majority,
            Vote::Confidence => Decoder::Confidence,
            Vote::Coupling => Decoder::Coupling,
        };
        train(&self.estimator, data, Coding::one_vs_one, decoder, context)
    }
}

impl Learner for OutputCode {
    fn info(&self) -> &'static Info {
        &OUTPUT_CODE
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let code = |n_classes: usize| {
            let n_bits = ((self.code_size * n_classes as f64).ceil() as usize).max(1);
            Coding::random(n_classes, n_bits, &mut Purpose::OutputCode.stream(context.seed, &[]))
        };
        train(&self.estimator, data, code, Decoder::Distance, context)
    }
}

/// Trains the parts of a coding of the classes that occur.
fn train(
    estimator: &Estimator,
    data: &Dataset,
    coding: impl Fn(usize) -> Coding,
    decoder: Decoder,
    context: &Context<'_>,
) -> Result<Trained> {
    let (codes, labels) = data.classes()?;
    let mut occurs = vec![false; labels.len()];
    codes.iter().for_each(|&c| occurs[c as usize] = true);
    let classes: Vec<u32> = (0..labels.len() as u32).filter(|&c| occurs[c as usize]).collect();
    let learner = estimator.learner(context)?;
    if !learner.info().capabilities.tasks.contains(&Task::Classification) {
        let need = format!("{}, which doesn't learn classes", estimator.name);
        return Err(Error::Unsupported { learner: "a reduction to two classes".into(), need });
    }
    let coding = coding(classes.len());
    report(context.observer, Event::Begin { what: "parts", total: Some(coding.n_parts() as u64) })?;
    let mut members = Vec::with_capacity(coding.n_parts());
    // A batch between two reports of progress.
    let batch = 2 * rayon::current_num_threads();
    for first in (0..coding.n_parts()).step_by(batch) {
        let part = |p: usize| {
            let seed = Purpose::MulticlassPart.seed(context.seed, p as u64);
            Member::train(&*learner, &part_of(data, codes, &classes, &coding, p)?, None, seed, context)
        };
        let last = (first + batch).min(coding.n_parts());
        members.extend(parallel::try_map(last - first, |p| part(first + p))?);
        report(context.observer, Event::Step { done: last as u64, score: None })?;
    }
    report(context.observer, Event::End)?;
    let (n_parts, status) = (coding.n_parts(), committee::status(&members));
    let fitted = Coded::new(coding, decoder, classes, labels.len(), members, estimator.to_string())?;
    let notes = vec![format!("{} classes by {n_parts} binary parts: {estimator}", labels.len())];
    let proofs = vec![Proof::Nothing { because: "each part minimises its own objective".into() }];
    let objective = "what each binary part minimises".to_string();
    let certificate = Certificate { objective, value: None, status, proofs, notes };
    Ok(Trained { fitted: Box::new(fitted), certificate })
}

/// The rows that a part sees, as two classes: a view of the same columns.
fn part_of(data: &Dataset, codes: &[u32], classes: &[u32], coding: &Coding, part: usize) -> Result<Dataset> {
    let mut sign = vec![0i8; classes.last().map_or(0, |&c| c as usize + 1)];
    classes.iter().enumerate().for_each(|(k, &c)| sign[c as usize] = coding.sign(k, part));
    let rows: Vec<u32> = (0..codes.len() as u32).filter(|&r| sign[codes[r as usize] as usize] != 0).collect();
    let positive = rows.iter().map(|&r| u32::from(sign[codes[r as usize] as usize] > 0)).collect();
    let target = Target::Classes { codes: positive, labels: binary_labels() };
    let seen = if rows.len() == codes.len() { data.clone() } else { data.select(&rows)? };
    seen.with_target(target, Task::Classification)
}

/// What the classes of a part are called.
fn binary_labels() -> Arc<[String]> {
    Arc::new(["rest".to_string(), "class".to_string()])
}
