//! Random forests and extra-trees against brute force and against what they promise.

use ermine::learner::forest::{ColumnsTried, FittedForest};
use ermine::learner::tree_parameters::{Amount, ClassWeight, MaxFeatures};
use ermine::learner::{Context, fit};
use ermine::matrix::{Features, Target};
use ermine::prelude::*;
use ermine::split::Impurity;
use proptest::prelude::*;
use std::sync::Arc;

/// One tree on all rows and columns.
fn one_tree() -> RandomForest {
    RandomForest {
        n_estimators: 1,
        bootstrap: false,
        max_features: ColumnsTried::Of(MaxFeatures::All),
        ..Default::default()
    }
}

fn classes(columns: Vec<Column>, codes: &[usize], k: usize) -> Dataset {
    let features = Features::new(Arc::new(Table::new(columns).unwrap()));
    let labels = (0..k).map(|c| c.to_string()).collect();
    let target = Target::Classes { codes: codes.iter().map(|&c| c as u32).collect(), labels };
    Dataset::from_parts(features, target, Task::Classification).unwrap()
}

fn numbers(columns: Vec<Column>, values: Vec<f64>, n_outputs: usize) -> Dataset {
    let features = Features::new(Arc::new(Table::new(columns).unwrap()));
    Dataset::from_parts(features, Target::Values { values, n_outputs }, Task::Regression).unwrap()
}

fn accuracy(model: &Model, data: &Dataset) -> f64 {
    let said = model.predict_data(data).unwrap();
    let (codes, _) = data.classes().unwrap();
    codes.iter().enumerate().filter(|&(row, &c)| said.class(row) == c as usize).count() as f64 / codes.len() as f64
}

