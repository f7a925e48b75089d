//! `ermine cross-validate`: training and test scores of a learner, with learning and validation curves.

use crate::args::{DataArgs, OutputArgs, SplitArgs, pooled_note};
use crate::clean::clean;
use crate::data::{LoadedData, load, warn_of_shared_rows};
use crate::evaluate;
use crate::failure::Failure;
use crate::files::{check_output, write};
use crate::flags;
use crate::grid::Grid;
use crate::progress::Progress;
use crate::terminal::{bold, decimals, dim, green, print, print_json, width, wrapped};
use crate::tune::axis;
use ermine::registry;
use ermine_core::chart::html::Page;
use ermine_core::learner::fit::check;
use ermine_core::learner::{Context, Learner, fit};
use ermine_core::matrix::Dataset;
use ermine_core::measure::outcome::Outcome;
use ermine_core::metric::Score;
use ermine_core::param::Value;
use ermine_eval::evaluate::cross_validation::FoldScore;
use ermine_eval::evaluate::curves::{CurvePoint, TrainSizes, learning_curve, validation_curve};
use ermine_eval::evaluate::space::SearchAxis;
use ermine_eval::evaluate::{Measure, Validation, cross_validate};
use ermine_eval::evaluate::{in_classes_of, predict_classes_of};
use ermine_eval::report::{SHARES, curve};
use serde_json::json;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  ermine cross-validate adult.csv --target income --learner decision-tree --max-depth 6
  ermine cross-validate adult.csv --target income --learner decision-tree --curve max_depth=1,2,4,8,16
  ermine cross-validate train.csv --target income --test test.csv --learning-curve --html income.html

Test scores come from models that were trained without the row. The difference to the training scores shows
overfitting.";

/// Number of values of a validation curve over a range.
const POINTS: usize = 8;

/// Cross-validate a learner
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    data: DataArgs,
    /// Learner; see `ermine learners`
    #[arg(long, value_name = "NAME", default_value = registry::DEFAULT)]
    learner: String,
    /// Set a parameter of the learner, as an alternative to its own flag
    #[arg(long, value_name = "NAME=VALUE", value_parser = flags::assignment)]
    set: Vec<(String, Value)>,
    /// Test set, for a model trained on all rows of the table
    #[arg(long, value_name = "FILE")]
    test: Option<PathBuf>,
    /// Show the learning curve: the score by number of training rows
    #[arg(long, help_heading = "Curves")]
    learning_curve: bool,
    /// Show the validation curve: the score by value of a parameter, NAME=1,2,5 or NAME=LOW..HIGH
    #[arg(long, value_name = "NAME=VALUES", value_parser = axis, help_heading = "Curves")]
    curve: Option<(String, String)>,
    /// Write the result as an HTML page
    #[arg(long, value_name = "FILE.html")]
    html: Option<PathBuf>,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,
    #[command(flatten)]
    splits: SplitArgs,
    #[command(flatten)]
    out: OutputArgs,
}

/// The results.
struct CrossValidationReport {
    scores: Vec<FoldScore>,
    /// The scores on the test set.
    test: Vec<(Measure, Score)>,
    learning: Vec<CurvePoint>,
    validation: Vec<CurvePoint>,
}

/// Cross-validates; `given` are the parameters set by their own flags.
pub fn run(args: &Args, given: Vec<(String, Value)>) -> Result<(), Failure> {
    let mut learner = registry::learner(&args.learner)?;
    let given = [given, args.set.clone()].concat();
    flags::set(&mut *learner, &given)?;
    let values =
        args.curve.as_ref().map(|(name, text)| Ok::<_, Failure>((name, SearchAxis::parse(&*learner, name, text)?)));
    let values = values.transpose()?.map(|(name, axis)| (name, axis.points(POINTS)));
    if let Some(html) = &args.html {
        let inputs: Vec<_> = std::iter::once(&*args.data.file).chain(args.test.as_deref()).collect();
        check_output(html, &inputs)?;
    }
    let progress = Progress::new(!args.out.is_verbose());
    let (data, summary) = load(&args.data, args.out.threads(), &progress)?;
    flags::standardize(&mut *learner, &given, &data)?;
    check(&*learner, &data)?;
    let splits = args.splits.splits(&data, args.seed)?;
    args.splits.measure.map_or(Ok(()), |measure| measure.check(data.task()))?;
    let measures = measures(&data, args.splits.measure);
    let context = Context { seed: args.seed, threads: args.out.threads(), observer: &progress, ..ermine::context() };
    // An invalid test set should fail before the long computation.
    let test = match &args.test {
        Some(file) => on_test(args, file, &*learner, &data, &measures, &context, &progress)?,
        None => Vec::new(),
    };
    if args.out.is_verbose() {
        print(&summary.text())?;
    }
    let validation = Validation { splits: &splits, measures: &measures, train_scores: true, pool: true, custom: &[] };
    let validated = cross_validate(&*learner, &data, &validation, &context)?;
    validated.check_defined(args.splits.measure, &measures).map_err(Failure::work)?;
    let scores = validated.scores;
    let learning = match args.learning_curve {
        true => learning_curve(&*learner, &data, &validation, TrainSizes::Fractions(&SHARES), &context)?,
        false => Vec::new(),
    };
    let validation = match &values {
        Some((name, values)) => validation_curve(&*learner, &data, &validation, name, values, &context)?,
        None => Vec::new(),
    };
    drop(progress);
    print_result(args, &CrossValidationReport { scores, test, learning, validation }, &summary)
}

