//! Loading of data sets, with a summary.

mod text;

use crate::args::{ColumnArgs, DataArgs};
use crate::clean::clean;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::terminal::print_message;
use ermine_core::learner::Learner;
use ermine_core::matrix::{Dataset, Roles, Task};
use ermine_core::table::{Column, ColumnType, ReadNote, ReadOptions, Table};
use ermine_eval::describe::{DataSummary, DataWarning, duplicates};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A loaded data set.
#[derive(Debug, Serialize)]
pub struct LoadedData {
    file: PathBuf,
    #[serde(flatten)]
    pub summary: DataSummary,
    weight: Option<String>,
    group: Option<String>,
    init_score: Vec<String>,
    left_out: Vec<String>,
    /// Notes of the reader.
    reading: Vec<ReadNote>,
}

/// Reads the table of the arguments and gives its columns their roles.
pub fn load(args: &DataArgs, threads: Option<usize>, progress: &Progress) -> Result<(Dataset, LoadedData), Failure> {
    load_for(args, None, &[], threads, progress)
}

/// The name of the score that a learner without a target computes.
const SCORE: &str = "score";

/// The same for a learner: the task may be the only one that it supports, and a learner without a target needs none. `init_score`: the columns with initial scores.
pub fn load_for(
    args: &DataArgs,
    learner: Option<&dyn Learner>,
    init_score: &[String],
    threads: Option<usize>,
    progress: &Progress,
) -> Result<(Dataset, LoadedData), Failure> {
    check_roles(args, init_score)?;
    let options = read_options(args);
    let (mut table, reading) = read_noting(&args.file, &options, threads, progress)?;
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
        return Err(Failure::Work(format!("{}: the table has no rows", args.file.display())));
    }
    let summarize = || {
        let data = Dataset::new(table, &roles)?;
        let mut summary = DataSummary::new(&data, n_read, task.is_none());
        if free {
            summary.target.clear();
        }
        summary.warnings.extend(query.map(|column| DataWarning::UnusedQueries { column }));
        Ok((data, summary))
    };
    let (data, summary) = progress.stage("preparing the columns", threads, summarize)?;
    let loaded = LoadedData {
        file: args.file.clone(),
        summary,
        weight: args.columns.weight.clone(),
        group: args.columns.group.clone(),
        init_score: init_score.to_vec(),
        left_out: args.id.iter().chain(&args.ignore).cloned().collect(),
        reading,
    };
    Ok((data, loaded))
}

/// Whether a file holds rows of `label index:value ...`.
fn is_sparse_text(file: &Path) -> bool {
    let file = file.to_string_lossy().to_lowercase();
    let name = file.strip_suffix(".gz").unwrap_or(&file);
    [".libsvm", ".svmlight", ".svm", ".letor"].iter().any(|ending| name.ends_with(ending))
}

/// The target columns: a column name, or several separated by commas.
pub fn targets(args: &DataArgs, table: &Table) -> Result<Vec<String>, Failure> {
    if args.target.is_empty() {
        let missing = "the target column is missing: pass --target COLUMN";
        return if is_sparse_text(&args.file) { Ok(vec!["label".into()]) } else { Err(Failure::Usage(missing.into())) };
    }
    let names = |word: &String| match table.column(word) {
        Err(_) if word.contains(',') => word.split(',').map(|name| name.trim().to_string()).collect(),
        _ => vec![word.clone()],
    };
    let all: Vec<String> = args.target.iter().flat_map(names).collect();
    match all.iter().enumerate().find(|(i, name)| all[..*i].contains(name)) {
        Some((_, twice)) => Err(Failure::Usage(format!("column '{twice}' is named twice by --target"))),
        None => Ok(all),
    }
}

/// The query column of a libsvm or LETOR file without a role: query numbers are no features.
fn unused_query(args: &DataArgs, table: &Table) -> Option<String> {
    const QUERY: &str = "qid";
    let named = args.columns.group.as_deref() == Some(QUERY) || args.target.iter().any(|t| t == QUERY);
    (is_sparse_text(&args.file) && !named && table.column(QUERY).is_ok()).then(|| QUERY.to_string())
}

/// Prints a warning if rows of the test set are also in the training set.
pub fn warn_of_shared_rows(file: &Path, train: &Dataset, test: &Dataset) {
    let n_shared = duplicates::n_shared(train, test);
    if n_shared > 0 {
        let warning = DataWarning::SharedRows { n_shared, n_rows: test.n_rows() };
        print_message(format!("warning: {}: {warning}", file.display()));
    }
}

/// Reads the table of the arguments, with the notes of the reader.
pub fn read_for_summary(
    args: &DataArgs,
    threads: Option<usize>,
    progress: &Progress,
) -> Result<(Table, Vec<ReadNote>), Failure> {
    Ok(read_noting(&args.file, &read_options(args), threads, progress)?)
}

/// The read options of the table. Columns that are not used for training are not read.
pub fn read_options(args: &DataArgs) -> ReadOptions {
    let mut options = args.columns.reading.apply(ReadOptions::default());
    options.types.extend(args.columns.types.iter().cloned());
    options.types.extend(args.id.iter().chain(&args.ignore).map(|name| (name.clone(), ColumnType::Ignored)));
    options
}

/// Reads a table, and prints the notes of the reader.
pub fn read(file: &Path, options: &ReadOptions, threads: Option<usize>, progress: &Progress) -> ermine::Result<Table> {
    let (table, notes) = read_noting(file, options, threads, progress)?;
    notes.iter().for_each(|note| print_message(format!("warning: {}: {}", file.display(), clean(&note.to_string()))));
    Ok(table)
}

/// Reads a table.
fn read_noting(
    file: &Path,
    options: &ReadOptions,
    threads: Option<usize>,
    progress: &Progress,
) -> ermine::Result<(Table, Vec<ReadNote>)> {
    let what = format!("reading {}", file.display());
    progress.stage(&what, threads, || Table::read_with_notes(file, options))
}

/// The roles of the columns; id columns and ignored columns are not read.
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

/// Each column may have one role.
pub fn check_roles(args: &DataArgs, init_score: &[String]) -> Result<(), Failure> {
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
