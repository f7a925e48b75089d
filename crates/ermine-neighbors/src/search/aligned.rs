//! Numbers aligned to cache lines, so that no vector load straddles two.

use std::ops::{Deref, DerefMut};

/// Sixteen numbers of 4 bytes in one cache line (of 8 bytes, in two).
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
struct CacheLine<E>([E; 16]);

/// A vector of numbers, aligned to 64 bytes; its length is a multiple of 16.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Aligned<E>(Vec<CacheLine<E>>);

impl<E: Copy> Aligned<E> {
    /// `len` copies of `value`; `len` is a multiple of 16.
    pub(super) fn filled(value: E, len: usize) -> Aligned<E> {
        Aligned(vec![CacheLine([value; 16]); len / 16])
    }

    /// A copy of `values`, if their number is a multiple of 16.
    pub(super) fn copy(values: &[E]) -> Option<Aligned<E>> {
        let (lines, rest) = values.as_chunks::<16>();
        rest.is_empty().then(|| Aligned(lines.iter().map(|&line| CacheLine(line)).collect()))
    }

    /// Appends `value` until there are `len` numbers, a multiple of 16.
    pub(super) fn grow(&mut self, value: E, len: usize) {
        self.0.resize(len / 16, CacheLine([value; 16]));
    }
}

impl<E> Deref for Aligned<E> {
    type Target = [E];
    #[inline(always)]
    fn deref(&self) -> &[E] {
        const { assert!(size_of::<CacheLine<E>>() == 16 * size_of::<E>()) };
        // SAFETY: a `Line<E>` is exactly 16 `E`s without padding (checked above), so n lines are 16 n numbers.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len() * 16) }
    }
}

impl<E> DerefMut for Aligned<E> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [E] {
        const { assert!(size_of::<CacheLine<E>>() == 16 * size_of::<E>()) };
        // SAFETY: as in `deref`; the borrow of `self` is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), self.0.len() * 16) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_aligned_and_padded() {
        let mut list = Aligned::filled(0.5f64, 48);
        list[47] = 7.25;
        assert_eq!((list.as_ptr() as usize % 64, list.len()), (0, 48));
        assert_eq!(Aligned::copy(&list), Some(list));
        assert!(Aligned::copy(&[1u32; 15]).is_none());
    }
}
