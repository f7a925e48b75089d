//! The door for files: looks at the name (and, where the name says nothing, at the first bytes), and hands the file to
//! the reader of its format.

use super::{ColumnKind, Notation, Table};
use crate::error::{Error, Result, TableLocation};
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// How a column is to be read, said by the user instead of inferred.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnType {
    /// Numbers. A cell that is neither a number nor missing is an error.
    Numeric,
    /// Ordered categories, lowest first. Without levels, the distinct cells in ascending order (as numbers, if they all are).
    Ordinal(Vec<String>),
    /// Categories without an order, whatever the cells look like.
    Nominal,
    /// True or false.
    Boolean,
    /// Dates or times, in any form in which all cells agree.
    Date,
    /// Numbers in a notation that is known, such as that of the training data.
    Written(Notation),
    /// Left out of the table.
    Ignored,
}

impl ColumnType {
    /// The kind of the column that results; `None` where it is left out.
    pub fn kind(&self) -> Option<ColumnKind> {
        match self {
            ColumnType::Numeric | ColumnType::Date | ColumnType::Written(_) => Some(ColumnKind::Numeric),
            ColumnType::Ordinal(_) => Some(ColumnKind::Ordinal),
            ColumnType::Nominal => Some(ColumnKind::Nominal),
            ColumnType::Boolean => Some(ColumnKind::Boolean),
            ColumnType::Ignored => None,
        }
    }

    /// Reads `numeric`, `nominal`, `boolean`, `date`, `ignored`, `ordinal` or `ordinal:small<medium<large`.
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

/// What all readers share: column types that override inference, and what counts as missing.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// Types by column name. A name that the file doesn't have is an error.
    pub types: BTreeMap<String, ColumnType>,
    /// Cells that mean "missing", after blanks at both ends are cut.
    pub missing: Vec<String>,
    /// The byte between cells of a CSV file; found by itself if not given.
    pub delimiter: Option<u8>,
    /// Whether the first line of a CSV file holds names. Without names the columns are `c0`, `c1`, ...
    pub header: bool,
    /// Cells that are no numbers in columns of numbers.
    pub stray: StrayCells,
    /// Whether numbers of text files have a decimal comma; found by itself if not set.
    pub decimal_comma: bool,
    /// The encoding of text files.
    pub encoding: Encoding,
}

/// What becomes of a cell that is no number where nearly all others of its column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StrayCells {
    /// An error in a column declared numeric; else the column holds categories.
    #[default]
    AsDeclared,
    /// It is missing, and a [`ReadNote`] says so.
    Missing,
    /// An error.
    Refused,
}

/// The encoding of a text file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// UTF-8; or UTF-16 if the file starts with its byte-order mark.
    #[default]
    Utf8,
    /// UTF-16 without a byte-order mark, the lower byte first.
    Utf16,
    /// Latin-1, as Windows extends it (Windows-1252).
    Latin1,
}

impl Encoding {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "utf-8",
            Encoding::Utf16 => "utf-16",
            Encoding::Latin1 => "latin-1",
        }
    }

    /// Reads `utf-8`, `utf-16` or `latin-1` (also `windows-1252`, `cp1252`, `iso-8859-1`).
    pub fn parse(text: &str) -> Result<Encoding> {
        match text.to_lowercase().replace('_', "-").as_str() {
            "utf-8" | "utf8" => Ok(Encoding::Utf8),
            "utf-16" | "utf16" | "utf-16le" => Ok(Encoding::Utf16),
            "latin-1" | "latin1" | "windows-1252" | "cp1252" | "iso-8859-1" => Ok(Encoding::Latin1),
            _ => Err(Error::unknown("encoding", text, ["utf-8", "utf-16", "latin-1"])),
        }
    }
}

/// Something about a file that its reader decided and its owner may want to know.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "note", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReadNote {
    /// Cells that are no numbers in a column of numbers; they are missing.
    StrayCells {
        /// The column.
        column: String,
        /// How many cells.
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
            missing,
            delimiter: None,
            header: true,
            stray: StrayCells::AsDeclared,
            decimal_comma: false,
            encoding: Encoding::Utf8,
        }
    }
}

