//! Kernels for column-major tables (Fortran order): nothing is transposed, and every column is read sequentially.
//!
//! Sums run in the order of the row-major kernels, so both layouts give the same bits: within a chunk of rows, the products of a column are added one after the other. Such a
//! chain of additions has a latency of four cycles per product; processing sixteen chains side by side hides it.

use crate::parallel;
use std::ops::Range;

/// Columns that are summed side by side.
const GROUP: usize = 8;

/// `X' c` for several `c`: sums over the chunks of rows, added in the order of the chunks.
pub fn transposed_times_all<const K: usize>(
    columns: &[&[f64]],
    chunks: &[Range<usize>],
    c: [&[f64]; K],
) -> Vec<Vec<f64>> {
    let groups: Vec<&[&[f64]]> = columns.chunks(GROUP).collect();
    let sum = |task: usize| {
        let (group, rows) = (groups[task / chunks.len()], &chunks[task % chunks.len()]);
        // An incomplete group repeats its last column.
        dots(std::array::from_fn(|j| &group[j.min(group.len() - 1)][rows.clone()]), c.map(|c| &c[rows.clone()]))
    };
    let parts: Vec<[[f64; GROUP]; K]> = parallel::map(groups.len() * chunks.len(), sum);
    let total = |k: usize, j: usize| {
        let of_group = &parts[j / GROUP * chunks.len()..(j / GROUP + 1) * chunks.len()];
        of_group.iter().map(|part| part[k][j % GROUP]).reduce(|total, part| total + part).unwrap_or(0.0)
    };
    (0..K).map(|k| (0..columns.len()).map(|j| total(k, j)).collect()).collect()
}

crate::versions! {
    /// The dot products of eight columns with each `c`.
    fn dots<const K: usize>(columns: [&[f64]; GROUP], c: [&[f64]; K]) -> [[f64; GROUP]; K] {
        let n = c.iter().chain(&columns).map(|line| line.len()).min().unwrap_or(0);
        let (columns, c) = (columns.map(|x| &x[..n]), c.map(|c| &c[..n]));
        let mut sums = [[0.0f64; GROUP]; K];
        for i in 0..n {
            for k in 0..K {
                for j in 0..GROUP {
                    sums[k][j] = c[k][i].mul_add(columns[j][i], sums[k][j]);
                }
            }
        }
        sums
    }
}
