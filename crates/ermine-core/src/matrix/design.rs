//! The design matrix of a linear method: numeric features, dense or sparse, without a copy if the table already contains them.
//!
//! **Idea.** A [`FeatureMap`] (encoder, and optionally polynomial terms) is fitted to the training data and kept in the model. Applied to features it gives
//! [`NumericFeatures`], from which solvers get a [`Design`]. Numeric columns without missing values are read in place, whether they are a row-major array, a column-major array or
//! separate columns; other columns are encoded. The design is sparse if a column is sparse or a nominal column has many categories.

use super::encode::{ColumnEncoding, EncodeOptions, Encoder};
use super::features::Features;
use super::polynomial::Polynomial;
use super::sparse::SparseRows;
use crate::error::{Error, Result};
use crate::linalg::dense::{BLOCK, ColumnView};
use crate::linalg::{Dense, Design, Sparse};
use crate::memory;
use crate::parallel;
use crate::table::{Buffer, Column, ColumnKind, Values};
use serde::{Deserialize, Serialize};

/// Options of a design matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DesignOptions {
    /// Maximum degree of polynomial terms: 1 for the columns themselves.
    pub degree: usize,
    /// Only products of distinct columns.
    pub interaction_only: bool,
    /// Drop the column of the first level of each nominal column.
    pub references: bool,
}

/// How features are converted to numbers. Part of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeatureMap {
    encoder: Encoder,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    polynomial: Option<Polynomial>,
}

/// Numeric features.
#[derive(Debug)]
pub struct NumericFeatures<'f> {
    features: &'f Features,
    held: NumericStorage,
}

#[derive(Debug)]
enum NumericStorage {
    /// The columns of the table.
    Borrowed,
    /// Encoded columns, and numeric columns of the table.
    Mixed(Vec<DesignColumn>),
    /// Rows of terms.
    Rows(Vec<f64>, usize),
    Sparse(SparseRows),
}

/// The location of a numeric column.
#[derive(Debug)]
enum DesignColumn {
    /// A column of the table, by index.
    Table(usize),
    /// An encoded column.
    Owned(Vec<f64>),
}

