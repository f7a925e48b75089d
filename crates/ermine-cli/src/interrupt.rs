//! Signals that end the program: Ctrl-C, SIGTERM, SIGHUP. Long work stops through its observer; work that does not check it in time is terminated, but never while a file is
//! written, and after [`on_exit`] has printed what is finished. The exit code is 128 plus the number of the signal, as in shells.
//!
//! A command may finish something short after Ctrl-C, such as the model of the best setting so far: [`acknowledge`]. The next Ctrl-C then ends it.

use crate::failure::Failure;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The first signal received; 0 for none.
static SIGNAL: AtomicU8 = AtomicU8::new(0);
/// Number of signals received, and number of signals acknowledged by a command.
static N_SIGNALS: AtomicUsize = AtomicUsize::new(0);
static N_ACKNOWLEDGED: AtomicUsize = AtomicUsize::new(0);
static WRITING: Mutex<()> = Mutex::new(());
static ON_EXIT: Mutex<Option<ExitAction>> = Mutex::new(None);

/// Prints finished results, and returns what they are.
type ExitAction = Box<dyn FnOnce() -> Option<&'static str> + Send>;

/// How long work has to stop by itself. Work that reports progress does so many times in this time.
const GRACE: Duration = Duration::from_millis(1500);

/// The number of the signal that Ctrl-C sends.
const SIGINT: u8 = 2;

/// Installs signal handlers. If that isn't possible, signals terminate the program as usual.
#[cfg(unix)]
pub fn install() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    // Signals that the parent process ignores stay ignored: SIGHUP under `nohup`, SIGINT in a background job of a shell script.
    let handled = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal));
    if let Ok(mut signals) = signal_hook::iterator::Signals::new(handled) {
        std::thread::spawn(move || signals.forever().for_each(|signal| stop(signal as u8)));
    }
}

#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    // SAFETY: all zeros is a valid `sigaction`; the call only writes the present one into it.
    unsafe {
        let mut present: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut present) == 0 && present.sa_sigaction == libc::SIG_IGN
    }
}

/// Installs a handler for Ctrl-C. If that isn't possible, Ctrl-C terminates the program as usual.
#[cfg(not(unix))]
pub fn install() {
    let _ = ctrlc::set_handler(|| stop(SIGINT));
}

fn stop(signal: u8) {
    let _ = SIGNAL.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst);
    if N_SIGNALS.fetch_add(1, Ordering::SeqCst) > N_ACKNOWLEDGED.load(Ordering::SeqCst) {
        return;
    }
    std::thread::spawn(|| {
        std::thread::sleep(GRACE);
        if !stopped() {
            return;
        }
        let _nobody_writes = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        let action = ON_EXIT.lock().unwrap_or_else(PoisonError::into_inner).take();
        let failure = action.and_then(|print| print()).map_or(Failure::Stopped, Failure::StoppedWith);
        failure.print();
        std::process::exit(i32::from(failure.exit_code()));
    });
}

/// Whether there is a signal that the command has not acknowledged.
pub fn stopped() -> bool {
    N_SIGNALS.load(Ordering::SeqCst) > N_ACKNOWLEDGED.load(Ordering::SeqCst)
}

/// Whether Ctrl-C was pressed, rather than the program being terminated by another one.
pub fn by_ctrl_c() -> bool {
    SIGNAL.load(Ordering::SeqCst) == SIGINT
}

/// Lets the command finish something after a signal; the next signal ends the program.
pub fn acknowledge() {
    N_ACKNOWLEDGED.store(N_SIGNALS.load(Ordering::SeqCst), Ordering::SeqCst);
}

/// What to print if work doesn't stop in time after a signal.
pub fn on_exit(print: impl FnOnce() -> Option<&'static str> + Send + 'static) {
    *ON_EXIT.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(print));
}

/// The exit code of a program that was stopped: 130 by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.
pub fn exit_code() -> u8 {
    match SIGNAL.load(Ordering::SeqCst) {
        0 => 128 + SIGINT,
        signal => 128 + signal,
    }
}

/// Writes finished work; signals wait until it is written.
pub fn writing_at_the_end<T>(write: impl FnOnce() -> T) -> T {
    let _held = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    write()
}

/// Writes a file, while signals wait; fails if a signal came before.
pub fn writing<T>(write: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let _held = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    if stopped() { Err(Failure::Stopped) } else { write() }
}
