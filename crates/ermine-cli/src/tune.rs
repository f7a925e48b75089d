//! `ermine tune`: hyperparameter search. Trains the best setting and saves it. Trials are kept in a journal, so that an interrupted search can continue.

use crate::args::{DataArgs, OutputArgs, SplitArgs, duration, pooled_note};
use crate::clean::clean;
use crate::data::{LoadedData, load};
use crate::failure::Failure;
use crate::files::{check_output, write};
use crate::flags;
use crate::grid::Grid;
use crate::interrupt;
use crate::progress::Progress;
use crate::terminal::{bold, counted, decimals, dim, green, print, print_json, print_message, time, width, yellow};
use crate::train::certificate;
use ermine::registry;
use ermine_core::learner::fit::check;
use ermine_core::learner::{Context, Learner, fit};
use ermine_core::matrix::Dataset;
use ermine_core::model::Model;
use ermine_core::param::Value;
use ermine_eval::evaluate::cross_validation::FoldScore;
use ermine_eval::evaluate::journal::Journal;
use ermine_eval::evaluate::search::{
    FACTOR, HyperparameterSearch, SearchResult, Strategy, Trial, nested, search, with_setting,
};
use ermine_eval::evaluate::space::{SearchAxis, SearchSpace};
use ermine_eval::evaluate::{Measure, Splits};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const EXAMPLES: &str = "\
Examples:
  ermine tune adult.csv --target income -o income.ermine
  ermine tune adult.csv --target income --learner decision-tree --try max_depth=2..12 --try criterion=gini,entropy --search grid -o income.ermine
  ermine tune adult.csv --target income --trials 100 --budget 10m --journal income.journal -o income.ermine

Without --try, all parameters worth tuning are searched in their usual ranges (see `ermine learners NAME`).
Parameters set by their own flags stay fixed. Ctrl-C stops the search: the best model so far is trained and saved,
and the same command continues the search from its journal.";

/// Number of best settings that are shown.
const SHOWN: usize = 10;

/// Tune the hyperparameters of a learner, and train and save the best model
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    data: DataArgs,
    /// Output file for the best model
    #[arg(long, short, value_name = "FILE.ermine")]
    output: PathBuf,
    /// Learner; see `ermine learners`
    #[arg(long, value_name = "NAME", default_value = registry::DEFAULT)]
    learner: String,
    /// Set a parameter of the learner, as an alternative to its own flag
    #[arg(long, value_name = "NAME=VALUE", value_parser = flags::assignment)]
    set: Vec<(String, Value)>,
    /// Values to try: NAME=1,2,5 or NAME=LOW..HIGH; repeat for several parameters
    #[arg(long = "try", value_name = "NAME=VALUES", value_parser = axis, help_heading = "Search")]
    axes: Vec<(String, String)>,
    /// Search method: random settings, a grid of all combinations, or successive halving
    #[arg(long, value_name = "METHOD", default_value = "random", value_parser = ["random", "grid", "halving"], help_heading = "Search")]
    search: String,
    /// Number of random settings
    #[arg(long, value_name = "N", default_value_t = 30, help_heading = "Search", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    trials: u32,
    /// Number of values of each parameter in a grid
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Search", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    points: u32,
    /// Stop after this time with the best setting so far, for example 60s or 5m
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Search")]
    budget: Option<Duration>,
    /// Save the trials to this file, and continue from it [default: next to the model, removed when the search is finished]
    #[arg(long, value_name = "FILE", help_heading = "Search")]
    journal: Option<PathBuf>,
    /// Estimate the score of the tuned model by nested cross-validation
    #[arg(long, help_heading = "Search")]
    nested: bool,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,
    #[command(flatten)]
    splits: SplitArgs,
    #[command(flatten)]
    out: OutputArgs,
}

/// Reads `name=values`; the name with `-` or `_`.
pub fn axis(text: &str) -> Result<(String, String), String> {
    let (name, values) = text.split_once('=').ok_or("expected NAME=VALUES, for example max_depth=2,4,8")?;
    Ok((name.trim().replace('-', "_"), values.to_string()))
}