impl FeatureMap {
    /// Fits the map to the training data (weights count as repeated rows) and converts them.
    pub fn fit<'f>(
        features: &'f Features,
        options: DesignOptions,
        weights: Option<&[f64]>,
    ) -> Result<(FeatureMap, NumericFeatures<'f>)> {
        if let (Some(means), 0..=1) = (plain_means(features, weights), options.degree) {
            let map = FeatureMap { encoder: Encoder::plain(&means), polynomial: None };
            return Ok((map, NumericFeatures { features, held: NumericStorage::Borrowed }));
        }
        check_finite(features)?;
        let encoder = Encoder::fit_weighted(features, EncodeOptions::default(), weights);
        let encoder = if options.references { encoder.without_references() } else { encoder };
        let polynomial = match options.degree {
            0 | 1 => None,
            degree => Some(Polynomial::new(&flags(&encoder, features), degree, options.interaction_only)?),
        };
        let map = FeatureMap { encoder, polynomial };
        let numbers = map.numbers(features)?;
        Ok((map, numbers))
    }

    /// Numeric columns in place, without checking them: the caller checks whether they are finite, and then [sets](Self::set_means) their means. `None` if not all columns are plain
    /// numbers.
    pub fn unchecked<'f>(features: &'f Features, options: DesignOptions) -> Option<(FeatureMap, NumericFeatures<'f>)> {
        borrowed(features).filter(|_| options.degree <= 1)?;
        let map = FeatureMap { encoder: Encoder::plain(&vec![0.0; features.n_columns()]), polynomial: None };
        Some((map, NumericFeatures { features, held: NumericStorage::Borrowed }))
    }

    /// Sets the values that replace missing values in prediction.
    pub fn set_means(&mut self, means: &[f64]) {
        self.encoder = Encoder::plain(means);
    }

    /// Checks a map that was read from a file.
    pub fn check(&self, n_features: usize) -> Result<()> {
        if self.encoder.columns().len() != n_features {
            return Err(Error::model_file("its encoder is for another number of columns"));
        }
        self.polynomial.as_ref().map_or(Ok(()), |polynomial| polynomial.check(self.encoder.n_columns()))
    }

    /// How categories and missing values become numbers.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// The polynomial terms over the encoded columns, if there are any: each the product of a shorter term (none for a single column) and a column.
    pub fn terms(&self) -> Option<&[(Option<u32>, u32)]> {
        self.polynomial.as_ref().map(Polynomial::terms)
    }

    /// Number of columns of the design matrix.
    pub fn n_columns(&self) -> usize {
        self.polynomial.as_ref().map_or_else(|| self.encoder.n_columns(), Polynomial::n_terms)
    }

    /// Names of the columns of the design matrix.
    pub fn names(&self, features: &Features) -> Vec<String> {
        let names = self.encoder.names(features);
        match &self.polynomial {
            Some(polynomial) => polynomial.names(&names),
            None => names,
        }
    }

    /// Converts features.
    pub fn numbers<'f>(&self, features: &'f Features) -> Result<NumericFeatures<'f>> {
        let raw = NumericFeatures { features, held: self.encoded(features)? };
        let Some(polynomial) = &self.polynomial else { return Ok(raw) };
        let held = match raw.design()? {
            Design::Dense(x) => {
                let (n, terms) = (x.n_rows(), polynomial.n_terms());
                memory::require(
                    || format!("{terms} polynomial terms of {n} rows"),
                    &[n, terms, size_of::<f64>()],
                    "use a lower degree, fewer columns, or fewer rows",
                )?;
                NumericStorage::Rows(expand_dense(polynomial, &x), terms)
            }
            Design::Sparse(x) => NumericStorage::Sparse(expand_sparse(polynomial, &x)),
        };
        Ok(NumericFeatures { features, held })
    }

    fn encoded(&self, features: &Features) -> Result<NumericStorage> {
        let is_plain = |e: &ColumnEncoding| matches!(e, ColumnEncoding::Number { indicator: false, .. });
        if self.encoder.columns().iter().all(is_plain) && has_finite_sums(features) {
            return Ok(NumericStorage::Borrowed);
        }
        check_finite(features)?;
        let has_sparse = features.columns().iter().any(|c| matches!(c.values, Values::Sparse { .. }));
        if has_sparse || self.encoder.is_wide() {
            return Ok(NumericStorage::Sparse(SparseRows::encode(&self.encoder, features)?));
        }
        self.encoder.require_dense(features.n_rows())?;
        let (columns, encodings) = (features.columns(), self.encoder.columns());
        let places = parallel::map(columns.len().min(encodings.len()), |j| {
            encoded_column(j, &columns[j], &encodings[j], features).into_iter().collect::<Vec<_>>()
        });
        Ok(NumericStorage::Mixed(places.into_iter().flatten().collect()))
    }
}

impl NumericFeatures<'_> {
    /// The design matrix.
    pub fn design(&self) -> Result<Design<'_>> {
        let n_rows = self.features.n_rows();
        Ok(match &self.held {
            NumericStorage::Borrowed => match borrowed(self.features) {
                Some(dense) => dense.into(),
                None => return Err(Error::data("columns of numbers were expected")),
            },
            NumericStorage::Mixed(places) => {
                let mut views = Vec::with_capacity(places.len());
                for place in places {
                    views.push(match place {
                        DesignColumn::Owned(values) => Some(ColumnView::F64(values, 1)),
                        DesignColumn::Table(j) => column_view(&self.features.columns()[*j]),
                    });
                }
                let views = views.into_iter().collect::<Option<Vec<_>>>();
                Dense::columns(views.ok_or_else(|| Error::data("columns of numbers were expected"))?, n_rows)?.into()
            }
            NumericStorage::Rows(values, n) => Dense::rows_f64(values, n_rows, *n, *n)?.into(),
            NumericStorage::Sparse(rows) => {
                Sparse::of_known_rows(&rows.starts, &rows.columns, &rows.values, rows.n_columns).into()
            }
        })
    }
}

/// A numeric column in place, unless its stride is negative.
fn column_view(column: &Column) -> Option<ColumnView<'_>> {
    match &column.values {
        Values::F64(values) => values.span().map(|(span, stride)| ColumnView::F64(span, stride)),
        Values::F32(values) => values.span().map(|(span, stride)| ColumnView::F32(span, stride)),
        _ => None,
    }
}

