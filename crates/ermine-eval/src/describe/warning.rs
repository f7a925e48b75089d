//! Potential problems of a data set; each interface formats them and adds its own hint.

use ermine_core::matrix::{Dataset, Target, Task};
use ermine_core::table::{Column, ColumnKind};
use serde::Serialize;
use std::collections::HashMap;
use std::fmt;

/// A potential problem of a data set.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "warning", rename_all = "snake_case")]
#[non_exhaustive]
pub enum DataWarning {
    /// A column without values.
    EmptyColumn {
        /// Its name.
        column: String,
    },
    /// A nominal column that has another category in nearly every row: a name or a number of the row.
    RowIdentifier {
        /// Its name.
        column: String,
        /// How many categories it has.
        n_categories: usize,
        /// In how many rows.
        n_rows: usize,
    },
    /// A column from which the target can be read off.
    EqualsTarget {
        /// Its name.
        column: String,
        /// The target.
        target: String,
    },
    /// A target that is the same number in every row.
    ConstantTarget {
        /// The number.
        value: f64,
    },
    /// A target with a single class.
    OneClass {
        /// The class.
        class: String,
    },
    /// More than one class for every two rows.
    ManyClasses {
        /// How many classes.
        n_classes: usize,
        /// How many rows.
        n_rows: usize,
    },
    /// A regression target with few distinct integers, which may be meant as classes.
    FewIntegers {
        /// How many.
        n_values: usize,
    },
    /// The task was chosen as ranking because rows have groups.
    RankingChosen,
    /// A query column without a role, left out.
    UnusedQueries {
        /// Its name.
        column: String,
    },
    /// Rows that are both in the training set and in the test set.
    SharedRows {
        /// How many test rows.
        n_shared: usize,
        /// Of how many.
        n_rows: usize,
    },
}

impl fmt::Display for DataWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DataWarning::EmptyColumn { column } => write!(f, "column '{column}' is empty"),
            DataWarning::RowIdentifier { column, n_categories, n_rows } => {
                write!(f, "column '{column}' has {n_categories} categories in {n_rows} rows and may identify rows")
            }
            DataWarning::EqualsTarget { column, target } => write!(
                f,
                "column '{column}' determines the target '{target}' exactly; leave it out unless it is known before the target"
            ),
            DataWarning::ConstantTarget { value } => {
                write!(f, "the target is {value} in every row: nothing can be learned")
            }
            DataWarning::OneClass { class } => {
                write!(f, "the target has only one class, '{class}': nothing can be learned")
            }
            DataWarning::ManyClasses { n_classes, n_rows } => {
                write!(f, "the target has {n_classes} classes in {n_rows} rows; is it the right column?")
            }
            DataWarning::FewIntegers { n_values } => {
                write!(f, "the target has only {n_values} distinct integers, which may be classes")
            }
            DataWarning::RankingChosen => write!(f, "rows have groups, so the rows of each group are ranked"),
            DataWarning::UnusedQueries { column } => {
                write!(f, "column '{column}' holds query numbers and is not used as a feature")
            }
            DataWarning::SharedRows { n_shared, n_rows } => write!(
                f,
                "{n_shared} of {n_rows} test rows are also in the training set, so the scores are too optimistic"
            ),
        }
    }
}

/// Warnings about a data set. `task_is_chosen`: the task was inferred.
pub fn warnings(data: &Dataset, task_is_chosen: bool) -> Vec<DataWarning> {
    let mut found: Vec<DataWarning> = data.features().columns().iter().flat_map(|c| of_column(c, data)).collect();
    found.extend(of_target(data, task_is_chosen));
    found
}

fn of_column(column: &Column, data: &Dataset) -> Vec<DataWarning> {
    let (name, n_rows) = (column.name.clone(), data.n_rows());
    let present = n_rows - n_missing(column, data.features().rows());
    let mut found = Vec::new();
    if present == 0 {
        return vec![DataWarning::EmptyColumn { column: name }];
    }
    let n_categories = column.levels().map_or(0, |levels| levels.len());
    if column.kind == ColumnKind::Nominal && present >= 20 && n_categories * 10 >= present * 9 {
        found.push(DataWarning::RowIdentifier { column: name.clone(), n_categories, n_rows: present });
    }
    if equals_target(column, data) {
        let target = data.target_names().join(", ");
        found.push(DataWarning::EqualsTarget { column: name, target });
    }
    found
}

/// How many values of a column are missing, in these rows or in all.
pub(super) fn n_missing(column: &Column, rows: Option<&[u32]>) -> usize {
    match rows {
        Some(rows) if column.n_missing() > 0 => column.numbers(Some(rows)).iter().filter(|x| x.is_nan()).count(),
        Some(_) => 0,
        None => column.n_missing(),
    }
}

