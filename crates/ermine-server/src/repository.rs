//! The models that are served: read from files and directories, and read again when a file changes.
//!
//! | path | model | version |
//! |---|---|---|
//! | `income.ermine` | `income` | 1 |
//! | `income/3.ermine` | `income` | 3 |
//! | `income/3/model.ermine` | `income` | 3 |
//!
//! The highest version answers requests that name none. A request keeps the model that it began with, so a new file never changes an answer midway. A file that
//! can't be read leaves the model before it in place, and is reported.

use crate::config::LogLevel;
use crate::error::ApiError;
use crate::log::EventLog;
use crate::metrics::Metrics;
use crate::model::ServedModel;
use ermine_core::error::{Error, Result};
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::SystemTime;

/// A version: numbers in their order, then words.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Version {
    Word(String),
    Number(u64),
}

impl Version {
    fn parse(text: &str) -> Version {
        text.parse().map_or_else(|_| Version::Word(text.into()), Version::Number)
    }
}

/// Where a model is: name, version and file.
type ModelPlace = (String, String, PathBuf);

/// What changes when a file does.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fingerprint {
    modified: Option<SystemTime>,
    length: u64,
    inode: u64,
}

impl Fingerprint {
    fn of(facts: &Metadata) -> Fingerprint {
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(facts);
        #[cfg(not(unix))]
        let inode = 0;
        Fingerprint { modified: facts.modified().ok(), length: facts.len(), inode }
    }
}

/// All versions of a model.
type Versions = BTreeMap<Version, Arc<ServedModel>>;

/// The models that are served now.
#[derive(Default)]
struct Snapshot {
    models: HashMap<String, Versions>,
    /// What could not be read: file and message.
    failures: BTreeMap<PathBuf, String>,
}

/// What was found when files were read.
#[derive(Default)]
struct Files {
    seen: HashMap<PathBuf, Fingerprint>,
}

/// The models of a server.
pub struct Repository {
    roots: Vec<PathBuf>,
    snapshot: RwLock<Arc<Snapshot>>,
    files: Mutex<Files>,
    metrics: Arc<Metrics>,
    log: EventLog,
    /// Whether the server has started. Before, a file that can't be read is the error that ends it, and not logged.
    has_started: bool,
}

impl Repository {
    /// Reads all models. A file that can't be read is an error: later changes are not.
    pub fn open(roots: Vec<PathBuf>, metrics: Arc<Metrics>, log: EventLog) -> Result<Repository> {
        let snapshot = RwLock::default();
        let files = Mutex::default();
        let mut repository = Repository { roots, snapshot, files, metrics, log, has_started: false };
        for root in &repository.roots {
            std::fs::metadata(root).map_err(|e| Error::io(root, e))?;
        }
        repository.refresh();
        repository.has_started = true;
        let snapshot = repository.now();
        match snapshot.failures.iter().next() {
            Some((_, message)) => Err(Error::data(message.clone())),
            None => Ok(repository),
        }
    }

    fn now(&self) -> Arc<Snapshot> {
        self.snapshot.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A model, in its highest version or a certain one.
    pub fn model(&self, name: &str, version: Option<&str>) -> Result<Arc<ServedModel>, ApiError> {
        let snapshot = self.now();
        let Some(versions) = snapshot.models.get(name) else {
            let mut known: Vec<&str> = snapshot.models.keys().map(String::as_str).collect();
            known.sort_unstable();
            let message = match known.is_empty() {
                true => format!("no model named '{name}': the server has no models yet"),
                false => Error::unknown("model", name, known).to_string(),
            };
            return Err(ApiError::not_found("unknown_model", message));
        };
        let found = match version {
            None => versions.values().next_back(),
            Some(version) => versions.get(&Version::parse(version)),
        };
        found.cloned().ok_or_else(|| {
            let known: Vec<&str> = versions.values().map(|model| model.version.as_str()).collect();
            let message = format!(
                "model '{name}' has no version '{}' (there are: {})",
                version.unwrap_or_default(),
                known.join(", ")
            );
            ApiError::not_found("unknown_version", message)
        })
    }

    /// All versions of all models, by name and version.
    pub fn all(&self) -> Vec<Arc<ServedModel>> {
        let snapshot = self.now();
        let mut all: Vec<(&String, &Versions)> = snapshot.models.iter().collect();
        all.sort_unstable_by_key(|(name, _)| *name);
        all.into_iter().flat_map(|(_, versions)| versions.values().cloned()).collect()
    }

    /// The versions of a model, lowest first.
    pub fn versions(&self, name: &str) -> Vec<String> {
        let snapshot = self.now();
        let versions = snapshot.models.get(name).into_iter().flat_map(BTreeMap::values);
        versions.map(|model| model.version.clone()).collect()
    }

    /// Files that could not be read, and why.
    pub fn failures(&self) -> Vec<String> {
        self.now().failures.values().cloned().collect()
    }

    /// Whether a model is served.
    pub fn is_ready(&self) -> bool {
        !self.now().models.is_empty()
    }

    /// Looks at all files, and reads those that are new or changed.
    pub fn refresh(&self) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.now();
        let places = self.places();
        let mut next = Snapshot { models: HashMap::new(), failures: before.failures.clone() };
        let mut changed = false;
        for (name, version, path) in &places {
            let is_taken = |versions: &Versions| versions.contains_key(&Version::parse(version));
            if next.models.get(name).is_some_and(is_taken) {
                let message = format!("{}: model '{name}' has another file for version {version}", path.display());
                self.fail(name, version, path, message, &mut next.failures);
                continue;
            }
            let old = before.models.get(name).and_then(|versions| versions.get(&Version::parse(version)));
            let print = std::fs::metadata(path).map(|facts| Fingerprint::of(&facts));
            let is_new = print.as_ref().is_ok_and(|print| files.seen.get(path) != Some(print));
            let model = if is_new {
                changed = true;
                // The fingerprint from before the file is read: a change meanwhile is seen next time.
                files.seen.extend(print.ok().map(|print| (path.clone(), print)));
                self.load(name, version, path, &mut next.failures).or_else(|| old.cloned())
            } else {
                old.cloned()
            };
            if let Some(model) = model {
                next.models.entry(name.clone()).or_default().insert(Version::parse(version), model);
            }
        }
        let is_there = |path: &PathBuf| places.iter().any(|(_, _, place)| place == path);
        next.failures.retain(|path, _| is_there(path));
        files.seen.retain(|path, _| is_there(path));
        let count = |snapshot: &Snapshot| snapshot.models.values().map(BTreeMap::len).sum::<usize>();
        if !changed && count(&next) == count(&before) && next.failures == before.failures {
            return;
        }
        let served = next.models.values().flat_map(BTreeMap::values);
        self.metrics.serving(served.map(|model| (model.name.as_str(), model.version.as_str())));
        *self.snapshot.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(next);
    }

