//! A model as the server holds it: with everything that a request needs prepared.

use crate::error::ApiError;
use crate::metrics::ModelMetrics;
use crate::queue::RequestBatch;
use ermine_core::error::Result;
use ermine_core::matrix::{Schema, Task};
use ermine_core::model::{Model, Output, Predictor};
use ermine_core::table::{Column, ColumnKind, ColumnType, Levels, MISSING, Notation, Table};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// More rows are predicted by a worker.
pub const SMALL_ROWS: usize = 64;
/// So many walks through a tree take about a millisecond.
const DIRECT_WALKS: usize = 1 << 14;

/// A model that is served.
pub struct ServedModel {
    /// Its name in URLs.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The model.
    pub model: Model,
    /// What a row consists of, in this order.
    pub inputs: Vec<Input>,
    by_name: HashMap<String, usize>,
    /// Columns that a table may have beside the inputs: target and query group.
    accepted: HashSet<String>,
    /// For rows whose inputs are exactly the features of the model.
    pub predictor: Option<Predictor>,
    /// Up to so many rows are predicted where the request is read, because that takes so little time.
    pub direct_rows: usize,
    /// The classes as JSON values, and as keys of a JSON object (with the colon).
    pub labels: Vec<ClassText>,
    /// Its counters.
    pub metrics: ModelMetrics,
    /// Small requests that wait to be predicted together.
    pub batch: RequestBatch,
}

/// A class as it is written in a response.
pub struct ClassText {
    /// The class as a JSON value, of the type that it had in the training data.
    pub value: String,
    /// The class as the key of an object, and a colon.
    pub key: String,
}

/// One value of a row.
pub struct Input {
    /// Its column.
    pub name: String,
    /// Its kind.
    pub kind: ColumnKind,
    /// How its text becomes a number.
    pub reader: Reader,
}

/// How a value is read.
pub enum Reader {
    /// A number, or text in this notation.
    Number(Notation),
    /// One of these categories.
    Category(Arc<Levels>),
    /// Any text.
    Text,
}

impl ServedModel {
    /// Prepares a model for requests.
    pub fn new(name: String, version: String, model: Model, metrics: ModelMetrics) -> ServedModel {
        let schema = model.schema();
        let inputs = inputs_of(&model);
        let by_name = inputs.iter().enumerate().map(|(j, input)| (input.name.clone(), j)).collect();
        let is_direct = inputs.len() == schema.features.len()
            && inputs.iter().all(|input| !matches!(input.reader, Reader::Text))
            && !model.is_relative();
        let predictor = is_direct.then(|| model.predictor().ok()).flatten();
        let trees = model.own().tree_ensemble().filter(|_| predictor.is_some());
        let direct_rows = trees.map_or(0, |trees| (DIRECT_WALKS / trees.n_trees().max(1)).clamp(1, SMALL_ROWS));
        let accepted = schema.target.iter().chain(&schema.group).cloned().collect();
        let labels = class_texts(schema);
        ServedModel {
            name,
            version,
            inputs,
            by_name,
            accepted,
            predictor,
            direct_rows,
            labels,
            metrics,
            model,
            batch: RequestBatch::default(),
        }
    }

    /// What it expects and predicts.
    pub fn schema(&self) -> &Schema {
        self.model.schema()
    }

    /// The place of an input in a row.
    pub fn input(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// Whether a column is no input, but may be there.
    pub fn accepts(&self, name: &str) -> bool {
        self.accepted.contains(name)
    }

    /// Whether it predicts probabilities.
    pub fn has_probabilities(&self) -> bool {
        self.model.output() == Output::Probabilities
    }

    /// The table of some rows, whose values stand one after the other. `texts` are those of inputs of any text.
    pub fn table(&self, values: &[f64], n_rows: usize, texts: &[String]) -> Result<Table> {
        let width = self.inputs.len();
        let levels = Arc::new(Levels::new(texts.iter().cloned()));
        let column = |(j, input): (usize, &Input)| {
            let cells = (0..n_rows).map(|row| values[row * width + j]);
            let code = |x: f64| if x.is_nan() { MISSING } else { x as u32 };
            match &input.reader {
                Reader::Number(notation) => {
                    Column { notation: notation.clone(), ..Column::numeric(&input.name, cells.collect::<Vec<f64>>()) }
                }
                Reader::Category(levels) => {
                    Column::coded(&input.name, input.kind, cells.map(code).collect::<Vec<u32>>(), levels.clone())
                }
                Reader::Text => {
                    let codes = cells.map(code).collect::<Vec<u32>>();
                    Column::coded(&input.name, ColumnKind::Nominal, codes, levels.clone())
                }
            }
        };
        Ok(Table::of_columns(self.inputs.iter().enumerate().map(column).collect(), n_rows))
    }

    /// The error for an option that this model can't fulfill.
    pub fn lacks(&self, what: &str) -> ApiError {
        let learner = &self.model.header().learner;
        ApiError::bad_request("unsupported", format!("model '{}' ({learner}) has no {what}", self.name))
    }
}

/// The features that a client sends (parts of dates are made from the dates), and the query group where it matters.
fn inputs_of(model: &Model) -> Vec<Input> {
    let schema = model.schema();
    let sent = schema.features.iter().filter(|feature| !matches!(feature.notation, Notation::DatePart { .. }));
    let mut inputs: Vec<Input> = sent
        .map(|feature| {
            let reader = match feature.kind {
                ColumnKind::Numeric => Reader::Number(feature.notation.clone()),
                _ if feature.open => Reader::Text,
                _ => Reader::Category(Arc::new(Levels::new(feature.levels.iter().cloned()))),
            };
            Input { name: feature.name.clone(), kind: feature.kind, reader }
        })
        .collect();
    if let Some(group) = schema.group.as_ref().filter(|_| model.is_relative()) {
        inputs.push(Input { name: group.clone(), kind: ColumnKind::Nominal, reader: Reader::Text });
    }
    inputs
}

fn key_of(name: &str) -> String {
    format!("{}:", serde_json::Value::from(name))
}

fn class_texts(schema: &Schema) -> Vec<ClassText> {
    let is_plain = schema.task == Task::Classification
        && matches!(schema.target_type(), Some(ColumnType::Numeric | ColumnType::Boolean));
    let text = |class: &String| {
        let quoted = serde_json::Value::from(class.as_str()).to_string();
        let is_json = is_plain && serde_json::from_str::<serde_json::Value>(class).is_ok();
        ClassText { value: if is_json { class.clone() } else { quoted }, key: key_of(class) }
    };
    schema.classes.iter().map(text).collect()
}
