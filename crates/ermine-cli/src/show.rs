//! `ermine show`: describes a model: parameters, features, certificate, structure, importances.

use crate::args::{ColumnArgs, OutputArgs};
use crate::clean::clean;
use crate::data::read;
use crate::evaluate::load;
use crate::failure::Failure;
use crate::files::{check_output, write};
use crate::grid::Grid;
use crate::progress::Progress;
use crate::terminal::{bold, count, counted, dim, fact, fitted, green, listed, print, print_json, width};
use crate::train::certificate;
use ermine_core::matrix::{FeatureSpec, Task};
use ermine_core::measure::Measure;
use ermine_core::model::ImportanceKind;
use ermine_core::model::Model;
use ermine_core::model::file::FORMAT_VERSION;
use ermine_eval::explain::dependence::dependence;
use ermine_eval::explain::permutation::permutation_importances;
use ermine_eval::report::dependence::picture as dependence_picture;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Number of permutations of each column.
const SHUFFLES: usize = 5;

/// Number of grid values for the partial dependence on a numeric column, and number of individual curves.
const PLACES: usize = 20;
const CURVES: usize = 30;

const EXAMPLES: &str = "\
Examples:
  ermine show species.ermine
  ermine show species.ermine --svg species.svg
  ermine show forest.ermine --tree 1
  ermine show forest.ermine --shap penguins.csv
  ermine show species.ermine --explain new.csv --row 3
  ermine show forest.ermine --importance cover
  ermine show forest.ermine --permutation test.csv
  ermine show forest.ermine --dependence flipper_length_mm --on penguins.csv --svg flipper.svg
  ermine show species.ermine --json";

/// Describe a model
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Model file
    model: PathBuf,
    /// Write a drawing of the model
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
    /// Write the model as an HTML page with collapsible parts
    #[arg(long, value_name = "FILE.html")]
    html: Option<PathBuf>,
    /// Write the model as a Graphviz graph
    #[arg(long, value_name = "FILE.dot")]
    dot: Option<PathBuf>,
    /// Print the model as if-then rules
    #[arg(long)]
    rules: bool,
    /// Show one tree or member of an ensemble, counted from 1
    #[arg(long, value_name = "N", visible_alias = "tree")]
    member: Option<usize>,
    /// Feature importances as mean absolute SHAP values on this table
    #[arg(long, value_name = "TABLE")]
    shap: Option<PathBuf>,
    /// Feature importances from the splits: gain, cover (training weight) or count
    #[arg(long, value_name = "KIND", value_parser = ["gain", "cover", "count"])]
    importance: Option<String>,
    /// Permutation importances on this table, which needs the target
    #[arg(long, value_name = "TABLE")]
    permutation: Option<PathBuf>,
    /// Partial dependence of the prediction on this column; --svg draws it
    #[arg(long, value_name = "COLUMN", requires = "on", conflicts_with_all = ["html", "dot", "shap", "importance", "permutation", "path", "explain", "rules"])]
    dependence: Option<String>,
    /// The table for --dependence
    #[arg(long, value_name = "TABLE", requires = "dependence")]
    on: Option<PathBuf>,
    /// Print the path of cost-complexity pruning
    #[arg(long)]
    path: bool,
    /// Explain the prediction for a row of this table
    #[arg(long, value_name = "FILE")]
    explain: Option<PathBuf>,
    /// The row to explain, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1, requires = "explain")]
    row: usize,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Print only results and errors
    #[arg(long, short)]
    quiet: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let outputs = [&args.svg, &args.html, &args.dot];
    for path in outputs.into_iter().flatten() {
        check_output(path, &[&args.model])?;
    }
    let whole = ermine::load(&args.model)?;
    let model = if let Some(number) = args.member { member(&whole, number)? } else { whole };
    let none = |what: &str| {
        let learner = &model.header().learner;
        let article = if learner.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        Failure::Work(format!("{}: {article} {learner} has no {what}", args.model.display()))
    };
    let draw = |path: &Option<PathBuf>, what: &str, form: fn(&Model) -> Option<String>| match path {
        Some(path) => Ok(write(path, form(&model).ok_or_else(|| none(what))?.as_bytes())?),
        None => Ok::<(), Failure>(()),
    };
    if let (Some(column), Some(table)) = (&args.dependence, &args.on) {
        return show_dependence(args, &model, column, table);
    }
    draw(&args.svg, "picture", Model::svg)?;
    draw(&args.html, "page", Model::html)?;
    draw(&args.dot, "graph", Model::dot)?;
    let body = match (&args.shap, &args.explain) {
        (Some(table), _) => shap(&model, table)?,
        (None, Some(file)) => {
            explain_row(args, file, &model)?.ok_or_else(|| none("explanation of single predictions"))?
        }
        (None, None) if args.importance.is_some() => {
            importance(&model, args.importance.as_deref().unwrap_or_default())?
        }
        (None, None) if args.permutation.is_some() => {
            permutation(&model, args.permutation.as_deref().unwrap_or_else(|| Path::new("")))?
        }
        (None, None) if args.path => path(&model).ok_or_else(|| none("pruning path"))?,
        (None, None) if args.rules => model.rules().ok_or_else(|| none("set of rules"))?,
        (None, None) => model.text(),
    };
    if args.json {
        return print_json(&json!({
            "file": args.model,
            "format_version": FORMAT_VERSION,
            "model": model.header(),
            "text": body,
        }));
    }
    // A requested part is printed by itself.
    let is_part = args.shap.is_some()
        || args.member.is_some()
        || args.explain.is_some()
        || args.importance.is_some()
        || args.permutation.is_some()
        || args.path
        || args.rules;
    let mut output = if args.quiet || is_part { String::new() } else { text(args, &model) };
    output += &fitted(&clean(&body));
    for path in outputs.into_iter().flatten().filter(|_| !args.quiet) {
        output += &format!("\n{} {}\n", green("drawn"), bold(&clean(&path.display().to_string())));
    }
    print(&output)
}

