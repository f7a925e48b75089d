//! `ermine auto`: trains the best model for a table within a time budget, and prints the candidates, the choice and its estimated score.

use crate::args::{DataArgs, OutputArgs, duration, measure};
use crate::clean::clean;
use crate::data::load;
use crate::failure::Failure;
use crate::files::{check_output, write};
use crate::interrupt;
use crate::progress::Progress;
use crate::terminal::{bold, bytes, dim, green, print, print_json, time};
use ermine::auto::{Auto, AutoOptions, FittedAuto, Preset, fit_auto};
use ermine_core::error::Error;
use ermine_core::learner::Context;
use ermine_core::matrix::Dataset;
use ermine_core::measure::Measure;
use ermine_core::memory;
use ermine_core::param::{ParamType, Value};
use ermine_core::progress::{Control, Event, Observer};
use ermine_core::table::ColumnKind;
use serde_json::json;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const EXAMPLES: &str = "\
Examples:
  ermine auto penguins.csv --target species -o species.ermine
  ermine auto adult.csv --target income --budget 60s -o income.ermine
  ermine auto sales.csv --target amount --time date --preset best --journal sales.journal -o sales.ermine
  ermine auto adult.csv --target income --interpretable -o rules.ermine
  ermine auto adult.csv --target income --max-size 10MB --max-latency 100us -o small.ermine
  ermine show species.ermine                          members, weights and leaderboard

Candidates from a fixed portfolio are cross-validated and combined. Without --budget, the same command gives the same
model. With --budget, or after Ctrl-C, the model is the best of what is finished. A run with --journal that was killed
continues where it was.";

/// Train the best model for a table
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    data: DataArgs,
    /// Output file
    #[arg(long, short, value_name = "FILE.ermine")]
    output: PathBuf,
    /// Stop after this time, for example 60s or 5m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    budget: Option<Duration>,
    /// Number of candidates to try [default: by the preset, or as many as the budget allows]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    trials: Option<u32>,
    /// Amount of work: fast, balanced or best
    #[arg(long, value_name = "NAME", default_value = "balanced", value_parser = ["fast", "balanced", "best"])]
    preset: String,
    /// Metric to optimize [default: log-loss, rmse, ndcg or hamming-loss, by the task]
    #[arg(long, value_name = "METRIC", value_parser = measure)]
    measure: Option<Measure>,
    /// Number of cross-validation folds [default: 5; a single holdout set with the preset fast and for many rows]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100))]
    folds: Option<u32>,
    /// Column with times: candidates are tested only on rows that are later than their training rows
    #[arg(long, value_name = "COLUMN")]
    time: Option<String>,
    /// Choose a single tree, stump or linear model instead of an ensemble
    #[arg(long)]
    interpretable: bool,
    /// Maximum size of the model file, for example 10MB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_size: Option<u64>,
    /// Maximum prediction time per row, for example 100us
    #[arg(long, value_name = "TIME", value_parser = latency)]
    max_latency: Option<f64>,
    /// Save finished candidates to this file, and continue from it after an interruption
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,
    #[command(flatten)]
    out: OutputArgs,
}

fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("'{text}' is not a size: expected for example 500KB or 10MB");
    memory::parse(text).filter(|_| !text.contains('%')).ok_or_else(wrong)
}

/// Parses a short duration: `100us`, `0.5ms`, `1s`.
fn latency(text: &str) -> Result<f64, String> {
    let wrong = || format!("'{text}' is not a time per row: expected for example 100us or 0.5ms");
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let unit = match &text[end..] {
        "ns" => 1e-9,
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => return Err(wrong()),
    };
    let number = text[..end].parse::<f64>().ok().filter(|number| *number > 0.0 && number.is_finite());
    number.map(|number| number * unit).ok_or_else(wrong)
}

/// Draws progress; after Ctrl-C, stops the search for better models, so that the best so far can be finished. The next Ctrl-C ends the program.
struct FinishOnInterrupt<'a> {
    progress: &'a Progress,
    stopped: AtomicBool,
}

impl Observer for FinishOnInterrupt<'_> {
    fn event(&self, event: &Event<'_>) -> Control {
        if interrupt::stopped() && interrupt::by_ctrl_c() {
            interrupt::acknowledge();
            self.stopped.store(true, Ordering::SeqCst);
        }
        let control = self.progress.event(event);
        if self.stopped.load(Ordering::SeqCst) { Control::Stop } else { control }
    }
}

