//! The fitted nearest-neighbors model: the index, the targets of its rows, and the voting rules.

use super::map;
use super::space::{EncodedRows, NeighborIndex, RowEncoder};
use crate::search::nearest::Neighbors;
use crate::search::vote::{MoreNeighbors, TieRule, Vote, mean};
use crate::search::weight::NeighborWeights;
use ermine_core::distance::metric::Metric;
use ermine_core::error::{Error, Result};
use ermine_core::matrix::{Dataset, Features, Schema, Target};
use ermine_core::model::{Attribute, Fitted, Header, Model, Output, Proof};
use ermine_core::parallel;
use ermine_core::section::Sections;
use serde::{Deserialize, Serialize};

/// The targets of the training rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum StoredTargets {
    Classes { codes: Vec<u32>, n_classes: usize },
    Values { values: Vec<f64>, n_outputs: usize },
}

impl StoredTargets {
    pub(super) fn of(target: &Target) -> StoredTargets {
        match target {
            Target::Classes { codes, labels } => {
                StoredTargets::Classes { codes: codes.clone(), n_classes: labels.len() }
            }
            Target::Values { values, n_outputs } => {
                StoredTargets::Values { values: values.clone(), n_outputs: *n_outputs }
            }
        }
    }

    pub(super) fn select(&self, rows: &[u32]) -> StoredTargets {
        match self {
            StoredTargets::Classes { codes, n_classes } => {
                let codes = rows.iter().map(|&r| codes[r as usize]).collect();
                StoredTargets::Classes { codes, n_classes: *n_classes }
            }
            StoredTargets::Values { values, n_outputs } => {
                let values = rows.iter().flat_map(|&r| values[r as usize * n_outputs..][..*n_outputs].to_vec());
                StoredTargets::Values { values: values.collect(), n_outputs: *n_outputs }
            }
        }
    }

    /// The targets of new rows in the form of these. An error for an unknown class or another number of outputs.
    fn more(&self, target: &Target, classes: &[String]) -> Result<StoredTargets> {
        match (self, target) {
            (StoredTargets::Classes { n_classes, .. }, Target::Classes { codes, labels }) => {
                let code = |label: &String| {
                    let found = classes.iter().position(|class| class == label);
                    found
                        .map(|code| code as u32)
                        .ok_or_else(|| Error::unknown("class", label, classes.iter().map(String::as_str)))
                };
                let known: Vec<Option<u32>> = labels.iter().map(|label| code(label).ok()).collect();
                let coded = |&c: &u32| known[c as usize].map_or_else(|| code(&labels[c as usize]), Ok);
                let codes = codes.iter().map(coded).collect::<Result<_>>()?;
                Ok(StoredTargets::Classes { codes, n_classes: *n_classes })
            }
            (StoredTargets::Values { n_outputs, .. }, Target::Values { n_outputs: m, .. }) if m == n_outputs => {
                Ok(StoredTargets::of(target))
            }
            _ => Err(Error::data("the target of the new rows differs from that of the training data")),
        }
    }

    fn extend(&mut self, more: &StoredTargets) {
        match (self, more) {
            (StoredTargets::Classes { codes, .. }, StoredTargets::Classes { codes: more, .. }) => {
                codes.extend_from_slice(more)
            }
            (StoredTargets::Values { values, .. }, StoredTargets::Values { values: more, .. }) => {
                values.extend_from_slice(more)
            }
            _ => {}
        }
    }
}

/// How neighbors are combined into a prediction.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct VotingRules {
    /// Number of neighbors.
    pub(super) k: usize,
    pub(super) radius: Option<f64>,
    pub(super) weights: NeighborWeights,
    pub(super) tie: TieRule,
    /// The leave-one-out errors of k = 1, 2, ..., if k was chosen by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) errors: Vec<f64>,
}

/// The training rows in an index, their targets and the voting rules.
pub struct NeighborModel {
    pub(super) reader: RowEncoder,
    pub(super) place: NeighborIndex,
    /// The index of the second metric, for ties.
    pub(super) other: Option<NeighborIndex>,
    pub(super) rules: VotingRules,
    pub(super) answers: StoredTargets,
    /// The training row numbers of the kept rows, if some were dropped.
    pub(super) kept: Option<Vec<u32>>,
}