/// Tunes; `given` are the parameters set by their own flags.
pub fn run(args: &Args, given: Vec<(String, Value)>) -> Result<(), Failure> {
    let start = Instant::now();
    let mut learner = registry::learner(&args.learner)?;
    let fixed = [given, args.set.clone()].concat();
    flags::set(&mut *learner, &fixed)?;
    let space = space(args, &*learner, &fixed)?;
    check_output(&args.output, &[&args.data.file])?;
    check_journal(args)?;
    let loading = Progress::new(!args.out.is_verbose());
    let (data, summary) = load(&args.data, args.out.threads(), &loading)?;
    drop(loading);
    flags::standardize(&mut *learner, &fixed, &data)?;
    check(&*learner, &data)?;
    let splits = args.splits.splits(&data, args.seed)?;
    let measure = Measure::headline(data.task(), args.splits.measure)[0];
    measure.check(data.task())?;
    let progress =
        Progress::new(!args.out.is_verbose()).until(args.budget.and_then(|budget| start.checked_add(budget)));
    let context = Context { seed: args.seed, threads: args.out.threads(), observer: &progress, ..ermine::context() };
    // Values given by the user are tried unchanged.
    let space = if args.axes.is_empty() { space.supported_by(&*learner, &data, &context)? } else { space };
    let strategy = strategy(args);
    let what =
        HyperparameterSearch { learner: &*learner, space: &space, strategy, splits: &splits, measure, pool: true };
    let journal_path = journal_path(args);
    let mut journal = match &args.journal {
        Some(path) => Journal::open(path, &what, &data, args.seed)?,
        None => Journal::open_or_restart(&journal_path, &what, &data, args.seed)?,
    };
    let n_known = journal.len();
    if args.out.is_verbose() {
        print(&summary.text())?;
    }
    let found = search(&what, &data, &context, &mut journal)?;
    progress.clear();
    drop(journal);
    let interrupted = interrupt::stopped();
    let Some(best) = found.best.filter(|_| !interrupted || interrupt::by_ctrl_c()) else {
        return Err(nothing(&journal_path, &found));
    };
    if interrupted {
        interrupt::acknowledge();
        print_message("stopped; training the best setting so far (press Ctrl-C again to quit at once)");
    }
    let setting = found.trials[best].setting.clone();
    // The budget is for the search; training the best setting has its own time.
    let progress = Progress::new(!args.out.is_verbose());
    let context = Context { observer: &progress, ..context };
    let nested = (args.nested && !interrupted).then(|| nested_score(args, &what, &data, &context)).transpose()?;
    let model = fit(&*with_setting(&*learner, &setting, &context)?, &data, &context)?;
    drop(progress);
    write(&args.output, &model.to_loadable_bytes()?)?;
    let seconds = start.elapsed().as_secs_f64();
    print_result(args, &Tuned { found, best, measure, n_known, nested, model, seconds }, &summary)?;
    if interrupted {
        return Err(Failure::StoppedWith("the best model so far is saved, and the same command continues the search"));
    }
    if args.journal.is_none() {
        // The journal is no longer needed.
        let _ = std::fs::remove_file(&journal_path);
    }
    Ok(())
}

/// The given journal, or the one next to the model: `income.ermine` has `income.journal`.
fn journal_path(args: &Args) -> PathBuf {
    args.journal.clone().unwrap_or_else(|| args.output.with_extension("journal"))
}

/// An error if the journal is the table or the model file; checked before any work.
fn check_journal(args: &Args) -> Result<(), Failure> {
    let journal = &journal_path(args);
    check_output(journal, &[&args.data.file])?;
    // The model doesn't exist yet, so its location is that of its directory.
    let place = |path: &Path| {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some((parent.canonicalize().ok()?, path.file_name()?.to_owned()))
    };
    let same = |a: &Path, b: &Path| a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b));
    if place(journal) == place(&args.output) || same(journal, &args.output) {
        let shown = journal.display();
        return Err(Failure::Usage(format!(
            "{shown} is both the journal and the model; choose another file for one of them"
        )));
    }
    Ok(())
}

/// The results.
struct Tuned {
    found: SearchResult,
    /// The index of the best trial.
    best: usize,
    measure: Measure,
    /// Number of trials from the journal.
    n_known: usize,
    /// The score of nested cross-validation.
    nested: Option<FoldScore>,
    model: Model,
    seconds: f64,
}

fn print_result(args: &Args, tuned: &Tuned, summary: &LoadedData) -> Result<(), Failure> {
    let Tuned { found, best, measure, n_known, nested, model, seconds } = tuned;
    if args.out.json {
        return print_json(&json!({
            "model": args.output,
            "learner": args.learner,
            "measure": measure.title(),
            "best": found.trials[*best],
            "best_mean": found.trials[*best].mean(),
            "trials": found.trials,
            "stopped": found.stopped,
            "from_journal": n_known,
            "nested": nested,
            "certificate": model.certificate(),
            "data": summary,
            "seconds": seconds,
        }));
    }
    if args.out.quiet {
        return Ok(());
    }
    let mut text = trials_text(args, found, *best, *measure, *n_known, *seconds);
    if let Some(score) = nested {
        let d = decimals(score.mean);
        text += &format!(
            "\nnested cross-validation: {} {:.d$}{} {}\n",
            score.name,
            score.mean,
            if score.folds.len() > 1 { format!(" ± {:.d$}", score.deviation) } else { String::new() },
            dim("(expected score of this search on new rows)")
        );
    }
    text += &format!("\n{} {}\n{}", green("trained"), bold(&args.learner), certificate(model));
    text += &format!("{} {}\n", green("saved"), bold(&clean(&args.output.display().to_string())));
    print(&text)
}