/// Whether each value of the column goes with one target value and the other way around. False for few rows or a constant target.
fn equals_target(column: &Column, data: &Dataset) -> bool {
    const FEWEST_ROWS: usize = 20;
    let truth: Vec<f64> = match data.target() {
        Target::Classes { codes, .. } => codes.iter().map(|&code| f64::from(code)).collect(),
        Target::Values { values, n_outputs: 1 } => values.clone(),
        Target::Values { .. } => return false,
    };
    if truth.len() < FEWEST_ROWS || truth.iter().all(|&y| y == truth[0]) {
        return false;
    }
    let values = column.numbers(data.features().rows());
    // Of numbers only equal ones: an increasing function of the target is found by no table of pairs, but any distinct numbers would be "equal" to distinct targets.
    if matches!(data.target(), Target::Values { .. }) {
        return values == truth;
    }
    let (mut of_value, mut of_truth) = (HashMap::new(), HashMap::new());
    values.iter().zip(&truth).all(|(x, y)| {
        let (x, y) = (x.to_bits(), y.to_bits());
        *of_value.entry(x).or_insert(y) == y && *of_truth.entry(y).or_insert(x) == x
    })
}

fn of_target(data: &Dataset, task_is_chosen: bool) -> Vec<DataWarning> {
    let n_rows = data.n_rows();
    let mut found = Vec::new();
    match data.target() {
        Target::Classes { labels, .. } => {
            if let [class] = &labels[..] {
                found.push(DataWarning::OneClass { class: class.clone() });
            } else if labels.len() * 2 > n_rows {
                found.push(DataWarning::ManyClasses { n_classes: labels.len(), n_rows });
            }
        }
        Target::Values { values, n_outputs: 1 } if data.task() != Task::Multilabel => {
            if values.len() > 1 && values.iter().all(|&y| y == values[0]) {
                found.push(DataWarning::ConstantTarget { value: values[0] });
            } else if task_is_chosen && data.task() == Task::Regression {
                found.extend(few_integers(values).map(|n_values| DataWarning::FewIntegers { n_values }));
            }
        }
        Target::Values { .. } => {}
    }
    if task_is_chosen && data.task() == Task::Ranking {
        found.push(DataWarning::RankingChosen);
    }
    found
}

/// How many distinct integers there are, if they are so few that they may be meant as classes.
fn few_integers(values: &[f64]) -> Option<usize> {
    const FEW: usize = 10;
    let mut distinct: Vec<f64> = Vec::new();
    for &value in values {
        if value.fract() != 0.0 || distinct.len() > FEW {
            return None;
        }
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    (distinct.len() <= FEW && values.len() > 10 * distinct.len()).then_some(distinct.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ermine_core::table::Table;

    fn classes(n: usize, class: impl Fn(usize) -> &'static str) -> Column {
        Column::nominal("y", &(0..n).map(|row| Some(class(row))).collect::<Vec<_>>())
    }

    fn found(columns: Vec<Column>) -> Vec<DataWarning> {
        warnings(&Table::new(columns).unwrap().dataset("y").unwrap(), true)
    }

    #[test]
    fn a_column_that_determines_the_target_is_found() {
        let even = |row: usize| row.is_multiple_of(2);
        let copy = Column::numeric("copy", (0..40).map(|row| if even(row) { 7.0 } else { -7.0 }).collect::<Vec<_>>());
        let other = Column::numeric("other", (0..40).map(|row| f64::from(row as u32 / 2)).collect::<Vec<_>>());
        let y = classes(40, |row| if row.is_multiple_of(2) { "yes" } else { "no" });
        let equal = DataWarning::EqualsTarget { column: "copy".into(), target: "y".into() };
        assert_eq!(found(vec![copy, other.clone(), y]), [equal]);
        let y = Column::numeric("y", (0..40).map(|row| f64::from(row as u32 / 2)).collect::<Vec<_>>());
        let equal = DataWarning::EqualsTarget { column: "other".into(), target: "y".into() };
        assert_eq!(found(vec![other, y]), [equal]);
    }

    #[test]
    fn targets_without_information_are_found() {
        let x = Column::numeric("x", (0..40).map(f64::from).collect::<Vec<_>>());
        assert_eq!(found(vec![x.clone(), classes(40, |_| "yes")]), [DataWarning::OneClass { class: "yes".into() }]);
        let constant = Column::numeric("y", vec![2.5; 40]);
        assert_eq!(found(vec![x.clone(), constant]), [DataWarning::ConstantTarget { value: 2.5 }]);
        let grades = Column::numeric("y", (0..40).map(|row| f64::from(row % 3)).collect::<Vec<_>>());
        assert_eq!(found(vec![x, grades]), [DataWarning::FewIntegers { n_values: 3 }]);
    }
}
