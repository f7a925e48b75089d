//! The encoded matrix in compressed sparse rows, for text, one-hot and libsvm data.
//!
//! Encodings that move zero (centering) would make a column dense; they are errors. The sparse encoder only scales.

use super::encode::{ColumnEncoding, Encoder};
use super::features::Features;
use crate::error::{Error, Result};
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

    #[test]
    fn centering_is_an_error() {
        let features = Features::new(Arc::new(Table::from_rows(&["x"], &[vec![1.0], vec![2.0]]).unwrap()));
        let encoder = Encoder::fit(&features, EncodeOptions { standardize: true, indicate_missing: true });
        assert!(SparseRows::encode(&encoder, &features).unwrap_err().to_string().contains("'x'"));
    }
}
