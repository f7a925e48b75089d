//! `ermine evaluate`: how good a model is on rows it has not seen.

use crate::args::{ColumnArgs, Manner, measure};
use crate::clean::clean;
use crate::data::{read, roles};
use crate::failure::Failure;
use crate::grid::Grid;
use crate::progress::Progress;
use crate::terminal::{bold, count, decimals, dim, print, print_json, say, width};
use ermine::Error;
use ermine::registry;
use ermine_core::matrix::{Dataset, Schema, Task};
use ermine_core::metric::confusion::Confusion;
use ermine_core::model::Model;
use ermine_eval::evaluate::Evaluate;
use ermine_eval::evaluate::{Evaluation, Measure};
use serde_json::json;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  ermine evaluate species.ermine test.csv
  ermine evaluate species.ermine test.csv --measure weighted-f1,kappa,error-rate
  ermine evaluate species.ermine test.csv --json

FILE needs the columns that the model was trained on and its target. Rows that the model has learned from say little
about new ones: evaluate on others, or use `ermine compare`, which sees to it.";

/// Say how good a model is on rows it has not seen
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The model
    model: PathBuf,
    /// A table with the truth: features and target
    file: PathBuf,
    /// Which measures, separated by commas, instead of the usual ones (a wrong name lists all)
    #[arg(long, value_name = "MEASURES", value_delimiter = ',', value_parser = measure)]
    measure: Vec<Measure>,
    #[command(flatten)]
    columns: ColumnArgs,
    #[command(flatten)]
    manner: Manner,
}

/// Evaluates.
pub fn run(args: &Args) -> Result<(), Failure> {
    let model = ermine::load(&args.model)?;
    let name = &model.header().learner;
    if registry::learner(name).is_ok_and(|learner| !learner.needs_target()) {
        return Err(Failure::Work(format!(
            "{name} learns without a target: there is no truth to measure its scores against; `ermine predict` tells them (below 0: outside)"
        )));
    }
    let progress = Progress::new(!args.manner.chatty());
    let data = load(&args.file, &args.columns, &args.manner, &model, &progress)?;
    args.measure.iter().try_for_each(|measure| measure.check(data.task()))?;
    let evaluate = || match &args.measure[..] {
        [] => model.evaluate(&data),
        some => model.evaluate_by(some, &data),
    };
    let evaluation = progress.stage("evaluating", args.manner.threads(), evaluate).map_err(Failure::work)?;
    drop(progress);
    if args.manner.json {
        return print_json(&json!({
            "model": args.model,
            "learner": model.header().learner,
            "file": args.file,
            "n_rows": evaluation.n_rows,
            "scores": evaluation.scores,
            "classes": evaluation.classes,
            "confusion": evaluation.confusion,
            "quantiles": evaluation.quantiles,
        }));
    }
    if let Some(note) = model.certificate().notes.iter().find(|note| note.contains("to be added to the scores")) {
        say(format!("note: {note}; here it is judged without them"));
    }
    let file = args.file.display().to_string();
    let heading = format!(
        "{} on {}: {} rows\n\n",
        bold(&clean(&model.header().learner)),
        bold(&clean(&file)),
        count(evaluation.n_rows)
    );
    print(&format!("{}{}", if args.manner.quiet { "" } else { &heading }, text(&evaluation)))
}

/// The table, with the types that the model expects and those that the user says.
pub fn load(
    file: &Path,
    columns: &ColumnArgs,
    manner: &Manner,
    model: &Model,
    progress: &Progress,
) -> Result<Dataset, Failure> {
    load_as(file, columns, &[], manner, model.schema(), progress)
}

