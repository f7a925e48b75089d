//! Output files: checked before the work, written completely or not at all.

use crate::failure::Failure;
use crate::interrupt::{writing, writing_at_the_end};
use ermine_core::atomic::write_atomically;
use std::path::Path;

/// An error if the output can't be written or is an input; checked before any work.
pub fn check_output(output: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    let shown = output.display();
    let fail = |why: &str| Err(Failure::Work(format!("{shown}: {why}")));
    if output.is_dir() {
        return fail("is a directory; name a file in it");
    }
    if output.exists() && !output.is_file() {
        return fail("not a regular file, and would be replaced by one");
    }
    let parent = output.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if output.file_name().is_none() || !parent.is_dir() {
        return fail("the directory does not exist");
    }
    let Ok(same) = output.canonicalize() else { return Ok(()) };
    if inputs.iter().any(|input| input.canonicalize().is_ok_and(|input| input == same)) {
        return Err(Failure::Usage(format!("{shown} is an input of this command and would be overwritten")));
    }
    Ok(())
}

/// Writes a file completely or not at all.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    writing(|| write_atomically(path, bytes).map_err(Failure::from))
}

/// The same for results that are also written after Ctrl-C.
pub fn write_at_the_end(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    writing_at_the_end(|| write_atomically(path, bytes).map_err(Failure::from))
}
