//! `ermine compare`: cross-validates learners on a table, and says which is best, how sure that is, and what to type next.

mod board;

use crate::args::{DataArgs, Manner, SplitArgs, duration, quoted};
use crate::data::load;
use crate::failure::Failure;
use crate::files::{check_output, write_at_the_end};
use crate::flags::flag_of;
use crate::interrupt;
use crate::progress::Progress;
use crate::terminal::{print, print_json, time};
use board::{as_json, page, text};
use ermine::registry;
use ermine_core::learner::{Context, Learner};
use ermine_core::matrix::Dataset;
use ermine_eval::compare::{Comparison, LeaderboardEntry, Reason, Untuned, compare, suitable};
use ermine_eval::evaluate::curves::{CurvePoint, Sizes, learning_curve};
use ermine_eval::evaluate::search::with_setting;
use ermine_eval::evaluate::{Measure, Validation};
use std::path::PathBuf;
use std::time::{Duration, Instant};

const EXAMPLES: &str = "\
Examples:
  ermine compare penguins.csv --target species
  ermine compare adult.csv --target income --folds 10 --budget 60s
  ermine compare adult.csv --target income --learners baseline,decision-stump --json

Each row is predicted once by a model that has not seen it. The spread is the standard deviation over folds.";

/// Find out which learner is best, and how good it is
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    data: DataArgs,
    /// Which learners, separated by commas; if not given, all that can do the task and don't wrap another
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    learners: Vec<String>,
    /// How many settings of each of the best learners are tried after all have had their turn; 0 for none
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true)]
    trials: usize,
    /// Stop after this time and say what wasn't tried, e.g. 60s, 5m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    budget: Option<Duration>,
    /// Every random choice follows from this, the folds too
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,
    /// Write the result as a page into this file
    #[arg(long, value_name = "FILE.html")]
    html: Option<PathBuf>,
    #[command(flatten)]
    splits: SplitArgs,
    #[command(flatten)]
    manner: Manner,
}

/// The shares of the rows that a learning curve is drawn at.
const SHARES: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 1.0];

/// Compares.
pub fn run(args: &Args) -> Result<(), Failure> {
    let start = Instant::now();
    let asked = named(&args.learners)?;
    if let Some(html) = &args.html {
        check_output(html, &[&args.data.file])?;
    }
    let deadline = args.budget.and_then(|budget| start.checked_add(budget));
    let progress = Progress::new(!args.manner.chatty()).until(deadline);
    let (data, understanding) = load(&args.data, args.manner.threads(), &progress)?;
    let splits = args.splits.splits(&data, args.seed)?;
    args.splits.measure.map_or(Ok(()), |measure| measure.check(data.task()))?;
    let measures = Measure::headline(data.task(), args.splits.measure);
    if args.manner.chatty() {
        print(&understanding.text())?;
    }
    let context = Context { seed: args.seed, threads: args.manner.threads(), observer: &progress, ..ermine::context() };
    let learners = if args.learners.is_empty() { suitable(&data, registry::DEFAULT, &context) } else { asked };
    let comparison = Comparison {
        learners,
        splits: &splits,
        measures: &measures,
        trials: args.trials,
        deadline,
        preferred: registry::DEFAULT,
    };
    let board = compare(&comparison, &data, &context);
    let curve = match (&args.html, board.entries.first()) {
        (Some(_), Some(best)) => curve(best, &comparison, &data, &context).unwrap_or_default(),
        _ => Vec::new(),
    };
    drop(progress);
    if board.entries.is_empty() {
        let why: Vec<String> =
            board.skipped.iter().map(|s| format!("\n  {}: {}", s.learner, why_skipped(&s.reason, args))).collect();
        let failure = Failure::Work(format!("no learner could be cross-validated{}", why.concat()));
        return Err(if interrupt::stopped() { Failure::Stopped } else { failure });
    }
    let next = next_command(args, &board.entries[0]);
    if let Some(path) = &args.html {
        // Whatever ended the work: what is done is worth its page.
        write_at_the_end(path, page(args, &board, &splits, &next, &curve).as_bytes())?;
    }
    if args.manner.json {
        print_json(&as_json(args, &understanding, &board, &splits, &next))?;
    } else {
        print(&text(args, &board, &splits, &next))?;
    }
    match (interrupt::stopped(), &args.html) {
        (false, _) => Ok(()),
        (true, Some(_)) => Err(Failure::StoppedWith("the page has what was done until then")),
        (true, None) => Err(Failure::StoppedWith("what was done until then is above")),
    }
}

