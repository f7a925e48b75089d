//! A journal of the trials of a search, in JSON lines, so that an interrupted search can be resumed.
//!
//! The first line identifies the search (learner, parameters, measure, splits, data); a journal of another search is an error or, on request, started over. An incomplete last line is
//! ignored. Only one search at a time can use a journal.

use super::search::{HyperparameterSearch, Trial};
use super::space::Setting;
use ermine_core::error::{Error, Result};
use ermine_core::matrix::{Dataset, Target};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Maximum size of a journal.
const MOST_BYTES: u64 = 1 << 30;

/// What identifies a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Subject {
    journal_of: String,
    parameters: String,
    measure: String,
    n_splits: usize,
    seed: u64,
    data: u32,
}

/// Completed trials, in memory and optionally in a file.
pub struct Journal {
    trials: Vec<Trial>,
    file: Option<(PathBuf, File)>,
}

impl Journal {
    /// A journal in memory only.
    pub fn none() -> Journal {
        Journal { trials: Vec::new(), file: None }
    }

    /// Opens the journal of a search, or starts it. The journal of another search is an error.
    pub fn open(path: &Path, search: &HyperparameterSearch<'_>, data: &Dataset, seed: u64) -> Result<Journal> {
        Journal::open_with(path, search, data, seed, false)
    }

    /// The same, but the journal of another search is started over.
    pub fn open_or_restart(
        path: &Path,
        search: &HyperparameterSearch<'_>,
        data: &Dataset,
        seed: u64,
    ) -> Result<Journal> {
        Journal::open_with(path, search, data, seed, true)
    }

    fn open_with(
        path: &Path,
        search: &HyperparameterSearch<'_>,
        data: &Dataset,
        seed: u64,
        restart: bool,
    ) -> Result<Journal> {
        let io = |e| Error::io(path, e);
        let subject = Subject::of(search, data, seed);
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(io)?;
        // Locked until the journal is closed. Where files can't be locked, concurrent use is not detected.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(Error::data(format!(
                "{}: another search is using this journal; wait for it, or choose another file",
                path.display()
            )));
        }
        if file.metadata().map_err(io)?.len() > MOST_BYTES {
            return Err(Error::data(format!("{}: is too large for a journal", path.display())));
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(io)?;
        // An incomplete last line was interrupted while it was written.
        let mut whole = text.rfind('\n').map_or(0, |end| end + 1);
        let trials = match read(&text[..whole], &subject) {
            Err(_) if restart && is_journal(&text[..whole]) => {
                whole = 0;
                Vec::new()
            }
            found => found.map_err(|why| Error::data(format!("{}: {why}", path.display())))?,
        };
        if whole < text.len() {
            file.set_len(whole as u64).map_err(io)?;
        }
        let mut journal = Journal { trials, file: Some((path.to_path_buf(), file)) };
        if whole == 0 {
            journal.write(&serde_json::to_string(&subject).unwrap_or_default())?;
        }
        Ok(journal)
    }

    /// Number of trials.
    pub fn len(&self) -> usize {
        self.trials.len()
    }

    /// Whether there are no trials.
    pub fn is_empty(&self) -> bool {
        self.trials.is_empty()
    }

    /// The trial of a setting on at most this many rows.
    pub(super) fn find(&self, setting: &Setting, rows: Option<usize>) -> Option<Trial> {
        self.trials.iter().find(|trial| trial.setting == *setting && trial.rows == rows).cloned()
    }

    /// Adds a trial.
    pub(super) fn add(&mut self, trial: &Trial) -> Result<()> {
        self.trials.push(trial.clone());
        self.write(&serde_json::to_string(trial).map_err(|e| Error::data(e.to_string()))?)
    }

    fn write(&mut self, line: &str) -> Result<()> {
        let Some((path, file)) = &mut self.file else { return Ok(()) };
        file.write_all(format!("{line}\n").as_bytes()).and_then(|()| file.flush()).map_err(|e| Error::io(path, e))
    }
}

/// Whether a text starts like a journal.
fn is_journal(text: &str) -> bool {
    text.lines().next().is_some_and(|first| serde_json::from_str::<Subject>(first).is_ok())
}

fn read(text: &str, subject: &Subject) -> std::result::Result<Vec<Trial>, String> {
    let mut lines = text.lines().enumerate();
    let Some((_, first)) = lines.next() else { return Ok(Vec::new()) };
    let found: Subject = serde_json::from_str(first).map_err(|_| "not the journal of a search".to_string())?;
    if found != *subject {
        return Err(
            "this is the journal of another search (different data, learner, parameters, measure, folds or seed); choose another file"
                .into(),
        );
    }
    let trial =
        |(i, line): (usize, &str)| serde_json::from_str(line).map_err(|e| format!("line {} can't be read: {e}", i + 1));
    lines.map(trial).collect()
}

impl Subject {
    fn of(search: &HyperparameterSearch<'_>, data: &Dataset, seed: u64) -> Subject {
        Subject {
            journal_of: search.learner.info().name.into(),
            parameters: format!("{:?}", search.learner.values()),
            measure: search.measure.as_str().into(),
            n_splits: search.splits.len(),
            seed,
            data: fingerprint(data),
        }
    }
}

/// A hash of the data.
pub fn fingerprint(data: &Dataset) -> u32 {
    let mut hash = crc32fast::Hasher::new();
    let mut numbers = |values: &[f64]| values.iter().for_each(|x| hash.update(&x.to_bits().to_le_bytes()));
    for j in 0..data.features().n_columns() {
        numbers(&data.features().numbers(j));
    }
    match data.target() {
        Target::Classes { codes, .. } => numbers(&codes.iter().map(|&c| f64::from(c)).collect::<Vec<_>>()),
        Target::Values { values, .. } => numbers(values),
    }
    data.weight().into_iter().for_each(&mut numbers);
    hash.finalize()
}
