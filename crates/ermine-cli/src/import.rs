//! `ermine import`: converts a model of another program.

use crate::clean::clean;
use crate::failure::Failure;
use crate::files::{check_output, write};
use crate::terminal::{bold, counted, green, print};
use ermine_core::model::Model;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  ermine import booster.json -o booster.ermine
  ermine import booster.ubj -o booster.ermine
  ermine import lightgbm.txt -o booster.ermine
  ermine import booster.json --target churned --classes no,yes -o booster.ermine";

/// Import a model from XGBoost (JSON or UBJSON) or LightGBM (text)
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Model file of the other program
    file: PathBuf,
    /// Name of the target column, for evaluation [default: target]
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,
    /// Names of the classes in the order of their codes, separated by commas [default: 0,1,...]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    classes: Vec<String>,
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
    let mut model = ermine::import(&args.file)?;
    name(&mut model, args)?;
    write(&args.output, &model.to_loadable_bytes()?)?;
    let (trees, columns) = (model.tree_ensemble()?.n_trees(), model.schema().features.len());
    let path = bold(&clean(&args.output.display().to_string()));
    let message =
        format!("{} {path}: {}, {}\n", green("imported"), counted(trees, "tree"), counted(columns, "feature"));
    if args.quiet { Ok(()) } else { print(&message) }
}

/// Sets the names of target and classes, which files of other libraries don't contain.
fn name(model: &mut Model, args: &Args) -> Result<(), Failure> {
    let n = model.schema().classes.len();
    if !args.classes.is_empty() && args.classes.len() != n {
        let what = if n == 0 { "the model predicts numbers".into() } else { format!("the model has {n} classes") };
        return Err(Failure::Usage(format!("--classes: got {}, but {what}", counted(args.classes.len(), "name"))));
    }
    if let Some(twice) = (1..n.min(args.classes.len())).find(|&k| args.classes[..k].contains(&args.classes[k])) {
        return Err(Failure::Usage(format!("--classes: '{}' is given twice", args.classes[twice])));
    }
    let (header, _) = model.parts_mut()?;
    if !args.classes.is_empty() {
        header.schema.classes = args.classes.clone();
    }
    if let Some(target) = &args.target {
        if header.schema.features.iter().any(|feature| feature.name == *target) {
            return Err(Failure::Usage(format!("--target {target}: this is a feature of the model")));
        }
        header.schema.target = vec![target.clone()];
    }
    Ok(())
}
