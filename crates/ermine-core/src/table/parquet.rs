//! Parquet reader.
//!
//! | in Parquet | in the table |
//! |---|---|
//! | integers, `DOUBLE`, decimals | numeric; an integer beyond 2^53 becomes the nearest double |
//! | `FLOAT`, 16-bit floats | numeric in single precision |
//! | booleans | boolean |
//! | strings, enumerations, JSON | nominal: levels sorted by name |
//! | dates | numeric: days since 1970-01-01 |
//! | timestamps | numeric: seconds since 1970-01-01T00:00 (UTC where a zone is given), with fractions |
//! | times | numeric: seconds since midnight |
//! | null, NaN | missing |
//!
//! Columns of other types, and nested columns, are errors unless they are ignored; ignored columns are not decoded. Columns are decoded in parallel.
//!
//! Parquet's column readers are used instead of its Arrow readers, because they compile in a fifth of the time.

mod strict;
#[cfg(test)]
mod tests;

use super::Notation;
use super::block::require_table;
use super::coded_strings::CodedStrings;
use super::date::DateForm;
use super::number::number;
use super::piece::{Piece, guarded, truth};
use super::read::{ColumnType, ReadOptions, check_types, fault};
use super::source::check_file;
use super::{MAX_ROWS, Table};
use crate::error::{Error, Result};
use crate::parallel;
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{AsBytes, DataType};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnDescriptor;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use strict::StrictFile;

const BATCH_ROWS: usize = 1 << 14;
const NANOSECONDS: f64 = 1e9;

/// Reads a Parquet file.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Table> {
    check_file(path)?;
    guarded("Parquet", || decode(path, options))
}

fn decode(path: &Path, options: &ReadOptions) -> Result<Table> {
    let open = || File::open(path).map_err(|e| Error::io(path, e));
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&open()?).map_err(damaged)?;
    let n_rows = check_rows(&metadata)?;
    let kept = kept_columns(&metadata, options)?;
    require_table(n_rows, kept.len())?;
    let column = |k: usize| {
        let (leaf, meaning) = kept[k];
        let name = metadata.file_metadata().schema_descr().column(leaf).name().to_string();
        // A separate handle per column: copies of one handle would share its position in the file.
        let piece = read_column(Arc::new(StrictFile(open()?)), &metadata, leaf, meaning)
            .map_err(|e| fault(None, Some(&name), format!("not readable as Parquet: {e}")))?;
        let wanted = options.types.get(&name);
        let natural = notation_of(&metadata.file_metadata().schema_descr().column(leaf));
        piece.column_of_file(name, wanted, natural)
    };
    Table::new(parallel::try_map(kept.len(), column)?)
}

fn damaged(e: ParquetError) -> Error {
    fault(None, None, format!("not readable as Parquet: {e}"))
}

fn check_rows(metadata: &ParquetMetaData) -> Result<usize> {
    let rows = metadata.row_groups().iter().try_fold(0usize, |sum, group| {
        usize::try_from(group.num_rows()).ok().and_then(|rows| sum.checked_add(rows)).filter(|&sum| sum <= MAX_ROWS)
    });
    rows.ok_or_else(|| fault(None, None, format!("the file has more than {MAX_ROWS} rows, the maximum of a table")))
}

/// The meaning of the stored values of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Meaning {
    Truth,
    Text,
    Single,
    Half,
    /// Integers and doubles, divided by `unit`.
    Number {
        unit: f64,
        unsigned: bool,
    },
    Decimal {
        scale: i32,
    },
    /// Days and nanoseconds in 96 bits, a legacy timestamp format.
    Timestamp96,
}

