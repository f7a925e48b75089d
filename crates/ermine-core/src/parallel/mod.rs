//! Parallel loops over indices on the current thread pool.
//!
//! Results are in index order, so they don't depend on the number of threads; of several errors, the first in this order is returned. The work is a trait object, so the thread pool code is
//! compiled once instead of for every loop, as with parallel iterators (which were a third of the code of some crates).

mod pool;

pub use pool::run;

use crate::error::Result;
use std::sync::{Mutex, PoisonError};

/// Number of available threads: the cores that the process may use (its affinity), or fewer if a CPU quota of its control group (`cpu.max`, or `cpu.cfs_quota_us` in version 1) is lower.
/// At least 1. Every default number of threads is this one.
pub fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Tasks per thread, so that delayed threads can leave work to others.
const PIECES_PER_THREAD: usize = 64;

/// Calls `work` with every index below `n`.
pub fn for_each(n: usize, work: impl Fn(usize) + Sync) {
    let share = || {
        let grain = n.div_ceil(PIECES_PER_THREAD * rayon::current_num_threads()).max(1);
        divide(0, n, grain, &work);
    };
    // If no thread can be started, run on the calling thread.
    if run(None, share).is_err() {
        (0..n).for_each(work);
    }
}

fn divide(start: usize, end: usize, grain: usize, work: &(dyn Fn(usize) + Sync)) {
    if end - start <= grain {
        (start..end).for_each(work);
    } else {
        let middle = start + (end - start) / 2;
        rayon::join(|| divide(start, middle, grain, work), || divide(middle, end, grain, work));
    }
}

/// Whether there is nothing to divide, which is common in solvers.
fn is_alone(n: usize) -> bool {
    n <= 1 || (rayon::current_thread_index().is_some() && rayon::current_num_threads() == 1)
}

/// The results of `work` for every index below `n`.
pub fn map<R: Send>(n: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    if is_alone(n) {
        return (0..n).map(work).collect();
    }
    let slots: Vec<Mutex<Option<R>>> = std::iter::repeat_with(|| Mutex::new(None)).take(n).collect();
    for_each(n, |i| {
        let result = work(i);
        *slots[i].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    });
    slots.into_iter().filter_map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}

/// The results of `work` for every item.
pub fn map_items<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    map(items.len(), |i| work(&items[i]))
}

/// The results of `work` for every index below `n`, or the first error.
pub fn try_map<R: Send>(n: usize, work: impl Fn(usize) -> Result<R> + Sync) -> Result<Vec<R>> {
    map(n, work).into_iter().collect()
}

/// The results of `work` for every item, passed by value; for iterators of disjoint mutable parts.
pub fn consume<T: Send, R: Send>(items: impl IntoIterator<Item = T>, work: impl Fn(usize, T) -> R + Sync) -> Vec<R> {
    let items: Vec<T> = items.into_iter().collect();
    if is_alone(items.len()) {
        return items.into_iter().enumerate().map(|(i, item)| work(i, item)).collect();
    }
    let items: Vec<Mutex<Option<T>>> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    let results = map(items.len(), |i| {
        let item = items[i].lock().unwrap_or_else(PoisonError::into_inner).take();
        item.map(|item| work(i, item))
    });
    results.into_iter().flatten().collect()
}

/// Calls `work` with every chunk of `size` values (the last may be shorter) and its index.
pub fn for_each_chunk<T: Send>(values: &mut [T], size: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    if is_alone(values.len().div_ceil(size.max(1))) {
        return values.chunks_mut(size).enumerate().for_each(|(i, chunk)| work(i, chunk));
    }
    let chunks: Vec<Mutex<&mut [T]>> = values.chunks_mut(size).map(Mutex::new).collect();
    for_each(chunks.len(), |i| work(i, &mut chunks[i].lock().unwrap_or_else(PoisonError::into_inner)));
}

/// Rows per task if the work per row is small.
const ROWS: usize = 256;

/// A small value per index below `n`.
pub fn map_rows<T: Clone + Default + Send>(n: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut out = vec![T::default(); n];
    for_each_row(&mut out, 1, |i, out| out[0] = work(i));
    out
}

/// Calls `work` with every row of `width` values and its index.
pub fn for_each_row<T: Send>(values: &mut [T], width: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    for_each_chunk(values, ROWS * width, |chunk, values| {
        values.chunks_mut(width).enumerate().for_each(|(i, row)| work(chunk * ROWS + i, row));
    });
}

/// The same for fallible work; returns the error of the first failing chunk.
pub fn try_for_each_row<T: Send>(
    values: &mut [T],
    width: usize,
    work: impl Fn(usize, &mut [T]) -> Result<()> + Sync,
) -> Result<()> {
    let chunks = consume(values.chunks_mut(ROWS * width), |chunk, values| {
        values.chunks_mut(width).enumerate().try_for_each(|(i, row)| work(chunk * ROWS + i, row))
    });
    chunks.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    fn with_threads(run: impl Fn() + Sync + Send) {
        for threads in [1, 2, 5] {
            rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(&run);
        }
    }

    #[test]
    fn every_index_is_visited_once_in_order() {
        with_threads(|| {
            for n in [0, 1, 2, 3, 17, 1000] {
                assert_eq!(map(n, |i| i * i), (0..n).map(|i| i * i).collect::<Vec<_>>());
                let texts: Vec<String> = (0..n).map(|i| i.to_string()).collect();
                assert_eq!(map_items(&texts, String::len), texts.iter().map(String::len).collect::<Vec<_>>());
                assert_eq!(
                    consume(texts.clone(), |i, text| (i, text)),
                    texts.into_iter().enumerate().collect::<Vec<_>>()
                );
            }
        });
    }

    #[test]
    fn chunks_cover_the_slice() {
        with_threads(|| {
            for (n, size) in [(0, 3), (1, 3), (9, 3), (100, 7)] {
                let mut values = vec![0; n];
                for_each_chunk(&mut values, size, |chunk, values| {
                    values.iter_mut().enumerate().for_each(|(i, value)| *value += chunk * size + i);
                });
                assert_eq!(values, (0..n).collect::<Vec<_>>());
            }
        });
    }

    #[test]
    fn the_first_error_by_index_is_returned() {
        with_threads(|| {
            let work = |i: usize| if i % 10 == 7 { Err(Error::data(i.to_string())) } else { Ok(i) };
            assert_eq!(try_map(100, work).unwrap_err().to_string(), Error::data("7").to_string());
            assert_eq!(try_map(7, work).unwrap(), (0..7).collect::<Vec<_>>());
        });
    }
}
