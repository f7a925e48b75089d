//! How long the linear ranking takes over pairs that nobody could list: `cargo run --release --example rank_time [ROWS]`.

use ermine::prelude::*;
use ermine_core::matrix::{Features, Target};
use ermine_linear::learner::linear::rank_svm::RankSvm;
use std::sync::Arc;
use std::time::Instant;

fn main() -> Result<()> {
    let n: usize = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(100_000);
    let p = 20;
    let mut rng = ermine_core::rng::stream(1, &[]);
    let mut number = || (0..4).map(|_| ermine_core::rng::below(&mut rng, 1000) as f64 / 500.0 - 1.0).sum::<f64>();
    let columns: Vec<Vec<f64>> = (0..p).map(|_| (0..n).map(|_| number()).collect()).collect();
    let signal: Vec<f64> = (0..n).map(|i| columns.iter().zip(1..).map(|(c, k)| c[i] / f64::from(k)).sum()).collect();
    let noise: Vec<f64> = (0..n).map(|_| number()).collect();
    let table = Table::new((0..p).map(|j| Column::numeric(format!("x{j}"), columns[j].clone())).collect())?;
    let features = Features::new(Arc::new(table));
    // One query: as many grades as rows, and five grades.
    for (what, levels) in [("as many grades as rows", None), ("five grades", Some(5.0))] {
        let raw = |i: usize| signal[i] + noise[i];
        let grade = |i: usize| levels.map_or(raw(i), |k: f64| (raw(i) + 2.5).clamp(0.0, k - 0.01).floor());
        let target = Target::Values { values: (0..n).map(grade).collect(), n_outputs: 1 };
        let data = Dataset::from_parts(features.clone(), target, Task::Ranking)?;
        let start = Instant::now();
        let model = RankSvm { C: 1.0 / (n as f64), ..Default::default() }.fit(&data)?;
        let seconds = start.elapsed().as_secs_f64();
        println!("{n} rows, {what}: {seconds:.2} s");
        println!("{}", model.certificate());
    }
    Ok(())
}
