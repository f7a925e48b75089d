//! Models side by side: what bagging, and boosting over any learner, are made of.

use super::estimator::Estimator;
use ermine_core::error::{Error, Result};
use ermine_core::learner::{Context, Learner, fit};
use ermine_core::matrix::{Dataset, Features};
#[cfg(feature = "trees")]
use ermine_core::model::Link;
use ermine_core::model::{Fitted, Header, Output, Proof, Status};
use ermine_core::progress::Parts;
use ermine_core::section::Sections;
use ermine_core::table::{Column, Table};
#[cfg(feature = "trees")]
use ermine_trees::ensemble::TreeSum;
#[cfg(feature = "trees")]
use ermine_trees::tree::{Forest, Tree};
use std::sync::Arc;

/// Reads the part of a model that belongs to the learner of this name. The registry hands it in.
pub type LoadPart = fn(&str, &Sections, &Header) -> Result<Box<dyn Fitted>>;

/// A model of a committee. Committees may share it.
#[derive(Clone)]
pub struct Member {
    learner: String,
    /// The columns it was trained on; `None` for all.
    columns: Option<Vec<u32>>,
    fitted: Arc<dyn Fitted>,
    /// How its training ended; one from a file has come to its end.
    status: Status,
}

/// The features of some columns; rows may repeat and stay as they are.
pub fn some_columns(features: &Features, columns: &[u32]) -> Result<Features> {
    let chosen: Vec<Column> = columns.iter().map(|&c| features.columns()[c as usize].clone()).collect();
    let n_rows = chosen.first().map_or(0, Column::len);
    let table = Features::new(Arc::new(Table::of_columns(chosen, n_rows)));
    features.rows().map_or(Ok(table.clone()), |rows| table.select(rows))
}

impl Member {
    /// Trains a member, which stops when the committee is told to. Of its own certificate only how it ended is kept.
    pub fn train(
        learner: &dyn Learner,
        data: &Dataset,
        columns: Option<Vec<u32>>,
        seed: u64,
        context: &Context<'_>,
    ) -> Result<Member> {
        let observer = &Parts(context.observer);
        let own = Context { seed, threads: None, observer, previous: None, folds: None, registry: context.registry };
        let model = match &columns {
            None => fit(learner, data, &own)?,
            Some(columns) => {
                let features = some_columns(data.features(), columns)?;
                let part = Dataset::from_parts(features, data.target().clone(), data.task())?;
                fit(learner, &part.with_weight(data.weight().map(<[f64]>::to_vec))?, &own)?
            }
        };
        // Not the learner's own name, where it was reduced by itself.
        let (learner, status) = (model.header().learner.clone(), model.certificate().status.clone());
        Ok(Member { learner, columns, fitted: model.into_fitted(), status })
    }

    /// Whether it reads categories by their text.
    pub fn reads_text(&self) -> bool {
        self.fitted.reads_text()
    }

    /// How its training ended.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// What its numbers are.
    pub fn output(&self) -> Output {
        self.fitted.output()
    }

