//! `ermine predict`: what a model says about the rows of a table.

use crate::args::Manner;
use crate::clean::clean;
use crate::data::read;
use crate::failure::Failure;
use crate::files::check_output;
use crate::interrupt::writing;
use crate::progress::Progress;
use crate::terminal::{bold, count, green, print, stdout_failure};
use ermine::Error;
use ermine_core::matrix::{Schema, Task};
use ermine_core::model::{Model, Output, Prediction};
use ermine_core::table::{Column, ColumnKind, ColumnType, Levels, Table};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  ermine predict species.ermine new.csv -o predictions.csv
  ermine predict species.ermine new.csv --proba --id name | head

The output is CSV with a line for each row of FILE, in its order: the columns asked for with --id, then predicted_<target>, then
with --proba probability_<class> for each class or label, with --quantiles (or of a model trained for several) quantile_<level> for each level, with --log-density log_density. FILE needs the columns that the model was trained on, in any order; others
are passed over. A category that training didn't have counts as missing.";

/// Predict for each row of a table
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The model
    model: PathBuf,
    /// The table to predict for
    file: PathBuf,
    /// Where to write the predictions, .csv or .csv.gz; stdout if not given
    #[arg(long, short, value_name = "FILE.csv")]
    output: Option<PathBuf>,
    /// The probability of each class too
    #[arg(long)]
    proba: bool,
    /// Quantiles of the target too, of a forest that was trained with --quantiles true: levels from 0 to 1, separated by commas. Gradient boosting that was trained for
    /// several quantiles gives all of them, or those that are named here
    #[arg(long, value_name = "LEVELS", value_delimiter = ',', value_parser = level)]
    quantiles: Vec<f64>,
    /// The logarithm of the density of each row too, of a model of densities (density-tree): how likely such a row is at all
    #[arg(long)]
    log_density: bool,
    /// Columns of the table to keep beside the prediction; repeat for several
    #[arg(long, value_name = "COLUMN")]
    id: Vec<String>,
    /// Threads to use, all cores if not given; the result is the same
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Say nothing but results and errors
    #[arg(long, short)]
    quiet: bool,
}

/// Predicts.
pub fn run(args: &Args) -> Result<(), Failure> {
    let manner = Manner { threads: args.threads, json: false, quiet: args.quiet };
    let output = args.output.as_deref().filter(|path| *path != Path::new("-"));
    if let Some(path) = output {
        check_output(path, &[&args.model, &args.file])?;
        check_format(path)?;
    }
    let model = ermine::load(&args.model)?;
    let progress = Progress::new(args.quiet);
    let mut options = model.schema().read_options();
    // Ids are kept as they are written: 007 is not 7.
    for name in args.id.iter().filter(|name| model.schema().features.iter().all(|f| f.name != **name)) {
        options.types.insert(name.clone(), ColumnType::Nominal);
    }
    let table = read(&args.file, &options, manner.threads(), &progress).map_err(|e| blame(e, args))?;
    let kept: Vec<Column> = args.id.iter().map(|name| table.column(name).cloned()).collect::<ermine::Result<_>>()?;
    let prediction = progress.stage("predicting", manner.threads(), || model.predict(&table)).map_err(Failure::work)?;
    let quantiles = quantiles(&model, &table, &args.quantiles)?;
    let density = log_density(&model, &table, args.log_density)?;
    let result = Table::new([kept, columns(&prediction, model.schema(), args.proba)?, quantiles, density].concat())?;
    drop(progress);
    match output {
        None => result.write_csv_to(std::io::stdout().lock()).map_err(stdout_failure),
        Some(path) => {
            writing(|| Ok(result.write_csv(path)?))?;
            let name = bold(&clean(&path.display().to_string()));
            let said = format!("{} {} rows to {name}\n", green("predicted"), count(result.n_rows()));
            if args.quiet { Ok(()) } else { print(&said) }
        }
    }
}

/// A column that the model needs and the file doesn't have is the file's fault; one that --id names is the user's.
fn blame(error: Error, args: &Args) -> Failure {
    match &error {
        Error::Unknown { what: "column", name, .. } if !args.id.contains(name) => {
            Failure::Work(format!("{}: {error}", args.file.display()))
        }
        _ => error.into(),
    }
}

