//! Tile-wise filtering: which points might be near which queries.
//!
//! Points come in panels of [`PANEL`], queries in groups of [`DistanceFilter::GROUP`]. A run of panels small enough for the second-level
//! cache is compared with all queries before the next run is touched. After each tile the threshold of a query that found something
//! is tightened.

use crate::search::nearest::Nearest;

/// Points in a panel: one bit each in a mask.
pub(in crate::search) const PANEL: usize = 32;
/// Panels compared with all queries at a time: 256 rows, which fit the second-level cache up to about 500 columns.
pub(in crate::search) const RUN: usize = 8;
/// A filter that passes more than one pair in this many is abandoned.
const WEAK: usize = 40;

/// A quick test that lets through every pair that might matter, and few others.
pub(in crate::search) trait DistanceFilter {
    /// Queries in a group.
    const GROUP: usize;
    /// Whether something faster can take over where the test turns out weak. A test that measures exactly has nothing to yield to.
    const YIELDS: bool;
    /// What a tile compares with.
    type Threshold: Copy + Default;

    /// Number of points.
    fn n_points(&self) -> usize;
    /// Makes ready the panels of a run, the first of which is `panel`.
    fn load(&mut self, panel: usize);
    /// The threshold for a query that wants points within `limit`, when compared with the loaded run; `full` means that only
    /// a point that beats one already found is of use.
    fn threshold(&self, query: usize, limit: f64, full: bool) -> Self::Threshold;
    /// Sets bit p of `masks[i]` where point p of `panel` passes the test of query i of `group`.
    fn tile(&self, panel: usize, group: usize, thresholds: &[Self::Threshold], masks: &mut [u32]);
    /// The exact distance.
    fn distance(&self, query: usize, point: usize) -> f64;
}

/// How far a scan has come.
#[must_use]
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::search) struct ScanProgress {
    /// Points compared with all queries.
    pub(in crate::search) points: usize,
    /// Pairs measured exactly.
    pub(in crate::search) measured: usize,
}

/// Compares the points from `progress` on with all queries. Stops early, after a whole run, when a filter that yields turns out weak.
pub(in crate::search) fn search_tiles<F: DistanceFilter>(
    filter: &mut F,
    best: &mut [Nearest],
    progress: ScanProgress,
) -> ScanProgress {
    let mut done = progress;
    let first = progress.points / PANEL;
    let panels = filter.n_points().div_ceil(PANEL);
    for run in (first..panels).step_by(RUN) {
        let end = panels.min(run + RUN);
        filter.load(run);
        let mut measured = 0;
        for (group, best) in best.chunks_mut(F::GROUP).enumerate() {
            measured += search_group(filter, run..end, group, best);
        }
        done.points = filter.n_points().min(end * PANEL);
        done.measured += measured;
        // The first runs are no sign: before anything is found, everything passes.
        let settled = done.points > 16 * RUN * PANEL;
        if F::YIELDS
            && settled
            && measured * WEAK > (end - run) * PANEL * best.len()
            && best.iter().any(|b| b.wanted() != usize::MAX)
        {
            break;
        }
    }
    done
}

/// Compares a run of panels with one group of queries; how many pairs were measured.
fn search_group<F: DistanceFilter>(
    filter: &F,
    panels: std::ops::Range<usize>,
    group: usize,
    best: &mut [Nearest],
) -> usize {
    let mut thresholds = [F::Threshold::default(); 16];
    let mut masks = [0u32; 16];
    let (thresholds, masks) = (&mut thresholds[..F::GROUP], &mut masks[..F::GROUP]);
    for (i, best) in best.iter().enumerate() {
        thresholds[i] = filter.threshold(group * F::GROUP + i, best.limit(), best.is_full());
    }
    let mut measured = 0;
    for panel in panels {
        filter.tile(panel, group, thresholds, masks);
        for (i, best) in best.iter_mut().enumerate() {
            let mut mask = masks[i];
            if mask == 0 {
                continue;
            }
            let query = group * F::GROUP + i;
            while mask != 0 {
                let point = panel * PANEL + mask.trailing_zeros() as usize;
                mask &= mask - 1;
                if point < filter.n_points() {
                    best.offer(filter.distance(query, point), point as u32);
                    measured += 1;
                }
            }
            thresholds[i] = filter.threshold(query, best.limit(), best.is_full());
        }
    }
    measured
}
