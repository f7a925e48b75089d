//! Arguments that several subcommands share, and how they are parsed.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, value_parser};
use ermine_core::matrix::{Dataset, Task};
use ermine_core::measure::{Measure, measures};
use ermine_core::table::read::TextEncoding;
use ermine_core::table::{ColumnType, ReadOptions, StrayCells};
use ermine_eval::evaluate::cross_validation::FoldScore;
use ermine_eval::evaluate::{FEW_ROWS, Splits};
use std::path::PathBuf;
use std::time::Duration;

/// The table and the roles of its columns.
#[derive(Args, Debug, Clone)]
pub struct DataArgs {
    /// Table: .csv, .tsv, .jsonl, .arff, .libsvm, .letor (each also .gz), .parquet; - for CSV from standard input
    #[arg(value_parser = table_file)]
    pub file: PathBuf,
    /// Target column; repeat it, or separate names by commas, for several targets or labels [default: the label of a .libsvm or .letor file]
    #[arg(long, short, value_name = "COLUMN")]
    pub target: Vec<String>,
    /// Task [default: inferred from the target column]
    #[arg(long, value_parser = task_parser())]
    pub task: Option<Task>,
    #[command(flatten)]
    pub columns: ColumnArgs,
    /// Columns that identify rows, separated by commas, not used as features
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Columns")]
    pub id: Vec<String>,
    /// Columns to ignore, separated by commas
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Columns")]
    pub ignore: Vec<String>,
}

/// Format of text files.
#[derive(Args, Debug, Clone, Default)]
pub struct ReadArgs {
    /// Field delimiter of a CSV file, such as ';' or tab [default: detected]
    #[arg(long, value_name = "CHAR", value_parser = delimiter, help_heading = "Reading")]
    pub delimiter: Option<u8>,
    /// The file has no header line; columns are named c0, c1, ...
    #[arg(long, help_heading = "Reading")]
    pub no_header: bool,
    /// Decimal separator of numbers [default: detected]
    #[arg(long, value_name = "CHAR", value_parser = [".", ","], help_heading = "Reading")]
    pub decimal: Option<String>,
    /// Encoding of text files: utf-8, utf-16, latin-1 [default: utf-8]
    #[arg(long, value_name = "NAME", value_parser = encoding, help_heading = "Reading")]
    pub encoding: Option<TextEncoding>,
    /// Additional markers of missing values, separated by commas, such as -,unknown,-999
    #[arg(long, value_name = "VALUES", value_delimiter = ',', allow_hyphen_values = true, help_heading = "Reading")]
    pub na_values: Vec<String>,
    /// Fail on cells that don't match the type of their column, instead of reading them as missing
    #[arg(long, help_heading = "Reading")]
    pub strict: bool,
}

impl ReadArgs {
    /// The options of the reader.
    pub fn apply(&self, mut options: ReadOptions) -> ReadOptions {
        options.delimiter = self.delimiter.or(options.delimiter);
        options.header = !self.no_header;
        options.decimal_comma = self.decimal.as_deref() == Some(",");
        options.encoding = self.encoding.unwrap_or_default();
        options.missing.extend(self.na_values.iter().cloned());
        options.stray = if self.strict { StrayCells::Refused } else { StrayCells::Missing };
        options
    }

    /// The arguments that reproduce these options.
    fn to_arguments(&self) -> Vec<String> {
        let mut words = Vec::new();
        words.extend(self.delimiter.map(|byte| format!("--delimiter={}", char::from(byte))));
        words.extend(self.no_header.then(|| "--no-header".to_string()));
        words.extend(self.decimal.iter().map(|sign| format!("--decimal={sign}")));
        words.extend(self.encoding.map(|encoding| format!("--encoding={}", encoding.name())));
        if !self.na_values.is_empty() {
            words.push(format!("--na-values={}", self.na_values.join(",")));
        }
        words.extend(self.strict.then(|| "--strict".to_string()));
        words
    }
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text {
        "tab" | "\\t" => Ok(b'\t'),
        _ if text.len() == 1 => Ok(text.as_bytes()[0]),
        _ => Err("expected one character, or 'tab'".into()),
    }
}

fn encoding(text: &str) -> Result<TextEncoding, String> {
    TextEncoding::parse(text).map_err(|e| e.to_string())
}

/// A table file; `-` is standard input.
pub fn table_file(text: &str) -> Result<PathBuf, String> {
    Ok(PathBuf::from(if text == "-" { "/dev/stdin" } else { text }))
}

/// Roles of the columns other than the target.
#[derive(Args, Debug, Clone, Default)]
pub struct ColumnArgs {
    #[command(flatten)]
    pub reading: ReadArgs,
    /// Type of a column: numeric, nominal, boolean, date, ignored, ordinal, ordinal:low<middle<high
    #[arg(long = "type", value_name = "COLUMN=TYPE", value_parser = column_type, help_heading = "Columns")]
    pub types: Vec<(String, ColumnType)>,
    /// Column with sample weights
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub weight: Option<String>,
    /// Column with groups: the query of each row in ranking; for all tasks, folds never split a group (for example a patient)
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub group: Option<String>,
    /// Drop rows whose target is missing
    #[arg(long, help_heading = "Columns")]
    pub drop_missing_target: bool,
}

/// Number of threads, and the format of the output.
#[derive(Args, Debug, Clone, Default)]
pub struct OutputArgs {
    /// Number of threads [default: all cores]; the result doesn't depend on it
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024), help_heading = "Output")]
    pub threads: Option<u16>,
    /// Print the result as JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Print only results and errors
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}

impl OutputArgs {
    /// The number of threads; `None` for all cores.
    pub fn threads(&self) -> Option<usize> {
        self.threads.map(usize::from)
    }

