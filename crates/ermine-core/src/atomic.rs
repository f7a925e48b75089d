//! Atomic file replacement: a file is replaced completely or not at all, by any number of threads and processes.
//!
//! The bytes are written to a partial file next to the destination, which is synced and renamed, so readers see either the old file or the new one. What makes this safe
//! with many writers and after a crash:
//!
//! - **Names are unique.** A partial file is created new under a name that nobody else uses (`.model.ermine.4f1c….ermine-part`), so that no writer ever
//!   touches the file of another. The last one to rename wins.
//! - **Mode and symbolic links are kept.** The new file has the permissions of the one it replaces; of a link, the file it points to is replaced. (A hard
//!   link keeps the old content, as with every replacement by renaming.)
//! - **Renaming lasts.** The directory is synced after the rename.
//! - **Leftovers are swept.** A writer holds a lock on its partial file, which the system releases when a process dies, however it dies. Before a process writes its first
//!   file into a directory, it removes the partial files there that nobody holds.
//!
//! A destination that isn't a regular file (a pipe, a device) is written to directly.

use crate::error::{Error, Result};
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// How the name of a partial file ends.
const ENDING: &str = ".ermine-part";

/// File systems allow 255 bytes; this is how many of them a partial file takes from the name of its destination.
const MOST_OF_NAME: usize = 200;
/// Maximum number of symbolic links to follow, as in Linux.
const MOST_LINKS: usize = 40;

/// Writes a file atomically.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_file(path, |mut file| file.write_all(bytes))
}

/// Replaces a file by what `write` writes. If `write` fails, the old file is unchanged.
pub fn replace_file(path: &Path, write: impl FnOnce(&File) -> io::Result<()>) -> Result<()> {
    let replace = || {
        let destination = follow_links(path)?;
        match fs::metadata(&destination) {
            Ok(found) if found.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
            Ok(found) if !found.is_file() => write(&OpenOptions::new().write(true).open(&destination)?),
            Ok(found) => rename_over(&destination, Some(found.permissions()), write),
            Err(_) => rename_over(&destination, None, write),
        }
    };
    replace().map_err(|e| Error::io(path, e))
}

fn rename_over(
    destination: &Path,
    permissions: Option<fs::Permissions>,
    write: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    let name = destination.file_name().ok_or_else(|| io::Error::other("is not the name of a file"))?;
    let directory = destination.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    sweep_once(directory);
    let partial = PartialFile::create(directory, name, permissions.as_ref())?;
    write(&partial.file)?;
    if let Some(permissions) = permissions {
        partial.file.set_permissions(permissions)?;
    }
    partial.file.sync_all()?;
    fs::rename(&partial.path, destination)?;
    // The file is complete either way; some file systems don't support syncing a directory.
    #[cfg(unix)]
    let _ = File::open(directory).and_then(|directory| directory.sync_all());
    Ok(())
}

/// The file that a path refers to, after following symbolic links. It need not exist.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            // A relative link is relative to its directory; an absolute one replaces the whole path.
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

/// A partial file, locked by its writer. Removed when dropped, unless it has been renamed.
struct PartialFile {
    path: PathBuf,
    file: File,
}

impl PartialFile {
    fn create(
        directory: &Path,
        name: &std::ffi::OsStr,
        permissions: Option<&fs::Permissions>,
    ) -> io::Result<PartialFile> {
        /// Maximum number of attempts: a name may be taken, or the file may be removed before it is locked.
        const TRIES: usize = 100;
        for _ in 0..TRIES {
            let path = directory.join(partial_name(name));
            let file = match create_new(&path, permissions) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                other => other?,
            };
            // Where files can't be locked, no process removes leftovers.
            let locked = file.lock();
            let partial = PartialFile { path, file };
            if locked.is_err() || partial.path.exists() {
                return Ok(partial);
            }
        }
        Err(io::Error::other("no partial file could be created beside it"))
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        // After a rename there is nothing to remove, and a failed cleanup is not worth an error.
        let _ = fs::remove_file(&self.path);
    }
}

/// Creates a new file with no more permissions than the file it will replace.
fn create_new(path: &Path, permissions: Option<&fs::Permissions>) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if let Some(permissions) = permissions {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        options.mode(permissions.mode() & 0o777);
    }
    #[cfg(not(unix))]
    let _ = permissions;
    options.open(path)
}

