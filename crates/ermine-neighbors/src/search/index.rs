//! An index over numeric rows that can grow without a rebuild.
//!
//! All exact indexes give bit-identical results; they differ only in speed. [`Index::build`] chooses one automatically and records the reason in [`IndexChoice`]. A graph ([`IndexKind::Graph`]) is
//! approximate and only used on request.
//!
//! **Growing.** Added rows are kept in a short list that every query scans first. When the list exceeds a share of the index, the index is rebuilt, so that n additions cost O(n log n) in total.
//!
//! **Memory.** An index of an exact kind holds the rows once and at most 30% more: a scan its byte codes where they fit, boxes 1/24 of the rows and `log2(n) - 3.3` bits a row (with the
//! rows' own numbers packed where these are few), a vantage-point tree as fine as fits. Rows are kept as they are given where what cosine and Mahalanobis measure would take more. What can't
//! hold: a few dozen rows, for which a leaf is larger than they are; a box tree for cosine over one or two single-precision columns, up to 1.6 times the rows (one column is scanned,
//! unless a tree is requested); and graphs, whose links take 137 to 145 bytes a row beside the rows as the metric measures them. See [`Index::bytes`].

use super::box_tree::{BoxTree, BoxTreeScratch};
use super::choice::{IndexChoice, IndexKind};
use super::graph::{Graph, GraphWalk};
use super::measured::Measured;
use super::nearest::{Nearest, Neighbors};
use super::scan::Scan;
use super::vantage::{MetricRows, VantageTree};
use ermine_core::distance::metric::Metric;
use ermine_core::distance::rows::{PointElement, Points, RowMatrix, StoredPoints};
use ermine_core::error::{Error, Result};
use ermine_core::parallel;
use ermine_core::section::Sections;
use ermine_core::simd::Level;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Added rows are merged when there are more than this, and more than 1 / [`WAITING_SHARE`] of the index.
const WAITING: usize = 256;
/// See [`WAITING`].
const WAITING_SHARE: usize = 16;

/// A nearest-neighbor index over numeric rows.
#[derive(Debug, Clone)]
pub struct Index {
    metric: Metric,
    n_features: usize,
    /// Whether all rows were given in single precision.
    single: bool,
    wish: Option<IndexKind>,
    choice: IndexChoice,
    engine: IndexEngine,
    /// Rows added since the engine was built, numbered after its own.
    waiting: Points,
}

/// The structure that is searched.
#[derive(Debug, Clone)]
enum IndexEngine {
    BoxTreeF32(BoxTree<f32>),
    BoxTreeF64(BoxTree<f64>),
    Vantage(Points, VantageTree),
    Scan(Scan),
    Graph { points: Points, graph: Graph, width: usize },
}

/// The metadata of a saved index.
#[derive(Serialize, Deserialize)]
struct IndexHeader {
    metric: Metric,
    n_features: usize,
    n_indexed: usize,
    wish: Option<IndexKind>,
    choice: IndexChoice,
    is_f32: bool,
    waiting_is_f32: bool,
    #[serde(default)]
    single: bool,
    /// Whether rows are stored as given although the metric compares embedded rows.
    #[serde(default)]
    given: bool,
    #[serde(default)]
    waiting_given: bool,
}

impl Index {
    /// Builds an index and chooses its kind.
    pub fn build(rows: &RowMatrix<'_>, metric: Metric) -> Result<Index> {
        Index::build_as(rows, metric, None)
    }

    /// Builds an index of a given kind. An error if it doesn't support the metric.
    pub fn build_as(rows: &RowMatrix<'_>, metric: Metric, wish: Option<IndexKind>) -> Result<Index> {
        if rows.n_rows() == 0 || rows.n_features() == 0 {
            return Err(Error::data(format!(
                "the index needs at least one row and column (got {} rows and {} columns)",
                rows.n_rows(),
                rows.n_features()
            )));
        }
        metric.check_rows(rows)?;
        let (n_features, single) = (rows.n_features(), rows.is_f32());
        let (choice, engine) = metric.check_distances(|| raise(RowSource::Given(*rows), &metric, wish))??;
        let waiting = engine.empty();
        Ok(Index { metric, n_features, single, wish, choice, engine, waiting })
    }

