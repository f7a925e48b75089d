//! How much memory a fit takes in the core alone: `cargo run --release --example fit_memory -- ROWS COLUMNS 'random-forest(n_estimators=10)' ...`.
//!
//! The data is the same as that of `bench/memory_python.py`, rows first; printed are the learner, MiB of the data and MiB at the highest, less what the process had before there was data.

// A measurement stops at the first surprise.
#![allow(clippy::unwrap_used)]

use ermine::learner::{Context, estimator::Estimator, fit};
use ermine::matrix::{Features, Target};
use ermine::param::{ParamType, Value};
use ermine::prelude::*;
use ermine::table::{Buffer, ColumnKind, Values};
use std::any::Any;
use std::sync::Arc;

/// A number from 0 to 1 that looks drawn.
fn number(i: usize) -> f64 {
    let mixed = (i as u64).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((mixed ^ (mixed >> 32)) >> 11) as f64 / (1u64 << 53) as f64
}

/// MiB from the status of this process.
fn resident(field: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
}

/// Column `j` of an array whose rows stand one after the other.
fn column(numbers: &Arc<Vec<f64>>, j: usize, n: usize, d: usize) -> Column {
    assert!(numbers.len() >= n * d && j < d);
    let owner: Arc<dyn Any + Send + Sync> = numbers.clone();
    // SAFETY: j + i * d < n * d for all i < n lies inside the vector, which the owner keeps and nobody writes to.
    let values = Values::F64(unsafe { Buffer::foreign(numbers.as_ptr().add(j), n, d as isize, owner) });
    Column { name: format!("x{j}"), kind: ColumnKind::Numeric, values }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, n, d, learners @ ..] = &args[..] else { panic!("ROWS COLUMNS LEARNER ...") };
    let (n, d): (usize, usize) = (n.parse().unwrap(), d.parse().unwrap());
    for word in learners {
        let before = resident("VmRSS");
        let numbers: Arc<Vec<f64>> = Arc::new((0..n * d).map(number).collect());
        let codes = (0..n).map(|i| u32::from(numbers[i * d] + numbers[i * d + 1] > 1.0)).collect();
        let table = Table::new((0..d).map(|j| column(&numbers, j, n, d)).collect()).unwrap();
        let target = Target::Classes { codes, labels: vec!["0".to_string(), "1".to_string()].into() };
        let data =
            Dataset::from_parts(Features::new(Arc::new(table)), target, ermine::matrix::Task::Classification).unwrap();
        let context = Context { threads: Some(2), ..Default::default() };
        let learner = Estimator::from_value(&Value::Text(word.clone())).unwrap().learner(&context).unwrap();
        std::fs::write("/proc/self/clear_refs", "5").unwrap(); // forgets the highest so far
        let model = fit(learner.as_ref(), &data, &context).unwrap();
        let (size, most) = ((n * d * 8) as f64 / 1048576.0, resident("VmHWM") - before);
        println!("{word}\t{size:.0}\t{most:.0}");
        assert_eq!(model.header().n_rows, n);
    }
}
