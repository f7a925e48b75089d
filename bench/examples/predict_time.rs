//! How long a row takes: `cargo run --release --example predict_time [trees]`.
//!
//! Boosted trees of 31 leaves over 50 columns; one row at a time through `Model::predictor`, and many rows at once on one thread and on all.

use ermine::prelude::*;
use ermine_core::parallel::run;
use std::time::Instant;

const D: usize = 50;

/// Numbers between -1 and 1 that look random.
fn noise(i: usize, j: usize) -> f64 {
    let mixed = ((i * D + j + 1) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// The least time of several runs, in seconds.
fn best(runs: usize, mut work: impl FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..runs).map(time).fold(f64::INFINITY, f64::min)
}

fn columns(n: usize) -> Vec<Column> {
    (0..D)
        .map(|j| Column::numeric_f32(format!("x{j}"), (0..n).map(|i| noise(i, j) as f32).collect::<Vec<_>>()))
        .collect()
}

fn main() -> Result<()> {
    let n_estimators: usize = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(200);
    let n = 20_000;
    let target =
        |i: usize| if noise(i, 0) * noise(i, 1) + noise(i, 2) + 0.3 * noise(i, 60) > 0.0 { "yes" } else { "no" };
    let mut table = columns(n);
    table.push(Column::nominal("y", &(0..n).map(|i| Some(target(i))).collect::<Vec<_>>()));
    let data = Table::new(table)?.dataset("y")?;
    let model = GradientBoosting { n_estimators, max_leaf_nodes: Some(31), ..Default::default() }.fit(&data)?;
    let predictor = model.predictor()?;
    let rows: Vec<Vec<f64>> = (0..1000).map(|i| (0..D).map(|j| noise(n + i, j)).collect()).collect();
    let mut out = vec![0.0; predictor.width()];
    let mut sum = 0.0;
    let seconds = best(20, || {
        for row in &rows {
            if predictor.predict(row, &mut out).is_ok() {
                sum += out[0];
            }
        }
    });
    let each = seconds / rows.len() as f64;
    println!(
        "one row: {:.3} us, {:.3} us per 100 trees ({sum:.3})",
        each * 1e6,
        each * 1e6 * 100.0 / n_estimators as f64
    );
    let many = columns(500_000);
    for threads in [1, 2] {
        let seconds = run(Some(threads), || best(5, || drop(model.predict_columns(many.clone(), None))))?;
        println!("500,000 rows, {threads} threads: {:.1} ms", seconds * 1e3);
    }
    Ok(())
}
