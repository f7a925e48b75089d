//! `ermine train`: trains a model on a table and saves it.

use crate::args::{DataArgs, OutputArgs};
use crate::boosting::BoostingArgs;
use crate::clean::clean;
use crate::data::load_for;
use crate::failure::Failure;
use crate::files::{check_output, write};
use crate::flags;
use crate::progress::Progress;
use crate::stream::{self, StreamArgs};
use crate::terminal::{bold, bytes, counted, dim, green, print, print_json, time};
use ermine::registry;
use ermine_core::learner::fit::check;
use ermine_core::learner::{Context, Learner};
use ermine_core::model::Model;
use ermine_core::model::certificate::CertificateLine;
use ermine_core::param::Value;
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;

const EXAMPLES: &str = "\
Examples:
  ermine train penguins.csv --target species -o species.ermine
  ermine train penguins.csv --target species --learner decision-stump --criterion gini -o species.ermine
  ermine train adult.csv --target income --type education-num=nominal --id name --seed 7 -o income.ermine
  ermine train penguins.csv --target species --learner random-forest --n-estimators 200 --init-model half.ermine -o whole.ermine
  ermine train adult.csv --target income --learner gradient-boosting --validation test.csv --eval-metric roc-auc --early-stopping-rounds 20 -o income.ermine
  ermine train adult.csv --target income --learner gradient-boosting --n-estimators 5000 --checkpoint so-far.ermine -o income.ermine
  ermine train adult.csv --target income --learner gradient-boosting --n-estimators 500 --init-model income.ermine -o more.ermine
  ermine train yeast.csv --target Class1,Class2,Class3 --learner classifier-chain -o yeast.ermine
  ermine train posts.csv --target tags --task multilabel --learner label-powerset -o tags.ermine
  ermine train normal.csv --learner one-class-svm --nu 0.05 -o odd.ermine
  ermine train clicks.csv.gz --target click --learner sgd --stream 10000 -o click.ermine
  ermine train rank.letor --group qid --task rank --learner rank-svm -o rank.ermine
  ermine train --learner decision-stump --help        the parameters of a learner
  ermine learners                                     all learners";

/// Train a model and save it
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    pub data: DataArgs,
    /// Output file
    #[arg(long, short, value_name = "FILE.ermine")]
    output: PathBuf,
    /// Learner; see `ermine learners`
    #[arg(long, value_name = "NAME", default_value = registry::DEFAULT)]
    learner: String,
    /// Set a parameter of the learner, as an alternative to its own flag
    #[arg(long, value_name = "NAME=VALUE", value_parser = flags::assignment)]
    set: Vec<(String, Value)>,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,
    #[command(flatten)]
    stream: StreamArgs,
    #[command(flatten)]
    boosting: BoostingArgs,
    #[command(flatten)]
    out: OutputArgs,
}

/// Trains; `given` are the parameters set by their own flags.
pub fn run(args: &Args, given: Vec<(String, Value)>) -> Result<(), Failure> {
    let mut learner = registry::learner(&args.learner)?;
    let given = [given, args.set.clone()].concat();
    flags::set(&mut *learner, &given)?;
    check_output(&args.output, &[&args.data.file])?;
    args.boosting.check(&*learner, &args.output, &args.data)?;
    if let Some(rows) = args.stream.stream {
        return run_in_batches(args, rows, &*learner);
    }
    let progress = Progress::new(!args.out.is_verbose());
    let (data, summary) =
        load_for(&args.data, Some(&*learner), &args.boosting.init_score, args.out.threads(), &progress)?;
    flags::standardize(&mut *learner, &given, &data)?;
    check(&*learner, &data)?;
    let inputs = args.boosting.auxiliary_inputs(&*learner, &args.data, &data, (args.seed, &args.out), &progress)?;
    if args.out.is_verbose() {
        print(&summary.text())?;
    }
    let start = Instant::now();
    let context = Context { seed: args.seed, threads: args.out.threads(), observer: &progress, ..ermine::context() };
    let what = format!("training {}", args.learner);
    let model = progress.stage(&what, None, || args.boosting.fit(&*learner, &data, &inputs, &context))?;
    let seconds = start.elapsed().as_secs_f64();
    drop(progress);
    let file = model.to_loadable_bytes()?;
    write(&args.output, &file)?;
    args.boosting.done();
    if args.out.json {
        return print_json(&json!({
            "model": args.output,
            "bytes": file.len(),
            "seconds": seconds,
            "learner": model.header().learner,
            "params": model.header().params,
            "seed": model.header().seed,
            "certificate": model.certificate(),
            "data": summary,
        }));
    }
    if args.out.quiet { Ok(()) } else { print(&result_text(args, &*learner, &model, seconds, file.len())) }
}

/// Trains in batches.
fn run_in_batches(args: &Args, rows: usize, learner: &dyn Learner) -> Result<(), Failure> {
    let progress = Progress::new(!args.out.is_verbose());
    let start = Instant::now();
    let context = Context { seed: args.seed, threads: args.out.threads(), observer: &progress, ..ermine::context() };
    let (model, summary) = stream::train(&args.data, (&args.stream, rows), learner, &context, &progress)?;
    let seconds = start.elapsed().as_secs_f64();
    drop(progress);
    let file = model.to_loadable_bytes()?;
    write(&args.output, &file)?;
    if args.out.json {
        return print_json(&json!({
            "model": args.output,
            "bytes": file.len(),
            "seconds": seconds,
            "learner": model.header().learner,
            "params": model.header().params,
            "seed": model.header().seed,
            "certificate": model.certificate(),
            "data": summary,
        }));
    }
    if args.out.quiet {
        return Ok(());
    }
    let read = format!("{} in {}\n", counted(summary.n_rows, "row"), batches(summary.n_batches));
    print(&(read + &result_text(args, learner, &model, seconds, file.len())))
}

fn batches(n: usize) -> String {
    if n == 1 { "1 batch".into() } else { format!("{n} batches") }
}

fn result_text(args: &Args, learner: &dyn Learner, model: &Model, seconds: f64, n_bytes: usize) -> String {
    let changed: Vec<String> = learner
        .specs()
        .iter()
        .filter_map(|spec| learner.get(spec.name).filter(|value| *value != spec.default).map(|v| (spec.name, v)))
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    let with = if changed.is_empty() { String::new() } else { format!(" with {}", changed.join(", ")) };
    // A reduction was chosen automatically, such as one-vs-rest over a binary classifier.
    let own = &model.header().learner;
    let by = if *own == args.learner { String::new() } else { format!(" by {}", bold(own)) };
    let mut text = format!("\n{} {}{with}{by} in {}\n", green("trained"), bold(&args.learner), time(seconds));
    text += &certificate(model);
    let output = args.output.display().to_string();
    text += &format!("{} {} {}\n", green("saved"), bold(&clean(&output)), dim(&format!("({})", bytes(n_bytes))));
    text
}

/// The certificate as text, a line for each statement.
pub fn certificate(model: &Model) -> String {
    let line = |(kind, text): (CertificateLine, String)| match kind {
        CertificateLine::NotConverged => console::style(clean(&text)).red().to_string(),
        _ => clean(&text),
    };
    model.certificate().lines().into_iter().map(|l| format!("  {}\n", line(l))).collect()
}
