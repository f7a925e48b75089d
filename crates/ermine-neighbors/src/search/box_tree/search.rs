//! Tree search: nearest boxes first, candidates in single precision, exact distances last.
//!
//! Let T be the k-th smallest single-precision sum so far and e the bound on the relative error of such a sum. A point among the true k
//! nearest has a sum of at most about T (1 + 2 e); that is the cutoff, for points and boxes alike. A query that isn't itself a
//! single-precision number is off by `slip`, its distance to the nearest one, which widens the cutoff on the scale
//! of distances.
//!
//! The candidates kept are the [`SPARE`] + k smallest sums. Should more than that lie under the final cutoff (many equal points), a second
//! search collects all of them.

use super::{BoxTree, LEAF, Leaves, MAX_LEVELS};
use crate::search::lanes::{LANES, Wide, at_most, larger, prefetch, smaller, sort};
use crate::search::nearest::Nearest;
use crate::search::norm::{Largest, Norm, SumAbs, SumPowers, SumSquares, sum_error, sum_underflow};
use ermine_core::distance::metric::{Metric, MetricShape};
use ermine_core::distance::rows::PointElement;
use ermine_core::simd::{Instructions, Level};
use ermine_core::versions;

/// Candidates kept in addition to k.
const SPARE: usize = 8;
/// Sums up to this are safe in single precision.
const LARGEST_SUM: f64 = 1e37;

/// Number of trial searches that measure how well the boxes prune, and their k.
const TRIALS: usize = 32;
/// See [`TRIALS`].
const TRIAL_K: usize = 6;

/// Per-thread scratch memory.
#[derive(Default)]
pub(in crate::search) struct BoxTreeScratch {
    /// The query in single precision.
    narrow: Vec<f32>,
    /// A point measured again.
    point: Vec<f64>,
    candidates: LeafCandidates,
    frames: NodeFrames,
    rooms: LeafBuffers,
    /// Points compared, for the choice of an index.
    pub(in crate::search) visited: usize,
}

/// Buffers for leaves that are unpacked or embedded.
#[derive(Default)]
pub(in crate::search) struct LeafBuffers {
    single: Vec<[f32; LEAF]>,
    double: Vec<[f64; LEAF]>,
    embedded: EmbeddingBuffers,
}

/// Columns of an embedded leaf, and of some of its points while they are embedded.
#[derive(Default)]
pub(in crate::search) struct EmbeddingBuffers {
    columns: Vec<[f64; LEAF]>,
    lanes: Vec<[f64; LANES]>,
}

/// (sum as bits, place), smallest first while `wanted` limits them.
#[derive(Default)]
struct LeafCandidates {
    keys: Vec<u64>,
    wanted: usize,
    /// Points with a larger sum are skipped.
    cutoff: f32,
    /// The smallest sum that was dropped because `wanted + SPARE` others were smaller.
    pushed_out: f32,
}

/// The path from the root: per level the node and its children, nearest first.
#[derive(Default)]
struct NodeFrames {
    children: [[u32; LANES]; MAX_LEVELS],
    next: [usize; MAX_LEVELS],
    node: [usize; MAX_LEVELS],
}

/// How sums turn into cutoffs, for one query.
#[derive(Clone, Copy)]
struct SumMargin<N> {
    norm: N,
    error: f64,
    underflow: f64,
    slip: f64,
}

impl<N: Norm> SumMargin<N> {
    /// The largest sum that a point may have when the k-th best so far has `sum`.
    #[inline(always)]
    fn cutoff(self, sum: f64) -> f32 {
        let sum = if self.slip == 0.0 { sum } else { self.norm.power(self.norm.root(sum) + 2.5 * self.slip) };
        smaller((sum * (1.0 + self.error) + self.underflow) as f32, f32::MAX)
    }
}

