//! Answers to requests: predictions and what the options add, as JSON or as columns of a table.

use crate::error::ApiError;
use crate::model::ServedModel;
use crate::options::Options;
use crate::rows::{RequestRows, Warning};
use ermine_core::matrix::{Features, Task};
use ermine_core::memory;
use ermine_core::model::{Output, Prediction, ShapValues};
use ermine_core::table::{Column, Table};

/// Up to so many rows are predicted one by one, which is faster for few rows.
const FEW_ROWS: usize = 16;

/// Predictions for some rows.
pub struct Answer {
    /// The predictions.
    pub prediction: Prediction,
    /// Raw scores, row by row, and how many for each row.
    pub raw_scores: Option<(Vec<f64>, usize)>,
    /// Quantiles, row by row, one for each level.
    pub quantiles: Option<Vec<f64>>,
    /// Contributions of the columns.
    pub contributions: Option<ShapValues>,
}

/// Predicts rows.
pub fn answer_rows(model: &ServedModel, rows: &RequestRows, options: &Options) -> Result<Answer, ApiError> {
    check_options(model, options)?;
    if let Some(predictor) = model.predictor.as_ref().filter(|_| options.is_plain() && rows.n_rows <= FEW_ROWS) {
        let prediction = predictor.predict_rows(&rows.values)?;
        return Ok(Answer { prediction, raw_scores: None, quantiles: None, contributions: None });
    }
    answer_table(model, &model.table(&rows.values, rows.n_rows, &rows.texts)?, options)
}

/// Predicts the rows of a table that has all inputs of the model.
pub fn answer_table(model: &ServedModel, table: &Table, options: &Options) -> Result<Answer, ApiError> {
    check_options(model, options)?;
    require_memory(model, table.n_rows(), options)?;
    let prediction = model.model.predict(table)?;
    let mut answer = Answer { prediction, raw_scores: None, quantiles: None, contributions: None };
    if options.is_plain() {
        return Ok(answer);
    }
    let features = model.schema().features_of(table)?;
    if options.raw_scores {
        answer.raw_scores = Some(raw_scores(model, &features, &answer.prediction)?);
    }
    if !options.quantiles.is_empty() {
        answer.quantiles = Some(model.model.quantiles(&features, &options.quantiles)?);
    }
    if options.contributions {
        answer.contributions = Some(model.model.shap_of(&features)?);
    }
    Ok(answer)
}

/// Refuses what the model can't do, before any work is done.
fn check_options(model: &ServedModel, options: &Options) -> Result<(), ApiError> {
    options.check()?;
    if options.probabilities && !model.has_probabilities() {
        return Err(model.lacks("probabilities"));
    }
    Ok(())
}

/// Refuses rows whose answer doesn't fit into memory: a short row may have a long answer.
fn require_memory(model: &ServedModel, n_rows: usize, options: &Options) -> Result<(), ApiError> {
    /// A number, and the same as text.
    const NUMBER: usize = 8 + 24;
    let schema = model.schema();
    let width = schema.classes.len().max(schema.n_outputs).max(1);
    let mut bytes = NUMBER * (width + options.quantiles.len());
    if options.raw_scores {
        bytes += NUMBER * width;
    }
    if options.probabilities {
        bytes += model.labels.iter().map(|label| label.key.len()).sum::<usize>();
    }
    if options.contributions {
        bytes += schema.features.iter().map(|feature| feature.name.len() + NUMBER * width).sum::<usize>();
    }
    let what = || format!("the answer for {n_rows} rows");
    Ok(memory::require(what, &[n_rows, bytes], "send fewer rows at a time")?)
}

/// The margins of the model; or its numbers, where these are scores themselves.
fn raw_scores(
    model: &ServedModel,
    features: &Features,
    prediction: &Prediction,
) -> Result<(Vec<f64>, usize), ApiError> {
    match model.model.own().margins(features)? {
        Some(margins) => Ok(margins),
        None if prediction.output() == Output::Probabilities => Err(model.lacks("raw scores")),
        None => Ok((prediction.values().to_vec(), prediction.width())),
    }
}

/// The names of the fields of a response, which differ between protocols.
#[derive(Debug, Clone, Copy)]
pub enum Fields {
    /// `/models/{name}/predict`: with the name and version of the model.
    Rows,
    /// KServe's `:predict`.
    V1,
    /// KServe's `:explain`, where contributions are called explanations.
    V1Explain,
}

