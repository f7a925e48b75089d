//! `ermine predict`: the predictions of a model for the rows of a table.

use crate::args::{OutputArgs, ReadArgs, table_file};
use crate::clean::clean;
use crate::data::read;
use crate::failure::Failure;
use crate::files::{check_output, write};
use crate::interrupt::writing;
use crate::progress::Progress;
use crate::terminal::{bold, counted, green, print, print_json, print_message, stdout_failure};
use crate::threshold::second_probabilities;
use ermine::Error;
use ermine_core::matrix::{Schema, TableDifferences, Task};
use ermine_core::model::{Model, Output, Prediction};
use ermine_core::table::{Column, ColumnKind, ColumnType, Levels, Table};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  ermine predict species.ermine new.csv -o predictions.csv
  ermine predict species.ermine new.csv --proba --id name | head

The output is CSV with a line for each row of FILE, in its order: the --id columns, predicted_<target>, with --proba
probability_<class> for each class or label, with --quantiles (or for a model of several quantiles) quantile_<level>,
with --log-density log_density. FILE needs the features of the model, in any order; other columns are ignored.
Categories that the training data didn't have count as missing. What differs from the training data is reported.";

/// Predict the target of new rows
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Model file
    model: PathBuf,
    /// Table with the features; - for CSV from standard input
    #[arg(value_parser = table_file)]
    file: PathBuf,
    #[command(flatten)]
    reading: ReadArgs,
    /// Output file: .csv, .csv.gz or .jsonl [default: CSV to stdout]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Also write the probability of each class
    #[arg(long)]
    proba: bool,
    /// Decision threshold: predict the second of two classes if its probability is at least this [default: 0.5]
    #[arg(long, value_name = "PROBABILITY", value_parser = threshold)]
    threshold: Option<f64>,
    /// Also write SHAP values, a column for each feature (and class)
    #[arg(long)]
    shap: bool,
    /// Also write quantiles of the target at these levels, separated by commas (forests trained with --quantiles true; gradient boosting for quantiles)
    #[arg(long, value_name = "LEVELS", value_delimiter = ',', value_parser = level)]
    quantiles: Vec<f64>,
    /// Also write the log density of each row (density-tree)
    #[arg(long)]
    log_density: bool,
    /// Columns to copy to the output, separated by commas
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    id: Vec<String>,
    /// Print the predictions, and differences from the training data, as JSON
    #[arg(long, conflicts_with = "output")]
    json: bool,
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
    let progress = Progress::new(args.quiet);
    let mut options = args.reading.apply(model.schema().read_options());
    // Identifiers are copied verbatim: 007 is not 7.
    for name in args.id.iter().filter(|name| model.schema().features.iter().all(|f| f.name != **name)) {
        options.types.insert(name.clone(), ColumnType::Nominal);
    }
    let table = read(&args.file, &options, out.threads(), &progress).map_err(|e| locate(e, args))?;
    let kept: Vec<Column> = args.id.iter().map(|name| table.column(name).cloned()).collect::<ermine::Result<_>>()?;
    let prediction = progress.stage("predicting", out.threads(), || model.predict(&table)).map_err(Failure::work)?;
    let differences = TableDifferences::new(model.schema(), &table);
    let quantiles = quantiles(&model, &table, &args.quantiles)?;
    let density = log_density(&model, &table, args.log_density)?;
    let shap = if args.shap { shap(&model, &table)? } else { Vec::new() };
    let predicted = columns(&prediction, model.schema(), args.proba, args.threshold)?;
    let result = Table::new([kept, predicted, quantiles, density, shap].concat())?;
    drop(progress);
    if args.json {
        return print_json(&json!({ "predictions": rows(&result), "differences": differences }));
    }
    if !args.quiet {
        let file = args.file.display();
        differences.warnings().iter().for_each(|line| print_message(format!("warning: {file}: {}", clean(line))));
    }
    match output {
        None => result.write_csv_to(std::io::stdout().lock()).map_err(stdout_failure),
        Some(path) => {
            match path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("jsonl")) {
                true => write(path, &json_lines(&result))?,
                false => writing(|| Ok(result.write_csv(path)?))?,
            }
            let name = bold(&clean(&path.display().to_string()));
            let message = format!("{} {} to {name}\n", green("predicted"), counted(result.n_rows(), "row"));
            if args.quiet { Ok(()) } else { print(&message) }
        }
    }
}

/// A missing feature is an error of the file; a missing --id column is one of the command line.
fn locate(error: Error, args: &Args) -> Failure {
    match &error {
        Error::Unknown { what: "column", name, .. } if !args.id.contains(name) => {
            Failure::Work(format!("{}: {error}", args.file.display()))
        }
        _ => error.into(),
    }
}

