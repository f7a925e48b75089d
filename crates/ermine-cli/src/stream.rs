//! `ermine train --stream`: training in batches, from a file that need not fit in memory, or from a pipe.

use crate::args::DataArgs;
use crate::clean::clean;
use crate::data::{check_roles, read_options, roles, targets};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::terminal::print_message;
use ermine::registry::learners;
use ermine_core::error::Error;
use ermine_core::learner::{Context, IncrementalLearner, Learner};
use ermine_core::matrix::{Dataset, Roles, Schema, Task};
use ermine_core::model::Model;
use ermine_core::table::{ColumnType, ReadNote, TableBatches};
use serde::Serialize;

/// Options of training in batches.
#[derive(clap::Args)]
pub struct StreamArgs {
    /// Train in batches of this many rows, each read once: for CSV files that don't fit in memory, and for pipes (sgd and perceptron)
    #[arg(long, value_name = "ROWS", num_args = 0..=1, default_missing_value = "1000", conflicts_with = "init_model")]
    pub stream: Option<usize>,
    /// All classes of the target, separated by commas [default: those of the first batch]
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',', requires = "stream")]
    pub classes: Vec<String>,
}

/// Number of rows and batches read.
#[derive(Debug, Serialize)]
pub struct StreamSummary {
    pub n_rows: usize,
    pub n_batches: usize,
    /// Notes of the reader.
    reading: Vec<ReadNote>,
}

/// Trains a learner in batches.
pub fn train(
    args: &DataArgs,
    (stream, rows): (&StreamArgs, usize),
    learner: &dyn Learner,
    context: &Context<'_>,
    progress: &Progress,
) -> Result<(Model, StreamSummary), Failure> {
    check_roles(args, &[])?;
    let incremental = learner.incremental().ok_or_else(|| no_batches(learner))?;
    if rows == 0 {
        return Err(Failure::Usage("--stream must be at least 1 row (got 0)".into()));
    }
    let mut batches = TableBatches::open(&args.file, &read_options(args), rows)?;
    let Some((table, mut reading)) = batches.next_batch()? else {
        return Err(Failure::Work(format!("{}: the table has no rows", args.file.display())));
    };
    let mut roles = roles(targets(args, &table)?, args.task, &args.columns);
    let mut first = Dataset::new(table, &roles)?;
    if !stream.classes.is_empty() {
        first = first.with_classes(&stream.classes)?;
    }
    if let Ok((_, [only])) = first.classes().map(|(codes, labels)| (codes, &**labels)) {
        return Err(Failure::Work(format!(
            "{}: the first batch has only the class '{only}'; list all classes with --classes, or use larger batches (--stream ROWS)",
            args.file.display()
        )));
    }
    let declared = read_options(args).types;
    let work = || {
        let mut model = incremental.fit_batch(&first, None, context)?;
        let mut n_batches = 1;
        roles.task = Some(first.task());
        let types = types(model.schema(), &roles);
        batches.declare(types.into_iter().filter(|(name, _)| !declared.contains_key(name)));
        while let Some((table, notes)) = batches.next_batch()? {
            reading.extend(notes);
            model = next(incremental, Dataset::new(table, &roles)?, &model, context)?;
            n_batches += 1;
        }
        Ok((model, n_batches))
    };
    let what = format!("training {} in batches", learner.info().name);
    let (model, n_batches) = progress.stage(&what, context.threads, work).map_err(|error| hint(error, args))?;
    let file = args.file.display();
    reading.iter().for_each(|note| print_message(format!("warning: {file}: {}", clean(&note.to_string()))));
    let summary = StreamSummary { n_rows: model.header().n_rows, n_batches, reading };
    Ok((model, summary))
}

fn next(
    incremental: &dyn IncrementalLearner,
    data: Dataset,
    previous: &Model,
    context: &Context<'_>,
) -> ermine::Result<Model> {
    let classes = &previous.schema().classes;
    let data = if classes.is_empty() { data } else { data.with_classes(classes)? };
    incremental.fit_batch(&data, Some(previous), context)
}

/// The types of the columns in the first batch.
fn types(schema: &Schema, roles: &Roles) -> Vec<(String, ColumnType)> {
    let number = (schema.task == Task::Regression).then_some(ColumnType::Numeric);
    let target = schema.target_type().or(number);
    let targets = roles.target.iter().filter_map(|name| Some((name.clone(), target.clone()?)));
    let weight = roles.weight.iter().map(|name| (name.clone(), ColumnType::Numeric));
    schema.read_options().types.into_iter().chain(targets).chain(weight).collect()
}

fn no_batches(learner: &dyn Learner) -> Failure {
    let able = learners().filter(|entry| (entry.make)().incremental().is_some());
    let names: Vec<&str> = able.map(|entry| entry.info().name).collect();
    Failure::Usage(format!(
        "{} does not support --stream; learners that train in batches: {}",
        learner.info().name,
        names.join(", ")
    ))
}

/// Classes that come later than the first batch can be named.
fn hint(error: Error, args: &DataArgs) -> Failure {
    match error {
        Error::Unknown { what: "class", .. } => Failure::Work(format!(
            "{}: {error}\n  the first batch doesn't contain this class; list all classes with --classes, or use larger batches (--stream ROWS)",
            args.file.display()
        )),
        other => other.into(),
    }
}
