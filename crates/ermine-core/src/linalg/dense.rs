//! A dense table of numbers in any memory layout, read in blocks of rows.
//!
//! **Idea.** Arrays are row-major (NumPy's default), column-major (Fortran order), or separate columns, in single or double precision. All kernels work on blocks of at most
//! [`BLOCK`] rows, row-major, in `f64`. A block is borrowed if the memory already has this form, and otherwise transposed or converted into a small buffer. So one kernel serves
//! every layout and gives the same bits for all of them.

use super::columns;
use super::lanes::{self, Real};
use crate::error::{Error, Result};
use crate::parallel;
use std::ops::Range;
use std::sync::Arc;

/// Rows per block. A block of 100 columns and its packed copy fit into the second-level cache. Not a power of two, because panels of that height would map to the same cache
/// lines.
pub const BLOCK: usize = 120;

/// One column: values `stride` apart.
#[derive(Debug, Clone, Copy)]
pub enum ColumnView<'a> {
    /// Double precision.
    F64(&'a [f64], usize),
    /// Single precision.
    F32(&'a [f32], usize),
}

impl ColumnView<'_> {
    /// The value in row `i`.
    #[inline(always)]
    pub fn get(&self, i: usize) -> f64 {
        match self {
            ColumnView::F64(x, stride) => x[i * stride],
            ColumnView::F32(x, stride) => x[i * stride].wide(),
        }
    }

    fn holds(&self, n_rows: usize) -> bool {
        let (len, stride) = match self {
            ColumnView::F64(x, stride) => (x.len(), *stride),
            ColumnView::F32(x, stride) => (x.len(), *stride),
        };
        n_rows == 0 || (stride > 0 && (n_rows - 1).checked_mul(stride).is_some_and(|last| last < len))
    }
}

