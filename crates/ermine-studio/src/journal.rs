//! The journal of a session: one JSON object per line, only ever appended, so that nothing is lost when the program is killed.
//!
//! A line that was interrupted while it was written is dropped at the next start. Only one program at a time can use a journal.

use crate::compare_run::{EntryRecord, RunSettings, SkippedRecord};
use crate::data_choice::{DataChoice, TableSource};
use crate::trained::ModelOrigin;
use ermine_core::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum JournalRecord {
    /// A table was opened.
    Opened {
        /// Which one, and the types of its columns.
        source: TableSource,
    },
    /// Target, task and other roles were chosen.
    Chosen {
        /// The data set.
        data: DataChoice,
    },
    /// A comparison began.
    RunStarted {
        /// Its number.
        run: u32,
        /// The data set.
        data: DataChoice,
        /// Its settings.
        settings: RunSettings,
        /// The hash of the data, so that a run is only continued on the same data.
        fingerprint: u32,
    },
    /// A learner was cross-validated.
    Entry {
        /// The comparison.
        run: u32,
        /// The entry of the leaderboard.
        entry: EntryRecord,
    },
    /// A comparison ended or was stopped.
    RunEnded {
        /// The comparison.
        run: u32,
        /// Whether it was stopped before its end.
        stopped: bool,
        /// Learners without an entry, and why.
        skipped: Vec<SkippedRecord>,
        /// Why it failed, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failed: Option<String>,
    },
    /// A comparison was continued.
    RunContinued {
        /// The comparison.
        run: u32,
    },
    /// The training of a model began.
    ModelStarted {
        /// Its number.
        model: u32,
        /// What it is made of.
        origin: ModelOrigin,
    },
    /// A model was deleted.
    ModelDeleted {
        /// Its number.
        model: u32,
    },
}

/// The journal file, locked as long as it is open.
pub struct SessionJournal {
    path: PathBuf,
    file: File,
}

impl SessionJournal {
    /// Opens the journal, or starts it, and reads what is in it.
    pub fn open(path: &Path) -> Result<(SessionJournal, Vec<JournalRecord>)> {
        let io = |e| Error::io(path, e);
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(io)?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(Error::data(format!(
                "{}: another studio uses this session; stop it, or choose another folder with --session",
                path.display()
            )));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io)?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        if whole < bytes.len() {
            file.set_len(whole as u64).map_err(io)?;
        }
        let lines = bytes[..whole].split(|&byte| byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty());
        let record = |(i, line): (usize, &[u8])| {
            serde_json::from_slice(line)
                .map_err(|e| Error::data(format!("{}: line {} can't be read: {e}", path.display(), i + 1)))
        };
        let records = lines.map(record).collect::<Result<_>>()?;
        Ok((SessionJournal { path: path.to_path_buf(), file }, records))
    }

    /// Appends a record.
    pub fn add(&mut self, record: &JournalRecord) -> Result<()> {
        let line = serde_json::to_string(record).map_err(|e| Error::data(e.to_string()))? + "\n";
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|e| Error::io(&self.path, e))
    }
}
