//! JSON rows, read without an intermediate tree.
//!
//! A row is an object with a key for each column, or an array in the order of the columns. `null` and absent keys are missing values.

use crate::error::ApiError;
use crate::model::ServedModel;
use crate::options::Options;
use crate::rows::{RequestCell, RequestRows, require_memory};
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Every so many rows, the memory they need is checked.
const CHECKED_ROWS: usize = 1 << 14;

/// Reads the JSON body of a prediction request: an array of rows, or an object with `rows` (or `instances`) and options.
pub fn read_body(
    model: &ServedModel,
    text: &[u8],
    max_rows: usize,
    options: &mut Options,
) -> Result<RequestRows, ApiError> {
    if text.trim_ascii_start().first().is_some_and(|byte| !b"[{".contains(byte)) {
        let message = "the body is not JSON: expected {\"rows\": [...]} or an array of rows; to send CSV, add the header `Content-Type: text/csv`";
        return Err(ApiError::bad_request("invalid_json", message));
    }
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
        self.rows.add_empty(1, width);
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

/// Which inputs an object has had so far.
#[derive(Default)]
struct SeenInputs {
    /// Where the next key belongs if the keys come in the order of the schema, as they nearly always do.
    next: usize,
    /// Whether each input was seen; empty as long as all inputs before `next` were, and no others.
    marks: Vec<bool>,
}

impl SeenInputs {
    /// Notes an input; false if it was seen before.
    fn is_first(&mut self, place: usize, n_inputs: usize) -> bool {
        if self.marks.is_empty() && place != self.next {
            self.marks = vec![false; n_inputs];
            self.marks[..self.next].fill(true);
        }
        self.next = place + 1;
        self.marks.is_empty() || !std::mem::replace(&mut self.marks[place], true)
    }

    /// The inputs that were not seen.
    fn absent(&self, n_inputs: usize) -> impl Iterator<Item = usize> {
        let is_seen = |place: usize| if self.marks.is_empty() { place < self.next } else { self.marks[place] };
        (0..n_inputs).filter(move |&place| !is_seen(place))
    }
}

impl<'de> Visitor<'de> for RowSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row: an object with a key for each column, or an array in the order of the columns")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let reading = self.0;
        reading.start_row()?;
        let (model, row) = (reading.model, reading.rows.n_rows - 1);
        let mut seen = SeenInputs::default();
        loop {
            let rows = &mut reading.rows;
            let key = map.next_key_seed(TextSeed(|name: &str| match model.inputs.get(seen.next) {
                Some(input) if input.name == name => Key::Input(seen.next),
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
                Some(Key::Input(place)) if seen.is_first(place, model.inputs.len()) => {
                    map.next_value_seed(CellSeed { reading, place })?;
                }
                Some(Key::Input(place)) => {
                    let name = &model.inputs[place].name;
                    let error =
                        ApiError::bad_request("duplicate_column", format!("row {row} has column '{name}' twice"));
                    return Err(reading.fail(error.at_row(row).in_column(name)));
                }
                Some(Key::Accepted | Key::Unknown) => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        seen.absent(model.inputs.len()).for_each(|place| reading.rows.absent[place] += 1);
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
