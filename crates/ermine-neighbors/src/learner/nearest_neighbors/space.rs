//! Conversion of rows to queries, and the index that is searched.

use super::parameters::RowForm;
use crate::search::index::Index;
use crate::search::nearest::Neighbors;
use crate::search::sparse::SparseIndex;
use crate::search::strings::StringIndex;
use ermine_core::distance::metric::Metric;
use ermine_core::distance::rows::RowMatrix;
use ermine_core::error::{Error, Result};
use ermine_core::matrix::{EncodeOptions, Encoder, Features, SparseRows};
use ermine_core::section::Sections;
use ermine_core::table::{Column, Levels, Values};
use serde::{Deserialize, Serialize};

/// Larger numbers are rejected, so that distances stay finite.
const LARGEST: f64 = 1e300;

/// Encoded rows that would take more memory are stored sparsely; dense rows are preferred, since all metrics and indexes support them.
const MOST_DENSE: usize = 1 << 30;

/// How rows of features are converted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RowEncoder {
    /// Numbers without missing values.
    Encoded(Encoder),
    /// The same without zeros.
    Sparse(Encoder),
    /// Numbers unchanged, categories as codes, missing values as NaN. An unknown category gets an unused code.
    Raw {
        /// The categories of each column by code; `None` for numbers.
        levels: Vec<Option<Vec<String>>>,
    },
    /// The text of the single column; empty if missing.
    Text,
}

/// Rows of queries or of an index.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum EncodedRows {
    /// Dense rows of `width` numbers.
    Rows { values: Vec<f64>, width: usize },
    /// Sparse rows.
    Sparse(SparseRows),
    /// Text.
    Texts(Vec<String>),
}

impl RowEncoder {
    /// Fits an encoder to the training rows. An error if their columns can't be converted to this form.
    pub(super) fn fit(form: RowForm, features: &Features, standardize: bool) -> Result<RowEncoder> {
        match form {
            RowForm::Encoded => {
                let encoder = Encoder::fit(features, EncodeOptions { standardize, ..Default::default() });
                let bytes = features.n_rows().saturating_mul(encoder.n_columns()).saturating_mul(size_of::<f64>());
                let sparse = has_sparse(features) || (encoder.is_wide() && bytes > MOST_DENSE);
                Ok(if sparse { RowEncoder::Sparse(encoder) } else { RowEncoder::Encoded(encoder) })
            }
            RowForm::Raw if has_sparse(features) => Err(Error::Unsupported {
                learner: "nearest-neighbors".into(),
                need: "sparse columns with this metric: convert them to dense columns, or choose another metric".into(),
            }),
            RowForm::Raw => {
                let names = |column: &Column| column.levels().map(|levels| levels.names().to_vec());
                Ok(RowEncoder::Raw { levels: features.columns().iter().map(names).collect() })
            }
            RowForm::Text if features.n_columns() == 1 => Ok(RowEncoder::Text),
            RowForm::Text => {
                let n = features.n_columns();
                Err(Error::data(format!(
                    "a text metric compares a single column, but there are {n} columns; drop the others"
                )))
            }
        }
    }

