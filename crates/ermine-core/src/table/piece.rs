//! Some rows of a column, as readers of columnar formats gather them.

use super::Column;
use super::infer::{column_of_words, retype_numbers};
use super::read::{ColumnType, fault};
use super::words::Words;
use crate::error::Result;

/// Some rows of a column.
pub(super) enum Piece {
    F64(Vec<f64>),
    F32(Vec<f32>),
    /// `true` and `false`.
    Truths(Words),
    Words(Words),
}

impl Piece {
    /// The column of these rows, of the type that was declared for it.
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
            Piece::Words(words) => column_of_words(name, words, Some(wanted.unwrap_or(&ColumnType::Nominal))),
        }
    }

    /// How many rows.
    #[cfg(any(feature = "ipc", feature = "parquet"))]
    pub(super) fn len(&self) -> usize {
        match self {
            Piece::F64(values) => values.len(),
            Piece::F32(values) => values.len(),
            Piece::Truths(words) | Piece::Words(words) => words.codes.len(),
        }
    }

    /// Appends the values of `piece` at the places given; a place that is not there is missing.
    #[cfg(feature = "arrow")]
    pub(super) fn push_picked(&mut self, piece: &Piece, places: impl Iterator<Item = Option<usize>>) {
        match (self, piece) {
            (Piece::F64(values), Piece::F64(from)) => {
                values.extend(places.map(|place| place.and_then(|k| from.get(k)).copied().unwrap_or(f64::NAN)));
            }
            (Piece::F32(values), Piece::F32(from)) => {
                values.extend(places.map(|place| place.and_then(|k| from.get(k)).copied().unwrap_or(f32::NAN)));
            }
            (Piece::Truths(words), Piece::Truths(from)) | (Piece::Words(words), Piece::Words(from)) => {
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

/// How a truth value is written among words.
pub(super) fn truth(value: bool) -> &'static [u8] {
    if value { b"true" } else { b"false" }
}

/// The decoders take some damaged data for sound and then panic on a broken promise; to the caller that is an error.
pub(super) fn guarded<T>(format: &str, read: impl FnOnce() -> Result<T>) -> Result<T> {
    // What was under construction when a panic struck is dropped unseen, so nothing half-made can be observed.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(fault(None, None, format!("not readable as {format}: it is damaged"))))
}
