//! A distance for rows of numbers, categories and missing values, after Gower (1971), "A general coefficient of similarity
//! and some of its properties".
//!
//! Each column contributes between 0 and 1: a number contributes `min(1, |x - y| / range)`, a category 0 if equal and 1 otherwise. The distance is the mean over the columns.
//! Missing values are NaN, and categories are codes. There are two treatments of missing values:
//! - [`Missing::Skip`] (Gower's): a column that is missing in either row is left out of the mean; rows without a common column have distance 1. The triangle inequality may
//!   fail, so rows are scanned one by one.
//! - [`Missing::Far`]: missing has distance 1 from every value and 0 from missing. This is a metric, so trees can use it.
//! - [`Missing::Far`]: missing is at distance 1 from every value and 0 from missing. This is a metric, and trees can use it.

use super::rows::{PointElement, RowMatrix};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// How a column is compared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MixedColumn {
    /// A number, scaled by its range.
    Number {
        /// Largest minus smallest value; 0 for a constant column.
        range: f64,
    },
    /// A category code: equal or not.
    Category,
}

/// Treatment of missing values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// The column is left out of the mean.
    Skip,
    /// Missing differs from every value and equals missing.
    Far,
}

/// The mixed distance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mixed {
    /// How each column is compared.
    pub columns: Vec<MixedColumn>,
    /// Treatment of missing values.
    pub missing: Missing,
}

impl Mixed {
    /// Computes the ranges from `rows`; `categories[j]` is true if column j contains category codes.
    pub fn fitted(rows: &RowMatrix<'_>, categories: &[bool], missing: Missing) -> Result<Mixed> {
        if categories.len() != rows.n_features() {
            let (given, d) = (categories.len(), rows.n_features());
            return Err(Error::data(format!("{given} kinds of column for rows of {d} columns")));
        }
        let columns = categories.iter().enumerate().map(|(column, &category)| {
            if category { MixedColumn::Category } else { MixedColumn::Number { range: range(rows, column) } }
        });
        Ok(Mixed { columns: columns.collect(), missing })
    }

    /// Whether the triangle inequality holds.
    pub fn has_triangle(&self) -> bool {
        self.missing == Missing::Far
    }

    /// The distance between two rows.
    #[inline(always)]
    pub fn distance<E: PointElement>(&self, a: &[f64], b: &[E]) -> f64 {
        let (mut total, mut compared) = (0.0, 0usize);
        for ((column, &a), b) in self.columns.iter().zip(a).zip(b) {
            let b = b.wide();
            if a.is_nan() || b.is_nan() {
                if self.missing == Missing::Far {
                    compared += 1;
                    total += f64::from(u8::from(a.is_nan() != b.is_nan()));
                }
                continue;
            }
            compared += 1;
            total += match *column {
                MixedColumn::Number { range } if range > 0.0 => ((a - b).abs() / range).min(1.0),
                _ => f64::from(u8::from(a != b)),
            };
        }
        if compared == 0 { 1.0 } else { total / compared as f64 }
    }
}

/// Largest minus smallest value, ignoring missing values.
fn range(rows: &RowMatrix<'_>, column: usize) -> f64 {
    let mut span: Option<(f64, f64)> = None;
    for value in (0..rows.n_rows()).map(|row| rows.get(row, column)).filter(|v| v.is_finite()) {
        let (low, high) = span.unwrap_or((value, value));
        span = Some((low.min(value), high.max(value)));
    }
    span.map_or(0.0, |(low, high)| high - low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GONE: f64 = f64::NAN;

    #[test]
    fn distances_match_hand_computed_values() {
        let values = [0.0, 2.0, 7.0, 10.0, 1.0, 7.0, GONE, 0.0, 7.0];
        let rows = RowMatrix::row_major(&values, 3).unwrap();
        let mixed = Mixed::fitted(&rows, &[false, true, false], Missing::Skip).unwrap();
        assert_eq!(mixed.columns[0], MixedColumn::Number { range: 10.0 });
        // a number half its range away, another category, a constant column that now differs
        assert_eq!(mixed.distance(&[5.0, 2.0, 8.0], &values[3..6]), (0.5 + 1.0 + 1.0) / 3.0);
        assert_eq!(mixed.distance(&[5.0, 0.0, 7.0], &values[6..9]), 0.0);
        assert_eq!(mixed.distance(&[5.0, GONE, GONE], &values[6..9]), 1.0);
        let far = Mixed { missing: Missing::Far, ..mixed };
        assert_eq!(far.distance(&[5.0, 0.0, 7.0], &values[6..9]), 1.0 / 3.0);
        assert_eq!(far.distance(&[GONE, 0.0, 7.0], &values[6..9]), 0.0);
        assert!(Mixed::fitted(&rows, &[true], Missing::Skip).is_err());
    }

    fn cell() -> impl Strategy<Value = f64> {
        prop_oneof![Just(GONE), (0..4).prop_map(f64::from), -3.0..12.0f64]
    }

    proptest! {
        #[test]
        fn missing_far_is_a_metric(rows in proptest::collection::vec(cell(), 12)) {
            let columns = vec![MixedColumn::Number { range: 4.0 }, MixedColumn::Category, MixedColumn::Number { range: 0.0 }, MixedColumn::Category];
            let far = Mixed { columns, missing: Missing::Far };
            let (a, b, c) = (&rows[..4], &rows[4..8], &rows[8..]);
            prop_assert_eq!(far.distance(a, b), far.distance(b, a));
            prop_assert_eq!(far.distance(a, a), 0.0);
            prop_assert!(far.distance(a, c) <= far.distance(a, b) + far.distance(b, c) + 1e-12);
        }
    }
}
