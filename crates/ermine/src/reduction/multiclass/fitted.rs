//! A fitted multiclass model made of binary classifiers.

use super::binary_labels;
use super::decode::{ConfidenceKind, Decoder, decode};
use super::matrix::CodingMatrix;
use crate::reduction::committee::{self, LoadFitted, Member};
use crate::reduction::estimator::Estimator;
use ermine_core::error::{Error, Result};
use ermine_core::matrix::{Features, Schema};
use ermine_core::model::{Fitted, Header, Output};
use ermine_core::parallel;
use ermine_core::section::Sections;

/// Binary classifiers and the decoder that combines them.
pub struct FittedMulticlass {
    coding: CodingMatrix,
    decoder: Decoder,
    /// The classes that occurred in training: the rows of the coding matrix.
    classes: Vec<u32>,
    /// Number of classes of the target.
    n_classes: usize,
    members: Vec<Member>,
    estimator: String,
}

impl FittedMulticlass {
    /// Checks that the binary classifiers fit the coding matrix.
    pub(super) fn new(
        coding: CodingMatrix,
        decoder: Decoder,
        classes: Vec<u32>,
        n_classes: usize,
        members: Vec<Member>,
        estimator: String,
    ) -> Result<FittedMulticlass> {
        let sorted = classes.windows(2).all(|pair| pair[0] < pair[1]);
        let known = classes.last().is_none_or(|&last| (last as usize) < n_classes);
        let same = |member: &Member| member.output() == members[0].output() && member.output() != Output::Values;
        if !coding.is_valid_for(classes.len())
            || coding.n_classifiers() != members.len()
            || !sorted
            || !known
            || classes.is_empty()
        {
            return Err(Error::model_file("the binary classifiers don't fit the coding matrix"));
        }
        if !members.iter().all(same) || (members.is_empty() && classes.len() > 1) {
            return Err(Error::model_file("the binary classifiers have different kinds of output"));
        }
        let model = FittedMulticlass { coding, decoder, classes, n_classes, members, estimator };
        if decoder == Decoder::Coupling && model.confidence_kind() != ConfidenceKind::Probability {
            return Err(Error::Unsupported {
                learner: model.estimator,
                need: "vote = coupling: it needs a classifier with probabilities (set vote = majority or confidence)"
                    .into(),
            });
        }
        Ok(model)
    }

    /// Number of binary classifiers.
    pub fn n_classifiers(&self) -> usize {
        self.members.len()
    }

    fn confidence_kind(&self) -> ConfidenceKind {
        match self.members.first().map(Member::output) {
            Some(Output::Probabilities) | None => ConfidenceKind::Probability,
            _ => ConfidenceKind::Margin,
        }
    }

    /// Whether the outputs are probabilities.
    fn has_probabilities(&self) -> bool {
        let keeps_probabilities = self.decoder == Decoder::Coupling
            || (self.decoder == Decoder::Confidence && (self.n_classifiers() <= 1 || self.is_one_vs_rest()));
        keeps_probabilities && self.confidence_kind() == ConfidenceKind::Probability
    }

    /// Whether there is one classifier per class, against all others.
    fn is_one_vs_rest(&self) -> bool {
        self.n_classifiers() == self.classes.len() && self.n_classifiers() > 1 && self.coding.sign(0, 0) == 1
    }

    /// Whether there are two classes and a single classifier, whose positive class is the second one.
    fn is_single_classifier(&self) -> bool {
        self.n_classifiers() == 1 && self.classes.len() == 2 && self.coding.sign(1, 0) == 1
    }

    /// The confidences of all classifiers in their positive class, classifier by classifier, and their kind.
    fn confidences(&self, features: &Features) -> Result<(ConfidenceKind, Vec<Vec<f64>>)> {
        // Sums of log odds are meaningful, sums of probabilities are not.
        let is_pairwise = matches!(self.decoder, Decoder::Majority | Decoder::Confidence) && !self.is_one_vs_rest();
        if is_pairwise && self.n_classifiers() > 1 {
            let odds: Vec<Option<Vec<f64>>> =
                parallel::try_map(self.members.len(), |i| self.members[i].log_odds(features))?;
            if let Some(odds) = odds.into_iter().collect() {
                return Ok((ConfidenceKind::Margin, odds));
            }
        }
        let scores = parallel::try_map(self.members.len(), |i| self.members[i].positive_scores(features))?;
        Ok((self.confidence_kind(), scores))
    }

