//! Approximate search: a graph of links between near points, in layers (HNSW).
//!
//! **Idea.** Every point is linked to some near points. A search walks to linked points that are nearer to the query, keeping the `width` nearest candidates, until none leads nearer. Upper layers
//! have ever fewer points (one in [`LINKS`] of the layer below), so that the first steps are long. The result is approximate, and its quality depends on the points, so the index measures its own
//! recall ([`Graph::recall`]).
//!
//! **Links.** Of the near points found, one is linked unless a linked one is nearer to it than the point itself, or equal to it (links then lead in
//! all directions, not only into the densest one); left-over places are filled with the nearest of the others.
//!
//! **The same graph on any number of threads.** Points come in a drawn order (rows are often sorted, and a graph that grows from one corner leads nowhere
//! else), in batches of an eighth of the points that came with them before: the points of a batch are placed in parallel against the graph as it was before the
//! batch, then linked in order. So a point sees nearly all of its fellows. The layer of a point follows from its number.
//!
//! **Enough neighbors.** If a walk finds fewer points than requested, all points are compared: a search for k finds k.
//!
//! **Cost.** Build about n `BUILD_WIDTH` distances times a small factor; a query about `width` times [`BASE_LINKS`] / 2 distances, whatever n is; memory 4
//! [`BASE_LINKS`] bytes a point beside the point itself.
//!
//! Reference: Malkov and Yashunin (2020), "Efficient and robust approximate nearest neighbor search using hierarchical navigable small world
//! graphs", algorithms 1, 2 and 4. Departure: batches, for speed on several cores with the same result. (Written here and not taken from a crate
//! because the same points must give the same graph on any number of threads, under every metric of this room.)

use super::nearest::Nearest;
use super::vantage::{MetricRows, MetricSpace};
use ermine_core::error::{Error, Result};
use ermine_core::parallel;
use ermine_core::rng::{self, Purpose};
use ermine_core::section::Sections;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Links of a point in each upper layer.
const LINKS: usize = 16;
/// Links of a point in the lowest layer, which holds all points.
const BASE_LINKS: usize = 2 * LINKS;
/// Number of candidates when a point is inserted.
const BUILD_WIDTH: usize = 128;
/// Points placed at once: an eighth of those that came with them before, at most this many.
const BATCH: usize = 2048;
/// More layers than 2^32 points ever fill.
const MAX_HEIGHT: u8 = 12;
/// No link.
const NONE: u32 = u32::MAX;
/// Number of queries used to measure the recall.
const SAMPLE: usize = 100;

/// A point and how far it is: ordered by (distance, number), since distances are not negative.
type NearPoint = (u64, u32);

/// The links of all points.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Graph {
    /// The highest layer of every point.
    heights: Vec<u8>,
    /// The links of the lowest layer, [`BASE_LINKS`] places for every point.
    base: Vec<u32>,
    /// Where the links of a point's upper layers begin in `upper`.
    starts: Vec<u32>,
    /// The links of the upper layers, [`LINKS`] places for every layer of a point.
    upper: Vec<u32>,
    /// The point that every walk starts from: one of the highest.
    entry: u32,
}

/// Working memory of one thread's walks.
#[derive(Default)]
pub(super) struct GraphWalk {
    /// Points seen in the walk of this number.
    seen: Vec<u32>,
    number: u32,
    /// A point that no walk steps on.
    shunned: Option<u32>,
    ahead: BinaryHeap<Reverse<NearPoint>>,
    best: BinaryHeap<NearPoint>,
}

impl Graph {
    /// A graph over all points of a space.
    pub(super) fn build(space: &MetricRows<'_>) -> Graph {
        let mut graph =
            Graph { heights: Vec::new(), base: Vec::new(), starts: Vec::new(), upper: Vec::new(), entry: 0 };
        graph.insert(space);
        graph
    }

