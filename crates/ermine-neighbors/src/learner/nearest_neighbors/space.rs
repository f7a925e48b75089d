//! Where neighbors are looked for: how a table's rows become queries, and the index that answers them.

use super::parameters::RowForm;
use crate::search::index::Index;
use crate::search::nearest::Neighbors;
use crate::search::sparse::SparseIndex;
use crate::search::strings::StringIndex;
use ermine_core::distance::metric::Metric;
use ermine_core::distance::rows::Rows;
use ermine_core::error::{Error, Result};
use ermine_core::matrix::{EncodeOptions, Encoder, Features, SparseRows};
use ermine_core::section::Sections;
use ermine_core::table::{Column, Levels, Values};
use serde::{Deserialize, Serialize};

/// Larger numbers are refused: distances must stay finite.
const LARGEST: f64 = 1e300;

/// Rows of categories that would take more than this are held with their zeros left out: all metrics and indexes are for dense rows, so these are preferred.
const MOST_DENSE: usize = 1 << 30;

/// How rows of features become what is compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RowEncoder {
    /// Numbers, with nothing missing.
    Encoded(Encoder),
    /// The same with the zeros left out.
    Sparse(Encoder),
    /// Numbers as they are, categories as codes, missing values as NaN. A category that no row had gets a code that no row has.
    Raw {
        /// The categories of each column by code; none for numbers.
        levels: Vec<Option<Vec<String>>>,
    },
    /// The text of the one column; nothing for a missing one.
    Text,
}

/// Rows that are asked about, or that are indexed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum EncodedRows {
    /// Rows of `width` numbers, one after the other.
    Rows { values: Vec<f64>, width: usize },
    /// Rows with their zeros left out.
    Sparse(SparseRows),
    /// Text.
    Texts(Vec<String>),
}

