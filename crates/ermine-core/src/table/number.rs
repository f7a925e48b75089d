//! Parsing of decimal numbers.
//!
//! A number is `[+-] digits [. digits] [e [+-] digits]` with at least one digit before the exponent (`1e5`, `+3`, `-.5`,
//! `7.`), or `inf`/`infinity` in any case and with any sign. Nothing else is a number: no `nan` (which may be declared
//! missing), no thousands separators, no hexadecimals, no `1_000`. The result is the double closest to the decimal.
//!
//! Most numbers in files have at most 19 digits and no exponent: the digits form an integer `m < 2^64`, the value is
//! `m / 10^k`.
//! - `m <= 2^53`, `k <= 22`: both are exact doubles, so one division rounds correctly (Clinger, "How to read floating
//!   point numbers accurately", 1990).
//! - else `m` times a 64-bit reciprocal of `10^k`, rounded down, gives the value with an error below two units of the upper 64
//!   bits of the product; unless these come that close to the middle between two doubles (three cases in a thousand),
//!   they determine the rounding (the idea of Lemire, "Number parsing at a gigabyte per second", 2021).
//!
//! All other numbers are parsed by fast-float2, which also rounds correctly.

const POWERS: [f64; 20] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19];

/// `2^shift / 10^k`, rounded down, with the shift that makes it a number of exactly 64 bits.
const RECIPROCALS: [(u64, i32); 20] = {
    let mut table = [(0, 0); 20];
    let (mut k, mut power) = (1, 10u64);
    while k < 20 {
        let shift = 127 - power.leading_zeros();
        table[k] = (((1u128 << shift) / power as u128) as u64, shift as i32);
        (k, power) = (k + 1, power.wrapping_mul(10));
    }
    table
};

/// Parses a text that is a number.
pub fn number(text: &[u8]) -> Option<f64> {
    fast_float2::parse::<f64, _>(text).ok().filter(|x| !x.is_nan())
}

/// Parses the number at the start of `text`, which begins with a digit, sign or point; returns its length too.
#[inline]
pub fn leading_number(text: &[u8]) -> Option<(f64, usize)> {
    let negative = text.first() == Some(&b'-');
    let start = usize::from(negative || text.first() == Some(&b'+'));
    let (mut mantissa, whole) = digits(text, start, 0);
    let (mut end, mut scale) = (start + whole, 0);
    if text.get(end) == Some(&b'.') {
        (mantissa, scale) = digits(text, end + 1, mantissa);
        end += 1 + scale;
    }
    let plain = !matches!(text.get(end), Some(b'e' | b'E')) && (1..=19).contains(&(whole + scale));
    match plain.then(|| scaled(mantissa, scale)).flatten() {
        Some(size) => Some((if negative { -size } else { size }, end)),
        None => fast_float2::parse_partial::<f64, _>(text).ok().filter(|(x, _)| !x.is_nan()),
    }
}

/// The double closest to `mantissa / 10^scale`, for a scale up to 19; `None` if the fast path can't decide.
#[inline]
fn scaled(mantissa: u64, scale: usize) -> Option<f64> {
    if mantissa <= 1 << 53 || scale == 0 {
        return Some(mantissa as f64 / POWERS[scale]);
    }
    let (reciprocal, shift) = RECIPROCALS[scale];
    let zeros = mantissa.leading_zeros();
    let upper = ((u128::from(mantissa << zeros) * u128::from(reciprocal)) >> 64) as u64;
    let dropped = 11 - upper.leading_zeros();
    let (rest, half) = (upper & ((1 << dropped) - 1), 1 << (dropped - 1));
    if rest + 2 >= half && rest <= half {
        return None;
    }
    let rounded = (upper >> dropped) + u64::from(rest > half);
    let exponent = 64 + dropped as i32 - zeros as i32 - shift;
    Some(rounded as f64 * f64::from_bits(((1023 + exponent) as u64) << 52))
}

/// Parses digits starting at `at` as a continuation of `value`, modulo 2^64; returns the number of digits too.
#[inline]
fn digits(text: &[u8], at: usize, mut value: u64) -> (u64, usize) {
    let mut n = 0;
    while let Some(eight) = text.get(at + n..at + n + 8).and_then(eight_digits) {
        value = value.wrapping_mul(100_000_000).wrapping_add(eight);
        n += 8;
    }
    while let Some(digit) = text.get(at + n).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        n += 1;
    }
    (value, n)
}

