//! `ermine compare`: cross-validates learners on a table, and says which is best, how sure that is, and what to type next.

mod board;

use crate::args::{DataArgs, Manner, SplitArgs, duration, quoted};
use crate::data::load;
use crate::failure::Failure;
use crate::files::{check_output, write_at_the_end};
use crate::flags::flag_of;
use crate::interrupt;
use crate::progress::Progress;
use crate::terminal::{print, print_json, time};
use board::{as_json, page, text};
use ermine::Error;
use ermine::registry::{self, learners};
use ermine_core::learner::fit::{can_learn, check};
use ermine_core::learner::{Context, Learner};
use ermine_core::matrix::Dataset;
use ermine_core::progress::{Control, Event, Observer};
use ermine_eval::evaluate::cross_validation::FoldScore;
use ermine_eval::evaluate::curves::{CurvePoint, Sizes, learning_curve};
use ermine_eval::evaluate::journal::Journal;
use ermine_eval::evaluate::search::{FACTOR, Search, Strategy, search, with_setting};
use ermine_eval::evaluate::space::{Setting, Space};
use ermine_eval::evaluate::{Measure, Splits, Validation, cross_validate};
use serde::Serialize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const EXAMPLES: &str = "\
Examples:
  ermine compare penguins.csv --target species
  ermine compare adult.csv --target income --folds 10 --budget 60s
  ermine compare adult.csv --target income --learners baseline,decision-stump --json

Each row is predicted once by a model that has not seen it. The spread is the standard deviation over folds.";

/// The learner that all others must beat.
const BASELINE: &str = "baseline";

/// Find out which learner is best, and how good it is
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    data: DataArgs,
    /// Which learners, separated by commas; if not given, all that can do the task and don't wrap another
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    learners: Vec<String>,
    /// How many settings of each of the best learners are tried after all have had their turn; 0 for none
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true)]
    trials: usize,
    /// Stop after this time and say what wasn't tried, e.g. 60s, 5m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    budget: Option<Duration>,
    /// Every random choice follows from this, the folds too
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,
    /// Write the result as a page into this file
    #[arg(long, value_name = "FILE.html")]
    html: Option<PathBuf>,
    #[command(flatten)]
    splits: SplitArgs,
    #[command(flatten)]
    manner: Manner,
}

/// How many learners are tuned, after all have had their turn with their defaults.
const TUNED: usize = 3;

/// The shares of the rows that a learning curve is drawn at.
const SHARES: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 1.0];

/// So many rows tell which learners are promising.
const PROBED_ROWS: usize = 1500;

/// All tries on few rows together take no more than one part in so many of the budget.
const PROBE_SHARE: u32 = 4;

/// A learner with others behind it gets no more than one part in so many of the time that is left for defaults.
const MOST_SHARE: u32 = 2;

/// The share of the budget that is for all learners with their defaults; the rest is for settings of the best.
const DEFAULTS_SHARE: f64 = 0.6;

/// Watches work that has less time than all of the rest.
struct Hurried<'a> {
    progress: &'a Progress,
    deadline: Option<Instant>,
}

impl Observer for Hurried<'_> {
    fn event(&self, event: &Event<'_>) -> Control {
        let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if late { Control::Stop } else { self.progress.event(event) }
    }
}

/// A learner that was cross-validated to the end.
#[derive(Serialize)]
struct Row {
    learner: &'static str,
    /// What differs from its defaults.
    setting: Setting,
    scores: Vec<FoldScore>,
    seconds: f64,
}

impl Row {
    /// Its name on the leaderboard.
    fn title(&self) -> String {
        if self.setting.is_empty() { self.learner.into() } else { format!("{} (tuned)", self.learner) }
    }
}

/// A learner that has no place on the leaderboard.
#[derive(Serialize)]
struct Absent {
    learner: &'static str,
    why: String,
}

/// What came out.
#[derive(Default)]
struct Outcome {
    rows: Vec<Row>,
    absent: Vec<Absent>,
    /// What is said about the search, e.g. that the time was over.
    remarks: Vec<String>,
}

