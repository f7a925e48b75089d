//! Parameters, declared once.
//!
//! A learner declares its parameters in one [`params!`](crate::params) block: name, type, default, allowed range, tuning range, and documentation. The struct with its public fields, the
//! validation messages, the command-line flags, the Python signatures and the search space are derived from it.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;

/// An untyped parameter value, from the command line, Python or a model file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// No value: "none" on the command line, `None` in Python.
    None,
    /// True or false.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A number.
    Float(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Value>),
}

// JSON has no infinite numbers, so they are written as strings that `f64` parses.
impl Serialize for Value {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::None => serializer.serialize_none(),
            Value::Bool(b) => serializer.serialize_bool(*b),
            Value::Int(i) => serializer.serialize_i64(*i),
            Value::Float(x) if x.is_finite() => serializer.serialize_f64(*x),
            Value::Float(x) => serializer.serialize_str(&x.to_string()),
            Value::Text(t) => serializer.serialize_str(t),
            Value::List(values) => serializer.collect_seq(values),
        }
    }
}

impl Value {
    /// The value as a number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Int(i) => Some(*i as f64),
            Value::Float(x) => Some(*x),
            _ => None,
        }
    }

    /// Parses a value from the command line: `none`, `true`, `3`, `0.5`, `gini`, `1,2,3`.
    pub fn parse(text: &str) -> Value {
        match text.trim() {
            "none" | "None" | "" => Value::None,
            "true" | "True" => Value::Bool(true),
            "false" | "False" => Value::Bool(false),
            t if t.contains(',') => Value::List(t.split(',').map(Value::parse).collect()),
            t => match (t.parse::<i64>(), t.parse::<f64>()) {
                (Ok(i), _) => Value::Int(i),
                (_, Ok(x)) => Value::Float(x),
                _ => Value::Text(t.to_string()),
            },
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::None => f.write_str("none"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Int(i) => write!(f, "{i}"),
            // With a decimal point, since a share of 1.0 and a count of 1 differ.
            Value::Float(x) => write!(f, "{x:?}"),
            Value::Text(t) => f.write_str(t),
            Value::List(vs) => {
                let words: Vec<String> = vs.iter().map(Value::to_string).collect();
                let apart = if vs.iter().any(|v| matches!(v, Value::List(_))) { ";" } else { "," };
                f.write_str(&words.join(apart))
            }
        }
    }
}

/// The type of a parameter, apart from its range.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ParamKind {
    /// True or false.
    Bool,
    /// An integer.
    Int,
    /// A number.
    Float,
    /// Free text.
    Text,
    /// One of these words.
    Choice(Vec<&'static str>),
    /// A list.
    List(Box<ParamKind>),
    /// None, or a value of this type.
    Optional(Box<ParamKind>),
    /// Any of these types.
    Either(Vec<ParamKind>),
}

impl fmt::Display for ParamKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamKind::Bool => f.write_str("true or false"),
            ParamKind::Int => f.write_str("a whole number"),
            ParamKind::Float => f.write_str("a number"),
            ParamKind::Text => f.write_str("text"),
            ParamKind::Choice(words) => write!(f, "{}", words.join(" | ")),
            ParamKind::List(kind) => match **kind {
                ParamKind::Int => f.write_str("a list of whole numbers"),
                ParamKind::Float => f.write_str("a list of numbers"),
                _ => write!(f, "a list of: {kind}"),
            },
            ParamKind::Optional(kind) => write!(f, "none, or {kind}"),
            ParamKind::Either(kinds) => {
                let words: Vec<String> = kinds.iter().map(ParamKind::to_string).collect();
                f.write_str(&words.join(", or "))
            }
        }
    }
}

/// The allowed range of a number. Bounds are inclusive unless marked open.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Range {
    /// Lowest value.
    pub min: f64,
    /// Highest value.
    pub max: f64,
    /// Whether the lower bound is exclusive.
    pub above: bool,
    /// Whether the upper bound is exclusive.
    pub below: bool,
}

impl Range {
    /// All numbers.
    pub const ALL: Range = Range::between(f64::NEG_INFINITY, f64::INFINITY);

    /// `min <= x <= max`.
    pub const fn between(min: f64, max: f64) -> Range {
        Range { min, max, above: false, below: false }
    }
    /// `x >= min`.
    pub const fn at_least(min: f64) -> Range {
        Range::between(min, f64::INFINITY)
    }
    /// `x > min`.
    pub const fn more_than(min: f64) -> Range {
        Range { min, max: f64::INFINITY, above: true, below: false }
    }
    /// `min < x <= max`.
    pub const fn above_to(min: f64, max: f64) -> Range {
        Range { min, max, above: true, below: false }
    }
    /// `min < x < max`.
    pub const fn inside(min: f64, max: f64) -> Range {
        Range { min, max, above: true, below: true }
    }

