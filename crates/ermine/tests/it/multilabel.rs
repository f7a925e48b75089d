//! Sets of labels: against scikit-learn's reductions and scores (`tools/golden_multilabel.py`), on real data, and on odd data.

use ermine::prelude::*;
use ermine::reduction::multilabel::{BinaryRelevance, ChainOrder, ClassifierChain, LabelPowerset, PowersetDecoding};
use ermine_core::learner::fit;
use ermine_core::matrix::Target;
use ermine_core::metric::{Weights, multilabel};
use ermine_core::model::Output;
use ermine_core::param::{Parameters, Value};

fn golden() -> serde_json::Value {
    serde_json::from_str(include_str!("../golden/multilabel.json")).unwrap()
}

fn rows(value: &serde_json::Value) -> Vec<Vec<f64>> {
    serde_json::from_value(value.clone()).unwrap()
}

fn made(golden: &serde_json::Value) -> (Dataset, Table) {
    let names = ["a", "b", "c", "d", "u", "v", "w"];
    let (x, y, new) = (rows(&golden["made"]["x"]), rows(&golden["made"]["y"]), rows(&golden["made"]["new"]));
    let both: Vec<Vec<f64>> = x.into_iter().zip(y).map(|(x, y)| [x, y].concat()).collect();
    let roles = Roles { target: names[4..].iter().map(|t| t.to_string()).collect(), ..Default::default() };
    let data = Dataset::new(Table::from_rows(&names, &both).unwrap(), &roles).unwrap();
    (data, Table::from_rows(&names[..4], &new).unwrap())
}

fn logistic() -> Estimator {
    Estimator::named("logistic-regression")
}

fn tree() -> Estimator {
    Estimator::named("decision-tree").with("max_depth", 3usize)
}

fn close(ours: &Prediction, theirs: &serde_json::Value) {
    let theirs = rows(theirs).concat();
    assert_eq!(ours.values().len(), theirs.len());
    ours.values().iter().zip(&theirs).for_each(|(a, b)| assert!((a - b).abs() < 1e-5, "{a} {b}"));
}

#[test]
fn reductions_equal_scikit_learn() {
    let golden = golden();
    let (data, new) = made(&golden);
    assert_eq!(data.task(), Task::Multilabel);
    let relevance = BinaryRelevance { estimator: logistic() }.fit(&data).unwrap();
    close(&relevance.predict(&new).unwrap(), &golden["made"]["binary-relevance"]);
    let order = ChainOrder::Listed(serde_json::from_value(golden["made"]["order"].clone()).unwrap());
    let chain = ClassifierChain { order, ..Default::default() }.fit(&data).unwrap();
    close(&chain.predict(&new).unwrap(), &golden["made"]["classifier-chain"]);
    let trees = ClassifierChain { estimator: tree(), ..Default::default() }.fit(&data).unwrap();
    close(&trees.predict(&new).unwrap(), &golden["made"]["chain of trees"]);
    let sets = LabelPowerset { estimator: tree(), ..Default::default() }.fit(&data).unwrap();
    let (said, theirs) = (sets.predict(&new).unwrap(), rows(&golden["made"]["label-powerset"]));
    for (row, theirs) in theirs.iter().enumerate() {
        let ours: Vec<f64> = (0..3).map(|label| f64::from(u8::from(said.has(row, label)))).collect();
        assert_eq!(ours, *theirs, "row {row}");
    }
}

#[test]
fn scores_are_those_of_scikit_learn() {
    let golden = golden();
    let case = &golden["measured"];
    let marks = |name: &str| rows(&case[name]).concat().iter().map(|&x| x == 1.0).collect::<Vec<bool>>();
    let (truth, said) = (marks("truth"), marks("said"));
    let weight: Vec<f64> = serde_json::from_value(case["weight"].clone()).unwrap();
    for (name, weights) in [("plain", Weights::EQUAL), ("weighted", Weights::from(&weight[..]))] {
        let counts = multilabel::counts(&truth, &said, 4, weights);
        let exact = multilabel::exact(&truth, &said, 4).map(|right| f64::from(u8::from(right)));
        for (score, ours) in [
            ("subset accuracy", weights.mean(exact)),
            ("Hamming loss", weights.mean(multilabel::wrong_shares(&truth, &said, 4))),
            ("micro F1", multilabel::sum_counts(&counts).f1()),
            ("macro F1", multilabel::macro_average(&counts, multilabel::Counts::f1)),
        ] {
            let theirs = case[name][score].as_f64().unwrap();
            assert!((ours - theirs).abs() < 1e-12, "{name} {score}: {ours} {theirs}");
        }
    }
}

