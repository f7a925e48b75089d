//! Some rows of a column, collected by the readers of columnar formats.

use super::Column;
#[cfg(feature = "parquet")]
use super::Notation;
use super::coded_strings::CodedStrings;
use super::infer::{column_of_words, retype_numbers};
use super::read::{ColumnType, fault};
use crate::error::Result;

/// Some rows of a column.
pub(super) enum Piece {
    F64(Vec<f64>),
    F32(Vec<f32>),
    /// `true` and `false`.
    Truths(CodedStrings),
    CodedStrings(CodedStrings),
}

impl Piece {
    /// Converts to a column of the declared type.
    pub(super) fn column(self, name: String, wanted: Option<&ColumnType>) -> Result<Column> {
        match self {
            Piece::F64(mut values) => {
                values.shrink_to_fit();
                retype_numbers(Column::numeric(name, values), wanted)
            }
            Piece::F32(mut values) => {
                values.shrink_to_fit();
                retype_numbers(Column::numeric_f32(name, values), wanted)
            }
            Piece::Truths(words) => column_of_words(name, words, Some(wanted.unwrap_or(&ColumnType::Boolean))),
            Piece::CodedStrings(words) => column_of_words(name, words, Some(wanted.unwrap_or(&ColumnType::Nominal))),
        }
    }

    /// Converts to a column of a file with dates: those of the format (`natural`), and texts that are all dates.
    #[cfg(feature = "parquet")]
    pub(super) fn column_of_file(self, name: String, wanted: Option<&ColumnType>, natural: Notation) -> Result<Column> {
        match (&self, wanted) {
            (Piece::CodedStrings(words), None) if are_dates(words) => self.column(name, Some(&ColumnType::Date)),
            (Piece::F64(_), None | Some(ColumnType::Date)) => {
                Ok(Column { notation: natural, ..self.column(name, None)? })
            }
            _ => Ok(self.column(name, wanted)?.in_unit_of(&natural)),
        }
    }

    /// How many rows.
    #[cfg(any(feature = "ipc", feature = "parquet"))]
    pub(super) fn len(&self) -> usize {
        match self {
            Piece::F64(values) => values.len(),
            Piece::F32(values) => values.len(),
            Piece::Truths(words) | Piece::CodedStrings(words) => words.codes.len(),
        }
    }

    /// Appends the values of `piece` at the given positions; `None` is missing.
    #[cfg(feature = "arrow")]
    pub(super) fn push_picked(&mut self, piece: &Piece, places: impl Iterator<Item = Option<usize>>) {
        match (self, piece) {
            (Piece::F64(values), Piece::F64(from)) => {
                values.extend(places.map(|place| place.and_then(|k| from.get(k)).copied().unwrap_or(f64::NAN)));
            }
            (Piece::F32(values), Piece::F32(from)) => {
                values.extend(places.map(|place| place.and_then(|k| from.get(k)).copied().unwrap_or(f32::NAN)));
            }
            (Piece::Truths(words), Piece::Truths(from)) | (Piece::CodedStrings(words), Piece::CodedStrings(from)) => {
                let mut codes = Vec::new();
                codes.extend(
                    places.map(|place| place.and_then(|k| from.codes.get(k)).copied().unwrap_or(super::MISSING)),
                );
                words.append_codes(&from.dictionary, &codes);
            }
            _ => {}
        }
    }
}

/// Whether all texts are dates, and not all the same.
#[cfg(feature = "parquet")]
fn are_dates(words: &CodedStrings) -> bool {
    let names: Vec<String> = (0..words.dictionary.len()).map(|number| words.dictionary.text(number)).collect();
    names.len() > 1 && Notation::of_dates(names.iter().map(String::as_str)).is_some()
}

/// A boolean as text.
pub(super) fn truth(value: bool) -> &'static [u8] {
    if value { b"true" } else { b"false" }
}

/// Turns a panic of a decoder on damaged data into an error.
pub(super) fn guarded<T>(format: &str, read: impl FnOnce() -> Result<T>) -> Result<T> {
    // Values under construction are dropped during a panic, so no partial state can be observed.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(fault(None, None, format!("not readable as {format}: it is damaged"))))
}
