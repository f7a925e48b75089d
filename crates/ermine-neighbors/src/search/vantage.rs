//! A vantage-point tree: any metric that obeys the triangle inequality.
//!
//! **Idea.** Pick a point v of the set, sort the others by their distance to it, cut in the middle: the near half lies within
//! distances `[a, b]` of v, the far half within `[c, e]`. For a query at distance t from v, every point at distance s from v is at
//! least `|t - s|` away, so a half whose interval is farther from t than the k-th neighbor so far is skipped. Only distances are
//! used, so it works for rows, strings and custom objects alike.
//!
//! **Exactness.** Distances are rounded; [`MetricSpace::slack`] widens each test by what rounding may have done to its three distances.
//!
//! **Cost.** Build n log2(n / leaf) distances. Memory about `log2(n / leaf) + 2` bits a point for which points are where (`row_sets`) and 20 bytes a leaf for the
//! distances. A leaf has up to `LEAF` points, or twice, four times, ... as many, until the whole fits in what it is given: among rows of one or two
//! numbers, leaves are large.
//!
//! Reference: Yianilos (1993), "Data structures and algorithms for nearest neighbor search in general metric spaces".

use super::measured::Measured;
use super::nearest::Nearest;
use super::packed::PackedNumbers;
use super::row_sets::RowSets;
use ermine_core::distance::metric::Metric;
use ermine_core::distance::rows::{Points, StoredPoints};
use ermine_core::error::{Error, Result};
use ermine_core::parallel;
use ermine_core::section::Sections;
use std::ops::Range;

/// Up to this many points are simply measured one by one, where memory allows.
const LEAF: usize = 32;
/// Candidates for a vantage point, and points that they are tried on.
const TRIALS: (usize, usize) = (6, 32);

/// Points of any sort with a distance that obeys the triangle inequality.
pub trait MetricSpace: Sync {
    /// What can be asked about.
    type Query: ?Sized + Sync;
    /// Number of points.
    fn len(&self) -> usize;
    /// Whether there are no points.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The distance between two points.
    fn between(&self, a: u32, b: u32) -> f64;
    /// The distance between a query and a point.
    fn to(&self, query: &Self::Query, point: u32) -> f64;
    /// The scale on which the triangle inequality holds; the distance itself, nearly always.
    fn straight(&self, distance: f64) -> f64 {
        distance
    }
    /// Relative error bound of distances (0 for counts).
    fn slack(&self) -> f64;
}

/// Rows under a [`Metric`].
pub(super) struct MetricRows<'a> {
    pub(super) points: &'a Points,
    pub(super) metric: &'a Metric,
}

impl MetricRows<'_> {
    /// A point, to be used as a query.
    pub(super) fn row(&self, point: u32) -> Vec<f64> {
        let measured = Measured::new(self.points, self.metric);
        let mut row = vec![0.0; measured.width()];
        measured.copy(point as usize, &mut row);
        row
    }
}

impl MetricSpace for MetricRows<'_> {
    type Query = [f64];

    fn len(&self) -> usize {
        self.points.n_rows()
    }

    fn between(&self, a: u32, b: u32) -> f64 {
        let d = self.points.n_features();
        match self.points.kept() {
            StoredPoints::F64(v) if !self.points.are_given() => self.to(&v[a as usize * d..][..d], b),
            _ => self.to(&self.row(a), b),
        }
    }

    fn to(&self, query: &[f64], point: u32) -> f64 {
        Measured::new(self.points, self.metric).distance(query, point as usize)
    }

    fn straight(&self, distance: f64) -> f64 {
        self.metric.norm_of(distance)
    }

    fn slack(&self) -> f64 {
        // A user's own function may round more than a sum of d terms does.
        let own = if matches!(self.metric, Metric::Custom(_)) { 1e-9 } else { 0.0 };
        own + 64.0 * (self.points.n_features() as f64 + 16.0) * f64::EPSILON
    }
}

/// The tree: which points are where, and what is known about the halves of each node. All leaves are equally deep, and which places a node has follows from
/// the number of points alone: its vantage point (unless it is a leaf), the near half, the far half.
#[derive(Debug, Clone, PartialEq)]
pub struct VantageTree {
    n_points: usize,
    levels: u32,
    /// The vantage point of node i; the node of its near half is number 2 i + 1, that of its far half 2 i + 2.
    vantages: PackedNumbers,
    spans: Vec<DistanceSpans>,
    /// The points of every leaf.
    leaves: RowSets,
}