/// What all learners are tried on.
struct Trials<'a> {
    args: &'a Args,
    start: Instant,
    data: &'a Dataset,
    splits: &'a Splits,
    measures: &'a [Measure],
    progress: &'a Progress,
}

/// Compares.
pub fn run(args: &Args) -> Result<(), Failure> {
    let start = Instant::now();
    let asked = named(&args.learners)?;
    if let Some(html) = &args.html {
        check_output(html, &[&args.data.file])?;
    }
    let deadline = args.budget.and_then(|budget| start.checked_add(budget));
    let progress = Progress::new(!args.manner.chatty()).until(deadline);
    let (data, understanding) = load(&args.data, args.manner.threads(), &progress)?;
    let splits = args.splits.splits(&data, args.seed)?;
    args.splits.measure.map_or(Ok(()), |measure| measure.check(data.task()))?;
    let measures = Measure::headline(data.task(), args.splits.measure);
    if args.manner.chatty() {
        print(&understanding.text())?;
    }
    let learners = if args.learners.is_empty() { sensible(&data) } else { asked };
    let trials = Trials { args, start, data: &data, splits: &splits, measures: &measures, progress: &progress };
    let mut outcome = trials.run(&learners);
    outcome.rows.sort_by(|a, b| trials.order(a, b));
    let curve = match (&args.html, outcome.rows.first()) {
        (Some(_), Some(best)) => trials.curve(best).unwrap_or_default(),
        _ => Vec::new(),
    };
    drop(progress);
    if outcome.rows.is_empty() {
        let why: Vec<String> = outcome.absent.iter().map(|a| format!("\n  {}: {}", a.learner, a.why)).collect();
        let failure = Failure::Work(format!("no learner could be cross-validated{}", why.concat()));
        return Err(if interrupt::stopped() { Failure::Stopped } else { failure });
    }
    let next = next_command(args, &outcome.rows[0]);
    if let Some(path) = &args.html {
        // Whatever ended the work: what is done is worth its page.
        write_at_the_end(path, page(args, &outcome, &splits, &next, &curve).as_bytes())?;
    }
    if args.manner.json {
        print_json(&as_json(args, &understanding, &outcome, &splits, &next))?;
    } else {
        print(&text(args, &outcome, &splits, &next))?;
    }
    match (interrupt::stopped(), &args.html) {
        (false, _) => Ok(()),
        (true, Some(_)) => Err(Failure::StoppedWith("the page has what was done until then")),
        (true, None) => Err(Failure::StoppedWith("what was done until then is above")),
    }
}

