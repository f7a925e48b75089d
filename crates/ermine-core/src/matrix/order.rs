//! Whole numbers in the order of floating-point numbers: quicker to compare, and they can be sorted digit by digit.
//!
//! All bits of a negative number turn, of a positive one the sign alone. The order is that of [`f64::total_cmp`]; -0 comes before 0.

/// A whole number with the order of `x`.
#[inline(always)]
pub fn key(x: f64) -> u64 {
    let bits = x.to_bits();
    bits ^ ((bits as i64 >> 63) as u64 | 1 << 63)
}

/// The number of a key.
#[inline(always)]
pub(crate) fn number(key: u64) -> f64 {
    f64::from_bits(key ^ ((!key as i64 >> 63) as u64 | 1 << 63))
}

/// A whole number with the order of `x`, for single precision.
#[inline(always)]
pub(crate) fn key_f32(x: f32) -> u32 {
    let bits = x.to_bits();
    bits ^ ((bits as i32 >> 31) as u32 | 1 << 31)
}

/// The number of a key, in single precision.
#[inline(always)]
pub(crate) fn number_f32(key: u32) -> f32 {
    f32::from_bits(key ^ ((!key as i32 >> 31) as u32 | 1 << 31))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keys_are_in_the_order_of_numbers_and_lead_back(a: u64, b: u64) {
            let (x, y) = (f64::from_bits(a), f64::from_bits(b));
            prop_assert_eq!(key(x).cmp(&key(y)), x.total_cmp(&y));
            prop_assert_eq!(number(key(x)).to_bits(), a);
            let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
            prop_assert_eq!(key_f32(x).cmp(&key_f32(y)), x.total_cmp(&y));
            prop_assert_eq!(number_f32(key_f32(x)).to_bits(), a as u32);
        }
    }
}