/// Smallest and largest distances from a vantage point.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct DistanceSpans {
    near: (f32, f32),
    far: (f32, f32),
}

impl VantageTree {
    /// A tree over all points of `space` that takes no more than `most` bytes, if one can.
    pub fn build<S: MetricSpace>(space: &S, most: usize) -> VantageTree {
        let n_points = space.len();
        let full = std::iter::successors(Some(n_points), |n| Some(n / 2)).take_while(|&n| n > LEAF).count() as u32;
        let levels = (0..=full).rev().find(|&levels| bytes_of(n_points, levels) <= most).unwrap_or(0);
        let mut order: Vec<u32> = (0..n_points as u32).collect();
        let nodes = build_node(space, &mut order, levels, 0);
        let (mut spans, mut vantages) = (vec![DistanceSpans::default(); n_nodes(levels)], vec![0; n_nodes(levels)]);
        for (number, vantage, found) in nodes {
            (spans[number], vantages[number]) = (found, vantage);
        }
        let vantages = PackedNumbers::new(vantages.into_iter(), n_points.saturating_sub(1) as u32);
        let groups = leaf_ranges(n_points, levels);
        let leaves = RowSets::new(&order, n_points >> levels, groups.into_iter());
        VantageTree { n_points, levels, vantages, spans, leaves }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.vantages.bytes() + self.spans.len() * size_of::<DistanceSpans>() + self.leaves.bytes()
    }

    /// Writes points and spans.
    pub fn save(&self, sections: &mut Sections) {
        sections.put_u32s("levels", &[self.levels]);
        self.vantages.save(sections, "vantages");
        self.leaves.save(sections);
        let spans: Vec<f32> = self.spans.iter().flat_map(|s| [s.near.0, s.near.1, s.far.0, s.far.1]).collect();
        sections.put_f32s("spans", &spans);
    }

    /// Reads a tree over `n` points, and checks that a search in it finds each of them once.
    pub fn load(sections: &Sections, n: usize) -> Result<VantageTree> {
        let broken = || Error::model_file("the parts of a vantage-point tree don't fit together");
        let largest = n.checked_sub(1).and_then(|n| u32::try_from(n).ok()).ok_or_else(broken)?;
        let levels = sections.u32s("levels")?.first().copied().filter(|&l| l < 32).ok_or_else(broken)?;
        // Every node has a point to stand on.
        (0..levels).try_fold(n, |n, _| (n > 1).then(|| near_half(n))).ok_or_else(broken)?;
        let vantages = PackedNumbers::load(sections, "vantages", n_nodes(levels), largest)?;
        let groups = leaf_ranges(n, levels);
        let leaves = RowSets::load(sections, n, n >> levels, groups.iter().cloned())?;
        let spans: Vec<DistanceSpans> = (sections.f32s("spans")?.as_chunks().0.iter())
            .map(|&[a, b, c, d]| DistanceSpans { near: (a, b), far: (c, d) })
            .collect();
        let mut seen = vec![false; n];
        let mut once = true;
        let mut see = |point: u32| once &= !std::mem::replace(&mut seen[point as usize], true);
        (0..n_nodes(levels)).for_each(|node| see(vantages.get(node) as u32));
        groups.iter().enumerate().for_each(|(leaf, places)| leaves.for_each(leaf, places, &mut see));
        if !once || seen.contains(&false) || spans.len() != n_nodes(levels) {
            return Err(broken());
        }
        Ok(VantageTree { n_points: n, levels, vantages, spans, leaves })
    }

    /// Offers to `best` the points that belong there.
    pub fn search<S: MetricSpace>(&self, space: &S, query: &S::Query, best: &mut Nearest) {
        self.visit(space, query, 0, 0..self.n_points, best);
    }

    fn visit<S: MetricSpace>(
        &self,
        space: &S,
        query: &S::Query,
        number: usize,
        range: Range<usize>,
        best: &mut Nearest,
    ) {
        if number >= self.spans.len() {
            let leaf = number - self.spans.len();
            self.leaves.for_each(leaf, &range, |point| best.offer(space.to(query, point), point));
            return;
        }
        let vantage = self.vantages.get(number) as u32;
        let distance = space.to(query, vantage);
        best.offer(distance, vantage);
        let t = space.straight(distance);
        let (near_range, far_range) = halves(&range);
        let spans = &self.spans[number];
        let near = (2 * number + 1, near_range, gap(t, spans.near));
        let far = (2 * number + 2, far_range, gap(t, spans.far));
        let order = if near.2 <= far.2 { [near, far] } else { [far, near] };
        for (child, range, gap) in order {
            let limit = space.straight(best.limit());
            // |t - s| of rounded distances is off by at most the slack on either, and so is the limit.
            let margin = space.slack() * (2.0 * t + gap + limit);
            if gap <= limit + margin || limit.is_infinite() {
                self.visit(space, query, child, range, best);
            }
        }
    }
}

