//! Feature values as bytes, in terms of the tests of an ensemble.
//!
//! | column of codes | byte |
//! |---|---|
//! | ranks, missing last | the number of thresholds below the value ([`ThresholdRanks`]); a missing value is 255, above all |
//! | ranks, missing first | the same; a missing value is 0 |
//! | categories | the category; 254 if no test uses it, 255 for a missing value |
//!
//! Only features that are used are encoded. A feature with more than 255 thresholds has several columns of codes, with 255 thresholds each: rank - 255 s, clipped to a byte,
//! for segment s.

use super::ranks::{MOST_BYTES, ThresholdRanks};
use ermine_core::matrix::Features;

/// Number of rows encoded together.
pub(in crate::tree) const BLOCK: usize = 512;

/// Maximum number of categories of a byte.
pub(super) const MOST_CATEGORIES: usize = 254;

/// A missing value.
pub(super) const MISSING: u8 = u8::MAX;

/// The meaning of a column of codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum CodeKind {
    /// Ranks among the thresholds of a segment; a missing value is 255, or 0.
    Ranks { segment: u16, missing_left: bool },
    /// Categories.
    Categories,
}

/// The columns of codes of an ensemble.
#[derive(Debug, Clone)]
pub(super) struct FeatureCodes {
    /// The encoded features and their thresholds.
    features: Vec<(u32, ThresholdRanks)>,
    /// The columns of codes of each of these: a range of `kinds`.
    starts: Vec<u32>,
    kinds: Vec<CodeKind>,
}

impl FeatureCodes {
    /// The columns of codes for these thresholds (column, threshold) and uses (column, kind); `None` if there are too many thresholds. Segments are those of
    /// [`place`](Self::place).
    pub fn new(
        thresholds: Vec<Vec<f64>>,
        uses: impl Fn(u32, &ThresholdRanks) -> Vec<CodeKind>,
    ) -> Option<FeatureCodes> {
        let mut codes = FeatureCodes { features: Vec::new(), starts: vec![0], kinds: Vec::new() };
        for (feature, thresholds) in thresholds.into_iter().enumerate() {
            let ranks = ThresholdRanks::new(thresholds)?;
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

    /// The number of columns of codes.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// The index of a column of codes.
    pub fn column(&self, feature: u32, kind: CodeKind) -> Option<u32> {
        let at = self.features.binary_search_by_key(&feature, |f| f.0).ok()?;
        let range = self.starts[at] as usize..self.starts[at + 1] as usize;
        self.kinds[range.clone()].iter().position(|k| *k == kind).map(|i| (range.start + i) as u32)
    }

    /// The column of codes and the byte of a threshold.
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
                    CodeKind::Categories => category(x),
                    CodeKind::Ranks { segment, missing_left } => {
                        within(ranks.rank(x), segment, missing_left, x.is_nan())
                    }
                };
            }
        }
    }
}

/// The column of codes of a threshold by its rank, and its byte there.
pub(super) fn place(rank: usize, missing_left: bool) -> (CodeKind, u8) {
    (CodeKind::Ranks { segment: (rank / MOST_BYTES) as u16, missing_left }, (rank % MOST_BYTES) as u8)
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

/// The byte of a category, converted as in a tree's test.
#[inline]
fn category(x: f64) -> u8 {
    crate::split::test::category(x).map_or(MISSING, |code| code.min(MOST_CATEGORIES) as u8)
}

fn code(ranks: &ThresholdRanks, kind: CodeKind, values: &[f64], out: &mut [u8]) {
    match kind {
        CodeKind::Categories => out.iter_mut().zip(values).for_each(|(out, &x)| *out = category(x)),
        CodeKind::Ranks { missing_left, .. } if ranks.len() <= MOST_BYTES => {
            ranks.bytes(values, if missing_left { 0 } else { MISSING }, out);
        }
        CodeKind::Ranks { segment, missing_left } => {
            let of = |x: f64| within(ranks.rank(x), segment, missing_left, x.is_nan());
            out.iter_mut().zip(values).for_each(|(out, &x)| *out = of(x));
        }
    }
}
