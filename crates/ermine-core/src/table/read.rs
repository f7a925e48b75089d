//! Selects the reader of a file by its name or, if the name is inconclusive, by its first bytes.

use super::{ColumnKind, Notation, Table};
use crate::error::{Error, Result, TableLocation};
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Type of a column, declared by the user instead of inferred.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnType {
    /// Numbers. A cell that is neither a number nor missing is an error.
    Numeric,
    /// Ordered categories, lowest first. Without levels, the distinct cells in ascending order (as numbers, if all are).
    Ordinal(Vec<String>),
    /// Unordered categories, whatever the cells look like.
    Nominal,
    /// True or false.
    Boolean,
    /// Dates or times, in any form that all cells share.
    Date,
    /// Numbers in a known notation, such as that of the training data.
    Written(Notation),
    /// Not read.
    Ignored,
}

impl ColumnType {
    /// The kind of the resulting column; `None` if it is ignored.
    pub fn kind(&self) -> Option<ColumnKind> {
        match self {
            ColumnType::Numeric | ColumnType::Date | ColumnType::Written(_) => Some(ColumnKind::Numeric),
            ColumnType::Ordinal(_) => Some(ColumnKind::Ordinal),
            ColumnType::Nominal => Some(ColumnKind::Nominal),
            ColumnType::Boolean => Some(ColumnKind::Boolean),
            ColumnType::Ignored => None,
        }
    }

    /// Parses `numeric`, `nominal`, `boolean`, `date`, `ignored`, `ordinal` or `ordinal:small<medium<large`.
    pub fn parse(text: &str) -> Result<Self> {
        let (word, rest) = text.split_once(':').unwrap_or((text, ""));
        match (word, rest) {
            ("numeric", "") => Ok(ColumnType::Numeric),
            ("nominal", "") => Ok(ColumnType::Nominal),
            ("boolean", "") => Ok(ColumnType::Boolean),
            ("date", "") => Ok(ColumnType::Date),
            ("ignored", "") => Ok(ColumnType::Ignored),
            ("ordinal", "") => Ok(ColumnType::Ordinal(Vec::new())),
            ("ordinal", levels) => Ok(ColumnType::Ordinal(levels.split('<').map(|l| l.trim().to_string()).collect())),
            _ => Err(Error::unknown(
                "column type",
                text,
                ["numeric", "nominal", "boolean", "date", "ignored", "ordinal", "ordinal:low<middle<high"],
            )),
        }
    }
}

/// Options of all readers: column types that override inference, and missing-value markers.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// Types by column name. Unknown names are errors, unless `absent_types` allows them.
    pub types: BTreeMap<String, ColumnType>,
    /// Whether types may be declared for columns that the file doesn't have.
    pub absent_types: bool,
    /// Cells that mean "missing", after trimming blanks.
    pub missing: Vec<String>,
    /// The delimiter of a CSV file; detected if `None`.
    pub delimiter: Option<u8>,
    /// Whether the first line of a CSV file contains names. Without names the columns are `c0`, `c1`, ...
    pub header: bool,
    /// Treatment of non-numeric cells in numeric columns.
    pub stray: StrayCells,
    /// Whether numbers in text files have a decimal comma; detected if not set.
    pub decimal_comma: bool,
    /// The encoding of text files.
    pub encoding: TextEncoding,
}

/// Treatment of a non-numeric cell if nearly all other cells of its column are numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StrayCells {
    /// An error in a column declared numeric; otherwise the column is categorical.
    #[default]
    AsDeclared,
    /// Missing, with a [`ReadNote`].
    Missing,
    /// An error.
    Refused,
}

/// The encoding of a text file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextEncoding {
    /// UTF-8; or UTF-16 if the file starts with its byte-order mark.
    #[default]
    Utf8,
    /// UTF-16 without a byte-order mark, little-endian.
    Utf16,
    /// Latin-1 with the extensions of Windows-1252.
    Latin1,
}

impl TextEncoding {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            TextEncoding::Utf8 => "utf-8",
            TextEncoding::Utf16 => "utf-16",
            TextEncoding::Latin1 => "latin-1",
        }
    }

    /// Parses `utf-8`, `utf-16` or `latin-1` (also `windows-1252`, `cp1252`, `iso-8859-1`).
    pub fn parse(text: &str) -> Result<TextEncoding> {
        match text.to_lowercase().replace('_', "-").as_str() {
            "utf-8" | "utf8" => Ok(TextEncoding::Utf8),
            "utf-16" | "utf16" | "utf-16le" => Ok(TextEncoding::Utf16),
            "latin-1" | "latin1" | "windows-1252" | "cp1252" | "iso-8859-1" => Ok(TextEncoding::Latin1),
            _ => Err(Error::unknown("encoding", text, ["utf-8", "utf-16", "latin-1"])),
        }
    }
}

/// A decision of a reader that the user should know.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "note", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReadNote {
    /// Non-numeric cells in a numeric column, treated as missing.
    StrayCells {
        /// The column.
        column: String,
        /// Number of cells.
        n_cells: usize,
        /// The line of the first one.
        line: u64,
        /// Its text.
        value: String,
    },
}