impl Meaning {
    /// `None` if the type is not supported.
    fn of(column: &ColumnDescriptor) -> Option<Self> {
        let logical = column.logical_type_ref();
        let converted = column.converted_type();
        let decimal = matches!(logical, Some(LogicalType::Decimal(_))) || converted == ConvertedType::DECIMAL;
        match column.physical_type() {
            Physical::BOOLEAN => Some(Meaning::Truth),
            Physical::FLOAT => Some(Meaning::Single),
            Physical::DOUBLE => Some(Meaning::Number { unit: 1.0, unsigned: false }),
            Physical::INT96 => Some(Meaning::Timestamp96),
            _ if decimal => Some(Meaning::Decimal { scale: column.type_scale() }),
            Physical::INT32 | Physical::INT64 => {
                Some(Meaning::Number { unit: unit(logical, converted), unsigned: is_unsigned(logical, converted) })
            }
            Physical::BYTE_ARRAY => is_text(logical, converted).then_some(Meaning::Text),
            Physical::FIXED_LEN_BYTE_ARRAY => {
                (logical == Some(&LogicalType::Float16) && column.type_length() == 2).then_some(Meaning::Half)
            }
        }
    }

    /// An empty column.
    fn piece(self) -> Piece {
        match self {
            Meaning::Truth => Piece::Truths(CodedStrings::default()),
            Meaning::Text => Piece::CodedStrings(CodedStrings::default()),
            Meaning::Single | Meaning::Half => Piece::F32(Vec::new()),
            Meaning::Number { .. } | Meaning::Decimal { .. } | Meaning::Timestamp96 => Piece::F64(Vec::new()),
        }
    }
}

fn is_text(logical: Option<&LogicalType>, converted: ConvertedType) -> bool {
    matches!(logical, Some(LogicalType::String | LogicalType::Enum | LogicalType::Json))
        || matches!(converted, ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON)
}

fn is_unsigned(logical: Option<&LogicalType>, converted: ConvertedType) -> bool {
    use ConvertedType::{UINT_8, UINT_16, UINT_32, UINT_64};
    matches!(logical, Some(LogicalType::Integer(integer)) if !integer.is_signed)
        || matches!(converted, UINT_8 | UINT_16 | UINT_32 | UINT_64)
}

/// The notation of dates and times.
fn notation_of(column: &ColumnDescriptor) -> Notation {
    match (column.logical_type_ref(), column.converted_type()) {
        _ if column.physical_type() == Physical::INT96 => Notation::Timestamp(DateForm::YearFirst),
        (Some(LogicalType::Date), _) | (_, ConvertedType::DATE) => Notation::Date(DateForm::YearFirst),
        (Some(LogicalType::Timestamp(_)), _)
        | (_, ConvertedType::TIMESTAMP_MILLIS | ConvertedType::TIMESTAMP_MICROS) => {
            Notation::Timestamp(DateForm::YearFirst)
        }
        (Some(LogicalType::Time(_)), _) | (_, ConvertedType::TIME_MILLIS | ConvertedType::TIME_MICROS) => {
            Notation::Time
        }
        _ => Notation::Plain,
    }
}

/// Number of stored units per second, for times and timestamps; 1 for other types.
fn unit(logical: Option<&LogicalType>, converted: ConvertedType) -> f64 {
    let unit = match logical {
        Some(LogicalType::Time(time)) => Some(time.unit),
        Some(LogicalType::Timestamp(timestamp)) => Some(timestamp.unit),
        _ => match converted {
            ConvertedType::TIME_MILLIS | ConvertedType::TIMESTAMP_MILLIS => Some(TimeUnit::MILLIS),
            ConvertedType::TIME_MICROS | ConvertedType::TIMESTAMP_MICROS => Some(TimeUnit::MICROS),
            _ => None,
        },
    };
    match unit {
        Some(TimeUnit::MILLIS) => 1e3,
        Some(TimeUnit::MICROS) => 1e6,
        Some(TimeUnit::NANOS) => NANOSECONDS,
        None => 1.0,
    }
}

