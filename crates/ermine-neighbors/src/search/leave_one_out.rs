//! The leave-one-out error of every k at once.
//!
//! Each row is predicted from its nearest *other* rows. The neighbors of a row for k are those for k - 1 and one more, so one search for
//! the largest k serves all: O(n k) for uniform and inverse-distance weights, no model is ever fitted again.

use super::nearest::Neighbors;
use super::vote::{MoreNeighbors, TieRule, Vote, mean};
use super::weight::{NeighborWeights, inverse_distance};
use ermine_core::error::{Error, Result};

/// The share of rows misclassified, for k = 1, 2, ...; `neighbors` are those of every row without itself
/// ([`Neighbors::without_self`]), at least as many as the largest k. `search` finds more for row i, should a tie need them.
pub fn classification_errors<'s>(
    neighbors: &Neighbors,
    vote: &Vote<'_>,
    largest_k: usize,
    search: &dyn Fn(usize) -> Box<dyn MoreNeighbors + 's>,
) -> Result<Vec<f64>> {
    check(neighbors, vote.classes.len(), largest_k)?;
    let mut wrong = vec![0usize; largest_k];
    let plain = matches!((vote.weights, vote.tie), (NeighborWeights::Uniform, TieRule::FirstClass));
    for (i, &truth) in vote.classes.iter().enumerate() {
        let (rows, distances) = (neighbors.rows(i), neighbors.distances(i));
        if plain {
            let mut votes = vec![0u32; vote.n_classes];
            let mut winner = u32::MAX;
            for (wrong, &row) in wrong.iter_mut().zip(rows) {
                let class = vote.classes[row as usize];
                votes[class as usize] += 1;
                let lead = if winner == u32::MAX { 0 } else { votes[winner as usize] };
                if votes[class as usize] > lead || (votes[class as usize] == lead && class < winner) {
                    winner = class;
                }
                *wrong += usize::from(winner != truth);
            }
        } else {
            let more = search(i);
            for (k, wrong) in (1..).zip(&mut wrong) {
                let class = vote.class(&rows[..k], &distances[..k], distances.get(k).copied(), &*more)?;
                *wrong += usize::from(class != truth);
            }
        }
    }
    Ok(wrong.into_iter().map(|w| w as f64 / neighbors.len() as f64).collect())
}

/// The mean squared error over rows and outputs, for k = 1, 2, ...; `targets` holds `n_outputs` numbers for each row.
pub fn regression_errors(
    neighbors: &Neighbors,
    weights: &NeighborWeights,
    targets: &[f64],
    n_outputs: usize,
    largest_k: usize,
) -> Result<Vec<f64>> {
    check(neighbors, targets.len() / n_outputs.max(1), largest_k)?;
    let mut squares = vec![0.0; largest_k];
    let mut out = vec![0.0; n_outputs];
    for (i, truth) in targets.chunks_exact(n_outputs).enumerate() {
        let (rows, distances) = (neighbors.rows(i), neighbors.distances(i));
        let mut total = vec![0.0; n_outputs];
        let mut mass = 0.0;
        for (k, square) in (1..).zip(&mut squares) {
            let weight = match weights {
                NeighborWeights::Uniform => Some(1.0),
                NeighborWeights::Distance => Some(inverse_distance(distances[0], distances[k - 1])),
                _ => None,
            };
            if let Some(weight) = weight {
                mass += weight;
                let target = &targets[rows[k - 1] as usize * n_outputs..][..n_outputs];
                for ((total, out), t) in total.iter_mut().zip(&mut out).zip(target) {
                    *total += weight * t;
                    *out = *total / mass;
                }
            } else {
                mean(weights, targets, &rows[..k], &distances[..k], distances.get(k).copied(), &mut out)?;
            }
            *square += out.iter().zip(truth).map(|(o, t)| (o - t) * (o - t)).sum::<f64>();
        }
    }
    Ok(squares.into_iter().map(|s| s / targets.len() as f64).collect())
}

/// The k with the smallest error, the smallest such k.
pub fn best_k(errors: &[f64]) -> usize {
    let best = errors.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
    best.map_or(1, |(i, _)| i + 1)
}

