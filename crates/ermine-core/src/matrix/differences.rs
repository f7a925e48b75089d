//! How a new table differs from the training data of a model: new categories, extra columns, different types, out-of-range numbers.

use super::schema::{FeatureSpec, Schema};
use crate::table::{Column, ColumnKind, MISSING, Table, Values};
use serde::Serialize;
use std::collections::HashMap;
use std::fmt;

/// Maximum number of examples.
const LISTED: usize = 3;

/// How a table differs from the training data.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct TableDifferences {
    /// Columns that are neither features nor target; they are ignored.
    pub extra_columns: Vec<String>,
    /// Features whose values are of another type.
    pub changed_types: Vec<ChangedType>,
    /// Features with categories that the training data didn't have; they are treated as missing.
    pub unknown_categories: Vec<UnknownCategories>,
    /// Features with numbers outside the training range.
    pub out_of_range: Vec<OutOfRange>,
    /// Number of rows with an out-of-range number.
    pub n_rows_out_of_range: usize,
    /// Number of rows.
    pub n_rows: usize,
}

/// A feature whose type differs from training.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangedType {
    /// The feature.
    pub column: String,
    /// Its type in training.
    pub expected: ColumnKind,
    /// Its type now.
    pub found: ColumnKind,
}

/// A feature with categories that training didn't have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UnknownCategories {
    /// The feature.
    pub column: String,
    /// Number of affected rows.
    pub n_rows: usize,
    /// Some of the categories.
    pub examples: Vec<String>,
}

/// A feature with numbers outside the training range.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutOfRange {
    /// The feature.
    pub column: String,
    /// Number of affected rows.
    pub n_rows: usize,
    /// The training range.
    pub range: (f64, f64),
}

impl TableDifferences {
    /// Compares a table with a schema. Missing columns are skipped here; they are reported elsewhere.
    pub fn new(schema: &Schema, table: &Table) -> TableDifferences {
        let by_name: HashMap<&str, &Column> = table.columns().iter().map(|c| (c.name.as_str(), c)).collect();
        let is_known = |name: &String| {
            schema.features.iter().any(|feature| feature.name == *name)
                || schema.target.contains(name)
                || schema.group.as_ref() == Some(name)
        };
        let names = table.columns().iter().map(|column| &column.name);
        let mut found = TableDifferences {
            extra_columns: names.filter(|name| !is_known(name)).cloned().collect(),
            n_rows: table.n_rows(),
            ..Default::default()
        };
        let mut is_outside = vec![false; table.n_rows()];
        for feature in &schema.features {
            let Some(column) = by_name.get(feature.name.as_str()) else { continue };
            if (feature.kind == ColumnKind::Numeric) != (column.kind == ColumnKind::Numeric) {
                let (expected, kind) = (feature.kind, column.kind);
                found.changed_types.push(ChangedType { column: feature.name.clone(), expected, found: kind });
            }
            found.unknown_categories.extend(unknown_categories(feature, column));
            found.out_of_range.extend(out_of_range(feature, column, &mut is_outside));
        }
        found.n_rows_out_of_range = is_outside.iter().filter(|outside| **outside).count();
        found
    }

    /// Warnings for the user, one per line. Extra columns are common and not reported.
    pub fn warnings(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.changed_types.iter().map(ToString::to_string).collect();
        lines.extend(self.unknown_categories.iter().map(ToString::to_string));
        if self.n_rows_out_of_range > 0 {
            let columns: Vec<&str> = self.out_of_range.iter().map(|c| c.column.as_str()).collect();
            let more = columns.len().saturating_sub(LISTED);
            let listed = columns[..columns.len().min(LISTED)].join(", ");
            let and = if more > 0 { format!(" and {more} more") } else { String::new() };
            lines.push(format!(
                "{} of {} rows have numbers outside the range of the training data ({listed}{and})",
                self.n_rows_out_of_range, self.n_rows
            ));
        }
        lines
    }
}

