//! `ermine split`: divides the rows of a table into a training set and a test set.

use crate::args::{ColumnArgs, OutputArgs, ReadArgs};
use crate::clean::clean;
use crate::data::read;
use crate::failure::Failure;
use crate::files::check_output;
use crate::interrupt::writing;
use crate::progress::Progress;
use crate::terminal::{bold, counted, green, print, print_json};
use ermine_core::matrix::{Dataset, Roles, Splits, Task};
use ermine_core::table::{Column, ColumnType, ReadOptions, Table};
use serde_json::json;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  ermine split adult.csv --test 0.2
  ermine split adult.csv --test 0.2 --stratify income --seed 7
  ermine split visits.csv --test 0.25 --group patient --train-output a.csv --test-output b.csv

Writes adult-train.csv and adult-test.csv beside adult.csv unless other names are given. Rows keep their order, and cells of
text files are copied as they are written.";

/// Split a table into a training set and a test set
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Table
    file: PathBuf,
    /// Fraction of the rows in the test set
    #[arg(long, value_name = "FRACTION", default_value_t = 0.2)]
    test: f64,
    /// Stratify by this column: both sets get the same class proportions
    #[arg(long, value_name = "COLUMN")]
    stratify: Option<String>,
    /// Keep the rows of each group of this column together
    #[arg(long, value_name = "COLUMN")]
    group: Option<String>,
    /// Output file of the training set [default: NAME-train.csv]
    #[arg(long, value_name = "FILE.csv")]
    train_output: Option<PathBuf>,
    /// Output file of the test set [default: NAME-test.csv]
    #[arg(long, value_name = "FILE.csv")]
    test_output: Option<PathBuf>,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    reading: ReadArgs,
    #[command(flatten)]
    out: OutputArgs,
}

/// The target of a data set that exists only to be split.
const NOTHING: &str = "\u{0}nothing";

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let outputs = [
        args.train_output.clone().unwrap_or_else(|| sibling_path(&args.file, "train")),
        args.test_output.clone().unwrap_or_else(|| sibling_path(&args.file, "test")),
    ];
    for output in &outputs {
        check_output(output, &[&args.file])?;
    }
    if outputs[0] == outputs[1] {
        return Err(Failure::Usage("--train-output and --test-output are the same file".into()));
    }
    let progress = Progress::new(!args.out.is_verbose());
    let options = args.reading.apply(ReadOptions::default());
    let table = read(&args.file, &options, args.out.threads(), &progress)?;
    let splits = splits(args, table.clone())?;
    let (train, test) = splits.split(0);
    let written = as_written(args, &table, options, &progress)?;
    drop(progress);
    for (output, rows) in outputs.iter().zip([&train, &test]) {
        let part = written.select(rows);
        writing(|| Ok(part.write_csv(output)?))?;
    }
    if args.out.json {
        return print_json(&json!({
            "train": { "file": outputs[0], "n_rows": train.len() },
            "test": { "file": outputs[1], "n_rows": test.len() },
        }));
    }
    let line = |output: &Path, n: usize| {
        format!("{} {} to {}\n", green("wrote"), counted(n, "row"), bold(&clean(&output.display().to_string())))
    };
    let text = line(&outputs[0], train.len()) + &line(&outputs[1], test.len());
    if args.out.quiet { Ok(()) } else { print(&text) }
}

/// `data/adult.csv.gz` and `train` give `data/adult-train.csv`.
fn sibling_path(file: &Path, part: &str) -> PathBuf {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    file.with_file_name(format!("{stem}-{part}.csv"))
}

fn splits(args: &Args, table: Table) -> Result<Splits, Failure> {
    let n = table.n_rows();
    let columns = ColumnArgs { group: args.group.clone(), ..Default::default() };
    let (target, task) = match &args.stratify {
        Some(column) => (column.clone(), Task::Classification),
        None => (NOTHING.to_string(), Task::Regression),
    };
    let roles = Roles { target: vec![target], group: columns.group, task: Some(task), ..Default::default() };
    let columns = table.into_columns().into_iter().chain([Column::numeric(NOTHING, vec![0.0; n])]);
    let data = Dataset::new(Table::new(columns.collect())?, &roles)?;
    Ok(Splits::holdout(&data, args.test, args.seed)?)
}

/// The table with its cells verbatim: 007 stays 007, and NA stays NA.
fn as_written(args: &Args, table: &Table, mut options: ReadOptions, progress: &Progress) -> Result<Table, Failure> {
    let name = args.file.to_string_lossy().to_lowercase();
    let is_text = [".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz"].iter().any(|ending| name.ends_with(ending));
    if !is_text {
        return Ok(table.clone());
    }
    options.missing = vec![String::new()];
    options.types = table.names().into_iter().map(|name| (name.to_string(), ColumnType::Nominal)).collect();
    Ok(read(&args.file, &options, args.out.threads(), progress)?)
}
