//! Comparison-based forests: any metric, strings too.

use ermine::prelude::*;
use ermine_core::learner::{Context, fit};
use ermine_trees::learner::comparison_forest::FittedComparisons;
use ermine_trees::learner::comparison_tree::{ComparisonMetric, ComparisonTree};

/// Rows on a ring: inside or outside.
fn ring(n: usize, seed: u64) -> Dataset {
    let mut rng = ermine_core::rng::stream(seed, &[]);
    let mut draw = || ermine_core::rng::below(&mut rng, 20001) as f64 / 10000.0 - 1.0;
    let (x, y): (Vec<f64>, Vec<f64>) = (0..n).map(|_| (draw(), draw())).unzip();
    let class: Vec<Option<&str>> =
        x.iter().zip(&y).map(|(x, y)| Some(if x * x + y * y < 0.5 { "in" } else { "out" })).collect();
    let columns = vec![Column::numeric("x", x), Column::numeric("y", y), Column::nominal("class", &class)];
    Table::new(columns).unwrap().dataset("class").unwrap()
}

fn accuracy(model: &Model, data: &Dataset) -> f64 {
    let said = model.predict_data(data).unwrap();
    let (codes, _) = data.classes().unwrap();
    codes.iter().enumerate().filter(|&(row, &c)| said.class(row) == c as usize).count() as f64 / codes.len() as f64
}

#[test]
fn every_metric_learns_a_ring_and_the_forest_beats_a_tree() {
    let (train, test) = (ring(500, 1), ring(500, 2));
    use ComparisonMetric::{Chebyshev, Euclidean, Mahalanobis, Manhattan, Minkowski};
    for metric in [Euclidean, Manhattan, Chebyshev, Minkowski, Mahalanobis] {
        let forest = ComparisonForest { metric, p: 3.0, n_estimators: 40, oob_score: true, ..Default::default() };
        let model = forest.fit(&train).unwrap();
        let oob = model.fitted::<FittedComparisons>().unwrap().out_of_bag().unwrap().score;
        let seen = accuracy(&model, &test);
        assert!(seen > 0.92 && (seen - oob).abs() < 0.04, "{metric}: {seen}, out of bag {oob}");
        let one = ComparisonForest { metric, p: 3.0, n_estimators: 1, ..Default::default() }.fit(&train).unwrap();
        assert!(seen > accuracy(&one, &test), "{metric}");
        let bytes = model.to_bytes().unwrap();
        let read = ermine::load_bytes(&bytes).unwrap();
        assert!(
            read.to_bytes().unwrap() == bytes
                && read.predict_data(&test).unwrap() == model.predict_data(&test).unwrap()
        );
    }
}

#[test]
fn a_custom_metric_equal_to_a_built_in_one_gives_the_same_model() {
    let (train, test) = (ring(200, 3), ring(100, 4));
    let forest = ComparisonForest { n_estimators: 10, metric: ComparisonMetric::Manhattan, ..Default::default() };
    let context = Context { seed: 7, ..ermine::context() };
    let own = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum();
    let (own, built_in) = (forest.fit_with(own, &train, &context).unwrap(), fit(&forest, &train, &context).unwrap());
    assert_eq!(own.predict_data(&test).unwrap().values(), built_in.predict_data(&test).unwrap().values());
    assert!(own.to_bytes().is_err(), "a function can't be written");
    let tree = ComparisonTree { metric: ComparisonMetric::Manhattan, ..Default::default() };
    let own = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum();
    let (own, built_in) = (tree.fit_with(own, &train, &context).unwrap(), fit(&tree, &train, &context).unwrap());
    assert_eq!(own.predict_data(&test).unwrap().values(), built_in.predict_data(&test).unwrap().values());
}

