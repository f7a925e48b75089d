//! The fitted form of nearest neighbours: the index, the answers of its rows, and the rules of the vote.

use crate::error::{Error, Result};
use crate::matrix::{Encoder, Features, Schema, Target};
use crate::model::{Attribute, Fitted, Header, Output};
use crate::neighbor::index::Index;
use crate::neighbor::rows::Rows;
use crate::neighbor::vote::{Search, Tie, Vote, mean};
use crate::neighbor::weight::Weights;
use crate::section::Sections;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Larger numbers are brought down to this: the square of their difference must stay finite.
const LARGEST: f64 = 1e150;

/// How rows of features become rows of numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RowForm {
    /// Encoded, with nothing missing.
    Encoded(Encoder),
    /// As they are: categories as codes, missing values as NaN.
    Raw,
}

impl RowForm {
    /// All rows, one after the other, and how many numbers each has: at least one.
    pub(super) fn rows(&self, features: &Features) -> (Vec<f64>, usize) {
        let (n, width) = (features.n_rows(), self.width(features.n_columns()));
        let mut out = vec![0.0; n * width];
        match self {
            RowForm::Encoded(encoder) if encoder.n_columns() > 0 => encoder.encode_rows(features, 0..n, &mut out),
            RowForm::Encoded(_) => {}
            RowForm::Raw => {
                for column in 0..width {
                    let values = features.numbers(column);
                    out.iter_mut().skip(column).step_by(width).zip(values).for_each(|(to, v)| *to = v);
                }
            }
        }
        out.iter_mut().for_each(|v| *v = v.clamp(-LARGEST, LARGEST));
        (out, width)
    }

    /// Numbers in a row. Columns without a single value are encoded as nothing; all rows are then equal.
    fn width(&self, n_columns: usize) -> usize {
        match self {
            RowForm::Encoded(encoder) => encoder.n_columns().max(1),
            RowForm::Raw => n_columns,
        }
    }
}

/// What the training rows answered.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answers {
    Classes { codes: Vec<u32>, n_classes: usize },
    Values { values: Vec<f64>, n_outputs: usize },
}

impl Answers {
    pub(super) fn of(target: &Target) -> Answers {
        match target {
            Target::Classes { codes, labels } => Answers::Classes { codes: codes.clone(), n_classes: labels.len() },
            Target::Values { values, n_outputs } => Answers::Values { values: values.clone(), n_outputs: *n_outputs },
        }
    }

    pub(super) fn select(&self, rows: &[u32]) -> Answers {
        match self {
            Answers::Classes { codes, n_classes } => {
                let codes = rows.iter().map(|&r| codes[r as usize]).collect();
                Answers::Classes { codes, n_classes: *n_classes }
            }
            Answers::Values { values, n_outputs } => {
                let values = rows.iter().flat_map(|&r| values[r as usize * n_outputs..][..*n_outputs].to_vec());
                Answers::Values { values: values.collect(), n_outputs: *n_outputs }
            }
        }
    }
}

/// How neighbours become a prediction.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Rules {
    pub(super) k: usize,
    pub(super) radius: Option<f64>,
    pub(super) weights: Weights,
    pub(super) tie: Tie,
}

/// The training rows in an index, their answers and the rules of the vote.
pub struct NeighborModel {
    pub(super) form: RowForm,
    pub(super) index: Index,
    /// The rows by another metric, for ties.
    pub(super) other: Option<Index>,
    pub(super) rules: Rules,
    pub(super) answers: Answers,
}

/// The neighbours of one query, for a tie that needs more of them.
struct Asked<'a> {
    model: &'a NeighborModel,
    query: &'a [f64],
}

impl Asked<'_> {
    fn search(&self, index: &Index, k: usize) -> Result<Vec<(f64, u32)>> {
        let found = index.kneighbors(&Rows::row_major(self.query, self.query.len())?, k)?;
        Ok(found.distances(0).iter().copied().zip(found.rows(0).iter().copied()).collect())
    }
}

impl Search for Asked<'_> {
    fn nearest(&self, k: usize) -> Result<Vec<(f64, u32)>> {
        self.search(&self.model.index, k)
    }

    fn nearest_otherwise(&self, k: usize) -> Result<Vec<(f64, u32)>> {
        self.search(self.model.other.as_ref().unwrap_or(&self.model.index), k)
    }
}

/// The same for a training row, which is not its own neighbour.
pub(super) struct LeftOut<'a> {
    asked: Asked<'a>,
    row: u32,
}

impl<'a> LeftOut<'a> {
    pub(super) fn boxed(model: &'a NeighborModel, query: &'a [f64], row: u32) -> Box<dyn Search + 'a> {
        Box::new(LeftOut { asked: Asked { model, query }, row })
    }

    fn others(&self, mut found: Vec<(f64, u32)>, k: usize) -> Vec<(f64, u32)> {
        found.retain(|f| f.1 != self.row);
        found.truncate(k);
        found
    }
}

impl Search for LeftOut<'_> {
    fn nearest(&self, k: usize) -> Result<Vec<(f64, u32)>> {
        Ok(self.others(self.asked.nearest(k + 1)?, k))
    }

    fn nearest_otherwise(&self, k: usize) -> Result<Vec<(f64, u32)>> {
        Ok(self.others(self.asked.nearest_otherwise(k + 1)?, k))
    }
}

impl NeighborModel {
    /// The index.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// How many neighbours count.
    pub fn k(&self) -> usize {
        self.rules.k
    }

