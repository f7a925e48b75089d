//! Rows of a request: values in the order of the model's inputs.
//!
//! What is missing is missing to the model. Unknown columns and categories are noted, and refused unless the request allows them.

use crate::error::ApiError;
use crate::model::{Input, Reader, ServedModel};
use crate::options::{Options, Unknown};
use ermine_core::error::did_you_mean;
use ermine_core::memory;
use ermine_core::table::{ColumnKind, Notation};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;
use utoipa::ToSchema;

/// Something about a request that its sender may want to know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Warning {
    /// `missing_column`, `unknown_column` or `unknown_category`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The column.
    pub column: String,
    /// In how many rows.
    pub rows: usize,
    /// What was found and what it counts as.
    pub message: String,
}

/// The first of some unknown names, and their number.
#[derive(Debug, Clone, Default)]
struct Strangers {
    rows: usize,
    first_row: usize,
    example: String,
}

/// Rows of a request.
#[derive(Debug, Default)]
pub struct RequestRows {
    /// The values, row after row; categories by their code, NaN for missing.
    pub values: Vec<f64>,
    /// How many rows.
    pub n_rows: usize,
    /// The texts of inputs of any text, by their code.
    pub texts: Vec<String>,
    codes: HashMap<String, u32>,
    /// In how many rows an input isn't there.
    pub absent: Vec<usize>,
    unknown_columns: Vec<(String, Strangers)>,
    unknown_categories: Vec<(usize, Strangers)>,
}

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestCell<'a> {
    /// Missing.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Number(f64),
    /// A text.
    Text(&'a str),
}

impl fmt::Display for RequestCell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 80;
        match self {
            RequestCell::Null => f.write_str("null"),
            RequestCell::Bool(truth) => write!(f, "{truth}"),
            RequestCell::Int(number) => write!(f, "{number}"),
            RequestCell::Number(number) => write!(f, "{number}"),
            RequestCell::Text(text) if text.chars().count() > MOST => {
                write!(f, "\"{}...\"", text.chars().take(MOST).collect::<String>())
            }
            RequestCell::Text(text) => write!(f, "\"{text}\""),
        }
    }
}

impl RequestRows {
    /// No rows yet.
    pub fn new(model: &ServedModel) -> RequestRows {
        RequestRows { absent: vec![0; model.inputs.len()], ..RequestRows::default() }
    }

    /// Adds rows in which nothing is known yet.
    pub fn add_empty(&mut self, n_rows: usize, width: usize) {
        self.values.resize(self.values.len() + n_rows * width, f64::NAN);
        self.n_rows += n_rows;
    }

    /// Notes that an input is in none of the rows.
    pub fn set_absent(&mut self, input: usize) {
        self.absent[input] = self.n_rows;
    }

    /// The number that stands for a cell.
    pub fn encode(&mut self, place: usize, input: &Input, row: usize, cell: &RequestCell<'_>) -> Result<f64, ApiError> {
        let wrong = |expected: &str| {
            let message = format!("row {row}, column '{}': expected {expected}, found {cell}", input.name);
            ApiError::bad_request("wrong_type", message).at_row(row).in_column(&input.name)
        };
        match (&input.reader, cell) {
            (_, RequestCell::Null) => Ok(f64::NAN),
            (Reader::Number(_), RequestCell::Number(number)) if number.is_infinite() => {
                Err(wrong("a finite number or null"))
            }
            (Reader::Number(_), RequestCell::Number(number)) => Ok(*number),
            (Reader::Number(_), RequestCell::Int(number)) => Ok(*number as f64),
            (Reader::Number(Notation::Plain), _) => Err(wrong("a number or null")),
            (Reader::Number(notation), RequestCell::Text(text)) => {
                notation.read(text).ok_or_else(|| wrong(notation.expected()))
            }
            (Reader::Number(notation), RequestCell::Bool(_)) => Err(wrong(notation.expected())),
            (Reader::Category(levels), cell) => {
                let truth = input.kind == ColumnKind::Boolean;
                let code = match cell {
                    RequestCell::Bool(value) if truth => Some(u32::from(*value)),
                    RequestCell::Int(number @ (0 | 1)) if truth => Some(*number as u32),
                    RequestCell::Number(number) if truth && (*number == 0.0 || *number == 1.0) => Some(*number as u32),
                    RequestCell::Number(number) if number.is_nan() => return Ok(f64::NAN),
                    // Tensors have no null; in files, too, an empty text is missing.
                    RequestCell::Text("") if levels.code("").is_none() => return Ok(f64::NAN),
                    RequestCell::Text(text) => levels.code(text),
                    RequestCell::Bool(value) => levels.code(if *value { "true" } else { "false" }),
                    RequestCell::Int(number) => levels.code(&number.to_string()),
                    RequestCell::Number(number) => levels.code(&number.to_string()),
                    RequestCell::Null => return Ok(f64::NAN),
                };
                Ok(code.map_or_else(|| self.unknown_category(place, row, cell), f64::from))
            }
            (Reader::Text, RequestCell::Text(text)) => Ok(self.text_code(text)),
            (Reader::Text, RequestCell::Number(number)) if number.is_nan() => Ok(f64::NAN),
            (Reader::Text, cell) => Ok(self.text_code(&cell.to_string())),
        }
    }

