//! The `ermine` program: supervised learning for tables from the shell.
//!
//! Thin over the core: each subcommand parses its arguments, calls the core and prints the result.
//!
//! | file | what it holds |
//! |---|---|
//! | `describe`, `split`, `train`, `predict`, `evaluate`, `cross_validate`, `compare`, `auto`, `tune`, `show`, `report`, `export`, `import`, `neighbors`, `learners`, `serve`, `studio` | one subcommand each |
//! | `args` | arguments that several subcommands share |
//! | `boosting` | options of gradient boosting |
//! | `stream` | training in batches |
//! | `flags` | a flag for each parameter of a learner |
//! | `data` | loading of data sets, with a summary |
//! | `terminal`, `grid` | colors, widths, writing to stdout; tables of text |
//! | `progress`, `interrupt` | progress bars; Ctrl-C and other signals |
//! | `completions` | completions for shells, and manual pages |
//! | `threshold` | the decision threshold of two classes with the lowest cost |
//! | `files` | output files |
//! | `failure` | errors and exit codes |

// These macros panic if stdout or stderr can't be written; use `terminal` instead.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod auto;
mod boosting;
mod clean;
mod compare;
mod completions;
mod cross_validate;
mod data;
mod describe;
mod evaluate;
mod export;
mod failure;
mod files;
mod flags;
mod grid;
mod import;
mod interrupt;
mod learners;
mod neighbors;
mod predict;
mod progress;
mod report;
#[cfg(feature = "serve")]
mod serve;
mod show;
mod split;
mod stream;
#[cfg(feature = "studio")]
mod studio;
mod terminal;
mod threshold;
mod train;
mod tune;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use ermine_core::memory;
use failure::Failure;
use std::ffi::OsString;
use std::process::ExitCode;

const AFTER_HELP: &str = "\
Start here:
  ermine describe data.csv --target y                   look at the data
  ermine compare data.csv --target y                    find the best learner
  ermine auto data.csv --target y -o y.ermine           train the best model
  ermine train data.csv --target y -o y.ermine          train a model
  ermine evaluate y.ermine test.csv                     evaluate it on a test set
  ermine report y.ermine test.csv -o report.html        write a full report
  ermine predict y.ermine new.csv -o predictions.csv    predict new rows
  ermine studio data.csv                                all of it in the browser

Exit codes: 0 success, 1 invalid data, model or file, 2 wrong usage, 130 stopped by Ctrl-C, 143 by SIGTERM,
  129 by SIGHUP";

/// Supervised learning for tables
#[derive(Parser)]
#[command(name = "ermine", version, after_help = AFTER_HELP, arg_required_else_help = true)]
struct Cli {
    /// Memory limit: 2G, 500M, 50% [default: 80% of the available memory] [env: ERMINE_MAX_MEMORY]
    #[arg(long, value_name = "SIZE", global = true, value_parser = memory_limit, help_heading = "Global options")]
    max_memory: Option<u64>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Describe(describe::Args),
    Split(split::Args),
    Train(train::Args),
    Predict(predict::Args),
    Evaluate(evaluate::Args),
    CrossValidate(cross_validate::Args),
    Compare(compare::Args),
    Auto(auto::Args),
    Tune(tune::Args),
    Show(show::Args),
    Report(report::Args),
    Export(export::Args),
    Import(import::Args),
    Neighbors(neighbors::Args),
    Learners(learners::Args),
    Completions(completions::Args),
    Man(completions::ManArgs),
    #[cfg(feature = "serve")]
    Serve(serve::Args),
    #[cfg(feature = "studio")]
    Studio(studio::Args),
}

fn memory_limit(text: &str) -> Result<u64, String> {
    memory::parse(text).ok_or_else(|| format!("expected {}", memory::EXPECTED))
}

fn main() -> ExitCode {
    terminal::init();
    interrupt::install();
    let words: Vec<OsString> = std::env::args_os().collect();
    let result = run(&words);
    if let Err(failure) = &result {
        failure.print();
    }
    ExitCode::from(result.err().map_or(0, |failure| failure.exit_code()))
}

fn run(words: &[OsString]) -> Result<(), Failure> {
    let learner = flags::learner_in(words)?;
    let program = Cli::command().color(terminal::clap_colors());
    let program = flags::WITH_LEARNER.iter().fold(program, |program, name| {
        program.mut_subcommand(name, |command| flags::add_to(command, learner.as_deref()))
    });
    let matches = program.try_get_matches_from(words).map_err(|e| Failure::from_clap(e, learner.as_deref()))?;
    let cli = Cli::from_arg_matches(&matches).map_err(|e| Failure::from_clap(e, None))?;
    if let Some(bytes) = cli.max_memory {
        memory::set_limit(bytes);
    }
    memory::limit()?;
    let given = matches.subcommand().map(|(_, m)| flags::given(m, learner.as_deref())).unwrap_or_default();
    match cli.command {
        Command::Describe(args) => describe::run(&args),
        Command::Split(args) => split::run(&args),
        Command::Train(args) => train::run(&args, given),
        Command::Tune(args) => tune::run(&args, given),
        Command::CrossValidate(args) => cross_validate::run(&args, given),
        Command::Predict(args) => predict::run(&args),
        Command::Evaluate(args) => evaluate::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Auto(args) => auto::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Neighbors(args) => neighbors::run(&args),
        Command::Learners(args) => learners::run(&args),
        Command::Completions(args) => completions::run(&args, &Cli::command()),
        Command::Man(args) => completions::run_man(&args, &Cli::command()),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(&args),
        #[cfg(feature = "studio")]
        Command::Studio(args) => studio::run(&args),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ermine::registry::learners;

    #[test]
    fn the_arguments_are_consistent_for_every_learner() {
        for entry in learners() {
            let learner = (entry.make)();
            for name in flags::WITH_LEARNER {
                Cli::command().mut_subcommand(name, |command| flags::add_to(command, Some(&*learner))).debug_assert();
            }
        }
    }

    #[test]
    fn every_parameter_of_every_learner_has_a_flag() {
        for entry in learners() {
            let learner = (entry.make)();
            for (name, spec) in
                flags::WITH_LEARNER.iter().flat_map(|n| learner.specs().into_iter().map(move |s| (n, s)))
            {
                let plain = Cli::command();
                let plain = plain.find_subcommand(name).unwrap();
                let flag = flags::flag_of(spec.name);
                let taken = plain.get_arguments().any(|arg| arg.get_long() == Some(&flag));
                assert!(!taken, "{}: --{flag} means something else in {name}", entry.info().name);
            }
        }
    }

    #[test]
    fn every_subcommand_shows_an_example() {
        for command in Cli::command().get_subcommands() {
            let help = command.get_after_help().map(|h| h.to_string()).unwrap_or_default();
            assert!(help.contains("Example") && help.contains("ermine "), "{}", command.get_name());
            assert!(command.get_about().is_some(), "{}", command.get_name());
        }
    }
}
