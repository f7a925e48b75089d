//! Tables: named columns of numbers and categories, read from files or arrays.
//!
//! | file | what it holds |
//! |---|---|
//! | [`buffer`] | shared, possibly strided memory |
//! | [`mod@column`] | a column: its kind and its values |
//! | [`read`] | selects the reader of a file; options of all readers |
//! | `csv`, `json_lines`, `arff`, `libsvm`, `parquet`, `ipc` | one reader per format |
//! | `frame` | data frames of other libraries, with the feature `arrow` |
//! | [`batches`] | reading a file in batches of rows |
//! | [`infer`] | inference of column kinds |
//! | [`notation`], [`date`] | formatted numbers; dates and times |

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
pub mod batches;
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

pub use batches::TableBatches;
pub use buffer::Buffer;
pub use column::{Column, ColumnKind, Levels, MISSING, Values};
pub use csv::CsvBlocks;
pub use notation::Notation;
pub use read::{ColumnType, ReadNote, ReadOptions, StrayCells};

use crate::error::{Error, Result};
use std::collections::HashSet;

/// Maximum number of rows: row numbers have 32 bits, one of which is used as a mark.
pub const MAX_ROWS: usize = (1 << 31) - 1;

/// Named columns of equal length.
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<Column>,
    n_rows: usize,
}

impl Table {
    /// A table of columns with equal lengths and distinct names.
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
            return Err(Error::data(format!("a table can have at most {MAX_ROWS} rows (got {n_rows})")));
        }
        drop(names);
        Ok(Table { columns, n_rows })
    }

    /// A table of columns that are known to be valid; `n_rows` is needed if there are no columns.
    #[doc(hidden)]
    pub fn of_columns(columns: Vec<Column>, n_rows: usize) -> Self {
        Table { columns, n_rows }
    }

    /// A numeric table from rows of equal length.
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

    /// The index of a column.
    pub fn position(&self, name: &str) -> Result<usize> {
        self.columns.iter().position(|c| c.name == name).ok_or_else(|| Error::unknown("column", name, self.names()))
    }

    /// A column by name.
    pub fn column(&self, name: &str) -> Result<&Column> {
        Ok(&self.columns[self.position(name)?])
    }

    /// Selects rows, in the given order; rows may repeat. Every row must exist.
    pub fn select(&self, rows: &[u32]) -> Table {
        let column = |column: &Column| match (&column.values, column.codes(Some(rows))) {
            (Values::Codes { levels, .. }, Some(codes)) => {
                Column::coded(column.name.clone(), column.kind, codes, levels.clone())
            }
            _ => Column { values: Values::F64(column.numbers(Some(rows)).into()), ..column.clone() },
        };
        Table { columns: self.columns.iter().map(column).collect(), n_rows: rows.len() }
    }

    /// Takes the columns out of the table.
    pub fn into_columns(self) -> Vec<Column> {
        self.columns
    }

    /// Memory use in bytes.
    pub fn n_bytes(&self) -> usize {
        self.columns.iter().map(Column::n_bytes).sum()
    }
}
