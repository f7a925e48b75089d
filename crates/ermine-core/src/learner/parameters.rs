//! Shared parameter types: numbers of rows, numbers of features, class weights.

use crate::error::{Error, Result};
use crate::matrix::{Dataset, Target};
use crate::param::{ParamKind, ParamType, Value};

/// How counts and shares are distinguished.
const COUNT_OR_SHARE: &str = "an integer (a count), or a float up to 1.0 (a share)";

/// A number of rows, or a share of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CountOrFraction {
    /// An absolute number.
    Count(usize),
    /// A share of all, rounded up.
    Fraction(f64),
}

impl CountOrFraction {
    /// The number for `n` rows.
    pub fn of(self, n: usize) -> usize {
        match self {
            CountOrFraction::Count(count) => count,
            CountOrFraction::Fraction(share) => (share * n as f64).ceil() as usize,
        }
    }

    /// The number for `n` rows; an error of the parameter if it is more than `n`.
    pub fn of_at_most(self, n: usize, owner: &str, name: &str) -> Result<usize> {
        let count = self.of(n);
        if count > n {
            let (owner, name, value) = (owner.to_string(), name.to_string(), self.to_value().to_string());
            return Err(Error::Param { owner, name, value, allowed: format!("at most {n}") });
        }
        Ok(count.max(1))
    }

    /// Rejects a minimum leaf size of all rows, since no node could be split.
    pub fn check_leaf(self, owner: &str) -> Result<()> {
        if self != CountOrFraction::Fraction(1.0) {
            return Ok(());
        }
        let allowed = "a whole number of rows (such as 1, without a decimal point) or a fraction below 1.0";
        let (owner, name, value) = (owner.to_string(), "min_samples_leaf".to_string(), "1.0".to_string());
        Err(Error::Param { owner, name, value, allowed: allowed.into() })
    }
}

impl ParamType for CountOrFraction {
    fn kind() -> ParamKind {
        ParamKind::Either(vec![ParamKind::Int, ParamKind::Float])
    }
    fn to_value(&self) -> Value {
        match self {
            CountOrFraction::Count(count) => count.to_value(),
            CountOrFraction::Fraction(share) => Value::Float(*share),
        }
    }
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Float(x) => Some(CountOrFraction::Fraction(*x)).filter(|_| *x > 0.0 && *x <= 1.0),
            other => usize::from_value(other).map(CountOrFraction::Count),
        }
    }
    fn wanted() -> Option<String> {
        Some(COUNT_OR_SHARE.into())
    }
}

/// Number of features that each node considers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MaxFeatures {
    /// All features.
    All,
    /// The square root of the number of features.
    Sqrt,
    /// The base-2 logarithm of the number of features.
    Log2,
    /// An absolute number.
    Count(usize),
    /// A share of the features.
    Fraction(f64),
}

impl MaxFeatures {
    /// The number for `d` features: at least one.
    pub fn of(self, d: usize) -> usize {
        let count = match self {
            MaxFeatures::All => d,
            MaxFeatures::Sqrt => d.isqrt(),
            MaxFeatures::Log2 => d.max(1).ilog2() as usize,
            MaxFeatures::Count(count) => count.min(d),
            MaxFeatures::Fraction(share) => (share * d as f64) as usize,
        };
        count.clamp(1, d.max(1))
    }
}

impl ParamType for MaxFeatures {
    fn kind() -> ParamKind {
        ParamKind::Optional(Box::new(ParamKind::Either(vec![
            ParamKind::Int,
            ParamKind::Float,
            ParamKind::Choice(vec!["sqrt", "log2"]),
        ])))
    }
    fn to_value(&self) -> Value {
        match self {
            MaxFeatures::All => Value::None,
            MaxFeatures::Sqrt => Value::Text("sqrt".into()),
            MaxFeatures::Log2 => Value::Text("log2".into()),
            MaxFeatures::Count(count) => count.to_value(),
            MaxFeatures::Fraction(share) => Value::Float(*share),
        }
    }
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::None => Some(MaxFeatures::All),
            Value::Text(word) if word == "sqrt" => Some(MaxFeatures::Sqrt),
            Value::Text(word) if word == "log2" => Some(MaxFeatures::Log2),
            Value::Float(x) => Some(MaxFeatures::Fraction(*x)).filter(|_| *x > 0.0 && *x <= 1.0),
            other => usize::from_value(other).filter(|&count| count > 0).map(MaxFeatures::Count),
        }
    }
    fn wanted() -> Option<String> {
        Some(format!("none, sqrt, log2, {COUNT_OR_SHARE}"))
    }
}