    /// Its numbers for each row.
    pub fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        match &self.columns {
            None => self.fitted.predict(features),
            Some(columns) => self.fitted.predict(&some_columns(features, columns)?),
        }
    }

    /// How sure it is of the second of two classes, for each row: a probability where it has such, else a signed margin.
    pub fn of_second(&self, features: &Features) -> Result<Vec<f64>> {
        let numbers = self.predict(features)?;
        Ok(match self.output() {
            Output::Margin | Output::Values => numbers,
            Output::Probabilities => numbers.chunks(2).map(|p| p[1]).collect(),
            Output::Scores => numbers.chunks(2).map(|s| s[1] - s[0]).collect(),
        })
    }

    /// The log odds of the second of two classes, for each row, where its probabilities are made of such.
    pub fn log_odds(&self, features: &Features) -> Result<Option<Vec<f64>>> {
        let margins = match &self.columns {
            None => self.fitted.margins(features)?,
            Some(columns) => self.fitted.margins(&some_columns(features, columns)?)?,
        };
        Ok(margins.filter(|(_, width)| *width == 1).map(|(margins, _)| margins))
    }

    /// The learner's own part of the model.
    pub fn fitted(&self) -> &dyn Fitted {
        &*self.fitted
    }

    /// The class that it says for each row.
    pub fn classes(&self, features: &Features, n_classes: usize) -> Result<Vec<u16>> {
        let numbers = self.predict(features)?;
        Ok(match self.output() {
            Output::Margin => numbers.iter().map(|&margin| u16::from(margin > 0.0)).collect(),
            _ => {
                let best = |p: &[f64]| (1..p.len()).fold(0, |best, k| if p[k] > p[best] { k } else { best }) as u16;
                numbers.chunks(n_classes.max(1)).map(best).collect()
            }
        })
    }

    /// It as a tree over all columns of the committee, where it is a single tree whose leaves say what it predicts.
    #[cfg(feature = "trees")]
    pub fn tree(&self) -> Option<Tree> {
        let sum = TreeSum::of_fitted(&*self.fitted)?;
        let [forest] = &sum.forests[..] else { return None };
        if forest.n_trees() != 1 || sum.divisor != 1.0 || sum.link != Link::Identity {
            return None;
        }
        let mut tree = forest.tree(0);
        if let Some(columns) = &self.columns {
            tree.test.iter_mut().for_each(|test| test.rename(|own| columns[own as usize]));
        }
        Some(tree)
    }

    /// The columns it was trained on; `None` for all.
    pub fn columns(&self) -> Option<&[u32]> {
        self.columns.as_deref()
    }

    /// It as a model of its own, for a committee over this estimator.
    pub fn part(&self, header: &Header, estimator: &Estimator) -> Result<(Header, Sections)> {
        let mut sections = Sections::default();
        self.fitted.save(&mut sections)?;
        let mut own = header.clone();
        own.learner.clone_from(&self.learner);
        own.params = estimator.params.iter().cloned().collect();
        if let Some(columns) = &self.columns {
            own.schema.features = columns.iter().map(|&c| header.schema.features[c as usize].clone()).collect();
        }
        let because = format!("it is a part of a model of {}", header.learner);
        own.certificate.proofs = vec![Proof::Nothing { because }];
        own.certificate.notes.clear();
        Ok((own, sections))
    }

    /// Writes it.
    pub fn save(&self, sections: &mut Sections) -> Result<()> {
        sections.put_json("learner", &self.learner)?;
        sections.put_json("columns", &self.columns)?;
        sections.within("part", |sections| self.fitted.save(sections))
    }

    /// Reads it.
    pub fn load(sections: &Sections, header: &Header, load: LoadPart) -> Result<Member> {
        let learner: String = sections.json("learner")?;
        let columns: Option<Vec<u32>> = sections.json("columns")?;
        let mut own = header.clone();
        if let Some(columns) = &columns {
            let spec = |&c: &u32| header.schema.features.get(c as usize).cloned();
            own.schema.features =
                columns.iter().map(spec).collect::<Option<_>>().ok_or_else(|| {
                    Error::model_file("a member of a committee has a column that the model doesn't have")
                })?;
        }
        own.learner.clone_from(&learner);
        let fitted = load(&learner, &sections.part("part"), &own)?;
        Ok(Member { learner, columns, fitted: fitted.into(), status: Status::Done })
    }
}

/// How the training of a whole ended whose parts ended like this: it hasn't converged where one of them hasn't.
pub fn worst_of<'a>(parts: impl IntoIterator<Item = &'a Status>) -> Status {
    let (mut n_parts, mut n_stopped, mut first) = (0, 0, None);
    for status in parts {
        n_parts += 1;
        if let Status::Limit(which) = status {
            n_stopped += 1;
            first = first.or(Some(which));
        }
    }
    match first {
        None => Status::Done,
        Some(which) if n_parts == 1 => Status::Limit(which.clone()),
        Some(which) => {
            Status::Limit(format!("{which} (the first of {n_stopped} parts of {n_parts} that did not converge)"))
        }
    }
}

/// How the training of members ended.
pub fn status(members: &[Member]) -> Status {
    worst_of(members.iter().map(Member::status))
}

/// The members as one list of trees, where each is one, their predictions changed by `say` (the number of the member, what a node of its tree predicts).
#[cfg(feature = "trees")]
pub fn forest(members: &[Member], say: impl Fn(usize, &mut [f64])) -> Option<Forest> {
    let mut trees = members.iter().map(Member::tree).collect::<Option<Vec<Tree>>>()?;
    let width = trees.first()?.width;
    let mut forest = Forest::new(width);
    for (t, tree) in trees.iter_mut().enumerate() {
        tree.value.chunks_mut(width).for_each(|value| say(t, value));
        forest.push(tree);
    }
    Some(forest)
}

/// Writes members one after the other.
pub fn save(members: &[Member], sections: &mut Sections) -> Result<()> {
    sections.put_json("n_members", &members.len())?;
    members.iter().enumerate().try_for_each(|(t, member)| sections.within(t, |sections| member.save(sections)))
}

/// Reads members.
pub fn load(sections: &Sections, header: &Header, load: LoadPart) -> Result<Vec<Member>> {
    let n: usize = sections.json("n_members")?;
    (0..n).map(|t| Member::load(&sections.part(t), header, load)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_ends_as_its_worst_part_does() {
        let (done, stopped) = (Status::Done, Status::Limit("7 steps".into()));
        assert_eq!(worst_of([&done, &done]), Status::Done);
        assert_eq!(worst_of([]), Status::Done);
        assert_eq!(worst_of([&stopped]), stopped);
        let Status::Limit(said) = worst_of([&done, &stopped, &Status::Limit("9 steps".into())]) else { panic!() };
        assert!(said.starts_with("7 steps") && said.contains("2 parts of 3"), "{said}");
    }
}
