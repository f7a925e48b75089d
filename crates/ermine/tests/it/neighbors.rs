//! Nearest neighbours against scikit-learn's (`tools/golden_neighbors.py`), and what the parameters do.

use ermine::learner::nearest_neighbors::{
    Algorithm, Keep, MetricName, NearestNeighbors, NeighborModel, TieName, WeightName,
};
use ermine::matrix::{Features, Target};
use ermine::param::{Parameters, Value};
use ermine::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

fn floats(value: &serde_json::Value) -> Vec<f64> {
    match value {
        serde_json::Value::Array(values) => values.iter().flat_map(floats).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

fn golden() -> serde_json::Value {
    serde_json::from_str(include_str!("../golden/neighbors.json")).unwrap()
}

fn features(values: &[f64], width: usize) -> Features {
    let column = |j: usize| {
        Column::numeric(format!("x{j}"), values.iter().skip(j).step_by(width).copied().collect::<Vec<f64>>())
    };
    Features::new(Arc::new(Table::new((0..width).map(column).collect()).unwrap()))
}

fn classes(values: &[f64], width: usize, codes: &[f64]) -> Dataset {
    let n_classes = codes.iter().fold(0.0f64, |a, &b| a.max(b)) as usize + 1;
    let labels = (0..n_classes).map(|c| c.to_string()).collect();
    let target = Target::Classes { codes: codes.iter().map(|&c| c as u32).collect(), labels };
    Dataset::from_parts(features(values, width), target, Task::Classification).unwrap()
}

fn numbers(values: &[f64], width: usize, targets: Vec<f64>, n_outputs: usize) -> Dataset {
    let target = Target::Values { values: targets, n_outputs };
    Dataset::from_parts(features(values, width), target, Task::Regression).unwrap()
}

fn close(name: &str, ours: &[f64], theirs: &[f64]) {
    assert_eq!(ours.len(), theirs.len(), "{name}");
    for (a, b) in ours.iter().zip(theirs) {
        assert!((a - b).abs() <= 1e-9 * (1.0 + b.abs()), "{name}: {a} {b}");
    }
}

#[test]
fn the_same_as_scikit_learn() {
    let golden = golden();
    let (x, queries) = (floats(&golden["x"]), floats(&golden["queries"]));
    let asked = classes(&queries, 4, &[0.0; 40]);
    let train = classes(&x, 4, &floats(&golden["classes"]));
    let many = numbers(&x, 4, floats(&golden["values"]), 2);
    for case in golden["cases"].as_array().unwrap() {
        for algorithm in [Algorithm::Auto, Algorithm::KdTree, Algorithm::BallTree, Algorithm::Brute] {
            let mut learner = NearestNeighbors { algorithm, ..Default::default() };
            for (name, key) in [("n_neighbors", "k"), ("p", "p")] {
                learner.set(name, &Value::Float(case[key].as_f64().unwrap())).unwrap();
            }
            for name in ["metric", "weights"] {
                learner.set(name, &Value::Text(case[name].as_str().unwrap().into())).unwrap();
            }
            let name = format!("{} {} {}", case["metric"], case["weights"], case["k"]);
            let ours = learner.fit(&train).unwrap().predict_data(&asked).unwrap();
            close(&name, ours.values(), &floats(&case["probabilities"]));
            let ours = learner.fit(&many).unwrap().predict_data(&asked).unwrap();
            close(&name, ours.values(), &floats(&case["means"]));
        }
    }
    let learner = NearestNeighbors { radius: Some(3.0), weights: WeightName::Distance, ..Default::default() };
    let kept: Vec<u32> = floats(&golden["radius"]["rows"]).iter().map(|&r| r as u32).collect();
    let ours = learner.fit(&many).unwrap().predict_data(&asked.select(&kept).unwrap()).unwrap();
    close("radius", ours.values(), &floats(&golden["radius"]["means"]));
    // Where nothing is inside the radius the nearest row answers.
    assert!(learner.fit(&many).unwrap().predict_data(&asked).unwrap().values().iter().all(|v| v.is_finite()));
}

#[test]
fn digits_as_scikit_learn_reads_them() {
    let data = std::env::var_os("ERMINE_DATA").map_or_else(|| PathBuf::from("../../../shared/data"), PathBuf::from);
    let path = data.join("mnist_10k.csv.gz");
    if !path.exists() {
        return;
    }
    let roles = Roles { task: Some(Task::Classification), ..Roles::target("label") };
    let data = Dataset::new(Table::read(&path).unwrap(), &roles).unwrap();
    let train = data.select(&(0..8000).collect::<Vec<u32>>()).unwrap();
    let test = data.select(&(8000..10_000).collect::<Vec<u32>>()).unwrap();
    for k in [1, 3] {
        let model = NearestNeighbors { n_neighbors: k, ..Default::default() }.fit(&train).unwrap();
        let prediction = model.predict_data(&test).unwrap();
        let Target::Classes { codes, .. } = test.target() else { panic!("classes were asked for") };
        let best = |row: &[f64]| (0..row.len()).rev().max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
        let wrong = (0..2000).filter(|&i| best(prediction.row(i)) != codes[i] as usize).count();
        assert_eq!(wrong as u64, golden()["mnist_wrong"][k.to_string()].as_u64().unwrap(), "k = {k}");
    }
}

#[test]
fn ties_are_decided_as_asked() {
    // Around 0: classes 1 and 0 at distance 1 and 2, then 1 and 0 at 3 and 4, then 0 at 5.
    let x = [1.0, -2.0, 3.0, -4.0, 5.0];
    let data = classes(&x, 1, &[1.0, 0.0, 1.0, 0.0, 0.0]);
    let asked = classes(&[0.0], 1, &[0.0]);
    let class = |tie: TieName| {
        let learner = NearestNeighbors { n_neighbors: 4, tie, ..Default::default() };
        let model = learner.fit(&data).unwrap();
        let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        let row = model.predict_data(&asked).unwrap().row(0).to_vec();
        assert_eq!(row, again.predict_data(&asked).unwrap().row(0));
        assert!((row[0] - 0.5).abs() < 1e-12, "still a tie to the eye: {row:?}");
        usize::from(row[1] > row[0])
    };
    assert_eq!(class(TieName::First), 0);
    assert_eq!(class(TieName::NextPoint), 0);
    assert_eq!(class(TieName::DropFarthest), 1);
    assert_eq!(class(TieName::Distance), 1);
    assert_eq!(class(TieName::OtherMetric), 1, "level there too, and then the nearest decides");
}

#[test]
fn k_is_chosen_by_leaving_each_row_out() {
    let golden = golden();
    let x = floats(&golden["x"]);
    let data = numbers(&x, 4, x.chunks(4).map(|r| r[0] + r[1]).collect(), 1);
    let model = NearestNeighbors { max_neighbors: Some(20), ..Default::default() }.fit(&data).unwrap();
    let chosen = model.fitted::<NeighborModel>().unwrap().k();
    let error = |k: usize| {
        let fitted =
            |rows: &[u32]| NearestNeighbors { n_neighbors: k, ..Default::default() }.fit(&data.select(rows).unwrap());
        let square = |i: u32| {
            let rows: Vec<u32> = (0..160).filter(|&j| j != i).collect();
            let said = fitted(&rows).unwrap().predict_data(&data.select(&[i]).unwrap()).unwrap().values()[0];
            let Target::Values { values, .. } = data.target() else { panic!("numbers") };
            (said - values[i as usize]).powi(2)
        };
        (0..160).map(square).sum::<f64>() / 160.0
    };
    assert!((model.certificate().value.unwrap() - error(chosen)).abs() < 1e-9);
    assert!([1, 2, 3, 20].into_iter().all(|k| error(k) >= error(chosen) - 1e-12));
}

#[test]
fn fewer_rows_and_tables_as_they_are() {
    let golden = golden();
    let x = floats(&golden["x"]);
    let side: Vec<f64> = x.chunks(4).map(|r| f64::from(u8::from(r[0] > 0.0))).collect();
    let data = classes(&x, 4, &side);
    let kept = |keep: Keep| {
        let model = NearestNeighbors { keep, n_neighbors: 1, ..Default::default() }.fit(&data).unwrap();
        let right = model.predict_data(&data).unwrap();
        let right = (0..160).filter(|&i| (right.row(i)[1] > 0.5) == (side[i] == 1.0)).count();
        (model.fitted::<NeighborModel>().unwrap().index().len(), right)
    };
    let (condensed, right) = kept(Keep::Condensed);
    assert!(condensed < 100 && right == 160, "{condensed} {right}");
    assert!(kept(Keep::Edited).0 < 160);
    assert!(NearestNeighbors { keep: Keep::Edited, ..Default::default() }.fit(&numbers(&x, 4, side, 1)).is_err());

    let table = Table::new(vec![
        Column::numeric("size", vec![1.0, 2.0, f64::NAN, 9.0]),
        Column::nominal("colour", &[Some("red"), Some("red"), Some("blue"), None]),
        Column::nominal("y", &[Some("a"), Some("a"), Some("b"), Some("b")]),
    ])
    .unwrap();
    let data = table.dataset("y").unwrap();
    for metric in [MetricName::Mixed, MetricName::MixedFar] {
        let model = NearestNeighbors { metric, n_neighbors: 1, ..Default::default() }.fit(&data).unwrap();
        let said = model.predict_data(&data).unwrap();
        assert!((0..4).all(|i| said.row(i)[i / 2] == 1.0), "{metric}");
    }
    let wrong = NearestNeighbors { tie: TieName::OtherMetric, metric: MetricName::Mixed, ..Default::default() };
    assert!(wrong.fit(&data).unwrap_err().to_string().contains("tie_metric"));
}