/// The neighbors of one query, for ties that need more of them.
struct QueryNeighbors<'a> {
    model: &'a NeighborModel,
    queries: &'a EncodedRows,
    which: u32,
}

impl QueryNeighbors<'_> {
    fn search(&self, place: &NeighborIndex, k: usize) -> Result<Vec<(f64, u32)>> {
        let found = place.kneighbors(&self.queries.select(&[self.which]), k)?;
        Ok(found.distances(0).iter().copied().zip(found.rows(0).iter().copied()).collect())
    }
}

impl MoreNeighbors for QueryNeighbors<'_> {
    fn nearest(&self, k: usize) -> Result<Vec<(f64, u32)>> {
        self.search(&self.model.place, k)
    }

    fn nearest_otherwise(&self, k: usize) -> Result<Vec<(f64, u32)>> {
        self.search(self.model.other.as_ref().unwrap_or(&self.model.place), k)
    }
}

/// The same for a training row, which is not its own neighbor.
pub(super) struct LeaveOneOutNeighbors<'a> {
    asked: QueryNeighbors<'a>,
}

impl<'a> LeaveOneOutNeighbors<'a> {
    pub(super) fn boxed(model: &'a NeighborModel, queries: &'a EncodedRows, which: u32) -> Box<dyn MoreNeighbors + 'a> {
        Box::new(LeaveOneOutNeighbors { asked: QueryNeighbors { model, queries, which } })
    }

    fn others(&self, mut found: Vec<(f64, u32)>, k: usize) -> Vec<(f64, u32)> {
        found.retain(|f| f.1 != self.asked.which);
        found.truncate(k);
        found
    }
}

impl MoreNeighbors for LeaveOneOutNeighbors<'_> {
    fn nearest(&self, k: usize) -> Result<Vec<(f64, u32)>> {
        Ok(self.others(self.asked.nearest(k + 1)?, k))
    }

    fn nearest_otherwise(&self, k: usize) -> Result<Vec<(f64, u32)>> {
        Ok(self.others(self.asked.nearest_otherwise(k + 1)?, k))
    }
}

/// For ties that are broken without further neighbors.
struct NoMoreNeighbors;

impl MoreNeighbors for NoMoreNeighbors {
    fn nearest(&self, _: usize) -> Result<Vec<(f64, u32)>> {
        Ok(Vec::new())
    }

    fn nearest_otherwise(&self, _: usize) -> Result<Vec<(f64, u32)>> {
        Ok(Vec::new())
    }
}

impl NeighborModel {
    /// The nearest-neighbors part of a model. An error for other learners.
    pub fn of(model: &Model) -> Result<&NeighborModel> {
        model.fitted().ok_or_else(|| Error::Unsupported {
            learner: model.header().learner.clone(),
            need: "neighbors (only nearest-neighbors models have them)".into(),
        })
    }

    /// Number of rows in the index.
    pub fn n_rows(&self) -> usize {
        self.place.len()
    }

    /// Number of neighbors.
    pub fn k(&self) -> usize {
        self.rules.k.min(self.place.len())
    }

    /// The row number of a kept row in the training data, including rows added later.
    pub fn training_row(&self, row: u32) -> u32 {
        self.kept.as_ref().and_then(|kept| kept.get(row as usize)).copied().unwrap_or(row)
    }

    /// The radius, if it is used instead of k.
    pub fn radius(&self) -> Option<f64> {
        self.rules.radius
    }

    /// The leave-one-out errors of k = 1, 2, ..., if k was chosen by them.
    pub fn leave_one_out_errors(&self) -> &[f64] {
        &self.rules.errors
    }

    /// The class of a row, for classification.
    pub fn class_of(&self, row: u32) -> Option<u32> {
        match &self.answers {
            StoredTargets::Classes { codes, .. } => codes.get(row as usize).copied(),
            StoredTargets::Values { .. } => None,
        }
    }

    /// The targets of a row, for regression.
    pub fn values_of(&self, row: u32) -> Option<&[f64]> {
        match &self.answers {
            StoredTargets::Classes { .. } => None,
            StoredTargets::Values { values, n_outputs } => values.chunks_exact(*n_outputs).nth(row as usize),
        }
    }