    /// Takes in the points of `space` that aren't in the graph yet.
    pub(super) fn insert(&mut self, space: &MetricRows<'_>) {
        let first = self.heights.len();
        let mut order: Vec<u32> = (first as u32..space.len() as u32).collect();
        rng::shuffle(&mut Purpose::GraphOrder.stream(0, &[first as u64, space.len() as u64]), &mut order);
        (first..space.len()).for_each(|point| self.make_room(height(point)));
        let mut placed = 0;
        if first == 0 && !order.is_empty() {
            (self.entry, placed) = (order[0], 1);
        }
        while placed < order.len() {
            let batch = &order[placed..order.len().min(placed + (placed / 8).clamp(1, BATCH))];
            let places: Vec<Vec<Vec<u32>>> =
                batch.par_iter().map_init(GraphWalk::default, |walk, &point| self.place(space, point, walk)).collect();
            for (&point, layers) in batch.iter().zip(&places) {
                for (layer, links) in (0..).zip(layers) {
                    self.links_mut(point, layer)[..links.len()].copy_from_slice(links);
                }
            }
            self.link_back(space, batch, &places);
            for &point in batch {
                if self.heights[point as usize] > self.heights[self.entry as usize] {
                    self.entry = point;
                }
            }
            placed += batch.len();
        }
    }

    /// The links of a new point in each of its layers, lowest first.
    fn place(&self, space: &MetricRows<'_>, point: u32, walk: &mut GraphWalk) -> Vec<Vec<u32>> {
        let mut layers = vec![Vec::new(); usize::from(self.heights[point as usize]) + 1];
        let query = space.row(point);
        let top = self.heights[self.entry as usize];
        let mut from = vec![near(space.to(&query, self.entry), self.entry)];
        for layer in (0..=top).rev() {
            let linked = usize::from(layer) < layers.len();
            from = self.walk(space, &query, &from, if linked { BUILD_WIDTH } else { 1 }, layer, walk);
            if linked {
                layers[usize::from(layer)] = select(space, point, &from, LINKS);
            }
        }
        layers
    }

    /// A point without links yet.
    fn make_room(&mut self, height: u8) {
        self.heights.push(height);
        self.starts.push(self.upper.len() as u32);
        self.base.resize(self.base.len() + BASE_LINKS, NONE);
        self.upper.resize(self.upper.len() + usize::from(height) * LINKS, NONE);
    }

