//! `ermine neighbors`: the training rows near each row of a table, by a nearest-neighbors model.

use crate::args::OutputArgs;
use crate::clean::clean;
use crate::data::read;
use crate::failure::Failure;
use crate::files::check_output;
use crate::interrupt::writing;
use crate::predict::check_format;
use crate::progress::Progress;
use crate::terminal::{bold, counted, green, print, stdout_failure};
use ermine::prelude::NeighborModel;
use ermine_core::matrix::Schema;
use ermine_core::table::{Column, ColumnKind, Levels, Table};
use ermine_neighbors::search::nearest::Neighbors;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  ermine train penguins.csv --target species --learner nearest-neighbors -o species.ermine
  ermine neighbors species.ermine new.csv -k 3
  ermine neighbors species.ermine new.csv --radius 0.5 -o near.csv

The output is CSV with one line per neighbor: query (row of FILE, counted from 1), rank (1 is the nearest), row (of the
training data, counted from 1), distance, and the target of that row.";

/// Find the training rows near each row of a table
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Model file of nearest-neighbors
    model: PathBuf,
    /// Table with the query rows
    file: PathBuf,
    /// Number of neighbors [default: that of the model]
    #[arg(long, short, value_name = "K", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "radius")]
    k: Option<u32>,
    /// Find all neighbors within this distance
    #[arg(long, value_name = "DISTANCE", allow_negative_numbers = true)]
    radius: Option<f64>,
    /// Output file, .csv or .csv.gz [default: stdout]
    #[arg(long, short, value_name = "FILE.csv")]
    output: Option<PathBuf>,
    /// Number of threads [default: all cores]; the result doesn't depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Print only results and errors
    #[arg(long, short)]
    quiet: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let out = OutputArgs { threads: args.threads, json: false, quiet: args.quiet };
    let output = args.output.as_deref().filter(|path| *path != Path::new("-"));
    if let Some(path) = output {
        check_output(path, &[&args.model, &args.file])?;
        check_format(path)?;
    }
    let model = ermine::load(&args.model)?;
    let neighbors = NeighborModel::of(&model)?;
    let progress = Progress::new(args.quiet);
    let table = read(&args.file, &model.schema().read_options(), out.threads(), &progress)?;
    let features = model.schema().features_of(&table)?;
    let search = || match (args.radius, args.k) {
        (None, Some(k)) => neighbors.kneighbors(&features, k as usize),
        (radius, _) => match radius.or(neighbors.radius()) {
            Some(radius) => neighbors.radius_neighbors(&features, radius),
            None => neighbors.kneighbors(&features, neighbors.k()),
        },
    };
    let found = progress.stage("searching", out.threads(), search).map_err(Failure::work)?;
    let result = Table::new(columns(&found, neighbors, model.schema()))?;
    drop(progress);
    match output {
        None => result.write_csv_to(std::io::stdout().lock()).map_err(stdout_failure),
        Some(path) => {
            writing(|| Ok(result.write_csv(path)?))?;
            let name = bold(&clean(&path.display().to_string()));
            let message = format!(
                "{} {} of {} to {name}\n",
                green("wrote"),
                counted(result.n_rows(), "neighbor"),
                counted(found.len(), "row")
            );
            if args.quiet { Ok(()) } else { print(&message) }
        }
    }
}

/// One line per neighbor.
fn columns(found: &Neighbors, model: &NeighborModel, schema: &Schema) -> Vec<Column> {
    let lengths = || (0..found.len()).map(|i| found.rows(i).len());
    let number = |name: &str, values: Vec<f64>| Column::numeric(name, values);
    let queries = lengths().enumerate().flat_map(|(i, n)| std::iter::repeat_n((i + 1) as f64, n)).collect();
    let ranks = lengths().flat_map(|n| (1..=n).map(|rank| rank as f64)).collect();
    let rows = found.all_rows().iter().map(|&row| f64::from(model.training_row(row)) + 1.0).collect();
    let mut columns = vec![
        number("query", queries),
        number("rank", ranks),
        number("row", rows),
        number("distance", found.all_distances().to_vec()),
    ];
    if schema.classes.is_empty() {
        let outputs = schema.target.iter().enumerate().map(|(k, name)| {
            let value = |&row: &u32| model.values_of(row).map_or(f64::NAN, |values| values[k]);
            number(name, found.all_rows().iter().map(value).collect())
        });
        columns.extend(outputs);
    } else {
        let codes: Vec<u32> = found.all_rows().iter().filter_map(|&row| model.class_of(row)).collect();
        let levels = Arc::new(Levels::new(schema.classes.iter().cloned()));
        columns.push(Column::coded(schema.target.join("_"), ColumnKind::Nominal, codes, levels));
    }
    columns
}