    /// Whether `x` is in the range; false for NaN.
    pub fn contains(&self, x: f64) -> bool {
        let low = if self.above { x > self.min } else { x >= self.min };
        let high = if self.below { x < self.max } else { x <= self.max };
        low && high
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let low = if self.above { "more than" } else { "at least" };
        let high = if self.below { "less than" } else { "at most" };
        let number = |x: f64| {
            let text = format!("{x:?}");
            text.strip_suffix(".0").map_or(text.clone(), String::from)
        };
        let (least, most) = (number(self.min), number(self.max));
        match (self.min.is_finite(), self.max.is_finite()) {
            (true, true) if !self.above && !self.below => write!(f, "from {least} to {most}"),
            (true, true) => write!(f, "{low} {least} and {high} {most}"),
            (true, false) => write!(f, "{low} {least}"),
            (false, true) => write!(f, "{high} {most}"),
            (false, false) => f.write_str("any"),
        }
    }
}

/// The values to try in tuning.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tune {
    /// Uniform between two values.
    Linear(f64, f64),
    /// Uniform in the logarithm.
    Log(f64, f64),
    /// Every word or flag.
    Each,
}

/// Specification of a parameter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ParamSpec {
    /// Name in every interface.
    pub name: &'static str,
    /// First line of the documentation.
    pub summary: &'static str,
    /// Documentation: the summary, then when to change the parameter.
    pub doc: String,
    /// Type.
    pub kind: ParamKind,
    /// Range, for numbers.
    pub range: Range,
    /// Default value.
    pub default: Value,
    /// Values to try in tuning.
    pub tune: Option<Tune>,
    /// Description of the allowed values, if type and range don't describe them.
    #[serde(skip)]
    pub wanted: Option<String>,
}

impl ParamSpec {
    /// Description of the allowed values.
    pub fn allowed(&self) -> String {
        if let Some(wanted) = &self.wanted {
            return wanted.clone();
        }
        if self.range == Range::ALL { self.kind.to_string() } else { format!("{}, {}", self.kind, self.range) }
    }

    fn check(&self, owner: &str, value: &Value) -> Result<()> {
        let fine = match value {
            Value::List(values) => values.iter().all(|v| v.number().is_none_or(|x| self.range.contains(x))),
            v => v.number().is_none_or(|x| self.range.contains(x)),
        };
        if fine { Ok(()) } else { Err(self.invalid(owner, value)) }
    }

    fn invalid(&self, owner: &str, value: &Value) -> Error {
        Error::Param {
            owner: owner.to_string(),
            name: self.name.to_string(),
            value: value.to_string(),
            allowed: self.allowed(),
        }
    }
}

/// A set of parameters. Implemented by [`params!`](crate::params).
pub trait Parameters {
    /// The name of the owner in messages, such as "decision-stump".
    fn owner(&self) -> &'static str;
    /// All parameters, in order of declaration.
    fn specs(&self) -> Vec<ParamSpec>;
    /// The current value of a parameter.
    fn get(&self, name: &str) -> Option<Value>;
    /// Sets a value without checking its range; false if the name or type is wrong.
    fn put(&mut self, name: &str, value: &Value) -> bool;
    /// Whether name and type of a value are valid; its range is not checked.
    fn fits(&self, name: &str, value: &Value) -> bool;

    /// Checks a value without setting it.
    fn check(&self, name: &str, value: &Value) -> Result<()> {
        let specs = self.specs();
        let Some(spec) = specs.iter().find(|s| s.name == name) else {
            return Err(Error::unknown("parameter", name, specs.iter().map(|s| s.name)));
        };
        spec.check(self.owner(), value)?;
        if self.fits(name, value) { Ok(()) } else { Err(spec.invalid(self.owner(), value)) }
    }

    /// Checks and sets a parameter.
    fn set(&mut self, name: &str, value: &Value) -> Result<()> {
        self.check(name, value)?;
        self.put(name, value);
        Ok(())
    }

    /// Checks every value against its range.
    fn validate(&self) -> Result<()> {
        for spec in self.specs() {
            spec.check(self.owner(), &self.get(spec.name).unwrap_or(Value::None))?;
        }
        Ok(())
    }