impl<E: GapElement> BoxTree<E> {
    /// Offers to `best` the points that belong there.
    pub(in crate::search) fn search(
        &self,
        level: Level,
        metric: &Metric,
        query: &[f64],
        best: &mut Nearest,
        scratch: &mut BoxTreeScratch,
    ) {
        match metric.shape() {
            Some(MetricShape::SumSquares) => self.search_by(level, metric, SumSquares, query, best, scratch),
            Some(MetricShape::SumAbs) => self.search_by(level, metric, SumAbs, query, best, scratch),
            Some(MetricShape::Largest) => self.search_by(level, metric, Largest, query, best, scratch),
            Some(MetricShape::SumPowers(p)) => self.search_by(level, metric, SumPowers(p), query, best, scratch),
            None => self.scan(metric, query, best),
        }
    }

    /// The share of points that a query reads, measured on some of the points.
    pub(in crate::search) fn share_read(&self, metric: &Metric) -> f64 {
        let count = self.n_points.min(TRIALS);
        let (mut scratch, mut point) = (BoxTreeScratch::default(), vec![0.0; self.width]);
        for i in 0..count {
            self.copy_point(metric, i * self.n_points / count, &mut point);
            self.search(Level::detect(), metric, &point, &mut Nearest::k(TRIAL_K.min(self.n_points)), &mut scratch);
        }
        scratch.visited as f64 / (count * self.n_points) as f64
    }

    fn search_by<N: Norm>(
        &self,
        level: Level,
        metric: &Metric,
        norm: N,
        query: &[f64],
        best: &mut Nearest,
        scratch: &mut BoxTreeScratch,
    ) {
        scratch.narrow.clear();
        scratch.narrow.extend(query.iter().map(|&v| v as f32));
        let d = query.len();
        let slip = query.iter().zip(&scratch.narrow).map(|(a, &b)| (a - f64::from(b)).abs()).sum();
        let margin = SumMargin { norm, error: sum_error(norm, d), underflow: sum_underflow(d), slip };
        if !self.in_range(margin, query) {
            scratch.visited += self.n_points;
            self.scan(metric, query, best);
            return;
        }
        scratch.point.resize(d, 0.0);
        let start = margin.cutoff(norm.power(metric.norm_of(best.limit())));
        scratch.candidates.start(best.wanted(), start);
        self.find(level, metric, query, margin, scratch);
        let cutoff = scratch.candidates.cutoff;
        if scratch.candidates.pushed_out <= cutoff {
            scratch.candidates.start(usize::MAX, cutoff);
            self.find(level, metric, query, margin, scratch);
        }
        for &key in &scratch.candidates.keys {
            if f32::from_bits((key >> 32) as u32) <= cutoff {
                let place = key as u32 as usize;
                self.copy_point(metric, place, &mut scratch.point);
                let distance = metric.distance(query, &scratch.point);
                // Looking up the row takes longer than rejecting the distance.
                if distance <= best.limit() {
                    best.offer(distance, self.row_at(place));
                }
            }
        }
    }

    /// Collects the candidates.
    fn find<N: Norm>(
        &self,
        level: Level,
        metric: &Metric,
        query: &[f64],
        margin: SumMargin<N>,
        scratch: &mut BoxTreeScratch,
    ) {
        if self.given {
            descend(level, self, EmbeddedLeaf(metric), query, margin, scratch);
        } else {
            descend(level, self, StoredLeaf, query, margin, scratch);
        }
    }

    /// Whether the farthest possible sum is finite in single precision.
    fn in_range<N: Norm>(&self, margin: SumMargin<N>, query: &[f64]) -> bool {
        let widest = query.iter().fold(0.0, |m: f64, v| m.max(v.abs())) + self.largest;
        margin.norm.power(widest) * query.len() as f64 <= LARGEST_SUM
    }
}

impl LeafCandidates {
    fn start(&mut self, wanted: usize, cutoff: f32) {
        self.keys.clear();
        self.wanted = wanted;
        self.cutoff = cutoff;
        self.pushed_out = f32::INFINITY;
    }