    /// The `k` nearest training rows of every row. The features are in the form of the model's schema ([`Schema::features_of`]); rows are numbered as in the training data, or as in the kept rows
    /// if some were dropped ([`NeighborModel::training_row`]).
    pub fn kneighbors(&self, features: &Features, k: usize) -> Result<Neighbors> {
        self.place.kneighbors(&self.reader.read(features)?, k)
    }

    /// The `k` nearest other rows of every training row.
    pub fn own_kneighbors(&self, k: usize) -> Result<Neighbors> {
        self.place.own_kneighbors(k)
    }

    /// All training rows within `radius` of every row (inclusive), nearest first.
    pub fn radius_neighbors(&self, features: &Features, radius: f64) -> Result<Neighbors> {
        self.place.radius_neighbors(&self.reader.read(features)?, radius)
    }

    /// All other training rows within `radius` of every training row.
    pub fn own_radius_neighbors(&self, radius: f64) -> Result<Neighbors> {
        self.place.own_radius_neighbors(radius)
    }

    /// Adds the rows of a data set to a model without rebuilding its index; they are numbered after the existing rows. Encoding, covariance, ranges and k are not changed; the measured recall of an
    /// approximate index no longer applies. Nothing is added if there is an error.
    pub fn add(model: &mut Model, data: &Dataset) -> Result<()> {
        NeighborModel::of(model)?;
        let (header, fitted) = model.parts_mut()?;
        let Some(own) = (fitted as &mut dyn std::any::Any).downcast_mut::<NeighborModel>() else { return Ok(()) };
        if data.weight().is_some() {
            return Err(Error::Unsupported { learner: header.learner.clone(), need: "row weights".into() });
        }
        let features = header.schema.features_of_data(data)?;
        let reader = own.reader.with_categories_of(&features);
        let rows = reader.read(&features)?;
        let answers = own.answers.more(data.target(), &header.schema.classes)?;
        let measured = own.place.recall().is_some();
        own.place.add(&rows)?;
        if let Some(other) = &mut own.other {
            other.add(&rows)?;
        }
        if measured {
            let because =
                "the neighbor search is approximate, and rows were added after its recall was measured".into();
            header.certificate.proofs = vec![Proof::Nothing { because }];
        }
        own.reader = reader;
        own.answers.extend(&answers);
        if let Some(kept) = &mut own.kept {
            kept.extend((header.n_rows..header.n_rows + data.n_rows()).map(|row| row as u32));
        }
        header.n_rows += data.n_rows();
        Ok(())
    }

    /// Loads the model from a file.
    pub fn load(sections: &Sections, header: &Header) -> Result<Box<dyn Fitted>> {
        let (reader, rules): (RowEncoder, VotingRules) = (sections.json("reader")?, sections.json("rules")?);
        let broken = || Error::model_file("the parts of a nearest-neighbors model are inconsistent");
        let n_columns = header.schema.features.len();
        if !reader.reads(n_columns) {
            return Err(broken());
        }
        let place = NeighborIndex::load(sections, &reader, n_columns)?;
        let other = match rules.tie {
            TieRule::OtherMetric => Some(NeighborIndex::load(&sections.part("other"), &reader, n_columns)?),
            _ => None,
        };
        let output: Output = sections.json("output")?;
        let width = output.width(&header.schema);
        let answers = match output {
            Output::Probabilities => StoredTargets::Classes { codes: sections.u32s("classes")?, n_classes: width },
            _ => StoredTargets::Values { values: sections.f64s("targets")?, n_outputs: width },
        };
        let n = place.len();
        let answered = match &answers {
            StoredTargets::Classes { codes, .. } => codes.len() == n && codes.iter().all(|&c| (c as usize) < width),
            StoredTargets::Values { values, .. } => {
                values.len() == n.saturating_mul(width) && values.iter().all(|v| v.is_finite())
            }
        };
        let others = other.as_ref().is_none_or(|other| other.len() == n);
        let kept = if sections.has("kept rows") { Some(sections.u32s("kept rows")?) } else { None };
        let ruled =
            kept.as_ref().is_none_or(|kept| kept.len() == n) && rules.k > 0 && rules.radius.is_none_or(|r| r > 0.0);
        if !answered || !others || !ruled || width == 0 || rules.weights.check().is_err() {
            return Err(broken());
        }
        Ok(Box::new(NeighborModel { reader, place, other, rules, answers, kept }))
    }

