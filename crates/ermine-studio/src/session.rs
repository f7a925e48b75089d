//! The session: the open table, comparisons and models. What must survive a restart is in the journal; tables are read again from their files.

use crate::compare_run::{CompareRun, RunSettings, RunStatus};
use crate::data_choice::{DataChoice, TableSource};
use crate::error::StudioError;
use crate::journal::{JournalRecord, SessionJournal};
use crate::overview::{TableOverview, TargetOverview};
use crate::trained::{ModelOrigin, ModelStatus, TrainedModel};
use crate::workspace::Workspace;
use ermine_core::error::Result;
use ermine_core::matrix::Dataset;
use ermine_core::table::Table;
use ermine_eval::evaluate::journal::fingerprint;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A table that was read.
pub struct OpenTable {
    /// Its file and types.
    pub source: TableSource,
    /// The table.
    pub table: Table,
    /// Decisions of the reader.
    pub notes: Vec<String>,
    /// The overview of its columns.
    pub overview: TableOverview,
}

/// Tables that are kept in memory: the current one, and one that a model of other data needs.
const N_TABLES: usize = 2;

/// What the session holds.
#[derive(Default)]
struct SessionContents {
    source: Option<TableSource>,
    choice: Option<DataChoice>,
    tables: Vec<Arc<OpenTable>>,
    datasets: Vec<(DataChoice, Arc<Dataset>)>,
    runs: Vec<Arc<CompareRun>>,
    models: Vec<Arc<TrainedModel>>,
    n_models: u32,
}

/// A session.
pub struct Session {
    /// Where files may be.
    pub workspace: Workspace,
    contents: Mutex<SessionContents>,
    journal: Mutex<SessionJournal>,
    /// Tables are read one at a time.
    reading: Mutex<()>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// Opens the session of a folder, with everything its journal has.
    pub fn open(workspace: Workspace) -> Result<Session> {
        let (journal, records) = SessionJournal::open(&workspace.session().join("journal.jsonl"))?;
        let mut contents = SessionContents::default();
        records.into_iter().for_each(|record| contents.apply(record));
        contents.models.iter().for_each(|model| model.recover(&models_folder(&workspace)));
        Ok(Session { workspace, contents: Mutex::new(contents), journal: Mutex::new(journal), reading: Mutex::new(()) })
    }

    /// Adds a record to the journal.
    pub fn record(&self, record: &JournalRecord) -> Result<()> {
        lock(&self.journal).add(record)
    }

    /// Where the files of the models are.
    pub fn models_folder(&self) -> std::path::PathBuf {
        models_folder(&self.workspace)
    }

    /// Reads a table, or takes it from memory. A file that can't be read leaves the session as it is.
    pub fn table(&self, source: &TableSource) -> std::result::Result<Arc<OpenTable>, StudioError> {
        let _reading = lock(&self.reading);
        if let Some(open) = lock(&self.contents).tables.iter().find(|open| open.source == *source) {
            return Ok(open.clone());
        }
        let path = self.workspace.existing(&source.path)?;
        let (table, notes) = Table::read_with_notes(&path, &source.read_options()?).map_err(|e| {
            // The path as the user gave it, not the one on this machine.
            let text = e.to_string().replace(&path.display().to_string(), &source.path);
            StudioError { message: text, ..StudioError::from(e) }
        })?;
        let overview = TableOverview::new(&table);
        let notes = notes.iter().map(ToString::to_string).collect();
        let open = Arc::new(OpenTable { source: source.clone(), table, notes, overview });
        let mut contents = lock(&self.contents);
        contents.tables.insert(0, open.clone());
        contents.tables.truncate(N_TABLES);
        Ok(open)
    }

    /// Opens a table: it becomes the current one.
    pub fn open_table(&self, source: TableSource) -> std::result::Result<Arc<OpenTable>, StudioError> {
        let path = self.workspace.existing(&source.path)?;
        let source = TableSource { path: self.workspace.shown(&path), ..source };
        // The file may have changed since it was last opened.
        let mut contents = lock(&self.contents);
        contents.tables.retain(|open| open.source != source);
        contents.datasets.retain(|(choice, _)| choice.source != source);
        drop(contents);
        let open = self.table(&source)?;
        self.record(&JournalRecord::Opened { source: source.clone() })?;
        lock(&self.contents).apply(JournalRecord::Opened { source });
        Ok(open)
    }

    /// The source of the current table.
    pub fn source(&self) -> Option<TableSource> {
        lock(&self.contents).source.clone()
    }

