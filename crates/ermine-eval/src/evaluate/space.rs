//! The search space of a learner: an axis per parameter, from its declaration or from the user.

use super::search::with_setting;
use ermine_core::error::{Error, Result};
use ermine_core::learner::{Context, Learner, fit};
use ermine_core::matrix::{Dataset, Target};
use ermine_core::param::{ParamKind, ParamSpec, Tune, Value};
use ermine_core::progress::{Control, Event, Observer};
use ermine_core::rng::{Rng, uniform};
use std::collections::BTreeMap;

/// Values for some of a learner's parameters.
pub type Setting = BTreeMap<String, Value>;

/// The values of one parameter that are tried.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchAxis {
    /// The parameter.
    pub name: String,
    choices: Choices,
}

#[derive(Debug, Clone, PartialEq)]
enum Choices {
    Listed(Vec<Value>),
    Between { low: f64, high: f64, log: bool, whole: bool },
}

/// What is tried: the product of its axes, or settings one by one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchSpace {
    axes: Vec<SearchAxis>,
    listed: Vec<Setting>,
}

/// A grid with more settings than this is a mistake.
const MOST_SETTINGS: usize = 100_000;

fn takes_whole_numbers(kind: &ParamKind) -> bool {
    match kind {
        ParamKind::Int => true,
        ParamKind::Optional(kind) => takes_whole_numbers(kind),
        ParamKind::Either(kinds) => kinds.iter().any(takes_whole_numbers),
        _ => false,
    }
}

impl SearchAxis {
    /// The axis that a parameter's declaration gives, if it is worth tuning.
    fn declared(spec: &ParamSpec) -> Option<SearchAxis> {
        let whole = takes_whole_numbers(&spec.kind);
        // A whole number of rows and a share of them mean different things; a range that ends at 1 is one of shares.
        let between = |low: f64, high: f64, log: bool| Choices::Between {
            low,
            high,
            log,
            whole: whole && (high > 1.0 || low >= 1.0),
        };
        let choices = match spec.tune.as_ref()? {
            Tune::Linear(low, high) => between(*low, *high, false),
            Tune::Log(low, high) => between(*low, *high, true),
            Tune::Each => Choices::Listed(each(&spec.kind)),
        };
        Some(SearchAxis { name: spec.name.to_string(), choices })
    }

    /// An axis as users write it: `1,2,5` for these values, `0.01..1` for all between.
    pub fn parse(learner: &dyn Learner, name: &str, text: &str) -> Result<SearchAxis> {
        let specs = learner.specs();
        let Some(spec) = specs.iter().find(|spec| spec.name == name) else {
            return Err(Error::unknown("parameter", name, specs.iter().map(|s| s.name)));
        };
        let choices = match text.split_once("..") {
            Some((low, high)) => {
                let ends = (low.trim().parse::<f64>(), high.trim().parse::<f64>());
                let (Ok(low), Ok(high)) = ends else { return Err(bad_range(learner, name, text)) };
                if !(low < high && low.is_finite() && high.is_finite()) {
                    return Err(bad_range(learner, name, text));
                }
                let log = matches!(spec.tune, Some(Tune::Log(..))) && low > 0.0;
                Choices::Between { low, high, log, whole: takes_whole_numbers(&spec.kind) && high > 1.0 }
            }
            None if text.split(',').any(|word| word.trim().is_empty()) => return Err(bad_range(learner, name, text)),
            None => Choices::Listed(text.split(',').map(Value::parse).collect()),
        };
        let axis = SearchAxis { name: name.to_string(), choices };
        axis.points(2).iter().try_for_each(|value| learner.check(name, value))?;
        Ok(axis)
    }

    /// `n` values, evenly from end to end; all of them where they are listed.
    pub fn points(&self, n: usize) -> Vec<Value> {
        match &self.choices {
            Choices::Listed(values) => values.clone(),
            Choices::Between { .. } => {
                let at = |i: usize| self.at(if n > 1 { i as f64 / (n - 1) as f64 } else { 0.5 });
                let mut points: Vec<Value> = (0..n).map(at).collect();
                points.dedup();
                points
            }
        }
    }

    /// The value at a share of the way from the low to the high end.
    fn at(&self, share: f64) -> Value {
        match &self.choices {
            Choices::Listed(values) => values[((share * values.len() as f64) as usize).min(values.len() - 1)].clone(),
            Choices::Between { low, high, log, whole } => {
                let x = match log {
                    true => (low.ln() + share * (high.ln() - low.ln())).exp(),
                    false => low + share * (high - low),
                };
                // Three digits are enough to tell settings apart, and can be typed again.
                let short: f64 = format!("{x:.2e}").parse().unwrap_or(x);
                if *whole { Value::Int(x.round() as i64) } else { Value::Float(short.clamp(*low, *high)) }
            }
        }
    }
}

fn bad_range(learner: &dyn Learner, name: &str, text: &str) -> Error {
    Error::Param {
        owner: learner.info().name.into(),
        name: name.into(),
        value: text.into(),
        allowed: "values separated by commas, or LOW..HIGH with LOW below HIGH".into(),
    }
}

/// Says stop after the first step: parameters have been checked by then, those of parts too.
struct OneStep;