    /// The prediction from the neighbors of one query.
    fn answer(
        &self,
        asked: &dyn MoreNeighbors,
        k: usize,
        rows: &[u32],
        distances: &[f64],
        out: &mut [f64],
    ) -> Result<()> {
        // The first neighbor that is not counted determines the kernel width; a radius is its own width.
        let k = if self.rules.radius.is_some() { rows.len() } else { k.min(rows.len()) };
        let next = self.rules.radius.or(distances.get(k).copied());
        let (rows, distances) = (&rows[..k], &distances[..k]);
        let VotingRules { weights, tie, .. } = &self.rules;
        match &self.answers {
            StoredTargets::Values { values, .. } => mean(weights, values, rows, distances, next, out),
            // A fast path for the same result.
            StoredTargets::Classes { codes, .. }
                if matches!((weights, tie), (NeighborWeights::Uniform, TieRule::FirstClass)) =>
            {
                out.fill(0.0);
                rows.iter().for_each(|&row| out[codes[row as usize] as usize] += 1.0);
                out.iter_mut().for_each(|votes| *votes /= k as f64);
                Ok(())
            }
            StoredTargets::Classes { codes, n_classes } => {
                let vote = Vote { classes: codes, n_classes: *n_classes, weights, tie };
                out.copy_from_slice(&vote.shares(rows, distances, next)?);
                let class = vote.class(rows, distances, next, asked)? as usize;
                // The highest share wins, so the chosen class of a tie gets one more unit in the last place.
                let most = out.iter().copied().fold(0.0, f64::max);
                if out.iter().position(|share| *share == most) != Some(class) {
                    out[class] = most.next_up();
                }
                Ok(())
            }
        }
    }

    /// The predictions for several numbers of neighbors, from one search.
    pub(super) fn predict_for(&self, ks: &[usize], features: &Features) -> Result<Vec<Vec<f64>>> {
        let ks: Vec<usize> = ks.iter().map(|&k| k.min(self.place.len())).collect();
        let queries = self.reader.read(features)?;
        let found = self.find(&queries, ks.iter().copied().max().unwrap_or(1))?;
        ks.iter().map(|&k| self.answers(&queries, k, &found)).collect()
    }

    /// The predictions of every row from the rows of other folds, for several numbers of neighbors, from one search.
    pub(super) fn predict_folds(
        &self,
        ks: &[usize],
        fold: &[u32],
        n_folds: usize,
        go_on: &dyn Fn() -> Result<()>,
    ) -> Result<Vec<Vec<Vec<f64>>>> {
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); n_folds];
        fold.iter().enumerate().for_each(|(row, &f)| members[f as usize].push(row as u32));
        let most = ks.iter().copied().max().unwrap_or(1) + usize::from(self.rules.weights.needs_next());
        let found = self.place.neighbors_apart(fold, most, go_on)?;
        let n_answers = self.n_answers();
        let of_fold = |members: &Vec<u32>, k: usize| {
            let mut out = vec![0.0; members.len() * n_answers];
            let others = fold.len() - members.len();
            parallel::try_for_each_row(&mut out, n_answers, |member, out| {
                let row = members[member] as usize;
                let (rows, distances) = (found.rows(row), found.distances(row));
                if rows.is_empty() {
                    return Err(Error::data("the metric returned no valid distances"));
                }
                self.answer(&NoMoreNeighbors, k.min(others), rows, distances, out)
            })?;
            Ok(out)
        };
        members.iter().map(|members| ks.iter().map(|&k| of_fold(members, k)).collect()).collect()
    }

    fn n_answers(&self) -> usize {
        match &self.answers {
            StoredTargets::Classes { n_classes, .. } => *n_classes,
            StoredTargets::Values { n_outputs, .. } => *n_outputs,
        }
    }

    /// The `k` nearest neighbors of the queries, or those within the radius.
    fn find(&self, queries: &EncodedRows, k: usize) -> Result<Neighbors> {
        match self.rules.radius {
            Some(radius) => self.place.radius_neighbors(queries, radius),
            None => self.place.kneighbors(queries, k + usize::from(self.rules.weights.needs_next())),
        }
    }

    /// The predictions for the queries, row by row.
    fn answers(&self, queries: &EncodedRows, k: usize, found: &Neighbors) -> Result<Vec<f64>> {
        let n_answers = self.n_answers();
        let mut out = vec![0.0; queries.len() * n_answers];
        parallel::try_for_each_row(&mut out, n_answers, |i, out| {
            let asked = QueryNeighbors { model: self, queries, which: i as u32 };
            if !found.rows(i).is_empty() {
                return self.answer(&asked, k, found.rows(i), found.distances(i), out);
            }
            let nearest = asked.nearest(1)?;
            let (distance, row) =
                nearest.first().copied().ok_or_else(|| Error::data("the metric returned no valid distances"))?;
            self.answer(&asked, k, &[row], &[distance], out)
        })?;
        Ok(out)
    }

    /// An error if the model contains custom functions, which can't be saved.
    fn check_writable(&self) -> Result<()> {
        let own_metric =
            matches!(&self.place, NeighborIndex::Rows(index) if matches!(index.metric(), Metric::Custom(_)));
        if own_metric || matches!(self.rules.weights, NeighborWeights::Own(_)) {
            let what = if own_metric { "metric" } else { "weights" };
            let need = format!("saving a model with custom {what}: a function can't be saved");
            return Err(Error::Unsupported { learner: "nearest-neighbors".into(), need });
        }
        Ok(())
    }
}