/// Trains.
pub fn run(args: &Args) -> Result<(), Failure> {
    let start = Instant::now();
    check_output(&args.output, &[&args.data.file])?;
    if let Some(journal) = &args.journal {
        check_output(journal, &[&args.data.file, &args.output])?;
    }
    let progress = Progress::new(!args.out.is_verbose());
    let (data, summary) = load(&args.data, args.out.threads(), &progress)?;
    let data = match &args.time {
        Some(column) => in_time_order(&data, column)?,
        None => data,
    };
    if args.out.is_verbose() {
        print(&summary.text())?;
    }
    let auto = learner(args, start);
    let observer = FinishOnInterrupt { progress: &progress, stopped: AtomicBool::new(false) };
    let context = Context { seed: args.seed, threads: args.out.threads(), observer: &observer, ..ermine::context() };
    let options = AutoOptions { journal: args.journal.as_deref(), finish_on_stop: true };
    let model = fit_auto(&auto, &data, &context, options)?;
    let was_stopped = observer.stopped.load(Ordering::SeqCst);
    drop(progress);
    let file = model.to_loadable_bytes()?;
    write(&args.output, &file)?;
    let seconds = start.elapsed().as_secs_f64();
    let report = model.fitted::<FittedAuto>().map(FittedAuto::summary);
    if args.out.json {
        return print_json(&json!({
            "model": args.output,
            "bytes": file.len(),
            "seconds": seconds,
            "stopped": was_stopped,
            "auto": report,
            "params": model.header().params,
            "seed": model.header().seed,
            "data": summary,
        }));
    }
    if args.out.quiet {
        return Ok(());
    }
    let early = if was_stopped { ", stopped by Ctrl-C: the best model so far" } else { "" };
    let mut text = format!("\n{} {} in {}{early}\n", green("trained"), bold("auto"), time(seconds));
    text += &clean(&model.text());
    let output = args.output.display().to_string();
    text += &format!("{} {} {}\n", green("saved"), bold(&clean(&output)), dim(&format!("({})", bytes(file.len()))));
    print(&text)
}

/// The learner with its parameters. The time for reading the data counts toward the budget.
fn learner(args: &Args, start: Instant) -> Auto {
    let left = |budget: Duration| budget.saturating_sub(start.elapsed()).as_secs_f64().max(1e-3);
    Auto {
        preset: Preset::from_value(&Value::Text(args.preset.clone())).unwrap_or(Preset::Balanced),
        scoring: args.measure,
        time_limit: args.budget.map(left),
        n_candidates: args.trials.map(|n| n as usize),
        cv: args.folds.map(|n| n as usize),
        in_time_order: args.time.is_some(),
        interpretable: args.interpretable,
        max_size: args.max_size.map(|bytes| bytes as usize),
        max_latency: args.max_latency,
        ..Auto::default()
    }
}

/// The rows sorted by a numeric or date column.
fn in_time_order(data: &Dataset, column: &str) -> ermine::Result<Dataset> {
    let columns = data.features().columns();
    let names = || columns.iter().map(|c| c.name.as_str());
    let place = names().position(|name| name == column).ok_or_else(|| Error::unknown("column", column, names()))?;
    if columns[place].kind != ColumnKind::Numeric {
        return Err(Error::data(format!("column '{column}' is nominal, but a time column needs numbers or dates")));
    }
    let times = data.features().numbers(place);
    if let Some(row) = times.iter().position(|time| time.is_nan()) {
        return Err(Error::row(row, format!("the time column '{column}' is missing; every row needs a time")));
    }
    let mut order: Vec<u32> = (0..times.len() as u32).collect();
    order.sort_by(|&a, &b| times[a as usize].total_cmp(&times[b as usize]));
    data.select(&order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_times_and_sizes_are_read_as_people_write_them() {
        assert_eq!(latency("100us"), Ok(100.0 * 1e-6));
        assert_eq!(latency("0.5ms"), Ok(0.5e-3));
        assert_eq!(size("10MB"), Ok(10 << 20));
        for wrong in ["", "us", "0us", "5", "-1ms", "1h"] {
            assert!(latency(wrong).is_err(), "{wrong}");
        }
        assert!(size("50%").is_err() && size("big").is_err());
    }
}
