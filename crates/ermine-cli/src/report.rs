//! `ermine report`: a full evaluation of a model on a test set, as a page, as text or as JSON.

use crate::args::{ColumnArgs, OutputArgs, table_file};
use crate::clean::clean;
use crate::data::warn_of_shared_rows;
use crate::evaluate::load;
use crate::failure::Failure;
use crate::files::{check_output, write};
use crate::progress::Progress;
use crate::terminal::{bold, bytes, dim, fitted, green, print, print_json};
use ermine_core::learner::Context;
use ermine_eval::report::Report;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  ermine report species.ermine test.csv -o report.html
  ermine report species.ermine test.csv                  the same as text
  ermine report species.ermine test.csv --train train.csv -o report.html     with a learning curve
  ermine report species.ermine test.csv --json

The page is self-contained: it loads nothing and can be sent by mail or printed.";

/// Report on a model and a test set: scores, curves, importances, worst rows
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Model file
    model: PathBuf,
    /// Test set: a table with the features and the target; - for CSV from standard input
    #[arg(value_parser = table_file)]
    file: PathBuf,
    /// Output file [default: text to stdout]
    #[arg(long, short, value_name = "FILE.html")]
    output: Option<PathBuf>,
    /// Training set, for a learning curve: the learner is trained again on fractions of it
    #[arg(long, value_name = "FILE")]
    train: Option<PathBuf>,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,
    #[command(flatten)]
    columns: ColumnArgs,
    #[command(flatten)]
    out: OutputArgs,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    if let Some(output) = &args.output {
        let inputs: Vec<_> = [&*args.model, &*args.file].into_iter().chain(args.train.as_deref()).collect();
        check_output(output, &inputs)?;
    }
    let model = ermine::load(&args.model)?;
    let progress = Progress::new(!args.out.is_verbose());
    let data = load(&args.file, &args.columns, &args.out, &model, &progress)?;
    let mut report = progress
        .stage("writing the report", args.out.threads(), || Report::new(&model, &data, args.seed, &progress))
        .map_err(Failure::work)?;
    if let Some(train) = &args.train {
        let train = load(train, &args.columns, &args.out, &model, &progress)?;
        warn_of_shared_rows(&args.file, &train, &data);
        let (seed, threads) = (model.header().seed, args.out.threads());
        let context = Context { seed, threads, observer: &progress, ..ermine::context() };
        report = progress.stage("computing the learning curve", None, || {
            report.with_learning_curve(&model, &train, &data, &context)
        })?;
    }
    drop(progress);
    if let Some(output) = &args.output {
        let page = report.html();
        write(output, page.as_bytes())?;
        if !args.out.json {
            let name = bold(&clean(&output.display().to_string()));
            let message = format!("{} {name} {}\n", green("saved"), dim(&format!("({})", bytes(page.len()))));
            return if args.out.quiet { Ok(()) } else { print(&message) };
        }
    }
    if args.out.json { print_json(&report) } else { print(&fitted(&clean(&report.to_string()))) }
}
