//! Numeric rows, borrowed or owned. [`RowMatrix`] borrows a matrix in any layout (row-major or column-major, `f32` or `f64`, any stride); [`Points`] owns a row-major matrix in
//! its original precision.

use crate::error::{Error, Result};
use crate::matrix::order;
use crate::section::Sections;

/// A floating-point type of stored points.
pub trait PointElement: Copy + Send + Sync + Default + 'static {
    /// Size in bytes.
    const BYTES: usize;
    /// Converts to `f64` exactly.
    fn wide(self) -> f64;
    /// Rounds to the nearest value.
    fn narrow(value: f64) -> Self;
    /// An integer with the same order.
    fn rank(self) -> u64;
    /// The inverse of `rank`.
    fn unrank(rank: u64) -> Self;
    /// Writes an array.
    fn put(sections: &mut Sections, name: &str, values: &[Self]);
    /// Reads an array.
    fn get(sections: &Sections, name: &str) -> Result<Vec<Self>>;
}

impl PointElement for f32 {
    const BYTES: usize = 4;
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn narrow(value: f64) -> Self {
        value as f32
    }
    #[inline(always)]
    fn rank(self) -> u64 {
        u64::from(order::key_f32(self))
    }
    #[inline(always)]
    fn unrank(rank: u64) -> Self {
        order::number_f32(rank as u32)
    }
    fn put(sections: &mut Sections, name: &str, values: &[Self]) {
        sections.put_f32s(name, values);
    }
    fn get(sections: &Sections, name: &str) -> Result<Vec<Self>> {
        sections.f32s(name)
    }
}

impl PointElement for f64 {
    const BYTES: usize = 8;
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
    #[inline(always)]
    fn narrow(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn rank(self) -> u64 {
        order::key(self)
    }
    #[inline(always)]
    fn unrank(rank: u64) -> Self {
        order::number(rank)
    }
    fn put(sections: &mut Sections, name: &str, values: &[Self]) {
        sections.put_f64s(name, values);
    }
    fn get(sections: &Sections, name: &str) -> Result<Vec<Self>> {
        sections.f64s(name)
    }
}

/// The values of a matrix in single or double precision.
#[derive(Debug, Clone, Copy)]
pub enum MatrixValues<'a> {
    /// Single precision.
    F32(&'a [f32]),
    /// Double precision.
    F64(&'a [f64]),
}

/// A borrowed matrix: the value at (row, column) is `values[row * row_stride + column * column_stride]`.
#[derive(Debug, Clone, Copy)]
pub struct RowMatrix<'a> {
    values: MatrixValues<'a>,
    n_rows: usize,
    n_features: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a> RowMatrix<'a> {
    /// A matrix with arbitrary strides.
    pub fn strided(
        values: MatrixValues<'a>,
        shape: (usize, usize),
        row_stride: usize,
        column_stride: usize,
    ) -> Result<RowMatrix<'a>> {
        let (n_rows, n_features) = shape;
        let len = match values {
            MatrixValues::F32(v) => v.len(),
            MatrixValues::F64(v) => v.len(),
        };
        let last = (n_rows.saturating_sub(1))
            .checked_mul(row_stride)
            .zip(n_features.saturating_sub(1).checked_mul(column_stride))
            .and_then(|(r, c)| r.checked_add(c));
        if n_rows > 0 && n_features > 0 && last.is_none_or(|last| last >= len) {
            return Err(Error::data(format!("a matrix of {n_rows} x {n_features} does not fit in {len} numbers")));
        }
        if n_rows > u32::MAX as usize {
            return Err(Error::data(format!(
                "{n_rows} rows: nearest-neighbor search supports at most {} rows",
                u32::MAX
            )));
        }
        Ok(RowMatrix { values, n_rows, n_features, row_stride, column_stride })
    }

