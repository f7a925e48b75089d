//! Reads a table and says how long that took and what it holds:
//! `cargo run --release --example read_table -- file.csv [repeats]`

use ermine_core::table::Table;
use std::time::Instant;

fn main() -> ermine::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_else(|| "examples/data/penguins.csv".into());
    let repeats = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(1);
    let before = peak_bytes();
    for _ in 0..repeats {
        let start = Instant::now();
        let table = Table::read(&path)?;
        let seconds = start.elapsed().as_secs_f64();
        let (rows, columns, bytes) = (table.n_rows(), table.n_columns(), table.n_bytes());
        let peak = peak_bytes().saturating_sub(before);
        let ratio = peak as f64 / bytes.max(1) as f64;
        println!(
            "seconds {seconds:.3} rows {rows} columns {columns} bytes {bytes} peak_growth {peak} ratio {ratio:.2}"
        );
    }
    Ok(())
}

/// The most memory that this process has had at once, where the system says so.
fn peak_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse::<usize>().ok()).unwrap_or(0) * 1024
}
