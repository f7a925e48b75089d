//! Numbers that start on a cache line, so that no register-wide load straddles two.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ops::{Deref, DerefMut};

/// Sixteen numbers of 4 bytes on a cache line of their own (of 8 bytes, on two).
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
struct Line<E>([E; 16]);

/// A list of numbers, aligned to 64 bytes; its length is a multiple of 16.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Aligned<E>(Vec<Line<E>>);

impl<E: Copy> Aligned<E> {
    /// `len` times `value`; `len` is a multiple of 16.
    pub(super) fn filled(value: E, len: usize) -> Aligned<E> {
        Aligned(vec![Line([value; 16]); len / 16])
    }

    /// Adds `value` at the end until there are `len`, a multiple of 16.
    pub(super) fn grow(&mut self, value: E, len: usize) {
        self.0.resize(len / 16, Line([value; 16]));
    }
}

impl<E> Deref for Aligned<E> {
    type Target = [E];
    #[inline(always)]
    fn deref(&self) -> &[E] {
        const { assert!(size_of::<Line<E>>() == 16 * size_of::<E>()) };
        // SAFETY: a `Line<E>` is exactly 16 `E`s without padding (checked above), so n lines are 16 n numbers.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len() * 16) }
    }
}

impl<E> DerefMut for Aligned<E> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [E] {
        const { assert!(size_of::<Line<E>>() == 16 * size_of::<E>()) };
        // SAFETY: as in `deref`; the borrow of `self` is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), self.0.len() * 16) }
    }
}

impl<E: Serialize> Serialize for Aligned<E> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, E: Deserialize<'de> + Copy> Deserialize<'de> for Aligned<E> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let values = Vec::<E>::deserialize(deserializer)?;
        let (lines, rest) = values.as_chunks::<16>();
        if !rest.is_empty() {
            return Err(serde::de::Error::custom("a list of numbers isn't whole lines of 16"));
        }
        Ok(Aligned(lines.iter().map(|&line| Line(line)).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligned_and_the_same_after_a_round_trip() {
        let mut list = Aligned::filled(0.5f64, 48);
        list[47] = 7.25;
        assert_eq!((list.as_ptr() as usize % 64, list.len()), (0, 48));
        let text = serde_json::to_string(&list).unwrap();
        assert_eq!(serde_json::from_str::<Aligned<f64>>(&text).unwrap(), list);
        assert!(serde_json::from_str::<Aligned<f64>>("[1.0, 2.0]").is_err());
    }
}
