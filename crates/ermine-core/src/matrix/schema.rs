//! The columns that a model expects, and the conversion of new tables.
//!
//! Columns are found by name; additional columns are ignored. Categories are found by name too, so codes may differ from training. **A category that the training data didn't have is
//! treated as missing** (except for models that use the text itself). A number in a categorical column is looked up by its text ("3"); a category in a numeric column is an error.

use super::dataset::{Dataset, Target, Task, groups};
use super::features::Features;
use crate::error::{Error, Result};
use crate::parallel;
use crate::table::date::DatePart;
use crate::table::{Column, ColumnKind, ColumnType, Levels, MISSING, Notation, ReadOptions, Table, Values};
use serde::{Deserialize, Serialize};
use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Describes the training data: enough to read and check new data, and to name the predictions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// Feature columns, in the order that the model uses.
    pub features: Vec<FeatureSpec>,
    /// The names of the target columns.
    pub target: Vec<String>,
    /// The task.
    pub task: Task,
    /// Names of the classes or labels.
    pub classes: Vec<String>,
    /// Number of values predicted per row, for regression.
    pub n_outputs: usize,
    /// Name of the query group column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Whether the model adds to initial scores, so that its predictions alone are incomplete.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub init_score: bool,
}

/// One feature column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeatureSpec {
    /// Its name.
    pub name: String,
    /// The kind of its values.
    pub kind: ColumnKind,
    /// Its categories by code; empty for numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<String>,
    /// Whether categories are used by their text, so that new categories are kept and none are listed here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
    /// The format of its numbers in files.
    #[serde(default, skip_serializing_if = "Notation::is_plain")]
    pub notation: Notation,
    /// The range of its numbers in the training data, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<(f64, f64)>,
}

impl Schema {
    /// The schema of a data set.
    pub fn of(data: &Dataset) -> Schema {
        let spec = |column: &Column| FeatureSpec {
            name: column.name.clone(),
            kind: column.kind,
            levels: column.levels().map_or_else(Vec::new, |levels| levels.names().to_vec()),
            open: false,
            notation: column.notation.clone(),
            range: None,
        };
        let (classes, n_outputs) = match data.target() {
            Target::Classes { labels, .. } => (labels.to_vec(), 0),
            Target::Values { .. } if data.task() == Task::Multilabel => {
                (data.labels().map_or_else(|_| Vec::new(), |(_, labels)| labels.to_vec()), 0)
            }
            Target::Values { n_outputs, .. } => (Vec::new(), *n_outputs),
        };
        Schema {
            features: data.features().columns().iter().map(spec).collect(),
            target: data.target_names().to_vec(),
            task: data.task(),
            classes,
            n_outputs,
            group: data.group_name().map(String::from),
            init_score: data.init_score().is_some(),
        }
    }

    /// Adds the ranges of numeric features, for comparison with new tables.
    pub fn with_ranges(mut self, data: &Dataset) -> Schema {
        let range = |j: usize| {
            let is_numeric = self.features[j].kind == ColumnKind::Numeric;
            is_numeric.then(|| range_of(&data.features().numbers(j))).filter(|(low, high)| low <= high)
        };
        let ranges = parallel::map(self.features.len(), range);
        self.features.iter_mut().zip(ranges).for_each(|(feature, range)| feature.range = range);
        self
    }

    /// The schema of a model that uses categories by their text.
    pub(crate) fn open(mut self) -> Schema {
        // Booleans have no other values, and may be given as 0 and 1.
        for feature in self.features.iter_mut().filter(|feature| feature.kind != ColumnKind::Boolean) {
            feature.levels = Vec::new();
            feature.open = true;
        }
        self
    }

    /// Checks a schema that was read from a file.
    pub fn check(&self) -> Result<()> {
        let fine = match self.task {
            Task::Classification | Task::Multilabel => !self.classes.is_empty(),
            Task::Regression | Task::Ranking => self.n_outputs > 0 && self.classes.is_empty(),
        };
        if !fine {
            return Err(Error::model_file(format!("its schema has nothing to predict for {}", self.task)));
        }
        unique("feature", self.features.iter().map(|feature| &feature.name))?;
        unique("class", &self.classes)?;
        self.features.iter().try_for_each(|feature| unique("category", &feature.levels))
    }