    /// Converts rows. An error if a number is so large that distances would not be finite.
    pub(super) fn read(&self, features: &Features) -> Result<EncodedRows> {
        for (j, column) in features.columns().iter().enumerate().filter(|(_, column)| column.levels().is_none()) {
            let far = |x: f64| x.abs() > LARGEST;
            if matches!(&column.values, Values::Sparse { values, .. } if !values.iter().any(far)) {
                continue;
            }
            if let Some((row, x)) = features.numbers(j).into_iter().enumerate().find(|(_, x)| far(*x)) {
                let name = &column.name;
                return Err(Error::data(format!(
                    "column '{name}' contains {x:e} in row {row}; numbers up to {LARGEST:e} are supported"
                )));
            }
        }
        if let RowEncoder::Sparse(encoder) = self {
            return SparseRows::encode(encoder, features).map(EncodedRows::Sparse);
        }
        let (n, width) = (features.n_rows(), self.width(features.n_columns()));
        if let RowEncoder::Encoded(encoder) = self {
            encoder.require_dense(n)?;
        }
        let mut values = vec![0.0; if *self == RowEncoder::Text { 0 } else { n * width }];
        match self {
            RowEncoder::Encoded(encoder) if encoder.n_columns() > 0 => encoder.encode_rows(features, 0..n, &mut values),
            RowEncoder::Encoded(_) | RowEncoder::Sparse(_) => {}
            RowEncoder::Raw { levels } => {
                for (column, known) in levels.iter().enumerate() {
                    let codes = known.as_ref().and_then(|known| recoded(known, &features.columns()[column]));
                    let numbers = features.numbers(column).into_iter();
                    let code = |v: f64| {
                        codes.as_ref().and_then(|codes| codes.get(v as usize)).map_or(v, |&code| f64::from(code))
                    };
                    let numbers = numbers.map(|v| if v.is_nan() { v } else { code(v) });
                    values.iter_mut().skip(column).step_by(width).zip(numbers).for_each(|(to, v)| *to = v);
                }
            }
            RowEncoder::Text => {
                let column = &features.columns()[0];
                return Ok(EncodedRows::Texts((0..n).map(|row| column.text(features.table_row(row))).collect()));
            }
        }
        Ok(EncodedRows::Rows { values, width })
    }

    /// Number of values per row. Columns without values are not encoded; if there are no others, all rows are equal.
    fn width(&self, n_columns: usize) -> usize {
        match self {
            RowEncoder::Encoded(encoder) | RowEncoder::Sparse(encoder) => encoder.n_columns().max(1),
            RowEncoder::Raw { .. } | RowEncoder::Text => n_columns,
        }
    }

    /// The same encoder with codes for the categories of more rows.
    pub(super) fn with_categories_of(&self, features: &Features) -> RowEncoder {
        let mut more = self.clone();
        if let RowEncoder::Raw { levels } = &mut more {
            for (known, column) in levels.iter_mut().zip(features.columns()) {
                if let (Some(known), Some(levels)) = (known, column.levels()) {
                    let there = Levels::new(known.iter().cloned());
                    known.extend(levels.names().iter().filter(|name| there.code(name).is_none()).cloned());
                }
            }
        }
        more
    }

    /// Whether it can convert tables with this number of columns.
    pub(super) fn reads(&self, n_columns: usize) -> bool {
        match self {
            RowEncoder::Encoded(encoder) | RowEncoder::Sparse(encoder) => encoder.columns().len() == n_columns,
            RowEncoder::Raw { levels } => n_columns > 0 && levels.len() == n_columns,
            RowEncoder::Text => n_columns == 1,
        }
    }
}

/// Whether a column is sparse.
pub(super) fn has_sparse(features: &Features) -> bool {
    features.columns().iter().any(|column| matches!(column.values, Values::Sparse { .. }))
}

/// The code of each category of a column; unknown categories get the next unused code. `None` if the codes don't change.
fn recoded(known: &[String], column: &Column) -> Option<Vec<u32>> {
    let names = column.levels()?.names();
    if names == known {
        return None;
    }
    let codes = Levels::new(known.iter().cloned());
    Some(names.iter().map(|name| codes.code(name).unwrap_or(known.len() as u32)).collect())
}

impl EncodedRows {
    /// How many.
    pub(super) fn len(&self) -> usize {
        match self {
            EncodedRows::Rows { values, width } => values.len() / width,
            EncodedRows::Sparse(rows) => rows.n_rows(),
            EncodedRows::Texts(texts) => texts.len(),
        }
    }

