//! Rows of a request: values in the order of the model's inputs, read from JSON without an intermediate tree.
//!
//! A row is an object with a key for each column, or an array in the order of the columns. What is missing (`null`, or no key) is missing to the model. Unknown columns and
//! categories are noted, and refused unless the request allows them.

use crate::error::ApiError;
use crate::model::{Input, Reader, ServedModel};
use crate::options::{Options, Unknown};
use ermine_core::error::did_you_mean;
use ermine_core::memory;
use ermine_core::table::{ColumnKind, Notation};
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
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
    absent: Vec<usize>,
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

    /// Starts a row with nothing in it.
    fn start_row(&mut self, width: usize) {
        self.values.resize(self.values.len() + width, f64::NAN);
        self.n_rows += 1;
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

    fn unknown_column(&mut self, name: &str, row: usize) {
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

/// Every so many rows, the memory they need is checked.
const CHECKED_ROWS: usize = 1 << 14;

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

/// Reads the JSON body of a prediction request: an array of rows, or an object with `rows` (or `instances`) and options.
pub fn read_body(
    model: &ServedModel,
    text: &[u8],
    max_rows: usize,
    options: &mut Options,
) -> Result<RequestRows, ApiError> {
    let mut reading = Reading { model, rows: RequestRows::new(model), max_rows, fault: None };
    let mut json = serde_json::Deserializer::from_slice(text);
    let found = BodySeed { reading: &mut reading, options }.deserialize(&mut json);
    match found.and_then(|found| json.end().map(|()| found)) {
        Ok(true) => Ok(reading.rows),
        Ok(false) => {
            let message = "expected {\"rows\": [...]} or an array of rows; \"rows\" is missing";
            Err(ApiError::bad_request("missing_rows", message))
        }
        Err(error) => Err(reading.fault.take().unwrap_or_else(|| invalid_json(&error))),
    }
}

/// The error for text that isn't JSON, or isn't of the expected form.
pub fn invalid_json(error: &serde_json::Error) -> ApiError {
    let mut api = ApiError::bad_request("invalid_json", format!("the body is not the expected JSON: {error}"));
    api.body.line = Some(error.line() as u64).filter(|line| *line > 0);
    api
}

/// The state while a body is read. A fault that has more to say than an error of the JSON reader is kept here.
struct Reading<'m> {
    model: &'m ServedModel,
    rows: RequestRows,
    max_rows: usize,
    fault: Option<ApiError>,
}

impl Reading<'_> {
    fn fail<E: de::Error>(&mut self, error: ApiError) -> E {
        self.fault = Some(error);
        E::custom("")
    }

    fn start_row<E: de::Error>(&mut self) -> Result<(), E> {
        if self.rows.n_rows >= self.max_rows {
            let message =
                format!("more than the {} rows that a request may have; send several requests", self.max_rows);
            return Err(self.fail(ApiError::too_large("too_many_rows", message)));
        }
        let (n_rows, width) = (self.rows.n_rows, self.model.inputs.len());
        // A row of JSON may be far shorter than what it becomes.
        if n_rows % CHECKED_ROWS == CHECKED_ROWS - 1
            && let Err(error) = require_memory(2 * n_rows, width)
        {
            return Err(self.fail(error));
        }
        self.rows.start_row(width);
        Ok(())
    }

    /// Puts a cell into the row that was started last.
    fn put<E: de::Error>(&mut self, place: usize, cell: &RequestCell<'_>) -> Result<(), E> {
        let (input, row) = (&self.model.inputs[place], self.rows.n_rows - 1);
        match self.rows.encode(place, input, row, cell) {
            Ok(number) => {
                let width = self.model.inputs.len();
                self.rows.values[row * width + place] = number;
                Ok(())
            }
            Err(error) => Err(self.fail(error)),
        }
    }
}

/// The body as a whole; whether it has rows.
struct BodySeed<'r, 'm> {
    reading: &'r mut Reading<'m>,
    options: &'r mut Options,
}

impl<'de> DeserializeSeed<'de> for BodySeed<'_, '_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for BodySeed<'_, '_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of rows, or an object with \"rows\"")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, rows: A) -> Result<bool, A::Error> {
        RowsSeed(self.reading).visit_seq(rows).map(|()| true)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let mut found = false;
        while let Some(key) =
            map.next_key_seed(TextSeed(|key: &str| Field::named(key).ok_or_else(|| key.to_string())))?
        {
            match key {
                Ok(Field::Rows) if found => return Err(de::Error::duplicate_field("rows")),
                Ok(Field::Rows) => {
                    map.next_value_seed(RowsSeed(self.reading))?;
                    found = true;
                }
                Ok(Field::Probabilities) => self.options.probabilities = map.next_value()?,
                Ok(Field::RawScores) => self.options.raw_scores = map.next_value()?,
                Ok(Field::Contributions) => self.options.contributions = map.next_value()?,
                Ok(Field::Unknown) => self.options.unknown = map.next_value()?,
                Ok(Field::Quantiles) => self.options.quantiles = map.next_value()?,
                Ok(Field::Ignored) => drop(map.next_value::<IgnoredAny>()?),
                Err(key) => {
                    let message = format!(
                        "unknown field \"{key}\": expected \"rows\", \"probabilities\", \"quantiles\", \"raw_scores\", \"contributions\" or \"unknown\" (a single row is sent as {{\"rows\": [{{...}}]}})"
                    );
                    return Err(self.reading.fail(ApiError::bad_request("unknown_field", message)));
                }
            }
        }
        Ok(found)
    }
}