    fn text_code(&mut self, text: &str) -> f64 {
        if let Some(&code) = self.codes.get(text) {
            return f64::from(code);
        }
        let code = self.texts.len() as u32;
        self.texts.push(text.to_string());
        self.codes.insert(text.to_string(), code);
        f64::from(code)
    }

    fn unknown_category(&mut self, place: usize, row: usize, cell: &RequestCell<'_>) -> f64 {
        match self.unknown_categories.iter_mut().find(|(column, _)| *column == place) {
            Some((_, strangers)) => strangers.rows += 1,
            None => {
                let strangers = Strangers { rows: 1, first_row: row, example: cell.to_string() };
                self.unknown_categories.push((place, strangers));
            }
        }
        f64::NAN
    }

    /// Notes a column that the model doesn't have.
    pub fn unknown_column(&mut self, name: &str, row: usize) {
        const MOST: usize = 100;
        let n_known = self.unknown_columns.len();
        match self.unknown_columns.iter_mut().find(|(column, _)| column == name) {
            Some((_, strangers)) => strangers.rows += 1,
            None if n_known < MOST => {
                let strangers = Strangers { rows: 1, first_row: row, example: String::new() };
                self.unknown_columns.push((name.to_string(), strangers));
            }
            None => {}
        }
    }

    /// Refuses unknown columns and categories, unless they are allowed; returns the warnings otherwise.
    pub fn check(&self, model: &ServedModel, options: &Options) -> Result<Vec<Warning>, ApiError> {
        if options.unknown == Unknown::Error {
            if let Some((name, strangers)) = self.unknown_columns.first() {
                return Err(unknown_column(model, name).at_row(strangers.first_row));
            }
            if let Some((place, strangers)) = self.unknown_categories.first() {
                let input = &model.inputs[*place];
                let known = match &input.reader {
                    Reader::Category(levels) => listed(levels.names()),
                    _ => String::new(),
                };
                let message = format!(
                    "row {}, column '{}': the training data had no category {} (it had: {known}); send null, or ?unknown=warn to treat it as missing",
                    strangers.first_row, input.name, strangers.example
                );
                let error = ApiError::bad_request("unknown_category", message);
                return Err(error.at_row(strangers.first_row).in_column(&input.name));
            }
        }
        let mut warnings: Vec<Warning> = Vec::new();
        for (input, &rows) in model.inputs.iter().zip(&self.absent).filter(|(_, rows)| **rows > 0) {
            warnings.push(missing_column(&input.name, rows));
        }
        for (name, strangers) in &self.unknown_columns {
            warnings.push(ignored_column(name, strangers.rows));
        }
        for (place, strangers) in &self.unknown_categories {
            let message =
                format!("the training data had no category {}; unknown categories count as missing", strangers.example);
            let (kind, column) = ("unknown_category".into(), model.inputs[*place].name.clone());
            warnings.push(Warning { kind, column, rows: strangers.rows, message });
        }
        Ok(warnings)
    }
}

/// Refuses rows that don't fit into memory.
pub fn require_memory(n_rows: usize, width: usize) -> Result<(), ApiError> {
    let what = || format!("a request of {n_rows} rows and {width} columns");
    Ok(memory::require(what, &[n_rows, width, size_of::<f64>()], "send fewer rows at a time, or CSV")?)
}

/// A column that the model doesn't know.
pub fn unknown_column(model: &ServedModel, name: &str) -> ApiError {
    let names: Vec<&str> = model.inputs.iter().map(|input| input.name.as_str()).collect();
    let hint = match did_you_mean(name, &names) {
        Some(close) => format!("did you mean '{close}'?"),
        None => format!("it has: {}", listed(&names)),
    };
    let message =
        format!("model '{}' has no column '{name}': {hint} (?unknown=warn ignores other columns)", model.name);
    ApiError::bad_request("unknown_column", message).in_column(name)
}

/// The warning about a column that isn't there.
pub fn missing_column(name: &str, rows: usize) -> Warning {
    let message = "the column is not in the request; its values count as missing".to_string();
    Warning { kind: "missing_column".into(), column: name.to_string(), rows, message }
}

/// The warning about a column that is ignored.
pub fn ignored_column(name: &str, rows: usize) -> Warning {
    let message = "the model has no such column; it is ignored".to_string();
    Warning { kind: "unknown_column".into(), column: name.to_string(), rows, message }
}

fn listed<S: AsRef<str>>(names: &[S]) -> String {
    const MOST: usize = 12;
    let shown: Vec<&str> = names.iter().take(MOST).map(AsRef::as_ref).collect();
    let more = if names.len() > MOST { ", ..." } else { "" };
    format!("{}{more}", shown.join(", "))
}