/// Class weights.
#[derive(Debug, Clone, PartialEq)]
pub enum ClassWeight {
    /// Weight 1 for every class.
    Equal,
    /// Weights inversely proportional to class frequencies: n / (n_classes * n_rows_of_class), where rows count by their sample weights.
    Balanced,
    /// A weight per class; 1 for classes that are not listed.
    Each(Vec<(String, f64)>),
}

impl ClassWeight {
    /// Sample weights multiplied by the class weights; `None` if nothing changes.
    pub fn apply(&self, data: &Dataset) -> Result<Option<Vec<f64>>> {
        let Target::Classes { codes, labels } = data.target() else {
            return if *self == ClassWeight::Equal {
                Ok(None)
            } else {
                Err(Error::data("class_weight needs a classification target, but the target is numeric"))
            };
        };
        let factor: Vec<f64> = match self {
            ClassWeight::Equal => return Ok(None),
            ClassWeight::Balanced => {
                let mut weight = vec![0.0; labels.len()];
                codes.iter().enumerate().for_each(|(row, &c)| weight[c as usize] += data.row_weight(row));
                let (total, n_used) = (weight.iter().sum::<f64>(), weight.iter().filter(|w| **w > 0.0).count());
                weight.iter().map(|w| if *w > 0.0 { total / (n_used as f64 * w) } else { 0.0 }).collect()
            }
            ClassWeight::Each(pairs) => {
                for (label, _) in pairs {
                    if !labels.contains(label) {
                        return Err(Error::unknown("class", label, labels.iter().map(String::as_str)));
                    }
                }
                let of =
                    |label: &String| pairs.iter().find(|(name, _)| name == label).map_or(1.0, |(_, weight)| *weight);
                labels.iter().map(of).collect()
            }
        };
        Ok(Some(codes.iter().enumerate().map(|(row, &c)| factor[c as usize] * data.row_weight(row)).collect()))
    }
}

impl ParamType for ClassWeight {
    fn kind() -> ParamKind {
        ParamKind::Optional(Box::new(ParamKind::Either(vec![
            ParamKind::Choice(vec!["balanced"]),
            ParamKind::List(Box::new(ParamKind::Text)),
        ])))
    }
    fn to_value(&self) -> Value {
        match self {
            ClassWeight::Equal => Value::None,
            ClassWeight::Balanced => Value::Text("balanced".into()),
            ClassWeight::Each(pairs) => {
                Value::List(pairs.iter().map(|(label, w)| Value::Text(format!("{label}={w}"))).collect())
            }
        }
    }
    fn from_value(value: &Value) -> Option<Self> {
        let pair = |value: &Value| match value {
            Value::Text(text) => {
                let (label, weight) = text.rsplit_once('=')?;
                let weight: f64 = weight.trim().parse().ok().filter(|w: &f64| w.is_finite() && *w > 0.0)?;
                Some((label.trim().to_string(), weight))
            }
            _ => None,
        };
        match value {
            Value::None => Some(ClassWeight::Equal),
            Value::Text(word) if word == "balanced" => Some(ClassWeight::Balanced),
            Value::List(values) => values.iter().map(pair).collect::<Option<_>>().map(ClassWeight::Each),
            one => pair(one).map(|pair| ClassWeight::Each(vec![pair])),
        }
    }
    fn wanted() -> Option<String> {
        Some("none, balanced, or class=weight pairs with weights above 0".into())
    }
}