    /// The metric.
    pub fn metric(&self) -> &Metric {
        &self.metric
    }

    /// The kind of index, and why.
    pub fn choice(&self) -> &IndexChoice {
        &self.choice
    }

    /// Measures the recall of an approximate index on some of its own rows, and records it in [`Index::choice`] (until rows are added). No effect on exact indexes.
    pub fn state_recall(&mut self, k: usize) -> Result<()> {
        if let IndexEngine::Graph { points, graph, width } = &self.engine {
            let space = MetricRows { points, metric: &self.metric };
            self.choice.recall = Some(self.metric.check_distances(|| graph.recall(&space, *width, k))?);
        }
        Ok(())
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.engine.len() + self.waiting.n_rows()
    }

    /// Always false: an index contains at least one row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of columns of a row.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// Bytes of the rows as they were given.
    pub fn row_bytes(&self) -> usize {
        self.len() * self.n_features * if self.single { 4 } else { 8 }
    }

    /// Bytes held, the rows included.
    pub fn bytes(&self) -> usize {
        self.waiting.bytes()
            + match &self.engine {
                IndexEngine::BoxTreeF32(tree) => tree.bytes(),
                IndexEngine::BoxTreeF64(tree) => tree.bytes(),
                IndexEngine::Vantage(points, tree) => points.bytes() + tree.bytes(),
                IndexEngine::Scan(scan) => scan.bytes(),
                IndexEngine::Graph { points, graph, .. } => points.bytes() + graph.bytes(),
            }
    }

    /// The `k` nearest rows of every query (all rows, where there are fewer).
    pub fn kneighbors(&self, queries: &RowMatrix<'_>, k: usize) -> Result<Neighbors> {
        if k == 0 {
            return Err(Error::Param {
                owner: "nearest neighbors".into(),
                name: "k".into(),
                value: "0".into(),
                allowed: "at least 1".into(),
            });
        }
        self.check_queries(queries)?;
        self.batch(queries, &Nearest::k(k.min(self.len())), self.metric.is_plain())
    }

    /// The `k` nearest other rows of every row (all others, where there are fewer).
    pub fn own_kneighbors(&self, k: usize) -> Result<Neighbors> {
        let rows = self.kept();
        let wanted = Nearest::k(k.saturating_add(1).min(self.len()));
        Ok(self.batch(&rows.view(), &wanted, !rows.are_given())?.without_self(k))
    }

    /// All rows within `radius` of every query, the boundary included.
    pub fn radius_neighbors(&self, queries: &RowMatrix<'_>, radius: f64) -> Result<Neighbors> {
        let wanted = Nearest::around(radius)?;
        self.check_queries(queries)?;
        self.batch(queries, &wanted, self.metric.is_plain())
    }

    /// All other rows within `radius` of every row.
    pub fn own_radius_neighbors(&self, radius: f64) -> Result<Neighbors> {
        let rows = self.kept();
        Ok(self.batch(&rows.view(), &Nearest::around(radius)?, !rows.are_given())?.without_self(usize::MAX))
    }

    /// Appends rows.
    pub fn add(&mut self, rows: &RowMatrix<'_>) -> Result<()> {
        self.check_queries(rows)?;
        if rows.n_rows() + self.len() > u32::MAX as usize {
            return Err(Error::data(format!("an index can have at most {} rows", u32::MAX)));
        }
        self.single &= rows.is_f32();
        if let IndexEngine::Graph { points, graph, .. } = &mut self.engine {
            extend(points, rows, &self.metric);
            self.choice.recall = None;
            return self.metric.check_distances(|| graph.insert(&MetricRows { points, metric: &self.metric }));
        }
        extend(&mut self.waiting, rows, &self.metric);
        if self.waiting.n_rows() > WAITING.max(self.engine.len() / WAITING_SHARE) {
            let all = self.kept();
            let (choice, engine) =
                self.metric.check_distances(|| raise(RowSource::Kept(&all), &self.metric, self.wish))??;
            (self.choice, self.engine) = (choice, engine);
            self.waiting = self.engine.empty();
        }
        Ok(())
    }

