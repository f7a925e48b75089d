//! The exponential function and related functions, with the same bits on every machine.
//!
//! **Idea.** exp(x) = 2^k exp(r) with k = round(x / ln 2) and |r| <= ln(2) / 2, where a Taylor polynomial has a remainder below half a unit in the last place. ln 2 is split into two parts, so
//! that r is accurate. The system's library is not used, because its results differ between machines and its loops can't be vectorized. The functions are inlined and use fused
//! multiply-add: call them from functions that are compiled per instruction set ([`versions!`](crate::versions)), because without hardware support a fused operation is a slow call.

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
    }

    #[test]
    fn ends_are_zero_and_infinity() {
        assert_eq!((exp(0.0), exp(1e9), exp(-1e9)), (1.0, f64::INFINITY, 0.0));
        assert_eq!((exp(f64::INFINITY), exp(f64::NEG_INFINITY), exp(800.0)), (f64::INFINITY, 0.0, f64::INFINITY));
        assert!(exp(f64::NAN).is_nan());
        assert_eq!(softplus(1e9), 1e9);
        assert_eq!((sigmoid(0.0), sigmoid(1e9), sigmoid(-1e9)), (0.5, 1.0, 0.0));
    }
}
