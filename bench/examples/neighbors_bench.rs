//! Times nearest-neighbour search on arrays in `.npy` files (little-endian `f32`, `f64` or `u8`, row-major), beside other libraries
//! that read the same files.
//!
//! `neighbors_bench points.npy queries.npy [k] [box_tree|vantage_tree|scan|graph|auto] [metric]`; two `u8` arrays are binary codes.

use ermine_core::distance::metric::Metric;
use ermine_core::distance::rows::RowMatrix;
use ermine_neighbors::search::choice::IndexKind;
use ermine_neighbors::search::codes::CodeIndex;
use ermine_neighbors::search::index::Index;
use std::time::Instant;

type Failure = Box<dyn std::error::Error>;

enum Array {
    F32(Vec<f32>),
    F64(Vec<f64>),
    U8(Vec<u8>),
}

/// Reads a `.npy` file of two dimensions: the numbers and the number of columns.
fn read_npy(path: &str) -> Result<(Array, usize), Failure> {
    let bytes = std::fs::read(path)?;
    let header_len = u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
    let header = std::str::from_utf8(&bytes[10..10 + header_len])?;
    let shape = header.split("'shape': (").nth(1).and_then(|s| s.split(')').next()).ok_or("no shape")?;
    let columns = shape.split(',').nth(1).ok_or("not a matrix")?.trim().parse()?;
    let data = &bytes[10 + header_len..];
    let array = if header.contains("'<f4'") {
        Array::F32(data.as_chunks().0.iter().map(|&b| f32::from_le_bytes(b)).collect())
    } else if header.contains("'<f8'") {
        Array::F64(data.as_chunks().0.iter().map(|&b| f64::from_le_bytes(b)).collect())
    } else if header.contains("'|u1'") {
        Array::U8(data.to_vec())
    } else {
        return Err(format!("{path}: expected <f4, <f8 or |u1, found {header}").into());
    };
    Ok((array, columns))
}

fn rows(array: &Array, columns: usize) -> Result<RowMatrix<'_>, Failure> {
    Ok(match array {
        Array::F32(values) => RowMatrix::row_major_f32(values, columns)?,
        Array::F64(values) => RowMatrix::row_major(values, columns)?,
        Array::U8(_) => return Err("bytes are codes, not rows".into()),
    })
}

/// Runs until it gets no faster: the fewest seconds, and what the last run gave.
fn fastest<T>(mut run: impl FnMut() -> Result<T, ermine::Error>) -> Result<(f64, T), Failure> {
    let mut best = f64::INFINITY;
    loop {
        let start = Instant::now();
        let result = run()?;
        let seconds = start.elapsed().as_secs_f64();
        let improved = seconds < 0.98 * best;
        best = best.min(seconds);
        if !improved {
            return Ok((best, result));
        }
    }
}

fn report(kind: &str, build: f64, query: f64, memory: f64, distances: &[f64]) {
    let sum: f64 = distances.iter().sum();
    println!("{kind}: build {build:.4} s, query {query:.4} s, memory {memory:.3} x data, sum of distances {sum:.6}");
}

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let get = |i: usize, default: &'static str| args.get(i).map_or(default, String::as_str).to_string();
    let k: usize = get(2, "5").parse()?;
    let wish = match get(3, "auto").as_str() {
        "box_tree" => Some(IndexKind::BoxTree),
        "vantage_tree" => Some(IndexKind::VantageTree),
        "scan" => Some(IndexKind::Scan),
        "graph" => Some(IndexKind::Graph { width: 100 }),
        _ => None,
    };
    let metric = match get(4, "euclidean").as_str() {
        "manhattan" => Metric::Manhattan,
        "chebyshev" => Metric::Chebyshev,
        "cosine" => Metric::Cosine,
        _ => Metric::Euclidean,
    };
    let (points, columns) = read_npy(&get(0, "points.npy"))?;
    let (queries, _) = read_npy(&get(1, "queries.npy"))?;
    if let (Array::U8(codes), Array::U8(asked)) = (&points, &queries) {
        let (build, index) = fastest(|| CodeIndex::build(codes, columns))?;
        let (query, found) = fastest(|| index.kneighbors(asked, k))?;
        report("codes", build, query, index.bytes() as f64 / codes.len() as f64, found.all_distances());
        return Ok(());
    }
    let (points, queries) = (rows(&points, columns)?, rows(&queries, columns)?);
    let (build, mut index) = fastest(|| Index::build_as(&points, metric.clone(), wish))?;
    let (query, found) = fastest(|| index.kneighbors(&queries, k))?;
    index.state_recall(k)?;
    let data = points.n_rows() * columns * if points.is_f32() { 4 } else { 8 };
    let recall = index.choice().recall.map_or_else(String::new, |recall| format!(", recall {recall:.3}"));
    let kind = format!("{:?} ({}{recall})", index.choice().kind, index.choice().reason);
    report(&kind, build, query, index.bytes() as f64 / data as f64, found.all_distances());
    Ok(())
}
