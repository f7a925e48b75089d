//! Matrices with their zeros left out. Text, one-hot and libsvm data keep their size here.
//!
//! [`SparseRows`] is the encoded matrix that linear models use, or the values themselves; [`SparseColumns`] is the values by columns, which trees use.
//!
//! Encodings that move zero (centering) would make a column dense; they are errors. The sparse encoder only scales.

use super::encode::{ColumnEncoding, Encoder};
use super::features::Features;
use crate::error::{Error, Result};
use crate::parallel;
use crate::table::Values;

/// A matrix in compressed sparse rows: row i has the entries `starts[i]..starts[i + 1]`.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseRows {
    /// How many columns.
    pub n_columns: usize,
    /// The start of each row's entries, and the end of the last.
    pub starts: Vec<usize>,
    /// The column of each entry, ascending within a row.
    pub columns: Vec<u32>,
    /// The value of each entry.
    pub values: Vec<f64>,
}

impl SparseRows {
    /// Encodes features without storing zeros.
    pub fn encode(encoder: &Encoder, features: &Features) -> Result<SparseRows> {
        if let Some((column, _)) =
            features.columns().iter().zip(encoder.columns()).find(|(_, encoding)| !encoding.keeps_zero())
        {
            return Err(Error::data(format!("column '{}' is centered and can't be sparse", column.name)));
        }
        let n_rows = features.n_rows();
        let mut starts = vec![0usize; n_rows + 1];
        each_entry(encoder, features, |row, _, _| starts[row + 1] += 1);
        (0..n_rows).for_each(|row| starts[row + 1] += starts[row]);
        let mut next = starts.clone();
        let (mut columns, mut values) = (vec![0u32; starts[n_rows]], vec![0.0; starts[n_rows]]);
        each_entry(encoder, features, |row, column, value| {
            columns[next[row]] = column as u32;
            values[next[row]] = value;
            next[row] += 1;
        });
        Ok(SparseRows { n_columns: encoder.n_columns(), starts, columns, values })
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// The columns and values of a row's entries.
    pub fn row(&self, row: usize) -> (&[u32], &[f64]) {
        let range = self.starts[row]..self.starts[row + 1];
        (&self.columns[range.clone()], &self.values[range])
    }
}

/// The values of all columns other than zero: a missing value is NaN, a category is its code.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseColumns {
    n_rows: usize,
    columns: Vec<(Vec<u32>, Vec<f64>)>,
}

impl SparseColumns {
    /// Collects the values of all columns other than zero.
    pub fn new(features: &Features) -> SparseColumns {
        let places = RowPositions::of_rows(features);
        let column = |j: usize| {
            let column = &features.columns()[j];
            let mut entries: Vec<(u32, f64)> = match (&column.values, features.rows()) {
                (Values::Sparse { rows, values, .. }, None) => rows.iter().zip(values.iter()).collect(),
                (Values::Sparse { rows, values, .. }, Some(_)) => {
                    let stored = rows.iter().zip(values.iter());
                    let mut entries: Vec<(u32, f64)> = stored
                        .flat_map(|(row, x)| places.of(row as usize).map(move |place| (place as u32, x)))
                        .collect();
                    entries.sort_unstable_by_key(|entry| entry.0);
                    entries
                }
                (_, rows) => (0..).zip(column.numbers(rows)).collect(),
            };
            entries.retain(|entry| entry.1 != 0.0);
            entries.into_iter().unzip()
        };
        SparseColumns { n_rows: features.n_rows(), columns: parallel::map(features.n_columns(), column) }
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// How many columns.
    pub fn n_columns(&self) -> usize {
        self.columns.len()
    }

    /// The rows in which a column is not zero, ascending, and its values there.
    pub fn column(&self, column: usize) -> (&[u32], &[f64]) {
        (&self.columns[column].0, &self.columns[column].1)
    }

    /// The same values by rows.
    pub fn to_rows(&self) -> SparseRows {
        let mut starts = vec![0usize; self.n_rows + 1];
        let rows = || self.columns.iter().flat_map(|(rows, _)| rows);
        rows().for_each(|&row| starts[row as usize + 1] += 1);
        (0..self.n_rows).for_each(|row| starts[row + 1] += starts[row]);
        let mut next = starts.clone();
        let n_entries = starts[self.n_rows];
        let (mut columns, mut values) = (vec![0u32; n_entries], vec![0.0; n_entries]);
        for (j, (rows, numbers)) in self.columns.iter().enumerate() {
            for (&row, &x) in rows.iter().zip(numbers) {
                let at = &mut next[row as usize];
                columns[*at] = j as u32;
                values[*at] = x;
                *at += 1;
            }
        }
        SparseRows { n_columns: self.columns.len(), starts, columns, values }
    }
}

/// Calls `put(row, column, value)` for each nonzero value, column by column.
fn each_entry(encoder: &Encoder, features: &Features, mut put: impl FnMut(usize, usize, f64)) {
    let (mut start, places) = (0, RowPositions::of_rows(features));
    for (column, encoding) in features.columns().iter().zip(encoder.columns()) {
        let mut each = |row: usize, x: f64| {
            encoding.encode(x, |j, value| {
                if value != 0.0 {
                    put(row, start + j, value)
                }
            });
        };
        match (&column.values, features.rows(), encoding) {
            // Fast path for the most common case.
            (
                Values::Sparse { rows, values, .. },
                None,
                &ColumnEncoding::Number { fill, center: 0.0, scale: 1.0, indicator: false },
            ) => {
                for (row, x) in rows.iter().zip(values.iter()).filter(|(_, x)| *x != 0.0) {
                    put(row as usize, start, if x.is_nan() { fill } else { x });
                }
            }
            (Values::Sparse { rows, values, .. }, None, _) => {
                rows.iter().zip(values.iter()).for_each(|(row, x)| each(row as usize, x));
            }
            (Values::Sparse { rows, values, .. }, Some(_), _) => {
                for (row, x) in rows.iter().zip(values.iter()) {
                    places.of(row as usize).for_each(|place| each(place, x));
                }
            }
            (_, rows, _) => column.numbers(rows).into_iter().enumerate().for_each(|(row, x)| each(row, x)),
        }
        start += encoding.width();
    }
}

/// The positions of each row of a table among the selected rows, if any.
struct RowPositions {
    /// The first position of each row.
    first: Vec<Option<u32>>,
    /// The next position of the same row.
    next: Vec<Option<u32>>,
}

impl RowPositions {
    fn of_rows(features: &Features) -> RowPositions {
        let chosen = features.rows().unwrap_or_default();
        let last = chosen.iter().max().map_or(0, |&row| row as usize + 1);
        let (mut first, mut next) = (vec![None; last], vec![None; chosen.len()]);
        for (place, &row) in chosen.iter().enumerate().rev() {
            next[place] = first[row as usize].replace(place as u32);
        }
        RowPositions { first, next }
    }