    /// Options to read each column with the type of this schema.
    pub fn read_options(&self) -> ReadOptions {
        let mut options = ReadOptions::default();
        for feature in &self.features {
            let column_type = match feature.kind {
                // Derived from another column.
                _ if matches!(feature.notation, Notation::DatePart { .. }) => continue,
                ColumnKind::Numeric if !feature.notation.is_plain() => ColumnType::Written(feature.notation.clone()),
                ColumnKind::Numeric => ColumnType::Numeric,
                ColumnKind::Boolean => ColumnType::Boolean,
                // As nominal, so that an unknown level is missing instead of an error.
                ColumnKind::Ordinal | ColumnKind::Nominal => ColumnType::Nominal,
            };
            options.types.insert(feature.name.clone(), column_type);
        }
        options
    }

    /// The type of the target, so that its classes are read as the model knows them; `None` to infer it.
    ///
    /// The type is inferred from the class names: booleans and numbers have a canonical form (`1`, never `01` or `1.0`); any other text is kept unchanged.
    pub fn target_type(&self) -> Option<ColumnType> {
        let is_number = |class: &String| class.parse::<f64>().is_ok_and(|x| x.is_finite() && x.to_string() == *class);
        match self.task {
            Task::Regression | Task::Ranking => None,
            // 0/1 columns are named after their labels.
            Task::Multilabel if self.target == self.classes => None,
            Task::Multilabel => Some(ColumnType::Nominal),
            Task::Classification if self.classes.iter().all(|c| c == "false" || c == "true") => {
                Some(ColumnType::Boolean)
            }
            Task::Classification if self.classes.iter().all(is_number) => Some(ColumnType::Numeric),
            Task::Classification => Some(ColumnType::Nominal),
        }
    }

    /// The query group of each row, if the training data had query groups.
    pub fn queries_of(&self, table: &Table) -> Result<Option<Vec<u32>>> {
        self.group.as_ref().map(|name| table.column(name).map(|column| groups(column, None))).transpose()
    }

    /// Describes the first difference between `other` and this schema: the target, or the first column that differs in name, kind or categories.
    pub fn difference(&self, other: &Schema) -> Option<String> {
        if (self.task, self.n_outputs) != (other.task, other.n_outputs) {
            let describe = |schema: &Schema| format!("{} with {} target column(s)", schema.task, schema.n_outputs);
            return Some(format!("{} instead of {}", describe(other), describe(self)));
        }
        if self.classes != other.classes {
            return Some(format!("the classes {:?} instead of {:?}", other.classes, self.classes));
        }
        if self.features.len() != other.features.len() {
            return Some(format!("{} columns instead of {}", other.features.len(), self.features.len()));
        }
        let differ = |before: &FeatureSpec, now: &FeatureSpec| {
            (&before.name, before.kind, &before.levels, before.open) != (&now.name, now.kind, &now.levels, now.open)
        };
        let (before, now) = self.features.iter().zip(&other.features).find(|(before, now)| differ(before, now))?;
        Some(match before.name == now.name && before.kind == now.kind {
            true => format!("other categories in column '{}'", now.name),
            false => {
                format!("column '{}' ({}) instead of '{}' ({})", now.name, now.kind, before.name, before.kind)
            }
        })
    }

    /// The features of a table in the form that the model expects.
    pub fn features_of(&self, table: &Table) -> Result<Features> {
        let by_name = LazyCell::new(|| table.columns().iter().map(|c| (c.name.as_str(), c)).collect::<HashMap<_, _>>());
        // Usually the columns are in the same order as in training.
        let of = |(i, feature): (usize, &FeatureSpec)| match table.columns().get(i) {
            Some(column) if column.name == feature.name => feature.of(column),
            _ => match (by_name.get(feature.name.as_str()), &feature.notation) {
                (Some(column), _) => feature.of(column),
                (None, Notation::DatePart { of, part }) => {
                    self.date_part(&feature.name, of, *part, by_name.get(of.as_str()).copied())
                }
                (None, _) => Err(Error::unknown("column", &feature.name, table.names())),
            },
        };
        let columns = self.features.iter().enumerate().map(of).collect::<Result<_>>()?;
        Ok(Features::new(Arc::new(Table::of_columns(columns, table.n_rows()))))
    }

