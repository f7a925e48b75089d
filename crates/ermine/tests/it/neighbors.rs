//! Nearest neighbors against scikit-learn's (`tools/golden_neighbors.py`), and what the parameters do.

use ermine::prelude::*;
use ermine_core::matrix::{Features, Target};
use ermine_core::param::{Parameters, Value};
use ermine_neighbors::learner::nearest_neighbors::{
    MetricName, NearestNeighbors, NeighborModel, PrototypeSelection, SearchAlgorithm, TieName, WeightName,
};
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
fn neighbors_equal_scikit_learn() {
    let golden = golden();
    let (x, queries) = (floats(&golden["x"]), floats(&golden["queries"]));
    let asked = classes(&queries, 4, &[0.0; 40]);
    let train = classes(&x, 4, &floats(&golden["classes"]));
    let many = numbers(&x, 4, floats(&golden["values"]), 2);
    for case in golden["cases"].as_array().unwrap() {
        for algorithm in
            [SearchAlgorithm::Auto, SearchAlgorithm::KdTree, SearchAlgorithm::BallTree, SearchAlgorithm::Brute]
        {
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
fn digits_equal_scikit_learn() {
    digits(&crate::shipped("digits.csv.gz"), 1400, "digits_wrong");
}

#[test]
fn mnist_equals_scikit_learn() {
    let Some(path) = crate::data_set("mnist_10k.csv.gz") else { return };
    digits(&path, 8000, "mnist_wrong");
}

/// The first `n_train` rows of a file of digits classify the others; as many are wrong as by scikit-learn.
fn digits(path: &std::path::Path, n_train: u32, key: &str) {
    let roles = Roles { task: Some(Task::Classification), ..Roles::target("label") };
    let data = Dataset::new(Table::read(path).unwrap(), &roles).unwrap();
    let train = data.select(&(0..n_train).collect::<Vec<u32>>()).unwrap();
    let test = data.select(&(n_train..data.n_rows() as u32).collect::<Vec<u32>>()).unwrap();
    for k in [1, 3] {
        let model = NearestNeighbors { n_neighbors: k, ..Default::default() }.fit(&train).unwrap();
        let prediction = model.predict_data(&test).unwrap();
        let Target::Classes { codes, .. } = test.target() else { panic!("classes were asked for") };
        let best = |row: &[f64]| (0..row.len()).rev().max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
        let wrong = (0..test.n_rows()).filter(|&i| best(prediction.row(i)) != codes[i] as usize).count();
        assert_eq!(wrong as u64, golden()[key][k.to_string()].as_u64().unwrap(), "k = {k}");
    }
}

#[test]
fn ties_follow_the_tie_parameter() {
    // Around 0: classes 1 and 0 at distance 1 and 2, then 1 and 0 at 3 and 4, then 0 at 5.
    let x = [1.0, -2.0, 3.0, -4.0, 5.0];
    let data = classes(&x, 1, &[1.0, 0.0, 1.0, 0.0, 0.0]);
    let asked = classes(&[0.0], 1, &[0.0]);
    let class = |tie: TieName| {
        let learner = NearestNeighbors { n_neighbors: 4, tie, ..Default::default() };
        let model = learner.fit(&data).unwrap();
        let again = ermine::load_bytes(&model.to_bytes().unwrap()).unwrap();
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
    let errors = model.fitted::<NeighborModel>().unwrap().leave_one_out_errors();
    assert_eq!(errors.len(), 20);
    assert!((errors[6] - error(7)).abs() < 1e-9 && errors.iter().all(|e| *e >= errors[chosen - 1]));
    assert!([1, 2, 3, 20].into_iter().all(|k| error(k) >= error(chosen) - 1e-12));
    let both = NearestNeighbors { max_neighbors: Some(20), radius: Some(1.0), ..Default::default() };
    assert!(both.fit(&data).unwrap_err().to_string().contains("radius"));
}

#[test]
fn few_rows_and_raw_tables_work() {
    let golden = golden();
    let x = floats(&golden["x"]);
    let side: Vec<f64> = x.chunks(4).map(|r| f64::from(u8::from(r[0] > 0.0))).collect();
    let data = classes(&x, 4, &side);
    let kept = |keep: PrototypeSelection| {
        let model = NearestNeighbors { keep, n_neighbors: 1, ..Default::default() }.fit(&data).unwrap();
        let right = model.predict_data(&data).unwrap();
        let right = (0..160).filter(|&i| (right.row(i)[1] > 0.5) == (side[i] == 1.0)).count();
        (model.fitted::<NeighborModel>().unwrap().n_rows(), right)
    };
    let (condensed, right) = kept(PrototypeSelection::Condensed);
    assert!(condensed < 100 && right == 160, "{condensed} {right}");
    assert!(kept(PrototypeSelection::Edited).0 < 160);
    assert!(
        NearestNeighbors { keep: PrototypeSelection::Edited, ..Default::default() }
            .fit(&numbers(&x, 4, side, 1))
            .is_err()
    );

    let table = Table::new(vec![
        Column::numeric("size", vec![1.0, 2.0, f64::NAN, 9.0]),
        Column::nominal("color", &[Some("red"), Some("red"), Some("blue"), None]),
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

/// Neighbors of every query, as (distance, row), by comparing all.
fn brute(
    points: &[f64],
    queries: &[f64],
    width: usize,
    distance: impl Fn(&[f64], &[f64]) -> f64,
) -> Vec<Vec<(f64, u32)>> {
    let of = |query: &[f64]| {
        let mut all: Vec<(f64, u32)> =
            points.chunks(width).zip(0..).map(|(p, row)| (distance(query, p), row)).collect();
        all.sort_by(|a, b| a.partial_cmp(b).unwrap());
        all
    };
    queries.chunks(width).map(of).collect()
}

#[test]
fn neighbors_are_found_by_rank_and_by_radius() {
    let golden = golden();
    let (x, queries) = (floats(&golden["x"]), floats(&golden["queries"]));
    let (train, asked) = (classes(&x, 4, &floats(&golden["classes"])), features(&queries, 4));
    let truth = brute(&x, &queries, 4, |a, b| a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum());
    let model = NearestNeighbors { metric: MetricName::Manhattan, ..Default::default() }.fit(&train).unwrap();
    let neighbors = NeighborModel::of(&model).unwrap();
    let (near, within) = (neighbors.kneighbors(&asked, 7).unwrap(), neighbors.radius_neighbors(&asked, 4.0).unwrap());
    for (i, truth) in truth.iter().enumerate() {
        let rows = |found: &[(f64, u32)]| found.iter().map(|f| f.1).collect::<Vec<_>>();
        assert_eq!(near.rows(i), rows(&truth[..7]));
        assert!(near.distances(i).iter().zip(truth).all(|(d, t)| (d - t.0).abs() < 1e-12));
        let inside: Vec<_> = truth.iter().copied().filter(|t| t.0 <= 4.0).collect();
        assert_eq!(within.rows(i), rows(&inside));
    }
    assert!(neighbors.kneighbors(&asked, 0).is_err() && neighbors.radius_neighbors(&asked, f64::NAN).is_err());
    let other = ermine::prelude::Baseline::default().fit(&train).unwrap();
    assert!(NeighborModel::of(&other).err().unwrap().to_string().contains("nearest-neighbors"));
}

#[test]
fn custom_metrics_and_weights_work() {
    let golden = golden();
    let (x, queries) = (floats(&golden["x"]), floats(&golden["queries"]));
    let (train, asked) = (numbers(&x, 4, floats(&golden["values"]), 2), numbers(&queries, 4, vec![0.0; 40], 1));
    let plain = NearestNeighbors { n_neighbors: 6, ..Default::default() };
    let named = NearestNeighbors { metric: MetricName::Manhattan, weights: WeightName::Distance, ..plain.clone() };
    let expected = named.fit(&train).unwrap().predict_data(&asked).unwrap();
    let manhattan = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f64>();
    for triangle in [false, true] {
        let own = NearestNeighbors { weights: WeightName::Distance, ..plain.clone() }.with_metric(manhattan, triangle);
        let model = own.fit(&train).unwrap();
        close("own metric", model.predict_data(&asked).unwrap().values(), expected.values());
        assert!(model.to_bytes().unwrap_err().to_string().contains("a function can't be saved"));
    }
    let named = NearestNeighbors { metric: MetricName::Manhattan, ..plain.clone() };
    let own = named.clone().with_weights(|d| d.iter().map(|d| 1.0 / d).collect());
    close("own weights", own.fit(&train).unwrap().predict_data(&asked).unwrap().values(), expected.values());
    // What makes no sense is an error, never a panic.
    let wrong = |weights: fn(&[f64]) -> Vec<f64>| {
        named.clone().with_weights(weights).fit(&train).unwrap().predict_data(&asked).unwrap_err().to_string()
    };
    assert!(wrong(|_| vec![1.0]).contains("weights of 6 neighbors"));
    assert!(wrong(|d| vec![-1.0; d.len()]).contains("0 or more"));
    let nowhere = plain.with_metric(|_, _| f64::NAN, false).fit(&train).unwrap();
    assert!(nowhere.predict_data(&asked).unwrap_err().to_string().contains("negative or not a number"));
    let below = NearestNeighbors::default().with_metric(|a, b| a[0] - b[0], false).fit(&train).unwrap();
    assert!(below.predict_data(&asked).unwrap_err().to_string().contains("negative or not a number"));
}

#[test]
fn a_covariance_may_be_given() {
    let golden = golden();
    let (x, queries) = (floats(&golden["x"]), floats(&golden["queries"]));
    let (train, asked) = (numbers(&x, 4, floats(&golden["values"]), 2), numbers(&queries, 4, vec![0.0; 40], 1));
    let with = |metric, covariance| NearestNeighbors { metric, covariance, ..Default::default() }.fit(&train);
    let scales = [4.0, 1.0, 0.25, 1.0];
    let covariance: Vec<f64> = (0..16).map(|i| if i % 5 == 0 { scales[i / 5] } else { 0.0 }).collect();
    let given = with(MetricName::Mahalanobis, Some(covariance)).unwrap().predict_data(&asked).unwrap();
    let truth = brute(&x, &queries, 4, |a, b| (0..4).map(|j| (a[j] - b[j]).powi(2) / scales[j]).sum());
    let values = floats(&golden["values"]);
    for (i, truth) in truth.iter().enumerate() {
        let mean = truth[..5].iter().map(|t| values[t.1 as usize * 2]).sum::<f64>() / 5.0;
        assert!((given.row(i)[0] - mean).abs() < 1e-9);
    }
    let wrong = with(MetricName::Mahalanobis, Some(vec![1.0; 3])).unwrap_err().to_string();
    assert!(wrong.contains("16 numbers"), "{wrong}");
    assert!(with(MetricName::Mahalanobis, Some(vec![1.0; 16])).unwrap_err().to_string().contains("singular"));
}

#[test]
fn categories_and_text_are_compared_directly() {
    let colors = ["red", "green", "blue"];
    let cell = |i: usize| Some(colors[i % 3]);
    let table = Table::new(vec![
        Column::nominal("a", &(0..60).map(&cell).collect::<Vec<_>>()),
        Column::nominal("b", &(0..60).map(|i| if i % 7 == 0 { None } else { cell(i / 3) }).collect::<Vec<_>>()),
        Column::nominal("c", &(0..60).map(|i| cell(i / 9)).collect::<Vec<_>>()),
        Column::numeric("d", (0..60).map(|i| f64::from(i % 2)).collect::<Vec<f64>>()),
        Column::numeric("y", (0..60).map(f64::from).collect::<Vec<f64>>()),
    ])
    .unwrap();
    let data = table.dataset("y").unwrap();
    let model = NearestNeighbors { metric: MetricName::Hamming, ..Default::default() }.fit(&data).unwrap();
    let found = NeighborModel::of(&model).unwrap().kneighbors(data.features(), 60).unwrap();
    let text = |row: usize, column: usize| data.features().columns()[column].text(row);
    for i in 0..60 {
        for (&row, &distance) in found.rows(i).iter().zip(found.distances(i)) {
            let differing = (0..4).filter(|&j| text(i, j) != text(row as usize, j)).count();
            assert_eq!(distance, differing as f64 / 4.0, "a category counts once, and missing is a value");
        }
    }

    let names = ["anna", "hanna", "johanna", "otto", "lotte", "ottilie"];
    let sides = [Some("a"), Some("a"), Some("a"), Some("b"), Some("b"), Some("b")];
    let words = |texts: &[&str]| Column::nominal("name", &texts.iter().map(|t| Some(*t)).collect::<Vec<_>>());
    let data = Table::new(vec![words(&names), Column::nominal("y", &sides)]).unwrap().dataset("y").unwrap();
    for (metric, nearest) in [(MetricName::Edit, [0u32, 3]), (MetricName::HammingText, [0, 3])] {
        let mut model = NearestNeighbors { metric, n_neighbors: 1, ..Default::default() }.fit(&data).unwrap();
        let new = Table::new(vec![words(&["annie", "otty"])]).unwrap();
        let of = |model: &Model| {
            let asked = model.schema().features_of(&new).unwrap();
            let found = NeighborModel::of(model).unwrap().kneighbors(&asked, 1).unwrap();
            (found.all_rows().to_vec(), model.predict(&new).unwrap().label(1).unwrap().to_string())
        };
        assert_eq!(of(&model), (nearest.to_vec(), "b".to_string()), "{metric}: names that training didn't have");
        let read = ermine::load_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(of(&read), of(&model));
        let more = Table::new(vec![words(&["otty"]), Column::nominal("y", &[Some("a")])]).unwrap();
        NeighborModel::add(&mut model, &more.dataset("y").unwrap()).unwrap();
        assert_eq!(of(&model), (vec![nearest[0], 6], "a".to_string()));
    }
    let two =
        Table::new(vec![words(&names), Column::numeric("n", vec![1.0; 6]), Column::nominal("y", &sides)]).unwrap();
    let learner = NearestNeighbors { metric: MetricName::Edit, ..Default::default() };
    assert!(learner.fit(&two.dataset("y").unwrap()).unwrap_err().to_string().contains("a single column"));
    assert!(NearestNeighbors { algorithm: SearchAlgorithm::Brute, ..learner }.fit(&data).is_err());
}

#[test]
fn rows_added_are_as_good_as_rows_trained_on() {
    let golden = golden();
    let (x, queries) = (floats(&golden["x"]), floats(&golden["queries"]));
    let codes = floats(&golden["classes"]);
    let (all, asked) = (classes(&x, 4, &codes), classes(&queries, 4, &[0.0; 40]));
    let rows = |range: std::ops::Range<u32>| all.select(&range.collect::<Vec<u32>>()).unwrap();
    for tie in [TieName::NextPoint, TieName::OtherMetric] {
        let learner = NearestNeighbors { n_neighbors: 4, tie, metric: MetricName::Euclidean, ..Default::default() };
        let whole = learner.fit(&all).unwrap();
        let mut grown = learner.fit(&rows(0..100)).unwrap();
        for part in [100..101, 101..160] {
            NeighborModel::add(&mut grown, &rows(part)).unwrap();
        }
        assert_eq!(grown.header().n_rows, 160);
        assert_eq!(grown.predict_data(&asked).unwrap(), whole.predict_data(&asked).unwrap());
        let read = ermine::load_bytes(&grown.to_bytes().unwrap()).unwrap();
        assert_eq!(read.predict_data(&asked).unwrap(), whole.predict_data(&asked).unwrap());
        // Labels are matched by name; what doesn't fit changes nothing.
        let foreign = classes(&x[..4], 4, &[7.0]);
        assert!(NeighborModel::add(&mut grown, &foreign).unwrap_err().to_string().contains("class named '7'"));
        assert!(NeighborModel::add(&mut grown, &numbers(&x[..4], 4, vec![1.0], 1)).is_err());
        assert!(NeighborModel::add(&mut grown, &classes(&x[..3], 3, &[0.0])).is_err());
        assert_eq!(grown.predict_data(&asked).unwrap(), whole.predict_data(&asked).unwrap());
    }
}

/// Kept rows under the metric they were chosen by: Hart's promise holds for metrics that are estimated from the rows.
#[test]
fn selected_rows_use_the_metric_they_were_selected_with() {
    for seed in 0..12 {
        let mut rng = ermine_core::rng::stream(seed, &[]);
        let mut draw = || ermine_core::rng::below(&mut rng, 2000) as f64 / 1000.0 - 1.0;
        // Columns of very different scales and one that follows another; the class is the sign of the smallest.
        let x: Vec<f64> = (0..150)
            .flat_map(|_| {
                let (a, b) = (draw(), draw());
                [1000.0 * a, 1000.0 * a + 10.0 * b, 0.01 * draw()]
            })
            .collect();
        let side: Vec<f64> = x.chunks(3).map(|r| f64::from(u8::from(r[2] > 0.0))).collect();
        let data = classes(&x, 3, &side);
        for metric in [MetricName::Mahalanobis, MetricName::Mixed, MetricName::Euclidean] {
            let learner = NearestNeighbors { metric, n_neighbors: 1, ..Default::default() };
            let whole = learner.fit(&data).unwrap();
            let few = NearestNeighbors { keep: PrototypeSelection::Condensed, ..learner }.fit(&data).unwrap();
            let said = few.predict_data(&data).unwrap();
            assert!((0..150).all(|i| (said.row(i)[1] > 0.5) == (side[i] == 1.0)), "{metric} {seed}");
            let (whole, few) = (NeighborModel::of(&whole).unwrap(), NeighborModel::of(&few).unwrap());
            let all = whole.kneighbors(data.features(), 150).unwrap();
            let near = few.kneighbors(data.features(), few.n_rows()).unwrap();
            assert!(few.n_rows() < 150);
            let numbers: Vec<u32> = (0..few.n_rows() as u32).map(|row| few.training_row(row)).collect();
            assert!(numbers.is_sorted());
            for i in 0..150 {
                // The neighbors among the kept rows are those among all rows, less those that were dropped: same rows, same distances.
                let kept = all.rows(i).iter().zip(all.distances(i)).filter(|(row, _)| numbers.contains(row));
                let (rows, distances): (Vec<u32>, Vec<f64>) = kept.map(|(r, d)| (*r, *d)).unzip();
                assert_eq!(
                    near.rows(i).iter().map(|&row| few.training_row(row)).collect::<Vec<_>>(),
                    rows,
                    "{metric} {seed}"
                );
                assert_eq!(near.distances(i), distances);
            }
        }
    }
}

#[test]
fn selected_rows_keep_their_row_numbers() {
    let golden = golden();
    let x = floats(&golden["x"]);
    let side: Vec<f64> = x.chunks(4).map(|r| f64::from(u8::from(r[0] > 0.0))).collect();
    let data = classes(&x, 4, &side);
    for keep in [PrototypeSelection::Condensed, PrototypeSelection::Edited] {
        let mut model = NearestNeighbors { keep, n_neighbors: 3, ..Default::default() }.fit(&data).unwrap();
        NeighborModel::add(&mut model, &data.select(&[5]).unwrap()).unwrap();
        let read = ermine::load_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(read.attributes(), model.attributes());
        let kept = model.attributes().into_iter().find(|a| a.name == "kept_rows").unwrap();
        assert_eq!(kept.values.last(), Some(&160.0), "added rows come after all that were trained on");
        let neighbors = NeighborModel::of(&read).unwrap();
        assert_eq!(kept.values.len(), neighbors.n_rows());
        for (row, &number) in (0u32..).zip(&kept.values).take(kept.values.len() - 1) {
            assert_eq!(neighbors.class_of(row), Some(side[number as usize] as u32));
            assert_eq!(neighbors.training_row(row), number as u32);
        }
    }
}

/// A category that no training row had differs from all of them, and from a missing value.
#[test]
fn unseen_categories_differ_from_all_others() {
    let table = |colors: &[Option<&str>]| {
        let n = colors.len();
        Table::new(vec![
            Column::nominal("color", colors),
            Column::boolean("on", &vec![Some(true); n]),
            Column::numeric("y", (0..n).map(|i| i as f64 + 0.25).collect::<Vec<f64>>()),
        ])
        .unwrap()
    };
    let data = table(&[Some("red"), Some("blue"), None]).dataset("y").unwrap();
    for (metric, unequal) in
        [(MetricName::Hamming, [0.5; 3]), (MetricName::Mixed, [0.5, 0.5, 0.0]), (MetricName::MixedFar, [0.5; 3])]
    {
        let mut model = NearestNeighbors { metric, n_neighbors: 1, ..Default::default() }.fit(&data).unwrap();
        let distances = |model: &Model, color: Option<&str>| {
            let asked = model.schema().features_of(&table(&[color])).unwrap();
            let found = NeighborModel::of(model).unwrap().kneighbors(&asked, 99).unwrap();
            let mut pairs: Vec<_> = found.rows(0).iter().copied().zip(found.distances(0).iter().copied()).collect();
            pairs.sort_by_key(|p| p.0);
            pairs.into_iter().map(|p| p.1).collect::<Vec<f64>>()
        };
        let read = ermine::load_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(distances(&read, Some("zzz")), unequal, "{metric}");
        assert_eq!(distances(&model, Some("blue"))[..2], [0.5, 0.0], "{metric}");
        // A table of its own, whose categories have other codes; and truth values that come as numbers.
        let asked =
            Table::new(vec![Column::nominal("color", &[Some("blue")]), Column::numeric("on", vec![1.0])]).unwrap();
        assert_eq!(model.predict(&asked).unwrap().values(), [1.25]);
        // Once added, it is a category like the others.
        NeighborModel::add(&mut model, &table(&[Some("zzz"), Some("blue")]).dataset("y").unwrap()).unwrap();
        assert_eq!(distances(&model, Some("zzz"))[3..], [0.0, 0.5], "{metric}");
        assert_eq!(distances(&model, Some("new"))[..], [&unequal[..], &[0.5, 0.5]].concat(), "{metric}");
    }
}

#[test]
fn all_k_neighbors_count_once_there_are_enough() {
    let x: Vec<f64> = (0..20).map(f64::from).collect();
    let all = numbers(&x, 1, x.clone(), 1);
    let rows = |range: std::ops::Range<u32>| all.select(&range.collect::<Vec<u32>>()).unwrap();
    let learner = NearestNeighbors { n_neighbors: 5, ..Default::default() };
    let mut grown = learner.fit(&rows(0..3)).unwrap();
    assert_eq!(NeighborModel::of(&grown).unwrap().k(), 3);
    let read = ermine::load_bytes(&grown.to_bytes().unwrap()).unwrap();
    assert_eq!(read.predict_data(&all).unwrap(), grown.predict_data(&all).unwrap());
    NeighborModel::add(&mut grown, &rows(3..20)).unwrap();
    assert_eq!(NeighborModel::of(&grown).unwrap().k(), 5);
    assert_eq!(grown.predict_data(&all).unwrap(), learner.fit(&all).unwrap().predict_data(&all).unwrap());
}

#[test]
fn distances_are_finite_at_any_scale() {
    for scale in [1e-300, 1e-160, 1.0, 1e160, 1e290] {
        let x: Vec<f64> = [0.0, 1.0, 3.0, 7.0].map(|v| v * scale).to_vec();
        let data = numbers(&x, 1, vec![0.0, 1.0, 3.0, 7.0], 1);
        for metric in [MetricName::Euclidean, MetricName::Manhattan, MetricName::Chebyshev] {
            let learner =
                NearestNeighbors { metric, n_neighbors: 2, weights: WeightName::Distance, ..Default::default() };
            let said = learner.fit(&data).unwrap().predict_data(&numbers(&[6.0 * scale], 1, vec![0.0], 1)).unwrap();
            // 7 at distance 1 and 3 at distance 3: (3 * 7 + 3) / 4.
            assert!((said.values()[0] - 6.0).abs() < 1e-9, "{metric} {scale}: {:?}", said.values());
        }
    }
}

#[test]
fn unused_parameters_are_noted() {
    let data = numbers(&[0.0, 1.0, 2.0], 1, vec![0.0, 1.0, 2.0], 1);
    let learner = NearestNeighbors {
        metric: MetricName::Manhattan,
        p: 3.0,
        kernel_width: Some(1.0),
        n_neighbors: 1,
        ..Default::default()
    };
    let notes = learner.fit(&data).unwrap().certificate().notes.join("; ");
    assert!(
        notes.contains("p is set") && notes.contains("kernel_width is set") && !notes.contains("covariance"),
        "{notes}"
    );
    let learner = NearestNeighbors { p: 3.0, n_neighbors: 1, ..Default::default() };
    let model = learner.fit(&data).unwrap();
    assert!(!model.certificate().notes.join("; ").contains("is set") && model.text().contains("minkowski (p = 3)"));
}

#[test]
fn approximate_search_is_stated() {
    let mut rng = ermine_core::rng::stream(5, &[]);
    let mut draw = |n: usize| (0..n).map(|_| ermine_core::rng::below(&mut rng, 1000) as f64).collect::<Vec<f64>>();
    let (x, queries) = (draw(2000 * 5), draw(50 * 5));
    let y: Vec<f64> = x.chunks(5).map(|r| r[0]).collect();
    let (train, asked) = (numbers(&x, 5, y, 1), numbers(&queries, 5, vec![0.0; 50], 1));
    let learner = NearestNeighbors { algorithm: SearchAlgorithm::Hnsw, ..Default::default() };
    let model = learner.fit(&train).unwrap();
    let said = model.certificate().to_string();
    assert!(said.contains("approximate: it found 9") || said.contains("approximate: it found 100"), "{said}");
    assert!(said.contains("of the 5 nearest"), "{said}");
    let mut grown = learner.fit(&train).unwrap();
    NeighborModel::add(&mut grown, &asked).unwrap();
    assert!(grown.attributes().iter().all(|a| a.name != "recall"), "measured before rows were added");
    assert!(grown.certificate().to_string().contains("rows were added"), "{}", grown.certificate());
    let recall = model.attributes().into_iter().find(|a| a.name == "recall").unwrap().values[0];
    assert!(recall > 0.9, "{recall}");
    let read = ermine::load_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(read.predict_data(&asked).unwrap(), model.predict_data(&asked).unwrap());
    let exact = NearestNeighbors::default().fit(&train).unwrap();
    assert!(exact.certificate().to_string().contains("the neighbor search is exact"));
    let (a, b) = (model.predict_data(&asked).unwrap(), exact.predict_data(&asked).unwrap());
    let same = a.values().iter().zip(b.values()).filter(|(a, b)| a == b).count();
    assert!(same >= 45, "{same} of 50");
}

#[test]
fn values_too_large_for_a_distance_are_refused() {
    for large in [3e305, f64::INFINITY, f64::NEG_INFINITY] {
        let fit = |x: Vec<f64>| {
            let table = Table::new(vec![Column::numeric("x", x), Column::numeric("y", vec![1.0, 2.0, 3.0])]).unwrap();
            NearestNeighbors { n_neighbors: 1, ..Default::default() }.fit(&table.dataset("y").unwrap())
        };
        let message = fit(vec![1.0, large, 0.0]).unwrap_err().to_string();
        assert!(message.contains("column 'x'") && message.contains("row 1"), "{message}");
        let model = fit(vec![1.0, 2.0, 0.0]).unwrap();
        let asked = Table::new(vec![Column::numeric("x", vec![large])]).unwrap();
        assert!(model.predict(&asked).is_err());
    }
}

/// Sparse columns give the predictions, neighbors and files of dense ones.
#[test]
fn sparse_columns_give_what_dense_ones_give() {
    let dense: Vec<f64> =
        (0..120 * 9).map(|i| if i * 7919 % 5 == 0 { f64::from((i * 31 % 17) - 8) } else { 0.0 }).collect();
    let codes: Vec<f64> = dense.chunks(9).map(|row| f64::from(u8::from(row.iter().sum::<f64>() > 0.0))).collect();
    let column = |j: usize| {
        let there = |i: &usize| dense[i * 9 + j] != 0.0;
        let rows: Vec<u32> = (0..120).filter(there).map(|i| i as u32).collect();
        let values: Vec<f64> = rows.iter().map(|&i| dense[i as usize * 9 + j]).collect();
        Column::sparse(format!("x{j}"), 120, rows.into(), values.into())
    };
    let sparse = Features::new(Arc::new(Table::new((0..9).map(column).collect()).unwrap()));
    let thick = classes(&dense, 9, &codes);
    let thin = Dataset::from_parts(sparse, thick.target().clone(), Task::Classification).unwrap();
    for metric in [MetricName::Minkowski, MetricName::Manhattan, MetricName::Cosine, MetricName::Chebyshev] {
        for (tie, keep, max_neighbors) in [
            (TieName::First, PrototypeSelection::All, None),
            (TieName::NextPoint, PrototypeSelection::Edited, None),
            (TieName::OtherMetric, PrototypeSelection::All, Some(9)),
        ] {
            let learner = NearestNeighbors { metric, tie, keep, max_neighbors, n_neighbors: 4, ..Default::default() };
            let (a, b) = (learner.fit(&thin).unwrap(), learner.fit(&thick).unwrap());
            assert_eq!(a.predict_data(&thin).unwrap(), b.predict_data(&thick).unwrap());
            let again = ermine::load_bytes(&a.to_bytes().unwrap()).unwrap();
            assert_eq!(again.predict_data(&thin).unwrap(), b.predict_data(&thick).unwrap());
            // A model of sparse rows reads dense ones, and the other way round.
            assert_eq!(again.predict_data(&thick).unwrap(), b.predict_data(&thin).unwrap());
        }
    }
    for wrong in [
        NearestNeighbors { metric: MetricName::Mahalanobis, ..Default::default() },
        NearestNeighbors { metric: MetricName::Hamming, ..Default::default() },
        NearestNeighbors { algorithm: SearchAlgorithm::KdTree, ..Default::default() },
        NearestNeighbors { keep: PrototypeSelection::Condensed, ..Default::default() },
    ] {
        assert!(wrong.fit(&thin).unwrap_err().to_string().contains("sparse"));
    }
}
