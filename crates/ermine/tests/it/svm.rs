//! Support vector machines: against LIBSVM and LIBLINEAR (`tools/golden_svm.py`), against what the textbook says about margins, slacks and kernels, and on data that can't be learned as asked.

use ermine::prelude::*;
use ermine::registry;
use ermine_core::learner::estimator::Estimator;
use ermine_core::learner::{Learner, fit};
use ermine_core::matrix::{Features, Roles, Target};
use ermine_core::model::{Proof, Status};
use ermine_core::param::{ParamType, Value};
use ermine_linear::kernel::{Kernel, string};
use ermine_linear::learner::svm::custom_kernel;
use ermine_linear::learner::svm::linear::{DualMode, HingeName, LinearSvc, NormName};
use ermine_linear::learner::svm::machine::SvmModel;
use ermine_linear::learner::svm::one_class::OneClassSvm;
use ermine_linear::learner::svm::parameters::{KernelGamma, KernelName};
use ermine_linear::learner::svm::svc::Svc;
use ermine_linear::learner::svm::svr::Svr;
use proptest::prelude::*;
use std::sync::Arc;

fn golden() -> serde_json::Value {
    serde_json::from_str(include_str!("../golden/svm.json")).unwrap()
}

fn floats(value: &serde_json::Value) -> Vec<f64> {
    match value {
        serde_json::Value::Array(values) => values.iter().flat_map(floats).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

fn features(rows: &[Vec<f64>]) -> Features {
    let column = |j: usize| Column::numeric(format!("x{j}"), rows.iter().map(|r| r[j]).collect::<Vec<f64>>());
    Features::new(Arc::new(Table::new((0..rows[0].len()).map(column).collect()).unwrap()))
}

fn classes(rows: &[Vec<f64>], codes: &[u32]) -> Dataset {
    let labels = (0..=*codes.iter().max().unwrap()).map(|c| c.to_string()).collect();
    Dataset::from_parts(features(rows), Target::Classes { codes: codes.to_vec(), labels }, Task::Classification)
        .unwrap()
}

fn numbers(rows: &[Vec<f64>], y: &[f64]) -> Dataset {
    let target = Target::Values { values: y.to_vec(), n_outputs: 1 };
    Dataset::from_parts(features(rows), target, Task::Regression).unwrap()
}

fn attribute(model: &Model, name: &str) -> Vec<f64> {
    let all = model.attributes();
    all.iter().find(|a| a.name == name).unwrap_or_else(|| panic!("no attribute {name}")).values.clone()
}

fn set(learner: &mut dyn Learner, params: &serde_json::Value) {
    for (name, value) in params.as_object().unwrap() {
        let value: Value = serde_json::from_value(value.clone()).unwrap();
        learner.set(name, &value).unwrap();
    }
}

fn draw(n: usize, p: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut rng = ermine_core::rng::stream(seed, &[8]);
    (0..n).map(|_| (0..p).map(|_| 2.0 * ermine_core::rng::uniform(&mut rng) - 1.0).collect()).collect()
}

fn bound(model: &Model) -> f64 {
    let proofs = &model.certificate().proofs;
    proofs.iter().find_map(|p| if let Proof::LowerBound(b) = p { Some(*b) } else { None }).unwrap()
}

/// A table with the golden file's columns as features.
fn real(path: &std::path::Path, target: &str, columns: &serde_json::Value, task: Task) -> Dataset {
    let table = Table::read(path).unwrap();
    let kept: Vec<&str> = columns.as_array().unwrap().iter().map(|c| c.as_str().unwrap()).collect();
    let ignore = table.columns().iter().map(|c| c.name.clone());
    let ignore = ignore.filter(|c| !kept.contains(&c.as_str()) && c != target).collect();
    Dataset::new(table, &Roles { ignore, task: Some(task), ..Roles::target(target) }).unwrap()
}

#[test]
fn dual_objectives_and_predictions_are_those_of_libsvm() {
    let of_shipped = |case: &serde_json::Value| {
        let path = crate::shipped(&format!("{}.csv.gz", case["set"].as_str().unwrap()));
        path.is_file().then_some(path)
    };
    assert_eq!(compare_with_libsvm(of_shipped), 14, "two sets of classes by five kernels, one of numbers by four");
}

#[test]
fn dual_objectives_and_predictions_are_those_of_libsvm_on_more_sets() {
    for name in ["sonar", "ionosphere", "pima_diabetes", "glass", "vowel"] {
        let Some(path) = crate::data_set(&format!("{name}.csv.gz")) else { return };
        assert_eq!(compare_with_libsvm(|case| (case["set"] == name).then(|| path.clone())), 5, "{name}");
    }
}

/// Compares the golden machines of which `file` gives the data; how many there are.
fn compare_with_libsvm(file: impl Fn(&serde_json::Value) -> Option<std::path::PathBuf>) -> usize {
    let golden = golden();
    let cases = golden["machines"].as_array().unwrap().iter().filter_map(|case| Some((case, file(case)?)));
    let mut n_cases = 0;
    for (case, path) in cases {
        n_cases += 1;
        let (name, of_classes) = (case["set"].as_str().unwrap(), case["task"] == "classes");
        let task = if of_classes { Task::Classification } else { Task::Regression };
        let data = real(&path, case["target"].as_str().unwrap(), &case["columns"], task);
        let mut learner = registry::learner(if of_classes { "svc" } else { "svr" }).unwrap();
        set(&mut *learner, &case["params"]);
        set(&mut *learner, &serde_json::json!({"tol": 1e-6, "standardize": true}));
        if !of_classes {
            learner.set("epsilon", &Value::Float(0.2)).unwrap();
        }
        let model = fit(&*learner, &data, &ermine::context()).unwrap();
        let prediction = model.predict_data(&data).unwrap();
        let truth = case["predictions"].as_array().unwrap();
        let kind = &case["params"];
        if of_classes {
            let same = (0..truth.len()).filter(|&i| prediction.label(i) == truth[i].as_str()).count();
            // A sigmoid isn't a kernel: there may be several minima.
            let least = if kind["kernel"] == "sigmoid" { truth.len() * 98 / 100 } else { truth.len() };
            assert!(same >= least, "{name} {kind}: {same} of {}", truth.len());
        } else {
            let far = (0..truth.len()).map(|i| (prediction.row(i)[0] - truth[i].as_f64().unwrap()).abs());
            assert!(far.fold(0.0, f64::max) < 1e-3, "{name} {kind}");
        }
        if kind["kernel"] == "sigmoid" {
            assert!(model.certificate().notes.iter().any(|n| n.contains("Mercer")));
            continue;
        }
        let (ours, theirs) = (-bound(&model), case["objective"].as_f64().unwrap());
        assert!((ours - theirs).abs() <= 1e-6 * theirs.abs(), "{name} {kind}: {ours} {theirs}");
        assert!(model.certificate().gap().unwrap() <= 1e-4 * theirs.abs(), "{name} {kind}: {}", model.certificate());
        assert_eq!(model.certificate().status, Status::Done);
    }
    n_cases
}

#[test]
fn linear_machines_are_those_of_liblinear() {
    let golden = &golden()["linear"];
    let rows: Vec<Vec<f64>> = golden["x"].as_array().unwrap().iter().map(floats).collect();
    for case in golden["cases"].as_array().unwrap() {
        let target = case["target"].as_str().unwrap();
        let y = floats(&golden[target]);
        let data = if target == "y" {
            numbers(&rows, &y)
        } else {
            classes(&rows, &y.iter().map(|&c| c as u32).collect::<Vec<_>>())
        };
        let mut learner = registry::learner(case["learner"].as_str().unwrap()).unwrap();
        set(&mut *learner, &case["params"]);
        set(&mut *learner, &serde_json::json!({"tol": 1e-9, "max_iter": 1_000_000}));
        let model = fit(&*learner, &data, &ermine::context()).unwrap();
        assert_eq!(model.certificate().status, Status::Done, "{}", case["params"]);
        let (coef, intercept) = (attribute(&model, "coef"), attribute(&model, "intercept"));
        for (ours, theirs) in
            coef.iter().chain(&intercept).zip(floats(&case["coef"]).iter().chain(&floats(&case["intercept"])))
        {
            assert!((ours - theirs).abs() < 2e-4 * (1.0 + theirs.abs()), "{}: {ours} {theirs}", case["params"]);
        }
        assert!(model.certificate().gap().unwrap() < 1e-5 * model.certificate().value.unwrap());
    }
    let one =
        OneClassSvm { nu: 0.3, tol: 1e-8, ..Default::default() }.fit(&numbers(&rows, &floats(&golden["y"]))).unwrap();
    let scores = one.predict_data(&numbers(&rows, &floats(&golden["y"]))).unwrap();
    for (ours, theirs) in scores.values().iter().zip(floats(&golden["one_class"]["scores"])) {
        assert!((ours - theirs).abs() < 1e-6, "{ours} {theirs}");
    }
}

#[test]
fn a_hard_margin_is_the_widest_or_refused_with_the_reason() {
    let rows: Vec<Vec<f64>> = [[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [3.0, 1.0]].iter().map(|r| r.to_vec()).collect();
    let hard = Svc { C: f64::INFINITY, kernel: KernelName::Linear, tol: 1e-6, ..Default::default() };
    let model = hard.fit(&classes(&rows, &[0, 0, 1, 1])).unwrap();
    assert!((attribute(&model, "margin")[0] - 1.0).abs() < 1e-6, "half the distance of 2");
    assert!(attribute(&model, "slack").iter().all(|s| *s < 1e-5));
    assert!((attribute(&model, "coef")[0] - 1.0).abs() < 1e-6 && attribute(&model, "coef")[1].abs() < 1e-6);
    assert!(model.certificate().objective.contains("no row inside the margin"));
    // The other way round about the corner: no line separates them.
    let crossed = hard.fit(&classes(&rows[..], &[0, 1, 1, 0])).unwrap_err().to_string();
    assert!(crossed.contains("can't be separated") && crossed.contains("proven"), "{crossed}");
    let mixed: Vec<u32> = (0..40).map(|i| i * i % 3 % 2).collect();
    let mixed = hard.fit(&classes(&draw(40, 2, 1), &mixed)).unwrap_err().to_string();
    assert!(mixed.contains("can't be separated") && mixed.contains("linear programming"), "{mixed}");
    // A Gaussian separates them, but not two equal rows of different classes.
    let gaussian = Svc { C: f64::INFINITY, gamma: KernelGamma::Value(1.0), ..Default::default() };
    assert!(gaussian.fit(&classes(&rows, &[0, 1, 1, 0])).is_ok());
    let twice = [rows.clone(), rows[..1].to_vec()].concat();
    let equal = gaussian.fit(&classes(&twice, &[0, 0, 1, 1, 1])).unwrap_err().to_string();
    assert!(equal.contains("can't be separated") && equal.contains("use a finite C"), "{equal}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn slacks_multipliers_and_margin_cases_agree(n in 20usize..80, seed in 0u64..1000, c in 0.1f64..10.0) {
        let rows = draw(n, 2, seed);
        let codes: Vec<u32> = rows.iter().enumerate().map(|(i, r)| u32::from(r[0] + r[1] * r[1] + 0.3 * ((i % 5) as f64 - 2.0) > 0.2)).collect();
        prop_assume!(codes.contains(&0) && codes.contains(&1));
        let data = classes(&rows, &codes);
        let model = Svc { C: c, tol: 1e-7, ..Default::default() }.fit(&data).unwrap();
        let (support, alphas) = (attribute(&model, "support"), attribute(&model, "dual_coef"));
        let (slack, case) = (attribute(&model, "slack"), attribute(&model, "case"));
        let f = model.predict_data(&data).unwrap();
        let mut alpha = vec![0.0; n];
        support.iter().zip(&alphas).for_each(|(&i, a)| alpha[i as usize] = *a);
        prop_assert!(alpha.iter().sum::<f64>().abs() < 1e-9 * c * n as f64);
        for i in 0..n {
            let y = if codes[i] == 1 { 1.0 } else { -1.0 };
            let margin = y * f.row(i)[0];
            prop_assert!((slack[i] - (1.0 - margin).max(0.0)).abs() < 1e-6);
            prop_assert!(alpha[i] * y >= 0.0 && alpha[i].abs() <= c * (1.0 + 1e-12));
            // Complementary slackness: outside the margin nothing pulls, within it everything does.
            prop_assert!(margin <= 1.0 + 1e-5 || alpha[i] == 0.0, "{margin} {}", alpha[i]);
            prop_assert!(margin >= 1.0 - 1e-5 || (alpha[i].abs() - c).abs() < 1e-9, "{margin} {}", alpha[i]);
            let expected = if slack[i] <= 1e-7 { 0.0 } else if slack[i] <= 1.0 { 1.0 } else { 2.0 };
            prop_assert_eq!(case[i], expected);
        }
        let counts = model.fitted::<SvmModel>().unwrap().cases().unwrap();
        prop_assert_eq!(counts.iter().sum::<usize>(), n);
    }

    #[test]
    fn precomputed_kernels_equal_rows(n in 12usize..50, seed in 0u64..1000, many: bool) {
        let rows = draw(n, 3, seed);
        let k = if many { 3 } else { 2 };
        let codes: Vec<u32> = (0..n).map(|i| ((rows[i][0] > 0.1) as u32 + (rows[i][1] > 0.3) as u32 + (i % 7 == 0) as u32) % k).collect();
        prop_assume!((0..k).all(|c| codes.contains(&c)));
        let kernel = Kernel::Laplacian { gamma: 0.6 };
        let gram: Vec<Vec<f64>> = rows.iter().map(|a| rows.iter().map(|b| kernel.value(a, b)).collect()).collect();
        let tight = Svc { tol: 1e-8, ..Default::default() };
        let by_rows = Svc { kernel: KernelName::Laplacian, gamma: KernelGamma::Value(0.6), ..tight.clone() }.fit(&classes(&rows, &codes)).unwrap();
        let given = Svc { kernel: KernelName::Precomputed, ..tight }.fit(&classes(&gram, &codes)).unwrap();
        let (a, b) = (by_rows.predict_data(&classes(&rows, &codes)).unwrap(), given.predict_data(&classes(&gram, &codes)).unwrap());
        for (a, b) in a.values().iter().zip(b.values()) {
            prop_assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
        prop_assert!((bound(&by_rows) - bound(&given)).abs() < 1e-8 * bound(&given));
    }
}

#[test]
fn texts_are_learned_by_a_custom_kernel() {
    let texts = ["banana", "bananas", "ananas", "cabana", "kiwi", "kiwis", "wiki", "iki"];
    let kernel = |s: &&str, t: &&str| string::normalized(|s, t| string::subsequence(s, t, 2, 0.5), s, t);
    let labels = ["0".to_string(), "1".to_string()].into_iter().collect();
    let target = Target::Classes { codes: vec![0, 0, 0, 0, 1, 1, 1, 1], labels };
    let rows = custom_kernel::features(&texts, &texts, kernel).unwrap();
    let data = Dataset::from_parts(rows, target, Task::Classification).unwrap();
    let model = Svc { kernel: KernelName::Precomputed, C: 10.0, ..Default::default() }.fit(&data).unwrap();
    let new = custom_kernel::features(&["panama", "kiwiki"], &texts, kernel).unwrap();
    let prediction = model.predict_columns(new.columns().to_vec(), None).unwrap();
    assert_eq!((prediction.label(0), prediction.label(1)), (Some("0"), Some("1")));
    assert!(model.certificate().notes.iter().all(|note| !note.contains("Mercer")));
}

#[test]
fn indefinite_kernels_give_a_warning() {
    let rows: Vec<Vec<f64>> = (0..6).map(|i| (0..6).map(|j| if i == j { 0.0 } else { 1.0 }).collect()).collect();
    let learner = Svc { kernel: KernelName::Precomputed, ..Default::default() };
    let model = learner.fit(&classes(&rows, &[0, 1, 0, 1, 0, 1])).unwrap();
    let note = model.certificate().notes.iter().find(|n| n.contains("Mercer")).unwrap().clone();
    assert!(note.contains("smallest eigenvalue is -1.0"), "{note}");
    assert!(!model.certificate().proofs.iter().any(|p| matches!(p, Proof::LowerBound(_))));
    let uneven: Vec<Vec<f64>> = (0..4).map(|i| (0..4).map(|j| (i * 4 + j) as f64).collect()).collect();
    let error = learner.fit(&classes(&uneven, &[0, 1, 0, 1])).unwrap_err().to_string();
    assert!(error.contains("symmetric"), "{error}");
    let narrow = learner.fit(&classes(&draw(5, 3, 1), &[0, 1, 0, 1, 0])).unwrap_err().to_string();
    assert!(narrow.contains("5 rows and 3 columns"), "{narrow}");
}

#[test]
fn iteration_limits_are_reported_through_reductions() {
    let rows = draw(90, 3, 4);
    let codes: Vec<u32> = rows.iter().map(|r| (r[0] > 0.0) as u32 + (r[1] > 0.4) as u32).collect();
    let data = classes(&rows, &codes);
    let stopped = Svc { max_iter: Some(2), ..Default::default() }.fit(&data).unwrap();
    assert!(matches!(&stopped.certificate().status, Status::Limit(why) if why.contains("max_iter")));
    assert!(stopped.certificate().gap().unwrap() > 0.0);
    let svc = Estimator::named("svc").to_value();
    for reduction in ["one-vs-rest", "one-vs-one", "calibrated"] {
        let mut learner = registry::learner(reduction).unwrap();
        learner.set("estimator", &svc).unwrap();
        let model = fit(&*learner, &data, &ermine::context()).unwrap();
        let prediction = model.predict_data(&data).unwrap();
        let right = (0..90).filter(|&i| prediction.class(i) == codes[i] as usize).count();
        assert!(right > 70, "{reduction}: {right}");
        assert_eq!(prediction.probabilities(0).is_some(), reduction == "calibrated");
    }
    // All pairs inside, and the same by the reduction: the same votes.
    let (inside, outside) =
        (Svc { gamma: KernelGamma::Value(1.0), tol: 1e-7, ..Default::default() }, "svc(gamma=1,tol=0.0000001)");
    let mut pairs = registry::learner("one-vs-one").unwrap();
    pairs.set("estimator", &Value::Text(outside.into())).unwrap();
    let (a, b) = (inside.fit(&data).unwrap(), fit(&*pairs, &data, &ermine::context()).unwrap());
    let (a, b) = (a.predict_data(&data).unwrap(), b.predict_data(&data).unwrap());
    assert!((0..90).all(|i| a.class(i) == b.class(i)));
}

#[test]
fn the_cache_size_does_not_change_the_model() {
    let rows = draw(300, 4, 9);
    let codes: Vec<u32> = rows.iter().map(|r| u32::from(r[0] * r[1] > 0.0)).collect();
    let data = classes(&rows, &codes);
    let with = |cache_size| Svc { cache_size, tol: 1e-6, ..Default::default() }.fit(&data).unwrap();
    let (none, all) = (with(0.0), with(500.0));
    assert!((bound(&none) - bound(&all)).abs() < 1e-9 * bound(&all));
    let y: Vec<f64> = rows.iter().map(|r| r[0] + r[1] * r[1]).collect();
    let tube = Svr { epsilon: 0.05, tol: 1e-6, ..Default::default() }.fit(&numbers(&rows, &y)).unwrap();
    assert!(tube.predict_data(&numbers(&rows, &y)).unwrap().values().iter().zip(&y).all(|(f, y)| (f - y).abs() < 0.3));
}

#[test]
fn few_coefficients_and_sparse_columns() {
    let rows = draw(200, 12, 2);
    let codes: Vec<u32> = rows.iter().map(|r| u32::from(r[0] - 0.5 * r[1] > 0.1)).collect();
    let data = classes(&rows, &codes);
    let few = LinearSvc { penalty: NormName::L1, C: 0.1, ..Default::default() }.fit(&data).unwrap();
    let used = attribute(&few, "coef").iter().filter(|w| **w != 0.0).count();
    assert!((1..12).contains(&used), "{used}");
    let wrong = LinearSvc { penalty: NormName::L1, loss: HingeName::Hinge, ..Default::default() };
    assert!(wrong.fit(&data).unwrap_err().to_string().contains("penalty"));
    let kinked = LinearSvc { dual: DualMode::Primal, loss: HingeName::Hinge, ..Default::default() };
    assert!(kinked.fit(&data).unwrap_err().to_string().contains("dual must be auto or true"));
    let (by_rows, by_columns) = (DualMode::Dual, DualMode::Primal);
    let both = [by_rows, by_columns].map(|dual| {
        let learner = LinearSvc { dual, tol: 1e-8, max_iter: 100_000, ..Default::default() };
        learner.fit(&data).unwrap()
    });
    let (a, b) = (attribute(&both[0], "coef"), attribute(&both[1], "coef"));
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-5), "primal and dual agree: {a:?} {b:?}");
    let thin: Vec<Vec<f64>> =
        rows.iter().map(|r| r.iter().map(|v| if v.abs() < 0.6 { 0.0 } else { *v }).collect()).collect();
    let column = |j: usize| {
        let held: Vec<usize> = (0..thin.len()).filter(|&i| thin[i][j] != 0.0).collect();
        let places: Vec<u32> = held.iter().map(|&i| i as u32).collect();
        Column::sparse(
            format!("x{j}"),
            thin.len(),
            places.into(),
            held.iter().map(|&i| thin[i][j]).collect::<Vec<f64>>().into(),
        )
    };
    let sparse = Features::new(Arc::new(Table::new((0..12).map(column).collect()).unwrap()));
    let sparse = Dataset::from_parts(sparse, data.target().clone(), Task::Classification).unwrap();
    for loss in [HingeName::Hinge, HingeName::SquaredHinge] {
        let learner = LinearSvc { loss, tol: 1e-8, max_iter: 100_000, ..Default::default() };
        let (a, b) = (learner.fit(&sparse).unwrap(), learner.fit(&classes(&thin, &codes)).unwrap());
        for (a, b) in attribute(&a, "coef").iter().zip(attribute(&b, "coef")) {
            assert!((a - b).abs() < 1e-4, "{a} {b}");
        }
    }
}

#[test]
fn two_columns_are_drawn() {
    let rows = draw(60, 2, 6);
    let codes: Vec<u32> = rows.iter().map(|r| u32::from(r[0] * r[0] + r[1] * r[1] > 0.5)).collect();
    let model = Svc::default().fit(&classes(&rows, &codes)).unwrap();
    let svg = model.svg().unwrap();
    let (dots, support) = (svg.matches("fill-opacity").count(), attribute(&model, "support").len());
    assert_eq!(dots, 60 + 2, "all rows and the legend");
    assert_eq!(
        svg.matches("class=\"axis\"").count(),
        support + 2,
        "a ring for each support vector, one in the legend, and the frame"
    );
    assert!(svg.contains("class=\"curve\"") && svg.contains("class=\"guide\""));
    assert!(model.text().contains("misclassified"));
    assert!(Svc::default().fit(&classes(&draw(60, 3, 6), &codes)).unwrap().svg().is_none());
}

#[test]
fn a_hard_margin_is_found_far_from_the_origin_and_in_a_narrow_gap() {
    let hard = Svc { C: f64::INFINITY, kernel: KernelName::Linear, ..Default::default() };
    let codes: Vec<u32> = (0..40).map(|i| u32::from(i >= 20)).collect();
    let mut rng = ermine_core::rng::stream(3, &[8]);
    let mut seconds: Vec<f64> = (0..40).map(|_| 1e6 * ermine_core::rng::uniform(&mut rng)).collect();
    seconds.sort_by(f64::total_cmp);
    seconds[20..].iter_mut().for_each(|t| *t += 3600.0);
    let rows = |start: f64| -> Vec<Vec<f64>> {
        seconds.iter().enumerate().map(|(i, t)| vec![start + t, (i as f64).sin()]).collect()
    };
    let gap = (seconds[20] - seconds[19]) / 2.0;
    for start in [-5e5, 0.0, 1.7e9] {
        let data = classes(&rows(start), &codes);
        let model = hard.fit(&data).unwrap();
        let margin = attribute(&model, "margin")[0];
        assert!(margin >= gap * (1.0 - 1e-3) && margin < 1.01 * gap + 1.0, "{start}: {margin} {gap}");
        let said = model.predict_data(&data).unwrap();
        assert!((0..40).all(|i| said.class(i) == codes[i] as usize && said.row(i)[0].abs() > 1.0 - 1e-2), "{start}");
        let (w, b) = (attribute(&model, "coef"), attribute(&model, "intercept")[0]);
        let f = rows(start)[7][0] * w[0] + rows(start)[7][1] * w[1] + b;
        assert!((f - said.row(7)[0]).abs() < 1e-6, "{f} {}", said.row(7)[0]);
    }
    let line = |from: f64, to: f64| (0..20).map(move |i| vec![from + (to - from) * f64::from(i) / 19.0]);
    let narrow: Vec<Vec<f64>> = line(0.0, 1.0).chain(line(1.0 + 1e-6, 2.0)).collect();
    let model = hard.fit(&classes(&narrow, &codes)).unwrap();
    assert!((attribute(&model, "margin")[0] / 5e-7 - 1.0).abs() < 1e-2, "{}", attribute(&model, "margin")[0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Where the rows are is no matter for dot products: only the intercept moves.
    #[test]
    fn moved_rows_have_the_same_boundary(n in 20usize..60, seed in 0u64..1000, by in -1e6f64..1e6, scaled: bool) {
        let rows = draw(n, 2, seed);
        let codes: Vec<u32> = rows.iter().map(|r| u32::from(r[0] + 0.4 * r[1] > 0.1)).collect();
        prop_assume!(codes.contains(&0) && codes.contains(&1));
        let moved: Vec<Vec<f64>> = rows.iter().map(|r| r.iter().map(|x| x + by).collect()).collect();
        let learner = Svc { kernel: KernelName::Linear, tol: 1e-6, standardize: scaled, ..Default::default() };
        let (a, b) = (learner.fit(&classes(&rows, &codes)).unwrap(), learner.fit(&classes(&moved, &codes)).unwrap());
        let (wa, wb) = (attribute(&a, "coef"), attribute(&b, "coef"));
        prop_assert!(wa.iter().zip(&wb).all(|(a, b)| (a - b).abs() < 1e-4 * (1.0 + a.abs())), "{wa:?} {wb:?}");
        let said = b.predict_data(&classes(&moved, &codes)).unwrap();
        for (i, row) in moved.iter().enumerate() {
            let f = row[0] * wb[0] + row[1] * wb[1] + attribute(&b, "intercept")[0];
            prop_assert!((f - said.row(i)[0]).abs() < 1e-6 * (1.0 + by.abs()), "{f} {}", said.row(i)[0]);
        }
    }

    /// At most the share that was asked for is outside, and the certificate counts what the model says.
    #[test]
    fn one_class_svm_respects_nu(n in 10usize..80, seed in 0u64..1000, log_nu in -4.0f64..-0.1, weighted: bool) {
        let rows = draw(n, 2, seed);
        let nu = 10f64.powf(log_nu);
        let mut data = numbers(&rows, &vec![0.0; n]);
        let weight = |i: usize| if weighted { 1.0 + (i % 3) as f64 } else { 1.0 };
        if weighted {
            data = data.with_weight(Some((0..n).map(weight).collect())).unwrap();
        }
        let model = OneClassSvm { nu, ..Default::default() }.fit(&data).unwrap();
        let said = model.predict_data(&data).unwrap();
        let total: f64 = (0..n).map(weight).sum();
        let outside = (0..n).filter(|&i| said.row(i)[0] < 0.0).map(weight).sum::<f64>() / total;
        prop_assert!(outside <= nu * (1.0 + 1e-9), "{outside} of {nu}");
        let proof = model.certificate().proofs.iter().find_map(|p| match p {
            Proof::Bound { bound, observed, .. } => Some((*bound, *observed)),
            _ => None,
        });
        let (bound, observed) = proof.unwrap();
        prop_assert!(bound == nu && (observed - outside).abs() < 1e-9, "{observed} {outside}");
        prop_assert!(model.certificate().gap().unwrap() > -1e-9);
    }
}

#[test]
fn numbers_beyond_double_precision_are_refused() {
    let rows = draw(40, 2, 5);
    let codes: Vec<u32> = rows.iter().map(|r| u32::from(r[0] > 0.0)).collect();
    let times =
        |factor: f64| -> Vec<Vec<f64>> { rows.iter().map(|r| r.iter().map(|x| x * factor).collect()).collect() };
    let message = |learner: &Svc, factor: f64| learner.fit(&classes(&times(factor), &codes)).unwrap_err().to_string();
    for kernel in [KernelName::Rbf, KernelName::Linear, KernelName::Poly, KernelName::Sigmoid, KernelName::Laplacian] {
        let scale = Svc { kernel, ..Default::default() };
        for factor in [1e200, 1e-200] {
            if kernel == KernelName::Linear || kernel == KernelName::Rbf {
                assert!(message(&scale, factor).contains("standardize = true"), "{kernel} {factor}");
            } else if let Ok(model) = scale.fit(&classes(&times(factor), &codes)) {
                assert!(model.certificate().value.unwrap().is_finite(), "{kernel} {factor}");
            }
        }
        let fixed = Svc { kernel, gamma: KernelGamma::Value(1e100), degree: 50, ..Default::default() };
        if kernel == KernelName::Poly {
            assert!(message(&fixed, 1.0).contains("overflow"));
        }
    }
    let far = classes(&times(1e200), &codes);
    let said = Svc::default().fit(&classes(&rows, &codes)).unwrap().predict_data(&far).unwrap();
    assert!(said.values().iter().all(|f| f.is_finite()), "far from everything only the intercept is left");
    let powers = Svc { kernel: KernelName::Poly, ..Default::default() }.fit(&classes(&rows, &codes)).unwrap();
    let beyond = powers.predict_data(&far).unwrap_err().to_string();
    assert!(beyond.contains("row 1") && beyond.contains("double precision"), "{beyond}");
    // What doesn't vary at all has a scale of its own.
    let same = vec![vec![2.0, 2.0]; 40];
    assert!(Svc::default().fit(&classes(&same, &codes)).is_ok());
}

#[test]
fn large_precomputed_kernels_are_checked_completely() {
    let n = 800;
    let mut rng = ermine_core::rng::stream(1, &[8]);
    let mut gram = vec![vec![0.0; n]; n];
    for i in 0..n {
        gram[i][i] = 1.0;
        for j in (1..i).step_by(2).filter(|_| i % 2 == 1) {
            let value = 2.0 * ermine_core::rng::uniform(&mut rng) - 1.0;
            (gram[i][j], gram[j][i]) = (value, value);
        }
    }
    let codes: Vec<u32> = (0..n as u32).map(|i| i / 2 % 2).collect();
    let learner = Svc { kernel: KernelName::Precomputed, max_iter: Some(2000), ..Default::default() };
    let model = learner.fit(&classes(&gram, &codes)).unwrap();
    assert!(
        model.certificate().notes.iter().any(|n| n.contains("smallest eigenvalue is -")),
        "{}",
        model.certificate()
    );
    assert!(!model.certificate().proofs.iter().any(|p| matches!(p, Proof::LowerBound(_))));
}

#[test]
fn precomputed_kernels_work_in_reductions() {
    let rows = draw(90, 3, 4);
    let codes: Vec<u32> = rows.iter().map(|r| (r[0] > 0.0) as u32 + (r[1] > 0.4) as u32).collect();
    let kernel = Kernel::Laplacian { gamma: 0.6 };
    let gram: Vec<Vec<f64>> = rows.iter().map(|a| rows.iter().map(|b| kernel.value(a, b)).collect()).collect();
    let (plain, given) = (classes(&rows, &codes), classes(&gram, &codes));
    for reduction in ["one-vs-rest", "one-vs-one", "calibrated", "bagging"] {
        let model = |base: &str, data: &Dataset| {
            let mut learner = registry::learner(reduction).unwrap();
            learner.set("estimator", &Value::Text(base.into())).unwrap();
            fit(&*learner, data, &ermine::context()).unwrap()
        };
        let (a, b) = (
            model("svc(kernel=laplacian,gamma=0.6,tol=0.0000001)", &plain),
            model("svc(kernel=precomputed,tol=0.0000001)", &given),
        );
        let b = ermine::load_bytes(&b.to_bytes().unwrap()).unwrap();
        let (a, b) = (a.predict_data(&plain).unwrap(), b.predict_data(&given).unwrap());
        assert!(a.values().iter().zip(b.values()).all(|(a, b)| (a - b).abs() < 1e-4), "{reduction}");
    }
}
