//! Constraints on columns, which are given by position or by name.
//!
//! On a command line: `age=+1,price=-1` or `1,0,-1` for directions; `age,price;rooms,area` or `0,3;1,2` for the columns that may meet, group after group.

use super::INFO;
use ermine_core::error::{Error, Result, did_you_mean};
use ermine_core::matrix::Dataset;
use ermine_core::param::{ParamKind, ParamType, Value};

/// Which way the prediction may go as a column rises: 1 up, -1 down, 0 either.
#[derive(Debug, Clone, PartialEq)]
pub enum MonotoneConstraints {
    /// For each column in turn; none for no constraints.
    ByIndex(Vec<i64>),
    /// Of the columns with these names; the others are free.
    ByName(Vec<(String, i64)>),
}

/// Groups of columns that may meet on a way from the root of a tree to a leaf; none for no constraints.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InteractionConstraints(pub Vec<Vec<ColumnKey>>);

/// A column, by its place or its name.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnKey {
    /// Its place, from 0.
    Index(usize),
    /// Its name.
    Name(String),
}

impl Default for MonotoneConstraints {
    fn default() -> Self {
        MonotoneConstraints::ByIndex(Vec::new())
    }
}

impl From<Vec<i64>> for MonotoneConstraints {
    fn from(directions: Vec<i64>) -> Self {
        MonotoneConstraints::ByIndex(directions)
    }
}

impl<const N: usize> From<[(&str, i64); N]> for MonotoneConstraints {
    fn from(named: [(&str, i64); N]) -> Self {
        MonotoneConstraints::ByName(named.map(|(name, direction)| (name.to_string(), direction)).to_vec())
    }
}

impl From<Vec<Vec<usize>>> for InteractionConstraints {
    fn from(groups: Vec<Vec<usize>>) -> Self {
        InteractionConstraints(
            groups.into_iter().map(|group| group.into_iter().map(ColumnKey::Index).collect()).collect(),
        )
    }
}

/// An error that names the parameter and what it may be.
fn refuse<T>(name: &str, value: impl ToString, allowed: impl Into<String>) -> Result<T> {
    let (owner, name, value, allowed) = (INFO.name.into(), name.into(), value.to_string(), allowed.into());
    Err(Error::Param { owner, name, value, allowed })
}

/// The place of a column of this name.
fn place(parameter: &str, name: &str, data: &Dataset) -> Result<usize> {
    let columns = data.features().columns();
    if let Some(place) = columns.iter().position(|column| column.name == name) {
        return Ok(place);
    }
    let known: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let hint = did_you_mean(name, &known).map(|close| format!("; did you mean '{close}'?"));
    refuse(parameter, name, format!("the name of a feature column{}", hint.unwrap_or_default()))
}

impl MonotoneConstraints {
    /// Whether any column is constrained.
    pub fn is_active(&self) -> bool {
        match self {
            MonotoneConstraints::ByIndex(directions) => directions.iter().any(|&d| d != 0),
            MonotoneConstraints::ByName(named) => named.iter().any(|(_, d)| *d != 0),
        }
    }

    /// The direction of each column of the data; none where there are no constraints.
    pub(super) fn of(&self, data: &Dataset) -> Result<Vec<i64>> {
        const NAME: &str = "monotone_constraints";
        let d = data.features().n_columns();
        let named = match self {
            MonotoneConstraints::ByIndex(directions) if directions.is_empty() || directions.len() == d => {
                return Ok(directions.clone());
            }
            MonotoneConstraints::ByIndex(directions) => {
                return refuse(
                    NAME,
                    self.to_value(),
                    format!("{d} numbers, one for each column, not {}", directions.len()),
                );
            }
            MonotoneConstraints::ByName(named) => named,
        };
        let mut directions = vec![None; d];
        for (name, direction) in named {
            let slot = &mut directions[place(NAME, name, data)?];
            if !(-1..=1).contains(direction) || slot.is_some() {
                return refuse(NAME, format!("{name}={direction}"), "one direction (1, 0 or -1) for each column");
            }
            *slot = Some(*direction);
        }
        Ok(directions.into_iter().map(Option::unwrap_or_default).collect())
    }
}

impl InteractionConstraints {
    /// The columns of each group, by their places in the data.
    pub(super) fn of(&self, data: &Dataset) -> Result<Vec<Vec<usize>>> {
        const NAME: &str = "interaction_constraints";
        let d = data.features().n_columns();
        let of_key = |key: &ColumnKey| match key {
            ColumnKey::Index(column) if *column < d => Ok(*column),
            ColumnKey::Index(column) => refuse(NAME, column, format!("a column from 0 to {}", d - 1)),
            ColumnKey::Name(name) => place(NAME, name, data),
        };
        self.0.iter().map(|group| group.iter().map(of_key).collect()).collect()
    }
}

