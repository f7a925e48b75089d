//! `ermine export`: a model as something that other programs read.

use crate::failure::Failure;
use crate::files::{check_output, write};
use crate::terminal::{bold, clean, green, print};
use ermine::model::Model;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  ermine export species.ermine --json -o species.json
  ermine export species.ermine --json | head";

/// Write a model for other programs: all of it, as JSON
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The model
    model: PathBuf,
    /// As JSON, which is the one format so far
    #[arg(long)]
    json: bool,
    /// Where to write it; stdout if not given
    #[arg(long, short, value_name = "FILE.json")]
    output: Option<PathBuf>,
    /// Say nothing but results and errors
    #[arg(long, short)]
    quiet: bool,
}

/// Exports.
pub fn run(args: &Args) -> Result<(), Failure> {
    let output = args.output.as_deref().filter(|path| *path != Path::new("-"));
    if let Some(path) = output {
        check_output(path, &[&args.model])?;
    }
    let model = Model::load(&args.model)?;
    let json = serde_json::to_string_pretty(&model.to_json()?).map_err(Failure::work)? + "\n";
    let Some(path) = output else { return print(&json) };
    write(path, json.as_bytes())?;
    let said = format!("{} {}\n", green("exported"), bold(&clean(&path.display().to_string())));
    if args.quiet { Ok(()) } else { print(&said) }
}