/// The learners that are asked for.
fn named(names: &[String]) -> Result<Vec<Box<dyn Learner>>, Failure> {
    let mut distinct: Vec<&str> = Vec::new();
    for name in names.iter().map(|name| name.trim()) {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    Ok(distinct.into_iter().map(registry::learner).collect::<ermine::Result<_>>()?)
}

/// Where none are asked for: all that can do the task, but those that only wrap one that is among them.
fn sensible(data: &Dataset) -> Vec<Box<dyn Learner>> {
    let all: Vec<Box<dyn Learner>> = learners().map(|entry| (entry.make)()).collect();
    let can = |learner: &dyn Learner| can_learn(learner, data.task());
    let wraps = |learner: &dyn Learner| {
        let inner = learner.get("estimator").map(|value| value.to_string());
        inner.is_some_and(|inner| inner == registry::DEFAULT)
    };
    all.into_iter().filter(|learner| can(&**learner) && learner.needs_target() && !wraps(&**learner)).collect()
}

/// An error where a learner can't be compared with others on this data.
fn comparable(learner: &dyn Learner, data: &Dataset) -> ermine::Result<()> {
    if learner.needs_target() {
        return check(learner, data);
    }
    let (learner, need) = (learner.info().name.into(), "a target: it learns without one".into());
    Err(Error::Unsupported { learner, need })
}

impl Trials<'_> {
    fn context(&self) -> Context<'_> {
        let (seed, threads) = (self.args.seed, self.args.manner.threads());
        Context { seed, threads, observer: self.progress, ..ermine::context() }
    }

    /// Better first: by the score that decides; where that is the same, by the one that breaks ties; then defaults before what was tuned, and learners as they are listed.
    fn order(&self, a: &Row, b: &Row) -> std::cmp::Ordering {
        let badness = |row: &Row, measure: Measure| {
            let score = row.scores.iter().find(|score| score.name == measure.title());
            measure.badness(score.map_or(f64::NAN, |score| score.mean))
        };
        let by = |measure: Measure| {
            let (x, y) = (badness(a, measure), badness(b, measure));
            // Sums in another order differ in the last digits.
            let same = (x - y).abs() <= 1e-12 * (x.abs() + y.abs());
            if same { std::cmp::Ordering::Equal } else { x.total_cmp(&y) }
        };
        let listed = |row: &Row| learners().position(|entry| entry.info().name == row.learner);
        let tie = self.measures[0].tie_breaker(self.data.task());
        by(self.measures[0])
            .then_with(|| tie.map_or(std::cmp::Ordering::Equal, by))
            .then_with(|| b.setting.is_empty().cmp(&a.setting.is_empty()))
            .then_with(|| listed(a).cmp(&listed(b)))
    }

    fn over(&self) -> bool {
        self.progress.is_late() || interrupt::stopped()
    }

    /// Every learner with its defaults, then settings of the best ones.
    fn run(&self, learners: &[Box<dyn Learner>]) -> Outcome {
        let mut outcome = Outcome::default();
        let n_learners = learners.len();
        for (i, learner) in self.in_order(learners).into_iter().enumerate() {
            let name = learner.info().name;
            // Only where there is something to tune is time kept for it.
            let keep = self.args.trials > 0 && outcome.rows.len() > TUNED;
            let share = if keep { DEFAULTS_SHARE } else { 1.0 };
            let left = self.args.budget.map(|budget| budget.mul_f64(share).saturating_sub(self.start.elapsed()));
            // One that takes long leaves time for those after it.
            let waiting = if i + 1 < n_learners { MOST_SHARE } else { 1 };
            let until = left.and_then(|left| Instant::now().checked_add(left / waiting));
            let late = self.over() || left.is_some_and(|left| left.is_zero());
            let result = comparable(learner, self.data).and_then(|()| match late {
                true => Err(Error::Stopped),
                false => self.row(learner, Setting::new(), until),
            });
            self.progress.clear();
            match result {
                Ok(row) => outcome.rows.push(row),
                Err(e) => outcome.absent.push(Absent { learner: name, why: why_not(&e, self.args, late) }),
            }
        }
        if self.args.trials > 0 {
            self.tune(&mut outcome);
        }
        outcome
    }

    /// With a budget and many rows, learners are tried on few rows first: after the baseline and the default learner the promising ones have their turn, and those
    /// that won't end in time come last.
    fn in_order<'b>(&self, learners: &'b [Box<dyn Learner>]) -> Vec<&'b dyn Learner> {
        let mut order: Vec<&dyn Learner> = learners.iter().map(|learner| &**learner).collect();
        let Some(budget) = self.args.budget.filter(|_| self.data.n_rows() > 2 * PROBED_ROWS) else { return order };
        let share = PROBED_ROWS as f64 / self.data.n_rows() as f64;
        let part = Splits::holdout(self.data, share, self.args.seed).and_then(|s| self.data.select(&s.split(0).1));
        let Ok(part) = part else { return order };
        let scale = self.splits.len() as f64 / share;
        let limit = budget / PROBE_SHARE / learners.len().max(1) as u32;
        let place = |learner: &dyn Learner| {
            let start = Instant::now();
            // What is known to be good needs no trial.
            let first = [BASELINE, registry::DEFAULT].iter().position(|name| *name == learner.info().name).unwrap_or(2);
            let probed = if self.over() || first < 2 { Ok(f64::NAN) } else { self.probe(learner, &part, limit) };
            let score = probed.unwrap_or(f64::NAN);
            self.progress.clear();
            let late = start.elapsed().as_secs_f64() * scale > budget.as_secs_f64() / 3.0;
            let badness = if self.measures[0].higher_is_better() { -score } else { score };
            (first, score.is_nan(), late, badness)
        };
        let mut places: Vec<_> = order.iter().map(|learner| place(*learner)).zip(0..).collect();
        places.sort_by(|(a, i), (b, j)| (a.0, a.1, a.2).cmp(&(b.0, b.1, b.2)).then(a.3.total_cmp(&b.3)).then(i.cmp(j)));
        order = places.iter().map(|(_, i): &(_, usize)| order[*i]).collect();
        order
    }

    /// The score of a learner on some of a few rows.
    fn probe(&self, learner: &dyn Learner, part: &Dataset, limit: Duration) -> ermine::Result<f64> {
        check(learner, part)?;
        let splits = Splits::holdout(part, 0.3, self.args.seed)?;
        let measures = &self.measures[..1];
        let validation = Validation { splits: &splits, measures, train_scores: false, pool: true, custom: &[] };
        let observer = Hurried { progress: self.progress, deadline: Instant::now().checked_add(limit) };
        let context = Context { observer: &observer, ..self.context() };
        let scores = cross_validate(learner, part, &validation, &context)?.scores;
        Ok(scores.first().map_or(f64::NAN, |score| score.mean))
    }

    fn row(&self, learner: &dyn Learner, setting: Setting, until: Option<Instant>) -> ermine::Result<Row> {
        let start = Instant::now();
        let validation =
            Validation { splits: self.splits, measures: self.measures, train_scores: false, pool: true, custom: &[] };
        let observer = Hurried { progress: self.progress, deadline: until };
        let context = Context { observer: &observer, ..self.context() };
        let validated = cross_validate(learner, self.data, &validation, &context)?;
        // Scores that can't be told are left out; who lacks the one that decides can't be compared with others.
        let decisive = self.measures[0].title();
        if let Some((_, why)) = validated.untold.iter().find(|(measure, _)| *measure == self.measures[0]) {
            return Err(Error::Unsupported {
                learner: learner.info().name.into(),
                need: format!("being judged by {decisive}: in some split {why}"),
            });
        }
        let seconds = start.elapsed().as_secs_f64();
        Ok(Row { learner: learner.info().name, setting, scores: validated.scores, seconds })
    }

    /// Tries settings of the best learners; a better one becomes a row of its own.
    fn tune(&self, outcome: &mut Outcome) {
        outcome.rows.sort_by(|a, b| self.order(a, b));
        let rivals = outcome.rows.iter().filter(|row| row.learner != BASELINE).take(TUNED);
        let best: Vec<(&'static str, f64)> = rivals.map(|row| (row.learner, row.seconds)).collect();
        for (i, &(name, seconds)) in best.iter().enumerate() {
            // Half of the time that is left is for the better one of those that wait, all of it for the last.
            let parts = if i + 1 < best.len() { 2 } else { 1 };
            let left = self.args.budget.map(|budget| budget.saturating_sub(self.start.elapsed()) / parts);
            let strategy = self.strategy(left, seconds);
            let tuned = if self.over() { Err(Error::Stopped) } else { self.tune_one(name, strategy, left) };
            self.progress.clear();
            match tuned {
                Ok((row, stopped)) => {
                    let as_it_is = outcome.rows.iter().find(|r| r.learner == name);
                    let better = |row: &Row| as_it_is.is_none_or(|as_it_is| self.order(row, as_it_is).is_lt());
                    let row = row.filter(better);
                    outcome.rows.extend(row);
                    if stopped {
                        outcome.remarks.push(format!("{name}: not all settings tried: {}", self.whose_end()));
                    }
                }
                Err(Error::Stopped) => {
                    outcome.remarks.push(format!("{name}: settings not tried: {}", self.whose_end()))
                }
                Err(e) => outcome.remarks.push(format!("{name}: settings not tried: {e}")),
            }
        }
    }

    /// The learning curve of the best, where there is time for it.
    fn curve(&self, best: &Row) -> ermine::Result<Vec<CurvePoint>> {
        let learner = with_setting(&*registry::learner(best.learner)?, &best.setting, &self.context())?;
        let validation = Validation {
            splits: self.splits,
            measures: &self.measures[..1],
            train_scores: true,
            pool: true,
            custom: &[],
        };
        learning_curve(&*learner, self.data, &validation, Sizes::Shares(&SHARES), &self.context())
    }

    fn whose_end(&self) -> &'static str {
        if interrupt::stopped() { "stopped by Ctrl-C" } else { "the budget is spent" }
    }

    /// How settings are tried in the time that is left, where one on all rows takes so many seconds: if that is too little for all, most on few rows.
    fn strategy(&self, left: Option<Duration>, seconds: f64) -> Strategy {
        let trials = self.args.trials + 1;
        let affordable = left.map_or(f64::INFINITY, |left| left.as_secs_f64() / seconds.max(1e-3));
        // Each round of halving takes about as long as one setting on all rows, and has a third as many settings as the one before.
        let rounds = (affordable as usize).saturating_sub(1);
        let fewer = FACTOR.saturating_pow(rounds.try_into().unwrap_or(u32::MAX)).min(trials);
        match affordable >= trials as f64 || rounds == 0 || self.data.n_rows() <= 2 * PROBED_ROWS {
            true => Strategy::Random { trials },
            false => Strategy::Halving { trials: fewer, factor: FACTOR },
        }
    }

    /// The best of some settings of a learner, if it isn't its default; and whether the search was stopped.
    fn tune_one(&self, name: &str, strategy: Strategy, left: Option<Duration>) -> ermine::Result<(Option<Row>, bool)> {
        let until = left.and_then(|left| Instant::now().checked_add(left));
        let learner = registry::learner(name)?;
        let observer = Hurried { progress: self.progress, deadline: until };
        let context = Context { observer: &observer, ..self.context() };
        let space = Space::declared(&*learner).suited(&*learner, self.data, &context)?;
        let (splits, measure) = (self.splits, self.measures[0]);
        let what = Search { learner: &*learner, space: &space, strategy, splits, measure, pool: true };
        let start = Instant::now();
        let found = search(&what, self.data, &context, &mut Journal::none())?;
        let Some(best) = found.best.map(|best| &found.trials[best]).filter(|best| !best.setting.is_empty()) else {
            return Ok((None, found.stopped));
        };
        // What decides is known from the search; the other measures only where there is time for another round.
        let setting = best.setting.clone();
        let late = until.is_some_and(|until| Instant::now() >= until);
        let mut row = match late || self.over() {
            true => {
                Row { learner: learner.info().name, setting, scores: vec![best.score(self.measures[0])], seconds: 0.0 }
            }
            false => match self.row(&*with_setting(&*learner, &setting, &self.context())?, setting.clone(), until) {
                Err(Error::Stopped) => Row {
                    learner: learner.info().name,
                    setting,
                    scores: vec![best.score(self.measures[0])],
                    seconds: 0.0,
                },
                row => row?,
            },
        };
        row.seconds = start.elapsed().as_secs_f64();
        Ok((Some(row), found.stopped))
    }
}

