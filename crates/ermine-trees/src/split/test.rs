//! The test of a tree node.

use ermine_core::error::{Error, Result};

/// The test of a node.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// A leaf.
    Leaf,
    /// `x <= threshold`: first child, otherwise second.
    AtMost {
        /// The column.
        feature: u32,
        /// The threshold.
        threshold: f64,
        /// Whether a missing value goes to the first child.
        missing_left: bool,
    },
    /// Category in a set: first child, otherwise second.
    InSet {
        /// The column.
        feature: u32,
        /// The categories of the first child. Unseen categories are in no set.
        set: CodeSet,
        /// Whether a missing value goes to the first child.
        missing_left: bool,
    },
    /// One branch per category: category c goes to child c.
    Each {
        /// The column.
        feature: u32,
        /// Number of categories with a child.
        n_levels: u32,
        /// Whether there is one more child for missing values.
        missing: bool,
    },
}

/// The category that a number encodes. NaN and negative numbers are missing values, as in other libraries.
#[inline(always)]
pub fn category(x: f64) -> Option<usize> {
    (x >= 0.0).then_some(x as usize)
}

impl Test {
    /// The number of children.
    pub fn n_children(&self) -> usize {
        match self {
            Test::Leaf => 0,
            Test::AtMost { .. } | Test::InSet { .. } => 2,
            Test::Each { n_levels, missing, .. } => *n_levels as usize + usize::from(*missing),
        }
    }

    /// The child for the value `x` (a category as its code); `None` to stop at this node.
    #[inline]
    pub fn branch(&self, x: f64) -> Option<usize> {
        match self {
            Test::Leaf => None,
            Test::AtMost { missing_left, .. } if x.is_nan() => Some(usize::from(!missing_left)),
            Test::AtMost { threshold, .. } => Some(usize::from(x > *threshold)),
            Test::InSet { set, missing_left, .. } => {
                Some(usize::from(!category(x).map_or(*missing_left, |code| set.contains(code))))
            }
            Test::Each { n_levels, missing, .. } => match category(x) {
                Some(code) => Some(code).filter(|&code| code < *n_levels as usize),
                None => missing.then_some(*n_levels as usize),
            },
        }
    }

    /// Maps the column of the test to another column.
    pub fn rename(&mut self, name: impl Fn(u32) -> u32) {
        match self {
            Test::Leaf => {}
            Test::AtMost { feature, .. } | Test::InSet { feature, .. } | Test::Each { feature, .. } => {
                *feature = name(*feature);
            }
        }
    }

    /// The test as a kind, a column, a number and its set, for the model file.
    pub(crate) fn parts(&self) -> (u8, u32, f64, &[u64]) {
        match self {
            Test::Leaf => (0, 0, 0.0, &[]),
            Test::AtMost { feature, threshold, missing_left } => {
                (1 + u8::from(*missing_left), *feature, *threshold, &[])
            }
            Test::Each { feature, n_levels, missing } => (3 + u8::from(*missing), *feature, f64::from(*n_levels), &[]),
            Test::InSet { feature, set, missing_left } => {
                (5 + u8::from(*missing_left), *feature, set.words.len() as f64, &set.words)
            }
        }
    }

    /// Reassembles a test; a set is taken from `words`.
    pub(crate) fn from_parts(
        kind: u8,
        feature: u32,
        number: f64,
        words: &mut impl Iterator<Item = u64>,
    ) -> Result<Test> {
        let wrong = || Error::model_file(format!("a tree has a test of an unknown kind ({kind}, {number})"));
        match kind {
            0 => Ok(Test::Leaf),
            1 | 2 if !number.is_nan() => Ok(Test::AtMost { feature, threshold: number, missing_left: kind == 2 }),
            // A test has a branch at least; a node without is a leaf.
            3 | 4 if number >= f64::from(u8::from(kind == 3)) => {
                Ok(Test::Each { feature, n_levels: number as u32, missing: kind == 4 })
            }
            5 | 6 if number >= 0.0 => {
                let words: Box<[u64]> = words.take(number as usize).collect();
                let set = CodeSet { words };
                if set.words.len() as f64 == number {
                    Ok(Test::InSet { feature, set, missing_left: kind == 6 })
                } else {
                    Err(wrong())
                }
            }
            _ => Err(wrong()),
        }
    }

    /// The column of the test; `None` for a leaf.
    pub fn feature(&self) -> Option<usize> {
        match *self {
            Test::Leaf => None,
            Test::AtMost { feature, .. } | Test::InSet { feature, .. } | Test::Each { feature, .. } => {
                Some(feature as usize)
            }
        }
    }
}

/// A set of category codes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CodeSet {
    words: Box<[u64]>,
}

impl CodeSet {
    /// The set of these codes.
    pub fn new(codes: impl IntoIterator<Item = usize>) -> CodeSet {
        let mut words = Vec::new();
        for code in codes {
            if words.len() <= code / 64 {
                words.resize(code / 64 + 1, 0u64);
            }
            words[code / 64] |= 1 << (code % 64);
        }
        CodeSet { words: words.into() }
    }

    /// The set as 64-bit words.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Creates a set from its words.
    pub fn from_words(words: impl IntoIterator<Item = u64>) -> CodeSet {
        CodeSet { words: words.into_iter().collect() }
    }

    /// Whether a code is in it.
    #[inline]
    pub fn contains(&self, code: usize) -> bool {
        self.words.get(code / 64).is_some_and(|word| word >> (code % 64) & 1 == 1)
    }

    /// The codes in it, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.words.len() * 64).filter(|&code| self.contains(code))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_without_branches_is_an_error() {
        let read = |kind: u8| Test::from_parts(kind, 0, 0.0, &mut std::iter::empty());
        assert!(read(3).is_err());
        assert_eq!(read(4).unwrap().n_children(), 1);
    }

    #[test]
    fn each_test_sends_values_to_the_right_child() {
        let set = CodeSet::new([0, 70]);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 70]);
        let test = Test::InSet { feature: 0, set, missing_left: true };
        let branches = [0.0, 1.0, 70.0, 1000.0, f64::NAN].map(|x| test.branch(x));
        assert_eq!(branches, [Some(0), Some(1), Some(0), Some(1), Some(0)]);
        let test = Test::Each { feature: 0, n_levels: 2, missing: false };
        assert_eq!([0.0, 1.0, 2.0, f64::NAN].map(|x| test.branch(x)), [Some(0), Some(1), None, None]);
        let test = Test::AtMost { feature: 0, threshold: 1.0, missing_left: false };
        assert_eq!([1.0, 1.5, -f64::INFINITY, f64::NAN].map(|x| test.branch(x)), [Some(0), Some(1), Some(0), Some(1)]);
    }
}
