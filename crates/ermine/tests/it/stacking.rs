//! Stacking and voting over any learners, against what their definitions say.

use ermine::ensemble::{EstimatorList, StackMethod, VotingMethod};
use ermine::prelude::*;
use ermine_core::learner::fit;
use ermine_core::matrix::Features;

/// Numbers and categories with missing values; three classes, or numbers, that follow from them with noise.
fn data(n: usize, task: Task) -> Dataset {
    let mut rng = ermine_core::rng::stream(8, &[n as u64]);
    let mut uniform = || ermine_core::rng::uniform(&mut rng);
    let cells: Vec<[f64; 4]> = (0..n).map(|_| [uniform(), uniform(), uniform(), uniform()]).collect();
    let colors = ["red", "green", "blue"];
    let columns = vec![
        Column::numeric("a", cells.iter().map(|c| if c[2] < 0.05 { f64::NAN } else { c[0] }).collect::<Vec<_>>()),
        Column::numeric("b", cells.iter().map(|c| 10.0 * c[1]).collect::<Vec<_>>()),
        Column::nominal("color", &cells.iter().map(|c| Some(colors[(c[2] * 3.0) as usize])).collect::<Vec<_>>()),
    ];
    let signal: Vec<f64> = cells.iter().map(|c| c[0] + c[1] + 0.5 * c[2] + 0.3 * c[3]).collect();
    if task == Task::Regression {
        return Dataset::from_columns(columns, &signal).unwrap();
    }
    let classes: Vec<&str> = signal
        .iter()
        .map(|s| {
            if *s < 0.9 {
                "low"
            } else if *s < 1.5 {
                "mid"
            } else {
                "top"
            }
        })
        .collect();
    Dataset::from_columns(columns, &classes).unwrap()
}

fn learners() -> EstimatorList {
    EstimatorList(vec![
        Estimator::named("decision-tree").with("max_depth", 3usize),
        Estimator::named("nearest-neighbors"),
        Estimator::named("random-forest").with("n_estimators", 7usize),
    ])
}

#[test]
fn voting_is_the_weighted_mean_of_its_members() {
    for task in [Task::Classification, Task::Regression] {
        let data = data(150, task);
        let weights = vec![3.0, 0.5, 1.5];
        let model =
            Voting { estimators: learners(), weights: weights.clone(), ..Default::default() }.fit(&data).unwrap();
        let mut mean = vec![0.0; model.predict_data(&data).unwrap().values().len()];
        for (i, estimator) in learners().0.iter().enumerate() {
            let alone = fit(&*estimator.learner(&ermine::context()).unwrap(), &data, &ermine::context()).unwrap();
            let said = alone.predict_data(&data).unwrap();
            assert_eq!(said.values(), model.member(i).unwrap().predict_data(&data).unwrap().values(), "member {i}");
            mean.iter_mut().zip(said.values()).for_each(|(sum, x)| *sum += weights[i] * x / 5.0);
        }
        let found = model.predict_data(&data).unwrap();
        assert!(mean.iter().zip(found.values()).all(|(a, b)| (a - b).abs() < 1e-12), "{task}");
    }
}

#[test]
fn hard_voting_is_the_majority_and_of_a_tie_the_first_class() {
    let data = data(150, Task::Classification);
    for weights in [vec![], vec![1.0, 1.0, 1.0], vec![1.0, 2.0, 1.0]] {
        let voting = Voting { estimators: learners(), voting: VotingMethod::Hard, weights: weights.clone() };
        let model = voting.fit(&data).unwrap();
        let said: Vec<Prediction> = (0..3).map(|i| model.member(i).unwrap().predict_data(&data).unwrap()).collect();
        let found = model.predict_data(&data).unwrap();
        assert!(found.probabilities(0).is_none(), "votes are no probabilities");
        let mut ties = 0;
        for row in 0..data.n_rows() {
            let votes = |class: usize| {
                let of = |i: &usize| weights.get(*i).copied().unwrap_or(1.0);
                (0..3).filter(|&i| said[i].class(row) == class).map(|i| of(&i)).sum::<f64>()
            };
            let best = (0..3).map(votes).fold(0.0, f64::max);
            let first = (0..3).find(|&class| votes(class) == best).unwrap();
            ties += usize::from((0..3).filter(|&class| votes(class) == best).count() > 1);
            assert_eq!(found.class(row), first, "row {row}");
        }
        assert!(ties > 0 || weights.is_empty() || weights[1] == 1.0, "no tie was tested");
    }
}

/// The table of the final learner, made by hand with cross-validation.
fn out_of_fold_by_hand(data: &Dataset, n_folds: usize, seed: u64) -> Vec<(String, Vec<f64>)> {
    let splits = Splits::k_fold(data, n_folds, seed).unwrap();
    let context = Context { seed, ..ermine::context() };
    let mut columns = Vec::new();
    for estimator in learners().0 {
        let learner = estimator.learner(&context).unwrap();
        let mut rows: Vec<Vec<f64>> = vec![Vec::new(); data.n_rows()];
        for index in 0..splits.len() {
            let (train, test) = splits.split(index);
            let model = fit(&*learner, &data.select(&train).unwrap(), &context).unwrap();
            let said = model.predict_data(&data.select(&test).unwrap()).unwrap();
            test.iter().enumerate().for_each(|(i, &row)| rows[row as usize] = said.row(i).to_vec());
        }
        for k in 0..rows[0].len() {
            columns.push((format!("column {}", columns.len()), rows.iter().map(|row| row[k]).collect()));
        }
    }
    columns
}