    /// The table with the features that it lacks, all of whose values are missing; and their names.
    pub fn complete(&self, table: Table) -> (Table, Vec<String>) {
        let n_rows = table.n_rows();
        let is_there: HashSet<&str> = table.columns().iter().map(|column| column.name.as_str()).collect();
        let is_made = |feature: &FeatureSpec| matches!(feature.notation, Notation::DatePart { .. });
        let lacking = |feature: &&FeatureSpec| !is_there.contains(feature.name.as_str()) && !is_made(feature);
        let added: Vec<Column> = self.features.iter().filter(lacking).map(|feature| feature.missing(n_rows)).collect();
        if added.is_empty() {
            return (table, Vec::new());
        }
        let names = added.iter().map(|column| column.name.clone()).collect();
        let mut columns = table.into_columns();
        columns.extend(added);
        (Table::of_columns(columns, n_rows), names)
    }

    /// A part of a date column.
    fn date_part(&self, name: &str, of: &str, part: DatePart, dates: Option<&Column>) -> Result<Column> {
        let source = self.features.iter().find(|feature| feature.name == *of);
        let (Some(source), Some(dates)) = (source, dates) else {
            return Err(Error::unknown("column", of, self.features.iter().map(|feature| &feature.name)));
        };
        let in_days = source.notation.in_days().unwrap_or(1.0);
        Ok(part_of_dates(name.to_string(), of, part, &source.of(dates)?, in_days))
    }

    /// Features from columns in the order of the schema, whatever their names.
    pub fn features_in_order(&self, columns: Vec<Column>) -> Result<Features> {
        let (n, expected) = (columns.len(), self.features.len());
        if n != expected {
            return Err(Error::data(format!("got {n} columns, but the model expects {expected}")));
        }
        let n_rows = columns.first().map_or(0, Column::len);
        let in_form = |(column, feature): (Column, &FeatureSpec)| match (column.kind, feature.kind) {
            (ColumnKind::Numeric, ColumnKind::Numeric) => Ok(column),
            _ => feature.of(&column),
        };
        let columns = columns.into_iter().zip(&self.features).map(in_form).collect::<Result<_>>()?;
        Ok(Features::new(Arc::new(Table::of_columns(columns, n_rows))))
    }

    /// The features of a data set in the form that the model expects.
    pub fn features_of_data(&self, data: &Dataset) -> Result<Features> {
        let features = data.features();
        let table = Table::of_columns(features.columns().to_vec(), features.columns().first().map_or(0, Column::len));
        let aligned = self.features_of(&table)?;
        features.rows().map_or(Ok(aligned.clone()), |rows| aligned.select(rows))
    }
}

/// The columns derived from dates: the parts that are not constant.
pub(super) fn parts_of_dates(columns: &[Column]) -> Vec<Column> {
    let parts =
        columns.iter().filter_map(|column| Some((column, column.notation.in_days()?))).flat_map(|(column, in_days)| {
            DatePart::ALL.into_iter().map(move |part| {
                part_of_dates(format!("{}.{}", column.name, part.suffix()), &column.name, part, column, in_days)
            })
        });
    let varies = |column: &Column| {
        let numbers = column.numbers(None);
        let mut present = numbers.iter().filter(|x| !x.is_nan());
        present.next().is_some_and(|first| present.any(|x| x != first))
    };
    let is_free = |column: &Column| columns.iter().all(|other| other.name != column.name);
    parts.filter(|column| is_free(column) && varies(column)).collect()
}

fn part_of_dates(name: String, of: &str, part: DatePart, dates: &Column, in_days: f64) -> Column {
    let numbers: Vec<f64> = dates.numbers(None).iter().map(|x| part.of_days(x * in_days)).collect();
    Column { notation: Notation::DatePart { of: of.to_string(), part }, ..Column::numeric(name, numbers) }
}