    /// Links the neighbors of new points back to them. If a point has too many links, they are selected again.
    fn link_back(&mut self, space: &MetricRows<'_>, batch: &[u32], places: &[Vec<Vec<u32>>]) {
        let mut back: Vec<(u8, u32, u32)> = Vec::new();
        for (&point, layers) in batch.iter().zip(places) {
            for (layer, links) in (0..).zip(layers) {
                back.extend(links.iter().map(|&to| (layer, to, point)));
            }
        }
        back.sort_unstable();
        let groups: Vec<&[(u8, u32, u32)]> = back.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).collect();
        let chosen: Vec<Vec<u32>> = parallel::map_items(&groups, |group| {
            let (layer, point, _) = group[0];
            let mut links: Vec<u32> = self.links(point, layer).iter().copied().filter(|&l| l != NONE).collect();
            links.extend(group.iter().map(|&(_, _, new)| new));
            let room = self.links(point, layer).len();
            if links.len() <= room {
                return links;
            }
            let row = space.row(point);
            let found: Vec<NearPoint> = links.iter().map(|&link| near(space.to(&row, link), link)).collect();
            select(space, point, &found, room)
        });
        for (group, links) in groups.iter().zip(&chosen) {
            let places = self.links_mut(group[0].1, group[0].0);
            places.fill(NONE);
            places[..links.len()].copy_from_slice(links);
        }
    }

    fn links(&self, point: u32, layer: u8) -> &[u32] {
        match layer {
            0 => &self.base[point as usize * BASE_LINKS..][..BASE_LINKS],
            _ => &self.upper[self.upper_start(point, layer)..][..LINKS],
        }
    }

    fn links_mut(&mut self, point: u32, layer: u8) -> &mut [u32] {
        let start = self.upper_start(point, layer.max(1));
        match layer {
            0 => &mut self.base[point as usize * BASE_LINKS..][..BASE_LINKS],
            _ => &mut self.upper[start..][..LINKS],
        }
    }

    fn upper_start(&self, point: u32, layer: u8) -> usize {
        self.starts[point as usize] as usize + (usize::from(layer) - 1) * LINKS
    }

    /// The nearest points that a walk in one layer finds, nearest first, at most `width`.
    fn walk(
        &self,
        space: &MetricRows<'_>,
        query: &[f64],
        from: &[NearPoint],
        width: usize,
        layer: u8,
        walk: &mut GraphWalk,
    ) -> Vec<NearPoint> {
        walk.begin(self.heights.len());
        for &start in from {
            walk.seen[start.1 as usize] = walk.number;
            walk.ahead.push(Reverse(start));
            walk.best.push(start);
        }
        while let Some(Reverse(here)) = walk.ahead.pop() {
            if walk.best.len() >= width && walk.best.peek().is_some_and(|&worst| here > worst) {
                break;
            }
            for &link in self.links(here.1, layer).iter().take_while(|&&link| link != NONE) {
                if std::mem::replace(&mut walk.seen[link as usize], walk.number) == walk.number {
                    continue;
                }
                let next = near(space.to(query, link), link);
                if walk.best.len() < width || walk.best.peek().is_some_and(|&worst| next < worst) {
                    walk.ahead.push(Reverse(next));
                    walk.best.push(next);
                    if walk.best.len() > width {
                        walk.best.pop();
                    }
                }
            }
        }
        let mut found = std::mem::take(&mut walk.best).into_sorted_vec();
        found.truncate(width);
        found
    }

    /// Offers to `best` the points that a walk with `width` places finds. Within a radius the width is doubled until the walk leaves it.
    pub(super) fn search(
        &self,
        space: &MetricRows<'_>,
        query: &[f64],
        width: usize,
        best: &mut Nearest,
        walk: &mut GraphWalk,
    ) {
        let top = self.heights[self.entry as usize];
        let mut from = vec![near(space.to(query, self.entry), self.entry)];
        for layer in (1..=top).rev() {
            from = self.walk(space, query, &from, 1, layer, walk);
        }
        let by_radius = best.wanted() == usize::MAX;
        let mut width = if by_radius { width } else { width.max(best.wanted()) };
        let mut found = loop {
            let found = self.walk(space, query, &from, width, 0, walk);
            let inside = found.last().is_some_and(|&(bits, _)| f64::from_bits(bits) <= best.limit());
            if !by_radius || !inside || found.len() < width {
                break found;
            }
            width *= 2;
        };
        found.retain(|&(_, point)| walk.shunned != Some(point));
        if !by_radius && found.len() < best.wanted().min(space.len()) {
            let others = (0..space.len() as u32).filter(|&point| walk.shunned != Some(point));
            return others.for_each(|point| best.offer(space.to(query, point), point));
        }
        found.iter().for_each(|&(bits, point)| best.offer(f64::from_bits(bits), point));
    }

    /// The share of the true `k` nearest that searches of this width find, measured on some of the points as if they weren't there.
    pub(super) fn recall(&self, space: &MetricRows<'_>, width: usize, k: usize) -> f64 {
        let n = space.len();
        let (sample, k) = (SAMPLE.min(n), k.min(n - 1));
        if k == 0 {
            return 1.0;
        }
        let hits = (0..sample).into_par_iter().map_init(GraphWalk::default, |walk, i| {
            let point = (i * n / sample) as u32;
            let query = space.row(point);
            let (mut exact, mut found) = (Nearest::k(k), Nearest::k(k));
            walk.shunned = Some(point);
            (0..n as u32).filter(|&other| other != point).for_each(|other| exact.offer(space.to(&query, other), other));
            self.search(space, &query, width, &mut found, walk);
            let last = exact.sorted().last().map_or(0.0, |last| last.0);
            found.sorted().iter().filter(|near| near.0 <= last && near.1 != point).count()
        });
        hits.sum::<usize>() as f64 / (sample * k) as f64
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.heights.len() + (self.base.len() + self.upper.len() + self.starts.len()) * 4
    }

    /// Writes the links.
    pub(super) fn save(&self, sections: &mut Sections) {
        sections.put_u8s("heights", &self.heights);
        sections.put_u32s("base links", &self.base);
        sections.put_u32s("upper links", &self.upper);
        sections.put_u32s("entry", &[self.entry]);
    }

    /// Reads a graph over `n` points, and checks that a walk in it stays in bounds.
    pub(super) fn load(sections: &Sections, n: usize) -> Result<Graph> {
        let broken = || Error::model_file("the parts of a graph of neighbors don't fit together");
        let heights = sections.u8s("heights")?;
        let (base, upper) = (sections.u32s("base links")?, sections.u32s("upper links")?);
        let entry = sections.u32s("entry")?.first().copied().ok_or_else(broken)?;
        let mut total = 0usize;
        let mut starts = Vec::with_capacity(heights.len());
        for &height in &heights {
            starts.push(total as u32);
            total += usize::from(height) * LINKS;
        }
        let graph = Graph { heights, base, starts, upper, entry };
        let sized = graph.heights.len() == n
            && graph.heights.iter().all(|&h| h <= MAX_HEIGHT)
            && n.checked_mul(BASE_LINKS) == Some(graph.base.len())
            && graph.upper.len() == total
            && u32::try_from(total).is_ok()
            && (graph.entry as usize) < n;
        // A link in a layer leads to a point of that layer.
        let leads =
            |link: u32, layer: u8| link == NONE || graph.heights.get(link as usize).is_some_and(|&h| h >= layer);
        let sound = |point: u32| {
            (0..=graph.heights[point as usize])
                .all(|layer| graph.links(point, layer).iter().all(|&link| leads(link, layer)))
        };
        if !sized || !(0..n as u32).all(sound) {
            return Err(broken());
        }
        Ok(graph)
    }
}