#[test]
fn the_final_learner_is_trained_on_out_of_fold_predictions() {
    for (task, combine, passthrough) in [
        (Task::Classification, "logistic-regression", false),
        (Task::Regression, "ridge-cv", false),
        (Task::Regression, "decision-tree(max_depth=4)", true),
        (Task::Classification, "gradient-boosting(n_estimators=5)", true),
    ] {
        let data = data(160, task);
        let context = Context { seed: 5, ..ermine::context() };
        let final_estimator = (!combine.starts_with(['l', 'r'])).then(|| Estimator::written(combine).unwrap());
        let stacking = Stacking { estimators: learners(), final_estimator, cv: 4, passthrough, ..Default::default() };
        let model = fit(&stacking, &data, &context).unwrap();
        // By hand: the same table, the same learner on it, and the base models on all rows.
        let held_out = out_of_fold_by_hand(&data, 4, 5);
        let table = |columns: Vec<(String, Vec<f64>)>| {
            let names: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
            let made = columns.into_iter().map(|(name, values)| Column::numeric(name, values));
            let own = data.features().columns().iter().filter(|_| passthrough).cloned();
            assert!(names.iter().all(|name| name.starts_with("column")));
            let table = Table::new(made.chain(own).collect()).unwrap();
            Features::new(std::sync::Arc::new(table))
        };
        let stacked = Dataset::from_parts(table(held_out), data.target().clone(), task).unwrap();
        let combiner = Estimator::written(combine).unwrap().learner(&context).unwrap();
        let combiner = fit(&*combiner, &stacked, &context).unwrap();
        let mut columns = Vec::new();
        for i in 0..3 {
            let said = model.member(i).unwrap().predict_data(&data).unwrap();
            for k in 0..said.width() {
                let of = (0..data.n_rows()).map(|row| said.row(row)[k]).collect();
                columns.push((format!("column {}", columns.len()), of));
            }
        }
        let on_all = Dataset::from_parts(table(columns), data.target().clone(), task).unwrap();
        let (by_hand, found) = (combiner.predict_data(&on_all).unwrap(), model.predict_data(&data).unwrap());
        let far = by_hand.values().iter().zip(found.values()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(far < 1e-9, "{task} {combine}: {far}");
        assert_eq!(model.n_members(), 4, "three learners and the final one");
        let last = model.member(3).unwrap();
        assert!(last.predict_data(&on_all).is_err(), "its columns have names of their own");
        assert_eq!(last.schema().features.len(), on_all.features().n_columns());
    }
}

#[test]
fn the_stack_method_chooses_the_columns() {
    let data = data(120, Task::Classification);
    let width = |estimators: &[&str], stack_method: StackMethod| {
        let stacking =
            Stacking { estimators: EstimatorList::named(estimators), stack_method, cv: 3, ..Default::default() };
        stacking.fit(&data).map(|model| model.member(estimators.len()).unwrap().schema().features.len())
    };
    assert_eq!(width(&["decision-tree", "logistic-regression"], StackMethod::Auto).unwrap(), 6);
    assert_eq!(width(&["decision-tree", "logistic-regression"], StackMethod::Predict).unwrap(), 2);
    assert_eq!(width(&["logistic-regression"], StackMethod::DecisionFunction).unwrap(), 3);
    assert_eq!(width(&["linear-svc"], StackMethod::Auto).unwrap(), 3);
    let refused = |estimators: &[&str], method| width(estimators, method).unwrap_err().to_string();
    let message = refused(&["linear-svc"], StackMethod::PredictProba);
    assert!(message.contains("stack_method") && message.contains("probabilities"), "{message}");
    let message = refused(&["nearest-neighbors"], StackMethod::DecisionFunction);
    assert!(message.contains("stack_method") && message.contains("scores"), "{message}");
    // Two classes: one column each.
    let two = Dataset::from_columns(
        data.features().columns().to_vec(),
        &(0..120).map(|i| if i % 3 == 0 { "yes" } else { "no" }).collect::<Vec<_>>(),
    );
    for (method, name) in [(StackMethod::Auto, "decision-tree"), (StackMethod::DecisionFunction, "logistic-regression")]
    {
        let stacking =
            Stacking { estimators: EstimatorList::named(&[name]), stack_method: method, ..Default::default() };
        let model = stacking.fit(two.as_ref().unwrap()).unwrap();
        assert_eq!(model.member(1).unwrap().schema().features.len(), 1, "{name}");
    }
}

#[test]
fn bad_weights_learners_and_methods_are_named() {
    let data = data(60, Task::Classification);
    let message = |voting: Voting| voting.fit(&data).unwrap_err().to_string();
    let wrong = message(Voting { estimators: learners(), weights: vec![1.0, 2.0], ..Default::default() });
    assert!(wrong.contains("weights") && wrong.contains("3 estimators"), "{wrong}");
    let wrong = message(Voting { estimators: learners(), weights: vec![0.0; 3], ..Default::default() });
    assert!(wrong.contains("not all zero"), "{wrong}");
    let wrong =
        message(Voting { estimators: EstimatorList::named(&["decision-tree", "perceptron"]), ..Default::default() });
    assert!(wrong.contains("voting") && wrong.contains("perceptron") && wrong.contains("hard"), "{wrong}");
    let wrong = message(Voting { estimators: EstimatorList::named(&["decision-stmp"]), ..Default::default() });
    assert!(wrong.contains("did you mean 'decision-stump'?"), "{wrong}");
}
