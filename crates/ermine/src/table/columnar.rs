//! Parquet and Arrow IPC files (file and stream format).
//!
//! | in the file | in the table |
//! |---|---|
//! | integers, `f64`, decimals | numeric; an integer beyond 2^53 becomes the nearest double |
//! | `f16`, `f32` | numeric in single precision |
//! | booleans | boolean |
//! | strings, dictionaries of strings | nominal: levels that occur, sorted by name |
//! | dates | numeric: days since 1970-01-01 |
//! | timestamps | numeric: seconds since 1970-01-01T00:00 (UTC where a zone is given), with fractions |
//! | times, durations | numeric: seconds |
//! | null, NaN | missing |
//!
//! Other types are errors that name the column, unless it is ignored; ignored columns of Parquet files are not even decoded.
//! Row groups of Parquet files are decoded on all threads, a few at a time, and appended in order.

#[cfg(test)]
mod tests;

use super::infer::{column_of_words, retype_numbers};
use super::number::number;
use super::read::{ColumnType, ReadOptions, check_types, fault};
use super::source::check_file;
use super::words::Words;
use super::{Column, MAX_ROWS, MISSING, Table};
use crate::error::{Error, Result};
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{DataType, Schema, TimeUnit};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use rayon::prelude::*;
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

const BATCH_ROWS: usize = 1 << 14;
const SECONDS_PER_DAY: f64 = 86_400.0;

/// Reads a Parquet file.
pub fn read_parquet(path: &Path, options: &ReadOptions) -> Result<Table> {
    check_file(path)?;
    guarded("Parquet", || decode_parquet(path, options))
}

/// Reads an Arrow IPC file or stream.
pub fn read_ipc(path: &Path, options: &ReadOptions) -> Result<Table> {
    check_file(path)?;
    guarded("Arrow IPC", || decode_ipc(path, options))
}

/// The decoders take some damaged files for sound and then panic on a broken promise; to the caller that is an error.
fn guarded(format: &str, read: impl FnOnce() -> Result<Table>) -> Result<Table> {
    // What was under construction when a panic struck is dropped unseen, so nothing half-made can be observed.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(fault(None, None, format!("not readable as {format}: the file is damaged"))))
}

fn decode_parquet(path: &Path, options: &ReadOptions) -> Result<Table> {
    let open = || File::open(path).map_err(|e| Error::io(path, e));
    let broken = |e: parquet::errors::ParquetError| fault(None, None, format!("not readable as Parquet: {e}"));
    let metadata = ArrowReaderMetadata::load(&open()?, ArrowReaderOptions::new()).map_err(broken)?;
    let kept = kept_columns(metadata.schema(), options)?;
    let mask = ProjectionMask::roots(metadata.parquet_schema(), kept.iter().copied());
    let mut columns = columns_of(metadata.schema(), &kept);

    // Each group opens the file anew: copies of one handle would share, and so disturb, its place in the file.
    let decode = |group: usize| -> Result<Vec<Piece>> {
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(open()?, metadata.clone())
            .with_row_groups(vec![group])
            .with_projection(mask.clone())
            .with_batch_size(BATCH_ROWS)
            .build()
            .map_err(broken)?;
        let mut pieces: Vec<Piece> = columns_of(metadata.schema(), &kept);
        for batch in reader {
            let batch = batch.map_err(|e| fault(None, None, format!("not readable as Parquet: {e}")))?;
            append_batch(&mut pieces, &batch)?;
        }
        Ok(pieces)
    };
    let groups: Vec<usize> = (0..metadata.metadata().num_row_groups()).collect();
    for some in groups.chunks(rayon::current_num_threads()) {
        let decoded: Vec<Result<Vec<Piece>>> = some.par_iter().map(|&group| decode(group)).collect();
        for pieces in decoded {
            columns.par_iter_mut().zip(pieces?).for_each(|(column, piece)| column.append(piece));
        }
        check_rows(&columns)?;
    }
    finish(columns, metadata.schema(), &kept, options)
}

fn decode_ipc(path: &Path, options: &ReadOptions) -> Result<Table> {
    let mut file = BufReader::new(File::open(path).map_err(|e| Error::io(path, e))?);
    let mut magic = Vec::new();
    file.by_ref().take(6).read_to_end(&mut magic).map_err(|e| Error::io(path, e))?;
    file.rewind().map_err(|e| Error::io(path, e))?;
    let broken = |e: arrow_schema::ArrowError| fault(None, None, format!("not readable as Arrow IPC: {e}"));
    if magic == b"ARROW1" {
        let reader = FileReader::try_new(file, None).map_err(broken)?;
        return read_batches(&reader.schema().clone(), reader.map(|batch| batch.map_err(broken)), options);
    }
    let reader = StreamReader::try_new(file, None).map_err(broken)?;
    read_batches(&reader.schema().clone(), reader.map(|batch| batch.map_err(broken)), options)
}

fn read_batches(
    schema: &Schema,
    batches: impl Iterator<Item = Result<RecordBatch>>,
    options: &ReadOptions,
) -> Result<Table> {
    let kept = kept_columns(schema, options)?;
    let mut columns = columns_of(schema, &kept);
    for batch in batches {
        let batch = batch?.project(&kept).map_err(|e| fault(None, None, e.to_string()))?;
        append_batch(&mut columns, &batch)?;
        check_rows(&columns)?;
    }
    finish(columns, schema, &kept, options)
}