    /// Saves the index with its rows. An error for custom metrics.
    pub fn save(&self, sections: &mut Sections) -> Result<()> {
        if matches!(self.metric, Metric::Custom(_)) {
            return Err(Error::Unsupported {
                learner: "an index of neighbors".into(),
                need: "saving a custom metric: a function can't be saved".into(),
            });
        }
        let about = IndexHeader {
            metric: self.metric.clone(),
            n_features: self.n_features,
            n_indexed: self.engine.len(),
            wish: self.wish,
            choice: self.choice.clone(),
            is_f32: self.engine.is_f32(),
            waiting_is_f32: self.waiting.view().is_f32(),
            single: self.single,
            given: self.engine.is_given(),
            waiting_given: self.waiting.are_given(),
        };
        sections.put_json("index", &about)?;
        self.waiting.save(sections, "waiting");
        match &self.engine {
            IndexEngine::BoxTreeF32(tree) => tree.save(sections),
            IndexEngine::BoxTreeF64(tree) => tree.save(sections),
            IndexEngine::Vantage(points, tree) => {
                points.save(sections, "points");
                tree.save(sections);
            }
            IndexEngine::Scan(scan) => scan.points().save(sections, "points"),
            IndexEngine::Graph { points, graph, .. } => {
                points.save(sections, "points");
                graph.save(sections);
            }
        }
        Ok(())
    }

    /// Loads an index. Searches stay in bounds, whatever the file contains.
    pub fn load(sections: &Sections) -> Result<Index> {
        let about: IndexHeader = sections.json("index")?;
        let IndexHeader { metric, n_features, n_indexed, wish, choice, is_f32, single, given, .. } = about;
        metric.check(n_features).map_err(|e| Error::model_file(e.to_string()))?;
        let embedded = metric.embedded_features(n_features);
        let width = |given: bool| if given { n_features } else { embedded };
        let missing = metric.takes_missing();
        let points =
            || Ok::<_, Error>(Points::load(sections, "points", width(given), is_f32, missing)?.with_given(given));
        let allowed =
            IndexChoice::possible(choice.kind, &metric) && !(metric.is_plain() && (given || about.waiting_given));
        let engine = match choice.kind {
            IndexKind::BoxTree if is_f32 => {
                IndexEngine::BoxTreeF32(BoxTree::load(&metric, sections, n_indexed, width(given), (embedded, given))?)
            }
            IndexKind::BoxTree => {
                IndexEngine::BoxTreeF64(BoxTree::load(&metric, sections, n_indexed, width(given), (embedded, given))?)
            }
            IndexKind::VantageTree => {
                let points = points()?;
                let tree = VantageTree::load(sections, points.n_rows())?;
                IndexEngine::Vantage(points, tree)
            }
            IndexKind::Scan => IndexEngine::Scan(Scan::new(points()?, &metric)),
            IndexKind::Graph { width } => {
                let points = points()?;
                let graph = Graph::load(sections, points.n_rows())?;
                IndexEngine::Graph { points, graph, width }
            }
        };
        let (narrow, later) = (about.waiting_is_f32, about.waiting_given);
        let waiting = Points::load(sections, "waiting", width(later), narrow, missing)?.with_given(later);
        if engine.len() == 0 || engine.len() != n_indexed || !allowed {
            return Err(Error::model_file("the parts of a neighbor index are inconsistent"));
        }
        Ok(Index { metric, n_features, single, wish, choice, engine, waiting })
    }

    /// All rows as they are kept, in the order of their numbers.
    pub(super) fn kept(&self) -> Points {
        let mut all = self.engine.points();
        if all.are_given() != self.waiting.are_given() {
            all = embed(&self.metric, &all.view());
        }
        all.extend(&self.waiting.view());
        all
    }

