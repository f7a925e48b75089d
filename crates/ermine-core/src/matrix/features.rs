//! [`Features`]: the columns and rows that a learner or model uses.
//!
//! Rows are selected by an index into a shared table, so folds, bootstrap samples and class pairs don't copy data. Views (sorted order, ...) are computed on first use and cached; a
//! subset of the rows derives its views from those of the whole if that is cheaper.

use super::sorted::{Sorted, SortedColumn};
use super::sparse::{SparseColumns, SparseRows};
use crate::error::{Error, Result};
use crate::table::{Column, Table, Values};
use std::sync::{Arc, OnceLock};

/// Columns of a table, for all or selected rows.
#[derive(Debug, Clone)]
pub struct Features {
    table: Arc<Table>,
    rows: Option<Arc<[u32]>>,
    views: Arc<Views>,
    /// The features that these were selected from.
    whole: Option<Box<Features>>,
    /// The features without the added columns.
    narrower: Option<Box<Features>>,
}

/// Views computed on first use.
#[derive(Debug, Default)]
struct Views {
    sorted: OnceLock<Arc<Sorted>>,
    sparse_columns: OnceLock<Arc<SparseColumns>>,
    sparse_rows: OnceLock<Arc<SparseRows>>,
}

impl Features {
    /// All columns and rows of a table.
    pub fn new(table: Arc<Table>) -> Self {
        Features { table, rows: None, views: Arc::default(), whole: None, narrower: None }
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.rows.as_ref().map_or(self.table.n_rows(), |rows| rows.len())
    }

    /// How many columns.
    pub fn n_columns(&self) -> usize {
        self.table.n_columns()
    }

    /// The columns, with all rows of the table; use [`rows`](Self::rows) to index them.
    pub fn columns(&self) -> &[Column] {
        self.table.columns()
    }

    /// The selected rows of the table; `None` for all.
    pub fn rows(&self) -> Option<&[u32]> {
        self.rows.as_deref()
    }

    /// The values of a column as numbers (see [`Column::number`]).
    pub fn numbers(&self, column: usize) -> Vec<f64> {
        self.columns()[column].numbers(self.rows())
    }

    /// One value as a number. For loops over rows use [`numbers`](Self::numbers).
    pub fn number(&self, row: usize, column: usize) -> f64 {
        self.columns()[column].number(self.table_row(row))
    }

    /// Copies the values of a column as numbers, starting at row `from`.
    pub fn part_into(&self, column: usize, from: usize, out: &mut [f64]) {
        let column = &self.columns()[column];
        match (&column.values, self.rows()) {
            (Values::Sparse { rows, values, .. }, None) => {
                out.fill(0.0);
                let (mut at, mut end) = (0, rows.len());
                while at < end {
                    let middle = at + (end - at) / 2;
                    if (rows.get(middle) as usize) < from { at = middle + 1 } else { end = middle }
                }
                while at < rows.len() && (rows.get(at) as usize) < from + out.len() {
                    out[rows.get(at) as usize - from] = values.get(at);
                    at += 1;
                }
            }
            (Values::Sparse { .. }, Some(_)) => {
                out.iter_mut().enumerate().for_each(|(i, out)| *out = column.number(self.table_row(from + i)));
            }
            (_, rows) => _ = column.part_into(rows, from, out),
        }
    }

    /// The row of the table for `row` of these features.
    pub fn table_row(&self, row: usize) -> usize {
        self.rows.as_ref().map_or(row, |rows| rows[row] as usize)
    }

    /// Selects rows, in the given order; rows may repeat.
    pub fn select(&self, rows: &[u32]) -> Result<Features> {
        let n = self.n_rows();
        if let Some(row) = rows.iter().find(|&&r| r as usize >= n) {
            return Err(Error::data(format!("row {row} is out of range (there are {n} rows)")));
        }
        let rows: Arc<[u32]> = rows.iter().map(|&r| self.table_row(r as usize) as u32).collect();
        let whole = self.whole.clone().unwrap_or_else(|| Box::new(self.clone()));
        let (table, views) = (self.table.clone(), Arc::default());
        Ok(Features { table, rows: Some(rows), views, whole: Some(whole), narrower: None })
    }

