//! A vantage-point tree: any metric that obeys the triangle inequality.
//!
//! **Idea.** Pick a point v of the set, sort the others by their distance to it, cut in the middle: the near half lies within
//! distances `[a, b]` of v, the far half within `[c, e]`. For a query at distance t from v, every point at distance s from v is at
//! least `|t - s|` away, so a half whose interval is farther from t than the k-th neighbour so far is skipped whole. Only distances are
//! asked for, so rows, strings and a user's own objects are all the same to it.
//!
//! **Exactness.** Distances are rounded; [`Space::slack`] widens each test by what rounding may have done to its three distances.
//!
//! **Cost.** Build n log2(n / LEAF) distances; memory ceil(log2 n) bits per point for the order and at most a byte for the distances.
//!
//! Reference: Yianilos (1993), "Data structures and algorithms for nearest neighbor search in general metric spaces".

use super::metric::Metric;
use super::nearest::Nearest;
use super::packed::Packed;
use super::rows::{Element, Kept, Points};
use crate::error::{Error, Result};
use crate::section::Sections;
use rayon::prelude::*;
use std::ops::Range;

/// Up to this many points are simply measured one by one.
const LEAF: usize = 32;
/// Candidates for a vantage point, and points that they are tried on.
const TRIALS: (usize, usize) = (6, 32);

/// Points of any sort with a distance that obeys the triangle inequality.
pub trait Space: Sync {
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
    /// How far off, as a share of themselves, distances may be (0 for counts).
    fn slack(&self) -> f64;
}

/// Rows under a [`Metric`].
pub(super) struct RowSpace<'a> {
    pub(super) points: &'a Points,
    pub(super) metric: &'a Metric,
}

impl RowSpace<'_> {
    /// A point, to be used as a query.
    pub(super) fn row(&self, point: u32) -> Vec<f64> {
        let d = self.points.n_features();
        match self.points.kept() {
            Kept::F32(v) => v[point as usize * d..][..d].iter().map(|v| v.wide()).collect(),
            Kept::F64(v) => v[point as usize * d..][..d].to_vec(),
        }
    }
}

impl Space for RowSpace<'_> {
    type Query = [f64];

    fn len(&self) -> usize {
        self.points.n_rows()
    }

    fn between(&self, a: u32, b: u32) -> f64 {
        let d = self.points.n_features();
        match self.points.kept() {
            Kept::F32(_) => self.to(&self.row(a), b),
            Kept::F64(v) => self.metric.distance(&v[a as usize * d..][..d], &v[b as usize * d..][..d]),
        }
    }

    fn to(&self, query: &[f64], point: u32) -> f64 {
        let d = self.points.n_features();
        match self.points.kept() {
            Kept::F32(v) => self.metric.distance(query, &v[point as usize * d..][..d]),
            Kept::F64(v) => self.metric.distance(query, &v[point as usize * d..][..d]),
        }
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

/// The tree: an order of the points, and what is known about the halves of each node. Which points a node holds follows from the number of points alone:
/// the first of them is the vantage point, unless there are at most `LEAF`, then come the near half and the far half.
#[derive(Debug, Clone, PartialEq)]
pub struct VantageTree {
    n_points: usize,
    order: Packed,
    /// Of node i; the node of its near half is number 2 i + 1, that of its far half 2 i + 2.
    spans: Vec<Spans>,
}

/// Smallest and largest distances from a vantage point.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Spans {
    near: (f32, f32),
    far: (f32, f32),
}

impl VantageTree {
    /// A tree over all points of `space`.
    pub fn build<S: Space>(space: &S) -> VantageTree {
        let n_points = space.len();
        let mut order: Vec<u32> = (0..n_points as u32).collect();
        let mut spans = vec![Spans::default(); n_nodes(n_points)];
        for (number, found) in build_node(space, &mut order, 0) {
            spans[number] = found;
        }
        let order = Packed::new(order.into_iter(), n_points.saturating_sub(1) as u32);
        VantageTree { n_points, order, spans }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.order.bytes() + self.spans.len() * size_of::<Spans>()
    }