    /// A row-major matrix in single precision.
    pub fn row_major_f32(values: &'a [f32], n_features: usize) -> Result<RowMatrix<'a>> {
        let n_rows = whole_rows(values.len(), n_features)?;
        RowMatrix::strided(MatrixValues::F32(values), (n_rows, n_features), n_features, 1)
    }

    /// A row-major matrix in double precision.
    pub fn row_major(values: &'a [f64], n_features: usize) -> Result<RowMatrix<'a>> {
        let n_rows = whole_rows(values.len(), n_features)?;
        RowMatrix::strided(MatrixValues::F64(values), (n_rows, n_features), n_features, 1)
    }

    /// A column-major matrix in double precision.
    pub fn column_major(values: &'a [f64], n_rows: usize) -> Result<RowMatrix<'a>> {
        let n_features = whole_rows(values.len(), n_rows)?;
        RowMatrix::strided(MatrixValues::F64(values), (n_rows, n_features), 1, n_rows)
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of columns.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// Whether the numbers are single precision.
    pub fn is_f32(&self) -> bool {
        matches!(self.values, MatrixValues::F32(_))
    }

    /// The value in `row` and `column`.
    #[inline]
    pub fn get(&self, row: usize, column: usize) -> f64 {
        let at = row * self.row_stride + column * self.column_stride;
        match self.values {
            MatrixValues::F32(v) => f64::from(v[at]),
            MatrixValues::F64(v) => v[at],
        }
    }

    /// Copies `row` to `out`, which must have room for `n_features` numbers.
    #[inline]
    pub fn copy_row(&self, row: usize, out: &mut [f64]) {
        let first = row * self.row_stride;
        match self.values {
            MatrixValues::F32(v) => copy_strided(&v[first..], self.column_stride, out),
            MatrixValues::F64(v) => copy_strided(&v[first..], self.column_stride, out),
        }
    }

    /// The values as a slice, if they are row-major and in single precision.
    pub fn as_f32(&self) -> Option<&'a [f32]> {
        match self.values {
            MatrixValues::F32(v) if self.is_packed() => Some(&v[..self.n_rows * self.n_features]),
            _ => None,
        }
    }

    /// The values as a slice, if they are row-major and in double precision.
    pub fn as_f64(&self) -> Option<&'a [f64]> {
        match self.values {
            MatrixValues::F64(v) if self.is_packed() => Some(&v[..self.n_rows * self.n_features]),
            _ => None,
        }
    }

    fn is_packed(&self) -> bool {
        self.column_stride == 1 && self.row_stride == self.n_features && self.n_features > 0
    }

    /// Checks that all values are finite; NaN is allowed with `missing`. The error names the first violation.
    pub fn check(&self, missing: bool) -> Result<()> {
        if self.as_f32().is_some_and(all_finite_f32) || self.as_f64().is_some_and(all_finite_f64) {
            return Ok(());
        }
        for row in 0..self.n_rows {
            for column in 0..self.n_features {
                let value = self.get(row, column);
                if !(value.is_finite() || missing && value.is_nan()) {
                    return Err(Error::data(format!(
                        "row {row}, column {column}: {value} is not a finite number, so it has no distance to other values"
                    )));
                }
            }
        }
        Ok(())
    }
}

/// Written so that the compiler vectorizes it.
fn all_finite_f32(values: &[f32]) -> bool {
    values.chunks(1024).all(|chunk| chunk.iter().fold(true, |ok, v| ok & (v.abs() < f32::INFINITY)))
}

fn all_finite_f64(values: &[f64]) -> bool {
    values.chunks(1024).all(|chunk| chunk.iter().fold(true, |ok, v| ok & (v.abs() < f64::INFINITY)))
}

fn whole_rows(len: usize, width: usize) -> Result<usize> {
    if width == 0 || !len.is_multiple_of(width) {
        return Err(Error::data(format!("{len} numbers are not whole rows of {width}")));
    }
    Ok(len / width)
}

#[inline(always)]
fn copy_strided<E: PointElement>(values: &[E], stride: usize, out: &mut [f64]) {
    if stride == 1 {
        for (to, from) in out.iter_mut().zip(values) {
            *to = from.wide();
        }
    } else {
        for (to, from) in out.iter_mut().zip(values.iter().step_by(stride)) {
            *to = from.wide();
        }
    }
}

/// Stored rows, row-major.
#[derive(Debug, Clone, PartialEq)]
pub struct Points {
    n_features: usize,
    /// Whether the rows are stored as given although the metric compares embedded rows ([`super::metric::Metric::keeps_given`]).
    given: bool,
    values: StoredPoints,
}

/// The values of [`Points`] in their original precision.
#[derive(Debug, Clone, PartialEq)]
pub enum StoredPoints {
    /// In single precision.
    F32(Vec<f32>),
    /// In double precision.
    F64(Vec<f64>),
}

impl Points {
    /// No rows yet.
    pub fn empty(n_features: usize, f32: bool) -> Points {
        Points {
            n_features,
            given: false,
            values: if f32 { StoredPoints::F32(Vec::new()) } else { StoredPoints::F64(Vec::new()) },
        }
    }

    /// Takes ownership of values in single precision.
    pub fn from_f32(values: Vec<f32>, n_features: usize) -> Points {
        Points { n_features, given: false, values: StoredPoints::F32(values) }
    }

    /// Takes ownership of values in double precision.
    pub fn from_f64(values: Vec<f64>, n_features: usize) -> Points {
        Points { n_features, given: false, values: StoredPoints::F64(values) }
    }

    /// Copies `rows` in their precision.
    pub fn copy(rows: &RowMatrix<'_>) -> Points {
        let mut points = Points::empty(rows.n_features(), rows.is_f32());
        points.extend(rows);
        points
    }

    /// Sets whether the rows are stored as given.
    #[must_use]
    pub fn with_given(self, given: bool) -> Points {
        Points { given, ..self }
    }

    /// Whether the rows are stored as given although the metric compares embedded rows.
    pub fn are_given(&self) -> bool {
        self.given
    }

    /// Appends rows. Appending double-precision rows converts single-precision points to double precision.
    pub fn extend(&mut self, rows: &RowMatrix<'_>) {
        if let (StoredPoints::F32(kept), false) = (&self.values, rows.is_f32()) {
            self.values = StoredPoints::F64(kept.iter().map(|&v| f64::from(v)).collect());
        }
        match &mut self.values {
            StoredPoints::F32(kept) => append(kept, rows.as_f32(), rows),
            StoredPoints::F64(kept) => append(kept, rows.as_f64(), rows),
        }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        let len = match &self.values {
            StoredPoints::F32(v) => v.len(),
            StoredPoints::F64(v) => v.len(),
        };
        len.checked_div(self.n_features).unwrap_or(0)
    }

    /// Number of columns.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// A view of the rows.
    pub fn view(&self) -> RowMatrix<'_> {
        let (values, d) = (&self.values, self.n_features);
        let values = match values {
            StoredPoints::F32(v) => MatrixValues::F32(v),
            StoredPoints::F64(v) => MatrixValues::F64(v),
        };
        RowMatrix { values, n_rows: self.n_rows(), n_features: d, row_stride: d, column_stride: 1 }
    }

    /// Saves the values under `name`.
    pub fn save(&self, sections: &mut Sections, name: &str) {
        match &self.values {
            StoredPoints::F32(values) => sections.put_f32s(name, values),
            StoredPoints::F64(values) => sections.put_f64s(name, values),
        }
    }

    /// Loads whole rows of finite numbers; NaN is allowed with `missing`.
    pub fn load(sections: &Sections, name: &str, n_features: usize, f32: bool, missing: bool) -> Result<Points> {
        let values =
            if f32 { StoredPoints::F32(sections.f32s(name)?) } else { StoredPoints::F64(sections.f64s(name)?) };
        let len = match &values {
            StoredPoints::F32(v) => v.len(),
            StoredPoints::F64(v) => v.len(),
        };
        let points = Points { n_features, given: false, values };
        if n_features == 0 || !len.is_multiple_of(n_features) || len / n_features > u32::MAX as usize {
            return Err(Error::model_file(format!("section '{name}' isn't whole rows of {n_features} numbers")));
        }
        points.view().check(missing).map_err(|e| Error::model_file(format!("section '{name}': {e}")))?;
        Ok(points)
    }

    /// The values, row-major.
    pub fn kept(&self) -> &StoredPoints {
        &self.values
    }

    /// Memory use in bytes.
    pub fn bytes(&self) -> usize {
        match &self.values {
            StoredPoints::F32(v) => v.len() * 4,
            StoredPoints::F64(v) => v.len() * 8,
        }
    }
}

fn append<E: PointElement>(kept: &mut Vec<E>, packed: Option<&[E]>, rows: &RowMatrix<'_>) {
    if let Some(packed) = packed {
        kept.reserve_exact(packed.len());
        kept.extend_from_slice(packed);
        return;
    }
    kept.reserve_exact(rows.n_rows() * rows.n_features());
    for row in 0..rows.n_rows() {
        kept.extend((0..rows.n_features()).map(|column| E::narrow(rows.get(row, column))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_layouts_give_the_same_rows() {
        let by_row = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let by_column = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];
        let a = RowMatrix::row_major(&by_row, 3).unwrap();
        let b = RowMatrix::column_major(&by_column, 2).unwrap();
        assert_eq!(Points::copy(&a), Points::copy(&b));
        assert_eq!((a.n_rows(), b.n_features(), b.get(1, 2)), (2, 3, 6.0));
    }

    #[test]
    fn shapes_and_values_are_checked() {
        assert!(RowMatrix::row_major(&[1.0; 5], 2).is_err());
        assert!(RowMatrix::row_major(&[], 0).is_err());
        assert!(RowMatrix::strided(MatrixValues::F64(&[0.0; 6]), (3, 2), 3, 1).is_err());
        let rows = [0.0, f64::NAN, f64::INFINITY, 1.0];
        let rows = RowMatrix::row_major(&rows, 2).unwrap();
        assert!(rows.check(false).unwrap_err().to_string().starts_with("row 0, column 1: NaN"));
        assert!(rows.check(true).unwrap_err().to_string().starts_with("row 1, column 0: inf"));
    }
}
