//! Runs the fuzz targets on mutated seeds for a set time, on all cores (or `SOAK_THREADS`), and reports how often: `soak [SECONDS] [TARGET ...]`. `soak list` prints the targets; a target may be named by
//! its start, so that `soak 60 model:` runs all model files.
//!
//! Every case follows from the seed of the run, the target, the thread and a number. Cases that end in a panic are written to `fuzz/artifacts/`, and the program ends with an error. The number of the
//! case in work stands in a file there, so that an abort leaves it behind: `soak replay FILE` makes the case again and runs it alone. Each run draws new cases; `SOAK_SEED` repeats one.

use ermine_core::memory;
use ermine_core::rng::{below, stream};
use ermine_fuzz::mutate::mutate;
use ermine_fuzz::{Run, seeds, targets};
use std::fs::File;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Targets must do with this much memory.
const MEMORY: u64 = 2 << 30;

/// A case that takes longer counts as a crash.
const SLOW: Duration = Duration::from_secs(20);

/// What a target did.
#[derive(Default)]
struct Tally {
    executions: AtomicU64,
    crashes: AtomicU64,
    /// The longest case, in milliseconds.
    slowest: AtomicU64,
}

/// A case: the target, its seed files, the seed of the run and the thread.
struct Cases<'a> {
    name: &'a str,
    run: Run,
    seeds: &'a [Vec<u8>],
    seed: u64,
    thread: u64,
}

impl Cases<'_> {
    fn bytes(&self, number: u64) -> Vec<u8> {
        let target = u64::from(crc32fast::hash(self.name.as_bytes()));
        let mut rng = stream(self.seed, &[target, self.thread, number]);
        let mut bytes = self.seeds[below(&mut rng, self.seeds.len())].clone();
        let other = &self.seeds[below(&mut rng, self.seeds.len())];
        mutate(&mut rng, &mut bytes, other);
        bytes
    }
}

fn main() -> ExitCode {
    memory::set_limit(MEMORY);
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("list") => {
            targets().iter().for_each(|(name, _)| print(name));
            ExitCode::SUCCESS
        }
        Some("replay") => arguments.get(1).map_or(ExitCode::FAILURE, |file| replay(Path::new(file))),
        _ => soak_all(&arguments),
    }
}

fn soak_all(arguments: &[String]) -> ExitCode {
    let seconds = arguments.first().and_then(|text| text.parse().ok()).unwrap_or(60);
    let chosen = |name: &str| arguments.len() < 2 || arguments[1..].iter().any(|start| name.starts_with(start));
    let targets: Vec<_> = targets().into_iter().filter(|(name, _)| chosen(name)).collect();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |t| t.as_secs());
    let seed = std::env::var("SOAK_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(now);
    let time = Duration::from_secs(seconds) / targets.len().max(1) as u32;
    // Panics are counted, not printed one by one.
    std::panic::set_hook(Box::new(|_| {}));
    let (mut total, mut failed) = (0, false);
    for (name, run) in targets {
        let tally = soak(&name, run, time, seed);
        let (runs, crashes) = (tally.executions.into_inner(), tally.crashes.into_inner());
        let slowest = tally.slowest.into_inner();
        print(&format!("{name:<32} {runs:>12} executions, {crashes} crashes, slowest {slowest} ms"));
        total += runs;
        failed |= crashes > 0 || runs == 0;
    }
    print(&format!("{:<32} {total:>12} executions, seed {seed}", "all"));
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn print(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

fn artifacts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts")
}

/// Runs a target on all cores until the time is over.
fn soak(name: &str, run: Run, time: Duration, seed: u64) -> Tally {
    let (tally, seeds) = (Tally::default(), seeds::of(name));
    let _ = std::fs::create_dir_all(artifacts());
    if seeds.is_empty() {
        print(&format!("{name}: there are no seeds"));
        return tally;
    }
    let wished = std::env::var("SOAK_THREADS").ok().and_then(|threads| threads.parse().ok());
    let threads = wished.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get() as u64));
    let end = Instant::now() + time;
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (tally, seeds) = (&tally, &seeds);
            let work = move || one_thread(&Cases { name, run, seeds, seed, thread }, end, tally);
            // Parallel loops of a target stay on its thread.
            scope.spawn(move || ermine_core::parallel::run(Some(1), work));
        }
    });
    tally
}

fn one_thread(cases: &Cases<'_>, end: Instant, tally: &Tally) {
    let file_name = |what: &str| format!("{}-{what}-{}", cases.name.replace(':', "-"), cases.thread);
    let note = artifacts().join(file_name("running"));
    let mut running = File::create(&note).ok();
    for number in 0.. {
        let bytes = cases.bytes(number);
        if let Some(file) = &mut running {
            let text = format!("{} {} {} {number:<20}\n", cases.name, cases.seed, cases.thread);
            let _ = file.rewind().and_then(|()| file.write_all(text.as_bytes()));
        }
        let start = Instant::now();
        if start >= end {
            break;
        }
        if std::panic::catch_unwind(|| (cases.run)(&bytes)).is_err() {
            let crash = tally.crashes.fetch_add(1, Ordering::Relaxed);
            if crash < 20 {
                let _ = std::fs::write(artifacts().join(file_name(&format!("crash-{}-{number}", cases.seed))), &bytes);
            }
        }
        let elapsed = start.elapsed();
        if elapsed > SLOW {
            tally.crashes.fetch_add(1, Ordering::Relaxed);
            let _ = std::fs::write(artifacts().join(file_name(&format!("crash-slow-{}-{number}", cases.seed))), &bytes);
        }
        tally.slowest.fetch_max(elapsed.as_millis() as u64, Ordering::Relaxed);
        tally.executions.fetch_add(1, Ordering::Relaxed);
    }
    let _ = std::fs::remove_file(&note);
}

/// Runs one case again: that of a note, or the bytes of a crash (`model-LEARNER-crash-...`).
fn replay(file: &Path) -> ExitCode {
    let content = std::fs::read(file).unwrap_or_default();
    let file_name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let targets = targets();
    let of_name = |name: &str| targets.iter().find(|(target, _)| target == name);
    let note = std::str::from_utf8(&content).ok().map(|text| text.split_whitespace().collect::<Vec<_>>());
    let (run, bytes) = match note.as_deref() {
        Some([name, seed, thread, number]) if of_name(name).is_some() => {
            let (Some((_, run)), Ok(seed), Ok(thread), Ok(number)) =
                (of_name(name), seed.parse(), thread.parse(), number.parse())
            else {
                return ExitCode::FAILURE;
            };
            let seeds = seeds::of(name);
            (*run, Cases { name, run: *run, seeds: &seeds, seed, thread }.bytes(number))
        }
        _ => match targets.iter().find(|(name, _)| file_name.starts_with(&format!("{}-crash", name.replace(':', "-"))))
        {
            Some((_, run)) => (*run, content),
            None => return ExitCode::FAILURE,
        },
    };
    print(&format!("{} bytes", bytes.len()));
    run(&bytes);
    print("returned");
    ExitCode::SUCCESS
}
