//! Products of a block of rows with a few columns: `Z = X W + b` and `G += X' U`, where `W` and `U` have one column per class, padded to a multiple of eight.
//!
//! **Idea.** With the classes side by side in a register, a number of `X` is loaded once for eight classes, and eight registers of sums hide the latency. The order of the
//! additions does not depend on the width of the registers.

use super::lanes::{LANES, prefetch};

/// Rows or columns per register tile.
const TILE: usize = 8;

/// `z_r = start + sum_j x_rj w_j` for the first eight of `width` classes; `R` rows. Prefetches `ahead`.
#[inline(always)]
fn times_tile<const R: usize>(
    lines: [&[f64]; R],
    ahead: &[f64],
    w: &[f64],
    width: usize,
    start: &[f64],
    z: &mut [f64],
) {
    let mut sums = [[0.0f64; LANES]; R];
    for sums in &mut sums {
        sums.copy_from_slice(&start[..LANES]);
    }
    for (j, w) in w.chunks(width).enumerate().take(lines[0].len()) {
        let w = &w[..LANES];
        prefetch(ahead, j * LANES);
        for r in 0..R {
            let x = lines[r][j];
            for l in 0..LANES {
                sums[r][l] = x.mul_add(w[l], sums[r][l]);
            }
        }
    }
    for (r, sums) in sums.iter().enumerate() {
        z[r * width..r * width + LANES].copy_from_slice(sums);
    }
}

/// `g_j += sum_r x_rj u_r` for the first eight of `width` classes; `C` columns of `x`, rows `stride` apart.
#[inline(always)]
fn add_tile<const C: usize>(x: &[f64], stride: usize, u: &[f64], width: usize, g: &mut [f64]) {
    let mut sums = [[0.0f64; LANES]; C];
    for (r, u) in u.chunks(width).enumerate() {
        let (x, u) = (&x[r * stride..r * stride + C], &u[..LANES]);
        for j in 0..C {
            for l in 0..LANES {
                sums[j][l] = x[j].mul_add(u[l], sums[j][l]);
            }
        }
    }
    for (j, sums) in sums.iter().enumerate() {
        let g = &mut g[j * width..j * width + LANES];
        for l in 0..LANES {
            g[l] += sums[l];
        }
    }
}

crate::versions! {
    /// `Z = X W + start` for the rows of a block, `stride` numbers apart. `w` has `width` numbers per column of `x`, `z` has `width` numbers per row; `width` is a multiple of eight.
    pub fn times_few(x: &[f64], stride: usize, w: &[f64], width: usize, start: &[f64], z: &mut [f64]) {
        let (p, n) = (w.len() / width, z.len() / width);
        let line = |r: usize| &x[r * stride..r * stride + p];
        for g in (0..width).step_by(LANES) {
            let (w, start) = (&w[g.min(w.len())..], &start[g..]);
            let mut r = 0;
            while r + TILE <= n {
                // Prefetch the next rows, once for all groups of classes.
                let ahead = if g == 0 { &x[((r + TILE) * stride).min(x.len())..] } else { &[] };
                let lines = std::array::from_fn(|k| line(r + k));
                times_tile::<TILE>(lines, ahead, w, width, start, &mut z[r * width + g..]);
                r += TILE;
            }
            for r in r..n {
                times_tile::<1>([line(r)], &[], w, width, start, &mut z[r * width + g..]);
            }
        }
    }

    /// `G += X' U` for the rows of a block. `u` has `width` numbers per row, `g` has `width` numbers per column.
    pub fn add_few(x: &[f64], stride: usize, u: &[f64], width: usize, g: &mut [f64]) {
        let p = g.len() / width;
        for first in (0..width).step_by(LANES) {
            let u = &u[first.min(u.len())..];
            let mut j = 0;
            while j + TILE <= p {
                add_tile::<TILE>(&x[j.min(x.len())..], stride, u, width, &mut g[j * width + first..]);
                j += TILE;
            }
            for j in j..p {
                add_tile::<1>(&x[j.min(x.len())..], stride, u, width, &mut g[j * width + first..]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn products_equal_those_of_plain_loops(n in 0usize..20, p in 0usize..20, groups in 1usize..3, seed in 0u32..1000) {
            let number = |i: usize| ((i as u32).wrapping_mul(2_654_435_761).wrapping_add(seed) % 1000) as f64 / 500.0 - 1.0;
            let (stride, width) = (p + 3, groups * LANES);
            let x: Vec<f64> = (0..n * stride).map(number).collect();
            let (w, start): (Vec<f64>, Vec<f64>) = ((0..p * width).map(number).collect(), (0..width).map(number).collect());
            let mut z = vec![0.0; n * width];
            times_few(&x, stride, &w, width, &start, &mut z);
            for (r, l) in (0..n).flat_map(|r| (0..width).map(move |l| (r, l))) {
                let truth = (0..p).fold(start[l], |sum, j| x[r * stride + j].mul_add(w[j * width + l], sum));
                prop_assert_eq!(z[r * width + l], truth);
            }
            let mut g = vec![0.5; p * width];
            add_few(&x, stride, &z, width, &mut g);
            for (j, l) in (0..p).flat_map(|j| (0..width).map(move |l| (j, l))) {
                let truth = 0.5 + (0..n).fold(0.0, |sum: f64, r| x[r * stride + j].mul_add(z[r * width + l], sum));
                prop_assert_eq!(g[j * width + l], truth);
            }
        }
    }
}