#[test]
fn string_and_cosine_metrics_separate_names_and_directions() {
    let names =
        ["anna", "anne", "hanna", "hannes", "johann", "johanna", "peter", "petra", "piet", "pieter", "petro", "pete"];
    let rows: Vec<usize> = (0..120).map(|i| i % names.len()).collect();
    let columns = vec![
        Column::nominal("name", &rows.iter().map(|&r| Some(names[r])).collect::<Vec<_>>()),
        Column::nominal("family", &rows.iter().map(|&r| Some(if r < 6 { "j" } else { "p" })).collect::<Vec<_>>()),
    ];
    let data = Table::new(columns).unwrap().dataset("family").unwrap();
    for metric in [ComparisonMetric::Edit, ComparisonMetric::HammingText, ComparisonMetric::Hamming] {
        let model = ComparisonForest { metric, n_estimators: 20, ..Default::default() }.fit(&data).unwrap();
        assert_eq!(accuracy(&model, &data), 1.0, "{metric}");
    }
    let angle: Vec<f64> = (0..300).map(|i| f64::from(i) * 0.37).collect();
    let at = |f: fn(f64) -> f64| angle.iter().enumerate().map(|(i, a)| (1.0 + i as f64) * f(*a)).collect::<Vec<f64>>();
    let columns = vec![
        Column::numeric("x", at(f64::cos)),
        Column::numeric("y", at(f64::sin)),
        Column::numeric("target", angle.iter().map(|a| a.cos()).collect::<Vec<_>>()),
    ];
    let data = Table::new(columns).unwrap().dataset("target").unwrap();
    let model = ComparisonForest { metric: ComparisonMetric::Cosine, n_estimators: 30, ..Default::default() }
        .fit(&data)
        .unwrap();
    let said = model.predict_data(&data).unwrap();
    let worst = said.values().iter().zip(&angle).map(|(s, a)| (s - a.cos()).abs()).fold(0.0, f64::max);
    assert!(worst < 0.3, "{worst}");
}

#[test]
fn out_of_bag_results_need_bootstrap_samples() {
    let forest = ComparisonForest { bootstrap: false, oob_score: true, ..Default::default() };
    assert!(forest.fit(&ring(30, 5)).unwrap_err().to_string().contains("oob_score"));
    assert!(
        ComparisonForest { p: 0.5, metric: ComparisonMetric::Minkowski, ..Default::default() }
            .fit(&ring(30, 5))
            .is_err()
    );
}

#[test]
fn unseen_strings_are_compared_by_their_text() {
    // Words near "aaaa" are of one class, words near "bbbb" of the other.
    let words = ["aaaa", "aaab", "aaca", "daaa", "bbbb", "bbba", "bcbb", "bbbd"];
    let classes: Vec<Option<&str>> = words.iter().map(|w| Some(if w.contains("aa") { "a" } else { "b" })).collect();
    let names: Vec<Option<&str>> = words.iter().map(|w| Some(*w)).collect();
    let columns = vec![Column::nominal("word", &names), Column::nominal("class", &classes)];
    let data = Table::new(columns).unwrap().dataset("class").unwrap();
    let unseen = ["aaae", "eaaa", "bbbe", "ebbb", "bbbb"];
    let table = Table::new(vec![Column::nominal("word", &unseen.map(Some))]).unwrap();
    for metric in [ComparisonMetric::Edit, ComparisonMetric::HammingText] {
        let forest = ComparisonForest { metric, n_estimators: 30, ..Default::default() };
        let models = [ComparisonTree { metric, ..Default::default() }.fit(&data).unwrap(), forest.fit(&data).unwrap()];
        for model in models {
            let read = ermine::load_bytes(&model.to_bytes().unwrap()).unwrap();
            for model in [&model, &read] {
                let said = model.predict(&table).unwrap();
                let said: Vec<usize> = (0..5).map(|row| said.class(row)).collect();
                assert_eq!(said, [0, 0, 1, 1, 1], "{metric}: {}", model.header().learner);
                assert_eq!(accuracy(model, &data), 1.0);
            }
            let reasons = read.explain_row(&table, 0).unwrap();
            assert!(reasons.is_none_or(|said| said.contains("aa") || said.contains("bb")), "pairs are named");
        }
    }
}
