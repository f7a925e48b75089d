//! `ermine compare`: cross-validates learners on a table, and says which is best, how sure that is, and what to type next.

use crate::args::{DataArgs, Manner, duration, quoted};
use crate::data::{Understanding, load};
use crate::failure::Failure;
use crate::grid::Grid;
use crate::interrupt;
use crate::progress::Progress;
use crate::terminal::{bold, clean, decimals, dim, green, print, print_json, time, width, wrapped, yellow};
use ermine::Error;
use ermine::evaluate::cross_validation::FoldScore;
use ermine::evaluate::{Folds, cross_validate};
use ermine::learner::fit::check;
use ermine::learner::{Context, Learner};
use ermine::matrix::Dataset;
use ermine::registry::{self, LEARNERS};
use serde::Serialize;
use serde_json::json;
use std::time::{Duration, Instant};

const EXAMPLES: &str = "\
Examples:
  ermine compare penguins.csv --target species
  ermine compare adult.csv --target income --folds 10 --budget 60s
  ermine compare adult.csv --target income --learners baseline,decision-stump --json

Each row is predicted once by a model that has not seen it. The spread is the standard deviation over folds.";

/// The learner that all others must beat.
const BASELINE: &str = "baseline";

/// Find out which learner is best, and how good it is
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    data: DataArgs,
    /// How many parts the rows are cut into; each is predicted by models that learned from the others
    #[arg(long, value_name = "N", default_value_t = 5, allow_negative_numbers = true)]
    folds: usize,
    /// Which learners, separated by commas; all that can do the task if not given
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    learners: Vec<String>,
    /// Stop after this time and say what wasn't tried, e.g. 60s, 5m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    budget: Option<Duration>,
    /// Every random choice follows from this, the folds too
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,
    #[command(flatten)]
    manner: Manner,
}

/// A learner that was cross-validated to the end.
#[derive(Serialize)]
struct Row {
    learner: &'static str,
    scores: Vec<FoldScore>,
    seconds: f64,
}

/// A learner that has no place on the leaderboard.
#[derive(Serialize)]
struct Absent {
    learner: &'static str,
    why: String,
}

/// What came out.
#[derive(Default)]
struct Outcome {
    rows: Vec<Row>,
    absent: Vec<Absent>,
}

/// Compares.
pub fn run(args: &Args) -> Result<(), Failure> {
    let start = Instant::now();
    let learners = chosen(&args.learners)?;
    let deadline = args.budget.and_then(|budget| start.checked_add(budget));
    let progress = Progress::new(!args.manner.chatty()).until(deadline);
    let (data, understanding) = load(&args.data, args.manner.threads(), &progress)?;
    let folds = Folds::new(&data, args.folds, args.seed)?;
    if args.manner.chatty() {
        print(&understanding.text())?;
    }
    let mut outcome = try_all(args, &learners, &data, &folds, &progress);
    drop(progress);
    outcome.rows.sort_by(|a, b| order(a.scores.first(), b.scores.first()));
    if outcome.rows.is_empty() {
        let why: Vec<String> = outcome.absent.iter().map(|a| format!("\n  {}: {}", a.learner, a.why)).collect();
        let failure = Failure::Work(format!("no learner could be cross-validated{}", why.concat()));
        return Err(if interrupt::stopped() { Failure::Stopped } else { failure });
    }
    let next = next_command(args, outcome.rows[0].learner);
    if args.manner.json {
        print_json(&as_json(args, &understanding, &outcome, &next))?;
    } else {
        print(&text(args, &outcome, &next))?;
    }
    if interrupt::stopped() { Err(Failure::Stopped) } else { Ok(()) }
}

