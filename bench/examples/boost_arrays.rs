//! Trains gradient boosting on `.npy` arrays and prints time and test loss: for measuring without the Python package.
//!
//! ```text
//! cargo run --release --example boost_arrays -- DIR binary|regression|multiclass THREADS [name=value ...]
//! ```
//! DIR holds X_train.npy and X_test.npy (f32 or f64, rows first) and y_train.npy and y_test.npy (f64).

// A measurement stops at the first surprise.
#![allow(clippy::unwrap_used)]

use ermine::prelude::*;
use ermine_core::learner::{Context, fit};
use ermine_core::matrix::{Features, Target};
use ermine_core::param::{Parameters, Value};
use ermine_core::table::{Buffer, Values};
use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

/// The shape and type of an array, and its bytes.
fn read(path: &str) -> (Vec<usize>, bool, Vec<u8>) {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let length = u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
    let header = String::from_utf8_lossy(&bytes[10..10 + length]).to_string();
    assert!(header.contains("'fortran_order': False"), "{path}: rows first, please");
    let shape = header.split("'shape': (").nth(1).and_then(|s| s.split(')').next()).unwrap_or("");
    let shape = shape.split(',').filter_map(|s| s.trim().parse().ok()).collect();
    (shape, header.contains("<f4"), bytes[10 + length..].to_vec())
}

fn features(path: &str) -> Features {
    let (shape, single, bytes) = read(path);
    let (n, d) = (shape[0], shape[1]);
    let column = |j: usize, values: Values| Column {
        name: format!("x{j}"),
        kind: ermine_core::table::ColumnKind::Numeric,
        values,
        notation: ermine_core::table::Notation::Plain,
    };
    let columns = if single {
        let numbers: Arc<Vec<f32>> = Arc::new(bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect());
        (0..d).map(|j| column(j, Values::F32(window(&numbers, j, n, d)))).collect()
    } else {
        let numbers: Arc<Vec<f64>> = Arc::new(bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect());
        (0..d).map(|j| column(j, Values::F64(window(&numbers, j, n, d)))).collect()
    };
    Features::new(Arc::new(Table::new(columns).unwrap()))
}

/// Column `j` of a row-major array.
fn window<T: Copy + Send + Sync + 'static>(numbers: &Arc<Vec<T>>, j: usize, n: usize, d: usize) -> Buffer<T> {
    assert!(numbers.len() >= n * d && j < d);
    let owner: Arc<dyn Any + Send + Sync> = numbers.clone();
    // SAFETY: j + i * d < n * d for all i < n lies inside the vector, which the owner keeps and nobody writes to.
    unsafe { Buffer::foreign(numbers.as_ptr().add(j), n, d as isize, owner) }
}

fn dataset(dir: &str, part: &str, kind: &str) -> Dataset {
    let features = features(&format!("{dir}/X_{part}.npy"));
    let (_, _, bytes) = read(&format!("{dir}/y_{part}.npy"));
    let y: Vec<f64> = bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
    if kind == "regression" {
        return Dataset::from_parts(features, Target::Values { values: y, n_outputs: 1 }, Task::Regression).unwrap();
    }
    let n_classes = y.iter().fold(0.0, |a: f64, &b| a.max(b)) as usize + 1;
    let target = Target::Classes {
        codes: y.iter().map(|&y| y as u32).collect(),
        labels: (0..n_classes).map(|c| c.to_string()).collect(),
    };
    Dataset::from_parts(features, target, Task::Classification).unwrap()
}

/// Seconds that all threads of this process have run; on a machine that is busy with other work they say more than the clock.
fn cpu_seconds() -> f64 {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return f64::NAN };
    let time = |path: std::path::PathBuf| -> Option<f64> {
        std::fs::read_to_string(path.join("schedstat")).ok()?.split(' ').next()?.parse().ok()
    };
    tasks.flatten().filter_map(|task| time(task.path())).sum::<f64>() / 1e9
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, dir, kind, threads, rest @ ..] = &args[..] else { panic!("DIR KIND THREADS [name=value ...]") };
    let mut learner = GradientBoosting::default();
    for pair in rest {
        let (name, value) = pair.split_once('=').expect("name=value");
        learner.set(name, &Value::parse(value)).unwrap();
    }
    let (train, test) = (dataset(dir, "train", kind), dataset(dir, "test", kind));
    let context = Context { threads: threads.parse().ok(), ..ermine::context() };
    let repeat: usize = std::env::var("REPEAT").ok().and_then(|r| r.parse().ok()).unwrap_or(3);
    for _ in 0..repeat {
        let (start, cpu) = (Instant::now(), cpu_seconds());
        let model = fit(&learner, &train, &context).unwrap();
        let (seconds, cpu) = (start.elapsed().as_secs_f64(), cpu_seconds() - cpu);
        let start = Instant::now();
        let prediction = model.predict_data(&test).unwrap();
        let predict = start.elapsed().as_secs_f64();
        let loss: f64 = match test.target() {
            Target::Classes { codes, .. } => {
                codes.iter().enumerate().map(|(i, &c)| -prediction.row(i)[c as usize].ln()).sum()
            }
            Target::Values { values, .. } => {
                values.iter().enumerate().map(|(i, y)| (prediction.row(i)[0] - y).powi(2)).sum()
            }
        };
        println!(
            "fit {seconds:.4} s ({cpu:.4} of processors), predict {predict:.4} s, test loss {:.5}",
            loss / test.n_rows() as f64
        );
    }
}