impl Answer {
    /// The response as JSON.
    pub fn json(&self, model: &ServedModel, options: &Options, fields: Fields, warnings: &[Warning]) -> Vec<u8> {
        let n_rows = self.prediction.n_rows();
        let mut out = Vec::with_capacity(128 + 32 * n_rows);
        out.push(b'{');
        if matches!(fields, Fields::Rows) {
            push(&mut out, "\"model\":");
            push_text(&mut out, &model.name);
            push(&mut out, ",\"version\":");
            push_text(&mut out, &model.version);
            out.push(b',');
        }
        push(&mut out, "\"predictions\":");
        list(&mut out, n_rows, |out, row| self.write_prediction(out, model, row));
        if options.probabilities {
            push(&mut out, ",\"probabilities\":");
            list(&mut out, n_rows, |out, row| {
                object(out, model.labels.iter().map(|label| label.key.as_str()), self.prediction.row(row));
            });
        }
        if let Some((scores, width)) = &self.raw_scores {
            push(&mut out, ",\"raw_scores\":");
            list(&mut out, n_rows, |out, row| numbers(out, &scores[row * width..(row + 1) * width]));
        }
        if let Some(quantiles) = &self.quantiles {
            let keys: Vec<String> = options.quantiles.iter().map(|level| format!("\"{level}\":")).collect();
            push(&mut out, ",\"quantiles\":");
            list(&mut out, n_rows, |out, row| {
                object(out, keys.iter().map(String::as_str), &quantiles[row * keys.len()..]);
            });
        }
        if let Some(shap) = &self.contributions {
            let name = if matches!(fields, Fields::V1Explain) { "explanations" } else { "contributions" };
            push(&mut out, &format!(",\"{name}\":"));
            write_contributions(&mut out, model, shap);
            push(&mut out, ",\"base_values\":");
            numbers(&mut out, &shap.expected);
        }
        if !warnings.is_empty() {
            push(&mut out, ",\"warnings\":");
            out.extend_from_slice(&serde_json::to_vec(warnings).unwrap_or_default());
        }
        out.push(b'}');
        out
    }

    fn write_prediction(&self, out: &mut Vec<u8>, model: &ServedModel, row: usize) {
        match self.prediction.task() {
            Task::Classification => push(out, &model.labels[self.prediction.class(row)].value),
            Task::Multilabel => {
                let has: Vec<usize> =
                    (0..model.labels.len()).filter(|&label| self.prediction.has(row, label)).collect();
                list(out, has.len(), |out, i| push(out, &model.labels[has[i]].value));
            }
            Task::Regression | Task::Ranking => match self.prediction.row(row) {
                [number] => push_number(out, *number),
                several => numbers(out, several),
            },
        }
    }

    /// The answer as columns of a table.
    pub fn table(&self, model: &ServedModel, options: &Options) -> Result<Table, ApiError> {
        let n_rows = self.prediction.n_rows();
        let mut columns = self.prediction.columns(model.schema(), options.probabilities);
        let strided = |values: &[f64], k: usize, width: usize| {
            (0..n_rows).map(|row| values[row * width + k]).collect::<Vec<f64>>()
        };
        if let Some((scores, width)) = &self.raw_scores {
            columns.extend((0..*width).map(|k| Column::numeric(format!("raw_score_{k}"), strided(scores, k, *width))));
        }
        if let Some(quantiles) = &self.quantiles {
            let width = options.quantiles.len();
            let levels = options.quantiles.iter().enumerate();
            columns.extend(
                levels.map(|(k, level)| Column::numeric(format!("quantile_{level}"), strided(quantiles, k, width))),
            );
        }
        if let Some(shap) = &self.contributions {
            let width = shap.n_columns * shap.n_outputs;
            for (j, feature) in model.schema().features.iter().enumerate() {
                for k in 0..shap.n_outputs {
                    let end = if shap.n_outputs > 1 { format!("_{k}") } else { String::new() };
                    let values = strided(&shap.values, j * shap.n_outputs + k, width);
                    columns.push(Column::numeric(format!("contribution_{}{end}", feature.name), values));
                }
            }
        }
        Ok(Table::new(columns)?)
    }
}

/// For each row an object with a number, or a list of numbers, for each column.
fn write_contributions(out: &mut Vec<u8>, model: &ServedModel, shap: &ShapValues) {
    let keys: Vec<String> =
        model.schema().features.iter().map(|f| format!("{}:", serde_json::Value::from(f.name.as_str()))).collect();
    list(out, shap.n_rows, |out, row| {
        out.push(b'{');
        for (column, key) in keys.iter().enumerate() {
            if column > 0 {
                out.push(b',');
            }
            push(out, key);
            match shap.get(row, column) {
                [number] => push_number(out, *number),
                several => numbers(out, several),
            }
        }
        out.push(b'}');
    });
}

fn push(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

/// Writes a string as JSON.
pub fn push_text(out: &mut Vec<u8>, text: &str) {
    // Writing to a vector can't fail.
    let _ = serde_json::to_writer(out, text);
}

/// Writes a number as JSON, which has no infinities and no NaN.
pub fn push_number(out: &mut Vec<u8>, number: f64) {
    if number.is_finite() { push(out, ryu::Buffer::new().format_finite(number)) } else { push(out, "null") }
}

fn list(out: &mut Vec<u8>, n: usize, mut write: impl FnMut(&mut Vec<u8>, usize)) {
    out.push(b'[');
    for i in 0..n {
        if i > 0 {
            out.push(b',');
        }
        write(out, i);
    }
    out.push(b']');
}

/// Writes a list of numbers as JSON.
pub fn numbers(out: &mut Vec<u8>, numbers: &[f64]) {
    list(out, numbers.len(), |out, i| push_number(out, numbers[i]));
}

fn object<'a>(out: &mut Vec<u8>, keys: impl Iterator<Item = &'a str>, numbers: &[f64]) {
    out.push(b'{');
    for (i, (key, &number)) in keys.zip(numbers).enumerate() {
        if i > 0 {
            out.push(b',');
        }
        push(out, key);
        push_number(out, number);
    }
    out.push(b'}');
}