fn chosen(names: &[String]) -> Result<Vec<Box<dyn Learner>>, Failure> {
    if names.is_empty() {
        return Ok(LEARNERS.iter().map(|entry| (entry.make)()).collect());
    }
    let mut distinct: Vec<&str> = Vec::new();
    for name in names.iter().map(|name| name.trim()) {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    Ok(distinct.into_iter().map(registry::learner).collect::<ermine::Result<_>>()?)
}

fn try_all(args: &Args, learners: &[Box<dyn Learner>], data: &Dataset, folds: &Folds, progress: &Progress) -> Outcome {
    let mut outcome = Outcome::default();
    let context = Context { seed: args.seed, threads: args.manner.threads(), observer: progress, ..Default::default() };
    for learner in learners {
        let name = learner.info().name;
        let start = Instant::now();
        let late = progress.is_late() || interrupt::stopped();
        let result = check(&**learner, data).and_then(|()| match late {
            true => Err(Error::Stopped),
            false => cross_validate(&**learner, data, folds, &context),
        });
        progress.clear();
        match result {
            Ok(validation) => {
                let seconds = start.elapsed().as_secs_f64();
                outcome.rows.push(Row { learner: name, scores: validation.scores, seconds });
            }
            Err(e) => outcome.absent.push(Absent { learner: name, why: why_not(&e, args, late) }),
        }
    }
    outcome
}

fn why_not(error: &Error, args: &Args, late: bool) -> String {
    let how = if late { "not tried" } else { "not finished" };
    match (error, args.budget) {
        (Error::Stopped, _) if interrupt::stopped() => format!("{how}: stopped by Ctrl-C"),
        (Error::Stopped, Some(budget)) => format!("{how}: the budget of {} is spent", time(budget.as_secs_f64())),
        (Error::Unsupported { need, .. }, _) => format!("can't handle {need}"),
        (other, _) => format!("failed: {other}"),
    }
}

/// Better first; a score that is not a number is last.
fn order(a: Option<&FoldScore>, b: Option<&FoldScore>) -> std::cmp::Ordering {
    let badness = |score: Option<&FoldScore>| match score {
        Some(s) if s.mean.is_nan() => f64::INFINITY,
        Some(s) if s.higher_is_better => -s.mean,
        Some(s) => s.mean,
        None => f64::INFINITY,
    };
    badness(a).total_cmp(&badness(b))
}

/// The command that trains this learner on the same data.
fn next_command(args: &Args, learner: &str) -> String {
    let program = std::env::args().next().unwrap_or_else(|| "ermine".into());
    let safe = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let model: String = args.data.target[0].chars().map(safe).collect();
    let mut words = vec![program, "train".into()];
    words.extend(args.data.words());
    words.extend(["--learner".into(), learner.into()]);
    if args.seed != 0 {
        words.extend(["--seed".into(), args.seed.to_string()]);
    }
    words.extend(["-o".into(), format!("{}.ermine", model.trim_start_matches(['-', '.']))]);
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

fn as_json(args: &Args, data: &Understanding, outcome: &Outcome, next: &str) -> serde_json::Value {
    json!({
        "data": data,
        "folds": args.folds,
        "seed": args.seed,
        "leaderboard": outcome.rows,
        "absent": outcome.absent,
        "best": outcome.rows[0].learner,
        "next": next,
    })
}

fn text(args: &Args, outcome: &Outcome, next: &str) -> String {
    let rows = &outcome.rows;
    let names: Vec<&str> = rows[0].scores.iter().map(|score| score.name).collect();
    let mut grid = Grid::new([&["", "learner"], &names[..], &["time"]].concat()).left(&[1]);
    for (i, row) in rows.iter().enumerate() {
        let score = |name: &&str| match row.scores.iter().find(|s| s.name == *name) {
            Some(s) => format!("{:.d$} ± {:.d$}", s.mean, s.deviation, d = decimals(s.mean)),
            None => String::new(),
        };
        let start = [(i + 1).to_string(), row.learner.to_string()];
        grid.push(start.into_iter().chain(names.iter().map(score)).chain([time(row.seconds)]));
    }
    let mut text = String::new();
    if !args.manner.quiet {
        let note = dim("(mean ± standard deviation over folds)");
        text += &format!("\n{}-fold cross-validation {note}\n\n", args.folds);
    }
    text += &grid.text(width());
    text += if outcome.absent.is_empty() { "" } else { "\n" };
    for absent in &outcome.absent {
        text += &format!("  {} {}\n", yellow(&format!("{}:", absent.learner)), clean(&absent.why));
    }
    if args.manner.quiet {
        return text;
    }
    if only_baseline(rows) && !outcome.absent.is_empty() {
        return text + "\nNothing but the baseline was tried.\n";
    }
    text + &format!("\n{}\n\nNext:\n  {}\n", verdict(rows).trim_end(), bold(&clean(next)))
}

fn only_baseline(rows: &[Row]) -> bool {
    rows.iter().all(|row| row.learner == BASELINE)
}

/// Which is best, and how sure that is: in how many folds it was better than the others that matter.
fn verdict(rows: &[Row]) -> String {
    let best = &rows[0];
    let baseline = rows.iter().find(|row| row.learner == BASELINE);
    let mut text = format!("Best: {}", green(best.learner));
    if best.learner == BASELINE && rows.len() > 1 {
        text += ". No learner found anything in these columns that helps to predict the target.";
        return wrapped(&text, 0, width());
    }
    if let Some(baseline) = baseline.filter(|b| b.learner != best.learner) {
        text += &format!(", better than the baseline in {}", folds_won(best, baseline));
    }
    let second = rows.get(1).filter(|row| row.learner != BASELINE);
    if let Some(second) = second.filter(|second| wins(best, second).0 < wins(best, second).1) {
        let won = folds_won(best, second);
        text += &format!(". {} is close: {} is better than it in {won} only", second.learner, best.learner);
    }
    wrapped(&(text + "."), 0, width())
}

fn folds_won(a: &Row, b: &Row) -> String {
    let (won, n) = wins(a, b);
    format!("{won} of {n} folds")
}

/// In how many folds the first is better than the second, and how many there are.
fn wins(a: &Row, b: &Row) -> (usize, usize) {
    let (Some(a), Some(b)) = (a.scores.first(), b.scores.first()) else { return (0, 0) };
    let better = |(x, y): &(&f64, &f64)| if a.higher_is_better { x > y } else { x < y };
    (a.folds.iter().zip(&b.folds).filter(better).count(), a.folds.len())
}
