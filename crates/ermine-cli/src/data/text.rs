//! The summary of a data set as text, with hints on how to change it.

use super::LoadedData;
use crate::args::quoted;
use crate::clean::clean;
use crate::terminal::{bold, count, counted, fact, listed, width, wrapped, yellow};
use ermine_core::matrix::Task;
use ermine_core::table::ColumnKind;
use ermine_eval::describe::data::FeatureSummary;
use ermine_eval::describe::{DataSummary, DataWarning};

/// Maximum number of names that are listed.
const LISTED: usize = 6;

impl LoadedData {
    /// The summary as text.
    pub fn text(&self) -> String {
        let summary = &self.summary;
        let rows = match summary.n_dropped {
            0 => counted(summary.n_rows, "row"),
            n => format!("{}, without {} whose target is missing", counted(summary.n_rows, "row"), count(n)),
        };
        let mut others: Vec<String> = self.weight.iter().map(|w| format!("weight {w}")).collect();
        let groups = if summary.task == Task::Ranking { "queries" } else { "groups" };
        others.extend(self.group.iter().map(|g| format!("{} {groups} by {g}", count(summary.n_groups.unwrap_or(0)))));
        if !self.init_score.is_empty() {
            others.push(format!("initial scores {}", listed(&self.init_score, LISTED)));
        }
        if !self.left_out.is_empty() {
            others.push(format!("ignored {}", listed(&self.left_out, LISTED)));
        }
        let mut text = format!("{}: {rows}\n", bold(&clean(&self.file.display().to_string())));
        let mut facts =
            vec![("target", target(summary)), ("features", kinds(&summary.features)), ("missing", missing(summary))];
        facts.extend((!others.is_empty()).then(|| ("others", others.join("; "))));
        facts.iter().for_each(|(name, known)| text += &fact(name, 11, known));
        self.reading.iter().for_each(|note| text += &yellow(&wrapped(&clean(&format!("warning: {note}")), 2, width())));
        summary.warnings.iter().for_each(|warning| text += &warning_text(warning));
        text
    }
}

/// A warning as a line of text, with what to do about it.
pub fn warning_text(warning: &DataWarning) -> String {
    let hint = match warning {
        DataWarning::RowIdentifier { column, .. } | DataWarning::EqualsTarget { column, .. } => {
            format!(" (leave it out with --ignore {})", quoted(column))
        }
        DataWarning::FewIntegers { .. } => " (for classes, use --task classification)".into(),
        DataWarning::RankingChosen => " (to predict the target itself, use --task regression)".into(),
        DataWarning::UnusedQueries { column } => format!(" (to rank, use --group {})", quoted(column)),
        _ => String::new(),
    };
    yellow(&wrapped(&clean(&format!("warning: {warning}{hint}")), 2, width()))
}

/// The target and the task; if the task was chosen, how to change it.
fn target(summary: &DataSummary) -> String {
    if summary.target.is_empty() {
        return "none (the learner is unsupervised)".into();
    }
    let values = match summary.range {
        Some((low, high)) => format!("a number from {low} to {high}"),
        None => {
            let classes: Vec<String> = summary.classes.iter().map(|c| format!("{}: {}", c.name, c.n_rows)).collect();
            let what = match (summary.task, classes.len()) {
                (Task::Multilabel, 1) => "label",
                (Task::Multilabel, _) => "labels",
                (_, 1) => "class",
                _ => "classes",
            };
            format!("{} {what} ({})", count(classes.len()), listed(&classes, LISTED))
        }
    };
    let other = match summary.task {
        Task::Classification if summary.classes.iter().all(|class| class.name.parse::<f64>().is_ok()) => {
            "; --task regression for numbers"
        }
        _ => "",
    };
    let hint = if summary.task_is_chosen { other } else { "" };
    format!("{}: {} of {values}{hint}", summary.target.join(", "), summary.task)
}

fn kinds(features: &[FeatureSummary]) -> String {
    let kinds = [ColumnKind::Numeric, ColumnKind::Nominal, ColumnKind::Ordinal, ColumnKind::Boolean];
    let n = |kind| features.iter().filter(|f| f.kind == kind).count();
    let parts: Vec<String> = kinds.into_iter().filter(|&k| n(k) > 0).map(|k| format!("{} {k}", count(n(k)))).collect();
    format!("{} ({})", count(features.len()), parts.join(", "))
}

fn missing(summary: &DataSummary) -> String {
    let mut with_missing: Vec<&FeatureSummary> = summary.features.iter().filter(|f| f.n_missing > 0).collect();
    with_missing.sort_by_key(|f| std::cmp::Reverse(f.n_missing));
    let total: usize = with_missing.iter().map(|f| f.n_missing).sum();
    let names: Vec<String> = with_missing.iter().map(|f| format!("{} {}", f.name, count(f.n_missing))).collect();
    match total {
        0 => "none".into(),
        n => format!("{} ({})", counted(n, "value"), listed(&names, LISTED)),
    }
}
