//! A sparse table: nonzero numbers by rows, and by columns if a solver needs them.
//!
//! Loops over indices don't vectorize, so they are compiled once; they use separate multiplications and additions, because a fused multiply-add would be a function call.

use super::dense::{BLOCK, add_in_order};
use super::gram::{Gram, chunks_for};
use super::matrix::Matrix;
use crate::error::{Error, Result};
use crate::parallel;
use std::borrow::Cow;
use std::ops::Range;

/// Rows or columns of a sparse table: line `i` has `indices[starts[i]..starts[i + 1]]` and their values.
#[derive(Debug, Clone)]
pub struct SparseLines<'a> {
    starts: Cow<'a, [usize]>,
    indices: Cow<'a, [u32]>,
    values: Cow<'a, [f64]>,
}

impl SparseLines<'_> {
    /// Indices and values of the nonzero entries of line `i`.
    #[inline(always)]
    pub fn line(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.starts[i]..self.starts[i + 1];
        (&self.indices[range.clone()], &self.values[range])
    }

    /// How many lines.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are no lines.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The transpose, with `n_lines` lines.
    pub fn transposed(&self, n_lines: usize) -> SparseLines<'static> {
        let mut starts = vec![0usize; n_lines + 1];
        self.indices.iter().for_each(|&j| starts[j as usize + 1] += 1);
        (0..n_lines).for_each(|j| starts[j + 1] += starts[j]);
        let mut next = starts.clone();
        let (mut indices, mut values) = (vec![0u32; self.indices.len()], vec![0.0; self.values.len()]);
        for i in 0..self.len() {
            let (places, numbers) = self.line(i);
            for (&j, &x) in places.iter().zip(numbers) {
                let place = &mut next[j as usize];
                indices[*place] = i as u32;
                values[*place] = x;
                *place += 1;
            }
        }
        SparseLines { starts: starts.into(), indices: indices.into(), values: values.into() }
    }
}

/// A read-only sparse table, `n_rows` by `n_columns`, by rows.
#[derive(Debug, Clone)]
pub struct Sparse<'a> {
    n_columns: usize,
    rows: SparseLines<'a>,
}

impl<'a> Sparse<'a> {
    /// A table from its rows (compressed sparse rows, as in SciPy): row `i` holds the columns
    /// `indices[starts[i]..starts[i + 1]]`, each at most once.
    pub fn from_rows(
        starts: impl Into<Cow<'a, [usize]>>,
        indices: impl Into<Cow<'a, [u32]>>,
        values: impl Into<Cow<'a, [f64]>>,
        n_columns: usize,
    ) -> Result<Self> {
        let rows = SparseLines { starts: starts.into(), indices: indices.into(), values: values.into() };
        let total = rows.indices.len();
        let ordered = rows.starts.first() == Some(&0) && rows.starts.windows(2).all(|w| w[0] <= w[1]);
        if !ordered || rows.starts.last() != Some(&total) || rows.values.len() != total {
            return Err(Error::data("the row starts of a sparse table must rise from 0 to the number of its values"));
        }
        let mut seen = vec![usize::MAX; n_columns];
        for i in 0..rows.len() {
            for &j in rows.line(i).0 {
                match seen.get_mut(j as usize) {
                    None => {
                        return Err(Error::data(format!("row {i} of a sparse table: no column {j} of {n_columns}")));
                    }
                    Some(last) if *last == i => {
                        return Err(Error::data(format!("row {i} of a sparse table holds column {j} twice")));
                    }
                    Some(last) => *last = i,
                }
            }
        }
        Ok(Sparse { n_columns, rows })
    }

    /// The same without checks, for rows that are known to be valid.
    pub(crate) fn of_known_rows(starts: &'a [usize], indices: &'a [u32], values: &'a [f64], n_columns: usize) -> Self {
        debug_assert!(Sparse::from_rows(starts, indices, values, n_columns).is_ok());
        Sparse {
            n_columns,
            rows: SparseLines { starts: starts.into(), indices: indices.into(), values: values.into() },
        }
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// How many columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Number of stored values.
    pub fn n_values(&self) -> usize {
        self.rows.values.len()
    }

    /// The rows.
    pub fn rows(&self) -> &SparseLines<'a> {
        &self.rows
    }

