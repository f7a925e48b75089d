//! The settings of a learner that are worth trying: an axis for each parameter, made from its declaration or said by the user.

use crate::error::{Error, Result};
use crate::learner::Learner;
use crate::param::{Kind, ParamSpec, Tune, Value};
use crate::rng::{Rng, uniform};
use std::collections::BTreeMap;

/// Values for some of a learner's parameters.
pub type Setting = BTreeMap<String, Value>;

/// The values of one parameter that are tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
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
pub struct Space {
    axes: Vec<Axis>,
    listed: Vec<Setting>,
}

/// A grid with more settings than this is a mistake.
const MOST_SETTINGS: usize = 100_000;

fn takes_whole_numbers(kind: &Kind) -> bool {
    match kind {
        Kind::Int => true,
        Kind::Optional(kind) => takes_whole_numbers(kind),
        Kind::Either(kinds) => kinds.iter().any(takes_whole_numbers),
        _ => false,
    }
}

impl Axis {
    /// The axis that a parameter's declaration gives, if it is worth tuning.
    fn declared(spec: &ParamSpec) -> Option<Axis> {
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
        Some(Axis { name: spec.name.to_string(), choices })
    }

    /// An axis as users write it: `1,2,5` for these values, `0.01..1` for all between.
    pub fn parse(learner: &dyn Learner, name: &str, text: &str) -> Result<Axis> {
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
            None => Choices::Listed(text.split(',').map(Value::parse).collect()),
        };
        let axis = Axis { name: name.to_string(), choices };
        let mut probe = registry_twin(learner)?;
        axis.points(2).iter().try_for_each(|value| probe.set(name, value))?;
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

/// The same learner with default parameters, to try values on.
fn registry_twin(learner: &dyn Learner) -> Result<Box<dyn Learner>> {
    crate::registry::learner(learner.info().name)
}

fn each(kind: &Kind) -> Vec<Value> {
    match kind {
        Kind::Bool => vec![Value::Bool(false), Value::Bool(true)],
        Kind::Choice(words) => words.iter().map(|word| Value::Text((*word).into())).collect(),
        Kind::Optional(kind) => std::iter::once(Value::None).chain(each(kind)).collect(),
        _ => Vec::new(),
    }
}

impl Space {
    /// These axes.
    pub fn new(axes: Vec<Axis>) -> Space {
        Space { axes, listed: Vec::new() }
    }

    /// These settings, for [`Strategy::Listed`](super::search::Strategy::Listed).
    pub fn of_settings(listed: Vec<Setting>) -> Space {
        Space { axes: Vec::new(), listed }
    }

    /// The settings that were listed.
    pub fn listed(&self) -> &[Setting] {
        &self.listed
    }

    /// What the learner's declarations say is worth tuning.
    pub fn declared(learner: &dyn Learner) -> Space {
        Space::new(learner.specs().iter().filter_map(Axis::declared).collect())
    }

    /// The axes.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The axes but that of one parameter, and that one.
    pub fn without(&self, name: &str) -> (Space, Option<&Axis>) {
        let axes = self.axes.iter().filter(|axis| axis.name != name).cloned().collect();
        (Space::new(axes), self.axes.iter().find(|axis| axis.name == name))
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
