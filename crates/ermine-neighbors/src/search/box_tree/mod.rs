//! A kd-tree with sixteen boxes per node, for few columns and any Minkowski metric.
//!
//! **Idea.** Nodes have sixteen children, so that one register contains one bound of all their boxes. The points are sorted by repeated median splits along the widest column; every run of
//! [`LEAF`] points is a leaf, every sixteen leaves form a node, and so on. There are no pointers: child c of node i is number 16 i + c one level below. A query computes the distance to sixteen
//! boxes at once, visits them nearest first, and stops when the next box is farther than the k-th point so far.
//!
//! **Exactness.** Boxes and points are compared in single precision with a proven error bound ([`super::norm::sum_error`]): all points that might be among the k nearest are kept, then measured
//! by [`Metric::distance`] in double precision.
//!
//! **Cost.** Build n log2(n / LEAF) selections, on all cores. Memory beside the points: 1/24 of them (of half of them, in double
//! precision) for boxes and ceil(log2 n) bits per point for its row number. Where that is more than 30% of the points (few columns), row numbers take some four bits less
//! ([`super::row_sets`]); where it still is, the points' own numbers are packed ([`tight`]).
//!
//! **Rows stored as given** (cosine, Mahalanobis: [`Metric::keeps_given`]): leaves contain the given rows, boxes bound the embedded rows, and a leaf is embedded when it is read.
//!
//! Reference: Bentley (1975), "Multidimensional binary search trees used for associative searching".

mod build;
mod numbers;
mod search;
mod tight;

pub(super) use search::BoxTreeScratch;

use super::aligned::Aligned;
use super::lanes::LANES;
use super::nearest::Nearest;
use ermine_core::distance::metric::Metric;
use ermine_core::distance::rows::PointElement;
use ermine_core::error::{Error, Result};
use ermine_core::section::Sections;
use numbers::LeafPositions;
use std::ops::Range;
use tight::PackedLeaves;

/// Points per leaf. 48 was fastest of 32, 48 and 64 at 3 and 10 columns.
pub(super) const LEAF: usize = 48;
/// Maximum number of levels for 2^32 points.
const MAX_LEVELS: usize = 8;

/// The tree. `E` is the precision of the points.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BoxTree<E> {
    n_points: usize,
    /// Columns of a stored row.
    n_features: usize,
    /// Columns of an embedded row, and of the boxes.
    width: usize,
    /// Whether rows are stored as given and embedded when they are compared.
    given: bool,
    leaves: Leaves<E>,
    /// The row numbers of the points.
    rows: LeafPositions,
    /// The largest absolute embedded value.
    largest: f64,
    /// Nodes of each level, lowest first; per node and column 16 lower and 16 upper bounds.
    boxes: Vec<Aligned<f32>>,
}

/// Leaf by leaf: the first column of its points, the second column, ... Unused positions are infinite.
#[derive(Debug, Clone, PartialEq)]
enum Leaves<E> {
    Plain(Aligned<E>),
    Tight(PackedLeaves),
}

/// Whether every point of the leaves is finite, and every place without a point infinite.
fn points_are_finite<E: PointElement>(leaves: &[E], n_points: usize, n_features: usize) -> bool {
    let fine = |(leaf, columns): (usize, &[E])| {
        let n = (n_points - leaf * LEAF).min(LEAF);
        columns.chunks_exact(LEAF).all(|column| {
            column[..n].iter().all(|v| v.wide().is_finite()) && column[n..].iter().all(|v| v.wide() == f64::INFINITY)
        })
    };
    leaves.chunks_exact(n_features * LEAF).enumerate().all(fine)
}

/// The places of each leaf.
fn places(n_points: usize) -> impl Iterator<Item = Range<usize>> {
    (0..n_points.div_ceil(LEAF)).map(move |leaf| leaf * LEAF..n_points.min((leaf + 1) * LEAF))
}

impl<E: PointElement> BoxTree<E> {
    /// Number of points.
    pub(super) fn n_points(&self) -> usize {
        self.n_points
    }

    /// Number of columns of a kept row.
    pub(super) fn n_features(&self) -> usize {
        self.n_features
    }

    /// Whether kept rows are as given where the metric measures others.
    pub(super) fn is_given(&self) -> bool {
        self.given
    }

    /// Saves everything but the counts.
    pub(super) fn save(&self, sections: &mut Sections) {
        match &self.leaves {
            Leaves::Plain(leaves) => E::put(sections, "leaves", leaves),
            Leaves::Tight(leaves) => sections.put_u8s("packed leaves", leaves.as_bytes()),
        }
        self.rows.save(sections);
        sections.put_f64s("largest", &[self.largest]);
        for (level, boxes) in self.boxes.iter().enumerate() {
            sections.put_f32s(&format!("boxes {level}"), boxes);
        }
    }