/// A tree or member of an ensemble, counted from 1.
fn member(whole: &Model, number: usize) -> Result<Model, Failure> {
    let n = whole.n_members();
    match number.checked_sub(1) {
        Some(index) if index < n || n == 0 => Ok(whole.member(index)?),
        _ => Err(Failure::Usage(format!("--tree {number} is out of range (the model has members 1 to {n})"))),
    }
}

/// The columns by their mean absolute SHAP values on a table.
fn shap(model: &Model, table: &Path) -> Result<String, Failure> {
    let table = read(table, &model.schema().read_options(), None, &Progress::new(true))?;
    let importances = model.shap_values(&table)?.importances();
    let text = format!("mean absolute SHAP values on {}:\n", counted(table.n_rows(), "row"));
    Ok(text + &bars(model, &importances))
}

/// The columns by the gain, cover or number of their splits.
fn importance(model: &Model, kind: &str) -> Result<String, Failure> {
    let (kind, what) = match kind {
        "cover" => (ImportanceKind::Cover, "training weight at the splits of each feature"),
        "count" => (ImportanceKind::Count, "number of splits of each feature"),
        _ => (ImportanceKind::Gain, "share of each feature in the total gain of the splits"),
    };
    Ok(format!("{what}:\n") + &bars(model, &model.tree_importances(kind)?))
}

/// The columns by their permutation importance on a table.
fn permutation(model: &Model, table: &Path) -> Result<String, Failure> {
    let progress = Progress::new(true);
    let data = load(table, &ColumnArgs::default(), &OutputArgs::default(), model, &progress)?;
    let measure = Measure::headline(data.task(), None)[0];
    let found = permutation_importances(model, &data, measure, SHUFFLES, 0, &progress)?;
    let text = format!("decrease of {measure} on {} when a column is shuffled:\n", counted(data.n_rows(), "row"));
    Ok(text + &bars(model, &found.iter().map(|importance| importance.loss).collect::<Vec<_>>()))
}

/// The partial dependence on a column, as a table and a drawing.
fn show_dependence(args: &Args, model: &Model, column: &str, table: &Path) -> Result<(), Failure> {
    let schema = model.schema();
    let table = read(table, &schema.read_options(), None, &Progress::new(args.quiet))?;
    let features = schema.features_of(&table)?;
    let found = dependence(model, &features, None, |_| 1.0, column, PLACES, CURVES)?;
    if let Some(path) = &args.svg {
        write(path, dependence_picture(&found, schema.task, &schema.classes).as_bytes())?;
    }
    if args.json {
        return print_json(&json!({ "file": args.model, "rows": table.n_rows(), "dependence": found }));
    }
    let n = found.means.first().map_or(0, Vec::len);
    let titles = if schema.classes.len() == n { schema.classes.clone() } else { schema.target.clone() };
    let titles = if titles.len() == n { titles } else { (1..=n).map(|k| format!("prediction {k}")).collect() };
    let mut grid = Grid::new(std::iter::once(column.to_string()).chain(titles).collect::<Vec<String>>());
    for (place, means) in found.means.iter().enumerate() {
        let value = match &found.categories {
            Some(names) => names[place].clone(),
            None => format!("{}", found.values[place]),
        };
        grid.push(std::iter::once(value).chain(means.iter().map(|mean| format!("{mean:.5}"))).collect::<Vec<String>>());
    }
    let mut output = format!(
        "partial dependence: mean prediction over {} with {column} set to each value:\n",
        counted(table.n_rows(), "row")
    );
    output += &grid.text(width());
    if let Some(path) = args.svg.as_ref().filter(|_| !args.quiet) {
        output += &format!("\n{} {}\n", green("drawn"), bold(&clean(&path.display().to_string())));
    }
    print(&output)
}