/// One row: numbers side by side.
#[derive(Debug, Clone, Copy)]
pub enum RowView<'a> {
    /// Double precision.
    F64(&'a [f64]),
    /// Single precision.
    F32(&'a [f32]),
}

#[derive(Debug, Clone)]
enum DenseStore<'a> {
    RowsF64(&'a [f64], usize),
    RowsF32(&'a [f32], usize),
    Columns(Vec<ColumnView<'a>>),
    /// Rows in separate memory: the transpose of `Columns`.
    Rows(Vec<ColumnView<'a>>),
}

/// A read-only table of numbers, `n_rows` by `n_columns`.
#[derive(Debug, Clone)]
pub struct Dense<'a> {
    n_rows: usize,
    n_columns: usize,
    store: DenseStore<'a>,
    standard: Standardization,
}

/// Offsets and factors that are applied while blocks are read.
#[derive(Debug, Clone)]
enum Standardization {
    /// Values are read unchanged.
    Raw,
    /// By column: offsets and factors.
    Columns(Arc<[(f64, f64)]>),
    /// By row.
    Rows(Arc<[(f64, f64)]>),
}

/// Some rows of a table, row-major in `f64`.
#[derive(Debug, Clone, Copy)]
pub struct RowBlock<'b> {
    /// The numbers; row `r` begins at `r * stride`.
    pub data: &'b [f64],
    /// Numbers from one row to the next.
    pub stride: usize,
}

impl<'b> RowBlock<'b> {
    /// Row `r` of the block, `p` numbers.
    #[inline(always)]
    pub fn row(&self, r: usize, p: usize) -> &'b [f64] {
        &self.data[r * self.stride..r * self.stride + p]
    }
}

impl<'a> Dense<'a> {
    /// Rows of double precision, `stride` numbers apart.
    pub fn rows_f64(data: &'a [f64], n_rows: usize, n_columns: usize, stride: usize) -> Result<Self> {
        check_rows(data.len(), n_rows, n_columns, stride)?;
        Ok(Dense { n_rows, n_columns, store: DenseStore::RowsF64(data, stride), standard: Standardization::Raw })
    }

    /// Rows of single precision, `stride` numbers apart.
    pub fn rows_f32(data: &'a [f32], n_rows: usize, n_columns: usize, stride: usize) -> Result<Self> {
        check_rows(data.len(), n_rows, n_columns, stride)?;
        Ok(Dense { n_rows, n_columns, store: DenseStore::RowsF32(data, stride), standard: Standardization::Raw })
    }

    /// Columns in separate memory.
    pub fn columns(columns: Vec<ColumnView<'a>>, n_rows: usize) -> Result<Self> {
        if let Some(j) = columns.iter().position(|c| !c.holds(n_rows)) {
            return Err(Error::data(format!("column {j} holds fewer than {n_rows} rows")));
        }
        Ok(Dense {
            n_rows,
            n_columns: columns.len(),
            store: DenseStore::Columns(columns),
            standard: Standardization::Raw,
        })
    }

    /// Column-major double precision (Fortran order); columns are `stride` numbers apart.
    pub fn columns_f64(data: &'a [f64], n_rows: usize, n_columns: usize, stride: usize) -> Result<Self> {
        check_rows(data.len(), n_columns, n_rows, stride)?;
        let columns = (0..n_columns).map(|j| ColumnView::F64(&data[j * stride..j * stride + n_rows], 1));
        Dense::columns(columns.collect(), n_rows)
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// How many columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// The number in row `i`, column `j`.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        let x = match &self.store {
            DenseStore::RowsF64(x, stride) => x[i * stride + j],
            DenseStore::RowsF32(x, stride) => x[i * stride + j].wide(),
            DenseStore::Columns(columns) => columns[j].get(i),
            DenseStore::Rows(rows) => rows[i].get(j),
        };
        match &self.standard {
            Standardization::Raw => x,
            Standardization::Columns(of) => (x - of[j].0) * of[j].1,
            Standardization::Rows(of) => (x - of[i].0) * of[i].1,
        }
    }

    /// The same table with column `j` read as `(x - offset) * factor`, where `of[j] = (offset, factor)`. Nothing is copied; blocks are transformed when they are read.
    pub fn standardized(&self, of: Vec<(f64, f64)>) -> Result<Dense<'a>> {
        if of.len() != self.n_columns || !matches!(self.standard, Standardization::Raw) {
            return Err(Error::data(format!("{} offsets for a table of {} raw columns", of.len(), self.n_columns)));
        }
        Ok(Dense { standard: Standardization::Columns(of.into()), ..self.clone() })
    }

    /// The same table with column `j` multiplied by `factors[j]`, in addition to earlier transformations.
    pub fn multiplied(&self, factors: &[f64]) -> Result<Dense<'a>> {
        let of: Vec<(f64, f64)> = match &self.standard {
            Standardization::Columns(of) => {
                of.iter().zip(factors).map(|((offset, own), f)| (*offset, own * f)).collect()
            }
            _ => factors.iter().map(|f| (0.0, *f)).collect(),
        };
        let raw = Dense { standard: Standardization::Raw, ..self.clone() };
        if matches!(self.standard, Standardization::Rows(_)) { self.standardized(of) } else { raw.standardized(of) }
    }

    /// Row `i` in memory, if its numbers are contiguous.
    pub fn row(&self, i: usize) -> Option<RowView<'a>> {
        if matches!(self.standard, Standardization::Raw) { self.raw_row(i) } else { None }
    }

    /// All numbers and the row stride, if they are row-major, in double precision and not transformed.
    pub fn array(&self) -> Option<(&'a [f64], usize)> {
        match (&self.store, &self.standard) {
            (DenseStore::RowsF64(x, stride), Standardization::Raw) => Some((x, *stride)),
            _ => None,
        }
    }

    /// Row `i` before any transformation.
    pub fn raw_row(&self, i: usize) -> Option<RowView<'a>> {
        let p = self.n_columns;
        match &self.store {
            DenseStore::RowsF64(x, stride) => Some(RowView::F64(&x[i * stride..i * stride + p])),
            DenseStore::RowsF32(x, stride) => Some(RowView::F32(&x[i * stride..i * stride + p])),
            DenseStore::Rows(rows) => match rows[i] {
                ColumnView::F64(x, 1) => Some(RowView::F64(&x[..p])),
                ColumnView::F32(x, 1) => Some(RowView::F32(&x[..p])),
                _ => None,
            },
            DenseStore::Columns(_) => None,
        }
    }

    /// The transpose, sharing memory.
    pub fn transposed(&self) -> Dense<'a> {
        let (n_rows, n_columns) = (self.n_columns, self.n_rows);
        let store = match &self.store {
            DenseStore::RowsF64(x, stride) => DenseStore::Columns(
                (0..n_columns).map(|i| ColumnView::F64(&x[i * stride..i * stride + n_rows], 1)).collect(),
            ),
            DenseStore::RowsF32(x, stride) => DenseStore::Columns(
                (0..n_columns).map(|i| ColumnView::F32(&x[i * stride..i * stride + n_rows], 1)).collect(),
            ),
            DenseStore::Columns(columns) => DenseStore::Rows(columns.clone()),
            DenseStore::Rows(rows) => DenseStore::Columns(rows.clone()),
        };
        let standard = match &self.standard {
            Standardization::Raw => Standardization::Raw,
            Standardization::Columns(of) => Standardization::Rows(of.clone()),
            Standardization::Rows(of) => Standardization::Columns(of.clone()),
        };
        Dense { n_rows, n_columns, store, standard }
    }

    /// Every `step`-th row.
    pub fn every(&self, step: usize) -> Dense<'a> {
        let step = step.max(1);
        let n_rows = self.n_rows.div_ceil(step);
        let store = match &self.store {
            DenseStore::RowsF64(x, stride) => DenseStore::RowsF64(x, stride * step),
            DenseStore::RowsF32(x, stride) => DenseStore::RowsF32(x, stride * step),
            DenseStore::Columns(columns) => DenseStore::Columns(
                columns
                    .iter()
                    .map(|c| match *c {
                        ColumnView::F64(x, stride) => ColumnView::F64(x, stride * step),
                        ColumnView::F32(x, stride) => ColumnView::F32(x, stride * step),
                    })
                    .collect(),
            ),
            DenseStore::Rows(rows) => DenseStore::Rows(rows.iter().copied().step_by(step).collect()),
        };
        let standard = match &self.standard {
            Standardization::Rows(of) => Standardization::Rows(of.iter().copied().step_by(step).collect()),
            other => other.clone(),
        };
        Dense { n_rows, n_columns: self.n_columns, store, standard }
    }

    /// The rows of `range` as a row-major block: borrowed if possible, otherwise written to `buffer`.
    pub fn block<'b>(&'b self, range: Range<usize>, buffer: &'b mut Vec<f64>) -> RowBlock<'b> {
        let p = self.n_columns;
        if let (DenseStore::RowsF64(x, stride), Standardization::Raw) = (&self.store, &self.standard) {
            let stride = *stride;
            let end = if range.is_empty() { range.start * stride } else { (range.end - 1) * stride + p };
            return RowBlock { data: &x[(range.start * stride).min(end)..end], stride };
        }
        buffer.resize(range.len() * p, 0.0);
        match &self.store {
            DenseStore::RowsF64(x, stride) => {
                for (i, out) in range.clone().zip(buffer.chunks_exact_mut(p.max(1))) {
                    out.copy_from_slice(&x[i * stride..i * stride + p]);
                }
            }
            DenseStore::RowsF32(x, stride) => {
                for (i, out) in range.clone().zip(buffer.chunks_exact_mut(p.max(1))) {
                    widen(&x[i * stride..i * stride + p], out);
                }
            }
            DenseStore::Rows(rows) => {
                for (row, out) in rows[range.clone()].iter().zip(buffer.chunks_exact_mut(p.max(1))) {
                    copy_line(row, out);
                }
            }
            DenseStore::Columns(columns) => transpose(columns, range.clone(), buffer),
        }
        self.standardize(range, None, buffer);
        RowBlock { data: buffer, stride: p }
    }

    /// Copies the chosen columns of the rows of `range` to `out`, row-major.
    pub fn gather(&self, range: Range<usize>, chosen: &[usize], out: &mut Vec<f64>) {
        out.clear();
        match &self.store {
            DenseStore::RowsF64(x, stride) => {
                for i in range.clone() {
                    let row = &x[i * stride..];
                    out.extend(chosen.iter().map(|&j| row[j]));
                }
            }
            DenseStore::RowsF32(x, stride) => {
                for i in range.clone() {
                    let row = &x[i * stride..];
                    out.extend(chosen.iter().map(|&j| row[j].wide()));
                }
            }
            DenseStore::Rows(rows) => {
                for row in &rows[range.clone()] {
                    out.extend(chosen.iter().map(|&j| row.get(j)));
                }
            }
            DenseStore::Columns(columns) => {
                let columns: Vec<ColumnView> = chosen.iter().map(|&j| columns[j]).collect();
                out.resize(range.len() * columns.len(), 0.0);
                transpose(&columns, range.clone(), out);
            }
        }
        self.standardize(range, Some(chosen), out);
    }

    /// Standardizes the chosen columns (all if `None`) of the rows of `range`, which are row-major in `out`.
    fn standardize(&self, range: Range<usize>, chosen: Option<&[usize]>, out: &mut [f64]) {
        let width = chosen.map_or(self.n_columns, <[usize]>::len).max(1);
        match &self.standard {
            Standardization::Raw => {}
            Standardization::Rows(of) => {
                for (&(offset, factor), row) in of[range].iter().zip(out.chunks_exact_mut(width)) {
                    row.iter_mut().for_each(|x| *x = (*x - offset) * factor);
                }
            }
            Standardization::Columns(of) => {
                let picked: Vec<(f64, f64)>;
                let of = match chosen {
                    None => &of[..],
                    Some(chosen) => {
                        picked = chosen.iter().map(|&j| of[j]).collect();
                        &picked
                    }
                };
                for row in out.chunks_exact_mut(width) {
                    row.iter_mut().zip(of).for_each(|(x, (offset, factor))| *x = (*x - offset) * factor);
                }
            }
        }
    }

    /// Whether all numbers are finite.
    pub fn is_finite(&self) -> bool {
        let finite = parallel::map_items(&super::chunks(self.n_rows, 64, 4 * BLOCK), |rows| {
            let mut buffer = Vec::new();
            rows.clone().step_by(BLOCK).all(|start| {
                let n = BLOCK.min(rows.end - start);
                let block = self.block(start..start + n, &mut buffer);
                (0..n).all(|r| all_finite(block.row(r, self.n_columns)))
            })
        });
        finite.into_iter().all(|finite| finite)
    }

    /// `X w + b`.
    pub fn times(&self, w: &[f64], b: f64) -> Vec<f64> {
        let mut out = vec![0.0; self.n_rows];
        let chunk = super::chunks(self.n_rows, 64, 4 * BLOCK).first().map_or(1, |c| c.len());
        parallel::for_each_chunk(&mut out, chunk, |c, out| {
            let mut buffer = Vec::new();
            for (k, out) in out.chunks_mut(BLOCK).enumerate() {
                let start = c * chunk + k * BLOCK;
                let block = self.block(start..start + out.len(), &mut buffer);
                lanes::row_dots(block.data, block.stride, w, b, out);
            }
        });
        out
    }

    /// `X_A w + b`, for chosen columns `A` with one weight each.
    pub fn times_of(&self, chosen: &[usize], w: &[f64], b: f64) -> Vec<f64> {
        let mut out = vec![b; self.n_rows];
        parallel::for_each_chunk(&mut out, 4 * BLOCK, |c, out| {
            let mut buffer = Vec::new();
            for (k, out) in out.chunks_mut(BLOCK).enumerate() {
                let start = c * 4 * BLOCK + k * BLOCK;
                self.gather(start..start + out.len(), chosen, &mut buffer);
                lanes::row_dots(&buffer, chosen.len(), w, b, out);
            }
        });
        out
    }

    /// `X' c`.
    pub fn transposed_times(&self, c: &[f64]) -> Vec<f64> {
        self.transposed_times_all([c]).into_iter().next().unwrap_or_default()
    }

    /// `X' c` for several `c`, in one pass over the table.
    pub fn transposed_times_all<const K: usize>(&self, c: [&[f64]; K]) -> Vec<Vec<f64>> {
        let p = self.n_columns;
        let chunks = super::chunks(self.n_rows, 16, 4 * BLOCK);
        if let Some(columns) = self.whole_columns() {
            return columns::transposed_times_all(&columns, &chunks, c);
        }
        let sum = |rows: Range<usize>| {
            let (mut g, mut buffer) = (vec![0.0; K * p], Vec::new());
            for start in rows.clone().step_by(BLOCK) {
                let range = start..(start + BLOCK).min(rows.end);
                let block = self.block(range.clone(), &mut buffer);
                for (c, g) in c.iter().zip(g.chunks_exact_mut(p.max(1))) {
                    lanes::add_rows(block.data, block.stride, &c[range.clone()], g);
                }
            }
            g
        };
        let parts: Vec<Vec<f64>> = parallel::consume(chunks, |_, rows| sum(rows));
        let total = add_in_order(parts, K * p);
        (0..K).map(|k| total[k * p..(k + 1) * p].to_vec()).collect()
    }

    /// The columns as slices, if each is contiguous and in double precision.
    fn whole_columns(&self) -> Option<Vec<&'a [f64]>> {
        let (DenseStore::Columns(columns), Standardization::Raw) = (&self.store, &self.standard) else { return None };
        let whole = |column: &ColumnView<'a>| match *column {
            ColumnView::F64(x, 1) => Some(&x[..self.n_rows]),
            _ => None,
        };
        columns.iter().map(whole).collect()
    }
}

