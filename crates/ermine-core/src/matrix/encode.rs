//! Encoding of categories and missing values as numbers.
//!
//! **Idea.** An [`Encoder`] is fitted to the training data and kept in the model, so that prediction takes raw tables.
//!
//! | column | becomes | missing in training | missing or unseen at prediction |
//! |---|---|---|---|
//! | numeric, ordinal, boolean | itself (ordinal: its rank, boolean: 0 or 1), optionally standardized | the mean of the others, and an indicator column | the mean, and the indicator if there is one |
//! | nominal | one 0/1 column for each level that occurs in training | all zero, and an indicator column | all zero, and the indicator if there is one |
//!
//! With an intercept, the 0/1 columns of a nominal column are collinear. [`Encoder::without_references`] drops the first level, which becomes the reference level.
//!
//! **Cost.** One pass over each column to fit; encoding writes each number once.

use super::features::Features;
use crate::error::Result;
use crate::memory;
use crate::parallel;
use crate::table::{Column, ColumnKind, MISSING, Values};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Encoder options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodeOptions {
    /// Standardize numbers to mean 0 and standard deviation 1.
    pub standardize: bool,
    /// Add a 0/1 indicator column for each column with missing values in training.
    pub indicate_missing: bool,
}

impl Default for EncodeOptions {
    fn default() -> Self {
        EncodeOptions { standardize: false, indicate_missing: true }
    }
}

/// The encoding of each column. Part of a model that was trained on encoded data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedEncoder")]
pub struct Encoder {
    columns: Vec<ColumnEncoding>,
}

/// An encoder as read from a model file.
#[derive(Deserialize)]
struct UncheckedEncoder {
    columns: Vec<ColumnEncoding>,
}

impl TryFrom<UncheckedEncoder> for Encoder {
    type Error = &'static str;

    fn try_from(unchecked: UncheckedEncoder) -> std::result::Result<Encoder, &'static str> {
        if !unchecked.columns.iter().all(ColumnEncoding::is_valid) {
            return Err("the encoding of a column is invalid");
        }
        Ok(Encoder { columns: unchecked.columns })
    }
}

/// The encoding of one column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnEncoding {
    /// `(x - center) / scale`; a missing x is replaced by `fill`.
    Number {
        /// The mean of the training values.
        fill: f64,
        /// Subtracted from the value.
        center: f64,
        /// Divisor.
        scale: f64,
        /// Whether a 0/1 column follows that marks missing values.
        indicator: bool,
    },
    /// One 0/1 column for each level that occurs in training.
    OneHot {
        /// The column of each code within the encoding; `None` for a level that doesn't occur.
        place: Vec<Option<u32>>,
        /// Whether a 0/1 column follows that marks missing values.
        indicator: bool,
        /// The code of the reference level, which is encoded as all zeros.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reference: Option<u32>,
    },
}

/// An encoded dense matrix, column by column.
#[derive(Debug, Clone, PartialEq)]
pub struct EncodedMatrix {
    /// How many rows.
    pub n_rows: usize,
    /// How many columns.
    pub n_columns: usize,
    /// `n_rows * n_columns` numbers, column by column.
    pub values: Vec<f64>,
}

impl EncodedMatrix {
    /// A column.
    pub fn column(&self, j: usize) -> &[f64] {
        &self.values[j * self.n_rows..(j + 1) * self.n_rows]
    }
}

impl ColumnEncoding {
    fn fit(column: &Column, rows: Option<&[u32]>, options: EncodeOptions, weights: Option<&[f64]>) -> ColumnEncoding {
        if column.kind == ColumnKind::Nominal {
            return ColumnEncoding::fit_one_hot(column, rows, options);
        }
        if let (Values::Sparse { n_rows, values, .. }, None, None, false) =
            (&column.values, rows, weights, options.standardize)
            && values.iter().all(f64::is_finite)
        {
            let fill = values.iter().map(|x| x / *n_rows as f64).sum();
            return ColumnEncoding::Number { fill, center: 0.0, scale: 1.0, indicator: false };
        }
        let values = column.numbers(rows);
        let indicator = options.indicate_missing && values.iter().any(|x| x.is_nan());
        let (mean, deviation) = mean_and_deviation(&values, weights);
        let (center, scale) = if options.standardize { (mean, deviation) } else { (0.0, 1.0) };
        ColumnEncoding::Number { fill: mean, center, scale, indicator }
    }

    fn fit_one_hot(column: &Column, rows: Option<&[u32]>, options: EncodeOptions) -> ColumnEncoding {
        let codes = column.codes(rows).unwrap_or_default();
        let mut place = vec![None; column.levels().map_or(0, |levels| levels.len())];
        codes.iter().filter(|&&c| c != MISSING).for_each(|&c| place[c as usize] = Some(0));
        place.iter_mut().flatten().enumerate().for_each(|(i, p)| *p = i as u32);
        ColumnEncoding::OneHot {
            place,
            indicator: options.indicate_missing && codes.contains(&MISSING),
            reference: None,
        }
    }

