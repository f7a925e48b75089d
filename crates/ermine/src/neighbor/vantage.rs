//! A vantage-point tree: any metric that obeys the triangle inequality.
//!
//! **Idea.** Pick a point v of the set, sort the others by their distance to it, cut in the middle: the near half lies within
//! distances `[a, b]` of v, the far half within `[c, e]`. For a query at distance t from v, every point at distance s from v is at
//! least `|t - s|` away, so a half whose interval is farther from t than the k-th neighbour so far is skipped whole. Only distances are
//! asked for, so rows, strings and a user's own objects are all the same to it.
//!
//! **Exactness.** Distances are rounded; [`Space::slack`] widens each test by what rounding may have done to its three distances.
//!
//! **Cost.** Build n log2(n / LEAF) distances; memory 4 bytes per point for the order and 36 per node, one node per LEAF / 2 points or so.
//!
//! Reference: Yianilos (1993), "Data structures and algorithms for nearest neighbor search in general metric spaces".

use super::metric::Metric;
use super::nearest::Nearest;
use super::rows::{Element, Kept, Points};
use crate::error::{Error, Result};
use crate::section::Sections;
use rayon::prelude::*;

/// Up to this many points are simply measured one by one.
const LEAF: usize = 24;
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

impl Space for RowSpace<'_> {
    type Query = [f64];

    fn len(&self) -> usize {
        self.points.n_rows()
    }

    fn between(&self, a: u32, b: u32) -> f64 {
        let d = self.points.n_features();
        match self.points.kept() {
            Kept::F32(v) => {
                let a: Vec<f64> = v[a as usize * d..][..d].iter().map(|v| v.wide()).collect();
                self.metric.distance(&a, &v[b as usize * d..][..d])
            }
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

/// The tree: an order of the points, cut into nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct VantageTree {
    order: Vec<u32>,
    nodes: Vec<Node>,
}

/// The points `order[first..end]`. The first is the vantage point, unless this is a leaf.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Node {
    first: u32,
    end: u32,
    /// Number of the node of the far half; the near half's is the next one. 0 for a leaf.
    far: u32,
    /// Smallest and largest distance from the vantage point in the near half.
    near_span: (f32, f32),
    /// The same in the far half.
    far_span: (f32, f32),
}

impl VantageTree {
    /// A tree over all points of `space`.
    pub fn build<S: Space>(space: &S) -> VantageTree {
        let mut order: Vec<u32> = (0..space.len() as u32).collect();
        let nodes = build_node(space, &mut order, 0);
        VantageTree { order, nodes }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.order.len() * 4 + self.nodes.len() * size_of::<Node>()
    }

    /// Writes order and nodes.
    pub fn save(&self, sections: &mut Sections) {
        sections.put_u32s("order", &self.order);
        let places: Vec<u32> = self.nodes.iter().flat_map(|n| [n.first, n.end, n.far]).collect();
        let spans: Vec<f32> =
            self.nodes.iter().flat_map(|n| [n.near_span.0, n.near_span.1, n.far_span.0, n.far_span.1]).collect();
        sections.put_u32s("nodes", &places);
        sections.put_f32s("spans", &spans);
    }

    /// Reads a tree over `n` points, and checks that a search in it ends and stays in bounds.
    pub fn load(sections: &Sections, n: usize) -> Result<VantageTree> {
        let order = sections.u32s("order")?;
        let (places, spans) = (sections.u32s("nodes")?, sections.f32s("spans")?);
        let pairs = places.as_chunks().0.iter().zip(spans.as_chunks().0);
        let nodes: Vec<Node> = pairs
            .map(|(&[first, end, far], &[a, b, c, d])| Node { first, end, far, near_span: (a, b), far_span: (c, d) })
            .collect();
        let (mut seen, last) = (vec![false; n], nodes.len());
        let ordered = order.len() == n
            && order.iter().all(|&p| seen.get_mut(p as usize).is_some_and(|seen| !std::mem::replace(seen, true)));
        let sound = nodes.iter().enumerate().all(|(i, node)| {
            let far = node.far as usize;
            let range = node.first <= node.end && node.end as usize <= n;
            range && (far == 0 || (node.first < node.end && i + 1 < far && far < last))
        });
        if !ordered || !sound || last == 0 || places.len() != 3 * last || spans.len() != 4 * last {
            return Err(Error::model_file("the parts of a vantage-point tree don't fit together"));
        }
        Ok(VantageTree { order, nodes })
    }