/// Sums vectors of length `len` in order.
pub fn add_in_order(parts: Vec<Vec<f64>>, len: usize) -> Vec<f64> {
    let mut parts = parts.into_iter();
    let mut total = parts.next().unwrap_or_else(|| vec![0.0; len]);
    for part in parts {
        total.iter_mut().zip(part).for_each(|(t, x)| *t += x);
    }
    total
}

fn check_rows(len: usize, n_rows: usize, n_columns: usize, stride: usize) -> Result<()> {
    let enough = n_rows == 0
        || (stride >= n_columns && (n_rows - 1).checked_mul(stride).is_some_and(|last| last + n_columns <= len));
    if enough {
        return Ok(());
    }
    Err(Error::data(format!("{len} numbers are too few for {n_rows} lines of {n_columns}, {stride} apart")))
}

crate::versions! {
    fn widen(x: &[f32], out: &mut [f64]) {
        for (out, x) in out.iter_mut().zip(x) {
            *out = *x as f64;
        }
    }
}

crate::versions! {
    fn all_finite(x: &[f64]) -> bool {
        let mut sums = [0.0; 8];
        for (i, x) in x.iter().enumerate() {
            // 0 for a finite number, otherwise NaN.
            sums[i % 8] += x * 0.0;
        }
        sums.iter().sum::<f64>() == 0.0
    }
}

