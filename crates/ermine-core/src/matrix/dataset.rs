//! [`Dataset`]: features, target, weights and query groups.

use super::features::Features;
use super::labels;
use super::schema::parts_of_dates;
use crate::error::{Error, Result};
use crate::rng::{self, Purpose};
use crate::table::{Column, ColumnKind, MISSING, Table, Values};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// Learning task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Predict one of several classes.
    Classification,
    /// Predict one or more numbers.
    Regression,
    /// Rank the rows of each query.
    Ranking,
    /// Predict a set of labels.
    Multilabel,
}

impl Task {
    /// All tasks.
    pub const ALL: [Task; 4] = [Task::Classification, Task::Regression, Task::Ranking, Task::Multilabel];

    /// The name in messages and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Task::Classification => "classification",
            Task::Regression => "regression",
            Task::Ranking => "ranking",
            Task::Multilabel => "multilabel",
        }
    }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Target values.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// A class per row.
    Classes {
        /// Codes into `labels`.
        codes: Vec<u32>,
        /// Class names by code. Classes without rows are allowed.
        labels: Arc<[String]>,
    },
    /// Numbers per row, row by row; for multilabel targets, 1 for each label of the row and 0 for the others.
    Values {
        /// `n_rows * n_outputs` numbers.
        values: Vec<f64>,
        /// Number of values per row.
        n_outputs: usize,
    },
}

impl Target {
    /// How many rows.
    pub fn n_rows(&self) -> usize {
        match self {
            Target::Classes { codes, .. } => codes.len(),
            Target::Values { values, n_outputs } => values.len() / n_outputs.max(&1),
        }
    }

    fn select(&self, rows: &[u32]) -> Target {
        match self {
            Target::Classes { codes, labels } => {
                Target::Classes { codes: rows.iter().map(|&r| codes[r as usize]).collect(), labels: labels.clone() }
            }
            Target::Values { values, n_outputs } => {
                let k = *n_outputs;
                let pick = |&r: &u32| &values[r as usize * k..(r as usize + 1) * k];
                Target::Values { values: rows.iter().flat_map(pick).copied().collect(), n_outputs: k }
            }
        }
    }
}

/// Roles of columns. All other columns are features.
#[derive(Debug, Clone, Default)]
pub struct Roles {
    /// Target columns.
    pub target: Vec<String>,
    /// Column with sample weights.
    pub weight: Option<String>,
    /// Column with query groups, for ranking.
    pub group: Option<String>,
    /// Columns with initial scores, one per score.
    pub init_score: Vec<String>,
    /// Columns that identify rows and are not features.
    pub id: Vec<String>,
    /// Columns to drop.
    pub ignore: Vec<String>,
    /// Task, if it cannot be inferred from the target column.
    pub task: Option<Task>,
    /// Drop rows with a missing target instead of returning an error.
    pub drop_missing_target: bool,
}

impl Roles {
    /// One target column; all other columns are features.
    pub fn target(name: impl Into<String>) -> Self {
        Roles { target: vec![name.into()], ..Default::default() }
    }

    /// All columns that are not features.
    pub fn columns(&self) -> impl Iterator<Item = &String> {
        let roles = self.target.iter().chain(&self.weight).chain(&self.group).chain(&self.init_score);
        roles.chain(&self.id).chain(&self.ignore)
    }
}

/// A data set: features and target, and optionally weights, query groups and initial scores.
#[derive(Debug, Clone)]
pub struct Dataset {
    features: Features,
    target: Target,
    target_names: Vec<String>,
    /// Names of the labels of a multilabel target.
    labels: Arc<[String]>,
    task: Task,
    weight: Option<Vec<f64>>,
    group: Option<Vec<u32>>,
    group_name: Option<String>,
    /// Initial scores, row by row.
    init_score: Option<Vec<f64>>,
}

