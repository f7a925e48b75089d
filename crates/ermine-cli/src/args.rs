//! Arguments that several subcommands share, and how their words are read.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, value_parser};
use ermine_core::matrix::{Dataset, Task};
use ermine_core::measure::{Measure, measures};
use ermine_core::table::ColumnType;
use ermine_eval::evaluate::cross_validation::FoldScore;
use ermine_eval::evaluate::{FEW_ROWS, Splits};
use std::path::PathBuf;
use std::time::Duration;

/// Which table, and what its columns are for.
#[derive(Args, Debug, Clone)]
pub struct DataArgs {
    /// The table: .csv, .tsv, .libsvm (each also .gz), .parquet, .arrow
    pub file: PathBuf,
    /// The column to learn: a name, or several separated by commas (or --target again) to learn several numbers or labels at once; if not given,
    /// the label of a .libsvm or .letor file
    #[arg(long, short, value_name = "COLUMN")]
    pub target: Vec<String>,
    /// What to learn, where the target doesn't say it
    #[arg(long, value_parser = task_parser())]
    pub task: Option<Task>,
    #[command(flatten)]
    pub columns: ColumnArgs,
    /// Columns that name a row: left out of learning
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub id: Vec<String>,
    /// Columns to leave out
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub ignore: Vec<String>,
}

/// What columns other than the target are for.
#[derive(Args, Debug, Clone, Default)]
pub struct ColumnArgs {
    /// How to read a column: numeric, nominal, boolean, ignored, ordinal, ordinal:low<middle<high
    #[arg(long = "type", value_name = "COLUMN=TYPE", value_parser = column_type, help_heading = "Columns")]
    pub types: Vec<(String, ColumnType)>,
    /// How much each row counts
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub weight: Option<String>,
    /// Rows that belong together: the query of each row in ranking, and for all tasks what is never cut by folds, e.g. the patient of each measurement
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub group: Option<String>,
    /// Leave out rows whose target is missing
    #[arg(long, help_heading = "Columns")]
    pub drop_missing_target: bool,
}

/// How the work is done and what is said about it.
#[derive(Args, Debug, Clone, Default)]
pub struct Manner {
    /// Threads to use, all cores if not given; the result is the same
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024), help_heading = "Output")]
    pub threads: Option<u16>,
    /// Say it in JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Say nothing but results and errors
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}

impl Manner {
    /// How many threads.
    pub fn threads(&self) -> Option<usize> {
        self.threads.map(usize::from)
    }

    /// Whether people read along.
    pub fn chatty(&self) -> bool {
        !self.json && !self.quiet
    }
}

/// How rows are cut into those to learn from and those to test on.
#[derive(Args, Debug, Clone)]
pub struct SplitArgs {
    /// How many parts the rows are cut into; each is predicted by models that learned from the others
    #[arg(long, value_name = "N", default_value_t = 5, allow_negative_numbers = true, help_heading = "Validation")]
    pub folds: usize,
    /// How many times the rows are dealt to folds anew
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, help_heading = "Validation")]
    pub repeats: usize,
    /// Leave out each row (or group of rows) by itself
    #[arg(long, conflicts_with_all = ["folds", "repeats"], help_heading = "Validation")]
    pub leave_one_out: bool,
    /// The rows stand in the order of time: learn from earlier ones, test on later ones
    #[arg(long, conflicts_with_all = ["repeats", "leave_one_out"], help_heading = "Validation")]
    pub time_ordered: bool,
    /// Test on this share of the rows, once, e.g. 0.2
    #[arg(long, value_name = "SHARE", conflicts_with_all = ["folds", "repeats", "leave_one_out", "time_ordered"], help_heading = "Validation")]
    pub holdout: Option<f64>,
    /// What decides which is better: accuracy, log-loss, roc-auc, rmse, mae, ndcg, ... (a wrong name lists all)
    #[arg(long, value_name = "MEASURE", value_parser = measure, help_heading = "Validation")]
    pub measure: Option<Measure>,
}

impl SplitArgs {
    /// The rows of this data, cut.
    pub fn splits(&self, data: &Dataset, seed: u64) -> ermine::Result<Splits> {
        match self.holdout {
            Some(share) => Splits::holdout(data, share, seed),
            None if self.leave_one_out => Splits::leave_one_out(data),
            None if self.time_ordered => Splits::time_ordered(data, self.folds),
            None => Splits::repeated(data, self.folds, self.repeats, seed),
        }
    }

    /// What this is called.
    pub fn title(&self) -> String {
        match self.holdout {
            Some(share) => format!("holdout of {}%", share * 100.0),
            None if self.leave_one_out => "leave-one-out cross-validation".into(),
            None if self.time_ordered => format!("{} time-ordered splits", self.folds),
            None if self.repeats > 1 => format!("{}-fold cross-validation, {} times", self.folds, self.repeats),
            None => format!("{}-fold cross-validation", self.folds),
        }
    }
}