    fn load(
        &self,
        name: &str,
        version: &str,
        path: &Path,
        failures: &mut BTreeMap<PathBuf, String>,
    ) -> Option<Arc<ServedModel>> {
        match ermine::load(path) {
            Ok(model) => {
                failures.remove(path);
                self.metrics.loaded(name);
                let fields = json!({ "model": name, "version": version, "file": path.display().to_string() });
                self.log.write(LogLevel::Events, "model_loaded", fields);
                let metrics = self.metrics.of_model(name);
                Some(Arc::new(ServedModel::new(name.into(), version.into(), model, metrics)))
            }
            Err(error) => {
                self.fail(name, version, path, error.to_string(), failures);
                None
            }
        }
    }

    /// Reports a file that can't be served, once.
    fn fail(&self, name: &str, version: &str, path: &Path, message: String, failures: &mut BTreeMap<PathBuf, String>) {
        if failures.get(path) == Some(&message) {
            return;
        }
        self.metrics.load_failed(name);
        let fields = json!({ "model": name, "version": version, "error": message });
        if self.has_started {
            self.log.write(LogLevel::Events, "model_load_failed", fields);
        }
        failures.insert(path.to_path_buf(), message);
    }

    /// The files of all models. A file that was named itself stays, even while it isn't there.
    fn places(&self) -> Vec<ModelPlace> {
        let mut places = Vec::new();
        for root in &self.roots {
            if root.is_dir() {
                places.extend(in_directory(root));
            } else {
                places.push((stem(root), "1".to_string(), root.clone()));
            }
        }
        places
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn is_model_file(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "ermine") && path.is_file()
}

/// What is in a directory, in the order of the names; hidden files are passed over, such as those that are being written.
fn entries(directory: &Path) -> Vec<PathBuf> {
    let listed = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_hidden = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let mut all: Vec<PathBuf> = listed.filter(|path| !is_hidden(path)).collect();
    all.sort();
    all
}

fn in_directory(directory: &Path) -> Vec<ModelPlace> {
    let mut places = Vec::new();
    for path in entries(directory) {
        if is_model_file(&path) {
            places.push((stem(&path), "1".to_string(), path));
        } else if path.is_dir() {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            places.extend(entries(&path).into_iter().filter_map(|entry| version_in(&name, entry)));
        }
    }
    places
}

/// A version of a model: a file, or a directory with one file.
fn version_in(name: &str, entry: PathBuf) -> Option<ModelPlace> {
    if is_model_file(&entry) {
        return Some((name.to_string(), stem(&entry), entry));
    }
    let version = entry.file_name()?.to_string_lossy().into_owned();
    let file = entries(&entry).into_iter().find(|path| is_model_file(path))?;
    Some((name.to_string(), version, file))
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn versions_are_ordered_as_numbers() {
        let mut versions = ["10", "9", "canary", "2"].map(Version::parse);
        versions.sort();
        assert_eq!(versions, ["canary", "2", "9", "10"].map(Version::parse));
    }
}