impl ParamType for MonotoneConstraints {
    fn kind() -> ParamKind {
        ParamKind::List(Box::new(ParamKind::Either(vec![ParamKind::Int, ParamKind::Text])))
    }
    fn to_value(&self) -> Value {
        match self {
            MonotoneConstraints::ByIndex(directions) => directions.to_value(),
            MonotoneConstraints::ByName(named) => {
                Value::List(named.iter().map(|(name, d)| Value::Text(format!("{name}={d}"))).collect())
            }
        }
    }
    fn from_value(value: &Value) -> Option<Self> {
        if let Some(directions) = Vec::<i64>::from_value(value) {
            return Some(MonotoneConstraints::ByIndex(directions));
        }
        let named = |value: &Value| match value {
            Value::Text(text) => {
                let (name, direction) = text.rsplit_once('=')?;
                let direction = direction.trim().parse().ok().filter(|d| (-1..=1).contains(d))?;
                Some((name.trim().to_string(), direction))
            }
            _ => None,
        };
        let words = if let Value::List(words) = value { words } else { std::slice::from_ref(value) };
        words.iter().map(named).collect::<Option<_>>().map(MonotoneConstraints::ByName)
    }
    fn wanted() -> Option<String> {
        Some("1, -1 or 0 for each column in turn, such as 1,0,-1, or by their names, such as age=+1,price=-1".into())
    }
}

impl ParamType for ColumnKey {
    fn kind() -> ParamKind {
        ParamKind::Either(vec![ParamKind::Int, ParamKind::Text])
    }
    fn to_value(&self) -> Value {
        match self {
            ColumnKey::Index(place) => place.to_value(),
            ColumnKey::Name(name) => Value::Text(name.clone()),
        }
    }
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(name) if !name.trim().is_empty() => Some(ColumnKey::Name(name.trim().to_string())),
            Value::Int(_) | Value::Float(_) => usize::from_value(value).map(ColumnKey::Index),
            _ => None,
        }
    }
}

impl ParamType for InteractionConstraints {
    fn kind() -> ParamKind {
        ParamKind::List(Box::new(ParamKind::List(Box::new(ColumnKey::kind()))))
    }
    fn to_value(&self) -> Value {
        self.0.to_value()
    }
    fn from_value(value: &Value) -> Option<Self> {
        let flat = |value: &Value| !matches!(value, Value::List(_));
        let apart = |value: &Value| matches!(value, Value::Text(text) if text.contains(';'));
        let groups = match value {
            Value::None => Some(Vec::new()),
            Value::List(items) if items.is_empty() => Some(Vec::new()),
            Value::List(items) if !items.iter().any(flat) => Vec::from_value(value),
            Value::List(items) if !items.iter().all(flat) => None,
            // As typed: groups end at semicolons.
            Value::List(items) if !items.iter().any(apart) => Vec::from_value(value).map(|group| vec![group]),
            text => text.to_string().split(';').map(|group| Vec::from_value(&Value::parse(group))).collect(),
        };
        groups
            .filter(|groups: &Vec<Vec<ColumnKey>>| groups.iter().all(|group| !group.is_empty()))
            .map(InteractionConstraints)
    }
    fn wanted() -> Option<String> {
        Some("groups of columns, by their places from 0 or their names: groups end at a semicolon, such as 0,3;1,2 or age,price;rooms,area".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn constraints_are_parsed() {
        let monotone = |text: &str| MonotoneConstraints::from_value(&Value::parse(text));
        assert_eq!(monotone("1,0,-1"), Some(vec![1, 0, -1].into()));
        assert_eq!(monotone("age=+1, a=b=-1"), Some([("age", 1), ("a=b", -1)].into()));
        assert_eq!(monotone("none"), Some(MonotoneConstraints::default()));
        for wrong in ["age", "age=2", "age=1,0", "age=up"] {
            assert_eq!(monotone(wrong), None, "{wrong}");
        }
        let groups = |text: &str| InteractionConstraints::from_value(&Value::parse(text));
        assert_eq!(groups("0,3;1,2"), Some(vec![vec![0, 3], vec![1, 2]].into()));
        assert_eq!(groups("0,3"), Some(vec![vec![0, 3]].into()), "one group");
        let named = |name: &str| ColumnKey::Name(name.into());
        assert_eq!(
            groups("age,x;7"),
            Some(InteractionConstraints(vec![vec![named("age"), named("x")], vec![ColumnKey::Index(7)]]))
        );
        for wrong in ["0,1;", "-1", "0.5", ";"] {
            assert_eq!(groups(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn constraints_round_trip(groups in prop::collection::vec(prop::collection::vec(prop_oneof![
            (0usize..50).prop_map(ColumnKey::Index), "[a-z]{2}[a-z ]{0,4}[a-z]".prop_map(ColumnKey::Name)], 1..4), 0..4)) {
            let groups = InteractionConstraints(groups);
            prop_assert_eq!(InteractionConstraints::from_value(&groups.to_value()), Some(groups.clone()));
            let words = |key: &ColumnKey| matches!(key, ColumnKey::Name(name) if ["nan", "inf", "true", "none", "false", "infinity"].contains(&name.as_str()));
            prop_assume!(!groups.0.iter().flatten().any(words));
            prop_assert_eq!(InteractionConstraints::from_value(&Value::parse(&groups.to_value().to_string())), Some(groups));
        }
    }
}
