//! The contract that every learner in the registry keeps, now and later.

use ermine::prelude::*;
use ermine::registry::learners;
use ermine_core::learner::fit::can_learn;
use ermine_core::learner::{Context, Learner, fit};
use ermine_core::matrix::Target;
use ermine_core::model::{Proof, Status};
use ermine_core::param::{ParamKind, Value};

/// A table with every kind of column, missing values, a constant column and one that is missing throughout.
fn table(n: usize) -> Table {
    let mut rng = ermine_core::rng::stream(11, &[n as u64]);
    let mut draw = |k: usize| ermine_core::rng::below(&mut rng, k);
    let cells: Vec<[usize; 6]> = (0..n).map(|_| [draw(100), draw(4), draw(2), draw(3), draw(10), draw(7)]).collect();
    let number = |r: &[usize; 6]| if r[4] == 0 { f64::NAN } else { r[0] as f64 / 7.0 };
    let shapes = ["round", "square", "flat", "long"];
    let sizes = ["S", "M", "L"];
    Table::new(vec![
        Column::numeric("number", cells.iter().map(number).collect::<Vec<_>>()),
        Column::numeric_f32("single", cells.iter().map(|r| r[5] as f32).collect::<Vec<_>>()),
        Column::nominal("shape", &cells.iter().map(|r| (r[4] != 1).then(|| shapes[r[1]])).collect::<Vec<_>>()),
        Column::boolean("flag", &cells.iter().map(|r| (r[4] != 2).then_some(r[2] == 1)).collect::<Vec<_>>()),
        Column::ordinal("size", &cells.iter().map(|r| Some(sizes[r[3]])).collect::<Vec<_>>(), &sizes),
        Column::numeric("constant", vec![1.5; n]),
        Column::numeric("nothing", vec![f64::NAN; n]),
    ])
    .unwrap()
}

/// The same table with a target of each kind that the learner can learn, by itself or by a reduction: two and three classes, labels, one number and two, grades.
fn datasets(learner: &dyn Learner, n: usize) -> Vec<Dataset> {
    let can = learner.info().capabilities;
    let features = ermine_core::matrix::Features::new(std::sync::Arc::new(table(n)));
    let noise: Vec<usize> =
        (0..n).map(|row| ermine_core::rng::below(&mut ermine_core::rng::stream(5, &[row as u64]), 10)).collect();
    let signal = |row: usize| (features.number(row, 1) as usize + usize::from(noise[row] == 0)) % 7;
    let classes = |k: usize| Target::Classes {
        codes: (0..n).map(|row| (signal(row) * k / 7) as u32).collect(),
        labels: (0..k).map(|c| format!("class {c}")).collect(),
    };
    let value = |row: usize| signal(row) as f64 + noise[row] as f64 / 9.0;
    let one = Target::Values { values: (0..n).map(value).collect(), n_outputs: 1 };
    let two = Target::Values { values: (0..n).flat_map(|row| [value(row), 3.0 - value(row)]).collect(), n_outputs: 2 };
    let mut made = Vec::new();
    for task in Task::ALL.into_iter().filter(|&task| can_learn(learner, task)) {
        match task {
            Task::Classification => {
                made.push(Dataset::from_parts(features.clone(), classes(2), task).unwrap());
                made.push(Dataset::from_parts(features.clone(), classes(3), task).unwrap());
            }
            Task::Multilabel => {
                // Three labels: two that follow the classes, one that no row has.
                let marks = (0..n).flat_map(|row| [signal(row) > 2, signal(row) % 2 == 0, false]);
                let values = marks.map(|mark| f64::from(u8::from(mark))).collect();
                let labels = Target::Values { values, n_outputs: 3 };
                made.push(Dataset::from_parts(features.clone(), labels, task).unwrap());
            }
            Task::Regression => {
                made.push(Dataset::from_parts(features.clone(), one.clone(), task).unwrap());
                if can.multi_output {
                    made.push(Dataset::from_parts(features.clone(), two.clone(), task).unwrap());
                }
            }
            Task::Ranking => {
                let queries = (0..n as u32).map(|row| row / 20).collect();
                let data = Dataset::from_parts(features.clone(), one.clone(), task).unwrap();
                made.push(data.with_group(Some(queries)).unwrap());
            }
        }
    }
    made
}

