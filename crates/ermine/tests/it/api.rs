//! The public API: what the prelude covers, one row at a time, data from plain values, metrics of one's own.

use ermine::prelude::*;
use ermine::registry::learners;
use std::collections::BTreeSet;

/// Every learner, by a name that the prelude alone brings in.
fn learners_of_the_prelude() -> Vec<Box<dyn Learner>> {
    macro_rules! defaults {
        ($($learner:ident),* $(,)?) => { vec![$(Box::new($learner::default()) as Box<dyn Learner>),*] };
    }
    defaults![
        Baseline,
        DecisionStump,
        DecisionTree,
        Id3,
        C45,
        OptimalTree,
        ObliqueTree,
        ComparisonTree,
        ComparisonForest,
        QuadTree,
        DensityTree,
        GradientBoosting,
        RandomForest,
        ExtraTrees,
        LinearRegression,
        Ridge,
        RidgeCv,
        Lasso,
        LassoCv,
        ElasticNet,
        ElasticNetCv,
        LogisticRegression,
        LeastAbsoluteDeviations,
        QuantileRegression,
        HuberRegression,
        Halfspace,
        Perceptron,
        GradientDescent,
        StochasticGradientDescent,
        RankSvm,
        Svc,
        Svr,
        LinearSvc,
        LinearSvr,
        OneClassSvm,
        NearestNeighbors,
        AdaBoost,
        Bagging,
        Stacking,
        Voting,
        Calibrated,
        OneVsRest,
        OneVsOne,
        OutputCode,
        BinaryRelevance,
        ClassifierChain,
        LabelPowerset,
        PairwiseRanking,
        OmegaRanking,
        Auto,
    ]
}

#[test]
fn the_prelude_covers_every_learner() {
    let covered: BTreeSet<&str> = learners_of_the_prelude().iter().map(|learner| learner.info().name).collect();
    let registered: BTreeSet<&str> = learners().map(|entry| entry.info().name).collect();
    assert_eq!(covered, registered, "add new learners to `ermine::prelude` and to this test");
}

/// A table with numbers, categories and missing values, and a signal.
fn columns(n: usize) -> Vec<Column> {
    let number = |i: usize| if i % 11 == 3 { f64::NAN } else { (i * 7 % 23) as f64 / 3.0 };
    let shape = |i: usize| (i % 13 != 5).then(|| ["round", "square", "flat"][i * 5 % 3]);
    vec![
        Column::numeric("number", (0..n).map(number).collect::<Vec<_>>()),
        Column::numeric("other", (0..n).map(|i| (i * 5 % 17) as f64).collect::<Vec<_>>()),
        Column::nominal("shape", &(0..n).map(shape).collect::<Vec<_>>()),
        Column::boolean("flag", &(0..n).map(|i| (i % 7 != 2).then_some(i % 2 == 0)).collect::<Vec<_>>()),
    ]
}

/// Data for a task: the target follows the second column.
fn data_for(task: Task, n: usize) -> Dataset {
    let signal: Vec<f64> = (0..n).map(|i| (i * 5 % 17) as f64).collect();
    let column =
        |name: &str, f: &dyn Fn(f64) -> f64| Column::numeric(name, signal.iter().map(|&x| f(x)).collect::<Vec<_>>());
    let mut columns = columns(n);
    match task {
        Task::Classification => {
            let classes: Vec<&str> = signal.iter().map(|&x| if x > 8.0 { "high" } else { "low" }).collect();
            Dataset::from_columns(columns, &classes).unwrap()
        }
        Task::Regression => Dataset::from_columns(columns, &signal).unwrap(),
        Task::Ranking => {
            columns.push(Column::numeric("query", (0..n).map(|i| (i / 10) as f64).collect::<Vec<_>>()));
            columns.push(column("grade", &|x| (x / 6.0).floor()));
            let roles = Roles { group: Some("query".into()), task: Some(task), ..Roles::target("grade") };
            Dataset::new(Table::new(columns).unwrap(), &roles).unwrap()
        }
        Task::Multilabel => {
            columns.push(column("a", &|x| f64::from(x > 8.0)));
            columns.push(column("b", &|x| f64::from(x < 12.0)));
            let roles = Roles { target: vec!["a".into(), "b".into()], task: Some(task), ..Roles::default() };
            Dataset::new(Table::new(columns).unwrap(), &roles).unwrap()
        }
    }
}

