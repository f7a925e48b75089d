//! Rows packed for SIMD registers, and blocks of kernel values over them.
//!
//! **Idea.** A kernel of two rows is a function of one sum over their columns: of products (and then `|x - y|^2 = |x|^2 + |y|^2 - 2 x'y`) or of absolute differences. Points are
//! packed in panels of two registers, column after column; eight rows at a time meet a panel with all sums in registers ([`KernelElement::tile`]), and the function
//! is then applied to the sums while they are in the first-level cache. For kernels of distances the rows are centered first, which only
//! reduces the rounding errors of the norms.
//!
//! **Cost.** For a value `d / 16` multiply-add instructions in single precision and about as many again for an exponential.

use super::Kernel;
use super::element::{GROUP, KernelElement, TileSum};
use ermine_core::linalg::Design;
use ermine_core::linalg::dense::BLOCK;
use ermine_core::simd::Level;
use ermine_core::versions;
use std::ops::Range;

/// Number of columns of a block that are processed together: eight rows of them fit into the first-level cache.
const STRIP: usize = 512;

/// Packed rows.
#[derive(Debug, Clone)]
pub struct KernelPoints<E> {
    kernel: Kernel,
    n: usize,
    d: usize,
    /// Panel after panel, column after column, the numbers of the panel's points.
    panels: Vec<E>,
    /// `|x|^2` of each point, to the end of the last panel.
    squares: Vec<E>,
}

/// The center that is subtracted before rows are packed: the column means for kernels of distances, else 0.
pub fn center(kernel: &Kernel, x: &Design) -> Vec<f64> {
    if kernel.is_stationary() { mean(x) } else { vec![0.0; x.n_columns()] }
}

/// The mean of each column.
pub fn mean(x: &Design) -> Vec<f64> {
    let n = x.n_rows();
    x.transposed_times(&vec![1.0 / n.max(1) as f64; n])
}

impl<E: KernelElement> KernelPoints<E> {
    /// Packs all rows of a table, centered.
    pub fn new(kernel: Kernel, x: &Design, center: &[f64]) -> KernelPoints<E> {
        let (n, d) = (x.n_rows(), x.n_columns());
        let mut points = KernelPoints::zeros(kernel, n, d);
        let mut row = vec![0.0; d];
        let mut buffer = Vec::new();
        for start in (0..n).step_by(BLOCK) {
            let range = start..(start + BLOCK).min(n);
            match x {
                Design::Dense(x) => {
                    let block = x.block(range.clone(), &mut buffer);
                    range.enumerate().for_each(|(r, i)| points.put(i, block.row(r, d), center));
                }
                Design::Sparse(x) => {
                    for i in range {
                        let (places, numbers) = x.rows().line(i);
                        places.iter().zip(numbers).for_each(|(&j, &v)| row[j as usize] = v);
                        points.put(i, &row, center);
                        places.iter().for_each(|&j| row[j as usize] = 0.0);
                    }
                }
            }
        }
        points
    }

    fn zeros(kernel: Kernel, n: usize, d: usize) -> KernelPoints<E> {
        let padded = n.next_multiple_of(E::PANEL);
        KernelPoints { kernel, n, d, panels: vec![E::ZERO; padded * d], squares: vec![E::ZERO; padded] }
    }

    fn put(&mut self, i: usize, row: &[f64], center: &[f64]) {
        let panel = &mut self.panels[i / E::PANEL * E::PANEL * self.d..];
        let mut square = 0.0;
        for (j, (x, c)) in row.iter().zip(center).enumerate() {
            let value = E::of(x - c);
            panel[j * E::PANEL + i % E::PANEL] = value;
            square += value.wide() * value.wide();
        }
        self.squares[i] = E::of(square);
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.n
    }

    /// The largest absolute value and the largest `|x|^2`; infinite if a sum of squares overflows.
    pub fn largest(&self) -> (f64, f64) {
        let most = |values: &[E]| values.iter().fold(0.0f64, |most, v| most.max(v.wide().abs()));
        (most(&self.panels), most(&self.squares))
    }