/// Runs `check(learner, data)` for every learner on every kind of data it takes.
fn for_every_learner(n: usize, check: impl Fn(&dyn Learner, &Dataset)) {
    for entry in learners() {
        let learner = crate::made(entry);
        datasets(&*learner, n).iter().for_each(|data| check(&*learner, data));
    }
}

fn fit_with(learner: &dyn Learner, data: &Dataset, seed: u64, threads: usize) -> Model {
    fit(learner, data, &Context { seed, threads: Some(threads), ..ermine::context() })
        .unwrap_or_else(|e| panic!("{}: {e}", learner.info().name))
}

#[test]
fn the_model_file_is_the_same_for_any_number_of_threads() {
    for_every_learner(500, |learner, data| {
        let one = fit_with(learner, data, 42, 1).to_bytes().unwrap();
        assert_eq!(one, fit_with(learner, data, 42, 2).to_bytes().unwrap(), "{}", learner.info().name);
        assert_eq!(one, fit_with(learner, data, 42, 5).to_bytes().unwrap(), "{}", learner.info().name);
    });
}

#[test]
fn a_saved_model_predicts_the_same_bits() {
    let dir = std::env::temp_dir().join(format!("ermine-contract-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    for_every_learner(300, |learner, data| {
        let model = fit_with(learner, data, 1, 2);
        let path = dir.join(format!("{}.ermine", learner.info().name));
        model.save(&path).unwrap();
        let loaded = ermine::load(&path).unwrap();
        assert_eq!(loaded.header(), model.header());
        let (a, b) = (model.predict_data(data).unwrap(), loaded.predict_data(data).unwrap());
        let bits = |p: &Prediction| p.values().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&a), bits(&b), "{}", learner.info().name);
        assert_eq!(loaded.to_bytes().unwrap(), model.to_bytes().unwrap(), "{}", learner.info().name);
        assert!(!model.text().is_empty());
    });
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn integer_weights_equal_repeated_rows_and_zero_weight_removes_a_row() {
    for_every_learner(120, |learner, data| {
        let can = learner.info().capabilities;
        if !can.weights || can.random {
            return;
        }
        let weights: Vec<f64> = (0..120).map(|row| (row % 4) as f64).collect();
        let repeated: Vec<u32> = (0..120u32).flat_map(|row| std::iter::repeat_n(row, row as usize % 4)).collect();
        let name = format!("{} {}", learner.info().name, data.task());
        let fit_both = |data: &Dataset| {
            let weighted = data.clone().with_weight(Some(weights.clone())).unwrap();
            [fit_with(learner, &weighted, 1, 2), fit_with(learner, &data.select(&repeated).unwrap(), 1, 2)]
        };
        let whole = fit_both(data);
        if same_model(&whole[0], &whole[1], data) {
            return;
        }
        // A model that was reduced by itself doesn't keep the certificates of its parts: learned alone, the parts are the same, and have reached the same optimum.
        assert_ne!(whole[0].header().learner, learner.info().name, "{name}");
        for (i, part) in binary_parts(data).iter().enumerate() {
            let alone = fit_both(part);
            assert!(same_model(&alone[0], &alone[1], part), "{name}, part {i}");
            for (whole, alone) in whole.iter().zip(&alone) {
                assert!(close(&whole.member(i).unwrap(), alone, part), "{name}, part {i}");
            }
        }
    });
}

/// The problems of two classes that classes or labels are reduced to. A label that no row has is left to the baseline, and left out here.
fn binary_parts(data: &Dataset) -> Vec<Dataset> {
    let marks: Vec<Vec<u32>> = match data.target() {
        Target::Classes { codes, labels } => {
            (0..labels.len() as u32).map(|c| codes.iter().map(|&code| u32::from(code == c)).collect()).collect()
        }
        Target::Values { values, n_outputs } => {
            (0..*n_outputs).map(|k| values.chunks(*n_outputs).map(|row| row[k] as u32).collect()).collect()
        }
    };
    let labels: std::sync::Arc<[String]> = std::sync::Arc::new(["rest".to_string(), "class".to_string()]);
    let part = |codes: Vec<u32>| {
        let target = Target::Classes { codes, labels: labels.clone() };
        data.clone().with_target(target, Task::Classification).unwrap()
    };
    marks.into_iter().filter(|codes| codes.contains(&1)).map(part).collect()
}