    /// Reads it from a model file.
    pub fn load(sections: &Sections, header: &Header) -> Result<Box<dyn Fitted>> {
        let (form, rules): (RowForm, Rules) = (sections.json("form")?, sections.json("rules")?);
        let index = Index::load(sections)?;
        let other = match rules.tie {
            Tie::OtherMetric => Some(sections.clone().within("other", |s| Index::load(s))?),
            _ => None,
        };
        let output: Output = sections.json("output")?;
        let width = output.width(&header.schema);
        let answers = match output {
            Output::Probabilities => Answers::Classes { codes: sections.u32s("classes")?, n_classes: width },
            _ => Answers::Values { values: sections.f64s("targets")?, n_outputs: width },
        };
        let n_features = header.schema.features.len();
        let encoded = match &form {
            RowForm::Encoded(encoder) => encoder.columns().len() == n_features,
            RowForm::Raw => true,
        };
        let sizes = std::iter::once(&index).chain(&other).all(|index| index.n_features() == form.width(n_features));
        let answered = match &answers {
            Answers::Classes { codes, .. } => codes.len() == index.len() && codes.iter().all(|&c| (c as usize) < width),
            Answers::Values { values, .. } => {
                values.len() == index.len().saturating_mul(width) && values.iter().all(|v| v.is_finite())
            }
        };
        let others = other.as_ref().is_none_or(|other| other.len() == index.len());
        let ruled = rules.k > 0 && rules.k <= index.len() && rules.radius.is_none_or(|r| r > 0.0);
        if !encoded || !sizes || !answered || !others || !ruled || width == 0 || rules.weights.check().is_err() {
            return Err(Error::model_file("the parts of a nearest-neighbours model don't fit together"));
        }
        Ok(Box::new(NeighborModel { form, index, other, rules, answers }))
    }

    /// The prediction from the neighbours of one query.
    fn answer(&self, query: &[f64], rows: &[u32], distances: &[f64], out: &mut [f64]) -> Result<()> {
        // The neighbour after those that count says how wide a kernel is; a radius is its own width.
        let k = if self.rules.radius.is_some() { rows.len() } else { self.rules.k.min(rows.len()) };
        let next = self.rules.radius.or(distances.get(k).copied());
        let (rows, distances) = (&rows[..k], &distances[..k]);
        let Rules { weights, tie, .. } = &self.rules;
        match &self.answers {
            Answers::Values { values, .. } => mean(weights, values, rows, distances, next, out),
            Answers::Classes { codes, n_classes } => {
                let vote = Vote { classes: codes, n_classes: *n_classes, weights, tie };
                out.copy_from_slice(&vote.shares(rows, distances, next)?);
                let class = vote.class(rows, distances, next, &Asked { model: self, query })? as usize;
                // Of level classes the highest share is taken to win: the chosen one gets the last digit more.
                let most = out.iter().copied().fold(0.0, f64::max);
                if out.iter().position(|share| *share == most) != Some(class) {
                    out[class] = most.next_up();
                }
                Ok(())
            }
        }
    }

    /// The answers for rows of numbers, one block after the other.
    fn answers(&self, values: &[f64], width: usize) -> Result<Vec<f64>> {
        let rows = Rows::row_major(values, width)?;
        let found = match self.rules.radius {
            Some(radius) => self.index.radius_neighbors(&rows, radius)?,
            None => self.index.kneighbors(&rows, self.rules.k + usize::from(self.rules.weights.needs_next()))?,
        };
        let n_answers = match &self.answers {
            Answers::Classes { n_classes, .. } => *n_classes,
            Answers::Values { n_outputs, .. } => *n_outputs,
        };
        let mut out = vec![0.0; rows.n_rows() * n_answers];
        let queries = out.par_chunks_mut(n_answers).zip(values.par_chunks(width)).with_min_len(64).enumerate();
        queries.try_for_each(|(i, (out, query))| {
            if found.rows(i).is_empty() {
                let (distance, row) = Asked { model: self, query }.nearest(1)?[0];
                return self.answer(query, &[row], &[distance], out);
            }
            self.answer(query, found.rows(i), found.distances(i), out)
        })?;
        Ok(out)
    }
}

impl Fitted for NeighborModel {
    fn output(&self) -> Output {
        match self.answers {
            Answers::Classes { .. } => Output::Probabilities,
            Answers::Values { .. } => Output::Values,
        }
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        if features.n_rows() == 0 {
            return Ok(Vec::new());
        }
        let (values, width) = self.form.rows(features);
        self.answers(&values, width)
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        sections.put_json("form", &self.form)?;
        sections.put_json("rules", &self.rules)?;
        sections.put_json("output", &self.output())?;
        match &self.answers {
            Answers::Classes { codes, .. } => sections.put_u32s("classes", codes),
            Answers::Values { values, .. } => sections.put_f64s("targets", values),
        }
        if let Some(other) = &self.other {
            sections.within("other", |s| other.save(s))?;
        }
        self.index.save(sections)
    }

    fn text(&self, _: &Schema) -> String {
        let (rules, index) = (&self.rules, &self.index);
        let which = match rules.radius {
            Some(radius) => format!("all rows within {radius}"),
            None => format!("the {} nearest", rules.k),
        };
        format!(
            "{which} of {} training rows decide\n  metric: {:?}\n  weights: {:?}\n  ties: {:?}\n  index: {:?} ({})\n",
            index.len(),
            index.metric(),
            rules.weights,
            rules.tie,
            index.choice().kind,
            index.choice().reason
        )
    }

    fn attributes(&self, _: &Schema) -> Vec<Attribute> {
        let one = |name, value: usize| Attribute { name, shape: Vec::new(), values: vec![value as f64] };
        vec![one("n_neighbors", self.rules.k), one("n_samples_fit", self.index.len())]
    }
}
