//! Times a decision tree on arrays made here or read from `.npy` files: `cargo run --release --example tree_time -- X.npy y.npy classes|numbers`.

use ermine::prelude::*;
use ermine_core::learner::{Context, fit};
use ermine_core::matrix::{Features, Target};
use ermine_trees::learner::decision_tree::FittedTree;
use std::sync::Arc;
use std::time::Instant;

/// The numbers of an `.npy` file of little-endian f32, f64 or i64, and its shape.
fn npy(path: &str) -> std::io::Result<(Vec<f64>, usize, usize)> {
    let bytes = std::fs::read(path)?;
    let length = u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
    let header = String::from_utf8_lossy(&bytes[10..10 + length]).to_string();
    let shape = header.split("'shape': (").nth(1).and_then(|s| s.split(')').next()).unwrap_or("");
    let sizes: Vec<usize> = shape.split(',').filter_map(|s| s.trim().parse().ok()).collect();
    let body = &bytes[10 + length..];
    let eight = |chunk: &[u8]| -> [u8; 8] { std::array::from_fn(|i| chunk[i]) };
    let values = if header.contains("<f4") {
        body.chunks_exact(4).map(|c| f64::from(f32::from_le_bytes([c[0], c[1], c[2], c[3]]))).collect()
    } else if header.contains("<i8") {
        body.chunks_exact(8).map(|c| i64::from_le_bytes(eight(c)) as f64).collect()
    } else {
        body.chunks_exact(8).map(|c| f64::from_le_bytes(eight(c))).collect()
    };
    Ok((values, sizes[0], sizes.get(1).copied().unwrap_or(1)))
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let (x, n, d) = npy(&args[1])?;
    let (y, _, n_outputs) = npy(&args[2])?;
    let columns = (0..d)
        .map(|j| Column::numeric_f32(format!("x{j}"), (0..n).map(|i| x[i * d + j] as f32).collect::<Vec<f32>>()))
        .collect();
    let table = Arc::new(Table::new(columns)?);
    let (target, task) = if args[3] == "classes" {
        let k = y.iter().fold(0.0f64, |a, &b| a.max(b)) as usize + 1;
        let labels = (0..k).map(|c| c.to_string()).collect();
        (Target::Classes { codes: y.iter().map(|&c| c as u32).collect(), labels }, Task::Classification)
    } else {
        (Target::Values { values: y, n_outputs }, Task::Regression)
    };
    let learner = DecisionTree::default();
    for threads in [1, 2, 2, 2] {
        // Fresh features each time: the sorted order would be kept otherwise.
        let data = Dataset::from_parts(Features::new(table.clone()), target.clone(), task)?;
        let start = Instant::now();
        let model = fit(&learner, &data, &Context { threads: Some(threads), ..ermine::context() })?;
        let seconds = start.elapsed().as_secs_f64();
        let tree = model.fitted::<FittedTree>().map(FittedTree::tree);
        let (nodes, depth) = tree.map_or((0, 0), |t| (t.n_nodes(), t.depth()));
        println!("{threads} threads: {seconds:.3} s, {nodes} nodes, depth {depth}, {:?}", model.certificate().value);
    }
    Ok(())
}
