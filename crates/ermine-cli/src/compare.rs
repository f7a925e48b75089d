//! `ermine compare`: cross-validates learners on a table, and prints the best one, the significance of the differences, and the next command.

mod board;

use crate::args::{DataArgs, OutputArgs, SplitArgs, duration, quoted};
use crate::data::load;
use crate::failure::Failure;
use crate::files::{check_output, write_at_the_end};
use crate::flags::flag_of;
use crate::interrupt;
use crate::progress::Progress;
use crate::terminal::{print, print_json, time};
use board::{as_json, page, text};
use ermine::registry;
use ermine_core::learner::raw_columns::standardize_by_default;
use ermine_core::learner::{Context, Learner};
use ermine_core::matrix::Dataset;
use ermine_eval::compare::{Comparison, Leaderboard, LeaderboardEntry, SkipReason, UntunedLearner, compare, suitable};
use ermine_eval::evaluate::curves::{CurvePoint, TrainSizes, learning_curve};
use ermine_eval::evaluate::search::with_setting;
use ermine_eval::evaluate::{Measure, Validation};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const EXAMPLES: &str = "\
Examples:
  ermine compare penguins.csv --target species
  ermine compare adult.csv --target income --folds 10 --budget 60s
  ermine compare adult.csv --target income --learners baseline,decision-stump --json

Every learner is cross-validated: each row is predicted by a model that was trained without it. Learners with a
parameter `standardize` standardize the columns. Then the best three are tuned. With --budget, or after Ctrl-C,
the table shows what is finished, and why other learners are missing.";

/// Find the best learner for a table
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    data: DataArgs,
    /// Learners to compare, separated by commas [default: all that support the task and don't wrap another learner]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    learners: Vec<String>,
    /// Number of settings to try for each of the three best learners; 0 for no tuning
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true)]
    trials: usize,
    /// Stop after this time, for example 60s or 5m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    budget: Option<Duration>,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,
    /// Write the result as an HTML page
    #[arg(long, value_name = "FILE.html")]
    html: Option<PathBuf>,
    #[command(flatten)]
    splits: SplitArgs,
    #[command(flatten)]
    out: OutputArgs,
}

/// Training set sizes of the learning curve, as fractions of the rows.
const SHARES: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 1.0];

/// Compares.
pub fn run(args: &Args) -> Result<(), Failure> {
    let start = Instant::now();
    let mut learners = named(&args.learners)?;
    if let Some(html) = &args.html {
        check_output(html, &[&args.data.file])?;
    }
    let deadline = args.budget.and_then(|budget| start.checked_add(budget));
    let progress = Progress::new(!args.out.is_verbose()).until(deadline);
    let (data, summary) = load(&args.data, args.out.threads(), &progress)?;
    let splits = args.splits.splits(&data, args.seed)?;
    args.splits.measure.map_or(Ok(()), |measure| measure.check(data.task()))?;
    let measures = Measure::headline(data.task(), args.splits.measure);
    if args.out.is_verbose() {
        print(&summary.text())?;
    }
    let context = Context { seed: args.seed, threads: args.out.threads(), observer: &progress, ..ermine::context() };
    if args.learners.is_empty() {
        learners = suitable(&data, registry::DEFAULT, &context);
    } else {
        learners.iter_mut().try_for_each(|learner| standardize_by_default(&mut **learner, &data))?;
    }
    let finished = keep_finished(args.out.json);
    let on_entry = |entry: &LeaderboardEntry| lock(&finished).push(entry.clone());
    let comparison = Comparison {
        learners,
        splits: &splits,
        measures: &measures,
        trials: args.trials,
        deadline,
        preferred: registry::DEFAULT,
        on_entry: Some(&on_entry),
        finished: &[],
    };
    let board = compare(&comparison, &data, &context);
    let curve = match (&args.html, board.entries.first()) {
        (Some(_), Some(best)) => curve(best, &comparison, &data, &context).unwrap_or_default(),
        _ => Vec::new(),
    };
    drop(progress);
    if board.entries.is_empty() {
        let why: Vec<String> =
            board.skipped.iter().map(|s| format!("\n  {}: {}", s.learner, skipped_text(&s.reason, args))).collect();
        let failure = Failure::Work(format!("no learner could be cross-validated{}", why.concat()));
        return Err(if interrupt::stopped() { Failure::Stopped } else { failure });
    }
    let next = next_command(args, &board.entries[0]);
    if let Some(path) = &args.html {
        // The page is written even if the comparison was stopped.
        write_at_the_end(path, page(args, &board, &splits, &next, &curve).as_bytes())?;
    }
    if args.out.json {
        print_json(&as_json(args, &summary, &board, &splits, &next))?;
    } else {
        print(&text(args, &board, &splits, &next))?;
    }
    match (interrupt::stopped(), &args.html) {
        (false, _) => Ok(()),
        (true, Some(_)) => Err(Failure::StoppedWith("the page shows what is finished")),
        (true, None) => Err(Failure::StoppedWith(ABOVE)),
    }
}

