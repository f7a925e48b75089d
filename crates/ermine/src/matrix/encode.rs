//! Categories and missing values turned into numbers, for learners that compute on numbers only.
//!
//! **Idea.** An [`Encoder`] looks at the training data once and says for each column which columns of numbers it becomes; it is kept in
//! the model, so that prediction takes raw tables.
//!
//! | column | becomes | missing in training | missing or unseen at prediction |
//! |---|---|---|---|
//! | numeric, ordinal, boolean | itself (ordinal: its rank, boolean: 0 or 1), standardised if asked | the mean of the others, and an indicator column | the mean, and the indicator if there is one |
//! | nominal | one 0/1 column for each level that occurs in training | all zero, and an indicator column | all zero, and the indicator if there is one |
//!
//! **Cost.** One pass over each column to fit; encoding writes each number once.

use super::features::Features;
use crate::table::{Column, ColumnKind, MISSING};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What the encoder is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodeOptions {
    /// Bring numbers to mean 0 and standard deviation 1.
    pub standardize: bool,
    /// Add a 0/1 column beside each column that has missing values in training.
    pub indicate_missing: bool,
}

impl Default for EncodeOptions {
    fn default() -> Self {
        EncodeOptions { standardize: false, indicate_missing: true }
    }
}

/// How each column becomes numbers. Part of a model that was trained on encoded data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Encoder {
    columns: Vec<Encoding>,
}

/// How one column becomes numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// `(x - center) / scale`, with `fill` put in for a missing x.
    Number {
        /// The mean of the training values.
        fill: f64,
        /// What is taken off.
        center: f64,
        /// What is divided by.
        scale: f64,
        /// A 0/1 column follows that says where the value is missing.
        indicator: bool,
    },
    /// One 0/1 column for each level that occurs in training.
    OneHot {
        /// The column of each code, counted within the encoding; `None` for a level that doesn't occur.
        place: Vec<Option<u32>>,
        /// A 0/1 column follows that says where the value is missing.
        indicator: bool,
    },
}

/// A dense matrix of numbers, column by column.
#[derive(Debug, Clone, PartialEq)]
pub struct Dense {
    /// How many rows.
    pub n_rows: usize,
    /// How many columns.
    pub n_columns: usize,
    /// `n_rows * n_columns` numbers, column by column.
    pub values: Vec<f64>,
}

impl Dense {
    /// A column.
    pub fn column(&self, j: usize) -> &[f64] {
        &self.values[j * self.n_rows..(j + 1) * self.n_rows]
    }
}

impl Encoding {
    fn fit(column: &Column, rows: Option<&[u32]>, options: EncodeOptions, weight: Option<&[f64]>) -> Encoding {
        if column.kind == ColumnKind::Nominal {
            return Encoding::fit_one_hot(column, rows, options);
        }
        let values = column.numbers(rows);
        let indicator = options.indicate_missing && values.iter().any(|x| x.is_nan());
        let (mean, deviation) = mean_and_deviation(&values, weight);
        let (center, scale) = if options.standardize { (mean, deviation) } else { (0.0, 1.0) };
        Encoding::Number { fill: mean, center, scale, indicator }
    }

    fn fit_one_hot(column: &Column, rows: Option<&[u32]>, options: EncodeOptions) -> Encoding {
        let codes = column.codes(rows).unwrap_or_default();
        let mut place = vec![None; column.levels().map_or(0, |levels| levels.len())];
        codes.iter().filter(|&&c| c != MISSING).for_each(|&c| place[c as usize] = Some(0));
        place.iter_mut().flatten().enumerate().for_each(|(i, p)| *p = i as u32);
        Encoding::OneHot { place, indicator: options.indicate_missing && codes.contains(&MISSING) }
    }

    /// How many columns it becomes.
    pub fn width(&self) -> usize {
        match self {
            Encoding::Number { indicator, .. } => 1 + usize::from(*indicator),
            Encoding::OneHot { place, indicator } => place.iter().flatten().count() + usize::from(*indicator),
        }
    }