fn close(a: &Model, b: &Model, data: &Dataset) -> bool {
    let (a, b) = (a.predict_data(data).unwrap(), b.predict_data(data).unwrap());
    a.values().iter().zip(b.values()).all(|(a, b)| (a - b).abs() <= 1e-9 * (1.0 + a.abs()))
}

/// Whether two models predict the same or have reached the same optimum.
fn same_model(weighted: &Model, repeated: &Model, data: &Dataset) -> bool {
    // A linear programme may have several optima: then both must have reached the same value, with a proof beside it; to rounding, where
    // the certificate says that nothing could be proven.
    let optimum = |model: &Model| {
        let proven = |p: &Proof| matches!(p, Proof::Optimal { .. } | Proof::LowerBound(_));
        let limited = matches!(model.certificate().status, Status::Limit(_));
        let tolerance: f64 = if model.certificate().proofs.iter().any(proven) { 1e-6 } else { 1e-12 };
        let told = model.certificate().value.filter(|_| limited || tolerance > 1e-12)?;
        Some((told, tolerance))
    };
    let same =
        optimum(weighted).zip(optimum(repeated)).is_some_and(|((a, t), (b, u))| (a - b).abs() <= t.min(u) * a.abs());
    same || close(weighted, repeated, data)
}

#[test]
fn predictions_are_finite_sum_to_one_and_ignore_row_order() {
    for_every_learner(200, |learner, data| {
        let name = format!("{} {}", learner.info().name, data.task());
        let model = fit_with(learner, data, 1, 2);
        let prediction = model.predict_data(data).unwrap();
        assert!(prediction.values().iter().all(|v| v.is_finite()), "{name}");
        for row in 0..prediction.n_rows() {
            if let Some(p) = prediction.probabilities(row) {
                // Labels go together as they like; classes exclude each other.
                let sum = if data.task() == Task::Multilabel { 1.0 } else { p.iter().sum::<f64>() };
                assert!((sum - 1.0).abs() < 1e-9 && p.iter().all(|p| (0.0..=1.0 + 1e-9).contains(p)), "{name}: {p:?}");
            }
        }
        assert_eq!(
            prediction.probabilities(0).is_some(),
            learner.info().capabilities.probabilities && matches!(data.task(), Task::Classification | Task::Multilabel),
            "{name}"
        );
        if model.is_relative() {
            return;
        }
        let rows: Vec<u32> = (0..200).rev().step_by(3).collect();
        let some = model.predict_data(&data.select(&rows).unwrap()).unwrap();
        for (i, &row) in rows.iter().enumerate() {
            assert_eq!(some.row(i), prediction.row(row as usize), "{name}");
        }
        assert!(model.evaluate(data).is_ok());
    });
}

#[test]
fn hard_data_gives_a_result_or_a_typed_error() {
    for_every_learner(40, |learner, data| {
        let name = format!("{} {}", learner.info().name, data.task());
        let finite = |model: &Model, data: &Dataset| {
            let prediction = model.predict_data(data).unwrap_or_else(|e| panic!("{name}: {e}"));
            prediction.values().iter().all(|v| v.is_finite())
        };
        // One row; two rows; one class or one value; only constant or missing columns.
        for rows in [vec![0u32], vec![0, 1], vec![3; 10]] {
            let part = data.select(&rows).unwrap();
            if let Ok(model) = fit(learner, &part, &ermine::context()) {
                assert!(finite(&model, data), "{name}, rows {rows:?}");
            }
        }
        let nothing =
            Table::new(vec![Column::numeric("a", vec![f64::NAN; 40]), Column::nominal::<&str>("b", &[None; 40])])
                .unwrap();
        let features = ermine_core::matrix::Features::new(std::sync::Arc::new(nothing));
        let bare = Dataset::from_parts(features, data.target().clone(), data.task()).unwrap();
        let bare = bare.with_group(data.group().map(<[u32]>::to_vec)).unwrap();
        if let Ok(model) = fit(learner, &bare, &ermine::context()) {
            assert!(finite(&model, &bare), "{name}, no information");
        }
        assert!(fit(learner, &data.select(&[]).unwrap(), &ermine::context()).is_err(), "{name}, no rows");
        assert!(fit(learner, data, &Context { threads: Some(0), ..ermine::context() }).is_err(), "{name}, no threads");
    });
}