/// The default metrics of the task, the requested one first.
fn measures(data: &Dataset, requested: Option<Measure>) -> Vec<Measure> {
    let usual = Measure::defaults(data.task()).iter().copied().filter(|m| Some(*m) != requested);
    requested.into_iter().chain(usual).collect()
}

/// The scores of a model of all rows on the test set.
fn on_test(
    args: &Args,
    file: &std::path::Path,
    learner: &dyn Learner,
    data: &Dataset,
    measures: &[Measure],
    context: &Context<'_>,
    progress: &Progress,
) -> Result<Vec<(Measure, Score)>, Failure> {
    let model = fit(learner, data, context)?;
    let test = evaluate::load(file, &args.data.columns, &args.out, &model, progress)?;
    warn_of_shared_rows(file, data, &test);
    let test = in_classes_of(&model, &test).map_err(Failure::work)?;
    let prediction = predict_classes_of(&model, &test)?;
    let outcome = Outcome::new(&prediction, &test).map_err(Failure::work)?;
    let requested: Vec<Measure> = args.splits.measure.into_iter().collect();
    outcome.check_defined(&requested).map_err(|e| Failure::Work(format!("{}: {e}", file.display())))?;
    Ok(outcome.scores(measures))
}

fn print_result(args: &Args, found: &CrossValidationReport, summary: &LoadedData) -> Result<(), Failure> {
    if let Some(path) = &args.html {
        write(path, page(args, found).as_bytes())?;
    }
    if args.out.json {
        let test: Vec<_> = found.test.iter().map(|(m, score)| json!({"name": m.title(), "score": score})).collect();
        return print_json(&json!({
            "learner": args.learner,
            "validation": args.splits.title(),
            "seed": args.seed,
            "scores": found.scores,
            "test": test,
            "learning_curve": found.learning,
            "validation_curve": found.validation,
            "data": summary,
        }));
    }
    let mut grid = Grid::new(board(args, found).swap_remove(0));
    board(args, found).into_iter().skip(1).for_each(|row| grid.push(row));
    let mut text = String::new();
    if !args.out.quiet {
        text += &format!("\n{}: {}\n", bold(&args.learner), args.splits.title());
        text += &dim(&wrapped(&legend(found), 0, width()));
    }
    text += &grid.text(width());
    for (curve, axis) in curves(args, found) {
        let mut cells = curve::table(curve, &axis).into_iter();
        let mut grid = Grid::new(cells.next().unwrap_or_default());
        cells.for_each(|row| grid.push(row));
        text += &format!("\n{}\n{}", grid.text(width()), curve::characters(curve, &axis));
    }
    if let (Some(path), false) = (&args.html, args.out.quiet) {
        text += &format!("\n{} {}\n", green("saved"), bold(&clean(&path.display().to_string())));
    }
    print(&text)
}

/// Explanation of the columns.
fn legend(found: &CrossValidationReport) -> String {
    let usual = "mean ± standard deviation over splits";
    format!("{usual}{}", pooled_note(&found.scores))
}

/// The requested curves, and the names of their axes.
fn curves<'a>(args: &Args, found: &'a CrossValidationReport) -> Vec<(&'a [CurvePoint], String)> {
    let parameter = args.curve.as_ref().map_or_else(String::new, |(name, _)| name.clone());
    let all = [(&found.learning[..], "training rows".to_string()), (&found.validation[..], parameter)];
    all.into_iter().filter(|(curve, _)| !curve.is_empty()).collect()
}

/// A line for each metric: training score, test score and the score on the test set, if there is one.
fn board(args: &Args, found: &CrossValidationReport) -> Vec<Vec<String>> {
    let mut heading = vec!["score".to_string(), "training".into(), "test".into()];
    heading.extend(args.test.iter().map(|file| clean(&file.display().to_string())));
    heading.push("better".into());
    let line = |score: &FoldScore| {
        let d = decimals(score.mean);
        let spread = |s: &FoldScore| match s.folds.len() {
            1 => format!("{:.d$}", s.mean),
            _ => format!("{:.d$} ± {:.d$}", s.mean, s.deviation),
        };
        let learned = score.train.as_ref().map_or_else(String::new, |train| {
            spread(&FoldScore::spread(score.name, score.higher_is_better, train.clone()))
        });
        let mut cells = vec![score.name.to_string(), learned, spread(score)];
        if args.test.is_some() {
            let on_test = found.test.iter().find(|(measure, _)| measure.title() == score.name);
            let with_interval = |s: Score| format!("{:.d$} ({:.d$} to {:.d$})", s.value, s.low, s.high);
            cells.push(on_test.map_or_else(String::new, |(_, s)| with_interval(*s)));
        }
        cells.push(if score.higher_is_better { "higher" } else { "lower" }.into());
        cells
    };
    std::iter::once(heading).chain(found.scores.iter().map(line)).collect()
}

fn page(args: &Args, found: &CrossValidationReport) -> String {
    let file = args.data.file.display().to_string();
    let mut page = Page::new(&format!("{} on {file}", args.learner));
    page.heading(&args.splits.title());
    page.table(&board(args, found));
    page.note(&legend(found));
    if !found.learning.is_empty() {
        page.heading("Learning curve");
        page.svg(&curve::picture(&found.learning, "Learning curve", "training rows"));
        page.table(&curve::table(&found.learning, "training rows"));
        page.note(curve::LEARNING_NOTE);
    }
    if let (Some((name, _)), false) = (&args.curve, found.validation.is_empty()) {
        page.heading(&format!("Validation curve of {name}"));
        page.svg(&curve::picture(&found.validation, "Validation curve", name));
        page.table(&curve::table(&found.validation, name));
        page.note(curve::VALIDATION_NOTE);
    }
    page.finish()
}
