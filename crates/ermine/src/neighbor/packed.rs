//! Numbers packed in as few bits as the largest needs.

use serde::{Deserialize, Serialize};

/// A list of numbers below 2^32, `bits` bits each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Packed {
    bits: u32,
    words: Vec<u64>,
}

impl Packed {
    /// Packs `numbers`, none of which is above `largest`.
    pub(super) fn new(numbers: impl ExactSizeIterator<Item = u32>, largest: u32) -> Packed {
        let bits = (u32::BITS - largest.leading_zeros()).max(1);
        // One word more than needed, so that reading two words is always allowed.
        let mut words = vec![0u64; numbers.len() * bits as usize / 64 + 2];
        for (i, number) in numbers.enumerate() {
            let (word, shift) = (i * bits as usize / 64, i * bits as usize % 64);
            let spread = u128::from(number) << shift;
            words[word] |= spread as u64;
            words[word + 1] |= (spread >> 64) as u64;
        }
        Packed { bits, words }
    }

    /// Number `i`.
    #[inline(always)]
    pub(super) fn get(&self, i: usize) -> u64 {
        let (word, shift) = (i * self.bits as usize / 64, i * self.bits as usize % 64);
        let pair = u128::from(self.words[word]) | u128::from(self.words[word + 1]) << 64;
        (pair >> shift) as u64 & ((1 << self.bits) - 1)
    }

    /// Whether reading `len` numbers is in bounds, for lists that come from a file.
    pub(super) fn holds(&self, len: usize) -> bool {
        (1..=32).contains(&self.bits) && len.saturating_mul(self.bits as usize) / 64 + 2 <= self.words.len()
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.words.len() * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_goes_in_comes_out(numbers: Vec<u32>, bits in 1u32..=32) {
            let largest = u32::MAX >> (32 - bits);
            let numbers: Vec<u32> = numbers.into_iter().map(|n| n & largest).collect();
            let packed = Packed::new(numbers.iter().copied(), largest);
            prop_assert!(packed.holds(numbers.len()));
            for (i, &number) in numbers.iter().enumerate() {
                prop_assert_eq!(packed.get(i), u64::from(number));
            }
        }
    }
}