fn why_not(error: &Error, args: &Args, late: bool) -> String {
    let how = if late { "not tried" } else { "not finished" };
    match (error, args.budget) {
        (Error::Stopped, _) if interrupt::stopped() => format!("{how}: stopped by Ctrl-C"),
        (Error::Stopped, Some(budget)) => {
            let budget = time(budget.as_secs_f64());
            match late {
                true => format!("{how}: the budget of {budget} is spent, or kept for settings of the best"),
                false => format!("{how} in its part of the budget of {budget}"),
            }
        }
        (Error::Unsupported { need, .. }, _) => format!("can't handle {need}"),
        (other, _) => format!("failed: {other}"),
    }
}

/// The command that trains this learner on the same data.
fn next_command(args: &Args, best: &Row) -> String {
    let program = std::env::args().next().unwrap_or_else(|| "ermine".into());
    let safe = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let model: String = args.data.target.first().map_or("model", String::as_str).chars().map(safe).collect();
    let mut words = vec![program, "train".into()];
    words.extend(args.data.words());
    words.extend(["--learner".into(), best.learner.into()]);
    words.extend(best.setting.iter().map(|(name, value)| format!("--{}={value}", flag_of(name))));
    if args.seed != 0 {
        words.extend(["--seed".into(), args.seed.to_string()]);
    }
    words.extend(["-o".into(), format!("{}.ermine", model.trim_start_matches(['-', '.']))]);
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}