/// The columns in descending order, each with a bar.
fn bars(model: &Model, importances: &[f64]) -> String {
    let most = importances.iter().fold(0.0, |a: f64, &b| a.max(b));
    let mut order: Vec<usize> = (0..importances.len()).collect();
    order.sort_by(|&a, &b| importances[b].total_cmp(&importances[a]).then(a.cmp(&b)));
    let mut text = String::new();
    for column in order {
        let size = importances[column];
        let bar = "█".repeat((size / most * 40.0).round().clamp(0.0, 40.0) as usize);
        text += &format!("  {:<24} {size:>10.5} {bar}\n", model.schema().features[column].name);
    }
    text
}

/// The pruning path as a table, without the largest trees if it is long.
fn path(model: &Model) -> Option<String> {
    const MOST: usize = 60;
    let steps = model.pruning_path()?;
    let hidden = steps.len().saturating_sub(MOST);
    let mut grid = Grid::new(["from ccp_alpha", "leaves", "impurity"]);
    for (alpha, impurity, n_leaves) in &steps[hidden..] {
        grid.push([&format!("{alpha:.6e}"), &count(*n_leaves), &format!("{impurity:.6}")]);
    }
    let more = format!("  {} larger trees not shown (Python: cost_complexity_pruning_path)\n", count(hidden));
    Some(if hidden > 0 { dim(&more) } else { String::new() } + &grid.text(width()))
}

/// Explains the prediction of one row.
fn explain_row(args: &Args, file: &Path, model: &Model) -> Result<Option<String>, Failure> {
    let progress = Progress::new(args.quiet);
    let table = read(file, &model.schema().read_options(), None, &progress)?;
    let row = args.row.checked_sub(1).filter(|row| *row < table.n_rows()).ok_or_else(|| {
        let (file, n) = (file.display(), count(table.n_rows()));
        Failure::Usage(format!("--row {} is out of range ({file} has rows 1 to {n})", args.row))
    })?;
    Ok(model.explain_row(&table, row)?)
}

fn text(args: &Args, model: &Model) -> String {
    let header = model.header();
    let schema = &header.schema;
    let mut text = format!("{}: {}\n", bold(&clean(&args.model.display().to_string())), bold(&clean(&header.learner)));
    let classes = format!(" of {} classes ({})", schema.classes.len(), listed(&schema.classes, 8));
    let labels = format!(" of {} labels ({})", schema.classes.len(), listed(&schema.classes, 8));
    let classes = match schema.task {
        Task::Classification => &classes,
        Task::Multilabel => &labels,
        Task::Regression | Task::Ranking => "",
    };
    let params: Vec<String> = header.params.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let params = if params.is_empty() { "none".into() } else { params.join(", ") };
    text += &fact("predicts", 14, &format!("{}: {}{classes}", schema.target.join(", "), schema.task));
    // An imported model has neither.
    if header.n_rows > 0 {
        text += &fact("trained on", 14, &format!("{}, seed {}", counted(header.n_rows, "row"), header.seed));
        text += &fact("parameters", 14, &params);
    }
    text += &format!("\n{}\n{}", bold("Certificate"), certificate(model));
    text += &format!("\n{}\n{}\n{}\n", bold("Features"), features(&schema.features), bold("Model"));
    text
}

fn features(features: &[FeatureSpec]) -> String {
    /// Maximum number of columns that are listed.
    const MOST: usize = 30;
    let mut grid = Grid::new(["column", "kind", "categories"]).left(&[1, 2]);
    for feature in features.iter().take(MOST) {
        grid.push([&feature.name, feature.kind.as_str(), &listed(&feature.levels, 8)]);
    }
    let mut text = grid.text(width());
    if features.len() > MOST {
        text += &dim(&format!("  ... {} more columns; all of them with --json\n", count(features.len() - MOST)));
    }
    text
}