    /// The roles of the columns of the current table, if they were chosen.
    pub fn choice(&self) -> Option<DataChoice> {
        lock(&self.contents).choice.clone()
    }

    /// The current table, read again after a restart.
    pub fn current(&self) -> std::result::Result<Arc<OpenTable>, StudioError> {
        let source =
            self.source().ok_or_else(|| StudioError::conflict("no table is open; open one on the page Data"))?;
        self.table(&source)
    }

    /// Chooses the roles of the columns, and describes the target.
    pub fn choose(&self, choice: DataChoice) -> std::result::Result<TargetOverview, StudioError> {
        let overview = self.target_overview(&choice)?;
        self.record(&JournalRecord::Chosen { data: choice.clone() })?;
        lock(&self.contents).apply(JournalRecord::Chosen { data: choice });
        Ok(overview)
    }

    /// The target of a data set and how the columns relate to it.
    pub fn target_overview(&self, choice: &DataChoice) -> std::result::Result<TargetOverview, StudioError> {
        let open = self.table(&choice.source)?;
        Ok(TargetOverview::new(&*self.dataset(choice)?, &open.overview, choice.task.is_none()))
    }

    /// The data set of a choice.
    pub fn dataset(&self, choice: &DataChoice) -> std::result::Result<Arc<Dataset>, StudioError> {
        let open = self.table(&choice.source)?;
        if let Some((_, data)) = lock(&self.contents).datasets.iter().find(|(known, _)| known == choice) {
            return Ok(data.clone());
        }
        let data = Arc::new(choice.dataset(&open.table)?);
        let mut contents = lock(&self.contents);
        contents.datasets.insert(0, (choice.clone(), data.clone()));
        contents.datasets.truncate(N_TABLES);
        Ok(data)
    }

    /// All comparisons.
    pub fn runs(&self) -> Vec<Arc<CompareRun>> {
        lock(&self.contents).runs.clone()
    }

    /// A comparison by its number.
    pub fn run(&self, id: u32) -> std::result::Result<Arc<CompareRun>, StudioError> {
        let found = lock(&self.contents).runs.iter().find(|run| run.id == id).cloned();
        found.ok_or_else(|| StudioError::not_found(format!("there is no comparison {id}")))
    }

    /// A model by its number.
    pub fn model(&self, id: u32) -> std::result::Result<Arc<TrainedModel>, StudioError> {
        let found = lock(&self.contents).models.iter().find(|model| model.id == id).cloned();
        found.ok_or_else(|| StudioError::not_found(format!("there is no model {id}")))
    }

    /// Starts a comparison on the current data.
    pub fn start_run(self: &Arc<Session>, settings: RunSettings) -> std::result::Result<Arc<CompareRun>, StudioError> {
        let choice = self.choice().ok_or_else(|| StudioError::conflict("choose a target on the page Data first"))?;
        self.check_idle()?;
        let data = self.dataset(&choice)?;
        let id = lock(&self.contents).runs.iter().map(|run| run.id).max().unwrap_or(0) + 1;
        let fingerprint = fingerprint(&data);
        let record = JournalRecord::RunStarted { run: id, data: choice, settings, fingerprint };
        self.record(&record)?;
        lock(&self.contents).apply(record);
        let run = self.run(id)?;
        self.launch(&run, data);
        Ok(run)
    }

    /// Continues a comparison with the learners that have no entry yet.
    pub fn continue_run(self: &Arc<Session>, id: u32) -> std::result::Result<Arc<CompareRun>, StudioError> {
        let run = self.run(id)?;
        self.check_idle()?;
        let data = self.dataset(&run.data)?;
        if fingerprint(&data) != run.fingerprint {
            let message =
                format!("'{}' has changed since this comparison began; start a new one", run.data.source.path);
            return Err(StudioError::conflict(message));
        }
        self.record(&JournalRecord::RunContinued { run: id })?;
        self.launch(&run, data);
        Ok(run)
    }

    fn check_idle(&self) -> std::result::Result<(), StudioError> {
        match self.runs().iter().find(|run| run.status() == RunStatus::Running) {
            Some(run) => Err(StudioError::conflict(format!("comparison {} is running; stop it first", run.id))),
            None => Ok(()),
        }
    }