    /// Writes order and spans.
    pub fn save(&self, sections: &mut Sections) {
        self.order.save(sections, "order");
        let spans: Vec<f32> = self.spans.iter().flat_map(|s| [s.near.0, s.near.1, s.far.0, s.far.1]).collect();
        sections.put_f32s("spans", &spans);
    }

    /// Reads a tree over `n` points, and checks that a search in it finds each of them once.
    pub fn load(sections: &Sections, n: usize) -> Result<VantageTree> {
        let broken = || Error::model_file("the parts of a vantage-point tree don't fit together");
        let largest = n.checked_sub(1).and_then(|n| u32::try_from(n).ok()).ok_or_else(broken)?;
        let order = Packed::load(sections, "order", n, largest)?;
        let spans: Vec<Spans> = (sections.f32s("spans")?.as_chunks().0.iter())
            .map(|&[a, b, c, d]| Spans { near: (a, b), far: (c, d) })
            .collect();
        let mut seen = vec![false; n];
        let ordered = (0..n).all(|i| !std::mem::replace(&mut seen[order.get(i) as usize], true));
        if !ordered || spans.len() != n_nodes(n) {
            return Err(broken());
        }
        Ok(VantageTree { n_points: n, order, spans })
    }

    /// Offers to `best` the points that belong there.
    pub fn search<S: Space>(&self, space: &S, query: &S::Query, best: &mut Nearest) {
        self.visit(space, query, 0, 0..self.n_points, best);
    }

    fn visit<S: Space>(&self, space: &S, query: &S::Query, number: usize, range: Range<usize>, best: &mut Nearest) {
        if range.len() <= LEAF {
            for point in range.map(|place| self.order.get(place) as u32) {
                best.offer(space.to(query, point), point);
            }
            return;
        }
        let vantage = self.order.get(range.start) as u32;
        let distance = space.to(query, vantage);
        best.offer(distance, vantage);
        let t = space.straight(distance);
        let middle = range.start + 1 + near_half(range.len());
        let spans = &self.spans[number];
        let near = (2 * number + 1, range.start + 1..middle, gap(t, spans.near));
        let far = (2 * number + 2, middle..range.end, gap(t, spans.far));
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

/// Numbers that nodes which aren't leaves may have, in a tree over `n` points.
fn n_nodes(n: usize) -> usize {
    let levels = std::iter::successors(Some(n), |n| Some(n / 2)).take_while(|&n| n > LEAF).count();
    (1 << levels) - 1
}

/// How far `t` is from the interval.
fn gap(t: f64, span: (f32, f32)) -> f64 {
    (f64::from(span.0) - t).max(t - f64::from(span.1)).max(0.0)
}

/// Orders the points of node `number`; its spans and those below.
fn build_node<S: Space>(space: &S, order: &mut [u32], number: usize) -> Vec<(usize, Spans)> {
    if order.len() <= LEAF {
        return Vec::new();
    }
    let vantage = pick_vantage(space, order);
    let middle = near_half(order.len());
    order.swap(0, vantage);
    let (head, rest) = order.split_at_mut(1);
    let measure = |&point: &u32| (space.straight(space.between(head[0], point)), point);
    let mut measured: Vec<(f64, u32)> =
        if rest.len() > 2048 { rest.par_iter().map(measure).collect() } else { rest.iter().map(measure).collect() };
    measured.select_nth_unstable_by(middle, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    rest.iter_mut().zip(&measured).for_each(|(to, from)| *to = from.1);
    let spans = Spans { near: span(&measured[..middle]), far: span(&measured[middle..]) };
    drop(measured);
    let (near, far) = rest.split_at_mut(middle);
    let (near_at, far_at) = (2 * number + 1, 2 * number + 2);
    let (near, far) = if near.len() > 1024 {
        rayon::join(|| build_node(space, near, near_at), || build_node(space, far, far_at))
    } else {
        (build_node(space, near, near_at), build_node(space, far, far_at))
    };
    [vec![(number, spans)], near, far].concat()
}

/// The place of the candidate whose distances to a sample of the points vary most: a corner, which separates best.
fn pick_vantage<S: Space>(space: &S, order: &[u32]) -> usize {
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
