//! Trains gradient boosting on the tables that `python bench/quality_boosting.py dump DIR` writes, and prints the test loss and the seconds of each fit:
//!
//! ```text
//! cargo run --release -p ermine-bench --example boost_tables -- DIR THREADS [name=value ...] [TABLE/SEED ...]
//! ```
//! Without tables, all in the folder. `quality_boosting.py take` puts the losses into the record.

// A measurement stops at the first surprise.
#![allow(clippy::unwrap_used)]

use ermine::prelude::*;
use ermine_core::learner::{Context, fit};
use ermine_core::metric::ranking::{Gain, ndcg};
use ermine_core::model::Prediction;
use ermine_core::param::{Parameters, Value};
use ermine_core::table::{ColumnType, ReadOptions};
use std::time::Instant;

/// A table: columns named c... are categories, q is the query, y the target.
fn read(path: &str, task: Task) -> Table {
    let text = std::fs::read_to_string(path).unwrap();
    let is_nominal = |name: &str| name.starts_with('c') || (name == "y" && task == Task::Classification);
    let kind = |name: &str| if is_nominal(name) { ColumnType::Nominal } else { ColumnType::Numeric };
    let names = text.lines().next().unwrap_or_default().split(',');
    let types = names.map(|name| (name.to_string(), kind(name))).collect();
    Table::read_with(path, &ReadOptions { types, ..Default::default() }).unwrap()
}

/// Log loss, RMSE over the standard deviation of the target, or 1 - NDCG@10.
fn loss(test: &Table, predicted: &Prediction, task: Task) -> f64 {
    let (target, n) = (test.column("y").unwrap(), test.n_rows());
    let y = target.numbers(None);
    match task {
        Task::Regression => {
            let mean = y.iter().sum::<f64>() / n as f64;
            let spread: f64 = y.iter().map(|y| (y - mean).powi(2)).sum();
            let error: f64 = y.iter().zip(predicted.values()).map(|(y, p)| (y - p).powi(2)).sum();
            (error / spread).sqrt()
        }
        Task::Ranking => {
            let query = test.column("q").unwrap().numbers(None);
            let mut found = Vec::new();
            for rows in (0..n).collect::<Vec<_>>().chunk_by(|&a, &b| query[a] == query[b]) {
                let rows = rows[0]..rows[rows.len() - 1] + 1;
                // Queries without anything relevant tell nothing.
                if y[rows.clone()].iter().any(|y| *y > 0.0) {
                    found.push(ndcg(&predicted.values()[rows.clone()], &y[rows], 10, Gain::Exponential));
                }
            }
            1.0 - found.iter().sum::<f64>() / found.len() as f64
        }
        _ => {
            let classes = predicted.classes();
            // Classes that the training rows don't have can't be predicted.
            let known = |row: usize| Some((row, classes.iter().position(|class| *class == target.text(row))?));
            let losses = (0..n).filter_map(known).map(|(row, class)| -predicted.row(row)[class].clamp(1e-15, 1.0).ln());
            let losses: Vec<f64> = losses.collect();
            losses.iter().sum::<f64>() / losses.len() as f64
        }
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, dir, threads, rest @ ..] = &args[..] else { panic!("DIR THREADS [name=value ...] [TABLE/SEED ...]") };
    let mut learner = GradientBoosting::default();
    for (name, value) in rest.iter().filter_map(|word| word.split_once('=')) {
        learner.set(name, &Value::parse(value)).unwrap();
    }
    let mut tables: Vec<String> = rest.iter().filter(|word| !word.contains('=')).cloned().collect();
    if tables.is_empty() {
        let files = std::fs::read_dir(dir).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        tables = files.filter_map(|name| Some(name.strip_suffix(".task")?.replacen('.', "/", 1))).collect();
        tables.sort();
    }
    for table in tables {
        let stem = format!("{dir}/{}", table.replacen('/', ".", 1));
        let (task, group) = match std::fs::read_to_string(format!("{stem}.task")).unwrap().as_str() {
            "classes" => (Task::Classification, None),
            "numbers" => (Task::Regression, None),
            _ => (Task::Ranking, Some("q".to_string())),
        };
        let roles = Roles { task: Some(task), group, ..Roles::target("y") };
        let (train, test) = (read(&format!("{stem}.train.csv"), task), read(&format!("{stem}.test.csv"), task));
        let data = Dataset::new(train, &roles).unwrap();
        let seed = table.rsplit('/').next().unwrap_or_default().parse().unwrap_or(0);
        let context = Context { seed, threads: threads.parse().ok(), ..ermine::context() };
        let start = Instant::now();
        let model = fit(&learner, &data, &context).unwrap();
        let seconds = start.elapsed().as_secs_f64();
        let loss = loss(&test, &model.predict(&test).unwrap(), task);
        println!("{table} {loss:.6} {seconds:.3}");
    }
}