/// The search space: the given values, or the tuning ranges of all parameters that are not fixed.
fn space(args: &Args, learner: &dyn Learner, fixed: &[(String, Value)]) -> Result<SearchSpace, Failure> {
    if let Some((name, _)) = args.axes.iter().find(|(name, _)| fixed.iter().any(|(f, _)| f == name)) {
        return Err(Failure::Usage(format!("{name} is both set and tuned: choose one of them")));
    }
    if !args.axes.is_empty() {
        let axes = args.axes.iter().map(|(name, text)| SearchAxis::parse(learner, name, text));
        return Ok(SearchSpace::new(axes.collect::<ermine::Result<_>>()?));
    }
    let space = fixed.iter().fold(SearchSpace::declared(learner), |space, (name, _)| space.without(name).0);
    match space.axes().is_empty() {
        true => Err(Failure::Usage(format!("{} has no parameters left to tune; choose some with --try", args.learner))),
        false => Ok(space),
    }
}

fn strategy(args: &Args) -> Strategy {
    let trials = args.trials as usize;
    match args.search.as_str() {
        "grid" => Strategy::Grid { points: args.points as usize },
        "halving" => Strategy::Halving { trials, factor: FACTOR },
        _ => Strategy::Random { trials },
    }
}

fn nested_score(
    args: &Args,
    what: &HyperparameterSearch<'_>,
    data: &Dataset,
    context: &Context<'_>,
) -> ermine::Result<FoldScore> {
    let inner = |train: &Dataset| -> ermine::Result<Splits> { args.splits.splits(train, args.seed) };
    Ok(nested(what, what.splits, inner, data, context)?.0)
}

/// The error if nothing was saved.
fn nothing(journal: &Path, found: &SearchResult) -> Failure {
    if interrupt::stopped() {
        let kept = counted(found.trials.len(), "trial");
        print_message(format!("{kept} kept in {}; the same command continues from there", journal.display()));
        return Failure::Stopped;
    }
    match found.trials.iter().find_map(|trial| trial.error.clone()) {
        Some(why) => Failure::Work(format!("no setting could be used: {why}")),
        None => Failure::Work("the budget ended before the first setting was finished; use a longer --budget".into()),
    }
}

fn trials_text(
    args: &Args,
    found: &SearchResult,
    best: usize,
    measure: Measure,
    n_known: usize,
    seconds: f64,
) -> String {
    let full: Vec<&Trial> = found.trials.iter().filter(|trial| trial.rows.is_none()).collect();
    let mut ranked: Vec<&Trial> = full.iter().copied().filter(|trial| !trial.mean().is_nan()).collect();
    let sign = if measure.higher_is_better() { -1.0 } else { 1.0 };
    let tie = |trial: &Trial| trial.tie.unwrap_or(f64::INFINITY);
    ranked.sort_by(|a, b| (sign * a.mean()).total_cmp(&(sign * b.mean())).then(tie(a).total_cmp(&tie(b))));
    let setting = |trial: &Trial| -> String {
        let words: Vec<String> = trial.setting.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        if words.is_empty() { "defaults".into() } else { words.join(", ") }
    };
    let mut grid = Grid::new([measure.title(), "time", "setting"]).left(&[2]);
    for trial in ranked.iter().take(SHOWN) {
        let score = trial.score(measure);
        let d = decimals(score.mean);
        let value = if score.folds.len() > 1 {
            format!("{:.d$} ± {:.d$}", score.mean, score.deviation)
        } else {
            format!("{:.d$}", score.mean)
        };
        grid.push([value, time(trial.seconds), setting(trial)]);
    }
    let known = if n_known > 0 { format!(", {n_known} of them from the journal") } else { String::new() };
    let mut text = format!(
        "\n{} tried by {}{} in {}{known}\n\n{}",
        counted(found.trials.len(), "setting"),
        args.splits.title(),
        pooled_note(&[found.trials[best].score(measure)]),
        time(seconds),
        grid.text(width())
    );
    let failed: Vec<&String> = found.trials.iter().filter_map(|trial| trial.error.as_ref()).collect();
    if let Some(first) = failed.first() {
        text += &format!(
            "  {}\n",
            yellow(&clean(&format!("{} could not be used, for example: {first}", counted(failed.len(), "setting"))))
        );
    }
    if found.stopped {
        text += &format!("  {}\n", yellow("the budget ended before all settings were tried"));
    }
    text + &format!("\nBest: {}\n", bold(&clean(&setting(&found.trials[best]))))
}