    /// Whether prediction is safe: numbers stay finite, and each level has its own column.
    fn is_valid(&self) -> bool {
        match self {
            ColumnEncoding::Number { fill, center, scale, .. } => {
                [fill, center, scale].iter().all(|x| x.is_finite()) && *scale != 0.0
            }
            ColumnEncoding::OneHot { place, reference, .. } => {
                let mut used: Vec<u32> = place.iter().flatten().copied().collect();
                used.sort_unstable();
                let has_no_column = |code: u32| matches!(place.get(code as usize), Some(None));
                used.iter().zip(0..).all(|(&column, k)| column == k) && reference.is_none_or(has_no_column)
            }
        }
    }

    /// Number of encoded columns.
    pub fn width(&self) -> usize {
        match self {
            ColumnEncoding::Number { indicator, .. } => 1 + usize::from(*indicator),
            ColumnEncoding::OneHot { place, indicator, .. } => place.iter().flatten().count() + usize::from(*indicator),
        }
    }

    /// Whether 0 is encoded as 0, so that zeros need not be stored.
    pub fn keeps_zero(&self) -> bool {
        matches!(self, ColumnEncoding::OneHot { .. } | ColumnEncoding::Number { center: 0.0, .. })
    }

    /// Calls `put(column, value)` for each encoded value of `x`, except zeros of one-hot and indicator columns.
    #[inline]
    pub fn encode(&self, x: f64, mut put: impl FnMut(usize, f64)) {
        match self {
            ColumnEncoding::Number { fill, center, scale, indicator } => {
                put(0, (if x.is_nan() { *fill } else { x } - center) / scale);
                if *indicator && x.is_nan() {
                    put(1, 1.0);
                }
            }
            ColumnEncoding::OneHot { place, indicator, reference } => match place.get(x as usize) {
                Some(Some(j)) if !x.is_nan() => put(*j as usize, 1.0),
                _ if reference.is_some_and(|code| x == f64::from(code)) => {}
                _ if *indicator => put(self.width() - 1, 1.0),
                _ => {}
            },
        }
    }
}

impl Encoder {
    /// Fits an encoder.
    pub fn fit(features: &Features, options: EncodeOptions) -> Encoder {
        Encoder::fit_weighted(features, options, None)
    }

    /// Fits an encoder with sample weights, which count as repeated rows.
    pub fn fit_weighted(features: &Features, options: EncodeOptions, weights: Option<&[f64]>) -> Encoder {
        let fit = |column: &Column| ColumnEncoding::fit(column, features.rows(), options, weights);
        Encoder { columns: parallel::map_items(features.columns(), fit) }
    }

    /// An encoder for numeric columns without missing values, from their means: numbers are not changed.
    pub fn plain(means: &[f64]) -> Encoder {
        let number = |&fill: &f64| ColumnEncoding::Number { fill, center: 0.0, scale: 1.0, indicator: false };
        Encoder { columns: means.iter().map(number).collect() }
    }

    /// Drops the first level of each nominal column.
    pub fn without_references(mut self) -> Encoder {
        for encoding in &mut self.columns {
            if let ColumnEncoding::OneHot { place, reference, .. } = encoding {
                *reference = place.iter().position(|p| *p == Some(0)).map(|code| code as u32);
                place.iter_mut().for_each(|p| *p = p.and_then(|p| p.checked_sub(1)));
            }
        }
        self
    }

    /// The encoding of each column.
    pub fn columns(&self) -> &[ColumnEncoding] {
        &self.columns
    }

    /// Number of columns of the encoded matrix.
    pub fn n_columns(&self) -> usize {
        self.columns.iter().map(ColumnEncoding::width).sum()
    }

    /// Whether encoded rows should be stored sparsely, because nominal columns have many categories. Depends only on the encoder, so that a model uses one format for any number of
    /// rows.
    pub fn is_wide(&self) -> bool {
        /// A dense value takes 8 bytes, a sparse one 12; up to this many columns per feature, dense rows are faster.
        const MOST_PER_COLUMN: usize = 64;
        let keeps_zeros = self.columns.iter().all(ColumnEncoding::keeps_zero);
        keeps_zeros && self.n_columns() > MOST_PER_COLUMN * self.columns.len()
    }

    /// An error if `n_rows` dense rows don't fit in memory.
    pub fn require_dense(&self, n_rows: usize) -> Result<()> {
        let width = self.n_columns();
        memory::require(
            || {
                format!(
                    "a dense matrix of {n_rows} rows and {width} columns (numbers, and one column for each category)"
                )
            },
            &[n_rows, width, size_of::<f64>()],
            "drop columns with many categories (identifiers, free text), or train on fewer rows",
        )
    }

