//! Moves the lines of a node from one buffer to the other: left lines to the front, right lines to the back.
//!
//! Every line is read and written once. The lines of a node are in the buffer of its depth, even or odd; right lines end up in reverse order.

use super::BinnedSplit;
use super::search::BinnedTreeBuilder;
use super::sparse::SparseNode;
use crate::split::bin_statistics::{BinStatistics, MAX_BINS};

impl<S: BinStatistics> BinnedTreeBuilder<'_, S> {
    /// Moves the lines of a node, the first of which is at `start`; returns the number of left lines.
    pub(super) fn partition(
        &mut self,
        from: &[u8],
        to: &mut [u8],
        start: usize,
        split: &BinnedSplit<S::Number>,
    ) -> usize {
        let (sides, lines) = (split.sides(), self.lines);
        if let Some(sparse) = &lines.sparse {
            return self.partition_sparse(sparse, SparseNode { lines: from, start }, to, split.feature, &sides);
        }
        match self.lines.stride {
            64 => partition::<64>(from.as_chunks().0, to.as_chunks_mut().0, split.feature, &sides),
            128 => partition::<128>(from.as_chunks().0, to.as_chunks_mut().0, split.feature, &sides),
            stride => partition_any(from, to, stride, split.feature, &sides),
        }
    }
}

ermine_core::versions! {
    /// Moves lines of a known length; compiled again for wide vector units, which move a line at once.
    fn partition<const STRIDE: usize>(
        from: &[[u8; STRIDE]],
        to: &mut [[u8; STRIDE]],
        feature: usize,
        sides: &[bool; MAX_BINS],
    ) -> usize {
        partition_plain(from, to, feature, sides)
    }
}

/// The destination is chosen without a branch, which would be mispredicted half of the time.
#[inline(always)]
fn partition_plain<const STRIDE: usize>(
    from: &[[u8; STRIDE]],
    to: &mut [[u8; STRIDE]],
    feature: usize,
    sides: &[bool; MAX_BINS],
) -> usize {
    let (mut left, mut right) = (0, to.len());
    for line in from {
        let goes_left = sides[line[feature % STRIDE] as usize];
        right -= usize::from(!goes_left);
        to[if goes_left { left } else { right }] = *line;
        left += usize::from(goes_left);
    }
    left
}

/// The same for lines of any length.
fn partition_any(from: &[u8], to: &mut [u8], stride: usize, feature: usize, sides: &[bool; MAX_BINS]) -> usize {
    let (mut left, mut right) = (0, to.len() / stride);
    for line in from.chunks_exact(stride) {
        let goes_left = sides[line[feature] as usize];
        right -= usize::from(!goes_left);
        let at = if goes_left { left } else { right };
        to[at * stride..(at + 1) * stride].copy_from_slice(line);
        left += usize::from(goes_left);
    }
    left
}
