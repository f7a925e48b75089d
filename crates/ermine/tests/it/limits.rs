//! What must hold at the edges: numbers near the ends of their range, many writers of one file, names that are there twice.

use ermine::prelude::*;
use ermine::registry::learners;
use ermine_core::learner::fit::can_learn;
use ermine_core::learner::{Learner, fit};
use ermine_core::matrix::{Features, Target};
use std::path::PathBuf;
use std::sync::Arc;

/// An empty directory, removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("ermine-limits-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A data set over these columns for every task of a learner. The target follows the first column's order of rows.
fn datasets(learner: &dyn Learner, columns: Vec<Column>, scale: f64) -> Vec<Dataset> {
    let n = columns[0].len();
    let features = Features::new(Arc::new(Table::new(columns).unwrap()));
    let of = |task: Task| {
        let number = |i: usize| ((i * 37 % 11) as f64 - 5.0) * scale;
        let mark = |i: usize, label: usize| f64::from(u8::from((i * 7 + label).is_multiple_of(3)));
        let target = match task {
            Task::Classification => Target::Classes {
                codes: (0..n).map(|i| u32::from(i * 37 % 11 > 4)).collect(),
                labels: ["no".to_string(), "yes".to_string()].into(),
            },
            Task::Multilabel => {
                Target::Values { values: (0..n).flat_map(|i| [mark(i, 0), mark(i, 1)]).collect(), n_outputs: 2 }
            }
            Task::Ranking => Target::Values { values: (0..n).map(|i| (i % 3) as f64).collect(), n_outputs: 1 },
            Task::Regression => Target::Values { values: (0..n).map(number).collect(), n_outputs: 1 },
        };
        let data = Dataset::from_parts(features.clone(), target, task).ok()?;
        data.with_group((task == Task::Ranking).then(|| (0..n as u32).map(|i| i / 10).collect())).ok()
    };
    Task::ALL.into_iter().filter(|&task| can_learn(learner, task)).filter_map(of).collect()
}

/// Learners of many parts with a few only: these tests are about numbers, not about quality.
fn small(entry: &ermine::registry::RegistryEntry) -> Box<dyn Learner> {
    let mut learner = crate::made(entry);
    if learner.get("n_estimators").is_some() {
        learner.set("n_estimators", &ermine_core::param::Value::Int(3)).unwrap();
    }
    learner
}

#[test]
fn a_fit_on_extreme_numbers_is_an_error_or_a_model_that_can_be_loaded() {
    let n = 40;
    let noise = |i: usize| ((i * 7919 % 101) as f64 - 50.0) / 50.0;
    let plain = || Column::numeric("plain", (0..n).map(noise).collect::<Vec<_>>());
    let constant = |size: f64| Column::numeric("constant", vec![size; n]);
    let wild = |size: f64| Column::numeric("wild", (0..n).map(|i| noise(i * 3 + 1) * size).collect::<Vec<_>>());
    let tables: Vec<(String, Vec<Column>, f64)> = [1e12, 1e15, 1e150, 1e300]
        .into_iter()
        .flat_map(|size| {
            let columns = [vec![constant(size), plain()], vec![wild(size), plain()], vec![plain(), constant(-size)]];
            columns.into_iter().map(move |columns| (format!("columns of {size:e}"), columns, 1.0))
        })
        .chain([1.7e308, 1e-308, 5e-324].map(|size| (format!("a column of {size:e}"), vec![wild(size), plain()], 1.0)))
        .chain([1e300, 3e307, 1e-310].map(|scale| (format!("a target of {scale:e}"), vec![plain()], scale)))
        .collect();
    let mut wrong = Vec::new();
    for entry in learners() {
        let learner = small(entry);
        for (what, columns, scale) in &tables {
            for data in datasets(&*learner, columns.clone(), *scale) {
                let Ok(model) = fit(&*learner, &data, &ermine::context()) else { continue };
                if let Err(e) = model.to_loadable_bytes() {
                    wrong.push(format!("{} ({}), {what}: {e}", entry.info().name, data.task()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Constant columns say nothing: a halfspace with one is the halfspace without it.
#[test]
fn a_large_constant_column_does_not_affect_a_halfspace() {
    let rows: Vec<[f64; 2]> = (0..60).map(|i| [(i * 37 % 60) as f64, (i * 11 % 60) as f64]).collect();
    for shift in [0.0, 20.0] {
        let classes: Vec<Option<&str>> = rows
            .iter()
            .map(|r| Some(if r[0] > r[1] + shift * ((r[0] as usize % 2) as f64) { "a" } else { "b" }))
            .collect();
        let of = |constant: Option<f64>| {
            let column = |j: usize| Column::numeric(format!("x{j}"), rows.iter().map(|r| r[j]).collect::<Vec<_>>());
            let mut columns = vec![column(0), column(1), Column::nominal("y", &classes)];
            columns.extend(constant.map(|c| Column::numeric("constant", vec![c; rows.len()])));
            let data = Table::new(columns).unwrap().dataset("y").unwrap();
            let learner = ermine::registry::learner("halfspace").unwrap();
            fit(&*learner, &data, &ermine::context()).unwrap()
        };
        let expected = of(None);
        for size in [1.0, 1e9, 1e12, 1.3e12, 1e15, 3.7e18, 1e100] {
            let found = of(Some(size));
            let (a, b) = (expected.certificate().value.unwrap(), found.certificate().value.unwrap());
            assert!(
                (a - b).abs() <= 1e-6 * a.max(1.0),
                "{size:e}: {} instead of {}",
                found.certificate(),
                expected.certificate()
            );
            assert_eq!(found.certificate().status, expected.certificate().status, "{size:e}");
            found.to_loadable_bytes().unwrap();
        }
    }
}

#[test]
fn four_threads_save_to_one_path_and_the_file_is_always_whole() {
    let folder = Folder::new("save");
    let path = folder.0.join("m.ermine");
    let data = Dataset::from_rows(&[[1.0], [2.0], [3.0], [4.0]], &[1.0, 2.0, 2.5, 4.5]).unwrap();
    let models: Vec<Model> =
        (1..=4).map(|n| GradientBoosting { n_estimators: 50 * n, ..Default::default() }.fit(&data).unwrap()).collect();
    for _ in 0..10 {
        std::thread::scope(|scope| {
            for model in &models {
                let path = &path;
                scope.spawn(move || (0..6).for_each(|_| model.save(path).unwrap()));
            }
        });
        ermine::load(&path).unwrap();
    }
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1, "partial files are left");
}

#[test]
fn duplicate_names_are_refused() {
    let data = Dataset::from_rows(&[[1.0, 2.0], [2.0, 1.0], [3.0, 5.0]], &[1.0, 2.0, 2.5]).unwrap();
    let bytes = LinearRegression::default().fit(&data).unwrap().to_bytes().unwrap();
    let names: Vec<String> = data.features().columns().iter().map(|c| c.name.clone()).collect();
    let (from, to) = (format!("\"name\":\"{}\"", names[1]), format!("\"name\":\"{}\"", names[0]));
    let at = bytes.windows(from.len()).position(|w| w == from.as_bytes()).unwrap();
    let mut changed = bytes[..bytes.len() - 4].to_vec();
    changed.splice(at..at + from.len(), to.bytes());
    assert_eq!(from.len(), to.len());
    let checksum = crc32fast::hash(&changed).to_le_bytes();
    let message = ermine::load_bytes(&[&changed[..], &checksum].concat()).unwrap_err().to_string();
    assert!(message.contains(&format!("the feature '{}' twice", names[0])), "{message}");
}
