//! The folder that the studio may read and write: every path of a request is confined to it.

use crate::error::StudioError;
use serde::Serialize;
use std::path::{Component, Path, PathBuf};

/// The start folder, and the folder of the session.
#[derive(Debug, Clone)]
pub struct Workspace {
    root: PathBuf,
    session: PathBuf,
}

/// A file or folder that can be opened.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ListedFile {
    /// Its name.
    pub name: String,
    /// Its path, relative to the start folder.
    pub path: String,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Its size in bytes.
    pub n_bytes: u64,
}

/// Extensions of tables, without `.gz`.
const TABLES: [&str; 11] =
    ["csv", "tsv", "txt", "jsonl", "arff", "libsvm", "svmlight", "svm", "letor", "parquet", "pq"];

/// Whether the name of a file is that of a table.
pub fn is_table_name(name: &str) -> bool {
    let name = name.to_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.rsplit_once('.').is_some_and(|(stem, ending)| !stem.is_empty() && TABLES.contains(&ending))
}

impl Workspace {
    /// The workspace of a folder; `session` is created if it is missing.
    pub fn new(root: &Path, session: &Path) -> std::io::Result<Workspace> {
        std::fs::create_dir_all(session)?;
        Ok(Workspace { root: root.canonicalize()?, session: session.canonicalize()? })
    }

    /// The start folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of the session.
    pub fn session(&self) -> &Path {
        &self.session
    }

    /// Where uploaded files are.
    pub fn uploads(&self) -> PathBuf {
        self.session.join("uploads")
    }

    /// The file at a path, which must be inside the start folder (or an uploaded file), also after symbolic links are followed.
    pub fn existing(&self, path: &str) -> Result<PathBuf, StudioError> {
        let found = self.root.join(path).canonicalize().map_err(|e| {
            // What is outside is refused whether it exists or not.
            if self.leaves_root(path) { outside(path) } else { StudioError::not_found(format!("{path}: {e}")) }
        })?;
        if found.starts_with(&self.root) || found.starts_with(self.uploads()) { Ok(found) } else { Err(outside(path)) }
    }

    /// Where a new file may be written: its folder must exist inside the start folder.
    pub fn destination(&self, path: &str) -> Result<PathBuf, StudioError> {
        let joined = self.root.join(path);
        let (Some(folder), Some(name)) = (joined.parent(), joined.file_name()) else { return Err(outside(path)) };
        let folder = folder.canonicalize().map_err(|e| {
            if self.leaves_root(path) { outside(path) } else { StudioError::not_found(format!("{path}: {e}")) }
        })?;
        let place = folder.join(name);
        // A link in the folder may point elsewhere.
        let real = if place.is_symlink() { place.canonicalize()? } else { place.clone() };
        if real.starts_with(&self.root) && !real.starts_with(&self.session) { Ok(place) } else { Err(outside(path)) }
    }

    /// The path relative to the start folder, as the user sees it.
    pub fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }

    /// The tables and folders in a folder.
    pub fn list(&self, folder: &str) -> Result<Vec<ListedFile>, StudioError> {
        let folder = self.existing(if folder.is_empty() { "." } else { folder })?;
        let mut found = Vec::new();
        for entry in std::fs::read_dir(&folder)?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Ok(facts) = std::fs::metadata(entry.path()) else { continue };
            if name.starts_with('.') || !(facts.is_dir() || is_table_name(&name)) {
                continue;
            }
            let path = self.shown(&entry.path());
            found.push(ListedFile { name, path, is_folder: facts.is_dir(), n_bytes: facts.len() });
        }
        found.sort_by(|a, b| b.is_folder.cmp(&a.is_folder).then_with(|| a.name.cmp(&b.name)));
        found.truncate(500);
        Ok(found)
    }

    /// Whether a path leads out of the start folder by its components alone.
    fn leaves_root(&self, path: &str) -> bool {
        let path = Path::new(path);
        if path.is_absolute() {
            return !path.starts_with(&self.root);
        }
        let mut depth = 0i32;
        path.components().any(|component| {
            depth += match component {
                Component::ParentDir => -1,
                Component::Normal(_) => 1,
                _ => 0,
            };
            depth < 0
        })
    }
}

fn outside(path: &str) -> StudioError {
    let message = format!("'{path}' is outside the folder that the studio was started in");
    StudioError::forbidden("outside_folder", message)
}

/// A safe file name made from that of an uploaded file; an error unless it is that of a table.
pub fn upload_name(name: &str) -> Result<String, StudioError> {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let safe: String = last.chars().map(|c| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
    let safe = safe.trim_start_matches('.').chars().take(120).collect::<String>();
    if is_table_name(&safe) {
        return Ok(safe);
    }
    Err(StudioError::bad_request(format!(
        "'{name}' is not a table; expected one of .{} (text also .gz)",
        TABLES.join(", .")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_uploads_are_safe() {
        assert_eq!(upload_name("../../etc/x y.csv").unwrap(), "x_y.csv");
        assert_eq!(upload_name("C:\\data\\a.CSV.gz").unwrap(), "a.CSV.gz");
        for wrong in ["", ".csv", "passwd", "run.sh", "..", "a.gz"] {
            assert!(upload_name(wrong).is_err(), "{wrong}");
        }
    }
}
