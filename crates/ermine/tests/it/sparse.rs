//! Trees on tables of mostly zeros: the models of the same values in full, without writing the zeros out.

use ermine::prelude::*;
use ermine_core::learner::parameters::{CountOrFraction, MaxFeatures};
use ermine_core::matrix::{Features, Target};
use ermine_core::rng;
use ermine_trees::learner::forest::{FittedForest, ForestMaxFeatures};
use std::sync::Arc;

/// What the columns of a table are like.
#[derive(Clone, Copy, PartialEq)]
enum Cells {
    Plain,
    Missing,
    Mixed,
}

/// Mostly zeros, as sparse columns or in full, with a nominal column for `Mixed`.
fn features(n: usize, d: usize, cells: Cells, sparse: bool) -> Features {
    let mut rng = rng::stream(7, &[d as u64]);
    let mut draw = |k: usize| rng::below(&mut rng, k);
    let mut columns = Vec::new();
    for j in 0..d {
        // Some columns are common, most are rare.
        let one_in = if j % 20 == 0 { 3 } else { 25 };
        let mut values = vec![0.0; n];
        for x in &mut values {
            if draw(one_in) == 0 {
                *x = if cells != Cells::Plain && draw(9) == 0 { f64::NAN } else { (draw(9) as f64 - 3.0) / 2.0 };
            }
        }
        let name = format!("x{j}");
        columns.push(if sparse {
            let rows: Vec<u32> = (0..n as u32).filter(|&row| values[row as usize] != 0.0).collect();
            let values: Vec<f64> = rows.iter().map(|&row| values[row as usize]).collect();
            Column::sparse(name, n, rows.into(), values.into())
        } else {
            Column::numeric(name, values)
        });
    }
    if cells == Cells::Mixed {
        let names: Vec<Option<String>> =
            (0..n).map(|_| Some(draw(6)).filter(|&c| c > 0).map(|c| format!("c{c}"))).collect();
        columns.push(Column::nominal("c", &names));
    }
    Features::new(Arc::new(Table::new(columns).unwrap()))
}

/// A target that depends on a few columns.
fn data(n: usize, d: usize, cells: Cells, n_classes: usize, sparse: bool) -> Dataset {
    let features = features(n, d, cells, sparse);
    let columns: Vec<Vec<f64>> = (0..d).step_by(10).map(|j| features.numbers(j)).collect();
    let mut rng = rng::stream(3, &[]);
    let score = |row: usize| columns.iter().map(|x| if x[row].is_nan() { 1.0 } else { x[row] }).sum::<f64>();
    let score: Vec<f64> = (0..n).map(|row| score(row) + rng::uniform(&mut rng)).collect();
    if n_classes == 0 {
        return Dataset::from_parts(features, Target::Values { values: score, n_outputs: 1 }, Task::Regression)
            .unwrap();
    }
    let codes = score.iter().map(|s| (s.abs() as usize % n_classes) as u32).collect();
    let labels = (0..n_classes).map(|c| c.to_string()).collect();
    Dataset::from_parts(features, Target::Classes { codes, labels }, Task::Classification).unwrap()
}

fn same_model(name: &str, fit: impl Fn(&Dataset) -> Model, shape: (usize, usize), cells: Cells, n_classes: usize) {
    let of = |sparse: bool| data(shape.0, shape.1, cells, n_classes, sparse);
    let (sparse, full) = (of(true), of(false));
    assert!(sparse.features().is_sparse() && !full.features().is_sparse());
    let (ours, expected) = (fit(&sparse), fit(&full));
    assert_eq!(ours.to_bytes().unwrap(), expected.to_bytes().unwrap(), "{name}");
    let predicted = expected.predict_data(&full).unwrap();
    assert_eq!(ours.predict_data(&sparse).unwrap(), predicted, "{name}");
    assert_eq!(expected.predict_data(&sparse).unwrap(), predicted, "{name}");
    // A choice of rows, some of them twice.
    let rows: Vec<u32> = (0..shape.0 as u32).rev().step_by(3).chain(0..9).collect();
    let [some, some_full] = [&sparse, &full].map(|data| data.select(&rows).unwrap());
    assert_eq!(fit(&some).to_bytes().unwrap(), fit(&some_full).to_bytes().unwrap(), "{name} on some rows");
}

#[test]
fn forests_of_sparse_columns_are_those_of_the_same_values_in_full() {
    for cells in [Cells::Plain, Cells::Missing, Cells::Mixed] {
        for n_classes in [0, 2, 4] {
            let small = |forest: RandomForest| RandomForest { n_estimators: 4, ..forest };
            let forest = small(RandomForest::default());
            same_model("random forest", |data| forest.fit(data).unwrap(), (300, 240), cells, n_classes);
            let all = ForestMaxFeatures::Of(MaxFeatures::All);
            let forest = small(RandomForest {
                max_features: all,
                min_samples_leaf: CountOrFraction::Count(3),
                max_leaf_nodes: Some(12),
                ..Default::default()
            });
            same_model("all columns", |data| forest.fit(data).unwrap(), (200, 240), cells, n_classes);
            let trees = ExtraTrees { n_estimators: 4, ..Default::default() };
            same_model("extra trees", |data| trees.fit(data).unwrap(), (300, 240), cells, n_classes);
        }
    }
}

#[test]
fn boosting_on_sparse_columns_is_that_on_the_same_values_in_full() {
    for cells in [Cells::Plain, Cells::Missing, Cells::Mixed] {
        for n_classes in [0, 2, 3] {
            let boosting = GradientBoosting { n_estimators: 5, ..Default::default() };
            same_model("boosting", |data| boosting.fit(data).unwrap(), (400, 230), cells, n_classes);
            let sampled = GradientBoosting {
                n_estimators: 4,
                subsample: 0.7,
                colsample_bytree: 0.5,
                max_bins: 5,
                ..Default::default()
            };
            same_model("sampled boosting", |data| sampled.fit(data).unwrap(), (400, 230), cells, n_classes);
        }
    }
}

#[test]
fn trees_of_sparse_columns_are_those_of_the_same_values_in_full() {
    for cells in [Cells::Plain, Cells::Missing, Cells::Mixed] {
        for n_classes in [0, 2, 3] {
            let tree = DecisionTree::default();
            same_model("decision tree", |data| tree.fit(data).unwrap(), (200, 150), cells, n_classes);
        }
    }
}

/// Columns were numbered in 16 bits.
#[test]
fn forests_use_columns_beyond_the_first_65536() {
    let (n, d) = (200, 70_000);
    let column = |j: usize| {
        let rows: Vec<u32> = if j + 3 >= d { (0..n).step_by(2).collect() } else { vec![j as u32 % n] };
        let values = vec![1.0; rows.len()];
        Column::sparse(format!("x{j}"), n as usize, rows.into(), values.into())
    };
    let features = Features::new(Arc::new(Table::new((0..d).map(column).collect()).unwrap()));
    let codes = (0..n).map(|row| row % 2).collect();
    let labels = vec!["0".to_string(), "1".to_string()];
    let data =
        Dataset::from_parts(features, Target::Classes { codes, labels: labels.into() }, Task::Classification).unwrap();
    let max_features = ForestMaxFeatures::Of(MaxFeatures::All);
    let model = RandomForest { n_estimators: 3, max_features, ..Default::default() }.fit(&data).unwrap();
    let forest = model.fitted::<FittedForest>().unwrap();
    assert_eq!(forest.forest().n_nodes(), 9, "one split of the last columns is enough for each tree");
}
