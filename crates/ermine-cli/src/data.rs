//! A file becomes a data set, and people are told how it was understood.

use crate::args::{ColumnArgs, DataArgs, quoted};
use crate::clean::clean;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::terminal::{bold, count, fact, listed, width, wrapped, yellow};
use ermine_core::learner::Learner;
use ermine_core::matrix::{Dataset, Roles, Target, Task};
use ermine_core::table::{Column, ColumnKind, ColumnType, ReadOptions, Table};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// How many names are listed before the rest is only counted.
const LISTED: usize = 6;

/// How a table was understood.
#[derive(Debug, Serialize)]
pub struct Understanding {
    file: PathBuf,
    n_rows: usize,
    /// Rows left out because their target is missing.
    n_dropped: usize,
    target: Vec<String>,
    task: Task,
    /// Classes or labels with their numbers of rows, most frequent first.
    classes: Vec<Class>,
    /// The range of the target, where numbers are learned.
    range: Option<(f64, f64)>,
    weight: Option<String>,
    group: Option<String>,
    n_groups: Option<usize>,
    init_score: Vec<String>,
    left_out: Vec<String>,
    features: Vec<Feature>,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Class {
    name: String,
    n_rows: usize,
}

#[derive(Debug, Serialize)]
struct Feature {
    name: String,
    kind: ColumnKind,
    n_missing: usize,
    n_categories: Option<usize>,
}

/// Reads the table that the arguments name, gives its columns their roles, and says how it was understood.
pub fn load(args: &DataArgs, threads: Option<usize>, progress: &Progress) -> Result<(Dataset, Understanding), Failure> {
    load_for(args, None, &[], threads, progress)
}

/// The name of the number that a learner without a target gives each row.
const SCORE: &str = "score";

/// The same for a learner: what the target doesn't say is what this learner can only learn, and one that looks at no target needs none. `init_score`: the columns that
/// scores start from.
pub fn load_for(
    args: &DataArgs,
    learner: Option<&dyn Learner>,
    init_score: &[String],
    threads: Option<usize>,
    progress: &Progress,
) -> Result<(Dataset, Understanding), Failure> {
    check_roles(args, init_score)?;
    let mut options = ReadOptions::default();
    options.types.extend(args.columns.types.iter().cloned());
    // Columns that play no part in learning needn't be read.
    options.types.extend(args.id.iter().chain(&args.ignore).map(|name| (name.clone(), ColumnType::Ignored)));
    let mut table = read(&args.file, &options, threads, progress)?;
    let free = args.target.is_empty() && learner.is_some_and(|learner| !learner.needs_target());
    if free {
        let n = table.n_rows();
        let columns = table.into_columns().into_iter().filter(|column| column.name != SCORE);
        table = Table::new(columns.chain([Column::numeric(SCORE, vec![0.0; n])]).collect())?;
    }
    let target = if free { vec![SCORE.to_string()] } else { targets(args, &table)? };
    let only_labels = learner.is_some_and(|learner| learner.info().capabilities.tasks == [Task::Multilabel]);
    let task = args.task.or(free.then_some(Task::Regression)).or(only_labels.then_some(Task::Multilabel));
    let mut roles = roles(target, task, &args.columns);
    let query = unused_query(args, &table);
    roles.ignore.extend(query.clone());
    roles.init_score = init_score.to_vec();
    let n_read = table.n_rows();
    if n_read == 0 {
        return Err(Failure::Work(format!("{}: there are no rows to learn from", args.file.display())));
    }
    let look = || {
        let data = Dataset::new(table, &roles)?;
        let mut understanding = Understanding::new(args, if free { &[] } else { &roles.target }, n_read, &data);
        understanding.init_score = init_score.to_vec();
        understanding.notes.extend(query.map(|name| {
            format!("column '{name}' says which query a row belongs to and is no feature; to rank, say --group {name}")
        }));
        Ok((data, understanding))
    };
    Ok(progress.stage("looking at the columns", threads, look)?)
}

/// Whether a file holds rows of `label index:value ...`.
fn is_sparse_text(file: &Path) -> bool {
    let file = file.to_string_lossy().to_lowercase();
    let name = file.strip_suffix(".gz").unwrap_or(&file);
    [".libsvm", ".svmlight", ".svm", ".letor"].iter().any(|ending| name.ends_with(ending))
}

/// The columns to learn. A word that is no column may list several, separated by commas.
fn targets(args: &DataArgs, table: &Table) -> Result<Vec<String>, Failure> {
    if args.target.is_empty() {
        let missing = "which column is to be learned? Say it with --target <COLUMN>";
        return if is_sparse_text(&args.file) { Ok(vec!["label".into()]) } else { Err(Failure::Usage(missing.into())) };
    }
    let names = |word: &String| match table.column(word) {
        Err(_) if word.contains(',') => word.split(',').map(|name| name.trim().to_string()).collect(),
        _ => vec![word.clone()],
    };
    let all: Vec<String> = args.target.iter().flat_map(names).collect();
    match all.iter().enumerate().find(|(i, name)| all[..*i].contains(name)) {
        Some((_, twice)) => Err(Failure::Usage(format!("column '{twice}' is named as --target twice"))),
        None => Ok(all),
    }
}

/// The query column of a libsvm or LETOR file, where no role is given to it: the number of a query says nothing about its rows.
fn unused_query(args: &DataArgs, table: &Table) -> Option<String> {
    const QUERY: &str = "qid";
    let named = args.columns.group.as_deref() == Some(QUERY) || args.target.iter().any(|t| t == QUERY);
    (is_sparse_text(&args.file) && !named && table.column(QUERY).is_ok()).then(|| QUERY.to_string())
}

/// Reads a table.
pub fn read(file: &Path, options: &ReadOptions, threads: Option<usize>, progress: &Progress) -> ermine::Result<Table> {
    let what = format!("reading {}", file.display());
    progress.stage(&what, threads, || Table::read_with(file, options))
}

/// The roles of columns, where ids and ignored columns have not been read at all.
pub fn roles(target: Vec<String>, task: Option<Task>, columns: &ColumnArgs) -> Roles {
    Roles {
        target,
        weight: columns.weight.clone(),
        group: columns.group.clone(),
        task,
        drop_missing_target: columns.drop_missing_target,
        ..Default::default()
    }
}

/// A column plays one role.
fn check_roles(args: &DataArgs, init_score: &[String]) -> Result<(), Failure> {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    let role = |role, names: &mut dyn Iterator<Item = &'_ String>| names.map(|n| (n.clone(), role)).collect::<Vec<_>>();
    let all = [
        role("--target", &mut args.target.iter()),
        role("--weight", &mut args.columns.weight.iter()),
        role("--group", &mut args.columns.group.iter()),
        role("--init-score", &mut init_score.iter()),
        role("--id", &mut args.id.iter()),
        role("--ignore", &mut args.ignore.iter()),
    ]
    .concat();
    for (name, role) in &all {
        if let Some((_, other)) = seen.iter().find(|(earlier, _)| earlier == name) {
            let roles = if other == role { format!("{role} twice") } else { format!("both {other} and {role}") };
            return Err(Failure::Usage(format!("column '{name}' is named as {roles}")));
        }
        seen.push((name, role));
    }
    Ok(())
}

impl Understanding {
    fn new(args: &DataArgs, target: &[String], n_read: usize, data: &Dataset) -> Understanding {
        let feature = |column: &Column| Feature {
            name: column.name.clone(),
            kind: column.kind,
            n_missing: n_missing(column, data.features().rows()),
            n_categories: column.levels().map(|levels| levels.len()),
        };
        let mut understanding = Understanding {
            file: args.file.clone(),
            n_rows: data.n_rows(),
            n_dropped: n_read - data.n_rows(),
            target: target.to_vec(),
            task: data.task(),
            classes: classes(data),
            range: data.values().ok().filter(|_| data.task() != Task::Multilabel).and_then(|(values, _)| range(values)),
            weight: args.columns.weight.clone(),
            group: args.columns.group.clone(),
            n_groups: data.group().map(|g| g.iter().max().map_or(0, |&m| m as usize + 1)),
            init_score: Vec::new(),
            left_out: args.id.iter().chain(&args.ignore).cloned().collect(),
            features: data.features().columns().iter().map(feature).collect(),
            notes: Vec::new(),
        };
        understanding.notes = understanding.notes_on(data, args.task.is_none());
        understanding
    }