/// A table of the folder in `ERMINE_DATA`.
fn shared(name: &str, n_labels: usize) -> Option<Dataset> {
    let table = Table::read(crate::data_set(&format!("{name}_multilabel.csv.gz"))?).unwrap();
    let names: Vec<String> = table.names().iter().map(|name| name.to_string()).collect();
    let roles = Roles { target: names[names.len() - n_labels..].to_vec(), ..Default::default() };
    Some(Dataset::new(table, &roles).unwrap())
}

#[test]
fn quality_on_emotions_scene_and_yeast_is_that_of_scikit_learn() {
    let golden = golden();
    for (name, n_labels, n) in [("emotions", 6, 391u32), ("scene", 6, 1211), ("yeast", 14, 1500)] {
        let Some(data) = shared(name, n_labels) else { return };
        let train = data.select(&(0..n).collect::<Vec<_>>()).unwrap();
        let test = data.select(&(n..data.n_rows() as u32).collect::<Vec<_>>()).unwrap();
        let base = if name == "yeast" { "nearest-neighbors(n_neighbors=10)" } else { "logistic-regression" };
        let mut sets = LabelPowerset::default();
        sets.set("estimator", &Value::Text(base.into())).unwrap();
        let learners: [Box<dyn Learner>; 3] =
            [Box::new(BinaryRelevance { estimator: logistic() }), Box::new(ClassifierChain::default()), Box::new(sets)];
        for learner in learners {
            let model = fit(&*learner, &train, &ermine::context()).unwrap();
            let evaluation = model.evaluate(&test).unwrap();
            let key = learner.info().name;
            for (score, theirs) in golden["quality"][name][key].as_object().unwrap() {
                let (ours, theirs) = (evaluation.score(score).unwrap().value, theirs.as_f64().unwrap());
                // Neighbors at the same distance vote in another order.
                let slack = if base.starts_with("nearest") && key == "label-powerset" { 0.02 } else { 0.004 };
                assert!((ours - theirs).abs() < slack, "{name} {key} {score}: {ours} {theirs}");
            }
        }
    }
}

#[test]
fn every_reduction_learns_and_is_saved() {
    let golden = golden();
    let (data, new) = made(&golden);
    let weight: Vec<f64> = (0..data.n_rows()).map(|row| (row % 3) as f64).collect();
    let data = data.with_weight(Some(weight)).unwrap();
    let learners: Vec<Box<dyn Learner>> = vec![
        Box::new(BinaryRelevance { estimator: tree() }),
        Box::new(BinaryRelevance { estimator: Estimator::named("perceptron") }),
        Box::new(ClassifierChain { estimator: tree(), order: ChainOrder::Random, n_chains: 5 }),
        Box::new(ClassifierChain { estimator: Estimator::named("halfspace"), order: ChainOrder::Given, n_chains: 3 }),
        Box::new(LabelPowerset { estimator: tree(), decode: PowersetDecoding::Marginal }),
        // Of two classes by nature: the sets are reduced by themselves.
        Box::new(LabelPowerset { estimator: Estimator::named("perceptron"), decode: PowersetDecoding::Mode }),
    ];
    for learner in learners {
        let model = fit(&*learner, &data, &ermine::context()).unwrap();
        let again = ermine::load_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(again.predict(&new).unwrap(), model.predict(&new).unwrap());
        let micro = model.evaluate(&data).unwrap().score("micro F1").unwrap().value;
        assert!(micro > 0.6, "{} {:?}: {micro}", learner.info().name, learner.values());
        let prediction = model.predict(&new).unwrap();
        let names = prediction.labels(0).unwrap();
        assert!(names.iter().all(|name| ["u", "v", "w"].contains(name)) && prediction.label(0).is_none());
        assert!(model.text().contains("label") || model.text().contains("binary classifiers"), "{}", model.text());
    }
}

#[test]
fn an_ensemble_of_chains_is_the_mean_of_its_chains() {
    let golden = golden();
    let (data, new) = made(&golden);
    let chain = |order: Vec<usize>| {
        let one = ClassifierChain { estimator: tree(), order: ChainOrder::Listed(order), n_chains: 1 };
        one.fit(&data).unwrap().predict(&new).unwrap()
    };
    let all = ClassifierChain { estimator: tree(), order: ChainOrder::Random, n_chains: 4 }.fit(&data).unwrap();
    let text = all.text();
    let place = |name: &str| ["u", "v", "w"].iter().position(|label| *label == name).unwrap();
    let orders: Vec<Vec<usize>> =
        text.lines().skip(1).map(|line| line.trim().split(" -> ").map(place).collect()).collect();
    assert_eq!(orders.len(), 4, "{text}");
    let singles: Vec<Prediction> = orders.into_iter().map(chain).collect();
    let together = all.predict(&new).unwrap();
    for (i, mean) in together.values().iter().enumerate() {
        let sum: f64 = singles.iter().map(|single| single.values()[i]).sum();
        assert!((mean - sum / 4.0).abs() < 1e-12);
    }
}