fn check(neighbors: &Neighbors, n_rows: usize, largest_k: usize) -> Result<()> {
    if neighbors.len() != n_rows || n_rows == 0 {
        return Err(Error::data(format!("neighbors of {} rows for targets of {n_rows}", neighbors.len())));
    }
    if let Some(row) = (0..n_rows).find(|&i| neighbors.rows(i).len() < largest_k) {
        let found = neighbors.rows(row).len();
        return Err(Error::data(format!("row {row} has {found} other rows for k up to {largest_k}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::index::Index;
    use crate::search::weight::KernelShape;
    use ermine_core::distance::metric::Metric;
    use ermine_core::distance::rows::RowMatrix;
    use proptest::prelude::*;

    struct NoExtraNeighbors;
    impl MoreNeighbors for NoExtraNeighbors {
        fn nearest(&self, _: usize) -> Result<Vec<(f64, u32)>> {
            Ok(Vec::new())
        }
        fn nearest_otherwise(&self, _: usize) -> Result<Vec<(f64, u32)>> {
            Ok(Vec::new())
        }
    }

    /// The neighbors of row `i` in an index without it.
    fn others(values: &[f64], i: usize, k: usize) -> (Vec<u32>, Vec<f64>) {
        let left: Vec<f64> =
            values.chunks(2).enumerate().filter(|(j, _)| *j != i).flat_map(|(_, v)| v.to_vec()).collect();
        let index = Index::build(&RowMatrix::row_major(&left, 2).unwrap(), Metric::Euclidean).unwrap();
        let found = index.kneighbors(&RowMatrix::row_major(&values[i * 2..][..2], 2).unwrap(), k).unwrap();
        let rows = found.rows(0).iter().map(|&r| if r as usize >= i { r + 1 } else { r }).collect();
        (rows, found.distances(0).to_vec())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn one_search_equals_n_fits(
            cells in proptest::collection::vec(0u8..5, 30), classes in proptest::collection::vec(0u32..3, 15),
            weights in 0usize..3, tie in 0usize..3,
        ) {
            let values: Vec<f64> = cells.iter().map(|&c| f64::from(c)).collect();
            let weights = match weights {
                0 => NeighborWeights::Uniform,
                1 => NeighborWeights::Distance,
                _ => NeighborWeights::Kernel { shape: KernelShape::Gaussian, width: Some(2.0) },
            };
            let tie = [TieRule::FirstClass, TieRule::DropFarthest, TieRule::Distance][tie];
            let rows = RowMatrix::row_major(&values, 2).unwrap();
            let index = Index::build(&rows, Metric::Euclidean).unwrap();
            let neighbors = index.kneighbors(&rows, 7).unwrap().without_self(6);
            let vote = Vote { classes: &classes, n_classes: 3, weights: &weights, tie: &tie };
            let fast = classification_errors(&neighbors, &vote, 5, &|_| Box::new(NoExtraNeighbors)).unwrap();
            let targets: Vec<f64> = classes.iter().map(|&c| f64::from(c * c)).collect();
            let squares = regression_errors(&neighbors, &weights, &targets, 1, 5).unwrap();
            for k in 1..=5 {
                let (mut wrong, mut square) = (0, 0.0);
                for i in 0..15 {
                    let (rows, distances) = others(&values, i, k);
                    wrong += usize::from(vote.class(&rows, &distances, None, &NoExtraNeighbors).unwrap() != classes[i]);
                    let mut out = [0.0];
                    mean(&weights, &targets, &rows, &distances, None, &mut out).unwrap();
                    square += (out[0] - targets[i]) * (out[0] - targets[i]);
                }
                prop_assert_eq!(fast[k - 1], wrong as f64 / 15.0);
                prop_assert!((squares[k - 1] - square / 15.0).abs() < 1e-9);
            }
            prop_assert!(best_k(&fast) <= 5 && fast.iter().all(|e| *e >= fast[best_k(&fast) - 1]));
            prop_assert!(classification_errors(&neighbors, &vote, 99, &|_| Box::new(NoExtraNeighbors)).is_err());
        }
    }
}
