//! `auto`: the same model every time, an estimate that is not optimistic, constraints, journals, and tables in the corner.

use ermine::auto::{Auto, AutoOptions, FittedAuto, Preset, fit_auto};
use ermine::metrics::Measure;
use ermine::prelude::*;
use ermine_core::learner::fit;
use ermine_core::matrix::Features;
use ermine_core::progress::{Control, Event, Observer};
use ermine_core::rng;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Two classes, or numbers, that follow a curve and a category with much noise.
fn table(n: usize, seed: u64, task: Task) -> Dataset {
    let mut stream = rng::stream(seed, &[17]);
    let mut uniform = || rng::uniform(&mut stream);
    let cells: Vec<[f64; 5]> = (0..n).map(|_| [uniform(), uniform(), uniform(), uniform(), uniform()]).collect();
    let words = ["a", "b", "c", "d"];
    let columns = vec![
        Column::numeric("x0", cells.iter().map(|c| c[0]).collect::<Vec<_>>()),
        Column::numeric("x1", cells.iter().map(|c| if c[4] < 0.1 { f64::NAN } else { c[1] }).collect::<Vec<_>>()),
        Column::nominal("word", &cells.iter().map(|c| Some(words[(c[2] * 4.0) as usize])).collect::<Vec<_>>()),
    ];
    let signal = |c: &[f64; 5]| (6.0 * c[0]).sin() + c[1] + f64::from(u8::from(c[2] < 0.5)) + 1.5 * (c[3] - 0.5);
    if task == Task::Regression {
        return Dataset::from_columns(columns, &cells.iter().map(signal).collect::<Vec<_>>()).unwrap();
    }
    let class: Vec<&str> = cells.iter().map(|c| if signal(c) > 1.0 { "yes" } else { "no" }).collect();
    Dataset::from_columns(columns, &class).unwrap()
}

/// Candidates that are quick in a build with few optimizations.
fn quick(n_candidates: usize) -> Auto {
    Auto { n_candidates: Some(n_candidates), cv: Some(3), ..Default::default() }
}

fn summary(model: &Model) -> &ermine::auto::AutoSummary {
    model.fitted::<FittedAuto>().unwrap().summary()
}

#[test]
fn a_number_of_candidates_gives_the_same_bits_and_the_file_the_same_predictions() {
    let data = table(150, 1, Task::Classification);
    let fit_on = |threads| fit(&quick(3), &data, &Context { threads: Some(threads), ..ermine::context() }).unwrap();
    let (one, two) = (fit_on(1), fit_on(2));
    assert!(one.to_bytes().unwrap() == two.to_bytes().unwrap());
    let read = ermine::load_bytes(&one.to_bytes().unwrap()).unwrap();
    assert_eq!(read.predict_data(&data).unwrap(), one.predict_data(&data).unwrap());
    assert_eq!(summary(&read), summary(&one));
    assert_eq!(summary(&one).leaderboard.len(), 3);
    assert_eq!(read.text(), one.text());
}