impl Dataset {
    /// Splits a table into features and columns with other roles.
    pub fn new(table: Table, roles: &Roles) -> Result<Dataset> {
        if roles.target.is_empty() {
            return Err(Error::data("no target column was given"));
        }
        for name in roles.columns() {
            table.position(name)?;
        }
        let targets: Vec<&Column> = roles.target.iter().map(|name| table.column(name)).collect::<Result<_>>()?;
        let task = roles.task.unwrap_or_else(|| task_of(&targets, roles.group.is_some()));
        let kept = if labels::is_list(&targets, task) { None } else { rows_with_target(&targets, roles)? };
        let rows = kept.as_deref();
        let (target, labels) = match task {
            Task::Classification => (classes(&targets, rows)?, Vec::new()),
            Task::Regression | Task::Ranking => (values(&targets, rows)?, Vec::new()),
            Task::Multilabel => labels::read(&targets, rows)?,
        };
        let weight = roles.weight.as_ref().map(|name| weights(table.column(name)?, rows)).transpose()?;
        let group = roles.group.as_ref().map(|name| table.column(name).map(|c| groups(c, rows))).transpose()?;
        let mut columns: Vec<Column> =
            table.columns().iter().filter(|c| roles.columns().all(|name| *name != c.name)).cloned().collect();
        columns.extend(parts_of_dates(&columns));
        let n_rows = table.n_rows();
        let mut features = Features::new(Arc::new(Table::of_columns(columns, n_rows)));
        if let Some(rows) = rows {
            features = features.select(rows)?;
        }
        let data = Dataset::from_parts(features, target, task)?.named(roles.target.clone()).with_weight(weight)?;
        let data = if task == Task::Multilabel { data.with_labels(labels)? } else { data };
        let data = data.with_init_score(init_scores(&table, &roles.init_score, rows)?)?;
        Ok(Dataset { group_name: roles.group.clone(), ..data.with_group(group)? })
    }

    /// A data set from features and a target.
    pub fn from_parts(features: Features, target: Target, task: Task) -> Result<Dataset> {
        let (n, m) = (features.n_rows(), target.n_rows());
        if n != m {
            return Err(Error::data(format!("the features have {n} rows, but the target has {m}")));
        }
        match (&target, task) {
            (Target::Classes { codes, labels }, Task::Classification) => {
                if let Some(code) = codes.iter().find(|&&c| c as usize >= labels.len()) {
                    return Err(Error::data(format!(
                        "class code {code} is out of range (the target has {} classes)",
                        labels.len()
                    )));
                }
            }
            (Target::Values { values, .. }, Task::Regression | Task::Ranking) => {
                if let Some(i) = values.iter().position(|v| v.is_nan() || v.abs() > LARGEST_TARGET) {
                    let (value, row) = (values[i], i / (values.len() / n.max(1)).max(1));
                    let message = format!(
                        "the target is {value:?}; it must be a number from -{LARGEST_TARGET:e} to {LARGEST_TARGET:e}"
                    );
                    return Err(Error::row(row, message));
                }
            }
            (Target::Values { values, n_outputs }, Task::Multilabel) => {
                if let Some(i) = values.iter().position(|&v| v != 0.0 && v != 1.0) {
                    let (value, row) = (values[i], i / n_outputs.max(&1));
                    return Err(Error::row(row, format!("a label is {value}; expected 0 or 1")));
                }
            }
            _ => return Err(Error::data(format!("the target is not suitable for the task {task}"))),
        }
        let target_names = vec!["target".into()];
        let labels = match &target {
            Target::Values { n_outputs, .. } if task == Task::Multilabel => {
                (0..*n_outputs).map(|k| format!("label{k}")).collect()
            }
            _ => Arc::default(),
        };
        let (weight, group, group_name, init_score) = (None, None, None, None);
        Ok(Dataset { features, target, target_names, labels, task, weight, group, group_name, init_score })
    }