/// The rows of a table as JSON objects.
fn rows(table: &Table) -> Vec<serde_json::Map<String, serde_json::Value>> {
    let cell = |column: &Column, row: usize| match column.levels() {
        Some(_) => Some(column.text(row)).filter(|text| !text.is_empty()).into(),
        None => column.number(row).into(),
    };
    let object = |row: usize| table.columns().iter().map(|c| (c.name.clone(), cell(c, row))).collect();
    (0..table.n_rows()).map(object).collect()
}

/// The rows of a table as lines of JSON.
fn json_lines(table: &Table) -> Vec<u8> {
    rows(table).into_iter().flat_map(|row| (serde_json::Value::Object(row).to_string() + "\n").into_bytes()).collect()
}

/// An error for output formats that can't be written.
pub fn check_format(path: &Path) -> Result<(), Failure> {
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    let foreign = ["parquet", "pq", "arrow", "ipc", "feather", "tsv", "json", "libsvm", "ermine"];
    if foreign.contains(&ending.as_str()) {
        let place = path.display();
        return Err(Failure::Usage(format!(
            "{place}: predictions are written as .csv, .csv.gz or .jsonl, not as .{ending}"
        )));
    }
    Ok(())
}

/// Parses the level of a quantile.
fn level(text: &str) -> Result<f64, String> {
    let level = text.trim().parse().ok().filter(|level| (0.0..=1.0).contains(level));
    level.ok_or_else(|| "expected numbers from 0 to 1, separated by commas, for example 0.1,0.5,0.9".into())
}

/// Parses a decision threshold. A value slightly above 1 is allowed: it means "never".
fn threshold(text: &str) -> Result<f64, String> {
    let threshold = text.trim().parse().ok().filter(|threshold| (0.0..1.001).contains(threshold));
    threshold.ok_or_else(|| "expected a probability from 0 to 1".into())
}

/// The columns with SHAP values: `shap_<feature>`, and with several outputs `shap_<feature>_<output>`.
fn shap(model: &Model, table: &Table) -> Result<Vec<Column>, Failure> {
    let (values, schema) = (model.shap_values(table)?, model.schema());
    let outputs = if values.n_outputs == schema.classes.len() { &schema.classes } else { &schema.target };
    let name = |column: usize, output: usize| match (values.n_outputs, outputs.get(output)) {
        (1, _) => format!("shap_{}", schema.features[column].name),
        (_, Some(of)) => format!("shap_{}_{of}", schema.features[column].name),
        (_, None) => format!("shap_{}_{output}", schema.features[column].name),
    };
    let numbers = |column: usize, output: usize| {
        (0..values.n_rows).map(|row| values.get(row, column)[output]).collect::<Vec<f64>>()
    };
    let places = (0..values.n_columns).flat_map(|column| (0..values.n_outputs).map(move |output| (column, output)));
    Ok(places.map(|(column, output)| Column::numeric(name(column, output), numbers(column, output))).collect())
}

/// The columns with quantiles: those requested, or all of a model of several quantiles.
fn quantiles(model: &Model, table: &Table, requested: &[f64]) -> Result<Vec<Column>, Failure> {
    let levels = match (requested, model.quantile_levels()) {
        ([], [] | [_]) => return Ok(Vec::new()),
        ([], all) => all,
        (requested, _) => requested,
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

/// The column with the log density, if requested.
fn log_density(model: &Model, table: &Table, wanted: bool) -> Result<Vec<Column>, Failure> {
    if !wanted {
        return Ok(Vec::new());
    }
    Ok(vec![Column::numeric("log_density", model.log_density(&model.schema().features_of(table)?)?)])
}

/// The columns with the predictions.
fn columns(
    prediction: &Prediction,
    schema: &Schema,
    proba: bool,
    threshold: Option<f64>,
) -> Result<Vec<Column>, Failure> {
    if proba && prediction.output() != Output::Probabilities {
        let numbers = matches!(schema.task, Task::Regression | Task::Ranking);
        let why = if numbers { "predicts numbers" } else { "does not predict probabilities" };
        return Err(Failure::Usage(format!("--proba: this model {why}")));
    }
    let mut columns = prediction.columns(schema, proba);
    if let Some(threshold) = threshold {
        let second = second_probabilities(prediction, "--threshold")?;
        let codes: Vec<u32> = second.iter().map(|probability| u32::from(*probability >= threshold)).collect();
        let levels = Arc::new(Levels::new(schema.classes.iter().cloned()));
        columns[0] = Column::coded(columns[0].name.clone(), ColumnKind::Nominal, codes, levels);
    }
    Ok(columns)
}