impl RowEncoder {
    /// Looks at the training rows. An error if their columns can't be read in this form.
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
                need: "sparse columns with a metric that compares columns as they are: make them dense, or take another metric".into(),
            }),
            RowForm::Raw => {
                let names = |column: &Column| column.levels().map(|levels| levels.names().to_vec());
                Ok(RowEncoder::Raw { levels: features.columns().iter().map(names).collect() })
            }
            RowForm::Text if features.n_columns() == 1 => Ok(RowEncoder::Text),
            RowForm::Text => {
                let n = features.n_columns();
                Err(Error::data(format!(
                    "a metric of text compares one column, but there are {n}: leave the others out"
                )))
            }
        }
    }

    /// The rows, read. An error where a number is so large that distances to it would not be finite.
    pub(super) fn read(&self, features: &Features) -> Result<EncodedRows> {
        for (j, column) in features.columns().iter().enumerate().filter(|(_, column)| column.levels().is_none()) {
            let far = |x: f64| x.abs() > LARGEST;
            if matches!(&column.values, Values::Sparse { values, .. } if !values.iter().any(far)) {
                continue;
            }
            if let Some((row, x)) = features.numbers(j).into_iter().enumerate().find(|(_, x)| far(*x)) {
                let name = &column.name;
                return Err(Error::data(format!(
                    "column '{name}' holds {x:e} in row {row}: distances can be measured up to {LARGEST:e}"
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

    /// Numbers in a row. Columns without a single value are encoded as nothing; all rows are then equal.
    fn width(&self, n_columns: usize) -> usize {
        match self {
            RowEncoder::Encoded(encoder) | RowEncoder::Sparse(encoder) => encoder.n_columns().max(1),
            RowEncoder::Raw { .. } | RowEncoder::Text => n_columns,
        }
    }

    /// The same reader with codes for the categories of more rows.
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

    /// Whether it reads tables of so many columns.
    pub(super) fn reads(&self, n_columns: usize) -> bool {
        match self {
            RowEncoder::Encoded(encoder) | RowEncoder::Sparse(encoder) => encoder.columns().len() == n_columns,
            RowEncoder::Raw { levels } => n_columns > 0 && levels.len() == n_columns,
            RowEncoder::Text => n_columns == 1,
        }
    }
}

/// Whether a column has its zeros left out.
pub(super) fn has_sparse(features: &Features) -> bool {
    features.columns().iter().any(|column| matches!(column.values, Values::Sparse { .. }))
}

/// The known code of each category of a column, or the next code after all for one that isn't known. None where the categories are the known ones.
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

/// An index over rows of either sort.
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
                index.kneighbors(&Rows::row_major(values, *width)?, k)
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

    /// The `k` nearest of every row that are in another fold.
    pub(super) fn neighbors_apart(&self, fold: &[u32], k: usize, go_on: &dyn Fn() -> Result<()>) -> Result<Neighbors> {
        match self {
            NeighborIndex::Rows(index) => index.neighbors_apart(fold, k, go_on),
            NeighborIndex::Sparse(_) | NeighborIndex::Texts(_) => Err(mismatch()),
        }
    }

    /// All within a radius of every query.
    pub(super) fn radius_neighbors(&self, queries: &EncodedRows, radius: f64) -> Result<Neighbors> {
        match (self, queries) {
            (NeighborIndex::Rows(index), EncodedRows::Rows { values, width }) => {
                index.radius_neighbors(&Rows::row_major(values, *width)?, radius)
            }
            (NeighborIndex::Sparse(index), EncodedRows::Sparse(rows)) => index.radius_neighbors(rows, radius),
            (NeighborIndex::Texts(index), EncodedRows::Texts(texts)) => index.radius_neighbors(texts, radius),
            _ => Err(mismatch()),
        }
    }

    /// Adds rows after those that are there.
    pub(super) fn add(&mut self, queries: &EncodedRows) -> Result<()> {
        match (self, queries) {
            (NeighborIndex::Rows(index), EncodedRows::Rows { values, width }) => match narrowed(values) {
                Some(narrow) => index.add(&Rows::row_major_f32(&narrow, *width)?),
                None => index.add(&Rows::row_major(values, *width)?),
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

    /// Reads the index of rows that a reader gives of tables of `n_columns`.
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

    /// The metric, for people.
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

    /// The kind of index, why, and what it holds, for people.
    pub(super) fn choice(&self) -> String {
        match self {
            NeighborIndex::Rows(index) => {
                let choice = index.choice();
                let times = index.bytes() as f64 / index.row_bytes() as f64;
                let held = format!("{times:.2} times the rows' {} bytes", index.row_bytes());
                format!("{}, because {}; it holds {held}", choice.kind.name(), choice.reason)
            }
            NeighborIndex::Sparse(index) => {
                format!("brute, because rows are sparse; it holds {} bytes", index.bytes())
            }
            NeighborIndex::Texts(_) => "ball_tree, because the triangle inequality holds".into(),
        }
    }

    /// Measures the share of the `k` nearest that an approximate index finds.
    pub(super) fn state_recall(&mut self, k: usize) -> Result<()> {
        match self {
            NeighborIndex::Rows(index) => index.state_recall(k),
            NeighborIndex::Sparse(_) | NeighborIndex::Texts(_) => Ok(()),
        }
    }

    /// For an approximate index, the share of neighbors that it finds; none after rows were added.
    pub(super) fn recall(&self) -> Option<f64> {
        match self {
            NeighborIndex::Rows(index) => index.choice().recall,
            NeighborIndex::Sparse(_) | NeighborIndex::Texts(_) => None,
        }
    }
}

/// The same numbers in single precision, where it holds every one of them: half the memory and twice the speed.
pub(super) fn narrowed(values: &[f64]) -> Option<Vec<f32>> {
    let narrow: Vec<f32> = values.iter().map(|&v| v as f32).collect();
    let same = narrow.iter().zip(values).all(|(&n, &v)| f64::from(n) == v || v.is_nan());
    same.then_some(narrow)
}

/// The reader decides which sort of queries and index there is, so this is never seen.
pub(super) fn mismatch() -> Error {
    Error::data("text was compared with numbers")
}