    fn launch(self: &Arc<Session>, run: &Arc<CompareRun>, data: Arc<Dataset>) {
        if !run.begin() {
            return;
        }
        let (session, run) = (self.clone(), run.clone());
        std::thread::spawn(move || {
            let on_entry = |entry: &crate::compare_run::EntryRecord| {
                // An entry that can't be written is still shown.
                let _ = session.record(&JournalRecord::Entry { run: run.id, entry: entry.clone() });
            };
            run.run(&data, &on_entry);
            let progress = run.progress();
            let record = JournalRecord::RunEnded {
                run: run.id,
                stopped: progress.status == RunStatus::Stopped,
                skipped: progress.skipped.clone(),
                failed: progress.failed.clone(),
            };
            drop(progress);
            let _ = session.record(&record);
            run.changed();
        });
    }

    /// Starts to train a model.
    pub fn start_model(
        self: &Arc<Session>,
        origin: ModelOrigin,
    ) -> std::result::Result<Arc<TrainedModel>, StudioError> {
        let data = self.dataset(&origin.data)?;
        let model = lock(&self.contents).n_models + 1;
        let record = JournalRecord::ModelStarted { model, origin };
        self.record(&record)?;
        lock(&self.contents).apply(record);
        let model = self.model(model)?;
        let (session, trained) = (self.clone(), model.clone());
        std::thread::spawn(move || {
            trained.train(&data, &session.models_folder());
        });
        Ok(model)
    }

    /// Deletes a model and its files.
    pub fn delete_model(&self, id: u32) -> std::result::Result<(), StudioError> {
        let model = self.model(id)?;
        if model.status() == ModelStatus::Training {
            return Err(StudioError::conflict("the model is being trained; wait until it is ready"));
        }
        self.record(&JournalRecord::ModelDeleted { model: id })?;
        lock(&self.contents).apply(JournalRecord::ModelDeleted { model: id });
        model.remove_files(&self.models_folder());
        Ok(())
    }

    /// The session in short, for every page.
    pub fn view(&self) -> Value {
        let contents = lock(&self.contents);
        let run = |run: &Arc<CompareRun>| json!({ "id": run.id, "status": run.status(), "data": run.data, "n_entries": run.progress().entries.len() });
        json!({
            "folder": self.workspace.root().display().to_string(),
            "source": contents.source,
            "choice": contents.choice,
            "runs": contents.runs.iter().map(run).collect::<Vec<_>>(),
            "models": contents.models.iter().map(|model| model.summary()).collect::<Vec<_>>(),
        })
    }
}

fn models_folder(workspace: &Workspace) -> std::path::PathBuf {
    workspace.session().join("models")
}

impl SessionContents {
    /// Takes over what a record of the journal states.
    fn apply(&mut self, record: JournalRecord) {
        match record {
            JournalRecord::Opened { source } => {
                // Other types of the same table keep the roles of its columns.
                let is_same = self.source.as_ref().is_some_and(|old| old.path == source.path);
                self.choice = self
                    .choice
                    .take()
                    .filter(|_| is_same)
                    .map(|choice| DataChoice { source: source.clone(), ..choice });
                self.source = Some(source);
            }
            JournalRecord::Chosen { data } => {
                self.source = Some(data.source.clone());
                self.choice = Some(data);
            }
            JournalRecord::RunStarted { run, data, settings, fingerprint } => {
                self.runs.push(Arc::new(CompareRun::new(run, data, settings, fingerprint)));
            }
            JournalRecord::Entry { run, entry } => self.with_run(run, |run| run.progress().entries.push(entry)),
            JournalRecord::RunEnded { run, stopped, skipped, failed } => self.with_run(run, |run| {
                let mut progress = run.progress();
                progress.status = match (&failed, stopped) {
                    (Some(_), _) => RunStatus::Failed,
                    (None, true) => RunStatus::Stopped,
                    (None, false) => RunStatus::Finished,
                };
                (progress.skipped, progress.failed) = (skipped, failed);
            }),
            JournalRecord::RunContinued { run } => {
                self.with_run(run, |run| run.progress().status = RunStatus::Interrupted);
            }
            JournalRecord::ModelStarted { model, origin } => {
                self.n_models = self.n_models.max(model);
                self.models.push(Arc::new(TrainedModel::new(model, origin)));
            }
            JournalRecord::ModelDeleted { model } => self.models.retain(|known| known.id != model),
        }
    }

    fn with_run(&self, id: u32, change: impl FnOnce(&CompareRun)) {
        if let Some(run) = self.runs.iter().find(|run| run.id == id) {
            change(run);
        }
    }
}
