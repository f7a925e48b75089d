//! `ermine show`: a model for people: what made it, what it expects, what is proven about it, and how it looks.

use crate::failure::Failure;
use crate::files::{check_output, write};
use crate::grid::Grid;
use crate::terminal::{bold, clean, count, dim, fact, fitted, green, listed, print, print_json, width};
use crate::train::certificate;
use ermine::matrix::{FeatureSpec, Task};
use ermine::model::Model;
use ermine::model::file::FORMAT_VERSION;
use serde_json::json;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  ermine show species.ermine
  ermine show species.ermine --svg species.svg
  ermine show species.ermine --json";

/// Describe a model
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The model
    model: PathBuf,
    /// Draw the model into this file
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
    /// Write the model as a page whose parts fold into this file
    #[arg(long, value_name = "FILE.html")]
    html: Option<PathBuf>,
    /// Write the model as a graph for Graphviz into this file
    #[arg(long, value_name = "FILE.dot")]
    dot: Option<PathBuf>,
    /// Say the model as if-then rules
    #[arg(long)]
    rules: bool,
    /// Say it in JSON
    #[arg(long)]
    json: bool,
    /// Say nothing but results and errors
    #[arg(long, short)]
    quiet: bool,
}

/// Shows.
pub fn run(args: &Args) -> Result<(), Failure> {
    let outputs = [&args.svg, &args.html, &args.dot];
    for path in outputs.into_iter().flatten() {
        check_output(path, &[&args.model])?;
    }
    let model = Model::load(&args.model)?;
    let none = |what: &str| {
        let learner = &model.header().learner;
        Failure::Work(format!("{}: there is no {what} of a {learner}", args.model.display()))
    };
    let draw = |path: &Option<PathBuf>, what: &str, form: fn(&Model) -> Option<String>| match path {
        Some(path) => Ok(write(path, form(&model).ok_or_else(|| none(what))?.as_bytes())?),
        None => Ok::<(), Failure>(()),
    };
    draw(&args.svg, "picture", Model::svg)?;
    draw(&args.html, "page", Model::html)?;
    draw(&args.dot, "graph", Model::dot)?;
    let body = if args.rules { model.rules().ok_or_else(|| none("set of rules"))? } else { model.text() };
    if args.json {
        return print_json(&json!({
            "file": args.model,
            "format_version": FORMAT_VERSION,
            "model": model.header(),
            "text": body,
        }));
    }
    let mut said = if args.quiet { String::new() } else { text(args, &model) };
    said += &fitted(&clean(&body));
    for path in outputs.into_iter().flatten().filter(|_| !args.quiet) {
        said += &format!("\n{} {}\n", green("drawn"), bold(&clean(&path.display().to_string())));
    }
    print(&said)
}

fn text(args: &Args, model: &Model) -> String {
    let header = model.header();
    let schema = &header.schema;
    let mut text = format!("{}: {}\n", bold(&clean(&args.model.display().to_string())), bold(&clean(&header.learner)));
    let classes = format!(" of {} classes ({})", schema.classes.len(), listed(&schema.classes, 8));
    let classes = if schema.task == Task::Classification { &classes } else { "" };
    let params: Vec<String> = header.params.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let params = if params.is_empty() { "none".into() } else { params.join(", ") };
    text += &fact("predicts", 14, &format!("{}: {}{classes}", schema.target.join(", "), schema.task));
    text += &fact("trained on", 14, &format!("{} rows, seed {}", count(header.n_rows), header.seed));
    text += &fact("parameters", 14, &params);
    text += &format!("\n{}\n{}", bold("Certificate"), certificate(model));
    text += &format!("\n{}\n{}\n{}\n", bold("Features"), features(&schema.features), bold("Model"));
    text
}

fn features(features: &[FeatureSpec]) -> String {
    /// More columns than this are only counted.
    const MOST: usize = 30;
    let mut grid = Grid::new(["column", "kind", "categories"]).left(&[1, 2]);
    for feature in features.iter().take(MOST) {
        grid.push([&feature.name, feature.kind.word(), &listed(&feature.levels, 8)]);
    }
    let mut text = grid.text(width());
    if features.len() > MOST {
        text += &dim(&format!("  ... {} more columns; all of them with --json\n", count(features.len() - MOST)));
    }
    text
}
