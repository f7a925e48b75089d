//! The cache of kernel rows, and their addition to the sums of all rows.
//!
//! Columns are cut into chunks whose bounds depend on `n` alone. A chunk owns its part of every kept row and of the sums, so that threads share nothing, and adds the rows in the same
//! order whatever their number. When the cache is full, the least recently used rows are evicted; rows that are not cached are computed and discarded.

use crate::kernel::{KernelElement, KernelMatrix};
use ermine_core::error::Result;
use ermine_core::linalg::lanes;
use ermine_core::parallel;
use ermine_core::progress::{Observer, check};

/// Columns in a chunk.
const CHUNK: usize = 1024;
/// Rows computed together.
const GROUP: usize = 8;
/// No place.
const NONE: u32 = u32::MAX;

/// The rows that are kept.
pub(super) struct KernelRowCache<E> {
    /// For each chunk of columns, its part of every place.
    chunks: Vec<Vec<Vec<E>>>,
    /// The place of each row.
    place_of: Vec<u32>,
    /// For each place, its row and when it was last used.
    places: Vec<(u32, u64)>,
    most_places: usize,
    clock: u64,
    n_computed: u64,
}

/// A row to add: its number, how often, and the place of its values.
#[derive(Clone, Copy)]
struct VariableChange {
    row: u32,
    factor: f64,
    place: u32,
}

impl<E: KernelElement> KernelRowCache<E> {
    /// Room for as many rows of `n` values as `bytes` hold.
    pub(super) fn new(n: usize, bytes: usize) -> KernelRowCache<E> {
        KernelRowCache {
            chunks: vec![Vec::new(); n.div_ceil(CHUNK)],
            place_of: vec![NONE; n],
            places: Vec::new(),
            most_places: (bytes / (n * size_of::<E>()).max(1)).min(n),
            clock: 0,
            n_computed: 0,
        }
    }

    /// How many rows were computed.
    pub(super) fn n_computed(&self) -> u64 {
        self.n_computed
    }

    /// `sums += sum factor K_row`.
    pub(super) fn add(
        &mut self,
        gram: &dyn KernelMatrix<E>,
        changes: &[(u32, f64)],
        sums: &mut [f64],
        observer: &dyn Observer,
    ) -> Result<()> {
        self.clock += 1;
        let (known, new) = self.plan(changes);
        self.n_computed += new.len() as u64;
        let n_places = self.places.len();
        let parts = parallel::consume(self.chunks.iter_mut().zip(sums.chunks_mut(CHUNK)), |c, (kept, sums)| {
            let (start, width) = (c * CHUNK, sums.len());
            kept.resize(n_places, Vec::new());
            let mut values = vec![E::ZERO; GROUP * width];
            for group in new.chunks(GROUP) {
                check(observer)?;
                let rows: Vec<u32> = group.iter().map(|change| change.row).collect();
                let factors: Vec<f64> = group.iter().map(|change| change.factor).collect();
                let values = &mut values[..group.len() * width];
                gram.block(&rows, start..start + width, values);
                lanes::add_rows(values, width, &factors, sums);
                for (change, values) in group.iter().zip(values.chunks_exact(width)) {
                    if change.place != NONE {
                        let place = &mut kept[change.place as usize];
                        place.clear();
                        place.extend_from_slice(values);
                    }
                }
            }
            for change in &known {
                lanes::axpy(change.factor, &kept[change.place as usize], sums);
            }
            Ok(())
        });
        parts.into_iter().collect()
    }

    /// Which rows are there, and where the others go.
    fn plan(&mut self, changes: &[(u32, f64)]) -> (Vec<VariableChange>, Vec<VariableChange>) {
        let (mut known, mut new) = (Vec::new(), Vec::new());
        for &(row, factor) in changes {
            let place = self.place_of[row as usize];
            if place != NONE {
                self.places[place as usize].1 = self.clock;
                known.push(VariableChange { row, factor, place });
            } else {
                new.push(VariableChange { row, factor, place });
            }
        }
        let spare = self.most_places - self.places.len();
        let mut old: Vec<(u64, u32)> = Vec::new();
        if new.len() > spare {
            let idle = self.places.iter().enumerate().filter(|(_, (_, used))| *used < self.clock);
            old = idle.map(|(place, (_, used))| (*used, place as u32)).collect();
            old.sort_unstable_by(|a, b| b.cmp(a));
        }
        for change in &mut new {
            // The second variable of a row may have brought it in just now: it is computed twice, and kept once.
            if self.place_of[change.row as usize] != NONE {
                continue;
            }
            let place = if self.places.len() < self.most_places {
                self.places.push((0, 0));
                self.places.len() as u32 - 1
            } else if let Some((_, place)) = old.pop() {
                self.place_of[self.places[place as usize].0 as usize] = NONE;
                place
            } else {
                continue;
            };
            change.place = place;
            self.places[place as usize] = (change.row, self.clock);
            self.place_of[change.row as usize] = place;
        }
        (known, new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::CustomKernelMatrix;
    use proptest::prelude::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]
        #[test]
        fn rows_are_added_whether_or_not_they_are_cached(places in 0usize..12, asked in prop::collection::vec(prop::collection::vec(0u32..40, 1..10), 1..12)) {
            let n = 40;
            let count = AtomicUsize::new(0);
            let value = |i: usize, j: usize| {
                count.fetch_add(1, Ordering::Relaxed);
                ((i * j) % 7) as f64
            };
            let gram = CustomKernelMatrix::new(n, &value);
            let mut rows = KernelRowCache::<f64>::new(n, places * n * 8);
            let (mut sums, mut truth) = (vec![0.0; n], vec![0.0; n]);
            for (t, list) in asked.iter().enumerate() {
                let changes: Vec<(u32, f64)> = list.iter().map(|&r| (r, t as f64 + 1.0)).collect();
                rows.add(&gram, &changes, &mut sums, &ermine_core::progress::Silent).unwrap();
                for (row, factor) in changes {
                    (0..n).for_each(|j| truth[j] += factor * ((row as usize * j) % 7) as f64);
                }
                prop_assert!(rows.places.len() <= places);
                prop_assert!(rows.chunks.iter().all(|c| c.len() <= places));
            }
            prop_assert_eq!(sums, truth);
            prop_assert_eq!(count.load(Ordering::Relaxed) as u64, rows.n_computed() * n as u64);
        }
    }
}
