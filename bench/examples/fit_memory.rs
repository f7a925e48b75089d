//! How much memory a fit takes in the core alone: `cargo run --release --example fit_memory -- ROWS COLUMNS C8 'random-forest(n_estimators=10)' ...`.
//!
//! The data is the same as that of `bench/memory_python.py`: numbers of 8 or 4 bytes, row after row (C) or column after column (F). Printed are the learner, MiB of the data and MiB at the highest, less what the process had before there was data.

// A measurement stops at the first surprise.
#![allow(clippy::unwrap_used)]

use ermine::prelude::*;
use ermine_core::learner::{Context, estimator::Estimator, fit};
use ermine_core::matrix::{Features, Target, Task};
use ermine_core::param::{ParamType, Value};
use ermine_core::table::{Buffer, ColumnKind, Notation, Values};
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

/// The columns of an array of `n` rows that stand one after the other, or whose columns do.
fn columns<T: Copy + Send + Sync + 'static>(
    n: usize,
    d: usize,
    by_rows: bool,
    kind: fn(f64) -> T,
    values: fn(Buffer<T>) -> Values,
) -> Vec<Column> {
    let place = |at: usize| if by_rows { at } else { at % n * d + at / n };
    let numbers: Arc<Vec<T>> = Arc::new((0..n * d).map(|at| kind(number(place(at)))).collect());
    let (across, down) = if by_rows { (1, d) } else { (n, 1) };
    let column = |j: usize| {
        let owner: Arc<dyn Any + Send + Sync> = numbers.clone();
        // SAFETY: j * across + i * down < n * d for all j < d and i < n lies inside the vector, which the owner keeps and nobody writes to.
        let buffer = unsafe { Buffer::foreign(numbers.as_ptr().add(j * across), n, down as isize, owner) };
        Column { name: format!("x{j}"), kind: ColumnKind::Numeric, values: values(buffer), notation: Notation::Plain }
    };
    (0..d).map(column).collect()
}

/// Whether the first two columns add up to more than 1: as classes, or as numbers for learners of numbers.
fn target(table: &Table, classes: bool) -> (Target, Task) {
    let [a, b] = [0, 1].map(|j| table.columns()[j].numbers(None));
    let truths = a.iter().zip(&b).map(|(a, b)| a + b > 1.0);
    match classes {
        true => {
            let labels = vec!["0".to_string(), "1".to_string()].into();
            (Target::Classes { codes: truths.map(u32::from).collect(), labels }, Task::Classification)
        }
        false => {
            let values = truths.map(|x| f64::from(u8::from(x))).collect();
            (Target::Values { values, n_outputs: 1 }, Task::Regression)
        }
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, n, d, layout, learners @ ..] = &args[..] else { panic!("ROWS COLUMNS C8|C4|F8|F4 LEARNER ...") };
    let (n, d): (usize, usize) = (n.parse().unwrap(), d.parse().unwrap());
    let (by_rows, double) = (layout.starts_with('C'), layout.ends_with('8'));
    for word in learners {
        let before = resident("VmRSS");
        let columns = match double {
            true => columns(n, d, by_rows, |x| x, Values::F64),
            false => columns(n, d, by_rows, |x| x as f32, Values::F32),
        };
        let table = Table::new(columns).unwrap();
        let context = Context { threads: Some(2), ..ermine::context() };
        let learner = Estimator::from_value(&Value::Text(word.clone())).unwrap().learner(&context).unwrap();
        let classes = learner.info().capabilities.tasks.contains(&Task::Classification);
        let (target, task) = target(&table, classes);
        let data = Dataset::from_parts(Features::new(Arc::new(table)), target, task).unwrap();
        std::fs::write("/proc/self/clear_refs", "5").unwrap(); // forgets the highest so far
        let model = fit(learner.as_ref(), &data, &context).unwrap();
        let (size, most) = ((n * d * if double { 8 } else { 4 }) as f64 / 1048576.0, resident("VmHWM") - before);
        println!("{word}\t{size:.0}\t{most:.0}");
        assert_eq!(model.header().n_rows, n);
    }
}
