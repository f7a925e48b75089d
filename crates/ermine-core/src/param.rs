//! Parameters, declared once.
//!
//! A learner writes its parameters in one [`params!`](crate::params) block: name, type, default, allowed range, range worth
//! tuning, one line of documentation. The struct with its public fields, the validation messages, the command-line
//! flags, the Python signatures and the tuner's search space all follow from that block.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A parameter's value, free of its type: as typed on a command line, passed from Python or kept in a model file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// No value: "none" on the command line, `None` in Python.
    None,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A word.
    Text(String),
    /// Several values.
    List(Vec<Value>),
}

// By hand, because JSON has no infinite numbers: those are written as the words that `f64` reads back.
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
    /// The value as a number, where it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Int(i) => Some(*i as f64),
            Value::Float(x) => Some(*x),
            _ => None,
        }
    }

    /// Reads a value as typed on a command line: `none`, `true`, `3`, `0.5`, `gini`, `1,2,3`.
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
            // With its point: a share of 1.0 and a count of 1 are different things. Very large and very small ones with their power of ten.
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

/// What values a parameter takes, before its range is looked at.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// True or false.
    Bool,
    /// A whole number.
    Int,
    /// A number.
    Float,
    /// Free text.
    Text,
    /// One of these words.
    Choice(Vec<&'static str>),
    /// Several values of one kind.
    List(Box<Kind>),
    /// No value, or one of this kind.
    Optional(Box<Kind>),
    /// Any of these kinds.
    Either(Vec<Kind>),
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Bool => f.write_str("true or false"),
            Kind::Int => f.write_str("a whole number"),
            Kind::Float => f.write_str("a number"),
            Kind::Text => f.write_str("text"),
            Kind::Choice(words) => write!(f, "{}", words.join(" | ")),
            Kind::List(kind) => match **kind {
                Kind::Int => f.write_str("a list of whole numbers"),
                Kind::Float => f.write_str("a list of numbers"),
                _ => write!(f, "a list of: {kind}"),
            },
            Kind::Optional(kind) => write!(f, "none, or {kind}"),
            Kind::Either(kinds) => {
                let words: Vec<String> = kinds.iter().map(Kind::to_string).collect();
                f.write_str(&words.join(", or "))
            }
        }
    }
}

/// The numbers a parameter may take. Ends belong to the range unless marked open.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Range {
    /// Lowest value.
    pub min: f64,
    /// Highest value.
    pub max: f64,
    /// The lowest value itself is not allowed.
    pub above: bool,
    /// The highest value itself is not allowed.
    pub below: bool,
}

impl Range {
    /// Every number.
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

    /// Whether `x` lies in the range. NaN never does.
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

/// The values worth trying when a parameter is tuned.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tune {
    /// Evenly between two values.
    Linear(f64, f64),
    /// Evenly in the logarithm.
    Log(f64, f64),
    /// Each word or flag that the kind allows.
    Each,
}

/// All that is known about a parameter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ParamSpec {
    /// Its one name, in every interface.
    pub name: &'static str,
    /// What it does, in a line or two.
    pub doc: String,
    /// What values it takes.
    pub kind: Kind,
    /// Which numbers, where it takes numbers.
    pub range: Range,
    /// The value it has unless said otherwise.
    pub default: Value,
    /// Where a tuner should look, if anywhere.
    pub tune: Option<Tune>,
    /// What values are allowed, where that takes other words than kind and range.
    #[serde(skip)]
    pub wanted: Option<String>,
}

impl ParamSpec {
    /// What values are allowed, in words.
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
        if fine { Ok(()) } else { Err(self.refuse(owner, value)) }
    }

    fn refuse(&self, owner: &str, value: &Value) -> Error {
        Error::Param {
            owner: owner.to_string(),
            name: self.name.to_string(),
            value: value.to_string(),
            allowed: self.allowed(),
        }
    }
}

/// A set of declared parameters. Implemented by [`params!`](crate::params).
pub trait Parameters {
    /// The name that messages give the owner, e.g. "decision-stump".
    fn owner(&self) -> &'static str;
    /// All parameters, in the order of declaration.
    fn specs(&self) -> Vec<ParamSpec>;
    /// The current value of a parameter.
    fn get(&self, name: &str) -> Option<Value>;
    /// Puts a value in without looking at its range; false where name or type don't fit.
    fn put(&mut self, name: &str, value: &Value) -> bool;
    /// Whether name and type of a value fit; its range is not looked at.
    fn fits(&self, name: &str, value: &Value) -> bool;

    /// Checks a value for one parameter without setting it.
    fn check(&self, name: &str, value: &Value) -> Result<()> {
        let specs = self.specs();
        let Some(spec) = specs.iter().find(|s| s.name == name) else {
            return Err(Error::unknown("parameter", name, specs.iter().map(|s| s.name)));
        };
        spec.check(self.owner(), value)?;
        if self.fits(name, value) { Ok(()) } else { Err(spec.refuse(self.owner(), value)) }
    }