    /// The names of the encoded columns: `age`, `color=red`, `age is missing`.
    pub fn names(&self, features: &Features) -> Vec<String> {
        let mut names = Vec::with_capacity(self.n_columns());
        for (column, encoding) in features.columns().iter().zip(&self.columns) {
            let indicator = match encoding {
                ColumnEncoding::Number { indicator, .. } => {
                    names.push(column.name.clone());
                    *indicator
                }
                ColumnEncoding::OneHot { place, indicator, .. } => {
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

    /// Encodes all rows, column by column.
    pub fn encode(&self, features: &Features) -> EncodedMatrix {
        let (n_rows, n_columns) = (features.n_rows(), self.n_columns());
        let mut values = vec![0.0; n_rows * n_columns];
        let mut rest = values.as_mut_slice();
        let mut jobs = Vec::with_capacity(self.columns.len());
        for (column, encoding) in features.columns().iter().zip(&self.columns) {
            let (block, after) = rest.split_at_mut(n_rows * encoding.width());
            rest = after;
            jobs.push((column, encoding, block));
        }
        parallel::consume(jobs, |_, (column, encoding, block): (&Column, &ColumnEncoding, &mut [f64])| {
            for (row, x) in column.numbers(features.rows()).into_iter().enumerate() {
                encoding.encode(x, |j, value| block[j * n_rows + row] = value);
            }
        });
        EncodedMatrix { n_rows, n_columns, values }
    }

    /// Encodes some rows, row by row, into `out` of `rows.len() * n_columns` numbers.
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

/// Mean and standard deviation; 0 and 1 if there are no values, deviation 1 if all are equal.
fn mean_and_deviation(values: &[f64], weights: Option<&[f64]>) -> (f64, f64) {
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let finite = || values.iter().enumerate().filter(|(_, x)| x.is_finite()).map(|(i, x)| (x, weight(i)));
    let total = finite().map(|(_, w)| w).sum::<f64>().max(f64::MIN_POSITIVE);
    let (low, high) = finite().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), (&x, _)| (l.min(x), h.max(x)));
    // The mean of equal numbers may be rounded, which would leave only noise.
    if low >= high {
        return (if low == high { low } else { 0.0 }, 1.0);
    }
    // Dividing before adding avoids overflow.
    let mean = finite().map(|(x, w)| x * (w / total)).sum::<f64>();
    let largest = finite().map(|(x, _)| (x - mean).abs()).fold(0.0, f64::max);
    let variance = finite().map(|(x, w)| ((x - mean) / largest).powi(2) * (w / total)).sum::<f64>();
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
    fn invalid_encoders_are_rejected() {
        let read = |columns: &str| serde_json::from_str::<Encoder>(&format!(r#"{{"columns":[{columns}]}}"#));
        let fitted = Encoder::fit(&training(), EncodeOptions::default()).without_references();
        assert_eq!(serde_json::from_str::<Encoder>(&serde_json::to_string(&fitted).unwrap()).unwrap(), fitted);
        assert!(read(r#"{"one_hot":{"place":[1,null,0],"indicator":true}}"#).is_ok());
        for hostile in [
            r#"{"one_hot":{"place":[0,2],"indicator":false}}"#,
            r#"{"one_hot":{"place":[0,0],"indicator":false}}"#,
            r#"{"one_hot":{"place":[0,1],"indicator":false,"reference":1}}"#,
            r#"{"one_hot":{"place":[0,1],"indicator":false,"reference":7}}"#,
            r#"{"number":{"fill":0.0,"center":0.0,"scale":0.0,"indicator":false}}"#,
        ] {
            assert!(read(hostile).is_err(), "{hostile}");
        }
    }

    #[test]
    fn equal_numbers_stay_equal_when_standardized() {
        // The mean of three times 0.1 is rounded.
        let data = features(vec![Column::numeric("x", vec![0.1, 0.1, 0.1])]);
        let encoder = Encoder::fit(&data, EncodeOptions { standardize: true, ..Default::default() });
        let other = features(vec![Column::numeric("x", vec![0.1, 0.101])]);
        let found = encoder.encode(&other).column(0).to_vec();
        assert_eq!(found[0], 0.0);
        assert!((found[1] - 0.001).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn every_kind_of_column_is_encoded_as_documented() {
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
    fn the_reference_level_is_all_zeros_and_missing_is_not() {
        let data = training();
        let encoder = Encoder::fit(&data, EncodeOptions::default()).without_references();
        assert_eq!(encoder.names(&data), ["x", "x is missing", "c=b", "c is missing", "t", "s"]);
        let dense = encoder.encode(&data);
        assert_eq!((dense.column(2), dense.column(3)), (&[1.0, 0.0, 0.0][..], &[0.0, 1.0, 0.0][..]));
        let text = serde_json::to_string(&encoder).unwrap();
        assert_eq!(serde_json::from_str::<Encoder>(&text).unwrap(), encoder);
    }

    #[test]
    fn weights_count_as_repeated_rows() {
        let data = training();
        let repeated = data.select(&[0, 1, 1, 1, 2, 2]).unwrap();
        let options = EncodeOptions { standardize: true, indicate_missing: true };
        let weighted = Encoder::fit_weighted(&data, options, Some(&[1.0, 3.0, 2.0]));
        let (a, b) = (weighted.encode(&data), Encoder::fit(&repeated, options).encode(&data));
        assert!(a.values.iter().zip(&b.values).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn blocks_of_rows_equal_the_whole() {
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
    }
}
