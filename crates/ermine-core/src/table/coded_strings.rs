//! A column of strings: each distinct string once, and a code per row.
//!
//! [`Dictionary`] numbers distinct strings in order of appearance: the texts are concatenated in one buffer, and an open-addressing table (linear probing, at most half full) maps hashes to
//! numbers. Each dictionary has a random hash seed, so that no file can force collisions; results don't depend on it.

use super::MISSING;
use std::hash::{BuildHasher, Hasher, RandomState};

const EMPTY: u32 = u32::MAX;

/// Distinct strings, numbered 0, 1, 2, ... in order of appearance.
#[derive(Debug)]
pub struct Dictionary {
    text: Vec<u8>,
    ends: Vec<usize>,
    slots: Vec<Slot>,
    seed: u64,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    hash: u32,
    word: u32,
}

impl Default for Dictionary {
    fn default() -> Self {
        let seed = RandomState::new().build_hasher().finish();
        Dictionary { text: Vec::new(), ends: Vec::new(), slots: vec![Slot { hash: 0, word: EMPTY }; 16], seed }
    }
}

impl Dictionary {
    /// Number of distinct strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The bytes of the string with this number.
    #[inline]
    pub fn word(&self, number: usize) -> &[u8] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.text[start..self.ends[number]]
    }

    /// The string with this number.
    pub fn text(&self, number: usize) -> String {
        String::from_utf8_lossy(self.word(number)).into_owned()
    }

    /// The number of a string, and whether it is new.
    #[inline]
    pub fn number(&mut self, word: &[u8]) -> (u32, bool) {
        let hash = hash(word, self.seed);
        let mask = self.slots.len() - 1;
        let mut place = hash as usize & mask;
        loop {
            let slot = self.slots[place];
            if slot.word == EMPTY {
                return (self.insert(word, hash, place), true);
            }
            if slot.hash == hash && self.word(slot.word as usize) == word {
                return (slot.word, false);
            }
            place = (place + 1) & mask;
        }
    }

    #[cold]
    fn insert(&mut self, word: &[u8], hash: u32, place: usize) -> u32 {
        let number = self.len() as u32;
        self.text.extend_from_slice(word);
        self.ends.push(self.text.len());
        self.slots[place] = Slot { hash, word: number };
        if 2 * self.len() > self.slots.len() {
            self.grow();
        }
        number
    }

    fn grow(&mut self) {
        let size = 2 * self.slots.len();
        let mut slots = vec![Slot { hash: 0, word: EMPTY }; size];
        for &slot in self.slots.iter().filter(|slot| slot.word != EMPTY) {
            let mut place = slot.hash as usize & (size - 1);
            while slots[place].word != EMPTY {
                place = (place + 1) & (size - 1);
            }
            slots[place] = slot;
        }
        self.slots = slots;
    }
}

/// Multiplies 8 bytes at a time into 128 bits and combines the halves.
#[inline]
fn hash(word: &[u8], seed: u64) -> u32 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    };
    let mut state = seed ^ word.len() as u64;
    let mut chunks = word.chunks_exact(8);
    for chunk in &mut chunks {
        state = fold(state ^ whole(chunk), seed | ODD);
    }
    (fold(fold(state ^ partial(chunks.remainder()), seed | ODD), ODD) >> 32) as u32
}

/// Eight bytes as a number.
#[inline]
fn whole(chunk: &[u8]) -> u64 {
    chunk.try_into().map_or(0, u64::from_le_bytes)
}

/// Up to seven bytes as a number, in overlapping pieces rather than byte by byte.
#[inline]
fn partial(rest: &[u8]) -> u64 {
    match *rest {
        [] => 0,
        [a] => u64::from(a),
        [a, b] => u64::from(a) | u64::from(b) << 8,
        [a, b, c] => u64::from(a) | u64::from(b) << 8 | u64::from(c) << 16,
        [a, b, c, d, ..] => {
            let tail: [u8; 4] = rest[rest.len() - 4..].try_into().unwrap_or_default();
            u64::from(u32::from_le_bytes([a, b, c, d])) | u64::from(u32::from_le_bytes(tail)) << 32
        }
    }
}

/// A column of strings under construction.
#[derive(Debug, Default)]
pub struct CodedStrings {
    /// The number of the string in each row, or [`MISSING`].
    pub codes: Vec<u32>,
    /// The distinct strings.
    pub dictionary: Dictionary,
}

impl CodedStrings {
    /// Appends a string or a missing value.
    pub fn push(&mut self, word: Option<&[u8]>) {
        let code = word.map_or(MISSING, |word| self.dictionary.number(word).0);
        self.codes.push(code);
    }

    /// Appends the rows of another column. Strings of `other` without rows are left out.
    pub fn append(&mut self, other: &CodedStrings) {
        self.append_codes(&other.dictionary, &other.codes);
    }

    /// Appends rows given as numbers of another dictionary.
    pub fn append_codes(&mut self, dictionary: &Dictionary, codes: &[u32]) {
        let mut numbers = vec![EMPTY; dictionary.len()];
        self.codes.reserve(codes.len());
        for &code in codes {
            let code = if code == MISSING {
                MISSING
            } else {
                let number = &mut numbers[code as usize];
                if *number == EMPTY {
                    *number = self.dictionary.number(dictionary.word(code as usize)).0;
                }
                *number
            };
            self.codes.push(code);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn strings_are_numbered_as_by_a_hash_map(list in proptest::collection::vec("[ab]{0,12}", 0..400)) {
            let (mut dictionary, mut oracle) = (Dictionary::default(), HashMap::new());
            for word in &list {
                let next = oracle.len() as u32;
                let is_new = !oracle.contains_key(word);
                let expected = *oracle.entry(word.clone()).or_insert(next);
                prop_assert_eq!(dictionary.number(word.as_bytes()), (expected, is_new));
            }
            prop_assert!(oracle.iter().all(|(word, &n)| dictionary.text(n as usize) == *word));
        }

        #[test]
        fn appending_parts_equals_pushing_all(list in proptest::collection::vec(proptest::option::of("[a-c]{0,2}"), 0..60), cut in 0usize..60) {
            let cut = cut.min(list.len());
            let words = |list: &[Option<String>]| {
                let mut words = CodedStrings::default();
                list.iter().for_each(|word| words.push(word.as_deref().map(str::as_bytes)));
                words
            };
            let (all, mut front) = (words(&list), words(&list[..cut]));
            front.append(&words(&list[cut..]));
            prop_assert_eq!(&front.codes, &all.codes);
            prop_assert_eq!(front.dictionary.text, all.dictionary.text);
        }
    }
}
