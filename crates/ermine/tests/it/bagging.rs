//! Bagging over any learner.

use ermine::prelude::*;
use ermine::reduction::bagging::FittedBagging;
use ermine_core::learner::parameters::CountOrFraction;
use ermine_core::learner::{Context, fit};

/// Two classes, of which three columns together say the truth.
fn sample(n: usize, seed: u64) -> Dataset {
    let mut rng = ermine_core::rng::stream(seed, &[1]);
    let mut draw = || ermine_core::rng::below(&mut rng, 2001) as f64 / 1000.0 - 1.0;
    let columns: Vec<Vec<f64>> = (0..5).map(|_| (0..n).map(|_| draw()).collect()).collect();
    let class: Vec<Option<&str>> =
        (0..n).map(|i| Some(if columns[0][i] + columns[1][i] + columns[2][i] > 0.0 { "up" } else { "down" })).collect();
    let mut made: Vec<Column> =
        columns.into_iter().enumerate().map(|(i, x)| Column::numeric(format!("x{i}"), x)).collect();
    made.push(Column::nominal("y", &class));
    Table::new(made).unwrap().dataset("y").unwrap()
}

fn accuracy(model: &Model, data: &Dataset) -> f64 {
    let said = model.predict_data(data).unwrap();
    let codes = data.classes().unwrap().0;
    (0..data.n_rows()).filter(|&row| said.class(row) == codes[row] as usize).count() as f64 / data.n_rows() as f64
}

#[test]
fn bagging_beats_one_model_and_estimates_its_own_accuracy() {
    let (train, test) = (sample(1500, 1), sample(1500, 2));
    let tree = Estimator::named("random-forest")
        .with("n_estimators", 1usize)
        .with("bootstrap", false)
        .with("max_features", 1.0f64);
    let alone = fit(&*tree.learner(&ermine::context()).unwrap(), &train, &ermine::context()).unwrap();
    let bagging = Bagging { estimator: tree, n_estimators: 40, oob_score: true, ..Default::default() };
    let model = bagging.fit(&train).unwrap();
    let oob = model.fitted::<FittedBagging>().unwrap().out_of_bag().unwrap().score;
    assert!(accuracy(&model, &test) > accuracy(&alone, &test) + 0.01);
    assert!((accuracy(&model, &test) - oob).abs() < 0.03, "{oob}");
}

#[test]
fn bagging_all_rows_and_columns_without_replacement_is_the_base_learner() {
    let data = sample(300, 3);
    let model = Bagging { n_estimators: 3, bootstrap: false, ..Default::default() }.fit(&data).unwrap();
    let alone = DecisionTree::default().fit(&data).unwrap();
    let (a, b) = (model.predict_data(&data).unwrap(), alone.predict_data(&data).unwrap());
    assert!(a.values().iter().zip(b.values()).all(|(a, b)| (a - b).abs() < 1e-12));
}

#[test]
fn nested_bagging_with_column_subsets_is_saved_and_loaded() {
    let data = sample(300, 4);
    let inner =
        Estimator::of(&Bagging { n_estimators: 2, max_features: CountOrFraction::Fraction(0.5), ..Default::default() });
    let model = Bagging {
        estimator: inner,
        n_estimators: 3,
        max_features: CountOrFraction::Count(3),
        max_samples: CountOrFraction::Fraction(0.5),
        ..Default::default()
    };
    let model = fit(&model, &data, &Context { seed: 3, ..ermine::context() }).unwrap();
    let read = ermine::load_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(read.predict_data(&data).unwrap(), model.predict_data(&data).unwrap());
    assert_eq!(model.header().params["estimator"].to_string(), "bagging(n_estimators=2,max_features=0.5)");
}

#[test]
fn an_unknown_learner_or_parameter_is_reported() {
    let data = sample(50, 5);
    let message =
        |estimator: Estimator| Bagging { estimator, ..Default::default() }.fit(&data).unwrap_err().to_string();
    assert!(message(Estimator::named("decision-stmp")).contains("did you mean 'decision-stump'?"));
    assert!(message(Estimator::named("decision-stump").with("criterion", "guess".to_string())).contains("criterion"));
}

#[test]
fn warm_start_gives_the_ensemble_trained_at_once() {
    let data = sample(300, 6);
    let bag = |n_estimators: usize| Bagging {
        n_estimators,
        max_features: CountOrFraction::Fraction(0.6),
        oob_score: true,
        ..Default::default()
    };
    let context = Context { seed: 4, ..ermine::context() };
    let (few, many) = (fit(&bag(3), &data, &context).unwrap(), fit(&bag(11), &data, &context).unwrap());
    let few = ermine::load_bytes(&few.to_bytes().unwrap()).unwrap();
    let on = Context { init_model: Some(&few), ..ermine::context() };
    assert!(fit(&bag(11), &data, &on).unwrap().to_bytes().unwrap() == many.to_bytes().unwrap());
    assert!(fit(&bag(2), &data, &on).unwrap_err().to_string().contains("at least 3"));
    let other = Bagging { estimator: Estimator::named("decision-stump"), ..bag(11) };
    assert!(fit(&other, &data, &on).is_err());
    // Members are models of their own, on their own columns; the mean of their answers is the answer of the whole.
    let said = many.predict_data(&data).unwrap();
    let mut mean = vec![0.0; said.values().len()];
    for t in 0..many.n_members() {
        let member = many.member(t).unwrap();
        let own = member.predict_data(&data).unwrap();
        mean.iter_mut().zip(own.values()).for_each(|(sum, v)| *sum += v / 11.0);
        assert!(member.schema().features.len() < many.schema().features.len());
    }
    assert!(mean.iter().zip(said.values()).all(|(a, b)| (a - b).abs() < 1e-12));
}