    /// Number of columns.
    pub fn n_columns(&self) -> usize {
        self.d
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Some of the points.
    pub fn select(&self, rows: &[u32]) -> KernelPoints<E> {
        let mut points = KernelPoints::zeros(self.kernel, rows.len(), self.d);
        let width = E::PANEL * self.d;
        for (at, &i) in rows.iter().enumerate() {
            let i = i as usize;
            let from = &self.panels[i / E::PANEL * width..];
            let to = &mut points.panels[at / E::PANEL * width..];
            (0..self.d).for_each(|j| to[j * E::PANEL + at % E::PANEL] = from[j * E::PANEL + i % E::PANEL]);
            points.squares[at] = self.squares[i];
        }
        points
    }

    /// `k(x, x)` of point `i`.
    pub fn diagonal(&self, i: usize) -> f64 {
        let square = self.squares[i].wide();
        match self.kernel {
            Kernel::Linear => square,
            Kernel::Polynomial { degree, gamma, coef0 } => {
                E::of(gamma.mul_add(square, coef0).powi(degree.min(i32::MAX as u32) as i32)).wide()
            }
            Kernel::Gaussian { .. } | Kernel::Laplacian { .. } => 1.0,
            Kernel::Sigmoid { gamma, coef0 } => gamma.mul_add(square, coef0).tanh(),
        }
    }

    /// The values of some rows of `other` with the points of `columns` (which begins with a panel), row after row into `out`.
    pub fn block(&self, other: &KernelPoints<E>, rows: &[u32], columns: Range<usize>, out: &mut [E]) {
        let width = columns.len();
        debug_assert!(columns.start.is_multiple_of(E::PANEL) && out.len() == rows.len() * width);
        let sum = if matches!(self.kernel, Kernel::Laplacian { .. }) { TileSum::Gap } else { TileSum::Product };
        let level = Level::detect();
        let mut group = vec![E::ZERO; self.d * GROUP];
        let mut strip = [E::ZERO; GROUP * STRIP];
        for (rows, out) in rows.chunks(GROUP).zip(out.chunks_mut((GROUP * width).max(1))) {
            other.gather(rows, &mut group);
            for start in (0..width).step_by(STRIP) {
                let length = STRIP.min(width - start);
                for panel in 0..length.div_ceil(E::PANEL) {
                    let first = (columns.start + start) / E::PANEL + panel;
                    let points = &self.panels[first * E::PANEL * self.d..(first + 1) * E::PANEL * self.d];
                    E::tile(level, sum, points, &group, &mut strip[panel * E::PANEL..], STRIP);
                }
                let squares = &self.squares[columns.start + start..columns.start + start + length];
                for (i, &row) in rows.iter().enumerate() {
                    let out = &mut out[i * width + start..i * width + start + length];
                    finish(
                        self.kernel,
                        &strip[i * STRIP..i * STRIP + length],
                        other.squares[row as usize],
                        squares,
                        out,
                    );
                }
            }
        }
    }

    /// Eight rows side by side, column after column.
    fn gather(&self, rows: &[u32], group: &mut [E]) {
        for (i, &row) in rows.iter().enumerate() {
            let row = row as usize;
            let from = &self.panels[row / E::PANEL * E::PANEL * self.d..];
            (0..self.d).for_each(|j| group[j * GROUP + i] = from[j * E::PANEL + row % E::PANEL]);
        }
    }
}

versions! {
    /// The kernel's function of the sums.
    fn finish<E: KernelElement>(kernel: Kernel, sums: &[E], square: E, squares: &[E], out: &mut [E]) {
        match kernel {
            Kernel::Linear => out.copy_from_slice(sums),
            Kernel::Polynomial { degree, gamma, coef0 } => {
                let (gamma, coef0) = (E::of(gamma), E::of(coef0));
                for (out, sum) in out.iter_mut().zip(sums) {
                    *out = power(sum.fused(gamma, coef0), degree);
                }
            }
            Kernel::Gaussian { gamma } => {
                let (twice, minus) = (E::of(2.0 * gamma), E::of(-gamma));
                for ((out, sum), s) in out.iter_mut().zip(sums).zip(squares) {
                    // Symmetric in the two rows, and at most 0 up to rounding.
                    let exponent = sum.fused(twice, minus * (square + *s));
                    *out = (if exponent > E::ZERO { E::ZERO } else { exponent }).decay();
                }
            }
            Kernel::Sigmoid { gamma, coef0 } => {
                let (gamma, coef0) = (E::of(gamma), E::of(coef0));
                for (out, sum) in out.iter_mut().zip(sums) {
                    *out = sum.fused(gamma, coef0).tanh();
                }
            }
            Kernel::Laplacian { gamma } => {
                let minus = E::of(-gamma);
                for (out, sum) in out.iter_mut().zip(sums) {
                    *out = (minus * *sum).decay();
                }
            }
        }
    }
}

/// `x^n`, by squaring.
#[inline(always)]
fn power<E: KernelElement>(x: E, n: u32) -> E {
    let (mut result, mut square, mut n) = (E::ONE, x, n);
    while n > 0 {
        if n & 1 == 1 {
            result = result * square;
        }
        square = square * square;
        n >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use ermine_core::linalg::Dense;
    use proptest::prelude::*;

    fn check<E: KernelElement>(kernel: Kernel, n: usize, d: usize, seed: u64, tolerance: f64) {
        let mut rng = ermine_core::rng::stream(seed, &[]);
        let x: Vec<f64> = (0..n * d).map(|_| ermine_core::rng::below(&mut rng, 2001) as f64 / 1000.0 + 2.0).collect();
        let design: Design = Dense::rows_f64(&x, n, d, d).unwrap().into();
        let points = KernelPoints::<E>::new(kernel, &design, &center(&kernel, &design));
        let row = |i: usize| &x[i * d..(i + 1) * d];
        let rows: Vec<u32> = (0..n as u32).rev().step_by(2).collect();
        let begin = (n / 3) / E::PANEL * E::PANEL;
        let mut out = vec![E::ZERO; rows.len() * (n - begin)];
        points.block(&points, &rows, begin..n, &mut out);
        for (r, &i) in rows.iter().enumerate() {
            for j in begin..n {
                let (got, truth) = (out[r * (n - begin) + j - begin].wide(), kernel.value(row(i as usize), row(j)));
                assert!((got - truth).abs() <= tolerance * (1.0 + truth.abs()), "{kernel:?}: {got} {truth}");
            }
            let (i, truth) = (i as usize, kernel.value(row(i as usize), row(i as usize)));
            assert!((points.diagonal(i) - truth).abs() <= tolerance * (1.0 + truth));
        }
        let chosen = points.select(&rows);
        let mut part = vec![E::ZERO; rows.len() * rows.len()];
        chosen.block(&chosen, &(0..rows.len() as u32).collect::<Vec<_>>(), 0..rows.len(), &mut part);
        for (r, line) in part.chunks_exact(rows.len()).enumerate() {
            for (c, value) in line.iter().enumerate() {
                assert_eq!(*value, part[c * rows.len() + r], "symmetric to the last bit");
                if rows[c] as usize >= begin {
                    assert_eq!(*value, out[r * (n - begin) + rows[c] as usize - begin], "the same among other points");
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn blocks_contain_the_kernel_values(n in 1usize..150, d in 0usize..12, seed in 0u64..50, which in 0usize..5) {
            let kernel = [
                Kernel::Linear,
                Kernel::Polynomial { degree: 3, gamma: 0.3, coef0: 1.0 },
                Kernel::Gaussian { gamma: 0.7 },
                Kernel::Sigmoid { gamma: 0.01, coef0: -0.5 },
                Kernel::Laplacian { gamma: 0.4 },
            ][which];
            check::<f64>(kernel, n, d, seed, 1e-13);
            check::<f32>(kernel, n, d, seed, 3e-6);
        }
    }
}