    /// Adds numeric columns, given by name with a number per row. Existing columns and their sorted order are shared. Rows that repeat the same row of the table must have the same
    /// numbers.
    pub fn with_numbers(&self, more: Vec<(String, Vec<f64>)>) -> Features {
        let n = self.table.n_rows();
        let whole = |numbers: Vec<f64>| match self.rows() {
            None => numbers,
            Some(rows) => {
                let mut all = vec![f64::NAN; n];
                rows.iter().zip(numbers).for_each(|(&row, x)| all[row as usize] = x);
                all
            }
        };
        let mut columns = self.columns().to_vec();
        columns.extend(more.into_iter().map(|(name, numbers)| Column::numeric(name, whole(numbers))));
        let table = Arc::new(Table::of_columns(columns, n));
        let narrower = Some(Box::new(self.clone()));
        Features { table, rows: self.rows.clone(), views: Arc::default(), whole: None, narrower }
    }

    /// Whether most values are zeros that the table doesn't store, so that work on the stored values alone pays.
    pub fn is_sparse(&self) -> bool {
        /// One value in this many is stored, at most: an entry takes four or more bytes for its place, a bin one.
        const STORED: usize = 10;
        let stored = |column: &Column| match &column.values {
            Values::Sparse { rows, .. } => rows.len(),
            _ => column.len(),
        };
        let n_stored: usize = self.columns().iter().map(stored).sum();
        let has_sparse = || self.columns().iter().any(|column| matches!(column.values, Values::Sparse { .. }));
        has_sparse() && n_stored.saturating_mul(STORED) <= self.table.n_rows() * self.n_columns()
    }

    /// The values other than zero by columns; made on first use.
    pub fn sparse_columns(&self) -> Arc<SparseColumns> {
        if let Some(columns) = self.views.sparse_columns.get() {
            return columns.clone();
        }
        let made = Arc::new(SparseColumns::new(self));
        self.views.sparse_columns.get_or_init(|| made).clone()
    }

    /// The values other than zero by rows; made on first use.
    pub fn sparse_rows(&self) -> Arc<SparseRows> {
        if let Some(rows) = self.views.sparse_rows.get() {
            return rows.clone();
        }
        let made = Arc::new(self.sparse_columns().to_rows());
        self.views.sparse_rows.get_or_init(|| made).clone()
    }

    /// Every column in ascending order of its values; computed on first use. Call it once before using it from several threads, or each thread may compute it.
    pub fn sorted(&self) -> Arc<Sorted> {
        // No lock is held while sorting: the sort runs in parallel, and a waiting thread may pick up other work that needs the same view.
        if let Some(sorted) = self.views.sorted.get() {
            return sorted.clone();
        }
        let made = Arc::new(self.derive_sorted().unwrap_or_else(|| Sorted::new(self)));
        self.views.sorted.get_or_init(|| made).clone()
    }

    /// The order of all columns, not cached: for callers that modify it.
    pub fn sorted_once(&self) -> Arc<Sorted> {
        match self.views.sorted.get() {
            Some(sorted) => sorted.clone(),
            None => Arc::new(self.derive_sorted().unwrap_or_else(|| Sorted::new(self))),
        }
    }

    /// Derives the order of a large subset of the rows from the order of the whole, so that folds of a table share one sort. Only added columns are sorted.
    fn derive_sorted(&self) -> Option<Sorted> {
        /// If a subset has fewer than 1 / this share of the rows, sorting it is cheaper than filtering.
        const WORTH_IT: usize = 8;
        if let Some(narrower) = &self.narrower {
            let mut columns = narrower.sorted().columns.clone();
            columns.extend((columns.len()..self.n_columns()).map(|column| SortedColumn::new(self, column)));
            return Some(Sorted { columns });
        }
        let (whole, rows) = (self.whole.as_ref()?, self.rows()?);
        if rows.len() * WORTH_IT < self.table.n_rows() {
            return None;
        }
        whole.sorted().restricted_to(rows, self.table.n_rows())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_columns_share_the_existing_columns() {
        let table = Table::new(vec![Column::numeric("x", vec![3.0, 1.0, 2.0]), Column::numeric("y", vec![0.0; 3])]);
        let all = Features::new(Arc::new(table.unwrap()));
        for features in [all.clone(), all.select(&[2, 0]).unwrap()] {
            let n = features.n_rows();
            let more = features.with_numbers(vec![("z".into(), (0..n).map(|i| -(i as f64)).collect())]);
            assert_eq!(more.n_columns(), 3);
            assert_eq!(more.numbers(2), (0..n).map(|i| -(i as f64)).collect::<Vec<_>>());
            assert_eq!(*more.sorted(), Sorted::new(&more));
            for j in 0..2 {
                let (a, b) = (&more.columns()[j].values, &all.columns()[j].values);
                let (crate::table::Values::F64(a), crate::table::Values::F64(b)) = (a, b) else { panic!() };
                assert_eq!(a.as_ptr(), b.as_ptr(), "a column was copied");
            }
        }
    }
}
