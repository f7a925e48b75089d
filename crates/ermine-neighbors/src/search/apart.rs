//! The nearest rows in other folds, for all rows of an index: one index serves every fold of a cross-validation.
//!
//! **Idea.** Neighbors in a row's own fold are skipped. Slightly more than k neighbors are searched, enough to leave k others for nearly all rows; for the few remaining rows the number is doubled
//! until it is enough.
//!
//! **Cost.** About one search for `k / (1 - share of the largest fold)` neighbors.

use super::index::Index;
use super::nearest::{Nearest, Neighbors};
use ermine_core::distance::rows::RowMatrix;
use ermine_core::error::{Error, Result};

/// Number of rows searched between two calls of `go_on`.
const AT_ONCE: usize = 4096;

impl Index {
    /// The `k` nearest rows in other folds (all of them, if there are fewer), for every row: what an index without its fold would find. `go_on` is called regularly; its error ends the search.
    pub fn neighbors_apart(&self, fold: &[u32], k: usize, go_on: &dyn Fn() -> Result<()>) -> Result<Neighbors> {
        let n = self.len();
        if fold.len() != n {
            return Err(Error::data(format!("got folds for {} rows, but the index has {n} rows", fold.len())));
        }
        let mut sizes = vec![0usize; fold.iter().max().map_or(0, |&f| f as usize + 1)];
        fold.iter().for_each(|&f| sizes[f as usize] += 1);
        let own = sizes.iter().copied().max().unwrap_or(0) as f64 / n as f64;
        let expected = k as f64 / (1.0 - own).max(1e-3);
        // Two standard deviations above the mean, so that about one in forty rows needs another search.
        let mut fetched = ((expected + 2.0 * (expected * own).sqrt()) as usize + 2).min(n);
        let rows = self.kept();
        let (view, width) = (rows.view(), rows.n_features());
        let mut found: Vec<Vec<(f64, u32)>> = vec![Vec::new(); n];
        let mut left: Vec<usize> = (0..n).collect();
        while !left.is_empty() {
            let mut again = Vec::new();
            for some in left.chunks(AT_ONCE) {
                go_on()?;
                let mut asked = vec![0.0; some.len() * width];
                asked.chunks_exact_mut(width).zip(some).for_each(|(out, &row)| view.copy_row(row, out));
                let near =
                    self.batch(&RowMatrix::row_major(&asked, width)?, &Nearest::k(fetched), !rows.are_given())?;
                for (at, &row) in some.iter().enumerate() {
                    let pairs = near.distances(at).iter().copied().zip(near.rows(at).iter().copied());
                    found[row] = pairs.filter(|&(_, other)| fold[other as usize] != fold[row]).take(k).collect();
                    let wanted = k.min(n - sizes[fold[row] as usize]);
                    if found[row].len() < wanted && near.rows(at).len() == fetched && fetched < n {
                        again.push(row);
                    }
                }
            }
            left = again;
            fetched = (2 * fetched).min(n);
        }
        let mut all = Neighbors::with_capacity(n, n * k);
        found.into_iter().for_each(|pairs| all.push(pairs));
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ermine_core::distance::metric::Metric;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(80))]
        #[test]
        fn results_equal_an_index_without_the_fold(
            cells in prop::collection::vec(0u8..6, 8..160), folds in prop::collection::vec(0u32..4, 80), k in 1usize..12, metric in 0usize..2,
        ) {
            let n = cells.len() / 2;
            let values: Vec<f64> = cells[..2 * n].iter().map(|&c| f64::from(c)).collect();
            let fold = &folds[..n];
            let metric = [Metric::Euclidean, Metric::Manhattan][metric].clone();
            let index = Index::build(&RowMatrix::row_major(&values, 2).unwrap(), metric.clone()).unwrap();
            let apart = index.neighbors_apart(fold, k, &|| Ok(())).unwrap();
            for (i, &own) in fold.iter().enumerate() {
                let others: Vec<u32> = (0..n as u32).filter(|&r| fold[r as usize] != own).collect();
                if others.is_empty() {
                    prop_assert!(apart.rows(i).is_empty());
                    continue;
                }
                let left: Vec<f64> = others.iter().flat_map(|&r| values[2 * r as usize..][..2].to_vec()).collect();
                let index = Index::build(&RowMatrix::row_major(&left, 2).unwrap(), metric.clone()).unwrap();
                let found = index.kneighbors(&RowMatrix::row_major(&values[2 * i..][..2], 2).unwrap(), k).unwrap();
                let rows: Vec<u32> = found.rows(0).iter().map(|&r| others[r as usize]).collect();
                prop_assert_eq!(apart.rows(i), &rows[..]);
                prop_assert_eq!(apart.distances(i), found.distances(0));
            }
            prop_assert!(index.neighbors_apart(&fold[1..], k, &|| Ok(())).is_err());
            prop_assert!(matches!(index.neighbors_apart(fold, k, &|| Err(Error::Stopped)), Err(Error::Stopped)));
        }
    }
}