    /// All parameters with their values.
    fn values(&self) -> Vec<(&'static str, Value)> {
        self.specs().iter().map(|s| (s.name, self.get(s.name).unwrap_or(Value::None))).collect()
    }
}

/// A Rust type of parameters.
pub trait ParamType: Sized {
    /// The type of its values.
    fn kind() -> ParamKind;
    /// Converts to an untyped value.
    fn to_value(&self) -> Value;
    /// Converts from an untyped value, if possible.
    fn from_value(value: &Value) -> Option<Self>;
    /// Description of the allowed values, if type and range don't describe them.
    fn wanted() -> Option<String> {
        None
    }
}

impl ParamType for bool {
    fn kind() -> ParamKind {
        ParamKind::Bool
    }
    fn to_value(&self) -> Value {
        Value::Bool(*self)
    }
    fn from_value(value: &Value) -> Option<Self> {
        if let Value::Bool(b) = value { Some(*b) } else { None }
    }
}

impl ParamType for f64 {
    fn kind() -> ParamKind {
        ParamKind::Float
    }
    fn to_value(&self) -> Value {
        Value::Float(*self)
    }
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(word) => word.parse().ok(),
            v => v.number(),
        }
    }
}

macro_rules! whole_number {
    ($($t:ty),*) => {$(
        impl ParamType for $t {
            fn kind() -> ParamKind {
                ParamKind::Int
            }
            fn to_value(&self) -> Value {
                i64::try_from(*self).map_or(Value::Float(*self as f64), Value::Int)
            }
            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    Value::Int(i) => <$t>::try_from(*i).ok(),
                    Value::Float(x) if x.fract() == 0.0 && x.abs() < 9e15 => <$t>::try_from(*x as i64).ok(),
                    _ => None,
                }
            }
        }
    )*};
}
whole_number!(usize, u64, u32, i64);

impl ParamType for String {
    fn kind() -> ParamKind {
        ParamKind::Text
    }
    fn to_value(&self) -> Value {
        Value::Text(self.clone())
    }
    fn from_value(value: &Value) -> Option<Self> {
        Some(value.to_string())
    }
}

impl<T: ParamType> ParamType for Option<T> {
    fn kind() -> ParamKind {
        ParamKind::Optional(Box::new(T::kind()))
    }
    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::None, T::to_value)
    }
    fn from_value(value: &Value) -> Option<Self> {
        if *value == Value::None { Some(None) } else { T::from_value(value).map(Some) }
    }
    fn wanted() -> Option<String> {
        T::wanted().map(|wanted| format!("none, or {wanted}"))
    }
}

impl<T: ParamType> ParamType for Vec<T> {
    fn kind() -> ParamKind {
        ParamKind::List(Box::new(T::kind()))
    }
    fn to_value(&self) -> Value {
        Value::List(self.iter().map(T::to_value).collect())
    }
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::List(values) => values.iter().map(T::from_value).collect(),
            Value::None => Some(Vec::new()),
            one => T::from_value(one).map(|x| vec![x]),
        }
    }
}

