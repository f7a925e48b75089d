//! The exponential function over slices, the same bits on every machine.
//!
//! **Idea.** exp(x) = 2^k exp(r) with k = round(x / ln 2) and |r| <= ln(2) / 2, where a polynomial of degree 12 is accurate to two units in the last
//! place. ln 2 is taken in two parts, so that r loses nothing. No call into a mathematical library: those differ in the last bit.
//!
//! **Cost.** About 20 operations on a register of numbers.

/// exp(x) for x in -708 ..= 709; arguments outside are clamped to that range. NaN stays NaN.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    // Adding and subtracting 1.5 * 2^52 rounds to a whole number, and leaves that number in the low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let x = if x > 709.0 { 709.0 } else { x };
    let x = if x < -708.0 { -708.0 } else { x };
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let k = shifted - ROUND;
    let r = (x - k * LN2_HIGH) - k * LN2_LOW;
    let mut p = 1.0 / 479_001_600.0;
    for c in [
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
        1.0,
        1.0,
    ] {
        p = p * r + c;
    }
    let scale = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    p * scale
}

/// 1 / (1 + exp(-x)).
#[inline(always)]
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + exp(-x))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_close_to_the_library(x in -707.0f64..708.0) {
            prop_assert!((exp(x) - x.exp()).abs() <= 4.0 * f64::EPSILON * x.exp(), "{x}: {} {}", exp(x), x.exp());
        }
    }

    #[test]
    fn ends_are_finite() {
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(1e9).is_finite() && exp(-1e9) > 0.0 && exp(f64::NAN).is_nan());
        assert_eq!(sigmoid(0.0), 0.5);
    }
}