impl Fitted for NeighborModel {
    fn output(&self) -> Output {
        match self.answers {
            StoredTargets::Classes { .. } => Output::Probabilities,
            StoredTargets::Values { .. } => Output::Values,
        }
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        if features.n_rows() == 0 {
            return Ok(Vec::new());
        }
        Ok(self.predict_for(&[self.rules.k], features)?.pop().unwrap_or_default())
    }

    fn reads_text(&self) -> bool {
        matches!(self.reader, RowEncoder::Text | RowEncoder::Raw { .. })
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        self.check_writable()?;
        sections.put_json("reader", &self.reader)?;
        sections.put_json("rules", &self.rules)?;
        sections.put_json("output", &self.output())?;
        match &self.answers {
            StoredTargets::Classes { codes, .. } => sections.put_u32s("classes", codes),
            StoredTargets::Values { values, .. } => sections.put_f64s("targets", values),
        }
        if let Some(kept) = &self.kept {
            sections.put_u32s("kept rows", kept);
        }
        if let Some(other) = &self.other {
            sections.within("other", |s| other.save(s))?;
        }
        self.place.save(sections)
    }

    fn text(&self, _: &Schema) -> String {
        let (rules, place) = (&self.rules, &self.place);
        let which = match rules.radius {
            Some(radius) => format!("all rows within {radius}"),
            None => format!("the {} nearest", self.k()),
        };
        let (n, metric, choice) = (place.len(), place.metric(), place.choice());
        format!(
            "{which} of {n} training rows decide\n  metric: {metric}\n  weights: {:?}\n  ties: {}\n  index: {choice}\n",
            rules.weights,
            rules.tie.description()
        )
    }

    fn svg(&self, schema: &Schema) -> Option<String> {
        map::svg(self, schema)
    }

    fn attributes(&self, _: &Schema) -> Vec<Attribute> {
        let mut all = vec![
            Attribute::integer("n_neighbors", self.k(), "Number of neighbors."),
            Attribute::integer("n_samples_fit", self.place.len(), "Number of training rows that are kept."),
        ];
        let doc = "Share of the true neighbors that the approximate index finds, measured on training rows.";
        all.extend(self.place.recall().map(|recall| Attribute::number("recall", recall, doc)));
        if let Some(kept) = &self.kept {
            let values = kept.iter().map(|&row| f64::from(row)).collect();
            let doc = "Row numbers of the training rows that are kept, if ``keep`` drops some.";
            all.push(Attribute::vector("kept_rows", values, "(n_samples_fit_,)", doc));
        }
        if !self.rules.errors.is_empty() {
            let doc = "Leave-one-out error for each number of neighbors from 1 up, if ``max_neighbors`` is set.";
            let errors = self.rules.errors.clone();
            all.push(Attribute::vector("leave_one_out_errors", errors, "(max_neighbors,)", doc));
        }
        all
    }
}