/// Declares an enum whose variants are the allowed values of a parameter.
#[macro_export]
macro_rules! choice {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[doc = $doc:literal])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        $vis enum $name { $($(#[doc = $doc])* $variant),+ }

        impl $name {
            /// The name of this value.
            pub fn as_str(&self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::param::ParamType for $name {
            fn kind() -> $crate::param::ParamKind {
                $crate::param::ParamKind::Choice(vec![$($word),+])
            }
            fn to_value(&self) -> $crate::param::Value {
                $crate::param::Value::Text(self.as_str().to_string())
            }
            fn from_value(value: &$crate::param::Value) -> Option<Self> {
                match value {
                    $($crate::param::Value::Text(word) if word == $word => Some($name::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

/// Declares the parameters of a learner: a struct of public fields with defaults, and its specification.
///
/// ```
/// use ermine_core::param::{Parameters, Range, Value};
///
/// ermine_core::params! {
///     /// A toy.
///     pub struct Toy("toy") {
///         /// How many.
///         count: usize = 10, range Range::at_least(1.0);
///         /// How fast.
///         rate: f64 = 0.1, range Range::above_to(0.0, 1.0), tune Log(0.01, 1.0);
///     }
/// }
///
/// let mut toy = Toy { count: 3, ..Default::default() };
/// assert!(toy.set("rate", &Value::Float(2.0)).is_err());
/// assert_eq!(toy.get("rate"), Some(Value::Float(0.1)));
/// ```
#[macro_export]
macro_rules! params {
    ($(#[$meta:meta])* $vis:vis struct $name:ident($owner:literal) { $(
        $(#[doc = $doc:literal])+
        $field:ident : $type:ty = $default:expr $(, range $range:expr)? $(, tune $tune:ident $(($low:expr, $high:expr))?)? ;
    )* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        $vis struct $name { $($(#[doc = $doc])+ pub $field: $type),* }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default),* }
            }
        }

        impl $crate::param::Parameters for $name {
            fn owner(&self) -> &'static str {
                $owner
            }

            fn specs(&self) -> Vec<$crate::param::ParamSpec> {
                vec![$({
                    #[allow(unused_mut, unused_assignments)]
                    let (mut range, mut tune) = ($crate::param::Range::ALL, None);
                    $(range = $range;)?
                    $(tune = Some($crate::param::Tune::$tune $(($low as f64, $high as f64))?);)?
                    let default: $type = $default;
                    $crate::param::ParamSpec {
                        name: stringify!($field),
                        summary: [$($doc),+][0].trim(),
                        doc: [$($doc.trim()),+].join(" "),
                        kind: <$type as $crate::param::ParamType>::kind(),
                        wanted: <$type as $crate::param::ParamType>::wanted(),
                        range,
                        default: $crate::param::ParamType::to_value(&default),
                        tune,
                    }
                }),*]
            }

            fn get(&self, name: &str) -> Option<$crate::param::Value> {
                match name {
                    $(stringify!($field) => Some($crate::param::ParamType::to_value(&self.$field)),)*
                    _ => None,
                }
            }

            #[allow(unused_variables)]
            fn put(&mut self, name: &str, value: &$crate::param::Value) -> bool {
                match name {
                    $(stringify!($field) => match <$type as $crate::param::ParamType>::from_value(value) {
                        Some(value) => { self.$field = value; true }
                        None => false,
                    },)*
                    _ => false,
                }
            }

            #[allow(unused_variables)]
            fn fits(&self, name: &str, value: &$crate::param::Value) -> bool {
                match name {
                    $(stringify!($field) => <$type as $crate::param::ParamType>::from_value(value).is_some(),)*
                    _ => false,
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    choice! {
        /// A color.
        pub enum Color { Red = "red", Green = "green" }
    }
    params! {
        /// For the tests below.
        pub struct TestParams("sample") {
            /// How many.
            count: usize = 10, range Range::at_least(1.0);
            /// Which.
            color: Color = Color::Red, tune Each;
            /// How deep, if limited.
            depth: Option<usize> = None, range Range::at_least(1.0), tune Linear(1, 10);
            /// How much.
            rate: f64 = 0.5, range Range::above_to(0.0, 1.0);
        }
    }

    proptest::proptest! {
        #[test]
        fn numbers_round_trip(x in proptest::num::f64::NORMAL | proptest::num::f64::ZERO, whole in -1000i32..1000) {
            for x in [x, f64::from(whole)] {
                let text = Value::Float(x).to_string();
                proptest::prop_assert_eq!(Value::parse(&text), Value::Float(x));
                proptest::prop_assert!(text.len() < 30, "{}", text);
            }
        }
    }

    #[test]
    fn values_are_checked_and_set_by_name() {
        let mut s = TestParams::default();
        s.set("count", &Value::parse("7")).unwrap();
        s.set("color", &Value::parse("green")).unwrap();
        s.set("depth", &Value::parse("none")).unwrap();
        assert_eq!((s.count, s.color, s.depth), (7, Color::Green, None));
        let message =
            |name: &str, text: &str| TestParams::default().set(name, &Value::parse(text)).unwrap_err().to_string();
        assert_eq!(message("count", "0"), "sample: count must be a whole number, at least 1 (got 0)");
        assert_eq!(message("count", "2.5"), "sample: count must be a whole number, at least 1 (got 2.5)");
        assert_eq!(message("color", "blue"), "sample: color must be red | green (got blue)");
        assert_eq!(message("colr", "red"), "no parameter named 'colr': did you mean 'color'?");
        assert!(message("rate", "nan").contains("more than 0 and at most 1"));
    }

    #[test]
    fn fields_set_directly_are_validated() {
        assert!(TestParams { rate: f64::NAN, ..Default::default() }.validate().is_err());
        assert!(TestParams { depth: Some(0), ..Default::default() }.validate().is_err());
        assert!(TestParams::default().validate().is_ok());
    }

    #[test]
    fn every_default_is_allowed() {
        let mut s = TestParams::default();
        for spec in s.specs() {
            s.set(spec.name, &spec.default).unwrap();
        }
        assert_eq!(s, TestParams::default());
    }
}
