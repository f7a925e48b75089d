//! Linear algebra for learning: tall data and small square matrices.
//!
//! | file | what it holds |
//! |---|---|
//! | [`lanes`] | vectorized loops over slices (dot, axpy, exp) with the same bits on every machine |
//! | [`dense`] | a dense table in any memory layout, read in blocks of rows |
//! | `columns` | kernels for column-major tables |
//! | [`sparse`] | a sparse table, by rows and by columns |
//! | [`design`] | dense or sparse behind one interface: `X w`, `X' r`, `X' S X` |
//! | [`few`] | products with a few columns, one per class |
//! | [`gram`] | the blocked kernel for `X' S X`, the hot loop of linear models |
//! | [`matrix`] | small matrices |
//! | [`cholesky`] | `A = L L'` with a condition estimate |
//! | [`lu`] | `P A = L U` for small nonsymmetric systems |
//!
//! **Determinism.** Rows are divided into chunks whose bounds depend only on the shape, and partial sums are added in row order, so results don't depend on the number of
//! threads. Every kernel uses fused multiply-add in the same order, whatever the width of the registers.

pub mod cholesky;
mod columns;
pub mod dense;
pub mod design;
pub mod few;
pub mod gram;
pub mod lanes;
pub mod lu;
pub mod matrix;
pub mod sparse;

pub use cholesky::Cholesky;
pub use dense::Dense;
pub use design::Design;
pub use gram::Gram;
pub use lu::Lu;
pub use matrix::Matrix;
pub use sparse::Sparse;

use std::ops::Range;

/// Divides `n` rows into at most `most` chunks of at least `least` rows each (the last may be shorter); bounds are multiples of 128. Depends only on its arguments, so sums over
/// chunks don't depend on the number of threads.
pub fn chunks(n: usize, most: usize, least: usize) -> Vec<Range<usize>> {
    let step = n.div_ceil(most.max(1)).max(least).max(1).next_multiple_of(128);
    (0..n.div_ceil(step)).map(|c| c * step..((c + 1) * step).min(n)).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn chunks_cover_every_row_once() {
        for n in [0, 1, 127, 128, 129, 5000, 100_000] {
            let chunks = super::chunks(n, 16, 512);
            assert!(chunks.len() <= 16);
            let rows: Vec<usize> = chunks.into_iter().flatten().collect();
            assert_eq!(rows, (0..n).collect::<Vec<_>>());
        }
    }
}