    /// Whether the number 0 becomes the number 0, so that zeros may be left out.
    pub fn keeps_zero(&self) -> bool {
        matches!(self, Encoding::OneHot { .. } | Encoding::Number { center: 0.0, .. })
    }

    /// Calls `put(column, value)` for each number that `x` becomes, except zeros of one-hot and indicator columns.
    #[inline]
    pub fn encode(&self, x: f64, mut put: impl FnMut(usize, f64)) {
        match self {
            Encoding::Number { fill, center, scale, indicator } => {
                put(0, (if x.is_nan() { *fill } else { x } - center) / scale);
                if *indicator && x.is_nan() {
                    put(1, 1.0);
                }
            }
            Encoding::OneHot { place, indicator } => match place.get(x as usize) {
                Some(Some(j)) if !x.is_nan() => put(*j as usize, 1.0),
                _ if *indicator => put(self.width() - 1, 1.0),
                _ => {}
            },
        }
    }
}

impl Encoder {
    /// Looks at the training data.
    pub fn fit(features: &Features, options: EncodeOptions) -> Encoder {
        Encoder::fit_weighted(features, options, None)
    }

    /// Looks at training data whose rows have weights: means and deviations are those of rows repeated so often.
    pub fn fit_weighted(features: &Features, options: EncodeOptions, weight: Option<&[f64]>) -> Encoder {
        let fit = |column: &Column| Encoding::fit(column, features.rows(), options, weight);
        Encoder { columns: features.columns().par_iter().map(fit).collect() }
    }

    /// How each column is encoded.
    pub fn columns(&self) -> &[Encoding] {
        &self.columns
    }

    /// How many columns the encoded matrix has.
    pub fn n_columns(&self) -> usize {
        self.columns.iter().map(Encoding::width).sum()
    }

    /// The names of the encoded columns: `age`, `colour=red`, `age is missing`.
    pub fn names(&self, features: &Features) -> Vec<String> {
        let mut names = Vec::with_capacity(self.n_columns());
        for (column, encoding) in features.columns().iter().zip(&self.columns) {
            let indicator = match encoding {
                Encoding::Number { indicator, .. } => {
                    names.push(column.name.clone());
                    *indicator
                }
                Encoding::OneHot { place, indicator } => {
                    let levels = column.levels().map_or(&[][..], |levels| levels.names());
                    let used = levels.iter().zip(place).filter(|(_, place)| place.is_some());
                    names.extend(used.map(|(level, _)| format!("{}={level}", column.name)));
                    *indicator
                }
            };
            if indicator {
                names.push(format!("{} is missing", column.name));
            }
        }
        names
    }

    /// The encoded matrix, column by column.
    pub fn encode(&self, features: &Features) -> Dense {
        let (n_rows, n_columns) = (features.n_rows(), self.n_columns());
        let mut values = vec![0.0; n_rows * n_columns];
        let mut rest = values.as_mut_slice();
        let mut jobs = Vec::with_capacity(self.columns.len());
        for (column, encoding) in features.columns().iter().zip(&self.columns) {
            let (block, after) = rest.split_at_mut(n_rows * encoding.width());
            rest = after;
            jobs.push((column, encoding, block));
        }
        jobs.into_par_iter().for_each(|(column, encoding, block)| {
            for (row, x) in column.numbers(features.rows()).into_iter().enumerate() {
                encoding.encode(x, |j, value| block[j * n_rows + row] = value);
            }
        });
        Dense { n_rows, n_columns, values }
    }

    /// Some rows of the encoded matrix, row by row, into `out` of `rows.len() * n_columns` numbers. For work in blocks.
    pub fn encode_rows(&self, features: &Features, rows: Range<usize>, out: &mut [f64]) {
        let width = self.n_columns();
        out.fill(0.0);
        let mut start = 0;
        for (column, encoding) in features.columns().iter().zip(&self.columns) {
            for (i, row) in rows.clone().enumerate() {
                let x = column.number(features.table_row(row));
                encoding.encode(x, |j, value| out[i * width + start + j] = value);
            }
            start += encoding.width();
        }
    }
}

