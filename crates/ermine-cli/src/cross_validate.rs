//! `ermine cross-validate`: how good a learner is on rows it has not seen, beside those it has; with learning and validation curves.

use crate::args::{DataArgs, Manner, SplitArgs, pooled_note};
use crate::clean::clean;
use crate::data::{Understanding, load};
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
use ermine_eval::evaluate::curves::{CurvePoint, Sizes, learning_curve, validation_curve};
use ermine_eval::evaluate::in_classes_of;
use ermine_eval::evaluate::space::Axis;
use ermine_eval::evaluate::{Measure, Validation, cross_validate};
use ermine_eval::report::{SHARES, curve};
use serde_json::json;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  ermine cross-validate adult.csv --target income --learner decision-tree --max-depth 6
  ermine cross-validate adult.csv --target income --learner decision-tree --curve max_depth=1,2,4,8,16
  ermine cross-validate train.csv --target income --test test.csv --learning-curve --html income.html

Every row is predicted by a model that has not seen it. Beside it stands how well the models predict the rows they learned from: the
distance is what was learned by heart.";

/// How many values of a parameter a curve has where its range is given.
const POINTS: usize = 8;

/// Say how good a learner is, on rows it has learned from and on others
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    data: DataArgs,
    /// How to learn; see `ermine learners`
    #[arg(long, value_name = "NAME", default_value = registry::DEFAULT)]
    learner: String,
    /// A parameter of the learner, as an alternative to its own flag
    #[arg(long, value_name = "NAME=VALUE", value_parser = flags::assignment)]
    set: Vec<(String, Value)>,
    /// A table that is kept apart: a model of all other rows is tested on it
    #[arg(long, value_name = "FILE")]
    test: Option<PathBuf>,
    /// Show the score by the number of rows learned from
    #[arg(long, help_heading = "Curves")]
    learning_curve: bool,
    /// Show the score by the values of a parameter: NAME=1,2,5 or NAME=LOW..HIGH
    #[arg(long, value_name = "NAME=VALUES", value_parser = axis, help_heading = "Curves")]
    curve: Option<(String, String)>,
    /// Write the result as a page into this file
    #[arg(long, value_name = "FILE.html")]
    html: Option<PathBuf>,
    /// Every random choice follows from this, the folds too
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,
    #[command(flatten)]
    splits: SplitArgs,
    #[command(flatten)]
    manner: Manner,
}

/// What came out.
struct Found {
    scores: Vec<FoldScore>,
    /// The scores on the table that was kept apart.
    test: Vec<(Measure, Score)>,
    learning: Vec<CurvePoint>,
    validation: Vec<CurvePoint>,
}

/// Cross-validates; `given` are the parameters set by their own flags.
pub fn run(args: &Args, given: Vec<(String, Value)>) -> Result<(), Failure> {
    let mut learner = registry::learner(&args.learner)?;
    flags::set(&mut *learner, &[given, args.set.clone()].concat())?;
    let values = args.curve.as_ref().map(|(name, text)| Ok::<_, Failure>((name, Axis::parse(&*learner, name, text)?)));
    let values = values.transpose()?.map(|(name, axis)| (name, axis.points(POINTS)));
    if let Some(html) = &args.html {
        let inputs: Vec<_> = std::iter::once(&*args.data.file).chain(args.test.as_deref()).collect();
        check_output(html, &inputs)?;
    }
    let progress = Progress::new(!args.manner.chatty());
    let (data, understanding) = load(&args.data, args.manner.threads(), &progress)?;
    check(&*learner, &data)?;
    let splits = args.splits.splits(&data, args.seed)?;
    args.splits.measure.map_or(Ok(()), |measure| measure.check(data.task()))?;
    let measures = measures(&data, args.splits.measure);
    let context = Context { seed: args.seed, threads: args.manner.threads(), observer: &progress, ..ermine::context() };
    // A test table that can't be used is found before the longer work.
    let test = match &args.test {
        Some(file) => on_test(args, file, &*learner, &data, &measures, &context, &progress)?,
        None => Vec::new(),
    };
    if args.manner.chatty() {
        print(&understanding.text())?;
    }
    let validation = Validation { splits: &splits, measures: &measures, train_scores: true, pool: true, custom: &[] };
    let validated = cross_validate(&*learner, &data, &validation, &context)?;
    validated.check_told(args.splits.measure, &measures).map_err(Failure::work)?;
    let scores = validated.scores;
    let learning = match args.learning_curve {
        true => learning_curve(&*learner, &data, &validation, Sizes::Shares(&SHARES), &context)?,
        false => Vec::new(),
    };
    let validation = match &values {
        Some((name, values)) => validation_curve(&*learner, &data, &validation, name, values, &context)?,
        None => Vec::new(),
    };
    drop(progress);
    tell(args, &Found { scores, test, learning, validation }, &understanding)
}

