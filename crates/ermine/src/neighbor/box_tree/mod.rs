//! A tree of boxes, sixteen to a node, for few columns and any Minkowski metric.
//!
//! **Idea.** A kd-tree whose nodes have sixteen children, so that one register holds one bound of all their boxes. The points
//! are ordered by repeated median splits along the widest column; every run of [`LEAF`] points is a leaf, every sixteen
//! leaves are a node, every sixteen nodes a node of the next level. No pointers: child c of node i is number 16 i + c one level
//! below. A query takes the distance to sixteen boxes at once, visits them nearest first, and stops where the next box is farther
//! than the k-th point so far.
//!
//! **Exactness.** Boxes and points are compared in single precision with a proven margin ([`super::norm::sum_error`]): whatever
//! might be among the k nearest is kept, then measured by [`Metric::distance`] in double precision.
//!
//! **Cost.** Build n log2(n / LEAF) selections, on all cores. Memory beside the points: 1/24 of them (of half of them, in double
//! precision) for boxes and ceil(log2 n) bits per point for its row number.
//!
//! Reference: Bentley (1975), "Multidimensional binary search trees used for associative searching".

mod build;
mod search;

pub(super) use search::Scratch;

use super::aligned::Aligned;
use super::lanes::LANES;
use super::metric::Metric;
use super::nearest::Nearest;
use super::packed::Packed;
use super::rows::Element;
use crate::error::{Error, Result};
use crate::section::Sections;

/// Points in a leaf. 48 measured best of 32, 48 and 64 at 3 and 10 columns.
pub(super) const LEAF: usize = 48;
/// Levels of nodes that 2^32 points can need.
const MAX_LEVELS: usize = 8;

/// The tree. `E` is the precision of the points.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BoxTree<E> {
    n_points: usize,
    n_features: usize,
    /// Leaf after leaf: the first column of its points, the second column, ... Places without a point are infinite.
    leaves: Aligned<E>,
    /// The row number of the point in each place.
    rows: Packed,
    /// The largest absolute value.
    largest: f64,
    /// Nodes of each level, leaves' parents first; per node and column 16 lower and 16 upper bounds.
    boxes: Vec<Aligned<f32>>,
}

impl<E: Element> BoxTree<E> {
    /// Number of points.
    pub(super) fn n_points(&self) -> usize {
        self.n_points
    }

    /// Number of columns.
    pub(super) fn n_features(&self) -> usize {
        self.n_features
    }

    /// Writes everything but the counts.
    pub(super) fn save(&self, sections: &mut Sections) {
        E::put(sections, "leaves", &self.leaves);
        self.rows.save(sections, "rows");
        sections.put_f64s("largest", &[self.largest]);
        for (level, boxes) in self.boxes.iter().enumerate() {
            sections.put_f32s(&format!("boxes {level}"), boxes);
        }
    }

    /// Reads a tree over `n_points` points of `n_features` columns, and checks that its parts fit together.
    pub(super) fn load(sections: &Sections, n_points: usize, n_features: usize) -> Result<BoxTree<E>> {
        let broken = || Error::model_file("the parts of a box tree don't fit together");
        if n_points == 0 || n_points > u32::MAX as usize || n_features == 0 {
            return Err(broken());
        }
        let rows = Packed::load(sections, "rows", n_points, n_points as u32 - 1)?;
        let leaves = Aligned::copy(&E::get(sections, "leaves")?).ok_or_else(broken)?;
        let n_leaves = n_points.div_ceil(LEAF);
        let largest = sections.f64s("largest")?.first().copied().filter(|l| l.is_finite()).ok_or_else(broken)?;
        let mut boxes = Vec::new();
        let mut nodes = n_leaves;
        while boxes.is_empty() || nodes > 1 {
            nodes = nodes.div_ceil(LANES);
            let level = Aligned::copy(&sections.f32s(&format!("boxes {}", boxes.len()))?).ok_or_else(broken)?;
            if nodes.checked_mul(2 * LANES * n_features) != Some(level.len()) || level.iter().any(|v| v.is_nan()) {
                return Err(broken());
            }
            boxes.push(level);
        }
        if n_leaves.checked_mul(LEAF * n_features) != Some(leaves.len()) || leaves.iter().any(|v| v.wide().is_nan()) {
            return Err(broken());
        }
        Ok(BoxTree { n_points, n_features, leaves, rows, largest, boxes })
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let boxes: usize = self.boxes.iter().map(|b| b.len()).sum();
        self.leaves.len() * size_of::<E>() + boxes * 4 + self.rows.bytes()
    }

    /// The row number of the point in `place`.
    #[inline(always)]
    fn row_at(&self, place: usize) -> u32 {
        self.rows.get(place) as u32
    }

    /// Copies the point in `place` to `out`.
    #[inline(always)]
    fn copy_point(&self, place: usize, out: &mut [f64]) {
        let first = place / LEAF * LEAF * self.n_features + place % LEAF;
        for (column, to) in out.iter_mut().enumerate() {
            *to = self.leaves[first + column * LEAF].wide();
        }
    }

    /// All points with their row numbers, in the order of the tree.
    pub(super) fn for_each(&self, mut visit: impl FnMut(u32, &[f64])) {
        let mut point = vec![0.0; self.n_features];
        for place in 0..self.n_points {
            self.copy_point(place, &mut point);
            visit(self.row_at(place), &point);
        }
    }

    /// Offers every point, for queries whose sums would leave the range of single precision.
    fn scan(&self, metric: &Metric, query: &[f64], best: &mut Nearest) {
        self.for_each(|row, point| best.offer(metric.distance(query, point), row));
    }
}
