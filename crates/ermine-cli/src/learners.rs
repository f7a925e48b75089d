//! `ermine learners`: the learners and their parameters.

use crate::failure::Failure;
use crate::flags::{default_text, flag_of};
use crate::terminal::{bold, dim, print, print_json, width, wrapped};
use ermine::registry::{self, learners};
use ermine_core::learner::Learner;
use serde_json::json;

const EXAMPLES: &str = "\
Examples:
  ermine learners                     all learners, one line each
  ermine learners decision-stump      its capabilities and parameters";

/// List the learners and their parameters
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Show this learner with its parameters
    name: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let learners: Vec<Box<dyn Learner>> = match &args.name {
        Some(name) => vec![registry::learner(name)?],
        None => learners().map(|entry| (entry.make)()).collect(),
    };
    if args.json {
        let described = |l: &dyn Learner| json!({ "learner": l.info(), "parameters": l.specs() });
        return print_json(&learners.iter().map(|learner| described(&**learner)).collect::<Vec<_>>());
    }
    print(&if args.name.is_some() { one(&*learners[0]) } else { all(&learners) })
}

fn all(learners: &[Box<dyn Learner>]) -> String {
    let widest = learners.iter().map(|learner| learner.info().name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for info in learners.iter().map(|learner| learner.info()) {
        let line = format!("{} ({})", info.summary, tasks(info.capabilities.tasks));
        let line = wrapped(&line, widest + 4, text_width());
        text += &format!("  {}{}", bold(info.name), &line[info.name.len() + 2..]);
    }
    let hint = dim("Parameters of a learner: ermine learners NAME");
    format!("{text}\n{hint}\n")
}

/// Width of the text, limited for readability.
fn text_width() -> Option<usize> {
    Some(width().unwrap_or(100).min(100))
}

fn tasks(tasks: &[ermine_core::matrix::Task]) -> String {
    tasks.iter().map(|task| task.as_str()).collect::<Vec<_>>().join(", ")
}

fn one(learner: &dyn Learner) -> String {
    let info = learner.info();
    let can = info.capabilities;
    let capabilities = [
        (can.binary_only, "two classes only"),
        (can.multi_output, "several targets"),
        (can.weights, "sample weights"),
        (can.missing, "missing values"),
        (can.nominal, "categories"),
        (can.sparse, "sparse columns"),
        (can.probabilities, "probabilities"),
        (can.random, "depends on the random seed"),
    ];
    let supported: Vec<&str> = capabilities.iter().filter(|(can, _)| *can).map(|(_, name)| *name).collect();
    let mut text = format!("{}: {}\n", bold(info.name), info.summary);
    text += &format!("  {} {}\n", dim("tasks   "), tasks(can.tasks));
    text += &format!("  {} {}\n", dim("supports"), supported.join(", "));
    let specs = learner.specs();
    text += if specs.is_empty() { "\nIt has no parameters.\n" } else { "\nParameters:\n" };
    for spec in specs {
        let rule = dim(&format!("[{}] [default: {}]", spec.allowed(), default_text(&spec)));
        text += &format!(
            "  {} {rule}\n{}",
            bold(&format!("--{}", flag_of(spec.name))),
            wrapped(&spec.doc, 6, text_width())
        );
    }
    text
}