/// The numeric columns that a column becomes; the column itself if it is numeric without missing values and all rows are used.
fn encoded_column(j: usize, column: &Column, encoding: &ColumnEncoding, features: &Features) -> Vec<DesignColumn> {
    let plain =
        matches!(encoding, ColumnEncoding::Number { indicator: false, .. }) && column.kind == ColumnKind::Numeric;
    if plain && features.rows().is_none() && column_view(column).is_some() && column.n_missing() == 0 {
        return vec![DesignColumn::Table(j)];
    }
    let mut made = vec![vec![0.0; features.n_rows()]; encoding.width()];
    for (row, x) in column.numbers(features.rows()).into_iter().enumerate() {
        encoding.encode(x, |k, value| made[k][row] = value);
    }
    made.into_iter().map(DesignColumn::Owned).collect()
}

/// Which encoded columns contain only zeros and ones.
fn flags(encoder: &Encoder, features: &Features) -> Vec<bool> {
    let of = |(column, encoding): (&Column, &ColumnEncoding)| {
        let first = !matches!(column.kind, ColumnKind::Numeric | ColumnKind::Ordinal);
        let width = encoding.width();
        (0..width).map(|j| first || j > 0).collect::<Vec<bool>>()
    };
    features.columns().iter().zip(encoder.columns()).flat_map(of).collect()
}

/// The columns in place, if all are numeric. Selected rows can be read in place only from a row-major array.
fn borrowed(features: &Features) -> Option<Dense<'_>> {
    let (n, columns) = (features.n_rows(), features.columns());
    if columns.iter().any(|c| c.kind != ColumnKind::Numeric) {
        return None;
    }
    fn all<'f, T>(columns: &'f [Column], of: fn(&'f Column) -> Option<T>) -> Option<Vec<T>> {
        columns.iter().map(of).collect()
    }
    let double = all(columns, |c| if let Values::F64(values) = &c.values { Some(values) } else { None });
    if let Some((rows, stride)) = double.and_then(|columns| Buffer::rows(&columns)) {
        let Some(chosen) = features.rows() else { return Dense::rows_f64(rows, n, columns.len(), stride).ok() };
        return chosen_rows(chosen, columns.len(), |i, p| ColumnView::F64(&rows[i * stride..i * stride + p], 1));
    }
    let single = all(columns, |c| if let Values::F32(values) = &c.values { Some(values) } else { None });
    if let Some((rows, stride)) = single.and_then(|columns| Buffer::rows(&columns)) {
        let Some(chosen) = features.rows() else { return Dense::rows_f32(rows, n, columns.len(), stride).ok() };
        return chosen_rows(chosen, columns.len(), |i, p| ColumnView::F32(&rows[i * stride..i * stride + p], 1));
    }
    features.rows().is_none().then(|| Dense::columns(all(columns, column_view)?, n).ok())?
}

/// Selected rows of an array, `p` numbers each; `None` if rows are so short that copying them is better.
fn chosen_rows<'f>(rows: &[u32], p: usize, line: impl Fn(usize, usize) -> ColumnView<'f>) -> Option<Dense<'f>> {
    const SHORT: usize = 4;
    let lines = rows.iter().map(|&i| line(i as usize, p));
    (p >= SHORT).then(|| Dense::columns(lines.collect(), p).ok()).flatten().map(|columns| columns.transposed())
}

/// The means of the columns, in one pass; `None` if not all columns are plain numbers.
fn plain_means(features: &Features, weights: Option<&[f64]>) -> Option<Vec<f64>> {
    let n = features.n_rows();
    let dense = borrowed(features)?;
    let total = weights.map_or(n as f64, |w| w.iter().sum());
    let shares: Vec<f64> = (0..n).map(|i| weights.map_or(1.0, |w| w[i]) / total).collect();
    let means = dense.transposed_times(&shares);
    means.iter().all(|m| m.is_finite()).then_some(means)
}

/// Whether all columns are plain finite numbers.
fn has_finite_sums(features: &Features) -> bool {
    borrowed(features).is_some_and(|dense| dense.is_finite())
}

