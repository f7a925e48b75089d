//! Search results: the k nearest rows, or all within a radius, ordered by (distance, row).
//!
//! Ties in distance go to the smaller row number, so the result is unique.

use ermine_core::error::{Error, Result};

/// The best rows seen so far by one query.
#[derive(Debug, Clone)]
pub struct Nearest {
    k: usize,
    radius: f64,
    /// Sorted while `k` limits it; in the order of arrival for a search by radius alone.
    found: Vec<(f64, u32)>,
}

impl Nearest {
    /// The `k` nearest.
    pub fn k(k: usize) -> Nearest {
        Nearest { k, radius: f64::INFINITY, found: Vec::with_capacity(k.min(1 << 16)) }
    }

    /// All within `radius`, the boundary included.
    pub fn within(radius: f64) -> Nearest {
        Nearest { k: usize::MAX, radius, found: Vec::new() }
    }

    /// The same. An error for an invalid radius.
    pub(super) fn around(radius: f64) -> Result<Nearest> {
        if radius >= 0.0 {
            return Ok(Nearest::within(radius));
        }
        Err(Error::Param {
            owner: "nearest neighbors".into(),
            name: "radius".into(),
            value: radius.to_string(),
            allowed: "at least 0".into(),
        })
    }

    /// Number of neighbors to find; `usize::MAX` for a radius search.
    pub fn wanted(&self) -> usize {
        self.k
    }

    /// Clears the results for the next query.
    pub fn clear(&mut self) {
        self.found.clear();
    }

    /// Rows at a larger distance can't be among the results.
    #[inline(always)]
    pub fn limit(&self) -> f64 {
        if self.found.len() < self.k { self.radius } else { self.found[self.k - 1].0 }
    }

    /// Whether a new row would replace another.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.found.len() >= self.k
    }

    /// Adds `row` if it is near enough.
    #[inline(always)]
    pub fn offer(&mut self, distance: f64, row: u32) {
        if distance.is_nan() || distance > self.radius {
            return;
        }
        if self.k == usize::MAX {
            self.found.push((distance, row));
            return;
        }
        if self.found.len() == self.k {
            match self.found.last() {
                Some(&last) if (distance, row) < last => self.found.pop(),
                _ => return,
            };
        }
        let mut at = self.found.len();
        self.found.push((distance, row));
        while at > 0 && self.found[at - 1] > (distance, row) {
            self.found[at] = self.found[at - 1];
            at -= 1;
        }
        self.found[at] = (distance, row);
    }

    /// The results, nearest first.
    pub fn sorted(&mut self) -> &[(f64, u32)] {
        if self.k == usize::MAX {
            self.found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        }
        &self.found
    }
}

/// The neighbors of several queries, nearest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Neighbors {
    starts: Vec<usize>,
    rows: Vec<u32>,
    distances: Vec<f64>,
}

impl Neighbors {
    /// Number of queries.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there were no queries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows near query `i`.
    pub fn rows(&self, i: usize) -> &[u32] {
        &self.rows[self.starts[i]..self.starts[i + 1]]
    }

    /// The distances of [`Neighbors::rows`].
    pub fn distances(&self, i: usize) -> &[f64] {
        &self.distances[self.starts[i]..self.starts[i + 1]]
    }

    /// All rows, query after query.
    pub fn all_rows(&self) -> &[u32] {
        &self.rows
    }

    /// All distances, query after query.
    pub fn all_distances(&self) -> &[f64] {
        &self.distances
    }

    /// The neighbors other than the query itself, where query `i` is row `i` of the index: at most `k` each.
    #[must_use]
    pub fn without_self(&self, k: usize) -> Neighbors {
        let mut kept = Neighbors::with_capacity(self.len(), self.rows.len());
        for i in 0..self.len() {
            let pairs = self.distances(i).iter().copied().zip(self.rows(i).iter().copied());
            kept.push(pairs.filter(|&(_, row)| row as usize != i).take(k));
        }
        kept
    }

    pub(super) fn with_capacity(queries: usize, neighbors: usize) -> Neighbors {
        let mut starts = Vec::with_capacity(queries + 1);
        starts.push(0);
        Neighbors { starts, rows: Vec::with_capacity(neighbors), distances: Vec::with_capacity(neighbors) }
    }

    /// Adds the neighbors of the next query.
    pub(super) fn push(&mut self, found: impl IntoIterator<Item = (f64, u32)>) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        for (distance, row) in found {
            self.rows.push(row);
            self.distances.push(distance);
        }
        self.starts.push(self.rows.len());
    }

    /// Adds the queries of another batch.
    pub(super) fn append(&mut self, other: &Neighbors) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        let shift = self.rows.len();
        self.starts.extend(other.starts.iter().skip(1).map(|s| s + shift));
        self.rows.extend_from_slice(&other.rows);
        self.distances.extend_from_slice(&other.distances);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_k_smallest_pairs_are_kept(offers in proptest::collection::vec((0u32..9, 0u32..50), 0..60), k in 1usize..8) {
            let mut offers: Vec<(f64, u32)> = offers.into_iter().map(|(d, r)| (f64::from(d), r)).collect();
            offers.dedup();
            let mut best = Nearest::k(k);
            let mut near = Nearest::within(4.0);
            for &(distance, row) in &offers {
                best.offer(distance, row);
                near.offer(distance, row);
            }
            offers.sort_by(|a, b| a.partial_cmp(b).unwrap());
            prop_assert_eq!(best.sorted(), &offers[..k.min(offers.len())]);
            let inside: Vec<_> = offers.into_iter().filter(|o| o.0 <= 4.0).collect();
            prop_assert_eq!(near.sorted(), &inside[..]);
        }
    }
}