    /// Takes in a point whose sum is under the cutoff, and lowers the cutoff if it can.
    #[inline(always)]
    fn insert<N: Norm>(&mut self, sum: f32, place: usize, margin: SumMargin<N>) {
        let key = u64::from(sum.to_bits()) << 32 | place as u64;
        if self.wanted == usize::MAX {
            self.keys.push(key);
            return;
        }
        if self.keys.len() == self.wanted + SPARE {
            let last = self.keys[self.keys.len() - 1];
            let out = f32::from_bits((last.max(key) >> 32) as u32);
            self.pushed_out = smaller(self.pushed_out, out);
            if key > last {
                return;
            }
            self.keys.pop();
        }
        let mut at = self.keys.len();
        self.keys.push(key);
        while at > 0 && self.keys[at - 1] > key {
            self.keys[at] = self.keys[at - 1];
            at -= 1;
        }
        self.keys[at] = key;
        if self.keys.len() >= self.wanted && at < self.wanted {
            let kth = f32::from_bits((self.keys[self.wanted - 1] >> 32) as u32);
            self.cutoff = smaller(self.cutoff, margin.cutoff(f64::from(kth)));
        }
    }

    /// Lowers the cutoff at once when many points of a leaf are under it: the smallest sum of each lane belongs to another point, so
    /// the k-th smallest of these sixteen is no less than the k-th smallest of all.
    #[inline(always)]
    fn foresee<S: Instructions, N: Norm>(&mut self, set: S, sums: &[[f32; LANES]; LEAF / LANES], margin: SumMargin<N>) {
        let [first, second, third] = sums;
        let mut least = [0; LANES];
        for lane in 0..LANES {
            least[lane] = smaller(smaller(first[lane], second[lane]), third[lane]).to_bits();
        }
        sort(set, &mut least);
        let kth = f32::from_bits(least[self.wanted - 1]);
        self.cutoff = smaller(self.cutoff, margin.cutoff(f64::from(kth)));
    }
}

/// The difference between points and the query, rounded once to single precision.
pub(in crate::search) trait GapElement: PointElement {
    /// `values - query`; `narrow` is the query in single precision.
    fn gap<S: Instructions>(set: S, values: &[Self; LANES], query: f64, narrow: f32) -> Wide;
    /// Room for a leaf of such numbers, and for an embedded one.
    fn rooms(rooms: &mut LeafBuffers) -> (&mut Vec<[Self; LEAF]>, &mut EmbeddingBuffers);
}

impl GapElement for f32 {
    #[inline(always)]
    fn gap<S: Instructions>(set: S, values: &[f32; LANES], _: f64, narrow: f32) -> Wide {
        Wide::gap(set, values, narrow)
    }
    fn rooms(rooms: &mut LeafBuffers) -> (&mut Vec<[f32; LEAF]>, &mut EmbeddingBuffers) {
        (&mut rooms.single, &mut rooms.embedded)
    }
}

impl GapElement for f64 {
    #[inline(always)]
    fn gap<S: Instructions>(set: S, values: &[f64; LANES], query: f64, _: f32) -> Wide {
        Wide::wide_gap(set, values, query)
    }
    fn rooms(rooms: &mut LeafBuffers) -> (&mut Vec<[f64; LEAF]>, &mut EmbeddingBuffers) {
        (&mut rooms.double, &mut rooms.embedded)
    }
}

/// How the columns of a leaf are read.
trait LeafReader: Copy {
    /// The numbers that are compared, of a tree of `E`.
    type Number<E: GapElement>: GapElement;
    /// The columns of a leaf as they are measured.
    fn read<'a, E: GapElement>(
        self,
        tree: &'a BoxTree<E>,
        leaf: usize,
        rooms: &'a mut LeafBuffers,
    ) -> &'a [[Self::Number<E>; LEAF]];
}

