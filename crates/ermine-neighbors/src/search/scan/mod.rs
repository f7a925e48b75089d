//! Brute force with the selection fused in: every row is compared with every query, by the fastest filter that suits
//! the metric and the machine.
//!
//! | filter | for | what it does per pair and column |
//! |---|---|---|
//! | [`bytes`] | Euclidean family, many columns | a quarter of a byte-wise multiply-add |
//! | [`floats`] | Euclidean family, Manhattan, Chebyshev | one single-precision multiply-add (or subtract, abs, add) |
//! | none | everything else | the exact distance |
//!
//! A filter works on a tile of points and queries in registers and compares with a threshold per query, so that the products
//! are never written to memory; only what passes is measured exactly ([`tiles`]).

pub(super) mod bytes;
pub(super) mod floats;
pub(super) mod tiles;

use super::measured::Measured;
use super::nearest::Nearest;
use bytes::{ByteCodes, ByteFilter};
use ermine_core::distance::metric::Metric;
use ermine_core::distance::rows::{PointElement, Points, StoredPoints};
use ermine_core::simd::Level;
use ermine_core::versions;
use floats::{FloatFilter, PointFrame};
use std::sync::OnceLock;
use tiles::{ScanProgress, search_tiles};

/// From this many columns on, bytes are the first filter. Narrower rows would need more than 30% memory for their codes.
const BYTES_FROM: usize = 20;
/// Up to this many queries, laying out points for a filter costs more than it saves.
const FEW_QUERIES: usize = 4;

/// The rows, and what helps to read them fast.
#[derive(Debug, Clone)]
pub(super) struct Scan {
    points: Points,
    /// Made of the points when first needed, and never written to a file.
    codes: OnceLock<Option<ByteCodes>>,
    /// The same.
    frame: OnceLock<PointFrame>,
}

impl Scan {
    /// Queries that are searched together.
    pub(super) const BLOCK: usize = 2048;

    pub(super) fn new(points: Points, metric: &Metric) -> Scan {
        let scan = Scan { points, codes: OnceLock::new(), frame: OnceLock::new() };
        scan.codes(metric);
        scan
    }

    pub(super) fn points(&self) -> &Points {
        &self.points
    }

    pub(super) fn bytes(&self) -> usize {
        let codes = self.codes.get().and_then(Option::as_ref).map_or(0, ByteCodes::bytes);
        self.points.bytes() + codes + self.frame.get().map_or(0, PointFrame::bytes)
    }

    fn codes(&self, metric: &Metric) -> Option<&ByteCodes> {
        let wanted =
            floats::FilterSum::of(metric) == Some(floats::FilterSum::Product) && self.points.n_features() >= BYTES_FROM;
        if !wanted || !bytes::available() {
            return None;
        }
        self.codes.get_or_init(|| ByteCodes::new(&Measured::new(&self.points, metric))).as_ref()
    }

    /// Offers to each of `best` the points that belong there, for the query in the same place.
    pub(super) fn search(&self, level: Level, metric: &Metric, queries: &[f64], best: &mut [Nearest]) {
        let mut progress = ScanProgress::default();
        let measured = Measured::new(&self.points, metric);
        if let Some(codes) = self.codes(metric) {
            progress = search_tiles(&mut ByteFilter::new(codes, measured, metric, queries), best, progress);
        }
        if best.len() > FEW_QUERIES
            && progress.points < self.points.n_rows()
            && let Some(sum) = floats::FilterSum::of(metric)
            && let frame = self.frame.get_or_init(|| PointFrame::new(&measured, sum))
            && let Some(mut filter) = FloatFilter::new(level, (measured, metric), (sum, frame), queries)
        {
            progress = search_tiles(&mut filter, best, progress);
        }
        self.search_rest(level, metric, queries, best, progress.points);
    }

    /// Measures everything from row `first` on exactly.
    fn search_rest(&self, level: Level, metric: &Metric, queries: &[f64], best: &mut [Nearest], first: usize) {
        let d = self.points.n_features();
        if self.points.are_given() {
            return self.search_given(level, metric, queries, best, first);
        }
        match self.points.kept() {
            StoredPoints::F32(points) => exact(level, metric, d, &points[first * d..], first as u32, queries, best),
            StoredPoints::F64(points) => exact(level, metric, d, &points[first * d..], first as u32, queries, best),
        }
    }

    /// The same, of rows that are embedded a run at a time.
    fn search_given(&self, level: Level, metric: &Metric, queries: &[f64], best: &mut [Nearest], first: usize) {
        let measured = Measured::new(&self.points, metric);
        let (n, width) = (measured.n_rows(), measured.width());
        let mut room = vec![0.0; RUN * width];
        for start in (first..n).step_by(RUN) {
            let rows = &mut room[..RUN.min(n - start) * width];
            measured.copy_run(start, rows);
            exact(level, metric, width, rows, start as u32, queries, best);
        }
    }
}

/// Rows that stay in cache while all queries are compared with them.
const RUN: usize = 64;

versions! {
    /// Measures everything, rows numbered from `first`.
    fn exact<E: PointElement>(
        _set: impl Instructions, metric: &Metric, d: usize, points: &[E], first: u32, queries: &[f64], best: &mut [Nearest],
    ) {
        for (run, points) in (0u32..).zip(points.chunks(d * RUN)) {
            for (query, best) in queries.chunks_exact(d).zip(best.iter_mut()) {
                for (row, point) in (first + run * RUN as u32..).zip(points.chunks_exact(d)) {
                    best.offer(metric.distance(query, point), row);
                }
            }
        }
    }
}