    /// What a careful reader of the data would ask about.
    fn notes_on(&self, data: &Dataset, task_was_inferred: bool) -> Vec<String> {
        let mut notes = Vec::new();
        for feature in &self.features {
            let (name, present) = (&feature.name, self.n_rows - feature.n_missing);
            if present == 0 {
                notes.push(format!("column '{name}' is empty"));
            }
            let is_name = feature.kind == ColumnKind::Nominal && present >= 20;
            if let Some(n) = feature.n_categories.filter(|n| is_name && n * 10 >= present * 9) {
                notes.push(format!(
                    "column '{name}' has {} categories in {} rows; if it names rows, leave it out with --id {}",
                    count(n),
                    count(present),
                    quoted(name),
                ));
            }
        }
        if task_was_inferred && self.task == Task::Ranking {
            notes.push("rows of a group are ranked; to predict the target itself, say --task regression".into());
        }
        if task_was_inferred && self.task == Task::Regression && !self.target.is_empty() {
            notes.extend(few_whole_numbers(data).map(|n| {
                format!(
                    "the target has only {n} distinct whole numbers; if they are classes, say --task classification"
                )
            }));
        }
        if self.task == Task::Classification && self.classes.len() * 2 > self.n_rows {
            let n = count(self.classes.len());
            notes.push(format!("the target has {n} classes in {} rows; is it the right column?", count(self.n_rows)));
        }
        notes
    }

