//! The error type. Each variant contains the location (file, line, column, parameter, value) and what was expected, so that users can act on the message.

use crate::memory::bytes_text;
use std::fmt;
use std::path::{Path, PathBuf};

/// `Result` with Ermine's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading or writing a file failed.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A file cannot be read as a table.
    #[error("{location}: {message}")]
    Table {
        /// File, line and column, as far as they are known.
        location: TableLocation,
        /// What was found and what was expected.
        message: String,
    },
    /// A non-numeric cell in a numeric column. Readers of text files convert it to [`Error::Table`] with the line.
    #[doc(hidden)]
    #[error("row {}, column '{column}': {message}", row + 1)]
    StrayCell {
        /// Row index, from 0.
        row: usize,
        /// The column.
        column: String,
        /// What was found and what was expected.
        message: String,
    },
    /// An unknown name (of a column, learner, parameter, class, ...).
    #[error("no {what} named '{name}'{}", hint(name, known))]
    Unknown {
        /// "column", "learner", "parameter", ...
        what: &'static str,
        /// The unknown name.
        name: String,
        /// The known names.
        known: Vec<String>,
    },
    /// A parameter value that is not allowed.
    #[error("{owner}: {name} must be {allowed} (got {})", shortened(value))]
    Param {
        /// The learner or command that has the parameter.
        owner: String,
        /// The parameter.
        name: String,
        /// The given value.
        value: String,
        /// The allowed values.
        allowed: String,
    },
    /// Data that cannot be used for training or prediction.
    #[error("{0}")]
    Data(String),
    /// A row that cannot be used. Messages count rows from 1, as in a file; the Python package counts them from 0.
    #[error("row {}: {message}", row + 1)]
    Row {
        /// Row index, from 0.
        row: usize,
        /// What was found and what was expected.
        message: String,
    },
    /// A capability that a learner does not have.
    #[error("{learner} does not support {need}")]
    Unsupported {
        /// The learner.
        learner: String,
        /// The missing capability.
        need: String,
    },
    /// A damaged or foreign model file, or one of another format version.
    #[error("{}not a readable Ermine model: {message}", path.as_deref().map(|p| format!("{}: ", p.display())).unwrap_or_default())]
    ModelFile {
        /// The file, if the model was read from a file.
        path: Option<PathBuf>,
        /// What is wrong.
        message: String,
    },
    /// An operation that would exceed the memory limit, found before allocating.
    #[error("{what} needs {}, but {} of the memory limit of {} are free; {advice}", bytes_text(*needed), bytes_text(limit.saturating_sub(*held)), bytes_text(*limit))]
    Memory {
        /// The operation.
        what: String,
        /// Number of bytes needed.
        needed: u64,
        /// Number of bytes that the process already uses.
        held: u64,
        /// The limit in bytes.
        limit: u64,
        /// What to do.
        advice: String,
    },
    /// A ranking task without query groups.
    #[error("ranking needs query groups: rows are only ranked within a query")]
    MissingGroups,
    /// Rows with a missing target.
    #[error("the target '{target}' is missing in {n_missing} of {n_rows} rows (first: row {first})")]
    MissingTarget {
        /// The target.
        target: String,
        /// Number of rows with a missing target.
        n_missing: usize,
        /// Number of rows.
        n_rows: usize,
        /// The first such row, from 1.
        first: usize,
    },
    /// An observer requested a stop.
    #[error("stopped on request")]
    Stopped,
}

/// A location in a table file. Lines and columns are counted from 1; the header is line 1.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableLocation {
    /// The file.
    pub path: Option<PathBuf>,
    /// The line.
    pub line: Option<u64>,
    /// The name of the column, or its number if it has no name.
    pub column: Option<String>,
}

impl fmt::Display for TableLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.path.as_deref().map(|p| p.display().to_string()));
        parts.extend(self.line.map(|line| format!("line {line}")));
        parts.extend(self.column.as_deref().map(|c| format!("column '{c}'")));
        f.write_str(if parts.is_empty() { "table".to_string() } else { parts.join(", ") }.as_str())
    }
}

impl Error {
    /// An error about the data as a whole.
    pub fn data(message: impl Into<String>) -> Self {
        Error::Data(message.into())
    }