/// Rejects duplicate names, since columns, classes and categories are found by name.
fn unique<'a>(what: &str, names: impl IntoIterator<Item = &'a String>) -> Result<()> {
    let mut seen = HashSet::new();
    match names.into_iter().find(|name| !seen.insert(name.as_str())) {
        None => Ok(()),
        Some(twice) => Err(Error::model_file(format!("its schema has the {what} '{twice}' twice"))),
    }
}

impl FeatureSpec {
    /// A column of this feature in which all values are missing.
    fn missing(&self, n_rows: usize) -> Column {
        if self.kind == ColumnKind::Numeric {
            return Column { notation: self.notation.clone(), ..Column::numeric(&self.name, vec![f64::NAN; n_rows]) };
        }
        let levels = Arc::new(Levels::new(self.levels.iter().cloned()));
        Column::coded(&self.name, self.kind, vec![MISSING; n_rows], levels)
    }

    /// Converts a column to the form of this feature.
    fn of(&self, column: &Column) -> Result<Column> {
        Ok(self.in_form(column)?.in_unit_of(&column.notation))
    }

    fn in_form(&self, column: &Column) -> Result<Column> {
        let values = match (&column.values, self.kind) {
            (Values::Codes { codes, levels }, ColumnKind::Numeric) => {
                if let Some(code) = codes.iter().find(|&c| c != MISSING) {
                    let name = levels.name(code).unwrap_or("");
                    return Err(Error::data(format!(
                        "column '{}' contains '{name}', but the model expects numbers",
                        self.name
                    )));
                }
                Values::F64(vec![f64::NAN; codes.len()].into())
            }
            (values, ColumnKind::Numeric) => values.clone(),
            (Values::Codes { .. }, _) if self.open => column.values.clone(),
            (_, _) if self.open => {
                let text = |row: usize| Some(column.text(row)).filter(|text| !text.is_empty());
                Column::nominal("", &(0..column.len()).map(text).collect::<Vec<_>>()).values
            }
            (Values::Codes { levels, .. }, _) if levels.names() == self.levels => column.values.clone(),
            (Values::Codes { codes, levels }, _) => {
                let known = Arc::new(Levels::new(self.levels.iter().cloned()));
                let new: Vec<u32> = levels.names().iter().map(|name| known.code(name).unwrap_or(MISSING)).collect();
                let code = |c: u32| new.get(c as usize).copied().unwrap_or(MISSING);
                Values::Codes { codes: codes.iter().map(code).collect::<Vec<u32>>().into(), levels: known }
            }
            (_, kind) => self.codes_of_numbers(&column.numbers(None), kind == ColumnKind::Boolean)?,
        };
        Ok(Column { name: self.name.clone(), kind: self.kind, values, notation: self.notation.clone() })
    }

    /// Converts numbers to categories, by their text; 0 and 1 for booleans. An error if the categories are words and no number is among them, since the numbers must mean something else.
    fn codes_of_numbers(&self, numbers: &[f64], boolean: bool) -> Result<Values> {
        let levels = Arc::new(Levels::new(self.levels.iter().cloned()));
        let code = |&x: &f64| match x {
            _ if x.is_nan() => MISSING,
            0.0 | 1.0 if boolean => x as u32,
            _ => levels.code(&x.to_string()).unwrap_or(MISSING),
        };
        let codes: Vec<u32> = numbers.iter().map(code).collect();
        let are_numbers = self.levels.iter().any(|level| level.parse::<f64>().is_ok());
        let first = numbers.iter().find(|x| !x.is_nan());
        if let Some(number) = first.filter(|_| !are_numbers && codes.iter().all(|&code| code == MISSING)) {
            let some = self.levels.iter().take(3).map(|level| format!("'{level}'")).collect::<Vec<_>>().join(", ");
            let name = &self.name;
            return Err(Error::data(format!(
                "column '{name}' contains numbers ({number}), but the model expects categories such as {some}"
            )));
        }
        Ok(Values::Codes { codes: codes.into(), levels })
    }
}