/// Parses eight digits at once: neighbors are combined to pairs, fours, eight.
#[inline]
fn eight_digits(chunk: &[u8]) -> Option<u64> {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let bytes = u64::from_le_bytes(chunk.try_into().ok()?);
    let value = bytes.wrapping_sub(EACH * 0x30);
    // A byte below '0' borrows into its high bit, one above '9' carries into it.
    if (value | bytes.wrapping_add(EACH * 0x46)) & (EACH * 0x80) != 0 {
        return None;
    }
    let pairs = value.wrapping_mul(10) + (value >> 8);
    let fours = ((pairs & 0x00ff_00ff_00ff_00ff).wrapping_mul(1 + (100 << 16)) >> 16) & 0x0000_ffff_0000_ffff;
    Some(fours.wrapping_mul(1 + (10_000 << 32)) >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_decimal_numbers_are_parsed() {
        for (text, value) in [("1e5", 1e5), ("+3", 3.0), ("-.5", -0.5), ("7.", 7.0), ("007", 7.0), ("1E-2", 0.01)] {
            assert_eq!(number(text.as_bytes()), Some(value), "{text}");
        }
        for text in ["inf", "+Inf", "INFINITY"] {
            assert_eq!(number(text.as_bytes()), Some(f64::INFINITY), "{text}");
        }
        assert_eq!(number(b"-inf"), Some(f64::NEG_INFINITY));
        let others = [
            "", "nan", "-nan", "NaN", "0x10", "1,000", "1_000", "1 000", "1e", "e5", ".", "-", "+-1", "--1", "1.2.3",
            "1f", "½",
        ];
        for text in others {
            assert_eq!(number(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_fast_path_equals_the_standard_library(
            text in "[+-]?[0-9]{0,22}(\\.[0-9]{0,25})?([eE][+-]?[0-9]{1,3})?", rest in "[,; a-df-z]?"
        ) {
            let whole = format!("{text}{rest}");
            let expected = text.parse::<f64>().ok();
            prop_assert_eq!(number(text.as_bytes()).map(f64::to_bits), expected.map(f64::to_bits));
            if let Some(expected) = expected {
                let (value, n) = leading_number(whole.as_bytes()).unwrap();
                prop_assert_eq!((value.to_bits(), n), (expected.to_bits(), text.len()));
            }
        }

        #[test]
        fn long_numbers_are_parsed(mantissa in any::<u64>(), digits in 1usize..=20, point in 0usize..=20) {
            let mut text = mantissa.to_string();
            text.truncate(digits);
            text.insert(point.min(text.len()), '.');
            let expected = text.parse::<f64>().unwrap();
            let (value, n) = leading_number(text.as_bytes()).unwrap();
            prop_assert_eq!((value.to_bits(), n), (expected.to_bits(), text.len()));
        }

        #[test]
        fn halfway_between_two_doubles_is_rounded_to_even(mantissa in 1u64 << 52..1 << 53, k in 1u32..=11, off in -1i64..=1) {
            // (mantissa + 1/2) * 2^(1-k) ends after k decimals, so 19 digits may hold it exactly, or nearly.
            let Some(exact) = (2 * mantissa + 1).checked_mul(5u64.pow(k)) else { return Ok(()) };
            let exact = exact.wrapping_add_signed(off).to_string();
            let text = format!("{}.{}", &exact[..exact.len() - k as usize], &exact[exact.len() - k as usize..]);
            let (value, _) = leading_number(text.as_bytes()).unwrap();
            prop_assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits());
        }

        #[test]
        fn a_leading_number_is_a_number(text in proptest::collection::vec(any::<u8>(), 0..30)) {
            if let Some((value, n)) = leading_number(&text) {
                prop_assert_eq!(number(&text[..n]).map(f64::to_bits), Some(value.to_bits()));
            }
        }

        #[test]
        fn every_double_round_trips(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assume!(!value.is_nan());
            prop_assert_eq!(number(value.to_string().as_bytes()).map(f64::to_bits), Some(bits));
            prop_assert_eq!(number(format!("{value:e}").as_bytes()).map(f64::to_bits), Some(bits));
        }
    }
}