impl fmt::Display for ChangedType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ChangedType { column, expected, found } = self;
        write!(f, "column '{column}' was {expected} in the training data and is {found} here")
    }
}

impl fmt::Display for UnknownCategories {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let examples: Vec<String> = self.examples.iter().map(|name| format!("'{name}'")).collect();
        let (column, rows) = (&self.column, if self.n_rows == 1 { "row" } else { "rows" });
        let n = self.n_rows;
        write!(
            f,
            "column '{column}': {n} {rows} with categories that the training data didn't have (such as {}); they are treated as missing",
            examples.join(", ")
        )
    }
}

fn unknown_categories(feature: &FeatureSpec, column: &Column) -> Option<UnknownCategories> {
    let Values::Codes { codes, levels } = &column.values else { return None };
    if feature.kind == ColumnKind::Numeric || feature.open {
        return None;
    }
    let known: HashMap<&str, ()> = feature.levels.iter().map(|name| (name.as_str(), ())).collect();
    let is_new: Vec<bool> = levels.names().iter().map(|name| !known.contains_key(name.as_str())).collect();
    let mut used = vec![0usize; is_new.len()];
    codes.iter().filter(|&code| code != MISSING).for_each(|code| used[code as usize] += 1);
    let new = || (0..used.len()).filter(|&code| is_new[code] && used[code] > 0);
    let n_rows: usize = new().map(|code| used[code]).sum();
    let examples = new().take(LISTED).map(|code| levels.names()[code].clone()).collect();
    (n_rows > 0).then(|| UnknownCategories { column: feature.name.clone(), n_rows, examples })
}

fn out_of_range(feature: &FeatureSpec, column: &Column, is_outside: &mut [bool]) -> Option<OutOfRange> {
    let (low, high) = feature.range.filter(|_| column.kind == ColumnKind::Numeric)?;
    let mut n_rows = 0;
    for (x, is_outside) in column.numbers(None).into_iter().zip(is_outside) {
        if x < low || x > high {
            n_rows += 1;
            *is_outside = true;
        }
    }
    (n_rows > 0).then(|| OutOfRange { column: feature.name.clone(), n_rows, range: (low, high) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(x: &[f64], c: &[Option<&str>]) -> Vec<Column> {
        vec![Column::numeric("x", x.to_vec()), Column::nominal("c", c)]
    }

    #[test]
    fn differences_are_counted() {
        let mut columns = table(&[1.0, 2.0, 3.0], &[Some("a"), Some("b"), None]);
        columns.push(Column::numeric("y", vec![0.5, 1.5, 2.5]));
        let data = Table::new(columns).unwrap().dataset("y").unwrap();
        let schema = Schema::of(&data).with_ranges(&data);
        let mut columns = table(&[0.0, 4.0, 2.0, f64::NAN], &[Some("new"), Some("a"), Some("new"), None]);
        columns.push(Column::numeric("more", vec![0.0; 4]));
        let found = TableDifferences::new(&schema, &Table::new(columns).unwrap());
        assert_eq!(found.extra_columns, ["more"]);
        let unknown = UnknownCategories { column: "c".into(), n_rows: 2, examples: vec!["new".into()] };
        assert_eq!(found.unknown_categories, [unknown]);
        assert_eq!(found.out_of_range, [OutOfRange { column: "x".into(), n_rows: 2, range: (1.0, 3.0) }]);
        assert_eq!((found.n_rows_out_of_range, found.warnings().len()), (2, 2));
        let same = TableDifferences::new(&schema, &Table::new(table(&[1.0, 3.0], &[Some("b"), None])).unwrap());
        assert!(same.warnings().is_empty(), "{:?}", same.warnings());
        let words = Table::new(vec![Column::nominal("x", &[Some("one")])]).unwrap();
        assert_eq!(TableDifferences::new(&schema, &words).changed_types.len(), 1);
    }
}