    /// Sets the names of the labels.
    pub fn with_labels(mut self, names: Vec<String>) -> Result<Dataset> {
        let n = self.labels.len();
        let mut sorted: Vec<&String> = names.iter().collect();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::data(format!("two labels are named '{}'", twice[0])));
        }
        if names.len() != n || n == 0 {
            return Err(Error::data(format!("got {} names for {n} labels", names.len())));
        }
        self.labels = names.into();
        Ok(self)
    }

    /// Sets the names of the target columns.
    pub fn named(mut self, names: Vec<String>) -> Dataset {
        self.target_names = names;
        self
    }

    /// The same data with these classes in this order, whether or not rows have them. A row of another class is an error.
    pub fn with_classes(mut self, classes: &[String]) -> Result<Dataset> {
        let Target::Classes { codes, labels } = &self.target else {
            return Err(Error::data("the target has numbers, not classes: there are no classes to name"));
        };
        if let Some((_, twice)) = classes.iter().enumerate().find(|(i, class)| classes[..*i].contains(class)) {
            return Err(Error::data(format!("class '{twice}' is named twice")));
        }
        let place = |label: &String| classes.iter().position(|class| class == label).map(|at| at as u32);
        let places: Vec<Option<u32>> = labels.iter().map(place).collect();
        let code = |&code: &u32| {
            let label = &labels[code as usize];
            places[code as usize].ok_or_else(|| Error::unknown("class", label, classes.iter().map(String::as_str)))
        };
        let codes = codes.iter().map(code).collect::<Result<Vec<u32>>>()?;
        self.target = Target::Classes { codes, labels: classes.iter().cloned().collect() };
        Ok(self)
    }

    /// Sets the sample weights: finite, nonnegative, not all zero.
    pub fn with_weight(mut self, weight: Option<Vec<f64>>) -> Result<Dataset> {
        if let Some(w) = &weight {
            if w.len() != self.n_rows() {
                return Err(Error::data(format!("got {} weights for {} rows", w.len(), self.n_rows())));
            }
            let fine = |w: f64| w == 0.0 || (1.0 / LARGEST_WEIGHT..=LARGEST_WEIGHT).contains(&w);
            if let Some(i) = w.iter().position(|&w| !fine(w)) {
                let (value, least) = (w[i], 1.0 / LARGEST_WEIGHT);
                let message = format!("the weight is {value:?}; it must be 0, or from {least:e} to {LARGEST_WEIGHT:e}");
                return Err(Error::row(i, message));
            }
            if !w.is_empty() && w.iter().all(|&w| w == 0.0) {
                return Err(Error::data("all sample weights are zero; at least one must be positive"));
            }
        }
        self.weight = weight;
        Ok(self)
    }

    /// Sets the query groups.
    pub fn with_group(mut self, group: Option<Vec<u32>>) -> Result<Dataset> {
        if let Some(g) = group.as_ref().filter(|g| g.len() != self.n_rows()) {
            return Err(Error::data(format!("got {} query groups for {} rows", g.len(), self.n_rows())));
        }
        self.group = group;
        Ok(self)
    }

    /// Sets the initial scores, row by row, as many per row as the model has scores. The model learns the difference.
    pub fn with_init_score(mut self, scores: Option<Vec<f64>>) -> Result<Dataset> {
        if let Some(scores) = &scores {
            let n = self.n_rows();
            if scores.is_empty() || scores.len() % n.max(1) != 0 {
                return Err(Error::data(format!("got {} init scores for {n} rows", scores.len())));
            }
            if let Some(i) = scores.iter().position(|s| !s.is_finite()) {
                let (row, score) = (i / (scores.len() / n), scores[i]);
                return Err(Error::row(row, format!("the init score is {score:?}; it must be a finite number")));
            }
        }
        self.init_score = scores;
        Ok(self)
    }

    /// The same features with another target.
    pub fn with_target(&self, target: Target, task: Task) -> Result<Dataset> {
        let fresh = Dataset::from_parts(self.features.clone(), target, task)?.named(self.target_names.clone());
        let fresh = fresh.with_weight(self.weight.clone())?.with_group(self.group.clone())?;
        let labels = if fresh.labels.len() == self.labels.len() { self.labels.clone() } else { fresh.labels.clone() };
        let init_score = self.init_score.clone();
        Ok(Dataset { labels, group_name: self.group_name.clone(), init_score, ..fresh })
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.features.n_rows()
    }

    /// The features.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// The target.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The names of the target columns.
    pub fn target_names(&self) -> &[String] {
        &self.target_names
    }

    /// The task.
    pub fn task(&self) -> Task {
        self.task
    }

    /// Sample weights; `None` if all rows have weight 1.
    pub fn weight(&self) -> Option<&[f64]> {
        self.weight.as_deref()
    }

    /// The query group of each row.
    pub fn group(&self) -> Option<&[u32]> {
        self.group.as_deref()
    }

    /// Initial scores, row by row; `None` if the learner chooses them.
    pub fn init_score(&self) -> Option<&[f64]> {
        self.init_score.as_deref()
    }

    /// The rows of each query, in order of the queries; without query groups, all rows form one query.
    pub fn queries(&self) -> Vec<Vec<u32>> {
        queries(self.group(), self.n_rows())
    }

    /// The relevance grades of a ranking target.
    pub fn grades(&self) -> Result<&[f64]> {
        match self.values()? {
            (grades, 1) => Ok(grades),
            (_, n) => Err(Error::data(format!("ranking needs one relevance grade per row, but there are {n} targets"))),
        }
    }

    /// The name of the query group column.
    pub fn group_name(&self) -> Option<&str> {
        self.group_name.as_deref()
    }

    /// The weight of a row; 1 without weights.
    pub fn row_weight(&self, row: usize) -> f64 {
        self.weight.as_ref().map_or(1.0, |w| w[row])
    }

    /// Class codes and class names; an error if the target is numeric.
    pub fn classes(&self) -> Result<(&[u32], &Arc<[String]>)> {
        match &self.target {
            Target::Classes { codes, labels } => Ok((codes, labels)),
            Target::Values { .. } => Err(Error::data("the target is numeric, but classes are needed")),
        }
    }

    /// Target values, row by row, and the number of values per row; an error if the target consists of classes.
    pub fn values(&self) -> Result<(&[f64], usize)> {
        match &self.target {
            Target::Values { values, n_outputs } => Ok((values, *n_outputs)),
            Target::Classes { .. } => Err(Error::data("the target consists of classes, but numbers are needed")),
        }
    }

    /// A 0/1 indicator per row and label, row by row, and the label names; an error if the target is not multilabel.
    pub fn labels(&self) -> Result<(&[f64], &Arc<[String]>)> {
        match &self.target {
            Target::Values { values, .. } if self.task == Task::Multilabel => Ok((values, &self.labels)),
            _ => Err(Error::data("the target is not a multilabel target")),
        }
    }

    /// Selects rows, in the given order; rows may repeat.
    pub fn select(&self, rows: &[u32]) -> Result<Dataset> {
        Ok(Dataset {
            features: self.features.select(rows)?,
            target: self.target.select(rows),
            weight: self.weight.as_ref().map(|w| rows.iter().map(|&r| w[r as usize]).collect()),
            group: self.group.as_ref().map(|g| rows.iter().map(|&r| g[r as usize]).collect()),
            init_score: self.init_score.as_ref().map(|scores| {
                let k = scores.len() / self.n_rows().max(1);
                rows.iter().flat_map(|&r| &scores[r as usize * k..(r as usize + 1) * k]).copied().collect()
            }),
            ..self.clone()
        })
    }

    /// Splits the rows at random into a first part with the given share, and the rest.
    pub fn split(&self, share: f64, seed: u64) -> Result<(Dataset, Dataset)> {
        if !(share > 0.0 && share < 1.0) {
            return Err(Error::data(format!("the share of a split must be between 0 and 1 (got {share})")));
        }
        let mut rows: Vec<u32> = (0..self.n_rows() as u32).collect();
        rng::shuffle(&mut Purpose::TrainTestSplit.stream(seed, &[]), &mut rows);
        let (first, rest) = rows.split_at_mut((share * self.n_rows() as f64).round() as usize);
        first.sort_unstable();
        rest.sort_unstable();
        Ok((self.select(first)?, self.select(rest)?))
    }
}

