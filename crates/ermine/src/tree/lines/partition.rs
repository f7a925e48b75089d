//! Moving the lines of a node: left ones to the front, each side in its old order.

use super::LineSplit;
use super::search::Grower;
use crate::split::cells::{MAX_BINS, Statistics};

impl<S: Statistics> Grower<'_, S> {
    /// Moves the lines of a node. How many go left.
    pub(super) fn partition(&mut self, lines: &mut [u8], split: &LineSplit<S::Number>) -> usize {
        let sides = split.sides();
        self.spare.resize(self.spare.len().max(lines.len()), 0);
        match self.lines.stride {
            64 => partition::<64>(lines.as_chunks_mut().0, self.spare.as_chunks_mut().0, split.feature, &sides),
            128 => partition::<128>(lines.as_chunks_mut().0, self.spare.as_chunks_mut().0, split.feature, &sides),
            stride => partition_any(lines, &mut self.spare, stride, split.feature, &sides),
        }
    }
}

/// Every line is written to both sides, so that there is no branch to mispredict; only one of them counts.
fn partition<const STRIDE: usize>(
    lines: &mut [[u8; STRIDE]],
    spare: &mut [[u8; STRIDE]],
    feature: usize,
    sides: &[bool; MAX_BINS],
) -> usize {
    let (mut left, mut right) = (0, 0);
    for i in 0..lines.len() {
        let line = lines[i];
        let goes_left = sides[line[feature] as usize];
        spare[right] = line;
        lines[left] = line;
        left += usize::from(goes_left);
        right += usize::from(!goes_left);
    }
    lines[left..].copy_from_slice(&spare[..right]);
    left
}

/// The same for lines of any length.
fn partition_any(lines: &mut [u8], spare: &mut [u8], stride: usize, feature: usize, sides: &[bool; MAX_BINS]) -> usize {
    let (mut left, mut right) = (0, 0);
    for i in 0..lines.len() / stride {
        let from = i * stride;
        if sides[lines[from + feature] as usize] {
            lines.copy_within(from..from + stride, left * stride);
            left += 1;
        } else {
            spare[right * stride..(right + 1) * stride].copy_from_slice(&lines[from..from + stride]);
            right += 1;
        }
    }
    lines[left * stride..].copy_from_slice(&spare[..right * stride]);
    left
}
