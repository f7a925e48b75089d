//! `ermine report`: all that can be said about a model on rows it has not seen, as a page, as text or as JSON.

use crate::args::{ColumnArgs, Manner};
use crate::clean::clean;
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

The page stands alone: it loads nothing and can be sent by mail or printed.";

/// Judge a model on rows it has not seen: scores, curves, importances, worst rows
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The model
    model: PathBuf,
    /// A table with the truth: features and target
    file: PathBuf,
    /// Where to write the page; without it the report is written to stdout as text
    #[arg(long, short, value_name = "FILE.html")]
    output: Option<PathBuf>,
    /// The table that the model learned from: shares of it are learned from anew, for a learning curve
    #[arg(long, value_name = "FILE")]
    train: Option<PathBuf>,
    /// Every random choice follows from this
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,
    #[command(flatten)]
    columns: ColumnArgs,
    #[command(flatten)]
    manner: Manner,
}

/// Reports.
pub fn run(args: &Args) -> Result<(), Failure> {
    if let Some(output) = &args.output {
        let inputs: Vec<_> = [&*args.model, &*args.file].into_iter().chain(args.train.as_deref()).collect();
        check_output(output, &inputs)?;
    }
    let model = ermine::load(&args.model)?;
    let progress = Progress::new(!args.manner.chatty());
    let data = load(&args.file, &args.columns, &args.manner, &model, &progress)?;
    let mut report = progress
        .stage("reporting", args.manner.threads(), || Report::new(&model, &data, args.seed, &progress))
        .map_err(Failure::work)?;
    if let Some(train) = &args.train {
        let train = load(train, &args.columns, &args.manner, &model, &progress)?;
        let (seed, threads) = (model.header().seed, args.manner.threads());
        let context = Context { seed, threads, observer: &progress, ..ermine::context() };
        report = progress.stage("learning from shares of the rows", None, || {
            report.with_learning_curve(&model, &train, &data, &context)
        })?;
    }
    drop(progress);
    if let Some(output) = &args.output {
        let page = report.html();
        write(output, page.as_bytes())?;
        if !args.manner.json {
            let name = bold(&clean(&output.display().to_string()));
            let said = format!("{} {name} {}\n", green("saved"), dim(&format!("({})", bytes(page.len()))));
            return if args.manner.quiet { Ok(()) } else { print(&said) };
        }
    }
    if args.manner.json { print_json(&report) } else { print(&fitted(&clean(&report.to_string()))) }
}
