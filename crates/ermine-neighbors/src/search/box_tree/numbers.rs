//! The row numbers of the points in the leaves: plain where they fit, else as ascending sets.

use super::{LEAF, places};
use crate::search::packed::PackedNumbers;
use crate::search::row_sets::RowSets;
use ermine_core::error::Result;
use ermine_core::section::Sections;
use std::ops::Range;

/// Which row is in which place.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum LeafPositions {
    /// `ceil(log2 n)` bits each, in any order: the fastest.
    Plain(PackedNumbers),
    /// Some four bits less each; rows ascend within a leaf.
    Sets(RowSets),
}

impl LeafPositions {
    /// The rows in all places.
    pub(super) fn new(rows: &[u32], as_sets: bool) -> LeafPositions {
        if as_sets {
            LeafPositions::Sets(RowSets::new(rows, LEAF, places(rows.len())))
        } else {
            LeafPositions::Plain(PackedNumbers::new(rows.iter().copied(), rows.len() as u32 - 1))
        }
    }

    /// The row in a place of a tree of `n_points`.
    #[inline(always)]
    pub(super) fn get(&self, place: usize, n_points: usize) -> u32 {
        match self {
            LeafPositions::Plain(rows) => rows.get(place) as u32,
            LeafPositions::Sets(sets) => {
                let first = place / LEAF * LEAF;
                sets.get(place / LEAF, &(first..n_points.min(first + LEAF)), place - first)
            }
        }
    }

    /// The rows in the places of a leaf.
    pub(super) fn for_each(&self, leaf: usize, places: &Range<usize>, mut visit: impl FnMut(u32)) {
        match self {
            LeafPositions::Plain(rows) => places.clone().for_each(|place| visit(rows.get(place) as u32)),
            LeafPositions::Sets(sets) => sets.for_each(leaf, places, visit),
        }
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        match self {
            LeafPositions::Plain(rows) => rows.bytes(),
            LeafPositions::Sets(sets) => sets.bytes(),
        }
    }

    pub(super) fn save(&self, sections: &mut Sections) {
        match self {
            LeafPositions::Plain(rows) => rows.save(sections, "rows"),
            LeafPositions::Sets(sets) => sets.save(sections),
        }
    }

    /// Reads the rows of a tree of `n_points`, all of them below that.
    pub(super) fn load(sections: &Sections, n_points: usize) -> Result<LeafPositions> {
        if sections.has("rows") {
            return PackedNumbers::load(sections, "rows", n_points, n_points as u32 - 1).map(LeafPositions::Plain);
        }
        RowSets::load(sections, n_points, LEAF, places(n_points)).map(LeafPositions::Sets)
    }
}
