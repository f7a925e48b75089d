//! Ctrl-C. Long work is asked to stop through its observer; work that doesn't ask in time is ended, but never in the middle of
//! writing a file.

use crate::failure::Failure;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

static STOPPED: AtomicBool = AtomicBool::new(false);
static WRITING: Mutex<()> = Mutex::new(());

/// How long work has to come to an end by itself. Work that reports progress does so many times in this time.
const GRACE: Duration = Duration::from_millis(1500);

/// Listens for Ctrl-C from now on.
pub fn install() {
    let stop = || {
        if STOPPED.swap(true, Ordering::SeqCst) {
            return;
        }
        std::thread::spawn(|| {
            std::thread::sleep(GRACE);
            let _nobody_writes = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
            Failure::Stopped.tell();
            std::process::exit(i32::from(Failure::Stopped.exit_code()));
        });
    };
    // Where no handler can be installed, Ctrl-C ends the program as it does any other.
    let _ = ctrlc::set_handler(stop);
}

/// Whether Ctrl-C was pressed.
pub fn stopped() -> bool {
    STOPPED.load(Ordering::SeqCst)
}

/// Writes what was done until Ctrl-C was pressed, which waits for it.
pub fn writing_at_the_end<T>(write: impl FnOnce() -> T) -> T {
    let _held = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    write()
}

/// Writes a file, which Ctrl-C waits for; or doesn't begin, if it was pressed before.
pub fn writing<T>(write: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let _held = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    if stopped() { Err(Failure::Stopped) } else { write() }
}
