//! Every metric against scikit-learn's and SciPy's (`tools/golden_measures.py`), and properties of intervals.

use super::super::measures;
use super::*;
use crate::matrix::{Features, Schema};
use crate::table::{Column, Table};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::sync::Arc;

fn floats(value: &Json) -> Vec<f64> {
    match value {
        Json::Array(values) => values.iter().flat_map(floats).collect(),
        Json::Null => Vec::new(),
        number => vec![number.as_f64().unwrap()],
    }
}

/// A data set with these targets, and predictions for its rows.
fn case(case: &Json) -> (Dataset, Prediction) {
    let task = Task::ALL.into_iter().find(|task| task.as_str() == case["task"]).unwrap();
    let (truth, width) = (floats(&case["truth"]), case["width"].as_u64().unwrap() as usize);
    let names: Vec<String> = (0..width).map(|k| format!("class {k}")).collect();
    let n = floats(&case["predicted"]).len() / width;
    let target = match task {
        Task::Classification => Target::Classes {
            codes: truth.iter().map(|&c| c as u32).collect(),
            labels: names.iter().cloned().collect(),
        },
        _ => Target::Values { values: truth, n_outputs: width },
    };
    let features = Features::new(Arc::new(Table::new(vec![Column::numeric("x", vec![0.0; n])]).unwrap()));
    let data = Dataset::from_parts(features, target, task).unwrap();
    let data = if task == Task::Multilabel { data.with_labels(names).unwrap() } else { data };
    let weight = Some(floats(&case["weight"])).filter(|w| !w.is_empty());
    let group: Vec<u32> = floats(&case["group"]).into_iter().map(|g| g as u32).collect();
    let data = data.with_weight(weight).unwrap().with_group(Some(group).filter(|g| !g.is_empty())).unwrap();
    let output = match task {
        Task::Classification | Task::Multilabel => Output::Probabilities,
        _ => Output::Values,
    };
    let prediction = Prediction::new(output, floats(&case["predicted"]), &Schema::of(&data));
    (data, prediction)
}

fn golden() -> Vec<Json> {
    let golden: Json = serde_json::from_str(include_str!("../../../tests/golden/measures.json")).unwrap();
    golden["cases"].as_array().unwrap().clone()
}

#[track_caller]
fn close(what: &str, ours: f64, theirs: f64) {
    assert!((ours - theirs).abs() <= 1e-12 * (1.0 + theirs.abs()), "{what}: {ours} {theirs}");
}

#[test]
fn every_metric_equals_that_of_scikit_learn_and_has_an_interval() {
    let mut seen = BTreeSet::new();
    for one in golden() {
        let (data, prediction) = case(&one);
        let outcome = Outcome::new(&prediction, &data).unwrap();
        for (word, value) in one["scores"].as_object().unwrap() {
            let measure = Measure::parse(word).unwrap();
            assert!(measure.measures(data.task()), "{word}");
            if value.is_null() {
                assert!(
                    outcome.values(&[measure])[0].is_nan() && outcome.scores(&[measure]).is_empty(),
                    "{word} is defined"
                );
                continue;
            }
            close(word, outcome.values(&[measure])[0], value.as_f64().unwrap());
            let [(_, score)] = outcome.scores(&[measure])[..] else { panic!("{word} has no interval") };
            close(word, score.value, value.as_f64().unwrap());
            assert!(score.low <= score.value && score.value <= score.high, "{word}: {score:?}");
            assert!(score.low.is_finite() && score.high.is_finite(), "{word}: {score:?}");
            let most = match measure {
                Brier if prediction.width() > 2 => 2.0,
                LogLoss => f64::INFINITY,
                _ if data.task() == Task::Regression && measure != R2 => f64::INFINITY,
                _ => 1.0 + 1e-12,
            };
            assert!(score.high <= most, "{word}: {score:?}");
            seen.insert((measure.as_str(), data.task().as_str()));
        }
    }
    let all = measures().flat_map(|m| Task::ALL.into_iter().filter(move |t| m.measures(*t)).map(move |t| (m, t)));
    let missing: Vec<_> = all.map(|(m, t)| (m.as_str(), t.as_str())).filter(|pair| !seen.contains(pair)).collect();
    assert_eq!(missing, [], "metrics that are not compared with a reference");
}

#[test]
fn class_scores_equal_those_of_scikit_learn() {
    let mut n = 0;
    for one in golden().iter().filter(|one| one.get("classes").is_some()) {
        let (data, prediction) = case(one);
        let scores = Outcome::new(&prediction, &data).unwrap().class_scores(prediction.classes());
        for (k, score) in scores.iter().enumerate() {
            let theirs = |i: usize| one["classes"][i][k].as_f64().unwrap();
            for (i, ours) in [score.precision, score.recall, score.f1].into_iter().enumerate() {
                close(&score.name, ours.value, theirs(i));
                assert!(ours.low <= ours.value && ours.value <= ours.high && ours.high <= 1.0, "{score:?}");
            }
            close(&score.name, score.rows, theirs(3));
            n += 1;
        }
    }
    assert!(n > 20, "{n}");
}

#[test]
fn a_class_that_is_never_predicted_has_the_widest_interval() {
    let one = serde_json::json!({
        "task": "classification", "width": 2, "truth": [0, 0, 1], "predicted": [[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]], "weight": null,
    });
    let (data, prediction) = case(&one);
    let scores = Outcome::new(&prediction, &data).unwrap().class_scores(prediction.classes());
    assert_eq!((scores[1].precision.low, scores[1].precision.value, scores[1].precision.high), (0.0, 0.0, 1.0));
    // Wilson's interval of 0 of 1.
    assert!(scores[1].recall.value == 0.0 && (scores[1].recall.high - 0.7935).abs() < 1e-4, "{:?}", scores[1]);
}
