//! Summaries of tables and data sets.
//!
//! | file | what it holds |
//! |---|---|
//! | this file | [`TableSummary`]: types, missing values and distributions of all columns |
//! | [`data`] | [`DataSummary`]: the target, the task and the features of a data set |
//! | [`warning`] | [`DataWarning`]: potential problems of a data set |
//! | [`duplicates`] | rows that occur twice, in one table or in two |

pub mod data;
pub mod duplicates;
pub mod warning;

pub use data::DataSummary;
pub use warning::DataWarning;

use ermine_core::matrix::Features;
use ermine_core::table::{Column, ColumnKind, MISSING, Table};
use serde::Serialize;
use std::sync::Arc;

/// How many of the most frequent categories of a column are listed.
const LISTED: usize = 5;

/// The columns of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableSummary {
    /// How many rows.
    pub n_rows: usize,
    /// How many rows are copies of an earlier one.
    pub n_duplicates: usize,
    /// The columns in order.
    pub columns: Vec<ColumnSummary>,
}

/// One column of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnSummary {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: ColumnKind,
    /// How many values are missing.
    pub n_missing: usize,
    /// How many different values there are.
    pub n_distinct: usize,
    /// Its distribution, if it holds numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numbers: Option<NumberSummary>,
    /// Its most frequent categories with their numbers of rows, if it holds categories.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<(String, usize)>,
}

/// The distribution of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NumberSummary {
    /// The mean.
    pub mean: f64,
    /// The standard deviation (with n - 1).
    pub deviation: f64,
    /// Minimum, lower quartile, median, upper quartile and maximum, interpolated as NumPy does by default.
    pub quartiles: [f64; 5],
}

impl TableSummary {
    /// Summarizes all columns.
    pub fn new(table: &Table) -> TableSummary {
        let features = Features::new(Arc::new(table.clone()));
        TableSummary {
            n_rows: table.n_rows(),
            n_duplicates: duplicates::n_copies(&features),
            columns: table.columns().iter().map(ColumnSummary::new).collect(),
        }
    }
}

impl ColumnSummary {
    fn new(column: &Column) -> ColumnSummary {
        let (name, kind, n_missing) = (column.name.clone(), column.kind, column.n_missing());
        match (column.codes(None), column.levels()) {
            (Some(codes), Some(levels)) => {
                let mut counts = vec![0; levels.len()];
                codes.iter().filter(|&&code| code != MISSING).for_each(|&code| counts[code as usize] += 1);
                let mut categories: Vec<(String, usize)> = levels.names().iter().cloned().zip(counts).collect();
                categories.retain(|(_, count)| *count > 0);
                categories.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
                let n_distinct = categories.len();
                categories.truncate(LISTED);
                ColumnSummary { name, kind, n_missing, n_distinct, numbers: None, categories }
            }
            _ => {
                let mut values: Vec<f64> = column.numbers(None).into_iter().filter(|x| !x.is_nan()).collect();
                values.sort_by(f64::total_cmp);
                let n_distinct = values.chunk_by(|a, b| a == b).count();
                let numbers = NumberSummary::of_sorted(&values);
                ColumnSummary { name, kind, n_missing, n_distinct, numbers, categories: Vec::new() }
            }
        }
    }
}

impl NumberSummary {
    fn of_sorted(values: &[f64]) -> Option<NumberSummary> {
        let last = values.len().checked_sub(1)?;
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
        let quantile = |share: f64| {
            let at = share * last as f64;
            let (low, high) = (values[at.floor() as usize], values[at.ceil() as usize]);
            // Equal neighbors may be infinite.
            if low == high { low } else { low + (high - low) * at.fract() }
        };
        let quartiles = [0.0, 0.25, 0.5, 0.75, 1.0].map(quantile);
        Some(NumberSummary { mean, deviation: (squares / (last.max(1)) as f64).sqrt(), quartiles })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_equal_those_of_numpy() {
        let table = Table::new(vec![
            Column::numeric("x", vec![4.0, 1.0, f64::NAN, 2.0, 3.0, 4.0]),
            Column::nominal("c", &[Some("a"), Some("b"), Some("b"), None, Some("b"), Some("a")]),
        ]);
        let summary = TableSummary::new(&table.unwrap());
        let x = &summary.columns[0];
        assert_eq!((x.n_missing, x.n_distinct), (1, 4));
        let numbers = x.numbers.unwrap();
        // numpy.quantile([1, 2, 3, 4, 4], [0, .25, .5, .75, 1]), numpy.std(..., ddof=1)
        assert_eq!(numbers.quartiles, [1.0, 2.0, 3.0, 4.0, 4.0]);
        assert!((numbers.mean - 2.8).abs() < 1e-12 && (numbers.deviation - 1.3038404810405297).abs() < 1e-12);
        let c = &summary.columns[1];
        assert_eq!((c.n_missing, c.n_distinct), (1, 2));
        assert_eq!(c.categories, [("b".to_string(), 3), ("a".to_string(), 2)]);
    }

    #[test]
    fn an_empty_column_has_no_distribution() {
        let table = Table::new(vec![Column::numeric("x", vec![f64::NAN; 2])]).unwrap();
        assert_eq!(TableSummary::new(&table).columns[0].numbers, None);
    }
}
