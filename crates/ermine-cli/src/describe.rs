//! `ermine describe`: the columns of a table, and what to look out for.

use crate::args::{DataArgs, OutputArgs};
use crate::clean::clean;
use crate::data::{load, read_for_summary};
use crate::failure::Failure;
use crate::grid::Grid;
use crate::progress::Progress;
use crate::terminal::{bold, count, counted, print, print_json, width, yellow};
use ermine_core::chart::text::number;
use ermine_eval::describe::{ColumnSummary, TableSummary};
use serde_json::json;

const EXAMPLES: &str = "\
Examples:
  ermine describe adult.csv
  ermine describe adult.csv --target income
  ermine describe adult.csv --json

Prints the type of each column, its missing and distinct values and its distribution: minimum, median and maximum of
numbers, the most frequent categories. With --target, also the task and warnings about the data.";

/// Describe the columns of a table
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    out: OutputArgs,
}

/// Describes.
pub fn run(args: &Args) -> Result<(), Failure> {
    let progress = Progress::new(!args.out.is_verbose());
    let (table, notes) = read_for_summary(&args.data, args.out.threads(), &progress)?;
    let summary = progress.stage("describing", args.out.threads(), || Ok(TableSummary::new(&table)))?;
    let data = match args.data.target.is_empty() {
        true => None,
        false => Some(load(&args.data, args.out.threads(), &progress)?.1),
    };
    drop(progress);
    if args.out.json {
        return print_json(&json!({ "file": args.data.file, "table": summary, "reading": notes, "data": data }));
    }
    let mut text = String::new();
    if !args.out.quiet {
        let file = bold(&clean(&args.data.file.display().to_string()));
        let (rows, columns) = (counted(summary.n_rows, "row"), counted(summary.columns.len(), "column"));
        text += &match data {
            Some(data) => data.text(),
            None => format!("{file}: {rows}, {columns}\n"),
        };
        if args.data.target.is_empty() {
            notes.iter().for_each(|note| text += &format!("  {}\n", yellow(&clean(&format!("warning: {note}")))));
        }
        if summary.n_duplicates > 0 {
            let copies = counted(summary.n_duplicates, "row");
            text += &format!("  {}\n", yellow(&format!("warning: {copies} repeat an earlier row")));
        }
        text += "\n";
    }
    print(&(text + &columns_text(&summary)))
}

fn columns_text(summary: &TableSummary) -> String {
    let mut grid = Grid::new(["column", "type", "missing", "distinct", "values"]).left(&[1, 4]);
    for column in &summary.columns {
        grid.push([
            column.name.clone(),
            column.kind.as_str().to_string(),
            if column.n_missing == 0 { String::new() } else { count(column.n_missing) },
            count(column.n_distinct),
            values_text(column, summary.n_rows),
        ]);
    }
    grid.text(width())
}

/// The distribution of a column in a line.
fn values_text(column: &ColumnSummary, n_rows: usize) -> String {
    if let Some(numbers) = &column.numbers {
        let [low, _, median, _, high] = numbers.quartiles.map(number);
        return format!("{low} to {high}, median {median}");
    }
    let share = |n: usize| format!("{:.0}%", 100.0 * n as f64 / n_rows.max(1) as f64);
    let listed: Vec<String> = column.categories.iter().map(|(name, n)| format!("{name} {}", share(*n))).collect();
    let more = if column.n_distinct > listed.len() { ", ..." } else { "" };
    listed.join(", ") + more
}