/// Rejects infinite values, naming the column.
fn check_finite(features: &Features) -> Result<()> {
    for column in features.columns().iter().filter(|c| c.kind == ColumnKind::Numeric) {
        let infinite = match &column.values {
            Values::Sparse { values, .. } => values.iter().position(f64::is_infinite),
            _ => column.numbers(features.rows()).iter().position(|x| x.is_infinite()),
        };
        if let Some(i) = infinite {
            let message = format!("column '{}' is infinite; values must be finite or missing", column.name);
            // The stored values of a sparse column are not indexed by row.
            let is_sparse = matches!(column.values, Values::Sparse { .. });
            return Err(if is_sparse { Error::data(message) } else { Error::row(i, message) });
        }
    }
    Ok(())
}

fn expand_dense(polynomial: &Polynomial, x: &Dense) -> Vec<f64> {
    let (p, terms) = (x.n_columns(), polynomial.n_terms());
    let mut out = vec![0.0; x.n_rows() * terms];
    parallel::for_each_chunk(&mut out, BLOCK * terms.max(1), |b, out| {
        let (mut buffer, start) = (Vec::new(), b * BLOCK);
        let block = x.block(start..start + out.len() / terms.max(1), &mut buffer);
        out.chunks_exact_mut(terms.max(1)).enumerate().for_each(|(r, out)| polynomial.expand(block.row(r, p), out));
    });
    out
}

