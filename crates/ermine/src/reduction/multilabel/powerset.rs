//! Sets of labels as classes: one learner says which of the sets that occurred in training a row has.
//!
//! With p_s the probability of set s: the mode is the set with the highest p_s, which is right most often as a whole; the marginals are the sums of p_s over the sets that have
//! a label, which are right most often label by label.

use super::{Decode, train_parts};
use crate::reduction::committee::{LoadPart, Member};
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

/// A learner of sets.
pub struct Powerset {
    /// The labels of each set, ascending.
    sets: Vec<Vec<usize>>,
    decode: Decode,
    n_labels: usize,
    member: Member,
    estimator: String,
}

/// The name of a set as a class.
fn set_name(set: &[usize]) -> String {
    let labels: Vec<String> = set.iter().map(usize::to_string).collect();
    format!("{{{}}}", labels.join(&SEPARATOR.to_string()))
}

impl Powerset {
    pub(super) fn train(
        estimator: &Estimator,
        decode: Decode,
        data: &Dataset,
        context: &Context<'_>,
    ) -> Result<Powerset> {
        let (marks, labels) = data.labels()?;
        let set = |marks: &[f64]| (0..marks.len()).filter(|&label| marks[label] == 1.0).collect::<Vec<usize>>();
        let of_rows: Vec<Vec<usize>> = marks.chunks(labels.len()).map(set).collect();
        let mut code: BTreeMap<&Vec<usize>, u32> = of_rows.iter().map(|set| (set, 0)).collect();
        code.values_mut().zip(0..).for_each(|(code, i)| *code = i);
        let codes: Vec<u32> = of_rows.iter().map(|set| code[set]).collect();
        let sets: Vec<Vec<usize>> = code.keys().map(|set| (*set).clone()).collect();
        let names = sets.iter().map(|set| set_name(set)).collect();
        let target = Target::Classes { codes, labels: names };
        let classes = Dataset::from_parts(data.features().clone(), target, Task::Classification)?
            .with_weight(data.weight().map(<[f64]>::to_vec))?;
        let member = train_parts(estimator, 1, |_| Ok(classes.clone()), context)?.swap_remove(0);
        Powerset::new(sets, decode, labels.len(), member, estimator.to_string())
    }

    fn new(
        sets: Vec<Vec<usize>>,
        decode: Decode,
        n_labels: usize,
        member: Member,
        estimator: String,
    ) -> Result<Powerset> {
        let fine = |set: &Vec<usize>| set.is_sorted_by(|a, b| a < b) && set.last().is_none_or(|&l| l < n_labels);
        let counted = member.output() != Output::Margin || sets.len() == 2;
        if sets.is_empty() || !counted || !sets.iter().all(fine) || n_labels == 0 || member.output() == Output::Values {
            return Err(Error::model_file("the sets of labels don't fit the labels"));
        }
        if decode == Decode::Marginal && member.output() != Output::Probabilities {
            let need = "marginals, which need probabilities (choose the mode)".into();
            return Err(Error::Unsupported { learner: estimator, need });
        }
        Ok(Powerset { sets, decode, n_labels, member, estimator })
    }

    /// How many sets occurred.
    pub fn n_sets(&self) -> usize {
        self.sets.len()
    }

    /// The learner of sets.
    pub(super) fn member(&self) -> &Member {
        &self.member
    }

    /// Reads it from a model file.
    pub fn load(sections: &Sections, header: &Header, load: LoadPart) -> Result<Box<dyn Fitted>> {
        let sets: Vec<Vec<usize>> = sections.json("sets")?;
        let mut own = header.clone();
        own.schema.task = Task::Classification;
        own.schema.classes = sets.iter().map(|set| set_name(set)).collect();
        let member = Member::load(&sections.part("learner"), &own, load)?;
        let word: String = sections.json("decode")?;
        let decode = Decode::from_value(&Value::Text(word))
            .ok_or_else(|| Error::model_file("a learner of sets doesn't say how it decodes"))?;
        let n_labels = header.schema.classes.len();
        Ok(Box::new(Powerset::new(sets, decode, n_labels, member, sections.json("estimator")?)?))
    }

    /// The numbers of one row: how probable each label is, or which labels the most probable set has and how probable it is.
    fn labels(&self, said: &[f64], numbers: &mut [f64]) {
        if self.decode == Decode::Marginal {
            for (set, &p) in self.sets.iter().zip(said) {
                set.iter().for_each(|&label| numbers[label] += p);
            }
            // Sums of rounded numbers may exceed 1 by a little.
            return numbers.iter_mut().for_each(|p| *p = p.min(1.0));
        }
        let best = match self.member.output() {
            Output::Margin => usize::from(said[0] > 0.0),
            _ => (1..said.len()).fold(0, |best, k| if said[k] > said[best] { k } else { best }),
        };
        let sure = if self.member.output() == Output::Probabilities { said[best] } else { 1.0 };
        numbers.fill(-sure);
        self.sets[best].iter().for_each(|&label| numbers[label] = sure);
    }
}

impl Fitted for Powerset {
    fn output(&self) -> Output {
        if self.decode == Decode::Marginal { Output::Probabilities } else { Output::Scores }
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        let said = self.member.predict(features)?;
        let width = if self.member.output() == Output::Margin { 1 } else { self.sets.len() };
        let mut numbers = vec![0.0; features.n_rows() * self.n_labels];
        parallel::for_each_row(&mut numbers, self.n_labels, |row, numbers| {
            self.labels(&said[row * width..][..width], numbers);
        });
        Ok(numbers)
    }

    fn reads_text(&self) -> bool {
        self.member.reads_text()
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        sections.put_json("sets", &self.sets)?;
        sections.put_json("decode", &self.decode.word())?;
        sections.put_json("estimator", &self.estimator)?;
        sections.within("learner", |sections| self.member.save(sections))
    }

    fn text(&self, schema: &Schema) -> String {
        const SHOWN: usize = 50;
        let name = |label: &usize| schema.classes.get(*label).map_or("?", String::as_str);
        let mut text = format!("{} sets of labels as classes: {}\n", self.sets.len(), self.estimator);
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