    /// Every `step`-th row.
    pub fn every(&self, step: usize) -> Sparse<'static> {
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in (0..self.n_rows()).step_by(step.max(1)) {
            let (places, numbers) = self.rows.line(i);
            indices.extend_from_slice(places);
            values.extend_from_slice(numbers);
            starts.push(indices.len());
        }
        let rows = SparseLines { starts: starts.into(), indices: indices.into(), values: values.into() };
        Sparse { n_columns: self.n_columns, rows }
    }

    /// The same table with column `j` multiplied by `factors[j]`.
    pub fn scaled(&self, factors: &[f64]) -> Sparse<'a> {
        let of = |(&j, &x): (&u32, &f64)| x * factors[j as usize];
        let values: Vec<f64> = self.rows.indices.iter().zip(self.rows.values.iter()).map(of).collect();
        Sparse { n_columns: self.n_columns, rows: SparseLines { values: values.into(), ..self.rows.clone() } }
    }

    /// `x_i . w`.
    #[inline(always)]
    pub fn row_dot(&self, i: usize, w: &[f64]) -> f64 {
        let (places, numbers) = self.rows.line(i);
        places.iter().zip(numbers).fold(0.0, |sum, (&j, &x)| sum + x * w[j as usize])
    }

    /// `X w + b`.
    pub fn times(&self, w: &[f64], b: f64) -> Vec<f64> {
        parallel::map_rows(self.n_rows(), |i| self.row_dot(i, w) + b)
    }

    /// `X' c`.
    pub fn transposed_times(&self, c: &[f64]) -> Vec<f64> {
        let sum = |rows: Range<usize>| {
            let mut g = vec![0.0; self.n_columns];
            for i in rows {
                let (places, numbers) = self.rows.line(i);
                for (&j, &x) in places.iter().zip(numbers) {
                    g[j as usize] += c[i] * x;
                }
            }
            g
        };
        let most = (self.n_values() / self.n_columns.max(1)).clamp(1, 16);
        let parts: Vec<Vec<f64>> = parallel::consume(super::chunks(self.n_rows(), most, 512), |_, rows| sum(rows));
        add_in_order(parts, self.n_columns)
    }

    /// `X_A' S X_B` for chosen columns and weights `s` (all 1 if `None`): `|A|` rows of `|B|`.
    pub fn cross_products(&self, left: &[usize], right: &[usize], weights: Option<&[f64]>) -> Matrix {
        let columns = self.rows.transposed(self.n_columns);
        let row = |&a: &usize| {
            let mut dense = vec![0.0; self.n_rows()];
            let (places, numbers) = columns.line(a);
            for (&i, &x) in places.iter().zip(numbers) {
                dense[i as usize] = x * weights.map_or(1.0, |w| w[i as usize]);
            }
            let product = |&b: &usize| {
                let (places, numbers) = columns.line(b);
                places.iter().zip(numbers).fold(0.0, |sum: f64, (&i, &x)| sum + x * dense[i as usize])
            };
            right.iter().map(product).collect::<Vec<f64>>()
        };
        let rows: Vec<Vec<f64>> = parallel::map_items(left, row);
        Matrix::from_fn(left.len(), right.len(), |i, j| rows[i][j])
    }

    /// The sum of `v_i v_i'`, `v_i = [s_i x_i, e_i]`; see [`Gram::of`]. The cost per row is the square of its number of entries.
    pub fn gram(&self, extras: usize, weigh: impl Fn(Range<usize>, &mut [f64], &mut [f64]) -> f64 + Sync) -> Gram {
        let (p, width) = (self.n_columns, self.n_columns + extras);
        let sum = |rows: Range<usize>| {
            let (mut c, mut total) = (vec![0.0; width * width], 0.0);
            let (mut scale, mut extra) = (vec![0.0; BLOCK], vec![0.0; BLOCK * extras]);
            let mut entries: Vec<(usize, f64)> = Vec::new();
            for start in rows.clone().step_by(BLOCK) {
                let range = start..(start + BLOCK).min(rows.end);
                let k = range.len();
                total += weigh(range.clone(), &mut scale[..k], &mut extra[..k * extras]);
                for (r, i) in range.enumerate() {
                    let extra = &extra[r * extras..(r + 1) * extras];
                    if scale[r] == 0.0 && extra.iter().all(|e| *e == 0.0) {
                        continue;
                    }
                    let (places, numbers) = self.rows.line(i);
                    entries.clear();
                    entries.extend(places.iter().zip(numbers).map(|(&j, &x)| (j as usize, scale[r] * x)));
                    entries.extend((0..extras).map(|e| (p + e, extra[e])));
                    for (n, &(j, x)) in entries.iter().enumerate() {
                        let row = &mut c[j * width..(j + 1) * width];
                        entries[n..].iter().for_each(|&(l, y)| row[l] += x * y);
                    }
                }
            }
            c.push(total);
            c
        };
        let parts: Vec<Vec<f64>> = parallel::consume(chunks_for(self.n_rows(), width), |_, rows| sum(rows));
        let mut total = add_in_order(parts, width * width + 1);
        let extra = total.pop().unwrap_or(0.0);
        // Entries may be above or below the diagonal, since the indices of a row need not ascend.
        let products = Matrix::from_fn(width, width, |i, j| {
            if i == j { total[i * width + i] } else { total[i * width + j] + total[j * width + i] }
        });
        Gram { products, total: extra }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Dense;
    use proptest::prelude::*;

    /// The nonzero entries of a dense table.
    fn sparsify(x: &[f64], n: usize, p: usize) -> Sparse<'static> {
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..n {
            for j in (0..p).rev().filter(|&j| x[i * p + j] != 0.0) {
                indices.push(j as u32);
                values.push(x[i * p + j]);
            }
            starts.push(indices.len());
        }
        Sparse::from_rows(starts, indices, values, p).unwrap()
    }

    proptest! {
        #[test]
        fn sparse_and_dense_agree(x in prop::collection::vec(-3i32..4, 0..200), p in 1usize..9) {
            let n = x.len() / p;
            let x: Vec<f64> = x[..n * p].iter().map(|&x| x.max(0) as f64).collect();
            let (dense, sparse) = (Dense::rows_f64(&x, n, p, p).unwrap(), sparsify(&x, n, p));
            let w: Vec<f64> = (0..p).map(|j| j as f64 - 2.5).collect();
            let c: Vec<f64> = (0..n).map(|i| i as f64 - 1.5).collect();
            prop_assert_eq!(dense.times(&w, 1.0), sparse.times(&w, 1.0));
            prop_assert_eq!(dense.transposed_times(&c), sparse.transposed_times(&c));
            prop_assert_eq!(dense.every(2).times(&w, 1.0), sparse.every(2).times(&w, 1.0));
            let w_rows: Vec<f64> = (0..n).map(|i| (i % 3) as f64).collect();
            let weigh = |rows: Range<usize>, scale: &mut [f64], extra: &mut [f64]| {
                for (r, i) in rows.clone().enumerate() {
                    (scale[r], extra[r]) = (i as f64, 2.0);
                }
                rows.len() as f64
            };
            let (a, b) = (Gram::of(&dense, &[], 1, |rows, _, s, e| weigh(rows, s, e)), sparse.gram(1, weigh));
            prop_assert_eq!(a.products, b.products);
            prop_assert_eq!(a.total, b.total);
            let every: Vec<usize> = (0..p).collect();
            let cross = sparse.cross_products(&every, &every, Some(&w_rows));
            prop_assert_eq!(cross, crate::linalg::gram::cross_products(&dense, &every, &every, &[], Some(&w_rows)));
            let columns = sparse.rows().transposed(p);
            for j in 0..p {
                let (places, numbers) = columns.line(j);
                let sum: f64 = places.iter().zip(numbers).map(|(&i, x)| x * c[i as usize]).sum();
                prop_assert_eq!(sum, dense.transposed_times(&c)[j]);
            }
        }
    }

    #[test]
    fn invalid_indices_are_errors() {
        let make = |starts: &[usize], indices: &[u32]| {
            Sparse::from_rows(starts.to_vec(), indices.to_vec(), vec![1.0; indices.len()], 3)
                .err()
                .map(|e| e.to_string())
        };
        assert_eq!(make(&[0, 2], &[0, 2]), None);
        assert!(make(&[0, 2], &[0, 3]).unwrap().contains("no column 3"));
        assert!(make(&[0, 2], &[1, 1]).unwrap().contains("twice"));
        assert!(make(&[0, 3], &[0, 1]).unwrap().contains("starts"));
        assert!(make(&[], &[]).unwrap().contains("starts"));
    }
}
