//! The door for files: looks at the name (and, where the name says nothing, at the first bytes), and hands the file to
//! the reader of its format.

use super::{ColumnKind, Table};
use crate::error::{Error, Place, Result};
use std::collections::{BTreeMap, HashSet};
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
    /// Left out of the table.
    Ignored,
}

impl ColumnType {
    /// The kind of the column that results; `None` where it is left out.
    pub fn kind(&self) -> Option<ColumnKind> {
        match self {
            ColumnType::Numeric => Some(ColumnKind::Numeric),
            ColumnType::Ordinal(_) => Some(ColumnKind::Ordinal),
            ColumnType::Nominal => Some(ColumnKind::Nominal),
            ColumnType::Boolean => Some(ColumnKind::Boolean),
            ColumnType::Ignored => None,
        }
    }

    /// Reads `numeric`, `nominal`, `boolean`, `ignored`, `ordinal` or `ordinal:small<medium<large`.
    pub fn parse(text: &str) -> Result<Self> {
        let (word, rest) = text.split_once(':').unwrap_or((text, ""));
        match (word, rest) {
            ("numeric", "") => Ok(ColumnType::Numeric),
            ("nominal", "") => Ok(ColumnType::Nominal),
            ("boolean", "") => Ok(ColumnType::Boolean),
            ("ignored", "") => Ok(ColumnType::Ignored),
            ("ordinal", "") => Ok(ColumnType::Ordinal(Vec::new())),
            ("ordinal", levels) => Ok(ColumnType::Ordinal(levels.split('<').map(|l| l.trim().to_string()).collect())),
            _ => Err(Error::unknown(
                "column type",
                text,
                ["numeric", "nominal", "boolean", "ignored", "ordinal", "ordinal:low<middle<high"],
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
}

impl Default for ReadOptions {
    fn default() -> Self {
        let missing = ["", "NA", "N/A", "?", "NaN", "nan", "null", "NULL"].map(String::from).to_vec();
        ReadOptions { types: BTreeMap::new(), missing, delimiter: None, header: true }
    }
}

/// The format of a table file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Csv,
    Libsvm,
    Parquet,
    Ipc,
}

impl Table {
    /// Reads a table, with the kinds of its columns inferred. The format follows from the name of the file: `.csv`, `.tsv`, `.txt`,
    /// `.libsvm`, `.svmlight`, `.letor`, each also with `.gz`; `.parquet`; `.arrow`, `.ipc`, `.feather`.
    pub fn read(path: impl AsRef<Path>) -> Result<Table> {
        Table::read_with(path, &ReadOptions::default())
    }

    /// Reads a table with options.
    pub fn read_with(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Table> {
        let path = path.as_ref();
        let table = match format_of(path) {
            Format::Csv => super::csv::read(path, options),
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
        table.map_err(|e| e.in_file(path))
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
    Error::Table { place: Place { path: None, line, column: column.map(String::from) }, message: message.into() }
}

/// Types may be declared only for columns that are there.
pub(super) fn check_types<S: AsRef<str>>(types: &BTreeMap<String, ColumnType>, names: &[S]) -> Result<()> {
    let known: HashSet<&str> = names.iter().map(AsRef::as_ref).collect();
    match types.keys().find(|name| !known.contains(name.as_str())) {
        Some(name) => Err(Error::unknown("column", name, names.iter().map(AsRef::as_ref))),
        None => Ok(()),
    }
}
