//! The `ermine` program: supervised learning for tables from the shell.
//!
//! Thin over the core crate: each subcommand reads its arguments, calls the core and says what came of it.
//!
//! | file | what it holds |
//! |---|---|
//! | `train`, `predict`, `evaluate`, `cross_validate`, `compare`, `tune`, `show`, `report`, `export`, `import`, `neighbors`, `learners` | one subcommand each |
//! | `args` | arguments that several subcommands share |
//! | `boosting` | what training takes for gradient boosting alone |
//! | `flags` | a flag for each parameter of a learner |
//! | `data` | a file becomes a data set; how it was understood |
//! | `terminal`, `grid` | colours, widths, writing to stdout; tables of text |
//! | `progress`, `interrupt` | bars, and stopping on Ctrl-C and other signals |
//! | `files` | files that are written whole or not at all |
//! | `failure` | what went wrong, and the exit code |

// They panic where stdout or stderr can't be written: `terminal` has what doesn't.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod boosting;
mod clean;
mod compare;
mod cross_validate;
mod data;
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
mod show;
mod terminal;
mod train;
mod tune;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use ermine_core::memory;
use failure::Failure;
use std::ffi::OsString;
use std::process::ExitCode;

const AFTER_HELP: &str = "\
Start here:
  ermine compare data.csv --target y                    which learner is best, and how good is it?
  ermine train data.csv --target y -o y.ermine          learn a model
  ermine evaluate y.ermine test.csv                     how good is it on rows it has not seen?
  ermine report y.ermine test.csv -o report.html        the same and more, to look at
  ermine predict y.ermine new.csv -o predictions.csv    use it

Exit codes: 0 done, 1 the data, model or file could not be used, 2 wrong usage, 130 stopped by Ctrl-C,
  143 by SIGTERM, 129 by SIGHUP";

/// Supervised learning for tables: fast, exact where it can be, with a certificate on every fit.
#[derive(Parser)]
#[command(name = "ermine", version, after_help = AFTER_HELP, arg_required_else_help = true)]
struct Cli {
    /// Limit the memory of the program (2G, 500M, 50%); the environment variable ERMINE_MAX_MEMORY does the same. Default: 80 % of what there is.
    #[arg(long, value_name = "SIZE", global = true, value_parser = memory_limit, help_heading = "Global options")]
    max_memory: Option<u64>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Train(train::Args),
    Predict(predict::Args),
    Evaluate(evaluate::Args),
    CrossValidate(cross_validate::Args),
    Compare(compare::Args),
    Tune(tune::Args),
    Show(show::Args),
    Report(report::Args),
    Export(export::Args),
    Import(import::Args),
    Neighbors(neighbors::Args),
    Learners(learners::Args),
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
        failure.tell();
    }
    ExitCode::from(result.err().map_or(0, |failure| failure.exit_code()))
}

fn run(words: &[OsString]) -> Result<(), Failure> {
    let learner = flags::learner_in(words)?;
    let program = Cli::command().color(terminal::clap_colours());
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
        Command::Train(args) => train::run(&args, given),
        Command::Tune(args) => tune::run(&args, given),
        Command::CrossValidate(args) => cross_validate::run(&args, given),
        Command::Predict(args) => predict::run(&args),
        Command::Evaluate(args) => evaluate::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Neighbors(args) => neighbors::run(&args),
        Command::Learners(args) => learners::run(&args),
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
    fn every_parameter_of_every_learner_has_a_flag_of_its_own() {
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
