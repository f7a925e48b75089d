//! Calibration over any learner of classes.

use ermine::prelude::*;
use ermine::reduction::calibration::{Calibrated, CalibrationMethod};
use ermine_core::learner::estimator::Estimator;
use ermine_core::learner::{Context, fit};
use ermine_core::model::Output;
use ermine_core::rng;
use ermine_eval::evaluate::Measure;

/// Classes whose probabilities are known: a higher class the more likely, the higher x is.
fn data(n: usize, n_classes: usize, seed: u64) -> Dataset {
    let mut stream = rng::stream(seed, &[]);
    let mut draw = || rng::uniform(&mut stream);
    let (x, z, noise): (Vec<f64>, Vec<f64>, Vec<f64>) = (0..n).map(|_| (draw(), draw(), draw())).fold(
        Default::default(),
        |mut all: (Vec<_>, Vec<_>, Vec<_>), (x, z, e)| {
            all.0.push(x);
            all.1.push(z);
            all.2.push(e);
            all
        },
    );
    let word = |i: usize| {
        let noisy = (x[i] + noise[i] - 0.5).clamp(0.0, 0.999);
        Some(format!("class {}", (noisy * n_classes as f64) as usize))
    };
    let y: Vec<Option<String>> = (0..n).map(word).collect();
    let columns = vec![Column::numeric("x", x), Column::numeric("z", z), Column::nominal("y", &y)];
    Table::new(columns).unwrap().dataset("y").unwrap()
}

#[test]
fn overconfident_probabilities_are_calibrated() {
    for n_classes in [2, 3] {
        let (train, test) = (data(1500, n_classes, 1), data(1500, n_classes, 2));
        let measures = [Measure::LogLoss, Measure::CalibrationError];
        // A tree grown to the end knows only 0 and 1; a forest is better, but not honest.
        for name in ["decision-tree", "random-forest"] {
            let estimator = Estimator::named(name);
            let plain = fit(&*estimator.learner(&ermine::context()).unwrap(), &train, &ermine::context()).unwrap();
            let before = plain.measure(&test, &measures).unwrap();
            for method in [CalibrationMethod::Sigmoid, CalibrationMethod::Isotonic, CalibrationMethod::Temperature] {
                let learner = Calibrated { estimator: estimator.clone(), method, ..Default::default() };
                let model = learner.fit(&train).unwrap();
                let after = model.measure(&test, &measures).unwrap();
                assert!(after[0] < before[0], "{name} {method} {n_classes}: {after:?} {before:?}");
                assert!(after[1] < 0.12, "{name} {method} {n_classes}: {after:?} {before:?}");
                let again = ermine::load_bytes(&model.to_bytes().unwrap()).unwrap();
                assert_eq!(again.predict_data(&test).unwrap(), model.predict_data(&test).unwrap());
            }
        }
    }
}

#[test]
fn the_class_with_the_lowest_expected_cost_is_predicted() {
    let (train, test) = (data(2000, 2, 1), data(2000, 2, 2));
    let estimator = Estimator::named("decision-tree").with("max_depth", 4usize);
    let plain = Calibrated { estimator: estimator.clone(), ..Default::default() }.fit(&train).unwrap();
    let careful = Calibrated { estimator, costs: vec![1.0, 9.0], ..Default::default() }.fit(&train).unwrap();
    assert_eq!(careful.output(), Output::Scores);
    let (p, scores) = (plain.predict_data(&test).unwrap(), careful.predict_data(&test).unwrap());
    let (codes, _) = test.classes().unwrap();
    let cost = |said: &dyn Fn(usize) -> usize| -> f64 {
        (0..test.n_rows())
            .map(|r| match (codes[r], said(r)) {
                (1, 0) => 9.0,
                (0, 1) => 1.0,
                _ => 0.0,
            })
            .sum()
    };
    for row in 0..test.n_rows() {
        // The threshold on the probability is 1 / (1 + 9).
        assert_eq!(scores.class(row) == 1, p.row(row)[1] > 0.1, "{:?}", p.row(row));
    }
    assert!(cost(&|r| scores.class(r)) < 0.8 * cost(&|r| p.class(r)));
    let wrong = Calibrated { costs: vec![1.0], ..Default::default() }.fit(&train).map(|_| ()).unwrap_err().to_string();
    assert!(wrong.contains("one cost for each of the 2 classes"), "{wrong}");
}

#[test]
fn folds_can_be_passed_in() {
    let data = data(200, 2, 5);
    let folds: Vec<u32> = (0..200).map(|row| row % 4).collect();
    let learner = Calibrated { estimator: Estimator::named("logistic-regression"), ..Default::default() };
    let of = |seed, folds: Option<&[u32]>| {
        let model = fit(&learner, &data, &Context { seed, folds, ..ermine::context() }).unwrap();
        model.predict_data(&data).unwrap().values().to_vec()
    };
    assert_eq!(of(0, Some(&folds)), of(1, Some(&folds)));
    assert_ne!(of(0, None), of(0, Some(&folds)));
}