    /// Sets one parameter, checked.
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

    /// Every parameter with its value.
    fn values(&self) -> Vec<(&'static str, Value)> {
        self.specs().iter().map(|s| (s.name, self.get(s.name).unwrap_or(Value::None))).collect()
    }
}

/// A Rust type that a parameter's field can have.
pub trait ParamType: Sized {
    /// What values it takes.
    fn kind() -> Kind;
    /// The value, free of its type.
    fn to_value(&self) -> Value;
    /// The typed value, where it fits.
    fn from_value(value: &Value) -> Option<Self>;
    /// What values it takes and in which range, where that takes other words than kind and range.
    fn wanted() -> Option<String> {
        None
    }
}

impl ParamType for bool {
    fn kind() -> Kind {
        Kind::Bool
    }
    fn to_value(&self) -> Value {
        Value::Bool(*self)
    }
    fn from_value(value: &Value) -> Option<Self> {
        if let Value::Bool(b) = value { Some(*b) } else { None }
    }
}

impl ParamType for f64 {
    fn kind() -> Kind {
        Kind::Float
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
            fn kind() -> Kind {
                Kind::Int
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
    fn kind() -> Kind {
        Kind::Text
    }
    fn to_value(&self) -> Value {
        Value::Text(self.clone())
    }
    fn from_value(value: &Value) -> Option<Self> {
        Some(value.to_string())
    }
}

impl<T: ParamType> ParamType for Option<T> {
    fn kind() -> Kind {
        Kind::Optional(Box::new(T::kind()))
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
    fn kind() -> Kind {
        Kind::List(Box::new(T::kind()))
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

/// Declares an enum whose variants are the words a parameter may take.
#[macro_export]
macro_rules! choice {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[doc = $doc:literal])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        $vis enum $name { $($(#[doc = $doc])* $variant),+ }

        impl $name {
            /// The word users write for this value.
            pub fn word(&self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }

        impl $crate::param::ParamType for $name {
            fn kind() -> $crate::param::Kind {
                $crate::param::Kind::Choice(vec![$($word),+])
            }
            fn to_value(&self) -> $crate::param::Value {
                $crate::param::Value::Text(self.word().to_string())
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

/// Declares a learner's parameters: a struct of public fields with defaults, and all that interfaces need to know.
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
        /// A colour.
        pub enum Colour { Red = "red", Green = "green" }
    }
    params! {
        /// For the tests below.
        pub struct Sample("sample") {
            /// How many.
            count: usize = 10, range Range::at_least(1.0);
            /// Which.
            colour: Colour = Colour::Red, tune Each;
            /// How deep, if limited.
            depth: Option<usize> = None, range Range::at_least(1.0), tune Linear(1, 10);
            /// How much.
            rate: f64 = 0.5, range Range::above_to(0.0, 1.0);
        }
    }

    proptest::proptest! {
        #[test]
        fn numbers_are_read_as_they_are_written(x in proptest::num::f64::NORMAL | proptest::num::f64::ZERO, whole in -1000i32..1000) {
            for x in [x, f64::from(whole)] {
                let text = Value::Float(x).to_string();
                proptest::prop_assert_eq!(Value::parse(&text), Value::Float(x));
                proptest::prop_assert!(text.len() < 30, "{}", text);
            }
        }
    }

    #[test]
    fn values_are_set_by_name_and_checked() {
        let mut s = Sample::default();
        s.set("count", &Value::parse("7")).unwrap();
        s.set("colour", &Value::parse("green")).unwrap();
        s.set("depth", &Value::parse("none")).unwrap();
        assert_eq!((s.count, s.colour, s.depth), (7, Colour::Green, None));
        let message =
            |name: &str, text: &str| Sample::default().set(name, &Value::parse(text)).unwrap_err().to_string();
        assert_eq!(message("count", "0"), "sample: count = 0 is not allowed: expected a whole number, at least 1");
        assert_eq!(message("count", "2.5"), "sample: count = 2.5 is not allowed: expected a whole number, at least 1");
        assert_eq!(message("colour", "blue"), "sample: colour = blue is not allowed: expected red | green");
        assert_eq!(message("color", "red"), "no parameter named 'color': did you mean 'colour'?");
        assert!(message("rate", "nan").contains("more than 0 and at most 1"));
    }

    #[test]
    fn fields_set_directly_are_validated_too() {
        assert!(Sample { rate: f64::NAN, ..Default::default() }.validate().is_err());
        assert!(Sample { depth: Some(0), ..Default::default() }.validate().is_err());
        assert!(Sample::default().validate().is_ok());
    }

    #[test]
    fn every_default_is_a_value_its_own_spec_allows() {
        let mut s = Sample::default();
        for spec in s.specs() {
            s.set(spec.name, &spec.default).unwrap();
        }
        assert_eq!(s, Sample::default());
    }
}