    /// What was understood, for people.
    pub fn text(&self) -> String {
        let rows = match self.n_dropped {
            0 => format!("{} rows", count(self.n_rows)),
            n => format!("{} rows, without {} whose target is missing", count(self.n_rows), count(n)),
        };
        let learned = match self.range {
            Some((low, high)) => format!("a number from {low} to {high}"),
            None => self.classes_text(),
        };
        let mut others: Vec<String> = self.weight.iter().map(|w| format!("weight {w}")).collect();
        let groups = if self.task == Task::Ranking { "queries" } else { "groups" };
        others.extend(self.group.iter().map(|g| format!("{} {groups} by {g}", count(self.n_groups.unwrap_or(0)))));
        if !self.init_score.is_empty() {
            others.push(format!("scores start from {}", listed(&self.init_score, LISTED)));
        }
        if !self.left_out.is_empty() {
            others.push(format!("left out {}", listed(&self.left_out, LISTED)));
        }
        let mut text = format!("{}: {rows}\n", bold(&clean(&self.file.display().to_string())));
        let target = match self.target.is_empty() {
            true => "none: the learner looks at none".to_string(),
            false => format!("{}: {} of {learned}", self.target.join(", "), self.task),
        };
        let mut facts = vec![("target", target), ("features", self.kinds_text()), ("missing", self.missing_text())];
        facts.extend((!others.is_empty()).then(|| ("others", others.join("; "))));
        facts.iter().for_each(|(name, known)| text += &fact(name, 11, known));
        self.notes.iter().for_each(|note| text += &yellow(&wrapped(&clean(&format!("note: {note}")), 2, width())));
        text
    }

    fn classes_text(&self) -> String {
        let classes: Vec<String> = self.classes.iter().map(|c| format!("{}: {}", c.name, c.n_rows)).collect();
        let what = if self.task == Task::Multilabel { "labels" } else { "classes" };
        format!("{} {what} ({})", count(classes.len()), listed(&classes, LISTED))
    }

    fn kinds_text(&self) -> String {
        let kinds = [ColumnKind::Numeric, ColumnKind::Nominal, ColumnKind::Ordinal, ColumnKind::Boolean];
        let n = |kind| self.features.iter().filter(|f| f.kind == kind).count();
        let parts: Vec<String> =
            kinds.into_iter().filter(|&k| n(k) > 0).map(|k| format!("{} {k}", count(n(k)))).collect();
        format!("{} ({})", count(self.features.len()), parts.join(", "))
    }

    fn missing_text(&self) -> String {
        let mut holed: Vec<&Feature> = self.features.iter().filter(|f| f.n_missing > 0).collect();
        holed.sort_by_key(|f| std::cmp::Reverse(f.n_missing));
        let total: usize = holed.iter().map(|f| f.n_missing).sum();
        let names: Vec<String> = holed.iter().map(|f| format!("{} {}", f.name, count(f.n_missing))).collect();
        match total {
            0 => "none".into(),
            n => format!("{} values ({})", count(n), listed(&names, LISTED)),
        }
    }
}

/// How many values of a column are missing, in these rows or in all.
fn n_missing(column: &Column, rows: Option<&[u32]>) -> usize {
    match rows {
        Some(rows) if column.n_missing() > 0 => column.numbers(Some(rows)).iter().filter(|x| x.is_nan()).count(),
        Some(_) => 0,
        None => column.n_missing(),
    }
}

fn classes(data: &Dataset) -> Vec<Class> {
    let (labels, counts) = match (data.target(), data.labels()) {
        (Target::Classes { codes, labels }, _) => {
            let mut counts = vec![0; labels.len()];
            codes.iter().for_each(|&code| counts[code as usize] += 1);
            (labels, counts)
        }
        (_, Ok((marks, labels))) => {
            let count = |k: usize| marks.iter().skip(k).step_by(labels.len()).filter(|&&mark| mark == 1.0).count();
            (labels, (0..labels.len()).map(count).collect())
        }
        _ => return Vec::new(),
    };
    let class = |(name, n_rows): (&String, usize)| Class { name: name.clone(), n_rows };
    let mut classes: Vec<Class> = labels.iter().zip(counts).map(class).collect();
    classes.sort_by_key(|class| std::cmp::Reverse(class.n_rows));
    classes
}

fn range(values: &[f64]) -> Option<(f64, f64)> {
    let grow = |(low, high): (f64, f64), &x: &f64| (low.min(x), high.max(x));
    (!values.is_empty()).then(|| values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), grow))
}

/// How many distinct whole numbers the target holds, if they are so few that they may be meant as classes.
fn few_whole_numbers(data: &Dataset) -> Option<usize> {
    const FEW: usize = 10;
    let (values, _) = data.values().ok()?;
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