/// Mean and standard deviation of what is finite; 0 and 1 where there is nothing to compute them from, deviation 1 where all are equal.
fn mean_and_deviation(values: &[f64], weight: Option<&[f64]>) -> (f64, f64) {
    let finite = || values.iter().enumerate().filter(|(_, x)| x.is_finite());
    let weight = |row: usize| weight.map_or(1.0, |weight| weight[row]);
    let total: f64 = finite().map(|(row, _)| weight(row)).sum();
    if total <= 0.0 {
        return (0.0, 1.0);
    }
    // Dividing before adding keeps huge values from overflowing.
    let mean = finite().map(|(row, x)| x / total * weight(row)).sum::<f64>();
    let largest = finite().map(|(_, x)| (x - mean).abs()).fold(0.0, f64::max);
    if largest == 0.0 {
        return (mean, 1.0);
    }
    let variance = finite().map(|(row, x)| ((x - mean) / largest).powi(2) / total * weight(row)).sum::<f64>();
    (mean, largest * variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Table;
    use std::sync::Arc;

    fn features(columns: Vec<Column>) -> Features {
        Features::new(Arc::new(Table::new(columns).unwrap()))
    }

    fn training() -> Features {
        features(vec![
            Column::numeric("x", vec![1.0, 3.0, f64::NAN]),
            Column::nominal("c", &[Some("b"), None, Some("a")]),
            Column::boolean("t", &[Some(true), Some(false), Some(true)]),
            Column::ordinal("s", &[Some("M"), Some("S"), Some("M")], &["S", "M", "L"]),
        ])
    }

    #[test]
    fn every_kind_of_column_becomes_the_numbers_of_the_table_above() {
        let data = training();
        let encoder = Encoder::fit(&data, EncodeOptions::default());
        let names = ["x", "x is missing", "c=a", "c=b", "c is missing", "t", "s"];
        assert_eq!(encoder.names(&data), names);
        let dense = encoder.encode(&data);
        let rows: Vec<Vec<f64>> = (0..3).map(|i| (0..7).map(|j| dense.column(j)[i]).collect()).collect();
        assert_eq!(rows[0], [1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0]);
        assert_eq!(rows[1], [3.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
        assert_eq!(rows[2], [2.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0]);
    }

    #[test]
    fn rows_in_blocks_are_the_rows_of_the_whole() {
        let data = training();
        let encoder = Encoder::fit(&data, EncodeOptions { standardize: true, indicate_missing: true });
        let dense = encoder.encode(&data);
        let mut block = vec![9.0; 2 * encoder.n_columns()];
        encoder.encode_rows(&data, 1..3, &mut block);
        for (i, row) in block.chunks(encoder.n_columns()).enumerate() {
            (0..encoder.n_columns()).for_each(|j| assert_eq!(row[j], dense.column(j)[i + 1]));
        }
        let (mean, deviation) = mean_and_deviation(dense.column(5), None);
        assert!(mean.abs() < 1e-12 && (deviation - 1.0).abs() < 1e-12);
    }

    #[test]
    fn statistics_survive_extreme_values() {
        assert_eq!(mean_and_deviation(&[], None), (0.0, 1.0));
        assert_eq!(mean_and_deviation(&[5.0, 5.0], None), (5.0, 1.0));
        let (mean, deviation) = mean_and_deviation(&[f64::MAX, f64::MAX / 2.0], None);
        assert!(mean.is_finite() && deviation.is_finite());
        assert!(mean_and_deviation(&[1e-300, -1e-300], None).1 > 0.0);
        assert_eq!(mean_and_deviation(&[1.0, 4.0], Some(&[3.0, 1.0])), mean_and_deviation(&[1.0, 1.0, 1.0, 4.0], None));
    }
}
