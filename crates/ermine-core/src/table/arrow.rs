//! Conversion of Arrow arrays to columns.
//!
//! | in Arrow | in the table |
//! |---|---|
//! | integers, `f64`, decimals | numeric; an integer beyond 2^53 becomes the nearest double |
//! | `f16`, `f32` | numeric in single precision |
//! | booleans | boolean |
//! | strings, dictionaries of strings | nominal: levels sorted by name |
//! | dates | numeric: days since 1970-01-01 |
//! | timestamps | numeric: seconds since 1970-01-01T00:00 (UTC where a zone is given), with fractions |
//! | times, durations | numeric: seconds |
//! | null, NaN | missing |

use super::coded_strings::CodedStrings;
use super::number::number;
use super::piece::{Piece, truth};
use super::read::fault;
use crate::error::Result;
use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_schema::{DataType, TimeUnit};

const SECONDS_PER_DAY: f64 = 86_400.0;

/// Whether values of this type are supported.
pub(super) fn is_readable(kind: &DataType) -> bool {
    use DataType::*;
    match kind {
        Dictionary(_, values) => is_readable(values) && !matches!(**values, Dictionary(..)),
        Null | Boolean | Utf8 | LargeUtf8 | Utf8View | Date32 | Date64 | Timestamp(..) | Time32(_) | Time64(_)
        | Duration(_) => true,
        Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..) => true,
        other => other.is_numeric(),
    }
}

impl Piece {
    /// An empty column of this type.
    pub(super) fn new(kind: &DataType) -> Self {
        match kind {
            DataType::Float32 | DataType::Float16 => Piece::F32(Vec::new()),
            DataType::Boolean => Piece::Truths(CodedStrings::default()),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Piece::CodedStrings(CodedStrings::default()),
            DataType::Dictionary(_, values) => Piece::new(values),
            _ => Piece::F64(Vec::new()),
        }
    }

    /// Appends the rows of an array.
    pub(super) fn push_array(&mut self, array: &dyn Array) -> Result<()> {
        if let DataType::Dictionary(_, values) = array.data_type() {
            let mut piece = Piece::new(values);
            let dictionary = array.as_any_dictionary();
            piece.push_array(dictionary.values())?;
            // A dictionary without values has no keys to normalize: all rows are missing.
            let empty = dictionary.values().is_empty();
            let keys = if empty { vec![0; array.len()] } else { dictionary.normalized_keys() };
            self.push_picked(&piece, keys.iter().enumerate().map(|(row, &key)| (!array.is_null(row)).then_some(key)));
            return Ok(());
        }
        match self {
            Piece::F64(values) => push_numbers(values, array),
            Piece::F32(values) => {
                push_singles(values, array);
                Ok(())
            }
            Piece::Truths(words) => {
                array.as_boolean().iter().for_each(|x| words.push(x.map(truth)));
                Ok(())
            }
            Piece::CodedStrings(words) => {
                push_words(words, array);
                Ok(())
            }
        }
    }
}

fn push_words(words: &mut CodedStrings, array: &dyn Array) {
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().iter().for_each(|text| words.push(text.map(str::as_bytes))),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().for_each(|text| words.push(text.map(str::as_bytes))),
        _ => array.as_string_view().iter().for_each(|text| words.push(text.map(str::as_bytes))),
    }
}

fn push_singles(values: &mut Vec<f32>, array: &dyn Array) {
    if array.data_type() == &DataType::Float16 {
        values.extend(array.as_primitive::<Float16Type>().iter().map(|x| x.map_or(f32::NAN, f32::from)));
    } else {
        values.extend(array.as_primitive::<Float32Type>().iter().map(|x| x.unwrap_or(f32::NAN)));
    }
}

fn seconds(unit: &TimeUnit) -> f64 {
    match unit {
        TimeUnit::Second => 1.0,
        TimeUnit::Millisecond => 1e3,
        TimeUnit::Microsecond => 1e6,
        TimeUnit::Nanosecond => 1e9,
    }
}