#[test]
fn absurd_parameters_are_refused_by_name() {
    for entry in learners() {
        for spec in (entry.make)().specs() {
            let absurd =
                [Value::Text("absurd".into()), Value::Float(f64::NAN), Value::Float(-1e300), Value::Int(i64::MIN)];
            for value in absurd {
                let mut learner = crate::made(entry);
                match learner.set(spec.name, &value) {
                    Err(e) => assert!(e.to_string().contains(spec.name), "{e}"),
                    Ok(()) => assert!(
                        matches!(spec.kind, ParamKind::Float | ParamKind::Text | ParamKind::Either(_) | ParamKind::Optional(_) | ParamKind::Int)
                            // Words of any kind, which the data decides about: the class that a baseline says, the name of a column.
                            || [("baseline", "constant"), ("gradient-boosting", "interaction_constraints")]
                                .contains(&(entry.info().name, spec.name)),
                        "{} takes {value}",
                        spec.name,
                    ),
                }
            }
            let mut learner = crate::made(entry);
            learner.set(spec.name, &spec.default).unwrap_or_else(|e| panic!("a default is refused: {e}"));
            assert!(!spec.doc.is_empty());
        }
    }
}

#[test]
fn learner_names_are_distinct_and_found() {
    let names: Vec<&str> = learners().map(|e| e.info().name).collect();
    for name in &names {
        assert_eq!(names.iter().filter(|n| n == &name).count(), 1);
        assert_eq!(ermine::registry::learner(name).unwrap().owner(), *name, "params! and Info agree on the name");
    }
    assert!(names.contains(&ermine::registry::DEFAULT));
    let message = ermine::registry::learner("decision-stmp").err().unwrap().to_string();
    assert_eq!(message, "no learner named 'decision-stmp': did you mean 'decision-stump'?");
}

/// Says stop from the first word on, and remembers whether it was asked at all.
struct Stopper(std::sync::atomic::AtomicBool);

impl ermine_core::progress::Observer for Stopper {
    fn event(&self, _: &ermine_core::progress::Event<'_>) -> ermine_core::progress::Control {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
        ermine_core::progress::Control::Stop
    }
}

#[test]
fn learners_that_check_for_cancellation_stop() {
    for_every_learner(400, |learner, data| {
        let stopper = Stopper(false.into());
        let done = fit(learner, data, &Context { observer: &stopper, ..ermine::context() });
        let asked = stopper.0.into_inner();
        let stopped = matches!(done, Err(ermine_core::error::Error::Stopped));
        assert_eq!(asked, stopped, "{}: asked {asked}", learner.info().name);
    });
}

/// Goes on until a part asks.
#[derive(Default)]
struct UntilPartsAsk(std::sync::atomic::AtomicBool);

impl ermine_core::progress::Observer for UntilPartsAsk {
    fn event(&self, event: &ermine_core::progress::Event<'_>) -> ermine_core::progress::Control {
        if *event == ermine_core::progress::Event::Within {
            self.0.store(true, std::sync::atomic::Ordering::Relaxed);
            return ermine_core::progress::Control::Stop;
        }
        ermine_core::progress::Control::Continue
    }
}

#[test]
fn members_of_an_ensemble_stop_when_it_is_cancelled() {
    for_every_learner(200, |learner, data| {
        let mut whole = ermine::registry::learner(learner.info().name).unwrap();
        // Parts of many rounds, each of which asks.
        if whole.get("estimator").is_none() {
            return;
        }
        whole.set("estimator", &Value::Text("gradient-boosting(n_estimators=50)".into())).unwrap();
        let watcher = UntilPartsAsk::default();
        let done = fit(&*whole, data, &Context { observer: &watcher, ..ermine::context() });
        assert!(watcher.0.into_inner(), "the parts of {} ask nobody", learner.info().name);
        assert!(matches!(done, Err(ermine_core::error::Error::Stopped)), "{}", learner.info().name);
    });
}