    fn check_queries(&self, rows: &RowMatrix<'_>) -> Result<()> {
        if rows.n_features() != self.n_features {
            return Err(Error::data(format!(
                "the index has rows of {} columns, but the queries have {}",
                self.n_features,
                rows.n_features()
            )));
        }
        self.metric.check_rows(rows)
    }

    /// Searches blocks of queries on all cores; `ready`: they need no embedding. Each answer is unique, so the blocks may be cut in any way. (Ordering the queries by place, so
    /// that neighboring queries read the same leaves, gained 2% on trees of twice the cache: not worth the lines.)
    pub(super) fn batch(&self, queries: &RowMatrix<'_>, wanted: &Nearest, ready: bool) -> Result<Neighbors> {
        let n = queries.n_rows();
        let block = self.engine.block(n);
        let search = |b: usize| self.search_block(queries, b * block..n.min((b + 1) * block), wanted, ready);
        let parts: Vec<Neighbors> = self.metric.check_distances(|| parallel::map(n.div_ceil(block), search))?;
        let mut all = Neighbors::with_capacity(n, parts.iter().map(|p| p.all_rows().len()).sum());
        parts.iter().for_each(|part| all.append(part));
        Ok(all)
    }

    fn search_block(&self, queries: &RowMatrix<'_>, range: Range<usize>, wanted: &Nearest, ready: bool) -> Neighbors {
        let width = self.metric.embedded_features(self.n_features);
        let mut block = vec![0.0; range.len() * width];
        let mut row = vec![0.0; self.n_features];
        for (i, out) in range.clone().zip(block.chunks_exact_mut(width)) {
            if ready {
                queries.copy_row(i, out);
            } else {
                queries.copy_row(i, &mut row);
                self.metric.embed(&row, out);
            }
        }
        let expected = if wanted.wanted() == usize::MAX { 0 } else { wanted.wanted() };
        let mut found = Neighbors::with_capacity(range.len(), range.len() * expected);
        let mut begin = |query: &[f64], best: &mut Nearest| self.offer_waiting(query, best);
        let mut end = |best: &mut Nearest| found.push(best.sorted().iter().copied());
        self.engine.search(&self.metric, &block, width, wanted, (&mut begin, &mut end));
        found
    }

    /// Offers the rows that aren't in the engine yet.
    fn offer_waiting(&self, query: &[f64], best: &mut Nearest) {
        let first = self.engine.len() as u32;
        let waiting = Measured::new(&self.waiting, &self.metric);
        (0..waiting.n_rows()).for_each(|row| best.offer(waiting.distance(query, row), first + row as u32));
    }
}

/// What to do before a query is searched, and with what was found.
type QueryHooks<'a> = (&'a mut dyn FnMut(&[f64], &mut Nearest), &'a mut dyn FnMut(&mut Nearest));

impl IndexEngine {
    fn len(&self) -> usize {
        match self {
            IndexEngine::BoxTreeF32(tree) => tree.n_points(),
            IndexEngine::BoxTreeF64(tree) => tree.n_points(),
            IndexEngine::Vantage(points, _) => points.n_rows(),
            IndexEngine::Scan(scan) => scan.points().n_rows(),
            IndexEngine::Graph { points, .. } => points.n_rows(),
        }
    }

    fn is_f32(&self) -> bool {
        match self {
            IndexEngine::BoxTreeF32(_) => true,
            IndexEngine::BoxTreeF64(_) => false,
            IndexEngine::Vantage(points, _) | IndexEngine::Graph { points, .. } => points.view().is_f32(),
            IndexEngine::Scan(scan) => scan.points().view().is_f32(),
        }
    }

    /// Whether rows are kept as given where the metric measures others.
    fn is_given(&self) -> bool {
        match self {
            IndexEngine::BoxTreeF32(tree) => tree.is_given(),
            IndexEngine::BoxTreeF64(tree) => tree.is_given(),
            IndexEngine::Vantage(points, _) | IndexEngine::Graph { points, .. } => points.are_given(),
            IndexEngine::Scan(scan) => scan.points().are_given(),
        }
    }

