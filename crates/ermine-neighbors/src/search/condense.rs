//! Prototype selection: condensed and edited sets.
//!
//! - **Condensed** (Hart): a row is kept if the rows kept so far misclassify it by their nearest neighbor, repeated until none is. The kept rows classify every row correctly (except equal rows of
//!   different classes); most are near the boundary.
//! - **Edited** (Wilson): rows that are outvoted by their k nearest other rows are dropped, which removes noise.
//!
//! References: Hart (1968), "The condensed nearest neighbor rule"; Wilson (1972), "Asymptotic properties of nearest neighbor rules using edited
//! data".

use super::index::Index;
use super::nearest::Neighbors;
use ermine_core::distance::metric::Metric;
use ermine_core::distance::rows::RowMatrix;
use ermine_core::error::{Error, Result};

/// The rows of Hart's condensed set, ascending. Rows are visited in their order, again and again until a whole round adds none; among equally near
/// kept rows the one with the smallest number decides, as it does in an index over them.
pub fn condensed(rows: &RowMatrix<'_>, classes: &[u32], metric: &Metric) -> Result<Vec<u32>> {
    if rows.n_rows() != classes.len() || classes.is_empty() {
        return Err(Error::data(format!("{} classes for {} rows", classes.len(), rows.n_rows())));
    }
    metric.check_rows(rows)?;
    let d = rows.n_features();
    let mut row = vec![0.0; d];
    rows.copy_row(0, &mut row);
    let mut index = Index::build(&RowMatrix::row_major(&row, d)?, metric.clone())?;
    let mut kept = vec![0u32];
    let mut taken = vec![false; classes.len()];
    taken[0] = true;
    loop {
        let before = kept.len();
        for (i, &class) in classes.iter().enumerate() {
            if taken[i] {
                continue;
            }
            rows.copy_row(i, &mut row);
            let (distance, nearest) = nearest(&index, &kept, &RowMatrix::row_major(&row, d)?)?;
            // An equal row of another class would never be classified correctly.
            if classes[nearest] != class && distance > 0.0 {
                index.add(&RowMatrix::row_major(&row, d)?)?;
                kept.push(i as u32);
                taken[i] = true;
            }
        }
        if kept.len() == before {
            kept.sort_unstable();
            return Ok(kept);
        }
    }
}

/// How far the nearest kept row is and which it is: of several the one with the smallest number. (The index knows them in the order they were taken up.)
fn nearest(index: &Index, kept: &[u32], query: &RowMatrix<'_>) -> Result<(f64, usize)> {
    let mut found = index.kneighbors(query, 2)?;
    let distance = found.distances(0)[0];
    if found.distances(0).get(1) == Some(&distance) {
        found = index.radius_neighbors(query, distance)?;
    }
    let level = found.distances(0).iter().zip(found.rows(0)).filter(|(d, _)| **d == distance);
    let first = level.map(|(_, &place)| kept[place as usize]).min().unwrap_or(kept[0]);
    Ok((distance, first as usize))
}

/// The rows of Wilson's edited set, ascending: those that the majority of their neighbors (all of those in `neighbors`, which are those of
/// every row without itself) agree with. A row whose class is level with another stays.
pub fn edited(neighbors: &Neighbors, classes: &[u32], n_classes: usize) -> Result<Vec<u32>> {
    if neighbors.len() != classes.len() {
        return Err(Error::data(format!("neighbors of {} rows for {} classes", neighbors.len(), classes.len())));
    }
    let stays = |i: usize| {
        let mut votes = vec![0u32; n_classes];
        neighbors.rows(i).iter().for_each(|&row| votes[classes[row as usize] as usize] += 1);
        votes[classes[i] as usize] == votes.iter().copied().max().unwrap_or(0)
    };
    Ok((0..classes.len()).filter(|&i| stays(i)).map(|i| i as u32).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn a_condensed_set_classifies_all_rows(cells in proptest::collection::vec(0u16..60, 2..160)) {
            let values: Vec<f64> = cells.iter().map(|&c| f64::from(c)).collect();
            let values = &values[..values.len() / 2 * 2];
            let rows = RowMatrix::row_major(values, 2).unwrap();
            let classes: Vec<u32> = values.chunks(2).map(|v| u32::from(v[0] + v[1] > 55.0)).collect();
            let kept = condensed(&rows, &classes, &Metric::Euclidean).unwrap();
            prop_assert!(kept.is_sorted());
            let small: Vec<f64> = kept.iter().flat_map(|&r| values[r as usize * 2..][..2].to_vec()).collect();
            let index = Index::build(&RowMatrix::row_major(&small, 2).unwrap(), Metric::Euclidean).unwrap();
            let found = index.kneighbors(&rows, 1).unwrap();
            for (i, &class) in classes.iter().enumerate() {
                prop_assert_eq!(classes[kept[found.rows(i)[0] as usize] as usize], class);
            }
        }
    }

    #[test]
    fn editing_drops_outvoted_rows() {
        let values = [0.0, 1.0, 2.0, 3.0, 10.0, 11.0, 12.0];
        let classes = [0, 0, 1, 0, 1, 1, 1];
        let rows = RowMatrix::row_major(&values, 1).unwrap();
        let index = Index::build(&rows, Metric::Euclidean).unwrap();
        let neighbors = index.kneighbors(&rows, 4).unwrap().without_self(3);
        assert_eq!(edited(&neighbors, &classes, 2).unwrap(), [0, 1, 3, 4, 5, 6]);
        // Condensing keeps the first row of each run of a class.
        assert_eq!(condensed(&rows, &classes, &Metric::Euclidean).unwrap(), [0, 2, 3, 4]);
    }
}
