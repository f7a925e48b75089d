//! `ermine evaluate`: the scores of a model on a test set.

use crate::args::{ColumnArgs, OutputArgs, measure, table_file};
use crate::clean::clean;
use crate::data::{read, roles};
use crate::failure::Failure;
use crate::grid::Grid;
use crate::progress::Progress;
use crate::terminal::{bold, counted, decimals, dim, listed, print, print_json, print_message, width};
use crate::threshold::{MistakeCosts, ThresholdChoice, choose, costs};
use ermine::Error;
use ermine::registry;
use ermine_core::matrix::{Dataset, Schema, Task};
use ermine_core::metric::confusion::Confusion;
use ermine_core::metric::ranking::{Gain, ndcg};
use ermine_core::model::Model;
use ermine_eval::evaluate::Evaluate;
use ermine_eval::evaluate::{Evaluation, Measure, TargetScores};
use serde_json::json;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  ermine evaluate species.ermine test.csv
  ermine evaluate species.ermine test.csv --measure weighted-f1,kappa,error-rate
  ermine evaluate churn.ermine validation.csv --cost 1:5
  ermine evaluate species.ermine test.csv --json

FILE needs the features of the model and its target. Scores on training rows are too optimistic: evaluate on other
rows, or use `ermine cross-validate` or `ermine compare`.";

/// Evaluate a model on a test set
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Model file
    model: PathBuf,
    /// Test set: a table with the features and the target; - for CSV from standard input
    #[arg(value_parser = table_file)]
    file: PathBuf,
    /// Metrics, separated by commas, instead of the default ones (an unknown name lists all)
    #[arg(long, value_name = "METRICS", value_delimiter = ',', value_parser = measure)]
    measure: Vec<Measure>,
    /// Target column of the test set [default: its name in training]
    #[arg(long, short, value_name = "COLUMN")]
    target: Option<String>,
    /// Costs of a false positive and a false negative, for two classes: prints the decision threshold with the lowest cost
    #[arg(long, value_name = "FP:FN", value_parser = costs)]
    cost: Option<MistakeCosts>,
    /// Also print NDCG@K for these K, separated by commas, for ranking
    #[arg(long, value_name = "K", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    ndcg_at: Vec<u32>,
    /// Column with the initial raw scores that a model of initial scores adds to. Repeat it for each of more than two classes or each target
    #[arg(long, value_name = "COLUMN")]
    init_score: Vec<String>,
    #[command(flatten)]
    columns: ColumnArgs,
    #[command(flatten)]
    out: OutputArgs,
}

/// Evaluates.
pub fn run(args: &Args) -> Result<(), Failure> {
    let mut model = ermine::load(&args.model)?;
    if let Some(target) = &args.target {
        rename_target(&mut model, target)?;
    }
    let name = &model.header().learner;
    if registry::learner(name).is_ok_and(|learner| !learner.needs_target()) {
        return Err(Failure::Work(format!(
            "{name} is unsupervised, so there is nothing to evaluate; `ermine predict` computes its scores (below 0: outlier)"
        )));
    }
    let progress = Progress::new(!args.out.is_verbose());
    if !args.init_score.is_empty() && !model.schema().init_score {
        return Err(Failure::Usage("--init-score: the model was trained without initial scores".into()));
    }
    let data = load_as(&args.file, &args.columns, &args.init_score, &args.out, model.schema(), &progress)?;
    args.measure.iter().try_for_each(|measure| measure.check(data.task()))?;
    let evaluate = || match &args.measure[..] {
        [] => model.evaluate(&data),
        some => model.evaluate_by(some, &data),
    };
    let evaluation = progress.stage("evaluating", args.out.threads(), evaluate).map_err(Failure::work)?;
    drop(progress);
    let threshold = args.cost.map(|costs| choose(&model, &data, costs)).transpose()?;
    let ndcg = ndcg_at(&args.ndcg_at, &model, &data)?;
    if args.out.json {
        return print_json(&json!({
            "threshold": threshold,
            "ndcg_at": ndcg,
            "model": args.model,
            "learner": model.header().learner,
            "file": args.file,
            "n_rows": evaluation.n_rows,
            "scores": evaluation.scores,
            "classes": evaluation.classes,
            "confusion": evaluation.confusion,
            "quantiles": evaluation.quantiles,
            "unseen_classes": evaluation.unseen,
            "targets": evaluation.targets,
        }));
    }
    if let Some(unseen) = &evaluation.unseen {
        let (rows, classes) = (counted(unseen.n_rows, "row"), listed(&unseen.classes, 5));
        print_message(format!(
            "warning: classes that the training data don't have ({classes}): {rows}, counted as wrong"
        ));
    }
    if model.schema().init_score && data.init_score().is_none() {
        print_message(
            "warning: the model was trained with initial scores, but is evaluated without them (pass --init-score)",
        );
    }
    let file = args.file.display().to_string();
    let heading = format!(
        "{} on {}: {}\n\n",
        bold(&clean(&model.header().learner)),
        bold(&clean(&file)),
        counted(evaluation.n_rows, "row")
    );
    let mut output = format!("{}{}", if args.out.quiet { "" } else { &heading }, text(&evaluation));
    for (k, mean) in &ndcg {
        output += &format!("  NDCG@{k}: {mean:.5}\n");
    }
    output += &threshold.as_ref().map(threshold_text).unwrap_or_default();
    print(&output)
}