    /// No rows, in the form of those that are there.
    fn empty(&self) -> Points {
        let n_features = match self {
            IndexEngine::BoxTreeF32(tree) => tree.n_features(),
            IndexEngine::BoxTreeF64(tree) => tree.n_features(),
            IndexEngine::Vantage(points, _) | IndexEngine::Graph { points, .. } => points.n_features(),
            IndexEngine::Scan(scan) => scan.points().n_features(),
        };
        Points::empty(n_features, self.is_f32()).with_given(self.is_given())
    }

    /// How many queries make a piece of work: enough pieces for all cores, and for a scan enough queries in each to
    /// share the reading of the points.
    fn block(&self, n: usize) -> usize {
        let most = if matches!(self, IndexEngine::Scan(_)) { Scan::BLOCK } else { 256 };
        n.div_ceil(16).clamp(16, most)
    }

    fn search(&self, metric: &Metric, queries: &[f64], d: usize, wanted: &Nearest, hooks: QueryHooks<'_>) {
        let (begin, end) = hooks;
        if let IndexEngine::Scan(scan) = self {
            let mut best = vec![wanted.clone(); queries.len() / d];
            queries.chunks_exact(d).zip(&mut best).for_each(|(query, best)| begin(query, best));
            scan.search(Level::detect(), metric, queries, &mut best);
            best.iter_mut().for_each(end);
            return;
        }
        let (mut scratch, mut walk, mut best) = (BoxTreeScratch::default(), GraphWalk::default(), wanted.clone());
        for query in queries.chunks_exact(d) {
            best.clear();
            begin(query, &mut best);
            match self {
                IndexEngine::BoxTreeF32(tree) => tree.search(Level::detect(), metric, query, &mut best, &mut scratch),
                IndexEngine::BoxTreeF64(tree) => tree.search(Level::detect(), metric, query, &mut best, &mut scratch),
                IndexEngine::Vantage(points, tree) => tree.search(&MetricRows { points, metric }, query, &mut best),
                IndexEngine::Graph { points, graph, width } => {
                    graph.search(&MetricRows { points, metric }, query, *width, &mut best, &mut walk);
                }
                IndexEngine::Scan(_) => {}
            }
            end(&mut best);
        }
    }

    /// The points, in the order of their row numbers.
    fn points(&self) -> Points {
        fn in_order(n: usize, d: usize, f32: bool, visit: impl FnOnce(&mut dyn FnMut(u32, &[f64]))) -> Points {
            let mut values = vec![0.0; n * d];
            visit(&mut |row, point| values[row as usize * d..][..d].copy_from_slice(point));
            if f32 {
                Points::from_f32(values.iter().map(|&v| v as f32).collect(), d)
            } else {
                Points::from_f64(values, d)
            }
        }
        match self {
            IndexEngine::BoxTreeF32(t) => {
                in_order(t.n_points(), t.n_features(), true, |f| t.for_each(f)).with_given(t.is_given())
            }
            IndexEngine::BoxTreeF64(t) => {
                in_order(t.n_points(), t.n_features(), false, |f| t.for_each(f)).with_given(t.is_given())
            }
            IndexEngine::Vantage(points, _) => points.clone(),
            IndexEngine::Scan(scan) => scan.points().clone(),
            IndexEngine::Graph { points, .. } => points.clone(),
        }
    }
}

/// Rows as the metric measures them, in double precision.
fn embed(metric: &Metric, rows: &RowMatrix<'_>) -> Points {
    const BLOCK: usize = 256;
    let width = metric.embedded_features(rows.n_features());
    let mut values = vec![0.0; rows.n_rows() * width];
    parallel::for_each_chunk(&mut values, BLOCK * width, |block, values| {
        let mut row = vec![0.0; rows.n_features()];
        for (i, out) in values.chunks_mut(width).enumerate() {
            rows.copy_row(block * BLOCK + i, &mut row);
            metric.embed(&row, out);
        }
    });
    Points::from_f64(values, width)
}

