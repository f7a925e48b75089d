//! Leaves with their numbers packed: where there are so few columns that row numbers weigh more than the coordinates' own slack.
//!
//! **Idea.** A number's bits, read as an integer that sorts like the number, differ little within a leaf: each column of a leaf is kept as its smallest integer and, of every
//! point, the difference from it in as few bits as the largest difference has. Nothing is rounded.
//!
//! **Bound.** A median split leaves two halves whose ranges in the column of the split add up to at most the range before, so on average over the leaves the bits of the ranges
//! of all columns together fall by one with every level of splits: by `log2(n / LEAF)` in all, whatever the points. That is what a row number grows by with n; so rows and their
//! numbers together take a bounded number of bits more than the rows, for any n.
//!
//! **Cost.** A shift and an addition per number of a leaf that is read.

use super::LEAF;
use ermine_core::distance::rows::PointElement;
use ermine_core::error::{Error, Result};

/// What reading eight or sixteen bytes at once may run over the last leaf.
const SPARE: usize = 16;

/// Leaf after leaf and column after column: the smallest integer, the number of bits, the differences.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PackedLeaves {
    bytes: Vec<u8>,
    /// Where each leaf begins.
    starts: Vec<u64>,
}

impl PackedLeaves {
    /// Packs leaves of `n_features` columns that hold `n_points` points.
    pub(super) fn pack<E: PointElement>(leaves: &[E], n_points: usize, n_features: usize) -> PackedLeaves {
        let (mut bytes, mut starts) = (Vec::new(), Vec::new());
        for (leaf, columns) in leaves.chunks_exact(n_features * LEAF).enumerate() {
            starts.push(bytes.len() as u64);
            let n = (n_points - leaf * LEAF).min(LEAF);
            columns.chunks_exact(LEAF).for_each(|column| pack_column(&column[..n], &mut bytes));
        }
        bytes.resize(bytes.len() + SPARE, 0);
        bytes.shrink_to_fit();
        PackedLeaves { bytes, starts }
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len() + self.starts.len() * 8
    }

    /// The bytes of all leaves, for a file.
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Reads leaves, and checks that all their columns are there and hold numbers.
    pub(super) fn from_bytes<E: PointElement>(
        bytes: Vec<u8>,
        n_points: usize,
        n_features: usize,
    ) -> Result<PackedLeaves> {
        let broken = || Error::model_file("the packed leaves of a box tree don't fit together");
        let (mut starts, mut at) = (Vec::new(), 0usize);
        for _ in 0..n_points.div_ceil(LEAF) {
            starts.push(at as u64);
            for _ in 0..n_features {
                let width = *bytes.get(at + E::BYTES).ok_or_else(broken)? as usize;
                at = after::<E>(at, width);
                if width > E::BYTES * 8 || at + SPARE > bytes.len() {
                    return Err(broken());
                }
            }
        }
        let tight = PackedLeaves { bytes, starts };
        let mut room = vec![[E::default(); LEAF]; n_features];
        let numbers = (0..tight.starts.len()).all(|leaf| {
            tight.unpack(leaf, n_points, &mut room);
            let n = (n_points - leaf * LEAF).min(LEAF);
            room.iter().all(|column| column[..n].iter().all(|v| v.wide().is_finite()))
        });
        if at + SPARE != tight.bytes.len() || !numbers {
            return Err(broken());
        }
        Ok(tight)
    }

    /// Writes the columns of a leaf to `out`; places without a point are infinite.
    #[inline(always)]
    pub(super) fn unpack<E: PointElement>(&self, leaf: usize, n_points: usize, out: &mut [[E; LEAF]]) {
        let mut at = self.starts[leaf] as usize;
        let n = (n_points - leaf * LEAF).min(LEAF);
        for column in out {
            let (least, width) = self.head::<E>(at);
            let differences = &self.bytes[at + E::BYTES + 1..];
            let end = after::<E>(at, width);
            if width <= 56 {
                let mask = (1u64 << width) - 1;
                for (i, to) in column.iter_mut().enumerate() {
                    let word = load8(differences, i * width / 8) >> (i * width % 8);
                    *to = E::unrank(least.wrapping_add(word & mask));
                }
            } else {
                column.iter_mut().enumerate().for_each(|(i, to)| {
                    *to = E::unrank(least.wrapping_add(wide_difference(differences, i, width)));
                });
            }
            column[n..].fill(E::narrow(f64::INFINITY));
            at = end;
        }
    }

    /// Writes a point to `out`.
    pub(super) fn copy_point<E: PointElement>(&self, place: usize, out: &mut [f64]) {
        let mut at = self.starts[place / LEAF] as usize;
        for to in out {
            let (least, width) = self.head::<E>(at);
            let difference = wide_difference(&self.bytes[at + E::BYTES + 1..], place % LEAF, width);
            *to = E::unrank(least.wrapping_add(difference)).wide();
            at = after::<E>(at, width);
        }
    }