/// The format of a table file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Csv,
    Arff,
    JsonLines,
    Libsvm,
    Parquet,
    Ipc,
}

impl Table {
    /// Reads a table, with the kinds of its columns inferred. The format follows from the name of the file: `.csv`, `.tsv`, `.txt`,
    /// `.jsonl`, `.arff`, `.libsvm`, `.svmlight`, `.letor`, each also with `.gz`; `.parquet`; `.arrow`, `.ipc`, `.feather`.
    pub fn read(path: impl AsRef<Path>) -> Result<Table> {
        Table::read_with(path, &ReadOptions::default())
    }

    /// Reads a table with options.
    pub fn read_with(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Table> {
        Table::read_with_notes(path, options).map(|(table, _)| table)
    }

    /// Reads a table with options, and says what its reader decided.
    pub fn read_with_notes(path: impl AsRef<Path>, options: &ReadOptions) -> Result<(Table, Vec<ReadNote>)> {
        let path = path.as_ref();
        let mut notes = Vec::new();
        let table = match format_of(path) {
            Format::Csv => super::csv::read(path, options, &mut notes),
            Format::Arff => super::arff::read(path, options, &mut notes),
            Format::JsonLines => super::json_lines::read(path, options, &mut notes),
            Format::Libsvm => super::libsvm::read(path, options),
            #[cfg(feature = "parquet")]
            Format::Parquet => super::parquet::read(path, options),
            #[cfg(feature = "ipc")]
            Format::Ipc => super::ipc::read(path, options),
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => Err(not_built("Parquet", "parquet")),
            #[cfg(not(feature = "ipc"))]
            Format::Ipc => Err(not_built("Arrow IPC", "ipc")),
        };
        Ok((table.map_err(|e| e.in_file(path))?, notes))
    }
}

/// A reader that was left out when the program was built.
#[cfg(not(all(feature = "parquet", feature = "ipc")))]
fn not_built(format: &str, feature: &str) -> Error {
    Error::data(format!(
        "this build cannot read {format} files: build it with `--features {feature}`, or convert the file to CSV{}",
        if cfg!(feature = "parquet") { " or Parquet" } else { "" }
    ))
}

fn format_of(path: &Path) -> Format {
    let name = path.file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "libsvm" | "svmlight" | "svm" | "letor" => Format::Libsvm,
        "arff" => Format::Arff,
        "jsonl" | "ndjson" => Format::JsonLines,
        "parquet" | "pq" => Format::Parquet,
        "arrow" | "ipc" | "feather" => Format::Ipc,
        "csv" | "tsv" | "tab" | "txt" => Format::Csv,
        _ => format_of_content(path),
    }
}

/// Parquet and Arrow files say so in their first bytes; anything else is taken for CSV.
fn format_of_content(path: &Path) -> Format {
    let mut magic = Vec::new();
    // Only a regular file can be looked into twice. What can't be read here is for the reader to report.
    if path.is_file() {
        let _ = File::open(path).and_then(|file| file.take(6).read_to_end(&mut magic));
    }
    match &magic[..] {
        magic if magic.starts_with(b"PAR1") => Format::Parquet,
        b"ARROW1" => Format::Ipc,
        _ => Format::Csv,
    }
}

/// Something wrong in a table file, at a line and in a column where these are known.
pub(super) fn fault(line: Option<u64>, column: Option<&str>, message: impl Into<String>) -> Error {
    Error::Table {
        location: TableLocation { path: None, line, column: column.map(String::from) },
        message: message.into(),
    }
}

/// Types may be declared only for columns that are there.
pub(super) fn check_types<S: AsRef<str>>(types: &BTreeMap<String, ColumnType>, names: &[S]) -> Result<()> {
    let known: HashSet<&str> = names.iter().map(AsRef::as_ref).collect();
    match types.keys().find(|name| !known.contains(name.as_str())) {
        Some(name) => Err(Error::unknown("column", name, names.iter().map(AsRef::as_ref))),
        None => Ok(()),
    }
}
