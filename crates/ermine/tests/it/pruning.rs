//! Pruning: by a validation set of the user's, and by raising branches.

use ermine::prelude::*;
use ermine_core::learner::{Context, fit};
use ermine_core::matrix::{Features, Target};
use ermine_trees::learner::decision_tree::{FittedTree, Pruning};
use std::sync::Arc;

/// A ring with noise in its labels.
fn noisy_ring(n: usize, seed: u64) -> Dataset {
    let mut rng = ermine_core::rng::stream(seed, &[]);
    let mut draw = || ermine_core::rng::below(&mut rng, 2001) as f64 / 1000.0 - 1.0;
    let rows: Vec<Vec<f64>> = (0..n).map(|_| vec![draw(), draw()]).collect();
    let inside = |row: &Vec<f64>, noise: f64| row[0] * row[0] + row[1] * row[1] + noise < 0.6;
    let class: Vec<Option<&str>> =
        rows.iter().map(|row| Some(if inside(row, 0.4 * draw()) { "in" } else { "out" })).collect();
    let mut columns = Table::from_rows(&["x", "y"], &rows).unwrap().into_columns();
    columns.push(Column::nominal("class", &class));
    Table::new(columns).unwrap().dataset("class").unwrap()
}

#[test]
fn pruning_uses_the_validation_set_that_is_given() {
    let (train, other) = (noisy_ring(300, 1), noisy_ring(200, 2));
    let errors = |model: &Model, data: &Dataset| {
        let said = model.predict_data(data).unwrap();
        let codes = data.classes().unwrap().0;
        (0..data.n_rows()).filter(|&row| said.class(row) != codes[row] as usize).count()
    };
    let n_leaves = |model: &Model| model.fitted::<FittedTree>().unwrap().tree().n_leaves();
    for pruning in [Pruning::ReducedError, Pruning::Greedy] {
        let learner = DecisionTree { pruning: Some(pruning), ..Default::default() };
        let fit_with = |validation: &Dataset| {
            fit(&learner, &train, &Context { validation: Some(validation), ..ermine::context() }).unwrap()
        };
        let whole = DecisionTree::default().fit(&train).unwrap();
        let pruned = fit_with(&other);
        assert!(n_leaves(&pruned) < n_leaves(&whole) && errors(&pruned, &other) < errors(&whole, &other));
        // All training rows are grown on, and validated on themselves they lose nothing.
        let own = fit_with(&train);
        assert_eq!(own.fitted::<FittedTree>().unwrap().tree().weight[0], 300.0);
        assert_eq!(errors(&own, &train), errors(&whole, &train));
        // Where the root is never wrong, nothing else is left.
        let (codes, labels) = train.classes().unwrap();
        let majority = u32::from(2 * codes.iter().sum::<u32>() > 300);
        let target = Target::Classes { codes: vec![majority; 200], labels: labels.clone() };
        let constant = other.clone().with_target(target, Task::Classification).unwrap();
        assert_eq!(n_leaves(&fit_with(&constant)), 1);
    }
    // Whoever can't use it says so.
    for learner in [DecisionTree::default(), DecisionTree { pruning: Some(Pruning::Pessimistic), ..Default::default() }]
    {
        let context = Context { validation: Some(&other), ..ermine::context() };
        assert!(fit(&learner, &train, &context).unwrap_err().to_string().contains("validation set"));
    }
    let wrong = Context { validation: Some(&train), ..ermine::context() };
    let numbers = train.clone().with_target(Target::Values { values: vec![1.0; 300], n_outputs: 1 }, Task::Regression);
    let learner = DecisionTree { pruning: Some(Pruning::ReducedError), ..Default::default() };
    assert!(fit(&learner, &numbers.unwrap(), &wrong).unwrap_err().to_string().contains("another target"));
}

#[test]
fn the_leaves_of_id3_and_c45_are_those_that_predict() {
    let names = ["low", "mid", "high"];
    let number = |row: usize, factor: usize| ((row * factor) % 23) as f64;
    let cell = |row: usize| (row % 9 != 4).then(|| names[row * 5 % 7 % 3]);
    let columns = vec![
        Column::numeric("x", (0..90).map(|row| number(row, 7)).collect::<Vec<f64>>()),
        Column::nominal("c", &(0..90).map(cell).collect::<Vec<_>>()),
    ];
    let features = Features::new(Arc::new(Table::new(columns).unwrap()));
    let codes = (0..90).map(|row| u32::from(number(row, 7) > 9.0) + u32::from(cell(row) == Some("mid"))).collect();
    let labels = ["a", "b", "c"].map(String::from).into_iter().collect();
    let data = Dataset::from_parts(features, Target::Classes { codes, labels }, Task::Classification).unwrap();
    for model in [C45::default().fit(&data).unwrap(), Id3::default().fit(&data).unwrap()] {
        let (leaves, n_trees) = model.leaves(data.features()).unwrap();
        assert_eq!((leaves.len(), n_trees), (90, 1));
        let predicted = model.predict_data(&data).unwrap();
        let tree = model.fitted::<FittedTree>().unwrap().tree();
        assert!(tree.n_leaves() > 2);
        for row in 0..90 {
            let leaf = leaves[row] as usize;
            assert!(tree.children(leaf).is_empty(), "node {leaf} is no leaf");
            // A row without its category is in several leaves of C4.5, and its prediction is their mean.
            if cell(row).is_some() {
                assert_eq!(tree.value(leaf), predicted.row(row), "row {row}");
            }
        }
    }
}

#[test]
fn early_stopping_of_adaboost_uses_the_validation_set_that_is_given() {
    let (train, other) = (noisy_ring(300, 3), noisy_ring(300, 4));
    let learner = AdaBoost { n_estimators: 200, n_iter_no_change: Some(5), ..Default::default() };
    let model = fit(&learner, &train, &Context { validation: Some(&other), ..ermine::context() }).unwrap();
    let rounds = model.fitted::<ermine::reduction::adaboost::BoostedVote>().unwrap().rounds();
    let said = model.predict_data(&other).unwrap();
    let codes = other.classes().unwrap().0;
    let wrong = (0..300).filter(|&row| said.class(row) != codes[row] as usize).count();
    assert!(rounds.len() < 200);
    assert!((rounds.last().unwrap().validation - wrong as f64 / 300.0).abs() < 1e-12);
}

#[test]
fn branches_are_raised_unless_that_is_turned_off() {
    let raised = |seed: u64, subtree_raising: bool| {
        let data = noisy_ring(150, seed);
        let model = C45 { subtree_raising, min_samples_leaf: 1, ..Default::default() }.fit(&data).unwrap();
        // What a leaf says are the shares of the rows that end in it.
        let tree = model.fitted::<FittedTree>().unwrap().tree();
        let (ends, codes) = (tree.apply(data.features()), data.classes().unwrap().0);
        for leaf in (0..tree.n_nodes()).filter(|&node| tree.children(node).is_empty()) {
            let rows: Vec<usize> = (0..150).filter(|&row| ends[row] as usize == leaf).collect();
            let second = rows.iter().filter(|&&row| codes[row] == 1).count() as f64 / rows.len() as f64;
            assert!(rows.is_empty() || (tree.value(leaf)[1] - second).abs() < 1e-12);
        }
        model.certificate().notes.iter().any(|note| note.contains("raised"))
    };
    assert!((0..60).any(|seed| raised(seed, true)));
    assert!((0..60).all(|seed| !raised(seed, false)));
}
