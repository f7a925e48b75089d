//! Small dense matrices.

use super::lanes;

/// A row-major matrix of `f64`. Square matrices are symmetric unless documented otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    n_rows: usize,
    n_columns: usize,
    data: Vec<f64>,
}

impl Matrix {
    /// A matrix of zeros.
    pub fn zeros(n_rows: usize, n_columns: usize) -> Self {
        Matrix { n_rows, n_columns, data: vec![0.0; n_rows * n_columns] }
    }

    /// A matrix from a function of row and column.
    pub fn from_fn(n_rows: usize, n_columns: usize, mut entry: impl FnMut(usize, usize) -> f64) -> Self {
        let mut m = Matrix::zeros(n_rows, n_columns);
        for i in 0..n_rows {
            for j in 0..n_columns {
                m[(i, j)] = entry(i, j);
            }
        }
        m
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// How many columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.n_columns..(i + 1) * self.n_columns]
    }

    /// Row `i`, mutable.
    #[inline]
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.n_columns..(i + 1) * self.n_columns]
    }

    /// Rows `i` to the last, and the rows before it, mutable.
    pub fn split_rows_mut(&mut self, i: usize) -> (&mut [f64], &mut [f64]) {
        self.data.split_at_mut(i * self.n_columns)
    }

    /// All entries, row by row.
    pub fn data(&self) -> &[f64] {
        &self.data
    }

    /// All entries, row by row, mutable.
    pub fn data_mut(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// The diagonal.
    pub fn diagonal(&self) -> Vec<f64> {
        (0..self.n_rows.min(self.n_columns)).map(|i| self[(i, i)]).collect()
    }

    /// `A v`.
    pub fn times(&self, v: &[f64]) -> Vec<f64> {
        (0..self.n_rows).map(|i| lanes::dot(self.row(i), v)).collect()
    }

    /// `A' v`.
    pub fn transposed_times(&self, v: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.n_columns];
        for (i, &v) in v.iter().enumerate() {
            lanes::axpy(v, self.row(i), &mut out);
        }
        out
    }

    /// Copies the upper triangle to the lower triangle.
    pub fn mirror(&mut self) {
        for i in 0..self.n_rows {
            for j in 0..i.min(self.n_columns) {
                self[(i, j)] = self[(j, i)];
            }
        }
    }

    /// The submatrix of the chosen rows and columns.
    pub fn select(&self, chosen: &[usize]) -> Matrix {
        Matrix::from_fn(chosen.len(), chosen.len(), |i, j| self[(chosen[i], chosen[j])])
    }
}

impl std::ops::Index<(usize, usize)> for Matrix {
    type Output = f64;
    #[inline]
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        debug_assert!(j < self.n_columns);
        &self.data[i * self.n_columns + j]
    }
}

impl std::ops::IndexMut<(usize, usize)> for Matrix {
    #[inline]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        debug_assert!(j < self.n_columns);
        &mut self.data[i * self.n_columns + j]
    }
}