/// The message of an interrupted comparison.
const ABOVE: &str = "the table above shows what is finished";

type Finished = Arc<Mutex<Vec<LeaderboardEntry>>>;

fn lock(finished: &Finished) -> MutexGuard<'_, Vec<LeaderboardEntry>> {
    finished.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Finished entries; printed if the program is stopped while a learner does not check for cancellation.
fn keep_finished(json: bool) -> Finished {
    let finished = Finished::default();
    let shared = finished.clone();
    interrupt::on_exit(move || {
        let board = Leaderboard::of_finished(lock(&shared).clone());
        let printed = match json {
            _ if board.entries.is_empty() => return None,
            true => print_json(&serde_json::json!({ "leaderboard": board.entries })),
            false => print(&format!("\n{board}")),
        };
        printed.ok().map(|()| ABOVE)
    });
    finished
}

/// The learners with these names.
fn named(names: &[String]) -> Result<Vec<Box<dyn Learner>>, Failure> {
    let mut distinct: Vec<&str> = Vec::new();
    for name in names.iter().map(|name| name.trim()) {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    Ok(distinct.into_iter().map(registry::learner).collect::<ermine::Result<_>>()?)
}

/// The learning curve of the best learner, if there is time left.
fn curve(
    best: &LeaderboardEntry,
    comparison: &Comparison<'_>,
    data: &Dataset,
    context: &Context<'_>,
) -> ermine::Result<Vec<CurvePoint>> {
    let learner = with_setting(&*registry::learner(best.learner)?, &best.setting, context)?;
    let measures = &comparison.measures[..1];
    let validation = Validation { train_scores: true, ..Validation::new(comparison.splits, measures) };
    learning_curve(&*learner, data, &validation, TrainSizes::Fractions(&SHARES), context)
}

/// Why a learner is not on the leaderboard.
fn skipped_text(reason: &SkipReason, args: &Args) -> String {
    let budget = args.budget.map(|budget| time(budget.as_secs_f64()));
    match (reason, budget) {
        (SkipReason::NotTried { .. }, _) if interrupt::stopped() => "not tried: stopped by Ctrl-C".into(),
        (SkipReason::NotTried { expected: Some(seconds) }, Some(budget)) => {
            format!("not tried: expected to take {}, more than is left of the budget of {budget}", time(*seconds))
        }
        (SkipReason::NotTried { .. }, Some(budget)) => format!("not tried: the budget of {budget} is used up"),
        (SkipReason::NotTried { .. }, None) => "not tried".into(),
        (SkipReason::NotFinished, _) if interrupt::stopped() => "not finished: stopped by Ctrl-C".into(),
        (SkipReason::NotFinished, Some(budget)) => format!("not finished within its part of the budget of {budget}"),
        (SkipReason::NotFinished, None) => "not finished".into(),
        (SkipReason::Unsupported(need), _) => format!("does not support {need}"),
        (SkipReason::Failed(error), _) => format!("failed: {error}"),
    }
}

/// Why the settings of a learner were not all tried.
fn untuned_text(untuned: &UntunedLearner) -> String {
    let what = if untuned.partly { "tuned with fewer settings" } else { "not tuned" };
    let why = match &untuned.error {
        Some(error) => error.as_str(),
        None if interrupt::stopped() => "stopped by Ctrl-C",
        None => "the budget is used up",
    };
    format!("{}: {what}: {why}", untuned.learner)
}

/// The command that trains this learner on the same data.
fn next_command(args: &Args, best: &LeaderboardEntry) -> String {
    let program = std::env::args().next().unwrap_or_else(|| "ermine".into());
    let safe = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let model: String = args.data.target.first().map_or("model", String::as_str).chars().map(safe).collect();
    let mut words = vec![program, "train".into()];
    words.extend(args.data.to_arguments());
    words.extend(["--learner".into(), best.learner.into()]);
    words.extend(best.setting.iter().map(|(name, value)| format!("--{}={value}", flag_of(name))));
    if args.seed != 0 {
        words.extend(["--seed".into(), args.seed.to_string()]);
    }
    words.extend(["-o".into(), format!("{}.ermine", model.trim_start_matches(['-', '.']))]);
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}
