//! The fitted parts of a reduction to two classes.

use super::binary_labels;
use super::decode::{Confidence, Decoder, decode};
use super::matrix::Coding;
use crate::reduction::committee::{self, LoadPart, Member};
use crate::reduction::estimator::Estimator;
use ermine_core::error::{Error, Result};
use ermine_core::matrix::{Features, Schema};
use ermine_core::model::{Fitted, Header, Output};
use ermine_core::parallel;
use ermine_core::section::Sections;

/// Binary parts, and how they are decoded.
pub struct Coded {
    coding: Coding,
    decoder: Decoder,
    /// The classes that the coding is of: those that occurred in training.
    classes: Vec<u32>,
    /// All classes of the target.
    n_classes: usize,
    members: Vec<Member>,
    estimator: String,
}

impl Coded {
    /// Puts it together; the parts must fit the coding.
    pub(super) fn new(
        coding: Coding,
        decoder: Decoder,
        classes: Vec<u32>,
        n_classes: usize,
        members: Vec<Member>,
        estimator: String,
    ) -> Result<Coded> {
        let sorted = classes.windows(2).all(|pair| pair[0] < pair[1]);
        let known = classes.last().is_none_or(|&last| (last as usize) < n_classes);
        let same = |member: &Member| member.output() == members[0].output() && member.output() != Output::Values;
        if !coding.is_of(classes.len()) || coding.n_parts() != members.len() || !sorted || !known || classes.is_empty()
        {
            return Err(Error::model_file("the parts of a reduction don't fit its coding"));
        }
        if !members.iter().all(same) || (members.is_empty() && classes.len() > 1) {
            return Err(Error::model_file("the parts of a reduction don't fit together"));
        }
        let coded = Coded { coding, decoder, classes, n_classes, members, estimator };
        if decoder == Decoder::Coupling && coded.confidence() != Confidence::Probability {
            return Err(Error::Unsupported {
                learner: coded.estimator,
                need: "coupling, which needs probabilities (choose another vote)".into(),
            });
        }
        Ok(coded)
    }

    /// How many parts.
    pub fn n_parts(&self) -> usize {
        self.members.len()
    }

    fn confidence(&self) -> Confidence {
        match self.members.first().map(Member::output) {
            Some(Output::Probabilities) | None => Confidence::Probability,
            _ => Confidence::Margin,
        }
    }

    /// Whether the answers are probabilities.
    fn gives_probabilities(&self) -> bool {
        let by_part = self.decoder == Decoder::Coupling
            || (self.decoder == Decoder::Confidence && (self.n_parts() <= 1 || self.is_one_vs_rest()));
        by_part && self.confidence() == Confidence::Probability
    }

    /// Whether there is a part for each class, against all others.
    fn is_one_vs_rest(&self) -> bool {
        self.n_parts() == self.classes.len() && self.n_parts() > 1 && self.coding.sign(0, 0) == 1
    }

    /// Whether there are two classes, and one part that is for the second of them.
    fn one_says_all(&self) -> bool {
        self.n_parts() == 1 && self.classes.len() == 2 && self.coding.sign(1, 0) == 1
    }

    /// What the parts' confidences are, and that of each part in its positive side, part by part.
    fn said(&self, features: &Features) -> Result<(Confidence, Vec<Vec<f64>>)> {
        // Log odds add up, probabilities don't.
        let duels = matches!(self.decoder, Decoder::Majority | Decoder::Confidence) && !self.is_one_vs_rest();
        if duels && self.n_parts() > 1 {
            let odds: Vec<Option<Vec<f64>>> =
                parallel::try_map(self.members.len(), |i| self.members[i].log_odds(features))?;
            if let Some(odds) = odds.into_iter().collect() {
                return Ok((Confidence::Margin, odds));
            }
        }
        let said = parallel::try_map(self.members.len(), |i| self.members[i].of_second(features))?;
        Ok((self.confidence(), said))
    }

