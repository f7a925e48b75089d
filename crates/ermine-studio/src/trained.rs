//! A model of the session: trained in a thread of its own, kept as files.
//!
//! Two models are trained. The one on 80% of the rows is evaluated on the other 20%, which it has not seen; the one on all rows is the model that is kept, explained and exported. A model is
//! ready when its page of facts is written, which is the last of its files.

use crate::data_choice::DataChoice;
use crate::error::StudioError;
use crate::understand::{regularization_path, understanding};
use ermine::registry;
use ermine_core::atomic::write_atomically;
use ermine_core::error::Result;
use ermine_core::learner::raw_columns::STANDARDIZE;
use ermine_core::learner::{Context, Learner, fit};
use ermine_core::matrix::{Dataset, Splits};
use ermine_core::model::Model;
use ermine_core::param::Value as ParamValue;
use ermine_core::progress::{Control, Event, Observer};
use ermine_eval::evaluate::space::Setting;
use ermine_eval::report::Report;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

/// The share of the rows that the evaluation holds out.
pub const HELD_OUT: f64 = 0.2;

/// What a model is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelOrigin {
    /// The data set.
    pub data: DataChoice,
    /// The learner.
    pub learner: String,
    /// Parameters that differ from the defaults.
    #[serde(default)]
    pub setting: Setting,
    /// Whether the columns are standardized.
    #[serde(default)]
    pub standardized: bool,
    /// Random seed.
    #[serde(default)]
    pub seed: u64,
}

impl ModelOrigin {
    /// The learner with its parameters.
    pub fn learner(&self) -> Result<Box<dyn Learner>> {
        let mut learner = registry::learner(&self.learner)?;
        if self.standardized {
            learner.set(STANDARDIZE, &ParamValue::Bool(true))?;
        }
        self.setting.iter().try_for_each(|(name, value)| learner.set(name, value))?;
        Ok(learner)
    }
}

/// How far a model is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelStatus {
    /// It is being trained.
    Training,
    /// It is ready.
    Ready,
    /// Training failed.
    Failed,
    /// The program ended before it was ready.
    Interrupted,
}

struct TrainingState {
    status: ModelStatus,
    message: String,
}

/// A model of the session.
pub struct TrainedModel {
    /// Its number.
    pub id: u32,
    /// What it is made of.
    pub origin: ModelOrigin,
    state: Mutex<TrainingState>,
    model: OnceLock<Arc<Model>>,
}

/// The files of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelFile {
    /// The model, trained on all rows.
    Model,
    /// The facts that its page shows.
    Facts,
    /// The report on held-out rows.
    Report,
    /// Its picture.
    Picture,
}

impl ModelFile {
    const ALL: [ModelFile; 4] = [ModelFile::Model, ModelFile::Facts, ModelFile::Report, ModelFile::Picture];

    fn ending(self) -> &'static str {
        match self {
            ModelFile::Model => "model.ermine",
            ModelFile::Facts => "facts.json",
            ModelFile::Report => "report.html",
            ModelFile::Picture => "picture.svg",
        }
    }
}

impl TrainedModel {
    /// A model that is not trained yet.
    pub fn new(id: u32, origin: ModelOrigin) -> TrainedModel {
        let state = TrainingState { status: ModelStatus::Training, message: "waiting".into() };
        TrainedModel { id, origin, state: Mutex::new(state), model: OnceLock::new() }
    }

    fn state(&self) -> MutexGuard<'_, TrainingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How far it is.
    pub fn status(&self) -> ModelStatus {
        self.state().status
    }

    /// The path of one of its files.
    pub fn file(&self, folder: &Path, which: ModelFile) -> PathBuf {
        folder.join(format!("{}-{}", self.id, which.ending()))
    }

    /// After a restart: ready if its last file was written.
    pub fn recover(&self, folder: &Path) {
        let is_ready = self.file(folder, ModelFile::Facts).is_file() && self.file(folder, ModelFile::Model).is_file();
        let mut state = self.state();
        state.status = if is_ready { ModelStatus::Ready } else { ModelStatus::Interrupted };
        state.message = if is_ready { String::new() } else { "the program ended before the model was ready".into() };
    }