/// Points of the near half of a node of `n` points. (The far half has n / 2.)
fn near_half(n: usize) -> usize {
    (n - 1) / 2
}

/// Where the near half and the far half of a node lie; the vantage point has the first place.
fn halves(range: &Range<usize>) -> (Range<usize>, Range<usize>) {
    let middle = range.start + 1 + near_half(range.len());
    (range.start + 1..middle, middle..range.end)
}

/// Nodes that aren't leaves.
fn n_nodes(levels: u32) -> usize {
    (1usize << levels) - 1
}

/// Where the leaves lie, in the order of their numbers.
fn leaf_ranges(n: usize, levels: u32) -> Vec<Range<usize>> {
    let all = 0..n;
    let mut ranges = vec![all];
    for _ in 0..levels {
        ranges = ranges.iter().map(halves).flat_map(|(near, far)| [near, far]).collect();
    }
    ranges
}

/// Bytes that a tree takes.
fn bytes_of(n: usize, levels: u32) -> usize {
    let node = size_of::<DistanceSpans>() + size_of::<u32>();
    RowSets::bytes_of(n, n >> levels, 1 << levels) + n_nodes(levels) * node + 16
}

/// How far `t` is from the interval.
fn gap(t: f64, span: (f32, f32)) -> f64 {
    (f64::from(span.0) - t).max(t - f64::from(span.1)).max(0.0)
}

/// Orders the points of node `number`, with so many levels below it: its vantage point and spans and those below.
fn build_node<S: MetricSpace>(
    space: &S,
    order: &mut [u32],
    levels: u32,
    number: usize,
) -> Vec<(usize, u32, DistanceSpans)> {
    if levels == 0 {
        order.sort_unstable();
        return Vec::new();
    }
    let vantage = pick_vantage(space, order);
    let middle = near_half(order.len());
    order.swap(0, vantage);
    let (head, rest) = order.split_at_mut(1);
    let measure = |&point: &u32| (space.straight(space.between(head[0], point)), point);
    let mut measured: Vec<(f64, u32)> =
        if rest.len() > 2048 { parallel::map_items(rest, measure) } else { rest.iter().map(measure).collect() };
    measured.select_nth_unstable_by(middle, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    rest.iter_mut().zip(&measured).for_each(|(to, from)| *to = from.1);
    let spans = DistanceSpans { near: span(&measured[..middle]), far: span(&measured[middle..]) };
    drop(measured);
    let (near, far) = rest.split_at_mut(middle);
    let (near_at, far_at, below) = (2 * number + 1, 2 * number + 2, levels - 1);
    let (near, far) = if near.len() > 1024 {
        rayon::join(|| build_node(space, near, below, near_at), || build_node(space, far, below, far_at))
    } else {
        (build_node(space, near, below, near_at), build_node(space, far, below, far_at))
    };
    [vec![(number, head[0], spans)], near, far].concat()
}

/// The place of the candidate whose distances to a sample of the points vary most: a corner, which separates best.
fn pick_vantage<S: MetricSpace>(space: &S, order: &[u32]) -> usize {
    let n = order.len();
    let (candidates, sample) = (TRIALS.0.min(n), TRIALS.1.min(n));
    let spread = |candidate: usize| {
        let distances: Vec<f64> =
            (0..sample).map(|i| space.straight(space.between(order[candidate], order[i * n / sample]))).collect();
        let mean = distances.iter().sum::<f64>() / sample as f64;
        distances.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>()
    };
    let places = (0..candidates).map(|i| i * n / candidates).map(|place| (spread(place), place));
    places.max_by(|a, b| a.0.total_cmp(&b.0)).map_or(0, |(_, place)| place)
}

/// Smallest and largest distance, rounded outwards.
fn span(measured: &[(f64, u32)]) -> (f32, f32) {
    let low = measured.iter().map(|m| m.0).fold(f64::INFINITY, f64::min);
    let high = measured.iter().map(|m| m.0).fold(0.0, f64::max);
    ((low as f32).next_down(), (high as f32).next_up())
}
