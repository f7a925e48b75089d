//! Stored rows in the form that the metric compares: unchanged, or embedded if they are stored as given.

use ermine_core::distance::metric::Metric;
use ermine_core::distance::rows::{PointElement, Points, StoredPoints};
use std::ops::Range;

/// Rows that are embedded at a time.
const LANES: usize = 16;
/// Up to this many numbers, an embedded row lies on the stack.
const SHORT: usize = 32;
/// What an index may hold beside the rows as they were given, as a share of them.
pub(super) const SPARE_SHARE: f64 = 0.3;

/// Kept rows and the metric that measures them.
#[derive(Clone, Copy)]
pub(super) struct Measured<'a> {
    points: &'a Points,
    metric: &'a Metric,
    /// Numbers of a row as it is measured.
    width: usize,
}

impl<'a> Measured<'a> {
    pub(super) fn new(points: &'a Points, metric: &'a Metric) -> Measured<'a> {
        let d = points.n_features();
        let width = if points.are_given() { metric.embedded_features(d) } else { d };
        Measured { points, metric, width }
    }

    /// Number of rows.
    pub(super) fn n_rows(&self) -> usize {
        self.points.n_rows()
    }

    /// Numbers of a row as it is measured.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// How many more bytes an index may hold so that it stays within [`SPARE_SHARE`] of the rows as given.
    pub(super) fn spare(&self) -> usize {
        let kept = self.points.bytes();
        // Embedded for cosine, rows are one column wider than they were.
        let wider = !self.points.are_given() && matches!(self.metric, Metric::Cosine) && self.width > 1;
        let given = if wider { kept / self.width * (self.width - 1) } else { kept };
        (((1.0 + SPARE_SHARE) * given as f64) as usize).saturating_sub(kept)
    }

    /// Writes a row as it is measured to `out`.
    pub(super) fn copy(&self, row: usize, out: &mut [f64]) {
        let d = self.points.n_features();
        self.points.view().copy_row(row, &mut out[..d]);
        if self.points.are_given() {
            self.metric.embed_lanes(d, out.as_chunks_mut::<1>().0);
        }
    }

    /// Writes rows from `first` on, one after the other, as many as `out` has room for.
    pub(super) fn copy_run(&self, first: usize, out: &mut [f64]) {
        if !self.points.are_given() {
            for (row, out) in (first..).zip(out.chunks_exact_mut(self.width)) {
                self.points.view().copy_row(row, out);
            }
            return;
        }
        let (d, rows) = (self.points.n_features(), self.points.view());
        let (mut row, mut columns) = (vec![0.0; d], vec![[0.0; LANES]; self.width]);
        for (block, out) in out.chunks_mut(LANES * self.width).enumerate() {
            for p in 0..out.len() / self.width {
                rows.copy_row(first + block * LANES + p, &mut row);
                columns.iter_mut().zip(&row).for_each(|(column, &v)| column[p] = v);
            }
            embed(self.metric, d, &mut columns);
            for (p, out) in out.chunks_exact_mut(self.width).enumerate() {
                out.iter_mut().zip(&columns).for_each(|(to, column)| *to = column[p]);
            }
        }
    }

    /// Rows of a range with their places in it, as they are measured.
    pub(super) fn for_each(&self, range: Range<usize>, mut visit: impl FnMut(usize, &[f64])) {
        let mut room = vec![0.0; LANES.min(range.len()) * self.width];
        for first in range.clone().step_by(LANES) {
            let rows = &mut room[..LANES.min(range.end - first) * self.width];
            self.copy_run(first, rows);
            (first - range.start..).zip(rows.chunks_exact(self.width)).for_each(|(i, row)| visit(i, row));
        }
    }

    /// The distance between a query, as it is measured, and a row.
    #[inline(always)]
    pub(super) fn distance(&self, query: &[f64], row: usize) -> f64 {
        let d = self.points.n_features();
        match self.points.kept() {
            StoredPoints::F32(values) => self.distance_to(query, &values[row * d..][..d]),
            StoredPoints::F64(values) => self.distance_to(query, &values[row * d..][..d]),
        }
    }

    /// The same for a row as it is kept.
    #[inline(always)]
    pub(super) fn distance_to<E: PointElement>(&self, query: &[f64], kept: &[E]) -> f64 {
        if self.points.are_given() { self.embedded_distance(query, kept) } else { self.metric.distance(query, kept) }
    }

    fn embedded_distance<E: PointElement>(&self, query: &[f64], kept: &[E]) -> f64 {
        let measure = |row: &mut [f64]| {
            row.iter_mut().zip(kept).for_each(|(to, v)| *to = v.wide());
            self.metric.embed_lanes(kept.len(), row.as_chunks_mut::<1>().0);
            self.metric.distance(query, row)
        };
        if self.width <= SHORT { measure(&mut [0.0; SHORT][..self.width]) } else { measure(&mut vec![0.0; self.width]) }
    }
}

ermine_core::versions! {
    fn embed(metric: &Metric, n_features: usize, columns: &mut [[f64; LANES]]) {
        metric.embed_lanes(n_features, columns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ermine_core::distance::rows::RowMatrix;

    #[test]
    fn rows_stored_as_given_have_the_distances_of_embedded_rows() {
        for d in [1, 3, 40] {
            let values: Vec<f32> = (0..37 * d).map(|i| ((i * 7919) % 31) as f32 - 11.0).collect();
            let points = Points::copy(&RowMatrix::row_major_f32(&values, d).unwrap()).with_given(true);
            let measured = Measured::new(&points, &Metric::Cosine);
            let (mut run, mut row) = (vec![0.0; 30 * (d + 1)], vec![0.0; d + 1]);
            measured.copy_run(5, &mut run);
            for (i, found) in (5..).zip(run.chunks(d + 1)) {
                measured.copy(i, &mut row);
                assert_eq!(row, found);
                let given: Vec<f64> = values[i * d..][..d].iter().map(|&v| f64::from(v)).collect();
                let mut embedded = vec![0.0; d + 1];
                Metric::Cosine.embed(&given, &mut embedded);
                assert_eq!(row, embedded);
                assert_eq!(measured.distance(&row, i), 0.0);
                assert_eq!(
                    measured.distance(&row, 0),
                    Metric::Cosine.distance(&row, &{
                        let mut first = vec![0.0; d + 1];
                        measured.copy(0, &mut first);
                        first
                    })
                );
            }
        }
    }
}
