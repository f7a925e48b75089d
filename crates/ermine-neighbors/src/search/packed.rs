//! Bit-packed numbers.

use ermine_core::error::{Error, Result};
use ermine_core::section::Sections;

/// A list of numbers below 2^32, `bits` bits each.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PackedNumbers {
    bits: u32,
    words: Vec<u64>,
}

impl PackedNumbers {
    /// Packs `numbers`, none of which is above `largest`.
    pub(super) fn new(numbers: impl ExactSizeIterator<Item = u32>, largest: u32) -> PackedNumbers {
        let bits = bits(largest);
        // One word more than needed, so that reading two words is always allowed.
        let mut words = vec![0u64; numbers.len() * bits as usize / 64 + 2];
        for (i, number) in numbers.enumerate() {
            let (word, shift) = (i * bits as usize / 64, i * bits as usize % 64);
            let spread = u128::from(number) << shift;
            words[word] |= spread as u64;
            words[word + 1] |= (spread >> 64) as u64;
        }
        PackedNumbers { bits, words }
    }

    /// Number `i`.
    #[inline(always)]
    pub(super) fn get(&self, i: usize) -> u64 {
        let (word, shift) = (i * self.bits as usize / 64, i * self.bits as usize % 64);
        let pair = u128::from(self.words[word]) | u128::from(self.words[word + 1]) << 64;
        (pair >> shift) as u64 & ((1 << self.bits) - 1)
    }

    /// Writes the words under `name`, low half first.
    pub(super) fn save(&self, sections: &mut Sections, name: &str) {
        let halves: Vec<u32> = self.words.iter().flat_map(|&w| [w as u32, (w >> 32) as u32]).collect();
        sections.put_u32s(name, &halves);
    }

    /// Reads `len` numbers, none of which is above `largest`.
    pub(super) fn load(sections: &Sections, name: &str, len: usize, largest: u32) -> Result<PackedNumbers> {
        let words = sections.u32s(name)?;
        let words = words.as_chunks().0.iter().map(|&[low, high]| u64::from(low) | u64::from(high) << 32).collect();
        let packed = PackedNumbers { bits: bits(largest), words };
        let fits = len.checked_mul(packed.bits as usize).is_some_and(|n| n / 64 + 2 == packed.words.len());
        if !fits || (0..len).any(|i| packed.get(i) > u64::from(largest)) {
            return Err(Error::model_file(format!("section '{name}' isn't {len} numbers up to {largest}")));
        }
        Ok(packed)
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.words.len() * 8
    }
}

/// Bits that `largest` needs.
pub(super) fn bits(largest: u32) -> u32 {
    (u32::BITS - largest.leading_zeros()).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn packed_numbers_round_trip(numbers: Vec<u32>, bits in 1u32..=32) {
            let largest = u32::MAX >> (32 - bits);
            let numbers: Vec<u32> = numbers.into_iter().map(|n| n & largest).collect();
            let packed = PackedNumbers::new(numbers.iter().copied(), largest);
            let mut sections = Sections::default();
            packed.save(&mut sections, "rows");
            prop_assert_eq!(&PackedNumbers::load(&sections, "rows", numbers.len(), largest).unwrap(), &packed);
            prop_assert!(PackedNumbers::load(&sections, "rows", numbers.len() + 65, largest).is_err());
            for (i, &number) in numbers.iter().enumerate() {
                prop_assert_eq!(packed.get(i), u64::from(number));
            }
        }
    }
}