/// Adds rows to points in their form, or in double precision where either is and the form would not be kept for both.
fn extend(points: &mut Points, rows: &RowMatrix<'_>, metric: &Metric) {
    let single = points.view().is_f32() && rows.is_f32();
    if points.are_given() && !metric.keeps_given(rows.n_features(), single) {
        *points = embed(metric, &points.view());
    }
    if points.are_given() || metric.is_plain() {
        points.extend(rows);
    } else {
        points.extend(&embed(metric, rows).view());
    }
}

/// Where the rows of an index come from.
#[derive(Clone, Copy)]
enum RowSource<'a> {
    /// As a user gives them.
    Given(RowMatrix<'a>),
    /// As an index keeps them.
    Kept(&'a Points),
}

/// Chooses a kind of index and builds it.
fn raise(source: RowSource<'_>, metric: &Metric, wish: Option<IndexKind>) -> Result<(IndexChoice, IndexEngine)> {
    let seen = match source {
        RowSource::Given(rows) => rows,
        RowSource::Kept(points) => points.view(),
    };
    // Walks in a graph measure so often that embedding each time would show.
    let given = match source {
        RowSource::Given(rows) if !matches!(wish, Some(IndexKind::Graph { .. })) => {
            metric.keeps_given(rows.n_features(), rows.is_f32())
        }
        RowSource::Given(_) => false,
        RowSource::Kept(points) => points.are_given(),
    };
    let kept = match source {
        RowSource::Given(rows) if !metric.is_plain() && !given => Some(embed(metric, &rows)),
        _ => None,
    };
    let rows = kept.as_ref().map_or(seen, Points::view);
    let mut tried = None;
    let choice =
        IndexChoice::make(&rows, metric, wish, given, || match tried.insert(box_tree(&rows, metric, given)) {
            IndexEngine::BoxTreeF32(tree) => tree.share_read(metric),
            IndexEngine::BoxTreeF64(tree) => tree.share_read(metric),
            _ => 1.0,
        })?;
    let engine = match choice.kind {
        IndexKind::BoxTree => tried.unwrap_or_else(|| box_tree(&rows, metric, given)),
        IndexKind::VantageTree => {
            let points = Points::copy(&rows).with_given(given);
            let most = Measured::new(&points, metric).spare();
            let tree = VantageTree::build(&MetricRows { points: &points, metric }, most);
            IndexEngine::Vantage(points, tree)
        }
        IndexKind::Scan => {
            drop(tried);
            IndexEngine::Scan(Scan::new(Points::copy(&rows).with_given(given), metric))
        }
        IndexKind::Graph { width } => {
            let points = Points::copy(&rows);
            let space = MetricRows { points: &points, metric };
            let graph = Graph::build(&space);
            IndexEngine::Graph { points, graph, width }
        }
    };
    Ok((choice, engine))
}

fn box_tree(rows: &RowMatrix<'_>, metric: &Metric, given: bool) -> IndexEngine {
    let embedded = given.then(|| embed(metric, rows));
    let embedded = embedded.as_ref().and_then(|points| points.view().as_f64());
    let width = metric.embedded_features(rows.n_features());
    fn tree<E: PointElement>(values: &[E], d: usize, embedded: Option<&[f64]>, width: usize) -> BoxTree<E> {
        match embedded {
            None => BoxTree::build(values, d),
            Some(embedded) => BoxTree::build_given(values, d, embedded, width),
        }
    }
    let d = rows.n_features();
    if let Some(values) = rows.as_f32() {
        return IndexEngine::BoxTreeF32(tree(values, d, embedded, width));
    }
    if let Some(values) = rows.as_f64() {
        return IndexEngine::BoxTreeF64(tree(values, d, embedded, width));
    }
    match Points::copy(rows).kept() {
        StoredPoints::F32(values) => IndexEngine::BoxTreeF32(tree(values, d, embedded, width)),
        StoredPoints::F64(values) => IndexEngine::BoxTreeF64(tree(values, d, embedded, width)),
    }
}