fn copy_line(line: &ColumnView, out: &mut [f64]) {
    match *line {
        ColumnView::F64(x, 1) => out.copy_from_slice(&x[..out.len()]),
        ColumnView::F32(x, 1) => widen(&x[..out.len()], out),
        _ => out.iter_mut().enumerate().for_each(|(j, out)| *out = line.get(j)),
    }
}

/// Copies the rows of `range` of `columns` to row-major `out`, eight columns at a time, so that whole cache lines are written.
fn transpose(columns: &[ColumnView], range: Range<usize>, out: &mut [f64]) {
    let p = columns.len();
    let mut lines = [[0.0; BLOCK]; 8];
    for (g, group) in columns.chunks(8).enumerate() {
        for start in range.clone().step_by(BLOCK) {
            let rows = start..(start + BLOCK).min(range.end);
            for (line, column) in lines.iter_mut().zip(group) {
                match column {
                    ColumnView::F64(x, 1) => line[..rows.len()].copy_from_slice(&x[rows.clone()]),
                    _ => rows.clone().zip(line).for_each(|(i, out)| *out = column.get(i)),
                }
            }
            let first = (start - range.start) * p + g * 8;
            for r in 0..rows.len() {
                let out = &mut out[first + r * p..first + r * p + group.len()];
                out.iter_mut().zip(&lines).for_each(|(out, line)| *out = line[r]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same numbers in every layout.
    fn layouts<'a>(rows: &'a [f64], columns: &'a [f64], n: usize, p: usize) -> Vec<Dense<'a>> {
        let strided = (0..p).map(|j| ColumnView::F64(&rows[j.min(rows.len())..], p)).collect();
        vec![
            Dense::rows_f64(rows, n, p, p).unwrap(),
            Dense::columns_f64(columns, n, p, n).unwrap(),
            Dense::columns(strided, n).unwrap(),
            Dense::rows_f64(columns, p, n, n).unwrap().transposed(),
            Dense::columns_f64(rows, p, n, p).unwrap().transposed(),
        ]
    }

    proptest! {
        #[test]
        fn every_layout_gives_the_same_bits(n in 0usize..300, p in 0usize..20) {
            let value = |i: usize, j: usize| ((i * 31 + j * 17) % 101) as f64 / 7.0 - 5.0;
            let rows: Vec<f64> = (0..n).flat_map(|i| (0..p).map(move |j| value(i, j))).collect();
            let columns: Vec<f64> = (0..p).flat_map(|j| (0..n).map(move |i| value(i, j))).collect();
            let w: Vec<f64> = (0..p).map(|j| j as f64 * 0.3 - 1.0).collect();
            let c: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
            let all = layouts(&rows, &columns, n, p);
            for x in &all {
                prop_assert_eq!(x.times(&w, 0.5), all[0].times(&w, 0.5));
                prop_assert_eq!(x.transposed_times(&c), all[0].transposed_times(&c));
                let pair = x.transposed_times_all([&c, &all[0].times(&w, 0.5)]);
                prop_assert_eq!(&pair[0], &x.transposed_times(&c));
                prop_assert_eq!(&pair[1], &x.transposed_times(&all[0].times(&w, 0.5)));
                let odd: Vec<usize> = (1..p).step_by(2).collect();
                let all_but_odd: Vec<f64> = (0..p).map(|j| if j % 2 == 1 { w[j] } else { 0.0 }).collect();
                for (a, b) in x.times_of(&odd, &odd.iter().map(|&j| w[j]).collect::<Vec<_>>(), 0.5).iter().zip(x.times(&all_but_odd, 0.5)) {
                    prop_assert!((a - b).abs() < 1e-9);
                }
                prop_assert_eq!(x.every(3).times(&w, 0.5), all[0].times(&w, 0.5).into_iter().step_by(3).collect::<Vec<_>>());
                if n > 2 && p > 2 {
                    let mut out = Vec::new();
                    x.gather(1..3, &[2, 0], &mut out);
                    prop_assert_eq!(&out, &[value(1, 2), value(1, 0), value(2, 2), value(2, 0)]);
                }
            }
            let of: Vec<(f64, f64)> = (0..p).map(|j| (j as f64 - 2.0, 0.5 + j as f64)).collect();
            let made: Vec<f64> = rows.iter().enumerate().map(|(k, x)| (x - of[k % p].0) * of[k % p].1).collect();
            let made = Dense::rows_f64(&made, n, p, p).unwrap();
            for x in &all {
                let x = x.standardized(of.clone()).unwrap();
                prop_assert_eq!(x.times(&w, 0.5), made.times(&w, 0.5));
                prop_assert_eq!(x.every(3).times(&w, 0.5), made.every(3).times(&w, 0.5));
                prop_assert_eq!(x.transposed().every(2).times(&c, 0.5), made.transposed().every(2).times(&c, 0.5));
                if n > 2 && p > 2 {
                    let (mut a, mut b) = (Vec::new(), Vec::new());
                    x.gather(1..3, &[2, 0], &mut a);
                    made.gather(1..3, &[2, 0], &mut b);
                    prop_assert_eq!(a, b);
                    prop_assert_eq!(x.get(1, 2), made.get(1, 2));
                }
            }
            prop_assert!(all.iter().all(Dense::is_finite));
            if n * p > 0 {
                let mut broken = rows.clone();
                broken[n * p / 2] = if n % 2 == 0 { f64::NAN } else { f64::INFINITY };
                prop_assert!(!Dense::rows_f64(&broken, n, p, p).unwrap().is_finite());
            }
            for (i, z) in all[0].times(&w, 0.5).iter().enumerate() {
                let truth: f64 = 0.5 + (0..p).map(|j| value(i, j) * w[j]).sum::<f64>();
                prop_assert!((z - truth).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn too_short_slices_are_errors() {
        assert!(Dense::rows_f64(&[1.0; 5], 2, 3, 3).is_err());
        assert!(Dense::rows_f64(&[1.0; 5], 2, 2, 3).is_ok());
        assert!(Dense::columns(vec![ColumnView::F32(&[1.0; 5], 2)], 4).is_err());
        assert!(Dense::columns(vec![ColumnView::F32(&[1.0; 5], 2)], 3).is_ok());
    }
}