/// The reported score against the score on many new rows, over 24 small tables with noise: the mean difference must not be optimistic beyond its own standard error.
#[test]
fn the_estimate_is_not_optimistic() {
    for task in [Task::Classification, Task::Regression] {
        let mut optimism = Vec::new();
        for seed in 0..12 {
            let (train, test) = (table(90, 100 + seed, task), table(3000, 900 + seed, task));
            let model = quick(4).fit(&train).unwrap();
            let measure = if task == Task::Regression { Measure::Rmse } else { Measure::LogLoss };
            let truth = model.measure(&test, &[measure]).unwrap()[0];
            let [value, low, high] = summary(&model).estimate.unwrap();
            assert!(low <= value && value <= high);
            optimism.push((truth - value) / truth);
        }
        let n = optimism.len() as f64;
        let mean = optimism.iter().sum::<f64>() / n;
        let deviation = (optimism.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
        assert!(mean < 2.0 * deviation / n.sqrt(), "{task}: optimistic by {mean:.4} ± {:.4}", deviation / n.sqrt());
    }
}

/// On pure noise, the best of many candidates on the rows that chose it looks better than chance. The estimate must not.
#[test]
fn noise_is_not_reported_as_skill() {
    let mut scores = Vec::new();
    for seed in 0..8 {
        let mut stream = rng::stream(seed, &[3]);
        let columns = (0..4)
            .map(|j| Column::numeric(format!("x{j}"), (0..60).map(|_| rng::uniform(&mut stream)).collect::<Vec<_>>()));
        let columns: Vec<Column> = columns.collect();
        let classes: Vec<&str> = (0..60).map(|_| if rng::uniform(&mut stream) < 0.5 { "u" } else { "v" }).collect();
        let data = Dataset::from_columns(columns, &classes).unwrap();
        let auto = Auto { scoring: Some(Measure::Accuracy), ..quick(5) };
        scores.push(summary(&auto.fit(&data).unwrap()).estimate.unwrap()[0]);
    }
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
    // 480 coin tosses: a standard error of 0.023.
    assert!(mean < 0.5 + 3.0 * 0.023, "{scores:?}");
}

#[test]
fn it_is_not_worse_than_default_boosting() {
    for task in [Task::Classification, Task::Regression] {
        let (mut ours, mut boosting) = (0.0, 0.0);
        let measure = if task == Task::Regression { Measure::Rmse } else { Measure::LogLoss };
        for seed in 0..4 {
            let (train, test) = (table(120, 40 + seed, task), table(2000, 70 + seed, task));
            ours += quick(4).fit(&train).unwrap().measure(&test, &[measure]).unwrap()[0];
            boosting += GradientBoosting::default().fit(&train).unwrap().measure(&test, &[measure]).unwrap()[0];
        }
        assert!(ours < boosting * 1.03, "{task}: {ours} against {boosting}");
    }
}

#[test]
fn the_ensemble_is_the_weighted_mean_of_its_members() {
    let data = table(150, 5, Task::Regression);
    for refit in [true, false] {
        let model = Auto { refit: Some(refit), ..quick(4) }.fit(&data).unwrap();
        let found = model.predict_data(&data).unwrap();
        let listed: Vec<f64> = summary(&model).leaderboard.iter().map(|entry| entry.weight).collect();
        assert!((listed.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let weights = model.attributes().into_iter().find(|a| a.name == "weights").unwrap().values;
        let n_models = if refit { 1 } else { 3 };
        assert_eq!(model.n_members(), weights.len() * n_models);
        let mut mean = vec![0.0; data.n_rows()];
        for (i, weight) in weights.iter().enumerate() {
            for k in 0..n_models {
                let said = model.member(i * n_models + k).unwrap().predict_data(&data).unwrap();
                mean.iter_mut().zip(said.values()).for_each(|(sum, x)| *sum += weight * x / n_models as f64);
            }
        }
        assert!(mean.iter().zip(found.values()).all(|(a, b)| (a - b).abs() < 1e-9), "refit = {refit}");
    }
}

#[test]
fn interpretable_models_are_single_ones() {
    for task in [Task::Classification, Task::Regression] {
        let data = table(150, 6, task);
        let model = Auto { interpretable: true, ..quick(5) }.fit(&data).unwrap();
        assert_eq!(model.n_members(), 1);
        let learner = model.member(0).unwrap().header().learner.clone();
        let allowed = ["decision-tree", "decision-stump", "logistic-regression", "ridge-cv", "lasso-cv"];
        assert!(allowed.contains(&learner.as_str()), "{learner}");
    }
}

#[test]
fn the_size_of_the_model_is_limited() {
    let data = table(200, 7, Task::Classification);
    let free = quick(4).fit(&data).unwrap().to_bytes().unwrap().len();
    let most = 20_000;
    let model = Auto { max_size: Some(most), ..quick(4) }.fit(&data).unwrap();
    let size = model.to_bytes().unwrap().len();
    assert!(size <= most && free > most, "{size} bytes; {free} without a limit");
    let message = Auto { max_size: Some(100), ..quick(2) }.fit(&data).unwrap_err().to_string();
    assert!(message.contains("max_size") && message.contains("at least"), "{message}");
}

#[test]
fn groups_and_time_are_respected() {
    let data = table(160, 8, Task::Classification);
    let grouped = data.clone().with_group(Some((0..160).map(|row| row / 8).collect())).unwrap();
    assert!(summary(&quick(2).fit(&grouped).unwrap()).estimate.is_some());
    let timed = Auto { in_time_order: true, ..quick(2) }.fit(&data).unwrap();
    assert!(summary(&timed).splits.contains("stretches"), "{}", summary(&timed).splits);
    // A target that is only known from rows of the same group: honest folds can't find it.
    let secret: Vec<f64> = (0..160).map(|row| f64::from((row / 8) * 7919 % 31)).collect();
    let own =
        Column::numeric("group number", (0..160).map(|row| f64::from((row / 8) * 104_729 % 1009)).collect::<Vec<_>>());
    let columns = vec![own];
    let ungrouped = Dataset::from_columns(columns, &secret).unwrap();
    let grouped = ungrouped.clone().with_group(Some((0..160).map(|row| row / 8).collect())).unwrap();
    let score = |data: &Dataset| summary(&quick(2).fit(data).unwrap()).estimate.unwrap()[0];
    assert!(score(&grouped) > 2.0 * score(&ungrouped), "{} {}", score(&grouped), score(&ungrouped));
}

/// Stops after some steps.
struct StopAfter {
    steps: AtomicUsize,
    most: usize,
}

impl Observer for StopAfter {
    fn event(&self, event: &Event<'_>) -> Control {
        if matches!(event, Event::Step { .. }) {
            self.steps.fetch_add(1, Ordering::SeqCst);
        }
        if self.steps.load(Ordering::SeqCst) >= self.most { Control::Stop } else { Control::Continue }
    }
}

#[test]
fn a_stopped_run_gives_the_best_so_far_and_its_journal_goes_on() {
    let data = table(120, 9, Task::Classification);
    let folder = std::env::temp_dir().join(format!("ermine-auto-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("run.journal");
    let whole = fit(&quick(4), &data, &ermine::context()).unwrap();
    let stopper = StopAfter { steps: 0.into(), most: 2 };
    let context = Context { observer: &stopper, ..ermine::context() };
    assert!(matches!(fit(&quick(4), &data, &context), Err(Error::Stopped)));
    let stopper = StopAfter { steps: 0.into(), most: 2 };
    let context = Context { observer: &stopper, ..ermine::context() };
    let options = AutoOptions { journal: Some(&path), finish_on_stop: true };
    let part = fit_auto(&quick(4), &data, &context, options).unwrap();
    assert_eq!(summary(&part).leaderboard.len(), 2, "two candidates were finished");
    // A line that was being written when the run was killed.
    let mut text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 3);
    text.push_str("{\"estimator\":\"extra");
    std::fs::write(&path, text).unwrap();
    let resumed =
        fit_auto(&quick(4), &data, &ermine::context(), AutoOptions { journal: Some(&path), ..Default::default() });
    assert!(resumed.unwrap().to_bytes().unwrap() == whole.to_bytes().unwrap(), "as if it had never stopped");
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 5);
    let other = fit_auto(
        &quick(4),
        &table(120, 10, Task::Classification),
        &ermine::context(),
        AutoOptions { journal: Some(&path), ..Default::default() },
    );
    assert!(other.unwrap_err().to_string().contains("another run"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn tables_in_the_corner_give_a_model() {
    let classes = |n: usize, k: usize| (0..n).map(|i| format!("c{}", i * 7 % k)).collect::<Vec<String>>();
    let numbers = |n: usize| Column::numeric("x", (0..n).map(|i| (i * 13 % 17) as f64).collect::<Vec<_>>());
    let words = |n: usize| Column::nominal("w", &(0..n).map(|i| Some(["p", "q", "r"][i % 3])).collect::<Vec<_>>());
    let nothing =
        |n: usize| vec![Column::numeric("a", vec![f64::NAN; n]), Column::nominal::<&str>("b", &vec![None; n])];
    let data = [
        Dataset::from_columns(vec![numbers(50), words(50)], &classes(50, 2)).unwrap(),
        Dataset::from_columns(vec![words(60)], &classes(60, 3)).unwrap(),
        Dataset::from_columns(nothing(60), &classes(60, 2)).unwrap(),
        Dataset::from_columns(vec![numbers(40)], &vec!["only"; 40]).unwrap(),
        Dataset::from_columns(vec![numbers(40)], &vec![2.5; 40]).unwrap(),
        Dataset::from_columns(vec![numbers(5)], &[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap(),
        Dataset::from_columns(vec![numbers(450), words(450)], &classes(450, 150)).unwrap(),
    ];
    for (i, data) in data.iter().enumerate() {
        let model = quick(2).fit(data).unwrap_or_else(|e| panic!("table {i}: {e}"));
        let said = model.predict_data(data).unwrap();
        assert!(said.values().iter().all(|x| x.is_finite()), "table {i}");
        assert!(!model.text().is_empty());
    }
}

#[test]
fn labels_and_rankings_are_learned() {
    let base = table(120, 12, Task::Regression);
    let (values, _) = base.values().unwrap();
    let grades: Vec<f64> = values.iter().map(|y| (y * 2.0).round().clamp(0.0, 4.0)).collect();
    let target = ermine_core::matrix::Target::Values { values: grades, n_outputs: 1 };
    let ranking = Dataset::from_parts(base.features().clone(), target, Task::Ranking).unwrap();
    let ranking = ranking.with_group(Some((0..120).map(|row| row / 12).collect())).unwrap();
    let model = quick(2).fit(&ranking).unwrap();
    assert!(summary(&model).estimate.unwrap()[0] > 0.6, "{:?}", summary(&model).estimate);
    let marks = values.iter().flat_map(|y| [f64::from(u8::from(*y > 1.0)), f64::from(u8::from(*y > 0.5))]).collect();
    let target = ermine_core::matrix::Target::Values { values: marks, n_outputs: 2 };
    let labels = Dataset::from_parts(base.features().clone(), target, Task::Multilabel).unwrap();
    let model = quick(3).fit(&labels).unwrap();
    assert!(summary(&model).estimate.unwrap()[0] < 0.45, "{:?}", summary(&model).estimate);
    assert_eq!(model.predict_data(&labels).unwrap().width(), 2);
}

#[test]
fn a_budget_that_is_too_short_is_an_error_and_a_short_one_gives_a_model() {
    let data = table(300, 13, Task::Classification);
    let message = Auto { time_limit: Some(1e-3), ..Default::default() }.fit(&data).unwrap_err().to_string();
    assert!(message.contains("too short"), "{message}");
    let model =
        Auto { time_limit: Some(20.0), preset: Preset::Fast, n_candidates: Some(2), ..Default::default() }.fit(&data);
    assert!(!summary(&model.unwrap()).leaderboard.is_empty());
    let features = Features::new(Arc::new(Table::new(vec![Column::numeric("x", vec![1.0; 30])]).unwrap()));
    let target = ermine_core::matrix::Target::Values { values: (0..30).map(f64::from).collect(), n_outputs: 1 };
    let data = Dataset::from_parts(features, target, Task::Regression).unwrap();
    let wrong = Auto { scoring: Some(Measure::Accuracy), ..quick(2) }.fit(&data).unwrap_err().to_string();
    assert!(wrong.contains("accuracy"), "{wrong}");
}
