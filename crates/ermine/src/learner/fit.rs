//! The one way from parameters and data to a model: check the parameters, check the data against what the learner can do, train on the
//! asked number of threads, wrap the result.

use super::{Capabilities, Context, Learner};
use crate::error::{Error, Result};
use crate::matrix::{Dataset, Schema, Target, Task};
use crate::model::{Header, Model};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Learns a model.
pub fn fit(learner: &dyn Learner, data: &Dataset, context: &Context<'_>) -> Result<Model> {
    learner.validate()?;
    check(learner, data)?;
    let weighted = without_weightless_rows(data)?;
    let data = weighted.as_ref().unwrap_or(data);
    let seed = context.previous.map_or(context.seed, |model| model.header().seed);
    let context = &Context { seed, ..*context };
    if let Some(previous) = context.previous {
        check_previous(learner, data, previous)?;
    }
    let trained = run(context.threads, || learner.train(data, context))??;
    let header = Header {
        learner: learner.info().name.to_string(),
        params: learner.values().into_iter().map(|(name, value)| (name.to_string(), value)).collect(),
        seed: context.seed,
        n_rows: data.n_rows(),
        schema: Schema::of(data),
        certificate: trained.certificate,
        notes: BTreeMap::new(),
    };
    Ok(Model::new(header, trained.fitted))
}

/// Checks that a learner can go on from a model with this data.
fn check_previous(learner: &dyn Learner, data: &Dataset, previous: &Model) -> Result<()> {
    let (name, before, now) = (learner.info().name, previous.header(), Schema::of(data));
    let unsupported = |need: String| Err(Error::Unsupported { learner: name.to_string(), need });
    if !learner.goes_on() || before.learner != name {
        return unsupported(format!("going on from a model of {}", before.learner));
    }
    let same_target = (before.schema.task, before.schema.n_outputs) == (now.task, now.n_outputs)
        && before.schema.classes == now.classes;
    if before.schema.features != now.features || !same_target {
        return unsupported("going on from a model of other columns or classes".into());
    }
    Ok(())
}

/// Checks that a learner can learn from this data, before any work is done.
pub fn check(learner: &dyn Learner, data: &Dataset) -> Result<()> {
    let (name, can) = (learner.info().name, learner.info().capabilities);
    let unsupported = |need: String| Err(Error::Unsupported { learner: name.to_string(), need });
    if data.n_rows() == 0 {
        return Err(Error::data("there are no rows to learn from"));
    }
    if data.features().n_columns() == 0 {
        return Err(Error::data("there are no feature columns to learn from"));
    }
    if !can.tasks.contains(&data.task()) {
        let tasks: Vec<&str> = can.tasks.iter().map(|t| t.word()).collect();
        return unsupported(format!("the task {} (it can do: {})", data.task(), tasks.join(", ")));
    }
    if data.weight().is_some() && !can.weights {
        return unsupported("row weights".into());
    }
    check_target(can, data).map_or(Ok(()), unsupported)
}

/// What about the target is beyond the capabilities.
fn check_target(can: Capabilities, data: &Dataset) -> Option<String> {
    match data.target() {
        Target::Classes { labels, .. } if can.binary_only && labels.len() > 2 => {
            Some(format!("{} classes (it learns two)", labels.len()))
        }
        Target::Values { n_outputs, .. } if *n_outputs > 1 && !can.multi_output && data.task() == Task::Regression => {
            Some(format!("{n_outputs} targets at once"))
        }
        _ => None,
    }
}

/// A row of weight zero counts as one that isn't there, for every learner.
fn without_weightless_rows(data: &Dataset) -> Result<Option<Dataset>> {
    let Some(weight) = data.weight().filter(|w| w.contains(&0.0)) else { return Ok(None) };
    let rows: Vec<u32> = (0..data.n_rows() as u32).filter(|&r| weight[r as usize] > 0.0).collect();
    data.select(&rows).map(Some)
}

/// Runs `work` on a pool with the asked number of threads; `None` for the pool that is there.
pub fn run<T: Send>(threads: Option<usize>, work: impl FnOnce() -> T + Send) -> Result<T> {
    match threads {
        None => Ok(work()),
        Some(n) => Ok(pool(n)?.install(work)),
    }
}

/// A pool of `n` threads, made once for each process: starting threads costs more than many a small fit. A process that was forked
/// off (as Python's `multiprocessing` does) inherits the pools but not their threads, and would wait for them forever.
fn pool(n: usize) -> Result<Arc<ThreadPool>> {
    /// More threads than any machine of today has cores are a mistake, and would exhaust the system.
    const MOST: usize = 1024;
    static POOLS: Mutex<BTreeMap<(u32, usize), Arc<ThreadPool>>> = Mutex::new(BTreeMap::new());
    let refuse = |allowed: String| {
        let (owner, name, value) = ("fit".to_string(), "threads".to_string(), n.to_string());
        Error::Param { owner, name, value, allowed }
    };
    if n == 0 || n > MOST {
        return Err(refuse(format!("a whole number from 1 to {MOST}")));
    }
    let mut pools = POOLS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let key = (std::process::id(), n);
    if let Some(pool) = pools.get(&key) {
        return Ok(pool.clone());
    }
    let pool = ThreadPoolBuilder::new().num_threads(n).build().map_err(|e| refuse(e.to_string()))?;
    Ok(pools.entry(key).or_insert(Arc::new(pool)).clone())
}
