//! Linear models: against scikit-learn (`tools/golden_linear.py`), against closed forms, and on data that breaks careless solvers.

use ermine::prelude::*;
use ermine::registry;
use ermine_core::learner::{Context, Learner, fit};
use ermine_core::matrix::{Features, Target};
use ermine_core::model::{Proof, Status};
use ermine_core::param::Value;
use ermine_linear::learner::linear::fitted::LinearModel;
use ermine_linear::learner::linear::perceptron::PerceptronForm;
use ermine_linear::learner::linear::sgd_model::{SgdModel, SgdStream};
use proptest::prelude::*;
use std::sync::Arc;

fn floats(value: &serde_json::Value) -> Vec<f64> {
    match value {
        serde_json::Value::Array(values) => values.iter().flat_map(floats).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

/// Rows of numbers with a target of numbers.
pub fn numbers(rows: &[Vec<f64>], y: &[f64]) -> Dataset {
    let target = Target::Values { values: y.to_vec(), n_outputs: y.len() / rows.len() };
    Dataset::from_parts(features(rows), target, Task::Regression).unwrap()
}

/// Rows of numbers with classes.
pub fn classes(rows: &[Vec<f64>], codes: &[usize]) -> Dataset {
    let n = codes.iter().max().unwrap() + 1;
    let labels = (0..n).map(|c| c.to_string()).collect();
    let target = Target::Classes { codes: codes.iter().map(|&c| c as u32).collect(), labels };
    Dataset::from_parts(features(rows), target, Task::Classification).unwrap()
}

fn features(rows: &[Vec<f64>]) -> Features {
    let column = |j: usize| Column::numeric(format!("x{j}"), rows.iter().map(|r| r[j]).collect::<Vec<f64>>());
    Features::new(Arc::new(Table::new((0..rows[0].len()).map(column).collect()).unwrap()))
}

/// The same rows as sparse columns.
fn sparse(rows: &[Vec<f64>]) -> Features {
    let column = |j: usize| {
        let held: Vec<usize> = (0..rows.len()).filter(|&i| rows[i][j] != 0.0).collect();
        let places: Vec<u32> = held.iter().map(|&i| i as u32).collect();
        let values: Vec<f64> = held.iter().map(|&i| rows[i][j]).collect();
        Column::sparse(format!("x{j}"), rows.len(), places.into(), values.into())
    };
    Features::new(Arc::new(Table::new((0..rows[0].len()).map(column).collect()).unwrap()))
}

pub fn draw(n: usize, p: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut rng = ermine_core::rng::stream(seed, &[3]);
    let mut one = || ermine_core::rng::below(&mut rng, 20_001) as f64 / 10_000.0 - 1.0;
    (0..n).map(|_| (0..p).map(|_| one()).collect()).collect()
}

fn attribute(model: &Model, name: &str) -> Vec<f64> {
    let all = model.attributes();
    all.iter().find(|a| a.name == name).unwrap_or_else(|| panic!("no attribute {name}")).values.clone()
}

pub fn learner(name: &str, params: &[(&str, &str)]) -> Box<dyn Learner> {
    let mut made = registry::learner(name).unwrap();
    params.iter().for_each(|(k, v)| made.set(k, &Value::parse(v)).unwrap());
    made
}

pub fn train(name: &str, params: &[(&str, &str)], data: &Dataset) -> Model {
    fit(&*learner(name, params), data, &ermine::context()).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + b.abs())
}

#[test]
fn coefficients_are_those_of_scikit_learn() {
    let golden: serde_json::Value = serde_json::from_str(include_str!("../golden/linear.json")).unwrap();
    let rows: Vec<Vec<f64>> = golden["x"].as_array().unwrap().iter().map(floats).collect();
    let weight = floats(&golden["weight"]);
    for case in golden["cases"].as_array().unwrap() {
        let (name, target) = (case["learner"].as_str().unwrap(), case["target"].as_str().unwrap());
        let y = floats(&golden[target]);
        let data = match target {
            "y" => numbers(&rows, &y),
            _ => classes(&rows, &y.iter().map(|&c| c as usize).collect::<Vec<_>>()),
        };
        let weighted = case["weighted"].as_bool().unwrap();
        let data = data.with_weight(weighted.then(|| weight.clone())).unwrap();
        let mut made = registry::learner(name).unwrap();
        for (param, value) in case["params"].as_object().unwrap() {
            made.set(param, &serde_json::from_value::<Value>(value.clone()).unwrap()).unwrap();
        }
        // To the last digits: the tolerance of users is that of their objective, not of each coefficient.
        if name == "logistic-regression" {
            made.set("tol", &Value::Float(1e-12)).unwrap();
        }
        let model = fit(&*made, &data, &ermine::context()).unwrap();
        assert_eq!(model.certificate().status, Status::Done, "{name} {}: {}", case["params"], model.certificate());
        // First-order peers stop earlier than exact ones.
        let tolerance = match name {
            "huber-regression" => 2e-4,
            _ if case["params"].get("l1_ratio").is_some() && target != "y" => 1e-5,
            _ => 1e-6,
        };
        for (what, theirs) in [("coef", &case["coef"]), ("intercept", &case["intercept"])] {
            let (ours, theirs) = (attribute(&model, what), floats(theirs));
            assert_eq!(ours.len(), theirs.len());
            for (a, b) in ours.iter().zip(&theirs) {
                assert!(close(*a, *b, tolerance), "{name} {}: {what} {ours:?} {theirs:?}", case["params"]);
            }
        }
        for what in ["alpha", "scale"] {
            if let Some(theirs) = case[what].as_f64() {
                assert!(close(attribute(&model, what)[0], theirs, 1e-3), "{name}: {what}");
            }
        }
        if let Some(gap) = model.certificate().gap() {
            assert!((-1e-12..=1e-8 * model.certificate().value.unwrap()).contains(&gap), "{name}: gap {gap}");
        }
    }
}

#[test]
fn statistics_are_those_of_the_textbook() {
    let golden: serde_json::Value = serde_json::from_str(include_str!("../golden/linear.json")).unwrap();
    let rows: Vec<Vec<f64>> = golden["x"].as_array().unwrap().iter().map(floats).collect();
    let model = LinearRegression::default().fit(&numbers(&rows, &floats(&golden["y"]))).unwrap();
    let inference = &model.fitted::<LinearModel>().unwrap().inference[0];
    let truth = &golden["statistics"];
    for (a, b) in inference.errors.iter().zip(floats(&truth["errors"])) {
        assert!(close(*a, b, 1e-9), "{a} {b}");
    }
    assert!(close(inference.r_squared, truth["r_squared"].as_f64().unwrap(), 1e-10));
    assert!(close(inference.sigma, truth["sigma"].as_f64().unwrap(), 1e-10));
    assert_eq!((inference.freedom, inference.rank), (74.0, 5.0));
    let text = model.text();
    for word in ["estimate", "std. error", "t", "p", "R squared", "adjusted", "residual standard error", "F ="] {
        assert!(text.contains(word), "{text}");
    }
    assert!(model.certificate().notes[0].contains("Cholesky"));
}

#[test]
fn a_nominal_column_is_compared_with_its_first_level() {
    let shape: Vec<Option<&str>> = (0..60).map(|i| Some(["flat", "long", "round"][i % 3])).collect();
    let x: Vec<f64> = (0..60).map(|i| ((i * 7) % 11) as f64).collect();
    let y: Vec<f64> =
        (0..60).map(|i| 2.0 * x[i] + [1.0, 4.0, -2.0][i % 3] + ((i * 13 % 7) as f64 - 3.0) / 50.0).collect();
    let table = Table::new(vec![Column::nominal("shape", &shape), Column::numeric("x", x), Column::numeric("y", y)]);
    let model = LinearRegression::default().fit(&table.unwrap().dataset("y").unwrap()).unwrap();
    let linear = model.fitted::<LinearModel>().unwrap();
    assert_eq!(linear.names, ["shape=long", "shape=round", "x"]);
    let coef = attribute(&model, "coef");
    for (a, b) in coef.iter().zip([3.0, -3.0, 2.0]) {
        assert!((a - b).abs() < 0.05, "{coef:?}");
    }
    assert!(linear.inference[0].errors.iter().all(|e| e.is_finite() && *e > 0.0));
}

#[test]
fn polynomials_of_several_variables_are_recovered() {
    let rows = draw(200, 2, 5);
    let y: Vec<f64> = rows.iter().map(|r| 1.0 - r[0] + 3.0 * r[0] * r[1] + 2.0 * r[1].powi(3)).collect();
    let model = train("linear-regression", &[("degree", "3")], &numbers(&rows, &y));
    let linear = model.fitted::<LinearModel>().unwrap();
    assert_eq!(linear.names.len(), 9);
    for (name, c) in linear.names.iter().zip(attribute(&model, "coef")) {
        let truth = match name.as_str() {
            "x0" => -1.0,
            "x0 x1" => 3.0,
            "x1^3" => 2.0,
            _ => 0.0,
        };
        assert!((c - truth).abs() < 1e-9, "{name}: {c}");
    }
    assert!((attribute(&model, "intercept")[0] - 1.0).abs() < 1e-9);
    // One variable to a high degree: badly conditioned, and still fitted.
    let line: Vec<Vec<f64>> = (0..100).map(|i| vec![i as f64 / 50.0 - 1.0]).collect();
    let sine: Vec<f64> = line.iter().map(|r| (3.0 * r[0]).sin()).collect();
    let data = numbers(&line, &sine);
    let model = train("linear-regression", &[("degree", "15")], &data);
    let fitted = model.predict_data(&data).unwrap();
    assert!(fitted.values().iter().zip(&sine).all(|(a, b)| (a - b).abs() < 1e-6));
}

#[test]
fn penalties_on_standardized_columns_are_reported_in_original_units() {
    let rows: Vec<Vec<f64>> =
        draw(100, 3, 1).iter().map(|r| vec![r[0] * 1000.0 + 50.0, r[1], r[2] * 0.01 - 3.0]).collect();
    let y: Vec<f64> = rows.iter().map(|r| r[0] / 500.0 + r[1] + 80.0 * r[2] + (r[0] * 7.0).sin()).collect();
    let moments: Vec<(f64, f64)> = (0..3)
        .map(|j| {
            let mean = rows.iter().map(|r| r[j]).sum::<f64>() / 100.0;
            (mean, (rows.iter().map(|r| (r[j] - mean).powi(2)).sum::<f64>() / 100.0).sqrt())
        })
        .collect();
    let standard: Vec<Vec<f64>> =
        rows.iter().map(|r| (0..3).map(|j| (r[j] - moments[j].0) / moments[j].1).collect()).collect();
    let codes: Vec<usize> = y.iter().map(|y| usize::from(*y > -239.0)).collect();
    for (name, alpha) in [
        ("ridge", "5"),
        ("lasso", "0.1"),
        ("elastic-net", "0.1"),
        ("quantile-regression", "0.05"),
        ("gradient-descent", "0.1"),
    ] {
        let inside = train(name, &[("alpha", alpha), ("standardize", "true")], &numbers(&rows, &y));
        let outside = train(name, &[("alpha", alpha), ("standardize", "false")], &numbers(&standard, &y));
        let (a, b) = (attribute(&inside, "coef"), attribute(&outside, "coef"));
        for j in 0..3 {
            assert!(close(a[j] * moments[j].1, b[j], 1e-5), "{name}: {a:?} {b:?}");
        }
        let (p, q) =
            (inside.predict_data(&numbers(&rows, &y)).unwrap(), outside.predict_data(&numbers(&standard, &y)).unwrap());
        assert!(p.values().iter().zip(q.values()).all(|(a, b)| close(*a, *b, 1e-5)), "{name}");
    }
    let inside = train("logistic-regression", &[("standardize", "true")], &classes(&rows, &codes));
    let outside = train("logistic-regression", &[], &classes(&standard, &codes));
    let (p, q) = (
        inside.predict_data(&classes(&rows, &codes)).unwrap(),
        outside.predict_data(&classes(&standard, &codes)).unwrap(),
    );
    assert!(p.values().iter().zip(q.values()).all(|(a, b)| close(*a, *b, 1e-6)));
}

#[test]
fn sparse_columns_give_the_same_models() {
    let mut rows = draw(150, 6, 9);
    rows.iter_mut().flatten().for_each(|x| *x = if x.abs() < 0.6 { 0.0 } else { *x });
    let y: Vec<f64> = rows.iter().map(|r| 1.0 + r[0] - 2.0 * r[3] + 0.3 * (r[5] * 9.0).cos()).collect();
    let codes: Vec<usize> = (0..150).map(|i| usize::from(y[i] + rows[i][1] > 1.0)).collect();
    let three: Vec<usize> = (0..150).map(|i| codes[i] + usize::from(y[i] > 2.0)).collect();
    for entry in registry::learners() {
        let info = entry.info();
        if !info.capabilities.sparse || info.name == "baseline" {
            continue;
        }
        let mut targets: Vec<Dataset> = Vec::new();
        let plain = |task: &&Task| matches!(task, Task::Regression | Task::Classification);
        for task in info.capabilities.tasks.iter().filter(plain) {
            match task {
                Task::Regression => targets.push(numbers(&rows, &y)),
                _ => {
                    targets.push(classes(&rows, &codes));
                    targets.extend((!info.capabilities.binary_only).then(|| classes(&rows, &three)));
                }
            }
        }
        for dense in targets {
            let same = Dataset::from_parts(sparse(&rows), dense.target().clone(), dense.task()).unwrap();
            let mut made = crate::made(entry);
            if info.name == "gradient-descent" && dense.task() == Task::Classification {
                made.set("loss", &Value::Text("log_loss".into())).unwrap();
            }
            if matches!(info.name, "sgd" | "perceptron") {
                made.set("standardize", &Value::Bool(false)).unwrap();
            }
            let a = fit(&*made, &dense, &ermine::context()).unwrap();
            let b = fit(&*made, &same, &ermine::context()).unwrap();
            let (p, q) = (a.predict_data(&dense).unwrap(), b.predict_data(&same).unwrap());
            // Where columns keep their mean, descents and interior points take another way to the same place.
            let tolerance = if matches!(info.name, "gradient-descent" | "halfspace") { 1e-2 } else { 1e-6 };
            let far = p.values().iter().zip(q.values()).filter(|(a, b)| !close(**a, **b, tolerance)).count();
            assert_eq!(far, 0, "{} {}", info.name, dense.task());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Descents of every loss with every penalty end finite, no better than the bound that they prove, and near the optimum where the loss is smooth.
    #[test]
    fn every_loss_works_with_every_penalty(seed in 0u64..1000, classify: bool, which in 0usize..9, penalty in 0usize..5, stochastic: bool) {
        let losses = ["hinge", "squared_hinge", "exponential", "log_loss", "squared_error", "absolute_error", "huber", "quantile", "epsilon_insensitive"];
        let loss = losses[which];
        prop_assume!(if classify { which < 7 } else { which >= 4 });
        let rows = draw(120, 3, seed);
        let y: Vec<f64> = rows.iter().map(|r| r[0] - 0.5 * r[1] + 0.2 * (9.0 * r[2]).sin()).collect();
        let data = if classify { classes(&rows, &y.iter().map(|y| usize::from(*y > 0.1)).collect::<Vec<_>>()) } else { numbers(&rows, &y) };
        let penalty = ["none", "l1", "l2", "elasticnet", "lp"][penalty];
        let mut params = vec![("loss", loss), ("penalty", penalty), ("alpha", "0.02")];
        if stochastic {
            params.extend([("eta0", "0.05"), ("learning_rate", "adaptive"), ("tol", "1e-6"), ("average", "false")]);
        }
        let model = train(if stochastic { "sgd" } else { "gradient-descent" }, &params, &data);
        let value = model.certificate().value.unwrap();
        prop_assert!(model.predict_data(&data).unwrap().values().iter().all(|v| v.is_finite()));
        if let Some(gap) = model.certificate().gap() {
            prop_assert!(gap >= -1e-9 * value.abs(), "gap {gap}");
        }
        let curve = attribute(&model, "loss_curve");
        prop_assert!(curve.last().unwrap() <= &(curve[0] * 1.01 + 1e-9), "{loss} {penalty}: {curve:?}");
        if !stochastic && loss == "log_loss" && penalty == "l2" {
            // The same objective by Newton's method: C = 1 / (alpha n).
            let exact = train("logistic-regression", &[("C", &format!("{}", 1.0 / (0.02 * 120.0))), ("standardize", "true")], &data);
            prop_assert!(close(value, exact.certificate().value.unwrap(), 1e-6), "{value} {}", exact.certificate());
        }
    }

    /// The dual bound is below the objective anywhere, and at the optimum they meet.
    #[test]
    fn duality_gaps_bound_the_suboptimality(seed in 0u64..1000, n in 20usize..120, p in 1usize..6, strength in 0.01f64..3.0, ratio in prop_oneof![Just(0.0), Just(1.0), 0.1f64..0.9], k in 2usize..5) {
        let rows = draw(n, p, seed);
        let codes: Vec<usize> = (0..n).map(|i| ((rows[i][0] + 1.0 + 0.3 * (i % 3) as f64) * k as f64 / 2.7) as usize % k).collect();
        prop_assume!(codes.iter().max() == Some(&(k - 1)) && (0..k).all(|c| codes.contains(&c)));
        let data = classes(&rows, &codes);
        let (c, r) = (format!("{strength}"), format!("{ratio}"));
        let best = train("logistic-regression", &[("C", &c), ("l1_ratio", &r)], &data);
        let (value, gap) = (best.certificate().value.unwrap(), best.certificate().gap().unwrap());
        prop_assert!(gap <= 1e-7 * value && gap >= -1e-12, "{}", best.certificate());
        let early = train("logistic-regression", &[("C", &c), ("l1_ratio", &r), ("max_iter", "1")], &data);
        let (rough, rough_gap) = (early.certificate().value.unwrap(), early.certificate().gap().unwrap());
        prop_assert!(rough >= value - 1e-9 && rough - rough_gap <= value + 1e-9, "bound {} of {value}", rough - rough_gap);
    }
}

#[test]
fn unconverged_fits_are_marked() {
    let rows = draw(200, 5, 3);
    let y: Vec<f64> = rows.iter().map(|r| r[0] + r[1]).collect();
    let model = train("gradient-descent", &[("max_iter", "2")], &numbers(&rows, &y));
    assert!(
        matches!(&model.certificate().status, Status::Limit(why) if why.contains("2 iterations")),
        "{}",
        model.certificate()
    );
    assert!(model.certificate().to_string().contains("NOT CONVERGED"));
    // Separable classes without a penalty: finite weights, and the diagnosis.
    let codes: Vec<usize> = y.iter().map(|y| usize::from(*y > 0.0)).collect();
    for codes in [codes.clone(), codes.iter().zip(&y).map(|(c, y)| c + usize::from(*y > 0.7)).collect()] {
        let data = classes(&rows, &codes);
        let model = train("logistic-regression", &[("C", "inf")], &data);
        assert!(model.certificate().to_string().contains("separable"), "{}", model.certificate());
        let said = model.predict_data(&data).unwrap();
        assert!((0..200).filter(|&i| said.class(i) == codes[i]).count() >= 198);
    }
}

#[test]
fn hard_columns_give_finite_answers_or_a_diagnosis() {
    let base = draw(60, 4, 8);
    let y: Vec<f64> = base.iter().map(|r| r[0] - r[1] + 0.1 * r[2]).collect();
    let codes: Vec<usize> = (0..60).map(|i| usize::from(y[i] + base[i][3] > 0.0)).collect();
    let scaled: Vec<Vec<f64>> = base.iter().map(|r| vec![r[0] * 1e12, r[1] * 1e-12, r[2] + 1e9, 7.0]).collect();
    let twice: Vec<Vec<f64>> = base.iter().map(|r| vec![r[0], r[1], r[0], r[0] + r[1]]).collect();
    let wide: Vec<Vec<f64>> =
        base.iter().take(12).map(|r| (0..30).map(|j| (r[j % 4] * (j + 1) as f64).sin()).collect()).collect();
    for rows in [scaled, twice, wide] {
        let n = rows.len();
        for entry in registry::learners() {
            let info = entry.info();
            let made = crate::made(entry);
            if !info.capabilities.sparse {
                continue;
            }
            let plain = |task: &&Task| matches!(task, Task::Regression | Task::Classification);
            for task in info.capabilities.tasks.iter().filter(plain) {
                let data = match task {
                    Task::Regression => numbers(&rows, &y[..n]),
                    _ => classes(&rows, &codes[..n]),
                };
                match fit(&*made, &data, &ermine::context()) {
                    Ok(model) => {
                        let said = model.predict_data(&data).unwrap();
                        assert!(said.values().iter().all(|v| v.is_finite()), "{}", info.name);
                    }
                    Err(e) => assert!(info.name == "sgd" && e.to_string().contains("eta0"), "{}: {e}", info.name),
                }
            }
        }
    }
    // Least squares still explains what there is to explain, whatever the scale.
    let scaled: Vec<Vec<f64>> = base.iter().map(|r| vec![r[0] * 1e12, r[1] * 1e-12, r[2], 7.0]).collect();
    let model = LinearRegression::default().fit(&numbers(&scaled, &y)).unwrap();
    let said = model.predict_data(&numbers(&scaled, &y)).unwrap();
    assert!(said.values().iter().zip(&y).all(|(a, b)| (a - b).abs() < 1e-8), "{}", model.certificate());
    let mut infinite = base.clone();
    infinite[7][2] = f64::INFINITY;
    let message = LinearRegression::default().fit(&numbers(&infinite, &y)).unwrap_err().to_string();
    assert!(message.contains("'x2'") && message.contains("row 8"), "{message}");
}

#[test]
fn halfspaces_are_found_or_refuted() {
    let rows = draw(80, 3, 4);
    let apart: Vec<usize> = rows.iter().map(|r| usize::from(r[0] - r[1] > 0.05)).collect();
    let model = Halfspace::default().fit(&classes(&rows, &apart)).unwrap();
    assert_eq!(model.certificate().value, Some(0.0));
    assert!(model.certificate().notes[0].contains("separable"), "{}", model.certificate());
    let said = model.predict_data(&classes(&rows, &apart)).unwrap();
    assert!((0..80).all(|i| said.class(i) == apart[i]));
    // Classes that nearly touch.
    for seed in 0..40 {
        let rows = draw(100, 3, 100 + seed);
        let near: Vec<usize> = rows.iter().map(|r| usize::from(r[0] + r[1] > 0.1)).collect();
        let data = classes(&rows, &near);
        let model = Halfspace::default().fit(&data).unwrap();
        assert_eq!(model.certificate().value, Some(0.0), "{}", model.certificate());
        let said = model.predict_data(&data).unwrap();
        assert!((0..100).all(|i| said.class(i) == near[i]));
    }
    // The corners of a square, crosswise: the diagonals meet.
    let square = [vec![0.0, 0.0], vec![1.0, 1.0], vec![0.0, 1.0], vec![1.0, 0.0]];
    let model = Halfspace::default().fit(&classes(&square, &[0, 0, 1, 1])).unwrap();
    assert!(model.certificate().notes[0].contains("no hyperplane"), "{}", model.certificate());
    assert!(model.certificate().value.unwrap() > 0.0);
    // With products of columns there is one.
    let model = train("halfspace", &[("degree", "2")], &classes(&square, &[0, 0, 1, 1]));
    assert_eq!(model.certificate().value, Some(0.0));
}

/// The total violation of a fitted halfspace, from its coefficients and the data alone.
fn violation(model: &Model, rows: &[Vec<f64>], codes: &[usize]) -> f64 {
    let (w, b) = (attribute(model, "coef"), attribute(model, "intercept")[0]);
    let margin = |row: &[f64]| row.iter().zip(&w).map(|(x, w)| x * w).sum::<f64>() + b;
    let sign = |code: usize| if code == 1 { 1.0 } else { -1.0 };
    rows.iter().zip(codes).map(|(row, &code)| (1.0 - sign(code) * margin(row)).max(0.0)).sum()
}

#[test]
fn the_certified_violation_of_a_halfspace_is_that_of_its_coefficients() {
    for seed in 0..200 {
        // Small whole numbers, so that classes touch, share points and lie on lines.
        let whole = |r: &Vec<f64>| r.iter().map(|x| (2.6 * x).round()).collect::<Vec<f64>>();
        let rows: Vec<Vec<f64>> = draw(12, 2, seed).iter().map(whole).collect();
        let noise = draw(12, 1, seed + 1000);
        let level = if seed % 2 == 0 { 0.0 } else { 2.0 };
        let codes: Vec<usize> =
            rows.iter().zip(&noise).map(|(r, e)| usize::from(r[0] - r[1] + 0.5 + level * e[0] > 0.0)).collect();
        if codes.iter().sum::<usize>() % 12 == 0 {
            continue;
        }
        let model = Halfspace::default().fit(&classes(&rows, &codes)).unwrap();
        let value = model.certificate().value.unwrap();
        let found = violation(&model, &rows, &codes);
        assert!((value - found).abs() < 1e-9 * (1.0 + found), "{value} {found}: {}", model.certificate());
        let shared = (0..12).any(|i| (0..12).any(|j| rows[i] == rows[j] && codes[i] != codes[j]));
        for proof in &model.certificate().proofs {
            match proof {
                Proof::Optimal { .. } => assert!(value == 0.0 && !shared, "{}", model.certificate()),
                Proof::LowerBound(bound) => assert!(*bound > 0.0 && *bound <= value + 1e-9, "{}", model.certificate()),
                _ => panic!("seed {seed}: {rows:?} {codes:?}: {}", model.certificate()),
            }
        }
    }
}

#[test]
fn a_point_of_both_classes_proves_that_no_hyperplane_separates() {
    for (rows, codes) in [
        (vec![vec![1.0], vec![1.0]], vec![0, 1]),
        (vec![vec![0.0, 0.0], vec![1.0, 1.0], vec![2.0, 2.0], vec![1.0, 1.0]], vec![0, 0, 1, 1]),
        (vec![vec![0.1, 3.0], vec![0.1, 3.0], vec![-5.0, 2.0], vec![7.0, 2.0]], vec![0, 1, 0, 1]),
    ] {
        let model = Halfspace::default().fit(&classes(&rows, &codes)).unwrap();
        assert_eq!(model.certificate().status, Status::Done, "{}", model.certificate());
        assert!(model.certificate().notes[0].contains("no hyperplane"), "{}", model.certificate());
        let value = model.certificate().value.unwrap();
        assert!((value - violation(&model, &rows, &codes)).abs() < 1e-9 * value);
    }
}

#[test]
fn the_perceptron_respects_its_mistake_bound() {
    for seed in 0..20 {
        let rows = draw(60, 3, seed);
        let codes: Vec<usize> = rows.iter().map(|r| usize::from(r[0] + 0.5 * r[1] > 0.02)).collect();
        let data = classes(&rows, &codes);
        let model = train("perceptron", &[("n_iter_no_change", "none"), ("max_iter", "100000")], &data);
        let bound = model.certificate().proofs.iter().find_map(|p| match p {
            Proof::Bound { bound, observed, .. } => Some((*bound, *observed)),
            _ => None,
        });
        let (bound, mistakes) = bound.unwrap_or_else(|| panic!("{}", model.certificate()));
        assert!(mistakes <= bound && mistakes > 0.0, "{mistakes} of {bound}");
        assert_eq!(mistakes, attribute(&model, "n_mistakes")[0]);
        for form in ["batch", "averaged"] {
            let other = train("perceptron", &[("form", form), ("n_iter_no_change", "none")], &data);
            let said = other.predict_data(&data).unwrap();
            assert!((0..60).filter(|&i| said.class(i) == codes[i]).count() >= 50, "{form}");
        }
    }
    // A kernel learns what no hyperplane separates.
    let ring = draw(150, 2, 1);
    let codes: Vec<usize> = ring.iter().map(|r| usize::from(r[0] * r[0] + r[1] * r[1] > 0.6)).collect();
    for params in [&[("kernel", "rbf"), ("gamma", "3")][..], &[("kernel", "poly"), ("degree", "2")]] {
        let mut params = params.to_vec();
        params.extend([("n_iter_no_change", "none"), ("max_iter", "100000")]);
        let model = train("perceptron", &params, &classes(&ring, &codes));
        let said = model.predict_data(&classes(&ring, &codes)).unwrap();
        assert_eq!((0..150).filter(|&i| said.class(i) == codes[i]).count(), 150, "{params:?}");
        let again = ermine::load_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(again.predict_data(&classes(&ring, &codes)).unwrap(), said);
    }
}

#[test]
fn partial_fit_in_batches_equals_one_pass() {
    let rows = draw(300, 4, 2);
    let y: Vec<f64> = rows.iter().map(|r| 1.0 + r[0] - r[3]).collect();
    let params =
        StochasticGradientDescent { shuffle: false, average: true, standardize: Some(false), ..Default::default() };
    let once = StochasticGradientDescent { max_iter: 1, tol: None, ..params.clone() }.fit(&numbers(&rows, &y)).unwrap();
    let mut model: Option<Model> = None;
    for part in [0..100, 100..180, 180..300] {
        let data = numbers(&rows[part.clone()], &y[part]);
        let next = SgdStream { params: params.clone(), from: model.as_ref() }.fit(&data, &ermine::context()).unwrap();
        // A model that was written and read goes on as if it had not been.
        model = Some(ermine::load_bytes(&next.to_bytes().unwrap()).unwrap());
    }
    let streamed = model.unwrap();
    assert_eq!(attribute(&streamed, "coef"), attribute(&once, "coef"));
    assert_eq!(attribute(&streamed, "intercept"), attribute(&once, "intercept"));
    assert!(streamed.fitted::<SgdModel>().is_some());
    // Classes that come later must have been named.
    let codes: Vec<usize> = (0..300).map(|i| usize::from(y[i] > 1.0)).collect();
    let whole = classes(&rows, &codes);
    let first: Vec<u32> = (0..300).filter(|&i| codes[i as usize] == 0).collect();
    let params = StochasticGradientDescent::default();
    let start = SgdStream { params: params.clone(), from: None }
        .fit(&whole.select(&first).unwrap(), &ermine::context())
        .unwrap();
    let more = SgdStream { params: params.clone(), from: Some(&start) }.fit(&whole, &ermine::context()).unwrap();
    assert_eq!(more.schema().classes.len(), 2);
    let strange = classes(&rows, &(0..300).map(|i| i % 3).collect::<Vec<_>>());
    let message = SgdStream { params, from: Some(&more) }.fit(&strange, &ermine::context()).unwrap_err().to_string();
    assert!(message.contains("class") && message.contains("'2'"), "{message}");
}

#[test]
fn a_perceptron_in_batches_is_one_pass_over_all_rows() {
    let rows = draw(300, 4, 3);
    let codes: Vec<usize> = rows.iter().map(|r| usize::from(r[0] - r[3] > 0.1)).collect();
    let params = Perceptron { shuffle: false, standardize: Some(false), ..Default::default() };
    let once = Perceptron { max_iter: 1, ..params.clone() }.fit(&classes(&rows, &codes)).unwrap();
    let incremental = params.incremental().unwrap();
    let mut model: Option<Model> = None;
    for part in [0..100, 100..180, 180..300] {
        let data = classes(&rows[part.clone()], &codes[part]);
        let next = incremental.fit_batch(&data, model.as_ref(), &ermine::context()).unwrap();
        model = Some(ermine::load_bytes(&next.to_bytes().unwrap()).unwrap());
    }
    let streamed = model.unwrap();
    assert_eq!(attribute(&streamed, "coef"), attribute(&once, "coef"));
    assert_eq!(attribute(&streamed, "intercept"), attribute(&once, "intercept"));
    let text = streamed.certificate().to_string();
    assert!(
        text.contains("over the 120 rows of the last batch only") && text.contains("trained on 300 rows"),
        "{text}"
    );
    for refused in [
        Perceptron { form: PerceptronForm::Averaged, ..params.clone() },
        Perceptron { degree: 2, ..params.clone() },
        Perceptron { standardize: Some(true), ..params },
    ] {
        let error = refused.incremental().unwrap().fit_batch(&classes(&rows, &codes), None, &ermine::context());
        assert!(error.unwrap_err().to_string().contains("when training in batches"));
    }
}

#[test]
fn the_certificate_after_partial_fit_covers_the_last_batch_and_states_it() {
    let rows = draw(120, 3, 5);
    let y: Vec<f64> =
        rows.iter().enumerate().map(|(i, r)| r[0] - 0.5 * r[2] + if i < 80 { 10.0 } else { 0.0 }).collect();
    let params = StochasticGradientDescent { penalty: None, ..Default::default() };
    let mut model: Option<Model> = None;
    for part in [0..80, 80..120] {
        let data = numbers(&rows[part.clone()], &y[part.clone()]);
        let next = SgdStream { params: params.clone(), from: model.as_ref() }.fit(&data, &ermine::context()).unwrap();
        let said = next.predict_data(&data).unwrap();
        let squares = said.values().iter().zip(&y[part]).map(|(a, b)| (a - b).powi(2));
        let loss = squares.sum::<f64>() / (2.0 * data.n_rows() as f64);
        let value = next.certificate().value.unwrap();
        assert!((value - loss).abs() < 1e-9 * loss || (value - 2.0 * loss).abs() < 1e-9 * loss, "{value} {loss}");
        let words = next.certificate().to_string();
        assert!(words.contains(&format!("over the {} rows of the last batch only", data.n_rows())), "{words}");
        model = Some(next);
    }
    let model = model.unwrap();
    assert_eq!(model.header().n_rows, 120);
    let words = model.certificate().to_string();
    assert!(words.contains("trained on 120 rows") && words.contains("the 80 rows before"), "{words}");
    let once = params.fit(&numbers(&rows, &y)).unwrap();
    assert!(!once.certificate().to_string().contains("batch"));
}

#[test]
fn the_bounds_of_perceptrons_name_their_class() {
    let rows: Vec<Vec<f64>> =
        (0..90).map(|i| vec![f64::from(i % 3) * 10.0, f64::from(i % 3 * (i % 3)) * 10.0]).collect();
    let codes: Vec<usize> = (0..90).map(|i| i % 3).collect();
    let model = train("perceptron", &[("n_iter_no_change", "none"), ("max_iter", "100000")], &classes(&rows, &codes));
    let bounds: Vec<&String> = model
        .certificate()
        .proofs
        .iter()
        .filter_map(|p| if let ermine_core::model::Proof::Bound { what, .. } = p { Some(what) } else { None })
        .collect();
    assert_eq!(bounds.len(), 3, "{}", model.certificate());
    for (label, what) in model.schema().classes.iter().zip(bounds) {
        assert!(what.contains(&format!("'{label}' against the rest")), "{what}");
    }
}

#[test]
fn cross_validation_finds_the_columns_that_matter() {
    let rows = draw(200, 30, 6);
    let mut rng = ermine_core::rng::stream(1, &[]);
    let noise: Vec<f64> = (0..200).map(|_| ermine_core::rng::below(&mut rng, 2001) as f64 / 1000.0 - 1.0).collect();
    let y: Vec<f64> = (0..200).map(|i| 3.0 * rows[i][4] - 2.0 * rows[i][17] + 0.3 * noise[i]).collect();
    for name in ["lasso-cv", "elastic-net-cv"] {
        let model = train(name, &[], &numbers(&rows, &y));
        let coef = attribute(&model, "coef");
        assert!(coef[4] > 2.5 && coef[17] < -1.5, "{name}: {coef:?}");
        let (alphas, errors) = (attribute(&model, "alphas"), attribute(&model, "cv_errors"));
        let best = (0..alphas.len()).min_by(|&a, &b| errors[a].total_cmp(&errors[b])).unwrap();
        assert_eq!(alphas[best], attribute(&model, "alpha")[0]);
        assert!(errors[best] < 0.15 && errors[0] > 3.0, "{errors:?}");
        assert!(model.svg().unwrap().contains("log10 alpha") && model.text().contains("log10 alpha"));
    }
    let model = train("ridge-cv", &[("alphas", "0.001,1,1000")], &numbers(&rows, &y));
    assert!(attribute(&model, "alpha")[0] < 10.0);
}

#[test]
fn folds_can_be_passed_in() {
    let rows = draw(60, 4, 8);
    let y: Vec<f64> = rows.iter().enumerate().map(|(i, r)| r[1] + (i % 5) as f64 / 4.0).collect();
    let (data, folds) = (numbers(&rows, &y), (0..60).map(|i| i % 3).collect::<Vec<u32>>());
    let learner = registry::learner("lasso-cv").unwrap();
    let of = |data: &Dataset, seed, folds: Option<&[u32]>| {
        fit(&*learner, data, &Context { seed, folds, ..ermine::context() }).map(|model| attribute(&model, "cv_errors"))
    };
    let given = of(&data, 0, Some(&folds)).unwrap();
    // Nothing is drawn any more; folds that are drawn are others.
    assert_eq!(given, of(&data, 1, Some(&folds)).unwrap());
    assert_ne!(of(&data, 0, None).unwrap(), of(&data, 1, None).unwrap());
    // A row without weight is not there.
    let mut weight = vec![1.0; 60];
    (0..60).step_by(7).for_each(|i| weight[i] = 0.0);
    let rest: Vec<usize> = (0..60).filter(|i| i % 7 != 0).collect();
    let some = numbers(
        &rest.iter().map(|&i| rows[i].clone()).collect::<Vec<_>>(),
        &rest.iter().map(|&i| y[i]).collect::<Vec<_>>(),
    );
    let some_folds: Vec<u32> = rest.iter().map(|&i| folds[i]).collect();
    let weighted = of(&data.with_weight(Some(weight)).unwrap(), 0, Some(&folds)).unwrap();
    let alone = of(&some, 0, Some(&some_folds)).unwrap();
    assert!(weighted.len() == alone.len() && weighted.iter().zip(&alone).all(|(a, b)| (a - b).abs() <= 1e-12 * b));
    assert!(of(&some, 0, Some(&folds)).unwrap_err().to_string().contains("folds for 60 rows"));
    assert!(of(&some, 0, Some(&vec![0; some.n_rows()])).unwrap_err().to_string().contains("at least two"));
}

#[test]
fn a_loss_curve_is_drawn_and_a_prediction_explained() {
    let rows = draw(100, 2, 3);
    let y: Vec<f64> = rows.iter().map(|r| r[0] + 2.0).collect();
    let data = numbers(&rows, &y);
    let model = train("sgd", &[], &data);
    assert!(model.svg().unwrap().contains(">pass<") && model.text().contains("pass"));
    let page = train("linear-regression", &[], &data).html().unwrap();
    assert!(page.contains("std. error") && page.contains("R squared") && model.html().unwrap().contains("<svg"));
    let table = Table::new(vec![Column::numeric("x0", vec![0.5]), Column::numeric("x1", vec![0.0])]).unwrap();
    let why = train("linear-regression", &[], &data).explain_row(&table, 0).unwrap().unwrap();
    assert!(why.contains("total") && why.contains("2.5"), "{why}");
}

/// A sparse file of real data: the probabilities are scikit-learn's.
#[test]
fn a_sparse_file_of_mushrooms_is_learned() {
    let roles = Roles { task: Some(Task::Classification), ..Roles::target("label") };
    let data = Dataset::new(Table::read(crate::shipped("agaricus.train.libsvm.gz")).unwrap(), &roles).unwrap();
    let model = LogisticRegression { tol: 1e-10, ..Default::default() }.fit(&data).unwrap();
    assert_eq!(model.certificate().status, Status::Done, "{}", model.certificate());
    let golden: serde_json::Value = serde_json::from_str(include_str!("../golden/linear.json")).unwrap();
    let golden = &golden["agaricus"];
    let every = golden["every"].as_u64().unwrap() as usize;
    let said = model.predict_data(&data).unwrap();
    for (i, theirs) in floats(&golden["proba"]).iter().enumerate() {
        let ours = said.probabilities(i * every).unwrap()[1];
        assert!((ours - theirs).abs() < 1e-6, "row {}: {ours} {theirs}", i * every);
    }
}

/// The a9a file of LIBSVM: L2-regularized logistic regression at the optimum that LIBLINEAR documents the problem for.
#[test]
fn a9a_is_learned_from_sparse_columns() {
    let Some(path) = crate::data_set("a9a.train.libsvm.gz") else { return };
    let table = Table::read(&path).unwrap();
    let target = table.names()[0].to_string();
    let roles = Roles { task: Some(Task::Classification), ..Roles::target(target) };
    let data = Dataset::new(table, &roles).unwrap();
    let model = LogisticRegression::default().fit(&data).unwrap();
    assert_eq!(model.certificate().status, Status::Done, "{}", model.certificate());
    assert!(model.certificate().gap().unwrap() < 1e-8 * model.certificate().value.unwrap());
    let said = model.predict_data(&data).unwrap();
    let (codes, _) = data.classes().unwrap();
    let right = codes.iter().enumerate().filter(|&(i, &c)| said.class(i) == c as usize).count();
    assert!(right as f64 / codes.len() as f64 > 0.848, "{right} of {}", codes.len());
}

#[test]
fn a_path_without_l1_is_that_of_ridge_regression() {
    use ermine_linear::learner::linear::lasso::path;
    let rows = draw(60, 3, 9);
    let y: Vec<f64> = rows.iter().map(|r| 2.0 + r[0] - 3.0 * r[2] + 0.1 * r[1] * r[0]).collect();
    let data = numbers(&rows, &y);
    let net = ElasticNet { l1_ratio: 0.0, ..Default::default() };
    let found = path(&net, &data, Some(&[0.01, 10.0, 0.5]), 0, 0.0).unwrap();
    assert_eq!(found.iter().map(|s| s.lambda).collect::<Vec<_>>(), [10.0, 0.5, 0.01]);
    for solution in &found {
        // (1/2n) |y - Xw|^2 + alpha/2 |w|^2 is ridge regression with n alpha.
        let ridge = train("ridge", &[("alpha", &(60.0 * solution.lambda).to_string())], &data);
        for (a, b) in solution.coefficients.iter().zip(attribute(&ridge, "coef")) {
            assert!(close(*a, b, 1e-9), "{a} {b}");
        }
        assert!(close(solution.intercept, attribute(&ridge, "intercept")[0], 1e-9));
        assert!(solution.outcome.gap().unwrap().abs() < 1e-12);
    }
    let message = path(&net, &data, None, 10, 1e-3).unwrap_err().to_string();
    assert!(message.contains("l1_ratio = 0"), "{message}");
}
