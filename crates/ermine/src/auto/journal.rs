//! A file with the finished candidates of a run, a line of JSON for each, so that a run that was killed continues where it was.
//!
//! The first line identifies the run (data, folds, seed); the journal of another run is refused. An incomplete last line is ignored. A candidate that is found in the journal is not
//! trained again in the folds: its out-of-fold predictions are there, with all their bits.

use ermine_core::error::{Error, Result};
use ermine_core::matrix::{Dataset, Splits};
use ermine_core::rng;
use ermine_eval::evaluate::journal::fingerprint;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// More than any run writes.
const MOST_BYTES: u64 = 1 << 32;

/// What is run: a journal is only good for the very same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RunSubject {
    auto_journal_of: String,
    n_rows: usize,
    n_splits: usize,
    splits: u64,
    seed: u64,
    data: u32,
}

/// A finished candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct FinishedCandidate {
    pub estimator: String,
    pub seconds: f64,
    /// Bytes of one of its models.
    pub size: usize,
    /// Seconds of prediction for each row.
    pub latency: f64,
    /// Its predictions for held-out rows.
    pub values: Vec<f64>,
}

/// The finished candidates of a run, in memory and, if there is a file, in it.
pub(super) struct AutoJournal {
    finished: Vec<FinishedCandidate>,
    file: Option<(PathBuf, File)>,
}

impl AutoJournal {
    /// Remembers nothing beyond the run.
    pub fn none() -> AutoJournal {
        AutoJournal { finished: Vec::new(), file: None }
    }

    /// Opens the journal of a run, or starts it.
    pub fn open(path: &Path, data: &Dataset, splits: &Splits, seed: u64) -> Result<AutoJournal> {
        let io = |e| Error::io(path, e);
        let subject = RunSubject::of(data, splits, seed);
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(io)?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(Error::data(format!(
                "{}: another run is using this journal; wait for it, or choose another file",
                path.display()
            )));
        }
        if file.metadata().map_err(io)?.len() > MOST_BYTES {
            return Err(Error::data(format!("{}: is too large for a journal", path.display())));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io)?;
        // What follows the last line end was cut off while it was written.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let in_file = |why: String| Error::data(format!("{}: {why}", path.display()));
        let finished = read(&bytes[..whole], &subject).map_err(in_file)?;
        if whole < bytes.len() {
            file.set_len(whole as u64).map_err(io)?;
        }
        let mut journal = AutoJournal { finished, file: Some((path.to_path_buf(), file)) };
        if whole == 0 {
            journal.write(&subject)?;
        }
        Ok(journal)
    }

    /// The candidate with this configuration, if its predictions have the right number.
    pub fn find(&self, estimator: &str, n_numbers: usize) -> Option<FinishedCandidate> {
        let fits = |f: &&FinishedCandidate| f.estimator == estimator && f.values.len() == n_numbers;
        self.finished.iter().find(fits).filter(|f| f.values.iter().all(|x| x.is_finite())).cloned()
    }

    /// Remembers a candidate.
    pub fn add(&mut self, finished: &FinishedCandidate) -> Result<()> {
        self.write(finished)
    }

    fn write(&mut self, line: &impl Serialize) -> Result<()> {
        let Some((path, file)) = &mut self.file else { return Ok(()) };
        let mut text = serde_json::to_string(line).map_err(|e| Error::data(e.to_string()))?;
        text.push('\n');
        file.write_all(text.as_bytes()).and_then(|()| file.flush()).map_err(|e| Error::io(path, e))
    }
}

fn read(bytes: &[u8], subject: &RunSubject) -> std::result::Result<Vec<FinishedCandidate>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "not the journal of a run of auto".to_string())?;
    let mut lines = text.lines().enumerate();
    let Some((_, first)) = lines.next() else { return Ok(Vec::new()) };
    let found: RunSubject = serde_json::from_str(first).map_err(|_| "not the journal of a run of auto".to_string())?;
    if found != *subject {
        return Err("this is the journal of another run (different data, folds or seed); choose another file".into());
    }
    let finished =
        |(i, line): (usize, &str)| serde_json::from_str(line).map_err(|e| format!("line {} can't be read: {e}", i + 1));
    lines.map(finished).collect()
}

impl RunSubject {
    fn of(data: &Dataset, splits: &Splits, seed: u64) -> RunSubject {
        let of_split = |state: u64, index: usize| {
            let (_, test) = splits.split(index);
            test.iter().fold(rng::place(state, index as u64), |state, &row| rng::place(state, u64::from(row)))
        };
        RunSubject {
            auto_journal_of: data.task().as_str().into(),
            n_rows: data.n_rows(),
            n_splits: splits.len(),
            splits: (0..splits.len()).fold(0, of_split),
            seed,
            data: fingerprint(data),
        }
    }
}
