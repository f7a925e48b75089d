//! Vectorized loops over slices, with the same bits on every machine.
//!
//! **Idea.** A floating-point sum depends on its order, so compilers don't reorder it, and a plain loop stays scalar. Here the order is fixed: eight lanes side by side, several
//! such groups to hide latency, added in a fixed tree at the end, with fused multiply-add throughout. [`versions!`](crate::versions) compiles each body three times (AVX-512, AVX2
//! with FMA, portable) and selects at run time; all three perform the same operations in the same order, so they give the same bits. Without FMA hardware the fused operation is
//! emulated, which is slow.

use crate::versions;

/// Number of lanes: the `f64`s in one AVX-512 register.
pub const LANES: usize = 8;

/// A stored number; arithmetic is done in `f64`.
pub trait Real: Copy + Send + Sync + Default + 'static {
    /// The number in double precision.
    fn wide(self) -> f64;
}

impl Real for f64 {
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
}

impl Real for f32 {
    #[inline(always)]
    fn wide(self) -> f64 {
        self as f64
    }
}

/// Prefetches the cache line of an element.
#[inline(always)]
pub fn prefetch<T>(x: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(x) = x.get(at) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the address is inside the slice, and prefetching has no side effects.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(x).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (x, at);
}

/// Adds eight lanes in a fixed tree.
#[inline(always)]
pub fn fold(v: [f64; LANES]) -> f64 {
    ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]))
}

/// [`dot`] for use in functions that are compiled per instruction set themselves.
#[inline(always)]
pub fn dot_body<T: Real>(x: &[T], w: &[f64]) -> f64 {
    let n = x.len().min(w.len());
    let (x, w) = (&x[..n], &w[..n]);
    let mut sums = [[0.0f64; LANES]; 4];
    let (mut xs, mut ws) = (x.chunks_exact(4 * LANES), w.chunks_exact(4 * LANES));
    for (x, w) in (&mut xs).zip(&mut ws) {
        for (g, sum) in sums.iter_mut().enumerate() {
            for l in 0..LANES {
                sum[l] = x[g * LANES + l].wide().mul_add(w[g * LANES + l], sum[l]);
            }
        }
    }
    let (mut xs, mut ws) = (xs.remainder().chunks_exact(LANES), ws.remainder().chunks_exact(LANES));
    for (g, (x, w)) in (&mut xs).zip(&mut ws).enumerate() {
        for l in 0..LANES {
            sums[g][l] = x[l].wide().mul_add(w[l], sums[g][l]);
        }
    }
    let mut total = [0.0; LANES];
    for l in 0..LANES {
        total[l] = (sums[0][l] + sums[1][l]) + (sums[2][l] + sums[3][l]);
    }
    let tail = xs.remainder().iter().zip(ws.remainder()).fold(0.0, |t: f64, (x, w)| x.wide().mul_add(*w, t));
    fold(total) + tail
}

versions! {
    /// `sum_i x_i w_i` over the shorter length.
    pub fn dot<T: Real>(x: &[T], w: &[f64]) -> f64 {
        dot_body(x, w)
    }

    /// `y += a x`.
    pub fn axpy<T: Real>(a: f64, x: &[T], y: &mut [f64]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y = a.mul_add(x.wide(), *y);
        }
    }

    /// `out_r = x_r . w + b` for the rows of a row-major block, `stride` values apart.
    pub fn row_dots<T: Real>(x: &[T], stride: usize, w: &[f64], b: f64, out: &mut [f64]) {
        for (r, out) in out.iter_mut().enumerate() {
            *out = dot_body(&x[r * stride..r * stride + w.len()], w) + b;
        }
    }

    /// `g += sum_r c_r x_r` for the rows of a row-major block. Four rows at a time share one pass over `g`.
    pub fn add_rows<T: Real>(x: &[T], stride: usize, c: &[f64], g: &mut [f64]) {
        let p = g.len();
        let mut r = 0;
        while r + 4 <= c.len() {
            let row = |k: usize| &x[(r + k) * stride..(r + k) * stride + p];
            let (a, b, d, e) = (row(0), row(1), row(2), row(3));
            for j in 0..p {
                let s = c[r].mul_add(a[j].wide(), g[j]);
                let s = c[r + 1].mul_add(b[j].wide(), s);
                let s = c[r + 2].mul_add(d[j].wide(), s);
                g[j] = c[r + 3].mul_add(e[j].wide(), s);
            }
            r += 4;
        }
        for r in r..c.len() {
            for (g, x) in g.iter_mut().zip(&x[r * stride..r * stride + p]) {
                *g = c[r].mul_add(x.wide(), *g);
            }
        }
    }

    /// `sum_i x_i^2`.
    pub fn square_sum(x: &[f64]) -> f64 {
        dot_body(x, x)
    }

    /// The largest absolute value; 0 if empty, NaN if any value is NaN.
    pub fn max_abs(x: &[f64]) -> f64 {
        let mut m = [0.0f64; LANES];
        for group in x.chunks(LANES) {
            for (m, x) in m.iter_mut().zip(group) {
                let a = x.abs();
                *m = if a > *m || a.is_nan() { a } else { *m };
            }
        }
        m.iter().fold(0.0, |t: f64, &a| if a > t || a.is_nan() { a } else { t })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn vectorized_sums_have_the_bits_of_a_scalar_loop(x in prop::collection::vec(-1e3f64..1e3, 0..200)) {
            let w: Vec<f64> = x.iter().map(|x| (x * 1.7).sin()).collect();
            prop_assert_eq!(dot(&x, &w).to_bits(), dot_body(&x, &w).to_bits());
            let narrow: Vec<f32> = x.iter().map(|&x| x as f32).collect();
            prop_assert_eq!(dot(&narrow, &w).to_bits(), dot_body(&narrow, &w).to_bits());
            let plain: f64 = x.iter().zip(&w).map(|(a, b)| a * b).sum();
            prop_assert!((dot(&x, &w) - plain).abs() <= 1e-9);
        }

        #[test]
        fn rows_are_weighted_and_added_like_a_plain_loop(n in 0usize..11, p in 0usize..20, seed in 0u32..1000) {
            let x: Vec<f64> = (0..n * (p + 3)).map(|i| ((i as u32).wrapping_mul(2654435761) % 1000 + seed % 7) as f64 / 500.0 - 1.0).collect();
            let c: Vec<f64> = (0..n).map(|r| r as f64 - 3.5).collect();
            let mut g = vec![0.5; p];
            add_rows(&x, p + 3, &c, &mut g);
            for j in 0..p {
                let truth = 0.5 + (0..n).map(|r| c[r] * x[r * (p + 3) + j]).sum::<f64>();
                prop_assert!((g[j] - truth).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn the_largest_of_numbers_with_nan_is_nan() {
        assert!(max_abs(&[1.0, f64::NAN, 2.0]).is_nan());
        assert_eq!(max_abs(&[1.0, -3.0, 2.0]), 3.0);
    }
}