/// The rows of each query, in order of the queries; without query groups, all rows form one query.
pub fn queries(group: Option<&[u32]>, n_rows: usize) -> Vec<Vec<u32>> {
    let Some(group) = group else { return vec![(0..n_rows as u32).collect()] };
    let mut queries = vec![Vec::new(); group.iter().max().map_or(0, |&last| last as usize + 1)];
    (0..).zip(group).for_each(|(row, &query)| queries[query as usize].push(row));
    queries.retain(|rows| !rows.is_empty());
    queries
}

/// Limits that keep weighted sums of squares over all rows finite.
const LARGEST_WEIGHT: f64 = 1e60;
/// See [`LARGEST_WEIGHT`].
const LARGEST_TARGET: f64 = 1e100;

impl Table {
    /// Converts the table to a data set with one target; all other columns are features.
    pub fn dataset(self, target: &str) -> Result<Dataset> {
        Dataset::new(self, &Roles::target(target))
    }
}

/// Infers the task: categories and integers with only two values are classes; several 0/1 columns are labels; other numbers are regression targets. With query groups, numbers are
/// relevance grades.
fn task_of(targets: &[&Column], grouped: bool) -> Task {
    if !grouped && targets.len() > 1 && targets.iter().all(|c| labels::is_marks(c)) {
        return Task::Multilabel;
    }
    let categorical = targets.iter().any(|c| c.kind != ColumnKind::Numeric);
    match (grouped, categorical || targets.iter().all(|c| is_two_valued(c))) {
        (true, _) if !categorical => Task::Ranking,
        (_, true) => Task::Classification,
        (_, false) => Task::Regression,
    }
}

