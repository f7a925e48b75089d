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
        assert!(both.certificate().objective.contains("summed over the targets"));
        let bytes = both.to_bytes().unwrap();
        assert_eq!(ermine::load_bytes(&bytes).unwrap().to_bytes().unwrap(), bytes);
    }
}

#[test]
fn a_machine_of_several_targets_predicts_what_one_of_each_does() {
    for kernel in ["rbf", "linear"] {
        let fitted = |chosen: &[usize]| {
            let learner =
                Estimator::named("svr").with("kernel", kernel.to_string()).learner(&ermine::context()).unwrap();
            ermine_core::learner::fit(&*learner, &data(chosen), &ermine::context()).unwrap()
        };
        let (both, alone) = (fitted(&[0, 1]), [fitted(&[0]), fitted(&[1])]);
        let predicted = both.predict_data(&data(&[0, 1])).unwrap();
        for (t, model) in alone.iter().enumerate() {
            let own = model.predict_data(&data(&[t])).unwrap();
            let of_both = predicted.values().iter().skip(t).step_by(2);
            assert!(of_both.zip(own.values()).all(|(a, b)| (a - b).abs() < 1e-9), "{kernel}, target {t}");
        }
        let attribute = |model: &Model, name: &str| model.attributes().into_iter().find(|a| a.name == name).unwrap();
        assert_eq!(attribute(&both, "intercept").shape, [2]);
        assert_eq!(attribute(&both, "slack").shape, [80, 2]);
        assert_eq!(attribute(&both, "dual_coef").shape[0], 2);
        let sum: f64 = alone.iter().map(|model| model.certificate().value.unwrap()).sum();
        assert!((both.certificate().value.unwrap() - sum).abs() < 1e-9 * sum, "{kernel}");
        assert!(both.certificate().objective.contains("summed over the targets"));
        assert!(both.certificate().gap().unwrap() >= 0.0);
        let bytes = both.to_bytes().unwrap();
        let read = ermine::load_bytes(&bytes).unwrap();
        assert_eq!(read.to_bytes().unwrap(), bytes);
        assert_eq!(read.predict_data(&data(&[0, 1])).unwrap().values(), predicted.values());
    }
}

/// The least squared error, added up over the targets, of all ways to cut the rows by one column.
fn best_cut(data: &Dataset, n_targets: usize) -> f64 {
    let (values, n) = (data.values().unwrap().0, data.n_rows());
    let error = |rows: &[usize]| {
        let total: f64 = rows.iter().map(|&row| data.row_weight(row)).sum();
        let of_target = |t: usize| {
            let y = |row: usize| values[row * n_targets + t];
            let mean = rows.iter().map(|&row| data.row_weight(row) * y(row)).sum::<f64>() / total;
            rows.iter().map(|&row| data.row_weight(row) * (y(row) - mean).powi(2)).sum::<f64>()
        };
        if rows.is_empty() { 0.0 } else { (0..n_targets).map(of_target).sum() }
    };
    let mut best = f64::INFINITY;
    for x in (0..data.features().n_columns()).map(|f| data.features().numbers(f)) {
        for &threshold in &x {
            let (low, high): (Vec<usize>, Vec<usize>) = (0..n).partition(|&row| x[row] <= threshold);
            best = best.min(error(&low) + error(&high));
        }
    }
    best / (0..n).map(|row| data.row_weight(row)).sum::<f64>()
}

#[test]
fn a_stump_of_several_targets_is_the_best_of_all_cuts() {
    for chosen in [&[0][..], &[0, 1], &[2, 0, 1]] {
        let data = data(chosen);
        let learner = Estimator::named("decision-stump").learner(&ermine::context()).unwrap();
        let model = ermine_core::learner::fit(&*learner, &data, &ermine::context()).unwrap();
        let (stated, best) = (model.certificate().value.unwrap(), best_cut(&data, chosen.len()));
        assert!((stated - best).abs() < 1e-9 * best, "{stated} {best}");
        // What it predicts has the error that it states.
        let (predicted, truth) = (model.predict_data(&data).unwrap(), data.values().unwrap().0);
        let k = chosen.len();
        assert_eq!(predicted.values().len(), 80 * k);
        let weighted = |i: usize| data.row_weight(i / k) * (predicted.values()[i] - truth[i]).powi(2);
        let total: f64 = (0..80).map(|row| data.row_weight(row)).sum();
        let found = (0..80 * k).map(weighted).sum::<f64>() / total;
        assert!((found - best).abs() < 1e-9 * best, "{found} {best}");
        assert_eq!(model.certificate().objective.contains("summed over the targets"), k > 1);
        let bytes = model.to_bytes().unwrap();
        assert_eq!(ermine::load_bytes(&bytes).unwrap().to_bytes().unwrap(), bytes);
        assert!(model.svg().is_some() && !model.text().is_empty() && model.rules().is_some());
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

#[test]
fn models_of_two_columns_are_drawn_as_maps() {
    let at = |row: usize| [(row % 10) as f64, (row / 10) as f64 * 0.5];
    let rows: Vec<Vec<f64>> = (0..100).map(|row| at(row).to_vec()).collect();
    let features = Features::new(Arc::new(Table::from_rows(&["width", "height"], &rows).unwrap()));
    let fitted = |name: &str, target: Target, task: Task| {
        let data = Dataset::from_parts(features.clone(), target, task).unwrap();
        let learner = Estimator::named(name).learner(&ermine::context()).unwrap();
        ermine_core::learner::fit(&*learner, &data, &ermine::context()).unwrap()
    };
    let side = |row: usize| u32::from(at(row)[0] > 4.5);
    let classes = Target::Classes {
        codes: (0..100).map(side).collect(),
        labels: ["left", "right"].map(String::from).into_iter().collect(),
    };
    let values = Target::Values { values: (0..100).map(|row| at(row)[1]).collect(), n_outputs: 1 };
    for name in ["nearest-neighbors", "svc"] {
        let svg = fitted(name, classes.clone(), Task::Classification).svg().unwrap_or_else(|| panic!("{name}"));
        assert!([">width<", ">height<", ">left<", ">right<"].iter().all(|label| svg.contains(label)), "{name}");
    }
    // Left and right of the middle the colors are those of the classes, in every row of cells.
    let svg = fitted("nearest-neighbors", classes, Task::Classification).svg().unwrap();
    let boxes = |color: &str| {
        let lines = svg.lines().filter(|line| line.contains("<rect") && line.contains(color));
        let x = |line: &str| line.split("x=\"").nth(1).unwrap().split('"').next().unwrap().parse::<f64>().unwrap();
        lines.map(x).collect::<Vec<f64>>()
    };
    let (first, second) = (boxes("#0072b2"), boxes("#e69f00"));
    assert!(first.len() >= 60 && second.len() >= 60, "{} {}", first.len(), second.len());
    let largest = first.iter().copied().fold(0.0, f64::max);
    assert!(second.iter().all(|x| *x > largest), "classes are apart at {largest}");
    assert!(fitted("nearest-neighbors", values, Task::Regression).svg().unwrap().contains("pale: 0"));
    let other = data(&[0]).with_weight(None).unwrap();
    let learner = Estimator::named("nearest-neighbors").learner(&ermine::context()).unwrap();
    let model = ermine_core::learner::fit(&*learner, &other, &ermine::context()).unwrap();
    assert!(model.svg().is_none(), "three columns are no map");
}