impl fmt::Display for ReadNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadNote::StrayCells { column, n_cells: 1, line, value } => {
                write!(f, "column '{column}', line {line}: '{value}' is not a number and counts as missing")
            }
            ReadNote::StrayCells { column, n_cells, line, value } => write!(
                f,
                "column '{column}': {n_cells} cells are not numbers and count as missing, the first in line {line}: '{value}'"
            ),
        }
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        let missing = ["", "NA", "N/A", "?", "NaN", "nan", "null", "NULL"].map(String::from).to_vec();
        ReadOptions {
            types: BTreeMap::new(),
            absent_types: false,
            missing,
            delimiter: None,
            header: true,
            stray: StrayCells::AsDeclared,
            decimal_comma: false,
            encoding: TextEncoding::Utf8,
        }
    }
}

/// The format of a table file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TableFormat {
    Csv,
    Arff,
    JsonLines,
    Libsvm,
    Parquet,
    Ipc,
}

impl Table {
    /// Reads a table and infers the kinds of its columns. The format is determined by the file extension: `.csv`, `.tsv`, `.txt`, `.jsonl`, `.arff`, `.libsvm`, `.svmlight`, `.letor`, each also
    /// with `.gz`; `.parquet`; `.arrow`, `.ipc`, `.feather`.
    pub fn read(path: impl AsRef<Path>) -> Result<Table> {
        Table::read_with(path, &ReadOptions::default())
    }

    /// Reads a table with options.
    pub fn read_with(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Table> {
        Table::read_with_notes(path, options).map(|(table, _)| table)
    }

    /// Reads a table with options, and returns notes about decisions of the reader.
    pub fn read_with_notes(path: impl AsRef<Path>, options: &ReadOptions) -> Result<(Table, Vec<ReadNote>)> {
        let path = path.as_ref();
        let mut notes = Vec::new();
        let table = match format_of(path) {
            TableFormat::Csv => super::csv::read(path, options, &mut notes),
            TableFormat::Arff => super::arff::read(path, options, &mut notes),
            TableFormat::JsonLines => super::json_lines::read(path, options, &mut notes),
            TableFormat::Libsvm => super::libsvm::read(path, options),
            #[cfg(feature = "parquet")]
            TableFormat::Parquet => super::parquet::read(path, options),
            #[cfg(feature = "ipc")]
            TableFormat::Ipc => super::ipc::read(path, options),
            #[cfg(not(feature = "parquet"))]
            TableFormat::Parquet => Err(not_built("Parquet", "parquet")),
            #[cfg(not(feature = "ipc"))]
            TableFormat::Ipc => Err(not_built("Arrow IPC", "ipc")),
        };
        Ok((table.map_err(|e| e.in_file(path))?, notes))
    }
}

/// The error for a reader that is not part of this build.
#[cfg(not(all(feature = "parquet", feature = "ipc")))]
fn not_built(format: &str, feature: &str) -> Error {
    Error::data(format!(
        "this build cannot read {format} files: build it with `--features {feature}`, or convert the file to CSV{}",
        if cfg!(feature = "parquet") { " or Parquet" } else { "" }
    ))
}

fn format_of(path: &Path) -> TableFormat {
    let name = path.file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "libsvm" | "svmlight" | "svm" | "letor" => TableFormat::Libsvm,
        "arff" => TableFormat::Arff,
        "jsonl" | "ndjson" => TableFormat::JsonLines,
        "parquet" | "pq" => TableFormat::Parquet,
        "arrow" | "ipc" | "feather" => TableFormat::Ipc,
        "csv" | "tsv" | "tab" | "txt" => TableFormat::Csv,
        _ => format_of_content(path),
    }
}

/// Parquet and Arrow files are recognized by their first bytes; all other files are assumed to be CSV.
fn format_of_content(path: &Path) -> TableFormat {
    let mut magic = Vec::new();
    // Only a regular file can be read twice. Errors are reported by the reader.
    if path.is_file() {
        let _ = File::open(path).and_then(|file| file.take(6).read_to_end(&mut magic));
    }
    match &magic[..] {
        magic if magic.starts_with(b"PAR1") => TableFormat::Parquet,
        b"ARROW1" => TableFormat::Ipc,
        _ => TableFormat::Csv,
    }
}

/// An error in a table file, with its line and column if known.
pub(super) fn fault(line: Option<u64>, column: Option<&str>, message: impl Into<String>) -> Error {
    Error::Table {
        location: TableLocation { path: None, line, column: column.map(String::from) },
        message: message.into(),
    }
}

/// Checks that types are declared only for existing columns, unless the options allow others.
pub(super) fn check_types<S: AsRef<str>>(options: &ReadOptions, names: &[S]) -> Result<()> {
    if options.absent_types {
        return Ok(());
    }
    let known: HashSet<&str> = names.iter().map(AsRef::as_ref).collect();
    match options.types.keys().find(|name| !known.contains(name.as_str())) {
        Some(name) => Err(Error::unknown("column", name, names.iter().map(AsRef::as_ref))),
        None => Ok(()),
    }
}
