//! Trees against scikit-learn's (`tools/golden_tree.py`) on data without ties, and against the textbooks.

use ermine::prelude::*;
use ermine_core::matrix::{Features, Target};
use ermine_core::param::{Parameters, Value};
use ermine_trees::learner::decision_tree::FittedTree;
use ermine_trees::split::Test;
use ermine_trees::tree::describe;
use ermine_trees::tree::prune::{cost_complexity, cost_complexity_path};
use std::sync::Arc;

fn floats(value: &serde_json::Value) -> Vec<f64> {
    match value {
        serde_json::Value::Array(values) => values.iter().flat_map(floats).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

fn dataset(golden: &serde_json::Value, case: &serde_json::Value) -> Dataset {
    let rows: Vec<Vec<f64>> = golden["x"].as_array().unwrap().iter().map(floats).collect();
    let column = |j: usize| Column::numeric(format!("x{j}"), rows.iter().map(|r| r[j]).collect::<Vec<f64>>());
    let features = Features::new(Arc::new(Table::new((0..rows[0].len()).map(column).collect()).unwrap()));
    let y = floats(&case["y"]);
    let classes = case["name"].as_str().unwrap().contains("classes");
    let (target, task) = if classes {
        let n_classes = y.iter().fold(0.0f64, |a, &b| a.max(b)) as usize + 1;
        let labels = (0..n_classes).map(|c| c.to_string()).collect();
        (Target::Classes { codes: y.iter().map(|&c| c as u32).collect(), labels }, Task::Classification)
    } else {
        let n_outputs = y.len() / rows.len();
        (Target::Values { values: y, n_outputs }, Task::Regression)
    };
    let weight = (!case["weight"].is_null()).then(|| floats(&case["weight"]));
    Dataset::from_parts(features, target, task).unwrap().with_weight(weight).unwrap()
}

fn close(name: &str, ours: &[f64], theirs: &[f64]) {
    assert_eq!(ours.len(), theirs.len(), "{name}");
    for (a, b) in ours.iter().zip(theirs) {
        assert!((a - b).abs() <= 1e-9 * (1.0 + b.abs()), "{name}: {a} {b}");
    }
}

#[test]
fn trees_equal_scikit_learn() {
    let golden: serde_json::Value = serde_json::from_str(include_str!("../golden/tree.json")).unwrap();
    for case in golden["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let data = dataset(&golden, case);
        let mut learner = DecisionTree::default();
        for (param, value) in case["params"].as_object().unwrap() {
            learner.set(param, &serde_json::from_value::<Value>(value.clone()).unwrap()).unwrap();
        }
        let model = learner.fit(&data).unwrap();
        let grown = model.fitted::<FittedTree>().unwrap().grown();
        let decrease = (grown.cost[0] - grown.cost[1] - grown.cost[2]) / grown.tree.weight[0];
        assert!((decrease - case["root_decrease"].as_f64().unwrap()).abs() < 1e-9, "{name}");
        close(name, model.predict_data(&data).unwrap().values(), &floats(&case["prediction"]));
        let path = cost_complexity_path(grown);
        close(name, &path.iter().map(|s| s.alpha).collect::<Vec<_>>(), &floats(&case["alphas"]));
        close(name, &path.iter().map(|s| s.total).collect::<Vec<_>>(), &floats(&case["impurities"]));
        for step in &path {
            let pruned = cost_complexity(grown, step.alpha * (1.0 + 1e-12) + 1e-300);
            let n_leaves = (0..pruned.tree.n_nodes()).filter(|&n| pruned.tree.children(n).is_empty()).count();
            assert!(n_leaves <= step.n_leaves, "{name}: {n_leaves} {}", step.n_leaves);
        }
    }
}

const WEATHER: &str = "sunny hot high false no 85 85
sunny hot high true no 80 90
overcast hot high false yes 83 86
rainy mild high false yes 70 96
rainy cool normal false yes 68 80
rainy cool normal true no 65 70
overcast cool normal true yes 64 65
sunny mild high false no 72 95
sunny cool normal false yes 69 70
rainy mild normal false yes 75 80
sunny mild normal true yes 75 70
overcast mild high true yes 72 90
overcast hot normal false yes 81 75
rainy mild high true no 71 91";

/// The play-tennis data of Quinlan, with temperature and humidity as words or as numbers.
fn weather(numeric: bool, lost: &[usize]) -> Dataset {
    let rows: Vec<Vec<&str>> = WEATHER.lines().map(|line| line.split(' ').collect()).collect();
    let words = |j: usize| rows.iter().map(|r| Some(r[j])).collect::<Vec<_>>();
    let numbers = |j: usize| rows.iter().map(|r| r[j].parse().unwrap()).collect::<Vec<f64>>();
    let mut outlook = words(0);
    lost.iter().for_each(|&row| outlook[row] = None);
    let mut columns = vec![Column::nominal("outlook", &outlook)];
    if numeric {
        columns.extend([Column::numeric("temperature", numbers(5)), Column::numeric("humidity", numbers(6))]);
    } else {
        columns.extend([Column::nominal("temperature", &words(1)), Column::nominal("humidity", &words(2))]);
    }
    columns.extend([Column::nominal("windy", &words(3)), Column::nominal("play", &words(4))]);
    Table::new(columns).unwrap().dataset("play").unwrap()
}

#[test]
fn id3_finds_the_textbook_tree() {
    let data = weather(false, &[]);
    let model = Id3::default().fit(&data).unwrap();
    let expected = "\
outlook?   [weight 14]
├─ missing or new: → yes (64.3%)
├─ = overcast: → yes (100.0%)   [weight 4]
├─ = rainy: windy?   [weight 5]
│  ├─ missing or new: → yes (60.0%)
│  ├─ = false: → yes (100.0%)   [weight 3]
│  └─ = true: → no (100.0%)   [weight 2]
└─ = sunny: humidity?   [weight 5]
   ├─ missing or new: → no (60.0%)
   ├─ = high: → no (100.0%)   [weight 3]
   └─ = normal: → yes (100.0%)   [weight 2]
";
    assert_eq!(model.text(), expected);
    // Mitchell, Machine Learning, 3.4.2: the gain of outlook is 0.246 (0.2467).
    let grown = model.fitted::<FittedTree>().unwrap().grown();
    let gain = (grown.cost[0] - grown.cost[1] - grown.cost[2] - grown.cost[3]) / 14.0;
    assert!((gain - 0.24675).abs() < 1e-5, "{gain}");
    let pruned = C45::default().fit(&data).unwrap();
    let same = expected.lines().filter(|line| !line.contains("missing or new"));
    let same: Vec<&str> =
        same.chain(["missing or new values follow all branches, weighted by their training rows"]).collect();
    assert_eq!(pruned.text().lines().collect::<Vec<_>>(), same, "C4.5 finds the same tree");
}

#[test]
fn the_unit_of_the_weights_does_not_change_a_tree() {
    for (numeric, lost) in [(false, &[][..]), (true, &[][..]), (true, &[11][..])] {
        let data = weather(numeric, lost);
        let weighted = |unit: f64| data.clone().with_weight(Some(vec![unit; 14])).unwrap();
        let trees = |data: &Dataset| {
            let models = [Id3::default().fit(data).unwrap(), C45::default().fit(data).unwrap()];
            models.map(|model| model.fitted::<FittedTree>().unwrap().tree().clone())
        };
        let plain = trees(&data);
        assert!(plain.iter().all(|tree| tree.n_leaves() > 2));
        for unit in [1.0 / 14.0, 0.5, 1e-9, 3.7e8 + 0.5] {
            for (tree, plain) in trees(&weighted(unit)).iter().zip(&plain) {
                assert_eq!(tree.test, plain.test, "{unit}");
                let close = |(a, b): (&f64, &f64)| (a - unit * b).abs() < 1e-9 * unit;
                assert!(tree.weight.iter().zip(&plain.weight).all(close), "weights stay those of the data");
            }
        }
        // Whole weights are repeated rows.
        let rows: Vec<u32> = (0..14).flat_map(|row| [row, row, row]).collect();
        for (tree, repeated) in trees(&weighted(3.0)).iter().zip(trees(&data.select(&rows).unwrap())) {
            assert_eq!(tree.test, repeated.test);
        }
    }
}

#[test]
fn small_nodes_of_id3_and_c45_are_not_split() {
    let data = weather(false, &[]);
    // Five rows each are sunny and rainy.
    let n_leaves = |model: Model| model.fitted::<FittedTree>().unwrap().tree().n_leaves();
    for (min_samples_split, leaves) in [(5, 5), (6, 3), (14, 3), (15, 1)] {
        assert_eq!(n_leaves(Id3 { min_samples_split, ..Default::default() }.fit(&data).unwrap()), leaves);
        let c45 = C45 { min_samples_split, prune: false, ..Default::default() };
        assert_eq!(n_leaves(c45.fit(&data).unwrap()), leaves);
    }
}

#[test]
fn c45_thresholds_equal_the_textbook() {
    let model = C45::default().fit(&weather(true, &[])).unwrap();
    let tree = model.fitted::<FittedTree>().unwrap().tree();
    let questions: Vec<String> = tree.test.iter().map(|test| describe::question(test, model.schema())).collect();
    let asked: Vec<&str> = questions.iter().map(String::as_str).filter(|q| !q.is_empty()).collect();
    assert_eq!(asked, ["outlook", "windy", "humidity <= 75"]);
}

#[test]
fn c45_distributes_rows_with_missing_values_over_branches() {
    // Quinlan 1993, 3.3: the outlook of the 12th row lost; the gain is 13/14 of 0.961 - 0.747 bits = 0.199, the split information 1.809.
    let data = weather(true, &[11]);
    let model = C45 { prune: false, ..Default::default() }.fit(&data).unwrap();
    let tree = model.fitted::<FittedTree>().unwrap().tree();
    assert!(matches!(tree.test[0], Test::Each { feature: 0, .. }));
    let weights: Vec<f64> = tree.children(0).map(|child| tree.weight[child]).collect();
    let expected = [3.0 + 3.0 / 13.0, 5.0 + 5.0 / 13.0, 5.0 + 5.0 / 13.0];
    weights.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{weights:?}"));
    let prediction = model.predict_data(&data).unwrap();
    // The lost row goes down all branches: a mixture, neither of the pure leaves.
    assert!(prediction.row(11)[0] > 0.2 && prediction.row(11)[1] > 0.2, "{:?}", prediction.row(11));
    assert!((prediction.row(11)[0] + prediction.row(11)[1] - 1.0).abs() < 1e-12);
}