/// What is said where some scores are of all tested rows together.
pub fn pooled_note(scores: &[FoldScore]) -> String {
    let names: Vec<&str> = scores.iter().filter(|score| score.pooled).map(|score| score.name).collect();
    if names.is_empty() {
        return String::new();
    }
    let areas = [Measure::RocAuc, Measure::AveragePrecision].map(Measure::title);
    // Of a learner that only knows how frequent classes are, each row lowers the score of its own class by being left out.
    let beware = match names.iter().any(|name| areas.contains(name)) {
        true => {
            "; areas under curves compare scores of different models then, and are too low for learners that know little"
        }
        false => "",
    };
    format!("; of all tested rows together, because some part has fewer than {FEW_ROWS}: {}{beware}", names.join(", "))
}

/// Reads the name of a measure; all names for a wrong one.
pub fn measure(word: &str) -> Result<Measure, String> {
    Measure::parse(word).map_err(|e| {
        let all: Vec<&str> = measures().map(|measure| measure.word()).collect();
        format!("{e}; there are: {}", all.join(", "))
    })
}

impl DataArgs {
    /// The words that give the same data again.
    pub fn words(&self) -> Vec<String> {
        let mut words = vec![self.file.display().to_string()];
        let mut add = |flag: &str, value: &str| words.extend([format!("--{flag}"), value.to_string()]);
        self.target.iter().for_each(|column| add("target", column));
        self.task.iter().for_each(|task| add("task", task.word()));
        self.columns.types.iter().for_each(|(column, t)| add("type", &format!("{column}={}", type_word(t))));
        self.columns.weight.iter().for_each(|column| add("weight", column));
        self.columns.group.iter().for_each(|column| add("group", column));
        self.id.iter().for_each(|column| add("id", column));
        self.ignore.iter().for_each(|column| add("ignore", column));
        if self.columns.drop_missing_target {
            words.push("--drop-missing-target".into());
        }
        words
    }
}

fn task_parser() -> impl TypedValueParser<Value = Task> {
    let value = |task: Task| match task {
        Task::Ranking => PossibleValue::new(task.word()).alias("rank"),
        _ => PossibleValue::new(task.word()),
    };
    PossibleValuesParser::new(Task::ALL.map(value))
        .map(|word| Task::ALL.into_iter().find(|task| task.word().starts_with(&word)).unwrap_or(Task::Classification))
}

fn column_type(text: &str) -> Result<(String, ColumnType), String> {
    let (column, word) = text.rsplit_once('=').ok_or("expected COLUMN=TYPE, for example age=numeric")?;
    let column_type = ColumnType::parse(word).map_err(|e| e.to_string())?;
    Ok((column.to_string(), column_type))
}

/// The word that [`ColumnType::parse`] reads as this type.
fn type_word(column_type: &ColumnType) -> String {
    match column_type {
        ColumnType::Ordinal(levels) if !levels.is_empty() => format!("ordinal:{}", levels.join("<")),
        ColumnType::Ignored => "ignored".into(),
        other => other.kind().map_or("ignored", |kind| kind.word()).into(),
    }
}

/// Reads a time: `90`, `90s`, `1.5m`, `1h30m`, `500ms`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("'{text}' is not a time: expected for example 90s, 5m or 1h30m");
    let (mut seconds, mut rest) = (0.0, text.trim());
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number: f64 = rest[..digits].parse().map_err(|_| wrong())?;
        rest = &rest[digits..];
        let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        seconds += number
            * match &rest[..letters] {
                "ms" => 1e-3,
                "" | "s" => 1.0,
                "m" | "min" => 60.0,
                "h" => 3600.0,
                _ => return Err(wrong()),
            };
        rest = &rest[letters..];
    }
    Duration::try_from_secs_f64(seconds).ok().filter(|d| !d.is_zero()).ok_or_else(wrong)
}

/// A word as a shell reads it back.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.into() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        let seconds = |text: &str| duration(text).map(|d| d.as_secs_f64());
        assert_eq!(seconds("90"), Ok(90.0));
        assert_eq!(seconds("90s"), Ok(90.0));
        assert_eq!(seconds("1h30m"), Ok(5400.0));
        assert_eq!(seconds("1.5m"), Ok(90.0));
        assert_eq!(seconds("500ms"), Ok(0.5));
        for wrong in ["", "s", "0", "-1s", "1x", "1..2s", "1e400h", "tomorrow"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn words_survive_the_shell() {
        assert_eq!(quoted("a.csv"), "a.csv");
        assert_eq!(quoted("my file.csv"), "'my file.csv'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("a<b"), "'a<b'");
        assert_eq!(quoted(""), "''");
    }
}