/// The table as the schema of other data has it. `init_score`: the columns that scores start from.
pub fn load_as(
    file: &Path,
    columns: &ColumnArgs,
    init_score: &[String],
    manner: &Manner,
    schema: &Schema,
    progress: &Progress,
) -> Result<Dataset, Failure> {
    let is_feature = |name: &&String| schema.features.iter().any(|feature| feature.name == **name);
    let named = [
        ("--weight", &columns.weight, "how much rows count"),
        ("--group", &columns.group, "which rows belong together"),
    ];
    for (flag, column, what) in named {
        if let Some(name) = column.as_ref().filter(is_feature) {
            return Err(Failure::Usage(format!(
                "{flag} {name}: the model learned from this column, which can't say {what} too; copy it into a column of another name"
            )));
        }
    }
    let mut options = schema.read_options();
    if let ([target], Some(column_type)) = (&schema.target[..], schema.target_type()) {
        options.types.insert(target.clone(), column_type);
    }
    options.types.extend(columns.types.iter().cloned());
    // What is wrong with the columns that the model wants is the file's fault, not the command line's.
    let by_user = |name: &String| {
        let said = columns.types.iter().map(|t| &t.0).chain(&columns.weight).chain(&columns.group).chain(init_score);
        said.into_iter().any(|known| known == name)
    };
    let blame = |error: Error| match &error {
        Error::Unknown { what: "column", name, .. } if !by_user(name) => {
            Failure::Work(format!("{}: {error}", file.display()))
        }
        _ => error.into(),
    };
    let table = read(file, &options, manner.threads(), progress).map_err(blame)?;
    let mut roles = roles(schema.target.clone(), Some(schema.task), columns);
    roles.init_score = init_score.to_vec();
    if let (None, Task::Ranking, Some(name)) = (&roles.group, schema.task, &schema.group) {
        if table.column(name).is_err() {
            let file = file.display();
            return Err(Failure::Work(format!(
                "{file}: which query is a row of? There is no column '{name}', which said it in training; name another with --group"
            )));
        }
        roles.group = Some(name.clone());
    }
    Dataset::new(table, &roles).map_err(blame)
}

fn text(evaluation: &Evaluation) -> String {
    let mut grid = Grid::new(["score", "value", "95% interval", "better", "what it says"]).left(&[2, 3, 4]);
    for named in &evaluation.scores {
        let score = named.score;
        let d = decimals(score.value);
        let interval = format!("{:.d$} to {:.d$}", score.low, score.high);
        let better = if named.higher_is_better { "higher" } else { "lower" };
        grid.push([named.name, &format!("{:.d$}", score.value), &interval, better, named.explanation]);
    }
    for (name, score, says) in evaluation.quantiles.iter().flat_map(|quantiles| quantiles.named()) {
        let d = decimals(score.value);
        let interval = format!("{:.d$} to {:.d$}", score.low, score.high);
        let better = if name.starts_with("coverage") { "near" } else { "lower" };
        grid.push([&*name, &format!("{:.d$}", score.value), &interval, better, &says]);
    }
    let confusion = evaluation.confusion.as_ref().map(confusion_text).unwrap_or_default();
    format!("{}{confusion}", grid.text(width()))
}

/// A line for each class: how well it was found, and as which classes its rows were taken. Where there is no room for
/// all of these, as which wrong one most often.
fn confusion_text(confusion: &Confusion) -> String {
    /// More classes than this are for machines.
    const MOST: usize = 100;
    let names: Vec<String> = confusion.classes.iter().map(|class| format!("→ {class}")).collect();
    let counts = |k: usize| confusion.counts[k].iter().map(|&w| weight(w)).collect();
    let mut grid = class_grid(confusion, MOST, names, counts);
    if !grid.fits(width()) {
        let mistake = |k: usize| vec![worst_mistake(confusion, k).unwrap_or_default()];
        grid = class_grid(confusion, MOST, vec!["most often taken for".into()], mistake).left(&[5]);
    }
    let mut text = format!("\n{}", grid.text(width()));
    if confusion.classes.len() > MOST {
        let more = format!("  ... {} more classes; all of them with --json", confusion.classes.len() - MOST);
        text += &format!("{}\n", dim(&more));
    }
    text
}

/// The rates of each class, followed by more columns of its own.
fn class_grid(confusion: &Confusion, most: usize, heading: Vec<String>, more: impl Fn(usize) -> Vec<String>) -> Grid {
    let rates = ["true class", "rows", "precision", "recall", "F1"].map(String::from);
    let mut grid = Grid::new(rates.into_iter().chain(heading));
    for (k, class) in confusion.classes.iter().enumerate().take(most) {
        let share = |x: f64| format!("{x:.3}");
        let rates = confusion.rates(k);
        let rates = [rates.precision, rates.recall, rates.f1].map(share);
        let rows = weight(confusion.counts[k].iter().sum());
        grid.push([class.clone(), rows].into_iter().chain(rates).chain(more(k)));
    }
    grid
}

/// The wrong class that most rows of a class were taken for, and how many.
fn worst_mistake(confusion: &Confusion, class: usize) -> Option<String> {
    let wrong = confusion.counts[class].iter().enumerate().filter(|(k, w)| *k != class && **w > 0.0);
    let (k, &w) = wrong.max_by(|a, b| a.1.total_cmp(b.1))?;
    Some(format!("{} ({})", confusion.classes[k], weight(w)))
}

fn weight(w: f64) -> String {
    if w.fract() == 0.0 { format!("{w}") } else { format!("{w:.2}") }
}