fn is_two_valued(column: &Column) -> bool {
    let mut seen: Vec<f64> = Vec::new();
    for x in column.numbers(None).into_iter().filter(|x| !x.is_nan()) {
        if !seen.contains(&x) {
            seen.push(x);
        }
        if seen.len() > 2 || x.fract() != 0.0 {
            return false;
        }
    }
    seen.len() == 2
}

/// The rows with a target; `None` if no target is missing.
fn rows_with_target(targets: &[&Column], roles: &Roles) -> Result<Option<Vec<u32>>> {
    if targets.iter().all(|c| c.n_missing() == 0) {
        return Ok(None);
    }
    let numbers: Vec<Vec<f64>> = targets.iter().map(|c| c.numbers(None)).collect();
    let n = numbers.first().map_or(0, Vec::len);
    let rows: Vec<u32> = (0..n as u32).filter(|&r| numbers.iter().all(|c| !c[r as usize].is_nan())).collect();
    if !roles.drop_missing_target {
        let first = (0..n).find(|&r| numbers.iter().any(|c| c[r].is_nan())).unwrap_or(0);
        let (target, n_missing) = (roles.target.join(", "), n - rows.len());
        return Err(Error::MissingTarget { target, n_missing, n_rows: n, first: first + 1 });
    }
    Ok(Some(rows))
}

fn classes(targets: &[&Column], rows: Option<&[u32]>) -> Result<Target> {
    let [column] = targets else {
        return Err(Error::data("classification needs a single target column; give one target, or numeric targets"));
    };
    if let Values::Codes { levels, .. } = &column.values {
        let codes = column.codes(rows).unwrap_or_default();
        return Ok(without_unused(&codes, levels.names()));
    }
    let numbers = column.numbers(rows);
    let mut distinct: Vec<f64> = numbers.clone();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    let code = |x: &f64| distinct.partition_point(|d| d < x) as u32;
    let labels = distinct.iter().map(f64::to_string).collect();
    Ok(Target::Classes { codes: numbers.iter().map(code).collect(), labels })
}

/// Drops classes without rows.
fn without_unused(codes: &[u32], names: &[String]) -> Target {
    let mut used = vec![false; names.len()];
    codes.iter().filter(|&&c| c != MISSING).for_each(|&c| used[c as usize] = true);
    let mut n_used = 0;
    let mut place = |used: &bool| {
        n_used += u32::from(*used);
        n_used.wrapping_sub(1)
    };
    let new: Vec<u32> = used.iter().map(&mut place).collect();
    let labels = names.iter().zip(&used).filter(|(_, used)| **used).map(|(name, _)| name.clone()).collect();
    Target::Classes { codes: codes.iter().map(|&c| new[c as usize]).collect(), labels }
}

fn values(targets: &[&Column], rows: Option<&[u32]>) -> Result<Target> {
    if let Some(column) = targets.iter().find(|c| c.kind == ColumnKind::Nominal) {
        return Err(Error::data(format!("the target '{}' is categorical, but numbers are needed", column.name)));
    }
    let columns: Vec<Vec<f64>> = targets.iter().map(|c| c.numbers(rows)).collect();
    let n = columns.first().map_or(0, Vec::len);
    let values = (0..n).flat_map(|i| columns.iter().map(move |c| c[i])).collect();
    Ok(Target::Values { values, n_outputs: targets.len() })
}

fn weights(column: &Column, rows: Option<&[u32]>) -> Result<Vec<f64>> {
    numbers_of("weight", column, rows)
}

/// Initial scores, row by row.
fn init_scores(table: &Table, names: &[String], rows: Option<&[u32]>) -> Result<Option<Vec<f64>>> {
    let read = |name: &String| numbers_of("init score", table.column(name)?, rows);
    let columns: Vec<Vec<f64>> = names.iter().map(read).collect::<Result<_>>()?;
    let row = |row: usize| columns.iter().map(move |column| column[row]);
    Ok(columns.first().map(|first| (0..first.len()).flat_map(row).collect()))
}

/// The values of a column with a role; missing values are errors.
fn numbers_of(role: &str, column: &Column, rows: Option<&[u32]>) -> Result<Vec<f64>> {
    let name = &column.name;
    if !matches!(column.kind, ColumnKind::Numeric | ColumnKind::Boolean) {
        return Err(Error::data(format!("the {role} '{name}' is {}, but numbers are needed", column.kind)));
    }
    let numbers = column.numbers(rows);
    match numbers.iter().position(|x| x.is_nan()) {
        Some(i) => Err(Error::row(i, format!("the {role} '{name}' is missing"))),
        None => Ok(numbers),
    }
}