#[test]
fn marginals_are_sums_over_sets() {
    let golden = golden();
    let (data, new) = made(&golden);
    let of = |decode| LabelPowerset { estimator: tree(), decode }.fit(&data).unwrap().predict(&new).unwrap();
    let (mode, marginal) = (of(PowersetDecoding::Mode), of(PowersetDecoding::Marginal));
    assert_eq!((mode.output(), marginal.output()), (Output::Scores, Output::Probabilities));
    for row in 0..new.n_rows() {
        // The most probable set is at most as probable as each of its labels, and as the absence of each other label.
        for label in 0..3 {
            let (score, p) = (mode.row(row)[label], marginal.row(row)[label]);
            assert!(if score > 0.0 { p >= score - 1e-12 } else { 1.0 - p >= -score - 1e-12 }, "{score} {p}");
        }
    }
}

#[test]
fn invalid_settings_are_rejected() {
    let golden = golden();
    let (data, _) = made(&golden);
    let message = |learner: &dyn Learner| fit(learner, &data, &ermine::context()).map(|_| ()).unwrap_err().to_string();
    let chain = |order| ClassifierChain { estimator: tree(), order: ChainOrder::Listed(order), n_chains: 1 };
    assert!(message(&chain(vec![0, 1])).contains("a permutation of the label indices 0 to 2"));
    assert!(message(&chain(vec![0, 1, 1])).contains("order"));
    assert!(message(&BinaryRelevance { estimator: Estimator::named("ridge") }).contains("not a classifier"));
    let marginal = LabelPowerset { estimator: Estimator::named("halfspace"), decode: PowersetDecoding::Marginal };
    assert!(message(&marginal).contains("needs a classifier with probabilities"));
    assert!(message(&Ridge::default()).contains("the task multilabel"));
    let (features, values) = (data.features().clone(), vec![0.5; 200]);
    let half = Dataset::from_parts(features, Target::Values { values, n_outputs: 1 }, Task::Multilabel);
    assert!(half.unwrap_err().to_string().contains("row 1: a label is 0.5"));
    let model = BinaryRelevance { estimator: tree() }.fit(&data).unwrap();
    let renamed = data.clone().with_labels(vec!["u".into(), "v".into(), "z".into()]).unwrap();
    assert!(model.evaluate(&renamed).unwrap_err().to_string().contains("'z'"));
    assert!(data.clone().with_labels(vec!["u".into(), "u".into(), "z".into()]).is_err());
    assert!(data.with_labels(vec!["u".into()]).is_err());
}

#[test]
fn labels_are_matched_by_name_and_may_be_absent() {
    let golden = golden();
    let (data, _) = made(&golden);
    let model = BinaryRelevance { estimator: tree() }.fit(&data).unwrap();
    let (marks, _) = data.labels().unwrap();
    // The same labels in another order.
    let turned: Vec<f64> = marks.chunks(3).flat_map(|m| [m[2], m[0], m[1]]).collect();
    let turned = data.with_target(Target::Values { values: turned, n_outputs: 3 }, Task::Multilabel).unwrap();
    let turned = turned.with_labels(vec!["w".into(), "u".into(), "v".into()]).unwrap();
    assert_eq!(model.evaluate(&turned).unwrap(), model.evaluate(&data).unwrap());
    let some: Vec<f64> = marks.chunks(3).flat_map(|m| [m[0], m[1]]).collect();
    let some = data.with_target(Target::Values { values: some, n_outputs: 2 }, Task::Multilabel).unwrap();
    let some = some.with_labels(vec!["u".into(), "v".into()]).unwrap();
    assert!(model.evaluate(&some).is_ok());
}

#[test]
fn members_of_a_reduction_are_models() {
    let (data, new) = made(&golden());
    let model = BinaryRelevance { estimator: logistic() }.fit(&data).unwrap();
    let said = model.predict(&new).unwrap();
    assert_eq!(model.n_members(), 3);
    for label in 0..3 {
        let own = model.member(label).unwrap().predict(&new).unwrap();
        assert!((0..new.n_rows()).all(|row| own.row(row)[1] == said.row(row)[label]));
    }
    let chain =
        ClassifierChain { estimator: logistic(), order: ChainOrder::Listed(vec![2, 0, 1]), ..Default::default() };
    let chain = chain.fit(&data).unwrap();
    let widths: Vec<usize> = (0..3).map(|part| chain.member(part).unwrap().schema().features.len()).collect();
    assert_eq!(widths, [4, 5, 6]);
}