#[test]
fn a_predictor_predicts_what_the_model_predicts() {
    for entry in learners() {
        let learner = crate::made(entry);
        for &task in learner.info().capabilities.tasks {
            let (name, data) = (learner.info().name, data_for(task, 120));
            let model = learner.fit(&data).unwrap_or_else(|e| panic!("{name}: {e}"));
            let predictor = match model.predictor() {
                Ok(predictor) => predictor,
                Err(error) => {
                    assert!(matches!(error, Error::Unsupported { .. }), "{name}: {error}");
                    assert!(model.is_relative(), "{name} has no predictor: {error}");
                    continue;
                }
            };
            let (expected, features) = (model.predict_data(&data).unwrap(), data.features());
            assert_eq!((predictor.n_features(), predictor.width()), (features.n_columns(), expected.width()), "{name}");
            let mut out = vec![0.0; predictor.width()];
            for row in 0..data.n_rows() {
                let values: Vec<f64> = (0..features.n_columns()).map(|column| features.number(row, column)).collect();
                predictor.predict(&values, &mut out).unwrap();
                let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                assert_eq!(
                    bits(&out),
                    bits(expected.row(row)),
                    "{name}, {task}, row {row}: {out:?}, {:?}",
                    expected.row(row)
                );
            }
        }
    }
}

#[test]
fn unknown_categories_count_as_missing_in_a_predictor() {
    let data = data_for(Task::Classification, 120);
    for learner in [Box::new(LogisticRegression::default()) as Box<dyn Learner>, Box::new(RandomForest::default())] {
        let predictor = learner.fit(&data).unwrap().predictor().unwrap();
        let predict = |shape: f64| {
            let mut out = [0.0; 2];
            predictor.predict(&[1.0, 2.0, shape, 1.0], &mut out).unwrap();
            out
        };
        let missing = predict(f64::NAN);
        assert!([-1.0, 3.0, 0.5, 1e300].iter().all(|&code| predict(code) == missing));
        assert!(predictor.predict(&[1.0], &mut [0.0; 2]).is_err() && predictor.predict(&[1.0; 4], &mut [0.0]).is_err());
    }
}

#[test]
fn a_boxed_learner_is_fitted_like_any_other() {
    let data = data_for(Task::Regression, 60);
    let boxed: Box<dyn Learner> = Box::new(DecisionTree::default());
    let borrowed: &dyn Learner = &*boxed;
    let context = Context { seed: 3, threads: Some(1), ..ermine::context() };
    let models =
        [boxed.fit(&data), borrowed.fit(&data), DecisionTree::default().fit(&data), boxed.fit_with(&data, &context)];
    let predictions = models.map(|model| model.unwrap().predict_data(&data).unwrap());
    assert!(predictions.iter().all(|prediction| *prediction == predictions[0]));
}

#[test]
fn a_custom_metric_is_scored_like_a_built_in_one() {
    let mae = CustomMetric::of_values("my error", false, |predicted, truth, weights| {
        assert!(weights.is_none());
        predicted.iter().zip(truth).map(|(p, y)| (p - y).abs()).sum::<f64>() / truth.len() as f64
    });
    let data = data_for(Task::Regression, 100);
    let splits = Splits::k_fold(&data, 5, 0).unwrap();
    let metrics = [mae];
    let validation =
        Validation { train_scores: true, ..Validation::new(&splits, &[Measure::Mae]) }.with_custom(&metrics);
    let result = cross_validate(&Ridge::default(), &data, &validation, &ermine::context()).unwrap();
    let [built_in, own] = &result.scores[..] else { panic!("two scores") };
    let near = |a: &[f64], b: &[f64]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
    assert!(near(&built_in.folds, &own.folds));
    assert!(near(built_in.train.as_ref().unwrap(), own.train.as_ref().unwrap()));
    assert_eq!((own.name, own.higher_is_better), ("my error", false));
    assert!(result.to_string().contains("my error"));

    let hits = CustomMetric::of_classes("hits", true, |predicted, truth, _| {
        predicted.iter().zip(truth).filter(|(p, y)| p == y).count() as f64 / truth.len() as f64
    });
    let data = data_for(Task::Classification, 100);
    let model = DecisionTree::default().fit(&data).unwrap();
    assert_eq!(hits.evaluate(&model, &data).unwrap(), model.measure(&data, &[Measure::Accuracy]).unwrap()[0]);
}