    /// The scores of one row, of the classes of the coding.
    fn scores(&self, kind: Confidence, said: &[f64], scores: &mut [f64]) {
        match (self.n_parts(), kind) {
            (0, _) => scores.fill(1.0),
            // Of two classes one part says it all.
            (1, Confidence::Probability) if self.one_says_all() => scores.copy_from_slice(&[1.0 - said[0], said[0]]),
            (1, Confidence::Margin) if self.one_says_all() => scores.copy_from_slice(&[-said[0], said[0]]),
            (_, kind) => decode(self.decoder, &self.coding, kind, said, scores),
        }
    }

    /// Reads it from a model file.
    pub fn load(sections: &Sections, header: &Header, load: LoadPart) -> Result<Box<dyn Fitted>> {
        let mut of_part = header.clone();
        of_part.schema.classes = binary_labels().to_vec();
        let members = committee::load(sections, &of_part, load)?;
        let (coding, decoder) = (sections.json("coding")?, sections.json("decoder")?);
        let (classes, estimator) = (sections.json("classes")?, sections.json("estimator")?);
        let n_classes = header.schema.classes.len();
        Ok(Box::new(Coded::new(coding, decoder, classes, n_classes, members, estimator)?))
    }
}

impl Fitted for Coded {
    fn output(&self) -> Output {
        if self.gives_probabilities() { Output::Probabilities } else { Output::Scores }
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        let (kind, said) = self.said(features)?;
        let (k, n) = (self.classes.len(), features.n_rows());
        // A class that training didn't have is never predicted.
        let absent = if self.gives_probabilities() { 0.0 } else { f64::MIN };
        let mut numbers = vec![absent; n * self.n_classes];
        parallel::for_each_row(&mut numbers, self.n_classes.max(1), |row, numbers| {
            let of_row: Vec<f64> = said.iter().map(|part| part[row]).collect();
            let mut scores = vec![0.0; k];
            self.scores(kind, &of_row, &mut scores);
            self.classes.iter().zip(scores).for_each(|(&class, score)| numbers[class as usize] = score);
        });
        Ok(numbers)
    }

    /// What each part says of its class where there is one for each, log odds where it has such; else the scores.
    fn margins(&self, features: &Features) -> Result<Option<(Vec<f64>, usize)>> {
        let of_part = |member: &Member| match (member.log_odds(features)?, member.output()) {
            (Some(odds), _) => Ok(odds),
            // Above 0 for the class that the part is for.
            (None, Output::Probabilities) => {
                member.of_second(features).map(|p| p.iter().map(|p| 2.0 * p - 1.0).collect())
            }
            (None, _) => member.of_second(features),
        };
        if self.one_says_all() && self.n_classes == 2 {
            return Ok(Some((of_part(&self.members[0])?, 1)));
        }
        if !self.is_one_vs_rest() {
            return Ok(Some((self.predict(features)?, self.n_classes)));
        }
        let said: Vec<Vec<f64>> = parallel::try_map(self.members.len(), |i| of_part(&self.members[i]))?;
        let mut numbers = vec![f64::MIN; features.n_rows() * self.n_classes];
        for (&class, said) in self.classes.iter().zip(said) {
            let cells = numbers.iter_mut().skip(class as usize).step_by(self.n_classes);
            cells.zip(said).for_each(|(number, said)| *number = said);
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

    fn part(&self, part: usize, header: &Header) -> Result<(Header, Sections)> {
        let mut of_part = header.clone();
        of_part.schema.classes = binary_labels().to_vec();
        self.members[part].part(&of_part, &Estimator::written(&self.estimator)?)
    }

    fn text(&self, schema: &Schema) -> String {
        let name = |k: usize| schema.classes.get(self.classes[k] as usize).map_or("?", String::as_str);
        let mut text = format!("{} binary models: {}\n", self.n_parts(), self.estimator);
        const SHOWN: usize = 50;
        for part in 0..self.n_parts().min(SHOWN) {
            let side = |sign: i8| {
                let names: Vec<&str> =
                    (0..self.classes.len()).filter(|&k| self.coding.sign(k, part) == sign).map(name).collect();
                names.join(", ")
            };
            text += &format!("  {} against {}\n", side(1), side(-1));
        }
        if self.n_parts() > SHOWN {
            text += &format!("  ... and {} more\n", self.n_parts() - SHOWN);
        }
        text
    }
}
