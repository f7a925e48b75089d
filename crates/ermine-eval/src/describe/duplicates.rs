//! Rows that occur twice: copies within a table, and test rows that are also training rows.
//!
//! Rows are compared by a 64-bit hash of their values, categories by their names. Missing values equal each other, and so do 0 and -0.

use ermine_core::matrix::{Dataset, Features, Target};
use ermine_core::table::MISSING;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// How many rows are copies of an earlier one.
pub fn n_copies(features: &Features) -> usize {
    let hashes = feature_hashes(features, &names(features));
    let distinct: HashSet<u64> = hashes.iter().map(Hasher::finish).collect();
    hashes.len() - distinct.len()
}

/// How many rows of `test` are also in `train`, with the same features and the same target.
pub fn n_shared(train: &Dataset, test: &Dataset) -> usize {
    let names = names(train.features());
    let known: HashSet<u64> = row_hashes(train, &names).into_iter().collect();
    row_hashes(test, &names).into_iter().filter(|hash| known.contains(hash)).count()
}

fn names(features: &Features) -> Vec<String> {
    features.columns().iter().map(|column| column.name.clone()).collect()
}

fn row_hashes(data: &Dataset, names: &[String]) -> Vec<u64> {
    let mut hashes = feature_hashes(data.features(), names);
    match data.target() {
        Target::Classes { codes, labels } => {
            hashes.iter_mut().zip(codes).for_each(|(hash, &code)| labels[code as usize].hash(hash));
        }
        Target::Values { values, n_outputs } => {
            let rows = values.chunks((*n_outputs).max(1));
            hashes.iter_mut().zip(rows).for_each(|(hash, row)| row.iter().for_each(|&x| hash_number(x, hash)));
        }
    }
    hashes.iter().map(Hasher::finish).collect()
}

fn hash_number(x: f64, hash: &mut DefaultHasher) {
    // The sum makes -0 a 0.
    (if x.is_nan() { f64::NAN } else { x + 0.0 }).to_bits().hash(hash);
}

/// A hash of each row, of the columns with these names in this order.
fn feature_hashes(features: &Features, names: &[String]) -> Vec<DefaultHasher> {
    let mut hashes = vec![DefaultHasher::new(); features.n_rows()];
    for name in names {
        let Some(j) = features.columns().iter().position(|column| column.name == *name) else { continue };
        let column = &features.columns()[j];
        match (column.codes(features.rows()), column.levels()) {
            (Some(codes), Some(levels)) => {
                let name = |code: u32| if code == MISSING { None } else { levels.name(code) };
                hashes.iter_mut().zip(codes).for_each(|(hash, code)| name(code).hash(hash));
            }
            _ => hashes.iter_mut().zip(features.numbers(j)).for_each(|(hash, x)| hash_number(x, hash)),
        }
    }
    hashes
}

#[cfg(test)]
mod tests {
    use super::*;
    use ermine_core::table::{Column, Table};

    fn data(x: &[f64], c: &[Option<&str>], y: &[&str]) -> Dataset {
        let y: Vec<Option<&str>> = y.iter().map(|y| Some(*y)).collect();
        let columns = vec![Column::numeric("x", x.to_vec()), Column::nominal("c", c), Column::nominal("y", &y)];
        Table::new(columns).unwrap().dataset("y").unwrap()
    }

    #[test]
    fn rows_are_compared_by_values_and_category_names() {
        let train = data(&[1.0, -0.0, f64::NAN, 1.0], &[Some("b"), None, Some("c"), Some("b")], &["p", "q", "p", "q"]);
        assert_eq!(n_copies(train.features()), 1);
        // Other codes for the same categories; the last row has another target.
        let test = data(&[1.0, 0.0, f64::NAN, 0.0], &[Some("b"), None, Some("c"), None], &["p", "q", "p", "p"]);
        assert_eq!(n_shared(&train, &test), 3);
    }
}