/// The fields of a body.
enum Field {
    Rows,
    Probabilities,
    Quantiles,
    RawScores,
    Contributions,
    Unknown,
    Ignored,
}

impl Field {
    fn named(name: &str) -> Option<Field> {
        Some(match name {
            // KServe calls rows instances.
            "rows" | "instances" => Field::Rows,
            "probabilities" => Field::Probabilities,
            "quantiles" => Field::Quantiles,
            "raw_scores" => Field::RawScores,
            "contributions" => Field::Contributions,
            "unknown" => Field::Unknown,
            // Clients of TensorFlow Serving send it.
            "signature_name" => Field::Ignored,
            _ => return None,
        })
    }
}

/// A string that is looked at where it lies.
struct TextSeed<F>(F);

impl<'de, T, F: FnOnce(&str) -> T> DeserializeSeed<'de> for TextSeed<F> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<T, F: FnOnce(&str) -> T> Visitor<'_> for TextSeed<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        Ok(self.0(text))
    }
}

/// An array of rows.
struct RowsSeed<'r, 'm>(&'r mut Reading<'m>);

impl<'de> DeserializeSeed<'de> for RowsSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for RowsSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<(), A::Error> {
        while rows.next_element_seed(RowSeed(self.0))?.is_some() {}
        Ok(())
    }
}

/// A row: an object, or an array.
struct RowSeed<'r, 'm>(&'r mut Reading<'m>);

impl<'de> DeserializeSeed<'de> for RowSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// Where a key of a row belongs.
enum Key {
    Input(usize),
    Accepted,
    Unknown,
}

impl<'de> Visitor<'de> for RowSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row: an object with a key for each column, or an array in the order of the columns")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let reading = self.0;
        reading.start_row()?;
        let model = reading.model;
        let row = reading.rows.n_rows - 1;
        // Keys nearly always come in the order of the schema.
        let mut expected = 0;
        let mut n_found = 0;
        let mut seen: Vec<bool> = Vec::new();
        loop {
            let rows = &mut reading.rows;
            let key = map.next_key_seed(TextSeed(|name: &str| match model.inputs.get(expected) {
                Some(input) if input.name == name => Key::Input(expected),
                _ => match model.input(name) {
                    Some(place) => Key::Input(place),
                    None if model.accepts(name) => Key::Accepted,
                    None => {
                        rows.unknown_column(name, row);
                        Key::Unknown
                    }
                },
            }))?;
            match key {
                None => break,
                Some(Key::Input(place)) => {
                    if place != expected || !seen.is_empty() {
                        if seen.is_empty() {
                            seen = vec![false; model.inputs.len()];
                            seen[..expected].fill(true);
                        }
                        if std::mem::replace(&mut seen[place], true) {
                            let name = &model.inputs[place].name;
                            let message = format!("row {row} has column '{name}' twice");
                            let error = ApiError::bad_request("duplicate_column", message);
                            return Err(reading.fail(error.at_row(row).in_column(name)));
                        }
                    }
                    expected = place + 1;
                    n_found += 1;
                    map.next_value_seed(CellSeed { reading, place })?;
                }
                Some(Key::Accepted | Key::Unknown) => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        if n_found < model.inputs.len() {
            let is_seen = |place: usize| if seen.is_empty() { place < expected } else { seen[place] };
            (0..model.inputs.len()).filter(|&place| !is_seen(place)).for_each(|place| reading.rows.absent[place] += 1);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut cells: A) -> Result<(), A::Error> {
        let reading = self.0;
        reading.start_row()?;
        let (width, row) = (reading.model.inputs.len(), reading.rows.n_rows - 1);
        let mut n = 0;
        while n < width && cells.next_element_seed(CellSeed { reading, place: n })?.is_some() {
            n += 1;
        }
        while n >= width && cells.next_element::<IgnoredAny>()?.is_some() {
            n += 1;
        }
        if n != width {
            let message = format!("row {row} has {n} values; model '{}' has {width} columns", reading.model.name);
            return Err(reading.fail(ApiError::bad_request("wrong_width", message).at_row(row)));
        }
        Ok(())
    }
}

/// A cell, which goes to its place in the row.
struct CellSeed<'r, 'm> {
    reading: &'r mut Reading<'m>,
    place: usize,
}

impl<'de> DeserializeSeed<'de> for CellSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl CellSeed<'_, '_> {
    fn nested<E: de::Error>(self, what: &str) -> E {
        let (name, row) = (&self.reading.model.inputs[self.place].name, self.reading.rows.n_rows - 1);
        let message =
            format!("row {row}, column '{name}': expected a number, a string, true, false or null, found {what}");
        self.reading.fail(ApiError::bad_request("wrong_type", message).at_row(row).in_column(name))
    }
}

impl<'de> Visitor<'de> for CellSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a string, true, false or null")
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<(), E> {
        self.reading.put(self.place, &RequestCell::Number(number))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<(), E> {
        self.reading.put(self.place, &RequestCell::Int(number))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<(), E> {
        let cell = i64::try_from(number).map_or(RequestCell::Number(number as f64), RequestCell::Int);
        self.reading.put(self.place, &cell)
    }

    fn visit_bool<E: de::Error>(self, truth: bool) -> Result<(), E> {
        self.reading.put(self.place, &RequestCell::Bool(truth))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
        self.reading.put(self.place, &RequestCell::Text(text))
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.reading.put(self.place, &RequestCell::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        Err(self.nested("an array"))
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        Err(self.nested("an object"))
    }
}
