//! Runs the fuzz targets on mutated seeds for a set time, on all cores, and reports how often: `soak [SECONDS] [TARGET ...]`.
//!
//! Bytes that end a target in a panic are written to `fuzz/artifacts/`, and the program ends with an error. Before every run the bytes are noted in a file of the thread, so that an
//! abort leaves them behind as well. Each run draws new cases; `SOAK_SEED` repeats one.

use ermine_core::rng::{below, stream};
use ermine_fuzz::mutate::mutate;
use ermine_fuzz::seeds;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A target: its name, and what it does with some bytes.
type Target = (&'static str, fn(&[u8]));

const TARGETS: [Target; 5] = [
    ("model_file", ermine_fuzz::model_file),
    ("table", ermine_fuzz::table),
    ("columnar", ermine_fuzz::columnar),
    ("import", ermine_fuzz::import),
    ("index", ermine_fuzz::index),
];

/// What a target did.
#[derive(Default)]
struct Tally {
    executions: AtomicU64,
    crashes: AtomicU64,
    slowest: AtomicU64,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let seconds = words.first().and_then(|word| word.parse().ok()).unwrap_or(60);
    let chosen = |name: &str| words.len() < 2 || words[1..].iter().any(|word| word == name);
    let targets: Vec<_> = TARGETS.into_iter().filter(|(name, _)| chosen(name)).collect();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |t| t.as_secs());
    let seed = std::env::var("SOAK_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(now);
    let time = Duration::from_secs(seconds) / targets.len().max(1) as u32;
    // Panics are counted, not told one by one.
    std::panic::set_hook(Box::new(|_| {}));
    let mut total = 0;
    let mut failed = false;
    for (name, target) in targets {
        let tally = soak(name, target, time, seed);
        let (runs, crashes) = (tally.executions.into_inner(), tally.crashes.into_inner());
        let slowest = tally.slowest.into_inner();
        tell(&format!("{name:<12} {runs:>12} executions, {crashes} crashes, slowest {slowest} ms"));
        total += runs;
        failed |= crashes > 0 || runs == 0;
    }
    tell(&format!("{:<12} {total:>12} executions, seed {seed}", "all"));
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn tell(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

fn artifacts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts")
}

/// Runs a target on all cores until the time is over.
fn soak(name: &str, target: fn(&[u8]), time: Duration, seed: u64) -> Tally {
    let (tally, seeds) = (Tally::default(), seeds::of(name));
    let _ = std::fs::create_dir_all(artifacts());
    if seeds.is_empty() {
        tell(&format!("{name}: there are no seeds"));
        return tally;
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let end = Instant::now() + time;
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (tally, seeds) = (&tally, &seeds);
            scope.spawn(move || one_thread(name, target, seeds, (seed, thread), end, tally));
        }
    });
    tally
}

fn one_thread(
    name: &str,
    target: fn(&[u8]),
    seeds: &[Vec<u8>],
    (seed, thread): (u64, usize),
    end: Instant,
    tally: &Tally,
) {
    let mut rng = stream(seed, &[name.len() as u64, thread as u64]);
    let note = artifacts().join(format!("{name}-running-{thread}"));
    while Instant::now() < end {
        let mut bytes = seeds[below(&mut rng, seeds.len())].clone();
        let other = &seeds[below(&mut rng, seeds.len())];
        mutate(&mut rng, &mut bytes, other);
        let _ = std::fs::write(&note, &bytes);
        let start = Instant::now();
        if std::panic::catch_unwind(|| target(&bytes)).is_err() {
            let crash = tally.crashes.fetch_add(1, Ordering::Relaxed);
            if crash < 20 {
                let _ = std::fs::write(artifacts().join(format!("{name}-{seed}-{thread}-{crash}")), &bytes);
            }
        }
        tally.slowest.fetch_max(start.elapsed().as_millis() as u64, Ordering::Relaxed);
        tally.executions.fetch_add(1, Ordering::Relaxed);
    }
    let _ = std::fs::remove_file(&note);
}
