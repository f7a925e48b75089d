//! `ermine import`: converts a model of another program.

use crate::clean::clean;
use crate::failure::Failure;
use crate::files::{check_output, write};
use crate::terminal::{bold, counted, green, print};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  ermine import booster.json -o booster.ermine
  ermine import booster.ubj -o booster.ermine
  ermine import lightgbm.txt -o booster.ermine";

/// Import a model from XGBoost (JSON or UBJSON) or LightGBM (text)
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Model file of the other program
    file: PathBuf,
    /// Output file
    #[arg(long, short, value_name = "FILE.ermine")]
    output: PathBuf,
    /// Print only results and errors
    #[arg(long, short)]
    quiet: bool,
}

/// Imports.
pub fn run(args: &Args) -> Result<(), Failure> {
    check_output(&args.output, &[&args.file])?;
    let model = ermine::import(&args.file)?;
    write(&args.output, &model.to_loadable_bytes()?)?;
    let (trees, columns) = (model.tree_ensemble()?.n_trees(), model.schema().features.len());
    let path = bold(&clean(&args.output.display().to_string()));
    let message =
        format!("{} {path}: {}, {}\n", green("imported"), counted(trees, "tree"), counted(columns, "feature"));
    if args.quiet { Ok(()) } else { print(&message) }
}