/// Query numbers 0, 1, 2, ... in order of first appearance.
pub(super) fn groups(column: &Column, rows: Option<&[u32]>) -> Vec<u32> {
    let mut numbers = std::collections::HashMap::new();
    column
        .numbers(rows)
        .into_iter()
        .map(|x| {
            let next = numbers.len() as u32;
            *numbers.entry(x.to_bits()).or_insert(next)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        Table::new(vec![
            Column::numeric("x", vec![1.0, 2.0, 3.0, 4.0]),
            Column::nominal("y", &[Some("b"), Some("a"), None, Some("b")]),
            Column::numeric("w", vec![1.0, 2.0, 0.0, 1.0]),
        ])
        .unwrap()
    }

    #[test]
    fn columns_with_roles_are_not_features() {
        let roles = Roles { weight: Some("w".into()), drop_missing_target: true, ..Roles::target("y") };
        let data = Dataset::new(table(), &roles).unwrap();
        assert_eq!((data.n_rows(), data.features().n_columns(), data.task()), (3, 1, Task::Classification));
        assert_eq!(data.features().numbers(0), [1.0, 2.0, 4.0]);
        assert_eq!(data.weight(), Some(&[1.0, 2.0, 1.0][..]));
        assert_eq!(data.classes().unwrap().0, [1, 0, 1]);
    }

    #[test]
    fn invalid_roles_are_errors() {
        let message = |roles: &Roles| Dataset::new(table(), roles).unwrap_err().to_string();
        assert_eq!(message(&Roles::target("Y")), "no column named 'Y': did you mean 'y'?");
        assert!(message(&Roles::target("y")).contains("missing in 1 of 4 rows (first: row 3)"));
        let task = Some(Task::Regression);
        let roles = Roles { task, drop_missing_target: true, ..Roles::target("y") };
        assert!(message(&roles).contains("numbers are needed"));
        let roles = Roles { weight: Some("y".into()), ..Roles::target("x") };
        assert_eq!(message(&roles), "the weight 'y' is nominal, but numbers are needed");
        let data = Dataset::new(table(), &Roles::target("x")).unwrap();
        assert!(data.clone().with_weight(Some(vec![0.0; 4])).unwrap_err().to_string().contains("zero"));
        assert!(
            data.with_weight(Some(vec![1.0, -1.0, 1.0, 1.0]))
                .unwrap_err()
                .to_string()
                .contains("row 2: the weight is -1")
        );
    }

    #[test]
    fn init_scores_follow_their_rows() {
        let roles = Roles { init_score: vec!["w".into()], drop_missing_target: true, ..Roles::target("y") };
        let data = Dataset::new(table(), &roles).unwrap();
        assert_eq!(data.init_score(), Some(&[1.0, 2.0, 1.0][..]));
        let two = data.with_init_score(Some(vec![1.0, -1.0, 2.0, -2.0, 3.0, -3.0])).unwrap();
        assert_eq!(two.select(&[2, 0, 2]).unwrap().init_score(), Some(&[3.0, -3.0, 1.0, -1.0, 3.0, -3.0][..]));
        assert!(two.clone().with_init_score(Some(vec![0.0; 4])).is_err());
        let wrong = two.with_init_score(Some(vec![0.0, 0.0, f64::NAN])).unwrap_err().to_string();
        assert!(wrong.contains("row 3"), "{wrong}");
    }

    #[test]
    fn a_split_uses_every_row_once() {
        let rows: Vec<Vec<f64>> = (0..10).map(|i| vec![f64::from(i), f64::from(i % 2)]).collect();
        let data = Table::from_rows(&["x", "y"], &rows).unwrap().dataset("y").unwrap();
        assert_eq!(data.task(), Task::Classification, "integers with two values are classes");
        let (a, b) = data.split(0.7, 3).unwrap();
        let mut all = [a.features().numbers(0), b.features().numbers(0)].concat();
        assert_eq!((a.n_rows(), b.n_rows()), (7, 3));
        all.sort_by(f64::total_cmp);
        assert_eq!(all, (0..10).map(f64::from).collect::<Vec<_>>());
    }
}