    /// Some of them, in this order.
    pub(super) fn select(&self, rows: &[u32]) -> EncodedRows {
        match self {
            EncodedRows::Rows { values, width } => {
                let values = rows.iter().flat_map(|&r| values[r as usize * width..][..*width].iter().copied());
                EncodedRows::Rows { values: values.collect(), width: *width }
            }
            EncodedRows::Sparse(all) => {
                let mut some =
                    SparseRows { n_columns: all.n_columns, starts: vec![0], columns: Vec::new(), values: Vec::new() };
                for &row in rows {
                    let (columns, values) = all.row(row as usize);
                    some.columns.extend_from_slice(columns);
                    some.values.extend_from_slice(values);
                    some.starts.push(some.columns.len());
                }
                EncodedRows::Sparse(some)
            }
            EncodedRows::Texts(texts) => EncodedRows::Texts(rows.iter().map(|&r| texts[r as usize].clone()).collect()),
        }
    }
}

/// An index over rows of any kind.
#[derive(Debug, Clone)]
pub(super) enum NeighborIndex {
    Rows(Box<Index>),
    Sparse(SparseIndex),
    Texts(StringIndex),
}

impl NeighborIndex {
    pub(super) fn len(&self) -> usize {
        match self {
            NeighborIndex::Rows(index) => index.len(),
            NeighborIndex::Sparse(index) => index.len(),
            NeighborIndex::Texts(index) => index.len(),
        }
    }

    /// The `k` nearest of every query.
    pub(super) fn kneighbors(&self, queries: &EncodedRows, k: usize) -> Result<Neighbors> {
        match (self, queries) {
            (NeighborIndex::Rows(index), EncodedRows::Rows { values, width }) => {
                index.kneighbors(&RowMatrix::row_major(values, *width)?, k)
            }
            (NeighborIndex::Sparse(index), EncodedRows::Sparse(rows)) => index.kneighbors(rows, k),
            (NeighborIndex::Texts(index), EncodedRows::Texts(texts)) => index.kneighbors(texts, k),
            _ => Err(mismatch()),
        }
    }

    /// The `k` nearest others of every row.
    pub(super) fn own_kneighbors(&self, k: usize) -> Result<Neighbors> {
        match self {
            NeighborIndex::Rows(index) => index.own_kneighbors(k),
            NeighborIndex::Sparse(index) => index.own_kneighbors(k),
            NeighborIndex::Texts(index) => index.own_kneighbors(k),
        }
    }

    /// All others within a radius of every row.
    pub(super) fn own_radius_neighbors(&self, radius: f64) -> Result<Neighbors> {
        match self {
            NeighborIndex::Rows(index) => index.own_radius_neighbors(radius),
            NeighborIndex::Sparse(index) => index.own_radius_neighbors(radius),
            NeighborIndex::Texts(index) => index.own_radius_neighbors(radius),
        }
    }

    /// The `k` nearest rows in other folds, for every row.
    pub(super) fn neighbors_apart(&self, fold: &[u32], k: usize, go_on: &dyn Fn() -> Result<()>) -> Result<Neighbors> {
        match self {
            NeighborIndex::Rows(index) => index.neighbors_apart(fold, k, go_on),
            NeighborIndex::Sparse(_) | NeighborIndex::Texts(_) => Err(mismatch()),
        }
    }

    /// All rows within a radius of every query.
    pub(super) fn radius_neighbors(&self, queries: &EncodedRows, radius: f64) -> Result<Neighbors> {
        match (self, queries) {
            (NeighborIndex::Rows(index), EncodedRows::Rows { values, width }) => {
                index.radius_neighbors(&RowMatrix::row_major(values, *width)?, radius)
            }
            (NeighborIndex::Sparse(index), EncodedRows::Sparse(rows)) => index.radius_neighbors(rows, radius),
            (NeighborIndex::Texts(index), EncodedRows::Texts(texts)) => index.radius_neighbors(texts, radius),
            _ => Err(mismatch()),
        }
    }