    /// Computes the scores of one row for the classes of the coding matrix.
    fn scores(&self, kind: ConfidenceKind, confidences: &[f64], scores: &mut [f64]) {
        match (self.n_classifiers(), kind) {
            (0, _) => scores.fill(1.0),
            (1, ConfidenceKind::Probability) if self.is_single_classifier() => {
                scores.copy_from_slice(&[1.0 - confidences[0], confidences[0]])
            }
            (1, ConfidenceKind::Margin) if self.is_single_classifier() => {
                scores.copy_from_slice(&[-confidences[0], confidences[0]])
            }
            (_, kind) => decode(self.decoder, &self.coding, kind, confidences, scores),
        }
    }

    /// Reads it from a model file.
    pub fn load(sections: &Sections, header: &Header, load: LoadFitted) -> Result<Box<dyn Fitted>> {
        let mut binary_header = header.clone();
        binary_header.schema.classes = binary_labels().to_vec();
        let members = committee::load(sections, &binary_header, load)?;
        let (coding, decoder) = (sections.json("coding")?, sections.json("decoder")?);
        let (classes, estimator) = (sections.json("classes")?, sections.json("estimator")?);
        let n_classes = header.schema.classes.len();
        Ok(Box::new(FittedMulticlass::new(coding, decoder, classes, n_classes, members, estimator)?))
    }
}

impl Fitted for FittedMulticlass {
    fn output(&self) -> Output {
        if self.has_probabilities() { Output::Probabilities } else { Output::Scores }
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        let (kind, confidences) = self.confidences(features)?;
        let (k, n) = (self.classes.len(), features.n_rows());
        // A class without training rows is never predicted.
        let absent = if self.has_probabilities() { 0.0 } else { f64::MIN };
        let mut numbers = vec![absent; n * self.n_classes];
        parallel::for_each_row(&mut numbers, self.n_classes.max(1), |row, numbers| {
            let of_row: Vec<f64> = confidences.iter().map(|classifier| classifier[row]).collect();
            let mut scores = vec![0.0; k];
            self.scores(kind, &of_row, &mut scores);
            self.classes.iter().zip(scores).for_each(|(&class, score)| numbers[class as usize] = score);
        });
        Ok(numbers)
    }

    /// One-vs-rest: the log odds of each classifier if it has them, else its margins or probabilities scaled to -1..1. Otherwise the scores.
    fn margins(&self, features: &Features) -> Result<Option<(Vec<f64>, usize)>> {
        let margins = |member: &Member| match (member.log_odds(features)?, member.output()) {
            (Some(odds), _) => Ok(odds),
            // Scaled to -1..1, so that positive values mean the positive class.
            (None, Output::Probabilities) => {
                member.positive_scores(features).map(|p| p.iter().map(|p| 2.0 * p - 1.0).collect())
            }
            (None, _) => member.positive_scores(features),
        };
        if self.is_single_classifier() && self.n_classes == 2 {
            return Ok(Some((margins(&self.members[0])?, 1)));
        }
        if !self.is_one_vs_rest() {
            return Ok(Some((self.predict(features)?, self.n_classes)));
        }
        let margins: Vec<Vec<f64>> = parallel::try_map(self.members.len(), |i| margins(&self.members[i]))?;
        let mut numbers = vec![f64::MIN; features.n_rows() * self.n_classes];
        for (&class, margins) in self.classes.iter().zip(margins) {
            let cells = numbers.iter_mut().skip(class as usize).step_by(self.n_classes);
            cells.zip(margins).for_each(|(number, margin)| *number = margin);
        }
        Ok(Some((numbers, self.n_classes)))
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        sections.put_json("coding", &self.coding)?;
        sections.put_json("decoder", &self.decoder)?;
        sections.put_json("classes", &self.classes)?;
        sections.put_json("estimator", &self.estimator)?;
        committee::save(&self.members, sections)
    }

    fn n_parts(&self) -> usize {
        self.members.len()
    }

    fn part(&self, index: usize, header: &Header) -> Result<(Header, Sections)> {
        let mut binary_header = header.clone();
        binary_header.schema.classes = binary_labels().to_vec();
        self.members[index].part(&binary_header, &Estimator::written(&self.estimator)?)
    }

    fn text(&self, schema: &Schema) -> String {
        let name = |k: usize| schema.classes.get(self.classes[k] as usize).map_or("?", String::as_str);
        let mut text = format!("{} binary classifiers: {}\n", self.n_classifiers(), self.estimator);
        const SHOWN: usize = 50;
        for classifier in 0..self.n_classifiers().min(SHOWN) {
            let side = |sign: i8| {
                let names: Vec<&str> =
                    (0..self.classes.len()).filter(|&k| self.coding.sign(k, classifier) == sign).map(name).collect();
                names.join(", ")
            };
            text += &format!("  {} against {}\n", side(1), side(-1));
        }
        if self.n_classifiers() > SHOWN {
            text += &format!("  ... and {} more\n", self.n_classifiers() - SHOWN);
        }
        text
    }
}