/// `.NAME.RANDOM.ermine-part`
fn partial_name(name: &std::ffi::OsStr) -> OsString {
    let text = name.to_string_lossy();
    let cut = (0..=MOST_OF_NAME.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    // Every `RandomState` of a process has its own random keys.
    let mut random = RandomState::new().build_hasher();
    random.write_u32(std::process::id());
    OsString::from(format!(".{}.{:016x}{ENDING}", &text[..cut], random.finish()))
}

/// Removes leftovers in a directory, the first time that this process writes to it.
fn sweep_once(directory: &Path) {
    static SWEPT: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);
    let directory = fs::canonicalize(directory).unwrap_or_else(|_| directory.to_path_buf());
    let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if swept.get_or_insert_default().insert(directory.clone()) {
        drop(swept);
        sweep(&directory);
    }
}

/// Removes the partial files in a directory whose writers are gone.
fn sweep(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    let is_partial = |name: &str| name.starts_with('.') && name.ends_with(ENDING);
    for entry in entries.flatten().filter(|entry| is_partial(&entry.file_name().to_string_lossy())) {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        // Opened for writing, since locking needs it on some systems. Files that can't be opened are left alone.
        let Some(file) = is_file.then(|| OpenOptions::new().append(true).open(entry.path()).ok()).flatten() else {
            continue;
        };
        if file.try_lock().is_ok() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An empty directory, removed when dropped.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("ermine-atomic-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Folder(path)
        }

        fn names(&self) -> Vec<String> {
            let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
            let mut names: Vec<String> = fs::read_dir(&self.0).unwrap().map(name).collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn concurrent_writers_do_not_interfere() {
        let folder = Folder::new("writers");
        let path = folder.0.join("m");
        let content = |writer: u8| vec![writer; 10_000 + usize::from(writer)];
        for _ in 0..20 {
            std::thread::scope(|scope| {
                for writer in 0..4 {
                    let path = &path;
                    scope.spawn(move || (0..5).for_each(|_| write_atomically(path, &content(writer)).unwrap()));
                }
                let seen = || fs::read(&path).map_or(true, |bytes| bytes == content(bytes[0]));
                (0..20).for_each(|_| assert!(seen(), "a reader saw a part of a file"));
            });
        }
        assert_eq!(folder.names(), ["m"]);
    }

    #[test]
    fn only_partial_files_of_dead_writers_are_removed() {
        let folder = Folder::new("sweep");
        let dead = folder.0.join(".m.0123456789abcdef.ermine-part");
        fs::write(&dead, "half").unwrap();
        fs::write(folder.0.join(".m.txt"), "someone else's").unwrap();
        let alive = PartialFile::create(&folder.0, "m".as_ref(), None).unwrap();
        write_atomically(&folder.0.join("other"), b"whole").unwrap();
        assert!(!dead.exists() && alive.path.exists());
        drop(alive);
        assert_eq!(folder.names(), [".m.txt", "other"]);
    }

    #[test]
    fn a_failed_write_keeps_the_old_file() {
        let folder = Folder::new("failed");
        let path = folder.0.join("m");
        write_atomically(&path, b"old").unwrap();
        let error =
            replace_file(&path, |mut file| file.write_all(b"ne").and(Err(io::Error::other("the disk is full"))));
        assert!(error.unwrap_err().to_string().contains("the disk is full"));
        assert_eq!((fs::read(&path).unwrap().as_slice(), folder.names()), (&b"old"[..], vec!["m".to_string()]));
        assert!(write_atomically(&folder.0, b"x").unwrap_err().to_string().contains("director"));
        assert!(write_atomically(Path::new(""), b"x").is_err() && write_atomically(Path::new(".."), b"x").is_err());
    }

    #[test]
    fn long_file_names_can_be_written() {
        let folder = Folder::new("long");
        let name = "ä".repeat(125);
        write_atomically(&folder.0.join(&name), b"x").unwrap();
        assert_eq!(folder.names(), [name]);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_are_preserved() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = Folder::new("links");
        let file = folder.0.join("file");
        write_atomically(&file, b"old").unwrap();
        symlink("file", folder.0.join("link")).unwrap();
        symlink("link", folder.0.join("link to a link")).unwrap();
        symlink("nowhere yet", folder.0.join("dangling")).unwrap();
        symlink("circle", folder.0.join("circle")).unwrap();
        for mode in [0o600, 0o640, 0o777] {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            write_atomically(&folder.0.join("link to a link"), &[mode as u8]).unwrap();
            assert_eq!(fs::read(&file).unwrap(), [mode as u8]);
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, mode);
        }
        write_atomically(&folder.0.join("dangling"), b"new").unwrap();
        assert_eq!(fs::read(folder.0.join("nowhere yet")).unwrap(), b"new");
        assert!(write_atomically(&folder.0.join("circle"), b"x").is_err());
        assert!(["link", "link to a link", "dangling"].iter().all(|link| folder.0.join(link).is_symlink()));
        assert_eq!(folder.names().len(), 6);
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_written_directly() {
        use std::os::unix::fs::FileTypeExt;
        write_atomically(Path::new("/dev/null"), b"gone").unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }
}