/// The target of a model under its name in the test set.
fn rename_target(model: &mut Model, target: &str) -> Result<(), Failure> {
    let (header, _) = model.parts_mut()?;
    if header.schema.features.iter().any(|feature| feature.name == target) {
        return Err(Failure::Usage(format!("--target {target}: this column is a feature of the model")));
    }
    match &mut header.schema.target[..] {
        [one] => *one = target.to_string(),
        several => return Err(Failure::Usage(format!("--target: the model has {} targets", several.len()))),
    }
    Ok(())
}

/// The mean NDCG over the queries for each K.
fn ndcg_at(places: &[u32], model: &Model, data: &Dataset) -> Result<Vec<(u32, f64)>, Failure> {
    if places.is_empty() {
        return Ok(Vec::new());
    }
    if data.task() != Task::Ranking {
        return Err(Failure::Usage(format!("--ndcg-at: the model is for {}, not for ranking", data.task())));
    }
    let (scores, grades) = (model.predict_data(data)?, data.grades()?);
    let queries: Vec<(Vec<f64>, Vec<f64>)> = data
        .queries()
        .iter()
        .map(|rows| rows.iter().map(|&row| (scores.row(row as usize)[0], grades[row as usize])).unzip())
        .collect();
    let mean = |k: u32| {
        let each = queries.iter().map(|(scores, grades)| ndcg(scores, grades, k as usize, Gain::Exponential));
        each.sum::<f64>() / queries.len() as f64
    };
    Ok(places.iter().map(|&k| (k, mean(k))).collect())
}

fn threshold_text(choice: &ThresholdChoice) -> String {
    let ThresholdChoice { positive, threshold, cost, ideal_threshold, ideal_cost, default_cost } = choice;
    let mut grid = Grid::new(["threshold", "mean cost", "meaning"]).left(&[2]);
    grid.push([format!("{threshold:.4}"), format!("{cost:.5}"), "lowest cost on these rows".into()]);
    grid.push([format!("{ideal_threshold:.4}"), format!("{ideal_cost:.5}"), "best for exact probabilities".into()]);
    grid.push(["0.5000".into(), format!("{default_cost:.5}"), "the default".into()]);
    let how = format!(
        "`ermine predict --threshold {threshold:.4}` uses it. Choose it on rows that are not used for the final evaluation."
    );
    format!("\nprobability from which {} is predicted:\n{}{how}\n", clean(positive), grid.text(width()))
}

/// A table with the types of the model and those that the user declares.
pub fn load(
    file: &Path,
    columns: &ColumnArgs,
    out: &OutputArgs,
    model: &Model,
    progress: &Progress,
) -> Result<Dataset, Failure> {
    load_as(file, columns, &[], out, model.schema(), progress)
}