/// The places of the columns that are not ignored, all of which are of types that can be read.
fn kept_columns(schema: &Schema, options: &ReadOptions) -> Result<Vec<usize>> {
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    check_types(&options.types, &names)?;
    let mut kept = Vec::new();
    for (j, field) in schema.fields().iter().enumerate() {
        if options.types.get(field.name()) == Some(&ColumnType::Ignored) {
            continue;
        }
        if !is_readable(field.data_type()) {
            let message = format!(
                "values of type {} can't be read, expected numbers, truth values, strings or dates (the column may be ignored)",
                field.data_type()
            );
            return Err(fault(None, Some(field.name()), message));
        }
        kept.push(j);
    }
    if kept.is_empty() { Err(Error::data("all columns are ignored: nothing is left to read")) } else { Ok(kept) }
}

fn is_readable(kind: &DataType) -> bool {
    use DataType::*;
    match kind {
        Dictionary(_, values) => is_readable(values) && !matches!(**values, Dictionary(..)),
        Null | Boolean | Utf8 | LargeUtf8 | Utf8View | Date32 | Date64 | Timestamp(..) | Time32(_) | Time64(_)
        | Duration(_) => true,
        Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..) => true,
        other => other.is_numeric(),
    }
}

fn columns_of(schema: &Schema, kept: &[usize]) -> Vec<Piece> {
    kept.iter().map(|&j| Piece::new(schema.field(j).data_type())).collect()
}

fn append_batch(columns: &mut [Piece], batch: &RecordBatch) -> Result<()> {
    let results: Vec<Result<()>> =
        columns.par_iter_mut().zip(batch.columns()).map(|(column, array)| column.push_array(array)).collect();
    results.into_iter().collect()
}

fn check_rows(columns: &[Piece]) -> Result<()> {
    if columns.iter().any(|column| column.len() > MAX_ROWS) {
        return Err(fault(None, None, format!("more than the {MAX_ROWS} rows that a table may have")));
    }
    Ok(())
}

fn finish(columns: Vec<Piece>, schema: &Schema, kept: &[usize], options: &ReadOptions) -> Result<Table> {
    let column = |(piece, &j): (Piece, &usize)| {
        let name = schema.field(j).name().clone();
        let wanted = options.types.get(&name);
        match piece {
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
    };
    Table::new(columns.into_iter().zip(kept).map(column).collect::<Result<_>>()?)
}

/// Some rows of a column.
enum Piece {
    F64(Vec<f64>),
    F32(Vec<f32>),
    /// `true` and `false`.
    Truths(Words),
    Words(Words),
}

impl Piece {
    fn new(kind: &DataType) -> Self {
        match kind {
            DataType::Float32 | DataType::Float16 => Piece::F32(Vec::new()),
            DataType::Boolean => Piece::Truths(Words::default()),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Piece::Words(Words::default()),
            DataType::Dictionary(_, values) => Piece::new(values),
            _ => Piece::F64(Vec::new()),
        }
    }

    fn len(&self) -> usize {
        match self {
            Piece::F64(values) => values.len(),
            Piece::F32(values) => values.len(),
            Piece::Truths(words) | Piece::Words(words) => words.codes.len(),
        }
    }

    fn append(&mut self, other: Piece) {
        match (self, other) {
            (Piece::F64(values), Piece::F64(more)) => values.extend_from_slice(&more),
            (Piece::F32(values), Piece::F32(more)) => values.extend_from_slice(&more),
            (Piece::Truths(words), Piece::Truths(more)) | (Piece::Words(words), Piece::Words(more)) => {
                words.append(&more)
            }
            _ => {}
        }
    }

    fn push_array(&mut self, array: &dyn Array) -> Result<()> {
        if let DataType::Dictionary(_, values) = array.data_type() {
            let mut piece = Piece::new(values);
            let dictionary = array.as_any_dictionary();
            piece.push_array(dictionary.values())?;
            // A dictionary without values has no keys that could be normalised: all rows are missing.
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
                let truth = |x: bool| if x { &b"true"[..] } else { &b"false"[..] };
                array.as_boolean().iter().for_each(|x| words.push(x.map(truth)));
                Ok(())
            }
            Piece::Words(words) => {
                push_words(words, array);
                Ok(())
            }
        }
    }

    /// Appends the values of `piece` at the places given; a place that is not there is missing.
    fn push_picked(&mut self, piece: &Piece, places: impl Iterator<Item = Option<usize>>) {
        match (self, piece) {
            (Piece::F64(values), Piece::F64(from)) => {
                values.extend(places.map(|place| place.and_then(|k| from.get(k)).copied().unwrap_or(f64::NAN)));
            }
            (Piece::F32(values), Piece::F32(from)) => {
                values.extend(places.map(|place| place.and_then(|k| from.get(k)).copied().unwrap_or(f32::NAN)));
            }
            (Piece::Truths(words), Piece::Truths(from)) | (Piece::Words(words), Piece::Words(from)) => {
                let mut codes = Vec::new();
                codes.extend(places.map(|place| place.and_then(|k| from.codes.get(k)).copied().unwrap_or(MISSING)));
                words.append_codes(&from.dictionary, &codes);
            }
            _ => {}
        }
    }
}

fn push_words(words: &mut Words, array: &dyn Array) {
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