    /// Trains, evaluates and writes the files.
    pub fn train(&self, data: &Dataset, folder: &Path) {
        let made = self.make(data, folder);
        let mut state = self.state();
        (state.status, state.message) = match made {
            Ok(()) => (ModelStatus::Ready, String::new()),
            Err(error) => (ModelStatus::Failed, error.to_string()),
        };
    }

    fn make(&self, data: &Dataset, folder: &Path) -> Result<()> {
        std::fs::create_dir_all(folder).map_err(|e| ermine_core::error::Error::io(folder, e))?;
        let learner = self.origin.learner()?;
        let observer = TrainingObserver(self);
        let seed = self.origin.seed;
        let context = Context { seed, observer: &observer, ..ermine::context() };
        let (train, test) = Splits::holdout(data, HELD_OUT, seed)?.split(0);
        let (train, test) = (data.select(&train)?, data.select(&test)?);
        self.tell("training on 80% of the rows");
        let evaluated = fit(&*learner, &train, &context)?;
        self.tell("evaluating on the other 20%");
        let report = Report::new(&evaluated, &test, seed, &observer)?;
        self.tell("training on all rows");
        let started = Instant::now();
        let model = fit(&*learner, data, &context)?;
        let seconds = started.elapsed().as_secs_f64();
        self.tell("explaining");
        let mut facts = understanding(&evaluated, &test, &model, data, &report)?;
        facts["path"] = regularization_path(&*learner, data, &context)?;
        facts["seconds"] = json!(seconds);
        let write = |which, bytes: &[u8]| write_atomically(&self.file(folder, which), bytes);
        write(ModelFile::Model, &model.to_loadable_bytes()?)?;
        write(ModelFile::Report, report.html().as_bytes())?;
        if let Some(picture) = model.svg() {
            write(ModelFile::Picture, picture.as_bytes())?;
        }
        write(ModelFile::Facts, facts.to_string().as_bytes())?;
        let _ = self.model.set(Arc::new(model));
        Ok(())
    }

    fn tell(&self, message: &str) {
        self.state().message = message.into();
    }

    /// The model; an error unless it is ready.
    pub fn model(&self, folder: &Path) -> std::result::Result<Arc<Model>, StudioError> {
        if self.status() != ModelStatus::Ready {
            return Err(StudioError::conflict(format!("model {} is not ready", self.id)));
        }
        if let Some(model) = self.model.get() {
            return Ok(model.clone());
        }
        let model = Arc::new(ermine::load(self.file(folder, ModelFile::Model))?);
        Ok(self.model.get_or_init(|| model).clone())
    }

    /// The facts that its page shows, as JSON.
    pub fn facts(&self, folder: &Path) -> std::result::Result<Value, StudioError> {
        let mut view = self.summary();
        if self.status() == ModelStatus::Ready {
            let bytes = std::fs::read(self.file(folder, ModelFile::Facts))?;
            view["facts"] = serde_json::from_slice(&bytes).map_err(|e| StudioError::conflict(e.to_string()))?;
            view["has_picture"] = json!(self.file(folder, ModelFile::Picture).is_file());
        }
        Ok(view)
    }

    /// The model in short.
    pub fn summary(&self) -> Value {
        let state = self.state();
        json!({ "id": self.id, "status": state.status, "message": state.message, "origin": self.origin })
    }

    /// Removes its files; those that can't be removed stay.
    pub fn remove_files(&self, folder: &Path) {
        for which in ModelFile::ALL {
            let _ = std::fs::remove_file(self.file(folder, which));
        }
    }
}

/// Shows what training does.
struct TrainingObserver<'a>(&'a TrainedModel);

impl Observer for TrainingObserver<'_> {
    fn event(&self, event: &Event<'_>) -> Control {
        if let Event::Step { done, .. } = event {
            let mut state = self.0.state();
            let stage = state.message.split(" (").next().unwrap_or_default().to_string();
            state.message = format!("{stage} ({done})");
        }
        Control::Continue
    }
}