/// The columns that are not ignored; an error if one has an unsupported type.
fn kept_columns(metadata: &ParquetMetaData, options: &ReadOptions) -> Result<Vec<(usize, Meaning)>> {
    let schema = metadata.file_metadata().schema_descr();
    let names: Vec<&str> = schema.root_schema().get_fields().iter().map(|field| field.name()).collect();
    check_types(options, &names)?;
    let mut kept = Vec::new();
    for (leaf, column) in schema.columns().iter().enumerate() {
        let name = names[schema.get_column_root_idx(leaf)];
        if options.types.get(name) == Some(&ColumnType::Ignored) {
            continue;
        }
        let flat = column.path().parts().len() == 1 && column.max_rep_level() == 0;
        match Meaning::of(column).filter(|_| flat) {
            Some(meaning) => kept.push((leaf, meaning)),
            None => return Err(unreadable(name, &type_name(column, flat))),
        }
    }
    if kept.is_empty() { Err(Error::data("all columns are ignored; at least one must be read")) } else { Ok(kept) }
}

fn unreadable(name: &str, kind: &str) -> Error {
    let message = format!(
        "values of type {kind} are not supported; expected numbers, booleans, strings or dates (or ignore the column)"
    );
    fault(None, Some(name), message)
}

fn type_name(column: &ColumnDescriptor, flat: bool) -> String {
    match column.logical_type_ref() {
        _ if !flat => format!("List or Struct ({})", column.path()),
        Some(logical) => format!("{logical:?}"),
        None => column.physical_type().to_string(),
    }
}

/// Reads all rows of a column.
fn read_column(
    file: Arc<StrictFile>,
    metadata: &ParquetMetaData,
    leaf: usize,
    meaning: Meaning,
) -> parquet::errors::Result<Piece> {
    let descriptor = metadata.file_metadata().schema_descr().column(leaf);
    let mut piece = meaning.piece();
    for group in metadata.row_groups() {
        let rows = group.num_rows() as usize;
        let pages = SerializedPageReader::new(file.clone(), group.column(leaf), rows, None)?;
        let before = piece.len();
        read_chunk(
            get_column_reader(descriptor.clone(), Box::new(pages)),
            meaning,
            descriptor.max_def_level(),
            &mut piece,
        )?;
        if piece.len() != before + rows {
            return Err(ParquetError::General(format!("{} rows where {rows} were announced", piece.len() - before)));
        }
    }
    Ok(piece)
}

/// Reads the rows of a column in one row group.
fn read_chunk(reader: ColumnReader, meaning: Meaning, present: i16, piece: &mut Piece) -> parquet::errors::Result<()> {
    use ColumnReader::*;
    match (reader, meaning, piece) {
        (BoolColumnReader(reader), _, Piece::Truths(words)) => {
            for_each_row(reader, present, |value| words.push(value.map(|&value| truth(value))))
        }
        (ByteArrayColumnReader(reader), Meaning::Text, Piece::CodedStrings(words)) => {
            let mut is_text = true;
            for_each_row(reader, present, |value| {
                is_text &= value.is_none_or(|value| std::str::from_utf8(value.data()).is_ok());
                words.push(value.map(|value| value.data()));
            })?;
            if is_text { Ok(()) } else { Err(ParquetError::General("text that is not UTF-8".into())) }
        }
        (FloatColumnReader(reader), _, Piece::F32(values)) => {
            for_each_row(reader, present, |value| values.push(value.copied().unwrap_or(f32::NAN)))
        }
        (FixedLenByteArrayColumnReader(reader), Meaning::Half, Piece::F32(values)) => {
            for_each_row(reader, present, |value| values.push(value.map_or(f32::NAN, |value| half(value.data()))))
        }
        (reader, meaning, Piece::F64(values)) => read_numbers(reader, meaning, present, values),
        _ => Err(ParquetError::General("the stored type is not the declared one".into())),
    }
}