impl Observer for OneStep {
    fn event(&self, event: &Event<'_>) -> Control {
        if matches!(event, Event::Step { .. }) { Control::Stop } else { Control::Continue }
    }
}

/// Whether a learner begins to learn from data with this value of a parameter.
fn is_taken(learner: &dyn Learner, name: &str, value: &Value, data: &Dataset, context: &Context<'_>) -> bool {
    let setting = Setting::from([(name.to_string(), value.clone())]);
    let context = Context { observer: &OneStep, ..*context };
    let begun = with_setting(learner, &setting, &context).and_then(|learner| fit(&*learner, data, &context));
    matches!(begun, Ok(_) | Err(Error::Stopped))
}

/// A few rows of each class, or a few rows in all.
fn few_rows(data: &Dataset) -> Result<Dataset> {
    const FEW: usize = 40;
    const OF_A_CLASS: u32 = 4;
    let rows: Vec<u32> = match data.target() {
        Target::Classes { codes, labels } => {
            let mut counts = vec![0; labels.len()];
            let mut wanted = |code: u32| {
                counts[code as usize] += 1;
                counts[code as usize] <= OF_A_CLASS
            };
            (0..codes.len() as u32).filter(|&row| wanted(codes[row as usize])).collect()
        }
        // The range of the target determines which losses are possible.
        Target::Values { values, n_outputs } => {
            let place = |at: Option<usize>| at.map(|at| (at / n_outputs.max(&1)) as u32);
            let by = |a: &usize, b: &usize| values[*a].total_cmp(&values[*b]);
            let ends = [place((0..values.len()).min_by(by)), place((0..values.len()).max_by(by))];
            let mut rows: Vec<u32> = (0..data.n_rows().min(FEW) as u32).chain(ends.into_iter().flatten()).collect();
            rows.sort_unstable();
            rows.dedup();
            rows
        }
    };
    data.select(&rows)
}

fn each(kind: &ParamKind) -> Vec<Value> {
    match kind {
        ParamKind::Bool => vec![Value::Bool(false), Value::Bool(true)],
        ParamKind::Choice(words) => words.iter().map(|word| Value::Text((*word).into())).collect(),
        ParamKind::Optional(kind) => std::iter::once(Value::None).chain(each(kind)).collect(),
        _ => Vec::new(),
    }
}

impl SearchSpace {
    /// These axes.
    pub fn new(axes: Vec<SearchAxis>) -> SearchSpace {
        SearchSpace { axes, listed: Vec::new() }
    }

    /// These settings, for [`Strategy::Listed`](super::search::Strategy::Listed).
    pub fn of_settings(listed: Vec<Setting>) -> SearchSpace {
        SearchSpace { axes: Vec::new(), listed }
    }

    /// The settings that were listed.
    pub fn listed(&self) -> &[Setting] {
        &self.listed
    }

    /// What the learner's declarations say is worth tuning.
    pub fn declared(learner: &dyn Learner) -> SearchSpace {
        SearchSpace::new(learner.specs().iter().filter_map(SearchAxis::declared).collect())
    }

    /// The same without the words that the learner refuses for data like this, such as a criterion for numbers where there are classes. An axis of which all words are refused stays as it
    /// is: it isn't the words, then.
    pub fn supported_by(mut self, learner: &dyn Learner, data: &Dataset, context: &Context<'_>) -> Result<SearchSpace> {
        let few = few_rows(data)?;
        for axis in &mut self.axes {
            let Choices::Listed(values) = &mut axis.choices else { continue };
            let taken: Vec<Value> =
                values.iter().filter(|value| is_taken(learner, &axis.name, value, &few, context)).cloned().collect();
            if !taken.is_empty() {
                *values = taken;
            }
        }
        Ok(self)
    }

    /// The axes.
    pub fn axes(&self) -> &[SearchAxis] {
        &self.axes
    }

    /// The axes but that of one parameter, and that one.
    pub fn without(&self, name: &str) -> (SearchSpace, Option<&SearchAxis>) {
        let axes = self.axes.iter().filter(|axis| axis.name != name).cloned().collect();
        (SearchSpace::new(axes), self.axes.iter().find(|axis| axis.name == name))
    }

    /// Every combination of `n` values for each axis.
    pub fn grid(&self, n: usize) -> Result<Vec<Setting>> {
        let mut settings = vec![Setting::new()];
        for axis in &self.axes {
            let points = axis.points(n);
            if settings.len().saturating_mul(points.len()) > MOST_SETTINGS {
                return Err(Error::data(format!(
                    "the grid has more than {MOST_SETTINGS} settings; name fewer values, or search at random"
                )));
            }
            let with = |setting: &Setting, value: &Value| {
                let mut longer = setting.clone();
                longer.insert(axis.name.clone(), value.clone());
                longer
            };
            settings =
                settings.iter().flat_map(|s| points.iter().map(move |v| (s, v))).map(|(s, v)| with(s, v)).collect();
        }
        Ok(settings)
    }

    /// One setting at random.
    pub fn draw(&self, rng: &mut Rng) -> Setting {
        self.axes.iter().map(|axis| (axis.name.clone(), axis.at(uniform(rng)))).collect()
    }
}