fn expand_sparse(polynomial: &Polynomial, x: &Sparse) -> SparseRows {
    let (mut row, mut terms) = (vec![0.0; x.n_columns()], vec![0.0; polynomial.n_terms()]);
    let mut out = SparseRows { n_columns: terms.len(), starts: vec![0], columns: Vec::new(), values: Vec::new() };
    for i in 0..x.n_rows() {
        let (places, numbers) = x.rows().line(i);
        places.iter().zip(numbers).for_each(|(&j, &v)| row[j as usize] = v);
        polynomial.expand(&row, &mut terms);
        places.iter().for_each(|&j| row[j as usize] = 0.0);
        for (t, &v) in terms.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            out.columns.push(t as u32);
            out.values.push(v);
        }
        out.starts.push(out.columns.len());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::dense::RowView;
    use crate::table::Table;
    use std::sync::Arc;

    const PLAIN: DesignOptions = DesignOptions { degree: 1, interaction_only: false, references: false };

    fn features(columns: Vec<Column>) -> Features {
        Features::new(Arc::new(Table::new(columns).unwrap()))
    }

    /// The columns of a row-major array.
    fn columns_of(array: &Arc<Vec<f64>>, n: usize, p: usize) -> Vec<Column> {
        let column = |j: usize| {
            // SAFETY: n values, p apart, from offset j lie inside the array, which the owner holds and nobody writes to.
            let buffer = unsafe { Buffer::foreign(array.as_ptr().add(j), n, p as isize, array.clone()) };
            Column::numeric(format!("x{j}"), buffer)
        };
        (0..p).map(column).collect()
    }

    #[test]
    fn arrays_are_read_in_place() {
        let array = Arc::new((0..12).map(f64::from).collect::<Vec<_>>());
        let data = features(columns_of(&array, 4, 3));
        let (map, numbers) = FeatureMap::fit(&data, PLAIN, None).unwrap();
        let Design::Dense(x) = numbers.design().unwrap() else { panic!("dense columns became sparse") };
        let Some(RowView::F64(row)) = x.row(2) else { panic!("rows were taken apart") };
        assert_eq!(row.as_ptr(), &raw const array[6], "the numbers were copied");
        assert_eq!(map.names(&data), ["x0", "x1", "x2"]);
        // Separate columns are not copied either.
        let separate = features(vec![Column::numeric("a", vec![1.0, 2.0]), Column::numeric_f32("b", vec![3.0, 4.0])]);
        let (_, numbers) = FeatureMap::fit(&separate, PLAIN, None).unwrap();
        assert!(matches!(numbers.held, NumericStorage::Borrowed));
        assert_eq!(numbers.design().unwrap().times(&[1.0, 10.0], 0.0), [31.0, 42.0]);
    }

    #[test]
    fn selected_rows_of_an_array_are_read_in_place() {
        let array = Arc::new((0..20).map(f64::from).collect::<Vec<_>>());
        let data = features(columns_of(&array, 4, 5)).select(&[3, 1, 1]).unwrap();
        let (map, numbers) = FeatureMap::fit(&data, PLAIN, None).unwrap();
        assert!(matches!(numbers.held, NumericStorage::Borrowed));
        let x = numbers.design().unwrap();
        assert_eq!(x.times(&[1.0, 0.0, 0.0, 0.0, 0.0], 0.0), [15.0, 5.0, 5.0]);
        let Design::Dense(x) = x else { panic!("dense columns became sparse") };
        let Some(RowView::F64(row)) = x.row(1) else { panic!("rows were taken apart") };
        assert_eq!(row.as_ptr(), &raw const array[5], "the numbers were copied");
        let missing = data.select(&[0]).unwrap();
        assert_eq!(map.numbers(&missing).unwrap().design().unwrap().times(&[0.0, 0.0, 0.0, 0.0, 1.0], 0.0), [19.0]);
    }

    #[test]
    fn only_encoded_columns_are_copied() {
        let data = features(vec![
            Column::numeric("a", vec![1.0, 2.0, 3.0]),
            Column::numeric("b", vec![1.0, f64::NAN, 3.0]),
            Column::nominal("c", &[Some("u"), Some("v"), Some("u")]),
        ]);
        let (map, numbers) = FeatureMap::fit(&data, PLAIN, None).unwrap();
        let NumericStorage::Mixed(places) = &numbers.held else { panic!("{:?}", numbers.held) };
        assert!(
            matches!(places[0], DesignColumn::Table(0))
                && places[1..].iter().all(|p| matches!(p, DesignColumn::Owned(_)))
        );
        assert_eq!(map.names(&data), ["a", "b", "b is missing", "c=u", "c=v"]);
        let x = numbers.design().unwrap();
        assert_eq!(x.times(&[1.0, 10.0, 100.0, 1000.0, 10_000.0], 0.0), [1011.0, 10_122.0, 1033.0]);
        let some = data.select(&[2, 1]).unwrap();
        let again = map.numbers(&some).unwrap();
        assert_eq!(again.design().unwrap().times(&[1.0, 10.0, 100.0, 1000.0, 10_000.0], 0.0), [1033.0, 10_122.0]);
    }

    #[test]
    fn missing_values_are_replaced_by_the_training_mean() {
        let (map, _) = FeatureMap::fit(&features(vec![Column::numeric("a", vec![1.0, 3.0])]), PLAIN, None).unwrap();
        let new = features(vec![Column::numeric("a", vec![f64::NAN, 5.0])]);
        assert_eq!(map.numbers(&new).unwrap().design().unwrap().times(&[1.0], 0.0), [2.0, 5.0]);
        let infinite = features(vec![Column::numeric("a", vec![1.0, f64::INFINITY])]);
        assert!(map.numbers(&infinite).unwrap_err().to_string().contains("row 2: column 'a' is infinite"));
    }

    #[test]
    fn sparse_and_dense_terms_agree() {
        let dense = features(vec![
            Column::numeric("a", vec![0.0, 2.0, 0.0, 3.0]),
            Column::nominal("c", &[Some("u"), Some("v"), None, Some("u")]),
        ]);
        let sparse = features(vec![
            Column::sparse("a", 4, vec![1, 3].into(), vec![2.0, 3.0].into()),
            Column::nominal("c", &[Some("u"), Some("v"), None, Some("u")]),
        ]);
        let options = DesignOptions { degree: 3, ..PLAIN };
        let (map, a) = FeatureMap::fit(&dense, options, None).unwrap();
        let (same, b) = FeatureMap::fit(&sparse, options, None).unwrap();
        assert_eq!(map, same);
        assert!(matches!(b.design().unwrap(), Design::Sparse(_)));
        let w: Vec<f64> = (0..map.n_columns()).map(|j| 1.0 + j as f64).collect();
        assert_eq!(a.design().unwrap().times(&w, 0.5), b.design().unwrap().times(&w, 0.5));
        assert!(!map.names(&dense).iter().any(|n| n.contains("c=u^2")), "0/1 columns have no powers");
    }
}
