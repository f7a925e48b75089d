//! The members of an ensemble: models trained by bagging, boosting and the reductions.

use super::estimator::Estimator;
use ermine_core::error::{Error, Result};
use ermine_core::learner::{Context, Learner, fit};
use ermine_core::matrix::{Dataset, FeatureSpec, Features};
#[cfg(feature = "trees")]
use ermine_core::model::Link;
use ermine_core::model::{Fitted, Header, Output, Proof, Status};
use ermine_core::progress::PartObserver;
use ermine_core::section::Sections;
use ermine_core::table::{Column, ColumnKind, Table};
#[cfg(feature = "trees")]
use ermine_trees::ensemble::TreeSum;
#[cfg(feature = "trees")]
use ermine_trees::tree::{Forest, Tree};
use std::sync::Arc;

/// Reads a fitted model from its sections, given the name of its learner. The registry passes this function, so that the reductions don't depend on it.
pub type LoadFitted = fn(&str, &Sections, &Header) -> Result<Box<dyn Fitted>>;

/// A member of an ensemble. Ensembles may share it.
#[derive(Clone)]
pub struct Member {
    learner: String,
    /// The columns that it was trained on; `None` for all.
    columns: Option<Vec<u32>>,
    fitted: Arc<dyn Fitted>,
    /// How its training ended; `Done` for members read from a file.
    status: Status,
}

/// A column of numbers that a reduction adds to the features.
pub fn numeric_feature(name: String) -> FeatureSpec {
    let (kind, levels, open) = (ColumnKind::Numeric, Vec::new(), false);
    FeatureSpec { name, kind, levels, open, notation: Default::default(), range: None }
}

/// Selects columns of the features; the selection of rows is kept.
pub fn select_columns(features: &Features, columns: &[u32]) -> Result<Features> {
    let chosen: Vec<Column> = columns.iter().map(|&c| features.columns()[c as usize].clone()).collect();
    let n_rows = chosen.first().map_or(0, Column::len);
    let table = Features::new(Arc::new(Table::of_columns(chosen, n_rows)));
    features.rows().map_or(Ok(table.clone()), |rows| table.select(rows))
}

impl Member {
    /// Trains a member. It stops when the observer of the ensemble stops the training. Of its certificate only the status is kept.
    pub fn train(
        learner: &dyn Learner,
        data: &Dataset,
        columns: Option<Vec<u32>>,
        seed: u64,
        context: &Context<'_>,
    ) -> Result<Member> {
        let observer = &PartObserver(context.observer);
        let own = Context { seed, observer, ..Context::new(context.registry) };
        let model = match &columns {
            None => fit(learner, data, &own)?,
            Some(columns) => {
                let features = select_columns(data.features(), columns)?;
                let selected = Dataset::from_parts(features, data.target().clone(), data.task())?;
                fit(learner, &selected.with_weight(data.weight().map(<[f64]>::to_vec))?, &own)?
            }
        };
        // The name in the header differs from the learner's if `fit` wrapped the learner in a reduction.
        let (learner, status) = (model.header().learner.clone(), model.certificate().status.clone());
        Ok(Member { learner, columns, fitted: model.into_fitted(), status })
    }

    /// The name of its learner.
    pub fn learner(&self) -> &str {
        &self.learner
    }

    /// The numbers that its probabilities are computed from, and how many there are for each row; `None` if it has none.
    pub fn margins(&self, features: &Features) -> Result<Option<(Vec<f64>, usize)>> {
        match &self.columns {
            None => self.fitted.margins(features),
            Some(columns) => self.fitted.margins(&select_columns(features, columns)?),
        }
    }

    /// Whether the model reads categories as text.
    pub fn reads_text(&self) -> bool {
        self.fitted.reads_text()
    }

    /// How its training ended.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// The kind of its outputs.
    pub fn output(&self) -> Output {
        self.fitted.output()
    }