/// Appends numbers, each divided by `unit`.
fn extend<T: ArrowPrimitiveType>(
    values: &mut Vec<f64>,
    array: &dyn Array,
    unit: f64,
    number: impl Fn(T::Native) -> f64,
) {
    values.extend(array.as_primitive::<T>().iter().map(|x| x.map_or(f64::NAN, |x| number(x) / unit)));
}

fn push_numbers(values: &mut Vec<f64>, array: &dyn Array) -> Result<()> {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    match array.data_type() {
        DataType::Null => values.resize(values.len() + array.len(), f64::NAN),
        DataType::Int8 => extend::<Int8Type>(values, array, 1.0, f64::from),
        DataType::Int16 => extend::<Int16Type>(values, array, 1.0, f64::from),
        DataType::Int32 => extend::<Int32Type>(values, array, 1.0, f64::from),
        DataType::Int64 => extend::<Int64Type>(values, array, 1.0, |x| x as f64),
        DataType::UInt8 => extend::<UInt8Type>(values, array, 1.0, f64::from),
        DataType::UInt16 => extend::<UInt16Type>(values, array, 1.0, f64::from),
        DataType::UInt32 => extend::<UInt32Type>(values, array, 1.0, f64::from),
        DataType::UInt64 => extend::<UInt64Type>(values, array, 1.0, |x| x as f64),
        DataType::Float64 => extend::<Float64Type>(values, array, 1.0, |x| x),
        DataType::Date32 => extend::<Date32Type>(values, array, 1.0, f64::from),
        DataType::Date64 => extend::<Date64Type>(values, array, SECONDS_PER_DAY * 1e3, |x| x as f64),
        DataType::Timestamp(unit, _) => match unit {
            Second => extend::<TimestampSecondType>(values, array, seconds(unit), |x| x as f64),
            Millisecond => extend::<TimestampMillisecondType>(values, array, seconds(unit), |x| x as f64),
            Microsecond => extend::<TimestampMicrosecondType>(values, array, seconds(unit), |x| x as f64),
            Nanosecond => extend::<TimestampNanosecondType>(values, array, seconds(unit), |x| x as f64),
        },
        DataType::Duration(unit) => match unit {
            Second => extend::<DurationSecondType>(values, array, seconds(unit), |x| x as f64),
            Millisecond => extend::<DurationMillisecondType>(values, array, seconds(unit), |x| x as f64),
            Microsecond => extend::<DurationMicrosecondType>(values, array, seconds(unit), |x| x as f64),
            Nanosecond => extend::<DurationNanosecondType>(values, array, seconds(unit), |x| x as f64),
        },
        DataType::Time32(Millisecond) => extend::<Time32MillisecondType>(values, array, 1e3, f64::from),
        DataType::Time32(_) => extend::<Time32SecondType>(values, array, 1.0, f64::from),
        DataType::Time64(Nanosecond) => extend::<Time64NanosecondType>(values, array, 1e9, |x| x as f64),
        DataType::Time64(_) => extend::<Time64MicrosecondType>(values, array, 1e6, |x| x as f64),
        DataType::Decimal32(..) => decimals::<Decimal32Type>(values, array),
        DataType::Decimal64(..) => decimals::<Decimal64Type>(values, array),
        DataType::Decimal128(..) => decimals::<Decimal128Type>(values, array),
        DataType::Decimal256(..) => decimals::<Decimal256Type>(values, array),
        other => return Err(fault(None, None, format!("values of type {other} can't be read"))),
    }
    Ok(())
}

/// By way of their text, which is rounded once.
fn decimals<T: DecimalType>(values: &mut Vec<f64>, array: &dyn Array) {
    let array = array.as_primitive::<T>();
    let value = |row: usize| {
        if array.is_null(row) { f64::NAN } else { number(array.value_as_string(row).as_bytes()).unwrap_or(f64::NAN) }
    };
    values.extend((0..array.len()).map(value));
}
