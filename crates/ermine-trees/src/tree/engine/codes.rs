//! The values of rows as bytes, in the form that the trees of an ensemble ask about.
//!
//! | column of codes | what its byte is |
//! |---|---|
//! | ranks, missing last | the number of thresholds below the value ([`Ranks`]); a missing value is 255, above all |
//! | ranks, missing first | the same; a missing value is 0 |
//! | categories | the category; 254 for one that no test names, 255 for a missing value |
//!
//! Only what is asked about is coded. Where a column has more than 255 thresholds, several columns of codes take 255 of them each: rank - 255 s, cut to a byte, answers for
//! the thresholds of segment s.

use super::ranks::{MOST_BYTES, Ranks};
use ermine_core::matrix::Features;

/// Rows that are coded together.
pub(in crate::tree) const BLOCK: usize = 512;

/// Categories that bytes can tell apart.
pub(super) const MOST_CATEGORIES: usize = 254;

/// A missing value.
pub(super) const MISSING: u8 = u8::MAX;

/// What the bytes of a column of codes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    /// Ranks among the thresholds of a segment; a missing value is 255, or 0.
    Ranks { segment: u16, missing_left: bool },
    /// Categories.
    Categories,
}

/// The columns of codes of an ensemble.
#[derive(Debug, Clone)]
pub(super) struct Codes {
    /// The columns that are coded, and their thresholds.
    features: Vec<(u32, Ranks)>,
    /// The columns of codes of each of these: a range of `kinds`.
    starts: Vec<u32>,
    kinds: Vec<Kind>,
}

impl Codes {
    /// The columns of codes for these thresholds (column, threshold) and uses (column, kind); `None` where there are too many thresholds. Segments are those of
    /// [`place`](Self::place).
    pub fn new(thresholds: Vec<Vec<f64>>, uses: impl Fn(u32, &Ranks) -> Vec<Kind>) -> Option<Codes> {
        let mut codes = Codes { features: Vec::new(), starts: vec![0], kinds: Vec::new() };
        for (feature, thresholds) in thresholds.into_iter().enumerate() {
            let ranks = Ranks::new(thresholds)?;
            let mut kinds = uses(feature as u32, &ranks);
            kinds.sort_unstable();
            kinds.dedup();
            if !kinds.is_empty() {
                codes.kinds.extend(kinds);
                codes.features.push((feature as u32, ranks));
                codes.starts.push(codes.kinds.len() as u32);
            }
        }
        Some(codes)
    }

    /// How many columns of codes.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// The number of a column of codes.
    pub fn column(&self, feature: u32, kind: Kind) -> Option<u32> {
        let at = self.features.binary_search_by_key(&feature, |f| f.0).ok()?;
        let range = self.starts[at] as usize..self.starts[at + 1] as usize;
        self.kinds[range.clone()].iter().position(|k| *k == kind).map(|i| (range.start + i) as u32)
    }

    /// The column of codes and the byte that stand for a threshold.
    pub fn threshold(&self, feature: u32, threshold: f64, missing_left: bool) -> Option<(u32, u8)> {
        let at = self.features.binary_search_by_key(&feature, |f| f.0).ok()?;
        let (kind, byte) = place(self.features[at].1.rank(threshold), missing_left);
        Some((self.column(feature, kind)?, byte))
    }

    /// Codes `n` rows from `first` on, column by column, [`BLOCK`] bytes each.
    pub fn block(&self, features: &Features, first: usize, n: usize, values: &mut [f64; BLOCK], codes: &mut [u8]) {
        for (i, (feature, ranks)) in self.features.iter().enumerate() {
            let values = &mut values[..n];
            features.part_into(*feature as usize, first, values);
            for column in self.starts[i] as usize..self.starts[i + 1] as usize {
                code(ranks, self.kinds[column], values, &mut codes[column * BLOCK..][..n]);
            }
        }
    }

    /// Codes one row, whose values are given by column.
    #[inline]
    pub fn row(&self, row: &[f64], codes: &mut [u8]) {
        for (i, (feature, ranks)) in self.features.iter().enumerate() {
            let x = row[*feature as usize];
            for column in self.starts[i] as usize..self.starts[i + 1] as usize {
                codes[column] = match self.kinds[column] {
                    Kind::Categories => category(x),
                    Kind::Ranks { segment, missing_left } => within(ranks.rank(x), segment, missing_left, x.is_nan()),
                };
            }
        }
    }
}

/// The column of codes of a threshold by its rank, and its byte there.
pub(super) fn place(rank: usize, missing_left: bool) -> (Kind, u8) {
    (Kind::Ranks { segment: (rank / MOST_BYTES) as u16, missing_left }, (rank % MOST_BYTES) as u8)
}

/// The byte of a rank in a segment.
#[inline]
fn within(rank: usize, segment: u16, missing_left: bool, missing: bool) -> u8 {
    match (missing, missing_left) {
        (true, true) => 0,
        (true, false) => MISSING,
        _ => rank.saturating_sub(segment as usize * MOST_BYTES).min(MOST_BYTES) as u8,
    }
}

/// The byte of a category: numbers become categories as they do in a tree's test.
#[inline]
fn category(x: f64) -> u8 {
    crate::split::test::category(x).map_or(MISSING, |code| code.min(MOST_CATEGORIES) as u8)
}

fn code(ranks: &Ranks, kind: Kind, values: &[f64], out: &mut [u8]) {
    match kind {
        Kind::Categories => out.iter_mut().zip(values).for_each(|(out, &x)| *out = category(x)),
        Kind::Ranks { missing_left, .. } if ranks.len() <= MOST_BYTES => {
            ranks.bytes(values, if missing_left { 0 } else { MISSING }, out);
        }
        Kind::Ranks { segment, missing_left } => {
            let of = |x: f64| within(ranks.rank(x), segment, missing_left, x.is_nan());
            out.iter_mut().zip(values).for_each(|(out, &x)| *out = of(x));
        }
    }
}
