//! Integers with the order of floating-point numbers: faster to compare, and suitable for radix sort.
//!
//! All bits of a negative number are flipped, and only the sign of a positive one. The order is that of [`f64::total_cmp`]; -0 comes before 0.

/// An integer with the order of `x`.
#[inline(always)]
pub fn key(x: f64) -> u64 {
    let bits = x.to_bits();
    bits ^ ((bits as i64 >> 63) as u64 | 1 << 63)
}

/// The inverse of `key`.
#[inline(always)]
pub(crate) fn number(key: u64) -> f64 {
    f64::from_bits(key ^ ((!key as i64 >> 63) as u64 | 1 << 63))
}

/// An integer with the order of `x`, for single precision.
#[inline(always)]
pub(crate) fn key_f32(x: f32) -> u32 {
    let bits = x.to_bits();
    bits ^ ((bits as i32 >> 31) as u32 | 1 << 31)
}

/// The inverse of `key_f32`.
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
        fn keys_preserve_the_order_and_round_trip(a: u64, b: u64) {
            let (x, y) = (f64::from_bits(a), f64::from_bits(b));
            prop_assert_eq!(key(x).cmp(&key(y)), x.total_cmp(&y));
            prop_assert_eq!(number(key(x)).to_bits(), a);
            let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
            prop_assert_eq!(key_f32(x).cmp(&key_f32(y)), x.total_cmp(&y));
            prop_assert_eq!(number_f32(key_f32(x)).to_bits(), a as u32);
        }
    }
}