fn read_numbers(
    reader: ColumnReader,
    meaning: Meaning,
    present: i16,
    values: &mut Vec<f64>,
) -> parquet::errors::Result<()> {
    use ColumnReader::*;
    match (reader, meaning) {
        (DoubleColumnReader(reader), _) => push_numbers(reader, present, values, |&x| x),
        (Int32ColumnReader(reader), Meaning::Number { unit, unsigned: false }) => {
            push_numbers(reader, present, values, |&x| f64::from(x) / unit)
        }
        (Int32ColumnReader(reader), Meaning::Number { unit, unsigned: true }) => {
            push_numbers(reader, present, values, |&x| f64::from(x as u32) / unit)
        }
        (Int64ColumnReader(reader), Meaning::Number { unit, unsigned: false }) => {
            push_numbers(reader, present, values, |&x| x as f64 / unit)
        }
        (Int64ColumnReader(reader), Meaning::Number { unit, unsigned: true }) => {
            push_numbers(reader, present, values, |&x| x as u64 as f64 / unit)
        }
        (Int96ColumnReader(reader), _) => push_numbers(reader, present, values, |x| x.to_nanos() as f64 / NANOSECONDS),
        (Int32ColumnReader(reader), Meaning::Decimal { scale }) => {
            push_numbers(reader, present, values, |&x| decimal(i128::from(x), scale))
        }
        (Int64ColumnReader(reader), Meaning::Decimal { scale }) => {
            push_numbers(reader, present, values, |&x| decimal(i128::from(x), scale))
        }
        (ByteArrayColumnReader(reader), Meaning::Decimal { scale }) => {
            push_numbers(reader, present, values, |x| long_decimal(x.as_bytes(), scale))
        }
        (FixedLenByteArrayColumnReader(reader), Meaning::Decimal { scale }) => {
            push_numbers(reader, present, values, |x| long_decimal(x.as_bytes(), scale))
        }
        _ => Err(ParquetError::General("the stored type is not the declared one".into())),
    }
}

fn push_numbers<T: DataType>(
    reader: ColumnReaderImpl<T>,
    present: i16,
    values: &mut Vec<f64>,
    number: impl Fn(&T::T) -> f64,
) -> parquet::errors::Result<()> {
    for_each_row(reader, present, |value| values.push(value.map_or(f64::NAN, &number)))
}

/// Calls `push` for each row, with `None` if the definition level is below `present`, which means that the value is missing.
fn for_each_row<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    present: i16,
    mut push: impl FnMut(Option<&T::T>),
) -> parquet::errors::Result<()> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    loop {
        levels.clear();
        values.clear();
        let (rows, _, _) = reader.read_records(BATCH_ROWS, Some(&mut levels), None, &mut values)?;
        if rows == 0 {
            return Ok(());
        }
        if present == 0 {
            values.iter().for_each(|value| push(Some(value)));
        } else {
            let mut next = values.iter();
            levels.iter().for_each(|&level| push(if level == present { next.next() } else { None }));
        }
    }
}

/// `value / 10^scale`, by way of its text, which is rounded once.
fn decimal(value: i128, scale: i32) -> f64 {
    number(format!("{value}e{}", -i64::from(scale)).as_bytes()).unwrap_or(f64::NAN)
}

/// A decimal in big-endian two's complement. Beyond 128 bits only the leading 128 bits are used, which exceeds double precision.
fn long_decimal(bytes: &[u8], scale: i32) -> f64 {
    let sign = if bytes.first().is_some_and(|&byte| byte >= 0x80) { 0xff } else { 0 };
    let start = bytes.iter().position(|&byte| byte != sign).unwrap_or(bytes.len());
    // One byte of the sign stays, so that the leading bit is the sign.
    let digits = &bytes[start.saturating_sub(1)..];
    let (head, rest) = digits.split_at(digits.len().min(16));
    let value = head.iter().fold(if sign == 0 { 0i128 } else { -1 }, |sum, &byte| (sum << 8) | i128::from(byte));
    decimal(value, scale) * 256f64.powi(rest.len() as i32)
}

/// A little-endian IEEE half-precision number.
fn half(bytes: &[u8]) -> f32 {
    let &[low, high] = bytes else { return f32::NAN };
    let bits = u16::from_le_bytes([low, high]);
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f32::from(bits & 0x3ff));
    let size = match exponent {
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + fraction) * 2f32.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}