    /// Where a leaf lies.
    pub(super) fn leaf(&self, leaf: usize) -> &[u8] {
        let start = self.starts.get(leaf).map_or(self.bytes.len(), |&start| start as usize);
        &self.bytes[start..]
    }

    /// The smallest integer and the number of bits of the column at `at`.
    #[inline(always)]
    fn head<E: PointElement>(&self, at: usize) -> (u64, usize) {
        let least = load8(&self.bytes, at) & (u64::MAX >> (64 - 8 * E::BYTES));
        (least, usize::from(self.bytes[at + E::BYTES]))
    }
}

/// Where the column after the one at `at` begins, which takes `width` bits a point.
#[inline(always)]
fn after<E: PointElement>(at: usize, width: usize) -> usize {
    at + E::BYTES + 1 + width * LEAF / 8
}

fn pack_column<E: PointElement>(column: &[E], bytes: &mut Vec<u8>) {
    let ranks = || column.iter().map(|v| v.rank());
    let (least, most) = (ranks().min().unwrap_or(0), ranks().max().unwrap_or(0));
    let width = (u64::BITS - (most - least).leading_zeros()) as usize;
    bytes.extend_from_slice(&least.to_le_bytes()[..E::BYTES]);
    bytes.push(width as u8);
    let first = bytes.len();
    bytes.resize(first + width * LEAF / 8, 0);
    for (i, rank) in ranks().enumerate() {
        let shifted = u128::from(rank - least) << (i * width % 8);
        for (byte, part) in bytes[first + i * width / 8..].iter_mut().zip(shifted.to_le_bytes()) {
            *byte |= part;
        }
    }
}

/// Eight bytes from `at` on.
#[inline(always)]
fn load8(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |&word| u64::from_le_bytes(word))
}

/// Difference number `i`, of up to 64 bits.
fn wide_difference(differences: &[u8], i: usize, width: usize) -> u64 {
    let word = differences[i * width / 8..].first_chunk().map_or(0, |&word| u128::from_le_bytes(word));
    (word >> (i * width % 8)) as u64 & (u64::MAX.checked_shr(64 - width as u32).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check<E: PointElement + std::fmt::Debug>(values: &[E], n_features: usize) -> Result<(), TestCaseError> {
        let n_points = values.len() / n_features;
        let mut leaves = vec![E::narrow(f64::INFINITY); n_points.div_ceil(LEAF) * LEAF * n_features];
        for (place, row) in values.chunks_exact(n_features).enumerate() {
            for (column, &value) in row.iter().enumerate() {
                leaves[(place / LEAF * n_features + column) * LEAF + place % LEAF] = value;
            }
        }
        let packed = PackedLeaves::pack(&leaves, n_points, n_features);
        let read = PackedLeaves::from_bytes::<E>(packed.as_bytes().to_vec(), n_points, n_features).unwrap();
        prop_assert_eq!(&read, &packed);
        let mut room = vec![[E::default(); LEAF]; n_features];
        for (leaf, columns) in leaves.chunks_exact(n_features * LEAF).enumerate() {
            read.unpack(leaf, n_points, &mut room);
            let bits = |v: &E| v.wide().to_bits();
            prop_assert!(room.as_flattened().iter().map(bits).eq(columns.iter().map(bits)));
        }
        let mut point = vec![0.0; n_features];
        for (place, row) in values.chunks_exact(n_features).enumerate() {
            read.copy_point::<E>(place, &mut point);
            prop_assert!(point.iter().zip(row).all(|(a, b)| a.to_bits() == b.wide().to_bits()));
        }
        for cut in [0, 1, packed.bytes.len() / 2, packed.bytes.len() - 1] {
            prop_assert!(PackedLeaves::from_bytes::<E>(packed.bytes[..cut].to_vec(), n_points, n_features).is_err());
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn packed_leaves_round_trip(bits in proptest::collection::vec(any::<u64>(), 3..400), shift in 0u32..64, d in 1usize..4) {
            let finite = |v: f64| if v.is_finite() { v } else { 0.5 };
            let wide: Vec<f64> = bits.iter().map(|&b| finite(f64::from_bits(0x3ff0_0000_0000_0000 ^ b >> shift))).collect();
            let narrow: Vec<f32> = wide.iter().map(|&v| finite(f64::from(v as f32)) as f32).collect();
            let whole = bits.len() / d * d;
            check(&wide[..whole], d)?;
            check(&narrow[..whole], d)?;
        }
    }
}
