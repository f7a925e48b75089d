//! Summary of a data set: the target, the task, the features, and warnings.

use super::warning::{DataWarning, n_missing, warnings};
use ermine_core::matrix::{Dataset, Target, Task};
use ermine_core::table::{Column, ColumnKind};
use serde::Serialize;

/// Summary of a data set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DataSummary {
    /// How many rows.
    pub n_rows: usize,
    /// Rows dropped because their target is missing.
    pub n_dropped: usize,
    /// The target columns; empty if the learner uses none.
    pub target: Vec<String>,
    /// The task.
    pub task: Task,
    /// Whether the task was inferred from the target.
    pub task_is_chosen: bool,
    /// Classes or labels with their numbers of rows, most frequent first.
    pub classes: Vec<ClassCount>,
    /// The range of the target, if it is numeric.
    pub range: Option<(f64, f64)>,
    /// The number of groups.
    pub n_groups: Option<usize>,
    /// The features.
    pub features: Vec<FeatureSummary>,
    /// Potential problems.
    pub warnings: Vec<DataWarning>,
}

/// A class or label.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassCount {
    /// Its name.
    pub name: String,
    /// How many rows have it.
    pub n_rows: usize,
}

/// A feature column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeatureSummary {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: ColumnKind,
    /// How many values are missing.
    pub n_missing: usize,
    /// How many categories it has, if it holds categories.
    pub n_categories: Option<usize>,
}

impl DataSummary {
    /// Summarizes a data set. `n_read` rows were read; `task_is_chosen`: the task was inferred.
    pub fn new(data: &Dataset, n_read: usize, task_is_chosen: bool) -> DataSummary {
        let feature = |column: &Column| FeatureSummary {
            name: column.name.clone(),
            kind: column.kind,
            n_missing: n_missing(column, data.features().rows()),
            n_categories: column.levels().map(|levels| levels.len()),
        };
        let values = data.values().ok().filter(|_| data.task() != Task::Multilabel);
        DataSummary {
            n_rows: data.n_rows(),
            n_dropped: n_read.saturating_sub(data.n_rows()),
            target: data.target_names().to_vec(),
            task: data.task(),
            task_is_chosen,
            classes: classes(data),
            range: values.and_then(|(values, _)| range(values)),
            n_groups: data.group().map(|groups| groups.iter().max().map_or(0, |&last| last as usize + 1)),
            features: data.features().columns().iter().map(feature).collect(),
            warnings: warnings(data, task_is_chosen),
        }
    }
}

fn classes(data: &Dataset) -> Vec<ClassCount> {
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
    let class = |(name, n_rows): (&String, usize)| ClassCount { name: name.clone(), n_rows };
    let mut classes: Vec<ClassCount> = labels.iter().zip(counts).map(class).collect();
    classes.sort_by_key(|class| std::cmp::Reverse(class.n_rows));
    classes
}

fn range(values: &[f64]) -> Option<(f64, f64)> {
    let grow = |(low, high): (f64, f64), &x: &f64| (low.min(x), high.max(x));
    (!values.is_empty()).then(|| values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), grow))
}
