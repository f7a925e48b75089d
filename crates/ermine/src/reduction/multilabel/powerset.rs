//! Label powerset: one multiclass classifier whose classes are the label sets that occur in training.
//!
//! With p_s the probability of set s: the mode is the set with the highest p_s, which maximizes the expected subset accuracy; the marginal probability of a label is the sum of
//! p_s over the sets with this label, which minimizes the expected Hamming loss.

use super::{PowersetDecoding, train_classifiers};
use crate::reduction::committee::{LoadFitted, Member};
use crate::reduction::estimator::Estimator;
use ermine_core::error::{Error, Result};
use ermine_core::learner::Context;
use ermine_core::matrix::labels::SEPARATOR;
use ermine_core::matrix::{Dataset, Features, Schema, Target, Task};
use ermine_core::model::{Fitted, Header, Output};
use ermine_core::parallel;
use ermine_core::param::{ParamType, Value};
use ermine_core::section::Sections;
use std::collections::BTreeMap;

/// A classifier of label sets.
pub struct FittedPowerset {
    /// The labels of each set, in ascending order.
    sets: Vec<Vec<usize>>,
    decode: PowersetDecoding,
    n_labels: usize,
    member: Member,
    estimator: String,
}

/// The class name of a label set.
fn set_name(set: &[usize]) -> String {
    let labels: Vec<String> = set.iter().map(usize::to_string).collect();
    format!("{{{}}}", labels.join(&SEPARATOR.to_string()))
}

impl FittedPowerset {
    pub(super) fn train(
        estimator: &Estimator,
        decode: PowersetDecoding,
        data: &Dataset,
        context: &Context<'_>,
    ) -> Result<FittedPowerset> {
        let (marks, labels) = data.labels()?;
        let set = |marks: &[f64]| (0..marks.len()).filter(|&label| marks[label] == 1.0).collect::<Vec<usize>>();
        let row_sets: Vec<Vec<usize>> = marks.chunks(labels.len()).map(set).collect();
        let mut code: BTreeMap<&Vec<usize>, u32> = row_sets.iter().map(|set| (set, 0)).collect();
        code.values_mut().zip(0..).for_each(|(code, i)| *code = i);
        let codes: Vec<u32> = row_sets.iter().map(|set| code[set]).collect();
        let sets: Vec<Vec<usize>> = code.keys().map(|set| (*set).clone()).collect();
        let names = sets.iter().map(|set| set_name(set)).collect();
        let target = Target::Classes { codes, labels: names };
        let classes = Dataset::from_parts(data.features().clone(), target, Task::Classification)?
            .with_weight(data.weight().map(<[f64]>::to_vec))?;
        let member = train_classifiers(estimator, 1, |_| Ok(classes.clone()), context)?.swap_remove(0);
        FittedPowerset::new(sets, decode, labels.len(), member, estimator.to_string())
    }

    fn new(
        sets: Vec<Vec<usize>>,
        decode: PowersetDecoding,
        n_labels: usize,
        member: Member,
        estimator: String,
    ) -> Result<FittedPowerset> {
        let is_valid = |set: &Vec<usize>| set.is_sorted_by(|a, b| a < b) && set.last().is_none_or(|&l| l < n_labels);
        let has_classes = member.output() != Output::Margin || sets.len() == 2;
        if sets.is_empty()
            || !has_classes
            || !sets.iter().all(is_valid)
            || n_labels == 0
            || member.output() == Output::Values
        {
            return Err(Error::model_file("the label sets don't fit the labels"));
        }
        if decode == PowersetDecoding::Marginal && member.output() != Output::Probabilities {
            let need = "decode = marginal: it needs a classifier with probabilities (set decode = mode)".into();
            return Err(Error::Unsupported { learner: estimator, need });
        }
        Ok(FittedPowerset { sets, decode, n_labels, member, estimator })
    }

    /// Number of label sets.
    pub fn n_sets(&self) -> usize {
        self.sets.len()
    }

    /// The classifier of label sets.
    pub(super) fn member(&self) -> &Member {
        &self.member
    }

    /// Reads the model from a model file.
    pub fn load(sections: &Sections, header: &Header, load: LoadFitted) -> Result<Box<dyn Fitted>> {
        let sets: Vec<Vec<usize>> = sections.json("sets")?;
        let mut member_header = header.clone();
        member_header.schema.task = Task::Classification;
        member_header.schema.classes = sets.iter().map(|set| set_name(set)).collect();
        let member = Member::load(&sections.part("learner"), &member_header, load)?;
        let name: String = sections.json("decode")?;
        let decode = PowersetDecoding::from_value(&Value::Text(name))
            .ok_or_else(|| Error::model_file("the label powerset has an unknown decoding"))?;
        let n_labels = header.schema.classes.len();
        Ok(Box::new(FittedPowerset::new(sets, decode, n_labels, member, sections.json("estimator")?)?))
    }

    /// Computes the outputs of one row: the probability of each label; or the probability p of the most probable set, as p for its labels and -p for the others.
    fn decode_row(&self, set_scores: &[f64], numbers: &mut [f64]) {
        if self.decode == PowersetDecoding::Marginal {
            for (set, &p) in self.sets.iter().zip(set_scores) {
                set.iter().for_each(|&label| numbers[label] += p);
            }
            // Rounding errors can make a sum slightly larger than 1.
            return numbers.iter_mut().for_each(|p| *p = p.min(1.0));
        }
        let best = match self.member.output() {
            Output::Margin => usize::from(set_scores[0] > 0.0),
            _ => (1..set_scores.len()).fold(0, |best, k| if set_scores[k] > set_scores[best] { k } else { best }),
        };
        let confidence = if self.member.output() == Output::Probabilities { set_scores[best] } else { 1.0 };
        numbers.fill(-confidence);
        self.sets[best].iter().for_each(|&label| numbers[label] = confidence);
    }
}

impl Fitted for FittedPowerset {
    fn output(&self) -> Output {
        if self.decode == PowersetDecoding::Marginal { Output::Probabilities } else { Output::Scores }
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        let set_scores = self.member.predict(features)?;
        let width = if self.member.output() == Output::Margin { 1 } else { self.sets.len() };
        let mut numbers = vec![0.0; features.n_rows() * self.n_labels];
        parallel::for_each_row(&mut numbers, self.n_labels, |row, numbers| {
            self.decode_row(&set_scores[row * width..][..width], numbers);
        });
        Ok(numbers)
    }

    fn reads_text(&self) -> bool {
        self.member.reads_text()
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        sections.put_json("sets", &self.sets)?;
        sections.put_json("decode", &self.decode.as_str())?;
        sections.put_json("estimator", &self.estimator)?;
        sections.within("learner", |sections| self.member.save(sections))
    }

    fn text(&self, schema: &Schema) -> String {
        const SHOWN: usize = 50;
        let name = |label: &usize| schema.classes.get(*label).map_or("?", String::as_str);
        let mut text = format!("{} label sets as classes: {}\n", self.sets.len(), self.estimator);
        for set in self.sets.iter().take(SHOWN) {
            let names: Vec<&str> = set.iter().map(name).collect();
            text += &format!("  {}\n", if set.is_empty() { "(none)".into() } else { names.join("; ") });
        }
        if self.sets.len() > SHOWN {
            text += &format!("  ... and {} more\n", self.sets.len() - SHOWN);
        }
        text
    }
}
