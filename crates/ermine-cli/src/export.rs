//! `ermine export`: writes a model for other programs.

use crate::clean::clean;
use crate::failure::Failure;
use crate::files::{check_output, write};
use crate::terminal::{bold, green, print};
use ermine::exchange::ExportFormat;
use std::io::Write;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  ermine export forest.ermine -o forest.onnx
  ermine export forest.ermine --format c -o forest.c
  ermine export species.ermine --json | head";

/// Export a model as ONNX, C or Rust source code, or JSON
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Model file
    model: PathBuf,
    /// Format: onnx (tree ensembles, linear models, support vector machines), c, rust (tree ensembles), or json (any model) [default: by the extension of the output, json to stdout]
    #[arg(long, value_name = "FORMAT", value_parser = ["onnx", "c", "rust", "json"], conflicts_with = "json")]
    format: Option<String>,
    /// The same as --format json
    #[arg(long)]
    json: bool,
    /// Output file [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print only results and errors
    #[arg(long, short)]
    quiet: bool,
}

/// The format implied by the extension of a file.
fn by_ending(path: &Path) -> Result<ExportFormat, Failure> {
    match path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).as_deref() {
        Some("onnx") => Ok(ExportFormat::Onnx),
        Some("c" | "h") => Ok(ExportFormat::C),
        Some("rs") => Ok(ExportFormat::Rust),
        Some("json") => Ok(ExportFormat::Json),
        _ => Err(Failure::Usage(format!(
            "{}: unknown export format for this extension; pass --format onnx, c, rust or json",
            path.display()
        ))),
    }
}

/// Exports.
pub fn run(args: &Args) -> Result<(), Failure> {
    let output = args.output.as_deref().filter(|path| *path != Path::new("-"));
    if let Some(path) = output {
        check_output(path, &[&args.model])?;
    }
    let format = match args.format.as_deref() {
        Some("onnx") => ExportFormat::Onnx,
        Some("c") => ExportFormat::C,
        Some("rust") => ExportFormat::Rust,
        Some(_) => ExportFormat::Json,
        None if args.json => ExportFormat::Json,
        None => output.map_or(Ok(ExportFormat::Json), by_ending)?,
    };
    let bytes = ermine::export(&ermine::load(&args.model)?, format)?;
    let Some(path) = output else {
        return match String::from_utf8(bytes) {
            Ok(text) => print(&text),
            Err(error) => std::io::stdout().write_all(error.as_bytes()).map_err(Failure::work),
        };
    };
    write(path, &bytes)?;
    let message = format!("{} {}\n", green("exported"), bold(&clean(&path.display().to_string())));
    if args.quiet { Ok(()) } else { print(&message) }
}