/// Ten columns of which three matter, some values missing, and a nominal one.
fn sample(n: usize, seed: u64, k: usize) -> Dataset {
    let mut rng = ermine::rng::stream(seed, &[9]);
    let mut draw = |k: usize| ermine::rng::below(&mut rng, k);
    let columns: Vec<Vec<f64>> = (0..9)
        .map(|c| {
            (0..n).map(|_| if c == 8 && draw(5) == 0 { f64::NAN } else { draw(1000) as f64 / 500.0 - 1.0 }).collect()
        })
        .collect();
    let names: Vec<usize> = (0..n).map(|_| draw(6)).collect();
    let codes: Vec<usize> = (0..n)
        .map(|i| {
            let score = columns[0][i] + columns[1][i] * columns[2][i] + [0.5, -0.5, 0.3, -0.3, 0.0, 0.1][names[i]];
            let clean = ((score + 1.5) / 3.0 * k as f64).clamp(0.0, k as f64 - 1.0) as usize;
            if draw(20) == 0 { draw(k) } else { clean }
        })
        .collect();
    let mut made: Vec<Column> =
        columns.into_iter().enumerate().map(|(c, x)| Column::numeric(format!("x{c}"), x)).collect();
    made.push(Column::nominal("name", &names.iter().map(|n| Some(format!("n{n}"))).collect::<Vec<_>>()));
    classes(made, &codes, k)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_first_split_is_the_best_one(
        rows in prop::collection::vec((prop::option::weighted(0.9, -3i8..4), -3i8..4, 0usize..4, 1u8..4), 2..30),
        n_classes in 2usize..5, half_weights in any::<bool>(), entropy in any::<bool>(),
    ) {
        let columns = vec![
            Column::numeric("a", rows.iter().map(|r| r.0.map_or(f64::NAN, f64::from)).collect::<Vec<_>>()),
            Column::numeric("b", rows.iter().map(|r| f64::from(r.1)).collect::<Vec<_>>()),
        ];
        let codes: Vec<usize> = rows.iter().map(|r| r.2 % n_classes).collect();
        let weights: Vec<f64> = rows.iter().map(|r| f64::from(r.3) * if half_weights { 0.5 } else { 1.0 }).collect();
        let data = classes(columns.clone(), &codes, n_classes).with_weight(Some(weights.clone())).unwrap();
        let (criterion, impurity) = if entropy {
            (ermine::split::cells::ForestCriterion::Entropy, Impurity::Entropy)
        } else {
            (ermine::split::cells::ForestCriterion::Gini, Impurity::Gini)
        };
        let model = RandomForest { max_depth: Some(1), criterion, ..one_tree() }.fit(&data).unwrap();
        // The impurity of the leaves against that of the best of all thresholds.
        let leaves = model.fitted::<FittedForest>().unwrap().forest().apply(data.features());
        let cost = |side: &dyn Fn(usize) -> bool| -> f64 {
            let mut sides = [vec![0.0; n_classes], vec![0.0; n_classes]];
            for row in 0..rows.len() { sides[usize::from(side(row))][codes[row]] += weights[row]; }
            sides.iter().map(|s| impurity.cost(s)).sum()
        };
        let mut least = f64::INFINITY;
        for column in &columns {
            for threshold in (-4..4).map(|t| f64::from(t) + 0.5) {
                for missing in [true, false] {
                    least = least.min(cost(&|row| { let x = column.number(row); if x.is_nan() { missing } else { x > threshold } }));
                }
            }
        }
        let first = leaves.iter().copied().min().unwrap();
        let got = cost(&|row| leaves[row] != first);
        prop_assert!((got - least).abs() < 1e-9, "{got} is not {least}");
    }

    #[test]
    fn a_full_tree_gets_rows_right_that_can_be_told_apart(
        x in prop::collection::vec((0u8..20, 0u8..20, 0usize..3), 1..120), k in 1usize..4, extra in any::<bool>(), seed in any::<u64>(),
    ) {
        let mut rows: Vec<(u8, u8, usize)> = x;
        rows.sort_unstable();
        rows.dedup_by_key(|r| (r.0, r.1));
        let columns = vec![
            Column::numeric("a", rows.iter().map(|r| f64::from(r.0)).collect::<Vec<_>>()),
            Column::nominal("b", &rows.iter().map(|r| Some(r.1.to_string())).collect::<Vec<_>>()),
        ];
        let codes: Vec<usize> = rows.iter().map(|r| r.2 % k).collect();
        let data = classes(columns.clone(), &codes, k);
        let context = Context { seed, ..Default::default() };
        let tree = RandomForest { max_features: ColumnsTried::Auto, ..one_tree() };
        let model = if extra { fit(&ExtraTrees { n_estimators: 2, ..Default::default() }, &data, &context) } else { fit(&tree, &data, &context) }.unwrap();
        prop_assert_eq!(accuracy(&model, &data), 1.0);
        // The same for numbers, several at once too.
        let values: Vec<f64> = codes.iter().enumerate().flat_map(|(i, &c)| [c as f64 * 1e3, i as f64]).collect();
        for n_outputs in [1, 2] {
            let y: Vec<f64> = values.chunks(2).flat_map(|v| v[..n_outputs].to_vec()).collect();
            let data = numbers(columns.clone(), y.clone(), n_outputs);
            let said = fit(&tree, &data, &context).unwrap().predict_data(&data).unwrap();
            prop_assert!(said.values().iter().zip(&y).all(|(a, b)| (a - b).abs() < 1e-9));
        }
    }
}

#[test]
fn whole_weights_are_repeated_rows_and_other_weights_scale() {
    for k in [2, 3] {
        let data = sample(200, 4, k);
        let weights: Vec<f64> = (0..200).map(|row| f64::from(1 + row % 3)).collect();
        let repeated: Vec<u32> = (0..200u32).flat_map(|row| std::iter::repeat_n(row, 1 + row as usize % 3)).collect();
        let forest = RandomForest { min_samples_split: Amount::Count(12), ..one_tree() };
        let said = |data: &Dataset| forest.fit(data).unwrap().predict_data(&sample(200, 4, k)).unwrap();
        let whole = said(&data.clone().with_weight(Some(weights.clone())).unwrap());
        let rows = said(&data.select(&repeated).unwrap());
        assert!(whole.values().iter().zip(rows.values()).all(|(a, b)| (a - b).abs() < 1e-12));
    }
}