    /// Offers to `best` the points that belong there.
    pub fn search<S: Space>(&self, space: &S, query: &S::Query, best: &mut Nearest) {
        self.visit(space, query, 0, best);
    }

    fn visit<S: Space>(&self, space: &S, query: &S::Query, number: usize, best: &mut Nearest) {
        let node = &self.nodes[number];
        if node.far == 0 {
            for &point in &self.order[node.first as usize..node.end as usize] {
                best.offer(space.to(query, point), point);
            }
            return;
        }
        let vantage = self.order[node.first as usize];
        let distance = space.to(query, vantage);
        best.offer(distance, vantage);
        let t = space.straight(distance);
        let near = (number + 1, gap(t, node.near_span));
        let far = (node.far as usize, gap(t, node.far_span));
        let (first, second) = if near.1 <= far.1 { (near, far) } else { (far, near) };
        for (child, gap) in [first, second] {
            let limit = space.straight(best.limit());
            // |t - s| of rounded distances is off by at most the slack on either, and so is the limit.
            let margin = space.slack() * (2.0 * t + gap + limit);
            if gap <= limit + margin || limit.is_infinite() {
                self.visit(space, query, child, best);
            }
        }
    }
}

/// How far `t` is from the interval.
fn gap(t: f64, span: (f32, f32)) -> f64 {
    (f64::from(span.0) - t).max(t - f64::from(span.1)).max(0.0)
}

/// Nodes of the subtree over `order`, whose first point is number `first` of the whole order; children are numbered within.
fn build_node<S: Space>(space: &S, order: &mut [u32], first: usize) -> Vec<Node> {
    let end = first + order.len();
    let mut node = Node { first: first as u32, end: end as u32, far: 0, near_span: (0.0, 0.0), far_span: (0.0, 0.0) };
    if order.len() <= LEAF {
        return vec![node];
    }
    let vantage = pick_vantage(space, order);
    order.swap(0, vantage);
    let (head, rest) = order.split_at_mut(1);
    let measure = |&point: &u32| (space.straight(space.between(head[0], point)), point);
    let mut measured: Vec<(f64, u32)> =
        if rest.len() > 2048 { rest.par_iter().map(measure).collect() } else { rest.iter().map(measure).collect() };
    let middle = measured.len() / 2;
    measured.select_nth_unstable_by(middle, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    rest.iter_mut().zip(&measured).for_each(|(to, from)| *to = from.1);
    node.near_span = span(&measured[..middle]);
    node.far_span = span(&measured[middle..]);
    drop(measured);
    let (near, far) = rest.split_at_mut(middle);
    let (near_at, far_at) = (first + 1, first + 1 + middle);
    let (near, far) = if near.len() > 1024 {
        rayon::join(|| build_node(space, near, near_at), || build_node(space, far, far_at))
    } else {
        (build_node(space, near, near_at), build_node(space, far, far_at))
    };
    node.far = 1 + near.len() as u32;
    let mut nodes = vec![node];
    // Children know their place within their own list: move it behind what comes before.
    let far_shift = node.far;
    let shift = |by: u32| move |node: Node| Node { far: if node.far == 0 { 0 } else { node.far + by }, ..node };
    nodes.extend(near.into_iter().map(shift(1)));
    nodes.extend(far.into_iter().map(shift(far_shift)));
    nodes
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