    /// Appends rows.
    pub(super) fn add(&mut self, queries: &EncodedRows) -> Result<()> {
        match (self, queries) {
            (NeighborIndex::Rows(index), EncodedRows::Rows { values, width }) => match narrowed(values) {
                Some(narrow) => index.add(&RowMatrix::row_major_f32(&narrow, *width)?),
                None => index.add(&RowMatrix::row_major(values, *width)?),
            },
            (NeighborIndex::Sparse(index), EncodedRows::Sparse(rows)) => index.add(rows),
            (NeighborIndex::Texts(index), EncodedRows::Texts(texts)) => index.add(texts.iter().cloned()),
            _ => Err(mismatch()),
        }
    }

    pub(super) fn save(&self, sections: &mut Sections) -> Result<()> {
        match self {
            NeighborIndex::Rows(index) => index.save(sections),
            NeighborIndex::Sparse(index) => index.save(sections),
            NeighborIndex::Texts(index) => index.save(sections),
        }
    }

    /// Loads the index of rows that an encoder produces from tables with `n_columns` columns.
    pub(super) fn load(sections: &Sections, reader: &RowEncoder, n_columns: usize) -> Result<NeighborIndex> {
        if *reader == RowEncoder::Text {
            return Ok(NeighborIndex::Texts(StringIndex::load(sections)?));
        }
        if let RowEncoder::Sparse(encoder) = reader {
            let index = SparseIndex::load(sections)?;
            if index.n_features() != encoder.n_columns() {
                return Err(Error::model_file("a neighbor index holds rows of another width"));
            }
            return Ok(NeighborIndex::Sparse(index));
        }
        let index = Index::load(sections)?;
        if index.n_features() != reader.width(n_columns) {
            return Err(Error::model_file("a neighbor index holds rows of another width"));
        }
        Ok(NeighborIndex::Rows(Box::new(index)))
    }

    /// A description of the metric.
    pub(super) fn metric(&self) -> String {
        let words = |metric: &Metric| match metric {
            Metric::Minkowski { p } => format!("minkowski (p = {p})"),
            metric => metric.name().into(),
        };
        match self {
            NeighborIndex::Rows(index) => words(index.metric()),
            NeighborIndex::Sparse(index) => words(index.metric()),
            NeighborIndex::Texts(index) => format!("{:?} distance of text", index.metric()).to_lowercase(),
        }
    }

    /// A description of the index: its kind, the reason for it, and its size.
    pub(super) fn choice(&self) -> String {
        match self {
            NeighborIndex::Rows(index) => {
                let choice = index.choice();
                let times = index.bytes() as f64 / index.row_bytes() as f64;
                let held = format!("{times:.2} times the rows' {} bytes", index.row_bytes());
                format!("{}, because {}; it takes {held}", choice.kind.name(), choice.reason)
            }
            NeighborIndex::Sparse(index) => {
                format!("brute, because rows are sparse; it takes {} bytes", index.bytes())
            }
            NeighborIndex::Texts(_) => "ball_tree, because the triangle inequality holds".into(),
        }
    }

    /// Measures the recall of an approximate index.
    pub(super) fn state_recall(&mut self, k: usize) -> Result<()> {
        match self {
            NeighborIndex::Rows(index) => index.state_recall(k),
            NeighborIndex::Sparse(_) | NeighborIndex::Texts(_) => Ok(()),
        }
    }

    /// The recall of an approximate index; `None` after rows were added.
    pub(super) fn recall(&self) -> Option<f64> {
        match self {
            NeighborIndex::Rows(index) => index.choice().recall,
            NeighborIndex::Sparse(_) | NeighborIndex::Texts(_) => None,
        }
    }
}

/// The same numbers in single precision, if all are exact: half the memory and twice the speed.
pub(super) fn narrowed(values: &[f64]) -> Option<Vec<f32>> {
    let narrow: Vec<f32> = values.iter().map(|&v| v as f32).collect();
    let same = narrow.iter().zip(values).all(|(&n, &v)| f64::from(n) == v || v.is_nan());
    same.then_some(narrow)
}

/// Unreachable: the encoder determines the kind of queries and index.
pub(super) fn mismatch() -> Error {
    Error::data("text cannot be compared with numbers")
}