/// As they are kept.
#[derive(Clone, Copy)]
struct StoredLeaf;

impl LeafReader for StoredLeaf {
    type Number<E: GapElement> = E;

    #[inline(always)]
    fn read<'a, E: GapElement>(self, tree: &'a BoxTree<E>, leaf: usize, rooms: &'a mut LeafBuffers) -> &'a [[E; LEAF]] {
        kept_leaf(tree, leaf, E::rooms(rooms).0)
    }
}

/// Embedded by the metric.
#[derive(Clone, Copy)]
struct EmbeddedLeaf<'m>(&'m Metric);

impl LeafReader for EmbeddedLeaf<'_> {
    type Number<E: GapElement> = f64;

    #[inline(always)]
    fn read<'a, E: GapElement>(
        self,
        tree: &'a BoxTree<E>,
        leaf: usize,
        rooms: &'a mut LeafBuffers,
    ) -> &'a [[f64; LEAF]] {
        let (room, EmbeddingBuffers { lanes, columns: embedded }) = E::rooms(rooms);
        embedded.resize(tree.width, [0.0; LEAF]);
        lanes.resize(tree.width, [0.0; LANES]);
        let kept = kept_leaf(tree, leaf, room);
        // A register or two at a time: whole columns would go to memory and back in every step.
        for first in (0..LEAF).step_by(LANES) {
            for (to, from) in lanes.iter_mut().zip(kept) {
                for (to, from) in to.iter_mut().zip(&from[first..first + LANES]) {
                    *to = from.wide();
                }
            }
            self.0.embed_lanes(tree.n_features, lanes);
            for (to, from) in embedded.iter_mut().zip(lanes.iter()) {
                to[first..first + LANES].copy_from_slice(from);
            }
        }
        let n = (tree.n_points - leaf * LEAF).min(LEAF);
        if n < LEAF {
            embedded.iter_mut().for_each(|column| column[n..].fill(f64::INFINITY));
        }
        embedded
    }
}

/// The columns of a leaf, where they lie or unpacked in `room`.
#[inline(always)]
fn kept_leaf<'a, E: PointElement>(tree: &'a BoxTree<E>, leaf: usize, room: &'a mut Vec<[E; LEAF]>) -> &'a [[E; LEAF]] {
    let d = tree.n_features;
    match &tree.leaves {
        Leaves::Plain(leaves) => leaves[leaf * d * LEAF..][..d * LEAF].as_chunks().0,
        Leaves::Tight(leaves) => {
            room.resize(d, [E::default(); LEAF]);
            leaves.unpack(leaf, tree.n_points, room);
            room
        }
    }
}

versions! {
    /// Visits the nodes that may hold a candidate, nearest first.
    fn descend<E: GapElement, R: LeafReader, N: Norm>(
        set: impl Instructions, tree: &BoxTree<E>, reader: R, query: &[f64], margin: SumMargin<N>, scratch: &mut BoxTreeScratch,
    ) {
        let BoxTreeScratch { narrow, candidates, frames, rooms, visited, .. } = scratch;
        let top = tree.boxes.len() - 1;
        let mut level = top;
        expand(set, tree, level, 0, narrow, margin.norm, frames);
        loop {
            let at = frames.next[level];
            let child = if at < LANES { frames.children[level][at] } else { u32::MAX };
            if child & !15 > candidates.cutoff.to_bits() {
                if level == top {
                    return;
                }
                level += 1;
                continue;
            }
            frames.next[level] += 1;
            let number = frames.node[level] * LANES + (child & 15) as usize;
            if level == 0 {
                *visited += LEAF;
                // The leaf after this one is fetched while this one is compared.
                let next = if at + 1 < LANES { frames.children[0][at + 1] } else { u32::MAX };
                if next & !15 <= candidates.cutoff.to_bits() {
                    fetch(tree, frames.node[0] * LANES + (next & 15) as usize);
                }
                let columns = reader.read(tree, number, rooms);
                scan_leaf(set, columns, number, query, narrow, margin, candidates);
            } else {
                level -= 1;
                expand(set, tree, level, number, narrow, margin.norm, frames);
            }
        }
    }
}