    /// Whether to print text.
    pub fn is_verbose(&self) -> bool {
        !self.json && !self.quiet
    }
}

/// How rows are split into training and test sets.
#[derive(Args, Debug, Clone)]
pub struct SplitArgs {
    /// Number of cross-validation folds
    #[arg(long, value_name = "N", default_value_t = 5, allow_negative_numbers = true, help_heading = "Validation")]
    pub folds: usize,
    /// Number of times cross-validation is repeated with new folds
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, help_heading = "Validation")]
    pub repeats: usize,
    /// Leave-one-out (or leave-one-group-out) cross-validation
    #[arg(long, conflicts_with_all = ["folds", "repeats"], help_heading = "Validation")]
    pub leave_one_out: bool,
    /// The rows are in chronological order: train on earlier rows, test on later ones
    #[arg(long, conflicts_with_all = ["repeats", "leave_one_out"], help_heading = "Validation")]
    pub time_ordered: bool,
    /// Use one random split with this fraction of the rows as test set, for example 0.2
    #[arg(long, value_name = "FRACTION", conflicts_with_all = ["folds", "repeats", "leave_one_out", "time_ordered"], help_heading = "Validation")]
    pub holdout: Option<f64>,
    /// Main metric: accuracy, log-loss, roc-auc, rmse, mae, ndcg, ... (an unknown name lists all)
    #[arg(long, value_name = "METRIC", value_parser = measure, help_heading = "Validation")]
    pub measure: Option<Measure>,
}

impl SplitArgs {
    /// The splits of this data.
    pub fn splits(&self, data: &Dataset, seed: u64) -> ermine::Result<Splits> {
        match self.holdout {
            Some(share) => Splits::holdout(data, share, seed),
            None if self.leave_one_out => Splits::leave_one_out(data),
            None if self.time_ordered => Splits::time_ordered(data, self.folds),
            None => Splits::repeated(data, self.folds, self.repeats, seed),
        }
    }

    /// The name of the procedure.
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

/// A note on scores that are computed over all test rows together.
pub fn pooled_note(scores: &[FoldScore]) -> String {
    let names: Vec<&str> = scores.iter().filter(|score| score.pooled).map(|score| score.name).collect();
    if names.is_empty() {
        return String::new();
    }
    let areas = [Measure::RocAuc, Measure::AveragePrecision].map(Measure::title);
    // For a learner that only knows the class frequencies, leaving a row out lowers the score of its own class.
    let beware = match names.iter().any(|name| areas.contains(name)) {
        true => "; areas under curves then compare scores of different models, and are too low for weak learners",
        false => "",
    };
    format!(
        "; computed over all test rows together, because some folds have fewer than {FEW_ROWS} rows: {}{beware}",
        names.join(", ")
    )
}

/// Parses the name of a metric; the error lists all names.
pub fn measure(word: &str) -> Result<Measure, String> {
    Measure::parse(word).map_err(|e| {
        let all: Vec<&str> = measures().map(|measure| measure.as_str()).collect();
        format!("{e}; the metrics are: {}", all.join(", "))
    })
}

impl DataArgs {
    /// The arguments that reproduce this data set.
    pub fn to_arguments(&self) -> Vec<String> {
        let mut words = vec![self.file.display().to_string()];
        let mut add = |flag: &str, value: &str| words.extend([format!("--{flag}"), value.to_string()]);
        self.target.iter().for_each(|column| add("target", column));
        self.task.iter().for_each(|task| add("task", task.as_str()));
        self.columns.types.iter().for_each(|(column, t)| add("type", &format!("{column}={}", type_name(t))));
        self.columns.weight.iter().for_each(|column| add("weight", column));
        self.columns.group.iter().for_each(|column| add("group", column));
        self.id.iter().for_each(|column| add("id", column));
        self.ignore.iter().for_each(|column| add("ignore", column));
        if self.columns.drop_missing_target {
            words.push("--drop-missing-target".into());
        }
        words.extend(self.columns.reading.to_arguments());
        words
    }
}

fn task_parser() -> impl TypedValueParser<Value = Task> {
    let value = |task: Task| match task {
        Task::Ranking => PossibleValue::new(task.as_str()).alias("rank"),
        _ => PossibleValue::new(task.as_str()),
    };
    PossibleValuesParser::new(Task::ALL.map(value))
        .map(|word| Task::ALL.into_iter().find(|task| task.as_str().starts_with(&word)).unwrap_or(Task::Classification))
}

fn column_type(text: &str) -> Result<(String, ColumnType), String> {
    let (column, word) = text.rsplit_once('=').ok_or("expected COLUMN=TYPE, for example age=numeric")?;
    let column_type = ColumnType::parse(word).map_err(|e| e.to_string())?;
    Ok((column.to_string(), column_type))
}

/// The name that [`ColumnType::parse`] parses as this type.
fn type_name(column_type: &ColumnType) -> String {
    match column_type {
        ColumnType::Ordinal(levels) if !levels.is_empty() => format!("ordinal:{}", levels.join("<")),
        ColumnType::Ignored => "ignored".into(),
        ColumnType::Date => "date".into(),
        other => other.kind().map_or("ignored", |kind| kind.as_str()).into(),
    }
}

/// Parses a duration: `90`, `90s`, `1.5m`, `1h30m`, `500ms`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("'{text}' is not a duration: expected for example 90s, 5m or 1h30m");
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

/// An argument quoted for the shell.
pub fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./=:,+@%".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument.into()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_parsed() {
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
    fn arguments_are_quoted_for_the_shell() {
        assert_eq!(quoted("a.csv"), "a.csv");
        assert_eq!(quoted("my file.csv"), "'my file.csv'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("a<b"), "'a<b'");
        assert_eq!(quoted(""), "''");
    }
}