    /// An error about one row, counted from 0.
    pub fn row(row: usize, message: impl Into<String>) -> Self {
        Error::Row { row, message: message.into() }
    }

    /// An operating-system error at `path`.
    pub fn io(path: impl AsRef<Path>, source: std::io::Error) -> Self {
        Error::Io { path: path.as_ref().to_path_buf(), source }
    }

    /// A damaged or foreign model file.
    pub fn model_file(message: impl Into<String>) -> Self {
        Error::ModelFile { path: None, message: message.into() }
    }

    /// An unknown name, given the known ones.
    pub fn unknown<S: AsRef<str>>(
        what: &'static str,
        name: impl Into<String>,
        known: impl IntoIterator<Item = S>,
    ) -> Self {
        let known = known.into_iter().map(|k| k.as_ref().to_string()).collect();
        Error::Unknown { what, name: name.into(), known }
    }

    /// Adds the file to an error that has none yet.
    pub fn in_file(self, file: impl AsRef<Path>) -> Self {
        let file = Some(file.as_ref().to_path_buf());
        match self {
            Error::ModelFile { path: None, message } => Error::ModelFile { path: file, message },
            Error::Table { location, message } if location.path.is_none() => {
                Error::Table { location: TableLocation { path: file, ..location }, message }
            }
            other => other,
        }
    }
}

/// The known name most similar to `name`, if it is similar enough to be a typo.
pub fn did_you_mean<'a, S: AsRef<str>>(name: &str, known: &'a [S]) -> Option<&'a str> {
    let folded = name.to_lowercase().replace('_', "-");
    known
        .iter()
        .map(|k| k.as_ref())
        .map(|k| (strsim::damerau_levenshtein(&folded, &k.to_lowercase().replace('_', "-")), k))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, k)| {
            let length = name.chars().count().max(k.chars().count());
            // A different number or single letter is not a typo.
            *distance == 0 || (*distance <= 1 + length / 4 && *distance < length && name.parse::<f64>().is_err())
        })
        .map(|(_, k)| k)
}

/// Shortens a long value.
fn shortened(value: &str) -> String {
    const MOST: usize = 80;
    match value.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}... ({} characters)", &value[..end], value.chars().count()),
        None => value.to_string(),
    }
}

/// ": did you mean 'x'?", or the list of known names.
fn hint(name: &str, known: &[String]) -> String {
    const LISTED: usize = 12;
    if let Some(close) = did_you_mean(name, known) {
        return format!(": did you mean '{close}'?");
    }
    match known.len() {
        0 => String::new(),
        n if n <= LISTED => format!(" (there are: {})", known.join(", ")),
        n => format!(" (there are {n}: {}, ...)", known[..LISTED].join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typos_get_a_suggestion() {
        let known = ["species", "island", "body_mass_g"];
        assert_eq!(did_you_mean("specis", &known), Some("species"));
        assert_eq!(did_you_mean("body-mass-g", &known), Some("body_mass_g"));
        assert_eq!(did_you_mean("Island", &known), Some("island"));
        assert_eq!(did_you_mean("weight", &known), None);
        assert_eq!(did_you_mean("7", &["0", "1"]), None, "a different number is not a typo");
        assert_eq!(did_you_mean("ab", &["xy", "aB"]), Some("aB"));
    }

    #[test]
    fn messages_contain_the_location() {
        let e = Error::Table {
            location: TableLocation { path: None, line: Some(3), column: Some("age".into()) },
            message: "'old' is not a number".into(),
        };
        assert_eq!(e.in_file("a.csv").to_string(), "a.csv, line 3, column 'age': 'old' is not a number");
        let (owner, name, value, allowed) = ("a".into(), "b".into(), "0,".repeat(500), "less".into());
        let long = Error::Param { owner, name, value, allowed }.to_string();
        assert!(
            long.len() < 160 && long.contains("b must be less (got 0,0,") && long.ends_with("... (1000 characters))"),
            "{long}"
        );
        let e = Error::unknown("column", "agee", ["age", "income"]);
        assert_eq!(e.to_string(), "no column named 'agee': did you mean 'age'?");
    }
}
