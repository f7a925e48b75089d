//! Distances between strings.
//!
//! - **Hamming**: the number of positions with different characters. Positions beyond the end of the shorter string count as different, so it is a metric for strings of any
//!   length.
//! - **Edit** (Levenshtein): the minimum number of insertions, deletions and substitutions that turn one string into the other.
//!
//! The edit distance is computed 64 cells at a time: neighboring cells of the dynamic program differ by -1, 0 or 1, so a column is stored in two bit vectors.
//!
//! Reference: G. Myers (1999), "A fast bit-vector algorithm for approximate string matching based on dynamic programming";
//! H. Hyyrö (2003), "A bit-vector algorithm for computing Levenshtein and Damerau edit distances".

use serde::{Deserialize, Serialize};

/// Distance between two strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StringMetric {
    /// Number of positions that differ.
    Hamming,
    /// Minimum number of single-character edits.
    Edit,
}

impl StringMetric {
    /// The distance between two strings.
    pub fn distance(self, a: &str, b: &str) -> f64 {
        let count = match self {
            StringMetric::Hamming => hamming(a, b),
            StringMetric::Edit => edit(a, b),
        };
        count as f64
    }
}

fn hamming(a: &str, b: &str) -> usize {
    let (mut a, mut b) = (a.chars(), b.chars());
    let mut count = 0;
    loop {
        match (a.next(), b.next()) {
            (None, None) => return count,
            (a, b) => count += usize::from(a != b),
        }
    }
}

fn edit(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if short.is_empty() { long.len() } else { edit_by_bits(&short, &long) }
}

/// A block of 64 rows of the current column.
#[derive(Clone, Copy)]
struct BitBlock {
    /// Bit i: the cell is one more than the cell above it.
    up: u64,
    /// Bit i: the cell is one less than the cell above it.
    down: u64,
}

/// Rows are the characters of `short` (not empty), columns the characters of `long`.
fn edit_by_bits(short: &[char], long: &[char]) -> usize {
    let blocks = short.len().div_ceil(64);
    let mut column = vec![BitBlock { up: u64::MAX, down: 0 }; blocks];
    let last_bit = 1u64 << ((short.len() - 1) % 64);
    let mut distance = short.len();
    for &c in long {
        // The row above the first grows by one with every column.
        let mut carry = 1i32;
        for (block, (state, letters)) in column.iter_mut().zip(short.chunks(64)).enumerate() {
            let same = letters.iter().enumerate().fold(0, |bits, (i, &letter)| bits | u64::from(letter == c) << i);
            let bottom = if block + 1 == blocks { last_bit } else { 1 << 63 };
            carry = advance(state, same, carry, bottom);
        }
        distance = distance.wrapping_add_signed(carry as isize);
    }
    distance
}

/// Advances one block by one column. `carry` is the change along the row above; returns the change along the row `bottom`.
fn advance(state: &mut BitBlock, mut same: u64, carry: i32, bottom: u64) -> i32 {
    let BitBlock { up, down } = *state;
    let vertical = same | down;
    same |= u64::from(carry < 0);
    let diagonal = (((same & up).wrapping_add(up)) ^ up) | same;
    let mut more = down | !(diagonal | up);
    let mut less = up & diagonal;
    let out = i32::from(more & bottom != 0) - i32::from(less & bottom != 0);
    more = more << 1 | u64::from(carry > 0);
    less = less << 1 | u64::from(carry < 0);
    *state = BitBlock { up: less | !(vertical | more), down: more & vertical };
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn distances_match_hand_computed_values() {
        assert_eq!(StringMetric::Edit.distance("kitten", "sitting"), 3.0);
        assert_eq!(StringMetric::Edit.distance("", "abc"), 3.0);
        assert_eq!(StringMetric::Hamming.distance("karolin", "kathrin"), 3.0);
        assert_eq!(StringMetric::Hamming.distance("öd", "öde"), 1.0);
    }

    proptest! {
        #[test]
        fn edit_distance_equals_the_textbook_algorithm(a in "[abcé]{0,150}", b in "[abcé]{0,150}") {
            prop_assert_eq!(edit(&a, &b), strsim::levenshtein(&a, &b));
        }
    }
}