/// The usual measures of the task, the asked one first.
fn measures(data: &Dataset, asked: Option<Measure>) -> Vec<Measure> {
    let usual = Measure::defaults(data.task()).iter().copied().filter(|m| Some(*m) != asked);
    asked.into_iter().chain(usual).collect()
}

/// The scores of a model of all rows on a table that was kept apart.
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
    let test = evaluate::load(file, &args.data.columns, &args.manner, &model, progress)?;
    let test = in_classes_of(&model, &test).map_err(Failure::work)?;
    let said = model.predict_data(&test)?;
    let outcome = Outcome::new(&said, &test).map_err(Failure::work)?;
    let asked: Vec<Measure> = args.splits.measure.into_iter().collect();
    outcome.check_told(&asked).map_err(|e| Failure::Work(format!("{}: {e}", file.display())))?;
    Ok(outcome.scores(measures))
}

fn tell(args: &Args, found: &Found, understanding: &Understanding) -> Result<(), Failure> {
    if let Some(path) = &args.html {
        write(path, page(args, found).as_bytes())?;
    }
    if args.manner.json {
        let test: Vec<_> = found.test.iter().map(|(m, score)| json!({"name": m.title(), "score": score})).collect();
        return print_json(&json!({
            "learner": args.learner,
            "validation": args.splits.title(),
            "seed": args.seed,
            "scores": found.scores,
            "test": test,
            "learning_curve": found.learning,
            "validation_curve": found.validation,
            "data": understanding,
        }));
    }
    let mut grid = Grid::new(board(args, found).swap_remove(0));
    board(args, found).into_iter().skip(1).for_each(|row| grid.push(row));
    let mut text = String::new();
    if !args.manner.quiet {
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
    if let (Some(path), false) = (&args.html, args.manner.quiet) {
        text += &format!("\n{} {}\n", green("saved"), bold(&clean(&path.display().to_string())));
    }
    print(&text)
}

/// What the columns mean.
fn legend(found: &Found) -> String {
    let usual = "mean ± standard deviation over splits, on rows that were learned from and on rows that were tested";
    format!("{usual}{}", pooled_note(&found.scores))
}

/// The curves that were asked for, and the names of their axes.
fn curves<'a>(args: &Args, found: &'a Found) -> Vec<(&'a [CurvePoint], String)> {
    let parameter = args.curve.as_ref().map_or_else(String::new, |(name, _)| name.clone());
    let all = [(&found.learning[..], "rows learned from".to_string()), (&found.validation[..], parameter)];
    all.into_iter().filter(|(curve, _)| !curve.is_empty()).collect()
}

/// A line for each measure: learned, tested and, where there is one, the test table.
fn board(args: &Args, found: &Found) -> Vec<Vec<String>> {
    let mut heading = vec!["score".to_string(), "learned rows".into(), "tested rows".into()];
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
            let said = |s: Score| format!("{:.d$} ({:.d$} to {:.d$})", s.value, s.low, s.high);
            cells.push(on_test.map_or_else(String::new, |(_, s)| said(*s)));
        }
        cells.push(if score.higher_is_better { "higher" } else { "lower" }.into());
        cells
    };
    std::iter::once(heading).chain(found.scores.iter().map(line)).collect()
}

fn page(args: &Args, found: &Found) -> String {
    let file = args.data.file.display().to_string();
    let mut page = Page::new(&format!("{} on {file}", args.learner));
    page.heading(&args.splits.title());
    page.table(&board(args, found));
    page.note(&legend(found));
    if !found.learning.is_empty() {
        page.heading("Would more rows help?");
        page.svg(&curve::picture(&found.learning, "Learning curve", "rows learned from"));
        page.table(&curve::table(&found.learning, "rows learned from"));
        page.note(curve::LEARNING_NOTE);
    }
    if let (Some((name, _)), false) = (&args.curve, found.validation.is_empty()) {
        page.heading(&format!("Which {name}?"));
        page.svg(&curve::picture(&found.validation, "Validation curve", name));
        page.table(&curve::table(&found.validation, name));
        page.note(curve::VALIDATION_NOTE);
    }
    page.finish()
}