    /// Loads a tree over `n_points` points of `n_features` columns, embedded in `width` columns, and checks its consistency: a search relies on boxes that contain their points.
    pub(super) fn load(
        metric: &Metric,
        sections: &Sections,
        n_points: usize,
        n_features: usize,
        (width, given): (usize, bool),
    ) -> Result<BoxTree<E>> {
        let broken = || Error::model_file("the parts of a box tree don't fit together");
        if n_points == 0 || n_points > u32::MAX as usize || n_features == 0 {
            return Err(broken());
        }
        let rows = LeafPositions::load(sections, n_points)?;
        let n_leaves = n_points.div_ceil(LEAF);
        let leaves = if sections.has("packed leaves") {
            Leaves::Tight(PackedLeaves::from_bytes::<E>(sections.u8s("packed leaves")?, n_points, n_features)?)
        } else {
            let leaves = Aligned::copy(&E::get(sections, "leaves")?).ok_or_else(broken)?;
            let whole = n_leaves.checked_mul(LEAF * n_features) == Some(leaves.len());
            if !whole || !points_are_finite(&leaves, n_points, n_features) {
                return Err(broken());
            }
            Leaves::Plain(leaves)
        };
        let largest = sections.f64s("largest")?.first().copied().filter(|l| l.is_finite()).ok_or_else(broken)?;
        let mut boxes = Vec::new();
        let mut nodes = n_leaves;
        while boxes.is_empty() || nodes > 1 {
            nodes = nodes.div_ceil(LANES);
            let level = Aligned::copy(&sections.f32s(&format!("boxes {}", boxes.len()))?).ok_or_else(broken)?;
            if nodes.checked_mul(2 * LANES * width) != Some(level.len()) || level.iter().any(|v| v.is_nan()) {
                return Err(broken());
            }
            boxes.push(level);
        }
        let tree = BoxTree { n_points, n_features, width, given, leaves, rows, largest, boxes };
        let (boxes, largest) = tree.boxes_of_points(metric);
        if boxes == tree.boxes && largest == tree.largest { Ok(tree) } else { Err(broken()) }
    }

    /// Memory use in bytes.
    pub(super) fn bytes(&self) -> usize {
        let leaves = match &self.leaves {
            Leaves::Plain(leaves) => leaves.len() * size_of::<E>(),
            Leaves::Tight(leaves) => leaves.bytes(),
        };
        leaves + self.beside()
    }

    /// Bytes of what isn't leaves.
    fn beside(&self) -> usize {
        self.boxes.iter().map(|b| b.len() * 4).sum::<usize>() + self.rows.bytes()
    }

    /// The row number of the point in `place`.
    #[inline(always)]
    fn row_at(&self, place: usize) -> u32 {
        self.rows.get(place, self.n_points)
    }

    /// Copies the point in `place`, as it is kept, to `out`.
    #[inline(always)]
    fn copy_kept(&self, place: usize, out: &mut [f64]) {
        match &self.leaves {
            Leaves::Plain(leaves) => {
                let first = place / LEAF * LEAF * self.n_features + place % LEAF;
                for (column, to) in out.iter_mut().enumerate() {
                    *to = leaves[first + column * LEAF].wide();
                }
            }
            Leaves::Tight(leaves) => leaves.copy_point::<E>(place, out),
        }
    }

    /// Copies the point in `place`, as it is measured, to `out`.
    #[inline(always)]
    fn copy_point(&self, metric: &Metric, place: usize, out: &mut [f64]) {
        self.copy_kept(place, &mut out[..self.n_features]);
        if self.given {
            metric.embed_lanes(self.n_features, out.as_chunks_mut::<1>().0);
        }
    }

    /// All points, as they are kept, with their row numbers, in the order of the tree.
    pub(super) fn for_each(&self, mut visit: impl FnMut(u32, &[f64])) {
        let mut point = vec![0.0; self.n_features];
        for (leaf, places) in places(self.n_points).enumerate() {
            let mut place = places.start;
            self.rows.for_each(leaf, &places, |row| {
                self.copy_kept(place, &mut point);
                visit(row, &point);
                place += 1;
            });
        }
    }

    /// Compares every point, for queries whose sums would exceed single precision.
    fn scan(&self, metric: &Metric, query: &[f64], best: &mut Nearest) {
        let mut measured = vec![0.0; self.width];
        self.for_each(|row, point| {
            measured[..point.len()].copy_from_slice(point);
            if self.given {
                metric.embed_lanes(point.len(), measured.as_chunks_mut::<1>().0);
            }
            best.offer(metric.distance(query, &measured), row);
        });
    }
}
