//! Tree construction: sorts the points by median splits, stores them in leaves and computes the boxes bottom-up.

use super::numbers::LeafPositions;
use super::tight::PackedLeaves;
use super::{BoxTree, LEAF, Leaves};
use crate::search::aligned::Aligned;
use crate::search::lanes::LANES;
use crate::search::measured::SPARE_SHARE;
use crate::search::packed::bits;
use ermine_core::distance::metric::Metric;
use ermine_core::distance::rows::PointElement;
use ermine_core::parallel;

/// Smaller splits run on one thread.
const PARALLEL: usize = 4096;
/// Points sampled to find the widest column of a split.
const SAMPLE: usize = 64;

impl<E: PointElement> BoxTree<E> {
    /// Builds a tree over the rows of `values`, `n_features` numbers each, which the metric uses directly. There is at least one row.
    pub(in crate::search) fn build(values: &[E], n_features: usize) -> BoxTree<E> {
        let as_sets = needs_sets::<E>(values.len() / n_features, n_features, n_features);
        let order = ordered(values, n_features, as_sets);
        let leaves = lay_out(values, n_features, &order);
        let boxes = all_boxes(&leaves, order.len(), n_features);
        let rows = numbered(&order, as_sets);
        let (n_points, leaves) = (order.len(), Leaves::Plain(leaves));
        let (width, given, largest) = (n_features, false, largest(values));
        BoxTree { n_points, n_features, width, given, leaves, rows, largest, boxes }.tightened()
    }

    /// Builds a tree over rows that are stored as given: `embedded` are the embedded rows, `width` numbers each.
    pub(in crate::search) fn build_given(
        values: &[E],
        n_features: usize,
        embedded: &[f64],
        width: usize,
    ) -> BoxTree<E> {
        let as_sets = needs_sets::<E>(values.len() / n_features, n_features, width);
        let order = ordered(embedded, width, as_sets);
        let boxes = all_boxes(&lay_out(embedded, width, &order), order.len(), width);
        let leaves = lay_out(values, n_features, &order);
        let rows = numbered(&order, as_sets);
        let (n_points, leaves) = (order.len(), Leaves::Plain(leaves));
        let (given, largest) = (true, largest(embedded));
        BoxTree { n_points, n_features, width, given, leaves, rows, largest, boxes }.tightened()
    }

    /// The bounding boxes of the points, and the largest absolute embedded value.
    pub(super) fn boxes_of_points(&self, metric: &Metric) -> (Vec<Aligned<f32>>, f64) {
        let (width, mut most) = (self.width, 0.0);
        let mut measured = Aligned::filled(f64::INFINITY, self.n_points.div_ceil(LEAF) * width * LEAF);
        let mut point = vec![0.0; width];
        for place in 0..self.n_points {
            self.copy_point(metric, place, &mut point);
            most = largest(&point).max(most);
            let first = place / LEAF * LEAF * width + place % LEAF;
            point.iter().enumerate().for_each(|(column, v)| measured[first + column * LEAF] = *v);
        }
        (all_boxes(&measured, self.n_points, width), most)
    }

    /// Packs the leaves if the tree takes too much memory and packing helps.
    fn tightened(mut self) -> BoxTree<E> {
        let Leaves::Plain(plain) = &self.leaves else { return self };
        let (points, leaves) = (self.n_points * self.n_features * size_of::<E>(), plain.len() * size_of::<E>());
        if (self.beside() + leaves) as f64 > (1.0 + SPARE_SHARE) * points as f64 {
            let tight = PackedLeaves::pack(plain, self.n_points, self.n_features);
            if tight.bytes() < leaves {
                self.leaves = Leaves::Tight(tight);
            }
        }
        self
    }
}

/// Whether plain row numbers and boxes would exceed their memory budget.
fn needs_sets<E: PointElement>(n_points: usize, n_features: usize, width: usize) -> bool {
    let levels = std::iter::successors(Some(n_points.div_ceil(LEAF).div_ceil(LANES)), |&nodes| {
        (nodes > 1).then(|| nodes.div_ceil(LANES))
    });
    let boxes = levels.sum::<usize>() * 2 * LANES * width * size_of::<f32>();
    let leaves = n_points.div_ceil(LEAF) * LEAF * n_features * E::BYTES;
    let numbers = n_points * bits(n_points as u32 - 1) as usize / 8 + 16;
    (boxes + leaves + numbers) as f64 > (1.0 + SPARE_SHARE) * (n_points * n_features * E::BYTES) as f64
}

/// The row numbers of an order.
fn numbered(order: &[u64], as_sets: bool) -> LeafPositions {
    let rows: Vec<u32> = order.iter().map(|&entry| entry as u32).collect();
    LeafPositions::new(&rows, as_sets)
}

/// The rows (in the low halves) in tree order, ascending within each leaf if they are stored as sets.
fn ordered<E: PointElement>(values: &[E], n_features: usize, as_sets: bool) -> Vec<u64> {
    let n_points = values.len() / n_features;
    let mut order: Vec<u64> = (0..n_points as u64).collect();
    let mut run = LEAF;
    while run < n_points {
        run *= LANES;
    }
    split(values, n_features, &mut order, run);
    if as_sets {
        parallel::for_each_row(&mut order, LEAF, |_, leaf| leaf.sort_unstable_by_key(|&entry| entry as u32));
    }
    order
}

/// The largest absolute value.
fn largest<E: PointElement>(values: &[E]) -> f64 {
    values.iter().fold(0.0, |most: f64, v| if v.wide().abs() > most { v.wide().abs() } else { most })
}

