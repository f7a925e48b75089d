//! Files and arrays become a [`Table`]: named columns of numbers and categories, with missing values kept as missing.
//!
//! | file | what it holds |
//! |---|---|
//! | [`buffer`] | shared, possibly strided memory, ours or somebody else's |
//! | [`mod@column`] | a column: its kind and its values |
//! | [`read`] | which reader a file needs; the options that all readers share |
//! | `csv`, `json_lines`, `arff`, `libsvm`, `parquet`, `ipc` | one reader for each format |
//! | `frame` | frames of other libraries in memory, with the feature `arrow` |
//! | [`infer`] | the kind of a column of text cells |
//! | [`notation`], [`date`] | numbers with separators and signs; dates and times |

pub mod buffer;
pub mod column;
pub mod date;
#[cfg(feature = "arrow")]
pub mod frame;
pub mod infer;
pub mod read;

mod arff;
#[cfg(feature = "arrow")]
mod arrow;
mod block;
mod coded_strings;
mod csv;
#[cfg(feature = "ipc")]
mod ipc;
mod json_lines;
mod libsvm;
pub mod notation;
mod number;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(any(feature = "arrow", feature = "parquet"))]
mod piece;
#[cfg(all(test, any(feature = "ipc", feature = "parquet")))]
mod scratch;
mod source;
mod write;

pub use buffer::Buffer;
pub use column::{Column, ColumnKind, Levels, MISSING, Values};
pub use notation::Notation;
pub use read::{ColumnType, ReadNote, ReadOptions, StrayCells};

use crate::error::{Error, Result};
use std::collections::HashSet;

/// Most rows a table may have: row numbers are 32 bits wide, and one bit is used for marks.
pub const MAX_ROWS: usize = (1 << 31) - 1;

/// Named columns of equal length.
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<Column>,
    n_rows: usize,
}

impl Table {
    /// A table of these columns, which must be of equal length and have distinct names.
    pub fn new(columns: Vec<Column>) -> Result<Self> {
        let n_rows = columns.first().map_or(0, Column::len);
        let mut names = HashSet::new();
        for column in &columns {
            if column.len() != n_rows {
                let (name, n, first) = (&column.name, column.len(), &columns[0].name);
                return Err(Error::data(format!("column '{name}' has {n} rows, but column '{first}' has {n_rows}")));
            }
            if !names.insert(column.name.as_str()) {
                return Err(Error::data(format!("two columns are named '{}'", column.name)));
            }
        }
        if n_rows > MAX_ROWS {
            return Err(Error::data(format!("{n_rows} rows are more than the {MAX_ROWS} that a table may have")));
        }
        drop(names);
        Ok(Table { columns, n_rows })
    }

    /// Columns that are known to fit together; `n_rows` is told, because there may be no column.
    #[doc(hidden)]
    pub fn of_columns(columns: Vec<Column>, n_rows: usize) -> Self {
        Table { columns, n_rows }
    }

    /// A table of numbers from rows of equal length; the columns are named `names`.
    pub fn from_rows(names: &[&str], rows: &[Vec<f64>]) -> Result<Self> {
        if let Some((i, row)) = rows.iter().enumerate().find(|(_, row)| row.len() != names.len()) {
            return Err(Error::data(format!("row {i} has {} values, but there are {} names", row.len(), names.len())));
        }
        let column = |j: usize| rows.iter().map(|row| row[j]).collect::<Vec<f64>>();
        Table::new(names.iter().enumerate().map(|(j, &name)| Column::numeric(name, column(j))).collect())
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// How many columns.
    pub fn n_columns(&self) -> usize {
        self.columns.len()
    }

    /// All columns in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The names of the columns in order.
    pub fn names(&self) -> Vec<&str> {
        self.columns.iter().map(|c| c.name.as_str()).collect()
    }

    /// The place of a column.
    pub fn position(&self, name: &str) -> Result<usize> {
        self.columns.iter().position(|c| c.name == name).ok_or_else(|| Error::unknown("column", name, self.names()))
    }

    /// A column by name.
    pub fn column(&self, name: &str) -> Result<&Column> {
        Ok(&self.columns[self.position(name)?])
    }

    /// These rows, in this order; rows may repeat. Every row must be there.
    pub fn select(&self, rows: &[u32]) -> Table {
        let column = |column: &Column| match (&column.values, column.codes(Some(rows))) {
            (Values::Codes { levels, .. }, Some(codes)) => {
                Column::coded(column.name.clone(), column.kind, codes, levels.clone())
            }
            _ => Column { values: Values::F64(column.numbers(Some(rows)).into()), ..column.clone() },
        };
        Table { columns: self.columns.iter().map(column).collect(), n_rows: rows.len() }
    }

    /// The columns themselves.
    pub fn into_columns(self) -> Vec<Column> {
        self.columns
    }

    /// The bytes its values take in memory.
    pub fn n_bytes(&self) -> usize {
        self.columns.iter().map(Column::n_bytes).sum()
    }
}