/// Refuses a format that tables aren't written in.
pub fn check_format(path: &Path) -> Result<(), Failure> {
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    let foreign = ["parquet", "pq", "arrow", "ipc", "feather", "tsv", "json", "libsvm", "ermine"];
    if foreign.contains(&ending.as_str()) {
        let place = path.display();
        return Err(Failure::Usage(format!("{place}: results are written as .csv or .csv.gz, not as .{ending}")));
    }
    Ok(())
}

/// Reads the level of a quantile.
fn level(word: &str) -> Result<f64, String> {
    let level = word.trim().parse().ok().filter(|level| (0.0..=1.0).contains(level));
    level.ok_or_else(|| {
        "a level is a number from 0 to 1, and several are separated by commas, such as 0.1,0.5,0.9".into()
    })
}

/// The columns that hold quantiles, one for each level: those asked for, or all of a model that was trained for several.
fn quantiles(model: &Model, table: &Table, asked: &[f64]) -> Result<Vec<Column>, Failure> {
    let levels = match (asked, model.quantile_levels()) {
        ([], [] | [_]) => return Ok(Vec::new()),
        ([], all) => all,
        (asked, _) => asked,
    };
    let values = model.quantiles(&model.schema().features_of(table)?, levels)?;
    let column = |(k, level): (usize, &f64)| {
        Column::numeric(
            format!("quantile_{level}"),
            values.iter().skip(k).step_by(levels.len()).copied().collect::<Vec<f64>>(),
        )
    };
    Ok(levels.iter().enumerate().map(column).collect())
}

/// The column that holds the logarithm of the density, where it is wanted.
fn log_density(model: &Model, table: &Table, wanted: bool) -> Result<Vec<Column>, Failure> {
    if !wanted {
        return Ok(Vec::new());
    }
    Ok(vec![Column::numeric("log_density", model.log_density(&model.schema().features_of(table)?)?)])
}

/// The columns that hold the predictions.
fn columns(prediction: &Prediction, schema: &Schema, proba: bool) -> Result<Vec<Column>, Failure> {
    let n = prediction.n_rows();
    let number = |k: usize| (0..n).map(|row| prediction.row(row)[k]).collect::<Vec<f64>>();
    if proba && prediction.output() != Output::Probabilities {
        let numbers = matches!(schema.task, Task::Regression | Task::Ranking);
        let why = if numbers { "predicts numbers" } else { "gives no probabilities" };
        return Err(Failure::Usage(format!("--proba: this model {why}")));
    }
    if schema.task == Task::Multilabel {
        return Ok(labels(prediction, schema, proba));
    }
    if schema.task != Task::Classification {
        let names = schema.target.iter().map(|target| format!("predicted_{target}"));
        return Ok(names.enumerate().map(|(k, name)| Column::numeric(name, number(k))).collect());
    }
    let codes: Vec<u32> = (0..n).map(|row| prediction.class(row) as u32).collect();
    let levels = Arc::new(Levels::new(schema.classes.iter().cloned()));
    let name = format!("predicted_{}", schema.target.join("_"));
    let mut columns = vec![Column::coded(name, ColumnKind::Nominal, codes, levels)];
    if proba {
        let names = schema.classes.iter().map(|class| format!("probability_{class}"));
        columns.extend(names.enumerate().map(|(k, name)| Column::numeric(name, number(k))));
    }
    Ok(columns)
}

/// The columns that hold predicted labels: as the training data had them, a column of 0 and 1 for each or one that lists them.
fn labels(prediction: &Prediction, schema: &Schema, proba: bool) -> Vec<Column> {
    let n = prediction.n_rows();
    let mut columns: Vec<Column> = if schema.target == schema.classes {
        let mark = |k: usize| (0..n).map(|row| f64::from(u8::from(prediction.has(row, k)))).collect::<Vec<f64>>();
        let names = schema.classes.iter().map(|label| format!("predicted_{label}"));
        names.enumerate().map(|(k, name)| Column::numeric(name, mark(k))).collect()
    } else {
        let list =
            |row: usize| Some(prediction.labels(row).unwrap_or_default().join(";")).filter(|list| !list.is_empty());
        let lists: Vec<Option<String>> = (0..n).map(list).collect();
        vec![Column::nominal(format!("predicted_{}", schema.target.join("_")), &lists)]
    };
    if proba {
        let number = |k: usize| (0..n).map(|row| prediction.row(row)[k]).collect::<Vec<f64>>();
        let names = schema.classes.iter().map(|label| format!("probability_{label}"));
        columns.extend(names.enumerate().map(|(k, name)| Column::numeric(name, number(k))));
    }
    columns
}
