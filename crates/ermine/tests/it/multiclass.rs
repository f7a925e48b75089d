//! Many classes by learners of two: against scikit-learn's reductions (`tools/golden_multiclass.py`), and on odd data.

use ermine::prelude::*;
use ermine::reduction::multiclass::{OneVsOne, OneVsRest, OutputCode, PairwiseVote};
use ermine::registry;
use ermine_core::learner::estimator::Estimator;
use ermine_core::learner::fit;
use ermine_core::model::{Model, Output};
use ermine_core::param::{Parameters, Value};

fn tree() -> Estimator {
    Estimator::named("decision-tree").with("max_depth", 3usize)
}

fn rows(value: &serde_json::Value) -> Vec<Vec<f64>> {
    let row = |v: &serde_json::Value| v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    value.as_array().unwrap().iter().map(row).collect()
}

fn table(rows: &[Vec<f64>]) -> Table {
    Table::from_rows(&["a", "b", "c"], rows).unwrap()
}

fn data(golden: &serde_json::Value) -> Dataset {
    let mut columns = table(&rows(&golden["x"])).into_columns();
    let labels: Vec<Option<String>> = golden["y"].as_array().unwrap().iter().map(|y| Some(y.to_string())).collect();
    columns.push(Column::nominal("y", &labels));
    Table::new(columns).unwrap().dataset("y").unwrap()
}

fn classes(model: &Model, table: &Table) -> Vec<usize> {
    let prediction = model.predict(table).unwrap();
    (0..table.n_rows()).map(|row| prediction.class(row)).collect()
}

#[test]
fn reductions_equal_scikit_learn() {
    let golden: serde_json::Value = serde_json::from_str(include_str!("../golden/multiclass.json")).unwrap();
    // Trees of this depth have no equally good splits here, of which both libraries would take one at random.
    let tree = || Estimator::named("decision-tree").with("max_depth", 2usize);
    let (data, new) = (data(&golden), table(&rows(&golden["new"])));
    let close = |ours: &[f64], theirs: Vec<Vec<f64>>| {
        let theirs = theirs.concat();
        assert_eq!(ours.len(), theirs.len());
        ours.iter().zip(&theirs).for_each(|(a, b)| assert!((a - b).abs() < 1e-9, "{a} {b}"));
    };
    let theirs = |name: &str| -> Vec<usize> { serde_json::from_value(golden[name]["class"].clone()).unwrap() };
    let rest = OneVsRest { estimator: tree() }.fit(&data).unwrap();
    assert_eq!(rest.output(), Output::Probabilities);
    close(rest.predict(&new).unwrap().values(), rows(&golden["one-vs-rest"]["proba"]));
    assert_eq!(classes(&rest, &new), theirs("one-vs-rest"));
    let pairs = OneVsOne { estimator: tree(), vote: PairwiseVote::Majority }.fit(&data).unwrap();
    // Duels won are the same. scikit-learn breaks ties by probabilities that are not counted from 1/2, which favours later classes; those rows are left out.
    let (ours, duels) = (pairs.predict(&new).unwrap(), rows(&golden["one-vs-one"]["scores"]));
    let mut n_clear = 0;
    for (row, theirs) in duels.iter().enumerate() {
        let won = |scores: &[f64]| scores.iter().map(|s| s.round()).collect::<Vec<f64>>();
        assert_eq!(won(ours.row(row)), won(theirs));
        let most = won(theirs).into_iter().fold(0.0, f64::max);
        if won(theirs).iter().filter(|&&w| w == most).count() == 1 {
            n_clear += 1;
            assert_eq!(ours.class(row), golden["one-vs-one"]["class"][row].as_u64().unwrap() as usize);
        }
    }
    assert!(n_clear > 150, "{n_clear}");
}

#[test]
fn every_reduction_learns_and_is_saved_and_longer_codes_help() {
    let golden: serde_json::Value = serde_json::from_str(include_str!("../golden/multiclass.json")).unwrap();
    let (data, new) = (data(&golden), table(&rows(&golden["new"])));
    let learners: Vec<Box<dyn Learner>> = vec![
        Box::new(OneVsRest { estimator: tree() }),
        Box::new(OneVsOne { estimator: tree(), vote: PairwiseVote::Majority }),
        Box::new(OneVsOne { estimator: tree(), vote: PairwiseVote::Confidence }),
        Box::new(OneVsOne { estimator: tree(), vote: PairwiseVote::Coupling }),
        Box::new(OutputCode { estimator: tree(), code_size: 5.0 }),
    ];
    for learner in learners {
        let model = fit(&*learner, &data, &ermine::context()).unwrap();
        let accuracy = model.evaluate(&data).unwrap().score("accuracy").unwrap().value;
        assert!(accuracy > 0.85, "{}: {accuracy}", learner.info().name);
        let again = ermine::load_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(again.predict(&new).unwrap(), model.predict(&new).unwrap());
        assert!(model.text().contains("decision-tree(max_depth=3)"), "{}", model.text());
        let numbers = model.predict(&new).unwrap();
        if model.output() == Output::Probabilities {
            assert!((0..200).all(|row| (numbers.row(row).iter().sum::<f64>() - 1.0).abs() < 1e-6));
        }
    }
}