/// Prefetches a leaf.
#[inline(always)]
fn fetch<E: GapElement>(tree: &BoxTree<E>, leaf: usize) {
    let width = tree.n_features * LEAF;
    match &tree.leaves {
        Leaves::Plain(leaves) => prefetch(leaves.get(leaf * width..(leaf + 1) * width).unwrap_or_default()),
        Leaves::Tight(leaves) => prefetch(leaves.leaf(leaf)),
    }
}

/// Takes the distance to the sixteen boxes of a node and sorts them, nearest first.
///
/// The child's number takes the place of the four lowest bits of its distance, which only lowers it.
#[inline(always)]
fn expand<S: Instructions, E: GapElement, N: Norm>(
    set: S,
    tree: &BoxTree<E>,
    level: usize,
    node: usize,
    query: &[f32],
    norm: N,
    frames: &mut NodeFrames,
) {
    let width = query.len() * 2 * LANES;
    let bounds = &tree.boxes[level][node * width..][..width];
    let mut sums = [0.0f32; LANES];
    for (column, &q) in bounds.chunks_exact(2 * LANES).zip(query) {
        let (low, high) = column.split_at(LANES);
        for lane in 0..LANES {
            let inside = smaller(larger(q, low[lane]), high[lane]);
            sums[lane] = norm.add(set, sums[lane], inside - q);
        }
    }
    let keys = &mut frames.children[level];
    for lane in 0..LANES {
        keys[lane] = sums[lane].to_bits() & !15 | lane as u32;
    }
    sort(set, keys);
    frames.next[level] = 0;
    frames.node[level] = node;
}

/// Compares the points of a leaf.
#[inline(always)]
fn scan_leaf<S: Instructions, E: GapElement, N: Norm>(
    set: S,
    columns: &[[E; LEAF]],
    leaf: usize,
    query: &[f64],
    narrow: &[f32],
    margin: SumMargin<N>,
    candidates: &mut LeafCandidates,
) {
    // Three named registers: an array of them would be kept in memory.
    let (mut first, mut second, mut third) = (Wide::ZERO, Wide::ZERO, Wide::ZERO);
    for ((column, &q), &q32) in columns.iter().zip(query).zip(narrow) {
        let column = column.as_chunks::<LANES>().0;
        first = margin.norm.add_wide(set, first, E::gap(set, &column[0], q, q32));
        second = margin.norm.add_wide(set, second, E::gap(set, &column[1], q, q32));
        third = margin.norm.add_wide(set, third, E::gap(set, &column[2], q, q32));
    }
    let sums = [first.lanes(), second.lanes(), third.lanes()];
    let mut mask = under(set, &sums, candidates.cutoff);
    if mask.count_ones() as usize > candidates.wanted.saturating_add(2) && candidates.wanted <= LANES {
        candidates.foresee(set, &sums, margin);
        mask = under(set, &sums, candidates.cutoff);
    }
    while mask != 0 {
        let place = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        let sum = sums.as_flattened()[place];
        if sum <= candidates.cutoff {
            candidates.insert(sum, leaf * LEAF + place, margin);
        }
    }
}

/// Bit i is set where the i-th sum is at most the cutoff.
#[inline(always)]
fn under<S: Instructions>(set: S, sums: &[[f32; LANES]; LEAF / LANES], cutoff: f32) -> u64 {
    let [first, second, third] = sums;
    u64::from(at_most(set, first, cutoff))
        | u64::from(at_most(set, second, cutoff)) << LANES
        | u64::from(at_most(set, third, cutoff)) << (2 * LANES)
}
