//! Files of tests.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A file that is removed with the test.
pub struct Scratch(pub PathBuf);

impl Scratch {
    /// A file with these bytes, whose name has this ending.
    pub fn new(ending: &str, bytes: &[u8]) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("ermine-{}-{}.{ending}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, bytes).expect("the folder for temporary files can be written to");
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
