//! A symmetric kernel matrix, computed block by block. Solvers never need the whole matrix.

use super::element::KernelElement;
use super::points::KernelPoints;
use ermine_core::error::Result;
use ermine_core::parallel;
use ermine_core::progress::{Observer, check};
use std::ops::Range;

/// A symmetric matrix of kernel values.
pub trait KernelMatrix<E>: Sync {
    /// Number of rows and columns.
    fn n_rows(&self) -> usize;

    /// The value in row and column `i`.
    fn diagonal(&self, i: usize) -> f64;

    /// The values of some rows in the columns of a range, row after row. The range begins with a multiple of 32.
    fn block(&self, rows: &[u32], columns: Range<usize>, out: &mut [E]);

    /// Whether computing a value takes longer than reading it from memory, so that rows should be cached.
    fn is_dear(&self) -> bool;

    /// The matrix of some of its rows and the same columns.
    fn select(&self, rows: &[u32]) -> Box<dyn KernelMatrix<E> + '_>;
}

/// Maximum number of columns for which computing a value is faster than allocating memory for it: 20,000 rows of 20 columns took half the time without a cache.
const CHEAP: usize = 40;

impl<E: KernelElement> KernelMatrix<E> for KernelPoints<E> {
    fn n_rows(&self) -> usize {
        self.len()
    }

    fn diagonal(&self, i: usize) -> f64 {
        KernelPoints::diagonal(self, i)
    }

    fn block(&self, rows: &[u32], columns: Range<usize>, out: &mut [E]) {
        KernelPoints::block(self, self, rows, columns, out);
    }

    fn is_dear(&self) -> bool {
        self.n_columns() > CHEAP
    }

    fn select(&self, rows: &[u32]) -> Box<dyn KernelMatrix<E> + '_> {
        Box::new(KernelPoints::select(self, rows))
    }
}

/// A custom kernel: a function of the indices of two items.
pub struct CustomKernelMatrix<'a> {
    value: &'a (dyn Fn(usize, usize) -> f64 + Sync),
    rows: Vec<u32>,
}

impl<'a> CustomKernelMatrix<'a> {
    /// The matrix of `n` items with the kernel values `value(i, j)`, which must be symmetric.
    pub fn new(n: usize, value: &'a (dyn Fn(usize, usize) -> f64 + Sync)) -> CustomKernelMatrix<'a> {
        CustomKernelMatrix { value, rows: (0..n as u32).collect() }
    }
}

impl<E: KernelElement> KernelMatrix<E> for CustomKernelMatrix<'_> {
    fn n_rows(&self) -> usize {
        self.rows.len()
    }

    fn diagonal(&self, i: usize) -> f64 {
        let i = self.rows[i] as usize;
        (self.value)(i, i)
    }

    fn block(&self, rows: &[u32], columns: Range<usize>, out: &mut [E]) {
        for (&i, out) in rows.iter().zip(out.chunks_exact_mut(columns.len().max(1))) {
            let i = self.rows[i as usize] as usize;
            let columns = &self.rows[columns.clone()];
            out.iter_mut().zip(columns).for_each(|(out, &j)| *out = E::of((self.value)(i, j as usize)));
        }
    }

    fn is_dear(&self) -> bool {
        true
    }

    fn select(&self, rows: &[u32]) -> Box<dyn KernelMatrix<E> + '_> {
        Box::new(CustomKernelMatrix { value: self.value, rows: rows.iter().map(|&i| self.rows[i as usize]).collect() })
    }
}

/// A precomputed matrix, row by row.
pub struct PrecomputedMatrix<'a, E> {
    values: &'a [E],
    width: usize,
    /// The selected rows and columns; `None` for all.
    rows: Option<Vec<u32>>,
}

impl<'a, E> PrecomputedMatrix<'a, E> {
    /// A square matrix with rows of `n` numbers. It must be symmetric.
    pub fn new(values: &'a [E], n: usize) -> PrecomputedMatrix<'a, E> {
        PrecomputedMatrix { values, width: n, rows: None }
    }

    fn place(&self, i: usize) -> usize {
        self.rows.as_ref().map_or(i, |rows| rows[i] as usize)
    }
}

impl<E: KernelElement> KernelMatrix<E> for PrecomputedMatrix<'_, E> {
    fn n_rows(&self) -> usize {
        self.rows.as_ref().map_or(self.width, Vec::len)
    }

    fn diagonal(&self, i: usize) -> f64 {
        let i = self.place(i);
        self.values[i * self.width + i].wide()
    }

    fn block(&self, rows: &[u32], columns: Range<usize>, out: &mut [E]) {
        for (&i, out) in rows.iter().zip(out.chunks_exact_mut(columns.len().max(1))) {
            let row = &self.values[self.place(i as usize) * self.width..][..self.width];
            match &self.rows {
                None => out.copy_from_slice(&row[columns.clone()]),
                Some(chosen) => {
                    out.iter_mut().zip(&chosen[columns.clone()]).for_each(|(out, &j)| *out = row[j as usize]);
                }
            }
        }
    }

    fn is_dear(&self) -> bool {
        false
    }

    fn select(&self, rows: &[u32]) -> Box<dyn KernelMatrix<E> + '_> {
        let rows = rows.iter().map(|&i| self.place(i as usize) as u32).collect();
        Box::new(PrecomputedMatrix { values: self.values, width: self.width, rows: Some(rows) })
    }
}

/// All values of a matrix, row after row.
pub fn whole<E: KernelElement>(gram: &dyn KernelMatrix<E>, observer: &dyn Observer) -> Result<Vec<E>> {
    const ROWS: usize = 64;
    let n = gram.n_rows();
    let mut values = vec![E::ZERO; n * n];
    let blocks = parallel::consume(values.chunks_mut((ROWS * n).max(1)), |c, out| {
        check(observer)?;
        let rows: Vec<u32> = (c * ROWS..c * ROWS + out.len() / n).map(|i| i as u32).collect();
        gram.block(&rows, 0..n, out);
        Ok(())
    });
    blocks.into_iter().collect::<Result<()>>()?;
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_submatrices_are_found() {
        let value = |i: usize, j: usize| (10 * i.min(j) + i.max(j)) as f64;
        let all: Vec<f64> = (0..36).map(|k| value(k / 6, k % 6)).collect();
        let (own, given) = (CustomKernelMatrix::new(6, &value), PrecomputedMatrix::new(&all, 6));
        for gram in [&own as &dyn KernelMatrix<f64>, &given] {
            let part = gram.select(&[5, 1, 3, 0]);
            let part = part.select(&[2, 0]);
            let mut out = [0.0; 2];
            part.block(&[1], 0..2, &mut out);
            assert_eq!((part.n_rows(), out, part.diagonal(0)), (2, [35.0, 55.0], 33.0));
        }
    }
}