/// A table with the schema of other data. `init_score`: the columns with initial scores.
pub fn load_as(
    file: &Path,
    columns: &ColumnArgs,
    init_score: &[String],
    out: &OutputArgs,
    schema: &Schema,
    progress: &Progress,
) -> Result<Dataset, Failure> {
    let is_feature = |name: &&String| schema.features.iter().any(|feature| feature.name == **name);
    let named = [("--weight", &columns.weight, "the sample weight"), ("--group", &columns.group, "the group")];
    for (flag, column, what) in named {
        if let Some(name) = column.as_ref().filter(is_feature) {
            return Err(Failure::Usage(format!(
                "{flag} {name}: this column is a feature of the model and can't be {what} too; copy it to a column with another name"
            )));
        }
    }
    let mut options = columns.reading.apply(schema.read_options());
    if let ([target], Some(column_type)) = (&schema.target[..], schema.target_type()) {
        options.types.insert(target.clone(), column_type);
    }
    options.types.extend(columns.types.iter().cloned());
    // A missing feature is an error of the file, not of the command line.
    let by_user = |name: &String| {
        let named = columns.types.iter().map(|t| &t.0).chain(&columns.weight).chain(&columns.group).chain(init_score);
        named.into_iter().any(|known| known == name)
    };
    let blame = |error: Error| match &error {
        Error::Unknown { what: "column", name, .. } if !by_user(name) => {
            Failure::Work(format!("{}: {error}", file.display()))
        }
        _ => error.into(),
    };
    let table = read(file, &options, out.threads(), progress).map_err(blame)?;
    let mut roles = roles(schema.target.clone(), Some(schema.task), columns);
    roles.init_score = init_score.to_vec();
    if let (None, Task::Ranking, Some(name)) = (&roles.group, schema.task, &schema.group) {
        if table.column(name).is_err() {
            let file = file.display();
            return Err(Failure::Work(format!(
                "{file}: ranking needs query groups, but there is no column '{name}', which contained them in training (pass --group COLUMN)"
            )));
        }
        roles.group = Some(name.clone());
    }
    Dataset::new(table, &roles).map_err(blame)
}

fn text(evaluation: &Evaluation) -> String {
    let mut grid = Grid::new(["score", "value", "95% interval", "better", "meaning"]).left(&[2, 3, 4]);
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
    format!("{}{}{confusion}", grid.text(width()), targets_text(&evaluation.targets))
}

/// The scores of each of several targets.
fn targets_text(targets: &[TargetScores]) -> String {
    if targets.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new(["target", "RMSE", "MAE", "R2"]);
    for target in targets {
        let shown = |x: f64| format!("{x:.0$}", decimals(x));
        grid.push([target.name.clone(), shown(target.rmse), shown(target.mae), shown(target.r2)]);
    }
    format!("\nscores above are means over {} targets\n{}", targets.len(), grid.text(width()))
}

/// A line for each class: precision, recall, F1 and the confusion matrix; if it is too wide, only the most
/// frequent confusion.
fn confusion_text(confusion: &Confusion) -> String {
    /// Maximum number of classes that are listed.
    const MOST: usize = 100;
    let names: Vec<String> = confusion.classes.iter().map(|class| format!("→ {class}")).collect();
    let counts = |k: usize| confusion.counts[k].iter().map(|&w| weight(w)).collect();
    let mut grid = class_grid(confusion, MOST, names, counts);
    if !grid.fits(width()) {
        let mistake = |k: usize| vec![worst_mistake(confusion, k).unwrap_or_default()];
        grid = class_grid(confusion, MOST, vec!["most often predicted as".into()], mistake).left(&[5]);
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

/// The most frequent wrong prediction for a class, and its count.
fn worst_mistake(confusion: &Confusion, class: usize) -> Option<String> {
    let wrong = confusion.counts[class].iter().enumerate().filter(|(k, w)| *k != class && **w > 0.0);
    let (k, &w) = wrong.max_by(|a, b| a.1.total_cmp(b.1))?;
    Some(format!("{} ({})", confusion.classes[k], weight(w)))
}

fn weight(w: f64) -> String {
    if w.fract() == 0.0 { format!("{w}") } else { format!("{w:.2}") }
}
