//! Random access to single rows of a table, for stochastic methods.

use ermine_core::linalg::dense::RowView;
use ermine_core::linalg::{Design, lanes};

/// Reads rows of a table, which may be dense or sparse, in any order.
pub struct RowReader<'x> {
    x: &'x Design<'x>,
    /// A copy of row `held`, for layouts whose rows don't lie side by side.
    buffer: Vec<f64>,
    held: usize,
}

impl<'x> RowReader<'x> {
    /// A reader of these rows.
    pub fn new(x: &'x Design<'x>) -> Self {
        RowReader { x, buffer: Vec::new(), held: usize::MAX }
    }

    /// Prefetches a row.
    #[inline]
    pub fn prefetch(&self, row: Option<u32>) {
        fn fetch<T>(numbers: &[T], most: usize, step: usize) {
            (0..numbers.len().min(most)).step_by(step).for_each(|at| lanes::prefetch(numbers, at));
        }
        let Some(i) = row.map(|i| i as usize) else { return };
        match self.x {
            Design::Sparse(x) => {
                let (places, numbers) = x.rows().line(i);
                fetch(places, 256, 16);
                fetch(numbers, 256, 8);
            }
            Design::Dense(x) => match x.raw_row(i) {
                Some(RowView::F64(row)) => fetch(row, 512, 8),
                Some(RowView::F32(row)) => fetch(row, 1024, 16),
                None => {}
            },
        }
    }

    fn copy(&mut self, i: usize) -> &[f64] {
        if self.held != i
            && let Design::Dense(x) = self.x
        {
            x.block(i..i + 1, &mut self.buffer);
            self.held = i;
        }
        &self.buffer
    }

    /// `x_i . w`.
    #[inline]
    pub fn dot(&mut self, i: usize, w: &[f64]) -> f64 {
        match self.x {
            Design::Sparse(x) => x.row_dot(i, w),
            Design::Dense(x) => match x.row(i) {
                Some(RowView::F64(row)) => lanes::dot(row, w),
                Some(RowView::F32(row)) => lanes::dot(row, w),
                None => lanes::dot(self.copy(i), w),
            },
        }
    }

    /// `w += c x_i`.
    #[inline]
    pub fn add(&mut self, i: usize, c: f64, w: &mut [f64]) {
        match self.x {
            Design::Sparse(x) => {
                let (places, numbers) = x.rows().line(i);
                places.iter().zip(numbers).for_each(|(&j, &v)| w[j as usize] += c * v);
            }
            Design::Dense(x) => match x.row(i) {
                Some(RowView::F64(row)) => lanes::axpy(c, row, w),
                Some(RowView::F32(row)) => lanes::axpy(c, row, w),
                None => lanes::axpy(c, self.copy(i), w),
            },
        }
    }

    /// `x_i . x_i`.
    pub fn square_length(&mut self, i: usize) -> f64 {
        match self.x {
            Design::Sparse(x) => x.rows().line(i).1.iter().map(|v| v * v).sum(),
            Design::Dense(x) => match x.row(i) {
                Some(RowView::F64(row)) => lanes::square_sum(row),
                _ => lanes::square_sum(self.copy(i)),
            },
        }
    }

    /// The columns of a sparse row; `None` for all.
    pub fn touched(&self, i: usize) -> Option<&'x [u32]> {
        match self.x {
            Design::Sparse(x) => Some(x.rows().line(i).0),
            Design::Dense(_) => None,
        }
    }
}
