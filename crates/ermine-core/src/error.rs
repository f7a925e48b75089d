//! The one error type. Each kind carries the place (file, line, column, parameter, value) and what was expected there,
//! so that a message can be acted on without reading code.

use crate::memory::bytes_text;
use std::fmt;
use std::path::{Path, PathBuf};

/// `Result` with Ermine's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, and where.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused to read or write a file.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A table file holds something that can't be read as a table.
    #[error("{location}: {message}")]
    Table {
        /// File, line and column, as far as known.
        location: TableLocation,
        /// What is there and what was expected.
        message: String,
    },
    /// A cell that is no number in a column of numbers, by its row: readers of text files turn it into [`Error::Table`] with its line.
    #[doc(hidden)]
    #[error("row {}, column '{column}': {message}", row + 1)]
    StrayCell {
        /// The row, from 0.
        row: usize,
        /// The column.
        column: String,
        /// What is there and what was expected.
        message: String,
    },
    /// A name (column, learner, parameter, class, ...) that isn't there.
    #[error("no {what} named '{name}'{}", hint(name, known))]
    Unknown {
        /// "column", "learner", "parameter", ...
        what: &'static str,
        /// The name that was asked for.
        name: String,
        /// The names that would have been understood.
        known: Vec<String>,
    },
    /// A parameter with a value that isn't allowed.
    #[error("{owner}: {name} = {} is not allowed: expected {allowed}", shortened(value))]
    Param {
        /// The learner (or command) that the parameter belongs to.
        owner: String,
        /// The parameter.
        name: String,
        /// The value given.
        value: String,
        /// The values allowed.
        allowed: String,
    },
    /// Data that can't be learned from or predicted on: shape, target, weights.
    #[error("{0}")]
    Data(String),
    /// Something a learner can't do.
    #[error("{learner} can't handle {need}")]
    Unsupported {
        /// The learner.
        learner: String,
        /// The task or kind of data.
        need: String,
    },
    /// A model file that is damaged, foreign, or of another format version.
    #[error("{}not a readable Ermine model: {message}", path.as_deref().map(|p| format!("{}: ", p.display())).unwrap_or_default())]
    ModelFile {
        /// The file, when the model came from one.
        path: Option<PathBuf>,
        /// What is wrong with it.
        message: String,
    },
    /// Something that needs more memory than the process may have, found out before it was allocated.
    #[error("{what} needs {}, but {} of the memory limit of {} are free; {advice}", bytes_text(*needed), bytes_text(limit.saturating_sub(*held)), bytes_text(*limit))]
    Memory {
        /// What needs it.
        what: String,
        /// How many bytes it needs.
        needed: u64,
        /// How many bytes the process holds already.
        held: u64,
        /// How many bytes it may have.
        limit: u64,
        /// What to do about it.
        advice: String,
    },
    /// A ranking task without query groups.
    #[error("ranking needs query groups: rows are only ranked within a query")]
    MissingGroups,
    /// Rows whose target is missing, which nobody asked to drop.
    #[error("the target '{target}' is missing in {n_missing} of {n_rows} rows (first: row {first})")]
    MissingTarget {
        /// The target.
        target: String,
        /// How many rows it is missing in.
        n_missing: usize,
        /// How many rows there are.
        n_rows: usize,
        /// The first of them, counted from 1.
        first: usize,
    },
    /// An observer asked for the work to stop.
    #[error("stopped on request")]
    Stopped,
}

/// A place in a table file. Lines and columns count from 1, the header is line 1.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableLocation {
    /// The file.
    pub path: Option<PathBuf>,
    /// The line.
    pub line: Option<u64>,
    /// The name of the column, or its number where it has no name.
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
    /// A message about the data as a whole.
    pub fn data(message: impl Into<String>) -> Self {
        Error::Data(message.into())
    }

    /// An operating-system error at `path`.
    pub fn io(path: impl AsRef<Path>, source: std::io::Error) -> Self {
        Error::Io { path: path.as_ref().to_path_buf(), source }
    }

    /// A damaged or foreign model file.
    pub fn model_file(message: impl Into<String>) -> Self {
        Error::ModelFile { path: None, message: message.into() }
    }

    /// A name that isn't among `known`.
    pub fn unknown<S: AsRef<str>>(
        what: &'static str,
        name: impl Into<String>,
        known: impl IntoIterator<Item = S>,
    ) -> Self {
        let known = known.into_iter().map(|k| k.as_ref().to_string()).collect();
        Error::Unknown { what, name: name.into(), known }
    }

    /// The same error with the file it happened in, where the kind has room for one and none is set yet.
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

/// The known name closest to `name`, if it is close enough to be a slip of the keyboard.
pub fn did_you_mean<'a, S: AsRef<str>>(name: &str, known: &'a [S]) -> Option<&'a str> {
    let folded = name.to_lowercase().replace('_', "-");
    known
        .iter()
        .map(|k| k.as_ref())
        .map(|k| (strsim::damerau_levenshtein(&folded, &k.to_lowercase().replace('_', "-")), k))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, k)| {
            let length = name.chars().count().max(k.chars().count());
            // One letter for another, or one number, is no slip.
            *distance == 0 || (*distance <= 1 + length / 4 && *distance < length && name.parse::<f64>().is_err())
        })
        .map(|(_, k)| k)
}

/// A long value by its beginning.
fn shortened(value: &str) -> String {
    const MOST: usize = 80;
    match value.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}... ({} characters)", &value[..end], value.chars().count()),
        None => value.to_string(),
    }
}

/// ": did you mean 'x'?" or the list of what there is.
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
    fn a_slip_of_the_keyboard_is_recognised_and_a_stranger_is_not() {
        let known = ["species", "island", "body_mass_g"];
        assert_eq!(did_you_mean("specis", &known), Some("species"));
        assert_eq!(did_you_mean("body-mass-g", &known), Some("body_mass_g"));
        assert_eq!(did_you_mean("Island", &known), Some("island"));
        assert_eq!(did_you_mean("weight", &known), None);
        assert_eq!(did_you_mean("7", &["0", "1"]), None, "another number is no slip");
        assert_eq!(did_you_mean("ab", &["xy", "aB"]), Some("aB"));
    }

    #[test]
    fn messages_name_the_place() {
        let e = Error::Table {
            location: TableLocation { path: None, line: Some(3), column: Some("age".into()) },
            message: "'old' is not a number".into(),
        };
        assert_eq!(e.in_file("a.csv").to_string(), "a.csv, line 3, column 'age': 'old' is not a number");
        let (owner, name, value, allowed) = ("a".into(), "b".into(), "0,".repeat(500), "less".into());
        let long = Error::Param { owner, name, value, allowed }.to_string();
        assert!(long.len() < 160 && long.contains("... (1000 characters) is not allowed: expected less"), "{long}");
        let e = Error::unknown("column", "agee", ["age", "income"]);
        assert_eq!(e.to_string(), "no column named 'agee': did you mean 'age'?");
    }
}
