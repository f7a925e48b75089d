//! The design matrix: dense or sparse numbers behind one interface. Solvers that only multiply don't need to distinguish them.

use super::dense::Dense;
use super::gram::Gram;
use super::lanes;
use super::sparse::Sparse;
use std::ops::Range;

/// A read-only table of numbers.
#[derive(Debug, Clone)]
pub enum Design<'a> {
    /// Dense.
    Dense(Dense<'a>),
    /// Sparse: zeros are not stored.
    Sparse(Sparse<'a>),
}

impl<'a> From<Dense<'a>> for Design<'a> {
    fn from(x: Dense<'a>) -> Self {
        Design::Dense(x)
    }
}

impl<'a> From<Sparse<'a>> for Design<'a> {
    fn from(x: Sparse<'a>) -> Self {
        Design::Sparse(x)
    }
}

impl<'a> Design<'a> {
    /// How many rows.
    pub fn n_rows(&self) -> usize {
        match self {
            Design::Dense(x) => x.n_rows(),
            Design::Sparse(x) => x.n_rows(),
        }
    }

    /// How many columns.
    pub fn n_columns(&self) -> usize {
        match self {
            Design::Dense(x) => x.n_columns(),
            Design::Sparse(x) => x.n_columns(),
        }
    }

    /// `X w + b`.
    pub fn times(&self, w: &[f64], b: f64) -> Vec<f64> {
        match self {
            Design::Dense(x) => x.times(w, b),
            Design::Sparse(x) => x.times(w, b),
        }
    }

    /// `X' c`.
    pub fn transposed_times(&self, c: &[f64]) -> Vec<f64> {
        match self {
            Design::Dense(x) => x.transposed_times(c),
            Design::Sparse(x) => x.transposed_times(c),
        }
    }

    /// `X_A w + b`, for chosen columns `A` with one weight each.
    pub fn times_of(&self, chosen: &[usize], w: &[f64], b: f64) -> Vec<f64> {
        match self {
            Design::Dense(x) => x.times_of(chosen, w, b),
            Design::Sparse(x) => {
                let mut all = vec![0.0; x.n_columns()];
                chosen.iter().zip(w).for_each(|(&j, &w)| all[j] = w);
                x.times(&all, b)
            }
        }
    }

    /// `X' c` for several `c`, in one pass over a dense table.
    pub fn transposed_times_all<const K: usize>(&self, c: [&[f64]; K]) -> Vec<Vec<f64>> {
        match self {
            Design::Dense(x) => x.transposed_times_all(c),
            Design::Sparse(x) => c.iter().map(|c| x.transposed_times(c)).collect(),
        }
    }

    /// Copies row `i`, including zeros, to `row`; `buffer` is used for tables whose rows are not contiguous.
    pub fn row_into(&self, i: usize, buffer: &mut Vec<f64>, row: &mut [f64]) {
        match self {
            Design::Dense(x) => row.copy_from_slice(x.block(i..i + 1, buffer).row(0, row.len())),
            Design::Sparse(x) => {
                row.fill(0.0);
                let (places, numbers) = x.rows().line(i);
                places.iter().zip(numbers).for_each(|(&j, &v)| row[j as usize] = v);
            }
        }
    }

    /// Every `step`-th row.
    pub fn every(&self, step: usize) -> Design<'a> {
        match self {
            Design::Dense(x) => x.every(step).into(),
            Design::Sparse(x) => x.every(step).into(),
        }
    }

    /// The Gram matrix of `[s_i x_i, e_i]`, where `weigh` gets the margins `x_i . w + b` of a block of rows and writes
    /// their scales and extra entries; see [`Gram::of`].
    pub fn gram(
        &self,
        w: &[f64],
        b: f64,
        extras: usize,
        weigh: impl Fn(Range<usize>, &[f64], &mut [f64], &mut [f64]) -> f64 + Sync,
    ) -> Gram {
        match self {
            Design::Dense(x) => Gram::of(x, &[], extras, |rows, block, scale, extra| {
                let mut margins = [0.0; super::dense::BLOCK];
                lanes::row_dots(block.data, block.stride, w, b, &mut margins[..rows.len()]);
                weigh(rows.clone(), &margins[..rows.len()], scale, extra)
            }),
            Design::Sparse(x) => x.gram(extras, |rows, scale, extra| {
                let margins: Vec<f64> = rows.clone().map(|i| x.row_dot(i, w) + b).collect();
                weigh(rows, &margins, scale, extra)
            }),
        }
    }
}
