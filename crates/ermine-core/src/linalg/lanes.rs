//! Loops over slices, vectorised, with the same bits on every machine.
//!
//! **Idea.** A floating-point sum depends on its order, so compilers won't reorder it and a plain loop stays scalar.
//! Here the order is fixed by us: eight lanes side by side, several such groups to hide latency, added up in one fixed
//! tree at the end, with fused multiply-add throughout. [`vectorised!`](crate::vectorised) compiles one such body three times (AVX-512,
//! AVX2 with FMA, plain) and picks at run time; all three perform the same operations on the same numbers, so they
//! give the same bits. Without FMA hardware the fused operation is emulated: right, but slow.
//!
//! `exp` and `softplus` are written here rather than taken from the system's library for the same reason, and because
//! they vectorise: reduction to `|r| <= ln 2 / 2` and a Taylor polynomial, whose remainder is below half a unit in the
//! last place.

/// Lanes in a group: the `f64`s of one AVX-512 register.
pub const LANES: usize = 8;

/// A number as it is stored; arithmetic is done in `f64`.
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

/// Declares functions compiled for AVX-512, for AVX2 with FMA and plainly, chosen when called.
#[macro_export]
#[doc(hidden)]
macro_rules! vectorised {
    ($($(#[$meta:meta])* $vis:vis fn $name:ident $(<$t:ident : $bound:ident>)? ($($arg:ident : $type:ty),* $(,)?) $(-> $ret:ty)? $body:block)+) => {$(
        $(#[$meta])*
        $vis fn $name $(<$t: $bound>)? ($($arg: $type),*) $(-> $ret)? {
            #[allow(clippy::too_many_arguments)]
            #[inline(always)]
            fn body $(<$t: $bound>)? ($($arg: $type),*) $(-> $ret)? $body
            #[cfg(target_arch = "x86_64")]
            {
                $crate::for_set! { avx512 => compiled
                    #[allow(clippy::too_many_arguments)]
                    fn wide $(<$t: $bound>)? ($($arg: $type),*) $(-> $ret)? {
                        body($($arg),*)
                    }
                }
                $crate::for_set! { avx2 => compiled
                    #[allow(clippy::too_many_arguments)]
                    fn narrow $(<$t: $bound>)? ($($arg: $type),*) $(-> $ret)? {
                        body($($arg),*)
                    }
                }
                match $crate::simd::Level::detect().set() {
                    // SAFETY: the processor has the features of the set that was detected.
                    $crate::simd::Set::Avx512 => return unsafe { wide($($arg),*) },
                    // SAFETY: as above.
                    $crate::simd::Set::Avx2 => return unsafe { narrow($($arg),*) },
                    $crate::simd::Set::Plain => {}
                }
            }
            body($($arg),*)
        }
    )+};
}

/// Asks for the memory of a number that will be read soon, and of its neighbours.
#[inline(always)]
pub fn prefetch<T>(x: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(x) = x.get(at) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the place is that of a value of the slice, and asking for it changes nothing.
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

/// [`dot`] for use inside of functions that are compiled for each instruction set themselves.
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

vectorised! {
    /// `sum_i x_i w_i`, over the shorter length.
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

    /// Replaces each value by its exponential.
    pub fn exp_all(x: &mut [f64]) {
        for x in x {
            *x = exp(*x);
        }
    }

    /// `sum_i x_i^2`.
    pub fn square_sum(x: &[f64]) -> f64 {
        dot_body(x, x)
    }

    /// The largest absolute value; 0 for none, NaN where one is NaN.
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

/// `e^x`. Zero below -708.4 (no denormals), infinity above 709.7, NaN for NaN.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    // ln 2 in two parts, the first with trailing zero bits, so that k * LN2_HIGH is exact for |k| < 2^11.
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    // 1.5 * 2^52: adding it rounds to a whole number, which then sits in the low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let clamped = x.clamp(-708.39, 709.78);
    let shifted = clamped.mul_add(std::f64::consts::LOG2_E, ROUND);
    let k = shifted - ROUND;
    let r = k.mul_add(-LN2_LOW, k.mul_add(-LN2_HIGH, clamped));
    // 1/n! for n = 13 down to 2.
    const C: [f64; 12] = [
        1.0 / 6_227_020_800.0,
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
    ];
    let mut p = C[0];
    for c in &C[1..] {
        p = p.mul_add(r, *c);
    }
    let p = p.mul_add(r, 1.0).mul_add(r, 1.0);
    // Two factors of 2^(k/2), as 2^k itself may be 2^1024.
    let bits = (shifted.to_bits() as i64).wrapping_sub(ROUND.to_bits() as i64);
    let half = bits >> 1;
    let power = |k: i64| f64::from_bits((k.wrapping_add(1023) << 52) as u64);
    let value = p * power(half) * power(bits - half);
    let value = if x < -708.39 { 0.0 } else { value };
    let value = if x > 709.78 { f64::INFINITY } else { value };
    if x.is_nan() { x } else { value }
}

/// `ln(1 + t)` for `0 <= t <= 1`.
#[inline(always)]
pub fn ln_1p_unit(t: f64) -> f64 {
    // Above sqrt 2 - 1, ln(1 + t) = ln 2 + ln(1 + (t - 1) / 2), so that the series runs on |s| <= 0.172.
    let upper = t > 0.414_213_562_373_095_03;
    let v = if upper { (t - 1.0) * 0.5 } else { t };
    let s = v / (2.0 + v);
    let u = s * s;
    let mut p = 1.0 / 23.0;
    for n in [21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0] {
        p = u.mul_add(p, 1.0 / n);
    }
    // 2 atanh s = 2 s + 2 s^3 (1/3 + u/5 + ...), and 2 s = v - s v exactly in exact arithmetic.
    let ln = (s * (u * p)).mul_add(2.0, 2.0 * s);
    if upper { std::f64::consts::LN_2 + ln } else { ln }
}

/// `ln(1 + e^z)` without overflow or cancellation.
#[inline(always)]
pub fn softplus(z: f64) -> f64 {
    z.max(0.0) + ln_1p_unit(exp(-z.abs()))
}

/// `1 / (1 + e^-z)` without overflow or cancellation.
#[inline(always)]
pub fn sigmoid(z: f64) -> f64 {
    let e = exp(-z.abs());
    let q = 1.0 / (1.0 + e);
    if z >= 0.0 { q } else { e * q }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ulps(a: f64, b: f64) -> u64 {
        (a.to_bits() as i64).abs_diff(b.to_bits() as i64)
    }

    proptest! {
        #[test]
        fn exp_is_within_two_units_in_the_last_place(x in -708.0f64..709.0) {
            prop_assert!(ulps(exp(x), x.exp()) <= 2, "{x}: {} {}", exp(x), x.exp());
        }

        #[test]
        fn softplus_and_sigmoid_follow_their_definitions(z in -800.0f64..800.0) {
            let truth = z.max(0.0) + (-z.abs()).exp().ln_1p();
            // Two units in the last place of exp and one of ln_1p.
            prop_assert!((softplus(z) - truth).abs() <= 7e-16 * truth + 1e-307, "{z}: {} {truth}", softplus(z));
            let p = if z >= 0.0 { 1.0 / (1.0 + (-z).exp()) } else { z.exp() / (1.0 + z.exp()) };
            prop_assert!((sigmoid(z) - p).abs() <= 1e-15 * p + 1e-300);
        }

        #[test]
        fn vectorised_sums_give_the_bits_of_their_scalar_twin(x in prop::collection::vec(-1e3f64..1e3, 0..200)) {
            let w: Vec<f64> = x.iter().map(|x| (x * 1.7).sin()).collect();
            prop_assert_eq!(dot(&x, &w).to_bits(), dot_body(&x, &w).to_bits());
            let narrow: Vec<f32> = x.iter().map(|&x| x as f32).collect();
            prop_assert_eq!(dot(&narrow, &w).to_bits(), dot_body(&narrow, &w).to_bits());
            let plain: f64 = x.iter().zip(&w).map(|(a, b)| a * b).sum();
            prop_assert!((dot(&x, &w) - plain).abs() <= 1e-9);
            let mut e = w.clone();
            exp_all(&mut e);
            for (e, w) in e.iter().zip(&w) {
                prop_assert_eq!(e.to_bits(), exp(*w).to_bits());
            }
        }

        #[test]
        fn rows_are_weighed_and_added_like_a_plain_loop(n in 0usize..11, p in 0usize..20, seed in 0u32..1000) {
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
    fn the_ends_of_the_number_line_are_kept() {
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
        assert_eq!(exp(f64::INFINITY), f64::INFINITY);
        assert_eq!(exp(800.0), f64::INFINITY);
        assert!(exp(f64::NAN).is_nan());
        assert_eq!(exp(0.0), 1.0);
        assert_eq!((sigmoid(-1e9), sigmoid(1e9)), (0.0, 1.0));
        assert_eq!(softplus(1e9), 1e9);
        assert!(max_abs(&[1.0, f64::NAN, 2.0]).is_nan());
        assert_eq!(max_abs(&[1.0, -3.0, 2.0]), 3.0);
    }
}
