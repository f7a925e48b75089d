//! A learner as a parameter value.
//!
//! A reduction can use any learner of the registry. Its parameter `estimator` contains the name of the learner and its parameters: `decision-stump`,
//! `random-forest(n_estimators=20, max_depth=3)`, and so on; estimators can be nested. The same text is used on the command line, in Python and in model files. The learner
//! is looked up in [`Context::registry`].

use crate::error::{Error, Result};
use crate::learner::{Context, Learner};
use crate::param::{ParamKind, ParamType, Value};
use std::fmt;

/// The name of a learner and its parameters that differ from the defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimator {
    /// The learner's name in the registry.
    pub name: String,
    /// Parameters and their values.
    pub params: Vec<(String, Value)>,
}

impl Estimator {
    /// A learner with its default parameters.
    pub fn named(name: impl Into<String>) -> Estimator {
        Estimator { name: name.into(), params: Vec::new() }
    }

    /// The estimator that describes a given learner.
    pub fn of(learner: &dyn Learner) -> Estimator {
        let changed = learner.specs().into_iter().filter_map(|spec| {
            let value = learner.get(spec.name)?;
            (value != spec.default).then(|| (spec.name.to_string(), value))
        });
        Estimator { name: learner.info().name.into(), params: changed.collect() }
    }

    /// Sets a parameter.
    pub fn with(mut self, name: impl Into<String>, value: impl ParamType) -> Estimator {
        self.params.push((name.into(), value.to_value()));
        self
    }

    /// Creates the learner.
    pub fn learner(&self, context: &Context<'_>) -> Result<Box<dyn Learner>> {
        let mut learner = context.registry.learner(&self.name)?;
        self.params.iter().try_for_each(|(name, value)| learner.set(name, value))?;
        Ok(learner)
    }

    /// Parses the learner in a model file.
    pub fn written(text: &str) -> Result<Estimator> {
        Estimator::parse(text).ok_or_else(|| Error::model_file(format!("it contains the invalid estimator '{text}'")))
    }

    /// Parses `name` or `name(param=value, ...)`.
    fn parse(text: &str) -> Option<Estimator> {
        let text = text.trim();
        let fine = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_".contains(c));
        let Some((name, rest)) = text.split_once('(') else {
            return fine(text).then(|| Estimator::named(text));
        };
        let inside = rest.strip_suffix(')')?;
        let pair = |part: &str| {
            let (name, value) = part.split_once('=')?;
            Some((name.trim().to_string(), parse_value(value)))
        };
        let params =
            outer_commas(inside).into_iter().filter(|p| !p.trim().is_empty()).map(pair).collect::<Option<_>>()?;
        fine(name.trim()).then(|| Estimator { name: name.trim().into(), params })
    }
}

/// Parses a value, which may be a list in brackets or an estimator.
fn parse_value(text: &str) -> Value {
    let text = text.trim();
    match text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
        Some(list) => Value::List(list.split(',').map(Value::parse).collect()),
        None if text.contains('(') => Value::Text(text.to_string()),
        None => Value::parse(text),
    }
}

/// Splits at commas outside brackets.
fn outer_commas(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0i32, 0, Vec::new());
    for (i, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

impl fmt::Display for Estimator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |(name, value): &(String, Value)| match value {
            Value::List(_) => format!("{name}=[{value}]"),
            _ => format!("{name}={value}"),
        };
        if self.params.is_empty() {
            return f.write_str(&self.name);
        }
        write!(f, "{}({})", self.name, self.params.iter().map(word).collect::<Vec<_>>().join(","))
    }
}

impl ParamType for Estimator {
    fn kind() -> ParamKind {
        ParamKind::Text
    }
    fn to_value(&self) -> Value {
        Value::Text(self.to_string())
    }
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            // A text with commas may have been parsed as a list.
            Value::Text(_) | Value::List(_) => Estimator::parse(&value.to_string()),
            _ => None,
        }
    }
    fn wanted() -> Option<String> {
        Some("a learner: its name, or name(parameter=value, ...) with matching brackets".into())
    }
}

/// Several learners, each with the parameters in which it differs from its defaults: `ridge,random-forest(n_estimators=20)`.
#[derive(Debug, Clone, PartialEq)]
pub struct EstimatorList(pub Vec<Estimator>);

impl EstimatorList {
    /// Learners with their default parameters.
    pub fn named(names: &[&str]) -> EstimatorList {
        EstimatorList(names.iter().map(|name| Estimator::named(*name)).collect())
    }
}

impl fmt::Display for EstimatorList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(Estimator::to_string).collect::<Vec<_>>().join(","))
    }
}

impl ParamType for EstimatorList {
    fn kind() -> ParamKind {
        ParamKind::Text
    }
    fn to_value(&self) -> Value {
        Value::List(self.0.iter().map(Estimator::to_value).collect())
    }
    fn from_value(value: &Value) -> Option<Self> {
        // Commas inside parentheses may have cut a learner in two on its way here: all parts are put together again.
        let text = match value {
            // Nothing between two commas.
            Value::List(parts) if parts.iter().any(|part| matches!(part, Value::None)) => return None,
            Value::Text(_) | Value::List(_) => value.to_string(),
            _ => return None,
        };
        let text = text.trim();
        let inside = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
        let found: Vec<Estimator> = outer_commas(inside).into_iter().map(Estimator::parse).collect::<Option<_>>()?;
        (!found.is_empty()).then_some(EstimatorList(found))
    }
    fn wanted() -> Option<String> {
        Some("learners separated by commas, each a name, or name(parameter=value, ...) with both brackets".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimators_round_trip() {
        for text in
            ["decision-stump", "a(b=1,c=none)", "bagging(estimator=adaboost(n_estimators=3,x=[1,2]),max_samples=0.5)"]
        {
            let estimator = Estimator::from_value(&Value::Text(text.into())).unwrap();
            assert_eq!(estimator.to_string(), text);
            assert_eq!(Estimator::from_value(&Value::parse(text)), Some(estimator), "as on the command line");
        }
        for wrong in ["", "a(b)", "a(b=1", "(b=1)", "a b"] {
            assert_eq!(Estimator::from_value(&Value::Text(wrong.into())), None, "{wrong}");
        }
    }

    #[test]
    fn a_list_of_learners_is_read_as_it_is_written() {
        let text =
            "ridge,bagging(estimator=svr(c=2.0,kernel=rbf),max_samples=0.5),stacking(estimators=[a,b(c=1,d=2)],cv=3)";
        let list = EstimatorList::from_value(&Value::Text(text.into())).unwrap();
        assert_eq!(list.0.iter().map(|e| e.name.as_str()).collect::<Vec<_>>(), ["ridge", "bagging", "stacking"]);
        assert_eq!(list.to_string(), text);
        for value in [list.to_value(), Value::parse(text), Value::Text(format!("[{text}]"))] {
            assert_eq!(EstimatorList::from_value(&value), Some(list.clone()), "{value:?}");
        }
        // Below another learner.
        let outer =
            Estimator::named("calibrated").with("estimator", Estimator::named("voting").with("estimators", list));
        assert_eq!(Estimator::parse(&outer.to_string()), Some(outer));
        for wrong in
            [Value::None, Value::Int(3), Value::Text(String::new()), Value::parse("a,,b"), Value::parse("a(b=1,c")]
        {
            assert_eq!(EstimatorList::from_value(&wrong), None, "{wrong:?}");
        }
    }
}