    fn of(&self, row: usize) -> impl Iterator<Item = usize> + '_ {
        let first = self.first.get(row).copied().flatten();
        std::iter::successors(first, |&place| self.next[place as usize]).map(|place| place as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::EncodeOptions;
    use crate::table::{Column, Table};
    use proptest::prelude::*;
    use std::sync::Arc;

    proptest! {
        #[test]
        fn sparse_rows_equal_the_dense_matrix(
            cells in prop::collection::vec(prop_oneof![3 => Just(0.0), 1 => -5.0..5.0f64, 1 => Just(f64::NAN)], 20),
            names in prop::collection::vec(prop::option::of("[ab]"), 20),
            rows in prop::option::of(prop::collection::vec(0u32..20, 0..10)),
        ) {
            let held: Vec<usize> = (0..20).filter(|&i| cells[i] != 0.0).collect();
            let sparse = Column::sparse("x", 20, held.iter().map(|&i| i as u32).collect::<Vec<_>>().into(),
                held.iter().map(|&i| cells[i]).collect::<Vec<_>>().into());
            let table = Table::new(vec![sparse, Column::nominal("c", &names)]).unwrap();
            let mut features = Features::new(Arc::new(table));
            let encoder = Encoder::fit(&features, EncodeOptions::default());
            if let Some(rows) = rows { features = features.select(&rows).unwrap(); }
            let (sparse, dense) = (SparseRows::encode(&encoder, &features).unwrap(), encoder.encode(&features));
            for i in 0..features.n_rows() {
                let mut row = vec![0.0; dense.n_columns];
                let (columns, values) = sparse.row(i);
                prop_assert!(columns.is_sorted() && values.iter().all(|v| *v != 0.0));
                columns.iter().zip(values).for_each(|(&j, &v)| row[j as usize] = v);
                (0..dense.n_columns).for_each(|j| assert_eq!(row[j], dense.column(j)[i]));
            }
        }
    }

    proptest! {
        #[test]
        fn sparse_columns_hold_every_value(
            cells in prop::collection::vec(prop_oneof![3 => Just(0.0), 1 => -5.0..5.0f64, 1 => Just(f64::NAN), 1 => Just(-0.0)], 20),
            names in prop::collection::vec(prop::option::of("[ab]"), 20),
            rows in prop::option::of(prop::collection::vec(0u32..20, 0..30)),
        ) {
            let held: Vec<usize> = (0..20).filter(|&i| cells[i] != 0.0 || i % 3 == 0).collect();
            let sparse = Column::sparse("x", 20, held.iter().map(|&i| i as u32).collect::<Vec<_>>().into(),
                held.iter().map(|&i| cells[i]).collect::<Vec<_>>().into());
            let table = Table::new(vec![sparse, Column::nominal("c", &names), Column::numeric("y", cells)]).unwrap();
            let mut features = Features::new(Arc::new(table));
            if let Some(rows) = rows { features = features.select(&rows).unwrap(); }
            let columns = SparseColumns::new(&features);
            let by_rows = columns.to_rows();
            for j in 0..3 {
                let (rows, values) = columns.column(j);
                prop_assert!(rows.is_sorted_by(|a, b| a < b) && values.iter().all(|v| *v != 0.0));
                let mut held = vec![0.0; features.n_rows()];
                rows.iter().zip(values).for_each(|(&row, &x)| held[row as usize] = x);
                for (i, x) in features.numbers(j).into_iter().enumerate() {
                    let (columns, values) = by_rows.row(i);
                    let same = |a: f64| a == x || (a.is_nan() && x.is_nan());
                    prop_assert!(same(held[i]));
                    prop_assert!(same(columns.iter().position(|&c| c == j as u32).map_or(0.0, |at| values[at])));
                }
            }
        }
    }

    #[test]
    fn centering_is_an_error() {
        let features = Features::new(Arc::new(Table::from_rows(&["x"], &[vec![1.0], vec![2.0]]).unwrap()));
        let encoder = Encoder::fit(&features, EncodeOptions { standardize: true, indicate_missing: true });
        assert!(SparseRows::encode(&encoder, &features).unwrap_err().to_string().contains("'x'"));
    }
}
