//! Several targets at once are the same as each by itself.

use ermine::prelude::*;
use ermine_core::matrix::{Features, Target};
use std::sync::Arc;

/// A few columns, and as many targets as asked for, the first of the full list.
fn data(chosen: &[usize]) -> Dataset {
    let value = |row: usize, j: usize| ((row * 7919 + j * 104_729) % 1009) as f64 / 504.0 - 1.0;
    let rows: Vec<Vec<f64>> = (0..80).map(|row| (0..3).map(|j| value(row, j)).collect()).collect();
    let target = |row: usize, t: usize| {
        let outlier = if row % 17 == t { 20.0 } else { 0.0 };
        rows[row][t % 3] * 2.0 - rows[row][(t + 1) % 3] + 0.3 * value(row, 9 + t) + outlier
    };
    let features = Features::new(Arc::new(Table::from_rows(&["a", "b", "c"], &rows).unwrap()));
    let values = (0..80).flat_map(|row| chosen.iter().map(move |&t| (row, t))).map(|(row, t)| target(row, t)).collect();
    let target = Target::Values { values, n_outputs: chosen.len() };
    let weights = (0..80).map(|row| 0.5 + (row % 4) as f64).collect();
    Dataset::from_parts(features, target, Task::Regression).unwrap().with_weight(Some(weights)).unwrap()
}

#[test]
fn several_targets_are_learned_as_each_by_itself() {
    for name in ["huber-regression", "linear-svr"] {
        let fitted = |chosen: &[usize]| {
            let learner = Estimator::named(name).learner(&ermine::context()).unwrap();
            ermine_core::learner::fit(&*learner, &data(chosen), &ermine::context()).unwrap()
        };
        let (both, alone) = (fitted(&[0, 1]), [fitted(&[0]), fitted(&[1])]);
        let attribute = |model: &Model, name: &str| model.attributes().into_iter().find(|a| a.name == name).unwrap();
        assert_eq!(attribute(&both, "coef").shape, [2, 3], "{name}");
        assert_eq!(attribute(&both, "intercept").shape, [2], "{name}");
        let said = both.predict_data(&data(&[0, 1])).unwrap();
        for (t, model) in alone.iter().enumerate() {
            let own = model.predict_data(&data(&[t])).unwrap();
            let of_both = said.values().iter().skip(t).step_by(2);
            assert!(of_both.zip(own.values()).all(|(a, b)| (a - b).abs() < 1e-9), "{name}, target {t}");
            if name == "huber-regression" {
                assert_eq!(attribute(&both, "scale").values[t], attribute(model, "scale").values[0]);
            }
        }
        let sum: f64 = alone.iter().map(|model| model.certificate().value.unwrap()).sum();
        assert!((both.certificate().value.unwrap() - sum).abs() < 1e-9 * sum, "{name}");
        assert!(both.certificate().objective.contains("added up over the targets"));
        let bytes = both.to_bytes().unwrap();
        assert_eq!(ermine::load_bytes(&bytes).unwrap().to_bytes().unwrap(), bytes);
    }
}

#[test]
fn every_family_has_a_picture() {
    let data = data(&[0]);
    for name in ["gradient-boosting", "random-forest", "linear-regression", "ridge", "lasso", "sgd", "linear-svr"] {
        let learner = Estimator::named(name).learner(&ermine::context()).unwrap();
        let model = ermine_core::learner::fit(&*learner, &data, &ermine::context()).unwrap();
        let svg = model.svg().unwrap_or_else(|| panic!("{name} has no picture"));
        assert!(svg.starts_with("<svg") && [">a<", ">b<", ">c<"].iter().all(|label| svg.contains(label)), "{name}");
    }
}
