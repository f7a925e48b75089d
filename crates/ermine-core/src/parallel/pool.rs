//! Thread pools that survive a fork.
//!
//! A forked process (Python's `multiprocessing`) inherits the pools of its parent but not their threads, and would wait for them forever. So pools are kept by process id, and work that
//! starts outside a pool uses the default pool here; Rayon's global pool can't be replaced after a fork.

use super::available_threads;
use crate::error::{Error, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Runs `work` on a pool of `threads` threads; `None` for the current pool or, outside any pool, the default one.
pub fn run<T: Send>(threads: Option<usize>, work: impl FnOnce() -> T + Send) -> Result<T> {
    match threads {
        None if rayon::current_thread_index().is_some() => Ok(work()),
        None => Ok(pool(available_threads())?.install(work)),
        Some(1) => {
            let pool = SINGLE_THREAD_POOLS.take()?;
            let done = pool.install(work);
            SINGLE_THREAD_POOLS.put_back(pool);
            Ok(done)
        }
        Some(n) => Ok(pool(n)?.install(work)),
    }
}

/// Single-thread pools, each used by one caller at a time, so that concurrent callers don't wait for each other.
struct SingleThreadPools(Mutex<Vec<(u32, ThreadPool)>>);

static SINGLE_THREAD_POOLS: SingleThreadPools = SingleThreadPools(Mutex::new(Vec::new()));

impl SingleThreadPools {
    /// An unused pool of this process, or a new one.
    fn take(&self) -> Result<ThreadPool> {
        let mut pools = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match pools.iter().position(|(process, _)| *process == std::process::id()) {
            Some(free) => Ok(pools.swap_remove(free).1),
            None => new_pool(1),
        }
    }

    fn put_back(&self, pool: ThreadPool) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((std::process::id(), pool));
    }
}

/// A pool of `n` threads, created once per process, since starting threads costs more than a small fit.
fn pool(n: usize) -> Result<Arc<ThreadPool>> {
    static POOLS: Mutex<BTreeMap<(u32, usize), Arc<ThreadPool>>> = Mutex::new(BTreeMap::new());
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (std::process::id(), n);
    if let Some(pool) = pools.get(&key) {
        return Ok(pool.clone());
    }
    Ok(pools.entry(key).or_insert(Arc::new(new_pool(n)?)).clone())
}

fn new_pool(n: usize) -> Result<ThreadPool> {
    /// Maximum number of threads; more would exhaust the system.
    const MOST: usize = 1024;
    let refuse = |allowed: String| {
        let (owner, name, value) = ("fit".to_string(), "threads".to_string(), n.to_string());
        Error::Param { owner, name, value, allowed }
    };
    if n == 0 || n > MOST {
        return Err(refuse(format!("a whole number from 1 to {MOST}")));
    }
    ThreadPoolBuilder::new().num_threads(n).build().map_err(|e| refuse(e.to_string()))
}