    /// Its outputs for each row.
    pub fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        match &self.columns {
            None => self.fitted.predict(features),
            Some(columns) => self.fitted.predict(&select_columns(features, columns)?),
        }
    }

    /// The score of the second of two classes, for each row: a probability if the model has them, else a signed margin.
    pub fn positive_scores(&self, features: &Features) -> Result<Vec<f64>> {
        let numbers = self.predict(features)?;
        Ok(match self.output() {
            Output::Margin | Output::Values => numbers,
            Output::Probabilities => numbers.chunks(2).map(|p| p[1]).collect(),
            Output::Scores => numbers.chunks(2).map(|s| s[1] - s[0]).collect(),
        })
    }

    /// The log odds of the second of two classes, for each row; `None` if the model does not compute its probabilities from them.
    pub fn log_odds(&self, features: &Features) -> Result<Option<Vec<f64>>> {
        Ok(self.margins(features)?.filter(|(_, width)| *width == 1).map(|(margins, _)| margins))
    }

    /// The fitted model.
    pub fn fitted(&self) -> &dyn Fitted {
        &*self.fitted
    }

    /// The predicted class of each row.
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

    /// The member as a tree over all columns of the ensemble; `None` if it is not a single tree whose leaves are its predictions.
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

    /// The columns that it was trained on; `None` for all.
    pub fn columns(&self) -> Option<&[u32]> {
        self.columns.as_deref()
    }

    /// The header and the sections of the member as a model file, for an ensemble over this estimator.
    pub fn part(&self, header: &Header, estimator: &Estimator) -> Result<(Header, Sections)> {
        let mut sections = Sections::default();
        self.fitted.save(&mut sections)?;
        let mut own = header.clone();
        own.learner.clone_from(&self.learner);
        own.params = estimator.params.iter().cloned().collect();
        if let Some(columns) = &self.columns {
            own.schema.features = columns.iter().map(|&c| header.schema.features[c as usize].clone()).collect();
        }
        let because = format!("it is a member of a {} model", header.learner);
        own.certificate.proofs = vec![Proof::Nothing { because }];
        own.certificate.notes.clear();
        Ok((own, sections))
    }

    /// Writes the member to a model file.
    pub fn save(&self, sections: &mut Sections) -> Result<()> {
        sections.put_json("learner", &self.learner)?;
        sections.put_json("columns", &self.columns)?;
        sections.within("part", |sections| self.fitted.save(sections))
    }

    /// Reads the member from a model file.
    pub fn load(sections: &Sections, header: &Header, load: LoadFitted) -> Result<Member> {
        let learner: String = sections.json("learner")?;
        let columns: Option<Vec<u32>> = sections.json("columns")?;
        let mut own = header.clone();
        if let Some(columns) = &columns {
            let spec = |&c: &u32| header.schema.features.get(c as usize).cloned();
            own.schema.features = columns.iter().map(spec).collect::<Option<_>>().ok_or_else(|| {
                Error::model_file("a member of the ensemble has a column that the model doesn't have")
            })?;
        }
        own.learner.clone_from(&learner);
        let fitted = load(&learner, &sections.part("part"), &own)?;
        Ok(Member { learner, columns, fitted: fitted.into(), status: Status::Done })
    }
}

/// The status of a model made of several: not converged if one of them has not converged.
pub fn combined_status<'a>(members: impl IntoIterator<Item = &'a Status>) -> Status {
    let (mut n_members, mut n_stopped, mut first) = (0, 0, None);
    for status in members {
        n_members += 1;
        if let Status::Limit(which) = status {
            n_stopped += 1;
            first = first.or(Some(which));
        }
    }
    match first {
        None => Status::Done,
        Some(which) if n_members == 1 => Status::Limit(which.clone()),
        Some(which) => Status::Limit(format!(
            "{which} (the first of {n_stopped} models, out of {n_members}, that did not converge)"
        )),
    }
}

/// The combined status of the members.
pub fn status(members: &[Member]) -> Status {
    combined_status(members.iter().map(Member::status))
}

/// The members as one forest, with `adjust(index of the member, prediction)` applied to the prediction of each node; `None` if a member is not a single tree.
#[cfg(feature = "trees")]
pub fn forest(members: &[Member], adjust: impl Fn(usize, &mut [f64])) -> Option<Forest> {
    let mut trees = members.iter().map(Member::tree).collect::<Option<Vec<Tree>>>()?;
    let width = trees.first()?.width;
    let mut forest = Forest::new(width);
    for (t, tree) in trees.iter_mut().enumerate() {
        tree.value.chunks_mut(width).for_each(|value| adjust(t, value));
        forest.push(tree);
    }
    Some(forest)
}

/// Writes the members to a model file.
pub fn save(members: &[Member], sections: &mut Sections) -> Result<()> {
    sections.put_json("n_members", &members.len())?;
    members.iter().enumerate().try_for_each(|(t, member)| sections.within(t, |sections| member.save(sections)))
}

/// Reads the members from a model file.
pub fn load(sections: &Sections, header: &Header, load: LoadFitted) -> Result<Vec<Member>> {
    let n: usize = sections.json("n_members")?;
    (0..n).map(|t| Member::load(&sections.part(t), header, load)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_member_that_did_not_converge_decides_the_status() {
        let (done, stopped) = (Status::Done, Status::Limit("7 steps".into()));
        assert_eq!(combined_status([&done, &done]), Status::Done);
        assert_eq!(combined_status([]), Status::Done);
        assert_eq!(combined_status([&stopped]), stopped);
        let Status::Limit(limit) = combined_status([&done, &stopped, &Status::Limit("9 steps".into())]) else {
            panic!()
        };
        assert!(limit.starts_with("7 steps") && limit.contains("2 models, out of 3"), "{limit}");
    }
}