/// The boxes of all levels, leaves' parents first.
fn all_boxes<E: PointElement>(leaves: &[E], n_points: usize, width: usize) -> Vec<Aligned<f32>> {
    let mut boxes = vec![leaf_boxes(leaves, n_points, width)];
    let mut nodes = n_points.div_ceil(LEAF).div_ceil(LANES);
    while nodes > 1 {
        boxes.push(parent_boxes(&boxes[boxes.len() - 1], width));
        nodes = nodes.div_ceil(LANES);
    }
    boxes
}

/// The boxes of the leaves.
fn leaf_boxes<E: PointElement>(leaves: &[E], n_points: usize, d: usize) -> Aligned<f32> {
    let nodes = n_points.div_ceil(LEAF).div_ceil(LANES);
    let mut boxes = Aligned::filled(f32::INFINITY, nodes * d * 2 * LANES);
    parallel::for_each_row(&mut boxes, d * 2 * LANES, |node, bounds| {
        for child in 0..LANES {
            let leaf = node * LANES + child;
            let n = n_points.saturating_sub(leaf * LEAF).min(LEAF);
            for column in 0..d {
                if n > 0 {
                    let (low, high) = range(&leaves[(leaf * d + column) * LEAF..][..n]);
                    bounds[column * 2 * LANES + child] = low;
                    bounds[column * 2 * LANES + LANES + child] = high;
                }
            }
        }
    });
    boxes
}

/// Smallest and largest value, rounded outwards.
fn range<E: PointElement>(values: &[E]) -> (f32, f32) {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for value in values {
        low = if value.wide() < low { value.wide() } else { low };
        high = if value.wide() > high { value.wide() } else { high };
    }
    (round_down(low), round_up(high))
}

/// Reorders `order` (row numbers in the low halves) so that every run of `run` points is a subtree, down to leaves.
fn split<E: PointElement>(values: &[E], d: usize, order: &mut [u64], mut run: usize) {
    while order.len() <= run {
        if run == LEAF {
            return;
        }
        run /= LANES;
    }
    let left = (order.len().div_ceil(run) / 2) * run;
    let column = widest_column(values, d, order);
    for entry in order.iter_mut() {
        let row = *entry as u32;
        *entry = u64::from(ascending(values[row as usize * d + column])) << 32 | u64::from(row);
    }
    order.select_nth_unstable(left);
    let parallel = order.len() > PARALLEL;
    let (below, above) = order.split_at_mut(left);
    if parallel {
        rayon::join(|| split(values, d, below, run), || split(values, d, above, run));
    } else {
        split(values, d, below, run);
        split(values, d, above, run);
    }
}

/// The column with the largest variance in an even sample of the points.
fn widest_column<E: PointElement>(values: &[E], d: usize, order: &[u64]) -> usize {
    if d == 1 {
        return 0;
    }
    let count = order.len().min(SAMPLE);
    let row_of = |i: usize| order[i * order.len() / count] as u32 as usize * d;
    let origin = row_of(0);
    let mut moments = vec![(0.0f64, 0.0f64); d];
    for i in 0..count {
        let row = &values[row_of(i)..][..d];
        for (column, (first, second)) in moments.iter_mut().enumerate() {
            let t = row[column].wide() - values[origin + column].wide();
            *first += t;
            *second += t * t;
        }
    }
    let spread = |(first, second): (f64, f64)| second - first * first / count as f64;
    let widest = moments.iter().enumerate().max_by(|a, b| spread(*a.1).total_cmp(&spread(*b.1)));
    widest.map_or(0, |(column, _)| column)
}

/// A single-precision number as bits that sort in the same order.
#[inline(always)]
fn ascending<E: PointElement>(value: E) -> u32 {
    // Adding 0 turns -0 into 0, so that equal numbers have equal bits.
    let bits = (value.wide() as f32 + 0.0).to_bits();
    bits ^ (((bits as i32 >> 31) as u32) | 0x8000_0000)
}

/// Copies the points into leaves, in tree order.
fn lay_out<E: PointElement>(values: &[E], d: usize, order: &[u64]) -> Aligned<E> {
    let mut leaves = Aligned::filled(E::narrow(f64::INFINITY), order.len().div_ceil(LEAF) * d * LEAF);
    parallel::for_each_row(&mut leaves, d * LEAF, |k, leaf| {
        for (place, &entry) in order[k * LEAF..].iter().take(LEAF).enumerate() {
            let row = &values[entry as u32 as usize * d..][..d];
            for (column, &value) in row.iter().enumerate() {
                leaf[column * LEAF + place] = value;
            }
        }
    });
    leaves
}

/// The boxes one level up: each node's box becomes one lane of its parent.
fn parent_boxes(below: &[f32], d: usize) -> Aligned<f32> {
    let width = d * 2 * LANES;
    let nodes = below.len() / width;
    let mut boxes = Aligned::filled(f32::INFINITY, nodes.div_ceil(LANES) * width);
    for (node, bounds) in below.chunks_exact(width).enumerate() {
        let parent = &mut boxes[node / LANES * width..][..width];
        for column in 0..d {
            let (low, high) = bounds[column * 2 * LANES..][..2 * LANES].split_at(LANES);
            // Absent children have infinite bounds.
            let there = |v: &&f32| **v < f32::INFINITY;
            let at = column * 2 * LANES + node % LANES;
            parent[at] = low.iter().copied().fold(f32::INFINITY, f32::min);
            parent[at + LANES] = high.iter().filter(there).copied().fold(f32::NEG_INFINITY, f32::max);
        }
    }
    boxes
}

fn round_down(value: f64) -> f32 {
    let near = value as f32;
    if f64::from(near) > value { near.next_down() } else { near }
}

fn round_up(value: f64) -> f32 {
    let near = value as f32;
    if f64::from(near) < value { near.next_up() } else { near }
}
