//! Errors of the program and exit codes: 1 for data, models and files, 2 for wrong usage, 128 plus the number of the signal that
//! stopped the program (130 for Ctrl-C).

use crate::clean::clean;
use crate::interrupt;
use crate::terminal::print_message;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use ermine::Error;
use ermine::registry::learners;
use ermine_core::learner::Learner;
use std::fmt::Display;

/// Why the program ends early.
#[derive(Debug)]
pub enum Failure {
    /// A mistake on the command line.
    Usage(String),
    /// The data, the model or a file can't be used.
    Work(String),
    /// An error or the help text of clap.
    Clap(Box<clap::Error>, Option<String>),
    /// Ctrl-C or another signal that ends programs.
    Stopped,
    /// A signal, after finished work was printed or written.
    StoppedWith(&'static str),
    /// The reader of the output has exited, as `head` does: not an error.
    BrokenPipe,
}

impl Failure {
    /// An error about data, model or file, whatever its kind.
    pub fn work(error: impl Display) -> Failure {
        Failure::Work(error.to_string())
    }

    /// An error of clap; for an unknown flag, with the learners that have it.
    pub fn from_clap(mut error: clap::Error, learner: Option<&dyn Learner>) -> Failure {
        // Flags are accepted with _ too, but always shown with -.
        if let Some(ContextValue::String(flag)) = error.get(ContextKind::SuggestedArg) {
            let shown = ContextValue::String(flag.replace('_', "-"));
            error.insert(ContextKind::SuggestedArg, shown);
        }
        let owners = learner.and_then(|learner| owners_of(&error, learner.info().name));
        Failure::Clap(Box::new(error), owners)
    }

    /// The exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Usage(_) => 2,
            Failure::Work(_) => 1,
            Failure::Clap(error, _) => error.exit_code() as u8,
            Failure::Stopped | Failure::StoppedWith(_) => interrupt::exit_code(),
            Failure::BrokenPipe => 0,
        }
    }

    /// Prints it to stderr.
    pub fn print(&self) {
        let red = |word: &str| console::style(word.to_string()).for_stderr().red().bold().to_string();
        match self {
            Failure::Usage(message) | Failure::Work(message) => {
                print_message(format!("{} {}", red("error:"), clean(message)))
            }
            Failure::Clap(error, owners) => {
                // Help goes to stdout; a closed pipe is not an error there either.
                let _ = error.print();
                if let Some(owners) = owners {
                    print_message(format!("\n{owners}"));
                }
            }
            Failure::StoppedWith(what) => print_message(format!("{} stopped; {what}", red("error:"))),
            Failure::Stopped => print_message(format!("{} stopped; nothing was written", red("error:"))),
            Failure::BrokenPipe => {}
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        match error {
            Error::Stopped => Failure::Stopped,
            Error::Memory { .. } => Failure::Work(format!("{error} (change the limit with --max-memory)")),
            Error::Unknown { .. } | Error::Param { .. } | Error::Unsupported { .. } => {
                Failure::Usage(error.to_string())
            }
            Error::MissingGroups => Failure::Work(format!("{error} (pass --group COLUMN)")),
            Error::MissingTarget { .. } => {
                Failure::Work(format!("{error} (drop such rows with --drop-missing-target)"))
            }
            other => Failure::Work(other.to_string()),
        }
    }
}

/// "--max-depth is a parameter of: decision-tree", where the unknown flag is one.
fn owners_of(error: &clap::Error, learner: &str) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument || error.get(ContextKind::SuggestedArg).is_some() {
        return None;
    }
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return None };
    let name = flag.strip_prefix("--")?.split('=').next()?.replace('-', "_");
    let has = |entry: &&ermine::registry::RegistryEntry| (entry.make)().specs().iter().any(|spec| spec.name == name);
    let owners: Vec<&str> = learners().filter(has).map(|entry| entry.info().name).collect();
    if owners.is_empty() {
        return Some(format!("Parameters of {learner}: ermine learners {learner}"));
    }
    Some(format!("{flag} is a parameter of {}, but the learner is {learner}", owners.join(", ")))
}
