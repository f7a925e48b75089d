//! Exact boosting against XGBoost's exact trees (`tools/make_golden_boosting.py`) on data without ties.

use ermine::prelude::*;
use ermine_core::matrix::{Features, Target};
use ermine_trees::learner::gradient_boosting::{BoostedTrees, GrowPolicy, TreeMethod};
use ermine_trees::split::Test;
use ermine_trees::tree::Tree;
use serde_json::Value;
use std::sync::Arc;

fn dataset(golden: &Value, case: &Value) -> Dataset {
    let rows = golden["x"].as_array().unwrap();
    let cell = |row: &Value, j: usize| row[j].as_f64().unwrap_or(f64::NAN);
    let column = |j: usize| Column::numeric(format!("x{j}"), rows.iter().map(|row| cell(row, j)).collect::<Vec<_>>());
    let features = Features::new(Arc::new(Table::new((0..4).map(column).collect()).unwrap()));
    let numbers = |value: &Value| value.as_array().map(|v| v.iter().map(|x| x.as_f64().unwrap()).collect::<Vec<_>>());
    let y = numbers(&case["y"]).unwrap();
    let name = case["name"].as_str().unwrap();
    let (target, task) = if name.starts_with("log loss") || name.starts_with("three classes") {
        let labels =
            ["a", "b", "c"][..if name.starts_with("three") { 3 } else { 2 }].iter().map(|l| l.to_string()).collect();
        (Target::Classes { codes: y.iter().map(|&y| y as u32).collect(), labels }, Task::Classification)
    } else {
        (Target::Values { values: y, n_outputs: 1 }, Task::Regression)
    };
    Dataset::from_parts(features, target, task).unwrap().with_weight(numbers(&case["weight"])).unwrap()
}

/// The same questions and, to 1e-5, the same leaves. XGBoost asks `x < threshold` in single precision.
fn same(name: &str, ours: &Tree, node: usize, theirs: &Value, seen_missing: bool) {
    let Value::Array(parts) = theirs else {
        assert_eq!(ours.test[node], Test::Leaf, "{name}, node {node}");
        let weight = theirs.as_f64().unwrap();
        assert!((ours.value(node)[0] - weight).abs() < 1e-5, "{name}, node {node}: {} {weight}", ours.value(node)[0]);
        return;
    };
    let Test::AtMost { feature, threshold, missing_left } = ours.test[node] else {
        panic!("{name}: {:?}", ours.test[node])
    };
    assert_eq!(u64::from(feature), parts[0].as_u64().unwrap(), "{name}, node {node}");
    // Where missing values are parted from all others, ours is above all values, and XGBoost's above those of the node.
    let close = threshold.is_infinite() || (threshold - parts[1].as_f64().unwrap()).abs() < 1e-5;
    assert!(close, "{name}, node {node}: {threshold} {}", parts[1]);
    // Only the last column misses values; elsewhere the side of what is missing means nothing.
    if feature == 3 && seen_missing {
        assert_eq!(missing_left, parts[2].as_bool().unwrap(), "{name}, node {node}");
    }
    let child = ours.child[node] as usize;
    // Below a question about the last column, one side has no missing values left.
    let still = |left: bool| seen_missing && (feature != 3 || missing_left == left);
    same(name, ours, child, &parts[3], still(true));
    same(name, ours, child + 1, &parts[4], still(false));
}

#[test]
fn exact_trees_are_those_of_xgboost() {
    let golden: Value = serde_json::from_str(include_str!("../golden/boosting.json")).unwrap();
    for case in golden["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let params = &case["params"];
        let number = |key: &str, default: f64| params[key].as_f64().unwrap_or(default);
        let data = dataset(&golden, case);
        // The curvature of three classes is k / (k - 1) p (1 - p) here, and 2 p (1 - p) there: steps and penalties by their ratio make up for that.
        let unit = if name.starts_with("three classes") { 0.75 } else { 1.0 };
        let learner = GradientBoosting {
            n_estimators: case["rounds"].as_u64().unwrap() as usize,
            learning_rate: 0.3 * unit,
            max_depth: params["max_depth"].as_u64().map(|d| d as usize),
            max_leaf_nodes: None,
            grow_policy: GrowPolicy::Depthwise,
            tree_method: TreeMethod::Exact,
            reg_lambda: number("reg_lambda", 1.0) * unit,
            reg_alpha: number("reg_alpha", 0.0),
            min_child_weight: number("min_child_weight", 1.0) * unit,
            // XGBoost's base score is a probability for classes: 0.5 is the score 0.
            base_score: Some(if name.starts_with("log loss") { 0.0 } else { 0.5 }),
            ..Default::default()
        };
        let model = learner.fit(&data).unwrap();
        let fitted = model.fitted::<BoostedTrees>().unwrap().booster();
        let trees = case["trees"].as_array().unwrap();
        assert_eq!(trees.len(), fitted.n_trees());
        for (number, theirs) in trees.iter().enumerate() {
            same(&format!("{name}, tree {number}"), &fitted.tree(number), 0, theirs, true);
        }
        let scores = fitted.scores(data.features(), fitted.n_rounds());
        for (ours, theirs) in scores.iter().zip(case["margin"].as_array().unwrap()) {
            assert!((ours - theirs.as_f64().unwrap()).abs() < 1e-4, "{name}: {ours} {theirs}");
        }
    }
}