/// The learners that are asked for.
fn named(names: &[String]) -> Result<Vec<Box<dyn Learner>>, Failure> {
    let mut distinct: Vec<&str> = Vec::new();
    for name in names.iter().map(|name| name.trim()) {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    Ok(distinct.into_iter().map(registry::learner).collect::<ermine::Result<_>>()?)
}

/// The learning curve of the best, where there is time for it.
fn curve(
    best: &LeaderboardEntry,
    comparison: &Comparison<'_>,
    data: &Dataset,
    context: &Context<'_>,
) -> ermine::Result<Vec<CurvePoint>> {
    let learner = with_setting(&*registry::learner(best.learner)?, &best.setting, context)?;
    let measures = &comparison.measures[..1];
    let validation = Validation { train_scores: true, ..Validation::new(comparison.splits, measures) };
    learning_curve(&*learner, data, &validation, Sizes::Shares(&SHARES), context)
}

/// Why a learner is not on the leaderboard.
fn why_skipped(reason: &Reason, args: &Args) -> String {
    let budget = args.budget.map(|budget| time(budget.as_secs_f64()));
    match (reason, budget) {
        (Reason::NotTried { .. }, _) if interrupt::stopped() => "not tried: stopped by Ctrl-C".into(),
        (Reason::NotTried { expected: Some(seconds) }, Some(budget)) => {
            format!("not tried: it would take about {}, more than is left of the budget of {budget}", time(*seconds))
        }
        (Reason::NotTried { .. }, Some(budget)) => format!("not tried: the budget of {budget} is spent"),
        (Reason::NotTried { .. }, None) => "not tried".into(),
        (Reason::NotFinished, _) if interrupt::stopped() => "not finished: stopped by Ctrl-C".into(),
        (Reason::NotFinished, Some(budget)) => format!("not finished in its part of the budget of {budget}"),
        (Reason::NotFinished, None) => "not finished".into(),
        (Reason::Unsupported(need), _) => format!("can't handle {need}"),
        (Reason::Failed(error), _) => format!("failed: {error}"),
    }
}

/// Why the settings of a learner were not all tried.
fn why_untuned(untuned: &Untuned) -> String {
    let what = if untuned.some { "not all settings tried" } else { "settings not tried" };
    let why = match &untuned.failed {
        Some(error) => error.as_str(),
        None if interrupt::stopped() => "stopped by Ctrl-C",
        None => "the budget is spent",
    };
    format!("{}: {what}: {why}", untuned.learner)
}

/// The command that trains this learner on the same data.
fn next_command(args: &Args, best: &LeaderboardEntry) -> String {
    let program = std::env::args().next().unwrap_or_else(|| "ermine".into());
    let safe = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let model: String = args.data.target.first().map_or("model", String::as_str).chars().map(safe).collect();
    let mut words = vec![program, "train".into()];
    words.extend(args.data.words());
    words.extend(["--learner".into(), best.learner.into()]);
    words.extend(best.setting.iter().map(|(name, value)| format!("--{}={value}", flag_of(name))));
    if args.seed != 0 {
        words.extend(["--seed".into(), args.seed.to_string()]);
    }
    words.extend(["-o".into(), format!("{}.ermine", model.trim_start_matches(['-', '.']))]);
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}