/// The smallest and largest finite number; the first is larger than the second if there is none. Eight of each are kept, so that the loop vectorizes.
fn range_of(values: &[f64]) -> (f64, f64) {
    const LANES: usize = 8;
    let (mut low, mut high) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
    for chunk in values.chunks(LANES) {
        for (l, &x) in chunk.iter().enumerate() {
            // Comparisons with NaN are false.
            low[l] = if x < low[l] && x > f64::NEG_INFINITY { x } else { low[l] };
            high[l] = if x > high[l] && x < f64::INFINITY { x } else { high[l] };
        }
    }
    (low.into_iter().fold(f64::INFINITY, f64::min), high.into_iter().fold(f64::NEG_INFINITY, f64::max))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Schema {
        let table = Table::new(vec![
            Column::numeric("x", vec![1.0, 2.0]),
            Column::nominal("c", &[Some("a"), Some("b")]),
            Column::boolean("t", &[Some(true), Some(false)]),
            Column::numeric("y", vec![0.5, 1.5]),
        ]);
        Schema::of(&table.unwrap().dataset("y").unwrap())
    }

    #[test]
    fn ranges_ignore_infinite_numbers() {
        let values: Vec<f64> = (0..21).map(|i| f64::from(i * 8 % 21) - 4.0).collect();
        assert_eq!(range_of(&values), (-4.0, 16.0));
        assert_eq!(range_of(&[f64::NAN, 2.0, f64::INFINITY, -1.0, f64::NEG_INFINITY]), (-1.0, 2.0));
        assert!(range_of(&[f64::NAN]).0 > range_of(&[]).1);
    }

    #[test]
    fn columns_and_categories_are_found_by_name() {
        let table = Table::new(vec![
            Column::numeric("t", vec![1.0, 0.0, f64::NAN]),
            Column::nominal("other", &[Some("z"), Some("z"), None]),
            Column::nominal("c", &[Some("b"), Some("new"), Some("a")]),
            Column::numeric_f32("x", vec![5.0, 6.0, 7.0]),
        ])
        .unwrap();
        let features = schema().features_of(&table).unwrap();
        assert_eq!(features.numbers(0), [5.0, 6.0, 7.0]);
        assert_eq!(features.columns()[1].codes(None).unwrap(), [1, MISSING, 0]);
        assert_eq!(features.columns()[2].codes(None).unwrap(), [1, 0, MISSING]);
    }

    #[test]
    fn the_target_is_read_with_its_training_type() {
        let of = |classes: &[&str]| {
            let classes = classes.iter().map(|c| c.to_string()).collect();
            Schema { task: Task::Classification, classes, ..schema() }.target_type()
        };
        assert_eq!(of(&["0", "1", "2.5"]), Some(ColumnType::Numeric));
        assert_eq!(of(&["01", "2"]), Some(ColumnType::Nominal));
        assert_eq!(of(&["false", "true"]), Some(ColumnType::Boolean));
        assert_eq!(of(&["False", "True"]), Some(ColumnType::Nominal));
        assert_eq!(of(&["inf", "1"]), Some(ColumnType::Nominal));
        assert_eq!(schema().target_type(), None, "numbers are inferred");
    }

    #[test]
    fn unsuitable_columns_are_errors() {
        let without = Table::new(vec![Column::numeric("X", vec![1.0])]).unwrap();
        assert_eq!(schema().features_of(&without).unwrap_err().to_string(), "no column named 'x': did you mean 'X'?");
        let words = Table::new(vec![Column::nominal("x", &[None, Some("tall")])]).unwrap();
        assert!(schema().features_of(&words).unwrap_err().to_string().contains("'tall'"));
        let codes = Table::new(vec![
            Column::numeric("x", vec![1.0]),
            Column::numeric("c", vec![0.0]),
            Column::boolean("t", &[Some(true)]),
        ]);
        let message = schema().features_of(&codes.unwrap()).unwrap_err().to_string();
        assert_eq!(message, "column 'c' contains numbers (0), but the model expects categories such as 'a', 'b'");
    }
}