#[test]
fn forests_are_good_on_new_rows_and_know_it() {
    for (k, least) in [(2, 0.8), (4, 0.7)] {
        let (train, test) = (sample(3000, 1, k), sample(3000, 2, k));
        let model = RandomForest { n_estimators: 60, oob_score: true, ..Default::default() }.fit(&train).unwrap();
        let forest = model.fitted::<FittedForest>().unwrap();
        let (seen, oob) = (accuracy(&model, &test), forest.out_of_bag().unwrap());
        assert!(seen > least && (seen - oob.score).abs() < 0.03, "{k} classes: {seen}, out of bag {}", oob.score);
        assert!(oob.n_judged > 2990 && model.certificate().to_string().contains("out-of-bag accuracy"));
        let shares = forest.importances();
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9 && shares[0] > 0.2 && shares[5] < 0.1, "{shares:?}");
        let extra = ExtraTrees { n_estimators: 60, ..Default::default() }.fit(&train).unwrap();
        assert!(accuracy(&extra, &test) > least);
        let balanced = RandomForest { n_estimators: 30, class_weight: ClassWeight::Balanced, ..Default::default() };
        assert!(accuracy(&balanced.fit(&train).unwrap(), &test) > least - 0.02);
        assert!(model.text().contains("out-of-bag accuracy"));
    }
}

#[test]
fn a_longer_forest_begins_with_the_shorter_one() {
    let data = sample(400, 3, 2);
    let grow = |n_estimators: usize| RandomForest { n_estimators, ..Default::default() }.fit(&data).unwrap();
    let (short, long) = (grow(3), grow(40));
    let tree = |model: &Model, t: usize| model.fitted::<FittedForest>().unwrap().forest().tree(t);
    (0..3).for_each(|t| assert_eq!(tree(&short, t), tree(&long, t)));
    assert_ne!(tree(&long, 0), tree(&long, 1));
}

#[test]
fn limits_are_kept() {
    let data = sample(1000, 5, 2);
    let forest = RandomForest { n_estimators: 5, max_leaf_nodes: Some(7), ..Default::default() }.fit(&data).unwrap();
    let trees = |m: &Model| (0..5).map(|t| m.fitted::<FittedForest>().unwrap().forest().tree(t)).collect::<Vec<_>>();
    assert!(trees(&forest).iter().all(|t| t.n_leaves() == 7));
    assert!(accuracy(&forest, &data) > 0.7, "the best splits come first");
    let learner =
        RandomForest { n_estimators: 5, max_depth: Some(3), min_samples_leaf: Amount::Count(40), ..Default::default() };
    for tree in trees(&learner.fit(&data).unwrap()) {
        assert!(tree.depth() <= 3 && tree.weight.iter().all(|&w| w >= 40.0));
    }
    assert!(RandomForest { bootstrap: false, oob_score: true, ..Default::default() }.fit(&data).is_err());
}

#[test]
fn rows_of_one_leaf_are_alike() {
    let data = sample(60, 6, 2);
    let model = RandomForest { n_estimators: 20, ..Default::default() }.fit(&data).unwrap();
    let alike = model.fitted::<FittedForest>().unwrap().proximity(data.features());
    for a in 0..60 {
        assert_eq!(alike[a * 60 + a], 1.0);
        (0..60).for_each(|b| assert_eq!(alike[a * 60 + b], alike[b * 60 + a]));
    }
}

#[test]
fn numbers_are_fitted_in_any_range() {
    for (scale, shift) in [(1.0, 0.0), (1e-90, 0.0), (1e90, 0.0), (1.0, 1e9)] {
        let x: Vec<f64> = (0..500).map(f64::from).collect();
        let y: Vec<f64> = x.iter().map(|x| (x / 40.0).sin() * scale + shift).collect();
        let data = numbers(vec![Column::numeric("x", x)], y.clone(), 1);
        let said =
            RandomForest { n_estimators: 30, ..Default::default() }.fit(&data).unwrap().predict_data(&data).unwrap();
        let worst = said.values().iter().zip(&y).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 0.1 * scale, "{scale} {shift}: {worst}");
    }
}

#[test]
fn a_forest_takes_little_room() {
    let model = RandomForest { n_estimators: 20, ..Default::default() }.fit(&sample(3000, 7, 2)).unwrap();
    let n_nodes = model.fitted::<FittedForest>().unwrap().forest().n_nodes();
    // A node of scikit-learn takes 64 bytes, and 16 for the shares of two classes.
    assert!(model.to_bytes().unwrap().len() < 40 * n_nodes);
}