#[test]
fn classes_that_do_not_occur_are_never_predicted() {
    let golden: serde_json::Value = serde_json::from_str(include_str!("../golden/multiclass.json")).unwrap();
    let data = data(&golden);
    let (codes, _) = data.classes().unwrap();
    let some: Vec<u32> = (0..codes.len() as u32).filter(|&r| codes[r as usize] != 2).collect();
    let one: Vec<u32> = (0..codes.len() as u32).filter(|&r| codes[r as usize] == 1).collect();
    for (kept, allowed) in [(some, vec![0, 1, 3]), (one, vec![1])] {
        let part = data.select(&kept).unwrap();
        for name in ["one-vs-rest", "one-vs-one", "output-code"] {
            let mut learner = registry::learner(name).unwrap();
            learner.set("estimator", &Value::parse("decision-tree(max_depth=2)")).unwrap();
            let model = fit(&*learner, &part, &ermine::context()).unwrap();
            let prediction = model.predict_data(&data).unwrap();
            assert!((0..data.n_rows()).all(|row| allowed.contains(&prediction.class(row))), "{name}");
            assert!(prediction.values().iter().all(|x| x.is_finite()));
        }
    }
}

#[test]
fn unsupported_reductions_are_refused() {
    let golden: serde_json::Value = serde_json::from_str(include_str!("../golden/multiclass.json")).unwrap();
    let data = data(&golden);
    let message = |learner: &dyn Learner| fit(learner, &data, &ermine::context()).map(|_| ()).unwrap_err().to_string();
    assert!(message(&OneVsRest { estimator: Estimator::named("no-such") }).contains("no-such"));
    let mut wrong = OneVsRest::default();
    assert!(wrong.set("estimator", &Value::Text("a(".into())).is_err());
}

#[test]
fn pairwise_log_odds_are_summed() {
    let golden: serde_json::Value = serde_json::from_str(include_str!("../golden/multiclass.json")).unwrap();
    let data = data(&golden);
    let logistic = Estimator::named("logistic-regression");
    let sums = OneVsOne { estimator: logistic.clone(), vote: PairwiseVote::Confidence }.fit(&data).unwrap();
    let duels = OneVsOne { estimator: logistic.clone(), vote: PairwiseVote::Majority }.fit(&data).unwrap();
    let (sums, duels) = (sums.predict_data(&data).unwrap(), duels.predict_data(&data).unwrap());
    let (codes, labels) = data.classes().unwrap();
    let mut expected = vec![0.0; data.n_rows() * labels.len()];
    for (i, j) in (0..labels.len()).flat_map(|i| (i + 1..labels.len()).map(move |j| (i, j))) {
        let rows: Vec<u32> =
            (0..codes.len() as u32).filter(|&r| [i, j].contains(&(codes[r as usize] as usize))).collect();
        let model = logistic.learner(&ermine::context()).unwrap();
        let part = fit(&*model, &data.select(&rows).unwrap(), &ermine::context()).unwrap();
        let said = part.predict_data(&data).unwrap();
        for row in 0..data.n_rows() {
            let odds = (said.row(row)[j] / said.row(row)[i]).ln();
            expected[row * labels.len() + j] += odds;
            expected[row * labels.len() + i] -= odds;
        }
    }
    for (row, s) in expected.chunks(labels.len()).enumerate() {
        for (k, s) in s.iter().enumerate() {
            assert!((sums.row(row)[k] - s).abs() < 1e-5 * (1.0 + s.abs()), "{} {s}", sums.row(row)[k]);
            let part = duels.row(row)[k] - duels.row(row)[k].round();
            assert!((part - s / (3.0 * (s.abs() + 1.0))).abs() < 1e-6, "{part} {s}");
        }
    }
    let rest = OneVsRest { estimator: Estimator::named("svc") }.fit(&data).unwrap();
    assert_eq!(rest.output(), Output::Scores, "margins are no probabilities");
}

#[test]
fn members_of_a_reduction_are_models() {
    let golden: serde_json::Value = serde_json::from_str(include_str!("../golden/multiclass.json")).unwrap();
    let data = data(&golden);
    let model = OneVsRest { estimator: tree() }.fit(&data).unwrap();
    let said = model.predict_data(&data).unwrap();
    assert_eq!(model.n_members(), model.schema().classes.len());
    let of_second = |part: usize| {
        let member = model.member(part).unwrap();
        assert_eq!((member.header().learner.as_str(), member.schema().classes.len()), ("decision-tree", 2));
        assert_eq!(member.header().params["max_depth"].to_string(), "3");
        member.predict_data(&data).unwrap().values().chunks(2).map(|p| p[1]).collect::<Vec<f64>>()
    };
    let parts: Vec<Vec<f64>> = (0..model.n_members()).map(of_second).collect();
    for (row, probabilities) in said.values().chunks(parts.len()).enumerate() {
        let total: f64 = parts.iter().map(|part| part[row]).sum();
        let share = |part: &Vec<f64>| if total > 0.0 { part[row] / total } else { 1.0 / parts.len() as f64 };
        assert!(probabilities.iter().zip(&parts).all(|(p, part)| (p - share(part)).abs() < 1e-12));
    }
    assert!(model.member(99).is_err());
}