impl GraphWalk {
    fn begin(&mut self, n: usize) {
        if self.seen.len() != n || self.number == u32::MAX {
            self.seen.clear();
            self.seen.resize(n, 0);
            self.number = 0;
        }
        self.number += 1;
        if let Some(point) = self.shunned {
            self.seen[point as usize] = self.number;
        }
        self.ahead.clear();
        self.best.clear();
    }
}

fn near(distance: f64, point: u32) -> NearPoint {
    (distance.to_bits(), point)
}

/// The highest layer of a point: each is reached by one in [`LINKS`] of the layer below.
fn height(point: usize) -> u8 {
    let mut rng = Purpose::GraphLayers.stream(0, &[point as u64]);
    (0..MAX_HEIGHT).find(|_| rng::below(&mut rng, LINKS) != 0).unwrap_or(MAX_HEIGHT)
}

/// The points that `from` is linked to, of those in `found`, at most `room`.
fn select(space: &MetricRows<'_>, from: u32, found: &[NearPoint], room: usize) -> Vec<u32> {
    let (mut linked, mut others) = (Vec::with_capacity(room), Vec::new());
    let mut found = found.to_vec();
    // Of equally near points chance decides: were it the smaller number, no link would lead to the last of many equal points.
    found.sort_unstable_by_key(|&(bits, point)| (bits, rng::place(from.into(), point.into())));
    for (bits, point) in found {
        if linked.len() == room {
            break;
        }
        let row = space.row(point);
        let spread = linked.iter().map(|&other| space.to(&row, other)).all(|d| d > 0.0 && d >= f64::from_bits(bits));
        if spread { linked.push(point) } else { others.push(point) }
    }
    let rest = room - linked.len();
    linked.extend(others.into_iter().take(rest));
    linked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::choice::IndexKind;
    use crate::search::index::Index;
    use ermine_core::distance::metric::{Custom, Metric};
    use ermine_core::distance::rows::{Points, RowMatrix};
    use proptest::prelude::*;

    fn draw(seed: u64, len: usize, steps: usize) -> Vec<f64> {
        let mut rng = rng::stream(seed, &[1]);
        (0..len).map(|_| rng::below(&mut rng, steps) as f64 / steps as f64).collect()
    }

    /// The share of true neighbors found, counted apart from the index's own count.
    fn recall(approximate: &Index, exact: &Index, queries: &RowMatrix<'_>, k: usize) -> f64 {
        let (found, truth) = (approximate.kneighbors(queries, k).unwrap(), exact.kneighbors(queries, k).unwrap());
        let hits = (0..queries.n_rows()).map(|i| {
            let last = truth.distances(i)[k - 1];
            found.distances(i).iter().filter(|d| **d <= last).count()
        });
        hits.sum::<usize>() as f64 / (queries.n_rows() * k) as f64
    }

    #[test]
    fn most_neighbors_are_found_and_the_share_is_stated() {
        let own = Custom::new(|a, b| a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum(), false);
        for (metric, steps) in [(Metric::Euclidean, 1 << 20), (Metric::Cosine, 1 << 20), (Metric::Custom(own), 6)] {
            let (points, queries) = (draw(3, 4000 * 8, steps), draw(4, 200 * 8, steps));
            let (rows, queries) =
                (RowMatrix::row_major(&points, 8).unwrap(), RowMatrix::row_major(&queries, 8).unwrap());
            let exact = Index::build_as(&rows, metric.clone(), Some(IndexKind::Scan)).unwrap();
            let share = |width, k| {
                let mut index = Index::build_as(&rows, metric.clone(), Some(IndexKind::Graph { width })).unwrap();
                index.state_recall(k).unwrap();
                let (found, stated) = (recall(&index, &exact, &queries, k), index.choice().recall.unwrap());
                assert!((stated - found).abs() < 0.05, "{metric:?}, {width}, {k}: stated {stated}, found {found}");
                index.add(&queries).unwrap();
                assert_eq!(index.choice().recall, None, "what was measured is no longer so");
                found
            };
            let (narrow, wide) = (share(10, 10), share(200, 10));
            assert!(wide > 0.99 && narrow < wide, "{metric:?}: {narrow} {wide}");
            share(5, 50);
        }
    }

    /// Rows sorted by cluster, built at once or added cluster by cluster, are found as well as shuffled ones.
    #[test]
    fn sorted_rows_do_not_reduce_the_recall() {
        let (clusters, size, d) = (20, 200, 16);
        let (centers, noise) = (draw(1, clusters * d, 1000), draw(2, clusters * size * d, 1000));
        let points: Vec<f64> =
            (0..clusters * size * d).map(|i| 10.0 * centers[i / (size * d) * d + i % d] + noise[i]).collect();
        let rows = RowMatrix::row_major(&points, d).unwrap();
        let exact = Index::build_as(&rows, Metric::Euclidean, Some(IndexKind::Scan)).unwrap();
        let queries: Vec<f64> = points.chunks(d).step_by(17).flat_map(|row| row.iter().map(|v| v + 0.05)).collect();
        let queries = RowMatrix::row_major(&queries, d).unwrap();
        let part = |from: usize, to: usize| RowMatrix::row_major(&points[from * size * d..to * size * d], d).unwrap();
        let wish = Some(IndexKind::Graph { width: 100 });
        let whole = Index::build_as(&rows, Metric::Euclidean, wish).unwrap();
        let mut grown = Index::build_as(&part(0, 1), Metric::Euclidean, wish).unwrap();
        (1..clusters).for_each(|c| grown.add(&part(c, c + 1)).unwrap());
        for (name, index) in [("whole", whole), ("grown", grown)] {
            let share = recall(&index, &exact, &queries, 10);
            assert!(share > 0.97, "{name}: {share}");
        }
    }

    /// A search for k finds k, even among more equal points than links lead to.
    #[test]
    fn searches_find_k_neighbors() {
        for (points, k) in [(vec![1.0; 1500], 1500), (draw(1, 1500, 1000), 1400), (vec![1.0; 1500], 700)] {
            let rows = RowMatrix::row_major(&points, 1).unwrap();
            let index = Index::build_as(&rows, Metric::Euclidean, Some(IndexKind::Graph { width: 10 })).unwrap();
            let near = index.kneighbors(&RowMatrix::row_major(&[0.3, 0.9], 1).unwrap(), k).unwrap();
            assert!((0..2).all(|i| near.rows(i).len() == k));
        }
    }

    #[test]
    fn the_same_graph_on_any_number_of_threads() {
        let points = Points::copy(&RowMatrix::row_major(&draw(1, 3000 * 3, 500), 3).unwrap());
        let space = MetricRows { points: &points, metric: &Metric::Euclidean };
        let built =
            |n: usize| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap().install(|| Graph::build(&space));
        assert_eq!(built(1), built(4));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn a_wide_walk_finds_all_neighbors(n in 1usize..300, d in 1usize..4, steps in 1usize..9, seed: u64, k in 1usize..9, radius in 0.0..1.0f64) {
            let (points, queries) = (draw(seed, n * d, steps), draw(seed ^ 1, 5 * d, steps));
            let (rows, queries) = (RowMatrix::row_major(&points, d).unwrap(), RowMatrix::row_major(&queries, d).unwrap());
            let first = n.div_ceil(2);
            let mut index =
                Index::build_as(&RowMatrix::row_major(&points[..first * d], d).unwrap(), Metric::Manhattan, Some(IndexKind::Graph { width: 400 }))
                    .unwrap();
            index.add(&RowMatrix::row_major(&points[first * d..], d).unwrap()).unwrap();
            let mut sections = Sections::default();
            index.save(&mut sections).unwrap();
            let index = Index::load(&sections).unwrap();
            prop_assert_eq!(index.len(), n);
            let exact = Index::build(&rows, Metric::Manhattan).unwrap();
            // Points that no link leads to are lost to a walk: few, even among many equal ones.
            let found = |a: &crate::search::nearest::Neighbors| a.all_rows().len() as f64;
            let (near, truth) = (index.kneighbors(&queries, k).unwrap(), exact.kneighbors(&queries, k).unwrap());
            prop_assert_eq!(near.all_rows().len(), truth.all_rows().len());
            let wrong = near.all_distances().iter().zip(truth.all_distances()).filter(|(a, b)| a != b).count();
            prop_assert!(wrong as f64 <= 0.1 * found(&truth), "{} of {}", wrong, found(&truth));
            let (near, truth) = (index.radius_neighbors(&queries, radius).unwrap(), exact.radius_neighbors(&queries, radius).unwrap());
            prop_assert!(found(&near) >= 0.9 * found(&truth) && found(&near) <= found(&truth));
        }

        #[test]
        fn a_damaged_graph_is_an_error_or_harmless(links in proptest::collection::vec(any::<u32>(), 12), seed: u64) {
            let points = Points::copy(&RowMatrix::row_major(&draw(seed, 60, 1000), 2).unwrap());
            let space = MetricRows { points: &points, metric: &Metric::Euclidean };
            let mut graph = Graph::build(&space);
            for (place, link) in links.iter().enumerate() {
                graph.base[place * 7] = link % 33;
            }
            let mut sections = Sections::default();
            graph.save(&mut sections);
            match Graph::load(&sections, 30) {
                Ok(graph) => graph.search(&space, &[0.5, 0.5], 64, &mut Nearest::k(3), &mut GraphWalk::default()),
                Err(error) => prop_assert!(error.to_string().contains("graph")),
            }
            prop_assert!(Graph::load(&sections, 31).is_err());
        }
    }
}
